#!/usr/bin/env python3
"""Speed, fuzzed as correctness is: everyday programs drawn with a seed (bench/speed_cases.py), each measured beside its floor and beside the peers that are
installed, and compared with NumPy in float64.

    bench/fuzz_speed.py build/release/libkiln.so                                # 300 cases on the host: NumPy, Numba, JAX
    bench/fuzz_speed.py build/release/libkiln.so --target cuda --least 20 --most 28    # on a GPU: torch.compile, JAX, CuPy
    bench/fuzz_speed.py build/release/libkiln.so --replay corpus.jsonl          # the worst of an earlier run
    bench/fuzz_speed.py build/release/libkiln.so --plans --count 100            # nothing is measured: what plans move and how, for host and sm_90

The floor: the fewest bytes (each input's elements once, each result's) by a copy of as many bytes, called in turn with the rest, and an empty call. Kiln, copy
and peers are called in turn, and of each the least of all rounds counts: of the process's CPU time (host, one thread: a busy machine matters less), else by
the clock; one thread means one processor too. What is below the bar is measured again, longer. A case below the bar is written to the corpus. The exit code is 1 where a result is wrong, or a
plan is not as it should be."""
import argparse
import collections
import ctypes
import json
import os
import pathlib
import re
import sys
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("--target", choices=("host", "cuda"), default="host")
parser.add_argument("--count", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--first", type=int, default=0, help="the number of the first case")
parser.add_argument("--least", type=float, default=10, help="log2 of the fewest elements of an array")
parser.add_argument("--most", type=float, default=23.5, help="log2 of the most elements of an array")
parser.add_argument("--seconds", type=float, default=0.12, help="for a case, when all is compiled")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--peers", default="", help="names, with commas; 'none'; else all that are installed")
parser.add_argument("--family", default="", help="only cases of these families, with commas")
parser.add_argument("--bar", type=float, default=0.9, help="best peer / kiln, below which a case is of the worst")
parser.add_argument("--worst", type=int, default=20, help="printed with their plans")
parser.add_argument("--corpus", default="", help="a file to which cases below the bar are written, the worst first")
parser.add_argument("--replay", default="", help="a corpus: its cases instead of new ones")
parser.add_argument("--plans", action="store_true", help="look at plans alone")
parser.add_argument("--verbose", action="store_true")
options = parser.parse_args()
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "KILN_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(options.threads)
if options.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.update(KILN_TARGET="host" if options.plans else options.target, KILN_FORMS="best")
os.environ.setdefault("JAX_PLATFORMS", "cpu" if options.target == "host" else "")
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "tests/numpy")]
import numpy as np  # noqa: E402

import speed_cases  # noqa: E402
import speed_peers  # noqa: E402
from host_kernels import Argument, ArraySpec, Arrays  # noqa: E402

FEWEST_ROUNDS, SAMPLE, HOPELESS = 4, 300e-6, 1.6  # rounds; seconds; of the best peer's time, from which on another is not measured further
TOLERANCE = {"e": 2e-2, "f": 1e-4, "d": 1e-9, "F": 1e-4, "D": 1e-9}
is_host = options.target == "host"
if is_host and options.threads == 1:  # a thread that still runs elsewhere is not in the process's time yet: JAX computes in one of its own
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
clock = time.process_time if is_host and options.threads == 1 else time.perf_counter
kiln = Arrays(options.library)
kiln.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]
kiln.c.kiln_array_assign.argtypes = [ctypes.c_void_p, ctypes.c_void_p]


def say(text):
    print(text, flush=True)


# ---- arrays ----

def lying(shape, dtype):
    """Memory as kiln's own arrays have it: from a line of the cache on."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + 64, "u1")
    start = -memory.ctypes.data % 64
    return memory[start:start + size].view(dtype).reshape(shape)


def filled(i, rng):
    """The array behind an input. Numbers repeat after a prime number of them: drawing all takes longer than measuring."""
    a, some = lying(i["shape"], i["dtype"]), 1000003
    n = min(a.size, some)
    kind = a.dtype.kind
    if kind == "b":
        values = rng.random(n) < 0.5
    elif kind in "iu" or i["values"] == "whole":
        values = rng.integers(0, 256 if a.dtype == np.uint8 else 100, n)
    elif kind == "c":
        values = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    else:
        values = rng.random(n) + 0.5 if i["values"] == "positive" else rng.standard_normal(n)
    a.reshape(-1)[:] = np.resize(values.astype(a.dtype), a.size)
    return a


def like_result(wanted):
    """An array for a result that lies as NumPy's does."""
    order = sorted(range(wanted.ndim), key=lambda a: (-abs(wanted.strides[a]), a))
    out = lying([wanted.shape[a] for a in order], wanted.dtype)
    return out.transpose(np.argsort(order)) if wanted.ndim else out


