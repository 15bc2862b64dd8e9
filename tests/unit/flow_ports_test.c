/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports as flow rules call them: as many as there can be, with names and numbers at random, against
 * a look at all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/flow_ports.h"
#include "lib/bits.h"
#include "lib/rcu.h"
#include "tests/unit/random.h"

#define N_TUNNELS 300

static struct conf_port port[PORT_MAX];
static char names[PORT_MAX][16];
static struct conf conf = {.ports = port, .n_ports = PORT_MAX};
static struct tunnels *tunnels;
static struct ip remote[N_TUNNELS];

static int find_name(const char *name)
{
	for (size_t i = 0; i < PORT_MAX; i++)
		if (!port[i].underlay && strcmp(port[i].name, name) == 0)
			return (int)i;
	return -1;
}

static int find_number(uint32_t number)
{
	for (size_t i = 0; i < PORT_MAX; i++)
		if (!port[i].underlay && port[i].number == number)
			return (int)i;
	return -1;
}

/* Few letters and short, so that names are parts of other names. */
static void random_name(char name[16])
{
	uint32_t n = 1 + random_below(15);

	for (uint32_t i = 0; i < n; i++)
		name[i] = (char)('a' + random_below(2));
	name[n] = '\0';
}

static int make(void **state)
{
	static const struct tunnel_options options = {.udp_port = 4789};

	random_init("flow_ports");
	rcu_register_thread();
	for (size_t i = 0; i < PORT_MAX; i++) {
		port[i].name = names[i];
		do
			random_name(names[i]);
		while (find_name(names[i]) >= 0 && find_name(names[i]) != (int)i);
		do
			port[i].number = 1 + random_below(i % 2 ? 300 : RULES_TUNNEL_NUMBER0 - 1);
		while (find_number(port[i].number) != (int)i);
	}
	for (size_t i = 0; i < PORT_MAX; i += 7)
		port[i].underlay = true;
	tunnels = tunnels_create(&options);
	for (uint32_t i = 0; i < N_TUNNELS; i++) {
		uint32_t v4 = (uint32_t)random_u64();

		remote[i] = ip_from_v4(&v4);
		if (tunnels_add(tunnels, &remote[i]) != EGRESS_TUNNEL0 + i)
			i--;
	}
	return 0;
}

static int unmake(void **state)
{
	rcu_barrier();
	tunnels_destroy(tunnels);
	rcu_unregister_thread();
	return 0;
}

static uint16_t wanted(int i)
{
	return i < 0 ? EGRESS_NONE : (uint16_t)i;
}

static void ports(void **state)
{
	struct flow_ports *p = flow_ports_create(&conf, tunnels);
	const struct rules_ports *r = flow_ports_rules(p);
	char text[64];

	for (uint32_t n = 0; n < RULES_TUNNEL_NUMBER0; n++)
		assert_int_equal(r->of_number(r->arg, n), wanted(find_number(n)));
	for (uint16_t i = 0; i < PORT_MAX; i++) {
		assert_string_equal(r->name(r->arg, i, text), port[i].name);
		assert_int_equal(r->number(r->arg, i), port[i].number);
	}
	for (int i = 0; i < 100000; i++) {
		char name[32], *exact;
		size_t n;

		random_name(name);
		n = strlen(name);
		exact = malloc(n);
		memcpy(exact, name, n);
		assert_int_equal(r->of_name(r->arg, exact, n), wanted(find_name(name)));
		free(exact);
	}
	assert_int_equal(r->of_name(r->arg, "", 0), EGRESS_NONE);
	memset(text, 'a', sizeof(text));
	assert_int_equal(r->of_name(r->arg, text, 16), EGRESS_NONE);
	assert_int_equal(r->of_name(r->arg, text, sizeof(text)), EGRESS_NONE);
	flow_ports_destroy(p);
}

static void tunnels_too(void **state)
{
	struct flow_ports *p = flow_ports_create(&conf, tunnels);
	const struct rules_ports *r = flow_ports_rules(p);
	char text[64], name[64];

	for (uint16_t i = 0; i < N_TUNNELS; i++) {
		uint16_t egress = (uint16_t)(EGRESS_TUNNEL0 + i);

		ip_format(&remote[i], name);
		assert_int_equal(r->of_number(r->arg, RULES_TUNNEL_NUMBER0 + i), egress);
		assert_int_equal(r->of_name(r->arg, name, strlen(name)), egress);
		assert_int_equal(r->number(r->arg, egress), RULES_TUNNEL_NUMBER0 + i);
		assert_string_equal(r->name(r->arg, egress, text), name);
	}
	assert_int_equal(r->of_number(r->arg, RULES_TUNNEL_NUMBER0 + N_TUNNELS), EGRESS_NONE);
	assert_int_equal(r->of_number(r->arg, UINT32_MAX), EGRESS_NONE);
	assert_null(r->name(r->arg, EGRESS_TUNNEL0 + N_TUNNELS, text));
	assert_int_equal(r->number(r->arg, EGRESS_NONE), 0);
	assert_null(r->name(r->arg, EGRESS_NONE, text));
	flow_ports_destroy(p);
	/* A gateway without tunnels. */
	p = flow_ports_create(&conf, NULL);
	r = flow_ports_rules(p);
	assert_int_equal(r->of_number(r->arg, RULES_TUNNEL_NUMBER0), EGRESS_NONE);
	assert_int_equal(r->of_name(r->arg, name, strlen(name)), EGRESS_NONE);
	flow_ports_destroy(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports),
		cmocka_unit_test(tunnels_too),
	};

	return cmocka_run_group_tests(tests, make, unmake);
}
