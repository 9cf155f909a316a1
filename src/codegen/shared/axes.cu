struct kn_axis {
    unsigned extent, magic, shift, unused;
    int stride[${operands}];
};

struct kn_args {
    ${fields}
};

/* Where one element is: bytes from the start of each operand. Launches are cut so that 32 bits are enough. */
struct kn_place {
    ${steps}
    int at[${operands}];
};

[[maybe_unused]] static __device__ __forceinline__ void kn_move(kn_place &place, const kn_axis &axis, unsigned steps)
{
    ${moves}
}

[[maybe_unused]] static __device__ __forceinline__ unsigned kn_divide(unsigned n, const kn_axis &by)
{
    return (__umulhi(n, by.magic) + n) >> by.shift;
}

/* Axes stand innermost first. NVRTC has it in assembly; the rest is what it means. */
[[maybe_unused]] static __device__ __forceinline__ kn_place kn_locate(const kn_args &kn, unsigned index)
{
    kn_place place;
#ifdef __CUDACC_RTC__
    ${locate}
#else
    place = {};
    for (unsigned a = 0; a < kn.rank; ++a) {
        const unsigned outer = a + 1 < kn.rank ? kn_divide(index, kn.axis[a]) : 0;
        const unsigned steps = index - outer * kn.axis[a].extent;
        ${keep_steps}
        kn_move(place, kn.axis[a], steps);
        index = outer;
    }
#endif
    return place;
}
