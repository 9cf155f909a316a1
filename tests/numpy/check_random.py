"""Random numbers: Philox's published answers; bits, uniform numbers, integers and normal numbers against NumPy's own arithmetic; arrays that are filled against
expressions, of random dtypes and layouts; each distribution against NumPy's by a chi-square test of two samples, their tails and moments (10^8 numbers in tools/soak).
check_random.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET] [--numbers N] [--laws FIRST:LAST:STEP] [--laws-alone] [--far]"""
import ctypes
import os
import random
import struct

import numpy as np

from check_searches import placed
from drawn import SEED, drawn
from host_kernels import SOAK, Argument, Arrays, in_threads, random_cases
from random_words import blocks, permuted, words

# Random123's tests/kat_vectors: counter, key, answer.
ANSWERS = [((0, 0, 0, 0), (0, 0), (0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8)),
           ((0xffffffff,) * 4, (0xffffffff,) * 2, (0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd)),
           ((0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), (0xa4093822, 0x299f31d0), (0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1))]
# Of each distribution: drawn parameters, and NumPy's function where its name is another.
POSITIVE = lambda rng: round(10 ** rng.uniform(-1, 1.5), 3)
ANY = lambda rng: round(rng.uniform(-3, 3), 3)
SHARE = lambda rng: round(rng.uniform(0.02, 0.98), 3)
COUNT = lambda rng: rng.choice([1, 7, 20, 300, 5000])
LAWS = {"random": (), "uniform": (ANY, POSITIVE), "standard_normal": (), "normal": (ANY, POSITIVE), "lognormal": (ANY, SHARE), "standard_exponential": (),
        "exponential": (POSITIVE,), "laplace": (ANY, POSITIVE), "logistic": (ANY, POSITIVE), "gumbel": (ANY, POSITIVE), "rayleigh": (POSITIVE,),
        "weibull": (POSITIVE,), "pareto": (POSITIVE,), "random_power": (POSITIVE,), "standard_cauchy": (), "triangular": (lambda rng: -rng.random(), SHARE, lambda rng: 1 + POSITIVE(rng)),
        "standard_gamma": (POSITIVE,), "random_gamma": (POSITIVE, POSITIVE), "random_beta": (POSITIVE, POSITIVE), "chisquare": (POSITIVE,),
        "noncentral_chisquare": (POSITIVE, POSITIVE), "random_f": (POSITIVE, POSITIVE), "noncentral_f": (POSITIVE, POSITIVE, POSITIVE), "standard_t": (POSITIVE,),
        "wald": (POSITIVE, POSITIVE), "vonmises": (ANY, POSITIVE), "poisson": (lambda rng: POSITIVE(rng) * rng.choice([1, 50]),), "binomial": (COUNT, SHARE),
        "negative_binomial": (POSITIVE, SHARE), "geometric": (SHARE,), "hypergeometric": (COUNT, COUNT, lambda rng: rng.choice([0, 1, 2])),
        "zipf": (lambda rng: 1.5 + POSITIVE(rng),), "logseries": (SHARE,), "integers": (lambda rng: rng.randrange(-50, 0), lambda rng: rng.choice([1, 6, 1000, 2 ** 40]))}
# Parameters far from the usual: where NumPy's numbers, in double, are right.
FAR = {"standard_gamma": [(1e-3,), (0.05,), (1e7,)], "random_gamma": [(0.02, 1e20), (1e6, 1e-20)], "chisquare": [(0.01,), (1e7,)], "standard_t": [(0.05,), (0.1,), (1e7,)],
       "random_beta": [(0.01, 0.01), (1e-3, 0.1), (0.05, 3.0), (1e5, 0.5), (1e5, 1e5)], "random_f": [(0.05, 0.05), (0.02, 3.0), (3.0, 0.02), (1e6, 1e6)], "weibull": [(0.02,), (1e3,)],
       "wald": [(1e5, 1e-3), (1e3, 1e-5), (1e-5, 1.0)], "vonmises": [(0.0, 1e3), (3.0, 9e4), (-1000.0, 30.0), (12345.678, 30.0), (1.0, 1e-3)], "pareto": [(0.02,), (1e3,)],
       "noncentral_chisquare": [(0.5, 1e4), (1e-3, 1.0), (3.0, 1e8)], "noncentral_f": [(0.05, 0.1, 1.0), (3.0, 0.05, 1e4), (0.274, 0.203, 0.175)], "random_power": [(0.02,), (1e3,)],
       "poisson": [(1e-5,), (9.999,), (1e9,)], "binomial": [(10 ** 9, 1e-9), (10 ** 12, 0.5), (10 ** 6, 0.999999)], "negative_binomial": [(0.01, 0.01), (1e6, 1e-5)], "geometric": [(1e-9,), (0.999,)],
       "hypergeometric": [(10 ** 6, 10, 1000), (10, 10 ** 6, 10 ** 5), (10 ** 8, 10 ** 6, 10 ** 6)], "zipf": [(1.5,), (8.0,)], "logseries": [(0.999999,), (1e-4,)]}
