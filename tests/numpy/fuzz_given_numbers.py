"""Random numbers computed of numbers that a call is given by value, and what arrays beside them make of these: in dtype, value and refusal as Python and
NumPy have it. Each expression is one kernel, called again and again with other numbers, so that plans are remembered. Most arrays have no elements: then
nothing is compiled, and dtypes and refusals are all there is.
fuzz_given_numbers.py LIBRARY [SEED]"""
import ctypes
import operator
import random
import sys
import warnings

import numpy as np

from check_numbers import Numbers, same
from check_operations import SOAK
from host_kernels import KernelOptions, in_threads

DTYPES = ["uint8", "int8", "int16", "float16", "float32"]
WHOLE = [0, 1, -1, 2, 3, 5, 7, 10, 20, 100, 127, 128, 200, 255, 256, 300, -5, -100, -128, -129, 40000, -40000, 2**31, 2**40, 2**62, -2**63, 2**63, 2**64 - 1]
OTHERS = [True, False, 0.5, 2.0, -3.5, 1e5, 1e300, 0.0]
BINARY = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv, "%": operator.mod, "**": operator.pow,
          "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift, ">>": operator.rshift, "<": operator.lt, ">=": operator.ge,
          "==": operator.eq, "!=": operator.ne}
OFTEN = ["+", "-", "*"] * 4 + list(BINARY)
UNARY = {"-": operator.neg, "+": operator.pos, "~": operator.invert}
CASTS = {"int": int, "float": float, "bool": bool}
REFUSALS = (TypeError, OverflowError, ValueError, ZeroDivisionError)


class Number:
    """A number in an expression: its text, and what it is."""

    def __init__(self, text, function):
        self.text, self.function = text, function

    def value(self, given):
        value = self.function(given)
        if type(value) is int and not -2**63 <= value < 2**64:
            raise OverflowError("64 bits do not hold it")
        return value


def power(base, exponent):
    if isinstance(base, int) and isinstance(exponent, int) and exponent > 64 and abs(base) > 1:
        raise OverflowError("64 bits do not hold it")
    return base**exponent


def shift(x, count):
    if isinstance(x, int) and isinstance(count, int) and count > 64 and x != 0:
        raise OverflowError("64 bits do not hold it")
    return x << count


def binary(sign, a, b):
    function = {"**": power, "<<": shift}.get(sign, BINARY[sign])
    return Number(f"({a.text} {sign} {b.text})", lambda given: function(a.value(given), b.value(given)))


def leaf(dice, names):
    kind = dice.random()
    if kind < 0.7:
        name = dice.choice(names)
        return Number(name, lambda given: given[name])
    if kind < 0.93:
        literal = dice.choice([1, 2, 3, 10, 100, 255, 300, 0.5, 2.5])
        return Number(repr(literal), lambda given: literal)
    text = dice.choice(["x.shape[0]", "x.size", "x.ndim", "x[1:].size", "(x + x).shape[0]"])
    return Number(text, lambda given: int(eval(text, {}, {"x": given["x"]})))


def number(dice, names, depth):
    if depth == 0:
        return leaf(dice, names)
    kind = dice.random()
    a = number(dice, names, depth - 1)
    if kind < 0.1:
        sign = dice.choice(list(UNARY))
        return Number(f"({sign}{a.text})", lambda given: UNARY[sign](a.value(given)))
    if kind < 0.2:
        name = dice.choice(list(CASTS))
        return Number(f"{name}({a.text})", lambda given: CASTS[name](a.value(given)))
    return binary(dice.choice(OFTEN), a, number(dice, names, dice.randrange(depth)))


def fits(value, dtype):
    return type(value) is not int or np.dtype(dtype).kind not in "iu" or np.iinfo(dtype).min <= value <= np.iinfo(dtype).max


def where(condition, x, other):
    if not fits(other, x.dtype):  # which NumPy wraps
        raise OverflowError("it does not fit")
    return np.where(condition, x, other)


