// needs: kn_search kn_search_near
// with: raw
// Places in what is sorted: behind the elements for which `goes_on` holds, of `count` from `low` on. The number of steps is that of `count` alone, and no step is a branch, since values that nobody
// foresees take each way.
template <class T, class Array, class Count, class Test>
static __device__ __forceinline__ Count kn_search_near(const Array &a, Count low, Count count, const Test &goes_on) {
    while (count > 0) {
        const Count half = count - count / 2;
        low += goes_on((T)a[low + half - 1]) ? half : 0;
        count -= half;
    }
    return low;
}

// The same of many elements. On CUDA the last ones that are left, a sector of memory, come at once where they lie side by side.
template <class T, class Array, class Count, class Test>
static __device__ __forceinline__ Count kn_search(const Array &a, Count low, Count count, const Test &goes_on) {
    return kn_search_near<T>(a, low, count, goes_on);
}
#ifdef __CUDACC_RTC__
template <class T, class Element, int Rank, class Count, class Test>
static __device__ __forceinline__ Count kn_search(const kn_raw<const Element, Rank, true> &a, Count low, Count count, const Test &goes_on) {
    constexpr int part = sizeof(Element) < 16 ? 32 / sizeof(Element) : 1;
    const Count end = low + count;
    if (part > 1 && (unsigned long long)a.data() % 16 == 0) {
        while (count > part) {
            const Count half = (count / 2 + part - 1) & ~(Count)(part - 1);
            const bool goes = goes_on((T)a[low + half - 1]);
            low += goes ? half : 0;
            count = goes ? count - half : half;
        }
        if (end - low >= part) {
            const auto last = kn_load<Element, part>(a.data() + low);
            unsigned more = 0;
#pragma unroll
            for (int k = 0; k < part; ++k)
                more += goes_on((T)last.at[k]);
            return low + more;
        }
    }
    return kn_search_near<T>(a, low, count, goes_on);
}
#endif
