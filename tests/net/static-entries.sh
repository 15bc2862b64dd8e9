#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Static entries, of a port and of a VTEP, from the file and by command: used at once, never
# moved, never aged.
#
#   h1, h2, h3 ---- culvert: blue, VTEP 192.0.2.1 ---- fabric ---- r1 192.0.2.11, r2 192.0.2.12
. "$(dirname "$0")/lib.sh"

for i in 1 2 3; do
	host h$i
done
fabric 192.0.2.1/24
for i in 1 2; do
	remote r$i 192.0.2.1$i/24
	vxlan r$i 10 192.0.2.1$i 192.0.2.1
done
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
  h3: {untagged: blue}
networks:
  blue:
    vni: 10
    ageing: 1
    remotes: [192.0.2.11, 192.0.2.12]
    static: {"02:00:00:00:00:51": h2, "02:00:00:00:00:52": 192.0.2.12}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 2

for ns in h1 h2 h3; do
	listen $ns
done
listen r1 vx10
listen r2 vx10
equal "shown as static" "[True]" "$(fdb "[e['static'] for e in d if e['mac'][-2:] == '51']")"

# goes_only MAC NS TEXT
goes_only()
{
	py h1 <<P
send("e0", eth("$1", mac_of("e0"), "$3"), eth(BROADCAST, mac_of("e0"), "after-$3"))
P
	heard "$2" "\"$3\""
	for other in h2 h3 r1 r2; do
		heard $other "\"after-$3\""
		[ $other = "$2" ] || unheard $other "\"$3\""
	done
}

goes_only 02:00:00:00:00:51 h2 to-port
goes_only 02:00:00:00:00:52 r2 to-vtep
say "somebody else claims the addresses"
py h3 <<'P'
send("e0", eth(BROADCAST, "02:00:00:00:00:51", "claim-port"))
send("e0", eth(BROADCAST, "02:00:00:00:00:52", "claim-vtep"))
P
heard h1 'claim-vtep'
sleep 2
goes_only 02:00:00:00:00:51 h2 to-port-still
goes_only 02:00:00:00:00:52 r2 to-vtep-still

say "by command"
expect "fdb add" culvert fdb add blue 02:00:00:00:00:53 h3
expect "there" fdb_has blue 02:00:00:00:00:53 h3
goes_only 02:00:00:00:00:53 h3 to-added
expect "fdb add, a VTEP" culvert fdb add blue 02:00:00:00:00:54 192.0.2.11
goes_only 02:00:00:00:00:54 r1 to-added-vtep
expect "fdb del" culvert fdb del blue 02:00:00:00:00:53
expect_not "gone" fdb_knows blue 02:00:00:00:00:53
for wrong in "nosuch 02:00:00:00:00:53 h3" "blue 03:00:00:00:00:53 h3" \
	"blue 02:00:00:00:00:53 nosuch" "blue nonsense h3"; do
	# shellcheck disable=SC2086 # three arguments
	expect_not "fdb add $wrong" culvert fdb add $wrong 2>/dev/null
done
finish
