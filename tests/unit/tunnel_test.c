/* SPDX-License-Identifier: BSD-2-Clause */
#include "tests/unit/vxlan_oracle.h"

static struct ip random_ip(void)
{
	uint8_t bytes[16];

	random_bytes(bytes, sizeof(bytes));
	return random_below(2) ? ip_from_v4(bytes) : ip_from_v6(bytes);
}

/* As many tunnels as there can be, against a list that is searched from the front. */
static void full_index(void **state)
{
	struct tunnel_options o = default_options();
	struct tunnels *t = tunnels_create(&o);
	struct ip *list = calloc(TUNNEL_MAX, sizeof(*list)), other;

	assert_non_null(t);
	for (uint32_t n = 0; n < TUNNEL_MAX; n++) {
		list[n] = random_ip();
		assert_int_equal(tunnels_find(t, &list[n]), EGRESS_NONE);
		assert_int_equal(tunnels_add(t, &list[n]), EGRESS_TUNNEL0 + n);
		assert_int_equal(tunnels_add(t, &list[n / 2]), EGRESS_TUNNEL0 + n / 2);
		assert_int_equal(t->n_tunnels, n + 1);
		rcu_quiescent_state();
	}
	for (uint32_t n = 0; n < TUNNEL_MAX; n++) {
		assert_int_equal(tunnels_find(t, &list[n]), EGRESS_TUNNEL0 + n);
		assert_true(ip_equal(&tunnels_get(t, EGRESS_TUNNEL0 + n)->remote, &list[n]));
		other = list[n];
		other.byte[15] ^= 1;
		assert_int_equal(tunnels_find(t, &other), EGRESS_NONE);
	}
	other = random_ip();
	assert_int_equal(tunnels_add(t, &other), EGRESS_NONE);
	assert_int_equal(tunnels_add(t, &list[TUNNEL_MAX - 1]), EGRESS_MAX - 1);
	assert_null(tunnels_get(t, EGRESS_TUNNEL0 - 1));
	assert_null(tunnels_get(t, EGRESS_MAX));
	assert_null(tunnels_get(t, EGRESS_NONE));
	free(list);
	tunnels_destroy(t);
}

/* Addresses that differ in one place only, as they do in a real network. */
static void similar_addresses(void **state)
{
	struct tunnel_options o = default_options();
	struct tunnels *t = tunnels_create(&o);
	struct ip ip = ip_of("2001:db8::"), mapped;

	for (uint32_t n = 0; n < 2048; n++) {
		ip.byte[7] = (uint8_t)(n >> 8);
		ip.byte[15] = (uint8_t)n;
		assert_int_equal(tunnels_add(t, &ip), EGRESS_TUNNEL0 + n);
	}
	mapped = ip_of("0.0.0.0");
	for (uint32_t n = 0; n < 2048; n++) {
		mapped.byte[12] = (uint8_t)(n >> 8);
		mapped.byte[13] = (uint8_t)n;
		assert_int_equal(tunnels_add(t, &mapped), EGRESS_TUNNEL0 + 2048 + n);
	}
	tunnels_destroy(t);
}

static void paths(void **state)
{
	static const struct {
		const char *remote, *source;
		uint8_t state, want_state;
		uint16_t mtu, want_inner_max;
	} rows[] = {
		{"192.0.2.2", "192.0.2.1", TUNNEL_OK, TUNNEL_OK, 1500, 1464},
		{"192.0.2.2", "192.0.2.1", TUNNEL_OK, TUNNEL_OK, 65535, 65499},
		{"192.0.2.2", "192.0.2.1", TUNNEL_OK, TUNNEL_OK, 36, 0},
		{"192.0.2.2", "192.0.2.1", TUNNEL_OK, TUNNEL_OK, 0, 0},
		{"192.0.2.2", "192.0.2.1", TUNNEL_NO_NEIGHBOUR, TUNNEL_NO_NEIGHBOUR, 1500, 0},
		{"192.0.2.2", "192.0.2.1", TUNNEL_NO_ROUTE, TUNNEL_NO_ROUTE, 1500, 0},
		{"192.0.2.2", "2001:db8::1", TUNNEL_OK, TUNNEL_NO_ROUTE, 1500, 0},
		{"2001:db8::2", "192.0.2.1", TUNNEL_OK, TUNNEL_NO_ROUTE, 1500, 0},
		{"2001:db8::2", "2001:db8::1", TUNNEL_OK, TUNNEL_OK, 1500, 1444},
	};
	struct tunnel_options o = default_options();
	struct tunnels *t = tunnels_create(&o);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ip remote = ip_of(rows[i].remote);
		struct tunnel_path path = default_path(true);
		uint16_t id = tunnels_add(t, &remote);
		const struct tunnel *tunnel;

		path.state = rows[i].state;
		path.source = ip_of(rows[i].source);
		path.mtu = rows[i].mtu;
		assert_int_equal(tunnels_set_path(t, id, &path), 0);
		tunnel = tunnels_get(t, id);
		assert_int_equal(tunnel->state, rows[i].want_state);
		assert_int_equal(tunnel->inner_max, rows[i].want_inner_max);
		assert_int_equal(tunnel->checksum, !ip_is_v4(&remote));
		assert_int_equal(tunnel->header_bytes, ip_is_v4(&remote) ? 50 : 70);
		assert_int_equal((uintptr_t)tunnel % CACHE_LINE, 0);
		assert_int_equal(tunnels_find(t, &remote), id);
	}
	tunnels_destroy(t);
}

