#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Every example in dist/examples and every YAML block of the README loads, and the README's runs
# as it says: on a machine with its devices and its VTEP address. The example of flow rules does
# what its comments say.
#
#   h1 ---- eth1 |         |
#   h2 ---- eth2 | culvert | eth3 ---- r1 192.0.2.2
. "$(dirname "$0")/lib.sh"

top=$here/../..
for file in "$top"/dist/examples/*.yaml; do
	[ -e "$file" ] || continue
	timeout 20 "$build/culvertd" -c "$file" --check --offline >"$tmp/out" 2>&1 ||
		die "$file: $(cat "$tmp/out")"
	say "${file##*/}"
done

awk '/^```/ {on = $0 == "```yaml"; next} on' "$top/README.md" >"$tmp/readme.yaml"
[ -s "$tmp/readme.yaml" ] || die "no YAML in the README"
for i in 1 2; do
	namespace h$i
	veth sw eth$i h$i e0
	addresses h$i e0 10.0.0.$i/24
done
namespace r1
veth sw eth3 r1 e0 mtu 1600
addresses sw eth3 192.0.2.1/24
addresses r1 e0 192.0.2.2/24
vxlan r1 10100 192.0.2.2 192.0.2.1 10.0.0.3/24
vlan_host h2 100
start_culvert <"$tmp/readme.yaml"
expect "ping, tagged" pings h1 10.0.0.2
expect "ping, through the tunnel" pings h2 10.0.0.3
books
stop_culvert

say "flows.yaml"
host srv1 10.0.0.1/24
host srv2 10.0.0.2/24
host probe
cp "$top"/dist/examples/flows.* "$tmp"
start_culvert <"$tmp/flows.yaml"
equal "rules" "$(grep -c '^priority=' "$tmp/flows.txt")" "$(culvert flow count)"
expect "its own address" pings srv2 10.0.0.1
addresses srv1 e0 10.0.0.66/24
expect_not "another address" at srv1 ping -q -c 2 -i 0.2 -W 1 -I 10.0.0.66 10.0.0.2
expect "a rule that drops" [ "$(culvert -j flow count --strict priority=190,in_port=srv1 |
	"$python" "$here/pick.py" "d['packets']")" -gt 0 ]
finish
