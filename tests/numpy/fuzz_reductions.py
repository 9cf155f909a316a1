"""Random reductions over random layouts, against NumPy: axes none, some, all, negative; kept or dropped; outputs given or allocated, of any
strides; inputs that broadcast, are turned, sliced, permuted and begin anywhere; structs as reduce types, several outputs and inputs of several
dtypes, `_J`, `i`, no identity, nothing to reduce. Each call is made twice, the second time by the best form, and gives the same bits. Most cases are sums of small whole numbers,
which are exact in any order; some are of real ones, and may differ by what rounding can do (see `margin`).
fuzz_reductions.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--large | --small] [--verbose]
A case is made from the seed and its index alone: --first INDEX --count 1 runs it again. On a GPU cases are large, as with --large elsewhere."""
import argparse
import collections
import ctypes
import math
import os
import random
import sys
import threading
import time

import numpy as np

from host_kernels import Argument, Arrays, ArraySpec, KernelOptions, in_threads

KEEPDIMS, BEST_FORM = 2, 4
# ---- what is reduced ----

BEST = """struct best { T value; long long at; };
__device__ best better(best a, best b) { return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a; }"""
FIRST = """struct first { T value; _index at; };
__device__ first earlier(first a, first b, bool follows) {
    if (follows)
        return b.value > a.value ? b : a;
    return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a;
}"""
RANGE = "struct range { T low; V high; };\n" \
        "__device__ range both(range a, range b) { return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high}; }"
MOMENTS = "struct moments { double n, sum, squares; };\n" \
          "__device__ moments join(moments a, moments b) { return {a.n + b.n, a.sum + b.sum, a.squares + b.squares}; }"
TOP = "struct top { float first, second; };\n" \
      "__device__ top join(top a, top b) { return a.first > b.first ? top{a.first, a.second > b.first ? a.second : b.first}\n" \
      "                                                            : top{b.first, b.second > a.first ? b.second : a.first}; }"
SINGLE, DOUBLE = 2.0 ** -24, 2.0 ** -53  # unit roundoffs
ROUNDOFF = {"float16": 2.0 ** -11, "bfloat16": 2.0 ** -8, "float32": SINGLE, "float64": DOUBLE, "complex64": SINGLE, "complex128": DOUBLE}
ACCUMULATES = {**ROUNDOFF, "float16": SINGLE, "bfloat16": SINGLE}
WHOLE_UP_TO = {SINGLE: 2 ** 24, DOUBLE: 2 ** 53}


def margin(n, roundoff):
    """How far a sum of n rounded terms may be off, in any order, as a part of the sum of their magnitudes. Certain: n u / (1 - n u) (Higham,
    Accuracy and Stability, 4.2). All but certain, as roundings of random terms lean to neither side: exp(8 sqrt(n) u + n u^2) - 1, exceeded with
    a probability under 2 exp(-32) for a sum (Higham and Mary 2019, theorem 2.4)."""
    certain = n * roundoff / (1 - n * roundoff) if n * roundoff < 0.5 else math.inf
    return min(certain, math.expm1(8 * math.sqrt(n) * roundoff + n * roundoff * roundoff))


class Folded:
    """What the references see: the inputs' values (broadcast), the axes, the number of elements that make a result."""

    def __init__(self, values, axes, keepdims, is_whole, terms, distinct):
        self.values, self.how, self.is_whole, self.terms, self.distinct = values, {"axis": axes, "keepdims": keepdims}, is_whole, terms, distinct
        self.axes, self.keepdims = axes, keepdims

    def sum(self, x, roundoff):
        """The sum, and how far off it may be: None where each partial sum is a whole number that the accumulator holds."""
        right = np.sum(x, dtype={"b": "i8", "i": "i8", "u": "u8", "f": "f8", "c": "c16"}[x.dtype.kind], **self.how)
        if x.dtype.kind in "biu":
            return right, None
        size = np.sum(np.abs(x), dtype="f8", **self.how)
        if self.is_whole and np.max(size, initial=0) <= WHOLE_UP_TO[roundoff]:
            return right, None
        return right, size * (self.margin(roundoff) + self.margin(DOUBLE)) * (1.5 if x.dtype.kind == "c" else 1)

    def margin(self, roundoff):
        """Where elements repeat (stride 0), so do their roundings, and no chance evens them out: then what is certain."""
        return margin(self.terms, roundoff) if self.distinct else self.terms * roundoff / (1 - min(self.terms * roundoff, 0.5))

    def rows(self, x):
        kept = [a for a in range(x.ndim) if a not in self.axes]
        rows = np.transpose(x, kept + sorted(self.axes)).reshape([x.shape[a] for a in kept] + [-1])
        return rows, [1 if a in self.axes else x.shape[a] for a in range(x.ndim)] if self.keepdims else [x.shape[a] for a in kept]


