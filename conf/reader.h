/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tree -> struct conf. What a map may hold is a table of keys; each key names the function that
 * reads its value and where the result goes.
 *
 * A reader adds its errors and goes on: after one the field keeps its default, and whoever looks
 * at several fields at once must not take that for what the file said.
 */
#ifndef CONF_READER_H
#define CONF_READER_H

#include "conf/index.h"
#include "conf/tree.h"

/* What other parts can hold; they have their own names for it. */
#define CONF_PORTS_MAX 256
#define CONF_NETWORKS_MAX 65536	/* including [0] */
#define CONF_REMOTES_MAX 4096
#define CONF_LOCAL_MAX 16
#define CONF_CORES_MAX 64
#define CONF_STATICS_MAX 1000000
#define CONF_VNI_MAX 0xffffff
#define CONF_VID_MAX 4094

#define PORT_NAME_MAX 15
#define NETWORK_NAME_MAX 31

/* "tenant: {range: 100-1099}" */
struct network_range {
	const char *name;
	uint32_t low;
	uint32_t high;
	uint32_t first;		/* index of the network of low */
};

/* What is kept beside a port until all of it is known. */
struct port_draft {
	struct conf_port port;	/* first: keys name offsets in it */
	const struct node *key;
	const struct node *device;
	const struct node *match;
	const struct node *number;
	const struct node *untagged;
	const struct node *tagged;
	const struct node *rest;
	const struct node *missing;
	const struct node *rx;
	const struct node *tx;
	uint64_t *carries;	/* bit n: network n leaves here; made when somebody asks */
};

struct reader {
	struct conf *conf;
	struct arena *memory;	/* what struct conf points to */
	struct tree tree;
	/* sections, or NULL */
	const struct node *workers, *ports, *networks, *tunnels, *flows, *captures, *control,
		*log;
	/* networks */
	struct network_range *ranges;
	size_t n_ranges;
	struct index range_by_name;
	struct index network_by_name;
	struct index broken_networks;	/* refused where they are defined */
	const struct node **vni;	/* by network: where its VNI stands */
	const struct node **statics;	/* by network: its static: */
	size_t n_statics;
	/* ports */
	struct port_draft *drafts;	/* CONF_PORTS_MAX */
	struct index port_by_name;
	struct index broken_ports;	/* refused where they are defined */
	uint32_t port_type;		/* bit of the type of the port at hand */
	const struct node **carried;	/* by network: where the port at hand names it; else NULL */
	/* tunnels */
	const struct node *underlay;
	const struct node *remotes;
	bool local_bad;		/* there were errors in tunnels.local */
};

/* One of the words that a key takes. */
struct word {
	const char *name;	/* NULL ends the list */
	uint32_t value;
};

struct key {
	const char *name;
	void (*read)(struct reader *r, const struct key *key, const struct node *value,
		     void *target);
	size_t offset;		/* of the target */
	uint32_t min, max;	/* of numbers; max of a text: bytes, 0 for 255 */
	const struct word *words;
	const char *allowed;	/* said to whom gets it wrong; NULL: made of words, min and max */
	uint32_t types;		/* of ports that have it; 0: all */
};

/* A map's keys. */
struct keys {
	const char *what;	/* "a port" */
	const struct key *key;
	size_t n;
	const struct foreign {
		const char *word;	/* what other switches call it */
		const char *name;
	} *foreign;
	size_t n_foreign;
};

/* keys.c */
void read_map(struct reader *r, const struct keys *keys, const struct node *map, void *base);
/* "KEY: what, allowed: ..." at @value. */
void refuse(struct reader *r, const struct key *key, const struct node *value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void add_notice(struct reader *r, const struct node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* value.c: functions for the tables. The target's type is in the name. */
#define READER(name) \
	void name(struct reader *r, const struct key *key, const struct node *value, void *target)
READER(read_u32);		/* or one of the words' values */
READER(read_u16);
READER(read_u8);
READER(read_word_u8);
READER(read_bool);
READER(read_text);		/* char *: one line, printable */
READER(read_path);		/* char *: relative to the file that names it */
READER(read_mac);		/* struct mac: a station's address */
READER(read_device);		/* char * */
READER(keep_node);		/* const struct node *: read later */
READER(read_nothing);
/* Not built yet: checked, noted, dropped. */
READER(later_bool);
READER(later_only_off);
READER(later_any);
READER(later_storm);
READER(later_metrics);

/* The text of a scalar; NULL after an error. */
const char *scalar_text(struct reader *r, const struct key *key, const struct node *value);
bool read_number(struct reader *r, const struct key *key, const struct node *value,
		 uint32_t *number);
/* "100-1099" (or "100" when @single): both ends within the key's min and max. */
bool read_range(struct reader *r, const struct key *key, const struct node *value, bool single,
		uint32_t *low, uint32_t *high);
/* A scalar stands for a list of one; null for none. False after an error. */
bool read_items(struct reader *r, const struct key *key, const struct node *value,
		struct node *const **items, uint32_t *n);
/* A unicast address that a VTEP can have. */
bool read_vtep(struct reader *r, const struct key *key, const struct node *value, struct ip *ip);
bool read_station_mac(struct reader *r, const char *what, const struct node *value,
		      struct mac *mac);
/* The name of a port or network where it is defined. */
bool check_name(struct reader *r, const char *what, const struct node *name, size_t longest);
/* Plain "010": false after an error that says "quote it". */
bool check_plain_name(struct reader *r, const char *what, const struct node *name);
char *resolve_path(struct reader *r, const struct node *at, const char *path);

/* The sections. */
void read_workers(struct reader *r);
void read_flows(struct reader *r);
void read_control(struct reader *r);
void read_log(struct reader *r);
/* Addresses and options; then, when ports and networks are known, what refers to them. */
void read_tunnels(struct reader *r);
void read_underlay(struct reader *r);
void read_networks(struct reader *r);
void read_statics(struct reader *r);
void read_ports(struct reader *r);
/* When all of the above is known. */
void read_captures(struct reader *r);
/* Addresses of a replication list, our own left out. Shared when the node is the same. */
void read_remotes(struct reader *r, const struct node *value, struct ip **remotes, size_t *n);
/* A VTEP that we could send to. */
bool read_remote(struct reader *r, const char *what, const struct node *value, struct ip *ip);

/* networks.c. Index of the network, or 0. */
uint16_t network_find(const struct reader *r, const char *name);
const struct network_range *network_find_range(const struct reader *r, const char *name);
/* The same for a network named in a value, with an error. @what is the key. */
uint16_t network_named(struct reader *r, const char *what, const struct node *value);

/* ports.c */
/* A new port with its defaults, or NULL after an error. */
struct port_draft *port_add(struct reader *r, const struct node *key, const char *name);
bool port_carries(struct reader *r, size_t port, uint16_t network);
/* The name of a port that @word may be a slip of, or NULL. */
const char *port_near(const struct reader *r, const char *word);

/* check.c: what several parts must agree on. */
void check_conf(struct reader *r);

#endif
