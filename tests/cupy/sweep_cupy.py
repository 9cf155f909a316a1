"""Compiles CuPy's own kernels by kiln, for the host and for a CUDA architecture: those that cupy_kernels.py finds in a checkout.

    sweep_cupy.py LIBRARY [CHECKOUT] [--only REGEX] [--target TARGET]... [--all]    CHECKOUT: without it KILN_CUPY; neither: 77, skipped

A definition compiles for a target where it does for the dtypes of one of TRIALS (placeholders), or of one of its variants (--all: of each; ufuncs and
reductions by name). What no compiler of kernels can take is not counted: textures, headers that are not in the checkout, texts that CuPy fills in, the
threads of a block on the host, and those of KNOWN.
"""
import argparse
import ctypes
import itertools
import os
import pathlib
import re
import sys

from cupy_kernels import kernels

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "numpy"))
os.environ.setdefault("KILN_FORMS", "quick")

TRIALS = ("float32", "int32", "int64", "complex64", "bool", "uint32", "float64")
KNOWN = {  # by name and file: what no kernel of kiln can be, and why
    ("cupyx_scipy_ndimage_max_2d_reflect_grid_wrap_w3_3", "cupyx/scipy/ndimage/_filters_core.py"):
        "reads _raw_y, CuPy's own name for the array behind an element, and includes CuPy's arrays",
    ("cupyx_scipy_lpmv", "cupyx/scipy/special/_sph_harm.py"):
        "includes CuPy's complex numbers (thrust's) and assigns them to an output of kiln's: no conversion between two such libraries",
}
NAME_MAX = 63  # of kernels; CuPy makes up longer ones
LETTERS = dict(zip("?bhilqBHILQeEfdFD", "bool int8 int16 int32 int64 int64 uint8 uint16 uint32 uint64 uint64 float16 bfloat16 float32 float64 complex64 complex128".split()))
C_NAMES = {"float": "float32", "int": "int32", "long long": "int64", "unsigned long long": "uint64"}  # of reduce types
HOST = 1
ARRAY, WEAK_INT = 1, 3


class ArraySpec(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("dtype", ctypes.c_int), ("ndim", ctypes.c_int), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.c_void_p), ("device", ctypes.c_int32), ("read_only", ctypes.c_bool)]


class Argument(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("dtype", ctypes.c_int32), ("array", ctypes.c_void_p), ("rest", ctypes.c_char * 8), ("reserved", ctypes.c_uint64)]


class KernelOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("preamble", ctypes.c_char_p), ("loop_prep", ctypes.c_char_p),
                ("after_loop", ctypes.c_char_p), ("compile_options", ctypes.POINTER(ctypes.c_char_p)), ("n_compile_options", ctypes.c_int),
                ("header_names", ctypes.c_void_p), ("header_texts", ctypes.c_void_p), ("n_headers", ctypes.c_int), ("reduce_type", ctypes.c_char_p)]


class PrepareOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("target", ctypes.c_char_p)]


class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.c_void_p), ("n_axes", ctypes.c_int)]


def encoded(text):
    return None if text is None else str(text).encode()


