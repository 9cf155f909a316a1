#!/usr/bin/env python3
"""Sorts, scans, selections, histograms and indices on a GPU beside CUB, PyTorch and CuPy: bench/cuda_sequences.py LIBRARY [--cub FOLDER] [--rows WORD,WORD] [--bits B] > table.md

A time is that of a call from the host, back to back with others, with the allocation of its results: the least mean of three times so many; in brackets that of each kernel on the
device, by PyTorch's profiler. CUB's is of the device alone: bench/cub_sequences.cu, which nvcc compiles, a program a row, into FOLDER. Results are compared: sums with PyTorch's in float64,
by a bound of roundings that grows with the logarithm of the length; assignments with NumPy's; the others with PyTorch's, exactly.
Words that PyTorch has as signed ones alone are turned for it (two more kernels of a map). CUB's row X12 is a sort of pairs and ReduceByKey, whose sums of floats depend on the run; X9's a sort and Unique.
--once ROW calls a row three times between the profiler's marks, for `ncu --profile-from-start off`."""
import argparse
import concurrent.futures
import ctypes
import functools
import math
import os
import pathlib
import subprocess
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--cub", help="a folder for CUB's programs; none: CUB is left out")
parser.add_argument("--rows", default="", help="rows whose name has one of these words")
parser.add_argument("--bits", type=int, default=0, help="2^B times as many elements (-6: a 64th)")
parser.add_argument("--seconds", type=float, default=0.03, help="of each of the three means")
parser.add_argument("--no-peers", action="store_true")
parser.add_argument("--once", help="this row alone, for a profiler")
options = parser.parse_args()
here = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("KILN_TARGET", "cuda:0")
os.environ.setdefault("KILN_FORMS", "best")
sys.path.insert(0, str(here.parent / "tests/numpy"))
import numpy as np  # noqa: E402
import torch  # noqa: E402

from host_kernels import Argument, Arrays  # noqa: E402

try:
    import cupy
except ImportError:
    cupy = None
kiln = Arrays(options.library)
made = {}


def scaled(bits):
    return 1 << max(bits + options.bits, 8)


def floats(bits, dtype=torch.float32):
    return lambda: torch.rand(scaled(bits), device="cuda").to(dtype)


def whole(below, bits, dtype=torch.int64):
    return lambda: torch.randint(0, below, (scaled(bits),), device="cuda", dtype=dtype)


def whole_words(bits, dtype=torch.int32):
    """Any words, which kiln and CuPy take as unsigned ones and PyTorch as signed ones."""
    info = torch.iinfo(dtype)
    return lambda: torch.randint(info.min, info.max, (scaled(bits),), device="cuda", dtype=dtype)


def often(each):
    """Keys below 2^20, of which one of so many is 7."""
    return lambda: torch.where(torch.rand(scaled(26), device="cuda") * each < 1, 7, torch.randint(0, 1 << 20, (scaled(26),), device="cuda"))


def sorted_floats(count):
    return lambda: torch.rand(count, device="cuda").sort().values


