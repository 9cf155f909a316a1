#!/usr/bin/env python3
"""Speed, fuzzed as correctness is: everyday programs drawn with a seed (bench/speed_cases.py), each measured beside its floor and beside the peers that are
installed, and compared with NumPy or PyTorch in float64.

    bench/fuzz_speed.py build/release/libkiln.so                                # 300 cases on the host: NumPy, Numba, JAX
    bench/fuzz_speed.py build/release/libkiln.so --target cuda --least 23 --most 28 --bytes 26 --count 2400    # on a GPU: torch.compile, JAX
    bench/fuzz_speed.py build/release/libkiln.so --replay corpus.jsonl          # the worst of an earlier run
    bench/fuzz_speed.py build/release/libkiln.so --sequences --least 8 --most 22   # sorts, scans, selections, ... on the host: NumPy
    bench/fuzz_speed.py build/release/libkiln.so --plans --count 100            # nothing is measured: what plans move and how, for host and sm_90

The floor: the fewest bytes (each input's elements once, each result's) by a copy of as many bytes, called in turn with the rest, and an empty call. On the
host kiln, copy and peers are called in turn, and of each the least of all rounds counts: of the process's CPU time (one thread: a busy machine matters less),
else by the clock; one thread means one processor too. What is below the bar is measured again, longer. For GPUs see bench/speed_cuda.py. A case below the bar
is written to the corpus. The exit code is 1 where a result is wrong, or a plan is not as it should be."""
import argparse
import ctypes
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("library")
parser.add_argument("--target", choices=("host", "cuda"), default="host")
parser.add_argument("--count", type=int, default=300)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--first", type=int, default=0, help="the number of the first case")
parser.add_argument("--least", type=float, default=10, help="log2 of the fewest elements of an array")
parser.add_argument("--most", type=float, default=23.5, help="log2 of the most elements of an array")
parser.add_argument("--seconds", type=float, default=0.12, help="host: for a case, when all is compiled")
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--peers", default="", help="names, with commas; 'none'; else all that are installed")
parser.add_argument("--family", default="", help="only cases of these families, with commas")
parser.add_argument("--bar", type=float, default=0.9, help="best peer / kiln, below which a case is of the worst")
parser.add_argument("--floor-bar", type=float, default=0.65, help="GPU: floor / kiln, below which a case is of the worst")
parser.add_argument("--worst", type=int, default=20, help="printed with their plans")
parser.add_argument("--bytes", type=float, default=0, help="GPU: log2 of the fewest bytes that a case moves")
parser.add_argument("--budget", type=float, default=0, help="seconds for all; the host begins no case behind them; 0: 540 on a GPU, no end on the host")
parser.add_argument("--patience", type=int, default=0, help="host: seconds of a case behind which SIGALRM ends the process, as where a peer's compile does not end; 0: none")
parser.add_argument("--peer-cases", type=int, default=240, help="GPU: the most cases that peers run")
parser.add_argument("--corpus", default="", help="a file to which cases below the bar are written, the worst first")
parser.add_argument("--all", default="", help="a file to which all cases are written, with times and plans")
parser.add_argument("--replay", default="", help="a corpus: its cases instead of new ones")
parser.add_argument("--sequences", action="store_true", help="host: sorts, scans, selections, counts, searches and indices (bench/speed_sequences.py), beside NumPy")
parser.add_argument("--plans", action="store_true", help="look at plans alone")
parser.add_argument("--worker", default="", help=argparse.SUPPRESS)
parser.add_argument("--said", default="", help=argparse.SUPPRESS)
parser.add_argument("--verbose", action="store_true")
options = parser.parse_args()
options.bytes = 2 ** options.bytes
if not options.budget:
    options.budget = 540 if options.target == "cuda" else float("inf")
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "KILN_NUM_THREADS", "NUMBA_NUM_THREADS"):
    os.environ[name] = str(options.threads)
if options.threads == 1:
    os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
os.environ.update(KILN_TARGET="host" if options.plans or options.worker.startswith("prepare") else options.target, KILN_FORMS="best")
os.environ.setdefault("JAX_PLATFORMS", "cpu" if options.target == "host" else "")
os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
here = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(here), str(here.parent / "tests/numpy")]
import numpy as np  # noqa: E402

import speed_cases  # noqa: E402
import speed_peers  # noqa: E402
import speed_sequences  # noqa: E402
from host_kernels import Arrays  # noqa: E402
from speed_call import Call, prepare  # noqa: E402
from speed_report import OWN, first_line, line_of, ratio_of, say, show  # noqa: E402

FEWEST_ROUNDS, SAMPLE, HOPELESS = 4, 300e-6, 1.6  # rounds; seconds; of the best peer's time, from which on another is not measured further
is_host = options.target == "host"
if is_host and options.threads == 1:  # a thread that still runs elsewhere is not in the process's time yet: JAX computes in one of its own
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
clock = time.process_time if is_host and options.threads == 1 else time.perf_counter
kiln = Arrays(options.library)
kiln.c.kiln_kernel_free.argtypes = [ctypes.c_void_p]


# ---- arrays ----

