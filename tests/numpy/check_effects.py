"""A parameter that is taken and ignored: for each function of NumPy's signatures and each parameter that the function of expressions takes, a call of which NumPy's result (its
dtype, shape, elements, order or refusal) differs from the one without the parameter. The library's result has to be NumPy's. A parameter that changes nothing has to be one of
those that promise something (docs/numpy.md). check_effects.py LIBRARY NAMES [--target TARGET] [--only NAME]; NAMES is tests/docs/numpy_names."""
import ctypes
import random
import subprocess
import warnings

import numpy as np

from check_common import Common, same
from check_parameters import LEFT_OUT, parameters
from host_kernels import SEED, SOAK, drawn, in_threads, random_cases

rng = np.random.default_rng(11)
X = rng.permutation(12).reshape(3, 4) * 0.75 - 2.3
N = np.where(np.arange(12).reshape(3, 4) % 5 == 1, np.nan, X)
ARRAYS = {"x": X, "y": X[::-1] * 0.5 + 1, "n": N, "k": np.array([[3, 1, 2, 0], [2, 5, 1, 4], [0, 2, 6, 1]]), "m": np.arange(12).reshape(3, 4) % 3 > 0, "v": np.array([1.5, 0.0, 2.5, 4.0, 0.0]),
          "w": np.array([1, 3, 2, 1, 5]), "s": np.array([0.0, 1, 2.5, 4]), "b": np.array([1, 0, 3, 1, 1]), "z": np.array([1.0, 1j, -2j]), "u": np.array([[1, 200, 7], [255, 0, 9]], np.uint8),
          "h": np.arange(24.0).reshape(2, 3, 4)[::-1], "q": np.array([0.0, np.nan, np.inf, -np.inf]), "i": np.array([[0, 1, 1, 0], [2, 0, 1, 2], [1, 1, 0, 2]]), "e": np.array([3.0]),
          "o": np.array([0, 0, 2.0, 0]), "t": np.array([[0.0, 9], [1, -1], [2, 0]]), "g": np.array([[1.0, 2, 2], [1, 2, 2], [0, 5, 5]])}
# Arguments of calls, by NumPy's names of parameters, and of functions whose arguments are others.
GIVEN = {"a": "x", "b": "y", "x": "x", "y": "y", "arr": "x", "m": "x", "z": "z", "values": "y", "object": "x", "ary": "x", "A": "x", "array": "x", "prototype": "x", "f": "h", "filt": "o",
         "shape": "(3, 2)", "N": "3", "kth": "1", "M": "5", "beta": "2.0", "start": "1", "stop": "100", "indices_or_sections": "2", "pad_width": "1", "q": "0.3", "p": "v", "ar": "b",
         "dimensions": "(2, 3)", "shift": "1", "reps": "2", "repeats": "2", "new_shape": "(2, 3)", "ar1": "b", "ar2": "w", "fill_value": "1.5", "axis": "0", "n": "4", "val": "z", "dtype": "float32",
         "a1": "x", "a2": "y", "element": "b", "test_elements": "w", "condition": "m", "indices": "i", "keys": "[b, w]"}
