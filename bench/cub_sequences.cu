// Rows of bench/cuda_sequences.py by CUB: nvcc -O3 -std=c++17 -arch=sm_90 -DROW=1 -DBITS=0; prints the median time on the device, in microseconds.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <thrust/iterator/counting_iterator.h>

static __global__ void fill(float *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull;
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9ull, h = (h ^ h >> 27) * 0x94D049BB133111EBull;
        x[i] = (h >> 40) * 0x1p-24f;
    }
}

static __global__ void fill(int64_t *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull;
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9ull, h = (h ^ h >> 27) * 0x94D049BB133111EBull;
        x[i] = ROW == 5 ? h >> 44 : h;
    }
}

template <class T> static T *array(size_t n, bool is_filled)
{
    T *x;
    cudaMalloc(&x, n * sizeof(T));
    if (is_filled)
        fill<<<1056, 256>>>((std::conditional_t<sizeof(T) == 8, int64_t, float> *)x, n);
    return x;
}

struct above {
    const float *x;
    __device__ bool operator()(float v) const { return v > 0.5f; }
    __device__ bool operator()(int64_t i) const { return x[i] > 0.5f; }
};

struct affine {
    __device__ float2 operator()(float2 a, float2 b) const { return {a.x * b.x, a.y * b.x + b.y}; }
};


template <class F> static void timed(F call)
{
    size_t size = 0;
    void *space = nullptr;
    call(space, size);
    cudaMalloc(&space, size);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    std::vector<float> found;
    for (int k = 0; k < 12; k++) {
        cudaEventRecord(begin);
        call(space, size);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms;
        cudaEventElapsedTime(&ms, begin, end);
        if (k >= 3)
            found.push_back(ms);
    }
    std::sort(found.begin(), found.end());
    if (cudaError_t e = cudaGetLastError())
        std::printf("failed: %s\n", cudaGetErrorString(e));
    else
        std::printf("%.0f\n", found[4] * 1e3);
}

static size_t scaled(int bits) { return (size_t)1 << (bits + BITS); }

int main()
{
#if ROW == 1
    size_t n = scaled(28);
    float *x = array<float>(n, true), *y = array<float>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceScan::InclusiveSum(s, z, x, y, n); });
#elif ROW == 2
    size_t n = scaled(27);
    float2 *x = array<float2>(n, true), *y = array<float2>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceScan::InclusiveScan(s, z, x, y, affine(), n); });
#elif ROW == 3 || ROW == 6
    size_t n = scaled(ROW == 3 ? 27 : 20);
    float *x = array<float>(n, true), *y = array<float>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); });
#elif ROW == 4 || ROW == 5
    size_t n = scaled(26);
    int64_t *x = array<int64_t>(n, true), *y = array<int64_t>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); });
#elif ROW == 7
    // Indices of 32 bits, which are given: neither made nor widened here.
    size_t n = scaled(26);
    float *x = array<float>(n, true), *y = array<float>(n, false), *i = array<float>(n, true), *j = array<float>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortPairs(s, z, x, y, (int *)i, (int *)j, n); });
#elif ROW == 8 || ROW == 11
    size_t n = scaled(ROW == 8 ? 28 : 24);
    float *x = array<float>(n, true), *y = array<float>(n, false);
    int64_t *count = array<int64_t>(1, false);
    timed([&](void *s, size_t &z) { cub::DeviceSelect::If(s, z, x, y, count, n, above{x}); });
#elif ROW == 9
    size_t n = scaled(28);
    float *x = array<float>(n, true);
    int64_t *y = array<int64_t>(n, false), *count = array<int64_t>(1, false);
    timed([&](void *s, size_t &z) { cub::DeviceSelect::If(s, z, thrust::counting_iterator<int64_t>(0), y, count, n, above{x}); });
#elif ROW == 10
    size_t n = scaled(28);
    float *x = array<float>(n, true);
    unsigned long long *y = (unsigned long long *)array<int64_t>(256, false);
    timed([&](void *s, size_t &z) { cub::DeviceHistogram::HistogramEven(s, z, x, y, 257, 0.0f, 1.0f, n); });
#endif
}
