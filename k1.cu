// sort: sort_count

// Fixed-width names, and vectors of elements that move in one access.
typedef signed char int8;
typedef short int16;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;

// N elements side by side, aligned as one access needs them: to 16 bytes at most.
template <class T, int N>
struct alignas(sizeof(T) * N < 16 ? sizeof(T) * N : 16) kn_pack {
    T at[N];
};

template <class T, int N>
__device__ __forceinline__ kn_pack<T, N> kn_load(const T *from) {
    return *reinterpret_cast<const kn_pack<T, N> *>(from);
}

// Stores in as few accesses as there can be, said in so many words: left to itself the compiler splits the stores of long bodies.
template <class T, int N>
__device__ __forceinline__ void kn_store(T *to, const kn_pack<T, N> &value) {
    constexpr int bytes = sizeof(T) * N;
    static_assert(bytes % 16 == 0 || bytes == 8 || bytes == 4 || bytes == 2 || bytes == 1, "no vector");
    if constexpr (bytes % 4 == 0) {
        unsigned word[bytes / 4];
        memcpy(word, &value, bytes);
        if constexpr (bytes == 4)
            asm volatile("st.global.b32 [%0], %1;" ::"l"(to), "r"(word[0]) : "memory");
        else if constexpr (bytes == 8)
            asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(to), "r"(word[0]), "r"(word[1]) : "memory");
        else
#pragma unroll
            for (int k = 0; k < bytes / 4; k += 4)
                asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(reinterpret_cast<unsigned *>(to) + k), "r"(word[k]), "r"(word[k + 1]),
                             "r"(word[k + 2]), "r"(word[k + 3])
                             : "memory");
    } else if constexpr (bytes == 2) {
        unsigned short word;
        memcpy(&word, &value, bytes);
        asm volatile("st.global.b16 [%0], %1;" ::"l"(to), "h"(word) : "memory");
    } else {
        *to = value.at[0];
    }
}

// Until the kernel before this one in the stream has finished; at once where the launch did not overlap them.
__device__ __forceinline__ void kn_wait() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// Index arithmetic for snippets: `_ind`, and arrays that the snippet indexes by itself.

// The index along each axis: an array of as many numbers.
template <int Rank> struct kn_multi_index {
    typedef ptrdiff_t list[Rank];
    list at;
    __device__ __forceinline__ operator const list &() const { return at; }
};
template <> struct kn_multi_index<0> {
    __device__ __forceinline__ ptrdiff_t operator[](int) const { return 0; }
};

// The type of `_ind`: the size of the loop, and its broadcast shape.
struct kn_indexer {
    ptrdiff_t count;
    int rank;
    const ptrdiff_t *extents;

    __device__ __forceinline__ ptrdiff_t size() const { return count; }
    __device__ __forceinline__ const ptrdiff_t *shape() const { return extents; }
};

// Where the snippet asks for the element's index along each axis, the loop's rank is known.
template <int Rank> struct kn_indexer_of : kn_indexer {
    static constexpr int ndim = Rank;
    kn_multi_index<Rank> index;

    __device__ __forceinline__ kn_indexer_of(ptrdiff_t count, int, const ptrdiff_t *extents, ptrdiff_t linear)
        : kn_indexer{count, Rank, extents} {
#pragma unroll
        for (int a = Rank - 1; a > 0; --a) {
            const ptrdiff_t outer = linear / extents[a];
            index.at[a] = linear - outer * extents[a];
            linear = outer;
        }
        index.at[0] = linear;
    }
    __device__ __forceinline__ const kn_multi_index<Rank> &get() const { return index; }
};
template <> struct kn_indexer_of<0> : kn_indexer {
    static constexpr int ndim = 0;
    __device__ __forceinline__ kn_indexer_of(ptrdiff_t count, int, const ptrdiff_t *extents, ptrdiff_t)
        : kn_indexer{count, 0, extents} {}
    __device__ __forceinline__ kn_multi_index<0> get() const { return {}; }
};

// Reading a bool takes any byte; other elements are what they are.
template <class T> struct kn_element_of {
    typedef T &type;
    static __device__ __forceinline__ T &at(T *data) { return *data; }
};
template <> struct kn_element_of<const bool> {
    typedef bool type;
    static __device__ __forceinline__ bool at(const bool *data) { return *reinterpret_cast<const unsigned char *>(data) != 0; }
};

