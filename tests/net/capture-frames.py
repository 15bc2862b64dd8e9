#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""capture-frames.py HOST [TAG]: sends frames of every kind that its port takes; prints how many.

They are written to HOST.sent as the port receives them: with TAG, the host's VLAN that its kernel
puts in front of them. Several flows, all lengths, contents of a seed.
"""
import os
import random
import struct
import sys

import pcaps
from frames import BROADCAST, eth, send

FLOWS = 5
FRAMES = 60
MTU = 1500


def tags_of(host, flow):
    """From the outside in, and the outermost one's TPID."""
    priority = flow << 13
    if host == "h1":	# access: none, or a priority tag
        return ([priority] if flow % 2 else [], 0x8100)
    if host == "h2":	# a trunk
        return ([100 | priority], 0x8100)
    if host == "h3":	# QinQ: all VLANs of its customer
        return [([300 + flow], 0x8100), ([300 | priority, 100], 0x8100), ([301, 40], 0x88a8),
                ([302], 0x88a8), ([4094, 2, 3], 0x8100)][flow]
    return ([], 0x8100)


def frame(rng, host, flow, number):
    tags, tpid = tags_of(host, flow)
    source = "02:00:00:00:%02x:%02x" % (int(host[1:]), flow)
    # the kernel sends a tag of 802.1Q on top of the MTU, all others within
    bytes_max = MTU - 4 * len(tags) + (4 if tags and tpid == 0x8100 else 0)
    # with less behind a tag the kernel at the far end drops it unseen
    payload = rng.randbytes(rng.choice((2, 46, bytes_max, rng.randrange(2, bytes_max))))
    return eth(BROADCAST, source, payload, 0x9000 + number, tags=tags, tpid=tpid)


def main():
    host = sys.argv[1]
    tag = struct.pack("!HH", 0x8100, int(sys.argv[2])) if sys.argv[2:] else b""
    seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
    print("# %s: SEED=%d" % (host, seed), file=sys.stderr)
    rng = random.Random(seed)
    frames = [frame(rng, host, flow, n) for n in range(FRAMES) for flow in range(FLOWS)]
    pcaps.write(host + ".sent", [f[:12] + tag + f[12:] for f in frames])
    send("e0", *frames, gap_s=0.0005)
    print(len(frames))


main()
