"""Random expressions with what NumPy says of them: dtype and shape by NumPy itself, values in float64 with a bound on how far off a computation in the
dtypes may be. Every step adds its own: what its operands are off goes through it, and each rounding is a unit roundoff of its result, times what the
functions of C libraries are off. Where a step could turn out otherwise because of that (a comparison of neighbours, a floor, an argmax), it is not
taken; neither are steps that give infinities, NaN, or numbers near the end of a dtype's range."""
import math

import numpy as np

from fuzz_reductions import ACCUMULATES, ROUNDOFF, margin

TINY = {"float16": 2.0 ** -24, "float32": 2.0 ** -149, "float64": 0.0, "complex64": 2.0 ** -149, "complex128": 0.0}
MOST = {"float16": 3e4, "float32": 1e30, "float64": 1e100, "complex64": 1e15, "complex128": 1e50}
LIBRARY = 4  # roundings that a function of a C library, or of CUDA's, may be off
CAST_TYPES = "bool_ int8 int16 int32 int64 uint8 uint16 uint32 float16 float32 float64 complex64".split()


class Reject(Exception):
    """This step cannot be compared."""


class Value:
    """A part of an expression: its text, what NumPy makes of it (`typed`: an array, or a number of Python's), its value and how far off that may be
    (None: nothing, as for whole numbers and booleans)."""

    def __init__(self, text, typed, ref=None, off=None, n_steps=0, n_folds=0):
        self.text, self.typed, self.n_steps, self.n_folds = text, typed, n_steps, n_folds
        self.ref, self.off = np.asarray(typed) if ref is None else ref, off
        self.is_weak = type(typed) in (bool, int, float, complex)
        self.dtype = np.asarray(typed).dtype
        self.parts, self.is_read = (), False

    @property
    def kind(self):
        return self.dtype.kind


def wide(v):
    """A value in float64 or complex128, and how far off it is."""
    if v.kind in "iu" and v.ref.size and max(abs(int(v.ref.max())), abs(int(v.ref.min()))) > 2 ** 53:
        raise Reject
    return np.asarray(v.ref, "c16" if v.kind == "c" else "f8"), 0.0 if v.off is None else v.off


def given_to(v, dtype):
    """The same, for an operation that computes in dtype, and so converts it."""
    ref, off = wide(v)
    if dtype.name not in ROUNDOFF:
        raise Reject
    if v.off is None:
        with np.errstate(all="ignore"):
            return ref, np.abs(ref - ref.astype(dtype))
    return ref, off + (ROUNDOFF[dtype.name] * (np.abs(ref) + off) if v.dtype != dtype or v.is_weak else 0)


def laid(typed, right):
    """What NumPy gives where its values may be off: the right ones, of which it is certain, in its layout."""
    out = np.empty_like(np.asarray(typed))
    out[...] = right
    return out


def certain(condition):
    if not np.all(condition):
        raise Reject


def close(text, typed, ref, off, roundings, *parts, is_fold=False):
    """The value of a step that computes in floating point, with its own roundings."""
    dtype = np.asarray(typed).dtype
    if dtype.name not in ROUNDOFF:
        raise Reject
    ref = np.asarray(ref)
    own = min(roundings, 2) if dtype.name in ("float64", "complex128") else 0  # of the reference, which has no more digits then
    off = off + (roundings + own) * ROUNDOFF[dtype.name] * (np.abs(ref) + off) + TINY[dtype.name]
    certain(np.isfinite(ref) & np.isfinite(off))
    certain(np.abs(ref) + off < MOST[dtype.name])
    return step(Value(text, typed, ref, np.broadcast_to(off, ref.shape)), parts, is_fold)


def step(value, parts, is_fold=False):
    value.parts = parts
    value.n_steps = 1 + sum(p.n_steps for p in parts)
    value.n_folds = is_fold + sum(p.n_folds for p in parts)
    if value.ref.shape != np.shape(value.typed):
        value.ref = np.broadcast_to(value.ref, np.shape(value.typed))
    return value


