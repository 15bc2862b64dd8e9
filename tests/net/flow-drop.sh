#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that drop, by each field: the frame that the rule matches ends there, counted by the rule
# and by name; one that differs in that field goes on to the other host, where tcpdump sees it.
#
#   h1 ---- culvert: blue (h1 also has VLANs 100 and 200 of it) ---- h2
. "$(dirname "$0")/lib.sh"
need tcpdump
"$python" -c 'import scapy' 2>/dev/null || skip "needs python3-scapy (tools/install-deps)"

host h1
host h2
start_culvert <<'Y'
ports:
  h1: {untagged: blue, tagged: {100: red, 200: green}}
  h2: {untagged: blue, tagged: {100: red, 200: green}}
networks:
  blue:
  red:
  green:
Y

# One case a line: the rule's match, a frame that it matches and one that it does not. Case N's
# frames are told apart by their source address: 02:00:00:01:NN:01 and ...:02.
cat >"$tmp/cases.py" <<'P'
from scapy.all import *

a4, b4 = "10.0.0.1", "10.0.0.2"
a6, b6 = "fd00::1", "fd00::2"


def ip(**k):
    return IP(**{"src": a4, "dst": b4, **k})


def ip6(**k):
    return IPv6(**{"src": a6, "dst": b6, **k})


def vlan(vid, prio=0):
    return Dot1Q(vlan=vid, prio=prio) / ip() / UDP()


def fragment(offset, more):
    return ip(frag=offset, flags="MF" if more else 0, proto=17) / Raw(bytes(UDP()) + b"." * 24)


def solicit(target, kind=ICMPv6ND_NS):
    return ip6() / kind(tgt=target)


cases = [
    ("in_port=h1", None, None),
    ("dl_src=02:00:00:01:01:01", ip(), ip()),
    ("dl_src=02:00:00:00:00:01/00:00:00:00:00:03", ip(), ip()),
    ("dl_dst=ff:ff:ff:ff:ff:ff", (BCAST, ip()), ip()),
    ("dl_dst=01:00:00:00:00:00/01:00:00:00:00:00", (BCAST, ip()), ip()),
    ("dl_type=0x0800", ip(), ip6() / UDP()),
    ("ip", ip(), ARP()),
    ("ipv6", ip6() / UDP(), ip()),
    ("arp", ARP(), ip()),
    ("dl_vlan=100", vlan(100), vlan(200)),
    ("dl_vlan=0xffff", ip(), vlan(100)),
    ("dl_vlan_pcp=5", vlan(100, 5), vlan(100, 4)),
    ("vlan_tci=0x1064/0x1fff", vlan(100, 7), vlan(200)),
    ("vlan_tci=0x1000/0x1000", vlan(200), ip()),
    ("ip,nw_src=10.0.0.1", ip(), ip(src="10.0.0.3")),
    ("ip,nw_src=10.7.0.0/16", ip(src="10.7.255.1"), ip(src="10.8.0.1")),
    ("ip,nw_dst=10.0.0.0/255.0.0.255", ip(dst="10.99.98.0"), ip(dst="10.99.98.1")),
    ("ip,nw_proto=47", ip(proto=47), ip(proto=46)),
    ("ip,nw_tos=32", ip(tos=35), ip(tos=36)),
    ("ip,nw_ecn=3", ip(tos=35), ip(tos=34)),
    ("ip,nw_ttl=64", ip(ttl=64), ip(ttl=65)),
    ("ip,ip_frag=no", ip(), fragment(0, True)),
    ("ip,ip_frag=yes", fragment(0, True), ip()),
    ("ip,ip_frag=first", fragment(0, True), fragment(3, False)),
    ("ip,ip_frag=later", fragment(3, True), fragment(0, True)),
    ("ip,ip_frag=not_later", fragment(0, True), fragment(3, True)),
    ("tcp", ip() / TCP(), ip() / UDP()),
    ("tcp,tp_dst=80", ip() / TCP(dport=80), ip() / UDP(dport=80)),
    ("tcp,tp_src=1024", ip() / TCP(sport=1024), ip() / TCP(sport=1025)),
    ("udp,tp_dst=0x400/0xfc00", ip() / UDP(dport=0x5ff), ip() / UDP(dport=0x900)),
    ("udp,tp_dst=53", ip() / UDP(dport=53), fragment(3, False)),
    ("sctp,tp_dst=7", ip() / SCTP(dport=7), ip() / SCTP(dport=8)),
    ("tcp,tcp_flags=+syn-ack", ip() / TCP(flags="S"), ip() / TCP(flags="SA")),
    ("tcp,tcp_flags=0x10/0x10", ip() / TCP(flags="A"), ip() / TCP(flags="S")),
    ("icmp", ip() / ICMP(), ip6() / ICMPv6EchoRequest()),
    ("icmp,icmp_type=8", ip() / ICMP(type=8), ip() / ICMP(type=0)),
    ("icmp,icmp_type=3,icmp_code=4", ip() / ICMP(type=3, code=4), ip() / ICMP(type=3, code=3)),
    ("arp,arp_op=2", ARP(op=2), ARP(op=1)),
    ("arp,arp_spa=10.3.0.0/16", ARP(psrc="10.3.0.1"), ARP(psrc="10.4.0.1")),
    ("arp,arp_tpa=10.3.0.1", ARP(pdst="10.3.0.1"), ARP(pdst="10.3.0.2")),
    ("arp,arp_sha=02:00:00:00:00:77", ARP(hwsrc="02:00:00:00:00:77"), ARP()),
    ("arp,arp_tha=02:00:00:00:00:77", ARP(hwdst="02:00:00:00:00:77"), ARP()),
    ("ipv6,ipv6_src=fd00::1", ip6() / UDP(), ip6(src="fd00::3") / UDP()),
    ("ipv6,ipv6_dst=fd07::/16", ip6(dst="fd07:1::1") / UDP(), ip6(dst="fd08::1") / UDP()),
    ("ipv6,ipv6_dst=::5/::ff", ip6(dst="fd07::105") / UDP(), ip6(dst="fd07::106") / UDP()),
    ("ipv6,nw_tos=32", ip6(tc=32) / UDP(), ip6(tc=64) / UDP()),
    ("ipv6,nw_ttl=9", ip6(hlim=9) / UDP(), ip6(hlim=8) / UDP()),
    ("tcp6,tp_dst=80", ip6() / TCP(dport=80), ip6() / TCP(dport=81)),
    ("udp6,tp_src=80", ip6() / UDP(sport=80), ip() / UDP(sport=80)),
    ("icmp6,icmp_type=128", ip6() / ICMPv6EchoRequest(), ip6() / ICMPv6EchoReply()),
    ("icmp6,icmp_type=135,nd_target=fd00::7", solicit("fd00::7"), solicit("fd00::8")),
    ("icmp6,icmp_type=136,nd_target=fd00::7", solicit("fd00::7", ICMPv6ND_NA),
     solicit("fd00::7")),
    ("eth_type=0x0800,ip_proto=17,ipv4_src=10.0.0.1,udp_dst=99", ip() / UDP(dport=99),
     ip() / UDP(dport=98)),
]
P
sed -i 's/BCAST/"ff:ff:ff:ff:ff:ff"/' "$tmp/cases.py"
cat >"$tmp/send.py" <<'P'
import sys
sys.path.insert(0, sys.argv[1])
from cases import *


