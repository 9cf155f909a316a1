#!/usr/bin/env python3
"""Expressions over any axis on the host beside NumPy and Numba, called in turn: bench/host_anyaxis.py LIBRARY [--threads N] [--rows 0,min] > table.md

The rows are those of issue 30: everyday programs over axes that are not the contiguous one, short rows, masks and mixed dtypes. Every form has its output
given where it can have one. A figure is the least of many rounds: of the process's CPU time (one thread; a busy machine matters less), or by the clock.
The ratio is the better one of NumPy and Numba over kiln; Numba's loops are what one would write, and stand where somebody would write them. Every result is
compared with NumPy's."""
import argparse
import ctypes
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rows", default="", help="numbers, or parts of their texts")
parser.add_argument("--seconds", type=float, default=1.0, help="for each row")
parser.add_argument("--plain", action="store_true", help="without Numba")
options = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "KILN_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(options.threads)
os.environ.update(KILN_TARGET="host", KILN_FORMS="best")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numpy as np  # noqa: E402

from host_kernels import Argument, Arrays  # noqa: E402

try:
    if options.plain:
        raise ImportError
    from numba import njit, prange
    numba = njit(parallel=options.threads > 1, fastmath=False, error_model="numpy")
except ImportError:
    numba, prange = None, range

FEWEST_ROUNDS = 5
clock = time.process_time if options.threads == 1 else time.perf_counter
kiln = Arrays(options.library)
kiln.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
rng = np.random.default_rng(5)


def laid(a):
    """As kiln's own arrays lie: from a line of the cache on. Axes in the same order."""
    memory = np.zeros(a.nbytes + 64, "u1")
    start = -memory.ctypes.data % 64
    is_dense = sum((n - 1) * s for n, s in zip(a.shape, a.strides)) + a.itemsize == a.nbytes
    out = np.ndarray(a.shape, a.dtype, memory[start:start + a.nbytes], strides=a.strides if is_dense else None)
    out[...] = a
    return out


def normal(*shape, dtype="f4"):
    return laid(rng.standard_normal(shape).astype(dtype))


def whole(*shape, dtype="i4"):
    return laid(rng.integers(0, 100, shape).astype(dtype))


def mask(*shape):
    return laid(rng.random(shape) < 0.5)


class Call:
    """An expression over arrays of NumPy, into one that is given."""

    def __init__(self, text, names, arrays, out):
        self.kernel, self.keep = ctypes.c_void_p(), (arrays, out)
        kiln.check(kiln.c.kiln_expression_create(ctypes.byref(self.kernel), ", ".join(names).encode(), text.encode(), None), text)
        handles = [kiln.wrap(a, a.dtype.name) for a in arrays]
        self.arguments = (Argument * len(arrays))(*[Argument(1, 0, h.value) for h in handles])
        self.outs = (ctypes.c_void_p * 1)(kiln.wrap(out, out.dtype.name).value)

    def __call__(self):
        kiln.check(kiln.c.kiln_kernel_call(self.kernel, self.outs, 1, self.arguments, len(self.arguments), None), "call")


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    e /= e.sum(axis=axis, keepdims=True)
    return e


class Rows:
    """(text of kiln, shape in words, inputs by name, NumPy's function, Numba's or None)"""

    def __init__(self):
        self.all = []

    def add(self, text, inputs, reference, loops=None):
        self.all.append((text, inputs, reference, loops))


SOFTMAX = "e = exp(x - max(x, axis={0}, keepdims=True)); e / sum(e, axis={0}, keepdims=True)"
rows = Rows()
add = rows.add


def centre_loops(x, out):
    n, m = x.shape
    total = np.zeros(m, x.dtype)
    for i in range(n):
        for j in range(m):
            total[j] += x[i, j]
    for i in prange(n):
        for j in range(m):
            out[i, j] = x[i, j] - total[j] / n


def standardise_loops(x, out):
    n, m = x.shape
    total, square = np.zeros(m, x.dtype), np.zeros(m, x.dtype)
    for i in range(n):
        for j in range(m):
            total[j] += x[i, j]
    for j in range(m):
        total[j] /= n
    for i in range(n):
        for j in range(m):
            square[j] += (x[i, j] - total[j]) ** 2
    for j in range(m):
        square[j] = np.sqrt(square[j] / n)
    for i in prange(n):
        for j in range(m):
            out[i, j] = (x[i, j] - total[j]) / square[j]


