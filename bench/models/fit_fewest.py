#!/usr/bin/env python3
"""Fits `fewest`, the elements from which on kinds are asked (schedule/kind.h), from cases of the fuzz of speed with these kinds and without them.

    bench/models/fit_fewest.py [FILE]                   by kind: the time lost with its number and with the best (default: bench/models/h100/fewest.csv)
    bench/models/fit_fewest.py FILE --from WITH WITHOUT  writes the file from two runs of bench/fuzz_speed.py --all over the same cases,
                                                        the first with KILN_KINDS=-fewest, the second with KILN_KINDS as --kinds prints it
    bench/models/fit_fewest.py --kinds                  prints that

A row: the kind that computes a case where no kind has a limit, elements of the space, us with it and without such kinds. Lost: by how much the case takes longer than by
the better of the two, as a geometric mean."""
import argparse
import csv
import json
import math
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "src" / "schedules"


def limits():
    """By kind: its number in the source."""
    found = {}
    for path in SOURCES.glob("*/kind_*.c"):
        for body in re.findall(r"const kn_kind kn_kind_\w+ = \{(.*?)\};", path.read_text(encoding="utf-8"), flags=re.S):
            number = re.search(r"\.fewest = (\d+) << (\d+)", body)
            if number:
                found[re.search(r'\.name = "(\w+)"', body)[1]] = int(number[1]) << int(number[2])
    return found


def kinds_of(case):
    return re.findall(r' schedule="(\w+)"', case.get("plan") or "")


def rows_of(with_kinds, without, elements_of):
    """Rows of cases that are one kernel in both runs, by different kinds."""
    limited = limits()
    others = {c["number"]: c for c in map(json.loads, without)}
    for case in map(json.loads, with_kinds):
        other = others.get(case["number"])
        if not other or not case.get("times") or not other.get("times"):
            continue
        own, instead = kinds_of(case), kinds_of(other)
        if len(own) == len(instead) == 1 and own != instead and own[0] in limited:
            yield own[0], elements_of(case), round(case["times"]["kiln"] * 1e6, 3), round(other["times"]["kiln"] * 1e6, 3)


def lost(rows, fewest):
    logs = [math.log((a if n >= fewest else b) / min(a, b)) for n, a, b in rows]
    return math.exp(sum(logs) / len(logs)) if logs else 1.0


def show(rows):
    for kind, now in sorted(limits().items()):
        own = sorted((int(n), float(a), float(b)) for k, n, a, b in rows if k == kind)
        sizes = [1 << p for p in range(8, 25)]
        best = min(sizes, key=lambda s: (lost(own, s), s))
        faster = [b / a for n, a, b in own if n >= now]
        slower = [b / a for n, a, b in own if n < now]
        middle = lambda some: "%.2f of %d" % (sorted(some)[len(some) // 2], len(some)) if some else "none"  # noqa: E731
        print(f"{kind}: {len(own)} cases; fewest 2^{now.bit_length() - 1} loses {100 * (lost(own, now) - 1):.1f} %, 2^{best.bit_length() - 1} {100 * (lost(own, best) - 1):.1f} %; "
              f"without / with, median: from there on {middle(faster)}, below {middle(slower)}")


def elements_function():
    """The elements of a case's space: those of its inputs broadcast together, as NumPy has their views."""
    sys.path[:0] = [str(HERE.parent), str(HERE.parents[1] / "tests" / "numpy")]
    import numpy as np
    from speed_call import Shadow

    def elements(case):
        shapes = [a.shape for a in Shadow(case).arrays.values()]
        try:
            return math.prod(np.broadcast_shapes(*shapes))
        except ValueError:  # one has axes that the text adds
            return max(math.prod(s) for s in shapes)
    return elements


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path, default=HERE / "h100" / "fewest.csv")
    parser.add_argument("--from", dest="runs", nargs=2, metavar=("WITH", "WITHOUT"))
    parser.add_argument("--kinds", action="store_true")
    o = parser.parse_args()
    if o.kinds:
        print(",".join(f"-{kind}" for kind in sorted(limits())))
        return 0
    if o.runs:
        with open(o.runs[0], encoding="utf-8") as a, open(o.runs[1], encoding="utf-8") as b, open(o.file, "w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(["kind", "elements", "with", "without"])
            writer.writerows(sorted(rows_of(a, b, elements_function())))
    with open(o.file, encoding="utf-8") as file:
        show(list(csv.reader(file))[1:])
    return 0


if __name__ == "__main__":
    sys.exit(main())
