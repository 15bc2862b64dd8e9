/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A frame may begin with a tag that is its own and not the port's: it came by a `rest`, out of a
 * tunnel, or behind another tag. Whoever receives it takes that tag for the link's. So one rule
 * decides: a frame leaves only as what a port with the same map would put back into the same
 * network.
 *   - by `rest`: the frame must begin with a tag, and the port must not name that VLAN.
 *   - untagged: when the frame begins with a tag, no network of this port may claim it; else two
 *     tags were enough to hop from the native VLAN into any other. A VLAN that the port knows
 *     nothing of passes: that is how a QinQ network reaches a host which has the VLANs itself.
 *     Priority tags hide nothing, since receivers look behind them.
 *   - with a VLAN id: always; the port's own tag comes first.
 * What a flow rule sends to a port by name (as_is) leaves as it is: its author answers for that.
 */
#include "dataplane/stages.h"

#include "dataplane/vlan.h"
#include "lib/rcu.h"

#define PRIORITY_TAGS_MAX 3

static bool rest_may_leave(const struct port_view *port, const struct packet *p)
{
	uint16_t vid;

	if (!vlan_in_frame(p))
		return false;
	if (get_be16(p->data + ETHERTYPE_AT) == TPID_S)
		return true;
	vid = VID_OF(get_be16(p->data + TCI_AT));
	return vid != VID_PRIORITY && vid != VID_RESERVED &&
	       port_view_named(port, vid) == NETWORK_NONE;
}

static __attribute__((noinline)) bool tag_may_leave(const struct port_view *port,
						    const struct packet *p)
{
	const uint8_t *at = p->data + ETHERTYPE_AT, *end = p->data + p->len;

	for (int n = 0; n <= PRIORITY_TAGS_MAX; n++, at += VLAN_BYTES) {
		uint16_t type = get_be16(at), vid;

		if (!vlan_is_tpid(type))
			return true;
		if (at + VLAN_BYTES + 2 > end)
			return false;
		vid = VID_OF(get_be16(at + 2));
		if (type == TPID_C && vid == VID_PRIORITY)
			continue;
		return port->rest == NETWORK_NONE &&
		       (type == TPID_S || port_view_named(port, vid) == NETWORK_NONE);
	}
	return false;
}

static bool untagged_may_leave(const struct port_view *port, const struct packet *p)
{
	return likely(!vlan_is_tpid(get_be16(p->data + ETHERTYPE_AT))) || tag_may_leave(port, p);
}

static void take_own_tag(struct packet *p)
{
	if (p->tag == TAG_FRAME)
		vlan_pop(p);
	p->tag = TAG_NONE;
}

static void put_own_tag(struct packet *p, uint16_t vid)
{
	p->tci = (p->tci & TCI_PRIORITY) | vid;
	if (p->tag == TAG_FRAME)
		put_be16(p->data + TCI_AT, p->tci);
	else
		vlan_push(p, TPID_C, p->tci);
	p->tag = TAG_FRAME;
}

/* The tag that the frame begins with, TPID and TCI; 0: none. */
static uint32_t frame_tag(const struct packet *p)
{
	return vlan_in_frame(p) ? get_be32(p->data + ETHERTYPE_AT) : 0;
}

/* False: the frame cannot leave by @port without changing network. */
static bool retag_one(const struct port_view *port, struct packet *p)
{
	uint16_t vid = port_view_vid(port, p->network);

	if (likely(vid == VID_UNTAGGED)) {
		take_own_tag(p);
		return untagged_may_leave(port, p);
	}
	switch (vid) {
	case VID_REST:
		take_own_tag(p);
		return rest_may_leave(port, p);
	case VID_NONE:
		return false;
	default:
		put_own_tag(p, vid);
		return true;
	}
}

static const struct port_view *port_that_sends(const struct tables *tables, uint16_t egress)
{
	const struct port_view *port = rcu_dereference(tables->port[egress]);

	return port && port->up && !port->shut ? port : NULL;
}

void retag(struct lane *lane, struct burst *burst)
{
	const struct port_view *port = NULL;
	uint16_t egress = EGRESS_NONE;	/* whose port that is */

	for (uint32_t i = 0; i < burst->n; i++) {
		struct packet *p = &burst->packet[i];

		if (p->drop || p->egress >= PORT_MAX)
			continue;
		if (p->egress != egress) {
			egress = p->egress;
			port = port_that_sends(lane->tables, egress);
		}
		if (unlikely(!port))
			drop_packet(p, DROP_PORT_DOWN, p->egress);
		else if (unlikely(!p->as_is && !retag_one(port, p)))
			drop_packet(p, DROP_EGRESS_TAG, (uint64_t)p->egress << 32 | frame_tag(p));
		else if (unlikely(p->len > port->frame_max))
			drop_packet(p, DROP_TOO_BIG, (uint64_t)p->len << 32 | port->frame_max);
	}
}
