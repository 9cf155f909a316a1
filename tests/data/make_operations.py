#!/usr/bin/env python3
"""Writes operations.txt anew: what NumPy's functions give for the operations of the table, by dtype, as hexadecimal digits of the elements' bits. tests/cases/stored_operations.c reads it.

    make_operations.py             writes the file
    make_operations.py --check     exit code 1 where it lacks an operation or a dtype of one; 77 where there is no NumPy

The file's lines:
    list NAME DTYPE ELEMENT ...                        arguments that lines share
    map NAME LIST,LIST ... DTYPE ELEMENT ... [| DTYPE ELEMENT ...]       element by element; "-": not compared
    rows NAME LIST COLUMNS DTYPE ELEMENT ...           along the last axis of the list as rows
    bounds NAME ULPS ULPS                              the distance that is allowed, in units of the last place, where it is not 4, and, of complex numbers, 64
"""
import pathlib
import sys
import warnings

try:
    import numpy as np
except ImportError:
    print("there is no NumPy")
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "numpy"))
from check_operations import BINARY, DTYPES, OF_THE_DTYPE, OTHERS, OWN_RANGE, REDUCTIONS, SCANS, UNARY, UNSETTLED, by_numpy, each, elements, extremes, is_far, narrow, numbers, numpys, right_dtype, wide  # noqa: E402

PATH = pathlib.Path(__file__).resolve().parent / "operations.txt"
MANY = 18
MIXED = 20  # elements where two dtypes meet
BRAIN = "bfloat16"  # which NumPy has not: results of float32, rounded
EXTREMES = "min max nanmin nanmax cummin cummax".split()  # which of two zeros is taken is open
# NumPy's i0 is a series of its own; a large exponent makes errors of a complex logarithm larger.
BOUNDS = {"i0": (8, 64), "float_power": (4, 2048)}


def digits(x):
    """The bits of each element."""
    x = np.ascontiguousarray(x)
    size = x.dtype.itemsize
    return [x.reshape(-1).view(np.uint8)[k * size:(k + 1) * size][::-1].tobytes().hex().lstrip("0") or "0" for k in range(x.size)]


def arguments(dtype):
    """Special elements and the ends of the dtype, and as many beside them, in another order."""
    if dtype == BRAIN:
        x, _ = arguments("float32")
        both = wide(narrow(np.concatenate([x, np.array([0x7f7f0000, 0x00800000, 0x00010000], np.uint32).view("f4")])))
        _, at = np.unique(np.array(digits(both)), return_index=True)
        both = both[np.sort(at)]
        return both, both[np.random.default_rng(16).permutation(both.size)]
    both = np.concatenate([elements(dtype, ""), extremes(dtype)])
    if np.dtype(dtype).kind == "c":
        both = np.concatenate([elements(dtype, ""), extremes(dtype)[::9]])
    _, at = np.unique(np.array(digits(both)), return_index=True)
    both = both[np.sort(at)][:MANY]
    rng = np.random.default_rng(sum(map(ord, dtype)))
    return both, both[rng.permutation(both.size)]


def is_open(name, values, results):
    """Where NumPy's result is the processor's or the library's own: those elements are not compared."""
    x, y = values[0], values[-1]
    open_ = np.zeros(x.shape, bool)
    if x.dtype.kind == "c":  # where one part is NaN or infinite C leaves the other open; check_operations.py has those
        open_ |= ~np.isfinite(x) | ~np.isfinite(y)
        for r in results:
            open_ |= ~np.isfinite(r) if r.dtype.kind == "c" else False
    if name == "reciprocal" and x.dtype.kind in "iu":
        open_ |= x == 0
    if name == "spacing":
        open_ |= np.signbit(x.astype("f8"))
    if name in UNSETTLED and x.dtype.kind == "f":
        open_ |= (x == 0) & (y == 0)
    if name == "power" and x.dtype.kind == "i":
        open_ |= y < 0
    if name == "i0":
        open_ |= np.isinf(x.astype("f8"))
    return open_


def spelled(x, dtype):
    """The name of its dtype, and the bits of each element."""
    is_brain = dtype == BRAIN and x.dtype == "f4"
    return (BRAIN, digits(narrow(x))) if is_brain else (x.dtype.name, digits(x))


def keep_list(out, label, x, dtype):
    name, bits = spelled(x, dtype)
    out.setdefault("lists", {}).setdefault(label, f"list {label} {name} {' '.join(bits)}\n")


