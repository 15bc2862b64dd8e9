#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Broadcast, unknown and multicast go to every remote VTEP of the network and to no other; what
# comes from one tunnel never leaves by another.
#
#   h1, h2 (blue) ----            +---- r1 192.0.2.11 (VNI 10)
#                      culvert ---+---- r2 192.0.2.12 (VNI 10)
#   h3 (red) ---------            +---- r3 192.0.2.13 (VNI 10 and 20, only in red's list)
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
fabric 192.0.2.1/24
for i in 1 2 3; do
	remote r$i 192.0.2.1$i/24
	vxlan r$i 10 192.0.2.1$i 192.0.2.1
done
vxlan r3 20 192.0.2.13 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: red}
networks:
  blue: {vni: 10}
  red: {vni: 20, remotes: [192.0.2.13]}
tunnels: {local: [192.0.2.1], underlay: [ul0], remotes: [192.0.2.11, 192.0.2.12, 192.0.2.1]}
Y
tunnels_ok 3
equal "our own address in the list is no tunnel" 3 "$(value tunnel "len(d['tunnels'])")"

for i in 1 2 3; do
	listen h$i
	listen r$i
done
py h1 <<'P'
me = mac_of("e0")
send("e0", eth(BROADCAST, me, "broadcast"), eth("02:00:00:00:99:99", me, "unknown"),
     eth("33:33:00:00:00:99", me, "multicast"))
P
for text in broadcast unknown multicast; do
	heard h2 "\"$text\""
	heard r1 "vni 10 \| .*\"$text\""
	heard r2 "vni 10 \| .*\"$text\""
done
py h3 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "from-red"))
P
heard r3 'vni 20 \| .*"from-red"'
unheard r3 'vni 10'
unheard r1 'vni 20'
unheard h3 'cast|unknown'

say "from a tunnel: to the ports, to no tunnel"
py r1 <<'P'
me = mac_of("vx10")
send("vx10", eth(BROADCAST, me, "afar-broadcast"), eth("02:00:00:00:99:98", me, "afar-unknown"))
P
for text in afar-broadcast afar-unknown; do
	heard h1 "\"$text\""
	heard h2 "\"$text\""
done
py h2 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "marker"))
P
heard r1 '"marker"'
heard r2 '"marker"'
unheard r1 'afar-'
unheard r2 'afar-'
for to in r1 r2; do
	equal "copies for $to" 1 "$(count_heard $to '"broadcast"')"
done

say "to a MAC that is known behind another tunnel: dropped by name"
away=$(at r2 cat /sys/class/net/vx10/address)
py r2 <<'P'
send("vx10", eth(BROADCAST, mac_of("vx10"), "here-i-am"))
P
expect "r2 learned" eventually 5 fdb_has blue "$away" 192.0.2.12
py r1 <<P
send("vx10", eth("$away", mac_of("vx10"), "hairpin"))
P
expect "tunnel-to-tunnel" eventually 5 dropped tunnel-to-tunnel 1
unheard r2 'hairpin'
finish
