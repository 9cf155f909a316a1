// Functions whose result would be lost in float32: a step to the neighbour in the type of x itself, whatever y is, and an abs that stays in that type.
// needs: float16 bfloat16

struct float16;
struct bfloat16;
template <class H> struct kn_half {};
template <> struct kn_half<float16> { typedef float16 type; };
template <> struct kn_half<bfloat16> { typedef bfloat16 type; };

template <class H, class Y> __device__ __forceinline__ typename kn_half<H>::type nextafter(H x, Y y) {
    const double from = (float)x, to = (double)y;
    if (from != from || to != to || from == to)
        return (H)(from == to ? to : from + to);
    const bool up = to > from, negative = x.bits >> 15;
    x.bits = from == 0 ? (up ? 0x0001 : 0x8001) : up != negative ? x.bits + 1 : x.bits - 1;
    return x;
}

template <class H> __device__ __forceinline__ typename kn_half<H>::type abs(H x) {
    x.bits &= 0x7fff;
    return x;
}
