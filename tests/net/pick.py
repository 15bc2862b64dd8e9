#!/usr/bin/python3
# SPDX-License-Identifier: BSD-2-Clause
"""pick.py [--lines] EXPRESSION: the value of a Python expression over JSON, d.

The JSON is on standard input, as `culvert -j` says it. With --lines it is one object a line,
and d is the list of them.
"""
import json
import sys


def main():
    lines = sys.argv[1] == "--lines"
    if lines:
        d = [json.loads(line) for line in sys.stdin if line.strip()]
    else:
        d = json.load(sys.stdin)
    print(eval(sys.argv[-1].replace("\n", " "), {"d": d}))


main()