// A whole array as the arguments hold it.
template <class T, int Rank> struct kn_raw_data {
    T *first;
    ptrdiff_t count;
    int rank, unused;
    ptrdiff_t extents[Rank], steps[Rank];
};
template <class T> struct kn_raw_data<T, 0> {
    T *first;
    ptrdiff_t count;
    int rank, unused;
};

// ... and as the snippet sees it. x[k] is its kth element in C order; x[list], x(i, j) and x[_ind.get()] the one at that index, whatever the strides;
// it has as many numbers as the array has axes.
template <class T, int Rank, bool Contiguous> struct kn_raw {
    typedef ptrdiff_t index_t;
    typedef typename kn_element_of<T>::type element;
    static constexpr int ndim = Rank;
    static constexpr bool c_contiguous = Contiguous;
    const kn_raw_data<T, Rank> &raw;

    __device__ __forceinline__ ptrdiff_t size() const { return raw.count; }
    __device__ __forceinline__ const ptrdiff_t *shape() const { return raw.extents; }
    __device__ __forceinline__ const ptrdiff_t *strides() const { return raw.steps; }
    __device__ __forceinline__ T *data() const { return raw.first; }

    __device__ __forceinline__ element at(ptrdiff_t bytes) const {
        return kn_element_of<T>::at(reinterpret_cast<T *>((unsigned long long)raw.first + bytes));
    }
    template <class I> __device__ __forceinline__ element operator[](const I &given) const {
        ptrdiff_t index = given;
        if (Contiguous)
            return kn_element_of<T>::at(raw.first + index);
        ptrdiff_t bytes = 0;
        for (int a = Rank - 1; a > 0; --a) {
            const ptrdiff_t outer = index / raw.extents[a];
            bytes += (index - outer * raw.extents[a]) * raw.steps[a];
            index = outer;
        }
        return at(bytes + index * raw.steps[0]);
    }
    template <class I, int N> __device__ __forceinline__ element operator[](const I (&index)[N]) const {
        static_assert(N == Rank, "a raw array is indexed by one number, or by as many as it has axes");
        ptrdiff_t bytes = 0;
        for (int a = 0; a < Rank && a < N; ++a)
            bytes += (ptrdiff_t)index[a] * raw.steps[a];
        return at(bytes);
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
// One element without axes: whatever the index, and the value itself.
template <class T, bool Contiguous> struct kn_raw<T, 0, Contiguous> {
    typedef ptrdiff_t index_t;
    typedef typename kn_element_of<T>::type element;
    static constexpr int ndim = 0;
    static constexpr bool c_contiguous = true;
    const kn_raw_data<T, 0> &raw;

    __device__ __forceinline__ ptrdiff_t size() const { return 1; }
    __device__ __forceinline__ const ptrdiff_t *shape() const { return nullptr; }
    __device__ __forceinline__ const ptrdiff_t *strides() const { return nullptr; }
    __device__ __forceinline__ T *data() const { return raw.first; }
    __device__ __forceinline__ element value() const { return kn_element_of<T>::at(raw.first); }
    __device__ __forceinline__ operator element() const { return value(); }
    template <class I> __device__ __forceinline__ element operator[](const I &) const { return value(); }
    template <class I, int N> __device__ __forceinline__ element operator[](const I (&)[N]) const { return value(); }
    template <class... I> __device__ __forceinline__ element operator()(I...) const { return value(); }
};

// Keys of sorts: unsigned integers in the order of the elements. NaN of either sign comes last, also where the order is descending (Down), and -0 is equal to 0. Complex
// numbers as in NumPy: those without NaN, then those whose imaginary part is NaN, their real part, both. Part 1 is the lower half of a key that is wider than 64 bits.

template <class T> struct kn_sort_integer { enum { is = 0, is_signed = 0 }; };
template <> struct kn_sort_integer<bool> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<char> { enum { is = 1, is_signed = (char)-1 < 0 }; };
template <> struct kn_sort_integer<signed char> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned char> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<short> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned short> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<int> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<long> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned long> { enum { is = 1, is_signed = 0 }; };
template <> struct kn_sort_integer<long long> { enum { is = 1, is_signed = 1 }; };
template <> struct kn_sort_integer<unsigned long long> { enum { is = 1, is_signed = 0 }; };

template <int Size> struct kn_sort_bits { typedef unsigned long long type; };
template <> struct kn_sort_bits<1> { typedef unsigned char type; };
template <> struct kn_sort_bits<2> { typedef unsigned short type; };
template <> struct kn_sort_bits<4> { typedef unsigned type; };

template <class Real> struct kn_sort_pair { Real re, im; };
template <class To, class From> static __device__ __forceinline__ To kn_sort_cast(const From &x) {
    To to;
#ifdef __CUDACC_RTC__
    memcpy(&to, &x, sizeof to);
#else
    __builtin_memcpy(&to, &x, sizeof to);
#endif
    return to;
}

template <bool Down, class T> static __device__ __forceinline__ typename kn_sort_bits<sizeof(T)>::type kn_sort_real(const T x) {
    typedef typename kn_sort_bits<sizeof(T)>::type bits;
    const bits sign = (bits)((bits)1 << (8 * sizeof(T) - 1)), all = (bits)~(bits)0;
    bits key = kn_sort_cast<bits>(x);
    if constexpr (kn_sort_integer<T>::is) {
        key = kn_sort_integer<T>::is_signed ? key ^ sign : key;
        return Down ? (bits)~key : key;
    }
    if (x != x)
        return all;
    key = key == sign ? 0 : key;
    key = key & sign ? (bits)~key : (bits)(key | sign);
    return Down ? (bits)~key : key;
}

template <bool Down, int Part, class Real> static __device__ __forceinline__ typename kn_sort_bits<sizeof(Real)>::type kn_sort_half(const Real re, const Real im) {
    typedef typename kn_sort_bits<sizeof(Real)>::type bits;
    const bool is_re = re != re, is_im = im != im;
    if constexpr (Part == 0)
        return is_re || is_im ? (bits) ~(bits)(is_re && is_im ? 0 : is_re ? 1 : 2) : kn_sort_real<Down>(re);
    else
        return is_im ? is_re ? (bits)0 : kn_sort_real<Down>(re) : kn_sort_real<Down>(im);
}

// Types of 8 and 16 bytes that are neither integers nor float64 are complex.
template <class T> struct kn_sort_is_complex { enum { is = !kn_sort_integer<T>::is && sizeof(T) >= 8 }; };
template <> struct kn_sort_is_complex<double> { enum { is = 0 }; };

template <bool Down, int Part, class T> static __device__ __forceinline__ typename kn_sort_bits<sizeof(T)>::type kn_sort_key(const T x) {
    if constexpr (!kn_sort_is_complex<T>::is) {
        return kn_sort_real<Down>(x);
    } else if constexpr (sizeof(T) == 8) {
        const kn_sort_pair<float> pair = kn_sort_cast<kn_sort_pair<float>>(x);
        return (unsigned long long)kn_sort_half<Down, 0>(pair.re, pair.im) << 32 | kn_sort_half<Down, 1>(pair.re, pair.im);
    } else {
        const kn_sort_pair<double> pair = kn_sort_cast<kn_sort_pair<double>>(x);
        return kn_sort_half<Down, Part>(pair.re, pair.im);
    }
}

// Functions that reductions share. The lanes, threads or blocks that hold a value are the first ones: their number says which, so that no identity is needed. Compile time grows with the
// copies of loads and reductions: loops with few iterations are not unrolled.

// A number that is known to the compiler where it is handed over.
template <int Number> struct kn_number { enum { value = Number }; };

// A vector as it was loaded, in words; of a broadcast operand one element. A thread has several under way, each behind a condition: code that takes words apart or repeats an element,
// there, would wait for each load before the next begins. So elements are made where they are read.
template <class T, int N>
struct alignas(sizeof(T) * N < 4 ? 4 : sizeof(T) * N < 16 ? sizeof(T) * N : 16) kn_loaded {
    unsigned word[(sizeof(T) * N + 3) / 4];
};

template <int Bytes> struct kn_bits { typedef unsigned type; };
template <> struct kn_bits<1> { typedef unsigned char type; };
template <> struct kn_bits<2> { typedef unsigned short type; };

template <class T, int N>
__device__ __forceinline__ kn_loaded<T, N> kn_load_words(const T *from, bool is_along) {
    kn_loaded<T, N> loaded;
    if (is_along)
        if constexpr (sizeof(T) * N < 4) {
            loaded.word[0] = *reinterpret_cast<const typename kn_bits<sizeof(T) * N>::type *>(from);
        } else {
            loaded = *reinterpret_cast<const kn_loaded<T, N> *>(from);
        }
    else if constexpr (sizeof(T) < 4) {
        loaded.word[0] = *reinterpret_cast<const typename kn_bits<sizeof(T)>::type *>(from);
    } else {
        const T one = *from;
        memcpy(&loaded, &one, sizeof one);
    }
    return loaded;
}

// Element k, which is known to the compiler. A word of several elements is moved by an instruction of which the compiler knows nothing: it would put what takes the word apart behind
// the load.
template <class T, int N>
__device__ __forceinline__ T kn_loaded_element(const kn_loaded<T, N> &loaded, int k, bool is_along) {
    constexpr int words = sizeof(T) < 4 ? 1 : sizeof(T) / 4;
    unsigned word[words];
#pragma unroll
    for (int j = 0; j < words; ++j) {
        unsigned one = loaded.word[j], own = loaded.word[k * (int)sizeof(T) / 4 + j];
        if constexpr (sizeof(T) < 4) {
            asm("mov.b32 %0, %1;" : "=r"(own) : "r"(own));
            one = __byte_perm(one, one, sizeof(T) == 1 ? 0 : 0x1010);
        }
        word[j] = is_along ? own : one;
    }
    word[0] >>= 8 * (k * (int)sizeof(T) % 4);
    T element;
    memcpy(&element, word, sizeof element);
    return element;
}

// Division of numbers below 2^31: schedule/layout.h.
struct kn_divider {
    unsigned extent, magic, shift, unused;
};

__device__ __forceinline__ unsigned kn_divide(unsigned n, const kn_divider &by) {
    return (__umulhi(n, by.magic) + n) >> by.shift;
}

// Division of numbers below 2^20: the error of the approximation is less than the half that separates it from the next integer. A tenth of the code of `/`.
__device__ __forceinline__ unsigned kn_quotient(unsigned n, unsigned by) {
    return (unsigned)__fdividef((float)n + 0.5f, (float)by);
}

// Another lane's value, word by word, also of structs: that of the lane `at`, of the lane `at` further ('+'), or of the lane whose number differs by it ('^').
template <char How, class T>
__device__ __forceinline__ T kn_shuffle(const T &value, int at) {
    unsigned word[(sizeof(T) + 3) / 4] = {};
    memcpy(word, &value, sizeof(T));
#pragma unroll
    for (int k = 0; k < (int)(sizeof(T) + 3) / 4; ++k) {
        if constexpr (How == '+')
            word[k] = __shfl_down_sync(0xffffffffu, word[k], at);
        else if constexpr (How == '^')
            word[k] = __shfl_xor_sync(0xffffffffu, word[k], at);
        else
            word[k] = __shfl_sync(0xffffffffu, word[k], at);
    }
    T other;
    memcpy(&other, word, sizeof(T));
    return other;
}

// Combines the values of the first `held` lanes of a group into that of its first lane, neighbours first. All lanes of the warp call it with the same `held`, except those of groups
// whose value is not needed.
template <class T, class Reduce>
__device__ __forceinline__ void kn_reduce_lanes(T &value, unsigned held, unsigned lane, const Reduce &reduce) {
#pragma unroll 1
    for (unsigned by = 1; by < held; by *= 2) {
        const T other = kn_shuffle<'+'>(value, by);
        if (lane + by < held)
            value = reduce(value, other);
    }
}

// The same for the first `held` threads of a block of Block, or all if it has fewer; none may hold a value. One loop combines the values of each warp, then those of the warps.
template <int Block, class T, class Reduce>
__device__ __forceinline__ void kn_reduce_block(T &value, unsigned held, const Reduce &reduce) {
    __shared__ __align__(16) unsigned char buffer[Block / 32 * sizeof(T)];
    T *const shared = reinterpret_cast<T *>(buffer);
    held = held < Block ? held : Block;
#pragma unroll 1
    for (unsigned by = 1; by < held; by *= 2) {
        if (by == 32) {
            if (threadIdx.x % 32 == 0)
                shared[threadIdx.x / 32] = value;
            __syncthreads();
            held = (held + 31) / 32;
            if (threadIdx.x < held)
                value = shared[threadIdx.x];
            by = 1;
        }
        const T other = kn_shuffle<'+'>(value, by);
        if (threadIdx.x % 32 + by < 32 && threadIdx.x + by < held)
            value = reduce(value, other);
    }
}

// A thread's partial values: sixteen are combined to one of a longer sum, so that rounding errors do not accumulate.
template <class T>
struct kn_chain {
    T near, far;
};

template <class T, class Reduce>
__device__ __forceinline__ void kn_chain_put(kn_chain<T> &chain, unsigned turn, const T &value, const Reduce &reduce) {
    if (turn % 16 == 0) {
        if (turn > 0)
            chain.far = turn > 16 ? reduce(chain.far, chain.near) : chain.near;
        chain.near = value;
    } else {
        chain.near = reduce(chain.near, value);
    }
}

template <class T, class Reduce>
__device__ __forceinline__ T kn_chain_all(const kn_chain<T> &chain, unsigned turns, const Reduce &reduce) {
    return turns > 16 ? reduce(chain.far, chain.near) : chain.near;
}

// Neighbours are combined first, then pairs of pairs: a count in a struct is then a constant on each level, and the compiler removes divisions by it.
template <int N, class T, class Reduce>
__device__ __forceinline__ T kn_reduce_tree(T (&side)[N], const Reduce &reduce) {
#pragma unroll
    for (int apart = 1; apart < N; apart *= 2)
#pragma unroll
        for (int k = 0; k < N; k += 2 * apart)
            side[k] = reduce(side[k], side[k + apart]);
    return side[0];
}

// Moves `place` by `at` times `scale` elements along the innermost reduction axis. Variant 1: it is the only one. Variant 2: kn.per_row such steps are a row, and rows lie along
// one more axis, or along several, beginning with row `row`.
template <int Variant, int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go(Place &place, const Args &kn, unsigned at, int scale, long long row) {
    unsigned inner = at;
    if constexpr (Variant > 1) {
        const unsigned rows = kn_divide(at, kn.per_row);
        inner = at - rows * kn.per_row.extent;
        if (kn.reduction_rank == 2) {
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += rows * kn.axis[1].stride[o];
        } else {
            kn_move(place, kn, 1, kn.reduction_rank, row + rows);
        }
    }
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o];
}

// The same along two to four axes with fewer than 2^31 rows; of two axes kn_begin has added row `row` already. It has no branch: a branch behind a gathered vector would wait for its loads.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_near(Place &place, const Args &kn, unsigned at, int scale, unsigned row) {
    const unsigned rows = kn_divide(at, kn.per_row), inner = at - rows * kn.per_row.extent;
    const unsigned extent1 = kn.reduction_rank > 2 ? (unsigned)kn.axis[1].extent : ~0u, extent2 = kn.reduction_rank > 3 ? (unsigned)kn.axis[2].extent : ~0u;
    const unsigned all = kn.reduction_rank > 2 ? row + rows : rows, second = all / extent1, third = second / extent2;
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += (long long)inner * scale * kn.axis[0].stride[o] + (all - second * extent1) * kn.axis[1].stride[o] + (second - third * extent2) * kn.axis[2].stride[o] +
                       third * kn.axis[3].stride[o];
}

