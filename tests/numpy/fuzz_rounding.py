"""Random expressions and bodies with 16-bit floats, bit for bit, in both modes of rounding. As it is stored: what is computed between is float32, and a
cast, a variable of a 16-bit type and a result are rounded. Each (KILN_KERNEL_ROUND_EACH): every operation is, and then NumPy itself says what comes of
an expression without bfloat16. Functions of every float16 are those of the operations called one by one.
fuzz_rounding.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--verbose] [--compile ARCH]
--compile: the same kernels are compiled for an architecture of CUDA's, and not run.
A kernel has TOGETHER expressions. A case is made from the seed and its index alone. KILN_SOAK=1: 2,000 expressions in each mode, and as many bodies."""
import argparse
import ctypes
import os
import random
import re
import sys
import threading
import warnings

os.environ.setdefault("KILN_FORMS", "best" if os.environ.get("KILN_SOAK") == "1" else "quick")

import numpy as np

from fuzz_graphs import Options
from host_kernels import NO_FMA, Argument, Arrays, bits, in_threads

ROUND_EACH, TOGETHER, SIZE = 8, 8, 203
NOT_FOUND = -7
HALVES = ("float16", "bfloat16")
FLOATS = HALVES + ("float32", "float64")
C_NAMES = {"bool": "bool"}
FUNCTIONS = "exp log tanh cbrt exp2 expm1 log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh arcsinh arccosh arctanh sqrt rint floor".split()


# ---- numbers: of 16 bits as the float32 that they are ----

def computed(dtype):
    return np.dtype("float32" if dtype in HALVES else dtype)


def to_bfloat16(x):
    """The nearest one, ties to even, as a float32."""
    x = np.asarray(x)
    near = x.astype("float32")
    if x.dtype == "float64":  # what float32 cuts off leaves its last bit set
        low = np.abs(near.astype("float64")) > np.abs(x)
        u = near.view("uint32") - low.astype("uint32") | (near != x).astype("uint32")
        near = np.where(np.isfinite(near) | (np.isinf(near) & np.isfinite(x)), u.view("float32"), near)
    u = near.view("uint32")
    rounded = (u + np.uint32(0x7fff) + (u >> 16 & 1)) & np.uint32(0xffff0000)
    return np.where(np.isnan(near), near, rounded.view("float32"))


def rounded(x, dtype):
    """A value converted to a dtype, in the dtype in which that is computed."""
    if dtype == "bfloat16":
        return to_bfloat16(x if np.asarray(x).dtype.kind == "f" else np.asarray(x, "float64"))
    return np.asarray(x).astype(dtype).astype(computed(dtype))


def promoted(a, b):
    if a == b or "bool" in (a, b):
        return b if a == "bool" else a
    if {a, b} == set(HALVES):
        return "float32"
    if "bfloat16" in (a, b):
        other = a if b == "bfloat16" else b
        return {"int8": "bfloat16", "uint8": "bfloat16", "int16": "float32"}.get(other, other if other.startswith("f") else "float64")
    return np.result_type(a, b).name


class Value:
    def __init__(self, text, dtype, data):
        self.text, self.dtype, self.data = text, dtype, data


# ---- expressions ----

