#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The capabilities that README.md names are enough, for an underlay device, too.
#
#   h1 10.0.0.1, h2 10.0.0.2 ---- culvert, 192.0.2.1 ---- fabric
. "$(dirname "$0")/lib.sh"
need setpriv

capabilities=$(grep -oE 'CAP_[A-Z_]+' "$here/../../README.md" | sort -u | sed 's/^CAP_/+/' |
	tr 'A-Z\n' 'a-z,')
capabilities=${capabilities%,}
say "$capabilities"
host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
write_config <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  gw0: {type: internal, untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
# root without the others: who owns a file is not the question here
start sw setpriv --bounding-set="-all,$capabilities" \
	"$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/culvertd.log" 2>&1
culvertd_pid=$job
expect "a start" eventually 20 culvert status
expect "ping" pings h1 10.0.0.2
expect "the underlay is up" port_is ul0 state up
expect "the internal port is up" eventually 5 port_is gw0 state up
grep -q '^CapEff:.*0000000000000000$' "/proc/$culvertd_pid/status" && die "no capability at all?"
equal "CAP_SYS_ADMIN" 0 $(($(printf '0x%s' \
	"$(awk '/^CapEff/ {print $2}' "/proc/$culvertd_pid/status")") >> 21 & 1))
books
stop_culvert
ip -n "${prefix}sw" link del gw0
say "passed"
