// needs: kn_search kn_search_near
// Places in what is sorted: behind the elements for which `goes_on` holds, of `count` from `low` on. The number of steps is that of `count` alone, and no step is a branch, which random values
// would mispredict.
template <class T, class Array, class Count, class Test>
static __forceinline__ Count kn_search_near(const Array &a, Count low, Count count, const Test &goes_on) {
    while (count > 0) {
        const Count half = count - count / 2;
        low += goes_on((T)a[low + half - 1]) ? half : 0;
        count -= half;
    }
    return low;
}
template <class T, class Array, class Count, class Test>
static __forceinline__ Count kn_search(const Array &a, Count low, Count count, const Test &goes_on) {
    return kn_search_near<T>(a, low, count, goes_on);
}
