"""Random sorts over random layouts, against NumPy: values, indices, payloads, several keys, expressions; all dtypes with special values and many equal keys; both
orders, all axes; outputs allocated and given; twice, the same bits; refusals.
check_sorts.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--small]"""
import ctypes
import math
import random
import struct

import numpy as np

from fuzz_reductions import CallOptions, Layout, random_shape, stored_dtype
from fuzz_scans import Scans
from host_kernels import SMALL, Argument, KernelOptions, bits, in_threads, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()
WAYS = {  # inputs, outputs, keys and their types, body
    "values": ("T x", "T y", [("x", None)], "y = x"),
    "places": ("T x", "int64 at", [("x", None)], "at = i"),
    "both": ("T x", "T y, int32 at", [("x", "T")], "y = x; at = (int32)i"),
    "payload": ("T x, float32 w", "T y, float32 v", [("x", None)], "y = x; v = w"),
    "apart": ("T x, float32 w", "float32 v, int64 at", [("x", None), ("w * w", "float32")], "v = w + 1;\nat = i"),
    "second": ("float32 w, T x", "T y, int64 at", [("w", None), ("x // the second one", "T")], "y = x; at = i"),
    "raw": ("T x, raw float32 w", "float32 v", [("x", None)], "v = w[i % w.size()]"),
    # Maps have parameters of this name, so that these sorts have the passes of processors without vectors.
    "passes": ("T x, float32 _length", "float32 v, int64 at", [("x", None)], "v = _length; at = i"),
    "moves": ("T x, float32 _length", "T y, float32 v", [("x", None)], "y = x; v = _length"),
    "wide": ("T x, float64 w, complex128 u", "T y, float64 v, complex128 t", [("x", None)], "y = x; v = w; t = u"),
}


class SortKey(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_char_p), ("flags", ctypes.c_uint)]


def shown(a, dtype):
    """The numbers that a stored array stands for."""
    return (a.astype("u4") << 16).view("f4") if dtype == "bfloat16" else a


def draw(rng, dtype, count):
    """Few distinct numbers, or any bits, or special ones among them."""
    stored = stored_dtype(dtype)
    if dtype == "bool":
        return rng.integers(0, 2, count).astype(bool)
    if rng.random() < 0.5:
        a = np.frombuffer(rng.bytes(count * stored.itemsize), stored).copy()
    else:
        a = rng.integers(0, 9, count)
        a = (a * 0x3f80 + rng.integers(0, 2, count) * 0x8000).astype("u2") if dtype == "bfloat16" else (a - 4 * (stored.kind != "u")).astype(stored)
        if stored.kind == "c":
            a += (1j * rng.integers(0, 3, count)).astype(stored)
    if stored.kind in "fc":
        part = a.view(f"f{stored.itemsize // (2 if stored.kind == 'c' else 1)}")
        at = rng.random(part.size) < 0.3
        part[at] = rng.choice(np.array([0.0, -0.0, np.inf, -np.inf, np.nan, -np.nan, 1], part.dtype), int(at.sum()))
    return a


def order_of(keys, axis, flags):
    """Stable, of several keys, the first one the most important. NumPy's minus turns an order round, and leaves NaN where it is."""
    order = None
    for key, down in reversed(list(zip(keys, flags))):
        key = key if order is None else np.take_along_axis(key, order, axis)
        key = ~key if down and key.dtype.kind in "bui" else -key if down else key
        step = np.argsort(key, axis=axis, kind="stable")
        order = step if order is None else np.take_along_axis(order, step, axis)
    return order


class Sorts(Scans):
    def __init__(self, path, is_small):
        super(Scans, self).__init__(path)
        self.is_large = self.device != 1 and not is_small
        self.pool_size = 2 ** (23 if self.is_large else 14 if is_small else 18)
        self.numbers = {d: self.dtype_number(d) for d in DTYPES}
        self.kernels = {}

    def create(self, way, flags, options=0):
        ins, outs, keys, body = WAYS[way] if isinstance(way, str) else way
        given = (SortKey * max(len(keys), 1))(*[SortKey(None if k is None else k.encode(), t and t.encode(), f) for (k, t), f in zip(keys, flags)])
        out, o = ctypes.c_void_p(), KernelOptions(ctypes.sizeof(KernelOptions), options)
        status = self.c.kiln_sort_create(ctypes.byref(out), ins.encode(), outs.encode(), given, len(keys), body.encode(), b"sorted", ctypes.byref(o))
        return self.message() if status else out

    def message(self):
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def sort(self, kernel, ins, outs, axis):
        """Nothing, or a message."""
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        o = CallOptions(ctypes.sizeof(CallOptions), 0)
        if axis is not None:
            o.axes, o.n_axes = (ctypes.c_int * 1)(axis), 1
        return self.message() if self.c.kiln_kernel_call(kernel, outs, len(outs), arguments, len(ins), ctypes.byref(o)) else None


