#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A capture of the configuration whose device is not there is a problem and no more; it starts when
# the device comes, and again when it comes back. It costs nobody's start, and ends with the daemon.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2      mon0, mon1: ifb devices beside it
. "$(dirname "$0")/lib.sh"

need tcpdump
ip -n "${prefix}sw" link add mon0 type ifb 2>/dev/null || skip "needs ifb"
ip -n "${prefix}sw" link set mon0 up
ip -n "${prefix}sw" link add mon3 type ifb
ip -n "${prefix}sw" link property add dev mon3 altname a-long-name-of-mon3
ip -n "${prefix}sw" link set mon3 up
host h1 10.0.0.1/24
host h2 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
captures:
  all:
    of: [h2, "network:blue"]
    dir: both
    filter: ether proto 0x88b5
    snaplen: 30
    sample: 3
    device: a-long-name-of-mon3
  always: {of: [h1], dir: in, filter: ether proto 0x88b5, device: mon0}
  later: {of: ["network:blue"], device: mon1}
Y
problem() { value status "[p['text'] for p in d['problems'] if p['what'] == 'capture $1']"; }
problem_is() { problem "$1" | grep -q "$2"; }
problem_is later "no device 'mon1'" || die "problems: $(problem later)"
equal "problems of the other" "[]" "$(problem always)"
captures_are 2 || die "not two run"
equal "as it was asked for" "['h2', 'network:blue'] both ether proto 0x88b5 30 3 mon3 True" \
	"$(value capture "[' '.join(str(c[k]) for k in ('of', 'dir', 'filter', 'snaplen', 'sample',
		'device', 'permanent')) for c in d['captures'] if c['name'] == 'all'][0]")"

start sw tcpdump -i mon0 -p -t -A -l >"$tmp/sw.heard" 2>"$tmp/sw.listens"
eventually 10 grep -q 'listening on' "$tmp/sw.listens" || die "cannot listen on mon0"
py h1 <<'P'
send('e0', eth(BROADCAST, mac_of('e0'), 'to be seen', type=0x88b6))
send('e0', eth(BROADCAST, mac_of('e0'), 'was seen'))
P
heard sw 'was seen$'
unheard sw 'to be seen'
stop "$job"

for round in 1 2; do
	say "its device comes, and goes again ($round)"
	ip -n "${prefix}sw" link add mon1 type ifb
	eventually 15 problem_is later 'mon1 is down' || die "problems: $(problem later)"
	ip -n "${prefix}sw" link set mon1 up
	eventually 15 captures_are 3 || die "it does not start: $(problem later)"
	equal "problems" "[]" "$(problem later)"
	ip -n "${prefix}sw" link del mon1
	eventually 15 captures_are 2 || die "it does not end"
	problem_is later . || die "no problem"
done
expect "ping" pings h1 10.0.0.2
finish
