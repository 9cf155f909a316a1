// Sums and products that no compiler contracts with others, so that all kernels which combine the same values in the
// same order get the same bits. kn_no_product says of plain sums that nothing in them is a product.
// needs: kn_add kn_subtract kn_multiply kn_multiply_add kn_no_product

template <class T> struct complex;

#define kn_no_product(x) (x)
__device__ __forceinline__ float kn_add(float x, float y) { return __fadd_rn(x, y); }
__device__ __forceinline__ double kn_add(double x, double y) { return __dadd_rn(x, y); }
__device__ __forceinline__ float kn_subtract(float x, float y) { return __fsub_rn(x, y); }
__device__ __forceinline__ double kn_subtract(double x, double y) { return __dsub_rn(x, y); }
__device__ __forceinline__ float kn_multiply(float x, float y) { return __fmul_rn(x, y); }
__device__ __forceinline__ double kn_multiply(double x, double y) { return __dmul_rn(x, y); }
__device__ __forceinline__ float kn_multiply_add(float x, float y, float z) { return __fmaf_rn(x, y, z); }
__device__ __forceinline__ double kn_multiply_add(double x, double y, double z) { return __fma_rn(x, y, z); }

template <class T> __device__ __forceinline__ complex<T> kn_add(const complex<T> &x, const complex<T> &y) {
    return complex<T>(kn_add(x.re, y.re), kn_add(x.im, y.im));
}
template <class T> __device__ __forceinline__ complex<T> kn_subtract(const complex<T> &x, const complex<T> &y) {
    return complex<T>(kn_subtract(x.re, y.re), kn_subtract(x.im, y.im));
}
template <class T> __device__ __forceinline__ complex<T> kn_multiply(const complex<T> &x, T y) {
    return complex<T>(kn_multiply(x.re, y), kn_multiply(x.im, y));
}
template <class T> __device__ __forceinline__ complex<T> kn_multiply(const complex<T> &x, const complex<T> &y) {
    return complex<T>(kn_subtract(kn_multiply(x.re, y.re), kn_multiply(x.im, y.im)), kn_add(kn_multiply(x.re, y.im), kn_multiply(x.im, y.re)));
}
template <class T> __device__ __forceinline__ complex<T> kn_multiply_add(const complex<T> &x, T y, const complex<T> &z) {
    return complex<T>(kn_multiply_add(x.re, y, z.re), kn_multiply_add(x.im, y, z.im));
}
