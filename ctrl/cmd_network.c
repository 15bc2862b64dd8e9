/* SPDX-License-Identifier: BSD-2-Clause */
#include "ctrl/commands.h"
#include "ctrl/fields.h"

static const char *learn_name(uint8_t learn)
{
	return learn == CONF_LEARN_ALL ? "true" : learn == CONF_LEARN_LOCAL ? "local" : "false";
}

static json_t *ports_array(const struct commands *c, uint32_t network)
{
	json_t *array = json_array();

	for (uint32_t i = c->first_port[network]; i < c->first_port[network + 1]; i++)
		json_array_append_new(array, json_string(c->g->conf->ports[c->ports[i]].name));
	return array;
}

static json_t *remotes_array(const struct conf *conf, const struct conf_network *n)
{
	const struct ip *remotes = n->has_remotes ? n->remotes : conf->tunnels.remotes;
	size_t n_remotes = n->has_remotes ? n->n_remotes : conf->tunnels.n_remotes;
	json_t *array = json_array();
	char text[IP_TEXT_BYTES];

	for (size_t i = 0; n->vni && i < n_remotes; i++)
		json_array_append_new(array, json_string(ip_format(&remotes[i], text)));
	return array;
}

static json_t *network_object(const struct commands *c, uint32_t i)
{
	const struct conf_network *conf = &c->g->conf->networks[i];
	const struct gateway_network *n = &c->g->network[i];
	json_t *o = json_object();

	field_text(o, "name", conf->name);
	field_int(o, "id", i);
	field_int(o, "vni", conf->vni);
	field_int(o, "macs", n->macs);
	field_int(o, "mac_limit", conf->mac_limit);
	field_int(o, "ageing_s", conf->ageing_s);
	field_text(o, "learn", learn_name(conf->learn));
	field_int(o, "moves", n->moves);
	field_int(o, "limit_hits", n->limit_hits);
	field_json(o, "ports", ports_array(c, i));
	field_json(o, "remotes", remotes_array(c->g->conf, conf));
	return o;
}

int cmd_network(struct request *request)
{
	const struct commands *c = request->context;
	int network;

	if (!request_text(request, "name"))
		return request_list(request, 1, c->g->n_networks, network_object);
	network = request_network(request, "name");
	if (network < 0)
		return PROTOCOL_REFUSED;
	return request_list(request, (uint32_t)network, (uint32_t)network + 1, network_object);
}