def check_case(kiln, seed, index, ways=None):
    rng, values = random.Random(seed * 1000003 + index), np.random.default_rng(seed * 1000003 + index)
    way, dtype = rng.choice(ways or list(WAYS)), DTYPES[index % len(DTYPES)]
    ins_text, outs_text, keys, body = WAYS[way]
    shape, _ = random_shape(rng, kiln.random_size(rng))
    while math.prod(shape) > kiln.pool_size // 4:
        shape, _ = random_shape(rng, kiln.random_size(rng))
    shape = shape or [5]
    axis = rng.randrange(-len(shape), len(shape))
    given_axis = None if axis in (-1, len(shape) - 1) and rng.random() < 0.5 else axis
    flags = [rng.randrange(2) for _ in keys]
    kernel = kiln.kernels.setdefault((way, *flags), None) or kiln.create(way, flags)
    assert not isinstance(kernel, str), kernel
    kiln.kernels[(way, *flags)] = kernel
    names = [t.split()[-1] for t in ins_text.split(", ")]
    dtypes = [dtype if " x" in t else t.split()[-2] for t in ins_text.split(", ")]
    layouts = [Layout(rng, shape, kiln.pool_size) for _ in names]
    pools = [draw(values, d, l.start + l.room + 64) for d, l in zip(dtypes, layouts)]
    held = [kiln.upload(p, d) for p, d in zip(pools, dtypes)]
    views = [kiln.view(kiln.address(h), l, d) for h, l, d in zip(held, layouts, dtypes)]
    arrays = {n: l.of(p) for n, l, p in zip(names, layouts, pools)}
    seen = {n: shown(a, d) for (n, a), d in zip(arrays.items(), dtypes)}
    what = f"--seed {seed} --first {index} --count 1: {way} of {dtype}, shape {shape}, axis {axis}, flags {flags}, strides {[l.strides for l in layouts]}"
    with np.errstate(all="ignore"):
        order = order_of([seen["x"] if k[0] == "x" else seen["w"] * seen["w"] if "*" in k else seen["w"] for k, _ in keys], axis, flags)
        full = dict(arrays)
        out_names, results = [t.split() for t in outs_text.split(", ")], []
        if way == "raw":
            results = [arrays["w"].reshape(-1)[order % max(arrays["w"].size, 1)] if arrays["w"].size else order.astype("f4")]
        else:
            source = {"y": full["x"], "v": full.get("w", full.get("_length")), "t": full.get("u")}
            for kind, name in out_names:
                if name == "at":
                    results.append(order.astype(kind))
                else:
                    a = source[name] + np.float32(way == "apart") if name == "v" and way == "apart" else source[name]
                    results.append(np.take_along_axis(a, order, axis))
    out_dtypes = [dtype if kind == "T" else kind for kind, _ in out_names]
    outs = (ctypes.c_void_p * len(out_names))()
    for _ in range(2):
        failure = kiln.sort(kernel, views, outs, given_axis)
        assert not failure, f"{what}: {failure}"
    for h, d, right in zip(outs, out_dtypes, results):
        got = kiln.download(h, d)
        same = np.array_equal(np.ascontiguousarray(got).view("u1"), np.ascontiguousarray(right).view("u1")) if got.size and d != "float32" else \
            np.array_equal(bits(got, d), bits(right, d))
        assert got.shape == right.shape and same, f"{what}: {got}\nnot {right}"
    # Into given arrays of any layout.
    places = [Layout(rng, shape, kiln.pool_size) for _ in out_names]
    rooms = [np.zeros(l.start + l.room + 64, stored_dtype(d)) for l, d in zip(places, out_dtypes)]
    targets = [kiln.upload(r, d) for r, d in zip(rooms, out_dtypes)]
    given = (ctypes.c_void_p * len(out_names))(*[kiln.view(kiln.address(h), l, d).value for h, l, d in zip(targets, places, out_dtypes)])
    failure = kiln.sort(kernel, views, given, axis)
    assert not failure, f"{what}: given: {failure}"
    for h, l, room, d, right in zip(targets, places, rooms, out_dtypes, results):
        if right.size:
            l.of(room)[...] = right
        assert np.array_equal(bits(kiln.download(h, d), d), bits(room, d)), f"{what}: outputs given, strides {l.strides}"
    for h in [ctypes.c_void_p(o) for o in list(outs) + list(given)] + targets + views + held:
        kiln.c.kiln_array_free(h)


