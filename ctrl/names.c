/* SPDX-License-Identifier: BSD-2-Clause */
#include <string.h>

#include "ctrl/gateway.h"

int gateway_find_port(const struct gateway *g, const char *name)
{
	for (uint32_t i = 0; i < g->n_ports; i++)
		if (strcmp(g->port[i].conf->name, name) == 0)
			return (int)i;
	return -1;
}

int gateway_find_network(const struct gateway *g, const char *name)
{
	for (uint32_t i = 1; i < g->n_networks; i++)
		if (strcmp(g->conf->networks[i].name, name) == 0)
			return (int)i;
	return -1;
}

const char *gateway_port_state_name(uint8_t state)
{
	static const char *const name[] = {
		[GATEWAY_PORT_UP] = "up",	    [GATEWAY_PORT_NO_LINK] = "no-link",
		[GATEWAY_PORT_MISSING] = "missing", [GATEWAY_PORT_SHUT] = "shut",
		[GATEWAY_PORT_FAILED] = "failed",   [GATEWAY_PORT_DONE] = "done",
	};

	return state < ARRAY_SIZE(name) ? name[state] : "?";
}

const char *gateway_egress_name(const struct gateway *g, uint16_t egress, char *text)
{
	if (egress < g->n_ports)
		return g->port[egress].conf->name;
	if (g->tunnels && egress_is_tunnel(egress) &&
	    (uint32_t)(egress - EGRESS_TUNNEL0) < g->tunnels->n_tunnels)
		return ip_format(&g->tunnels->tunnel[egress - EGRESS_TUNNEL0]->remote, text);
	return "?";
}
