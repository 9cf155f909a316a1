// Functions of float32 for results that are rounded to float16 or bfloat16 afterwards: off by 2^-17 at most, relative to them.
// needs: kn_narrow_exp
__device__ __forceinline__ float kn_narrow_exp(const float x) { return __expf(x); }

