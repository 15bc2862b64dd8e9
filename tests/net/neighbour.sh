#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Next hops of remote VTEPs: unresolved at first, a new MAC, another route; all followed as the
# kernel has them.
#
#                                                    +---- r1 192.0.2.2
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 ---- fabric -+---- g1 192.0.2.11 --+
#                                                    +---- g2 192.0.2.12 --+-- r2 198.51.100.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric 192.0.2.1/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2, 198.51.100.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y

say "no next hop, no route"
expect_not "ping into nothing" at h1 ping -q -c 2 -i 0.2 -W 1 10.0.0.2
expect_not "ok" tunnel_is 192.0.2.2 state ok
expect_not "ok" tunnel_is 198.51.100.2 state ok
at_least "no-neighbour" 1 "$(drops no-neighbour h1)"
at_least "no-route" 1 "$(drops no-route h1)"
equal "in trouble" degraded "$(value status "d['state'].lower()")"

say "it appears"
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
# r1 says nothing by itself: culvert has the kernel ask
expect "resolved" eventually 15 tunnel_is 192.0.2.2 state ok
expect "ping" pings h1 10.0.0.2

say "it gets a new MAC"
ip -n "${prefix}r1" link set e0 address 02:00:00:00:0a:01
expect "this host talks to it" pings r1 192.0.2.1
expect "followed" eventually 5 tunnel_is 192.0.2.2 next_hop_mac 02:00:00:00:0a:01
expect "ping" pings h1 10.0.0.2

say "a route appears, over g1"
namespace r2
for i in 1 2; do
	remote g$i 192.0.2.1$i/24
	at g$i sysctl -qw net.ipv4.ip_forward=1
	veth g$i to-r2 r2 e$i mtu 1600
	ip -n "${prefix}g$i" link set to-r2 mtu 1600 address 02:00:00:00:0b:0$i
	ip -n "${prefix}g$i" link set e0 address 02:00:00:00:0c:0$i
	addresses g$i to-r2 10.99.$i.1/24
	addresses r2 e$i 10.99.$i.2/24
	ip -n "${prefix}g$i" route add 198.51.100.2/32 via 10.99.$i.2
done
addresses r2 lo 198.51.100.2/32
ip -n "${prefix}r2" route add 192.0.2.0/24 via 10.99.1.1
vxlan r2 10 198.51.100.2 192.0.2.1 10.0.0.22/24
ip -n "${prefix}sw" route add 198.51.100.0/24 via 192.0.2.11
expect "resolved over g1" eventually 15 tunnel_is 198.51.100.2 next_hop_mac 02:00:00:00:0c:01
expect "ping" pings h1 10.0.0.22

say "the route moves to g2"
ip -n "${prefix}sw" route replace 198.51.100.0/24 via 192.0.2.12
ip -n "${prefix}r2" route replace 192.0.2.0/24 via 10.99.2.1
expect "followed" eventually 15 tunnel_is 198.51.100.2 next_hop_mac 02:00:00:00:0c:02
expect "ping" pings h1 10.0.0.22

say "the route goes"
ip -n "${prefix}sw" route del 198.51.100.0/24
gone() { ! tunnel_is 198.51.100.2 state ok; }
expect "followed" eventually 5 gone
expect "the other one is not touched" pings h1 10.0.0.2
finish