def map_line(out, name, dtype, x, y):
    function = numpys(name)
    lists, values = [f"{dtype}.x"], [x]
    if name == "ldexp":
        lists, values = lists + ["int32.few"], values + [np.resize(np.array([0, 1, -1, 3, -20, 100, -100, 5000], "i4"), x.size)]
        lists[1] = f"few{x.size}"
    elif name in BINARY:
        lists, values = lists + [f"{dtype}.y"], values + [y]
    elif name == "where":
        lists, values = [f"chosen{x.size}", f"{dtype}.x", f"{dtype}.y"], [np.arange(x.size) % 3 == 0, x, y]
    elif name == "clip":
        lists, values = [f"{dtype}.x", f"{dtype}.y", f"{dtype}.x"], [x, y, x]
    if (x.dtype == "f2" and name in OF_THE_DTYPE) or (dtype == BRAIN and name in OF_THE_DTYPE + OWN_RANGE) or (x.dtype.kind == "c" and name in ("clip", *UNSETTLED)):
        return
    if name == "power" and x.dtype.kind == "i":
        values[1] = np.where(y < 0, 0, y)
        lists[1] = f"{dtype}.whole"
    if right_dtype(function, values) == "none":
        return
    results = each(function(*values))
    skipped = is_open(name, values[-2:] if name == "where" else values, results)
    parts = []
    for r in results:
        of, bits = spelled(r, dtype)
        parts.append(" ".join([of] + ["-" if s else d for d, s in zip(bits, skipped)]))
    for label, v in zip(lists, values):
        keep_list(out, label, v, dtype)
    out.setdefault("lines", []).append(f"map {name} {','.join(lists)} {' | '.join(parts)}\n")


def mixed_line(out, name, dtypes):
    """Of inputs of two dtypes, which the operation has a variant of."""
    values, lists = [], []
    for dtype, which in zip(dtypes, (0, 1)):
        values.append(np.resize(arguments(dtype)[which], MIXED))
        lists.append(f"{dtype}.{'xy'[which]}{MIXED}")
        name_of, bits = (BRAIN, digits(narrow(values[-1]))) if dtype == BRAIN else (dtype, digits(values[-1]))
        out.setdefault("lists", {}).setdefault(lists[-1], f"list {lists[-1]} {name_of} {' '.join(bits)}\n")
    right = np.asarray(numpys(name)(*values))
    out.setdefault("lines", []).append(f"map {name} {','.join(lists)} {right.dtype.name} {' '.join(digits(right))}\n")


def rows_line(out, name, dtype, function, columns, special):
    label = f"{dtype}.rows{columns}{'s' if special else ''}"
    x = wide(narrow(numbers("float32", (3, columns), special))) if dtype == BRAIN else numbers(dtype, (3, columns), special)
    if is_far(name, x) or (name == "logcumsumexp" and x.dtype.kind == "c") or (name == "ptp" and dtype == "bool"):
        return
    if name in ("prod", "cumprod"):
        x = np.where(abs(x) > 2, x.dtype.type(1), x)
        label += ".small"
    right = function(x, 1) if name in SCANS else by_numpy(function, x, (1,), False)
    if isinstance(right, Exception):
        return
    right = np.asarray(right)
    of, results = spelled(right, dtype)
    if name in EXTREMES and right.dtype.kind == "f":
        results = ["-" if zero else d for zero, d in zip((right == 0).reshape(-1), results)]
    keep_list(out, label, x, dtype)
    out.setdefault("lines", []).append(f"rows {name} {label} {columns} {of} {' '.join(results)}\n")


def text():
    out = {}
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for dtype in DTYPES + [BRAIN]:
            x, y = arguments(dtype)
            for name in UNARY + BINARY + OTHERS:
                map_line(out, name, dtype, x, y)
            for name, function in {**REDUCTIONS, **SCANS}.items():
                rows_line(out, name, dtype, function, 11, False)
                if dtype == BRAIN or np.dtype(dtype).kind == "f":
                    rows_line(out, name, dtype, function, 7, True)
        for name in "equal not_equal less less_equal greater greater_equal divide".split():
            mixed_line(out, name, ("int64", "uint64"))
            mixed_line(out, name, ("uint64", "int64"))
        for name in "logical_and logical_or logical_xor".split():
            for dtype in DTYPES[1:] + [BRAIN]:
                mixed_line(out, name, (dtype, "bool"))
                mixed_line(out, name, ("bool", dtype))
    bounds = "".join(f"bounds {name} {real} {both}\n" for name, (real, both) in BOUNDS.items())
    return bounds + "".join(out["lists"].values()) + "".join(out["lines"])


def calls(lines):
    """Which operation is there of which arguments."""
    return {tuple(line.split()[:3]) for line in lines.splitlines() if line.split()[0] in ("map", "rows")}


if __name__ == "__main__":
    if "--check" in sys.argv:  # last bits are those of one processor and one version
        missing = calls(text()) ^ calls(PATH.read_text(encoding="utf-8"))
        print(f"other calls than NumPy has: {sorted(missing)[:5]}" if missing else "as many calls as NumPy has")
        sys.exit(bool(missing))
    PATH.write_text(text(), encoding="utf-8")
