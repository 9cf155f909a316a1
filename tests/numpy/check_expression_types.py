"""Dtypes and shapes that expressions have, against NumPy's: random expressions of operators, functions, methods, reductions, casts, slices and numbers
by value, over arguments of any dtype: arrays, numbers of a dtype, Python's numbers. What has one dtype of three arguments has NumPy's common one,
which is not that of one after the other. Where NumPy refuses, kiln does. Nothing is compiled.
check_expression_types.py PROGRAM [--count N] [--seed S]     PROGRAM: expression_types"""
import argparse
import ast
import functools
import os
import random
import subprocess
import sys
import warnings

import numpy as np

import drawn

INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
PYTHON = {int: "int64", float: "float64", bool: "bool", complex: "complex128"}
DTYPES = ["bool"] + INTEGERS + "float16 float32 float64 complex64 complex128".split()
UNARY = "-{} +{} ~{} abs({}) sqrt({}) exp({}) log1p({}) sin({}) arctan({}) tanh({}) cbrt({}) square({}) negative({}) conjugate({}) rint({}) " \
    "floor({}) isnan({}) isfinite({}) signbit({}) logical_not({}) invert({}) ({}).astype({dtype}) {dtype}({}) np.log2({}) acos({})".split()
BINARY = "+ - * / // % ** & | ^ << >> < <= > >= == !=".split()
CALLS = "add subtract multiply divide floor_divide remainder power arctan2 hypot copysign maximum minimum fmax fmin equal less logical_and logical_or " \
    "bitwise_and bitwise_xor left_shift right_shift pow mod".split()
FOLDS = "sum prod mean min max var std all any count_nonzero ptp nansum".split()
NUMBERS = "0 1 2 3 -1 7 255 300 70000 2**40 0.5 -1.5 1e10 2. 1j True False pi 2/3 7//2 -7%3".split()
NAMES = {n: getattr(np, n) for n in dir(np) if not n.startswith("_")}
NAMES.update(float=float, int=int, bool=bool, complex=complex)
NAMES.update(of_numpy=lambda x: np.asarray(x) if type(x) is np.float64 else x)
VALUES = ["ZeroDivisionError", "MemoryError", "OverflowError", "negative shift count", "Integers to negative integer powers"]


class OfNumPy(ast.NodeTransformer):
    """Operands of operators as of_numpy() has them. A float64 of NumPy's is a float of Python's too, so that Python would compute it with a complex number
    by itself: to a number of its own."""

    def of_numpy(self, node):
        return ast.Call(ast.Name("of_numpy", ast.Load()), [node], [])

    def visit_BinOp(self, node):
        self.generic_visit(node)
        node.left, node.right = self.of_numpy(node.left), self.of_numpy(node.right)
        return node

    def visit_Compare(self, node):
        self.generic_visit(node)
        node.left, node.comparators = self.of_numpy(node.left), [self.of_numpy(n) for n in node.comparators]
        return node


@functools.lru_cache(64)  # texts are evaluated again as parts of others
def code_of(text):
    return compile(ast.fix_missing_locations(OfNumPy().visit(ast.parse(text, mode="eval"))), "text", "eval")


