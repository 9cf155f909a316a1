"""Random expressions through kiln_expression_create, against NumPy: up to 20 steps, up to 3 of them reductions on a way, several results, statements and
repeated parts; random shapes that broadcast, dtypes, layouts (turned, sliced, permuted, broadcast, beginning anywhere), numbers by value. Dtypes and
shapes are exactly NumPy's; values lie within the bound that random_graphs.py says. Each call is made twice, in every other case
the second time by the best form, and gives the same bits; once more, some of
the results go into arrays of any layout. Every third call is made in the order of NumPy's results too. Kernels of the user's are among the functions.
fuzz_graphs.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--large | --small] [--rows N] [--verbose]
A case is made from the seed and its index alone: --first INDEX --count 1 runs it again. On a GPU cases are large, as with --large elsewhere."""
import argparse
import collections
import ctypes
import os
import random
import re
import sys
import threading
import time

import numpy as np

from fuzz_reductions import BEST_FORM, Layout, Pool, log_uniform
from host_kernels import Argument, Arrays, ArraySpec, KernelOptions, in_threads
from random_graphs import Graph, Value

DTYPES = "float32 float32 float32 float64 float16 int32 int64 int8 uint8 uint16 bool complex64".split()
WEAK = {bool: 2, int: 3, float: 5}
ELEMENTWISE = [("T x, T y", "T z", "z = (x - y) * (x - y)", "k_gap"), ("T x", "T low, T high", "low = x - (T)1; high = x + (T)1", "k_pair"),
               ("raw T t, T x", "T y, T z", "y = x * t[n - n]; if (i < 0) continue; z = -y", "k_lone")]
FOLD = ("T x", "T y", "x * x", "a + b", "y = a", "0", "k_squares")


class Options(KernelOptions):
    _fields_ = [("reduce_type", ctypes.c_char_p), ("kernels", ctypes.c_void_p), ("n_kernels", ctypes.c_int)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int)] + [(n, ctypes.c_void_p) for n in "abcdefg"]


KEEP, BEST = CallOptions(32, order=1), CallOptions(32, flags=BEST_FORM)


def drawn(size):
    rng = np.random.default_rng(7)
    return {True: rng.integers(-4, 5, size).astype("i1"), False: rng.normal(size=size)}


