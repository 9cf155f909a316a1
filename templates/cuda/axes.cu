struct kn_axis {
    unsigned extent, magic, shift, unused;
    long long stride[${operands}];
};

struct kn_args {
    ${fields}
};

/* Where one element is: bytes from the start of each operand. */
struct kn_place {
    unsigned inner, second; /* steps along the two innermost axes */
    long long at[${operands}];
};

static __device__ __forceinline__ void kn_move(kn_place &place, const kn_axis &axis, unsigned steps)
{
#pragma unroll
    for (int o = 0; o < ${operands}; ++o)
        place.at[o] += axis.stride[o] * steps;
}

/* Axes stand innermost first. */
static __device__ __forceinline__ kn_place kn_locate(const kn_args &kn, unsigned index)
{
    kn_place place = {};
    int a = 0;
#pragma unroll ${unroll}
    for (; a < ${rank} - 1; ++a) {
        if (a + 1 >= kn.rank)
            break;
        const unsigned outer = (__umulhi(index, kn.axis[a].magic) + index) >> kn.axis[a].shift;
        const unsigned steps = index - outer * kn.axis[a].extent;
        if (a == 0)
            place.inner = steps;
        if (a == 1)
            place.second = steps;
        kn_move(place, kn.axis[a], steps);
        index = outer;
    }
    if (kn.rank == 1)
        place.inner = index;
    if (kn.rank == 2)
        place.second = index;
    kn_move(place, kn.axis[kn.rank - 1], index);
    return place;
}

/* On to the element at `index`, which follows the one at `place`. */
[[maybe_unused]] static __device__ __forceinline__ void kn_advance(const kn_args &kn, kn_place &place, unsigned index)
{
    if (++place.inner < kn.axis[0].extent)
        kn_move(place, kn.axis[0], 1);
    else
        place = kn_locate(kn, index);
}
