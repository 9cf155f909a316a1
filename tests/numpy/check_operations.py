"""The operations of the table against NumPy's, in dtype and value: every dtype; NaN, infinities, ties, negative zeros, nothing at all; axes none, one,
many, kept or dropped; weak numbers; outputs given. Variances against float64. bfloat16, which NumPy has not, against float32 rounded.
Without KILN_SOAK=1 pairs of operations and dtypes are drawn, others at each run.
check_operations.py LIBRARY"""
import ctypes
import inspect
import itertools
import pathlib
import random
import sys
import warnings

import numpy as np

from fuzz_reductions import KEEPDIMS, CallOptions
from host_kernels import FLOATS, INTEGERS, SEED, SOAK, Argument, Library, drawn, in_threads

COMPLEX = ["complex64", "complex128"]
DTYPES = ["bool"] + INTEGERS + FLOATS + COMPLEX
INF, NAN = float("inf"), float("nan")
WEAK = {bool: 2, int: 3, float: 5, complex: 6}


class Definition(ctypes.Structure):
    """The beginning of kiln_operation, whose size is that of all its members up to the texts."""
    _fields_ = [("size", ctypes.c_size_t), ("name", ctypes.c_char_p), ("in_params", ctypes.c_char_p), ("out_params", ctypes.c_char_p),
                ("types", ctypes.c_char_p), ("map", ctypes.c_char_p), ("reduce", ctypes.c_char_p), ("post", ctypes.c_char_p),
                ("identity", ctypes.c_char_p), ("reduce_type", ctypes.c_char_p), ("preamble", ctypes.c_char_p), ("flags", ctypes.c_uint)]


class Operations(Library):
    def __init__(self, path):
        super().__init__(path)
        for name, kind in (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("ndim", ctypes.c_int), ("dtype", ctypes.c_int)):
            getattr(self.c, f"kiln_array_{name}").restype = kind
            getattr(self.c, f"kiln_array_{name}").argtypes = [ctypes.c_void_p]
        self.c.kiln_dtype_name.restype = ctypes.c_char_p

    def result(self, handle):
        """A copy of an array that a call allocated, which is C-ordered. bfloat16 is uint16."""
        dtype = np.dtype(self.c.kiln_dtype_name(self.c.kiln_array_dtype(handle)).decode().replace("bfloat16", "uint16"))
        shape = self.c.kiln_array_shape(handle)[:self.c.kiln_array_ndim(handle)]
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        return np.frombuffer(ctypes.string_at(self.c.kiln_array_data(handle), size) if size else b"", dtype).reshape(shape)

    def argument(self, value, keep, dtype=None):
        if type(value) in WEAK:
            rest = np.zeros(2, np.int64 if type(value) in (bool, int) else np.float64)
            rest[:] = (value.real, value.imag) if isinstance(value, complex) else (value, 0)
            a = Argument(WEAK[type(value)], 0)
            ctypes.memmove(ctypes.addressof(a) + 8, rest.ctypes.data, 16)
            return a
        keep.append(self.wrap(value, dtype or value.dtype.name))
        return Argument(1, 0, keep[-1].value)

    def operate(self, name, values, axes="all", keepdims=False, out=None, n_out=1, dtype=None):
        """A message, or the result. bfloat16 comes as uint16."""
        keep = []
        arguments = (Argument * max(len(values), 1))(*[self.argument(v, keep, dtype) for v in values])
        given = None if out is None else self.wrap(out, out.dtype.name)
        handles = (ctypes.c_void_p * n_out)(given and given.value)
        options = CallOptions(ctypes.sizeof(CallOptions), KEEPDIMS if keepdims else 0)
        if axes != "all":
            options.axes, options.n_axes = (ctypes.c_int * max(len(axes), 1))(*axes), len(axes)
        status = self.c.kiln_operation_call(handles, n_out, name.encode(), arguments, len(values), ctypes.byref(options))
        message = (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode() if status else ""
        results = () if status else [self.result(h) for h in handles] if out is None else [out]
        result = message if status else results[0] if n_out == 1 else tuple(results)
        for h in keep + [ctypes.c_void_p(h) for h in handles if h]:
            self.c.kiln_array_free(h)
        return result

    def express(self, name, values, n_out=1, dtype=None):
        """The same by an expression."""
        params = ", ".join(f"x{k}" for k in range(len(values)))
        return self.evaluate(f"{name}({params})", params, values, n_out, dtype)

    def evaluate(self, text, params, values, n_out=1, dtype=None):
        kernel, keep, handles = ctypes.c_void_p(), [], (ctypes.c_void_p * n_out)()
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), params.encode(), text.encode(), None), text)
        arguments = (Argument * len(values))(*[self.argument(v, keep, dtype) for v in values])
        status = self.c.kiln_kernel_call(kernel, handles, n_out, arguments, len(values), None)
        results = () if status else [self.result(h) for h in handles]
        for h in keep + [ctypes.c_void_p(h) for h in handles if h]:
            self.c.kiln_array_free(h)
        self.c.kiln_kernel_free(kernel)
        self.check(status, text)
        return results


def tolerance(dtype):
    dtype = np.dtype(dtype)
    single = dtype.char in "fF"
    return 0 if dtype.kind in "biu" else 2e-3 if dtype.char == "e" else 2e-6 if single else 1e-13


