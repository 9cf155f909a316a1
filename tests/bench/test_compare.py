"""bench/compare.py writes its three files, with NumPy beside kiln where there is NumPy."""
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

COMPARE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "compare.py"
HAS_NUMPY = importlib.util.find_spec("numpy") is not None


class Compare(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-compare-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def compare(self, *words):
        env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")
        return subprocess.run([sys.executable, str(COMPARE), os.environ["KILN_COMMAND"], "--target", "host", "--scale", "0.002",
                               "--seconds", "0.002", "--out", str(self.folder), "--name", "here", *words],
                              env=env, text=True, capture_output=True)

    def lines(self):
        header, *lines = [json.loads(line) for line in (self.folder / "here.json").read_text().splitlines()]
        return header, {(line["row"], line["peer"]): line for line in lines}

    def test_three_files(self):
        run = self.compare("--rows", "E2,S1,H1", "--peers", "numpy")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        _, lines = self.lines()
        self.assertLessEqual({("E2", "kiln"), ("S1", "kiln"), ("H1", "kiln")}, set(lines))
        table = (self.folder / "here.md").read_text()
        self.assertIn("| E2 | add f32 |", table)
        root = xml.etree.ElementTree.parse(self.folder / "here.svg").getroot()
        self.assertTrue(root.tag.endswith("svg"))
        self.assertGreater(len(root), 10)

    @unittest.skipUnless(HAS_NUMPY, "this Python has no NumPy")
    def test_numpy_runs_the_same_rows(self):
        """Each family of rows in tools/soak, eight rows otherwise: tests/bench/test_bench.py runs all by kiln alone."""
        rows = ("E,B,S,R,F,N,X", "--scale", "0.01") if os.environ.get("KILN_SOAK") else ("E2,E3,E3f,E7b,F1,F5b,F5bf,F6",)
        self.compare("--rows", *rows, "--peers", "numpy")
        header, lines = self.lines()
        self.assertIn("numpy", header["peers"])
        mine = {row for row, peer in lines if peer == "kiln"}
        numpys = {row for row, peer in lines if peer == "numpy"}
        self.assertEqual(mine - numpys, {"E7b", "F5b", "F5bf", "F6"})  # NumPy has no bfloat16
        self.assertEqual(lines["E3f", "numpy"]["us"], lines["E3", "numpy"]["us"])  # measured once
        self.assertEqual([line for line in lines.values() if "error" in line], [])
        self.assertGreater(lines["E2", "numpy"]["gbs"], 0)

    def test_merge_keeps_other_rows(self):
        self.compare("--rows", "E1", "--peers", "none")
        self.compare("--rows", "E3", "--peers", "none", "--merge")
        self.assertEqual(set(self.lines()[1]), {("E1", "kiln"), ("E3", "kiln")})
        self.compare("--rows", "E3", "--peers", "none")
        self.assertEqual(set(self.lines()[1]), {("E3", "kiln")})

    def test_splits_of_reductions(self):
        run = self.compare("--sweep", "reduce", "--peers", "numpy", "--scale", "0.01")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        _, lines = self.lines()
        mine = {row for row, peer in lines if peer == "kiln"}
        # 2^14 elements: powers of four from 1 to 2^14, and 1 to 9, 63 to 65.
        self.assertLessEqual({"reduce:1x16384x1", "reduce:16384x1x1", "reduce:4x64x64", "reduce:1x5461x3", "reduce:5461x3x1",
                              "reduce:16x16x63", "reduce:1x252x65"}, mine)
        for row in mine:
            outer, reduced, inner = map(int, row[7:].split("x"))
            self.assertTrue(0.5 * 16384 <= outer * reduced * inner <= 16384, row)
        if HAS_NUMPY:
            self.assertEqual({row for row, peer in lines if peer == "numpy"}, mine)
        self.assertEqual([line for line in lines.values() if "error" in line], [])
        self.assertIn("| 4 | 64 | 64 |", (self.folder / "here.md").read_text())
        root = xml.etree.ElementTree.parse(self.folder / "here.svg").getroot()
        numbers = [node for node in root if node.tag.endswith("text") and (node.text or "").isdigit()]
        self.assertGreater(len(numbers), len(mine))

    def test_lengths_of_rows(self):
        run = self.compare("--sweep", "rows", "--peers", "numpy")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        _, lines = self.lines()
        mine = {row for row, peer in lines if peer == "kiln"}
        self.assertEqual(mine, {f"rows:{what}:{n}" for what in ("softmax", "layernorm") for n in (*(1 << k for k in range(21)), 1000, 1023, 50257)})
        if HAS_NUMPY:
            self.assertEqual({row for row, peer in lines if peer == "numpy"}, mine)
        self.assertEqual([line for line in lines.values() if "error" in line], [])
        self.assertIn("| rows:softmax:1024 | softmax, rows of 1024 |", (self.folder / "here.md").read_text())

    def test_refusals(self):
        self.assertIn("there is no peer 'abacus'", self.compare("--rows", "E1", "--peers", "abacus").stderr)
        run = self.compare("--rows", "nonsense")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("there is no row 'nonsense'", run.stderr)


if __name__ == "__main__":
    unittest.main()
