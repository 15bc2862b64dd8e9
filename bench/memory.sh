# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What bench/memory, bench/scale and bench/flows share: switches without a kernel around, frames
# come out of memory and go nowhere. Sourced behind lib.sh, when dir, work and the cores are known.

others="taskset -c $gen_core"	# what is not the worker
cost_seconds=2			# of one packet_cost
culvert() { $others "$build/culvert" -s "$dir/culvert.sock" "$@"; }
ofctl() { $others ovs-ofctl "$@" || die "ovs-ofctl $1 failed"; }
calc() { awk "BEGIN { printf \"%.6g\", $* }"; }

# frames N [FLOWGEN'S OPTION...]: prints the name of a capture file with them.
frames() {
	local file="$work/frames.${*// /}"

	[ -s "$file" ] || "$build/bench/flowgen" "${@:2}" pcap "$1" >"$file" ||
		die "flowgen failed"
	echo "$file"
}

# --- what a packet costs -------------------------------------------------------------------------

thread_ns() { cut -d' ' -f1 "$(grep -l "^$2" "/proc/$1"/task/*/comm | sed 's/comm$//')schedstat"; }

# packet_cost PID THREAD PACKETS...: of a thread that is always busy. Sets ns and cycles, a packet,
# and rate, millions a second that it runs. Cycles are the time stamp counter's, which OVS counts
# too: a core's own are no measure here, its pace changes by a third from one second to the next.
packet_cost() {
	local pid=$1 thread=$2 packets spent

	shift 2
	packets=$("$@") spent=$(thread_ns "$pid" "$thread")
	sleep "$cost_seconds"
	packets=$(($("$@") - packets)) spent=$(($(thread_ns "$pid" "$thread") - spent))
	[ "$packets" -gt 0 ] || die "$thread moves no packets"
	ns=$(calc "$spent / $packets")
	cycles=$(calc "$ns / 1e9 * $tsc_hz")
	rate=$(calc "1e3 / $ns")
}

# replay CORES OPTION... FILE...: one run of culvert's workers. Sets cycles and rate.
replay() {
	read -r cycles _ rate < <(
		$others "$build/bench/replay" -s "$cost_seconds" -c "$1" "${@:2}")
	[ -n "$rate" ] || die "replay failed: replay $*"
}

# --- culvertd ------------------------------------------------------------------------------------

start_memory() {	# FRAMES: read into memory, sent once replay is enabled
	local file

	file=$(frames "$1")
	# not a pipe: run_culvertd sets pid_culvert
	run_culvertd < <(
		cat <<-END
			workers: {cores: $worker_core, idle: busy}
			ports:
			  replay: {type: pcap, rx: $file, loop: true, preload: true,
			    enabled: false, untagged: bench}
			  hole: {type: sink, untagged: bench}
			networks:
			  bench:
			    static:
		END
		for i in $(seq 0 999); do
			printf '      "02:00:0b:00:%02x:%02x": hole\n' $((i / 256)) $((i % 256))
		done
	) || die "culvertd does not start: $(tail -n 5 "$dir/culvert.log")"
}

replayed() { culvert -j port replay | sed -n 's/.*"rx_packets": *\([0-9]*\).*/\1/p'; }
worker_cost() { packet_cost "$pid_culvert" culvert-w0 replayed; }

# --- OVS with DPDK -------------------------------------------------------------------------------

# From openvswitch-switch-dpdk, librte-net-null23, librte-net-pcap23 and librte-mempool-ring23, or
# where these were unpacked: not below /tmp with DPDK's own search, it refuses what others may write
# to. So its drivers are named, and found as other libraries are.
dpdk_root=${OVS_DPDK_DIR:-}
dpdk_vswitchd=$dpdk_root/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk
dpdk_libs=$dpdk_root/usr/lib/x86_64-linux-gnu
dpdk_drivers='librte_mempool_ring.so.23 librte_net_null.so.23 librte_net_pcap.so.23'
# shellcheck disable=SC2086  # one word each
dpdk_eal="--no-huge --legacy-mem -m 1024 --no-pci --no-telemetry$(printf ' -d %s' $dpdk_drivers)"

missing_dpdk_driver() {
	local driver

	for driver in $dpdk_drivers; do
		[ -e "$dpdk_libs/$driver" ] || { echo "$driver is missing"; return; }
	done
}

why_not_ovs_dpdk() {
	[ -x "$dpdk_vswitchd" ] || { echo "openvswitch-switch-dpdk is not installed"; return; }
	command -v ovsdb-tool >/dev/null || { echo "ovsdb-tool is missing"; return; }
	[ -r "$ovs_schema" ] || { echo "$ovs_schema is missing"; return; }
	missing_dpdk_driver
}

ovs_ctl() { $others ovs-appctl --timeout=10 --target="$dir/ovs.ctl" "$@"; }
ovs_pmd() {	# NAME: a value of its worker's
	ovs_ctl dpif-netdev/pmd-stats-show |
		sed -n "/^main thread/q; s/^ *$1: *\([0-9.]*\).*/\1/p"
}
ovs_cost() { packet_cost "$pid_ovs" pmd-c ovs_pmd "packets received"; }
ovs_flows() { ovs_ctl upcall/show | sed -n 's/.*(current \([0-9]*\)).*/\1/p'; }
ovs_flow_limit() { ovs_ctl upcall/show | sed -n 's/.*(limit \([0-9]*\)).*/\1/p'; }
ovs_caches() { [ "$(ovs_flows)" = "$1" ] && [ "$(ovs_flow_limit)" -gt "$1" ]; }

# run_ovs_dpdk COMMAND...: OVS with no port; COMMAND makes those that are there from the start.
run_ovs_dpdk() {
	start_ovs_db || die "OVS does not start: $(tail -n 3 "$dir/ovsdb.log")"
	ovs_db set open_vswitch . other_config:dpdk-init=true other_config:max-idle=3600000 \
		other_config:dpdk-lcore-mask="$(printf '0x%x' $((1 << gen_core)))" \
		other_config:dpdk-extra="$dpdk_eal"
	ovs_db set bridge br0 other-config:mac-aging-time=3600
	"$@"
	LD_LIBRARY_PATH=$dpdk_libs run_ovs_vswitchd "$dpdk_vswitchd"
	wait_for 20 ovs_ctl version || die "OVS does not start: $(tail -n 3 "$dir/ovs.log")"
	wait_for 20 $others ovs-ofctl show br0 || die "OVS has no bridge"
	ovs_ctl upcall/set-flow-limit 200000 >/dev/null	# it begins with a twentieth
}

ovs_hole() {	# BRIDGE NUMBER
	ovs_db add-port "$1" hole -- set interface hole type=dpdk ofport_request="$2" \
		options:dpdk-devargs=net_null0,no-rx=1
}

ovs_replay() {	# BRIDGE NUMBER FILE
	ovs_db add-port "$1" replay -- set interface replay type=dpdk ofport_request="$2" \
		options:dpdk-devargs="net_pcap0,rx_pcap=$3,infinite_rx=1"
}

# What start_memory says with "static": frames that come in from a port. One program for all.
learn_ovs_dpdk() {	# PORT
	# shellcheck disable=SC2046  # one word each
	ofctl packet-out br0 "$1" normal $(for i in $(seq 0 999); do
		printf 'ffffffffffff02000b00%04x88b5%092d\n' "$i" 0
	done)
}

stop_ovs_dpdk() {
	[ -n "$pid_ovs" ] || return 0
	kill -CONT "$pid_ovs"
	ovs_ctl revalidator/resume >/dev/null
	stop_ovs
}
