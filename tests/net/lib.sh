# SPDX-License-Identifier: BSD-2-Clause
# What every network test stands on: private namespaces, a culvertd of its own, and the books.
#
# A test sources this file, builds its topology, starts culvert and ends with `finish`, which checks
# the books and that culvert leaves nothing behind. Exit status: 0 passed, 77 skipped, else failed.
# Any number of tests may run side by side: all names carry the process id, and all devices live in
# namespaces. Variables that a caller may set: BUILD (the build directory), KEEP=1 (keep the files).
#
# shellcheck shell=bash
set -eEuo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
build=$(cd "${BUILD:-$here/../../build}" 2>/dev/null && pwd) || build=
test_name=$(basename "$0" .sh)
prefix=cvn$$-
tmp=
culvertd_pid=
job=
slow=${SLOW:-1}			# factor on every time limit
[ -z "${SANITIZED:-}" ] || slow=$((slow * 3))
n_hosts=0
PATH=$PATH:/usr/sbin:/sbin	# su without - leaves them out
export LC_ALL=C PYTHONPATH=$here PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}

# --- ends
# -------------------------------------------------------------------------------------------

say() { echo "# $*"; }

skip()
{
	echo "SKIP: $*"
	exit 77
}

# Ends the test as failed, with what helps to see why.
die()
{
	local noun device
	trap - ERR
	echo "FAIL: $*"
	if [ -n "$tmp" ] && [ -f "$tmp/culvertd.log" ]; then
		echo "--- culvertd, last lines"
		tail -n 60 "$tmp/culvertd.log"
	fi
	if [ -n "$culvertd_pid" ] && kill -0 "$culvertd_pid" 2>/dev/null; then
		for noun in status port drops tunnel fdb; do
			echo "--- culvert $noun"
			timeout 5 "$build/culvert" -s "$tmp/sock" $noun 2>&1 | head -n 40 || true
		done
		echo "--- what the kernel counted on the ports, where it is not 0"
		for device in $(at sw ls /sys/class/net); do
			at sw ip -s -o link show "$device"
			at sw ethtool -S "$device" 2>/dev/null | grep -v ': 0$' || true
		done
	fi
	exit 1
}

cleanup()
{
	local status=$? ns pid
	trap - EXIT ERR
	trap "" INT TERM HUP PIPE
	set +e
	exec 2>/dev/null	# bash reports the jobs that it lost
	for ns in $(ip netns list 2>/dev/null | awk '{print $1}' | grep "^$prefix"); do
		for pid in $(ip netns pids "$ns" 2>/dev/null); do
			kill -KILL "$pid" 2>/dev/null
		done
		ip netns del "$ns"
	done
	wait 2>/dev/null
	if [ -n "$tmp" ]; then
		if [ -n "${KEEP:-}" ]; then
			echo "kept: $tmp"
		else
			rm -rf "$tmp"
		fi
	fi
	exit "$status"
}

[ "$(id -u)" = 0 ] || skip "needs root (network namespaces, AF_XDP)"
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP PIPE
# in a subshell the status is enough: whoever waits for it sees it
trap '[ $BASHPID != $$ ] || die "line $LINENO: $BASH_COMMAND"' ERR
for program in culvertd culvert; do
	[ -n "$build" ] && [ -x "$build/$program" ] || die "no $program in ${BUILD:-build}"
done
tmp=$(mktemp -d "${TMPDIR:-/tmp}/culvert-$test_name.XXXXXX")

# Skips unless all of these programs are installed.
need()
{
	local program
	for program; do
		command -v "$program" >/dev/null || skip "needs $program (tools/install-deps)"
	done
}

# The python that has scapy is the distribution's.
python=/usr/bin/python3
need ip ethtool ping "$python"

# expect WHAT COMMAND...: the command must succeed.
expect()
{
	local what=$1
	shift
	"$@" || die "expected: $what ($*)"
}

# expect_not WHAT COMMAND...: the command must fail.
expect_not()
{
	local what=$1
	shift
	! "$@" || die "not expected: $what ($*)"
}

# equal WHAT WANTED GOT
equal()
{
	[ "$2" = "$3" ] || die "$1: wanted $2, got $3"
}

# at_least WHAT LIMIT GOT
at_least()
{
	[ "$3" -ge "$2" ] || die "$1: wanted at least $2, got $3"
}

# eventually SECONDS COMMAND...: tried until it succeeds; false after SECONDS.
eventually()
{
	local limit=$((SECONDS + $1 * slow))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $limit ] || return 1
		sleep 0.1
	done
}

# --- topology
# ---------------------------------------------------------------------------------------

