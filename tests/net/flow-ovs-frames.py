#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Rules and frames for flow-ovs-frames.sh, and what became of them here and there.

flow-ovs-frames.py make DIR CASES: rules, rules.of13 (those that OpenFlow 1.0 cannot say) and
in1.pcap ... in3.pcap. A case is some frames of one source MAC, and rules about frames of that MAC:
values are mostly those of the frames, so that most rules match something.
flow-ovs-frames.py feed DIR: to Open vSwitch.
flow-ovs-frames.py compare DIR: out1.pcap ... out4.pcap against ovs1.pcap ... ovs4.pcap.

Every frame ends with eight bytes that name it, as padding behind the packet.
"""
import collections
import ipaddress
import os
import random
import re
import struct
import subprocess
import sys
import time

from frames import checksum, mac

CUT = int(os.environ.get("CUT", 5))	# percent of the packets are cut
# Frame.avoid: actions that Open vSwitch 3.1 has wrong for this frame, and that no rule of its case
# has. It takes what a later fragment begins with for a transport header, sums up a fragment of
# SCTP as if it were all, does not follow with the checksum behind some IPv6 headers, nor with one
# that is there in a header that is cut, takes any ARP for one of IPv4 (beyond its end, too), sets
# ICMP's type by mod_tp_src, and drops what dec_ttl finds without a TTL. Not tried either: DEI bits,
# which it clears, three tags, of which it forgets one, both ports 0, which it cannot change, RARP,
# which it never changes, and extension headers of IPv6 that run over the end.
LATER = "mod_nw_(src|dst)|mod_tp|.*->(ipv6|icmp|nd)"
PORTS = 4	# a frame comes in by any but the last
CRC32C = []
for byte in range(256):
    for _ in range(8):
        byte = byte >> 1 ^ (0x82f63b78 if byte & 1 else 0)
    CRC32C.append(byte)


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC32C[(crc ^ byte) & 255]
    return crc ^ 0xffffffff


def some(*values):
    return random.choice(values)


def maybe(percent):
    return random.randrange(100) < percent


def text_ip6(b):
    return str(ipaddress.IPv6Address(b))


def text_ip4(b):
    return str(ipaddress.IPv4Address(b))


def text_mac(b):
    return ":".join("%02x" % x for x in b)


def port_number():
    return some(1, 53, 80, 443, 4789, 65535, random.randrange(1, 65536))


def pseudo(src, dst, proto, n):
    if len(src) == 4:
        return src + dst + struct.pack("!BBH", 0, proto, n)
    return src + dst + struct.pack("!IHBB", n, 0, 0, proto)


def transport(kind, src, dst):
    """Bytes, protocol, and the fields in them."""
    body = random.randbytes(some(0, 1, 2, 7, 30, 31))
    sport, dport = port_number(), port_number()
    fields = {"tp_src": (sport, 16), "tp_dst": (dport, 16)}
    if kind == "tcp":
        flags = random.randrange(4096)
        fields["tcp_flags"] = (flags, 12)
        p = struct.pack("!HHIIHHHH", sport, dport, 5, 6, 5 << 12 | flags, 7, 0, 0) + body
        proto, at = 6, 16
    elif kind == "udp":
        p = struct.pack("!HHHH", sport, dport, 8 + len(body), 0) + body
        proto, at = 17, 6
        if maybe(20):
            return p, proto, fields
    elif kind == "sctp":
        p = struct.pack("!HHII", sport, dport, 9, 0) + body
        return p[:8] + struct.pack("<I", crc32c(p)) + p[12:], 132, fields
    elif kind == "icmp":
        type, code = some(0, 3, 8, random.randrange(256)), some(0, 1, random.randrange(256))
        fields = {"icmp_type": (type, 0), "icmp_code": (code, 0)}
        if len(src) == 16 and maybe(60):
            type, code = some(135, 136), some(0, 0, 0, 1)
            target = random.randbytes(16)
            fields = {"icmp_type": (type, 0), "icmp_code": (code, 0), "nd_target": (target, 128)}
            p = struct.pack("!BBHI", type, code, 0, 0) + target
        else:
            p = struct.pack("!BBHI", type, code, 0, 5) + body
        proto, at = (58 if len(src) == 16 else 1), 2
    else:
        return body, some(2, 47, 50, 89, 103, 253), {}
    zero = b"" if proto == 1 else pseudo(src, dst, proto, len(p))
    s = checksum(zero + p)
    if proto == 17 and s == 0:
        s = 0xffff
    if maybe(5):
        s ^= 0x5500	# wrong, and to stay so
    return p[:at] + struct.pack("!H", s) + p[at + 2:], proto, fields


def cut_transport(p, avoid):
    """Now and then it is not all there."""
    if not maybe(CUT):
        return p
    avoid.append("mod_nw_(src|dst)|.*->ipv6")
    return p[:random.randrange(len(p) + 1)]


def ipv4_packet(kind, avoid):
    src, dst = random.randbytes(4), some(bytes([10, 0, 0, 1]), random.randbytes(4))
    tos, ttl = random.randrange(256), some(0, 1, 2, 64, 255)
    frag = some(0, 0, 0, 0, 0x4000, 0x2000, 0x2001, 100, 0x8000)
    p, proto, fields = transport(kind, src, dst)
    p = cut_transport(p, avoid)
    options = bytes([1] * some(0, 0, 0, 4, 40))
    words = 5 + len(options) // 4
    total = words * 4 + len(p)
    if maybe(CUT):
        total = some(0, 19, words * 4 - 1, total + 100)
        avoid.append("dec_ttl")
    head = struct.pack("!BBHHHBBH", 4 << 4 | words, tos, total, 7, frag, ttl, proto, 0)
    head += src + dst + options
    head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
    fields.update({"nw_src": (src, 32), "nw_dst": (dst, 32)})
    if kind == "icmp":
        avoid.append("mod_tp")
    if frag & 0x1fff:
        avoid.append(LATER)
    elif frag & 0x2000 and kind == "sctp":
        avoid.append("mod_tp")
    return head + p, 0x0800, ip_fields(fields, proto, tos, ttl,
                                       "later" if frag & 0x1fff else
                                       "first" if frag & 0x2000 else "no")


def ip_fields(fields, proto, tos, ttl, frag):
    fields.update({"nw_tos": (tos & 0xfc, 0), "nw_ecn": (tos & 3, 0), "nw_ttl": (ttl, 0),
                   "nw_frag": (frag, None), "nw_proto": (proto, 0)})
    return fields


def extension():
    """(protocol, bytes); the next header is filled in by who chains them."""
    kind = some(0, 43, 44, 51, 60, 60)
    if kind == 44:
        return 44, bytes([0, 0]) + struct.pack("!HI", some(0, 1, 8, 9), 77)
    if kind == 51:
        n = some(2, 4)
        return 51, bytes([0, n, 0, 0]) + bytes(4 + 4 * n)
    n = some(0, 1)
    return kind, bytes([0, n, some(0, 3), some(0, 0, 1)]) + bytes(4 + 8 * n)


def ipv6_packet(kind, avoid):
    src, dst = random.randbytes(16), some(bytes([0xfd] + [0] * 14 + [1]), random.randbytes(16))
    tos, hops = random.randrange(256), some(0, 1, 2, 64, 255)
    p, proto, fields = transport(kind, src, dst)
    p = cut_transport(p, avoid)
    frag, last = "no", proto
    for _ in range(some(0, 0, 0, 1, 1, 2, 3)):
        header, bytes_ = extension()
        p = bytes([proto]) + bytes_[1:] + p
        proto = header
        if header == 44:
            offset = struct.unpack("!H", bytes_[2:4])[0]
            frag = "later" if offset & 0xfff8 else "first" if offset & 1 else frag
            avoid.append(LATER if offset & 0xfff8 else "mod_tp" if kind == "sctp" else "")
        if header == 43 and bytes_[3] or header == 44 and offset == 0:
            avoid.append(".*->ipv6")
    if kind == "icmp":
        avoid.append("mod_tp")
    n = len(p)
    if maybe(CUT):
        n = some(0, 1, n + 100) if proto == last else n + 100
        avoid.append("dec_ttl" if n > len(p) else "")
    head = struct.pack("!IHBB", 6 << 28 | tos << 20 | random.randrange(1 << 20), n, proto, hops)
    fields.update({"ipv6_src": (src, 128), "ipv6_dst": (dst, 128)})
    return head + src + dst + p, 0x86dd, ip_fields(fields, last, tos, hops, frag)


def arp_packet(avoid):
    op = some(1, 2, 3, 255, 256)
    sha, tha, spa, tpa = (random.randbytes(n) for n in (6, 6, 4, 4))
    kinds = some(*[(1, 0x800, 6, 4)] * 9 + [(1, 0x86dd, 6, 16)])
    if op == 256 or kinds[1] != 0x800:
        avoid.append(".*->arp")
    p = struct.pack("!HHBBH", *kinds, op) + sha + spa + tha + tpa
    if maybe(CUT):
        p = p[:random.randrange(28)]
        avoid.append(".*->arp")
    return p, some(0x0806, 0x0806, 0x8035), {
        "arp_op": (op & 255, 0), "arp_spa": (spa, 32), "arp_tpa": (tpa, 32),
        "arp_sha": (sha, 48), "arp_tha": (tha, 48)}


KINDS = ["none", "arp"] + [v + k for v in ("4", "6") for k in ("tcp", "udp", "sctp", "icmp",
                                                              "other")]
PROTO_WORDS = {"4tcp": "tcp", "4udp": "udp", "4sctp": "sctp", "4icmp": "icmp", "4other": "ip",
               "6tcp": "tcp6", "6udp": "udp6", "6sctp": "sctp6", "6icmp": "icmp6",
               "6other": "ipv6"}


def packet(kind, avoid):
    if kind == "none":
        return random.randbytes(20), some(0x88b5, 0x9000, 0x88cc, 5), {}
    if kind == "arp":
        return arp_packet(avoid)
    return (ipv4_packet if kind[0] == "4" else ipv6_packet)(kind[1:], avoid)


def random_tags():
    """[(TPID, TCI)], from the outside in."""
    return [(some(0x8100, 0x8100, 0x88a8), some(0, 1, 100, 4094, random.randrange(4095)) |
             random.randrange(8) << 13) for _ in range(some(0, 0, 0, 1, 1, 2))]


Frame = collections.namedtuple("Frame", "bytes port fields type tags dst avoid")


def make_frame(kind, source, number):
    avoid = []
    payload, type, fields = packet(kind, avoid)
    tags = random_tags()
    dst = some(mac("02:00:00:00:00:99"), mac("ff:ff:ff:ff:ff:ff"), mac("01:00:5e:01:02:03"),
               bytes([2]) + random.randbytes(5))
    head = dst + source
    for tpid, tci in tags:
        head += struct.pack("!HH", tpid, tci)
    data = head + struct.pack("!H", type) + payload + struct.pack("!II", 0xfacade00, number)
    return Frame(data, random.randrange(1, PORTS), fields, type, tags, dst, avoid)


def masked(name, value, bits):
    """NAME=VALUE or NAME=VALUE/MASK of a field's value."""
    if bits is None:
        return "%s=%s" % (name, value)
    if isinstance(value, int):
        if bits and maybe(30):
            mask = random.randrange(1, 1 << bits)
            return "%s=0x%x/0x%x" % (name, value & mask, mask)
        return "%s=%d" % (name, value)
    text = {32: text_ip4, 48: text_mac, 128: text_ip6}[bits]
    if bits == 48 or maybe(50):
        return "%s=%s" % (name, text(value))
    if maybe(50):
        return "%s=%s/%d" % (name, text(value), random.randrange(1, bits + 1))
    mask = random.randbytes(len(value))
    if bits == 128:
        mask = b"\xff\xff" + mask[2:]	# ovs-ofctl takes one that begins with a digit for a length
    return "%s=%s/%s" % (name, text(value), text(mask))


