"""What a kernel is found by: a byte of a header that it includes and the compiler's words make another kernel; where and as whom one works does not."""
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from commanding import COMMAND, CommandCase, floats, main, npy_bytes


class Keys(CommandCase):
    def setUp(self):
        super().setUp()
        self.cache = str(self.folder / "cache")
        self.header = self.folder / "scale.h"
        self.header.write_text("#define SCALE 3\n")
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))

    def origin(self, expected=(3, 6, 9), cwd=None, command=COMMAND, **changes):
        """Where a kernel that includes the header comes from, and that it is right."""
        words = [command, "map", "T x", "T y", "y = x * SCALE", str(self.folder / "x.npy"), "-o", str(self.folder / "y.npy"), "--target", "host",
                 "--preamble", f'#include "{self.header}"', "--json"]
        env = {name: text for name, text in self.environment(**changes).items() if text is not None}
        run = subprocess.run(words, cwd=cwd or self.folder, env=env, text=True, stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual((run.returncode, run.stderr), (0, ""), run.stdout)
        self.assertEqual((self.folder / "y.npy").read_bytes()[-12:], floats(*expected))
        (found,) = [origin for origin in ("disk", "compiler") if f'"origin": "{origin}"' in run.stdout or f'"origin":"{origin}"' in run.stdout]
        return found

    def test_one_byte_of_a_header(self):
        self.assertEqual([self.origin(), self.origin()], ["compiler", "disk"])
        text = self.header.read_text()
        for at, byte, expected in ((text.index("3"), "4", (4, 8, 12)), (len(text) - 1, " ", (4, 8, 12)), (text.index("4") if "4" in text else 14, "5", (5, 10, 15))):
            was = self.header.stat()
            text = self.header.read_text()
            self.header.write_text(text[:at] + byte + text[at + 1:])
            os.utime(self.header, ns=(was.st_atime_ns, was.st_mtime_ns))  # as long and as old as before
            with self.subTest(text=self.header.read_text()):
                self.assertEqual([self.origin(expected), self.origin(expected)], ["compiler", "disk"])

    def test_a_header_that_comes_to_be_in_front(self):
        """A header of a header: looked for beside it first, found elsewhere until there is one."""
        early = self.folder / "early"
        early.mkdir()
        (self.folder / "inner.h").write_text("#define SCALE 3\n")
        self.header.write_text('#include "inner.h"\n')
        moved = self.header
        self.header = early / "scale.h"
        self.header.write_text('#include "inner.h"\n')
        where = {"CPATH": str(self.folder)}
        self.assertEqual([self.origin(**where), self.origin(**where)], ["compiler", "disk"])
        (early / "inner.h").write_text("#define SCALE 7\n")
        self.assertEqual([self.origin((7, 14, 21), **where), self.origin((7, 14, 21), **where)], ["compiler", "disk"])
        self.header = moved

    def test_where_and_as_whom_one_works_does_not_matter(self):
        elsewhere = pathlib.Path(tempfile.mkdtemp(prefix="kiln-command-"))
        self.addCleanup(shutil.rmtree, elsewhere)
        here = pathlib.Path(COMMAND).parent
        for name in [pathlib.Path(COMMAND).name, *(path.name for path in here.glob("libkiln.so*"))]:
            shutil.copy(here / name, elsewhere / name, follow_symlinks=False)
        self.assertEqual(self.origin(), "compiler")
        for how in ({"cwd": "/"}, {"cwd": elsewhere}, {"HOME": str(elsewhere)}, {"HOME": None}, {"XDG_CACHE_HOME": str(elsewhere)},
                    {"USER": "somebody", "LOGNAME": "somebody"}, {"LANG": "de_DE.UTF-8", "LC_ALL": "C.UTF-8"}, {"TZ": "Asia/Tokyo"},
                    {"TMPDIR": str(elsewhere)}, {"NOTHING_THAT_MATTERS": "x" * 1000}, {"CUDA_VISIBLE_DEVICES": ""}, {"OMP_NUM_THREADS": "1"},
                    {"command": str(elsewhere / pathlib.Path(COMMAND).name)}, {"PATH": os.environ["PATH"] + ":/nonexistent"}):
            with self.subTest(how=how):
                self.assertEqual(self.origin(**how), "disk")

    def test_the_compilers_words_matter(self):
        real = next(path for path in (f"{folder}/{name}" for name in ("g++", "c++", "clang++")
                                      for folder in os.environ["PATH"].split(":")) if os.access(path, os.X_OK))
        for how in ({"KILN_CXX": real}, {"KILN_CXX": f"{real} -DANYTHING=1"}, {"KILN_CXX": f"{real} -DANYTHING=2"},
                    {"KILN_CXX": real, "CPATH": str(self.folder)}):
            with self.subTest(how=how):
                self.assertEqual([self.origin(**how), self.origin(**how)], ["compiler", "disk"])


if __name__ == "__main__":
    main()
