#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# An unknown destination is flooded, a known one goes to its port alone; each network learns for
# itself.
#
#   h1, h2, h3 ---- culvert: blue; h4, h5 ---- red
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4 5; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
  h4: {untagged: red}
  h5: {untagged: red}
networks:
  blue:
  red:
Y

for i in 1 2 3 4 5; do
	listen h$i
done
py h1 <<'P'
send("e0", eth("02:00:00:00:00:02", mac_of("e0"), "unknown"))
P
heard h2 '"unknown"'
heard h3 '"unknown"'
expect "h1 learned" eventually 5 fdb_has blue 02:00:00:00:00:01 h1
py h2 <<'P'
send("e0", eth("02:00:00:00:00:01", mac_of("e0"), "answer"))
P
heard h1 '"answer"'
expect "h2 learned" eventually 5 fdb_has blue 02:00:00:00:00:02 h2
py h1 <<'P'
send("e0", eth("02:00:00:00:00:02", mac_of("e0"), "known"), eth(BROADCAST, mac_of("e0"), "marker"))
P
heard h2 '"known"'
heard h3 '"marker"'
unheard h3 '"(known|answer)"'

say "the same MAC in another network is another host"
py h4 <<'P'
send("e0", eth(BROADCAST, "02:00:00:00:00:02", "red-marker"))
P
heard h5 '"red-marker"'
expect "learned in red" eventually 5 fdb_has red 02:00:00:00:00:02 h4
expect "still there in blue" fdb_has blue 02:00:00:00:00:02 h2
unheard h4 'known|marker"'
equal "MACs of blue" 2 "$(network blue macs)"
equal "MACs at h2" 1 "$(port h2 macs)"

say "a destination behind the port that the frame came from"
py h2 <<'P'
send("e0", eth("02:00:00:00:00:02", "02:00:00:00:00:92", "hairpin"))
P
expect "same-port" eventually 5 dropped same-port 1 h2
say "a source that is no host's"
py h2 <<'P'
send("e0", eth(BROADCAST, "03:00:00:00:00:02", "bad"), eth(BROADCAST, "00:00:00:00:00:00", "bad"))
send("e0", eth(BROADCAST, mac_of("e0"), "marker2"))
P
heard h1 '"marker2"'
equal "bad-source" 2 "$(drops bad-source h2)"
unheard h1 '"(bad|hairpin)"'
finish