def sum_of(f, dtypes):
    return [f.sum(f.values[0], ACCUMULATES.get(dtypes[0], 0))]


def norm_of(f, dtypes):
    squares, off = f.sum(f.values[0].astype("f8") ** 2, DOUBLE)
    root = np.sqrt(squares)
    # A relative error e of the sum is e / 2 of its root, but for the squares' own roundings and the root's.
    return [(root, None if off is None else root * (f.margin(DOUBLE) + 4 * DOUBLE))]


def dot_of(f, dtypes):
    return [f.sum(f.values[0].astype("f8") * f.values[1].astype("f8"), ACCUMULATES[dtypes[0]])]


def mixed_of(f, dtypes):
    return [f.sum(f.values[0].astype("f8") * f.values[1].astype("f8") + f.values[2].astype("f8"), DOUBLE)]


def largest_of(f, dtypes):
    return [(np.max(f.values[0], **f.how), None)]


def best_of(f, dtypes):
    rows, shape = f.rows(f.values[0])
    return [(np.argmax(rows, axis=-1).reshape(shape), None), (np.max(f.values[0], **f.how), None)]


def range_of(f, dtypes):
    return [(np.min(f.values[0], **f.how), None), (np.max(f.values[1], **f.how), None)]


def places_of(f, dtypes):
    x = f.values[0]
    return [(np.sum(np.arange(x.size, dtype="i8").reshape(x.shape), where=x > 0, **f.how), None)]


def moments_of(f, dtypes):
    x = f.values[0].astype("f8")
    (total, off), (squares, squares_off) = f.sum(x, DOUBLE), f.sum(x * x, DOUBLE)
    mean, square, n = total / f.terms, squares / f.terms, f.terms
    # Exact sums leave the roundings of two quotients, a square and a difference, none of them larger than the mean square.
    off = 0 if off is None else off / n
    squares_off = 0 if squares_off is None else squares_off / n
    return [(mean, off + 2 * DOUBLE * np.abs(mean)), (square - mean * mean, squares_off + 2 * np.abs(mean) * off + off * off + 8 * DOUBLE * square),
            (np.full(np.shape(mean), n, "i8"), None)]


def top_of(f, dtypes):
    x = f.values[0]
    first = np.max(x, axis=f.axes, keepdims=True)
    again = np.sum(x == first, **f.how) > 1
    rest = np.max(x, initial=-np.inf, where=x != first, **f.how)
    first = first if f.keepdims else np.max(x, **f.how)
    return [(first, None), (np.where(again, first, rest), None)]


def all_of(f, dtypes):
    return [(np.all(f.values[0], **f.how), None)]


