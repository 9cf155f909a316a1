"""What the tests of the command share: a private cache, running the command, and .npy files without NumPy."""
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

COMMAND = os.environ["KILN_COMMAND"]
TARGET = os.environ.get("KILN_TEST_TARGET", "host")


def npy_bytes(descr, shape, data=b"", fortran=False, version=1):
    """A .npy file by hand, so that damaged and foreign ones can be made."""
    header = f"{{'descr': {descr!r}, 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    header += " " * (63 - (len(header) + 10) % 64) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + data


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class CommandCase(unittest.TestCase):
    """One cache for each class, a fresh folder for each test."""

    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.mkdtemp(prefix="kiln-command-")

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.cache)

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-command-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def environment(self, **changes):
        env = dict(os.environ, KILN_CACHE_DIR=self.cache)
        env.update(changes)
        return env

    def kiln(self, *words, **changes):
        words = [COMMAND, *map(str, words)]
        return subprocess.run(words, cwd=self.folder, env=self.environment(**changes), text=True,
                              stdin=subprocess.DEVNULL, capture_output=True)

    def ok(self, *words, warning=None, **changes):
        """What the command prints; its standard error is empty, or one warning that says so. That of a command which runs a kernel has a report as well,
        which is kept in self.report."""
        run = self.kiln(*words, **changes)
        self.assertEqual(run.returncode, 0, f"{words}: {run.stdout}{run.stderr}")
        said, begin, self.report = run.stderr.partition("target: ")
        self.report = begin + self.report
        self.assertEqual(bool(begin), words[0] in ("map", "reduce", "scan", "select", "sort", "eval") and not {"--quiet", "--json", "--help"} & set(words), run.stderr)
        self.assertNotIn("kiln: ", self.report)
        if warning is None:
            self.assertEqual(said, "")
        else:
            self.assertRegex(said, warning)
            self.assertEqual(said.count("\n"), 1, run.stderr)
        return run.stdout

    def terminal_of(self, *words, **changes):
        """What stands on a terminal after a command that went right: standard output and standard error, as they come."""
        run = subprocess.run([COMMAND, *map(str, words)], cwd=self.folder, env=self.environment(**changes), text=True, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        self.assertEqual(run.returncode, 0, f"{words}: {run.stdout}")
        return run.stdout

    def json(self, *words, **changes):
        return json.loads(self.ok(*words, "--json", **changes))

    def refused(self, code, *words, **changes):
        """The error text of a command that has to end with that exit code, and without a sanitizer's report."""
        run = self.kiln(*words, **changes)
        self.assertEqual(run.returncode, code, f"{words}: {run.stdout}{run.stderr}")
        self.assertNotIn("Sanitizer", run.stderr)
        self.assertNotIn("runtime error", run.stderr)
        return run.stderr

    def write(self, name, content):
        (self.folder / name).write_bytes(content)
        return name


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
