"""Expressions that are far larger than any that people write, against NumPy: chains of 500 operations, with reductions among them; 64 inputs and 32
results, numbers among them; parts that are repeated until a tree of them would have 2^60 leaves. And how many binaries one expression needs over random shapes: kernels
are told apart by what explain says of them, and nothing is compiled for that.
check_large_graphs.py LIBRARY [--target TARGET] [--count SHAPES]"""
import argparse
import ctypes
import os
import random
import re

import numpy as np

from host_kernels import HOST, Argument, Arrays, ArraySpec

# What one expression may need at most, for arrays of one dtype and rank, C-ordered and beginning at any element: expression.h says so.
MOST = {"host": 8, "sm_90": 56}
SHAPED = {"x * 2 + y": 2, "exp(x) / (1 + y * y)": 2, "sum(x * y, axis=-1)": 2, "sum(x, axis=0) + y[0]": 2, "x - mean(x, axis=-1, keepdims=True) * y": 2,
          "e = exp(x - max(x, axis=-1, keepdims=True)); e / sum(e, axis=-1, keepdims=True) * y": 2, "x.T + y.T": 2, "x[:, ::-1] * 2, y[1:].sum()": 2}
ELEMENTWISE = ["{} + {}", "{} * 0.5 + {}", "maximum({}, {} - 1)", "sqrt(abs({})) + {} * 0.25", "where({} > 0, {}, 1.5)", "tanh({}) - {} / 3"]
FOLDS = ["{0} - mean({0}, axis=-1, keepdims=True)", "{0} / (1 + max(abs({0}), axis=0, keepdims=True))", "{0} + sum({0}, axis=(0, 1)) * 0.001", "{0} - {0}.T[0, 0]"]
libc = ctypes.CDLL(None)
SOAK = os.environ.get("KILN_SOAK") == "1"
libc.free.argtypes = [ctypes.c_void_p]


class Large(Arrays):
    def expression(self, names, text):
        kernel = ctypes.c_void_p()
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), names.encode(), text.encode(), None), "create")
        return kernel

    @staticmethod
    def number(value):
        a, rest = Argument(5, 0), np.array([value, 0], np.float64)
        ctypes.memmove(ctypes.addressof(a) + 8, rest.ctypes.data, 16)
        return a

    def download(self, handle, dtype):
        shape = self.c.kiln_array_shape(handle)[:self.c.kiln_array_ndim(handle)]
        out = np.empty(shape, dtype)
        self.check(self.c.kiln_array_to_host(handle, ctypes.c_void_p(out.ctypes.data), out.nbytes), "download")
        return out

    def upload_shaped(self, x):
        out = ctypes.c_void_p()
        self.check(self.c.kiln_array_from_host(ctypes.byref(out), ctypes.c_void_p(x.ctypes.data), self.dtype_number(x.dtype.name), x.ndim,
                                               (ctypes.c_int64 * max(x.ndim, 1))(*x.shape), self.device), "upload")
        return out

    def explain(self, kernel, arguments, n_out, target=None):
        text = ctypes.c_char_p()
        self.check(self.c.kiln_kernel_explain(ctypes.byref(text), kernel, None, n_out, arguments, len(arguments), None, target and target.encode()), "explain")
        value = text.value.decode()
        libc.free(text)
        return value

    def run(self, names, text, values, n_out):
        """Results, and how many kernels it was."""
        kernel, handles = self.expression(names, text), [self.upload_shaped(v) for v in values if isinstance(v, np.ndarray)]
        arrays = iter(handles)
        arguments = (Argument * len(values))(*[Argument(1, 0, next(arrays).value) if isinstance(v, np.ndarray) else self.number(v) for v in values])
        outs = (ctypes.c_void_p * n_out)()
        self.check(self.c.kiln_kernel_call(kernel, outs, n_out, arguments, len(values), None), "call")
        kernels = len(re.findall(r"^kiln/\d+ ", self.explain(kernel, arguments, n_out), re.M))
        results = [self.download(h, next(v.dtype for v in values if isinstance(v, np.ndarray))) for h in outs]
        for h in [*(h.value for h in handles), *outs]:
            self.c.kiln_array_free(h)
        self.c.kiln_kernel_free(kernel)
        return results, kernels


