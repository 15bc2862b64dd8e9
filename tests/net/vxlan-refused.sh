#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What must not come out of a tunnel, counted by name. The frames are made by hand in r1.
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
to=$(at sw cat /sys/class/net/ul0/address)
listen h1

# from_r1 PYTHON: sends one outer frame; inner(TEXT), outer(PAYLOAD) and OURS are there.
from_r1()
{
	py r1 <<P
def inner(text, dst=BROADCAST):
    return eth(dst, "02:00:00:00:00:77", text)
def outer(payload, **more):
    return eth("$to", mac_of("e0"), ip4("192.0.2.2", "192.0.2.1", payload, **more), type=0x800)
$1
P
}

# refused REASON PYTHON
refused()
{
	from_r1 "$2"
	expect "counted as $1" eventually 5 dropped "$1" 1 ul0
	equal "$1" 1 "$(drops "$1")"
}

refused vni-unknown 'send("e0", outer(udp(50000, 4789, vxlan(11, inner("bad")))))'
refused vxlan-no-vni 'send("e0", outer(udp(50000, 4789, vxlan(10, inner("bad"), flags=0))))'
refused vtep-unknown 'send("e0", eth("'"$to"'", mac_of("e0"), ip4("192.0.2.99", "192.0.2.1",
	udp(50000, 4789, vxlan(10, inner("bad")))), type=0x800))'
refused vxlan-truncated 'send("e0", outer(udp(50000, 4789, vxlan(10, inner("bad"))[:6])))'
refused inner-runt 'send("e0", outer(udp(50000, 4789, vxlan(10, inner("bad")[:13]))))'
say "a length that claims more than there is"
from_r1 'send("e0", outer(udp(50000, 4789, vxlan(10, inner("bad" * 30)), length=900)))'
expect "counted" eventually 5 dropped vxlan-truncated 2 ul0
say "a wrong checksum of the outer IP header"
from_r1 'f = bytearray(outer(udp(50000, 4789, vxlan(10, inner("bad")))))
f[24] ^= 0x5a
send("e0", bytes(f))'
expect "counted" eventually 5 dropped outer-bad 1 ul0
say "to another address than ours: the kernel's business"
from_r1 'send("e0", eth("'"$to"'", mac_of("e0"), ip4("192.0.2.2", "192.0.2.9",
	udp(50000, 4789, vxlan(10, inner("bad")))), type=0x800))'
say "reserved addresses do not come out"
from_r1 'send("e0", outer(udp(50000, 4789, vxlan(10, inner("bad", dst="01:80:c2:00:00:00")))))'
expect "counted" eventually 5 dropped reserved-mac 1 ul0

say "and what is right: reserved bits set, checksum zero or not"
from_r1 'f = vxlan(10, inner("good-reserved"), flags=0xff, reserved=0xabcdef)
send("e0", outer(udp(50000, 4789, f)))
send("e0", outer(udp(50000, 4789, vxlan(10, inner("good-plain")))))
send("e0", outer(udp(1, 4789, vxlan(10, inner("good-low-port")))))'
for text in good-reserved good-plain good-low-port; do
	heard h1 "\"$text\""
done
unheard h1 'bad'
finish
