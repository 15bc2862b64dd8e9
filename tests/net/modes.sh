#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# mode: as forced, as chosen, as refused; MTUs that a mode cannot carry are refused with the limit.
#
#   h1, h2 ---- culvert: blue
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24

# config MODE [OPTIONS]
config()
{
	write_config <<Y
ports:
  h1: {untagged: blue, mode: $1${2:-}}
  h2: {untagged: blue}
networks:
  blue:
Y
}

# refuses PATTERN: culvertd does not start, and says so.
refuses()
{
	expect_not "a start" \
		at sw timeout 20 "$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/out" 2>&1
	grep -qE "$1" "$tmp/out" || die "not said: $1, but: $(cat "$tmp/out")"
	nothing_left
}

for mode in skb native auto; do
	config $mode
	run_culvert
	expect "ping, $mode" pings h1 10.0.0.2
	say "$mode: $(port h1 mode), $(port h1 program)"
	[ $mode = auto ] || equal "mode" $mode "$(port h1 mode)"
	transfers h1 h2 10.0.0.2 tcp 3000000
	transfers h2 h1 10.0.0.1 tcp 3000000
	books
	stop_culvert
done
say "zero-copy, which veth has not"
config zero-copy
refuses 'h1.*zero-copy|zero-copy.*h1'
say "an MTU over the limit"
config native ', mtu: 9000'
refuses 'h1.*[0-9]{4}|[0-9]{4}.*h1'
equal "the MTU is as before" 1500 "$(at sw cat /sys/class/net/h1/mtu)"
say "an MTU that fits, put back at the end"
config native ', mtu: 2000'
ip -n "${prefix}h1" link set e0 mtu 2000
run_culvert
equal "MTU" 2000 "$(at sw cat /sys/class/net/h1/mtu)"
expect "ping" pings h1 10.0.0.2
books
stop_culvert
equal "the MTU is as before" 1500 "$(at sw cat /sys/class/net/h1/mtu)"
say "passed"