Fold = collections.namedtuple("Fold", "ins outs map reduce post identity preamble reduce_type reference may_be_real")
# T, V, W are the inputs' dtypes, S what their sum is. With real numbers squares in `mixed` and `moments` are rounded once more than `margin` counts,
# which their terms are as well.
FOLDS = {
    "sum": Fold("T x", "S y", "S(x)", "a + b", "y = a", "0", None, None, sum_of, True),
    "norm": Fold("T x", "float64 y", "(double)x * (double)x", "a + b", "y = sqrt(a)", "0", None, None, norm_of, True),
    "dot": Fold("T x, V y", "T z", "x * y", "a + b", "z = a", "0", None, None, dot_of, False),
    "mixed": Fold("T x, V y, W z", "float64 u", "(double)x * (double)y + (double)z", "a + b", "u = a", "0", None, None, mixed_of, False),
    "largest": Fold("T x", "T y", "x", "a > b ? a : b", "y = a", None, None, None, largest_of, True),
    "best": Fold("T x", "int64 at, T value", "best{x, _J}", "better(a, b)", "at = a.at; value = a.value", None, BEST, "best", best_of, True),
    "first": Fold("T x", "int64 at, T value", "first{x, (_index)_J}", "earlier(a, b, _follows)", "at = a.at; value = a.value", None, FIRST, "first",
                  best_of, True),
    "range": Fold("T x, V y", "T low, V high", "range{x, y}", "both(a, b)", "low = a.low; high = a.high", None, RANGE, "range", range_of, True),
    "places": Fold("T x", "int64 y", "x > 0 ? i : 0ll", "a + b", "y = a", "0", None, None, places_of, False),
    "moments": Fold("T x", "float64 mean, float64 variance, int64 count", "moments{1, (double)x, (double)x * (double)x}", "join(a, b)",
                    "mean = a.sum / a.n; variance = a.squares / a.n - mean * mean; count = _in_ind.size() / _out_ind.size()", None, MOMENTS, "moments",
                    moments_of, True),
    "top": Fold("T x", "float32 first, float32 second", "top{(float)x, -INFINITY}", "join(a, b)", "first = a.first; second = a.second", None, TOP, "top",
                top_of, True),
    "all": Fold("T x", "bool y", "x != 0", "a && b", "y = a", "true", None, None, all_of, False),
}
# Few, as each makes some binaries on a GPU.
KERNELS = [("sum", d) for d in "float32 float16 bfloat16 float64 int8 uint16 int32 bool complex64".split()] + \
          [("norm", "float32"), ("norm", "float16"), ("largest", "float32"), ("largest", "int16"), ("largest", "uint64"), ("dot", "float32", "float32"),
           ("mixed", "int8", "float32", "float64"), ("mixed", "bool", "bfloat16", "int32"), ("best", "float32"), ("best", "uint8"),
           ("first", "float32"), ("first", "int16"),
           ("range", "float32", "int16"), ("places", "int32"), ("moments", "float32"), ("moments", "float16"), ("top", "float32"), ("all", "bool")]
# On the host, where others are cheap, some of these too: as many as a seed takes, or all with KILN_SOAK=1.
MORE_KERNELS = [("sum", "complex128"), ("sum", "int64"), ("sum", "uint32"), ("sum", "uint8"), ("dot", "float64", "float16"), ("largest", "bfloat16"),
                ("largest", "uint32"), ("best", "float64"), ("best", "bfloat16"), ("best", "int64"), ("moments", "uint8"), ("places", "float16")]
SOME_KERNELS = 2


def sum_dtype(dtype):
    return {"b": "int64", "i": "int64", "u": "uint64"}.get("f" if dtype == "bfloat16" else np.dtype(dtype).kind, dtype)


def out_dtypes(key):
    names = dict(zip("TVW", key[1:]), S=sum_dtype(key[1]))
    return [names.get(p.split()[0], p.split()[0]) for p in FOLDS[key[0]].outs.split(",")]


# ---- dtypes as NumPy has them: bfloat16 is the upper half of a float32 ----

def stored_dtype(dtype):
    return np.dtype("u2" if dtype == "bfloat16" else dtype)


def to_bfloat16(x):
    bits = np.asarray(x, "f4").view("u4")
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


def value_of(stored, dtype):
    return (stored.astype("u4") << 16).view("f4") if dtype == "bfloat16" else stored


def rounded(x, dtype):
    """The nearest number of that dtype."""
    with np.errstate(over="ignore"):
        return value_of(to_bfloat16(x), dtype) if dtype == "bfloat16" else np.asarray(x).astype(dtype)


def drawn_numbers(size):
    """What pools are made of: whole numbers, with many ties, and real ones."""
    rng = np.random.default_rng(5)
    return {True: rng.integers(-4, 5, size).astype("i1"), False: rng.normal(size=size)}


def numbers_of(drawn, dtype):
    """... as a dtype can hold them: without signs; true but for one in 9^3; with an imaginary part."""
    kind = "f" if dtype == "bfloat16" else np.dtype(dtype).kind
    if kind == "u":
        drawn = abs(drawn)
    elif kind == "b":
        drawn = drawn + np.roll(drawn, 5) + np.roll(drawn, 11) > -12
    elif kind == "c":
        drawn = drawn + 1j * np.roll(drawn, 7)
    return to_bfloat16(drawn) if dtype == "bfloat16" else drawn.astype(dtype)


