#!/bin/bash
# SPDX-License-Identifier: BSD-2-Clause
#
# Captures by the control socket: to a device and as pcapng, paused, listed, ended by every way that
# a client, a device or the daemon has, and refused.
#
#   h1 10.0.0.1 ---- culvert: blue ---- h2 10.0.0.2      mon0, mon1: ifb devices beside it
#                       \
#                        fabric ---- 192.0.2.2 (nobody)
. "$(dirname "$0")/lib.sh"

need tcpdump
ip -n "${prefix}sw" link add mon0 type ifb 2>/dev/null || skip "needs ifb"
ip -n "${prefix}sw" link set mon0 up
ip -n "${prefix}sw" link add mon1 type ifb
host h1 10.0.0.1/24
host h2 10.0.0.2/24
fabric 192.0.2.1/24
start_culvert <<'Y'
ports:
  h1: {untagged: blue}
  h2: {untagged: blue}
networks:
  blue: {vni: 10, remotes: [192.0.2.2]}
tunnels: {local: [192.0.2.1], underlay: [ul0]}
Y
export prefix sock="$tmp/sock"
expect "ping" pings h1 10.0.0.2

# clients: as py sw, with what capture.py has.
clients()
{
	{
		echo "from capture import *"
		echo "sock = os.environ['sock']"
		cat
	} | at sw "$python" - || die "see above"
}

say "refusals"
clients <<'P'
c = Client(sock)
refused(c, "of", dir="in")
refused(c, "name a port", of=[])
refused(c, "strings", of=[1])
refused(c, "of is to be an array", of="h1")
refused(c, "'h7' is no port.*'culvert port'", of=["h7"])
refused(c, "tunnel:ADDRESS", of=["tunnel:h1"])
refused(c, "192.0.2.77 is no remote VTEP: 'culvert tunnel'", of=["h1", "tunnel:192.0.2.77"])
refused(c, "no network 'red': 'culvert network'", of=["network:red"])
refused(c, "65 .*at most 64", of=["h1"] * 65)
refused(c, "'up' is none of in, out, both", of=["h1"], dir="up")
for snaplen in 0, -1, 65536, 1 << 40:
    refused(c, "snaplen: %d is not from 1 to 65535" % snaplen, of=["h1"], snaplen=snaplen)
for sample in 0, -5, 1 << 32:
    refused(c, "sample: %d is not from 1 to 4294967295" % sample, of=["h1"], sample=sample)
refused(c, "h1 is no underlay", of=["ul0", "h1"], inner=True)
refused(c, "tunnel:192.0.2.2 is no underlay", of=["192.0.2.2"], inner=True)
refused(c, "network:blue is no underlay", of=["network:blue"], inner=True)
refused(c, "send the program", of=["h1"], filter="tcp")
jump = [5, 0, 0, 1]
for program in [], [[0x28, 0, 0, 12]], [jump, [6, 0, 0, 0]], [[6, 0, 0, 0]] * 4097:
    refused(c, "program", of=["h1"], pcapng=True, program=program)
for insn in [6, 0, 0], [6, 0, 0, 0, 0], [6, 256, 0, 0], [65536, 0, 0, 0], [6, 0, 0, -1], 6, None:
    refused(c, "instruction 1 is not", of=["h1"], pcapng=True, program=[[6, 0, 0, 0], insn])
refused(c, "no device 'nosuch'", of=["h1"], device="nosuch")
for n in 16, 127, 128, 200, 900000:
    refused(c, "no device", of=["h1"], device="x" * n)
refused(c, "device of port h2", of=["h1"], device="h2")
refused(c, "device of port ul0", of=["h1"], device="ul0")
refused(c, "mon1 is down: 'ip link set mon1 up'", of=["h1"], device="mon1")
refused(c, "no Ethernet device", of=["h1"], device="lo")
refused(c, "one or the other", of=["h1"], device="mon0", pcapng=True)
refused(c, "less than 14 bytes", of=["h1"], device="mon0", snaplen=13)
for id in 0, 1, -1, 1 << 40:
    assert "no capture %d" % id in c.call("capture.start", id=id)["error"]["message"]
# a notification: nobody would hear of its end
c.ask("capture", {"of": ["h1"], "device": "mon0"})
assert c.objects("capture.list") == []
P

say "a device of its own, where the kernel has dummy"
dummy=
! ip -n "${prefix}sw" link add dummy7 type dummy 2>/dev/null || dummy=1
dummy=$dummy clients <<'P'
c = Client(sock)
if os.environ["dummy"]:
    about = c.live(of=["h1"])
    assert about["device"] == "cap-h1" and os.path.exists("/sys/class/net/cap-h1"), about
    refused(Client(sock), "made for capture %d" % about["id"], of=["h2"], device="cap-h1")
    c.finish()
    assert not os.path.exists("/sys/class/net/cap-h1")
else:
    refused(c, "dummy.*--device", of=["h1"])
P

say "pcapng, until the client closes its sending half"
clients <<'P'
c, other = Client(sock), Client(sock)
about = c.live(of=["h1"], dir="in", pcapng=True, program=ours, filter="ether proto 0x88b5")
assert about["stream"] == "pcapng" and about["name"] == "h1" and "device" not in about, about
at("h1", "send('e0', *[eth('02:00:00:00:00:02', mac_of('e0'), 'number %03d' % i)"
   " for i in range(500)])")
data = b""
while len(list(frames(data))) < 500:
    data += c.chunk()
