${head}
${axes}

/* The place at which the row behind that of `place` begins; `index` is the element's. */
template <class Args>
static __device__ __forceinline__ kn_place kn_next_row(const Args &kn, const kn_place &place, unsigned index)
{
    if (place.second + 1 >= kn.axis[1].extent)
        return kn_locate(kn, index + kn.axis[0].extent - place.inner);
    kn_place next = place;
    kn_move(next, kn.axis[0], -place.inner);
    kn_move(next, kn.axis[1], 1);
    return next;
}

/* The place of the element behind that of `place`; `index` is its own. Only at the end of the second axis is it located anew. */
template <class Args>
static __device__ __forceinline__ kn_place kn_next_element(const Args &kn, const kn_place &place, unsigned index)
{
    const bool ends = place.inner + 1 >= kn.axis[0].extent;
    if (ends && place.second + 1 >= kn.axis[1].extent)
        return kn_locate(kn, index);
    kn_place next = place;
    next.inner = ends ? 0 : place.inner + 1;
    next.second = place.second + ends;
#pragma unroll
    for (int o = 0; o < ${operands}; ++o)
        next.at[o] += ends ? kn.axis[1].stride[o] - (int)(kn.axis[0].extent - 1) * kn.axis[0].stride[o] : kn.axis[0].stride[o];
    return next;
}

${begin}

    /* The thread's vector: in order of the results, or, if blocks are rasterised, among ${raster_width} vectors of several rows below each other. */
    int kn_first = (int)((blockIdx.x * ${block}u + threadIdx.x) * ${vector}u) - kn.misalignment;
    if (kn.row_vectors != 0) {
        const unsigned kn_column = blockIdx.x * ${raster_width} + threadIdx.x % ${raster_width}, kn_row = blockIdx.y * (${block} / ${raster_width}) + threadIdx.x / ${raster_width};
        kn_first = kn_column < kn.row_vectors ? (int)((kn_row * kn.row_vectors + kn_column) * ${vector}u) - kn.misalignment : (int)kn.size;
    }
    if (kn_first >= 0 && kn_first + ${vector} <= kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_first);
        ${elements}
    } else {
#pragma unroll 1
        for (int kn_at = kn_first < 0 ? 0 : kn_first; kn_at < kn_first + ${vector} && kn_at < kn.size; ++kn_at) {
            const kn_place kn_here = kn_locate(kn, kn_at);
            ${single}
        }
    }
    ${after_loop}
}
