#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every form of `culvert flow`, every way in which it refuses, and what people see of it elsewhere.
#
#   h1 ---- |                          |
#   h2 ---- | culvert: blue, VNI 10    | ul0 ---- fabric ---- r1 192.0.2.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y

# does STATUS OUTPUT ARGUMENT...: `culvert flow ARGUMENT...` ends and says so, standard input is
# passed on.
does()
{
	local wanted=$1 output=$2 status=0
	shift 2
	culvert flow "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	equal "status of culvert flow $* ($(head -c 300 "$tmp/err"))" "$wanted" $status
	equal "culvert flow $*" "$output" "$(cat "$tmp/out")"
}

# refuses STATUS PATTERN ARGUMENT...: it says nothing on stdout, and this on stderr.
refuses()
{
	local wanted=$1 pattern=$2
	shift 2
	does "$wanted" "" "$@"
	grep -qE -- "$pattern" "$tmp/err" ||
		die "culvert flow $*: no '$pattern' in: $(cat "$tmp/err")"
}

# lines N: so many were on stderr.
lines() { equal "lines of $(cat "$tmp/err")" "$1" "$(wc -l <"$tmp/err")"; }

# rules [ARGUMENT...]: a dump without what changes by itself, sorted.
rules()
{
	culvert flow dump "$@" | grep actions= |
		sed -E 's/^ cookie=[^ ]* //; s/(duration|n_packets|n_bytes|idle_age)=[^ ]* //g;
			s/^table=0, //' | sort
}

say "one rule"
does 0 0 count
does 0 "" dump
does 0 "" add 'priority=10,in_port=h1,ip,nw_dst=10.0.0.0/8 actions=drop'
equal "by number" "priority=10,ip,in_port=1,nw_dst=10.0.0.0/8 actions=drop" "$(rules)"
equal "by name" "priority=10,ip,in_port=h1,nw_dst=10.0.0.0/8 actions=drop" "$(rules --names)"
equal "no names" "$(rules)" "$(rules --no-names)"
"$python" -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
	"$build/culvert" -s "$tmp/sock" flow dump </dev/null >"$tmp/out"
grep -q 'in_port=h1,' "$tmp/out" || die "no names on a terminal: $(cat "$tmp/out")"
culvert -j flow dump >"$tmp/out"
equal "objects" 1 "$("$python" -m json.tool --json-lines <"$tmp/out" | grep -c '^{')"
does 0 "" add priority=10,in_port=h1,ip,nw_dst=10.0.0.0/8 actions=output:h2
equal "without quotes, other actions" \
	"priority=10,ip,in_port=h1,nw_dst=10.0.0.0/8 actions=output:h2" "$(rules --names)"
equal "status" "flows 1" "$(culvert status | grep -o 'flows .*')"
equal "as JSON" "1 0" "$(culvert -j flow add priority=5,arp actions=normal |
	"$python" "$here/pick.py" "'%d %d' % (d['added'], d['replaced'])")"
does 0 2 count
does 0 1 count arp
does 0 1 count in_port=h1
does 0 0 count in_port=h2
equal "as JSON" "{\"count\":2,\"packets\":0,\"bytes\":0}" "$(culvert -j flow count)"

say "del"
refuses 2 "flow del all" del
lines 1
refuses 2 "flow del all" del ''
refuses 2 strict del all --strict
does 0 2 count
does 0 "removed 0" del udp
does 0 "removed 0" del --strict arp
does 0 "removed 1" del priority=5,arp --strict
does 0 "" add priority=7,ip,nw_dst=10.1.0.0/16 actions=drop
does 0 "removed 2" del ip,nw_dst=10.0.0.0/8
does 0 "" add priority=7,ip actions=drop
equal "as JSON" '{"removed":1}' "$(culvert -j flow del all)"
does 0 "" add cookie=0x17,priority=7,ip actions=drop
does 0 "" add cookie=0x18,priority=8,ip actions=drop
does 0 "removed 1" del cookie=0x17/-1
does 0 "removed 1" del all

