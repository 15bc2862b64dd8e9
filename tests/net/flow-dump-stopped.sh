#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Dumps whose readers are slow, stopped or killed: they cost the daemon next to nothing, other
# commands answer, packets pass. 50 at once, while other rules come and go: each has every rule that
# stays exactly once.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y

# many N FIRST: UDP rules, all different
many()
{
	awk -v n="$1" -v first="${2:-0}" 'BEGIN {
		for (i = first; i < first + n; i++)
			printf "udp,nw_src=10.%d.%d.%d,tp_dst=%d actions=drop\n",
				i / 65536, i / 256 % 256, i % 256, i % 100
	}'
}
addresses_of() { grep -o 'nw_src=[0-9.]*' "$1" | sort; }
resident_kib() { awk '/^VmRSS/ { print $2 }' "/proc/$culvertd_pid/status"; }
descriptors() { find "/proc/$culvertd_pid/fd" | wc -l; }

# grown WHAT BEFORE KIB: not by more than so much, if memory tells anything.
grown()
{
	local kib=$(($(resident_kib) - $2))
	say "$1: $kib KiB more"
	[ -n "${SANITIZED:-}" ] || [ $kib -lt "$3" ] || die "$1: $kib KiB more, at most $3"
}

# quick WHAT: commands answer as they did at first, or nearly so (most of it is the program's own
# start), and packets pass.
quick()
{
	local begin=${EPOCHREALTIME/./} ms
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		culvert log >/dev/null
	done
	ms=$(((${EPOCHREALTIME/./} - begin) / 10000))
	say "$1: a command takes $ms ms"
	quiet_ms=${quiet_ms:-$ms}
	[ -n "${SANITIZED:-}" ] || [ $ms -lt $((3 * quiet_ms + 200 * slow)) ] ||
		die "$1: a command takes $ms ms"
	expect "$1: ping" pings h1 10.0.0.2
}

many 200000 >"$tmp/rules"
culvert flow replace "$tmp/rules" >/dev/null
addresses_of "$tmp/rules" >"$tmp/wanted"
expect "ping" pings h1 10.0.0.2
for _ in 1 2 3; do
	culvert flow dump >"$tmp/dump"
done
addresses_of "$tmp/dump" | cmp - "$tmp/wanted" || die "a dump is not what was loaded"
quick "no dump"
sleep 1
rss=$(resident_kib) fds=$(descriptors)

say "10 readers that stop in the middle"
readers=
for i in 1 2 3 4 5 6 7 8 9 10; do
	mkfifo "$tmp/fifo$i"
	"$build/culvert" -s "$tmp/sock" flow dump >"$tmp/fifo$i" &
	readers="$readers $!"
	eval "exec 1$i<'$tmp/fifo$i'"
	eval "read -r _ <&1$i"
	kill -STOP $!
done
sleep 1
at_least "connections" $((fds + 10)) "$(descriptors)"
grown "10 stopped readers" "$rss" 10240
quick "10 stopped readers"

say "one goes on to the end, the others are killed"
read -r first rest <<<"$readers"
kill -CONT "$first"
cat <&11 >"$tmp/dump"
wait "$first" || die "the dump that went on failed"
equal "lines behind the first bytes that were read" 199999 "$(grep -c nw_src "$tmp/dump")"
# shellcheck disable=SC2086 # several
stop -KILL $rest
expect "nothing is left of them" eventually 10 eval "[ \$(descriptors) -le $fds ]"
# what malloc keeps for the next ones
grown "after 10 readers" "$rss" 4096
for i in 1 2 3 4 5 6 7 8 9 10; do
	eval "exec 1$i<&-"
done
quick "after 10 readers"

say "50 at once, with rules coming and going"
many 20000 >"$tmp/rules"
culvert flow replace "$tmp/rules" >/dev/null
addresses_of "$tmp/rules" >"$tmp/wanted"
many 5000 1000000 | sed 's/^/cookie=0x77,/' >"$tmp/churn"
(
	trap - ERR
	while culvert flow add - <"$tmp/churn" && culvert flow del cookie=0x77/-1; do
		echo >>"$tmp/turns"
	done
) >/dev/null 2>&1 &
churn=$!
readers=
for i in $(seq 50); do
	(culvert flow dump | grep -v 'cookie=0x77,' >"$tmp/dump$i") &
	readers="$readers $!"
done
quick "50 dumps"
for reader in $readers; do
	wait "$reader" || die "a dump failed"
done
for i in $(seq 50); do
	addresses_of "$tmp/dump$i" | cmp -s - "$tmp/wanted" ||
		die "dump $i: $(addresses_of "$tmp/dump$i" | diff - "$tmp/wanted" | head -n 5)"
done
expect "rules came and went" eventually 10 test -s "$tmp/turns"
stop $churn
say "meanwhile $(wc -l <"$tmp/turns") times 5000 rules came and went"
finish
