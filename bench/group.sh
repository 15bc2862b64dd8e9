# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the groups of bench/run share beside lib.sh and rows.sh, which this reads: options, and
# contenders that take turns. Sourced, not run.
#
# A group sets `here` and the defaults of its options, then calls
#   read_options "ITS OPTIONS" "$@"; begin PROGRAM...; choose_contenders NAME...
#   row NAME UNIT BETTER PEER MUST AIM	for each row
#   take_turns FUNCTION	which measures one contender: note ROW WHO VALUE
#   report

. "$here/lib.sh"

group=$(basename "$0")
build=$here/../build
only='' json='' rows='' quiet=0 worker_core='' gen_core=''
made=0 pid_l2fwd='' pid_culvert='' pid_ovs='' pid_ovsdb='' pid_gen=''
contenders=() missing=()

usage_common() {
	cat <<-END
	  --build DIR        where the programs are [build]
	  --only LIST        contenders [all]
	  --rounds N         [$rounds]
	  --seconds S        of measuring in each run [$seconds]
	  --cores W,G        worker's core, everybody else's [the last two that may be used]
	  --rows FILE        all runs are appended, one JSON object a line
	  --json FILE        the same, in a file of its own
	  --quiet            no progress on stderr
	END
}

read_options() {	# NAMES ARGUMENT...: beside the common ones
	local names=" build only rounds seconds cores rows json $1 " name value

	shift
	while [ $# -gt 0 ]; do
		case $1 in
		--quiet) quiet=1 && shift && continue ;;
		-h | --help) usage && usage_common && exit 0 ;;
		esac
		name=${1#--}
		[ $# -ge 2 ] && [[ $1 == --* && $names == *" $name "* ]] ||
			{ { usage && usage_common; } >&2; exit 2; }
		case $name in
		rounds | seconds | warm | flows | macs | bytes | ring | rate)
			value=$(number "$1" "$2") || exit 2
			declare -g "$name=$value" ;;
		cores) worker_core=${2%,*} gen_core=${2#*,} ;;
		*) declare -g "$name=$2" ;;
		esac
		shift 2
	done
}

begin() {	# PROGRAM...: of the build directory
	local program

	build=$(cd "$build" 2>/dev/null && pwd) || die "--build: no such directory"
	[ "$(id -u)" = 0 ] || die "needs root: network namespaces, XDP"
	for program; do
		[ -x "$build/$program" ] || die "$build/$program is not there: ninja -C $build"
	done
	choose_cores
	# And nothing that is started is on the worker's core, not even until it says where it runs.
	taskset -cp "$(allowed_cores | grep -vx "$worker_core" | paste -sd,)" $$ >/dev/null ||
		die "--cores: not all of these may be used"
	ovs_cores=$gen_core others="taskset -c $gen_core"	# of all that is not the worker
	dir=$(mktemp -d /tmp/cvb.XXXXXX)
	. "$here/rows.sh"
	trap clean_up EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
}

clean_up() {
	end_process "$pid_gen"
	stop_contenders
	topology_down
	rm -rf "$dir"
}

stop_contenders() {
	stop_l2fwd
	stop_culvert
	stop_ovs
	stop_bridge
}

calc() { awk "BEGIN { printf \"%.6g\", $* }"; }

# --- contenders ----------------------------------------------------------------------------------

choose_contenders() {	# NAME...
	local name why

	for name; do
		[ -z "$only" ] || [[ ,$only, == *,$name,* ]] || continue
		# Not in a subshell: what this starts has to be known to clean_up.
		"why_not_$name" >"$dir/why"
		why=$(head -n 1 "$dir/why")
		if [ -z "$why" ]; then
			contenders+=("$name")
		else
			missing+=("$name" "$why")
		fi
	done
	[ ${#contenders[@]} -gt 0 ] || die "nothing to measure"
}

# Round by round, and in another order each time: a machine that is slow for a while is slow for all
# of them.
take_turns() {	# FUNCTION: gets the contender's name; round is set
	local i n=${#contenders[@]}

	for ((round = 1; round <= rounds; round++)); do
		for ((i = 0; i < n; i++)); do
			"$1" "${contenders[(round - 1 + i) % n]}"
		done
	done
}

# A failure ends the group: a table with holes would be read as one without.
launch() {	# WHO [ARGUMENT...]: start_WHO
	no_xdp "$SW0" && no_xdp "$SW1" || die "an XDP program is still on the veths before $1"
	"start_$1" "${@:2}" && return
	tail -n 20 "$dir"/*.log >&2
	die "$1 did not start"
}

note() {	# ROW WHO VALUE
	row=$1
	value "$2" "$3"
}

# Who is not installed is missed in each row.
report() {
	local i

	while IFS=$'\t' read -r row _; do
		for ((i = 0; i < ${#missing[@]}; i += 2)); do
			skip "${missing[i]}" "${missing[i + 1]//[\"\\]/}"
		done
	done <"$dir/rows"
	echo "median (least to most) of $rounds rounds; worker on core $worker_core, all else on" \
		"core $gen_core; kernel $(uname -r)"
	print_rows
	[ -z "$json" ] || rows_as_json >"$json" || exit 1
	[ -z "$rows" ] || rows_as_json >>"$rows" || exit 1
}

thousands() { [ $(($1 % 1000)) = 0 ] && echo "$(($1 / 1000)) K" || echo "$1"; }	# 1 K
