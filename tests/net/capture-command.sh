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
# matched N: the capture has seen as many of them.
matched() { [ "$(value capture "sum(c['matched'] for c in d['captures'])")" = "$1" ]; }
saw() { eventually 10 matched "$1" || die "not $1 frames: $(culvert -j capture)"; }
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
holder=$job
start sw tcpdump -i mon0 -p -t -n -e -l >"$tmp/sw.heard" 2>"$tmp/sw.listens"
eventually 10 grep -q 'listening on' "$tmp/sw.listens" || die "cannot listen on mon0"
frames 3
heard sw '0x88b5\), length 300'
stop "$job"
job=$holder
kill -INT "$job"
ends 0 "3 captured, 0 missed"

say "one in ten"
begin -j capture h1 --dir in --device mon0 "${ours[@]}" --sample 10
frames 50
saw 50
kill -TERM "$job"
wait "$job" || die "culvert -j capture: $(cat "$tmp/err")"
equal "objects" "mon0 50 5 0" "$("$python" "$here/pick.py" --lines \
	"' '.join([d[0]['device']] + [str(d[1][k]) for k in ('matched', 'captured', 'missed')])" \
	<"$tmp/out")"
begin capture h1 --dir in --device mon0 "${ours[@]}" --sample 10 --snaplen 300
frames 50
saw 50
kill -TERM "$job"
ends 0 "5 captured, 0 missed, of 50 that matched"

say "a file: whole, and in place of what was in it"
head -c 1000000 /dev/zero >"$tmp/file"
begin capture h1 "${ours[@]}" --dir in -w "$tmp/file"
frames 300
saw 300
kill -INT "$job"
ends 0 "300 captured, 0 missed"
tshark -r "$tmp/file" -T fields -e frame.interface_name -e frame.len 2>"$tmp/err" |
	sort | uniq -c >"$tmp/out" || die "tshark: $(cat "$tmp/err")"
equal "frames" "300 h1 624" "$(xargs <"$tmp/out")"

say "a pipe: exactly the frames, and its reader may go"
begin capture h1 "${ours[@]}" --dir in -w -
frames 20
saw 20
kill -HUP "$job"
ends 0 "20 captured, 0 missed"
equal "frames" 20 "$(tshark -r "$tmp/out" 2>/dev/null | wc -l)"
start sw "$build/culvert" -s "$tmp/sock" capture h1 "${ours[@]}" --dir in -w - \
	2>"$tmp/err" > >(head -c 10 >"$tmp/out")
ends 0 "0 captured, 0 missed"
equal "bytes" 10 "$(stat -c %s "$tmp/out")"

say "no room in a file"
status=0
capture h1 -w /dev/full || status=$?
equal "status" 1 $status
equal "lines" "culvert capture: /dev/full: No space left on device" "$(head -n 1 "$tmp/err")"
expect "nothing is left" none_left

say "standard output is closed: nothing else takes its place"
for arguments in "-w -" "--device mon0"; do
	status=0
	at sw sh -c "exec timeout 20 $build/culvert -s $tmp/sock capture h1 $arguments >&-" \
		2>"$tmp/err" || status=$?
	equal "status of $arguments" 1 $status
	grep -q "standard output: Bad file descriptor" "$tmp/err" || die "$(cat "$tmp/err")"
	expect "nothing is left" none_left
done
start sw sh -c "exec $build/culvert -s $tmp/sock capture h1 -w $tmp/file \
	--filter 'ether proto 0x88b5' <&- >&- 2>&-"
runs 1
frames 3
saw 3
kill -INT "$job"
wait "$job" || die "without the three: status $?"
equal "frames" 3 "$(tshark -r "$tmp/file" 2>/dev/null | wc -l)"

say "not to a terminal"
at sw "$python" - "$build/culvert" "$tmp/sock" <<'P' || die "-w - wrote to a terminal"
import os, pty, sys
pid, terminal = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], ["culvert", "-s", sys.argv[2], "capture", "h1", "-w", "-"])
said = ""
while "\n" not in said:
    said += os.read(terminal, 4096).decode()
assert "is a terminal: pipe it into" in said and said.count("\n") == 1, said
assert os.waitpid(pid, 0)[1] >> 8 == 1
P

say "the list"
begin capture h1,network:blue,192.0.2.2 --device mon0 --dir in \
	--filter 'tcp port 179 and host 10.0.0.1 and not vlan and not ip6 and greater 100'
culvert capture >"$tmp/out"
"$python" - "$tmp/out" <<'P' || die "$(cat "$tmp/out")"
import re, sys
head, *rows, mark = open(sys.argv[1]).read().splitlines()
assert re.fullmatch("NAME +DEVICE +OF +DIR +CAPTURED +MISSED FILTER", head), head
for row, pattern in zip(rows, (
        r"always\* +mon1 +h2,tunnel:192\S*\.\.\. both +0 +0 ether proto",
        r"h1,network\S*\.\.\. mon0 +h1,network\S*\.\.\. in +0 +0 tcp port")):
    assert re.match(pattern, row), row
assert len(rows) == 2 and max(map(len, rows)) == 80 and all(r.endswith("...") for r in rows), rows
assert mark.startswith("*: permanent"), mark
P
culvert status | grep -qE '^captures 2   since start: captured [0-9.k]+, missed 0$' ||
	die "status: $(culvert status)"
kill -HUP "$job"
ends 0 "0 captured, 0 missed"

# wrong STATUS PATTERN ARGUMENT...: said in one sentence, perhaps with the usage behind it.
wrong()
{
	local wanted=$1 pattern=$2 status=0
	shift 2
	capture "$@" || status=$?
	equal "status of culvert capture $*" "$wanted" $status
	grep -qE "^culvert capture: $pattern|^usage: $pattern" "$tmp/err" ||
		die "culvert capture $*: no $pattern in: $(cat "$tmp/err")"
	[ ! -s "$tmp/out" ] || die "culvert capture $*: $(cat "$tmp/out")"
}
say "what is wrong"
wrong 1 "'h7' is no port" h7
wrong 1 "there is no device 'nosuch'" h1 --device nosuch
wrong 1 "inner: h1 is no underlay device" h1 --inner --device mon0
wrong 1 "--filter: .*syntax error" h1 --filter 'tcp prot 80'
wrong 1 "--filter: .*use the capture's direction" h1 --filter=inbound
wrong 1 "$tmp/no/file: No such file" h1 -w "$tmp/no/file"
wrong 2 "no option '--direction' .*behind --" h1 --direction in
wrong 2 "no option '--snap'" h1 --snap 100
wrong 2 "no option '-c'" h1 -c 5
wrong 2 "--dir takes in, out or both, not 'input'" h1 --dir input
for number in 0 -1 65536 1k '' 0x10 99999999999999999999; do
	wrong 2 "--snaplen takes a number from 1 to 65535" h1 --snaplen "$number"
done
wrong 2 "--sample takes a number from 1" h1 --sample 4294967296
wrong 2 "--drops takes no value" h1 --drops=yes
wrong 2 "-w needs no device.*tcpdump" h1 -w - -- -n
wrong 2 "-w needs no device.*--device" h1 -w - --device mon0
wrong 2 "culvert capture" h1 --filter
wrong 2 "culvert capture" --dir in
wrong 2 "culvert capture" -- -n
wrong 2 "culvert capture" h1,
wrong 2 "culvert capture" ""
expect "nothing is left" none_left
finish
