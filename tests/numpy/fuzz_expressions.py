"""Random kernels over random layouts on the host, bit for bit against NumPy.

    python3 fuzz_expressions.py LIBRARY [COUNT [SEED]]

Each operation of an expression is rounded to a dtype, `(int8)(a + b)`, so that NumPy's operation on arrays of that dtype means the same. A NaN is
compared as a NaN: which one it is, neither says. KILN_SOAK=1 runs 1,000 kernels, where COUNT is not given.
"""
import os
import random
import sys
import warnings

import numpy as np

from host_kernels import FLOATS, INTEGERS, Library, bits, in_threads

COMPLEX = {"complex64": "complex<float>", "complex128": "complex<double>"}
DTYPES = ["bool"] + INTEGERS + FLOATS + list(COMPLEX)


def c_name(dtype):
    return COMPLEX.get(dtype, dtype)


def truncated(x, y):
    """C's quotient, and NumPy's where C has none."""
    rest = np.fmod(x, y)
    return np.where(y == 0, x.dtype.type(0), (x - rest) // y).astype(x.dtype)


def remainder(x, y):
    return np.where(y == 0, x.dtype.type(0), np.fmod(x, y)).astype(x.dtype)


INTEGER_BINARY = [("{} + {}", np.add), ("{} - {}", np.subtract), ("{} * {}", np.multiply), ("{} & {}", np.bitwise_and), ("{} | {}", np.bitwise_or),
                  ("{} ^ {}", np.bitwise_xor), ("{} / {}", truncated), ("{} % {}", remainder), ("{} << {}", np.left_shift), ("{} >> {}", np.right_shift),
                  ("min({}, {})", np.minimum), ("max({}, {})", np.maximum)]
INTEGER_UNARY = [("-{}", np.negative), ("~{}", np.invert), ("abs({})", np.abs), ("+{}", np.positive)]
FLOAT_BINARY = [("{} + {}", np.add), ("{} - {}", np.subtract), ("{} * {}", np.multiply), ("{} / {}", np.divide), ("fmod({}, {})", np.fmod)]
FLOAT_UNARY = [("-{}", np.negative), ("fabs({})", np.abs), ("sqrt({})", np.sqrt), ("floor({})", np.floor), ("ceil({})", np.ceil), ("trunc({})", np.trunc),
               ("rint({})", np.rint), ("abs({})", np.abs)]
COMPLEX_BINARY = [("{} + {}", np.add), ("{} - {}", np.subtract)]
COMPLEX_UNARY = [("-{}", np.negative), ("conj({})", np.conj)]
COMPARISONS = [("<", np.less), ("<=", np.less_equal), (">", np.greater), (">=", np.greater_equal), ("==", np.equal), ("!=", np.not_equal)]
LOGIC = [("{} && {}", np.logical_and), ("{} || {}", np.logical_or), ("{} ^ {}", np.logical_xor), ("{} == {}", np.equal)]


class Expressions:
    """Random expressions over named inputs, each as C++ and as its value."""

    def __init__(self, rng, inputs):
        self.rng, self.inputs = rng, inputs  # name: (dtype, array)

    def leaf(self, dtype):
        fitting = [name for name, (d, _) in self.inputs.items() if d == dtype]
        if fitting and self.rng.random() < 0.8:
            name = self.rng.choice(fitting)
            return name, self.inputs[name][1]
        if dtype == "bool" or self.rng.random() < 0.7:
            return self.cast(dtype, 0)
        value = self.rng.choice([0, 1, 2, 3, 7, 5, 100] + ([] if dtype.startswith("u") else [-1, -3]))
        return f"({c_name(dtype)})({value})", np.asarray(value).astype(dtype)

    def cast(self, dtype, depth):
        source = self.rng.choice([d for d in DTYPES if d not in COMPLEX or dtype in COMPLEX or dtype == "bool"])
        fitting = [name for name, (d, _) in self.inputs.items() if d == source]
        if depth > 0:
            text, value = self.make(source, depth - 1)
        elif fitting:
            name = self.rng.choice(fitting)
            text, value = name, self.inputs[name][1]
        else:
            text, value = self.rng.choice([(name, a) for name, (d, a) in self.inputs.items() if d not in COMPLEX])
            source = str(value.dtype)
        if source in FLOATS and dtype in INTEGERS:  # within the range: C++ says nothing about the rest
            least = 0 if dtype.startswith("u") else -100
            inside = (value > least) & (value < 100)
            return f"({text} > {least} && {text} < 100 ? ({dtype}){text} : ({dtype})0)", np.where(inside, np.where(inside, value, 0).astype(dtype), np.zeros((), dtype))
        return f"({c_name(dtype)}){text}", value.astype(dtype)

    def make(self, dtype, depth):
        text, value = self.operation(dtype, depth) if depth > 0 else self.leaf(dtype)
        return f"({text})", value

    def rounded(self, dtype, form, function, *operands):
        text = form.format(*(text for text, _ in operands))
        return f"({c_name(dtype)})({text})", function(*(value for _, value in operands)).astype(dtype)

    def operation(self, dtype, depth):
        what = self.rng.random()
        if what < 0.15:
            return self.cast(dtype, depth)
        if what < 0.25 and dtype not in COMPLEX:
            (c, condition), (a, x), (b, y) = self.make("bool", depth - 1), self.make(dtype, depth - 1), self.make(dtype, depth - 1)
            return f"{c} ? ({c_name(dtype)}){a} : ({c_name(dtype)}){b}", np.where(condition, x, y).astype(dtype)
        if dtype == "bool":
            return self.truth(depth)
        unary, binary = (INTEGER_UNARY, INTEGER_BINARY) if dtype in INTEGERS else (FLOAT_UNARY, FLOAT_BINARY) if dtype in FLOATS else (COMPLEX_UNARY, COMPLEX_BINARY)
        if what < 0.4:
            return self.rounded(dtype, *self.rng.choice(unary), self.make(dtype, depth - 1))
        return self.rounded(dtype, *self.rng.choice(binary), self.make(dtype, depth - 1), self.make(dtype, depth - 1))

    def truth(self, depth):
        what = self.rng.random()
        if what < 0.3:
            return self.rounded("bool", *self.rng.choice(LOGIC), self.make("bool", depth - 1), self.make("bool", depth - 1))
        if what < 0.4:
            a, x = self.make("bool", depth - 1)
            return f"!{a}", ~x
        if what < 0.6:
            form, function = self.rng.choice([("isnan({0})", np.isnan), ("isinf({0})", np.isinf), ("isfinite({0})", np.isfinite),
                                              ("!isnan({0}) && signbit({0})", lambda x: ~np.isnan(x) & np.signbit(x))])
            return self.rounded("bool", form, function, self.make(self.rng.choice(FLOATS), depth - 1))
        sign, function = self.rng.choice(COMPARISONS)
        dtype = self.rng.choice(DTYPES[:-2] if sign not in ("==", "!=") else DTYPES)
        return self.rounded("bool", "{} " + sign + " {}", function, self.make(dtype, depth - 1), self.make(dtype, depth - 1))


def random_values(rng, dtype, count):
    """Random bits, small numbers and the ends, mixed."""
    generator = np.random.default_rng(rng.getrandbits(64))
    small = generator.integers(-4, 70, count)
    if dtype == "bool":
        return generator.integers(0, 2, count).astype(bool)
    if dtype in COMPLEX:
        return (random_values(rng, "float64", count) + 1j * np.where(small > 3, small, 0.1)).astype(dtype)
    noise = generator.integers(0, 256, count * np.dtype(dtype).itemsize, dtype=np.uint8).view(dtype)
    if dtype in INTEGERS:
        info = np.iinfo(dtype)
        ends = generator.choice(np.array([info.min, info.max, 0, 1, info.max - 1], dtype), count)
    else:
        info = np.finfo(dtype)
        ends = generator.choice(np.array([0.0, -0.0, 0.5, -0.5, 1.5, -1, np.inf, -np.inf, np.nan, info.max, info.min, info.tiny, info.smallest_subnormal], dtype), count)
    which = generator.integers(0, 3, count)
    return np.select([which == 0, which == 1], [noise, small.astype(dtype)], ends).astype(dtype)


def random_view(rng, dtype, shape, is_output):
    """An array of that shape somewhere in a buffer: turned, stepped, reversed, and where it is read alone, broadcast."""
    extents = [1 if not is_output and rng.random() < 0.15 else n for n in shape]
    order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.4 else list(range(len(shape)))
    steps = [rng.choice([1, 1, 1, 2, 3]) if rng.random() < 0.4 else 1 for _ in shape]
    spread = [extents[k] * steps[k] for k in order]
    shift = rng.choice([0, 0, 1, 3])
    count = int(np.prod(spread)) + shift
    buffer = random_values(rng, dtype, count)
    view = buffer[shift:].reshape(spread).transpose(np.argsort(order))
    index = tuple(slice(None, None, -s if rng.random() < 0.2 else s) for s in steps)
    view = view[index]
    if not is_output and rng.random() < 0.3:
        drop = rng.randrange(len(shape) + 1)
        while drop > 0 and view.shape[0] != 1:  # fewer axes: only those of one element
            view, extents = view[:1], [1] + extents[1:]
        if drop > 0:
            view = view[0, ...]
    return buffer, view


def make_case(seed):
    rng = random.Random(seed)
    size = rng.choice([7, 60, 1000, 5000]) if rng.random() < 0.98 else 1 << 21
    shape, left = [], size
    for _ in range(rng.choice([1, 1, 2, 2, 3, 4])):
        n = max(1, min(left, rng.choice([1, 2, 3, 5, 8, 16, 33, left])))
        shape.append(n)
        left = max(1, left // n)
    shape[-1] *= left
    inputs = {}
    for k in range(rng.choice([2, 3, 4])):
        dtype = rng.choice(DTYPES)
        inputs[f"x{k}"] = (dtype, random_view(rng, dtype, shape, False)[1])
    if all(dtype in COMPLEX for dtype, _ in inputs.values()):
        inputs["x0"] = ("int32", random_view(rng, "int32", shape, False)[1])
    expressions, outputs, body = Expressions(rng, inputs), [], ""
    for k in range(rng.choice([1, 2, 3])):
        dtype = rng.choice(DTYPES)
        with np.errstate(all="ignore"):
            text, value = expressions.make(dtype, rng.choice([1, 2, 3]))
        outputs.append((dtype, f"z{k}", value) + random_view(rng, dtype, shape, True))
        body += f"z{k} = {text};\n"
    return inputs, outputs, body


def run_case(kiln, seed):
    inputs, outputs, body = make_case(seed)
    wanted = []
    for dtype, name, value, buffer, view in outputs:
        before = buffer.copy()
        offset = view.__array_interface__["data"][0] - buffer.__array_interface__["data"][0]
        np.ndarray(view.shape, view.dtype, before.data, offset, view.strides)[...] = value
        wanted.append(before)
    kiln.run([(d, n) for n, (d, _) in inputs.items()], [(o[0], o[1]) for o in outputs], body, [a for _, a in inputs.values()], [o[4] for o in outputs])
    for (dtype, name, value, buffer, view), expected in zip(outputs, wanted):
        different = bits(buffer) != bits(expected)
        if different.any():
            at = int(np.argmax(different)) // (2 if buffer.dtype.kind == "c" else 1)
            layouts = ", ".join(f"{d} {n} {a.shape} {a.strides}" for n, (d, a) in inputs.items())
            raise AssertionError(f"kernel {seed}: {name} ({dtype} {view.shape} {view.strides}), element {at} of its buffer is {buffer[at]!r}, expected {expected[at]!r}, "
                                 f"{int(different.sum())} of {different.size} differ\n{layouts}\n{body}")


def main():
    kiln = Library(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000 if os.environ.get("KILN_SOAK") else 16
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    in_threads(lambda seed: run_case(kiln, seed), range(first, first + count))
    print(f"{count} kernels with {os.environ.get('KILN_CXX', 'the usual compiler')}, bit for bit as NumPy has them")


if __name__ == "__main__":
    np.seterr(all="ignore")
    warnings.simplefilter("ignore")
    main()
