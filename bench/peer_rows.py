"""The rows of `kiln bench` as other libraries write them.

Row.arrays: dtype and shape of each input (N, H, R, and "64*" for an extent that the scale multiplies, as in tools/cli/bench_rows.c).
Row.compute(m, *arrays): the expression, over a namespace m (peers.py) that papers over how NumPy, CuPy, JAX and PyTorch differ.
Row.numexpr, Row.cuda, Row.numba: the expression as text for the peers that want text; None: that peer has no way to say it.
"""
import dataclasses
import math

N, H, Q = ("f4", "N"), ("f8", "H"), ("c8", "H")
SQRT_2_PI = 2.5066282746310002
GELU = 0.7978845608028654


@dataclasses.dataclass(frozen=True)
class Row:
    arrays: tuple
    compute: object
    out: tuple  # dtype and shape
    numexpr: str | None = None
    cuda: tuple | None = None  # in, out, body of a CuPy ElementwiseKernel, where one kernel beats its ufuncs
    numba: str | None = None  # expression of one element; `i` is the element, or i and j the row and the column
    scalars: tuple = ()
    reduce: str | None = None  # of FOLDS
    axis: int | tuple | None = None  # None: all
    program: str | None = None  # of PROGRAMS
    any_axis: bool = False  # computed by plain array operations, NumPy's too


def extents(text, scale):
    """"64*,256" -> (64 * scale, 256), as the command counts."""
    def at_least_one(value):
        return max(1, math.floor(value + 0.5))

    r = 16 * at_least_one(1024 * math.sqrt(scale))
    stencil, cube = 16 * at_least_one(1000 * math.sqrt(scale)), 16 * at_least_one(40 * scale ** (1 / 3))
    letters = {"R": r, "Q": r // 2, "M": r - 1, "T": 16 * at_least_one(750 * math.sqrt(scale)),
               "V": stencil, "W": stencil + 2, "X": cube, "Y": cube + 2,
               "N": 256 * at_least_one((1 << 20) * scale), "H": 256 * at_least_one((1 << 19) * scale)}
    return tuple(letters[w] if w in letters else at_least_one(int(w[:-1]) * scale) if w[-1] == "*" else int(w)
                 for w in text.split(",") if w)


def distance(m, r1, t1, r2, t2):
    a = r1 * m.cos(t1) - r2 * m.cos(t2)
    b = r1 * m.sin(t1) - r2 * m.sin(t2)
    return m.sqrt(a * a + b * b)


def chain(m, x):
    for _ in range(5):
        x = m.sin(x) * 0.5 + x
        x = m.exp(-m.abs(x))
    return x


def gelu(m, x):
    return 0.5 * x * (1 + m.tanh(GELU * (x + 0.044715 * x * x * x)))


FOLDS = {
    "sum": lambda m, x, axis: m.sum(x, axis),
    "argmax": lambda m, x, axis: m.argmax(x, axis),
    "var": lambda m, x, axis: m.var(x, axis),
    "norm": lambda m, x, axis: m.sqrt(m.sum(x * x, axis)),
    "chain": lambda m, x, axis: m.sqrt(m.sum(x ** 2, axis)),  # a norm as those write it who have no kernel of their own
}
# The same as texts of a CuPy ReductionKernel: map, reduce, post, identity; the map of x, which may be a product.
BEST = """struct best { float value; long long at; };
__device__ best better(best a, best b) { return a.value > b.value || (a.value == b.value && a.at < b.at) ? a : b; }"""
MOMENTS = """struct moments { float n, mean, squares; };
__device__ moments merged(moments a, moments b) {
    float n = a.n + b.n, part = n > 0 ? b.n / n : 0, step = b.mean - a.mean;
    return moments{n, a.mean + step * part, a.squares + b.squares + step * step * a.n * part};
}"""
STRUCTS = {"argmax": {"reduce_type": "best", "preamble": BEST}, "var": {"reduce_type": "moments", "preamble": MOMENTS}}
FOLD_TEXTS = {
    "sum": ("T y", "{x}", "a + b", "y = a", "0"),
    "norm": ("T y", "x * {x}", "a + b", "y = sqrt(a)", "0"),
    "var": ("T y", "moments{{1, {x}, 0}}", "merged(a, b)", "y = a.squares / a.n", "moments{0, 0, 0}"),
    "argmax": ("int64 y", "best{{{x}, (long long)_J}}", "better(a, b)", "y = a.at", "best{-3.402823466e+38f, 0}"),
}