[l] = other.objects("capture.list")
assert l["id"] == about["id"] and l["of"] == ["h1"] and l["dir"] == "in", l
assert l["filter"] == "ether proto 0x88b5" and l["pcapng"] and not l["permanent"], l
assert l["snaplen"] == 65535 and l["sample"] == 1 and l["device"] is None, l
assert l["matched"] == l["captured"] == 500 and l["missed"] == 0, l
s = other.call("status")["result"]["captures"]
assert s["running"] == 1 and s["captured"] == 500 and s["missed"] == 0, s
# what is asked meanwhile is answered behind the end
c.ask("log", id=9)
rest, end = c.finish()
data += rest
assert end == {"id": 1, "count": 500, "matched": 500, "captured": 500, "missed": 0, "cut": 0}, end
assert c.line()["id"] == 9
assert c.file.readline() == b""
assert [f[14:24].decode() for f in frames(data)] == ["number %03d" % i for i in range(500)]
assert other.objects("capture.list") == []
s = other.call("status")["result"]["captures"]
assert s["running"] == 0 and s["captured"] == 500, s
P

say "a device that is there; paused first"
start sw tcpdump -i mon0 -p -t -A -l >"$tmp/sw.heard" 2>"$tmp/sw.listens"
eventually 10 grep -q 'listening on' "$tmp/sw.listens" || die "cannot listen on mon0"
clients <<'P'
c, other = Client(sock), Client(sock)
about = c.live(of=["h2", "h1"], dir="out", device="mon0", program=ours, snaplen=20, paused=True)
assert about["stream"] == "none" and about["device"] == "mon0" and about["name"] == "h2,h1", about
say = "send('e0', eth('02:00:00:00:00:02', mac_of('e0'), '%s'))"
at("h1", say % "unseen")
l = other.objects("capture.list")[0]
assert l["paused"] and l["matched"] == 0, l
assert other.call("status")["result"]["captures"]["running"] == 0
assert other.call("capture.start", id=about["id"])["result"] == {}
assert "is not paused" in other.call("capture.start", id=about["id"])["error"]["message"]
at("h1", say % "seen and cut")
eventually("a frame", lambda: other.objects("capture.list")[0]["captured"] == 1)
rest, end = c.finish()
assert rest == b"" and end["captured"] == 1, end
P
heard sw 'seen a$'
unheard sw unseen
stop "$job"

say "clients that die, in every state"
clients <<'P'
other = Client(sock)
what = [{"pcapng": True}, {"device": "mon0"}, {"device": "mon0", "paused": True},
        {"pcapng": True, "paused": True}]
for more in what * 3:
    Client(sock).live(of=["h1", "network:blue", "tunnel:192.0.2.2"], **more)	# forgotten at once
for more in what:
    child = os.fork()
    if child == 0:
        c = Client(sock)
        c.live(of=["h1"], **more)
        os.kill(os.getpid(), 9)
    os.waitpid(child, 0)
for more in what:
    c = Client(sock)
    c.ask("capture", {"of": ["h1"], **more}, id=1)
    c.hang_up()
eventually("their captures end", lambda: other.objects("capture.list") == [])
P

say "a client that reads nothing, its rings full: it ends all the same"
clients <<'P'
c, other = Client(sock), Client(sock)
c.live(of=["h1"], dir="in", pcapng=True, program=ours)
flood = "s = [eth('02:00:00:00:00:02', mac_of('e0'), 'x' * 1400)] * 8000\nsend('e0', *s)"
at("h1", flood)
eventually("missed ones", lambda: at("h1", flood) or
           other.objects("capture.list")[0]["missed"] > 0)
c.hang_up()
eventually("its end", lambda: other.objects("capture.list") == [])
P

say "as many as there may be, and one more"
clients <<'P'
all = [Client(sock) for i in range(32)]
ids = [c.live(of=["h1"], device="mon0", program=ours)["id"] for c in all]
assert len(set(ids)) == 32
refused(Client(sock), "32 captures", of=["h1"], device="mon0")
at("h1", "send('e0', eth('02:00:00:00:00:02', mac_of('e0'), 'for all'))")
other = Client(sock)
eventually("all have it",
           lambda: [l["captured"] for l in other.objects("capture.list")] == [1] * 32)
for c in all[::2]:
    rest, end = c.finish()
    assert end["captured"] == 1, end
assert len(other.objects("capture.list")) == 16
for c in all[1::2]:
    c.hang_up()
eventually("all end", lambda: other.objects("capture.list") == [])
P

say "the device goes away"
ip -n "${prefix}sw" link add mon2 type ifb
ip -n "${prefix}sw" link set mon2 up
clients <<'P'
c, paused, other = Client(sock), Client(sock), Client(sock)
c.live(of=["h1"], device="mon2")
paused.live(of=["h1"], device="mon2", paused=True)
subprocess.run(["ip", "link", "del", "mon2"], check=True)
for client in c, paused:
    assert client.chunk() == b""
    assert "o such device" in client.end()["error"]["message"]
    # and the connection is as good as ever
    assert client.objects("capture.list") is not None
eventually("both are over", lambda: other.objects("capture.list") == [])
P

say "the daemon ends under captures"
clients <<'P' &
c = [Client(sock) for i in range(4)]
for i, client in enumerate(c):
    client.live(of=["h1"], **({"pcapng": True} if i & 1 else {"device": "mon0"}), paused=i > 1)
open(os.environ["sock"] + ".ready", "w").close()
for client in c:
    while client.file.readline():
        pass
P
job=$!
eventually 10 test -e "$sock.ready" || die "no captures"
expect "ping" pings h1 10.0.0.2
finish
wait $job || die "a client of its heard no end"
