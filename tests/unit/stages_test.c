/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All stages in the order of the pipeline, with hostile frames between ports of every kind, without
 * and with flow rules: nothing crashes, no frame is lost or doubled, the books balance, and what
 * leaves a port comes back into the network that it left, when the same port hears it; but for what
 * a rule sends to a port by name.
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

#define N_PORTS 8
#define N_NETWORKS 6
#define N_MACS 20

static const uint16_t vids[] = {0, 100, 200, 300, 4095};

/* Every port: some of the networks, each at most once. */
static void make_port(struct bed *bed, uint16_t port)
{
	uint16_t network = (uint16_t)(1 + random_below(3));

	bed_port(bed, port)->frame_max = random_below(4) ? 1518 : 100;
	bed_port(bed, port)->up = random_below(8) > 0;
	bed_port(bed, port)->shut = random_below(16) == 0;
	if (random_below(2))
		bed_untagged(bed, port, network++);
	for (uint32_t i = 1; i <= 3 && network <= N_NETWORKS; i++)
		if (random_below(2))
			bed_tagged(bed, port, vids[i], network++);
	if (random_below(2) && network <= N_NETWORKS)
		bed_rest(bed, port, network);
}

static void make_networks(struct bed *bed)
{
	for (uint16_t n = 1; n <= N_NETWORKS; n++) {
		uint16_t list[N_PORTS + 1];
		uint32_t len = 0;

		for (uint16_t port = 0; port < N_PORTS; port++)
			if (port_view_vid(bed->tables.port[port], n) != VID_NONE)
				list[len++] = port;
		list[len++] = EGRESS_TUNNEL0;
		bed_network(bed, n, list, len);
	}
}

static void receive(struct bed *bed)
{
	static const uint16_t types[] = {0x800, 0x86dd, 0x806, TPID_C, TPID_S};
	uint32_t len = random_below(8) ? 14 + random_below(160) : random_below(14), at = 12;
	uint8_t frame[200];
	struct packet *p;

	random_bytes(frame, sizeof(frame));
	for (int i = 0; i < 12; i += 6) {
		const uint8_t mac[6] = {random_below(8) ? 2 : 3, 0, 0, 0, 0,
					(uint8_t)random_below(N_MACS)};

		memcpy(frame + i, mac, sizeof(mac));
	}
	for (uint32_t n = random_below(5); n > 0; n--, at += 4) {
		put_be16(frame + at, random_below(4) ? TPID_C : TPID_S);
		put_be16(frame + at + 2, vids[random_below(ARRAY_SIZE(vids))]);
	}
	put_be16(frame + at, types[random_below(ARRAY_SIZE(types))]);
	frame[at + 2] = random_below(2) ? 0x45 : 0x60;
	p = bed_receive(bed, (uint16_t)random_below(N_PORTS), frame, (uint16_t)len);
	if (random_below(4) == 0) {
		p->tag = TAG_STRIPPED;
		p->tci = vids[random_below(ARRAY_SIZE(vids))];
	}
}

/* The frame as the port that sent it would hear it. */
static void hear(struct bed *bed, const struct packet *sent)
{
	static uint8_t frame[FRAME_BYTES];
	static struct burst burst;
	const struct port_view *port = bed->tables.port[sent->egress];
	struct packet *p = &burst.packet[0];

	burst.n = 1;
	*p = (struct packet){.data = frame + FRAME_HEADROOM, .len = sent->len,
			     .rx_port = sent->egress};
	memcpy(p->data, sent->data, sent->len);
	parse(&bed->lane, &burst);
	if (!p->drop)
		classify(&bed->lane, &burst);
	if (p->drop == DROP_VLAN_UNMAPPED)
		assert_int_equal(port_view_vid(port, sent->network), VID_UNTAGGED);
	else if (p->drop != DROP_RESERVED)
		assert_int_equal(p->drop ? NETWORK_NONE : p->network, sent->network);
}

static void emit(struct bed *bed, struct burst *burst)
{
	retag(&bed->lane, burst);
	for (uint32_t i = 0; i < burst->n; i++) {
		const struct packet *p = &burst->packet[i];

		assert_true(pool_headroom(&bed->pool, p->data) + p->len <= FRAME_BYTES);
		if (p->drop || p->as_is)
			continue;
		assert_int_not_equal(p->egress, p->ingress);
		if (p->egress < N_PORTS)
			hear(bed, p);
		else
			assert_int_equal(p->egress, EGRESS_TUNNEL0);
	}
	bed_transmit(bed, burst);
}