class Maker:
    """A random expression, and its value by NumPy so far as it goes."""

    def __init__(self, rng):
        self.rng, self.values, self.words = rng, {"np": np}, []
        self.shape = [rng.choice([1, 2, 3, 4]) for _ in range(rng.choice([0, 1, 2, 2, 3]))]
        for name in "xyzw"[:rng.randint(1, 4)]:
            self.add_argument(name)

    def add_argument(self, name):
        rng, kind = self.rng, self.rng.random()
        if kind < 0.15:
            value = rng.choice([2, 3, 0.5, True, 1 + 1j])
            word = "~" + PYTHON[type(value)]
        else:
            dtype = np.dtype(rng.choice(DTYPES))
            shape = [] if kind < 0.3 else [1 if rng.random() < 0.2 else e for e in self.shape[rng.choice([0, 0, 0, 1]):]]
            value = np.ones(shape, dtype)
            word = dtype.name + ("" if kind < 0.22 else "[" + ",".join(map(str, shape)) + "]")
            value = dtype.type(1) if kind < 0.22 else value
        self.values[name] = value
        self.words.append(word)

    def value(self, text):
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return eval(code_of(text), NAMES, self.values)

    def leaf(self):
        leaf = self.rng.choice([n for n in self.values if n != "np"] if self.rng.random() < 0.75 else NUMBERS)
        is_number = leaf not in self.values or type(self.values[leaf]) in PYTHON or isinstance(self.values[leaf], np.generic)
        if not is_number or np.iscomplexobj(self.value(leaf)) or self.rng.random() < 0.9:
            return leaf
        return f"{self.rng.choice(['int', 'float', 'bool', 'complex'])}({leaf})"

    def axis(self, value):
        ndim = np.ndim(value)
        if self.rng.random() < 0.05:
            return str(ndim + (ndim == 0))  # NumPy takes axis 0 of a number
        if not ndim or self.rng.random() < 0.25:
            return "None"
        axes = [a - ndim if self.rng.random() < 0.5 else a for a in self.rng.sample(range(ndim), self.rng.randint(1, ndim))]
        return str(axes[0]) if len(axes) == 1 else str(tuple(axes))

    def in_dtype(self, name):
        dtypes = ["float32", "float64", "int8", "uint16", "complex64"] if name in ("sum", "prod") else ["float32", "float64"] if name in ("mean", "var", "std") else []
        return f", dtype={self.rng.choice(dtypes)}" if dtypes and self.rng.random() < 0.3 else ""

    def view(self, text, value):
        rng, ndim = self.rng, np.ndim(value)
        if rng.random() < 0.5:
            items = [rng.choice([":", "::-1", "1:", "::2", ":-1", "0", "-1", "None"]) for _ in range(rng.randint(1, max(ndim, 1)))]
            if rng.random() < 0.3:
                items.insert(rng.randrange(len(items) + 1), "...")
            return f"({text})[{', '.join(items)}]"
        axes = rng.sample(range(ndim), ndim)
        return rng.choice([f"({text}).T", f"({text}).reshape(-1)", f"expand_dims({text}, {rng.randint(-1, ndim)})", f"squeeze({text})",
                           f"transpose({text}, {tuple(axes)})", f"ravel({text})", f"({text}).size", f"({text}).ndim", f"arange({rng.randint(1, 4)})",
                           f"len({text})", f"({text}).shape[-1]", f"zeros_like({text})", f"full_like({text}, 2, dtype={rng.choice(DTYPES).replace('bool', 'bool_')})",
                           f"broadcast_to({text}, (2, 3, 4))", f"full(({text}).shape, {text})", f"ones(({text}).shape)", f"broadcast_to({self.leaf()}, ({text}).shape)"])

    def grow(self, depth):
        """Text of a value that NumPy has, or has not: then the text ends with it."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.1:
            return self.leaf()
        a = self.grow(depth - 1)
        way = rng.random()
        if way < 0.2:
            text = rng.choice(UNARY).replace("{dtype}", rng.choice(DTYPES).replace("bool", "bool_")).format(f"({a})")
        elif way < 0.55:
            b, sign = self.grow(rng.randint(0, depth - 1)), rng.choice(BINARY)
            # Python would be at it for long; NumPy has int8 for the square of booleans by an operator, int64 by a function. A negative number of Python's
            # to the power of a fraction is complex, which depends on values.
            if sign == "**" and type(self.value(b)) is float and type(self.value(a)) in PYTHON and np.real(self.value(a)) < 0:
                sign = "-"
            if sign in ("**", "<<") and (type(self.value(b)) is int and abs(self.value(b)) > 64 or np.asarray(self.value(a)).dtype == bool):
                sign = "-"
            text = f"({a}) {sign} ({b})"
        elif way < 0.68:
            text = f"{rng.choice(CALLS)}({a}, {self.grow(rng.randint(0, depth - 1))})"
        elif way < 0.75:
            text = f"where(({self.leaf()}) != 0, {a}, {self.grow(rng.randint(0, depth - 1))})"
        elif way < 0.87:
            value = self.value(a)
            name, axis = rng.choice(FOLDS), self.axis(value)
            text = f"{name}({a}, axis={axis}{rng.choice(['', ', keepdims=True'])}{rng.choice([', ddof=1', '']) if name in ('var', 'std') else ''}{self.in_dtype(name)})"
        else:
            text = self.view(a, self.value(a))
        self.value(text)
        return text


def words_of(value):
    """As infer_text.h writes it. A number of NumPy's is an array without axes, for kiln tells them apart by whether an array is in them."""
    if type(value) in PYTHON:
        return "~" + PYTHON[type(value)]
    value = np.asarray(value)
    return f"{value.dtype.name}[{','.join(map(str, value.shape))}]"


