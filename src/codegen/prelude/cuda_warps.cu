// needs: kn_before_warp
// A number of each warp of a block, added up: over the warps before this one, and in `all` over all of them. A barrier of the block; total: shared, one for each warp.
template <int Warps, int Unroll>
__device__ __forceinline__ unsigned kn_before_warp(unsigned *total, const unsigned own, unsigned &all) {
    const int warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        total[warp] = own;
    __syncthreads();
    unsigned before = 0;
    all = 0;
#pragma unroll Unroll
    for (int w = 0; w < Warps; ++w) {
        before += w < warp ? total[w] : 0;
        all += total[w];
    }
    return before;
}