# ---- elementwise ----

# A function that goes up, or down, all the way (where it is defined): NumPy's name, and whether all numbers will do.
MONOTONE = {"exp": 1, "exp2": 1, "expm1": 1, "log": 0, "log2": 0, "log10": 0, "log1p": 0, "sqrt": 0, "cbrt": 1, "tanh": 1, "arctan": 1, "sinh": 1, "arcsinh": 1}
BOUNDED = ["sin", "cos"]
STEPS = ["floor", "ceil", "trunc", "rint"]


def monotone(name, a):
    typed = getattr(np, name)(a.typed)
    x, off = given_to(a, np.asarray(typed).dtype)
    if a.kind == "c":
        raise Reject
    f = getattr(np, name)
    ref, low, high = f(x), f(x - off), f(x + off)
    return close(f"{name}({a.text})", typed, ref, np.maximum(np.abs(high - ref), np.abs(ref - low)), LIBRARY, a)


def bounded(name, a):
    typed = getattr(np, name)(a.typed)
    x, off = given_to(a, np.asarray(typed).dtype)
    if a.kind == "c":
        raise Reject
    return close(f"{name}({a.text})", typed, getattr(np, name)(x), off, LIBRARY, a)


def to_whole(name, a):
    typed = getattr(np, name)(a.typed)
    if a.kind not in "f":
        raise Reject
    x, off = wide(a)
    f = getattr(np, name)
    certain(f(x - off) == f(x + off))
    return close(f"{name}({a.text})", typed, f(x), 0.0, 0, a)


def exact(text, typed, *parts):
    """A step on whole numbers or booleans, which NumPy computes as kiln does."""
    if any(p.off is not None for p in parts) or np.asarray(typed).dtype.kind not in "biu":
        raise Reject
    return step(Value(text, typed), parts)


def negate(a):
    text = f"-({a.text})"
    return exact(text, -a.typed, a) if a.off is None and a.kind in "iu" else close(text, -a.typed, -wide(a)[0], wide(a)[1], 0, a)


def size_of(a):
    text, typed = f"abs({a.text})", np.abs(a.typed)
    return exact(text, typed, a) if a.off is None and a.kind in "biu" else close(text, typed, np.abs(wide(a)[0]), wide(a)[1], LIBRARY * (a.kind == "c"), a)


def arithmetic(sign, a, b):
    text = f"({a.text}) {sign} ({b.text})"
    typed = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": np.divide}[sign](a.typed, b.typed) if not (a.is_weak and b.is_weak) else \
        eval(f"a {sign} b", {"a": a.typed, "b": b.typed})
    dtype = np.asarray(typed).dtype
    if dtype.kind in "biu":
        return exact(text, typed, a, b)
    (x, dx), (y, dy) = given_to(a, dtype), given_to(b, dtype)
    loose = 4 if dtype.kind == "c" else 1
    if sign == "/":
        certain(np.abs(y) > 2 * dy)
        return close(text, typed, x / y, (dx + np.abs(x / y) * dy) / (np.abs(y) - dy), 2 * loose, a, b)
    if sign == "*":
        return close(text, typed, x * y, np.abs(x) * dy + np.abs(y) * dx + dx * dy, loose, a, b)
    return close(text, typed, x + y if sign == "+" else x - y, dx + dy, 1, a, b)


def whole_arithmetic(sign, a, b):
    if a.kind not in "biu" or b.kind not in "biu":
        raise Reject
    if sign in ("//", "%"):
        certain(np.asarray(b.ref) != 0)
        certain((np.asarray(b.ref) != -1) if b.kind == "i" else True)
    if sign in ("<<", ">>"):
        certain((np.asarray(b.ref) >= 0) & (np.asarray(b.ref) < 8))
    return exact(f"({a.text}) {sign} ({b.text})", eval(f"a {sign} b", {"a": a.typed, "b": b.typed}), a, b)


