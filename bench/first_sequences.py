#!/usr/bin/env python3
"""The first result of a scan, a selection and a sort whose operator, predicate or key nobody has compiled before: bench/first_sequences.py LIBRARY [--count N] [--elements N] [--rows NAME,NAME] [--no-peers]

Milliseconds from the definition to the result in the host's memory, the compiler being loaded: least and median of N definitions, each with a number of its own in its text and its name. Results are
compared with NumPy's. Between two definitions the best form of the one before is waited for, which is compiled in the background. "first": the first definition of its row, on a machine that has
compiled nothing: a bundle (KILN_BUNDLE_PATH) has the steps that do without the user's texts. "best alone": the same with KILN_FORMS=best.
"alone": NVRTC on a selection written by hand for one layout. CuPy: an elementwise kernel of the same text, and its own selection or sort of what that gives. CUB: NVRTC on a block's scan,
selection or sort of CUB, with the user's text in it, by CuPy, which brings CUB's headers."""
import argparse
import ctypes
import os
import pathlib
import statistics
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("library")
parser.add_argument("--count", type=int, default=9)
parser.add_argument("--elements", type=int, default=1 << 20)
parser.add_argument("--rows", default="select,scan,affine,sort,argsort")
parser.add_argument("--no-peers", action="store_true")
options = parser.parse_args()
os.environ.setdefault("KILN_TARGET", "cuda:0")
os.environ["KILN_FORMS"] = "both"
os.environ["CUPY_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["KILN_CACHE_DIR"] = tempfile.mkdtemp()
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests/numpy"))
import numpy as np  # noqa: E402

from host_kernels import Argument, Arrays, KernelOptions  # noqa: E402

BOTH, BEST = 1, 2  # kiln_forms
cupy = None
if not options.no_peers:
    try:
        import cupy
    except ImportError:
        print("# no CuPy", file=sys.stderr)
kiln = Arrays(options.library)
numbers = np.random.default_rng(31).standard_normal(options.elements).astype(np.float32)
whole = np.random.default_rng(32).integers(-1000, 1000, options.elements, dtype=np.int32)


class ScanOptions(KernelOptions):
    _fields_ = [("reduce_type", ctypes.c_char_p), ("kernels", ctypes.c_void_p), ("n_kernels", ctypes.c_int)]


class SortKey(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("type", ctypes.c_char_p), ("flags", ctypes.c_uint)]


def scan(kernel, k):
    return kiln.c.kiln_scan_create(kernel, b"int32 x", b"int32 y", b"x + %d" % k, b"a > b ? a : b", b"y = a", None, b"running_%d" % k, None)


def affine(kernel, k):
    given = ScanOptions(struct_size=ctypes.sizeof(ScanOptions), preamble=b"struct map { float m, c; };", reduce_type=b"map")
    return kiln.c.kiln_scan_create(kernel, b"float32 x", b"float32 y", b"map{0.5f, x + %d}" % k, b"map{a.m * b.m, a.c * b.m + b.c}", b"y = a.c", None, b"balance_%d" % k, ctypes.byref(given))


def select(kernel, k):
    return kiln.c.kiln_select_create(kernel, b"float32 x", b"float32 y", b"x * 3 > 0.%03d" % k, b"y = x", b"chosen_%d" % k, None)


def sort(kernel, k):
    key = SortKey(b"abs(x - %d)" % k, None, 0)
    return kiln.c.kiln_sort_create(kernel, b"float32 x", b"float32 y", ctypes.byref(key), 1, b"y = x", b"by_distance_%d" % k, None)


def argsort(kernel, k):
    key = SortKey(b"abs(x - %d)" % k, None, 0)
    return kiln.c.kiln_sort_create(kernel, b"float32 x", b"int64 at", ctypes.byref(key), 1, b"at = i", b"by_distance_%d" % k, None)


def is_right(make, k, out):
    order = np.argsort(np.abs(numbers - np.float32(k)), kind="stable") if make in (sort, argsort) else None
    if make is affine:
        expected = np.zeros(1000)
        for n in range(1000):
            expected[n] = (expected[n - 1] if n else 0) * 0.5 + float(numbers[n]) + k
        return np.allclose(out[0][:1000], expected, rtol=1e-4)
    expected = {scan: lambda: np.maximum.accumulate(whole + np.int32(k)), select: lambda: numbers[(numbers * np.float32(3)).astype(np.float64) > float(f"0.{k:03d}")],
                sort: lambda: numbers[order], argsort: lambda: order}[make]()
    return np.array_equal(out[0], expected)


DTYPES = {"float32": np.float32, "int32": np.int32, "int64": np.int64}


def fetched(handle):
    name = next(n for n in DTYPES if kiln.dtype_number(n) == kiln.c.kiln_array_dtype(handle))
    count = kiln.c.kiln_array_nbytes(handle) // np.dtype(DTYPES[name]).itemsize
    out = np.empty(count, DTYPES[name])
    kiln.check(kiln.c.kiln_array_to_host(handle, out.ctypes.data_as(ctypes.c_void_p), out.nbytes), "to_host")
    return out


uploaded = {}


def ours(make, k):
    """Milliseconds, and whether the result is right."""
    given = whole if make is scan else numbers
    if id(given) not in uploaded:
        uploaded[id(given)] = kiln.upload(given, given.dtype.name)
    n_out = 2 if make is select else 1
    arguments = (Argument * 1)(Argument(1, 0, uploaded[id(given)].value))
    outs, again = (ctypes.c_void_p * n_out)(), (ctypes.c_void_p * n_out)()
    kernel = ctypes.c_void_p()
    begin = time.perf_counter()
    kiln.check(make(ctypes.byref(kernel), k), make.__name__)
    kiln.check(kiln.c.kiln_kernel_call(kernel, outs, n_out, arguments, 1, None), make.__name__)
    first = [fetched(h) for h in outs]
    took = time.perf_counter() - begin
    kiln.c.kiln_wait_for_best(ctypes.c_int64(-1))
    kiln.check(kiln.c.kiln_kernel_call(kernel, again, n_out, arguments, 1, None), make.__name__)
    same = all(np.array_equal(a, fetched(h)) for a, h in zip(first, again))
    for handle in [*outs, *again]:
        kiln.c.kiln_array_free(handle)
    kiln.c.kiln_kernel_free(kernel)
    return took * 1e3, is_right(make, k, first) and same


BY_HAND = r"""struct given { long long n; unsigned *c; const float *x; float *y; long long *count; long long each; };
extern "C" __global__ void __launch_bounds__(32) chosen_NUMBER(const __grid_constant__ given a) {
    const unsigned lane = threadIdx.x;
    unsigned tile = 0;
    if (lane == 0) tile = atomicInc(a.c, gridDim.x - 1);
    tile = __shfl_sync(~0u, tile, 0);
    const long long first = tile * a.each, rest = a.n - first, count = rest < a.each ? rest : a.each;
    volatile unsigned *words = a.c + 2;
    long long at = 0;
#pragma unroll 1
    for (int turn = 0; turn < 2; ++turn) {
#pragma unroll 1
        for (long long e = lane; e - lane < count; e += 32) {
            float x = e < count ? a.x[first + e] : 0;
            bool is = e < count && x * 3 > 0.NUMBER;
            unsigned v = __ballot_sync(~0u, is);
            if (turn && is) a.y[at + __popc(v & ((1u << lane) - 1))] = x;
            at += __popc(v);
        }
        if (turn == 0) {
            if (lane == 0) words[tile] = (unsigned)at + 1;
            at = 0;
#pragma unroll 1
            for (unsigned t = lane; t < tile; t += 32) {
                unsigned w;
                do w = words[t]; while (w == 0);
                at += w - 1;
            }
#pragma unroll 1
            for (int by = 16; by > 0; by /= 2) at += __shfl_xor_sync(~0u, at, by);
        }
    }
    if (first + count == a.n && lane == 0) *a.count = at;
    __threadfence();
    unsigned left = 0;
    if (lane == 0) left = atomicInc(a.c + 1, gridDim.x - 1);
    if (__shfl_sync(~0u, left, 0) == gridDim.x - 1)
#pragma unroll 1
        for (unsigned t = lane; t < gridDim.x; t += 32) words[t] = 0;
}
"""


def nvrtc():
    for name in ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"):
        try:
            return ctypes.CDLL(name)
        except OSError:
            pass
    return None


def alone(k):
    """NVRTC on the selection by hand."""
    library = nvrtc()
    if library is None:
        return None
    program = ctypes.c_void_p()
    words = [b"-arch=sm_90", b"-std=c++17", b"-default-device"]
    begin = time.perf_counter()
    library.nvrtcCreateProgram(ctypes.byref(program), BY_HAND.replace("NUMBER", f"{k:03d}").encode(), b"k.cu", 0, None, None)
    failed = library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    took = time.perf_counter() - begin
    library.nvrtcDestroyProgram(ctypes.byref(program))
    return None if failed else took * 1e3


def by_cupy(make, k):
    """CuPy's way; None: it has none."""
    text = {select: f"y = x * 3 > 0.{k:03d}", sort: f"y = abs(x - {k})", argsort: f"y = abs(x - {k})"}.get(make)
    if text is None:
        return None
    x = cupy.asarray(numbers)
    cupy.cuda.Device().synchronize()
    begin = time.perf_counter()
    kept = cupy.ElementwiseKernel("float32 x", "bool y" if make is select else "float32 y", text, f"of_{make.__name__}_{k}")(x)
    result = x[kept] if make is select else cupy.argsort(kept, kind="stable")
    (x[result] if make is sort else result).get()
    return (time.perf_counter() - begin) * 1e3


CUB = {"scan": "#include <cub/block/block_scan.cuh>\nextern \"C\" __global__ void k(const int *x, int *y) { typedef cub::BlockScan<int, 256> S; __shared__ typename S::TempStorage t; int v[16];"
               " for (int i = 0; i < 16; ++i) v[i] = x[threadIdx.x * 16 + i] + NUMBER; S(t).InclusiveScan(v, v, [](int a, int b) { return a > b ? a : b; });"
               " for (int i = 0; i < 16; ++i) y[threadIdx.x * 16 + i] = v[i]; }",
       "select": "#include <cub/block/block_scan.cuh>\nextern \"C\" __global__ void k(const float *x, float *y) { typedef cub::BlockScan<int, 256> S; __shared__ typename S::TempStorage t; int v[16]; float f[16];"
                 " for (int i = 0; i < 16; ++i) { f[i] = x[threadIdx.x * 16 + i]; v[i] = f[i] * 3 > NUMBER * 0.001f; } int w[16]; S(t).ExclusiveSum(v, w);"
                 " for (int i = 0; i < 16; ++i) if (v[i]) y[w[i]] = f[i]; }",
       "sort": "#include <cub/block/block_radix_sort.cuh>\nextern \"C\" __global__ void k(const float *x, float *y) { typedef cub::BlockRadixSort<float, 256, 16, float> S; __shared__ typename S::TempStorage t;"
               " float v[16], f[16]; for (int i = 0; i < 16; ++i) { f[i] = x[threadIdx.x * 16 + i]; v[i] = abs(f[i] - NUMBER); } S(t).Sort(v, f);"
               " for (int i = 0; i < 16; ++i) y[threadIdx.x * 16 + i] = f[i]; }"}


def by_cub(make, k):
    text = CUB.get(make.__name__)
    if text is None:
        return None
    begin = time.perf_counter()
    cupy.RawModule(code=text.replace("NUMBER", str(k)), options=("-std=c++17",)).get_function("k")
    return (time.perf_counter() - begin) * 1e3


def times(name, function, count):
    found = []
    for k in range(count):
        try:
            took = function(101 + k)
        except Exception as failure:
            print(f"# {name}: {str(failure).splitlines()[:2]}", file=sys.stderr)
            return None
        if took is None:
            return None
        found.append(took)
    return found  # the first one has what is compiled once, and loads the compiler of a peer


def shown(found):
    return f"{min(found[1:]):.0f}, {statistics.median(found[1:]):.0f}" if found else "-"


kiln.check(kiln.c.kiln_elementwise_create(ctypes.byref(unused := ctypes.c_void_p()), b"T x", b"T y", b"y = x + 3", b"unused", None), "unused")
kiln.check(kiln.c.kiln_kernel_call(unused, (ctypes.c_void_p * 1)(), 1, (Argument * 1)(Argument(1, 0, kiln.upload(numbers, "float32").value)), 1, None), "unused")
print("| first result, ms (least, median) | first | kiln | best alone | CuPy | CUB, a block, NVRTC | right |\n| --- | ---: | ---: | ---: | ---: | ---: | --- |", flush=True)
for make in (globals()[name] for name in options.rows.split(",")):
    right = []

    def mine(k, make=make):
        took, is_right = ours(make, k)
        right.append(is_right)
        return took
    both = times("kiln", mine, options.count)
    kiln.check(kiln.c.kiln_set_forms(BEST), "forms")
    best = times("best", lambda k, make=make: mine(k + 300), min(options.count, 4))
    kiln.check(kiln.c.kiln_set_forms(BOTH), "forms")
    peers = [times(peer.__name__, lambda k, make=make, peer=peer: peer(make, k), 4) if cupy else None for peer in (by_cupy, by_cub)]
    print(f"| {make.__name__} | {both[0] if both else 0:.0f} | {shown(both)} | {shown(best)} | {shown(peers[0])} | {shown(peers[1])} | {'yes' if all(right) else 'WRONG'} |", flush=True)
print(f"\nNVRTC alone on a selection by hand: {shown(times('alone', alone, options.count))}")
