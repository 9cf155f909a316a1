"""docs/language.md: what it shows is what the command prints, and `kiln help language` is that file."""
import os
import pathlib
import re
import subprocess

from commanding import COMMAND, CommandCase, main

MANUAL = pathlib.Path(__file__).parents[2] / "docs" / "language.md"


class Language(CommandCase):
    def test_examples_print_what_stands_there(self):
        blocks = re.findall(r"```console\n(.*?)```", MANUAL.read_text(), re.S)
        self.assertGreater(len(blocks), 5)
        env = self.environment(PATH=f"{pathlib.Path(COMMAND).parent}:{os.environ['PATH']}", KILN_TARGET="host")
        for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", "".join(blocks), re.M):
            with self.subTest(line=line):
                run = subprocess.run(["sh", "-c", line], cwd=self.folder, env=env, text=True, capture_output=True, timeout=60)
                said = "".join(x for x in run.stderr.splitlines(True) if not re.match(r"target: |kernel: |times in ms|  -: ", x))
                self.assertEqual((run.returncode, run.stdout, said), (0, expected, ""))

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
