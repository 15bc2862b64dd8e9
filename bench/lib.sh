# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the bench's scripts share: cores, the topology, one start_NAME, stop_NAME and why_not_NAME
# for each contender, and the statistics. Sourced, not run; it expects build, dir and the options'
# variables to be set. Names carry the process id: runs do not meet, if only they are slow together.

SW=cvb$$-sw HOST=cvb$$-host	# namespaces: of the switch, and of generator and sink
SW0=cvbs0-$$ SW1=cvbs1-$$	# the switch's ends of the two pairs
GEN=cvbg0-$$ SINK=cvbk1-$$	# the other ends

# As words, not functions: in the background $! has to be the program itself, which ip becomes.
in_sw="ip netns exec $SW"
in_host="ip netns exec $HOST"

bench=bench/$(basename "$0")

die() {
	echo "$bench: $*" >&2
	exit 1
}

number() {	# OPTION VALUE: a whole number, 1 or more; times may have decimals
	local form='^[1-9][0-9]*$'

	case $1 in
	--seconds | --warm) form='^([1-9][0-9]*(\.[0-9]+)?|0\.[0-9]*[1-9][0-9]*)$' ;;
	esac
	[[ $2 =~ $form ]] || { echo "$bench: $1: $2 is not a number that will do" >&2; exit 2; }
	printf '%s' "$2"
}

# The CPUs that this shell may use, one a line.
allowed_cores() {
	taskset -cp $$ | sed 's/.*: //' | tr , '\n' | while IFS=- read -r from to; do
		seq "$from" "${to:-$from}"
	done
}

# The last two, where they were not chosen.
choose_cores() {
	if [ -z "$worker_core" ]; then
		worker_core=$(allowed_cores | tail -n 1)
		gen_core=$(allowed_cores | tail -n 2 | head -n 1)
	fi
	[ "$worker_core" != "$gen_core" ] || die "needs two cores, one for the generator"
	all_cores=$(allowed_cores | paste -sd,)
}

say() { [ "$quiet" = 1 ] || echo "$*" >&2; }

make_pair() {	# SWITCH_END HOST_END
	ip -n "$SW" link add "$1" numtxqueues 1 numrxqueues 1 type veth \
		peer name "$2" netns "$HOST" numtxqueues 1 numrxqueues 1
	ip -n "$SW" link set "$1" up
	ip -n "$HOST" link set "$2" up
}

topology_up() {
	local ns

	made=1
	for ns in "$SW" "$HOST"; do
		ip netns add "$ns" || die "no namespace $ns: ip netns del $ns"
		# Without IPv6 the ends are silent: every frame is the generator's.
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.disable_ipv6=1 \
			net.ipv6.conf.default.disable_ipv6=1 2>/dev/null || true
		ip -n "$ns" link set lo up
	done
	make_pair "$SW0" "$GEN"
	make_pair "$SW1" "$SINK"
}

topology_down() {
	[ "$made" = 1 ] || return 0
	ip netns del "$SW" 2>/dev/null
	ip netns del "$HOST" 2>/dev/null
	made=0
}

# Waits until a command succeeds, at most for SECONDS.
wait_for() {	# SECONDS COMMAND...
	local tries=$(($1 * 20))

	shift
	while [ $((tries--)) -gt 0 ]; do
		"$@" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}

end_process() {	# PID
	[ -n "$1" ] || return 0
	kill "$1" 2>/dev/null
	wait_for 5 process_gone "$1" || kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
	return 0
}

process_gone() { ! kill -0 "$1" 2>/dev/null || [ "$(ps -o stat= -p "$1")" = Z ]; }

no_xdp() { ! ip -n "$SW" link show "$1" | grep -q xdp; }

# --- l2fwd: the floor ----------------------------------------------------------------------------

why_not_l2fwd() { [ -x "$build/bench/l2fwd" ] || echo "$build/bench/l2fwd is not built"; }

