"""Measures one peer: a process of its own, started by compare.py, that prints one JSON object a line.

    peers.py PEER --rows E1,E2 --scale 1 --seconds 0.25 --threads 2

Exit code 77: the peer is not installed. A row that the peer cannot do is left out; one that fails is printed with "error".
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

import peer_rows

NAMES = ("cupy", "torch", "inductor", "quack", "cutensor", "jax", "numpy", "numexpr", "numba")
ON_HOST = ("numpy", "numexpr", "numba")
MEMORY = 24 << 30  # bytes of inputs that are kept from row to row
SIZES = {"u1": 1, "i1": 1, "b1": 1, "f2": 2, "bf2": 2, "f4": 4, "f8": 8, "i8": 8, "c8": 8, "c16": 16}


class NotPossible(Exception):
    """The peer has no way to do this row."""


class RowsAlone:
    """In front of a peer from which it derives, one that has its rows, but neither sweeps nor calls."""

    def split_sum(self, x):
        raise NotPossible

    def permutation(self, x, axes):
        raise NotPossible

    def call(self, name):
        raise NotPossible


class Peer:
    """One library. Subclasses say how arrays are made, waited for, and timed."""
    sample_s = 0.004  # seconds of a sample

    def __init__(self, options):
        self.options = options
        self.cache = {}

    # -- what subclasses fill in

    def random(self, dtype, shape, seed):
        raise NotImplementedError

    def function(self, name, row):
        """A callable without arguments that computes the row once."""
        raise NotImplementedError

    def wait(self):
        """Until all queued work is done."""

    def call(self, name):
        """A callable without arguments for a row of host cost."""
        raise NotPossible

    def permutation(self, x, axes):
        raise NotPossible

    @staticmethod
    def found(runs, name):
        if name not in runs:
            raise NotPossible
        return runs[name]

    def split_sum(self, x):
        """A callable that sums x over the middle of its three axes."""
        raise NotPossible

    def define(self, row, number):
        """Defines and runs a kernel that has never been seen, and waits for its result; row: of peer_rows.NEW_MAPS."""
        raise NotPossible

    def define_fused(self, function, x, factor):
        """The same of function(names, x, factor)."""
        raise NotPossible

    def define_fold(self, number, what, axis, shape):
        """The same of a reduction."""
        raise NotPossible

    # -- arrays

    def inputs(self, arrays):
        out = []
        for slot, (dtype, shape) in enumerate(arrays):
            key = (dtype, shape, slot)
            if key not in self.cache:
                extents = peer_rows.extents(shape, self.options.scale)
                held = [x for k, x in self.cache.items()]
                if sum(size for size, _ in held) > MEMORY:
                    self.cache.clear()
                size = SIZES[dtype]
                for extent in extents:
                    size *= extent
                self.cache[key] = (size, self.random(dtype, extents, slot))
            out.append(self.cache[key][1])
        return out

    # -- time

    def seconds_of(self, run, count):
        """Seconds of a run, of count together. On GPUs subclasses use events."""
        start = time.perf_counter()
        for _ in range(count):
            run()
        self.wait()
        return (time.perf_counter() - start) / count

    def enqueue_seconds(self, run, count):
        start = time.perf_counter()
        for _ in range(count):
            run()
        seconds = (time.perf_counter() - start) / count
        self.wait()
        return seconds

    def measure(self, run, timer=None, least=1):
        timer = timer or self.seconds_of
        timer(run, 1)
        timer(run, 2)
        once = max(timer(run, 2), 1e-7)
        batch = max(least, min(500, int(self.sample_s / once)))
        end = time.perf_counter() + self.options.seconds
        samples = []
        while len(samples) < 5 or (time.perf_counter() < end and len(samples) < 200):
            samples.append(timer(run, batch) * 1e6)
            if once > 0.2 and len(samples) >= 3:
                break
        return samples

    def measure_quickly(self, run):
        """For the many rows of a sweep: two milliseconds a sample, five of them, one where a run is slow."""
        self.seconds_of(run, 1)  # compiles
        once = max(self.seconds_of(run, 1), 1e-7)
        if once > 0.02:
            return [once * 1e6]
        batch = max(1, min(200, int(self.sample_s / 2 / once)))
        return [self.seconds_of(run, batch) * 1e6 for _ in range(5)]

    # -- rows

    def run_row(self, name):
        if name.startswith(peer_rows.CELL):
            return self.measure_quickly(self.run_cell(name))
        if name.startswith("P"):
            return self.measure(self.run_permutation(name))
        if name in peer_rows.CALLS:
            return self.measure(self.call(name), self.enqueue_seconds, 100)
        if name in peer_rows.NEW_MAPS:
            return self.run_definitions(lambda number: self.define(peer_rows.NEW_MAPS[name], number))
        if name in peer_rows.NEW_FOLDS:
            return self.run_definitions(lambda number: self.define_fold(number, *peer_rows.NEW_FOLDS[name]))
        if name in peer_rows.NEW_FUSED:
            shape, function = peer_rows.NEW_FUSED[name]
            x, = self.inputs([("f4", shape)])
            return self.run_definitions(lambda number: self.define_fused(function, x, number + 1 + os.getpid() * 1e-7))
        if name in ("C4", "C4b"):
            return self.run_processes(name)
        row = peer_rows.swept(name, self.options.scale) or peer_rows.ROWS.get(name)
        if row is None:
            raise NotPossible
        run = self.function(name, row)
        if name.startswith(peer_rows.LENGTHS):
            return self.measure_quickly(run)
        if name.startswith(peer_rows.PAPER):
            return self.measure(lambda: (run(), self.wait()), self.enqueue_seconds)
        if name in peer_rows.WAITED:
            return self.measure(lambda: (run(), self.wait()), self.enqueue_seconds, 100)
        return self.measure(run)

    def run_permutation(self, name):
        shape, order = name.split(":")
        x, = self.inputs([peer_rows.PERMUTED[shape]])
        return self.permutation(x, tuple(map(int, order)))

    def run_cell(self, name):
        """All cells see the same memory; the odd ones leave some of it out."""
        shape = peer_rows.cell(name)
        size = shape[0] * shape[1] * shape[2]
        base, = self.inputs([("f4", str(1 << (size - 1).bit_length()))])
        return self.split_sum(base[:size].reshape(shape))

    def run_definitions(self, define):
        define(0)  # loads the compiler
        samples, end = [], time.perf_counter() + 3
        for number in range(1, 6):
            start = time.perf_counter()
            if len(samples) >= 2 and start > end:
                break
            define(number)
            samples.append((time.perf_counter() - start) * 1e6)
        return samples

    def run_processes(self, name):
        """The first kernel of fresh processes over a cache that an earlier process filled."""
        if not getattr(self, "has_disk_cache", False):
            raise NotPossible
        with tempfile.TemporaryDirectory() as folder:
            env = dict(os.environ, CUPY_CACHE_DIR=folder, TORCHINDUCTOR_CACHE_DIR=folder, TRITON_CACHE_DIR=folder,
                       JAX_COMPILATION_CACHE_DIR=folder, JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS="0",
                       JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES="-1")
            words = [sys.executable, __file__, self.options.peer, "--first-use", name]
            samples = [float(subprocess.run(words, env=env, capture_output=True, text=True, check=True,
                                            timeout=120).stdout.split()[-1]) for _ in range(4)]
        return samples[1:]


def array_names(library):
    """The names that programs over any axis use, of NumPy or a library with its names."""
    class Names:
        sqrt, where, argmax, argmin = map(staticmethod, (library.sqrt, library.where, library.argmax, library.argmin))

        @staticmethod
        def sum(x, axis):
            return library.sum(x, axis=axis)

        @staticmethod
        def along(what, x, axes):
            return getattr(library, what)(x, axis=axes, keepdims=True)

        @staticmethod
        def softmax(x, axis):
            e = library.exp(x - library.max(x, axis=axis, keepdims=True))
            return e / library.sum(e, axis=axis, keepdims=True)

        @staticmethod
        def float32(x):
            return x.astype("float32")

        @staticmethod
        def like(value, x):
            return value.astype(x.dtype)
    return Names


# ---- on the host ----

class NumpyPeer(Peer):
    """NumPy with out= and temporaries that are there already."""

    def __init__(self, options):
        super().__init__(options)
        import numpy
        self.np = numpy

    def dtype(self, code):
        if code == "bf2":
            raise NotPossible
        return self.np.dtype({"b1": "?"}.get(code, code))

    def random(self, dtype, shape, seed):
        np, generator = self.np, self.np.random.default_rng(seed)
        if dtype in ("u1", "i1"):
            return generator.integers(0, 256, shape, np.uint8).view(dtype)
        if dtype == "i8":
            return generator.integers(0, peer_rows.LABELS, shape)
        if dtype == "b1":
            return generator.random(shape) < 0.5
        if dtype in ("c8", "c16"):
            part = "f4" if dtype == "c8" else "f8"
            return (generator.random(shape, part) + 1j * generator.random(shape, part)).astype(dtype)
        return (generator.random(shape, "f8" if dtype == "f8" else "f4") * 4 - 2).astype(self.dtype(dtype))

    def output(self, row):
        return self.np.empty(peer_rows.extents(row.out[1], self.options.scale), self.dtype(row.out[0]))

    def function(self, name, row):
        arrays, out = self.inputs(row.arrays), self.output(row)
        if row.any_axis:
            return self.any_axis(row, arrays)
        if name in peer_rows.REORDERED:
            return self.permutation(arrays[0], peer_rows.REORDERED[name][2])
        if row.reduce:
            return self.reduction(row, *arrays, out)
        if row.program:
            return self.program(row, out, *arrays)
        if name.startswith(peer_rows.PAPER):
            return lambda: peer_rows.paper(self.np, out.size)
        body = getattr(self, name, None) or self.simple.get(name)
        if body is None:
            raise NotPossible
        # Temporaries are made once; a row that has none gets views that are free.
        temporaries = [self.np.empty_like(out) for _ in range(2)] if hasattr(self, name) else []
        return lambda: body(self.np, out, *temporaries, *arrays)

    def any_axis(self, row, arrays):
        names = array_names(self.np)
        return lambda: row.compute(names, *arrays)

    def program(self, row, out, *arrays):
        """With a temporary as large as the input."""
        t, body = self.np.empty_like(arrays[0]), getattr(self, row.program)
        return lambda: body(self.np, out, t, *arrays)

    @staticmethod
    def softmax(np, o, t, x):
        np.subtract(x, x.max(-1, keepdims=True), out=t)
        np.exp(t, out=t)
        np.divide(t, t.sum(-1, keepdims=True), out=o)

    @staticmethod
    def rmsnorm(np, o, t, x, g):
        np.multiply(x, x, out=t)
        np.divide(x, np.sqrt(t.mean(-1, keepdims=True) + np.float32(peer_rows.EPSILON)), out=t)
        np.multiply(t, g, out=o)

    @staticmethod
    def layernorm_scaled(np, o, t, x, g):
        np.subtract(x, x.mean(-1, keepdims=True), out=o)
        np.multiply(o, o, out=t)
        np.divide(o, np.sqrt(t.mean(-1, keepdims=True) + np.float32(peer_rows.EPSILON)), out=t)
        np.multiply(t, g, out=o)

    @classmethod
    def layernorm(cls, np, o, t, x, g, b):
        cls.layernorm_scaled(np, o, t, x, g)
        np.add(o, b, out=o)

    @staticmethod
    def cross_entropy(np, o, t, x, label):
        m = x.max(-1, keepdims=True)
        np.subtract(x, m, out=t)
        np.exp(t, out=t)
        np.log(t.sum(-1), out=o)
        o += m[:, 0] - x[np.arange(len(label)), label]

    def split_sum(self, x):
        out = self.np.empty((x.shape[0], x.shape[2]), "f4")
        return lambda: self.np.sum(x, axis=1, out=out)

    def reduction(self, row, x, out):
        np, axis = self.np, row.axis
        if row.reduce in ("norm", "chain"):
            t = np.empty_like(x)
            return lambda: np.sqrt(np.sum(np.multiply(x, x, out=t), axis=axis, out=out), out=out)
        function = {"sum": np.sum, "argmax": np.argmax, "var": np.var}[row.reduce]
        return lambda: function(x, axis=axis, out=out)

    simple = {
        "E1": lambda np, o, x: np.copyto(o, x),
        "E2": lambda np, o, x, y: np.add(x, y, out=o),
        "E7": lambda np, o, x, y: np.add(x, y, out=o),
        "E8": lambda np, o, x: np.multiply(x, np.float32(1 / 255), out=o),
        "E10": lambda np, o, x, y: np.multiply(x, y, out=o),
        "E11": lambda np, o, x, y: np.less(x, y, out=o),
        **{name: lambda np, o, x: np.sort(x) for name in ("X2", "X2c", "X2e")},
        "X3": lambda np, o, x: np.argsort(x, kind="stable"),
        "X7": lambda np, o, x: np.histogram(x, 256, (-2, 2)),
        "X7b": lambda np, o, x: np.bincount(x, minlength=256),
        "X8": lambda np, o, x: np.bincount(x, minlength=peer_rows.LABELS),
        "E12": lambda np, o, c, x, y: np.copyto(o, np.where(c > 0.5, x, y)),
        "B1": lambda np, o, x, y: np.add(x, y, out=o),
        "B2": lambda np, o, x, y: np.add(x, y, out=o),
        "B3": lambda np, o, x, y: np.multiply(x, y, out=o),
        "B4": lambda np, o, x, y: np.multiply(x, y, out=o),
        "S1": lambda np, o, x: np.copyto(o, x.T),
        "S2": lambda np, o, x, y: np.add(x.T, y, out=o),
        "S3": lambda np, o, x: np.multiply(x[:, ::2], np.float32(2), out=o),
        "S4": lambda np, o: np.multiply(np.arange(o.size).reshape(1000, -1).T, 2, out=o),
        "S5": lambda np, o, x: np.copyto(o, x.transpose(0, 2, 3, 1)),
        "S6": lambda np, o, x: np.copyto(o, x.transpose(2, 0, 1)),
        "S7": lambda np, o, x: np.subtract(x[1:, 1:], x[:-1, :-1], out=o),
    }

    @staticmethod
    def E3(np, o, t, _, x, y, z):
        np.multiply(x, y, out=t)
        np.add(t, z, out=o)

    E9 = E3

    @staticmethod
    def E4(np, o, t, _, x):
        np.subtract(x, np.float32(0), out=t)
        np.divide(t, np.float32(1), out=t)
        np.multiply(t, t, out=t)
        np.multiply(t, np.float32(-0.5), out=t)
        np.exp(t, out=t)
        np.divide(t, np.float32(peer_rows.SQRT_2_PI), out=o)

    @staticmethod
    def E5(np, o, t, u, r1, t1, r2, t2):
        np.multiply(r1, np.cos(t1, out=t), out=t)
        np.multiply(r2, np.cos(t2, out=u), out=u)
        np.subtract(t, u, out=o)
        np.multiply(o, o, out=o)
        np.multiply(r1, np.sin(t1, out=t), out=t)
        np.multiply(r2, np.sin(t2, out=u), out=u)
        np.subtract(t, u, out=t)
        np.multiply(t, t, out=t)
        np.add(o, t, out=o)
        np.sqrt(o, out=o)

    @staticmethod
    def E6(np, o, t, _, x):
        np.abs(x, out=t)
        np.negative(t, out=t)
        np.exp(t, out=t)
        np.log1p(t, out=t)
        np.maximum(x, np.float32(0), out=o)
        np.add(o, t, out=o)

    @staticmethod
    def F4(np, o, t, _, x):
        for step in range(5):
            source = o if step else x
            np.sin(source, out=t)
            np.multiply(t, np.float32(0.5), out=t)
            np.add(t, source, out=o)
            np.abs(o, out=o)
            np.negative(o, out=o)
            np.exp(o, out=o)

    @staticmethod
    def F5(np, o, t, _, x):
        np.multiply(x, x, out=t)
        np.multiply(t, x, out=t)
        np.multiply(t, np.float32(0.044715), out=t)
        np.add(t, x, out=t)
        np.multiply(t, np.float32(peer_rows.GELU), out=t)
        np.tanh(t, out=t)
        np.add(t, np.float32(1), out=t)
        np.multiply(t, x, out=t)
        np.multiply(t, np.float32(0.5), out=o)

    def permutation(self, x, axes):
        view = x.transpose(axes)
        out = self.np.empty(view.shape, x.dtype)
        return lambda: self.np.copyto(out, view)

    def call(self, name):
        np = self.np
        x, y, z = (np.ones(1024, "f4") for _ in range(3))
        a, row = x.reshape(32, 32), x[:32]
        runs = {"H1": lambda: np.add(x, y, out=z), "H2": lambda: x + y, "H4": lambda: x + y, "H6": lambda: x.sum(),
                "H5": lambda: np.sqrt(x * x + y * y), "H8": lambda: a + row, "H10": lambda: np.sqrt((a ** 2).sum(-1))}
        return self.found(runs, name)


CONSTANTS = {"h": 0.5, "a": 0.0, "s": 1.0, "r": peer_rows.SQRT_2_PI, "o": 0.0, "k": 1 / 255, "g": peer_rows.GELU,
             "c": 0.044715, "two": 2.0, "one": 1.0}


class NumexprPeer(RowsAlone, NumpyPeer):
    def __init__(self, options):
        super().__init__(options)
        import numexpr
        self.numexpr = numexpr
        numexpr.set_num_threads(options.threads)

    def views(self, name, arrays):
        """Rows of views: numexpr takes them as NumPy makes them."""
        x = arrays[0] if arrays else None
        return {"S1": lambda: ("x", [x.T]), "S2": lambda: ("x+y", [x.T, arrays[1]]), "S3": lambda: ("x*two", [x[:, ::2]]),
                "S5": lambda: ("x", [x.transpose(0, 2, 3, 1)]), "S6": lambda: ("x", [x.transpose(2, 0, 1)]),
                "S7": lambda: ("x-y", [x[1:, 1:], x[:-1, :-1]])}.get(name, lambda: (None, arrays))()

    def function(self, name, row):
        arrays, out = self.inputs(row.arrays), self.output(row)
        if row.program:
            return self.program(row, out, *arrays)
        text, arrays = self.views(name, arrays)
        text = text or row.numexpr
        if name == "F4":
            return self.chain(arrays[0], out)
        if text is None:
            raise NotPossible
        names = dict(zip("xyzw", arrays), **{k: self.np.float32(v) for k, v in CONSTANTS.items()})
        return lambda: self.numexpr.evaluate(text, names, {}, out=out, casting="unsafe")

    def program(self, row, out, x, *others):
        """It sums along an axis, which ends a text; maxima and means it leaves to NumPy."""
        np, evaluate, e = self.np, self.numexpr.evaluate, self.np.float32(peer_rows.EPSILON)

        def along(text, **names):
            return evaluate(f"sum({text}, axis=1)", names, {})[:, None]

        def softmax():
            m = x.max(-1, keepdims=True)
            evaluate("exp(x-m)", {"x": x, "m": m}, {}, out=out)
            evaluate("o/s", {"o": out, "s": along("o", o=out)}, {}, out=out)

        def layernorm():
            n = np.float32(x.shape[1])
            m = along("x", x=x) / n
            s = along("(x-m)*(x-m)", x=x, m=m)
            names = {"x": x, "m": m, "s": s, "n": n, "e": e, "g": others[0], "b": others[1]}
            evaluate("(x-m)/sqrt(s/n+e)*g+b", names, {}, out=out)

        return self.found({"softmax": softmax, "layernorm": layernorm}, row.program)

    def chain(self, x, out):
        """Ten evaluations: as one text the chain would double with every step."""
        half = self.np.float32(0.5)

        def run():
            source = x
            for _ in range(5):
                self.numexpr.evaluate("exp(-abs(sin(x)*h+x))", {"x": source, "h": half}, {}, out=out)
                source = out
        return run


LOOPS = {1: "    for i in prange(out.shape[0]):\n        out[i] = {}\n",
         2: "    for i in prange(out.shape[0]):\n        for j in range(out.shape[1]):\n            out[i, j] = {}\n",
         3: "    for i in prange(out.shape[0]):\n        for j in range(out.shape[1]):\n"
            "            for k in range(out.shape[2]):\n                out[i, j, k] = {}\n"}


# Whole rows, a thread each.
NUMBA_PROGRAMS = {
    "softmax": """
