// needs: kn_reduce_threads_in_turn
// with: row
// Functions of row programs whose blocks have several rows, one after the other.

// As kn_reduce_threads, of a loop: values of two turns that follow each other have memory of their own. A warp that is a turn ahead stores while others still read; the barrier of that
// turn keeps it from being two ahead.
template <int Stage, int Block, bool Whole, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_threads_in_turn(T &value, unsigned held, unsigned width, unsigned turn, const Reduce &reduce) {
    __shared__ __align__(16) unsigned char buffer[2 * (Block / 32) * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(buffer) + turn * (Block / 32);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = Whole ? held / 32 : (held + 31) / 32;
    kn_reduce_group(value, lane, Whole ? 32 : warp < warps ? held - warp * 32 : 0, 32, reduce);
    if (width > 1) {
        if (lane == 0 && (Whole || warp < warps))
            shared[warp] = value;
        __syncthreads();
        const unsigned other = lane & (width - 1);
        value = shared[other < warps ? other : 0];
        kn_reduce_group(value, other, warps, width, reduce);
    }
}

// Moves `place` from the result before it to result `index`.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_to_next_result(Place &place, const Args &kn, int first, unsigned index) {
    if (first + 1 == (int)kn.rank) {
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += kn.axis[first].stride[o];
    } else {
        place = {};
        kn_go_to_result<Operands>(place, kn, first, index);
    }
}
