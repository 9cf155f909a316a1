"""Random scans of real numbers and of structs of them along rows, by the quick form and by the best one: the same bits. What is scanned is rounded in each step, so that another order, or a product
that one form contracts with a sum and the other does not, shows; against NumPy the results are what rounding leaves of them. Rows of one tile and of many, one and several; inclusive and exclusive,
reversed; elements side by side, apart and backward, from anywhere.
check_scan_forms.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]
A case is made from the seed and its index alone. The host has one form; "both": cases that had two."""
import ctypes
import random

import numpy as np

from fuzz_reductions import CallOptions, Layout, Options
from host_kernels import Argument, ArraySpec, Arrays, random_cases

EXCLUSIVE, REVERSED = 16, 32
BEST, QUICK = 2, 3  # kiln_forms
LINES = "struct line { float m, c; };"
MATRICES = """struct matrix { double a, b, c, d; };
__device__ matrix times(matrix x, matrix y) { return {x.a * y.a + x.b * y.c, x.a * y.b + x.b * y.d, x.c * y.a + x.d * y.c, x.c * y.b + x.d * y.d}; }"""
LARGE = """struct large { float at[20]; };
__device__ large both(large x, large y) {
    for (int k = 0; k < 20; ++k)
        y.at[k] = x.at[k] * 0.5f + y.at[k] * 1.25f;
    return y;
}"""
WEIGHED = "struct weighed { float p, q; };"
# texts: inputs, results, map, scan, post, identity, preamble, type
SCANS = {
    "sum": ("T x", "T y", "x * (T)1.3 + (T)0.7", "a + b", "y = a * (T)0.9 + x", "0", None, None),
    "product": ("T x", "T y", "x * (T)0.001 + 1", "a * b", "y = a + (T)0.5 * x", "1", None, None),
    "greatest": ("T x", "T y", "x * (T)1.1", "a > b ? a : b", "y = a + x * (T)0.3", "-1000", None, None),
    "log": ("T x", "T y", "x * (T)2.5", "(a > b ? a : b) + log1p(exp(a > b ? b - a : a - b))", "y = a", None, None, None),
    "lines": ("float32 x", "float32 y", "line{0.5f + 0.2f * x, x * 3.3f}", "line{a.m * b.m, a.c * b.m + b.c}", "y = a.c * 1.1f + x", "line{1, 0}", LINES, "line"),
    "weighed": ("float32 x", "float32 y", "weighed{x * 0.3f + 0.7f, x * 1.7f}", "weighed{a.p * b.p, a.q + a.p * b.q}", "y = a.p + a.q", None, WEIGHED, "weighed"),
    "matrices": ("float32 x", "float32 y, float32 z", "matrix{1, x * 0.1, 0.01 * x, 1}", "times(a, b)", "y = a.b; z = a.c", None, MATRICES, "matrix"),
    "large": ("float32 x", "float32 y", "large{x * 1.7f, x * 1.1f, x}", "both(a, b)", "y = a.at[0] + a.at[1] * x", None, LARGE, "large"),
}
KERNELS = [("sum", "float32"), ("sum", "float64"), ("sum", "complex64"), ("product", "float32"), ("greatest", "float32"), ("log", "float32"), ("lines", "float32"),
           ("weighed", "float32"), ("matrices", "float32"), ("large", "float32"), ("sum", "float16")]


class Forms(Arrays):
    def __init__(self, path):
        super().__init__(path)

    def kernel(self, key, mode):
        texts = [t.replace("(T)", f"({'complex<float>' if key[1] == 'complex64' else key[1]})").replace("T ", key[1] + " ") if t else t for t in SCANS[key[0]]]
        *texts, identity, preamble, of_type = [t and t.encode() for t in texts]
        out = ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), mode, preamble, reduce_type=of_type)
        self.check(self.c.kiln_scan_create(ctypes.byref(out), *texts, identity, b"scanned", ctypes.byref(options)), key[0])
        return out

    def view(self, address, layout, dtype):
        out, item = ctypes.c_void_p(), np.dtype(dtype).itemsize
        spec = ArraySpec(ctypes.sizeof(ArraySpec), self.dtype_number(dtype), len(layout.shape), (ctypes.c_int64 * 2)(*layout.shape),
                         (ctypes.c_int64 * 2)(*[s * item for s in layout.strides]), self.device, False)
        self.check(self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(address + layout.start * item), ctypes.byref(spec), None, None), "wrap")
        return out

    def results(self, key, mode, form, given, shape, block, n_out):
        """The results of a kernel of its own, whose plan is made in this form."""
        self.check(self.c.kiln_set_forms(form), "forms")
        kernel, outs = self.kernel(key, mode), (ctypes.c_void_p * n_out)()
        options = CallOptions(ctypes.sizeof(CallOptions), 0, block=block, axes=(ctypes.c_int * 1)(-1), n_axes=1)
        self.check(self.c.kiln_kernel_call(kernel, outs, n_out, (Argument * 1)(Argument(1, 0, given.value)), 1, ctypes.byref(options)), key[0])
        found = []
        for h in outs:
            found.append(np.empty(shape, key[1]))
            self.check(self.c.kiln_array_to_host(h, found[-1].ctypes.data, found[-1].nbytes), "download")
            self.c.kiln_array_free(h)
        self.c.kiln_kernel_free(kernel)
        return found