def row_min(x, out):
    for i in prange(x.shape[0]):
        least = x[i, 0]
        for j in range(1, x.shape[1]):
            v = x[i, j]
            least = v if v < least or v != v else least
        out[i] = least


def row_sum(x, out):
    for i in prange(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        out[i] = total


def row_centre(x, out):
    for i in prange(x.shape[0]):
        total = np.float32(0)
        for j in range(x.shape[1]):
            total += x[i, j]
        for j in range(x.shape[1]):
            out[i, j] = x[i, j] - total


def grey(x, w, out):
    for i in prange(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j, 0] * w[0] + x[i, j, 1] * w[1] + x[i, j, 2] * w[2]


x4 = normal(4096, 4096)
image, channels = normal(16, 112, 112, 32), normal(32, 64, 56, 56)
add("x - mean(x, axis=0)", {"x": x4}, lambda x: x - x.mean(axis=0), centre_loops)
add("x.T - mean(x.T, axis=-1, keepdims=True)", {"x": x4}, lambda x: x.T - x.T.mean(axis=-1, keepdims=True))
add("x - max(x, axis=1, keepdims=True)", {"x": image}, lambda x: x - x.max(axis=1, keepdims=True))
add("where(m, x, mean(x, axis=0))", {"m": mask(4096, 4096), "x": x4}, lambda m, x: np.where(m, x, x.mean(axis=0)))
add("x - max(x, axis=0)", {"x": x4}, lambda x: x - x.max(axis=0))
for axes in ("(0, 1, 2)", "(1, 2)", "3"):
    add(f"x - mean(x, axis={axes}, keepdims=True)", {"x": image}, lambda x, a=eval(axes): x - x.mean(axis=a, keepdims=True))
add("(x - mean(x, axis=0)) / std(x, axis=0)", {"x": normal(4000, 2000)}, lambda x: (x - x.mean(axis=0)) / x.std(axis=0), standardise_loops)
add(SOFTMAX.format(1), {"x": channels}, lambda x: softmax(x, 1))
add(SOFTMAX.format(0), {"x": x4}, lambda x: softmax(x, 0))
add("x / sqrt(sum(x * x, axis=1, keepdims=True))", {"x": channels}, lambda x: x / np.sqrt((x * x).sum(axis=1, keepdims=True)))
add("(x - mean(x, axis=(0, 2, 3), keepdims=True)) / sqrt(var(x, axis=(0, 2, 3), keepdims=True) + 0.001)", {"x": channels},
    lambda x: (x - x.mean(axis=(0, 2, 3), keepdims=True)) / np.sqrt(x.var(axis=(0, 2, 3), keepdims=True) + np.float32(0.001)))
add("x - mean(x, axis=2, keepdims=True)", {"x": normal(1080, 1920, 3)}, lambda x: x - x.mean(axis=2, keepdims=True))
short = normal(50000, 30)
add("min(x, axis=1)", {"x": short}, lambda x: x.min(axis=1), row_min)
add("sum(x, axis=1)", {"x": short}, lambda x: x.sum(axis=1), row_sum)
add("x - sum(x, axis=1, keepdims=True)", {"x": short}, lambda x: x - x.sum(axis=1, keepdims=True), row_centre)
narrow = normal(262144, 8)
add("min(x, axis=1)", {"x": narrow}, lambda x: x.min(axis=1), row_min)
add("sum(x, axis=1)", {"x": narrow}, lambda x: x.sum(axis=1), row_sum)
add("x - sum(x, axis=1, keepdims=True)", {"x": narrow}, lambda x: x - x.sum(axis=1, keepdims=True), row_centre)
add("min(x, axis=1)", {"x": normal(500000, 3)}, lambda x: x.min(axis=1), row_min)
add("sum(x, axis=1)", {"x": normal(20000, 100)}, lambda x: x.sum(axis=1), row_sum)
add("max(x, axis=1)", {"x": normal(20000, 100)}, lambda x: x.max(axis=1))
add("x - std(x)", {"x": normal(1 << 22)}, lambda x: x - x.std())
add("x - mean(x)", {"x": normal(1 << 22)}, lambda x: x - x.mean())
add("sum(a[:, :, None] * b[None], axis=1)", {"a": normal(256, 256), "b": normal(256, 256)}, lambda a, b: (a[:, :, None] * b[None]).sum(axis=1))
add("sum(x * w, axis=-1)", {"x": whole(2160, 3840, 3, dtype="u1"), "w": normal(3)}, lambda x, w: (x * w).sum(axis=-1), grey)
add("argmin(sum((x - c) ** 2, axis=-1), axis=-1)", {"x": normal(20000, 1, 8), "c": normal(1, 16, 8)},
    lambda x, c: ((x - c) ** 2).sum(axis=-1).argmin(axis=-1))
size = 1 << 22
half = normal(size, dtype="f2")
add("x + y", {"x": half, "y": normal(size, dtype="f2")}, lambda x, y: x + y)
add("x * 2", {"x": half}, lambda x: x * np.float16(2))
add("x - mean(x)", {"x": half}, lambda x: x - x.mean())
add("x * tanh(where(x + b > b, x, b))", {"x": half, "b": mask(size)}, lambda x, b: x * np.tanh(np.where(x + b > b, x, b)))
single = normal(size)
add("max(b * x)", {"b": mask(size), "x": single}, lambda b, x: (b * x).max())
add("b * exp(x)", {"b": mask(size), "x": single}, lambda b, x: b * np.exp(x))
add("x / (b + 1.5)", {"b": mask(size), "x": single}, lambda b, x: x / (b + 1.5))
add("maximum(x, i)", {"x": single, "i": whole(size)}, lambda x, i: np.maximum(x, i))
add("where(h > 1, h, -h)", {"h": half}, lambda h: np.where(h > 1, h, -h))
add("x + l", {"x": single, "l": whole(size, dtype="i8")}, lambda x, l: x + l)
add("x * u[:, :, 1]", {"x": normal(1080, 1920), "u": whole(1080, 1920, 3, dtype="u1")}, lambda x, u: x * u[:, :, 1])
add("transpose(x, (2, 0, 1)) + 0", {"x": normal(1080, 1920, 3)}, lambda x: np.transpose(x, (2, 0, 1)) + np.float32(0))


def time_of(functions):
    best, start = [float("inf")] * len(functions), time.perf_counter()
    rounds = 0
    while rounds < FEWEST_ROUNDS or time.perf_counter() - start < options.seconds:
        for k, function in enumerate(functions):
            begin = clock()
            function()
            best[k] = min(best[k], clock() - begin)
        rounds += 1
    return best


def row(number, text, inputs, reference, loops):
    arrays = list(inputs.values())
    with np.errstate(all="ignore"):
        wanted = reference(*arrays)
    out = laid(wanted)
    out[...] = 0
    call = Call(text, list(inputs), arrays, out)
    call()
    if out.dtype.kind in "fc":
        scale = max(float(np.abs(np.asarray(wanted, "f8")).max()), 1)
        assert np.allclose(out, wanted, rtol=2e-2 if out.dtype == "f2" else 1e-4, atol=scale * (2e-2 if out.dtype == "f2" else 1e-4)), text
    else:
        assert np.mean(out == wanted) > 0.999, text
    functions = [call, lambda: reference(*arrays)]
    if numba and loops:
        compiled, other = numba(loops), np.empty_like(out)
        compiled(*arrays, other)
        functions.append(lambda: compiled(*arrays, other))
    times = time_of(functions)
    words = ", ".join(f"{n} {a.dtype.name}{list(a.shape)}" for n, a in inputs.items())
    loop = f"{times[2] * 1e3:.3f}" if len(times) > 2 else ""
    print(f"| {number} | `{text}` | {words} | {times[0] * 1e3:.3f} | {times[1] * 1e3:.3f} | {loop} | {min(times[1:]) / times[0]:.2f} |", flush=True)


wanted = [w for w in options.rows.split(",") if w]
print("| | expression | inputs | kiln ms | NumPy ms | Numba ms | best peer / kiln |\n| ---: | --- | --- | ---: | ---: | ---: | ---: |")
for number, (text, inputs, reference, loops) in enumerate(rows.all):
    if not wanted or str(number) in wanted or any(not w.isdigit() and w in text for w in wanted):
        row(number, text, inputs, reference, loops)