say "files"
cat >"$tmp/rules" <<'R'
# a comment
priority=1,ip actions=normal

priority=2,tcp,tp_dst=80 actions=output:h2	# behind a rule
priority=3,udp actions=drop
R
does 0 "added 3, kept 0, removed 0" replace "$tmp/rules"
does 0 "added 0, kept 3, removed 0" replace "$tmp/rules"
does 0 "added 1, kept 2, removed 1" replace - < <(sed 's/=3,udp/=4,udp/' "$tmp/rules")
equal "as JSON" "1 2 1 0" "$(culvert -j flow replace "$tmp/rules" | "$python" "$here/pick.py" \
	"'%d %d %d %d' % (d['added'], d['kept'], d['removed'], d['repeated'])")"
does 0 "added 1, kept 2, removed 1, 1 line repeated an earlier rule" replace - < <(
	sed 's/=3,udp/=4,udp/' "$tmp/rules"
	echo priority=4,udp actions=drop)
culvert flow dump >"$tmp/dumped"
does 0 "added 0, kept 3, removed 0" replace "$tmp/dumped"
culvert flow dump --names >"$tmp/dumped"
does 0 "added 0, kept 3, removed 0" replace "$tmp/dumped"
does 0 "added 1" add - <<<"priority=9,arp actions=drop"
does 0 "added 2, 1 in place of one with the same match and priority" add - <<R
priority=9,arp actions=normal
priority=10,arp actions=drop
R
does 0 5 count
does 0 "added 0, kept 0, removed 5" replace /dev/null
does 0 "added 1, kept 0, removed 0" replace - < <(printf 'priority=9,arp actions=drop')

say "a rule that is wrong"
refuses 1 'frobnicate' add 'priority=10,frobnicate=1 actions=drop'
equal "the mark" "  priority=10,frobnicate=1 actions=drop
              ^" "$(tail -n 2 "$tmp/err")"
lines 3
refuses 1 . add "priority=10,$(printf 'tcp,tp_dst=80,%.0s' {1..40})frobnicate=1 actions=drop"
! grep -nE '^  .{80}' "$tmp/err" || die "wider than a terminal: $(cat "$tmp/err")"
refuses 1 . add 'ip actions=output:nosuch'
refuses 1 . add 'ip'
refuses 1 tcp add 'tp_dst=80 actions=drop'
refuses 1 UTF-8 add $'ip,in_port=\xff actions=drop'
refuses 1 . dump frobnicate=1
lines 3
refuses 1 . count frobnicate
refuses 1 . del frobnicate
refuses 1 . del priority=3
does 0 1 count

awk 'BEGIN {
	for (i = 0; i < 100000; i++)
		printf "priority=5,ip,nw_src=10.%d.%d.%d actions=drop\n",
			i / 65536, i / 256 % 256, i % 256
}' >"$tmp/many"

say "a file that is wrong"
{
	cat "$tmp/rules"
	echo 'priority=5,frobnicate=1 actions=drop'
	echo 'ip actions=drop'
	printf '  ipp,actions=drop'
} >"$tmp/wrong"
refuses 1 "^$tmp/wrong:6:12: .*frobnicate" replace "$tmp/wrong"
grep -qE "^$tmp/wrong:8:3: " "$tmp/err" || die "no second error: $(cat "$tmp/err")"
grep -qi "nothing was changed" "$tmp/err" || die "changed or not: $(cat "$tmp/err")"
lines 3
refuses 1 '^<stdin>:6:12: ' add - <"$tmp/wrong"
yes 'priority=5,frobnicate=1 actions=drop' | head -n 500000 >"$tmp/wrong" || true
refuses 1 "^$tmp/wrong:20:12: " replace "$tmp/wrong"
grep -q more "$tmp/err" || die "no word of the others: $(tail -n 2 "$tmp/err")"
lines 21
head -c 3000000 /dev/urandom >"$tmp/wrong"
refuses 1 "^$tmp/wrong:1:" replace "$tmp/wrong"
# a file that is whole except for its last line
sed '$s/,ip,/,ipp,/' "$tmp/many" >"$tmp/wrong"
refuses 1 "^$tmp/wrong:100000:12: " replace "$tmp/wrong"
does 0 1 count

