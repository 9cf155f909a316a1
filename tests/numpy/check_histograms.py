"""Random histograms over random layouts, against NumPy: counts, sums of weights, other operators and dtypes; few bins and many, all elements in one bin and in
none; outputs allocated and given; twice, the same bits; refusals.
check_histograms.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--small]"""
import argparse
import ctypes
import math
import random

import numpy as np

from fuzz_reductions import Layout, random_shape, stored_dtype
from fuzz_scans import Scans
from host_kernels import SMALL, Argument, KernelOptions, bits, in_threads, random_cases

# Inputs, outputs, bin, value, reduce, post, identity; by NumPy: what is combined, by which function, from what, and what is done in the end.
WAYS = {
    "count": ("K k", "int64 z", "k", None, None, None, None, lambda w: np.ones(w.shape, "i8"), np.add, 0, lambda a: a),
    "few": ("K k", "int32 z", "k / 7", None, None, None, None, lambda w: np.ones(w.shape, "i4"), np.add, 0, lambda a: a),
    "sum": ("K k, V w", "V z", "k", "w", None, None, None, lambda w: w, np.add, 0, lambda a: a),
    "wide": ("K k, V w", "float64 z", "k", "w", None, "z = 2 * a", None, lambda w: w.astype("f8"), np.add, 0, lambda a: 2 * a),
    "greatest": ("K k, V w", "V z", "k", "w", "max(a, b)", None, "-5", lambda w: w, np.maximum, -5, lambda a: a),
    "least": ("K k, V w", "int64 z", "k", "(int64)w", "a < b ? a : b", None, "77", lambda w: w.astype("i8"), np.minimum, 77, lambda a: a),
    "bits": ("K k, V w", "uint32 z", "k", "1u << ((int)w & 31)", "a | b", None, "0u", lambda w: np.left_shift(np.uint32(1), (w.astype("i4") & 31).astype("u4")), np.bitwise_or, 0,
             lambda a: a),
    "any": ("K k, V w", "bool z", "k", "w > 2", "a || b", None, "false", lambda w: w > 2, np.logical_or, False, lambda a: a),
}
ANY_ORDER = 64  # KILN_KERNEL_ANY_ORDER
KEYS = "int8 uint8 int16 uint16 int32 uint32 int64 uint64 float32 float64 bool".split()
VALUES = "int32 uint32 int64 uint64 float32 float64 float16 int16".split()


class Histograms(Scans):
    def __init__(self, path, is_small):
        super(Scans, self).__init__(path)
        self.is_large = self.device != 1 and not is_small
        self.pool_size = 2 ** (23 if self.is_large else 14 if is_small else 19)
        self.numbers = {d: self.dtype_number(d) for d in set(KEYS + VALUES)}

    def create(self, ins, outs, bin_text, value, reduce, post, identity, bins, flags=0):
        out, o = ctypes.c_void_p(), KernelOptions(ctypes.sizeof(KernelOptions), flags)
        texts = [None if t is None else t.encode() for t in (ins, outs, bin_text, value, reduce, post, identity)]
        self.c.kiln_histogram_create.argtypes = [ctypes.c_void_p] + [ctypes.c_char_p] * 7 + [ctypes.c_int64, ctypes.c_char_p, ctypes.c_void_p]
        status = self.c.kiln_histogram_create(ctypes.byref(out), *texts, bins, b"binned", ctypes.byref(o))
        return self.message() if status else out

    def message(self):
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def call(self, kernel, ins, outs):
        """Nothing, or a message."""
        assert not isinstance(kernel, str), kernel
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        return self.message() if self.c.kiln_kernel_call(kernel, outs, len(outs), arguments, len(ins), None) else None


