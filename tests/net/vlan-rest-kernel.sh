#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# rest: kernel leaves all VLANs that a port does not name with the host, untagged frames too; the
# host may have an address on the device.
#
#   h1 ---- t1 100 = blue, rest = kernel (10.5.0.254) |         |
#   h2 ---- untagged = blue                           | culvert |
. "$(dirname "$0")/lib.sh"

host h1 10.5.0.1/24
host h2
addresses sw h1 10.5.0.254/24
start_culvert <<'Y'
ports:
  h1: {tagged: {100: blue}, rest: kernel}
  h2: {untagged: blue}
networks:
  blue:
Y

expect "ping to the host behind the port" pings h1 10.5.0.254
expect "ping from it" pings sw 10.5.0.1
listen sw h1
listen h1
listen h2
py h1 <<'P'
me = mac_of("e0")
send("e0", eth(BROADCAST, me, "ours", tags=[100]), eth(BROADCAST, me, "for-the-host", tags=[300]),
     eth(BROADCAST, me, "untagged"), eth(BROADCAST, me, "priority", tags=[5 << 13]))
P
heard sw 'vlan 300.0 type 0x88b5 "for-the-host"'
heard sw 'ff:ff type 0x88b5 "untagged"'
heard sw '"priority"'
heard h2 'ff:ff type 0x88b5 "ours"'
unheard sw 'ours'
unheard h2 'for-the-host|untagged|priority'
py h2 <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "answer"))
P
heard h1 'vlan 100.0 type 0x88b5 "answer"'
equal "dropped as vlan-unmapped" 0 "$(drops vlan-unmapped)"
finish
