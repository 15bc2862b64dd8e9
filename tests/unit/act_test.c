/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lists of actions against an interpreter that knows a packet as a destination, a stack of tags, a
 * TTL and a VNI: who gets which frame, in which order, and whether every frame and every count
 * comes home, also when the copies do not fit in one burst and when frames run out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "lib/rcu.h"
#include "tests/unit/lane.h"
#include "tests/unit/random.h"

#define N_PORTS 4		/* those that rules name; 2 is gone */
#define PORT_GONE 2
#define PORT_UNDERLAY 9
#define T0 EGRESS_TUNNEL0
#define TAGS_MAX 40
#define OUTPUTS_MAX 64

/* A packet, as the interpreter has it. */
struct model {
	uint8_t dst[6];
	uint8_t ttl;
	uint32_t vni;
	uint32_t n_tags;
	uint32_t tag[TAGS_MAX];	/* outermost first */
};

/* What somebody is to get. */
struct expected {
	struct model model;
	uint16_t egress;
	bool as_is;
};

struct sent {
	uint32_t n;
	struct expected to[OUTPUTS_MAX];
	uint8_t drop;		/* of the packet itself */
	uint64_t detail;
};

static struct flow_action *add(struct flow_spec *spec, uint16_t type, uint16_t arg)
{
	struct flow_action *a = &spec->action[spec->n_actions++];

	*a = (struct flow_action){.type = type, .arg = arg};
	return a;
}

/* The rule that does what @spec says; its match is a number that no other rule has. */
static struct flow_hit make_rule(struct bed *bed, struct flow_spec *spec)
{
	struct flow_key key = {.dl_src = {0}};
	struct flow_view view;
	struct flow_hit hit;

	key.tun_id = 1 + flow_table_count(bed->tables.flows);
	spec->key = key;
	spec->mask.tun_id = UINT32_MAX;
	assert_int_equal(flow_table_add(bed->tables.flows, spec, 1), 1);
	flow_table_view(bed->tables.flows, &view);
	flow_table_lookup_burst(bed->tables.flows, &view, &key, 1, &hit);
	assert_int_not_equal(hit.rule, FLOW_NONE);
	return hit;
}

static struct bed *make_bed(uint32_t n_frames)
{
	struct bed *bed = bed_create(n_frames);

	bed_flows(bed);
	for (uint16_t port = 0; port < N_PORTS; port++) {
		if (port == PORT_GONE)
			continue;
		bed_untagged(bed, port, 1);
		bed_tagged(bed, port, 100, 2);
		bed_rest(bed, port, 3);
	}
	bed_port(bed, PORT_UNDERLAY)->underlay = true;
	return bed;
}

static uint32_t slow_sum(const uint8_t *bytes, uint32_t n)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < n; i += 2)
		sum += (uint32_t)bytes[i] << 8 | bytes[i + 1];
	return (sum & 0xffff) + (sum >> 16);
}

/* The frame of packet number @id, @skip of its tags left out. */
static uint16_t write_frame(const struct model *m, uint32_t skip, uint32_t id, uint8_t *frame)
{
	static const uint8_t source[6] = {2, 0, 0, 0, 0, 7};
	uint8_t ip[32] = {0x45, 0, 0, 32, 0, 0, 0, 0, m->ttl, 17, 0, 0, 10, 0, 0, 1,
			  10,	0, 0, 2,  1, 1, 2, 2, 0,      12, 0, 0};
	uint16_t at = 12;

	memcpy(frame, m->dst, 6);
	memcpy(frame + 6, source, 6);
	for (uint32_t i = skip; i < m->n_tags; i++, at += 4) {
		put_be16(frame + at, (uint16_t)(m->tag[i] >> 16));
		put_be16(frame + at + 2, (uint16_t)m->tag[i]);
	}
	put_be16(frame + at, 0x0800);
	put_be16(ip + 10, (uint16_t)~slow_sum(ip, 20));
	put_be16(ip + 28, (uint16_t)(id >> 16));
	put_be16(ip + 30, (uint16_t)id);
	memcpy(frame + at + 2, ip, sizeof(ip));
	return (uint16_t)(at + 2 + sizeof(ip));
}

/*
 * The interpreter.
 */

static bool goes(uint16_t ingress, const struct flow_action *a)
{
	return a->type != FLOW_OUTPUT || (a->arg != ingress && a->arg != PORT_UNDERLAY);
}