def change(value):
    """Another one, mostly a little beside."""
    if isinstance(value, int):
        return value ^ 4
    if isinstance(value, bytes):
        return value[:-1] + bytes([value[-1] ^ 1])
    return some("no", "first", "later", "yes", "not_later")


def tag_match(frame):
    tpid, tci = frame.tags[0] if frame.tags else (0, 0)
    return some(["dl_vlan=%d" % (tci & 0xfff)] if frame.tags else ["dl_vlan=0xffff"],
                ["dl_vlan=%d" % (tci & 0xfff), "dl_vlan_pcp=%d" % (tci >> 13)]
                if frame.tags else ["vlan_tci=0"],
                ["vlan_tci=0x%x/0x%x" % (tci & 0xe000 | 0x1000, 0xf000)]
                if frame.tags else ["vlan_tci=0/0x1000"],
                ["vlan_tci=0x1000/0x1000"])


NEEDS_PROTOCOL = ("tp_src", "tp_dst", "tcp_flags", "icmp_type", "icmp_code", "nd_target")


def match_of(kind, frame, source):
    fields = ["dl_src=" + text_mac(source)]
    if maybe(40):
        fields.append("in_port=%d" % some(frame.port, frame.port, frame.port, 1, 2, 3))
    if maybe(20):
        fields.append(some("dl_dst=" + text_mac(frame.dst),
                           "dl_dst=01:00:00:00:00:00/01:00:00:00:00:00"))
    if maybe(40):
        fields += tag_match(frame)
    if kind == "none":
        if maybe(50) and frame.type >= 0x600:
            fields.append("dl_type=0x%x" % frame.type)
        return fields, None
    if kind == "arp":
        word = "arp" if frame.type == 0x806 else "rarp"
    else:
        # only of IP, or of the protocol as well
        word = PROTO_WORDS[kind] if maybe(75) else "ip" if kind[0] == "4" else "ipv6"
    if maybe(10):
        return fields, None
    fields.append(word)
    deep = word not in ("ip", "ipv6")
    names = [n for n in frame.fields if (deep or n not in NEEDS_PROTOCOL) and n != "nw_proto"]
    chosen = [n for n in names if maybe(25)]
    if "nd_target" in chosen:
        # beside a code, Open vSwitch matches any target
        chosen = [n for n in chosen if n[:4] != "icmp"] + ["icmp_type"]
    if "nw_frag" in chosen:
        # Beside "later", ovs-ofctl writes ports that Open vSwitch does not read.
        chosen = [n for n in chosen if n not in NEEDS_PROTOCOL]
    if not deep and maybe(30):
        fields.append("nw_proto=%d" % frame.fields["nw_proto"][0])
    for name in chosen:
        value, bits = frame.fields[name]
        if maybe(12) and name != "icmp_type":
            value = change(value)
            if name == "nw_ecn":
                value &= 3
        if name == "nw_frag" and value == "no" and maybe(30):
            value = "not_later"
        fields.append(masked(name, value, bits))
    return fields, word


