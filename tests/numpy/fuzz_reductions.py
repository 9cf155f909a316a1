"""Random reductions over random layouts, against NumPy: axes none, some, all, negative; kept or dropped; outputs given or allocated, of any
strides; inputs that broadcast, are turned, sliced and permuted; structs as reduce types, several outputs, `_J`, `i`, no identity, nothing to
reduce. Numbers are small, so that sums are exact whatever the order; each call is made twice and gives the same bits.
fuzz_reductions.py LIBRARY [COUNT [SEED]]"""
import ctypes
import os
import random
import sys

import numpy as np

from host_kernels import FLOATS, INTEGERS, KernelOptions, Library, in_threads


class Options(KernelOptions):
    _fields_ = [("reduce_type", ctypes.c_char_p)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


KEEPDIMS = 2
BEST = """struct best { T value; long long at; };
__device__ best better(best a, best b) { return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a; }"""
RANGE = "struct range { T low, high; };\n__device__ range both(range a, range b) { return {b.low < a.low ? b.low : a.low, b.high > a.high ? b.high : a.high}; }"
MOMENTS = "struct moments { double n, sum, squares; };\n__device__ moments join(moments a, moments b) { return {a.n + b.n, a.sum + b.sum, a.squares + b.squares}; }"

# name, inputs, outputs, map, reduce, post, identity, preamble, reduce type, reference(arrays, axes, keepdims) -> results, has it an identity
SUM_OF = {**{d: "int64" for d in INTEGERS if d[0] == "i"}, **{d: "uint64" for d in INTEGERS if d[0] == "u"}, **{d: d for d in FLOATS}}


def logical(shape):
    return np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)


def argmax(x, axes, keepdims):
    """The first of the largest, in C order of the reduced axes."""
    kept = [a for a in range(x.ndim) if a not in axes]
    rows = np.transpose(x, kept + sorted(axes)).reshape([x.shape[a] for a in kept] + [-1])
    return np.argmax(rows, axis=-1).reshape([1 if a in axes else x.shape[a] for a in range(x.ndim)] if keepdims else [x.shape[a] for a in kept])


FOLDS = [
    ("sum", "T x", "U y", "U(x)", "a + b", "y = a", "0", None, None, lambda a, **k: [np.sum(a[0], dtype=SUM_OF[a[0].dtype.name], **k)]),
    ("norm", "T x", "float64 y", "(double)x * (double)x", "a + b", "y = sqrt(a)", "0", None, None,
     lambda a, **k: [np.sqrt(np.sum(a[0].astype("f8") ** 2, **k))]),
    ("largest", "T x", "T y", "x", "a > b ? a : b", "y = a", None, None, None, lambda a, **k: [np.max(a[0], **k)]),
    ("dot", "T x, T y", "float64 z", "(double)x * (double)y", "a + b", "z = a", "0", None, None,
     lambda a, **k: [np.sum(a[0].astype("f8") * a[1].astype("f8"), **k)]),
    ("best", "T x", "int64 at, T value", "best{x, _J}", "better(a, b)", "at = a.at; value = a.value", None, BEST, "best",
     lambda a, **k: [argmax(a[0], k["axis"], k["keepdims"]), np.max(a[0], **k)]),
    ("range", "T x, T y", "T low, T high", "range{x, y}", "both(a, b)", "low = a.low; high = a.high", None, RANGE, "range",
     lambda a, **k: [np.min(a[0], **k), np.max(a[1], **k)]),
    ("places", "T x", "int64 y", "x > 0 ? i : 0ll", "a + b", "y = a", "0", None, None,
     lambda a, **k: [np.sum(np.where(a[0] > 0, logical(a[0].shape), 0), **k)]),
    ("moments", "T x", "float64 mean, float64 square, int64 count", "moments{1, (double)x, (double)x * (double)x}", "join(a, b)",
     "mean = a.sum / a.n; square = a.squares / a.n; count = _in_ind.size() / _out_ind.size()", None, MOMENTS, "moments",
     lambda a, **k: [np.mean(a[0].astype("f8"), **k), np.mean(a[0].astype("f8") ** 2, **k), np.sum(np.ones(a[0].shape, "i8"), **k)]),
]