// Moves `place` to result `index`, along the output axes from `first` on. Launches have fewer than 2^31 results, since divisions of 64 bits are slow to run and to compile. All
// threads iterate over the same axes, whatever their index, so that one instruction reads an axis for all of them.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_to_result(Place &place, const Args &kn, int first, unsigned index) {
    const int last = (int)kn.rank - 1;
#pragma unroll 1
    for (int a = first; a < last; ++a) {
        const unsigned extent = (unsigned)kn.axis[a].extent, outer = index / extent;
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += (index - outer * extent) * kn.axis[a].stride[o];
        index = outer;
    }
    if (first <= last)
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += index * kn.axis[last].stride[o];
}

// Moves `place` to step `first` of that loop nest, or, with several axes, to the beginning of its row. Returns the steps within the row, and its number in `row`.
template <int Variant, int Operands, class Place, class Args>
__device__ __forceinline__ unsigned kn_begin(Place &place, const Args &kn, long long first, int scale, long long &row) {
    row = 0;
    if constexpr (Variant > 1) {
        row = first / kn.per_row.extent;
        if (kn.reduction_rank == 2)
#pragma unroll
            for (int o = 0; o < Operands; ++o)
                place.at[o] += row * kn.axis[1].stride[o];
        return (unsigned)(first - row * kn.per_row.extent);
    }
#pragma unroll
    for (int o = 0; o < Operands; ++o)
        place.at[o] += first * scale * kn.axis[0].stride[o];
    return 0;
}

