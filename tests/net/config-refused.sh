#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# A wrong file is refused whole, by `culvertd --check`, `culvert config check` and a start: every
# error as FILE:LINE:COLUMN, exit status 1, nothing started.
. "$(dirname "$0")/lib.sh"

file=$tmp/culvert.yaml

# refused WHAT LINE:COLUMN... -- PATTERN...: of the file on standard input, offline. A COLUMN of *
# is any.
refused()
{
	local what=$1 status=0 place
	shift
	cat >"$file"
	timeout 20 "$build/culvertd" -c "$file" --check --offline >"$tmp/out" 2>&1 || status=$?
	[ $status = 1 ] || die "$what: status $status: $(cat "$tmp/out")"
	while [ "$1" != -- ]; do
		place=${1/\*/[0-9]+}
		grep -qE "^$file:$place: ." "$tmp/out" ||
			die "$what: nothing at $1 in: $(cat "$tmp/out")"
		shift
	done
	shift
	for place; do
		grep -qiE -- "$place" "$tmp/out" || die "$what: no $place in: $(cat "$tmp/out")"
	done
	status=0
	"$build/culvert" config check "$file" --offline >"$tmp/out2" 2>&1 || status=$?
	equal "$what: status of culvert config check" 1 $status
	grep -qE "culvert.yaml:[0-9]+:[0-9]+: " "$tmp/out2" ||
		die "$what: culvert config check: $(cat "$tmp/out2")"
	say "$what"
}

refused "an unknown key, with a suggestion" '2:*' -- 'untaged' 'untagged' <<'Y'
ports:
  h1: {untaged: blue}
networks: {blue: }
Y
refused "a foreign word" '2:*' '3:*' -- 'pvid' 'untagged' 'dstport' '\bport\b' <<'Y'
ports:
  h1: {pvid: blue}
tunnels: {dstport: 4789, local: [192.0.2.1], underlay: [ul0]}
networks: {blue: }
Y
refused "a network that is not there" '2:*' -- 'green' <<'Y'
ports:
  h1: {untagged: green}
networks: {blue: }
Y
refused "three errors in one run" '2:*' '3:*' '5:*' -- 'nosuch' 'ageing' <<'Y'
ports:
  h1: {untagged: nosuch}
  h2: {untagged: blue, queues: many}
networks:
  blue: {ageing: -5}
Y
refused "one VNI twice" '5:*' -- '10' <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10}
  red: {vni: 10}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
refused "one device twice" '3:*' -- 'eth5' <<'Y'
ports:
  a: {device: eth5, untagged: blue}
  b: {device: eth5, untagged: blue}
networks: {blue: }
Y
refused "one VLAN twice" '2:*' -- '150|overlap|twice' <<'Y'
ports:
  h1: {tagged: {100-200: tenant, 150: blue}}
networks:
  blue:
  tenant: {range: 100-200}
Y
refused "one network twice on a port" '2:*' -- 'blue' <<'Y'
ports:
  h1: {tagged: {100: blue, 200: blue}}
networks: {blue: }
Y
refused "a range the wrong way round" '2:*' -- '200-100' <<'Y'
ports:
  h1: {tagged: {200-100: tenant}}
networks:
  tenant: {range: 100-200}
Y
refused "numbers out of range" '2:*' '4:*' '5:*' -- '4095|4094' '16777216|16777215' '256|255' <<'Y'
ports:
  h1: {tagged: {4095: blue}}
networks:
  blue: {vni: 16777216}
tunnels: {local: [192.0.2.1], underlay: [ul0], ttl: 256}
Y
refused "bad addresses" '3:*' '4:*' -- '192.0.2.300' '02:00' <<'Y'
ports: {h1: {untagged: blue}}
networks:
  blue: {vni: 10, remotes: [192.0.2.300],
         static: {"02:00": h1}}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
refused "a group address as static MAC" '3:*' -- '01:00:5e:00:00:01' <<'Y'
ports: {h1: {untagged: blue}}
networks:
  blue: {static: {"01:00:5e:00:00:01": h1}}
Y
refused "a list where a map is wanted" '1:*' -- 'ports|map' <<'Y'
ports: [h1, h2]
Y
refused "a VNI without tunnels" '3:*' -- 'tunnels|vni' <<'Y'
ports: {h1: {untagged: blue}}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
Y
refused "YAML that is none" '2:*' -- . <<'Y'
ports:
	h1: {untagged: blue}
Y
refused "a key twice" '3:*' -- 'h1' <<'Y'
ports:
  h1: {untagged: blue}
  h1: {untagged: blue}
networks: {blue: }
Y
printf '\0\1\2\377binary' >"$tmp/binary"
refused "binary" -- . <"$tmp/binary"
head -c 40000000 /dev/zero | tr '\0' '#' >"$tmp/large"
refused "oversized" -- . <"$tmp/large"
refused "a bomb of anchors" -- . <<'Y'
a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]
f: &f [*e, *e, *e, *e, *e, *e, *e, *e, *e, *e]
g: &g [*f, *f, *f, *f, *f, *f, *f, *f, *f, *f]
ports: *g
Y

say "a start refuses as the check does"
echo 'ports: {h1: {untaged: blue}}' >"$file"
status=0
at sw timeout 20 "$build/culvertd" -c "$file" >"$tmp/out" 2>&1 || status=$?
equal "status of a start" 1 $status
grep -q "^$file:1:" "$tmp/out" || die "$(cat "$tmp/out")"
status=0
at sw timeout 20 "$build/culvertd" -c "$tmp/nosuch.yaml" --check >"$tmp/out" 2>&1 || status=$?
equal "status for a file that is not there" 1 $status
say "passed"