def drawn_keys(rng, dtype, count, bins):
    """Evenly, with some outside, most in one bin, or all in one."""
    low, high = (-3, bins + 3) if rng.random() < 0.5 else (0, bins)
    keys = rng.integers(low, max(high, low + 1), count)
    how = rng.random()
    if how < 0.25:
        keys = np.where(rng.random(count) < 0.9, int(rng.integers(low, max(high, low + 1))), keys)
    elif how < 0.4:
        keys[:] = int(rng.integers(low, max(high, low + 1)))
    kind = np.dtype(dtype).kind
    if kind in "iu":
        info = np.iinfo(dtype)
        keys = np.clip(keys, max(info.min, low), min(info.max, 2 ** 62))
    return keys.astype(dtype)


def bin_of(keys, way):
    if keys.dtype.kind == "u" and keys.dtype.itemsize == 8:
        keys = keys.astype("i8")
    if way != "few":
        return keys.astype("i8")
    return (keys / keys.dtype.type(7)).astype("i8") if keys.dtype.kind == "f" else np.trunc(keys.astype("f8") / 7).astype("i8")


def check_case(kiln, seed, index):
    rng, values = random.Random(seed * 1000003 + index), np.random.default_rng(seed * 1000003 + index)
    way, key, value = rng.choice(list(WAYS)), KEYS[index % len(KEYS)], rng.choice(VALUES)
    if way == "greatest" and value in ("uint32", "uint64"):
        value = "int32"
    ins_text, outs_text, bin_text, value_text, reduce, post, identity, map_of, function, first, post_of = WAYS[way]
    shape, _ = random_shape(rng, kiln.random_size(rng))
    while math.prod(shape) > kiln.pool_size // 4:
        shape, _ = random_shape(rng, kiln.random_size(rng))
    bins = rng.choice([1, 2, 3, 10, 100, 256, 1000, rng.randrange(1, 5000), rng.randrange(1, 70000)])
    most = {"i": lambda d: np.iinfo(d).max, "u": lambda d: np.iinfo(d).max}.get(np.dtype(key).kind, lambda d: 2 ** 20)(key)
    is_given = rng.random() < 0.4
    count = 1 + ("w" in ins_text)
    layouts = [Layout(rng, shape, kiln.pool_size) for _ in range(count)]
    dtypes = [key, value][:count]
    pools = [drawn_keys(values, key, layouts[0].start + layouts[0].room + 64, min(bins, most))]
    if count > 1:
        pools.append(values.integers(0, 5, layouts[1].start + layouts[1].room + 64).astype(value))
    held = [kiln.upload(p, d) for p, d in zip(pools, dtypes)]
    views = [kiln.view(kiln.address(h), l, d) for h, l, d in zip(held, layouts, dtypes)]
    arrays = [l.of(p).reshape(-1) for l, p in zip(layouts, pools)]
    out_dtype = {"V": value}.get(outs_text.split()[0], outs_text.split()[0])
    what = f"--seed {seed} --first {index} --count 1: {way} of {key} and {value}, shape {shape}, {bins} bins, strides {[l.strides for l in layouts]}"
    at = bin_of(arrays[0], way)
    inside = (at >= 0) & (at < bins)
    with np.errstate(all="ignore"):
        mapped = map_of(arrays[-1])
        expected = np.full(bins, first, np.float64 if out_dtype == "float16" else mapped.dtype)
        function.at(expected, at[inside], mapped[inside])
        expected = post_of(expected).astype(out_dtype)
    kernel = kiln.create(ins_text, outs_text, bin_text, value_text, reduce, post, identity, 0 if is_given else bins)
    assert not isinstance(kernel, str), f"{what}: {kernel}"
    outs = (ctypes.c_void_p * 1)()
    step, start = 1, 0
    if is_given:
        step = rng.choice([1, 1, 2, -1])
        room = np.zeros(bins * abs(step) + 64, stored_dtype(out_dtype))
        target = kiln.upload(room, out_dtype)
        layout = argparse.Namespace(shape=[bins], strides=[step], start=bins - 1 if step < 0 else 3)
        start = layout.start
        outs[0] = kiln.view(kiln.address(target), layout, out_dtype).value
    for _ in range(2):
        failure = kiln.call(kernel, views, outs)
        assert not failure, f"{what}: {failure}"
    if is_given:
        got = kiln.download(target, out_dtype)
        room[start + step * np.arange(bins)] = expected
        expected = room
        kiln.c.kiln_array_free(target)
    else:
        got = kiln.download(outs[0], out_dtype)
    wrong = np.flatnonzero(bits(got, out_dtype) != bits(expected, out_dtype)) if got.shape == expected.shape else [0]
    assert got.shape == expected.shape and not len(wrong), f"{what}: at {wrong[:8]} of {len(wrong)}: {got[wrong[:8]]}, not {expected[wrong[:8]]}"
    for h in [ctypes.c_void_p(outs[0])] + views + held:
        kiln.c.kiln_array_free(h)
    kiln.c.kiln_kernel_free(kernel)