// True in the last of `count` blocks that call it, whose threads then see the writes of the others. The counter is zero again afterwards. The atomic of one thread, which releases
// the writes in front of the first barrier and acquires for the second one, costs less than a fence of every thread.
__device__ __forceinline__ bool kn_comes_last(unsigned *counter, unsigned count) {
    __shared__ unsigned before;
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return before == count - 1;
}

// Copies `bytes` bytes to shared memory by vectors of 16, with the same misalignment; returns the offset of the first byte. Bytes besides that are read with them lie in the same
// 16 bytes as some of them. If Padded, 16 bytes behind each 128 are unused, so that elements 128 bytes apart are in different banks.
template <bool Padded>
__device__ __forceinline__ unsigned kn_stage(unsigned char *buffer, const char *from, unsigned bytes) {
    const unsigned off = (unsigned)(unsigned long long)from & 15, vectors = (off + bytes + 15) / 16;
    const char *const aligned = from - off;
#if __CUDA_ARCH__ >= 800
    const unsigned to = (unsigned)__cvta_generic_to_shared(buffer);
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to + 16 * (Padded ? v + v / 8 : v)), "l"(aligned + 16 * v) : "memory");
#else
#pragma unroll 4
    for (unsigned v = threadIdx.x; v < vectors; v += blockDim.x)
        reinterpret_cast<uint4 *>(buffer)[Padded ? v + v / 8 : v] = reinterpret_cast<const uint4 *>(aligned)[v];
