/* Functions of complex numbers by kernels of the library. */
#include <complex.h>

#include "device_side.h"

#define CALL(name, type, T, dtype, expression)                                                               \
    void name(type _Complex *out, const type _Complex *z, const type _Complex *w, long n)                    \
    {                                                                                                        \
        device_operand operands[] = {{dtype, z}, {dtype, w}};                                                \
        run_on_device(T " z, " T " w", T " out", "out = " expression, out, dtype, n, operands, 2);           \
    }
#define EXPORT(name, expression)                                                                             \
    CALL(kiln_##name##_f, float, "complex64", KILN_COMPLEX64, #expression)                                   \
    CALL(kiln_##name##_d, double, "complex128", KILN_COMPLEX128, #expression)
#include "complex_functions.h"