class Sweep:
    def __init__(self, library, include):
        self.c = ctypes.CDLL(library)
        self.c.kiln_error_message.restype = self.c.kiln_error_log.restype = ctypes.c_char_p
        self.include = include

    def message(self):
        return (self.c.kiln_error_message() + b"\n" + self.c.kiln_error_log()).decode()

    def array(self, dtype, ndim):
        number, out = ctypes.c_int(), ctypes.c_void_p()
        if self.c.kiln_dtype_from_name(ctypes.byref(number), dtype.encode()):
            raise ValueError(dtype)
        shape = (ctypes.c_int64 * 3)(7, 5, 3)
        spec = ArraySpec(ctypes.sizeof(ArraySpec), number.value, ndim, shape, None, HOST, False)
        assert self.c.kiln_array_wrap(ctypes.byref(out), ctypes.c_void_p(2 ** 40), ctypes.byref(spec), None, None) == 0, self.message()
        return out

    def create(self, k):
        kernel = ctypes.c_void_p()
        options = KernelOptions(ctypes.sizeof(KernelOptions))
        given = [f"-I{self.include}", *(o for o in k.get("options", ()) if o != "--std=c++11")]
        options.compile_options, options.n_compile_options = (ctypes.c_char_p * len(given))(*[o.encode() for o in given]), len(given)
        for name in ("preamble", "loop_prep", "after_loop", "reduce_type"):
            setattr(options, name, encoded(k.get(name)))
        texts = ("map_expr", "reduce_expr", "post_map_expr") if "map_expr" in k else ("operation",)
        create = self.c.kiln_reduction_create if "map_expr" in k else self.c.kiln_elementwise_create
        arguments = [encoded(k[name]) for name in ("in_params", "out_params", *texts)]
        if "map_expr" in k:
            arguments.append(encoded(k.get("identity")))
        return create(ctypes.byref(kernel), *arguments, encoded((k.get("name") or "kernel")[:NAME_MAX]), ctypes.byref(options)), kernel

    def compile(self, k, dtype, ndim, target):
        """None, or what was wrong."""
        status, kernel = self.create(k)
        if status:
            return self.message()
        try:
            texts = " ".join(str(k.get(name) or "") for name in ("operation", "map_expr", "loop_prep", "after_loop"))
            outside = " ".join(str(k.get(name) or "") for name in ("loop_prep", "after_loop", "post_map_expr", "identity"))
            ins = [self.argument(p, dtype, ndim, texts, outside) for p in k["in_params"].split(",") if p.strip()]
            outs = [self.operand(p, dtype, 0 if "map_expr" in k else ndim) for p in k["out_params"].split(",") if p.strip()]
            all_params = [p for p in (k["in_params"] + "," + k["out_params"]).split(",") if p.strip()]
            call = CallOptions(ctypes.sizeof(CallOptions), size=7)
            prepare = PrepareOptions(ctypes.sizeof(PrepareOptions), 0, target.encode())
            status = self.c.kiln_kernel_prepare(kernel, (ctypes.c_void_p * max(len(outs), 1))(*[a.value for a in outs]), len(outs),
                                                (Argument * max(len(ins), 1))(*ins), len(ins),
                                                ctypes.byref(call) if all(p.strip().startswith("raw") for p in all_params) else None, ctypes.byref(prepare))
            return self.message() if status else None
        finally:
            self.c.kiln_kernel_free(kernel)

    def argument(self, parameter, dtype, ndim, texts, outside):
        """An array; a number for a raw parameter that no text indexes, and for one that stands outside of elements."""
        name = parameter.split()[-1]
        is_value = re.search(rf"\b{name}\b", outside) or ("raw " in parameter and
                                                          not re.search(rf"\b{name}\b\s*[\[(.]|&\s*{name}\b|decltype\({name}", texts))
        return Argument(WEAK_INT, 0) if is_value else Argument(ARRAY, 0, self.operand(parameter, dtype, ndim).value)

    def operand(self, parameter, dtype, ndim):
        kind = parameter.replace("_non_const", "").replace("raw ", "").split()[0]
        names = {"int": "int64", "uint": "uint64", "float": "float64", "complex": "complex128", "half": "float16", "single": "float32", "double": "float64"}
        return self.array(dtype.get(kind, dtype[None]) if len(kind) == 1 else names.get(kind, kind), ndim)


def of_variants(kind, k):
    """A definition by name as one of each variant: its types put in, and what CuPy calls them."""
    for variant in (k["ops"],) if isinstance(k["ops"], str) else k["ops"]:
        types, routine = variant if isinstance(variant, tuple) else (variant, None)
        if not isinstance(types, str) or "->" not in types or not isinstance(routine, (str, tuple, type(None))):
            continue
        reads, gives = types.split("->")
        if "V" in types or any(c not in LETTERS for c in reads + gives):
            continue
        raw = kind == "create_reduction_func"
        name = (lambda side, n: f"type_{side}{n}_raw") if raw else (lambda side, n: f"{side}{n}_type")
        ins, outs = [(LETTERS[c], f"in{n}") for n, c in enumerate(reads)], [(LETTERS[c], f"out{n}") for n, c in enumerate(gives)]
        head = "".join(f"typedef {dtype} {name(text[:-1], text[-1])};\n" for dtype, text in ins + outs)
        one = {"in_params": ", ".join(map(" ".join, ins)), "out_params": ", ".join(map(" ".join, outs)), "name": k["name"], "loop_prep": k.get("loop_prep"),
               "preamble": head + (k.get("preamble") or "")}
        if raw:
            texts = [own if own is not None else shared for own, shared in zip(routine or (None,) * 4, k.get("routine") or (None,) * 4)]
            if None in texts[:3]:
                texts = [t or d for t, d in zip(texts, ("in0", "a", "out0 = a", None))]
            one.update(map_expr=texts[0], reduce_expr=texts[1], post_map_expr=texts[2], identity=k.get("identity"), reduce_type=C_NAMES.get(texts[3], texts[3]))
            head = "typedef long long IndexT;\n" + head
            reduced = texts[3] or f"type_out0_raw"
            one["preamble"] = head + (k.get("preamble") or "") + f"\ntypedef {reduced} _type_reduce;\n"
        else:
            one["operation"] = routine or k.get("routine")
        yield types, one