start_l2fwd() {	# [OPTION]...
	$in_sw "$build/bench/l2fwd" "$@" -r "$ring" -c "$worker_core" "$SW0" "$SW1" \
		>"$dir/l2fwd.log" 2>&1 &
	pid_l2fwd=$!
	wait_for 10 grep -q ready "$dir/l2fwd.log"
}

stop_l2fwd() {
	end_process "$pid_l2fwd"
	pid_l2fwd=
}

# --- culvert -------------------------------------------------------------------------------------

why_not_culvert() { [ -x "$build/culvertd" ] || echo "$build/culvertd is not built"; }

culvert_ready() { "$build/culvert" -s "$dir/culvert.sock" status; }

start_culvert() {
	run_culvertd <<-END
		workers: {cores: $worker_core, idle: $idle, ring: $ring}
		ports:
		  left: {device: $SW0, untagged: bench}
		  right: {device: $SW1, untagged: bench}
		networks: {bench: {mac-limit: $((2 * macs + 16))}}
	END
}

run_culvertd() {	# the file is standard input, without control:
	cat >"$dir/culvert.yaml"
	echo "control: {socket: $dir/culvert.sock}" >>"$dir/culvert.yaml"
	$in_sw taskset -c "$all_cores" "$build/culvertd" -c "$dir/culvert.yaml" \
		>"$dir/culvert.log" 2>&1 &
	pid_culvert=$!
	wait_for 10 culvert_ready
}

# Before it goes, what it says about itself: mode, drops and whether the books balance.
stop_culvert() {
	if [ -n "$pid_culvert" ]; then
		{
			"$build/culvert" -s "$dir/culvert.sock" port
			"$build/culvert" -s "$dir/culvert.sock" drops
		} >"$dir/culvert.last" 2>&1
	fi
	end_process "$pid_culvert"
	pid_culvert=
}

# --- OVS with AF_XDP ports -----------------------------------------------------------------------

ovs_vswitchd=$(PATH=$PATH:/usr/lib/openvswitch-switch command -v ovs-vswitchd)
ovs_schema=/usr/share/openvswitch/vswitch.ovsschema

why_not_ovs() {
	[ -n "$ovs_vswitchd" ] || { echo "openvswitch-switch is not installed"; return; }
	[ -r "$ovs_schema" ] || { echo "$ovs_schema is missing"; return; }
	# An option that only its AF_XDP code knows: the program does not say how it was built.
	grep -qa use-need-wakeup "$ovs_vswitchd" || { echo "built without afxdp ports"; return; }
	# A peer that does not run here is no reason not to measure ourselves.
	start_ovs || tail -n 1 "$dir/ovs.log" | sed 's/^/does not start: /'
	stop_ovs
}

ovs_db() { ovs-vsctl --no-wait --db="unix:$dir/ovs.sock" "$@"; }

ovs_forwards() {
	[ "$(ovs_db get interface "$SW0" link_state)" = up ] &&
		[ "$(ovs_db get interface "$SW1" link_state)" = up ]
}

start_ovs() {
	start_ovs_db || return 1
	for port in "$SW0" "$SW1"; do
		ovs_db add-port br0 "$port" -- set interface "$port" type=afxdp options:n_rxq=1
	done
	run_ovs_vswitchd "$ovs_vswitchd"
	wait_for 10 ovs_forwards
}

start_ovs_db() {
	export OVS_RUNDIR="$dir" OVS_LOGDIR="$dir" OVS_DBDIR="$dir"
	rm -f "$dir/ovs.db" "$dir/ovs.log"
	ovsdb-tool create "$dir/ovs.db" "$ovs_schema" || return 1
	ovsdb-server "$dir/ovs.db" --remote="punix:$dir/ovs.sock" --unixctl="$dir/ovsdb.ctl" \
		>"$dir/ovsdb.log" 2>&1 &
	pid_ovsdb=$!
	wait_for 5 ovs_db show || return 1
	ovs_db init
	ovs_db set open_vswitch . "other_config:pmd-cpu-mask=$(printf '0x%x' $((1 << worker_core)))"
	ovs_db add-br br0 -- set bridge br0 datapath_type=netdev
}

