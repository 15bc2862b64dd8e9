/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The learner against an array that is searched from one end to the other: limits, moves, ageing,
 * static entries, flushing, and counters that must be true after every step.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/gateway.h"
#include "ctrl/learner.h"
#include "lib/clock.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_PORTS 4
#define N_NETWORKS 6	/* [0] is unused */
#define N_MACS 40
#define TUNNEL0 EGRESS_TUNNEL0

/* One of each kind: ordinary, small limit, no ageing, no learning, no learning from tunnels. */
static struct conf_network networks[N_NETWORKS] = {
	[1] = {.mac_limit = 1000, .ageing_s = 30, .learn = CONF_LEARN_ALL},
	[2] = {.mac_limit = 5, .ageing_s = 10, .learn = CONF_LEARN_ALL},
	[3] = {.mac_limit = 1000, .ageing_s = 0, .learn = CONF_LEARN_ALL},
	[4] = {.mac_limit = 1000, .ageing_s = 20, .learn = CONF_LEARN_OFF},
	[5] = {.mac_limit = 1000, .ageing_s = 20, .learn = CONF_LEARN_LOCAL},
};

static struct conf_port ports[N_PORTS] = {[1] = {.mac_limit = 7}};

/* A network and MAC, as the model sees it. */
struct row {
	bool there;
	bool is_static;
	uint16_t egress;
	uint32_t seen_s;
};

struct fixture {
	struct conf conf;
	struct tables tables;
	struct gateway g;
	struct gateway_port port[N_PORTS];
	struct gateway_network network[N_NETWORKS];
	struct row model[N_NETWORKS][N_MACS];
	uint64_t moves[N_NETWORKS];
	uint64_t hits[N_NETWORKS];
};

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	f->conf = (struct conf){
		.networks = networks,
		.n_networks = N_NETWORKS,
		.ports = ports,
		.n_ports = N_PORTS,
	};
	f->tables.fdb = fdb_create(16);
	f->g = (struct gateway){
		.conf = &f->conf,
		.tables = &f->tables,
		.n_ports = N_PORTS,
		.port = f->port,
		.n_networks = N_NETWORKS,
		.network = f->network,
	};
	for (uint32_t i = 0; i < N_PORTS; i++)
		f->port[i].conf = &ports[i];
	f->port[3].state = GATEWAY_PORT_SHUT;
	assert_int_equal(learner_create(&f->g, &f->g.learner), 0);
}

static void teardown(struct fixture *f)
{
	learner_destroy(f->g.learner);
	rcu_barrier();
	fdb_destroy(f->tables.fdb);
}

static uint64_t key_of(uint32_t network, uint32_t mac)
{
	uint8_t bytes[6] = {2, 0, 0, 0, 0, (uint8_t)mac};

	return fdb_key((uint16_t)network, bytes);
}

static uint32_t macs_of_network(const struct fixture *f, uint32_t network)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < N_MACS; i++)
		n += f->model[network][i].there;
	return n;
}

static uint32_t macs_of_port(const struct fixture *f, uint16_t port)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < N_NETWORKS; w++)
		for (uint32_t i = 0; i < N_MACS; i++)
			n += f->model[w][i].there && !f->model[w][i].is_static &&
			     f->model[w][i].egress == port;
	return n;
}

static void compare(const struct fixture *f)
{
	struct fdb_entry e;

	for (uint32_t w = 1; w < N_NETWORKS; w++) {
		for (uint32_t i = 0; i < N_MACS; i++) {
			const struct row *row = &f->model[w][i];

			assert_int_equal(fdb_lookup(f->tables.fdb, key_of(w, i), &e), row->there);
			if (!row->there)
				continue;
			assert_int_equal(e.egress, row->egress);
			assert_int_equal(!!(e.flags & FDB_STATIC), row->is_static);
		}
		assert_int_equal(f->network[w].macs, macs_of_network(f, w));
		assert_int_equal(f->network[w].moves, f->moves[w]);
		assert_int_equal(f->network[w].limit_hits, f->hits[w]);
	}
	for (uint16_t p = 0; p < N_PORTS; p++)
		assert_int_equal(f->port[p].macs, macs_of_port(f, p));
}

static bool model_port_full(struct fixture *f, uint32_t network, uint16_t egress)
{
	if (egress != 1 || macs_of_port(f, 1) < 7)
		return false;
	f->hits[network]++;
	return true;
}

static void model_event(struct fixture *f, uint32_t network, uint32_t mac, uint16_t egress,
			uint32_t now_s)
{
	struct row *row = &f->model[network][mac];

	if (network == 4 || egress == 3 || (network == 5 && egress >= TUNNEL0))
		return;
	if (row->there && (row->is_static || row->egress == egress))
		return;
	if (!row->there && macs_of_network(f, network) >= networks[network].mac_limit) {
		f->hits[network]++;
		return;
	}
	if (model_port_full(f, network, egress))
		return;
	f->moves[network] += row->there;
	*row = (struct row){true, false, egress, now_s};
}

static void model_age(struct fixture *f, uint32_t now_s)
{
	for (uint32_t w = 1; w < N_NETWORKS; w++)
		for (uint32_t i = 0; i < N_MACS; i++) {
			struct row *row = &f->model[w][i];

			if (row->there && !row->is_static && networks[w].ageing_s &&
			    now_s - row->seen_s >= networks[w].ageing_s)
				row->there = false;
		}
}

