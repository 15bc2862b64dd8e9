# SPDX-License-Identifier: BSD-2-Clause
"""pcap files as lists of frames; flows in them."""
import struct

MAGIC = {b"\xd4\xc3\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\x4d\x3c\xb2\xa1": "<",
         b"\xa1\xb2\x3c\x4d": ">"}


def read(path):
    with open(path, "rb") as f:
        data = f.read()
    order = MAGIC[data[:4]]
    frames, at = [], 24
    while at < len(data):
        caplen = struct.unpack_from(order + "I", data, at + 8)[0]
        assert at + 16 + caplen <= len(data), "%s is cut" % path
        frames.append(data[at + 16:at + 16 + caplen])
        at += 16 + caplen
    return frames


def write(path, frames):
    with open(path, "wb") as f:
        f.write(struct.pack("=IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for frame in frames:
            f.write(struct.pack("=IIII", 0, 0, len(frame), len(frame)) + frame)


def flows(frames):
    """By source: its frames in their order."""
    by_source = {}
    for frame in frames:
        by_source.setdefault(frame[6:12], []).append(frame)
    return by_source


def equal(what, wanted, got):
    """The same frames, those of a source in the same order."""
    wanted, got = flows(wanted), flows(got)
    for source in sorted(wanted.keys() | got.keys()):
        w, g = wanted.get(source, []), got.get(source, [])
        if w == g:
            continue
        same = next((i for i, (a, b) in enumerate(zip(w, g)) if a != b), min(len(w), len(g)))
        raise SystemExit("%s: from %s wanted %d frames, got %d; the first that differs is %d:\n"
                         "wanted %s\n   got %s" % (
                             what, source.hex(":"), len(w), len(g), same,
                             w[same].hex() if same < len(w) else "none",
                             g[same].hex() if same < len(g) else "none"))