def fold(what, shape, out, axis=None, dtype="f4"):
    function = FOLDS[what]
    return Row(((dtype, shape),), lambda m, x: function(m, x, axis), ("i8" if what == "argmax" else dtype, out), reduce=what, axis=axis)


def ordered(shape, dtype="f4"):
    return Row(((dtype, shape),), lambda m, x: m.sort(x), (dtype, shape))


def scan(shape, axis):
    return Row((("f4", shape),), lambda m, x: m.cumsum(x, axis), ("f4", shape))


def counted(m, x):
    """256 bins from -2 to 2, by what the library has for that."""
    return m.histc(x, 256, -2, 2) if hasattr(m, "histc") else m.histogram(x, 256, (-2, 2))[0]


# Results that need whole rows. What each reads besides its rows: vectors as long as a row (g, b), a label a row (t).
EPSILON = 1e-5
LABELS = 50256  # labels are below
PROGRAMS = {"softmax": "", "rmsnorm": "g", "layernorm_scaled": "g", "layernorm": "gb", "cross_entropy": "t"}


def program(what, shape, dtype="f4"):
    rows, length = shape.split(",")
    others = {"g": (dtype, length), "b": (dtype, length), "t": ("i8", rows)}
    return Row(((dtype, shape), *(others[k] for k in PROGRAMS[what])), lambda m, *arrays: getattr(m, what)(*arrays),
               (dtype, rows if what == "cross_entropy" else shape), program=what)


# Programs over any axis: plain array operations, whose reductions (m.along) keep the axes with extent 1.

def softmax_over(axis):
    return lambda m, x: m.softmax(x, axis)


def normed_over(m, axes, x):
    d = x - m.along("mean", x, axes)
    return d / m.sqrt(m.along("mean", d * d, axes) + EPSILON)


def standardised(m, x):
    d = x - m.along("mean", x, 0)
    return d / m.sqrt(m.along("mean", d * d, 0))


def rescaled(m, x):
    f = m.float32(x)
    low = m.along("min", f, 0)
    return (f - low) / (m.along("max", f, 0) - low)


def batch_norm(axes):
    def run(m, x, g, b, mean, variance):
        c = m.along("mean", x, axes)
        d = x - c
        q = m.along("mean", d * d, axes)
        n = math.prod([x.shape[axis] for axis in axes])
        return 0.9 * mean + 0.1 * c, 0.9 * variance + 0.1 * q * (n / (n - 1)), d / m.sqrt(q + EPSILON) * g + b
    return run


def batch_gradient(axes):
    def run(m, x, y, g, mean, s):
        h, n = (x - mean) * s, math.prod([x.shape[axis] for axis in axes])
        p, q = m.along("sum", y * h, axes), m.along("sum", y, axes)
        return p, q, (g * s) * (y - q / n - h * (p / n))
    return run


def softmax_gradient(m, y, d):
    return y * (d - m.along("sum", d * y, -1))


def rmsnorm_gradient(m, x, d, g, r):
    h, w = x * r, d * g
    return m.like((w - h * m.along("mean", h * w, -1)) * r, x)


def rmsnorm_gradients(m, x, d, g, r):
    return m.sum(d * x * r, 0), rmsnorm_gradient(m, x, d, g, r)


def affine_norm(axes):
    return lambda m, x, g, b: normed_over(m, axes, x) * g + b


def over(compute, out, *arrays):
    """A row of such a program."""
    return Row(arrays, compute, out, any_axis=True)


