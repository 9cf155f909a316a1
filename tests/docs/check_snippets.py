"""Every snippet of README.md, docs/*.md and the public headers: compiled, run, and what it prints compared with the block `text` that follows.

C blocks of a section stand one behind the other in a function, and all sections of a file are one program; a block with a main is a program of
its own. C++ likewise. Python blocks of a section are one script, sh blocks a script each, in one folder for the file; `console` blocks
show lines that begin with $ and what they print. docs/deployment.md has a test of its own (tests/command/test_deployment.py).
"""
import math
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

from snippets import blocks, opening_example

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["KILN_BUILD"])
SANITIZE = [f"-fsanitize={os.environ['KILN_SANITIZED']}"] if os.environ.get("KILN_SANITIZED") else []
INCLUDES = [f"-I{ROOT}/include", f"-I{BUILD}/generated/include"]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-Wno-unused-variable", "-Wno-unused-but-set-variable", "-Wno-unused-function"]
COMPILERS = {"c": [os.environ.get("CC", "cc"), "-std=c11"], "cpp": [os.environ.get("CXX", "c++"), "-std=c++17"]}
MARK = "section "  # on a line of its own, in front of what a section prints
# What a reader knows that is there; snippets that need more include it.
HEADS = {"c": "#include <kiln/kiln.h>\n#include <stdio.h>\n",
         "cpp": "#include <kiln/kiln.hpp>\n#include <iostream>\n#include <vector>\n"}
# What the examples of headers suppose is there. Those that are only compiled need a device, or a file of somebody's.
ARRAYS = """kiln_array *x, *y, *z; kiln_kernel *kernel; kiln_function *function; kiln_arg in[2]; float buffer[3]; void *managed; int n;
void give_back(void *managed);
void give_back(void *managed) { (void)managed; }
static int prepare(void)
{
    kiln_array_free(x), kiln_array_free(y), kiln_array_free(z), kiln_kernel_free(kernel);
    z = NULL;
    if (kiln_array_arange(&x, 0, 1000, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT) ||
        kiln_array_arange(&y, 0, 1000, 1, KILN_FLOAT32, KILN_DEVICE_DEFAULT) ||
        kiln_elementwise_create(&kernel, "T x, T y, T w", "T z", "z = x * y + w", "three", NULL))
        return 1;
    in[0] = kiln_arg_array(x), in[1] = kiln_arg_array(y);
    return 0;
}
"""
# An example that goes on where NVRTC is absent, and leaves its error.
ASKS_FOR_NVRTC = "toolchain.h"
COMPILED_ALONE = {"base.h", "bundle.h", "convenience.h", "device.h", "dlpack.h", "graph.h", "module.h"}


def c_line(block, path):
    return f'#line {block.line} "{path}"\n'


def compiled(folder, language, source, program):
    """The program of a source; the compiler's text where there is none."""
    path = folder / f"{program}.{language}"
    path.write_text(source)
    run = subprocess.run([*COMPILERS[language], *WARNINGS, *SANITIZE, *INCLUDES, str(path), "-o", str(folder / program), f"-L{BUILD}", "-lkiln",
                          f"-Wl,-rpath,{BUILD}"], capture_output=True, text=True)
    if run.returncode:
        raise AssertionError(run.stderr)
    return folder / program


def environment(folder, **more):
    env = dict(os.environ, PATH=f"{folder}/bin:{os.environ['PATH']}", KILN_TARGET="host", KILN_FORMS="quick", **more)
    env["ASAN_OPTIONS"] = "detect_leaks=0:" + env.get("ASAN_OPTIONS", "")
    env["LD_LIBRARY_PATH"] = f"{BUILD}:{env.get('LD_LIBRARY_PATH', '')}"
    return env


