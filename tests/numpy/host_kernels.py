"""Elementwise kernels over NumPy's own memory, by ctypes: what the tests of expressions share. bfloat16 is uint16 here."""
import argparse
import ctypes
import os
import queue
import sys
import threading

import numpy as np

from drawn import SEED, SOAK, drawn  # noqa: F401 (for those who import them from here)

os.environ.pop("LD_PRELOAD", None)  # the sanitizer's runtime is in this process; compilers need it not, and take twice as long with it
HOST = 1
NO_FMA = 2
INTEGERS = "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
FLOATS = "float16 float32 float64".split()


class ArraySpec(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("device", ctypes.c_int32), ("read_only", ctypes.c_bool)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("array", ctypes.c_void_p), ("rest", ctypes.c_char * 8), ("reserved", ctypes.c_uint64)]


class KernelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("preamble", ctypes.c_char_p), ("loop_prep", ctypes.c_char_p),
                ("after_loop", ctypes.c_char_p), ("options", ctypes.c_void_p), ("n_options", ctypes.c_int), ("header_names", ctypes.c_void_p),
                ("header_texts", ctypes.c_void_p), ("n_headers", ctypes.c_int)]


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.kiln_error_message.restype = ctypes.c_char_p
        self.c.kiln_error_log.restype = ctypes.c_char_p

    def check(self, status, what):
        if status:
            raise RuntimeError(f"{what}\n{self.c.kiln_error_message().decode()}\n{self.c.kiln_error_log().decode()}")

    def wrap(self, array, dtype, address=None, device=HOST):
        """An array that lies as one of NumPy's does; at another address, on another device."""
        number, out = ctypes.c_int(), ctypes.c_void_p()
        self.check(self.c.kiln_dtype_from_name(ctypes.byref(number), dtype.encode()), dtype)
        size = max(array.ndim, 1)
        spec = ArraySpec(ctypes.sizeof(ArraySpec), number.value, array.ndim, (ctypes.c_int64 * size)(*array.shape), (ctypes.c_int64 * size)(*array.strides),
                         device, False)
        self.check(self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(array.ctypes.data if address is None else address), ctypes.byref(spec), None, None), "wrap")
        return out

    def run(self, inputs, outputs, body, in_arrays, out_arrays, in_dtypes=None, out_dtypes=None):
        """One kernel, one call. inputs and outputs are lists of (dtype, name); dtypes say what a placeholder is."""
        kernel = ctypes.c_void_p()
        text = [", ".join(f"{dtype} {name}" for dtype, name in side).encode() for side in (inputs, outputs)]
        options = KernelOptions(ctypes.sizeof(KernelOptions), NO_FMA)
        self.check(self.c.kiln_elementwise_create(ctypes.byref(kernel), *text, body.encode(), b"expressions", ctypes.byref(options)), body)
        ins = [self.wrap(a, dtype) for a, dtype in zip(in_arrays, in_dtypes or [dtype for dtype, _ in inputs])]
        outs = [self.wrap(a, dtype) for a, dtype in zip(out_arrays, out_dtypes or [dtype for dtype, _ in outputs])]
        arguments = (Argument * max(len(ins), 1))(*[Argument(1, 0, a.value) for a in ins])
        status = self.c.kiln_kernel_call(kernel, (ctypes.c_void_p * len(outs))(*[a.value for a in outs]), len(outs), arguments, len(ins), None)
        try:
            self.check(status, body)
        finally:
            for a in ins + outs:
                self.c.kiln_array_free(a)
            self.c.kiln_kernel_free(kernel)


class Arrays(Library):
    """The library and its arrays on the device that is current: KILN_TARGET's."""
    def __init__(self, path):
        super().__init__(path)
        for name, kind in (("data", ctypes.c_void_p), ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                           ("ndim", ctypes.c_int), ("nbytes", ctypes.c_size_t), ("dtype", ctypes.c_int)):
            getattr(self.c, f"kiln_array_{name}").restype = kind
            getattr(self.c, f"kiln_array_{name}").argtypes = [ctypes.c_void_p]
        self.c.kiln_array_free.argtypes = [ctypes.c_void_p]
        self.c.kiln_array_to_host.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
        device = ctypes.c_int32()
        if self.c.kiln_device_current(ctypes.byref(device)):
            print(f"skipped: {self.c.kiln_error_message().decode()}")
            sys.exit(77)
        self.device = device.value

    def dtype_number(self, name):
        number = ctypes.c_int()
        self.check(self.c.kiln_dtype_from_name(ctypes.byref(number), name.encode()), name)
        return number.value

    def address(self, handle):
        return self.c.kiln_array_data(handle) or 0

    def upload(self, stored, dtype):
        out = ctypes.c_void_p()
        self.check(self.c.kiln_array_from_host(ctypes.byref(out), stored.ctypes.data_as(ctypes.c_void_p), self.dtype_number(dtype), 1,
                                               (ctypes.c_int64 * 1)(stored.size), self.device), "upload")
        return out


def bits(array, dtype=None):
    """Comparable bits: every NaN is one and the same."""
    array = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind == "c":
        array = array.view(f"f{array.dtype.itemsize // 2}")
    if dtype == "bfloat16":
        return np.where(array & 0x7fff > 0x7f80, np.uint16(0x7fc0), array)
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), array.dtype.type(np.nan), array)
    return array.view(f"u{array.dtype.itemsize}")


def near(got, right, units, dtypes=()):
    """The same shape and dtype, and so many units of it from each other, or of the coarsest of the dtypes that it is computed in."""
    right = np.asarray(right)
    if got.shape != right.shape or got.dtype != right.dtype:
        return False
    if right.dtype.kind not in "fc":
        return np.array_equal(got, right)
    step = units * max(np.finfo(d).eps for d in (right.dtype, *dtypes))
    return np.allclose(got, right, step, step, equal_nan=True)


def random_cases(soak, short, seed, *more):
    """The options of a test of random cases: so many in tools/soak, so many otherwise, with this seed; more: names and keywords of further arguments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    for name, words in more:
        parser.add_argument(name, **words)
    parser.add_argument("--count", type=int, default=soak if SOAK else short)
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--target", help="host, cuda:0, ...; default: KILN_TARGET")
    options = parser.parse_args()
    if options.target:
        os.environ["KILN_TARGET"] = options.target
    options.cases = range(options.first, options.first + options.count)
    return options


SMALL = ("--small", {"action": "store_true", "help": "few elements, for tools that are slow"})


def in_threads(work, items):
    """work(item) for each, as many at once as there are processors (a compile is another process); the first failure is raised."""
    todo, failures = queue.SimpleQueue(), []
    for item in items:
        todo.put(item)

    def loop():
        while not failures:
            try:
                work(todo.get_nowait())
            except queue.Empty:
                return
            except BaseException as failure:
                failures.append(failure)

    threads = [threading.Thread(target=loop) for _ in range(max(os.cpu_count() or 1, 2))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