class Expressions:
    def __init__(self, rng, values, each):
        self.rng, self.leaves, self.each = rng, values, each

    def settle(self, text, dtype, data):
        return Value(text, dtype, rounded(data, dtype) if self.each and dtype in HALVES else data)

    def operand(self, v, dtype):
        """A value as one of the dtype in which is computed; numbers of Python's take it."""
        if isinstance(v, (int, float)):
            return rounded(np.float64(v), dtype)
        return v.data.astype(computed(dtype))

    def leaf(self):
        return self.rng.choice(self.leaves)

    def float_leaf(self):
        return self.rng.choice([v for v in self.leaves if v.dtype in FLOATS])

    def binary(self, a, b):
        sign, f = self.rng.choice([("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)])
        if self.rng.random() < 0.2:
            b = self.rng.choice([2, 3, 0.1, 2049, -1, 1e-4])
        is_number = not isinstance(b, Value)
        dtype = a.dtype if is_number else promoted(a.dtype, b.dtype)
        if dtype not in FLOATS:
            return self.unary(self.float_leaf())
        data = f(self.operand(a, dtype), self.operand(b, dtype))
        return self.settle(f"({a.text} {sign} {b if is_number else b.text})", dtype, data)

    def unary(self, a):
        text, f = self.rng.choice([("(-{})", np.negative), ("abs({})", np.abs), ("sqrt(abs({}))", lambda x: np.sqrt(np.abs(x))), ("floor({})", np.floor),
                                   ("rint({})", np.rint), ("({} ** 2)", np.square), ("square({})", np.square)])
        return self.settle(text.format(a.text), a.dtype, f(self.operand(a, a.dtype)))

    def cast(self, a):
        dtype = self.rng.choice(["float16", "float16", "bfloat16", "float32", "float64"])
        text = self.rng.choice(["({}).astype({})", "astype({}, {})"]).format(a.text, dtype)
        return Value(text, dtype, rounded(a.data, dtype))

    def compared(self, a, b):
        dtype = promoted(a.dtype, b.dtype)
        sign, f = self.rng.choice([("<", np.less), ("<=", np.less_equal), ("==", np.equal), ("!=", np.not_equal), (">", np.greater)])
        return Value(f"({a.text} {sign} {b.text})", "bool", f(self.operand(a, dtype), self.operand(b, dtype)))

    def chosen(self, c, a, b):
        dtype = promoted(a.dtype, b.dtype)
        return self.settle(f"where({c.text}, {a.text}, {b.text})", dtype, np.where(c.data, self.operand(a, dtype), self.operand(b, dtype)))

    def larger(self, a, b):
        dtype = promoted(a.dtype, b.dtype)
        x, y = np.abs(self.operand(a, dtype)), np.abs(self.operand(b, dtype))
        return self.settle(f"maximum(abs({a.text}), abs({b.text}))", dtype, np.maximum(x, y))

    def largest(self, a):
        return self.settle(f"max(abs({a.text}))", a.dtype, np.max(np.abs(self.operand(a, a.dtype))))

    def own(self, a, b):
        """A kernel of the user's: what its text converts to T is rounded, and in the other mode what its operators give."""
        name = self.rng.choice(["k_plain", "k_cast", "k_choice", "k_function"])
        if a.dtype != b.dtype:
            b = a
        keep = (lambda x: rounded(x, a.dtype)) if self.each else lambda x: x
        cut, x, y = lambda x: rounded(x, a.dtype), a.data, b.data
        data = {"k_plain": lambda: keep(keep(x * y) + x), "k_cast": lambda: keep(cut(x * y) + computed(a.dtype).type(1)),
                "k_choice": lambda: np.where(x > y, x, computed(a.dtype).type(0)), "k_function": lambda: cut(keep(x + y)) - x}[name]()
        return self.settle(f"{name}({a.text}, {b.text})", a.dtype, data)

    def grow(self, depth):
        if depth == 0:
            return self.float_leaf()
        a, b = self.grow(depth - 1), self.grow(self.rng.randint(0, depth - 1)) if self.rng.random() < 0.8 else self.leaf()
        way = self.rng.random()
        if way < 0.45:
            return self.binary(a, b)
        if way < 0.6:
            return self.unary(a)
        if way < 0.75:
            return self.cast(a)
        b = b if b.dtype in FLOATS else a
        if way < 0.8:
            return self.larger(a, b)
        if way < 0.9:
            return self.own(a, b)
        if way < 0.93:
            return self.largest(a)
        return self.chosen(self.compared(a, b), a, b)

    def result(self):
        v = self.grow(self.rng.randint(1, 5))
        way = self.rng.random()
        if way < 0.15:
            return self.compared(v, self.float_leaf())
        if way < 0.5 and v.dtype in HALVES:  # what it is before it is stored
            return Value(f"({v.text}).astype(float32)", "float32", v.data.astype("float32"))
        return Value(v.text, v.dtype, rounded(v.data, v.dtype))


OWN = {"k_plain": "z = x * y + x", "k_cast": "T t = x * y; z = t + (T)1", "k_choice": "z = x > y ? x : T(0)",
       "k_function": "z = half_of(x + y) - x"}


def numpy_own(name, x, y):
    if x.dtype != y.dtype:
        y = x
    one = x.dtype.type(1)
    return {"k_plain": lambda: x * y + x, "k_cast": lambda: x * y + one, "k_choice": lambda: np.where(x > y, x, x.dtype.type(0)),
            "k_function": lambda: x + y - x}[name]()


NAMES = {n: getattr(np, n) for n in "sqrt floor rint square where maximum abs float16 float32 float64".split()}
NAMES["max"] = np.max
NAMES["astype"] = lambda x, dtype: x.astype(dtype)
NAMES.update({name: lambda x, y, name=name: numpy_own(name, x, y) for name in OWN})


# ---- bodies ----

class Bodies:
    """Statements in C++: of two 16-bit numbers an operator gives a float, or, where each is rounded, one of 16 bits; a variable declared T is one."""

    def __init__(self, rng, values, dtype, each):
        self.rng, self.half, self.each = rng, dtype, each
        self.values = values  # of type "T" or "float32"

    def settle(self, text, data, *of):
        is_half = self.each and all(v.dtype in ("T", "int") for v in of)
        return Value(text, "T" if is_half else "float32", rounded(data, self.half) if is_half else data)

    def grow(self, depth):
        if depth == 0:
            return self.rng.choice(self.values)
        a = self.grow(depth - 1)
        way = self.rng.random()
        if way < 0.5:
            b = self.grow(self.rng.randint(0, depth - 1)) if self.rng.random() < 0.8 else Value("3", "int", np.float32(3))
            sign, f = self.rng.choice([("+", np.add), ("-", np.subtract), ("*", np.multiply), ("/", np.divide)])
            return self.settle(f"({a.text} {sign} {b.text})", f(a.data, b.data), a, b)
        if way < 0.65:
            return Value(f"T({a.text})", "T", rounded(a.data, self.half))
        if way < 0.75:
            return Value(f"({a.text} > 1 ? T({a.text}) : T(2))", "T", np.where(a.data > 1, rounded(a.data, self.half), np.float32(2)))
        if way < 0.8:
            return Value(f"(+{a.text})", "float32", a.data)
        text, f = self.rng.choice([("(-{})", np.negative), ("fabs({})", np.abs), ("sqrt(fabs({}))", lambda x: np.sqrt(np.abs(x))), ("floor({})", np.floor),
                                   ("fma({0}, {0}, fabs({0}))", None), ("min({0}, 5 * {0})", None)])
        if "fma" in text:
            exact = a.data.astype("float64") ** 2 + np.abs(a.data.astype("float64"))  # above 0: compilers fold -fma(), and lose the sign of a zero
            if a.dtype != "T":  # the sum of a product of float32 may not be exact in float64
                return a
            return self.settle(text.format(a.text), exact.astype("float32"), a)
        if "min" in text:
            five = rounded(a.data * np.float32(5), self.half) if self.each and a.dtype == "T" else a.data * np.float32(5)
            return self.settle(text.format(a.text), np.fmin(a.data, five), a)
        return self.settle(text.format(a.text), f(a.data), a)

    def statements(self, count):
        body, inputs = "", list(self.values)
        for k in range(self.rng.randint(0, 3)):
            v, kind = self.grow(self.rng.randint(1, 3)), self.rng.choice(["T", "T", "float"])
            data = rounded(v.data, self.half) if kind == "T" else v.data
            body += f"{kind} t{k} = {v.text};\n"
            if kind == "T" and self.rng.random() < 0.3:
                other = self.rng.choice(inputs)
                body += f"t{k} += {other.text};\n"
                data = rounded(data + other.data, self.half)
            self.values = self.values + [Value(f"t{k}", "T" if kind == "T" else "float32", data)]
        results = []
        for k in range(count):
            v, dtype = self.grow(self.rng.randint(1, 4)), self.rng.choice([self.half, "float32"])
            body += f"z{k} = {v.text};\n"
            results.append(Value(v.text, dtype, rounded(v.data, dtype)))
        return body, results


# ---- the library ----

class NoCompiler(Exception):
    pass


class PrepareOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("target", ctypes.c_char_p)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


class Rounding(Arrays):
    arch = None

    def __init__(self, path):
        super().__init__(path)
        self.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        self.lock, self.wrong, self.values = threading.Lock(), [], 0
        self.options = []
        for flags in (0, ROUND_EACH):
            own = (ctypes.c_void_p * len(OWN))(*[self.elementwise(name, "T x, T y", "T z", body, flags) for name, body in OWN.items()])
            self.options.append(Options(ctypes.sizeof(Options), NO_FMA | flags, kernels=ctypes.cast(own, ctypes.c_void_p), n_kernels=len(OWN)))
            self.options[-1].own = own

    def elementwise(self, name, params, outs, body, flags):
        out = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), flags, preamble=b"template <class U> __device__ U same(U x) { return x; }\n__device__ T half_of(T x) { return x; }" if "half_of" in body else None)
        self.check(self.c.kiln_elementwise_create(ctypes.byref(out), params.encode(), outs.encode(), body.encode(), name.encode(), ctypes.byref(options)), body)
        return out.value

    def array(self, v):
        stored = (v.data.view("uint32") >> 16).astype("uint16") if v.dtype == "bfloat16" else v.data.astype(v.dtype)
        out = ctypes.c_void_p()
        self.check(self.c.kiln_array_from_host(ctypes.byref(out), np.ascontiguousarray(stored).ctypes.data_as(ctypes.c_void_p), self.dtype_number(v.dtype),
                                               stored.ndim, (ctypes.c_int64 * stored.ndim)(*stored.shape), self.device), "upload")
        return out

    def numbers(self, handle):
        dtype = self.c.kiln_dtype_name(self.c.kiln_array_dtype(handle)).decode()
        out = np.empty(self.c.kiln_array_shape(handle)[:self.c.kiln_array_ndim(handle)], "uint16" if dtype == "bfloat16" else dtype)
        self.check(self.c.kiln_array_to_host(handle, out.ctypes.data_as(ctypes.c_void_p), out.nbytes), "download")
        return dtype, (out.astype("uint32") << 16).view("float32") if dtype == "bfloat16" else out

    def reduction(self, body, flags):
        out, options = ctypes.c_void_p(), Options(ctypes.sizeof(Options), NO_FMA | flags, preamble=b"enum { FIFTY = 50 };")
        self.check(self.c.kiln_reduction_create(ctypes.byref(out), b"T x", b"float32 y", body.encode(), b"a + b", b"y = a", b"0", b"total", ctypes.byref(options)),
                   body)
        return out

    def call(self, kernel, values, n_out, how=None):
        handles, outs = [self.array(v) for v in values], (ctypes.c_void_p * n_out)()
        arguments = (Argument * len(handles))(*[Argument(1, 0, h.value) for h in handles])
        self.check(self.c.kiln_kernel_call(kernel, outs, n_out, arguments, len(handles), how), "call")
        results = [self.numbers(h) for h in outs]
        for h in list(outs) + [h.value for h in handles]:
            self.c.kiln_array_free(h)
        return results

    def compile(self, kernel, values, n_out, arch, how=None):
        handles = [self.array(v) for v in values]
        arguments = (Argument * len(handles))(*[Argument(1, 0, h.value) for h in handles])
        options = PrepareOptions(ctypes.sizeof(PrepareOptions), 0, arch.encode())
        status = self.c.kiln_kernel_prepare(kernel, None, n_out, arguments, len(handles), how, ctypes.byref(options))
        for h in handles:
            self.c.kiln_array_free(h)
        if status == NOT_FOUND and not os.environ.get("KILN_REQUIRE_NVRTC"):
            raise NoCompiler(self.c.kiln_error_message().decode())
        self.check(status, "compile")

    def results(self, kernel, values, n_out, how=None):
        if not self.arch:
            return self.call(kernel, values, n_out, how)
        self.compile(kernel, values, n_out, self.arch, how)
        return []

    def compare(self, case, got, right, text):
        dtype, data = got
        wanted = right.data.astype("float16") if right.dtype == "float16" else np.asarray(right.data)
        wanted = np.broadcast_to(wanted, data.shape)
        with self.lock:
            self.values += data.size
        if dtype != right.dtype:
            raise AssertionError(f"case {case}: {text} is {dtype}, not {right.dtype}")
        different = bits(data) != bits(wanted)
        if different.any():
            at = int(np.argmax(different))
            raise AssertionError(f"case {case}: {text}: {int(different.sum())} of {data.size} differ, at {at} {data[at]!r} rather than {wanted[at]!r}")


def drawn(rng, dtype, name):
    """Numbers of all sizes, with special ones among them."""
    generator = np.random.default_rng(rng.getrandbits(64))
    if dtype == "bool":
        return Value(name, dtype, generator.integers(0, 2, SIZE).astype(bool))
    if dtype.startswith(("i", "u")):
        return Value(name, dtype, generator.integers(0 if dtype[0] == "u" else -100, 101, SIZE).astype(dtype))
    x = generator.normal(size=SIZE) * 10.0 ** generator.uniform(-5, 4.5, SIZE)
    special = generator.integers(0, SIZE, 12)
    x[special] = [0, -0.0, np.inf, -np.inf, np.nan, 65504, 300, 2049, 1 + 2.0 ** -11, 6e-8, 1, -2]
    x[generator.integers(0, SIZE, 20)] = 2.0
    with np.errstate(all="ignore"):
        return Value(name, dtype, rounded(x, dtype))


def check_expressions(kiln, seed, index, verbose):
    rng = random.Random(seed * 1000003 + index)
    state = rng.getstate()
    for each in (False, True):
        rng.setstate(state)
        dtypes = [rng.choice(["float16", "float16", "bfloat16"])] + [rng.choice("float16 float16 bfloat16 float32 float64 int8 uint8 int16 bool".split()) for _ in range(3)]
        inputs = [drawn(rng, dtype, name) for dtype, name in zip(dtypes, "abcd")]
        maker = Expressions(rng, inputs, each)
        results = [maker.result() for _ in range(TOGETHER)]
        text = ", ".join(r.text for r in results)
        case = f"--first {index} --seed {seed}, {'each' if each else 'stored'}, " + ", ".join(f"{v.text} {v.dtype}" for v in inputs)
        if verbose:
            print(case, text, flush=True)
        kernel = ctypes.c_void_p()
        kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"a, b, c, d", text.encode(), ctypes.byref(kiln.options[each])), text)
        for got, r in zip(kiln.results(kernel, inputs, len(results)), results):
            kiln.compare(case, got, r, r.text)
            typed = {v.text: v.data.astype(v.dtype) for v in inputs if v.dtype != "bfloat16"}
            if each and "bfloat16" not in r.text and set(re.findall(r"\b[abcd]\b", r.text)) <= set(typed):
                kiln.compare(case + ", NumPy", got, Value(r.text, r.dtype, eval(r.text, dict(NAMES), typed)), r.text)
        kiln.c.kiln_kernel_free(kernel)


