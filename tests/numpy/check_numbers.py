"""Numbers by value beside arrays, at the ends of every dtype and beyond, against NumPy's Python numbers: which dtype comes of them, what is refused, and
what operations that take all of them give. Each way in is asked: operations called one by one, expressions with the number in their text and with the
number as an input, traces. Without KILN_SOAK=1 operations and dtypes are drawn, and the ways beside operations take turns.
check_numbers.py LIBRARY"""
import ctypes
import itertools
import os
import sys
import warnings

import numpy as np

from check_operations import BINARY, DTYPES, PAIRS, SOAK, Operations, elements
from host_kernels import Argument, bits, drawn, in_threads

NUMBERS = [0, 1, -1, 2, 127, 128, -128, -129, 255, 256, 300, 32767, 32768, -32768, -32769, 65504, 65535, 65536, 70000, 2**31 - 1, 2**31, -2**31, -2**31 - 1,
           2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, -2**63, 2**63, 2**64 - 1, True, False, 0.5, 1e-10, -1e-300, 1e5, 3.5e38, -1e300, float("inf"),
           float("-inf"), float("nan"), 1j, 1e-300j, 1e300j]
WHOLE = [n for n in NUMBERS if type(n) is int]
COMPARISONS = BINARY[BINARY.index("equal"):BINARY.index("logical_and")]
LOGICAL = ["logical_and", "logical_or", "logical_xor"]
TAKE_ALL = COMPARISONS + LOGICAL + ["divide"]  # whatever whole number it is


def is_ours(name, dtype, number):
    """Where kiln goes further: NumPy refuses whole numbers beyond int64 where it makes int64 of them first, though the answer is known. Of a power of a
    negative number NumPy says so by its value, kiln gives what operation.h says."""
    return type(number) is int and (number > 2**63 - 1 and (name in LOGICAL or (name in COMPARISONS and dtype == "bool")) or (name == "power" and number < 0))


