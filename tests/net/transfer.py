#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""transfer.py serve ADDRESS tcp|udp, transfer.py send ADDRESS tcp|udp BYTES.

Both print a checksum of the content. UDP: datagrams of many lengths, one at a time, each
acknowledged and repeated when the answer is late: loss, which the network may have, is told apart
from damage, which it may not have.
"""
import hashlib
import os
import random
import socket
import sys

PORT = int(os.environ.get("PORT", "7000"))


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def serve_tcp(address):
    s = socket.create_server((address, PORT), family=family(address))
    print("ready", file=sys.stderr, flush=True)
    c, _ = s.accept()
    h = hashlib.sha256()
    while True:
        data = c.recv(65536)
        if not data:
            break
        h.update(data)
    print(h.hexdigest())
    c.sendall(b"done")
    c.close()


def send_tcp(address, n):
    h = hashlib.sha256()
    r = random.Random(n)
    with socket.create_connection((address, PORT), timeout=20) as s:
        while n > 0:
            data = r.randbytes(min(n, 65536))
            s.sendall(data)
            h.update(data)
            n -= len(data)
        s.shutdown(socket.SHUT_WR)
        if s.recv(4) != b"done":
            sys.exit("no answer")
    print(h.hexdigest())


def serve_udp(address):
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.bind((address, PORT))
    s.settimeout(20)
    print("ready", file=sys.stderr, flush=True)
    h = hashlib.sha256()
    expected = 0
    while True:
        data, peer = s.recvfrom(65536)
        number = int.from_bytes(data[:4], "big")
        s.sendto(data[:4], peer)
        if number == 0xffffffff:
            break
        if number == expected:
            h.update(data)
            expected += 1
    print(h.hexdigest())


def exchange(s, data):
    for _ in range(20):
        s.send(data)
        try:
            while s.recv(16) != data[:4]:
                pass
            return
        except (TimeoutError, ConnectionRefusedError):
            continue
    sys.exit("no answer to datagram %d of %d bytes" % (int.from_bytes(data[:4], "big"), len(data)))


def send_udp(address, n):
    h = hashlib.sha256()
    r = random.Random(n)
    s = socket.socket(family(address), socket.SOCK_DGRAM)
    s.connect((address, PORT))
    s.settimeout(0.5)
    number = 0
    while n > 0:
        # up to 4000 bytes: the longer ones travel as fragments
        data = number.to_bytes(4, "big") + r.randbytes(r.choice((0, 1, 14, 18, 500, 1300, 4000)))
        exchange(s, data)
        h.update(data)
        n -= len(data)
        number += 1
    exchange(s, b"\xff\xff\xff\xff")
    print(h.hexdigest())


def main():
    what, address, protocol = sys.argv[1:4]
    if what == "serve":
        {"tcp": serve_tcp, "udp": serve_udp}[protocol](address)
    else:
        {"tcp": send_tcp, "udp": send_udp}[protocol](address, int(sys.argv[4]))


main()