def of10_actions(kind, word, mine):
    a = ["mod_vlan_vid:%d" % some(0, 7, 4095), "mod_vlan_pcp:%d" % random.randrange(8),
         "strip_vlan", "mod_dl_dst:" + text_mac(bytes([2]) + random.randbytes(5)),
         "mod_dl_src:" + text_mac(bytes([2]) + random.randbytes(5))]
    a += ["mod_nw_src:" + text_ip4(random.randbytes(4)),
          "mod_nw_dst:" + text_ip4(random.randbytes(4)),
          "mod_nw_tos:%d" % (random.randrange(64) * 4)]
    if word:
        a += ["mod_tp_src:%d" % port_number(), "mod_tp_dst:%d" % port_number()]
    if word and word not in ("arp", "rarp"):
        a += ["dec_ttl", "set_field:%d->nw_ttl" % some(0, 1, 9, 255),
              "set_field:%d->nw_ecn" % random.randrange(4)]
    if word and kind[0] == "6":
        a += ["set_field:%s->ipv6_src" % text_ip6(random.randbytes(16)),
              "set_field:%s->ipv6_dst" % text_ip6(random.randbytes(16))]
    if word in ("icmp", "icmp6"):
        v6 = "v6" if word == "icmp6" else ""
        a += ["set_field:%d->icmp%s_type" % (random.randrange(256), v6),
              "set_field:%d->icmp%s_code" % (random.randrange(256), v6)]
    if word == "arp":
        a += ["set_field:%d->arp_op" % random.randrange(1, 256),
              "set_field:%s->arp_spa" % text_ip4(random.randbytes(4)),
              "set_field:%s->arp_tpa" % text_ip4(random.randbytes(4)),
              "set_field:%s->arp_sha" % text_mac(random.randbytes(6)),
              "set_field:%s->arp_tha" % text_mac(random.randbytes(6))]
    avoid = [pattern for f in mine for pattern in f.avoid if pattern]
    return [x for x in a if not any(re.match(pattern, x) for pattern in avoid)]


