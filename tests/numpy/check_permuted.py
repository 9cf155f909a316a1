"""permuted_index(key, i, n), and what is made of it: against NumPy's arithmetic, element by element; each is a permutation; over many keys orders of a few things, and places of
some elements of more, are as likely; of many things no pattern of neighbours. check_permuted.py LIBRARY [--count N] [--seed S] [--first INDEX] [--target TARGET]"""
import math
import random

import numpy as np

from check_random import Random
from host_kernels import in_threads, random_cases
from random_words import permuted

def deviations(counts, expected=None):
    """Chi-square of counts, in its own deviations."""
    counts = counts.astype(float).ravel()
    expected = np.full(counts.size, counts.mean()) if expected is None else expected.ravel()
    return (((counts - expected) ** 2 / expected).sum() - (counts.size - 1)) / math.sqrt(2 * (counts.size - 1))


def check_values(kiln, seed):
    """Elements by NumPy's arithmetic, of a drawn size; all of them are a permutation; places that are none stay."""
    rng = random.Random(seed)
    key = rng.getrandbits(64)
    n = rng.choice([rng.randrange(1, 66), rng.randrange(66, 1100), rng.randrange(1100, 100000), rng.randrange(2, 317) ** 2 + rng.randrange(-1, 2), 2 ** rng.randrange(7, 17)])
    right = permuted(key, np.arange(n), n)
    got = kiln.evaluate(f"permutation({key}, {n})", "int64", (n,))
    assert np.array_equal(got, right), f"permutation({key}, {n})"
    assert np.array_equal(np.bincount(got, minlength=n), np.ones(n)), f"permutation({key}, {n}) is none"
    size = rng.randrange(n + 1)
    assert np.array_equal(kiln.evaluate(f"sample({key}, arange({n}) * 2, {size})", "int64", (size,)), right[:size] * 2), f"sample({key}, arange({n}), {size})"
    assert np.array_equal(kiln.evaluate(f"permuted_index({key}, arange(-3, 0), {n})", "int64", (3,)), [-3, -2, -1])
    assert np.array_equal(kiln.evaluate(f"permuted_index({key}, {n} + arange(3), {n})", "int64", (3,)), n + np.arange(3))
    n = rng.choice([rng.randrange(2 ** 31, 2 ** 33), rng.randrange(2 ** 33, 2 ** 50), 2 ** 62])
    first = rng.choice([0, rng.randrange(n - 100), n - 100])
    got, right = kiln.evaluate(f"permuted_index({key}, {first} + arange(100), {n})", "int64", (100,)), permuted(key, np.arange(100, dtype=np.uint64) + np.uint64(first), n)
    assert np.array_equal(got, right), f"permuted_index({key}, {first} + ..., {n})"


def check_orders(kiln, seed):
    """Over many keys: the orders of three to five things, and of the first four of more."""
    rng = random.Random(seed)
    n, keys, first = rng.choice([3, 4, 5, 65, 70, 100, 300, 1000]), 100000, rng.getrandbits(60)
    few = min(n, 4)
    at = [0, 1, n // 2, n - 1][:few] if n > 5 else list(range(few))
    places = np.stack([kiln.evaluate(f"permuted_index(arange({first}, {first + keys}, dtype=uint64), {place}, {n})", "int64", (keys,)) for place in at])
    number = (np.argsort(places, 0) * (few ** np.arange(few))[:, None]).sum(0)
    counts = np.unique(number, return_counts=True)[1]
    assert counts.size == math.factorial(few) and deviations(counts) < 6, f"orders of {n}, keys from {first} on: {deviations(counts)}"
    for place, row in zip(at, places):
        assert deviations(np.bincount(row, minlength=n)) < 6, f"place {place} of {n}, keys from {first} on"
    apart = (places[1] - places[0]) % n
    assert n < 6 or deviations(np.bincount(apart, minlength=n)[1:]) < 6, f"neighbours of {n}, keys from {first} on"


def check_patterns(kiln, seed):
    """Of many things: where they are, by where they were; what neighbours, and those that lie a row apart, have between them; triples; last bits; rises; fixed ones."""
    rng = random.Random(seed)
    n, key = rng.randrange(2 ** 16, 2 ** 18), rng.choice([0, 1, rng.getrandbits(64)])
    v = kiln.evaluate(f"permutation({key}, {n})", "int64", (n,))
    found = {"places": deviations(np.bincount(np.arange(n) * 128 // n * 128 + v * 128 // n, minlength=128 ** 2))}
    for apart in (1, 2, 64, math.isqrt(n - 1) + 1, n // 2):
        found[f"{apart} apart"] = deviations(np.bincount((v[apart:] - v[:-apart]) % n * 500 // n, minlength=500))
    triples = (v * 12 // n)[:n // 3 * 3].reshape(-1, 3)
    found["triples"] = deviations(np.bincount(triples @ [144, 12, 1], minlength=12 ** 3))
    found["last bits"] = deviations(np.bincount(v[1:] % 32 * 32 + v[:-1] % 32, minlength=1024))
    found["rises"] = (np.count_nonzero(v[1:] > v[:-1]) - (n - 1) / 2) / math.sqrt((n + 1) / 12)
    found["fixed"] = np.count_nonzero(v == np.arange(n)) - 8
    assert max(abs(x) if name != "fixed" else x for name, x in found.items()) < 6, f"permutation({key}, {n}): {found}"


def main():
    o = random_cases(400, 2, 24)
    kiln = Random(o.library)
    work = [lambda seed=o.seed + case, check=check: check(kiln, seed) for case in o.cases for check in (check_values, check_orders, check_patterns)]
    in_threads(lambda check: check(), work)
    print(f"permutations: {len(work)} checks")


if __name__ == "__main__":
    main()
