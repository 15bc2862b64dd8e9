#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every command answers, as a table and as JSON; what is wrong is said in one line with the right
# status.
#
#   h1 ---- culvert: blue, VTEP 192.0.2.1 ---- fabric ---- r1 192.0.2.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue, description: r7u12}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
expect "ping" pings h1 10.0.0.2

for words in "status" "port" "port h1" "network" "network blue" "tunnel" "tunnel 192.0.2.2" \
	"fdb" "fdb network blue" "fdb port h1" "fdb vtep 192.0.2.2" "fdb mac 02:00:00:00:00:01" \
	"flow count" "drops" "drops h1" "capture" "config show" "ports" "stat" "tunnels"; do
	# shellcheck disable=SC2086 # several words
	culvert $words >"$tmp/out" 2>&1 || die "culvert $words: $(cat "$tmp/out")"
	[ -s "$tmp/out" ] || die "culvert $words says nothing"
	case $words in
	"config show") continue ;;
	esac
	# shellcheck disable=SC2086
	culvert -j $words >"$tmp/out" 2>&1 || die "culvert -j $words: $(cat "$tmp/out")"
	"$python" -m json.tool --json-lines <"$tmp/out" >/dev/null ||
		die "culvert -j $words: not one object a line: $(cat "$tmp/out")"
	! grep -E '[0-9]\.[0-9]{15}' "$tmp/out" || die "culvert -j $words: digits that mean nothing"
done
# what people read fits 80 columns (a path or a kernel's name may be longer than that)
for words in status port "port h1" network "network blue" tunnel "tunnel 192.0.2.2" fdb drops \
	capture help "port help" "fdb help" "flow help" "capture help" "config help"; do
	# shellcheck disable=SC2086 # several words
	! culvert $words | grep -v '^config ' | grep -E '.{81}' ||
		die "culvert $words is wider than 80 columns"
done
culvert status | grep -q 'culvertd' || die "status: $(culvert status)"
culvert status | grep -q '^captures' && die "captures that there are not: $(culvert status)"
culvert status | grep -qi 'DEGRADED' && die "degraded: $(culvert status)"
expect "status --check" culvert status --check
culvert port | grep -q '^PORT  *DEVICE' || die "port: $(culvert port)"
culvert fdb | grep -q '02:00:00:00:00:01' || die "fdb: $(culvert fdb)"
culvert drops 1 | grep -q 'balanced' || die "drops: $(culvert drops)"
expect "log debug" culvert log debug
expect "log info" culvert log info
expect "config check" at sw "$build/culvert" -s "$tmp/sock" config check "$tmp/culvert.yaml"

# fails STATUS PATTERN ARGUMENT...
fails()
{
	local wanted=$1 pattern=$2 status=0
	shift 2
	culvert "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
	equal "status of culvert $*" "$wanted" $status
	grep -qiE "$pattern" "$tmp/err" || die "culvert $*: no $pattern in: $(cat "$tmp/err")"
}

fails 1 nosuch port nosuch
fails 1 nosuch network nosuch
fails 1 . tunnel 192.0.2.77
fails 1 . log loud
fails 2 . nosuchnoun
fails 2 .
for words in "trace h1 00" "top" "config reload"; do
	# shellcheck disable=SC2086
	fails 1 'not in this version' $words
done
books
stop_culvert
say "a daemon that is not there"
fails 1 'culvertd' status
equal "lines" 1 "$(wc -l <"$tmp/err")"
grep -q 'systemctl start culvertd' "$tmp/err" || die "no cure in: $(cat "$tmp/err")"
say "passed"
