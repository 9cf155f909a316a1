"""Calls of expressions on the host, as a benchmark repeats them: each gives a new array, as NumPy's functions do."""
import ctypes

import numpy as np

from host_kernels import Argument


class Repeated:
    """An expression over arrays. A call with keep=True gives the bytes of the result."""

    def __init__(self, kiln, text, arrays):
        self.kiln, self.text, self.kernel, self.out = kiln, text, ctypes.c_void_p(), (ctypes.c_void_p * 4)()
        kiln.check(kiln.c.kiln_expression_create(ctypes.byref(self.kernel), ", ".join(arrays).encode(), text.encode(), None), text)
        self.held = [kiln.wrap(a, a.dtype.name) for a in arrays.values()]
        self.arguments = (Argument * len(self.held))(*[Argument(1, 0, h.value) for h in self.held])

    def __call__(self, keep=False):
        c, result = self.kiln.c, None
        self.kiln.check(c.kiln_kernel_call(self.kernel, self.out, 1, self.arguments, len(self.held), None), self.text)
        if keep:
            size = c.kiln_array_nbytes(self.out[0])
            result = np.empty(size, np.uint8)
            self.kiln.check(c.kiln_array_to_host(self.out[0], result.ctypes.data_as(ctypes.c_void_p), size), self.text)
        c.kiln_array_free(ctypes.c_void_p(self.out[0]))
        self.out[0] = None
        return result

    def free(self):
        for h in self.held:
            self.kiln.c.kiln_array_free(h)
        self.kiln.c.kiln_kernel_free(self.kernel)