#endif
    return off;
}

// Element `index` of a staged input.
template <class T, bool Padded>
__device__ __forceinline__ const T &kn_staged(const unsigned char *buffer, unsigned off, unsigned index) {
    const unsigned byte = off + index * (unsigned)sizeof(T);
    return *reinterpret_cast<const T *>(buffer + byte + (Padded ? byte / 128 * 16 : 0));
}

// Waits until all staged bytes are there, for every thread.
__device__ __forceinline__ void kn_stage_wait() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
    __syncthreads();
}

// Blocks that have neighbouring tiles of one row, and need what comes before theirs. Each puts the sum of its tile down, sets a bit, and waits for the sums of the tiles before it: those of
// its group of 32, and of the group before; of earlier groups there are sums of groups, and of sets of 32 groups a prefix. Which sums are added, and in which order, depends on the tile's
// number alone. A block's number is a ticket: when it waits for an earlier one, that one runs. All that is one group or set behind is there by then, as a rule.

// The next ticket; after `count` of them the counter is zero again.
__device__ __forceinline__ unsigned kn_take_ticket(unsigned *counter, unsigned count) {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0)
        asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(ticket) : "l"(counter), "r"(count - 1) : "memory");
    __syncthreads();
    return ticket;
}

// Sets bit `number` of the flags, for those who see it: what this thread and those in front of the last barrier have written is there.
__device__ __forceinline__ void kn_set_flag(unsigned *flags, unsigned number) {
    asm volatile("red.release.gpu.global.or.b32 [%0], %1;" ::"l"(flags + number / 32), "r"(1u << number % 32) : "memory");
}