def check_same_bits(kiln):
    """Sums of floats whose order would show: many bins and few, each again and again."""
    rng = np.random.default_rng(5)
    for bins in (3, 300, 20000):
        n = kiln.pool_size // 4
        keys, weights = rng.integers(0, bins, n).astype("i4"), rng.standard_normal(n).astype("f4")
        keys[rng.random(n) < 0.5] = 1
        kernel = kiln.create("int32 k, float32 w", "float32 z", "k", "w", None, None, None, bins)
        views = [kiln.upload(keys, "int32"), kiln.upload(weights, "float32")]
        right = np.bincount(keys, weights, bins)
        seen = set()
        for _ in range(6):
            outs = (ctypes.c_void_p * 1)()
            failure = kiln.call(kernel, views, outs)
            assert not failure, failure
            got = kiln.download(outs[0], "float32")
            assert np.allclose(got, right, rtol=1e-4, atol=2e-3 * n ** 0.5 / 10), f"{bins} bins: {abs(got - right).max()}"
            seen.add(got.tobytes())
            kiln.c.kiln_array_free(ctypes.c_void_p(outs[0]))
        assert len(seen) == 1, f"{bins} bins: {len(seen)} different results of six calls"
        outs = (ctypes.c_void_p * 1)()
        failure = kiln.call(kiln.create("int32 k, float32 w", "float32 z", "k", "w", None, None, None, bins, ANY_ORDER), views, outs)
        assert not failure, failure
        got = kiln.download(outs[0], "float32")
        assert np.allclose(got, right, rtol=1e-3, atol=2e-3 * n ** 0.5), f"{bins} bins in any order: {abs(got - right).max()}"


def expression(kiln, names, text):
    out = ctypes.c_void_p()
    return kiln.message() if kiln.c.kiln_expression_create(ctypes.byref(out), names.encode(), text.encode(), None) else out


def drawn_elements(rng, dtype, size, has_special):
    """Whole numbers, which lie on edges, or any; NaN and infinity among them."""
    if dtype.kind in "iu":
        return rng.integers(0 if dtype.kind == "u" else -20, 30, size).astype(dtype)
    x = rng.integers(-20, 30, size).astype(dtype) if rng.random() < 0.5 else rng.normal(3, 7, size).astype(dtype)
    if has_special:
        x = np.where(rng.random(size) < 0.1, rng.choice(np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0], dtype), size), x)
    return x


