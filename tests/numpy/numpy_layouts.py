"""Layouts against the NumPy that is installed: views, copies, and the outputs that calls allocate, over random arrays. Shapes, strides, addresses and
refusals have to be NumPy's; what is different on purpose is named where it is left out.

    python3 numpy_layouts.py LIBRARY
"""
import ctypes
import os
import random
import sys
import unittest

import numpy as np

from numpy_exchange import DTYPES, HOST, Kiln

LAYOUTS = 30000 if os.environ.get("KILN_SOAK") else 1500
NONE = -(2**63)
ALL_AXES = -(2**31)
Status = ctypes.c_int


class Spec(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("device", ctypes.c_int32), ("read_only", ctypes.c_bool)]


class Arg(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("value", ctypes.c_uint64 * 2), ("reserved", ctypes.c_uint64)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int)]


class Layouts(Kiln):
    def __init__(self, path):
        super().__init__(path)
        self.c.kiln_array_strides.restype = ctypes.POINTER(ctypes.c_int64)
        self.c.kiln_array_is_c_contiguous.restype = ctypes.c_bool

    def dtype(self, name):
        number = ctypes.c_int()
        self.check(self.c.kiln_dtype_from_name(ctypes.byref(number), name.encode()))
        return number

    def wrap(self, array):
        """NumPy's memory as a kiln array."""
        a = ctypes.c_void_p()
        spec = Spec(ctypes.sizeof(Spec), self.dtype(array.dtype.name), array.ndim, extents(array.shape), extents(array.strides), HOST, not array.flags.writeable)
        self.check(self.c.kiln_array_wrap(ctypes.byref(a), ctypes.c_void_p(array.ctypes.data), ctypes.byref(spec), None, None))
        return a

    def shape(self, a):
        return tuple(self.c.kiln_array_shape(a)[k] for k in range(self.c.kiln_array_ndim(a)))

    def strides(self, a):
        return tuple(self.c.kiln_array_strides(a)[k] for k in range(self.c.kiln_array_ndim(a)))

    def call(self, function, a, *args):
        """A function of the array API: the result, or None where it is refused."""
        out = ctypes.c_void_p()
        return out if getattr(self.c, function)(ctypes.byref(out), a, *args) == 0 else None


def extents(values):
    return (ctypes.c_int64 * max(len(values), 1))(*values)


def random_shape(rng, most=5):
    return tuple(rng.choice([0, 1, 1, 2, 3, 4, 5] if rng.random() < 0.15 else [1, 2, 3, 4]) for _ in range(rng.randrange(most + 1)))


