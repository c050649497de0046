#!/usr/bin/env python3
"""Reads what callgrind wrote, counts.py FILE NAME, and prints a line for each side of an evaluation: what one call of it does, callees included."""
import re
import sys

SIDES = re.compile(r"(primal|grad|hand)(_\w+)?")


def name_of(text, names):
    """callgrind writes a name once, and its number from then on."""
    number, _, name = text.partition(" ")
    if name:
        names[number] = name
    return names[number]


def main():
    names, calls, cost, events = {}, {}, {}, []
    called = 0
    callee = None
    for line in open(sys.argv[1], encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("events: "):
            events = line.split()[1:]
        elif line.startswith("fn="):
            name_of(line[3:], names)
        elif line.startswith("cfn="):
            callee = name_of(line[4:], names)
        elif line.startswith("calls="):
            called = int(line[6:].split()[0])
        elif called:    # what the call did, callees of its own included
            found = [int(x) for x in line.split()[1:]]
            found += [0] * (len(events) - len(found))
            calls[callee] = calls.get(callee, 0) + called
            cost[callee] = [a + b for a, b in zip(cost.get(callee, [0] * len(events)), found)]
            called = 0
    if not events:
        sys.exit(f"{sys.argv[1]}: no file of callgrind's")
    at = [events.index(e) for e in ("Ir", "Dr", "Dw")]
    for side in sorted(calls):
        if SIDES.fullmatch(side):
            print(f"| {sys.argv[2]} | {side} | {calls[side]} | " + " | ".join(str(cost[side][k] // calls[side]) for k in at) + " |")


main()
