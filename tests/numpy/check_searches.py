"""searchsorted and digitize over random arrays of all of NumPy's dtypes, of one or two, against NumPy: none, one and many sorted elements, many of them equal, NaN and
infinity, edges that go down, both sides, any strides, on the device that is asked for.
check_searches.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random

import numpy as np

from fuzz_reductions import Layout
from host_kernels import Argument, Arrays, in_threads, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
TEXTS = ["searchsorted(a, v)", "searchsorted(a, v, 'right')", "digitize(v, a)", "digitize(v, a, right=True)"]
BY_NUMPY = [lambda a, v: np.searchsorted(a, v), lambda a, v: np.searchsorted(a, v, "right"), lambda a, v: np.digitize(v, a), lambda a, v: np.digitize(v, a, True)]


class Searches(Arrays):
    def __init__(self, path):
        super().__init__(path)
        self.kernels = [self.create(text) for text in TEXTS]

    def create(self, text):
        kernel = ctypes.c_void_p()
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), b"a, v", text.encode(), None), text)
        return kernel

    def search(self, which, a, v):
        out, arguments = (ctypes.c_void_p * 1)(), (Argument * 2)(Argument(1, 0, a.value), Argument(1, 0, v.value))
        self.check(self.c.kiln_kernel_call(self.kernels[which], out, 1, arguments, 2, None), TEXTS[which])
        shape = [self.c.kiln_array_shape(out[0])[k] for k in range(self.c.kiln_array_ndim(out[0]))]
        got = np.empty(shape, "i8")
        self.check(self.c.kiln_array_to_host(out[0], got.ctypes.data_as(ctypes.c_void_p), got.nbytes), "download")
        self.c.kiln_array_free(out[0])
        return got


def drawn(rng, size, dtype, counts=(2, 10, 120, 1 << 30)):
    """Few different values, or many, as one of counts says; special ones among floats."""
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    room = np.iinfo(dtype).max if np.dtype(dtype).kind in "iu" else 30000  # of float16
    most = min(rng.choice(counts), int(room))
    values = generator.integers(-most if np.dtype(dtype).kind in "ifc" else 0, most, size).astype(dtype)
    if np.dtype(dtype).kind == "c":
        values += (1j * generator.integers(-2, 2, size)).astype(dtype)
    if np.dtype(dtype).kind in "fc" and rng.random() < 0.6:
        special = np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0, 0.0], dtype)
        values = np.where(generator.random(size) < 0.3, generator.choice(special, size), values)
    if np.dtype(dtype).kind in "iu" and rng.random() < 0.4:
        info = np.iinfo(dtype)
        values = np.where(generator.random(size) < 0.3, generator.choice(np.array([info.min, info.max], dtype), size), values)
    return values


def placed(kiln, rng, array, held, dtype=None):
    """A view of memory in which the elements lie with any strides, those of broadcast axes once. dtype: kiln's, where NumPy has it not."""
    shape, array = array.shape, array[tuple(slice(0, 1) if s == 0 else slice(None) for s in array.strides)]
    layout = Layout(rng, list(array.shape), 4 * array.size + 64)
    room = np.zeros(layout.room + layout.start + 64, array.dtype)
    np.lib.stride_tricks.as_strided(room[layout.start:], array.shape, [s * array.itemsize for s in layout.strides])[...] = array
    held.append(kiln.upload(room, dtype or array.dtype.name))
    lies = np.broadcast_to(np.lib.stride_tricks.as_strided(room, array.shape, [s * array.itemsize for s in layout.strides]), shape)
    view = kiln.wrap(lies, dtype or array.dtype.name, kiln.address(held[-1]) + layout.start * array.itemsize, kiln.device)
    held.append(view)
    return view


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    dtype = DTYPES[index % len(DTYPES)]
    other = dtype if rng.random() < 0.5 else rng.choice(DTYPES)  # NumPy compares in their common dtype
    size = rng.choice([0, 1, 2, 3, rng.randrange(70), rng.randrange(3000), rng.randrange(32760, 40000), rng.randrange(32760, 40000)])  # the last ones are searched by another loop
    shape = [rng.choice([0, 1, 2, 3, 7, 40]) for _ in range(rng.randrange(1, 4))]
    a, v, held = np.sort(drawn(rng, size, dtype)), drawn(rng, shape, other), []
    which = rng.randrange(4)
    if "complex" in dtype + other:
        which %= 2  # NumPy's digitize refuses them
    if which > 1:  # NumPy takes a number and NaN for edges that go down, two numbers and NaN for edges that go up
        a = a[a == a][::rng.choice([1, -1])]
    what = f"--seed {seed} --first {index} --count 1: {TEXTS[which]} of {dtype} and {other}, {size} among {shape}"
    right = BY_NUMPY[which](a, v)
    got = kiln.search(which, placed(kiln, rng, np.ascontiguousarray(a), held), placed(kiln, rng, v, held))
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)
    assert got.shape == right.shape and np.array_equal(got, right), f"{what}: {got}, not {right}; a = {a}, v = {v}"


def main():
    o = random_cases(5000, 40, 23)
    kiln = Searches(o.library)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} searches, none wrong")


if __name__ == "__main__":
    main()
