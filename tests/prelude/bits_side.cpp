// Integer intrinsics and conversions with named roundings as kernels see them.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/host_math.cpp"
#include "prelude/host_bits.cpp"
#include "prelude/host_convert.cpp"

#define INTEGERS(result, name, parameters, arguments)                                                        \
    extern "C" result kiln##name parameters                                                                  \
    {                                                                                                        \
        return name arguments;                                                                               \
    }
INTEGERS(int, __popc, (unsigned x), (x))
INTEGERS(int, __popcll, (uint64 x), (x))
INTEGERS(int, __clz, (int x), (x))
INTEGERS(int, __clzll, (int64 x), (x))
INTEGERS(int, __ffs, (int x), (x))
INTEGERS(int, __ffsll, (int64 x), (x))
INTEGERS(unsigned, __brev, (unsigned x), (x))
INTEGERS(uint64, __brevll, (uint64 x), (x))
INTEGERS(unsigned, __byte_perm, (unsigned x, unsigned y, unsigned s), (x, y, s))
INTEGERS(unsigned, __funnelshift_l, (unsigned low, unsigned high, unsigned s), (low, high, s))
INTEGERS(unsigned, __funnelshift_r, (unsigned low, unsigned high, unsigned s), (low, high, s))
INTEGERS(unsigned, __funnelshift_lc, (unsigned low, unsigned high, unsigned s), (low, high, s))
INTEGERS(unsigned, __funnelshift_rc, (unsigned low, unsigned high, unsigned s), (low, high, s))
INTEGERS(int, __mulhi, (int x, int y), (x, y))
INTEGERS(unsigned, __umulhi, (unsigned x, unsigned y), (x, y))
INTEGERS(int64, __mul64hi, (int64 x, int64 y), (x, y))
INTEGERS(uint64, __umul64hi, (uint64 x, uint64 y), (x, y))
INTEGERS(int, __mul24, (int x, int y), (x, y))
INTEGERS(unsigned, __umul24, (unsigned x, unsigned y), (x, y))
INTEGERS(unsigned, __sad, (int x, int y, unsigned z), (x, y, z))
INTEGERS(unsigned, __usad, (unsigned x, unsigned y, unsigned z), (x, y, z))
INTEGERS(int, __hadd, (int x, int y), (x, y))
INTEGERS(int, __rhadd, (int x, int y), (x, y))
INTEGERS(unsigned, __uhadd, (unsigned x, unsigned y), (x, y))
INTEGERS(unsigned, __urhadd, (unsigned x, unsigned y), (x, y))

// In the order to nearest, towards zero, up, down.
#define TO(F, from, I, to)                                                                                   \
    extern "C" void kiln_##from##2##to(F x, I out[4])                                                        \
    {                                                                                                        \
        out[0] = __##from##2##to##_rn(x), out[1] = __##from##2##to##_rz(x);                                  \
        out[2] = __##from##2##to##_ru(x), out[3] = __##from##2##to##_rd(x);                                  \
    }
TO(float, float, int, int)
TO(float, float, unsigned, uint)
TO(float, float, int64, ll)
TO(float, float, uint64, ull)
TO(double, double, int, int)
TO(double, double, unsigned, uint)
TO(double, double, int64, ll)
TO(double, double, uint64, ull)
TO(int, int, float, float)
TO(unsigned, uint, float, float)
TO(int64, ll, float, float)
TO(uint64, ull, float, float)
TO(int64, ll, double, double)
TO(uint64, ull, double, double)
TO(double, double, float, float)

extern "C" bool kiln_reinterpret(float x, double y)
{
    return __int_as_float(__float_as_int(x)) == x && __uint_as_float(__float_as_uint(x)) == x &&
           __float_as_int(1.0f) == 0x3f800000 && __longlong_as_double(__double_as_longlong(y)) == y &&
           __hiloint2double(__double2hiint(y), __double2loint(y)) == y;
}
