"""Round trips of .npy files and of memory (DLPack) between kiln and the NumPy that is installed.

    python3 numpy_exchange.py LIBRARY
"""
import ctypes
import os
import random
import sys
import tempfile
import unittest

import numpy as np

try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None

DTYPES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
SHAPES = [(), (0,), (1,), (5,), (2, 3), (3, 1, 4), (2, 0, 3), (1,) * 20, (2, 3, 4, 5)]
HOST = 1
NO_STREAM = -(2**63)
capsule_new = ctypes.pythonapi.PyCapsule_New
capsule_new.restype, capsule_new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
capsule_pointer.restype, capsule_pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule_rename = ctypes.pythonapi.PyCapsule_SetName
capsule_rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
USED = {True: b"used_dltensor_versioned", False: b"used_dltensor"}  # kept alive: capsules hold the pointer
NAMES = {True: b"dltensor_versioned", False: b"dltensor"}


class MemoryStats(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "struct_size used held peak limit".split()] + [("allocations", ctypes.c_uint64)] + \
        [("device_allocations", ctypes.c_uint64)]


class Kiln:
    """The few functions that are used here."""

    def __init__(self, path):
        self.c = ctypes.CDLL(path)
        self.c.kiln_error_message.restype = ctypes.c_char_p
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        self.c.kiln_array_data.restype = ctypes.c_void_p
        self.c.kiln_array_nbytes.restype = ctypes.c_size_t
        self.c.kiln_array_shape.restype = ctypes.POINTER(ctypes.c_int64)
        self.c.kiln_array_is_f_contiguous.restype = ctypes.c_bool
        self.c.kiln_array_is_read_only.restype = ctypes.c_bool

    def check(self, status):
        if status:
            raise RuntimeError(self.c.kiln_error_message().decode())

    def load(self, path):
        a = ctypes.c_void_p()
        self.check(self.c.kiln_array_load_npy(ctypes.byref(a), os.fsencode(path), HOST))
        return a

    def save(self, a, path):
        self.check(self.c.kiln_array_save_npy(a, os.fsencode(path)))

    def free(self, a):
        self.c.kiln_array_free(a)

    def used_bytes(self):
        stats = MemoryStats(ctypes.sizeof(MemoryStats))
        self.check(self.c.kiln_memory_get_stats(HOST, ctypes.byref(stats)))
        return stats.used

    def to_numpy(self, a):
        """A copy, by way of C order."""
        dtype = self.c.kiln_dtype_name(self.c.kiln_array_dtype(a)).decode()
        shape = tuple(self.c.kiln_array_shape(a)[k] for k in range(self.c.kiln_array_ndim(a)))
        out = np.zeros(shape, "uint16" if dtype == "bfloat16" else dtype)
        self.check(self.c.kiln_array_to_host(a, out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(out.nbytes)))
        return out.view(ml_dtypes.bfloat16) if dtype == "bfloat16" and ml_dtypes else out


class Exported:
    """A kiln array as NumPy's from_dlpack wants it."""

    def __init__(self, kiln, a, versioned):
        self.kiln, self.a, self.versioned = kiln, a, versioned

    def __dlpack_device__(self):
        kind, ordinal = ctypes.c_int32(), ctypes.c_int32()
        self.kiln.check(self.kiln.c.kiln_array_dlpack_device(ctypes.byref(kind), ctypes.byref(ordinal), self.a))
        return kind.value, ordinal.value

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        managed = ctypes.c_void_p()
        number = ctypes.c_int64(NO_STREAM if stream is None else stream)
        self.kiln.check(self.kiln.c.kiln_array_to_dlpack(ctypes.byref(managed), self.a, ctypes.c_bool(self.versioned), number))
        return capsule_new(managed, NAMES[self.versioned], None)


def sample(dtype, shape, order):
    rng = np.random.default_rng(7)
    bytes_ = rng.integers(0, 256, int(np.prod(shape)) * np.dtype(dtype).itemsize, dtype=np.uint8)
    array = (bytes_ & 1).astype(bool) if dtype == "bool" else bytes_.view(dtype)
    return np.asarray(array.reshape(shape), order=order)