IMAGE, CHANNELS = ("f4", "64*,256,56,56"), ("f4", "256,1,1")
NHWC, LAST = ("f4", "64*,56,56,256"), ("f4", "256")
ROOTED = ("bf2", "32768*,4096")
GROUPED, IN_GROUPS = ("f4", "64*,32,8,56,56"), ("f4", "32,8,1,1")
ANY_AXIS = {
    "N1": over(standardised, ("f4", "65536*,1024"), ("f4", "65536*,1024")),
    "N1b": over(standardised, ("f4", "4096*,65536"), ("f4", "4096*,65536")),
    "N2": over(softmax_over(0), ("f4", "4096*,16384"), ("f4", "4096*,16384")),
    "N3": over(softmax_over(1), ("f4", "64*,1000,28,28"), ("f4", "64*,1000,28,28")),
    "N3b": over(softmax_over(1), ("bf2", "8,21,512*,512"), ("bf2", "8,21,512*,512")),
    "N4": over(lambda m, x: x / m.sqrt(m.along("sum", x * x, 1) + 1e-12), IMAGE, IMAGE),
    "N5": over(batch_norm((0, 2, 3)), IMAGE, IMAGE, *[CHANNELS] * 4), "N5n": over(batch_norm((0, 1, 2)), NHWC, NHWC, *[LAST] * 4),
    "N5b": over(batch_gradient((0, 2, 3)), IMAGE, IMAGE, IMAGE, *[CHANNELS] * 3),
    "N5bn": over(batch_gradient((0, 1, 2)), NHWC, NHWC, NHWC, *[LAST] * 3),
    "N6": over(affine_norm((2, 3, 4)), GROUPED, GROUPED, *[IN_GROUPS] * 2), "N6b": over(affine_norm((2, 3)), IMAGE, IMAGE, *[CHANNELS] * 2),
    "N7": over(affine_norm(1), IMAGE, IMAGE, *[CHANNELS] * 2),
    "N8": over(lambda m, x, w: m.sum(x * w, -1), ("f4", "64,1080*,1920"), ("u1", "64,1080*,1920,3"), ("f4", "3")),
    "N8b": over(lambda m, x, w: m.sum(x * w, -1), ("f4", "16777216*"), ("f4", "16777216*,3"), ("f4", "3")),
    "N9": over(lambda m, x, c: m.argmin(m.sum((x - c) ** 2, -1), -1), ("i8", "10000000*"), ("f4", "10000000*,1,8"), ("f4", "16,8")),
    "N10": over(lambda m, c, x: m.where(c, x, m.along("mean", x, 0)), ("f4", "R,R"), ("b1", "R,R"), ("f4", "R,R")),
    "N11": over(lambda m, x: (m.along("max", x, 1), m.argmax(x, 1)), ("i8", "16,512*,512"), ("bf2", "16,150,512*,512")),
    "N12": over(rescaled, ("f4", "1048576*,256"), ("u1", "1048576*,256")),
}


def paper(m, n):
    return m.arange(n).reshape(1000, -1).T * 2


# ---- everyday layouts: channels, pairs, windows, stencils, mixed widths

IMAGES, PIXELS = "128*,3,720,1280", "128*,720,1280,3"


def turned_pairs(m, x, c, s):
    a, b = x[..., ::2], x[..., 1::2]
    return m.stacked(a * c - b * s, a * s + b * c).reshape(x.shape)


def five_points(m, x):
    return (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]) * 0.2


def nine_points(m, x):
    return (x[1:-1, 1:-1] + x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:] + x[:-2, :-2] + x[:-2, 2:] + x[2:, :-2] + x[2:, 2:]) * 0.125


def seven_points(m, x):
    c = slice(1, -1)
    return (x[c, c, c] + x[:-2, c, c] + x[2:, c, c] + x[c, :-2, c] + x[c, 2:, c] + x[c, c, :-2] + x[c, c, 2:]) * 0.125


def reordered(dtype, shape, axes, out, numba=None):
    return Row(((dtype, shape),), lambda m, x: m.copy(m.permute(x, axes)), (dtype, out), numba=numba)


# Copies in another order of axes, which libraries of permutations know too: dtype, shape in memory, axes.
REORDERED = {
    "L3": ("f4", "33554432*,3", (1, 0), "3,33554432*", "x[j,i]"), "L3b": ("f4", "3,33554432*", (1, 0), "33554432*,3", "x[j,i]"),
    "L3c": ("f4", "16777216*,4", (1, 0), "4,16777216*", "x[j,i]"), "L3d": ("f4", "4,16777216*", (1, 0), "16777216*,4", "x[j,i]"),
    "L3e": ("f8", "8388608*,7", (1, 0), "7,8388608*", "x[j,i]"), "L3eb": ("f8", "7,8388608*", (1, 0), "8388608*,7", "x[j,i]"),
    "L3f": ("u1", "134217728*,3", (1, 0), "3,134217728*", "x[j,i]"), "L3fb": ("u1", "3,134217728*", (1, 0), "134217728*,3", "x[j,i]"),
    "L9": ("bf2", "4096*,64,512", (0, 2, 1), "4096*,512,64", None), "L9b": ("bf2", "32*,2048,16,64", (0, 2, 1, 3), "32*,16,2048,64", None),
}

