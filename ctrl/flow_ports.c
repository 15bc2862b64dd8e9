/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/flow_ports.h"

#include <stdlib.h>
#include <string.h>

#include "lib/bits.h"
#include "lib/hash.h"

#define NAME_SLOTS (4 * PORT_MAX)
#define NAME_WORDS 2	/* a port's name has at most 15 bytes */

struct flow_ports {
	struct rules_ports rules;
	const struct conf *conf;
	const struct tunnels *tunnels;
	uint16_t by_name[NAME_SLOTS];	/* open addressing: egress id + 1; 0: empty */
	uint16_t by_number[RULES_TUNNEL_NUMBER0];
};

/* Where the port named like this is, or would be. */
static uint16_t *name_slot(struct flow_ports *p, const char *name, size_t n)
{
	uint64_t word[NAME_WORDS] = {0};
	size_t i;

	memcpy(word, name, n);
	for (i = hash_mix(word[0], word[1]) % NAME_SLOTS; p->by_name[i]; i = (i + 1) % NAME_SLOTS) {
		const char *known = p->conf->ports[p->by_name[i] - 1].name;

		if (strncmp(known, name, n) == 0 && !known[n])
			break;
	}
	return &p->by_name[i];
}

static uint16_t tunnel_named(const struct flow_ports *p, const char *name, size_t n)
{
	char text[IP_TEXT_BYTES] = "";
	struct ip ip;

	if (!p->tunnels || n >= sizeof(text))
		return EGRESS_NONE;
	memcpy(text, name, n);
	return ip_parse(text, &ip) ? tunnels_find(p->tunnels, &ip) : EGRESS_NONE;
}

static uint16_t of_name(void *arg, const char *name, size_t n)
{
	struct flow_ports *p = arg;
	uint16_t found = n < sizeof(uint64_t[NAME_WORDS]) ? *name_slot(p, name, n) : 0;

	return found ? (uint16_t)(found - 1) : tunnel_named(p, name, n);
}

static uint16_t of_number(void *arg, uint32_t number)
{
	const struct flow_ports *p = arg;
	uint32_t n_tunnels = p->tunnels ? p->tunnels->n_tunnels : 0;

	if (number < RULES_TUNNEL_NUMBER0)
		return p->by_number[number];
	number -= RULES_TUNNEL_NUMBER0;
	return number < n_tunnels ? (uint16_t)(EGRESS_TUNNEL0 + number) : EGRESS_NONE;
}

static uint32_t number_of(void *arg, uint16_t egress)
{
	const struct flow_ports *p = arg;

	if (egress < p->conf->n_ports)
		return p->conf->ports[egress].number;
	return egress_is_tunnel(egress) ? RULES_TUNNEL_NUMBER0 + egress - EGRESS_TUNNEL0 : 0;
}

static const char *name_of(void *arg, uint16_t egress, char text[static 64])
{
	const struct flow_ports *p = arg;
	const struct tunnel *tunnel = NULL;

	if (egress < p->conf->n_ports)
		return p->conf->ports[egress].name;
	if (p->tunnels)
		tunnel = tunnels_get(p->tunnels, egress);
	return tunnel ? ip_format(&tunnel->remote, text) : NULL;
}

struct flow_ports *flow_ports_create(const struct conf *conf, const struct tunnels *tunnels)
{
	struct flow_ports *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->rules = (struct rules_ports){of_number, of_name, number_of, name_of, p};
	p->conf = conf;
	p->tunnels = tunnels;
	memset(p->by_number, 0xff, sizeof(p->by_number));
	for (uint16_t i = 0; i < conf->n_ports; i++) {
		const struct conf_port *port = &conf->ports[i];

		if (port->underlay)
			continue;
		p->by_number[port->number] = i;
		*name_slot(p, port->name, strlen(port->name)) = (uint16_t)(i + 1);
	}
	return p;
}

void flow_ports_destroy(struct flow_ports *p)
{
	free(p);
}

const struct rules_ports *flow_ports_rules(const struct flow_ports *p)
{
	return &p->rules;
}
