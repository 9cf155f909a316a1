"""How the peers of bench/fuzz_speed.py run a case: each a function of the case and its arrays that gives a callable, which returns its result. What is not
installed, or has no words for a case, is left out."""
import os
import re

import numpy as np

WORD_X = r"\bx\b"
HOST_PEERS, CUDA_PEERS = ("numpy", "numba", "jax"), ("torch", "jax")


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


def widened(case):
    """The dtype of each input that NumPy converts, wherever it meets the floats among the others (int32 with float32: float64); peers would keep the latter's.
    Results of another dtype have other bytes."""
    floats = [i["dtype"] for i in case["inputs"].values() if np.dtype(i["dtype"]).kind in "fc"]
    common = {n: np.result_type(i["dtype"], *floats) for n, i in case["inputs"].items() if np.dtype(i["dtype"]).kind in "iu"}
    return {n: d.name for n, d in common.items() if floats and d != np.result_type(*floats)}


class Jax:
    """The views are part of what is compiled: arrays lie as in memory."""

    def __init__(self, threads, target="host"):
        import jax
        jax.config.update("jax_enable_x64", True)
        self.jax, self.module, self.is_host = jax, words_of(jax.numpy), target == "host"
        self.device = jax.devices("cpu" if target == "host" else "gpu")[0]
        if not self.is_host:  # whose compiles another process may have made
            jax.config.update("jax_compilation_cache_dir", os.path.expanduser("~/.cache/jax"))
            jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)

    def make(self, case, bases, arrays):
        def function(given):
            return evaluated(statements, {**self.module, **viewed(case, {n: a.astype(wide[n]) if n in wide else a for n, a in given.items()}, self.module)})
        statements, wide = compiled(case["text"]), widened(case)
        call = self.jax.jit(function)
        given = {n: self.jax.device_put(b, self.device) if isinstance(b, np.ndarray) else self.jax.dlpack.from_dlpack(b) for n, b in bases.items()}
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
        if target == "cuda" and not torch.cuda.is_available():
            raise ImportError("no GPU")
        torch.set_default_dtype(torch.float64)  # that of a quotient of whole numbers, as NumPy's
        self.torch, self.is_host = torch, target == "host"
        mean = lambda x, **how: torch.mean(self.real(x), **how)  # noqa: E731
        self.module = {
            **words_of(torch), "max": self.fold(torch.amax, torch.max), "min": self.fold(torch.amin, torch.min), "sum": self.total(torch.sum),
            "mean": self.total(mean), "var": self.spread(torch.var), "std": self.spread(torch.std), "any": self.total(torch.any),
            "all": self.total(torch.all), "maximum": self.mixed(torch.maximum), "minimum": self.mixed(torch.minimum), "where": self.select,
            "transpose": lambda x, order: x.permute(order), "argmax": lambda x, axis: torch.argmax(x, dim=axis), "clip": torch.clamp,
            "reverse": self.reverse, "argmin": lambda x, axis: torch.argmin(x, dim=axis)}

    def total(self, function):
        return lambda x, axis=None, keepdims=False: function(x) if axis is None else function(x, dim=axis, keepdim=keepdims)

    def fold(self, along, every):
        return lambda x, axis=None, keepdims=False: every(x) if axis is None else along(x, dim=axis, keepdim=keepdims)

    def spread(self, function):
        return lambda x, axis=None, keepdims=False: function(self.real(x), dim=axis, correction=0, keepdim=keepdims)

    def real(self, x):
        """Whole numbers have no mean in PyTorch; NumPy's is a float64."""
        return x if x.is_floating_point() or x.is_complex() else x.to(self.torch.float64)

    def like(self, a, b):
        if isinstance(a, self.torch.Tensor):
            return a
        is_wider = isinstance(a, float) and not b.is_floating_point()
        return self.torch.as_tensor(a, dtype=self.torch.get_default_dtype() if is_wider else b.dtype, device=b.device)

    def mixed(self, function):
        return lambda a, b: function(self.like(a, b), self.like(b, a))

    def select(self, m, a, b):
        return self.torch.where(m, a, b)

    @staticmethod
    def reverse(x):
        return x.permute([x.ndim - 1 - a for a in range(x.ndim)])

    def worded(self, text):
        """NumPy's words that PyTorch lacks: steps that go down, `.T` of any array, `astype`."""
        text = re.sub(r"(\w+)\[((?:\.\.\., |:, )*)::-1\]", lambda m: f"{m[1]}.flip({-1 if '...' in m[2] else m[2].count(':')})", text)
        text = re.sub(r"(\w+)\.T\b", r"reverse(\1)", text)
        return re.sub(r"\.astype\((\w+)\)", r".to(\1, copy=True)", text)  # NumPy's copies an array of that dtype, too

    def function_of(self, case, more=""):
        """A case as a function of the arrays behind its inputs, as one would write it: torch.compile follows no eval. `more`: of the view of each mask."""
        wide = widened(case)
        views = [f"{n} = {re.sub(WORD_X, n, self.worded(i['view']))}" + (more if i["dtype"] == "bool" else f".to({wide[n]})" if n in wide else "")
                 for n, i in case["inputs"].items()]
        *first, last = [self.worded(s.strip()) for s in case["text"].split(";")]
        lines = [f"def case({', '.join(case['inputs'])}):", *views, *first, f"return {last}"]
        space = dict(self.module)
        exec("\n    ".join(lines), space)
        return space["case"]

    def called(self, case, given, change=lambda function: function):
        """The function, changed, which has been called, and its result. PyTorch subtracts no masks."""
        try:
            function = change(self.function_of(case))
            return function, function(*given)
        except (RuntimeError, TypeError):
            function = change(self.function_of(case, ".to(int8)"))
            return function, function(*given)

    def eager(self, case, given):
        return self.called(case, given)[1]

    def make(self, case, bases, arrays):
        self.torch._dynamo.reset()
        given = list(bases.values())
        call, value = self.called(case, given, lambda function: self.torch.compile(function, dynamic=False))
        self.wait(value)
        return lambda: call(*given)

    def wait(self, result):
        if not self.is_host:
            self.torch.cuda.synchronize()


class Cupy:
    def __init__(self, threads, target="cuda"):
        import cupy
        cupy.cuda.runtime.getDeviceCount()
        self.cupy, self.module = cupy, words_of(cupy)

    def make(self, case, bases, arrays):
        given = viewed(case, {n: self.cupy.asarray(b) if isinstance(b, np.ndarray) else self.cupy.from_dlpack(b) for n, b in bases.items()}, self.module)
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
