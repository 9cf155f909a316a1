// C's mathematical functions in both precisions, as CUDA has them built in. An integer argument counts as float64.
// needs: abs acos acosf acosh acoshf asin asinf asinh asinhf atan atan2 atan2f atanf atanh atanhf cbrt cbrtf ceil
// needs: ceilf copysign copysignf cos cosf cosh coshf erf erfc erfcf erff exp exp2 exp2f expf expm1 expm1f fabs
// needs: fabsf fdim fdimf floor floorf fma fmaf fmax fmaxf fmin fminf fmod fmodf hypot hypotf isfinite isinf isnan
// needs: log log10 log10f log1p log1pf log2 log2f logf max min nearbyint nearbyintf nextafter nextafterf pow powf
// needs: remainder remainderf rint rintf round roundf signbit sin sinf sinh sinhf sqrt sqrtf tan tanf tanh tanhf
// needs: trunc truncf
// with: real

// In loops gcc calls the vector forms of glibc's libmvec, which are within 4 ulp. glibc 2.22 brought the first
// and 2.35 the others, and with them <sys/rseq.h>, which tells them apart. KN_HAVE_LIBMVEC may be given: 222 or
// 235 for glibc of that version and later, 0 for none.
#ifndef KN_HAVE_LIBMVEC
#if !defined(__x86_64__) || defined(__clang__) || !__has_include(<bits/math-vector.h>)
#define KN_HAVE_LIBMVEC 0
#elif __has_include(<sys/rseq.h>)
#define KN_HAVE_LIBMVEC 235
#else
#define KN_HAVE_LIBMVEC 222
#endif
#endif

// Its functions for vectors of different widths differ in their last bits, and from libm's for one number. Equal
// elements are to give equal results, so all calls end in those of the widest vectors: where there are fewer numbers,
// a symbol of this object's own is called, which fills the other lanes with what is computed fast (a half, or 2 for
// acosh) and jumps there. What is wanted comes in the first lanes.
#if KN_HAVE_LIBMVEC
__asm__(R"(
.macro kn_way from, bytes, to, letters, other
    .p2align 4
\from:
    kn_fill \bytes, 0, \other
    .ifc \letters, vv
    kn_fill \bytes, 1, \other
    .endif
    jmp *\to@GOTPCREL(%rip)
.endm
.macro kn_ways_beside other, name, letters, isa, floats, doubles
    kn_way \name\()f, 4, _ZGV\isa\()N\floats\letters\()_\name\()f, \letters, \other\()_float
    kn_way \name, 8, _ZGV\isa\()N\doubles\letters\()_\name, \letters, \other\()_double
    .ifnc \isa, b
    kn_way _ZGVbN4\letters\()_\name\()f, 16, _ZGV\isa\()N\floats\letters\()_\name\()f, \letters, \other\()_float
    kn_way _ZGVbN2\letters\()_\name, 16, _ZGV\isa\()N\doubles\letters\()_\name, \letters, \other\()_double
    .endif
    .ifc \isa, e
    kn_way _ZGVdN8\letters\()_\name\()f, 32, _ZGVeN16\letters\()_\name\()f, \letters, \other\()_float
    kn_way _ZGVdN4\letters\()_\name, 32, _ZGVeN8\letters\()_\name, \letters, \other\()_double
    .endif
.endm
.macro kn_ways name, letters, isa, floats, doubles
    .ifc \name, acosh
    kn_ways_beside kn_two, \name, \letters, \isa, \floats, \doubles
    .else
    kn_ways_beside kn_half, \name, \letters, \isa, \floats, \doubles
    .endif
.endm
.macro kn_numbers name, value
\name\()_float:
    .rept 16
    .float \value
    .endr
\name\()_double:
    .rept 8
    .double \value
    .endr
.endm
.pushsection .rodata
    .p2align 6
    kn_numbers kn_half, 0.5
    kn_numbers kn_two, 2
.popsection)");
#ifdef __AVX512F__
#define KN_WIDEST "e, 16, 8"
__asm__(R"(
.macro kn_fill bytes, r, other
    .if \bytes < 32
    vblendps $(0xff << (\bytes / 4)) & 0xff, \other(%rip), %ymm\r, %ymm\r
    .endif
    vmovaps \other(%rip), %zmm16
    vinsertf64x4 $0, %ymm\r, %zmm16, %zmm\r
.endm)");
#elif defined(__AVX__)
#ifdef __AVX2__
#define KN_WIDEST "d, 8, 4"
#else
#define KN_WIDEST "c, 8, 4"
#endif
__asm__(R"(
.macro kn_fill bytes, r, other
    vblendps $(0xff << (\bytes / 4)) & 0xff, \other(%rip), %ymm\r, %ymm\r
.endm)");
#else
#define KN_WIDEST "b, 4, 2"
__asm__(R"(
.macro kn_fill bytes, r, other
    movaps \other(%rip), %xmm15
    .if \bytes == 4
    movss %xmm\r, %xmm15
    .else
    movsd %xmm\r, %xmm15
    .endif
    movaps %xmm15, %xmm\r
.endm)");
#endif
#define KN_ALIKE(name, letters) \
    __asm__(".pushsection .text\n kn_ways " #name ", " #letters ", " KN_WIDEST "\n.popsection");
#define KN_SIMD __attribute__((simd("notinbranch")))
#else
#define KN_ALIKE(name, letters)
#define KN_SIMD
#endif

template <class A, class B> using kn_real_of = typename kn_real<decltype(A() + B())>::type;

// Everything but C's own functions is a template, and one with parameters to spare: <math.h>'s overloads, where
// the user includes it, come first.
#define KN_REAL1(simd, name)                                                                               \
    extern "C" simd double name(double) noexcept;                                                          \
    extern "C" simd float name##f(float) noexcept;                                                         \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline R name(T x, Spare...) { \
        return sizeof(R) == sizeof(float) ? (R)name##f((float)x) : (R)name((double)x);                     \
    }
