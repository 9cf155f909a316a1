/* Partial redundancy elimination moves the common subexpressions of steps in front of the loops, step numbers among them: these need more registers than there are.
 * Temporary expression replacement moves loads to their uses, the last chain first: memory is then read backwards, at half the speed. (Before g++ 12 this pragma would
 * drop the other options.) */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC optimize("no-tree-pre", "no-tree-ter", "no-thread-jumps")
#endif

${head}
${axes}

#if defined(__AVX512F__)
#define KN_COLUMN_BYTES 64
#elif defined(__AVX__)
#define KN_COLUMN_BYTES 32
#else
#define KN_COLUMN_BYTES 16
#endif

/* The largest number of steps in kn_all vectors: compilers take seconds for more. */
constexpr int kn_steps_of(const int kn_all, const int kn_each) {
    int kn_n = 4;
    while (kn_n * 2 * kn_each <= kn_all && kn_n < 64)
        kn_n *= 2;
    return kn_n;
}

enum {
    kn_lanes = ${lanes_of_row},                /* elements of a row in a vector; 1: lanes are results */
    kn_by_rows = kn_lanes > 1,
    kn_column = KN_COLUMN_BYTES * kn_lanes / 64, /* lanes of a vector of the narrowest input: two at once would share addresses, for which there are too few registers */
    kn_is_short = ${short_rows},              /* rows are short: this many are reduced at a time, with some lanes for each; */
    kn_are_runs = kn_is_short == 2,     /* rows of several axes: steps go along the second one */
    kn_run = ${beside},                       /* results lie in runs of so many; 0: they do not; */
    kn_copies = ${short_rows} ? 8 : 1,        /* and vectors have so many elements of each */
    kn_vector = kn_run ? kn_run * kn_copies : kn_lanes, /* lanes of one row, or of one run */
    kn_batch = ${wide},
    kn_are_beside = !kn_by_rows || kn_is_short, /* and results are neighbours in memory too */
    kn_depth = kn_steps_of(${depth}, ${indices} >= 2 ? 1 : (kn_lanes * sizeof(${item}) + 63) / 64), /* unroll factor: steps that are reduced in registers */
    kn_most = kn_by_rows ? kn_lanes : kn_run ? (kn_batch + 1) * kn_vector : kn_batch,
    kn_few = kn_lanes < 8 ? kn_lanes : 8, /* lanes that are reduced one by one: parts of a stored vector are slow to read */
    kn_searched = 16,                   /* steps of a block of short rows */
    kn_window = sizeof(${index}) == 8 ? 16 : 32, /* elements among which the place is looked for at a time; indices are as wide as values */
    kn_series = 8,                      /* series of steps that are reduced together */
    kn_deep = kn_by_rows ? 64 : 1,      /* steps of a row are reduced in pairs, then pairs of pairs */
    kn_place_of_index = ${order},       /* the operand of `_J`; -1: no text uses it */
    kn_orders = kn_place_of_index >= 0,
    kn_is_searched = ${indices} >= 2,   /* the place of an extreme: of a block of steps this is found alone, and looked for in the end; */
    kn_are_alone = ${indices} >= 4,     /* of the whole row */
    kn_is_grouped = ${indices} == 1 /* lanes are several elements of each result, which have indices of their own */
};

typedef kn_line<${type}> kn_values;

typedef ${item} kn_term; /* in which the steps of a series are reduced: of terms that are 0 or 1, as wide as an input */

/* A whole number of so many bytes. */
template <int kn_n> struct kn_whole { typedef unsigned char type; };
template <> struct kn_whole<2> { typedef unsigned short type; };
template <> struct kn_whole<4> { typedef int type; };
template <> struct kn_whole<8> { typedef long long type; };

/* The extreme of two steps of a block, whose index is that of its first element. */
template <class kn_t> __forceinline__ kn_t kn_extreme(const kn_t kn_a, const kn_t kn_b) {
    const kn_t kn_x = kn_b ${search} kn_a ? kn_b : kn_a;
    return kn_b != kn_b ? kn_b : kn_x;
}
template <class kn_t> struct kn_extreme_of {
    __forceinline__ kn_t operator()(const kn_t &kn_a, const kn_t &kn_b, const bool) const { return {kn_extreme(kn_a.value, kn_b.value), kn_a.at}; }
};

/* A lane of short rows: a value, of which the extreme alone if its place is searched. */
template <class kn_t, bool kn_is> struct kn_lane_of {
    typedef kn_t type;
    static __forceinline__ const kn_t &of(const kn_t &kn_x) { return kn_x; }
};
template <class kn_t> struct kn_lane_of<kn_t, true> {
    typedef decltype(kn_t::value) type;
    static __forceinline__ type of(const kn_t &kn_x) { return kn_x.value; }
};
typedef kn_lane_of<${type}, kn_are_alone> kn_lane;
typedef kn_line<kn_lane::type> kn_lane_values;

