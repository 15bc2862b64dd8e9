/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A device on which only the mirror sends: a program on the way out drops every packet without its
 * mark, before listeners see it. (DHCP clients and LLDP daemons send on every device they find.)
 *
 * Threads: control's. The program stays for as long as the device does.
 */
#ifndef CAPTURE_GUARD_H
#define CAPTURE_GUARD_H

/* 0 or -errno: a kernel without cls_bpf, for example. */
int guard_attach(int ifindex);

#endif
