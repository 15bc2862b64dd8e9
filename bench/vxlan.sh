# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# The contenders with a VXLAN: $SW0 is in network 100, whose other end is VTEP 192.0.2.2 behind
# $SW1. Shared by bench/vxlan, bench/hash and bench/tcp; sourced after group.sh.

# flow_set.h has these, too. Nobody at the other end answers ARP.
VTEP=192.0.2.1 VTEP_MAC=02:00:0c:00:00:01
REMOTE=192.0.2.2 REMOTE_MAC=02:00:0c:00:00:02
VNI=100

underlay_device() {
	ip -n "$SW" link set "$SW1" mtu 1600 address $VTEP_MAC || die "$SW1 cannot be the underlay"
}

underlay_up() {	# DEVICE: has the VTEP's address
	ip -n "$SW" addr replace "$VTEP/24" dev "$1" &&
		ip -n "$SW" neigh replace $REMOTE lladdr $REMOTE_MAC dev "$1" nud permanent
}

underlay_down() {
	ip -n "$SW" addr flush dev "$SW1"
	ip -n "$SW" neigh flush dev "$SW1" nud permanent
}

# --- culvert -------------------------------------------------------------------------------------

why_not_culvert_vxlan() { why_not_culvert; }

start_culvert_vxlan() {	# [MORE OF tunnels:]
	underlay_up "$SW1"
	run_culvertd <<-END
		workers: {cores: $worker_core, idle: $idle, ring: $ring}
		ports: {left: {device: $SW0, untagged: bench}}
		networks: {bench: {vni: $VNI, remotes: [$REMOTE], mac-limit: $((2 * macs + 16))}}
		tunnels: {local: [$VTEP], underlay: [$SW1]${1:+, $1}}
	END
}

stop_culvert_vxlan() {
	stop_culvert
	underlay_down
}

# --- OVS: its own bridge holds the VTEP address, on its tap device ------------------------------

why_not_ovs_vxlan() { why_not_ovs; }

ovs_ctl() { $others ovs-appctl --timeout=10 --target="$dir/ovs.ctl" "$@"; }
ovs_routes() { ovs_ctl ovs/route/show | grep -q "$VTEP"; }

start_ovs_vxlan() {
	start_ovs_db || return 1
	ovs_db add-port br0 "$SW0" -- set interface "$SW0" type=afxdp options:n_rxq=1
	ovs_db add-port br0 vx0 -- set interface vx0 type=vxlan options:key=$VNI \
		options:remote_ip=$REMOTE options:local_ip=$VTEP
	ovs_db add-br br1 -- set bridge br1 datapath_type=netdev \
		other-config:hwaddr="$VTEP_MAC"
	ovs_db add-port br1 "$SW1" -- set interface "$SW1" type=afxdp options:n_rxq=1
	run_ovs_vswitchd "$ovs_vswitchd"
	wait_for 10 ovs_forwards && wait_for 5 ip -n "$SW" link set br1 up || return 1
	underlay_up br1
	wait_for 10 ovs_routes && ovs_ctl tnl/neigh/set br1 $REMOTE $REMOTE_MAC >>"$dir/ovs.log"
}

stop_ovs_vxlan() {
	[ -z "$pid_ovs" ] ||
		ovs-vsctl --timeout=5 --db="unix:$dir/ovs.sock" del-br br1 >/dev/null 2>&1
	stop_ovs
}

# --- the kernel ----------------------------------------------------------------------------------

why_not_bridge_vxlan() { why_not_bridge; }

start_bridge_vxlan() {
	underlay_up "$SW1"
	ip -n "$SW" link add vx0 type vxlan id $VNI local $VTEP remote $REMOTE dstport 4789 &&
		ip -n "$SW" link set vx0 up && start_bridge vx0
}

stop_bridge_vxlan() {
	stop_bridge
	ip -n "$SW" link del vx0 2>/dev/null
	underlay_down
}