/* kn_n steps in four independent chains. The reduction gets a flag (kn_order): its second argument follows the first in the order of the index. This holds within a
 * chain; it also holds between chains if each chain has consecutive steps. With many steps the chains take alternate steps instead, so that memory is read forwards,
 * which processors prefetch. */
template <int kn_n> struct kn_some_steps {
    enum { count = kn_n, chains = kn_n < 4 ? kn_n : 4, length = kn_n / chains, is_apart = kn_n <= 16 && !kn_is_searched };
    template <class kn_t, class kn_one_t, class kn_both_t, class kn_order_t>
    static __forceinline__ void reduce(kn_t &kn_to, const kn_one_t &kn_one, const kn_both_t &kn_both, kn_order_t kn_order) {
        kn_t kn_chain[chains];
        go<0>(kn_chain, kn_one, kn_both, kn_order);
        kn_to = join<0, chains>(kn_chain, kn_both, kn_order);
    }
    template <int kn_turn, class kn_t, class kn_one_t, class kn_both_t, class kn_order_t>
    static __forceinline__ void go(kn_t *kn_chain, const kn_one_t &kn_one, const kn_both_t &kn_both, kn_order_t kn_order) {
        if constexpr (kn_turn < kn_n) {
            enum { kn_c = kn_turn % chains, kn_j = is_apart ? kn_c * length + kn_turn / chains : kn_turn };
            if constexpr (kn_turn < chains) {
                kn_one(kn_chain[kn_c], kn_j);
            } else {
                kn_t kn_x;
                kn_one(kn_x, kn_j);
                kn_chain[kn_c] = kn_both(kn_chain[kn_c], kn_x, kn_order.is);
            }
            go<kn_turn + 1>(kn_chain, kn_one, kn_both, kn_order);
        }
    }
    template <int kn_c, int kn_many, class kn_t, class kn_both_t, class kn_order_t>
    static __forceinline__ kn_t join(const kn_t *kn_chain, const kn_both_t &kn_both, kn_order_t kn_order) {
        if constexpr (kn_many == 1)
            return kn_chain[kn_c];
        else
            return kn_both(join<kn_c, (kn_many + 1) / 2>(kn_chain, kn_both, kn_order),
                           join<kn_c + (kn_many + 1) / 2, kn_many / 2>(kn_chain, kn_both, kn_order), kn_order_t::is && is_apart);
    }
};

/* kn_n values, kn_step apart, pairwise. */
template <int kn_n> struct kn_some_values {
    template <class kn_in_t, class kn_both_t>
    static __forceinline__ auto reduce(const kn_in_t &kn_in, const long long kn_k, const int kn_step, const kn_both_t &kn_both) {
        if constexpr (kn_n == 1) {
            return kn_in.get(kn_k);
        } else {
            const auto kn_a = kn_some_values<kn_n / 2>::reduce(kn_in, kn_k, kn_step, kn_both);
            const auto kn_b = kn_some_values<kn_n / 2>::reduce(kn_in, kn_k + kn_n / 2 * kn_step, kn_step, kn_both);
            return kn_both(kn_a, kn_b);
        }
    }
};

