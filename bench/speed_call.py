"""A case of bench/speed_cases.py as a kernel of kiln over arrays, which it calls, prepares, times and explains; how its arrays lie."""
import ctypes

import numpy as np

import speed_peers
from host_kernels import HOST, Argument

KEEP = 1  # kiln_order: results that a call allocates lie as NumPy's do


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


class PrepareOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("target", ctypes.c_char_p)]


class Benchmark(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("device", ctypes.c_int32), ("calls", ctypes.c_int)] + [
        (n, ctypes.c_double) for n in ("cpu_median_us", "cpu_min_us", "device_median_us", "device_min_us")] + [
        ("batch", ctypes.c_int), ("bytes_read", ctypes.c_uint64), ("bytes_written", ctypes.c_uint64), ("bytes_per_second", ctypes.c_double)]


class BenchmarkOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("calls", ctypes.c_int), ("warm_up", ctypes.c_int)]


class Nothing:
    """A library whose kiln_kernel_call compares two addresses, which differ; its arguments are converted as those of `function`."""

    def __init__(self, function):
        self.kiln_kernel_call = ctypes.CDLL(None)["pthread_equal"]
        self.kiln_kernel_call.restype, self.kiln_kernel_call.argtypes = function.restype, function.argtypes


class Call:
    """`arrays`: NumPy's, which say how inputs lie; where they lie: `address(name, array)`, else as they do. `out`: an array for the result; None: the first
    call allocates it."""

    def __init__(self, kiln, case, arrays, out=None, address=None):
        self.kiln, self.c, self.kernel, self.keep, self.handles = kiln, kiln.c, ctypes.c_void_p(), (arrays, out), []
        names, own = list(arrays), case.get("own")
        self.options = CallOptions(ctypes.sizeof(CallOptions), order=KEEP)
        if not own:
            status = self.c.kiln_expression_create(ctypes.byref(self.kernel), ", ".join(names).encode(), case["text"].encode(), None)
        else:
            params = ", ".join(f"T {n}" for n in names).encode(), own["out"].encode()
            texts = [own[k].encode() for k in (["body"] if "body" in own else ["map", "reduce", "post", "identity"])]
            create = self.c.kiln_elementwise_create if "body" in own else self.c.kiln_reduction_create
            status = create(ctypes.byref(self.kernel), *params, *texts, b"own", None)
            if "axes" in own:
                self.axes = (ctypes.c_int * len(own["axes"]))(*own["axes"])
                self.options.axes, self.options.n_axes = self.axes, len(own["axes"])
        kiln.check(status, case["text"])
        device = HOST if address is None else kiln.device
        where = [a.ctypes.data if address is None else address(n, a) for n, a in arrays.items()]
        self.handles = [kiln.wrap(a, a.dtype.name, at, device) for a, at in zip(arrays.values(), where)]
        self.arguments = (Argument * len(arrays))(*[Argument(1, 0, h.value) for h in self.handles])
        self.outs = (ctypes.c_void_p * 1)(None if out is None else kiln.wrap(out, out.dtype.name).value)
        self.given = (self.kernel, self.outs, 1, self.arguments, len(self.arguments), ctypes.byref(self.options))

    def __call__(self):
        status = self.c.kiln_kernel_call(*self.given)
        if status:
            self.kiln.check(status, "call")

    def empty(self):
        """What Python and ctypes take for such a call, which C's callers do not pay: the same call of a function that does nothing, and says so by 0."""
        return Empty(self)

    def prepare(self, target):
        """Compiles for an architecture, with or without a device of it."""
        how = PrepareOptions(ctypes.sizeof(PrepareOptions), 0, target.encode())
        self.kiln.check(self.c.kiln_kernel_prepare(*self.given, ctypes.byref(how)), "prepare")

    def seconds(self, calls):
        """Of the device, for a call among others: the median of so many graphs of calls."""
        found, how = Benchmark(ctypes.sizeof(Benchmark)), BenchmarkOptions(ctypes.sizeof(BenchmarkOptions), calls, 0)
        self.kiln.check(self.c.kiln_kernel_benchmark(ctypes.byref(found), *self.given, ctypes.byref(how)), "benchmark")
        return found.device_median_us * 1e-6

    def plan(self, target=None):
        text = ctypes.c_void_p()
        self.kiln.check(self.c.kiln_kernel_explain(ctypes.byref(text), *self.given, target), "explain")
        words = ctypes.string_at(text).decode()
        ctypes.CDLL(None).free(text)
        return words

    def result(self):
        """Address, shape, strides in bytes and dtype of the result, as kiln has them."""
        h, ndim = self.outs[0], self.c.kiln_array_ndim(self.outs[0])
        shape, strides = (tuple(f(h)[:ndim]) for f in (self.c.kiln_array_shape, self.c.kiln_array_strides))
        self.c.kiln_dtype_name.restype = ctypes.c_char_p
        return self.kiln.address(h), shape, strides, np.dtype(self.c.kiln_dtype_name(self.c.kiln_array_dtype(h)).decode())

    def free(self):
        for h in [*self.handles, self.outs[0]]:
            self.c.kiln_array_free(h)
        self.c.kiln_kernel_free(self.kernel)


class Empty(Call):
    """The calls of another one, of a function that does nothing."""

    def __init__(self, call):
        self.kiln, self.c, self.given = call.kiln, Nothing(call.c.kiln_kernel_call), call.given


class Shadow:
    """How arrays of a case lie, without memory: NumPy's views of zeros that nobody touches."""

    def __init__(self, case):
        self.bases = {n: np.zeros(i["shape"], i["dtype"]) for n, i in case["inputs"].items()}
        self.arrays = speed_peers.viewed(case, self.bases, speed_peers.NUMPY)

    def address(self, name, view, base):
        """The view's, where the array behind it lies at `base`."""
        return base + view.ctypes.data - self.bases[name].ctypes.data


def prepare(kiln, cases, target):
    """A worker: kiln compiles for an architecture. What fails here is said where it is measured."""
    for case in cases:
        shadow = Shadow(case)
        try:
            call = Call(kiln, case, shadow.arrays)
            call.prepare(target)
            call.free()
        except RuntimeError:
            pass
