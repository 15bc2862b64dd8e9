/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the fields of VXLAN are. The headers around it: dataplane/wire.h.
 */
#ifndef TUNNELS_WIRE_H
#define TUNNELS_WIRE_H

#include "dataplane/wire.h"

/* RFC 7348, 5 */
#define VXLAN_BYTES 8
#define VXLAN_FLAG_I 0x08
#define VXLAN_VNI 4

#endif