def touched(a):
    """Bytes of the elements that a view has."""
    return a.itemsize * int(np.prod([n for n, s in zip(a.shape, a.strides) if s != 0] or [1]))


# ---- kiln ----

class CallOptions(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("flags", ctypes.c_uint), ("order", ctypes.c_int), ("stream", ctypes.c_void_p), ("size", ctypes.c_int64),
                ("block", ctypes.c_int), ("shape", ctypes.c_void_p), ("ndim", ctypes.c_int), ("axes", ctypes.POINTER(ctypes.c_int)), ("n_axes", ctypes.c_int)]


class Call:
    """A case as a kernel of kiln, its inputs and its result as arrays of kiln's over memory of NumPy's, or of the device's."""

    def __init__(self, case, bases, arrays, out, on_device):
        self.kernel, self.keep, self.handles, self.on_device = ctypes.c_void_p(), (arrays, out), [], on_device
        names, own = list(arrays), case.get("own")
        self.options = None
        if not own:
            status = kiln.c.kiln_expression_create(ctypes.byref(self.kernel), ", ".join(names).encode(), case["text"].encode(), None)
        else:
            params = ", ".join(f"T {n}" for n in names).encode(), own["out"].encode()
            texts = [own[k].encode() for k in (["body"] if "body" in own else ["map", "reduce", "post", "identity"])]
            create = kiln.c.kiln_elementwise_create if "body" in own else kiln.c.kiln_reduction_create
            status = create(ctypes.byref(self.kernel), *params, *texts, b"own", None)
            if "axes" in own:
                self.axes = (ctypes.c_int * len(own["axes"]))(*own["axes"])
                self.options = CallOptions(ctypes.sizeof(CallOptions), axes=self.axes, n_axes=len(own["axes"]))
        kiln.check(status, case["text"])
        self.arguments = (Argument * len(arrays))(*[Argument(1, 0, self.handle(a, bases[n]).value) for n, a in arrays.items()])
        self.result = self.handle(out, base_of(out)) if out is not None else ctypes.c_void_p()
        self.outs = (ctypes.c_void_p * 1)(self.result.value)
        self.given = self.options and ctypes.byref(self.options)

    def handle(self, view, base):
        """An array over a view; on a device over the same view of a copy of what is behind it."""
        if not self.on_device:
            h = kiln.wrap(view, view.dtype.name)
        else:
            memory = kiln.upload(np.ascontiguousarray(base).reshape(-1), base.dtype.name)
            self.handles.append(memory)
            number, h, size = kiln.dtype_number(view.dtype.name), ctypes.c_void_p(), max(view.ndim, 1)
            spec = ArraySpec(ctypes.sizeof(ArraySpec), number, view.ndim, (ctypes.c_int64 * size)(*view.shape), (ctypes.c_int64 * size)(*view.strides),
                             kiln.device, False)
            at = kiln.address(memory) + view.ctypes.data - base.ctypes.data
            kiln.check(kiln.c.kiln_array_wrap(ctypes.byref(h), ctypes.c_void_p(at), ctypes.byref(spec), None, None), "wrap")
        self.handles.append(h)
        return h

    def __call__(self, function=kiln.c.kiln_kernel_call):
        status = function(self.kernel, self.outs, 1, self.arguments, len(self.arguments), self.given)
        if status:
            kiln.check(status, "call")

    def wait(self, result=None):
        kiln.check(kiln.c.kiln_device_synchronize(kiln.device), "wait")

    def got(self):
        out = self.keep[1]
        if self.on_device:
            got = np.empty(out.shape, out.dtype)
            kiln.check(kiln.c.kiln_array_to_host(self.result, got.ctypes.data, got.nbytes), "to host")
            return got
        return out

    def text_of(self, function, target=None):
        text = ctypes.c_void_p()
        kiln.check(function(ctypes.byref(text), self.kernel, self.outs, 1, self.arguments, len(self.arguments), self.given, target), "explain")
        words = ctypes.string_at(text).decode()
        ctypes.CDLL(None).free(text)
        return words

    def plan(self, target=None):
        return self.text_of(kiln.c.kiln_kernel_explain, target)

    def free(self):
        for h in self.handles:
            kiln.c.kiln_array_free(h)
        kiln.c.kiln_kernel_free(self.kernel)


