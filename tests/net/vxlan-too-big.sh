#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A frame that does not fit the underlay is counted as too-big, not fragmented; the next smaller
# one passes.
#
#   h1 10.0.0.1, mtu 1600 ---- culvert (ul0: 1600, 1550 inside) ---- fabric ---- r1, vx10: 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
ip -n "${prefix}h1" link set e0 mtu 1600
ip -n "${prefix}sw" link set h1 mtu 1600
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y

expect "ping" pings h1 10.0.0.2
expect "1550 bytes of IP pass" pings h1 10.0.0.2 -s 1522 -M "do"
equal "too-big so far" 0 "$(drops too-big)"
expect_not "1551 bytes of IP" at h1 ping -q -c 2 -i 0.2 -W 1 -s 1523 -M "do" 10.0.0.2
at_least "too-big" 1 "$(drops too-big h1)"
at_least "lost, of the tunnel" 1 "$(value tunnel "d['tunnels'][0]['lost']")"
finish