def actions_of(kind, match, word, mine):
    """(needs OpenFlow 1.3, text)"""
    if maybe(8):
        return False, "drop"
    outputs = ["output:%d" % random.randrange(1, PORTS + 1) for _ in range(some(1, 1, 2, 3))]
    if maybe(20):
        outputs.append("in_port")
    pool = of10_actions(kind, word, mine)
    if any(m.startswith("nd_target") for m in match):
        pool = [a for a in pool if "->icmp" not in a]
        pool.append("set_field:%s->nd_target" % text_ip6(random.randbytes(16)))
    of13 = maybe(20) and all(len(f.tags) < 2 for f in mine)
    if of13:
        pool = [a for a in pool if not a.startswith(("mod_vlan", "strip", "mod_nw", "mod_tp"))]
    chosen = random.sample(pool, min(len(pool), some(0, 1, 2, 3, 5)))
    chosen += outputs
    random.shuffle(chosen)
    if of13:
        chosen[:0] = ["push_vlan:0x%x" % some(0x8100, 0x88a8)]
        if maybe(60):
            chosen.insert(1, "set_field:%d->vlan_vid" % (0x1000 | random.randrange(4096)))
        if maybe(40):
            chosen.insert(1, "set_field:%d->vlan_pcp" % random.randrange(8))
        if maybe(20):
            chosen.append("pop_vlan")
            chosen.append("output:%d" % random.randrange(1, PORTS + 1))
    return of13, ",".join(chosen)


