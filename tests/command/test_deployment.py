"""Each recipe of docs/deployment.md, run as it stands there, and bundles on machines that lack what others have."""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import unittest

from commanding import COMMAND, CommandCase, floats, main, npy_bytes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "docs"))
import snippets  # noqa: E402

GUIDE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "deployment.md"
# What a builder is told to run brings NVRTC: here by a link to the one at hand, where pip would put it.
PYTHON = """#!/bin/sh
[ "$1 $2" = "-m venv" ] && mkdir -p "$3/bin" && cat >"$3/bin/pip" <<END && chmod 700 "$3/bin/pip"
#!/bin/sh
[ "\\$*" = "install nvidia-cuda-nvrtc" ] && mkdir -p "$PWD/$3/lib/python3.11/site-packages/nvidia/cu13" &&
    ln -s FOLDER "$PWD/$3/lib/python3.11/site-packages/nvidia/cu13/lib"
END
"""
# A namespace of its own, in which /proc is empty but for what a sanitizer reads its options from: no process is found there, so it cannot look for leaks.
WITHOUT_PROC = """mount -t tmpfs none /proc
mkdir /proc/self
printf 'ASAN_OPTIONS=detect_leaks=0\\0' >/proc/self/environ
"""
TEMPORARY_FOLDERS = ("/tmp", "/var/tmp", "/dev/shm")
READ_ONLY = "".join(f"[ ! -e {f} ] || {{ mount --bind {f} {f} && mount -o remount,bind,ro {f}; }}\n" for f in TEMPORARY_FOLDERS)
APP = """#!/bin/sh
exec kiln map 'T x, T y' 'T z' 'z = x * y' x.npy x.npy -o z.npy --target host --name product
"""


def recipes():
    """The blocks below each heading, by the heading: (language, text)."""
    found = {}
    for block in snippets.blocks(GUIDE.read_text()):
        found.setdefault(block.heading, []).append((block.language, block.text))
    return found


