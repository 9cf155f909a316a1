"""What the command does to files that are there already: those it writes, those that lie beside them, and its own descriptors."""
import io
import os
import shutil
import stat
import subprocess
import unittest
import zipfile
import zlib

from commanding import COMMAND, TARGET, CommandCase, floats, main, npy_bytes

ONE = npy_bytes("<f4", (3,), floats(1, 2, 3))
TWICE = floats(2, 4, 6)
DOUBLE = ("eval", "x * 2", "--target", TARGET, "--quiet")
HAS_ZIP = os.environ.get("KILN_HAS_ZIP") == "1"
HAS_PNG = os.environ.get("KILN_HAS_PNG") == "1"
# A compiler that writes down what the process that started it has as standard input, output and error.
COMPILER = """#!/bin/sh
for fd in 0 1; do readlink /proc/$PPID/fd/$fd; done >>TOLD
exec REAL "$@"
"""


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class Outputs(CommandCase):
    """Results that would go over what is still to be read, or over one another."""

    def inputs(self, *names):
        for name in names:
            (self.folder / name).parent.mkdir(exist_ok=True)
            self.write(name, ONE)
        return {p: p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}

    def refused_whole(self, before, expect, *words):
        """Wrong usage, and no file is made or changed."""
        self.assertIn(expect, self.refused(2, *words))
        self.assertEqual({p: p.read_bytes() for p in self.folder.rglob("*") if p.is_file()}, before)

    def test_a_glob_over_its_own_inputs(self):
        before = self.inputs("a.npy", "ba.npy", "bba.npy")
        map_ = ("map", "T x", "T y", "y = x * 2")
        reduce_ = ("reduce", "T x", "T y", "x", "a + b", "y = a", "0")
        for words in ((*map_, "*.npy"), (*reduce_, "*.npy"), ("eval", "x * 2", "x=*.npy")):
            self.refused_whole(before, "another call reads", *words, "-o", "b{}.npy")
        for spelt in ("./b{}.npy", f"{self.folder}/b{{}}.npy", f"../{self.folder.name}/b{{}}.npy"):
            self.refused_whole(before, "another call reads", *map_, "*.npy", "-o", spelt)

    def test_a_glob_over_its_inputs_by_links(self):
        self.inputs("in/a.npy", "in/b.npy")
        (self.folder / "out").mkdir()
        (self.folder / "linked").symlink_to("in")
        (self.folder / "out/a.npy").symlink_to("../in/b.npy")
        os.link(self.folder / "in/a.npy", self.folder / "hard.npy")
        before = self.inputs()
        self.refused_whole(before, "another call reads", *DOUBLE, "x=in/*.npy", "-o", "out/{}.npy")
        self.refused_whole(before, "every call reads", "eval", "x + y", "x=in/*.npy", "y=hard.npy", "-o", "linked/{}.npy")

    def test_a_second_input_that_is_an_output(self):
        before = self.inputs("in/a.npy", "in/b.npy", "out/b.npy")
        self.refused_whole(before, "every call reads", "eval", "x + y", "x=in/*.npy", "y=out/b.npy", "-o", "out/{}.npy")

    def test_results_that_are_one_file(self):
        before = self.inputs("x.npy")
        two = ("map", "T x", "T y, T z", "y = x; z = x", "x.npy")
        for first, second in (("y.npy", "y.npy"), ("y.npy", "./y.npy"), ("y.csv", f"../{self.folder.name}/y.csv"), ("y.npz", "./y.npz:z")):
            self.refused_whole(before, "one file", *two, "-o", first, "-o", second)
        (self.folder / "to").symlink_to("y.npy")  # leads nowhere yet
        self.refused_whole(before, "one file", *two, "-o", "to", "-o", "y.npy")
        self.inputs("in/a.npy", "other/a.npy")
        self.refused_whole(self.inputs(), "same name", *DOUBLE, "x=*/a.npy", "-o", "{}.npy")

    def test_what_goes_on(self):
        """A call may write what it alone has read, results may go to one archive, and nowhere."""
        self.inputs("a.npy", "b.npy")
        self.ok(*DOUBLE, "x=*.npy", "-o", "{}.npy")
        self.assertEqual([(self.folder / n).read_bytes()[-12:] for n in ("a.npy", "b.npy")], [TWICE, TWICE])
        self.ok(*DOUBLE, "x=a.npy", "-o", "a.npy")
        self.ok(*DOUBLE, "x=?.npy", "--to", "npy", "-o", "out{}")
        self.ok("map", "T x", "T y, T z", "y = x; z = x", "a.npy", "-o", "/dev/null", "-o", "/dev/null", "--to", "npy", "--quiet", "--target", TARGET)
        if HAS_ZIP:
            self.ok("map", "T x", "T y, T z", "y = x; z = x", "a.npy", "-o", "y.npz:p", "-o", "y.npz:q", "--quiet", "--target", TARGET)
            self.assertEqual(zipfile.ZipFile(self.folder / "y.npz").namelist(), ["p.npy", "q.npy"])

    def test_a_bake_over_its_record(self):
        self.write("app.record", b"map 'T x' 'T z' 'z = x' 'float32[10]' --name add\n")
        self.refused_whole(self.inputs(), "is the record", "bake", "app.record", "--host", "host", "-o", "./app.record")