def raised(a, power):
    text, typed = f"({a.text}) ** {power}", a.typed ** power
    if a.kind == "b":
        raise Reject
    if np.asarray(typed).dtype.kind in "iu":
        return exact(text, typed, a)
    x, off = given_to(a, np.asarray(typed).dtype)
    if power not in (2, 3) or a.kind == "c":
        certain(x - off > 0 if a.kind != "c" else False)
    f = lambda z: z ** float(power)
    reach = np.maximum(np.abs(f(x + off) - f(x)), np.abs(f(x) - f(x - off))) + off * off * 3
    return close(text, typed, f(x), reach, LIBRARY, a)


def of_two(name, a, b):
    typed = getattr(np, name)(a.typed, b.typed)
    text, dtype = f"{name}({a.text}, {b.text})", np.asarray(typed).dtype
    if "c" in (a.kind, b.kind):
        raise Reject
    if dtype.kind in "biu":
        return exact(text, typed, a, b)
    (x, dx), (y, dy) = given_to(a, dtype), given_to(b, dtype)
    f = getattr(np, name)
    if name == "hypot":
        return close(text, typed, f(x, y), dx + dy, LIBRARY, a, b)
    if name == "arctan2":
        size = np.hypot(x, y)
        certain(size > 4 * (dx + dy))
        certain((y > dy) | (np.abs(x) > dx))
        return close(text, typed, f(x, y), (dx + dy) / (size - dx - dy), LIBRARY, a, b)
    return close(text, typed, f(x, y), np.maximum(dx, dy), 0, a, b)


def compared(sign, a, b):
    """Or by the name of a function."""
    text = f"({a.text}) {sign} ({b.text})"
    typed = eval(f"a {sign} b", {"a": a.typed, "b": b.typed})
    if a.off is None and b.off is None and a.kind in "biu" and b.kind in "biu" and not (a.is_weak or b.is_weak):
        return exact(text, typed, a, b)
    if "c" in (a.kind, b.kind):
        raise Reject
    dtype = np.result_type(a.typed, b.typed)
    if dtype.kind != "f":
        for number, other in ((a, b), (b, a)):
            if number.is_weak:
                certain(number.ref == np.asarray(number.typed).astype(other.dtype))  # kiln refuses others
        return exact(text, typed, a, b)
    (x, dx), (y, dy) = given_to(a, dtype), given_to(b, dtype)
    certain(np.abs(x - y) > dx + dy)
    # of a and b the dtypes alone are right; numbers by value stay Python's
    return step(Value(text, typed if a.is_weak and b.is_weak else laid(typed, eval(f"x {sign} y", {"x": x, "y": y}))), (a, b))


def chosen(condition, a, b):
    text, typed = f"where({condition.text}, {a.text}, {b.text})", np.where(condition.typed, a.typed, b.typed)
    if condition.kind != "b" or condition.is_weak:
        raise Reject
    dtype = typed.dtype
    if dtype.kind in "biu":
        for v in (a, b):
            certain(np.asarray(v.ref) == np.asarray(v.ref).astype(dtype))
        return exact(text, typed, condition, a, b)
    (x, dx), (y, dy) = given_to(a, dtype), given_to(b, dtype)
    return close(text, typed, np.where(condition.ref, x, y), np.where(condition.ref, dx, dy), 0, condition, a, b)


def cast(a, name):
    text, dtype = f"({a.text}).astype({name})", np.dtype(name.rstrip("_"))
    if a.is_weak or (a.kind == "c" and dtype.kind != "c"):
        raise Reject
    typed = np.asarray(a.typed).astype(dtype)
    if dtype.kind in "fc":
        x, off = given_to(a, dtype)
        return close(text, typed, x.astype("c16") if dtype.kind == "c" else x, off, 0, a)
    if a.off is None and a.kind in "biu":
        return exact(text, typed, a)
    x, off = wide(a)
    if dtype.kind == "b":
        certain(np.abs(x) > off)
        return step(Value(text, laid(typed, x != 0)), (a,))
    low, high = np.trunc(x - off), np.trunc(x + off)
    certain(low == high)
    info = np.iinfo(dtype)
    certain((low >= info.min) & (low <= info.max))
    return step(Value(text, laid(typed, low.astype(dtype))), (a,))


