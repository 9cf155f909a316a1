// float16: two bytes in memory, float32 in arithmetic, rounded to nearest even when it is stored.
// needs: float16

// float16 = bfloat16 is an assignment alone: were there conversions both ways, `c ? x : y` of the two could not tell which.
struct bfloat16;
template <class T> struct kn_float16_from {};
template <> struct kn_float16_from<bfloat16> { typedef struct float16 &type; };

struct float16 {
    unsigned short bits;

    float16() = default;
    __device__ __forceinline__ float16(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
    __device__ __forceinline__ float16(double x) { asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x)); }
    // Beyond 2^24 all of them are infinite here, so that rounding twice cannot show.
    __device__ __forceinline__ float16(int x) : float16((float)x) {}
    __device__ __forceinline__ float16(unsigned int x) : float16((float)x) {}
    __device__ __forceinline__ float16(long x) : float16((float)x) {}
    __device__ __forceinline__ float16(unsigned long x) : float16((float)x) {}
    __device__ __forceinline__ float16(long long x) : float16((float)x) {}
    __device__ __forceinline__ float16(unsigned long long x) : float16((float)x) {}

    __device__ __forceinline__ operator float() const {
        float x;
        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }

    template <class T> __device__ __forceinline__ typename kn_float16_from<T>::type operator=(T x) { return *this = (float)x; }
    template <class T> __device__ __forceinline__ float16 &operator+=(T x) { return *this = (float)*this + x; }
    template <class T> __device__ __forceinline__ float16 &operator-=(T x) { return *this = (float)*this - x; }
    template <class T> __device__ __forceinline__ float16 &operator*=(T x) { return *this = (float)*this * x; }
    template <class T> __device__ __forceinline__ float16 &operator/=(T x) { return *this = (float)*this / x; }
};
