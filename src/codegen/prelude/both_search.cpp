// needs: kn_search_among kn_search_reversed
// with: raw nan
// Places in what is sorted, in front of the elements that are equal to v, or behind them (Right). NaN comes last, and is equal to NaN. No step of a search is a branch, since values that nobody foresees
// take each way.
template <bool Right, class T> static __device__ __forceinline__ bool kn_search_goes_on(const T e, const T v) {
    return Right ? !((v < e) | (kn_is_nan(e) & !kn_is_nan(v))) : (e < v) | (kn_is_nan(v) & !kn_is_nan(e));
}

#ifdef __CUDA_ARCH__
#define kn_search_hint 0
template <class T, class Array, class Count, class Test>
static __device__ __forceinline__ Count kn_search_near(const Array &a, Count low, Count count, const Test &goes_on) {
    while (count > 0) {
        const Count half = count - count / 2;
        low += goes_on((T)a[low + half - 1]) ? half : 0;
        count -= half;
    }
    return low;
}

// The same of many elements: the last ones that are left, a sector of memory, come at once where they lie side by side.
template <class T, class Array, class Count, class Test>
static __device__ __forceinline__ Count kn_search_far(const Array &a, Count low, Count count, const Test &goes_on) {
    return kn_search_near<T>(a, low, count, goes_on);
}
#ifdef __CUDACC_RTC__
template <class T, class Element, int Rank, class Count, class Test>
static __device__ __forceinline__ Count kn_search_far(const kn_raw<const Element, Rank, true> &a, Count low, Count count, const Test &goes_on) {
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

template <class T, bool Right, class Array>
static __device__ __forceinline__ long long kn_search_among(int, const Array &a, const T v) {
    const long long n = a.size();
    const auto goes_on = [&](const T e) -> bool { return kn_search_goes_on<Right, T>(e, v); };
    return n > 32768 ? kn_search_far<T>(a, 0ll, n, goes_on) : kn_search_near<T>(a, 0u, (unsigned)n, goes_on);
}
#else
// The place that was found last, since sorted values have the same one or change it seldom. It is not looked at for a while where it is seldom right: searches that do not wait for each other overlap.
#define kn_search_hint kn_at_end.last
enum {
    kn_search_near = 8,      /* elements behind that place, among which a sorted value's may be */
    kn_search_many = 1 << 15 /* elements, of which both that may be compared next are fetched early */
};
// A step without a branch: next if the element goes on, else low. Of floats compilers make a conditional move, of integers some make a branch.
template <bool Right, class T> static __forceinline__ long long kn_search_step(long long low, const long long next, const T e, const T v) {
#if defined(__x86_64__)
    if constexpr (!__is_class(T) && T(0.5f) == T(0)) {
        if constexpr (T(-1) < T(0) && Right)
            __asm__("cmp %[v], %[e]\n\tcmovle %[next], %[low]" : [low] "+r"(low) : [next] "r"(next), [e] "r"((long long)e), [v] "r"((long long)v) : "cc");
        else if constexpr (T(-1) < T(0))
            __asm__("cmp %[v], %[e]\n\tcmovl %[next], %[low]" : [low] "+r"(low) : [next] "r"(next), [e] "r"((long long)e), [v] "r"((long long)v) : "cc");
        else if constexpr (Right)
            __asm__("cmp %[v], %[e]\n\tcmovbe %[next], %[low]" : [low] "+r"(low) : [next] "r"(next), [e] "r"((unsigned long long)e), [v] "r"((unsigned long long)v) : "cc");
        else
            __asm__("cmp %[v], %[e]\n\tcmovb %[next], %[low]" : [low] "+r"(low) : [next] "r"(next), [e] "r"((unsigned long long)e), [v] "r"((unsigned long long)v) : "cc");
        return low;
    }
#endif
    return (Right ? e <= v : e < v) ? next : low;
}
// Places by numbers and by an element of each: at_place(k) and v are compared.
template <bool Right, class T, class At, class Fetch>
static __forceinline__ long long kn_search_by(long long count, const At &at_place, const T v, const Fetch &fetch) {
    long long low = 0;
    if (count == 0)
        return 0;
    while (count > 1) {
        const long long half = count / 2;
        long long next = low + half;
        if (count > kn_search_many) {
            const long long quarter = (count - half) / 2;
            fetch(low + quarter);
            fetch(next + quarter);
        }
        __asm__("" : "+r"(next)); // compilers take a branch otherwise
        low = kn_search_step<Right, T>(low, next, at_place(next - 1), v);
        count -= half;
    }
    return kn_search_step<Right, T>(low, low + 1, at_place(low), v);
}
template <bool Right, class T, class At, class Fetch>
static __forceinline__ long long kn_search_from(kn_last_place &last, const long long count, const At &at_place, const T v, const Fetch &fetch) {
    const auto goes_on = [&](const long long k) -> bool { return Right ? at_place(k) <= v : at_place(k) < v; };
    if (++last.trust > 0 && count > 0) {
        const long long at = last.place < count ? last.place : count;
        unsigned is_behind = (at == 0) | goes_on(at > 0 ? at - 1 : 0), is_there = (at == count) | !goes_on(at < count ? at : count - 1);
        __asm__("" : "+r"(is_behind), "+r"(is_there)); // one branch, which is foreseen
        if (is_behind & is_there) {
            last.trust = 8;
            return at;
        }
        if (is_behind && at + kn_search_near < count && !goes_on(at + kn_search_near)) {
            last.place = at;
            for (int k = 0; k < kn_search_near; ++k)
                last.place += goes_on(at + k);
            last.trust = 8;
            return last.place;
        }
        last.trust = last.trust > 4 ? last.trust - 4 : -64;
    }
    return last.place = kn_search_by<Right, T>(count, at_place, v, fetch);
}

template <class T> static constexpr bool kn_search_has_parts(decltype(T().re) *) { return true; }
template <class T> static constexpr bool kn_search_has_parts(...) { return false; }

// Floats of 16 bits are compared as integers in their order; of float32 and float64 only v may have to be asked whether it is NaN: no other is less than NaN, or equal to it.
template <class T> static __forceinline__ int kn_search_key(const T x, const int infinite) {
    const int sign = (short)x.bits >> 15, size = x.bits & 0x7fff;
    return size > infinite ? 0x7fff : (size ^ sign) - sign;
}
template <class T, bool Right, class Array>
static __forceinline__ long long kn_search_among(kn_last_place &last, const Array &a, const T v) {
    const long long n = a.size();
    const auto fetch = [&](const long long k) {
        const auto &element = a[k];
        __builtin_prefetch(&element);
    };
    if constexpr (__is_class(T) && sizeof(T) == 2) {
        const int infinite = T(1.0f).bits == 0x3c00 ? 0x7c00 : 0x7f80, key = kn_search_key(v, infinite);
        return kn_search_from<Right, int>(last, n, [&](const long long k) { return kn_search_key((T)a[k], infinite); }, key, fetch);
    } else if constexpr (kn_search_has_parts<T>(nullptr)) {
        return kn_search_by<false, bool>(n, [&](const long long k) { return !kn_search_goes_on<Right, T>((T)a[k], v); }, true, fetch);
    } else {
        const auto at_place = [&](const long long k) { return (T)a[k]; };
        if (kn_is_nan(v))
            return Right ? n : kn_search_by<false, bool>(n, [&](const long long k) { return (bool)kn_is_nan((T)a[k]); }, true, fetch);
        return kn_search_from<Right, T>(last, n, at_place, v, fetch);
    }
}
#endif

// An array from its end on.
template <class Array> struct kn_search_reversed {
    const Array &of;
    __device__ __forceinline__ long long size() const { return of.size(); }
    template <class I> __device__ __forceinline__ auto operator[](const I k) const { return of[(I)(size() - 1 - k)]; }
};
