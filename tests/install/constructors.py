"""constructors.py LIBRARY HEADER: the constructors of arguments as other languages call them, by their names in the library; and a kernel called with
what they give. Each that the header defines is called."""
import ctypes
import os
import re
import struct
import sys

os.environ.pop("LD_PRELOAD", None)  # the sanitizer's runtime is in this process; compilers need it not


class Arg(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("value", ctypes.c_uint64 * 2), ("reserved", ctypes.c_uint64)]


c = ctypes.CDLL(sys.argv[1])
c.kiln_error_message.restype = ctypes.c_char_p
c.kiln_array_data.restype = ctypes.c_void_p
pair = (ctypes.c_char * 16)(*b"sixteen bytes ok")
half = struct.pack("<H", 0x3800)
# name: the types of the parameters, the arguments, and kind, dtype and value of what comes out
constructors = {
    "none": ([], [], 0, 0, b""),
    "array": ([ctypes.c_void_p], [0x1234567890], 1, 0, struct.pack("<Q", 0x1234567890)),
    "bool": ([ctypes.c_bool], [True], 2, 0, struct.pack("<q", 1)),
    "int": ([ctypes.c_int64], [-5], 3, 0, struct.pack("<q", -5)),
    "uint": ([ctypes.c_uint64], [2**64 - 1], 4, 0, struct.pack("<Q", 2**64 - 1)),
    "float": ([ctypes.c_double], [0.1], 5, 0, struct.pack("<d", 0.1)),
    "complex": ([ctypes.c_double] * 2, [1.5, -2.5], 6, 0, struct.pack("<2d", 1.5, -2.5)),
    "typed": ([ctypes.c_int, ctypes.c_char_p], [10, half], 7, 10, half),
    "truth": ([ctypes.c_bool], [True], 7, 1, b"\1"),
    "int8": ([ctypes.c_int8], [-8], 7, 2, struct.pack("<b", -8)),
    "int16": ([ctypes.c_int16], [-16], 7, 3, struct.pack("<h", -16)),
    "int32": ([ctypes.c_int32], [-32], 7, 4, struct.pack("<i", -32)),
    "int64": ([ctypes.c_int64], [-64], 7, 5, struct.pack("<q", -64)),
    "uint8": ([ctypes.c_uint8], [8], 7, 6, struct.pack("<B", 8)),
    "uint16": ([ctypes.c_uint16], [16], 7, 7, struct.pack("<H", 16)),
    "uint32": ([ctypes.c_uint32], [32], 7, 8, struct.pack("<I", 32)),
    "uint64": ([ctypes.c_uint64], [64], 7, 9, struct.pack("<Q", 64)),
    "float32": ([ctypes.c_float], [0.5], 7, 12, struct.pack("<f", 0.5)),
    "float64": ([ctypes.c_double], [0.25], 7, 13, struct.pack("<d", 0.25)),
    "struct": ([ctypes.c_void_p, ctypes.c_size_t], [ctypes.addressof(pair), 16], 8, 0, struct.pack("<2Q", ctypes.addressof(pair), 16)),
}
defined = re.findall(r"^KILN_PRIV_INLINE kiln_arg kiln_arg_(\w+)\(", open(sys.argv[2]).read(), re.M)
assert sorted(defined) == sorted(constructors), set(defined) ^ set(constructors)


def make(name, *values):
    function = c[f"kiln_arg_{name}"]
    function.argtypes, function.restype = constructors[name][0], Arg
    return function(*values)


assert ctypes.sizeof(Arg) == 32
for name, (_, values, kind, dtype, value) in constructors.items():
    got = make(name, *values)
    assert (got.kind, got.dtype, got.reserved) == (kind, dtype, 0), name
    assert bytes(got.value) == value.ljust(16, b"\0"), (name, bytes(got.value))
assert make("typed", 10, None).kind == 0  # nothing is read from NULL


def check(status):
    assert status == 0, c.kiln_error_message().decode()


HOST, FLOAT32 = 1, 12
x, y, kernel = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
c.kiln_array_linspace.argtypes = [ctypes.c_void_p, ctypes.c_double, ctypes.c_double, ctypes.c_int64, ctypes.c_int, ctypes.c_int]
check(c.kiln_array_linspace(ctypes.byref(x), 0, 3, 4, FLOAT32, HOST))
check(c.kiln_elementwise_create(ctypes.byref(kernel), b"T x, T a, int32 k", b"T y", b"y = a * x + k", b"line", None))
arguments = (Arg * 3)(make("array", x), make("float", 0.5), make("int32", 7))
check(c.kiln_kernel_call(kernel, ctypes.byref(y), 1, arguments, 3, None))
assert list((ctypes.c_float * 4).from_address(c.kiln_array_data(y))) == [7, 7.5, 8, 8.5]
for array in x, y:
    c.kiln_array_free(array)
c.kiln_kernel_free(kernel)
print(f"{len(constructors)} constructors, and a call")
