"""Whether g++ makes vectors of the loops that kiln writes for the host: its report is read, over expressions that people write and random ones, and over
reductions. Speed depends on it tenfold, and nothing else tells where one branch more, or a conversion that the vectoriser does not know, comes in.

    python3 check_vectors.py LIBRARY [--count N] [--seed S] [--verbose]
    KILN_CXX=g++-14 python3 check_vectors.py LIBRARY        # another g++ than the one on PATH

What is left out is what processors without AVX-512 have no vectors of: quotients and remainders of whole numbers, 64-bit integers beside floats; and what
calls a C library for each element (floor_divide and remainder of floats). Arithmetic of whole numbers stands by itself: beside it
g++ is told to mind floating-point exceptions (codegen/trapping.c), and leaves some selects of floats scalar."""
import argparse
import ctypes
import itertools
import os
import random
import re
import shutil
import sys
import tempfile

from drawn import SOAK, drawn

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--count", type=int, default=300 if SOAK else 2)
parser.add_argument("--seed", type=int, default=3)
parser.add_argument("--verbose", action="store_true")
options = parser.parse_args()
compiler = os.environ.get("KILN_CXX", "g++")
if not shutil.which(compiler.split()[0]):
    print(f"skipped: there is no {compiler}")
    sys.exit(77)
folder = tempfile.TemporaryDirectory()
report = os.path.join(folder.name, "report")
os.environ.update(KILN_TARGET="host", KILN_FORMS="best", KILN_CACHE_DIR=os.path.join(folder.name, "cache"),
                  KILN_CXX=f"{compiler} -fopt-info-vec-optimized-missed={report}")
import numpy as np  # noqa: E402

from host_kernels import Argument, Arrays  # noqa: E402

kiln = Arrays(options.library)
kiln.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
MAPS = {
    "maximum(maximum(x, y), z)": "x:float32 y:float32 z:float32", "fmin(fmax(x, y), z)": "x:float64 y:float64 z:float64",
    "clip(x * 32, 0, 255).astype(uint8)": "x:float32", "clip(x, -2, y)": "x:float64 y:float64",
    "b * exp(x)": "b:bool x:float32", "b * x": "b:bool x:float64", "h * b": "b:bool h:float16", "x / (b + 1.5)": "b:bool x:float32",
    "x * tanh(where(x + b > b, x, b))": "b:bool x:float16", "maximum(x, i)": "x:float32 i:int32", "where(h > 1, h, -h)": "h:float16",
    "x + i": "x:float32 i:uint8", "(x > y) & (x < 3)": "x:float32 y:float32", "where(x > y, x, y * 2)": "x:float32 y:float32",
    "where(b & (x > 0), x, i)": "b:bool x:float32 i:int32", "floor(x)": "x:float32", "sign(x)": "x:float32", "clip(x, 0, 1)": "x:float32",
    "minimum(x, y)": "x:float16 y:float16", "fmax(x, y)": "x:float32 y:float32", "isnan(h)": "h:float16", "x * (x > 0)": "x:float32",
    "x.astype('uint8')": "x:float32", "x.astype('float16')": "x:float32", "i.astype('float32') / 255": "i:uint8", "where(x > 0, x, 0)": "x:float32",
    "z * w": "z:complex64 w:complex64", "z * 2 + 1": "z:complex128", "z * conj(w) - z": "z:complex64 w:complex64", "where(b, z, w)": "b:bool z:complex64 w:complex64",
    "abs(z) * 2": "z:complex64", "z + x": "z:complex64 x:float32",
    "abs(x - b) + where(x > 0, 3, b)": "x:float64 b:bool", "where(x > y, i, 2) * x": "x:float32 y:float32 i:int32",
    "(h > 0) * 1.0": "h:float16", "logical_and(x, y)": "x:float32 y:float32", "x ** 2 + sqrt(y)": "x:float32 y:float32",
}
FOLDS = ["sum", "min", "max", "argmax", "mean", "std"]
INTEGERS, FLOATS = ["int8", "uint8", "int16", "int32"], ["float32", "float32", "float64", "float16"]


def loops_of(source, pattern):
    """Lines of the source, as the compiler counts them (#line names the template's own again behind a text of the user's)."""
    return {number for number, line in enumerate(source.split("\n"), 1) if re.search(pattern, line)}


class PrepareOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("target", ctypes.c_char_p)]


def vectors_of(text, arrays, pattern, target="host"):
    """How many of the loops that the pattern finds have become vectors; none if branches are left in one: a loop is compiled several times, for several numbers
    of steps, and one of them is the slow one."""
    kernel, source, names = ctypes.c_void_p(), ctypes.c_void_p(), ", ".join(arrays)
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), names.encode(), text.encode(), None), text)
    handles = [kiln.wrap(a, a.dtype.name) for a in arrays.values()]
    arguments = (Argument * len(arrays))(*[Argument(1, 0, h.value) for h in handles])
    kiln.check(kiln.c.kiln_kernel_source(ctypes.byref(source), kernel, None, 1, arguments, len(arrays), None, target.encode()), text)
    written = ctypes.string_at(source).decode()
    ctypes.CDLL(None).free(source)
    open(report, "w").close()
    out = (ctypes.c_void_p * 1)(None)
    how = PrepareOptions(ctypes.sizeof(PrepareOptions), 0, target.encode())
    kiln.check(kiln.c.kiln_kernel_prepare(kernel, out, 1, arguments, len(arrays), None, ctypes.byref(how)), text)
    for handle in [h.value for h in handles]:
        kiln.c.kiln_array_free(handle)
    kiln.c.kiln_kernel_free(kernel)
    with open(report) as lines:
        said = lines.read()
    vectors, branches = ({int(m.group(1)) for m in re.finditer(rf"\.cpp:(\d+):\d+: {words}", said)} for words in
                         ("optimized: loop vectorized", r"missed:\s+(?:not vectorized: control flow in loop|couldn.t vectorize loop)"))
    loops = loops_of(written, pattern)
    assert loops, (text, pattern)
    return 0 if branches & loops else len(vectors & loops)


