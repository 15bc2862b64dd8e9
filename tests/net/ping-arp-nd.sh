#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Three hosts in one network find each other: ARP, IPv6 neighbour discovery, ping.
#
#   h1 10.0.0.1 ----+
#   h2 10.0.0.2 ----+ culvert: blue
#   h3 10.0.0.3 ----+
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i 10.0.0.$i/24 fd00::$i/64
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
networks:
  blue:
Y

for from in 1 2 3; do
	for to in 1 2 3; do
		[ $from != $to ] || continue
		expect "ping h$from -> h$to" pings h$from 10.0.0.$to
		expect "ping -6 h$from -> h$to" pings h$from fd00::$to
	done
done

say "again, after the hosts forgot each other"
ip -n "${prefix}h1" neigh flush all
expect "ARP" pings h1 10.0.0.2
expect "ND" pings h1 fd00::2
ip -n "${prefix}h1" neigh show 10.0.0.2 | grep -q 'lladdr 02:00:00:00:00:02' || die "ARP: wrong MAC"
ip -n "${prefix}h1" neigh show fd00::2 | grep -q 'lladdr 02:00:00:00:00:02' || die "ND: wrong MAC"
for i in 1 2 3; do
	expect "h$i in the FDB" eventually 3 fdb_has blue 02:00:00:00:00:0$i h$i
done
say "large, small and fragmented"
for size in 0 1 1472 4000 20000; do
	expect "ping of $size bytes" pings h1 10.0.0.2 -s $size
done
finish
