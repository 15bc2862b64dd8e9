#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The kernel does not see what AF_XDP sends, and yet its neighbour entries of our next hops stay
# fresh: they are managed while culvert runs, never unusable, and a next hop that changes its MAC
# without a word is found again. When culvert ends they are the kernel's own again.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1, 2001:db8::1 ---- fabric ---- r1 192.0.2.2 (vx10 10.0.0.2)
#   h2 10.0.1.1 ----                                               2001:db8::2 (vx20 10.0.1.2)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.1.1/24
fabric 192.0.2.1/24 2001:db8::1/64
remote r1 192.0.2.2/24 2001:db8::2/64
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
vxlan r1 20 2001:db8::2 2001:db8::1 10.0.1.2/24
# entries age fast; older kernels have no interval_probe_time_ms
for family in ipv4 ipv6; do
	for setting in base_reachable_time_ms=2000 delay_first_probe_time=1 \
		interval_probe_time_ms=1000; do
		at sw sysctl -qw "net.$family.neigh.ul0.$setting" 2>/dev/null || true
	done
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: red}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
  red: {vni: 20, remotes: ["2001:db8::2"]}
tunnels: {local: [192.0.2.1, "2001:db8::1"], underlay: [ul0]}
Y
tunnels_ok 2
expect "ping over IPv4" pings h1 10.0.0.2
expect "ping over IPv6" pings h2 10.0.1.2

entry() { ip -n "${prefix}sw" -s neigh show "$1" dev ul0; }

# fresh ADDRESS: managed, usable, and the kernel has heard from it within the last 8 s.
fresh()
{
	entry "$1" >"$tmp/entry"
	grep -q managed "$tmp/entry" && grep -qE 'REACHABLE|STALE|DELAY|PROBE' "$tmp/entry" &&
		[ "$(grep -oE 'used [0-9/]+' "$tmp/entry" | cut -d/ -f2)" -le 8 ]
}

say "20 s, ten times what makes an entry stale, with nothing but AF_XDP traffic"
start h1 ping -q -i 0.1 -w 20 10.0.0.2 >"$tmp/ping4.log"
ping4=$job
start h2 ping -q -i 0.1 -w 20 10.0.1.2 >"$tmp/ping6.log"
ping6=$job
for i in $(seq 20); do
	sleep 1
	for address in 192.0.2.2 2001:db8::2; do
		fresh $address || die "after $i s: $(cat "$tmp/entry")"
	done
done
for log in ping4 ping6; do
	wait "${!log}" || die "$log: $(cat "$tmp/$log.log")"
	grep -q ' 0% packet loss' "$tmp/$log.log" || die "$log: $(cat "$tmp/$log.log")"
done

say "the next hop's MAC changes, without a word"
at r1 sysctl -qw net.ipv4.conf.e0.arp_notify=0 net.ipv6.conf.e0.ndisc_notify=0
ip -n "${prefix}r1" link set e0 address 02:00:00:00:0a:01
start h1 ping -q -i 0.1 10.0.0.2 >/dev/null
for address in 192.0.2.2 2001:db8::2; do
	expect "$address followed" eventually 30 tunnel_is $address next_hop_mac 02:00:00:00:0a:01
done
stop "$job"
expect "ping over IPv4" pings h1 10.0.0.2
expect "ping over IPv6" pings h2 10.0.1.2
finish
for address in 192.0.2.2 2001:db8::2; do
	case $(entry $address) in
	*managed*) die "still managed: $(entry $address)" ;;
	esac
done
