/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * What the XDP program writes in front of a frame and the worker reads: included by both.
 */
#ifndef AFXDP_META_H
#define AFXDP_META_H

#define META_HASH (1u << 0)	/* hash is the descriptor's */
#define META_HASH_L3 (1u << 1)	/* it covers addresses */
#define META_HASH_L4 (1u << 2)	/* it covers ports */
#define META_VLAN (1u << 3)	/* the driver took a tag out: tci and tpid */
#define META_TIME (1u << 4)	/* struct rx_meta_timed */

/* The last 16 bytes in front of the frame. cookie is drawn at every start of the daemon; the
 * worker clears it when it has read it, so that what an older packet left is never taken for
 * news. */
struct rx_meta {
	unsigned int cookie;
	unsigned int hash;
	unsigned short flags;
	unsigned short tci;	/* host order */
	unsigned short tpid;	/* host order */
	unsigned short unused;
};

/* While somebody captures, and the NIC told when the frame came. */
struct rx_meta_timed {
	unsigned long long time_ns;	/* by the NIC's clock */
	struct rx_meta meta;		/* the last, as ever */
};

#endif