class Replaced(CommandCase):
    def setUp(self):
        super().setUp()
        self.write("x.npy", ONE)

    def double(self, to, **how):
        return subprocess.run([COMMAND, *DOUBLE, "x=x.npy", "--to", "npy", "-o", to], cwd=self.folder, env=self.environment(),
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=60, **how)

    def doubled(self, to, **how):
        run = self.double(to, **how)
        self.assertEqual((run.returncode, run.stderr), (0, b""))
        return run.stdout

    def elements(self, name):
        return (self.folder / name).read_bytes()[-12:]

    def test_what_lies_beside(self):
        """Neither a file of the user's with the name that was once used is lost, nor is a link followed; nothing stays."""
        self.write("z.npy.new", b"mine")
        self.write("victim", b"of value")
        (self.folder / "y.npy.new").symlink_to("victim")
        for name in ("z.npy", "y.npy"):
            self.doubled(name)
        self.assertEqual((self.folder / "z.npy.new").read_bytes(), b"mine")
        self.assertEqual((self.folder / "victim").read_bytes(), b"of value")
        self.assertTrue((self.folder / "y.npy.new").is_symlink())
        self.ok("cache", "export", "-o", "all.kiln")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()),
                         ["all.kiln", "victim", "x.npy", "y.npy", "y.npy.new", "z.npy", "z.npy.new"])

    def test_permissions(self):
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        for mode in (0o600, 0o640, 0o664, 0o755):
            self.write("z.npy", b"old")
            os.chmod(self.folder / "z.npy", mode)
            self.doubled("z.npy")
            self.assertEqual((oct(mode_of(self.folder / "z.npy")), self.elements("z.npy")), (oct(mode), TWICE))
        self.doubled("new.npy")
        self.assertEqual(oct(mode_of(self.folder / "new.npy")), oct(0o640))
        self.write("all.kiln", b"old")
        os.chmod(self.folder / "all.kiln", 0o600)
        self.ok("cache", "export", "-o", "all.kiln")
        self.assertEqual(oct(mode_of(self.folder / "all.kiln")), oct(0o600))

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_the_owner(self):
        self.write("z.npy", b"old")
        os.chown(self.folder / "z.npy", 1234, 2345)
        self.doubled("z.npy")
        info = os.stat(self.folder / "z.npy")
        self.assertEqual((info.st_uid, info.st_gid, self.elements("z.npy")), (1234, 2345, TWICE))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another")
    def test_as_another_user(self):
        """A file that may not be written to is not replaced; one in a folder that may not be written to is written as it lies."""
        cache = self.folder / "cache"
        cache.mkdir()
        os.chown(cache, 1234, 1234)
        os.chmod(cache, 0o700)
        os.chmod(self.folder, 0o777)
        self.write("locked.npy", b"old")
        os.chmod(self.folder / "locked.npy", 0o444)
        how = {"user": 1234, "group": 1234, "extra_groups": []}
        binary = self.folder / "kiln"
        words = [COMMAND, "eval", "x * 2", "x=x.npy", "--target", "host", "--quiet", "-o"]
        run = lambda to: subprocess.run([*words, to], cwd=self.folder, env=self.environment(KILN_CACHE_DIR=str(cache)), capture_output=True,
                                        stdin=subprocess.DEVNULL, text=True, timeout=60, **how)
        del binary
        try:
            first = run("locked.npy")
        except PermissionError:
            self.skipTest("the command lies where other users cannot go")
        if first.returncode not in (0, 1) or "shared librar" in first.stderr:
            self.skipTest("the command lies where other users cannot go")
        self.assertEqual(first.returncode, 1, first.stderr)
        self.assertIn("Permission denied", first.stderr)
        self.assertEqual((self.folder / "locked.npy").read_bytes(), b"old")
        os.chown(self.folder / "locked.npy", 1234, 1234)
        os.chmod(self.folder / "locked.npy", 0o600)
        os.chmod(self.folder, 0o755)
        self.assertEqual((run("locked.npy").returncode, self.elements("locked.npy")), (0, TWICE))

    def test_links(self):
        (self.folder / "deep").mkdir()
        self.write("deep/real.npy", b"old")
        for name, target in (("link.npy", "second.npy"), ("second.npy", "deep/real.npy"), ("nowhere.npy", "deep/new.npy")):
            (self.folder / name).symlink_to(target)
        for name, real in (("link.npy", "deep/real.npy"), ("nowhere.npy", "deep/new.npy")):
            self.doubled(name)
            self.assertTrue((self.folder / name).is_symlink())
            self.assertEqual(self.elements(real), TWICE)
        (self.folder / "round.npy").symlink_to("round.npy")
        self.assertEqual(self.double("round.npy").returncode, 1)

    def test_what_is_no_file(self):
        self.doubled("/dev/null")
        self.assertTrue(stat.S_ISCHR(os.stat("/dev/null").st_mode))
        os.mkfifo(self.folder / "pipe")
        reader = subprocess.Popen(["cat", "pipe"], cwd=self.folder, stdout=subprocess.PIPE)
        self.doubled("pipe")
        self.assertEqual(reader.communicate(timeout=60)[0][-12:], TWICE)
        self.assertTrue(stat.S_ISFIFO(os.stat(self.folder / "pipe").st_mode))
        for name in ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"):
            self.assertEqual(self.doubled(name)[-12:], TWICE)
            shell = f"{{ echo before; '{COMMAND}' eval 'x * 2' x=x.npy --target {TARGET} --quiet --to npy -o {name}; echo after; }} >all"
            subprocess.run(["sh", "-c", shell], cwd=self.folder, env=self.environment(), check=True, timeout=60)
            content = (self.folder / "all").read_bytes()
            self.assertTrue(content.startswith(b"before\n\x93NUMPY") and content.endswith(TWICE + b"after\n"), content)
        self.assertIn(b"No space left", self.double("/dev/full").stderr)
        self.assertEqual(self.double("none/z.npy").returncode, 1)

    def test_many_writers(self):
        """Whoever is last wins; nobody fails, and there is never half a file."""
        self.doubled("z.npy")
        words = [COMMAND, *DOUBLE, "x=x.npy", "-o", "z.npy"]
        running = [subprocess.Popen(words, cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE) for _ in range(12)]
        self.assertEqual([(p.communicate(timeout=120)[1], p.returncode) for p in running], [(b"", 0)] * 12)
        self.assertEqual(self.elements("z.npy"), TWICE)
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["x.npy", "z.npy"])