def base_of(out):
    """A result's memory, as one run."""
    order = sorted(range(out.ndim), key=lambda a: -abs(out.strides[a]))
    return out.transpose(order)


# ---- a case ----

def in_double(case, arrays):
    wide = {"e": "f8", "f": "f8", "F": "c16"}
    return speed_peers.Numpy(1).make(case, None, {n: a.astype(wide.get(a.dtype.char, a.dtype)) for n, a in arrays.items()})()


def wrong(got, wanted, exact):
    """What is wrong with a result, where `wanted` is NumPy's own and `exact` that of wider numbers; None: nothing."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{list(got.shape)}, where NumPy has {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind not in "fc":
        same = np.mean(got == wanted) if got.size else 1
        return None if same > 0.998 else f"{100 * (1 - same):.2f} % of the elements are others"
    is_sure = np.isfinite(wanted) & np.isfinite(exact)
    if not is_sure.any():
        return None
    scale = max(float(np.abs(exact[is_sure]).max()), 1)
    off = float(np.abs(np.where(is_sure, got, 0) - np.where(is_sure, exact, 0)).max())
    return None if off <= TOLERANCE[wanted.dtype.char] * scale else f"off by {off}, where results are up to {scale}"


def samples(functions, waits, seconds):
    """The least time of each, called in turn; what is hopeless is called a few times."""
    names, best, count = list(functions), {}, {}
    for n in names:
        begin = time.perf_counter()
        waits[n](functions[n]())
        begin = time.perf_counter()
        waits[n](functions[n]())
        count[n] = max(1, int((2e-3 if not is_host else SAMPLE) / max(time.perf_counter() - begin, 1e-7)))
        best[n] = float("inf")
    start, rounds = time.perf_counter(), 0
    while rounds < FEWEST_ROUNDS or time.perf_counter() - start < seconds:
        nearest = min((t for n, t in best.items() if n not in ("kiln", "copy", "empty")), default=0)
        for n in names:
            if rounds >= 2 and n not in ("kiln", "copy", "empty") and best[n] > HOPELESS * nearest:
                continue
            function = functions[n]
            begin = clock()
            for _ in range(count[n]):
                result = function()
            waits[n](result)
            best[n] = min(best[n], (clock() - begin) / count[n])
        rounds += 1
        if rounds >= 2 and time.perf_counter() - start > 20 * seconds:
            break
    return best


def no_wait(result):
    pass


class Copy:
    """A copy that moves as many bytes, half of them read."""

    def __init__(self, size, on_device):
        size = max(size // 2, 1)
        self.on_device = on_device
        self.source, self.target = lying([size], "u1"), lying([size], "u1")
        self.source[:] = 1
        if on_device:
            self.handles = [kiln.upload(a, "uint8") for a in (self.target, self.source)]

    def __call__(self):
        if self.on_device:
            kiln.check(kiln.c.kiln_array_assign(*self.handles), "copy")
        else:
            np.copyto(self.target, self.source)

    def free(self):
        for h in self.handles if self.on_device else []:
            kiln.c.kiln_array_free(h)


def prepared(case):
    rng = np.random.default_rng([case["seed"], case["number"]])
    bases = {n: filled(i, rng) for n, i in case["inputs"].items()}
    arrays = speed_peers.viewed(case, bases, speed_peers.NUMPY)
    with np.errstate(all="ignore"):
        wanted = np.asarray(speed_peers.Numpy(1).make(case, bases, arrays)())
    return bases, arrays, wanted, like_result(wanted)


def empty_call(call):
    """What Python and ctypes take for such a call, which C's callers do not pay: a function that does nothing, with the same arguments."""
    function = ctypes.CDLL(None).pthread_testcancel
    function.restype = None
    return lambda: call(function)


def measured(case, peers):
    """{"ratio", "floor", "times", "plan", "fault"} of a case."""
    bases, arrays, wanted, out = prepared(case)
    with np.errstate(all="ignore"):
        exact = np.asarray(in_double(case, arrays))
    call = Call(case, bases, arrays, out, not is_host)
    call()
    call.wait()
    result = {"fault": wrong(call.got(), wanted, exact), "plan": call.plan()}
    copy = Copy(sum(touched(a) for a in arrays.values()) + out.nbytes, not is_host)
    functions = {"kiln": call, "copy": copy, "empty": empty_call(call)}
    waits = {"kiln": no_wait if is_host else call.wait, "copy": no_wait if is_host else call.wait, "empty": no_wait}
    for name, peer in peers.items():
        try:
            function = peer.make(case, bases, arrays, wanted) if name == "numba" else peer.make(case, bases, arrays)
            value = function() if function else None
            if function and name == "numba" and wrong(value, wanted, exact):
                say(f"# {name} is wrong, and left out: {speed_cases.words(case)}")
                function = None
        except Exception as failure:
            function = None
            if options.verbose:
                say(f"# {name}: {type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}: {speed_cases.words(case)}")
        if function:
            functions[name], waits[name] = function, getattr(peer, "wait", no_wait)
    with np.errstate(all="ignore"):
        times = samples(functions, waits, options.seconds)
        if ratio_of(times) < options.bar:
            again = samples(functions, waits, 3 * options.seconds)
            times = {n: min(t, again[n]) for n, t in times.items()}
    result.update(times=times, ratio=ratio_of(times), floor=(times["copy"] + times["empty"]) / times["kiln"])
    call.free()
    copy.free()
    return result