static void learn_for_real(struct bed *bed)
{
	struct learn_event event;

	while (spsc_pop(&bed->learn_events, &event))
		fdb_set(bed->tables.fdb, event.key, event.egress, 0, event.seen_s);
}

/* Up to four actions for one ingress. */
static void random_rule(struct bed *bed)
{
	struct flow_spec spec = {.mask.in_port = UINT16_MAX};

	spec.key.in_port = (uint16_t)random_below(N_PORTS);
	spec.n_actions = (uint16_t)random_below(5);
	for (uint32_t i = 0; i < spec.n_actions; i++) {
		struct flow_action *a = &spec.action[i];

		a->type = (uint16_t)random_below(random_below(2) ? FLOW_OUTPUT + 1
								 : FLOW_ACTION_TYPES);
		/* What nobody may send (hear) is none of a switch's business. */
		if (a->type == FLOW_SET_DL_SRC || a->type == FLOW_SET_DL_DST)
			a->type = FLOW_NORMAL;
		a->arg = (uint16_t)random_below(N_PORTS);
		if (a->type == FLOW_OUTPUT && random_below(4) == 0)
			a->arg = EGRESS_TUNNEL0;
		if (a->type == FLOW_PUSH_VLAN)
			a->arg = random_below(2) ? TPID_C : TPID_S;
		if (a->type == FLOW_SET_VLAN_VID)
			a->arg = vids[random_below(ARRAY_SIZE(vids))];
	}
	assert_true(flow_table_add(bed->tables.flows, &spec, 1) >= 0);
}

static void finish(struct bed *bed, struct burst *burst)
{
	learn(&bed->lane, burst);
	forward(&bed->lane, burst);
	while (replicate(&bed->lane, burst, &bed->copies))
		emit(bed, &bed->copies);
	emit(bed, burst);
}

static void one_round(struct bed *bed)
{
	static struct burst rule_copies;
	uint32_t n_free = bed->pool.n_free;

	for (uint32_t n = 1 + random_below(BURST_MAX); n > 0; n--)
		receive(bed);
	parse(&bed->lane, &bed->burst);
	classify(&bed->lane, &bed->burst);
	if (bed->tables.flows) {
		random_rule(bed);
		match(&bed->lane, &bed->burst);
		while (act(&bed->lane, &bed->burst, &rule_copies))
			finish(bed, &rule_copies);
	}
	finish(bed, &bed->burst);
	learn_for_real(bed);
	bed->lane.now_ns += LEARN_REPEAT_NS / 4;
	assert_int_equal(bed->pool.n_free, n_free);
}

static void hostile(bool rules)
{
	uint64_t n_forwarded = 0, n_copied = 0;

	random_init(rules ? "stages hostile_by_rules" : "stages hostile_frames");
	for (int world = 0; world < (rules ? 20 : 100); world++) {
		/* Often too few frames for every copy. */
		struct bed *bed = bed_create(BURST_MAX + random_below(3) * 30);

		if (rules)
			bed_flows(bed);
		for (uint16_t port = 0; port < N_PORTS; port++)
			make_port(bed, port);
		make_networks(bed);
		for (int round = 0; round < 20; round++)
			one_round(bed);
		for (uint16_t port = 0; port < N_PORTS; port++) {
			const struct port_counters *c = &bed->counters->port[port];

			assert_int_equal(c->rx_packets + c->copied,
					 c->forwarded + bed_drops(bed, port));
			n_forwarded += c->forwarded;
			n_copied += c->copied;
		}
		bed_destroy(bed);
	}
	/* That is not because everything was dropped. */
	assert_true(n_copied > 1000 && n_forwarded > 1000);
}

static void hostile_frames(void **state)
{
	hostile(false);
}

static void hostile_by_rules(void **state)
{
	hostile(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hostile_frames),
		cmocka_unit_test(hostile_by_rules),
	};
	int failed;

	rcu_register_thread();
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_barrier();
	rcu_unregister_thread();
	return failed;
}
