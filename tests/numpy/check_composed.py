"""Functions of expressions that are composed of others (src/expr/composed.c), each of NAMES' list, over random arrays of all of NumPy's dtypes, against NumPy's:
dtype, shape and elements; half of the calls by kiln_function_call. check_composed.py LIBRARY NAMES [--count N] [--seed S] [--first INDEX] [--target TARGET]; NAMES is tests/docs/numpy_names."""
import ast
import collections
import ctypes
import inspect
import itertools
import random
import re
import subprocess
import warnings

import numpy as np

from check_searches import drawn, placed
from check_sort_names import DTYPES, Names, drawn_axis, near, same
from drawn import drawn as drawn_cases
from fuzz_reductions import CallOptions
from host_kernels import Argument, in_threads, random_cases


def shaped(rng, x, ndim):
    """x with at least one element and so many axes."""
    x = x.reshape(-1) if x.size else np.ones(1, x.dtype)
    if ndim == 1:
        return x
    rows = rng.choice([r for r in (1, 2, 3, 5, x.size) if r <= x.size])
    x = x[:rows * (x.size // rows)].reshape(rows, -1)
    return x if ndim == 2 else x.reshape(1, *x.shape) if rng.random() < 0.3 else np.stack([x, x[::-1]])


def finite(x):
    """No infinities or NaN, and no number so large that NumPy's own way of computing differs by more than rounding."""
    return np.where(np.isfinite(x) & (np.abs(x) < 1000), x, 1).astype(x.dtype) if x.dtype.kind in "fc" else x % 50 if x.dtype.kind in "iu" else x


def close(rng, x, y):
    nan, rtol, atol = rng.random() < 0.4, rng.choice([1e-05, 0.3, 0.0]), rng.choice([1e-08, 2.0, 0.0])
    given = rng.choice(["", f", {rtol}, {atol}", f", atol={atol}, rtol={rtol}"])
    words = {"rtol": rtol, "atol": atol} if given else {}
    return f"{given}{', equal_nan=True' if nan else ''}", {**words, "equal_nan": nan}


def isclose(rng, x, y):
    text, words = close(rng, x, y)
    return f"isclose(x, y{text})", np.isclose(x, y, **words), same


def allclose(rng, x, y):
    text, words = close(rng, x, y)
    y = x if rng.random() < 0.5 else y
    return f"allclose(x, y{text})", np.bool_(np.allclose(x, y, **words)), same, {"x": x, "y": y}


def window(name):
    def case(rng, x, y):
        size = rng.choice([1, 2, 3, 7, 64, 1001])
        beta = rng.choice([0.0, 1.5, 8.6])
        return (f"kaiser({size}, {beta})", np.kaiser(size, beta), rough) if name == "kaiser" else (f"{name}({size})", getattr(np, name)(size), rough)
    return case


def rough(got, right):
    """What is computed in another order."""
    right = np.asarray(right)
    step = np.finfo(right.dtype).eps if right.dtype.kind in "fc" else 0
    return got.shape == right.shape and got.dtype == right.dtype and np.allclose(got, right, rtol=300 * step, atol=300 * step * max(1, np.abs(right).max(initial=1)), equal_nan=True)


def covs(name):
    def case(rng, x, y):
        x = finite(shaped(rng, x, 2))
        if name == "corrcoef" and (x.dtype.kind == "c" or x.shape[1] < 3 or np.any(np.std(x.astype("f8"), axis=1) < 1e-3)):
            return None  # complex ones are refused; a constant row's deviation is rounding alone
        ddof = rng.choice([0, 1])
        if x.shape[1] <= 1:
            return None
        words, text = ({"ddof": ddof}, f", ddof={ddof}") if name == "cov" and rng.random() < 0.5 else ({}, "")
        for word, value in (("rowvar", False), ("bias", True)) if rng.random() < 0.5 else ():
            if (word == "rowvar" or name == "cov") and x.shape[0] > 2 and rng.random() < 0.5 and (word != "rowvar" or name == "cov"):
                words[word], text = value, f"{text}, {word}={value}"
        return f"{name}(x{text})", np.asarray(getattr(np, name)(x, **words)), rough, {"x": x}
    return case


def cumulative(name):
    def case(rng, x, y):
        x = finite(x)
        axis = rng.randrange(-x.ndim, x.ndim)
        if x.dtype == "float16" and x.shape[axis] > 7:
            return None  # NumPy rounds to float16 after each
        if rng.random() < 0.3:  # without an axis there is one alone
            x = x.reshape(-1)[:7] if rng.random() < 0.8 else x.reshape(-1)[0]
            return f"{name}(x{rng.choice(['', ', axis=None'])})", getattr(np, name)(x), rough, {"x": x}
        return f"{name}(x, axis={axis})", getattr(np, name)(x, axis=axis), rough, {"x": x}
    return case


def nan_scan(name):
    def case(rng, x, y):
        axis = drawn_axis(rng, x, False)
        x = np.where(np.isnan(x), x, finite(x)).astype(x.dtype) if x.dtype.kind in "fc" else finite(x)
        x = x if name == "nancumsum" else np.minimum(x, 2) if x.dtype.kind in "iu" else np.where(np.abs(x) > 2, 2, x).astype(x.dtype)
        if x.dtype == "float16" and x.size > 30:
            return None  # NumPy rounds to float16 after each
        return f"{name}(x, axis={axis})", getattr(np, name)(x, axis=axis), rough, {"x": x}
    return case


def nan_reduction(name):
    def case(rng, x, y):
        axis, keep = drawn_axis(rng, x, name == "nanprod"), rng.random() < 0.4
        if name == "nanprod":
            x = np.where(np.isnan(x), x, np.clip(np.real(finite(x)), 0, 2)).astype(x.dtype)
            if x.dtype == "float16" and x.size > 12:
                return None
        elif x.size == 0 or x.dtype.kind == "c":
            return None
        try:
            right = getattr(np, name)(x, axis=axis, keepdims=keep)
        except ValueError:  # all of them NaN, where the first is taken here
            return None
        return f"{name}(x, axis={axis}{', keepdims=True' if keep else ''})", right, rough if name == "nanprod" else same, {"x": x}
    return case


def nan_moment(name):
    def case(rng, x, y):
        axis, keep = drawn_axis(rng, x, True), rng.random() < 0.4
        x = np.where(np.isnan(x), x, finite(x)).astype(x.dtype) if x.dtype.kind in "fc" else finite(x)
        ddof = rng.choice([0, 1]) if name != "nanmean" else 0
        words = {"ddof": ddof} if name != "nanmean" else {}
        if x.dtype == "float16":
            if x.size > 12 or np.isnan(x).all():
                return None  # NumPy rounds to float16 in between
            return f"{name}(x)", np.float16(getattr(np, name)(x.astype("f4"))), lambda got, right: got.dtype == right.dtype and np.allclose(got, right, 0.01, 0.01), {"x": x}
        return f"{name}(x, axis={axis}{f', ddof={ddof}' if words else ''}{', keepdims=True' if keep else ''})", \
            getattr(np, name)(x, axis=axis, keepdims=keep, **words), rough, {"x": x}
    return case


def spaced(name):
    def case(rng, x, y):
        start, stop, num, end = rng.choice([0, 1, -2.5, 3]), rng.choice([0, 1, 2.25, -3]), rng.choice([0, 1, 2, 7, 50]), rng.random() < 0.6
        words = {"base": 2.0} if name == "logspace" and rng.random() < 0.5 else {}
        text = f"{name}({start}, {stop}, {num}{'' if end else ', endpoint=False'}{', base=2.0' if words else ''})"
        return text, getattr(np, name)(start, stop, num, endpoint=end, **words), rough
    return case


def meshgrid(rng, x, y):
    z = rng.random() < 0.4
    x, y = x.reshape(-1)[:40], y.reshape(-1)[:40]
    return f"meshgrid(x, y{', x' if z else ''})", list(np.meshgrid(x, y, *([x] if z else []))), same, {"x": x, "y": y}


def square(name):
    def case(rng, x, y):
        n, m, k = rng.randrange(1, 9), rng.randrange(1, 9), rng.randrange(-3, 4)
        dtype = rng.choice(DTYPES)
        if name == "identity":
            return f"identity({n})", np.identity(n), same
        if rng.random() < 0.3:
            return f"{name}({n}, k={k})", getattr(np, name)(n, k=k), same
        return f"{name}({n}, {m}, k={k}, dtype={dtype})", getattr(np, name)(n, m, k, dtype=dtype), same
    return case


def triangle(name):
    def case(rng, x, y):
        x, k = shaped(rng, x, rng.choice([1, 2, 3])), rng.randrange(-3, 4)
        return f"{name}(x, {k})" if k else f"{name}(x)", getattr(np, name)(x, k), same, {"x": x}
    return case


def vander(rng, x, y):
    x, n, up = finite(shaped(rng, x, 1))[:30], rng.randrange(1, 4), rng.random() < 0.5
    if x.dtype == bool:
        return None  # a bool to a power of its own dtype
    return f"vander(x, {n}{rng.choice([', True', ', increasing=True']) if up else ''})", np.vander(x, n, increasing=up), rough, {"x": x}


def turned(name):
    def case(rng, x, y):
        x = shaped(rng, x, rng.choice([2, 3]) if name == "fliplr" else rng.choice([1, 2, 3]))
        return f"{name}(x)", getattr(np, name)(x), same, {"x": x}
    return case


def axes_case(name):
    """Functions of axes, of what is computed too."""
    def case(rng, x, y):
        x = shaped(rng, x, rng.choice([2, 3]))
        n, of = x.ndim, rng.choice(["x", "x", "x[::-1]", "positive(x)", "x.T"])
        of = "x" if x.dtype == bool and of == "positive(x)" else of
        value = eval(of, {"x": x, "positive": np.positive})
        one, two = rng.sample(range(n), 2)
        one, two = one - n * rng.randrange(2), two - n * rng.randrange(2)
        if name in ("diagonal", "trace"):
            value = finite(value) if name == "trace" else value
            x, of = (value, "x") if name == "trace" else (x, of)
            k = rng.randrange(-3, 4)
            return rng.choice([(f"{name}({of}, {k}, {one}, {two})", getattr(np, name)(value, k, one, two)), (f"{name}({of})", getattr(np, name)(value))]) + (near, {"x": x})
        if name == "flip":
            axis = rng.choice([None, one, (one, two)])
            return f"flip({of}, axis={axis})", np.flip(value, axis), same, {"x": x}
        if name == "rot90":
            k = rng.randrange(-2, 6)
            return rng.choice([(f"rot90({of}, {k}, axes=({one}, {two}))", np.rot90(value, k, (one, two))), (f"rot90({of}, {k})", np.rot90(value, k))]) + (same, {"x": x})
        if name == "moveaxis" and rng.random() < 0.5:
            to = rng.sample(range(n), 2)
            return f"moveaxis({of}, ({one}, {two}), {tuple(to)})", np.moveaxis(value, (one, two), to), same, {"x": x}
        if name == "rollaxis":
            start = rng.randrange(-n, n + 1)
            return f"rollaxis({of}, {one}, {start})", np.rollaxis(value, one, start), same, {"x": x}
        if name == "matrix_transpose":
            return f"{name}({of})", np.matrix_transpose(value), same, {"x": x}
        return f"{name}({of}, {one}, {two})", getattr(np, name)(value, one, two), same, {"x": x}
    return case


def arranged(name):
    def case(rng, x, y):
        x = shaped(rng, x, rng.choice([1, 2, 3]))
        axis = rng.randrange(-x.ndim, x.ndim)
        if name == "roll":
            if rng.random() < 0.4:
                shifts, axes = tuple(rng.randrange(-9, 9) for _ in range(2)), tuple(rng.randrange(-x.ndim, x.ndim) for _ in range(2))
                return f"roll(x, {shifts}, {axes})", np.roll(x, shifts, axes), same, {"x": x}
            shift = rng.randrange(-100, 100)
            if rng.random() < 0.3:
                return f"roll(x, {shift})", np.roll(x, shift), same, {"x": x}
            return f"roll(x, {shift}, {axis})", np.roll(x, shift, axis), same, {"x": x}
        if name == "repeat":
            times, axis = rng.randrange(0, 4), rng.choice([None, axis])
            if rng.random() < 0.5:
                size = x.size if axis is None else x.shape[axis]
                counts = np.array([rng.randrange(4) for _ in range(size)], "i8")
                if size <= 30 and rng.random() < 0.5:
                    return f"repeat(x, {counts.tolist()}{'' if axis is None else f', {axis}'})", np.repeat(x, counts, axis), same, {"x": x}
                return f"repeat(x, y, total={counts.sum()}{'' if axis is None else f', axis={axis}'})", np.repeat(x, counts, axis), same, {"x": x, "y": counts}
            return f"repeat(x, {times}{'' if axis is None else f', {axis}'})", np.repeat(x, times, axis), same, {"x": x}
        if name == "tile":
            times = rng.choice([2, (2,), (1, 3), (2, 0), (2, 1, 2, 1)])
            return f"tile(x, {times})", np.tile(x, times), same, {"x": x}
        if name == "append":
            y = y.reshape(-1)[:5] if rng.random() < 0.4 else np.flip(x, axis)[..., :1].astype(y.dtype) if axis in (-1, x.ndim - 1) else np.flip(x).astype(y.dtype)
            axis = None if y.ndim != x.ndim or any(a != b for k, (a, b) in enumerate(zip(x.shape, y.shape)) if k != axis % x.ndim) else axis
            return f"append(x, y{'' if axis is None else f', {axis}'})", np.append(x, y, axis), same, {"x": x, "y": y}
        mode = rng.choice(["constant", "edge", "wrap", "reflect", "symmetric", "linear_ramp", "maximum", "minimum", "mean", "median"])
        width = rng.choice([0, 2, (1, 3), tuple((rng.randrange(5), rng.randrange(5)) for _ in range(x.ndim))])
        width = width if x.ndim > 1 or not isinstance(width, tuple) or not isinstance(width[0], tuple) else width[0]
        if mode == "constant" and rng.random() < 0.5:
            return f"pad(x, {width}, 'constant', constant_values=1)", np.pad(x, width, mode, constant_values=1), same, {"x": x}
        if mode in ("linear_ramp", "maximum", "minimum", "mean", "median"):
            x = finite(x)
            if x.dtype.kind in "cb" or x.dtype == "float16":
                return None
            words = {"stat_length": rng.choice([1, 2])} if mode != "linear_ramp" and rng.random() < 0.5 else {"end_values": 3} if mode == "linear_ramp" and rng.random() < 0.5 else {}
            return f"pad(x, {width}, '{mode}'{''.join(f', {k}={v}' for k, v in words.items())})", np.pad(x, width, mode, **words), rough, {"x": x}
        return (f"pad(x, {width})" if mode == "constant" else f"pad(x, {width}, '{mode}')"), np.pad(x, width, mode), same, {"x": x}
    return case


def of_neighbours(name):
    def case(rng, x, y):
        x = finite(shaped(rng, x, rng.choice([1, 2])))
        axis = rng.randrange(-x.ndim, x.ndim)
        if x.dtype == bool or x.dtype.kind == "c" or x.shape[axis] < 3 or x.dtype == "float16":
            return None
        x = x.astype("f4") if x.dtype.kind == "u" else x
        if name == "unwrap":
            x = x if x.dtype.kind == "f" else x.astype("f8")
            period = rng.choice([None, 7.0])
            return f"unwrap(x, axis={axis}{'' if period is None else ', period=7.0'})", np.unwrap(x, axis=axis, **({} if period is None else {"period": period})), rough, {"x": x}
        order, places = rng.choice([1, 2]), np.cumsum(np.abs(finite(drawn(rng, x.shape[axis], "float64"))) + 1)
        if rng.random() < 0.3:
            return f"gradient(x, x=y, axis={axis}, edge_order={order})", np.gradient(x, places, axis=axis, edge_order=order), rough, {"x": x, "y": places}
        if rng.random() < 0.5 and min(x.shape) > 2 and x.ndim == 2:
            more = np.cumsum(np.arange(x.shape[1]) % 3 + 1.0)
            return rng.choice([("gradient(x, 0.5, axis=(0, 1))", np.gradient(x, 0.5)), ("gradient(x, 0.5, 2)", np.gradient(x, 0.5, 2)), ("gradient(x, 2, y)", np.gradient(x, 2, more)),
                               ("a, b = gradient(x)", np.gradient(x)), ("a, b = gradient(x, 0.5)", np.gradient(x, 0.5)),
                               ("gradient(x, y, 3, axis=(-1, 0))", np.gradient(x, more, 3, axis=(-1, 0)))]) + (rough, {"x": x, "y": more})
        return rng.choice([(f"gradient(x, 0.5, axis={axis}, edge_order={order})", np.gradient(x, 0.5, axis=axis, edge_order=order)), (f"gradient(x, axis={axis})", np.gradient(x, axis=axis))]) + (rough, {"x": x})
    return case


def average(rng, x, y):
    x = finite(x)
    y = np.abs(finite(y.real)) + 1
    axis, keep = drawn_axis(rng, x, True), rng.random() < 0.4
    if not x.size or x.dtype == "float16" or y.dtype == "float16" or y.dtype == bool or x.dtype == bool:
        return None
    words = f"axis={axis}{', keepdims=True' if keep else ''}"
    if rng.random() < 0.3:
        return f"average(x, {words})", np.average(x, axis, keepdims=keep), rough, {"x": x}
    if isinstance(axis, int) and y.size and rng.random() < 0.5:
        y = np.resize(y, x.shape[axis])
    return f"average(x, {words}, weights=y)", np.average(x, axis, y, keepdims=keep), rough, {"x": x, "y": y}


def at_least(name):
    def case(rng, x, y):
        x = x.reshape(-1)[:1].reshape(()) if rng.random() < 0.3 and x.size else x
        return f"{name}(x)", getattr(np, name)(x), same, {"x": x}
    return case


def sets(name):
    """Functions of sets, of any shapes; the second array may have another dtype, and none or few of the first one's elements."""
    def case(rng, x, y):
        y = y.reshape(-1)[:rng.choice([0, 1, 3, y.size])]
        if rng.random() < 0.5 and x.size:
            y = np.concatenate([y, rng.choice([x.reshape(-1)[::2], x.reshape(-1)]).astype(y.dtype)])
        common = np.result_type(x, y)
        if x.dtype != y.dtype and common.kind == "f" and "i" in x.dtype.kind + y.dtype.kind:
            x, y = finite(x), finite(y)  # NumPy compares large integers as integers
        if name == "isin":
            invert = rng.random() < 0.3
            return f"isin(x, y{', invert=True' if invert else ''})", np.isin(x, y, invert=invert), same, {"x": x, "y": y}
        return f"{name}(x, y)", getattr(np, name)(x, y), same, {"x": x, "y": y}
    return case


def compress(rng, x, y):
    """A condition of any dtype, which may be shorter than the array, or its axis, or longer by zeros."""
    axis = rng.choice([None, rng.randrange(-x.ndim, x.ndim)]) if x.ndim > 0 else None
    extent = x.size if axis is None else x.shape[axis]
    keep = drawn(rng, rng.choice([extent, extent, 0, 1, extent // 2]), rng.choice("bool int8 float32".split()))[:extent]
    keep = np.concatenate([keep, np.zeros(rng.choice([0, 0, 3]), keep.dtype)])
    return f"compress(y, x{'' if axis is None else f', axis={axis}'})", np.compress(keep, x, axis), same, {"x": x, "y": keep}


UFUNCS = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum, "bitwise_and": np.bitwise_and,
          "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}
SEGMENTS = {"segment_sum": (np.add, 0), "segment_prod": (np.multiply, 1), "segment_max": (np.maximum, -np.inf), "segment_min": (np.minimum, np.inf)}


def combined(rng, x, ufunc):
    """Values of x's kind whose combinations are exact in any order; None where the operator takes none."""
    kind = x.dtype.kind
    if kind == "c" and ufunc not in (np.add, np.subtract, np.multiply) or kind in "fc" and ufunc.__name__.startswith("bitwise") or kind == "b" and ufunc == np.subtract:
        return None
    if ufunc in (np.maximum, np.minimum) or kind in "iub":
        return x
    return np.round(finite(x)) % 5 if kind != "c" and ufunc != np.multiply else (np.abs(finite(x)) > 3).astype(x.dtype) + x.dtype.type(1)


def indices(rng, count, size):
    dtype = rng.choice(["int8", "int32", "int64", "uint8", "uint32"]) if size < 120 else rng.choice(["int32", "int64"])
    return np.array([rng.randrange(0 if dtype[0] == "u" else -size, size) for _ in range(count)], dtype)


def at(name):
    def case(rng, x, y):
        ufunc, x, b = UFUNCS[name], combined(rng, x, UFUNCS[name]), combined(rng, drawn(rng, rng.choice([0, 1, 5, 60]), x.dtype), UFUNCS[name])
        if x is None or x.size == 0:
            return None
        if ufunc == np.multiply:
            b = b[:8]
        rows = x.shape[1:]
        if ufunc != np.multiply and rng.random() < 0.5 and b.size * max(1, x[0].size) < 5000:  # of rows, values for each or for all of their elements
            b = np.broadcast_to(b.reshape(-1, *[1] * len(rows)), (b.size, *rows)).copy()
        else:
            b = b.reshape(-1, *[1] * len(rows))
        i, right = indices(rng, len(b), len(x)), x.copy()
        ufunc.at(right, i, b)
        return f"{name}_at(x, y, z)", right, same, {"x": x, "y": i, "z": b}
    return case


def segments(name):
    def case(rng, x, y):
        ufunc, first = SEGMENTS[name]
        x, count = combined(rng, x.reshape(-1)[:8] if name == "segment_prod" else x, ufunc), rng.choice([0, 1, 3, 50, 700])
        if x is None:
            return None
        keys = np.array([rng.randrange(-1, count + 1) for _ in range(x.size)], rng.choice(["int16", "int64"])).reshape(x.shape)
        keys = np.sort(keys.reshape(-1)).reshape(x.shape) if rng.random() < 0.3 else keys
        if np.isinf(first) and x.dtype.kind in "iub":
            first = (x.dtype.kind == "b") ^ (first < 0) if x.dtype.kind == "b" else np.iinfo(x.dtype).min if first < 0 else np.iinfo(x.dtype).max
        right, inside = np.full(count, first, x.dtype), (keys >= 0) & (keys < count)
        ufunc.at(right, keys[inside], x[inside])
        return f"{name}(x, y, {count})", right, same, {"x": x, "y": keys}
    return case


def put(name):
    def case(rng, x, y):
        values, right = drawn(rng, rng.choice([1, 2, 7, 50]), x.dtype), x.copy()
        if name == "put":
            if x.size == 0:
                return None
            where = indices(rng, rng.choice([0, 1, 9, 80]), x.size)
            np.put(right, where, values)
        else:
            where = drawn(rng, x.shape, rng.choice(["bool", "int8", "float32"]))
            getattr(np, name)(right, where.astype(bool), values)
        return f"{name}(x, y, z)", right, same, {"x": x, "y": where, "z": values}
    return case


def put_along(rng, x, y):
    axis, values = rng.randrange(-x.ndim, x.ndim), drawn(rng, [1], x.dtype)
    if not x.size:
        return None
    wanted = list(x.shape)
    wanted[axis] = rng.choice([1, 2, 5])
    i, right = indices(rng, int(np.prod(wanted)), x.shape[axis]).reshape(wanted), x.copy()
    values = drawn(rng, [e if rng.random() < 0.6 else 1 for e in wanted], x.dtype)
    np.put_along_axis(right, i.astype("i8"), values, axis)
    return f"put_along_axis(x, y, z, {axis})", right, same, {"x": x, "y": i, "z": values}


def runs(rng, x, y):
    x = np.repeat(x.reshape(-1)[:300], [rng.choice([1, 1, 2, 9]) for _ in range(min(x.size, 300))])
    heads = np.flatnonzero(np.concatenate([[True], ~((x[1:] == x[:-1]) | (x[1:] != x[1:]) & (x[:-1] != x[:-1]))])) if x.size else np.zeros(0, int)
    return "run_lengths(x)", [x[heads], np.diff(np.append(heads, x.size))], same, {"x": x}


def lists_of_bins(rng, x, y, weights):
    """Of histogram2d: numbers or edges of each column, or edges of both; NumPy's order of arguments."""
    edges = [np.array([-1.0, 0, 5, 50]), np.array([0.5, 1, 9])]
    bins = rng.choice([[3, 5], [edges[0], 4], edges, edges[1], [0, 1, 7, 30], 6])
    density = rng.random() < 0.5
    text = "e" if bins is edges[1] else f"[{', '.join('e' if b is edges[1] else 'd' if b is edges[0] else str(b) for b in bins)}]" if isinstance(bins, list) else str(bins)
    ranges = rng.choice([None, [[-1, 20], [0.5, 2]]]) if text in ("6", "[3, 5]") else None
    right = np.histogram2d(x, y, bins, ranges, density, y if weights else None)
    more = f", {ranges}, {density}" if density or rng.random() < 0.5 or not weights else f", range={ranges}"
    return f"histogram2d(x, y, {text}{more}{', weights=y' if weights else ''})", list(right), rough, {"x": x, "y": y, "d": edges[0], "e": edges[1]}


def both_bins(rng, x, y):
    if x.dtype.kind == "c":
        return None
    x, bins = np.nan_to_num(finite(x)).reshape(-1) % 50, rng.choice([10, 1, 7])
    y, weights = x[::-1] if rng.random() < 0.5 else x * 0 + 1, rng.random() < 0.4
    if not x.size:
        return None
    if rng.random() < 0.4:
        return lists_of_bins(rng, x, y, weights)
    ranges = rng.choice([None, None, [[-1, 20], [0.5, 2]], [[3.0, 3], [-60, 1]]])
    right = np.histogram2d(x, y, bins, ranges, weights=y if weights else None)
    more, arrays = ", weights=y" if weights else "", {"x": x, "y": y}
    if ranges and rng.random() < 0.5:
        more, arrays = more + ", range=r", {**arrays, "r": np.array(ranges)}
    elif ranges:
        more += f", range={ranges}"
    return f"histogram2d(x, y, {bins}{more})", list(right), rough, arrays


def neighbours(name):
    def case(rng, x, y):
        x, axis = finite(x), rng.randrange(-x.ndim, 0)
        if x.dtype == bool or x.dtype == "float16" or not x.shape[axis]:
            return None
        if name == "trapezoid":
            dx = rng.choice([1.0, 0.5])
            return f"trapezoid(x, dx={dx}, axis={axis})", np.trapezoid(x, dx=dx, axis=axis), rough, {"x": x}
        n = rng.choice([0, 1, 2])
        return f"diff(x, {n}, {axis})", np.diff(x, n, axis), near, {"x": x}
    return case


def sought(name):
    def case(rng, x, y):
        y = np.sort(drawn(rng, rng.choice([1, 5, 40]), y.dtype))  # of another dtype at times
        if "c" in x.dtype.kind + y.dtype.kind:
            return None
        what = rng.choice([0, 3, -1.5, 0.1]) if rng.random() < 0.2 else None  # a number
        arrays, value = ({"y": y}, what) if what is not None else ({"y": y, "x": x}, x)
        text = "x" if what is None else what
        if name == "searchsorted":
            return f"searchsorted(y, {text})", np.searchsorted(y, value), same, arrays
        right = rng.random() < 0.5
        return f"digitize({text}, y{', right=True' if right else ''})", np.searchsorted(y, value, "left" if right else "right"), same, arrays
    return case


def taken(name):
    def case(rng, x, y):
        axis = rng.randrange(-x.ndim, 0)
        n = x.shape[axis]
        if name == "take_along_axis":
            shape = list(x.shape)
            shape[axis] = rng.choice([1, 4])
            i = indices(rng, int(np.prod(shape)), n).reshape(shape)
            return f"take_along_axis(x, y, {axis})", np.take_along_axis(x, i.astype("i8"), axis), same, {"x": x, "y": i}
        if rng.random() < 0.5:
            i = indices(rng, 6, x.size).reshape(2, 3)
            return "take(x, y)", np.take(x, i), same, {"x": x, "y": i}
        i = indices(rng, rng.choice([0, 1, 5]), n)
        return f"take(x, y, {axis})", np.take(x, i, axis), same, {"x": x, "y": i}
    return case


def several(rng, x, count):
    """Arrays of x's shape, of dtypes at random."""
    return {letter: drawn(rng, x.shape, rng.choice(DTYPES)) for letter in "xyzuvw"[:count]}


def joined(name):
    def case(rng, x, y):
        x = shaped(rng, x, rng.choice([1, 2, 3]))
        arrays = several(rng, x, rng.choice([1, 2, 3, 5]))
        words = ", ".join(arrays)
        if name == "block":
            two = rng.random() < 0.5
            return f"block([{words}])" if not two else f"block([[{words}], [{words}]])", \
                np.block(list(arrays.values()) if not two else [list(arrays.values())] * 2), same, arrays
        if name in ("concatenate", "stack"):
            axis = rng.randrange(-x.ndim, x.ndim)
            if name == "concatenate":
                arrays["x"] = np.concatenate([arrays["x"]] * rng.choice([1, 2]), axis)
            return f"{name}([{words}], {axis})", getattr(np, name)(list(arrays.values()), axis), same, arrays
        right = np.vstack if name == "row_stack" else getattr(np, name)
        return f"{name}([{words}])", right(list(arrays.values())), same, arrays
    return case


def chosen(name):
    def case(rng, x, y):
        arrays = several(rng, x, rng.choice([1, 2, 4]))
        values = list(arrays.values())
        words = ", ".join(arrays)
        if name == "choose":
            mode, count = rng.choice(["raise", "wrap", "clip"]), len(values)
            index = np.array([rng.randrange(0 if mode == "raise" else -9, count if mode == "raise" else 9) for _ in range(x.size)], "i8").reshape(x.shape)
            return f"choose(i, [{words}]{'' if mode == 'raise' else f', mode={mode!r}'})", np.choose(index, values, mode=mode), same, {**arrays, "i": index}
        masks = {f"{k}": drawn(rng, x.shape, "bool") for k in "abcd"[:len(values)]}
        other = rng.choice([None, 0, 1])
        return f"select([{', '.join(masks)}], [{words}]{'' if other is None else f', {other}'})", \
            np.select(list(masks.values()), values, other or 0), same, {**arrays, **masks}
    return case


def edited(name):
    def case(rng, x, y):
        x = shaped(rng, x, rng.choice([1, 2, 3]))
        axis = rng.choice([None, rng.randrange(-x.ndim, x.ndim)])
        n = x.size if axis is None else x.shape[axis]
        behind = "" if axis is None else f", {axis}"
        count = rng.choice([1, 2, 3])
        places = [rng.randrange(-n, n + (name == "insert")) for _ in range(count)]
        obj = rng.choice([places[0], places])
        if name == "delete":
            return f"delete(x, {obj}{behind})", np.delete(x, obj, axis), same, {"x": x}
        if isinstance(obj, int) or axis is None:
            y = y.reshape(-1)[:rng.choice([1, 4]) if isinstance(obj, int) else count]
            y = y if axis is None else y[:1]
            y = y[:1] if isinstance(obj, list) and y.size != count else y
        else:
            shape = list(x.shape)
            shape[axis] = rng.choice([1, count])
            y = np.resize(y, shape) if rng.random() < 0.7 else y.reshape(-1)[:1]
        with np.errstate(all="ignore"):
            y = y.astype(x.dtype)
        return f"insert(x, {obj}, y{behind})", np.insert(x, obj, y, axis), same, {"x": x, "y": y}
    return case


def polynomial(name):
    def case(rng, x, y):
        x, y = np.round(finite(x.reshape(-1)))[:40] % 7 if x.dtype.kind != "c" else finite(x.reshape(-1))[:40], y.reshape(-1)[:rng.choice([1, 2, 5, 9])]
        y = np.round(finite(y)) % 5 + (name == 'polymul') * (np.arange(y.size) == 0).astype(y.dtype) if y.dtype.kind != "c" else finite(y)
        if not x.size or not y.size or "b" in x.dtype.kind + y.dtype.kind and name not in ("convolve", "correlate") or "float16" in (x.dtype, y.dtype):
            return None
        if name in ("convolve", "correlate"):
            mode = rng.choice([None, "full", "same", "valid"])
            x, y = (y, x) if rng.random() < 0.3 else (x, y)
            return f"{name}(x, y{'' if mode is None else f', {mode!r}'})", getattr(np, name)(x, y, *([mode] if mode else [])), rough, {"x": x, "y": y}
        if name == "polyder":
            return "polyder(x)", np.polyder(x), rough, {"x": x}
        if name == "polyint":
            k = rng.choice([0, 2.0])
            return f"polyint(x, k={k})" if k else "polyint(x)", np.polyint(x, k=k or None), rough, {"x": x}
        if name == "polyval":
            return "polyval(y, x)", np.polyval(y[:3], x[:9]), rough, {"x": x[:9], "y": y[:3]}
        if name == "polymul":  # NumPy leaves leading zeros out
            x, y = (np.where(np.arange(a.size) == 0, a.dtype.type(3), a) for a in (x, y))
        return f"{name}(x, y)", getattr(np, name)(x, y), rough, {"x": x, "y": y}
    return case


def interp(rng, x, y):
    if "c" in x.dtype.kind or x.dtype == bool:
        return None
    n = rng.choice([1, 2, 3, 20])
    places = np.unique(finite(drawn(rng, n, rng.choice(["float32", "float64", "int32"]))).astype("f8"))
    values = drawn(rng, places.size, rng.choice([d for d in DTYPES if d != "bool"]))
    values = values if rng.random() < 0.3 and values.dtype.kind != "c" else finite(values)
    period = rng.random() < 0.3
    if period:  # equal places, of which NumPy's order is not said, are left out
        x, places = finite(x), places[np.unique(places % 5.5, return_index=True)[1]]
        values = values[:places.size]
        return "interp(x, y, z, period=5.5)", np.interp(x, places, values, period=5.5), rough, {"x": x, "y": places, "z": values}
    ends = rng.random() < 0.5
    return f"interp(x, y, z{', left=-1.5, right=7.0' if ends else ''})", np.interp(x, places, values, *([-1.5, 7.0] if ends else [])), rough, {"x": x, "y": places, "z": values}


def bits_case(name):
    def case(rng, x, y):
        x = drawn(rng, x.shape, "uint8") if name == "unpackbits" else x if x.dtype.kind in "iub" else drawn(rng, x.shape, "int16")
        axis, order = rng.choice([None, rng.randrange(-x.ndim, x.ndim)]), rng.choice(["big", "little"])
        words = {"axis": axis} if axis is not None else {}
        if name == "unpackbits" and rng.random() < 0.5:
            words["count"] = rng.choice([1, 5, 40, -1, -3])
        if order == "little" or rng.random() < 0.3:
            words["bitorder"] = order
        return f"{name}(x{''.join(f', {k}={v!r}' for k, v in words.items())})", getattr(np, name)(x, **words), same, {"x": x}
    return case


def product(name):
    def case(rng, x, y):
        n, m, k = rng.choice([1, 3, 8]), rng.choice([1, 2, 5]), rng.choice([1, 4])
        dtypes = [rng.choice(DTYPES), rng.choice(DTYPES)]
        shapes = {"vdot": ([n, m], [m * n]), "vecdot": ([k, n], [n]), "matvec": ([k, m, n], [n]), "vecmat": ([n], [k, n, m]), "outer": ([n], [m]),
                  "matmul": rng.choice([([n], [n]), ([m, n], [n]), ([n], [n, m]), ([m, n], [n, k]), ([k, m, n], [n, m]), ([k, 1, m, n], [2, n, m])]),
                  "dot": rng.choice([([n], [n]), ([m, n], [n]), ([n], [n, m]), ([m, n], [n, k]), ([k, m, n], [2, n, m])]),
                  "inner": rng.choice([([n], [n]), ([m, n], [n]), ([m, n], [k, n]), ([k, m, n], [2, n])]),
                  "kron": rng.choice([([n], [m]), ([n, m], [k, 2]), ([m, n], [k]), ([k], [m, n])]), "cross": ([k, 3], rng.choice([[3], [k, 3]]))}[name]
        x, y = (finite(drawn(rng, shape, dtype)) for shape, dtype in zip(shapes, dtypes))
        if "float16" in dtypes or name == "cross" and "bool" in dtypes:
            return None
        return f"{name}(x, y)", np.asarray(getattr(np, name)(x, y)), rough, {"x": x, "y": y}
    return case


def equal_arrays(name):
    def case(rng, x, y):
        y = rng.choice([x, x.copy(), y, x.reshape(-1), x.astype("f8") if x.dtype.kind in "iub" else x])
        if name == "array_equiv":
            return "array_equiv(x, y)", np.bool_(np.array_equiv(x, y)), same, {"x": x, "y": y}
        nan = rng.random() < 0.5
        return f"array_equal(x, y{', equal_nan=True' if nan else ''})", np.bool_(np.array_equal(x, y, nan)), same, {"x": x, "y": y}
    return case


def broadcasts(name):
    def case(rng, x, y):
        x, y = x.reshape(-1)[:7], y.reshape(-1)[:5]
        if name == "ix_":
            z = rng.random() < 0.5
            return f"ix_(x, y{', x' if z else ''})", [np.reshape(a, [-1 if d == k else 1 for d in range(2 + z)]) for k, a in enumerate([x, y] + [x] * z)], same, {"x": x, "y": y}
        y = y[:, None]
        return f"broadcast_arrays(x, y{', x' if y.size % 2 else ''})", list(np.broadcast_arrays(x, y, *([x] if y.size % 2 else []))), same, {"x": x, "y": y}
    return case


def diagonals(name):
    def case(rng, x, y):
        k = rng.randrange(-3, 4)
        if name.startswith("diag_indices"):
            n = rng.choice([1, 4])
            x = np.resize(x, (n, n))
            return (f"diag_indices({n})", list(np.diag_indices(n)), same) if name == "diag_indices" else ("diag_indices_from(x)", list(np.diag_indices(n)), same, {"x": x})
        if name == "fill_diagonal":
            x, wrap = np.resize(x, rng.choice([(3, 3), (7, 3), (2, 5), (8, 2), (3, 3, 3)])), rng.random() < 0.5
            y = y.reshape(-1)[:rng.choice([1, 2, 5])].astype(x.dtype)
            right = x.copy()
            np.fill_diagonal(right, y, wrap)
            return f"fill_diagonal(x, y{', True' if wrap else ''})", right, same, {"x": x, "y": y}
        x = x.reshape(-1)[:9] if rng.random() < 0.5 else np.resize(x, (3, 4))
        return f"{name}(x, {k})" if k else f"{name}(x)", getattr(np, name)(x, k), same, {"x": x}
    return case


def frequencies(name):
    def case(rng, x, y):
        if name.endswith("shift"):
            axes = rng.choice([None, rng.randrange(-x.ndim, x.ndim)])
            return f"{name}(x{'' if axes is None else f', axes={axes}'})", getattr(np.fft, name)(x, axes), same, {"x": x}
        n, d = rng.choice([1, 2, 7, 100]), rng.choice([1.0, 0.25])
        return f"{name}({n}, {d})", getattr(np.fft, name)(n, d), same
    return case


def geomspace(rng, x, y):
    start, stop = rng.choice([(1, 1000), (256.0, 0.5), (-1, -8.0), (3, 3)])
    num, end = rng.choice([0, 1, 2, 9]), rng.random() < 0.6
    return f"geomspace({start}, {stop}, {num}{'' if end else rng.choice([', False', ', endpoint=False'])})", np.geomspace(start, stop, num, endpoint=end), rough


def indices_case(rng, x, y):
    shape = [rng.choice([1, 2, 5]) for _ in range(rng.choice([1, 2, 3]))]
    dtype = rng.choice(["", ", dtype=float32"])
    return f"indices({shape}{dtype})", np.indices(shape, **({"dtype": "float32"} if dtype else {})), same


def resize(rng, x, y):
    shape = rng.choice([[3], [2, 7], [100], [4, 0], [2, 3, 4]])
    return f"resize(x, {shape})", np.resize(x, shape), same, {"x": x}


def trim_zeros(rng, x, y):
    x = x.reshape(-1)[:30] * (np.arange(min(x.size, 30)) % 30 > rng.randrange(6)) * (np.arange(min(x.size, 30)) < rng.choice([0, 5, 30]))
    if np.isnan(x).any():
        return None
    trim = rng.choice([None, "fb", "f", "b"])
    return f"trim_zeros(x{'' if trim is None else f', {trim!r}'})", np.trim_zeros(x, trim or "fb"), same, {"x": x}


def copyto(rng, x, y):
    y = finite(y) if y.dtype.kind in "fc" else y
    y = rng.choice([y.reshape(-1)[:1], np.resize(y, x.shape)])
    if not np.can_cast(y.dtype, x.dtype, "same_kind"):
        return None
    mask, right = drawn(rng, x.shape, "bool"), x.copy()
    where = rng.random() < 0.5
    np.copyto(right, y, where=mask if where else True)
    return f"copyto(x, y{', where=z' if where else ''})", right, same, {"x": x, "y": y, "z": mask}


def tensordot(rng, x, y):
    dtypes = [rng.choice([d for d in DTYPES if d != "float16"]) for _ in range(2)]
    shapes, axes = rng.choice([(([2, 3, 4], [3, 4, 5]), 2), (([2, 3], [3, 2]), 1), (([2, 3], [4]), 0), (([2, 3, 4], [4, 3, 2]), ((1, 0), (-2, 2))), (([5], [5, 2]), ((0,), (0,)))])
    x, y = (finite(drawn(rng, shape, dtype)) for shape, dtype in zip(shapes, dtypes))
    text = "" if axes == 2 and rng.random() < 0.5 else f", {axes}"
    return f"tensordot(x, y{text})", np.tensordot(x, y, axes), rough, {"x": x, "y": y}


def flat_indices(rng, x, y):
    shape = [rng.choice([1, 3, 7]) for _ in range(rng.choice([1, 2, 3]))]
    mode, order = rng.choice(["raise", "wrap", "clip"]), rng.choice("CF")
    arrays = {letter: np.array([rng.randrange(n) if mode == "raise" else rng.randrange(-9, 20) for _ in range(9)], rng.choice(["i8", "i8", "i2"])) for letter, n in zip("xyz", shape)}
    more = "" if mode == "raise" and order == "C" else f", '{mode}'" if order == "C" else f", mode='{mode}', order='F'"
    return f"ravel_multi_index([{', '.join(arrays)}], {shape}{more})", np.ravel_multi_index(tuple(arrays.values()), tuple(shape), mode, order), same, arrays


def triangle_places(name):
    def case(rng, x, y):
        n, m, k = rng.choice([1, 4, 6]), rng.choice([1, 3, 6]), rng.randrange(-2, 3)
        if name.endswith("from"):
            return f"{name}(x, {k})", list(getattr(np, name)(np.resize(x, (n, m)), k)), same, {"x": np.resize(x, (n, m))}
        return f"{name}({n}, {k}, {m})", list(getattr(np, name)(n, k, m)), same
    return case


def distinct(name):
    def case(rng, x, y):
        x = np.concatenate([x.reshape(-1)[:5], x.reshape(-1)[:20]])
        right = np.unique(x, equal_nan=False) if name == "unique_values" else getattr(np, name)(x)  # of which NumPy does not say the order
        return f"{name}(x)", list(right) if isinstance(right, tuple) else right, same, {"x": x}
    return case


def multi_dot(rng, x, y):
    arrays = {letter: np.round(finite(drawn(rng, shape, "float64"))) % 5 for letter, shape in zip("xyz", ([3, 4], [4, 2], [2, 5]))}
    return "multi_dot([x, y, z])", np.linalg.multi_dot(list(arrays.values())), rough, arrays


def windows(rng, x, y):
    x = shaped(rng, x, rng.choice([1, 2, 3]))
    axes = rng.sample(range(x.ndim), rng.randrange(1, x.ndim + 1))
    sizes = [rng.randrange(1, x.shape[a] + 1) for a in axes]
    of = rng.choice(["x", "x", "positive(x)", "x[::-1]", "x.T"]) if x.dtype != bool else "x"
    value = eval(of, {"x": x, "positive": np.positive})
    axes, sizes = (axes, sizes) if of != "x.T" else (list(range(x.ndim)), [rng.randrange(1, n + 1) for n in value.shape])
    if axes == list(range(x.ndim)) and rng.random() < 0.5:
        return f"sliding_window_view({of}, {sizes})", np.lib.stride_tricks.sliding_window_view(value, sizes), same, {"x": x}
    right = np.lib.stride_tricks.sliding_window_view(value, sizes, axes)
    text = f"sliding_window_view({of}, {sizes}, {axes})"
    if x.dtype.kind in "iu" and rng.random() < 0.5:
        return rng.choice([(f"sum({text}, axis=-1)", np.sum(right, axis=-1)), (f"max({text}, axis=-1) - x.min()", right.max(-1) - x.min()), (f"cumsum({text}, axis=0)", np.cumsum(right, axis=0)),
                           (f"{text}[..., ::-1] + 1", right[..., ::-1] + 1)]) + (same, {"x": x})
    return text, right, same, {"x": x}


CASES = {**{name: neighbours(name) for name in ("diff", "trapezoid")}, **{name: sought(name) for name in ("digitize", "searchsorted")},
         **{name: taken(name) for name in ("take", "take_along_axis")}, **{f"{name}_at": at(name) for name in UFUNCS}, **{name: segments(name) for name in SEGMENTS}, **{name: put(name) for name in ("put", "place", "putmask")}, "put_along_axis": put_along, "run_lengths": runs, "histogram2d": both_bins, "argwhere": lambda rng, x, y: ("argwhere(x)", np.argwhere(x), same, {"x": x}),
         "compress": compress, **{name: sets(name) for name in ("intersect1d", "isin", "setdiff1d", "setxor1d", "union1d")}, "allclose": allclose, "ediff1d": lambda rng, x, y: None if x.dtype == bool else ("ediff1d(x)", np.ediff1d(x), same), "isclose": isclose, "meshgrid": meshgrid,
         "iscomplex": lambda rng, x, y: ("iscomplex(x)", np.iscomplex(x), same), "isreal": lambda rng, x, y: ("isreal(x)", np.isreal(x), same),
         "outer": lambda rng, x, y: ("outer(x, y)", np.outer(x[:40], y[:40]), near, {"x": x[:40], "y": y[:40]}), "vander": vander,
         **{name: window(name) for name in ("bartlett", "blackman", "hamming", "hanning", "kaiser")}, **{name: covs(name) for name in ("cov", "corrcoef")},
         **{name: cumulative(name) for name in ("cumulative_prod", "cumulative_sum")}, **{name: nan_scan(name) for name in ("nancumprod", "nancumsum")},
         **{name: nan_reduction(name) for name in ("nanargmax", "nanargmin", "nanprod")}, **{name: square(name) for name in ("eye", "identity", "tri")},
         **{name: nan_moment(name) for name in ("nanmean", "nanstd", "nanvar")}, **{name: spaced(name) for name in ("linspace", "logspace")},
         **{name: axes_case(name) for name in ("diagonal", "flip", "matrix_transpose", "moveaxis", "rollaxis", "rot90", "swapaxes", "trace")},
         "average": average, **{name: of_neighbours(name) for name in ("gradient", "unwrap")}, **{name: arranged(name) for name in ("append", "pad", "repeat", "roll", "tile")},
         **{name: joined(name) for name in ("block", "column_stack", "concatenate", "dstack", "hstack", "row_stack", "stack", "vstack")},
         **{name: chosen(name) for name in ("choose", "select")}, **{name: edited(name) for name in ("delete", "insert")}, "interp": interp,
         **{name: polynomial(name) for name in ("convolve", "correlate", "polyadd", "polyder", "polyint", "polymul", "polysub", "polyval")},
         **{name: bits_case(name) for name in ("packbits", "unpackbits")}, **{name: equal_arrays(name) for name in ("array_equal", "array_equiv")},
         **{name: product(name) for name in ("cross", "dot", "inner", "kron", "matmul", "matvec", "vdot", "vecdot", "vecmat")},
         "tensordot": tensordot, "ravel_multi_index": flat_indices, "multi_dot": multi_dot, "sort_complex": lambda rng, x, y: None if np.isnan(x).any() else ("sort_complex(x)", np.sort_complex(x), same, {"x": x}),
         **{name: triangle_places(name) for name in ("tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from")},
         **{name: distinct(name) for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values")},
         **{name: broadcasts(name) for name in ("broadcast_arrays", "ix_")}, "geomspace": geomspace, "indices": indices_case, "resize": resize,
         **{name: diagonals(name) for name in ("diag", "diagflat", "diag_indices", "diag_indices_from", "fill_diagonal")}, "trim_zeros": trim_zeros, "sliding_window_view": windows,
         **{name: frequencies(name) for name in ("fftfreq", "fftshift", "ifftshift", "rfftfreq")}, "copyto": copyto,
         **{f"atleast_{n}d": at_least(f"atleast_{n}d") for n in (1, 2, 3)}, **{name: triangle(name) for name in ("tril", "triu")}, **{name: turned(name) for name in ("fliplr", "flipud")}}


def einsum(rng, x, y):
    text = rng.choice(["ij,jk->ik", "ij,kj", "ii", "ii->i", "i,j->ij", "ij->ji", "ij->", "ij,ij->j", "i,i", "bij,bjk->bik", "ijk->kji", "iji->j", "a,ab,b->", "ji", "...ij,...jk->...ik",
                       "...i,...i", "i...->...", "...,...", "...ii->i...", "ij...,j->i...", "... i, i ... -> ... i", "...->..."])
    extent, dotted = {letter: rng.choice([1, 2, 5]) for letter in "abijk"}, [2, 3, 2][rng.randrange(4):]

    def shape(part):  # the axes of "..." broadcast: the last ones, and some of one element
        own = [rng.choice([1, n]) for n in dotted[rng.randrange(len(dotted) + 1):]]
        return [n for c in part.replace("...", ".").replace(" ", "") for n in (own if c == "." else [extent[c]])]
    arrays = {name: finite(drawn(rng, shape(part), rng.choice([d for d in DTYPES if d != "float16"]))) for name, part in zip("xyz", text.split("->")[0].split(","))}
    if any(a.dtype == bool or np.ndim(a) == 0 for a in arrays.values()):
        return None  # NumPy's sums of truth values are of their own kind; arrays without axes have one here
    return f"einsum('{text}', {', '.join(arrays)})", np.asarray(np.einsum(text, *arrays.values())), rough, arrays


def unravel(rng, x, y):
    shape = tuple(rng.choice([1, 3, 7]) for _ in range(rng.choice([1, 2, 3])))
    i, order = np.array([rng.randrange(int(np.prod(shape))) for _ in range(9)], rng.choice(["i4", "i8", "u8"])), rng.choice("CF")
    return f"unravel_index(x, {list(shape)}{', order=' + repr(order) if order == 'F' else ''})", list(np.unravel_index(i, shape, order)), same, {"x": i}


def unique_parts(rng, x, y):
    shape = [rng.choice([1, 2, 3]) for _ in range(rng.randrange(1, 4))]
    axis = rng.randrange(-len(shape), len(shape))
    shape[axis] = rng.choice([0, 1, 9, 40])
    if rng.random() < 0.3:  # more elements in a part than a lexsort has keys
        shape = [rng.choice([1, 12, 30]), rng.choice([17, 40, 200])]
        axis = 0
    few = [rng.choice([0, 1, 1, 2.5, -1]) for _ in range(rng.choice([1, 5, 40]))]
    x = np.array([rng.choice(few) for _ in range(int(np.prod(shape)))]).reshape(shape).astype(rng.choice([d for d in DTYPES if d != "float16"]))
    if shape[axis] > 1:
        x = np.take(x, [rng.choice([k, 0]) for k in range(shape[axis])], axis)  # equal parts
    which = [rng.random() < 0.4 for _ in range(3)]
    right = np.unique(x, *which, axis=axis)
    return f"unique(x, {', '.join(map(str, which))}, axis={axis})", list(right) if any(which) else right, same, {"x": x}


def many_bins(rng, x, y):
    columns, n = rng.choice([1, 2, 2, 3]), rng.choice([1, 7, 40])
    values = np.array([[rng.choice([-2.0, 0, 0.5, 3, 8]) for _ in range(columns)] for _ in range(n)]).astype(rng.choice(["i4", "f4", "f8", "u1"]))
    bins = [rng.choice([1, 3, 10, [0, 1, 4], [-3.0, 0.5, 3]]) for _ in range(columns)]
    ranges = [None if rng.random() < 0.5 else rng.choice([(-1, 3), (0.0, 0.5)]) if isinstance(b, int) else None for b in bins] if rng.random() < 0.6 else None
    if rng.random() < 0.3:
        bins, ranges = 4, ranges if ranges and all(r is None or len(r) for r in ranges) else None
    density, weights = rng.random() < 0.3, rng.random() < 0.4
    arrays = {"w": np.arange(n) * 0.5} if weights else {}
    as_list = rng.random() < 0.5 or (isinstance(bins, int) and ranges is None)
    arrays |= {f"x{k}": np.ascontiguousarray(values[:, k]) for k in range(columns)} if as_list else {"x": values}
    sample = f"[{', '.join(f'x{k}' for k in range(columns))}]" if as_list else "x"
    h, edges = np.histogramdd(values, bins, ranges, density, np.arange(n) * 0.5 if weights else None)
    return f"histogramdd({sample}, {bins}, {ranges}, {density}{', w' if weights else ''})", [h, *edges], rough, arrays


CASES |= {"einsum": einsum}
# Functions that are no rows, or whose rows have no such argument: expressions alone have them.
OTHERS = {"unravel_index": unravel, "unique": unique_parts, "histogramdd": many_bins}
USUAL, KEEPDIMS = -2**63, 2


class Functions(Names):
    """Calls of expressions, and of functions by their rows."""
    def __init__(self, library, lines):
        super().__init__(library)
        self.rows = {}
        for name, _, params, n_out in (line for line in lines if line[1] == "row"):
            self.rows.setdefault(name, []).append(([word.strip() for word in params.split(",")], int(n_out)))

    def number(self, value):
        """A weak number, as an argument of a call."""
        given = Argument(5 if isinstance(value, float) else 3, 0, None)
        where = ctypes.addressof(given) + Argument.array.offset
        (ctypes.c_double if isinstance(value, float) else ctypes.c_int64).from_address(where).value = value
        return given

    def arguments(self, text, arrays, n_out):
        """The arguments of kiln_function_call, with "array NAME" for an array; the axes and keepdims. None where the text is no such call."""
        call = ast.parse(text).body[0].value
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            return None
        for params, results in self.rows.get(call.func.id, []):
            plain = [word.split("=")[0] for word in params]
            places = [word for word in plain[:plain.index("*") if "*" in plain else None]]
            given = dict(zip(places, call.args)) | {next((p for p in plain if p.rstrip("#$@%") == k.arg), k.arg): k.value for k in call.keywords}
            if results != n_out or len(places) < len(call.args) or not set(given) <= set(plain):
                continue
            axis, keep, found = None, False, []
            for name in (p for p in plain if p != "*"):
                value = given.get(name)
                if name[-1] in "$@%":
                    found.append(self.listed(name[-1], value))
                elif isinstance(value, ast.Name):
                    if name[-1] == "#" and value.id in arrays:
                        return None  # edges of bins: functions of C take their number alone
                    found.append(f"array {value.id}" if value.id in arrays else self.dtype_number(value.id))
                elif name == "axis":
                    axis = ast.literal_eval(value) if value else None
                elif name == "keepdims#":
                    keep = bool(value)
                elif value:
                    try:
                        found.append(ast.literal_eval(value))
                    except ValueError:
                        return None
                    if isinstance(found[-1], list):
                        return None
                else:
                    found.append(USUAL if name[-1] == "#" else 0 if name == "dtype" else None)
            return None if any(isinstance(value, tuple) for value in found) else (found, axis, keep)
        return None  # arguments that expressions alone have

    def listed(self, mark, value):
        """A word as bytes, a list of whole numbers, or of names of arrays; None: absent; a tuple: no such list."""
        if value is None or mark == "$":
            return value.value.encode() if value else None
        if not isinstance(value, (ast.List, ast.Tuple)):
            return () if isinstance(value, ast.Name) else ast.literal_eval(value)
        if mark == "@":
            return [item.id for item in value.elts] if all(isinstance(item, ast.Name) for item in value.elts) else ()
        return [ast.literal_eval(item) for item in value.elts]

    def packed(self, value, arrays, rng, held, alive):
        """An argument that is a word or a list: a struct of its items."""
        if isinstance(value, bytes):
            data, size = ctypes.create_string_buffer(value), len(value)
        elif value and isinstance(value[0], str):
            data = (Argument * len(value))(*[Argument(1, 0, placed(self, rng, np.ascontiguousarray(arrays[name]), held).value) for name in value])
            size = ctypes.sizeof(data)
        else:
            data = (ctypes.c_int64 * max(len(value), 1))(*value)
            size = 8 * len(value)
        alive.append(data)
        given = Argument(8, 0, ctypes.addressof(data))
        ctypes.c_size_t.from_address(ctypes.addressof(given) + Argument.array.offset + 8).value = size
        return given

    def by_name(self, text, arrays, rng, n_out):
        """Results by kiln_function_call; None where the text is no such call."""
        parts = self.arguments(text, arrays, n_out)
        if parts is None:
            return None
        found, axis, keep = parts
        name, held, out = text.split("(")[0], [], (ctypes.c_void_p * n_out)()
        given, alive = (Argument * (len(found) + 1))(), []
        for k, value in enumerate(found):
            if isinstance(value, (bytes, list)):
                given[k] = self.packed(value, arrays, rng, held, alive)
            elif isinstance(value, str):
                given[k] = Argument(1, 0, placed(self, rng, np.ascontiguousarray(arrays[value[6:]]), held).value)
            elif value is not None:
                given[k] = self.number(value)
        axes = None if axis is None else [axis] if isinstance(axis, int) else list(axis)
        options = CallOptions(ctypes.sizeof(CallOptions), KEEPDIMS if keep else 0)
        if axes is not None:
            options.axes, options.n_axes = (ctypes.c_int * (len(axes) + 1))(*axes), len(axes)
        self.check(self.c.kiln_function_call(out, n_out, name.encode(), given, len(found), ctypes.byref(options)), text)
        results = [self.taken(array) for array in out]
        for handle in reversed(held):
            self.c.kiln_array_free(handle)
        return results


def check_case(kiln, names, seed, index):
    rng = random.Random(seed * 1000003 + index)
    name, dtype = names[index % len(names)], rng.choice(DTYPES)
    shape = [rng.choice([1, 2, 3, 7, 40]) for _ in range(rng.choice([1, 1, 2, 3]))]
    x, y = drawn(rng, shape, dtype), drawn(rng, shape, dtype if rng.random() < 0.7 else rng.choice(DTYPES))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        case = {**CASES, **OTHERS}[name](rng, x, y)
    if case is None:
        return
    text, right, alike, *more = case
    arrays = more[0] if more else {"x": x, "y": y}
    arrays = {k: a for k, a in arrays.items() if k in text.replace(name, "", 1)} or {"x": x}
    rights = list(right) if isinstance(right, (list, tuple)) else [right]
    what = f"--seed {seed} --first {index} --count 1: {text} of {', '.join(f'{a.dtype} {a.shape}' for a in arrays.values())}"
    by_name = kiln.by_name(text, arrays, rng, len(rights)) if rng.random() < 0.5 else None
    for one, wanted in zip(by_name or kiln.results(text, arrays, rng, len(rights)), rights):
        assert alike(one, wanted), f"{what}: {one} ({one.dtype} {one.shape}), not {wanted} ({wanted.dtype} {wanted.shape}); {arrays}"


# Arguments that NumPy's functions lack, and numbers of those that are needed where NumPy's differ: lengths that would depend on elements, and axes
# for which NumPy has no usual value.
OWN_ARGUMENTS = {"argsort": {"descending"}, "bincount": {"length"}, "repeat": {"total"}, "sort": {"descending"}}
NEEDED = {"put_along_axis": 3}
WITHOUT_NAMES = {"einsum", "expand_dims", "flatten", "ndim", "permute_dims", "ravel", "reshape", "shape", "size", "squeeze", "transpose"}  # also an array's methods


def arguments_of(kiln, name):
    """What a function says of its arguments where it is given too few, too many or others: their names, those that have to be given, and how
    many go without names."""
    def said(given):
        kernel = ctypes.c_void_p()
        if kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x", f"{name}({given})".encode(), None):
            return kiln.c.kiln_error_message().decode()
        kiln.c.kiln_kernel_free(kernel)
        return ""

    names = re.search(r"there are: (.*)", said("zz=0"))[1].split(", ")
    missing = [re.search(r"the argument '(\w+)' is missing", said(", ".join(["x"] * n))) for n in range(len(names))]
    needed = list(dict.fromkeys(m[1] for m in itertools.takewhile(bool, missing)))
    places = re.search(r"takes (\d+) argument", said(", ".join(["x"] * (len(names) + 1))))
    return names, needed, int(places[1]) if places else 0


def check_arguments(kiln, lines):
    """An argument has NumPy's name and, where it goes without one, NumPy's place; those without a usual value have to be given. Names of one row have the row's."""
    kiln.c.kiln_error_message.restype = ctypes.c_char_p
    listed = sorted({name for name, kind, *_ in lines if kind == "function"} - WITHOUT_NAMES)
    for name in listed:
        names, needed, places = arguments_of(kiln, name)
        function = next((getattr(m, name) for m in (np, np.linalg, np.fft) if hasattr(m, name)), None)
        if function is None:
            continue  # a later NumPy has taken it away; docs/numpy.md, a test too, is of the NumPy that it names
        numpy = inspect.signature(function).parameters.values()
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in numpy):
            continue
        in_order = [p.name for p in numpy if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        without_usual = [p.name for p in numpy if p.default is p.empty]
        assert len(needed) == NEEDED.get(name, len(without_usual)), f"{name}: {needed} are needed; NumPy needs {without_usual}"
        if name != "arange":  # whose first argument may be its second
            assert set(names) <= {p.name for p in numpy} | OWN_ARGUMENTS.get(name, set()), f"{name}: {names}, not {[p.name for p in numpy]}"
            assert names[:places] == in_order[:places], f"{name}: {names[:places]} without names; NumPy has {in_order}"
    rows = [line for line in lines if line[1] == "row" and not line[2].startswith("key,")]
    counts = collections.Counter(name for name, *_ in rows)
    for name, _, params, *_ in (row for row in rows if counts[row[0]] == 1 and row[0] not in WITHOUT_NAMES):
        names, needed, places = arguments_of(kiln, name)
        words = [word.strip() for word in params.split(",")]
        plain = [word.split("=")[0].rstrip("#$@%") for word in words]
        assert set(plain) - {"*"} <= set(names), f"{name}({params}): {names}"
        assert needed == [p for p, word in zip(plain, words) if "=" not in word and p != "*"], f"{name}({params}): {needed} are needed"
    return len(listed)


def main():
    o = random_cases(8000, len(CASES) + len(OTHERS), 32, ("names", {}))
    lines = [line.split("\t") for line in subprocess.run([o.names], capture_output=True, text=True, check=True).stdout.splitlines()]
    # Those of a key are random: check_random.py.
    names = sorted({name for name, kind, params, *_ in lines if kind == "row" and not params.startswith("key,")})
    assert set(names) == set(CASES), f"{set(names) ^ set(CASES)}: each function has a case, and each case a function"
    numbers = [(name, sum(word.strip() not in ("*", "axis", "keepdims#=False") and not word.strip().startswith("axis=") for word in params.split(","))) for name, kind, params, *_ in lines if kind == "row"]
    assert len(numbers) == len(set(numbers)), f"{[n for n in numbers if numbers.count(n) > 1]}: C finds a row by its name and the number of its arguments"
    kiln = Functions(o.library, lines)
    check_arguments(kiln, lines)
    names += OTHERS
    cases = drawn_cases(o.cases, 2) if o.count == len(names) else o.cases  # half of the functions, others at each run
    in_threads(lambda k: check_case(kiln, names, o.seed, k), cases)
    print(f"{len(cases)} calls of {len(names)} functions, none wrong")


if __name__ == "__main__":
    main()
