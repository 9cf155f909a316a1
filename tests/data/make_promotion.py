#!/usr/bin/env python3
"""Writes promotion.txt: NumPy 2's rules for combining and casting dtypes.

    python3 make_promotion.py > promotion.txt

    promote A B RESULT         numpy.promote_types
    can_cast FROM TO 0|1       numpy.can_cast(casting="safe")
    weak A SCALAR RESULT       the dtype of an array of A combined with a Python scalar
    cast FROM TO HEX HEX       one element before and after astype, where C++ defines the conversion; memory order
"""
import sys
import warnings
import numpy as np
import ml_dtypes  # for its bfloat16, in "cast" alone

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
WEAK = {"bool": True, "int": 1, "float": 1.0, "complex": 1j}
VALUES = [0, 1, -1, 2, 3, 100, 127, 128, -128, -129, 255, 256, 257, 2049, 2051, 32767, 32768, -32768, 65504, 65519, 65520, 65535, 65536, 2**24 + 1,
          2**24 + 3, 2**31 - 1, 2**31, -(2**31), 2**32 - 1, 2**32, 2**53 + 1, 2**60 + 2**36 + 1, 2**63 - 1, 2**63, 2**63 + 1025, 2**64 - 1, -(2**63), 0.5,
          -0.0, 1.5, 2.5, -2.5, 0.1, 1e-5, 2.98e-8, 6e-8, 5e-324, 1e-45, 3.4028235e38, 1.1754942e-38, 1 + 2**-11, 1 + 2**-8 + 2**-20, 1e300,
          float("inf"), float("-inf"), float("nan"), 1 + 2j, 0.1 - 0.3j, 1e300 + 1e-300j]


def of(name):
    return np.dtype(ml_dtypes.bfloat16) if name == "bfloat16" else np.dtype(name)


def is_floating(name):
    return "float" in name or "complex" in name


def elements(name):
    """The values that the dtype holds, rounded where it is a floating one."""
    for value in VALUES:
        if isinstance(value, complex) and "complex" not in name:
            continue
        if not is_floating(name):
            if isinstance(value, float) or (name == "bool" and value not in (0, 1)):
                continue
            if name != "bool" and not np.iinfo(name).min <= value <= np.iinfo(name).max:
                continue
            yield np.array(value, name)
        elif name == "bfloat16":
            yield np.array(value, "float64").astype(of(name))
        else:
            yield np.array(value, "complex128" if isinstance(value, complex) else "float64").astype(name)


def is_defined(x, source, target):
    """Not: to an integer from a fraction (truncated: see the tests of kernels), from outside its range, from nan; from complex to real."""
    if is_floating(target) or not is_floating(source):
        return not ("complex" in source and "complex" not in target)
    if "complex" in source:
        return False
    value = float(x)
    if not np.isfinite(value) or value != int(value):
        return False
    return value in (0, 1) if target == "bool" else np.iinfo(target).min <= int(value) <= np.iinfo(target).max


def main():
    warnings.simplefilter("ignore")
    print("# NumPy", np.__version__, "ml_dtypes", ml_dtypes.__version__, "- made by make_promotion.py")
    for a in DTYPES:
        for b in DTYPES:
            print("promote", a, b, np.promote_types(a, b).name)
            print("can_cast", a, b, int(np.can_cast(a, b)))
        for name, scalar in WEAK.items():
            print("weak", a, name, np.result_type(np.zeros(1, a), scalar).name)
    for source in DTYPES + ["bfloat16"]:
        for x in elements(source):
            for target in DTYPES + ["bfloat16"]:
                if is_defined(x, source, target):
                    print("cast", source, target, x.tobytes().hex(), x.astype(of(target)).tobytes().hex())


sys.exit(main())
