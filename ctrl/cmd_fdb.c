/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The dump walks the live table with a cursor, a few buckets at a time: no copy, no lock, and what
 * it costs control between two looks at other work is bounded by WALK_BUCKETS_MAX.
 *
 * What is promised: an entry that is there from the beginning to the end of the dump is in it,
 * exactly once, unless the table was resized meanwhile. Then the walk starts again and says so with
 * a line {"restarted":true}: all that follows is a complete dump of its own, and a reader that
 * keeps what came before drops what it has already (culvert does).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ctrl/commands.h"
#include "ctrl/fields.h"
#include "lib/bits.h"
#include "lib/clock.h"

#define STEP_BUCKETS 16		/* entries of one step: well under STEP_BYTES of text */
#define STEP_BYTES (16 * 1024)
#define WALK_BUCKETS_MAX 2048	/* of one chunk, also when the filter lets nothing through */

struct fdb_dump {
	struct stream stream;
	struct gateway *g;
	uint64_t cursor;
	uint32_t generation;
	/* filter */
	uint16_t network;	/* NETWORK_NONE: any */
	uint16_t port;		/* EGRESS_NONE: any */
	uint16_t vtep;		/* EGRESS_NONE: any */
	uint64_t mac_key;	/* key without network; 0: any */
	/* of the present chunk */
	struct buffer *out;
	uint32_t now_s;
};

static bool wanted(const struct fdb_dump *d, const struct fdb_entry *e)
{
	return (d->network == NETWORK_NONE || fdb_key_network(e->key) == d->network) &&
	       (d->port == EGRESS_NONE || e->egress == d->port) &&
	       (d->vtep == EGRESS_NONE || e->egress == d->vtep) &&
	       (!d->mac_key || (e->key << 16) == (d->mac_key << 16));
}

static bool print_entry(const struct fdb_entry *e, void *arg)
{
	struct fdb_dump *d = arg;
	struct mac mac = fdb_key_mac(e->key);
	char mac_text[MAC_TEXT_BYTES], name[IP_TEXT_BYTES];
	uint32_t age_s = d->now_s > e->seen_s ? d->now_s - e->seen_s : 0;

	if (!wanted(d, e))
		return false;
	buffer_str(d->out, "{\"network\":");
	buffer_json(d->out, d->g->conf->networks[fdb_key_network(e->key)].name);
	buffer_printf(d->out, ",\"mac\":\"%s\",\"%s\":", mac_format(&mac, mac_text),
		      egress_is_tunnel(e->egress) ? "vtep" : "port");
	buffer_json(d->out, gateway_egress_name(d->g, e->egress, name));
	buffer_printf(d->out, ",\"static\":%s,\"age_s\":%u}\n",
		      e->flags & FDB_STATIC ? "true" : "false", age_s);
	d->stream.count++;
	return false;
}

static void restart_if_resized(struct fdb_dump *d, struct fdb *fdb)
{
	if (fdb_generation(fdb) == d->generation)
		return;
	d->generation = fdb_generation(fdb);
	d->cursor = 0;
	if (d->stream.count)
		buffer_str(d->out, "{\"restarted\":true}\n");
	d->stream.count = 0;
}

static int dump_next(struct stream *stream, struct buffer *out)
{
	struct fdb_dump *d = container_of(stream, struct fdb_dump, stream);
	struct fdb *fdb = d->g->tables->fdb;
	size_t full = out->n + PROTOCOL_CHUNK_BYTES - STEP_BYTES;

	d->out = out;
	d->now_s = (uint32_t)(clock_ns() / NS_PER_S);
	restart_if_resized(d, fdb);
	for (uint32_t n = 0; n < WALK_BUCKETS_MAX && out->n < full; n += STEP_BUCKETS) {
		fdb_walk(fdb, &d->cursor, STEP_BUCKETS, print_entry, d);
		if (!d->cursor)
			return 0;
	}
	return 1;
}

static void dump_end(struct stream *stream)
{
	free(container_of(stream, struct fdb_dump, stream));
}

