/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the workers are shown: maps and flood lists against what the configuration says, read
 * naively; and that 64 K networks which flood alike are one group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/gateway.h"
#include "ctrl/views.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_PORTS 6
#define N_NETWORKS 40

struct fixture {
	struct conf conf;
	struct tables tables;
	struct gateway g;
	struct gateway_port port[N_PORTS];
	struct conf_port conf_port[N_PORTS];
	struct conf_tag tag[N_PORTS][N_NETWORKS];
	struct conf_network *network;
	struct ip local[1];
	struct ip remotes[3];
};

static struct ip address(uint8_t last)
{
	return ip_from_v4((const uint8_t[4]){192, 0, 2, last});
}

static void setup(struct fixture *f, uint32_t n_networks)
{
	struct tunnel_options options = {.n_local = 1, .local = {address(1)}, .udp_port = 4789};

	memset(f, 0, sizeof(*f));
	f->network = calloc(n_networks, sizeof(*f->network));
	f->local[0] = address(1);
	for (uint8_t i = 0; i < 3; i++)
		f->remotes[i] = address((uint8_t)(1 + i));
	f->conf = (struct conf){
		.networks = f->network,
		.n_networks = n_networks,
		.ports = f->conf_port,
		.n_ports = N_PORTS,
		.tunnels = {.present = true, .local = f->local, .n_local = 1,
			    .remotes = f->remotes, .n_remotes = 3},
	};
	f->g = (struct gateway){
		.conf = &f->conf,
		.tables = &f->tables,
		.tunnels = tunnels_create(&options),
		.n_ports = N_PORTS,
		.port = f->port,
		.n_networks = n_networks,
	};
	for (uint32_t i = 0; i < N_PORTS; i++) {
		f->port[i].conf = &f->conf_port[i];
		f->port[i].state = GATEWAY_PORT_MISSING;
		f->conf_port[i].tagged = f->tag[i];
		f->conf_port[i].name = (char[]){"p"};
	}
}

static void teardown(struct fixture *f)
{
	rcu_barrier();
	views_destroy(f->g.views);
	tunnels_destroy(f->g.tunnels);
	free(f->network);
}

/* How network @w leaves by port @p, straight from the configuration. */
static uint16_t expected_vid(const struct fixture *f, uint32_t p, uint32_t w)
{
	const struct conf_port *c = &f->conf_port[p];

	if (c->underlay)
		return VID_NONE;
	if (c->untagged == w)
		return VID_UNTAGGED;
	if (c->rest == CONF_REST_NETWORK && c->rest_network == w)
		return VID_REST;
	for (size_t i = 0; i < c->n_tagged; i++)
		if (c->tagged[i].network == w)
			return c->tagged[i].vid;
	return VID_NONE;
}

static void check_port(const struct fixture *f, uint32_t p)
{
	const struct conf_port *c = &f->conf_port[p];
	const struct port_view *view = f->tables.port[p];

	assert_non_null(view);
	assert_int_equal(view->up, f->port[p].state == GATEWAY_PORT_UP);
	assert_int_equal(view->shut, f->port[p].shut);
	assert_int_equal(view->underlay, c->underlay);
	for (uint32_t w = 1; w < N_NETWORKS; w++)
		assert_int_equal(port_view_vid(view, (uint16_t)w), expected_vid(f, p, w));
	assert_int_equal(port_view_vid(view, 65535), VID_NONE);
	if (c->underlay)
		return;
	assert_int_equal(view->untagged, c->untagged);
	assert_int_equal(!!view->network_of_vid, c->n_tagged != 0);
	for (size_t i = 0; i < c->n_tagged; i++)
		assert_int_equal(view->network_of_vid[c->tagged[i].vid], c->tagged[i].network);
}

static void check_network(const struct fixture *f, uint32_t w)
{
	const struct network *n = f->tables.network[w];
	uint32_t at = 0;

	assert_non_null(n);
	assert_int_equal(n->id, w);
	assert_int_equal(n->vni, f->network[w].vni);
	for (uint16_t p = 0; p < N_PORTS; p++) {
		assert_int_equal(views_carries(f->g.views, (uint16_t)w, p),
				 expected_vid(f, p, w) != VID_NONE);
		if (expected_vid(f, p, w) == VID_NONE || f->port[p].state != GATEWAY_PORT_UP)
			continue;
		assert_true(at < n->flood->n);
		assert_int_equal(n->flood->egress[at++], p);
	}
	/* 192.0.2.1 is our own. */
	for (uint8_t last = 2; f->network[w].vni && last <= 3; last++) {
		struct ip remote = address(last);
		uint16_t egress = tunnels_find(f->g.tunnels, &remote);

		if (f->network[w].has_remotes)
			break;
		assert_true(at < n->flood->n);
		assert_int_equal(n->flood->egress[at++], egress);
		assert_true(tunnel_set_has(n->tunnels, egress));
	}
	assert_int_equal(n->flood->n, at);
}