def row(out, x):
    for i in prange(x.shape[0]):
        most, total = x[i, 0], np.float32(0)
        for j in range(x.shape[1]):
            most = max(most, x[i, j])
        for j in range(x.shape[1]):
            e = np.exp(x[i, j] - most)
            out[i, j] = e
            total += e
        for j in range(x.shape[1]):
            out[i, j] /= total
""",
    "layernorm": """
def row(out, x, g, b):
    n = np.float32(x.shape[1])
    for i in prange(x.shape[0]):
        mean, squares = np.float32(0), np.float32(0)
        for j in range(x.shape[1]):
            mean += x[i, j]
        mean /= n
        for j in range(x.shape[1]):
            squares += (x[i, j] - mean) * (x[i, j] - mean)
        root = np.sqrt(squares / n + epsilon)
        for j in range(x.shape[1]):
            out[i, j] = (x[i, j] - mean) / root * g[j] + b[j]
"""}


class NumbaPeer(RowsAlone, NumpyPeer):
    """A parallel loop for each row, compiled once."""

    def __init__(self, options):
        super().__init__(options)
        import numba
        self.numba = numba
        numba.set_num_threads(options.threads)

    def compile(self, text, ndim, arguments):
        np = self.np
        space = {name: np.float32(value) for name, value in CONSTANTS.items()}
        space.update(np=np, prange=self.numba.prange)
        half = np.float32(0.5)

        @self.numba.njit
        def chain(x):
            for _ in range(5):
                x = np.sin(x) * half + x
                x = np.exp(-abs(x))
            return x
        space["chain"] = chain
        exec(f"def row({arguments}):\n" + LOOPS[ndim].format(text), space)
        return self.numba.njit(parallel=True)(space["row"])

    def program(self, row, out, *arrays):
        space = {"np": self.np, "prange": self.numba.prange, "epsilon": self.np.float32(peer_rows.EPSILON)}
        exec(self.found(NUMBA_PROGRAMS, row.program), space)
        compiled = self.numba.njit(parallel=True)(space["row"])
        return lambda: compiled(out, *arrays)

    def function(self, name, row):
        if row.program:
            return self.program(row, self.output(row), *self.inputs(row.arrays))
        if row.numba is None:
            raise NotPossible
        arrays, out = self.inputs(row.arrays), self.output(row)
        names = ", ".join(["out", *"xyzw"[:len(arrays)]])
        compiled = self.compile(row.numba, out.ndim, names)
        return lambda: compiled(out, *arrays)


# ---- on a GPU ----

class CupyPeer(Peer):
    """One ElementwiseKernel where the row is more than one operation, ufuncs otherwise."""
    has_disk_cache = True

    def __init__(self, options):
        super().__init__(options)
        import cupy
        self.cp = cupy
        cupy.cuda.Device(0).use()
        cupy.arange(1)
        self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()

    sin, cos, exp, sqrt, tanh = (lambda self, x, n=n: getattr(self.cp, n)(x) for n in ("sin", "cos", "exp", "sqrt", "tanh"))

    def sum(self, x, axis):
        return self.cp.sum(x, axis=axis)

    def argmax(self, x, axis):
        return self.cp.argmax(x, axis=axis)

    def sort(self, x):
        return self.cp.sort(x)

    def argsort(self, x):
        return self.cp.argsort(x)

    def bincount(self, x, minlength):
        return self.cp.bincount(x, minlength=minlength)

    def histogram(self, x, bins, range):
        return self.cp.histogram(x, bins, range)

    def var(self, x, axis):
        return self.cp.var(x, axis=axis)

    abs = lambda self, x: self.cp.abs(x)

    def softmax(self, x):
        e = self.cp.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def normed(self, x):
        d = x - x.mean(-1, keepdims=True)
        return d / self.cp.sqrt((d * d).mean(-1, keepdims=True) + peer_rows.EPSILON)

    def rmsnorm(self, x, g):
        return x / self.cp.sqrt((x * x).mean(-1, keepdims=True) + peer_rows.EPSILON) * g

    def layernorm_scaled(self, x, g):
        return self.normed(x) * g

    def layernorm(self, x, g, b):
        return self.normed(x) * g + b

    def cross_entropy(self, x, t):
        m = x.max(-1)
        return m + self.cp.log(self.cp.exp(x - m[:, None]).sum(-1)) - x[self.cp.arange(len(t)), t]

    def copy(self, x):
        return self.cp.ascontiguousarray(x) if not x.flags.c_contiguous else x.copy()

    float16 = lambda self, x: x.astype("f2")
    complex = lambda self, x, y: x + 1j * y
    stacked = lambda self, x, y: self.cp.stack((x, y), -1)
    windows = lambda self, x, size, step: self.cp.lib.stride_tricks.sliding_window_view(x, size)[::step]

    def permute(self, x, axes):
        return x.transpose(axes)

    def arange(self, n):
        return self.cp.arange(n)

    def where(self, c, x, y):
        return self.cp.where(c, x, y)

    def wait(self):
        self.cp.cuda.Stream.null.synchronize()

    def seconds_of(self, run, count):
        self.begin.record()
        for _ in range(count):
            run()
        self.end.record()
        self.end.synchronize()
        return self.cp.cuda.get_elapsed_time(self.begin, self.end) / 1e3 / count

    def random(self, dtype, shape, seed):
        cp = self.cp
        if dtype == "bf2":
            raise NotPossible
        if dtype in ("u1", "i1"):
            return cp.random.randint(0, 256, shape, "u1").view(dtype)
        if dtype == "i8":
            return cp.random.randint(0, peer_rows.LABELS, shape, "i8")
        if dtype == "b1":
            return cp.random.random(shape, "f4") < 0.5
        if dtype in ("c8", "c16"):
            part = "f4" if dtype == "c8" else "f8"
            return cp.random.random((*shape[:-1], 2 * shape[-1]), part).view(dtype)
        x = cp.random.random(shape, "f8" if dtype == "f8" else "f4")
        x *= 4
        x -= 2
        return x.astype(dtype, copy=False)

    def function(self, name, row):
        if any(dtype == "bf2" for dtype, _ in row.arrays):
            raise NotPossible
        arrays = self.inputs(row.arrays)
        if row.cuda:
            kernel = self.cp.ElementwiseKernel(*row.cuda, "row_" + name)
            out = self.cp.empty(arrays[0].shape, row.out[0])
            return lambda: kernel(*arrays, *row.scalars, out)
        if row.reduce == "norm":
            kernel, x = self.fold_kernel("norm"), arrays[0]
            return lambda: kernel(x, axis=row.axis)
        if name == "S2":
            out = self.cp.empty(arrays[0].shape, "f4")
            return lambda: self.cp.add(arrays[0].T, arrays[1], out=out)
        if row.compute is peer_rows.paper:
            n = 1000 * peer_rows.extents(row.out[1], self.options.scale)[0]
            return lambda: row.compute(self, n)
        names = array_names(self.cp) if row.any_axis else self
        return lambda: row.compute(names, *arrays, *row.scalars)

    def split_sum(self, x):
        return lambda: x.sum(axis=1)

    def permutation(self, x, axes):
        view = x.transpose(axes)
        out = self.cp.empty(view.shape, x.dtype)
        return lambda: self.cp.copyto(out, view)

    def call(self, name):
        cp = self.cp
        x, y, z = (cp.ones(1024, "f4") for _ in range(3))
        a, row = x.reshape(32, 32), x[:32]
        kernel, norm = cp.ElementwiseKernel("T x, T y", "T z", "z = x + y", "call"), self.fold_kernel("norm")
        fused = cp.fuse(lambda x, y: cp.sqrt(x * x + y * y))
        return {"H5": lambda: fused(x, y), "H10": lambda: cp.sqrt((a ** 2).sum(-1)), "H1": lambda: kernel(x, y, z), "H2": lambda: kernel(x, y), "H4": lambda: x + y, "H6": lambda: x.sum(),
                "H7": lambda: norm(a, axis=1), "H8": lambda: a + row}[name]

    def fold_kernel(self, what, factor=""):
        out, texts = peer_rows.FOLD_TEXTS[what][0], list(peer_rows.FOLD_TEXTS[what][1:])
        texts[0] = texts[0].format(x="x" + factor)
        return self.cp.ReductionKernel("T x", out, *texts, "fold_" + what, **peer_rows.STRUCTS.get(what, {}))

    def define_fold(self, number, what, axis, shape):
        x = self.inputs([("f4", shape)])[0]
        self.wait()
        self.fold_kernel(what, f" * (T){number + 1}.{os.getpid()}")(x, axis=axis)
        self.wait()

    def define_fused(self, function, x, factor):
        """What cp.fuse refuses (two reductions) CuPy has no new kernel for."""
        try:
            self.cp.fuse(lambda x: function(self, x, factor))(x)
        except (AttributeError, NotImplementedError, TypeError, ValueError) as error:
            raise NotPossible from error
        self.wait()

    def first_fold(self):
        x = self.cp.ones((1024, 1024), "f4")
        self.wait()
        start = time.perf_counter()
        self.fold_kernel("norm")(x, axis=1)
        return time.perf_counter() - start

    def define(self, row, number):
        inputs, views, _, (taken, given, body) = row
        operands = views(*self.inputs(inputs))
        self.wait()
        self.defined = getattr(self, "defined", 0) + 1  # rows share texts
        self.cp.ElementwiseKernel(taken, given, body.replace("#", f"{self.defined}.{os.getpid()}"), "new_kernel")(*operands)
        self.wait()

    def first_use(self):
        x = self.cp.ones(1 << 20, "f4")
        self.wait()
        start = time.perf_counter()
        self.cp.ElementwiseKernel("T x", "T z", "z = x * x + 1", "first")(x)
        return time.perf_counter() - start


def torch_names(torch, device):
    """The namespace of the rows: a class of plain functions, which torch.compile sees through."""
    functional = torch.nn.functional

    class Names:
        sin, cos, exp, sqrt = map(staticmethod, (torch.sin, torch.cos, torch.exp, torch.sqrt))
        tanh, log1p, abs, where = map(staticmethod, (torch.tanh, torch.log1p, torch.abs, torch.where))

        @staticmethod
        def sum(x, axis):
            return x.sum() if axis is None else x.sum(axis)

        bincount, histc = map(staticmethod, (torch.bincount, torch.histc))

        @staticmethod
        def sort(x):
            return torch.sort(x).values

        @staticmethod
        def argsort(x):
            return torch.argsort(x, stable=True)

        @staticmethod
        def argmax(x, axis):
            return torch.argmax(x, axis)

        @staticmethod
        def argmin(x, axis):
            return torch.argmin(x, axis)

        @staticmethod
        def along(what, x, axes):
            function = {"mean": torch.mean, "sum": torch.sum, "min": torch.amin, "max": torch.amax}[what]
            return function(x, axes, keepdim=True)

        @staticmethod
        def var(x, axis):
            return torch.var(x, axis, correction=0)

        @staticmethod
        def softmax(x, axis=-1):
            return torch.softmax(x, axis)

        @staticmethod
        def normed(x):
            return functional.layer_norm(x, x.shape[-1:], eps=peer_rows.EPSILON)

        @staticmethod
        def rmsnorm(x, g):
            return functional.rms_norm(x, g.shape, g, peer_rows.EPSILON)

        @staticmethod
        def layernorm(x, g, b=None):
            return functional.layer_norm(x, g.shape, g, b, peer_rows.EPSILON)

        layernorm_scaled = layernorm

        @staticmethod
        def cross_entropy(x, t):
            return functional.cross_entropy(x, t, reduction="none")

        @staticmethod
        def copy(x):
            return x.clone(memory_format=torch.contiguous_format)

        @staticmethod
        def maximum(x, least):
            return torch.clamp_min(x, least)

        @staticmethod
        def float32(x):
            return x.to(torch.float32)

        @staticmethod
        def float16(x):
            return x.to(torch.float16)

        @staticmethod
        def like(value, x):
            return value.to(x.dtype)

        @staticmethod
        def complex(x, y):
            return torch.complex(x, y)

        @staticmethod
        def stacked(x, y):
            return torch.stack((x, y), -1)

        @staticmethod
        def windows(x, size, step):
            return x.unfold(0, size, step)

        @staticmethod
        def permute(x, axes):
            return x.permute(axes)

        @staticmethod
        def arange(n):
            return torch.arange(n, device=device)
    return Names


class TorchPeer(Peer):
    device = "cuda"

    def __init__(self, options):
        super().__init__(options)
        import torch
        self.torch = torch
        torch.set_grad_enabled(False)
        if not torch.cuda.is_available():
            raise ImportError("no CUDA device")
        self.names = torch_names(torch, self.device)
        self.begin, self.end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def wait(self):
        self.torch.cuda.synchronize()

    def seconds_of(self, run, count):
        self.begin.record()
        for _ in range(count):
            run()
        self.end.record()
        self.end.synchronize()
        return self.begin.elapsed_time(self.end) / 1e3 / count

    def random(self, dtype, shape, seed):
        torch = self.torch
        if dtype == "u1":
            return torch.randint(0, 256, shape, dtype=torch.uint8, device=self.device)
        if dtype == "i1":
            return torch.randint(-128, 128, shape, dtype=torch.int8, device=self.device)
        if dtype == "i8":
            return torch.randint(0, peer_rows.LABELS, shape, device=self.device)
        if dtype == "b1":
            return torch.rand(shape, device=self.device) < 0.5
        kind = {"f2": torch.float16, "bf2": torch.bfloat16, "f4": torch.float32, "f8": torch.float64,
                "c8": torch.complex64, "c16": torch.complex128}[dtype]
        if dtype in ("c8", "c16"):
            return torch.randn(shape, dtype=kind, device=self.device)
        return torch.empty(shape, dtype=kind, device=self.device).uniform_(-2, 2)

    def expression(self, name, row):
        compute, names, scalars = row.compute, self.names, row.scalars
        if row.compute is peer_rows.paper:
            n = 1000 * peer_rows.extents(row.out[1], self.options.scale)[0]
            return lambda: compute(names, n)
        return lambda *arrays: compute(names, *arrays, *scalars)

    def function(self, name, row):
        arrays, run = self.inputs(row.arrays), self.expression(name, row)
        if name == "S2":
            out = self.torch.empty_like(arrays[0])
            return lambda: self.torch.add(arrays[0].T, arrays[1], out=out)
        return lambda: run(*arrays)

    def split_sum(self, x):
        return lambda: x.sum(1)

    def permutation(self, x, axes):
        view = x.permute(axes)
        out = self.torch.empty(view.shape, dtype=x.dtype, device=self.device)
        return lambda: out.copy_(view)

    def call(self, name):
        torch = self.torch
        x, y, z = (torch.ones(1024, device=self.device) for _ in range(3))
        a, row = x.reshape(32, 32), x[:32]
        runs = {"H1": lambda: torch.add(x, y, out=z), "H2": lambda: torch.add(x, y), "H4": lambda: x + y, "H6": lambda: x.sum(),
                "H8": lambda: a + row, "H10": lambda: torch.sqrt((a ** 2).sum(-1))}
        return self.found(runs, name)

    def define(self, row, number):
        """It has one kind of text: a function of scalars of one dtype."""
        if row is not peer_rows.NEW_MAPS["C1"]:
            raise NotPossible
        x = self.inputs(row[0])[0]
        text = f"template <typename T> T new_kernel(T x) {{ T q = x * (T){number + 1}.{os.getpid()}; return q * q - x / (q + (T)1); }}"
        self.torch.cuda.jiterator._create_jit_fn(text)(x)
        self.wait()


class CutensorPeer(TorchPeer):
    """Permutations alone, by NVIDIA's cuTENSOR 2; arrays are torch's."""
    # Of cutensor/types.h: cudaDataType_t, and what is computed in.
    TYPES = {"f2": (2, "32F"), "bf2": (14, "32F"), "f4": (0, "32F"), "f8": (1, "64F"), "c8": (4, "32F"), "c16": (5, "64F"), "u1": (8, "32F"), "i1": (3, "32F")}
    IDENTITY, DEFAULT_ALGORITHM, NO_JIT, ALIGNMENT = 1, -1, 0, 128

    def __init__(self, options):
        super().__init__(options)
        import ctypes
        import glob
        import sysconfig
        self.ct = ctypes
        installed = glob.glob(sysconfig.get_paths()["purelib"] + "/cutensor/lib/libcutensor.so.2")
        self.lib = ctypes.CDLL((installed or ["libcutensor.so.2"])[0])
        self.handle = ctypes.c_void_p()
        self.ask("cutensorCreate", ctypes.byref(self.handle))

    def ask(self, name, *arguments):
        code = getattr(self.lib, name)(*arguments)
        if code:
            raise RuntimeError(f"{name}: {code}")

    def described(self, shape, kind):
        """Strides are those of C order."""
        ct, n = self.ct, len(shape)
        strides = [math.prod(shape[k + 1:]) for k in range(n)]
        out = ct.c_void_p()
        self.ask("cutensorCreateTensorDescriptor", self.handle, ct.byref(out), ct.c_uint32(n), (ct.c_int64 * n)(*shape),
                 (ct.c_int64 * n)(*strides), ct.c_int(kind), ct.c_uint32(self.ALIGNMENT))
        return out

    def reordered(self, x, code, axes):
        ct, (kind, computed) = self.ct, self.TYPES[code]
        y = self.torch.empty([x.shape[a] for a in axes], dtype=x.dtype, device=self.device)
        names = [ord("a") + k for k in range(x.dim())]
        modes = [(ct.c_int32 * len(axes))(*names), (ct.c_int32 * len(axes))(*(names[a] for a in axes))]
        one = (ct.c_double * 2)(1.0) if computed == "64F" else (ct.c_float * 2)(1.0)
        operation, preference, plan = ct.c_void_p(), ct.c_void_p(), ct.c_void_p()
        self.ask("cutensorCreatePermutation", self.handle, ct.byref(operation), self.described(x.shape, kind), modes[0], ct.c_int(self.IDENTITY),
                 self.described(y.shape, kind), modes[1], ct.c_void_p.in_dll(self.lib, f"CUTENSOR_COMPUTE_DESC_{computed}"))
        self.ask("cutensorCreatePlanPreference", self.handle, ct.byref(preference), ct.c_int(self.DEFAULT_ALGORITHM), ct.c_int(self.NO_JIT))
        self.ask("cutensorCreatePlan", self.handle, ct.byref(plan), operation, preference, ct.c_uint64(0))
        source, target = ct.c_void_p(x.data_ptr()), ct.c_void_p(y.data_ptr())
        stream = ct.c_void_p(self.torch.cuda.current_stream().cuda_stream)
        run = lambda: self.ask("cutensorPermute", self.handle, plan, ct.byref(one), source, target, stream)
        run()
        if not self.torch.equal(y, x.permute(axes)):
            raise RuntimeError("cutensorPermute: what came is no permutation")
        return run

    def permutation(self, x, axes):
        code = {self.torch.uint8: "u1", self.torch.float16: "f2", self.torch.float32: "f4", self.torch.float64: "f8", self.torch.complex128: "c16"}[x.dtype]
        return self.reordered(x, code, axes)

    def function(self, name, row):
        others = {"S1": ("f4", None, (1, 0)), "S5": ("f4", None, (0, 2, 3, 1)), "S6": ("f4", None, (2, 0, 1))}
        found = peer_rows.REORDERED.get(name) or others.get(name)
        if not found:
            raise NotPossible
        return self.reordered(self.inputs(row.arrays)[0], found[0], found[2])

    def split_sum(self, x):
        raise NotPossible

    def call(self, name):
        raise NotPossible

    def define(self, row, number):
        raise NotPossible


class InductorPeer(TorchPeer):
    """torch.compile, a function for each row."""
    has_disk_cache = True

    def compiled(self, function):
        self.torch._dynamo.reset()
        return self.torch.compile(function, dynamic=False, fullgraph=True)

    def function(self, name, row):
        arrays, run = self.inputs(row.arrays), self.compiled(self.expression(name, row))
        return lambda: run(*arrays)

    def split_sum(self, x):
        raise NotPossible  # compiles every shape for seconds

    def permutation(self, x, axes):
        raise NotPossible

    def call(self, name):
        torch = self.torch
        x, y = (torch.ones(1024, device=self.device) for _ in range(2))
        a = x.reshape(32, 32)
        if name == "H5":
            run = self.compiled(lambda x, y: torch.sqrt(x * x + y * y))
            return lambda: run(x, y)
        if name == "H10":
            run = self.compiled(lambda a: torch.sqrt((a ** 2).sum(-1)))
            return lambda: run(a)
        raise NotPossible

    def define_fused(self, function, x, factor):
        names = self.names
        self.compiled(lambda x: function(names, x, factor))(x)
        self.wait()

    def define(self, row, number):
        inputs, views, body, _ = row
        factor = number + 1 + (os.getpid() * 1e-7 if inputs[0][0] == "f4" else 0)
        if body is None:
            half = self.torch.float16
            body = lambda k, x: (x.to(self.torch.float32) * k).to(half)
        self.compiled(lambda *given: body(factor, *views(*given)).contiguous())(*self.inputs(inputs))
        self.wait()

    def define_fold(self, number, what, axis, shape):
        x, names = self.inputs([("f4", shape)])[0], self.names
        factor, function = number + 1 + os.getpid() * 1e-7, peer_rows.FOLDS[what]
        self.compiled(lambda x: function(names, x * factor, axis))(x)
        self.wait()

    def first_use(self):
        x = self.torch.ones(1 << 20, device=self.device)
        self.wait()
        start = time.perf_counter()
        self.torch.compile(lambda x: x * x + 1)(x)
        return time.perf_counter() - start

    def first_fold(self):
        x = self.torch.ones((1024, 1024), device=self.device)
        self.wait()
        start = time.perf_counter()
        self.torch.compile(lambda x: self.torch.sqrt((x * x).sum(1)))(x)
        return time.perf_counter() - start


class QuackPeer(RowsAlone, TorchPeer):
    """Programs over rows alone, by QuACK's kernels for Hopper; arrays are torch's. Of rmsnorm's gradients it has both in one call, which F10, F10b and F10c share."""

    def __init__(self, options):
        super().__init__(options)
        import importlib
        self.kernels = {name: importlib.import_module("quack." + name) for name in ("softmax", "rmsnorm", "cross_entropy")}

    def call_of(self, row, name, arrays):
        x, *others = arrays
        softmax, norms, entropy = (self.kernels[k] for k in ("softmax", "rmsnorm", "cross_entropy"))
        epsilon = peer_rows.EPSILON
        if name in ("F9", "F9b"):
            return lambda: softmax.softmax_bwd(others[0], x)
        if name in ("F10", "F10b", "F10c"):
            d, g, r = others if name != "F10b" else (others[0], self.torch.ones_like(x[0]), others[1])
            root = r.reshape(-1)
            return lambda: norms.rmsnorm_bwd(x, g, d, root)
        if row.program == "layernorm_scaled":
            scale = others[0].float()  # it takes no other
            return lambda: norms.layernorm_fwd(x, scale, eps=epsilon)
        calls = {"softmax": lambda: softmax.softmax_fwd(x), "rmsnorm": lambda: norms.rmsnorm_fwd(x, others[0], eps=epsilon)[0],
                 "cross_entropy": lambda: entropy.cross_entropy_fwd(x, others[0])}
        return self.found(calls, row.program)

    def function(self, name, row):
        """What it computes is compared with torch's expression first, on some rows."""
        arrays = self.inputs(row.arrays)
        run = self.call_of(row, name, arrays)
        if name not in ("F10", "F10b", "F10c"):
            self.compare(run(), self.expression(name, row), arrays)
        return run

    def compare(self, found, expression, arrays):
        few = [x[:8] if x.shape[0] == arrays[0].shape[0] else x for x in arrays]
        wanted = expression(*few).float()
        if not self.torch.allclose(found[:8].float(), wanted, rtol=2e-2, atol=1e-2 * float(wanted.abs().max())):
            raise RuntimeError("the result differs from torch's")

    def define(self, row, number):
        raise NotPossible


