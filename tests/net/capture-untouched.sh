#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A capture changes nothing about the port: MTU, flags, promiscuity, queues, program, mode, and what
# passes. A device that was there is left as it was found; with the daemon, too.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2      mon0: an ifb device, down at first
. "$(dirname "$0")/lib.sh"
need tcpdump

host h1 10.0.0.1/24
host h2 10.0.0.2/24
monitor mon0
ip -n "${prefix}sw" link set mon0 mtu 1400 txqueuelen 77 alias "somebody's" down
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
expect "ping" pings h1 10.0.0.2
cd "$tmp" || exit

# state DEVICE: all that the kernel says of it but what it counted; and what culvert says.
state()
{
	ip -n "${prefix}sw" -d -j link show "$1" | "$python" -c '
import json, sys
[link] = json.load(sys.stdin)
print(json.dumps(link, indent=1, sort_keys=True))'
	ip -n "${prefix}sw" address show "$1" | grep -E 'inet|valid' || true
	at sw sysctl -a 2>/dev/null | grep -E "^net\.ipv[46]\.conf\.$1\." || true
	at sw tc qdisc show dev "$1"
	at sw ethtool -k "$1" 2>/dev/null
	at sw ethtool -l "$1" 2>/dev/null || true
}
ports() { culvert -j port | "$python" "$here/pick.py" "[[p['name'], p['state'], p['mode'],
	p['queues'], p['mtu']] for p in d['ports']]"; }
same()
{
	local device
	for device in h1 h2; do
		state $device | diff $device.before - || die "$device changed $1"
	done
	ports | diff ports.before - || die "a port changed $1"
}
for device in h1 h2 mon0; do
	state $device >$device.before
done
ports >ports.before

say "a device that is down is refused, not put up"
expect_not "a capture on it" culvert capture h1 --device mon0 -- -c 1 2>refused.says
grep -q 'ip link set mon0 up' refused.says || die "no cure in: $(cat refused.says)"
state mon0 | diff mon0.before - || die "mon0 changed"
ip -n "${prefix}sw" link set mon0 up
state mon0 >mon0.before

say "tcpdump on it, pcapng beside it"
capture dump h1,h2 --device mon0 -- -U -w -
dump=$job
capture file h1,network:blue -w file.pcapng
file=$job
capturing 2
same "when a capture begins"
expect "ping" pings h1 10.0.0.2
transfers h1 h2 10.0.0.2 tcp 300000
same "with frames in it"
stop "$dump" "$file"
grep -q 'captured, 0 missed, [0-9]* cut to the MTU of mon0' dump.says ||
	die "nothing cut: $(cat dump.says)"
captures_are 0 || die "captures run still"
same "when a capture ends"
state mon0 | diff mon0.before - || die "mon0 was not left as it was"

say "it ends with the daemon"
capture dump h1 --device mon0 -- -U -w -
dump=$job
capturing 1
expect "ping" pings h1 10.0.0.2
books
stop_culvert
wait "$dump" || true
state mon0 | diff mon0.before - || die "mon0 was not left as it was"
say "passed"
