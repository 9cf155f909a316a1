"""Programs over random axes of arrays of random layouts, against NumPy in float64: centred, standardised, softmax, norms, ranges, masks; several reductions
that wait for one another, one or several reduced axes, short rows and long ones, C and Fortran order, permuted and sliced, elements of one to eight bytes.
Sizes lie on both sides of where kiln takes such a program apart (fuse/fusion.h): the test fails where only one way was met. Each call is made twice, the second
time by the best form, and gives the same bits. The kinds that computed the programs are counted.

    python3 fuzz_anyaxis.py LIBRARY [--target host|cuda:0] [--count N] [--seed S] [--first INDEX] [--most LOG10] [--seconds S] [--verbose]"""
import argparse
import collections
import ctypes
import os
import random
import re
import sys
import time

import numpy as np

from fuzz_reductions import BEST_FORM, CallOptions
from host_kernels import HOST, Argument, Arrays

# In the words of kiln, and of NumPy; `k` is keepdims.
PROGRAMS = {
    "x - mean(x, {k})": lambda x, m, k: x - x.mean(**k),
    "x - max(x, {k})": lambda x, m, k: x - x.max(**k),
    "(x - mean(x, {k})) / (std(x, {k}) + 1)": lambda x, m, k: (x - x.mean(**k)) / (x.std(**k) + 1),
    "e = exp(x - max(x, {k})); e / sum(e, {k})": lambda x, m, k: np.exp(x - x.max(**k)) / np.exp(x - x.max(**k)).sum(**k),
    "x / sqrt(sum(x * x, {k}) + 1)": lambda x, m, k: x / np.sqrt((x * x).sum(**k) + 1),
    "where(m, x, mean(x, {k}))": lambda x, m, k: np.where(m, x, x.mean(**k)),
    "(x - min(x, {k})) / (max(x, {k}) - min(x, {k}) + 1)": lambda x, m, k: (x - x.min(**k)) / (x.max(**k) - x.min(**k) + 1),
    "d = x - mean(x, {k}); mean(d * d, {k}) + m": lambda x, m, k: ((x - x.mean(**k)) ** 2).mean(**k) + m,
    "log(sum(exp(x), {k}))": lambda x, m, k: np.log(np.exp(x).sum(**k)),
    "x * m - mean(x * m, {k})": lambda x, m, k: x * m - (x * m).mean(**k),
    "min(x * m, {k})": lambda x, m, k: (x * m).min(**k),
    "argmax(x, {a})": lambda x, m, k: x.argmax(axis=k["axis"][0]),
}
BOUND = {"float16": 2e-2, "float32": 2e-5, "float64": 1e-12, "uint8": 1e-12, "complex64": 2e-5}  # of the largest magnitude
DTYPES = ["float32"] * 4 + ["float64", "float16", "uint8", "complex64"]
ONLY = {"uint8": ["x - mean(x, {k})", "(x - mean(x, {k})) / (std(x, {k}) + 1)", "where(m, x, mean(x, {k}))", "min(x * m, {k})", "argmax(x, {a})"],
        "complex64": ["x - mean(x, {k})", "where(m, x, mean(x, {k}))"]}  # what does not wrap around, and what complex numbers have


def shape_of(rng, most):
    size, ndim = int(10 ** rng.uniform(2.5, most)), rng.randint(1, 4)
    shape = []
    for _ in range(ndim - 1):
        shape.append(min(rng.choice([1, 2, 3, 4, 7, 8, 16, 17, 30, 31, 32, 33, 64, 100, 200, 256, 257, 1000]), max(size, 1)))
        size //= max(shape[-1], 1)
    shape.append(max(size, 1))
    rng.shuffle(shape)
    return shape


def values_of(numbers, shape, dtype):
    if dtype == "uint8":
        return numbers.integers(0, 256, shape).astype(dtype)
    values = numbers.standard_normal(shape)
    return (values + 1j * numbers.standard_normal(shape) if dtype == "complex64" else values).astype(dtype)


def laid(rng, values):
    """The same values in a random layout, and the memory behind it: axes in any order in memory, beginning anywhere, with gaps or backwards."""
    order = rng.sample(range(values.ndim), values.ndim)
    steps = [rng.choice([1, 1, 1, 1, 2, -1]) for _ in order]
    room = np.zeros([values.shape[a] * abs(s) + rng.choice([0, 0, 1]) for a, s in zip(order, steps)], values.dtype)
    view = room[tuple(slice(None, n * abs(s), abs(s)) if s > 0 else slice(n - 1, None, -1)
                      for n, s in ((values.shape[a], s) for a, s in zip(order, steps)))]
    view = view.transpose(np.argsort(order))
    view[...] = values
    return view, room


