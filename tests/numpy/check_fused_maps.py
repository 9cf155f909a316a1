#!/usr/bin/env python3
"""Maps in front of algorithms: check_fused.py LIBRARY [--target T]

Random maps of arrays that lie in random ways are the condition of a selection, the keys of a sort, the bins of a histogram, the places of an index.
Large arrays are read where they are: nothing is stored in between (kernel/fuse_maps.c). Results are NumPy's, and those of arrays of the map's values."""
import ctypes
import random
import re

import numpy as np

from fuzz_reductions import CallOptions
from host_kernels import Argument, Arrays, in_threads, random_cases

BEST = CallOptions(struct_size=ctypes.sizeof(CallOptions), flags=4)  # KILN_CALL_BEST: quick sorts and selections are other steps

ROWS, COLUMNS = 1031, 1024  # not many more than the fewest elements that are fused

# Name of the dtype of v, text, NumPy's, and whether the order of results is the caller's. v: the map; w: another array of its shape; g: its elements in a row.
READERS = {
    "float": [("sort(v, axis=-1)", lambda v, w: np.sort(v, -1)), ("sort(v, axis=0)", lambda v, w: np.sort(v, 0)), ("sort(ravel(v))", lambda v, w: np.sort(v, None)),
              ("argsort(v, axis=-1)", lambda v, w: np.argsort(v, -1, kind="stable")), ("argsort(v, axis=0)", lambda v, w: np.argsort(v, 0, kind="stable")),
              ("topk(v, 5)[0]", lambda v, w: -np.sort(-v, -1)[..., :5]), ("unique(v)", lambda v, w: np.unique(v)), ("median(v)", lambda v, w: np.median(v).astype(v.dtype)),
              ("histogram(v, bins=50, range=(-3, 3))[0]", lambda v, w: np.histogram(v, 50, (-3, 3))[0]), ("nonzero(v)[0]", lambda v, w: np.nonzero(v)[0]),
              ("flatnonzero(v)", lambda v, w: np.flatnonzero(v)), ("argwhere(v)", lambda v, w: np.argwhere(v))],
    "bool": [("w[v]", lambda v, w: w[v]), ("extract(v, w)", lambda v, w: np.extract(v, w)), ("nonzero(v)[1]", lambda v, w: np.nonzero(v)[1]), ("argwhere(v)", lambda v, w: np.argwhere(v)),
             ("flatnonzero(v)", lambda v, w: np.flatnonzero(v)), ("x0[v]", None)],
    "whole": [("bincount(ravel(v), length=900)", lambda v, w: np.bincount(v.ravel(), minlength=900)), ("sort(v, axis=-1)", lambda v, w: np.sort(v, -1)),
              ("take(ravel(w), v)", lambda v, w: w.ravel()[v]), ("ravel(w)[v]", lambda v, w: w.ravel()[v]), ("unique(v)", lambda v, w: np.unique(v)),
              ("segment_sum(ravel(v), ravel(v) // 2, 450)", lambda v, w: np.bincount(v.ravel() // 2, v.ravel(), 450).astype(v.dtype))],
}
MAPS = {"float": [("x0 * 2", lambda a: a * a.dtype.type(2)), ("abs(x0)", abs), ("-x0", lambda a: -a), ("x0 + x1", lambda a, b: a + b), ("where(x0 > 0, x0, x1)", lambda a, b: np.where(a > 0, a, b)),
                  ("maximum(x0, x1)", np.maximum), ("x0", lambda a: a)],
        "bool": [("x0 > 0.5", lambda a: a > 0.5), ("x0 > t", lambda a: a > 0.25), ("x0 + t * 2 < 1", lambda a: a + 0.5 < 1), ("x0 > x1", lambda a, b: a > b), ("(x0 > 0) & (x1 < 1)", lambda a, b: (a > 0) & (b < 1)), ("x0 == x1", lambda a, b: a == b)],
        "whole": [("x0 + n", lambda a: a + 3), ("x0 // 2", lambda a: a // 2), ("x0 + x1", lambda a, b: a + b), ("x0 % 300", lambda a: a % 300), ("maximum(x0, x1)", np.maximum)]}


def laid(rng, generator, dtype, shape):
    """An array of this shape, or one that broadcasts to it; in some other order, with gaps or backwards."""
    shape = [1 if len(shape) > 1 and rng.random() < 0.15 else e for e in shape]
    order = list(range(len(shape)))
    rng.shuffle(order)
    step = rng.choice([1, 1, 1, 2])
    extents = [shape[k] for k in order]
    extents[-1] *= step
    values = generator.integers(0, 400, extents) if dtype.startswith("int") else np.round(generator.standard_normal(extents), 2)
    a = values.astype(dtype)[..., ::step].transpose(np.argsort(order))
    return a[::-1] if rng.random() < 0.15 else a


def downloaded(kiln, handle):
    kiln.c.kiln_dtype_name.restype = ctypes.c_char_p
    shape = tuple(kiln.c.kiln_array_shape(handle)[:kiln.c.kiln_array_ndim(handle)])
    result = np.empty(shape, kiln.c.kiln_dtype_name(kiln.c.kiln_array_dtype(handle)).decode())
    kiln.check(kiln.c.kiln_array_to_host(ctypes.c_void_p(handle), result.ctypes.data_as(ctypes.c_void_p), result.nbytes), "download")
    return result


def called(kiln, text, arrays, explains=None):
    """A call's result; with a target its plan for that, and nothing is called."""
    count = 2 if explains and "], " in text else 1
    kernel, out, plan = ctypes.c_void_p(), (ctypes.c_void_p * count)(), ctypes.c_void_p()
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), ", ".join(arrays).encode(), text.encode(), None), text)
    held, bases, given = [], [], (Argument * len(arrays))()
    for k, a in enumerate(arrays.values()):
        if not isinstance(a, np.ndarray):
            kind = ctypes.c_double if isinstance(a, float) else ctypes.c_int64
            given[k] = Argument(5 if isinstance(a, float) else 3, 0, None)
            kind.from_address(ctypes.addressof(given[k]) + Argument.array.offset).value = a
            continue
        base = a
        while base.base is not None:
            base = base.base
        bases.append(kiln.upload(np.ascontiguousarray(base).reshape(-1), base.dtype.name))
        at = kiln.address(bases[-1]) + a.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        held.append(kiln.wrap(a, a.dtype.name, at, kiln.device))
        given[k] = Argument(1, 0, held[-1].value)
    if explains:
        kiln.check(kiln.c.kiln_kernel_explain(ctypes.byref(plan), kernel, out, count, given, len(given), ctypes.byref(BEST), explains), text)
    else:
        kiln.check(kiln.c.kiln_kernel_call(kernel, out, 1, given, len(given), None), text)
    result = ctypes.string_at(plan).decode() if explains else downloaded(kiln, out[0])
    for h in [*held, *bases, ctypes.c_void_p(out[0])]:
        kiln.c.kiln_array_free(h)
    kiln.c.kiln_kernel_free(kernel)
    return result


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    sort = rng.choice(list(MAPS))
    shape = rng.choice([[ROWS, COLUMNS], [8, 131, 1024], [ROWS * COLUMNS]])
    dtype = rng.choice(["int32", "int64"]) if sort == "whole" else rng.choice(["float32", "float64"])
    text, compute = rng.choice(MAPS[sort])
    reader, right = rng.choice([r for r in READERS[sort] if len(shape) > 1 or ("axis=0" not in r[0] and "[1]" not in r[0])])
    inputs = [laid(rng, generator, dtype, shape) for _ in range(2)]
    w = laid(rng, generator, "float32", shape)
    v = np.broadcast_to(compute(*inputs[:compute.__code__.co_argcount if hasattr(compute, "__code__") else 2 if "x1" in text else 1]), shape)
    w = np.broadcast_to(w, shape).copy()
    if right is None and inputs[0].shape != tuple(shape):
        return
    expected = inputs[0][v] if right is None else right(v, w)
    whole = f"v = broadcast_to({text}, {tuple(shape)}); {reader}"
    arrays = {k: a for k, a in {"x0": inputs[0], "x1": inputs[1], "w": w, "t": 0.25, "n": 3}.items() if re.search(rf"\b{k}\b", whole)}
    got = called(kiln, whole, arrays)
    what = f"--seed {seed} --first {index} --count 1: {whole} of {dtype} {[(a.shape, a.strides) for a in arrays.values() if isinstance(a, np.ndarray)]}"
    assert got.shape == np.shape(expected), f"{what}: {got.shape}, not {np.shape(expected)}"
    assert np.array_equal(got, expected, equal_nan=got.dtype.kind == "f"), f"{what}: {got}\nnot {expected}"


# The lines of an explained call: a text, its inputs, the kernels of the expression, steps of kernels by target, and a word that is there.
SEEN = [("sum(x[x > 0])", "x", 1, None, "reads x"), ("sort(abs(x))", "x", 1, (None, 5), "sort, which computes abs(x)"), ("cumsum(x * y)", "xy", 1, None, "reads x"),
        ("unique(i // 10)", "i", 1, (None, 10), "which computes i // 10"), ("x[x > 0.5]", "x", 1, (1, 1), "which computes x > 0.5"),
        ("nonzero(x > 0.5)[0]", "x", 1, (1, 1), "which computes x > 0.5"), ("x[x > 0.5], x[x < y]", "xy", 2, (2, 2), "which computes x > 0.5"), ("bincount(i // 10, length=100)", "i", 1, (None, None), "which computes i // 10")]


def check_explained(kiln):
    """Launches and bytes, as they are said and as they are: nothing is stored that need not be."""
    n = ROWS * COLUMNS
    arrays = {"x": np.linspace(-1, 1, n, dtype="f4"), "y": np.ones(n, "f4"), "i": np.arange(n) % 997}
    for text, names, kernels, steps, word in SEEN:
        for target in (b"host", b"sm_90"):
            plan = called(kiln, text, {k: arrays[k] for k in names}, target)
            assert plan.startswith(f"# {kernels} kernel") and word in plan and "stored in between" not in plan or (target == b"host" and "sort" in text + plan), f"{text}: {plan}"
            said = re.search(r"# (\d+) steps?, (\d+) of them of kernels: (\d+) bytes are read, and (\d+) at most written", plan)
            if steps and steps[target != b"host"]:
                assert said and int(said.group(2)) == steps[target != b"host"] == plan.count("kiln/3 "), f"{text}: {plan}"
            if said:
                read, written = (sum(int(b) for b in re.findall(rf"^# .*{w} (\d+)", plan.split("\n", 2)[2], re.M)) for w in (": reads", "; writes"))
                assert (read, written) == (int(said.group(3)), int(said.group(4))), f"{text}: {read}, {written}: {plan}"


def check_tiles(kiln):
    """The passes of a sort have no smaller tiles than its last, for which the algorithm has words, whatever is fused into them."""
    n = ROWS * COLUMNS
    arrays = {"x": np.linspace(-1, 1, n, dtype="f4"), "y": np.ones(n, "f4"), "d": np.ones(n), "i": np.arange(n) % 997, "b": np.ones(n, "i1"), "c": np.ones(n, "i1")}
    for expression in ("x + y", "abs(x)", "i // 10", "maximum(i, i[::-1])", "x + d", "b + c", "where(x > y, i, 0)", "x * 2 + b"):
        for text in ("sort(v)", "argsort(v)", "unique(v)"):
            named = {k: a for k, a in arrays.items() if re.search(rf"\b{k}\b", expression)}
            plan = called(kiln, f"v = {expression}; {text}", named, b"sm_90")
            items = [int(n) for n in re.findall(r'schedule="sort_place".*? items="(\d+)"', plan)]
            if "sort_place" in plan or text == "argsort(v)" or expression != "b + c":  # bytes alone are counted
                assert items and min(items) == items[-1], f"{text} of {expression}: elements of a thread by pass: {items}"


def check_apart(kiln):
    """A map behind reductions is computed by the algorithm that alone reads it if that is cheap, and stays with its reductions where something else reads it."""
    x = np.round(np.random.default_rng(31).standard_normal((ROWS, COLUMNS), "f4") * 8) / 8
    e = np.exp(x.astype(float) - x.max(-1, keepdims=True))
    softmax = "e = exp(x - max(x, axis=-1, keepdims=True)); v = e / sum(e, axis=-1, keepdims=True); "
    above = "m = mean(x, axis=-1, keepdims=True); "
    mean = x.mean(-1, keepdims=True, dtype=float)
    assert np.abs(x - mean - 0.00994873).min() > 1e-5, "conditions that roundings change"
    for text, right, is_apart in ((softmax + "topk(v, 50)[0]", -np.sort(-e / e.sum(-1, keepdims=True), -1)[:, :50], False), (above + "x[x > m + 0.00994873]", x[x > mean + 0.00994873], True),
                                  (above + "nonzero(x > m + 0.00994873)[1]", np.nonzero(x > mean + 0.00994873)[1], True), (above + "v = x > m + 0.00994873; (x[v], v)", None, False),
                                  (above + "sort(x - m)", np.sort(x - mean, -1), False)):
        plan = called(kiln, text, {"x": x}, b"sm_90")
        assert (", which computes " in plan) == is_apart, f"{text}: {plan}"
        got = called(kiln, text, {"x": x}) if right is not None else None
        assert right is None or np.allclose(got, right, rtol=1e-5, atol=1e-6), f"{text}: {got}, not {right}"


def main():
    o = random_cases(400, 3, 31)
    kiln = Arrays(o.library)
    check_explained(kiln)
    check_tiles(kiln)
    check_apart(kiln)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{len(o.cases)} maps in front of algorithms, none wrong")


if __name__ == "__main__":
    main()
