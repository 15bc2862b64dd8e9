#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# `culvert fdb flush` forgets what was learned: all, of a network, of a port. Static entries stay.
#
#   h1, h2 ---- culvert: blue; h3, h4 ---- red
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: red}
  h4: {untagged: red}
networks:
  blue: {static: {"02:00:00:00:00:55": h1}}
  red:
Y

# learn_all: each host speaks, and is learned.
learn_all()
{
	local i network=blue
	for i in 1 2 3 4; do
		[ $i -lt 3 ] || network=red
		py h$i <<'P'
send("e0", eth(BROADCAST, mac_of("e0"), "x"))
P
		expect "h$i learned" eventually 5 fdb_has $network 02:00:00:00:00:0$i h$i
	done
}

# known: the MACs in the FDB, by their last digit.
known() { fdb "''.join(sorted(e['mac'][-1] for e in d))"; }

learn_all
equal "MACs" 12345 "$(known)"
culvert fdb flush port h2
equal "after flush port h2" 1345 "$(known)"
learn_all
culvert fdb flush network red
equal "after flush network red" 125 "$(known)"
learn_all
culvert fdb flush
equal "after flush" 5 "$(known)"
learn_all
equal "learned again" 12345 "$(known)"
expect_not "flush of a port that is not there" culvert fdb flush port nosuch 2>/dev/null
finish
