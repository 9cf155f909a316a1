${head}
${axes}

/* Partial redundancy elimination takes what steps have in common, the numbers of steps among it, in front of loops: more vectors than there are
 * registers. (Before g++ 12 this would drop the other options.) */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC optimize("no-tree-pre")
#endif

/* As many steps as are kn_all vectors: compilers take seconds where they are more. */
constexpr int kn_steps_of(const int kn_all, const int kn_each) {
    int kn_n = 4;
    while (kn_n * 2 * kn_each <= kn_all && kn_n < 64)
        kn_n *= 2;
    return kn_n;
}

enum {
    kn_lanes = ${lanes},                /* neighbours of a row side by side; 1: results are */
    kn_by_rows = kn_lanes > 1,
    kn_depth = kn_steps_of(${depth}, (kn_lanes * sizeof(${type}) + 63) / 64), /* steps that are folded one behind the other, in registers */
    kn_most = kn_by_rows ? kn_lanes : ${wide},
    kn_series = 8,                      /* of those, that are folded together */
    kn_deep = kn_by_rows ? 64 : 1,      /* steps of a row are folded in pairs, and pairs of pairs */
    kn_place_of_index = ${order},       /* among the operands, of `_J`; -1: no text asks for it */
    kn_orders = kn_place_of_index >= 0
};

template <bool kn_is> struct kn_bool {
    enum { is = kn_is };
};

/* So many steps: four chains, of which none waits for another, and which go through memory forward. The fold is told where what
 * is folded follows in the order of the index (kn_order): within a chain. */
