"""Places of extremes along rows that are searched, against NumPy and through both forms: ties, zeros of both signs, NaNs of both signs, infinities, and every
way in which a row may lie. check_places.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random

import numpy as np

from drawn import SEED
from fuzz_reductions import BEST_FORM, CallOptions
from host_kernels import HOST, Argument, Arrays, random_cases

DTYPES = "float32 float32 float64 float64 float16 int8 uint8 int16 uint16 int32 uint32 int64 uint64 bool".split()


class Places(Arrays):
    def __init__(self, path):
        super().__init__(path)
        self.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]

    def place(self, text, x, flags):
        kernel, options = ctypes.c_void_p(), CallOptions(ctypes.sizeof(CallOptions), flags)
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), b"x", text.encode(), None), text)
        base = x if x.base is None else x.base
        held = None if self.device == HOST else self.upload(base, x.dtype.name)
        handle = self.wrap(x, x.dtype.name) if not held else self.wrap(x, x.dtype.name, self.address(held) + x.ctypes.data - base.ctypes.data, self.device)
        out, arguments = (ctypes.c_void_p * 1)(None), (Argument * 1)(Argument(1, 0, handle.value))
        self.check(self.c.kiln_kernel_call(kernel, out, 1, arguments, 1, ctypes.byref(options)), text)
        shape = self.c.kiln_array_shape(out[0])[:self.c.kiln_array_ndim(out[0])]
        got = np.empty(shape, "int64")
        self.check(self.c.kiln_array_to_host(out[0], got.ctypes.data, got.nbytes), "to host")
        for array in (out[0], handle, held):
            self.c.kiln_array_free(array)
        self.c.kiln_kernel_free(kernel)
        return got


def values_of(rng, numbers, shape, dtype):
    """Few values, so that many are equal; or all, with what is no number; or one alone, somewhere."""
    kind = rng.choice(["few", "all", "one"])
    if dtype == "bool" or kind == "few":
        return numbers.integers(0, 2 if dtype == "bool" else 5, shape).astype(dtype)
    if np.dtype(dtype).kind != "f":
        ends = np.iinfo(dtype)
        x = numbers.integers(ends.min, ends.max, shape, dtype, endpoint=True) if kind == "all" else np.full(shape, rng.choice([ends.min, 3]), dtype)
        if kind == "one":
            x[..., rng.randrange(shape[-1])] = ends.max
        return x
    x = numbers.standard_normal(shape).astype(dtype) if kind == "all" else np.where(numbers.random(shape) < 0.5, -0.0, 0.0).astype(dtype)
    for what, share in ((np.inf, 0.01), (-np.inf, 0.01), (np.nan, rng.choice([0, 0.0005, 0.02]))):
        x[numbers.random(shape) < share] = what
    return np.where(numbers.random(shape) < 0.5, np.copysign(x, -1), x) if kind == "one" else np.where(np.isnan(x) & (numbers.random(shape) < 0.5), -x, x)


def case_of(rng, numbers):
    dtype, length = rng.choice(DTYPES), rng.choice([rng.randint(2, 63), rng.randint(49, 170), rng.randint(64, 66), rng.randint(170, 1100), rng.randint(4000, 70000)])
    shape = [rng.choice([1, 3, 8, 9, 33, 150] if length < 64 else [1, 3, 8, 9, 33] if length < 4000 else [1, 2, 9]), length]
    x = values_of(rng, numbers, [n + rng.choice([0, 1, 5]) for n in shape], dtype)
    x = x[tuple(slice(b.item(), b.item() + n) for b, n in zip(numbers.integers(0, np.array(x.shape) - shape, endpoint=True), shape))]
    way = rng.choice(["as it is", "as it is", "as it is", "backwards", "every second", "columns"])
    x = x[:, ::-1] if way == "backwards" else x[:, ::2] if way == "every second" else x
    return x.T if way == "columns" else x, 0 if way == "columns" else 1


options = random_cases(1500, 3, SEED)
kiln = Places(options.library)
for index in options.cases:
    rng, numbers = random.Random(options.seed * 1000003 + index), np.random.default_rng([options.seed, index])
    x, axis = case_of(rng, numbers)
    name = rng.choice(["argmax", "argmin"])
    wanted = getattr(np, name)(x, axis=axis)
    for flags in (0, BEST_FORM):
        got = kiln.place(f"{name}(x, axis={axis})", x, flags)
        assert np.array_equal(got, wanted), (f"case {index} of seed {options.seed}: {name} over axis {axis} of {x.dtype} {x.shape}, strides {x.strides}, flags "
                                             f"{flags}: result {np.flatnonzero(got != wanted)[0]} is {got[got != wanted][0]}, not {wanted[got != wanted][0]}")
print(f"{len(options.cases)} cases, each by both forms: right (seed {options.seed})")