class NpyFiles(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "a.npy")

    def tearDown(self):
        self.folder.cleanup()

    def read(self):
        with open(self.path, "rb") as f:
            return f.read()

    def round_trip(self, array):
        before = self.read()
        a = kiln.load(self.path)
        np.testing.assert_array_equal(kiln.to_numpy(a).view("u1") if array.ndim else kiln.to_numpy(a).tobytes(),
                                      np.ascontiguousarray(array).view("u1") if array.ndim else array.tobytes())
        self.assertEqual(kiln.to_numpy(a).shape, array.shape)
        kiln.save(a, self.path)
        kiln.free(a)
        return before

    def test_every_dtype_shape_and_order(self):
        for dtype in DTYPES:
            for shape in SHAPES:
                for order in "CF":
                    array = sample(dtype, shape, order)
                    np.save(self.path, array)
                    before = self.round_trip(array)
                    self.assertEqual(self.read(), before, (dtype, shape, order))  # byte for byte what NumPy wrote
                    back = np.load(self.path)
                    self.assertEqual((back.dtype, back.shape, back.tobytes()), (array.dtype, array.shape, array.tobytes()))

    def test_newer_versions(self):
        for version in ((1, 0), (2, 0), (3, 0)):
            array = sample("float32", (2, 3), "F")
            with open(self.path, "wb") as f:
                np.lib.format.write_array(f, array, version)
            self.round_trip(array)
            self.assertEqual(np.load(self.path).tobytes(), array.tobytes())

    @unittest.skipUnless(ml_dtypes, "ml_dtypes is not installed")
    def test_bfloat16_as_ml_dtypes_has_it(self):
        array = np.array([1, -2.5, 1e30]).astype(ml_dtypes.bfloat16)
        np.save(self.path, array)
        before = self.round_trip(array)
        self.assertEqual(self.read(), before)
        self.assertEqual(np.load(self.path).view(ml_dtypes.bfloat16).tolist(), array.tolist())

    def test_big_endian_files(self):
        for dtype in (">i2", ">u8", ">f2", ">f4", ">f8", ">c8", ">c16"):
            for order in "CF":
                array = np.asarray(np.arange(6).reshape(2, 3) * 1.5, order=order).astype(dtype)
                np.save(self.path, array)
                a = kiln.load(self.path)
                kiln.save(a, self.path)
                self.assertTrue(np.array_equal(np.load(self.path), array))
                self.assertEqual(np.load(self.path).dtype, array.dtype.newbyteorder("<"))

    def test_what_kiln_cannot_hold(self):
        for array, word in ((np.array([None, 1]), "Python objects"), (np.zeros(2, [("a", "f4")]), "structured"), (np.array(["text"]), "unknown dtype"),
                            (np.zeros(2, "M8[s]"), "unknown dtype"), (np.zeros(2, np.longdouble), "unknown dtype")):
            np.save(self.path, array, allow_pickle=True)
            with self.assertRaisesRegex(RuntimeError, word):
                kiln.load(self.path)


