#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Somebody takes our XDP program off a device, as `bpftool link detach` does: the port is opened
# again by itself. With a program of his own in its place it says so, and goes on once that is gone.
#
#   h1, h2 ---- culvert: blue
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
expect "ping" pings h1 10.0.0.2

attached() { ip -n "${prefix}sw" -d -o link show "$1" | grep -q 'name culvert_'; }

expect "attached" attached h1
expect "taken off" take_off h1
expect "attached again" eventually 5 attached h1
expect "ping" pings h1 10.0.0.2

say "somebody else's program is in the way"
other=$build/bench/sink.bpf.o
[ -f "$other" ] || die "no $other: build it first"
expect "taken off" take_off h1
expect "another program" ip -n "${prefix}sw" link set dev h1 xdp object "$other" section xdp
expect "h1 has failed" eventually 10 port_is h1 state failed
expect_not "ping" at h1 ping -q -c 1 -W 1 10.0.0.2 >/dev/null
ip -n "${prefix}sw" link set dev h1 xdp off
expect "attached again" eventually 40 attached h1
expect "h1 is up" eventually 5 port_is h1 state up
expect "ping" pings h1 10.0.0.2
finish
