struct kn_axis {
    long long extent;
    long long stride[${operands}];
};

struct kn_args {
    ${fields}
};

/* Bytes from the start of each operand, and indices. */
struct kn_place {
    long long at[${operands}];
};

/* Moves on by so many elements of the axes from `first` up to `end`; the innermost stands first. */
static __device__ __forceinline__ void kn_move(kn_place &place, const kn_args &kn, int first, int end, long long index)
{
#pragma unroll 1
    for (int a = first; a < end; ++a) {
        const long long outer = a + 1 < end ? index / kn.axis[a].extent : 0;
        const long long steps = index - outer * kn.axis[a].extent;
        for (int o = 0; o < ${operands}; ++o)
            place.at[o] += steps * kn.axis[a].stride[o];
        index = outer;
    }
}