def ran(folder, words, what, **more):
    run = subprocess.run(words, cwd=folder, env=environment(folder, **more), capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if run.returncode:
        raise AssertionError(f"{what} ended with {run.returncode}:\n{run.stdout}{run.stderr}")
    return run.stdout


def sections(found):
    """{heading: blocks}, in the order of the file."""
    by_heading = {}
    for block in found:
        by_heading.setdefault(block.heading, []).append(block)
    return by_heading


def is_program(block):
    return re.search(r"^int main\(", block.text, re.M)


class Snippets(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kiln-snippets-"))
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "bin").mkdir()
        wrapper = self.folder / "bin" / "kiln"  # small and short benches
        wrapper.write_text('#!/bin/sh\n[ "$1" != bench ] || { shift; set -- bench --size-scale 0.001 --seconds 0.001 "$@"; }\n'
                           f'exec "{BUILD}/kiln" "$@"\n')
        wrapper.chmod(0o700)
        for tool in ("tools", "examples"):
            (self.folder / tool).symlink_to(ROOT / tool)

    # ---- C and C++ ----

    def program_of(self, found, language, path):
        """One program of all sections' fragments."""
        outside, functions, calls = "", "", ""
        for number, (heading, section) in enumerate(sections(found).items()):
            inside = ""
            for block in section:
                if block.language != language or is_program(block):
                    continue
                if block.is_outside or block.text.startswith("#include"):
                    outside += c_line(block, path) + block.text
                elif block.is_run:
                    inside += c_line(block, path) + block.text
                else:
                    functions += f"int alone_{number}_{block.line}(void);\nint alone_{number}_{block.line}(void)\n{{\n{c_line(block, path)}{block.text}return 0;\n}}\n"
            if inside:
                functions += f"static int section_{number}(void)\n{{\n{inside}return 0;\n}}\n"
                calls += f'    puts("{MARK}{heading}");\n    if (section_{number}())\n        return 1;\n    fflush(stdout);\n'
        return f"{HEADS[language]}{outside}{functions}int main(void)\n{{\n{calls}    return 0;\n}}\n" if functions or outside else ""

    def check_fragments(self, found, language, path):
        source = self.program_of(found, language, path)
        if not source:
            return
        said = ran(self.folder, [str(compiled(self.folder, language, source, f"fragments_{language}"))], f"{path}: the fragments in {language}")
        parts = dict(part.split("\n", 1) for part in re.split(f"^{MARK}", said, flags=re.M)[1:])
        for heading, section in sections(found).items():
            if heading in parts:
                with self.subTest(section=heading):
                    self.assertEqual(parts[heading], self.expected(section, language))

    def expected(self, section, language):
        """The text blocks that follow blocks of the language, but programs."""
        out, last = "", None
        for block in section:
            if block.language == "text" and last and last.language == language and not is_program(last):
                out += block.text
            last = block
        return out

    def check_programs(self, found, path):
        for at, block in enumerate(found):
            if block.language not in COMPILERS or not is_program(block):
                continue
            with self.subTest(line=block.line):
                program = compiled(self.folder, block.language, c_line(block, path) + block.text, "app")
                said = ran(self.folder, [str(program)], f"{path}:{block.line}")
                after = found[at + 1] if at + 1 < len(found) else None
                if after and after.language == "text":
                    self.assertEqual(said, after.text)

    # ---- scripts ----

    def check_scripts(self, found, path):
        for block in found:
            if block.language != "sh":
                continue
            lines = [x for x in block.text.splitlines() if not block.left_out or not re.match(block.left_out, x)]
            script = "\n".join(re.sub(r"^! (.*?)( +#.*)?$", r"if \1; then exit 9; fi", line) for line in lines)
            with self.subTest(line=block.line):
                ran(self.folder, ["sh", "-eu", *([] if block.is_run else ["-n"]), "-c", script], f"{path}:{block.line}",
                    KILN_CACHE_DIR=str(self.folder / "cache"))

    def check_consoles(self, found, path):
        for block in found:
            if block.language != "console":
                continue
            for line, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block.text, re.M):
                with self.subTest(line=line):
                    self.assertEqual(ran(self.folder, ["sh", "-c", line], f"{path}: {line}"), expected)

    def check_python(self, found, path):
        for heading, section in sections(found).items():
            script = "".join(block.text for block in section if block.language == "python")
            if script:
                with self.subTest(section=heading):
                    preload = {"LD_PRELOAD": os.environ["KILN_TEST_PRELOAD"]} if os.environ.get("KILN_TEST_PRELOAD") else {}
                    said = ran(self.folder, [sys.executable, "-c", script], f"{path}: {heading}", KILN_CXX_WITHOUT_PRELOAD="1", **preload)
                    self.assertEqual(said, self.expected(section, "python"))

    def check_cmake(self, found, path):
        """Such lines stand in the projects that tests/install builds."""
        known = "".join(p.read_text() for p in (ROOT / "tests" / "install").glob("*/CMakeLists.txt"))
        lines = {re.sub(r"\b(fetched|outside|within)\b", "program", line.strip()) for line in known.splitlines()}
        for block in found:
            for line in block.text.splitlines() if block.language == "cmake" else ():
                with self.subTest(line=line):
                    self.assertIn(line.strip(), lines)

    def check(self, name):
        path = ROOT / name
        found = blocks(path.read_text())
        self.assertTrue(found)
        self.assertLessEqual({block.language for block in found}, {"c", "cpp", "sh", "console", "python", "cmake", "text"}, path)
        self.check_programs(found, path)
        for language in COMPILERS:
            self.check_fragments(found, language, path)
        self.check_scripts(found, path)
        self.check_consoles(found, path)
        self.check_python(found, path)
        self.check_cmake(found, path)

    def test_readme(self):
        for name, shape in (("x", "2,3"), ("y", "3")):
            ran(self.folder, ["kiln", "map", "", "float32 x", "x = i + 1", "--shape", shape, "-o", f"{name}.npy"], "preparing")
        ran(self.folder, ["kiln", "map", "uint8 base", "uint8 x", "x = base + i", "7", "--shape", "4,5,3", "-o", "photo.png"], "preparing")
        # A picture as bright as one is: sums of squares of its bytes do not fit a byte.
        ran(self.folder, ["kiln", "map", "", "uint8 x", "x = 150 + 37 * i % 106", "--shape", "4,5,3", "-o", "photo.npy"], "preparing")
        (self.folder / "table.csv").write_text("1,2\n3,4\n")
        for name in ("in", "out"):
            (self.folder / name).mkdir()
        for name in ("a", "b"):
            shutil.copy(self.folder / "x.npy", self.folder / "in" / f"{name}.npy")
        self.check("README.md")
        pixels = [[150 + 37 * (3 * k + c) % 106 for c in range(3)] for k in range(20)]
        for name in ("norms.npy", "same.npy"):
            with self.subTest(name):
                data = (self.folder / name).read_bytes()
                self.assertIn(b"'<f4', 'fortran_order': False, 'shape': (4, 5)", data)
                for norm, pixel in zip(struct.unpack("<20f", data[-80:]), pixels):
                    self.assertAlmostEqual(norm, sum(v * v for v in pixel) ** 0.5, delta=1e-3)

    def test_guide(self):
        self.check("docs/guide.md")

    def test_language(self):
        self.check("docs/language.md")

    def test_exercises(self):
        self.check("docs/exercises.md")

    def test_every_document_is_checked(self):
        here = pathlib.Path(__file__).read_text() + (ROOT / "tests" / "command" / "test_deployment.py").read_text()
        here += '"docs/numpy.md"'  # generated, and checked by tools/numpy_page
        for path in (*ROOT.glob("docs/*.md"), ROOT / "README.md"):
            self.assertIn(f'"{path.name}"' if path.stem == "deployment" else f'"{path.relative_to(ROOT)}"', here)

    def test_results(self):
        """What the documents show as a result comes of what stands above it, which is run; and nothing that is run is kept from the reader."""
        for path in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
            last = None
            for block in blocks(path.read_text()):
                with self.subTest(document=path.name, line=block.line):
                    self.assertFalse(block.is_hidden, "a reader cannot see what the snippets around it need")
                    if block.language == "text":
                        self.assertTrue(last and last.heading == block.heading and last.language in ("c", "cpp", "python") and last.is_run,
                                        "a result that nothing is seen to produce")
                last = block
            inline = re.findall(r"\b(?:prints|gives|is printed:) `([^`]+)`", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M))
            self.assertEqual(inline, [], f"{path.name}: results in the middle of a sentence, which no test compares")

    def test_figures(self):
        """Every measured figure in the README's sentences is that of the results it points to."""
        prose = re.sub(r"^```.*?^```", "", (ROOT / "README.md").read_text(), flags=re.S | re.M)
        results = ROOT / "bench" / "results"
        (least, median, count) = re.search(r"(\d+) splits .*?at least ([\d.]+) % .*?median ([\d.]+) %", (results / "nvidia-h200-reduce.md").read_text(), re.S).group(2, 3, 1)
        self.assertIn(f"at least\n{least} % of the speed of a hand-written kernel", prose)
        self.assertIn(f"{median} % in the median of {count} shapes", prose)
        first = [float(row.split("|")[2]) for row in (results / "first_use.md").read_text().split("\n\n")[2].splitlines()[2:]]
        self.assertIn(f"{math.floor(min(first))} to {math.ceil(max(first))} ms", prose)
        cache = dict(re.findall(r"^\| ([^|]+?) \| ([\d.]+) ", (results / "cache.md").read_text(), re.M))
        self.assertLess(float(cache["open, 1,000 rows of 50 KiB"]) + float(cache["hit, 50 KiB"]), 1000)
        self.assertEqual(len(re.findall(r"\d (?:%|ms|µs|GB/s)", prose)), 4, "a figure that is not compared here")

    def broken_links(self, folder, pattern):
        """The links of documents that lead nowhere, to a file or to a heading."""
        broken = []
        for path in folder.glob(pattern):
            for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"^```.*?^```", "", path.read_text(), flags=re.S | re.M)):
                file, _, anchor = target.partition("#")
                there = path.parent / file if file else path
                if re.match(r"\w+:", target):
                    continue
                headings = re.findall(r"^#+ (.*)$", there.read_text(), re.M) if anchor and there.is_file() else []
                anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
                if not there.exists() or anchor and anchor not in anchors:
                    broken.append(f"{path.relative_to(folder)}: {target}")
        return broken

    def test_links(self):
        """What the documents point to is there."""
        for pattern in ("*.md", "docs/*.md", "bench/**/*.md"):
            self.assertEqual(self.broken_links(ROOT, pattern), [])

    def test_installed_links(self):
        """As installed, where README and its pictures, the guide and the examples lie as in the tree."""
        installed = subprocess.run(["cmake", "--install", str(BUILD), "--prefix", str(self.folder / "installed"), "--component", "documentation"],
                                   capture_output=True, text=True)
        self.assertEqual(installed.returncode, 0, installed.stderr)
        readme = min(self.folder.glob("installed/**/README.md"), key=lambda path: len(path.parts))
        self.assertEqual(self.broken_links(readme.parent, "**/*.md"), [])

    def test_headers_of_cpp(self):
        functions, calls = "", ""
        for header in (ROOT / "include/kiln/kiln.hpp", BUILD / "generated/include/kiln/ops.hpp"):
            lines = opening_example(header.read_text()).splitlines()
            self.assertTrue(lines, f"{header.name} opens without an example")
            inside = "\n".join(line for line in lines if not line.startswith("#include"))
            functions += f"static void example_{header.stem}()\n{{\n{inside}\n}}\n"
            calls += f"    example_{header.stem}();\n"
        ran(self.folder, [str(compiled(self.folder, "cpp", f"{HEADS['cpp']}{functions}int main()\n{{\n{calls}}}\n", "headers"))],
            "the examples of the headers for C++")

    def test_headers(self):
        headers = sorted((*ROOT.glob("include/kiln/*.h"), BUILD / "generated/include/kiln/ops.h"))
        functions, calls, outside = "", "", ""
        for header in headers:
            example = opening_example(header.read_text())
            self.assertTrue(example, f"{header.name} opens without an example")
            name = re.sub(r"\W", "_", header.name)
            functions += "".join(f"{line}\n" for line in example.splitlines() if line.startswith(("static", "#include")))
            inside = "".join(f"{line}\n" for line in example.splitlines() if not line.startswith(("static", "#include")))
            functions += f'int example_{name}(void);\nint example_{name}(void)\n{{\n{inside}return 0;\n}}\n'
            excused = "KILN_ERROR_NOT_FOUND" if header.name == ASKS_FOR_NVRTC and not os.environ.get("KILN_REQUIRE_NVRTC") else "KILN_OK"
            if header.name not in COMPILED_ALONE:
                calls += (f"    kiln_error_clear();\n    if (prepare() || example_{name}() || (kiln_error_status() && kiln_error_status() != {excused}))\n"
                          f'        return printf("{header.name}: %s\\n", kiln_error_message()), 1;\n')
        WARNINGS.append("-Wno-unused-result")
        program = compiled(self.folder, "c", f"{HEADS['c']}#include <stdlib.h>\n#include <string.h>\n{ARRAYS}{functions}int main(void)\n{{\n{calls}    return 0;\n}}\n", "headers")
        WARNINGS.pop()
        ran(self.folder, [str(program)], "the examples of the headers")


unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
