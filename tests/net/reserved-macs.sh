#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# 802.1D reserved addresses (STP, LACP, LLDP, ...) are link-local: the kernel of this host gets
# them, no other host does. The addresses next to them are plain multicast.
#
#   h1, h2 ---- culvert: blue
. "$(dirname "$0")/lib.sh"

host h1
host h2
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y

listen sw h1
listen h2
py h1 <<'P'
me = mac_of("e0")
for last in range(16):
    send("e0", eth("01:80:c2:00:00:%02x" % last, me, "reserved-%d." % last))
send("e0", eth("01:80:c2:00:00:0e", me, b"\x02\x07", type=0x88cc))
send("e0", eth("01:80:c2:00:00:10", me, "plain-10"), eth("01:80:c2:00:01:00", me, "plain-01-00"))
send("e0", eth("01:00:0c:cc:cc:cc", me, "plain-cdp"))
P
for last in $(seq 0 15); do
	heard sw "\"reserved-$last\.\""
done
heard sw '01:80:c2:00:00:0e type 0x88cc'
heard h2 '"plain-10"'
heard h2 '"plain-01-00"'
heard h2 '"plain-cdp"'
unheard h2 'reserved|0x88cc'
unheard sw 'plain'
finish
