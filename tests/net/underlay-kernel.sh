#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# The underlay device stays the kernel's for all but VXLAN: a TCP connection like ssh's, ping and
# ARP go on while tunnels are busy, and when culvert starts and stops.
#
#   h1 10.0.0.1 ---- culvert, 192.0.2.1 (also sshd's) ---- fabric ---- r1 192.0.2.2, vx10: 10.0.0.2
. "$(dirname "$0")/lib.sh"
need iperf3

host h1 10.0.0.1/24
fabric 192.0.2.1/24 2001:db8::1/64
remote r1 192.0.2.2/24 2001:db8::2/64
vxlan r1 10 192.0.2.2 192.0.2.1 10.0.0.2/24
ip -n "${prefix}r1" link set vx10 mtu 1500

say "a connection that is open all the time and echoes a line every 50 ms"
at sw "$python" - >"$tmp/echo.log" 2>&1 <<'P' &
import socket
s = socket.create_server(("192.0.2.1", 22))
c, _ = s.accept()
while True:
    data = c.recv(4096)
    if not data:
        break
    c.sendall(data)
P
expect "the echo server" eventually 5 listening sw 22
at r1 "$python" - >"$tmp/client.log" 2>&1 <<'P' &
import socket
import time
s = socket.create_connection(("192.0.2.1", 22))
s.settimeout(3)
worst = 0
n = 0
while True:
    t = time.monotonic()
    s.sendall(b"x" * 100)
    if not s.recv(4096):
        break
    worst = max(worst, time.monotonic() - t)
    n += 1
    print("%d answers, worst %.0f ms" % (n, worst * 1000), flush=True)
    time.sleep(0.05)
P
client=$!
alive() { kill -0 $client && [ "$(wc -l <"$tmp/client.log")" -gt "$1" ]; }
expect "answers before culvert" eventually 5 alive 3

start_culvert <<'Y'
ports:
  h1: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
expect "ping through the tunnel" pings h1 10.0.0.2
start r1 ping -q -i 0.05 -w 10 192.0.2.1 >"$tmp/ping.log"
ping=$job
say "TCP in the tunnel meanwhile: $(iperf h1 r1 10.0.0.2 -t 3) Mbit/s"
say "and back: $(iperf h1 r1 10.0.0.2 -t 3 -R) Mbit/s"
ip -n "${prefix}r1" neigh flush all || true
ip -n "${prefix}sw" neigh flush all || true
expect "ARP on the underlay" pings r1 192.0.2.1
expect "ping from this host" pings sw 192.0.2.2
expect "ping -6" pings r1 2001:db8::1
transfers r1 sw 192.0.2.1 tcp 5000000
transfers sw r1 2001:db8::2 udp 100000
wait $ping || die "ping: $(cat "$tmp/ping.log")"
say "underlay: $(grep transmitted "$tmp/ping.log")"
read -r sent received <<<"$(awk '/transmitted/ {print $1, $4}' "$tmp/ping.log")"
at_least "answers to $sent requests on the underlay" $((sent * 9 / 10)) "$received"
n=$(wc -l <"$tmp/client.log")
expect "still answers" eventually 5 alive $((n + 5))
say "the connection: $(tail -n 1 "$tmp/client.log")"
books
stop_culvert
n=$(wc -l <"$tmp/client.log")
expect "still answers after culvert" eventually 5 alive $((n + 5))
say "passed"
