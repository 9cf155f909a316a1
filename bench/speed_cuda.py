"""The part of bench/fuzz_speed.py for GPUs. Data and reference are PyTorch's, in float64 on the device; times are medians of graphs of calls.

All cases are compiled first, by as many processes as there are processors, without the device. Then kiln is measured beside a copy on all of them, and the
peers, whose compilers take seconds a case, on some: the worst by the floor, and cases at random, in turn, until the time is over. That is done by a process
apart (bench/speed_apart.py), in which kiln and the copy are measured once more."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import torch

import speed_apart
import speed_cases
import speed_peers
import speed_report
from speed_call import Call, Shadow
from speed_floor import bytes_at, read_again

REPEATS, GRAPH = 9, 500e-6  # graphs of calls; seconds of a graph
WIDE = {torch.float16: torch.float64, torch.float32: torch.float64, torch.complex64: torch.complex128}
WARMERS = 6  # processes that compile for the peers, each with data on the device


def as_peers_have(dtype):
    """The name of a dtype; PyTorch's sums of bytes are signed, and count as well as NumPy's."""
    return f"int{8 * dtype.itemsize}" if dtype.kind == "u" and dtype.itemsize > 1 else dtype.name


class Unwell(BaseException):
    """Nothing runs on the device any more."""


class Memory:
    """An address as PyTorch takes it."""

    def __init__(self, address, shape, strides, dtype):
        self.__cuda_array_interface__ = {"data": (address, False), "shape": shape, "strides": strides, "typestr": dtype.str, "version": 3}


class Gpu:
    def __init__(self, kiln, options, values_of):
        self.kiln, self.options = kiln, options
        self.values_of, self.pools, self.stream = values_of, {}, torch.cuda.Stream()
        self.reference = speed_peers.Torch(1)
        self.reference.module.update(float32=torch.float64, float16=torch.float64)
        self.most = 0.5 * torch.cuda.mem_get_info()[1]

    def base(self, i, rng):
        """The array behind an input: numbers of a pool, again and again after a prime number of them."""
        key, period = (i["dtype"], i["values"]), 1000003
        if key not in self.pools:
            self.pools[key] = torch.from_numpy(self.values_of(i, 2 * period, np.random.default_rng(1))).cuda()
        out = torch.empty(i["shape"], dtype=self.pools[key].dtype, device="cuda")
        flat, begin = out.view(-1), int(rng.integers(0, period))
        done = min(flat.numel(), period)
        flat[:done] = self.pools[key][begin:begin + done]
        while done < flat.numel():
            n = min(done, flat.numel() - done)
            flat[done:done + n] = flat[:n]
            done += n
        return out

    def copy_seconds(self, size):
        """A copy that moves as many bytes, half of them read: the faster of the driver's and of a kernel of PyTorch's."""
        n = max(size // 8, 1)
        source, target = torch.ones(n, dtype=torch.int32, device="cuda"), torch.empty(n, dtype=torch.int32, device="cuda")
        return min(self.seconds(lambda: target.copy_(source)), self.seconds(lambda: torch.neg(source, out=target)))

    def seconds(self, function):
        """As Call.seconds."""
        def timed(work):
            begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
            begin.record()
            work()
            end.record()
            end.synchronize()
            return begin.elapsed_time(end) * 1e-3
        for _ in range(2):
            function()
        torch.cuda.synchronize()
        count = max(1, min(100, int(GRAPH / max(min(timed(function), timed(function)), 1e-7))))
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.stream(self.stream):  # torch.cuda.graph collects garbage each time, which takes longer than all else
            graph.capture_begin()
            try:
                for _ in range(count):
                    function()
            finally:
                graph.capture_end()
        for _ in range(3):
            timed(graph.replay)
        return statistics.median(timed(graph.replay) for _ in range(REPEATS)) / count

    def seconds_by_clock(self, function, wait):
        """Of what cannot be part of a graph: many calls, of which the last is waited for."""
        wait(function())
        begin = time.perf_counter()
        wait(function())
        count = max(1, int(4 * GRAPH / max(time.perf_counter() - begin, 1e-7)))
        found = []
        for _ in range(REPEATS):
            begin = time.perf_counter()
            for _ in range(count):
                result = function()
            wait(result)
            found.append((time.perf_counter() - begin) / count)
        return statistics.median(found)

    def fault(self, case, bases, call):
        """What is wrong with a result; None: nothing."""
        address, shape, strides, dtype = call.result()
        signed = np.dtype(f"i{dtype.itemsize}") if dtype.kind == "u" and dtype.itemsize > 1 else dtype  # of which PyTorch has more
        got = torch.as_tensor(Memory(address, shape, strides, signed), device="cuda")
        exact = self.reference.eager(case, [b.to(WIDE.get(b.dtype, b.dtype)) for b in bases.values()])
        if tuple(exact.shape) != tuple(shape):
            return f"{list(shape)}, where PyTorch has {list(exact.shape)}"
        if dtype.kind not in "fc":
            same = (got == exact.to(got.dtype)).double().mean().item() if got.numel() else 1
            return None if same > 0.998 else f"{100 * (1 - same):.2f} % of the elements are others"
        wide = exact.to(WIDE.get(got.dtype, got.dtype))
        is_sure = torch.isfinite(wide.to(got.dtype)) & torch.isfinite(wide)
        wide, got = torch.where(is_sure, wide, 0), torch.where(is_sure, got, 0)
        scale = max(wide.abs().max().item(), 1)
        off = (got.to(wide.dtype) - wide).abs().max().item()
        return None if off <= speed_cases.tolerance(case, dtype.name) * scale else f"off by {off}, where results are up to {scale}"

    def trim(self):
        """What three allocators keep for later must fit together."""
        if torch.cuda.mem_get_info()[0] < self.most:
            torch.cuda.empty_cache()
            self.kiln.check(self.kiln.c.kiln_memory_trim(self.kiln.device, 0), "trim")

    def measured(self, case, peers=(), is_checked=True, begin=lambda name: None):
        """A result. begin(name): is told of each peer, in front of it."""
        self.trim()
        shadow, rng = Shadow(case), np.random.default_rng([case["seed"], case["number"]])
        bases = {n: self.base(i, rng) for n, i in case["inputs"].items()}
        torch.cuda.synchronize()
        call = Call(self.kiln, case, shadow.arrays, None, lambda n, a: shadow.address(n, a, bases[n].data_ptr()))
        try:
            call()
            times = {"kiln": call.seconds(REPEATS)}
            _, shape, _, dtype = call.result()
            size = sum(bytes_at(a) for a in shadow.arrays.values()) + int(np.prod(shape)) * dtype.itemsize
            times["copy"] = self.copy_seconds(size)
            again = read_again(case, shadow.arrays, shape)
            fault, unlike = self.fault(case, bases, call) if is_checked else None, {}
            for name, peer in dict(peers).items():
                begin(name)
                seconds, found = self.peer_seconds(name, peer, case, bases)
                if seconds:
                    (times if found == as_peers_have(dtype) else unlike)[name] = seconds
            floor = times["copy"] / times["kiln"]
            return {"times": times, "unlike": unlike, "bytes": size, "again": again, "fault": fault, "plan": call.plan(), "floor": floor,
                    "passes": floor * (size + again) / size, "ratio": speed_report.ratio_of(times)}
        finally:
            torch.cuda.synchronize()
            call.free()

    def peer_seconds(self, name, peer, case, bases):
        """The time and the result's dtype; None: it fails. Unwell: and nothing runs behind it."""
        def by_clock():
            return self.seconds_by_clock(function, peer.wait)
        try:
            function = peer.make(case, bases, None)
            found = str(function().dtype).removeprefix("torch.")
            try:
                return self.seconds(function) if name == "torch" else by_clock(), found
            except RuntimeError:
                if name != "torch" or not self.is_well():
                    raise
                return by_clock(), found  # what a capture cannot hold
        except Exception as failure:
            if self.options.verbose:
                speed_report.say(f"# {name}: {speed_report.first_line(failure)}: {case['text']}")
            if not self.is_well():
                raise Unwell(name) from failure
            return None, None

    def is_well(self):
        """The device still computes, and can be captured."""
        try:
            one = torch.ones(1, device="cuda")
            self.seconds(lambda: one.add_(0))
            return one.item() == 1
        except Exception:
            return False


