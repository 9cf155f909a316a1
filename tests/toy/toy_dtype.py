#!/usr/bin/env python3
"""Adds a dtype to a copy of the tree, float8 (the upper byte of float16), by the files alone that src/types/README.md lists, and runs a program with it:
conversions, kernels, operations, expressions, scalars and promotion on the host; source for CUDA (toy_dtype.c).

    toy_dtype.py FOLDER             the copy and its build, kept there: the next run builds what has changed
    toy_dtype.py FOLDER --lists     the copy and tools/check_lists alone, without a build
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
COPIED = ("CMakeLists.txt", "ARCHITECTURE.md", "README.md", "LICENSE", "cmake", "docs", "include", "src", "tools", "tests/data", "tests/golden", "tests/numpy")

# ---- the dtype: file, what stands there, what stands there instead ----

HOST, CUDA = "", "__device__ __forceinline__ "


def prelude(on):
    """The type in generated code. All numbers come through float16, which the prelude has before it."""
    numbers = "".join(f"    {on}float8({t} x) : float8((float)x) {{}}\n"
                      for t in ("double", "int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long"))
    return f"""// float8: the upper byte of a float16.
// needs: float8
// with: half

struct float8 {{
    unsigned char bits;

    float8() = default;
    {on}float8(float x) {{
        unsigned int half = float16(x).bits;
        bits = (unsigned char)((half + ((half & 0x7fff) > 0x7c00 ? 0 : 0x7f + (half >> 8 & 1))) >> 8);
    }}
{numbers}    {on}operator float() const {{
        float16 half;
        half.bits = (unsigned short)(bits << 8);
        return (float)half;
    }}
}};
"""


ROWS = (
    ("include/kiln/dtype.h", "KILN_COMPLEX128 = 15 /* two float64 */", "KILN_COMPLEX128 = 15, /* two float64 */\n    KILN_FLOAT8 = 16 /* the upper byte of a binary16 */"),
    ("src/types/dtype.h", "KN_DTYPE_END = 16", "KN_DTYPE_END = 17"),
    ("src/types/dtype.c", "};\n\n/* Names that numpy.dtype()", "    {KILN_FLOAT8, \"float8\", '8', KN_KIND_FLOAT, 1, 1, NULL, \"float8\", \"float8\", 2},\n};\n\n/* Names that numpy.dtype()"),
    ("src/types/promotion.c", "    if (size == 2) { /*", "    if (a->dtype == KILN_FLOAT8 || b->dtype == KILN_FLOAT8)\n        return size == 2 ? KILN_FLOAT16 : size == 4 ? KILN_FLOAT32 : KILN_FLOAT64;\n    if (size == 2) { /*"),
    ("src/types/scalar.c", "    case KILN_FLOAT16:\n        READ(", "    case KILN_FLOAT8:\n        READ(uint8_t, real_number(kn_half_to_double((uint16_t)(v << 8))))\n    case KILN_FLOAT16:\n        READ("),
    ("src/types/scalar.c", "    switch (dtype) {\n    case KILN_FLOAT16:\n        small = ", "    switch (dtype) {\n    case KILN_FLOAT8:\n        small = kn_half_from_double(re);\n        small = (uint16_t)((small + ((small & 0x7fff) > 0x7c00 ? 0 : 0x7f + (small >> 8 & 1))) >> 8);\n        memcpy(out, &small, 1);\n        break;\n    case KILN_FLOAT16:\n        small = "),
    ("src/ops/operation_table.c", "#define FLOATS \"", "#define FLOATS \"8->8 "),
    ("src/ops/operation_table.c", "#define FLOAT_PAIRS \"", "#define FLOAT_PAIRS \"88->8 "),
    ("include/kiln/operation.h", "e float16,", "8 float8, e float16,"),
    ("include/kiln/kiln.hpp", "template <> struct dtype_of<unsigned char>", "/* KILN_FLOAT8: C++ has no such type */\ntemplate <> struct dtype_of<unsigned char>"),
    ("docs/language.md", "`bfloat16` ", "`bfloat16` `float8` "),
)
FILES = (("src/codegen/prelude/host_eight.cpp", prelude(HOST)), ("src/codegen/prelude/cuda_eight.cu", prelude(CUDA)))


def fail(text):
    print(f"toy_dtype: {text}", file=sys.stderr)
    sys.exit(1)


def run(*command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        fail(f"{' '.join(map(str, command))} ended with {done.returncode}\n{(done.stdout + done.stderr)[-4000:]}")
    return done.stdout


def check_files():
    """Each file that the dtype changes stands in the README, or is in a folder that does."""
    listed = re.findall(r"`([\w/.]+)`", (ROOT / "src/types/README.md").read_text(encoding="utf-8"))
    for name in dict.fromkeys([row[0] for row in ROWS] + [file[0] for file in FILES]):
        if not any(name == one or name.startswith(one + "/") for one in listed):
            fail(f"{name} has a part of the dtype, and src/types/README.md does not list it")


def changed_texts():
    texts = dict(FILES)
    for name, old, new in ROWS:
        text = texts.get(name) or (ROOT / name).read_text(encoding="utf-8")
        if text.count(old) < 1:
            fail(f"{name}: {old!r} is not there")
        texts[name] = text.replace(old, new, 1)
    return texts


def write(path, data):
    """Files that are as they were keep their time: they are not built again."""
    if not path.exists() or path.read_bytes() != data:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def copy_tree(tree):
    texts, wanted = changed_texts(), set()
    for part in COPIED:
        files = [ROOT / part] if (ROOT / part).is_file() else [p for p in (ROOT / part).rglob("*") if p.is_file() and "__pycache__" not in p.parts]
        for path in files:
            name = path.relative_to(ROOT).as_posix()
            wanted.add(name)
            if name not in texts:
                write(tree / name, path.read_bytes())
            if os.access(path, os.X_OK):
                (tree / name).chmod(0o755)
    for name, text in texts.items():
        wanted.add(name)
        write(tree / name, text.encode())
    for part in COPIED:
        for path in list((tree / part).rglob("*")) if (tree / part).is_dir() else []:
            if path.is_file() and path.relative_to(tree).as_posix() not in wanted:
                path.unlink()


def main():
    folder = pathlib.Path(sys.argv[1]).resolve()
    tree, build = folder / "tree", folder / "build"
    check_files()
    copy_tree(tree)
    print(run(sys.executable, tree / "tools/check_lists", tree), end="")
    if "--lists" in sys.argv[2:]:
        return
    flags = ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DKILN_BUILD_TESTS=OFF", "-DKILN_BUILD_EXAMPLES=OFF"]
    run("cmake", "-G", "Ninja", "-S", tree, "-B", build, *flags)
    run("cmake", "--build", build, "-j2", "--target", "kiln")
    program = build / "toy_dtype"
    run("cc", "-std=c11", "-Wall", "-Wextra", HERE / "toy_dtype.c", "-o", program, f"-I{tree}/include", f"-I{build}/generated/include",
        f"-L{build}", f"-Wl,-rpath,{build}", "-lkiln", "-lm")
    print(run(program, env={**os.environ, "KILN_CACHE_DIR": str(folder / "cache"), "KILN_TARGET": "host"}), end="")


if __name__ == "__main__":
    main()