def compare(got, right, what, loose=1):
    assert not isinstance(got, str), f"{what}: {got}"
    right = np.asarray(right)
    assert got.dtype == right.dtype, f"{what}: {got.dtype}, not {right.dtype}"
    assert got.shape == right.shape, f"{what}: shape {got.shape}, not {right.shape}"
    rtol = tolerance(right.dtype) * loose
    if right.dtype.kind == "c":  # where NumPy has one part NaN the other may be anything
        nan = np.isnan(right)
        assert np.array_equal(np.isnan(got), nan), f"{what}:\n{got}\nnot\n{right}"
        got, right = np.where(nan, 0, got), np.where(nan, 0, right)
        size = np.maximum(np.where(np.isfinite(right), abs(right), 1), 1e-30)
        with np.errstate(invalid="ignore"):
            same = (abs(got - right) <= rtol * size) | (got == right)
        assert np.all(same), f"{what}:\n{got}\nnot\n{right}"
        return
    assert np.allclose(got.astype("f8") if rtol else got, right.astype("f8") if rtol else right, rtol=rtol, atol=rtol * 1e-3, equal_nan=True), \
        f"{what}:\n{got}\nnot\n{right}"


# ---- reductions ----

def norm(order):
    def by_numpy(x, axis, keepdims):
        x = x if x.dtype.kind in "fc" else x.astype("f8")
        size = abs(x).astype("f8")
        size = np.sum(size, axis=axis, keepdims=keepdims) if order == 1 else np.sqrt(np.sum(size ** 2, axis=axis, keepdims=keepdims)) if order == 2 else \
            np.max(size, axis=axis, keepdims=keepdims, initial=0)
        return np.asarray(size).astype(np.linalg.norm(np.ones(1, x.dtype)).dtype)
    return by_numpy


def softmax_sum(x, axis, keepdims):
    if x.dtype.kind == "c":
        raise TypeError("exponentials of complex numbers have no greatest")
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype("f8")
    wide = x.astype("f8")
    return np.asarray(np.sum(np.exp(wide - np.max(wide, axis=axis, keepdims=True)), axis=axis, keepdims=keepdims)).astype(dtype)


def place(which):
    def by_numpy(x, axis, keepdims):
        axis = range(x.ndim) if axis is None else [a % x.ndim for a in axis]
        kept = [a for a in range(x.ndim) if a not in axis]
        rows = np.transpose(x, kept + sorted(axis)).reshape([x.shape[a] for a in kept] + [-1])
        return which(rows, axis=-1).reshape([1 if a in axis else x.shape[a] for a in range(x.ndim)] if keepdims else [x.shape[a] for a in kept])
    return by_numpy


REDUCTIONS = {
    "sum": np.sum, "prod": np.prod, "nansum": np.nansum, "min": np.min, "max": np.max, "nanmin": np.nanmin, "nanmax": np.nanmax, "ptp": np.ptp,
    "argmin": place(np.argmin), "argmax": place(np.argmax), "all": np.all, "any": np.any, "count_nonzero": np.count_nonzero,
    "mean": np.mean, "var": np.var, "std": np.std, "norm_1": norm(1), "norm_2": norm(2), "norm_inf": norm(np.inf),
    "softmax_sum": softmax_sum}
LAYOUTS = [((3, 5, 37), (2,), True), ((40, 2), (-1,), False), ((3, 5, 37), None, False), ((3, 5, 37), (0, -1), False), ((3, 5, 37), (1, 0), True),
           ((4, 3), (), False), ((), None, False),
           ((1, 700), (1,), False)]


def numbers(dtype, shape, special):
    """Small numbers with ties; NaN, infinities and zeros of both signs where they are asked for."""
    dtype = np.dtype(dtype)
    rng = np.random.default_rng(sum(map(ord, dtype.name)) + sum(shape))
    low = 0 if dtype.kind in "bu" else -3
    x = rng.integers(low, 2 if dtype.kind == "b" else 4, size=shape).astype(dtype)
    if dtype.kind == "c":
        x += (1j * rng.integers(-2, 3, size=shape)).astype(dtype)
    if special and dtype.kind in "fc" and x.size:
        x = np.where(rng.random(shape) < 0.3, dtype.type(-0.0), x)
        for value, share in ((NAN, 0.02), (INF, 0.02), (-INF, 0.02)):
            x = np.where(rng.random(shape) < share, dtype.type(value), x)
        if dtype.kind == "c":
            x = np.where(rng.random(shape) < 0.02, dtype.type(complex(1, NAN)), x)
    return np.asarray(x, dtype)


def by_numpy(function, x, axis, keepdims):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(x, axis=axis, keepdims=keepdims)
    except (TypeError, ValueError) as error:
        return error


# ---- scans ----

def accumulated(function, sums=True):
    """NumPy's scan of a function, which in sums and products takes the dtypes that those have; float16 is accumulated in float32, and rounded once."""
    def by_numpy(x, axis):
        wide = x.astype({"b": "i8", "i": "i8", "u": "u8"}.get(x.dtype.kind, x.dtype) if sums else x.dtype)
        if function is np.logaddexp and x.dtype.kind in "biu":
            wide = x.astype("f8")
        wide, axis = (wide.reshape(-1), 0) if axis is None else (wide, axis)
        half = wide.dtype == "f2"
        with np.errstate(all="ignore"):
            return function.accumulate(wide.astype("f4") if half else wide, axis=axis).astype(wide.dtype)
    return by_numpy