# Makes namespace NAME, with lo up and without IPv6 on new devices unless `addresses` asks for it.
namespace()
{
	ip netns add "$prefix$1"
	at "$1" sysctl -qw net.ipv6.conf.default.disable_ipv6=1 net.ipv6.conf.default.accept_dad=0
	ip -n "$prefix$1" link set lo up
}

# at NAME COMMAND...: runs it in that namespace.
at()
{
	local ns=$1
	shift
	ip netns exec "$prefix$ns" "$@"
}

# start NS COMMAND...: the same in the background; its process id is in $job.
start()
{
	local ns=$1
	shift
	ip netns exec "$prefix$ns" "$@" &
	# shellcheck disable=SC2034 # the tests use it
	job=$!
}

# stop PID...: ends such programs.
stop()
{
	kill "$@" 2>/dev/null || true
	wait "$@" 2>/dev/null || true
}

# veth NS1 DEV1 NS2 DEV2 [OPTION...]: a pair, up, whose second end leaves no checksum to hardware.
# The options go to `ip link add`.
veth()
{
	local ns1=$1 dev1=$2 ns2=$3 dev2=$4
	shift 4
	ip -n "$prefix$ns1" link add "$dev1" "$@" type veth \
		peer name "$dev2" "$@" netns "$prefix$ns2"
	plain "$ns2" "$dev2"
	ip -n "$prefix$ns1" link set "$dev1" up
	ip -n "$prefix$ns2" link set "$dev2" up
}

# plain NS DEV: the sender completes checksums itself, as it must in front of a switch that is no
# kernel, and puts VLAN tags into the frame where XDP does not see them beside it.
plain()
{
	at "$1" ethtool -K "$2" tx off >/dev/null 2>&1
	tags_seen || at "$1" ethtool -K "$2" txvlan off
}

# tags_seen: this kernel tells XDP of a tag that a veth passes beside the frame (6.8 and later).
tags_seen()
{
	local major minor
	IFS=.- read -r major minor _ < <(uname -r)
	[ $((major * 100 + minor)) -ge 608 ]
}

# addresses NS DEV ADDRESS/LENGTH...
addresses()
{
	local ns=$1 dev=$2 address
	shift 2
	for address; do
		case $address in
		*:*)
			# slashes: a VLAN device has a dot in its name
			at "$ns" sysctl -qw "net/ipv6/conf/$dev/disable_ipv6=0" \
				"net/ipv6/conf/$dev/accept_dad=0" \
				"net/ipv6/conf/$dev/router_solicitations=0"
			ip -n "$prefix$ns" address add "$address" dev "$dev" nodad
			;;
		*)
			ip -n "$prefix$ns" address add "$address" dev "$dev"
			;;
		esac
	done
}

# host NAME ADDRESS/LENGTH...: a namespace NAME with device e0, whose other end NAME is a device
# of the switch. The first host has MAC 02:00:00:00:00:01, and so on.
host()
{
	local name=$1
	shift
	n_hosts=$((n_hosts + 1))
	namespace "$name"
	veth sw "$name" "$name" e0
	ip -n "$prefix$name" link set e0 address "$(printf '02:00:00:00:00:%02x' $n_hosts)"
	addresses "$name" e0 "$@"
}

# cabled NAME ADDRESS/LENGTH...: the same over a cable that is none of this kernel's: both ends are
# virtio NICs, which only a guest has (tests/vm/run; the test says "# vm: nics PROPERTIES").
cabled()
{
	local name=$1 ours theirs
	shift
	[ -n "${CULVERT_TEST_NICS:-}" ] || skip "needs virtio NICs: tests/vm/run --all $test_name"
	read -r ours theirs <<<"$CULVERT_TEST_NICS"
	namespace "$name"
	ip link set dev "$(nic "$ours")" netns "${prefix}sw" name "$name"
	ip link set dev "$(nic "$theirs")" netns "$prefix$name" name e0
	ip -n "${prefix}sw" link set "$name" up
	ip -n "$prefix$name" link set e0 up
	addresses "$name" e0 "$@"
}

# nic MAC: the device of that address. NICs come back from a namespace that ends, under any name.
nic() { ip -o link show | awk -v mac="$1" '$0 ~ mac {sub("[:@]", "", $2); print $2; exit}'; }

# vlan_host NS VID: from now on e0 of NS is a VLAN netdev's lower device: what leaves gets the tag
# in the metadata (as a VLAN netdev does it), what comes in must carry it. In-frame tags: see
# frames.py.
vlan_host()
{
	local way id object=$build/tests/net/vlanhost.bpf.o
	id=1:$(printf '%x' "$2")
	[ -f "$object" ] || die "no $object: build it first"
	at "$1" tc qdisc add dev e0 clsact
	for way in egress ingress; do
		at "$1" tc filter add dev e0 $way bpf direct-action \
			obj "$object" sec $way classid "$id"
	done
}

