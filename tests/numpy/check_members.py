"""Attributes and methods of numpy.ndarray: each has an expression in tests/data/numpy_members.txt, whose result is NumPy's, or a reason why it is not there.
check_members.py LIBRARY [--target TARGET]"""
import pathlib
import random
import warnings

import numpy as np

from check_common import Common
from host_kernels import in_threads, random_cases

MEMBERS = pathlib.Path(__file__).resolve().parents[1] / "data/numpy_members.txt"


def arrays():
    r = np.random.default_rng(5)
    x = r.normal(size=(3, 4))
    return {"x": x, "y": np.asfortranarray(x + 2), "h": r.normal(size=(2, 3, 4))[:, ::-1], "i": np.array([0, 2, 1, 2]), "c": x[0] + 1j * x[1]}


def used(text):
    words = set("".join(c if c.isalnum() or c == "_" else " " for c in text).split())
    return {name: a for name, a in arrays().items() if name in words}


def by_numpy(text):
    *before, last = text.split("; ")
    names = {**{name: getattr(np, name) for name in ("int32",)}, **used(text)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec("; ".join(before).replace("(2, 7))", "(2, 7), refcheck=False)"), names)
        return np.asarray(eval(last, names))


def check(kiln, text):
    right, got = by_numpy(text), kiln.evaluate(text, used(text), random.Random(1), 1)
    assert not isinstance(got, str), f"{text}: {got}"
    assert got[0].dtype == right.dtype and got[0].shape == right.shape, f"{text}: {got[0].dtype} {got[0].shape}, not {right.dtype} {right.shape}"
    assert np.allclose(got[0], right, 1e-12, 1e-12), f"{text}: {got[0]}\nnot {right}"


def main():
    o = random_cases(1, 1, 32)
    rows = [line.split("\t") for line in MEMBERS.read_text(encoding="utf-8").splitlines()]
    known, names = [row[0] for row in rows], [name for name in dir(np.ndarray) if not name.startswith("_")]
    assert known == sorted(known, key=str) and not set(names) - set(known), f"numpy.ndarray has {sorted(set(names) - set(known))}: a line of numpy_members.txt was expected, in the order of names"
    assert not set(known) - set(names) - {"device", "mT", "to_device"}, f"numpy.ndarray has no {sorted(set(known) - set(names))}"
    kiln, texts = Common(o.library), [row[1] for row in rows if row[1]]
    for name, text, *why in rows:
        assert bool(text) != bool(why), f"{name}: an expression or a reason was expected"
        assert not text or name in text, f"{name}: {text} does not have it"
        if not text:
            for call in (f"x.{name}", f"x.{name}()"):
                got = kiln.evaluate(call, {"x": arrays()["x"]}, random.Random(1), 1)
                assert isinstance(got, str), f"{call} is there, and numpy_members.txt says that it is not"
    in_threads(lambda text: check(kiln, text), texts)
    print(f"{len(texts)} members, {len(rows) - len(texts)} reasons")


if __name__ == "__main__":
    main()