static void random_port(struct fixture *f, uint32_t p)
{
	struct conf_port *c = &f->conf_port[p];
	uint16_t w = 1;

	if (random_below(6) == 0) {
		c->underlay = true;
		return;
	}
	c->untagged = (uint16_t)(random_below(3) ? w++ : 0);
	if (random_below(3) == 0) {
		c->rest = CONF_REST_NETWORK;
		c->rest_network = w++;
	}
	for (; w < N_NETWORKS; w++) {
		if (random_below(2))
			continue;
		f->tag[p][c->n_tagged++] = (struct conf_tag){(uint16_t)(100 + 7 * w), w};
	}
}

static void against_the_configuration(void **state)
{
	static struct fixture f;

	random_init("views");
	for (uint32_t round = 0; round < 50; round++) {
		setup(&f, N_NETWORKS);
		for (uint32_t w = 1; w < N_NETWORKS; w++) {
			f.network[w].vni = random_below(2) ? 1000 + w : 0;
			f.network[w].has_remotes = random_below(3) == 0;
		}
		for (uint32_t p = 0; p < N_PORTS; p++)
			random_port(&f, p);
		assert_int_equal(views_create(&f.g, &f.g.views), 0);
		for (uint32_t i = 0; i < 30; i++) {
			uint16_t p = (uint16_t)random_below(N_PORTS);

			f.port[p].state = random_below(2) ? GATEWAY_PORT_UP : GATEWAY_PORT_NO_LINK;
			f.port[p].shut = random_below(2);
			assert_int_equal(views_update_port(f.g.views, p), 0);
			for (uint32_t w = 1; w < N_NETWORKS; w++)
				check_network(&f, w);
			for (uint32_t q = 0; q < N_PORTS; q++)
				check_port(&f, q);
		}
		teardown(&f);
	}
}

static void equal_networks_share(void **state)
{
	static struct fixture f;
	uint32_t n = NETWORK_MAX;

	setup(&f, n);
	/* All on the underlay with the default remotes; one also on a port, one with a list of its
	 * own, and one with a static entry behind a VTEP that no list names. */
	for (uint32_t w = 1; w < n; w++)
		f.network[w].vni = w;
	f.conf_port[0].untagged = 7;
	f.network[8].has_remotes = true;
	f.network[8].remotes = &f.remotes[2];
	f.network[8].n_remotes = 1;
	f.network[9].statics = &(struct conf_static){.port = -1, .vtep = address(77)};
	f.network[9].n_statics = 1;
	assert_int_equal(views_create(&f.g, &f.g.views), 0);
	assert_int_equal(views_n_groups(f.g.views), 4);
	assert_ptr_equal(f.tables.network[1]->flood, f.tables.network[n - 1]->flood);
	assert_ptr_equal(f.tables.network[1]->tunnels, f.tables.network[7]->tunnels);
	assert_ptr_not_equal(f.tables.network[1]->flood, f.tables.network[7]->flood);
	assert_int_equal(f.tables.network[8]->flood->n, 1);
	/* Accepted from there, and sent there when the entry says so; not flooded to. */
	assert_int_equal(f.tables.network[9]->flood->n, 2);
	assert_int_equal(f.g.tunnels->n_tunnels, 3);
	assert_true(views_carries(f.g.views, 9, EGRESS_TUNNEL0 + 2));
	assert_false(views_carries(f.g.views, 1, EGRESS_TUNNEL0 + 2));
	assert_false(views_carries(f.g.views, 0, EGRESS_TUNNEL0));
	assert_false(views_carries(f.g.views, 1, EGRESS_FLOOD));
	teardown(&f);
}

static void the_mtu_of_a_tunnel(void **state)
{
	static struct fixture f;

	setup(&f, 3);
	f.network[1].vni = 1;
	f.conf_port[0].untagged = 1;
	f.conf_port[1].untagged = 2;
	f.port[0].info.mtu = 1500;
	f.port[1].info.mtu = 9000;
	assert_int_equal(views_create(&f.g, &f.g.views), 0);
	assert_int_equal(views_tunnel_mtu(f.g.views, EGRESS_TUNNEL0), 0);
	/* Only whether it is there counts. */
	f.port[0].port = (struct port *)&f;
	f.port[1].port = (struct port *)&f;
	views_update_port(f.g.views, 0);
	assert_int_equal(views_tunnel_mtu(f.g.views, EGRESS_TUNNEL0), 1500);
	assert_int_equal(f.tables.port[1]->frame_max, 9018);
	assert_int_equal(f.tables.port[2]->frame_max, UINT16_MAX);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_the_configuration),
		cmocka_unit_test(equal_networks_share),
		cmocka_unit_test(the_mtu_of_a_tunnel),
	};
	int r;

	rcu_register_thread();
	r = cmocka_run_group_tests(tests, NULL, NULL);
	rcu_unregister_thread();
	return r;
}
