#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The hash of a NIC that computes one as NICs do (virtio_net since Linux 6.12; a veth's is the
# socket's own number): VXLAN source ports follow it. The NIC says what its key is, so that the
# Toeplitz hash of every flow is known beforehand. Without it, and for what the NIC did not hash,
# culvert's own.
#
#   h1 10.0.0.1 (virtio_net, over a cable) ---- culvert, VTEP 192.0.2.1 ---- r1 192.0.2.2, vx10
#
# vm: nics hash=on,rss=on
. "$(dirname "$0")/lib.sh"

cabled h1 10.0.0.1/24 fd00::1/64
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24 fd00::2/64
ip -n "${prefix}r1" link set vx10 mtu 1500
listen r1
at sw ethtool -K h1 rxhash on ||
	skip "this kernel's virtio_net gives no hashes"
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
say "$(port h1 program); $(port h1 program_why)"
[ "$(port h1 program)" = device-bound ] || skip "$(port h1 program_why)"

# flows ADDRESS: 100 of them, with source ports from 10000.
flows()
{
	py h1 <<P
import socket
for i in range(100):
    s = socket.socket(socket.AF_INET6 if ":" in "$1" else socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", 10000 + i))
    s.sendto(b"x" * 32, ("$1", 7777))
    time.sleep(0.002)
P
}

# follow FROM TO KEY: how many of r1's frames have the source port that the Toeplitz hash (as of
# receive side scaling) of their addresses and ports gives, of how many. 6.12 tells the NIC another
# key than ethtool: a byte of padding, and all of ethtool's but the last.
follow()
{
	"$python" - "$tmp/r1.heard" "$@" <<'P'
import ipaddress
import re
import sys
path, src, dst, key = sys.argv[1:]
key = bytes.fromhex(key.replace(":", ""))
addresses = ipaddress.ip_address(src).packed + ipaddress.ip_address(dst).packed


def toeplitz(key, data):
    h, key_bits, bits = 0, 8 * len(key), 8 * len(data)
    for i in range(bits):
        if int.from_bytes(data, "big") >> (bits - 1 - i) & 1:
            h ^= int.from_bytes(key, "big") >> (key_bits - 32 - i) & 0xffffffff
    return h


def source_port(key, flow):
    return 49152 + (toeplitz(key, flow) * 16384 >> 32)


got = []
for line in open(path):
    m = re.search(r"udp (\d+) > 4789 .*> %s .* udp (\d+) > (7777)" % re.escape(dst), line)
    if m:
        ports = int(m[2]).to_bytes(2, "big") + int(m[3]).to_bytes(2, "big")
        got.append((int(m[1]), addresses + ports))
print(max(sum(source_port(k, flow) == port for port, flow in got)
          for k in (key, bytes(1) + key[:-1])), len(got))
P
}

arrived() { [ "$(grep -cE "> $1 .*> 7777 " "$tmp/r1.heard")" -ge 100 ]; }

key=$(at sw ethtool -x h1 | grep -E '^([0-9a-f]{2}:)+[0-9a-f]{2}$')
for pair in "10.0.0.1 10.0.0.2" "fd00::1 fd00::2"; do
	read -r from to <<<"$pair"
	expect "ping" pings h1 "$to"
	: >"$tmp/r1.heard"
	nic=$(port h1 hash_nic)
	flows "$to"
	expect "all flows arrive" eventually 10 arrived "$to"
	equal "ports that follow the NIC's hash, $to" "100 100" "$(follow "$from" "$to" "$key")"
	at_least "hashes of the NIC" $((nic + 100)) "$(port h1 hash_nic)"
done

say "without the NIC's"
at sw ethtool -K h1 rxhash off
: >"$tmp/r1.heard"
soft=$(port h1 hash_software)
flows 10.0.0.2
expect "all flows arrive" eventually 10 arrived 10.0.0.2
at_least "hashes of culvert" $((soft + 100)) "$(port h1 hash_software)"
read -r right n <<<"$(follow 10.0.0.1 10.0.0.2 "$key")"
say "$right of $n ports are the same by chance"
at_least "others" 95 $((n - right))
finish
