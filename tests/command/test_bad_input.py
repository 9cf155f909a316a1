"""Each kind of bad input: exit code 1, a message that names what was wrong, and no output file."""
import os
import unittest

from commanding import TARGET, CommandCase, floats, main, npy_bytes

GOOD = npy_bytes("<f4", (3,), floats(1, 2, 3))


class BadInput(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("x.npy", GOOD)

    def map_refused(self, *words, o="z.npy", expect=()):
        text = self.refused(1, "map", *words, "-o", o, "--target", TARGET)
        for part in expect:
            self.assertIn(part, text)
        self.assertFalse((self.folder / "z.npy").exists())
        return text

    def file_refused(self, content, *expect):
        self.write("bad.npy", content)
        self.map_refused("T x", "T z", "z = x", "bad.npy", expect=["bad.npy", *expect])

    # ---- definitions ----

    def assert_caret(self, text, line, under):
        """The text is shown, with a caret under `under`."""
        lines = text.split("\n")
        shown = next(k for k, candidate in enumerate(lines) if candidate.strip() == line)
        self.assertEqual(lines[shown + 1].index("^"), lines[shown].index(under), text)

    def test_unknown_dtype(self):
        signature = "T x, float33 y"
        text = self.map_refused(signature, "T z", "z = x", "x.npy", "1", expect=["float33"])
        self.assert_caret(text, signature, "float33")

    def test_signatures_that_do_not_parse(self):
        for signature, under in (("T x T y", "T y"), ("T", None), ("T x,, T y", ", T y"), ("T x, raw", None), ("T 1x", "1x")):
            with self.subTest(signature=signature):
                text = self.map_refused(signature, "T z", "z = x", "x.npy", "1")
                self.assertIn(signature, text)
                self.assertIn("^", text)
                if under:
                    self.assert_caret(text, signature, under)

    def test_same_name_twice(self):
        self.map_refused("T x, T x", "T z", "z = x", "x.npy", "1", expect=["x"])
        self.map_refused("T x", "T x", "x = x", "x.npy", expect=["x"])

    def test_unbalanced_snippet(self):
        for body in ("z = (x", "z = x)", "if (x > 0) { z = x;", "z = x; }", "z = x[0", "z = '", 'z = "', "/* z = x;"):
            with self.subTest(body=body):
                self.map_refused("T x", "T z", body, "x.npy")

    def test_reserved_names(self):
        for name in ("i", "_ind", "__private", "_Private", "kn_x"):
            with self.subTest(name=name):
                self.map_refused(f"T {name}", "T z", "z = 1", "x.npy", expect=[name, "reserved"])

    def test_kernel_name(self):
        text = self.refused(1, "map", "T x", "T z", "z = x", "x.npy", "-o", "z.npy", "--name", "no name", "--target", TARGET)
        self.assertIn("no name", text)

    def test_compile_error_names_the_users_line(self):
        text = self.refused(1, "map", "T x", "T z", "T t = x;\nz = undefined_thing(t)", "x.npy", "-o", "z.npy", "--name",
                            "my_kernel", "--target", TARGET)
        self.assertIn("my_kernel:2: error:", text)
        self.assertIn("undefined_thing", text)

    # ---- arguments ----

    def test_wrong_number_of_arguments(self):
        self.map_refused("T x, T y", "T z", "z = x + y", "x.npy", expect=["1", "2"])
        self.map_refused("T x", "T z", "z = x", "x.npy", "x.npy", expect=["1", "2"])

    def test_placeholder_bound_to_two_dtypes(self):
        self.write("y.npy", npy_bytes("<f8", (3,), bytes(24)))
        self.map_refused("T left, T right", "T z", "z = left", "x.npy", "y.npy",
                         expect=["left", "right", "float32", "float64", "T"])

    def test_shapes_that_do_not_broadcast(self):
        self.write("y.npy", npy_bytes("<f4", (2, 4), bytes(32)))
        self.map_refused("T x, T y", "T z", "z = x + y", "x.npy", "y.npy", expect=["(3,)", "(2, 4)"])

    def test_given_output_of_another_shape(self):
        text = self.refused(1, "map", "T x", "float32 z", "z = x", "x.npy", "-o", "z.npy", "--shape", "4", "--target", TARGET)
        self.assertIn("(4,)", text)
        self.assertIn("(3,)", text)

    def test_output_type_that_nothing_binds(self):
        self.map_refused("T x", "U z", "z = x", "x.npy", expect=["U"])

    def test_integer_that_does_not_fit(self):
        self.write("y.npy", npy_bytes("|i1", (3,), bytes(3)))
        self.map_refused("T x, T y", "T z", "z = x + y", "y.npy", "300", expect=["300", "int8"])

    def test_numbers_beyond_64_bits(self):
        """They would be other numbers: -2^63-1 is none of int64, and its float is -2^63."""
        self.write("y.npy", npy_bytes("<i8", (3,), bytes(24)))
        self.write("u.npy", npy_bytes("<u8", (3,), bytes(24)))
        for file, number in (("y.npy", -2**63 - 1), ("y.npy", 2**64), ("u.npy", 2**64), ("x.npy", 10**400), ("y.npy", -10**30)):
            with self.subTest(file=file, number=number):
                self.map_refused("T x, T shift", "T z", "z = x + shift", file, str(number), expect=["'shift'", str(number)[:50], "18446744073709551615"])
        self.map_refused("T x, float64 s", "T z", "z = x * s", "x.npy", "1e999", expect=["'s'", "1e999", "1.797e308"])
        self.map_refused("T x, complex64 s", "T z", "z = x * s.re", "x.npy", "1-1e999j", expect=["'s'", "1-1e999j"])
        text = self.refused(1, "source", "T x, int64 n", "T z", "z = x + n", "x.npy", str(-2**63 - 1), "--arch", "sm_90")
        self.assertIn("'n'", text)

    def test_numbers_beyond_a_dtype(self):
        for dtype, number, words in (("int64", 2**63, "-9223372036854775808 to 9223372036854775807"), ("uint64", -1, "0 to 18446744073709551615"),
                                     ("uint8", 256, "0 to 255"), ("int32", "nan", "whole numbers"), ("int16", "1e5", "-32768 to 32767"),
                                     ("bool", 2, "0 or 1")):
            with self.subTest(dtype=dtype):
                self.map_refused(f"T x, {dtype} s", "T z", "z = x * s", "x.npy", str(number), expect=["'s'", dtype, words])

    # ---- files ----

    def test_missing_file(self):
        self.map_refused("T x", "T z", "z = x", "nowhere.npy", expect=["nowhere.npy"])

    def test_folder_as_file(self):
        self.map_refused("T x", "T z", "z = x", ".")

    def test_truncated_files(self):
        for length in (0, 5, 8, 9, 30, len(GOOD) - 13, len(GOOD) - 12, len(GOOD) - 1):
            with self.subTest(length=length):
                self.file_refused(GOOD[:length])

    def test_not_a_npy_file(self):
        self.file_refused(b"PK\x03\x04" + bytes(100), "npy")

    def test_object_dtype(self):
        self.file_refused(npy_bytes("|O", (3,), bytes(24)), "object")

    def test_other_dtypes(self):
        for descr in ("<U4", "|S3", "<M8[ns]", "<f16", [("a", "<f4")]):
            with self.subTest(descr=descr):
                self.file_refused(npy_bytes(descr, (3,), bytes(48)))

    def test_odd_headers(self):
        for shape in ((-3,), (2**62, 8), (3,) * 65):
            with self.subTest(shape=shape):
                self.file_refused(npy_bytes("<f4", shape, bytes(12)))
        self.file_refused(GOOD.replace(b"'shape'", b"'shade'"))
        self.file_refused(GOOD.replace(b"NUMPY\x01", b"NUMPY\x09"), "version")

    def test_unwritable_output(self):
        (self.folder / "folder").mkdir()
        for target in ("nowhere/z.npy", "folder"):
            with self.subTest(target=target):
                self.map_refused("T x", "T z", "z = x", "x.npy", o=target, expect=[target])
        self.assertEqual(os.listdir(self.folder / "folder"), [])

    # ---- targets ----

    def test_unknown_targets(self):
        for name in ("gpu", "cuda:", "cuda:x", "cuda:4096", ""):
            with self.subTest(name=name):
                text = self.refused(1, "map", "T x", "T z", "z = x", "x.npy", "-o", "z.npy", "--target", name)
                self.assertNotEqual(text, "")
        text = self.refused(1, "source", "T x", "T z", "z = x", "--arch", "sm_12345")
        self.assertIn("sm_12345", text)

    def test_target_of_the_environment(self):
        text = self.refused(1, "map", "T x", "T z", "z = x", "x.npy", "-o", "z.npy", KILN_TARGET="nonsense")
        self.assertIn("nonsense", text)

    def test_no_compiler(self):
        if TARGET != "host":
            raise unittest.SkipTest("about the host compiler")
        text = self.refused(1, "map", "T x", "T z", "z = x + 77", "x.npy", "-o", "z.npy", "--target", "host",
                            KILN_CXX="/nowhere/c++")
        self.assertIn("/nowhere/c++", text)


main()