// Until the flags of `count` numbers from `first` on, 8 at most, are set: of two words at most.
__device__ __forceinline__ void kn_await_flags(const unsigned *flags, unsigned first, int count) {
    const unsigned long long wanted = (0xffull >> (8 - count)) << first % 32;
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        const unsigned word = k == 0 ? (unsigned)wanted : (unsigned)(wanted >> 32);
        unsigned set;
        if (word != 0)
            do
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(set) : "l"(flags + first / 32 + k) : "memory");
            while ((set & word) != word);
    }
}

// Moves on by `index` elements along the scanned axes.
template <int Operands, class Place, class Args>
__device__ __forceinline__ void kn_go_along(Place &place, const Args &kn, long long index) {
    if (kn.reduction_rank == 1)
#pragma unroll
        for (int o = 0; o < Operands; ++o)
            place.at[o] += index * kn.axis[0].stride[o];
    else
        kn_move(place, kn, 0, kn.reduction_rank, index);
}

// Tiles, groups and sets are numbered together: groups behind the tiles, sets behind those, each from a multiple of 32 on. Each has a flag, and a sum of each row of the block. A group has
// 256 tiles, and a set 256 groups; where a block has rows side by side, fewer by as many as these, since fewer blocks of one row run at a time then.
template <class T> struct kn_sums {
    unsigned *flags;
    T *sum;
    unsigned rows, groups, sets; // rows: 32 at most; the numbers of the first group and the first set
    int bits;                    // of the number of tiles of a group
};

template <class T>
__device__ __forceinline__ kn_sums<T> kn_sums_of(unsigned *counters, void *partials, unsigned tiles, unsigned row_block, unsigned rows) {
    const int bits = 8 - (31 - __clz(rows));
    const unsigned groups = (tiles + 31) & ~31u, sets = groups + (((tiles + (1u << bits) - 1 >> bits) + 31) & ~31u),
                   all = sets + ((((tiles + (1u << bits) - 1 >> bits) + (1u << bits) - 1 >> bits) + 31) & ~31u);
    return {counters + row_block * (all / 32), reinterpret_cast<T *>(partials) + (unsigned long long)(row_block * rows) * all, rows, groups, sets, bits};
}

