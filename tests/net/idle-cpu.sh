#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# With no traffic culvertd sleeps: it takes at most 0.5 % of a core, counted over ten seconds.
#
#   h1, h2 ---- culvert: blue, with a tunnel that is up
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
expect "ping" pings h1 10.0.0.2
cpu_us() { awk '{s += $1} END {printf "%d", s / 1000}' "/proc/$culvertd_pid/task/"*/schedstat; }
sleep 3
before=$(cpu_us)
sleep 10
used=$(($(cpu_us) - before))
percent=$(printf '%d.%02d' $((used / 100000)) $((used / 1000 % 100)))
say "idle: $((used / 1000)) ms in 10 s, $percent %"
at_least "0.5 % of a core, less what was used, ms" 0 $((50 * slow - used / 1000))
expect "ping out of sleep" pings h1 10.0.0.2
finish
