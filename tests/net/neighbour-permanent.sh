#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A neighbour that somebody wrote down stays as it is, permanent, before, while and after culvert
# uses it: nobody there answers. One that becomes permanent meanwhile, too.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 ---- fabric (no 192.0.2.2, no 192.0.2.3)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric 192.0.2.1/24
entry() { ip -n "${prefix}sw" neigh show "$1" dev ul0; }
permanent() { ip -n "${prefix}sw" neigh replace "$1" lladdr "$2" dev ul0 nud permanent; }
stays()
{
	[ "$(entry "$1" | tr -s " ")" = "$1 lladdr $2 PERMANENT " ] ||
		die "no longer as it was: $(entry "$1")"
}

permanent 192.0.2.2 02:00:00:00:0c:02
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2, 192.0.2.3]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
expect "usable at once" eventually 10 tunnel_is 192.0.2.2 next_hop_mac 02:00:00:00:0c:02
expect_not "resolved" tunnel_is 192.0.2.3 state ok
permanent 192.0.2.3 02:00:00:00:0c:03
expect "followed" eventually 10 tunnel_is 192.0.2.3 next_hop_mac 02:00:00:00:0c:03

say "traffic, and longer than an entry stays fresh"
expect_not "ping into nothing" at h1 ping -q -c 5 -i 0.2 -W 1 10.0.0.2
for _ in $(seq 15); do
	sleep 1
	tunnels_are 2 || die "not 2 tunnels are ok: $(culvert -j tunnel)"
	stays 192.0.2.2 02:00:00:00:0c:02
	stays 192.0.2.3 02:00:00:00:0c:03
done
finish
stays 192.0.2.2 02:00:00:00:0c:02
stays 192.0.2.3 02:00:00:00:0c:03