SCANS = {"cumsum": accumulated(np.add), "cumprod": accumulated(np.multiply), "cummin": accumulated(np.minimum, False),
         "cummax": accumulated(np.maximum, False), "logcumsumexp": accumulated(np.logaddexp, False)}
SCANNED = [((3, 5, 37), 2), ((3, 500, 4), 1), ((40, 3), None), ((9000,), 0), ((3, 5, 37), 0), ((6,), -1), ((), None), ((0, 3), 0), ((2, 0), None)]


def check_scan(kiln, name, dtype):
    function, count = SCANS[name], 0
    for special in (False, True) if np.dtype(dtype).kind in "fc" else (False,):
        for n, (shape, axis) in enumerate(drawn(SCANNED, 3)):
            x = numbers(dtype, shape, special)
            if x.dtype.kind == "c" and not np.all(np.isfinite(x)):
                continue
            if name == "cumprod" and not special:
                x = np.where(abs(x) > 1, x.dtype.type(1), x)
            what = f"{name} {dtype} {shape} axis {axis} special {special}"
            got = kiln.operate(name, [x], "all" if axis is None else [axis])
            count += 1
            if name == "logcumsumexp" and x.dtype.kind == "c":
                assert isinstance(got, str) and "no variant takes" in got, f"{what}: {got}"
                continue
            right = function(x, axis)
            compare(got, right, what, 10)
            if n % 3 and not SOAK:
                continue
            turned = np.asfortranarray(x[..., ::-1]) if x.ndim else x
            out = np.zeros(right.shape + (2,), right.dtype)[..., 0]
            assert kiln.operate(name, [turned], "all" if axis is None else [axis], out=out) is out, what
            compare(out, function(turned, axis), f"{what} turned, into a given output", 10)
    return count


def check_scan_refusals(kiln):
    x = np.ones((2, 3), "f4")
    for got, words in ((kiln.operate("cumsum", [x], [0], True), "KEEPDIMS was given, but the kernel is a scan"), (kiln.operate("cumsum", [x], [2]), "axis 2 was given"),
                       (kiln.operate("cumsum", [x], out=x.copy()), "without axes the result has one axis of 6"),
                       (kiln.operate("cumsum", [x], [0], out=np.zeros((2, 3), "i8")), "does not hold")):
        assert isinstance(got, str) and words in got, got


def is_far(name, x):
    """What NumPy makes of complex infinities in sums depends on the order."""
    return x.dtype.kind == "c" and name in ("sum", "prod", "nansum", "mean", "var", "std") and not np.all(np.isfinite(x))


def check_reduction(kiln, name, dtype):
    function, count = REDUCTIONS[name], 0
    for special in (False, True) if np.dtype(dtype).kind in "fc" else (False,):
        for shape, axes, keepdims in drawn(LAYOUTS, 4):
            x = numbers(dtype, shape, special)
            if is_far(name, x):
                continue
            if name == "prod":
                x = np.where(abs(x) > 2, x.dtype.type(1), x) if not special else x
            right = by_numpy(function, x, axes, keepdims)
            got = kiln.operate(name, [x], "all" if axes is None else axes, keepdims)
            what = f"{name} {dtype} {shape} axes {axes} special {special}"
            count += 1
            if isinstance(right, Exception):
                assert isinstance(got, str) and "no variant takes" in got, f"{what}: {got}, where NumPy says {right}"
                continue
            compare(got, right, what, 10)
    return count


def check_empty(kiln):
    dtypes = ("bool", "int32", "float16", "float64", "complex64")
    for n, (name, function) in enumerate(REDUCTIONS.items()):
        for dtype in dtypes if SOAK else (dtypes[n % 5], dtypes[(n + 2) % 5]):
            x = np.zeros((3, 0), dtype)
            right, got = by_numpy(function, x, (1,), False), kiln.operate(name, [x], [1])
            if isinstance(right, TypeError):
                assert "no variant takes" in got, f"{name} of no {dtype}: {got}"
            elif name == "ptp" and dtype == "bool":
                assert "no variant takes" in got, f"{name} of no {dtype}: {got}"
            elif isinstance(right, ValueError):
                assert isinstance(got, str) and "axis 1" in got and "no elements" in got, f"{name} of no {dtype}: {got}"
            else:
                compare(got, right, f"{name} of no {dtype}")
            nothing = np.zeros((0, 0), dtype)
            right, got = by_numpy(function, nothing, (1,), False), kiln.operate(name, [nothing], [1])
            if name == "ptp" and dtype == "bool":
                continue
            if isinstance(right, ValueError):
                assert isinstance(got, str) and "axis 1" in got and "no elements" in got, f"{name} of nothing of {dtype}: {got}"
            elif not isinstance(right, TypeError):
                compare(got, right, f"{name} of nothing of {dtype}")
            if not isinstance(got, str) or "axis 1" in got:
                compare(kiln.operate(name, [x], [0]), by_numpy(function, np.zeros((3, 1), dtype), (0,), False)[:0], f"no {name} of {dtype}")


