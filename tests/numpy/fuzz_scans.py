"""Random scans over random layouts, against NumPy: inclusive and exclusive, forward and reversed; axes none, one, several, negative; outputs given or
allocated, of any strides; inputs that broadcast, are turned, sliced, permuted and begin anywhere; structs whose operators are associative and not
commutative: affine maps, products of matrices, strings of brackets; several inputs and outputs, `_J`. Each call is made twice and gives the same bits.
Integers are exact; sums of real numbers are of whole ones, and exact too.
fuzz_scans.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--large | --small] [--verbose]
A case is made from the seed and its index alone: --first INDEX --count 1 runs it again."""
import collections
import ctypes
import math
import os
import random
import time

import numpy as np

from fuzz_reductions import CallOptions, Layout, Options, Pool, drawn_numbers, libc, random_shape, stored_dtype
from host_kernels import Argument, ArraySpec, Arrays, in_threads, random_cases

EXCLUSIVE, REVERSED = 16, 32
AFFINE = "struct affine { unsigned m, c; };"
MATRIX = """struct matrix { unsigned short a, b, c, d; };
__device__ matrix times(matrix x, matrix y) {
    return {(unsigned short)(x.a * y.a + x.b * y.c), (unsigned short)(x.a * y.b + x.b * y.d), (unsigned short)(x.c * y.a + x.d * y.c),
            (unsigned short)(x.c * y.b + x.d * y.d)};
}"""
LARGE = """struct large { long long at[7]; };
__device__ large both(large x, large y) {
    large z;
    for (int k = 0; k < 7; ++k)
        z.at[k] = k % 2 ? x.at[k] * y.at[k] : k == 0 ? x.at[0] + y.at[0] : x.at[k] * y.at[k - 1] + y.at[k];
    return z;
}"""
BRACKETS = """struct brackets { int closing, opening; };
__device__ brackets join(brackets x, brackets y) {
    const int matched = x.opening < y.closing ? x.opening : y.closing;
    return {x.closing + y.closing - matched, x.opening + y.opening - matched};
}"""
LAST = "struct last { T value; bool has; };"


def scan_by(combine, identity):
    """A reference: combine(a, b) of tuples of arrays, along the first axis of each."""
    def run(values, exclusive):
        n = values[0].shape[0]
        out = [np.empty_like(v) for v in values]
        now = tuple(np.full(v.shape[1:], i, v.dtype) for v, i in zip(values, identity))
        for j in range(n):
            after = combine(now, tuple(v[j] for v in values)) if j else tuple(v[0] for v in values)
            for o, v in zip(out, now if exclusive else after):
                o[j] = v
            now = after
        return out
    return run


def u32(x):
    return x.astype("u4")


def affine(a, b):
    return a[0] * b[0], a[1] * b[0] + b[1]


def matrices(x, y):
    return x[0] * y[0] + x[1] * y[2], x[0] * y[1] + x[1] * y[3], x[2] * y[0] + x[3] * y[2], x[2] * y[1] + x[3] * y[3]


def join(x, y):
    matched = np.minimum(x[1], y[0])
    return x[0] + y[0] - matched, x[1] + y[1] - matched


def larges(x, y):
    return tuple(x[k] * y[k] if k % 2 else x[0] + y[0] if k == 0 else x[k] * y[k - 1] + y[k] for k in range(7))


def latest(x, y):
    return np.where(y[1], y[0], x[0]), x[1] | y[1]


def ufunc(f, dtype=None):
    """The scan of a ufunc; an exclusive one begins with its identity."""
    def run(values, exclusive):
        x = values[0] if dtype is None else values[0].astype(dtype(values[0].dtype))
        y = f.accumulate(x, axis=0, dtype=x.dtype)
        if exclusive:
            y = np.concatenate([np.full_like(y[:1], f.identity), y[:-1]])
        return [y]
    return run


def wide(dtype):
    return {"b": "i8", "i": "i8", "u": "u8"}.get(dtype.kind, dtype)


# ins and outs: signatures; W is the dtype of a sum. map_of: the mapped arrays of the inputs' values; scan: of those, along the first axis; post_of: results
# of the scanned arrays, the inputs and the number of each element among the scanned ones.
Scan = collections.namedtuple("Scan", "ins outs map scan post identity preamble type map_of scan_of post_of")


def first_of(x):
    return [x[0]]


