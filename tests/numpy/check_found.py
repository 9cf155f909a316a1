#!/usr/bin/env python3
"""What is computed from arrays of as many elements as the data says: check_found.py LIBRARY [--target T]

Random expressions of selections, unique elements, places and sets, two deep, against NumPy's results of the same text. Numbers are small and whole, so that sums are exact."""
import random

import numpy as np

from check_fused_maps import called
from host_kernels import Arrays, in_threads, random_cases

FOUND = ["x[x > k]", "x[m]", "y[x > y]", "unique(x)", "unique(i // 3)", "compress(m, x)", "extract(m, y)", "extract(x > k, x)", "extract(m[:3], a)", "extract(a[0] > k, a)", "x[nonzero(m)[0]]", "a[b]", "union1d(x, y)", "intersect1d(x, y)", "setdiff1d(x, y)",
         "x[flatnonzero(x > y)]", "a[a[:, 0] > k][:, 1]", "a[:, a[0] > k].T[:, 0]", "unique(x, return_counts=True)[1]", "unique(x, return_index=True)[1]", "nonzero(a > k)[1]", "y[m & (x > k)]"]
NUMBERS = ["sum(c)", "max(c)", "c[0]", "sum(m)", "len(x[m])", "min(c) + 2", "max(c) * 2 - 1", "size(unique(i))"]
SIZED = ["arange(v)", "arange(v) * v", "zeros(v) + v", "ones((v, 2)) * k", "full((2, v), k)", "eye(v)", "arange(v)[::-1] + c[0]", "linspace(0, 8, v + 1)[-1:]", "arange(0, v * 3, 3)", "identity(v) - v",
         "arange(30)[v:]", "arange(30)[:v] * v", "arange(30)[v - 3:v + 2:2]", "a[:v - 2, 1:]", "a[..., v - 6:]", "(arange(30) + k)[-v:9]",
         "broadcast_to(k, (v,))", "tri(v)", "arange(v * 2).reshape(v, -1)", "arange(v) + sum(arange(v))"]
COUNTED = ["repeat(c, c)", "repeat(a, c[:1], axis=0)", "repeat(a, c[0], axis=1)", "bincount(c)", "bincount(c, minlength=5)", "bincount(i)", "bincount(c, c * 2)", "repeat(x, m)", "repeat(c + 1, c) * 2",
           "x[x.size // 2:]", "a[len(a) // 3:, a.shape[1] - 1]", "p, q = a[:, :2].T; p - q", "n, l = a.shape; a * n + l", "x[:len(x) // 2][::-1]",
           "cumsum(repeat(c, c))", "bincount(c)[::-1]", "bincount(unique(c))", "repeat(unique(c), bincount(c)[bincount(c) > 0])"]
PLACES = ["nonzero(x > k)[0]", "flatnonzero(m)", "argwhere(x > y)[:, 0]", "unique(i)", "nonzero(m)[0]"]
READ = ["v * 2 + 1", "v - v[::-1]", "sort(v)[::-1]", "cumsum(v)", "len(v) + v", "concatenate([v, x])", "where(v > k, v, 0)", "v[v > k + 1]", "sum(v * v)", "v[:, None] * v[:3]", "unique(v // 2)",
        "v.size * 2", "flip(v)", "v[1:] - v[:-1]", "any(v > k)", "v + arange(len(v))", "float64(v) / 2", "v * v", "stack([v, v * k])", "roll(v, 2)", "repeat(v, 2)",
        "cumsum(v)[cumsum(v) > k]", "v - sum(v)", "v * x[0]", "isin(v, y)", "searchsorted(unique(v), v)"]
AT = ["x[v]", "take(y, v)", "a[v % len(a)]", "x[v] - y[v]", "v[x[v] > k]", "x[v][::2]"]


def drawn(rng):
    """Statements, the last of which is the result."""
    kind = rng.random()
    if kind < 0.15:
        return f"v = {rng.choice(NUMBERS)}; {rng.choice(SIZED)}"
    if kind < 0.3:
        return rng.choice(COUNTED)
    v, read = rng.choice([(FOUND, READ), (FOUND, READ), (PLACES, AT + READ)])
    text = f"v = {rng.choice(v)}; "
    if rng.random() < 0.4:
        text += f"u = {rng.choice(FOUND)}; "
    if rng.random() < 0.4:
        text += f"v = {rng.choice([r for r in READ if r[0] == 'v' and 'None' not in r and '.' not in r])}; "
    result = rng.choice(read)
    return text + (f"concatenate([ravel({result}), u])" if "u =" in text and rng.random() < 0.7 else result)


def computed(text, values):
    """NumPy's result of the text."""
    *before, result = text.split("; ")
    names = {**vars(np), **values}
    exec("; ".join(before), names)
    return np.asarray(eval(result, names))


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    n, dtype = rng.choice([0, 1, 7, 100, 301]), rng.choice(["float32", "float64", "int32", "int64"])
    whole = lambda *shape: generator.integers(-9, 10, shape).astype(dtype)  # noqa: E731
    rows, columns = rng.choice([1, 5, 20]), rng.choice([2, 3, 8])
    values = {"x": whole(n), "y": whole(n)[::rng.choice([1, -1])], "m": generator.random(n) < rng.choice([0.1, 0.5, 0.9]), "i": generator.integers(0, max(n, 1), n),
              "a": whole(rows, columns), "b": generator.random((rows, columns)) < 0.5,
              "c": generator.integers(0, 5, rng.choice([1, 3, 20])).astype(rng.choice(["int64", "int32", "uint8"])), "k": rng.choice([0, 3, -2])}
    for _ in range(9):  # of nothing some functions have no result
        text = drawn(rng)
        try:
            right = computed(text, values)
            break
        except (IndexError, ValueError):
            right = None
    if right is None:
        return
    names = [name for name in values if name in text.replace("(", " ").replace(")", " ").replace("[", " ").replace("]", " ").replace(",", " ").replace(":", " ").replace(".", " ").split()]
    got = called(kiln, text, {name: values[name] for name in names} or {"x": values["x"]})
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype}, {n}, {values['a'].shape}, k {values['k']}"
    assert got.shape == right.shape and got.dtype == right.dtype, f"{what}: {got.dtype} {got.shape}, not {right.dtype} {right.shape}"
    assert np.array_equal(got, right, equal_nan=got.dtype.kind == "f"), f"{what}: {got}\nnot {right}"


def main():
    o = random_cases(600, 14, 32)
    kiln = Arrays(o.library)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{len(o.cases)} expressions of what is found, none wrong")


if __name__ == "__main__":
    main()
