// Arithmetic with named roundings as host kernels see it, in loops.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/host_math.cpp"
#include "prelude/host_rounded.cpp"

#define ROUNDED(F, name, ...)                                                                                \
    extern "C" void kiln_##name(F *out, const F *xs, const F *ys, const F *zs, const int *modes, long n)     \
    {                                                                                                        \
        for (long i = 0; i < n; ++i) {                                                                       \
            F x = xs[i], y = ys[i], z = zs[i];                                                               \
            int mode = modes[i];                                                                             \
            out[i] = mode == 0   ? __##name##_rn(__VA_ARGS__)                                                \
                     : mode == 1 ? __##name##_rz(__VA_ARGS__)                                                \
                     : mode == 2 ? __##name##_ru(__VA_ARGS__)                                                \
                                 : __##name##_rd(__VA_ARGS__);                                               \
            (void)x, (void)y, (void)z;                                                                       \
        }                                                                                                    \
    }
#include "rounded_functions.h"

extern "C" float kiln_ieee(float x, float y, float z)
{
    return __fmaf_ieee_ru(x, y, z) - __fmaf_ieee_rd(x, y, z);
}