# ---- reductions ----

def axes_of(value, axis):
    ndim = np.ndim(value.typed)
    return tuple(range(ndim)) if axis is None else tuple(a % ndim for a in (axis if isinstance(axis, tuple) else (axis,)))


def folded(name, a, axis, keepdims, ddof=0):
    how = {"axis": axis, "keepdims": keepdims}
    more = {"ddof": ddof} if ddof else {}
    text = f"{name}({a.text}, axis={axis}{', keepdims=True' if keepdims else ''}{f', ddof={ddof}' if ddof else ''})"
    if a.is_weak:
        raise Reject
    array = np.asarray(a.typed)
    n = math.prod(array.shape[k] for k in axes_of(a, axis))
    if n == 0 or (name in ("var", "std") and n <= ddof):
        raise Reject
    if name == "norm_2":
        typed = np.empty_like(np.asarray(np.sum(array, **how)), np.linalg.norm(np.ones(1, array.dtype)).dtype)
    else:
        typed = getattr(np, name)(array, **how, **more)
    dtype = np.asarray(typed).dtype
    if name in ("all", "any", "count_nonzero"):
        x, off = wide(a)
        certain((np.abs(x) > off) | (a.off is None))
        return step(Value(text, laid(typed, getattr(np, name)(x != 0, **how))), (a,), True)
    if name in ("argmax", "argmin"):
        if a.off is not None or isinstance(axis, tuple):
            raise Reject
        return step(Value(text, typed), (a,), True)
    if dtype.kind in "biu":
        if name == "mean":
            raise Reject
        return step(exact(text, typed, a), (a,), True)
    x, off = wide(a)
    roundoff = ACCUMULATES[dtype.name]
    within = lambda size: (margin(n, roundoff) + 2 * margin(n, 2.0 ** -53)) * size
    sums = np.sum(np.abs(x), **how)
    off_sum = np.sum(np.broadcast_to(off, x.shape), **how)
    if name in ("sum", "nansum"):
        return close(text, typed, np.sum(x, **how), off_sum + within(sums), 1, a, is_fold=True)
    if name == "mean":
        return close(text, typed, np.mean(x, **how), (off_sum + within(sums)) / n, 3, a, is_fold=True)
    if a.kind == "c":
        raise Reject
    most = np.max(np.broadcast_to(off, x.shape), **how)
    if name in ("max", "min"):
        return close(text, typed, getattr(np, name)(x, **how), most, 0, a, is_fold=True)
    if name == "ptp":
        return close(text, typed, np.ptp(x, **how), 2 * most, 1, a, is_fold=True)
    if name == "prod":
        if n > 12:
            raise Reject
        relative = np.max(np.where(x != 0, np.broadcast_to(off, x.shape) / np.where(x != 0, np.abs(x), 1), np.inf), **how)
        ref = np.prod(x, **how)
        return close(text, typed, ref, np.abs(ref) * np.expm1(n * np.log1p(relative + roundoff)), 1, a, is_fold=True)
    if name == "norm_2":
        squares = np.sum(x * x, **how)
        certain((squares > 0) & (squares < MOST[dtype.name]))
        return close(text, typed, np.sqrt(squares), np.sqrt(np.sum(np.broadcast_to(off, x.shape) ** 2, **how)) + within(np.sqrt(squares)), 8, a, is_fold=True)
    # The deviation moves by no more than the elements do, here by roundings of differences too.
    size = np.max(np.abs(x), **how)
    certain(n * size * size < MOST[dtype.name])
    deviation = np.std(x, **how) * math.sqrt(n / (n - ddof))
    moved = (most + 4 * roundoff * size) * math.sqrt(n / (n - ddof)) + (within(deviation) + 16 * roundoff * deviation)
    # Both means are off by so much at most, where elements are alike and round alike, and all differences from them by as much.
    moved = moved + np.hypot(deviation, n * (roundoff + 2.0 ** -53) * size) - deviation
    if name == "std":
        return close(text, typed, deviation, moved, 8, a, is_fold=True)
    return close(text, typed, deviation ** 2, 2 * deviation * moved + moved ** 2, 8, a, is_fold=True)