BASE = {"allclose": "array([1.0]), array([1.05])", "isclose": "array([1.0]), array([1.05])", "angle": "z", "arange": "3", "array_equal": "n, n", "atleast_1d": "x",
        "atleast_2d": "x", "atleast_3d": "x", "bincount": "b", "broadcast_arrays": "x, s", "choose": "i, [x, y, n]", "clip": "x", "column_stack": "[x, y]", "compress": "m[0], x",
        "concat": "[x, y]", "concatenate": "[x, y]", "convolve": "v, s", "correlate": "v, s", "copyto": "k, x", "cov": "x", "corrcoef": "x", "cross": "t, t[::-1]", "diff": "h", "digitize": "v, s",
        "dot": "x, x.T", "dsplit": "h, 2", "dstack": "[x, y]", "einsum": "'ij,kj', x, y", "fill_diagonal": "ones((6, 2)), 5.0", "gradient": "v", "hstack": "[x, y]", "interp": "x, s, s * s",
        "isneginf": "q", "isposinf": "q", "nan_to_num": "q", "histogram": "v", "histogram2d": "v, w", "histogramdd": "[v, w]", "histogram_bin_edges": "v", "insert": "x, 1, 5.0", "ix_": "b, w",
        "meshgrid": "v, s", "moveaxis": "h, 0, 1", "multi_dot": "[x, x.T]", "packbits": "u", "unpackbits": "u", "permute_dims": "h", "place": "x, m, v", "polyval": "v, x", "put": "x, [1], [5.0]",
        "put_along_axis": "x, i[:1], 5.0, 0", "putmask": "x, m, v", "ravel_multi_index": "[b, w], (4, 9)", "row_stack": "[x, y]", "vstack": "[x, y]", "stack": "[x, y]", "searchsorted": "s, [1.0, 2.5]",
        "select": "[m, x > 0], [x, y]", "squeeze": "x[None, :, :1]", "take": "x, [0, 2]", "tensordot": "x, x.T", "trapezoid": "x", "unravel_index": "[5, 2], (3, 4)", "unwrap": "h", "vander": "v",
        "where": "m", "split": "x[:2], 2", "array_split": "x, 2", "vsplit": "x[:2], 2", "hsplit": "x, 2", "inner": "x, y", "kron": "x, y", "take_along_axis": "x, i[:1]", "astype": "x, float32",
        "polyder": "v", "polyint": "v", "rot90": "h", "roll": "x, 1", "rollaxis": "h, 2", "pad": "x, 1", "extract": "m, x", "lexsort": "[b, w]", "sinc": "x", "i0": "x", "unique": "g", "fftfreq": "5", "nanargmax": "n",
        "round": "x * 111.25", "around": "x * 111.25", "cumulative_sum": "v", "cumulative_prod": "v", "nanargmin": "n", "resize": "x, (2, 3)", "outer": "v, s", "vdot": "x, y", "transpose": "h",
        "logspace": "0, 2", "geomspace": "1, 100", "linspace": "0, 10", "median": "x", "sort_complex": "x", "fftshift": "x", "ifftshift": "x", "flip": "x", "tile": "x, 2", "diag_indices": "3",
        "ptp": "x", "count_nonzero": "k", "trim_zeros": "o", "eye": "3", "identity": "3", "tri": "3", "choice": "v", "intersect1d": "b, w", "std": "x", "size": "x", "trace": "h",
        "diagonal": "h", "diag": "v", "diagflat": "v", "geomspace ": "", "tril_indices": "3", "triu_indices": "3", "average": "x", "percentile": "x, 30", "nanpercentile": "n, 30",
        "nanquantile": "n, 0.3", "swapaxes": "h, 0, 1", "ediff1d": "v", "shape": "x", "any": "o", "all": "o", "repeat": "x, 2", "setdiff1d": "b, w", "setxor1d": "b, w", "delete": "x, 1", "unstack": "k"}