class JaxPeer(Peer):
    """jax.jit, a function for each row; wall clock over batches."""
    has_disk_cache = True
    sample_s = 0.02  # long, so that waiting for the batch counts for little

    def __init__(self, options):
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        super().__init__(options)
        import jax
        jax.config.update("jax_enable_x64", True)
        if jax.default_backend() == "cpu":
            raise ImportError("no CUDA device")
        self.jax, self.jnp, self.last = jax, jax.numpy, None

    sin, cos, exp, sqrt, tanh, log1p, abs, copy = (lambda self, x, n=n: getattr(self.jnp, n)(x) for n in
                                                   ("sin", "cos", "exp", "sqrt", "tanh", "log1p", "abs", "copy"))

    def sum(self, x, axis):
        return self.jnp.sum(x, axis=axis)

    def argmax(self, x, axis):
        return self.jnp.argmax(x, axis=axis)

    def var(self, x, axis):
        return self.jnp.var(x, axis=axis)

    def softmax(self, x):
        return self.jax.nn.softmax(x, axis=-1)

    def normed(self, x):
        d = x - self.jnp.mean(x, axis=-1, keepdims=True)
        return d * self.jax.lax.rsqrt(self.jnp.mean(d * d, axis=-1, keepdims=True) + peer_rows.EPSILON)

    def rmsnorm(self, x, g):
        v = x.astype("float32")
        v = v * self.jax.lax.rsqrt(self.jnp.mean(v * v, axis=-1, keepdims=True) + peer_rows.EPSILON)
        return (v * g.astype("float32")).astype(x.dtype)

    def layernorm_scaled(self, x, g):
        return (self.normed(x.astype("float32")) * g.astype("float32")).astype(x.dtype)

    def layernorm(self, x, g, b):
        return self.normed(x) * g + b

    def cross_entropy(self, x, t):
        return self.jax.nn.logsumexp(x, axis=-1) - self.jnp.take_along_axis(x, t[:, None], axis=-1)[:, 0]

    def maximum(self, x, least):
        return self.jnp.maximum(x, x.dtype.type(least))

    def where(self, c, x, y):
        return self.jnp.where(c, x, y)

    def float32(self, x):
        return x.astype("float32")

    def float16(self, x):
        return x.astype("float16")

    def complex(self, x, y):
        return self.jax.lax.complex(x, y)

    def stacked(self, x, y):
        return self.jnp.stack((x, y), -1)

    def windows(self, x, size, step):
        count = (x.shape[0] - size) // step + 1
        return x[self.jnp.arange(count)[:, None] * step + self.jnp.arange(size)]

    def permute(self, x, axes):
        return x.transpose(axes)

    def arange(self, n):
        return self.jnp.arange(n, dtype="int64")

    def wait(self):
        if self.last is not None:
            self.jax.block_until_ready(self.last)

    def random(self, dtype, shape, seed):
        key = self.jax.random.PRNGKey(seed)
        if dtype == "u1":
            return self.jax.random.randint(key, shape, 0, 256, "uint8")
        if dtype == "i1":
            return self.jax.random.randint(key, shape, -128, 128, "int8")
        if dtype in ("c8", "c16"):
            return self.jax.random.normal(key, shape, "complex64" if dtype == "c8" else "complex128")
        if dtype == "i8":
            return self.jax.random.randint(key, shape, 0, peer_rows.LABELS, "int64")
        if dtype == "b1":
            return self.jax.random.bernoulli(key, 0.5, shape)
        kind = {"f2": "float16", "bf2": "bfloat16", "f4": "float32", "f8": "float64"}[dtype]
        return self.jax.random.uniform(key, shape, kind, -2, 2)

    def keep(self, function, *arrays):
        self.last = function(*arrays)

    def function(self, name, row):
        arrays = self.inputs(row.arrays)
        if row.compute is peer_rows.paper:
            n = 1000 * peer_rows.extents(row.out[1], self.options.scale)[0]
            run = self.jax.jit(lambda: row.compute(self, n))
        else:
            names = array_names(self.jnp) if row.any_axis else self
            run = self.jax.jit(lambda *given: row.compute(names, *given))
        scalars = [self.jnp.float32(s) for s in row.scalars]
        return lambda: self.keep(run, *arrays, *scalars)

    def split_sum(self, x):
        run = self.jax.jit(lambda given: given.sum(axis=1))
        return lambda: self.keep(run, x)

    def measure(self, run, timer=None, least=1):
        samples = super().measure(run, timer, least)
        self.last = None
        return samples

    def call(self, name):
        x, y = (self.jnp.ones(1024, "float32") for _ in range(2))
        a, row = x.reshape(32, 32), x[:32]
        if name == "H4":
            return lambda: self.keep(self.jnp.add, x, y)
        if name == "H8":
            return lambda: self.keep(self.jnp.add, a, row)
        if name == "H5":
            run = self.jax.jit(lambda x, y: self.jnp.sqrt(x * x + y * y))
            return lambda: self.keep(run, x, y)
        if name == "H6":
            return lambda: self.keep(self.jnp.sum, x)
        if name == "H10":
            run = self.jax.jit(lambda a: self.jnp.sqrt(self.jnp.sum(a ** 2, axis=-1)))
            return lambda: self.keep(run, a)
        raise NotPossible

    def define(self, row, number):
        inputs, views, body, _ = row
        factor = self.np32(number + 1 + os.getpid() * 1e-7) if inputs[0][0] == "f4" else number + 1
        if body is None:
            body = lambda k, x: (x.astype("float32") * self.np32(k)).astype("float16")
        self.jax.jit(lambda *given: body(factor, *views(*given)))(*self.inputs(inputs)).block_until_ready()

    def define_fold(self, number, what, axis, shape):
        x = self.inputs([("f4", shape)])[0].block_until_ready()
        factor, function = self.np32(number + 1 + os.getpid() * 1e-7), peer_rows.FOLDS[what]
        self.jax.jit(lambda x: function(self, x * factor, axis))(x).block_until_ready()

    def define_fused(self, function, x, factor):
        factor = self.np32(factor)
        self.jax.jit(lambda x: function(self, x, factor))(x).block_until_ready()

    def np32(self, value):
        import numpy
        return numpy.float32(value)

    def first_use(self):
        x = self.jnp.ones(1 << 20, "float32").block_until_ready()
        start = time.perf_counter()
        self.jax.jit(lambda x: x * x + 1)(x)
        return time.perf_counter() - start

    def first_fold(self):
        x = self.jnp.ones((1024, 1024), "float32").block_until_ready()
        start = time.perf_counter()
        self.jax.jit(lambda x: self.jnp.sqrt(self.jnp.sum(x * x, axis=1)))(x)
        return time.perf_counter() - start