# fabric ADDRESS/LENGTH...: an Ethernet underlay. The switch has device ul0 in it, with these
# addresses.
fabric()
{
	namespace fab
	# a bridge here, no firewall: it would drop damaged packets before they arrive
	at fab sysctl -qw net.bridge.bridge-nf-call-iptables=0 \
		net.bridge.bridge-nf-call-ip6tables=0 2>/dev/null || true
	ip -n "${prefix}fab" link add br0 mtu 1600 type bridge
	ip -n "${prefix}fab" link set br0 up
	veth fab sw0 sw ul0 mtu 1600
	plain fab sw0
	ip -n "${prefix}fab" link set sw0 master br0
	addresses sw ul0 "$@"
}

# remote NAME ADDRESS/LENGTH...: a namespace NAME in the underlay, with device e0.
remote()
{
	local name=$1
	shift
	namespace "$name"
	veth fab "$name" "$name" e0 mtu 1600
	ip -n "${prefix}fab" link set "$name" master br0
	addresses "$name" e0 "$@"
}

# vxlan NS VNI LOCAL REMOTE ADDRESS/LENGTH...: the kernel's own VXLAN device vxVNI, default options.
vxlan()
{
	local ns=$1 vni=$2 from=$3 to=$4
	shift 4
	ip -n "$prefix$ns" link add "vx$vni" type vxlan id "$vni" \
		local "$from" remote "$to" dstport 4789
	addresses "$ns" "vx$vni" "$@"
	ip -n "$prefix$ns" link set "vx$vni" up
}

# --- culvert
# ----------------------------------------------------------------------------------------

culvert() { "$build/culvert" -s "$tmp/sock" "$@"; }

# write_config: standard input is the file; what is left out of workers: and control: is filled in.
write_config()
{
	cat >"$tmp/culvert.yaml"
	grep -q '^workers:' "$tmp/culvert.yaml" ||
		echo 'workers: {ring: 1024}' >>"$tmp/culvert.yaml"
	echo "control: {socket: $tmp/sock}" >>"$tmp/culvert.yaml"
}

# start_culvert: with the file on standard input; returns when it answers.
start_culvert()
{
	write_config
	run_culvert
}

# run_culvert: once more with the file that is there.
run_culvert()
{
	local limit=$((SECONDS + 20 * slow))
	ip netns exec "${prefix}sw" \
		"$build/culvertd" -c "$tmp/culvert.yaml" >>"$tmp/culvertd.log" 2>&1 &
	culvertd_pid=$!
	until culvert status >/dev/null 2>&1; do
		kill -0 "$culvertd_pid" 2>/dev/null || die "culvertd did not start"
		[ $SECONDS -lt $limit ] || die "culvertd does not answer"
		sleep 0.05
	done
	say "culvertd runs, pid $culvertd_pid"
}

# stop_culvert: SIGTERM; it must end with status 0 within 5 s, nothing left behind.
stop_culvert()
{
	local limit=$((SECONDS + 5 * slow)) pid=$culvertd_pid status=0
	kill -TERM "$pid"
	while kill -0 "$pid" 2>/dev/null; do
		[ $SECONDS -le $limit ] || die "culvertd still runs $((5 * slow)) s after SIGTERM"
		sleep 0.05
	done
	culvertd_pid=
	wait "$pid" || status=$?
	equal "status of culvertd after SIGTERM" 0 "$status"
	no_sanitizer_report
	nothing_left
}

# take_off DEV: detaches culvertd's link on it, as `bpftool link detach` does. Only what that
# process holds: other namespaces have the same interface numbers.
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

no_sanitizer_report()
{
	! grep -E 'Sanitizer|runtime error:' "$tmp/culvertd.log" || die "a sanitizer spoke up"
}

# nothing_left: no device of the switch is promiscuous or has an XDP program, the socket is gone.
nothing_left()
{
	local devices
	devices=$(ip -n "${prefix}sw" -d -o link show |
		grep -E 'promiscuity [1-9]|prog/xdp| xdp[a-z]* ' || true)
	[ -z "$devices" ] || die "left behind: $devices"
	[ ! -e "$tmp/sock" ] || die "the control socket was left behind"
}

# value NOUN EXPRESSION: one value out of `culvert -j NOUN`, which EXPRESSION (Python) calls d.
value() { culvert -j "$1" | "$python" "$here/pick.py" "$2"; }

