"""NumPy's methods of ufuncs in expressions: reduce, accumulate, outer, at and reduceat of every ufunc of two inputs, and of operations that are registered, over random arrays of NumPy's
dtypes, any axes, strides and indices, against NumPy's own. check_methods.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random
import warnings

import numpy as np

from check_common import Common
from check_operations import BINARY
from check_searches import drawn
from check_sort_names import DTYPES
from drawn import drawn as drawn_cases
from host_kernels import in_threads, near, random_cases

# Of a result that does not depend on the order of the operands, but for rounding.
FOLDED = "add multiply maximum minimum fmax fmin logical_and logical_or logical_xor bitwise_and bitwise_or bitwise_xor gcd lcm hypot logaddexp logaddexp2".split()
UFUNCS = [name for name in BINARY if isinstance(getattr(np, name, None), np.ufunc) and getattr(np, name).nin == 2]
# Registered: their names, dtypes, texts, and NumPy's likewise.
OWN = {"met_blend": (b"dd->d", b"z = x + y + x * y", lambda x, y: x + y + x * y), "met_latest": (b"ll->l", b"z = x > y ? x : y", np.maximum)}


class Operation(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [(name, ctypes.c_char_p) for name in ("name", "in_params", "out_params", "types", "map")]


def register(kiln):
    for name, (types, text, _) in OWN.items():
        kiln.check(kiln.c.kiln_operation_register(ctypes.byref(Operation(ctypes.sizeof(Operation), name.encode(), b"T x, T y", b"T z", types, text))), name)


def ufunc(name):
    return getattr(np, name) if name not in OWN else OWN[name][2] if isinstance(OWN[name][2], np.ufunc) else np.frompyfunc(OWN[name][2], 2, 1)


def moderate(name, rng, x):
    """Elements whose folds have a value of the dtype, by NumPy's way and by others."""
    x = np.asarray(x)
    if x.dtype.kind in "fc":
        x = np.round(np.where(np.isfinite(x) & (abs(x) < 100), x, 2) % 7 + 1) / 4 if x.dtype.kind == "f" else np.ones_like(x) * (1 + 0.5j)
        x = x.astype(x.dtype)
    elif x.dtype.kind in "iu" and name in ("lcm", "power", "float_power", "left_shift", "ldexp"):
        x = x % 3 + 1
    elif x.dtype.kind in "iu" and rng.random() < 0.5:
        x = x % 11
    return x


def folded(rng, x, name):
    axis = rng.randrange(-x.ndim, x.ndim)
    if name == "accumulate":
        return f"{name}(x, {axis})" if rng.random() < 0.8 else f"{name}(x)"
    several = tuple(rng.sample(range(x.ndim), rng.randrange(1, x.ndim + 1)))
    words = rng.choice(["", f", axis={axis}", f", {axis}", f", axis={several}", ", axis=None"])
    return f"{name}(x{words}{', keepdims=True' if rng.random() < 0.3 else ''})"


def index_of(rng, x):
    """A text, and the arrays it names."""
    n, count = x.shape[0], rng.choice([0, 1, 3, 40])
    i = np.array([rng.randrange(-n, n) for _ in range(count)], rng.choice(["i8", "i4"]))
    kind = rng.random()
    if kind < 0.6:
        return "i", {"i": i}
    if kind < 0.8 and x.ndim > 1:
        return "(i, j)", {"i": i, "j": np.array([rng.randrange(x.shape[1]) for _ in range(count)], "i8")}
    return str(rng.randrange(-n, n)), {}


def case(rng):
    method = rng.choice(["reduce", "accumulate", "outer", "at", "reduceat"])
    name = rng.choice([*OWN, *(UFUNCS if method in ("outer", "at") else FOLDED * 3)])
    if method == "reduceat":
        name = rng.choice([*FOLDED, "subtract", "divide", "arctan2", "fmod"])
    dtype = {"met_blend": "float64", "met_latest": "int64"}.get(name) or rng.choice([d for d in DTYPES if d != "float16" or method == "outer"])
    shape = [rng.choice([1, 2, 3, 7]) for _ in range(rng.choice([1, 1, 2, 3]))]
    x = moderate(name, rng, drawn(rng, shape, dtype))
    if method in ("reduce", "accumulate"):
        return name, f"{name}.{folded(rng, x, method)}", {"x": x}, dtype
    if method == "reduceat":
        axis = rng.randrange(-x.ndim, x.ndim)
        i = np.array([rng.randrange(x.shape[axis]) for _ in range(rng.choice([1, 2, 5, 30]))], rng.choice(["i8", "i4", "u1"]))
        return name, f"{name}.reduceat(x, i{rng.choice([f', {axis}', f', axis={axis}']) if axis or rng.random() < 0.5 else ''})", {"x": x, "i": i}, dtype
    if method == "outer":
        y = moderate(name, rng, drawn(rng, [rng.choice([1, 2, 5]) for _ in range(rng.choice([0, 1, 2]))], dtype))
        return name, f"{name}.outer(x, y)", {"x": x, "y": y}, dtype
    text, arrays = index_of(rng, x)
    target = x[eval(text, dict(arrays))]
    y = moderate(name, rng, drawn(rng, rng.choice([target.shape, target.shape[-1:], ()]), dtype))
    return name, f"{name}.at(x, {text}, y); x", {"x": x, "y": y, **arrays}, dtype


