#!/usr/bin/env python3
"""Sorts, scans, selections and histograms on the host beside NumPy and Numba: bench/host_sequences.py LIBRARY [--threads N] [--bits B] [--rows WORD] > table.md

Each row calls kiln, NumPy and, if it is installed, Numba in turn, and shows the least time of each: by the clock, or of the process's CPU (one thread; a busy
machine does not matter). kiln's results are new arrays at each call, as NumPy's are. Every result is compared with NumPy's. `wanted` is the ratio to the best peer that a row
is meant to have."""
import argparse
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--clock", choices=("cpu", "wall"), default="wall")
parser.add_argument("--bits", type=int, default=22, help="2^B elements")
parser.add_argument("--rounds", type=int, default=7)
parser.add_argument("--rows", default="", help="rows whose name has this word")
parser.add_argument("--no-numba", action="store_true")
options = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "KILN_NUM_THREADS"):
    os.environ[name] = str(options.threads if options.clock == "wall" else 1)
os.environ["KILN_TARGET"] = "host"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numpy as np  # noqa: E402

from host_calls import Repeated  # noqa: E402
from host_kernels import Arrays  # noqa: E402

try:
    import numba
except ImportError:
    numba = None
if options.no_numba:
    numba = None
kiln = Arrays(options.library)
random = np.random.default_rng(1)
n = 1 << options.bits
data = {
    "f": random.standard_normal(n).astype(np.float32), "g": random.standard_normal(n).astype(np.float32), "d": random.standard_normal(n), "i": random.integers(0, 1 << 26, n).astype(np.int32),
    "l": random.integers(0, 1 << 20, n), "k": random.integers(0, 1000, n), "w": random.integers(0, 50256, n), "b": random.integers(0, 256, n).astype(np.uint8),
    "h": random.standard_normal(n).astype(np.float16), "m": random.random(n) < 0.3, "p": random.integers(0, n, n), "c": random.integers(0, 1 << 40, n),
    "t": np.sort(random.standard_normal(1 << 14).astype(np.float32)), "u": np.sort(random.standard_normal(1 << 20).astype(np.float32)),
    "s": random.integers(0, 1 << 26, 1 << 14).astype(np.int32)}
