"""take and take_along_axis over random arrays of all dtypes, shapes, strides and axes, against NumPy: indices of all integers, from the end too, and outside by
each mode.
check_takes.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random

import numpy as np

from check_searches import drawn, placed
from host_kernels import Argument, Arrays, in_threads, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()


def call(kiln, text, arrays):
    """The result, or a message."""
    kernel, out = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
    failed = kiln.c.kiln_expression_create(ctypes.byref(kernel), b"a, i", text.encode(), None)
    arguments = (Argument * 2)(*[Argument(1, 0, a.value) for a in arrays])
    if failed or kiln.c.kiln_kernel_call(kernel, out, 1, arguments, 2, None):
        return kiln.c.kiln_error_message().decode()
    kiln.c.kiln_kernel_free(kernel)
    return out[0]


def download(kiln, handle, dtype):
    got = np.empty([kiln.c.kiln_array_shape(ctypes.c_void_p(handle))[k] for k in range(kiln.c.kiln_array_ndim(ctypes.c_void_p(handle)))], dtype)
    kiln.check(kiln.c.kiln_array_to_host(ctypes.c_void_p(handle), got.ctypes.data_as(ctypes.c_void_p), got.nbytes), "download")
    kiln.c.kiln_array_free(ctypes.c_void_p(handle))
    return got


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    dtype, integer = DTYPES[index % len(DTYPES)], rng.choice("int8 int32 int64 uint8 uint32".split())
    shape = [rng.choice([1, 2, 3, 7, 30]) for _ in range(rng.randrange(1, 4))]
    a = drawn(rng, shape, dtype)
    axis = rng.choice([None] + list(range(-len(shape), len(shape))))
    n = a.size if axis is None else shape[axis]
    mode = rng.choice([None, "raise", "wrap", "clip"])
    is_along = rng.random() < 0.4 and axis is not None
    if is_along:
        wanted = [rng.choice([e, 1]) for e in shape]
        wanted[axis] = rng.choice([1, 2, 9])
        mode = None
    else:
        wanted = [rng.choice([0, 1, 2, 5]) for _ in range(rng.randrange(0, 3))]
    low, high = (0 if integer.startswith("u") else -n, n) if mode in (None, "raise") else (0 if integer.startswith("u") else -3 * n, 4 * n)
    info = np.iinfo(integer)
    i = generator.integers(max(low, info.min), min(high, info.max), wanted).astype(integer)
    if is_along:
        text, right = f"take_along_axis(a, i, {axis})", np.take_along_axis(np.broadcast_to(a, [max(e, w) if k != axis % len(shape) else e for k, (e, w) in enumerate(zip(shape, wanted))]),
                                                                            np.broadcast_to(i, [max(e, w) if k != axis % len(shape) else w for k, (e, w) in enumerate(zip(shape, wanted))]).astype("i8"), axis)
    else:
        text = f"take(a, i{'' if axis is None else f', {axis}'}{'' if mode is None else f', mode={mode!r}'})"
        right = np.take(a, i.astype("i8"), axis, mode=mode or "raise")
    held = []
    got = call(kiln, text, [placed(kiln, rng, a, held), placed(kiln, rng, i, held)])
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype} {shape}, {integer} {wanted}"
    assert not isinstance(got, str), f"{what}: {got}"
    got = download(kiln, got, dtype)
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)
    assert got.shape == right.shape and got.tobytes() == np.ascontiguousarray(right).tobytes(), f"{what}: {got}\nnot {right}"


def check_refusals(kiln):
    a, i = kiln.upload(np.arange(6, dtype="f4"), "float32"), kiln.upload(np.array([0, 7, 1]), "int64")
    for text, words in [("take(a, i)", "indexed at 7, where 0 to 5"), ("take(a, i, -1)", "index 1: 7 is out of range for axis 0 of extent 6"),
                        ("take(a, i, mode='up')", "'wrap' or 'clip'"), ("take(a)", "'indices' is missing"), ("take_along_axis(a, i, 3.5)", "axis"),
                        ("take(a, i, -2)", "2 axes are indexed, but the array has 1")]:
        message = call(kiln, text, [a, i])
        assert isinstance(message, str) and words in message, (text, message)


def main():
    o = random_cases(2000, 28, 29)
    kiln = Arrays(o.library)
    check_refusals(kiln)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} takes, none wrong")


if __name__ == "__main__":
    main()
