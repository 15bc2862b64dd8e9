#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every way out of culvert capture: ^C, SIGTERM, SIGHUP, a terminal that is closed, a broken pipe, a
# reader that stalls, SIGKILL, and the daemon's death. Nothing is left of it: no capture, no thread
# of the daemon, no tcpdump, no device of ours; a device that was there stays as it was.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2      mon0: an ifb device beside it, for kernels
#                                                        without dummy
. "$(dirname "$0")/lib.sh"

need tcpdump
host h1 10.0.0.1/24
host h2 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks: {blue: {}}
Y
expect "ping" pings h1 10.0.0.2
if ip -n "${prefix}sw" link add dummy7 type dummy 2>/dev/null; then
	ip -n "${prefix}sw" link del dummy7
	port=(h1)
	made=1
else
	ip -n "${prefix}sw" link add mon0 type ifb 2>/dev/null || skip "needs dummy or ifb"
	ip -n "${prefix}sw" link set mon0 up
	port=(h1 --device mon0)
	made=
fi
export command="$build/culvert" sock="$tmp/sock"

devices() { ip -n "${prefix}sw" -o -d link show | sed 's/ qlen [0-9]*//'; }
threads() { ls "/proc/$culvertd_pid/task" | wc -l; }
tcpdumps()
{
	local pid n=0
	for pid in $(ip netns pids "${prefix}sw"); do
		[ "$(cat "/proc/$pid/comm" 2>/dev/null)" != tcpdump ] || n=$((n + 1))
	done
	echo $n
}
devices_before=$(devices)
threads_before=$(threads)

running() { [ "$(value capture "sum(not c['paused'] for c in d['captures'])")" = "$1" ]; }
runs() { eventually 10 running "$1" || die "not $1 captures run: $(culvert -j capture)"; }
clean()
{
	[ "$(value capture "d['captures']")" = "[]" ] && [ "$(devices)" = "$devices_before" ] &&
		[ "$(threads)" = "$threads_before" ] && [ "$(tcpdumps)" = 0 ]
}
# begin ARGUMENT...: with frames on their way; its own process id is in $job.
begin()
{
	start sw "$command" -s "$sock" capture "${port[@]}" "$@" >"$tmp/out" 2>"$tmp/err"
	runs 1
	expect "ping" pings h1 10.0.0.2
}
# ends STATUS [PATTERN]: it does, and nothing is left at once; its last line matches.
totals='^culvert capture: [1-9][0-9]* captured, 0 missed$'
ends()
{
	local status=0
	wait "$job" || status=$?
	equal "exit status" "$1" $status
	expect "nothing is left" clean
	tail -n 1 "$tmp/err" | grep -qE "${2:-$totals}" ||
		die "last line: $(tail -n 1 "$tmp/err")"
}

for signal in INT TERM HUP; do
	say "SIG$signal"
	begin
	kill -$signal "$job"
	ends 0
	begin -- -n -w "$tmp/frames"
	equal "tcpdumps" 1 "$(tcpdumps)"
	kill -$signal "$job"
	ends 0
done

say "SIGHUP under nohup"
(
	trap '' HUP
	exec ip netns exec "${prefix}sw" "$command" -s "$sock" capture "${port[@]}"
) >"$tmp/out" 2>"$tmp/err" &
job=$!
runs 1
kill -HUP "$job"
expect "ping" pings h1 10.0.0.2
expect "it goes on" running 1
kill -TERM "$job"
ends 0

# terminal ^C|close ARGUMENT...: what a terminal does to those that are in its foreground.
terminal()
{
	at sw "$python" - "${port[@]}" "$@" <<'P' || die "on a terminal: $*"
import os, pty, sys, time
way = sys.argv.pop()
pid, terminal = pty.fork()
if pid == 0:
    os.execv(os.environ["command"],
             ["culvert", "-s", os.environ["sock"], "capture"] + sys.argv[1:])
said = b""
while b"mirrored" not in said and b"listening on" not in said:
    said += os.read(terminal, 4096)
if way == "^C":
    os.write(terminal, b"\x03")
    try:
        while True:
            said += os.read(terminal, 4096)
    except OSError:
        pass
    assert b" captured, " in said.splitlines()[-1], said
else:
    os.close(terminal)
status = os.waitpid(pid, 0)[1]
assert os.WIFEXITED(status) and (os.WEXITSTATUS(status) == 0 or way == "close"), (status, said)
P
	expect "nothing is left" clean
}
say "a terminal: ^C, and its end"
terminal ^C
terminal -- -n ^C
terminal close
terminal -- -n close