FORMS = [("x + {0}", lambda x, a, b: x + a), ("{0} - x", lambda x, a, b: a - x), ("x * {0}", lambda x, a, b: x * a), ("x < {0}", lambda x, a, b: x < a),
         ("{0} == x", lambda x, a, b: a == x), ("maximum(x, {0})", lambda x, a, b: np.maximum(x, a)), ("minimum({0}, x)", lambda x, a, b: np.minimum(a, x)),
         ("clip(x, {0}, {1})", lambda x, a, b: np.clip(x, a, b)), ("clip({0}, x, {1})", lambda x, a, b: np.clip(a, x, b)),
         ("where({0} > {1}, x, {1})", lambda x, a, b: where(a > b, x, b)), ("{0}", lambda x, a, b: np.asarray(a)), ("x / {0}", lambda x, a, b: x / a),
         ("x * float32({0})", lambda x, a, b: x * np.float32(a)), ("x.sum() + {0}", lambda x, a, b: x.sum() + a)]


def right_of(form, numbers, given):
    """NumPy's result, or why there is none; None where it is not to be had: what a NaN makes of comparisons' dtypes and the like."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            a, b = [n.value(given) for n in numbers]
            if any(isinstance(v, complex) for v in (a, b)):
                return None
            return np.asarray(form(given["x"], a, b))
        except REFUSALS as refusal:
            return refusal


def check(kiln, job):
    seed, is_empty, counts = job
    dice = random.Random(seed)
    names = ["s", "t", "u"][:dice.randint(1, 3)]
    text, form = FORMS[seed % len(FORMS)]
    numbers = [number(dice, names, dice.randint(1, 3)), number(dice, names, dice.randint(0, 2))]
    used = numbers if "{1}" in text else numbers[:1]
    written = text.format(*[n.text for n in numbers])
    numbers = used if len(used) == 2 else [numbers[0], Number("0", lambda given: 0)]
    dtype = dice.choice(DTYPES)
    x = np.zeros(0, dtype) if is_empty else np.array([0, 1, 2, 5, 100, 127, 90, 3, 77], dtype)
    values = [[v for v in (dice.choice(WHOLE) if dice.random() < 0.8 else dice.choice(OTHERS) for _ in names)] for _ in range(24 if is_empty else 8)]
    kernel = kiln.create(", ".join(["x"] + names), written)
    if isinstance(kernel, str):  # what is wrong with numbers of the text alone
        right = right_of(form, numbers, dict(zip(names, values[0]), x=x))
        assert isinstance(right, Exception), f"{written}: {kernel}"
        return
    for row in values + values[:2]:
        right = right_of(form, numbers, dict(zip(names, row), x=x))
        what = f"{seed}: {written} of {dtype}{x.shape}, {dict(zip(names, row))}"
        with np.errstate(all="ignore"):
            got = kiln.call(kernel, [x] + row, 1)
        if right is None:
            continue
        counts[isinstance(right, Exception)] += 1
        if isinstance(right, Exception):
            assert isinstance(got, str), f"{what}: {got[0].dtype} {got[0]}, but {right!r}"
        else:
            assert not isinstance(got, str), f"{what}: {got}\nnot {right}"
            same(got[0] + 0 if right.dtype.kind == "f" else got[0], right + 0 if right.dtype.kind == "f" else right, what)  # -0.0 or 0.0: no matter here
    kiln.c.kiln_kernel_free(kernel)


EXAMPLES = [("x + (s - 10)", "uint8", 5), ("clip(x, s - 10, 100)", "uint8", 5), ("maximum(x, s * 100)", "uint8", 5), ("clip(5, x, 100)", "uint8", 5),
            ("x * (s // 2 - 3)", "int8", -500), ("x + 2**s", "uint8", 8), ("x - int(s)", "uint8", 300.5), ("x < s * 2", "uint8", 200), ("x + s / 2", "float16", 7),
            ("x + s * x[1:].size", "uint8", 70)]


def check_examples(kiln):
    x = np.array([0, 1, 5, 100, 120])
    for text, dtype, s in EXAMPLES:
        number_text = text.replace("clip", "np.clip").replace("maximum", "np.maximum")
        for given in (1, s, 40, s):
            with np.errstate(all="ignore"):
                try:
                    right = eval(number_text, {"np": np}, {"x": x.astype(dtype), "s": given})
                except OverflowError:
                    right = None
            got = kiln.expression("x, s", [text], [x.astype(dtype), given])
            if right is None:
                assert isinstance(got, str) and "does not fit" in got and "^" in got, f"{text}, {given}: {got}"
            else:
                same(got[0], right, f"{text} of {dtype}, {given}")


OF_FUNCTIONS = [("int(sqrt(s))", lambda s: int(np.sqrt(s)), (10, 16, 90000, 0, 2.25)), ("int(floor(s))", lambda s: int(np.floor(s)), (2.75, -2.75, 300.5)),
                ("int(exp(s))", lambda s: int(np.exp(s)), (3, 0, 7.5)), ("int(sqrt(s) * 2)", lambda s: int(np.sqrt(s) * 2), (16, 2)),
                ("int(maximum(s, 2))", lambda s: int(np.maximum(s, 2)), (5, -5)), ("bool(exp(s))", lambda s: bool(np.exp(s)), (3, -1e6)),
                ("float(sqrt(s))", lambda s: float(np.sqrt(s)), (10, 2, 1e60)), ("int(abs(s))", lambda s: int(abs(s)), (-3.5, 300, -7))]


def check_functions(kiln):
    """What Python's types make of a function's result is a weak number, known to the device alone: a whole one wraps where NumPy refuses it."""
    for text, function, givens in OF_FUNCTIONS:
        for dtype in ("uint8", "int16", "float32") if text[0] != "f" else ("float32", "float64"):
            x = np.array([0, 1, 5, 100, 120], dtype)
            for s in givens:
                with np.errstate(all="ignore"):
                    value = function(s)
                    right = x + (np.array(value).astype(dtype) if type(value) is int else value)
                got = kiln.expression("x, s", [f"x + {text}"], [x, s])
                assert not isinstance(got, str), f"x + {text}, {s}: {got}"
                same(got[0], right, f"x + {text} of {dtype}, {s}")
            alone = kiln.expression("x, s", [text], [x, givens[0]])
            assert alone[0].dtype == np.array(function(givens[0])).dtype and alone[0] == function(givens[0]), f"{text}, {givens[0]}: {alone}"


class OptionsWithKernels(ctypes.Structure):
    _fields_ = KernelOptions._fields_ + [("reduce_type", ctypes.c_char_p), ("kernels", ctypes.POINTER(ctypes.c_void_p)), ("n_kernels", ctypes.c_int)]


def check_kernels(kiln):
    """What a kernel of the user's is given, which mixes with no others."""
    own, kernel = ctypes.c_void_p(), ctypes.c_void_p()
    x = np.arange(7, dtype="u1")
    kiln.check(kiln.c.kiln_elementwise_create(ctypes.byref(own), b"T x, T a", b"T y", b"y = i % 2 ? x : a", b"odd", None), "odd")
    options = OptionsWithKernels(ctypes.sizeof(OptionsWithKernels), 0, kernels=(ctypes.c_void_p * 1)(own), n_kernels=1)
    kiln.check(kiln.c.kiln_expression_create(ctypes.byref(kernel), b"x, s", b"odd(x, s * 2)", ctypes.byref(options)), "expression")
    for s in (10, 127, 3, 128, -1, 10):
        got = kiln.call(kernel, [x, s], 1)
        if 0 <= 2 * s < 256:
            same(got[0], np.where(np.arange(7) % 2 == 1, x, np.uint8(2 * s)), f"odd of {s}")
        else:
            assert isinstance(got, str) and "does not fit uint8" in got and "s * 2" in got, got
    kiln.c.kiln_kernel_free(kernel)
    kiln.c.kiln_kernel_free(own)


def main():
    kiln = Numbers(sys.argv[1])
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
    counts = {False: 0, True: 0}
    check_examples(kiln)
    check_kernels(kiln)
    check_functions(kiln)
    in_threads(lambda job: check(kiln, job), [(first + k, True, counts) for k in range(6000 if SOAK else 36)])
    in_threads(lambda job: check(kiln, job), [(first + k, False, counts) for k in range(600 if SOAK else 4)])
    print(f"{counts[False]} results and {counts[True]} refusals\nnone wrong")


if __name__ == "__main__":
    main()
