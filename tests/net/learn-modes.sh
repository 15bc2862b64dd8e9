#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# learn: true learns from ports and tunnels, local from ports only, false from neither; what is not
# known floods.
#
#   h1 (blue), h2 (red), h3 (green) ---- culvert, 192.0.2.1 ---- fabric ---- r1 192.0.2.2
#                                                                            vx10, vx20, vx30
. "$(dirname "$0")/lib.sh"

fabric 192.0.2.1/24
remote r1 192.0.2.2/24
for i in 1 2 3; do
	host h$i 10.0.$i.1/24
	vxlan r1 ${i}0 192.0.2.2 192.0.2.1 10.0.$i.2/24
	ip -n "${prefix}r1" link set vx${i}0 address 02:00:00:00:02:0$i
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: red}
  h3: {untagged: green}
networks:
  blue: {vni: 10}
  red: {vni: 20, learn: local}
  green: {vni: 30, learn: false, static: {"02:00:00:00:02:03": 192.0.2.2}}
tunnels: {local: [192.0.2.1], underlay: [ul0], remotes: [192.0.2.2]}
Y

for i in 1 2 3; do
	expect "ping" pings h$i 10.0.$i.2
done
# known NETWORK: how many MACs are, by a port and by a VTEP
known() { fdb "'%d by a port, %d by a VTEP' % tuple(sum(k in e for e in d
	if e['network'] == '$1') for k in ('port', 'vtep'))"; }
knows() { [ "$(known "$1")" = "$2" ]; }
expect "blue" eventually 5 knows blue '1 by a port, 1 by a VTEP'
expect "red" eventually 5 knows red '1 by a port, 0 by a VTEP'
equal "green" '0 by a port, 1 by a VTEP' "$(known green)"
equal "the one of green is static" "[True]" \
	"$(fdb "[e['static'] for e in d if e['network'] == 'green']")"
finish