# What a parameter is given, one after the other until NumPy's result is another.
TRIED = {"descending": ["True"], "axis": ["1", "0", "-1", "(0, 1)", "None"], "keepdims": ["True"], "dtype": ["float32", "int32", "complex128", "float64"], "where": ["m", "[True, False, True, True]", "o > 1", "o < 1"], "initial": ["50.0", "-50.0", "2.0"],
         "ddof": ["1", "0"], "assume_unique": ["True"], "correction": ["1"], "mean": ["1.0"], "k": ["1", "-1", "2"], "casting": ["'no'", "'safe'", "'unsafe'"], "order": ["'F'"], "axes": ["(1, 0)", "(0, 2, 1)", "1", "(0, 2)", "(2, 1, 0)"], "weights": ["[1, 3, 2.0]", "[2.0, 1, 3, 1, 4]", "i"],
         "axis1": ["1", "2"], "axis2": ["2", "0"], "decimals": ["1"], "mode": ["'clip'", "'wrap'", "'same'", "'edge'", "'full'"], "bins": ["3", "[0.0, 1, 3, 9]", "[3, 4]"], "range": ["(0.5, 3.0)", "[(0, 3), (1, 4)]"],
         "density": ["True"], "rowvar": ["False"], "bias": ["True"], "fweights": ["[1, 2, 1, 3]"], "aweights": ["[1, 2, 1, 3.0]"], "method": ["'nearest'"], "returned": ["True"], "stop": ["9"],
         "step": ["2"], "n": ["2"], "prepend": ["0.0"], "append": ["0.0"], "right": ["True"], "to_end": ["9.0"], "to_begin": ["9.0"], "M": ["4"], "d": ["0.5"], "wrap": ["True"],
         "num": ["4"], "endpoint": ["False"], "retstep": ["True"], "base": ["2.0"], "edge_order": ["2"], "sparse": ["True"], "indexing": ["'ij'"], "left": ["-5.0"],
         "period": ["2.5"], "return_indices": ["True"], "invert": ["True"], "nan": ["7.0"], "posinf": ["7.0"], "neginf": ["7.0"], "bitorder": ["'little'"], "count": ["5"], "m": ["2", "5"],
         "start": ["1"], "shape": ["(2, 2)"], "side": ["'right'"], "sorter": ["[1, 3, 0, 2]"], "default": ["9.0"], "offset": ["1"], "axisa": ["0"], "axisb": ["0"], "axisc": ["0"], "trim": ["'f'"], "return_index": ["True"],
         "return_inverse": ["True"], "return_counts": ["True"], "equal_nan": ["True", "False"], "discont": ["15.0"], "N": ["3"], "increasing": ["True"], "x": ["[0, 1, 3, 7.0]", "x"], "dx": ["0.5"],
         "y": ["y", "[1, 2, 4, 9.0]"], "a_min": ["0.0"], "a_max": ["1.0"], "min": ["0.0"], "max": ["1.0"], "minlength": ["9"], "deg": ["True"], "rtol": ["0.2", "1.0"], "atol": ["0.2"], "include_initial": ["True"], "kind": ["'table'"]}
# Words that the parameter needs beside it, and calls that show it.
WITH = {("where", "amax"): "initial=-9.0, ", ("where", "amin"): "initial=9.0, ", ("where", "max"): "initial=-9.0, ", ("where", "min"): "initial=9.0, ", ("where", "nanmax"): "initial=-9.0, ",
        ("where", "nanmin"): "initial=9.0, ", ("where", "copyto"): "casting='unsafe', ", ("casting", "*"): "dtype=float32, ", ("returned", "average"): "axis=0, ", ("a_max", "clip"): "a_min=-9.0, ", ("a_min", "clip"): "a_max=9.0, ", ("x", "where"): "y=0.0, ", ("y", "where"): "x=1.0, ",
        ("axis", "take_along_axis"): "", **{("weights", name): "method='inverted_cdf', " for name in ("quantile", "nanquantile", "percentile", "nanpercentile")}}