static uint32_t model_flush(struct fixture *f, uint32_t network, uint16_t egress)
{
	uint32_t n = 0;

	for (uint32_t w = 1; w < N_NETWORKS; w++)
		for (uint32_t i = 0; i < N_MACS; i++) {
			struct row *row = &f->model[w][i];

			if (!row->there || row->is_static || (network && network != w) ||
			    (egress != EGRESS_NONE && egress != row->egress))
				continue;
			row->there = false;
			n++;
		}
	return n;
}

static uint16_t random_egress(void)
{
	return (uint16_t)(random_below(3) ? random_below(N_PORTS) : TUNNEL0 + random_below(2));
}

static void step(struct fixture *f, uint32_t now_s)
{
	uint32_t network = 1 + random_below(N_NETWORKS - 1), mac = random_below(N_MACS);
	uint16_t egress = random_egress();
	struct learn_event event = {key_of(network, mac), egress, 0, now_s};
	struct row *row = &f->model[network][mac];

	switch (random_below(40)) {
	case 0:
		while (!learner_sweep(f->g.learner, now_s))
			;
		model_age(f, now_s);
		break;
	case 1:
		assert_int_equal(learner_add(f->g.learner, event.key, egress), 0);
		*row = (struct row){true, true, egress, 0};
		break;
	case 2:
		assert_int_equal(learner_del(f->g.learner, event.key), row->there ? 0 : -ENOENT);
		row->there = false;
		break;
	case 3:
		network = random_below(2) ? network : 0;
		egress = random_below(2) ? egress : EGRESS_NONE;
		assert_int_equal(learner_flush(f->g.learner, (uint16_t)network, egress),
				 model_flush(f, network, egress));
		break;
	default:
		learner_event(f->g.learner, &event, now_s * NS_PER_S + 1);
		model_event(f, network, mac, egress, now_s);
	}
}

static void against_the_model(void **state)
{
	static struct fixture f;
	uint32_t now_s = 100;

	random_init("learner");
	setup(&f);
	for (uint32_t i = 0; i < 30000; i++) {
		now_s += random_below(8) == 0;
		step(&f, now_s);
		if (i % 16 == 0)
			compare(&f);
	}
	compare(&f);
	teardown(&f);
}

static void learn_one(struct fixture *f, uint32_t network, uint32_t mac, uint16_t egress)
{
	struct learn_event event = {key_of(network, mac), egress, 0, 100};

	learner_event(f->g.learner, &event, 100 * NS_PER_S);
}

/* Events that no worker of ours would send must not reach anybody's memory. */
static void nonsense_is_ignored(void **state)
{
	static struct fixture f;

	setup(&f);
	learn_one(&f, 0, 1, 0);
	learn_one(&f, N_NETWORKS, 1, 0);
	learn_one(&f, 65535, 1, 0);
	learn_one(&f, 1, 1, N_PORTS);
	learn_one(&f, 1, 1, EGRESS_MAX);
	learn_one(&f, 1, 1, EGRESS_FLOOD);
	learn_one(&f, 1, 1, EGRESS_NONE);
	compare(&f);
	assert_int_equal(fdb_count(f.tables.fdb), 0);
	teardown(&f);
}

static void a_limit_has_a_time(void **state)
{
	static struct fixture f;

	setup(&f);
	for (uint32_t i = 0; i < 6; i++)
		learn_one(&f, 2, i, 0);
	assert_int_equal(f.network[2].macs, 5);
	assert_int_equal(f.network[2].limit.hits, 1);
	assert_int_equal(f.network[2].limit.since_ns, 100 * NS_PER_S);
	for (uint32_t i = 0; i < 8; i++)
		learn_one(&f, 1, i, 1);
	assert_int_equal(f.port[1].macs, 7);
	assert_int_equal(f.port[1].limit.hits, 1);
	assert_int_equal(f.network[1].limit.hits, 0);
	assert_int_equal(f.network[1].limit_hits, 1);
	teardown(&f);
}

/* A million entries: a slice of the sweep stays small, and a round visits all of them. */
static void the_sweep_is_sliced(void **state)
{
	static struct fixture f;
	uint32_t n = 0, slices = 0, before;

	setup(&f);
	networks[1].mac_limit = UINT32_MAX;
	for (uint32_t i = 0; i < 1000000; i++) {
		struct learn_event event = {
			.key = (uint64_t)1 << 48 | 0x020000000000ull | i,
			.egress = 0,
			.seen_s = i % 2 ? 100 : 200,
		};

		learner_event(f.g.learner, &event, 1);
	}
	assert_int_equal(f.network[1].macs, 1000000);
	do {
		before = f.network[1].macs;
		slices++;
		n = learner_sweep(f.g.learner, 205);
		assert_true(before - f.network[1].macs <= 65536);
	} while (!n);
	assert_true(slices > 10);
	assert_int_equal(f.network[1].macs, 500000);
	assert_int_equal(f.port[0].macs, 500000);
	networks[1].mac_limit = 1000;
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_the_model),
		cmocka_unit_test(nonsense_is_ignored),
		cmocka_unit_test(a_limit_has_a_time),
		cmocka_unit_test(the_sweep_is_sliced),
	};
	int r;

	rcu_register_thread();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return r;
}