/* Fills in the filter. 0 or PROTOCOL_REFUSED. */
static int read_filter(struct request *request, struct fdb_dump *d)
{
	const char *mac_text = request_text(request, "mac");
	struct mac mac;
	int id;

	if (request_text(request, "network")) {
		id = request_network(request, "network");
		if (id < 0)
			return PROTOCOL_REFUSED;
		d->network = (uint16_t)id;
	}
	if (request_text(request, "port")) {
		id = request_port(request, "port");
		if (id < 0)
			return PROTOCOL_REFUSED;
		d->port = (uint16_t)id;
	}
	if (request_text(request, "vtep")) {
		d->vtep = request_egress(request, "vtep");
		if (d->vtep == EGRESS_NONE)
			return PROTOCOL_REFUSED;
	}
	if (mac_text) {
		if (!mac_parse(mac_text, &mac) || mac_is_zero(&mac))
			return request_refuse(request, "'%.64s' is not a MAC address", mac_text);
		d->mac_key = fdb_key(0, mac.byte);
	}
	return 0;
}

int cmd_fdb(struct request *request)
{
	const struct commands *c = request->context;
	struct fdb_dump *d = malloc(sizeof(*d));
	int r;

	if (!d)
		return request_refuse(request, "out of memory");
	*d = (struct fdb_dump){
		.stream = {.next = dump_next, .end = dump_end, .kind = "json"},
		.g = c->g,
		.generation = fdb_generation(c->g->tables->fdb),
		.network = NETWORK_NONE,
		.port = EGRESS_NONE,
		.vtep = EGRESS_NONE,
	};
	r = read_filter(request, d);
	if (r) {
		free(d);
		return r;
	}
	request->stream = &d->stream;
	return 0;
}

/* Network and MAC of an entry. 0 or PROTOCOL_REFUSED. */
static int read_entry(struct request *request, uint16_t *network, struct mac *mac)
{
	const char *text = request_text(request, "mac");
	int id = request_network(request, "network");

	if (id < 0)
		return PROTOCOL_REFUSED;
	*network = (uint16_t)id;
	if (!mac_parse(text, mac))
		return request_refuse(request, "'%.64s' is not a MAC address", text);
	if (mac_is_group(mac) || mac_is_zero(mac))
		return request_refuse(request, "%s is no station's address: group or zero", text);
	return 0;
}

int cmd_fdb_add(struct request *request)
{
	const struct commands *c = request->context;
	uint16_t network, egress;
	struct mac mac;
	int r = read_entry(request, &network, &mac);

	if (r)
		return r;
	egress = request_egress(request, "to");
	if (egress == EGRESS_NONE)
		return PROTOCOL_REFUSED;
	r = gateway_fdb_add(c->g, network, &mac, egress, request->error, sizeof(request->error));
	return r < 0 ? PROTOCOL_REFUSED : 0;
}

int cmd_fdb_del(struct request *request)
{
	const struct commands *c = request->context;
	uint16_t network, egress;
	struct fdb_entry entry;
	struct mac mac;
	int r = read_entry(request, &network, &mac);

	if (r)
		return r;
	if (request_text(request, "to")) {
		egress = request_egress(request, "to");
		if (egress == EGRESS_NONE)
			return PROTOCOL_REFUSED;
		if (fdb_lookup(c->g->tables->fdb, fdb_key(network, mac.byte), &entry) &&
		    entry.egress != egress)
			return request_refuse(request, "%s is elsewhere: 'culvert fdb mac %s'",
					      request_text(request, "mac"),
					      request_text(request, "mac"));
	}
	r = gateway_fdb_del(c->g, network, &mac, request->error, sizeof(request->error));
	return r < 0 ? PROTOCOL_REFUSED : 0;
}

int cmd_fdb_flush(struct request *request)
{
	const struct commands *c = request->context;
	struct fdb_dump filter = {.network = NETWORK_NONE, .port = EGRESS_NONE};

	if (read_filter(request, &filter))
		return PROTOCOL_REFUSED;
	request->result = json_object();
	field_int(request->result, "flushed",
		  gateway_fdb_flush(c->g, filter.network, filter.port));
	return 0;
}