def lying(shape, dtype):
    """Memory as kiln's own arrays have it: from a line of the cache on."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    memory = np.zeros(size + 64, "u1")
    start = -memory.ctypes.data % 64
    return memory[start:start + size].view(dtype).reshape(shape)


def values_of(i, n, rng):
    """n numbers for an input."""
    dtype = np.dtype(i["dtype"])
    if dtype.kind == "b":
        values = rng.random(n) < 0.5
    elif dtype.kind in "iu" or i["values"] == "whole":
        values = rng.integers(0, 256 if dtype == np.uint8 else 100, n)
    elif dtype.kind == "c":
        values = rng.standard_normal(n) + 1j * rng.standard_normal(n)
    else:
        values = rng.random(n) + 0.5 if i["values"] == "positive" else rng.standard_normal(n)
    return values.astype(dtype)


def filled(i, rng):
    """The array behind an input. Numbers repeat after a prime number of them: drawing all takes longer than measuring."""
    a = lying(i["shape"], i["dtype"])
    a.reshape(-1)[:] = np.resize(values_of(i, min(a.size, 1000003), rng), a.size)
    return a


def like_result(wanted):
    """An array for a result that lies as NumPy's does."""
    order = sorted(range(wanted.ndim), key=lambda a: (-abs(wanted.strides[a]), a))
    out = lying([wanted.shape[a] for a in order], wanted.dtype)
    return out.transpose(np.argsort(order)) if wanted.ndim else out


def touched(a):
    """Bytes of the elements that a view has."""
    return a.itemsize * int(np.prod([n for n, s in zip(a.shape, a.strides) if s != 0] or [1]))


# ---- a case ----

def in_double(case, arrays):
    """By wider numbers, also of what the text turns into float32: NumPy's float32 sums over first axes are off by 1e-4."""
    wide = {"e": "f8", "f": "f8", "F": "c16"}
    case = {**case, "text": case["text"].replace("astype(float32)", "astype(float64)")}
    return speed_peers.Numpy(1).make(case, None, {n: a.astype(wide.get(a.dtype.char, a.dtype)) for n, a in arrays.items()})()


def wrong(case, got, wanted, exact):
    """What is wrong with a result, where `wanted` is NumPy's own and `exact` that of wider numbers; None: nothing."""
    if got.shape != wanted.shape or got.dtype != wanted.dtype:
        return f"{got.dtype}{list(got.shape)}, where NumPy has {wanted.dtype}{list(wanted.shape)}"
    if wanted.dtype.kind not in "fc":
        same = np.mean((got == wanted) | (got == exact)) if got.size else 1  # float16 in between may be rounded, or not
        return None if same > 0.998 else f"{100 * (1 - same):.2f} % of the elements are others"
    is_sure = np.isfinite(wanted) & np.isfinite(exact)
    if not is_sure.any():
        return None
    scale = max(float(np.abs(exact[is_sure]).max()), 1)
    off, own = (float(np.abs(np.where(is_sure, x, 0) - np.where(is_sure, exact, 0)).max()) for x in (got, wanted))
    most = max(speed_cases.tolerance(case, wanted.dtype.name) * scale, 2 * own)  # the difference of two numbers that are nearly equal is a rounding of them, NumPy's too
    return None if off <= most else f"off by {off}, where results are up to {scale}, NumPy's by {own}"


