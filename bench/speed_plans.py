"""What plans of bench/speed_cases.py move and how, for the host and for sm_90, without measuring: `bench/fuzz_speed.py LIBRARY --plans`.

Bytes: a program reads each large input once for each of its reductions and once for a map behind them, and writes results and what it stores in between.
Access: no program over rows gathers a large input whose neighbours lie along an axis that is kept: a reduction over such, and a map, go over it as it lies.
Sums of products that are the product of matrices are tiles of both.
No reduction gathers all inputs where one lies along the reduced axis, in rows with gaps or beside one that lies across: it stages rows, or reads vectors; nor where
two lie along two kept axes: one is copied first."""
import ast
import re

import numpy as np

import speed_cases
import speed_peers
from speed_call import Call

SMALL = 1 << 20   # bytes, by which plans may differ in what they store in between
LARGE = 64 << 20  # bytes, from which on several kernels beat one that gathers on any device

ALONE = 32  # elements of a row that a thread has alone
PRODUCT, SHORTEST = 1 << 16, 16  # elements of products and of their rows, from which on tiles pay


def moved_bytes(plan):
    return sum(int(n) for line in plan.splitlines() if line.startswith("# ") for n in re.findall(r"\((\d+) bytes\)", line))


def passes_of(text):
    """The most times that a program reads an input: once for each reduction in its text (var and std have two), and once for a map behind them."""
    return 1 + sum(2 if name in ("var", "std") else 1 for name in re.findall(r"\b(sum|mean|max|min|var|std|any|all|argmax|argmin)\(", text))


def reduced_axes(text):
    """Those of all reductions; None: they differ, or there are none."""
    found = set(re.findall(r"axis=(\([^)]*\)|-?\d+)", text))
    axes = ast.literal_eval(found.pop()) if len(found) == 1 else None
    return (axes,) if isinstance(axes, int) else axes


def lies_across(a, axes):
    """Whether neighbours in memory are elements of neighbouring results."""
    near = [k for k in range(a.ndim) if abs(a.strides[k]) == a.itemsize and a.shape[k] > 31]
    return bool(near) and near[0] not in [k % a.ndim for k in axes]


def nearest(a):
    """The axis along which elements are neighbours in memory; -1."""
    return next((k for k in range(a.ndim) if a.strides[k] == a.itemsize and a.shape[k] > 1), -1)


def lies_along(a, axes):
    """Whether neighbours in memory are elements of one result, and their rows whole vectors."""
    return nearest(a) in [k % a.ndim for k in axes] and a.shape[nearest(a)] % 16 == 0


def read_letters(line):
    """How a kernel accesses its inputs, of which arrays alone have a letter; ""."""
    inputs, operands, access = (re.search(rf' {word}="([^"]*)"', line) for word in ("in", "operands", "access"))
    if not (inputs and operands and access):
        return ""
    return access.group(1)[:sum(o.startswith("array") for o in operands.group(1).split()[:inputs.group(1).count(",") + 1])]


def faults_of(case, plan, target, arrays):
    text = case["text"]
    written = sum(int(n) for line in plan.splitlines() for n in re.findall(r"\((\d+) bytes\)", line.partition("; writes")[2]))
    read = sum(a.itemsize * a.size * len(re.findall(rf"\b{n}\b", text)) for n, a in arrays.items())
    moved, most = moved_bytes(plan), passes_of(text) * read + 2 * written + SMALL
    if "own" not in case and not 0 < moved <= most:
        yield f"{moved} bytes are moved, more than none and {most} at most are expected"
    axes = reduced_axes(text)
    if case["family"] == "products" and "b[None]" in text and target != "host":
        side = arrays["a"].shape[0]
        if side ** 3 >= PRODUCT and side >= SHORTEST and 'schedule="reduce_product"' not in plan:
            yield "a product of matrices is no reduce_product"
    for line in plan.splitlines():
        kind, access = re.search(r'schedule="(\w+)', line), read_letters(line)
        if kind and access and kind.group(1).startswith("row") and kind.group(1) != "rows" and axes:
            across = [n for n, a in arrays.items() if a.itemsize * a.size >= LARGE and a.ndim > max(axes) and lies_across(a, axes)]
            if kind.group(1) == "row_lanes":  # short rows have a thread each: those of a warp read neighbours
                across = [n for n in across if np.prod([arrays[n].shape[k] for k in axes]) > ALONE]
            if across and "g" in access:
                yield f"{kind.group(1)} gathers {', '.join(across)}"
        if kind and access and kind.group(1).startswith("reduce_") and axes and len(axes) <= 4 and "keepdims" not in text and 'vector="1"' in line:
            large = [a for a in arrays.values() if LARGE <= a.itemsize * a.size and a.itemsize < 16 and a.ndim > max(axes)]
            along = [a for a in large if lies_along(a, axes)]
            is_one_axis = len({nearest(a) for a in along}) == 1
            if is_one_axis and len(along) + sum(lies_across(a, axes) for a in large) == len(arrays) and set(access) == {"g"}:
                yield f"{kind.group(1)} gathers all inputs"
            across = [a for a in large if lies_across(a, axes)]
            if len({nearest(a) for a in across}) > 1 and len(across) == len(arrays) and len({a.size for a in across}) == 1 and set(access) == {"g"}:
                yield f"{kind.group(1)} gathers inputs that lie along several kept axes"


def check(cases, kiln, say):
    count, faults, kinds = 0, 0, {}
    for case in cases:
        bases = {n: np.zeros(i["shape"], i["dtype"]) for n, i in case["inputs"].items()}  # which nobody touches: no memory
        arrays = speed_peers.viewed(case, bases, speed_peers.NUMPY)
        call = Call(kiln, case, arrays)
        for target in ("host", "sm_90"):
            plan = call.plan(target.encode())
            count += 1
            for name in re.findall(r'schedule="(\w+)', plan):
                kinds[(target, name)] = kinds.get((target, name), 0) + 1
            for fault in faults_of(case, plan, target, arrays):
                faults += 1
                say(f"{target}: {fault}: {speed_cases.words(case)}\n    {plan}")
        call.free()
    say(f"{count} plans, {faults} not as they should be; " + ", ".join(f"{t} {k} {n}" for (t, k), n in sorted(kinds.items())))
    return faults > 0 or count == 0
