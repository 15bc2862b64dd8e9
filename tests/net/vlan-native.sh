#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A port with a native VLAN beside tagged ones. Priority-tagged frames (VLAN 0) count as untagged;
# their priority survives where the frame leaves with a tag.
#
#   h1 untagged = office, 100 = blue ---- t1 |         | ---- h2 untagged = office
#                                            | culvert | ---- h3 untagged = blue
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i 10.0.0.$i/24
done
start_culvert <<'Y'
ports:
  h1: {untagged: office, tagged: {100: blue}}
  h2: {untagged: office}
  h3: {untagged: blue}
networks:
  office:
  blue:
Y

expect "ping in the native VLAN" pings h1 10.0.0.2
for i in 1 2 3; do
	listen h$i
done
py h1 <<'P'
me = mac_of("e0")
send("e0", eth(BROADCAST, me, "native"), eth(BROADCAST, me, "priority", tags=[6 << 13]))
send("e0", eth(BROADCAST, me, "tagged", tags=[100]))
P
py h3 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "access"))
send("e0", eth(BROADCAST, mac_of("e0"), "access-priority", tags=[5 << 13]))
P
py h2 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "office-priority", tags=[4 << 13]))
P
heard h2 'ff:ff type 0x88b5 "native"'
heard h2 'ff:ff type 0x88b5 "priority"'
heard h3 'ff:ff type 0x88b5 "tagged"'
heard h1 'ff:ff vlan 100.0 type 0x88b5 "access"'
heard h1 'ff:ff vlan 100.5 type 0x88b5 "access-priority"'
heard h1 'ff:ff type 0x88b5 "office-priority"'
unheard h2 'tagged|access'
unheard h3 'native|priority'
finish