# ---- processes that compile ahead ----

def in_processes(work, count, until, arguments=()):
    """Runs this program as so many workers, each with its part of the cases; those that last too long are ended. Of one that fails its last line is said."""
    running = []
    for k in range(count):
        said = tempfile.TemporaryFile()
        running.append((subprocess.Popen([sys.executable, *sys.argv, *arguments, "--worker", f"{work}:{k}:{count}"], stdout=subprocess.DEVNULL,
                                         stderr=said, env=os.environ), said))
    for worker, said in running:
        try:
            if worker.wait(max(until - time.monotonic(), 0.1)):
                said.seek(0)
                speed_report.say(f"# a worker failed ({work}): {(said.read().decode(errors='replace').strip().splitlines() or ['it said nothing'])[-1]}")
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()


def warm(gpu, cases, peers):
    """A worker: the peers compile, into caches of theirs on the disk."""
    for case in cases:
        rng = np.random.default_rng([case["seed"], case["number"]])
        bases = {n: gpu.base(i, rng) for n, i in case["inputs"].items()}
        for peer in peers.values():
            try:
                peer.wait(peer.make(case, bases, None)())
            except Exception:
                pass
        gpu.trim()


def measure(gpu, cases, peers, path):
    """A worker: kiln, the copy and the peers; what it begins and finds is written to a file."""
    with open(path, "a") as out:
        def say(case, **words):
            out.write(json.dumps({"number": case["number"], **words}) + "\n")
            out.flush()
        for case in cases:
            mine = {name: peer for name, peer in peers.items() if name not in case["without"]}
            say(case, peer="")
            say(case, **gpu.measured(case, mine, False, lambda name: say(case, peer=name)))