class Deployment(CommandCase):
    def setUp(self):
        super().setUp()
        if platform.machine() != "x86_64":
            raise unittest.SkipTest("the guide bakes for x86-64")
        (self.folder / "bin").mkdir()
        (self.folder / "bin" / "kiln").symlink_to(COMMAND)
        (self.folder / "x.npy").write_bytes(npy_bytes("<f4", (3,), floats(1, 2, 3)))
        (self.folder / "app").write_text(APP)
        (self.folder / "app").chmod(0o700)

    def run_script(self, script, **changes):
        env = self.environment(KILN_CACHE_DIR=str(self.folder / "cache"),
                               PATH=f"{self.folder}/bin:{os.environ['PATH']}", **changes)
        run = subprocess.run(["sh", "-eu", "-c", script], cwd=self.folder, env=env, text=True, stdin=subprocess.DEVNULL,
                             capture_output=True)
        self.assertEqual(run.returncode, 0, f"{script}\n{run.stdout}{run.stderr}")
        return run.stdout

    def run_recipe(self, heading):
        # A block ends where a step of it fails, also one that has to fail and does not.
        for language, text in recipes()[heading]:
            if language == "sh":
                self.run_script(re.sub(r"^! (.*?)( *#.*)?$", r"if \1; then exit 9; fi", text, flags=re.M))

    def needs_nvrtc(self):
        if not os.environ.get("KILN_REQUIRE_NVRTC"):
            (self.folder / "probe").write_text("map 'T x' 'T y' 'y = x' 'float32[3]'\n")
            if self.kiln("bake", "probe", "--arch", "sm_90", "-o", "probe.kiln").returncode:
                raise unittest.SkipTest("no NVRTC")

    def test_record_bake_run(self):
        self.needs_nvrtc()
        self.run_recipe("Record, bake, run")

    def test_what_the_builder_needs(self):
        self.needs_nvrtc()
        (library,) = [c["location"] for c in self.json("info")["compilers"] if c["backend"] == "cuda"]
        for name, text in (("python3", PYTHON.replace("FOLDER", str(pathlib.Path(library).parent))), ("apt-get", "#!/bin/sh\n")):
            (self.folder / "bin" / name).write_text(text)
            (self.folder / "bin" / name).chmod(0o700)
        (script,) = [text for language, text in recipes()["What the builder needs"] if language == "sh"]
        self.assertIn(f"compiler for cuda: {library} ", self.run_script(script, KILN_NVRTC="/nonexistent"))

    def test_written_by_hand(self):
        self.run_recipe("Written by hand")

    def test_container(self):
        self.needs_nvrtc()
        (text,) = [text for language, text in recipes()["A container"] if language == "Dockerfile"]
        lines = text.splitlines()
        stage = lines.index("FROM runtime")
        for line in lines[:stage]:
            if line.startswith("RUN "):
                self.run_script(line[4:])
        settings = dict(line[4:].split("=", 1) for line in lines[stage:] if line.startswith("ENV "))
        self.assertEqual(settings.keys(), {"KILN_BUNDLE_PATH", "KILN_COMPILE", "KILN_CACHE"})
        for line in lines[stage:]:
            if line.startswith("RUN "):
                self.run_script(line[4:], KILN_CXX="/nonexistent", KILN_NVRTC="/nonexistent", **settings)

    def test_cluster(self):
        self.needs_nvrtc()
        self.run_recipe("A cluster with a shared file system")

    def test_no_compiler(self):
        self.run_recipe("No compiler")

    def test_continuous_integration(self):
        self.needs_nvrtc()
        self.run_recipe("Continuous integration")

    def test_in_one_file(self):
        self.run_recipe("In one file with the program")

    def test_looking(self):
        self.run_recipe("Looking")

    def isolated(self, setup, *words, **changes):
        """A program in a mount namespace of its own, after those commands; skips where the machine does not allow that. Only root's serves: in one of
        another user's, system folders belong to nobody that is known, and bundles below them are refused."""
        env = self.environment(**changes)
        for name in ("TMPDIR", "XDG_RUNTIME_DIR"):
            env.pop(name, None)

        def start(*words):
            return subprocess.run(["unshare", "--mount", "sh", "-eu", "-c", f'{setup}exec "$@"', "sh", *words], cwd=self.folder, env=env, text=True,
                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        if not shutil.which("unshare") or not shutil.which("mount"):
            raise unittest.SkipTest("no unshare or mount")
        probe = start("true")
        if probe.returncode:
            raise unittest.SkipTest(f"mount namespaces are not allowed: {probe.stderr}")
        return start(*map(str, words))

    def test_without_proc(self):
        """The host's loader opens code in memory by its name in /proc; without that, by one in a folder for temporary files."""
        self.run_script("KILN_RECORD=app.record ./app; kiln bake app.record --host x86-64-v3 -o app.kiln; rm z.npy")
        app = [COMMAND, "map", "T x, T y", "T z", "z = x * y", "x.npy", "x.npy", "-o", "z.npy", "--target", "host", "--name", "product"]
        alone = {"KILN_BUNDLE_PATH": "app.kiln", "KILN_COMPILE": "never", "KILN_CACHE": "off"}

        run = self.isolated(WITHOUT_PROC, *app, **alone)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("kernel: product, from disk", run.stderr)
        self.assertEqual((self.folder / "z.npy").read_bytes(), npy_bytes("<f4", (3,), floats(1, 4, 9)))

        run = self.isolated(WITHOUT_PROC + READ_ONLY, *app, **alone)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertRegex(run.stderr, r"(?m)^kiln: product \(array:float32 .*\) is there for host:\S+, but cannot be used, and compiling it anew is forbidden by "
                                     r"KILN_COMPILE=never \(looked in app.kiln\); what a bundle had does not load: cannot load product: neither from memory "
                                     r"\(/proc is not mounted\) nor from a temporary file; in /tmp: ")
        for folder in TEMPORARY_FOLDERS:
            self.assertRegex(run.stderr, rf"; in {folder}: cannot make a folder in {folder}: (Read-only file system|No such file or directory)")
        self.assertIn("mount /proc, or let TMPDIR name a folder that can be written to and run from", run.stderr)
        self.assertNotIn("has not been compiled", run.stderr)

    def test_every_recipe_is_run(self):
        source = pathlib.Path(__file__).read_text()
        for heading in recipes():
            self.assertIn(f'"{heading}"', source)


if __name__ == "__main__":
    main()
