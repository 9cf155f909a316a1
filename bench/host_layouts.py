#!/usr/bin/env python3
"""The rows L of `kiln bench` on the host beside NumPy and Numba, called in turn: bench/host_layouts.py LIBRARY [--threads N] [--rows L3,narrow] > table.md

Each round calls kiln, NumPy (with out=) and every loop of Numba once, in this order, and a figure is a median over rounds; a ratio is the median of a
round's two times, so that what else the machine does meets both. One thread: the process's CPU time. More: the clock, with a pause before each call, in
which the threads of the one before go to sleep. Loops of Numba are what one would write: along the result, and, where that is another way, along what is
read or with the narrow axis unrolled; the best counts. Every result is compared with NumPy's. Rows "narrow4:3:planes" and "narrow4:3:pixels" are
copies of 3 channels of 4 bytes to planes and back."""
import argparse
import ctypes
import os
import pathlib
import statistics
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--rows", default="L", help="names, or how they begin")
parser.add_argument("--megabytes", type=float, default=128, help="of the largest array of a row")
parser.add_argument("--offset", type=int, default=0, help="bytes from a line of the cache to where arrays begin")
parser.add_argument("--odd", action="store_true", help="an odd number of pixels, so that planes begin anywhere")
parser.add_argument("--rounds", type=int, default=15)
parser.add_argument("--loops", action="store_true", help="a column for each of Numba's loops, to the error stream")
options = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "KILN_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(options.threads)
os.environ.update(KILN_TARGET="host", KILN_FORMS="best")
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numba  # noqa: E402
import numpy as np  # noqa: E402

from host_kernels import Argument, Library  # noqa: E402

PAUSE = 0.004  # seconds; kiln's threads watch for 2 ms
NARROW = (2, 3, 4, 5, 6, 7, 8, 12, 16)
clock = time.process_time if options.threads == 1 else time.perf_counter
library = Library(options.library)


