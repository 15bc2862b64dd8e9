#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules that change tags. A match and an action see the tags on the wire; an output sends the frame
# with those that it then has, normal and flood translate by the port's map.
#
#   h1 untagged = blue, h2 VLAN 200 = blue, h3 untagged = blue ---- culvert
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {tagged: {200: blue}}
  h3: {untagged: blue}
networks:
  blue: {static: {"02:00:00:00:00:01": h1, "02:00:00:00:00:02": h2, "02:00:00:00:00:03": h3}}
Y
for i in 1 2 3; do
	listen h$i
done

# sends FROM TO TEXT [TAG...]: hosts by number
sends()
{
	local from=$1 to=$2 text=$3
	shift 3
	py "h$from" <<P
send("e0", eth("02:00:00:00:00:0$to", "02:00:00:00:00:0$from", "$text",
               tags=[int(t, 0) for t in "$*".split()]))
P
}

# arrives AT TEXT TAGS: with exactly these tags, as frames.py shows them
arrives() { heard "h$1" "> 02:00:00:00:00:0[0-9]${3:+ }$3 type 0x88b5 \"$2\""; }

sends 1 2 plain
arrives 2 plain "vlan 200.0"
sends 2 3 back 200
arrives 3 back ""

say "an output sends what the frame has"
rules "in_port=h2 actions=output:h3" "in_port=h1 actions=output:h2"
sends 2 3 as-it-came $((200 | 5 << 13))
arrives 3 as-it-came "vlan 200.5"
sends 1 2 no-tag
arrives 2 no-tag ""
rules "in_port=h2 actions=pop_vlan,output:h3"
sends 2 3 popped 200
arrives 3 popped ""
sends 2 3 popped-one 200 300
arrives 3 popped-one "vlan 300.0"
rules "in_port=h2 actions=strip_vlan,output:h3"
sends 2 3 stripped 200
arrives 3 stripped ""

say "mod_vlan_vid and mod_vlan_pcp change a tag or add one"
rules "in_port=h1 actions=mod_vlan_vid:77,output:h3" "in_port=h2 actions=mod_vlan_vid:77,output:h3"
sends 1 3 added
arrives 3 added "vlan 77.0"
sends 2 3 changed $((200 | 3 << 13))
arrives 3 changed "vlan 77.3"
rules "in_port=h1 actions=mod_vlan_pcp:6,output:h3" "in_port=h2 actions=mod_vlan_pcp:6,output:h3"
sends 1 3 priority-tag
arrives 3 priority-tag "vlan 0.6"
sends 2 3 priority 200
arrives 3 priority "vlan 200.6"
rules "in_port=h1 actions=mod_vlan_vid:9,mod_vlan_pcp:1,output:h3,mod_vlan_vid:10,output:h3"
sends 1 3 list
arrives 3 list "vlan 9.1"
arrives 3 list "vlan 10.1"

say "push_vlan"
rules "in_port=h1 actions=push_vlan:0x8100,set_field:55->vlan_vid,output:h3"
sends 1 3 pushed
arrives 3 pushed "vlan 55.0"
rules "in_port=h2 actions=push_vlan:0x88a8,mod_vlan_vid:55,output:h3"
sends 2 3 outer $((200 | 2 << 13))
arrives 3 outer "svlan 55.0 vlan 200.2"
rules "in_port=h1 actions=push_vlan:0x8100,push_vlan:0x88a8,pop_vlan,output:h3"
sends 1 3 there-and-back
arrives 3 there-and-back "vlan 0.0"

say "a match on the tag that came; the frame behind it is seen through"
rules "priority=9,dl_vlan=200,dl_vlan_pcp=4 actions=pop_vlan,output:h1" \
	"priority=8,dl_vlan=200,dl_type=0x88b5 actions=output:h3"
sends 2 3 pcp-4 $((200 | 4 << 13))
sends 2 1 pcp-5 $((200 | 5 << 13))
arrives 1 pcp-4 ""
arrives 3 pcp-5 "vlan 200.5"
unheard h3 '"pcp-4"'

say "normal and flood: the network's tag comes off and each port's goes on"
rules "actions=normal"
sends 1 2 normal
arrives 2 normal "vlan 200.0"
rules "in_port=h2 actions=flood"
sends 2 9 flooded $((200 | 6 << 13))
arrives 1 flooded ""
arrives 3 flooded ""
rules "in_port=h2 actions=mod_vlan_pcp:3,normal"
sends 2 3 pcp-lost 200
arrives 3 pcp-lost ""
rules "in_port=h2 actions=output:h3,normal"
sends 2 1 both 200
arrives 3 both "vlan 200.0"
arrives 1 both ""
finish
