#!/usr/bin/env python3
"""DLPack with PyTorch and CuPy on a GPU, both ways: the same memory, the right order of work, lifetimes.

    interop.py path/to/libkiln.so

Exit code 77, with a note, where there is no CUDA device or neither library.
"""
import ctypes
import gc
import sys
import unittest

NO_STREAM = -(2**63)
CUDA_0 = 16
FLOAT32 = 12
DTYPES = {"bool": 1, "int8": 2, "int16": 3, "int32": 4, "int64": 5, "uint8": 6, "float16": 10, "bfloat16": 11, "float32": 12, "float64": 13,
          "complex64": 14, "complex128": 15}

api = ctypes.pythonapi
api.PyCapsule_New.restype, api.PyCapsule_New.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
api.PyCapsule_GetPointer.restype, api.PyCapsule_GetPointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
api.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}  # kept alive: capsules hold the pointers
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}


class Arg(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("value", ctypes.c_uint64 * 2), ("reserved", ctypes.c_uint64)]


class MemoryStats(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "struct_size used held peak limit".split()] + [("allocations", ctypes.c_uint64)] + \
        [("device_allocations", ctypes.c_uint64)]


class Kiln:
    """The few functions that are used here; arrays are numbers."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        for name, result in (("kiln_error_message", ctypes.c_char_p), ("kiln_device_why_no_cuda", ctypes.c_char_p), ("kiln_array_data", ctypes.c_void_p),
                             ("kiln_array_nbytes", ctypes.c_size_t), ("kiln_stream_set_current", ctypes.c_void_p), ("kiln_array_free", None),
                             ("kiln_array_strides", ctypes.POINTER(ctypes.c_int64)), ("kiln_stream_free", None), ("kiln_kernel_free", None)):
            getattr(self.c, name).restype = result

    def check(self, status):
        if status:
            raise RuntimeError(self.c.kiln_error_message().decode())

    def made(self, function, *args):
        out = ctypes.c_void_p()
        self.check(getattr(self.c, function)(ctypes.byref(out), *args))
        return out

    def devices(self):
        count = ctypes.c_int()
        self.check(self.c.kiln_device_count(ctypes.byref(count)))
        return count.value

    def arange(self, n, dtype=FLOAT32):
        return self.made("kiln_array_arange", ctypes.c_double(0), ctypes.c_double(n), ctypes.c_double(1), dtype, CUDA_0)

    def kernel(self, inputs, outputs, body):
        return self.made("kiln_elementwise_create", inputs, outputs, body, b"interop", None)

    def call(self, kernel, out, *arrays):
        args = (Arg * len(arrays))(*(Arg(1, 0, (a.value, 0), 0) for a in arrays))
        outs = (ctypes.c_void_p * 1)(out)
        self.check(self.c.kiln_kernel_call(kernel, outs, 1, args, len(arrays), None))
        return ctypes.c_void_p(outs[0])

    def data(self, a):
        return self.c.kiln_array_data(a)

    def free(self, a):
        self.c.kiln_array_free(a)

    def used_bytes(self):
        stats = MemoryStats(ctypes.sizeof(MemoryStats))
        self.check(self.c.kiln_memory_get_stats(CUDA_0, ctypes.byref(stats)))
        return stats.used

    def stream_number(self):
        number = ctypes.c_int64()
        self.check(self.c.kiln_dlpack_stream(ctypes.byref(number), CUDA_0))
        return number.value

    def consume(self, producer, versioned):
        """An array over a producer's memory, ordered for kiln's current stream; None where the producer has no such form."""
        keywords = {"max_version": (1, 0)} if versioned else {}
        try:
            capsule = producer.__dlpack__(stream=self.stream_number(), **keywords)
        except TypeError:
            return None
        name = api.PyCapsule_GetName(capsule)
        is_versioned = name == NAMES[True]
        a = self.made("kiln_array_from_dlpack", ctypes.c_void_p(api.PyCapsule_GetPointer(capsule, NAMES[is_versioned])), ctypes.c_bool(is_versioned))
        api.PyCapsule_SetName(capsule, USED[is_versioned])
        return a


class Exported:
    """A kiln array as from_dlpack wants it."""

    def __init__(self, a, versioned=False):
        self.a, self.versioned = a, versioned

    def __dlpack_device__(self):
        kind, ordinal = ctypes.c_int32(), ctypes.c_int32()
        kiln.check(kiln.c.kiln_array_dlpack_device(ctypes.byref(kind), ctypes.byref(ordinal), self.a))
        return kind.value, ordinal.value

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        versioned = self.versioned and max_version is not None and max_version[0] >= 1
        managed = kiln.made("kiln_array_to_dlpack", self.a, ctypes.c_bool(versioned), ctypes.c_int64(NO_STREAM if stream is None else stream))
        return api.PyCapsule_New(managed, NAMES[versioned], None)


class Torch:
    """What the tests need of a library."""

    def __init__(self):
        import torch
        self.torch = torch
        self.name = "PyTorch " + torch.__version__
        torch.zeros(1, device="cuda:0")

    dtypes = "bool int8 int16 int32 int64 uint8 float16 bfloat16 float32 float64 complex64 complex128".split()

    def consume(self, producer):
        return self.torch.from_dlpack(producer)

    def pointer(self, x):
        return x.data_ptr()

    def arange(self, n, dtype="float32"):
        t = self.torch
        return (t.arange(n, device="cuda:0") % 2 if dtype == "bool" else t.arange(n, device="cuda:0")).to(getattr(t, dtype))

    def values(self, x):
        return (x.to(self.torch.float32) if x.dtype == self.torch.bfloat16 else x).cpu().tolist()

    def strides(self, x):
        return [s * x.element_size() for s in x.stride()]

    def used_bytes(self):
        return self.torch.cuda.memory_allocated(0)

    def synchronize(self):
        self.torch.cuda.synchronize()

    def in_stream(self):
        self.side = self.torch.cuda.Stream()
        return self.torch.cuda.stream(self.side)

    def keep_busy(self):
        self.torch.cuda._sleep(200_000_000)

    def add_one(self, x):
        x += 1


class CuPy:
    def __init__(self):
        import cupy
        self.cupy = cupy
        self.name = "CuPy " + cupy.__version__
        self.sleeper = cupy.RawKernel("extern \"C\" __global__ void nap(long long n) { long long end = clock64() + n; while (clock64() < end); }", "nap")
        cupy.zeros(1)

    dtypes = "bool int8 int16 int32 int64 uint8 float16 float32 float64 complex64 complex128".split()

    def consume(self, producer):
        return self.cupy.from_dlpack(producer)

    def pointer(self, x):
        return x.data.ptr

    def arange(self, n, dtype="float32"):
        return (self.cupy.arange(n) % 2 if dtype == "bool" else self.cupy.arange(n)).astype(dtype)

    def values(self, x):
        return x.get().tolist()

    def strides(self, x):
        return list(x.strides)

    def used_bytes(self):
        return self.cupy.get_default_memory_pool().used_bytes()

    def synchronize(self):
        self.cupy.cuda.Device().synchronize()

    def in_stream(self):
        self.side = self.cupy.cuda.Stream(non_blocking=True)
        return self.side

    def keep_busy(self):
        self.sleeper((1,), (1,), (self.cupy.int64(200_000_000),))

    def add_one(self, x):
        x += 1


class Interop:
    """Run once for each library."""

    library = None

    def assert_values(self, x, expected):
        self.library.synchronize()
        self.assertEqual(self.library.values(x), expected)

    def test_kiln_arrays_go_there(self):
        for versioned in (False, True):
            a = kiln.arange(1000)
            x = self.library.consume(Exported(a, versioned))
            self.assertEqual(self.library.pointer(x), kiln.data(a))
            self.library.add_one(x)
            self.library.synchronize()
            double = kiln.kernel(b"T x", b"T y", b"y = x * 2")
            kiln.call(double, a.value, a)  # the same memory
            kiln.check(kiln.c.kiln_device_synchronize(CUDA_0))
            self.assert_values(x, [2.0 * (k + 1) for k in range(1000)])
            kiln.free(a)
            kiln.c.kiln_kernel_free(double)

    def test_views_keep_their_strides(self):
        flat = kiln.arange(24)
        cube = kiln.made("kiln_array_reshape", flat, 3, (ctypes.c_int64 * 3)(2, 3, 4))
        view = kiln.made("kiln_array_index", cube, b"1, :, 1::2")
        x = self.library.consume(Exported(view))
        self.assertEqual(self.library.pointer(x), kiln.data(view))
        self.assertEqual(self.library.strides(x), [16, 8])
        for a in (flat, cube, view):
            kiln.free(a)
        self.assert_values(x, [[13, 15], [17, 19], [21, 23]])

    def test_their_arrays_come_here(self):
        double = kiln.kernel(b"T x", b"T y", b"y = x * 2")
        for versioned in (False, True):
            x = self.library.arange(1000)
            a = kiln.consume(x, versioned)
            if a is None:
                continue
            self.assertEqual(self.library.pointer(x), kiln.data(a))
            kiln.call(double, a.value, a)
            kiln.check(kiln.c.kiln_stream_synchronize(None))
            self.assert_values(x, [2.0 * k for k in range(1000)])
            kiln.free(a)
        kiln.c.kiln_kernel_free(double)

    def test_every_dtype_both_ways(self):
        for dtype in self.library.dtypes:
            x = self.library.arange(7, dtype)
            a = kiln.consume(x, False)
            self.assertEqual(kiln.c.kiln_array_dtype(a), DTYPES[dtype], dtype)
            y = self.library.consume(Exported(a))
            self.assertEqual(self.library.pointer(x), self.library.pointer(y), dtype)
            self.assertEqual(x.dtype, y.dtype)
            self.assert_values(y, self.library.values(x))
            kiln.free(a)

    def test_our_memory_lives_as_long_as_theirs_uses_it(self):
        gc.collect()
        before = kiln.used_bytes()
        a = kiln.arange(1 << 20)
        x = self.library.consume(Exported(a))
        kiln.free(a)
        self.assertGreaterEqual(kiln.used_bytes() - before, 4 << 20)
        half = x[: 1 << 19]
        del x
        gc.collect()
        self.assertGreaterEqual(kiln.used_bytes() - before, 4 << 20)
        self.assertEqual(float(half[-1]), (1 << 19) - 1)
        del half
        gc.collect()
        self.assertEqual(kiln.used_bytes(), before)

    def test_their_memory_lives_as_long_as_ours_uses_it(self):
        gc.collect()
        before = self.library.used_bytes()
        x = self.library.arange(1 << 20)
        a = kiln.consume(x, False)
        view = kiln.made("kiln_array_index", a, b"::-1")
        del x
        kiln.free(a)
        gc.collect()
        self.assertGreaterEqual(self.library.used_bytes() - before, 4 << 20)
        last = ctypes.c_float()
        one = kiln.made("kiln_array_index", view, b":1")
        kiln.check(kiln.c.kiln_array_to_host(one, ctypes.byref(last), ctypes.c_size_t(4)))
        self.assertEqual(last.value, (1 << 20) - 1)
        kiln.free(one)
        kiln.free(view)
        gc.collect()
        self.assertEqual(self.library.used_bytes(), before)

    def test_our_stream_waits_for_theirs(self):
        stream = kiln.made("kiln_stream_create", CUDA_0, 1)
        plus = kiln.kernel(b"T x", b"T y", b"y = x + 1")
        warm = kiln.arange(10)
        kiln.free(kiln.call(plus, None, warm))
        x = self.library.arange(1 << 20)
        self.library.add_one(x)
        self.library.synchronize()
        before = kiln.c.kiln_stream_set_current(stream)
        with self.library.in_stream():
            self.library.keep_busy()
            self.library.add_one(x)
            a = kiln.consume(x, False)  # asks for the data to be ready for our stream
        y = kiln.call(plus, None, a)
        last = ctypes.c_float()
        one = kiln.made("kiln_array_index", y, b"-1:")
        kiln.check(kiln.c.kiln_array_to_host(one, ctypes.byref(last), ctypes.c_size_t(4)))
        self.assertEqual(last.value, (1 << 20) + 2)
        kiln.c.kiln_stream_set_current(ctypes.c_void_p(before))
        self.library.synchronize()
        for array in (a, y, one, warm):
            kiln.free(array)
        kiln.c.kiln_stream_free(stream)
        kiln.c.kiln_kernel_free(plus)

    def test_their_stream_waits_for_ours(self):
        stream = kiln.made("kiln_stream_create", CUDA_0, 1)
        slow = kiln.kernel(b"float32 x", b"float32 y",
                           b"long long end = clock64() + 200000000; while (clock64() < end) {} y = x + 1")
        a = kiln.arange(1000)
        kiln.free(kiln.call(slow, None, a))
        kiln.check(kiln.c.kiln_device_synchronize(CUDA_0))
        before = kiln.c.kiln_stream_set_current(stream)
        kiln.call(slow, a.value, a)
        with self.library.in_stream():
            x = self.library.consume(Exported(a))
            self.library.add_one(x)
            self.library.side.synchronize()
        self.assert_values(x, [float(k + 2) for k in range(1000)])
        kiln.c.kiln_stream_set_current(ctypes.c_void_p(before))
        kiln.free(a)
        kiln.c.kiln_stream_free(stream)
        kiln.c.kiln_kernel_free(slow)


def libraries():
    for kind in (Torch, CuPy):
        try:
            yield kind()
        except Exception as e:  # not installed, or not for this device
            print(f"{kind.__name__} is left out: {type(e).__name__}: {e}")


def main():
    if not kiln.devices():
        print("no CUDA device:", kiln.c.kiln_device_why_no_cuda().decode())
        return 77
    suite = unittest.TestSuite()
    for library in libraries():
        print("with", library.name)
        case = type(type(library).__name__, (Interop, unittest.TestCase), {"library": library})
        suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(case))
    if not suite.countTestCases():
        print("neither PyTorch nor CuPy is here")
        return 77
    return 0 if unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful() else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    kiln = Kiln(sys.argv[1])
    sys.exit(main())
