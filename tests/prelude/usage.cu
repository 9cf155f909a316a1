// Snippets, the same text for both targets: every name must exist and no call be ambiguous.
template <class T> __device__ T kiln_numbers(T x, T y, int i, float f, double d)
{
    T z = x * 2 + 1;
    bool larger = x > 0;
    z += larger ? x : y;
    z += (larger ? x * 2 : 1) + (larger ? +x : i) + (larger ? (T)f : x) + (larger ? x + y : f) + (larger ? d : +y) + (larger ? i : -x) + (larger ? x / 3 : x > y);
    z = sqrt(z);
    z += max(x, y) + min(x, (T)1) - fmax(x, 0) + fmin(x, y);
    z = -z;
    z *= 2;
    z /= (T)3;
    z -= exp(x) + log(x) + sin(x) + cos(x) + tan(x) + tanh(x) + pow(x, 2) + pow(x, y) + fabs(x) + abs(x) + floor(x) + ceil(x) + rint(x);
    z += x == y;
    z += isnan(x) + isinf(x) + isfinite(x) + atan2(x, y) + hypot(x, y) + log1p(x) + expm1(x) + erf(x) + round(x) + trunc(x) + rsqrt(x);
    f += x;
    d += x;
    i = x;
    if (x)
        z = f * x + d * x + i * x;
    return z + f + d + i;
}

template <class T> __device__ complex<T> kiln_complex(complex<T> z, complex<T> w, T x, int i)
{
    complex<T> sum = z * w + 2 * z - w / z + z / 2 - 1 / w + x * z + i;
    sum = z == w ? sum : 0;
    sum += (i ? z : x) + (i ? 1 : z) + (i ? w : i) + (i ? z + w : 2 * z);
    sum += exp(z) + log(z) + log10(z) + sqrt(z) + pow(z, w) + pow(z, 2);
    sum -= sin(z) + cos(z) + tan(z) + tanh(z) + acosh(z) + atan(z);
    sum *= abs(z) + arg(z) + norm(z) + real(z) + z.imag();
    sum /= conj(z) + proj(z) + polar(x, x);
    return isnan(sum) || isinf(sum) || !isfinite(sum) ? z : sum;
}

