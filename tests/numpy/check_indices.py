"""x[...] read, assigned and changed in place, in expressions and by lists of kiln_index, against NumPy: random arrays of all dtypes, and every mixture of slices,
None, ..., numbers, arrays of whole numbers and masks.
check_indices.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import random
import warnings

import numpy as np

from check_searches import drawn, placed
from host_kernels import Argument, Arrays, in_threads, random_cases

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
WHOLE = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
SLICE, NUMBER, NEW_AXIS, REST, ARRAY = range(5)
NONE = -2 ** 63


class Index(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int), ("start", ctypes.c_int64), ("stop", ctypes.c_int64), ("step", ctypes.c_int64), ("array", ctypes.c_void_p)]


def drawn_slice(rng, extent):
    bound = lambda: rng.choice([None, rng.randrange(-extent - 2, extent + 3)])
    return slice(bound(), bound(), rng.choice([None, 1, 2, -1, -2, 3]))


def broadcast_part(rng, shape):
    """A shape that broadcasts to this one."""
    part = [e if rng.random() < 0.8 else 1 for e in shape]
    return part[rng.randrange(len(part) + 1):] if rng.random() < 0.3 else part


def drawn_index(rng, generator, shape):
    """A tuple of NumPy's, for an array of this shape."""
    together = [rng.choice([1, 2, 3, 5]) for _ in range(rng.randrange(3))]
    masks = rng.random() < 0.5
    items, axis, has_rest = [], 0, False
    count = None  # of the elements that are true, if arrays of whole numbers have as many
    while axis < len(shape):
        what = rng.random()
        if what < 0.12:
            items.append(None)
        elif what < 0.22 and not has_rest:
            items.append(Ellipsis)
            has_rest = True
            axis += rng.randrange(len(shape) - axis + 1)
        elif what < 0.4:
            items.append(drawn_slice(rng, shape[axis]))
            axis += 1
        elif what < 0.5 and shape[axis]:
            items.append(rng.randrange(-shape[axis], shape[axis]))
            axis += 1
        elif what < 0.7 and masks:
            ndim = rng.choice([k for k in (0, 1, 1, 1, 2, 3) if axis + k <= len(shape)])
            mask = np.asarray(generator.random(shape[axis:axis + ndim]) < rng.choice([0.0, 0.3, 0.7, 1.0]))
            if count is not None and rng.random() < 0.9:  # as many as the one before
                mask = np.zeros(mask.shape, bool)
                mask.reshape(-1)[:count] = True
            count = int(mask.sum())
            items.append(mask)
            axis += ndim
        elif what < 0.95 and shape[axis]:
            dtype = rng.choice(WHOLE)
            own = broadcast_part(rng, together)
            if count is not None:
                own = own[:-1] + [rng.choice([1, count])]
            low = 0 if dtype.startswith("u") or rng.random() < 0.5 else -shape[axis]
            items.append(generator.integers(low, shape[axis], own).astype(dtype))
            axis += 1
        elif rng.random() < 0.5:
            break
    return tuple(items)


def by_value(rng, index, op):
    """The numbers of an index that a call gives by value, by name: whole numbers, and bounds where they may be computed."""
    numbers, has_arrays = {}, any(isinstance(i, np.ndarray) for i in index)
    may_be_bounds = not has_arrays and (op is None or not any(i is None or i is Ellipsis for i in index))

    def named(k, what, number):
        if number is None or rng.random() < 0.5:
            return number
        numbers[f"{what}{k}"] = number
        return f"{what}{k}" if rng.random() < 0.7 else f"({what}{k} + 0)"

    def item(k, i):
        if isinstance(i, slice) and may_be_bounds and (i.step or 1) > 0:
            return slice(named(k, "a", i.start), named(k, "b", i.stop), i.step)
        return named(k, "n", i) if isinstance(i, int) else i
    return [item(k, i) for k, i in enumerate(index)], numbers