class Programs(Arrays):
    def __init__(self, path):
        super().__init__(path)
        self.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        self.kernels, self.ways, self.kinds = {}, {"one": 0, "several": 0}, collections.Counter()

    def kernel(self, text):
        if text not in self.kernels:
            out = ctypes.c_void_p()
            self.check(self.c.kiln_expression_create(ctypes.byref(out), b"x, m", text.encode(), None), text)
            self.kernels[text] = out
        return self.kernels[text]

    def call(self, kernel, arguments, flags=0):
        out, options = (ctypes.c_void_p * 1)(None), CallOptions(ctypes.sizeof(CallOptions), flags)
        self.check(self.c.kiln_kernel_call(kernel, out, 1, arguments, 2, ctypes.byref(options)), "call")
        shape = self.c.kiln_array_shape(out[0])[:self.c.kiln_array_ndim(out[0])]
        got = np.empty(shape, self.c.kiln_dtype_name(self.c.kiln_array_dtype(out[0])).decode())
        self.check(self.c.kiln_array_to_host(out[0], got.ctypes.data, got.nbytes), "to host")
        self.c.kiln_array_free(out[0])
        return got

    def note_way(self, kernel, arguments):
        text = ctypes.c_void_p()
        self.check(self.c.kiln_kernel_explain(ctypes.byref(text), kernel, None, 1, arguments, 2, None, None), "explain")
        words = ctypes.string_at(text)
        ctypes.CDLL(None).free(text)
        self.kinds.update(re.findall(r' schedule="(\w+)"', words.decode()))
        if b"; one kernel: about " in words:
            self.ways["several" if b"stored in between" in words else "one"] += 1

    def lent(self, view, room):
        """The array on the device, as it lies in its memory, and what has to be freed."""
        if self.device == HOST:
            return self.wrap(view, view.dtype.name), []
        held = self.upload(room, view.dtype.name)
        return self.wrap(view, view.dtype.name, self.address(held) + view.ctypes.data - room.ctypes.data, self.device), [held]

    def run(self, seed, index, most, verbose):
        rng = random.Random(seed * 1000003 + index)
        numbers = np.random.default_rng(index)
        shape, dtype = shape_of(rng, most), rng.choice(DTYPES)
        axes = tuple(sorted(rng.sample(range(len(shape)), rng.randint(1, len(shape)))))
        text = rng.choice(ONLY.get(dtype) or list(PROGRAMS))
        if "argmax" in text:
            axes = axes[:1]
        # A mask of all elements, or broadcast along some axes, reduced ones or others.
        mask_shape = shape if rng.random() < 0.6 else [n if rng.random() < 0.6 else 1 for n in shape]
        (x, x_room), (m, m_room) = laid(rng, values_of(numbers, shape, dtype)), laid(rng, numbers.random(mask_shape) < 0.5)
        said = text.format(k=f"axis={axes}, keepdims=True", a=f"axis={axes[0]}")
        where = f"case {index}: {said} of {dtype}{shape} strides {x.strides}, mask {mask_shape} strides {m.strides}"
        if verbose:
            print(where, flush=True)
        lent = [self.lent(x, x_room), self.lent(m, m_room)]
        arguments = (Argument * 2)(*[Argument(1, 0, view.value) for view, _ in lent])
        kernel = self.kernel(said)
        got, again = self.call(kernel, arguments), self.call(kernel, arguments, BEST_FORM)
        self.note_way(kernel, arguments)
        wanted = PROGRAMS[text](x.astype("c16" if dtype == "complex64" else "f8"), m, {"axis": axes, "keepdims": True})
        for view, held in lent:
            for handle in [view, *held]:
                self.c.kiln_array_free(handle)
        if got.shape != wanted.shape or got.tobytes() != again.tobytes():
            return f"{where}: shape {got.shape}, expected {wanted.shape}; or other bits the second time"
        if got.dtype.kind in "iu":
            return None if np.array_equal(got, wanted) else f"{where}: other places"
        scale = max(1.0, float(np.abs(wanted).max()))
        off = float(np.abs(got.astype(wanted.dtype) - wanted).max())
        return None if off <= BOUND[dtype] * scale else f"{where}: off by {off}, where results are up to {scale}"


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("--target", help="host, cuda:0, ...; default: KILN_TARGET")
parser.add_argument("--count", type=int, default=5000 if os.environ.get("KILN_SOAK") == "1" else 24)
parser.add_argument("--seed", type=int, default=21)
parser.add_argument("--first", type=int, default=0)
parser.add_argument("--most", type=float, default=5.3, help="log10 of the most elements; kinds of many elements begin at 5.4")
parser.add_argument("--seconds", type=float, default=float("inf"), help="after which no other case begins")
parser.add_argument("--verbose", action="store_true")
options = parser.parse_args()
if options.target:
    os.environ["KILN_TARGET"] = options.target
kiln, wrong, count, end = Programs(options.library), [], 0, time.monotonic() + options.seconds
while count < options.count and time.monotonic() < end:
    fault = kiln.run(options.seed, options.first + count, options.most, options.verbose)
    wrong += [fault] if fault else []
    count += 1
for fault in wrong[:10]:
    print(fault)
print(f"{count} programs, {len(wrong)} wrong; as one kernel: {kiln.ways['one']}, as several: {kiln.ways['several']}")
print("kinds:", ", ".join(f"{kind} {n}" for kind, n in kiln.kinds.most_common()))
sys.exit(bool(wrong) or (count >= 45 and 0 in kiln.ways.values()))
