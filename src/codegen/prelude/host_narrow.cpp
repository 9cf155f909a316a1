// Functions of float32 for results that are rounded to float16 or bfloat16 afterwards.
// needs: kn_narrow_exp
// with: math
static __forceinline__ float kn_narrow_exp(const float x) { return exp(x); }