class Descriptors(CommandCase):
    def closed(self, words, *closed, **changes):
        def close():
            for fd in closed:
                os.close(fd)
        return subprocess.run([str(w) for w in words], cwd=self.folder, env=self.environment(**changes), preexec_fn=close, timeout=60,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)

    def compiler(self):
        """A compiler that tells, and a cache that has nothing."""
        real = shutil.which(os.environ.get("KILN_CXX") or "c++")
        self.write("cxx", COMPILER.replace("REAL", real).replace("TOLD", f"{self.folder}/told").encode())
        os.chmod(self.folder / "cxx", 0o755)
        return {"KILN_CXX": f"{self.folder}/cxx", "KILN_CACHE_DIR": f"{self.folder}/cache", "KILN_FORMS": "quick"}

    def test_a_cold_run_without_standard_output(self):
        run = self.closed([COMMAND, "eval", "x * 2 + 1.5", "x=3", "--target", "host"], 0, 1, **self.compiler())
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertIn("the output could not be written", run.stderr)
        self.assertEqual((self.folder / "told").read_text(), "/\n/\n")  # what can neither be read nor written

    def test_the_library_takes_none_of_them(self):
        run = self.closed([os.environ["KILN_WARM_START"], "call", "host"], 0, 1, 2, **self.compiler())
        self.assertEqual(run.returncode, 0)
        # SQLite, for the same reason, fills them with what can only be read.
        self.assertLessEqual(set((self.folder / "told").read_text().split()), {"/dev/null"})

    def test_output_that_cannot_be_written(self):
        self.write("x.npy", ONE)
        for words in ((*DOUBLE, "x=x.npy"), (*DOUBLE, "x=x.npy", "-o", "-", "--to", "csv"), ("--version",), ("operations", "--json")):
            with self.subTest(words=words), open("/dev/full", "w") as full:
                run = subprocess.run([COMMAND, *words], cwd=self.folder, env=self.environment(), stdout=full, stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(run.returncode, 1)
                self.assertIn(b"could not be written" if "-o" not in words else b"No space left", run.stderr)
            with self.subTest(words=words, pipe=True):
                reading, writing = os.pipe()
                os.close(reading)
                run = subprocess.run([COMMAND, *words], cwd=self.folder, env=self.environment(), stdout=writing, stderr=subprocess.PIPE, timeout=60,
                                     preexec_fn=lambda: None, restore_signals=False)  # SIGPIPE is ignored, as Python has it
                os.close(writing)
                self.assertEqual(run.returncode, 1, words)
                self.assertIn(b"could not be written" if "-o" not in words else b"Broken pipe", run.stderr)

    def test_results_need_no_standard_output(self):
        self.write("x.npy", ONE)
        self.assertEqual(self.closed([COMMAND, *DOUBLE, "x=x.npy", "-o", "z.npy"], 0, 1, 2).returncode, 0)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-12:], TWICE)