CUDA_CHAIN = "T v = x; " + "v = sin(v) * (T)0.5 + v; v = exp(-abs(v)); " * 5 + "y = v"

ROWS = {
    "E1": Row((N,), lambda m, x: m.copy(x), N, "x", numba="x[i]"),
    "E2": Row((N, N), lambda m, x, y: x + y, N, "x+y", numba="x[i]+y[i]"),
    "E3": Row((N, N, N), lambda m, x, y, z: x * y + z, N, "x*y+z", ("T x, T y, T z", "T w", "w = x * y + z"),
              "x[i]*y[i]+z[i]"),
    "E4": Row((N,), lambda m, x, a, s: m.exp(-0.5 * ((x - a) / s) ** 2) / (s * SQRT_2_PI), N,
              "exp(-h*((x-a)/s)**2)/(s*r)",
              ("T x, T m, T s", "T y", "T q = (x - m) / s; y = exp((T)-0.5 * q * q) / (s * (T)2.5066282746310002)"),
              "np.exp(-h*((x[i]-a)/s)**2)/(s*r)", scalars=(0.0, 1.0)),
    "E5": Row((N, N, N, N), distance, N, "sqrt((x*cos(y)-z*cos(w))**2+(x*sin(y)-z*sin(w))**2)",
              ("T p, T t, T q, T u", "T d", "T a = p * cos(t) - q * cos(u), b = p * sin(t) - q * sin(u); d = sqrt(a * a + b * b)"),
              "np.sqrt((x[i]*np.cos(y[i])-z[i]*np.cos(w[i]))**2+(x[i]*np.sin(y[i])-z[i]*np.sin(w[i]))**2)"),
    "E6": Row((N,), lambda m, x: m.maximum(x, 0) + m.log1p(m.exp(-m.abs(x))), N,
              "where(x>o,x,o)+log1p(exp(-abs(x)))", ("T x", "T y", "y = max(x, (T)0) + log1p(exp(-abs(x)))"),
              "max(x[i],o)+np.log1p(np.exp(-abs(x[i])))"),
    "E7": Row((("f2", "N"),) * 2, lambda m, x, y: x + y, ("f2", "N")),
    "E7b": Row((("bf2", "N"),) * 2, lambda m, x, y: x + y, ("bf2", "N")),
    "E8": Row((("u1", "N"),), lambda m, x: m.float32(x) * (1 / 255), N, "x*k", ("uint8 x", "float32 y", "y = x * (1.0f / 255)"),
              "np.float32(x[i])*k"),
    "E9": Row((H, H, H), lambda m, x, y, z: x * y + z, H, "x*y+z", ("T x, T y, T z", "T w", "w = x * y + z"),
              "x[i]*y[i]+z[i]"),
    "E10": Row((Q, Q), lambda m, x, y: x * y, Q, numba="x[i]*y[i]"),
    "E11": Row((N, N), lambda m, x, y: x < y, ("b1", "N"), "x<y", numba="x[i]<y[i]"),
    "E12": Row((N, N, N), lambda m, c, x, y: m.where(c > 0.5, x, y), N, "where(x>h,y,z)", numba="y[i] if x[i]>h else z[i]"),
    "B1": Row((("f4", "R,R"), ("f4", "R")), lambda m, x, y: x + y, ("f4", "R,R"), "x+y", numba="x[i,j]+y[j]"),
    "B2": Row((("f4", "R,R"), ("f4", "R,1")), lambda m, x, y: x + y, ("f4", "R,R"), "x+y", numba="x[i,j]+y[i,0]"),
    "B3": Row((("f4", "1024*,1,512"), ("f4", "1,512,512")), lambda m, x, y: x * y, ("f4", "1024*,512,512"), "x*y",
              numba="x[i,0,k]*y[0,j,k]"),
    "B4": Row((("f4", "R,1"), ("f4", "1,R")), lambda m, x, y: x * y, ("f4", "R,R"), "x*y", numba="x[i,0]*y[0,j]"),
    "S1": Row((("f4", "R,R"),), lambda m, x: m.copy(x.T), ("f4", "R,R"), numba="x[j,i]"),
    "S2": Row((("f4", "R,R"), ("f4", "R,R")), lambda m, x, y: m.copy(x.T + y), ("f4", "R,R"), numba="x[j,i]+y[i,j]"),
    "S3": Row((("f4", "R,R"),), lambda m, x: x[:, ::2] * 2, ("f4", "R,Q"), numba="x[i,2*j]*two"),
    "S4": Row((), paper, ("i8", "100000*,1000"),
              numba="(j*out.shape[0]+i)*2"),
    "S5": Row((("f4", "64*,256,56,56"),), lambda m, x: m.copy(m.permute(x, (0, 2, 3, 1))), ("f4", "64*,56,56,256")),
    "S6": Row((("f4", "512*,1024,512"),), lambda m, x: m.copy(m.permute(x, (2, 0, 1))), ("f4", "512,512*,1024"),
              numba="x[j,k,i]"),
    "S7": Row((("f4", "R,R"),), lambda m, x: x[1:, 1:] - x[:-1, :-1], ("f4", "M,M"), numba="x[i+1,j+1]-x[i,j]"),
    **{name: reordered(*row) for name, row in REORDERED.items()},
    "L1": Row((("u1", IMAGES), ("f4", "3"), ("f4", "3")), lambda m, x, a, s: m.copy((m.float32(m.permute(x, (0, 2, 3, 1))) / 255 - a) / s), ("f4", PIXELS)),
    "L2": Row((("u1", PIXELS),), lambda m, x: m.copy(m.float16(m.float32(m.permute(x, (0, 3, 1, 2))) * (1 / 255))), ("f2", IMAGES)),
    "L4b": Row((("f4", "67108864*"), ("f4", "67108864*")), lambda m, x, y: m.complex(x, y), ("c8", "67108864*")),
    "L5": Row((("bf2", "8*,8192,16,128"), ("bf2", "8192,1,64"), ("bf2", "8192,1,64")), turned_pairs, ("bf2", "8*,8192,16,128")),
    "L6": Row((("f4", "2097279"), ("f4", "128")), lambda m, x, w: m.windows(x, 128, 1) * w, ("f4", "2097152,128")),
    "L6b": Row((("f4", "8388732"), ("f4", "128")), lambda m, x, w: m.windows(x, 128, 4) * w, ("f4", "2097152,128")),
    "L7": Row((("f4", "W,W"),), five_points, ("f4", "V,V"), numba="(x[i+1,j+1]+x[i,j+1]+x[i+2,j+1]+x[i+1,j]+x[i+1,j+2])*np.float32(0.2)"),
    "L7b": Row((("f4", "W,W"),), nine_points, ("f4", "V,V"),
               numba="(x[i+1,j+1]+x[i,j+1]+x[i+2,j+1]+x[i+1,j]+x[i+1,j+2]+x[i,j]+x[i,j+2]+x[i+2,j]+x[i+2,j+2])*np.float32(0.125)"),
    "L7c": Row((("f4", "Y,Y,Y"),), seven_points, ("f4", "X,X,X"),
               numba="(x[i+1,j+1,k+1]+x[i,j+1,k+1]+x[i+2,j+1,k+1]+x[i+1,j,k+1]+x[i+1,j+2,k+1]+x[i+1,j+1,k]+x[i+1,j+1,k+2])*np.float32(0.125)"),
    "L8": Row((("i1", "8192*,256,64"), ("f2", "8192*,256,1")), lambda m, x, s: m.float16(m.float32(x) * m.float32(s)), ("f2", "8192*,256,64")),
    "L8b": Row((("u1", IMAGES), ("f4", "3,1,1"), ("f4", "3,1,1")), lambda m, x, a, s: (m.float32(x) - a) / s, ("f4", IMAGES)),
    "L10": Row((("f4", "T,T"),), lambda m, x: (x + m.permute(x, (1, 0))) * 0.5, ("f4", "T,T"), numba="(x[i,j]+x[j,i])*np.float32(0.5)"),
    "R1": fold("sum", "N", ""), "R2": fold("sum", "R,R", "R", 1), "R3": fold("sum", "R,R", "R", 0),
    "R4": fold("sum", "4194304*,64", "4194304*", 1), "R5": fold("sum", "64,4194304*", "4194304*", 0),
    "R6": fold("sum", "512*,512,1024", "512", (0, 2)), "R7": fold("argmax", "N", ""), "R8": fold("argmax", "R,R", "R", 1),
    "R8b": fold("argmax", "R,R", "R", 0),
    "R9": fold("norm", "N", ""), "R9b": fold("norm", "R,R", "R", 1), "R9c": fold("norm", "R,R", "R", 0),
    "R10": fold("sum", "N", "", dtype="f2"), "R11": fold("sum", "4194304*,16", "16", 0), "R12": fold("sum", "16,16777216*", "16", 1),
    "R13": fold("sum", "1048576", ""), "R13b": fold("sum", "1048576", ""),
    "X1": scan("N", 0), "X1a": scan("1048576", 0), "X1b": scan("65536*,4096", 1), "X1d": scan("65536*,4096", 0),
    "X2": ordered("134217728*"), "X2c": ordered("67108864*", "i8"), "X2e": ordered("1048576*"), "X3": Row((("f4", "67108864*"),), lambda m, x: m.argsort(x), ("i8", "67108864*")),
    "X7": Row((N,), counted, ("i8", "256")), "X7b": Row((("u1", "N"),), lambda m, x: m.bincount(x, minlength=256), ("i8", "256")),
    "X8": Row((("i8", "67108864*"),), lambda m, x: m.bincount(x, minlength=LABELS), ("i8", "50256")),
    "F1": fold("chain", "256,1024", "256", 1), "F1b": fold("chain", "65536*,4096", "65536*", 1), "F7": fold("var", "R,R", "R", 1),
    "F4": Row((N,), chain, N, None, ("T x", "T y", CUDA_CHAIN), "chain(x[i])"),
    "F5": Row((N,), gelu, N, "h*x*(1+tanh(g*(x+c*x*x*x)))",
              ("T x", "T y", "y = (T)0.5 * x * (1 + tanh((T)0.7978845608028654 * (x + (T)0.044715 * x * x * x)))"),
              "h*x[i]*(one+np.tanh(g*(x[i]+c*x[i]*x[i]*x[i])))"),
    "F5b": Row((("bf2", "N"),), gelu, ("bf2", "N")),
    "F2": program("softmax", "65536*,1024"), "F2b": program("softmax", "4096*,32768"),
    "F3": program("layernorm", "65536*,1024"), "F3b": program("layernorm", "8192*,8192"),
    "F6": program("rmsnorm", "65536*,4096", "bf2"), "F8": program("cross_entropy", "16384*,50256"),
    "F8b": program("cross_entropy", "16384*,50256"),
    "F9": over(softmax_gradient, ("f4", "32768*,4096"), *[("f4", "32768*,4096")] * 2),
    "F9b": over(softmax_gradient, ("f4", "4096*,32768"), *[("f4", "4096*,32768")] * 2),
    "F10": over(rmsnorm_gradient, ROOTED, ROOTED, ROOTED, ("bf2", "4096"), ("f4", "32768*,1")),
    "F10c": over(rmsnorm_gradients, ROOTED, ROOTED, ROOTED, ("bf2", "4096"), ("f4", "32768*,1")),
    "F10b": over(lambda m, x, d, r: m.sum(d * x * r, 0), ("f4", "4096"), ROOTED, ROOTED, ("f4", "32768*,1")), **ANY_AXIS,
}

