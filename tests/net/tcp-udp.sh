#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# TCP and UDP between two hosts: the content arrives whole, both ways, both families. Rings as by
# default.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"
need iperf3

host h1 10.0.0.1/24 fd00::1/64
host h2 10.0.0.2/24 fd00::2/64
start_culvert <<'Y'
workers: {ring: 4096}
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y

expect "ping" pings h1 10.0.0.2
transfers h1 h2 10.0.0.2 tcp 30000000
transfers h2 h1 fd00::1 tcp 30000000
transfers h1 h2 fd00::2 udp 500000
transfers h2 h1 10.0.0.1 udp 500000
say "TCP h1 -> h2: $(iperf h1 h2 10.0.0.2 -t 3) Mbit/s"
say "TCP h2 -> h1: $(iperf h1 h2 10.0.0.2 -t 3 -R) Mbit/s"
say "TCP, eight streams: $(iperf h1 h2 10.0.0.2 -t 3 -P 8) Mbit/s"
finish
