#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What a capture takes: filters, lengths, samples and drops, all of them on one port at once, each
# against a naive reading of what was sent.
#
#   h1 ---- untagged = blue | culvert | tagged 100 = blue ---- h2
. "$(dirname "$0")/lib.sh"
need tcpdump

for i in 1 2; do
	host h$i
	at sw sysctl -qw net/ipv6/conf/h$i/disable_ipv6=1
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {tagged: {100: blue}}
networks:
  blue: {static: {"02:00:00:00:00:02": h2}}
Y
cd "$tmp" || exit

capture_dump all h1
capture_dump dns h1 --filter 'udp port 53'
capture_dump two h1 --filter 'udp port 123 or less 100'
capture_dump none h1 --filter 'greater 2000'
capture_dump cut h1 --snaplen 60
capture_dump seventh h1 --dir in --sample 7
capture_dump dns-third h1 --filter 'udp port 53' --sample 3
capture_dump tagged h2 --dir out --filter 'vlan 100 and udp port 53' --snaplen 46
capture_dump lost h1 --drops
capture_dump lost-in h1 --drops --dir in
capture_dump lost-out h2 --drops --dir out
capture_dump not-lost h2 --drops --dir in
capture file h1 --dir in --snaplen 60 -w file.pcapng
capturing

py h1 <<'P' || die "h1 did not send"
import os
import random
import pcaps
seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
print("# SEED=%d" % seed)
rng = random.Random(seed)


def frame(port, tags=(), dst=BROADCAST, src="02:00:00:00:00:01"):
    payload = udp(1000, port, rng.randbytes(rng.randrange(1, 1400)))
    return eth(dst, src, ip4("10.0.0.1", "10.0.0.2", payload), 0x0800, tags=tags)


good = [frame(rng.choice((53, 123, 4789))) for i in range(200)]
# of a VLAN that the port does not map, of nobody, and to where it came from
bad = [frame(53, tags=[77]), frame(123, src="03:00:00:00:00:01"),
       frame(53, dst="02:00:00:00:00:01")] * 5
mixed = good + bad
rng.shuffle(mixed)
# known here before the first one comes
mixed.insert(0, good[0])
pcaps.write("sent", mixed)
pcaps.write("bad", [f for f in mixed if f in bad])
send("e0", *mixed, gap_s=0.0005)
P
expect "all of it" eventually 10 has_frames all.out 216
say "a port that is shut drops what would leave there"
culvert port disable h2 >/dev/null
py h1 <<'P'
import pcaps
late = [eth("02:00:00:00:00:02", "02:00:00:00:00:01", "late %d" % i) for i in range(9)]
pcaps.write("late", late)
send("e0", *late)
P
expect "the late ones" eventually 10 has_frames all.out 225

equal "why" 9 "$(drops port-down h1)"

cat >check.py <<'P'
import re
import struct
import sys
import pcaps
from capture import blocks

TAG = b"\x81\x00\x00\x64"
sent, bad, late = (pcaps.read(f) for f in ("sent", "bad", "late"))
every = sent + late
good = [f for f in sent if f not in bad]


def port(frame):
    return int.from_bytes(frame[36:38], "big") if frame[12:14] == b"\x08\x00" else 0


# capture: what its filter lets pass, and one of how many of these
rows = {
    "all": (every, 1),
    "dns": ([f for f in every if port(f) == 53], 1),
    "two": ([f for f in every if port(f) == 123 or len(f) <= 100], 1),
    "none": ([], 1),
    "cut": ([f[:60] for f in every], 1),
    "seventh": (every, 7),
    "dns-third": ([f for f in every if port(f) == 53], 3),
    "tagged": ([(f[:12] + TAG + f[12:])[:46] for f in good if port(f) == 53], 1),
    "lost": ([f for f in every if f in bad + late], 1),
    "lost-in": ([f for f in every if f in bad + late], 1),
    # they died before they got their tag
    "lost-out": (late, 1),
    "not-lost": ([], 1),
}
if sys.argv[1:] == ["counts"]:
    for name, (matched, sample) in rows.items():
        print(name, len(matched[::sample]))
    sys.exit()
for name, (matched, sample) in rows.items():
    wanted = matched[::sample]
    pcaps.equal(name, wanted, pcaps.read(name + ".out"))
    with open(name + ".says") as f:
        said = re.search("culvert capture: (.*)", f.read()).group(1)
    totals = "%d captured, 0 missed" % len(wanted)
    if sample > 1:
        totals += ", of %d that matched" % len(matched)
    assert said == totals, (name, said, totals)
with open("file.pcapng", "rb") as f:
    packets = [body for kind, body in blocks(f.read()) if kind == 6]
lengths = [struct.unpack_from("=II", p, 12) for p in packets]
assert lengths == [(min(60, len(f)), len(f)) for f in every], lengths
P
"$python" check.py counts >counts
while read -r name wanted; do
	eventually 10 has_frames "$name.out" "$wanted" ||
		die "$name: $(frames_in "$name.out") of $wanted frames: $(cat "$name.says")"
done <counts
stop_captures
"$python" check.py || die "see above"
finish
