"""Traces of allocations, as programs make them: lines `a ID BYTES` and `f ID`.

    traces.py NAME [--seed N] [--scale S] > FILE

seq2seq     a recurrent model over sentences of other lengths at each step: forward, backward, Adam
transformer the same over a stack of attention blocks, with the logits of a large vocabulary
images      a convolutional network, other image sizes at each step, with workspaces
generation  keys and values that grow token by token by concatenation, requests that come and go
random      sizes from 512 bytes to 64 MiB, log-uniform, freed in random order

--scale multiplies widths (1: some gigabytes). The same seed gives the same trace.
"""
import argparse
import random
import sys


class Tape:
    """Allocations and frees, by number."""

    def __init__(self, out):
        self.out, self.count = out, 0

    def new(self, *shape, item=4):
        size = item
        for extent in shape:
            size *= max(1, int(extent))
        self.count += 1
        self.out.append(f"a {self.count} {size}")
        return self.count

    def free(self, *names):
        for name in names:
            self.out.append(f"f {name}")

    def temporary(self, *shape, item=4):
        self.free(self.new(*shape, item=item))


def adam(tape, parameters, gradients):
    for shape, gradient in zip(parameters, gradients):
        update = tape.new(*shape)
        tape.temporary(*shape)
        tape.free(update, gradient)


def state(tape, parameters):
    for shape in parameters:
        for _ in range(3):  # the parameter and Adam's two moments
            tape.new(*shape)


def seq2seq(tape, rng, scale, steps=12):
    width, words, layers, batch = int(1024 * scale), 40000, 2, 128
    parameters = [(words, width), (words, width), (width, words)] + [(2 * width, 4 * width)] * (2 * layers)
    state(tape, parameters)
    for _ in range(steps):
        lengths = [rng.randint(8, 60), rng.randint(8, 60)]
        saved = []
        for length in lengths:
            for _ in range(length):
                saved.append(tape.new(batch, width))  # the embedding
                for _ in range(layers):
                    joined, gates = tape.new(batch, 2 * width), tape.new(batch, 4 * width)
                    saved += [joined, gates, tape.new(batch, width), tape.new(batch, width)]
        losses = []
        for _ in range(lengths[1]):
            logits = tape.new(batch, words)
            tape.temporary(batch, 1)
            losses += [logits, tape.new(batch, words), tape.new(1)]
        gradients = {}
        while losses:
            one, soft, logits = losses.pop(), losses.pop(), losses.pop()
            gradient = tape.new(batch, words)
            tape.free(one, soft)
            part = tape.new(width, words)
            tape.free(gradient, logits)
            if 2 in gradients:
                total = tape.new(width, words)
                tape.free(part, gradients[2])
                part = total
            gradients[2] = part
        flow = tape.new(batch, width)
        while saved:
            for layer in range(layers):
                hidden, cell, gates, joined = saved.pop(), saved.pop(), saved.pop(), saved.pop()
                gate_gradient = tape.new(batch, 4 * width)
                tape.free(cell, gates)
                part = tape.new(2 * width, 4 * width)
                back = tape.new(batch, 2 * width)
                tape.free(gate_gradient, hidden, joined, flow)
                if 3 + layer in gradients:
                    total = tape.new(2 * width, 4 * width)
                    tape.free(part, gradients[3 + layer])
                    part = total
                gradients[3 + layer] = part
                flow = tape.new(batch, width)
                tape.free(back)
            tape.free(saved.pop())
        tape.free(flow)
        for which in (0, 1):
            gradients[which] = tape.new(words, width)
        for layer in range(layers):
            gradients[3 + layers + layer] = tape.new(2 * width, 4 * width)
        adam(tape, parameters, [gradients[k] for k in range(len(parameters))])


