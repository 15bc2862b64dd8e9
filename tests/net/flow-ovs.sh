#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Rules to and fro between culvert and Open vSwitch: what `ovs-ofctl dump-flows` prints is loaded
# here, what `culvert flow dump` prints is loaded there, and it is the same both times.
#
#   h1, h2 ---- culvert       br0 of an ovs-vswitchd of its own, without ports
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/lib/openvswitch-switch
for program in ovs-vswitchd ovsdb-server ovsdb-tool ovs-vsctl ovs-ofctl; do
	command -v $program >/dev/null ||
		skip "needs $program (Debian: apt-get install openvswitch-switch)"
done
schema=/usr/share/openvswitch/vswitch.ovsschema
[ -r $schema ] || skip "needs $schema"

export OVS_RUNDIR=$tmp OVS_LOGDIR=$tmp OVS_DBDIR=$tmp
vsctl() { ovs-vsctl --timeout=10 --no-wait --db="unix:$tmp/db.sock" "$@"; }
ovsdb-tool create "$tmp/ovs.db" $schema
namespace ovs
start ovs ovsdb-server "$tmp/ovs.db" --remote="punix:$tmp/db.sock" --unixctl="$tmp/db.ctl" \
	>"$tmp/ovsdb.log" 2>&1
expect "ovsdb-server" eventually 10 vsctl show
vsctl init
vsctl add-br br0 -- \
	set bridge br0 datapath_type=netdev protocols=OpenFlow10,OpenFlow13
start ovs ovs-vswitchd "unix:$tmp/db.sock" --unixctl="$tmp/ovs.ctl" --disable-system \
	>"$tmp/ovs.log" 2>&1
expect "ovs-vswitchd" eventually 20 ovs-ofctl show br0

host h1
host h2
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y

cat >"$tmp/rules" <<'R'
priority=0 actions=NORMAL
priority=1,in_port=1 actions=output:2
priority=2,dl_src=02:00:00:00:00:01,dl_dst=01:00:00:00:00:00/01:00:00:00:00:00 actions=drop
cookie=0x17,priority=3,ip actions=ALL
cookie=0xffffffffffffffff,priority=4,ipv6 actions=FLOOD
idle_timeout=60,hard_timeout=600,priority=5,arp actions=IN_PORT
ip,nw_src=10.0.0.0/8,nw_dst=10.1.2.3 actions=drop
ip,nw_src=10.0.0.1/255.0.255.255 actions=drop
tcp,tp_src=1,tp_dst=0x400/0xfc00 actions=NORMAL
udp,nw_tos=32,nw_ecn=1,nw_ttl=5 actions=drop
sctp,tp_dst=9 actions=drop
ip,ip_frag=later actions=drop
ip,nw_proto=47 actions=drop
icmp,icmp_type=8,icmp_code=0 actions=drop
tcp,tcp_flags=+syn-ack actions=drop
ipv6,ipv6_src=fd00::/16,ipv6_dst=fd00::1 actions=drop
ipv6,ipv6_dst=::5/::ff actions=drop
tcp6,tp_dst=80 actions=drop
udp6,tp_src=80 actions=drop
icmp6,icmp_type=135,nd_target=fd00::1 actions=drop
arp,arp_op=1,arp_spa=10.0.0.1,arp_tpa=10.0.0.0/24,arp_sha=02:00:00:00:00:01 actions=drop
dl_vlan=100 actions=strip_vlan,output:2
dl_vlan=100,dl_vlan_pcp=3 actions=mod_vlan_vid:200,mod_vlan_pcp:4,output:1
vlan_tci=0x0000/0x1fff actions=output:2
tun_id=0x2774 actions=set_tunnel:0x2775,output:2
dl_type=0x88b5 actions=mod_dl_src:02:00:00:00:00:01,mod_dl_dst:02:00:00:00:00:02,output:1
ip,nw_dst=1.1.1.0 actions=mod_nw_src:1.2.3.4,mod_nw_dst:4.3.2.1,output:1
ip,nw_dst=1.1.1.1 actions=mod_nw_tos:32,mod_nw_ttl:5,NORMAL
ip,nw_dst=1.1.1.2 actions=dec_ttl,output:1,output:2
tcp,nw_dst=1.1.1.3 actions=mod_tp_src:80,mod_tp_dst:8080,NORMAL
ipv6,ipv6_dst=fd00::2 actions=set_field:fd00::3->ipv6_src,set_field:fd00::4->ipv6_dst,NORMAL
icmp,icmp_type=3 actions=set_field:3->icmp_code,NORMAL
R
# and many of one kind
awk 'BEGIN {
	for (i = 0; i < 5000; i++)
		printf "priority=%d,udp,nw_src=10.%d.%d.%d,tp_dst=%d actions=output:%d\n",
			i % 60000, i / 65536, i / 256 % 256, i % 256, i % 100, i % 2 + 1
}' >>"$tmp/rules"
ofctl() { ovs-ofctl -O "$@"; }
there() { ofctl "$1" --no-stats dump-flows br0 | grep actions= | sort; }

# The protocol decides how OVS prints an action: mod_nw_dst or set_field, load or set_field.
for version in OpenFlow10 OpenFlow13; do
	[ $version = OpenFlow10 ] || cat >>"$tmp/rules" <<-'R'
		vlan_tci=0x1000/0x1000 actions=push_vlan:0x88a8,set_field:4196->vlan_vid,output:2
	R
	n=$(wc -l <"$tmp/rules")
	# (a dump of many rules has several headers)
	say "$n rules, from Open vSwitch to culvert, $version"
	rules
	ofctl OpenFlow13 del-flows br0
	ofctl OpenFlow13 add-flows br0 "$tmp/rules"
	there $version >"$tmp/wanted"
	ofctl $version dump-flows br0 >"$tmp/ovs.dump"
	grep -q duration= "$tmp/ovs.dump" || die "no statistics: $(head -n 3 "$tmp/ovs.dump")"
	culvert flow replace "$tmp/ovs.dump" >"$tmp/out" || die "culvert refuses OVS's dump"
	equal "loaded" "added $n, kept 0, removed 0" "$(cat "$tmp/out")"
	ofctl $version --no-stats dump-flows br0 >"$tmp/ovs.dump"
	equal "without statistics it is the same" "added 0, kept $n, removed 0" \
		"$(culvert flow replace "$tmp/ovs.dump")"
	equal "and so is what it was made of" "added 0, kept $n, removed 0" \
		"$(culvert flow replace "$tmp/rules")"

	say "from culvert to Open vSwitch"
	culvert flow dump >"$tmp/culvert.dump"
	equal "lines" "$n" "$(grep -c actions= "$tmp/culvert.dump")"
	ofctl OpenFlow13 del-flows br0
	ofctl OpenFlow13 add-flows br0 "$tmp/culvert.dump" || die "OVS refuses culvert's dump"
	there $version | diff "$tmp/wanted" - || die "Open vSwitch has something else then"
	ofctl $version dump-flows br0 >"$tmp/ovs.dump"
	equal "and back" "added 0, kept $n, removed 0" "$(culvert flow replace "$tmp/ovs.dump")"
done

say "what a match selects"
for match in ip tcp in_port=1 dl_vlan=100 udp,nw_src=10.0.1.0/24 ipv6; do
	equal "$match" "$(ovs-ofctl dump-flows br0 "$match" | grep -c actions=)" \
		"$(culvert flow count "$match")"
done
finish
