"""sort, argsort, lexsort, topk, partition, argpartition, median, quantile, percentile, those without NaN, and unique in expressions over random arrays of all of NumPy's dtypes,
against NumPy: special values and many equal elements, all axes, several of them, none, any strides, all methods; twice, the same bits.
check_sort_names.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random
import warnings

import numpy as np

from check_searches import drawn, placed
from check_sorts import order_of
from host_kernels import Argument, Arrays, in_threads, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
METHODS = ("linear lower higher nearest midpoint inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull median_unbiased "
           "normal_unbiased").split()
DISCRETE = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}


class Names(Arrays):
    def results(self, text, arrays, rng, n_out):
        """The results of an expression of x, y and q."""
        kernel, held, out = ctypes.c_void_p(), [], (ctypes.c_void_p * n_out)()
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), ", ".join(arrays).encode(), text.encode(), None), text)
        given = (Argument * len(arrays))(*[Argument(1, 0, placed(self, rng, a if 0 in a.strides else np.ascontiguousarray(a), held).value) for a in arrays.values()])
        all_results = []
        for _ in range(2):
            self.check(self.c.kiln_kernel_call(kernel, out, n_out, given, len(arrays), None), text)
            all_results.append([self.taken(array) for array in out])
            out = (ctypes.c_void_p * n_out)()
        for a, b in zip(*all_results):
            assert a.tobytes() == b.tobytes(), f"{text}: other bits again"
        for handle in reversed(held):
            self.c.kiln_array_free(handle)
        self.c.kiln_kernel_free(kernel)
        return all_results[0]

    def taken(self, array):
        """The elements of an array, which is freed."""
        shape = [self.c.kiln_array_shape(array)[k] for k in range(self.c.kiln_array_ndim(array))]
        got = np.empty(shape, self.numpy_dtype(self.c.kiln_array_dtype(array)))
        self.check(self.c.kiln_array_to_host(array, got.ctypes.data_as(ctypes.c_void_p), got.nbytes), "download")
        self.c.kiln_array_free(array)
        return got

    def numpy_dtype(self, number):
        return next(d for d in DTYPES if self.dtype_number(d) == number)


def same(got, right):
    """Equal numbers, NaN among them; 0 is -0, and a NaN any NaN."""
    right = np.asarray(right)
    return got.shape == right.shape and got.dtype == right.dtype and np.array_equal(got, right, equal_nan=right.dtype.kind in "fc")


def near(got, right):
    """Computed: the last bits may differ."""
    right = np.asarray(right)
    if got.shape != right.shape or got.dtype != right.dtype:
        return False
    step = np.finfo(right.dtype).eps if right.dtype.kind in "fc" else 0
    return np.allclose(got, right, rtol=4 * step, atol=64 * step, equal_nan=True)


def is_long(x):
    """Whether its longest axis is too long for a sort at once."""
    return x.ndim > 0 and max(x.shape) > 4096


def drawn_axis(rng, x, several):
    """An axis, or several: the longest one where it is long."""
    ndim, kind = x.ndim, rng.random()
    if kind < 0.3:
        return None
    if is_long(x):
        return int(np.argmax(x.shape)) - ndim * rng.randrange(2)
    if several and kind < 0.6 and ndim > 1:
        axes = tuple(rng.sample(range(ndim), rng.randrange(1, ndim + 1)))
        return tuple(a - ndim * rng.randrange(2) for a in axes)
    return rng.randrange(-ndim, ndim)


def finite(x):
    """Without infinities, and without integers whose difference has no room."""
    if x.dtype.kind in "fc":
        part = x.view(f"f{x.dtype.itemsize // (2 if x.dtype.kind == 'c' else 1)}")
        part[np.isinf(part)] = 7
    if x.dtype.kind in "iu":
        most = min(np.iinfo(x.dtype).max // 4, 2 ** 40)
        return np.clip(x, -most if x.dtype.kind == "i" else 0, most)
    return x


def sorts(rng, x):
    axis, which = drawn_axis(rng, x, False), rng.choice(["sort", "argsort"])
    down = rng.random() < 0.4
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    order = order_of([flat], along, [down])
    text = f"{which}(x, axis={axis}{', descending=True' if down else ''})" if rng.random() < 0.7 or down or axis != x.ndim - 1 else f"x.{which}()"
    return text, [np.take_along_axis(flat, order, along) if which == "sort" else order], same


def topks(rng, x):
    axis = drawn_axis(rng, x, False)
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    n, down = flat.shape[along], rng.random() < 0.7
    k = rng.randrange(0, (n // 8 if is_long(x) or rng.random() < 0.5 else n) + 1)
    k = k % 600 if rng.random() < 0.5 else k  # few, which a block finds
    order = np.take(order_of([flat], along, [down]), range(k), along)
    return f"topk(x, {k}, axis={axis}{'' if down else ', largest=False'})", [np.take_along_axis(flat, order, along), order], same


def partitions(rng, x):
    axis, which = drawn_axis(rng, x, False), rng.choice(["partition", "argpartition"])
    flat, along = (x.reshape(-1), 0) if axis is None else (x, axis)
    n = flat.shape[along]
    if n == 0:
        return None
    kth = [rng.randrange(-n, n) for _ in range(1 if is_long(x) else rng.choice([1, 1, 2]))]
    lies = np.sort(flat, along)

    def is_partition(got, _):
        got = got if which == "partition" else np.take_along_axis(flat, got, along)
        for k in kth:
            k %= n
            rows, rights = np.moveaxis(got, along, -1).reshape(-1, n), np.moveaxis(lies, along, -1).reshape(-1, n)
            for row, right in zip(rows, rights):
                if not same(row[k], right[k]) or not same(np.sort(row[:k]), right[:k]) or not same(np.sort(row[k:]), right[k:]):
                    return False
        return True
    return f"{which}(x, {kth[0] if len(kth) == 1 else tuple(kth)}, axis={axis})", [None], is_partition


def medians(rng, x):
    axis, keep, x = drawn_axis(rng, x, True), rng.random() < 0.4, finite(x)
    if x.size == 0:
        return None
    which = "median" if rng.random() < 0.6 or x.dtype.kind == "c" else "nanmedian"
    return f"{which}(x, axis={axis}{', keepdims=True' if keep else ''})", [getattr(np, which)(x, axis=axis, keepdims=keep)], near


def quantiles(rng, x):
    axis, keep, method, x = drawn_axis(rng, x, True), rng.random() < 0.4, rng.choice(METHODS), finite(x)
    if x.size == 0 or x.dtype.kind == "c" or (x.dtype.kind == "b" and method not in DISCRETE):
        return None
    which, most = rng.choice([("quantile", 1), ("percentile", 100), ("nanquantile", 1), ("nanpercentile", 100)])
    q = [rng.choice([0, 0.1, 0.25, 0.5, 0.9, 1, rng.random()]) * most for _ in range(rng.choice([1, 2, 3]))]
    by_array = rng.random() < 0.3
    given = np.array(q, float).reshape(rng.choice([(-1,), (1, -1)])) if by_array else q[0] if len(q) == 1 else q
    arrays = {"q": given} if by_array else {}
    # As float64: NumPy 2.5 takes a list of whole numbers for places whose results keep integers.
    # NumPy rounds the distance of two float16 to one, where the result is float64.
    wide = x.astype(float) if by_array and method not in DISCRETE and x.dtype == np.float16 else x
    right = np.asarray(getattr(np, which)(wide, np.asarray(given, float), axis=axis, method=method, keepdims=keep))
    if not by_array and method not in DISCRETE and x.dtype.kind == "f":
        right = right.astype(x.dtype)  # numbers in brackets are numbers
    text = f"{which}(x, {'q' if by_array else given}, axis={axis}, method='{method}'{', keepdims=True' if keep else ''})"
    return text, [right], same if method in DISCRETE else near, arrays


def uniques(rng, x):
    wanted = [name for name in ("return_index", "return_inverse", "return_counts") if rng.random() < 0.5]
    right = np.unique(x, **{name: True for name in wanted})
    return f"unique(x{''.join(f', {name}=True' for name in wanted)})", list(right) if wanted else [right], same


def lexsorts(rng, x):
    axis = rng.randrange(-x.ndim, x.ndim)
    y = np.random.default_rng(rng.randrange(2 ** 32)).integers(0, 4, x.shape).astype("i2")
    keys = rng.choice([("x", "y"), ("y", "x"), ("x", "y", "x"), ("x",)])
    arrays = {"x": x, "y": y}
    order = order_of([arrays[k] for k in reversed(keys)], axis, [False] * len(keys))
    return f"lexsort(({', '.join(keys)},), axis={axis})", [order], same, {"y": y} if "y" in keys else {}


SEARCHING = [topks, partitions, medians, quantiles]  # a place is looked for in rows too long for a sort at once
CASES = SEARCHING + [sorts, uniques, lexsorts]


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    dtype, make = rng.choice(DTYPES), CASES[index % len(CASES)]
    turn = index // len(CASES)
    shape = [rng.choice([0, 1, 2, 3, 7, 40, 300][rng.random() < 0.9:]) for _ in range(rng.choice([1, 1, 2, 3]))]
    if turn % 2 == 0 if make in SEARCHING else rng.random() < 0.15:
        long = rng.randrange(4097, 9000) if rng.random() < 0.8 else rng.randrange(33000, 70000)  # rows of which blocks have parts
        x = drawn(rng, rng.choice([[long], [3, long], [long, 2]]), dtype, (2, 1 << 30, 1 << 30))
    else:
        x = drawn(rng, shape, dtype)
    repeated = rng.randrange(x.ndim) if rng.random() < 0.15 and x.size and x.ndim else None  # a broadcast axis
    if repeated is not None:
        x = np.repeat(x.take([0], repeated), x.shape[repeated], repeated)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        kept = x.copy()
        case = make(rng, x)
        if case is None:
            return
        text, rights, alike, *more = case
        x = finite(kept.copy()) if ("median" in text or "quantile" in text or "percentile" in text) else kept
    arrays = {"x": x if repeated is None else np.broadcast_to(x.take([0], repeated), x.shape), **(more[0] if more else {})}
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype} {x.shape}"
    got = kiln.results(text, arrays, rng, len(rights))
    for one, right in zip(got, rights):
        assert alike(one, right), f"{what}: {one} ({one.dtype}), not {right} ({getattr(right, 'dtype', '')}); x = {x}"


def main():
    o = random_cases(3000, 14, 31)
    kiln = Names(o.library)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} sorts by name, none wrong")


if __name__ == "__main__":
    main()
