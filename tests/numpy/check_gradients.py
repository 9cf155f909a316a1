"""Gradients of softmax, log-softmax, cross-entropy, rmsnorm and layernorm as expressions, several results in a call, over random rows, dtypes and layouts. What
they should be is not their formula: the derivative of the function itself along a random direction, by central differences in float64.
check_gradients.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import os
import random

import numpy as np

from check_searches import placed
from host_kernels import SEED, Argument, Arrays, in_threads, random_cases

os.environ.setdefault("KILN_KINDS", "-fewest")  # rows and columns of so few elements, too, are read together on CUDA

EXP = "m = max(x, axis=-1, keepdims=True); e = exp(x - m); s = sum(e, axis=-1, keepdims=True); "
RMS = "r = 1 / sqrt(mean(x * x, axis=-1, keepdims=True) + 0.01); w = d * g; "
NORM = "c = x - mean(x, axis=-1, keepdims=True); r = 1 / sqrt(mean(c * c, axis=-1, keepdims=True) + 0.01); h = c * r; w = d * g; "


def powers(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e, e.sum(-1, keepdims=True)


def softmax(x, t):
    e, s = powers(x)
    return e / s


def log_softmax(x, t):
    return x - x.max(-1, keepdims=True) - np.log(powers(x)[1])


def cross_entropy(x, t):
    return -np.take_along_axis(log_softmax(x, t), t, -1)


def rmsnorm(x, t, g):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 0.01) * g


def layernorm(x, t, g, b):
    c = x - x.mean(-1, keepdims=True)
    return c / np.sqrt((c * c).mean(-1, keepdims=True) + 0.01) * g + b


# inputs, expression, function, and what the results are the gradients of; "" is the function's own value
PROGRAMS = [("x, d", EXP + "y = e / s; y * (d - sum(y * d, axis=-1, keepdims=True))", softmax, "x"),
            ("x, d", EXP + "d - e / s * sum(d, axis=-1, keepdims=True)", log_softmax, "x"),
            ("x, d, t", EXP + "(e / s - (arange(x.shape[1]) == t)) * d", cross_entropy, "x"),
            ("x, d, t", EXP + "m + log(s) - take_along_axis(x, t), (e / s - (arange(x.shape[1]) == t)) * d", cross_entropy, ",x"),
            ("x, d, g", RMS + "r * (w - x * (r * r * mean(w * x, axis=-1, keepdims=True))), sum(d * x * r, axis=0)", rmsnorm, "x,g"),
            ("x, d, g", NORM + "r * (w - mean(w, axis=-1, keepdims=True) - h * mean(w * h, axis=-1, keepdims=True)), sum(d * h, axis=0), sum(d, axis=0)", layernorm, "x,g,b")]
STORED = {"float16": "f2", "bfloat16": "u2", "float32": "f4", "float64": "f8"}
EXACT = {"float16": 2e-3, "bfloat16": 2e-2, "float32": 2e-6, "float64": 1e-7}  # central differences in float64 have half of its digits


def stored(values, dtype):
    if dtype == "bfloat16":
        return (np.ascontiguousarray(values, "f4").view("u4") >> 16).astype("u2")
    return values.astype(STORED[dtype])


def read(array, dtype):
    return (array.astype("u4") << 16).view("f4").astype("f8") if dtype == "bfloat16" else array.astype("f8")


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    params, text, function, of = PROGRAMS[index % len(PROGRAMS)]
    dtype = rng.choice(list(STORED))
    rows, n = rng.choice([1, 3, 17, 70]), rng.choice([1, 2, 5, 16, 33, 100, 257, 1000, 4096, 5001])
    t = generator.integers(0, n, (rows, 1))
    held, operand, value = [], [], {}
    for name in params.split(", "):
        shape = {"x": (rows, n), "d": (rows, 1) if function is cross_entropy else (rows, n), "t": (rows, 1), "g": (n,)}[name]
        array = t if name == "t" else stored(generator.standard_normal(shape), dtype)
        value[name] = array if name == "t" else read(array, dtype)
        operand.append(placed(kiln, rng, array, held, "int64" if name == "t" else dtype))
    value["b"] = np.zeros(n)
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype} ({rows}, {n})"
    kernel, names = ctypes.c_void_p(), of.split(",")
    out = (ctypes.c_void_p * len(names))()
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), params.encode(), text.encode(), None), what)
    arguments = (Argument * len(operand))(*[Argument(1, 0, a.value) for a in operand])
    kiln.check(kiln.c.kiln_kernel_call(kernel, out, len(names), arguments, len(operand), None), what)
    inputs = [k for k in ("x", "g", "b") if k in function.__code__.co_varnames[:function.__code__.co_argcount]]
    at = {k: value[k] for k in inputs}
    along = {k: generator.standard_normal(at[k].shape) if k in names else np.zeros(at[k].shape) for k in inputs}
    step = 1e-5
    ahead, behind = (function(t=t, **{k: at[k] + s * along[k] for k in inputs}) for s in (step, -step))
    want, got, size = (value["d"] * (ahead - behind)).sum() / (2 * step), 0.0, 1e-3
    for name, handle in zip(names, out):
        array = np.empty(int(np.prod([kiln.c.kiln_array_shape(handle)[k] for k in range(kiln.c.kiln_array_ndim(handle))])), STORED[dtype])
        kiln.check(kiln.c.kiln_array_to_host(handle, array.ctypes.data_as(ctypes.c_void_p), array.nbytes), what)
        kiln.c.kiln_array_free(handle)
        result = read(array, dtype)
        if name:
            got += (result * along[name].reshape(-1)).sum()
            size += (np.abs(result) * np.abs(along[name].reshape(-1))).sum()
        else:
            assert np.allclose(result, function(t=t, **at).reshape(-1), EXACT[dtype], EXACT[dtype]), f"{what}: {result}"
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)
    kiln.c.kiln_kernel_free(kernel)
    assert abs(got - want) <= EXACT[dtype] * size, f"{what}: {got} along {inputs}, not {want} ({size})"


def main():
    o = random_cases(1000, 8, SEED)
    kiln = Arrays(o.library)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} gradients, none wrong")


if __name__ == "__main__":
    main()
