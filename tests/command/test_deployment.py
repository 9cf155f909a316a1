"""Each recipe of docs/deployment.md, run as it stands there."""
import os
import pathlib
import platform
import re
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

    def test_every_recipe_is_run(self):
        source = pathlib.Path(__file__).read_text()
        for heading in recipes():
            self.assertIn(f'"{heading}"', source)


if __name__ == "__main__":
    main()
