// The division of CUDA kernels (cuda_divisor.cu), on the processor.
#define __device__
#define __forceinline__ inline
static inline float __frcp_rn(float x) { return 1.0f / x; }
static inline float __fmul_rn(float x, float y) { return x * y; }
static inline float __fmaf_rn(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
static inline float fmaxf(float x, float y) { return __builtin_fmaxf(x, y); }
static inline float fabsf(float x) { return __builtin_fabsf(x); }
static inline unsigned __float_as_uint(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
#include "prelude/cuda_divisor.cu"
#include "prelude/cuda_quotient.cu"

#if !defined(__FMA__)
#define __FMA__ 1 // __builtin_fmaf is the library's
#endif
namespace host {
#include "prelude/host_quotient.cpp"
}

// As a thread does it: all quotients, then whether what was divided is near.
template <class T> static bool divide(float *out, const T *x, float by, long n) {
    kn_dividends seen;
    const kn_divisor divisor(by, seen);
    for (long k = 0; k < n; ++k)
        out[k] = x[k] / divisor;
    return seen.are_near();
}
extern "C" bool divide_floats(float *out, const float *x, float by, long n) { return divide(out, x, by, n); }
extern "C" bool divide_bytes(float *out, const unsigned char *x, float by, long n) { return divide(out, x, by, n); }
extern "C" bool divide_longs(float *out, const long long *x, float by, long n) { return divide(out, x, by, n); }
extern "C" float divide_whole(long long x, float by) { return kn_whole_quotient((float)x, by); }
extern "C" float divide_whole_on_host(long long x, float by) { return host::kn_whole_quotient((float)x, by); }
extern "C" double divide_double(double x, float by) {
    kn_dividends seen;
    return x / kn_divisor(by, seen);
}

// ---- the proof, by prelude_division.c ----

// The first dividend from `first` on, in steps of `step` and below `end`, all times 2^-23, of which quotient and correction are not IEEE's; 0: there is none.
extern "C" unsigned find_wrong(unsigned first, unsigned end, unsigned step, unsigned by) {
    kn_dividends seen;
    const kn_divisor divisor(by * 0x1p-23f, seen);
    for (unsigned x = first; x < end; x += step)
        if (divisor.divide(x * 0x1p-23f) != x * 0x1p-23f / divisor.by)
            return x;
    return 0;
}
