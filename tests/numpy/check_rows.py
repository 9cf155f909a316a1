"""Maps over rows whose last vector ends with the row, against NumPy: rows of any length, operands of several widths, views, and results that are stored over an
input, whose elements may not be read behind that; and channels that are read together, beside what lies otherwise. check_rows.py LIBRARY [--count N] [--seed S] [--first INDEX]"""
import random

import numpy as np

from drawn import SEED
from host_kernels import Arrays, random_cases

# A body, the dtypes of x, y and z, the same in NumPy.
BODIES = [("z = y ? x : (x + 1);", "float32 bool float32", lambda x, y: np.where(y, x, x + np.float32(1))),
          ("z = x * (float)y;", "float32 uint8 float32", lambda x, y: x * y.astype("float32")),
          ("z = x < y;", "float32 float32 bool", lambda x, y: x < y),
          ("z = x + y;", "uint8 uint8 uint8", lambda x, y: x + y),
          ("z = (short)(x - y);", "uint8 int16 int16", lambda x, y: (x - y).astype("int16")),
          ("z = (double)x * y;", "int8 float64 float64", lambda x, y: x * y)]
options = random_cases(600, 60, SEED)
kiln = Arrays(options.library)
for number in options.cases:
    rng, numbers = random.Random(f"{options.seed} {number}"), np.random.default_rng([options.seed, number])
    body, dtypes, right = BODIES[number % len(BODIES)]
    shape = rng.choice([1, 2, 5, 17]), rng.choice([rng.randrange(1, 70), rng.randrange(1, 300), rng.randrange(4000, 4200)])
    held = []
    for dtype in dtypes.split():
        width = shape[1] + rng.choice([0, 0, 1, 7])
        whole = (numbers.standard_normal((shape[0], width)) * 40).astype("int64" if "int" in dtype else "float64")
        whole = whole > 0 if dtype == "bool" else (whole & 127 if dtype == "uint8" else whole).astype(dtype)
        begin = rng.choice([0, width - shape[1]])
        held.append(whole[:, begin:begin + shape[1]])
    x, y, z = held
    if rng.random() < 0.2:
        y = np.broadcast_to(y[:1], shape)
    over = [a for a in (x, y) if a.dtype == z.dtype and a.strides[0] != 0]
    if over and rng.random() < 0.6:
        z = rng.choice(over)
    wanted = right(x, y)
    kiln.run([(dtypes.split()[0], "x"), (dtypes.split()[1], "y")], [(dtypes.split()[2], "z")], body, [x, y], [z])
    if not np.array_equal(z, wanted):
        raise SystemExit(f"case {number}: {body} {dtypes} {shape}, {'over an input' if z is x or z is y else 'apart'}: elements {np.argwhere(z != wanted)[:4].tolist()} are wrong")
channels = options.cases[::12]
for number in channels:
    rng, numbers = random.Random(f"{options.seed} channels {number}"), np.random.default_rng([options.seed, number, 1])
    count, step, dtype, shape = rng.randrange(2, 6), rng.randrange(1, 6), rng.choice(["uint8", "float32", "float64"]), (rng.choice([1, 9]), rng.randrange(32, 400))
    x = numbers.standard_normal((*shape, count)).astype("float32")
    y = numbers.integers(0, 100, (*shape, step)).astype(dtype)[..., rng.randrange(step)]
    y = rng.choice([y, np.broadcast_to(y[:1], shape), np.broadcast_to(y[:, :1], shape)])
    names, z = [f"x{k}" for k in range(count)], np.empty(shape, "float32")
    kiln.run([*[("float32", n) for n in names], (dtype, "y")], [("float32", "z")], f"z = ({' + '.join(names)}) * (float)y;", [*[x[..., k] for k in range(count)], y], [z])
    wanted = x[..., 0]
    for k in range(1, count):
        wanted = wanted + x[..., k]
    if not np.array_equal(z, wanted * y.astype("float32")):
        raise SystemExit(f"case {number}: {count} channels {shape}, {dtype} with strides {y.strides}: elements {np.argwhere(z != wanted * y)[:4].tolist()} are wrong")
print(f"{len(options.cases) + len(channels)} maps over rows are NumPy's")
