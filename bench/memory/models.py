"""What other pools would take from the device for a trace, by models of their rules.

    models.py FILE...

used      the most that is allocated at once, in units of 512 bytes: no pool needs less
plain     a free list for each size, nothing is split or joined
cupy      cupy.cuda.MemoryPool: units of 512 bytes, best fit, chunks of the very size, split and joined
torch     PyTorch's caching allocator: segments of 2 MiB (up to 1 MiB), 20 MiB (up to 10 MiB), else multiples of
          2 MiB; best fit; a rest of 1 MiB or less stays with its block
expandable  the same with expandable_segments: growing segments of 2 and 20 MiB pages
"""
import bisect
import sys

UNIT, MIB = 512, 1 << 20


def up(size, unit):
    return max(unit, (size + unit - 1) // unit * unit)


class Space:
    """Blocks (start -> size) of segments, free ones in the order of size and address."""

    def __init__(self):
        self.size, self.free, self.ends, self.reserved, self.top = {}, [], {}, 0, 0
        self.is_free, self.borders = set(), set()

    def _put(self, start, size):
        self.size[start], self.ends[start + size] = size, start
        self.is_free.add(start)
        bisect.insort(self.free, (size, start))

    def _drop(self, start):
        size = self.size.pop(start)
        del self.ends[start + size]
        self.is_free.discard(start)
        del self.free[bisect.bisect_left(self.free, (size, start))]
        return size

    def segment(self, size):
        start, self.top = self.top, self.top + size + UNIT  # a gap: segments are not joined
        self.reserved += size
        self._put(start, size)

    def extend(self, size):
        """At the end of the one segment; joined with a free block there."""
        start, self.top = self.top, self.top + size
        self.reserved += size
        before = self.ends.get(start)
        if before in self.is_free:
            size += self._drop(before)
            start = before
        self._put(start, size)

    def end_free(self):
        before = self.ends.get(self.top)
        return self.size[before] if before in self.is_free else 0

    def take(self, size, may_split):
        at = bisect.bisect_left(self.free, (size, -1))
        if at == len(self.free):
            return None
        whole, start = self.free[at]
        self._drop(start)
        if whole > size and may_split(whole - size):
            self._put(start + size, whole - size)
            whole = size
        self.size[start], self.ends[start + whole] = whole, start
        return start

    def give(self, start):
        size = self.size.pop(start)
        del self.ends[start + size]
        if start + size in self.is_free:
            size += self._drop(start + size)
        before = self.ends.get(start)
        if before in self.is_free:
            size += self._drop(before)
            start = before
        self._put(start, size)


class Used:
    def __init__(self):
        self.reserved = self.now = 0

    def take(self, size):
        self.now += up(size, UNIT)
        self.reserved = max(self.reserved, self.now)
        return up(size, UNIT)

    def give(self, size):
        self.now -= size


class Plain(Used):
    def __init__(self):
        self.reserved, self.lists = 0, {}

    def take(self, size):
        size = up(size, UNIT)
        if self.lists.get(size, 0):
            self.lists[size] -= 1
        else:
            self.reserved += size
        return size

    def give(self, size):
        self.lists[size] = self.lists.get(size, 0) + 1


class Cupy:
    def __init__(self):
        self.space = Space()

    @property
    def reserved(self):
        return self.space.reserved

    def take(self, size):
        size = up(size, UNIT)
        start = self.space.take(size, lambda rest: True)
        if start is None:
            self.space.segment(size)
            start = self.space.take(size, lambda rest: True)
        return start

    def give(self, start):
        self.space.give(start)


class Torch:
    def __init__(self):
        self.spaces = {True: Space(), False: Space()}

    @property
    def reserved(self):
        return sum(s.reserved for s in self.spaces.values())

    def grow(self, space, size):
        space.segment(2 * MIB if size <= MIB else 20 * MIB if size < 10 * MIB else up(size, 2 * MIB))

    def take(self, size):
        size = up(size, UNIT)
        is_small = size <= MIB
        space = self.spaces[is_small]
        rule = (lambda rest: rest >= UNIT) if is_small else (lambda rest: rest > MIB)
        start = space.take(size, rule)
        if start is None:
            self.grow(space, size)
            start = space.take(size, rule)
        return is_small, start

    def give(self, what):
        self.spaces[what[0]].give(what[1])


class Expandable(Torch):
    def grow(self, space, size):
        space.extend(up(size - space.end_free(), 2 * MIB if size <= MIB else 20 * MIB))


MODELS = {"used": Used, "plain": Plain, "cupy": Cupy, "torch": Torch, "expandable": Expandable}


def replay(lines, pool):
    held = {}
    for line in lines:
        if line[0] == "a":
            _, name, size = line.split()
            held[name] = pool.take(int(size))
        else:
            pool.give(held.pop(line.split()[1]))
    return pool.reserved


if __name__ == "__main__":
    for path in sys.argv[1:]:
        with open(path) as file:
            lines = file.read().split("\n")[:-1]
        values = {name: replay(lines, model()) / 1e6 for name, model in MODELS.items()}
        print(path, len(lines), *(f"{name} {value:.0f}" for name, value in values.items()))
