#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Somebody takes our XDP program off a device, as `bpftool link detach` does: the port is opened
# again by itself. With a program of his own in its place it says so, and goes on once that is gone.
#
#   h1, h2 ---- culvert: blue
. "$(dirname "$0")/lib.sh"

host h1 10.0.0.1/24
host h2 10.0.0.2/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue:
Y
expect "ping" pings h1 10.0.0.2

# take_off DEV: detaches culvertd's link on it. Only what that process holds: other namespaces have
# the same interface numbers.
take_off()
{
	local ifindex
	ifindex=$(ip -n "${prefix}sw" -o link show "$1" | cut -d: -f1)
	"$python" - "$culvertd_pid" "$ifindex" <<'P'
import ctypes, glob, os, platform, re, struct, sys
BPF_LINK_GET_FD_BY_ID, BPF_LINK_DETACH = 30, 34
number = {"x86_64": 321, "aarch64": 280}[platform.machine()]
libc = ctypes.CDLL(None, use_errno=True)


def bpf(command, value):
    attr = ctypes.create_string_buffer(struct.pack("I", value), 128)
    r = libc.syscall(number, command, attr, 128)
    if r < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return r


for path in glob.glob("/proc/%s/fdinfo/*" % sys.argv[1]):
    with open(path) as f:
        text = f.read()
    link = re.search(r"link_id:\s*(\d+)", text)
    if link and re.search(r"ifindex:\s*%s\b" % sys.argv[2], text):
        bpf(BPF_LINK_DETACH, bpf(BPF_LINK_GET_FD_BY_ID, int(link[1])))
        sys.exit(0)
sys.exit("no link")
P
}

attached() { ip -n "${prefix}sw" -d -o link show "$1" | grep -q 'name culvert_'; }

expect "attached" attached h1
expect "taken off" take_off h1
expect "attached again" eventually 5 attached h1
expect "ping" pings h1 10.0.0.2

say "somebody else's program is in the way"
other=$build/bench/sink.bpf.o
[ -f "$other" ] || die "no $other: build it first"
expect "taken off" take_off h1
expect "another program" ip -n "${prefix}sw" link set dev h1 xdp object "$other" section xdp
expect "h1 has failed" eventually 10 port_is h1 state failed
expect_not "ping" at h1 ping -q -c 1 -W 1 10.0.0.2 >/dev/null
ip -n "${prefix}sw" link set dev h1 xdp off
expect "attached again" eventually 40 attached h1
expect "h1 is up" eventually 5 port_is h1 state up
expect "ping" pings h1 10.0.0.2
finish
