${head}
${axes}

/* The place of an element in so many axes: no loop is left, in which strides would have addresses that are computed. */
template <int Axes>
[[maybe_unused]] static __device__ __forceinline__ kn_place kn_locate_in(const kn_args &kn, unsigned index)
{
    kn_place place = {};
#pragma unroll
    for (int a = 0; a < Axes; ++a) {
        const unsigned outer = a + 1 < Axes ? kn_divide(index, kn.axis[a]) : 0, inner = index - outer * kn.axis[a].extent;
#pragma unroll
        for (int o = 0; o < ${operands}; ++o)
            place.at[o] += (int)inner * kn.axis[a].stride[o];
        index = outer;
    }
    return place;
}

enum { kn_together = ${pairs} + 1, kn_turns = ${vector} / kn_together }; /* elements side by side that a lane has in each turn */

${begin}

    /* In each turn the lanes of a warp have neighbouring elements, so that what they read lies in few lines, wherever rows begin and end. */
    const unsigned kn_first = blockIdx.x * (${block} * ${vector}u) + threadIdx.x / 32 * (32 * ${vector}u) + threadIdx.x % 32 * kn_together;
    if (kn_first + 32 * kn_together * (kn_turns - 1) + kn_together - 1 < kn.size) {
        ${packs}
#pragma unroll
        for (int kn_t = 0; kn_t < kn_turns; ++kn_t) {
            const kn_place kn_here = ${from}(kn, kn_first + 32 * kn_together * kn_t);
#pragma unroll
            for (int kn_j = 0; kn_j < kn_together; ++kn_j) {
                const int kn_k = kn_t * kn_together + kn_j;
                ${loads}
            }
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
#pragma unroll
        for (int kn_t = 0; kn_t < kn_turns; ++kn_t) {
            ${stores}
        }
    } else {
#pragma unroll 1
        for (unsigned kn_k = 0; kn_k < ${vector}; ++kn_k) {
            const unsigned kn_at = kn_first + kn_k / kn_together * (32 * kn_together) + kn_k % kn_together;
            if (kn_at < kn.size) {
                const kn_place kn_here = kn_locate(kn, kn_at);
                ${single}
            }
        }
    }
    ${after_loop}
}