def text_of(index):
    def item(k, i):
        if isinstance(i, slice):
            return ":".join("" if b is None else str(b) for b in (i.start, i.stop, i.step))
        return "None" if i is None else "..." if i is Ellipsis else f"i{k}" if isinstance(i, np.ndarray) else str(i)
    return ", ".join(item(k, i) for k, i in enumerate(index)) or "..."


def list_of(index, arrays):
    items = (Index * max(len(index), 1))()
    for k, i in enumerate(index):
        if isinstance(i, slice):
            items[k] = Index(SLICE, *(NONE if b is None else b for b in (i.start, i.stop, i.step)), None)
        elif isinstance(i, np.ndarray):
            items[k] = Index(ARRAY, 0, 0, 0, arrays[k])
        else:
            items[k] = Index(NEW_AXIS if i is None else REST if i is Ellipsis else NUMBER, i if isinstance(i, int) else 0, 0, 0, None)
    return items


def download(kiln, handle, dtype):
    handle = ctypes.c_void_p(handle)
    got = np.empty([kiln.c.kiln_array_shape(handle)[k] for k in range(kiln.c.kiln_array_ndim(handle))], dtype)
    kiln.check(kiln.c.kiln_array_to_host(handle, got.ctypes.data_as(ctypes.c_void_p), got.nbytes), "download")
    return got


def call(kiln, text, arrays):
    """The result of an expression of named arrays and whole numbers, in any order, or a message."""
    kernel, out = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
    arrays = dict(random.Random(text + str(len(arrays))).sample(sorted(arrays.items()), len(arrays)))
    if kiln.c.kiln_expression_create(ctypes.byref(kernel), ", ".join(arrays).encode(), text.encode(), None):
        return kiln.c.kiln_error_message().decode()
    arguments = (Argument * len(arrays))(*[Argument(3, 0, a % 2 ** 64) if isinstance(a, int) else Argument(1, 0, a.value) for a in arrays.values()])
    failed = kiln.c.kiln_kernel_call(kernel, out, 1, arguments, len(arrays), None)
    message = kiln.c.kiln_error_message().decode() if failed else None
    kiln.c.kiln_kernel_free(kernel)
    return message or out[0]


def by_list(kiln, x, index, arrays, op, value):
    """The same by kiln_array_get, _set and _update; the result of the last two is a copy that was changed."""
    out, items = ctypes.c_void_p(), list_of(index, arrays)
    if op is None:
        failed = kiln.c.kiln_array_get(ctypes.byref(out), x, items, len(index))
        return kiln.c.kiln_error_message().decode() if failed else out.value
    kiln.check(kiln.c.kiln_array_copy(ctypes.byref(out), x), "copy")
    argument = Argument(1, 0, value.value)
    if op == "":
        failed = kiln.c.kiln_array_set(out, items, len(index), argument)
    else:
        failed = kiln.c.kiln_array_update(out, items, len(index), op.encode(), argument)
    return kiln.c.kiln_error_message().decode() if failed else out.value