def strange(rng, array):
    """A view of it with its axes in any order, some of them turned round, thinned out, repeated, or of one element."""
    array = array.transpose(rng.sample(range(array.ndim), array.ndim))
    index = []
    for extent in array.shape:
        kind = rng.randrange(12)
        step = rng.choice([-3, -2, -1, 2, 3])
        index.append(slice(None, None, -1) if kind in (0, 1) else slice(None, None, step) if kind == 2 else slice(0, 1) if kind == 3 else
                     slice(extent // 2, None) if kind == 4 else slice(None))
    array = array[(*index, ...)]
    if array.ndim and rng.random() < 0.2:
        axis = rng.randrange(array.ndim)
        array = np.broadcast_to(array[(slice(None),) * axis + (slice(0, 1),)], array.shape)
    if rng.random() < 0.2 and array.ndim < 6:
        axis = rng.randrange(array.ndim + 1)
        array = array[(slice(None),) * axis + (None,)]
    return array


def random_array(rng, shape, dtype):
    """Of that shape, with any strides."""
    grown = tuple(n * rng.choice([1, 1, 1, 2]) + rng.choice([0, 0, 1]) for n in shape)
    base = np.arange(int(np.prod(grown, dtype=np.int64))).astype(dtype).reshape(grown, order=rng.choice("CCF"))
    order = rng.sample(range(len(shape)), len(shape)) if rng.random() < 0.6 else list(range(len(shape)))
    base = np.ascontiguousarray(base.transpose(order)).transpose(np.argsort(order)) if shape else base
    base = base[(*(slice(0, n) if rng.random() < 0.7 or n == 0 else slice(g - n, g) for n, g in zip(shape, grown)), ...)]
    return strange(rng, base) if rng.random() < 0.7 else base


# ---- views ----

def numpy_or_none(function, *args):
    """What NumPy makes of it, or None where it refuses."""
    try:
        return function(*args)
    except (ValueError, IndexError, TypeError, np.exceptions.AxisError):
        return None


def random_index(rng, ndim):
    """The text of an index, with mistakes now and then."""
    items = []
    for _ in range(rng.randrange(ndim + 2)):
        kind = rng.randrange(10)
        number = lambda: rng.choice(["", "", str(rng.randrange(-6, 7))])
        items.append(str(rng.randrange(-4, 4)) if kind < 3 else "None" if kind == 3 else "..." if kind == 4 else
                     f"{number()}:{number()}" + rng.choice(["", ":", ":-1", ":2", ":-3", ":7"]))
    return ", ".join(items)


def random_new_shape(rng, size):
    """Extents whose product is size, often; one of them may be -1."""
    shape, left = [], size
    for _ in range(rng.randrange(5)):
        divisors = [d for d in range(1, left + 1) if left % d == 0] if left else [0, 1, 2, 3]
        shape.append(rng.choice(divisors))
        left = left // shape[-1] if shape[-1] else 0
    shape.append(left if size else rng.choice([0, 0, 0, 1]))
    rng.shuffle(shape)
    shape = [n for n in shape if n != 1 or rng.random() < 0.6]
    if shape and rng.random() < 0.3:
        shape[rng.randrange(len(shape))] = -1
    if shape and rng.random() < 0.05:
        shape[rng.randrange(len(shape))] = rng.choice([7, -1])  # NumPy takes -2 for -1; kiln does not
    return tuple(shape)


def ints(values):
    return (ctypes.c_int * max(len(values), 1))(*values)


def slice_of(array, axis, start, stop, step):
    return array[(slice(None),) * range(array.ndim)[axis] + (slice(*(None if n == NONE else n for n in (start, stop, step))),)]


def select_of(array, axis, index):
    return array[(slice(None),) * range(array.ndim)[axis] + (index, ...)]


def random_bound(rng):
    return rng.choice([NONE, NONE, rng.randrange(-6, 7), rng.choice([-(2**63) + 1, 2**63 - 1])])


def operation(rng, array):
    """One of the view functions: its name, the arguments it gets, and what NumPy makes of the same."""
    ndim, axis = array.ndim, rng.randrange(-6, 7) if rng.random() < 0.2 else rng.randrange(-max(array.ndim, 1), max(array.ndim, 1))
    long, whole = ctypes.c_int64, ctypes.c_int
    kind = rng.randrange(12)
    if kind < 3:
        text = random_index(rng, ndim)
        return "index", (text.encode(),), lambda: eval(f"a[{text or '()'}]", {"a": array}), text
    if kind == 3:
        start, stop, step = random_bound(rng), random_bound(rng), rng.choice([NONE, 1, 2, 3, -1, -2, 9, -9, 0])
        return "slice", (whole(axis), long(start), long(stop), long(step)), lambda: slice_of(array, axis, start, stop, step), (axis, start, stop, step)
    if kind == 4:
        index = rng.randrange(-5, 5)
        return "select", (whole(axis), long(index)), lambda: select_of(array, axis, index), (axis, index)
    if kind == 5:
        axes = None if rng.random() < 0.2 else [rng.choice([k, k, k - ndim]) for k in rng.sample(range(ndim), ndim)]
        if axes and rng.random() < 0.1:
            axes[0] = rng.choice([axes[-1], ndim, -ndim - 1])
        return "transpose", (ints(axes) if axes is not None else None,), lambda: array.transpose(axes), axes
    if kind < 9:
        shape = random_new_shape(rng, array.size)
        return "reshape", (whole(len(shape)), extents(shape)), lambda: array.reshape(shape), shape
    if kind == 9:
        shape = tuple(rng.choice([n, n, n, 3]) if n == 1 else n if rng.random() < 0.95 else n + 1 for n in array.shape)
        shape = (rng.choice([0, 1, 2]),) * rng.randrange(3) + shape if rng.random() < 0.9 else shape[1:]
        return "broadcast_to", (whole(len(shape)), extents(shape)), lambda: np.broadcast_to(array, shape), shape
    if kind == 10:
        return "expand_dims", (whole(axis),), lambda: np.expand_dims(array, axis), axis
    axis = rng.choice([axis, axis, ALL_AXES])
    ones = [k for k in range(ndim) if array.shape[k] == 1]
    axis = rng.choice(ones) - rng.choice([0, ndim]) if ones and rng.random() < 0.6 else axis
    return "squeeze", (whole(axis),), lambda: np.squeeze(array, None if axis == ALL_AXES else axis), axis


class Views(unittest.TestCase):
    def compare(self, array, name, given, a, out, wanted):
        words = f"{name} {given} of shape {array.shape}, strides {array.strides}"
        if wanted is None or out is None:
            self.assertEqual((wanted is None, out is None), (True, True), words + f": {kiln.c.kiln_error_message()}")
            return
        wanted = np.asarray(wanted)
        self.assertEqual((kiln.shape(out), kiln.strides(out)), (wanted.shape, wanted.strides), words)
        is_view = wanted.size > 0 and np.may_share_memory(wanted, array)
        if wanted.size:
            self.assertEqual(np.array_equal(kiln.to_numpy(out), wanted), True, words)
        if is_view:
            self.assertEqual(kiln.c.kiln_array_data(out), wanted.ctypes.data, words)
            self.assertEqual(kiln.c.kiln_array_is_read_only(out), not wanted.flags.writeable, words)
        if name == "slice" and wanted.size == 0:  # an empty slice begins where its array does, and never beyond its memory
            self.assertEqual(kiln.c.kiln_array_data(out), array.ctypes.data, words)
        self.assertEqual(kiln.c.kiln_array_is_c_contiguous(out), wanted.flags.c_contiguous, words)
        self.assertEqual(kiln.c.kiln_array_is_f_contiguous(out), wanted.flags.f_contiguous, words)
        kiln.free(out)

    def test_as_numpy_views(self):
        rng, seen = random.Random(3), {}
        for _ in range(LAYOUTS):
            array = random_array(rng, random_shape(rng), "int32")
            name, args, reference, given = operation(rng, array)
            wanted = numpy_or_none(reference)
            if name in ("index", "select") and wanted is not None and np.ndim(wanted) == 0:
                wanted = numpy_or_none(lambda: eval(f"a[{given}{', ' if given else ''}...]", {"a": array})) if name == "index" and "..." not in given else wanted
            a = kiln.wrap(array)
            out = kiln.call("kiln_array_" + name, a, *args)
            self.compare(array, name, given, a, out, wanted)
            kiln.free(a)
            seen[name, wanted is None] = seen.get((name, wanted is None), 0) + 1
        for name in "index slice select transpose reshape broadcast_to expand_dims squeeze".split():
            self.assertGreater(seen[name, False], 15)
            self.assertGreater(seen[name, True], 0)

    def test_copies(self):
        rng = random.Random(4)
        for _ in range(LAYOUTS // 10):
            array = random_array(rng, random_shape(rng), "int32")
            a = kiln.wrap(array)
            for function, reference in (("kiln_array_copy", array.copy("C")), ("kiln_array_contiguous", np.asarray(array, order="C"))):
                out = kiln.call(function, a)
                self.assertEqual((kiln.shape(out), kiln.strides(out)), (reference.shape, reference.strides), f"{function} {array.shape} {array.strides}")
                np.testing.assert_array_equal(kiln.to_numpy(out), reference)
                kiln.free(out)
            kiln.free(a)

    def test_new_arrays(self):
        rng = random.Random(5)
        for _ in range(LAYOUTS // 10):
            shape, dtype = random_shape(rng), rng.choice(DTYPES)
            wanted, a = np.empty(shape, dtype), ctypes.c_void_p()
            for name in ("empty", "zeros", "ones"):
                kiln.check(getattr(kiln.c, "kiln_array_" + name)(ctypes.byref(a), kiln.dtype(dtype), len(shape), extents(shape), HOST))
                self.assertEqual((kiln.shape(a), kiln.strides(a)), (wanted.shape, wanted.strides), f"{name} {shape} {dtype}")
                kiln.free(a)


# ---- outputs of calls ----

def broadcast_relative(rng, shape):
    """A shape that broadcasts to it."""
    shape = tuple(1 if rng.random() < 0.2 else n for n in shape)
    return shape[rng.randrange(len(shape) + 1):] if rng.random() < 0.25 else shape


class Outputs(unittest.TestCase):
    REFERENCES = {1: np.positive, 2: np.add, 3: np._core.umath.clip if hasattr(np, "_core") else np.core.umath.clip}

    def setUp(self):
        self.kernels = {}

    def tearDown(self):
        for kernel in self.kernels.values():
            kiln.c.kiln_kernel_free(kernel)

    def kernel(self, dtypes, results):
        if (dtypes, results) not in self.kernels:
            kernel, ins = ctypes.c_void_p(), ", ".join(f"{d} x{k}" for k, d in enumerate(dtypes))
            outs = ", ".join(f"{d} z{k}" for k, d in enumerate(results))
            body = ";".join(f"z{k} = " + " + ".join(f"x{k}" for k in range(len(dtypes))) for k in range(len(results)))
            kiln.check(kiln.c.kiln_elementwise_create(ctypes.byref(kernel), ins.encode(), outs.encode(), body.encode(), b"keep", None))
            self.kernels[dtypes, results] = kernel
        return self.kernels[dtypes, results]

    def call(self, inputs, outs, results):
        """The outputs: those that are given, and those that the call allocates in the inputs' order."""
        arrays = [kiln.wrap(array) for array in inputs]
        args = (Arg * len(arrays))(*[Arg(1, 0, (a.value, 0)) for a in arrays])
        z = (ctypes.c_void_p * len(outs))(*[kiln.wrap(o) if o is not None else None for o in outs])
        options = CallOptions(ctypes.sizeof(CallOptions), 0, 1)
        kernel = self.kernel(tuple(i.dtype.name for i in inputs), results)
        kiln.check(kiln.c.kiln_kernel_call(kernel, z, len(outs), args, len(arrays), ctypes.byref(options)))
        for a in arrays:
            kiln.free(a)
        return [ctypes.c_void_p(a) for a in z]

    def inputs(self, rng, count):
        shape = random_shape(rng)
        mixed = rng.random() < 0.3 and count < 3
        dtypes = [rng.choice(["float64", "float32"]) if mixed else "float64" for _ in range(count)]
        return [random_array(rng, broadcast_relative(rng, shape) if k else shape, dtypes[k]) for k in range(count)]

    def test_order_keep_is_numpys(self):
        rng, compared = random.Random(1), 0
        while compared < LAYOUTS:
            inputs = self.inputs(rng, rng.choice([1, 2, 2, 3]))
            wanted = numpy_or_none(lambda: self.REFERENCES[len(inputs)](*inputs, order="K"))
            if wanted is None:
                continue  # a turned or thinned axis does not broadcast any more
            wanted = np.asarray(wanted)
            z, = self.call(inputs, [None], (wanted.dtype.name,))
            words = [(i.shape, i.strides, i.dtype.name) for i in inputs]
            self.assertEqual((kiln.shape(z), kiln.strides(z)), (wanted.shape, wanted.strides), words)
            np.testing.assert_array_equal(kiln.to_numpy(z), sum(inputs[1:], inputs[0]) + np.zeros(wanted.shape))
            kiln.free(z)
            compared += 1

    def test_order_keep_beside_a_given_output(self):
        rng, compared = random.Random(2), 0
        while compared < LAYOUTS // 10:
            inputs = self.inputs(rng, 2)
            shape = numpy_or_none(lambda: np.broadcast_shapes(inputs[0].shape, inputs[1].shape))
            if shape is None or inputs[0].dtype != inputs[1].dtype:
                continue
            given = random_array(rng, shape, inputs[0].dtype.name)
            if given.shape != shape or not given.flags.writeable:
                continue
            for outs in ((given, None), (None, given), (None, None)):
                with np.errstate(all="ignore"):
                    wanted = np.divmod(*inputs, out=outs, order="K")
                z = self.call(inputs, outs, (given.dtype.name,) * 2)
                for k in range(2):
                    if outs[k] is None:
                        self.assertEqual((kiln.shape(z[k]), kiln.strides(z[k])), (np.shape(wanted[k]), np.asarray(wanted[k]).strides),
                                         [(i.shape, i.strides) for i in (*inputs, given)])
                    kiln.free(z[k])
            compared += 1


if __name__ == "__main__":
    kiln = Layouts(sys.argv.pop(1))
    unittest.main(verbosity=2)
