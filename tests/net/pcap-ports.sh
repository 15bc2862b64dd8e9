#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# pcap ports: a file in, a file out; then a mix with a netdev, a sink, and files that are none.
#
#   in.pcap ---- replay | culvert: blue | record ---- out.pcap;  h1;  hole (sink)
. "$(dirname "$0")/lib.sh"
need tcpdump

host h1
"$python" - "$tmp" <<'P'
import struct
import sys
from frames import *


def pcap(path, frames, magic=0xa1b2c3d4, linktype=1, order="<"):
    with open(path, "wb") as f:
        f.write(struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, linktype))
        for i, frame in enumerate(frames):
            f.write(struct.pack(order + "IIII", 1700000000, i, len(frame), len(frame)) + frame)


frames = [eth(BROADCAST, "02:00:00:00:01:%02x" % i, "frame-%d." % i + "." * 50) for i in range(200)]
pcap(sys.argv[1] + "/in.pcap", frames)
pcap(sys.argv[1] + "/big-endian.pcap", frames, order=">")
pcap(sys.argv[1] + "/nano.pcap", frames, magic=0xa1b23c4d)
pcap(sys.argv[1] + "/not-ethernet.pcap", frames, linktype=101)
pcap(sys.argv[1] + "/empty.pcap", [])
whole = open(sys.argv[1] + "/in.pcap", "rb").read()
open(sys.argv[1] + "/cut.pcap", "wb").write(whole[:-30])
open(sys.argv[1] + "/no-pcap.pcap", "wb").write(b"this is no pcap file, and was never one\n" * 20)
P

# config RX-FILE [OPTIONS]
config()
{
	rm -f "$tmp/out.pcap"
	write_config <<Y
ports:
  replay: {type: pcap, rx: $1, untagged: blue${2:-}}
  record: {type: pcap, tx: out.pcap, untagged: blue}
  hole: {type: sink, untagged: blue}
  h1: {untagged: blue}
networks:
  blue:
Y
}

# written: frames in out.pcap
written() { tcpdump -nn -t -r "$tmp/out.pcap" 2>/dev/null | grep -c '^[0-9a-f:]* >'; }

listen h1
for file in in big-endian nano; do
	for preload in false true; do
		: >"$tmp/h1.heard"
		config $file.pcap ", preload: $preload"
		run_culvert
		expect "done" eventually 10 port_is replay state "done"
		heard h1 '"frame-199\.'
		books
		equal "rx, $file" 200 "$(port replay rx_packets)"
		equal "tx of record, $file" 200 "$(port record tx_packets)"
		equal "tx of the sink, $file" 200 "$(port hole tx_packets)"
		stop_culvert
		tcpdump -nn -r "$tmp/out.pcap" >/dev/null 2>"$tmp/tcpdump.err" ||
			die "tcpdump: $(cat "$tmp/tcpdump.err")"
		equal "frames in out.pcap" 200 "$(written)"
		equal "frames at h1" 200 "$(count_heard h1 frame-)"
		say "$file, preload $preload"
	done
done
"$python" - "$tmp" <<'P' || die "the frames differ"
import sys


def frames(path):
    data = open(path, "rb").read()
    at = 24
    while at < len(data):
        n = int.from_bytes(data[at + 8:at + 12], "little")
        yield data[at + 16:at + 16 + n]
        at += 16 + n


sys.exit(list(frames(sys.argv[1] + "/in.pcap")) != list(frames(sys.argv[1] + "/out.pcap")))
P

say "over and over"
config in.pcap ", loop: true"
run_culvert
many() { [ "$(port replay rx_packets)" -gt 1000 ]; }
expect "more than the file has" eventually 10 many
equal "the daemon stays" up "$(port replay state)"
stop_culvert

say "an empty file, and one that was cut"
for file in empty cut; do
	config $file.pcap
	run_culvert
	expect "done" eventually 10 port_is replay state "done"
	books
	stop_culvert
done
say "files that are refused by name"
for file in not-ethernet no-pcap nosuch; do
	config $file.pcap
	expect_not "a start with $file.pcap" \
		at sw timeout 20 "$build/culvertd" -c "$tmp/culvert.yaml" >"$tmp/out" 2>&1
	grep -q "$file" "$tmp/out" || die "$file is not named: $(cat "$tmp/out")"
	no_sanitizer_report
	! grep -E 'Sanitizer|runtime error' "$tmp/out" || die "a sanitizer spoke up"
done
say "passed"