OTHER = {("equal_nan", "array_equal"): "n, n", ("equal_nan", "unique"): "array([nan, 1.0, nan])", ("right", "interp"): "x + 4, s, s * s", ("mode", "take"): "x, [0, 99]", ("mode", "choose"): "i + 2, [x, y, n]", ("mode", "put"): "x, [99], [5.0]",
         ("mode", "ravel_multi_index"): "[b, w], (4, 4)", ("axis", "cumulative_sum"): "h", ("axis", "cumulative_prod"): "h", ("axis", "squeeze"): "x[None, :, :1]", ("axis", "linspace"): "s, 9.0", ("axis", "logspace"): "s, 3.0",
         ("axis", "geomspace"): "s + 1, 9.0", ("edge_order", "gradient"): "v", ("axis", "gradient"): "h, axis=0", ("rtol", "isclose"): "array([1.0]), array([1.5])", ("equal_nan", "allclose"): "n, n",
         ("axis", "average"): "x", ("weights", "average"): "x, axis=0", ("axis", "cross"): "g, g[::-1] + g.T", ("axisa", "cross"): "g, g[::-1] + g.T", ("axisb", "cross"): "g, g[::-1] + g.T", ("axisc", "cross"): "g, g[::-1] + g.T", ("discont", "unwrap"): "h * 4.0", ("period", "unwrap"): "h * 4.0",
         ("sorter", "searchsorted"): "array([2.5, 0, 4, 1]), v", ("equal_nan", "isclose"): "n, n", ("assume_unique", "setdiff1d"): "b, [3]", ("period", "interp"): "x, s, s * s", ("axis", "lexsort"): "k", ("axis", "compress"): "m[0], x",
         ("weights", "histogram"): "v", ("weights", "histogramdd"): "[v, w]", ("axis", "unique"): "g", ("n", "diff"): "h", ("axis", "stack"): "[x, y]", ("base", "logspace"): "0, 2", ("order", "ravel"): "x", ("order", "unravel_index"): "[5, 2], (3, 4)",
         ("order", "ravel_multi_index"): "[b, w], (4, 9)", ("out", "copyto"): "x, y", ("axis", "put_along_axis"): "x, i[:1], 5.0, 0", ("trim", "trim_zeros"): "o", ("order", "reshape"): "x, (4, 3)", ("mean", "nanstd"): "n", ("mean", "nanvar"): "n"}
STATEMENTS = {"copyto", "fill_diagonal", "place", "put", "putmask", "put_along_axis"}


def numpys(name):
    return next((getattr(m, name) for m in (np, np.linalg, np.fft, np.lib.stride_tricks) if callable(getattr(m, name, None))), None)


def evaluate(text, arrays):
    """NumPy's results; the exception where it refuses."""
    names = {name: numpys(name) for name in dir(np) + dir(np.linalg) + dir(np.fft) if not name.startswith("_")}
    names.update(nan=np.nan, inf=np.inf)
    names.update({name: value.copy(order="K") for name, value in arrays.items()})
    target, call = text.split("; ")[0], text.split("; ")[-1]
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if "; " in text:
                exec(target, names)
                result = names[call]
            else:
                result = eval(call, names)
    except (TypeError, ValueError, IndexError) as error:
        return error
    results = result if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(r) for each in results for r in (each if isinstance(each, (tuple, list)) else [each])]


def look(results):
    """All that may differ."""
    if isinstance(results, Exception):
        return "refused"
    return [(r.dtype, r.shape, r.strides if r.size > 1 else (), r.tobytes()) for r in results]


def text_of(name, words, base):
    if name in STATEMENTS:
        target, rest = base.split(", ", 1) if name != "fill_diagonal" else ("f", "5.0")
        return f"{name}({target}, {rest}{', ' + words if words else ''}); {target}"
    call = f"{name}({base}{', ' if words and base else ''}{words})"
    return f"one, two, three = {call}; two" if name == "unstack" else call


def arguments_of(name, needed):
    return BASE.get(name) if name in BASE else ", ".join(GIVEN[p] for p in needed)


def calls(name, parameter, needed):
    """Texts with the parameter, and without it."""
    base = OTHER.get((parameter, name), arguments_of(name, needed))
    more = WITH.get((parameter, name), WITH.get((parameter, "*"), "") if name not in ("copyto",) else "")
    if base and f", {parameter}=" in ", " + base:
        base = base[:(", " + base).index(f", {parameter}=")].rstrip(", ")
    if parameter == "out":
        plain = evaluate(text_of(name, more[:-2], base), ARRAYS)
        if isinstance(plain, Exception) or len(plain) != 1:
            return []
        other = "complex128" if plain[0].dtype == "float64" else "float64"
        return [(text_of(name, "out=result", base), text_of(name, more[:-2], base), np.zeros(plain[0].shape, other)),
                (text_of(name, "out=result", base) + "; result", "result", np.zeros(plain[0].shape, plain[0].dtype))]
    return [(text_of(name, f"{more}{parameter}={value}", base), text_of(name, more[:-2], base), None) for value in TRIED.get(parameter, [])]


