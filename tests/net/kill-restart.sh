#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# SIGKILL, then a start again: it works at once, and the end puts everything back. Then `culvertd
# --cleanup`.
#
#   h1, h2 ---- culvert: blue
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

kill_culvert()
{
	kill -KILL "$culvertd_pid"
	wait "$culvertd_pid" 2>/dev/null || true
	culvertd_pid=
}

promiscuous() { ip -n "${prefix}sw" -d -o link show h1 | grep -q 'promiscuity [1-9]'; }

run_culvert
expect "ping" pings h1 10.0.0.2
expect "promiscuous while it runs" promiscuous
for turn in 1 2 3; do
	start h1 ping -q -f 10.0.0.2 >/dev/null 2>&1
	sleep 0.3
	kill_culvert
	stop $job
	run_culvert
	expect "ping after SIGKILL $turn" pings h1 10.0.0.2
done
books
stop_culvert

say "killed and not started again: culvertd --cleanup"
run_culvert
expect "ping" pings h1 10.0.0.2
kill_culvert
expect "cleanup" at sw "$build/culvertd" -c "$tmp/culvert.yaml" --cleanup
rm -f "$tmp/sock"
nothing_left
say "passed"
