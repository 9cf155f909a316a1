// Rows of bench/cuda_sequences.py by CUB: nvcc -O3 -std=c++17 -arch=sm_90 -DROW=1 -DBITS=0; prints the median time on the device, in microseconds.
#include <cub/cub.cuh>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_fp16.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

// Floats of [0, 1), words of any bits; keys below 2^20 for the rows whose keys are so.
template <class T> static __global__ void fill(T *x, size_t n)
{
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        uint64_t h = (i + 1) * 0x9E3779B97F4A7C15ull;
        h = (h ^ h >> 30) * 0xBF58476D1CE4E5B9ull, h = (h ^ h >> 27) * 0x94D049BB133111EBull;
        if constexpr (std::is_integral_v<T>)
            x[i] = (T)(ROW == 5 || ROW == 19 ? h >> 44 : h >> (64 - 8 * sizeof(T)));
        else
            x[i] = (T)((h >> 40) * 0x1p-24f);
    }
}

template <class T> static T *array(size_t n, bool is_filled)
{
    T *x;
    cudaMalloc(&x, n * sizeof(T));
    if constexpr (std::is_arithmetic_v<T> || sizeof(T) == 2)
        if (is_filled)
            fill<<<1056, 256>>>(x, n);
    return x;
}

struct above {
    const float *x;
    __device__ bool operator()(float v) const { return v > 0.5f; }
    __device__ bool operator()(int64_t i) const { return x[i] > 0.5f; }
};

struct row {
    __host__ __device__ int64_t operator()(int64_t k) const { return k * 1024; }
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
    int count = 1; // calls in a row, as many as take 2 ms
    for (int k = 0; k < 12; k++) {
        cudaEventRecord(begin);
        for (int c = 0; c < count; c++)
            call(space, size);
        cudaEventRecord(end);
        cudaEventSynchronize(end);
        float ms;
        cudaEventElapsedTime(&ms, begin, end);
        if (k >= 3)
            found.push_back(ms / count);
        if (k == 2)
            count = std::max(1, (int)(2 / ms));
    }
    std::sort(found.begin(), found.end());
    if (cudaError_t e = cudaGetLastError())
        std::printf("failed: %s\n", cudaGetErrorString(e));
    else
        std::printf("%.0f\n", found[4] * 1e3);
}

// Two functions of CUB one after the other, which share what space they need.
template <class F, class G> static void both(void *s, size_t &z, F first, G second)
{
    size_t a = z, b = z;
    first(s, a), second(s, b);
    if (!s)
        z = std::max(a, b);
}

static size_t scaled(int bits) { return (size_t)1 << (bits + BITS); }

int main()
{
#if ROW == 1 || ROW == 12
    size_t n = scaled(ROW == 1 ? 28 : 20);
    float *x = array<float>(n, true), *y = array<float>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceScan::InclusiveSum(s, z, x, y, n); });
#elif ROW == 2
    size_t n = scaled(27);
    float2 *x = (float2 *)array<float>(2 * n, true), *y = array<float2>(n, false);
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
#elif ROW == 13
    size_t n = scaled(27);
    uint32_t *x = array<uint32_t>(n, true), *y = array<uint32_t>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); });
#elif ROW == 14 || ROW == 16
    typedef std::conditional_t<ROW == 14, uint32_t, uint64_t> word;
    size_t n = scaled(26);
    word *x = array<word>(n, true), *y = array<word>(n, false), *v = array<word>(n, true), *w = array<word>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortPairs(s, z, x, y, v, w, n); });
#elif ROW == 15
    size_t n = scaled(26);
    uint64_t *x = array<uint64_t>(n, true), *y = array<uint64_t>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); });
#elif ROW == 17
    size_t n = scaled(27);
    float *x = array<float>(n, true), *y = array<float>(n, false);
    auto begin = thrust::make_transform_iterator(thrust::counting_iterator<int64_t>(0), row());
    timed([&](void *s, size_t &z) { cub::DeviceSegmentedSort::SortKeys(s, z, x, y, (int64_t)n, (int64_t)(n / 1024), begin, begin + 1); });
#elif ROW == 18
    size_t n = scaled(26);
    float *x = array<float>(n, true), *y = array<float>(n, false), *u = array<float>(n, false);
    int64_t *count = array<int64_t>(1, false);
    timed([&](void *s, size_t &z) {
        both(s, z, [&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); }, [&](void *s, size_t &z) { cub::DeviceSelect::Unique(s, z, y, u, count, n); });
    });
#elif ROW == 19
    // Only the 20 bits of the keys are sorted; which sums are made first depends on the run.
    size_t n = scaled(26);
    int64_t *x = array<int64_t>(n, true), *y = array<int64_t>(n, false), *u = array<int64_t>(1 << 20, false), *count = array<int64_t>(1, false);
    float *v = array<float>(n, true), *w = array<float>(n, false), *sums = array<float>(1 << 20, false);
    timed([&](void *s, size_t &z) {
        both(s, z, [&](void *s, size_t &z) { cub::DeviceRadixSort::SortPairs(s, z, x, y, v, w, n, 0, 20); },
             [&](void *s, size_t &z) { cub::DeviceReduce::ReduceByKey(s, z, y, u, w, sums, count, cuda::std::plus<>(), n); });
    });
#elif ROW == 20
    size_t n = scaled(30);
    uint8_t *x = array<uint8_t>(n, true);
    unsigned long long *y = (unsigned long long *)array<int64_t>(256, false);
    timed([&](void *s, size_t &z) { cub::DeviceHistogram::HistogramEven(s, z, x, y, 257, 0, 256, (int64_t)n); });
#elif ROW == 21 || ROW == 22
    typedef std::conditional_t<ROW == 21, uint8_t, __half> narrow;
    size_t n = scaled(ROW == 21 ? 28 : 27);
    narrow *x = array<narrow>(n, true), *y = array<narrow>(n, false);
    timed([&](void *s, size_t &z) { cub::DeviceRadixSort::SortKeys(s, z, x, y, n); });
#endif
}