def folded_selection(name, a, sign, bound):
    """A reduction of a[a > bound], which is one of what takes no part and a neutral element."""
    if a.is_weak or np.ndim(a.typed) == 0 or a.kind == "c":
        raise Reject
    mask = compared(sign, a, bound)
    if np.shape(mask.typed) != np.shape(a.typed):
        raise Reject
    value = folded(name, chosen(mask, a, Value(str(name in ("prod", "all")), name in ("prod", "all"))), None, False)
    value.text, value.parts = f"{name}(({a.text})[{mask.text}])", (a, mask)
    return value


# ---- scans ----

def scanned(name, a, axis):
    if a.is_weak or isinstance(axis, tuple) or a.kind == "c":
        raise Reject
    numpys = {"cumsum": np.cumsum, "cummax": np.maximum.accumulate, "cummin": np.minimum.accumulate}[name]
    f = lambda x: numpys(x.reshape(-1) if axis is None else x, axis=axis or 0)
    array = np.asarray(a.typed)
    text = f"{name}({a.text})" if axis is None else f"{name}({a.text}, axis={axis})"
    if array.ndim == 0:
        raise Reject
    typed = laid(f(array), np.asarray(f(array)))
    if typed.dtype.kind in "biu":
        return step(exact(text, typed, a), (a,), True)
    x, off = wide(a)
    off = np.broadcast_to(off, x.shape)
    if name != "cumsum":
        most = np.maximum.accumulate(off.reshape(-1) if axis is None else off, axis=axis or 0)
        return close(text, typed, f(x), most, 0, a, is_fold=True)
    roundoff = ACCUMULATES[typed.dtype.name]
    n = array.size if axis is None else array.shape[axis]
    return close(text, typed, f(x), f(off) + (margin(n, roundoff) + 2 * margin(n, 2.0 ** -53)) * f(np.abs(x)), 1, a, is_fold=True)


def difference(a, axis):
    if a.is_weak or a.kind == "b" or not isinstance(axis, int):
        raise Reject
    before = (slice(None),) * (axis % np.ndim(a.typed))
    value = arithmetic("-", viewed("{}", a, lambda x: x[before + (slice(1, None),)]), viewed("{}", a, lambda x: x[before + (slice(None, -1),)]))
    value.text, value.parts = f"diff({a.text}, axis={axis})", (a,)
    return value


# ---- kernels of the user's, which fuzz_graphs.py defines ----

def by_kernel(name, a, b, axis, keepdims):
    if a.kind != "f" or a.is_weak or (b.dtype != a.dtype and not b.is_weak):
        raise Reject
    if name == "k_gap":
        gap = arithmetic("-", a, b)
        value, text = arithmetic("*", gap, gap), f"k_gap({a.text}, {b.text})"
    elif name == "k_pair":
        one = Value("1", 1)
        low, value = arithmetic("-", a, one), arithmetic("+", a, one)
        value, text = (low, f"k_pair({a.text})[0]") if keepdims else (value, f"k_pair({a.text})[1]")
    elif name == "k_lone":  # of which one element is read as an array's
        if 0 in (np.ndim(a.typed), np.ndim(b.typed)):  # which may be a number
            raise Reject
        certain(np.size(b.typed) > 0)
        value, text = arithmetic("*", a, viewed("{}", b, lambda v: v[(0,) * v.ndim])), f"k_lone({b.text}, {a.text})[0]"
    else:
        value = folded("sum", arithmetic("*", a, a), axis, keepdims)
        text = f"k_squares({a.text}, axis={axis}{', keepdims=True' if keepdims else ''})"
    certain(value.dtype == a.dtype)
    value.text, value.parts = text, (a, b)
    return value


