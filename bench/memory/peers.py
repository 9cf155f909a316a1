"""Replays a trace of allocations with CuPy's pools and PyTorch's allocator on a GPU.

    peers.py PEER FILE [ROUNDS]      PEER: driver (cuMemAllocAsync, its pool as it is), driver_kept (the
                                     same with all of its memory kept), cupy, cupy_async (the driver's by CuPy), torch, torch_expandable

Prints the memory that the pool took at most, and the time of an operation in the fastest round but the first.
"""
import ctypes
import os
import sys
import time

peer, path = sys.argv[1:3]
rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 3
with open(path) as file:
    words = [line.split() for line in file]
trace = [(int(w[1]), int(w[2]) if w[0] == "a" else -1) for w in words]


class Driver:
    """The driver's pool of device 0, by its own functions."""
    RELEASE_THRESHOLD, RESERVED_HIGH = 4, 6

    def __init__(self, is_kept):
        self.c = ctypes.CDLL("libcuda.so.1")
        context, pool = ctypes.c_void_p(), ctypes.c_void_p()
        self.must(self.c.cuInit(0))
        self.must(self.c.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
        self.must(self.c.cuCtxSetCurrent(context))
        self.must(self.c.cuDeviceGetDefaultMemPool(ctypes.byref(pool), 0))
        self.pool = pool
        if is_kept:
            self.must(self.c.cuMemPoolSetAttribute(pool, self.RELEASE_THRESHOLD, ctypes.byref(ctypes.c_uint64(2 ** 64 - 1))))

    def must(self, result):
        if result:
            sys.exit(f"the driver says {result}")

    def take(self, size):
        return DriverBlock(self, size)

    def reserved(self):
        size = ctypes.c_uint64()
        self.must(self.c.cuMemPoolGetAttribute(self.pool, self.RESERVED_HIGH, ctypes.byref(size)))
        return size.value


class DriverBlock:
    def __init__(self, driver, size):
        self.driver, self.address = driver, ctypes.c_uint64()
        driver.must(driver.c.cuMemAllocAsync(ctypes.byref(self.address), ctypes.c_size_t(size), None))

    def __del__(self):
        self.driver.c.cuMemFreeAsync(self.address, None)


if peer.startswith("driver"):
    driver = Driver(peer == "driver_kept")
    take = driver.take
    synchronize = driver.c.cuCtxSynchronize
elif peer.startswith("cupy"):
    import cupy
    pool = cupy.cuda.MemoryAsyncPool() if peer == "cupy_async" else cupy.cuda.MemoryPool()
    cupy.cuda.Device().synchronize()
    take = pool.malloc
    synchronize = cupy.cuda.Device().synchronize
else:
    if peer == "torch_expandable":
        os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "expandable_segments:True"
    import torch
    torch.cuda.init()
    take = lambda size: torch.empty(size, dtype=torch.uint8, device="cuda")
    synchronize = torch.cuda.synchronize


def reserved():
    if peer.startswith("driver"):
        return driver.reserved()
    if peer == "cupy":
        return pool.total_bytes()
    if peer == "cupy_async":
        return pool.total_bytes()
    return torch.cuda.max_memory_reserved()


times, most = [], 0
for _ in range(rounds):
    held = {}
    start = time.perf_counter()
    for at, (name, size) in enumerate(trace):
        if size < 0:
            del held[name]
        else:
            held[name] = take(size)
            if peer == "cupy_async" and at % 256 == 0:
                most = max(most, reserved())
    times.append((time.perf_counter() - start) / len(trace))
    held.clear()
    synchronize()
    most = max(most, reserved())
print(f"{peer} {os.path.basename(path)}: held {most / 1e6:.0f} MB, {min(times[1:] or times) * 1e9:.0f} ns an "
      f"operation (cold {times[0] * 1e9:.0f})")
