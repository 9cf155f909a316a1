// needs: kn_whole_quotient
// A whole number, or zero, divided by a constant from 2^-20 to 2^20: the reciprocal is the compiler's, and one product and one correction have the same bits as IEEE's division
// (cuda_divisor.cu).
__device__ __forceinline__ float kn_whole_quotient(const float x, const float by) {
    const float reciprocal = 1.0f / by, quotient = __fmul_rn(x, reciprocal);
    return __fmaf_rn(-__fmaf_rn(by, quotient, -x), reciprocal, quotient);
}
