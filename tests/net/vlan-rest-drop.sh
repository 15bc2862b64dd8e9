#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# VLANs that a port does not name are dropped and counted; so are untagged frames where none are
# expected.
#
#   h1 ---- t1 tagged 100 = blue |         | ---- h2 untagged = blue
#                                | culvert | ---- h3 untagged = red
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {tagged: {100: blue}}
  h2: {untagged: blue}
  h3: {untagged: red}
networks:
  blue:
  red:
Y

for i in 1 2 3; do
	listen h$i
done
py h1 <<'P'
me = mac_of("e0")
for vid in (1, 99, 101, 300, 4094, 4095):
    send("e0", eth(BROADCAST, me, "unmapped", tags=[vid]))
send("e0", eth(BROADCAST, me, "unmapped", tags=[300, 100]))
send("e0", eth(BROADCAST, me, "untagged"), eth(BROADCAST, me, "untagged", tags=[7 << 13]))
send("e0", eth(BROADCAST, me, "marker", tags=[100]))
P
py h2 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "tagged-on-access", tags=[100]))
send("e0", eth(BROADCAST, mac_of("e0"), "marker2"))
P
heard h2 'ff:ff type 0x88b5 "marker"'
heard h1 'ff:ff vlan 100.0 type 0x88b5 "marker2"'
expect "seven unmapped frames" eventually 5 dropped vlan-unmapped 7 h1
expect "a tag on an access port" eventually 5 dropped vlan-unmapped 1 h2
expect "two untagged frames" eventually 5 dropped untagged-unmapped 2 h1
equal "unmapped" 7 "$(drops vlan-unmapped h1)"
equal "untagged" 2 "$(drops untagged-unmapped h1)"
unheard h2 'unmapped|untagged'
unheard h3 '0x88b5'
unheard h1 'tagged-on-access'
finish