# Rows of kiln that an expression computes; to the peers they are the rows without the f.
FUSED = {name + "f": name for name in ("E3", "E4", "E5", "E6", "E12", "S4", "F1", "F1b", "F4", "F5", "F5b", "F7")}


def peers_row(name):
    return FUSED.get(name, name)


# Of the sweeps: rows:softmax:1024, of 2^26 elements in all; program:softmax:f4:65536x1024; paper:1e4.
LENGTHS, PUBLISHED, PAPER = "rows:", "program:", "paper:"


def swept(name, scale):
    """The row of such a name; None for other names. A scale that the name has in it already is not multiplied again."""
    what = name.split(":")
    if name.startswith(LENGTHS):
        rows = max(1, math.floor((1 << 26) * scale / int(what[2])))
        return program(what[1], f"{rows},{what[2]}")
    if name.startswith(PUBLISHED):
        rows, length = what[3].split("x")
        return program({"layernorm": "layernorm_scaled"}.get(what[1], what[1]), f"{rows}*,{length}", what[2])
    if name.startswith(PAPER):
        return Row((), paper, ("i8", f"{round(float(what[1])) // 1000},1000"), numba="(j*out.shape[0]+i)*2")
    return None


# Permutations: P4:20134 copies an array of these extents with its axes in that order.
PERMUTED = {
    "P1": ("u1", "32*,48,64,80,96"), "P2": ("f2", "16*,48,64,80,96"), "P4": ("f4", "16*,24,64,80,96"),
    "P8": ("f8", "16*,24,32,80,96"), "P16": ("c16", "16*,24,32,40,96"),
    "Podd1": ("u1", "33*,47,65,79,97"), "Podd2": ("f2", "17*,47,65,79,97"), "Podd4": ("f4", "17*,23,65,79,97"),
}

