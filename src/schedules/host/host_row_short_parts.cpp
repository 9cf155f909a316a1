// Parts of the host's programs over short rows: emit_host_row_short.c. Element kn_j of row kn_k.
#inline dense ((${const}${type} *)kn_${name}_at)[kn_k]
#inline one *(${const}${type} *)kn_${name}_at
#inline packed kn_${name}_tile[kn_j * kn_across + kn_k]
#inline now kn_${name}_now

#part result_here
${type} &kn_${name}_now = ${element};

#part result_variable
${type} kn_${name}_now = ${element};

#part pointer
    ${const}char *const kn_${name}_at = (${const}char *)kn.${name}_ + kn_here.at[${array}] + kn_j * kn.axis[0].stride[${array}];

// The passes over elements of all rows.
#part reduce_rows
kn_of_rows<${value_type}> ${value}_of;
const kn_line<${value_type}> kn_side_${level}(&${value}_of, kn_across);
const auto kn_level_${level} = [&](const long long kn_j, const auto kn_is_first) __attribute__((always_inline)) {
${pointers}
KN_INDEPENDENT
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
        if constexpr (kn_is_first.is)
            kn_side_${level}.put(kn_k, ${reduced});
        else
            kn_side_${level}.put(kn_k, ${function}(kn_side_${level}.get(kn_k), ${reduced}, ${follows}));
    }
};
kn_level_${level}(0, kn_bool<true>());
for (long long kn_j = 1; kn_j < kn_length; ++kn_j)
    kn_level_${level}(kn_j, kn_bool<false>());

// The baseline tier's.
#part reduce_rows_quick
${value_type} ${value}_of[kn_across];
for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${pointers}
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
        const ${value_type} kn_new = ${reduced};
        ${value}_of[kn_k] = kn_j == 0 ? kn_new : ${function}(${value}_of[kn_k], kn_new);
    }
}

#part last_pass
for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {
${pointers}
KN_INDEPENDENT
    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
${element}
    }
}

// Memory of the thread, and tiles.
#part held_value
${value_type} *const ${value}_held = (${value_type} *)__builtin_alloca_with_align(kn_length * kn_across * sizeof(${value_type}), 512);

#part tile
${type} *const kn_${name}_tile = (${type} *)__builtin_alloca_with_align(kn_length * kn_across * sizeof(${type}), 512);

#part pack
kn_pack(kn_${name}_tile, (const char *)kn.${name}_ + kn_here.at[${array}], kn.axis[0].stride[${array}], kn.axis[kn.reduction_rank].stride[${array}],
        kn_length, kn_count);

#part unpack
kn_unpack((char *)kn.${name}_ + kn_here.at[${array}], kn.axis[0].stride[${array}], kn.axis[kn.reduction_rank].stride[${array}], kn_${name}_tile,
          kn_length, kn_count);

// Tiles from rows and back; the baseline packs elements one by one.
#part packing
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
/* A reduced value of each row. Those of structs lie as kn_line has them. */
template <class kn_t, bool kn_is = (kn_member_count<kn_t>() > 0)> struct kn_of_rows {
    kn_t kn_at[kn_across];
    __forceinline__ kn_t &operator[](const long long kn_k) { return kn_at[kn_k]; }
};
template <class kn_t> struct kn_of_rows<kn_t, true> {
    alignas(64) unsigned char kn_at[kn_across * sizeof(kn_t)];
    __forceinline__ kn_t operator[](const long long kn_k) { return kn_line<kn_t>(kn_at, kn_across).get(kn_k); }
};

#part packing_quick
template <class kn_t>
static void kn_pack(kn_t *kn_tile, const char *kn_from, const long long kn_along, const long long kn_beside, const long long kn_n, const int kn_rows)
{
    for (int kn_k = 0; kn_k < kn_rows; ++kn_k)
        for (long long kn_j = 0; kn_j < kn_n; ++kn_j)
            __builtin_memcpy(kn_tile + kn_j * kn_across + kn_k, kn_from + kn_j * kn_along + kn_k * kn_beside, sizeof(kn_t));
}
template <class kn_t>
static void kn_unpack(char *kn_to, const long long kn_along, const long long kn_beside, const kn_t *kn_tile, const long long kn_n, const int kn_rows)
{
    for (int kn_k = 0; kn_k < kn_rows; ++kn_k)
        for (long long kn_j = 0; kn_j < kn_n; ++kn_j)
            __builtin_memcpy(kn_to + kn_j * kn_along + kn_k * kn_beside, kn_tile + kn_j * kn_across + kn_k, sizeof(kn_t));
}
