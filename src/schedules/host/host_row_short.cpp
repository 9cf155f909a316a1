${head}
${axes}

enum { kn_across = ${vector} }; /* rows side by side, which the compiler makes vectors of */

/* One element: of loops over such compilers would make vectors by gathers and scatters, which take longer. */
template <int kn_size> static __forceinline__ void kn_one(char *kn_to, const char *kn_from)
{
    __builtin_memcpy(kn_to, kn_from, kn_size);
    __asm__ volatile("");
}

/* Squares of 16 bytes a side, whose rows become columns; side 1: there are none of such elements. first, second: the elements of two vectors in turn, of
 * their first halves and of their second ones. */
template <int kn_size> struct kn_square {
    enum { side = 1 };
};
#if defined(__clang__) || __GNUC__ >= 12
template <> struct kn_square<1> {
    enum { side = 16 };
    typedef signed char vector __attribute__((vector_size(16)));
    static __forceinline__ vector first(vector kn_a, vector kn_b)
    {
        return __builtin_shufflevector(kn_a, kn_b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    }
    static __forceinline__ vector second(vector kn_a, vector kn_b)
    {
        return __builtin_shufflevector(kn_a, kn_b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
};
template <> struct kn_square<2> {
    enum { side = 8 };
    typedef short vector __attribute__((vector_size(16)));
    static __forceinline__ vector first(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 0, 8, 1, 9, 2, 10, 3, 11); }
    static __forceinline__ vector second(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 4, 12, 5, 13, 6, 14, 7, 15); }
};
template <> struct kn_square<4> {
    enum { side = 4 };
    typedef int vector __attribute__((vector_size(16)));
    static __forceinline__ vector first(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 0, 4, 1, 5); }
    static __forceinline__ vector second(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 2, 6, 3, 7); }
};
template <> struct kn_square<8> {
    enum { side = 2 };
    typedef long long vector __attribute__((vector_size(16)));
    static __forceinline__ vector first(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 0, 2); }
    static __forceinline__ vector second(vector kn_a, vector kn_b) { return __builtin_shufflevector(kn_a, kn_b, 1, 3); }
};
#endif

/* A square, of which kn_n columns are stored. */
template <int kn_size>
static __forceinline__ void kn_turn_square(char *kn_to, const long long kn_down, const char *kn_from, const long long kn_apart, const long long kn_n)
{
    constexpr int kn_side = kn_square<kn_size>::side;
    typename kn_square<kn_size>::vector kn_x[kn_side], kn_y[kn_side];
#pragma GCC unroll 16
    for (int kn_k = 0; kn_k < kn_side; ++kn_k)
        __builtin_memcpy(&kn_x[kn_k], kn_from + kn_k * kn_apart, 16);
#pragma GCC unroll 4
    for (int kn_round = 1; kn_round < kn_side; kn_round *= 2) {
#pragma GCC unroll 8
        for (int kn_k = 0; kn_k < kn_side / 2; ++kn_k) {
            kn_y[2 * kn_k] = kn_square<kn_size>::first(kn_x[kn_k], kn_x[kn_k + kn_side / 2]);
            kn_y[2 * kn_k + 1] = kn_square<kn_size>::second(kn_x[kn_k], kn_x[kn_k + kn_side / 2]);
        }
#pragma GCC unroll 16
        for (int kn_k = 0; kn_k < kn_side; ++kn_k)
            kn_x[kn_k] = kn_y[kn_k];
    }
#pragma GCC unroll 16
    for (int kn_k = 0; kn_k < kn_side; ++kn_k)
        if (kn_k < kn_n)
            __builtin_memcpy(kn_to + kn_k * kn_down, &kn_x[kn_k], 16);
}

/* kn_rows rows of kn_n elements to columns: rows kn_apart bytes from each other, columns' elements side by side, columns kn_down bytes. Squares read beyond the
 * end of a row where other rows lie. */
