/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * VLAN tags in frames: in and out, by moving the twelve bytes of MAC addresses.
 *
 * Invariants: l3, and l4 where it is valid, move with data. tag and tci are the caller's.
 */
#ifndef DATAPLANE_VLAN_H
#define DATAPLANE_VLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "dataplane/packet.h"
#include "dataplane/wire.h"
#include "lib/bytes.h"

#define TCI_AT 14		/* behind the TPID at ETHERTYPE_AT */
#define TPID_C 0x8100		/* IEEE 802.1Q: customer tag, the ports' own kind */
#define TPID_S 0x88a8		/* IEEE 802.1Q: service tag */
#define VID_PRIORITY 0		/* no VLAN, only a priority (IEEE 802.1Q, table 9-2) */
#define VID_RESERVED 4095	/* never on a wire (same table) */
#define TCI_PRIORITY 0xf000	/* PCP and DEI */
#define TCI_PCP 0xe000
#define TCI_PCP_SHIFT 13
#define TCI_VID 0x0fff

static inline bool vlan_is_tpid(uint16_t ethertype)
{
	return ethertype == TPID_C || ethertype == TPID_S;
}

/* Whether the frame begins with a tag; not the one that was taken out (TAG_STRIPPED). */
static inline bool vlan_in_frame(const struct packet *p)
{
	return p->len >= ETH_BYTES + VLAN_BYTES && vlan_is_tpid(get_be16(p->data + ETHERTYPE_AT));
}

/* Takes the outermost tag out. The frame must have one: ETH_BYTES + VLAN_BYTES or longer. */
static inline void vlan_pop(struct packet *p)
{
	uint64_t first = get_u64(p->data);
	uint32_t rest = get_u32(p->data + 8);

	p->data += VLAN_BYTES;
	p->len -= VLAN_BYTES;
	p->l3 -= VLAN_BYTES;
	p->l4 -= VLAN_BYTES;
	memcpy(p->data, &first, sizeof(first));
	memcpy(p->data + 8, &rest, sizeof(rest));
}

/* Puts a tag in front of all others. Takes VLAN_BYTES of headroom. */
static inline void vlan_push(struct packet *p, uint16_t tpid, uint16_t tci)
{
	uint64_t first = get_u64(p->data);
	uint32_t rest = get_u32(p->data + 8);

	p->data -= VLAN_BYTES;
	p->len += VLAN_BYTES;
	p->l3 += VLAN_BYTES;
	p->l4 += VLAN_BYTES;
	memcpy(p->data, &first, sizeof(first));
	memcpy(p->data + 8, &rest, sizeof(rest));
	put_be16(p->data + ETHERTYPE_AT, tpid);
	put_be16(p->data + TCI_AT, tci);
}

/* The port's own tag, back in the frame, becomes the frame's content. tci keeps its priority for a
 * port that adds a tag of its own. */
static inline void vlan_disown(struct packet *p)
{
	if (p->tag == TAG_STRIPPED)
		vlan_push(p, TPID_C, p->tci);
	p->tag = TAG_NONE;
}

#endif
