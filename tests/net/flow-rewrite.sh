#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that rewrite addresses, ports, TOS and TTL. TCP, UDP and ping go through a pair of rules
# that hides h2 behind other addresses and ports, with content that must arrive whole; tcpdump finds
# no wrong checksum.
#
#   h1 10.0.0.1 ---- culvert: 10.0.0.99 is h2 ---- h2 10.0.0.2
. "$(dirname "$0")/lib.sh"
need tcpdump

host h1 10.0.0.1/24 fd00::1/64
host h2 10.0.0.2/24 fd00::2/64
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
# nobody answers for these
ip -n "${prefix}h1" neighbour add 10.0.0.99 lladdr 02:00:00:00:00:99 dev e0
ip -n "${prefix}h1" neighbour add fd00::99 lladdr 02:00:00:00:00:99 dev e0
sniff h1
sniff h2

# correct NS: every checksum that it heard
correct() { unheard "$1" '(bad|wrong) ([a-z0-9]+ )?cksum|incorrect'; }

there="mod_dl_dst:02:00:00:00:00:02,output:h2"
back="mod_dl_src:02:00:00:00:00:99,output:h1"
rules \
	"tcp,nw_dst=10.0.0.99,tp_dst=7000 actions=mod_nw_dst:10.0.0.2,mod_tp_dst:7777,$there" \
	"tcp,nw_src=10.0.0.2,tp_src=7777 actions=mod_nw_src:10.0.0.99,mod_tp_src:7000,$back" \
	"udp,nw_dst=10.0.0.99 actions=mod_nw_dst:10.0.0.2,$there" \
	"udp,nw_src=10.0.0.2 actions=mod_nw_src:10.0.0.99,$back" \
	"icmp,nw_dst=10.0.0.99 actions=mod_nw_dst:10.0.0.2,dec_ttl,$there" \
	"icmp,nw_src=10.0.0.2,icmp_type=0 actions=set_field:10.0.0.99->nw_src,$back" \
	"tcp6,ipv6_dst=fd00::99 actions=set_field:fd00::2->ipv6_dst,mod_tp_dst:7777,$there" \
	"tcp6,ipv6_src=fd00::2 actions=set_field:fd00::99->ipv6_src,mod_tp_src:7000,$back" \
	"udp6,ipv6_dst=fd00::99 actions=set_field:fd00::2->ipv6_dst,$there" \
	"udp6,ipv6_src=fd00::2 actions=set_field:fd00::99->ipv6_src,$back" \
	"ipv6,nw_proto=44,ipv6_dst=fd00::99 actions=set_field:fd00::2->ipv6_dst,$there" \
	"icmp6,ipv6_dst=fd00::99 actions=set_field:fd00::2->ipv6_dst,dec_ttl,$there" \
	"icmp6,ipv6_src=fd00::2,icmp_type=129 actions=set_field:fd00::99->ipv6_src,$back"

# three ADDRESS [OPTION...]: three pings, three answers
three() { at h1 ping -q -c 3 -i 0.2 -W 2 "$@" | grep -q ' 3 received'; }
expect "ping" three 10.0.0.99
expect "ping with fragments" three 10.0.0.99 -s 4001
expect "ping -6" three fd00::99
heard h2 'ttl 63,.*proto ICMP'
heard h2 'hlim 63, next-header ICMPv6 .*echo request'
heard h2 '> 02:00:00:00:00:02, ethertype IPv4'
heard h1 '02:00:00:00:00:99 > 02:00:00:00:00:01, ethertype IPv4'
transfers h1 h2 10.0.0.99 tcp 5000000 10.0.0.2 7777
transfers h1 h2 fd00::99 tcp 5000000 fd00::2 7777
# with fragments, of which the first alone has ports and the checksum; a later one of IPv6 has
# protocol 44, as in Open vSwitch
transfers h1 h2 10.0.0.99 udp 50000 10.0.0.2
transfers h1 h2 fd00::99 udp 50000 fd00::2
for match in tcp tcp6 udp udp6 icmp icmp6 ipv6,nw_proto=44; do
	at_least "$match met its rules" 6 "$(hits $match)"
