// The names of cuda_fp16.h and cuda_bf16.h for conversions.
// needs: __float2half __float2half_rn __half2float __double2half __int2half_rn __half2int_rz __half_as_ushort __half
// needs: __ushort_as_half __float2bfloat16 __float2bfloat16_rn __bfloat162float __double2bfloat16
// needs: __bfloat16_as_ushort __ushort_as_bfloat16 __nv_bfloat16
// with: half bfloat16

// Where the toolkit's headers can be included, its own are meant.
#if !defined(__CUDACC__) || !__has_include(<cuda_fp16.h>)
typedef float16 __half;
typedef bfloat16 __nv_bfloat16;
__device__ __forceinline__ float16 __float2half(float x) { return x; }
__device__ __forceinline__ float16 __float2half_rn(float x) { return x; }
__device__ __forceinline__ float16 __double2half(double x) { return x; }
__device__ __forceinline__ float16 __int2half_rn(int x) { return x; }
__device__ __forceinline__ float __half2float(float16 x) { return x; }
__device__ __forceinline__ int __half2int_rz(float16 x) { return (int)(float)x; }
__device__ __forceinline__ unsigned short __half_as_ushort(float16 x) { return x.bits; }
__device__ __forceinline__ float16 __ushort_as_half(unsigned short bits) {
    float16 x;
    x.bits = bits;
    return x;
}
__device__ __forceinline__ bfloat16 __float2bfloat16(float x) { return x; }
__device__ __forceinline__ bfloat16 __float2bfloat16_rn(float x) { return x; }
__device__ __forceinline__ bfloat16 __double2bfloat16(double x) { return x; }
__device__ __forceinline__ float __bfloat162float(bfloat16 x) { return x; }
__device__ __forceinline__ unsigned short __bfloat16_as_ushort(bfloat16 x) { return x.bits; }
__device__ __forceinline__ bfloat16 __ushort_as_bfloat16(unsigned short bits) {
    bfloat16 x;
    x.bits = bits;
    return x;
}
#endif
