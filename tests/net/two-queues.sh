#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Two workers, each with a queue of every port; flows spread over both and nothing is lost or
# damaged.
#
#   h1 (2 queues) ---- culvert, 2 workers: blue ---- h2 (2 queues), fabric ---- r1 192.0.2.2, vx10
#
# vm: cpus 2
. "$(dirname "$0")/lib.sh"
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

for i in 1 2; do
	namespace h$i
	veth sw h$i h$i e0 numrxqueues 2 numtxqueues 2
	addresses h$i e0 10.0.0.$i/24
done
namespace r1
veth sw ul0 r1 e0 mtu 1600 numrxqueues 2 numtxqueues 2
addresses sw ul0 192.0.2.1/24
addresses r1 e0 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.3/24
ip -n "${prefix}r1" link set vx10 mtu 1500
start_culvert <<'Y'
workers: {cores: 0-1, ring: 1024}
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
equal "workers" 2 "$(value status "len(d['workers'])")"

expect "ping" pings h1 10.0.0.2
expect "ping through the tunnel" pings h1 10.0.0.3
transfers h1 h2 10.0.0.2 tcp 10000000
transfers h2 h1 10.0.0.1 udp 200000
transfers h1 r1 10.0.0.3 tcp 10000000
transfers r1 h2 10.0.0.2 tcp 10000000
say "many flows"
py h1 <<'P'
import socket
for i in range(400):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", 10000 + i))
    for turn in range(5):
        s.sendto(b"x" * 100, ("10.0.0.%d" % (2 + i % 2), 7777))
    s.close()
    time.sleep(0.001)
P
at sw ethtool -S h1 | grep -E 'rx_queue_[01]_xdp_packets' | sed 's/^ */# /'
for queue in 0 1; do
	n=$(at sw ethtool -S h1 | awk -v q="rx_queue_${queue}_xdp_packets:" '$1 == q {print $2}')
	at_least "packets of h1 in queue $queue" 100 "${n:-0}"
done
books
say "more workers than queues: refused, with the cure"
stop_culvert
host h3
sed -i 's/^networks:/  h3: {untagged: blue, queues: 1}\nnetworks:/' "$tmp/culvert.yaml"
expect_not "one queue for two workers" \
	at sw timeout 20 "$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/out" 2>&1
grep -q queue "$tmp/out" || die "no word of queues: $(cat "$tmp/out")"
say "passed"
