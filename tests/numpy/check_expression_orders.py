"""The strides of results that calls allocate with KILN_ORDER_KEEP, against those of NumPy's results: the random expressions of fuzz_graphs.py, small,
over arrays of random layouts. Nothing is compiled.
check_expression_orders.py PROGRAM [--count N] [--seed S] [--first INDEX]     PROGRAM: expression_orders"""
import argparse
import os
import random
import subprocess
import sys
import warnings

import numpy as np

from fuzz_graphs import DTYPES, Case, drawn
from random_graphs import Graph

np.nansum = np.sum  # which copies its input first, in an order of its own
KINDS = {bool: "bool", int: "int", float: "float"}


class Pools:
    """What a case asks of the library: numbers in memory."""
    pool_size = 2 ** 11

    def __init__(self):
        self.pools = {(d, is_whole): self.Pool(d, numbers.astype(d)) for is_whole, numbers in drawn(self.pool_size).items() for d in set(DTYPES)}

    class Pool:
        def __init__(self, dtype, stored):
            self.dtype, self.stored = dtype, stored

    def random_size(self, rng):
        return int(10 ** rng.uniform(0.5, 2.2))


def word(how):
    if not isinstance(how, tuple):
        return f"~{KINDS[type(how)]}:{float(how)}"
    pool, layout = how
    numbers = lambda values: ",".join(map(str, values))
    return f"{pool.dtype}:{numbers(layout.shape)}:{numbers(s * np.dtype(pool.dtype).itemsize for s in layout.strides)}"


def make(pools, seed, index):
    """A line for the program, and NumPy's results, views among them copied in their order; None where all inputs are numbers."""
    case = Case(pools, seed, index)
    if not any(isinstance(how, tuple) for how in case.inputs):
        return None
    return f"{case.names}|{' '.join(map(word, case.inputs))}|{case.graph.text}", [np.copy(np.asarray(r.typed), order="K") for r in case.graph.results]


def is_same(got, right):
    strides = [int(s) for s in got.split(",") if s]
    return right.size == 0 or (len(strides) == right.ndim and all(g == s or n == 1 for g, s, n in zip(strides, right.strides, right.shape)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=20000 if os.environ.get("KILN_SOAK") == "1" else 400)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    o = parser.parse_args()
    warnings.simplefilter("ignore")
    pools = Pools()
    cases = [(index, make(pools, o.seed, index)) for index in range(o.first, o.first + o.count)]
    cases = [(index, *made) for index, made in cases if made]
    run = subprocess.run([o.program], input="".join(line + "\n" for _, line, _ in cases), capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    assert len(answers) == len(cases), run.stderr
    wrong = compared = 0
    for (index, line, right), got in zip(cases, answers):
        results = got.split(" ") if not got.startswith("refused") else []
        compared += len(right)
        if len(results) == len(right) and all(map(is_same, results, right)):
            continue
        wrong += 1
        if wrong <= 20:
            print(f"--seed {o.seed} --first {index} --count 1: {line}\n    {got}\n    {[(r.shape, r.strides) for r in right]}")
    print(f"{len(cases)} expressions with {compared} results, {wrong} otherwise than by NumPy")
    assert len(cases) > o.count // 2 or o.count < 100
    sys.exit(wrong > 0)


main()
