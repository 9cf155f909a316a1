"""Expressions that compilers are known to get wrong, and their relatives: a table of what has to come out, to the bit.

    python3 check_expressions.py LIBRARY

Each group is one kernel: an input dtype, expressions, and for each the result, computed by NumPy or by Python's exact numbers. They run over edge values at
several lengths, so that vectors, what is left behind them and single elements all have their turn. KILN_CXX chooses the compiler.
Without KILN_SOAK=1 one in three groups is drawn, others at each run.
"""
import os
import sys
import warnings
from fractions import Fraction
from math import floor

import numpy as np

from host_kernels import FLOATS, INTEGERS, Library, bits, drawn, in_threads

LENGTHS = (1, 2, 3, 7, 64, 1001)
HALVES = ("float16", "bfloat16")
C_NAMES = {"complex64": "complex<float>", "complex128": "complex<double>"}


# ---- bfloat16, whose numbers NumPy lacks: exact, one by one ----

def widened(patterns):
    return (np.asarray(patterns, "uint16").astype("uint32") << 16).view("float32")


def as_bfloat16(value):
    """The pattern of the nearest bfloat16, ties to even, of a Python number."""
    if value != value:
        return 0x7fc0
    sign = 0x8000 if np.signbit(float(value)) or value < 0 else 0
    if abs(value) == float("inf"):
        return sign | 0x7f80
    exact = abs(Fraction(value))
    exponent = -126
    while exact >= Fraction(2) ** (exponent + 1):
        exponent += 1
    steps = exact / Fraction(2) ** (exponent - 7)  # round() of a Fraction takes ties to even
    pattern = round(steps) + ((exponent + 126) << 7)
    return sign | min(pattern, 0x7f80)


def to_bfloat16(array):
    if np.asarray(array).dtype.kind == "c":
        array = np.real(array)
    return np.array([as_bfloat16(v) for v in np.asarray(array).tolist()], "uint16")


# ---- edge values ----

def integers(dtype):
    info, near = np.iinfo(dtype), [0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 100, 127]
    values = near + [-v for v in near] + [info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 2**11 + 1, 2**24 + 1, 2**25 + 3, 2**31, 2**53 + 1, 2**62 + 2**38 + 1]
    return np.array([v for v in values if info.min <= v <= info.max], dtype)


def floats(dtype):
    if dtype == "bfloat16":
        return np.array([p | s for p in (0, 1, 0x7f, 0x80, 0x3f00, 0x3f80, 0x3fc0, 0x4020, 0x42c7, 0x7f7f, 0x7f80, 0x7fc0, 0x3f7f, 0x4b80, 0x4300) for s in (0, 0x8000)], "uint16")
    info = np.finfo(dtype)
    values = [0, 0.5, 1, 1.5, 2.5, 0.49999999999999994, 3.0000001, 65504, 65520, 99.99, 1 / 3, 2.0**-24, 2.0**-25, 1.0000001 * 2.0**-25, 2.0**-149, 1 + 2.0**-11, 1 + 3 * 2.0**-11,
              1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-24, 1 + 2.0**-53, 3.4028235677973366e38, 1e300, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 8388609, 4503599627370497.5]
    return np.array(values + [-v for v in values]).astype(dtype)


def complexes(dtype):
    parts = floats({"complex64": "float32", "complex128": "float64"}[dtype])
    array = np.empty(parts.size, dtype)
    array.real, array.imag = parts, np.roll(parts, 5)
    return array


def edges(dtype):
    if dtype == "bool":
        return np.array([0, 1, 2, 3, 127, 128, 255], "uint8").view(bool)  # any byte that is not zero is true
    return integers(dtype) if dtype in INTEGERS else complexes(dtype) if dtype in C_NAMES else floats(dtype)


def numbers(array, dtype):
    return widened(array) if dtype == "bfloat16" else array.view("uint8") != 0 if dtype == "bool" else array


# ---- the table: rows of (dtype of the result, expression, its values, where it is defined) ----

def convert(values, to):
    return to_bfloat16(values) if to == "bfloat16" else values.astype(to)


def fits(values, to):
    """C++ says nothing of floats beyond an integer's range."""
    if values.dtype.kind not in "fc" or to not in INTEGERS:
        return np.ones(values.shape, bool)
    info, real = np.iinfo(to), np.real(values).astype("float64")
    return (real > float(info.min) - 1) & (real < float(info.max) + (1 if info.bits < 64 else 0)) & (real >= -(2.0**63))


