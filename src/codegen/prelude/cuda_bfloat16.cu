// bfloat16: two bytes in memory, float32 in arithmetic, rounded to nearest even when it is stored.
// needs: bfloat16

// bfloat16 = float16 is an assignment alone: were there conversions both ways, `c ? x : y` of the two could not tell which.
struct float16;
template <class T> struct kn_bfloat16_from {};
template <> struct kn_bfloat16_from<float16> { typedef struct bfloat16 &type; };

struct bfloat16 {
    unsigned short bits;

    bfloat16() = default;
    __device__ __forceinline__ bfloat16(float x) {
#if __CUDA_ARCH__ >= 800
        asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
        unsigned int u = __float_as_uint(x);
        bits = x == x ? (u + 0x7fff + (u >> 16 & 1)) >> 16 : 0x7fff;
#endif
    }
    // Bits that float32 cannot hold are cut off and set its last bit, so that only the second rounding counts.
    __device__ __forceinline__ bfloat16(double x) : bfloat16(odd(__double2float_rz(x), x)) {}
    __device__ __forceinline__ bfloat16(int x) : bfloat16(odd(__int2float_rz(x), x)) {}
    __device__ __forceinline__ bfloat16(unsigned int x) : bfloat16(odd(__uint2float_rz(x), x)) {}
    __device__ __forceinline__ bfloat16(long x) : bfloat16((long long)x) {}
    __device__ __forceinline__ bfloat16(unsigned long x) : bfloat16((unsigned long long)x) {}
    __device__ __forceinline__ bfloat16(long long x) : bfloat16(odd(__ll2float_rz(x), x)) {}
    __device__ __forceinline__ bfloat16(unsigned long long x) : bfloat16(odd(__ull2float_rz(x), x)) {}

    __device__ __forceinline__ operator float() const { return __uint_as_float((unsigned int)bits << 16); }

    template <class T> __device__ __forceinline__ typename kn_bfloat16_from<T>::type operator=(T x) { return *this = (float)x; }
    template <class T> __device__ __forceinline__ bfloat16 &operator+=(T x) { return *this = (float)*this + x; }
    template <class T> __device__ __forceinline__ bfloat16 &operator-=(T x) { return *this = (float)*this - x; }
    template <class T> __device__ __forceinline__ bfloat16 &operator*=(T x) { return *this = (float)*this * x; }
    template <class T> __device__ __forceinline__ bfloat16 &operator/=(T x) { return *this = (float)*this / x; }

private:
    template <class T> static __device__ __forceinline__ float odd(float cut, T x) {
        return (T)cut == x ? cut : __uint_as_float(__float_as_uint(cut) | 1);
    }
};