say "wrong usage"
for words in "" "frobnicate" "d" "add" "replace" "replace a b" "replace --strict a" \
	"add --names ip" "dump --frobnicate" "dump --names --no-names" "count --names" \
	"del --names all" "count --strict" "dump all --strict"; do
	# shellcheck disable=SC2086 # several words
	refuses 2 . $words
done
refuses 1 'no/such/file: No such file' replace no/such/file
lines 1
refuses 1 "$tmp: Is a directory" replace "$tmp"
refuses 1 "Is a directory" add - <"$tmp"
refuses 1 "Bad file descriptor" add - <&-
"$python" -c 'import pty, sys; pty.spawn(sys.argv[1:])' \
	"$build/culvert" -s "$tmp/sock" flow add - </dev/null >"$tmp/out" || true
grep -q '<stdin> is a terminal' "$tmp/out" || die "on a terminal: $(cat "$tmp/out")"

say "readers and writers that go away"
does 0 "added 100000, kept 0, removed 1" replace "$tmp/many"
equal "flows" "flows 100k" "$(culvert status | grep -o 'flows .*')"
equal "lines" 100000 "$(culvert flow dump | grep -c priority=)"
equal "objects" 100000 "$(culvert -j flow dump | grep -c '^{.*}$')"
culvert flow dump 2>"$tmp/err" | head -n 1 >/dev/null || true
equal "a pipe that ends early" "" "$(cat "$tmp/err")"
# where nobody dies of SIGPIPE
{ trap '' PIPE; culvert flow dump 2>"$tmp/err" || echo "status $?" >>"$tmp/err"; } |
	head -n 1 >/dev/null
equal "a pipe that ends early" "culvert flow: standard output: Broken pipe
status 1" "$(cat "$tmp/err")"
! culvert flow dump >/dev/full 2>"$tmp/err" || die "a full disk is no error"
equal "a full disk" "culvert flow: standard output: No space left on device" "$(cat "$tmp/err")"
mkfifo "$tmp/fifo"
start sw "$build/culvert" -s "$tmp/sock" flow replace "$tmp/fifo" 2>"$tmp/err"
exec 9>"$tmp/fifo"
head -n 50000 "$tmp/many" >&9
{ kill -KILL $job && wait $job; } 2>/dev/null || true
exec 9>&-
does 0 100000 count
does 0 "added 0, kept 100000, removed 0" replace "$tmp/many"

say "a daemon that takes its time"
kill -STOP "$culvertd_pid"
{ sleep 17; kill -CONT "$culvertd_pid"; } &
does 0 "added 0, kept 100000, removed 0" replace "$tmp/many"
wait $!

say "numbers for rules"
culvert tunnel 192.0.2.2 | grep -qx 'vtep     192.0.2.2, number [0-9]*' ||
	die "no number: $(culvert tunnel 192.0.2.2)"
number=$(tunnel 192.0.2.2 number)
does 0 "added 1, kept 0, removed 100000" replace - <<<"in_port=$number actions=drop"
equal "a tunnel by its number" 'in_port="192.0.2.2" actions=drop' "$(rules --names)"
culvert port h2 | grep -q '^device .* number 2' || die "no number: $(culvert port h2)"

say "a daemon that dies"
books
start sw "$build/culvert" -s "$tmp/sock" flow replace "$tmp/fifo" 2>"$tmp/err"
exec 9>"$tmp/fifo"
head -n 1000 "$tmp/many" >&9
stop_culvert
# the writer is silent: it is the daemon's end that the command hears of
! wait $job || die "an upload to nobody succeeded"
exec 9>&-
lines 1
grep -q 'culvertd closed the connection: see journalctl' "$tmp/err" ||
	die "a daemon that dies: $(cat "$tmp/err")"
refuses 1 'systemctl start culvertd' dump
lines 1
say "passed"