done
correct h1
correct h2

say "one field after the other"
: >"$tmp/h2.heard"
# case_of ACTIONS PATTERN [six 0x86dd [MATCH]]: what h2 sees of a UDP packet that went through them
case_of()
{
	rules "in_port=h1${5:+,$5} actions=$1,output:h2"
	py h1 <<P
import socket
import struct


def segment(src, dst, data, family):
    ends = socket.inet_pton(family, src) + socket.inet_pton(family, dst)
    head = struct.pack("!HHHH", 5000, 6000, 8 + len(data), 0)
    check = checksum(ends + struct.pack("!HH", 17, 8 + len(data)) + head + data)
    return head[:6] + struct.pack("!H", check or 0xffff) + data


four = ip4("10.0.0.1", "10.0.0.2", segment("10.0.0.1", "10.0.0.2", b"odd", socket.AF_INET), tos=1,
           ttl=9)
six = ip6("fd00::1", "fd00::2", segment("fd00::1", "fd00::2", b"even", socket.AF_INET6), tclass=1,
          hops=9)
send("e0", eth("02:00:00:00:00:02", mac_of("e0"), ${3:-four}, type=${4:-0x800}))
P
	eventually 5 grep -qzE "$2" "$tmp/h2.heard" || die "$1: not heard: $2"
	: >"$tmp/h2.heard"
}
# tcpdump writes two lines for a packet
case_of mod_nw_tos:184 'tos 0xb9,.*udp sum ok'
case_of mod_nw_ecn:3 'tos 0x3,.*udp sum ok'
case_of mod_nw_ttl:200 'ttl 200,.*udp sum ok'
case_of dec_ttl 'ttl 8,.*udp sum ok'
case_of dec_ttl,dec_ttl,mod_nw_tos:4 'tos 0x5,.*ttl 7,.*udp sum ok'
case_of mod_nw_src:255.255.255.254 '255.255.255.254.5000 > 10.0.0.2.6000: .udp sum ok'
case_of mod_nw_dst:10.0.0.3 '10.0.0.1.5000 > 10.0.0.3.6000: .udp sum ok'
case_of mod_tp_src:65535 '10.0.0.1.65535 > 10.0.0.2.6000: .udp sum ok'
case_of mod_tp_dst:0 '10.0.0.1.5000 > 10.0.0.2.0: .udp sum ok'
case_of mod_dl_src:02:00:00:00:00:55 '02:00:00:00:00:55 > 02:00:00:00:00:02'
case_of 'set_field:02:00:00:00:00:55->eth_dst' '02:00:00:00:00:01 > 02:00:00:00:00:55'
case_of dec_ttl 'class 0x01,.*hlim 8,.*udp sum ok' six 0x86dd
case_of mod_nw_tos:184 'class 0xb9,.*hlim 9,.*udp sum ok' six 0x86dd
case_of 'set_field:fd00::5->ipv6_src' 'fd00::5.5000 > fd00::2.6000: .udp sum ok' six 0x86dd ipv6
case_of 'set_field:ffff::5->ipv6_dst' 'fd00::1.5000 > ffff::5.6000: .udp sum ok' six 0x86dd ipv6
case_of mod_tp_dst:53000 'fd00::1.5000 > fd00::2.53000: .udp sum ok' six 0x86dd
case_of mod_nw_dst:10.0.0.3 'hlim 9,.*fd00::1.5000 > fd00::2.6000: .udp sum ok' six 0x86dd

say "a TTL that is spent ends the packet by name"
rules "in_port=h1 actions=mod_nw_ttl:2,dec_ttl,dec_ttl,output:h2"
at h1 ping -q -c 2 -i 0.2 -W 1 10.0.0.2 >/dev/null || true
expect "ttl-expired" eventually 5 dropped ttl-expired 2 h1
equal "hits" "$(hits in_port=h1)" "$(drops ttl-expired h1)"
correct h2
finish