class Body:
    """A random expression, and its dtype: NumPy says which."""

    def __init__(self, rng):
        self.rng = rng
        self.arrays = {name: np.ones(4096, rng.choice(kinds)) for name, kinds in
                       {"b": ["bool"], "c": ["bool"], "i": INTEGERS, "j": INTEGERS, "x": FLOATS, "y": FLOATS}.items()}

    def leaf(self, kind):
        names = {"b": "bc", "i": "ij", "f": "xy"}[kind]
        name = self.rng.choice(names)
        return name, self.arrays[name]

    def make(self, kind, depth):
        if depth == 0:
            return self.leaf(kind)[0]
        part = lambda k=kind: self.make(k, depth - 1)  # noqa: E731
        number = lambda: self.leaf(self.rng.choice("if"))[0]  # noqa: E731
        if kind == "b":
            return self.rng.choice([lambda: f"({self.leaf('f')[0]} {self.rng.choice(['<', '>=', '==', '!='])} {self.make('f', depth - 1)})",
                                    lambda: f"({part()} {self.rng.choice('&|^')} {part()})", lambda: f"~{part()}"])()
        same = [lambda: f"({part()} {self.rng.choice('+-*')} {part()})", lambda: f"{self.rng.choice(['minimum', 'maximum'])}({part()}, {part()})",
                lambda: f"where({part('b')}, {part()}, {part()})", lambda: f"abs({part()})", lambda: f"({part()} * {part('b')})"]
        if kind == "f":
            same += [lambda: f"sqrt({part()})", lambda: f"({part()} + {number()})", lambda: f"({part()} / {part()})", lambda: f"exp({part()})",
                     lambda: f"floor({part()})"]
        return self.rng.choice(same)()

    def text(self):
        return self.make(self.rng.choice("bifff"), self.rng.randint(1, 3))


failed, count = [], 0


def expect(text, arrays, pattern, least=1, target="host"):
    global count
    count += 1
    found = vectors_of(text, arrays, pattern, target)
    words = f"{text} of " + ", ".join(f"{n} {a.dtype.name}{list(a.shape)}" for n, a in arrays.items())
    if options.verbose:
        print(found, words, flush=True)
    if found < least:
        failed.append(words)
        print(f"{found} of {least} loops are vectors: {words}", flush=True)


MAP_LOOP = r"for \(long long kn_at = "
for text, names in drawn(MAPS.items(), 2):
    expect(text, {n: np.ones(4096, d) for n, d in (word.split(":") for word in names.split())}, MAP_LOOP)
for k in range(options.count):
    body = Body(random.Random(options.seed * 1000003 + k))
    expression = body.text()
    used = {n: a for n, a in body.arrays.items() if re.search(rf"\b{n}\b", expression)}
    expect(expression, used, MAP_LOOP)
WIDE_LOOP = r"for \(long long kn_k = 0; kn_k < kn_width"
VECTOR_LOOP = r"for \(int kn_k = 0; kn_k < kn_vector; "
WAYS = [(1, 60, r"for \(int kn_k = 0; kn_k < kn_lanes|kn_k < kn_count; \+\+kn_k\)$", 2), (1, 1000, WIDE_LOOP, 1), (0, 1000, WIDE_LOOP, 1), (0, 5, WIDE_LOOP, 1)]
SHORT_LOOP = r"for \(int kn_k = 0; kn_k < kn_count; \+\+kn_k\) \{$"
for fold, dtype, (axis, length, pattern, least) in drawn(itertools.product(FOLDS, ("float32", "float64", "int32"), WAYS), 12):
    if fold == "argmax" and (axis, length) == (1, 60):  # neighbouring rows are lanes (row_short)
        pattern, least = SHORT_LOOP, 1
    elif fold == "argmax" and (axis, length) == (1, 1000):  # extremes of a row's vectors, then the place
        pattern = VECTOR_LOOP
    expect(f"{fold}(x, axis={axis})", {"x": np.ones((64, length), dtype)}, pattern, least)
# Rows of fewer elements than a vector of bytes has, which AVX-512 makes masks of; compiled, not run.
ROW_LOOP = r"for \(int kn_k = 0; kn_k < kn_n\.value"
for text in drawn(["b * x", "where(b, x, 2)", "where(b & (x > 1), x, -x)", "abs(x - b) + c"], 1):
    names = {"b": np.ones((64, 50), "bool"), "c": np.ones((64, 50), "bool"), "x": np.ones((64, 50), "float64")}
    expect(text, {n: a for n, a in names.items() if re.search(rf"\b{n}\b", text)}, ROW_LOOP, 1, "host:x86-64-v4")
# Elements that lie apart: a vector of a fixed number of them would read beyond the last one.
for text, step, dtype in drawn([("abs(x[..., 1] - b) + c", 4, "float64"), ("x[..., 1] - b", 4, "float32"), ("where(b, x[..., 1], 2)", 4, "float64"),
                                ("x[..., 1] + b", 2, "uint8")], 1):
    names = {"b": np.ones((64, 50), "bool"), "c": np.ones((64, 50), "bool"), "x": np.ones((64, 50, step), dtype)}
    expect(text, {n: a for n, a in names.items() if re.search(rf"\b{n}\b", text)}, MAP_LOOP + "|" + ROW_LOOP)
print(f"{count} kernels, {len(failed)} with loops that are no vectors")
sys.exit(bool(failed))
