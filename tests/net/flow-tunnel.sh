#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that match what came by a tunnel: its VNI (tun_id), its number or its VTEP's address
# (in_port), and fields of the inner frame. Outer addresses match nothing.
#
#   h1 (blue), h2 (red) ---- culvert ---- fabric ---- r1 192.0.2.11, r2 192.0.2.12: vx10, vx20
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.1.1/24
fabric 192.0.2.1/24
for i in 1 2; do
	remote r$i 192.0.2.1$i/24
	vxlan r$i 10 192.0.2.1$i 192.0.2.1 10.0.0.1$i/24
	vxlan r$i 20 192.0.2.1$i 192.0.2.1 10.0.1.1$i/24
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: red}
networks:
  blue: {vni: 10}
  red: {vni: 20}
tunnels: {local: [192.0.2.1], underlay: [ul0], remotes: [192.0.2.11, 192.0.2.12]}
Y
tunnels_ok 2
r1=$(tunnel 192.0.2.11 number)
listen h1
listen h2

# from NS TEXT: broadcasts in both VNIs, TEXT-10 and TEXT-20.
from()
{
	py "$1" <<P
for vni in (10, 20):
    send("vx%d" % vni, eth(BROADCAST, mac_of("vx%d" % vni), "$2-%d" % vni))
P
}

from r1 plain
from r2 plain
heard h1 '"plain-10"'
heard h2 '"plain-20"'

say "by VNI"
rules "priority=9,tun_id=10 actions=drop"
from r1 no-10
heard h2 '"no-10-20"'
unheard h1 '"no-10-10"'
expect "hit" eventually 5 hits_are tun_id=10 1
listen r1
py h1 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "into-it"))
P
heard r1 'vni 10 \| .*"into-it"'
equal "what goes into the tunnel did not come by it" 1 "$(hits tun_id=10)"

say "by tunnel, as a number and as an address"
for name in "$r1" 192.0.2.11; do
	rules	# the second rule is the first one, and would keep its counters
	rules "priority=9,in_port=$name actions=drop"
	from r1 "not-$name"
	from r2 "but-$name"
	heard h1 "\"but-$name-10\""
	heard h2 "\"but-$name-20\""
	unheard h1 "\"not-$name"
	unheard h2 "\"not-$name"
	expect "hits" eventually 5 hits_are "in_port=$r1" 2
done

say "by tunnel and VNI, and by the inner frame"
rules "priority=9,in_port=192.0.2.12,tun_id=20 actions=drop"
from r2 one
heard h1 '"one-10"'
from r1 one-r1
heard h2 '"one-r1-20"'
unheard h2 '"one-20"'
rules "priority=9,ip,nw_src=192.0.2.0/24 actions=drop" "priority=9,tun_id=10,icmp actions=drop"
expect "not the outer addresses" pings r1 10.0.1.1
! at r1 ping -q -c 2 -i 0.2 -W 1 10.0.0.1 >/dev/null || die "the inner protocol is not dropped"
equal "outer addresses" 0 "$(hits ip,nw_src=192.0.2.0/24)"
at_least "inner protocol" 2 "$(hits tun_id=10,icmp)"
rules
expect "without rules" pings r1 10.0.0.1
finish