# port NAME KEY: one value of `culvert -j port`.
port() { value port "[p for p in d['ports'] if p['name'] == '$1'][0]['$2']"; }

# port_is NAME KEY WANTED, for `eventually`.
port_is() { [ "$(port "$1" "$2")" = "$3" ]; }

# drops REASON [PORT]: how many packets died of it (that came in by PORT).
drops()
{
	value drops "sum(r['packets'] for r in d['reasons'] if r['reason'] == '$1' and
		('${2:-}' == '' or r['port'] == '${2:-}'))"
}

# dropped REASON WANTED [PORT], for `eventually`.
dropped() { [ "$(drops "$1" ${3:+"$3"})" -ge "$2" ]; }

# fdb EXPRESSION: the value of it over the FDB's entries, d.
fdb() { culvert -j fdb | "$python" "$here/pick.py" --lines "$1"; }

# fdb_has NETWORK MAC WHERE: the FDB says so. WHERE is a port's name or a VTEP.
fdb_has()
{
	[ "$(fdb "[e.get('port') or e.get('vtep') for e in d
		if e['network'] == '$1' and e['mac'] == '$2']")" = "['$3']" ]
}

# fdb_knows NETWORK MAC: at all.
fdb_knows() { [ "$(fdb "any(e['network'] == '$1' and e['mac'] == '$2' for e in d)")" = True ]; }

# network NAME KEY: one value of `culvert -j network`.
network() { value network "[n for n in d['networks'] if n['name'] == '$1'][0]['$2']"; }

# tunnel VTEP KEY, tunnel_is VTEP KEY WANTED
tunnel() { value tunnel "[t for t in d['tunnels'] if t['vtep'] == '$1'][0]['$2']"; }
tunnel_is() { [ "$(tunnel "$1" "$2")" = "$3" ]; }

# tunnels_ok N: waits until N of the tunnels are.
tunnels_ok()
{
	eventually 15 tunnels_are "$1" || die "not $1 tunnels are ok: $(culvert -j tunnel)"
}
tunnels_are() { [ "$(value tunnel "sum(t['state'] == 'ok' for t in d['tunnels'])")" = "$1" ]; }

# hits MATCH: packets that met the rules that it covers.
hits() { culvert -j flow count "$1" | "$python" "$here/pick.py" "d['packets']"; }
hits_are() { [ "$(hits "$1")" = "$2" ]; }

# rules RULE...: they are the only ones from now on.
rules() { printf '%s\n' "$@" | culvert flow replace - >/dev/null || die "refused: $*"; }

# books: every packet that came in is accounted for, over all and by ingress port. Waits for rest.
books()
{
	eventually 10 balanced || {
		culvert -j drops
		culvert -j port
		die "the books do not balance"
	}
	say "books: $(value drops \
		"' '.join('%s %d' % b for b in d['books'].items() if b[0] != 'balanced')")"
}

balanced()
{
	culvert -j drops >"$tmp/drops.json" && culvert -j port >"$tmp/port.json" &&
		"$python" "$here/books.py" "$tmp/drops.json" "$tmp/port.json"
}

# finish: the end of a test that passed.
finish()
{
	books
	stop_culvert
	say "passed"
}

# --- captures
# ---------------------------------------------------------------------------------------

# monitor DEV: a device of the switch for `culvert capture --device`. Nothing listens on it yet.
monitor()
{
	ip -n "${prefix}sw" link add "$1" mtu 9100 type ifb 2>/dev/null ||
		ip -n "${prefix}sw" link add "$1" mtu 9100 type dummy 2>/dev/null ||
		skip "needs ifb or dummy"
	ip -n "${prefix}sw" link set "$1" up
}

captures=	# the process ids of all
monitors=0

# capture NAME ARGUMENT...: `culvert capture` in the background. Its output is $tmp/NAME.out, what
# it says $tmp/NAME.says, its process id $job.
capture()
{
	local name=$1
	shift
	start sw "$build/culvert" -s "$tmp/sock" capture "$@" \
		>"$tmp/$name.out" 2>"$tmp/$name.says"
	captures="$captures $job"
}

# capture_dump NAME OF OPTION...: the same with tcpdump on a device of its own; what that sees is
# the output.
capture_dump()
{
	local name=$1 of=$2 device=mon$monitors
	shift 2
	monitors=$((monitors + 1))
	monitor "$device"
	capture "$name" "$of" --device "$device" "$@" -- -U -w -
}

# capturing [N]: waits until N captures run; all of them.
capturing()
{
	local n
	n=${1:-$(wc -w <<<"$captures")}
	eventually 10 captures_are "$n" || die "not $n captures run: $(cat "$tmp"/*.says)"
}