#define KN_REAL2(simd, name)                                                                                    \
    extern "C" simd double name(double, double) noexcept;                                                       \
    extern "C" simd float name##f(float, float) noexcept;                                                       \
    template <class A, class B, class R = kn_real_of<A, B>, class... Spare> inline R name(A x, B y, Spare...) { \
        return sizeof(R) == sizeof(float) ? (R)name##f((float)x, (float)y) : (R)name((double)x, (double)y);     \
    }
#define KN_MATH1(name) KN_REAL1(, name)
#define KN_MATH2(name) KN_REAL2(, name)
#define KN_VECTOR1(name) KN_ALIKE(name, v) KN_REAL1(KN_SIMD, name)
#if KN_HAVE_LIBMVEC == 222
#define KN_LATER1 KN_MATH1
#define KN_LATER2 KN_MATH2
#else
#define KN_LATER1 KN_VECTOR1
#define KN_LATER2(name) KN_ALIKE(name, vv) KN_REAL2(KN_SIMD, name)
#endif
KN_VECTOR1(exp) // needs: exp expf
KN_VECTOR1(log) // needs: log logf
KN_VECTOR1(sin) // needs: sin sinf
KN_LATER1(acos) // needs: acos acosf
KN_LATER1(acosh) // needs: acosh acoshf
KN_LATER1(asin) // needs: asin asinf
KN_LATER1(asinh) // needs: asinh asinhf
KN_LATER1(atan) // needs: atan atanf
KN_LATER1(atanh) // needs: atanh atanhf
KN_LATER1(cbrt) // needs: cbrt cbrtf
KN_LATER1(cosh) // needs: cosh coshf
KN_LATER1(erf) // needs: erf erff
KN_LATER1(erfc) // needs: erfc erfcf
KN_LATER1(exp2) // needs: exp2 exp2f
KN_LATER1(expm1) // needs: expm1 expm1f
KN_LATER1(log10) // needs: log10 log10f
KN_LATER1(log1p) // needs: log1p log1pf
KN_LATER1(log2) // needs: log2 log2f
KN_LATER1(sinh) // needs: sinh sinhf
KN_LATER1(tan) // needs: tan tanf
KN_LATER1(tanh) // needs: tanh tanhf
KN_LATER2(atan2) // needs: atan2 atan2f
KN_LATER2(hypot) // needs: hypot hypotf
KN_MATH1(fabs)
KN_MATH1(nearbyint)
KN_MATH1(rint)
KN_MATH1(sqrt)
KN_MATH2(copysign)
KN_MATH2(fdim)
KN_MATH2(fmod)
KN_MATH2(nextafter)
KN_MATH2(remainder)

// By the nearest integer, of which there are vectors: gcc has none of these as long as traps count, and where they do not it takes
// (double)(long)x for trunc(x), which differs in the sign of zero.
template <class R> inline R kn_floor(R x) {
    R nearest = rint(x);
    return nearest > x ? nearest - 1 : nearest;
}
template <class R> inline R kn_ceil(R x) { return -kn_floor(-x); }
template <class R> inline R kn_trunc(R x) { return copysign(kn_floor((R)fabs(x)), x); }
template <class R> inline R kn_round(R x) {
    R size = fabs(x), whole = kn_floor(size);
    return copysign(size - whole >= (R)0.5 ? whole + 1 : whole, x);
}
#define KN_WHOLE(name)                                                                                                            \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline R name(T x, Spare...) { return kn_##name((R)x); } \
    template <class T> inline float name##f(T x) { return kn_##name((float)x); }
