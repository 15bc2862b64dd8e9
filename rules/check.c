/* SPDX-License-Identifier: BSD-2-Clause */
#include "rules/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/errors.h"
#include "conf/file.h"
#include "rules/rules.h"

#define PIECE_BYTES 65536

/* Ports and tunnels as the configuration has them: ports by index, tunnels in the order of their
 * addresses. */
struct known {
	const struct conf *conf;
	struct ip *vtep;
	size_t n_vteps;
};

static int compare_ips(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct ip));
}

static uint16_t port_egress(const struct known *known, size_t i)
{
	/* What an underlay device carries is decapsulated first. */
	return known->conf->ports[i].underlay ? EGRESS_NONE : (uint16_t)i;
}

static uint16_t of_number(void *arg, uint32_t number)
{
	const struct known *known = arg;

	if (number >= RULES_TUNNEL_NUMBER0) {
		number -= RULES_TUNNEL_NUMBER0;
		return number < known->n_vteps ? (uint16_t)(EGRESS_TUNNEL0 + number) : EGRESS_NONE;
	}
	for (size_t i = 0; i < known->conf->n_ports; i++)
		if (known->conf->ports[i].number == number)
			return port_egress(known, i);
	return EGRESS_NONE;
}

static uint16_t of_name(void *arg, const char *name, size_t n)
{
	const struct known *known = arg;
	char text[IP_TEXT_BYTES] = "";
	const struct ip *found;
	struct ip ip;

	for (size_t i = 0; i < known->conf->n_ports; i++) {
		const char *port = known->conf->ports[i].name;

		if (strlen(port) == n && memcmp(port, name, n) == 0)
			return port_egress(known, i);
	}
	if (n >= sizeof(text))
		return EGRESS_NONE;
	memcpy(text, name, n);
	if (!ip_parse(text, &ip) || known->n_vteps == 0)
		return EGRESS_NONE;
	found = bsearch(&ip, known->vtep, known->n_vteps, sizeof(ip), compare_ips);
	return found ? (uint16_t)(EGRESS_TUNNEL0 + (found - known->vtep)) : EGRESS_NONE;
}

/* All remote VTEPs, each once. */
static bool collect_vteps(struct known *known)
{
	const struct conf *conf = known->conf;
	size_t n = conf->tunnels.n_remotes;
	struct ip *vtep;

	for (size_t i = 1; i < conf->n_networks; i++)
		n += conf->networks[i].n_remotes + conf->networks[i].n_statics;
	vtep = malloc((n ? n : 1) * sizeof(*vtep));
	if (!vtep)
		return false;
	n = 0;
	for (size_t i = 0; i < conf->tunnels.n_remotes; i++)
		vtep[n++] = conf->tunnels.remotes[i];
	for (size_t i = 1; i < conf->n_networks; i++) {
		const struct conf_network *network = &conf->networks[i];

		for (size_t k = 0; k < network->n_remotes; k++)
			vtep[n++] = network->remotes[k];
		for (size_t k = 0; k < network->n_statics; k++)
			if (network->statics[k].port < 0)
				vtep[n++] = network->statics[k].vtep;
	}
	qsort(vtep, n, sizeof(*vtep), compare_ips);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || !ip_equal(&vtep[i], &vtep[known->n_vteps - 1]))
			vtep[known->n_vteps++] = vtep[i];
	known->vtep = vtep;
	return true;
}

static int pass(void *arg, const struct flow_spec *spec, uint32_t line)
{
	return 0;
}

/* Errors go to @errors, and the reader goes on behind them. */
static int note_errors(const struct conf *conf, struct rules_reader *reader, int r,
		       struct rules_error *error, struct conf_errors *errors)
{
	while (r == -EINVAL) {
		struct conf_where where = {conf->flows_file, error->line, error->column};

		conf_errors_add(errors, where, "%s", error->why);
		r = rules_reader_feed(reader, NULL, 0, error);
	}
	return r;
}

static int check_fd(const struct conf *conf, int fd, struct rules_reader *reader,
		    struct conf_errors *errors)
{
	struct rules_error error;
	char piece[PIECE_BYTES];
	ssize_t n;
	int r;

	while ((n = read(fd, piece, sizeof(piece))) > 0) {
		r = rules_reader_feed(reader, piece, (size_t)n, &error);
		r = note_errors(conf, reader, r, &error, errors);
		if (r)
			return r;
	}
	if (n < 0)
		conf_errors_add(errors, conf->flows_where, "flows: file: %s: %s", conf->flows_file,
				strerror(errno));
	return note_errors(conf, reader, rules_reader_end(reader, &error), &error, errors);
}

int rules_check(const struct conf *conf, struct conf_errors *errors)
{
	struct known known = {.conf = conf};
	const struct rules_ports ports = {
		.of_number = of_number, .of_name = of_name, .arg = &known};
	struct rules_reader reader;
	int fd, r;

	if (!conf->flows_file)
		return 0;
	fd = file_open(conf->flows_file);
	if (fd < 0) {
		conf_errors_add(errors, conf->flows_where, "flows: file: %s: %s", conf->flows_file,
				file_why(fd));
		return -EINVAL;
	}
	rules_reader_init(&reader, &ports, pass, NULL);
	r = collect_vteps(&known) ? check_fd(conf, fd, &reader, errors) : -ENOMEM;
	rules_reader_fini(&reader);
	free(known.vtep);
	close(fd);
	return r == 0 && conf_errors_any(errors) ? -EINVAL : r;
}
