${head}
${axes}

/* Neighbouring elements of a row. */
template <class T, int N>
struct kn_columns {
    T at[N];
};

/* Those from column `first` + `by` on of the row that has its column `first` at `from`; in place of those beyond its ends the nearest. Or one element, repeated, of
 * an input that is broadcast along the row. */
template <class T, int N>
static __device__ __forceinline__ kn_columns<T, N> kn_load_columns(const char *from, int step, int first, int by, int extent)
{
    kn_columns<T, N> loaded;
#pragma unroll
    for (int k = 0; k < N; ++k)
        loaded.at[k] = *reinterpret_cast<const T *>(from + step * (max(0, min(first + by + k, extent - 1)) - first));
    return loaded;
}

template <class T, int N>
[[maybe_unused]] static __device__ __forceinline__ kn_columns<T, N> kn_repeat_columns(const char *from)
{
    kn_columns<T, N> loaded;
    const T one = *reinterpret_cast<const T *>(from);
#pragma unroll
    for (int k = 0; k < N; ++k)
        loaded.at[k] = one;
    return loaded;
}

/* Four bytes as a word. */
template <class T>
static __device__ __forceinline__ unsigned kn_word_of(const kn_pack<T, 4> &bytes)
{
    unsigned byte[4];
#pragma unroll
    for (int k = 0; k < 4; ++k)
        byte[k] = (unsigned char)bytes.at[k];
    return __byte_perm(__byte_perm(byte[0], byte[1], 0x0040), __byte_perm(byte[2], byte[3], 0x0040), 0x5410);
}

/* The aligned word in which `to` lies. */
static __device__ __forceinline__ void kn_store_word(char *to, unsigned word)
{
    asm volatile("st.global.b32 [%0], %1;" ::"l"((unsigned long long)to & ~3ull), "r"(word) : "memory");
}

/* The aligned word in which column `first` lies, at `to`; byte by byte where it has columns beyond an end of the row. */
static __device__ __forceinline__ void kn_store_ends(char *to, unsigned word, int first, int extent)
{
    const int off = (int)((unsigned)(unsigned long long)to % 4);
#pragma unroll
    for (int k = 0; k < 4; ++k)
        if (first - off + k >= 0 && first - off + k < extent)
            to[k - off] = (char)(word >> 8 * k);
}

enum { kn_turns = 4 }; /* rows whose inputs a thread loads together */

${begin}

    /* Lanes have a part of each of some rows: the elements of a word each, as if rows began with one; those of the aligned words come from two lanes. The first lane of a part has what lies in
       front, and stores nothing. All lanes of a warp go through as many rows, since they exchange words. */
    const unsigned kn_thread = blockIdx.x * ${block}u + threadIdx.x;
    if ((kn_thread & ~31u) < kn.size) {
        const kn_place kn_here = kn_locate(kn, kn_thread < kn.size ? kn_thread : (unsigned)kn.size - 1);
        const kn_axis &kn_w = kn.axis[kn.rank];
        const int kn_left = (int)(kn_w.extent - kn_here.outer * ${coarsening}), kn_rows = kn_thread >= kn.size ? 0 : kn_left < ${coarsening} ? kn_left : ${coarsening}, kn_lane = (int)kn_here.inner & ((1 << kn.lane_bits) - 1);
        const int kn_first = (int)kn_here.inner * ${vector}, kn_column = ((int)(kn_here.inner >> kn.lane_bits) * ((1 << kn.lane_bits) - 1) + kn_lane) * ${vector} - ${vector};
        const bool kn_is_inside = kn_column >= ${vector} && kn_column + ${vector} <= kn.columns;
        const int kn_whole = kn_is_inside && kn_lane > 0 ? kn_rows : 0, kn_ended = !kn_is_inside && kn_lane > 0 ? kn_rows : 0; /* rows of which the lane stores a word, or a part of one */
        ${invariant}
#pragma unroll 1
        for (int kn_j = 0; kn_j < ${coarsening}; kn_j += kn_turns) {
            ${step_packs}
#pragma unroll
            for (int kn_m = 0; kn_m < kn_turns; ++kn_m) {
                const int kn_row = max(0, min(kn_j + kn_m, kn_rows - 1));
                ${step_loads}
            }
#pragma unroll
            for (int kn_m = 0; kn_m < kn_turns; ++kn_m) {
                const int kn_row = kn_j + kn_m;
                ${result}
#pragma unroll
                for (int kn_k = 0; kn_k < ${vector}; ++kn_k) {
                    ${lane}
                }
                ${stores}
            }
        }
    }
    ${after_loop}
}
