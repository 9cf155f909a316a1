"""`kiln help language` is docs/language.md, the README's first program an example. (What the manual shows is run by tests/docs.)"""
import pathlib

from commanding import CommandCase, main

MANUAL = pathlib.Path(__file__).parents[2] / "docs" / "language.md"


class Language(CommandCase):
    def test_help_prints_the_manual(self):
        self.assertEqual(self.ok("help", "language"), MANUAL.read_text())
        self.assertIn("help language", self.ok("--help"))
        self.assertIn("there is no help about 'latin'", self.refused(2, "help", "latin"))

    def test_the_first_program_is_an_example(self):
        source = (MANUAL.parents[1] / "examples" / "first.c").read_text()
        self.assertIn("```c\n" + source[source.index("#include"):] + "```", (MANUAL.parents[1] / "README.md").read_text())

    def test_float_in_a_signature(self):
        floats = self.write("x.csv", b"1.5\n")
        self.ok("eval", "x.astype(float32)", f"x={floats}", "-o", "x.npy")
        self.assertEqual(self.refused(1, "map", "float x", "T y", "y = x", "x.npy", "--name", "k"),
                         "kiln: k: 'x' is declared float, which is NumPy's float64 (C's is float32), but an array of float32 was given\n")


main()