CELL = "reduce:"  # of the sweep: reduce:OUTERxREDUCEDxINNER, float32, summed over the middle axis


def cell(row):
    """(outer, reduced, inner) of a row of the sweep."""
    return tuple(map(int, row[len(CELL):].split("x")))


CALLS = ("H1", "H2", "H4", "H5", "H6", "H7", "H8", "H10")
WAITED = ("R13b",)  # from the call to the result
# New reductions: what, the axis, and the shape.
SQUARE = "1024,1024"
NEW_FOLDS = {"C2": ("sum", 1, SQUARE), "C2b": ("sum", 0, SQUARE), "C2c": ("sum", None, SQUARE), "C2d": ("argmax", 1, SQUARE), "C2e": ("norm", 1, SQUARE),
             "C2f": ("norm", 1, "64,256,64"), "C2g": ("var", 0, SQUARE), "C2h": ("argmax", 0, SQUARE)}


def ten(m, x, k):
    q = x * k
    d = q * q - x
    r = m.sqrt(m.abs(d) + 1)
    return m.exp(-r) * d / r


def turned(x, *order):
    return x.permute(order) if hasattr(x, "permute") else x.transpose(order)


# New elementwise kernels of 2^20 elements: inputs, the views of them that are the operands, what is computed of these and a number that nobody has used before, and
# the same as CuPy's texts, where '#' is the number.
NEW_MAPS = {
    "C1": ([("f4", "1048576")], lambda x: (x,), lambda k, x: (x * k) ** 2 - x / (x * k + 1),
           ("T x", "T z", "T q = x * (T)#; z = q * q - x / (q + (T)1)")),
    "C1b": ([("f4", "1024,1024"), ("f4", "1024,1")], lambda x, y: (x, y), lambda k, x, y: x + y * k, ("T x, T y", "T z", "z = x + y * (T)#")),
    "C1t": ([("f4", "1024,1024")], lambda x: (turned(x, 1, 0),), lambda k, x: x * k, ("T x", "T y", "y = x * (T)#")),
    "C1u": ([("u1", "1024,1024")], lambda x: (turned(x, 1, 0),), lambda k, x: x * k, ("T x", "T y", "y = x * (T)#")),
    "C1o": ([("f4", "1023,1021")], lambda x: (turned(x, 1, 0),), lambda k, x: x * k, ("T x", "T y", "y = x * (T)#")),
    "C1s": ([("f4", "1025,1025")], lambda x: (x[1:, 1:], x[:-1, :-1]), lambda k, x, y: (x - y) * k, ("T x, T y", "T z", "z = (x - y) * (T)#")),
    "C1p": ([("f4", "1026,1026")], lambda x: (x[1:-1, 1:-1], x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:]),
            lambda k, c, n, s, w, e: c - (n + s + w + e) * k, ("T c, T n, T s, T w, T e", "T z", "z = c - (n + s + w + e) * (T)#")),
    "C1i": ([("u1", "3,1024,1024")], lambda x: (turned(x, 1, 2, 0),), None, ("uint8 x", "float16 y", "y = (float)x * (float)#")),
}


# New fused kernels, of an input and a number that nobody has used before; of 2^20 elements and of (1024, 1024).
NEW_FUSED = {
    "C3": ("1048576", ten),
    "C3b": ("1024,1024", lambda m, x, k: m.softmax(x * k)),
    "C3c": ("1024,1024", lambda m, x, k: m.normed(x * k)),
}
