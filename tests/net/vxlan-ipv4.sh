#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# VXLAN over IPv4 against the kernel's own vxlan device (default options), both ways.
#
#   h1 10.0.0.1 ---- culvert, VTEP 192.0.2.1 (ul0) ---- fabric ---- r1 192.0.2.2, vx10: 10.0.0.2
. "$(dirname "$0")/lib.sh"
need iperf3

host h1 10.0.0.1/24 fd00::1/64
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24 fd00::2/64
ip -n "${prefix}r1" link set vx10 mtu 1500
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y

listen r1
expect "ping, ARP" pings h1 10.0.0.2
expect "ping, ARP from afar" pings r1 10.0.0.1
expect "ping, ND" pings h1 fd00::2
expect "ping, ND from afar" pings r1 fd00::1
transfers h1 r1 10.0.0.2 tcp 10000000
transfers r1 h1 10.0.0.1 tcp 10000000
transfers h1 r1 fd00::2 tcp 10000000
transfers h1 r1 10.0.0.2 udp 200000
transfers r1 h1 fd00::1 udp 200000

say "the outer header is as configured"
heard r1 'ip 192.0.2.1 > 192.0.2.2 tos 0 ttl 64 df 1 udp [0-9]+ > 4789 sum 0 vxlan 8 vni 10 \| '
unheard r1 'bad-checksum|reserved-not-zero'
there=$(at r1 cat /sys/class/net/vx10/address)
expect "learned behind the tunnel" eventually 3 fdb_has blue "$there" 192.0.2.2
expect "learned here" eventually 3 fdb_has blue 02:00:00:00:00:01 h1
equal "state" ok "$(value tunnel "d['tunnels'][0]['state']")"
at_least "packets from the tunnel" 100 "$(value tunnel "d['tunnels'][0]['rx_packets']")"
at_least "packets to the tunnel" 100 "$(value tunnel "d['tunnels'][0]['tx_packets']")"
say "TCP to the tunnel: $(iperf h1 r1 10.0.0.2 -t 3) Mbit/s"
say "TCP from the tunnel: $(iperf h1 r1 10.0.0.2 -t 3 -R) Mbit/s"
finish