def check_bodies(kiln, seed, index, verbose):
    rng = random.Random(seed * 1000033 + index)
    state = rng.getstate()
    for each in (False, True):
        rng.setstate(state)
        half = rng.choice(HALVES)
        inputs = [drawn(rng, half, "x"), drawn(rng, half, "y"), drawn(rng, "float32", "f")]
        maker = Bodies(rng, [Value("x", "T", inputs[0].data), Value("y", "T", inputs[1].data), Value("x", "T", inputs[0].data), Value("f", "float32", inputs[2].data)], half, each)
        body, results = maker.statements(TOGETHER)
        case = f"--first {index} --seed {seed}, {'each' if each else 'stored'}, T {half}"
        if verbose:
            print(case, body, flush=True)
        outs = ", ".join(f"{r.dtype} z{k}" for k, r in enumerate(results))
        kernel = ctypes.c_void_p(kiln.elementwise("body", "T x, T y, float32 f", outs, body, NO_FMA | (ROUND_EACH if each else 0)))
        for got, r in zip(kiln.results(kernel, inputs, len(results)), results):
            kiln.compare(case, got, r, f"{r.text} of\n{body}")
        kiln.c.kiln_kernel_free(kernel)


def check_reductions(kiln, body, each):
    """Sums of whole numbers, which are exact: of one, of few and many, along rows and across them. Texts of the kernels' own count in enumerators."""
    kernel, axis = kiln.reduction(body, ROUND_EACH if each else 0), (ctypes.c_int * 1)()
    for shape, axis[0] in ((1,), 0), ((5000,), 0), ((300, 70), 0), ((300, 70), 1), ((9, 2000), 1), ((2000, 5), 0):
        x = Value("x", "float16", (np.random.default_rng(5).integers(40, 61, shape) | 1).astype("float32"))
        square = rounded(x.data * x.data, "float16") if each else x.data * x.data
        right = (square - 2500).sum(axis=axis[0])
        how = ctypes.byref(CallOptions(ctypes.sizeof(CallOptions), axes=axis, n_axes=1))
        for got in kiln.results(kernel, [x], 1, how):
            kiln.compare(f"{shape} over {axis[0]}, {'each' if each else 'stored'}", got, Value(body, "float32", right), body)
    kiln.c.kiln_kernel_free(kernel)


