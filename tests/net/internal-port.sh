#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# An internal port: this host is itself a host in a network. Device, MAC and address outlive a
# restart; `culvertd --cleanup` removes them.
#
#   h1 10.0.0.1 ---- culvert: blue ---- gw0 10.0.0.254 (in the switch's own namespace)
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24 fd00::1/64
write_config <<'Y'
ports:
  h1: {untagged: blue}
  gw0: {type: internal, untagged: blue}
  gw1: {type: internal, untagged: red, mac: "02:00:00:00:07:01", persist: false}
networks:
  blue:
  red:
Y
run_culvert
expect "gw0 is up" eventually 5 port_is gw0 state up
addresses sw gw0 10.0.0.254/24 fd00::fe/64
ip -n "${prefix}sw" link set gw0 up
expect "ping to it" pings h1 10.0.0.254
expect "ping from it" pings sw 10.0.0.1
expect "ping -6" pings h1 fd00::fe
transfers h1 sw 10.0.0.254 tcp 5000000
transfers sw h1 10.0.0.1 tcp 5000000
mac=$(at sw cat /sys/class/net/gw0/address)
equal "MAC as configured" 02:00:00:00:07:01 "$(at sw cat /sys/class/net/gw1/address)"
books
stop_culvert
expect "gw0 outlives the end" at sw test -e /sys/class/net/gw0
expect_not "gw1, persist: false" at sw test -e /sys/class/net/gw1
run_culvert
equal "MAC after a restart" "$mac" "$(at sw cat /sys/class/net/gw0/address)"
expect "ping after a restart" pings h1 10.0.0.254
books
stop_culvert
expect "cleanup" at sw "$build/culvertd" -c "$tmp/culvert.yaml" --cleanup
expect_not "gw0 after --cleanup" at sw test -e /sys/class/net/gw0
nothing_left
say "passed"
