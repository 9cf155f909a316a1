"""Long rows and tall columns, which several of the host's threads share: sums of float32 are as accurate as NumPy's pairwise ones along any axis,
structs give what NumPy gives, and any number of threads gives the same bits. Without KILN_SOAK=1 a third of
the shapes are drawn. long_reductions.py LIBRARY"""
import ctypes
import hashlib
import os
import subprocess
import sys

import numpy as np

from host_kernels import SEED, Argument, KernelOptions, Library, drawn


class Options(KernelOptions):
    _fields_ = [("reduce_type", ctypes.c_char_p)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


BEST = """struct best { float value; long long at; };
__device__ best better(best a, best b) { return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a; }"""
MOMENTS = "struct moments { double n, sum, squares; };\n__device__ moments join(moments a, moments b) { return {a.n + b.n, a.sum + b.sum, a.squares + b.squares}; }"


def argmax(x, axes):
    """The first of the largest, in C order of the reduced axes."""
    kept = [a for a in range(x.ndim) if a not in axes]
    return np.argmax(np.transpose(x, kept + sorted(axes)).reshape([x.shape[a] for a in kept] + [-1]), axis=-1)


# inputs, outputs, map, reduce, post, identity, preamble, reduce type; dtypes of the outputs; what they should be
FOLDS = {
    "sum": (("float32 x", "float32 y", "x", "a + b", "y = a", "0", None, None), ["f4"], lambda x, axes: [np.sum(x, axis=axes)]),
    "norm": (("float32 x", "float64 y", "(double)x * (double)x", "a + b", "y = sqrt(a)", "0", None, None), ["f8"],
             lambda x, axes: [np.sqrt(np.sum(x.astype("f8") ** 2, axis=axes))]),
    "best": (("float32 x", "int64 at, float32 value", "best{x, _J}", "better(a, b)", "at = a.at; value = a.value", None, BEST, "best"), ["i8", "f4"],
             lambda x, axes: [argmax(x, axes), np.max(x, axis=axes)]),
    "moments": (("float32 x", "float64 mean, float64 square", "moments{1, (double)x, (double)x * (double)x}", "join(a, b)",
                 "mean = a.sum / a.n; square = a.squares / a.n", None, MOMENTS, "moments"), ["f8", "f8"],
                lambda x, axes: [np.mean(x, axis=axes, dtype="f8"), np.mean(x.astype("f8") ** 2, axis=axes)]),
}

# Shapes and axes: one number, rows of several chunks, columns in chunks, few of them side by side, turned, middle axes; short rows.
LONG = [((4194381,), (0,)), ((3, 700001), (1,)), ((2, 131072 + 5), (1,)), ((700001, 3), (0,)), ((200003, 16), (0,)), ((2000, 1500), (0,)), ((5000, 1030), (0,)),
        ((1500, 2000), (0,)), ((40, 300, 301), (0, 2)), ((300, 40, 301), (0,)), ((60001, 50), (1,)), ((60001, 20), (1,)), ((100, 70, 400), (1,)), ((300, 4000), (1,))]


# Sums of narrow whole numbers, with as many terms as fit 32 bits, and more.
NARROW = [((3, 32768), 1), ((2, 65539), 1), ((32768, 5), 0), ((40, 7), 1)]


class Reductions(Library):
    def __init__(self, path):
        super().__init__(path)
        self.kernels = {name: self.kernel(name, *fold[0]) for name, fold in FOLDS.items()}

    def kernel(self, name, ins, outs, mapped, reduced, post, identity, preamble, reduce_type):
        kernel, encoded = ctypes.c_void_p(), [t and t.encode() for t in (ins, outs, mapped, reduced, post, identity)]
        options = Options(ctypes.sizeof(Options), 0, preamble and preamble.encode(), reduce_type=reduce_type and reduce_type.encode())
        self.check(self.c.kiln_reduction_create(ctypes.byref(kernel), *encoded, name.encode(), ctypes.byref(options)), name)
        return kernel

    def call(self, name, x, outs, axes):
        arrays = [self.wrap(a, a.dtype.name) for a in [x, *outs]]
        options = CallOptions(ctypes.sizeof(CallOptions))
        if axes is not None:  # that of an expression are in its text
            options.axes, options.n_axes = (ctypes.c_int * len(axes))(*axes), len(axes)
        status = self.c.kiln_kernel_call(self.kernels[name], (ctypes.c_void_p * len(outs))(*[a.value for a in arrays[1:]]), len(outs),
                                         (Argument * 1)(Argument(1, 0, arrays[0].value)), 1, ctypes.byref(options))
        self.check(status, name)
        for a in arrays:
            self.c.kiln_array_free(a)


def check_narrow(kiln):
    """The least and the largest numbers of their dtypes, all of them, and a single one less."""
    for dtype in drawn(["uint8", "int8", "uint16", "int16"], 2):
        for name in ("sum", "mean"):
            for shape, axis in drawn(NARROW, 2):
                kernel, text = ctypes.c_void_p(), f"{name}(x, axis={axis})"
                kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x", text.encode(), None), text)
                kiln.kernels[text] = kernel
                for end in (np.iinfo(dtype).min, np.iinfo(dtype).max):
                    x = np.full(shape, end, dtype)
                    x[-1, -1] -= 1 if end else 0
                    wanted = getattr(np, name)(x, axis=axis)
                    got = np.zeros_like(wanted)
                    kiln.call(text, x, [got], None)
                    assert np.array_equal(got, wanted), f"{text} of {dtype}{list(shape)}: {got}, not {wanted}"


def off(sums, exact):
    """The root mean square of the errors, in units in the last place; the largest."""
    ulps = np.abs(sums - exact) / np.spacing(exact.astype("f4")).astype("f8")
    return np.sqrt(np.mean(ulps ** 2)), np.max(ulps)


def check(kiln, compare):
    """A digest of everything that came out; compare: with NumPy's results."""
    numbers, digest = np.random.default_rng(5), hashlib.sha256()
    if compare:
        check_narrow(kiln)
    for shape, axes in drawn(LONG, 5):
        for x in (numbers.random(shape, np.float32), numbers.integers(0, 1000, shape[::-1]).astype(np.float32).T):
            for name, (_, dtypes, reference) in FOLDS.items():
                results = [np.empty([e for a, e in enumerate(x.shape) if a not in axes], dtype) for dtype in dtypes]
                kiln.call(name, x, results, axes)
                for got in results:
                    digest.update(got.tobytes())
                if not compare:
                    continue
                what, right = f"{name} of {shape}, axes {axes}, strides {x.strides}", reference(x, axes)
                assert [r.shape for r in results] == [np.shape(r) for r in right], what
                if name == "sum":
                    exact = np.sum(x, axis=axes, dtype="f8")
                    (ours, worst), (numpys, _) = off(results[0], exact), off(right[0], exact)
                    assert worst <= 6 and ours <= max(1, numpys), f"{what}: off by {ours:.2f} ulps, {worst:.2f} at most; NumPy by {numpys:.2f}"
                for got, wanted in zip(results[name == "sum":], right[name == "sum":]):
                    assert np.allclose(got, wanted, rtol=0 if name == "best" else 1e-12, atol=0), f"{what}: {got}, not {wanted}"
    return digest.hexdigest()


def main():
    if sys.argv[2:]:
        print(check(Reductions(sys.argv[1]), sys.argv[2] == "compare"))
        return
    digests = {}  # the threads are counted once a process
    for threads in ("1", "2", "5") if os.environ.get("KILN_SOAK") else ("1", "5"):
        environment = {**os.environ, "KILN_SEED": str(SEED), "KILN_NUM_THREADS": threads, "LD_PRELOAD": os.environ.get("KILN_TEST_PRELOAD", "")}
        done = subprocess.run([sys.executable, __file__, sys.argv[1], "digest" if digests else "compare"], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        digests[threads] = done.stdout.split()[-1]
    assert len(set(digests.values())) == 1, f"the bits depend on the number of threads: {digests}"
    print(f"KILN_SEED={SEED}: {2 * len(drawn(LONG, 5)) * len(FOLDS)} long reductions, none wrong, the same with any number of threads")


if __name__ == "__main__":
    main()