# Names of arrays that rows use.
DATA = {
    "f20": floats(20), "f24": floats(24), "f26": floats(26), "f27": floats(27), "g27": floats(27), "f28": floats(28), "h27": floats(27, torch.float16),
    "l26": lambda: torch.randint(-1 << 62, 1 << 62, (scaled(26),), device="cuda"), "k26": whole(1 << 20, 26), "u28": whole(256, 28, torch.uint8),
    "rows": lambda: torch.rand(max(4096 >> -options.bits, 8), 50257, device="cuda"), "m": lambda: torch.rand(scaled(14), 1024, device="cuda"),
    "i22": whole(scaled(24), 22), "v22": floats(22), "r12": whole(scaled(14), 12), "w12": lambda: torch.rand(scaled(12), 1024, device="cuda"),
    "mask24": lambda: torch.rand(scaled(24), device="cuda") > 0.5, "n24": lambda: torch.randn(scaled(24), device="cuda"),
    "e1000": sorted_floats(1000), "e20": sorted_floats(1 << 20), "b100": whole(100, 26), "b500": whole(500, 26), "b1000": whole(1000, 26), "b3000": whole(3000, 26),
    "b5000": whole(5000, 26), "b16": whole(65536, 26), "b20": whole(1 << 20, 26), "one": lambda: torch.full((scaled(26),), 7, device="cuda"),
    "w27": whole_words(27), "w26": whole_words(26), "z26": whole_words(26), "q26": whole_words(26, torch.int64), "s26": whole_words(26, torch.int64),
    "p": lambda: torch.rand(scaled(17), 1024, device="cuda"), "t": lambda: torch.rand(max(65536 >> -options.bits, 8), 4096, device="cuda"), "i26": whole(scaled(26), 26),
    "same28": lambda: torch.full((scaled(28),), 0.3, device="cuda"), "u30": whole(256, 30, torch.uint8), "same30": lambda: torch.full((scaled(30),), 7, device="cuda", dtype=torch.uint8),
    "tenth": often(10), "hundredth": often(100), "b10": whole(10, 26), "c26": whole(1000, 26, torch.int32), "j20": whole(1 << 20, 26, torch.int32), "j500": whole(500, 26, torch.int32), "j5000": whole(5000, 26, torch.int32),
}


def array(name):
    if name not in made:
        torch.manual_seed(len(name) + sum(map(ord, name)))
        made[name] = DATA[name]()
        torch.cuda.synchronize()
    return made[name]


def into(x, *rest):
    y = x.clone()
    y.index_put_(rest[:-1], rest[-1])
    return y


def added(out, keys, values):
    return torch.zeros(out, dtype=values.dtype, device="cuda").index_add_(0, keys, values)


def at_rows(x, r, v):
    return x.index_add(0, r, v)


def turned(x):
    return x ^ torch.iinfo(x.dtype).min


def by_pairs(k, v):
    found = turned(k).sort(stable=True)
    return turned(found.values), v[found.indices]


def unsigned(x):
    return x.view(f"u{x.dtype}")


def cupy_pairs(k, v):
    order = cupy.argsort(unsigned(k))
    return k[order], v[order]


@functools.cache
def generator():
    return cupy.random.default_rng(1)


def kernel_options(**given):
    return ctypes.byref(KernelOptions(ctypes.sizeof(KernelOptions), **given))


# Kernels that no expression is: the function makes one.
def affine(kernel):
    return kiln.c.kiln_scan_create(kernel, b"float32 s, float32 t", b"float32 u, float32 v", b"map{s, t}", b"map{a.m * b.m, a.c * b.m + b.c}", b"u = a.m, v = a.c", None, b"affine",
                                   kernel_options(preamble=b"struct map { float m, c; };", reduce_type=b"map"))


def pairs_by_key(kernel):
    return kiln.c.kiln_sort_create(kernel, b"K k, V v", b"K s, V t", ctypes.byref(SortKey(b"k")), 1, b"s = k; t = v", b"pairs", None)


def bins_by_text(kernel):
    return kiln.c.kiln_histogram_create(kernel, b"float32 x", b"int64 n", b"(int)(x * 256)", None, None, None, None, ctypes.c_int64(256), b"bins", None)


def sums_in_any_order(kernel):
    return kiln.c.kiln_expression_create(kernel, b"b20, f26", b"segment_sum(f26, b20, 1048576)", kernel_options(flags=ANY_ORDER))


