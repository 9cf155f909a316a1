"""bench/models: the costs by which sides and boxes are chosen are those that the script fits; what is committed reads and evaluates."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

MODELS = pathlib.Path(__file__).resolve().parents[2] / "bench" / "models"
MEASURE = os.environ.get("KILN_MEASURE_MODELS")


def fit(*arguments):
    return subprocess.run([sys.executable, "-B", MODELS / "fit.py", *arguments], capture_output=True, text=True)


@unittest.skipUnless(numpy, "there is no NumPy")
class Models(unittest.TestCase):
    @unittest.skipUnless(MEASURE, "KILN_MEASURE_MODELS does not name the program")
    def test_costs_are_the_librarys(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([MEASURE, folder, "--without-device"], check=True)
            done = fit(folder, "--check")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            tile = (pathlib.Path(folder) / "tile.csv").read_text().splitlines()
            self.assertGreater(len(tile), 1000)
            (pathlib.Path(folder) / "tile.csv").write_text("\n".join(line.replace(",2,", ",3,", 1) for line in tile))
            self.assertEqual(fit(folder, "--check").returncode, 1)  # other sides cost something else

    def test_what_is_chosen_now_is_no_worse_than_before(self):
        done = fit()
        self.assertEqual(done.returncode, 0, done.stderr)
        means = {}
        for line in done.stdout.splitlines():
            words = line.split()
            if words and words[0] in ("before", "now"):
                means.setdefault(words[0], []).append(float(words[2]))
        self.assertEqual(len(means["now"]), 2)
        for before, now in zip(means["before"], means["now"]):
            self.assertLess(now, before)


if __name__ == "__main__":
    unittest.main()
