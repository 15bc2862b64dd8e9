#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `culvert port disable` and `enable`; enabled: false in the file.
#
#   h1, h2, h3 (enabled: false) ---- culvert: blue
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i 10.0.0.$i/24
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue, enabled: false}
networks:
  blue:
Y

expect "ping" pings h1 10.0.0.2
expect "h3 is shut" port_is h3 state shut
expect_not "ping to a shut port" at h1 ping -q -c 2 -i 0.2 -W 1 10.0.0.3
culvert port disable h2
expect "h2 is shut" port_is h2 state shut
expect_not "ping from a shut port" at h2 ping -q -c 3 -i 0.2 -W 1 10.0.0.1
expect "counted as port-shut" dropped port-shut 1 h2
expect_not "ping to a shut port" at h1 ping -q -c 2 -i 0.2 -W 1 10.0.0.2
culvert port enable h2
expect "h2 is up" eventually 5 port_is h2 state up
expect "ping again" pings h1 10.0.0.2
culvert port enable h3
expect "h3 is up" eventually 5 port_is h3 state up
expect "ping" pings h1 10.0.0.3
expect_not "disable of nothing" culvert port disable nosuch 2>/dev/null
finish