${begin}

    /* Strides from lane to lane, from result to result (of one there are none), and from step to step. */
    const bool kn_has_beside = kn_are_beside && (!kn_are_runs || kn.reduction_rank < (int)kn.rank);
    kn_place kn_along, kn_beside, kn_down;
    for (int kn_o = 0; kn_o < ${operands}; ++kn_o) {
        kn_along.at[kn_o] = kn.axis[kn_by_rows ? 0 : kn.reduction_rank].stride[kn_o];
        kn_beside.at[kn_o] = kn.axis[kn_has_beside ? kn.reduction_rank : 0].stride[kn_o];
        kn_down.at[kn_o] = kn_are_runs ? kn.axis[1].stride[kn_o] : kn.axis[0].stride[kn_o] * kn.groups;
    }
    static_assert(sizeof(${type}) <= 4096, "the host folds values of 4,096 bytes at most");
    alignas(64) unsigned char kn_storage[kn_deep * kn_most * sizeof(${type})];
    const kn_values kn_side(kn_storage, kn_deep * kn_most);
    const kn_lane_values kn_lanes_side(kn_storage, kn_deep * kn_most);
    int kn_top; /* results of series that wait to be reduced in pairs, each kn_live wide */
    long long kn_turn, kn_live;

    /* Steps are in the order of the index: it counts up by ones along a row, and a result gets all of its elements in order. */
    bool kn_is_ordered = true;
    if constexpr (kn_orders) {
        const kn_axis *const kn_axes = kn.axis;
        kn_is_ordered = kn_by_rows ? kn_axes[0].stride[kn_place_of_index] == 1 : kn_along.at[kn_place_of_index] == 0;
        for (int kn_a = 0; kn_a < kn.reduction_rank && !kn_by_rows; ++kn_a)
            kn_is_ordered = kn_is_ordered && kn_axes[kn_a].stride[kn_place_of_index] >=
                                                 (kn_a ? kn_axes[kn_a - 1].stride[kn_place_of_index] * kn_axes[kn_a - 1].extent : 1);
    }

    /* `_J` of each lane, at the first of some steps. It is in memory, since g++ otherwise adds it up for each step; and it is stored as a vector, since a vector is slow
     * to read behind single stores. */
    typedef ${index} kn_indices __attribute__((vector_size(kn_lanes * sizeof(${index})), aligned(64))); /* as the arrays are */
    alignas(64) ${index} kn_numbers[kn_lanes], kn_first_index[kn_is_grouped ? kn_most : kn_lanes];
    for (int kn_k = 0; kn_k < kn_lanes; ++kn_k)
        kn_numbers[kn_k] = kn_k;
    /* Lanes that are results have one step's, which differ from group to group. */
    if constexpr (kn_is_grouped)
        for (int kn_g = 0; kn_g < kn.groups; ++kn_g)
            for (long long kn_k = kn_g * kn.width; kn_k < (kn_g + 1) * kn.width; ++kn_k)
                kn_first_index[kn_k] = kn_g * (${index})kn.axis[0].stride[kn_is_grouped ? kn_place_of_index : 0];

    /* Reduces kn_n steps from kn_row on. The loop over lanes is the outer one, so that the compiler vectorises it, for structs too. */
    const auto kn_reduce_loop_of = [&](auto kn_n, auto kn_before, auto kn_order, const long long kn_to, const kn_place kn_row, const long long kn_width,
                                     const kn_place kn_down, const kn_place kn_along, const kn_values kn_side, const ${index} *const kn_first_index) {
        const kn_args kn = *kn_given; /* a copy, as the parameters by value: otherwise a stored byte could alias these, as far as compilers know */
        const auto kn_block = (${index})(${first});
        (void)kn_block;
        const auto kn_reduce_lane = [&](const long long kn_k) __attribute__((always_inline)) {
            const auto kn_one = [&](kn_term &kn_x, const long long kn_j) __attribute__((always_inline)) {
                ${loads}
                ${single}
                kn_x = ${mapped};
            };
            kn_term kn_all;
            kn_n.reduce(kn_all, kn_one, ${extreme}, kn_order);
            if constexpr (kn_before.is)
                kn_side.put(kn_to + kn_k, ${reduce}(kn_side.get(kn_to + kn_k), kn_all, kn_order.is));
            else
                kn_side.put(kn_to + kn_k, kn_all);
        };
        if constexpr (kn_by_rows && kn_n.count > 1 && kn_column < kn_lanes) {
KN_ROLLED
            for (int kn_c = 0; kn_c < kn_lanes; kn_c += kn_column)
KN_INDEPENDENT
KN_ROLLED
                for (int kn_i = 0; kn_i < kn_column; ++kn_i)
                    kn_reduce_lane(kn_c + kn_i);
        } else {
${independent}
            for (long long kn_k = 0; kn_k < kn_width; ++kn_k)
                kn_reduce_lane(kn_k);
        }
    };
    const auto kn_reduce_loop = [&](auto kn_n, auto kn_before, auto kn_order, const long long kn_to, const kn_place &kn_row, const long long kn_width) {
        kn_reduce_loop_of(kn_n, kn_before, kn_order, kn_to, kn_row, kn_width, kn_down, kn_along, kn_side, kn_first_index);
    };
    const auto kn_reduce_steps = [&](auto kn_n, auto kn_order, const kn_place &kn_row, const long long kn_width, const bool kn_is_first) {
        if (kn_is_first)
            kn_reduce_loop(kn_n, kn_bool<false>(), kn_order, 0, kn_row, kn_width);
        else
            kn_reduce_loop(kn_n, kn_bool<true>(), kn_order, 0, kn_row, kn_width);
    };
    /* Reduces pairs of kn_width values, and pairs of groups: the first group with the one behind the middle. These are functions, not inlined: as loops of their own they
     * would dominate compile time. */
    const auto kn_reduce_pair = [&](const kn_values kn_in, const long long kn_to, const long long kn_from,
                                  const long long kn_width) __attribute__((noinline)) {
KN_INDEPENDENT
        for (long long kn_k = 0; kn_k < kn_width; ++kn_k)
            kn_in.put(kn_to + kn_k, ${reduce}(kn_in.get(kn_to + kn_k), kn_in.get(kn_from + kn_k)));
    };
    const auto kn_reduce_groups = [&](const kn_values &kn_in, const long long kn_to, long long kn_groups, const long long kn_width) {
        for (; kn_groups > 1; kn_groups = (kn_groups + 1) / 2)
            kn_reduce_pair(kn_in, kn_to, kn_to + (kn_groups + 1) / 2 * kn_width, kn_groups / 2 * kn_width);
    };
    /* All lanes to the first. */
    const auto kn_reduce_lanes = [&]() {
        for (int kn_half = kn_lanes / 2; kn_half >= kn_few; kn_half /= 2)
            kn_reduce_pair(kn_side, 0, kn_half, kn_half);
        kn_side.put(0, kn_some_values<kn_few>::reduce(kn_side, 0, 1, ${reduce}));
    };
    /* kn_new series are behind the first kn_top: their results join the pairs. */
    const auto kn_reduce_series = [&](const kn_values kn_side, const long long kn_to) __attribute__((noinline)) {
KN_INDEPENDENT
        for (long long kn_k = kn_to; kn_k < kn_to + kn_most; ++kn_k)
            kn_side.put(kn_k, kn_some_values<kn_series>::reduce(kn_side, kn_k, kn_most, ${reduce}));
    };
    const auto kn_pair_up = [&](const int kn_new) {
        if (kn_new == kn_series)
            kn_reduce_series(kn_side, kn_top * kn_most);
        else
            kn_reduce_groups(kn_side, kn_top * kn_most, kn_new, kn_most);
        ++kn_top;
        for (long long kn_bits = kn_turn++; kn_bits & 1; kn_bits >>= 1, --kn_top)
            kn_reduce_pair(kn_side, (kn_top - 2) * kn_most, (kn_top - 1) * kn_most, kn_live);
    };
    const auto kn_go_down = [&](kn_place &kn_row, const long long kn_steps) {
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_row.at[kn_o] += kn_steps * kn_down.at[kn_o];
    };

    const auto kn_reduce_piece_of_row = [&](kn_place &kn_row, long long kn_left, const long long kn_rest) {
        int kn_new = 0;
        /* A value that was just stored is not read again at once: the processor would stall. */
        const auto kn_reduce_next = [&](auto kn_n, auto kn_order) {
            if (kn_order.is && !kn_is_searched) {
                *(kn_indices *)kn_first_index = *(kn_indices *)kn_numbers + (${index})(${first});
                __asm__("" : "+m"(kn_first_index));
            }
            kn_reduce_loop(kn_n, kn_bool<false>(), kn_order, (kn_top + kn_new) * kn_most, kn_row, kn_most);
            kn_go_down(kn_row, kn_n.count);
            kn_left -= kn_n.count;
            if (++kn_new == kn_series) {
                kn_pair_up(kn_new);
                kn_new = 0;
            }
        };
        while (kn_is_ordered && kn_left >= kn_depth)
            kn_reduce_next(kn_some_steps<kn_depth>(), kn_bool<kn_orders>());
        if constexpr (kn_orders && kn_depth > 16)
            while (kn_is_ordered && kn_left >= kn_depth / 4)
                kn_reduce_next(kn_some_steps<kn_depth / 4>(), kn_bool<kn_orders>());
        while (kn_is_ordered && kn_left >= 4)
            kn_reduce_next(kn_some_steps<4>(), kn_bool<kn_orders>());
        while (kn_left > 0)
            kn_reduce_next(kn_some_steps<1>(), kn_bool<kn_is_searched>());
        if (kn_rest > 0) {
            const long long kn_to = (kn_top + kn_new) * kn_most;
            kn_reduce_loop(kn_some_steps<1>(), kn_bool<false>(), kn_bool<kn_is_searched>(), kn_to, kn_row, kn_rest);
            if (kn.steps > 0)
                kn_reduce_pair(kn_side, kn_to - kn_most, kn_to, kn_rest);
            else
                ++kn_new;
        }
        if (kn_new > 0)
            kn_pair_up(kn_new);
    };
    const auto kn_reduce_piece_of_results = [&](kn_place &kn_row, long long kn_left, const long long kn_rest, const long long kn_count) {
        for (; kn_is_ordered && kn_left >= kn_depth; kn_left -= kn_depth, kn_top = 1) {
            kn_reduce_steps(kn_some_steps<kn_depth>(), kn_bool<kn_orders>(), kn_row, kn_live, kn_top == 0);
            kn_go_down(kn_row, kn_depth);
        }
        const auto kn_reduce_left = [&](auto kn_n) {
            kn_reduce_steps(kn_n, kn_bool<false>(), kn_row, kn_live, kn_top == 0);
            kn_go_down(kn_row, kn_n.count);
            kn_left -= kn_n.count;
            kn_top = 1;
        };
        if constexpr (!kn_orders) {
            if (kn_left % 4 == 3)
                kn_reduce_left(kn_some_steps<3>());
            if (kn_left % 4 == 2)
                kn_reduce_left(kn_some_steps<2>());
        }
        while (kn_left > 0)
            kn_reduce_left(kn_some_steps<1>());
        if (kn_rest > 0)
            kn_reduce_steps(kn_some_steps<1>(), kn_bool<false>(), kn_row, kn_rest * kn_count, false);
    };

    const auto kn_both = [&](const auto &kn_a, const auto &kn_b, const bool kn_follows = false) __attribute__((always_inline)) {
        if constexpr (kn_are_alone)
            return kn_extreme(kn_a, kn_b);
        else
            return ${reduce}(kn_a, kn_b, kn_follows);
    };
    const auto kn_both_of_block = [&](const auto &kn_a, const auto &kn_b, const bool kn_follows) __attribute__((always_inline)) {
        if constexpr (kn_are_alone)
            return kn_extreme(kn_a, kn_b);
        else
            return ${extreme}(kn_a, kn_b, kn_follows);
    };
    /* Reduces each lane of kn_count short rows. The rest of a row is loaded as its last lanes; those of them that were counted before are left out. */
    const auto kn_reduce_short = [&](kn_place kn_row, const kn_place kn_down, const kn_place kn_along, const kn_place kn_beside, const kn_lane_values kn_side,
                                   const long long kn_from_row, const long long kn_count, const long long kn_steps, const int kn_rest, const long long kn_first_run,
                                   const long long kn_last_run) __attribute__((noinline)) {
        const kn_args kn = *kn_given;
        const auto kn_reduce_step = [&](auto kn_n, auto kn_before, const long long kn_in, const long long kn_to, const long long kn_from)
                                      __attribute__((always_inline)) {
            const auto kn_order = kn_bool<kn_is_searched>();
            const auto kn_block = (${index})(${first} + kn_from * kn_lanes);
            (void)kn_block;
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_vector; ++kn_k) {
                const auto kn_one = [&](kn_lane::type &kn_x, const long long kn_step) __attribute__((always_inline)) {
                    const long long kn_j = kn_from + kn_step;
                    ${loads}
                    ${single}
                    kn_x = kn_lane::of(${mapped});
                };
                kn_lane::type kn_all;
                kn_n.reduce(kn_all, kn_one, kn_both_of_block, kn_order);
                if constexpr (kn_before.is)
                    kn_all = kn_both(kn_side.get(kn_in + kn_k), kn_all, kn_order.is);
                kn_side.put(kn_to + kn_k, kn_all);
            }
        };
        /* A vector of all rows from kn_row on. */
        const auto kn_reduce_runs = [&](const long long kn_to) __attribute__((always_inline)) {
            const long long kn_runs = kn.axis[1].extent;
            const kn_place kn_start = kn_row;
            for (long long kn_r = kn_first_run, kn_next; kn_r < kn_last_run; kn_r = kn_next) {
                const long long kn_outer = kn_r / kn_runs;
                kn_next = (kn_outer + 1) * kn_runs < kn_last_run ? (kn_outer + 1) * kn_runs : kn_last_run;
                long long kn_step = kn_r - kn_outer * kn_runs;
                const long long kn_stop = kn_step + kn_next - kn_r;
                kn_row = kn_start;
                kn_move(kn_row, kn, 2, kn.reduction_rank, kn_outer);
                if (kn_r == kn_first_run && kn_stop - kn_step < 4)
                    kn_reduce_step(kn_some_steps<1>(), kn_bool<false>(), kn_to, kn_to, kn_step), kn_step += 1;
                else if (kn_r == kn_first_run)
                    kn_reduce_step(kn_some_steps<4>(), kn_bool<false>(), kn_to, kn_to, kn_step), kn_step += 4;
                for (; kn_step + 4 <= kn_stop; kn_step += 4)
                    kn_reduce_step(kn_some_steps<4>(), kn_bool<true>(), kn_to, kn_to, kn_step);
                if (kn_step + 2 <= kn_stop)
                    kn_reduce_step(kn_some_steps<2>(), kn_bool<true>(), kn_to, kn_to, kn_step), kn_step += 2;
                if (kn_step < kn_stop)
                    kn_reduce_step(kn_some_steps<1>(), kn_bool<true>(), kn_to, kn_to, kn_step);
            }
            kn_row = kn_start;
        };
        const auto kn_go_along = [&](const kn_place &kn_by, const long long kn_n) __attribute__((always_inline)) {
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_row.at[kn_o] += kn_n * kn_by.at[kn_o];
        };
        for (long long kn_r = 0; kn_are_runs && kn_r < kn_count; ++kn_r) {
            const long long kn_to = (kn_from_row + kn_r) * kn_vector, kn_beyond = kn_batch * kn_vector, kn_spared = kn_vector - kn_rest;
            kn_reduce_runs(kn_to);
            for (long long kn_v = 1; kn_v < kn_steps + (kn_rest > 0); ++kn_v) {
                const long long kn_spare = kn_v < kn_steps ? 0 : kn_spared;
                kn_go_along(kn_along, kn_v * kn_vector - kn_spare);
                kn_reduce_runs(kn_beyond);
                kn_go_along(kn_along, kn_spare - kn_v * kn_vector);
KN_INDEPENDENT
KN_ROLLED
                for (int kn_k = 0; kn_k < kn_vector; ++kn_k)
                    kn_side.put(kn_beyond + kn_k, kn_both(kn_side.get(kn_to + kn_k), kn_side.get(kn_beyond + kn_k)));
KN_INDEPENDENT
KN_ROLLED
                for (int kn_k = 0; kn_k < kn_vector; ++kn_k)
                    kn_side.choose(kn_to + kn_k, kn_beyond + kn_k, kn_k >= kn_spare);
            }
            kn_go_along(kn_beside, 1);
        }
        for (long long kn_r = 0; !kn_are_runs && kn_r < kn_count; ++kn_r) {
            const long long kn_to = (kn_from_row + kn_r) * kn_vector;
            long long kn_step = 1;
            if (kn_steps < 4)
                kn_reduce_step(kn_some_steps<1>(), kn_bool<false>(), kn_to, kn_to, 0);
            else if (kn_are_alone && kn_steps >= kn_searched)
                kn_reduce_step(kn_some_steps<kn_is_searched ? kn_searched : 4>(), kn_bool<false>(), kn_to, kn_to, 0), kn_step = kn_searched;
            else
                kn_reduce_step(kn_some_steps<4>(), kn_bool<false>(), kn_to, kn_to, 0), kn_step = 4;
            if constexpr (kn_is_searched)
                for (; kn_step + kn_searched <= kn_steps; kn_step += kn_searched)
                    kn_reduce_step(kn_some_steps<kn_searched>(), kn_bool<true>(), kn_to, kn_to, kn_step);
            for (; kn_step + 4 <= kn_steps; kn_step += 4)
                kn_reduce_step(kn_some_steps<4>(), kn_bool<true>(), kn_to, kn_to, kn_step);
            for (; kn_step < kn_steps; ++kn_step)
                kn_reduce_step(kn_some_steps<1>(), kn_bool<true>(), kn_to, kn_to, kn_step);
            const int kn_spared = kn_vector - kn_rest;
            kn_go_along(kn_along, -kn_spared);
            if (kn_rest > 0) {
                const long long kn_beyond = kn_batch * kn_vector;
                kn_reduce_step(kn_some_steps<1>(), kn_bool<true>(), kn_to, kn_beyond, kn_steps);
KN_INDEPENDENT
KN_ROLLED
                for (int kn_k = 0; kn_k < kn_vector; ++kn_k)
                    kn_side.choose(kn_to + kn_k, kn_beyond + kn_k, kn_k >= kn_spared);
            }
            kn_go_along(kn_along, kn_spared);
            kn_go_along(kn_beside, 1);
        }
    };
    /* Reduces neighbours in pairs: lanes of many rows, one row behind the other. */
    const auto kn_reduce_neighbours = [&](const kn_lane_values kn_in, const long long kn_to, const long long kn_from,
                                        const long long kn_count) __attribute__((noinline)) {
KN_INDEPENDENT
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k)
            kn_in.put(kn_to + kn_k, kn_both(kn_in.get(kn_from + 2 * kn_k), kn_in.get(kn_from + 2 * kn_k + 1)));
    };
    /* Reduces the lanes of rows to results, and returns the number of the first result. */
    const auto kn_reduce_rows = [&](const kn_lane_values kn_side, const long long kn_count) {
        long long kn_from = 0, kn_to = kn_batch * kn_lanes;
        for (int kn_half = kn_lanes / 2; kn_half > 0; kn_half /= 2) {
            kn_reduce_neighbours(kn_side, kn_to, kn_from, kn_count * kn_half);
            const long long kn_last = kn_from;
            kn_from = kn_to;
            kn_to = kn_last;
        }
        return kn_from;
    };

    /* The number of the first of kn_window elements that is the extreme, or is no number; or so many, and more. */
    const auto kn_look = [&](auto kn_is_number, const auto kn_best, const kn_place kn_row, const kn_place kn_down, const kn_place kn_along)
                           __attribute__((always_inline)) -> int {
        const kn_args kn = *kn_given;
        const auto kn_order = kn_bool<false>();
        const int kn_block = 0, kn_j = 0;
        (void)kn_order, (void)kn_block, (void)kn_j, (void)kn_down, (void)kn_along;
        typedef typename kn_whole<sizeof(kn_best.value)>::type kn_number; /* as wide as the values: one kind of vectors */
        kn_number kn_least = kn_window;
KN_INDEPENDENT
KN_ROLLED
        for (int kn_k = 0; kn_k < kn_window; ++kn_k) {
            ${loads}
            ${single}
            const decltype(kn_best) kn_x = ${mapped};
            const bool kn_is = kn_is_number.is ? kn_x.value == kn_best.value : kn_x.value != kn_x.value;
            const kn_number kn_own = kn_is ? (kn_number)kn_k : (kn_number)kn_window;
            kn_least = kn_own < kn_least ? kn_own : kn_least;
        }
        return kn_least;
    };
    /* Finds the first element that is the extreme. No equal one, and no NaN beside a number, lies in front of the block of it, so that windows may begin earlier, to end
     * with the row. */
    const auto kn_search = [&](const auto kn_in, const long long kn_done, const kn_place kn_here, const kn_place kn_down, const kn_place kn_along,
                               const kn_place kn_beside, const long long kn_count) __attribute__((noinline)) -> void {
        const kn_args kn = *kn_given;
        const long long kn_last = kn.steps * kn_lanes + kn.rest - kn_window;
        kn_lane::type kn_values_of[kn_are_alone ? kn_batch : 1];
        for (long long kn_r = 0; kn_are_alone && kn_r < kn_count; ++kn_r)
            kn_values_of[kn_r] = kn_lanes_side.get(kn_done + kn_r);
        for (long long kn_r = 0; kn_r < kn_count; ++kn_r) {
            auto kn_best = kn_in.get(kn_are_alone ? 0 : kn_done + kn_r);
            kn_place kn_row = kn_here;
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_row.at[kn_o] += kn_r * kn_beside.at[kn_o];
            const kn_place kn_start = kn_row;
            const long long kn_zero = ${first};
            if constexpr (kn_are_alone)
                kn_best.value = kn_values_of[kn_r], kn_best.at = kn_zero;
            for (long long kn_from = kn_best.at - kn_zero; kn_from < kn_last + kn_window; kn_from += kn_window) {
                kn_from = kn_from < kn_last ? kn_from : kn_last;
                for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                    kn_row.at[kn_o] = kn_start.at[kn_o] + kn_from * kn_along.at[kn_o];
                const int kn_k = kn_best.value == kn_best.value ? kn_look(kn_bool<true>(), kn_best, kn_row, kn_down, kn_along)
                                                                : kn_look(kn_bool<false>(), kn_best, kn_row, kn_down, kn_along);
                if (kn_k < kn_window) {
                    kn_best.at = kn_zero + kn_from + kn_k;
                    break;
                }
            }
            kn_in.put(kn_are_alone ? kn_r : kn_done + kn_r, kn_best);
        }
    };
    /* Results side by side, of which a stored byte could alias nothing that was not passed by value. */
    const auto kn_store = [&](const kn_values kn_in, const long long kn_done, const kn_place kn_here, const kn_place kn_beside, const long long kn_count,
                              const bool kn_some) __attribute__((always_inline)) {
        const kn_args kn = *kn_given;
KN_INDEPENDENT
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
            ${type} ${result} = kn_in.get(kn_done + kn_k);
            ${empty}
            ${stores}
        }
    };
    /* Elements of each result, of kn_count runs: the first half with the second one. What is stored lies in front of what is still to be read. */
    const auto kn_reduce_copies = [&](const kn_lane_values kn_in, const long long kn_count, auto kn_half) __attribute__((noinline)) {
        constexpr int kn_n = kn_half.count * (kn_run ? kn_run : 1);
        for (long long kn_r = 0; kn_r < kn_count; ++kn_r) {
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_in.put(kn_r * kn_n + kn_k, kn_both(kn_in.get(kn_r * 2 * kn_n + kn_k), kn_in.get((kn_r * 2 + 1) * kn_n + kn_k)));
        }
    };
    for (long long kn_task = kn_begin; kn_run > 0 && kn_task < kn_end; ++kn_task) {
        /* kn_count runs, from one on. */
        const kn_axis &kn_runs = kn.axis[kn_run > 0 ? kn.reduction_rank + 1 : 0];
        const long long kn_blocks = (kn_runs.extent + kn.width - 1) / kn.width, kn_outer = kn_task / kn_blocks;
        const long long kn_from = (kn_task - kn_outer * kn_blocks) * kn.width;
        const long long kn_count = kn_runs.extent - kn_from < kn.width ? kn_runs.extent - kn_from : kn.width;
        kn_place kn_here = {}, kn_next = {};
        kn_move(kn_here, kn, kn.reduction_rank + 2, kn.rank, kn_outer);
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o) {
            kn_next.at[kn_o] = kn_runs.stride[kn_o];
            kn_here.at[kn_o] += kn_from * kn_next.at[kn_o];
        }
        kn_reduce_short(kn_here, kn_down, kn_along, kn_next, kn_lanes_side, 0, kn_count, kn.steps, (int)kn.rest * kn_run, 0, 0);
        if constexpr (kn_copies > 1) {
            kn_reduce_copies(kn_lanes_side, kn_count, kn_some_steps<4>());
            kn_reduce_copies(kn_lanes_side, kn_count, kn_some_steps<2>());
            kn_reduce_copies(kn_lanes_side, kn_count, kn_some_steps<1>());
        }
        for (long long kn_r = 0; kn_r < kn_count; ++kn_r) {
            kn_store(kn_side, kn_r * kn_run, kn_here, kn_beside, kn_run, true);
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_here.at[kn_o] += kn_next.at[kn_o];
        }
    }
    /* Few results side by side, of which there are many: the lanes of several tasks are reduced together. */
    long long kn_next_task = kn_begin;
    if constexpr (kn_is_short && kn_run == 0 && !kn_is_searched) {
        const long long kn_extent = kn_has_beside ? kn.axis[kn.reduction_rank].extent : 1;
        const int kn_many = kn.chunks == 1 && kn_extent <= kn.width && kn_extent < kn_batch ? (int)(kn_batch / kn_extent) : 0;
        kn_place kn_heres[kn_batch];
        for (; kn_many > 1 && kn_next_task < kn_end; kn_next_task += kn_many) {
            const int kn_together = kn_end - kn_next_task < kn_many ? (int)(kn_end - kn_next_task) : kn_many;
            for (int kn_t = 0; kn_t < kn_together; ++kn_t) {
                kn_heres[kn_t] = {};
                kn_move(kn_heres[kn_t], kn, kn.reduction_rank + 1, kn.rank, kn_next_task + kn_t);
                kn_reduce_short(kn_heres[kn_t], kn_down, kn_along, kn_beside, kn_lanes_side, kn_t * kn_extent, kn_extent, kn.steps, (int)kn.rest, 0,
                                kn.rows * kn.pieces);
            }
            const long long kn_done = kn_reduce_rows(kn_lanes_side, kn_together * kn_extent);
            for (int kn_t = 0; kn_t < kn_together; ++kn_t)
                kn_store(kn_side, kn_done + kn_t * kn_extent, kn_heres[kn_t], kn_beside, kn_extent, true);
        }
    }
    for (long long kn_task = kn_next_task; kn_run == 0 && kn_task < kn_end; ++kn_task) {
        /* kn_count results from kn_first on, and one chunk of their elements. */
        const long long kn_result = kn_task / kn.chunks, kn_chunk = kn_task - kn_result * kn.chunks;
        const long long kn_extent = kn_has_beside ? kn.axis[kn.reduction_rank].extent : 1, kn_blocks = (kn_extent + kn.width - 1) / kn.width;
        const long long kn_outer = kn_are_beside ? kn_result / kn_blocks : kn_result, kn_from = (kn_result - kn_outer * kn_blocks) * kn.width;
        const long long kn_count = kn_extent - kn_from < kn.width ? kn_extent - kn_from : kn.width;
        const long long kn_first = kn_outer * kn_extent + kn_from;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn_are_beside ? kn.reduction_rank + 1 : kn.reduction_rank, kn.rank, kn_outer);
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_here.at[kn_o] += kn_from * kn_beside.at[kn_o];
        const long long kn_whole = kn.rows * kn.pieces, kn_stop = kn_chunk + 1 < kn.chunks ? (kn_chunk + 1) * kn.chunk : kn_whole;
        long long kn_done = 0; /* the place of the first result */
        bool kn_some = true;
        if constexpr (kn_is_short) {
            kn_reduce_short(kn_here, kn_down, kn_along, kn_beside, kn_lanes_side, 0, kn_count, kn.steps, (int)kn.rest, kn_chunk * kn.chunk, kn_stop);
            kn_done = kn_reduce_rows(kn_lanes_side, kn_count);
        } else {
            kn_top = 0;
            kn_turn = 0;
            kn_live = !kn_by_rows ? kn_count * kn.groups : kn.steps > 0 ? kn_lanes : kn.rest;
            for (long long kn_p = kn_chunk * kn.chunk; kn_p < kn_stop; ++kn_p) {
                const long long kn_r = kn_p / kn.pieces, kn_part = kn_p - kn_r * kn.pieces;
                const long long kn_start = kn_part * kn.piece, kn_left = kn.steps - kn_start < kn.piece ? kn.steps - kn_start : kn.piece;
                const long long kn_rest = kn_part + 1 < kn.pieces ? 0 : kn.rest;
                kn_place kn_row = kn_here;
                kn_move(kn_row, kn, 1, kn.reduction_rank, kn_r);
                kn_go_down(kn_row, kn_start);
                if (kn_by_rows)
                    kn_reduce_piece_of_row(kn_row, kn_left, kn_rest);
                else
                    kn_reduce_piece_of_results(kn_row, kn_left, kn_rest, kn_count);
            }
            while (kn_top > 1) {
                --kn_top;
                kn_reduce_pair(kn_side, (kn_top - 1) * kn_most, kn_top * kn_most, kn_live);
            }
            kn_some = kn_top > 0;
            if (kn_by_rows && kn_live == kn_lanes)
                kn_reduce_lanes();
            else if (kn_some)
                kn_reduce_groups(kn_side, 0, kn_live / kn_count, kn_count);
        }

        kn_values kn_results = kn_side;
        if (kn.chunks > 1) {
            kn_results = kn_values(kn.partials + kn_first * kn.chunks * (long long)sizeof(${type}), kn_count * kn.chunks);
            for (long long kn_k = 0; kn_k < kn_count; ++kn_k)
                kn_results.put(kn_chunk * kn_count + kn_k, kn_side.get(kn_done + kn_k));
            if (__atomic_add_fetch(&kn.counters[kn_result], 1u, __ATOMIC_ACQ_REL) < kn.chunks)
                continue;
            kn.counters[kn_result] = 0;
            kn_reduce_groups(kn_results, 0, kn.chunks, kn_count);
            kn_done = 0;
        }
        if constexpr (kn_is_searched)
            kn_search(kn_results, kn_done, kn_here, kn_down, kn_along, kn_beside, kn_count), kn_done = kn_are_alone ? 0 : kn_done;
        kn_store(kn_results, kn_done, kn_here, kn_beside, kn_count, kn_some);
    }
    ${after_loop}
}
