// A whole number, or zero, divided by a constant from 2^-20 to 2^20, as on CUDA (cuda_quotient.cu): one product and its correction have the same bits as the
// division, which takes a processor as long as ten of them.
// needs: kn_whole_quotient
static __forceinline__ float kn_whole_quotient(const float x, const float by) {
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
    const float reciprocal = 1.0f / by, quotient = x * reciprocal;
    return __builtin_fmaf(-__builtin_fmaf(by, quotient, -x), reciprocal, quotient);
#else
    return x / by;
#endif
}
