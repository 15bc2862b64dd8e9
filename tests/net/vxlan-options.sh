#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# TTL, DSCP, DF and checksum of the outer header as configured; the kernel accepts what is sent.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 ---- fabric ---- r1 192.0.2.2   (vx10)
#   h2 10.0.1.1 ----        2001:db8::1                        2001:db8::2 (vx20)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.1.1/24
fabric 192.0.2.1/24 2001:db8::1/64
remote r1 192.0.2.2/24 2001:db8::2/64
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
vxlan r1 20 2001:db8::2 2001:db8::1 10.0.1.2/24
listen r1

run()
{
	: >"$tmp/r1.heard"
	start_culvert <<Y
ports:
  h1: {untagged: blue}
  h2: {untagged: red}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
  red: {vni: 20, remotes: ["2001:db8::2"]}
tunnels: {local: [192.0.2.1, "2001:db8::1"], underlay: [ul0], $1}
Y
	expect "ping over IPv4, $1" pings h1 10.0.0.2 -Q 0x48
	expect "ping over IPv6, $1" pings h2 10.0.1.2 -Q 0x48
}

run 'ttl: 9, dscp: 10, df: unset, checksum: on'
heard r1 'ip 192.0.2.1 > 192.0.2.2 tos 40 ttl 9 df 0 udp [0-9]+ > 4789 sum 1 .*proto 1$'
heard r1 'ip 2001:db8::1 > 2001:db8::2 tos 40 ttl 9 udp [0-9]+ > 4789 sum 1 .*proto 1$'
books
stop_culvert

run 'dscp: inherit, df: inherit'
heard r1 'ip 192.0.2.1 > 192.0.2.2 tos 72 ttl 64 .* > 4789 sum 0 .* tos 72 ttl 64 .*proto 1$'
heard r1 'ip 2001:db8::1 > 2001:db8::2 tos 72 ttl 64 .* > 4789 sum 1 .* tos 72 ttl 64 .*proto 1$'
py h1 <<'P'
for frag in (0, 0x4000):
    packet = ip4("10.0.0.1", "10.0.0.99", udp(9, 9 + frag, b"x"), frag=frag)
    send("e0", eth(BROADCAST, mac_of("e0"), packet, type=0x800))
P
heard r1 'ttl 64 df 0 udp .* ttl 64 df 0 udp 9 > 9 '
heard r1 'ttl 64 df 1 udp .* ttl 64 df 1 udp 9 > 16393 '
unheard r1 'bad-checksum'
finish
