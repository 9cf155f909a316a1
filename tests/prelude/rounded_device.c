/* Arithmetic with named roundings by kernels of the library. */
#include "device_side.h"

#define DTYPE_float KILN_FLOAT32
#define DTYPE_double KILN_FLOAT64
#define ROUNDED(F, name, ...)                                                                                \
    void kiln_##name(F *out, const F *x, const F *y, const F *z, const int *mode, long n)                    \
    {                                                                                                        \
        device_operand operands[] = {{DTYPE_##F, x}, {DTYPE_##F, y}, {DTYPE_##F, z}, {KILN_INT32, mode}};    \
        run_on_device("T x, T y, T z, int32 mode", "T r",                                                    \
                      "r = mode == 0 ? __" #name "_rn(" #__VA_ARGS__ ") : mode == 1 ? __" #name              \
                      "_rz(" #__VA_ARGS__ ") : mode == 2 ? __" #name "_ru(" #__VA_ARGS__ ") : __" #name      \
                      "_rd(" #__VA_ARGS__ ")",                                                               \
                      out, DTYPE_##F, n, operands, 4);                                                       \
    }
#include "rounded_functions.h"
