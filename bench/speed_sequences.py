"""Sequences for bench/fuzz_speed.py --sequences: sorts, scans, selections, counts, searches and indices by NumPy's names, drawn with a seed, over arrays of all dtypes, kinds of
data, layouts and axes. A case is a dictionary as those of bench/speed_cases.py; `same` says how a result is compared, `peer` is NumPy's text where kiln's differs."""
import ctypes
import random

import numpy as np

from host_calls import Repeated

WHOLE = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float32", "float64"]
NUMBERS = {"float32": 26, "float64": 20, "int32": 12, "int64": 14, "uint8": 8, "int16": 4, "uint16": 2, "int8": 2, "uint32": 3, "uint64": 3, "float16": 5}
ALL = {**NUMBERS, "complex64": 3, "complex128": 2, "bool": 4}
KINDS = {"random": 50, "sorted": 16, "few": 16, "nearly": 8, "special": 10}


def drawn(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


class Drawing:
    """A case while it is made: x is its array, of one axis or two."""

    def __init__(self, rng, least, most):
        self.rng, self.n, self.inputs, self.same, self.peer = rng, max(int(2 ** rng.uniform(least, most)), 4), {}, "exact", None

    def number(self):
        return drawn(self.rng, NUMBERS)

    def add(self, name, dtype, n=None, values=None):
        """A row of numbers."""
        n, kind = n or self.n, values or drawn(self.rng, KINDS)
        way = drawn(self.rng, {"x": 80, "x[1:]": 8, "x[::2]": 6, "x[::-1]": 6})
        self.inputs[name] = {"dtype": dtype, "shape": [n + 1 if way == "x[1:]" else 2 * n if way == "x[::2]" else n], "view": way, "values": kind}
        return name

    def table(self, name, dtype, values=None):
        """Rows of numbers; the axis of a call."""
        rows = max(min(int(2 ** self.rng.uniform(0, 12)), self.n // 4), 1)
        self.rows, self.columns = rows, max(self.n // rows, 2)
        is_turned = self.rng.random() < 0.2
        shape = [self.columns, rows] if is_turned else [rows, self.columns]
        self.inputs[name] = {"dtype": dtype, "shape": shape, "view": "x.T" if is_turned else "x", "values": values or drawn(self.rng, KINDS)}
        return self.rng.choice([0, 1, 1])

    def along(self, dtype, values=None):
        """x of one axis or two, and the words of an axis."""
        if self.rng.random() < 0.6:
            self.add("x", dtype, values=values)
            return ""
        return f", axis={self.table('x', dtype, values)}"

    def length(self, k):
        """Of an axis that `along` said."""
        return self.n if not k else self.rows if k.endswith("0") else self.columns


def sorts(d):
    name = d.rng.choice(["sort", "sort", "argsort"])
    k, how = d.along(drawn(d.rng, ALL)), d.rng.choice(["", ", kind='stable'"])
    d.same = "keys" if name == "argsort" and not how and not k else "exact"
    if name == "argsort" and k:
        how = ", kind='stable'"
    return f"{name}(x{k}{how})"


def lexsorts(d):
    d.add("x", d.number())
    d.add("y", d.number(), values="few")
    return d.rng.choice(["lexsort((x, y))", "lexsort((y, x))"])


def places(d):
    k = d.along(drawn(d.rng, NUMBERS))
    n, same = d.length(k), d.rng.choice(["partition", "argpartition", "median", "quantile", "percentile"])
    at = d.rng.choice([0, n // 100, n // 3, n // 2, n - 1])
    if same == "partition" and not k:
        d.same = f"parted {at}"
        return f"partition(x, {at})"
    d.same = "near"
    return d.rng.choice([f"median(x{k})", f"quantile(x, 0.3{k})", f"percentile(x, [10, 50]{k})", f"percentile(x, 90{k})", f"nanmedian(x{k})"])


def searches(d):
    dtype = d.number()
    d.add("x", dtype)
    d.add("y", dtype, max(int(2 ** d.rng.uniform(2, min(16, np.log2(d.n)))), 2), "edges")
    return d.rng.choice(["searchsorted(y, x)", "searchsorted(y, x, side='right')", "digitize(x, y)"])


def scans(d):
    dtype = drawn(d.rng, ALL)
    is_real = dtype not in ("complex64", "complex128")
    k = d.along(dtype)
    axis = k or ", axis=0"
    d.same = "sums"
    texts = [f"cumsum(x{k})", f"cumsum(x{k})", f"cumprod(x{k})", f"nancumsum(x{k})"]
    if is_real:
        texts += [f"maximum.accumulate(x{axis})", f"minimum.accumulate(x{axis})"]
    if dtype in FLOATS[1:]:
        texts += [f"logaddexp.accumulate(x{axis})", f"cumsum(x * x{k})"]
    return d.rng.choice(texts)


def differences(d):
    dtype = d.number()
    k = d.along(dtype)
    d.same = "sums"
    return d.rng.choice([f"diff(x{k})", f"diff(x, n=2{k})", f"trapezoid(x{k})"])


def selections(d):
    dtype = drawn(d.rng, ALL)
    d.add("x", dtype)
    d.add("m", "bool", values=d.rng.choice(["share 1", "share 10", "share 30", "share 50", "share 90", "runs"]))
    texts = ["nonzero(x)[0]", "flatnonzero(x)", "argwhere(x)", "nonzero(m)[0]", "flatnonzero(m)", "compress(m, x)", "extract(m, x)", "x[m]", "where(m)[0]", "x[~m]"]
    if not dtype.startswith(("complex", "bool")):
        texts += ["x[x > 1]", "compress(x > 1, x)", "flatnonzero(x > 1)", "sum(x[x > 1])"]
    d.same = "sums"
    return d.rng.choice(texts)


def tables_selected(d):
    d.table("x", drawn(d.rng, ALL))
    d.inputs["m"] = {**d.inputs["x"], "dtype": "bool", "values": "share 30"}
    return d.rng.choice(["nonzero(x)[1]", "argwhere(x)", "x[m]", "nonzero(m)[0]", "count_nonzero(x, axis=0)", "count_nonzero(x, axis=1)"])


def numbers_counted(d):
    d.add("x", drawn(d.rng, {**ALL, "bool": 20}))
    return d.rng.choice(["count_nonzero(x)", "count_nonzero(x)", "sum(x != 0)"])


def sets(d):
    dtype = d.number()
    d.add("x", dtype)
    d.add("y", dtype, max(int(2 ** d.rng.uniform(2, np.log2(d.n))), 2))
    return d.rng.choice(["unique(x)", "unique(x)", "unique(x, return_counts=True)[1]", "unique(x, return_inverse=True)[1]", "unique(x, return_index=True)[1]", "isin(x, y)",
                         "isin(x, y)", "isin(x, y, invert=True)", "intersect1d(x, y)", "union1d(x, y)", "setdiff1d(x, y)", "setxor1d(x, y)"])


def counts(d):
    dtype, most = d.rng.choice(["int64", "int64", "int32", "uint8", "int16"]), d.rng.choice([2, 10, 100, 1000, 50000])
    d.add("k", dtype, values=f"below {min(most, 100 if dtype == 'uint8' else 30000 if dtype == 'int16' else most)}")
    d.same = "sums"
    if d.rng.random() < 0.5:
        return "bincount(k, minlength=50000)" if most == 50000 else f"bincount(k, minlength={most})"
    d.add("w", d.number(), values="random")
    return f"bincount(k, w, minlength={most})"


def histograms(d):
    dtype = d.rng.choice(["float32", "float64", "float64", "int32", "int64", "uint8", "float16"])
    d.add("x", dtype, values=d.rng.choice(["random", "random", "sorted", "few"]))
    bins, ends = d.rng.choice([10, 10, 50, 256, 1000, 5000]), "(-3, 3)" if dtype.startswith("f") else "(0, 100)"
    way = d.rng.choice(["bins", "range", "range", "edges", "edges", "weights", "two"])
    d.same = "sums"
    if way == "edges":
        d.add("y", dtype, min(bins, 200 if dtype == "uint8" else bins) + 1, "edges")
        return "histogram(x, y)[0]"
    if way == "weights":
        d.add("w", "float64", values="random")
        return f"histogram(x, {bins}, range={ends}, weights=w)[0]"
    if way == "two":
        d.add("w", dtype, values="random")
        return f"histogram2d(x, w, bins={d.rng.choice([10, 50])}, range=({ends}, {ends}))[0]"
    return f"histogram(x, {bins})[0]" if way == "bins" else f"histogram(x, {bins}, range={ends})[0]"


def taken(d):
    dtype = drawn(d.rng, ALL)
    d.add("x", dtype, values="random")
    kind = d.rng.choice(["below", "below", "chosen"])
    d.add("i", d.rng.choice(["int64", "int64", "int32"]), max(int(d.n * d.rng.choice([1, 0.5, 0.1])), 2), f"{kind} {d.n}")
    return d.rng.choice(["take(x, i)", "x[i]", "x[i]"])


def rows_taken(d):
    axis = d.table("x", drawn(d.rng, ALL), "random")
    n = d.rows if axis == 0 else d.columns
    if d.rng.random() < 0.4:
        d.inputs["i"] = {**d.inputs["x"], "dtype": "int64", "values": f"below {n}"}
        return f"take_along_axis(x, i, axis={axis})"
    d.add("i", "int64", max(n // d.rng.choice([1, 2, 10]), 1), f"below {n}")
    return d.rng.choice([f"take(x, i, axis={axis})", "x[i]" if axis == 0 else "x[:, i]"])


def written(d):
    dtype = d.number()
    d.add("x", dtype, values="random")
    m = max(d.n // d.rng.choice([1, 2, 10]), 2)
    d.add("i", "int64", m, f"{d.rng.choice(['below', 'chosen'])} {d.n}")
    d.add("v", dtype, m, "random")
    d.add("m", "bool", values="share 30")
    d.same = "sums"
    return d.rng.choice(["y = x.copy(); y[i] = 1; y", "y = x.copy(); add.at(y, i, v); y", "y = x.copy(); y[m] = 0; y", "y = x.copy(); put(y, i, v); y", "y = x.copy(); y[i] = v; y",
                         "y = x.copy(); maximum.at(y, i, v); y", "add.reduceat(x, i)"])


FAMILIES = {sorts: 12, lexsorts: 2, places: 7, searches: 8, scans: 12, differences: 5, selections: 12, tables_selected: 5, numbers_counted: 5, sets: 10, counts: 7, histograms: 10, taken: 8,
            rows_taken: 5, written: 6}


def draw(seed, index, least, most):
    """Case `index` of a seed; the same on every machine."""
    rng = random.Random(seed * 1000003 + index)
    d = Drawing(rng, least, most)
    family = drawn(rng, FAMILIES)
    text = family(d)
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    case = {"number": index, "seed": seed, "family": family.__name__, "domain": "sequences", "text": text, "same": d.same}
    return {**case, "inputs": {n: i for n, i in d.inputs.items() if n in words}}


# ---- arrays ----

def plain(dtype, n, rng):
    if dtype.kind == "b":
        return rng.random(n) < 0.5
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(max(info.min, -2**40) if rng.random() < 0.5 else 0, min(info.max, 2**40) if rng.random() < 0.5 else 100, n)
    return rng.standard_normal(n) + (1j * rng.standard_normal(n) if dtype.kind == "c" else 0)


def special(values, dtype, rng):
    """Some infinities, NaN, zeros of both signs; extremes of integers."""
    some = [np.inf, -np.inf, np.nan, 0.0, -0.0] if dtype.kind in "fc" else [0, 1] if dtype.kind == "b" else [np.iinfo(dtype).min, np.iinfo(dtype).max, 0]
    at = rng.integers(0, values.size, values.size // 20 + 1)
    values[at] = np.array(some, dtype)[rng.integers(0, len(some), at.size)]
    return values


def values_of(i, n, rng):
    dtype, (kind, *rest) = np.dtype(i["dtype"]), i["values"].split()
    if kind in ("below", "chosen"):
        values = rng.integers(0, int(rest[0]), n)
        return (np.sort(values) if kind == "chosen" else values).astype(dtype)
    if kind == "share":
        return rng.random(n) < int(rest[0]) / 100
    if kind == "runs":
        return np.repeat(rng.random(n // 500 + 1) < 0.5, 500)[:n]
    values = plain(dtype, n, rng).astype(dtype)
    if kind == "few":
        return values[:100][rng.integers(0, min(100, n), n)]
    if kind == "special":
        return special(values, dtype, rng)
    if kind in ("sorted", "edges", "nearly"):
        values = np.sort(values)
    if kind == "nearly":
        at = rng.integers(0, n, n // 1000 + 1)
        values[at] = values[rng.permutation(at)]
    if kind == "edges":  # which digitize wants to be strictly greater
        values = np.unique(values)
        values = np.resize(values, n) if values.size < 2 else values
    return values


def filled(i, rng, lying):
    values = values_of(i, int(np.prod(i["shape"])), rng)
    if i["values"] == "edges":
        step = 2 if i["view"] == "x[::2]" else 1
        values = values if i["view"] != "x[::-1]" else values[::-1]
        a = lying([values.size * step], i["dtype"])
        a[::step] = values
        return a
    a = lying(i["shape"], i["dtype"])
    a.reshape(-1)[:] = values
    return a


# ---- calls ----

class Numpy:
    """A case as one would write it."""

    def __init__(self, threads):
        pass

    def make(self, case, bases, arrays):
        *first, last = case["text"].split("; ")
        space = {name: getattr(np, name) for name in dir(np) if not name.startswith("_")}
        exec("\n    ".join([f"def case({', '.join(arrays)}):", *first, f"return {last}"]), space)
        given = list(arrays.values())
        return lambda: space["case"](*given)


class Call(Repeated):
    """A case as an expression, whose results are new arrays at each call."""

    def __init__(self, kiln, case, arrays):
        super().__init__(kiln, case["text"], arrays)
        self.keep = arrays

    def result(self, dtype, shape):
        got = self(True)
        is_whole = got.size % dtype.itemsize == 0
        got = got.view(dtype) if is_whole else got
        return got.reshape(shape) if is_whole and got.size == np.prod(shape) else got

    def plan(self):
        return ""

    def empty(self):
        """What Python and ctypes take for such a call: of functions that do nothing."""
        hollow, nothing = Call.__new__(Call), ctypes.CDLL(None)["pthread_equal"]
        hollow.__dict__.update(self.__dict__)
        hollow.kiln = type("Hollow", (), {"c": type("Nothing", (), {"kiln_kernel_call": nothing, "kiln_array_free": nothing}), "check": lambda *_: None})
        return hollow


def wrong(case, arrays, got, wanted):
    """What is wrong with a result; None: nothing."""
    if got.shape != wanted.shape:
        return f"{got.dtype}{list(got.shape)}, where NumPy has {wanted.dtype}{list(wanted.shape)}"
    same, x = case["same"], next(iter(arrays.values()))
    if same == "keys":
        got, wanted = x[got], np.sort(x)
    if same.startswith("parted"):
        at = int(same.split()[1])
        is_there = np.array_equal(got[at], wanted[at], equal_nan=True)
        got, wanted = np.sort(got), np.sort(wanted) if is_there else wanted[:0]
    if same in ("sums", "near") and wanted.dtype.kind in "fc":
        if wanted.dtype == np.float16 or not wanted.size:
            return None
        is_sure = np.isfinite(wanted)
        scale = max(float(np.abs(wanted[is_sure]).max(initial=0)), 1)
        off = np.abs(np.where(is_sure, got, 0) - np.where(is_sure, wanted, 0)).max()
        return None if off <= scale * (1e-3 if wanted.dtype.itemsize < 8 or wanted.dtype == np.complex64 else 1e-9) else f"off by {off}, where results are up to {scale}"
    return None if np.array_equal(got, wanted, equal_nan=wanted.dtype.kind in "fc") else "other elements"
