// 16-bit floats inside a fused kernel. A value that was computed there is a float32 that nothing has rounded; what the
// text of a kernel names its 16-bit type is a float32 too, rounded when something is converted to it. Of the two in a
// `?:` comes the first.
// needs: kn_unrounded kn_rounded_to
// with: real

struct kn_unrounded {
    float value;

    kn_unrounded() = default;
    __device__ __forceinline__ kn_unrounded(float x) : value(x) {}
    __device__ __forceinline__ operator float() const { return value; }
};

template <class H> struct kn_rounded_to : kn_unrounded {
    kn_rounded_to() = default;
    template <class N> __device__ __forceinline__ kn_rounded_to(N x) : kn_unrounded((float)(H)x) {}

    template <class N> __device__ __forceinline__ kn_rounded_to &operator+=(N x) { return *this = value + x; }
    template <class N> __device__ __forceinline__ kn_rounded_to &operator-=(N x) { return *this = value - x; }
    template <class N> __device__ __forceinline__ kn_rounded_to &operator*=(N x) { return *this = value * x; }
    template <class N> __device__ __forceinline__ kn_rounded_to &operator/=(N x) { return *this = value / x; }
};
template <> struct kn_real<kn_unrounded> { typedef float type; };
template <class H> struct kn_real<kn_rounded_to<H>> { typedef float type; };

__device__ __forceinline__ float abs(kn_unrounded x) { return x.value <= 0 ? 0 - x.value : x.value; }
template <class H> __device__ __forceinline__ float abs(kn_rounded_to<H> x) { return abs((kn_unrounded)x); }