class Pool:
    """Numbers of one dtype, on the device and here: cases are views of them, so that none moves data up."""

    def __init__(self, kiln, dtype, drawn):
        self.dtype, stored = dtype, numbers_of(drawn, dtype)
        self.value = value_of(stored, dtype)
        if dtype == "float16":
            self.value = self.value.astype("f4")  # NumPy is slow with halves
        self.handle = kiln.upload(stored, dtype)
        self.address = kiln.address(self.handle)


# ---- layouts ----

class Layout:
    """Where the elements of an array lie: strides and start in elements, of `room` in all."""

    def __init__(self, rng, shape, most, broadcast=0.0, from_start=False):
        ndim = len(shape)
        order = rng.sample(range(ndim), ndim) if rng.random() < 0.4 else list(range(ndim))
        still = [rng.random() < broadcast for _ in shape]
        plain = rng.random() < 0.4
        steps = [1 if plain else rng.choice([1, 1, 1, 1, 2, 3]) for _ in shape]
        pads = [0 if plain else rng.choice([0, 0, 0, 1, 2, 5]) for _ in shape]
        while True:
            self.strides, at, room = [0] * ndim, 0, 1
            for a in reversed(order):
                if not still[a]:
                    self.strides[a] = room * steps[a]
                    room *= max(shape[a], 1) * steps[a] + pads[a]
            if 0 in shape and room > most:  # no element lies anywhere
                self.strides, room = [1] * ndim, 1
            if room <= most:
                break
            steps, pads, plain = [1] * ndim, [0] * ndim, True
        for a in range(ndim):
            if not plain and rng.random() < 0.2:
                at += (max(shape[a], 1) - 1) * self.strides[a]
                self.strides[a] = -self.strides[a]
        spare = most - room
        off = rng.choice([0, 0, 0, rng.randrange(64), rng.randrange(9)])
        base = 0 if from_start else rng.randrange(spare // 256 + 1) * 256
        self.shape, self.room, self.start = shape, room, at + min(base + off, spare)
        self.repeats = 0 in [s for s, e in zip(self.strides, shape) if e > 1]

    def of(self, memory):
        size = memory.itemsize
        return np.ndarray(self.shape, memory.dtype, memory, self.start * size, [s * size for s in self.strides]) if 0 not in self.shape else \
            np.zeros(self.shape, memory.dtype)


NAMED_EXTENTS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 32767, 32768, 32769]


def log_uniform(rng, high):
    return int(math.exp(rng.uniform(0, math.log(max(high, 1) + 0.5))))


def named_extent(rng, most):
    extent = rng.choice(NAMED_EXTENTS) if rng.random() < 0.8 else rng.randint(1000, 1025)
    return extent if extent <= most else rng.randint(1, min(max(most, 1), 9))


