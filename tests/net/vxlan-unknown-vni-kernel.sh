#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# unknown-vni: kernel. A vxlan device of the kernel serves VNI 99 at the same address, beside
# culvert's VNI 10.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 (ul0) ---- fabric ---- r1 192.0.2.2 (vx10 10.0.0.2,
#   vx99 10.9.9.1 (the kernel's) ----+                                       vx99 10.9.9.2)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
vxlan r1 99 192.0.2.2 192.0.2.1 10.9.9.2/24
vxlan sw 99 192.0.2.1 192.0.2.2 10.9.9.1/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0], unknown-vni: kernel}
Y

expect "ping in VNI 10" pings h1 10.0.0.2
expect "ping in VNI 99" pings r1 10.9.9.1
expect "and from here" pings sw 10.9.9.2
transfers r1 sw 10.9.9.1 tcp 1000000
transfers r1 h1 10.0.0.1 tcp 1000000
equal "vni-unknown" 0 "$(drops vni-unknown)"
finish