def by_numpy(function, values):
    """A result, or why there is none."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return np.asarray(function(*values))
        except (TypeError, OverflowError, ValueError) as refusal:
            return refusal


class Numbers(Operations):
    """The library, called in each of the ways."""

    def number(self, value):
        if type(value) is int and value > 2**63 - 1:
            a, rest = Argument(4, 0), np.array([value, 0], "u8")
            ctypes.memmove(ctypes.addressof(a) + 8, rest.ctypes.data, 16)
            return a
        return super().argument(value, None)

    def argument(self, value, keep, dtype=None):
        return self.number(value) if type(value) in (bool, int, float, complex) else super().argument(value, keep, dtype)

    def message(self):
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def call(self, kernel, values, n_out):
        """Results of a kernel, or a message."""
        keep = []
        arguments = (Argument * max(len(values), 1))(*[self.argument(v, keep) for v in values])
        outs = (ctypes.c_void_p * n_out)()
        status = self.c.kiln_kernel_call(kernel, outs, n_out, arguments, len(values), None)
        results = self.message() if status else [self.result(h) for h in outs]
        for h in keep + [ctypes.c_void_p(h) for h in outs if h]:
            self.c.kiln_array_free(h)
        return results

    def create(self, names, text):
        """A kernel of an expression, or a message."""
        kernel = ctypes.c_void_p()
        status = self.c.kiln_expression_create(ctypes.byref(kernel), names.encode(), text.encode(), None)
        return self.message() if status else kernel

    def expression(self, names, texts, values):
        kernel = self.create(names, ", ".join(texts))
        if isinstance(kernel, str):
            return kernel
        results = self.call(kernel, values, len(texts))
        self.c.kiln_kernel_free(kernel)
        return results

    def trace(self, calls, x):
        """Of one input: results of calls, a name and what it is given, None for the input; or a message."""
        trace, kernel, array, number = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_int()
        self.check(self.c.kiln_dtype_from_name(ctypes.byref(number), x.dtype.name.encode()), "dtype")
        self.check(self.c.kiln_trace_begin(ctypes.byref(trace), b"numbers"), "begin")
        self.check(self.c.kiln_trace_input(ctypes.byref(array), trace, b"x", number, 1, (ctypes.c_int64 * 1)(x.size)), "input")
        outs, message = [], None
        for name, given in calls:
            out = (ctypes.c_void_p * 1)()
            arguments = (Argument * len(given))(*[Argument(1, 0, array.value) if v is None else self.number(v) for v in given])
            if self.c.kiln_apply(out, 1, name.encode(), arguments, len(given), None):
                message = self.message()
                break
            outs.append(out[0])
        if not message:
            results = (ctypes.c_void_p * len(outs))(*outs)
            self.check(self.c.kiln_trace_end(ctypes.byref(kernel), trace, results, len(outs), None), "end")
        for h in outs + [array.value]:
            self.c.kiln_array_free(ctypes.c_void_p(h))
        self.c.kiln_trace_free(trace)
        if message:
            return message
        results = self.call(kernel, [x], len(calls))
        self.c.kiln_kernel_free(kernel)
        return results


def written(number):
    """As it stands in an expression."""
    return f"({number!r})".replace("inf", "np.inf").replace("nan", "np.nan")


def placed(x, number, side):
    return (x, number) if side == 0 else (number, x)


def ways(kiln, name, x, number, side, turn=None):
    """Each way in, and what came of it: an array, or a message. turn: the operation and, by turns, one of the other ways."""
    texts = [f"{name}({', '.join(placed('x', second, side))})" for second in (written(number), "s")]
    yield "called", kiln.operate(name, placed(x, number, side))
    others = [("written", lambda: kiln.expression("x", texts[:1], [x])), ("given", lambda: kiln.expression("x, s", texts[1:], [x, number])),
              ("traced", lambda: kiln.trace([(name, placed(None, number, side))], x))]
    for way, call in others if turn is None else [others[turn % len(others)]]:
        yield way, call()


def check_dtypes(kiln, job):
    """Dtypes and refusals, of no elements: nothing is compiled."""
    name, dtype = job
    x, function, count = np.zeros(0, dtype), getattr(np, name), 0
    for turn, (number, side) in enumerate(itertools.product(NUMBERS, (0, 1)), len(name) + DTYPES.index(dtype)):
        right = by_numpy(function, placed(x, number, side))
        if isinstance(right, OverflowError) and is_ours(name, dtype, number):
            continue
        wanted = "refused" if isinstance(right, Exception) else right.dtype.name
        for way, got in ways(kiln, name, x, number, side, None if SOAK else turn):
            got = "refused" if isinstance(got, str) else (got[0] if isinstance(got, list) else got).dtype.name
            assert got == wanted, f"{name}{placed(dtype, number, side)}, {way}: {got}, not {wanted}: {right}"
            count += 1
    return count


def same(got, right, what):
    assert not isinstance(got, str), f"{what}: {got}"
    assert got.dtype == right.dtype and got.shape == right.shape, f"{what}: {got.dtype}{got.shape}, not {right.dtype}{right.shape}"
    if right.dtype.kind == "c":  # a quotient: in which part a NaN is nobody says
        nan = np.isnan(right)
        assert np.array_equal(np.isnan(got), nan), f"{what}:\n{got}\nnot\n{right}"
        good = nan | (got == right) | (abs(got - right) <= 1e-5 * abs(right))
    else:
        good = bits(got) == bits(right) if right.dtype.kind != "b" else got == right
    assert np.all(good), f"{what}:\n{got}\nnot\n{right}"


def values_of(dtype):
    x = elements(dtype, "equal")
    return np.concatenate([x, np.array([-1, 127, 255, 32767, 65535]).astype(dtype)]) if x.dtype.kind in "iu" else x


def answer(name, x, number, side):
    """NumPy's, or the one that it would have without going by way of int64."""
    right = by_numpy(getattr(np, name), placed(x, number, side))
    if not isinstance(right, OverflowError):
        return right
    wide = np.array([number > 0]) if name in LOGICAL else np.array([float("inf")])
    return by_numpy(getattr(np, name), placed(x, wide, side))


def takes(name, dtype, number):
    """Comparisons of complex numbers with NaN are left out: NumPy orders them by rules of its own, and quotients by zero as well."""
    return not (np.dtype(dtype).kind == "c" or isinstance(number, complex)) or name in LOGICAL + ["equal", "not_equal"]