static void give(struct sent *s, struct model m, uint16_t ingress, const struct flow_action *a)
{
	struct expected *e = &s->to[s->n++];

	*e = (struct expected){.model = m, .egress = EGRESS_NONE};
	e->as_is = a->type == FLOW_OUTPUT || a->type == FLOW_IN_PORT;
	if (a->type == FLOW_OUTPUT)
		e->egress = a->arg;
	if (a->type == FLOW_IN_PORT)
		e->egress = ingress;
	if (a->type == FLOW_FLOOD || a->type == FLOW_ALL)
		e->egress = EGRESS_FLOOD;
	if (!e->as_is)
		e->model.vni = 0;
}

static void model_push(struct model *m, uint32_t tag)
{
	memmove(m->tag + 1, m->tag, m->n_tags++ * sizeof(m->tag[0]));
	m->tag[0] = tag;
}

static void model_change(struct model *m, const struct flow_action *a)
{
	if (a->type == FLOW_SET_DL_DST)
		memcpy(m->dst, a->byte, 6);
	if (a->type == FLOW_SET_TUNNEL)
		m->vni = a->value[0];
	if (a->type == FLOW_PUSH_VLAN)
		model_push(m, (uint32_t)a->arg << 16);
	if (a->type == FLOW_POP_VLAN && m->n_tags)
		memmove(m->tag, m->tag + 1, --m->n_tags * sizeof(m->tag[0]));
	if (a->type == FLOW_SET_VLAN_VID && !m->n_tags)
		model_push(m, 0x81000000);
	if (a->type == FLOW_SET_VLAN_VID)
		m->tag[0] = (m->tag[0] & ~0xfffu) | a->arg;
}

static void interpret(struct model m, uint16_t ingress, uint32_t rule,
		      const struct flow_spec *spec, struct sent *s)
{
	int last = -1;

	memset(s, 0, sizeof(*s));
	for (int i = 0; i < spec->n_actions; i++)
		if (flow_action_is_output(spec->action[i].type) && goes(ingress, &spec->action[i]))
			last = i;
	for (int i = 0; i <= last; i++) {
		const struct flow_action *a = &spec->action[i];

		if (a->type == FLOW_DEC_TTL && m.ttl <= 1) {
			s->drop = DROP_TTL;
			s->detail = m.ttl;
			return;
		}
		if (a->type == FLOW_DEC_TTL)
			m.ttl--;
		else if (!flow_action_is_output(a->type))
			model_change(&m, a);
		else if (goes(ingress, a))
			give(s, m, ingress, a);
	}
	if (last < 0) {
		s->drop = DROP_FLOW;
		s->detail = rule;
	}
}

/*
 * Random lists, on random packets.
 */

static void random_list(struct flow_spec *spec)
{
	static const uint16_t changes[] = {FLOW_PUSH_VLAN, FLOW_POP_VLAN, FLOW_SET_VLAN_VID,
					   FLOW_SET_TUNNEL, FLOW_DEC_TTL, FLOW_SET_DL_DST};
	static const uint16_t targets[] = {0, 1, PORT_GONE, 3, PORT_UNDERLAY, T0, T0 + 1};
	uint32_t n = random_below(random_below(2) ? 6 : 30);
	uint32_t outputs = random_below(5);

	memset(spec, 0, sizeof(*spec));
	while (n--) {
		struct flow_action *a;

		if (random_below(5) < outputs) {
			a = add(spec, (uint16_t)random_below(FLOW_OUTPUT + 1), 0);
			if (random_below(2))
				a->type = FLOW_OUTPUT;
			if (a->type == FLOW_OUTPUT)
				a->arg = targets[random_below(ARRAY_SIZE(targets))];
			continue;
		}
		a = add(spec, changes[random_below(ARRAY_SIZE(changes))], 0);
		if (a->type == FLOW_PUSH_VLAN)
			a->arg = random_below(2) ? TPID_C : TPID_S;
		else if (a->type == FLOW_SET_VLAN_VID)
			a->arg = (uint16_t)random_below(4096);
		else if (a->type == FLOW_SET_TUNNEL)
			a->value[0] = random_below(3);
		else if (a->type == FLOW_SET_DL_DST)
			random_bytes(a->byte, 6);
	}
}

