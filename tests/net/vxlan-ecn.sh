#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# ECN through the tunnel as RFC 6040 says, both ways, inner IPv4 and IPv6.
#
#   h1 (blue, VNI 10) ---- culvert, VTEP 192.0.2.1 (ul0) ---- fabric ---- r1 192.0.2.2
. "$(dirname "$0")/lib.sh"

host h1
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 1
to=$(at sw cat /sys/class/net/ul0/address)
listen h1
listen r1

say "into the tunnel: the outer header shows what the inner one says"
py h1 <<'P'
me = mac_of("e0")
for ecn in range(4):
    v4 = ip4("10.0.0.1", "10.0.0.2", udp(9, 100 + ecn, b"x"), tos=0xb8 | ecn)
    v6 = ip6("fd00::1", "fd00::2", udp(9, 200 + ecn, b"x"), tclass=0xb8 | ecn)
    send("e0", eth(BROADCAST, me, v4, type=0x800), eth(BROADCAST, me, v6, type=0x86dd))
P
for ecn in 0 1 2 3; do
	heard r1 "tos $ecn ttl 64 df 1 udp .* tos $((184 + ecn)) ttl 64 df 0 udp 9 > 10$ecn "
	heard r1 "tos $ecn ttl 64 df 1 udp .* tos $((184 + ecn)) ttl 64 udp 9 > 20$ecn "
done

say "out of the tunnel: every pair of inner and outer (RFC 6040, figure 4)"
py r1 <<P
for inner in range(4):
    for outer in range(4):
        port = 1000 + 10 * inner + outer
        v4 = ip4("10.0.0.2", "10.0.0.1", udp(4, port, b"x"), tos=0xb8 | inner)
        v6 = ip6("fd00::2", "fd00::1", udp(6, port, b"x"), tclass=0xb8 | inner)
        for packet, type in ((v4, 0x800), (v6, 0x86dd)):
            frame = eth(BROADCAST, "02:00:00:00:00:77", packet, type=type)
            send("e0", eth("$to", mac_of("e0"), ip4("192.0.2.2", "192.0.2.1",
                 udp(50000, 4789, vxlan(10, frame)), tos=outer), type=0x800))
P
# inner outer result; - is dropped
while read -r inner outer result; do
	for kind in 4 6; do
		if [ "$result" = - ]; then
			continue
		fi
		heard h1 "tos $((184 + result)) ttl 64.* udp $kind > 10$inner$outer "
	done
done <<'T'
0 0 0
0 1 0
0 2 0
0 3 -
1 0 1
1 1 1
1 2 1
1 3 3
2 0 2
2 1 1
2 2 2
2 3 3
3 0 3
3 1 3
3 2 3
3 3 3
T
expect "two dropped as ecn-illegal" eventually 5 dropped ecn-illegal 2 ul0
unheard h1 'bad-checksum|> 1003 '
unheard r1 'bad-checksum'
finish