def by_numpy(names, text, values):
    known = {n: getattr(np, n) for n in "maximum sqrt abs where tanh mean max sum exp".split()}
    known.update(zip(names.split(", "), values))
    *statements, last = text.split(";")
    with np.errstate(all="ignore"):
        for s in statements:
            exec(s.strip(), known)
        result = eval(last, known)
    return result if isinstance(result, tuple) else (result,)


def check(kiln, what, names, text, values, most_kernels):
    right = by_numpy(names, text, values)
    got, kernels = kiln.run(names, text, values, len(right))
    for j, (g, r) in enumerate(zip(got, right)):
        assert np.allclose(g, r, *(2 * [1e-9 if r.dtype == np.float64 else 1e-5])), f"{what}: result {j}: {g}\nnot\n{r}"
    print(f"{what}: {kernels} kernels")
    assert 1 <= kernels <= most_kernels, f"{what}: {most_kernels} kernels at most were expected"


def chain(rng, steps, folds):
    """Statements of one operation or a few each, which read the last value twice."""
    at, lines, count = "x", [], 0
    while count < steps:
        is_fold = folds and len(lines) % (steps // 6 // folds) == 3
        form = rng.choice(FOLDS if is_fold else ELEMENTWISE)
        name = f"t{len(lines)}"
        lines.append(f"{name} = " + (form.format(at) if is_fold else form.format(at, at if rng.random() < 0.7 else "x")))
        count += sum(form.count(w) for w in "+ * / - > ( ".split()) + 0
        at = name
    return "; ".join(lines + [at]), count


def check_chains(kiln):
    rng, x = random.Random(4), np.random.default_rng(4).normal(size=(24, 40))
    text, count = chain(rng, 500, 0)
    check(kiln, f"a chain of {count} operations", "x", text, [x], 1)
    text, count = chain(rng, *((500, 12) if SOAK else (100, 4)))  # g++ takes a minute for the long one
    check(kiln, f"a chain of {count} operations, reductions among them", "x", text, [x], 60)


def check_kept(kiln):
    """What stages hand to later ones, more of it than a program has values of its own: costly ones, numbers that follow from reductions, divisors."""
    rng = np.random.default_rng(9)
    x, count = rng.normal(size=(12, 70)), 70
    costly = [f"t{k} = tanh(x * {0.01 * (k + 1):.2f})" for k in range(count)]
    total = " + ".join(f"t{k}" for k in range(count))
    check(kiln, f"{count} costly values on both sides of a sum", "x", "; ".join(costly + [f"s = sum({total}, axis=-1, keepdims=True)"]) + "; "
          + " + ".join(f"t{k} * (s + {k})" for k in range(count)), [x], 12)
    lines = ["m = mean(x, axis=-1, keepdims=True)"] + [f"c{k} = exp(m * {0.01 * (k + 1):.2f})" for k in range(count)]
    check(kiln, f"{count} values of one mean", "x", "; ".join(lines) + "; " + " + ".join(f"x * c{k}" for k in range(count)), [x], 12)
    y, count = np.abs(x).astype("float32") + 1, 60
    lines = [f"d{k} = sum(x * {k + 1}, axis=-1, keepdims=True)" for k in range(count)]
    check(kiln, f"{count} divisors", "x", "; ".join(lines) + "; " + " + ".join(f"x / d{k}" for k in range(count)), [y], 12)


def check_wide(kiln):
    values = list(np.random.default_rng(5).normal(size=(64, 30, 7)))
    names = ", ".join(f"a{k}" for k in range(64))
    pairs = ", ".join(f"a{2 * k} * a{2 * k + 1} + a{(7 * k) % 64}" for k in range(32))
    check(kiln, "64 inputs, 32 results", names, pairs, values, 40)
    total = " + ".join(f"a{k}" for k in range(64))
    check(kiln, "32 results of all 64 inputs", names, f"s = {total}; " + ", ".join(f"s * a{k} - {k}" for k in range(32)), values, 40)
    sums = 32 if SOAK else 12
    check(kiln, f"{sums} sums of 64 inputs", names, f"s = {total}; " + ", ".join(f"sum(s * a{k}, axis={k % 2})" for k in range(sums)), values, 70)
    check(kiln, "64 inputs, 64 results", names, ", ".join(f"a{k} * a{(k + 1) % 64}" for k in range(64)), values, 70)


def check_numbers(kiln):
    rng = np.random.default_rng(8)
    values, names = [rng.normal(size=(30, 7)), *map(float, rng.normal(size=63))], ", ".join(["x"] + [f"s{k}" for k in range(63)])
    total = " + ".join(f"s{k}" for k in range(63))
    check(kiln, "an array and 63 numbers, one by one", names, f"x + {total}", values, 10)
    check(kiln, "an array and the sum of 63 numbers", names, f"x * ({total})", values, 10)
    check(kiln, "63 results of a number each", names, ", ".join(f"x * s{k}" for k in range(63)), values, 70)


def check_repeats(kiln):
    x = np.random.default_rng(6).normal(size=(9, 33))
    lines = ["t0 = exp(x * 0.1)"] + [f"t{k} = (t{k - 1} + t{k - 1}) * 0.5" for k in range(1, 61)]
    check(kiln, "a value read twice, 60 times over", "x", "; ".join(lines + ["t60"]), [x], 1)
    lines = ["t0 = x"] + [f"t{k} = t{k - 1}[:, ::-1] * 0.5 + t{k - 1} * 0.5" for k in range(1, 25)]
    check(kiln, "a value read at two places, 24 times over", "x", "; ".join(lines + ["t24"]), [x], 30)
    text = " + ".join(["tanh(x * 3) * sum(exp(x), axis=1, keepdims=True)"] * 100)
    check(kiln, "a part that stands there 100 times", "x", text, [x], 1)


def check_shapes(kiln, count):
    """Arrays that lie nowhere: nothing is read."""
    for target, most in MOST.items():
        for text, ndim in SHAPED.items():
            rng, lines, kernel = random.Random(7), set(), kiln.expression("x, y", text)
            for _ in range(count):
                shape = [int(2 ** rng.uniform(1, 13)) for _ in range(ndim)]
                handles = []
                for start in (0, rng.choice([0, 0, rng.randrange(32)])):
                    out = ctypes.c_void_p()
                    spec = ArraySpec(ctypes.sizeof(ArraySpec), kiln.dtype_number("float32"), ndim, (ctypes.c_int64 * ndim)(*shape),
                                     (ctypes.c_int64 * ndim)(4 * shape[1], 4), HOST, False)
                    kiln.check(kiln.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(2 ** 40 + 4 * start), ctypes.byref(spec), None, None), "wrap")
                    handles.append(out)
                arguments = (Argument * 2)(*[Argument(1, 0, h.value) for h in handles])
                n_out = 2 if text.startswith("x[:") else 1
                lines.update(re.findall(r"^kiln/\d+ .*$", kiln.explain(kernel, arguments, n_out, target), re.M))
                for h in handles:
                    kiln.c.kiln_array_free(h)
            kiln.c.kiln_kernel_free(kernel)
            print(f"{target}: {len(lines)} binaries for {count} shapes of {text}")
            assert len(lines) <= most, f"{most} at most were expected"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("--target")
    parser.add_argument("--count", type=int, default=1000 if SOAK else 3)
    o = parser.parse_args()
    if o.target:
        os.environ["KILN_TARGET"] = o.target
    kiln = Large(o.library)
    check_chains(kiln)
    check_kept(kiln)
    check_wide(kiln)
    check_numbers(kiln)
    check_repeats(kiln)
    check_shapes(kiln, o.count)


if __name__ == "__main__":
    main()