def ratio_of(times):
    own = max(times["kiln"] - (times["empty"] if is_host else 0), 1e-9)
    return min((t for n, t in times.items() if n not in ("kiln", "copy", "empty")), default=float("inf")) / own


# ---- what is printed ----

def percentiles(values, at=(1, 5, 10, 25, 50, 75, 90)):
    values = sorted(values)
    return [values[min(int(len(values) * p / 100), len(values) - 1)] for p in at]


def show(results):
    ratios = [r["ratio"] for _, r in results if r["ratio"] < float("inf")]
    say(f"\n{len(results)} cases; percentiles 1, 5, 10, 25, 50, 75, 90")
    if ratios:
        say("best peer / kiln: " + " ".join(f"{v:.2f}" for v in percentiles(ratios)) + "; below 1.0, 0.9, 0.7, 0.5: "
            + ", ".join(str(sum(r < bar for r in ratios)) for bar in (1.0, 0.9, 0.7, 0.5)))
    say("floor / kiln:     " + " ".join(f"{v:.2f}" for v in percentiles([r["floor"] for _, r in results])))
    by_family = collections.defaultdict(list)
    for case, r in results:
        by_family[case["family"]].append(r)
    say("\n| family | cases | median | least | below 0.9 | floor / kiln |\n| --- | ---: | ---: | ---: | ---: | ---: |")
    for family, rs in sorted(by_family.items()):
        own = [r["ratio"] for r in rs]
        say(f"| {family} | {len(rs)} | {percentiles(own, [50])[0]:.2f} | {min(own):.2f} | {sum(r < 0.9 for r in own)} "
            f"| {percentiles([r['floor'] for r in rs], [50])[0]:.2f} |")
    say("")
    worst = sorted(results, key=lambda pair: pair[1]["ratio"])[:options.worst]
    for case, r in worst:
        say(line_of(case, r))
        for line in r["plan"].splitlines():
            say("    " + (line if line.startswith("#") else line[line.find("operands="):]))


def line_of(case, r):
    times = ", ".join(f"{n} {t * 1e3:.4g}" for n, t in r["times"].items() if n != "empty")
    return f"{r['ratio']:.2f} floor {r['floor']:.2f} {case['family']} {case['number']}: {speed_cases.words(case)}: ms {times}"


def cases():
    if options.replay:
        with open(options.replay) as lines:
            yield from (json.loads(line) for line in lines)
        return
    number, wanted = options.first, options.count
    while wanted > 0:
        case = speed_cases.draw(options.seed, number, options.least, options.most)
        number += 1
        if not options.family or case["family"] in options.family.split(","):
            wanted -= 1
            yield case


def main():
    if options.plans:
        import speed_plans
        return speed_plans.check(cases(), Call, say)
    names = speed_peers.HOST_PEERS if is_host else speed_peers.CUDA_PEERS
    if options.peers:
        names = [n for n in options.peers.split(",") if n != "none"]
    peers = speed_peers.installed(names, options.threads, options.target, say)
    results, faults = [], 0
    for case in cases():
        try:
            r = measured(case, peers)
        except RuntimeError as failure:
            say(f"FAILED {speed_cases.words(case)}\n{failure}")
            faults += 1
            continue
        if r["fault"]:
            say(f"WRONG {speed_cases.words(case)}: {r['fault']}\n    {r['plan']}")
            faults += 1
        results.append((case, r))
        if options.verbose:
            say(line_of(case, r))
    show(results)
    if options.corpus:
        with open(options.corpus, "w") as out:
            for case, r in sorted(results, key=lambda pair: pair[1]["ratio"]):
                if r["ratio"] < options.bar:
                    out.write(json.dumps({**case, "ratio": round(r["ratio"], 3)}) + "\n")
    return faults > 0


sys.exit(main())