def drawn_case(rng, generator, index):
    dtype = DTYPES[index % len(DTYPES)]
    shape = [rng.choice([1, 2, 3, 4, 6]) if rng.random() < 0.95 else 0 for _ in range(rng.randrange(1, 5))]
    shape[-1] = rng.choice([shape[-1], shape[-1], 8, 16])  # rows of wider elements
    x, where = drawn(rng, shape, dtype), drawn_index(rng, generator, shape)
    op = rng.choice([None, None, "", "", "+"])
    value = None
    try:
        right = x[where]
        if op is not None:
            fits = [to for to in DTYPES if np.can_cast(to, dtype, "same_kind" if op == "" else "safe")]
            value = drawn(rng, broadcast_part(rng, right.shape), rng.choice(fits))
            right = x.copy()
            if op == "":
                right[where] = value
            else:
                right[where] += value
    except IndexError as error:
        right, op = error, None
    return x, where, op, value, right


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    with np.errstate(all="ignore"):
        x, where, op, value, right = drawn_case(rng, generator, index)
    held, is_text = [], rng.random() < 0.5
    arrays = {k: placed(kiln, rng, i, held) for k, i in enumerate(where) if isinstance(i, np.ndarray)}
    x_there, v_there = placed(kiln, rng, x, held), None if value is None else placed(kiln, rng, value, held)
    written, numbers = by_value(rng, where, op) if is_text else (where, {})
    text = f"x[{text_of(written)}]" + ("" if op is None else f" {op}= v; x")
    what = f"--seed {seed} --first {index} --count 1: {text} of {x.dtype} {x.shape}, " + ", ".join(f"i{k} {where[k].dtype} {where[k].shape}" for k in arrays) + f", {numbers}"
    if is_text:
        named = {"x": x_there, **numbers, **({} if value is None else {"v": v_there}), **{f"i{k}": a for k, a in arrays.items()}}
        got = call(kiln, text, named)
    else:
        got = by_list(kiln, x_there, where, arrays, op, v_there)
    if isinstance(right, Exception):
        assert isinstance(got, str), f"{what}: no error, where NumPy says {right}"
    else:
        assert not isinstance(got, str), f"{what}: {got}"
        result = download(kiln, got, x.dtype)
        same = result.shape == right.shape and np.array_equal(result, right, equal_nan=x.dtype.kind in "fc")
        assert same, f"{what}: value {None if value is None else (value.dtype, value.shape)}\n{result}\nnot {right}"
        kiln.c.kiln_array_free(ctypes.c_void_p(got))
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)


# Texts that are the mask i, or the indices i: their dtype follows from inputs, from casts, from operations, or from arrays like others.
MASKS = ["i", "i == True", "~~i", "i & i", "i | zeros_like(i)", "where(i, i, zeros_like(i))", "astype(i + 0, bool)", "maximum(i, i)", "i.T.T", "i + i"]
INDICES = ["i", "i + 0", "i * ones_like(i, dtype=int64)", "full_like(i, 1, dtype=int64) * i", "where(i > 0, i + 0, i)", "astype(i, int32)", "i[:]", "i[::-1][::-1]", "~~i", "i & i", "-(-i)"]
REDUCTIONS = "all any count_nonzero max mean min nansum prod sum nanmax nanmin var std".split()


def check_reduction(kiln, seed, index):
    """Of x[mask], for masks of all or of leading axes, and of x[indices]: by names of inputs, and by what is computed."""
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    dtype, name = rng.choice(DTYPES), REDUCTIONS[index % len(REDUCTIONS)]
    shape = [rng.choice([1, 2, 3, 7, 30]) for _ in range(rng.randrange(1, 4))]
    x = drawn(rng, shape, dtype)
    if name in ("sum", "mean", "prod", "nansum"):  # nothing that is rounded
        x = generator.integers(1, 3 if name == "prod" else 9, shape).astype(dtype)
    i = generator.random(shape[:rng.choice([len(shape)] * 2 + [rng.randrange(1, len(shape) + 1)])]) < rng.choice([0.2, 0.9]) if rng.random() < 0.7 else generator.integers(-shape[0], shape[0], 5)
    axis = rng.choice([None, 0]) if i.dtype != bool or i.ndim == x.ndim else None
    if i.dtype == bool and not x[i].size:
        return  # of none, NumPy has no greatest one
    more = {"ddof": rng.choice([0, 1, 2])} if name in ("var", "std") and rng.random() < 0.7 else {}
    if name in ("var", "std"):
        x = (generator.integers(1, 9, shape) + rng.choice([0, 100])).astype(dtype)
    text = f"{name}(x[{rng.choice(MASKS if i.dtype == bool else INDICES)}]{'' if axis is None else ', axis=0'}{''.join(f', {k}={v}' for k, v in more.items())})"
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        # NumPy's sums of squares of float16 may be infinite
        right = getattr(np, name)(x[i].astype("f4"), axis=axis, **more).astype("f2") if name in ("var", "std") and dtype == "float16" else getattr(np, name)(x[i], axis=axis, **more)
    right, held = np.asarray(right), []
    got = call(kiln, text, {"x": placed(kiln, rng, x, held), "i": placed(kiln, rng, i, held)})
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype} {x.shape}, {i.dtype} {i.shape}"
    assert not isinstance(got, str), f"{what}: {got}"
    result = download(kiln, got, np.asarray(right).dtype)
    step = 8 * np.finfo(result.dtype).eps if result.dtype.kind in "fc" and name in ("mean", "sum", "prod", "nansum", "var", "std") else 0
    assert result.shape == np.shape(right) and np.allclose(result, right, rtol=step, atol=0, equal_nan=True), f"{what}: {result}\nnot {right}"
    kiln.c.kiln_array_free(ctypes.c_void_p(got))
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)