COUNTS = {"poisson", "binomial", "negative_binomial", "geometric", "hypergeometric", "zipf", "logseries", "integers"}


def below(key, at, count):
    """Lemire's integers, one by one."""
    bits = 32 if count <= 2 ** 32 else 64
    results = []
    for i, word in zip(at.tolist(), words(key, at, bits // 8).tolist()):
        attempt = 0
        while word * count % 2 ** bits < 2 ** bits % count:
            attempt += 1
            block = blocks(key, [i], [attempt])[0].tolist()
            word = block[0] if bits == 32 else block[0] | block[1] << 32
        results.append(word * count >> bits)
    return results


def normals(key, at, dtype):
    """By Box and Muller, in long double, of pairs of elements."""
    wide, size = np.longdouble, np.dtype(dtype).itemsize
    even = np.asarray(at, np.uint64) & ~np.uint64(1)
    radius, angle = words(key, even, size), words(key, even + np.uint64(1), size)
    if size == 4:
        u = (radius.astype(np.float32).astype(wide) + wide(0.5)) / wide(2) ** 32
    else:
        u = ((radius >> np.uint64(12)).astype(wide) + wide(0.5)) / wide(2) ** 52
    turn = angle.astype(wide) / wide(2) ** (8 * size) * 2 * wide("3.14159265358979323846264338")
    return np.sqrt(-2 * np.log(u.astype(dtype).astype(wide))) * np.where(np.asarray(at) % 2, np.sin(turn), np.cos(turn))


def number(x):
    """A number by value: a weak one."""
    if isinstance(x, float):
        return Argument(5, 0, struct.unpack("<Q", struct.pack("<d", x))[0])
    return Argument(3 if x < 0 else 4, 0, x % 2 ** 64)


class Random(Arrays):
    def __init__(self, path):
        super().__init__(path)
        for name in ("key", "position"):
            getattr(self.c, f"kiln_random_{name}").restype = ctypes.c_uint64
            getattr(self.c, f"kiln_random_{name}").argtypes = [ctypes.c_void_p]
        self.c.kiln_random_create.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint64]
        self.c.kiln_random_set_position.argtypes = [ctypes.c_void_p, ctypes.c_uint64]
        self.c.kiln_random_free.argtypes = [ctypes.c_void_p]

    def source(self, seed, stream=0, position=0):
        out = ctypes.c_void_p()
        self.check(self.c.kiln_random_create(ctypes.byref(out), seed, stream), "kiln_random_create")
        self.c.kiln_random_set_position(out, position)
        return out

    def empty(self, dtype, shape):
        out = ctypes.c_void_p()
        self.check(self.c.kiln_array_empty(ctypes.byref(out), self.dtype_number(dtype), len(shape), (ctypes.c_int64 * max(len(shape), 1))(*shape), self.device), "empty")
        return out

    def download(self, handle, dtype, shape):
        got = np.empty(shape, dtype)
        self.check(self.c.kiln_array_to_host(handle, got.ctypes.data_as(ctypes.c_void_p), got.nbytes), "download")
        return got

    def fill(self, source, name, params, dtype, shape, rng=None):
        """What an array holds when it is filled: a new one, or, by rng, one of any strides."""
        held = []
        out = placed(self, rng, np.zeros(shape, dtype), held) if rng else self.empty(dtype, shape)
        given = (Argument * max(len(params), 1))(*[number(x) for x in params])
        try:
            self.check(self.c.kiln_random_fill(source, out, name.encode(), given, len(params)), name)
            return self.download(out, dtype, shape)
        finally:
            for handle in reversed(held or [out]):
                self.c.kiln_array_free(handle)

    def evaluate(self, text, dtype, shape):
        kernel, out = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
        self.check(self.c.kiln_expression_create(ctypes.byref(kernel), b"", text.encode(), None), text)
        try:
            self.check(self.c.kiln_kernel_call(kernel, out, 1, None, 0, None), text)
            assert self.c.kiln_array_dtype(out[0]) == self.dtype_number(dtype), f"{text}: another dtype"
            return self.download(out[0], dtype, shape)
        finally:
            self.c.kiln_array_free(out[0])
            self.c.kiln_kernel_free(kernel)

    def refused(self, source, name, params, dtype, *parts):
        try:
            self.fill(source, name, params, dtype, (3,))
        except RuntimeError as error:
            assert all(part in str(error) for part in parts), f"{name}{params}: {error}"
            return
        raise AssertionError(f"{name}{params} of {dtype} was not refused")


def check_answers(kiln):
    for counter, key, answer in ANSWERS:
        low, high, k = (a | b << 32 for a, b in (counter[:2], counter[2:], key))
        kernel, out = ctypes.c_void_p(), (ctypes.c_void_p * 1)()
        body = f"const auto r = philox({k}ull, {low}ull, {high}ull); y = r.word[i]"
        kiln.check(kiln.c.kiln_elementwise_create(ctypes.byref(kernel), b"", b"uint32 y", body.encode(), b"answers", None), body)
        out[0] = kiln.empty("uint32", (4,)).value
        kiln.check(kiln.c.kiln_kernel_call(kernel, out, 1, None, 0, None), body)
        got = kiln.download(out[0], "uint32", (4,))
        assert tuple(got.tolist()) == answer == tuple(blocks(k, [low], [high])[0].tolist()), (counter, key, got)
        kiln.c.kiln_array_free(out[0])
        kiln.c.kiln_kernel_free(kernel)


def check_bits(kiln, seed):
    rng = random.Random(seed)
    n = rng.choice([1, 5, 64, 1003])
    key, position = rng.getrandbits(64), rng.choice([0, 4, 1, 2 ** 32 - 8, 2 ** 62 + 3])
    at = np.arange(n, dtype=np.uint64) + np.uint64(position)
    source = kiln.source(key, 0, position)

    def filled(name, params, dtype):
        kiln.c.kiln_random_set_position(source, position)
        got = kiln.fill(source, name, params, dtype, (n,))
        assert kiln.c.kiln_random_position(source) == (position + n + 3) // 4 * 4, "the position"
        return got
    for dtype in "uint8 int16 uint32 int64 uint64".split():
        right = words(key, at, np.dtype(dtype).itemsize).astype(dtype)
        assert np.array_equal(filled("random_bits", (), dtype), right), f"bits of {dtype}, seed {seed}"
    single, double = words(key, at, 4), words(key, at, 8)
    assert np.array_equal(filled("random", (), "float32"), (single >> np.uint64(8)) / 2 ** 24)
    assert np.array_equal(filled("random", (), "float64"), (double >> np.uint64(11)) / 2 ** 53)
    assert np.array_equal(filled("random", (), "float16"), (single >> np.uint64(21)) / 2 ** 11)
    low, high = rng.uniform(-5, 5), rng.uniform(-5, 5)
    u = ((double >> np.uint64(11)) / 2 ** 53).astype(np.longdouble)
    assert np.array_equal(filled("uniform", (low, high), "float64"), (u * (high - low) + low).astype(float)) or np.finfo(np.longdouble).nmant < 100
    for dtype, low, count in (("int64", -3, 9), ("uint8", 0, 256), ("int32", -2 ** 31, 2 ** 32), ("int64", 5, 2 ** 32 + 1), ("int64", -2 ** 62, 2 ** 63 - 1), ("bool", 0, 2),
                              ("int64", 0, 3 * 2 ** 30), ("uint64", 7, rng.getrandbits(63) + 1)):
        right = np.array([x + low for x in below(key, at, count)]).astype(dtype)
        got = filled("integers", (low, low + count), dtype)
        assert np.array_equal(got, right), f"integers of {dtype} from {low}, {count} of them, seed {seed}"
    for dtype in ("float32", "float64"):
        got, right = filled("standard_normal", (), dtype), normals(key, at, dtype)
        step = np.spacing(np.maximum(np.abs(right), 0.05).astype(dtype))
        assert (np.abs(got - right) <= 4 * step).all(), f"normal numbers of {dtype}, seed {seed}"
    kiln.c.kiln_random_free(source)


def check_many(kiln, seed):
    """So many numbers that a thread has several vectors of them; from within a block, and from its begin."""
    rng = random.Random(seed)
    n, position, dtype = rng.choice([2 ** 20, 2 ** 21]) + rng.randrange(1000), rng.choice([0, 4, 8, 3]), rng.choice("uint32 uint64 float32 float64".split())
    key, at = rng.getrandbits(64), np.arange(n, dtype=np.uint64) + np.uint64(position)
    source, item = kiln.source(key, 0, position), np.dtype(dtype).itemsize
    got = kiln.fill(source, "random_bits" if dtype.startswith("u") else "random", (), dtype, (n,))
    right = words(key, at, item)
    if dtype.startswith("f"):
        right = (right >> np.uint64(8)) / 2 ** 24 if item == 4 else (right >> np.uint64(11)) / 2 ** 53
    assert np.array_equal(got, right.astype(dtype)), f"{n} numbers of {dtype} from {position}, seed {seed}"
    kiln.c.kiln_random_free(source)


def drawn_params(name, rng):
    params = [draw(rng) for draw in LAWS[name]]
    if name == "uniform":
        params[1] += params[0]
    if name == "hypergeometric":
        params[2] = [1, (params[0] + params[1]) // 2, params[0] + params[1]][params[2]]
    return params


def check_filled(kiln, name, seed):
    """A call, and an expression, over any dtype."""
    rng = random.Random(f"{name} {seed}")
    params, key, position, n = drawn_params(name, rng), rng.getrandbits(63), rng.choice([0, 3, 2 ** 40]), rng.choice([1, 6, 1001])
    dtype = "int64" if name in COUNTS else rng.choice(["float32", "float64", "float16"])
    source = kiln.source(key, rng.choice([0, 1, 2 ** 50]), position)
    key = kiln.c.kiln_random_key(source)
    shape = rng.choice([(n,), (n // 3, 3), (2, n // 2, 1)])
    n = int(np.prod(shape))
    got = kiln.fill(source, name, params, dtype, shape, rng)
    text = f"{name}({', '.join(map(str, [key, f'arange({position}, {position + n})', *params]))}, dtype={dtype})"
    right = kiln.evaluate(text, dtype, (n,))
    if os.environ.get("KILN_TARGET", "").startswith("cuda") and dtype != "int64":
        # Its compiler contracts other products where parameters are numbers; one element in five hundred may be accepted by one text and refused by the other.
        near = np.isclose(got.reshape(-1), right.reshape(-1), 1e-2 if dtype == "float16" else 1e-4, 1e-4, equal_nan=True)
        assert np.count_nonzero(~near) <= n // 500, f"{text}, seed {seed}"
    else:
        assert got.tobytes() == right.tobytes(), f"{text}, seed {seed}"
    kiln.c.kiln_random_free(source)


class Samples:
    """Numbers of two sources, some at a time: how often they lie in bins and beyond far quantiles of the first ones of the second source, and their moments."""

    def __init__(self, theirs):
        theirs = theirs.astype(float)
        few, spread = theirs[:100000], np.quantile(theirs, [0.25, 0.5, 0.75])
        self.bins = np.unique(np.quantile(few, np.linspace(0, 1, min(200, max(3, len(few) // 50)))[1:-1]))
        far = [10.0 ** -e for e in range(2, 7) if len(theirs) * 10.0 ** -e >= 10]
        self.far = np.quantile(theirs, far + [1 - share for share in far])
        self.middle, self.width = spread[1], (spread[2] - spread[0]) or 1.0
        self.counts, self.beyond, self.sums = 0, 0, 0

    def add(self, *both):
        both = [x.astype(float) for x in both]
        low = self.far[: len(self.far) // 2], self.far[len(self.far) // 2:]
        self.counts = self.counts + np.stack([np.bincount(np.searchsorted(self.bins, x, "right"), minlength=len(self.bins) + 1) for x in both])
        self.beyond = self.beyond + np.array([[np.count_nonzero(x < edge) for edge in low[0]] + [np.count_nonzero(x > edge) for edge in low[1]] for x in both])
        # A power of one number less that of another is as often positive as negative, so that even sums without a variance are bounded in units of their squares' root (Efron).
        away = [np.clip((x - self.middle) / self.width, -1e36, 1e36) for x in both]
        powers = [1.0, 1.0]
        for power in range(4):
            powers = [x * y for x, y in zip(powers, away)]
            apart = powers[0] - powers[1]
            sums = np.zeros((4, 2))
            sums[power] = apart.sum(), (apart * apart).sum()
            self.sums = self.sums + sums

    def deviations(self):
        """Of the bins, of the tails, of the moments: how many standard deviations both sources are apart."""
        used = self.counts.sum(0) >= 10
        a, b, free = self.counts[0, used].astype(float), self.counts[1, used].astype(float), used.sum() - 1
        # Wilson and Hilferty: the cube root of chi-square is nearly normal.
        bins = 0 if free < 1 else (((((a - b) ** 2 / (a + b)).sum() / free) ** (1 / 3)) - (1 - 2 / (9 * free))) / (2 / (9 * free)) ** 0.5
        tails = np.abs(self.beyond[0] - self.beyond[1]) / np.sqrt(np.maximum(self.beyond.sum(0), 1))
        moments = np.abs(self.sums[:, 0]) / np.sqrt(np.maximum(self.sums[:, 1], 1e-300))
        return bins, tails.max(initial=0), moments.max()


def check_samples(what, seed, count, step, draw):
    """draw(first, n): as many numbers of ours and of NumPy's. These are rounded to our dtype before they are compared, and what is beyond it lies at its end."""
    samples = None
    for first in range(0, count, step):
        ours, theirs = draw(first, min(count - first, step))
        assert (ours == ours).all(), f"{what}: NaN"
        if ours.dtype.kind == "f":
            end = np.finfo(ours.dtype).max
            with np.errstate(over="ignore"):
                ours, theirs = np.clip(ours, -end, end), np.clip(theirs.astype(ours.dtype), -end, end)
        samples = samples or Samples(theirs)
        samples.add(ours, theirs)
    bins, tails, moments = samples.deviations()
    if count >= 10 ** 7:
        print(f"{what}: {bins:.1f} deviations in bins, {tails:.1f} in tails, {moments:.1f} of moments", flush=True)
    assert max(bins, tails, moments) < 5.5, f"{what}, seed {seed}: {bins:.1f} deviations from NumPy's in bins, {tails:.1f} in tails, {moments:.1f} of moments"


def check_law(kiln, name, seed, count, far=None):
    """As often in each bin and in the tails as NumPy's, with the moments of NumPy's."""
    rng = random.Random(f"law {name} {seed}{far or ''}")
    params, other = far or drawn_params(name, rng), np.random.default_rng(rng.getrandbits(60))
    dtype = "int64" if name in COUNTS else rng.choice(["float32", "float64"])
    if dtype == "float32":
        params = [float(np.float32(x)) for x in params]
    source = kiln.source(rng.getrandbits(64), 0, 0)
    check_samples(f"{name}{tuple(params)} of {dtype}", seed, count, 10 ** 7,
                  lambda first, n: (kiln.fill(source, name, params, dtype, (n,)), getattr(other, name.removeprefix("random_"))(*params, size=n)))
    kiln.c.kiln_random_free(source)


# Counts so large that NumPy's are not as their law says: nearly normal numbers, and Zipf's of 63 bits.
LARGE = {"poisson": [(1e15,), (9e18,)], "binomial": [(10 ** 15, 0.3), (2 ** 62, 0.5), (2 ** 62, 1e-9)], "hypergeometric": [(10 ** 12, 10 ** 12, 10 ** 11), (10 ** 15, 3 * 10 ** 15, 10 ** 15)],
         "zipf": [(1.000001,), (1.01,), (1.2,)]}


def check_zipf(got, a, seed):
    """As often up to powers of ten as the sum of powers says: of the first thousand one by one, of the others by Euler and Maclaurin's formula."""
    less, first, edges = a - 1, np.arange(1.0, 1001) ** -a, [10.0 ** e for e in range(19)]
    beyond = lambda x: ((x + 0.5) ** -less - 2.0 ** (-63 * less)) / less  # of numbers above x
    sums = np.array([first[int(edge) - 1:].sum() - first[int(edge) - 1] + beyond(1000.0) if edge <= 1000 else beyond(edge) for edge in edges]) / (first.sum() + beyond(1000.0))
    counts = np.array([np.count_nonzero(got.astype(float) > edge) for edge in edges])
    off = (counts - len(got) * sums) / np.sqrt(len(got) * sums * (1 - sums) + 1)
    assert got.min() >= 1 and np.abs(off).max() < 5.5, f"zipf({a}), seed {seed}: {off}"


def check_large(kiln, name, params, seed, count):
    """The mean, the variance, the fourth moment and the tails of a normal law."""
    source = kiln.source(seed, 0, 0)
    got = kiln.fill(source, name, params, "int64", (count,))
    kiln.c.kiln_random_free(source)
    if name == "zipf":
        return check_zipf(got, *params, seed)
    n, p = (params[0], 0.0) if name == "poisson" else (params[0], params[1]) if name == "binomial" else (params[2], params[0] / (params[0] + params[1]))
    mean = n if name == "poisson" else n * p
    spread = (mean * (1 - p) * (1 - n / (params[0] + params[1]) if name == "hypergeometric" else 1)) ** 0.5
    z = ((got - np.int64(mean)).astype(float) - (mean - float(np.int64(mean)))) / spread
    off = z.mean() * count ** 0.5, (z.var() - 1) * (count / 2) ** 0.5, ((z ** 4).mean() - 3) * (count / 96) ** 0.5
    assert max(map(abs, off)) < 5.5 and np.abs(z).max() < 8, f"{name}{params}, seed {seed}: {off} deviations of the mean, the variance and the fourth moment, up to {np.abs(z).max()}"


def shares_of(rng, n):
    return [share / 16 for share in np.diff([0, *sorted(rng.sample(range(1, 16), n - 1)), 16]).tolist()]


# Rows of numbers that belong together: drawn parameters of n numbers, and the dtype.
ROW_LAWS = {"dirichlet": (lambda rng, n: ([POSITIVE(rng) / rng.choice([1, 1, 1000]) for _ in range(n)],), "float64"),
            "multinomial": (lambda rng, n: (COUNT(rng), shares_of(rng, n)), "int64"),
            "multivariate_hypergeometric": (lambda rng, n: ([rng.choice([1, 5, 40]) for _ in range(n)], rng.randint(1, n)), "int64"),
            "multivariate_normal": (lambda rng, n: ([ANY(rng) for _ in range(n)], [[float(3 * (i == j) - (abs(i - j) == 1)) for j in range(n)] for i in range(n)]), "float64"),
            "choice": (lambda rng, n: ([rng.randrange(100) for _ in range(n)], shares_of(rng, n)), "int64")}


def check_row_law(kiln, name, seed, count):
    """A sum of each row, by drawn weights, is distributed as that of NumPy's rows."""
    rng = random.Random(f"law {name} {seed}")
    n, key, other = rng.choice([2, 3, 5]), rng.getrandbits(63), np.random.default_rng(rng.getrandbits(60))
    params, dtype = ROW_LAWS[name][0](rng, n), ROW_LAWS[name][1]
    weights = [round(rng.uniform(-2, 2), 2) for _ in range(n)]

    def draw(first, rows):
        text = f"{name}({key}, arange({first}, {first + rows}), {', '.join(map(str, params))})"
        if name == "choice":
            return kiln.evaluate(text, dtype, (rows,)), other.choice(params[0], rows, p=params[1])
        # A share may be 1 in nearly all rows, or the number below it: rounding errors are no bins of their own.
        return np.round(kiln.evaluate(text, dtype, (rows, n)) @ weights, 12), np.round(getattr(other, name)(*params, size=rows) @ np.array(weights), 12)

    check_samples(f"{name}{params} by {weights}", seed, count, 2 * 10 ** 6, draw)


def check_weighted(kiln, key):
    """Samples without replacement by weights: no element twice, those of weight 0 last, and pairs as often as one after the other is drawn; counts
    of draws: their sums, means and covariances."""
    shares, seen = np.array([1, 2, 0, 3, 4]) / 10, np.zeros((5, 5))
    got = kiln.evaluate(f"sample({key}, arange(5) * 3, 4, {WEIGHTS})", "int64", (4,))
    order = np.argsort(-kiln.evaluate(f"log({WEIGHTS}) + gumbel({key}, arange(5))", "float64", (5,)), kind="stable")
    assert np.array_equal(got, order[:4] * 3) and 6 not in got, f"sample by weights: {got}, {order}"
    # The same over many rows.
    got = kiln.evaluate(f"argsort(-(log({WEIGHTS}) + gumbel({key}, arange(20000)[:, None] * 5 + arange(5))))", "int64", (20000, 5))
    np.add.at(seen, (got[:, 0], got[:, 1]), 1)
    expected = 20000 * shares[:, None] * shares / (1 - shares)[:, None] * (1 - np.eye(5))
    chi = ((seen - expected) ** 2 / np.maximum(expected, 1e-9))[expected > 0].sum()
    assert chi < 45 and seen[expected == 0].sum() == 0, f"sample by weights: {chi}"  # 11 degrees of freedom: once in 200,000
    got = kiln.evaluate(f"multinomial({key}, arange(20000), 12, {WEIGHTS})", "int64", (20000, 5))
    assert (got.sum(-1) == 12).all() and (got >= 0).all() and (got[:, 2] == 0).all(), "multinomial"
    assert np.abs(got.mean(0) - 12 * shares).max() < 0.08, f"multinomial: {got.mean(0)}"
    assert np.abs(np.cov(got.T) - 12 * (np.diag(shares) - np.outer(shares, shares))).max() < 0.15, f"multinomial: {np.cov(got.T)}"


def check_together(kiln, seed):
    """Numbers that belong together: rows of multivariate ones, and permuted rows."""
    rng = random.Random(f"together {seed}")
    key, n, k = rng.getrandbits(63), rng.choice([1, 2, 3, 7]), rng.choice([1, 4, 30])
    x = np.arange(n * k * 2).reshape(n, k, 2)
    text = f"arange({x.size}).reshape({n}, {k}, 2)"
    bits = words(key, np.arange(x.size), 8)
    order = permuted(key, np.arange(x.size), x.size)
    assert np.array_equal(kiln.evaluate(f"permuted({key}, {text})", "int64", x.shape), order.reshape(x.shape)), "permuted"
    axis = rng.randrange(-3, 3)
    right = np.take_along_axis(x, np.argsort(bits.reshape(x.shape), axis, kind="stable"), axis)
    assert np.array_equal(kiln.evaluate(f"permuted({key}, {text}, axis={axis})", "int64", x.shape), right), f"permuted along {axis}"
    # A covariance of full rank, or of a lower one: the same normal numbers, by NumPy's root of it.
    rank, scale = rng.randint(1, n), 10.0 ** rng.randint(-3, 3)
    a = np.array([[rng.randint(-3, 3) for _ in range(rank)] for _ in range(n)]) * scale
    cov = a @ a.T + (np.eye(n) * scale ** 2 if rng.random() < 0.5 else 0)
    z = kiln.evaluate(f"standard_normal({key}, arange({k * n}))", "float64", (k, n))
    root = kiln.evaluate(f"root_of(flipud({cov.tolist()[::-1]}))", "float64", (n, n))
    assert np.allclose(root.T @ root, cov, rtol=1e-9, atol=1e-6 * scale ** 2) and np.array_equal(root, np.triu(root)), f"root of {cov.tolist()}, seed {seed}"
    got = kiln.evaluate(f"multivariate_normal({key}, arange({k}), {list(range(n))}, {cov.tolist()})", "float64", (k, n))
    assert np.allclose(got, np.arange(n) + z @ root, rtol=1e-9, atol=1e-9 * scale), f"multivariate_normal, seed {seed}"
    for listed in ([[1, 2]], [[[3]]], [[1], [2]]):
        assert np.array_equal(kiln.evaluate(f"flipud({listed})", "int64", np.shape(listed)), listed[::-1]), f"the list {listed}"
    colors = [rng.choice([0, 1, 5, 40]) for _ in range(n)] + [3]
    drawn_of = rng.randint(0, sum(colors))
    got = kiln.evaluate(f"multivariate_hypergeometric({key}, arange(20000), {colors}, {drawn_of})", "int64", (20000, n + 1))
    shares = np.array(colors) / sum(colors)
    left = (sum(colors) - drawn_of) / max(sum(colors) - 1, 1)
    right = drawn_of * left * (np.diag(shares) - np.outer(shares, shares))
    assert (got.sum(-1) == drawn_of).all() and (got >= 0).all() and (got <= colors).all(), f"multivariate_hypergeometric, seed {seed}"
    assert (np.abs(got.mean(0) - drawn_of * shares) <= 6 * np.sqrt(np.diag(right) / 20000) + 1e-9).all(), f"multivariate_hypergeometric, seed {seed}: {got.mean(0)}"
    assert np.abs(np.cov(got.T) - right).max() <= 0.06 * max(np.diag(right).max(), 0.2), f"multivariate_hypergeometric, seed {seed}: {np.cov(got.T)}"


WEIGHTS = "where(arange(5) == 2, 0, where(arange(5) < 2, arange(5) + 1, arange(5))) * 0.5"


def check_composed(kiln, seed):
    """Functions that are expressions of distributions."""
    rng = random.Random(seed)
    key, n = rng.getrandbits(63), rng.choice([1, 2, 50, 3001])
    order = permuted(key, np.arange(n), n)
    assert np.array_equal(kiln.evaluate(f"permutation({key}, {n})", "int64", (n,)), order), "permutation"
    assert np.array_equal(kiln.evaluate(f"shuffle({key}, arange({n}) * 3)", "int64", (n,)), order * 3), "shuffle"
    table = f"arange({n})[:, None] * 5 + arange(3)"
    got = kiln.evaluate(f"shuffle({key}, {table}, axis=-2)", "int64", (n, 3))
    assert np.array_equal(got, (np.arange(n)[:, None] * 5 + np.arange(3))[order]), "shuffle along the axis before the last"
    k = rng.randint(0, n)
    got = kiln.evaluate(f"sample({key}, arange({n}) * 3, {k})", "int64", (k,))
    assert np.array_equal(got, order[:k] * 3), "sample"
    check_weighted(kiln, key)
    got = kiln.evaluate(f"choice({key}, arange({n}), arange(9) * 2)", "int64", (n,))
    assert np.array_equal(got, np.array(below(key, np.arange(n), 9)) * 2), "choice"
    shares = np.arange(5) / 10
    got = kiln.evaluate(f"choice({key}, arange(20000), arange(5), arange(5) / 10)", "int64", (20000,))
    counts = np.bincount(got, minlength=5)
    assert counts[0] == 0 and ((counts - 20000 * shares) ** 2 / np.maximum(20000 * shares, 1)).sum() < 40, f"choice by weights: {counts}"
    got = kiln.evaluate(f"dirichlet({key}, arange(20000), arange(1, 4) * 0.5)", "float64", (20000, 3))
    assert np.allclose(got.sum(-1), 1) and np.abs(got.mean(0) - np.arange(1, 4) / 6).max() < 0.01, "dirichlet"
    # Variances: a (A - a) / (A^2 (A + 1)), of a = 0.5, 1, 1.5 and their sum A.
    assert np.abs(got.var(0) / (np.array([1.25, 2, 2.25]) / 36) - 1).max() < 0.05, f"dirichlet: {got.var(0)}"


def check_refusals(kiln):
    source = kiln.source(1)
    for name, params, dtype, *parts in [("normal", (0.0, -1.0), "float32", "normal: scale: -1 was given", "from 0 on"), ("normal", (), "int32", "dtype int32", "a float"),
                                        ("normal", (1.0, 1.0, 1.0), "float32", "3 parameters", "up to 2"), ("poisson", (-1.0,), "int64", "lam: -1"),
                                        ("binomial", (3, 1.5), "int64", "p: 1.5", "from 0 to 1"), ("binomial", (3,), "int64", "p is missing"), ("nothing", (), "float32", "'nothing'"),
                                        ("integers", (0, 257), "uint8", "high: 257", "uint8"), ("integers", (-1, 5), "uint8", "low: -1"), ("integers", (5, 5), "int64", "above low"),
                                        ("integers", (0.5, 5), "int64", "low: a whole number"), ("integers", (0, 5), "float32", "dtype float32"), ("random_bits", (), "float32", "an integer"),
                                        ("zipf", (1.0,), "int64", "above 1"), ("standard_gamma", (float("nan"),), "float32", "nan")]:
        kiln.refused(source, name, params, dtype, *parts)
    kiln.c.kiln_random_free(source)


def main():
    options = random_cases(20, 2, 1, ("--numbers", {"type": int, "default": 10 ** 8 if SOAK else 40000, "help": "of each distribution"}),
                           ("--laws", {"help": "the distributions, as a slice of their list; default: drawn ones"}),
                           ("--laws-alone", {"action": "store_true", "help": "these, and nothing else"}),
                           ("--far", {"action": "store_true", "help": "these with parameters far from the usual, and nothing else"}))
    kiln = Random(options.library)
    names = [*LAWS, *ROW_LAWS]
    chosen = names[slice(*[int(x) if x else None for x in options.laws.split(":")])] if options.laws else drawn(names, 4)
    work, far, large = [], [(name, far) for name in FAR for far in FAR[name]], [(name, large) for name in LARGE for large in LARGE[name]]
    if not options.far:
        far, large = ([], []) if options.laws_alone else (drawn(far, 20), drawn(large, len(large)))
        for name in chosen:
            work.append(lambda name=name, check=check_row_law if name in ROW_LAWS else check_law: check(kiln, name, options.seed, options.numbers))
    for name, params in far:
        if not options.laws or name in chosen:
            work.append(lambda name=name, params=params: check_law(kiln, name, options.seed, options.numbers, params))
    for name, params in large:
        if not options.laws or name in chosen:
            work.append(lambda name=name, params=params: check_large(kiln, name, params, options.seed, options.numbers))
    if not options.laws_alone and not options.far:
        work += [lambda name=name: check_filled(kiln, name, options.seed) for name in chosen if name in LAWS]
        work += [lambda: check_answers(kiln), lambda: check_refusals(kiln), lambda: check_composed(kiln, options.seed)]
        work += [lambda seed=options.seed + case: check_bits(kiln, seed) for case in options.cases]
        work += [lambda seed=SEED + case: check_many(kiln, seed) for case in range(8 if SOAK else 1)]
        work += [lambda seed=SEED + case: check_together(kiln, seed) for case in range(5 if SOAK else 1)]
    in_threads(lambda check: check(), work)
    print(f"random: {len(work)} checks")


if __name__ == "__main__":
    main()