def write_pcap(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)


def read_pcap(path):
    with open(path, "rb") as f:
        data = f.read()
    at = 24
    while at < len(data):
        n = struct.unpack("<I", data[at + 8:at + 12])[0]
        yield data[at + 16:at + 16 + n]
        at += 16 + n


def make(where, n_cases):
    seed = int(os.environ.get("SEED", time.time()))
    print("# SEED=%d" % seed)
    random.seed(seed)
    rules, rules13, frames, n = ["priority=0 actions=drop"], [], [], 0
    for case in range(n_cases):
        source = bytes([2, 0x11, 0, 0]) + struct.pack("!H", case)
        kind = some(*KINDS)
        mine = []
        for _ in range(5):
            mine.append(make_frame(kind if maybe(85) else some(*KINDS), source, n))
            n += 1
        frames += mine
        for priority in random.sample(range(1, 65536), 5):
            frame = some(*mine[:3])
            own = kind_of(frame)
            match, word = match_of(own, frame, source)
            of13, actions = actions_of(own, match, word, mine)
            random.shuffle(match)
            (rules13 if of13 else rules).append(
                "priority=%d,%s actions=%s" % (priority, ",".join(match), actions))
    for name, some_rules in ("rules", rules), ("rules.of13", rules13):
        with open(os.path.join(where, name), "w") as f:
            f.write("".join(rule + "\n" for rule in some_rules))
    for port in range(1, PORTS):
        write_pcap(os.path.join(where, "in%d.pcap" % port),
                   [f.bytes for f in frames if f.port == port])


def kind_of(frame):
    f = frame.fields
    if not f:
        return "none"
    if "arp_op" in f:
        return "arp"
    version = "4" if "nw_src" in f else "6"
    if "icmp_type" in f:
        return version + "icmp"
    if "tcp_flags" in f:
        return version + "tcp"
    if "tp_src" in f:
        return version + ("udp" if f["nw_proto"][0] == 17 else "sctp")
    return version + "other"


def appctl(where, *words):
    return subprocess.run(["ovs-appctl", "-t", where + "/ovs.ctl", *words], check=True, text=True,
                          capture_output=True).stdout


def received(where):
    stats = appctl(where, "dpif-netdev/pmd-stats-show")
    return int(re.search(r"packets received: (\d+)", stats)[1])


def feed(where):
    """The frames to Open vSwitch, no more at a time than its queues hold."""
    n = received(where)
    for port in range(1, PORTS):
        frames = [f.hex() for f in read_pcap(os.path.join(where, "in%d.pcap" % port))]
        for i in range(0, len(frames), 50):
            some_frames = frames[i:i + 50]
            appctl(where, "netdev-dummy/receive", "p%d" % port, *some_frames)
            n += len(some_frames)
            limit = time.monotonic() + 10
            while received(where) < n:
                if time.monotonic() > limit:
                    sys.exit("only %d of %d frames received" % (received(where), n))


def by_name(path):
    seen = collections.defaultdict(list)
    for frame in read_pcap(path):
        seen[frame[-8:]].append(frame)
    return seen


def compare(where):
    came, bad, n = {}, 0, 0
    for port in range(1, PORTS):
        for frame in read_pcap(os.path.join(where, "in%d.pcap" % port)):
            came[frame[-8:]] = (port, frame)
    for port in range(1, PORTS + 1):
        ours = by_name(os.path.join(where, "out%d.pcap" % port))
        theirs = by_name(os.path.join(where, "ovs%d.pcap" % port))
        for name in sorted(set(ours) | set(theirs)):
            n += len(theirs[name])
            if sorted(ours[name]) == sorted(theirs[name]):
                continue
            bad += 1
            if bad > int(os.environ.get("SHOW", 5)):
                continue
            at, frame = came.get(name, (0, b""))
            print("frame %d, in by port %d: %s" %
                  (int.from_bytes(name[4:], "big"), at, frame.hex()))
            print("  of source " + text_mac(frame[6:12]))
            for who, out in ("culvert", ours[name]), ("OVS", theirs[name]):
                print("  %s, out of port %d:" % (who, port))
                for f in out:
                    print("    " + f.hex())
    print("# %d frames in, %d out of Open vSwitch, %d differences" % (len(came), n, bad))
    sys.exit(bad != 0)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1] == "feed":
        feed(sys.argv[2])
    else:
        compare(sys.argv[2])
