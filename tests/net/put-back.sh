#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What culvert changes of a device (promiscuous mode, number of queues, MTU, offloads) is as before
# when it has ended; after SIGKILL, when `culvertd --cleanup` or the next run has ended.
#
#   h1, h2 ---- culvert: blue
. "$(dirname "$0")/lib.sh"

for i in 1 2; do
	namespace h$i
	veth sw h$i h$i e0 numrxqueues 4 numtxqueues 4
	# a veth's peer may not have more transmit queues than it has receive queues
	at h$i ethtool -L e0 rx 3 tx 1
	at sw ethtool -L h$i rx 4 tx 3
	addresses h$i e0 10.0.0.$i/24
done
write_config <<'Y'
ports:
  h1: {untagged: blue, mtu: 2000}
  h2: {tagged: {100: blue}}
networks:
  blue:
Y

# settings: all that there is to see of the devices.
settings()
{
	local dev
	for dev in h1 h2; do
		echo "$dev $(ip -n "${prefix}sw" -d -o link show $dev |
			grep -oE 'promiscuity [0-9]+|mtu [0-9]+|xdp' | tr '\n' ' ')"
		at sw ethtool -l $dev | sed "s/^/$dev /"
		at sw ethtool -k $dev | sort | sed "s/^/$dev /"
	done
}

# as_before WHEN
as_before() { settings | diff "$tmp/before" - || die "$1: not as before"; }

# changed: what this test is about is changed while culvert runs.
changed()
{
	settings >"$tmp/now"
	grep -qE '^h1 .*mtu 2000.*promiscuity [1-9]' "$tmp/now" &&
		one_queue h1 && one_queue h2
}

one_queue() { [ "$(at sw ethtool -l "$1" | awk '/^RX:/ {n = $2} END {print n}')" = 1 ]; }

settings >"$tmp/before"
run_culvert
expect "queues, MTU, promiscuous" changed
stop_culvert
as_before "after the end"

kill_culvert()
{
	kill -KILL "$culvertd_pid"
	wait "$culvertd_pid" 2>/dev/null || true
	culvertd_pid=
}

run_culvert
kill_culvert
expect "nothing puts queues back by itself" one_queue h1
expect "cleanup" at sw "$build/culvertd" -c "$tmp/culvert.yaml" --cleanup
as_before "after SIGKILL and --cleanup"

run_culvert
kill_culvert
run_culvert
expect "changed by the second run, too" changed
stop_culvert
as_before "after SIGKILL and another run"
say "passed"
