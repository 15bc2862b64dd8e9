# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# What the groups of bench/run share beside lib.sh, which this reads: options, contenders that take
# turns, and what was measured, as a table and as rows. Sourced, not run.
#
# A group sets the defaults of its options and `here`, then calls
#   read_options "ITS OPTIONS" "$@"; begin PROGRAM...; choose_contenders NAME...
#   take_turns FUNCTION	which measures one contender: note ROW WHO UNIT VALUE
#   report
# and has a function target ROW WHO, which prints PEER|MUST|AIM for the rows that have them: MUST
# "<= 0.5" is the ratio to the peer's value, or without a peer the value itself.
#
# A row, one JSON object a line: {"group", "row", "who", "unit", "better": "less" or "more",
# "values": one for each round, "peer", "must", "aim"}; or {"group", "row", "who", "skipped": why}.

. "$here/lib.sh"

group=$(basename "$0")
build=$here/../build
only='' json='' rows='' quiet=0 worker_core='' gen_core=''
made=0 pid_l2fwd='' pid_culvert='' pid_ovs='' pid_ovsdb='' pid_gen=''
contenders=()

usage_common() {
	cat <<-END
	  --build DIR        where the programs are [build]
	  --only LIST        contenders [all]
	  --rounds N         [$rounds]
	  --seconds S        of measuring in each run [$seconds]
	  --cores W,G        worker's core, everybody else's [the last two that may be used]
	  --rows FILE        all runs are appended, one JSON object a line
	  --json FILE        the same as an array
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
	ovs_cores=$gen_core others="taskset -c $gen_core"	# of all that is not the worker
	dir=$(mktemp -d /tmp/cvb.XXXXXX)
	touch "$dir/values" "$dir/skipped"
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
			echo "skipped: $name ($why)"
			printf '%s\t%s\n' "$name" "$why" >>"$dir/skipped"
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
launch() {	# FUNCTION NAME: start_NAME or another start_FUNCTION
	no_xdp "$SW0" && no_xdp "$SW1" || die "an XDP program is still on the veths before $2"
	"start_$1" && return
	tail -n 20 "$dir/$2.log" >&2
	die "$2 did not start"
}

# --- what was measured ---------------------------------------------------------------------------

thousands() { [ $(($1 % 1000)) = 0 ] && echo "$(($1 / 1000)) K" || echo "$1"; }	# 1 K

note() {	# ROW WHO UNIT VALUE
	printf '%s\t%s\t%s\t%s\n' "$@" >>"$dir/values"
	say "round $round: $1: $2 $4 $3"
}

better() {	# UNIT
	case $1 in
	Mpps | Mbit/s) echo more ;;
	*) echo less ;;
	esac
}

write_rows() {
	local row who unit peer must aim why

	while IFS=$'\t' read -r row who unit; do
		IFS='|' read -r peer must aim < <(target "$row" "$who")
		printf '{"group": "%s", "row": "%s", "who": "%s", "unit": "%s", "better": "%s", ' \
			"$group" "$row" "$who" "$unit" "$(better "$unit")"
		[ -z "$peer" ] || printf '"peer": "%s", ' "$peer"
		[ -z "$must" ] || printf '"must": "%s", ' "$must"
		[ -z "$aim" ] || printf '"aim": "%s", ' "$aim"
		printf '"values": [%s]}\n' "$(awk -F '\t' -v row="$row" -v who="$who" \
			'$1 == row && $2 == who { print $4 }' "$dir/values" | paste -sd,)"
	done < <(cut -f 1-3 "$dir/values" | awk '!seen[$0]++')
	while IFS=$'\t' read -r who why; do
		while read -r row; do
			printf '{"group": "%s", "row": "%s", "who": "%s", "skipped": "%s"}\n' \
				"$group" "$row" "$who" "${why//[\"\\]/}"
		done < <(cut -f 1 "$dir/values" | awk '!seen[$0]++')
	done <"$dir/skipped"
}

report() {
	write_rows >"$dir/rows"
	[ -z "$rows" ] || cat "$dir/rows" >>"$rows" || exit 1
	[ -z "$json" ] || { echo '['; sed '$!s/$/,/' "$dir/rows"; echo ']'; } >"$json" || exit 1
	"$here/run" --table "$dir/rows"
}
