#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Hostile frames out of pcap files that scapy made: all truncations, damaged headers, random
# bytes, giants. Nothing crashes, the books balance, and what comes out can be read by tcpdump.
#
#   hostile.pcap ---- replay (untagged, tagged, rest) | culvert | record ---- out.pcap
. "$(dirname "$0")/lib.sh"
need tcpdump
"$python" -c 'import scapy' 2>/dev/null || skip "needs python3-scapy (tools/install-deps)"

seed=${SEED:-$RANDOM}
say "SEED=$seed"
"$python" - "$tmp/hostile.pcap" "$seed" <<'P'
import logging
import random
import sys
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import (ARP, Dot1AD, Dot1Q, Dot3, Ether, GRE, ICMP, ICMPv6ND_NS, IP, IPOption, IPv6,
                       IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting,
                       LLC, PcapWriter, Raw, SCTP, STP, TCP, UDP, VXLAN, fuzz, raw)

random.seed(int(sys.argv[2]))
e = Ether(src="02:00:00:00:00:01", dst="ff:ff:ff:ff:ff:ff")
u = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
good = [
    e / ARP(), e / Raw(b"x"), u / IP() / TCP() / b"data", u / IP() / UDP() / b"data",
    u / IP() / ICMP(), u / IP(options=[IPOption(b"\x83\x07\x04\x0a\x00\x00\x01")]) / UDP(),
    u / IP(frag=100) / Raw(b"x" * 20), u / IP(flags="MF") / UDP() / Raw(b"x" * 20),
    u / IP() / GRE() / IP() / UDP(), u / IP() / SCTP(),
    u / IPv6() / TCP(), u / IPv6() / UDP() / b"x", u / IPv6() / IPv6ExtHdrHopByHop() / UDP(),
    u / IPv6() / IPv6ExtHdrDestOpt() / IPv6ExtHdrRouting() / IPv6ExtHdrFragment(offset=3) / b"x",
    u / IPv6() / IPv6ExtHdrFragment(m=1) / UDP() / b"x", e / IPv6() / ICMPv6ND_NS(),
    e / Dot1Q(vlan=100) / IP() / UDP(), e / Dot1Q(vlan=0, prio=5) / IP() / UDP(),
    e / Dot1Q(vlan=4095) / ARP(), e / Dot1Q(vlan=100) / Dot1Q(vlan=7) / IP(),
    e / Dot1AD(vlan=200) / Dot1Q(vlan=100) / IPv6() / UDP(),
    Dot3(src="02:00:00:00:00:01", dst="01:80:c2:00:00:00") / LLC() / STP(),
    u / IP() / UDP(dport=4789) / VXLAN(vni=10) / e / IP() / TCP(),
    Ether(src="ff:ff:ff:ff:ff:ff", dst="02:00:00:00:00:01") / IP(),
    Ether(src="00:00:00:00:00:00") / IP(),
]
out = PcapWriter(sys.argv[1], linktype=1)
n = 0


def put(frame):
    global n
    out.write(frame)
    n += 1


for p in good:
    b = raw(p)
    put(b)
    for length in range(len(b)):
        put(b[:length])
    for _ in range(60):
        d = bytearray(b)
        for _ in range(random.randint(1, 4)):
            d[random.randrange(12, len(d))] = random.choice(
                (0, 1, 0x0f, 0x40, 0x45, 0x60, 0x7f, 0x80, 0xff))
        put(bytes(d))
for _ in range(300):
    put(raw(u / fuzz(IP() / UDP())))
    put(raw(u / fuzz(IPv6() / UDP())))
    put(raw(u / fuzz(IP() / TCP())))
for _ in range(2000):
    put(random.randbytes(random.choice((0, 1, 13, 14, 15, 17, 18, 60, 128, 1514, 1518, 2000))))
for length in (1515, 1518, 1519, 2047, 2048, 2049, 3500, 4095, 4096, 4097, 9000, 16384, 65535):
    put(raw(u / Raw(bytes(length - 14))))
    put(raw(e / Raw(random.randbytes(length - 14))))
    put(raw(e / Dot1Q(vlan=100) / Raw(bytes(length - 18))))
out.close()
print("# %d frames" % n)
P

for how in "untagged: blue" "tagged: {100: blue, 1-99: tenant}" \
	"untagged: red, tagged: {100: blue}, rest: wire"; do
	for preload in false true; do
		write_config <<Y
ports:
  replay: {type: pcap, rx: hostile.pcap, preload: $preload, $how}
  record: {type: pcap, tx: out.pcap, untagged: blue, tagged: {5: red}, rest: wire}
  access: {type: pcap, tx: access.pcap, untagged: wire, tagged: {1-99: tenant}}
  hole: {type: sink, untagged: blue}
networks:
  blue:
  red:
  wire:
  tenant: {range: 1-99}
Y
		run_culvert
		expect "done" eventually 60 port_is replay state "done"
		at_least "frames in" 1000 "$(port replay rx_packets)"
		books
		stop_culvert
		for out in out access; do
			tcpdump -nn -e -r "$tmp/$out.pcap" >/dev/null 2>"$tmp/tcpdump.err" ||
				die "tcpdump -r $out.pcap: $(cat "$tmp/tcpdump.err")"
		done
		say "$how, preload $preload"
	done
done
say "passed"
