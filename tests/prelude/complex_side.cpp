// complex<float> and complex<double> as kernels see them.
#include "prelude/host_base.cpp"
#include "prelude/both_real.cpp"
#include "prelude/host_math.cpp"
#include "prelude/host_half.cpp"
#include "prelude/both_complex.cpp"
#include "prelude/both_complex_math.cpp"

// All with two operands, whether they take them or not.
#define EXPORT(name, expression)                                                                             \
    extern "C" void kiln_##name##_f(complex<float> *out, const complex<float> *zs, const complex<float> *ws, \
                                    long n)                                                                  \
    {                                                                                                        \
        for (long i = 0; i < n; ++i) {                                                                       \
            complex<float> z = zs[i], w = ws[i];                                                             \
            out[i] = expression;                                                                             \
            (void)w;                                                                                         \
        }                                                                                                    \
    }                                                                                                        \
    extern "C" void kiln_##name##_d(complex<double> *out, const complex<double> *zs,                         \
                                    const complex<double> *ws, long n)                                       \
    {                                                                                                        \
        for (long i = 0; i < n; ++i) {                                                                       \
            complex<double> z = zs[i], w = ws[i];                                                            \
            out[i] = expression;                                                                             \
            (void)w;                                                                                         \
        }                                                                                                    \
    }
#include "complex_functions.h"

// abs, arg, norm, real, imag of the second operand in a row.
extern "C" void kiln_parts(double *out, const complex<double> *z)
{
    out[0] = abs(*z), out[1] = arg(*z), out[2] = norm(*z), out[3] = real(*z), out[4] = z->imag();
    complex<double> back = polar(out[0], out[1]);
    out[5] = back.real(), out[6] = back.imag();
}

// Snippets, with every kind of real operand mixed in.
template <class T> static bool expressions()
{
    complex<T> i(0, 1), z = 3, w = complex<T>(1, -2);
    bool right = true, yes = right;
    right &= i * i == -1 && -1 == i * i && i != 1 && 1 != i;
    right &= z + 1 == 4 && 1 + z == 4.0 && z - 1 == 2 && 1 - z == -2.0f && z * 2 == 6 && 2.0 * z == 6 &&
             z / 2 == (T)1.5 && 3 / z == 1;
    z += w; // 4 - 2i
    z -= 1;
    z *= i; // 2 + 3i
    z /= (T)0.5;
    right &= z == complex<T>(4, 6) && -z == complex<T>(-4, -6) && +z == z;
    z = yes ? w : 0;
    right &= z == w && conj(w).imag() == 2 && norm(w) == 5;
    z = (float16)2;
    z = z * (float16)1.5 + w * (short)1;
    right &= z == complex<T>(4, -2);
    complex<float> narrow = z;
    complex<double> wide = narrow;
    wide = wide * narrow;
    right &= wide == complex<double>(12, -16);
    z.real(1), z.imag(0);
    right &= (bool)z && (T)z == 1 && pow(z, 2) == 1 && pow(i, 2) == -1 && pow(i, -1) == -i && !isnan(z) &&
             isfinite(z);
    if (!z)
        right = false;
    return right;
}

extern "C" bool kiln_complex_expressions()
{
    return expressions<float>() && expressions<double>();
}
