"""How the peers of bench/fuzz_speed.py run a case: each a function of the case and its arrays that gives a callable, which returns its result. What is not
installed, or has no words for a case, is left out."""
import numpy as np

HOST_PEERS, CUDA_PEERS = ("numpy", "numba", "jax"), ("torch", "jax", "cupy")


def compiled(text):
    """Statements, each a name and its code; of what comes last the name is None."""
    *first, last = [s.strip() for s in text.split(";")]
    return [(s.split(" = ", 1)[0], compile(s.split(" = ", 1)[1], "case", "eval")) for s in first] + [(None, compile(last, "case", "eval"))]


def evaluated(statements, space):
    for name, code in statements:
        space[name] = eval(code, space)
    return space[None]


def viewed(case, bases, module):
    return {n: eval(i["view"], {**module, "x": bases[n]}) for n, i in case["inputs"].items()}


def words_of(module):
    """A module's names, as the texts have them."""
    return {name: getattr(module, name) for name in dir(module) if not name.startswith("_")}


NUMPY = words_of(np)


class Numpy:
    def __init__(self, threads):
        pass

    def make(self, case, bases, arrays):
        statements, space = compiled(case["text"]), {**NUMPY, **arrays}
        return lambda: evaluated(statements, space)


class Numba:
    def __init__(self, threads):
        from numba import njit
        self.njit = njit(error_model="numpy")

    def make(self, case, bases, arrays, wanted=None):
        from speed_loops import Loops, Unsupported
        try:
            loops = Loops(case["text"], arrays)
            function, self.text = loops.compiled(self.njit, wanted.shape)
            out = np.empty_like(wanted)
            function(*arrays.values(), out)
        except Unsupported:
            return None
        given = list(arrays.values())

        def run():
            function(*given, out)
            return out
        return run


class Jax:
    """The views are part of what is compiled: arrays lie as in memory."""

    def __init__(self, threads, target="host"):
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.module, self.is_host = jax, words_of(jax.numpy), target == "host"
        self.device = jax.devices("cpu" if target == "host" else "gpu")[0]

    def make(self, case, bases, arrays):
        def function(given):
            return evaluated(statements, {**self.module, **viewed(case, given, self.module)})
        statements = compiled(case["text"])
        call = self.jax.jit(function)
        given = {n: self.jax.device_put(b, self.device) for n, b in bases.items()}
        call(given).block_until_ready()
        if self.is_host:  # which runs calls side by side: the last one's end is not all of them
            return lambda: call(given).block_until_ready()
        return lambda: call(given)

    @staticmethod
    def wait(result):
        result.block_until_ready()


class Torch:
    """NumPy's words for torch.compile."""

    def __init__(self, threads, target="cuda"):
        import torch
        if not torch.cuda.is_available():
            raise ImportError("no GPU")
        self.torch = torch
        self.module = {**words_of(torch), "max": self.fold(torch.amax, torch.max), "min": self.fold(torch.amin, torch.min), "sum": self.total(torch.sum),
                       "mean": self.total(torch.mean), "var": self.spread(torch.var), "std": self.spread(torch.std), "any": self.total(torch.any),
                       "all": self.total(torch.all), "maximum": self.mixed(torch.maximum), "minimum": self.mixed(torch.minimum), "where": self.select,
                       "transpose": lambda x, order: x.permute(order), "argmax": lambda x, axis: torch.argmax(x, dim=axis), "clip": torch.clamp,
                       "argmin": lambda x, axis: torch.argmin(x, dim=axis)}

    def total(self, function):
        return lambda x, axis=None, keepdims=False: function(x) if axis is None else function(x, dim=axis, keepdim=keepdims)

    def fold(self, along, every):
        return lambda x, axis=None, keepdims=False: every(x) if axis is None else along(x, dim=axis, keepdim=keepdims)

    def spread(self, function):
        return lambda x, axis=None, keepdims=False: function(x, dim=axis, correction=0, keepdim=keepdims)

    def like(self, a, b):
        return a if isinstance(a, self.torch.Tensor) else self.torch.as_tensor(a, dtype=b.dtype, device=b.device)

    def mixed(self, function):
        return lambda a, b: function(self.like(a, b), self.like(b, a))

    def select(self, m, a, b):
        return self.torch.where(m, a, b)

    def make(self, case, bases, arrays):
        text = case["text"].replace(".astype(", ".to(").replace(".T", ".mT" if len(next(iter(arrays.values())).shape) == 2 else ".T")
        given = {n: self.torch.from_numpy(np.ascontiguousarray(b)).cuda() for n, b in bases.items()}
        if any("::-1" in i["view"] for i in case["inputs"].values()) or "::-1" in text:
            return None
        self.torch._dynamo.reset()
        call = self.torch.compile(lambda given: evaluated(compiled(text), {**self.module, **viewed(case, given, self.module)}), dynamic=False)
        call(given)
        self.torch.cuda.synchronize()
        return lambda: call(given)

    def wait(self, result):
        self.torch.cuda.synchronize()


class Cupy:
    def __init__(self, threads, target="cuda"):
        import cupy
        cupy.cuda.runtime.getDeviceCount()
        self.cupy, self.module = cupy, words_of(cupy)

    def make(self, case, bases, arrays):
        given = viewed(case, {n: self.cupy.asarray(b) for n, b in bases.items()}, self.module)
        statements, space = compiled(case["text"]), {**self.module, **given}
        return lambda: evaluated(statements, space)

    def wait(self, result):
        self.cupy.cuda.get_current_stream().synchronize()


KINDS = {"numpy": Numpy, "numba": Numba, "jax": Jax, "torch": Torch, "cupy": Cupy}


def installed(names, threads, target, say):
    """Peers by name; what cannot be loaded is said and left out."""
    found = {}
    for name in names:
        try:
            found[name] = KINDS[name](threads, target) if name in ("jax", "torch", "cupy") else KINDS[name](threads)
        except Exception as failure:
            say(f"# without {name}: {type(failure).__name__}: {str(failure).splitlines()[0] if str(failure) else ''}")
    return found
