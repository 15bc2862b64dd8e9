#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# VLAN ids are local to a port: one network has id 100 here and 200 there, and the ids swapped
# belong to another network. A range maps n to NAME.n.
#
#   h1 VLAN 100 ---- t1 |         | t2 ---- h2 VLAN 200     (blue: 100 <-> 200, red: 200 <-> 100)
#                       | culvert |
#   h3 VLAN 1000-1009 - t3        | t4 ---- h4 VLAN 1000-1009
. "$(dirname "$0")/lib.sh"
need tc

for i in 1 2 3 4; do
	host h$i 10.0.0.$i/24
done
start_culvert <<'Y'
ports:
  h1: {tagged: {100: blue, 200: red}}
  h2: {tagged: {200: blue, 100: red}}
  h3: {tagged: {1000-1009: tenant}}
  h4: {tagged: {1000-1009: tenant}}
networks:
  blue:
  red:
  tenant: {range: 1000-1009}
Y

for i in 1 2 3 4; do
	listen h$i
done
py h1 <<'P'
me = mac_of("e0")
send("e0", eth(BROADCAST, me, "in-blue", tags=[100 | 5 << 13]))
send("e0", eth(BROADCAST, me, "in-red", tags=[200]))
send("e0", eth(BROADCAST, me, "two-tags", tags=[100, 200]))
P
heard h2 'vlan 200.5 type 0x88b5 "in-blue"'
heard h2 'vlan 100.0 type 0x88b5 "in-red"'
heard h2 'vlan 200.0 vlan 200.0 type 0x88b5 "two-tags"'
py h3 <<'P'
for vid in range(1000, 1010):
    send("e0", eth(BROADCAST, mac_of("e0"), "range-%d" % vid, tags=[vid]))
P
for vid in $(seq 1000 1009); do
	heard h4 "vlan $vid.0 type 0x88b5 \"range-$vid\""
done
unheard h4 'in-|two-'
unheard h2 'range-'
unheard h1 '0x88b5'

say "hosts with the tag in the metadata, as VLAN netdevs have it"
vlan_host h1 100
vlan_host h2 200
expect "ping across the translation" pings h1 10.0.0.2
transfers h1 h2 10.0.0.2 tcp 5000000
transfers h2 h1 10.0.0.1 tcp 5000000
vlan_host h3 1003
vlan_host h4 1004
expect_not "ping from tenant.1003 to tenant.1004" at h3 ping -q -c 2 -i 0.2 -W 1 10.0.0.4
finish