def check_between(kiln, dtype, each):
    """What lies between the kernels of one expression: sums that differ by less than a 16-bit float holds of them. A kernel of the user's that reads one as a
    whole has it in the dtype that it asks for."""
    x = Value("x", dtype, np.ones((2, 9000), "float32"))
    x.data[1, :3] = 2
    flags = ROUND_EACH if each else 0
    own = (ctypes.c_void_p * 1)(kiln.elementwise("k_raw", "raw T x, float32 f", "float32 z", "z = (float)x[i]", flags))
    options = Options(ctypes.sizeof(Options), NO_FMA | flags, kernels=ctypes.cast(own, ctypes.c_void_p), n_kernels=1)
    sums = x.data.sum(1)
    rows = rounded(sums, dtype) if each else sums
    results = [Value("(sum(x, axis=1)[::-1] - sum(x, axis=1)).astype(float32)", "float32", rows[::-1] - rows),
               Value("sum(x, axis=1)[::-1].astype(float32)", "float32", rows[::-1]),
               Value("k_raw(sum(x, axis=1), zeros(2, dtype=float32))", "float32", rounded(sums, dtype))]
    for some in (results[:2], results[2:]):  # in one expression they would have one sum
        kernel, text = ctypes.c_void_p(), ", ".join(r.text for r in some)
        kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x", text.encode(), ctypes.byref(options)), text)
        for got, r in zip(kiln.results(kernel, [x], len(some)), some):
            kiln.compare(f"{dtype}, {'each' if each else 'stored'}", got, r, r.text)
        kiln.c.kiln_kernel_free(kernel)


