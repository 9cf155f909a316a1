${head}
${axes}

enum { kn_across = ${vector} }; /* rows side by side, which the compiler makes vectors of */

/* Squares of 16 bytes a side, whose rows become columns. */
template <int kn_size> struct kn_square {
    enum { side = 1 };
    static __forceinline__ void turn(char *kn_to, long long, const char *kn_from, long long) { __builtin_memcpy(kn_to, kn_from, kn_size); }
};
#if defined(__clang__) || __GNUC__ >= 12
typedef int kn_four __attribute__((vector_size(16)));
typedef long long kn_two __attribute__((vector_size(16)));
template <class kn_v> static __forceinline__ kn_v kn_of(const char *kn_from)
{
    kn_v kn_x;
    __builtin_memcpy(&kn_x, kn_from, 16);
    return kn_x;
}
template <> struct kn_square<4> {
    enum { side = 4 };
    static __forceinline__ void turn(char *kn_to, const long long kn_down, const char *kn_from, const long long kn_apart)
    {
        const kn_four kn_a = kn_of<kn_four>(kn_from), kn_b = kn_of<kn_four>(kn_from + kn_apart), kn_c = kn_of<kn_four>(kn_from + 2 * kn_apart),
                      kn_d = kn_of<kn_four>(kn_from + 3 * kn_apart);
        const kn_four kn_ab = __builtin_shufflevector(kn_a, kn_b, 0, 4, 1, 5), kn_cd = __builtin_shufflevector(kn_c, kn_d, 0, 4, 1, 5),
                      kn_ef = __builtin_shufflevector(kn_a, kn_b, 2, 6, 3, 7), kn_gh = __builtin_shufflevector(kn_c, kn_d, 2, 6, 3, 7);
        const kn_four kn_transposed[4] = {__builtin_shufflevector(kn_ab, kn_cd, 0, 1, 4, 5), __builtin_shufflevector(kn_ab, kn_cd, 2, 3, 6, 7),
                                      __builtin_shufflevector(kn_ef, kn_gh, 0, 1, 4, 5), __builtin_shufflevector(kn_ef, kn_gh, 2, 3, 6, 7)};
        for (int kn_k = 0; kn_k < 4; ++kn_k)
            __builtin_memcpy(kn_to + kn_k * kn_down, &kn_transposed[kn_k], 16);
    }
};
template <> struct kn_square<8> {
    enum { side = 2 };
    static __forceinline__ void turn(char *kn_to, const long long kn_down, const char *kn_from, const long long kn_apart)
    {
        const kn_two kn_a = kn_of<kn_two>(kn_from), kn_b = kn_of<kn_two>(kn_from + kn_apart);
        const kn_two kn_first = __builtin_shufflevector(kn_a, kn_b, 0, 2), kn_second = __builtin_shufflevector(kn_a, kn_b, 1, 3);
        __builtin_memcpy(kn_to, &kn_first, 16);
        __builtin_memcpy(kn_to + kn_down, &kn_second, 16);
    }
};
#endif

/* One element: of loops over such compilers would make vectors by gathers and scatters, which take longer. */
template <int kn_size> static __forceinline__ void kn_one(char *kn_to, const char *kn_from)
{
    __builtin_memcpy(kn_to, kn_from, kn_size);
    __asm__ volatile("");
}

/* kn_rows rows of kn_n elements to columns: rows kn_apart bytes from each other, columns' elements side by side, columns kn_down bytes. */
template <int kn_size>
static __attribute__((noinline)) void kn_turn(char *__restrict kn_to, const long long kn_down, const char *__restrict kn_from, const long long kn_apart,
                                              const long long kn_n, const long long kn_rows)
{
    typedef kn_square<kn_size> kn_squares;
    const long long kn_side = kn_squares::side, kn_whole = kn_n / kn_side * kn_side, kn_whole_rows = kn_rows / kn_side * kn_side;
    for (long long kn_r = 0; kn_r < kn_whole_rows; kn_r += kn_side)
        for (long long kn_j = 0; kn_j < kn_whole; kn_j += kn_side)
            kn_squares::turn(kn_to + kn_r * kn_size + kn_j * kn_down, kn_down, kn_from + kn_r * kn_apart + kn_j * kn_size, kn_apart);
    for (long long kn_r = kn_whole_rows; kn_r < kn_rows; ++kn_r)
        for (long long kn_j = 0; kn_j < kn_whole; ++kn_j)
            kn_one<kn_size>(kn_to + kn_r * kn_size + kn_j * kn_down, kn_from + kn_r * kn_apart + kn_j * kn_size);
    for (long long kn_j = kn_whole; kn_j < kn_n; ++kn_j)
        for (long long kn_r = 0; kn_r < kn_rows; ++kn_r)
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
