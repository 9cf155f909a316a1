"""Each parameter that NumPy's signatures have is taken by the function of expressions, or tests/data/numpy_parameters.txt says why not: none is there without a reason, and no
reason is there for one that is taken. check_parameters.py LIBRARY NAMES; NAMES is tests/docs/numpy_names."""
import ctypes
import inspect
import pathlib
import subprocess
import sys

import numpy as np

LEFT_OUT = pathlib.Path(__file__).resolve().parents[1] / "data/numpy_parameters.txt"
OF_UFUNCS = ["out", "where", "casting", "order", "dtype", "subok", "signature"]
OF_GENERALISED = ["out", "casting", "order", "dtype", "subok", "signature", "axes", "axis"]
# Values that a parameter takes before others are looked at; any other is an input.
VALUES = {"dtype": "float64", "order": "'C'", "casting": "'unsafe'", "keepdims": "True", "axis": "0", "sparse": "True", "copy": "True", "density": "True"}
NEEDED = {"shape": "(2, 3)", "dimensions": "(2, 3)", "dims": "(2, 3)", "N": "3", "n": "4", "M": "4", "axis": "0", "axis1": "0", "axis2": "1", "source": "0", "destination": "1", "shift": "1",
          "reps": "2", "repeats": "2", "pad_width": "1", "new_shape": "(2, 3)", "indices_or_sections": "2", "arrays": "[a, b]", "tup": "[a, b]", "kth": "1", "q": "0.5", "condlist": "[a, b]",
          "choicelist": "[a, b]", "choices": "[a, b]", "multi_index": "[a, b]", "obj": "1", "dtype": "float32", "keys": "[a, b]", "window_shape": "2", "fill_value": "1"}


def parameters(function):
    """Names of those that have to be given, and of the others."""
    if isinstance(function, np.ufunc):
        return ["x", "y", "z"][:function.nin], OF_GENERALISED if function.signature else OF_UFUNCS
    own = inspect.signature(function).parameters.values()
    plain = [p for p in own if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    return [p.name for p in plain if p.default is p.empty], [p.name for p in plain if p.default is not p.empty]


def refused(library, name, needed, parameter):
    """Whether the function has no such argument."""
    kernel = ctypes.c_void_p()
    given = [NEEDED.get(q, "abcd"[k]) for k, q in enumerate(needed)]
    if parameter in needed:  # by its name, and those in front of it without theirs
        at = needed.index(parameter)
        given[at] = f"{parameter}={given[at]}"
        given = given[:at + 1]
    else:
        given.append(f"{parameter}={VALUES.get(parameter, 'w')}")
    status = library.kiln_expression_create(ctypes.byref(kernel), b"a, b, c, d, w", f"{name}({', '.join(given)})".encode(), None)
    library.kiln_kernel_free(kernel)
    message = library.kiln_error_message().decode() if status else ""
    return f"has no argument '{parameter}'" in message or " argument was expected" in message and "argument was expected, not" not in message


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.kiln_error_message.restype = ctypes.c_char_p
    library.kiln_kernel_free.argtypes = [ctypes.c_void_p]
    lines = [line.split("\t") for line in subprocess.run([sys.argv[2]], capture_output=True, text=True, check=True).stdout.splitlines()]
    reasons, used, count, wrong = [], set(), 0, []
    for line in LEFT_OUT.read_text(encoding="utf-8").splitlines():
        parameter, functions, reason = line.split("\t")
        reasons += [(parameter, function, reason) for function in functions.split()]
    for name in (name for name, kind, *_ in lines if kind in ("operation", "function")):
        function = next((getattr(m, name) for m in (np, np.linalg, np.fft, np.lib.stride_tricks) if callable(getattr(m, name, None))), None)
        if function is None:
            continue
        needed, others = parameters(function)
        by_position = isinstance(function, np.ufunc)
        for parameter in ([] if by_position else needed) + others:
            count += 1
            why = next((r for r in reasons if r[0] == parameter and r[1] in (name, "*")), None)
            if not refused(library, name, needed, parameter):
                if why and why[1] != "*":
                    wrong.append(f"{name} takes {parameter}: numpy_parameters.txt says that it does not")
            elif why:
                used.add(why)
            else:
                wrong.append(f"{name} has no argument {parameter}, and numpy_parameters.txt no reason")
    wrong += [f"numpy_parameters.txt: {parameter} of {function} is refused nowhere" for parameter, function, _ in set(r[:2] + ("",) for r in reasons) - {u[:2] + ("",) for u in used}]
    assert not wrong, "\n".join(wrong)
    print(f"{count} parameters, {len(reasons)} reasons")


if __name__ == "__main__":
    main()
