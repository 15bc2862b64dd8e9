/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the socket's methods do: one table, in commands.c; a file cmd_NOUN.c for each noun.
 *
 * Life: commands_create when the gateway runs (opens the socket), commands_destroy before the
 * gateway goes.
 * Threads: control only.
 */
#ifndef CTRL_COMMANDS_H
#define CTRL_COMMANDS_H

#include "ctrl/gateway.h"
#include "ctrl/rates.h"
#include "ctrl/server.h"
#include "rules/rules.h"

struct commands {
	struct gateway *g;
	struct rates *rates;
	struct server *server;
	int64_t loaded_unix_s;
	/* Ports of network n: ports[first_port[n]] up to first_port[n + 1]. */
	uint32_t *first_port;
	uint16_t *ports;
	char *config_text;	/* of the files as they were at start */
	size_t config_bytes;
};

/* Answers on @socket_path, with the mode and group that @g's configuration says. -errno with a
 * sentence in @why. */
int commands_create(struct gateway *g, const char *socket_path, struct commands **commands,
		    char *why, uint32_t why_bytes);
/* Accepts NULL. */
void commands_destroy(struct commands *c);

extern const struct method commands_methods[];
extern const size_t commands_n_methods;

/* For the cmd_ files. */

/* A string parameter, or NULL. */
const char *request_text(const struct request *request, const char *name);
/* Index of the port, id of the network that parameter @name names; -1 after request_refuse(). */
int request_port(struct request *request, const char *name);
int request_network(struct request *request, const char *name);
/* The egress id of the port or VTEP that parameter @name names, or EGRESS_NONE, likewise. */
uint16_t request_egress(struct request *request, const char *name);

/* The rules that parameters `match` and `strict` select. 0 or PROTOCOL_REFUSED. */
int request_selector(struct request *request, struct rules_selector *selector);
/* Of error.data: {"line" (of a file), "column", "text"}. */
json_t *rules_error_object(const struct rules_error *error);

/* Answers with a stream of item(c, i) for i in [from, to), an object a line; json_null(): there is
 * none. */
int request_list(struct request *request, uint32_t from, uint32_t to,
		 json_t *(*item)(const struct commands *c, uint32_t i));

/* "9000 > 1450", "VLAN 300": what @cell's detail says for @reason; "" when it says nothing. */
const char *drop_detail(const struct gateway *g, enum drop_reason reason,
			const struct drop_cell *cell, char *text, size_t bytes);
json_t *books_object(const struct gateway *g);
/* The kernel's own counts of one port, or of all (-1). */
json_t *kernel_object(const struct gateway *g, int port);
/* "nic", "software" or "none": where the VXLAN source ports of what comes in here come from. */
const char *port_hash_name(const struct gateway *g, uint16_t port);

int cmd_status(struct request *request);
int cmd_port(struct request *request);
int cmd_port_enable(struct request *request);
int cmd_port_disable(struct request *request);
int cmd_network(struct request *request);
int cmd_tunnel(struct request *request);
int cmd_fdb(struct request *request);
int cmd_fdb_add(struct request *request);
int cmd_fdb_del(struct request *request);
int cmd_fdb_flush(struct request *request);
int cmd_flow_add(struct request *request);
int cmd_flow_add_many(struct request *request);
int cmd_flow_replace(struct request *request);
int cmd_flow_del(struct request *request);
int cmd_flow_dump(struct request *request);
int cmd_flow_count(struct request *request);
int cmd_drops(struct request *request);
int cmd_capture(struct request *request);
int cmd_capture_start(struct request *request);
int cmd_capture_list(struct request *request);
int cmd_config_show(struct request *request);
int cmd_log(struct request *request);

#endif
