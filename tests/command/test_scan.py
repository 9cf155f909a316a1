"""kiln scan and kiln select: runs, files, what they print, what they refuse."""
import json
import struct
import unittest

from commanding import TARGET, CommandCase, floats, main, npy_bytes

SUM = ("T x", "float64 y", "x", "a + b", "y = a", "0")
LARGE = ("T x, T least", "T y, int64 at", "x >= least", "y = x; at = i")


class Scan(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy_bytes("<f4", (2, 3), floats(1, 2, 3, 4, -5, 6)))

    def values(self, name, form):
        data = (self.folder / name).read_bytes()
        return list(struct.unpack(form, data[-struct.calcsize(form):]))

    def test_sums_before_and_from_behind(self):
        wanted = {(): [1, 3, 6, 10, 5, 11], ("--axis", "1"): [1, 3, 6, 4, -1, 5], ("--axis", "-2"): [1, 2, 3, 5, -3, 9],
                  ("--reverse",): [11, 10, 8, 5, 1, 6], ("--exclusive", "--axis", "1"): [0, 1, 3, 0, 4, -1],
                  ("--exclusive", "--reverse", "--axis", "0,1"): [10, 8, 5, 1, 6, 0]}
        for options, values in wanted.items():
            with self.subTest(options):
                self.ok("scan", *SUM, "x.npy", *options, "-o", "y.npy", "--target", TARGET)
                self.assertEqual(self.values("y.npy", "<6d"), values)
        self.assertEqual(self.ok("scan", "T x", "T y", "x", "a > b ? a : b", "y = a", "-", "x.npy", "--target", TARGET), "[[1. 2. 3.]\n [4. 4. 6.]]\n")
        self.ok("scan", "T x", "T y", "last{x}", "last{b.x}", "y = a.x", "-", "x.npy", "-o", "z.npy", "--preamble", "struct last { float x; };", "--reduce-type",
                "last", "--target", TARGET)
        self.assertEqual(self.values("z.npy", "<6f"), [1, 2, 3, 4, -5, 6])

    def test_what_is_kept(self):
        self.ok("select", *LARGE, "x.npy", "3", "-o", "y.npy", "-o", "at.npy", "-o", "count.npy", "--target", TARGET)
        self.assertEqual((self.values("y.npy", "<3f"), self.values("at.npy", "<3q"), self.values("count.npy", "<q")), ([3, 4, 6], [2, 3, 5], [3]))
        self.assertEqual(self.ok("select", *LARGE, "x.npy", "3", "-o", "y.npy", "-o", "at.npy", "--target", TARGET), "3\n")
        self.assertEqual(self.ok("select", *LARGE, "x.npy", "30", "--target", TARGET), "[]\n[]\n0\n")
        said = self.json("select", *LARGE, "x.npy", "5", "-o", "y.npy", "-o", "at.npy", "-o", "n.npy", "--target", TARGET)
        self.assertEqual([o["shape"] for o in said["outputs"]], [[1], [1], []], json.dumps(said))

    def test_sources_and_bakes(self):
        for words in (("scan", *SUM), ("select", *LARGE)):
            array = ("float32[5000]",) if words[0] == "scan" else ("float32[5000]", "2")
            self.assertIn("look_back", self.ok("source", *words, *array, "--arch", "sm_90"))
            self.assertIn('tiles="2"', self.ok("explain", *words, *array, "--arch", "sm_90"))
        self.write("r", b"scan 'T x' 'T y' x 'a + b' 'y = a' 0 'float32[2,3]' --exclusive --axis 1\nselect 'T x' 'T y' 'x > 0' 'y = x' 'float32[6]'\n")
        self.assertIn("2 of 2 kernels", self.ok("bake", "r", "--host", "host", "-o", "a.kiln"))

    def test_refusals(self):
        for words, said in ((("scan", *SUM[:5]), "needs IN OUT MAP SCAN POST IDENTITY"), (("select", *LARGE[:3]), "needs IN OUT KEEP BODY"),
                            (("map", "T x", "T y", "y = x", "x.npy", "--exclusive"), "--exclusive"), (("select", *LARGE, "x.npy", "3", "--axis", "0"), "--axis"),
                            (("scan", *SUM, "x.npy", "--keepdims"), "--keepdims"),
                            (("select", *LARGE, "x.npy", "3", "-o", "y.npy"), "the kernel has 3 outputs, and -o was given 1 time"),
                            (("explain", "reduce", *SUM, "float32[3]", "--reverse"), "--reverse")):
            with self.subTest(words):
                self.assertIn(said, self.refused(2, *words))
        self.assertIn("is 'x.npy', an argument", self.refused(1, "scan", *SUM[:5], "x.npy"))
        self.assertIn("identity", self.refused(1, "scan", *SUM[:5], "-", "x.npy", "--exclusive", "--target", TARGET))
        self.assertIn("axis 2", self.refused(1, "scan", *SUM, "x.npy", "--axis", "2", "--target", TARGET))
        self.assertIn("keep", self.refused(1, "select", "T x", "T y", "x >", "y = x", "x.npy", "--target", TARGET))


if __name__ == "__main__":
    main()
