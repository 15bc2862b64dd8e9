/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Headers on the wire: where the fields are, and the numbers in them. VLAN tags: vlan.h.
 */
#ifndef DATAPLANE_WIRE_H
#define DATAPLANE_WIRE_H

/* IEEE 802.3, 3.2 */
#define MAC_BYTES 6
#define DL_DST 0
#define DL_SRC 6
#define ETHERTYPE_AT 12		/* or TPID of the outermost tag */
#define ETHERTYPE_MIN 0x600	/* below, it is a length */
#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_RARP 0x8035
#define ETHERTYPE_IPV6 0x86dd

/* RFC 791, 3.1 */
#define IPV4_BYTES 20		/* without options */
#define IPV4_TOS 1
#define IPV4_LENGTH 2
#define IPV4_ID 4
#define IPV4_FRAGMENT 6
#define IPV4_TTL 8
#define IPV4_PROTOCOL 9
#define IPV4_CHECKSUM 10
#define IPV4_SRC 12
#define IPV4_DST 16
#define IPV4_ADDRESS_BYTES 4
#define IPV4_DF 0x4000
#define IPV4_MF 0x2000
#define IPV4_OFFSET 0x1fff

/* RFC 8200, 3 */
#define IPV6_BYTES 40
#define IPV6_LENGTH 4		/* of what follows the header */
#define IPV6_NEXT_HEADER 6
#define IPV6_HOP_LIMIT 7
#define IPV6_SRC 8
#define IPV6_DST 24
#define IPV6_ADDRESS_BYTES 16

/* RFC 3168, 5: the lower bits of the TOS and of the traffic class */
#define ECN_MASK 3
#define ECN_NOT_ECT 0
#define ECN_ECT_1 1
#define ECN_ECT_0 2
#define ECN_CE 3
#define DSCP_SHIFT 2

/* IANA's protocol numbers */
#define PROTO_HOP_BY_HOP 0
#define PROTO_ICMP 1
#define PROTO_TCP 6
#define PROTO_UDP 17
#define PROTO_ROUTING 43
#define PROTO_FRAGMENT 44
#define PROTO_AH 51
#define PROTO_ICMPV6 58
#define PROTO_DESTINATION 60
#define PROTO_SCTP 132

/* RFC 9293, RFC 768, RFC 9260: all begin with the two ports. */
#define TP_SRC 0
#define TP_DST 2
#define PORTS_BYTES 4
#define TCP_BYTES 20		/* without options */
#define TCP_FLAGS 12		/* the lower 12 bits */
#define TCP_CHECKSUM 16
#define UDP_BYTES 8
#define UDP_LENGTH 4
#define UDP_CHECKSUM 6
#define SCTP_BYTES 12
#define SCTP_CHECKSUM 8

/* RFC 792, RFC 4443, RFC 4861 */
#define ICMP_BYTES 8
#define ICMP_CHECKSUM 2
#define ND_BYTES 24		/* without options */
#define ND_TARGET 8
#define ND_SOLICITATION 135	/* with code 0 */
#define ND_ADVERTISEMENT 136

/* RFC 826, for Ethernet and IPv4 */
#define ARP_BYTES 28
#define ARP_KINDS 0x00010800	/* hardware and protocol */
#define ARP_LENGTHS_AT 4
#define ARP_LENGTHS 0x0604
#define ARP_OP 6
#define ARP_SHA 8
#define ARP_SPA 14
#define ARP_THA 18
#define ARP_TPA 24

#endif