template <int kn_size>
static __attribute__((noinline)) void kn_turn(char *__restrict kn_to, const long long kn_down, const char *__restrict kn_from, const long long kn_apart,
                                              const long long kn_n, const long long kn_rows)
{
    constexpr int kn_side = kn_square<kn_size>::side;
    long long kn_whole = 0, kn_whole_rows = 0, kn_beyond = 0;
    if constexpr (kn_side > 1) {
        kn_whole = kn_n / kn_side * kn_side, kn_whole_rows = kn_rows / kn_side * kn_side;
        for (long long kn_r = 0; kn_r < kn_whole_rows; kn_r += kn_side)
            for (long long kn_j = 0; kn_j < kn_whole; kn_j += kn_side)
                kn_turn_square<kn_size>(kn_to + kn_r * kn_size + kn_j * kn_down, kn_down, kn_from + kn_r * kn_apart + kn_j * kn_size, kn_apart, kn_side);
        /* The rows of which 16 bytes from the last columns on lie before the end of the last row. */
        if (kn_whole < kn_n && kn_apart > 0)
            for (; kn_beyond < kn_whole_rows && kn_whole * kn_size + 16 <= (kn_rows - kn_beyond - kn_side) * kn_apart + kn_n * kn_size; kn_beyond += kn_side)
                kn_turn_square<kn_size>(kn_to + kn_beyond * kn_size + kn_whole * kn_down, kn_down, kn_from + kn_beyond * kn_apart + kn_whole * kn_size, kn_apart,
                                        kn_n - kn_whole);
    }
    for (long long kn_r = kn_whole_rows; kn_r < kn_rows; ++kn_r)
        for (long long kn_j = 0; kn_j < kn_whole; ++kn_j)
            kn_one<kn_size>(kn_to + kn_r * kn_size + kn_j * kn_down, kn_from + kn_r * kn_apart + kn_j * kn_size);
    for (long long kn_j = kn_whole; kn_j < kn_n; ++kn_j)
        for (long long kn_r = kn_beyond; kn_r < kn_rows; ++kn_r)
            kn_one<kn_size>(kn_to + kn_r * kn_size + kn_j * kn_down, kn_from + kn_r * kn_apart + kn_j * kn_size);
}

/* Elements of kn_rows rows to a tile, and back: along a row kn_along bytes apart, from row to row kn_beside. */
template <class kn_t>
static __forceinline__ void kn_pack(kn_t *kn_tile, const char *kn_from, const long long kn_along, const long long kn_beside, const long long kn_n,
                                    const int kn_rows)
{
    if (kn_along == (long long)sizeof(kn_t)) {
        kn_turn<sizeof(kn_t)>((char *)kn_tile, kn_across * sizeof(kn_t), kn_from, kn_beside, kn_n, kn_rows);
        return;
    }
    for (int kn_k = 0; kn_k < kn_rows; ++kn_k)
        for (long long kn_j = 0; kn_j < kn_n; ++kn_j)
            kn_one<sizeof(kn_t)>((char *)(kn_tile + kn_j * kn_across + kn_k), kn_from + kn_j * kn_along + kn_k * kn_beside);
}
template <class kn_t>
static __forceinline__ void kn_unpack(char *kn_to, const long long kn_along, const long long kn_beside, const kn_t *kn_tile, const long long kn_n,
                                      const int kn_rows)
{
    if (kn_along == (long long)sizeof(kn_t)) {
        kn_turn<sizeof(kn_t)>(kn_to, kn_beside, (const char *)kn_tile, kn_across * sizeof(kn_t), kn_rows, kn_n);
        return;
    }
    for (int kn_k = 0; kn_k < kn_rows; ++kn_k)
        for (long long kn_j = 0; kn_j < kn_n; ++kn_j)
            kn_one<sizeof(kn_t)>(kn_to + kn_j * kn_along + kn_k * kn_beside, (const char *)(kn_tile + kn_j * kn_across + kn_k));
}

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args kn = *kn_given; /* by value: what is stored could be a part of it, for all that compilers know */
    const kn_clean_up kn_at_end;
    ${values}
    ${loop_prep}
    ${element}
    const long long kn_length = kn.length;
    ${item}

    for (long long kn_group = kn_begin; kn_group < kn_end; ++kn_group) {
        /* Rows from kn_first on, kn_count of them, along the innermost of the axes that results have. */
        const long long kn_outer = kn_group / kn.groups, kn_first = (kn_group - kn_outer * kn.groups) * kn_across;
        const int kn_count = kn.run - kn_first < kn_across ? (int)(kn.run - kn_first) : kn_across;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank + 1, kn.rank, kn_outer);
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_here.at[kn_o] += kn_first * kn.axis[kn.reduction_rank].stride[kn_o];
        ${row}
        ${levels}
        ${stores}
    }
    ${after_loop}
}