def zeros(shape, dtype):
    """As kiln's own arrays lie: from a line of the cache on, or --offset bytes behind one."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + 128, "u1")
    start = -memory.ctypes.data % 64 + options.offset
    return memory[start:start + size].view(dtype).reshape(shape)


class Call:
    """A kernel over arrays of NumPy; bfloat16 is uint16 there."""

    def __init__(self, ins, outs, body, inputs, outputs):
        self.kernel = ctypes.c_void_p()
        self.keep = inputs + outputs
        types = [text.split() for text in ins.split(", ") + outs.split(", ")]
        library.check(library.c.kiln_elementwise_create(ctypes.byref(self.kernel), ins.encode(), outs.encode(), body.encode(), b"row", None), body)
        handles = [library.wrap(a, t[0]) for a, t in zip(self.keep, types)]
        self.arguments = (Argument * len(inputs))(*[Argument(1, 0, h.value) for h in handles[:len(inputs)]])
        self.n_in = len(inputs)
        self.outs = (ctypes.c_void_p * len(outputs))(*[h.value for h in handles[len(inputs):]])

    def __call__(self):
        library.check(library.c.kiln_kernel_call(self.kernel, self.outs, len(self.outs), self.arguments, self.n_in, None), "call")


def random(dtype, *shape):
    generator = np.random.default_rng(len(shape))
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    if dtype.kind == "u" or dtype.kind == "i":
        result = zeros(shape, dtype)
        result[...] = np.frombuffer(generator.bytes(size), dtype).reshape(shape)
        return result
    if dtype.kind == "c":
        return random(f"f{dtype.itemsize // 2}", *shape, 2).view(dtype)[..., 0]
    result = zeros(shape, dtype)
    result[...] = generator.random(shape, "f8" if dtype == "f8" else "f4") * 2 + 0.5
    return result


def loops(arguments, *texts, **names):
    """Functions of Numba, a parallel one for each text; {p} is a parallel range."""
    result = []
    for text in texts:
        space = {"np": np, "prange": numba.prange if options.threads > 1 else range, "half": np.float32(0.5), **names}
        exec(f"def row({arguments}):\n" + "\n".join("    " + line for line in text.strip("\n").split("\n")), space)
        result.append(numba.njit(parallel=options.threads > 1)(space["row"]))
    return result


# A row is a function of the bytes of its largest array; it gives kiln's call, NumPy's function, Numba's functions, its outputs.

def narrow_loops(channels):
    """To planes and back: x[i, c] -> o[c, i] or x[c, i] -> o[i, c]; K are the channels, a constant."""
    unrolled = "for i in prange(x.shape[{0}]):\n" + "".join(f"    o[{{1}}] = x[{{2}}]\n".replace("{1}", "{" + f"1[{c}]" + "}").replace("{2}", "{" + f"2[{c}]" + "}")
                                                           for c in range(channels))
    pixel, plane = [f"i, {c}" for c in range(channels)], [f"{c}, i" for c in range(channels)]
    planes = ["for i in prange(o.shape[1]):\n    for c in range(K):\n        o[c, i] = x[i, c]", unrolled.format(0, plane, pixel),
              "B = 4096\nfor b in prange((o.shape[1] + B - 1) // B):\n    for c in range(K):\n        for i in range(b * B, min(b * B + B, o.shape[1])):\n"
              "            o[c, i] = x[i, c]"]
    pixels = ["for i in prange(o.shape[0]):\n    for c in range(K):\n        o[i, c] = x[c, i]", unrolled.format(1, pixel, plane),
              "B = 4096\nfor b in prange((o.shape[0] + B - 1) // B):\n    for c in range(K):\n        for i in range(b * B, min(b * B + B, o.shape[0])):\n"
              "            o[i, c] = x[c, i]"]
    return planes, pixels


NAMES = {1: ("uint8", "u1"), 2: ("int16", "i2"), 4: ("float32", "f4"), 8: ("float64", "f8"), 16: ("complex128", "c16")}


def narrow(item, channels, to_planes):
    def make(size):
        name, code = NAMES[item]
        n = int(size // (item * channels)) // 1024 * 1024 + options.odd
        x = random(code, n, channels) if to_planes else random(code, channels, n)
        out = zeros(x.shape[::-1], code)
        ours = Call(f"{name} x", f"{name} y", "y = x", [x.T], [out])
        text = narrow_loops(channels)[0 if to_planes else 1]
        theirs = [lambda f=f: f(x, out) for f in loops("x, o", *text, K=channels)]
        return ours, lambda: np.copyto(out, x.T), theirs, [out]
    return make


def images(size, item):
    return max(1, int(size // (3 * 720 * 1280 * item)))


def L1(size):
    n = images(size, 4)
    x, m, s, out = random("u1", n, 3, 720, 1280), random("f4", 3), random("f4", 3), zeros((n, 720, 1280, 3), "f4")
    v = x.transpose(0, 2, 3, 1)

    def numpy():
        np.divide(v, np.float32(255), out=out)
        np.subtract(out, m, out=out)
        np.divide(out, s, out=out)
    f = loops("x, m, s, o", """
for r in prange(o.shape[0] * o.shape[1]):
    n = r // o.shape[1]
    i = r % o.shape[1]
    for j in range(o.shape[2]):
        for c in range(3):
            o[n, i, j, c] = (x[n, c, i, j] / np.float32(255) - m[c]) / s[c]""", """
