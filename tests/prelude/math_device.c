/* Functions of one real number by kernels of the library. */
#include "device_side.h"

#define CALL(name, type, T, dtype, function)                                                                 \
    void name(type *out, const type *x, long n)                                                              \
    {                                                                                                        \
        device_operand operand = {dtype, x};                                                                 \
        run_on_device(T " x", T " y", "y = " function "(x)", out, dtype, n, &operand, 1);                    \
    }
#define LOOP(name)                                                                                           \
    CALL(kiln_##name##_f, float, "float32", KILN_FLOAT32, #name)                                             \
    CALL(kiln_##name##_d, double, "float64", KILN_FLOAT64, #name)
#include "math_functions.h"
