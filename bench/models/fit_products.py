#!/usr/bin/env python3
"""Fits and evaluates the model by which schedules/reduce/kind_reduce_product.c chooses tiles, from times of many tilings of some products.

    bench/models/fit_products.py [FILE]           regret of what is chosen (default: bench/models/h200/products.csv)
    bench/models/fit_products.py [FILE] --fit     searches for better constants, and leaves out each product in turn

Constants are read from the source. A row of the file: rows, columns, results elsewhere, elements of a result, those along the innermost axis, bytes of an element
of each input (0: it is the other's), the largest bytes of a value; results of a thread along an axis, log2 of threads along rows and columns, blocks that share a tile; us.
Regret: the time of the tiling that the model takes over the least of the product's; a figure is the geometric mean over products, then the worst."""
import argparse
import csv
import pathlib
import re
import sys

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
SOURCE = HERE.parents[1] / "src" / "schedules" / "reduce" / "kind_reduce_product.c"
FITTED = ("TERM", "COPY", "STORE", "COMBINE", "SPLIT", "STEP", "ALONE", "WIDE")
ABOUT = ("rows", "columns", "others", "length", "row", "left", "right", "value", "multiprocessors")
CHOICE = ("side", "m", "n", "splits")


def constants():
    text = re.sub(r"/\*.*?\*/", "", SOURCE.read_text(encoding="utf-8"), flags=re.S)
    found = {word: int(a) << int(b or 0) for word, a, b in re.findall(r"\b([A-Z_]+) = (\d+)(?: << (\d+))?", text)}
    found |= {word: float(number) for word, number in re.findall(r"#define ([A-Z]+) ([0-9.]+)", text)}
    return found


def up(a, b):
    return -(-a // b)


class Product:
    """As in the source: the tilings of a product, and their costs."""

    def __init__(self, c, about):
        self.c = c
        for name in ABOUT:
            setattr(self, name, int(about[name]))

    def bytes(self, side, m, n, k):
        c, elements = self.c, min(1 << k, self.row)
        return ((((side << m) * self.left + c["PAD"]) * elements) if self.left else 0) + ((((side << n) * self.right + c["PAD"]) * elements) if self.right else 0)

    def is_alone(self, side, m, n):
        """One step has all elements of a result."""
        c = self.c
        return (c["BLOCK"] >> (m + n) >= c["GROUPS_ALONE"] and side << max(m, n) <= c["WIDEST_TILE"] and self.length == self.row <= 1 << c["ALONE_STEP_BITS"]
                and self.bytes(side, m, n, c["ALONE_STEP_BITS"]) <= c["SHARED"])

    def k_bits(self, side, m, n):
        """log2 of a step's elements; None: the tile does not fit."""
        c = self.c

        def fits(k):
            return self.bytes(side, m, n, k) <= c["SHARED_STEP"] * (2 if self.length <= 1 << k else 1)

        k = c["MOST_STEP_BITS"]
        while k > c["FEWEST_STEP_BITS"] and (not fits(k) or 1 << (k - 1) >= self.row):
            k -= 1
        return k if side << max(m, n) <= c["WIDEST_TILE"] and fits(k) else None

    def tiles(self, side, m, n):
        return up(self.rows, side << m) * up(self.columns, side << n) * self.others

    def cost(self, side, m, n, splits):
        c, k = self.c, self.k_bits(side, m, n)
        levels, results, terms = c["THREAD_BITS"] - m - n, side * side, up(self.length, splits)
        copied = ((side << m) if self.left else 0) + ((side << n) if self.right else 0)
        steps = 1 if splits == 1 and self.is_alone(side, m, n) else self.length // self.row * up(self.row, 1 << k)
        each = (terms / (1 << levels) * (results * c["TERM"] + 2 * side) + terms * copied / c["BLOCK"] * c["COPY"] + steps / splits * c["STEP"]
                + results * c["STORE"] + results * c["COMBINE"] * levels)
        each += results * c["COMBINE"] * splits + c["SPLIT"] if splits > 1 else 0
        return each * max(up(self.tiles(side, m, n) * splits, self.multiprocessors), c["ALONE"]) * (c["WIDE"] if side == c["WIDE_SIDE"] else 1)

    def tilings(self):
        """What the source tries."""
        c = self.c
        for side in (c["NARROW_SIDE"], c["WIDE_SIDE"]) if self.value <= c["WORD"] else (c["NARROW_SIDE"],):
            for m in range(c["THREAD_BITS"] + 1):
                for n in range(max(c["FEWEST_TILE_BITS"] - m, 0) if side == c["NARROW_SIDE"] else c["THREAD_BITS"] - m, c["THREAD_BITS"] - m + 1):
                    k = self.k_bits(side, m, n)
                    if k is None:
                        continue
                    tiles, steps, splits = self.tiles(side, m, n), self.length // self.row * up(self.row, 1 << k), 1
                    while splits <= c["MOST_SPLITS"] and (splits == 1 or (splits <= steps and tiles * splits <= 4 * self.multiprocessors)):
                        yield side, m, n, splits
                        splits *= 2


def load(path, c):
    """A list of (product, tilings that were measured, their times)."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for row in csv.DictReader(file):
            some = found.setdefault(tuple(row[n] for n in ABOUT), (Product(c, row), [], []))
            some[1].append(tuple(int(row[n]) for n in CHOICE))
            some[2].append(float(row["us"]))
    return list(found.values())


def regret_of(product, tilings, times):
    costs = [product.cost(*t) for t in tilings]
    return times[int(np.argmin(costs))] / min(times)


def regrets(some):
    return np.array([regret_of(*one) for one in some])


def figure(some):
    r = regrets(some)
    return float(np.exp(np.log(r).mean())), float(r.max())


def fitted(some, c, rounds=3):
    """Each constant in turn, by factors, as long as the regret falls."""
    best, value = dict(c), figure(some)[0]
    for factor in (3.0, 1.6, 1.25)[:rounds]:
        for _ in range(4):
            moved = False
            for name in FITTED:
                for by in (factor, 1 / factor):
                    c.update(best)
                    c[name] = max(best[name] * by, 1.0 if name in ("ALONE", "WIDE") else 0.01)
                    now = figure(some)[0]
                    if now < value - 1e-5:
                        best, value, moved = dict(c), now, True
            if not moved:
                break
    c.update(best)
    return {n: round(best[n], 3) for n in FITTED}, value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", default=HERE / "h200" / "products.csv")
    parser.add_argument("--fit", action="store_true")
    o = parser.parse_args()
    c = constants()
    some, begin = load(o.file, c), dict(c)
    print("constants of the source: regret %.3f, worst %.2f" % figure(some))
    for (product, tilings, times), r in zip(some, regrets(some)):
        at = int(np.argmin([product.cost(*t) for t in tilings]))
        print(f"  {product.rows} x {product.columns} x {product.length}, {product.others} elsewhere, {product.left} and {product.right} bytes: {times[at]:.1f} us by {tilings[at]}, "
              f"least {min(times):.1f} by {tilings[int(np.argmin(times))]}: {r:.2f}")
    if o.fit:
        best, value = fitted(some, c)
        print("fitted:", " ".join(f"{n} {v:g}" for n, v in best.items()), "regret %.3f, worst %.2f" % figure(some))
        left_out = []
        for k in range(len(some)):
            c.update(begin)
            fitted(some[:k] + some[k + 1:], c)
            left_out.append(regret_of(*some[k]))
        print("each left out: regret %.3f, worst %.2f" % (float(np.exp(np.log(left_out).mean())), max(left_out)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
