#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# MAC limits, of a network and of a port: no more are learned, what comes is forwarded all the same.
#
#   h1, h2 ---- culvert: blue (5 MACs); h3 (3 MACs), h4 ---- red
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: red, mac-limit: 3}
  h4: {untagged: red}
networks:
  blue: {mac-limit: 5}
  red:
Y

for i in 2 4; do
	listen h$i
done
for i in 1 3; do
	py h$i <<'P'
for i in range(30):
    send("e0", eth(BROADCAST, "02:00:00:00:01:%02x" % i, "n%d." % i))
P
done
heard h2 '"n29\."'
heard h4 '"n29\."'
# shellcheck disable=SC2317
reached() { [ "$(network blue limit_hits)" -ge 1 ] && [ "$(network red limit_hits)" -ge 1 ]; }
expect "limit hits counted" eventually 5 reached
equal "MACs of blue" 5 "$(network blue macs)"
equal "MACs of h3" 3 "$(port h3 macs)"
equal "MACs of red" 3 "$(network red macs)"
equal "frames that arrived at h2" 30 "$(count_heard h2 0x88b5)"
equal "frames that arrived at h4" 30 "$(count_heard h4 0x88b5)"
say "the other port of red has no limit of its own"
py h4 <<'P'
for i in range(10):
    send("e0", eth(BROADCAST, "02:00:00:00:02:%02x" % i, "x"))
P
red_has() { [ "$(network red macs)" = "$1" ]; }
expect "13 MACs in red" eventually 5 red_has 13
finish
