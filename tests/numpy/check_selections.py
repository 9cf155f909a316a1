"""Random selections over random layouts, against NumPy: values, indices, several inputs, a number by value; outputs allocated, whose extents are exact, and
given, of less, the same or more capacity and any step; everything, nothing, no elements; refusals.
check_selections.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import math
import random

import numpy as np

from fuzz_reductions import Layout, Pool, drawn_numbers, random_shape, stored_dtype
from fuzz_scans import Scans
from host_kernels import Argument, KernelOptions, in_threads, random_cases

# name: inputs, outputs, keep, body; by NumPy: which of the flat inputs, and the flat results of all elements
SELECTIONS = {
    "values": ("T x", "T y", "x > 0", "y = x", lambda x: x[0] > 0, lambda x, i: [x[0]]),
    "places": ("T x", "int64 at", "x != 0", "at = i", lambda x: x[0] != 0, lambda x, i: [i]),
    "both": ("T x, V w", "float64 y, int32 at, V v", "x < w // w is another input", "y = 2.0 * x;\nat = (int32)i; // where\nif (w > 0) v = w; else v = 0",
             lambda x: x[0] < x[1], lambda x, i: [2.0 * x[0], i.astype("i4"), np.where(x[1] > 0, x[1], x[1].dtype.type(0))]),
    "all": ("T x", "T y", "true", "y = x", lambda x: np.ones(x[0].shape, bool), lambda x, i: [x[0]]),
    "none": ("T x", "T y", "x > 100", "y = x", lambda x: x[0] > 100, lambda x, i: [x[0]]),
}
KERNELS = [("values", "float32"), ("values", "int8"), ("places", "bool"), ("places", "float64"), ("both", "int16", "float32"), ("all", "uint8"), ("none", "int32")]


class Selections(Scans):
    def __init__(self, path):
        super(Scans, self).__init__(path)
        self.is_large = self.device != 1
        self.pool_size = 2 ** (23 if self.is_large else 18)  # elements; the largest shape fits
        dtypes = {d for key in KERNELS for d in key[1:]}
        self.numbers = {d: self.dtype_number(d) for d in dtypes | {"int32", "int64", "float64"}}
        drawn = drawn_numbers(self.pool_size)[True]
        self.pools = {d: Pool(self, d, drawn) for d in dtypes}
        self.kernels = {name: self.create(*SELECTIONS[name][:4]) for name in SELECTIONS}

    def create(self, ins, outs, keep, body, flags=0):
        out, options = ctypes.c_void_p(), KernelOptions(ctypes.sizeof(KernelOptions), flags)
        status = self.c.kiln_select_create(ctypes.byref(out), ins.encode(), outs.encode(), keep.encode(), body.encode(), b"chosen", ctypes.byref(options))
        return self.message() if status else out

    def message(self):
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def select(self, name, ins, outs):
        """Nothing, or a message."""
        kernel = self.kernels[name] if isinstance(name, str) else name
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        return self.message() if self.c.kiln_kernel_call(kernel, outs, len(outs), arguments, len(ins), None) else None


def out_dtypes(key):
    names = dict(zip("TV", key[1:]))
    return [names.get(p.split()[0], p.split()[0]) for p in SELECTIONS[key[0]][1].split(",")]


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    key = KERNELS[index % len(KERNELS)]
    shape, _ = random_shape(rng, kiln.random_size(rng))
    pools = [kiln.pools[d] for d in key[1:]]
    layouts = [Layout(rng, [1 if k > 0 and rng.random() < 0.2 else e for e in shape], kiln.pool_size) for k in range(len(pools))]
    dtypes, size = out_dtypes(key), math.prod(shape)
    what = f"--seed {seed} --first {index} --count 1: {key} {shape} strides {[l.strides for l in layouts]}"
    flat = [np.broadcast_to(l.of(p.value), shape).reshape(-1) for l, p in zip(layouts, pools)]
    kept = SELECTIONS[key[0]][4](flat)
    expected = [np.asarray(v)[kept].astype(d) for v, d in zip(SELECTIONS[key[0]][5](flat, np.arange(size)), dtypes)]
    ins = [kiln.view(p.address, l, p.dtype) for p, l in zip(pools, layouts)]
    outs = (ctypes.c_void_p * (len(dtypes) + 1))()
    failure = kiln.select(key[0], ins, outs)
    assert not failure, f"{what}: {failure}"
    for handle, dtype, right in zip(outs, dtypes, expected):
        got = kiln.download(handle, dtype)
        assert got.shape == right.shape and np.array_equal(got, right), f"{what}: {got}, not {right}"
    assert kiln.download(outs[len(dtypes)], "int64") == kept.sum(), what
    for h in outs:
        kiln.c.kiln_array_free(h)
    # Into given arrays: as many as fit in each of them, and nothing beside.
    count, steps = int(kept.sum()), [rng.choice([1, 1, 2, -1]) for _ in dtypes]
    capacity = [rng.choice([size, count, count // 2, count + 3, 0]) for _ in dtypes]
    fits = min(capacity + [count])
    rooms = [np.zeros(3 * c + 5, stored_dtype(d)) + 1 for c, d in zip(capacity, dtypes)]
    held = [kiln.upload(r, d) for r, d in zip(rooms, dtypes)] + [kiln.upload(np.full(1, 77, "i8"), "int64")]
    places = [l for l in (Strided(c, s) for c, s in zip(capacity, steps))]
    outs = (ctypes.c_void_p * (len(dtypes) + 1))(*[kiln.view(kiln.address(h), l, d).value for h, l, d in zip(held, places, dtypes)],
                                                 kiln.view(kiln.address(held[-1]), Strided(None, 1), "int64").value)
    failure = kiln.select(key[0], ins, outs)
    assert not failure, f"{what} into {capacity}: {failure}"
    for h, l, d, room, right in zip(held, places, dtypes, rooms, expected):
        after = kiln.download(h, d)
        room[l.start:][:0] = 0
        wanted = room.copy()
        wanted[l.start + np.arange(fits) * (l.strides[0] if fits else 1)] = right[:fits]
        assert np.array_equal(after, wanted), f"{what} into {capacity}, steps {steps}"
    assert kiln.download(held[-1], "int64")[0] == count, f"{what}: the count given"
    for h in list(held) + [ctypes.c_void_p(o) for o in outs] + ins:
        kiln.c.kiln_array_free(h)


class Strided:
    """One axis of that extent, or none; beginning where no element is in front of the memory."""
    def __init__(self, extent, step):
        self.shape, self.strides = ([], []) if extent is None else ([extent], [step])
        self.start = max(extent - 1, 0) if step < 0 else 0


def check_refusals(kiln):
    made = [(("T x, T t", "T x2", "x > t", "y = x"), "x2"), (("T x", "raw T y", "x > 0", "y[i] = x"), "a raw output"), (("T x", "", "x > 0", ""), "at least one output"),
            (("T x", "T y", "x >", "y = x"), None), (("T x", "T count", "x > 0", "count = x"), "count"), (("T x", "T y", "x > 0)", "y = x"), ")")]
    for texts, words in made:
        kernel = kiln.create(*texts)
        if words:
            assert isinstance(kernel, str) and words in kernel, (texts, kernel)
    flags = kiln.create("T x", "T y", "x > 0", "y = x", 16)
    assert isinstance(flags, str) and "options.flags" in flags, flags
    x = [kiln.upload(np.arange(6, dtype="f4"), "float32")]
    wrong = kiln.upload(np.zeros(6, "f8"), "float64")
    message = kiln.select("values", x, (ctypes.c_void_p * 2)(wrong.value, None))
    assert message and "float64" in message and "float32" in message, message
    two = kiln.view(kiln.address(x[0]), Layout(random.Random(1), [2, 3], 6), "float32")
    message = kiln.select("places", x, (ctypes.c_void_p * 2)(two.value, None))
    assert message, "an output of two axes was taken"


def main():
    o = random_cases(2000, 40, 17)
    kiln = Selections(o.library)
    check_refusals(kiln)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} selections, none wrong")


if __name__ == "__main__":
    main()
