#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The same rules and the same frames in culvert and in Open vSwitch: what leaves is the same, byte
# by byte. CASES makes it longer, SEED the same again, CUT the share of damaged packets larger
# (percent).
#
#   in1..in3.pcap ---- p1..p4 | culvert                | ---- out1..out4.pcap
#   in1..in3.pcap ---- p1..p4 | ovs-vswitchd, dummy0   | ---- ovs1..ovs4.pcap
. "$(dirname "$0")/lib.sh"
PATH=$PATH:/usr/lib/openvswitch-switch
for program in ovs-vswitchd ovsdb-server ovsdb-tool ovs-vsctl ovs-ofctl ovs-appctl; do
	command -v $program >/dev/null ||
		skip "needs $program (Debian: apt-get install openvswitch-switch)"
done
schema=/usr/share/openvswitch/vswitch.ovsschema
[ -r $schema ] || skip "needs $schema"

"$python" "$here/flow-ovs-frames.py" make "$tmp" "${CASES:-300}"

export OVS_RUNDIR=$tmp OVS_LOGDIR=$tmp OVS_DBDIR=$tmp
vsctl() { ovs-vsctl --timeout=10 --db="unix:$tmp/db.sock" "$@"; }
ovsdb-tool create "$tmp/ovs.db" $schema
start sw ovsdb-server "$tmp/ovs.db" --remote="punix:$tmp/db.sock" --unixctl="$tmp/db.ctl" \
	>"$tmp/ovsdb.log" 2>&1
expect "ovsdb-server" eventually 10 vsctl --no-wait init
start sw ovs-vswitchd "unix:$tmp/db.sock" --unixctl="$tmp/ovs.ctl" --disable-system \
	--enable-dummy >"$tmp/ovs.log" 2>&1
# both look at two tags
vsctl set Open_vSwitch . other_config:vlan-limit=2
vsctl add-br br0 -- set bridge br0 datapath_type=dummy protocols=OpenFlow10,OpenFlow13 \
	fail_mode=secure
for i in 1 2 3 4; do
	vsctl add-port br0 p$i -- set interface p$i type=dummy ofport_request=$i \
		options:tx_pcap="$tmp/ovs$i.pcap"
done
expect "ovs-vswitchd" eventually 20 ovs-ofctl show br0

# first fragments have their ports
ovs-ofctl set-frags br0 nx-match
ovs-ofctl add-flows br0 "$tmp/rules"
ovs-ofctl -O OpenFlow13 add-flows br0 "$tmp/rules.of13"
cat "$tmp/rules.of13" >>"$tmp/rules"
"$python" "$here/flow-ovs-frames.py" feed "$tmp" || die "Open vSwitch: $(tail -n 5 "$tmp/ovs.log")"
start_culvert <<'Y'
ports:
  p1: {type: pcap, rx: in1.pcap, tx: out1.pcap, untagged: blue, rest: wire}
  p2: {type: pcap, rx: in2.pcap, tx: out2.pcap, untagged: blue, rest: wire}
  p3: {type: pcap, rx: in3.pcap, tx: out3.pcap, untagged: blue, rest: wire}
  p4: {type: pcap, tx: out4.pcap, untagged: blue, rest: wire}
networks:
  blue:
  wire:
flows: {file: rules}
Y
for i in 1 2 3; do
	expect "p$i done" eventually 30 port_is p$i state "done"
done
books
equal "rules" "$(wc -l <"$tmp/rules")" "$(culvert flow count)"
stop_culvert
"$python" "$here/flow-ovs-frames.py" compare "$tmp" || die "they differ"
say "passed"
