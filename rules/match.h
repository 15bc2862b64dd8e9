/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reading what a packet is matched by: the values of the fields of struct flow_key.
 *
 * Each function reads field @f's value at d->scan.at, adds it to the match of d->spec and leaves
 * the scan behind it. False, with the error filled in, when it is none, or when it contradicts what
 * is matched already.
 */
#ifndef RULES_MATCH_H
#define RULES_MATCH_H

#include "rules/fields.h"

bool match_number(struct draft *d, const struct field *f);
bool match_mac(struct draft *d, const struct field *f);
bool match_ip(struct draft *d, const struct field *f);
bool match_in_port(struct draft *d, const struct field *f);
bool match_vlan(struct draft *d, const struct field *f);
bool match_vid(struct draft *d, const struct field *f);
bool match_tos(struct draft *d, const struct field *f);
bool match_frag(struct draft *d, const struct field *f);
bool match_icmp(struct draft *d, const struct field *f);
bool match_tcp_flags(struct draft *d, const struct field *f);
/* "fin", "syn", ...: of bit i of the TCP header's flags. */
#define MATCH_TCP_FLAGS 12
extern const char *const match_tcp_flag[MATCH_TCP_FLAGS];
/* No value: "tcp". */
bool match_word(struct draft *d, const struct field *f);

/* A port by number or name: its egress id, which is not matched. */
bool match_port(struct draft *d, const char *what, uint16_t *egress);

#endif