// The sums that come before a tile are added by five warps: 0 the tiles of its group, 1 those of the group before; 2 and 3 the same of groups, before that; 4 the set before those.
enum { kn_roles = 5, kn_neighbours = 8 }; // kn_neighbours: sums of a lane, at most

// The sum of a warp's role for each row, in its first lanes, put down in `to`. Some lanes share a row: each has neighbours, which it loads at once. False: there are none.
template <class T, class Scan>
__device__ __forceinline__ bool kn_sum_of_role(T *to, const kn_sums<T> &s, int role, int tile, const Scan &scan) {
    const int level = role / 2, size = 1 << s.bits;
    int at = tile, first = 0;
#pragma unroll 1
    for (int k = 0; k < level; ++k) {
        at = (at >> s.bits) - 1;
        first = k == 0 ? s.groups : s.sets;
    }
    int count = at & (size - 1);
    first += at - count;
    if (role == 4) {
        first += count - 1;
        count = 1;
    } else if (role & 1) {
        first -= size;
        count = size;
        at -= size - 1;
    }
    if (at <= 0 || count == 0)
        return false;
    const int rows = s.rows, lane = threadIdx.x % 32, row = lane & (rows - 1), begin = (lane - row) / rows * kn_neighbours, left = count - begin;
    const T *const sums = s.sum + ((unsigned)(first + begin) * rows + row);
    T sum;
    if (left > 0) {
        kn_await_flags(s.flags, first + begin, left < kn_neighbours ? left : kn_neighbours);
        sum = sums[0];
    }
    if constexpr (sizeof(T) <= 8) {
        T next[kn_neighbours];
#pragma unroll
        for (int k = 1; k < kn_neighbours; ++k)
            if (k < left)
                next[k] = sums[k * rows];
#pragma unroll
        for (int k = 1; k < kn_neighbours; ++k)
            if (k < left)
                sum = scan(sum, next[k]);
    } else {
#pragma unroll 1
        for (int k = 1; k < kn_neighbours && k < left; ++k)
            sum = scan(sum, sums[k * rows]);
    }
#pragma unroll 1
    for (int by = rows; by < 32; by *= 2) {
        const T other = kn_shuffle<'+'>(sum, by);
        if (lane + by < 32 && left > by / rows * kn_neighbours)
            sum = scan(sum, other);
    }
    if (lane < rows)
        to[lane] = sum;
    return true;
}

// The prefix of this tile, of each row by thread `row`, replaces the sum of the tile in `before`. All threads come here, and see `before` behind the next barrier. The first tile has none:
// `before` stays as it was.
template <int Block, class T, class Scan>
__device__ __forceinline__ void kn_look_back(T *before, const kn_sums<T> &s, unsigned tile, const Scan &scan) {
    __shared__ __align__(16) unsigned char bytes[kn_roles * 32 * sizeof(T)];
    __shared__ bool has[kn_roles];
    T *const sum = reinterpret_cast<T *>(bytes);
    const unsigned row = threadIdx.x;
    if (row < s.rows)
        s.sum[tile * s.rows + row] = before[row];
    __syncthreads();
    if (threadIdx.x == 0)
        kn_set_flag(s.flags, tile);
#pragma unroll 1
    for (int role = threadIdx.x / 32; role < kn_roles; role += Block / 32)
        has[role] = kn_sum_of_role(sum + role * 32, s, role, tile, scan);
    __syncthreads();
    // The last tile of a group puts down the group's sum, and the first one that needs a set's prefix that; a tile is not both.
    const unsigned size = 1u << s.bits;
    const bool ends_group = (tile & (size - 1)) == size - 1, ends_set = (tile & (size * size - 1)) == size && tile > size;
    const unsigned number = ends_group ? s.groups + (tile >> s.bits) : s.sets + (tile >> 2 * s.bits) - 1;
    if (row < s.rows && tile > 0) {
        T all;
        bool some = false;
#pragma unroll 1
        for (int role = kn_roles - 1; role >= 0; --role)
            if (has[role]) {
                all = some ? scan(all, sum[role * 32 + row]) : sum[role * 32 + row];
                some = true;
                if (ends_set && role == 3)
                    s.sum[number * s.rows + row] = all;
            }
        if (ends_group)
            s.sum[number * s.rows + row] = scan(sum[row], before[row]);
        before[row] = all;
    }
    if (ends_group || ends_set) {
        __syncthreads();
        if (threadIdx.x == 0)
            kn_set_flag(s.flags, number);
    }
}