def check_moments(kiln):
    """No cancellation: far means, outliers, ramps; ddof."""
    rng = np.random.default_rng(7)
    for mean, deviation in ((1000, 0.6), (1e6, 1), (0, 1), (-3e4, 0.01)):
        x = (mean + deviation * rng.standard_normal(1 << 20)).astype("f4")
        for data in (x, np.sort(x), np.concatenate([np.zeros(1, "f4"), x]), np.concatenate([np.full(1, mean + 500 * deviation, "f4"), x])):
            right, own = data.astype("f8").var(), data.var()
            got = kiln.operate("var", [data])
            error, theirs = abs(float(got) / right - 1), abs(float(own) / right - 1)
            assert error < max(2e-6, min(1e-4, theirs)), f"var, mean {mean}, deviation {deviation}: {got}, not {right}: {error:.1e}, NumPy {theirs:.1e}"
    for data in ([1, INF], [INF, 1, 2], [-INF, INF], [1, NAN], [INF]):
        assert np.isnan(kiln.operate("var", [np.array(data, "f4")])), data
    x = rng.standard_normal((7, 20)) + 1j * rng.standard_normal((7, 20))
    for dtype in ("float16", "float32", "float64", "complex64", "complex128", "uint8"):
        data = (abs(x) * 50).astype(dtype) if dtype == "uint8" else (x if dtype[0] == "c" else x.real).astype(dtype)
        for name, function in (("var", np.var), ("std", np.std)) if SOAK or dtype in ("float16", "complex64") else (("var", np.var),):
            for ddof in (0, 1, 2.5, 20, 30):
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    right = function(data, axis=1, ddof=ddof)
                compare(kiln.operate(name, [data, ddof], [1]), right, f"{name} {dtype} ddof {ddof}", 10)
            message = kiln.operate(name, [data, data], [1])
            assert isinstance(message, str) and ("'ddof' is one number" in message or "no variant takes" in message), message


def check_outputs(kiln):
    x = np.arange(12, dtype="i2").reshape(3, 4)
    for name, dtype in (("sum", "float32"), ("sum", "int32"), ("max", "complex64"), ("mean", "float16"), ("any", "uint8")):
        out = np.full(4, 77, dtype)
        got = kiln.operate(name, [x], [0], out=out)
        assert got is out and np.array_equal(out, REDUCTIONS[name](x, axis=0).astype(dtype)), f"{name} in {dtype}: {got}"
    truths = np.array([[True, False, True], [True, True, True]])
    for name in ("sum", "prod", "nansum"):
        for axis in (0, 1):
            out = np.zeros(truths.shape[1 - axis], bool)
            got = kiln.operate(name, [truths], [axis], out=out)
            assert got is out and np.array_equal(out, REDUCTIONS[name](truths, axis=axis, out=np.zeros_like(out))), f"{name} of bool in bool: {got}"
    for name, dtype in (("sum", "uint64"), ("sum", "bool"), ("mean", "int64")):
        message = kiln.operate(name, [x], [0], out=np.zeros(4, dtype))
        assert isinstance(message, str) and "does not hold" in message, f"{name} in {dtype}: {message}"


# ---- elementwise ----

UNARY = ("negative positive abs square sign conjugate sqrt exp exp2 expm1 log log2 log10 log1p sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh "
         "arctanh rint cbrt floor ceil trunc fabs deg2rad rad2deg reciprocal spacing sinc i0 real imag angle nan_to_num round modf frexp bitwise_count logical_not invert "
         "isnan isinf isfinite isposinf isneginf signbit").split()
BINARY = ("add subtract multiply divide floor_divide remainder divmod fmod power float_power gcd lcm arctan2 hypot copysign nextafter heaviside "
          "logaddexp logaddexp2 ldexp maximum minimum fmax fmin equal not_equal less less_equal greater "
          "greater_equal logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor left_shift right_shift").split()
PAIRS = ("divmod", "modf", "frexp")  # functions with two results
TRUTHS = set(BINARY[BINARY.index("equal"):BINARY.index("bitwise_and")] + "maximum minimum fmax fmin isnan isinf isfinite logical_not".split())


OTHERS = ["where", "clip"]  # functions of three
OF_THE_DTYPE = "nextafter spacing".split()  # results are neighbours in the dtype, and NumPy's of float16 others than those of float32
OWN_RANGE = "i0 nan_to_num".split()  # infinite in NumPy before the result is; the largest number, which bfloat16 has of its own
UNSETTLED = "maximum minimum fmax fmin".split()  # which zero of two NumPy takes depends on where they lie


def each(results):
    """Of a function with several results all of them, of any other the one."""
    return [np.asarray(r) for r in results] if isinstance(results, tuple) else [np.asarray(results)]


def sinc(x):
    """float16 is rounded once, at the end."""
    return np.sinc(x.astype("f4")).astype("f2") if x.dtype == "f2" else np.sinc(x)


def i0(x):
    """Infinite, where NumPy multiplies infinity by zero; float16 as above."""
    return np.where(np.isinf(x), abs(x), i0(x.astype("f4")).astype("f2") if x.dtype == "f2" else np.i0(x))


def numpys(name):
    return {"sinc": sinc, "i0": i0}.get(name) or getattr(np, name)


def right_dtype(function, values):
    """NumPy's dtypes, or its refusal."""
    try:
        with np.errstate(all="ignore"):
            return " ".join(r.dtype.name for r in each(function(*values)))
    except TypeError:
        return "none"


def grid(name, x, y):
    """The arguments of a function: x alone, or each x beside each y; of ldexp y is a list of integers."""
    if name not in BINARY:
        return [x]
    y = np.array([0, 1, -1, 3, -20, 100, -100, 5000], "i8" if x.size % 2 else "i4") if name == "ldexp" else y
    return [np.ascontiguousarray(v.reshape(-1)) for v in np.meshgrid(x, y)]


