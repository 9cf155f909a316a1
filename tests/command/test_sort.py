"""kiln sort: keys, axes, files, what it refuses, its source and its bake."""
import struct
import unittest

from commanding import TARGET, CommandCase, floats, main, npy_bytes

BOTH = ("T x", "T y, int64 at", "x", "y = x; at = i")


class Sort(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy_bytes("<f4", (2, 3), floats(1, -3, 2, 4, -5, 0)))
        self.write("shop.npy", npy_bytes("<i4", (2, 3), struct.pack("<6i", 1, 0, 1, 0, 0, 1)))

    def values(self, name, form):
        data = (self.folder / name).read_bytes()
        return list(struct.unpack(form, data[-struct.calcsize(form):]))

    def test_axes_and_orders(self):
        wanted = {(): ([-3, 1, 2, -5, 0, 4], [1, 0, 2, 1, 2, 0]), ("--axis", "0"): ([1, -5, 0, 4, -3, 2], [0, 1, 1, 1, 0, 0]),
                  ("--axis=-1", "--descending"): ([2, 1, -3, 4, 0, -5], [2, 0, 1, 0, 2, 1])}
        for options, (values, places) in wanted.items():
            with self.subTest(options):
                self.ok("sort", *BOTH, "x.npy", *options, "-o", "y.npy", "-o", "at.npy", "--target", TARGET)
                self.assertEqual((self.values("y.npy", "<6f"), self.values("at.npy", "<6q")), (values, places))

    def test_keys(self):
        wanted = {"abs(x)": [1, 2, -3, 0, 4, -5], "x > 0 ? x : -x desc": [-3, 2, 1, -5, 4, 0], "int32: shop; x desc": [-3, 2, 1, 4, -5, 0],
                  "int32 : shop desc ; T: x": [1, 2, -3, 0, -5, 4]}
        for keys, values in wanted.items():
            with self.subTest(keys):
                self.ok("sort", "T x, int32 shop", "T y", keys, "y = x", "x.npy", "shop.npy", "-o", "y.npy", "--target", TARGET)
                self.assertEqual(self.values("y.npy", "<6f"), values)
        self.assertEqual(self.ok("sort", "T x, T a", "T y", "abs(x - a)", "y = x", "x.npy", "2", "--target", TARGET), "[[ 2.  1. -3.]\n [ 4.  0. -5.]]\n")

    def test_sources_and_bakes(self):
        self.assertIn("kn_counts", self.ok("source", "sort", *BOTH, "float32[50000]", "--arch", "sm_90"))
        self.assertIn("sort_rows", self.ok("explain", "sort", *BOTH, "float32[500,500]", "--axis", "0", "--descending", "--arch", "sm_90"))
        self.write("r", b"sort 'T x' 'T y' x 'y = x' 'float32[2,3]' --axis 1\n")
        said = self.ok("bake", "r", "--host", "host", "-o", "a.kiln")
        self.assertRegex(said, r"([1-9]) of \1 kernels")
        self.ok("sort", "T x", "T y", "x", "y = x", "x.npy", "-o", "y.npy", "--target", "host", KILN_BUNDLE_PATH="a.kiln", KILN_CACHE="off", KILN_COMPILE="never")
        self.assertEqual(self.values("y.npy", "<6f"), [-3, 1, 2, -5, 0, 4])

    def test_refusals(self):
        for words, said in ((("sort", *BOTH[:3]), "needs IN OUT KEYS BODY"), (("sort", *BOTH, "x.npy", "--reverse"), "--reverse"),
                            (("select", "T x", "T y", "x > 0", "y = x", "x.npy", "--descending"), "--descending")):
            with self.subTest(words):
                self.assertIn(said, self.refused(2, *words))
        for keys, said in (("x;", "keys[1].key is empty"), (";".join(["x"] * 17), "keys: 17 were given"), ("x y", "error: expected"), ("Z: x", "keys[0].type: 'Z' was given")):
            with self.subTest(keys):
                self.assertIn(said, self.refused(1, "sort", "T x", "T y", keys, "y = x", "x.npy", "--target", TARGET))
        self.assertIn("axis 2", self.refused(1, "sort", *BOTH, "x.npy", "--axis", "2", "--target", TARGET))
        self.assertIn("a sort has one axis", self.refused(1, "sort", *BOTH, "x.npy", "--axis", "0,1", "--target", TARGET))


if __name__ == "__main__":
    main()
