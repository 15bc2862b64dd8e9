#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What only this host can say: devices that are not there, that the host itself needs, VTEP
# addresses that are not ours. Refused before anything is touched; `--offline` does not ask.
. "$(dirname "$0")/lib.sh"
need clang

file=$tmp/culvert.yaml
for i in 1 2 3 4 5; do
	host h$i
done
addresses sw h2 10.0.0.254/24
ip -n "${prefix}sw" link add br0 type bridge
ip -n "${prefix}sw" link set h3 master br0
ip -n "${prefix}sw" route add default dev h5

# check WANTED-STATUS PATTERN [ARGUMENT...]: of the file on standard input.
check()
{
	local wanted=$1 pattern=$2 status=0
	shift 2
	cat >"$file"
	at sw timeout 20 "$build/culvertd" -c "$file" --check "$@" >"$tmp/out" 2>&1 || status=$?
	equal "status for /$pattern/ ($(cat "$tmp/out"))" "$wanted" $status
	grep -qiE "$pattern" "$tmp/out" || die "not said: $pattern, but: $(cat "$tmp/out")"
	if [ "$wanted" = 1 ]; then
		grep -qE "^$file:[0-9]+:[0-9]+: " "$tmp/out" || die "no place in: $(cat "$tmp/out")"
		status=0
		at sw timeout 20 "$build/culvertd" -c "$file" >"$tmp/out" 2>&1 || status=$?
		[ $# -gt 0 ] || equal "status of a start" 1 $status
	fi
	say "/$pattern/: $wanted $*"
}

# one PORT [OPTIONS]: a file with this port.
one() { printf 'ports:\n  %s: {untagged: blue%s}\nnetworks: {blue: }\n' "$1" "${2:-}"; }

one h1 | check 0 ''
one nosuch | check 1 'nosuch'
one nosuch | check 0 '' --offline
one nosuch ', missing: wait' | check 0 ''
one h2 | check 1 'address|logged in'
printf 'ports:\n  h2: {tagged: {5: blue}, rest: kernel}\nnetworks: {blue: }\n' | check 0 ''
one h3 | check 1 'bridge'
one h5 | check 1 'route'
for vtep in 192.0.2.1 2001:db8::1; do
	check 1 "$vtep" <<Y
ports: {h1: {untagged: blue}}
networks: {blue: {vni: 10}}
tunnels: {local: ["$vtep"], underlay: [h4]}
Y
done
check 0 '' <<Y
ports: {h1: {untagged: blue}}
networks: {blue: {vni: 10}}
tunnels: {local: [192.0.2.1], underlay: [h4], missing: wait}
Y

ip -n "${prefix}sw" link property add dev h1 altname h1-by-another-name

# mirror CAPTURE: a file with the port h1 and this capture.
mirror() { one h1 && printf 'captures: {a: {%s}}\n' "$1"; }

mirror 'of: h1, device: h5' | check 0 ''
mirror 'of: h1, device: nosuch' | check 0 ''	# it may come
mirror 'of: h1, device: lo' | check 1 'loopback'
mirror 'of: h1, device: h1-by-another-name' | check 1 'h1 is the device of the port h1'
mirror 'of: h1, device: h1-by-another-name' | check 0 '' --offline
mirror 'of: h1, device: h1' | check 1 'that of the port h1' --offline
mirror 'of: h1, filter: port x y' | check 1 'filter: '

say "an XDP program that is not ours"
cat >"$tmp/pass.c" <<'C'
#include <linux/bpf.h>
__attribute__((section("xdp"), used)) int pass(void *context) { return XDP_PASS; }
char _license[] __attribute__((section("license"), used)) = "GPL";
C
clang -target bpf -O2 "-I/usr/include/$(uname -m)-linux-gnu" -c "$tmp/pass.c" -o "$tmp/pass.o"
ip -n "${prefix}sw" link set h4 xdpgeneric obj "$tmp/pass.o" sec xdp
one h4 | check 1 'XDP'
ip -n "${prefix}sw" -d link show h4 | grep -q xdp || die "the foreign program was taken off"
say "passed"
