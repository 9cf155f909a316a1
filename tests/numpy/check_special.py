"""The special functions of tests/data/special.txt (mpmath's values), each in each floating dtype and of integers, in expressions: dtype, NaN and infinities, and the distance of the others in units of the last place. check_special.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import ctypes
import pathlib
import random

import numpy as np

from check_sort_names import Names
from host_kernels import in_threads, random_cases

DATA = pathlib.Path(__file__).resolve().parent.parent / "data/special.txt"
OPERATIONS = DATA.with_name("operations.txt")
DTYPES = "float16 float32 float64 int8 uint16 int64 bool".split()
# Units of the last place on the host and on a GPU, where they are other than 4 and 8; CUDA's manual has the bounds of its own functions. tools/numpy_page lists these.
ULPS = {"i0e": (8, 8), "i1": (8, 8), "i1e": (8, 8)}
# Near their zeros these are as exact as numbers of this size are.
ABSOLUTE = {"digamma": 8, "j0": 4, "j1": 4, "kl_div": 64, "polygamma": 64, "rel_entr": 16, "y0": 4, "y1": 4}
# CUDA's manual: j0, j1, y0 and y1 are off by so much at most where |x| is 8 or more.
BESSEL = ("j0", "j1", "y0", "y1")
FAR_ON_CUDA = {"f2": 2.2e-6, "f4": 2.2e-6, "f8": 5e-12}
ABSOLUTE_ON_CUDA = {"gammaln": 4}  # CUDA's manual leaves out lgamma from -10.001 to -2.264, where it has zeros


def read():
    points = {}
    for line in DATA.read_text(encoding="utf-8").splitlines():
        name, *words, value = line.split()
        points.setdefault(name, []).append(([float(w) for w in words if w != "-"], value))
    return points


def columns(points, dtype):
    """The points whose arguments the dtype has."""
    with np.errstate(all="ignore"):
        kept = [p for p in points if all((dtype.kind == "f" or np.isfinite(a) and str(a) != "-0.0") and (float(np.array(a).astype(dtype)) == a or a != a) for a in p[0])]
    return [np.array([p[0][k] for p in kept], dtype) for k in range(len(points[0][0]))], [p[1] for p in kept]


def result_dtype(dtype):
    """SciPy's, but for float16, which stays."""
    return dtype if dtype.kind == "f" else np.dtype("f4" if dtype.itemsize < 4 else "f8")


def check_case(kiln, points, target, seed, index):
    rng = random.Random(seed * 1000003 + index)
    name = sorted(points)[index % len(points)]
    dtype = np.dtype(DTYPES[index % 3] if rng.random() < 0.7 else rng.choice(DTYPES))
    arguments, values = columns(points[name], dtype)
    if not values:
        return 0
    right = np.array([float(v) for v in values])
    text = f"{name}({', '.join('xy'[:len(arguments)])})"
    got = kiln.results(text, dict(zip("xy", arguments)), rng, 1)[0]
    wanted = result_dtype(dtype)
    what = f"--seed {seed} --first {index} --count 1: {text} of {dtype}"
    assert got.dtype == wanted, f"{what}: {got.dtype}, not {wanted}"
    limits = ULPS.get(name, (4, 8))
    limit = 1 if wanted == "f2" else limits[target != "host"]
    with np.errstate(all="ignore"):
        rounded = right.astype(wanted)
        step = np.spacing(abs(rounded)).astype("f8")
        off = abs(got.astype("f8") - right)
        slack = np.finfo(wanted).eps * max(ABSOLUTE.get(name, 0), ABSOLUTE_ON_CUDA.get(name, 0) * (target != "host"))
        if name in BESSEL and target != "host":
            slack = np.where(abs(arguments[0].astype("f8")) >= 8, np.maximum(slack, FAR_ON_CUDA[wanted.str[1:]]), slack)
        same = (got == rounded) | np.isnan(got) & np.isnan(rounded) | np.isfinite(rounded) & (rounded != 0) & (off <= limit * step + slack)
    wrong = [f"{name}({', '.join(str(float(a[k])) for a in arguments)}) = {got[k]!r}, not {values[k]} ({off[k] / step[k]:.1f} ulp)" for k in np.flatnonzero(~same)]
    assert not wrong, f"{what}: " + "; ".join(wrong[:8])
    return len(values)


class Definition(ctypes.Structure):
    """The first members of a kiln_operation."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("name", ctypes.c_char_p)]


def check_all_have_values(kiln, points):
    """Each operation of the table is compared with values that are kept: NumPy's, or those of mpmath."""
    kept = {line.split()[1] for line in OPERATIONS.read_text(encoding="utf-8").splitlines() if line.split()[0] in ("map", "rows")} | set(points)
    for k in range(kiln.c.kiln_operation_count()):
        d = Definition(ctypes.sizeof(Definition))
        kiln.check(kiln.c.kiln_operation_at(ctypes.byref(d), k), "kiln_operation_at")
        assert d.name.decode() in kept, f"{d.name.decode()}: no values are kept, in operations.txt (make_operations.py) or special.txt (make_special.py)"


def main():
    o = random_cases(2000, 12, 32)
    kiln, points, counts = Names(o.library), read(), []
    check_all_have_values(kiln, points)
    in_threads(lambda k: counts.append(check_case(kiln, points, o.target, o.seed, k)), o.cases)
    print(f"{sum(counts)} values of {len(points)} functions, none wrong")


if __name__ == "__main__":
    main()