def make(seed, index):
    """A line for the program, and NumPy's answer."""
    rng = random.Random(seed * 1000003 + index)
    maker = Maker(rng)
    names = ",".join(n for n in maker.values if n != "np")
    texts = []
    original = maker.value

    def noted(text):
        texts.append(text)
        return original(text)

    maker.value = noted
    try:
        text = maker.grow(rng.randint(1, 5))
        answer = words_of(original(text))
    except Exception as refusal:  # whatever NumPy raises
        text, answer = texts[-1] if texts else "x", f"refused: {type(refusal).__name__}: {refusal}"
    return f"{names}|{' '.join(maker.words)}|{text}", answer


# Of x, y and z: numpy.result_type alone says what kernels make of numbers.
THREE = {"select([m, m, m], [x, y, z])": lambda x, y, z, m: np.select([m, m, m], [x, y, z]),
         "select([m, m], [x, y], z)": lambda x, y, z, m: np.select([m, m], [x, y], z),
         "choose(arange(2), [x, y, z])": lambda x, y, z, m: np.choose(np.arange(2), [x, y, z]),
         "clip(x, y, z)": lambda x, y, z, m: np.clip(x, y, z),
         "concatenate([x, y, z])": lambda x, y, z, m: np.concatenate([x, y, z]),
         "einsum('i,i,i->i', x, y, z)": lambda x, y, z, m: np.einsum("i,i,i->i", x, y, z)}
NUMBERS_OF_KERNELS = ["bound", "settled(x, y, z)"]


def make_three(rng):
    """Arrays of three dtypes; or numbers of a dtype and of Python's, of which one has a dtype, so that the common one is no Python number's."""
    dtypes = [rng.choice(DTYPES) for _ in range(3)]
    if rng.random() < 0.5:
        text = rng.choice(list(THREE))
        value = THREE[text](*(np.ones(2, dtype) for dtype in dtypes), np.ones(2, bool))
        return f"x,y,z,m|{' '.join(dtype + '[2]' for dtype in dtypes)} bool[2]|{text}", words_of(value)
    python = [number if rng.random() < 0.3 else None for number in rng.sample([2, 0.5, True, 1j, 3], 2)] + [None]
    rng.shuffle(python)
    numbers = [np.dtype(dtype).type(1) if number is None else number for dtype, number in zip(dtypes, python)]
    # numpy.result_type takes True for one of numpy's: beside others it decides nothing
    words = ["~" + PYTHON[type(n)] if n is not None else dtype for n, dtype in zip(python, dtypes)]
    return f"x,y,z|{' '.join(words)}|{rng.choice(NUMBERS_OF_KERNELS)}", np.result_type(*numbers).name


def is_same(got, right, text):
    """kiln refuses what NumPy refuses, but for views and casts of Python's numbers, which it takes for arrays without axes. Numbers that where() or a
    reduction's dtype would have to wrap, as NumPy does without a word, it refuses. What NumPy refuses for the value of an argument, nobody knows here. Whole numbers
    have 64 bits, and complex numbers of Python's become real by abs() alone. A number of a dtype is written without brackets."""
    if any(words in right for words in VALUES + ["has no attribute", "is not subscriptable"]) or "64 bits" in got or ("does not fit" in got and ("where" in text or ", dtype=" in text)) or "is real; abs()" in got:
        return True
    if right.startswith("refused") or got.startswith("refused"):
        return right.startswith("refused") and got.startswith("refused")
    return got == right or (not got.startswith("~") and "[" not in got and got + "[]" == right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=100000 if os.environ.get("KILN_SOAK") == "1" else 1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    options = parser.parse_args()
    cases = [make(options.seed, index) for index in range(options.first, options.first + options.count)]
    rng = random.Random(drawn.SEED)
    print(f"KILN_SEED={drawn.SEED}", flush=True)
    cases += [make_three(rng) for _ in range(options.count)]
    run = subprocess.run([options.program], input="".join(line + "\n" for line, _ in cases), capture_output=True, text=True, check=True)
    answers = run.stdout.splitlines()
    assert len(answers) == len(cases), run.stderr
    wrong = 0
    for index, ((line, right), got) in enumerate(zip(cases, answers), options.first):
        if not is_same(got, right, line):
            wrong += 1
            if wrong <= 20:
                print(f"{index}: {line}\n    {got}\n    {right}")
    refused = sum(right.startswith("refused") for _, right in cases)
    print(f"{len(cases)} expressions, {refused} of them refused, {wrong} otherwise than by NumPy")
    assert refused < len(cases) * 0.6
    sys.exit(wrong > 0)


main()
