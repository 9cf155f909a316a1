"""What bench/fuzz_speed.py measures: everyday programs over arrays, drawn with a seed. A case is a dictionary that JSON can hold: the text in NumPy's words,
and of each input its dtype, the shape of the array behind it and the view of that (an expression of `x`)."""
import math
import random
import re

IMAGES = {"uint8": 40, "float32": 45, "float16": 15}
TOKENS = {"float32": 60, "float16": 40}
TABLES = {"float32": 35, "float64": 35, "int32": 15, "int64": 15}
SIGNALS = {"float32": 40, "float64": 25, "complex64": 12, "int16": 18, "complex128": 5}
GRIDS = {"float32": 50, "float64": 50}


def drawn(rng, weights):
    return rng.choices(list(weights), list(weights.values()))[0]


def fitting(rng, choices, most):
    return rng.choice([c for c in choices if c <= most] or [choices[0]])


# ---- shapes, of n elements about ----

def images(rng, n):
    channels = fitting(rng, [1, 3, 3, 3, 4, 8, 16, 32, 64, 128, 256, 512], max(n // 16, 1))
    height, width = rng.choice([s for s in [(2160, 3840), (1080, 1920), (720, 1280), (480, 640)] if s[0] * s[1] * channels <= n * 2] or [(1, 1)])
    if height == 1 or rng.random() < 0.7:
        height = width = fitting(rng, [4, 7, 8, 14, 16, 28, 32, 56, 64, 112, 128, 224, 256, 512], max(math.isqrt(n // channels), 4))
    count = max(n // (channels * height * width), 1)
    is_last = rng.random() < 0.5 or channels == 3 and rng.random() < 0.5
    shape = [count, height, width, channels] if is_last else [count, channels, height, width]
    if count == 1:
        return shape[1:], 2 if is_last else 0
    return shape, 3 if is_last else 1


def tokens(rng, n):
    width = fitting(rng, [16, 32, 64, 64, 128, 256, 384, 512, 768, 1024, 2048, 4096, 8192], max(n // 4, 16))
    length = fitting(rng, [4, 16, 49, 64, 128, 197, 256, 512, 1000, 1024, 2048], max(n // width, 4))
    if rng.random() < 0.3 and width <= 256:
        heads = fitting(rng, [2, 4, 8, 12, 16, 32], max(n // (width * length), 2))
        shape = [max(n // (width * length * heads), 1), heads, length, width]
    else:
        shape = [max(n // (width * length), 1), length, width]
    return shape, len(shape) - 1


def tables(rng, n):
    columns = fitting(rng, [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 30, 32, 50, 64, 100, 128, 200, 256, 500, 1000], max(n // 8, 2))
    shape = [max(n // columns, 1), columns]
    return (shape[::-1], 0) if rng.random() < 0.2 else (shape, 1)


def signals(rng, n):
    channels = fitting(rng, [1, 1, 1, 2, 2, 4, 6, 8, 12, 16, 32, 64, 128], max(n // 64, 1))
    if channels == 1:
        return [n], 0
    return ([channels, n // channels], 0) if rng.random() < 0.6 else ([n // channels, channels], 1)


def grids(rng, n):
    ndim = rng.choice([2, 2, 3])
    shape = [max(int(n ** (1 / ndim) * math.exp(rng.uniform(-0.5, 0.5))) + rng.choice([0, 0, 1, 2]), 4) for _ in range(ndim)]
    return shape, rng.randrange(ndim)


DOMAINS = {"images": (images, IMAGES, 30), "tokens": (tokens, TOKENS, 22), "tables": (tables, TABLES, 22), "signals": (signals, SIGNALS, 13),
           "grids": (grids, GRIDS, 13)}


class Drawing:
    """A case while it is made."""

    def __init__(self, rng, least, most, domains=None):
        self.rng = rng
        self.domain = drawn(rng, {d: w for d, (_, _, w) in DOMAINS.items()})
        make, dtypes, _ = DOMAINS[self.domain]
        self.dtype = drawn(rng, dtypes)
        self.most, elements = most, int(2 ** rng.uniform(least, most))
        self.shape, self.channel = make(rng, elements)
        self.inputs = {}

    @property
    def is_float(self):
        return self.dtype.startswith("float")

    @property
    def is_complex(self):
        return self.dtype.startswith("complex")

    @property
    def is_whole(self):
        return "int" in self.dtype

    def add(self, name, shape=None, dtype=None, view=None, layout=True, values="normal"):
        """An input of that shape, its layout drawn unless it is small; its name."""
        shape = list(self.shape if shape is None else shape)
        base, text = (shape, "x") if not layout or math.prod(shape) < 256 else self.laid(shape)
        self.inputs[name] = {"dtype": dtype or self.dtype, "shape": base, "view": view or text, "values": values}
        return name

    def laid(self, shape):
        rng, ndim = self.rng, len(shape)
        way = drawn(rng, {"plain": 66, "fortran": 6, "permuted": 9, "cropped": 8, "stepped": 4, "flipped": 3, "picked": 4})
        axis = rng.randrange(ndim)
        index = lambda text: f"x[{', '.join([':'] * axis + [text])}]"  # noqa: E731
        if way == "fortran" and ndim > 1:
            return shape[::-1], "x.T"
        if way == "permuted" and ndim > 1:
            order = rng.sample(range(ndim), ndim)
            return [shape[order.index(a)] for a in range(ndim)], f"transpose(x, {tuple(order)})"
        if way == "cropped":
            return [n + 2 for n in shape], f"x[{', '.join(['1:-1'] * ndim)}]"
        if way == "stepped":
            return [n * 2 if a == axis else n for a, n in enumerate(shape)], index("::2")
        if way == "flipped":
            return shape, index("::-1")
        if way == "picked":
            return shape + [rng.choice([2, 3, 4])], "x[..., 1]"
        return shape, "x"

    def small(self, name, axis, dtype=None, values="positive"):
        """A weight for each element along an axis."""
        shape = [n if a == axis else 1 for a, n in enumerate(self.shape)][axis:]
        return self.add(name, shape, dtype or (self.dtype if self.is_float else "float32"), layout=False, values=values)

    def axes(self):
        """Those that are reduced: often the last one, or all but what the domain keeps."""
        rng, ndim = self.rng, len(self.shape)
        rest = [a for a in range(ndim) if a != self.channel]
        way = drawn(rng, {"last": 38, "first": 12, "channel": 16, "rest": 16, "any": 10, "all": 8})
        chosen = {"last": [ndim - 1], "first": [0], "channel": [self.channel], "rest": rest or [0], "all": list(range(ndim)),
                  "any": sorted(rng.sample(range(ndim), rng.randint(1, ndim)))}[way]
        long = [a for a in chosen if self.shape[a] > 1]
        return long or [max(range(ndim), key=lambda a: self.shape[a])]


def axis_text(axes):
    return f"axis={axes[0] if len(axes) == 1 else tuple(axes)}"


# ---- maps ----

def arithmetic(d):
    """A random body over one to three arrays of a shape."""
    rng = d.rng
    other = {"uint8": ["uint8", "float32"], "float16": ["float16", "float16", "float32", "bool"], "float32": ["float32"] * 4 + ["bool", "int32", "float16"],
             "float64": ["float64"] * 3 + ["float32", "int32", "bool"], "int32": ["int32", "float32", "bool"], "int64": ["int64", "float64"],
             "int16": ["int16", "int16", "float32"]}.get(d.dtype, [d.dtype])
    names = [d.add("x")] + [d.add(n, dtype=rng.choice(other)) for n in ["y", "z"][:rng.choice([0, 1, 1, 2])]]
    has_float = any("float" in i["dtype"] for i in d.inputs.values())

    def leaf():
        if rng.random() < 0.2:
            return str(rng.choice([2, 3, 7]) if not has_float else rng.choice([2, 0.5, 1.5, 3, 0.1])), False
        name = rng.choice(names)
        return name, d.inputs[name]["dtype"] == "bool"

    def part(depth):
        """A text, and whether it is of bools: NumPy has no differences of these, and its sums are not those of PyTorch's integers."""
        if depth == 0:
            return leaf()
        (a, a_is_bool), (b, b_is_bool) = part(depth - 1), part(rng.randrange(depth))
        if not re.search("[xyz]", a + b):  # two numbers: of 3 - 7 no library makes a uint8
            b, b_is_bool = names[0], d.inputs[names[0]]["dtype"] == "bool"
        is_bool, last_is_bool = a_is_bool and b_is_bool, d.inputs[names[-1]]["dtype"] == "bool"
        plus, minus = ("|", "|") if is_bool else ("+", "-")
        ways = [(f"({a} {plus} {b})", is_bool), (f"({a} * {b})", is_bool), (f"({a} {minus} {b})", is_bool)]
        if d.is_complex:
            return rng.choice(ways)
        ways += [(f"maximum({a}, {names[0]})", False), (f"minimum({names[0]}, {a})", False),
                 (f"where({names[0]} > {b}, {a}, {names[-1]})", a_is_bool and last_is_bool)]
        if d.is_float:
            ways += [(text, False) for text in (f"({a} / (abs({names[0]}) + 1))", f"sqrt(abs({names[0]} * {a}))", f"abs({names[0]} - {b})")]
        return rng.choice(ways)
    text, _ = part(rng.choice([1, 1, 2, 2, 3]))
    for name in names:
        if name not in text:
            text = f"{text} + {name}"
    return text


def affine(d):
    x, axis = d.add("x"), d.rng.choice([d.channel, d.channel, len(d.shape) - 1, 0])
    if d.is_complex:
        return f"{x} * {d.small('w', axis)}"
    d.small("w", axis)
    return d.rng.choice([f"{x} * w + {d.small('b', axis)}", f"{x} * w", f"({x} - {d.small('b', axis)}) / w", f"{x} + w"])


def normalise(d):
    d.dtype = "uint8"
    x = d.add("x", values="whole")
    return d.rng.choice([f"({x}.astype(float32) / 255 - {d.small('m', d.channel, 'float32')}) / {d.small('s', d.channel, 'float32')}",
                         f"{x}.astype(float32) * 0.0078125 - 1", f"{x} * {d.small('s', d.channel, 'float32')}"])


ACTIVATIONS = ["0.5 * x * (1 + tanh(0.7978845608 * (x + 0.044715 * x * x * x)))", "x / (1 + exp(-x))", "maximum(x, 0) + log1p(exp(-abs(x)))",
               "maximum(x, 0)", "1 / (1 + exp(-x))", "exp(-0.5 * x * x)", "tanh(x)", "where(x > 0, x, 0.1 * x)", "sin(x) * x", "log(abs(x) + 1)", "sqrt(x * x + 1)"]


def activation(d):
    if not d.is_float:
        d.dtype = "float32"
    d.add("x")
    return d.rng.choice(ACTIVATIONS)


def quantise(d):
    d.dtype = d.rng.choice(["float32", "float32", "float64", "float16"])
    d.add("x")
    return d.rng.choice(["clip(x * 32 + 128, 0, 255).astype(uint8)", "clip(x * 100, -127, 127).astype(int8)", "(abs(x) * 50).astype(int32)",
                         "x.astype(float16)", "x.astype(float32)", "(x * 1000).astype(int16)"])


def masked(d):
    d.add("x")
    d.add("m", dtype="bool")
    return d.rng.choice(["where(m, x, 0)", "x * m", "where(m, x, -x)" if d.dtype != "uint8" else "where(m, x, 255 - x)", f"where(m, x, {d.add('y')})"])


def compared(d):
    if d.is_complex:
        d.dtype = "float32"
    d.add("x")
    return d.rng.choice([f"x < {d.add('y')}", "x > 1", f"(x > 0) & ({d.add('y')} < 1)", "(x > 1) | (x < 0)"])


def transposed(d):
    ndim = len(d.shape)
    if ndim == 1:
        return f"{d.add('x')}[::-1] + 0"
    order = d.rng.sample(range(ndim), ndim)
    x = d.add("x", layout=False)
    return d.rng.choice([f"transpose({x}, {tuple(order)}) + 0", f"transpose({x}, {tuple(order)}) * 2", f"{x}.T + 0"])


def stencil(d):
    rng = d.rng
    if d.dtype == "uint8":
        d.dtype = "float32"
    x, ndim = d.add("x", layout=False), len(d.shape)
    wide = [a for a in range(ndim) if d.shape[a] >= 5]
    if not wide:
        return f"{x} * 2"
    if len(wide) == 1 or rng.random() < 0.4:
        axis = rng.choice(wide)
        index = lambda text: f"x[{', '.join([':'] * axis + [text])}]"  # noqa: E731
        return rng.choice([f"{index('1:')} - {index(':-1')}", f"({index('2:')} - {index(':-2')}) * 0.5" if not d.is_whole else f"{index('2:')} - {index(':-2')}",
                           f"{index('2:')} + {index(':-2')} - 2 * {index('1:-1')}"])
    chosen = wide[-2:] if len(wide) == 2 or rng.random() < 0.5 else wide[-3:]
    at = lambda moved: f"x[{', '.join(moved.get(a, '1:-1') if a in chosen else ':' for a in range(ndim))}]"  # noqa: E731
    return " + ".join(at({a: s}) for a in chosen for s in (":-2", "2:")) + f" - {2 * len(chosen)} * {at({})}"


def channels(d):
    d.domain, d.dtype = "images", d.rng.choice(["uint8", "uint8", "float32"])
    n = math.prod(d.shape) // 3 or 1
    width = max(math.isqrt(n), 1)
    d.shape, d.channel = [max(n // width, 1), width, 3], 2
    d.add("x", layout=False, values="whole")
    return d.rng.choice(["x[..., 0] * 0.299 + x[..., 1] * 0.587 + x[..., 2] * 0.114".replace("x[", "x.astype(float32)[" if d.dtype == "uint8" else "x["),
                         "maximum(maximum(x[..., 0], x[..., 1]), x[..., 2])", "x[..., ::-1] + 0", f"x[..., 1] * {d.add('y', d.shape[:2], 'float32')}"])


def complex_map(d):
    d.dtype = d.rng.choice(["complex64", "complex64", "complex128"])
    d.add("z")
    return d.rng.choice(["abs(z)", f"z * conj({d.add('w')})", "abs(z) * 2", "abs(z * conj(z))", "z * 2 + 1", "exp(z)"])


def outer(d):
    n = math.prod(d.shape)
    rows = max(int(math.sqrt(n) * math.exp(d.rng.uniform(-2, 2))), 2)
    d.shape = [rows, max(n // rows, 2)]
    if d.is_whole or d.is_complex:
        d.dtype = "float32"
    d.add("a", [d.shape[0]], layout=False)
    d.add("b", [d.shape[1]], layout=False)
    return d.rng.choice(["a[:, None] * b", "a[:, None] + b[None, :]", "exp(-abs(a[:, None] - b))", "a[:, None] < b"])


def whole_map(d):
    d.dtype = d.rng.choice(["int32", "int64", "uint8", "int16"])
    d.add("x")
    return d.rng.choice([f"(x * 3 + {d.add('y')}) & 127", "x >> 2", f"minimum(x, {d.add('y')}) + 1", f"x ^ {d.add('y')}", "where(x > 50, x - 50, x)", "x * x + 7"])


# ---- reductions ----

def reduction(d):
    rng = d.rng
    k = axis_text(d.axes())
    if d.is_complex:
        d.add("x")
        return rng.choice([f"sum(x, {k})", f"mean(x, {k})"])
    d.add("x")
    ways = {f"sum(x, {k})": 16, f"mean(x, {k})": 14, f"max(x, {k})": 12, f"min(x, {k})": 8, f"argmax(x, axis={d.axes()[0]})": 8, f"sum(x > 1, {k})": 5}
    if d.is_float:
        ways |= {f"sum(x * x, {k})": 8, f"sqrt(sum(x * x, {k}))": 8, f"std(x, {k})": 6, f"var(x, {k})": 6, f"sum(abs(x), {k})": 5, f"max(abs(x), {k})": 5,
                 f"all(x > -3, {k})": 3, f"any(x > 3, {k})": 3, f"log(sum(exp(x), {k}))": 6, f"m = max(x, {k}, keepdims=True); log(sum(exp(x - m), {k}, keepdims=True)) + m": 5}
    return drawn(rng, ways)


def paired(d):
    if d.is_complex or d.is_whole:
        d.dtype = "float32"
    k = axis_text(d.axes())
    d.add("x")
    return d.rng.choice([f"sum(x * {d.add('y')}, {k})", f"mean((x - {d.add('y')}) ** 2, {k})", f"sum(abs(x - {d.add('y')}), {k})",
                         f"max(abs(x - {d.add('y')}), {k})", f"sum(where({d.add('m', dtype='bool')}, x, 0), {k})", f"sum(x * {d.add('m', dtype='bool')}, {k})"])


def weighted(d):
    if d.is_complex or d.dtype in ("int32", "int64", "int16"):
        d.dtype = "float32"
    axis = d.channel
    d.add("x")
    d.small("w", axis)
    other = [a for a in range(len(d.shape)) if a != axis]
    k = axis_text([axis] if d.rng.random() < 0.7 or not other else [d.rng.choice(other)])
    return d.rng.choice([f"sum(x * w, {k})", f"sum(x * w, {k}) / sum(w)", f"sum((x - w) ** 2, {k})", f"max(x * w, {k})"])


def products(d):
    d.dtype = "float32"
    n = min(math.prod(d.shape), 1 << max(22, int(d.most) - 2))
    if d.rng.random() < 0.5:
        side = max(int(round(n ** (1 / 3))), 4)
        d.add("a", [side, side], layout=False)
        d.add("b", [side, side], layout=False)
        return "sum(a[:, :, None] * b[None], axis=1)"
    features, centres = d.rng.choice([2, 3, 4, 8, 16, 32]), d.rng.choice([3, 4, 8, 10, 16])
    d.add("x", [max(n // (features * centres), 1), 1, features], layout=False)
    d.add("c", [1, centres, features], layout=False)
    return d.rng.choice(["argmin(sum((x - c) ** 2, axis=-1), axis=-1)", "sum((x - c) ** 2, axis=-1)", "min(sum(abs(x - c), axis=-1), axis=-1)"])


# ---- programs ----

PROGRAMS = {
    "x - mean(x, {k})": 14, "x - max(x, {k})": 6, "(x - mean(x, {k})) / (std(x, {k}) + 0.001)": 12, "x / sum(x * x, {k})": 5, "x - sum(x, {k})": 5,
    "e = exp(x - max(x, {k})); e / sum(e, {k})": 14, "x / sqrt(sum(x * x, {k}) + 0.001)": 10, "(x - min(x, {k})) / (max(x, {k}) - min(x, {k}) + 0.001)": 8,
    "d = x - mean(x, {k}); d / sqrt(mean(d * d, {k}) + 0.001)": 8, "(x - mean(x, {k})) / sqrt(var(x, {k}) + 0.001)": 6, "x > mean(x, {k})": 5,
    "x - std(x, {k})": 4, "m = max(x, {k}); x - m - log(sum(exp(x - m), {k}))": 5, "x / (max(abs(x), {k}) + 0.001)": 5}


def program(d):
    if d.is_complex or d.is_whole and d.dtype != "uint8":
        d.dtype = "float32"
    x = d.add("x", values="whole" if d.dtype == "uint8" else "normal")
    k = axis_text(d.axes()) + ", keepdims=True"
    if d.dtype == "uint8":
        return d.rng.choice(["f = x.astype(float32); (f - min(f, {k})) / (max(f, {k}) - min(f, {k}) + 1)", "f = x.astype(float32); f - mean(f, {k})",
                             "f = x.astype(float32); (f - mean(f, {k})) / (std(f, {k}) + 1)"]).format(k=k)
    if d.rng.random() < 0.1:
        d.add("m", dtype="bool")
        return f"where(m, {x}, mean({x}, {k}))"
    text = drawn(d.rng, PROGRAMS).format(k=k)
    if d.rng.random() < 0.2 and "; d /" in text:
        text += f" * {d.small('g', d.channel)} + {d.small('b', d.channel)}"
    return text


# ---- kernels of one's own ----

MAP_BODIES = [("z = x * y + x", "x * y + x"), ("z = x > y ? x : y", "where(x > y, x, y)"), ("z = (x - y) * (x - y)", "(x - y) * (x - y)"),
              ("T d = x - y; z = d < 0 ? T(-d) : d", "abs(x - y)")]
FOLD_BODIES = [("x * x", "a + b", "z = sqrt(a)", "0", "sqrt(sum(x * x, {k}))"), ("x", "a + b", "z = a", "0", "sum(x, {k})"),
               ("x", "a > b ? a : b", "z = a", "-INFINITY", "max(x, {k})"), ("abs(x)", "a + b", "z = a", "0", "sum(abs(x), {k})")]


def own_map(d):
    if not d.is_float:
        d.dtype = "float32"
    d.add("x")
    d.add("y")
    body, text = d.rng.choice(MAP_BODIES)
    d.own = {"out": "T z", "body": body}
    return text


def own_fold(d):
    d.dtype = "float64" if d.dtype == "float64" else "float32"
    axes = d.axes()
    d.add("x")
    first, both, post, identity, text = d.rng.choice(FOLD_BODIES)
    d.own = {"out": "T z", "map": first, "reduce": both, "post": post, "identity": identity, "axes": axes}
    return text.format(k=axis_text(axes))


FAMILIES = {arithmetic: 15, affine: 7, normalise: 4, activation: 6, quantise: 3, masked: 4, compared: 2, transposed: 4, stencil: 5, channels: 4, complex_map: 3,
            outer: 2, whole_map: 3, reduction: 19, paired: 6, weighted: 5, products: 2, program: 27, own_map: 2, own_fold: 2}


TOLERANCE = {"float16": 2e-2, "float32": 1e-4, "float64": 1e-9, "complex64": 1e-4, "complex128": 1e-9}


def tolerance(case, dtype):
    """Of results of that dtype: as of the least precise numbers that they are made of."""
    names = [dtype] + [i["dtype"] for i in case["inputs"].values()] + [name for name in TOLERANCE if f"({name})" in case["text"]]
    return max(TOLERANCE.get(name, 0) for name in names)


def draw(seed, index, least=10, most=23.5):
    """Case `index` of a seed; the same on every machine."""
    rng = random.Random(seed * 1000003 + index)
    d = Drawing(rng, least, most)
    d.own = None
    family = drawn(rng, FAMILIES)
    text = family(d)
    used = {n: i for n, i in d.inputs.items() if re.search(rf"\b{n}\b", text)}
    case = {"number": index, "seed": seed, "family": family.__name__, "domain": d.domain, "text": text, "inputs": used}
    if d.own:
        case["own"] = d.own
    return case


def words(case):
    """A case in one line."""
    parts = []
    for name, i in case["inputs"].items():
        view = i["view"].replace("x", name, 1) if not i["view"].startswith("transpose") else i["view"].replace("(x", f"({name}")
        parts.append(f"{view}: {i['dtype']}{i['shape']}")
    return f"{case['text']}   [{'; '.join(parts)}]"
