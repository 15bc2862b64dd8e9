#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Two workers, each with its ring: a capture has the frames of both, each flow in its order; each
# worker takes one frame in so many. pcapng is by time, but for frames of the same moment.
#
#   h1 (2 queues) ---- culvert, 2 workers: blue ---- h2 (2 queues)
#
# vm: cpus 2
. "$(dirname "$0")/lib.sh"
need tcpdump
[ "$(nproc)" -ge 2 ] || skip "needs two CPUs"

for i in 1 2; do
	namespace h$i
	at sw sysctl -qw net.ipv6.conf.default.disable_ipv6=1
	veth sw h$i h$i e0 numrxqueues 2 numtxqueues 2
done
start_culvert <<'Y'
workers: {cores: 0-1, ring: 1024}
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
cd "$tmp" || exit
capture_dump tcpdump h1
capture_dump sample h1 --dir in --sample 5
capture file h1,h2 -w file.pcapng
capturing
py h1 <<'P'
import pcaps
frames = []
for turn in range(50):
    for flow in range(40):
        payload = udp(1000 + flow, 7777, b"turn %02d" % turn)
        frames.append(eth(BROADCAST, "02:00:00:00:01:%02x" % flow,
                          ip4("10.0.0.1", "10.0.0.2", payload), 0x0800))
pcaps.write("sent", frames)
send("e0", *frames, gap_s=0.0005)
P
queue() { at sw ethtool -S h1 | awk -v q="rx_queue_$1_xdp_packets:" '$1 == q {print $2}'; }
first=$(queue 0)
second=$(queue 1)
say "$first and $second frames in the queues of h1"
at_least "frames in the first queue" 100 "$first"
at_least "frames in the second queue" 100 "$second"
equal "frames" 2000 $((first + second))
eventually 10 has_frames tcpdump.out 2000 || die "tcpdump: $(frames_in tcpdump.out) of 2000"
wanted=$(((first + 4) / 5 + (second + 4) / 5))
eventually 10 has_frames sample.out $wanted || die "sample: $(frames_in sample.out) of $wanted"
stop_captures
"$python" - <<'P' || die "see above"
import struct
import pcaps
from capture import blocks

sent = pcaps.read("sent")
pcaps.equal("tcpdump", sent, pcaps.read("tcpdump.out"))
with open("file.pcapng", "rb") as f:
    packets = [body for kind, body in blocks(f.read()) if kind == 6]
frames, times = {}, []
for body in packets:
    interface, high, low, caplen = struct.unpack_from("=IIII", body)
    frames.setdefault(interface, []).append(body[20:20 + caplen])
    times.append(high << 32 | low)
assert len(frames) == 2
for interface, seen in frames.items():
    pcaps.equal("interface %d of the file" % interface, sent, seen)
late = sum(a > b for a, b in zip(times, times[1:]))
print("# %d of %d frames are earlier than the one before" % (late, len(times)))
P
equal "missed" 0 "$(value status "d['captures']['missed']")"
finish