def summed(key, x, mode):
    """NumPy's result where one function says it; None."""
    if key[0] not in ("sum", "greatest"):
        return None
    wide = x.astype("c16" if key[1] == "complex64" else "f8")
    step = -1 if mode & REVERSED else 1
    mapped = (wide * 1.3 + 0.7 if key[0] == "sum" else wide * 1.1)[:, ::step]
    scanned = (np.cumsum if key[0] == "sum" else np.maximum.accumulate)(mapped, axis=1)
    if mode & EXCLUSIVE:
        scanned = np.concatenate([np.full((len(x), 1), 0 if key[0] == "sum" else -1000.0), scanned[:, :-1]], axis=1)
    scanned = scanned[:, ::step]
    return scanned * 0.9 + wide if key[0] == "sum" else scanned + wide * 0.3


def run_case(kiln, seed, index):
    rng, drawn = random.Random(seed * 1000003 + index), np.random.default_rng([seed, index])
    key = KERNELS[index % len(KERNELS)]
    mode = rng.choice([0, REVERSED] + ([EXCLUSIVE, EXCLUSIVE | REVERSED] if SCANS[key[0]][5] else []))
    length = rng.choice([rng.randint(64, 700), rng.randint(64, 20000), rng.randint(20000, 200000)])
    shape = (rng.choice([1, 1, rng.randint(2, 9), rng.randint(10, 60)]) if length < 20000 else rng.choice([1, 2]), length)
    block = rng.choice([0, 32, 64])
    layout = Layout(rng, list(shape), 4 * shape[0] * shape[1] + 4096)
    memory = np.empty(layout.room + layout.start + 16, key[1])
    memory[...] = drawn.uniform(-1, 1, memory.size)
    if key[1] == "complex64":
        memory += 1j * drawn.uniform(-1, 1, memory.size).astype("f4")
    x, flat = layout.of(memory), kiln.upload(memory, key[1])
    given, n_out = kiln.view(kiln.address(flat), layout, key[1]), SCANS[key[0]][1].count(",") + 1
    best = kiln.results(key, mode, BEST, given, shape, block, n_out)
    quick = kiln.results(key, mode, QUICK, given, shape, block, n_out)
    text = f"--seed {seed} --first {index} --count 1: {key} mode {mode} {shape} strides {layout.strides} start {layout.start} block {block}"
    for b, q in zip(best, quick):
        assert b.tobytes() == q.tobytes(), f"{text}: {np.sum((b != q) & ((b == b) | (q == q)))} of {b.size} differ, first at {np.argwhere(b != q)[:1]}"
    right = summed(key, x, mode)
    if right is not None:
        size = np.maximum(np.abs(right), np.sqrt(length))
        held = np.abs(right) < (6e4 if key[1] == "float16" else np.inf)  # others are infinite there
        off = np.max((np.abs(best[0] - right) / size)[held], initial=0)
        assert off < {"float16": 0.3, "float64": 1e-12}.get(key[1], 1e-3), f"{text}: off by {off}"
    kiln.c.kiln_array_free(given)
    kiln.c.kiln_array_free(flat)


def main():
    o = random_cases(600, 12, 31)
    kiln = Forms(o.library)
    for index in o.cases:
        run_case(kiln, o.seed, index)
    print(f"{len(o.cases)} scans, the same bits in both forms")


if __name__ == "__main__":
    main()