def check_given(kiln, dtype):
    """One kernel for all numbers, which are given to it: none of them is refused."""
    x, count = values_of(dtype), 0
    cases = [(name, side) for name in TAKE_ALL for side in (0, 1)]
    for number in NUMBERS:
        here = [(name, side) for name, side in cases if takes(name, dtype, number)]
        texts = [f"{name}({', '.join(placed('x', 's', side))})" for name, side in here]
        with np.errstate(all="ignore"):
            got = kiln.expression("x, s", texts, [x, number])
        assert not isinstance(got, str), f"{dtype} and {number!r}: {got}"
        for (name, side), result in zip(here, got):
            with np.errstate(all="ignore"):
                same(result, answer(name, x, number, side), f"{name}{placed(dtype, number, side)}, given: of {x.tolist()}")
                count += x.size
    return count


def check_written(kiln, dtype):
    """The same with the numbers in the text, and recorded by a trace, some at a time."""
    x, count = values_of(dtype), 0
    cases = [(name, number, side) for name in TAKE_ALL for number in NUMBERS for side in (0, 1) if takes(name, dtype, number)]
    cases = cases if SOAK else cases[DTYPES.index(dtype)::41]
    for first in range(0, len(cases), 24):
        some = cases[first:first + 24]
        texts = [f"{name}({', '.join(placed('x', written(number), side))})" for name, number, side in some]
        both = [("written", kiln.expression("x", texts, [x])), ("traced", kiln.trace([(n, placed(None, v, side)) for n, v, side in some], x))]
        for way, got in both:
            assert not isinstance(got, str), f"{dtype}, {way}: {texts}: {got}"
            for (name, number, side), result in zip(some, got):
                same(result, answer(name, x, number, side), f"{name}{placed(dtype, number, side)}, {way}: of {x.tolist()}")
                count += x.size
    return count


def check_called(kiln, job):
    """And by operations, each of which has a kernel for a pair of dtypes."""
    name, dtype = job
    x, count = values_of(dtype), 0
    for number in NUMBERS:
        if takes(name, dtype, number):
            with np.errstate(all="ignore"):
                same(kiln.operate(name, (x, number)), answer(name, x, number, 0), f"{name}{(dtype, number)}, called: of {x.tolist()}")
            count += x.size
    return count


def check_others(kiln):
    """A number beyond a floating dtype is an infinity; one for what is declared bool is its truth; what NumPy's where() wraps is refused."""
    x = np.array([0, 1, -2, 6e4], "f2")
    for name, number in (("add", 70000), ("add", -1e5), ("multiply", 2**64 - 1), ("maximum", 1e300), ("minimum", -70000)):
        right = by_numpy(getattr(np, name), (x, number))
        for way, got in ways(kiln, name, x, number, 0):
            same(got[0] if isinstance(got, list) else got, right, f"{name} of float16 and {number}, {way}")
    for number in (0, 5, 0.5, 0.0, 1j, True):
        right = np.where(number, x, -x)
        same(kiln.operate("where", (number, x, -x)), right, f"where {number}")
        same(kiln.expression("x, s", ["where(s, x, -x)"], [x, number])[0], right, f"where {number}, given")
        same(kiln.expression("x", [f"where({written(number)}, x, -x)"], [x])[0], right, f"where {number}, written")
    x = np.array([0, 1, 200], "u1")
    for got in (kiln.operate("where", (x == 0, 300, x)), kiln.expression("x", ["where(x == 0, 300, x)"], [x]), kiln.operate("clip", (x, 300, 400))):
        assert isinstance(got, str) and "does not fit uint8" in got, got
    # A number that is computed of numbers is whole, and compared as such.
    for s in (100, 200, -3):
        same(kiln.expression("x, s", ["x < s * 2"], [x, s])[0], x < s * 2, f"x < {s} * 2")
    for s in (2.5, -2.5, 0.0):
        got = kiln.expression("x, s", ["x + s.astype(int16)", "x * bool_(s)"], [x, s])
        same(got[0], x + np.int16(s), f"x + int16({s})")
        same(got[1], x * np.bool_(s), f"x * bool({s})")


