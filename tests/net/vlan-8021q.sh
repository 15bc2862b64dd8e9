#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A trunk with two VLANs against a host whose VLANs are the kernel's own 8021q devices.
#
#   t1 e0.100 10.0.0.1 = blue ---+         +--- h2 10.0.0.2 untagged = blue
#      e0.200 10.0.1.1 = red  ---+ culvert +--- h3 10.0.1.3 untagged = red
#   t4 e0.101 10.0.0.4 = blue ---+
#
# A VLAN device hands its tag to the veth beside the frame. A kernel whose veth does not tell XDP of
# it (before 6.8) needs `txvlan off` on the host, which puts the tag into the frame.
. "$(dirname "$0")/lib.sh"

# vlan NS VID ADDRESS/LENGTH...
vlan()
{
	local ns=$1 vid=$2
	shift 2
	ip -n "$prefix$ns" link add link e0 name "e0.$vid" type vlan id "$vid"
	addresses "$ns" "e0.$vid" "$@"
	ip -n "$prefix$ns" link set "e0.$vid" up
}

host t1
ip -n "${prefix}t1" link add link e0 name probe type vlan id 2 2>/dev/null ||
	skip "this kernel has no VLAN devices (8021q)"
ip -n "${prefix}t1" link del probe
host h2 10.0.0.2/24 fd00::2/64
host h3 10.0.1.3/24
host t4
vlan t1 100 10.0.0.1/24 fd00::1/64
vlan t1 200 10.0.1.1/24
vlan t4 101 10.0.0.4/24 fd00::4/64
write_config <<'Y'
ports:
  t1: {tagged: {100: blue, 200: red}}
  h2: {untagged: blue}
  h3: {untagged: red}
  t4: {tagged: {101: blue}}
networks:
  blue:
  red:
Y

if ! grep -qw bpf_xdp_metadata_rx_vlan_tag /proc/kallsyms; then
	say "tags beside the frame cannot be seen: refused, with the cure"
	status=0
	at sw timeout 60 "$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/refused.log" 2>&1 ||
		status=$?
	cat "$tmp/refused.log"
	at_least "status of culvertd" 1 "$status"
	expect_not "it ended by itself" [ "$status" = 124 ]
	expect "the cure" grep -q 't1: tagged: .*ethtool -K e0 txvlan off' "$tmp/refused.log"
	nothing_left
	for ns in t1 t4; do
		at "$ns" ethtool -K e0 txvlan off
	done
fi
run_culvert

expect "tagged to untagged" pings t1 10.0.0.2
expect "the other VLAN" pings t1 10.0.1.3
expect "untagged to tagged" pings h2 10.0.0.1
expect "between two VLAN ids" pings t4 10.0.0.1
expect "IPv6" pings h2 fd00::1
expect "IPv6 between two VLAN ids" pings t4 fd00::1
expect "large" pings t1 10.0.0.2 -s 1472
transfers t1 h2 10.0.0.2 tcp 200000
transfers h3 t1 10.0.1.1 tcp 200000
for i in 1 2 4; do
	mac=02:00:00:00:00:0$i
	where=h$i
	[ $i = 2 ] || where=t$i
	expect "$mac in blue" eventually 3 fdb_has blue $mac $where
done
expect "the same host in red" eventually 3 fdb_has red 02:00:00:00:00:01 t1

say "VLANs stay apart, and what has no tag does not pass"
listen h2
listen h3
py t1 <<'P'
me = mac_of("e0.100")
send("e0", eth(BROADCAST, me, "no-tag"))
send("e0.100", eth(BROADCAST, me, "from-100"))
send("e0.200", eth(BROADCAST, me, "from-200"))
P
heard h2 'ff:ff type 0x88b5 "from-100"'
heard h3 'ff:ff type 0x88b5 "from-200"'
unheard h2 'no-tag|from-200'
unheard h3 'no-tag|from-100'
finish