def samples(functions, waits, seconds):
    """The least time of each, called in turn; what is hopeless is called a few times."""
    names, best, count = list(functions), {}, {}
    for n in names:
        begin = time.perf_counter()
        waits[n](functions[n]())
        begin = time.perf_counter()
        waits[n](functions[n]())
        count[n] = max(1, int(SAMPLE / max(time.perf_counter() - begin, 1e-7)))
        best[n] = float("inf")
    start, rounds = time.perf_counter(), 0
    while rounds < FEWEST_ROUNDS or time.perf_counter() - start < seconds:
        nearest = min((t for n, t in best.items() if n not in OWN), default=0)
        for n in names:
            if rounds >= 2 and n not in OWN and best[n] > HOPELESS * nearest:
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

    def __init__(self, size):
        size = max(size // 2, 1)
        self.source, self.target = lying([size], "u1"), lying([size], "u1")
        self.source[:] = 1

    def __call__(self):
        np.copyto(self.target, self.source)


def prepared(case):
    rng = np.random.default_rng([case["seed"], case["number"]])
    bases = {n: filled(i, rng) for n, i in case["inputs"].items()}
    arrays = speed_peers.viewed(case, bases, speed_peers.NUMPY)
    with np.errstate(all="ignore"):
        wanted = np.asarray(speed_peers.Numpy(1).make(case, bases, arrays)())
    return bases, arrays, wanted, like_result(wanted)


def sequence(case):
    rng = np.random.default_rng([case["seed"], case["number"]])
    bases = {n: speed_sequences.filled(i, rng, lying) for n, i in case["inputs"].items()}
    arrays = speed_peers.viewed(case, bases, speed_peers.NUMPY)
    wanted = np.asarray(speed_sequences.Numpy(1).make(case, bases, arrays)())
    call = speed_sequences.Call(kiln, case, arrays)
    fault = speed_sequences.wrong(case, arrays, call.result(wanted.dtype, wanted.shape), wanted)
    return bases, arrays, wanted, wanted, wanted, call, fault


def program(case):
    bases, arrays, wanted, out = prepared(case)
    exact = np.asarray(in_double(case, arrays))
    call = Call(kiln, case, arrays, out)
    call()
    return bases, arrays, wanted, out, exact, call, wrong(case, out, wanted, exact)


def measured(case, peers):
    """{"ratio", "floor", "times", "plan", "fault"} of a case."""
    with np.errstate(all="ignore"):
        bases, arrays, wanted, out, exact, call, fault = (sequence if "same" in case else program)(case)
    result = {"fault": fault, "plan": call.plan()}
    copy = Copy(sum(touched(a) for a in arrays.values()) + out.nbytes)
    functions = {"kiln": call, "copy": copy, "empty": call.empty()}
    waits = dict.fromkeys(functions, no_wait)
    for name, peer in peers.items():
        try:
            function = peer.make(case, bases, arrays, wanted) if name == "numba" else peer.make(case, bases, arrays)
            value = function() if function else None
            if function and name == "numba" and wrong(case, value, wanted, exact):
                say(f"# {name} is wrong, and left out: {speed_cases.words(case)}")
                function = None
        except Exception as failure:
            function = None
            if options.verbose:
                say(f"# {name}: {first_line(failure)}: {speed_cases.words(case)}")
        if function:
            functions[name], waits[name] = function, getattr(peer, "wait", no_wait)
    with np.errstate(all="ignore"):
        times = samples(functions, waits, options.seconds)
        if ratio_of(times) < options.bar:
            again = samples(functions, waits, 3 * options.seconds)
            times = {n: min(t, again[n]) for n, t in times.items()}
    result.update(times=times, ratio=ratio_of(times), floor=(times["copy"] + times["empty"]) / times["kiln"])
    call.free()
    return result


def cases():
    if options.replay:
        with open(options.replay) as lines:
            yield from (json.loads(line) for line in lines)
        return
    number, wanted = options.first, options.count
    while wanted > 0:
        case = (speed_sequences if options.sequences else speed_cases).draw(options.seed, number, options.least, options.most)
        number += 1
        if not options.family or case["family"] in options.family.split(","):
            wanted -= 1
            yield case


def write(path, results, how="w"):
    with open(path, how) as out:
        for case, r in results:
            out.write(json.dumps({**case, **r}) + "\n")


def work(peers):
    """The part of a process that compiles ahead, or measures apart."""
    name, part, parts = options.worker.split(":")
    mine = [case for k, case in enumerate(cases()) if k % int(parts) == int(part)]
    if name in ("warm", "measure"):
        import speed_cuda
        gpu = speed_cuda.Gpu(kiln, options, values_of)
        if name == "warm":
            speed_cuda.warm(gpu, mine, peers)
        else:
            speed_cuda.measure(gpu, mine, peers, options.said)
    else:
        prepare(kiln, mine, name.split("-")[1])


def on_host(peers):
    """Results of all cases, and the number of faults. Each is written when it is measured: a process that is ended keeps them."""
    results, faults, end = [], 0, time.monotonic() + options.budget
    if options.all:
        write(options.all, [])
    for case in cases():
        if time.monotonic() > end:
            break
        signal.alarm(options.patience)
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
        if options.all:
            write(options.all, results[-1:], "a")
        if options.verbose:
            say(line_of(case, r))
    signal.alarm(0)
    return results, faults


def on_gpu(peers):
    import speed_cuda
    with tempfile.TemporaryDirectory() as folder:
        def listed(chosen):
            path = f"{folder}/chosen.jsonl"
            write(path, [(case, {}) for case in chosen])
            return path
        return speed_cuda.run(kiln, options, list(cases()), peers, values_of, listed)


def main():
    if options.plans:
        import speed_plans
        return speed_plans.check(cases(), kiln, say)
    names = speed_peers.HOST_PEERS if is_host else speed_peers.CUDA_PEERS
    if options.peers:
        names = [n for n in options.peers.split(",") if n != "none"]
    if options.worker.startswith("prepare"):
        names = []
    peers = speed_peers.installed(names, options.threads, options.target, say)
    if options.worker:
        return work(peers)
    if options.sequences:
        peers = {"numpy": speed_sequences.Numpy(1)}
    results, faults = on_host(peers) if is_host else on_gpu(peers)
    show(results, options.worst, not is_host)
    if options.corpus:
        worst = [pair for pair in results if pair[1]["ratio"] < options.bar or not is_host and pair[1]["floor"] < options.floor_bar]
        worst.sort(key=lambda pair: min(pair[1]["ratio"] / options.bar, 9 if is_host else pair[1]["floor"] / options.floor_bar))
        write(options.corpus, [(case, {k: round(r[k], 3) for k in ("ratio", "floor")}) for case, r in worst])
    if options.all and not is_host:
        write(options.all, results)
    return faults > 0


sys.exit(main())
