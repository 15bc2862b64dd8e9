#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# What `culvert capture -w` writes, read back with tshark: which port, which direction, when, and
# why it was dropped. To a file, and into a pipe as for Wireshark.
#
#   h1 ---- untagged = blue | culvert | untagged = blue ---- h2
#                           |         | ul0 ---- fabric ---- r1 192.0.2.2, vx10
. "$(dirname "$0")/lib.sh"
need tcpdump
need tshark capinfos

for i in 1 2; do
	host h$i
	at sw sysctl -qw net/ipv6/conf/h$i/disable_ipv6=1
done
fabric 192.0.2.1/24
remote r1 192.0.2.2/24
vxlan r1 10 192.0.2.2 192.0.2.1
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
tunnels_ok 1
cd "$tmp" || exit

capture file h1,h2,tunnel:192.0.2.2,ul0 --filter 'ether proto 0x88b5 or udp' --snaplen 200 \
	-w file.pcapng
capture inner ul0 --inner -w inner.pcapng
capture lost h1 --drops -w lost.pcapng
mkfifo pipe
tshark -r - -T fields -e frame.number <pipe >piped 2>piped.says &
reader=$!
start sw "$build/culvert" -s "$tmp/sock" capture h1 --dir in -w - >pipe 2>pipe.says
captures="$captures $job"
capturing
before=$(date +%s)
py h1 <<'P'
me = "02:00:00:00:00:01"
send("e0", *[eth(BROADCAST, me, "good %d" % i + "." * 300) for i in range(20)], gap_s=0.001)
# of a VLAN that the port does not map, and of nobody
send("e0", eth(BROADCAST, me, "vlan", tags=[77]), eth(BROADCAST, "03:00:00:00:00:01", "group"))
P
py r1 <<'P'
send("vx10", *[eth(BROADCAST, "02:00:00:00:00:03", "far %d" % i) for i in range(10)], gap_s=0.001)
P
captured() { [ "$(culvert -j capture | "$python" "$here/pick.py" \
	"sorted(c['captured'] for c in d['captures'])")" = "$1" ]; }
# of each good frame: in at h1, out at h2, in the tunnel and on ul0; of the tagged one nothing
# passes the filter; of each far one: on ul0 and in the tunnel, out at h1 and h2
eventually 10 captured '[2, 22, 60, 121]' || die "not all captured: $(culvert -j capture)"
stop_captures
wait $reader || die "tshark read no pipe: $(cat piped.says)"
after=$(date +%s)

# fields FILE [FIELD...]: of every frame, with commas
fields()
{
	local file=$1 field options=
	shift
	for field; do
		options="$options -e $field"
	done
	# shellcheck disable=SC2086 # several
	tshark -r "$file" -T fields -E separator=, $options 2>"$file.says" ||
		die "tshark: $(cat "$file.says")"
}
# frames FILE: "COUNT INTERFACE,DESCRIPTION,DIRECTION,COMMENT", sorted. 1 is in, 2 is out.
frames()
{
	fields "$1" frame.interface_name frame.interface_description \
		frame.packet_flags_direction frame.comment |
		sed 's/0x0000000//' | sort | uniq -c | sed 's/^ *//'
}
diff <(frames file.pcapng) - <<'W' || die "file.pcapng"
20 h1,,1,
1 h1,,1,dropped: bad-source (the source MAC is a group address or zero)
10 h1,,2,
30 h2,,2,
10 tunnel:192.0.2.2,,1,
20 tunnel:192.0.2.2,,2,
10 ul0,,1,
20 ul0,,2,
W
diff <(frames inner.pcapng) - <<'W' || die "inner.pcapng"
10 ul0,,1,
20 ul0,,2,
10 ul0,inside VXLAN,1,
20 ul0,inside VXLAN,2,
W
diff <(frames lost.pcapng) - <<'W' || die "lost.pcapng"
1 h1,,1,dropped: bad-source (the source MAC is a group address or zero)
1 h1,,1,dropped: vlan-unmapped (the port maps this VLAN to no network)
W
equal "frames through the pipe" 22 "$(wc -l <piped)"

say "times are those of now, in order, to the nanosecond; lengths are told"
fields file.pcapng frame.time_epoch frame.len frame.cap_len >stamps
before=$before after=$after "$python" - <<'P' || die "see above"
import os
rows = [line.strip().split(",") for line in open("stamps")]
times = [int(time.replace(".", "")) for time, length, caplen in rows]
assert len(times) == 121 and all(len(row[0].split(".")[1]) == 9 for row in rows)
assert times == sorted(times)
assert int(os.environ["before"]) * 10 ** 9 <= times[0], times[0]
assert times[-1] <= (int(os.environ["after"]) + 1) * 10 ** 9, times[-1]
assert any(time % 1000 for time in times)
assert all(int(caplen) == min(int(length), 200) for time, length, caplen in rows)
assert {int(length) for time, length, caplen in rows} >= {14 + len("good 9" + "." * 300)}
P
capinfos -M file.pcapng >infos
for line in 'precision: *nanoseconds' 'application: *culvert ' 'oper-sys: *Linux ' \
	'Filter string = ether proto 0x88b5 or udp' 'Capture length = 200' \
	'Number of interfaces in file: 4'; do
	grep -qE "$line" infos || die "not said: $line, but: $(cat infos)"
done
for one in "file 121" "inner 60" "lost 2" "pipe 22"; do
	grep -q "${one#* } captured, 0 missed" "${one% *}.says" ||
		die "${one% *}: $(cat "${one% *}.says")"
done
finish
