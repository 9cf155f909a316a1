"""The one-liners of docs/exercises.md against NumPy's own ways: ten of them, others at each run (KILN_SOAK=1: all), over random arrays.
check_exercises.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]; --first N --count 1 is the Nth of the page."""
import pathlib
import random
import re

import numpy as np

from check_composed import near, rough
from check_sort_names import Names, same
from drawn import SEED, SOAK
from host_kernels import in_threads, random_cases

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs/exercises.md"
LINE = re.compile(r"^- (\d+): `([^`]+)`", re.M)


def ints(rng, *shape, low=0, high=10):
    return np.array([rng.randrange(low, high) for _ in range(int(np.prod(shape)))], "i8").reshape(shape)


def floats(rng, *shape):
    return np.array([rng.uniform(-5, 5) for _ in range(int(np.prod(shape)))]).reshape(shape)


def signs(rng, *shape):
    return ints(rng, *shape, high=2)


def life(z):
    n = sum(np.pad(z, 1)[i:i + z.shape[0], j:j + z.shape[1]] for i in range(3) for j in range(3)) - z
    return np.where((n == 3) | ((z == 1) & (n == 2)), 1, 0)


def segment_codes(faces):
    pairs = np.sort(np.stack([faces, np.roll(faces, -1, 1)], -1).reshape(-1, 2), axis=1)
    return np.unique(pairs[:, 0] * 100 + pairs[:, 1])


def distances(p, q, z):
    d = q - p
    u = ((z - p) * d).sum(-1) / (d * d).sum(-1)
    return np.sqrt(((p + u[..., None] * d - z) ** 2).sum(-1))


