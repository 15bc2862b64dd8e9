#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures go on through whatever else is done: dumps of 20000 rules, other captures that come and
# go, the captured port shut and opened. What passes, passes; and each frame of it is captured.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2, h3 10.0.0.3
. "$(dirname "$0")/lib.sh"
need tcpdump

for i in 1 2 3; do
	host h$i 10.0.0.$i/24
	at sw sysctl -qw net/ipv6/conf/h$i/disable_ipv6=1
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
networks:
  blue:
Y
awk 'BEGIN {
	for (i = 0; i < 20000; i++)
		printf "udp,nw_src=172.16.%d.%d,tp_dst=%d actions=drop\n", i / 256, i % 256, i % 100
}' >"$tmp/rules"
culvert flow replace "$tmp/rules" >/dev/null
cd "$tmp" || exit
for i in 0 1 2; do
	monitor mon$i
done

capture steady h1 --dir in --filter 'ether proto 0x88b5' --device mon0 -- -U -w -
steady=$job
capture shut h3 --filter 'ether proto 0x88b5' --device mon1 -- -U -w -
shut=$job
capturing 2
record h2
record h3
start h1 ping -q -i 0.02 -c 200 -W $((5 * slow)) 10.0.0.2 >ping.log
ping=$job

# again COMMAND: over and over, until there is enough of all.
again()
{
	(
		trap - ERR
		while [ ! -e enough ] && "$@"; do
			echo >>"turns.$1"
		done
	) 2>"$1.says" &
}
dump() { [ "$(culvert flow dump | grep -c nw_src)" = 20000 ]; }
flap() { culvert port disable h3 && culvert port enable h3 && sleep 0.05; }
others()
{
	"$build/culvert" -s "$tmp/sock" capture h1,h2,h3,network:blue -w others.pcapng &
	local pid=$!
	eventually 10 captures_are 3 && kill "$pid" && wait "$pid"
}
enough()
{
	local what
	for what in dump flap others; do
		[ "$(wc -l <turns.$what)" -ge 3 ] || return 1
	done
}
loops=
for what in dump flap others; do
	again $what
	loops="$loops $!"
done

say "2000 frames from h1 meanwhile"
py h1 <<'P'
import pcaps
frames = [eth(BROADCAST, "02:00:00:00:00:01", "number %05d" % i) for i in range(2000)]
pcaps.write("sent", frames)
send("e0", *frames, gap_s=0.001)
P
eventually 60 enough ||
	die "turns: $(wc -l turns.* 2>&1) $(cat dump.says flap.says others.says)"
touch enough
# shellcheck disable=SC2086 # several
wait $loops || die "$(cat dump.says flap.says others.says)"
wait $ping || true
say "$(wc -l turns.* | tr -s '\n ' ' ')"
read -r sent received <<<"$(awk '/transmitted/ {print $1, $4}' ping.log)"
equal "answers to pings" "$sent" "$received"
eventually 10 port_is h3 state up || die "h3 stays shut"
eventually 10 has_frames steady.out 2000 || die "steady: $(frames_in steady.out)"

say "h3 is captured as before"
py h1 <<'P'
import pcaps
late = [eth(BROADCAST, "02:00:00:00:00:01", "late %d" % i) for i in range(20)]
pcaps.write("late", late)
send("e0", *late, gap_s=0.01)
P
eventually 10 has_frames steady.out 2020 || die "steady: $(frames_in steady.out)"
late_ones() { tcpdump -r "$1" -A 2>/dev/null | grep -c 'late '; }
seen() { [ "$(late_ones "$1")" = 20 ]; }
eventually 10 seen shut.out || die "late ones of h3: $(late_ones shut.out)"
eventually 10 seen h3.received || die "late ones at h3: $(late_ones h3.received)"
eventually 10 seen h2.received || die "late ones at h2: $(late_ones h2.received)"
captures_are 2 || die "not both run still"
stop "$steady" "$shut"

"$python" - <<'P' || die "see above"
import pcaps


def ours(path):
    return [f for f in pcaps.read(path) if f[12:14] == b"\x88\xb5"]


sent = ours("sent") + ours("late")
pcaps.equal("h1", sent, ours("steady.out"))
pcaps.equal("received by h2", sent, ours("h2.received"))
# what h3 got while it was open
pcaps.equal("h3", ours("h3.received"), ours("shut.out"))
print("# h3 got %d of %d frames" % (len(ours("shut.out")), len(sent)))
P
equal "missed" 0 "$(value status "d['captures']['missed']")"
finish