def check_dtypes(kiln, name):
    """On empty arrays, for which nothing is compiled: all pairs of dtypes, and of a dtype and a weak number."""
    function, count = numpys(name), 0
    empty = {dtype: np.zeros(0, dtype) for dtype in DTYPES}
    if name in UNARY:
        todo = [(empty[a],) for a in DTYPES]
    else:
        todo = [(empty[a], b) for a in DTYPES for b in [empty[d] for d in DTYPES] + [True, 3, 2.5, 1j]] + [(3, empty[a]) for a in DTYPES]
    if name == "where":
        todo = [(empty[DTYPES[n % len(DTYPES)]], *pair) for n, pair in enumerate(todo)] + [(empty["bool"], *pair) for pair in todo]
    if name == "clip":
        todo = [(a, a, a) for a in empty.values()] + [(empty["float32"], 0, 1.5), (empty["uint8"], 3, 7), (empty["int8"], empty["int16"], 5),
                                                       (empty["uint8"], -5, 100), (empty["int16"], -10**6, 10**6), (empty["uint64"], -1, 3)]
    for values in todo:
        right, got = right_dtype(function, values), kiln.operate(name, values, n_out=2 if name in PAIRS else 1)
        got = "none" if isinstance(got, str) else " ".join(r.dtype.name for r in each(got))
        if isinstance(values[-1], bool) and name == "clip":
            continue
        what = [v.dtype.name if isinstance(v, np.ndarray) else v for v in values]
        if name == "ldexp" and 3 in what:
            continue  # NumPy makes it float16 or int32 first; here it has the dtype of what it stands beside
        assert got == right, f"{name} of {what}: {got}, not {right}"
        count += 1
    return count


def elements(dtype, name):
    """What is special for a dtype; complex numbers without NaN and infinity but for tests and order, where NumPy's own functions agree with themselves."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, 5, 7, 11, 64, ends.max, ends.max - 1] + [0, -1, -2, -3, -7, ends.min, ends.min + 1][:7 if dtype.kind == "i" else 1], dtype)
    reals = [0.0, -0.0, 1, -1, 2, -2, 0.5, -0.5, 2.5, 3, -3.25, 0.1, 7, 1e-3, 300]
    if dtype.kind == "c":
        values = [0, 1, -1, 0.5 + 0.25j, -0.5 + 2j, 2 - 3j, -1.5 - 0.5j, 1j, 3 + 0.001j]
        return np.array(values + ([NAN, complex(1, NAN), complex(NAN, 1), INF, complex(1, INF), -INF] if name in TRUTHS else []), dtype)
    return np.array(reals + [NAN, INF, -INF], dtype)


def loosened(name, dtype):
    """Functions in ulps: those of complex numbers are made of several, and libraries differ."""
    return 60 if np.dtype(dtype).kind == "c" else 4


def check_values(kiln, name, dtype):
    x, function = elements(dtype, name), numpys(name)
    if name == "reciprocal" and x.dtype.kind in "biu":
        x = x[x != 0]  # NumPy's is what the processor makes of infinity
    if name == "spacing" and x.dtype in ("f2", "i1", "u1", "?"):
        x = x[x >= 0]  # NumPy's of a negative float16 has another sign than that of a float32
    values = grid(name, x, x[x >= 0] if name == "power" and x.dtype.kind == "i" else x)
    if name in ("where", "clip"):
        a, b, c = (np.ascontiguousarray(v.reshape(-1)) for v in np.meshgrid(x[:9], x, x[-9:]))
        values = [a, b, c] if name == "clip" else [np.arange(b.size) % 3 == 0, b, c]
    if right_dtype(function, values) == "none":
        return 0
    with np.errstate(all="ignore"):
        right = each(function(*values))
    got = kiln.operate(name, values, n_out=len(right))
    for k, (g, r) in enumerate(zip([got] if isinstance(got, str) else each(got), right)):
        compare(str(g) if isinstance(got, str) else g, r, f"{name} of {dtype}, result {k} {[list(v) for v in values] if len(values) == 1 else ''}", loosened(name, dtype))
    return len(values[0])


def extremes(dtype, name=""):
    """The ends of a dtype; of complex numbers all pairs of parts, those of powers small enough for digits to be left of them."""
    dtype = np.dtype(dtype)
    if dtype.kind in "biu":
        return elements(dtype, "")
    if dtype.kind == "c":
        parts = [0.0, -0.0, 1, -1, 0.5, -2.5, *((3, -4) if name == "power" else (100, -100)), INF, -INF, NAN]
        return np.array([complex(a, b) for a in parts for b in parts], dtype)
    ends = np.finfo(dtype)
    return np.array([0.0, -0.0, 1, -1, 0.5, 3, -3.25, *(sign * float(end) for end in (ends.max, ends.tiny, ends.smallest_subnormal) for sign in (1, -1)), INF, -INF, NAN], dtype)


def is_same(got, right, rtol):
    """By element; a zero's sign counts. Subnormal numbers have fewer digits."""
    kind = right.dtype.type
    with np.errstate(all="ignore"):
        near = np.isfinite(right) & (abs(got.astype("f8") - right) <= max(rtol, 0) * abs(right.astype("f8")) + 2 * float(np.finfo(kind).smallest_subnormal))
    return np.where(right == 0, (got == 0) & (np.signbit(got) == np.signbit(right)) | near & (got != 0), near | (got == right)) | np.isnan(got) & np.isnan(right)