for r in prange(o.shape[0] * o.shape[1]):
    n = r // o.shape[1]
    i = r % o.shape[1]
    for j in range(o.shape[2]):
        o[n, i, j, 0] = (x[n, 0, i, j] / np.float32(255) - m[0]) / s[0]
        o[n, i, j, 1] = (x[n, 1, i, j] / np.float32(255) - m[1]) / s[1]
        o[n, i, j, 2] = (x[n, 2, i, j] / np.float32(255) - m[2]) / s[2]""")
    return (Call("uint8 x, float32 m, float32 s", "float32 y", "y = (x / 255.0f - m) / s", [v, m, s], [out]),
            numpy, [lambda g=g: g(x, m, s, out) for g in f], [out])


def L2(size):
    n = images(size, 2)
    x, out = random("u1", n, 720, 1280, 3), zeros((n, 3, 720, 1280), "f2")
    v = x.transpose(0, 3, 1, 2)
    return (Call("uint8 x", "float16 y", "y = x * (1.0f / 255)", [v], [out]),
            lambda: np.multiply(v, np.float32(1 / 255), out=out, casting="same_kind"), [], [out])


def L4(size):
    x = random("c8", int(size // 8))
    out = zeros((2, x.size), "f4")
    f = loops("x, o", "for i in prange(x.size):\n    o[0, i] = x[i].real\n    o[1, i] = x[i].imag")

    def numpy():
        np.copyto(out[0], x.real)
        np.copyto(out[1], x.imag)
    return Call("complex64 x", "float32 y, float32 z", "y = real(x); z = imag(x)", [x], [out[0], out[1]]), numpy, [lambda g=g: g(x, out) for g in f], [out]


def L4b(size):
    x, y = random("f4", int(size // 8)), random("f4", int(size // 8))
    out = zeros(x.size, "c8")
    f = loops("x, y, o", "for i in prange(x.size):\n    o[i] = complex(x[i], y[i])",
              "o = o.view(np.float32)\nfor i in prange(x.size):\n    o[2 * i] = x[i]\n    o[2 * i + 1] = y[i]")

    def numpy():
        np.copyto(out.real, x)
        np.copyto(out.imag, y)
    return Call("float32 x, float32 y", "complex64 z", "z = complex64(x, y)", [x, y], [out]), numpy, [lambda g=g: g(x, y, out) for g in f], [out]


def L5(size):
    n = max(1, int(size // (8192 * 16 * 128 * 2)))

    def half(*shape):
        return (random("f4", *shape).view("u4") >> 16).astype("u2")
    x, c, s, out = half(n, 8192, 16, 128), half(8192, 1, 64), half(8192, 1, 64), zeros((n, 8192, 16, 128), "u2")

    @numba.njit(inline="always")
    def up(v):
        return np.uint32(np.uint32(v) << np.uint32(16)).view(np.float32)

    @numba.njit(inline="always")
    def down(v):
        u = np.float32(v).view(np.uint32)
        return np.uint16((u + np.uint32(0x7fff) + ((u >> np.uint32(16)) & np.uint32(1))) >> np.uint32(16))
    f = loops("x, c, s, o", """
for r in prange(x.shape[0] * x.shape[1]):
    n = r // x.shape[1]
    t = r % x.shape[1]
    for h in range(16):
        for k in range(64):
            a = up(x[n, t, h, 2 * k])
            b = up(x[n, t, h, 2 * k + 1])
            p = up(c[t, 0, k])
            q = up(s[t, 0, k])
            o[n, t, h, 2 * k] = down(a * p - b * q)
            o[n, t, h, 2 * k + 1] = down(a * q + b * p)""", up=up, down=down)
    ours = Call("bfloat16 x, bfloat16 y, bfloat16 c, bfloat16 s", "bfloat16 u, bfloat16 v",
                "float a = x, b = y, p = c, q = s; u = (bfloat16)(a * p - b * q); v = (bfloat16)(a * q + b * p)",
                [x[..., ::2], x[..., 1::2], c, s], [out[..., ::2], out[..., 1::2]])
    return ours, None, [lambda g=g: g(x, c, s, out) for g in f], [out]


def L6(step):
    def make(size):
        n = int(size // 512)
        x, w, out = random("f4", step * (n - 1) + 128), random("f4", 128), zeros((n, 128), "f4")
        v = np.lib.stride_tricks.sliding_window_view(x, 128)[::step]
        f = loops("x, w, o", f"for i in prange(o.shape[0]):\n    for j in range(o.shape[1]):\n        o[i, j] = x[i * {step} + j] * w[j]")
        ours = Call("float32 x, float32 w", "float32 y", "y = x * w", [v, w], [out])
        return ours, lambda: np.multiply(v, w, out=out), [lambda g=g: g(x, w, out) for g in f], [out]
    return make


def stencil(views, factor, rank):
    def make(size):
        n = int((size / 4) ** (1 / rank)) // 16 * 16
        x, out = random("f4", *[n + 2] * rank), zeros([n] * rank, "f4")
        v = [x[tuple(slice(k, n + k) for k in at)] for at in views]

        def numpy():
            np.add(v[0], v[1], out=out)
            for t in v[2:]:
                np.add(out, t, out=out)
            np.multiply(out, np.float32(factor), out=out)
        index = ["i, j", "i, j, k"][rank - 2]
        body = " + ".join("x[" + ", ".join(f"{a} + {k}" for a, k in zip("ijk", at)) + "]" for at in views)
        if rank == 2:
            text = f"for i in prange(o.shape[0]):\n    for j in range(o.shape[1]):\n        o[{index}] = ({body}) * F"
        else:
            text = ("for i in prange(o.shape[0]):\n    for j in range(o.shape[1]):\n        for k in range(o.shape[2]):\n"
                    f"            o[{index}] = ({body}) * F")
        f = loops("x, o", text, F=np.float32(factor))
        names = "abcdefghk"[:len(v)]
        ours = Call(", ".join(f"float32 {c}" for c in names), "float32 z", f"z = ({' + '.join(names)}) * {factor}f", v, [out])
        return ours, numpy, [lambda g=g: g(x, out) for g in f], [out]
    return make


FIVE = ((1, 1), (0, 1), (2, 1), (1, 0), (1, 2))
NINE = FIVE + ((0, 0), (0, 2), (2, 0), (2, 2))
SEVEN = ((1, 1, 1), (0, 1, 1), (2, 1, 1), (1, 0, 1), (1, 2, 1), (1, 1, 0), (1, 1, 2))


def L8(size):
    n = int(size // (256 * 64 * 2))
    x, s, out = random("i1", n, 256, 64), random("f2", n, 256, 1), zeros((n, 256, 64), "f2")
    return Call("int8 x, float16 s", "float16 y", "y = (float)x * (float)s", [x, s], [out]), lambda: np.multiply(x, s, out=out), [], [out]


def L8b(size):
    n = images(size, 4)
    x, m, s, out = random("u1", n, 3, 720, 1280), random("f4", 3, 1, 1), random("f4", 3, 1, 1), zeros((n, 3, 720, 1280), "f4")

    def numpy():
        np.subtract(x, m, out=out)
        np.divide(out, s, out=out)
    f = loops("x, m, s, o", """
