#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules with a timeout: idle ends when no packet has met the rule for so long, hard ends in any
# case; the rest stays. What they did is undone the moment they go.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
expect "ping" pings h1 10.0.0.2

gone() { [ "$(culvert flow count "$1")" = 0 ]; }

# lasts MATCH: how long the rule is there from now on, in tenths of a second.
lasts()
{
	local begin=${EPOCHREALTIME/./}
	eventually 30 gone "$1" || die "$1 never goes"
	echo $(((${EPOCHREALTIME/./} - begin) / 100000))
}

say "idle: with traffic it stays, without it goes"
rules "idle_timeout=2,icmp,nw_src=10.0.0.1 actions=normal" \
	"idle_timeout=2,udp actions=drop" "priority=3,tcp actions=normal"
at h1 ping -q -i 0.2 -c 25 10.0.0.2 >/dev/null
equal "the one with traffic" 1 "$(culvert flow count icmp)"
at_least "its packets" 25 "$(hits icmp)"
equal "the one without" 0 "$(culvert flow count udp)"
took=$(lasts icmp)
[ "$took" -ge 10 ] && [ "$took" -le $((40 * slow)) ] || die "idle_timeout=2 took $took tenths"
expect "the packets go on" pings h1 10.0.0.2

say "hard: with traffic it goes too, and what it dropped passes again"
start h1 ping -q -i 0.1 10.0.0.2 >/dev/null
rules "hard_timeout=2,icmp,nw_src=10.0.0.1 actions=drop" "priority=3,tcp actions=normal"
took=$(lasts icmp)
[ "$took" -ge 15 ] && [ "$took" -le $((40 * slow)) ] || die "hard_timeout=2 took $took tenths"
stop $job
expect "ping" pings h1 10.0.0.2
at_least "dropped meanwhile" 10 "$(drops flow-drop h1)"

say "both: the earlier one; a rule that is added again begins anew"
rules "idle_timeout=1,hard_timeout=60,arp,arp_op=2 actions=normal" \
	"idle_timeout=60,hard_timeout=1,arp,arp_op=1 actions=normal"
expect "both" eventually 5 gone arp
culvert flow add "hard_timeout=2,arp actions=normal"
sleep 1.5
culvert flow add "hard_timeout=2,arp actions=normal"
took=$(lasts arp)
[ "$took" -ge 15 ] || die "added again it lasted $took tenths"

say "one that ends while a replace with it is on its way comes back, and ends again"
rules "hard_timeout=$((6 * slow)),icmp actions=normal"
sleep $((3 * slow))
mkfifo "$tmp/fifo"
"$build/culvert" -s "$tmp/sock" flow replace - <"$tmp/fifo" >/dev/null &
job=$!
exec 9>"$tmp/fifo"
{
	echo "hard_timeout=$((6 * slow)),icmp actions=normal"
	# more than a client keeps for itself
	seq -f "# %.0f" 200000
} >&9
expect "gone" eventually 10 gone icmp
exec 9>&-
wait $job || die "refused"
equal "back" 1 "$(culvert flow count icmp)"
expect "gone again" eventually 10 gone icmp

say "many at once"
rules "priority=3,tcp actions=normal"
awk 'BEGIN {
	for (i = 0; i < 100000; i++)
		printf "hard_timeout=1,udp,nw_src=10.%d.%d.%d actions=drop\n",
			i / 65536, i / 256 % 256, i % 256
}' | culvert flow add - >/dev/null
expect "100000 go" eventually 20 gone udp
equal "the one without a timeout stays" 1 "$(culvert flow count)"
finish
