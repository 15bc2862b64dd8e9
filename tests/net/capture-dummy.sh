#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# culvert capture with a dummy device of its own: tcpdump sees what was sent and nothing else; the
# device is quiet, and gone after every end that the client and the daemon may come to. Only that
# device: one of somebody else stays.
#
#   srv1 ---- culvert: blue ---- srv2       cap-srv1, made by culvert; cap-x, somebody else's
. "$(dirname "$0")/lib.sh"
need tcpdump

ip -n "${prefix}sw" link add cap-x type dummy 2>/dev/null ||
	skip "this kernel has no dummy driver: tests/vm/run capture-dummy"
host srv1 10.0.0.1/24
host srv2 10.0.0.2/24
start_culvert <<'Y'
ports:
  srv1: {untagged: blue}
  srv2: {untagged: blue}
networks:
  blue:
Y
expect "ping" pings srv1 10.0.0.2

# capture WORD...: culvert capture in the background, ^C not ignored, as from a terminal. $tmp/out
# and $tmp/err have what it says; its process is $job.
capture()
{
	rm -f "$tmp/out" "$tmp/err"
	set -m
	start sw "$build/culvert" -s "$tmp/sock" capture "$@" >"$tmp/out" 2>"$tmp/err"
	set +m
}

listens() { grep -q 'listening on' "$tmp/err"; }
listened() { eventually 10 listens || die "tcpdump does not listen: $(cat "$tmp/err")"; }
holds() { grep -qx "$1" "$tmp/out"; }
held() { eventually 10 holds "$1" || die "culvert capture does not hold $1: $(cat "$tmp/err")"; }
there() { at sw test -e "/sys/class/net/$1"; }
not_there() { ! there "$1"; }
gone() { not_there "$1" && culvert -j capture | grep -q '\[\]'; }

# ends WHY: the capture's device goes, and the client.
ends()
{
	expect "no device after $1" eventually 5 gone cap-srv1
	expect "no client after $1" eventually 5 ended
	expect "somebody else's device after $1" there cap-x
}
ended() { ! kill -0 $job 2>/dev/null; }

# sends N: so many frames from srv1, number 000 and so on.
sends()
{
	py srv1 <<P
send("e0", *[eth("02:00:00:00:00:02", mac_of("e0"), "number %03d" % i) for i in range($1)])
P
}

# port_device: what there is to see of the captured port.
port_device() { ip -n "${prefix}sw" -d -o link show srv1 | sed 's/ state .* link/ link/'; }

before=$(port_device)
say "what was sent"
capture srv1 --filter 'ether proto 0x88b5' -- -c 5 -e -A -t -l
listened
expect "the port is not touched" [ "$before" = "$(port_device)" ]
sends 5
ends "tcpdump -c"
wait $job || die "status $? of culvert capture"
equal "frames that tcpdump saw" "000 001 002 003 004" \
	"$(grep -oE 'number [0-9]+' "$tmp/out" | awk '{print $2}' | paste -s -d ' ')"
equal "all frames that tcpdump saw" 5 "$(grep -c 'ethertype' "$tmp/out")"
grep -q '5 captured, 0 missed' "$tmp/err" || die "not said: 5 captured: $(cat "$tmp/err")"

say "a quiet device"
capture srv1 --filter 'ether proto 0x88b5'
held cap-srv1
ip -n "${prefix}sw" -d -o link show cap-srv1 >"$tmp/link"
grep -qE 'NOARP.* mtu 65535 .* dummy' "$tmp/link" || die "the device: $(cat "$tmp/link")"
! grep -q MULTICAST "$tmp/link" || die "multicast is on: $(cat "$tmp/link")"
equal "its addresses" "" "$(ip -n "${prefix}sw" -o address show dev cap-srv1)"
if [ -d /proc/sys/net/ipv6 ]; then
	equal "IPv6 is off" 1 "$(at sw cat /proc/sys/net/ipv6/conf/cap-srv1/disable_ipv6)"
fi
sent() { at sw cat /sys/class/net/cap-srv1/statistics/tx_packets; }
sent_are() { [ "$(sent)" = "$1" ]; }
equal "frames before any" 0 "$(sent)"
py sw <<'P'
try:
    send("cap-srv1", eth(BROADCAST, "02:00:00:00:00:99", "not ours"))
except OSError:
    pass	# it may well be refused
P
sends 3
expect "those of the capture, and no other" eventually 5 sent_are 3
kill -INT $job
ends "^C"
grep -q '3 captured, 0 missed' "$tmp/err" || die "not said: 3 captured: $(cat "$tmp/err")"

for signal in INT TERM HUP KILL; do
	say "SIG$signal: a device to hold; tcpdump"
	capture srv1
	held cap-srv1
	kill -$signal $job
	ends "SIG$signal"
	capture srv1 -- -n -l
	listened
	kill -$signal $job
	ends "SIG$signal with tcpdump"
done

say "a broken pipe: of tcpdump, of a device to hold"
at sw "$build/culvert" -s "$tmp/sock" capture srv1 -- -n -l 2>"$tmp/err" | head -n 1 >"$tmp/out" &
job=$!
listened
sends_in_vain() { sends 2 && gone cap-srv1; }
expect "no device" eventually 10 sends_in_vain
ends "a broken pipe"
at sw "$build/culvert" -s "$tmp/sock" capture srv1 2>"$tmp/err" | head -n 1 >"$tmp/out" &
job=$!
ends "a broken pipe"
equal "the device that was held" cap-srv1 "$(cat "$tmp/out")"

say "SIGTERM of the daemon"
capture srv1 -- -n -l
listened
stop_culvert
expect "no device" eventually 5 not_there cap-srv1
expect "no client, either" eventually 5 ended

kill_culvert()
{
	kill -KILL "$culvertd_pid"
	wait "$culvertd_pid" 2>/dev/null || true
	culvertd_pid=
}

say "SIGKILL of the daemon: what is left goes with the next start, or with --cleanup"
for way in start --cleanup; do
	run_culvert
	capture srv1
	held cap-srv1
	kill_culvert
	expect "no client, either" eventually 5 ended
	expect "nobody has removed it" there cap-srv1
	if [ $way = start ]; then
		run_culvert
		expect "no device" not_there cap-srv1
		stop_culvert
	else
		expect "cleanup" at sw "$build/culvertd" -c "$tmp/culvert.yaml" --cleanup
		expect "no device" not_there cap-srv1
	fi
	expect "somebody else's device" there cap-x
done

say "... unless it is somebody else's by now"
run_culvert
capture srv1
held cap-srv1
kill_culvert
ip -n "${prefix}sw" link del cap-srv1
ip -n "${prefix}sw" link add cap-srv1 type dummy
run_culvert
expect "it is still there" there cap-srv1
capture srv1
expect "another name" eventually 5 holds cap-srv1-2
kill -INT $job
expect "no device" eventually 5 gone cap-srv1-2
expect "it is still there" there cap-srv1
finish