def transformer(tape, rng, scale, steps=12):
    width, words, layers, heads = int(1024 * scale), 50257, 16, 16
    block = [(width, 3 * width), (width, width), (width, 4 * width), (4 * width, width), (width,), (width,)]
    parameters = [(words, width)] + block * layers
    state(tape, parameters)
    for _ in range(steps):
        length = rng.choice([128, 256, 512, 1024]) - rng.randint(0, 100)
        batch = max(1, 8192 // length)
        saved = []
        tokens = tape.new(batch, length, item=8)
        x = tape.new(batch, length, width, item=2)
        for _ in range(layers):
            normed, qkv = tape.new(batch, length, width, item=2), tape.new(batch, length, 3 * width, item=2)
            scores = tape.new(batch, heads, length, length, item=2)
            soft = tape.new(batch, heads, length, length, item=2)
            tape.free(scores)
            mixed = tape.new(batch, length, width, item=2)
            tape.temporary(batch, length, width, item=2)
            normed2, wide = tape.new(batch, length, width, item=2), tape.new(batch, length, 4 * width, item=2)
            active = tape.new(batch, length, 4 * width, item=2)
            saved.append((x, normed, qkv, soft, mixed, normed2, wide, active))
            x = tape.new(batch, length, width, item=2)
        logits = tape.new(batch, length, words, item=2)
        wide = tape.new(batch, length, words)
        soft = tape.new(batch, length, words)
        tape.free(wide)
        gradient = tape.new(batch, length, words, item=2)
        tape.free(soft, logits)
        flow = tape.new(batch, length, width, item=2)
        gradients = [tape.new(words, width)]
        tape.free(gradient, x)
        for x, normed, qkv, soft, mixed, normed2, wide, active in reversed(saved):
            back = tape.new(batch, length, 4 * width, item=2)
            gradients.append(tape.new(4 * width, width))
            tape.free(active)
            back2 = tape.new(batch, length, 4 * width, item=2)
            tape.free(back, wide)
            gradients.append(tape.new(width, 4 * width))
            tape.free(normed2, back2)
            back = tape.new(batch, length, width, item=2)
            gradients.append(tape.new(width, width))
            tape.free(mixed)
            scores = tape.new(batch, heads, length, length, item=2)
            tape.temporary(batch, heads, length, length, item=2)
            tape.free(soft)
            qkv_gradient = tape.new(batch, length, 3 * width, item=2)
            tape.free(scores, qkv, back)
            gradients += [tape.new(width, 3 * width), tape.new(width), tape.new(width)]
            tape.free(normed, qkv_gradient, flow, x)
            flow = tape.new(batch, length, width, item=2)
        tape.free(flow, tokens)
        shapes = [(words, width)] + [(4 * width, width), (width, 4 * width), (width, width), (width, 3 * width),
                                     (width,), (width,)] * layers
        adam(tape, shapes, gradients)


def images(tape, rng, scale, steps=12):
    channels = [int(c * scale) for c in (64, 128, 256, 512)]
    parameters = [(a, b, 3, 3) for a, b in zip([3] + channels, channels)] + [(c, c, 3, 3) for c in channels] * 3
    state(tape, parameters)
    for _ in range(steps):
        batch, side = rng.choice([16, 24, 32]), 32 * rng.randint(5, 12)
        saved, extent = [tape.new(batch, 3, side, side)], side
        for c in channels:
            extent //= 2
            for _ in range(4):
                tape.temporary(rng.choice([8, 32, 96]) << 20, item=1)  # a convolution's workspace
                saved.append(tape.new(batch, c, extent, extent))
                saved.append(tape.new(batch, c, extent, extent))
                saved.append(tape.new(c))
        flow, gradients = tape.new(batch, channels[-1], extent, extent), []
        for c in reversed(channels):
            for _ in range(4):
                small, out, normed = saved.pop(), saved.pop(), saved.pop()
                back = tape.new(batch, c, extent, extent)
                tape.free(normed, small, flow)
                tape.temporary(rng.choice([8, 32, 96]) << 20, item=1)
                gradients.append(((c, c, 3, 3), tape.new(c, c, 3, 3)))
                flow = tape.new(batch, c, extent, extent)
                tape.free(out, back)
            extent *= 2
        tape.free(flow, saved.pop())
        adam(tape, [g[0] for g in gradients], [g[1] for g in gradients])


def generation(tape, rng, scale, steps=400):
    width, layers = int(2048 * scale), 8
    for _ in range(12 * layers):
        tape.new(width, width, item=2)
    live = []
    for _ in range(steps):
        if len(live) < 8 and rng.random() < 0.05 or not live:
            length = rng.randint(16, 1500)
            live.append([length, length + rng.randint(20, 400),
                         [tape.new(2, length, width, item=2) for _ in range(layers)]])
        for request in live:
            request[0] += 1
            for layer in range(layers):
                tape.temporary(3 * width, item=2)
                longer = tape.new(2, request[0], width, item=2)
                tape.free(request[2][layer])
                request[2][layer] = longer
                tape.temporary(16, request[0], item=4)
        for request in [r for r in live if r[0] >= r[1]]:
            tape.free(*request[2])
            live.remove(request)


def at_random(tape, rng, scale, steps=20000):
    live = []
    for _ in range(steps):
        if len(live) < 300 and rng.random() < 0.6:
            live.append(tape.new(int(512 * 2 ** rng.uniform(0, 17) * scale), item=1))
        elif live:
            tape.free(live.pop(rng.randrange(len(live))))


TRACES = {"seq2seq": seq2seq, "transformer": transformer, "images": images, "generation": generation,
          "random": at_random}


def make(name, seed=1, scale=1.0):
    out = []
    TRACES[name](Tape(out), random.Random(f"{name} {seed}"), scale)
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=TRACES)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1.0)
    wish = parser.parse_args()
    sys.stdout.write("\n".join(make(wish.name, wish.seed, wish.scale)) + "\n")
