#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A silent MAC is forgotten after the network's ageing time; one that speaks, a static one and one
# with ageing 0 stay.
#
#   h1, h2 ---- culvert: blue (ageing 4 s); h3, h4 ---- red (never)
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4; do
	host h$i 10.0.0.$i/24
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: red}
  h4: {untagged: red}
networks:
  blue: {ageing: 4, static: {"02:00:00:00:00:55": h1}}
  red: {ageing: 0}
Y

py h1 <<'P'
send("e0", eth(BROADCAST, "02:00:00:00:00:71", "once"))
P
py h3 <<'P'
send("e0", eth(BROADCAST, "02:00:00:00:00:73", "once"))
P
expect "learned" eventually 5 fdb_has blue 02:00:00:00:00:71 h1
expect "learned" eventually 5 fdb_has red 02:00:00:00:00:73 h3
start h2 ping -q -i 0.3 10.0.0.1 >/dev/null
expect "learned" eventually 5 fdb_has blue 02:00:00:00:00:02 h2
forgotten() { ! fdb_knows blue 02:00:00:00:00:71; }
expect "forgotten after four seconds or a little more" eventually 12 forgotten
sleep 2
expect "the one that speaks stays" fdb_has blue 02:00:00:00:00:02 h2
expect "the static one stays" fdb_has blue 02:00:00:00:00:55 h1
expect "ageing 0: stays" fdb_has red 02:00:00:00:00:73 h3
stop $job
finish
