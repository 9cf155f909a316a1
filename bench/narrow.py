#!/usr/bin/env python3
"""The table of bench/results/*-narrow.md: what orders of axes, one of them narrow, reach of the floor.

    for s in narrow1 narrow2 narrow4 narrow8 narrowodd1 narrowodd2 narrowodd4 narrowodd8; do
        kiln bench --sweep $s --json; done > narrow.jsonl
    bench/narrow.py narrow.jsonl
"""
import collections
import json
import sys

WANTED = {"narrow": 85, "narrowodd": 75}  # per cent of the copy floor


def percent(row):
    return 100 * row["floor_us"] / row["us"]


def read(file):
    """By sweep and order, then by the extent of the narrow axis."""
    shares = collections.defaultdict(lambda: collections.defaultdict(dict))
    for line in file:
        row = json.loads(line)
        if row.get("row", "").startswith("narrow") and row["peer"] == "kiln":
            sweep, extent, order = row["row"].split(":")
            shares[sweep][order][int(extent)] = percent(row)
    return shares


def put_sweep(sweep, orders):
    wanted = WANTED[sweep.rstrip("1248")]
    extents = sorted({extent for shares in orders.values() for extent in shares})
    all_shares = [share for shares in orders.values() for share in shares.values()]
    reached = sum(share >= wanted for share in all_shares)
    print(f"\n## {sweep}\n\n{reached} of {len(all_shares)} reach {wanted} %; median "
          f"{sorted(all_shares)[len(all_shares) // 2]:.0f}, least {min(all_shares):.0f}.\n")
    print("| order | " + " | ".join(str(extent) for extent in extents) + " |")
    print("| --- |" + " ---: |" * len(extents))
    for order in sorted(orders):
        cells = (f"{orders[order][extent]:.0f}" if extent in orders[order] else "" for extent in extents)
        print(f"| {order} | " + " | ".join(cells) + " |")


def main():
    with open(sys.argv[1], encoding="utf-8") if len(sys.argv) > 1 else sys.stdin as file:
        for sweep, orders in sorted(read(file).items()):
            put_sweep(sweep, orders)


if __name__ == "__main__":
    main()
