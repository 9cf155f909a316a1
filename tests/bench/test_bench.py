"""kiln bench: its JSON, its choice of rows, and how it refuses."""
import inspect
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "numpy"))
from drawn import SOAK, drawn  # noqa: E402

COMMAND = os.environ["KILN_COMMAND"]
SCALE = 0.002
COLUMNS_SCALE = 0.01  # a deviation along a column needs several rows
SMALL = ("--target", "host", "--size-scale", str(SCALE), "--seconds", "0.002")


class Bench(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="kiln-bench-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def setUp(self):
        """Of the tests that measure rows, whose kernels are compiled, half are drawn."""
        measuring = [name for name in dir(type(self)) if name.startswith("test_") and "self.rows(" in inspect.getsource(getattr(self, name))]
        if not hasattr(Bench, "todo"):
            Bench.todo = measuring if SOAK else drawn(measuring, 2)
        if self._testMethodName in measuring and self._testMethodName not in Bench.todo:
            self.skipTest("drawn at another run")

    def kiln(self, *words):
        env = dict(os.environ, TMPDIR=self.folder)
        return subprocess.run([COMMAND, "bench", *words], env=env, text=True, capture_output=True,
                              stdin=subprocess.DEVNULL)

    def rows(self, names, scale=SCALE):
        run = self.kiln("--row", names, *SMALL, "--size-scale", str(scale), "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, "")
        header, *rows = [json.loads(line) for line in run.stdout.splitlines()]
        return header, rows

    def test_is_a_program_of_its_own(self):
        beside = pathlib.Path(COMMAND).resolve().parent / "kiln-bench"
        by_itself = subprocess.run([beside, "--list"], text=True, capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual((by_itself.returncode, by_itself.stdout), (0, self.kiln("--list").stdout))
        version = subprocess.run([beside, "--version"], text=True, capture_output=True)
        self.assertRegex(version.stdout, r"^kiln-bench \d+\.\d+\.\d+\n$")

    def alone(self, path, *words):
        """kiln in a folder without kiln-bench."""
        folder = pathlib.Path(self.folder) / "alone"
        folder.mkdir(exist_ok=True)
        shutil.copy(COMMAND, folder / "kiln")
        env = dict(os.environ, PATH=path, LD_LIBRARY_PATH=str(pathlib.Path(COMMAND).resolve().parent))
        return subprocess.run([folder / "kiln", "bench", *words], env=env, text=True, capture_output=True, stdin=subprocess.DEVNULL)

    def test_lies_on_path(self):
        run = self.alone("/nowhere:" + str(pathlib.Path(COMMAND).resolve().parent), "--list")
        self.assertEqual((run.returncode, run.stdout), (0, self.kiln("--list").stdout), run.stderr)

    def test_is_not_there(self):
        run = self.alone("/nowhere", "--list")
        self.assertEqual(run.returncode, 1)
        self.assertIn("kiln-bench, which lies beside kiln or on PATH, and could not be started: No such file", run.stderr)
        run = self.alone("/nowhere", "--json")
        self.assertIn("kiln-bench", json.loads(run.stdout)["message"])

    def test_fields(self):
        header, rows = self.rows("E2")
        for key in ("device", "driver", "cuda", "date", "kiln", "target", "size_scale"):
            self.assertIn(key, header)
        self.assertEqual(header["target"], "host")
        self.assertEqual(header["size_scale"], SCALE / 16)
        (row,) = rows
        self.assertEqual((row["row"], row["peer"], row["mode"]), ("E2", "kiln", "wall"))
        # Three arrays of 2^28 float32 elements, scaled, in multiples of 256.
        self.assertEqual(row["bytes"], 3 * 4 * 256 * round((1 << 20) * header["size_scale"]))
        self.assertTrue(math.isclose(row["gbs"], row["bytes"] / row["us"] / 1e3, rel_tol=1e-3))
        self.assertTrue(math.isclose(row["floor_gbs"], row["bytes"] / row["floor_us"] / 1e3, rel_tol=1e-3))
        self.assertGreaterEqual(row["checked"], 1000)
        self.assertTrue(0 < row["min_us"] <= row["p10_us"] <= row["us"] <= row["p90_us"])

    def test_every_row_is_right(self):
        """A row whose result is wrong fails. One in sixteen is drawn; tools/soak has all."""
        listed = [line.split()[0] for line in self.kiln("--list", "--target", "host").stdout.splitlines()]
        for letters, least, scale in (("EBSRFX", 70, SCALE), ("N", 19, COLUMNS_SCALE)):
            names = [name for name in listed if re.fullmatch(f"[{letters}]\\d+[a-z]*", name)]
            self.assertGreaterEqual(len(names), least)
            names = drawn(names, 16)
            _, rows = self.rows(",".join(names), scale)
            self.assertEqual([row["row"] for row in rows if "error" in row], [])
            self.assertEqual({row["row"] for row in rows}, set(names))
            self.assertEqual([row["row"] for row in rows if row["row"] == "R13b" and (row["gbs"] is not None or row["checked"] != 1)], [])

    def test_reductions(self):
        """Bytes are the input's and the results'; every result is checked where there are few."""
        header, rows = self.rows("R2,R8,R8b,R11,R13,F7")
        found = {row["row"]: row for row in rows}
        side = 16 * round(1024 * math.sqrt(header["size_scale"]))
        self.assertEqual(found["R2"]["bytes"], 4 * (side * side + side))
        self.assertEqual(found["R8"]["bytes"], 4 * side * side + 8 * side)
        self.assertTrue(math.isclose(found["R13"]["bytes"], 4 * ((1 << 20) + 1), rel_tol=1e-5))
        self.assertEqual({name: row["checked"] for name, row in found.items()},
                         {"R2": side, "R8": side, "R8b": side, "R11": 16, "R13": 1, "F7": side})
        self.assertTrue(all(row["floor_us"] > 0 for row in rows))

    def test_whole_rows(self):
        """Bytes are those of the arrays; rows are checked from end to end."""
        _, rows = self.rows("F2b,F3,F6,F8,F8b,F9,F10,F10b,F10c")
        found = {row["row"]: row for row in rows}
        scale = SCALE / 16
        long, short, half, labelled, given = (round(n * scale) for n in (4096, 65536, 65536, 16384, 32768))
        self.assertEqual({name: row["bytes"] for name, row in found.items()},
                         {"F2b": 8 * long * 32768, "F3": 8 * short * 1024 + 8 * 1024, "F6": 4 * half * 4096 + 2 * 4096,
                          "F8": 4 * labelled * 50256 + 12 * labelled, "F8b": 4 * labelled * 50256 + 12 * labelled, "F9": 12 * given * 4096,
                          "F10": 6 * given * 4096 + 2 * 4096 + 4 * given, "F10b": 4 * given * 4096 + 4 * 4096 + 4 * given,
                          "F10c": 6 * given * 4096 + 6 * 4096 + 4 * given})
        self.assertEqual({name: row["checked"] for name, row in found.items()},
                         {"F2b": long * 32768, "F3": short * 1024, "F6": half * 4096, "F8": labelled, "F8b": labelled, "F9": given * 4096,
                          "F10": given * 4096, "F10b": 4096 // 32, "F10c": given * 4096 + 4096 // 32})

    def test_over_any_axis(self):
        """Bytes are those of all inputs and of all results; columns are checked from end to end."""
        _, rows = self.rows("N1,N5,N9,N11", COLUMNS_SCALE)
        found = {row["row"]: row for row in rows}
        points = round(10 ** 7 * COLUMNS_SCALE / 16)
        for name, size in {"N1": 8 * 41 * 1024, "N5": 8 * 256 * 56 * 56 + 6 * 4 * 256, "N9": 4 * 8 * (points + 16) + 8 * points,
                           "N11": 2 * 16 * 151 * 512 + 8 * 16 * 512}.items():
            self.assertTrue(math.isclose(found[name]["bytes"], size, rel_tol=1e-5), name)
        self.assertEqual({name: row["checked"] for name, row in found.items()},
                         {"N1": 128 * 41, "N5": 128 * (56 * 56 + 2), "N9": 128, "N11": 2 * 128})

    def test_as_many_rows_as_elements(self):
        """A scale as long as a row is none for each row."""
        run = self.kiln("--row", "F3", "--target", "host", "--size-scale", "0.25", "--seconds", "0.01", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        row = json.loads(run.stdout.splitlines()[1])
        self.assertEqual(row["bytes"], 8 * 1024 * 1024 + 8 * 1024)

    def test_lengths_and_the_papers_table(self):
        names = "rows:softmax:1,rows:softmax:1023,rows:layernorm:8,rows:layernorm:65536,program:rmsnorm:bf2:4096x32768,paper:1e4"
        _, rows = self.rows(names)
        self.assertEqual({row["row"] for row in rows}, set(names.split(",")))
        elements = (1 << 26) * SCALE / 16
        for row in rows:
            if row["row"].startswith("rows:"):
                self.assertTrue(0.4 * elements <= row["bytes"] / 8 <= max(elements, 3 * 65536), row)
        self.assertEqual([row["mode"] for row in rows if row["row"] == "paper:1e4"], ["wall"])
        listed = {line.split()[0] for line in self.kiln("--list", "--target", "host").stdout.splitlines()}
        for name in ("rows:softmax:1048576", "rows:layernorm:50257", "program:softmax:f4:512x262144", "paper:1e7"):
            self.assertIn(name, listed)
        self.assertNotIn("paper:1e8", listed)  # 4e8, times the scale, at most

    def test_calls_and_first_use(self):
        _, rows = self.rows("H,C1,C1s,C2d,C3,C4,C4b,C5")
        found = {row["row"]: row for row in rows}
        self.assertEqual(set(found), {"H1", "H2", "H4", "H5", "H6", "H7", "H8", "H10", "C1", "C1s", "C2d", "C3", "C4", "C4b", "C5"})
        self.assertGreater(found["C3"]["us"], found["C3"]["compile_ms"] * 1e3)
        self.assertLess(found["C5"]["us"], found["C3"]["us"])  # nothing is compiled
        self.assertEqual(found["H1"]["mode"], "enqueue")
        self.assertIsNone(found["H1"]["gbs"])
        self.assertGreater(found["C1"]["compile_ms"], 0)
        self.assertGreater(found["C1"]["us"], found["C1"]["compile_ms"] * 1e3)
        self.assertGreater(found["C1s"]["us"], found["C1s"]["compile_ms"] * 1e3)
        self.assertLess(found["C4"]["us"], found["C1"]["us"])
        self.assertLess(found["C4b"]["us"], found["C2d"]["us"])

    def test_sweeps_are_asked_for(self):
        _, rows = self.rows("E1")
        self.assertEqual([row["row"] for row in rows], ["E1"])
        _, rows = self.rows("E1@2^1,B1@2^12,chain@2^10,P8:0123,Podd1:4321")
        self.assertEqual([row["row"] for row in rows], ["E1@2^10", "E1@2^12", "B1@2^12", "E1@2^14", "E1@2^16", "E1@2^18",
                                                        "chain@2^10", "P8:01234", "Podd1:43210"])

    def test_sweep_by_name(self):
        run = self.kiln("--sweep", "B1", *SMALL, "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        names = [json.loads(line)["row"] for line in run.stdout.splitlines()[1:]]
        self.assertEqual(names, [f"B1@2^{bits}" for bits in range(10, 20, 2)])
        run = self.kiln("--sweep", "nonsense", *SMALL)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("there is no sweep 'nonsense'", run.stderr)

    def test_table_for_people(self):
        run = self.kiln("--row", "E1", *SMALL)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("copy f32", run.stdout.splitlines()[-1])

    def test_unknown_row(self):
        run = self.kiln("--row", "E2,nonsense", *SMALL)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("there is no row 'nonsense'", run.stderr)
        for name in ("E12", "E12f", "E7b", "B4", "S7", "S4f", "R13b", "F2b", "F7", "F8", "H8", "H10", "C2e", "C3c", "C4b", "C5"):
            self.assertIn(f"  {name} ", run.stderr)

    def test_list(self):
        names = [line.split()[0] for line in self.kiln("--list", "--target", "host").stdout.splitlines()]
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(sum(name.startswith("P4:") for name in names), 120)

    def test_bad_options(self):
        for words in (("--size-scale", "0"), ("--size-scale", "x"), ("--seconds", "-1"), ("rows",)):
            self.assertEqual(self.kiln(*words).returncode, 2, words)
        self.assertEqual(self.kiln("--target", "abacus").returncode, 1)
        run = self.kiln("child-E1", "--target", "host")
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertIn("no row of first use behind 'child-E1'", run.stderr)


if __name__ == "__main__":
    unittest.main()
