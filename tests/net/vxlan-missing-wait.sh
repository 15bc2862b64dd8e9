#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# tunnels: missing: wait. The underlay's device and then the VTEP address appear after the start,
# and later the address goes and comes; `status` says what is missing.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 (ul0) ---- fabric ---- r1 192.0.2.2 (vx10 10.0.0.2)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric
ip -n "${prefix}sw" link set ul0 down
ip -n "${prefix}sw" link set ul0 name later0
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0], missing: wait}
Y

# problem PATTERN: `culvert status` has it.
problem() { culvert status | sed -n '/^PROBLEMS/,$p' | tr -s ' \n' ' ' | grep -q "$1"; }

expect "ul0 is missing" port_is ul0 state missing
expect "said so" problem 'port ul0 no device ul0'
expect "said so" problem '192.0.2.1 is not on this host'
expect_not "ping" at h1 ping -q -c 1 -W 1 10.0.0.2
at_least "no-route" 1 "$(drops no-route h1)"

say "the device appears"
ip -n "${prefix}sw" link set later0 name ul0
ip -n "${prefix}sw" link set ul0 up
expect "ul0 is up" eventually 10 port_is ul0 state up
expect "the address is still missing" problem '192.0.2.1 is not on this host'

say "the address appears, goes, and comes again"
for turn in 1 2; do
	addresses sw ul0 192.0.2.1/24
	tunnels_ok 1
	expect "ping $turn" pings h1 10.0.0.2
	equal "state" ok "$(value status "d['state'].lower()")"
	ip -n "${prefix}sw" address del 192.0.2.1/24 dev ul0
	expect "followed" eventually 5 tunnel_is 192.0.2.2 state no-route
	expect "said so" problem '192.0.2.1 is not on this host.* look: ip address'
done

say "the underlay's port is shut: not the neighbour's fault"
addresses sw ul0 192.0.2.1/24
tunnels_ok 1
culvert port disable ul0
expect "said so" eventually 5 problem 'underlay port ul0: shut.* look: culvert port'
culvert port enable ul0
tunnels_ok 1
expect "ping" pings h1 10.0.0.2
finish