# ---- views ----

def viewed(text, a, view):
    """text has {} for the array."""
    if a.is_weak:
        raise Reject
    typed = view(np.asarray(a.typed))
    off = None if a.off is None else view(np.broadcast_to(a.off, np.shape(a.typed)))
    return step(Value(text.format(f"({a.text})"), typed, view(np.asarray(a.ref)), off), (a,))


# ---- expressions ----

class Graph:
    """Statements over inputs, and the values of the results."""

    def __init__(self, rng, inputs, n_steps, most_folds):
        self.rng, self.values, self.statements, self.most_folds = rng, list(inputs), [], most_folds
        self.n_inputs = len(inputs)
        for _ in range(20 * n_steps):
            if len(self.values) - self.n_inputs < n_steps:
                self.grow()
        made = self.values[self.n_inputs:] or self.values
        ends = sorted((v for v in made if not v.is_read), key=lambda v: -v.n_steps)  # what most steps led to
        self.results = ends[:rng.choice([1, 1, 1, 2, 3])]
        texts = [r.text for r in self.results]
        self.text = "; ".join(self.statements + [", ".join(texts)])

    def pick(self):
        """Rather one of the last values."""
        rng = self.rng
        at = len(self.values) - 1 - int(len(self.values) * rng.random() ** 2)
        return self.values[max(at, 0)]

    def operand(self, a):
        """What a may be combined with, unless that is far larger than both."""
        value = self.numbers(np.shape(a.typed)) if self.rng.random() < 0.06 else self.any_operand()
        if math.prod(np.broadcast_shapes(np.shape(a.typed), np.shape(value.typed))) > self.most:
            raise Reject
        return value

    def numbers(self, shape):
        """A range along an axis of this shape, or along the last axes, one by one."""
        rng, ndim = self.rng, len(shape)
        if not ndim or 0 in shape:
            raise Reject
        axis, first = rng.randrange(ndim), rng.choice([0, 0, 3])
        if rng.random() < 0.3:
            size = math.prod(shape[axis:])
            return step(Value(f"arange({size}).reshape({', '.join(map(str, shape[axis:]))})", np.arange(size).reshape(shape[axis:])), ())
        ones = (1,) * (ndim - 1 - axis)
        made = np.arange(first, first + 2 * shape[axis], 2).reshape(-1, *ones)
        return step(Value(f"arange({first}, {first + 2 * shape[axis]}, 2).reshape({', '.join(map(str, (-1, *ones)))})", made), ())

    def any_operand(self):
        rng = self.rng
        if rng.random() < 0.2:
            number = rng.choice([2, 3, 0.5, 1.25, -1, 1, 0.1, 7])
            return Value(str(number), number, off=None)
        return self.pick()

    def fitting(self, value, a):
        if math.prod(np.broadcast_shapes(np.shape(a.typed), np.shape(value.typed))) > self.most // 8:
            raise Reject
        return value

    def grow(self):
        rng = self.rng
        try:
            with np.errstate(all="ignore"):
                value = self.make()
        except (Reject, TypeError, ValueError, OverflowError, ZeroDivisionError, IndexError):
            return  # NumPy's own refusals as well
        if value.is_weak or np.size(value.typed) > self.most or value.n_folds > self.most_folds or len(value.text) > 600:
            return
        for part in value.parts:
            part.is_read = True
        if rng.random() < 0.6:
            name = f"t{len(self.statements)}"
            self.statements.append(f"{name} = {value.text}")
            value.text = name
        self.values.append(value)

    def make(self):
        rng = self.rng
        way, a = rng.random(), self.pick()
        if way < 0.34:
            sign = rng.choice("++--***/")
            pair = [a, self.operand(a)]
            rng.shuffle(pair)
            return arithmetic(sign, *pair)
        if way < 0.48:
            name = rng.choice(list(MONOTONE) + BOUNDED + STEPS)
            return monotone(name, a) if name in MONOTONE else bounded(name, a) if name in BOUNDED else to_whole(name, a)
        if way < 0.54:
            return rng.choice([negate, size_of])(a)
        if way < 0.58:
            return raised(a, rng.choice([2, 3, 2, 0.5, -1, 1.5]))
        if way < 0.64:
            return of_two(rng.choice("maximum minimum fmax fmin hypot arctan2 logical_and bitwise_xor".split()), a, self.operand(a))
        if way < 0.69:
            return compared(rng.choice("< <= > >= == !=".split()), a, self.operand(a))
        if way < 0.74:
            conditions = [v for v in self.values if v.kind == "b" and not v.is_weak]
            return chosen(self.fitting(rng.choice(conditions), a), a, self.operand(a))
        if way < 0.79:
            return whole_arithmetic(rng.choice("// % & | ^ << >>".split()), a, self.operand(a))
        if way < 0.82:
            return cast(a, rng.choice(CAST_TYPES))
        if way < 0.85:
            return by_kernel(rng.choice(["k_gap", "k_pair", "k_squares", "k_lone"]), a, self.operand(a), self.axis(a), rng.random() < 0.5)
        if way < 0.91:
            return self.fold(a)
        return self.view(a)

    def axis(self, a):
        rng, ndim = self.rng, np.ndim(a.typed)
        if not ndim or rng.random() < 0.2:
            return None
        axes = rng.sample(range(ndim), 1 if rng.random() < 0.7 else rng.randint(1, ndim))
        axes = [x - ndim if rng.random() < 0.5 else x for x in axes]
        return axes[0] if len(axes) == 1 else tuple(axes)

    def fold(self, a):
        rng = self.rng
        if rng.random() < 0.1:
            return difference(a, self.axis(a))
        if rng.random() < 0.1:
            return folded_selection(rng.choice("sum prod any all count_nonzero norm_2 nansum".split()), a, rng.choice("<>"), self.operand(a))
        if rng.random() < 0.2:
            return scanned(rng.choice("cumsum cumsum cummax cummin".split()), a, self.axis(a))
        name = rng.choice("sum sum mean mean max min var std any all count_nonzero argmax argmin ptp prod norm_2 nansum".split())
        return folded(name, a, self.axis(a), rng.random() < 0.6, rng.choice([0, 0, 1]) if name in ("var", "std") else 0)

    def view(self, a):
        rng, ndim = self.rng, np.ndim(a.typed)
        way = rng.random()
        if way < 0.3:
            return viewed("{}.T", a, lambda x: x.T)
        if way < 0.6 and ndim:
            items = [rng.choice([":", ":", "::-1", "1:", "::2", ":-1", "0", "-1", "None"]) for _ in range(rng.randint(1, ndim))]
            index = ", ".join(items)
            return viewed("{}[" + index + "]", a, lambda x: eval(f"x[{index}]", {"x": x}))
        if way < 0.7:
            return viewed("{}.reshape(-1)", a, lambda x: x.reshape(-1))
        if way < 0.85:
            axis = rng.randint(-ndim - 1, ndim)
            return viewed("expand_dims({}, " + str(axis) + ")", a, lambda x: np.expand_dims(x, axis))
        if way < 0.92:
            return viewed("broadcast_to({}, (" + "".join(f"{n}, " for n in (2, *np.shape(a.typed))) + "))", a, lambda x: np.broadcast_to(x, (2, *np.shape(x))))
        axes = tuple(rng.sample(range(ndim), ndim))
        return viewed("transpose({}, " + str(axes) + ")", a, lambda x: np.transpose(x, axes))

    most = 2 ** 20