for r in prange(o.shape[0] * 3 * o.shape[2]):
    n = r // (3 * o.shape[2])
    c = r // o.shape[2] % 3
    i = r % o.shape[2]
    for j in range(o.shape[3]):
        o[n, c, i, j] = (x[n, c, i, j] - m[c, 0, 0]) / s[c, 0, 0]""", """
for r in prange(o.shape[0] * 3 * o.shape[2]):
    n = r // (3 * o.shape[2])
    c = r // o.shape[2] % 3
    i = r % o.shape[2]
    a = m[c, 0, 0]
    b = s[c, 0, 0]
    for j in range(o.shape[3]):
        o[n, c, i, j] = (np.float32(x[n, c, i, j]) - a) / b""")
    return Call("uint8 x, float32 m, float32 s", "float32 y", "y = (x - m) / s", [x, m, s], [out]), numpy, [lambda g=g: g(x, m, s, out) for g in f], [out]


def L9(size):
    n = max(1, int(size // (64 * 512 * 2)))
    x, out = random("u2", n, 64, 512), zeros((n, 512, 64), "u2")
    v = x.transpose(0, 2, 1)
    f = loops("x, o", "for n in prange(o.shape[0]):\n    for i in range(512):\n        for j in range(64):\n            o[n, i, j] = x[n, j, i]",
              "for n in prange(o.shape[0]):\n    for j in range(64):\n        for i in range(512):\n            o[n, i, j] = x[n, j, i]",
              "for n in prange(o.shape[0]):\n    for b in range(0, 512, 32):\n        for j in range(64):\n            for i in range(b, b + 32):\n"
              "                o[n, i, j] = x[n, j, i]")
    return Call("bfloat16 x", "bfloat16 y", "y = x", [v], [out]), lambda: np.copyto(out, v), [lambda g=g: g(x, out) for g in f], [out]


def L9b(size):
    n = max(1, int(size // (2048 * 16 * 64 * 2)))
    x, out = random("u2", n, 2048, 16, 64), zeros((n, 16, 2048, 64), "u2")
    v = x.transpose(0, 2, 1, 3)
    f = loops("x, o", """
for r in prange(o.shape[0] * 16):
    n = r // 16
    h = r % 16
    for t in range(2048):
        for k in range(64):
            o[n, h, t, k] = x[n, t, h, k]""", """