/* Number @id: no tag, the port's own in the frame or taken out, or tags of the network. */
static void receive(struct bed *bed, struct model *m, uint32_t id)
{
	static const uint32_t own[] = {0x8100a000, 0x8100b064, 0x81006064};
	static const uint32_t rest[] = {0x81002005, 0x88a82064};
	uint32_t kind = random_below(4);
	uint8_t frame[256];
	struct packet *p;
	uint16_t len;

	memset(m, 0, sizeof(*m));
	m->dst[0] = random_below(4) ? 2 : 3;
	m->ttl = (uint8_t)random_below(5);
	if (random_below(2))
		model_push(m, 0x81001234);
	if (kind)
		model_push(m, kind == 3 ? rest[random_below(2)] : own[random_below(3)]);
	len = write_frame(m, kind == 1, id, frame);
	p = bed_receive(bed, (uint16_t)random_below(2), frame, len);
	if (kind == 1) {
		p->tag = TAG_STRIPPED;
		p->tci = (uint16_t)m->tag[0];
	}
}

/* What the bursts of this round are to be compared with. */
struct round {
	struct sent sent[BURST_MAX];
	uint32_t next[BURST_MAX];	/* outputs seen so far */
	uint32_t missing;		/* copies for which there was no frame */
};

/* @p is the next output of its packet; the last one is the packet itself. */
static void check_output(struct bed *bed, struct round *r, struct packet *p, uint32_t n_lost)
{
	static uint8_t frame[512];
	uint32_t id = get_be32(p->data + p->len - 4);
	struct sent *s = &r->sent[id];
	const struct expected *e;
	struct model m;
	uint16_t len;

	r->next[id] += n_lost;
	assert_true(r->next[id] < s->n);
	e = &s->to[r->next[id]++];
	assert_int_equal(p->egress, e->egress);
	assert_int_equal(p->as_is, e->as_is);
	assert_int_equal(p->vni, e->model.vni);
	assert_int_equal(p->flags & PKT_GROUP, e->model.dst[0] & 1 ? PKT_GROUP : 0);
	assert_int_equal(p->hash_kind, HASH_SOFT);
	if (p->as_is)
		assert_int_equal(p->tag, TAG_NONE);
	m = e->model;
	len = write_frame(&m, p->tag == TAG_STRIPPED, id, frame);
	assert_int_equal(p->len, len);
	assert_memory_equal(p->data, frame, len);
	assert_true(pool_headroom(&bed->pool, p->data) >= VLAN_BYTES);
	assert_memory_equal(p->data + p->l3, frame + len - 32, 32);
}

static void check_originals(struct bed *bed, struct round *r, uint8_t *const *data)
{
	for (uint32_t id = 0; id < bed->burst.n; id++) {
		struct packet *p = &bed->burst.packet[id];
		const struct sent *s = &r->sent[id];

		assert_ptr_equal(pool_frame_of(&bed->pool, p->data),
				 pool_frame_of(&bed->pool, data[id]));
		assert_false(p->flags & PKT_COPY);
		assert_int_equal(p->drop, s->drop);
		if (s->drop) {
			assert_int_equal(p->detail, s->detail);
			r->missing += s->n - r->next[id];
			continue;
		}
		r->missing += s->n - 1 - r->next[id];
		check_output(bed, r, p, s->n - 1 - r->next[id]);
	}
}

static void check_books(const struct bed *bed)
{
	for (uint16_t port = 0; port < 2; port++) {
		const struct port_counters *c = &bed->counters->port[port];

		assert_int_equal(c->rx_packets + c->copied, c->forwarded + bed_drops(bed, port));
	}
}

static uint64_t no_frames(const struct bed *bed)
{
	return bed->counters->port[0].drop[DROP_NO_FRAME].packets +
	       bed->counters->port[1].drop[DROP_NO_FRAME].packets;
}

/* Returns how many bursts of copies there were. With @scarce frames some copies are missing: then
 * the order of what is there says nothing, and only the books are looked at. */
