"""Records, bakes, and programs that run on bundles alone."""
import json
import os
import random
import re
import stat
import struct
import subprocess
import unittest

from commanding import CommandCase, floats, main, npy_bytes

HAND = """# written by hand
map 'T x, T y' 'T z' 'z = x + y' 'float32[1000]' 'float32[1000]' --name add

map "T x, T y" 'T z' z\\ =\\ x*y 'int32[1000]' 'int32[1000]' --name mul
reduce 'T x' 'T y' x 'a + b' 'y = a' 0 'float32[200,300]' --axis 0 --name columns
"""

# A C++ compiler that does as kernels' texts say, and else what the real one does.
COMPILER = """#!/bin/sh
for word; do source=$word; done
for word; do case $word in *.cpp) source=$word ;; esac; done
if grep -q PLEASE_HANG "$source" 2>/dev/null; then sleep 1000; fi
if grep -q PLEASE_CRASH "$source" 2>/dev/null; then kill -KILL $PPID; sleep 1000; fi
if grep -q PLEASE_HOG "$source" 2>/dev/null; then
    python3 -c 'import time; x = bytearray(1 << 30); time.sleep(1000)'
fi
exec REAL "$@"
"""


class Bake(CommandCase):
    def record(self, text=HAND, name="hand.record"):
        (self.folder / name).write_text(text)
        return name

    def disagrees(self, *words):
        """What a command prints that looked, and found something missing or otherwise."""
        run = self.kiln(*words)
        self.assertEqual((run.returncode, run.stderr), (1, ""), run.stdout)
        return run.stdout

    def listed(self, bundle):
        return json.loads(self.ok("bake", "--list", bundle, "--json"))["kernels"]

    def test_twice_the_same_bytes(self):
        record = self.record()
        said = self.ok("bake", record, "--host", "x86-64-v3,host", "--jobs", "3", "-o", "a.kiln")
        self.assertRegex(said, r"^a.kiln: \d+ of \d+ kernels, \d+ bytes\n$")
        self.assertEqual(self.ok("bake", record, record, "--host", "host", "--host", "x86-64-v3", "--jobs", "1", "-o", "b.kiln", "--quiet"), "")
        self.assertEqual((self.folder / "a.kiln").read_bytes(), (self.folder / "b.kiln").read_bytes())
        self.assertEqual({k["name"] for k in self.listed("a.kiln")}, {"add", "mul", "columns"})
        self.assertTrue(all(k["usable"] and k["compiler"] and k["key"] for k in self.listed("a.kiln")))
        self.assertEqual(self.ok("bake", "diff", "a.kiln", "b.kiln"), "")
        self.assertEqual(self.ok("bake", "merge", "a.kiln", "b.kiln", "-o", "c.kiln", "--quiet"), "")
        self.assertEqual(self.json("bake", "merge", "a.kiln", "b.kiln", "-o", "c.kiln"), {"bundle": "c.kiln", "bytes": (self.folder / "c.kiln").stat().st_size})
        self.assertEqual(self.json("bake", "diff", "a.kiln", "c.kiln"), {"differences": []})
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.endswith(".new")], [])

    def test_every_architecture_without_a_device(self):
        if not os.environ.get("KILN_REQUIRE_NVRTC") and self.kiln("bake", self.record(), "--arch", "sm_90", "-o",
                                                                  "x.kiln").returncode:
            raise unittest.SkipTest("no NVRTC")
        record = self.record(HAND.splitlines()[1] + "\n")
        archs = "sm_75,sm_80,sm_86,sm_89,sm_90,sm_90a,sm_100,sm_100f,sm_103f,sm_120,sm_121,ptx"
        same = ",".join(random.sample(archs.split(","), 3))
        self.ok("bake", record, "--arch", archs, "-o", "a.kiln", CUDA_VISIBLE_DEVICES="")
        for name, more in (("b", {}), ("c", {"CUDA_VISIBLE_DEVICES": ""})):
            self.ok("bake", record, "--arch", same, "-o", f"{name}.kiln", **more)
        self.assertEqual((self.folder / "b.kiln").read_bytes(), (self.folder / "c.kiln").read_bytes(), same)
        self.assertEqual({k["target"] for k in self.listed("a.kiln")},
                         set(archs.replace("ptx", "compute_121").split(",")))
        self.ok("bake", "--check", "a.kiln", record, "--arch", "sm_75,sm_86,sm_89,sm_90,sm_100,sm_103,sm_120,sm_121")
        code = self.disagrees("bake", "--check", "a.kiln", record, "--arch", "sm_87,sm_88,sm_110")
        # each in its best form and in the quick one
        self.assertEqual(code.count("missing: add (array:float32 array:float32 array:float32) for sm_"), 2 * 3)

    def test_a_program_is_recorded_and_runs_on_the_bundle_alone(self):
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        words = ("map", "T x, T y", "T z", "z = x * y", "x.npy", "x.npy", "-o", "z.npy", "--target", "host")
        self.ok(*words, KILN_RECORD="app.record")
        self.ok(*words, KILN_RECORD="app.record")  # another process adds what it used
        lines = (self.folder / "app.record").read_text().splitlines()
        self.assertTrue(lines and all(line.startswith("record/1 ") for line in lines))
        self.assertEqual(stat.S_IMODE((self.folder / "app.record").stat().st_mode), 0o600)
        self.ok("bake", "app.record", "--host", "host", "-o", "app.kiln")
        alone = {"KILN_CACHE": "off", "KILN_COMPILE": "never", "PATH": "/nonexistent", "KILN_CXX": "/nonexistent"}
        self.refused(1, *words, **alone)
        os.remove(self.folder / "z.npy")
        self.ok(*words, KILN_BUNDLE_PATH="app.kiln", **alone)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], floats(1, 4, 9))

    def test_expressions_by_hand(self):
        """Several kernels of one line, arrays and numbers by name; what they are baked into serves `kiln eval` alone."""
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
        (self.folder / "y.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 0, 1)))
        expression = "m = mean(x, axis=-1, keepdims=True); (x - m) * s + y, sum(y)"
        record = self.record(f"# by name, in any order\neval '{expression}' s=2 'x=float32[2,3]' 'y=float32[3]'\n"
                             "eval 'arange(5) * 2'\n")
        self.ok("bake", record, "--host", "host", "-o", "a.kiln")
        alone = {"KILN_CACHE": "off", "KILN_COMPILE": "never", "KILN_BUNDLE_PATH": "a.kiln"}
        words = ("eval", expression, "s=2", "x=x.npy", "y=y.npy", "-o", "z.npy", "-o", "t.npy", "--target", "host")
        self.ok(*words, **alone)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-24:], floats(-1, 0, 3, -1, 0, 3))
        self.assertEqual((self.folder / "t.npy").read_bytes()[-4:], floats(2))
        self.assertIn("[0 2 4 6 8]\n", self.ok("eval", "arange(5) * 2", "--target", "host", **alone))
        self.assertIn("KILN_COMPILE=never", self.refused(1, "eval", "x * x", "x=x.npy", "--target", "host", **alone))

    def check_recorded(self, expression, wanted):
        """Recorded by a program, in the cache and in a bundle: neither needs a compiler again."""
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (2, 3), floats(1, 2, 3, 4, 5, 6)))
        names = "abcdef"[:len(wanted)]
        results = [word for name in names for word in ("-o", f"{name}.npy")]
        words = ("eval", expression, "x=x.npy", *results, "--target", "host")
        self.ok(*words, KILN_RECORD="app.record")
        read = lambda: [(self.folder / f"{name}.npy").read_bytes()[-len(w):] for name, w in zip(names, wanted)]
        self.assertEqual(read(), wanted)
        self.ok("bake", "app.record", "--host", "host", "-o", "app.kiln")
        never = {"KILN_COMPILE": "never", "PATH": "/nonexistent", "KILN_CXX": "/nonexistent"}
        for alone in ({}, {"KILN_CACHE": "off", "KILN_BUNDLE_PATH": "app.kiln"}):
            for name in names:
                os.remove(self.folder / f"{name}.npy")
            self.ok(*words, **never, **alone)
            self.assertEqual(read(), wanted)
        self.refused(1, *words, KILN_CACHE="off", **never)

    def test_scans_and_selections(self):
        wanted = [floats(3, 8, 15, 12, 23, 36), floats(4, 5, 6, 4, 5, 6), floats(3, 4, 5, 6), struct.pack("<2q", 0, 1), struct.pack("<3q", 1, 2, 3), floats(18)]
        self.check_recorded("cumsum(x * 2, axis=1) + x, cummax(x[::-1], axis=0), extract(x > 2, x), flatnonzero(x < 3), searchsorted(x[0], x[1] - 2), sum(x[x > 2])",
                            wanted)

    def test_sorts(self):
        wanted = [floats(3, 2, 1, 6, 5, 4), struct.pack("<6q", 0, 0, 0, 1, 1, 1), struct.pack("<6q", 2, 1, 0, 2, 1, 0), floats(3.5), floats(2, 5), floats(1, 3, 4, 9)]
        self.check_recorded("sort(x, descending=True), argsort(x, axis=0), lexsort((x, -x)), median(x), quantile(x, 0.5, axis=1), "
                            "unique(where(x > 4, 9, where(x == 2, 1, x)))", wanted)

    def test_what_misses_is_named(self):
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        said = self.refused(1, "map", "T x", "T y", "y = x - 7", "x.npy", "-o", "y.npy", "--target", "host", "--name",
                            "minus", KILN_COMPILE="never")
        for expected in ("minus (array:float32 array:float32)", "host:", "KILN_COMPILE=never", "kiln bake"):
            self.assertIn(expected, said)

    def test_hanging_crashing_and_greedy_kernels_are_named(self):
        real = next(path for path in (f"{folder}/{name}" for name in ("g++", "c++", "clang++")
                                      for folder in os.environ["PATH"].split(":")) if os.access(path, os.X_OK))
        compiler = self.folder / "cxx"
        compiler.write_text(COMPILER.replace("REAL", real))
        compiler.chmod(0o700)
        line = "map 'T x' 'T y' 'y = x; // PLEASE_{}' 'float32[10]' --name {}\n"
        others = HAND + line.format("CRASH", "crash") + line.format("HOG", "hog") + \
            "map 'T x' 'T y' 'y = nonsense' 'float32[10]' --name wrong\n"

        def bake(text, seconds, whys):
            run = self.kiln("bake", self.record(text), "--host", "host", "--time", str(seconds), "--memory", "900", "--jobs",
                            "2", "-o", "a.kiln", "--partial", KILN_CXX=str(compiler))
            self.assertEqual(run.returncode, 0 if run.stdout else 1, run.stdout + run.stderr)
            for name, why in whys.items():
                self.assertRegex(run.stderr, rf"kiln: {name} \(array:float32 array:float32\) for \S+: .*{why}")
            return run.stdout

        bake(line.format("HANG", "hang"), 2, {"hang": "took more than 2 s"})
        said = bake(others, 900, {"crash": "crashed", "hog": "took more than 900 MiB", "wrong": "nonsense"})
        self.assertIn("5 of 11 kernels", said)  # but for the reduction in two forms
        self.assertEqual({k["name"] for k in self.listed("a.kiln")}, {"add", "mul", "columns"})
        left = [line for line in subprocess.run(["ps", "-eo", "args"], text=True, capture_output=True).stdout.splitlines()
                if str(self.folder) in line]
        self.assertEqual(left, [])

    @unittest.skipUnless("KILN_FAKE_NVRTC" in os.environ, "no NVRTC of our own")
    def test_a_compiler_within_the_process_goes_wrong(self):
        """NVRTC is a library: what it does, the process does that compiles."""
        fake = {"KILN_NVRTC": os.environ["KILN_FAKE_NVRTC"]}

        def bake(*more, ways, code):
            record = self.record("".join(f"map 'T x' 'T y' 'y = x; // PLEASE_{word}' 'float32[10]' --name {word.lower()}\n" for word, _ in ways))
            run = self.kiln("bake", record, "--arch", "sm_90", "--memory", "700", "--jobs", "2", "-o", "a.kiln", "--partial", *more, **fake)
            self.assertEqual(run.returncode, code, run.stdout + run.stderr)
            for word, why in ways:
                self.assertRegex(run.stderr, rf"kiln: {word.lower()} \(array:float32 array:float32\) for sm_90: .*{re.escape(why)}")
            return run.stdout

        bake("--time", "3", ways=(("HANG", "took more than 3 s"),), code=1)
        ways = (("CRASH", "the compiler crashed (Segmentation fault)"), ("ABORT", "the compiler crashed (Aborted)"),
                ("EXIT", "the compiler ended the process with status 3"), ("HOG", "took more than 700 MiB"))
        self.assertIn("8 of 16 kernels", bake("--host", "host", "--time", "900", ways=ways, code=0))
        self.assertEqual({(k["name"], k["target"].startswith("sm_")) for k in self.listed("a.kiln")}, {(word.lower(), False) for word, _ in ways})

    def test_a_part_is_no_bundle_unless_asked_for(self):
        """Without a compiler of one target: one message for its one cause, and nothing written over what was there."""
        lacking = {"KILN_NVRTC": "/nonexistent"}
        words = ("bake", self.record("\n".join(HAND.splitlines()[1:4])), "--arch", "sm_80,sm_90,ptx", "--host", "host", "-o", "a.kiln")
        self.write("a.kiln", b"of yesterday")
        for more in ((), ("--json",)):
            run = self.kiln(*words, *more, **lacking)
            self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
            self.assertEqual((self.folder / "a.kiln").read_bytes(), b"of yesterday")
            cause, result = run.stderr.splitlines()
            self.assertRegex(cause, r"^kiln: 12 kernels \(add, mul\) for sm_80, sm_90, compute_90: NVRTC was not found")
            self.assertRegex(result, r"^kiln: a.kiln was not written: 12 of 16 kernels .*--partial writes the others$")
        said = json.loads(run.stdout)
        self.assertEqual((said["written"], said["bytes"], said["baked"], len(said["failed"])), (False, 0, 4, 12))
        run = self.kiln(*words, "--partial", **lacking)
        self.assertEqual((run.returncode, run.stderr.splitlines()), (0, [cause]))
        self.assertRegex(run.stdout, r"^a.kiln: 4 of 16 kernels, \d+ bytes\n$")
        self.assertEqual({k["name"] for k in self.listed("a.kiln")}, {"add", "mul"})
        one = self.kiln("bake", self.record(HAND.splitlines()[1], "one"), "--arch", "sm_90,ptx", "--partial", "-o", "b.kiln", **lacking)
        self.assertEqual((one.returncode, one.stdout, (self.folder / "b.kiln").exists()), (1, "", False))
        cause, result = one.stderr.splitlines()
        self.assertRegex(cause, r"^kiln: add \(array:float32 array:float32 array:float32\) for sm_90, compute_90: NVRTC")
        self.assertRegex(result, r"^kiln: b.kiln was not written: 4 of 4 kernels could not be compiled$")

    def test_merge_and_diff(self):
        lines = HAND.splitlines()
        for name, line in (("a", lines[1]), ("b", lines[3])):
            self.ok("bake", self.record(line + "\n", name), "--host", "host", "-o", f"{name}.kiln")
        self.ok("bake", self.record("\n".join(lines[1:4]), "both"), "--host", "host", "-o", "both.kiln")
        self.ok("bake", "merge", "b.kiln", "a.kiln", "-o", "merged.kiln")
        self.assertEqual((self.folder / "both.kiln").read_bytes(), (self.folder / "merged.kiln").read_bytes())
        said = self.disagrees("bake", "diff", "a.kiln", "b.kiln")
        self.assertEqual(re.findall(r"^([-+!]) (\w+)", said, re.M), [("-", "add")] * 2 + [("+", "mul")] * 2)
        said = json.loads(self.disagrees("bake", "diff", "both.kiln", "b.kiln", "--json"))
        self.assertEqual([d["name"] for d in said["differences"]], ["add"] * 2)
        said = json.loads(self.disagrees("bake", "--check", "a.kiln", "both", "--host", "host", "--json"))
        self.assertEqual((said["needed"], [m["name"] for m in said["missing"]]), (4, ["mul"] * 2))

    def test_lines_of_processes_that_died(self):
        self.ok("explain", "T x", "T y", "y = x")
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        self.ok("map", "T x", "T y", "y = x + 3", "x.npy", "-o", "y.npy", "--target", "host", KILN_RECORD="r")
        whole = (self.folder / "r").read_bytes()
        (self.folder / "r").write_bytes(whole[:-30])
        self.ok("map", "T x", "T y", "y = x + 4", "x.npy", "-o", "y.npy", "--target", "host", KILN_RECORD="r")
        run = self.kiln("bake", "r", "--host", "host", "-o", "r.kiln", "--json")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("1 line of a process that died", run.stderr)
        self.assertEqual(json.loads(run.stdout)["damaged_lines"], 1)

    def test_wrong_usage(self):
        record = self.record()
        wrong = [
            (["bake", record, "-o", "x"], "needs --arch or --host"),
            (["bake", record, "--arch", "sm_90"], "needs one -o"),
            (["bake", record, "--arch", "sm_12", "-o", "x"], "sm_12"),
            (["bake", record, "--arch", "x86-64-v3", "-o", "x"], "no target of that kind"),
            (["bake", record, "--host", "sm_90", "-o", "x"], "no target of that kind"),
            (["bake", record, "--arch", "ptx", "-o", "x"], "compute_90"),
            (["bake", record, "--host", "host", "--jobs", "0", "-o", "x"], "--jobs"),
            (["bake", "merge", "-o", "x"], "merge BUNDLE"),
            (["bake", "diff", "a"], "diff BUNDLE BUNDLE"),
            (["bake", "--list", "a", "-o", "x"], "no -o"),
        ]
        for words, expected in wrong:
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(2, *words))

    def test_what_cannot_be_read_is_named(self):
        (self.folder / "broken.kiln").write_bytes(b"KILNBNDL and so on")
        for words, expected in [
                (("bake", "none", "--host", "host", "-o", "x"), "none: No such file"),
                (("bake", self.record("map 'T x"), "--host", "host", "-o", "x"), "a quote does not end"),
                (("bake", self.record("record this", "b"), "--host", "host", "-o", "x"), "begins with map, reduce, scan, select, sort or eval"),
                (("bake", self.record("eval", "g"), "--host", "host", "-o", "x"), "needs EXPRESSION behind 'eval'"),
                (("bake", self.record("eval x+y x=float32[3] float32[3]", "h"), "--host", "host", "-o", "x"), "'float32[3]': NAME=FILE"),
                (("bake", self.record("eval x+y x=float32[3]", "i"), "--host", "host", "-o", "x"), "'y'"),
                (("bake", self.record("eval 'x +' x=float32[3]", "j"), "--host", "host", "-o", "x"), "x +"),
                (("bake", self.record("eval x+y x=float32[3] y=float32[4]", "k"), "--host", "host", "-o", "x"), "in k"),
                (("bake", self.record("eval x x=float32[3", "l"), "--host", "host", "-o", "x"), "in l"),
                (("bake", self.record("eval x x=float32[3] --name it", "m"), "--host", "host", "-o", "x"), "--name does not go with 'eval'"),
                (("bake", self.record("eval x x=float32[3] --axis 0", "n"), "--host", "host", "-o", "x"), "--axis does not go with 'eval'"),
                (("bake", self.record("map 'T x' 'T y'", "c"), "--host", "host", "-o", "x"), "in c"),
                (("bake", self.record("# nothing", "d"), "--host", "host", "-o", "x"), "nothing in the records"),
                (("bake", "broken.kiln", "--host", "host", "-o", "x"), "broken.kiln"),
                (("bake", "--list", "broken.kiln"), "was cut off"),
                (("bake", "--check", "broken.kiln", self.record(HAND, "f"), "--host", "host"), "was cut off"),
                (("bake", "merge", "broken.kiln", "-o", "x"), "was cut off"),
                (("bake", self.record(HAND, "e"), "--host", "host", "-o", "no/folder/x"), "no/folder/x: No such file"),
        ]:
            with self.subTest(words=words):
                self.assertIn(expected, self.refused(1, *words))


if __name__ == "__main__":
    main()