SCANS = {
    "sum": Scan("T x", "W y", "(W)x", "a + b", "y = a", "0", None, None, first_of, ufunc(np.add, wide), lambda a, x, j: a),
    "product": Scan("T x", "W y", "(W)x", "a * b", "y = a", "1", None, None, first_of, ufunc(np.multiply, wide), lambda a, x, j: a),
    "greatest": Scan("T x", "T y", "x", "a > b ? a : b", "y = a", None, None, None, first_of, ufunc(np.maximum), lambda a, x, j: a),
    "before": Scan("T x, V w", "float64 y", "(double)x * (double)w", "a + b", "y = a - (double)x", "0", None, None,
                   lambda x: [x[0].astype("f8") * x[1].astype("f8")], ufunc(np.add), lambda a, x, j: [a[0] - x[0].astype("f8")]),
    "affine": Scan("T x", "uint32 y, uint32 m", "affine{3 + 2 * (unsigned)(x > 0), (unsigned)(int)x}", "affine{a.m * b.m, a.c * b.m + b.c}", "y = a.c; m = a.m",
                   "affine{1, 0}", AFFINE, "affine", lambda x: [u32(3 + 2 * (x[0] > 0)), u32(x[0].astype("i4"))], scan_by(affine, (1, 0)),
                   lambda a, x, j: [a[1], a[0]]),
    "matrix": Scan("T x", "uint16 y", "matrix{1, (unsigned short)(int)x, (unsigned short)(x > 0), 1}", "times(a, b)", "y = a.a + 3 * a.b + 5 * a.c + 7 * a.d",
                   "matrix{1, 0, 0, 1}", MATRIX, "matrix",
                   lambda x: [np.ones(x[0].shape, "u2"), x[0].astype("i4").astype("u2"), (x[0] > 0).astype("u2"), np.ones(x[0].shape, "u2")],
                   scan_by(matrices, (1, 0, 0, 1)), lambda a, x, j: [a[0] + 3 * a[1] + 5 * a[2] + 7 * a[3]]),
    "large": Scan("T x", "int64 y", "large{{1, (long long)x | 1, (long long)x, 3, (long long)x, 5, 2}}", "both(a, b)",
                  "y = 0; for (int k = 0; k < 7; ++k) y += (k + 1) * a.at[k]", None, LARGE, "large",
                  lambda x: [np.full(x[0].shape, 1, "i8"), x[0].astype("i8") | 1, x[0].astype("i8"), np.full(x[0].shape, 3, "i8"), x[0].astype("i8"),
                             np.full(x[0].shape, 5, "i8"), np.full(x[0].shape, 2, "i8")],
                  scan_by(larges, (0,) * 7), lambda a, x, j: [sum((k + 1) * v for k, v in enumerate(a))]),
    "brackets": Scan("T x", "int32 closing, int32 opening", "brackets{x < 0, x > 0}", "join(a, b)", "closing = a.closing; opening = a.opening", "brackets{0, 0}",
                     BRACKETS, "brackets", lambda x: [(x[0] < 0).astype("i4"), (x[0] > 0).astype("i4")], scan_by(join, (0, 0)), lambda a, x, j: a),
    "latest": Scan("T x", "T y, int64 at", "last{x, x != 0}", "last{b.has ? b.value : a.value, a.has || b.has}", "y = a.value; at = _J + a.has", None, LAST,
                   "last", lambda x: [x[0], x[0] != 0], scan_by(latest, (0, False)), lambda a, x, j: [a[0], j + a[1]]),
}
KERNELS = [("sum", "float32"), ("sum", "int8"), ("sum", "float64"), ("sum", "bool"), ("product", "uint16"), ("greatest", "float32"), ("greatest", "int16"),
           ("before", "float32", "int8"), ("affine", "int32"), ("affine", "float32"), ("matrix", "int8"), ("large", "int32"), ("brackets", "int16"),
           ("latest", "float32"), ("latest", "uint8")]
MODES = [0, EXCLUSIVE, REVERSED, EXCLUSIVE | REVERSED]


def out_dtypes(key):
    names = dict(zip("TV", key[1:]), W=np.dtype(wide(np.dtype(key[1]))).name)
    return [names.get(p.split()[0], p.split()[0]) for p in SCANS[key[0]].outs.split(",")]


