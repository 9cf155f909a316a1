// needs: kn_raw _ind
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
            bytes += (ptrdiff_t)index[a] * (Contiguous && a == Rank - 1 ? (ptrdiff_t)sizeof(T) : raw.steps[a]);
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
