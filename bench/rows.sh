# SPDX-License-Identifier: BSD-2-Clause
# shellcheck shell=bash
# A bench's rows, each with contenders that take turns: a table for people, and lines of JSON for
# bench/run. Sourced behind lib.sh; it expects dir.

: >"$dir/rows"
: >"$dir/values"

# row NAME UNIT BETTER PEER MUST AIM: BETTER is less or more. MUST is of culvert's values over
# PEER's, round by round; of the values alone when PEER is empty.
row() {
	local IFS=$'\t'

	row=$1
	printf '%s\n' "$*" >>"$dir/rows"
}

value() {	# WHO VALUE: of the row that was named last
	printf '%s\t%s\t%s\n' "$row" "$1" "$2" >>"$dir/values"
	say "$row: $1 $2"
}

skip() {	# WHO WHY
	printf '%s\t%s\t-\t%s\n' "$row" "$1" "$2" >>"$dir/values"
}

whos() { awk -F '\t' -v row="$1" '$1 == row && !seen[$2]++ { print $2 }' "$dir/values"; }
values_of() {	# ROW WHO
	awk -F '\t' -v row="$1" -v who="$2" '$1 == row && $2 == who && $3 != "-" { print $3 }' \
		"$dir/values"
}
why_skipped() {	# ROW WHO
	awk -F '\t' -v row="$1" -v who="$2" '
		$1 == row && $2 == who && $3 == "-" { print $4; exit }' "$dir/values"
}

# spread FORMAT: numbers, one a line -> "median (least to most)"
spread() {
	local median least most

	read -r median least most < <(statistics) || { echo -; return; }
	# shellcheck disable=SC2059  # it is one
	printf "$1 ($1 to $1)" "$median" "$least" "$most"
}

# Row by row, in columns: name, who, unit, measured, over the peer's, must, aim. Fields are divided
# by tabs, which read takes for one when there are many: an empty one is "-" here.
each_row() {	# COMMAND
	local name unit better peer must aim

	while IFS=$'\t' read -r name unit better peer must aim; do
		"$1"
	done < <(awk -F '\t' '{ for (i = 1; i <= 6; i++)
		printf "%s%s", $i == "" ? "-" : $i, i < 6 ? "\t" : "\n" }' "$dir/rows")
}

over_peer() {
	[ "$peer" != - ] || { echo -; return; }
	paste <(values_of "$name" culvert) <(values_of "$name" "$peer") |
		awk '$2 { print $1 / $2 }' | spread %.2f
}

print_row() {
	local who why claim

	while read -r who; do
		why=$(why_skipped "$name" "$who")
		if [ -n "$why" ]; then
			printf '%-38s %-12s skipped: %s\n' "$name" "$who" "$why"
			continue
		fi
		claim=''
		[ "$who" != culvert ] ||
			claim=$(printf '%-22s %-10s %s' "$(over_peer)" "$must" "$aim")
		printf '%-38s %-12s %-26s %s\n' "$name" "$who" \
			"$(values_of "$name" "$who" | spread %.4g)" "$claim"
	done < <(whos "$name")
}

print_rows() {
	printf '%-38s %-12s %-26s %-22s %-10s %s\n' ROW WHO MEASURED RATIO MUST AIM
	each_row print_row
}

print_row_json() {
	local who why values

	while read -r who; do
		printf '{"group": "%s", "row": "%s", "who": "%s", ' "${bench#bench/}" "$name" "$who"
		why=$(why_skipped "$name" "$who")
		[ -z "$why" ] || { printf '"skipped": "%s"}\n' "$why"; continue; }
		values=$(values_of "$name" "$who" | paste -sd,)
		printf '"unit": "%s", "better": "%s", "values": [%s]' "$unit" "$better" "$values"
		if [ "$who" = culvert ]; then
			[ "$peer" = - ] || printf ', "peer": "%s"' "$peer"
			[ "$must" = - ] || printf ', "must": "%s"' "$must"
			[ "$aim" = - ] || printf ', "aim": "%s"' "$aim"
		fi
		printf '}\n'
	done < <(whos "$name")
}

rows_as_json() { each_row print_row_json; }
