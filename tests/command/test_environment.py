"""The environment variables: one table, which the manual and README show; values and names that are none of it are said; and where messages go."""
import os
import pathlib
import re
import subprocess

from commanding import TARGET, CommandCase, floats, main, npy_bytes

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = ("map", "T x", "T z", "z = x * 3", "x.npy", "--target", TARGET, "--quiet")


class Environment(CommandCase):
    def table(self):
        """name -> (values, meaning, what is taken where it is not set)"""
        text = self.ok("help", "environment")
        rows = {}
        for name, values, rest in re.findall(r"^  (KILN_\w+): (.*)\n((?:      .*\n)+)", text, re.M):
            lines = [line.strip() for line in rest.splitlines()]
            otherwise = lines.pop()[len("(not set: "):-1] if lines[-1].startswith("(not set: ") else ""
            rows[name] = (values, " ".join(lines), otherwise)
        self.assertEqual(len(rows), text.count("  KILN_"))
        return rows

    def test_documents_have_the_table(self):
        rows = self.table()
        self.assertGreater(len(rows), 15)
        shown = (ROOT / "README.md").read_text().partition("\n## Environment\n")[2].replace("`", "")
        listed = dict(re.findall(r"^\| (KILN_\w+) (\|.*)$", shown, re.M))
        self.assertEqual(list(listed), list(rows))
        for name, (values, meaning, otherwise) in rows.items():
            with self.subTest(name=name):
                self.assertEqual(listed[name], f"| {values.replace('|', ', ')} | {otherwise} | {meaning} |")
        page = self.ok("help", "man").replace(r"\-", "-").partition(".SH ENVIRONMENT")[2].partition(".SH")[0]
        for name, (values, meaning, otherwise) in rows.items():
            self.assertIn(f'{name} " ({values})"\n{meaning}{". Not set: " if otherwise else ""}{otherwise}.\n', page)

    def test_what_is_read_is_in_the_table(self):
        read = set()
        for folder in ("src", "tools/cli"):
            for path in (ROOT / folder).rglob("*.c"):
                read |= set(re.findall(r'\b(?:kn_setting\w*|kn_os_env|secure_getenv)\([^"()]*"(KILN_\w+)"', path.read_text()))
        self.assertEqual(read, set(self.table()))

    def test_wrong_values_are_said(self):
        wrong = {name: "nonsense" for name, (values, *_) in self.table().items() if "|" in values and name not in ("KILN_TARGET", "KILN_CHECK", "KILN_ROUND")}
        self.assertLessEqual({"KILN_FORMS", "KILN_COMPILE", "KILN_CACHE", "KILN_LOG"}, set(wrong))
        wrong.update(KILN_CACHE_MAX="much", KILN_COMPILE_TIMEOUT="-1", KILN_TEMPLATE_DIR="nowhere")
        said = self.kiln("operations", "add", **wrong).stderr
        for name, value in wrong.items():
            self.assertRegex(said, rf'(?m)^kiln: {name} is "{value}"; .* was expected')
        self.assertIn('kiln: KILN_FORMS is "nonsense"; both, best or quick was expected, and both is taken\n', said)
        self.assertEqual(said.count("\n"), len(wrong))
        right = {name: values.split("|")[-1].upper() for name, (values, *_) in self.table().items() if name in wrong and "|" in values}
        self.ok("operations", "add", **right)
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        for name, message in (("KILN_CHECK", "0 or 1 was expected"), ("KILN_ROUND", "each or stored was expected"), ("KILN_NUM_THREADS", "a number from 1 was expected")):
            self.assertEqual(self.refused(1, *KERNEL[:-4], "--target", "host", **{name: "x"}), f'kiln: {name} is "x"; {message}\n')

    def test_misspelt_names_are_said(self):
        said = self.kiln("operations", "add", KILN_FORM="quick", KILN_CACHEDIR="x", KILN_COMPILER="c++", KILN_OTHER="1").stderr
        self.assertEqual(set(said.splitlines()), {f"kiln: there is no variable {name}; {meant} is one" for name, meant in
                                                  (("KILN_FORM", "KILN_FORMS"), ("KILN_CACHEDIR", "KILN_CACHE_DIR"), ("KILN_COMPILER", "KILN_COMPILE"))})

    def test_files_that_cannot_be_used_are_said(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        (self.folder / "empty").mkdir()
        self.write("bad.kiln", b"no bundle")
        for changes, expected in (({"KILN_CACHE_DIR": "/dev/null"}, r"the kernel cache is not used as it should be: /dev/null is not a folder"),
                                  ({"KILN_RECORD": "nowhere/r"}, r"KILN_RECORD: nowhere/r cannot be written: No such file"),
                                  ({"KILN_BUNDLE_PATH": "bad.kiln"}, r"a bundle is left out: bad.kiln"),
                                  ({"KILN_BUNDLE_PATH": "none.kiln"}, r"a bundle is left out: none.kiln: No such file"),
                                  ({"KILN_BUNDLE_PATH": "empty"}, r"KILN_BUNDLE_PATH: there is no file \*.kiln in empty")):
            with self.subTest(changes=changes):
                self.assertEqual(self.ok(*KERNEL, warning=rf"^kiln: {expected}", **changes), "[6.]\n")
                self.assertEqual(self.ok(*KERNEL, KILN_LOG="off", **changes), "[6.]\n")

    def test_a_miss_names_what_was_refused(self):
        self.write("x.npy", npy_bytes("<f4", (1,), floats(2)))
        self.write("bad.kiln", b"no bundle")
        said = self.refused(1, *KERNEL, KILN_COMPILE="never", KILN_BUNDLE_PATH="bad.kiln:none.kiln", KILN_CACHE_DIR="/dev/null", KILN_LOG="off")
        for part in ("compiling is forbidden by KILN_COMPILE=never", "; left out: bad.kiln is no bundle: ", "; left out: none.kiln: No such file",
                     "; the cache is not used: /dev/null is not a folder"):
            self.assertIn(part, said)

    def test_the_log_of_a_program(self):
        """A library is silent unless KILN_LOG asks."""
        def said(**changes):
            run = subprocess.run([os.environ["KILN_WARM_START"], "call", TARGET], env=self.environment(KILN_BUNDLE_PATH="/none.kiln", **changes),
                                 stdin=subprocess.DEVNULL, text=True, capture_output=True, timeout=60)
            self.assertEqual(run.returncode, 0)
            return run.stderr
        self.assertEqual(said(), "")
        self.assertEqual(said(KILN_LOG="off"), "")
        self.assertEqual(said(KILN_LOG="warn"), "kiln: a bundle is left out: /none.kiln: No such file or directory\n")
        self.assertRegex(said(KILN_LOG="debug"), r"kiln: a bundle is left out.*\n(kiln: .*\n)*kiln: \w+ for \S+: (compiled|from disk) \(in ms: ")


main()