template <int kn_n> struct kn_some_steps {
    enum { count = kn_n };
    template <class kn_t, class kn_one_t, class kn_both_t, class kn_order_t>
    static __forceinline__ void fold(kn_t &kn_to, const kn_one_t &kn_one, const kn_both_t &kn_both, kn_order_t kn_order) {
        kn_one(kn_to, 0);
        if constexpr (kn_n >= 4) {
            enum { follow = kn_order_t::is && kn_n < 8 }; /* a chain is one step */
            kn_t kn_b, kn_c, kn_d;
            kn_one(kn_b, 1);
            kn_one(kn_c, 2);
            kn_one(kn_d, 3);
            kn_some_steps<kn_n - 4>::fold_four(kn_to, kn_b, kn_c, kn_d, kn_one, kn_both, kn_order, 4);
            kn_to = kn_both(kn_to, kn_b, follow);
            kn_c = kn_both(kn_c, kn_d, follow);
            kn_to = kn_both(kn_to, kn_c, follow);
        }
    }
    template <class kn_t, class kn_one_t, class kn_both_t, class kn_order_t>
    static __forceinline__ void fold_four(kn_t &kn_a, kn_t &kn_b, kn_t &kn_c, kn_t &kn_d, const kn_one_t &kn_one, const kn_both_t &kn_both,
                                          kn_order_t kn_order, int kn_j) {
        if constexpr (kn_n >= 4) {
            kn_t kn_x;
            kn_one(kn_x, kn_j);
            kn_a = kn_both(kn_a, kn_x, kn_order.is);
            kn_one(kn_x, kn_j + 1);
            kn_b = kn_both(kn_b, kn_x, kn_order.is);
            kn_one(kn_x, kn_j + 2);
            kn_c = kn_both(kn_c, kn_x, kn_order.is);
            kn_one(kn_x, kn_j + 3);
            kn_d = kn_both(kn_d, kn_x, kn_order.is);
            kn_some_steps<kn_n - 4>::fold_four(kn_a, kn_b, kn_c, kn_d, kn_one, kn_both, kn_order, kn_j + 4);
        }
    }
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${loop_prep}
    ${element}

    /* From one neighbour to the next, and from one step to the next. */
    kn_place kn_along, kn_down;
    for (int kn_o = 0; kn_o < ${operands}; ++kn_o) {
        kn_along.at[kn_o] = kn.axis[kn_by_rows ? 0 : kn.fold_rank].stride[kn_o];
        kn_down.at[kn_o] = kn.axis[0].stride[kn_o] * kn.groups;
    }
    static_assert(sizeof(${type}) <= 4096, "the host folds values of 4,096 bytes at most");
    alignas(64) unsigned char kn_room[kn_deep * kn_most * sizeof(${type})];
    ${type} *const kn_side = (${type} *)kn_room;
    int kn_top; /* steps that wait to be folded in pairs, each as wide as kn_live */
    long long kn_turn, kn_live;

    /* Steps come in the order of the index: along a row it counts up by ones, and results have all of their elements in order. */
    bool kn_is_ordered = true;
    if constexpr (kn_orders) {
        const kn_axis *const kn_axes = kn.axis;
        kn_is_ordered = kn_by_rows ? kn_axes[0].stride[kn_place_of_index] == 1 : kn_along.at[kn_place_of_index] == 0;
        for (int kn_a = 0; kn_a < kn.fold_rank && !kn_by_rows; ++kn_a)
            kn_is_ordered = kn_is_ordered && kn_axes[kn_a].stride[kn_place_of_index] >=
                                                 (kn_a ? kn_axes[kn_a - 1].stride[kn_place_of_index] * kn_axes[kn_a - 1].extent : 1);
    }

    /* `_J` of neighbours, of the first step of a series; in memory, or g++ adds it up for each step by itself. */
    ${index} kn_first_index[kn_lanes];
    int kn_steps_before = 0;

    /* kn_n steps from kn_row on, for each neighbour in registers, so that the loop over neighbours becomes vectors; of structs as well. */
    const auto kn_fold_loop = [&](auto kn_n, auto kn_before, auto kn_order, ${type} *kn_to, const kn_place &kn_row, const long long kn_width) {
KN_INDEPENDENT
        for (long long kn_k = 0; kn_k < kn_width; ++kn_k) {
            const auto kn_one = [&](${type} &kn_x, const long long kn_j) __attribute__((always_inline)) {
                ${loads}
                ${single}
                kn_x = ${mapped};
            };
            ${type} kn_all;
            kn_n.fold(kn_all, kn_one, ${fold}, kn_order);
            if constexpr (kn_before.is)
                kn_all = ${fold}(kn_to[kn_k], kn_all, kn_order.is);
            kn_to[kn_k] = kn_all;
        }
    };
    const auto kn_fold_steps = [&](auto kn_n, auto kn_order, ${type} *kn_to, const kn_place &kn_row, const long long kn_width, const bool kn_is_first) {
        if (kn_is_first)
            kn_fold_loop(kn_n, kn_bool<false>(), kn_order, kn_to, kn_row, kn_width);
        else
            kn_fold_loop(kn_n, kn_bool<true>(), kn_order, kn_to, kn_row, kn_width);
    };
    /* Both of kn_width values; in pairs, the first with the one behind the middle. A function: where each of its calls is a loop of
     * its own, they take more of the compiler's time than all else. */
    const auto kn_fold_pair = [&](${type} *kn_to, const ${type} *kn_from, const long long kn_width) __attribute__((noinline)) {
KN_INDEPENDENT
        for (long long kn_k = 0; kn_k < kn_width; ++kn_k)
            kn_to[kn_k] = ${fold}(kn_to[kn_k], kn_from[kn_k]);
    };
    const auto kn_fold_groups = [&](${type} *kn_to, long long kn_groups, const long long kn_width) {
        for (; kn_groups > 1; kn_groups = (kn_groups + 1) / 2)
            kn_fold_pair(kn_to, kn_to + (kn_groups + 1) / 2 * kn_width, kn_groups / 2 * kn_width);
    };
    /* So many steps stand behind the first kn_top: what comes of them is paired. */
    const auto kn_pair_up = [&](const int kn_new) {
        kn_fold_groups(kn_side + kn_top * kn_most, kn_new, kn_most);
        ++kn_top;
        for (long long kn_bits = kn_turn++; kn_bits & 1; kn_bits >>= 1, --kn_top) {
            ${type} *const kn_to = kn_side + (kn_top - 2) * kn_most;
            kn_fold_pair(kn_to, kn_to + kn_most, kn_live);
        }
    };
    const auto kn_go_down = [&](kn_place &kn_row, const long long kn_steps) {
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_row.at[kn_o] += kn_steps * kn_down.at[kn_o];
    };

    const auto kn_fold_piece_of_row = [&](kn_place &kn_row, long long kn_left, const long long kn_rest) {
        int kn_new = 0;
        /* What is stored is not read again at once: processors would wait for it. */
        const auto kn_fold_next = [&](auto kn_n, auto kn_order) {
            if (kn_order.is && kn_new == 0) {
                kn_steps_before = 0;
                for (int kn_k = 0; kn_k < kn_lanes; ++kn_k)
                    kn_first_index[kn_k] = (${index})(${first}) + kn_k;
                __asm__("" : "+m"(kn_first_index));
            }
            kn_fold_loop(kn_n, kn_bool<false>(), kn_order, kn_side + (kn_top + kn_new) * kn_most, kn_row, kn_most);
            kn_go_down(kn_row, kn_n.count);
            kn_left -= kn_n.count;
            kn_steps_before += kn_n.count;
            if (++kn_new == kn_series) {
                kn_pair_up(kn_new);
                kn_new = 0;
            }
        };
        while (kn_is_ordered && kn_left >= kn_depth)
            kn_fold_next(kn_some_steps<kn_depth>(), kn_bool<kn_orders>());
        if constexpr (kn_orders && kn_depth > 16)
            while (kn_is_ordered && kn_left >= kn_depth / 4)
                kn_fold_next(kn_some_steps<kn_depth / 4>(), kn_bool<kn_orders>());
        while (kn_is_ordered && kn_left >= 4)
            kn_fold_next(kn_some_steps<4>(), kn_bool<kn_orders>());
        while (kn_left > 0)
            kn_fold_next(kn_some_steps<1>(), kn_bool<false>());
        if (kn_rest > 0) {
            ${type} *const kn_to = kn_side + (kn_top + kn_new) * kn_most;
            kn_fold_loop(kn_some_steps<1>(), kn_bool<false>(), kn_bool<false>(), kn_to, kn_row, kn_rest);
            if (kn.steps > 0)
                kn_fold_pair(kn_to - kn_most, kn_to, kn_rest);
            else
                ++kn_new;
        }
        if (kn_new > 0)
            kn_pair_up(kn_new);
    };
    const auto kn_fold_piece_of_results = [&](kn_place &kn_row, long long kn_left, const long long kn_rest, const long long kn_count) {
        for (; kn_is_ordered && kn_left >= kn_depth; kn_left -= kn_depth, kn_top = 1) {
            kn_fold_steps(kn_some_steps<kn_depth>(), kn_bool<kn_orders>(), kn_side, kn_row, kn_live, kn_top == 0);
            kn_go_down(kn_row, kn_depth);
        }
        for (; kn_left > 0; --kn_left, kn_top = 1) {
            kn_fold_steps(kn_some_steps<1>(), kn_bool<false>(), kn_side, kn_row, kn_live, kn_top == 0);
            kn_go_down(kn_row, 1);
        }
        if (kn_rest > 0)
            kn_fold_steps(kn_some_steps<1>(), kn_bool<false>(), kn_side, kn_row, kn_rest * kn_count, false);
    };

    for (long long kn_unit = kn_begin; kn_unit < kn_end; ++kn_unit) {
        /* Results from kn_first on, of which there are kn_count, and a chunk of what is folded into them. */
        const long long kn_result = kn_unit / kn.chunks, kn_chunk = kn_unit - kn_result * kn.chunks;
        const long long kn_run = kn_by_rows ? 1 : kn.axis[kn.fold_rank].extent, kn_blocks = (kn_run + kn.width - 1) / kn.width;
        const long long kn_outer = kn_by_rows ? kn_result : kn_result / kn_blocks, kn_from = (kn_result - kn_outer * kn_blocks) * kn.width;
        const long long kn_count = kn_run - kn_from < kn.width ? kn_run - kn_from : kn.width;
        const long long kn_first = kn_outer * kn_run + kn_from;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn_by_rows ? kn.fold_rank : kn.fold_rank + 1, kn.rank, kn_outer);
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_here.at[kn_o] += kn_from * kn_along.at[kn_o];

        kn_top = 0;
        kn_turn = 0;
        kn_live = !kn_by_rows ? kn_count * kn.groups : kn.steps > 0 ? kn_lanes : kn.rest;
        const long long kn_whole = kn.rows * kn.pieces, kn_stop = kn_chunk + 1 < kn.chunks ? (kn_chunk + 1) * kn.chunk : kn_whole;
        for (long long kn_p = kn_chunk * kn.chunk; kn_p < kn_stop; ++kn_p) {
            const long long kn_r = kn_p / kn.pieces, kn_part = kn_p - kn_r * kn.pieces;
            const long long kn_start = kn_part * kn.piece, kn_left = kn.steps - kn_start < kn.piece ? kn.steps - kn_start : kn.piece;
            const long long kn_rest = kn_part + 1 < kn.pieces ? 0 : kn.rest;
            kn_place kn_row = kn_here;
            kn_move(kn_row, kn, 1, kn.fold_rank, kn_r);
            kn_go_down(kn_row, kn_start);
            if (kn_by_rows)
                kn_fold_piece_of_row(kn_row, kn_left, kn_rest);
            else
                kn_fold_piece_of_results(kn_row, kn_left, kn_rest, kn_count);
        }
        while (kn_top > 1) {
            --kn_top;
            kn_fold_pair(kn_side + (kn_top - 1) * kn_most, kn_side + kn_top * kn_most, kn_live);
        }
        const bool kn_some = kn_top > 0;
        if (kn_by_rows && kn_live == kn_lanes) {
            for (int kn_half = kn_lanes / 2; kn_half > 0; kn_half /= 2)
                kn_fold_pair(kn_side, kn_side + kn_half, kn_half);
        } else if (kn_some) {
            kn_fold_groups(kn_side, kn_live / kn_count, kn_count);
        }

        ${type} *kn_results = kn_side;
        if (kn.chunks > 1) {
            kn_results = (${type} *)kn.partials + kn_first * kn.chunks;
            for (long long kn_k = 0; kn_k < kn_count; ++kn_k)
                kn_results[kn_chunk * kn_count + kn_k] = kn_side[kn_k];
            if (__atomic_add_fetch(&kn.counters[kn_result], 1u, __ATOMIC_ACQ_REL) < kn.chunks)
                continue;
            kn.counters[kn_result] = 0;
            kn_fold_groups(kn_results, kn.chunks, kn_count);
        }
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
            ${type} ${result} = kn_results[kn_k];
            ${empty}
            ${stores}
        }
    }
    ${after_loop}
}
