"""One compile a key among processes, whatever becomes of the one that compiles."""
import os
import signal
import subprocess
import time
import unittest

from commanding import COMMAND, CommandCase, floats, main, npy_bytes

SOAK = bool(os.environ.get("KILN_SOAK"))

# Writes down when it compiles and for whom; the first waits as long as the file `wait` says.
COMPILER = """#!/bin/sh
case "$*" in *-shared*|*" -c "*)
    echo "$(date +%s%N) $PPID" >>FOLDER/log
    if mkdir FOLDER/first 2>/dev/null; then sleep "$(cat FOLDER/wait)"; fi ;;
esac
exec REAL "$@"
"""


class OneCompile(CommandCase):
    def setUp(self):
        super().setUp()
        self.cache = str(self.folder / "cache")
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        real = next(path for path in (f"{folder}/{name}" for name in ("g++", "c++", "clang++")
                                      for folder in os.environ["PATH"].split(":")) if os.access(path, os.X_OK))
        self.compiler = self.folder / "cxx"
        self.compiler.write_text(COMPILER.replace("FOLDER", str(self.folder)).replace("REAL", real))
        self.compiler.chmod(0o700)
        self.wait(0)

    def wait(self, seconds):
        (self.folder / "wait").write_text(str(seconds))

    def start(self, number, **changes):
        words = [COMMAND, "map", "T x", "T y", "y = x + 40", "x.npy", "-o", f"y{number}.npy", "--target", "host"]
        return subprocess.Popen(words, cwd=self.folder, env=self.environment(KILN_CXX=str(self.compiler), **changes), text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def compiles(self):
        """Of each compile so far, when it began (seconds) and in which process."""
        log = self.folder / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        return [(int(line.split()[0]) * 1e-9, int(line.split()[1])) for line in lines]

    def wait_for_compiler(self):
        end = time.time() + 30
        while not self.compiles() and time.time() < end:
            time.sleep(0.005)
        ((_, process),) = self.compiles()
        return process

    def finish(self, process, number):
        said = process.communicate()[0]
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual((self.folder / f"y{number}.npy").read_bytes()[-12:], floats(41, 42, 43))

    def test_many_processes_and_one_cold_key(self):
        processes = [self.start(n) for n in range(64)]
        for number, process in enumerate(processes):
            self.finish(process, number)
        self.assertEqual(len(self.compiles()), 1)

    def test_the_one_that_compiles_is_killed(self):
        taken = []
        for turn in range(10 if SOAK else 1):
            for leftover in ("log", "first"):
                subprocess.run(["rm", "-rf", str(self.folder / leftover), self.cache], check=True)
            self.wait(20)
            processes = [self.start(n) for n in range(4)]
            compiling = self.wait_for_compiler()
            time.sleep(1)  # all of them wait for it by now
            killed = time.time()
            os.kill(compiling, signal.SIGKILL)
            for number, process in enumerate(processes):
                if process.pid == compiling:
                    process.communicate()
                else:
                    self.finish(process, number)
            times = self.compiles()
            self.assertEqual(len(times), 2)
            taken.append((times[1][0] - killed) * 1e3)
        print(f"taken over after {min(taken):.0f} to {max(taken):.0f} ms, to the start of the compiler ", end="")
        # Ours is to see that the lock is free and to begin; a sanitized process starts programs slowly.
        self.assertLess(max(taken), 100 if not os.environ.get("KILN_SANITIZED") else 500)

    def test_the_one_that_compiles_is_stopped_while_little_is_waited_for(self):
        """As below, where nobody may compile for longer than three seconds, nor wait so long."""
        self.wait(2)
        limit = {"KILN_COMPILE_TIMEOUT": "3"}
        processes = [self.start(n, **limit) for n in range(4)]
        stopped = self.wait_for_compiler()
        os.kill(stopped, signal.SIGSTOP)
        began = time.time()
        for number, process in enumerate(processes):
            if process.pid != stopped:
                self.finish(process, number)
        took = time.time() - began
        for process in processes:
            if process.pid == stopped:
                process.kill()
                process.communicate()
        self.assertEqual(len(self.compiles()), 4)  # each of the three that waited
        self.assertGreater(took, 2)
        self.assertLess(took, 3 + 3)  # and one compile, three at once on few processors
        self.finish(self.start(9), 9)
        self.assertEqual(len(self.compiles()), 4)

    @unittest.skipUnless(SOAK, "waits for half a minute: KILN_SOAK=1")
    def test_the_one_that_compiles_is_stopped(self):
        self.wait(20)
        processes = [self.start(n) for n in range(4)]
        stopped = self.wait_for_compiler()
        os.kill(stopped, signal.SIGSTOP)
        began = time.time()
        try:
            for number, process in enumerate(processes):
                if process.pid != stopped:
                    self.finish(process, number)
            self.assertLess(time.time() - began, 30 + 10)
        finally:
            os.kill(stopped, signal.SIGCONT)
        for number, process in enumerate(processes):
            if process.pid == stopped:
                self.finish(process, number)


if __name__ == "__main__":
    main()
