"""A number, or an array of no or of one element, in the place of each argument: of each function of NumPy's signatures, calls in which one argument after the other is that are
computed as NumPy does, or refused. A number stands once in the text and is once the call's; a refusal of it says what was expected. check_scalars.py LIBRARY NAMES [--target TARGET] [--only NAME]; NAMES is
tests/docs/numpy_names."""
import ctypes
import re

import numpy as np

from check_common import Common, same
from check_effects import ARRAYS, STATEMENTS, all_checked, arguments_of, evaluate, names_of, numpys
from check_parameters import parameters
from host_kernels import Argument, random_cases

NUMBER, WEAK_INT = 2, 3  # kiln_arg_kind
NAME = "number"
# What a refusal says: an array is needed, or the number has to stand in the text.
REFUSALS = re.compile(r"array (with at least one axis )?was expected|stands? in the expression|an axis to sort along was expected|nothing to select from|not a shape$|axes; .* expected|"
                      r"indices were given for 0 axes")
SMALL = {"none": np.zeros(0), "no_rows": np.zeros((0, 4)), "no_columns": np.zeros((3, 0)), "no_index": np.zeros(0, np.int64), "single": np.array(2.0), "truth": np.array(True),
         "one": np.array([1.5]), "corner": np.array([[2]])}
NO_ELEMENTS = ("empty", "empty_like")  # nothing is said about their elements


def arguments(text):
    """The arguments of a call."""
    found, depth, is_quoted = [""], 0, False
    for c in text:
        depth += (c in "([") - (c in ")]")
        is_quoted ^= c == "'"
        if c == "," and depth == 0 and not is_quoted:
            found.append("")
        else:
            found[-1] += c
    return [a.strip() for a in found if a.strip()]


def calls(name, base):
    """Texts with the number in the place of an argument, as a pattern."""
    own = arguments(base)
    for k in range(len(own)):
        text = f"{name}({', '.join(own[:k] + ['%s'] + own[k + 1:])})"
        yield text + ("" if name not in STATEMENTS else f"; {own[0]}" if k > 0 else "; %s")


class Numbers(Common):
    def with_number(self, text, arrays, is_named, n_out):
        """The results, or the message."""
        kernel, out = ctypes.c_void_p(), (ctypes.c_void_p * n_out)()
        given = [Argument(1, 0, self.wrap(a, a.dtype.name).value) for a in arrays.values()] + [Argument(WEAK_INT, 0, NUMBER)] * is_named
        names = ", ".join([*arrays] + [NAME] * is_named)
        if self.c.kiln_expression_create(ctypes.byref(kernel), names.encode(), text.encode(), None):
            return self.c.kiln_error_message().decode()
        status = self.c.kiln_kernel_call(kernel, out, n_out, (Argument * max(len(given), 1))(*given), len(given), None)
        got = self.c.kiln_error_message().decode() if status else [self.taken(a) for a in out]
        self.c.kiln_kernel_free(kernel)
        return got


def right_of(text):
    """NumPy's results, or None where it refuses, or gives none."""
    try:
        right = evaluate(text, dict(ARRAYS, **SMALL))
    except (AttributeError, KeyError, np.linalg.LinAlgError):
        return None
    return None if isinstance(right, Exception) or not right else right


def check(kiln, name, text):
    """What is wrong, or None."""
    for word in (str(NUMBER), NAME, *SMALL):
        own = text.replace("%s", word)
        right = right_of(text.replace("%s", str(NUMBER)) if word == NAME else own)
        if right is None or (word in (str(NUMBER), NAME) and text.endswith("%s")):
            continue
        arrays = {key: value.copy(order="K") for key, value in {**ARRAYS, **SMALL}.items() if key in re.findall(r"\w+", own)}
        got = kiln.with_number(own, arrays, word == NAME, len(right))
        if isinstance(got, str):
            if word not in SMALL and not REFUSALS.search(got.splitlines()[0]):
                return f"{own}: {got}"
        elif any(g.dtype != r.dtype or g.shape != r.shape or (name not in NO_ELEMENTS and not same(g, r, "")) for g, r in zip(got, right)):
            return f"{own}: {got}, not {right}"
    return None


def all_calls(names):
    """Each function's calls."""
    for name in sorted({line.split("\t")[0] for line in names if line.split("\t")[1] in ("operation", "function")}):
        function = numpys(name)
        if function is None or isinstance(function, np.ufunc):
            continue
        try:
            base = arguments_of(name, parameters(function)[0])
        except (KeyError, ValueError, TypeError):  # no example, or no signature
            continue
        yield from ((name, text) for text in calls(name, base))


def main():
    o = random_cases(1, 1, 1, ("names", {}), ("--only", {}))
    all_checked(Numbers(o.library), o, check, all_calls(names_of(o)), 10, "calls")


if __name__ == "__main__":
    main()
