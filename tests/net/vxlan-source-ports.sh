#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Outer source ports: 1000 flows get at least 940 different ones inside the range, a flow always
# the same, all fragments of a datagram the same. With the hash of the descriptor (native), and
# without one (skb).
#
# The flows are unconnected UDP sockets: on veth their hash is that of the tuple, while TCP and
# connected UDP carry a random number that the socket may change.
#
#   h1 10.0.0.1 ---- culvert, VTEP 192.0.2.1 (ul0) ---- fabric ---- r1 192.0.2.2, vx10: 10.0.0.2
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24 fd00::1/64
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24 fd00::2/64
ip -n "${prefix}r1" link set vx10 mtu 1500
listen r1

# run OPTIONS-OF-h1 OPTIONS-OF-tunnels
run()
{
	start_culvert <<Y
ports:
  h1: {untagged: blue$1}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]$2}
Y
	expect "ping" pings h1 10.0.0.2
	expect "ping -6" pings h1 fd00::2
	: >"$tmp/r1.heard"
}

# flows ADDRESS N: N sockets, each sends twice.
flows()
{
	py h1 <<P
import socket
flows = []
for i in range($2):
    s = socket.socket(socket.AF_INET6 if ":" in "$1" else socket.AF_INET, socket.SOCK_DGRAM)
    s.bind(("", 10000 + i))
    flows.append(s)
for turn in range(2):
    for s in flows:
        s.sendto(b"x" * 32, ("$1", 7777))
        time.sleep(0.0005)
P
}

# ports_of ADDRESS: "FLOWS PORTS LOWEST HIGHEST UNSTEADY" of what r1 heard for it.
ports_of()
{
	"$python" - "$tmp/r1.heard" "$1" <<'P'
import re
import sys
flow = {}
unsteady = 0
for line in open(sys.argv[1]):
    m = re.search(r"udp (\d+) > 4789 .* > %s .* udp (\d+) > 7777" % re.escape(sys.argv[2]), line)
    if m:
        outer, inner = int(m[1]), int(m[2])
        unsteady += flow.setdefault(inner, outer) != outer
ports = set(flow.values()) or {0}
print(len(flow), len(ports), min(ports), max(ports), unsteady)
P
}

all_flows() { [ "$(grep -cE "> $1 .*> 7777 " "$tmp/r1.heard")" -ge "$2" ]; }

for mode in native skb; do
	run ", mode: $mode" ""
	for address in 10.0.0.2 fd00::2; do
		flows $address 1000
		expect "all flows arrive" eventually 10 all_flows $address 2000
		read -r n different lowest highest unsteady <<<"$(ports_of $address)"
		say "$mode, $address: $n flows, $different source ports, $lowest to $highest"
		equal "flows" 1000 "$n"
		at_least "different source ports" 940 "$different"
		at_least "lowest" 49152 "$lowest"
		at_least "65535 - highest" 0 $((65535 - highest))
		equal "packets with another port than the flow's first" 0 "$unsteady"
	done
	say "hash: nic $(port h1 hash_nic), software $(port h1 hash_software), $(port h1 program)"
	if [ $mode = skb ]; then
		equal "NIC hashes in skb mode" 0 "$(port h1 hash_nic)"
		at_least "software hashes" 4000 "$(port h1 hash_software)"
	elif port h1 program | grep -qiE 'bound|kfunc|metadata'; then
		at_least "NIC hashes" 4000 "$(port h1 hash_nic)"
	fi

	say "fragments"
	py h1 <<'P'
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for i in range(50):
    s.bind(("", 0)) if i == 0 else None
    s.sendto(b"y" * 5000, ("10.0.0.2", 8000 + i))
    time.sleep(0.002)
P
	fragments_there() { [ "$(grep -cE ' frag [0-9]+ id ' "$tmp/r1.heard")" -ge 200 ]; }
	expect "fragments arrive" eventually 10 fragments_there
	"$python" - "$tmp/r1.heard" <<'P' || die "fragments of a datagram differ in the source port"
import re
import sys
ports = {}
for line in open(sys.argv[1]):
    m = re.search(r"udp (\d+) > 4789 .* frag \d+ id (\d+)", line)
    if m:
        ports.setdefault(m[2], set()).add(m[1])
assert len(ports) >= 50, ports
sys.exit(any(len(p) != 1 for p in ports.values()))
P
	books
	stop_culvert
done

say "a narrow range: both ends are used, nothing outside"
run "" ", source-ports: 50000-50003"
flows 10.0.0.2 100
expect "all flows arrive" eventually 10 all_flows 10.0.0.2 200
equal "flows, ports, lowest, highest, unsteady" "100 4 50000 50003 0" "$(ports_of 10.0.0.2)"
finish
