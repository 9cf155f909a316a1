#!/usr/bin/env python3
"""Writes src/ops/numpy_names.h anew: the functions that NumPy has, by whose names a message says that kiln knows what was meant and does not have it.
Those of numpy, numpy.linalg and numpy.fft, and the methods of arrays; types, classes and what is about files, printing and NumPy itself are left out.

    make_numpy_names.py           writes the file
    make_numpy_names.py --check   exit code 1 where it is not what this NumPy gives; 77 where there is no NumPy, or one of another version
"""
import pathlib
import re
import sys

try:
    import numpy
except ImportError:
    print("there is no NumPy")
    sys.exit(77)

PATH = pathlib.Path(__file__).resolve().parents[2] / "src/ops/numpy_names.h"
NOT_OF_ARRAYS = re.compile(r"^(_.*|test|bench|info|show_config|show_runtime|(set|get)(_.*|buf.*|err.*)|seterr.*|geterr.*|errstate|print.*|format_.*|array2string|"
                           r"array_(repr|str)|busday.*|is_busday|datetime.*|save.*|load.*|from(file|regex|buffer|string|pyfunc|iter)|genfromtxt|to(file|string|bytes|list)|"
                           r"dump.*|typename|mintypecode|may_share_memory|shares_memory|require|include|deprecate.*|source|lookfor|who|byteswap|view|data|itemset|"
                           r"item|newbyteorder|setf.*|setfield|getfield|resize|__.*)$")


def functions(module):
    return {name for name in dir(module) if callable(getattr(module, name)) and not isinstance(getattr(module, name), type) and not NOT_OF_ARRAYS.match(name)}


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
        return 0
    old = PATH.read_text()
    if f"NumPy {numpy.__version__}," not in old:
        print(f"the names are those of another NumPy than {numpy.__version__}")
        return 77
    return old != text()


if __name__ == "__main__":
    sys.exit(main())