def check_own(kiln, seed, index):
    """x[i] = y[i], for a mask of leading axes or whole numbers: those of a mask are where()'s."""
    rng = random.Random(seed * 1000003 + index)
    generator = np.random.default_rng(rng.randrange(2 ** 32))
    shape = [rng.choice([1, 2, 3, 7]) for _ in range(rng.randrange(1, 4))]
    x, y = drawn(rng, shape, "int64"), drawn(rng, shape, rng.choice(["int8", "int64", "float32"]))
    with np.errstate(all="ignore"):
        x, y = x % 100, np.nan_to_num(y % 100, posinf=1, neginf=1)
    i = generator.random(shape[:rng.randrange(1, len(shape) + 1)]) < 0.5 if rng.random() < 0.6 else generator.integers(-shape[0], shape[0], 3)
    right, op, held = x.copy(), rng.choice(["", "+"]), []
    right[i] = y[i] if not op else right[i] + y[i]
    got = call(kiln, f"x[i] {op}= y[i]; x", {"x": placed(kiln, rng, x, held), "y": placed(kiln, rng, y, held), "i": placed(kiln, rng, i, held)})
    what = f"--seed {seed} --first {index} --count 1: x[i] {op}= y[i] of {x.shape}, {y.dtype}, {i.dtype} {i.shape}"
    if op and y.dtype.kind == "f":  # floats are not added to whole numbers in place
        assert isinstance(got, str) and "same_kind" in got, f"{what}: {got}"
    else:
        assert not isinstance(got, str), f"{what}: {got}"
        result = download(kiln, got, x.dtype)
        assert np.array_equal(result, right), f"{what}: {result}\nnot {right}"
        kiln.c.kiln_array_free(ctypes.c_void_p(got))
    for handle in reversed(held):
        kiln.c.kiln_array_free(handle)


