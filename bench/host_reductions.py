#!/usr/bin/env python3
"""Reductions by name on the host beside NumPy: bench/host_reductions.py LIBRARY [--threads N] [--clock cpu|wall] > table.md

Each row calls kiln and NumPy in turn, 25 times, and shows the least time of each: of the process's CPU (one thread; a busy machine does not matter) or by the
clock. With --apart all calls of kiln come before those of NumPy, with a pause between them: OpenBLAS's threads watch for the next product for some 30 ms after
each, without giving their processors away, and kiln's have none meanwhile. Small arrays are called so often that a time is some milliseconds. Every result is compared with NumPy's."""
import argparse
import ctypes
import os
import pathlib
import sys
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--clock", choices=("cpu", "wall"), default="cpu")
parser.add_argument("--apart", action="store_true")
parser.add_argument("--shapes", default="64x1024,1000x1000,1024x1024,4096x4096")
parser.add_argument("--operations", default="sum,norm_2,argmax,argmin")
parser.add_argument("--dtypes", default="float32,int32,float64")
options = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "KILN_NUM_THREADS"):
    os.environ[name] = str(options.threads)
os.environ["KILN_TARGET"] = "host"
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numpy as np  # noqa: E402

from check_operations import Operations  # noqa: E402
from fuzz_reductions import CallOptions  # noqa: E402
from host_kernels import Argument  # noqa: E402

ROUNDS, LEAST_ELEMENTS, PAUSE = 25, 2_000_000, 0.1  # the last in seconds
NUMPY = {"sum": np.sum, "argmax": np.argmax, "argmin": np.argmin, "max": np.max, "min": np.min,
         "norm_2": lambda x, axis: np.linalg.norm(x.ravel() if axis is None else x, axis=axis)}
clock = time.process_time if options.clock == "cpu" else time.perf_counter
kiln = Operations(options.library)


def measure(functions, times):
    best = [float("inf")] * len(functions)
    turns = [k for _ in range(ROUNDS) for k in range(len(functions))]
    for turn, k in enumerate(sorted(turns) if options.apart else turns):
        if options.apart and turn % ROUNDS == 0:
            time.sleep(PAUSE)
            functions[k]()
        start = clock()
        for _ in range(times):
            functions[k]()
        best[k] = min(best[k], (clock() - start) / times)
    return best


def row(name, dtype, shape, axis):
    values = np.random.default_rng(1).standard_normal(shape) * (1 if dtype.startswith("float") else 1000)
    x = values.astype(dtype)
    handle = kiln.wrap(x, dtype)
    arguments = (Argument * 1)(Argument(1, 0, handle.value))
    call = CallOptions(ctypes.sizeof(CallOptions), 0)
    if axis is not None:
        call.axes, call.n_axes = (ctypes.c_int * 1)(axis), 1

    def operate():
        out = (ctypes.c_void_p * 1)(None)
        kiln.check(kiln.c.kiln_operation_call(out, 1, name.encode(), arguments, 1, ctypes.byref(call)), name)
        kiln.c.kiln_array_free(ctypes.c_void_p(out[0]))

    def reference():
        return NUMPY[name](x, axis=axis)

    got, wanted = kiln.operate(name, [x], "all" if axis is None else [axis]), reference()
    assert np.array_equal(got, wanted) if name.startswith("arg") else np.allclose(got, wanted, rtol=1e-4, atol=abs(values).sum() * 1e-7), (name, dtype, axis)
    ours, theirs = measure((operate, reference), max(1, LEAST_ELEMENTS // x.size))
    kiln.c.kiln_array_free(handle)
    along = {None: "all", 0: "first", 1: "last"}[axis]
    print(f"| {name} | {dtype} | {shape[0]} x {shape[1]} | {along} | {ours * 1e6:.1f} | {theirs * 1e6:.1f} | {theirs / ours:.2f} |", flush=True)


print("| operation | dtype | shape | axis | kiln us | NumPy us | NumPy / kiln |\n| --- | --- | --- | --- | ---: | ---: | ---: |")
for operation in options.operations.split(","):
    for kind in options.dtypes.split(","):
        for text in options.shapes.split(","):
            for reduced in (None, 1, 0):
                row(operation, kind, tuple(int(n) for n in text.split("x")), reduced)
