// needs: kn_copy_rows
// Rows that a warp copies to shared memory and from there.

// Copies as many rows, of `length` elements each, by the lanes of a warp: all of them (`whole`, a multiple of 32) by chunks of 16 bytes, 32 times N elements at most.
// One side is global and the other shared memory, so nothing here says which (kn_store does).
template <int N, class T>
__device__ __forceinline__ void kn_copy_rows(T *to, const T *from, int rows, int whole, int length) {
    constexpr int turns = (2 * N * sizeof(T) + 31) / 32;
    const int lane = threadIdx.x % 32, chunks = whole / 16 * length * (int)sizeof(T);
    if (rows == whole) {
        kn_pack<unsigned, 4> chunk[turns];
#pragma unroll
        for (int k = 0; k < turns; ++k)
            if (lane + 32 * k < chunks)
                chunk[k] = reinterpret_cast<const kn_pack<unsigned, 4> *>(from)[lane + 32 * k];
#pragma unroll
        for (int k = 0; k < turns; ++k)
            if (lane + 32 * k < chunks)
                reinterpret_cast<kn_pack<unsigned, 4> *>(to)[lane + 32 * k] = chunk[k];
    } else {
#pragma unroll 1
        for (int k = lane; k < rows * length; k += 32)
            to[k] = from[k];
    }
}
