"""kiln eval: expressions over files and numbers, results in files and printed, and what is refused."""
import json

from commanding import TARGET, CommandCase, floats, main, npy_bytes

NORMS = "sqrt(sum(a**2, axis=-1))"
PARTS = "m = mean(x, axis=0); d = x - m; d * 2, m"


class Eval(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("photo.npy", npy_bytes("<f4", (2, 2), floats(3, 4, 0, 2)))
        self.write("small.npy", npy_bytes("|u1", (3,), bytes([1, 2, 250])))

    def values(self, name):
        """The header and the bytes of a file that was written."""
        content = (self.folder / name).read_bytes()
        end = 10 + int.from_bytes(content[8:10], "little")
        header = eval(content[10:end])
        return header["descr"], header["shape"], content[end:]

    def test_the_norms_of_the_issue(self):
        self.ok("eval", NORMS, "a=photo.npy", "-o", "norms.npy", "--target", TARGET)
        self.assertEqual(self.values("norms.npy"), ("<f4", (2,), floats(5, 2)))

    def test_several_results(self):
        """Files go by order, and by name."""
        for words in (("-o", "d.npy", "-o", "m.npy"), ("-o", "m=m.npy", "-o", "d.npy"), ("-o", "d.npy", "-o", "m=m.npy"), ("-o", "m=m.npy", "-o", "out=d.npy")):
            with self.subTest(words=words):
                self.ok("eval", PARTS, "x=photo.npy", *words, "--target", TARGET)
                self.assertEqual(self.values("m.npy"), ("<f4", (2,), floats(1.5, 3)))
                self.assertEqual(self.values("d.npy"), ("<f4", (2, 2), floats(3, 2, -3, -2)))
                for name in ("m.npy", "d.npy"):
                    (self.folder / name).unlink()
        self.ok("eval", "a", "a=photo.npy", "-o", "./a=b.npy", "--target", TARGET)
        self.assertEqual(self.values("a=b.npy")[1], (2, 2))

    def test_no_argument_is_ignored(self):
        for words, name in ((("a + 1", "a=3", "b=4"), "b"), (("m = 2; m + 1", "m=3"), "m"), (("x.sum(axis=0)", "x=photo.npy", "axis=1"), "axis"), (("pi", "p=1"), "p")):
            for command in (("eval",), ("source", "eval"), ("cache", "explain", "eval")):
                with self.subTest(words=words, command=command):
                    self.assertIn(f"was given, and the expression does not use {name}", self.refused(1, *command, *words, "--target", "host"))
        self.assertEqual(self.ok("eval", "e + 1", "e=3", "--target", TARGET), "4\n")
        self.assertEqual(self.ok("eval", "sum(sum)", "sum=photo.npy", "--target", TARGET), "9.\n")

    def test_prints_what_no_file_takes(self):
        self.assertEqual(self.ok("eval", NORMS, "a=photo.npy", "--target", TARGET), "[5. 2.]\n")
        text = self.terminal_of("eval", NORMS, "a=photo.npy", "--target", TARGET)
        for expected in (f"target: {TARGET}", "times in ms", "  out: float32 [2]\n[5. 2.]\n"):
            self.assertIn(expected, text)
        self.assertEqual(self.ok("eval", PARTS, "x=photo.npy", "-o", "d.npy", "--target", TARGET), "[1.5 3. ]\n")
        text = self.terminal_of("eval", PARTS, "x=photo.npy", "-o", "d.npy", "--target", TARGET)
        self.assertTrue(text.endswith("  d.npy: float32 [2, 2]\n  m: float32 [2]\n[1.5 3. ]\n"), text)

    def test_numbers(self):
        """They do not widen the arrays; an expression needs no arguments at all."""
        for words, ends in (
                (("x + p", "x=small.npy", "p=5"), "  out: uint8 [3]\n[  6   7 255]\n"), (("x * p", "x=small.npy", "p=0.5"), "float64 [3]\n[  0.5   1.  125. ]\n"),
                (("arange(3) * 2",), "  out: int64 [3]\n[0 2 4]\n"), (("y = p > 1", "p=-1.5"), "  y: bool []\nFalse\n"),
                (("x[::-1].astype(int16)\nx.shape[0]", "x=small.npy"), None), (("p * 2", "p=1+2j"), "  out: complex128 []\n2.+4.j\n")):
            with self.subTest(words=words):
                if ends:
                    text = self.terminal_of("eval", *words, "--target", TARGET)
                    self.assertTrue(text.endswith(ends), text)
                else:
                    self.assertIn("nothing uses this value", self.refused(1, "eval", *words, "--target", TARGET))

    def test_operations_do_not_warn(self):
        """Nobody could mend the library's own texts; those that compare a number with itself are compiled for whole numbers, too. Of the user's own the
        compiler's warnings stay."""
        many = ("nansum(x), min(x), max(x), nanmin(x), nanmax(x), ptp(x), argmin(x), argmax(x), maximum(x, y), minimum(x, y), fmax(x, y), fmin(x, y), "
                "clip(x, 1, 100), mean(x), std(x)")
        self.assertEqual(self.kiln("eval", many, "x=small.npy", "y=small.npy", "--quiet", "--target", TARGET, KILN_FORMS="best").stderr, "")
        for pair in ("divmod(x, y)", "modf(x + y)", "frexp(x)[1] + y"):
            self.assertEqual(self.kiln("eval", pair, "x=small.npy", "y=3", "--quiet", "--target", TARGET, KILN_FORMS="best").stderr, "")
        said = self.kiln("map", "T x", "T y", "int unused; y = x + 17", "small.npy", "--quiet", "--target", TARGET).stderr
        self.assertRegex(said, r"kernel:1: warning: .*unused")

    def test_explain(self):
        text = self.terminal_of("eval", NORMS, "a=photo.npy", "--explain", "--target", TARGET)
        for expected in ("# 1 kernel: ", "reads a (16 bytes); writes out (8 bytes)", "[5. 2.]"):
            self.assertIn(expected, text)
        report = self.json("eval", NORMS, "a=photo.npy", "--explain", "--target", TARGET)
        self.assertIn("# 1 kernel", report["explanation"])
        self.assertNotIn("explanation", self.json("eval", NORMS, "a=photo.npy", "--target", TARGET))

    def test_places_are_looked_for(self):
        """No sort where few elements, or a place, of a long row are wanted."""
        for text, way in (("topk(x, 5)", "sort_top"), ("topk(x, 600)", "sort_count"), ("topk(x, 3000)", "sort_place"), ("partition(x, 7)", "sort_count"),
                          ("partition(x, (7, 9))", "sort_place"), ("median(x)", "sort_count"), ("nanquantile(x, 0.3)", "sort_count"), ("sort(x)", "sort_place")):
            for length in (10000, 4000):
                with self.subTest(text=text, length=length):
                    told = self.ok("explain", "eval", text, f"x=float32[{length}]", "--arch", "sm_90")
                    self.assertIn(f'schedule="{way if length > 4096 else "sort_rows"}"', told)
                    self.assertEqual('schedule="sort_place"' in told, way == "sort_place" and length > 4096)

    def test_json(self):
        report = self.json("eval", PARTS, "x=photo.npy", "-o", "m=m.npy", "--repeat", "2", "--target", TARGET)
        self.assertEqual(report["outputs"], [{"name": "out", "dtype": "float32", "shape": [2, 2], "text": "[[ 3.  2.]\n [-3. -2.]]"},
                                             {"file": "m.npy", "dtype": "float32", "shape": [2]}])
        for time in ("repeat_median", "repeat_best", "repeat_cpu_median", "repeat_cpu_best"):
            self.assertGreater(report["times_ms"][time], 0)
        self.assertEqual(report["bytes_written"], 16 + 8)
        self.assertGreater(report["bytes_per_second"], 0)

    # ---- what is refused ----

    def test_wrong_usage_ends_with_2(self):
        for words, expected in (
                ((), "needs EXPRESSION"), (("x", "photo.npy"), "'photo.npy': NAME=FILE or NAME=NUMBER was expected"),
                (("x", "=photo.npy"), "NAME=FILE"), (("x", "2x=photo.npy"), "NAME=FILE"), (("x", "x=photo.npy", "-o", "a", "-o", "b"), "has 1 output, and -o"),
                (("x", "x=photo.npy", "-o", "y=a.npy"), "-o y=a.npy: there is no result 'y'; the first is 'out'"),
                (("(x, x)", "x=photo.npy", "-o", "out=a.npy", "-o", "out=b.npy"), "-o out=b.npy: that result has a file"),
                (("x", "x=photo.npy", "--shape", "3"), "--shape is the shape of raw files, and goes with --raw DTYPE"), (("x", "x=photo.npy", "--explain=1"), "--explain takes no value"),
                (("x", "x=photo.npy", "--order", "G"), "--order"), (("-x", "x=photo.npy"), "there is no option '-x'")):
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(2, "eval", *words))
        self.assertIn("there is no option '--explain'", self.refused(2, "map", "T x", "T z", "z = x", "1", "--explain"))

    def test_bad_input(self):
        for words, expected in (
                (("x + foo", "x=photo.npy"), ["there is no name 'foo'", "x + foo\n      ^~~"]), (("x +", "x=photo.npy"), ["ends where a value was expected"]),
                (("x + 300", "x=small.npy"), ["300 does not fit uint8"]), (("x + y", "x=photo.npy", "y=small.npy"), ["(2, 2) and (3,) do not broadcast", "^"]),
                (("x", "x=missing.npy"), ["missing.npy"]), (("x", "x=photo.npy", "x=1"), ["'x' is there twice"]),
                (("sum(x, axis=2)", "x=photo.npy"), ["axis 2"]), (("x", "x=" + str(2**64)), ["'x'", str(2**64)])):
            with self.subTest(words=words):
                text = self.refused(1, "eval", *words, "-o", "y.npy", "--target", TARGET)
                for part in expected:
                    self.assertIn(part, text)
                self.assertFalse((self.folder / "y.npy").exists())

    def test_json_of_a_failure(self):
        run = self.kiln("eval", "x + foo", "x=photo.npy", "--json", "--target", TARGET)
        self.assertEqual(run.returncode, 1)
        self.assertIn("foo", json.loads(run.stdout)["message"])


main()
