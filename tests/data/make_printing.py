#!/usr/bin/env python3
"""Writes printing.txt: arrays and the text that numpy.array2string makes of them.

    python3 make_printing.py [SEED COUNT] > printing.txt

A case is one line "@ DTYPE SHAPE PRECISION THRESHOLD EDGE WIDTH DATA" and the text, each of its lines behind a "|". SHAPE is "-" for no axes, an
option 0 for its default, DATA the elements' bytes in hex (C order), or "count": 0, 1, 2, ...
"""
import random
import sys
import numpy as np

DTYPES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128").split()
SPECIALS = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 0.1, 1e-4, 9.9e-5, 1e8, 99999999.0, 1e16, 1e300, 5e-324, 2.0**-44, 2.0**-1022, 1 / 3,
            123456.789, 1e6, 999999.5, 1000.0, 999.5, 65504.0, 6e-8, 1.5, 2.5, 1e-10, 0.5, 1e22, 1e23, 9007199254740993.0, 2.0**89]


def emit(array, precision=0, threshold=0, edge=0, width=0, data=None):
    options = {"max_line_width": width, "precision": precision, "threshold": threshold}
    options = {k: v for k, v in options.items() if v}
    with np.errstate(all="ignore"), np.printoptions(edgeitems=edge or 3):
        text = np.array2string(array, **options)
    shape = ",".join(map(str, array.shape)) or "-"
    print("@", array.dtype.name, shape, precision, threshold, edge, width, data or np.ascontiguousarray(array).tobytes().hex() or "-")
    for line in text.split("\n"):
        print("|" + line)


def random_reals(rng, dtype, count):
    kind = rng.randrange(6)
    if kind == 0:
        values = [rng.choice(SPECIALS) for _ in range(count)]
    elif kind == 1:
        values = [round(rng.uniform(-10, 10), rng.randrange(4)) for _ in range(count)]
    elif kind == 2:
        values = [rng.uniform(-1, 1) * 10 ** rng.randrange(-6, 9) for _ in range(count)]
    elif kind == 3:
        values = [rng.gauss(0, 1) for _ in range(count)]
    elif kind == 4:
        values = [float(rng.randrange(-2000, 2000)) for _ in range(count)]
    else:  # any bits
        size = np.dtype(dtype).itemsize
        return np.frombuffer(rng.randbytes(size * count), dtype=dtype)
    with np.errstate(all="ignore"):
        return np.array(values).astype(dtype)


def random_array(rng):
    dtype = np.dtype(rng.choice(DTYPES))
    shape = tuple(rng.choice([0, 1, 2, 3, 4, 7, 13] if rng.random() < 0.1 else [1, 2, 3, 4, 5]) for _ in range(rng.choice([0, 1, 1, 1, 2, 2, 3])))
    count = int(np.prod(shape))
    if dtype.kind == "b":
        array = np.array([rng.random() < 0.5 for _ in range(count)], dtype=bool)
    elif dtype.kind in "iu":
        info = np.iinfo(dtype)
        limit = rng.choice([10, 1000, info.max])
        array = np.array([rng.randint(max(info.min, -limit), min(info.max, limit)) for _ in range(count)], dtype=dtype)
    elif dtype.kind == "f":
        array = random_reals(rng, dtype, count)
    else:
        part = np.dtype("f%d" % (dtype.itemsize // 2))
        array = np.zeros(count, dtype)
        array.real = random_reals(rng, part, count)
        array.imag = random_reals(rng, part, count)
    return array.reshape(shape)


def main():
    seed, count = (int(sys.argv[1]), int(sys.argv[2])) if len(sys.argv) > 2 else (1, 400)
    rng = random.Random(seed)
    print("# numpy.array2string of NumPy", np.__version__, "- made by make_printing.py")
    for dtype in ("float16", "float32", "float64"):
        for value in SPECIALS:
            with np.errstate(all="ignore"):
                emit(np.array(value).astype(dtype))
                emit(np.array([value, 1.0]).astype(dtype))
    for dtype in DTYPES:
        emit(np.zeros(3, dtype))
        emit(np.zeros((2, 0), dtype))
    for precision in (1, 2, 5):
        for value in (0.004, 0.005, 0.006, 0.0149, 0.015, 0.025, 0.995, 9.996, 99.96, 1e-3, 123.456):
            emit(np.array([value, 0.5]), precision)
    for shape in ((1001,), (2000,), (40, 50), (7, 200), (200, 7), (3, 20, 30), (10, 11, 12), (2, 2, 500), (1, 1, 1, 1001)):
        for dtype in ("int32", "float32", "complex64", "int64"):
            n = int(np.prod(shape))
            array = np.arange(n).astype(dtype).reshape(shape)
            emit(array, data="count")
            emit(array, edge=1, data="count")
            emit(array, edge=5, width=40, data="count")
    for width in (1, 5, 10, 11, 12, 40, 200):
        emit(np.arange(100, dtype="int16"), width=width, data="count")
        emit(np.arange(60).astype("float64").reshape(3, 20), width=width, data="count")
    for threshold in (1, 5, 6):
        emit(np.arange(6, dtype="uint8"), threshold=threshold, edge=1, data="count")
        emit(np.arange(6, dtype="uint8"), threshold=threshold, edge=3, data="count")
    for _ in range(count):
        width = rng.choice([0, 0, 0, 20, 40])
        emit(random_array(rng), rng.choice([0, 0, 0, 1, 3, 6, 12, 17]), 0, 0, width)


main()