class Memory(unittest.TestCase):
    def make(self, array):
        """A kiln array of its own storage."""
        a, shape = ctypes.c_void_p(), (ctypes.c_int64 * max(array.ndim, 1))(*array.shape)
        dtype = ctypes.c_int()
        kiln.check(kiln.c.kiln_dtype_from_name(ctypes.byref(dtype), array.dtype.name.encode()))
        data = np.ascontiguousarray(array)
        kiln.check(kiln.c.kiln_array_from_host(ctypes.byref(a), data.ctypes.data_as(ctypes.c_void_p), dtype, array.ndim, shape, HOST))
        return a

    def test_to_numpy_without_a_copy(self):
        for versioned in (False, True):
            for dtype in DTYPES:
                before = kiln.used_bytes()
                array = sample(dtype, (3, 4), "C")
                a = self.make(array)
                shared = np.from_dlpack(Exported(kiln, a, versioned))
                self.assertEqual(shared.ctypes.data, kiln.c.kiln_array_data(a))
                self.assertEqual((shared.dtype, shared.tobytes()), (array.dtype, array.tobytes()))
                kiln.free(a)
                self.assertEqual(shared.tobytes(), array.tobytes())  # NumPy's reference keeps the memory
                self.assertGreater(kiln.used_bytes(), before)
                del shared
                self.assertEqual(kiln.used_bytes(), before)

    def test_views_to_numpy(self):
        array = np.arange(24, dtype="int32").reshape(4, 6)
        a, view = self.make(array), ctypes.c_void_p()
        kiln.check(kiln.c.kiln_array_index(ctypes.byref(view), a, b"::-2, 1::3"))
        np.testing.assert_array_equal(np.from_dlpack(Exported(kiln, view, True)), array[::-2, 1::3])
        kiln.free(view)
        kiln.free(a)

    def consume(self, array, versioned):
        capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
        a = ctypes.c_void_p()
        kiln.check(kiln.c.kiln_array_from_dlpack(ctypes.byref(a), ctypes.c_void_p(capsule_pointer(capsule, NAMES[versioned])), ctypes.c_bool(versioned)))
        capsule_rename(capsule, USED[versioned])
        return a

    def test_from_numpy_without_a_copy(self):
        forms = (False, True) if np.lib.NumpyVersion(np.__version__) >= "2.1.0" else (False,)
        for versioned in forms:
            for dtype in DTYPES:
                array = sample(dtype, (3, 4), "F")[::-1, 1::2]
                references = sys.getrefcount(array)
                a = self.consume(array, versioned)
                self.assertEqual(kiln.c.kiln_array_data(a), array.ctypes.data)
                self.assertEqual(kiln.to_numpy(a).tobytes(), array.tobytes())
                self.assertGreater(sys.getrefcount(array), references)
                kiln.free(a)
                self.assertEqual(sys.getrefcount(array), references)

    def test_read_only(self):
        array = np.arange(3)
        array.flags.writeable = False
        if np.lib.NumpyVersion(np.__version__) < "2.1.0":
            self.skipTest("NumPy before 2.1 has no versioned DLPack")
        a = self.consume(array, True)
        self.assertTrue(kiln.c.kiln_array_is_read_only(a))
        back = np.from_dlpack(Exported(kiln, a, True))
        self.assertFalse(back.flags.writeable)
        kiln.free(a)


