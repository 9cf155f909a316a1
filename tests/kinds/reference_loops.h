// reference_loops.h - what the functions that reference.c writes are made of.
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <complex>

#include "reference_call.h"

#define __device__
#define __forceinline__ inline
typedef float float32, float16, bfloat16;
typedef double float64;
typedef int8_t int8;
typedef int16_t int16;
typedef int32_t int32;
typedef int64_t int64;
typedef uint8_t uint8;
typedef uint16_t uint16;
typedef uint32_t uint32;
typedef uint64_t uint64;
typedef std::complex<float> complex64;
typedef std::complex<double> complex128;
typedef long long _index;
using std::max;
using std::min;

static inline float rsqrt(float x)
{
    return 1 / sqrtf(x);
}
static inline double rsqrt(double x)
{
    return 1 / sqrt(x);
}

struct reference_size {
    long long count;
    long long size() const
    {
        return count;
    }
};

// An element for each of a row; unlike a vector of bool it has references.
template <class T> struct reference_row {
    T *at;
    explicit reference_row(long long n) : at(new T[(size_t)n + 1]())
    {
    }
    ~reference_row()
    {
        delete[] at;
    }
    T &operator[](long long j)
    {
        return at[j];
    }
};

template <class T> static T reference_of(number x)
{
    return (T)x.re;
}
template <> complex64 reference_of(number x)
{
    return complex64((float)x.re, (float)x.im);
}
template <> complex128 reference_of(number x)
{
    return complex128(x.re, x.im);
}
static number reference_number(double x)
{
    return number{x, 0};
}
static number reference_number(complex64 x)
{
    return number{x.real(), x.imag()};
}
static number reference_number(complex128 x)
{
    return number{x.real(), x.imag()};
}

template <class T> static T reference_get(const reference_call *c, int k, long long row, long long j)
{
    const reference_view &v = c->view[k];
    return reference_of<T>(c->load(v.at + v.row[row] + v.element[j], v.dtype));
}
template <class T> static void reference_set(const reference_call *c, int k, long long row, long long j, T x)
{
    const reference_view &v = c->view[k];
    c->store(v.at + v.row[row] + v.element[j], v.dtype, reference_number(x));
}