def random_array(rng, shape, dtype):
    """Small numbers in an array of that shape, any strides."""
    order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.5 else list(range(len(shape)))
    steps = [rng.choice([1, 1, 1, 2, 3]) for _ in shape]
    room = np.random.default_rng(rng.randrange(1 << 30)).integers(-4 if dtype[0] != "u" else 0, 5, size=[shape[a] * steps[a] for a in order])
    array = room.astype(dtype).transpose(np.argsort(order)) if shape else room.astype(dtype)
    for a in range(len(shape)):
        array = array[(slice(None),) * a + (slice(None, None, steps[a]) if rng.random() < 0.7 else slice(None, None, -steps[a]),)]
    return array


def random_case(rng):
    fold = rng.choice(FOLDS)
    dtype = rng.choice(INTEGERS + FLOATS)
    ndim = rng.choice([0, 1, 1, 2, 2, 3, 3, 4, 5])
    longest = {0: 1, 1: 5000, 2: 150, 3: 40, 4: 12, 5: 7}[ndim]
    shape = [rng.choice([1, 2, 3, rng.randint(1, longest), rng.randint(1, longest)]) for _ in range(ndim)]
    if shape and rng.random() < 0.06:
        shape[rng.randrange(ndim)] = 0
    full = rng.choice([None, None, 0]) if rng.random() < 0.3 else None
    arrays = []
    for k in range(fold[1].count(",") + 1):
        own = [1 if k > 0 and rng.random() < 0.2 else e for e in shape]
        arrays.append(random_array(rng, own[rng.randint(0, ndim) if k > 0 and full == 0 else 0:], dtype))
    axes = None if rng.random() < 0.2 else rng.sample(range(ndim), rng.randint(0, ndim))
    return fold, dtype, tuple(shape), arrays, axes, rng.random() < 0.4


