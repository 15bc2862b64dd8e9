#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Ports come and go in any order: the first one's device is removed and added again, then another
# is; the rest goes on. missing: wait.
#
#   h1, h2, h3 ---- culvert: blue (h4's device is not there at first)
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i 10.0.0.$i/24
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue, missing: wait}
  h2: {untagged: blue, missing: wait}
  h3: {untagged: blue, missing: wait}
  h4: {untagged: blue, missing: wait}
networks:
  blue:
Y
expect "h4 is missing" port_is h4 state missing
expect "h1 is up" port_is h1 state up
expect "ping" pings h1 10.0.0.2

# again N: the device of hN comes back, with the host's address.
again()
{
	veth sw h$1 h$1 e0
	ip -n "${prefix}h$1" link set e0 address 02:00:00:00:00:0$1
	addresses h$1 e0 10.0.0.$1/24
}

for i in 1 2 1 3; do
	say "h$i goes"
	start h$i ping -q -f 10.0.0.$((i % 3 + 1)) >/dev/null 2>&1
	sleep 0.3
	ip -n "${prefix}sw" link del h$i
	expect "h$i is missing" eventually 5 port_is h$i state missing
	a=$((i % 3 + 1)) b=$(((i + 1) % 3 + 1))
	expect "the others go on" pings h$a 10.0.0.$b
	stop $job
	again $i
	expect "h$i is up" eventually 10 port_is h$i state up
	expect "h$i again" pings h$i 10.0.0.$a
	expect "and to it" pings h$b 10.0.0.$i
done

say "one that was never there"
namespace h4
again 4
expect "h4 is up" eventually 10 port_is h4 state up
expect "ping" pings h4 10.0.0.1
transfers h4 h2 10.0.0.2 tcp 2000000

say "removed by the other end, and link down"
ip -n "${prefix}h4" link del e0
expect "h4 is missing" eventually 5 port_is h4 state missing
ip -n "${prefix}h3" link set e0 down
expect "h3 has no link" eventually 5 port_is h3 state no-link
ip -n "${prefix}h3" link set e0 up
expect "h3 is up" eventually 5 port_is h3 state up
expect "ping" pings h3 10.0.0.1

say "renamed: the port stays with its device, whatever gets the old name"
if ip -n "${prefix}sw" link set h3 name other 2>/dev/null; then
	ip -n "${prefix}sw" link add h3 type veth peer name stranger
	expect "h3 is called other" eventually 5 port_is h3 device other
	expect "h3 is up" eventually 5 port_is h3 state up
	expect "ping" pings h3 10.0.0.1
	ip -n "${prefix}sw" link del h3
	ip -n "${prefix}sw" link set other name h3
	expect "h3 is called h3" eventually 5 port_is h3 device h3
	expect "ping" pings h3 10.0.0.1
else
	say "this kernel renames no device that is up (before 6.2)"
fi
finish