def check_extremes(kiln, name, dtype):
    """NaN, infinities, zeros of both signs, subnormal numbers. Where one part of a complex number is NaN, C99 leaves the sign of the other open in many places."""
    x, function = extremes(dtype, name), numpys(name)
    values = grid(name, x, x)
    if x.dtype.kind not in "fc" or right_dtype(function, values) == "none" or name in UNSETTLED or (x.dtype == "f2" and name in OF_THE_DTYPE) or (x.dtype.kind == "c" and name in BINARY and name != "power"):
        return 0
    with np.errstate(all="ignore"):
        right = each(function(*values))
    got = kiln.operate(name, values, n_out=len(right))
    assert not isinstance(got, str), f"{name} of {dtype}: {got}"
    return sum(compare_extremes(name, dtype, values, *pair) for pair in zip(each(got), right))


def compare_extremes(name, dtype, values, got, right):
    assert got.dtype == right.dtype, f"{name} of {dtype}: {got}"
    if right.dtype.kind not in "fc":
        same = got == right
    elif right.dtype.kind == "f":
        same = is_same(got, right, tolerance(right.dtype) * loosened(name, dtype))
    else:
        free = np.isnan(right)
        parts = [(np.where(free, abs(p), p), np.where(free, abs(q), q)) for p, q in ((got.real, right.real), (got.imag, right.imag))]
        same = np.logical_and(*[is_same(p, q, tolerance(right.dtype) * loosened(name, dtype)) for p, q in parts])
        if name == "expm1":  # NumPy's is a NaN of infinity times 0
            same |= values[0].imag == 0
    wrong = np.flatnonzero(~same)
    assert wrong.size == 0, f"{name} of {dtype}: " + "; ".join(f"{[v[k] for v in values]}: {got[k]}, not {right[k]}" for k in wrong[:8])
    return same.size


def check_mixed(kiln):
    """int64 beside uint64 is compared as whole numbers; inputs are converted; strides and broadcasting as ever."""
    x = np.array([-1, 0, 1, 2**53 + 1, 2**63 - 1, -2**63], "i8").reshape(-1, 1)
    y = np.array([0, 1, 2**53, 2**53 + 2, 2**63 - 1, 2**63, 2**64 - 1], "u8")
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        compare(kiln.operate(name, [x, y]), getattr(np, name)(x, y), name)
        compare(kiln.operate(name, [y, x]), getattr(np, name)(y, x), name)
    for name, values in (("add", (x, y)), ("divide", (x, y)), ("multiply", (np.arange(5, dtype="i1"), np.float32(0.5) * np.ones((3, 1), "f4"))),
                         ("add", (np.arange(20, dtype="f2")[::-2], 0.25)), ("power", (np.arange(5, dtype="f4"), 2)), ("divide", (np.arange(5), 2)),
                         ("where", (np.arange(6)[:, None] % 2 == 0, np.arange(4, dtype="i2"), 1.5)), ("clip", (np.arange(9, dtype="f4"), 1.5, 6))):
        with np.errstate(all="ignore"):
            compare(kiln.operate(name, values), getattr(np, name)(*values), f"{name} of {values}")
    for x, low, high in (([0, 7, 200], -5, 100), ([0, 7, 200], 5, 300), ([3], -1, 10**6)):
        compare(kiln.operate("clip", [np.array(x, "u1"), low, high]), np.clip(np.array(x, "u1"), low, high), f"clip to {low}, {high}")
    for x in (np.linspace(-300, 300, 41, dtype="f4"), np.linspace(-9, 9, 37), np.arange(-60, 60, 5, dtype="i2"), np.linspace(-3, 3, 9) * (1 - 2j)):
        for decimals in (2, 0, -1, -2):
            compare(kiln.operate("round", [x, decimals]), np.round(x, decimals), f"round to {decimals}")
    for values in ((5,), (1, 2, -7)):
        x = np.array([NAN, INF, -INF, 3], "f4")
        compare(kiln.operate("nan_to_num", [x, *values]), np.nan_to_num(x, nan=values[0], **dict(zip(("posinf", "neginf"), values[1:]))), "nan_to_num")
    for low, high in ((300, 400), (-7, -5)):
        message = kiln.operate("clip", [np.zeros(3, "u1"), low, high])
        assert isinstance(message, str) and "does not fit uint8" in message, message
    for condition in ([0, NAN, -0.0, 2], [0, 1j, NAN, 0]):
        compare(kiln.operate("where", [np.array(condition), np.arange(4, dtype="i2"), 9]), np.where(condition, np.arange(4, dtype="i2"), np.int16(9)), "where")
    x = np.random.default_rng(3).integers(1, 10**6, 20000) / 10.0
    values = (x, np.roll(x, 1) / 1000)
    for name in ("floor_divide", "remainder"):
        assert np.array_equal(kiln.operate(name, values), getattr(np, name)(*values)), name
    powers = kiln.operate("power", [np.array([0, 1, -1, -1, 2, -3], "i4"), np.array([-1, -2, -1, -2, -1, -3], "i4")])
    assert list(powers) == [0, 1, -1, 1, 0, 0], powers
    message = kiln.operate("add", [np.zeros(3, "u1"), 300])
    assert isinstance(message, str) and "300" in message, message