# ---- all of it ----

def chosen(results, count, seed):
    """Cases that peers run: the worst by the floor and random ones, in turn."""
    worst = sorted(results, key=lambda pair: pair[1]["floor"])
    drawn = list(np.random.default_rng(seed).permutation(len(results)))
    found, taken = [], set()
    for k in range(len(results)):
        for pair, sort in ((results[drawn[k]], "random"), (worst[k], "worst")):
            if pair[0]["number"] not in taken and len(found) < count:
                taken.add(pair[0]["number"])
                found.append((pair[0], sort))
    return found


def run(kiln, options, cases, peers, values_of, listed):
    """Results of all cases, as (case, result), and the number of faults."""
    say, begin = speed_report.say, time.monotonic()
    at = lambda part: begin + part * options.budget  # noqa: E731
    processors = len(os.sched_getaffinity(0))
    target = "sm_%d%d" % torch.cuda.get_device_capability()
    in_processes(f"prepare-{target}", processors, at(0.4))
    say(f"# {time.monotonic() - begin:.0f} s: {processors} processes have compiled for {target}")
    gpu, results, faults = Gpu(kiln, options, values_of), [], 0
    last = at(0.6 if peers and options.peer_cases else 1)
    for case in cases:
        if time.monotonic() > last:
            say("# the time for kiln is over: the rest of the cases is left out")
            break
        try:
            r = gpu.measured(case)
        except RuntimeError as failure:
            say(f"FAILED {speed_cases.words(case)}\n{failure}")
            faults += 1
            continue
        if r["bytes"] < options.bytes and case["family"] != "products":
            continue
        if r["fault"]:
            say(f"WRONG {speed_cases.words(case)}: {r['fault']}\n    {r['plan']}")
            faults += 1
        results.append((case, r))
    say(f"# {time.monotonic() - begin:.0f} s: {len(results)} cases by kiln")
    some = chosen(results, options.peer_cases, options.seed) if peers else []
    if some:
        path = listed([case for case, _ in some])
        in_processes("warm", min(WARMERS, processors), at(0.75), ("--replay", path))
        say(f"# {time.monotonic() - begin:.0f} s: peers have compiled")
    gpu.pools.clear()
    torch.cuda.empty_cache()
    kiln.check(kiln.c.kiln_memory_trim(kiln.device, 0), "trim")
    worker = [sys.executable, *sys.argv, "--worker", "measure:0:1"]
    found = speed_apart.measured(lambda given, said: subprocess.Popen([*worker, "--replay", given, "--said", said]), [case for case, _ in some], at(1), say)
    say(f"# {time.monotonic() - begin:.0f} s: {len(found)} cases beside peers")
    sorts = {case["number"]: sort for case, sort in some}
    for k, (case, r) in enumerate(results):
        if case["number"] in found:
            results[k] = (case, {**r, **found[case["number"]], "fault": r["fault"], "sort": sorts[case["number"]]})
    say(f"# {time.monotonic() - begin:.0f} s in all")
    return results, faults
