#!/usr/bin/env python3
"""Sequences on the host beside NumPy, over dtypes, sizes and kinds of data: bench/host_tails.py LIBRARY [--clock cpu|wall] [--bits 10,16,20] [--rows sort,cumsum] [--kinds random,sorted,few] > table.txt

A line is: bits of the size, dtype, kind of data, row, kiln's microseconds, NumPy's, NumPy / kiln, and the ratio that is wanted; the least of some rounds in which both are called in turn.
kiln has one thread with --clock cpu (the process's CPU time), else two. "wrong" is a result that is not NumPy's; sums and products of floats may differ in their last bits, and of float16 are not compared (NumPy rounds each one)."""
import argparse
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--clock", choices=("cpu", "wall"), default="wall")
parser.add_argument("--bits", default="10,16,20", help="2^B elements")
parser.add_argument("--rows", default="", help="these rows alone")
parser.add_argument("--kinds", default="random,sorted,few", help="kinds of data")
parser.add_argument("--rounds", type=int, default=3)
options = parser.parse_args()
os.environ["KILN_NUM_THREADS"] = "1" if options.clock == "cpu" else "2"
os.environ["KILN_TARGET"] = "host"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numpy as np  # noqa: E402

from host_calls import Repeated  # noqa: E402
from host_kernels import Arrays  # noqa: E402

kiln = Arrays(options.library)
random = np.random.default_rng(7)
DTYPES = ["float32", "float64", "int32", "int64", "uint8", "int16", "float16", "complex64"]


def data(dtype, n, kind):
    if dtype.kind == "f":
        x = random.standard_normal(n).astype(dtype)
    elif dtype.kind == "c":
        x = (random.standard_normal(n) + 1j * random.standard_normal(n)).astype(dtype)
    else:
        x = random.integers(max(np.iinfo(dtype).min, -2**62), min(np.iinfo(dtype).max, 2**62), n).astype(dtype)
    if kind == "few":
        x = x[:100][random.integers(0, min(100, n), n)]
    return np.sort(x) if kind == "sorted" else x


def rows(x):
    """Name, wanted ratio, expression of x and y, NumPy, y."""
    places, sought = random.integers(0, x.size, x.size), np.sort(x[:4096])
    yield "sort", 3, "sort(x)", lambda: np.sort(x, kind="stable"), None
    if x.dtype.kind != "c":
        yield "unstable", 1, "sort(x)", lambda: np.sort(x), None
        yield "searchsorted", 1, "searchsorted(y, x)", lambda: np.searchsorted(sought, x), sought
    yield "argsort", 3, "argsort(x)", lambda: np.argsort(x, kind="stable"), None
    yield "unique", 3, "unique(x)", lambda: np.unique(x), None
    yield "cumsum", 2, "cumsum(x)", lambda: np.cumsum(x), None
    yield "nonzero", 1, "nonzero(x)[0]", lambda: np.nonzero(x)[0], None
    yield "take", 1, "take(x, y)", lambda: np.take(x, places), places
    mask, keys, chosen = random.random(x.size) < 0.3, random.integers(0, min(1000, x.size), x.size), np.sort(random.integers(0, x.size, x.size // 4 + 1))
    yield "masked", 1, "x[y]", lambda: x[mask], mask
    yield "compress", 1, "compress(y, x)", lambda: np.compress(mask, x), mask
    yield "chosen", 1, "x[y]", lambda: x[chosen], chosen
    yield "diff", 1, "diff(x)", lambda: np.diff(x), None
    yield "count_nonzero", 1, "count_nonzero(x)", lambda: np.count_nonzero(x), None
    yield "cumprod", 2, "cumprod(x)", lambda: np.cumprod(x), None
    yield "bincount", 1, "bincount(y, length=1000)", lambda: np.bincount(keys, minlength=1000), keys
    if x.dtype.kind != "c":
        edges = np.unique(sought[np.isfinite(sought)])
        yield "cummax", 2, "cummax(x)", lambda: np.maximum.accumulate(x), None
        yield "weighted", 1, "bincount(y, x, length=1000)", lambda: np.bincount(keys, x, 1000), keys
        yield "digitize", 1, "digitize(x, y)", lambda: np.digitize(x, edges), edges
        yield "isin", 1, "isin(x, y)", lambda: np.isin(x, sought), sought
    if x.dtype.kind == "f" and x.dtype.itemsize > 2:
        yield "histogram", 1, "histogram(x, bins=100, range=(-3, 3))[0]", lambda: np.histogram(x, 100, (-3, 3))[0], None
        yield "edges", 1, "histogram(x, y)[0]", lambda: np.histogram(x, edges)[0], edges


def least(functions):
    best, clock = [float("inf")] * len(functions), time.perf_counter if options.clock == "wall" else time.process_time
    start, rounds = time.perf_counter(), 0
    while rounds < options.rounds or (time.perf_counter() - start < 0.02 and rounds < 200):
        for k, f in enumerate(functions):
            begin = clock()
            f()
            best[k] = min(best[k], clock() - begin)
        rounds += 1
    return best


def is_same(got, expected, name):
    if got.size != expected.nbytes:
        return False
    got = got.view(expected.dtype)
    if name in ("cumsum", "cumprod", "weighted") and expected.dtype.kind in "fc":
        return expected.dtype == np.float16 or np.allclose(got, expected, rtol=1e-3, atol=1e-3 * np.nanmax(np.abs(expected)), equal_nan=True)
    return np.array_equal(got, expected.ravel())


def show(what, x, name, wanted, text, numpy, y):
    call = Repeated(kiln, text, {"x": x} if y is None else {"x": x, "y": y})
    is_right = is_same(call(True), np.asarray(numpy()), name)
    own, peer = least([call, numpy])
    print(f"{what} {name} {own * 1e6:.1f} {peer * 1e6:.1f} {peer / own:.2f} {wanted}{'' if is_right else ' wrong'}{' short' if peer / own < wanted else ''}", flush=True)
    call.free()


for bits in map(int, options.bits.split(",")):
    for dtype in map(np.dtype, DTYPES):
        for kind in options.kinds.split(","):
            x = data(dtype, 1 << bits, kind)
            for row in rows(x):
                if not options.rows or row[0] in options.rows.split(","):
                    show(f"{bits} {dtype} {kind}", x, *row)
