"""On a terminal no command is silent for long; elsewhere nothing but results is printed."""
import os
import pathlib
import pty
import re
import shutil
import subprocess
import threading
import time

from commanding import COMMAND, CommandCase, floats, main, npy_bytes

TOOLS = pathlib.Path(__file__).resolve().parents[2] / "tools"
LATE, LONGEST = 2.6, 2.0  # seconds: of what is slow, and without a word
SLOW_COMPILER = f"""#!/bin/sh
case "$*" in *-shared*|*" -c "*) sleep {LATE} ;; esac
exec c++ "$@"
"""
SCRIPT = f"""#!/bin/sh
. "$(dirname "$0")/setup.sh"
function() {{ sh -c "$1"; }}
quietly function 'echo of the build; sleep {LATE}'
shown sh -c 'echo first; sleep {LATE}; echo last; exit 7' || echo "ended with $?"
quietly false || echo "so did false"
"""


class Terminal(threading.Thread):
    """A command whose output is a terminal: what it printed, its exit code, and the longest silence."""

    def __init__(self, words, **options):
        super().__init__()
        self.master, slave = pty.openpty()
        self.text, self.silence = "", 0
        self.process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, **options)
        os.close(slave)
        self.start()

    def run(self):
        before = time.monotonic()
        while True:
            try:
                piece = os.read(self.master, 65536)
            except OSError:  # nobody has the other end any more
                piece = b""
            now = time.monotonic()
            self.silence = max(self.silence, now - before)
            before = now
            if not piece:
                break
            self.text += piece.decode(errors="replace").replace("\r\n", "\n")
        self.code = self.process.wait()
        os.close(self.master)

    def stays(self):
        """What is left to be seen: lines without what was drawn over."""
        return [re.split(r"\r\033\[K", line)[-1] for line in self.text.split("\n")]


class Progress(CommandCase):
    def compiler(self):
        path = self.folder / "slow"
        if not path.exists():  # what runs must not be written
            path.write_text(SLOW_COMPILER)
            path.chmod(0o700)
        return str(path)

    def terminal(self, *words, **changes):
        settings = {"KILN_TARGET": "host", "KILN_CACHE": "off", "KILN_FORMS": "best", "KILN_CXX": self.compiler(), "TERM": "xterm", **changes}
        return Terminal([COMMAND, *words], cwd=self.folder, env=self.environment(**settings))

    def test_slow_compilers_and_scripts(self):
        """All at once, for most of it is waiting."""
        self.write("record", b"map 'T x' 'T y' 'y = x + 1' 'float32[3]' --name one\n")
        (self.folder / "tools").mkdir()
        shutil.copy(TOOLS / "setup.sh", self.folder / "tools")
        (self.folder / "tools" / "script").write_text(SCRIPT)
        bake = self.terminal("bake", "record", "--host", "x86-64-v3" if os.uname().machine == "x86_64" else "native", "-o", "one.kiln")
        run = self.terminal("map", "T x", "T y", "y = x + 2", "1", "--shape", "2", "--quiet", "--type", "T=float32")
        told = self.terminal("map", "T x", "T y", "y = x + 3", "1", "--shape", "2", "--type", "T=float32")
        script = Terminal(["sh", self.folder / "tools" / "script"], env=dict(os.environ, TERM="xterm"))
        for terminal in (bake, run, told, script):
            terminal.join()
        self.assertEqual((bake.code, run.code, told.code, script.code), (0, 0, 0, 0), bake.text + run.text + told.text + script.text)
        for terminal in (bake, told, script):
            self.assertGreater(terminal.silence, 0.2)
            self.assertLess(terminal.silence, LONGEST, terminal.text)
        self.assertRegex(bake.text, r"\[ {30}\] 0 of 2  [12] s  one")
        self.assertRegex(bake.stays()[0], r"^one.kiln: 2 of 2 kernels, \d+ bytes")
        self.assertRegex(told.text, r"\r\033\[K[12] s  kiln map")
        self.assertNotIn("\033", run.text)  # --quiet
        self.assertRegex(script.text, r"script: [12] s  of the build")
        self.assertEqual([line for line in script.stays() if line], ["first", "last", "ended with 7", "so did false"])

    def test_many_files(self):
        (self.folder / "in").mkdir()
        for name in "ab":
            (self.folder / "in" / f"{name}.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        words = ("map", "T x", "T y", "y = x + 4", "in/*.npy", "-o", "{}.npy")
        shown = self.terminal(*words, KILN_CACHE="on", KILN_CXX="c++")
        shown.join()
        self.assertEqual(shown.code, 0, shown.text)
        self.assertRegex(shown.text, r"\[ {30}\] 0 of 2  .*in/a.npy")
        self.assertRegex(shown.text, r"\[#{15} {15}\] 1 of 2  in/b.npy")
        self.assertNotIn("of 2", "\n".join(shown.stays()))
        self.assertRegex(self.kiln(*words, KILN_TARGET="host").stderr, r"^target: [^\033\r]*$")  # no terminal

    def test_a_best_form_that_is_left_undone_is_no_trouble(self):
        path = self.folder / "endless"
        path.write_text('#!/bin/sh\ncase "$*" in *-O3*) sleep 100 ;; esac\nexec c++ "$@"\n')
        path.chmod(0o700)
        run = self.kiln("map", "T x", "T y", "y = x + 5", "1", "--shape", "2", "--type", "T=float32", "--quiet", KILN_TARGET="host",
                        KILN_FORMS="both", KILN_CACHE="off", KILN_CXX=str(path))
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "[6. 6.]\n", ""))


main()
