#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# SIGTERM while traffic flows as fast as it can: a clean end within seconds, books balanced; then
# the next start.
#
#   h1 ---- culvert: blue ---- h2, fabric ---- r1 192.0.2.2, vx10
. "$(dirname "$0")/lib.sh"
need iperf3

host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.3/24
ip -n "${prefix}r1" link set vx10 mtu 1500
write_config <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y

for turn in 1 2 3; do
	run_culvert
	expect "ping" pings h1 10.0.0.2
	expect "ping" pings h1 10.0.0.3
	jobs=()
	for ns in h2 r1; do
		start $ns iperf3 -s -1 >/dev/null 2>&1
		jobs+=("$job")
	done
	expect "iperf3" eventually 5 listening h2 5201
	expect "iperf3" eventually 5 listening r1 5201
	start h1 iperf3 -c 10.0.0.2 -t 30 --connect-timeout 3000 >/dev/null 2>&1
	jobs+=("$job")
	start h1 iperf3 -u -b 0 -l 64 -c 10.0.0.3 -t 30 --connect-timeout 3000 >/dev/null 2>&1
	jobs+=("$job")
	before=$(value drops "d['books']['rx']")
	busy() { [ "$(value drops "d['books']['rx']")" -gt $((before + 5000)) ]; }
	expect "load" eventually 30 busy
	start h1 ping -q -f 10.0.0.2 >/dev/null 2>&1
	jobs+=("$job")
	sleep 0.5
	say "stop $turn, after $(value drops "d['books']['rx']") packets"
	stop_culvert
	stop "${jobs[@]}"
done
! grep -iE 'not balance|unbalanced' "$tmp/culvertd.log" || die "unbalanced at the end"
run_culvert
expect "ping" pings h1 10.0.0.2
finish
