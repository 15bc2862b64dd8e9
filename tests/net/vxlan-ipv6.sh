#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# VXLAN over IPv6 against the kernel's own vxlan device, both ways. By default that device drops
# what comes with a zero UDP checksum.
#
#   h1 10.0.0.1 ---- culvert, VTEP 2001:db8::1 (ul0) ---- fabric ---- r1 2001:db8::2, vx10: 10.0.0.2
. "$(dirname "$0")/lib.sh"
need iperf3

host h1 10.0.0.1/24 fd00::1/64
fabric 2001:db8::1/64
remote r1 2001:db8::2/64
vxlan r1 10 2001:db8::2 2001:db8::1 10.0.0.2/24 fd00::2/64
ip -n "${prefix}r1" link set vx10 mtu 1500
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: ["2001:db8::2"]}
tunnels: {local: ["2001:db8::1"], underlay: [ul0]}
Y

listen r1
expect "ping, ARP" pings h1 10.0.0.2
expect "ping, ARP from afar" pings r1 10.0.0.1
expect "ping, ND" pings h1 fd00::2
expect "ping, ND from afar" pings r1 fd00::1
for size in 0 1 2 3 1471 1472; do
	expect "ping of $size bytes" pings h1 10.0.0.2 -s $size
done
transfers h1 r1 10.0.0.2 tcp 10000000
transfers r1 h1 10.0.0.1 tcp 10000000
transfers h1 r1 fd00::2 udp 200000
transfers r1 h1 10.0.0.1 udp 200000

heard r1 'ip 2001:db8::1 > 2001:db8::2 tos 0 ttl 64 udp [0-9]+ > 4789 sum 1 vxlan 8 vni 10 \| '
there=$(at r1 cat /sys/class/net/vx10/address)
expect "learned behind the tunnel" eventually 3 fdb_has blue "$there" 2001:db8::2
equal "state" ok "$(value tunnel "d['tunnels'][0]['state']")"
say "TCP to the tunnel: $(iperf h1 r1 10.0.0.2 -t 3) Mbit/s"
say "TCP from the tunnel: $(iperf h1 r1 10.0.0.2 -t 3 -R) Mbit/s"
finish