def check_named(kiln, seed, index):
    """bincount, histogram and histogram_bin_edges in expressions, against NumPy's, bit for bit."""
    rng, values = random.Random(seed * 1000003 + index), np.random.default_rng(seed * 1000003 + index)
    dtype = np.dtype(rng.choice("i1 u1 i4 u8 i8 f2 f4 f8".split()))
    weights = rng.choice([None, None, "f4", "f8", "i8"])
    count = rng.choice([1, 2, 10, 37, 1000]) if dtype != "f2" else rng.choice([1, 2, 5, 10])  # NumPy refuses edges that are equal
    size = [1 + values.integers(0, 40) for _ in range(rng.randrange(1, 4))]
    names, arrays, w = ["x"], [], ""
    way = rng.choice(["bincount", "number", "range", "edges", "wide"])
    x = drawn_elements(values, dtype, size, way in ("range", "edges"))
    if way == "wide":
        x = np.full(size, x.flat[0])
    if weights:
        names, w = ["x", "w"], ", weights=w"
        weights = values.integers(0, 9, size).astype(weights)
    keywords = {"weights": None if weights is None else weights.reshape(-1)}
    if way == "bincount":
        x = np.abs(x.astype("i4")).astype(rng.choice(["i4", "u2", "i8"]))
        text, right = f"bincount(x{w}, length={count})", [np.bincount(x.reshape(-1), minlength=count, **keywords)[:count]]
    else:
        density = rng.random() < 0.2
        end = f"{', density=True' if density else ''}{w})"
        if way == "edges":
            edges = np.sort(values.integers(-15, 25, rng.randrange(2, 12)).astype(dtype)) if dtype.kind != "u" else np.sort(values.integers(0, 25, 5).astype(dtype))
            names, text, given = names + ["e"], "histogram(x, e" + end, {"bins": edges}
            arrays = [edges]
            density &= len(np.unique(edges)) == len(edges)
            text = text if density else text.replace(", density=True", "")
        elif way == "range":
            low = rng.choice([-3, 0.5, 0, 2.25, 0.1])
            high = low + rng.choice([0, 1, 7.3, 20])
            if dtype.kind == "f":  # elements at the ends of the range as it is in their dtype
                x.flat[0], x.flat[-1] = low, high
            text, given = f"histogram(x, {count}, ({low}, {high})" + end, {"bins": count, "range": (low, high)}
        else:
            text, given = f"histogram(x, {count}" + end, {"bins": count}
        with np.errstate(all="ignore"):
            right = list(np.histogram(x, density=density, **given, weights=weights))
    what = f"--seed {seed} --first {index} --count 1: {text} of {x.dtype} {x.shape}, weights {None if weights is None else weights.dtype}"
    arrays = [x] + ([] if weights is None else [weights]) + arrays
    kernel = expression(kiln, ", ".join(names), text)
    assert not isinstance(kernel, str), f"{what}: {kernel}"
    held = [kiln.upload(np.ascontiguousarray(a).reshape(-1), a.dtype.name) for a in arrays]
    views = [kiln.wrap(a, a.dtype.name, kiln.address(h), kiln.device) for a, h in zip(arrays, held)]
    outs = (ctypes.c_void_p * len(right))()
    failure = kiln.call(kernel, views, outs)
    assert not failure, f"{what}: {failure}"
    got = [kiln.download(h, r.dtype.name) for h, r in zip(outs, right)]
    # A fused expression does not round edges of 16 bits before their differences are taken.
    width_error = 1e-2 if dtype == np.float16 else 1e-5
    for k, (g, r) in enumerate(zip(got, right)):
        is_close = k == 0 and way != "bincount" and density
        same = g.shape == r.shape and (np.allclose(g, r, rtol=width_error, equal_nan=True) if is_close else np.array_equal(g.astype(r.dtype), r, equal_nan=r.dtype.kind == "f"))
        assert same, f"{what}: result {k}: {g}\nnot {r}\nof {x}"
    for h in [ctypes.c_void_p(o) for o in outs] + views + held:
        kiln.c.kiln_array_free(h)
    kiln.c.kiln_kernel_free(kernel)