def check_refusals(kiln):
    one = [("x", None)]
    made = [(("T x", "T x2", one, "y = x"), [0], "x2"), (("T x", "raw T y", one, "y[i] = x"), [0], "a raw output"), (("raw T x", "T y", one, "y = x[i]"), [0], "all are raw"),
            (("T x", "T y", [], "y = x"), [], "keys: 0 were given"), (("T x", "T y", [(None, None)], "y = x"), [0], "keys[0].key is NULL"),
            (("T x", "T y", [("", None)], "y = x"), [0], "keys[0].key is empty"), (("T x", "T y", one + [("x", "float31")], "y = x"), [0, 0], "keys[1].type: 'float31'"),
            (("T x", "T y", one, "y = x"), [2], "keys[0].flags: 0x2"), (("T x", "T y", [("x)", None)], "y = x"), [0], ")"), (("T x", "T y", one, "y = x)"), [0], ")"),
            (("T x", "T y", one * 17, "y = x"), [0] * 17, "keys: 17 were given"), (("T x", "", one, ""), [0], "output")]
    for way, flags, words in made:
        kernel = kiln.create(way, flags)
        assert isinstance(kernel, str) and words in kernel, (way, kernel)
    assert "options.flags" in kiln.create("values", [0], 16)
    kernel, x, none = kiln.create("both", [0]), [kiln.upload(np.arange(6, dtype="f4"), "float32")], (ctypes.c_void_p * 2)()
    message = kiln.sort(kernel, x, none, 1)
    assert message and "axis 1 was given" in message, message
    two = (ctypes.c_void_p * 2)(kiln.upload(np.zeros(6, "f8"), "float64").value, None)
    message = kiln.sort(kernel, x, two, 0)
    assert message and "float64" in message and "float32" in message, message
    short = (ctypes.c_void_p * 2)(kiln.upload(np.zeros(5, "f4"), "float32").value, None)
    assert kiln.sort(kernel, x, short, 0), "an output of five elements was taken"
    o = CallOptions(ctypes.sizeof(CallOptions), 0)
    o.axes, o.n_axes = (ctypes.c_int * 2)(0, 0), 2
    assert kiln.c.kiln_kernel_call(kernel, none, 2, (Argument * 1)(Argument(1, 0, x[0].value)), 1, ctypes.byref(o)) and "a sort has one axis" in kiln.message()
    number = (Argument * 1)(Argument(2, kiln.numbers["int32"], None))
    assert kiln.c.kiln_kernel_call(kernel, none, 2, number, 1, None), "a number was sorted"


def check_numbers(kiln):
    """Numbers of 8 bytes among the inputs, whose halves differ: devices fill four at a time."""
    kernel = kiln.create(("T x, T a", "T y", [("abs(x - a)", None)], "y = x + a"), [0])
    for dtype, a, pack in (("float64", 1.1, "d"), ("int64", (1 << 40) + 5, "q")):
        x = np.random.default_rng(1).permutation(5000).astype(dtype)
        held, outs = kiln.upload(x, dtype), (ctypes.c_void_p * 1)()
        given = (Argument * 2)(Argument(1, 0, held.value), Argument(7, kiln.numbers[dtype], int.from_bytes(struct.pack(pack, a), "little")))
        assert not kiln.c.kiln_kernel_call(kernel, outs, 1, given, 2, None), kiln.message()
        got, right = kiln.download(outs[0], dtype), (x + a)[np.argsort(abs(x - a), kind="stable")]
        assert np.array_equal(got, right), f"{dtype}: {got}, not {right}"
        for handle in (held, ctypes.c_void_p(outs[0])):
            kiln.c.kiln_array_free(handle)


def sorted_alone(kiln, kernel, a):
    held, outs = kiln.upload(a, a.dtype.name), (ctypes.c_void_p * 1)()
    assert not kiln.c.kiln_kernel_call(kernel, outs, 1, (Argument * 1)(Argument(1, 0, held.value)), 1, None), kiln.message()
    got = kiln.download(outs[0], a.dtype.name)
    for handle in (held, ctypes.c_void_p(outs[0])):
        kiln.c.kiln_array_free(handle)
    return got


def check_alone(kiln):
    """Elements that are their own keys: long integers of few values, whose passes are left out two by two; bytes, of a number that is no whole word; short ones with -0 and NaN of both signs."""
    rng = np.random.default_rng(31)
    few = rng.integers(0, 1 << 16, 9001)
    bits_of_nan = np.array([0x7fc00001, 0xffc00002, 0x80000000, 0, 0x3f800000], "u4").view("f4")
    cases = [few.astype("i8"), few.astype("i8") << 40, few.astype("u8") << 8 | 5 << 56, np.full(8200, -3, "i8"), rng.integers(0, 256, 9003).astype("u1"), rng.integers(-128, 128, 8200).astype("i1"),
             rng.integers(0, 2, 8192).astype(bool), rng.choice(bits_of_nan, 1000), rng.standard_normal(33).astype("f4")]
    for is_down in (0, 1):
        kernel = kiln.create("values", [is_down])
        for a in cases:
            order = order_of([a], -1, [is_down])
            got, right = sorted_alone(kiln, kernel, a), a[order]
            assert np.array_equal(bits(got, a.dtype.name), bits(right, a.dtype.name)), f"{a.dtype} {a.shape} down {is_down}: {got}, not {right}"


def main():
    o = random_cases(1500, 9, 17, SMALL)
    kiln = Sorts(o.library, o.small)
    check_refusals(kiln)
    check_numbers(kiln)
    check_alone(kiln)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} sorts, none wrong")


if __name__ == "__main__":
    main()
