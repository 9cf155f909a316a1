// needs: kn_raw _ind
// Index arithmetic for snippets: `_ind`, and arrays that the snippet indexes by itself.
struct kn_multi_index {
    long long linear;
    int ndim;
    const long long *shape;

    __device__ __forceinline__ long long operator[](int axis) const {
        long long rest = linear;
        for (int a = ndim - 1; a > axis; --a)
            rest /= shape[a];
        return rest % shape[axis];
    }
};

// What `_ind` is: the size of the loop, and the element's index along each axis of the broadcast shape.
struct kn_indexer {
    long long count, linear;
    int ndim;
    const long long *extents;

    __device__ __forceinline__ long long size() const { return count; }
    __device__ __forceinline__ const long long *shape() const { return extents; }
    __device__ __forceinline__ kn_multi_index get() const { return {linear, ndim, extents}; }
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

// A whole array. x[k] is its kth element in C order, x(i, j) and x[_ind.get()] the one at that index, whatever the strides.
template <class T, int Rank, bool Contiguous>
struct kn_raw {
    T *first;
    long long count;
    int ndim, unused;
    long long extents[Rank], steps[Rank];

    typedef typename kn_element_of<T>::type element;

    __device__ __forceinline__ long long size() const { return count; }
    __device__ __forceinline__ const long long *shape() const { return extents; }
    __device__ __forceinline__ const long long *strides() const { return steps; }
    __device__ __forceinline__ T *data() const { return first; }

    __device__ __forceinline__ element at(long long bytes) const {
        return kn_element_of<T>::at(reinterpret_cast<T *>((unsigned long long)first + bytes));
    }
    __device__ __forceinline__ element operator[](long long index) const {
        if (Contiguous)
            return kn_element_of<T>::at(first + index);
        long long bytes = 0;
        for (int a = ndim - 1; a >= 0; --a) {
            const long long outer = index / extents[a];
            bytes += (index - outer * extents[a]) * steps[a];
            index = outer;
        }
        return at(bytes);
    }
    __device__ __forceinline__ element operator[](int index) const { return (*this)[(long long)index]; }
    __device__ __forceinline__ element operator[](unsigned index) const { return (*this)[(long long)index]; }
    __device__ __forceinline__ element operator[](long index) const { return (*this)[(long long)index]; }
    __device__ __forceinline__ element operator[](unsigned long index) const { return (*this)[(long long)index]; }
    __device__ __forceinline__ element operator[](unsigned long long index) const { return (*this)[(long long)index]; }
    __device__ __forceinline__ element operator[](const kn_multi_index &index) const {
        long long bytes = 0;
        for (int a = 0; a < ndim; ++a)
            bytes += index[a] * steps[a];
        return at(bytes);
    }
    template <int N> __device__ __forceinline__ element operator[](const long long (&index)[N]) const {
        long long bytes = 0;
        for (int a = 0; a < N; ++a)
            bytes += index[a] * steps[a];
        return at(bytes);
    }
    template <class... I> __device__ __forceinline__ element operator()(I... index) const {
        const long long list[] = {(long long)index...};
        return (*this)[list];
    }
};
