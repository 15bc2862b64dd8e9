#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Broadcast, multicast and unknown unicast reach every other port of the network once and never
# return.
#
#   h1 ... h4 ---- culvert: blue; h5 ---- red, alone
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4 5; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
  h4: {untagged: blue}
  h5: {untagged: red}
networks:
  blue:
  red:
Y

for i in 1 2 3 4 5; do
	listen h$i
done
for i in 1 2 3 4 5; do
	py h$i <<P
me = mac_of("e0")
to = (BROADCAST, "01:00:5e:00:00:09", "33:33:00:00:00:09", "02:00:00:00:99:99")
for n in range(100):
    send("e0", eth(to[n % 4], me, "h$i-%d." % n))
P
done
for to in 1 2 3 4; do
	for from in 1 2 3 4; do
		[ $to = $from ] || heard h$to "\"h$from-99\.\""
	done
	equal "frames at h$to" 300 "$(count_heard h$to 0x88b5)"
	unheard h$to "\"h$to-"
	unheard h$to '"h5-'
done
unheard h5 0x88b5
expect "h5 is alone" eventually 5 dropped no-target 100 h5
books
equal "copied" 800 "$(value drops "d['books']['copied']")"
finish