def frame(n, kind, what):
    dst, packet = what if isinstance(what, tuple) else ("02:00:00:00:00:02", what)
    return Ether(src="02:00:00:01:%02x:%02x" % (n, kind), dst=dst) / packet


s = conf.L2socket(iface="e0")
for n, (match, good, other) in enumerate(cases):
    print(n, match, int(other is not None), flush=True)
    sys.stdin.readline()
    s.send(frame(n, 1, good or ip()))
    if other is not None:
        s.send(frame(n, 2, other))
print("end", flush=True)
P

sniff h2
coproc SENDER { at h1 "$python" "$tmp/send.py" "$tmp" 2>"$tmp/send.err"; }
# bash forgets its own the moment the program ends
exec {cases}<&"${SENDER[0]}" {sender}>&"${SENDER[1]}"

# counted DROPPED PASSED: what the two rules of the present case say.
counted()
{
	culvert flow dump >"$tmp/dump"
	grep -q "n_packets=$1, .*priority=7," "$tmp/dump" &&
		grep -q "n_packets=$2, .*priority=1 " "$tmp/dump"
}

# The cookie makes each case's rule one of its own, also when two matches are the same. The one
# behind it stays, with its counters.
n_cases=0 n_passed=0
while read -r n match other <&"$cases" && [ "$n" != end ]; do
	id=$(printf '02:00:00:01:%02x' "$n")
	rules "cookie=$((n + 1)),priority=7,$match actions=drop" "priority=1 actions=normal"
	echo go >&"$sender"
	n_cases=$((n_cases + 1)) n_passed=$((n_passed + other))
	[ "$other" = 0 ] || heard h2 "^$id:02 >"
	eventually 5 counted 1 $n_passed || die "$match: counted $(cat "$tmp/dump")"
	unheard h2 "^$id:01 >"
done
at_least "cases ($(cat "$tmp/send.err"))" 50 $n_cases
equal "dropped by name" $n_cases "$(drops flow-drop h1)"
say "$n_cases fields"

say "the highest priority decides, and with the last rule gone all is switched"
rules "priority=5,ip actions=drop" "priority=6,ip,nw_src=10.0.0.1 actions=normal" \
	"priority=4,ip,nw_src=10.0.0.2 actions=normal"
py h1 <<'P'
for n, src in enumerate(("10.0.0.1", "10.0.0.2")):
    send("e0", eth("02:00:00:00:00:02", "02:00:00:02:00:%02x" % n, ip4(src, "10.0.0.9", udp(1, 2)),
                   type=0x800))
P
heard h2 '^02:00:00:02:00:00 >'
unheard h2 '^02:00:00:02:00:01 >'
culvert flow del all >/dev/null
py h1 <<'P'
send("e0", eth("02:00:00:00:00:02", "02:00:00:02:00:02", ip4("10.0.0.2", "10.0.0.9", udp(1, 2)),
               type=0x800))
P
heard h2 '^02:00:00:02:00:02 >'
finish