def narrow(x):
    """To the nearest bfloat16, ties to even, as uint16."""
    bits = np.asarray(x, "f4").view("u4").astype("u8")
    return np.where(np.isnan(x), bits >> 16 | 0x40, (bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype("u2")


def wide(bits):
    return (bits.astype("u4") << 16).view("f4")


def check_bfloat16(kiln):
    """Beside float32, of which it is the upper half."""
    x = wide(narrow(np.linspace(-3, 3, 41)))
    for name in ("sum", "max", "argmin", "mean", "var", "norm_2", "any", "sqrt", "negative", "add", "floor", "greater"):
        values = [x, x[::-1].copy()] if name in BINARY else [abs(x)] if name == "sqrt" else [x]
        function = REDUCTIONS.get(name) or getattr(np, name)
        right = function(*values, axis=None, keepdims=False) if name in REDUCTIONS else function(*values)
        got = kiln.operate(name, [narrow(v) for v in values], dtype="bfloat16")
        assert not isinstance(got, str), f"{name} of bfloat16: {got}"
        if right.dtype == np.float32:
            assert np.allclose(wide(got), right, rtol=2.0 ** -8), f"{name} of bfloat16: {wide(got)}, not {right}"
        else:
            compare(got, right, f"{name} of bfloat16")


def check_extremes_bfloat16(kiln, name):
    """NumPy's float32 rounded: of every bfloat16, or of pairs of special ones. NaN, infinities and the signs of zeros are as they have to be; what else there
    is is off by a last bit at most, and subnormal numbers by some."""
    ends = [0x0000, 0x3f80, 0x3f00, 0x4040, 0x4050, 0x4120, 0x42c8, 0x7f7f, 0x0080, 0x007f, 0x0001, 0x7f80, 0x7fc0]
    special = wide(np.array([e | s for e in ends for s in (0, 0x8000)], "u2"))
    function = numpys(name)
    values = grid(name, special, special) if name in BINARY else [wide(np.arange(1 << 16).astype("u2"))]
    if name in UNSETTLED + OF_THE_DTYPE + OWN_RANGE or name in PAIRS or right_dtype(function, values) == "none" or any(v.dtype != "f4" for v in values):
        return 0
    if right_dtype(function, values) == "float64":
        return 0  # nothing is rounded
    with np.errstate(all="ignore"):
        right = np.asarray(function(*values))
    got = kiln.operate(name, [narrow(v) for v in values], dtype="bfloat16")
    assert not isinstance(got, str), f"{name} of bfloat16: {got}"
    if right.dtype != np.float32:
        same = got == right
    else:
        rounded, got = wide(narrow(right)), wide(got)
        with np.errstate(all="ignore"):
            near = np.isfinite(rounded) & np.isfinite(got) & (abs(got - rounded) <= 2.0 ** -7 * abs(rounded) + 2 * 2.0 ** -133)
        same = np.where(rounded == 0, near & (np.signbit(got) == np.signbit(rounded)), near | (got == rounded)) | np.isnan(got) & np.isnan(rounded)
    wrong = np.flatnonzero(~same)
    assert wrong.size == 0, f"{name} of bfloat16: {wrong.size} wrong: " + "; ".join(f"{[v[k] for v in values]}: {got[k]}, not {right[k]}" for k in wrong[:8])
    return same.size


def check_names(kiln):
    """Each operation of the table has its counterpart here."""
    special = {line.split()[0] for line in (pathlib.Path(__file__).resolve().parent.parent / "data/special.txt").read_text(encoding="utf-8").splitlines()}
    named, definition = {*REDUCTIONS, *SCANS, *UNARY, *BINARY, *OTHERS, *special}, Definition(ctypes.sizeof(Definition))
    assert kiln.c.kiln_operation_count() > 100
    for index in range(kiln.c.kiln_operation_count()):
        kiln.check(kiln.c.kiln_operation_at(ctypes.byref(definition), index), "kiln_operation_at")
        name = definition.name.decode()
        assert name in named, f"the operation {name} has no counterpart: in NumPy here (REDUCTIONS, SCANS, UNARY, BINARY, OTHERS) or in tests/data/special.txt"


def check_expression(kiln, name, dtype):
    """The same bits by name and in an expression."""
    x = extremes("float32" if dtype == "bfloat16" else dtype, name) if dtype != "bool" else np.array([True, False])
    values = grid(name, x, x[x >= 0] if x.dtype.kind in "iu" else x)
    if name in ("where", "clip"):
        values = [values[0] != 0 if name == "where" else values[0]] + [values[0]] * 2
    values = [narrow(v) for v in values] if dtype == "bfloat16" else values
    n_out = 2 if name in PAIRS else 1
    given = "bfloat16" if dtype == "bfloat16" else None
    right = kiln.operate(name, values, n_out=n_out, dtype=given)
    if isinstance(right, str):
        return 0
    for g, r in zip(kiln.express(name, values, n_out, given), right if n_out == 2 else [right]):
        assert g.dtype == r.dtype, f"{name} of {dtype}: {g.dtype} in an expression, {r.dtype} by name"
        bits = f"u{g.dtype.itemsize}" if g.dtype.kind != "c" else f"u{g.dtype.itemsize // 2}"
        same = (g.view(bits) == r.view(bits)) | ((g != g) & (r != r) if g.dtype.kind == "f" else False) if g.dtype.kind != "c" else (g == r) | (g != g) & (r != r)
        wrong = np.flatnonzero(~same)
        assert wrong.size == 0, f"{name} of {dtype}: " + "; ".join(f"{[v[k] for v in values]}: {g[k]} in an expression, {r[k]} by name" for k in wrong[:8])
    return right[0].size if n_out == 2 else right.size


def arguments_of(name):
    """The names of a function's parameters; of what is no function of Python none."""
    function = getattr(np, name)
    return inspect.signature(function).parameters if inspect.isfunction(inspect.unwrap(function)) else {}


WITH_WHERE = [name for name in dir(np) if {"where", "axis"} <= set(arguments_of(name))]  # NumPy's reductions, whatever there will be


def check_where(kiln, name, dtype, index):
    """where= and initial= of reductions, by expressions: masks that are broadcast, axes, nothing selected, nothing at all. Some pairs are refused by both."""
    rng = random.Random(f"{name} {dtype} {index} {SEED}")
    shape = [rng.choice([0, 1, 3, 5, 40]) for _ in range(rng.choice([1, 2, 3]))]
    x = np.array([rng.choice([0, 1, 2, 3, 4, 5.5, NAN if rng.random() < 0.1 else 7]) for _ in range(int(np.prod(shape)))]).reshape(shape)
    x = np.nan_to_num(x).astype(dtype) if np.dtype(dtype).kind in "biu" else x.astype(dtype)
    mask = np.array([rng.random() < 0.6 for _ in range(int(np.prod(shape)))], bool).reshape(shape)
    mask = np.array(rng.choice([mask, mask[..., :1], mask[0] if shape[0] else mask]))
    is_best = name[-3:] in ("max", "min")
    if x.dtype.kind == "c" and is_best:
        return 0
    words = {"axis": rng.choice([0, -1, tuple(range(len(shape)))])} if rng.random() < 0.7 else {}
    words.update({"keepdims": True} if rng.random() < 0.5 else {})
    if "initial" in arguments_of(name) and (is_best or rng.random() < 0.6):
        words["initial"] = rng.choice([0, 1, 3] if x.dtype.kind in "biu" else [0, 2.5, -100])
    if "ddof" in arguments_of(name) and rng.random() < 0.5:
        words["ddof"] = 1
    if "initial" not in words or rng.random() < 0.75:
        words["where"] = mask
    if "initial" in words and rng.random() < 0.3:
        words["initial"] = None  # no number, and no identity either
    if rng.random() < 0.15:
        words["where"] = True
    text = f"{name}(x, {', '.join(f'{key}=m' if value is mask else f'{key}={value}' for key, value in words.items())})"
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = np.asarray(getattr(np, name)(x, **words))
    except TypeError:  # NumPy's nansum replaces an empty mask by one of float64
        return 0
    except ValueError:
        right = None
    try:
        got, = kiln.evaluate(text, "x, m", [x, mask])
    except RuntimeError:
        got = None
    assert (got is None) == (right is None), f"{text} of {x.dtype} {x.shape}, m {mask.shape}: {got}, not {right}"
    if right is None:
        return 1
    compare(got, right, f"{text} of {x.dtype} {x.shape}, m {mask.shape}", 10)
    return 1


def main():
    kiln = Operations(sys.argv[1])
    check_names(kiln)
    counts = []
    in_threads(lambda job: counts.append(check_reduction(kiln, *job)), drawn(itertools.product(REDUCTIONS, DTYPES), 27))
    print(f"{sum(counts)} reductions")
    counts = []
    in_threads(lambda job: counts.append(check_scan(kiln, *job)), drawn(itertools.product(SCANS, DTYPES), 15))
    check_scan_refusals(kiln)
    print(f"{sum(counts)} scans")
    names = UNARY + BINARY + OTHERS
    counts = [check_dtypes(kiln, name) for name in drawn(names, 6)]
    print(f"{sum(counts)} combinations of dtypes")
    counts = []
    in_threads(lambda job: counts.append(check_values(kiln, *job)), drawn(itertools.product(names, DTYPES), 54))
    todo = drawn(itertools.product(UNARY + BINARY, FLOATS + COMPLEX), 100) + [
        ("sign", "float32"), ("sign", "complex64"), ("tanh", "complex128"), ("arctan", "complex64"), ("power", "complex64")]
    in_threads(lambda job: counts.append(check_extremes(kiln, *job)), todo)
    todo = drawn(UNARY + BINARY, 40)
    in_threads(lambda name: counts.append(check_extremes_bfloat16(kiln, name)), todo)
    halves = itertools.product(names, ["float16", "bfloat16"])  # which expressions compute in float32
    todo = drawn(halves, 20) + drawn(itertools.product(OF_THE_DTYPE, ["float16", "bfloat16"]), 4) + drawn(itertools.product(names, DTYPES), 300)
    in_threads(lambda job: counts.append(check_expression(kiln, *job)), todo)
    print(f"{sum(counts)} elements")
    counts = []
    in_threads(lambda job: counts.append(check_where(kiln, *job)), drawn(itertools.product(WITH_WHERE, DTYPES, range(4)), 80))
    print(f"{sum(counts)} reductions with where= or initial=")
    in_threads(lambda check: check(kiln), drawn([check_empty, check_moments, check_outputs, check_mixed, check_bfloat16], 2))
    print("none wrong")


if __name__ == "__main__":
    main()
