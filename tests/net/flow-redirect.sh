#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that send a frame elsewhere than the FDB says: to a port, to several, back, into a tunnel
# with another VNI (seen by the kernel's vxlan), and beside the normal way.
#
#   h1 (blue) h2 (blue) h3 (blue) h4 (red) ---- culvert ---- fabric ---- r1 192.0.2.11: vx10, vx20
. "$(dirname "$0")/lib.sh"

for i in 1 2 3 4; do
	host h$i
done
fabric 192.0.2.1/24
remote r1 192.0.2.11/24
vxlan r1 10 192.0.2.11 192.0.2.1
vxlan r1 20 192.0.2.11 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
  h4: {untagged: red}
networks:
  blue: {vni: 10, static: {"02:00:00:00:00:02": h2}}
  red: {vni: 20}
tunnels: {local: [192.0.2.1], underlay: [ul0], remotes: [192.0.2.11]}
Y
tunnels_ok 1
r1=$(tunnel 192.0.2.11 number)

for i in 1 2 3 4; do
	listen h$i
done
listen r1

# from_h1 TEXT: a frame for h2, which only h2 would get without rules.
from_h1()
{
	py h1 <<P
send("e0", eth("02:00:00:00:00:02", mac_of("e0"), "$1"))
P
}

# only_at TEXT NS...: these heard it once, the others did not. (What they all hear comes last.)
only_at()
{
	local text=$1 ns
	shift
	for ns; do
		heard "$ns" "\"$text\""
	done
	rules
	py h1 <<P
send("e0", eth(BROADCAST, mac_of("e0"), "after-$text"))
P
	py h4 <<P
send("e0", eth(BROADCAST, mac_of("e0"), "after-$text"))
P
	for ns in h1 h2 h3 h4 r1; do
		if [ $ns != h1 ] && [ $ns != h4 ]; then
			heard $ns "\"after-$text\""
		fi
		case " $* " in
		*" $ns "*) equal "$text at $ns" 1 "$(count_heard $ns "\"$text\"")" ;;
		*) unheard $ns "\"$text\"" ;;
		esac
	done
}

from_h1 plain
only_at plain h2
rules "in_port=h1 actions=output:h3"
from_h1 elsewhere
equal "hits" 1 "$(eventually 5 hits_are in_port=h1 1; hits in_port=h1)"
only_at elsewhere h3
rules "in_port=1 actions=output:4"
from_h1 other-network
only_at other-network h4
rules "in_port=h1 actions=output:h3,output:h4,normal"
from_h1 several
only_at several h2 h3 h4
rules "in_port=h1 actions=in_port"
from_h1 back
only_at back h1
rules "in_port=h1 actions=output:h1,h3"
from_h1 not-back
only_at not-back h3
rules "in_port=h1 actions=flood"
from_h1 flood
only_at flood h2 h3 r1
rules "in_port=h1 actions=all"
from_h1 all
only_at all h2 h3 r1
rules "in_port=h1 actions=all,in_port"
from_h1 all-and-back
only_at all-and-back h1 h2 h3 r1

say "into a tunnel"
rules "in_port=h1 actions=output:$r1"
from_h1 tunnel
heard r1 'vni 10 \| .*"tunnel"'
only_at tunnel r1
received() { at r1 cat "/sys/class/net/$1/statistics/rx_packets"; }
before=$(received vx20)
rules "in_port=h1 actions=set_tunnel:20,output:$r1"
from_h1 vni-20
heard r1 'vni 20 \| 02:00:00:00:00:01 > 02:00:00:00:00:02 type 0x88b5 "vni-20"'
only_at vni-20 r1
rules "in_port=h1 actions=output:h3,set_field:20->tun_id,output:192.0.2.11,set_tunnel:10,output:$r1"
from_h1 both-vnis
heard r1 'vni 20 \| .*"both-vnis"'
heard r1 'vni 10 \| .*"both-vnis"'
heard h3 '"both-vnis"'
# h4's broadcasts from only_at are the others
equal "the kernel's vxlan took them" 2 $(($(received vx20) - before - 1))

say "out of a tunnel, to one port and not the others"
rules "in_port=$r1 actions=output:h4"
py r1 <<'P'
send("vx10", eth(BROADCAST, mac_of("vx10"), "from-afar"))
P
heard h4 '"from-afar"'
for i in 1 2 3; do
	unheard h$i '"from-afar"'
done

say "back into the tunnel that it came from"
rules "in_port=192.0.2.11 actions=in_port"
py r1 <<'P'
send("vx10", eth("02:00:00:00:00:02", "02:00:00:00:99:99", "echo"))
P
heard r1 'vni 10 \| 02:00:00:00:99:99 > 02:00:00:00:00:02 .*"echo"'

say "to a port that is shut: dropped by name"
rules "in_port=h1 actions=output:h3"
culvert port disable h3 >/dev/null
from_h1 shut
expect "hit" eventually 5 hits_are in_port=h1 1
culvert port enable h3 >/dev/null
expect "h3 is up again" eventually 10 port_is h3 state up
unheard h3 '"shut"'
finish
