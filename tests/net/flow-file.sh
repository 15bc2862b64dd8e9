#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# flows.file: the rules are there before the first packet. A file that is wrong, or not there, is
# refused with its place, by the start and by --check.
#
#   h1 10.0.0.1 ---- culvert: blue, VNI 10, underlay ul0 ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
write_config <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue, number: 40}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
flows: {file: flows.txt}
Y
good='# what is said before the first rule
priority=9,in_port=h1,icmp actions=drop
priority=8,in_port=40,udp actions=output:h1
  priority=7,in_port=192.0.2.2 actions=h2   # by the address of its VTEP

cookie=0x7, duration=9.4s, table=0, n_packets=5, n_bytes=9, priority=6,tcp actions=NORMAL
'

# check: what `culvertd --check` says, in $tmp/out
check() { at sw timeout 20 "$build/culvertd" -c "$tmp/culvert.yaml" --check >"$tmp/out" 2>&1; }

printf '%s' "$good" >"$tmp/flows.txt"
check || die "--check refuses it: $(cat "$tmp/out")"
run_culvert
equal "rules" 4 "$(culvert flow count)"
equal "counters begin at 0" 0 "$(hits '')"
equal "cookie" 1 "$(culvert flow count cookie=7/-1)"
! at h1 ping -q -c 2 -i 0.2 -W 1 10.0.0.2 >/dev/null || die "icmp from h1 is not dropped"
at_least "hits" 2 "$(hits in_port=h1)"
culvert flow dump --names >"$tmp/out"
for text in in_port=h1 in_port=h2 'in_port="192.0.2.2"'; do
	grep -q "$text" "$tmp/out" || die "no $text in: $(cat "$tmp/out")"
done
culvert flow del all >/dev/null
expect "ping without rules" pings h1 10.0.0.2
books
stop_culvert

say "after a restart the file is what counts; an empty one is right too"
run_culvert
equal "rules" 4 "$(culvert flow count)"
books
stop_culvert
: >"$tmp/flows.txt"
run_culvert
equal "rules" 0 "$(culvert flow count)"
books
stop_culvert

# refused PATTERN...: neither --check nor a start takes it, and both say this.
refused()
{
	local pattern
	expect_not "--check" check
	for pattern; do
		grep -qE "$pattern" "$tmp/out" || die "--check: no $pattern in: $(cat "$tmp/out")"
	done
	expect_not "a start" at sw timeout 20 \
		"$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/out" 2>&1
	for pattern; do
		grep -qE "$pattern" "$tmp/out" || die "start: no $pattern in: $(cat "$tmp/out")"
	done
	! grep -E 'Sanitizer|runtime error' "$tmp/out" || die "a sanitizer spoke up"
	nothing_left
}

printf '%s%s\n' "$good" "priority=5,in_port=h1,frobnicate=3 actions=drop" >"$tmp/flows.txt"
refused 'flows\.txt:7:23: .*frobnicate'
printf '%s\n' "in_port=nosuch actions=drop" "tp_dst=80 actions=drop" "ip actions=outptu:1" \
	>"$tmp/flows.txt"
refused 'flows\.txt:1:9: .*nosuch' 'flows\.txt:2:1: .*tp_dst' 'flows\.txt:3:12: .*outptu'
head -c 100000 /dev/urandom >"$tmp/flows.txt"
refused 'flows\.txt:1:'
rm "$tmp/flows.txt"
refused 'flows\.txt: .*No such file'
mkdir "$tmp/flows.txt"
refused 'flows\.txt: .*[Dd]irectory'
rmdir "$tmp/flows.txt"
mkfifo "$tmp/flows.txt"
refused 'flows\.txt'
rm "$tmp/flows.txt"

say "many"
awk 'BEGIN {
	for (i = 0; i < 300000; i++)
		printf "udp,nw_src=10.%d.%d.%d actions=drop\n", i / 65536, i / 256 % 256, i % 256
}' >"$tmp/flows.txt"
run_culvert
equal "rules" 300000 "$(culvert flow count)"
expect "ping" pings h1 10.0.0.2
finish