PEERS = {"cupy": CupyPeer, "torch": TorchPeer, "inductor": InductorPeer, "quack": QuackPeer, "cutensor": CutensorPeer, "jax": JaxPeer, "numpy": NumpyPeer,
         "numexpr": NumexprPeer, "numba": NumbaPeer}


def version(peer):
    import importlib.metadata
    names = {"torch": ["torch"], "inductor": ["torch"], "quack": ["quack-kernels"], "cutensor": ["cutensor-cu13", "cutensor-cu12"], "cupy": ["cupy", "cupy-cuda13x", "cupy-cuda12x"]}.get(peer, [peer])
    for name in names:
        try:
            return importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return ""


def emit(**fields):
    print(json.dumps(fields), flush=True)


def run(options):
    try:
        peer = PEERS[options.peer](options)
    except Exception as error:  # whatever keeps a library from loading on this machine
        print(f"{options.peer}: {error}", file=sys.stderr)
        return 77
    if options.first_use:
        print((peer.first_fold() if options.first_use == "C4b" else peer.first_use()) * 1e6)
        return 0
    emit(peer=options.peer, version=version(options.peer))
    for name in options.rows.split(","):
        try:
            samples = sorted(peer.run_row(name))
        except NotPossible:
            continue
        except Exception as error:
            emit(row=name, peer=options.peer, error=f"{type(error).__name__}: {error}"[:300])
            continue
        last = len(samples) - 1
        emit(row=name, peer=options.peer, us=statistics.median(samples), min_us=samples[0], p10_us=samples[round(last * 0.1)],
             p90_us=samples[round(last * 0.9)], samples=len(samples))
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=NAMES)
    parser.add_argument("--rows", default=",".join(peer_rows.ROWS))
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--first-use", choices=("C4", "C4b"))
    sys.exit(run(parser.parse_args()))


if __name__ == "__main__":
    main()
