#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What tcpdump sees of a port is what came in there and what left, byte by byte and in order:
# compared with what was sent, and with what tcpdump sees at the far end of the cable.
#
#   h1 ---- untagged = blue  |         | tagged 100 = blue ---- h2 (tags in the frame)
#   h3 ---- rest = wire      | culvert | tagged 100 = blue ---- h4 (its kernel's tags, beside it)
#                            |         | rest = wire ---- h5
. "$(dirname "$0")/lib.sh"
need tcpdump

for i in 1 2 3 4 5; do
	host h$i
	at sw sysctl -qw net/ipv6/conf/h$i/disable_ipv6=1
done
vlan_host h4 100
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {tagged: {100: blue}}
  h3: {rest: wire}
  h4: {tagged: {100: blue}}
  h5: {rest: wire}
networks:
  blue:
  wire:
Y
cd "$tmp" || exit

what="h1:in h1:out h1:both h2:in h2:out h2:both h3:both h4:in h4:out h4:both h5:both"
for one in $what; do
	capture_dump "$one" "${one%:*}" --dir "${one#*:}"
done
for i in 1 2 3 4 5; do
	record h$i
done
capturing

declare -A sent
for i in 1 2 3 4; do
	tag=
	[ $i != 4 ] || tag=100
	# shellcheck disable=SC2086 # no tag: no argument
	sent[h$i]=$(at h$i "$python" "$here/capture-frames.py" h$i $tag) || die "h$i did not send"
	say "h$i: ${sent[h$i]} frames"
done
sent[h5]=0
blue=$((sent[h1] + sent[h2] + sent[h4]))
for one in $what; do
	host=${one%:*}
	case $host in
	h3) others=0 ;;
	h5) others=${sent[h3]} ;;
	*) others=$((blue - sent[$host])) ;;
	esac
	eventually 10 has_frames "$host.received" "$others" ||
		die "$host received $(frames_in "$host.received") of $others"
	case $one in
	*:in) wanted=${sent[$host]} ;;
	*:out) wanted=$others ;;
	*) wanted=$((sent[$host] + others)) ;;
	esac
	eventually 10 has_frames "$one.out" $wanted ||
		die "$one: $(frames_in "$one.out") of $wanted frames: $(cat "$one.says")"
done
stop_captures

what=$what "$python" - <<'P' || die "see above"
import os
import pcaps
for one in os.environ["what"].split():
    host, dir = one.split(":")
    wanted = []
    if dir != "out" and host != "h5":
        wanted += pcaps.read(host + ".sent")
    if dir != "in":
        wanted += pcaps.read(host + ".received")
    pcaps.equal(one, wanted, pcaps.read(one + ".out"))
    assert wanted
P
equal "missed" 0 "$(value status "d['captures']['missed']")"
equal "running" 0 "$(value status "d['captures']['running']")"
finish