say "a broken pipe"
start sw "$command" -s "$sock" capture "${port[@]}" 2>"$tmp/err" > >(head -n 1 >"$tmp/out")
ends 0 "^culvert capture: 0 captured"
start sw "$command" -s "$sock" capture "${port[@]}" -- -n -l 2>"$tmp/err" > >(head -n 1 >"$tmp/out")
runs 1
until ! kill -0 "$job" 2>/dev/null; do
	pings h1 10.0.0.2
done
wait "$job" || true
expect "nothing is left" clean
grep -q 'culvert capture: [1-9][0-9]* captured' "$tmp/err" || die "no totals: $(cat "$tmp/err")"
start sw "$command" -s "$sock" capture h1 -w - 2>"$tmp/err" > >(head -c 1 >/dev/null)
ends 0 "^culvert capture: 0 captured"

say "a reader that stalls: SIGTERM ends it all the same"
mkfifo "$tmp/pipe"
sleep 1000 <>"$tmp/pipe" &
reader=$!
start sw "$command" -s "$sock" capture h1 -w - >"$tmp/pipe" 2>"$tmp/err"
runs 1
until [ "$(value capture "d['captures'][0]['captured']")" -gt 200 ]; do
	at h1 ping -q -i 0.002 -c 100 -s 1000 10.0.0.2 >/dev/null
done
kill -TERM "$job"
ends 1 "^culvert capture: [0-9]* captured"
grep -q 'standard output: nobody reads it' "$tmp/err" || die "not said: $(cat "$tmp/err")"
stop "$reader"

say "SIGKILL"
begin
kill -KILL "$job"
wait "$job" || true
expect "nothing is left" eventually 10 clean
begin -- -n
kill -KILL "$job"
wait "$job" || true
# On a device that stays, a tcpdump may: Debian's changes its user, and forgets its parent by that.
[ -n "$made" ] || for pid in $(ip netns pids "${prefix}sw"); do
	[ "$(cat "/proc/$pid/comm")" != tcpdump ] || kill "$pid"
done
expect "nothing is left" eventually 10 clean
start sw "$command" -s "$sock" capture h1 -w "$tmp/frames" 2>"$tmp/err"
runs 1
kill -KILL "$job"
wait "$job" || true
expect "nothing is left" eventually 10 clean

say "SIGKILL of tcpdump"
begin -- -n
for pid in $(ip netns pids "${prefix}sw"); do
	[ "$(cat "/proc/$pid/comm")" != tcpdump ] || kill -KILL "$pid"
done
ends 137

say "the daemon's end: one line each, and tcpdump ends, too"
for kind in hold file child; do
	case $kind in
	hold) words=("${port[@]}") ;;
	file) words=(h1 -w "$tmp/frames") ;;
	child) words=("${port[@]}" -- -n) ;;
	esac
	start sw "$command" -s "$sock" capture "${words[@]}" >/dev/null 2>"$tmp/$kind"
	jobs+=("$job")
done
runs 3
books
stop_culvert
for job in "${jobs[@]}"; do
	status=0
	wait "$job" || status=$?
	equal "exit status without a daemon" 1 $status
done
for kind in hold file child; do
	equal "complaints" 1 "$(grep -c '^culvert capture: .*culvertd' "$tmp/$kind")"
done
equal "tcpdumps" 0 "$(tcpdumps)"
equal "devices" "$(sed 's/ prog.xdp.*//' <<<"$devices_before" | grep -o '^[0-9]*: [^:]*')" \
	"$(devices | grep -o '^[0-9]*: [^:]*')"
say "passed"