class Reductions(Library):
    def __init__(self, path):
        super().__init__(path)
        for name, kind in (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                           ("ndim", ctypes.c_int), ("dtype", ctypes.c_int)):
            getattr(self.c, f"kiln_array_{name}").restype = kind
            getattr(self.c, f"kiln_array_{name}").argtypes = [ctypes.c_void_p]
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        self.kernels = {}

    def kernel(self, fold, dtype):
        if (fold[0], dtype) in self.kernels:
            return self.kernels[fold[0], dtype]
        name, ins, outs, mapped, reduced, post, identity, preamble, reduce_type, _ = fold
        preamble = preamble and preamble.replace("T ", dtype + " ")
        outs = outs.replace("U", SUM_OF[dtype])
        mapped = mapped.replace("U", SUM_OF[dtype])
        kernel = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), 0, preamble and preamble.encode(), reduce_type=reduce_type and reduce_type.encode())
        self.check(self.c.kiln_reduction_create(ctypes.byref(kernel), *[t.encode() for t in (ins, outs, mapped, reduced, post)],
                                                identity and identity.encode(), name.encode(), ctypes.byref(options)), name)
        return self.kernels.setdefault((fold[0], dtype), kernel)

    def result(self, handle):
        ndim, dtype = self.c.kiln_array_ndim(handle), np.dtype(self.c.kiln_dtype_name(self.c.kiln_array_dtype(handle)).decode())
        shape, strides = self.c.kiln_array_shape(handle)[:ndim], self.c.kiln_array_strides(handle)[:ndim]
        if 0 in shape:
            return np.zeros(shape, dtype)
        size = sum((e - 1) * s for e, s in zip(shape, strides)) + dtype.itemsize
        memory = np.frombuffer(ctypes.string_at(self.c.kiln_array_data(handle), size), np.uint8)
        return np.lib.stride_tricks.as_strided(memory[:dtype.itemsize].view(dtype), shape, strides).copy() if ndim else memory.view(dtype).reshape(()).copy()

    def call(self, kernel, arrays, outs, axes, keepdims, dtype):
        """status, results; outs holds arrays or None."""
        ins = [self.wrap(a, dtype) for a in arrays]
        given = [None if o is None else self.wrap(o, o.dtype.name) for o in outs]
        handles = (ctypes.c_void_p * len(outs))(*[g and g.value for g in given])
        from host_kernels import Argument
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        options = CallOptions(ctypes.sizeof(CallOptions), KEEPDIMS if keepdims else 0)
        if axes is not None:
            options.axes, options.n_axes = (ctypes.c_int * max(len(axes), 1))(*axes), len(axes)
        status = self.c.kiln_kernel_call(kernel, handles, len(outs), arguments, len(ins), ctypes.byref(options))
        message = (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode() if status else ""
        results = [] if status else [o if o is not None else self.result(h) for o, h in zip(outs, handles)]
        for h in list(ins) + [ctypes.c_void_p(h) for h in handles if h]:
            self.c.kiln_array_free(h)
        return status, message, results


def check(kiln, rng, count, seen):
    for turn in range(count):
        fold, dtype, shape, arrays, axes, keepdims = random_case(rng)
        what = f"{fold[0]} {dtype} {shape} axes {axes} keepdims {keepdims} strides {[a.strides for a in arrays]}"
        kernel = kiln.kernel(fold, dtype)
        whole = [np.broadcast_to(a, np.broadcast_shapes(*[b.shape for b in arrays])) for a in arrays]
        all_axes = tuple(range(whole[0].ndim)) if axes is None else tuple(axes)
        signed = axes and [a - whole[0].ndim if rng.random() < 0.5 else a for a in axes]
        outs = fold[2].count(",") + 1
        is_empty = 0 in [whole[0].shape[a] for a in all_axes]
        kept_size = np.prod([e for a, e in enumerate(whole[0].shape) if a not in all_axes])
        if any(a < 0 or a >= whole[0].ndim for a in all_axes):
            continue
        if is_empty and kept_size > 0 and fold[6] is None:
            status, message, _ = kiln.call(kernel, arrays, [None] * outs, signed if axes else axes, keepdims, dtype)
            assert status and "has no elements, and there is no identity" in message, f"{what}: {status} {message}"
            seen["refused"] = seen.get("refused", 0) + 1
            continue
        if kept_size == 0 or (is_empty and fold[6] is None):
            expected = [np.zeros([1 if a in all_axes and keepdims else e for a, e in enumerate(whole[0].shape) if keepdims or a not in all_axes]) for _ in range(outs)]
        else:
            with np.errstate(all="ignore"):
                expected = [np.asarray(e) for e in fold[9](whole, axis=all_axes, keepdims=keepdims)]
        status, message, results = kiln.call(kernel, arrays, [None] * outs, signed if axes else axes, keepdims, dtype)
        assert not status, f"{what}: {message}"
        for got, right in zip(results, expected):
            assert got.shape == right.shape, f"{what}: shape {got.shape}, not {right.shape}"
            assert np.allclose(got.astype("f8"), right.astype("f8"), rtol=1e-12 if got.dtype.itemsize == 8 else 2e-3), f"{what}:\n{got}\nnot\n{right}"
        given = [random_array(rng, list(r.shape), r.dtype.name) if rng.random() < 0.7 else None for r in results]
        status, message, again = kiln.call(kernel, arrays, given, signed if axes else axes, keepdims, dtype)
        assert not status, f"{what}, given {[g is not None and g.strides for g in given]}: {message}"
        for got, first in zip(again, results):
            assert np.array_equal(got, first), f"{what}: another result in a given output: {got} {first}"
        seen[fold[0]] = seen.get(fold[0], 0) + 1


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 20000 if os.environ.get("KILN_SOAK") == "1" else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 11
    kiln, seen = Reductions(sys.argv[1]), {}
    parts = [(random.Random(seed + k), (count + 9) // 10, {}) for k in range(10)]
    in_threads(lambda part: check(kiln, *part), parts)
    for _, _, own in parts:
        for name, times in own.items():
            seen[name] = seen.get(name, 0) + times
    print(f"{sum(seen.values())} reductions, none wrong: {seen}")


if __name__ == "__main__":
    main()