class Ranges(unittest.TestCase):
    RANGES = [(0, 10, 1), (5, -3, -2), (0, 1, 0.1), (-2.5, 7.25, 0.37), (1e6, 1e6 + 3, 0.25), (0, 0.5, 0.1), (3, 3, 1), (250, 256, 1), (100, -128, -3),
              (0, 3000, 1), (2**53, 2**53 + 64, 2), (0, 60000, 7), (1.5, 9, 1), (-7.9, 8, 2.6), (0, 2, 1), (1, 3, 1), (0.5, 2, 1), (1, -1, -1), (5, 3, -1),
              (0, 1, 0.5), (0, 1.5, 0.5), (-1, 1, 1), (0, 1, 1), (0, 0, 1), (-0.5, 0.5, 0.5)]
    ENDS = [-(2**63), -(2**63) + 1, -(2**53) - 1, -(2**53), -(2**53) + 1, -(2**31), -129, -128, -1, 0, 1, 2, 127, 128, 255, 256, 2**31, 2**53 - 1, 2**53, 2**53 + 1,
            2**62, 2**63 - 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1]

    def arange(self, start, stop, step, dtype):
        a, number = ctypes.c_void_p(), ctypes.c_int()
        kiln.check(kiln.c.kiln_dtype_from_name(ctypes.byref(number), dtype.encode()))
        kiln.check(kiln.c.kiln_array_arange(ctypes.byref(a), ctypes.c_double(start), ctypes.c_double(stop), ctypes.c_double(step), number, HOST))
        got = kiln.to_numpy(a)
        kiln.free(a)
        return got

    def fits(self, start, stop, step, dtype):
        if np.dtype(dtype).kind in "biu" and max(abs(start), abs(stop)) >= 2**53:
            return False
        if np.dtype(dtype).kind not in "iu":
            return True
        info, last = np.iinfo(dtype), start + step * max(int(np.ceil((stop - start) / step)) - 1, 0)
        return info.min <= min(start, last, start + step) and max(start, last, start + step) <= info.max

    def test_as_numpy_counts(self):
        compared = 0
        for start, stop, step in self.RANGES:
            for dtype in DTYPES:
                if not self.fits(start, stop, step, dtype):
                    continue
                try:
                    with np.errstate(all="ignore"):
                        wanted = np.arange(start, stop, step, dtype=dtype)
                except TypeError:  # more than two bools
                    self.assertRaisesRegex(RuntimeError, "bool has 2 elements at most", self.arange, start, stop, step, dtype)
                    continue
                got = self.arange(start, stop, step, dtype)
                np.testing.assert_array_equal(got, wanted, f"{start} {stop} {step} {dtype}")
                compared += 1
        self.assertGreater(compared, 150)

    def integers(self, kind, start, stop, step, dtype):
        a, number = ctypes.c_void_p(), ctypes.c_int()
        kiln.check(kiln.c.kiln_dtype_from_name(ctypes.byref(number), dtype.encode()))
        end = ctypes.c_int64 if kind == "int" else ctypes.c_uint64
        kiln.check(getattr(kiln.c, "kiln_array_arange_" + kind)(ctypes.byref(a), end(start), end(stop), ctypes.c_int64(step), number, HOST))
        got = kiln.to_numpy(a)
        kiln.free(a)
        return got

    def test_integers_to_the_last_bit(self):
        """Python's own ranges are the reference: NumPy counts elements in doubles."""
        rng, kept, refused = random.Random(1), 0, 0
        for _ in range(4000):
            kind, dtype = rng.choice(("int", "uint")), rng.choice([d for d in DTYPES if np.dtype(d).kind in "biu"])
            low, high = (-(2**63), 2**63 - 1) if kind == "int" else (0, 2**64 - 1)
            start, stop = (min(max(rng.choice(self.ENDS) + rng.choice([0, 0, 1, -1, 5, -5]), low), high) for _ in range(2))
            if rng.random() < 0.4:
                stop = min(max(start + rng.randrange(-40, 40), low), high)
            length = rng.choice([1, 1, 2, 3, 7, 50])
            step = min(max((stop - start) // length + rng.choice([-1, 0, 0, 1]), -(2**63)), 2**63 - 1) or 1
            wanted = range(start, stop, step)
            if len(wanted) > 1000:
                continue
            info = np.iinfo(dtype) if dtype != "bool" else None
            words = f"{kind} {start} {stop} {step} {dtype}"
            if len(wanted) > 2 if info is None else len(wanted) and not info.min <= min(wanted) <= max(wanted) <= info.max:
                self.assertRaisesRegex(RuntimeError, "does not fit " + dtype if info else "bool has 2", self.integers, kind, start, stop, step, dtype)
                refused += 1
                continue
            np.testing.assert_array_equal(self.integers(kind, start, stop, step, dtype), np.array(list(wanted), dtype=dtype), words)
            kept += 1
        self.assertGreater(min(kept, refused), 1000)

    def test_doubles_that_may_stand_for_several_integers(self):
        for dtype in [d for d in DTYPES if np.dtype(d).kind in "biu"]:
            for start, stop, step in ((2**53, 2**53 + 4, 1), (0, 2**53, 2**52), (0, -(2**53), -(2**51)), (0, 5, 2**53), (2.0**70, 2.0**70, 1)):
                self.assertRaisesRegex(RuntimeError, "start .*, stop .* and step .* were given for .*arange_int and _uint", self.arange, start, stop, step, dtype)
        ends = (-(2**53) + 2, 2**53 - 1, 6004799503160660)  # stop - start is no double: rounded, it would give 3 elements
        np.testing.assert_array_equal(self.arange(*ends, "int64"), list(range(*ends)))

    def test_floating_ranges_of_integers(self):
        for dtype in ("float16", "float32", "float64", "complex64", "complex128"):
            for start, stop, step in ((0, 10, 1), (5, -3, -2), (-1000, 3000, 7), (2**24, 2**24 + 9, 3)):
                with np.errstate(all="ignore"):
                    np.testing.assert_array_equal(self.integers("int", start, stop, step, dtype), np.arange(start, stop, step, dtype=dtype))
            self.assertRaisesRegex(RuntimeError, dtype + " does not hold every whole number from 2\\^53", self.integers, "int", 2**53, 2**53 + 3, 1, dtype)


if __name__ == "__main__":
    kiln = Kiln(sys.argv.pop(1))
    unittest.main(verbosity=2)
