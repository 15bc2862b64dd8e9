/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `culvert drops` makes of a drop's detail; stages.h and vxlan.h say how it is packed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/flow_ports.h"
#include "ctrl/flows.h"
#include "lib/bits.h"
#include "lib/rcu.h"

static struct conf_port conf_ports[] = {{.name = "srv1", .number = 1},
					{.name = "srv2", .number = 2}};
static struct conf_network networks[] = {{.name = NULL}, {.name = "blue"}};
static const struct conf conf = {
	.ports = conf_ports,
	.n_ports = ARRAY_SIZE(conf_ports),
	.networks = networks,
	.n_networks = ARRAY_SIZE(networks),
};
static struct gateway_port ports[] = {{.conf = &conf_ports[0]}, {.conf = &conf_ports[1]}};
static struct flows flows;
static const struct gateway gateway = {
	.conf = &conf,
	.flows = &flows,
	.port = ports,
	.n_ports = ARRAY_SIZE(ports),
	.n_networks = ARRAY_SIZE(networks),
};

static void details(void **state)
{
	static const struct {
		enum drop_reason reason;
		uint64_t detail;
		const char *text;
	} rows[] = {
		{DROP_TOO_BIG, 9000ull << 32 | 1450, "9000 > 1450"},
		{DROP_VLAN_UNMAPPED, 300, "VLAN 300"},
		{DROP_VLAN_UNMAPPED, 0x88a8ull << 16 | 42, "service VLAN 42"},
		{DROP_UNTAGGED, 0x0806, "ethertype 0x0806"},
		{DROP_FLOW, 12, "a rule that is gone"},
		{DROP_TTL, 1, "TTL 1"},
		{DROP_VNI_UNKNOWN, 77, "VNI 77"},
		{DROP_VTEP_REMOTE, 10ull << 32 | 0xc0000209, "VNI 10 from 192.0.2.9"},
		{DROP_VTEP_LOCAL, 0xc0000201, "192.0.2.1"},
		{DROP_NO_ROUTE, 0xc0000209, "192.0.2.9"},
		{DROP_NO_ROUTE, 0, ""},
		{DROP_NO_NEIGHBOUR, 0xc0000209, "192.0.2.9"},
		{DROP_RUNT, 9, "9 bytes"},
		{DROP_BAD_SOURCE, 0x010203040506, "01:02:03:04:05:06"},
		{DROP_BAD_SOURCE, 0, "00:00:00:00:00:00"},
		{DROP_BAD_SOURCE, 10100, "VNI 10100"},
		{DROP_RESERVED, 0x0180c200000e, "01:80:c2:00:00:0e"},
		{DROP_SAME_PORT, 1ull << 48 | 0x020000000005, "02:00:00:00:00:05 in blue"},
		{DROP_NO_TARGET, 1, "blue"},
		{DROP_NO_TARGET, 9, "?"},
		{DROP_PORT_DOWN, 1, "to srv2"},
		{DROP_PORT_DOWN, 7, "to ?"},
		{DROP_EGRESS_TAG, 1ull << 32 | 0x8100ull << 16 | 5, "VLAN 5 to srv2"},
		{DROP_EGRESS_TAG, 0ull << 32, "untagged to srv1"},
		{DROP_NOT_VXLAN, 17 << 16 | 53, "UDP port 53"},
		{DROP_NOT_VXLAN, 6 << 16, "IP protocol 6"},
		{DROP_NOT_VXLAN, 0x88ccull << 32, "ethertype 0x88cc"},
		{DROP_NOT_VXLAN, 7ull << 48, "VLAN 7"},
		{DROP_VXLAN_SHORT, 100ull << 32 | 60, "60 bytes of 100"},
		{DROP_VXLAN_FLAGS, 0x00000100, "header begins 00000100"},
		{DROP_TX_FULL, 5, ""},
		{DROP_PORT_SHUT, 1, ""},
	};
	struct drop_cell cell = {0};
	char text[96];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		cell.detail = rows[i].detail;
		assert_string_equal(drop_detail(&gateway, rows[i].reason, &cell, text,
						sizeof(text)),
				    rows[i].text);
	}
	/* Whatever a worker wrote: text, and nothing worse. */
	for (int r = 0; r < DROP_REASON_COUNT; r++) {
		cell.detail = UINT64_MAX;
		drop_detail(&gateway, (enum drop_reason)r, &cell, text, sizeof(text));
		cell.detail = 0;
		drop_detail(&gateway, (enum drop_reason)r, &cell, text, sizeof(text));
	}
}

static void a_rule(void **state)
{
	static const char text[] = "priority=7,ip,in_port=srv2 actions=drop";
	struct rules_error error;
	struct flow_spec spec;
	struct drop_cell cell = {.last_ns = 10};
	const struct flow_rule *rule;
	char detail[96];

	assert_true(rules_parse(flows_ports(&flows), text, strlen(text), &spec, &error));
	assert_int_equal(flow_table_add(flows.table, &spec, 10), 1);
	rule = flow_table_find(flows.table, &spec);
	cell.detail = flow_rule_id(flows.table, rule);
	assert_string_equal(drop_detail(&gateway, DROP_FLOW, &cell, detail, sizeof(detail)), text);
	/* A rule that is younger than the drop has nothing to do with it. */
	cell.last_ns = 9;
	assert_string_equal(drop_detail(&gateway, DROP_FLOW, &cell, detail, sizeof(detail)),
			    "a rule that is gone");
	cell.last_ns = 10;
	flow_table_remove(flows.table, (uint32_t)cell.detail);
	assert_string_equal(drop_detail(&gateway, DROP_FLOW, &cell, detail, sizeof(detail)),
			    "a rule that is gone");
}

static int make_flows(void **state)
{
	rcu_register_thread();
	flows.table = flow_table_create(1);
	flows.ports = flow_ports_create(&conf, NULL);
	return flows.table && flows.ports ? 0 : -1;
}

static int free_flows(void **state)
{
	flow_ports_destroy(flows.ports);
	flow_table_destroy(flows.table);
	rcu_unregister_thread();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(details),
		cmocka_unit_test(a_rule),
	};

	return cmocka_run_group_tests(tests, make_flows, free_flows);
}
