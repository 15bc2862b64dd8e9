/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tunnels: remote VTEPs, each with the outer header that packets to it get, ready to be copied.
 *
 * What the kernel knows of the way (source address, device, next hop's MAC, MTU) arrives as struct
 * tunnel_path; tunnel_create turns it into a header template. When the path changes control builds
 * a new tunnel and swaps the pointer.
 *
 * Invariants: a struct tunnel is immutable once published. A tunnel's id (egress id) never changes
 * while the daemon runs. Every id below EGRESS_TUNNEL0 + n_tunnels has a tunnel, resolved or not.
 * Threads: control publishes, as a registered QSBR thread that is online (call_rcu asks for it);
 * workers read under RCU.
 */
#ifndef TUNNELS_TUNNEL_H
#define TUNNELS_TUNNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/packet.h"
#include "lib/addr.h"
#include "lib/bits.h"

#define VNI_MAX 0xffffff
#define VTEP_LOCAL_MAX 16
#define VXLAN_OVERHEAD_V4 50	/* Ethernet 14 + IPv4 20 + UDP 8 + VXLAN 8, bytes */
#define VXLAN_OVERHEAD_V6 70

enum tunnel_df { DF_SET, DF_UNSET, DF_INHERIT };
enum tunnel_checksum { CHECKSUM_AUTO, CHECKSUM_ON, CHECKSUM_OFF };

/* What the configuration says, for all tunnels. */
struct tunnel_options {
	struct ip local[VTEP_LOCAL_MAX];	/* the first of a family is our source */
	uint32_t n_local;
	uint16_t udp_port;	/* destination, host order */
	uint16_t source_port_min;
	uint16_t source_port_max;	/* included */
	uint8_t ttl;
	uint8_t dscp;
	bool dscp_inherit;
	uint8_t df;		/* enum tunnel_df */
	uint8_t checksum;	/* enum tunnel_checksum */
};

enum tunnel_state {
	TUNNEL_NO_ROUTE,	/* no route, or not over an underlay device */
	TUNNEL_NO_NEIGHBOUR,	/* the next hop's MAC is not known (yet) */
	TUNNEL_OK,
};

/* The way to a remote VTEP, as the kernel knows it. */
struct tunnel_path {
	uint8_t state;		/* enum tunnel_state; the rest counts when TUNNEL_OK */
	uint16_t egress_port;	/* the underlay port */
	uint16_t mtu;		/* of the path: outer IP packet, bytes */
	struct ip source;
	struct mac source_mac;
	struct mac next_hop_mac;
};

struct tunnel {
	struct ip remote;
	uint8_t state;		/* enum tunnel_state */
	bool checksum;		/* of UDP */
	uint8_t header_bytes;	/* VXLAN_OVERHEAD_V4 or _V6 */
	uint16_t egress_port;
	uint16_t inner_max;	/* longest inner frame, Ethernet header included, bytes */
	/* One's complement sums of what is in header[] already. */
	uint32_t ip_sum;	/* of the IPv4 header */
	uint32_t udp_sum;	/* of UDP and VXLAN header and pseudo header */
	/* Zero until a packet is sent: TOS or traffic class, lengths, ID, source port, checksums,
	 * VNI. */
	uint8_t header[VXLAN_OVERHEAD_V6];
};
_Static_assert(sizeof(struct tunnel) <= 2 * CACHE_LINE, "a tunnel is two cache lines");

/*
 * Remote address -> id: open addressing, at most half full. An entry is written in place, id last;
 * when there is no room a larger index takes over. Nothing is ever taken out.
 */
struct tunnel_index {
	uint64_t seed;
	uint32_t mask;
	struct tunnel_slot {
		struct ip remote;
		uint16_t id;	/* egress id; 0 = empty */
	} slot[];
};

/* A tunnel without a way asks control for one no more often than this. */
#define RESOLVE_REPEAT_NS (250 * 1000000ull)

struct tunnels {
	/* fixed at start */
	struct tunnel_options options;
	uint64_t seed;		/* secret: nobody may guess the index's order or the next IPv4 ID */
	/* control writes, workers read with load_relaxed */
	uint16_t *network_of_vni;	/* VNI_MAX + 1 network ids; 32 MiB, mostly untouched */
	/* control publishes, workers read with rcu_dereference */
	struct tunnel *tunnel[TUNNEL_MAX];	/* by egress id - EGRESS_TUNNEL0 */
	struct tunnel_index *index;
	/* workers, relaxed: when control was last told that this tunnel has no way */
	uint64_t resolve_sent_ns[TUNNEL_MAX];
	/* control only */
	uint32_t n_tunnels;
};

/* NULL when there is no memory. @options is copied. */
struct tunnels *tunnels_create(const struct tunnel_options *options);
/* No reader may be left. Accepts NULL. */
void tunnels_destroy(struct tunnels *t);

/* Control. The egress id of @remote, added (TUNNEL_NO_ROUTE) when it is new; EGRESS_NONE when
 * TUNNEL_MAX are there already or memory is short. */
uint16_t tunnels_add(struct tunnels *t, const struct ip *remote);
/* Control. Publishes the way to tunnel @id (one that tunnels_add gave); the old one is freed with
 * call_rcu. A source of the other family counts as no route. 0 or -ENOMEM, and then the old way
 * stays. */
int tunnels_set_path(struct tunnels *t, uint16_t id, const struct tunnel_path *path);
/* Control. VNI -> network id; NETWORK_NONE takes it away. */
void tunnels_set_vni(struct tunnels *t, uint32_t vni, uint16_t network);

/* Workers and control. Whether @address is one of options.local. */
bool tunnels_is_local(const struct tunnels *t, const struct ip *address);
/* Workers and control, under RCU. The egress id of @remote, or EGRESS_NONE. */
uint16_t tunnels_find(const struct tunnels *t, const struct ip *remote);
/* Workers and control, under RCU. NULL when @id is no tunnel. */
const struct tunnel *tunnels_get(const struct tunnels *t, uint16_t id);

#endif