def attempts(kind, k):
    """(which, definition, dtypes) of each way to compile it."""
    if "ops" in k:
        for types, one in of_variants(kind, k):
            if one.get("operation") or one.get("map_expr"):
                yield types, one, {None: "float32"}
    else:
        for dtype in TRIALS:
            yield dtype, k, {None: dtype}
        yield "indices", k, {None: "float32", "I": "int32", "S": "int32", "U": "int32", "Q": "bool", "B": "int8"}
        letters = sorted(set(re.findall(r"\b[A-Z]\b", k["in_params"] + " " + k["out_params"])))
        for n in range(1, len(letters)):  # some complex, the others real
            for some in itertools.combinations(letters, n):
                yield "complex " + " ".join(some), k, dict.fromkeys(some, "complex64") | {None: "float32"}


def with_standard(k, target):
    """CuPy puts its headers in front of every kernel: those of C++'s library are here where a text names that."""
    head = "#include <type_traits>\n#include <limits>\n" if target == "host" else "#include <cupy/cuda_workaround.h>\n"
    text = " ".join(str(v) for v in k.values())
    if "cupy::type_traits" in text:
        head += "namespace cupy {\nnamespace type_traits = std;\n}\n"
    return dict(k, preamble=head + (k.get("preamble") or "")) if "std::" in text or "cupy::" in text else k


def lacks_header(problem):
    return "No such file or directory" in problem or "cannot open source file" in problem


def try_definition(sweep, kind, k, target, every):
    """([what compiled], [(what did not, why)])"""
    good, bad = [], []
    for which, one, dtypes in attempts(kind, k):
        for ndim in (1, 2):
            problem = sweep.compile(with_standard(one, target), dtypes, ndim, target)
            if problem is None or "ops" in k:
                break
        if problem is None:
            good.append(which)
            if not (every and "ops" in k):
                break
        else:
            bad.append((which, problem))
    return good, bad


def is_of_blocks(k):
    """Whether a text speaks of the threads of a block, which a host has not."""
    return re.search(r"__shared__|__syncthreads|__syncwarp|__shfl_|__ballot|threadIdx", " ".join(str(v) for v in k.values()))


def excluded(k):
    text = " ".join(str(v) for v in k.values())
    return "tex2D" in text or "tex3D" in text or "cudaTextureObject" in text or "${" in text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("checkout", nargs="?", default=os.environ.get("KILN_CUPY"))
    parser.add_argument("--only", default="")
    parser.add_argument("--target", action="append")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    if not options.checkout or not pathlib.Path(options.checkout, "cupy").is_dir():
        print("no checkout of CuPy: KILN_CUPY or an argument names its folder")
        return 77
    root = pathlib.Path(options.checkout)
    sweep = Sweep(options.library, root / "cupy/_core/include")
    counts, failures = {}, 0
    for kind, place, k in kernels(root):
        if k is None or excluded(k) or not re.search(options.only, f"{place} {k.get('name')}"):
            continue
        if (k.get("name"), place.split(":")[0]) in KNOWN:
            print(f"left out: {kind} {k['name']} ({place}): {KNOWN[k['name'], place.split(':')[0]]}")
            continue
        for target in options.target or ("host", "sm_90"):
            if target == "host" and is_of_blocks(k):
                print(f"left out: host {kind} {k.get('name')} ({place}): threads of a block")
                continue
            good, bad = try_definition(sweep, kind, k, target, options.all)
            if bad and not good and all(lacks_header(problem) for _, problem in bad):
                print(f"left out: {target} {kind} {k.get('name')} ({place}): a header is not there")
                continue
            count = counts.setdefault((kind, target), [0, 0])
            count[1] += 1
            if good and not (options.all and "ops" in k and bad):
                count[0] += 1
            else:
                failures += 1
                print(f"FAILED {target} {kind} {k.get('name')} ({place}), compiled for {' '.join(good) or 'nothing'}")
                for which, problem in bad if options.verbose else bad[:1]:
                    print(f"    {which}: " + problem.strip()[:1500].replace("\n", "\n        "), flush=True)
    for (kind, target), (good, of) in sorted(counts.items()):
        print(f"{kind} {target}: {good} of {of} compile")
    return failures > 0


sys.exit(main())
