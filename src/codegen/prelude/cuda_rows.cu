// needs: kn_copy_rows
// Rows that a warp copies to shared memory and from there.

// Copies as many rows, of `length` elements each and N at most, by the lanes of a warp: all 32 by chunks of 16 bytes.
template <int N, class T>
__device__ __forceinline__ void kn_copy_rows(T *to, const T *from, int rows, int length) {
    constexpr int turns = (2 * N * sizeof(T) + 31) / 32;
    const int lane = threadIdx.x % 32, chunks = 2 * length * (int)sizeof(T);
    if (rows == 32) {
        kn_pack<unsigned, 4> chunk[turns];
#pragma unroll
        for (int k = 0; k < turns; ++k)
            if (lane + 32 * k < chunks)
                chunk[k] = kn_load<unsigned, 4>(reinterpret_cast<const unsigned *>(from) + 4 * (lane + 32 * k));
#pragma unroll
        for (int k = 0; k < turns; ++k)
            if (lane + 32 * k < chunks)
                kn_store(reinterpret_cast<unsigned *>(to) + 4 * (lane + 32 * k), chunk[k]);
    } else {
        for (int k = lane; k < rows * length; k += 32)
            to[k] = from[k];
    }
}
