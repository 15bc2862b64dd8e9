#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A client that is killed while it uploads rules: those before it still match, with their counters,
# and the memory comes back. The daemon killed at the same: it starts again and works.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
write_config <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
run_culvert
resident_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$culvertd_pid/status"; }
expect "ping" pings h1 10.0.0.2
rules "priority=9,icmp,nw_src=10.0.0.1 actions=normal" "priority=8,udp actions=drop"
at h1 ping -q -c 5 -i 0.2 -W 2 10.0.0.2 >/dev/null
equal "hits" 5 "$(hits icmp)"

awk 'BEGIN {
	for (i = 0; i < 500000; i++)
		printf "priority=9,icmp,nw_src=10.%d.%d.%d actions=drop\n",
			i / 65536, i / 256 % 256, i % 256
}' >"$tmp/many"
mkfifo "$tmp/fifo"

# interrupted VERB LINES: an upload of the first LINES of many rules, whose client is killed.
interrupted()
{
	"$build/culvert" -s "$tmp/sock" flow "$1" - <"$tmp/fifo" >"$tmp/out" 2>&1 &
	job=$!
	exec 9>"$tmp/fifo"
	head -n "$2" "$tmp/many" >&9
	kill -KILL $job
	exec 9>&-
	wait $job 2>/dev/null || true
}

# untouched: the two rules are all there is, and they work. Pings three times.
untouched()
{
	local before
	equal "rules" 2 "$(culvert flow count)"
	before=$(hits icmp)
	at h1 ping -q -c 3 -i 0.2 -W 2 10.0.0.2 >/dev/null || die "no ping: they do not match"
	equal "and go on counting" $((before + 3)) "$(hits icmp)"
}

# once whole, so that what the daemon keeps for itself is there
interrupted replace 500000
untouched
sleep 1
rss=$(resident_kib)
for verb in replace add; do
	for lines in 1 1000 250000 499999; do
		interrupted $verb $lines
		untouched
	done
done
equal "counters kept from the beginning" $((5 + 9 * 3)) "$(hits icmp)"
# A client that hangs up is noticed by and by, and the clean-up goes in steps. What malloc keeps is
# a fraction of what one of these uploads takes (40 MiB).
comes_back() { [ $(($(resident_kib) - rss)) -lt 16384 ]; }
[ -n "${SANITIZED:-}" ] || eventually 10 comes_back ||
	die "$(($(resident_kib) - rss)) KiB have not come back"

say "killed at any moment of a whole replace: the old ones or the new ones"
for ms in 010 050 100 200 300 400 600; do
	"$build/culvert" -s "$tmp/sock" flow replace "$tmp/many" >/dev/null 2>&1 &
	job=$!
	sleep 0.$ms
	kill -KILL $job 2>/dev/null || true
	wait $job 2>/dev/null || true
	settled() { case $(culvert flow count) in 2 | 500000) ;; *) false ;; esac; }
	expect "all or nothing" settled
	rules "priority=9,icmp,nw_src=10.0.0.1 actions=normal" "priority=8,udp actions=drop"
	expect "ping" pings h1 10.0.0.2
done
books

say "the daemon killed during a replace"
for ms in 05 20 50; do
	"$build/culvert" -s "$tmp/sock" flow replace "$tmp/many" >/dev/null 2>"$tmp/err" &
	job=$!
	sleep 0.$ms
	kill -KILL "$culvertd_pid"
	wait "$culvertd_pid" 2>/dev/null || true
	culvertd_pid=
	wait $job || true
	run_culvert
	equal "rules" 0 "$(culvert flow count)"
	expect "ping" pings h1 10.0.0.2
done
culvert flow replace "$tmp/many" >/dev/null
equal "rules" 500000 "$(culvert flow count)"
! at h1 ping -q -c 1 -W 1 10.0.0.2 >/dev/null || die "they do not match"
finish