def check_refusals(kiln):
    up = lambda a: placed(kiln, random.Random(1), np.asarray(a), [])
    given = {"x": up(np.arange(12, dtype="f4").reshape(3, 4)), "i": up([0, 5, 1]), "m": up([True, False, True]), "f": up([1.0]), "n": 1}
    for text, words in [("x[i]", "index 0: 5 is out of range for axis 0 of extent 3"), ("x[:, None, i - 6]", "index 2: -6 is out of range for axis 1 of extent 4"),
                        ("x[:, m]", "index 1: the mask has extent 3 along its axis 0; 4 was expected, that of axis 1"), ("x[m, i, 0]", "3 axes are indexed, but the array has 2"),
                        ("x[m, [0, 1, 2]]", "index 0: the mask has 2 elements that are true; 3 were expected"), ("mean(x[m], axis=0)", "equal ones were expected"), ("max(x[m], axis=0)", "equal ones were expected"), ("var(x[m], axis=0)", "equal ones were expected"), ("x[f]", "index 0 is float64; whole numbers or booleans"),
                        ("x[..., i, ...]", "one ... at most"), ("x[x > 3] = f[x > 3]; x", "equal ones were expected"), ("y = x[0]; x[m] = y[m]; x", "equal ones were expected"), ("x[i, 7]", "index 1: 7 is out of range for axis 1 of extent 4"), ("x[m] = [[1], [2], [3]]; x", "3 elements along the axis of the mask, which has 2"),
                        ("x[[0, 1]] = i; x", "values have shape (3,), which does not broadcast to (2, 4)"), ("x[[0, 1], [0, 1, 2]]", "index 1 does not broadcast"),
                        ("x[[[0], [1, 2]]]", "different lengths"), ("y[0] = 1; y", "there is no name 'y'"), ("x[1.5]", "whole number"), ("x[m:]", "the shape would depend on a value"), ("x[n > 0]", "argument 1 is a boolean by value"), ("x[n / 2]", "index 0 is float64"), ("x[n * 4]", "index 0: 4 is out of range for axis 0 of extent 3"), ("n[i]", "a number has no elements"),
                        ("x[n::-1] = 1; x", "go forward"), ("x[0, ..., n:] = 1; x", "beside other slices and whole numbers alone"), ("x[i, n:] = 1; x", "beside other slices")]:
        message = call(kiln, text, given)
        assert isinstance(message, str) and words in message, (text, message)
    out, item = ctypes.c_void_p(), (Index * 1)(Index(ARRAY, 0, 0, 0, None))
    one = Argument(1, 0, given["f"].value)
    for failed, words in [(lambda: kiln.c.kiln_array_get(None, given["x"], item, 1), "out is NULL"), (lambda: kiln.c.kiln_array_get(ctypes.byref(out), None, item, 1), "array is NULL"),
                          (lambda: kiln.c.kiln_array_get(ctypes.byref(out), given["x"], item, 1), "index[0].array is NULL"),
                          (lambda: kiln.c.kiln_array_get(ctypes.byref(out), given["x"], None, 1), "n_index: 1 was given, and index is NULL"),
                          (lambda: kiln.c.kiln_array_get(ctypes.byref(out), given["x"], (Index * 1)(Index(9)), 1), "index[0].kind: 9"),
                          (lambda: kiln.c.kiln_array_update(given["x"], None, 0, b"+=", one), "op: += was given"), (lambda: kiln.c.kiln_array_update(given["x"], None, 0, None, one), "op: NULL was given"),
                          (lambda: kiln.c.kiln_array_set(given["x"], (Index * 1)(Index(NUMBER, 3)), 1, one), "out of range for axis 0 of extent 3")]:
        assert failed() and words in kiln.c.kiln_error_message().decode(), (words, kiln.c.kiln_error_message())


def check_large(kiln):
    """One value for places of an array that is large enough to be written once (CUDA), by an index that comes twice and backwards."""
    generator = np.random.default_rng(29)
    x = generator.random((521, 512), "float32")
    for text, i in (("x[i] = 0; x", generator.integers(-521, 521, 300)), ("x[:, i] = 1; x", generator.integers(-512, 512, 300)), ("x[i, i] = 2.5; x", generator.integers(0, 512, 300))):
        right, held = x.copy(), []
        exec(text.split(";")[0], {}, {"x": right, "i": i})
        got = call(kiln, text, {"x": placed(kiln, random.Random(1), x, held), "i": placed(kiln, random.Random(2), i, held)})
        assert not isinstance(got, str), f"{text}: {got}"
        assert np.array_equal(download(kiln, got, x.dtype), right), text
        for handle in (ctypes.c_void_p(got), *reversed(held)):
            kiln.c.kiln_array_free(handle)


def main():
    o = random_cases(2000, 10, 29)
    kiln = Arrays(o.library)
    check_refusals(kiln)
    check_large(kiln)
    in_threads(lambda k: (check_reduction if k % 4 == 3 else check_own if k % 8 == 5 else check_case)(kiln, o.seed, k), o.cases)
    print(f"{o.count} indices, none wrong")


if __name__ == "__main__":
    main()
