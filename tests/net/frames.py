#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""Frames by hand: as a module builders and send(), as a program, frames.py DEV, what arrives.

One line a frame, from the outside in; a tag (VLAN id and priority; svlan when it is 802.1ad's) is
shown whether it was in the frame or in its metadata; sum is 0 when the UDP checksum is:
  02:00:00:00:00:01 > ff:ff:ff:ff:ff:ff vlan 100.0 type 0x88b5 "hello" length 19
  ... ip 192.0.2.1 > 192.0.2.2 tos 0 ttl 64 df 1 udp 50000 > 4789 sum 0 vxlan 8 vni 10 | 02:...
"""
import ipaddress
import socket
import struct
import sys
import time

BROADCAST = "ff:ff:ff:ff:ff:ff"
TEST_TYPE = 0x88b5	# IEEE 802, local experimental


def mac(text):
    return bytes(int(b, 16) for b in text.split(":"))


def eth(dst, src, payload=b"", type=TEST_TYPE, tags=(), tpid=0x8100):
    """tags: from the outside in, VLAN ids or whole tag control words."""
    head = mac(dst) + mac(src)
    for tag in tags:
        head += struct.pack("!HH", tpid, tag)
        tpid = 0x8100
    if isinstance(payload, str):
        payload = payload.encode()
    return head + struct.pack("!H", type) + payload


def checksum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return ~s & 0xffff


def ip4(src, dst, payload, proto=17, tos=0, ident=0, frag=0, ttl=64, length=None):
    """frag: the whole 16-bit flags and offset field."""
    total = 20 + len(payload) if length is None else length
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, total, ident, frag, ttl, proto, 0,
                       ipaddress.IPv4Address(src).packed, ipaddress.IPv4Address(dst).packed)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def ip6(src, dst, payload, proto=17, tclass=0, hops=64):
    ends = ipaddress.IPv6Address(src).packed + ipaddress.IPv6Address(dst).packed
    return struct.pack("!IHBB", 6 << 28 | tclass << 20, len(payload), proto, hops) + ends + payload


def udp(sport, dport, payload=b"", length=None, check=0):
    length = 8 + len(payload) if length is None else length
    return struct.pack("!HHHH", sport, dport, length, check) + payload


def vxlan(vni, inner, flags=0x08, reserved=0):
    """reserved: for the 24 bits after the flags and the 8 after the VNI."""
    return struct.pack("!II", flags << 24 | reserved, vni << 8 | reserved & 0xff) + inner


def send(dev, *frames, gap_s=0):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((dev, 0))
    for frame in frames:
        s.send(frame)
        if gap_s:
            time.sleep(gap_s)


def mac_of(dev):
    with open("/sys/class/net/%s/address" % dev) as f:
        return f.read().strip()


def text_mac(b):
    return ":".join("%02x" % x for x in b)


def describe_udp(p):
    sport, dport, length, check = struct.unpack("!HHHH", p[:8])
    line = " udp %d > %d sum %d" % (sport, dport, 0 if check == 0 else 1)
    if dport == 4789 and len(p) >= 16:
        word0, word1 = struct.unpack("!II", p[8:16])
        line += " vxlan %x vni %d" % (word0 >> 24, word1 >> 8)
        if word0 & 0xffffff or word1 & 0xff:
            line += " reserved-not-zero"
        line += " | " + describe(p[16:])
    return line


def describe_ip(p, ethertype):
    if ethertype == 0x0800:
        ihl, tos, total, ident, frag = struct.unpack("!BBHHH", p[:8])
        proto, at = p[9], (ihl & 15) * 4
        src, dst = (ipaddress.IPv4Address(p[i:i + 4]) for i in (12, 16))
        line = " ip %s > %s tos %d ttl %d df %d" % (src, dst, tos, p[8], frag >> 14 & 1)
        if checksum(p[:at]):
            line += " bad-checksum"
        if frag & 0x3fff:
            line += " frag %d id %d" % (frag & 0x1fff, ident)
        p = p[:total]
        if frag & 0x1fff:
            return line
    else:
        word, length, proto, hops = struct.unpack("!IHBB", p[:8])
        src, dst = (ipaddress.IPv6Address(p[i:i + 16]) for i in (8, 24))
        line = " ip %s > %s tos %d ttl %d" % (src, dst, word >> 20 & 0xff, hops)
        at = 40
        p = p[:40 + length]
    if proto == 17 and len(p) >= at + 8:
        return line + describe_udp(p[at:])
    return line + " proto %d" % proto


def describe_tag(tpid, tci):
    return " %s %d.%d" % ("svlan" if tpid == 0x88a8 else "vlan", tci & 0xfff, tci >> 13)


def describe(frame, tag=None):
    line = "%s > %s" % (text_mac(frame[6:12]), text_mac(frame[0:6]))
    if tag is not None:
        line += describe_tag(*tag)
    at = 12
    ethertype = struct.unpack("!H", frame[at:at + 2])[0]
    while ethertype in (0x8100, 0x88a8) and len(frame) >= at + 6:
        tci, inner = struct.unpack("!HH", frame[at + 2:at + 6])
        line += describe_tag(ethertype, tci)
        ethertype = inner
        at += 4
    payload = frame[at + 2:]
    if ethertype in (0x0800, 0x86dd) and len(payload) >= (20 if ethertype == 0x0800 else 40):
        return line + describe_ip(payload, ethertype)
    if ethertype == TEST_TYPE:
        return line + ' type 0x88b5 "%s" length %d' % (
            payload.rstrip(b"\0").decode("ascii", "replace"), len(frame))
    return line + " type 0x%04x" % ethertype


def listen(dev):
    """Until killed. The tag that the kernel took out of a frame is in the auxiliary data."""
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
    s.setsockopt(263, 8, 1)	# SOL_PACKET, PACKET_AUXDATA
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)	# SO_RCVBUFFORCE
    s.bind((dev, 3))
    print("ready", file=sys.stderr, flush=True)
    while True:
        frame, ancillary, _, source = s.recvmsg(65536, 256)
        if source[2] == socket.PACKET_OUTGOING or len(frame) < 14:
            continue
        tag = None
        for level, kind, data in ancillary:
            if level == 263 and kind == 8:
                status, _, _, _, _, tci, tpid = struct.unpack("IIIHHHH", data[:20])
                if status & 0x10:	# TP_STATUS_VLAN_VALID
                    tag = (tpid, tci)
        print(describe(frame, tag), flush=True)


if __name__ == "__main__":
    listen(sys.argv[1])
