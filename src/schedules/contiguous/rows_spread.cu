${head}
${axes}

/* The place of an element in two axes: there is no loop, in which strides would have addresses that are computed. */
[[maybe_unused]] static __device__ __forceinline__ kn_place kn_locate_in_rows(const kn_args &kn, unsigned index)
{
    const unsigned outer = kn_divide(index, kn.axis[0]), inner = index - outer * kn.axis[0].extent;
    kn_place place;
#pragma unroll
    for (int o = 0; o < ${operands}; ++o)
        place.at[o] = (int)inner * kn.axis[0].stride[o] + (int)outer * kn.axis[1].stride[o];
    return place;
}

${begin}

    /* In each turn the lanes of a warp have neighbouring elements, so that what they read lies in few lines, wherever rows begin and end. */
    const unsigned kn_first = blockIdx.x * (${block} * ${vector}u) + threadIdx.x / 32 * (32 * ${vector}u) + threadIdx.x % 32;
    if (kn_first + 32 * (${vector} - 1) < kn.size) {
        ${packs}
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            const kn_place kn_here = ${from}(kn, kn_first + 32 * kn_k);
            ${loads}
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${lane}
        }
#pragma unroll
        for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
            ${stores}
        }
    } else {
#pragma unroll 1
        for (unsigned kn_at = kn_first; kn_at < kn.size; kn_at += 32) {
            const kn_place kn_here = kn_locate(kn, kn_at);
            ${single}
        }
    }
    ${after_loop}
}