# Name, expression over the arrays above, NumPy, wanted ratio, loop of Numba.
ROWS = [
    ("sort float32", "sort(f)", lambda f: np.sort(f), 1),
    ("sort float32, NumPy stable", "sort(f)", lambda f: np.sort(f, kind="stable"), 3),
    ("sort float64", "sort(d)", lambda d: np.sort(d), 1),
    ("sort int32", "sort(i)", lambda i: np.sort(i), 1),
    ("sort int32, NumPy stable", "sort(i)", lambda i: np.sort(i, kind="stable"), 3),
    ("sort int64 below 2^20", "sort(l)", lambda l: np.sort(l), 1),
    ("sort uint8", "sort(b)", lambda b: np.sort(b), 1),
    ("sort float16", "sort(h)", lambda h: np.sort(h), 1),
    ("argsort float32, NumPy stable", "argsort(f)", lambda f: np.argsort(f, kind="stable"), 3),
    ("argsort float32, NumPy unstable", "argsort(f)", lambda f: np.argsort(f), 1),
    ("argsort int64 below 2^20, NumPy stable", "argsort(l)", lambda l: np.argsort(l, kind="stable"), 3),
    ("lexsort of two", "lexsort((i, k))", lambda i, k: np.lexsort((i, k)), 3),
    ("unique int32", "unique(i)", lambda i: np.unique(i), 3),
    ("unique float32", "unique(f)", lambda f: np.unique(f), 3),
    ("unique of 1000", "unique(k)", lambda k: np.unique(k), 3),
    ("cumsum float32", "cumsum(f)", lambda f: np.cumsum(f), 2, "np.cumsum(f)"),
    ("cumsum float64", "cumsum(d)", lambda d: np.cumsum(d), 2, "np.cumsum(d)"),
    ("cumsum int64", "cumsum(l)", lambda l: np.cumsum(l), 2, "np.cumsum(l)"),
    ("nonzero", "nonzero(m)[0]", lambda m: np.nonzero(m)[0], 1, "np.nonzero(m)[0]"),
    ("flatnonzero float32", "flatnonzero(f > 1)", lambda f: np.flatnonzero(f > 1), 1, "np.flatnonzero(f > 1)"),
    ("count_nonzero bool", "count_nonzero(m)", lambda m: np.count_nonzero(m), 1, "np.count_nonzero(m)"),
    ("count_nonzero float32", "count_nonzero(f)", lambda f: np.count_nonzero(f), 1, "np.count_nonzero(f)"),
    ("x[mask]", "f[m]", lambda f, m: f[m], 1, "f[m]"),
    ("bincount of 1000", "bincount(k, length=1000)", lambda k: np.bincount(k, minlength=1000), 1, "np.bincount(k, None, 1000)"),
    ("bincount of 50256", "bincount(w, length=50256)", lambda w: np.bincount(w, minlength=50256), 1, "np.bincount(w, None, 50256)"),
    ("bincount, weights", "bincount(k, d, length=1000)", lambda k, d: np.bincount(k, d, 1000), 1, "np.bincount(k, d, 1000)"),
    ("histogram float32, 256 bins", "histogram(f, bins=256, range=(-4, 4))[0]", lambda f: np.histogram(f, 256, (-4, 4))[0], 1, "np.histogram(f, 256, (-4.0, 4.0))[0]"),
    ("searchsorted in 2^14", "searchsorted(t, f)", lambda t, f: np.searchsorted(t, f), 1, "np.searchsorted(t, f)"),
    ("searchsorted in 2^20", "searchsorted(u, f)", lambda u, f: np.searchsorted(u, f), 1, "np.searchsorted(u, f)"),
    ("take float32", "take(f, p)", lambda f, p: np.take(f, p), 1, "np.take(f, p)"),
    ("take of sorted", "take(u, l)", lambda u, l: np.take(u, l), 1, "np.take(u, l)"),
    ("isin", "isin(i, s)", lambda i, s: np.isin(i, s), 1),
    ("median float32", "median(f)", lambda f: np.median(f), 1),
    ("quantile float64", "quantile(d, 0.9)", lambda d: np.quantile(d, 0.9), 1),
    ("partition float32", "partition(f, 1000)", lambda f: np.partition(f, 1000), 1),
    ("partition float32, middle", "partition(f, 2000000)", lambda f: np.partition(f, 2000000), 1),
    ("partition float64", "partition(d, 1000000)", lambda d: np.partition(d, 1000000), 1),
    ("partition int32", "partition(i, 1000)", lambda i: np.partition(i, 1000), 1),
    ("x[x > 0.5]", "f[f > 0.5]", lambda f: f[f > np.float32(0.5)], 1, "f[f > np.float32(0.5)]"),
    ("x[x > y]", "f[f > g]", lambda f, g: f[f > g], 1, "f[f > g]"),
    ("nonzero(x > 0.5)", "nonzero(f > 0.5)[0]", lambda f: np.nonzero(f > np.float32(0.5))[0], 1, "np.nonzero(f > np.float32(0.5))[0]"),
    ("bincount of k // 3", "bincount(k // 3, length=334)", lambda k: np.bincount(k // 3, minlength=334), 1, "np.bincount(k // 3, None, 334)"),
    ("x[k * 3]", "f[k * 3]", lambda f, k: f[k * 3], 1, "f[k * 3]"),
    ("argpartition float32", "argpartition(f, 1000)", lambda f: np.argpartition(f, 1000), 1),
]
EXACT = "fi"


def least(functions):
    """The least time of each, called in turn."""
    best, clock = [float("inf")] * len(functions), time.perf_counter if options.clock == "wall" else time.process_time
    for _ in range(options.rounds):
        for k, f in enumerate(functions):
            start = clock()
            f()
            best[k] = min(best[k], clock() - start)
    return best


def compiled(text, names):
    space = {"np": np}
    exec(f"def loop({', '.join(names)}):\n    return {text}", space)
    return numba.njit(space["loop"])


def row(name, text, numpy, wanted, loop=None):
    names = list(numpy.__code__.co_varnames)
    arrays = [data[k] for k in names]
    call = Repeated(kiln, text, dict(zip(names, arrays)))
    expected = np.asarray(numpy(*arrays))
    got = call(True).view(expected.dtype)
    is_right = np.allclose(got, expected, rtol=1e-4, atol=1e-1) if expected.dtype.kind == "f" and ("cumsum" in text or "bincount" in text) else np.array_equal(np.sort(got) if "partition" in text else got, np.sort(expected.ravel()) if "partition" in text else expected.ravel())
    if "NumPy unstable" in name:
        is_right = np.array_equal(arrays[0][got], np.sort(arrays[0]))
    functions = [call, lambda: numpy(*arrays)]
    if numba and loop:
        peer = compiled(loop, names)
        peer(*arrays)
        functions.append(lambda: peer(*arrays))
    best = least(functions)
    peers = best[1:]
    ratio = min(peers) / best[0]
    print(f"| {name} | {best[0] * 1e3:.2f} | {best[1] * 1e3:.2f} | {f'{best[2] * 1e3:.2f}' if len(best) > 2 else '–'} | {ratio:.2f} | {wanted} | "
          f"{'' if is_right else 'wrong '}{'short' if ratio < wanted else ''} |", flush=True)
    call.free()


print("| row | kiln ms | NumPy ms | Numba ms | best peer / kiln | wanted | |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |")
for entry in ROWS:
    if options.rows in entry[0]:
        row(*entry)
