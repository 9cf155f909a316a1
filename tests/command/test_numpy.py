"""kiln map and kiln reduce on files that NumPy wrote give NumPy's results, in files that NumPy reads."""
import sys

try:
    import numpy as np
    assert int(np.__version__.split(".")[0]) >= 2
except (ImportError, AssertionError):
    print("skipped: this Python has no NumPy 2 (tools/test fetches one)")
    sys.exit(77)

from commanding import TARGET, CommandCase, main

REALS = ["float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


class NumPy(CommandCase):
    def save(self, name, array):
        np.save(self.folder / name, array)
        return name

    def map(self, inputs, outputs, body, *arguments, options=()):
        return self.run_kernel("map", outputs, (inputs, outputs, body), arguments, options)

    def reduce(self, inputs, outputs, texts, *arguments, options=(), warns=False):
        return self.run_kernel("reduce", outputs, (inputs, outputs, *texts), arguments, options, warns)

    def run_kernel(self, command, outputs, texts, arguments, options, warns=False):
        """Runs over arrays and words; gives the outputs as NumPy reads them. warns: it says that integers are narrow."""
        words = [self.save(f"in{k}.npy", a) if isinstance(a, (np.ndarray, np.generic)) else a
                 for k, a in enumerate(arguments)]
        names = [f"out{k}.npy" for k in range(outputs.count(",") + 1)]
        flags = [word for name in names for word in ("-o", name)]
        # Contraction off: then float results are NumPy's to the bit.
        run = self.kiln(command, *texts, *words, *flags, "--target", TARGET, "--no-fma", *options)
        self.assertEqual((run.returncode, run.stderr.count("warning")), (0, int(warns)), run.stderr)
        results = [np.load(self.folder / name) for name in names]
        return results[0] if len(results) == 1 else results

    def same(self, got, expected):
        self.assertEqual(got.dtype, expected.dtype)
        self.assertEqual(got.shape, expected.shape)
        np.testing.assert_array_equal(got, expected)

    def random(self, dtype, shape, order="C"):
        rng = np.random.default_rng(abs(hash((dtype, shape))) % 1000)
        info = np.iinfo(dtype) if np.dtype(dtype).kind in "iu" else None
        data = rng.integers(info.min, info.max, shape, dtype, True) if info else rng.normal(size=shape).astype(dtype)
        return np.asarray(data, order=order)

    def test_every_real_dtype(self):
        for dtype in REALS:
            with self.subTest(dtype=dtype):
                x, y = self.random(dtype, (37, 11)), self.random(dtype, (11,))
                with np.errstate(over="ignore"):
                    self.same(self.map("T x, T y", "T z", "z = x - y * x", x, y), x - y * x)

    def test_bool(self):
        x, y = np.array([True, False, True]), np.array([[True], [False]])
        self.same(self.map("bool x, bool y", "bool z", "z = x != y", x, y), x != y)

    def test_broadcasting_and_orders(self):
        shapes = [((3, 1, 5), (4, 5)), ((6, 7), ()), ((1,), (2, 3, 4)), ((5, 1), (1, 8)), ((0, 3), (3,)), ((), ()),
                  ((2, 1, 3, 1), (4, 1, 6))]
        for a, b in shapes:
            for order in "CF":
                with self.subTest(a=a, b=b, order=order):
                    x, y = self.random("float32", a, order), self.random("float32", b, order)
                    self.same(self.map("T x, T y", "T z", "z = x - y", x, y), np.asarray(x - y))

    def test_mixed_orders(self):
        x, y = self.random("float64", (40, 50)), self.random("float64", (40, 50), "F")
        self.same(self.map("T x, T y", "T z", "z = x * y", x, y), x * y)

    def test_kept_order(self):
        x = self.random("float32", (6, 7), "F")
        z = self.map("T x", "T z", "z = -x", x, options=["--order", "K"])
        self.same(z, -x)
        self.assertTrue(z.flags.f_contiguous)
        self.assertTrue(self.map("T x", "T z", "z = -x", x).flags.c_contiguous)

    def test_orders(self):
        for orders in ("CC", "FF", "CF"):
            x, y = self.random("float32", (6, 7), orders[0]), self.random("float32", (6, 7), orders[1])
            for order in "CFAK":
                with self.subTest(orders=orders, order=order):
                    z = self.map("T x, T y", "T z", "z = x - y", x, y, options=["--order", order])
                    self.same(z, x - y)
                    # NumPy's "A" and "K" of mixed orders are C's.
                    self.assertEqual(z.flags.f_contiguous, np.subtract(x, y, order=order).flags.f_contiguous)

    def test_mixed_dtypes(self):
        x, y = self.random("int16", (9,)), self.random("float32", (4, 1))
        self.same(self.map("T x, U y", "float64 z", "z = (double)x + (double)y", x, y),
                  x.astype("float64") + y.astype("float64"))

    def test_the_issue_of_two_outputs(self):
        x, y = self.random("float32", (100, 3)), self.random("float32", (3,))
        z, hit = self.map("T x, T y, float32 s", "T z, bool hit", "z = (x - y) * s; hit = z > 0", x, y, "0.5")
        self.same(z, (x - y) * np.float32(0.5))
        self.same(hit, z > 0)

    def test_weak_scalars_do_not_widen(self):
        x = self.random("float32", (10,))
        self.same(self.map("T x, T s", "T z", "z = x * s", x, "3"), x * 3)
        x = self.random("int16", (10,))
        with np.errstate(over="ignore"):
            self.same(self.map("T x, T s", "T z", "z = x + s", x, "-7"), x - 7)

    def test_large_and_odd_sizes(self):
        for size in (1, 2, 3, 4, 5, 15, 16, 17, 100_003, 1_000_000):
            with self.subTest(size=size):
                x = np.arange(size, dtype="float32")
                self.same(self.map("T x", "T z", "z = x + i", x), x + np.arange(size, dtype="float32"))

    def test_versions_of_the_format(self):
        x = self.random("int32", (5,))
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(self.folder / "v.npy", "wb") as file:
                np.lib.format.write_array(file, x, version)
            self.same(self.map("T x", "T z", "z = x", "v.npy"), x)

    def test_many_axes(self):
        x = self.random("float32", (1, 2) * 10)
        y = x.transpose(np.arange(20)[::-1])
        self.same(self.map("T x, T y", "T z", "z = x - y", x, np.ascontiguousarray(y)), x - y)

    # ---- reductions: sums of whole numbers, which are exact in any order ----

    def whole(self, dtype, shape, order="C"):
        return np.asarray(np.random.default_rng(len(shape)).integers(0, 5, shape), dtype, order=order)

    def test_sums_of_every_real_dtype(self):
        for dtype in REALS:
            with self.subTest(dtype=dtype):
                x = self.whole(dtype, (7, 5, 3))
                self.same(self.reduce("T x", "T y", ("x", "a + b", "y = a", "0"), x, options=["--axis", "0,-1"],
                                      warns=x.dtype.kind in "iu" and x.dtype.itemsize < 4), x.sum((0, 2), dtype))

    def test_axes_and_orders_as_numpy_has_them(self):
        for order in "CF":
            x = self.whole("float32", (4, 1, 6), order)
            for axis in (None, 0, 1, -1, (0, 2), (1, -3), ()):
                for keepdims in (False, True):
                    with self.subTest(order=order, axis=axis, keepdims=keepdims):
                        words = [] if axis is None else ["--axis", "none" if axis == () else str(axis).strip("(,)").replace(" ", "")]
                        got = self.reduce("T x", "T y", ("x", "a > b ? a : b", "y = a", "-"), x, options=words + ["--keepdims"] * keepdims)
                        self.same(got, np.asarray(x.max(axis, keepdims=keepdims)))

    def test_reductions_that_broadcast(self):
        x, y = self.whole("int32", (5, 1, 4)), self.whole("int32", (3, 1))
        z, count = self.reduce("T x, T y", "T z, int64 count", ("x * y", "a + b", "z = a; count = _in_ind.size() / _out_ind.size()", "0"), x, y,
                               options=["--axis", "1"])
        self.same(z, (x * y).sum(1, "int32"))
        self.same(count, np.full((5, 4), 3, "int64"))


main()
