// Checked kernels: raw arrays whose indices are looked at, and what is reported of the first that is outside.
// needs: kn_checked kn_checked_index
// with: raw

#ifdef __CUDACC_RTC__
#define KN_REPORTED __device__
#else
#define KN_REPORTED __attribute__((visibility("default")))
#endif

// launch/check.c reads it when the kernel has ended. axis is -1 where the array is indexed by one number in C order.
struct kn_outside_report {
    unsigned int is_set;
    int operand, axis, unused;
    long long index, bound;
    volatile unsigned int *flag;
};
extern "C" {
KN_REPORTED kn_outside_report kn_outside;
}

// An element for indices that have none.
static __device__ unsigned long long kn_nowhere[2];

__device__ inline bool kn_is_first_report(unsigned int *is_set) {
#ifdef __CUDACC_RTC__
    const bool is_first = atomicCAS(is_set, 0u, 1u) == 0u;
#else
    const bool is_first = !__atomic_exchange_n(is_set, 1u, __ATOMIC_RELAXED);
#endif
    if (is_first && kn_outside.flag)
        *kn_outside.flag = 1;
    return is_first;
}

// Apart from the loops that ask for it.
__device__ __attribute__((noinline, cold)) static void kn_report_index(int number, int axis, long long given, long long extent) {
    if (kn_is_first_report(&kn_outside.is_set)) {
        kn_outside.operand = -1 - number;
        kn_outside.axis = axis;
        kn_outside.index = given;
        kn_outside.bound = extent;
    }
}

// An index along an axis, which counts from the end if it is negative; of those outside the first one is reported, as that of the item `number` of x[...].
template <class I> __device__ inline long long kn_checked_index(const I index, int number, int axis, long long extent) {
    const long long given = (long long)index, at = given < 0 ? given + extent : given;
    if (at >= 0 && at < extent && !(given < 0 && index > (I)0)) /* as arrays ask once more */
        return at;
    kn_report_index(number, axis, given, extent);
    return 0;
}

// A mask of x[...] has another number of true elements than the other indices have; number -1: so have the values.
__device__ inline void kn_checked_count(long long count, int number, long long wanted) {
    if (kn_is_first_report(&kn_outside.is_set)) {
        kn_outside.operand = -1 - number;
        kn_outside.axis = -2;
        kn_outside.index = count;
        kn_outside.bound = wanted;
    }
}

template <class T> __device__ inline typename kn_element_of<T>::type kn_report(int operand, int axis, long long index, long long bound) {
    if (kn_is_first_report(&kn_outside.is_set)) {
        kn_outside.operand = operand;
        kn_outside.axis = axis;
        kn_outside.index = index;
        kn_outside.bound = bound;
    }
    return kn_element_of<T>::at(reinterpret_cast<T *>(kn_nowhere));
}

template <class T, int Rank, bool Contiguous, int Operand> struct kn_checked : kn_raw<T, Rank, Contiguous> {
    typedef kn_raw<T, Rank, Contiguous> plain;
    typedef typename plain::element element;

    __device__ __forceinline__ kn_checked(const kn_raw_data<T, Rank> &raw) : plain{raw} {}
    template <class I> __device__ __forceinline__ element operator[](const I &given) const {
        const ptrdiff_t index = given;
        if (index < 0 || index >= this->raw.count)
            return kn_report<T>(Operand, -1, index, this->raw.count);
        return plain::operator[](index);
    }
    template <class I, int N> __device__ __forceinline__ element operator[](const I (&index)[N]) const {
        static_assert(N == Rank, "a raw array is indexed by one number, or by as many as it has axes");
        for (int a = 0; a < Rank && a < N; ++a)
            if ((ptrdiff_t)index[a] < 0 || (ptrdiff_t)index[a] >= this->raw.extents[a])
                return kn_report<T>(Operand, a, (ptrdiff_t)index[a], this->raw.extents[a]);
        return plain::operator[](index);
    }
    template <int N> __device__ __forceinline__ element operator[](const kn_multi_index<N> &index) const {
        static_assert(N == Rank, "a raw array that is indexed by _ind.get() needs as many axes as the loop");
        return (*this)[index.at];
    }
    template <class... I> __device__ __forceinline__ element operator()(I... index) const {
        const ptrdiff_t list[] = {(ptrdiff_t)index...};
        return (*this)[list];
    }
};
// An array without axes has one element, at 0 however it is indexed.
template <class T, bool Contiguous, int Operand> struct kn_checked<T, 0, Contiguous, Operand> : kn_raw<T, 0, Contiguous> {
    typedef kn_raw<T, 0, Contiguous> plain;
    typedef typename plain::element element;

    __device__ __forceinline__ kn_checked(const kn_raw_data<T, 0> &raw) : plain{raw} {}
    template <class I> __device__ __forceinline__ element operator[](const I &given) const {
        const ptrdiff_t index = given;
        return index != 0 ? kn_report<T>(Operand, -1, index, 1) : plain::value();
    }
    template <class I, int N> __device__ __forceinline__ element operator[](const I (&index)[N]) const {
        for (int a = 0; a < N; ++a)
            if ((ptrdiff_t)index[a] != 0)
                return kn_report<T>(Operand, -1, (ptrdiff_t)index[a], 1);
        return plain::value();
    }
    __device__ __forceinline__ element operator[](const kn_multi_index<0> &) const { return plain::value(); }
    __device__ __forceinline__ element operator()() const { return plain::value(); }
    template <class... I> __device__ __forceinline__ element operator()(I... index) const {
        const ptrdiff_t list[] = {(ptrdiff_t)index...};
        return (*this)[list];
    }
};