KN_WHOLE(ceil)
KN_WHOLE(floor)
KN_WHOLE(round)
KN_WHOLE(trunc)

// Two that gcc is not to know for what they are: it joins sin and cos of the same operand to one call that has no vector
// form, and makes roots of powers of 0.5, in loops alone. A square is a product, chosen by bits: gcc would compute one of
// both in a branch, and make no vectors of that.
template <class I, class R> inline R kn_choose(bool is_first, R first, R second) {
    const I a = __builtin_bit_cast(I, first), b = __builtin_bit_cast(I, second);
    return __builtin_bit_cast(R, b ^ ((a ^ b) & -(I)is_first));
}
inline float kn_select(bool is_first, float first, float second) { return kn_choose<int>(is_first, first, second); }
inline double kn_select(bool is_first, double first, double second) { return kn_choose<long long>(is_first, first, second); }
#define KN_COSINE(name)                                                                                    \
    KN_ALIKE(name, v)                                                                                      \
    KN_SIMD __attribute__((const)) double kn_cosine(double) noexcept __asm__(#name);                       \
    KN_SIMD __attribute__((const)) float kn_cosine(float) noexcept __asm__(#name "f");                     \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline R name(T x, Spare...) { \
        return kn_cosine((R)x);                                                                            \
    }                                                                                                      \
    template <class T> inline float name##f(T x) { return kn_cosine((float)x); }
#define KN_POWER(name)                                                                                          \
    KN_ALIKE(name, vv)                                                                                          \
    KN_SIMD __attribute__((const)) double kn_power_of(double, double) noexcept __asm__(#name);                  \
    KN_SIMD __attribute__((const)) float kn_power_of(float, float) noexcept __asm__(#name "f");                 \
    template <class A, class B, class R = kn_real_of<A, B>, class... Spare> inline R name(A x, B y, Spare...) { \
        return kn_select((R)y == 2, (R)x * (R)x, kn_power_of((R)x, (R)y));                                      \
    }                                                                                                           \
    template <class A, class B> inline float name##f(A x, B y) { return name((float)x, (float)y); }
KN_COSINE(cos) // needs: cos cosf
KN_POWER(pow) // needs: pow powf

extern "C" double fma(double, double, double) noexcept;
extern "C" float fmaf(float, float, float) noexcept;
template <class A, class B, class C, class R = kn_real_of<decltype(A() + B()), C>, class... Spare>
inline R fma(A x, B y, C z, Spare...) {
    return sizeof(R) == sizeof(float) ? (R)fmaf((float)x, (float)y, (float)z) : (R)fma((double)x, (double)y, (double)z);
}

// A NaN gives way to the other operand. Written out, because a call of the C library's would keep loops from
// becoming vectors.
#define KN_EXTREME(name, compare)                                                                                  \
    template <class A, class B> inline decltype(A() + B()) name(A x, B y) {                                        \
        decltype(A() + B()) a = x, b = y;                                                                          \
        return a compare b || b != b ? a : b;                                                                      \
    }                                                                                                              \
    template <class A, class B, class R = kn_real_of<A, B>, class... Spare> inline R f##name(A x, B y, Spare...) { \
        return name((R)x, (R)y);                                                                                   \
    }                                                                                                              \
    template <class A, class B> inline float f##name##f(A x, B y) { return name((float)x, (float)y); }
KN_EXTREME(min, <)
KN_EXTREME(max, >)

inline float kn_abs(float x) { return __builtin_fabsf(x); }
inline double kn_abs(double x) { return __builtin_fabs(x); }
template <class T> inline T kn_abs(T x) { return x <= 0 ? (T)(0 - x) : x; }
template <class T, class = typename kn_real<T>::type, class... Spare> inline T abs(T x, Spare...) { return kn_abs(x); }

#define KN_TEST(name)                                                                                         \
    template <class T, class R = typename kn_real<T>::type, class... Spare> inline bool name(T x, Spare...) { \
        return __builtin_##name((R)x);                                                                        \
    }
KN_TEST(isnan)
KN_TEST(isinf)
KN_TEST(isfinite)

// In integers: gcc 12 ends with an internal error on __builtin_signbit of a vector that was computed in integers.
inline bool kn_signbit(float x) { return __builtin_bit_cast(int, x) < 0; }
inline bool kn_signbit(double x) { return __builtin_bit_cast(long long, x) < 0; }
template <class T, class R = typename kn_real<T>::type, class... Spare> inline bool signbit(T x, Spare...) {
    return kn_signbit((R)x);
}
