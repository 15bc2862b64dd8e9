#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# rest: NETWORK carries all VLANs that a port does not name through one network, tags kept (QinQ).
#
#   h1 ---- t1 100 = blue, rest = wire |         | t2 rest = wire ---- h2
#   h3 ---- untagged = blue            | culvert | ul0 ---- fabric ---- r1, vx10
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {tagged: {100: blue}, rest: wire}
  h2: {rest: wire}
  h3: {untagged: blue}
networks:
  blue:
  wire: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 1

for i in 1 2 3; do
	listen h$i
done
listen r1 vx10
py h1 <<'P'
me = mac_of("e0")
send("e0", eth(BROADCAST, me, "one", tags=[300 | 2 << 13]))
send("e0", eth(BROADCAST, me, "c-in-c", tags=[300, 100]))
send("e0", eth(BROADCAST, me, "s-tag", tags=[301, 40], tpid=0x88a8))
send("e0", eth(BROADCAST, me, "named", tags=[100]))
P
for to in h2 r1; do
	heard $to 'ff:ff vlan 300.2 type 0x88b5 "one"'
	heard $to 'ff:ff vlan 300.0 vlan 100.0 type 0x88b5 "c-in-c"'
	heard $to 'ff:ff svlan 301.0 vlan 40.0 type 0x88b5 "s-tag"'
done
heard h3 'ff:ff type 0x88b5 "named"'
unheard h2 'named'
unheard r1 'named'
unheard h3 'one|c-in-c|s-tag'
py r1 <<'P'
send("vx10", eth(BROADCAST, mac_of("vx10"), "back", tags=[302 | 1 << 13]))
P
heard h1 'ff:ff vlan 302.1 type 0x88b5 "back"'
heard h2 'ff:ff vlan 302.1 type 0x88b5 "back"'
finish