def random_shape(rng, most):
    """Shape and reduced axes (None: all): long rows, tall columns, middle axes, one number, anything."""
    style = rng.choice("row row column column middle one wild wild".split())
    if style == "wild":
        ndim, shape = rng.choice([0, 1, 2, 2, 3, 3, 4, 5]), []
        for _ in range(ndim):
            shape.append(log_uniform(rng, most // max(math.prod(shape), 1)))
        rng.shuffle(shape)
        if shape and rng.random() < 0.08:
            shape[rng.randrange(ndim)] = 0
        return shape, None if rng.random() < 0.2 else rng.sample(range(ndim), rng.randint(0, ndim))
    a, c = named_extent(rng, most), named_extent(rng, most)
    if style == "one":
        long = max(most // a, 1)
        return rng.choice([[most], [a, long], [long, a]]), None
    if style == "middle":
        c = min(c, max(most // a, 1))
        shape = [a, max(most // (a * c), 1), c]
        return shape, [1] if rng.random() < 0.7 else [0, 2]
    long = max(most // a, 1)
    shape, axes = ([a, long], [1]) if style == "row" else ([long, a], [0])
    if rng.random() < 0.3:  # the same with the long axis in two, or one more kept one
        half = log_uniform(rng, long)
        at = axes[0]
        shape[at:at + 1] = [half, long // half]
        axes = [at, at + 1] if rng.random() < 0.5 else [at + 1] if style == "row" else [at]
    return shape, axes


class Case:
    def __init__(self, kiln, seed, index):
        rng = random.Random(seed * 1000003 + index)
        self.key, self.keepdims = kiln.keys[index % len(kiln.keys)], rng.random() < 0.4  # each kernel in turn
        self.fold = FOLDS[self.key[0]]
        dtypes = self.key[1:]
        is_real = self.fold.may_be_real and all(d in ROUNDOFF for d in dtypes) and rng.random() < 0.25
        most = kiln.random_size(rng)
        shape, self.axes = random_shape(rng, most)
        self.pools = [kiln.pools[d, not is_real] for d in dtypes]
        self.layouts = []
        for k in range(len(dtypes)):
            own = [1 if k > 0 and rng.random() < 0.2 else e for e in shape]
            if k > 0 and rng.random() < 0.2:
                own = own[rng.randint(0, len(own)):]
            self.layouts.append(Layout(rng, own, kiln.pool_size, broadcast=0.2 if rng.random() < 0.15 else 0))
        self.shape = shape
        self.all_axes = tuple(range(len(shape))) if self.axes is None else tuple(self.axes)
        self.signed = self.axes and [a - len(shape) if rng.random() < 0.5 else a for a in self.axes]
        self.terms = math.prod(shape[a] for a in self.all_axes)
        self.kept = [1 if a in self.all_axes else e for a, e in enumerate(shape) if self.keepdims or a not in self.all_axes]
        views = [np.broadcast_to(l.of(p.value), shape) for l, p in zip(self.layouts, self.pools)]
        distinct = not any(l.repeats or l.shape != shape for l in self.layouts)
        self.folded = Folded(views, self.all_axes, self.keepdims, not is_real, max(self.terms, 1), distinct)
        self.given = [Layout(rng, self.kept, 4 * math.prod(self.kept) + 4096, from_start=True) if rng.random() < 0.6 else None for _ in out_dtypes(self.key)]
        self.text = f"{'_'.join(self.key)} {shape} axes {self.axes} keepdims {self.keepdims} {'real' if is_real else 'whole'} " + \
            f"strides {[l.strides for l in self.layouts]} start {[l.start for l in self.layouts]}"

    def is_refused(self):
        return self.terms == 0 and self.fold.identity is None and math.prod(self.kept) > 0

    def expected(self):
        """What NumPy says, and how far off each may be."""
        if math.prod(self.kept) == 0:
            return [(np.zeros(self.kept), None) for _ in out_dtypes(self.key)]
        with np.errstate(all="ignore"):
            return self.fold.reference(self.folded, self.key[1:])


# ---- the library ----

class Options(KernelOptions):
    _fields_ = [("reduce_type", ctypes.c_char_p)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


class Reductions(Arrays):
    def __init__(self, path, is_large, seed):
        super().__init__(path)
        self.is_large = self.device != 1 if is_large is None else is_large
        self.pool_size = 2 ** 24 + 2 ** 20 if self.is_large else 2 ** 18
        more = MORE_KERNELS if os.environ.get("KILN_SOAK") == "1" else random.Random(seed).sample(MORE_KERNELS, SOME_KERNELS)
        self.keys = KERNELS if self.device != 1 else KERNELS + more
        dtypes = {d for key in self.keys for d in key[1:]}
        self.numbers = {d: self.dtype_number(d) for d in dtypes | {d for key in self.keys for d in out_dtypes(key)}}
        self.pools = {(d, is_whole): Pool(self, d, drawn) for is_whole, drawn in drawn_numbers(self.pool_size).items() for d in dtypes
                      if is_whole or d in ROUNDOFF}
        self.kernels = {key: self.kernel(key) for key in self.keys}
        self.lock, self.specialisations, self.schedules, self.folds = threading.Lock(), set(), collections.Counter(), collections.Counter()

    def random_size(self, rng):
        """Elements of a case."""
        if self.is_large:
            return int(10 ** (rng.uniform(6, 7.2) if rng.random() < 0.03 else rng.uniform(3, 6)))
        return int(10 ** (rng.uniform(4, 5) if rng.random() < 0.05 else rng.uniform(0.5, 4)))

    def download(self, handle, dtype):
        ndim = self.c.kiln_array_ndim(handle)
        out = np.empty(self.c.kiln_array_shape(handle)[:ndim], stored_dtype(dtype))
        self.check(self.c.kiln_array_to_host(handle, out.ctypes.data, out.nbytes), "download")
        return out

    def view(self, address, layout, dtype):
        out, size, item = ctypes.c_void_p(), max(len(layout.shape), 1), stored_dtype(dtype).itemsize
        spec = ArraySpec(ctypes.sizeof(ArraySpec), self.numbers[dtype], len(layout.shape), (ctypes.c_int64 * size)(*layout.shape),
                         (ctypes.c_int64 * size)(*[s * item for s in layout.strides]), self.device, False)
        self.check(self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(address + layout.start * item), ctypes.byref(spec), None, None), "wrap")
        return out

    def kernel(self, key):
        fold, out = FOLDS[key[0]], ctypes.c_void_p()
        names = dict(zip("TVW", key[1:]), S=sum_dtype(key[1]))

        def filled(text, but=""):
            for letter, dtype in names.items():
                for end in (" ", "("):
                    text = text if letter in but else text.replace(letter + end, dtype + end)
            return text.encode()

        # T stays a placeholder in the signatures.
        texts = [filled(fold.ins, "T"), filled(fold.outs, "T"), filled(fold.map), fold.reduce.encode(), fold.post.encode()]
        options = Options(ctypes.sizeof(Options), 0, fold.preamble and filled(fold.preamble), reduce_type=fold.reduce_type and fold.reduce_type.encode())
        self.check(self.c.kiln_reduction_create(ctypes.byref(out), *texts, fold.identity and fold.identity.encode(), "_".join(key).encode(),
                                                ctypes.byref(options)), "_".join(key))
        return out

    def call_options(self, case, flags=0):
        options = CallOptions(ctypes.sizeof(CallOptions), flags | (KEEPDIMS if case.keepdims else 0))
        if case.axes is not None:
            options.axes, options.n_axes = (ctypes.c_int * max(len(case.axes), 1))(*case.signed or []), len(case.axes)
        return options

    def call(self, case, ins, outs, flags=0):
        """The message of what failed; None: nothing did. outs are written."""
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        status = self.c.kiln_kernel_call(self.kernels[case.key], outs, len(outs), arguments, len(ins), ctypes.byref(self.call_options(case, flags)))
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode() if status else None

    def count(self, case, ins):
        """Which specialisation it is."""
        text, n = ctypes.c_char_p(), len(out_dtypes(case.key))
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        self.check(self.c.kiln_kernel_explain(ctypes.byref(text), self.kernels[case.key], None, n, arguments, len(ins), ctypes.byref(self.call_options(case)),
                                              None), "explain")
        line = text.value.decode()
        libc.free(text)
        at = line.find(' schedule="')
        with self.lock:
            self.specialisations.add(line)
            self.schedules[line[at + 11:line.index('"', at + 11)] if at >= 0 else "nothing"] += 1
            self.folds[case.key[0]] += 1


libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


# ---- one case ----

def agrees(got, right, off, dtype):
    """Elements that do not agree, as booleans."""
    got = value_of(got, dtype)
    if off is None:
        wanted = rounded(right, dtype)
        return (got == wanted) | ((got != got) & (wanted != wanted))
    if dtype in ROUNDOFF:  # the result's own rounding, of what may be off already
        off = off + ROUNDOFF[dtype] * (np.abs(right) + off) + (2.0 ** -25 if dtype == "float16" else 0)
    if got.dtype.kind == "c":
        return np.abs(got.astype("c16") - right) <= off
    with np.errstate(invalid="ignore"):  # beyond the largest number lies the infinity of its sign
        is_beyond = np.isinf(got) & (np.sign(got) == np.sign(right)) & (np.abs(right) + off >= np.finfo(got.dtype).max)
    return is_beyond | (np.abs(got.astype("f8") - right) <= off)


def fresh(kiln, case, ins, dtypes, flags=0):
    outs = (ctypes.c_void_p * len(dtypes))()
    failure = kiln.call(case, ins, outs, flags)
    assert failure is None, failure
    results = [kiln.download(h, d) for h, d in zip(outs, dtypes)]
    for h in outs:
        kiln.c.kiln_array_free(h)
    return results


def into_given(kiln, case, ins, dtypes):
    """Results of a call into arrays of any layout (None where it allocates); what lies between their elements stays as it was."""
    rooms = [l and np.random.default_rng(l.start).integers(0, 2 if d == "bool" else 128, (l.room + l.start) * stored_dtype(d).itemsize, "u1").view(
        stored_dtype(d)) for l, d in zip(case.given, dtypes)]
    flat = [None if r is None else kiln.upload(r, d) for r, d in zip(rooms, dtypes)]
    views = [f and kiln.view(kiln.address(f), l, d) for f, l, d in zip(flat, case.given, dtypes)]
    outs = (ctypes.c_void_p * len(dtypes))(*[v and v.value for v in views])
    failure = kiln.call(case, ins, outs)
    assert failure is None, f"into given outputs: {failure}"
    results = []
    for f, h, l, d, r in zip(flat, outs, case.given, dtypes, rooms):
        if f is None:
            results.append(kiln.download(h, d))
        else:
            after = kiln.download(f, d)
            results.append(l.of(after).copy())
            l.of(after)[...] = l.of(r)
            assert after.tobytes() == r.tobytes(), f"into given outputs: something beside {l.shape} {l.strides} at {l.start} was written"
            kiln.c.kiln_array_free(f)
        kiln.c.kiln_array_free(h)
    return results


def check_results(results, expected, dtypes, how):
    for j, (got, (right, off), dtype) in enumerate(zip(results, expected, dtypes)):
        right = np.asarray(right)
        assert got.shape == right.shape, f"{how}: output {j} has shape {got.shape}, not {right.shape}"
        good = agrees(got, right, off, dtype)
        if not np.all(good):
            at = tuple(int(k) for k in np.argwhere(~np.asarray(good))[0])
            raise AssertionError(f"{how}: {np.sum(~np.asarray(good))} of {right.size} wrong, first output {j} at {at}: {value_of(got, dtype)[at]!r}, not "
                                 f"{right[at]!r}" + ("" if off is None else f" give or take {np.broadcast_to(off, right.shape)[at]:.3g}"))


def run_case(kiln, case):
    dtypes = out_dtypes(case.key)
    ins = [kiln.view(p.address, l, p.dtype) for p, l in zip(case.pools, case.layouts)]
    if case.is_refused():
        failure = kiln.call(case, ins, (ctypes.c_void_p * len(dtypes))())
        assert failure and "no elements, and there is no identity" in failure, f"not refused: {failure}"
        with kiln.lock:
            kiln.folds["refused"] += 1
    else:
        kiln.count(case, ins)
        expected = case.expected()
        first = fresh(kiln, case, ins, dtypes)
        check_results(first, expected, dtypes, "allocated")
        again = fresh(kiln, case, ins, dtypes, BEST_FORM)
        assert [r.tobytes() for r in again] == [r.tobytes() for r in first], "other bits by the best form, or the second time"
        if any(case.given):
            check_results(into_given(kiln, case, ins, dtypes), expected, dtypes, "into given outputs")
    for a in ins:
        kiln.c.kiln_array_free(a)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=20000 if os.environ.get("KILN_SOAK") == "1" else 28)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", help="host, cuda:0, ...; default: KILN_TARGET")
    parser.add_argument("--large", action="store_true", default=None, help="sizes as on a GPU")
    parser.add_argument("--small", dest="large", action="store_false", help="sizes as on the host")
    parser.add_argument("--verbose", action="store_true")
    o = parser.parse_args()
    if o.target:
        os.environ["KILN_TARGET"] = o.target
    start = time.monotonic()
    kiln = Reductions(o.library, o.large, o.seed)

    def part(indices):
        for index in indices:
            case = Case(kiln, o.seed, index)
            if o.verbose:
                print(f"{index}: {case.text}", flush=True)
            try:
                run_case(kiln, case)
            except AssertionError as failure:
                raise AssertionError(f"--target {o.target or os.environ.get('KILN_TARGET')} --seed {o.seed} --first {index} --count 1"
                                     f"{' --large' if kiln.is_large else ''}: {case.text}:\n{failure}") from None

    in_threads(part, [range(k, min(k + 50, o.first + o.count)) for k in range(o.first, o.first + o.count, 50)])
    print(f"{sum(kiln.folds.values())} reductions, none wrong, in {time.monotonic() - start:.0f} s: {dict(kiln.folds)}")
    print(f"schedules: {dict(kiln.schedules)}; {len(kiln.specialisations)} specialisations of {len(kiln.keys)} kernels")


if __name__ == "__main__":
    main()