def check_refusals(kiln):
    for text, words in [("bincount(x, length=0)", "at least 1"), ("bincount(x, minlength=-1, length=3)", "at least 0"),
                        ("histogram(x, 0)", "at least 1"), ("histogram(x, 3, 4)", "two numbers"), ("histogram(x, y, (0, 1))", "beside the edges"), ("histogram()", "'a' is missing")]:
        kernel = expression(kiln, "x, y", text)
        assert isinstance(kernel, str) and words in kernel, (text, kernel)
    two = [kiln.upload(np.zeros(6, "f4"), "float32"), kiln.upload(np.zeros(1, "f4"), "float32")]
    message = kiln.call(expression(kiln, "x, y", "histogram(x, y)"), two, (ctypes.c_void_p * 2)())
    assert message and "fewer than two" in message, message
    good = ("K k, V w", "V z", "k", "w", "a + b", "z = a", "0")
    for at, text, words in [(0, "struct s k, V w", None), (0, "_non_const int32 k", "_non_const"), (1, "raw V z", "a raw output"), (1, "", "at least one output"),
                            (2, "k)", ")"), (2, None, "bin is NULL"), (3, "w)", ")"), (4, "a + b)", ")"), (5, "z = a)", ")"), (6, None, "identity: NULL was given"), (1, "V k", "k"),
                            (5, "y = a)", ")")]:
        texts = list(good)
        texts[at] = text
        kernel = kiln.create(*texts, 8)
        assert isinstance(kernel, str) and (words is None or words in kernel), (texts, kernel)
    assert "bins: -1 was given" in kiln.create(*good, -1)
    assert "options.flags" in kiln.create(*good, 4, 16)
    x = [kiln.upload(np.arange(6, dtype="i4"), "int32")]
    none = (ctypes.c_void_p * 1)()
    message = kiln.call(kiln.create("K k", "int64 z", "k", None, None, None, None, 0), x, none)
    assert message and "the number of bins was not given" in message, message
    kernel = kiln.create("K k", "int64 z", "k", None, None, None, None, 5)
    for wrong, words in [(np.zeros(4, "i8"), "(4,)"), (np.zeros(5, "f4"), "float32")]:
        given = (ctypes.c_void_p * 1)(kiln.upload(wrong, wrong.dtype.name).value)
        message = kiln.call(kernel, x, given)
        assert message and words in message, message
    message = kiln.call(kiln.create("float32 k", "int64 z", "k", None, None, None, None, 5), x, none)
    assert message and "float32" in message and "int32" in message, message
    number = (Argument * 1)(Argument(2, kiln.numbers["int32"], None))
    assert kiln.c.kiln_kernel_call(kernel, none, 1, number, 1, None) and "there is nothing to count" in kiln.message()
    message = kiln.call(kiln.create("K k", "V z", "k", None, None, None, None, 5), x, none)
    assert message and "settles type V" in message, message
    x = np.array([1 + 2j, 3], "c8")
    for text in ("histogram(x)", "histogram(x, 3, (0, 1))", "histogram(x, x)"):
        kernel, outs = expression(kiln, "x", text), (ctypes.c_void_p * 2)()
        held = kiln.upload(x, "complex64")
        failure = kiln.call(kernel, [kiln.wrap(x, "complex64", kiln.address(held), kiln.device)], outs)
        assert failure and "real numbers were expected" in failure, (text, failure)
        kiln.c.kiln_array_free(held)
        kiln.c.kiln_kernel_free(kernel)


def check_many_bins(kiln):
    """More counts than fit shared memory by 32 bits, of as many elements as have bins of 16 (CUDA), nearly all in one; some have none."""
    rng = np.random.default_rng(31)
    a = np.where(rng.random((1 << 22) + 5) < 0.97, 77, rng.integers(0, 40100, (1 << 22) + 5)).astype("i4")
    kernel = expression(kiln, "a", "bincount(a, length=40001)")
    held, outs = kiln.upload(a, "int32"), (ctypes.c_void_p * 1)()
    assert not kiln.c.kiln_kernel_call(kernel, outs, 1, (Argument * 1)(Argument(1, 0, held.value)), 1, None), kiln.message()
    assert np.array_equal(kiln.download(outs[0], "int64"), np.bincount(a, minlength=40001)[:40001]), "counts in many bins"
    for handle in (held, ctypes.c_void_p(outs[0])):
        kiln.c.kiln_array_free(handle)


def main():
    o = random_cases(1500, 12, 17, SMALL)
    kiln = Histograms(o.library, o.small)
    check_refusals(kiln)
    check_same_bits(kiln)
    check_many_bins(kiln)
    in_threads(lambda k: (check_named if k % 2 else check_case)(kiln, o.seed, k), o.cases)
    print(f"{o.count} histograms, none wrong")


if __name__ == "__main__":
    main()
