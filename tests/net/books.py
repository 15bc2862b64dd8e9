#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""books.py DROPS PORT: whether every packet is accounted for.

The files are what `culvert -j drops` and `culvert -j port` said.

Over all ports rx + copied + generated = tx + drops, and for each port by which frames came in
rx + copied + generated = forwarded + drops.
"""
import json
import sys


def main():
    with open(sys.argv[1]) as f:
        drops = json.load(f)
    with open(sys.argv[2]) as f:
        ports = json.load(f)["ports"]
    wrong = []
    b = drops["books"]
    if not b["balanced"]:
        wrong.append("culvert says: not balanced")
    if b["rx"] + b["copied"] + b["generated"] != b["tx"] + b["drops"]:
        wrong.append("books: %s" % b)
    if sum(r["packets"] for r in drops["reasons"]) != b["drops"]:
        wrong.append("the reasons do not add up to drops %d" % b["drops"])
    for p in ports:
        came = p["rx_packets"] + p["copied"] + p["generated"]
        went = p["forwarded"] + p["drops"]
        if came != went:
            wrong.append("port %s: %d came, %d went" % (p["name"], came, went))
        if sum(p["drop_reasons"].values()) != p["drops"]:
            wrong.append("port %s: its reasons do not add up" % p["name"])
    for key, book in (("rx_packets", "rx"), ("copied", "copied"), ("generated", "generated"),
                      ("tx_packets", "tx"), ("drops", "drops")):
        if sum(p[key] for p in ports) != b[book]:
            wrong.append("the ports' %s do not add up to %d" % (key, b[book]))
    print("\n".join(wrong))
    sys.exit(1 if wrong else 0)


main()