static uint32_t one_round(struct bed *bed, bool scarce)
{
	static struct round r;
	struct model model[BURST_MAX];
	uint8_t *data[BURST_MAX];
	uint32_t n = 1 + random_below(BURST_MAX), n_bursts = 0;

	memset(&r, 0, sizeof(r));
	for (uint32_t id = 0; id < n; id++)
		receive(bed, &model[id], id);
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	for (uint32_t id = 0; id < n; id++) {
		struct packet *p = &bed->burst.packet[id];
		struct flow_spec spec;
		struct flow_hit hit;

		random_list(&spec);
		hit = make_rule(bed, &spec);
		assert_int_equal(p->drop, DROP_NONE);
		packet_hash_prepare(p);
		p->rule = hit.rule;
		p->actions = hit.actions;
		data[id] = p->data;
		interpret(model[id], p->ingress, hit.rule, &spec, &r.sent[id]);
	}
	for (; act(&bed->lane, &bed->burst, &bed->copies); n_bursts++) {
		assert_true(bed->copies.n > 0);
		for (uint32_t i = 0; i < bed->copies.n; i++) {
			assert_true(bed->copies.packet[i].flags & PKT_COPY);
			if (!scarce)
				check_output(bed, &r, &bed->copies.packet[i], 0);
		}
		bed_transmit(bed, &bed->copies);
	}
	assert_int_equal(bed->lane.act_packet, 0);
	assert_int_equal(bed->lane.act_action, 0);
	if (!scarce)
		check_originals(bed, &r, data);
	assert_int_equal(r.missing, 0);
	bed_transmit(bed, &bed->burst);
	assert_int_equal(bed->pool.n_free, bed->pool.n_frames);
	check_books(bed);
	return n_bursts;
}

static void against_interpreter(void **state)
{
	uint32_t n_full = 0;

	for (int world = 0; world < 3; world++) {
		struct bed *bed = make_bed(2 * BURST_MAX);

		for (int round = 0; round < 200; round++)
			n_full += one_round(bed, false) > 1;
		assert_int_equal(no_frames(bed), 0);
		bed_destroy(bed);
	}
	/* More copies than a burst holds. */
	assert_true(n_full > 20);
}

static void frames_run_out(void **state)
{
	uint64_t n_lost = 0;

	for (int world = 0; world < 6; world++) {
		struct bed *bed = make_bed(BURST_MAX + random_below(20));

		for (int round = 0; round < 50; round++)
			one_round(bed, true);
		n_lost += no_frames(bed);
		bed_destroy(bed);
	}
	assert_true(n_lost > 100);
}

/* One packet, more outputs than two bursts of copies hold; and nothing to do costs nothing. */
static void resumption(void **state)
{
	struct bed *bed = make_bed(2 * BURST_MAX);
	struct flow_spec spec = {.priority = 1};
	uint32_t n_copies = 0;
	struct flow_hit hit;
	struct model m;

	for (int i = 0; i < FLOW_ACTIONS_MAX; i++)
		add(&spec, FLOW_OUTPUT, 3);
	hit = make_rule(bed, &spec);
	for (uint32_t id = 0; id < 3; id++)
		receive(bed, &m, id);
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	assert_false(act(&bed->lane, &bed->burst, &bed->copies));
	for (uint32_t id = 0; id < 3; id++) {
		assert_int_equal(bed->burst.packet[id].egress, EGRESS_NONE);
		bed->burst.packet[id].actions = hit.actions;
	}
	while (act(&bed->lane, &bed->burst, &bed->copies)) {
		n_copies += bed->copies.n;
		bed_transmit(bed, &bed->copies);
	}
	assert_int_equal(n_copies, 3 * (FLOW_ACTIONS_MAX - 1));
	for (uint32_t id = 0; id < 3; id++)
		assert_int_equal(bed->burst.packet[id].egress, 3);
	bed_transmit(bed, &bed->burst);
	check_books(bed);
	bed_destroy(bed);
}

/* A port that becomes an underlay port while its packet waits: the books still balance. */
static void changes_underway(void **state)
{
	struct bed *bed = make_bed(2 * BURST_MAX);
	struct flow_spec spec = {.priority = 1};
	struct flow_hit hit;
	struct model m;

	for (int i = 0; i < FLOW_ACTIONS_MAX; i++)
		add(&spec, FLOW_OUTPUT, i < 20 ? 0 : 3);
	hit = make_rule(bed, &spec);
	for (uint32_t id = 0; id < 4; id++)
		receive(bed, &m, id);
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	for (uint32_t id = 0; id < 4; id++)
		bed->burst.packet[id].actions = hit.actions;
	assert_true(act(&bed->lane, &bed->burst, &bed->copies));
	bed_transmit(bed, &bed->copies);
	bed->tables.port[3]->underlay = true;
	while (act(&bed->lane, &bed->burst, &bed->copies))
		bed_transmit(bed, &bed->copies);
	bed_transmit(bed, &bed->burst);
	assert_int_equal(bed->pool.n_free, bed->pool.n_frames);
	check_books(bed);
	bed_destroy(bed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_interpreter),
		cmocka_unit_test(frames_run_out),
		cmocka_unit_test(resumption),
		cmocka_unit_test(changes_underway),
	};
	int failed;

	random_init("act");
	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_barrier();
	rcu_unregister_thread();
	return failed;
}
