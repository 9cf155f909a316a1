"""Maps over rows whose last vector ends with the row, against NumPy: rows of any length, operands of several widths, views, and results that are stored over an
input, whose elements may not be read behind that. check_rows.py LIBRARY [--count N] [--seed S] [--first INDEX]"""
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
print(f"{len(options.cases)} maps over rows are NumPy's")
