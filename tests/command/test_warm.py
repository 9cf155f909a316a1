"""A second process finds the kernel on disk: no compiler runs, NVRTC is not mapped, and the first call takes under a millisecond."""
import os
import stat
import subprocess

from commanding import TARGET, CommandCase, floats, main, npy_bytes

WARM_START = os.environ["KILN_WARM_START"]
SANITIZED = bool(os.environ.get("KILN_SANITIZED"))
WORDS = ("map", "T x", "T z", "z = x * 3", "x.npy", "-o", "z.npy", "--target", TARGET)


class Warm(CommandCase):
    def compiler_that_counts(self):
        """A C++ compiler that writes a line for each run."""
        real = os.environ.get("KILN_CXX") or os.environ.get("CXX") or "c++"
        path = self.folder / "counting-c++"
        path.write_text(f'#!/bin/sh\necho "$@" >>"{self.folder}/runs"\nexec {real} "$@"\n')
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return str(path)

    def runs(self):
        path = self.folder / "runs"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def test_no_compiler_runs_on_a_warm_cache(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        changes = {"KILN_CXX": self.compiler_that_counts(), "KILN_CACHE_DIR": str(self.folder / "cache")}
        self.assertEqual(self.json(*WORDS, **changes)["origin"], "compiler")
        before = self.runs()
        if TARGET == "host":
            self.assertGreater(before, 0)
        warm = self.json(*WORDS, **changes)
        self.assertEqual(warm["origin"], "disk")
        self.assertEqual(warm["times_ms"]["compile"], 0)
        self.assertEqual(warm["times_ms"]["generate"], 0)
        self.assertEqual(self.runs(), before)
        self.assertEqual((self.folder / "z.npy").read_bytes()[-4:], floats(6))

    def warm_start(self, *words):
        """origin, whether NVRTC is mapped, and the milliseconds from definition to launch, of a process of its own."""
        run = subprocess.run([WARM_START, *words], env=self.environment(), text=True, capture_output=True,
                             stdin=subprocess.DEVNULL)
        self.assertEqual(run.returncode, 0, run.stderr)
        origin, mapped, ms = run.stdout.split()
        return origin, mapped, float(ms)

    def test_first_kernel_of_a_process(self):
        self.assertEqual(self.warm_start("call", TARGET)[0], "compiler")
        results = [self.warm_start("call", TARGET) for _ in range(10)]
        self.assertEqual({(origin, mapped) for origin, mapped, _ in results}, {("disk", "absent")})
        if not SANITIZED:
            self.assertLess(min(ms for _, _, ms in results), 1.0)

    def test_nvrtc_is_not_mapped(self):
        first = self.warm_start("prepare", "sm_90")
        if first[0] == "none":
            self.skipTest("NVRTC is absent")
        self.assertEqual(first[:2], ("compiler", "mapped"))
        self.assertEqual(self.warm_start("prepare", "sm_90")[:2], ("disk", "absent"))

    def test_a_read_only_cache_serves(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        cache = self.folder / "cache"
        changes = {"KILN_CACHE_DIR": str(cache)}
        self.ok(*WORDS, **changes)
        for path in cache.iterdir():
            path.chmod(0o400)
        cache.chmod(0o500)
        self.addCleanup(cache.chmod, 0o700)
        self.assertEqual(self.json(*WORDS, **changes)["origin"], "disk")

    def test_without_a_cache_it_still_works(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        (self.folder / "file").write_text("in the way")
        report = self.json(*WORDS, KILN_CACHE_DIR=str(self.folder / "file"), warning="is not a folder")
        self.assertEqual(report["origin"], "compiler")

    def test_a_damaged_cache_still_works(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        changes = {"KILN_CACHE_DIR": str(self.folder / "cache")}
        self.ok(*WORDS, **changes)
        path = self.ok("cache", "path", **changes).strip()
        with open(path, "r+b") as file:
            file.write(os.urandom(4096))
        self.assertEqual(self.json(*WORDS, warning="was damaged", **changes)["origin"], "compiler")

    def test_warnings_about_the_users_own_lines(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        words = ["map", "float32 x", "float32 z", "int unused;\nz = x;", "x.npy", "-o", "z.npy", "--name", "named"]
        self.ok(*words, warning=r"^kiln: named:1: warning: .*unused")
        self.ok(*words)  # found in the cache: the compiler says nothing again
        clean = ["map", "float32 x", "float32 z", "z = exp(x) + x / 3", "x.npy", "-o", "z.npy"]
        self.ok(*clean)


main()