# By number: arrays by name, NumPy's results (a list: several), the comparison. Random ones: what holds of the results.
WAYS = {
    3: (lambda r: {}, lambda: np.zeros(10), same),
    6: (lambda r: {}, lambda: np.eye(1, 10, 4)[0], same),
    7: (lambda r: {}, lambda: np.arange(10, 50), same),
    8: (lambda r: {"x": ints(r, 50)}, lambda x: np.flip(x), same),
    9: (lambda r: {}, lambda: np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8]]), same),
    10: (lambda r: {"x": ints(r, 12, high=3)}, lambda x: np.nonzero(x)[0], same),
    11: (lambda r: {}, lambda: np.eye(3), same),
    12: (lambda r: {}, lambda: (3, 3, 3), lambda got, right: got.shape == right and np.all((0 <= got) & (got < 1)) and np.unique(got).size == 27),
    13: (lambda r: {}, lambda: [0, 1], lambda got, right: got.shape == () and abs(float(got) - right) < 0.15),
    14: (lambda r: {}, lambda: 0.5, lambda got, right: got.shape == () and abs(float(got) - right) < 0.3),
    15: (lambda r: {}, lambda: np.array([[1.0 if 0 in (i, j) or 9 in (i, j) else 0.0 for j in range(10)] for i in range(10)]), same),
    16: (lambda r: {"x": floats(r, 4, 5)}, lambda x: np.vstack([np.zeros(7), np.hstack([np.zeros((4, 1)), x, np.zeros((4, 1))]), np.zeros(7)]), same),
    17: (lambda r: {}, lambda: [np.float64(np.nan), np.bool_(False), np.bool_(False), np.float64(np.nan), np.bool_(0.3 == 3 * 0.1)], same),
    18: (lambda r: {}, lambda: np.diag(1 + np.arange(4), k=-1), same),
    19: (lambda r: {}, lambda: np.indices((8, 8)).sum(0) % 2, same),
    20: (lambda r: {"x": ints(r, 5, high=336)}, lambda x: list(np.unravel_index(x, (6, 7, 8))), same),
    21: (lambda r: {"x": np.array([[0, 1], [1, 0]])}, lambda x: np.tile(x, (4, 4)), same),
    22: (lambda r: {"x": floats(r, 5, 5)}, lambda x: (x - np.mean(x)) / np.std(x), rough),
    24: (lambda r: {"x": floats(r, 5, 3), "y": floats(r, 3, 2)}, lambda x, y: x @ y, rough),
    25: (lambda r: {"x": ints(r, 11, high=12)}, lambda x: np.select([(3 < x) & (x < 8)], [-x], x), same),
    28: (lambda r: {"x": np.zeros(1, "i8")}, lambda x: [np.full(1, np.nan), np.zeros(1, "i8")], same),
    29: (lambda r: {"x": floats(r, 10)}, lambda x: np.where(x > 0, np.ceil(x), np.floor(x)), same),
    30: (lambda r: {"x": ints(r, 10), "y": ints(r, 8)}, lambda x, y: np.intersect1d(x, y), same),
    35: (lambda r: {"x": floats(r, 6), "y": floats(r, 6)}, lambda x, y: (x + y) * (-x / 2), near),
    36: (lambda r: {"x": abs(floats(r, 9))}, lambda x: [np.floor(x)] * 4 + [x.astype("i8")], same),
    37: (lambda r: {}, lambda: np.zeros((5, 5)) + np.arange(5), same),
    39: (lambda r: {}, lambda: np.linspace(0, 1, 11, endpoint=False)[1:], near),
    40: (lambda r: {"x": floats(r, 10)}, lambda x: np.sort(x), same),
    41: (lambda r: {"x": ints(r, 10)}, lambda x: np.add.reduce(x), same),
    42: (lambda r: {"x": (a := floats(r, 5)), "y": a + r.choice([0, 1e-12, 1])}, lambda x, y: [np.bool_(np.allclose(x, y)), np.bool_(np.array_equal(x, y))], same),
    44: (lambda r: {"x": floats(r, 10, 2)}, lambda x: [np.abs(x[:, 0] + 1j * x[:, 1]), np.angle(x[:, 0] + 1j * x[:, 1])], rough),
    45: (lambda r: {"x": abs(floats(r, 10))}, lambda x: np.where(x == x.max(), 0, x), same),
    46: (lambda r: {}, lambda: list(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5))), near),
    47: (lambda r: {"x": np.arange(8), "y": np.arange(8) + 0.5}, lambda x, y: 1.0 / np.subtract.outer(x, y), near),
    50: (lambda r: {"x": floats(r, 30), "y": floats(r)}, lambda x, y: x[np.abs(x - y).argmin()], same),
    52: (lambda r: {"x": floats(r, 20, 2)}, lambda x: np.abs(np.subtract.outer(x @ [1, 1j], x @ [1, 1j])), rough),
    53: (lambda r: {"x": floats(r, 10).astype("f4")}, lambda x: x.astype("i4"), same),
    56: (lambda r: {}, lambda: np.exp(-(np.hypot(*np.meshgrid(np.linspace(-1, 1, 10), np.linspace(-1, 1, 10))) ** 2) / 2), rough),
    57: (lambda r: {}, lambda: (10, 10), lambda got, right: got.shape == right and got.sum() == 3 and set(got.ravel()) == {0, 1}),
    58: (lambda r: {"x": floats(r, 5, 10)}, lambda x: x - x.mean(1)[:, None], near),
    59: (lambda r: {"x": ints(r, 6, 3)}, lambda x: x[np.argsort(x[:, 1], kind="stable")], same),
    60: (lambda r: {"x": signs(r, 3, 4)}, lambda x: np.bool_((~x.any(axis=0)).any()), same),
    61: (lambda r: {"x": floats(r, 5, 5)}, lambda x: x.flat[np.abs(x - 0.5).argmin()], same),
    62: (lambda r: {"x": ints(r, 3, 1), "y": ints(r, 1, 3)}, lambda x, y: np.add(x, y), same),
    64: (lambda r: {"x": ints(r, 10), "y": ints(r, 20)}, lambda x, y: np.array([a + np.sum(y == k) for k, a in enumerate(x)]), same),
    65: (lambda r: {"x": floats(r, 6), "y": ints(r, 6)}, lambda x, y: np.bincount(y, x, 10), near),
    66: (lambda r: {"x": ints(r, 9, 9, 3, high=3)}, lambda x: np.unique(x @ [65536, 256, 1]), same),
    67: (lambda r: {"x": ints(r, 3, 4, 3, 4)}, lambda x: x.reshape(3, 4, -1).sum(-1), same),
    68: (lambda r: {"x": floats(r, 50), "y": np.arange(50) % 5}, lambda x, y: np.array([x[y == k].mean() for k in range(5)]), rough),
    69: (lambda r: {"x": floats(r, 5, 4), "y": floats(r, 4, 5)}, lambda x, y: np.diag(x @ y), rough),
    70: (lambda r: {"x": ints(r, 5)}, lambda x: np.array([x[k // 4] if k % 4 == 0 else 0 for k in range(17)]), same),
    71: (lambda r: {"x": floats(r, 5, 5, 3), "y": floats(r, 5, 5)}, lambda x, y: np.stack([x[..., k] * y for k in range(3)], -1), near),
    72: (lambda r: {"x": ints(r, 5, 5)}, lambda x: x[[1, 0, 2, 3, 4]], same),
    73: (lambda r: {"x": ints(r, 10, 3, high=20)}, segment_codes, same),
    74: (lambda r: {}, lambda: np.array([0, 0, 1, 3, 3, 3, 4]), same),
    75: (lambda r: {"x": floats(r, 20)}, lambda x: np.convolve(x, np.ones(3), "valid") / 3, rough),
    76: (lambda r: {"x": ints(r, 10)}, lambda x: np.array([x[k:k + 3] for k in range(8)]), same),
    77: (lambda r: {"x": signs(r, 9).astype(bool), "y": floats(r, 9)}, lambda x, y: [np.logical_not(x), np.negative(y)], same),
    78: (lambda r: {"x": floats(r, 10, 2), "y": floats(r, 10, 2), "z": floats(r, 2)}, distances, rough),
    79: (lambda r: {"x": floats(r, 6, 2), "y": floats(r, 6, 2), "z": floats(r, 4, 2)}, lambda x, y, z: np.array([distances(x, y, one) for one in z]), rough),
    80: (lambda r: {"x": ints(r, 10, 10)}, lambda x: np.array([[x[i, j] if i >= 0 and j >= 0 else 0 for j in range(-1, 4)] for i in range(-2, 3)]), same),
    81: (lambda r: {}, lambda: np.arange(11)[:, None] + np.arange(1, 5), same),
    83: (lambda r: {"x": ints(r, 50)}, lambda x: np.bincount(x).argmax(), same),
    84: (lambda r: {"x": ints(r, 10, 10)}, lambda x: np.array([[x[i:i + 3, j:j + 3] for j in range(8)] for i in range(8)]), same),
    86: (lambda r: {"x": floats(r, 4, 5, 5), "y": floats(r, 4, 5, 1)}, lambda x, y: np.sum([a @ b for a, b in zip(x, y)], axis=0), rough),
    87: (lambda r: {"x": ints(r, 16, 16)}, lambda x: np.add.reduceat(np.add.reduceat(x, range(0, 16, 4), 0), range(0, 16, 4), 1), same),
    88: (lambda r: {"x": signs(r, 9, 11)}, life, same),
    89: (lambda r: {"x": floats(r, 100)}, lambda x: np.array(sorted(x.tolist())[-5:]), same),
    90: (lambda r: {"x": ints(r, 3), "y": ints(r, 2), "z": ints(r, 2)}, lambda x, y, z: np.array([(a, b, c) for a in x for b in y for c in z]), same),
    92: (lambda r: {"x": floats(r, 50)}, lambda x: [np.power(x, 3)] * 3, rough),
    93: (lambda r: {"x": ints(r, 8, 3, high=5), "y": ints(r, 2, 2, high=5)}, lambda x, y: np.nonzero([all(set(row) & set(b) for b in y) for row in x])[0], same),
    94: (lambda r: {"x": ints(r, 10, 3, high=2)}, lambda x: np.nonzero([len(set(row)) > 1 for row in x])[0], same),
    95: (lambda r: {"x": ints(r, 8, high=256).astype("u1")}, lambda x: np.array([[int(c) for c in f"{v:08b}"] for v in x], "u1"), same),
    96: (lambda r: {"x": signs(r, 6, 3)}, lambda x: np.unique(np.unique(x, axis=0) @ [1, 2, 4]), same),
    97: (lambda r: {"x": floats(r, 6), "y": floats(r, 6)}, lambda x, y: [x.sum(), x * y, np.inner(x, y), np.outer(x, y)], rough),
    98: (lambda r: {"x": np.cumsum(floats(r, 30)), "y": np.cumsum(floats(r, 30))},
         lambda x, y: (lambda s: [np.interp(np.linspace(0, s[-1], 20), s, a) for a in (x, y)])(np.r_[0, np.cumsum(np.hypot(np.diff(x), np.diff(y)))]), rough),
    99: (lambda r: {"x": signs(r, 9, 4) * 1.0 + signs(r, 9, 4) * r.choice([0.0, 1.0, 0.5])}, lambda x: np.nonzero([float(v.sum()) == 4 and all(e.is_integer() for e in v.tolist()) for v in x])[0], same),
    100: (lambda r: {"x": floats(r, 100)}, lambda x: (x.mean(), x.std()), lambda got, right: got.shape == (2,) and got[0] < right[0] + 0.05 and got[1] > right[0] - 0.05 and 0 < got[1] - got[0] < right[1]),
}


def check(kiln, number, text, seed):
    rng = random.Random(seed * 1009 + number)
    make, way, alike = WAYS[number]
    arrays = make(rng)
    with np.errstate(all="ignore"):
        right = way(*arrays.values())
    rights = right if isinstance(right, list) else [right]
    results = kiln.results(text, arrays or {"unused": np.zeros(1)}, rng, len(rights))
    for one, wanted in zip(results, rights):
        assert alike(one, wanted), f"--seed {seed}: exercise {number}, {text}: {one} ({one.dtype} {one.shape}), not {wanted}; {arrays}"


def main():
    found = [(int(number), text) for number, text in LINE.findall(PAGE.read_text(encoding="utf-8"))]
    assert [number for number, _ in found] == sorted(WAYS), set(WAYS) ^ {number for number, _ in found}
    o = random_cases(len(found), 10, SEED % 100000)
    wanted = found if SOAK else found[o.first:o.first + o.count] if o.first else random.Random(o.seed).sample(found, min(o.count, len(found)))
    kiln = Names(o.library)
    in_threads(lambda one: check(kiln, *one, o.seed), wanted)
    print(f"{len(wanted)} of {len(found)} exercises, none wrong (--seed {o.seed})")


if __name__ == "__main__":
    main()