run_ovs_vswitchd() {	# PROGRAM
	$in_sw taskset -c "${ovs_cores:-$(allowed_cores | paste -sd,)}" \
		"$1" "unix:$dir/ovs.sock" --unixctl="$dir/ovs.ctl" \
		--log-file="$dir/ovs.log" >/dev/null 2>&1 &
	pid_ovs=$!
}

# OVS takes its XDP programs off when its ports go, not when it goes.
stop_ovs() {
	if [ -n "$pid_ovs" ]; then
		ovs-vsctl --timeout=5 --db="unix:$dir/ovs.sock" del-br br0 >/dev/null 2>&1
		ovs-appctl --timeout=5 --target="$dir/ovs.ctl" exit >/dev/null 2>&1
	fi
	end_process "$pid_ovs"
	end_process "$pid_ovsdb"
	pid_ovs='' pid_ovsdb=''
	$in_sw ip link del br0 2>/dev/null
	$in_sw ip link del ovs-netdev 2>/dev/null
	return 0
}

# --- the kernel's bridge -------------------------------------------------------------------------

why_not_bridge() {
	ip -n "$SW" link add br0 type bridge 2>"$dir/bridge.log" || head -n 1 "$dir/bridge.log"
	ip -n "$SW" link del br0 2>/dev/null
}

start_bridge() {	# [SECOND_PORT]
	local end

	ip -n "$SW" link add br0 type bridge || return 1
	for end in "$SW0" "${1:-$SW1}"; do
		ip -n "$SW" link set "$end" master br0 || return 1
	done
	ip -n "$SW" link set br0 up
	own_napi "$SW0" && own_napi "$SW1"
}

stop_bridge() {
	ip -n "$SW" link del br0 2>/dev/null || return 0
	for end in "$SW0" "$SW1"; do
		$in_sw sh -c "echo 0 >/sys/class/net/$end/threaded"
		$in_sw ethtool -K "$end" gro off
	done
}

# A thread on the worker's core receives, as the others' workers do. GRO, as a veth without it takes
# no frames that XDP redirects.
own_napi() {	# DEVICE
	$in_sw ethtool -K "$1" gro on && napi_thread "$1" "$worker_core"
}

# Has a thread receive what reaches @DEVICE, which has to have a NAPI: an XDP program, or GRO.
napi_thread() {	# DEVICE CORE
	local threads

	$in_sw sh -c "echo 1 >/sys/class/net/$1/threaded" || return 1
	threads=$(ps -e -o pid=,comm= | awk -v name="napi/$1-" 'index($2, name) == 1 { print $1 }')
	[ -n "$threads" ] || return 1
	for thread in $threads; do
		taskset -cp "$2" "$thread" >/dev/null || return 1
	done
}

# --- measuring -----------------------------------------------------------------------------------

# Lets a switch learn where the addresses behind the sink live.
prime() {
	$in_host taskset -c "$gen_core" "$build/bench/gen" -m "$macs" -r "$SINK" 0.1 >/dev/null
}

# measure [FROM TO [GEN_OPTION]...]: one run. Sets offered and forwarded, frames per second.
measure() {
	local whole from=${1:-$GEN} to=${2:-$SINK}

	whole=$(awk "BEGIN { print $warm + $seconds + 0.5 }")
	$in_host taskset -c "$gen_core" "$build/bench/gen" -f "$flows" -m "$macs" -s "$bytes" \
		"${@:3}" "$from" "$whole" >"$dir/offered" &
	pid_gen=$!
	forwarded=$($in_host taskset -c "$gen_core" \
		"$build/bench/sink" "$to" "$warm" "$seconds") || return 1
	wait "$pid_gen" || return 1
	pid_gen=
	read -r offered _ <"$dir/offered"
}

# Numbers, one a line -> median, smallest, largest.
statistics() {
	sort -n | awk '{ v[NR] = $1 }
		END {
			if (!NR) exit 1
			m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
			print m, v[1], v[NR]
		}'
}
