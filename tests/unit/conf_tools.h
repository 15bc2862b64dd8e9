/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the tests of the configuration share: loading and judging a struct conf, files of a moment.
 */
#ifndef TESTS_UNIT_CONF_TOOLS_H
#define TESTS_UNIT_CONF_TOOLS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"

#define CONF_DIR SOURCE_ROOT "/tests/conf"

static inline void enter(const char *dir)
{
	assert_int_equal(chdir(dir), 0);
}

static inline char *print_errors(const struct conf_errors *errors)
{
	char *text = NULL;
	size_t bytes;
	FILE *f = open_memstream(&text, &bytes);

	assert_non_null(f);
	conf_errors_print(errors, f);
	fclose(f);
	return text;
}

/* What must hold for every struct conf, whatever file it came from. Naive on purpose. */
static inline void check_port(const struct conf *conf, const struct conf_port *p)
{
	uint8_t *seen = calloc(conf->n_networks, 1);

	assert_non_null(seen);
	assert_true(p->name[0] && strlen(p->name) <= 15);
	assert_true(p->number > 0);
	assert_true(p->untagged < conf->n_networks);
	assert_true(p->rest_network < conf->n_networks);
	seen[p->untagged]++;
	seen[p->rest_network]++;
	for (size_t i = 0; i < p->n_tagged; i++) {
		assert_in_range(p->tagged[i].vid, 1, 4094);
		assert_in_range(p->tagged[i].network, 1, conf->n_networks - 1);
		assert_true(i == 0 || p->tagged[i].vid > p->tagged[i - 1].vid);
		seen[p->tagged[i].network]++;
	}
	for (size_t i = 1; i < conf->n_networks; i++)
		assert_true(seen[i] <= 1);
	if (p->type == CONF_PORT_NETDEV)
		assert_int_equal(!!p->device + p->has_match_mac + !!p->match_pci, 1);
	if (p->type == CONF_PORT_PCAP)
		assert_true(p->pcap_rx || p->pcap_tx);
	if (p->underlay) {
		assert_int_equal(p->rest, CONF_REST_KERNEL);
		assert_int_equal(p->untagged + p->n_tagged, 0);
	}
	free(seen);
}

static inline void check_ports(const struct conf *conf)
{
	for (size_t i = 0; i < conf->n_ports; i++) {
		const struct conf_port *p = &conf->ports[i];

		check_port(conf, p);
		for (size_t j = 0; j < i; j++) {
			const struct conf_port *q = &conf->ports[j];

			assert_string_not_equal(p->name, q->name);
			assert_int_not_equal(p->number, q->number);
			if (p->device && q->device)
				assert_string_not_equal(p->device, q->device);
		}
	}
}

static inline void check_networks(const struct conf *conf)
{
	static uint8_t vnis[1 << 24];

	for (size_t i = 1; i < conf->n_networks; i++) {
		const struct conf_network *n = &conf->networks[i];

		assert_true(n->name[0] && strlen(n->name) <= 31);
		assert_true(n->vni < 1 << 24);
		assert_true(!n->vni || !vnis[n->vni]++);
		for (size_t j = 0; j < n->n_statics; j++) {
			assert_true(n->statics[j].port < (int)conf->n_ports);
			assert_int_equal(n->statics[j].port < 0, !ip_is_none(&n->statics[j].vtep));
			assert_false(mac_is_group(&n->statics[j].mac));
		}
	}
	for (size_t i = 1; i < conf->n_networks; i++)
		vnis[conf->networks[i].vni] = 0;
}

static inline void check_captures(const struct conf *conf)
{
	assert_true(conf->n_captures <= CONF_CAPTURES_MAX);
	for (size_t i = 0; i < conf->n_captures; i++) {
		const struct conf_capture *c = &conf->captures[i];

		assert_true(c->name[0] && strlen(c->name) <= 11);
		assert_in_range(c->n_sources, 1, CONF_CAPTURE_SOURCES_MAX);
		assert_in_range(c->dir, 1, 3);
		assert_in_range(c->snaplen, 1, CONF_SNAPLEN_MAX);
		assert_true(c->sample > 0);
		assert_int_equal(!c->filter, !c->filter_text);
		for (size_t j = 0; j < c->n_sources; j++) {
			const struct conf_capture_source *s = &c->sources[j];

			assert_int_equal((s->port >= 0) + !!s->network + !ip_is_none(&s->vtep), 1);
			assert_true(s->port < (int)conf->n_ports);
			assert_true(s->network < conf->n_networks);
		}
	}
}

static inline void check_conf(const struct conf *conf)
{
	const struct conf_tunnels *t = &conf->tunnels;

	assert_true(conf->n_networks >= 1);
	assert_true(conf->ring && !(conf->ring & (conf->ring - 1)));
	assert_true(t->source_port_min && t->source_port_min <= t->source_port_max);
	assert_true(t->ttl && t->udp_port);
	check_ports(conf);
	check_networks(conf);
	check_captures(conf);
}

/* Loads what must load. */
static inline struct conf *load(const char *path)
{
	struct conf_errors errors = {0};
	struct conf *conf;
	int err = conf_load(path, &conf, &errors);

	if (err)
		conf_errors_print(&errors, stderr);
	assert_int_equal(err, 0);
	assert_int_equal(errors.n, 0);
	conf_errors_fini(&errors);
	check_conf(conf);
	return conf;
}

/* Loads what must not; returns what is said. */
static inline char *refused(const char *path)
{
	struct conf_errors errors = {0};
	struct conf *conf = (struct conf *)&errors;
	char *text;

	assert_int_equal(conf_load(path, &conf, &errors), -EINVAL);
	assert_null(conf);
	assert_true(errors.n > 0);
	text = print_errors(&errors);
	conf_errors_fini(&errors);
	return text;
}

static inline void write_file(const char *path, const void *data, size_t bytes)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, bytes, f), bytes);
	assert_int_equal(fclose(f), 0);
}

static inline void enter_scratch(char dir[static 32])
{
	strcpy(dir, "/tmp/culvert-conf-XXXXXX");
	assert_non_null(mkdtemp(dir));
	enter(dir);
}

static inline void leave_scratch(const char *dir)
{
	enter("/");
	assert_int_equal(rmdir(dir), 0);
}

static inline FILE *scratch_file(void)
{
	FILE *f = fopen("f", "w");

	assert_non_null(f);
	return f;
}

#endif
