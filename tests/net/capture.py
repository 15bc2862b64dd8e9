# SPDX-License-Identifier: BSD-2-Clause
"""A client of the control socket, for captures (docs/protocol.md)."""
import json
import os
import re
import socket
import struct
import subprocess
import sys
import time

SLOW = int(os.environ.get("SLOW", 1)) * (3 if os.environ.get("SANITIZED") else 1)

# ether proto 0x88b5: what frames.py sends, and nothing that hosts say by themselves
ours = [[0x28, 0, 0, 12], [0x15, 0, 1, 0x88b5], [6, 0, 0, 262144], [6, 0, 0, 0]]


class Client:
    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(20 * SLOW)
        self.socket.connect(path)
        self.file = self.socket.makefile("rb")

    def ask(self, method, params=None, **more):
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}, **more}
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def line(self):
        return json.loads(self.file.readline())

    def call(self, method, **params):
        """The whole answer: with "result" or "error"."""
        self.ask(method, params, id=1)
        return self.line()

    def live(self, **params):
        """Begins a capture: what the answer says of it."""
        answer = self.call("capture", **params)
        assert "result" in answer, answer
        return answer["result"]

    def chunk(self):
        return self.file.read(int(self.file.readline()))

    def objects(self, method):
        answer = self.call(method)
        assert answer["result"]["stream"] == "json", answer
        text = b"".join(iter(self.chunk, b""))
        self.end()
        return [json.loads(line) for line in text.splitlines()]

    def end(self):
        message = self.line()
        assert message["method"] == "end" and message["params"]["id"] == 1, message
        return message["params"]

    def finish(self):
        """Says that it wants no more: the chunks that still come, and the end."""
        self.socket.shutdown(socket.SHUT_WR)
        return b"".join(iter(self.chunk, b"")), self.end()

    def hang_up(self):
        self.file.close()
        self.socket.close()


def blocks(pcapng):
    """(type, body) of each block; all of them have to be whole."""
    at = 0
    while at < len(pcapng):
        kind, length = struct.unpack_from("=II", pcapng, at)
        assert length % 4 == 0 and 12 <= length <= len(pcapng) - at
        assert struct.unpack_from("=I", pcapng, at + length - 4)[0] == length
        yield kind, pcapng[at + 8:at + length - 4]
        at += length


def frames(pcapng):
    """Those of its enhanced packet blocks."""
    for kind, body in blocks(pcapng):
        if kind == 6:
            caplen = struct.unpack_from("=I", body, 12)[0]
            yield body[20:20 + caplen]


def eventually(what, true):
    limit = time.monotonic() + 15 * SLOW
    while not true():
        assert time.monotonic() < limit, what
        time.sleep(0.02)


def at(namespace, code):
    """Runs Python in a namespace, with all of frames.py imported."""
    subprocess.run(["ip", "netns", "exec", os.environ["prefix"] + namespace, sys.executable, "-c",
                    "from frames import *\n" + code], check=True)


def refused(client, pattern, **params):
    """A capture that must be refused, with a sentence that matches."""
    answer = client.call("capture", **params)
    assert answer["error"]["code"] in (-32000, -32602), answer
    text = answer["error"]["message"]
    assert re.search(pattern, text), "no %s in: %s" % (pattern, text)
    assert len(text) > 20 and "\n" not in text, text