static void vni_table(void **state)
{
	struct tunnel_options o = default_options();
	struct tunnels *t = tunnels_create(&o);

	tunnels_set_vni(t, 1, 10);
	tunnels_set_vni(t, VNI_MAX, 65535);
	tunnels_set_vni(t, VNI_MAX + 2, 3);
	assert_int_equal(t->network_of_vni[0], NETWORK_NONE);
	assert_int_equal(t->network_of_vni[1], 10);
	assert_int_equal(t->network_of_vni[VNI_MAX], 65535);
	tunnels_set_vni(t, 1, NETWORK_NONE);
	assert_int_equal(t->network_of_vni[1], NETWORK_NONE);
	tunnels_destroy(t);
	tunnels_destroy(NULL);
}

static void locals(void **state)
{
	struct tunnel_options o = default_options();
	struct tunnels *t = tunnels_create(&o);
	struct ip ip = ip_of("2001:db8::1");

	assert_true(tunnels_is_local(t, &ip));
	ip = ip_of("192.0.2.1");
	assert_true(tunnels_is_local(t, &ip));
	ip = ip_of("192.0.2.2");
	assert_false(tunnels_is_local(t, &ip));
	ip = ip_of("::");
	assert_false(tunnels_is_local(t, &ip));
	tunnels_destroy(t);
}

/* Source ports: inside the range, the same for the same hash, rising with it, all used alike. */
static void source_ports(void **state)
{
	static const struct {
		uint16_t min, max;
	} rows[] = {{49152, 65535}, {0, 65535}, {5000, 5000}, {10000, 10002}, {65535, 65535},
		    {1, 1000}};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct tunnel_options o = {
			.source_port_min = rows[i].min, .source_port_max = rows[i].max};
		uint32_t ports = rows[i].max - rows[i].min + 1u, before = rows[i].min;
		uint32_t *seen = calloc(65536, sizeof(*seen));
		uint32_t share = (1u << 20) / ports;

		for (uint64_t h = 0; h < 1u << 20; h++) {
			uint32_t hash = (uint32_t)(h << 12 | (h * 2654435761u & 0xfff));
			uint16_t port = vxlan_source_port(&o, hash);

			assert_in_range(port, rows[i].min, rows[i].max);
			assert_int_equal(port, vxlan_source_port(&o, hash));
			assert_true(port >= before);
			before = port;
			seen[port]++;
		}
		assert_int_equal(vxlan_source_port(&o, 0), rows[i].min);
		assert_int_equal(vxlan_source_port(&o, UINT32_MAX), rows[i].max);
		for (uint32_t port = rows[i].min; port <= rows[i].max; port++)
			assert_in_range(seen[port], share - 1, share + 2);
		free(seen);
	}
}

static void thousand_flows(void **state)
{
	struct tunnel_options o = default_options();
	uint8_t *seen = calloc(65536, 1);
	int different = 0;

	for (int i = 0; i < 1000; i++) {
		uint16_t port = vxlan_source_port(&o, (uint32_t)random_u64());

		different += !seen[port];
		seen[port] = 1;
	}
	assert_in_range(different, 940, 1000);
	free(seen);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_index),
		cmocka_unit_test(similar_addresses),
		cmocka_unit_test(paths),
		cmocka_unit_test(vni_table),
		cmocka_unit_test(locals),
		cmocka_unit_test(source_ports),
		cmocka_unit_test(thousand_flows),
	};

	random_seed();
	return cmocka_run_group_tests(tests, rcu_begin, rcu_end);
}