class Case:
    def __init__(self, kiln, seed, index):
        rng = random.Random(seed * 1000003 + index)
        self.key = KERNELS[index % len(KERNELS)]
        self.scan = SCANS[self.key[0]]
        self.mode = rng.choice([m for m in MODES if self.scan.identity or not m & EXCLUSIVE])
        most = kiln.random_size(rng)
        shape, self.axes = random_shape(rng, most)
        if self.axes is not None and len(self.axes) > 1 and rng.random() < 0.5:
            self.axes = self.axes[:1]
        self.shape, self.pools, self.layouts = shape, [kiln.pools[d] for d in self.key[1:]], []
        for k in range(len(self.pools)):
            own = [1 if k > 0 and rng.random() < 0.2 else e for e in shape]
            if k > 0 and rng.random() < 0.2:
                own = own[rng.randint(0, len(own)):]
            self.layouts.append(Layout(rng, own, kiln.pool_size, broadcast=0.2 if rng.random() < 0.15 else 0))
        self.all_axes = tuple(range(len(shape))) if self.axes is None else tuple(sorted(self.axes))
        self.signed = self.axes and [a - len(shape) if rng.random() < 0.5 else a for a in self.axes]
        self.given = [Layout(rng, shape, 4 * math.prod(shape) + 4096, from_start=True) if rng.random() < 0.6 else None for _ in out_dtypes(self.key)]
        self.block = rng.choice([0, 0, 0, 32, 96])
        self.text = f"{'_'.join(self.key)} mode {self.mode} {shape} axes {self.axes} block {self.block} strides {[l.strides for l in self.layouts]} " + \
            f"start {[l.start for l in self.layouts]}"

    def expected(self):
        """What NumPy says: the scanned axes in front, as one."""
        others = [a for a in range(len(self.shape)) if a not in self.all_axes]
        order = list(self.all_axes) + others
        length = math.prod(self.shape[a] for a in self.all_axes)
        rest = math.prod(self.shape[a] for a in others)
        step = -1 if self.mode & REVERSED else 1
        with np.errstate(all="ignore"):
            ins = [np.transpose(np.broadcast_to(l.of(p.value), self.shape), order).reshape(length, rest) for l, p in zip(self.layouts, self.pools)]
            scanned = self.scan.scan_of([v[::step] for v in self.scan.map_of(ins)], bool(self.mode & EXCLUSIVE)) if length * rest else None
            results = self.scan.post_of([v[::step] for v in scanned], ins, np.arange(length).reshape(-1, 1)) if scanned else []
        back = np.argsort(order)
        return [np.transpose(np.asarray(r).astype(d).reshape([self.shape[a] for a in order]), back) for r, d in zip(results, out_dtypes(self.key))] or \
            [np.zeros(self.shape, d) for d in out_dtypes(self.key)]