def casts(source, values):
    for to in ["bool"] + INTEGERS + ["float16", "bfloat16", "float32", "float64"] + list(C_NAMES):
        defined = fits(values, to)
        safe = np.where(defined, values, values.dtype.type(0))
        result = convert(np.real(safe) if to not in C_NAMES and to != "bool" else safe, to)
        yield to, f"({C_NAMES.get(to, to)})x", result, defined
        if source not in ("bfloat16", "bool") and to != "bool" and not (source in INTEGERS and to not in INTEGERS):  # there and back
            yield source, f"({C_NAMES.get(source, source)})({C_NAMES.get(to, to)})x", numbers(result, to).astype(source), defined


def pairs(values):
    return values, np.roll(values, 3)


def rounded_half_away(values):
    def one(v):
        return v if v != v or abs(v) == float("inf") else float(np.copysign(float(floor(abs(Fraction(v)) + Fraction(1, 2))), v))
    return np.array([one(v) for v in values.astype("float64").tolist()])


def of_floats(source, values):
    def keep(v):
        return to_bfloat16(v) if source == "bfloat16" else np.asarray(v).astype(source)
    x, y = pairs(values)
    real, other = x.astype("float32") if source in HALVES else x, y.astype("float32") if source in HALVES else y
    nan = np.isnan(x)
    for name, function in (("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)):
        yield "bool", f"{name}(x)", function(x), None
    yield "bool", "signbit(x)", np.signbit(x), ~nan
    for sign, function in (("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)):
        yield "bool", f"x {sign} y", function(x, y), None
        yield "bool", f"!(x {sign} y)", ~function(x, y), None
    different = (x != y) | nan  # of two zeros either may come
    for name, function in (("min", np.fmin), ("max", np.fmax), ("fmin", np.fmin), ("fmax", np.fmax)):
        yield source, f"{name}(x, y)", keep(function(real, other)), different
    for text, result in (("x + y", real + other), ("x - y", real - other), ("x * y", real * other), ("x / y", real / other), ("-x", -real), ("x + -0.0f", real + -real.dtype.type(0)),
                         ("0.0f - x", 0 - real), ("0 - fabs(x)", 0 - np.abs(real)), ("x * -0.0f", real * -real.dtype.type(0)), ("copysign(x, y)", np.copysign(real, other)), ("fabs(x)", np.abs(real)), ("abs(x)", np.abs(real)),
                         ("floor(x)", np.floor(real)), ("ceil(x)", np.ceil(real)), ("trunc(x)", np.trunc(real)), ("rint(x)", np.rint(real)), ("nearbyint(x)", np.rint(real)),
                         ("round(x)", rounded_half_away(real).astype(real.dtype)), ("sqrt(x)", np.sqrt(real)), ("fmod(x, y)", np.fmod(real, other)), ("x > y ? x : y", np.where(x > y, x, y)),
                         ("isnan(x) ? y : x", np.where(nan, y, x)),
                         ("x < 0 ? x : (T)0", np.where(x < 0, real, real.dtype.type(0))), ("0 > x ? (T)0 : x", np.where(0 > x, real.dtype.type(0), real)),
                         ("x > 0 ? x : (T)0", np.where(x > 0, real, real.dtype.type(0))), ("0 < x ? (T)0 : x", np.where(0 < x, real.dtype.type(0), real)), ("x < 0 ? (T)-x : x", np.where(x < 0, -real, real))):
        yield source, text, keep(result), ~np.isnan(y) if text.startswith("copysign") else None
    inside = np.abs(x) < 100
    for to in ("int8", "int32", "int64", "uint64"):
        fine = inside & ((x > -1) | (to[0] != "u"))
        yield source, f"(T)({to})x", keep(np.where(fine, real, 0).astype(to).astype("float64")), fine
        yield "float64", f"fabs((double)x) < 100 ? (double)({to})(double)x : 100.0", np.where(inside, np.where(fine, real, 0).astype(to), 100).astype("float64"), fine | ~inside
    if source != "bfloat16":
        yield source, "nextafter(x, y)", np.nextafter(x, y), None


def of_integers(source, values):
    x, y = pairs(values)
    rest = np.where(y == 0, x.dtype.type(0), np.fmod(x, y)).astype(source)
    quotient = np.where(y == 0, x.dtype.type(0), (x - rest) // y).astype(source)
    rows = (("x + y", x + y), ("x - y", x - y), ("x * y", x * y), ("x / y", quotient), ("x % y", rest), ("x << y", np.left_shift(x, y)), ("x >> y", np.right_shift(x, y)), ("-x", -x),
            ("~x", ~x), ("abs(x)", np.abs(x)), ("min(x, y)", np.minimum(x, y)), ("max(x, y)", np.maximum(x, y)), ("x & y | x ^ y", x & y | x ^ y), ("x * x - y * y", x * x - y * y),
            ("x / 3", np.trunc(np.array([Fraction(int(v), 3).__trunc__() for v in x], object)).astype(source)), ("x % 7", np.fmod(x, x.dtype.type(7))))
    for text, result in rows:
        yield source, text, result.astype(source), None
    yield "float64", "0.0 - x", 0.0 - x.astype("float64"), None
    yield "float32", "(float32)0 - (float32)x", np.float32(0) - x.astype("float32"), None
    yield "bool", "x < y", x < y, None
    yield "bool", "(bool)x == !!y", (x != 0) == (y != 0), None
    yield "bool", "x == y || !x", (x == y) | (x == 0), None


def of_complex(source, values):
    x, y = pairs(values)
    part = {"complex64": "float32", "complex128": "float64"}[source]
    yield part, "real(x)", x.real, None
    yield part, "imag(x)", x.imag, None
    yield source, "conj(x)", np.conj(x), None
    yield source, "-x", -x, None
    for text, result in (("x + y", x + y), ("x - y", x - y)):
        yield source, text, result, None
    yield "bool", "x == y", x == y, None
    yield "bool", "x != x", x != x, None
    narrow = np.empty(x.size, source)
    narrow.real, narrow.imag = x.real.astype("float16"), x.imag.astype("float16")
    yield source, f"{C_NAMES[source]}((float16)real(x), (float16)imag(x))", narrow, None


def table():
    """(input dtype, rows): what makes one kernel."""
    for source in ["bool"] + INTEGERS + FLOATS + ["bfloat16"] + list(C_NAMES):
        values = numbers(edges(source), source)
        yield source, list(casts(source, values))
        rows = of_integers if source in INTEGERS else of_complex if source in C_NAMES else of_floats if source != "bool" else None
        if rows:
            yield source, list(rows(source, values))
    # Alone in a kernel, as they were met: other vectors are made where nothing else is computed.
    yield from alone("complex128", "(complex<double>)(complex<float>)x", "(T)(complex<float>)x")
    yield from alone("float64", "(T)(int64)x")
    for half in HALVES:
        yield from alone(half, "signbit(x)", "abs(x)")


def alone(source, *texts):
    values = numbers(edges(source), source)
    rows = list(casts(source, values)) + list({"c": of_complex, "f": of_floats, "b": of_floats}[source[0]](source, values))
    for text in texts:
        found = [row for row in rows if row[1] == text.replace("(T)(complex", "(complex<double>)(complex")]
        yield source, [(found[0][0], text, *found[0][2:])]


def check_group(kiln, source, rows):
    array = edges(source)
    other = np.roll(array, 3)
    body = "".join(f"z{k} = {text};\n" for k, (_, text, _, _) in enumerate(rows))
    for length in LENGTHS:
        where = np.arange(length) % array.size
        outs = [np.empty(length, "uint16" if dtype == "bfloat16" else dtype) for dtype, *_ in rows]
        kiln.run([("T", "x"), ("T", "y")], [(dtype if dtype != source else "T", f"z{k}") for k, (dtype, *_) in enumerate(rows)], body, [array[where], other[where]], outs,
                 [source] * 2, [dtype for dtype, *_ in rows])
        for (dtype, text, wanted, defined), got in zip(rows, outs):
            wanted = np.asarray(wanted)[where]
            different = (bits(got, dtype) != bits(wanted, dtype)).reshape(length, -1).any(1)
            if defined is not None:
                different &= defined[where]
            if different.any():
                k = int(np.argmax(different))
                failures.append(f"{source} x: {dtype} z = {text}: of {numbers(array, source)[where][k]!r}, {numbers(other, source)[where][k]!r} came {numbers(got, dtype)[k]!r}, "
                                f"expected {numbers(wanted, dtype)[k]!r} ({int(different.sum())} of {length} elements)")


def main():
    kiln = Library(sys.argv[1])
    rows = drawn(table(), 3)
    in_threads(lambda group: check_group(kiln, *group), rows)
    for failure in failures[:40]:
        print(failure)
    print(f"{sum(len(r) for _, r in rows)} expressions with {os.environ.get('KILN_CXX', 'the usual compiler')}, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    failures = []
    sys.exit(main())
