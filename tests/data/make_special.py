#!/usr/bin/env python3
"""Writes special.txt: special functions by mpmath, with 60 digits; where an argument or a value is no finite number, by scipy.

    python3 make_special.py > special.txt

    NAME X Y VALUE      Y is - for a function of one argument; X and Y are float16 numbers, so that each floating dtype has them
"""
import random

import mpmath as mp
import numpy as np
import scipy.special as sp

mp.mp.dps = 60
INF, NAN = float("inf"), float("nan")
ROOT = mp.sqrt(2)


def normal(x):
    return mp.erfc(-x / ROOT) / 2


def erfcinv(x):
    return mp.erfinv(1 - x) if x > mp.mpf("0.01") else mp.findroot(lambda t: mp.log(mp.erfc(t)) - mp.log(x), mp.sqrt(-mp.log(x)))


ONE = {
    "erf": mp.erf, "erfc": mp.erfc, "erfcx": lambda x: mp.exp(x * x) * mp.erfc(x), "erfinv": mp.erfinv, "erfcinv": lambda x: -erfcinv(2 - x) if x > 1 else erfcinv(x),
    "gamma": mp.gamma, "gammaln": lambda x: mp.log(abs(mp.gamma(x))), "digamma": mp.digamma, "expit": lambda x: 1 / (1 + mp.exp(-x)), "logit": lambda x: mp.log(x / (1 - x)),
    "log_expit": lambda x: -mp.log1p(mp.exp(-x)), "ndtr": normal, "ndtri": lambda x: ROOT * erfcinv(2 - 2 * x) if x > 0.5 else -ROOT * erfcinv(2 * x),
    "log_ndtr": lambda x: mp.log1p(-normal(-x)) if x > 0 else mp.log(normal(x)), "i0e": lambda x: mp.exp(-abs(x)) * mp.besseli(0, x), "i1": lambda x: mp.besseli(1, x),
    "i1e": lambda x: mp.exp(-abs(x)) * mp.besseli(1, x), "j0": lambda x: mp.besselj(0, x), "j1": lambda x: mp.besselj(1, x), "y0": lambda x: mp.bessely(0, x),
    "y1": lambda x: mp.bessely(1, x), "entr": lambda x: -x * mp.log(x)}
TWO = {
    "polygamma": lambda n, x: mp.psi(int(n), x), "zeta": lambda s, q: mp.zeta(s, q), "rel_entr": lambda x, y: x * mp.log(x / y), "kl_div": lambda x, y: x * mp.log(x / y) - x + y,
    "xlogy": lambda x, y: x * mp.log(y), "xlog1py": lambda x, y: x * mp.log1p(y)}
UNIT = {"erfinv": (-1, 1), "erfcinv": (0, 2), "logit": (0, 1), "ndtri": (0, 1)}
# Limits, where scipy has a NaN or another sign.
LIMITS = {("gammaln", -INF): INF, ("i1", INF): INF, ("i1", -INF): -INF, **{(name, x): 0.0 for name in ("j0", "j1") for x in (INF, -INF)}, ("y0", INF): 0.0, ("y1", INF): 0.0}
EDGES = [0.0, -0.0, 1.0, -1.0, 2.0, 0.5, -0.5, 0.25, 10.0, -2.0, -2.5, 1e-3, -1e-3, INF, -INF, NAN]


def half(x):
    return float(np.float16(x))


def value(name, function, *args):
    """By mpmath where all is finite, else scipy's."""
    with np.errstate(all="ignore"):
        edge = float(getattr(sp, name)(*args))
    if not np.all(np.isfinite(args)) or not np.isfinite(edge) or 0 in args:
        return repr(LIMITS.get((name, *args), edge))
    return mp.nstr(mp.mpf(function(*map(mp.mpf, args))), 25)


def main():
    rng = random.Random(32)
    for name, function in ONE.items():
        low, high = UNIT.get(name, (-30, 60))
        points = EDGES + [half(rng.uniform(low, high)) for _ in range(12)] + [half(rng.uniform(max(low, -4), min(high, 4))) for _ in range(20)]
        for x in points:
            print(name, repr(x), "-", value(name, function, x))
    for name, function in TWO.items():
        for _ in range(40):
            x, y = rng.choice(EDGES + [half(rng.uniform(-3, 20)) for _ in range(16)]), rng.choice(EDGES + [half(rng.uniform(-3, 20)) for _ in range(16)])
            if name == "polygamma":
                x = float(rng.choice([0, 1, 2, 3, 5]))
            print(name, repr(x), repr(y), value(name, function, x, y))


main()