def by_numpy(name, text, arrays, dtype):
    names = {name: ufunc(name), **{k: a.copy() for k, a in arrays.items()}}
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "; " not in text:
                right = eval(text, names)
            else:
                exec(text.split("; ")[0], names)
                right = names["x"]
    except (TypeError, ValueError, OverflowError):
        return None
    # NumPy has functions of its own in Python's objects, of bool for those that it lacks.
    return [np.asarray(r, dtype) if name in OWN else np.asarray(r) for r in (right if isinstance(right, tuple) else [right])]


def is_open(name, text, arrays, right):
    """Where NumPy's result is the processor's, or of another way of computing."""
    x = arrays["x"]
    zero = any(a.dtype.kind in "iu" and not np.all(a) for a in arrays.values() if a is not x) and name in ("divide", "floor_divide", "remainder", "fmod", "divmod")
    shifts = name in ("left_shift", "right_shift", "power") and x.dtype.kind in "iu"
    return zero or shifts or (x.dtype.kind == "c" and name not in ("add", "multiply", "subtract")) or any(r.dtype.kind in "fc" and not np.all(np.isfinite(r)) for r in right)


def check_case(kiln, seed, index, counts):
    rng = random.Random(seed * 1000003 + index)
    name, text, arrays, dtype = case(rng)
    right = by_numpy(name, text, arrays, dtype)
    if right is None or is_open(name, text, arrays, right):
        return
    counts.append(text)
    got = kiln.evaluate(text, arrays, rng, len(right))
    what = f"--seed {seed} --first {index} --count 1: {text} of {', '.join(f'{k} {a.dtype} {a.shape}' for k, a in arrays.items())}"
    assert not isinstance(got, str), f"{what}: {got}"
    for one, r in zip(got, right):
        assert near(one, r, 64, [dtype] if np.dtype(dtype).kind in "fc" else []), f"{what}: {one} ({one.dtype} {one.shape}), not {r} ({r.dtype} {r.shape}); {arrays}"


def check_others(kiln, rng):
    """Masks, initial numbers, dtypes, no elements; what is refused, since its result depends on the order of operands."""
    x, m, e = np.array([[3, 5, 6], [1, 7, 8]]), np.array([[True, False, True], [False, False, True]]), np.zeros((0, 3))
    arrays = {"x": x, "m": m, "e": e, "f": x * 0.5}
    for text in drawn_cases(["add.reduce(x, where=m)", "bitwise_and.reduce(x, where=m)", "bitwise_or.reduce(x, axis=1, where=m, keepdims=True)", "gcd.reduce(x, initial=12)", "logaddexp.reduce(f, where=m)",
                 "maximum.reduce(x, axis=None, initial=4, where=m)", "hypot.reduce(f, dtype=float32)", "logical_xor.reduce(e)", "bitwise_and.reduce(x[:0])", "lcm.accumulate(x, axis=1)",
                 "hypot.reduce(e)", "multiply.reduce(f, axis=(0, 1), initial=2)", "add.accumulate(x, 1, float32)", "np.add.outer(x, f)", "fmax.accumulate(f)",
                 "add.reduceat(f, [0, 2, 1], axis=1, dtype=float32)", "add.reduceat(x, [])", "add.reduceat(m, [1, 0])", "multiply.reduceat(x, [0], axis=-1)", "logical_and.reduceat(x, [0, 1])"], 3):
        right = eval(text, {**{n: getattr(np, n) for n in ("np", *FOLDED, "float32") if n != "np"}, "np": np, **arrays})
        got = kiln.evaluate(text, arrays, rng, 1)
        assert not isinstance(got, str) and near(got[0], right, 64, ["float32"] if "float32" in text else []), f"{text}: {got}, not {right} {right.dtype}"
    for name in UFUNCS:
        if name not in FOLDED and getattr(np, name).nout == 1:
            for method in ("reduce", "accumulate"):
                got = kiln.evaluate(f"{name}.{method}(f)", arrays, rng, 1)
                assert isinstance(got, str) and "order of the operands" in got, f"{name}.{method}: {got}"
    for text, message in (("lcm.reduce(x[:0])", "lcm"), ("lcm.reduce(x, where=m)", "no number is known"), ("add.reduceat(x, [2])", "indexed at 2"), ("add.reduceat(x, [-1])", "indexed at 2"), ("add.reduceat(x, m)", "axes"), ("sum.reduce(x)", "two inputs"), ("add.reduce", "function")):
        got = kiln.evaluate(text, arrays, rng, 1)
        assert isinstance(got, str) and message in got, f"{text}: {got}"


def main():
    o = random_cases(4000, 14, 32)
    kiln, counts = Common(o.library), []
    register(kiln)
    check_others(kiln, random.Random(o.seed))
    in_threads(lambda k: check_case(kiln, o.seed, k, counts), o.cases)
    print(f"{len(counts)} calls, none wrong")
    assert len(counts) >= o.count // 3


if __name__ == "__main__":
    main()
