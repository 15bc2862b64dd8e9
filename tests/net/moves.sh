#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A host that turns up elsewhere is found there: from port to port, from port to tunnel and back.
#
#   h1, h2, h3 ---- culvert: blue, VTEP 192.0.2.1 ---- fabric ---- r1 192.0.2.2, vx10
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 1

for i in 1 2 3; do
	listen h$i
done
listen r1 vx10

# speaks NS DEV
speaks()
{
	py "$1" <<P
send("$2", eth(BROADCAST, "02:00:00:00:00:aa", "from-$1"))
P
}

# found PLACE NS: the wanderer is there, and what h3 sends to it arrives there and nowhere else.
found()
{
	expect "found at $1" eventually 5 fdb_has blue 02:00:00:00:00:aa "$1"
	py h3 <<P
send("e0", eth("02:00:00:00:00:aa", mac_of("e0"), "to-$1"))
send("e0", eth(BROADCAST, mac_of("e0"), "after-$1"))
P
	heard "$2" "\"to-$1\""
	for other in h1 h2 r1; do
		heard $other "\"after-$1\""
		[ $other = "$2" ] || unheard $other "\"to-$1\""
	done
}

speaks h1 e0
found h1 h1
speaks h2 e0
found h2 h2
speaks r1 vx10
found 192.0.2.2 r1
speaks h1 e0
expect "found at h1 again" eventually 5 fdb_has blue 02:00:00:00:00:aa h1
at_least "moves" 3 "$(network blue moves)"
finish
