${head}
${axes}

/* 16 bytes with a streaming store: they leave the cache first, and the inputs stay there. */
template <class T, int N>
[[maybe_unused]] static __device__ __forceinline__ void kn_store_streaming(T *to, const kn_pack<T, N> &value)
{
    if constexpr (sizeof value < 16) {
        kn_store(to, value);
    } else {
        unsigned word[4];
        memcpy(word, &value, sizeof word);
        asm volatile("st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(word[0]), "r"(word[1]), "r"(word[2]), "r"(word[3]) : "memory");
    }
}

/* Prefetches a line into L2, where streaming stores do not evict it. */
[[maybe_unused]] static __device__ __forceinline__ void kn_make_resident(const void *line)
{
    asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(line));
}

${begin}

    /* The vectors of a warp are contiguous; the ${vectors} vectors of a thread are 32 apart. */
    const unsigned kn_thread = blockIdx.x * ${block}u + threadIdx.x;
    const unsigned kn_first = (kn_thread / 32 * (32 * ${vectors}) + kn_thread % 32) * ${vector};
    ${stage}
    if (kn_first < kn.size) {
        ${from}
        ${loads}
#pragma unroll
        for (int kn_u = 0; kn_u < ${vectors}; ++kn_u)
#pragma unroll
            for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                ${lane}
            }
        ${result}
        {
            ${stores}
        }
        ${single}
    }
    ${after_loop}
}
