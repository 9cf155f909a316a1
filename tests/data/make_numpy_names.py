#!/usr/bin/env python3
"""Writes src/ops/numpy_names.h anew, what is left out of it, tests/data/numpy_left_out.txt, and the methods of numpy.random.Generator, tests/data/numpy_generator.txt: the functions that NumPy has, by whose names a message says that kiln knows what was meant and does not have it.
Those of numpy, numpy.linalg and numpy.fft, and the methods of arrays; types, classes and what is about files, printing and NumPy itself are left out.

    make_numpy_names.py           writes the files
    make_numpy_names.py --check   exit code 1 where it is not what this NumPy gives; 77 where there is no NumPy, or one of another version
"""
import pathlib
import re
import sys
import warnings

try:
    import numpy
except ImportError:
    print("there is no NumPy")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
PATH = ROOT / "src/ops/numpy_names.h"
GENERATOR = ROOT / "tests/data/numpy_generator.txt"
LEFT_OUT = ROOT / "tests/data/numpy_left_out.txt"
# Names that are no functions of arrays, by what they are about.
REASONS = {
    "NumPy itself": r"test|bench|info|show_config|show_runtime|(set|get)(_.*|buf.*)|include|deprecate.*|source|lookfor|who|typename|mintypecode|require|(may_)?sha?res?_memory",
    "floating-point errors of NumPy's thread": r"seterr.*|geterr.*|errstate",
    "printing": r"print.*|format_.*|array2string|array_(repr|str)",
    "files and bytes": r"save.*|load.*|from(file|regex|buffer|string|pyfunc|iter)|genfromtxt|to(file|string|bytes|list)|dump.*|byteswap|newbyteorder",
    "dates": r"busday.*|is_busday|datetime.*",
    "the inside of an array": r"view|data|itemset|item|setf.*|setfield|getfield",
}


def reason_of(name):
    return next((reason for reason, pattern in REASONS.items() if re.fullmatch(pattern, name)), None)


# Objects that an expression can be of: mgrid[0:3, 0:2].
OBJECTS = {"mgrid", "ogrid"}


def functions(module):
    return {name for name in OBJECTS if hasattr(module, name)} | {name for name in dir(module) if callable(getattr(module, name)) and not isinstance(getattr(module, name), type) and not name.startswith("_") and not reason_of(name)}


def left_out():
    """The names of NumPy's main namespace that are no functions of arrays: a line "NAME, a tab, the reason" each."""
    def reason(name):
        value = getattr(numpy, name)
        return reason_of(name) or ("a module" if type(value) is type(numpy) else "a type" if isinstance(value, type) else "a constant or an object")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = [name for name in sorted(dir(numpy)) if not name.startswith("_") and name not in functions(numpy)]
        return "".join(f"{name}\t{reason(name)}\n" for name in names)


def generator():
    return "".join(f"{name}\n" for name in dir(numpy.random.Generator) if not name.startswith("_"))


def text():
    names = sorted(functions(numpy) | functions(numpy.linalg) | functions(numpy.fft) | functions(numpy.ndarray))
    lines, line = [], "   "
    for name in names:
        word = f' "{name}",'
        if len(line) + len(word) > 110:
            lines.append(line)
            line = "   "
        line += word
    lines.append(line)
    return ("/* numpy_names.h - the functions of NumPy " + numpy.__version__ + ", sorted; written by tests/data/make_numpy_names.py. */\n"
            "/* clang-format off */\nstatic const char *const numpy_names[] = {\n" + "\n".join(lines) + "\n};\n/* clang-format on */\n")


def main():
    if "--check" not in sys.argv:
        PATH.write_text(text())
        LEFT_OUT.write_text(left_out())
        GENERATOR.write_text(generator())
        return 0
    old = PATH.read_text()
    if f"NumPy {numpy.__version__}," not in old:
        print(f"the names are those of another NumPy than {numpy.__version__}")
        return 77
    return old != text() or LEFT_OUT.read_text() != left_out() or GENERATOR.read_text() != generator()


if __name__ == "__main__":
    sys.exit(main())
