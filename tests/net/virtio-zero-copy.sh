#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Zero-copy, on a driver that has it (virtio_net of Linux 7.3): mode: auto takes it and the socket
# says so, what passes is whole, and all frames come home from a port that is closed and opened
# again under load, and from one whose device goes and comes back. SIGKILL and SIGTERM under load.
#
#   h1 10.0.0.1 (veth) ---- culvert: blue ---- h2 10.0.0.2 (virtio_net, over a cable)
#
# vm: nics iommu_platform=on,disable-legacy=on
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
cabled h2 10.0.0.2/24
write_config <<'Y'
workers: {ring: 256}
ports:
  h1: {untagged: blue}
  h2: {untagged: blue, missing: wait}
networks:
  blue:
Y

# passes: both ways, and what arrives is what was sent.
passes()
{
	expect "ping" pings h1 10.0.0.2
	expect "large pings" pings h2 10.0.0.1 -s 1472
	transfers h1 h2 10.0.0.2 tcp 500000
	transfers h2 h1 10.0.0.1 tcp 500000
}

# floods NS ADDRESS: as many datagrams of all lengths as can be, until `stop`.
floods()
{
	start "$1" "$python" -c '
import random, socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
data = random.randbytes(1472)
while True:
    try:
        s.sendto(data[:random.randrange(1472)], (sys.argv[1], 9))
    except OSError:
        pass
' "$2"
	floods+=("$job")
}

flood()
{
	floods=()
	floods h1 10.0.0.2
	floods h2 10.0.0.1
	sleep 1
}

# damaged NS: datagrams that arrived with a wrong checksum.
damaged()
{
	at "$1" cat /proc/net/snmp |
		awk '/^Udp:/ {if (names) {split(names, name)
			for (i in name) if (name[i] == "InCsumErrors") print $i} names = $0}'
}

opened() { [ "$(port h2 mode) $(port h2 state)" = "zero-copy up" ]; }
frames_free() { value status "sum(w['frames_free'] for w in d['workers'])"; }

# home WHEN: as many frames are free as at first, but for some that are on their way.
home()
{
	local now
	sleep 1
	now=$(frames_free)
	say "$1: $now frames are free"
	at_least "free frames, $1" $((before - 32)) "$now"
	equal "damaged datagrams at h1 and h2, $1" "0 0" "$(damaged h1) $(damaged h2)"
}

kill_culvert()
{
	kill -KILL "$culvertd_pid"
	wait "$culvertd_pid" 2>/dev/null || true
	culvertd_pid=
}

run_culvert
say "h2: $(port h2 mode), $(port h2 program); $(port h2 mode_why)"
[ "$(port h2 mode)" = zero-copy ] || [ "$(uname -r | cut -d. -f1)" -ge 7 ] ||
	skip "this kernel's virtio_net has no zero-copy: $(port h2 mode_why)"
equal "mode" zero-copy "$(port h2 mode)"
passes
before=$(frames_free)
home "at first"
for turn in 1 2; do
	flood
	expect "taken off" take_off h2
	expect "opened again" eventually 10 opened
	expect "ping" pings h1 10.0.0.2
	stop "${floods[@]}"
	home "turn $turn"
done
passes

say "the device goes, and comes back"
read -r ours _ <<<"$CULVERT_TEST_NICS"
device=$(basename "$(at sw readlink -f /sys/class/net/h2/device)")
driver=/sys/bus/virtio/drivers/virtio_net
flood
echo "$device" >$driver/unbind
expect "h2 is missing" eventually 5 port_is h2 state missing
echo "$device" >$driver/bind
ip link set dev "$(nic "$ours")" netns "${prefix}sw" name h2
ip -n "${prefix}sw" link set h2 up
expect "opened again" eventually 10 opened
stop "${floods[@]}"
passes
home "after that"

say "SIGKILL and SIGTERM under load"
flood
kill_culvert
run_culvert
equal "mode" zero-copy "$(port h2 mode)"
expect "ping" pings h1 10.0.0.2
stop_culvert
stop "${floods[@]}"
run_culvert
passes
home "at the end"
finish