def effect(name, parameter, needed):
    """The first call whose result the parameter changes: its text, NumPy's result, arrays."""
    for text, without, out in calls(name, parameter, needed):
        arrays = dict(ARRAYS, f=np.ones((6, 2)))
        if out is not None:
            arrays["result"] = out
        # What only the library needs to know.
        right, plain = (evaluate(t.replace(", length=4", ""), arrays) for t in (text, without))
        if look(right) != look(plain) and (not isinstance(right, Exception) or parameter in ("casting", "axis")):
            return text, right, arrays
    return None


def check(kiln, name, parameter, needed):
    """None, or what is wrong."""
    found = effect(name, parameter, needed)
    if not found:
        return f"{name}: no call shows an effect of '{parameter}'"
    text, right, arrays = found
    used = {key: value for key, value in arrays.items() if key in set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())}
    lies = []
    got = kiln.evaluate(text, used, random.Random(1), 1 if isinstance(right, Exception) else len(right), lies)
    if isinstance(right, Exception):
        return None if isinstance(got, str) else f"{text}: {got}, where NumPy refuses: {right}"
    if isinstance(got, str):
        return f"{text}: {got}"
    for g, r, (strides, _) in zip(got, right, lies):
        if name in ("empty", "empty_like") and (g.dtype, g.shape) == (r.dtype, r.shape):
            continue
        if not same(g, r, ""):
            return f"{text}: {g} {g.dtype}, not {r} {r.dtype}"
        if parameter == "order" and r.size > 1 and name not in ("ravel", "reshape", "unravel_index", "ravel_multi_index") and tuple(strides) != r.strides:
            return f"{text}: strides {strides}, not {r.strides}"
    return None


def taken(kiln, lines):
    """Each name and parameter of NumPy's that the function of expressions takes."""
    left_out = {(p, f) for p, functions, _ in (line.split("\t") for line in LEFT_OUT.read_text(encoding="utf-8").splitlines()) for f in functions.split()}
    for name in (name for name, kind, *_ in lines if kind in ("operation", "function")):
        function = numpys(name)
        if function is None or isinstance(function, np.ufunc):
            continue
        needed, others = parameters(function)
        for parameter in others:
            # NumPy's where takes no names; how many elements compress has, no other node knows.
            if name != "where" and (name, parameter) != ("compress", "out") and (parameter, name) not in left_out and (parameter, "*") not in left_out:
                yield name, parameter, needed


def promised(kiln):
    """Those on which no result depends, by the library's own table."""
    found = set()
    for line in (LEFT_OUT.parents[2] / "docs/numpy.md").read_text(encoding="utf-8").split("Not there:")[0].split("no result depends on them:")[1].splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("| `"):
            found |= {(cells[1].strip("`"), name.strip("`")) for name in cells[2].split()}
    return found


def names_of(o):
    """The lines of the program NAMES."""
    return subprocess.run([o.names], capture_output=True, text=True, check=True).stdout.splitlines()


def all_checked(kiln, o, check, cases, part, what):
    """check(kiln, *case), which says what is wrong, for the function that was asked for, or for one case of so many."""
    wrong = []
    cases = [case for case in cases if not o.only or case[0] == o.only]
    kiln.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
    chosen = cases if o.only else drawn(cases, part)
    in_threads(lambda case: wrong.append(check(kiln, *case)), chosen)
    wrong = [w for w in wrong if w]
    assert not wrong, f"KILN_SEED={SEED}\n" + "\n".join(sorted(wrong))
    print(f"{len(chosen)} of {len(cases)} {what}{'' if SOAK else ' drawn'}")


def main():
    o = random_cases(1, 1, 1, ("names", {}), ("--only", {}))
    kiln = Common(o.library)
    without = promised(kiln)
    all_checked(kiln, o, check, [case for case in taken(kiln, [line.split("\t") for line in names_of(o)]) if (case[1], case[0]) not in without], 12, "parameters")


if __name__ == "__main__":
    main()
