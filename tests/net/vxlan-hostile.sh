#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every truncation of VXLAN packets and thousands of damaged ones arrive on the underlay: nothing
# crashes, and the books balance.
#
#   h1 (VNI 10) ---- culvert, 192.0.2.1, 2001:db8::1 ---- fabric ---- r1 192.0.2.2, 2001:db8::2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric 192.0.2.1/24 2001:db8::1/64
remote r1 192.0.2.2/24 2001:db8::2/64
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2, "2001:db8::2"]}
tunnels: {local: [192.0.2.1, "2001:db8::1"], underlay: [ul0]}
Y
to=$(at sw cat /sys/class/net/ul0/address)
seed=${SEED:-$RANDOM}
say "SEED=$seed"
expect "ping" pings h1 10.0.0.2

py r1 <<P
import random
r = random.Random($seed)
me = mac_of("e0")
src = "02:00:00:00:00:77"
inners = [
    eth(BROADCAST, src, "text"),
    eth(BROADCAST, src, "text", tags=[5, 6, 7]),
    eth("02:00:00:00:00:01", src, ip4("10.0.0.2", "10.0.0.1", udp(1, 2, b"z" * 40)), type=0x800),
    eth("02:00:00:00:00:01", src, ip6("fd00::2", "fd00::1", udp(1, 2, b"z" * 40)), type=0x86dd),
    eth("02:00:00:00:00:01", src,
        ip6("fd00::2", "fd00::1", bytes([0, 0, 1, 4, 0, 0, 0, 0]) * 3, proto=0), type=0x86dd),
]
frames = []
for inner in inners:
    tunnel = udp(50000, 4789, vxlan(10, inner))
    frames.append(eth("$to", me, ip4("192.0.2.2", "192.0.2.1", tunnel), type=0x800))
    frames.append(eth("$to", me, ip6("2001:db8::2", "2001:db8::1", tunnel), type=0x86dd))
for f in frames:
    for n in range(14, len(f)):
        send("e0", f[:n])
for i in range(6000):
    f = bytearray(r.choice(frames))
    for _ in range(r.randint(1, 4)):
        at = r.randrange(12, len(f))
        f[at] = r.choice((0, 1, 0x45, 0x7f, 0x80, 0xff, r.randrange(256)))
    send("e0", bytes(f))
P
expect "still forwards" pings h1 10.0.0.2
at_least "truncated ones counted" 100 "$(drops vxlan-truncated ul0)"
finish