# stop_captures: all of them.
stop_captures()
{
	# shellcheck disable=SC2086 # several
	stop $captures
}
captures_are() { [ "$(value status "d['captures']['running']")" = "$1" ]; }

# record NS [DEV]: tcpdump writes what arrives there to $tmp/NS.received.
record()
{
	start "$1" tcpdump -i "${2:-e0}" -Q in -U -w - >"$tmp/$1.received" 2>"$tmp/$1.listens"
	eventually 10 grep -q 'listening on' "$tmp/$1.listens" || die "cannot listen in $1"
}

# frames_in FILE, has_frames FILE N: of a pcap file that may be growing still.
frames_in() { tcpdump -r "$1" --count 2>/dev/null | cut -d ' ' -f 1; }
has_frames() { [ "$(frames_in "$1")" = "$2" ]; }

# --- traffic
# ----------------------------------------------------------------------------------------

# pings NS ADDRESS [OPTION...]: answers come back (the first request may be lost while things
# resolve).
pings()
{
	local ns=$1 address=$2
	shift 2
	eventually 10 at "$ns" ping -q -c 2 -i 0.2 -W 1 "$@" "$address"
}

# py NS: runs the Python on standard input there, with all of frames.py imported.
py()
{
	{
		echo "from frames import *"
		cat
	} | at "$1" "$python" -
}

# listen NS [DEV]: writes down every frame that arrives, one line each; see frames.py.
listen()
{
	rm -f "$tmp/$1.listens"
	at "$1" "$python" "$here/frames.py" "${2:-e0}" >"$tmp/$1.heard" 2>"$tmp/$1.listens" &
	eventually 10 grep -q ready "$tmp/$1.listens" || die "cannot listen in $1"
}

# sniff NS [DEV]: the same with tcpdump, verbose enough to judge every checksum.
sniff()
{
	rm -f "$tmp/$1.listens"
	at "$1" tcpdump -i "${2:-e0}" -Q in -nn -e -t -vv -l \
		>"$tmp/$1.heard" 2>"$tmp/$1.listens" &
	eventually 10 grep -q 'listening on' "$tmp/$1.listens" || die "cannot listen in $1"
}

# heard NS PATTERN: a frame that matches arrives within some seconds.
heard() { eventually 10 grep -qE "$2" "$tmp/$1.heard" || die "$1 did not hear: $2"; }

# unheard NS PATTERN: none has arrived. Say it after something later was heard.
unheard() { ! grep -E "$2" "$tmp/$1.heard" || die "$1 heard: $2"; }

# count_heard NS PATTERN
count_heard() { grep -cE "$2" "$tmp/$1.heard" || true; }

# transfers FROM TO ADDRESS tcp|udp BYTES [SERVED [PORT]]: the content arrives whole (a datagram
# protocol goes slowly). SERVED and PORT are those of the server, where they are rewritten.
transfers()
{
	local from=$1 to=$2 address=$3 protocol=$4 bytes=$5 served=${6:-$3} port=${7:-7000} sent got
	rm -f "$tmp/got" "$tmp/serves"
	PORT=$port at "$to" "$python" "$here/transfer.py" serve "$served" "$protocol" \
		>"$tmp/got" 2>"$tmp/serves" &
	local server=$!
	eventually 10 grep -q ready "$tmp/serves" || die "the server in $to does not start"
	sent=$(at "$from" timeout $((60 * slow)) \
		"$python" "$here/transfer.py" send "$address" "$protocol" "$bytes") ||
		die "$protocol from $from to $to stalls"
	wait $server || die "$protocol from $from to $to: the receiver failed"
	got=$(cat "$tmp/got")
	equal "$protocol from $from to $to" "$sent" "$got"
}

# iperf FROM TO ADDRESS [OPTION...]: runs iperf3 and prints the rate that the receiver saw, Mbit/s.
iperf()
{
	local from=$1 to=$2 address=$3
	shift 3
	at "$to" iperf3 -s -1 >/dev/null 2>&1 &
	local server=$!
	eventually 10 listening "$to" 5201 || die "iperf3 does not start in $to"
	at "$from" timeout 60 iperf3 -J -c "$address" "$@" >"$tmp/iperf.json" ||
		die "iperf3: $(grep error "$tmp/iperf.json")"
	wait $server || true
	"$python" "$here/pick.py" "round(d['end']['sum_received']['bits_per_second'] / 1e6)" \
		<"$tmp/iperf.json"
}

listening() { at "$1" ss -Hltn "sport = :$2" | grep -q .; }

namespace sw
