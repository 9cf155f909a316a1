"""The floor of the passes that a program needs: which inputs are read twice since nothing on the chip holds what one result is reduced from.

A map behind a reduction reads the reduction's inputs again, unless the elements of one result stay on the chip. They are taken to stay there if the sectors in which they lie are 12 MB at most:
half of what registers and shared memory of all multiprocessors hold, so that one result's elements are loaded while another's are stored."""
import ast

import numpy as np

SECTOR, HELD = 32, 12 << 20  # bytes
REDUCTIONS = {"sum", "mean", "max", "min", "var", "std", "any", "all", "argmax", "argmin"}


def bytes_at(a, unit=SECTOR):
    """Bytes of the sectors that hold a view's elements."""
    runs, span = 1, a.itemsize
    for stride, n in sorted((abs(s), n) for n, s in zip(a.shape, a.strides) if s and n > 1):
        if stride - span < unit:
            span += stride * (n - 1)
        else:
            runs *= n
    return runs * (span if runs == 1 else -(-span // unit) * unit)


def reduced(text):
    """The inputs that reductions of a text read, and their axes, each as the text has them."""
    inputs, axes, made = set(), set(), {}

    def names_in(node):
        return set().union(*(made.get(n.id, {n.id}) for n in ast.walk(node) if isinstance(n, ast.Name)), set())
    for statement in text.split(";"):
        parsed = ast.parse(statement.strip()).body[0]
        for call in ast.walk(parsed):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in REDUCTIONS:
                inputs |= names_in(call.args[0])
                axes.add(next((ast.literal_eval(k.value) for k in call.keywords if k.arg == "axis"), None))
        if isinstance(parsed, ast.Assign):
            made[parsed.targets[0].id] = names_in(parsed.value)
    return inputs, axes


def of_one_result(a, axes):
    """The elements of a view that one result is reduced from."""
    kept = range(a.ndim) if axes is None else [k % a.ndim for k in ((axes,) if isinstance(axes, int) else axes)]
    return a[tuple(slice(None) if k in kept else slice(0, 1) for k in range(a.ndim))]


def read_again(case, arrays, shape):
    """Bytes of the inputs that a case reads twice at least. `shape`: of its result."""
    inputs, axes = reduced(case["text"]) if "own" not in case else (set(), set())
    large = [a for n, a in arrays.items() if n in inputs and a.shape == tuple(shape)]
    if len(axes) != 1 or sum(bytes_at(of_one_result(a, *axes)) for a in large) <= HELD:
        return 0
    return sum(bytes_at(a) for a in large)
