/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The configuration: one YAML file (and what it includes) -> struct conf, or all that is wrong with
 * it.
 *
 * Pure: it reads files and, for the host checks, asks the kernel; it changes nothing. A struct conf
 * is complete: defaults are filled in, ranges are expanded, names are resolved to indices.
 *
 * Invariants: networks are numbered from 1 in file order (index 0 of networks[] is unused); every
 * network index in a port is valid; VNIs, VLANs of a port and devices are unique.
 * Threads: control, or the command line tool; no global state.
 */
#ifndef CONF_CONF_H
#define CONF_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/addr.h"
#include "lib/log.h"

/* Where in the text something stands. file belongs to the struct conf or conf_errors. Line and
 * column count from 1. */
struct conf_where {
	const char *file;
	uint32_t line;
	uint32_t column;
};

/* All errors of one run, in order. */
struct conf_errors {
	struct conf_error {
		struct conf_where where;
		char *text;	/* what, what is allowed; one line */
	} *list;
	size_t n;
	size_t dropped;		/* past the first 100 */
	char **files;		/* names that where.file points to */
	size_t n_files;
};

enum conf_port_type { CONF_PORT_NETDEV, CONF_PORT_INTERNAL, CONF_PORT_PCAP, CONF_PORT_SINK };
enum conf_mode { CONF_MODE_AUTO, CONF_MODE_ZERO_COPY, CONF_MODE_NATIVE, CONF_MODE_SKB };
enum conf_rest { CONF_REST_DROP, CONF_REST_KERNEL, CONF_REST_NETWORK };
enum conf_missing { CONF_MISSING_REFUSE, CONF_MISSING_WAIT };
enum conf_learn { CONF_LEARN_ALL, CONF_LEARN_LOCAL, CONF_LEARN_OFF };
enum conf_checksum { CONF_CHECKSUM_AUTO, CONF_CHECKSUM_ON, CONF_CHECKSUM_OFF };
enum conf_df { CONF_DF_SET, CONF_DF_UNSET, CONF_DF_INHERIT };

struct conf_tag {
	uint16_t vid;		/* 1..4094 */
	uint16_t network;	/* index into networks[] */
};

struct conf_port {
	struct conf_where where;
	char *name;
	char *description;	/* or NULL */
	struct conf_where device_where;	/* of device or match, else of the name */
	char *device;		/* or NULL when match is used; PORT_INTERNAL: the port's name */
	bool has_match_mac;
	struct mac match_mac;
	char *match_pci;	/* or NULL */
	uint8_t type;		/* enum conf_port_type */
	uint8_t mode;		/* enum conf_mode */
	uint8_t missing;	/* enum conf_missing */
	uint8_t rest;		/* enum conf_rest */
	uint32_t number;	/* in_port number */
	uint16_t untagged;	/* network index, 0 = none */
	uint16_t rest_network;
	struct conf_tag *tagged;	/* expanded, sorted by vid */
	size_t n_tagged;
	uint32_t queues;	/* 0 = auto */
	uint32_t mtu;		/* 0 = leave alone */
	uint32_t mac_limit;	/* 0 = only the network's */
	bool enabled;
	bool has_mac;		/* PORT_INTERNAL */
	struct mac mac;
	bool persist;
	char *pcap_rx;		/* resolved relative to the file; or NULL */
	char *pcap_tx;
	bool pcap_loop;
	bool pcap_preload;
	bool underlay;		/* named in tunnels.underlay; made by conf without an entry */
};

struct conf_static {
	struct conf_where where;
	struct mac mac;
	int port;		/* index into ports[], or -1 */
	struct ip vtep;		/* when port is -1 */
};

struct conf_network {
	struct conf_where where;
	char *name;		/* "blue", "tenant.100" */
	uint32_t vni;		/* 0 = local only */
	bool has_remotes;	/* else tunnels.remotes */
	struct ip *remotes;	/* our own addresses left out */
	size_t n_remotes;
	uint8_t learn;		/* enum conf_learn */
	uint32_t ageing_s;	/* 0 = never */
	uint32_t mac_limit;
	struct conf_static *statics;
	size_t n_statics;
};

/* A port, a remote VTEP or a network. */
struct conf_capture_source {
	int port;		/* index into ports[], or -1 */
	uint16_t network;	/* index into networks[], or 0 */
	struct ip vtep;		/* when it is neither */
};