extern "C" __global__ void kiln_usage(float16 *h, bfloat16 *b, float *f, double *d, complex<float> *c, complex<double> *z, int *i, unsigned int *u,
                                      long long *l, unsigned long long *ul)
{
    h[0] = kiln_numbers(h[1], h[2], i[1], f[1], d[1]);
    b[0] = kiln_numbers(b[1], b[2], i[1], f[1], d[1]);
    f[0] = kiln_numbers(f[1], f[2], i[1], f[1], d[1]);
    d[0] = kiln_numbers(d[1], d[2], i[1], f[1], d[1]);
    i[0] = kiln_numbers(i[1], i[2], i[1], f[1], d[1]);
    l[0] = kiln_numbers(l[1], l[2], i[1], f[1], d[1]);
    c[0] = kiln_complex(c[1], c[2], f[1], i[1]);
    z[0] = c[1] * z[1] + z[2] / d[1] + sqrt(z[1]) * 2;

    float x = f[3], y = f[4], sine, cosine;
    x += __expf(y) + __logf(y) + __sinf(y) + __cosf(y) + __powf(x, y) + __fdividef(x, y) + fdividef(x, y) + __saturatef(y) + rsqrtf(y) + rcbrtf(y);
    x += exp10f(y) + exp10(y) + sinpif(y) + cospi(y) + normcdff(y) + normcdf(y) + erfinv(y) + erfcinvf(y) + erfcx(y) + normcdfinv(y) + tgamma(y) + lgammaf(y);
    x += norm3df(x, y, x) + rnorm3d(x, y, x) + norm4df(x, y, x, y) + rhypotf(x, y) + cyl_bessel_i0f(y) + j0f(y) + fmaf(x, y, x) + __fmaf_rn(x, y, x);
    x += __fadd_ru(x, 1) + __fsub_rd(h[8], y) + __fmul_rz(x, y) + __fdiv_rn(x, y) + __frcp_ru(y) + __fsqrt_rd(y) + __fmaf_rz(x, y, 2) + __fmaf_ieee_ru(x, y, x);
    x += __fmul_rn(x, y) + __fadd_rn(x, y) + __frcp_rn(y) + __fsqrt_rn(y) + ldexpf(x, 2) + scalbnf(x, 2) + nextafterf(x, y) + copysignf(x, y);
    sincosf(x, &sine, &cosine);
    __sincosf(x, &sine, &cosine);
    sincospif(x, &sine, &cosine);
    f[3] = x + sine + cosine + __ldg(f + 5) + INFINITY + NAN + M_PI + FLT_MAX;
    d[3] = __dmul_rn(d[4], d[5]) + __dadd_ru(d[4], x) + __dsub_rd(d[4], 1) + __ddiv_rz(d[4], d[5]) + __drcp_ru(d[4]) + __dsqrt_rd(d[4]) + __fma_rz(d[4], d[5], d[6]) + __frsqrt_rn(x) + __fma_rn(d[4], d[5], d[6]) + rsqrt(d[4]) + sinpi(d[5]) + norm3d(d[4], d[5], d[6]) + DBL_EPSILON;

    int32_t a = i[3], p = i[4];
    uint32_t v = u[3], w = u[4];
    uint64_t wide = ul[3];
    a += __popc(v) + __popcll(wide) + __clz(a) + __clzll(l[3]) + __ffs(a) + __ffsll(l[3]) + __mulhi(a, p) + __mul24(a, p) + __hadd(a, p) + __rhadd(a, p);
    v += __brev(w) + __byte_perm(v, w, 0x3210) + __funnelshift_l(v, w, 3) + __funnelshift_rc(v, w, 3) + __umulhi(v, w) + __sad(a, p, v) + __usad(v, w, v);
    wide += __brevll(wide) + __umul64hi(wide, wide) + __mul64hi(l[3], l[4]);
    a += __float2int_rn(x) + __float2int_rz(x) + __double2int_ru(d[4]) + __float_as_int(x) + __double2hiint(d[4]) + __double2loint(d[4]);
    x += __int2float_rn(a) + __uint2float_rd(v) + __ll2float_ru(l[3]) + __int_as_float(a) + __uint_as_float(v) + __double2float_rz(d[4]);
    d[5] = __longlong_as_double(l[3]) + __hiloint2double(a, p) + __ull2double_rn(wide);
    l[4] = __double_as_longlong(d[6]) + __float2ll_rd(x) + __double2ll_rn(d[6]) + INT_MAX;
    h[3] = __float2half(x);
    b[3] = __float2bfloat16(__half2float(h[4]) + __bfloat162float(b[4]));
    h[5] = b[5];
    b[6] = h[6];
    h[8] = nextafter(h[8], h[9]) + nextafter(h[8], 0) + abs(h[9]);
    b[8] = nextafter(b[8], h[9]) + nextafter(b[8], 1.0f) + abs(b[9]);
    a = a / kn_by()->* p + l[3] % kn_by()->* v - (a << kn_by() + p) + (wide >> kn_by() + p);
    x = x / kn_by()->* a + a / kn_by()->* x;
    h[10] = h[9] / kn_by()->* a, b[10] = b[9] / kn_by()->* p;
    c[9] = c[8] / kn_by()->* a, z[9] = p / kn_by()->* z[8];
    c[9] = 0 - kn_by() +  c[8], h[10] = (float16)0 - kn_by() +  h[8], x = 0.0f - kn_by() +  a * 2;
    a /= kn_by() = p, x /= kn_by() = a, h[10] /= kn_by() = p, c[9] /= kn_by() = p, l[3] >>= kn_by() = a;
    f[7] = i[5] ? h[7] : b[7];
    d[7] = (i[6] ? f[7] : d[7]) + (i[6] ? f[7] : l[5]) + (i[6] ? h[7] + b[7] : d[6]);

    atomicAdd(i, a), atomicAdd(u, v), atomicAdd(l, 1), atomicAdd(ul, wide), atomicAdd(f, x), atomicAdd(d, 1), atomicAdd(h, h[3]), atomicAdd(b, b[3]);
    atomicSub(i, 1), atomicMin(i, 1), atomicMax(u, 1u), atomicMin(l, 1), atomicMax(ul, wide), atomicMin(f, x), atomicMax(f, x), atomicMin(d, 1), atomicMax(d, 1);
    atomicAnd(i, 1), atomicOr(u, 1u), atomicXor(i, 1), atomicExch(f, 1), atomicCAS(i, 1, 2), atomicInc(u, 7u), atomicDec(u, 7u);
    __threadfence();

    float4 quad = make_float4(1, 2, 3, 4);
    uchar2 bytes = make_uchar2(1, 2);
    double3 triple = make_double3(1, 2, 3);
    longlong2 wide_pair = make_longlong2(1, 2);
    memcpy(f + 8, &quad, sizeof quad);
    assert(quad.x > 0);
    if (quad.w < 0)
        printf("%d\n", bytes.y);
    d[8] = triple.z + wide_pair.x;
    ul[0] = a + p + v + w + wide;
}
