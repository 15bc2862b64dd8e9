#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Access to access, access to tagged, tagged to tagged with the same id.
#
#   h1 untagged ----+               +---- h3 VLAN 100
#   h2 untagged ----+ culvert: blue +---- h4 VLAN 100
. "$(dirname "$0")/lib.sh"
need tc

for i in 1 2 3 4; do
	host h$i 10.0.0.$i/24 fd00::$i/64
done
vlan_host h3 100
vlan_host h4 100
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {tagged: {100: blue}}
  h4: {tagged: {100: blue}}
networks:
  blue:
Y

for pair in "1 2" "1 3" "3 2" "3 4"; do
	read -r a b <<<"$pair"
	expect "ping h$a -> h$b" pings h$a 10.0.0.$b
	expect "ping -6 h$b -> h$a" pings h$b fd00::$a
done
transfers h1 h3 10.0.0.3 tcp 5000000
transfers h3 h1 10.0.0.1 tcp 5000000
transfers h3 h4 fd00::4 tcp 5000000
transfers h4 h2 10.0.0.2 udp 100000

say "the tag is there where it must be, and only there"
for i in 1 2 3 4; do
	listen h$i
done
py h1 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "from-access"))
P
py h3 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "from-metadata-tag"))
send("e0", eth(BROADCAST, mac_of("e0"), "from-frame-tag", tags=[100 | 3 << 13]))
P
for text in from-metadata-tag from-frame-tag; do
	heard h1 "ff:ff type 0x88b5 \"$text\""
	heard h2 "ff:ff type 0x88b5 \"$text\""
done
heard h2 'ff:ff type 0x88b5 "from-access"'
heard h3 'ff:ff vlan 100.0 type 0x88b5 "from-access"'
heard h4 'ff:ff vlan 100.0 type 0x88b5 "from-access"'
heard h4 'ff:ff vlan 100.0 type 0x88b5 "from-metadata-tag"'
heard h4 'ff:ff vlan 100.3 type 0x88b5 "from-frame-tag"'
unheard h3 'from-(metadata|frame)-tag'
finish