class Scans(Arrays):
    def __init__(self, path, is_large):
        super().__init__(path)
        self.is_large = self.device != 1 if is_large is None else is_large
        self.pool_size = 2 ** 22 if self.is_large else 2 ** 18
        dtypes = {d for key in KERNELS for d in key[1:]}
        self.numbers = {d: self.dtype_number(d) for d in dtypes | {d for key in KERNELS for d in out_dtypes(key)}}
        drawn = drawn_numbers(self.pool_size)[True]
        self.pools = {d: Pool(self, d, drawn) for d in dtypes}
        self.kernels = {(key, mode): self.kernel(key, mode) for key in KERNELS for mode in MODES if SCANS[key[0]].identity or not mode & EXCLUSIVE}
        self.counts = collections.Counter()

    def random_size(self, rng):
        if self.is_large:
            return int(10 ** (rng.uniform(5.5, 6.4) if rng.random() < 0.05 else rng.uniform(3, 5.5)))
        return int(10 ** (rng.uniform(4, 5.3) if rng.random() < 0.2 else rng.uniform(0.5, 4)))

    def kernel(self, key, mode):
        scan, out = SCANS[key[0]], ctypes.c_void_p()
        names = dict(zip("TV", key[1:]), W=np.dtype(wide(np.dtype(key[1]))).name)

        def filled(text, but=""):
            for letter, dtype in names.items():
                for end in (" ", ")"):
                    text = text if letter in but else text.replace(letter + end, dtype + end)
            return text.encode()

        options = Options(ctypes.sizeof(Options), mode, scan.preamble and filled(scan.preamble), reduce_type=scan.type and scan.type.encode())
        texts = [filled(scan.ins, "T"), filled(scan.outs, "T"), filled(scan.map), scan.scan.encode(), scan.post.encode()]
        self.check(self.c.kiln_scan_create(ctypes.byref(out), *texts, scan.identity and scan.identity.encode(), "_".join(key).encode(), ctypes.byref(options)),
                   "_".join(key))
        return out

    def view(self, address, layout, dtype):
        out, size, item = ctypes.c_void_p(), max(len(layout.shape), 1), stored_dtype(dtype).itemsize
        spec = ArraySpec(ctypes.sizeof(ArraySpec), self.numbers[dtype], len(layout.shape), (ctypes.c_int64 * size)(*layout.shape),
                         (ctypes.c_int64 * size)(*[s * item for s in layout.strides]), self.device, False)
        self.check(self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(address + layout.start * item), ctypes.byref(spec), None, None), "wrap")
        return out

    def download(self, handle, dtype):
        ndim = self.c.kiln_array_ndim(handle)
        out = np.empty(self.c.kiln_array_shape(handle)[:ndim], stored_dtype(dtype))
        self.check(self.c.kiln_array_to_host(handle, out.ctypes.data, out.nbytes), "download")
        return out

    def call(self, case, ins, outs):
        options = CallOptions(ctypes.sizeof(CallOptions), 0, block=case.block // 32 * 32)
        if case.axes is not None:
            options.axes, options.n_axes = (ctypes.c_int * max(len(case.axes), 1))(*case.signed or []), len(case.axes)
        arguments = (Argument * len(ins))(*[Argument(1, 0, a.value) for a in ins])
        status = self.c.kiln_kernel_call(self.kernels[case.key, case.mode], outs, len(outs), arguments, len(ins), ctypes.byref(options))
        assert not status, (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()


def compare(results, expected, how):
    for j, (got, right) in enumerate(zip(results, expected)):
        assert got.shape == right.shape, f"{how}: output {j} has shape {got.shape}, not {right.shape}"
        good = np.asarray((got == right) | ((got != got) & (right != right)))
        if not good.all():
            at = tuple(int(k) for k in np.argwhere(~good)[0])
            raise AssertionError(f"{how}: {np.sum(~good)} of {right.size} wrong, first output {j} at {at}: {got[at]!r}, not {right[at]!r}")


def run_case(kiln, case):
    dtypes, expected = out_dtypes(case.key), case.expected()
    ins = [kiln.view(p.address, l, p.dtype) for p, l in zip(case.pools, case.layouts)]
    results = []
    for _ in range(2):
        outs = (ctypes.c_void_p * len(dtypes))()
        kiln.call(case, ins, outs)
        results.append([kiln.download(h, d) for h, d in zip(outs, dtypes)])
        for h in outs:
            kiln.c.kiln_array_free(h)
    compare(results[0], expected, "allocated")
    assert [r.tobytes() for r in results[1]] == [r.tobytes() for r in results[0]], "other bits the second time"
    rooms = [l and np.random.default_rng(l.start).integers(0, 2 if d == "bool" else 128, (l.room + l.start) * stored_dtype(d).itemsize, "u1").view(
        stored_dtype(d)) for l, d in zip(case.given, dtypes)]
    flat = [None if r is None else kiln.upload(r, d) for r, d in zip(rooms, dtypes)]
    outs = (ctypes.c_void_p * len(dtypes))(*[f and kiln.view(kiln.address(f), l, d).value for f, l, d in zip(flat, case.given, dtypes)])
    kiln.call(case, ins, outs)
    for f, h, l, d, room, right in zip(flat, outs, case.given, dtypes, rooms, expected):
        compare([kiln.download(h, d)] if f is None else [l.of(kiln.download(f, d))], [right], "into given outputs")
        if f is not None:
            after = kiln.download(f, d)
            l.of(after)[...] = l.of(room)
            assert after.tobytes() == room.tobytes(), f"into given outputs: something beside {l.shape} {l.strides} at {l.start} was written"
            kiln.c.kiln_array_free(f)
        kiln.c.kiln_array_free(h)
    for a in ins:
        kiln.c.kiln_array_free(a)
    kiln.counts[case.key[0]] += 1


def main():
    o = random_cases(5000, 24, 31,
                     ("--large", dict(action="store_true", default=None, help="sizes as on a GPU")),
                     ("--small", dict(dest="large", action="store_false", help="sizes as on the host")),
                     ("--verbose", dict(action="store_true")))
    start = time.monotonic()
    kiln = Scans(o.library, o.large)

    def part(indices):
        for index in indices:
            case = Case(kiln, o.seed, index)
            if o.verbose:
                print(f"{index}: {case.text}", flush=True)
            try:
                run_case(kiln, case)
            except AssertionError as failure:
                raise AssertionError(f"--target {o.target or os.environ.get('KILN_TARGET')} --seed {o.seed} --first {index} --count 1"
                                     f"{' --large' if kiln.is_large else ''}: {case.text}:\n{failure}") from None

    in_threads(part, [range(k, min(k + 50, o.first + o.count)) for k in range(o.first, o.first + o.count, 50)])
    print(f"{sum(kiln.counts.values())} scans, none wrong, in {time.monotonic() - start:.0f} s: {dict(kiln.counts)}")


if __name__ == "__main__":
    main()