def check_functions(kiln, names):
    """What an expression makes of a function's result is what the operation called by itself has stored."""
    every = Value("x", "float16", np.arange(65536).astype("uint16").view("float16").astype("float32"))
    kernel, x = ctypes.c_void_p(), kiln.array(every)
    text = ", ".join(f"{name}(x).astype(float32)" for name in names)
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x", text.encode(), ctypes.byref(kiln.options[1])), text)
    for name, got in zip(names, kiln.results(kernel, [every], len(names))):
        out = (ctypes.c_void_p * 1)()
        kiln.check(kiln.c.kiln_operation_call(out, 1, name.encode(), ctypes.byref(Argument(1, 0, x.value)), 1, None), name)
        eager = kiln.numbers(out[0])[1].astype("float32")
        kiln.compare("functions", got, Value(name, "float32", eager), name)
        kiln.c.kiln_array_free(out[0])
    kiln.c.kiln_array_free(x)
    kiln.c.kiln_kernel_free(kernel)


def main():
    is_soak = os.environ.get("KILN_SOAK") == "1"
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=2000 if is_soak else 16, help="expressions in each mode, and results of bodies")
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", help="host, cuda:0; default: KILN_TARGET")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--compile", metavar="ARCH")
    o = parser.parse_args()
    if o.target:
        os.environ["KILN_TARGET"] = o.target
    kiln, kernels = Rounding(o.library), range(o.first, o.first + o.count // TOGETHER)
    kiln.arch = o.compile

    def one(what):
        check, *given = what
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check(kiln, *given)

    names = FUNCTIONS if is_soak else FUNCTIONS[:2]
    try:
        sums = [(check_reductions, "x * x - FIFTY * (T)FIFTY", each) for each in (True, False)]
        between = [(check_between, half, each) for half in HALVES for each in (True, False)]
        work = [(check_functions, names)] + sums + between + [(check, o.seed, k, o.verbose) for k in kernels for check in (check_expressions, check_bodies)]
        in_threads(one, work)
    except NoCompiler as why:
        print(f"skipped: {why}")
        sys.exit(77)
    print(f"{TOGETHER * len(kernels)} expressions and as many results of bodies in each mode, "
          + (f"compiled for {o.compile}" if o.compile else f"{kiln.values} values, none wrong"))


if __name__ == "__main__":
    main()
