#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# culvert capture: tcpdump as a child, a device to hold, a pcapng file and a pipe, the list; what
# each prints, its exit status, and what is wrong usage. Exactly what was sent is seen and counted.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2      mon0, mon1: ifb devices beside it
#                       \
#                        fabric ---- 192.0.2.2 (nobody)
. "$(dirname "$0")/lib.sh"

need tcpdump tshark
ip -n "${prefix}sw" link add mon0 mtu 500 type ifb 2>/dev/null || skip "needs ifb"
ip -n "${prefix}sw" link add mon1 type ifb
ip -n "${prefix}sw" link set mon0 up
ip -n "${prefix}sw" link set mon1 up
host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
captures:
  always: {of: [h2, "tunnel:192.0.2.2"], device: mon1, filter: ether proto 0x1234 and greater 100}
Y
expect "ping" pings h1 10.0.0.2

# Beside the permanent one, N of clients' run, and are not paused.
running() { [ "$(value capture "sum(not c['paused'] for c in d['captures']) - 1")" = "$1" ]; }
runs() { eventually 10 running "$1" || die "not $1 captures run: $(culvert -j capture)"; }
none_left() { running 0 && [ "$(value capture "len(d['captures'])")" = 1 ]; }

# capture ARGUMENT...: where the daemon's devices are, into $tmp/out and $tmp/err.
capture() { at sw "$build/culvert" -s "$tmp/sock" capture "$@" >"$tmp/out" 2>"$tmp/err"; }
# begin ARGUMENT...: the same in the background, with its own process id in $job.
begin()
{
	start sw "$build/culvert" -s "$tmp/sock" "$@" >"$tmp/out" 2>"$tmp/err"
	runs 1
}
# ends STATUS TOTALS: it does, and that is its last line.
ends()
{
	local status=0
	wait "$job" || status=$?
	equal "exit status" "$1" $status
	equal "last line" "culvert capture: $2" "$(tail -n 1 "$tmp/err")"
	expect "nothing is left" none_left
}
# frames N: from h1 to h2, of a type that nobody else sends.
frames()
{
	py h1 <<-P
		send("e0", *[eth("02:00:00:00:00:02", mac_of("e0"), "number %03d" % i + " " * 600)
		             for i in range($1)])
	P
}
ours=(--filter 'ether proto 0x88b5')

say "tcpdump as a child: it ends by itself"
begin capture h1 --device mon0 --dir in "${ours[@]}" --snaplen=300 -- -n -A -t -c 5
frames 5
ends 0 "5 captured, 0 missed"
equal "frames" "number 000 number 001 number 002 number 003 number 004" \
	"$(grep -o 'number [0-9]*' "$tmp/out" | xargs)"

say "both directions, and longer than the device takes"
begin --json capture "${ours[@]}" h1,h2 --device mon0 -- -n -t -c 8
frames 4
wait "$job" || die "culvert -j capture: $(cat "$tmp/err")"
equal "counts" "8 8 0 8" "$(tail -n 1 "$tmp/err" | "$python" "$here/pick.py" \
	"' '.join(str(d[k]) for k in ('matched', 'captured', 'missed', 'cut'))")"
begin capture h1 --device mon0 "${ours[@]}" -- -n -t -c 2
frames 1
frames 1
ends 0 "2 captured, 0 missed, 2 cut to the MTU of mon0"

say "it is tcpdump that ends, and its status"
status=0
capture h1 --device mon0 -- --nosuch || status=$?
equal "status" 1 $status
grep -q "^tcpdump: unrecognized option '--nosuch'" "$tmp/err" || die "$(cat "$tmp/err")"
expect "nothing is left" none_left
status=0
at sw env PATH=/nowhere "$build/culvert" -s "$tmp/sock" capture h1 --device mon0 -- -n \
	2>"$tmp/err" || status=$?
equal "status without tcpdump" 1 $status
equal "without tcpdump" \
	"culvert capture: tcpdump is not installed: apt install tcpdump, or write a file with -w" \
	"$(cat "$tmp/err")"
expect "nothing is left" none_left
status=0
culvert capture h1 --device mon0 -- -n 2>"$tmp/err" || status=$?
equal "status in another namespace" 1 $status
grep -q 'not in this network namespace' "$tmp/err" || die "elsewhere: $(cat "$tmp/err")"

say "a device to hold"
begin capture network:blue --device mon0 "${ours[@]}" --snaplen 300
equal "standard output" mon0 "$(cat "$tmp/out")"
equal "standard error" "culvert capture: network:blue is mirrored to mon0 until ^C" \
	"$(cat "$tmp/err")"
sniff sw mon0
frames 3
heard sw 'ethertype Unknown (0x88b5), length 300'
kill -INT "$job"
ends 0 "3 captured, 0 missed"

say "one in ten"
begin -j capture h1 --dir in --device mon0 "${ours[@]}" --sample 10
frames 50
kill -TERM "$job"
wait "$job" || die "culvert -j capture: $(cat "$tmp/err")"
equal "objects" "mon0 50 5 0" "$("$python" "$here/pick.py" --lines \
	"' '.join([d[0]['device']] + [str(d[1][k]) for k in ('matched', 'captured', 'missed')])" \
	<"$tmp/out")"
begin capture h1 --dir in --device mon0 "${ours[@]}" --sample 10
frames 50
kill -TERM "$job"
ends 0 "5 captured, 0 missed, of 50 that matched"

say "a file: whole, and in place of what was in it"
head -c 1000000 /dev/zero >"$tmp/file"
begin capture h1 "${ours[@]}" --dir in -w "$tmp/file"
frames 300
kill -INT "$job"
ends 0 "300 captured, 0 missed"
tshark -r "$tmp/file" -T fields -e frame.interface_name -e frame.len 2>"$tmp/err" |
	sort | uniq -c >"$tmp/out" || die "tshark: $(cat "$tmp/err")"
equal "frames" "300 h1 624" "$(xargs <"$tmp/out")"

say "a pipe: exactly the frames, and its reader may go"
begin capture h1 "${ours[@]}" --dir in -w - 
frames 20
kill -HUP "$job"
ends 0 "20 captured, 0 missed"
equal "frames" 20 "$(tshark -r "$tmp/out" 2>/dev/null | wc -l)"