#define CONF_CAPTURES_MAX 32
#define CONF_CAPTURE_SOURCES_MAX 64
#define CONF_SNAPLEN_MAX 65535

enum conf_capture_dir {
	CONF_CAPTURE_IN = 1 << 0,
	CONF_CAPTURE_OUT = 1 << 1,
	CONF_CAPTURE_BOTH = CONF_CAPTURE_IN | CONF_CAPTURE_OUT,
};

/* A capture that runs as long as the daemon. */
struct conf_capture {
	struct conf_where where;
	char *name;		/* its device is cap-NAME, unless device is set */
	struct conf_capture_source *sources;
	size_t n_sources;
	uint8_t dir;		/* enum conf_capture_dir */
	bool drops;
	bool inner;
	uint32_t snaplen;
	uint32_t sample;
	char *filter_text;	/* or NULL */
	struct pcap_filter *filter;	/* compiled, NULL without filter_text; in memory, below */
	struct conf_where device_where;	/* of device, else of the name */
	char *device;		/* name or altname of an existing netdev, or NULL: one is made */
};

struct conf_tunnels {
	struct conf_where where;
	bool present;		/* has local addresses and underlay devices */
	struct ip *local;
	struct conf_where *local_where;
	size_t n_local;
	char **underlay;	/* device names */
	size_t n_underlay;
	struct ip *remotes;
	size_t n_remotes;
	bool unknown_vni_kernel;
	uint8_t missing;	/* enum conf_missing */
	uint16_t udp_port;
	uint16_t source_port_min;
	uint16_t source_port_max;
	uint8_t ttl;
	uint8_t dscp;
	bool dscp_inherit;
	uint8_t df;		/* enum conf_df */
	uint8_t checksum;	/* enum conf_checksum */
};

struct conf {
	char *path;		/* the main file, as given */
	char **files;		/* every file read; where.file points into it */
	size_t n_files;
	int64_t mtime_s;	/* newest of them, Unix time */
	struct conf_where cores_where;
	int *cores;		/* NULL: none named; main chooses */
	size_t n_cores;
	bool busy;		/* workers.idle */
	uint32_t ring;
	struct conf_port *ports;	/* file order; underlay ones without an entry come last */
	size_t n_ports;
	struct conf_network *networks;	/* [0] unused */
	size_t n_networks;	/* including [0] */
	struct conf_tunnels tunnels;
	struct conf_capture *captures;
	size_t n_captures;
	struct conf_where flows_where;
	char *flows_file;	/* resolved relative to the file; or NULL */
	char *socket;		/* NULL: the default of the instance */
	struct conf_where group_where;
	char *socket_group;	/* or NULL */
	uint32_t socket_mode;
	enum log_level log_level;
	bool log_level_set;
	struct conf_notice {	/* keys that this version accepts and does not act on */
		struct conf_where where;
		char *text;	/* "metrics: not in this version" */
	} *notices;
	size_t n_notices;
	void *memory;		/* where all of the above lives; equal lists may be shared */
};

/* Reads @path. 0 with *@conf set, or -EINVAL with at least one error in @errors (zeroed by the
 * caller; conf_errors_fini frees it in either case), or -ENOMEM. */
int conf_load(const char *path, struct conf **conf, struct conf_errors *errors);

/* What only this host can say: devices exist (or may be waited for), VTEP addresses are ours, a
 * device does not carry the host's address or default route, is in no bridge, has no foreign XDP
 * program, cores exist and are allowed. Adds to @errors. 0 or -EINVAL. */
int conf_check_host(const struct conf *conf, struct conf_errors *errors);

/* The same for the device of port @index alone, if it is there: one that appears later is looked
 * at then. */
int conf_check_port(const struct conf *conf, size_t index, struct conf_errors *errors);

/* Accepts NULL. */
void conf_free(struct conf *conf);
void conf_errors_fini(struct conf_errors *errors);

/* "FILE:LINE:COLUMN: text" lines to @stream (FILE *). */
void conf_errors_print(const struct conf_errors *errors, void *stream);

/* The netdev that @port stands for right now (device name, altname, or match), into @device
 * (IFNAMSIZ bytes). 0 or -ENODEV. */
int conf_port_device(const struct conf_port *port, char device[static 16]);

#endif
