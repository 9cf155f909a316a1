"""concatenate and the stacks in expressions over random arrays of all of NumPy's dtypes, some of them computed, against NumPy; refusals.
check_joins.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import random

import numpy as np

from check_searches import drawn
from check_sort_names import DTYPES, Names, same
from host_kernels import in_threads, random_cases

STACKS = "vstack hstack dstack column_stack".split()


def joined(rng):
    """The names of arrays, an expression and the values of its operands, and what NumPy makes of them."""
    name = rng.choice(["concatenate", "concatenate", "concat", "stack", *STACKS])
    ndim = rng.choice([1, 2] if name == "column_stack" else [1, 2, 3])
    axis = rng.randrange(-ndim - (name == "stack"), ndim + (name == "stack"))
    along = axis if name in ("concatenate", "concat") else {"vstack": 0 if ndim > 1 else None, "hstack": min(1, ndim - 1), "dstack": 2 if ndim > 2 else None,
                                                            "column_stack": 1 if ndim > 1 else None}.get(name)
    shape, dtype, arrays = [rng.choice([0, 1, 2, 3, 7, 40]) for _ in range(ndim)], rng.choice(DTYPES), {}
    for k in range(rng.choice([1, 2, 2, 3, 9])):
        if along is not None:
            shape[along] = rng.choice([0, 1, 2, 5, 33])
        arrays[f"x{k}"] = drawn(rng, shape, dtype if rng.random() < 0.7 else rng.choice(DTYPES)).reshape(shape)
    operands, values = [], []
    for key, x in arrays.items():
        computed = rng.random() < 0.3
        operands.append(f"{key}[::-1] + 0" if computed and x.dtype != bool else key)
        values.append(x[::-1] + 0 if computed and x.dtype != bool else x)
    flat = name in ("concatenate", "concat") and rng.random() < 0.2
    given = "" if name in STACKS else ", axis=None" if flat else f", axis={axis}"
    words = {} if name in STACKS else {"axis": None if flat else axis}
    return f"{name}([{', '.join(operands)}]{given})", arrays, getattr(np, name)(values, **words)


def check_case(kiln, seed, index):
    rng = random.Random(seed * 1000003 + index)
    text, arrays, right = joined(rng)
    got = kiln.results(text, arrays, rng, 1)[0]
    assert same(got, right), f"--seed {seed} --first {index} --count 1: {text} of {', '.join(f'{a.dtype} {a.shape}' for a in arrays.values())}: {got}, not {right}"


def check_refusals(kiln):
    x, y = np.zeros((2, 3)), np.zeros((3, 3))
    for text, says in (("hstack([x, y])", "another shape than the first one"), ("concatenate([x, y], axis=2)", "axis 2 was given; the array has 2"),
                       ("concatenate(x[0])", "axis 0 was given, but there are 0 axes"), ("concatenate([])", "a list of 1 to"), ("stack(x[:0])", "with elements along its first axis"), ("stack([x, y])", "another shape"), ("append(x, 3, axis=0)", "is a number here"),
                       ("pad(x, 2, 'odd')", "'constant', 'edge'"), ("repeat(x, -1)", "one from 0 on"), ("roll(x, 1, 5)", "axis 5 was given"),
                       ("roll(x, (1, 2), (0, 1, 1))", "2 numbers were given for 3 axes"), ("tile(x, (1.5, 2))", "a whole number"),
                       ("pad(x, -1)", "one from 0 on"), ("split(x, 0)", "0 parts were given"), ("array_split(x, (1, y))", "a whole number"),
                       ("split(y, 2)[0]", "no multiple of the 2 parts"), ("moveaxis(x, (0, 1), 0)", "as many as source has, 2"), ("swapaxes(x, 0, 2)", "axis 2 was given"),
                       ("diagonal(x, 0, 1, 1)", "axis 1 was given before"), ("rollaxis(x, 0, 3)", "start: 3 was given"), ("rot90(x, 1, (0, 0))", "two different ones"),
                       ("pad(x[:0], 1, 'edge')", "by a constant alone"), ("pad(x, 1, constant_values=y)", "constant_values: a number, two, or a pair for each of 2 axes")):
        try:
            kiln.results(text, {"x": x, "y": y}, random.Random(1), 1)
        except (AssertionError, RuntimeError) as error:
            assert says in str(error), f"{text}: {error}, which does not say: {says}"
        else:
            raise AssertionError(f"{text} is not refused")


def main():
    o = random_cases(2000, 20, 33)
    kiln = Names(o.library)
    check_refusals(kiln)
    in_threads(lambda k: check_case(kiln, o.seed, k), o.cases)
    print(f"{o.count} joins, none wrong")


if __name__ == "__main__":
    main()