# Name, arrays, expression or the function that makes the kernel, PyTorch, CuPy.
ROWS = [
    ("X1 cumsum f32 2^28", "f28", "cumsum(f28)", lambda x: x.cumsum(0), lambda x: x.cumsum()),
    ("X1a cumsum f32 2^20", "f20", "cumsum(f20)", lambda x: x.cumsum(0), lambda x: x.cumsum()),
    ("X1b cumsum of rows (65536, 4096)", "t", "cumsum(t, axis=1)", lambda x: x.cumsum(1), lambda x: x.cumsum(1)),
    ("X1b cumsum of columns (65536, 4096)", "t", "cumsum(t, axis=0)", lambda x: x.cumsum(0), lambda x: x.cumsum(0)),
    ("X1c affine pairs 2^27", "f27 g27", affine, None, None),
    ("X2 sort f32 2^27", "f27", "sort(f27)", lambda x: x.sort().values, lambda x: cupy.sort(x)),
    ("X2 sort u32 2^27", "w27", "sort(w27)", lambda x: turned(turned(x).sort().values), lambda x: cupy.sort(unsigned(x))),
    ("X2b sort u32 with u32 2^26", "w26 z26", pairs_by_key, by_pairs, cupy_pairs),
    ("X2b sort u64 2^26", "q26", "sort(q26)", lambda x: turned(turned(x).sort().values), lambda x: cupy.sort(unsigned(x))),
    ("X2b sort u64 with u64 2^26", "q26 s26", pairs_by_key, by_pairs, cupy_pairs),
    ("X2b sort i64 2^26", "l26", "sort(l26)", lambda x: x.sort().values, lambda x: cupy.sort(x)),
    ("X2c sort i64 below 2^20, 2^26", "k26", "sort(k26)", lambda x: x.sort().values, lambda x: cupy.sort(x)),
    ("X2d sort u8 2^28", "u28", "sort(u28)", lambda x: x.sort().values, None),
    ("X2d sort f16 2^27", "h27", "sort(h27)", lambda x: x.sort().values, None),
    ("X2e sort rows of 1,024 f32, 2^17", "p", "sort(p, axis=-1)", lambda x: x.sort(-1).values, lambda x: cupy.sort(x, -1)),
    ("X2f sort f32 2^20", "f20", "sort(f20)", lambda x: x.sort().values, lambda x: cupy.sort(x)),
    ("X3 argsort f32 2^26", "f26", "argsort(f26)", lambda x: x.argsort(stable=True), lambda x: cupy.argsort(x)),
    ("X4 normal f32 2^28", "", "normal(1, arange(COUNT28), dtype=float32)", lambda: torch.randn(scaled(28), device="cuda"), lambda: generator().standard_normal(scaled(28), dtype=np.float32)),
    ("X4 uniform f32 2^28", "", "random(1, arange(COUNT28), dtype=float32)", lambda: torch.rand(scaled(28), device="cuda"), lambda: generator().random(scaled(28), dtype=np.float32)),
    ("X5 x[x > 0.5] 2^28", "f28", "f28[f28 > 0.5]", lambda x: x[x > 0.5], lambda x: x[x > 0.5]),
    ("X5b nonzero(x > 0.5)[0] 2^28", "f28", "nonzero(f28 > 0.5)[0]", lambda x: (x > 0.5).nonzero()[:, 0], lambda x: cupy.nonzero(x > 0.5)[0]),
    ("X5 x[x > 0.5] 2^24", "f24", "f24[f24 > 0.5]", lambda x: x[x > 0.5], lambda x: x[x > 0.5]),
    ("X6 x[i] 2^26", "f26 i26", "f26[i26]", lambda x, i: x[i], lambda x, i: x[i]),
    ("X9 unique f32 2^26", "f26", "unique(f26)", lambda x: x.unique(), lambda x: cupy.unique(x)),
    ("X10 topk(x, 50) f32 2^27", "f27", "topk(f27, 50)[0]", lambda x: x.topk(50).values, None),
    ("X10 topk(x, 50) rows (4096, 50257)", "rows", "topk(rows, 50)[0]", lambda x: x.topk(50).values, None),
    ("topk(x, 512) f32 2^24", "f24", "topk(f24, 512)[0]", lambda x: x.topk(512).values, None),
    ("median f32 2^24", "f24", "median(f24)", lambda x: torch.quantile(x[: 1 << 23], 0.5) if x.numel() > 1 << 23 else torch.quantile(x, 0.5), lambda x: cupy.median(x)),
    ("X7 histogram 256 f32 2^28", "f28", "histogram(f28, bins=256, range=(0, 1))[0]", lambda x: x.histc(256, 0, 1).long(), lambda x: cupy.histogram(x, 256, (0, 1))[0]),
    ("X7 histogram 256 f32, one value 2^28", "same28", "histogram(same28, bins=256, range=(0, 1))[0]", lambda x: x.histc(256, 0, 1).long(), lambda x: cupy.histogram(x, 256, (0, 1))[0]),
    ("X7 bins by a text, 256 f32 2^28", "f28", bins_by_text, lambda x: x.histc(256, 0, 1).long(), None),
    ("X7 bins by a text, 256 f32, one value 2^28", "same28", bins_by_text, lambda x: x.histc(256, 0, 1).long(), None),
    ("X7c histogram 500 f32 2^28", "f28", "histogram(f28, bins=500, range=(0, 1))[0]", lambda x: x.histc(500, 0, 1).long(), lambda x: cupy.histogram(x, 500, (0, 1))[0]),
    ("X7c histogram 1,000 f32 2^28", "f28", "histogram(f28, bins=1000, range=(0, 1))[0]", lambda x: x.histc(1000, 0, 1).long(), lambda x: cupy.histogram(x, 1000, (0, 1))[0]),
    ("X7c histogram 2,000 f32 2^28", "f28", "histogram(f28, bins=2000, range=(0, 1))[0]", lambda x: x.histc(2000, 0, 1).long(), lambda x: cupy.histogram(x, 2000, (0, 1))[0]),
    ("X7c histogram 5,000 f32 2^28", "f28", "histogram(f28, bins=5000, range=(0, 1))[0]", lambda x: x.histc(5000, 0, 1).long(), lambda x: cupy.histogram(x, 5000, (0, 1))[0]),
    ("X7b bincount u8 2^28", "u28", "bincount(u28, length=256)", lambda x: x.bincount(minlength=256), lambda x: cupy.bincount(x, minlength=256)),
    ("X7 bincount u8 2^30", "u30", "bincount(u30, length=256)", lambda x: x.bincount(minlength=256), None),
    ("X7 bincount u8, one value 2^30", "same30", "bincount(same30, length=256)", lambda x: x.bincount(minlength=256), None),
    ("X8 bincount 10 i64 2^26", "b10", "bincount(b10, length=10)", lambda x: x.bincount(minlength=10), lambda x: cupy.bincount(x, minlength=10)),
    ("X8 bincount 1,000 i64 2^26", "b1000", "bincount(b1000, length=1000)", lambda x: x.bincount(minlength=1000), lambda x: cupy.bincount(x, minlength=1000)),
    ("X8 bincount 65,536 i64 2^26", "b16", "bincount(b16, length=65536)", lambda x: x.bincount(minlength=65536), lambda x: cupy.bincount(x, minlength=65536)),
    ("bincount 2^20 i64 2^26", "b20", "bincount(b20, length=1048576)", lambda x: x.bincount(minlength=1 << 20), lambda x: cupy.bincount(x, minlength=1 << 20)),
    ("sums i32 by 2^20 i64 keys 2^26", "b20 c26", "segment_sum(c26, b20, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("sums f32 by 100 2^26", "b100 f26", "segment_sum(f26, b100, 100)", lambda k, x: added(100, k, x), None),
    ("sums f32 by 500 2^26", "b500 f26", "segment_sum(f26, b500, 500)", lambda k, x: added(500, k, x), None),
    ("sums f32 by 500, i32 keys 2^26", "j500 f26", "segment_sum(f26, j500, 500)", lambda k, x: added(500, k, x), None),
    ("sums f32 by 1,000 2^26", "b1000 f26", "segment_sum(f26, b1000, 1000)", lambda k, x: added(1000, k, x), None),
    ("sums f32 by 3,000 2^26", "b3000 f26", "segment_sum(f26, b3000, 3000)", lambda k, x: added(3000, k, x), None),
    ("sums f32 by 5,000 2^26", "b5000 f26", "segment_sum(f26, b5000, 5000)", lambda k, x: added(5000, k, x), None),
    ("sums f32 by 5,000, all in one 2^26", "one f26", "segment_sum(f26, one, 5000)", lambda k, x: added(5000, k, x), None),
    ("X12 sums f32 by 2^20 2^26", "b20 f26", "segment_sum(f26, b20, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("X12 the same, in any order", "b20 f26", sums_in_any_order, lambda k, x: added(1 << 20, k, x), None),
    ("sums f32 by 2^20, all in one 2^26", "one f26", "segment_sum(f26, one, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("sums f32 by 2^20, a tenth in one 2^26", "tenth f26", "segment_sum(f26, tenth, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("sums i32 by 2^20, a tenth in one 2^26", "tenth c26", "segment_sum(c26, tenth, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("sums i32 by 2^20, a hundredth in one 2^26", "hundredth c26", "segment_sum(c26, hundredth, 1048576)", lambda k, x: added(1 << 20, k, x), None),
    ("X11 permutation 2^26", "", "permutation(1, COUNT26)", lambda: torch.randperm(scaled(26), device="cuda"), lambda: cupy.random.permutation(scaled(26))),
    ("searchsorted 1,000 2^26", "e1000 f26", "searchsorted(e1000, f26)", lambda e, x: torch.searchsorted(e, x), lambda e, x: cupy.searchsorted(e, x)),
    ("searchsorted 2^20 2^26", "e20 f26", "searchsorted(e20, f26)", lambda e, x: torch.searchsorted(e, x), lambda e, x: cupy.searchsorted(e, x)),
    ("x[i] 2^22 of 2^24", "f24 i22", "f24[i22]", lambda x, i: x[i], lambda x, i: x[i]),
    ("x[rows] 2^12 of (2^14, 1024)", "m r12", "m[r12]", lambda x, r: x[r], lambda x, r: x[r]),
    ("x[mask] 2^24", "f24 mask24", "f24[mask24]", lambda x, m: x[m], lambda x, m: x[m]),
    ("x[i] = v", "f24 i22 v22", "f24[i22] = v22; f24", None, None),
    ("x[i] = v of whole numbers", "f24 i22", "f24[i22] = 1; f24", lambda x, i: into(x, i, torch.ones((), device="cuda")), None),
    ("x[rows] = v", "m r12 w12", "m[r12] = w12; m", None, None),
    ("x[rows] = 0", "m r12", "m[r12] = 0; m", lambda x, r: x.index_fill(0, r, 0), None),
    ("x[rows] += v", "m r12 w12", "m[r12] += w12; m", None, None),
    ("argwhere(x > 1)", "n24", "argwhere(n24 > 1)", lambda x: (x > 1).nonzero(), lambda x: cupy.argwhere(x > 1)),
    ("add_at(x, rows, v)", "m r12 w12", "add_at(m, r12, w12)", at_rows, None),
    ("4: sum(x[x > 0])", "n24", "sum(n24[n24 > 0])", lambda x: x[x > 0].sum(), lambda x: x[x > 0].sum()),
    ("4: sort(abs(x))", "n24", "sort(abs(n24))", lambda x: x.abs().sort().values, lambda x: cupy.sort(abs(x))),
    ("4: cumsum(x * w)", "f24 n24", "cumsum(f24 * n24)", lambda x, w: (x * w).cumsum(0), lambda x, w: (x * w).cumsum()),
    ("4: unique(x // 10)", "b500", "unique(b500 // 10)", lambda x: (x // 10).unique(), lambda x: cupy.unique(x // 10)),
    ("4: topk(softmax(x), 50)", "rows", "e = exp(rows - max(rows, axis=-1, keepdims=True)); topk(e / sum(e, axis=-1, keepdims=True), 50)[0]", lambda x: x.softmax(-1).topk(50).values, None),
]
# What PyTorch leaves undefined where an index comes twice is timed, and not compared.
UNDEFINED = {"x[i] = v": into, "x[rows] = v": into, "x[rows] += v": lambda x, r, v: into(x, r, x[r] + v)}
# CUB's programs of bench/cub_sequences.cu, by the names of rows.
CUB = {"X1 cumsum f32 2^28": 1, "X1c affine pairs 2^27": 2, "X2 sort f32 2^27": 3, "X2b sort i64 2^26": 4, "X2c sort i64 below 2^20, 2^26": 5, "X2f sort f32 2^20": 6,
       "X3 argsort f32 2^26": 7, "X5 x[x > 0.5] 2^28": 8, "X5b nonzero(x > 0.5)[0] 2^28": 9, "X7 histogram 256 f32 2^28": 10, "X5 x[x > 0.5] 2^24": 11, "X1a cumsum f32 2^20": 12, "X2 sort u32 2^27": 13, "X2b sort u32 with u32 2^26": 14, "X2b sort u64 2^26": 15, "X2b sort u64 with u64 2^26": 16,
       "X2e sort rows of 1,024 f32, 2^17": 17, "X9 unique f32 2^26": 18, "X12 sums f32 by 2^20 2^26": 19, "X7 bincount u8 2^30": 20, "X2d sort u8 2^28": 21, "X2d sort f16 2^27": 22}
UNSIGNED = ("w27", "w26", "z26", "q26", "s26")
OUTPUTS = {affine: 2, pairs_by_key: 2}
ANY_ORDER = 64  # KILN_KERNEL_ANY_ORDER


class Lies:
    """How a tensor lies, as host_kernels asks an array of NumPy's."""

    def __init__(self, t):
        self.ndim, self.shape, self.strides = t.dim(), tuple(t.shape), tuple(s * t.element_size() for s in t.stride())


class KernelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("preamble", ctypes.c_char_p), ("loop_prep", ctypes.c_char_p), ("after_loop", ctypes.c_char_p),
                ("options", ctypes.c_void_p), ("n_options", ctypes.c_int), ("header_names", ctypes.c_void_p), ("header_texts", ctypes.c_void_p), ("n_headers", ctypes.c_int),
                ("reduce_type", ctypes.c_char_p), ("kernels", ctypes.c_void_p), ("n_kernels", ctypes.c_int)]


class SortKey(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_char_p), ("flags", ctypes.c_uint)]


class Memory:
    """An address as PyTorch takes it."""

    def __init__(self, address, shape, dtype):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape, "strides": None, "typestr": np.dtype(dtype).str, "version": 3}


class Ours:
    def __init__(self, names, text):
        self.kernel, self.count, self.out = ctypes.c_void_p(), OUTPUTS.get(text, 1), (ctypes.c_void_p * 2)()
        if callable(text):
            kiln.check(text(ctypes.byref(self.kernel)), text.__name__)
        else:
            for bits in (26, 28):
                text = text.replace(f"COUNT{bits}", str(scaled(bits)))
            kiln.check(kiln.c.kiln_expression_create(ctypes.byref(self.kernel), ", ".join(names).encode(), text.encode(), None), text)
        tensors = [array(n) for n in names]
        dtypes = [("u" if n in UNSIGNED else "") + str(t.dtype)[6:] for n, t in zip(names, tensors)]
        self.held = [kiln.wrap(Lies(t), dtype, t.data_ptr(), kiln.device) for t, dtype in zip(tensors, dtypes)]
        self.arguments = (Argument * max(len(self.held), 1))(*[Argument(1, 0, h.value) for h in self.held])

    def __call__(self):
        for k in range(self.count):
            if self.out[k]:
                kiln.c.kiln_array_free(self.out[k])
                self.out[k] = None
        kiln.check(kiln.c.kiln_kernel_call(self.kernel, self.out, self.count, self.arguments, len(self.held), None), "call")

    def result(self, k=0):
        h, ndim = self.out[k], kiln.c.kiln_array_ndim(self.out[k])
        kiln.c.kiln_dtype_name.restype = ctypes.c_char_p
        dtype = kiln.c.kiln_dtype_name(kiln.c.kiln_array_dtype(h)).decode()
        shape, dtype = tuple(kiln.c.kiln_array_shape(h)[:ndim]), dtype if dtype == "uint8" else dtype.removeprefix("u")  # as PyTorch has words
        return torch.as_tensor(Memory(kiln.address(h), shape, dtype), device="cuda")

    def plan(self):
        text = ctypes.c_void_p()
        kiln.check(kiln.c.kiln_kernel_explain(ctypes.byref(text), self.kernel, None, 0, self.arguments, len(self.held), None, None), "explain")
        return ctypes.string_at(text).decode()

    def free(self):
        for h in [*self.held, *self.out]:
            if h:
                kiln.c.kiln_array_free(h)
        kiln.c.kiln_kernel_free(self.kernel)


def microseconds(function):
    """The least of three means, and of each kernel on the device."""
    function()
    torch.cuda.synchronize()
    begin = time.perf_counter()
    function()
    torch.cuda.synchronize()
    count = max(2, min(200, int(options.seconds / max(time.perf_counter() - begin, 1e-6))))
    best = float("inf")
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(count):
            function()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / count)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
        for _ in range(3):
            function()
        torch.cuda.synchronize()
    events = sorted((e for e in found.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    third = events[len(events) // 3 * 2:]
    return best * 1e6, [e.time_range.elapsed_us() for e in third]


def shown(pair):
    if pair is None:
        return "-"
    parts = pair[1] if len(pair[1]) <= 12 else [*pair[1][:6], *pair[1][-5:]]
    return f"{pair[0]:,.0f} ({sum(pair[1]):,.0f}: {', '.join(f'{p:.0f}' for p in parts)})"


def cub_programs(rows):
    """Times of CUB's programs, compiled side by side; each runs alone."""
    if not options.cub:
        return {}
    folder = pathlib.Path(options.cub)
    folder.mkdir(parents=True, exist_ok=True)
    major, minor = torch.cuda.get_device_capability()

    def compiled(name):
        program = folder / f"cub{CUB[name]}"
        if not program.exists():
            subprocess.run(["nvcc", "-O3", "-std=c++17", f"-arch=sm_{major}{minor}", f"-DROW={CUB[name]}", f"-DBITS={options.bits}", "-o", program, here / "cub_sequences.cu"], check=True)
        return program
    wanted = [r[0] for r in rows if r[0] in CUB]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        programs = dict(zip(wanted, pool.map(compiled, wanted)))
    return {name: subprocess.run([path], check=True, capture_output=True, text=True).stdout.strip() for name, path in programs.items()}


def close(got, expected, magnitude, length):
    """The errors of a result are no larger than roundings make them in a tree of sums of so many elements."""
    epsilon = torch.finfo(got.dtype).eps
    allowed = 2 * epsilon * math.log2(max(length, 2)) * magnitude + 1e-30
    return got.numel() == expected.numel() and bool(((got.double().reshape(expected.shape) - expected).abs() <= allowed).all())


def doubled(t):
    return t.double() if t.dtype.is_floating_point else t


def affine_is_right(ours, s, t):
    """Each pair follows from the one before it: a scan of 2^27 pairs has no peer here."""
    u, v = (ours.result(k).double() for k in range(2))
    s, t = s.double(), t.double()
    ones = torch.ones(1, dtype=torch.float64, device="cuda")
    before_u, before_v = torch.cat((ones, u[:-1])), torch.cat((ones - 1, v[:-1]))
    return all(bool(((got - expected).abs() <= 1e-5 * expected.abs() + 1e-30).all()) for got, expected in ((u, before_u * s), (v, before_v * s + t)))


def assigned_by_numpy(text, values):
    """The last of several values at a place counts, as in NumPy."""
    x, i, *v = (t.cpu().numpy() for t in values)
    x = x.copy()
    if "+=" in text:
        x[i] += v[0]
    else:
        x[i] = v[0]
    return torch.from_numpy(x).cuda()


def by_edges(x, bins):
    """NumPy's histogram of float32 from 0 to 1: histc multiplies, and has other bins where an edge is rounded."""
    edges = torch.from_numpy(np.histogram_bin_edges(np.zeros(1, np.float32), bins, (0, 1)).astype(np.float32)).cuda()
    counts = torch.zeros(bins, dtype=torch.int64, device="cuda")
    for part in x.split(1 << 24):
        counts += (torch.searchsorted(edges, part, right=True) - 1).clamp_(max=bins - 1).bincount(minlength=bins)
    return counts


def drawn_is_right(name, got):
    """Whether numbers that others draw otherwise could be these."""
    if "permutation" in name:
        return torch.equal(got.sort().values, torch.arange(got.numel(), device="cuda"))
    mean, deviation = (0, 1) if "normal" in name else (0.5, 12 ** -0.5)
    allowed = 8 * got.numel() ** -0.5
    return abs(got.double().mean().item() - mean) < allowed and abs(got.double().std().item() - deviation) < allowed


def is_right(name, text, ours, by_torch, values):
    if text is affine:
        return affine_is_right(ours, *values)
    got = ours.result()
    if not values:
        return drawn_is_right(name, got)
    if text is pairs_by_key:
        return all(torch.equal(ours.result(k), expected) for k, expected in enumerate(by_torch(*values)))
    text = "sum" if text is sums_in_any_order else "" if callable(text) else text
    if name in UNDEFINED:
        return torch.equal(got, assigned_by_numpy(text, values))
    if name.startswith("X7c"):
        return torch.equal(got, by_edges(values[0], got.numel()))
    if name.startswith("median"):
        count = values[0].numel()
        middle = values[0].double().sort().values[(count - 1) // 2: count // 2 + 1].mean()
        return close(got.reshape(()), middle, middle.abs(), 2)
    if not got.dtype.is_floating_point or not any(word in text for word in ("sum", "add_at", "softmax")):
        return torch.equal(got, by_torch(*values).to(got.dtype))
    expected = by_torch(*map(doubled, values))
    length = max(t.shape[-1] if t.dim() > 1 and not any(word in text for word in ("add_at", "axis=0")) else t.numel() for t in values)
    magnitude = expected.abs() if "max" in text else by_torch(*(doubled(t).abs() for t in values))
    return close(got, expected, magnitude, length)


def row(name, names, text, by_torch, by_cupy, cub):
    names = names.split()
    try:
        ours = Ours(names, text)
        begin = time.perf_counter()
        ours()
        torch.cuda.synchronize()
        first = time.perf_counter() - begin
        remark = "" if is_right(name, text, ours, by_torch, [array(n) for n in names]) else "WRONG"
        mine = microseconds(ours)
        ours.free()
    except Exception as failure:
        print(f"| {name} | FAILED {str(failure).splitlines()[0]} |", flush=True)
        torch.cuda.synchronize()
        return
    peers = []
    for peer, change in ((by_torch or UNDEFINED.get(name), lambda t: t), (by_cupy if cupy else None, lambda t: cupy.asarray(t))):
        found = None
        if peer and not options.no_peers:
            try:
                found = microseconds(lambda: peer(*[change(array(n)) for n in names]))
            except Exception as failure:
                print(f"# {name}: {str(failure).splitlines()[0]}", file=sys.stderr)
            torch.cuda.synchronize()
            torch.cuda.empty_cache()
            if cupy:
                cupy.get_default_memory_pool().free_all_blocks()
        peers.append(found)
    print(f"| {name} | {shown(mine)} | {cub or '-'} | {shown(peers[0])} | {shown(peers[1])} | {first * 1e3:.0f} | {remark} |", flush=True)


words = options.rows.split(",")
chosen = [r for r in ROWS if any(w in r[0] for w in words)]
if options.once:
    _, names, text, _, _ = next(r for r in ROWS if options.once in r[0])
    ours = Ours(names.split(), text)
    ours()
    torch.cuda.synchronize()
    torch.cuda.profiler.start()
    ours()
    torch.cuda.synchronize()
    torch.cuda.profiler.stop()
    print(ours.plan())
    sys.exit(0)
print(f"{torch.cuda.get_device_name()}, CUDA {torch.version.cuda}, PyTorch {torch.__version__}, CuPy {cupy.__version__ if cupy else '-'}; times in microseconds\n")
print("| row | kiln (kernels) | CUB | PyTorch (kernels) | CuPy (kernels) | first ms | |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
times = cub_programs(chosen) if not options.no_peers else {}
for k, entry in enumerate(chosen):
    row(*entry, times.get(entry[0]))
    later = {n for r in chosen[k + 1:] for n in r[1].split()}
    for n in [n for n in made if n not in later]:
        del made[n]
    torch.cuda.empty_cache()
