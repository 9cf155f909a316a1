"""kiln reduce: results in files and printed, axes, identities, and what is refused."""
import json
import struct

from commanding import TARGET, CommandCase, floats, main, npy_bytes

SUM = ("T x", "T y", "x", "a + b", "y = a", "0")
LARGEST = ("T x", "T y", "x", "a > b ? a : b", "y = a", "-")
BEST = "struct best { float value; int at; };\n" \
       "__device__ best better(best a, best b) { return b.value > a.value || (b.value == a.value && b.at < a.at) ? b : a; }"


class Reduce(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("x.npy", npy_bytes("<f4", (2, 3), floats(1, -2, 3, 4, 5, -6)))

    def values(self, name):
        """Shape and bytes of a file that was written."""
        content = (self.folder / name).read_bytes()
        end = 10 + int.from_bytes(content[8:10], "little")
        return eval(content[10:end])["shape"], content[end:]

    def reduce(self, *words, warning=None):
        self.ok("reduce", *words, "-o", "y.npy", "--target", TARGET, warning=warning)
        return self.values("y.npy")

    def test_the_norms_of_the_issue(self):
        self.write("photo.npy", npy_bytes("<f4", (2, 2), floats(3, 4, 0, 2)))
        words = ("T x", "T y", "x*x", "a+b", "y = sqrt(a)", "0", "photo.npy")
        self.assertEqual(self.reduce(*words, "--axis", "-1"), ((2,), floats(5, 2)))

    def test_axes(self):
        for words, shape, values in (
                ((), (), (5,)), (("--axis", "0"), (3,), (5, 3, -3)), (("--axis", "-1"), (2,), (2, 3)), (("--axis=0,1",), (), (5,)),
                (("--axis", "1", "--axis", "0"), (), (5,)), (("--axis", "-1", "--keepdims"), (2, 1), (2, 3)),
                (("--keepdims",), (1, 1), (5,)), (("--axis", "none"), (2, 3), (1, -2, 3, 4, 5, -6))):
            with self.subTest(words=words):
                self.assertEqual(self.reduce(*SUM, "x.npy", *words), (shape, floats(*values)))

    def test_several_outputs_of_a_struct(self):
        self.ok("reduce", "T x", "T value, int32 at", "best{x, (int)_J}", "better(a, b)", "value = a.value; at = a.at", "-", "x.npy", "--axis",
                "1", "--preamble", BEST, "--reduce-type", "best", "--name", "best_of", "-o", "value.npy", "-o", "at.npy", "--target", TARGET)
        self.assertEqual(self.values("value.npy"), ((2,), floats(3, 5)))
        self.assertEqual(self.values("at.npy"), ((2,), (2).to_bytes(4, "little") + (1).to_bytes(4, "little")))

    def test_reduce_type(self):
        """Fourteen times 10 wraps in int8; the sum is taken in int8 or in int32."""
        self.write("small.npy", npy_bytes("|i1", (14,), bytes([10] * 14)))
        words = ("int8 x", "int32 y", "x", "a + b", "y = a", "0", "small.npy")
        self.assertEqual(self.reduce(*words, "--reduce-type", "int8", warning="int8, which wraps")[1], (-116).to_bytes(4, "little", signed=True))
        self.assertEqual(self.reduce(*words)[1], (140).to_bytes(4, "little"))

    def test_narrow_integers_are_warned_of(self):
        """Sums and products that wrap in 8 or 16 bits; once for many files, and not where nothing can wrap."""
        for name in ("x.npy", "x2.npy"):
            self.write(name, npy_bytes("|u1", (4,), bytes([100, 101, 102, 103])))
        self.write("s.npy", npy_bytes("<i2", (4,), struct.pack("<4h", 1, 2, 3, 4)))
        for dtype, most, words in (("int8", 127, ("T x", "int8 y", "x", "a * b", "y = a", "1", "x.npy")),
                                   ("uint8", 255, ("T x", "int64 y", "x", "a + b", "y = a", "0", "x.npy", "--reduce-type", "T")),
                                   ("int16", 32767, ("T x", "T y", "x", "a + b", "y = a", "0", "s.npy")),
                                   ("uint8", 255, ("T x", "T y", "x", "a + b", "y = a", "0", "x*.npy", "-o", "of_{}.npy"))):
            with self.subTest(words=words):
                self.ok("reduce", *words, "--quiet", "--target", TARGET, warning=f"^kiln: warning: 'a [+*] b' is computed in {dtype}, which wraps beyond {most}: ")
        for words in (("T x", "float32 y", "x", "a + b", "y = a", "0", "x.npy"), ("T x", "T y", "x", "a > b ? a : b", "y = a", "0", "x.npy")):
            with self.subTest(words=words):
                self.ok("reduce", *words, "--quiet", "--target", TARGET)

    def test_scalars_and_several_inputs(self):
        words = ("T x, T y, T s", "T z", "x * y + s", "a + b", "z = a", "0", "x.npy", "x.npy", "0.5", "--axis", "1")
        self.assertEqual(self.reduce(*words)[1], floats(15.5, 78.5))

    def test_given_outputs(self):
        self.assertEqual(self.reduce(*SUM, "x.npy", "--axis", "0", "--shape", "3")[1], floats(5, 3, -3))
        text = self.refused(1, "reduce", *SUM, "x.npy", "--axis", "0", "--shape", "2", "-o", "y.npy", "--target", TARGET)
        self.assertIn("(2,)", text)
        self.assertIn("(3,)", text)

    def test_identities(self):
        self.write("none.npy", npy_bytes("<f4", (2, 0)))
        self.assertEqual(self.reduce(*SUM[:5], "7", "none.npy", "--axis", "1"), ((2,), floats(7, 7)))
        for none in ("-", ""):
            with self.subTest(identity=none):
                text = self.refused(1, "reduce", *LARGEST[:5], none, "none.npy", "--axis", "1", "--target", TARGET)
                self.assertIn("axis 1 has no elements", text)
                self.assertEqual(self.reduce(*LARGEST[:5], none, "x.npy")[1], floats(5))
        self.assertEqual(self.reduce(*SUM[:5], "-1", "none.npy", "--axis", "1")[1], floats(-1, -1))
        self.assertEqual(self.reduce(*SUM[:5], "(-INFINITY)", "none.npy", "--axis", "1")[1], floats(*[float("-inf")] * 2))

    def test_prints_what_no_file_takes(self):
        text = self.terminal_of("reduce", *SUM, "x.npy", "--axis", "1", "--target", TARGET)
        for expected in (f"target: {TARGET}", "times in ms", "  y: float32 [2]\n[2. 3.]\n"):
            self.assertIn(expected, text)
        self.assertTrue(self.terminal_of("reduce", *SUM, "x.npy", "--target", TARGET).endswith("  y: float32 []\n5.\n"))
        self.assertEqual(self.ok("reduce", *SUM, "x.npy", "--target", TARGET), "5.\n")
        text = self.terminal_of("reduce", "T x", "T low, int64 count", "x", "a < b ? a : b", "low = a; count = _in_ind.size()", "-", "x.npy", "--target", TARGET)
        self.assertTrue(text.endswith("  low: float32 []\n-6.\n  count: int64 []\n6\n"), text)
        self.assertEqual([p.name for p in self.folder.iterdir()], ["x.npy"])

    def test_prints_a_screenful_at_most(self):
        for count, ends in ((1000, "997. 998. 999.]\n"), (1001, " 998.  999. 1000.]\n  (shown without its middle; -o FILE takes all of it)\n")):
            with self.subTest(count=count):
                self.write("long.npy", npy_bytes("<f4", (count,), floats(*range(count))))
                text = self.terminal_of("reduce", *SUM, "long.npy", "--axis", "none", "--target", TARGET)
                self.assertTrue(text.endswith(ends), text)
                self.assertEqual("..." in text, count > 1000)

    def test_json(self):
        report = self.json("reduce", *SUM, "x.npy", "--axis", "1", "--target", TARGET)
        self.assertEqual(report["outputs"], [{"name": "y", "dtype": "float32", "shape": [2], "text": "[2. 3.]"}])
        report = self.json("reduce", *SUM, "x.npy", "--axis", "1", "-o", "y.npy", "--target", TARGET, "--repeat", "3")
        self.assertEqual(report["outputs"], [{"file": "y.npy", "dtype": "float32", "shape": [2]}])
        self.assertGreater(report["times_ms"]["repeat_median"], 0)

    # ---- what is refused ----

    def test_a_missing_identity_is_said(self):
        said = self.refused(1, "reduce", *SUM[:5], "x.npy")
        self.assertIn("IDENTITY, the sixth word, is 'x.npy', an argument: it is the result where there is nothing to reduce, such as 0", said)
        self.assertIn("is 'float32[3]', an argument", self.refused(1, "source", "reduce", *SUM[:5], "float32[3]", "--target", "host"))
        self.assertIn("needs IDENTITY as its sixth word", self.refused(2, "reduce", *SUM[:5]))

    def test_wrong_usage_ends_with_2(self):
        for words, expected in (
                (("T x", "T y", "x", "a + b"), "needs IN OUT MAP REDUCE POST IDENTITY"), (("T x", "T y", "x", "a + b", "y = a"), "needs IDENTITY as its sixth word"),
                ((*SUM, "x.npy", "--axis", "x"), "or 0,2, or none, not 'x'"), ((*SUM, "x.npy", "--axis", ""), "not ''"),
                ((*SUM, "x.npy", "--axis", "0,"), "not '0,'"), ((*SUM, "x.npy", "--axis", "0,none"), "not '0,none'"),
                ((*SUM, "x.npy", "--axis", "0", "--axis", "none"), "not 'none'"), ((*SUM, "x.npy", "--axis", "1e1"), "not '1e1'"),
                ((*SUM, "x.npy", "--axis", "99999999999"), "not '99999999999'"), ((*SUM, "x.npy", "--axis", ",".join("0" * 65)), "up to 64 axes"),
                ((*SUM, "x.npy", "--axis"), "--axis needs N[,N...]"), ((*SUM, "x.npy", "--keepdims=1"), "--keepdims takes no value"),
                ((*SUM, "x.npy", "-o", "a", "-o", "b"), "the kernel has 1 output, and -o was given 2 times"),
                (("T x", "T y, T z", "x", "a + b", "y = z = a", "0", "x.npy", "-o", "a"), "the kernel has 2 outputs, and -o was given 1 time"),
                ((*SUM, "x.npy", "--order", "G"), "--order")):
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(2, "reduce", *words))
        self.assertIn("there is no option '--axis'", self.refused(2, "map", "T x", "T z", "z = x", "1", "--axis", "0"))

    def test_bad_input(self):
        for words, expected in (
                ((*SUM, "x.npy", "--axis", "2"), ["axis 2 was given", "has 2"]), ((*SUM, "x.npy", "--axis", "0,-2"), ["axis -2 was given before"]),
                ((*SUM, "missing.npy"), ["missing.npy"]), ((*SUM, "x.npy", "x.npy"), ["2", "1"]),
                (("T x", "T y", "(x", "a + b", "y = a", "0", "x.npy"), ["map:1:"]),
                (("T x", "T y", "x", "a + b", "y == a", "0", "x.npy"), ["post:1:1: output 'y' is never assigned"]),
                (("T x", "T y", "x", "a + c", "y = a", "0", "x.npy"), ["'c'" if TARGET == "host" else "c"]),
                ((*SUM, "x.npy", "--reduce-type", "Q"), ["Q"]), ((*SUM, str(2**64)), ["'x'", str(2**64)])):
            with self.subTest(words=words):
                text = self.refused(1, "reduce", *words, "-o", "y.npy", "--target", TARGET)
                for part in expected:
                    self.assertIn(part, text)
                self.assertFalse((self.folder / "y.npy").exists())

    def test_json_of_a_failure(self):
        run = self.kiln("reduce", *SUM, "x.npy", "--axis", "5", "--json", "--target", TARGET)
        self.assertEqual(run.returncode, 1)
        self.assertIn("axis 5", json.loads(run.stdout)["message"])


main()
