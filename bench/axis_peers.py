#!/usr/bin/env python3
"""The rows of bench/models/axis_rows.c by torch.compile, and the rate of a copy: microseconds, medians of calls timed by events.

    bench/axis_peers.py > peers.tsv"""
import statistics

import torch

F32 = torch.float32


def softmax(axis):
    return lambda x: torch.softmax(x, axis)


def normal(axes):
    def run(x):
        d = x - x.mean(axes, keepdim=True)
        return d * torch.rsqrt((d * d).mean(axes, keepdim=True) + 1e-5)
    return run


def standardise(x):
    return (x - x.mean(0)) / x.std(0, correction=0)


def rescale(x):
    f = x.float()
    low = f.amin(0)
    return (f - low) / (f.amax(0) - low)


ROWS = [
    ("N0 centre (4096, 4096)", lambda x: x - x.mean(0), [(F32, (4096, 4096))]),
    ("N0 centre (16384, 16384)", lambda x: x - x.mean(0), [(F32, (16384, 16384))]),
    ("N1 standardise (65536, 1024)", standardise, [(F32, (65536, 1024))]),
    ("N1b standardise (4096, 65536)", standardise, [(F32, (4096, 65536))]),
    ("N2 softmax axis 0 (4096, 16384)", softmax(0), [(F32, (4096, 16384))]),
    ("N3 softmax channels (64, 1000, 28, 28)", softmax(1), [(F32, (64, 1000, 28, 28))]),
    ("N3b softmax channels bf16 (8, 21, 512, 512)", softmax(1), [(torch.bfloat16, (8, 21, 512, 512))]),
    ("N4 L2 norm channels (64, 256, 56, 56)", lambda x: x / torch.sqrt((x * x).sum(1, keepdim=True) + 1e-12), [(F32, (64, 256, 56, 56))]),
    ("N5 batch norm NCHW (64, 256, 56, 56)", normal((0, 2, 3)), [(F32, (64, 256, 56, 56))]),
    ("N5 batch norm NHWC (64, 56, 56, 256)", normal((0, 1, 2)), [(F32, (64, 56, 56, 256))]),
    ("N7 layer norm channels (64, 256, 56, 56)", normal(1), [(F32, (64, 256, 56, 56))]),
    ("N8 grey u8 (64, 1080, 1920, 3)", lambda x, w: (x * w).sum(-1), [(torch.uint8, (64, 1080, 1920, 3)), (F32, (3,))]),
    ("N8b dot products f32 (2^24, 3)", lambda x, w: (x * w).sum(-1), [(F32, (1 << 24, 3)), (F32, (3,))]),
    ("N9 k-means (2^20, 16), 64 centres", lambda x, c: ((x - c) ** 2).sum(-1).argmin(-1), [(F32, (1 << 20, 1, 16)), (F32, (64, 16))]),
    ("N10 fill (16384, 16384)", lambda m, x: torch.where(m, x, x.mean(0)), [(torch.bool, (16384, 16384)), (F32, (16384, 16384))]),
    ("N11 best channel bf16 (8, 21, 512, 512)", lambda x: x.argmax(1), [(torch.bfloat16, (8, 21, 512, 512))]),
    ("N12 min-max u8 (2^20, 256)", rescale, [(torch.uint8, (1 << 20, 256))]),
    ("F softmax (32768, 4096)", softmax(-1), [(F32, (32768, 4096))]),
    ("F layer norm (65536, 1024)", normal(-1), [(F32, (65536, 1024))]),
]


def make(dtype, shape):
    if dtype == torch.bool:
        return torch.rand(shape, device="cuda") < 0.5
    if dtype == torch.uint8:
        return torch.randint(0, 256, shape, dtype=dtype, device="cuda")
    return torch.randn(shape, device="cuda").to(dtype)


def time_of(call):
    for _ in range(5):
        call()
    times = []
    for _ in range(30):
        start, end = torch.cuda.Event(True), torch.cuda.Event(True)
        start.record()
        call()
        end.record()
        end.synchronize()
        times.append(start.elapsed_time(end) * 1e3)
    return statistics.median(times)


def main():
    x = make(F32, (1 << 28,))
    y = torch.empty_like(x)
    us = time_of(lambda: y.copy_(x))
    print(f"copy of 1 GiB\t{us:.1f}\t{8 << 28}\t{(8 << 28) / us * 1e-3:.1f}", flush=True)
    del x, y
    for name, function, inputs in ROWS:
        torch._dynamo.reset()
        compiled = torch.compile(function, dynamic=False)
        arguments = [make(*one) for one in inputs]
        print(f"{name}\t{time_of(lambda: compiled(*arguments)):.1f}", flush=True)


main()
