/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The other end of a veth, which decides what our end receives: tags beside the frame, checksums
 * left to hardware that does not exist. It usually lives in another network namespace.
 *
 * Threads: control's. Looking into another namespace moves the calling thread there and back.
 */
#ifndef AFXDP_PEER_H
#define AFXDP_PEER_H

#include "afxdp/netdev.h"

/* Opens the peer of veth @ifindex; netdev_close it. 0 or -errno: -ENOENT when no process and no
 * name in /run/netns leads to its namespace, -EPERM when we may not look. */
int peer_open(int ifindex, struct netdev *peer);

#endif