BOUNDS = [0, 1, -5, 100, 127, 128, -128, -129, 254, 255, 256, 300, -70000, 70000, 2**31, -2**31 - 1, 2**63 - 1, -2**63, 2**64 - 1, True, 2.5]


def check_clip(kiln, dtype):
    """Bounds by value, of which NumPy drops those that the dtype of x does not go beyond: called, given, written, traced, as an extent, and beside a
    bound that is an array of another dtype."""
    x, count = values_of(dtype), 0
    x = x[~((x == 0) & np.signbit(x))] if x.dtype.kind == "f" else x  # which zero of two comes nobody says
    y = np.resize(np.array([3, 1000, -7, 90, 40], "i2"), x.shape)
    written_ones, texts, traced_ones = [], [], []
    for turn, (low, high) in enumerate(itertools.product(BOUNDS, BOUNDS)):
        if not SOAK and (turn + DTYPES.index(dtype)) % 5:
            continue
        right = by_numpy(np.clip, (x, low, high))
        both = [("called", kiln.operate("clip", (x, low, high))), ("given", kiln.expression("x, a, b", ["clip(x, a, b)"], [x, low, high]))]
        if isinstance(right, Exception):
            both += [("written", kiln.expression("x", [f"clip(x, {written(low)}, {written(high)})"], [x])), ("traced", kiln.trace([("clip", (None, low, high))], x))]
        elif SOAK or turn % 7 == DTYPES.index(dtype) % 7:
            written_ones.append((right, f"clip of {dtype}, {low}, {high}, written"))
            texts.append(f"clip(x, {written(low)}, {written(high)})")
            traced_ones.append(("clip", (None, low, high)))
        for way, got in both:
            what = f"clip of {dtype}, {low!r}, {high!r}, {way}: of {x.tolist()}"
            if isinstance(right, Exception):
                assert isinstance(got, str) and "does not fit" in got, f"{what}: {got}, NumPy: {right}"
            else:
                same(got[0] if isinstance(got, list) else got, right, what)
            count += x.size
    for first in range(0, len(texts), 24):
        some = slice(first, first + 24)
        for got in (kiln.expression("x", texts[some], [x]), kiln.trace(traced_ones[some], x)):
            assert not isinstance(got, str), f"{texts[some]}: {got}"
            for result, (right, what) in zip(got, written_ones[some]):
                same(result, right, what)
    for bound in BOUNDS:
        for values, text in (((x, y, bound), "clip(x, y, s)"), ((x, bound, y), "clip(x, s, y)")):
            right = by_numpy(np.clip, values)
            for got in (kiln.operate("clip", values), kiln.expression("x, y, s", [text], [x, y, bound])):
                what = f"{text} of {dtype}, int16, {bound!r}"
                if isinstance(right, Exception):
                    assert isinstance(got, str) and "does not fit" in got, f"{what}: {got}, NumPy: {right}"
                else:
                    same(got[0] if isinstance(got, list) else got, right, what)
    got = kiln.expression("x, y", ["clip(x, y.shape[0] - 301, y.shape[0])"], [x, np.zeros(300, "u1")])
    same(got[0], np.clip(x, -1, 300), f"clip of {dtype} to an extent")
    return count


def main():
    kiln = Numbers(sys.argv[1])
    counts = []
    names = [name for name in BINARY if name not in PAIRS and name != "ldexp"]  # whose numbers check_operations.py leaves out, too
    in_threads(lambda job: counts.append(check_dtypes(kiln, job)), drawn(itertools.product(names, DTYPES), 60))
    print(f"{sum(counts)} dtypes and refusals")
    counts = []
    for check, todo in ((check_given, drawn(DTYPES, 4)), (check_written, drawn(DTYPES, 3)),
                        (check_clip, drawn([dtype for dtype in DTYPES if np.dtype(dtype).kind in "iu" or dtype in ("bool", "float16")], 4)),
                        (check_called, drawn(itertools.product(TAKE_ALL, DTYPES), 20))):
        in_threads(lambda job: counts.append(check(kiln, job)), todo)
    check_others(kiln)
    print(f"{sum(counts)} elements\nnone wrong")


if __name__ == "__main__":
    main()
