#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures of a tunnel and of networks, and of an underlay device with and without what is inside:
# compared with what tcpdump sees in front of the kernel's own VXLAN device, and behind it.
#
#   h1 ---- untagged = blue          |         |
#   h2 ---- untagged = red           | culvert | ul0 ---- fabric ---- r1 192.0.2.2, vx10, vx20
#   h3 ---- tagged 100 = blue        |         |
. "$(dirname "$0")/lib.sh"
need tcpdump

for i in 1 2 3; do
	host h$i
	at sw sysctl -qw net/ipv6/conf/h$i/disable_ipv6=1
done
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1
vxlan r1 20 192.0.2.2 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: red}
  h3: {tagged: {100: blue}}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
  red: {vni: 20, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 1
cd "$tmp" || exit

capture_dump tunnel tunnel:192.0.2.2
capture_dump tunnel-in 192.0.2.2 --dir in
capture_dump tunnel-out tunnel:192.0.2.2 --dir out
capture_dump blue network:blue
capture_dump blue-out network:blue --dir out
capture_dump both network:blue,network:red
capture_dump mixed h1,network:red --dir in
capture_dump under ul0
capture_dump inner ul0 --inner
capture_dump inner-out ul0 --inner --dir out --filter 'ether proto 0x88b5'
# what arrives at r1 outside and inside, and what leaves it
start r1 tcpdump -i e0 -Q out -U -w - udp port 4789 >r1.sent 2>r1.listens
start r1 tcpdump -i e0 -Q in -U -w - udp port 4789 >r1.received 2>r1.listens2
for vni in 10 20; do
	start r1 tcpdump -i vx$vni -Q in -U -w - >vx$vni.received 2>vx$vni.listens
done
for file in r1.listens r1.listens2 vx10.listens vx20.listens; do
	eventually 10 grep -q 'listening on' $file || die "r1 cannot listen"
done
capturing

# sends NS DEV NAME [TAG]: 50 frames, written to NAME.sent as they are in the network.
sends()
{
	py "$1" <<P || die "$1 did not send"
import pcaps
import random
rng = random.Random("$3")
source = "02:00:00:00:%02x:%02x" % (ord("$3"[0]), int("$3"[-1]))
frames = [eth(BROADCAST, source, rng.randbytes(rng.randrange(46, 1450))) for i in range(50)]
pcaps.write("$3.sent", frames)
send("$2", *[f[:12] + bytes.fromhex("${4:-}") + f[12:] for f in frames], gap_s=0.0005)
P
}
sends h1 e0 h1
sends h2 e0 h2
sends h3 e0 h3 81000064
sends r1 vx10 r10
sends r1 vx20 r20

cat >check.py <<'P'
import sys
import pcaps


def read(*names):
    return [f for name in names for f in pcaps.read(name)]


def tagged(frames):
    return [f[:12] + b"\x81\x00\x00\x64" + f[12:] for f in frames]


here = read("h1.sent", "h2.sent", "h3.sent")
there = read("vx10.received", "vx20.received")
pcaps.equal("r1", here, there)
rows = {
    "tunnel": here + read("r10.sent", "r20.sent"),
    "tunnel-in": read("r10.sent", "r20.sent"),
    "tunnel-out": here,
    # each frame once, as it came in
    "blue": read("h1.sent", "r10.sent") + tagged(read("h3.sent")),
    "both": read("h1.sent", "h2.sent", "r10.sent", "r20.sent") + tagged(read("h3.sent")),
    "mixed": read("h1.sent", "h2.sent", "r20.sent"),
    "under": read("r1.sent", "r1.received"),
    "inner": read("r1.sent", "r1.received", "r10.sent", "r20.sent") + here,
    "inner-out": here,
}
# and as often as it left: to h1 and to the tunnel as it is, to h3 with a tag
out = read("h3.sent", "h3.sent", "h1.sent", "r10.sent") + tagged(read("h1.sent", "r10.sent"))
if sys.argv[1:] == ["counts"]:
    for name, frames in rows.items():
        print(name, len(frames))
    print("blue-out", len(out))
    sys.exit()
for name, frames in rows.items():
    pcaps.equal(name, frames, read(name + ".out"))
assert sorted(read("blue-out.out")) == sorted(out), "blue-out"
P
for one in "r1.received 150" "vx10.received 100" "vx20.received 50" "r1.sent 100"; do
	# shellcheck disable=SC2086 # two words
	eventually 10 has_frames $one || die "$one frames: $(frames_in ${one% *})"
done
"$python" check.py counts >counts || die "see above"
while read -r name wanted; do
	eventually 10 has_frames "$name.out" "$wanted" ||
		die "$name: $(frames_in "$name.out") of $wanted frames: $(cat "$name.says")"
done <counts
stop_captures
"$python" check.py || die "see above"
equal "missed" 0 "$(value status "d['captures']['missed']")"
finish