class Case:
    def __init__(self, kiln, seed, index):
        rng, self.index = random.Random(seed * 1000003 + index), index
        most = kiln.random_size(rng)
        shape, ndim = [], rng.choice([0, 1, 2, 2, 2, 3, 3, 4])
        for _ in range(ndim):
            shape.append(log_uniform(rng, max(most // max(int(np.prod(shape)), 1), 1)))
        rng.shuffle(shape)
        self.inputs, values = [], []
        for name in "abcde"[:rng.randint(1, 5)]:
            value, how = self.draw(kiln, rng, shape, name)
            self.inputs.append(how)
            values.append(value)
        self.names = ", ".join(v.text for v in values)
        Graph.most = 4 * kiln.pool_size
        self.graph = Graph(rng, values, rng.randint(1, 20), 3)
        self.given = [Layout(rng, list(np.shape(r.typed)), 4 * np.size(r.typed) + 4096, from_start=True) if rng.random() < 0.3 else None
                      for r in self.graph.results]
        self.text = f'"{self.names}": "{self.graph.text}" of ' + ", ".join(map(self.words, values, self.inputs))

    @staticmethod
    def words(value, how):
        return f"{value.text}={how!r}" if not isinstance(how, tuple) else f"{value.text}={how[0].dtype}{how[1].shape} strides {how[1].strides} start {how[1].start}"

    @staticmethod
    def draw(kiln, rng, shape, name):
        """An input as the expression sees it, and as it is handed over: a pool and a layout, or a number."""
        if rng.random() < 0.12:
            number = rng.choice([2, 3, 0.5, 1.75, True])
            return Value(name, number), number
        dtype = rng.choice(DTYPES)
        own = [1 if rng.random() < 0.15 else e for e in shape]
        if rng.random() < 0.25:
            own = own[rng.randint(0, len(own)):]
        pool = kiln.pools[dtype, dtype not in ("float16", "float32", "float64") or rng.random() < 0.2]
        layout = Layout(rng, own, kiln.pool_size, broadcast=0.2 if rng.random() < 0.15 else 0)
        typed = layout.of(pool.stored)
        floats = typed.dtype.kind in "fc"
        wide = typed.astype("c16" if typed.dtype.kind == "c" else "f8") if floats else None
        return Value(name, typed, wide, np.zeros(typed.shape) if floats else None), (pool, layout)


class Graphs(Arrays):
    def __init__(self, path, is_large):
        super().__init__(path)
        self.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        # The reference is rounded as often as kiln is, and CUDA's functions of float64 are within 2 ulp rather than one half.
        self.slack = 1 if self.device == 1 else 4
        self.is_large = self.device != 1 if is_large is None else is_large
        self.pool_size = 2 ** 21 if self.is_large else 2 ** 15
        self.pools = {}
        for is_whole, numbers in drawn(self.pool_size).items():
            for d in sorted(set(DTYPES)):
                self.pools[d, is_whole] = pool = Pool(self, d, numbers)
                pool.stored = pool.value.astype(d)
        self.lock, self.kernels, self.steps = threading.Lock(), collections.Counter(), 0
        self.own = (ctypes.c_void_p * 4)(*[self.kernel("elementwise", *texts) for texts in ELEMENTWISE], self.kernel("reduction", *FOLD))
        self.options = Options(ctypes.sizeof(Options), kernels=ctypes.cast(self.own, ctypes.c_void_p), n_kernels=4)

    def kernel(self, kind, *texts):
        out = ctypes.c_void_p()
        self.check(getattr(self.c, f"kiln_{kind}_create")(ctypes.byref(out), *[t.encode() for t in texts], None), kind)
        return out.value

    def random_size(self, rng):
        if self.is_large:
            return int(10 ** (rng.uniform(5, 6.2) if rng.random() < 0.1 else rng.uniform(2, 5)))
        return int(10 ** (rng.uniform(3, 4) if rng.random() < 0.1 else rng.uniform(0.3, 3)))

    def download(self, handle):
        dtype = np.dtype(self.c.kiln_dtype_name(self.c.kiln_array_dtype(handle)).decode())
        out = np.empty(self.c.kiln_array_shape(handle)[:self.c.kiln_array_ndim(handle)], dtype)
        self.check(self.c.kiln_array_to_host(handle, out.ctypes.data, out.nbytes), "download")
        return out

    def argument(self, how, keep):
        if not isinstance(how, tuple):
            rest = np.array([how, 0], np.int64 if type(how) in (bool, int) else np.float64)
            a = Argument(WEAK[type(how)], 0)
            ctypes.memmove(ctypes.addressof(a) + 8, rest.ctypes.data, 16)
            return a
        pool, layout = how
        keep.append(self.view(pool.address, layout, pool.dtype))
        return Argument(1, 0, keep[-1].value)

    def view(self, address, layout, dtype):
        out, size, item = ctypes.c_void_p(), max(len(layout.shape), 1), np.dtype(dtype).itemsize
        spec = ArraySpec(ctypes.sizeof(ArraySpec), self.dtype_number(dtype), len(layout.shape), (ctypes.c_int64 * size)(*layout.shape),
                         (ctypes.c_int64 * size)(*[s * item for s in layout.strides]), self.device, False)
        self.check(self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(address + layout.start * item), ctypes.byref(spec), None, None), "wrap")
        return out

    def call(self, kernel, arguments, outs, options=None):
        status = self.c.kiln_kernel_call(kernel, outs, len(outs), arguments, len(arguments), options and ctypes.byref(options))
        assert not status, (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def fresh(self, kernel, arguments, n_out, *options):
        outs = (ctypes.c_void_p * n_out)()
        self.call(kernel, arguments, outs, *options)
        results = [self.download(h) for h in outs]
        for h in outs:
            self.c.kiln_array_free(h)
        return results

    def check_kept(self, kernel, arguments, results):
        """With KILN_ORDER_KEEP results lie as NumPy's own do, and views of its as copies in their order."""
        outs = (ctypes.c_void_p * len(results))()
        self.call(kernel, arguments, outs, KEEP)
        for j, (h, value) in enumerate(zip(outs, results)):
            right = np.copy(np.asarray(value.typed), order="K")
            got = self.c.kiln_array_strides(h)[:right.ndim]
            assert right.size == 0 or all(g == s or n == 1 for g, s, n in zip(got, right.strides, right.shape)), \
                f"result {j} of shape {right.shape} has strides {got}, not {right.strides}"
            self.c.kiln_array_free(h)

    def into_given(self, kernel, arguments, given, results):
        """Results of a call into arrays of any layout (None where it allocates); what lies between their elements stays as it was."""
        rooms = [l and np.zeros(l.room + l.start, np.asarray(r.typed).dtype) for l, r in zip(given, results)]
        flat = [None if r is None else self.upload(r, r.dtype.name) for r in rooms]
        views = [f and self.view(self.address(f), l, r.dtype.name) for f, l, r in zip(flat, given, rooms)]
        outs = (ctypes.c_void_p * len(given))(*[v and v.value for v in views])
        self.call(kernel, arguments, outs)
        found = []
        for f, h, l in zip(flat, outs, given):
            if f is None:
                found.append(self.download(h))
            else:
                after = self.download(f)
                found.append(l.of(after).copy())
                l.of(after)[...] = 0
                assert not np.any(after), f"something beside {l.shape} {l.strides} at {l.start} was written"
                self.c.kiln_array_free(f)
            self.c.kiln_array_free(h)
        return found

    def note(self, kernel, arguments, n_out, graph):
        """How many kernels it is."""
        text = ctypes.c_char_p()
        self.check(self.c.kiln_kernel_explain(ctypes.byref(text), kernel, None, n_out, arguments, len(arguments), None, None), "explain")
        first = re.match(rb"# (\d+) kernel", text.value)
        libc.free(text)
        with self.lock:
            self.kernels[int(first.group(1)) if first else 0] += 1
            self.steps += len(graph.values) - graph.n_inputs


libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


# ---- one case ----

def check_result(got, value, j, slack):
    """j: which result it is, for messages. slack: how many times the bound of roundings a result may be off."""
    right = np.asarray(value.typed)
    assert got.dtype == right.dtype, f"result {j} is {got.dtype}, not {right.dtype}"
    assert got.shape == right.shape, f"result {j} has shape {got.shape}, not {right.shape}"
    if value.off is None:
        good = got == value.ref
    else:
        good = np.abs(got.astype("c16" if got.dtype.kind == "c" else "f8") - value.ref) <= slack * value.off
    if not np.all(good):
        at = tuple(int(k) for k in np.argwhere(~np.asarray(good))[0])
        off = "" if value.off is None else f" give or take {np.broadcast_to(value.off, right.shape)[at]:.3g}"
        raise AssertionError(f"result {j}: {np.sum(~np.asarray(good))} of {right.size} wrong, first at {at}: {got[at]!r}, not {value.ref[at]!r}{off}")


def run_case(kiln, case):
    kernel, keep, graph = ctypes.c_void_p(), [], case.graph
    n_out = len(graph.results)
    status = kiln.c.kiln_expression_create(ctypes.byref(kernel), case.names.encode(), graph.text.encode(), ctypes.byref(kiln.options))
    assert not status, kiln.c.kiln_error_message().decode()
    arguments = (Argument * len(case.inputs))(*[kiln.argument(how, keep) for how in case.inputs])
    try:
        first = kiln.fresh(kernel, arguments, n_out)
        for j, (got, value) in enumerate(zip(first, graph.results)):
            check_result(got, value, j, kiln.slack)
        again = kiln.fresh(kernel, arguments, n_out, *[BEST] * (case.index % 2 == 0))
        assert [r.tobytes() for r in again] == [r.tobytes() for r in first], "other bits the second time"
        if case.index % 3 == 0:
            kiln.check_kept(kernel, arguments, graph.results)
        if any(case.given):
            for j, (got, value) in enumerate(zip(kiln.into_given(kernel, arguments, case.given, graph.results), graph.results)):
                check_result(got, value, f"{j}, into given arrays,", kiln.slack)
        kiln.note(kernel, arguments, n_out, graph)
    finally:
        for a in keep:
            kiln.c.kiln_array_free(a)
        kiln.c.kiln_kernel_free(kernel)


# ---- row programs ----

ROWS = ["exp(x - max(x, {kept})) / sum(exp(x - max(x, {kept})), {kept})", "(x - mean(x, {kept})) / sqrt(var(x, {kept}) + 1) * w",
        "log(sum(exp(x), {axes})) + max(w, {axes})", "where(x == max(x, {kept}), w, x)", "(x - min(x, {kept})) * sum(w, {kept})",
        "sum((x - mean(x, {kept})) * w, {axes})", "x / (sum(abs(w), {kept}) + 1) + max(abs(x - mean(x, {kept})), {kept})"]


def run_rows(kiln, seed, index):
    """A row program of any layout gives the same bits in both forms."""
    rng, kernel, keep, most = random.Random(seed * 1000003 + index), ctypes.c_void_p(), [], kiln.random_size(random.Random(index))
    ndim, shape, dtype = rng.choice([1, 2, 2, 3]), [], rng.choice("float32 float32 float64 float16 int32".split())
    for _ in range(ndim):
        shape.append(log_uniform(rng, max(most // max(int(np.prod(shape)), 1), 1)))
    rng.shuffle(shape)
    axes = "axis=({},)".format(", ".join(map(str, rng.sample(range(ndim), rng.randint(1, ndim)))))
    text = rng.choice(ROWS).format(axes=axes, kept=axes + ", keepdims=True")
    pool = kiln.pools[dtype, dtype == "int32"]
    names = [name for name in "xw" if re.search(rf"\b{name}\b", text)]
    arguments = (Argument * len(names))(*[kiln.argument((pool, Layout(rng, shape, kiln.pool_size)), keep) for _ in names])
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), ", ".join(names).encode(), text.encode(), ctypes.byref(kiln.options)), text)
    first, best = kiln.fresh(kernel, arguments, 1), kiln.fresh(kernel, arguments, 1, BEST)
    assert first[0].tobytes() == best[0].tobytes(), f"{text} of {dtype}{shape}: the forms' bits differ"
    for a in keep:
        kiln.c.kiln_array_free(a)
    kiln.c.kiln_kernel_free(kernel)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--count", type=int, default=5000 if os.environ.get("KILN_SOAK") == "1" else 30)
    parser.add_argument("--rows", type=int, default=2000 if os.environ.get("KILN_SOAK") == "1" else 6, help="row programs in both forms")
    parser.add_argument("--seed", type=int, default=3)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", help="host, cuda:0, ...; default: KILN_TARGET")
    parser.add_argument("--large", action="store_true", default=None, help="sizes as on a GPU")
    parser.add_argument("--small", dest="large", action="store_false", help="sizes as on the host")
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("--all", action="store_true", help="go on after a failure")
    o = parser.parse_args()
    if o.target:
        os.environ["KILN_TARGET"] = o.target
    start = time.monotonic()
    kiln, failures = Graphs(o.library, o.large), []

    def one(index):
        case = Case(kiln, o.seed, index)
        if o.verbose:
            print(f"{index}: {case.text}", flush=True)
        try:
            run_case(kiln, case)
        except AssertionError as failure:
            failures.append(f"--target {o.target or os.environ.get('KILN_TARGET')} --seed {o.seed} --first {index} --count 1"
                            f"{' --large' if kiln.is_large else ''}: {case.text}:\n{failure}")
            if not o.all:
                raise AssertionError(failures[-1]) from None

    in_threads(one, range(o.first, o.first + o.count))
    in_threads(lambda index: run_rows(kiln, o.seed, index), range(o.rows))
    for failure in failures:
        print(failure)
    kernels = sum(k * n for k, n in kiln.kernels.items())
    print(f"{o.count} expressions of {kiln.steps} steps, {len(failures)} wrong, in {time.monotonic() - start:.0f} s: {kernels} kernels, "
          f"{dict(sorted(kiln.kernels.items()))} in an expression")
    sys.exit(len(failures) > 0)


if __name__ == "__main__":
    main()
