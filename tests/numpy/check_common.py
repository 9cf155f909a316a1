"""out=, where=, dtype=, casting= and order= of elementwise operations in expressions, and out= of other functions, against NumPy: dtypes, refusals, elements that a mask
leaves out, the name that is given anew, the layout of results. check_common.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import os
import random
import warnings

import numpy as np

from check_operations import BINARY, UNARY, PAIRS, elements
from check_searches import placed
from check_sort_names import Names
from fuzz_reductions import CallOptions
from host_kernels import Argument, SEED, SOAK, drawn, in_threads, near, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
UFUNCS = [name for name in UNARY + BINARY if isinstance(getattr(np, name), np.ufunc)]
CASTINGS = ["no", "equiv", "safe", "same_kind", "unsafe"]
COMPARED = BINARY[BINARY.index("equal"):BINARY.index("logical_and")]


class Common(Names):
    def evaluate(self, text, arrays, rng, n_out, lies=None):
        """The results, or the message. lies: arrays that are taken as they lie, and of results whether they lie in Fortran's order."""
        kernel, held, out = ctypes.c_void_p(), [], (ctypes.c_void_p * n_out)()
        names = ", ".join(arrays) or ""
        if self.c.kiln_expression_create(ctypes.byref(kernel), names.encode(), text.encode(), None):
            return self.c.kiln_error_message().decode()
        as_given = lambda a: self.wrap(a, a.dtype.name)  # noqa: E731
        given = (Argument * max(len(arrays), 1))(*[Argument(1, 0, (as_given(a) if lies is not None else placed(self, rng, a, held)).value) for a in arrays.values()])
        status = self.c.kiln_kernel_call(kernel, out, n_out, given, len(arrays), None)
        got = (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode() if status else None
        if lies is not None and not status:
            for array in out:
                ndim = self.c.kiln_array_ndim(array)
                lies.append((self.c.kiln_array_strides(array)[:ndim], self.c.kiln_array_shape(array)[:ndim]))
        got = got or [self.taken(array) for array in out]
        for handle in reversed(held):
            self.c.kiln_array_free(handle)
        self.c.kiln_kernel_free(kernel)
        return got


def by_numpy(function, values, words):
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = function(*values, **words)
        return list(result) if isinstance(result, tuple) else [result]
    except (TypeError, ValueError, OverflowError) as error:
        return error


def numbers(rng, name, dtype, shape):
    """Elements that a function has a value for, of moderate size."""
    x = np.array([rng.choice([0, 1, 2, 3, 5, 7]) for _ in range(int(np.prod(shape)))], dtype).reshape(shape)
    if np.dtype(dtype).kind in "fc":
        x = np.asarray(x / 4, dtype)
    return x


def same(got, right, text):
    """Within a few units of the dtype that it is computed in."""
    return near(got, right, 8, [d for d in ("float16", "float32", "complex64") if f"dtype={d}" in text])


def call_case(rng):
    """A call of a ufunc with some of these arguments: its text, arrays, and what NumPy makes of it."""
    name = rng.choice(UFUNCS)
    function = getattr(np, name)
    shape = rng.choice([(3,), (2, 3), (2, 1, 3), (), (0,), (4, 3)])
    arrays, values, texts = {}, [], []
    dtype = rng.choice(DTYPES)
    for k in range(function.nin):
        own = dtype if rng.random() < 0.6 else rng.choice(DTYPES)
        number = rng.choice([True, 2, 1.5, 3])
        if k == 1 and rng.random() < 0.25:
            values.append(number)
            texts.append(repr(number))
            continue
        values.append(numbers(rng, name, own, shape if k == 0 or rng.random() < 0.5 else shape[-1:]))
        texts.append("xy"[k])
        arrays["xy"[k]] = values[-1]
    words, more = {}, []
    wide = (np.broadcast_shapes(*[np.shape(v) for v in values]))
    plain = by_numpy(function, values, {})
    if rng.random() < 0.6:
        words["dtype"] = plain[0].dtype.name if not isinstance(plain, Exception) and rng.random() < 0.3 else rng.choice(DTYPES)
        more.append(f"dtype={words['dtype']}")
    if rng.random() < 0.4:
        words["casting"] = rng.choice(CASTINGS)
        more.append(f"casting='{words['casting']}'")
    is_wide = rng.random() < 0.2
    if rng.random() < 0.6:
        of = (2, *wide) if is_wide else wide
        dtypes = [rng.choice(DTYPES) if isinstance(plain, Exception) or rng.random() < 0.4 else r.dtype.name for r in (plain if not isinstance(plain, Exception) else [0] * function.nout)]
        out = [numbers(rng, name, d, of if rng.random() < 0.9 else shape[:-1]) for d in dtypes]
        arrays.update(zip("zw", out))
        words["out"] = tuple(o.copy() for o in out)
        more.append("out=z" if len(out) == 1 else "out=(z, w)")
    if rng.random() < 0.5:
        kind = rng.choice(["bool"] * 9 + ["int32"])
        words["where"] = numbers(rng, name, kind, rng.choice([wide, wide[-1:], ()]) if kind == "bool" else wide)
        arrays["m"] = words["where"]
        more.append("where=m")
    rng.shuffle(more)
    right = by_numpy(function, values, words)
    if not isinstance(right, Exception) and "where" in words and "out" not in words:
        right = [np.where(words["where"], r, r.dtype.type(0)) for r in right]
        right = [np.asarray(r) for r in right]
    text = f"{name}({', '.join(texts + more)})"
    return name, text, arrays, right, function.nout, plain


def is_left_out(name, text, arrays, right, plain):
    """What is not compared: a float that an unsafe cast makes an integer, a number by value of another kind among comparisons and truths without casts, which NumPy refuses or
    takes by rules of their own; float16, which is rounded once, at the end, in another dtype; quotients by zero."""
    is_strict, is_unsafe = "'no'" in text or "'equiv'" in text, "'unsafe'" in text
    if is_strict and (name in (*COMPARED, "power") or name.startswith("logical_")) or name == "ldexp" and not arrays.keys() >= {"x", "y"}:
        return True
    unsigned = any(a.dtype.kind == "u" for a in arrays.values())
    if is_strict and unsigned and any(f", {number}" in text for number in (2, 3)) or name == "ldexp" and unsigned:
        return True
    if is_unsafe and ("1.5" in text or any(a.dtype.kind in "fc" for a in arrays.values())):
        return True
    if isinstance(right, Exception):
        return False
    halves = "dtype=float16" in text or not isinstance(plain, Exception) and any(r.dtype == "float16" for r in plain)
    is_half = halves and any(np.asarray(r).dtype != "float16" for r in right)
    zero = name == "reciprocal" or any(np.asarray(r).dtype.kind in "fc" and not np.all(np.isfinite(r)) for r in right)
    return is_half or zero


def check_call(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    name, text, arrays, right, n_out, plain = call_case(rng)
    if is_left_out(name, text, arrays, right, plain):
        return False
    dtypes = {k: f"{v.dtype.name}{list(v.shape)}" for k, v in arrays.items()}
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtypes}"
    got = kiln.evaluate(text, arrays, rng, n_out)
    if isinstance(right, Exception):
        assert isinstance(got, str), f"{what}: {got}, where NumPy says {right}"
        return False
    assert not isinstance(got, str), f"{what}: {got}, where NumPy has {right}"
    for g, r in zip(got, right):
        assert same(g, r, text), f"{what}: {g} {g.dtype}, not {r} {np.asarray(r).dtype}; {arrays}"
    return True


ORDERS = "add(x, y, order='{}')", "x = sin(x); multiply(x, y, order='{}')", "ones_like(x, order='{}')", "zeros((3, 4, 2), order='{}')", "divmod(x, y, order='{}')[1]"


def check_orders(kiln, rng):
    """Results lie as order says."""
    laid = {"C": lambda a: a, "F": np.asfortranarray, "turned": lambda a: np.ascontiguousarray(a.transpose(1, 0, 2)).transpose(1, 0, 2), "part": lambda a: np.asfortranarray(np.repeat(a, 2, 2))[:, :, ::2]}
    for text in ORDERS:
        for order in "CFKA":
            x, y = (laid[rng.choice(list(laid))](np.arange(1, 25.0).reshape(3, 4, 2)) for _ in range(2))
            if text.startswith("zeros"):
                order = "CF"[order in "FA"]
            lies = []
            got = kiln.evaluate(text.format(order), {"x": x, "y": y}, rng, 1, lies)
            assert not isinstance(got, str), got
            names = {name: getattr(np, name) for name in ("add", "sin", "multiply", "ones_like", "zeros", "divmod")}
            names.update(x=np.sin(x) if "sin" in text else x, y=y)
            right = eval(text.format(order).split("; ")[-1], names)
            strides, shape = lies[0]
            assert tuple(strides) == right.strides, f"{text.format(order)}: strides {strides} of {shape}, not {right.strides}; x {x.strides}, y {y.strides}"
            assert np.allclose(got[0], right), text
    for index, order in enumerate("CKFA"):  # as enum kiln_order counts
        for name, n_out in (("add", 1), ("divmod", 2), ("equal", 1), ("fliplr", 1), (None, 1)):
            x, y = (laid[rng.choice(["F", *laid])](np.arange(1, 25.0).reshape(3, 4, 2)) for _ in range(2))
            options = CallOptions(ctypes.sizeof(CallOptions), order=index)
            check_order_of_call(kiln, name, n_out, x, y, order, options)


def check_order_of_call(kiln, name, n_out, x, y, order, options):
    """The same in C, as an option of calls by name, of composed functions and of expressions."""
    given = (Argument * 3)(*[Argument(1, 0, kiln.wrap(a, a.dtype.name).value) for a in (x, y)])
    out, kernel = (ctypes.c_void_p * n_out)(), ctypes.c_void_p()
    if name == "fliplr":  # a view in C order
        options.order = 2
        status, right = kiln.c.kiln_function_call(out, 1, b"fliplr", given, 1, ctypes.byref(options)), np.asfortranarray(np.fliplr(x))
    elif name:
        status = kiln.c.kiln_apply(out, n_out, name.encode(), given, 2, ctypes.byref(options))
        right = getattr(np, name)(x, y, order=order)
    else:
        kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x, y", b"x * y + 1", None), name)
        status = kiln.c.kiln_kernel_call(kernel, out, 1, given, 2, ctypes.byref(options))
        right = np.multiply(x, y, order=order) + 1 if order in "KA" else np.array(x * y + 1, order=order)
    kiln.check(status, name)
    for array, r in zip(out, right if n_out > 1 else [right]):
        strides = tuple(kiln.c.kiln_array_strides(array)[:r.ndim])
        assert strides == r.strides, f"{name}, order {order}: strides {strides}, not {r.strides}; x {x.strides}, y {y.strides}"
        assert np.allclose(kiln.taken(array), r), name
    for argument in given[:2]:
        kiln.c.kiln_array_free(argument.array)
    kiln.c.kiln_kernel_free(kernel)


NAMED = [("add(x, y, out=z); z * 2", lambda x, y, z, m: (x + y).astype(z.dtype) * 2),
         ("subtract(x, y, where=m, out=z); add(z, 1, out=z); z", lambda x, y, z, m: np.subtract(x, y, where=m, out=z.copy()) + 1),
         ("q, r = divmod(x, y, out=(z, None)); z, r", lambda x, y, z, m: np.divmod(x, y, out=(z.copy(), None))),
         ("divide(x, y, out=zeros_like(z), where=m)", lambda x, y, z, m: np.divide(x, y, out=np.zeros_like(z), where=m)),
         ("sum(x, axis=0, out=z[0, 0]); z", None), ("add(x, y, out=x.T)", None), ("add(x, y, out=3)", None), ("divmod(x, y, out=z)", None),
         ("s = zeros((4, 2)); sum(x, axis=0, out=s); s", lambda x, y, z, m: x.sum(0)), ("mean(x, axis=0, out=z)", None),
         ("s = zeros(3, dtype=int32); x.mean(axis=(1, 2), out=s)", lambda x, y, z, m: x.mean((1, 2)).astype("i4")),
         ("w = z + 0; x.clip(2, 7, out=w, where=m); w", lambda x, y, z, m: np.clip(x, 2, 7, out=z.copy(), where=m)),
         ("concatenate([x, y], axis=1, dtype=float32)", lambda x, y, z, m: np.concatenate([x, y], 1, dtype="f4")),
         ("stack([x, y], dtype=int32)", None), ("hstack([x, y], dtype=int32, casting='unsafe')", lambda x, y, z, m: np.hstack([x, y], dtype="i4", casting="unsafe")),
         ("trace(x, dtype=float32)", lambda x, y, z, m: np.trace(x, dtype="f4")), ("nansum(x, axis=1, dtype=float32)", lambda x, y, z, m: np.nansum(x, 1, dtype="f4")),
         ("nanmean(x, dtype=float32)", lambda x, y, z, m: np.nanmean(x, dtype="f4")), ("matmul(x, y.transpose(0, 2, 1), dtype=float32)", lambda x, y, z, m: np.matmul(x, y.transpose(0, 2, 1), dtype="f4")),
         ("logspace(0, 2, 3, dtype=int32)", lambda x, y, z, m: np.logspace(0, 2, 3, dtype="i4")), ("cov(x[0], dtype=float32)", lambda x, y, z, m: np.cov(x[0], dtype="f4")),
         ("gradient(x[:1], axis=0)", None), ("gradient(x[:2], axis=0, edge_order=2)", None), ("gradient(x, [0, 1, 3, 4], axis=0)", None), ("gradient(x)", None), ("q, r = gradient(x)", None),
         ("d, e = gradient(x[0]); d * 2 + e", lambda x, y, z, m: np.gradient(x[0])[0] * 2 + np.gradient(x[0])[1])]


# Texts that NumPy evaluates, too: lists, and arguments that are given by name.
TEXTS = """add([1, 2, 3], [[1], [2.5]]) | x + [1, 2] | add([x, [[1, 2], [3, 4]]], 1) | sum([]) | add([], 1) | sum([1, 2j]) | maximum((1, 5), 2) | [[1, 2], [3, 4]] @ x | array([1, 2], dtype=float32)
asarray(x, dtype=int32) | array([True, False]) | array([x, x]) | where([True, False], 1, 2) | dot(2, [1, 2]) | isin([3, 1], [1, 2], kind="table", assume_unique=True) | sort([3, 1], kind="stable")
cumulative_sum(x[0], include_initial=True) | cumulative_prod(x, axis=0, include_initial=True, dtype=float32) | gradient(x[0], 2) | gradient([1.0, 2, 4, 7], [0, 1, 3, 4]) | linspace([0, 1], [4, 5], 3)
linspace([0, 1], [4, 5], 3, axis=1) | linspace(0, 10, 4, dtype=int32) | geomspace([1, 2], [100, 200], 3) | logspace(0, [1, 2], 3, axis=-1) | ediff1d([1, 2, 4], to_end=[9, 8], to_begin=-1)
cov([1, 2, 4.0], [3, 2, 5.0], bias=True) | cov(x, rowvar=False, aweights=[1, 2]) | cov(x, fweights=[1, 2], ddof=0) | cov([1, 2, 4.0]) | corrcoef([1, 2, 4.0], [3, 1, 2]) | angle([1j, -1], deg=True)
nan_to_num([nan, inf, -inf], neginf=-1) | nan_to_num([nan, inf, -inf], posinf=3) | polyder([1, 2, 3, 4], m=2) | polyint([1, 2, 3], m=2, k=[1, 2]) | reshape(arange(6), (2, 3), order="F") | ravel(x, order="F")
size(x, axis=1) | zeros_like(x, shape=(2, 3)) | full_like(x, 3, shape=4) | diff([1, 2, 4], prepend=0, append=[9]) | diff(x, axis=0, append=x) | searchsorted([3, 1, 2], [2.5], sorter=[1, 2, 0])
compress([0, 1], x, axis=1) | compress([0, 1], x, axis=-2) | setdiff1d([5, 4, 3, 3], [4], assume_unique=True) | median([1, 2, 3], overwrite_input=True) | var(x, mean=2) | std(x, axis=1, mean=[[2], [1]], ddof=1)
nanvar([1, 2, nan], mean=1.0, correction=1) | unwrap([0, 3, 6.5], discont=4) | cross([1, 2, 3], [4, 5, 6], axisa=0) | sum(a=x) | copy(x) | vecdot(x, x, axis=0) | clip(x) | unique([nan, 1, nan], equal_nan=False)
sum(array(3), axis=-1) | argmax(array(3), axis=0) | nancumsum(x, axis=1, dtype=float32) | linspace(3, 3, 1) | linspace(0, 1, 5, endpoint=False) | transpose(a=x) | max(x, axis=0, out=zeros(2))
histogram([])[0] | histogram_bin_edges([], bins=3) | histogram_bin_edges(zeros(0, dtype=int32), 4) | histogram2d([], [], bins=2)[0] | histogram([], bins=2)[1] | median([]) | median(zeros((2, 0)), axis=1)
nanmedian(zeros((2, 0, 3), dtype=float32), axis=1, keepdims=True) | nanquantile([], 0.5) | nanpercentile(zeros((0, 3)), 20, axis=0) | median(zeros((0, 2), dtype=int32), axis=0) | median(zeros((2, 0)), axis=0)
pad(x, (3, 1), "reflect", reflect_type="odd") | pad(x, ((0, 4), (5, 1)), "symmetric", reflect_type="odd") | pad([3, 1, 7], 4, "reflect", reflect_type="odd") | pad([7.0], 2, "reflect", reflect_type="odd")
pad(x, 1, constant_values=((1, 2), (3, 4))) | pad(x, ((2, 1), (0, 3)), constant_values=((1,), (2,))) | pad([1, 2], 1, constant_values=(2.7, -1)) | pad(x, 1, constant_values=x[0]) | pad(x[:0], ((1, 1), (0, 0)), constant_values=(3, 4))
pad(x, (1, 2), "linear_ramp", end_values=((5, -4), (1, 2))) | pad(x, 1, "minimum", stat_length=((1, 2), (2, 1))) | pad(x, 1, "mean", stat_length=(1, 2)) | pad([1j], 1, constant_values=2j)
delete(x, [True, False], axis=0) | delete(x, array([True, False, True, False])) | delete(x, array([-1, 0]), axis=1) | delete([4, 5, 6], [False, True, False]) | delete(x, array([1]))
geomspace(1j, 1000j, 4) | geomspace(-1, -1000, 4) | geomspace(1 + 1j, 8 + 8j, 4) | interp(1.5, [1, 2, 4], [10, 20, 40]) | interp(1.5, [1, 2.0], [1j, 3]) | interp(9.5, [1, 2.0], [5, 3], period=4) | convolve([1, 2], 3) | searchsorted([1, 2], 1.5)
concatenate(x) | concatenate(x, axis=None) | stack(x, axis=-1) | choose([[0, 1]], x) | choose([5, -3], x, mode="wrap") | concatenate(x[None], axis=-1) | concatenate(x[0][:, None], dtype=int32, casting="unsafe")"""


def check_rows(kiln, rng):
    """An array in place of a list of arrays is what lies along its first axis."""
    for name in ("concatenate", "stack", "hstack", "vstack", "dstack", "column_stack"):
        for ndim in (1, 2, 3, 4):
            if name == "concatenate" and ndim == 1:
                continue
            x = np.arange(2 * 3 * 4 * 2.0).reshape((2, 3, 4, 2)[:ndim - 1] + (-1,))
            words = ""
            if name in ("concatenate", "stack"):
                words = f", axis={rng.randrange(1 - ndim - (name == 'stack') + (name == 'stack'), ndim - 1) if ndim > 1 else 0}"
            text = f"{name}(x{words})"
            got, right = kiln.evaluate(text, {"x": x}, rng, 1), eval(f"np.{text}")
            assert not isinstance(got, str) and same(got[0], right, ""), f"{text} of {x.shape}: {got}, not {right}"
    for text in ("convolve(x, x)", "correlate(x[0], x)", "polymul(x, x)", "polyval(x, 2.0)", "polyint(x)", "polyadd(x, x)", "interp(x, x, x[0])", "interp(x, x[0], x)", "searchsorted(x, 1.0)", "digitize(x, x)",
                 "compress(x, x)", "compress(x, x, axis=0)", "searchsorted(x, 1.0, sorter=[0, 1])[0, 0]"):
        got = kiln.evaluate(text, {"x": np.ones((2, 2))}, rng, 1)
        assert isinstance(got, str) and "axes" in got, f"{text}: {got}"
    for text, message in (("delete(x, x > 1)", "a mask of one axis"), ("delete(x, [True, False, True], axis=0)", "2 elements"), ("fill_diagonal(zeros((2, 3, 2)), 1.0)", "equal axes"),
                          ("pad(x, 1, constant_values=((1, 2), (3, 4), (5, 6)))", "a pair for each"), ("pad(x, 1, 'mean', stat_length=((1, 2), (3, 4), (5, 6)))", "stat_length: 3 pairs")):
        got = kiln.evaluate(text, {"x": np.ones((2, 2))}, rng, 1)
        assert isinstance(got, str) and message in got, f"{text}: {got}"
    assert "along its first axis" in kiln.evaluate("hstack(x)", {"x": np.zeros((0, 2))}, rng, 1)


def check_texts(kiln, rng):
    """What NumPy makes of the same texts."""
    x = np.array([[1.0, 2], [4, 3]])
    names = {name: getattr(np, name) for name in dir(np)}
    for text in drawn([text.strip() for line in TEXTS.splitlines() for text in line.split(" | ")], 3):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            right = np.asarray(eval(text, dict(names), {"x": x}))
        got = kiln.evaluate(text, {"x": x}, rng, 1)
        assert not isinstance(got, str), f"{text}: {got}"
        assert same(got[0], right, ""), f"{text}: {got[0]} {got[0].dtype}, not {right} {right.dtype}"


def check_named(kiln, rng):
    """The name that is given as out is the result's from then on; what is refused; dtype= of functions that are no ufuncs."""
    x, y = np.arange(24.0).reshape(3, 4, 2), np.arange(24.0).reshape(3, 4, 2)[::-1] % 5 + 1
    arrays = {"x": x, "y": y, "z": np.full(x.shape, 7.0), "m": x % 3 == 0}
    for text, right in NAMED:
        got = kiln.evaluate(text, arrays, rng, 2 if text.startswith("q, r") else 1)
        if right is None:
            assert isinstance(got, str), f"{text}: {got}, where an error was expected"
            continue
        assert not isinstance(got, str), f"{text}: {got}"
        wanted = right(**arrays)
        for g, r in zip(got, wanted if isinstance(wanted, tuple) else [wanted]):
            assert same(g, r, "dtype=float32"), f"{text}: {g} {g.dtype}, not {r}"


def grid_text(rng):
    """mgrid or ogrid of one slice, or of several."""
    def part():
        return rng.choice([str(rng.randint(-3, 4)), str(rng.randint(-3, 4)), f"{rng.uniform(-3, 3):.2f}", "len(v)", "0.5 * len(v)"])
    def slice_of():
        start, step = rng.choice(["", part()]), rng.choice(["", "", f":{rng.choice([1, 2, 3, 0.5, 0.3])}", f":{rng.choice([1, 2, 5, 7.9])}j"])
        return f"{start}:({start or 0}) + {rng.choice([0, 1, 4, 2.5])}{step}"
    return f"{rng.choice('mo')}grid[{', '.join(slice_of() for _ in range(rng.choice([1, 2, 2, 3])))}{rng.choice(['', '', ',']) }]"


def check_grids(kiln, rng):
    """The numbers of slices: bit for bit, but for one slice of floats, which is arange's, and for a GPU, which rounds a start and its steps at once."""
    v, is_host = np.arange(3.0), os.environ.get("KILN_TARGET", "host").startswith("host")
    for _ in range(400 if SOAK else 12):
        text = grid_text(rng)
        right = eval(text, {"mgrid": np.mgrid, "ogrid": np.ogrid, "v": v})
        right = right if isinstance(right, tuple) else (right,)
        got = kiln.evaluate(text, {"v": v} if "v" in text else {}, rng, len(right))
        assert not isinstance(got, str), f"{text}: {got}"
        for g, r in zip(got, right):
            near = g.shape == r.shape and (not is_host or (g.ndim == 1 and len(right) == 1)) and np.allclose(g, r, 1e-14, 1e-14)
            assert (g.dtype, g.shape) == (r.dtype, r.shape) and (near or g.tobytes() == np.ascontiguousarray(r).tobytes()), f"{text}: {g} {g.dtype}, not {r} {r.dtype}"
    for text in ("mgrid[3]", "mgrid[]", "mgrid[1:]", "ogrid[0:3, 5]", "mgrid[0:3:1:2]", "mgrid(3)", "mgrid[0:3:0]", "mgrid = 3; mgrid[0:3]"):
        got = kiln.evaluate(text, {}, rng, 1)
        assert isinstance(got, str), f"{text}: {got}, where an error was expected"


def check_augmented(kiln, rng):
    """x OP= y, of whole arrays and of parts, by arrays and numbers: NumPy's rule of casting, and its dtype of x."""
    for _ in range(400 if SOAK else 8):
        x, dtype = numbers(rng, "", rng.choice(DTYPES), (2, 3)), rng.choice(DTYPES)
        y = numbers(rng, "", dtype, rng.choice([(2, 3), (3,), (), (2, 2, 3), (2, 1)]))
        op, to, value = rng.choice("+ - * / // % & | ^ **".split()), rng.choice(["x", "x", "x[:, 1:]", "x[1:]", "x[[1, 0]]", "x[0, 1]"]), rng.choice(["y", "y", "2", "0.5"])
        names = {"x": x.copy(), "y": y.copy()}
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exec(f"{to} {op}= {value}", names)
                right = names["x"]
            except (TypeError, ValueError, OverflowError) as error:
                right = error
        text = f"{to} {op}= {value}; x"
        got = kiln.evaluate(text, {"x": x, "y": y} if value == "y" else {"x": x}, rng, 1)
        what = f"{text}: {x.dtype} {y.dtype} {y.shape}"
        if isinstance(right, Exception):
            assert isinstance(got, str), f"{what}: {got}, where NumPy says {right}"
        elif not (op in ("/", "//", "%") and not np.all(y)):
            assert not isinstance(got, str), f"{what}: {got}"
            assert same(got[0], right, text) or (right.dtype.kind in "iub" and op in ("/", "**")), f"{what}: {got[0]}, not {right}"


def main():
    o = random_cases(4000, 60, 32)
    kiln, counts = Common(o.library), []
    check_named(kiln, random.Random(o.seed))
    check_texts(kiln, random.Random(o.seed))
    check_rows(kiln, random.Random(SEED))
    check_orders(kiln, random.Random(o.seed))
    check_grids(kiln, random.Random(SEED))
    check_augmented(kiln, random.Random(SEED))
    in_threads(lambda k: counts.append(check_call(kiln, o.seed, k)), o.cases)
    print(f"{len(counts)} calls, {sum(counts)} of them with a result")


if __name__ == "__main__":
    main()