class Claims(CommandCase):
    """Headers that claim more than their file holds: refused, without the memory that they would have."""
    MOST = 100 << 20  # more than a run that works

    def peak(self, *words):
        """(exit code, peak memory in bytes, text) of a run."""
        script = "import resource, subprocess, sys; p = subprocess.run(sys.argv[1:], capture_output=True, text=True); " \
                 "print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024); print(p.stdout + p.stderr)"
        run = subprocess.run(["python3", "-c", script, COMMAND, *words], cwd=self.folder, env=self.environment(), capture_output=True, text=True, timeout=120)
        (returned, peak), text = run.stdout.split("\n", 1)[0].split(), run.stdout.split("\n", 1)[1]
        return int(returned), int(peak), text

    def small(self, *words, code=1):
        """The text of a run that takes little memory."""
        returned, peak, text = self.peak(*words)
        self.assertEqual(returned, code, text)
        self.assertLess(peak, self.usual() + self.MOST)
        self.assertNotIn("Sanitizer", text)
        return text

    @classmethod
    def usual(cls):
        if not hasattr(cls, "usual_peak"):
            case = cls("usual")
            case.setUp()
            case.write("x.npy", ONE)
            cls.usual_peak = case.peak(*DOUBLE, "x=x.npy")[1]
            case.doCleanups()
        return cls.usual_peak

    def archive(self, *members):
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as z:
            for name, content in members:
                z.writestr(name, content)
        return data.getvalue()

    @unittest.skipUnless(HAS_ZIP, "no libzip")
    def test_archives(self):
        eight = npy_bytes("<f4", (3,), floats(1, 2, 3))
        bomb = bytearray(self.archive(("a.npy", eight + bytes(300 << 20))))
        self.write("header.npz", bytes(bomb))  # its .npy header says 12 bytes
        self.assertEqual(self.small(*DOUBLE, "x=header.npz:a", code=0), "[2. 4. 6.]\n\n")
        for at in (bomb.find(b"PK\1\2") + 24, 22):  # the archive says 140: in its directory, and in front of the member
            bomb[at:at + 4] = len(eight).to_bytes(4, "little")
        self.write("archive.npz", bytes(bomb))
        self.assertEqual(self.small(*DOUBLE, "x=archive.npz:a", code=0), "[2. 4. 6.]\n\n")
        huge = npy_bytes("<f4", (1 << 60,))
        self.write("huge.npz", self.archive(("a.npy", huge)))
        self.assertIn("truncated", self.small(*DOUBLE, "x=huge.npz:a"))
        self.write("cut.npz", self.archive(("a.npy", eight[:-4])))
        self.assertIn("truncated", self.small(*DOUBLE, "x=cut.npz:a"))
        self.write("long.npz", self.archive(("a.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + bytes(300 << 20))))
        self.small(*DOUBLE, "x=long.npz:a")

    @unittest.skipUnless(HAS_ZIP, "no libzip")
    def test_members_of_one_name(self):
        first, last = npy_bytes("<f4", (1,), floats(1)), npy_bytes("<f4", (1,), floats(5))
        for names in (("a.npy", "a.npy"), ("b.npy", "a.npy", "c.npy", "a.npy")):
            with self.assertWarns(UserWarning):
                self.write("same.npz", self.archive(*[(n, first) for n in names[:-1]], (names[-1], last)))
            self.assertEqual(self.ok(*DOUBLE, "x=same.npz:a"), "[10.]\n")
        with self.assertWarns(UserWarning):
            self.write("only.npz", self.archive(("a.npy", first), ("a.npy", last)))
        self.assertEqual(self.ok(*DOUBLE, "x=only.npz"), "[10.]\n")

    def test_other_formats(self):
        self.write("a.npy", npy_bytes("<f4", (1 << 40,), floats(1)))
        self.write("b.pgm", b"P5 60000 60000 255\n" + bytes(99))
        self.write("c.ppm", b"P6 60000 60000 65535\n" + bytes(99))
        self.write("d.pgm", b"P2 60000 60000 255\n1 2 3\n")
        self.write("e.pfm", b"PF 60000 60000 -1.0\n" + bytes(99))
        self.write("f.pgm", b"P5 4294967296 4294967296 255\n" + bytes(99))
        for name in "a.npy b.pgm c.ppm d.pgm e.pfm f.pgm".split():
            with self.subTest(name=name):
                self.assertIn(name, self.small(*DOUBLE, f"x={name}"))

    @unittest.skipUnless(HAS_PNG, "no libpng")
    def test_pictures(self):
        def chunk(name, data):
            return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")
        for width, height, bits, data in ((60000, 60000, 16, zlib.compress(bytes(99))), (900000, 900000, 8, b""), (40000, 40000, 8, zlib.compress(bytes(40001)))):
            header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + bytes([bits, 6, 0, 0, 0])
            self.write("a.png", b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b""))
            self.assertIn("a.png", self.small(*DOUBLE, "x=a.png"))


class Trusted(CommandCase):
    """Bundles whose code would be run are taken from files that nobody else can have written."""

    def setUp(self):
        super().setUp()
        self.write("x.npy", ONE)
        self.ok(*DOUBLE, "x=x.npy", "-o", "z.npy")
        self.ok("cache", "export", "-o", "own.kiln")

    def test_a_file_that_others_may_write(self):
        shutil.copy(self.folder / "own.kiln", self.folder / "open.kiln")
        os.chmod(self.folder / "open.kiln", 0o666)
        (self.folder / "open").mkdir()
        shutil.copy(self.folder / "own.kiln", self.folder / "open/its.kiln")
        os.chmod(self.folder / "open", 0o777)
        empty = {"KILN_CACHE_DIR": f"{self.folder}/cache"}
        for name in ("open.kiln", "open/its.kiln"):
            self.assertIn("other users may write", self.refused(1, "cache", "import", name, **empty))
            self.assertIn("other users may write", self.refused(1, "bake", "merge", "own.kiln", name, "-o", "merged.kiln"))
            self.assertFalse((self.folder / "merged.kiln").exists())
            self.ok("bake", "--list", name)  # what is only looked at is not run
        self.assertEqual(self.json("cache", "stats", **empty)["entries"], 0)
        self.assertEqual(self.json("cache", "import", "own.kiln", **empty)["added"], 1)
        self.ok("bake", "merge", "own.kiln", "own.kiln", "-o", "merged.kiln")

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files away")
    def test_a_file_of_somebody_else(self):
        os.chown(self.folder / "own.kiln", 1234, 1234)
        self.assertIn("belongs to another user (1234)", self.refused(1, "cache", "import", "own.kiln"))
        self.assertIn("belongs to another user (1234)", self.refused(1, "bake", "merge", "own.kiln", "-o", "merged.kiln"))


if __name__ == "__main__":
    main()