// The last of `count` blocks that come here leaves `words` flags zero. A block comes when it has looked back, and all its threads were at a barrier since.
__device__ __forceinline__ void kn_leave_flags(unsigned *counter, unsigned count, unsigned *flags, unsigned words) {
    if (threadIdx.x < 32) {
        unsigned before = 0;
        if (threadIdx.x == 0)
            asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;" : "=r"(before) : "l"(counter), "r"(count - 1) : "memory");
        if (kn_shuffle<'='>(before, 0) == count - 1)
#pragma unroll 1
            for (unsigned k = threadIdx.x; k < words; k += 32)
                flags[k] = 0;
    }
}

typedef unsigned long long A;
typedef long long T;
typedef unsigned int C;
struct kn_axis {
    long long extent;
    long long stride[1];
};

struct kn_args {
    long long size;
    alignas(8) long long length;
    int reduction_rank;
    unsigned tiles, rows, padding;
    kn_raw_data<const unsigned long long, 1> _type_;
    const long long *x_;
    kn_raw_data<unsigned int, 1> _counts_;
    alignas(8) unsigned rank;
    unsigned unused;
    kn_axis axis[8];
};

/* Bytes from the start of each operand, and indices. */
struct kn_place {
    long long at[1];
};

/* Moves on by so many elements of the axes from `first` up to `end`; the innermost stands first. */
static __device__ __forceinline__ void kn_move(kn_place &place, const kn_args &kn, int first, int end, long long index)
{
#pragma unroll 1
    for (int a = first; a < end; ++a) {
        const long long outer = a + 1 < end ? index / kn.axis[a].extent : 0;
        const long long steps = index - outer * kn.axis[a].extent;
        for (int o = 0; o < 1; ++o)
            place.at[o] += steps * kn.axis[a].stride[o];
        index = outer;
    }
}
enum { kn_digits = 8, kn_of_block = 256 * 64 };

extern "C" __global__ void __launch_bounds__(256) kiln_sort(const __grid_constant__ kn_args kn)
{
    kn_wait();
    static_assert(sizeof(kn_args) == 256, "the argument block");
    const kn_raw<const unsigned long long, 1, true> _type = {kn._type_};
    const kn_raw<unsigned int, 1, true> _counts = {kn._counts_};
    const auto kn_key = [&](const long long x, A &kn_key) {
        kn_key = static_cast<A>(
#line 1 "sort.key"
kn_sort_key<0, 0>(static_cast<T>(x
))
#line 764 "kiln_sort.cu"
        );
    };
    const auto kn_put = [&]() {
#line 1 "sort.put"
;
#line 770 "kiln_sort.cu"
    };
    typedef unsigned int kn_word;
    __shared__ unsigned kn_counts[kn_digits * 256];

    const unsigned kn_row = (unsigned)(blockIdx.x / kn.tiles);
    const long long kn_first = (long long)(blockIdx.x - kn_row * kn.tiles) * kn_of_block;
    const unsigned kn_count = kn.length - kn_first < kn_of_block ? (unsigned)(kn.length - kn_first) : kn_of_block;
    kn_place kn_here = {};
    kn_go_to_result<1>(kn_here, kn, kn.reduction_rank, kn_row);
    const long long *const kn_x_row = (const long long *)((const char *)kn.x_ + kn_here.at[0]) + kn_first;
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += 256)
        kn_counts[kn_k] = 0;
    __syncthreads();
#pragma unroll 4
    for (unsigned kn_j = threadIdx.x; kn_j < kn_count; kn_j += 256) {
        A kn_value_kn_key;
        kn_key(kn_x_row[kn_j], kn_value_kn_key);
#pragma unroll
        for (int kn_d = 0; kn_d < kn_digits; ++kn_d)
            atomicAdd(&kn_counts[kn_d * 256 + ((unsigned)(kn_value_kn_key >> 8 * kn_d) & 255)], 1u);
        kn_put();
    }
    __syncthreads();
#pragma unroll 1
    for (unsigned kn_k = threadIdx.x; kn_k < kn_digits * 256; kn_k += 256)
        if (kn_counts[kn_k] != 0)
            atomicAdd(&kn._counts_.first[((unsigned long long)(kn_k / 256) * kn.rows + kn_row) * 256 + kn_k % 256], (kn_word)kn_counts[kn_k]);
}