for r in prange(o.shape[0] * 2048):
    n = r // 2048
    t = r % 2048
    for h in range(16):
        for k in range(64):
            o[n, h, t, k] = x[n, t, h, k]""")
    return Call("bfloat16 x", "bfloat16 y", "y = x", [v], [out]), lambda: np.copyto(out, v), [lambda g=g: g(x, out) for g in f], [out]


def L10(size):
    n = int((size / 4) ** 0.5) // 16 * 16
    x, out, t = random("f4", n, n), zeros((n, n), "f4"), zeros((n, n), "f4")
    f = loops("x, o", "for i in prange(o.shape[0]):\n    for j in range(o.shape[1]):\n        o[i, j] = (x[i, j] + x[j, i]) * half", """
B = 64
for b in prange((o.shape[0] + B - 1) // B):
    for d in range((o.shape[1] + B - 1) // B):
        for i in range(b * B, min(b * B + B, o.shape[0])):
            for j in range(d * B, min(d * B + B, o.shape[1])):
                o[i, j] = (x[i, j] + x[j, i]) * half""")

    def numpy():
        np.add(x, x.T, out=out)
        np.multiply(out, np.float32(0.5), out=out)
    return Call("float32 x, float32 y", "float32 z", "z = (x + y) * 0.5f", [x, x.T], [out]), numpy, [lambda g=g: g(x, out) for g in f], [out]


ROWS = {"L1": L1, "L2": L2, "L3": narrow(4, 3, True), "L3b": narrow(4, 3, False), "L3c": narrow(4, 4, True), "L3d": narrow(4, 4, False),
        "L3e": narrow(8, 7, True), "L3eb": narrow(8, 7, False), "L3f": narrow(1, 3, True), "L3fb": narrow(1, 3, False), "L4": L4, "L4b": L4b, "L5": L5,
        "L6": L6(1), "L6b": L6(4), "L7": stencil(FIVE, 0.2, 2), "L7b": stencil(NINE, 0.125, 2), "L7c": stencil(SEVEN, 0.125, 3), "L8": L8, "L8b": L8b,
        "L9": L9, "L9b": L9b, "L10": L10}
for bytes_each in (1, 2, 4, 8, 16):
    for count in NARROW:
        for goal in ("planes", "pixels"):
            ROWS[f"narrow{bytes_each}:{count}:{goal}"] = narrow(bytes_each, count, goal == "planes")


def measure(functions):
    times = [[] for _ in functions]
    for _ in range(options.rounds):
        for k, function in enumerate(functions):
            if options.threads > 1:
                time.sleep(PAUSE)
            start = clock()
            function()
            times[k].append(clock() - start)
    return times


def show(name):
    ours, numpy, theirs, outs = ROWS[name](options.megabytes * (1 << 20))
    results = []
    for function in [*theirs, *([numpy] if numpy else []), ours]:
        for out in outs:
            out.view("u1").fill(77)
        function()
        results.append([out.copy() for out in outs])
    for result in results[:-1]:
        for wanted, got in zip(result, results[-1]):
            assert np.array_equal(wanted, got) or np.allclose(wanted, got, rtol=2e-3 if got.dtype == "f2" else 1e-5, atol=1e-6) or \
                (got.dtype == "u2" and np.abs(wanted.astype("i4") - got).max() <= 1), name
    del results
    functions = [ours] + ([numpy] if numpy else []) + theirs
    for function in functions:
        function()
    times = measure(functions)
    medians = [statistics.median(t) * 1e3 for t in times]
    ratios = [statistics.median(t / o for t, o in zip(their, times[0])) for their in times[1:]]
    spread = statistics.quantiles([min(other) / own for own, *other in zip(*times)], n=10)
    cells = [f"{medians[1]:.1f}" if numpy else "–", f"{min(medians[1 + bool(numpy):]):.1f}" if theirs else "–"]
    best = min(ratios)
    print(f"| {name} | {medians[0]:.1f} | {cells[0]} | {cells[1]} | {best:.2f} | {spread[0]:.2f} to {spread[-1]:.2f} | {'' if best >= 1 else 'short'} |", flush=True)
    if options.loops:
        print(name, [f"{m:.1f}" for m in medians], file=sys.stderr, flush=True)


print("| row | kiln ms | NumPy ms | Numba ms | best peer ÷ kiln | tenth to ninetieth | |\n| --- | ---: | ---: | ---: | ---: | --- | --- |")
wanted = options.rows.split(",")
for row in ROWS:
    if row in wanted or any(row.startswith(w) for w in wanted if not any(w == r for r in ROWS)):
        show(row)
if options.threads > 1:
    print(f"\nNumba's threads: {numba.threading_layer()}")
