${head}
${axes}

enum { kn_is_across = ${across}, kn_is_exclusive = ${exclusive}, kn_most = ${block_elements} };
enum {
    kn_tile = 32, /* integers that are mapped, scanned by vectors and stored at a time: few enough for registers */
    kn_streams = __is_class(${type}) ? 1 : 8, /* stretches of a row that are scanned at the same time: each step waits for the one before it in its own alone; registers do not hold eight structs */
    kn_shortest = 32   /* elements of such a stretch, at least */
};

${lanes}
${begin}
    typedef ${type} kn_scanned;
    typedef kn_lanes<kn_scanned> kn_of_lanes;
    const bool kn_is_shared = kn.is_parallel && kn_end - kn_begin < kn.units * kn.chunks; /* by threads */
    const long long kn_width = kn_is_across ? kn.width : 1;
    const int kn_inner = kn_is_across ? kn.reduction_rank : 0; /* the axis along which neighbours lie */
    /* A block's values; in front of them one more of each row, which an exclusive scan begins with. What comes before the block. */
    ${type} *const kn_line = (${type} *)__builtin_alloca_with_align((size_t)(kn.width * (kn.chunk + 1)) * sizeof(${type}), 512), *const kn_block = kn_line + kn_width;
    ${type} *const kn_prefix = (${type} *)__builtin_alloca_with_align((size_t)kn.width * sizeof(${type}), 512);
    ${type} *const kn_next = (${type} *)__builtin_alloca_with_align((size_t)kn.width * sizeof(${type}), 512); /* before the next one */

    /* Neighbours from kn_from and kn_begun on are mapped to kn_to, or what is there is stored. */
    const auto kn_map_some = [&](const kn_place &kn_from, const long long kn_begun, ${type} *const kn_to, const long long kn_count) __attribute__((always_inline)) {
        ${pointers}
KN_INDEPENDENT
        for (long long kn_k = kn_begun; kn_k < kn_begun + kn_count; ++kn_k) {
            ${loads}
            ${single}
            kn_to[kn_k - kn_begun] = ${mapped};
        }
    };
    const auto kn_put_some = [&](const kn_place &kn_from, const long long kn_begun, const ${type} *const kn_of, const long long kn_count) __attribute__((always_inline)) {
        ${from}
KN_INDEPENDENT
        for (long long kn_k = kn_begun; kn_k < kn_begun + kn_count; ++kn_k) {
            const ${type} ${result} = kn_of[kn_k - kn_begun];
            ${stores}
        }
    };
    const auto kn_fill = [&](const kn_place &kn_from, ${type} *const kn_to, const long long kn_count) __attribute__((noinline)) { kn_map_some(kn_from, 0, kn_to, kn_count); };
    const auto kn_put = [&](const kn_place &kn_from, const ${type} *const kn_of, const long long kn_count) __attribute__((noinline)) { kn_put_some(kn_from, 0, kn_of, kn_count); };
    /* Elements from kn_first on, kn_count of them, of kn_rows rows from kn_here on: neighbours, and the place of the first in the block. */
    const auto kn_each_line = [&](const kn_place &kn_here, const long long kn_first, const long long kn_count, const long long kn_rows, const auto &kn_one) {
        const long long kn_extent = kn.axis[0].extent;
        for (long long kn_at = 0; kn_at < kn_count;) {
            const long long kn_run = (kn_first + kn_at) / kn_extent, kn_in = kn_first + kn_at - kn_run * kn_extent;
            const long long kn_left = kn_extent - kn_in < kn_count - kn_at ? kn_extent - kn_in : kn_count - kn_at;
            kn_place kn_from = kn_here;
            kn_move(kn_from, kn, 1, kn.reduction_rank, kn_run);
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_from.at[kn_o] += kn_in * kn.axis[0].stride[kn_o];
            if (!kn_is_across)
                kn_one(kn_from, kn_at, kn_left);
            for (long long kn_j = 0; kn_is_across && kn_j < kn_left; ++kn_j) {
                kn_one(kn_from, (kn_at + kn_j) * kn_width, kn_rows);
                for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                    kn_from.at[kn_o] += kn.axis[0].stride[kn_o];
            }
            kn_at += kn_left;
        }
    };

    /* The block by itself, in place. Along a row by several streams, whose sums are left to kn_combine. */
    const auto kn_stretch = [&](const long long kn_count) { return !kn_is_across && kn_count >= kn_streams * kn_shortest ? kn_count / kn_streams : kn_count; };
    const auto kn_scan_block = [&](const long long kn_count, const long long kn_rows) __attribute__((noinline)) {
        if (kn_is_across) {
            for (long long kn_j = 1; kn_j < kn_count; ++kn_j) {
                ${type} *const kn_now = kn_block + kn_j * kn_width;
KN_INDEPENDENT
                for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                    kn_now[kn_k] = ${reduce}((kn_now - kn_width)[kn_k], kn_now[kn_k]);
            }
            return;
        }
        long long kn_each = kn_stretch(kn_count), kn_from = 1;
        if (kn_each < kn_count) {
            ${type} kn_sum[kn_streams];
            for (int kn_s = 0; kn_s < kn_streams; ++kn_s)
                kn_sum[kn_s] = kn_block[kn_s * kn_each];
            for (long long kn_j = 1; kn_j < kn_each; ++kn_j)
#if !defined(__clang__)
#pragma GCC unroll 8
#endif
                for (int kn_s = 0; kn_s < kn_streams; ++kn_s) {
                    kn_sum[kn_s] = ${reduce}(kn_sum[kn_s], kn_block[kn_s * kn_each + kn_j]);
                    kn_block[kn_s * kn_each + kn_j] = kn_sum[kn_s];
                }
            kn_from = kn_streams * kn_each;
        }
        for (long long kn_j = kn_from; kn_j < kn_count; ++kn_j) /* all of it, or what the last stream has left */
            kn_block[kn_j] = ${reduce}(kn_block[kn_j - 1], kn_block[kn_j]);
    };
    /* Where a stream of kn_scan_block ends: the last one has what is left. */
    const auto kn_stretch_end = [&](const long long kn_begun, const long long kn_each, const long long kn_count) { return kn_begun + 2 * kn_each <= kn_count ? kn_begun + kn_each : kn_count; };
    /* The sums of the block, by row. */
    const auto kn_sum_block = [&](${type} *const kn_sum, const long long kn_count, const long long kn_rows) {
        if (kn_is_across) {
            for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                kn_sum[kn_k] = kn_block[(kn_count - 1) * kn_width + kn_k];
            return;
        }
        const long long kn_each = kn_stretch(kn_count);
        for (long long kn_begun = 0; kn_begun < kn_count;) {
            const long long kn_stop = kn_stretch_end(kn_begun, kn_each, kn_count);
            kn_sum[0] = kn_begun == 0 ? kn_block[kn_stop - 1] : ${reduce}(kn_sum[0], kn_block[kn_stop - 1]);
            kn_begun = kn_stop;
        }
    };
    /* Each element of the block is combined with its prefix. */
    const auto kn_combine = [&](const bool kn_some, const long long kn_count, const long long kn_rows) __attribute__((noinline)) {
        if (kn_is_across) {
            for (long long kn_j = 0; kn_some && kn_j < kn_count; ++kn_j) {
                ${type} *const kn_now = kn_block + kn_j * kn_width;
KN_INDEPENDENT
                for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                    kn_now[kn_k] = ${reduce}(kn_prefix[kn_k], kn_now[kn_k]);
            }
            return;
        }
        const long long kn_each = kn_stretch(kn_count);
        ${type} kn_sum = kn_block[0];
        bool kn_is_sum = false;
        for (long long kn_begun = 0; kn_begun < kn_count;) {
            const long long kn_stop = kn_stretch_end(kn_begun, kn_each, kn_count);
            const ${type} kn_own = kn_block[kn_stop - 1];
            if (kn_some || kn_is_sum) {
                const ${type} kn_before = !kn_is_sum ? kn_prefix[0] : kn_some ? ${reduce}(kn_prefix[0], kn_sum) : kn_sum;
KN_INDEPENDENT
                for (long long kn_j = kn_begun; kn_j < kn_stop; ++kn_j)
                    kn_block[kn_j] = ${reduce}(kn_before, kn_block[kn_j]);
            }
            kn_sum = kn_is_sum ? ${reduce}(kn_sum, kn_own) : kn_own;
            kn_is_sum = true;
            kn_begun = kn_stop;
        }
    };

    /* Integers along a row, by vectors, behind kn_prefix if there is something: mapped, combined with what comes before them, and stored. */
    const auto kn_run = [&](const kn_place &kn_from, const bool kn_some, const long long kn_count) __attribute__((noinline)) {
        alignas(64) kn_scanned kn_own[kn_tile], kn_here[kn_tile + kn_of_lanes::kn_count], *const kn_all = kn_here + kn_of_lanes::kn_count;
        kn_map_some(kn_from, 0, kn_own, 1);
        kn_of_lanes kn_lane(kn_some ? kn_prefix[0] : kn_of_lanes::neutral(kn_own[0]));
        kn_all[-1] = kn_some ? kn_prefix[0] : ${identity};
        long long kn_k = 0;
        for (; kn_k + kn_tile <= kn_count; kn_k += kn_tile) {
            kn_map_some(kn_from, kn_k, kn_own, kn_tile);
            for (int kn_l = 0; kn_l < kn_tile; kn_l += kn_of_lanes::kn_count)
                kn_lane.next(kn_all + kn_l, kn_own + kn_l);
            kn_put_some(kn_from, kn_k, kn_all - kn_is_exclusive, kn_tile);
            kn_all[-1] = kn_all[kn_tile - 1];
        }
        kn_prefix[0] = kn_lane.last();
        for (; kn_k < kn_count; ++kn_k) {
            kn_map_some(kn_from, kn_k, kn_own, 1);
            kn_all[0] = kn_prefix[0] = ${reduce}(kn_prefix[0], kn_own[0]);
            kn_put_some(kn_from, kn_k, kn_all - kn_is_exclusive, 1);
            kn_all[-1] = kn_prefix[0];
        }
    };
    /* All of them, combined. */
    const auto kn_sum = [&](const kn_place &kn_from, const long long kn_count) __attribute__((noinline)) {
        alignas(64) kn_scanned kn_own[kn_tile];
        kn_map_some(kn_from, 0, kn_own, 1);
        kn_of_lanes kn_lane(kn_of_lanes::neutral(kn_own[0]));
        long long kn_k = 0;
        for (; kn_k + kn_tile <= kn_count; kn_k += kn_tile) {
            kn_map_some(kn_from, kn_k, kn_own, kn_tile);
            for (int kn_l = 0; kn_l < kn_tile; kn_l += kn_of_lanes::kn_count)
                kn_lane.add(kn_own + kn_l);
        }
        kn_scanned kn_all = kn_lane.added();
        for (; kn_k < kn_count; ++kn_k) {
            kn_map_some(kn_from, kn_k, kn_own, 1);
            kn_all = ${reduce}(kn_all, kn_own[0]);
        }
        return kn_all;
    };

    for (long long kn_u = kn_begin; kn_u < (kn.is_parallel && !kn_is_shared ? kn.units : kn_end); ++kn_u) {
        /* A task that waits for another one has a higher number: that one runs, or has run. */
        const long long kn_task = kn_is_shared ? (long long)__atomic_fetch_add(&kn.counters[0], 1u, __ATOMIC_RELAXED) : kn_u;
        const long long kn_chunk = kn_is_shared ? kn_task / kn.units : 0, kn_of = kn_task - kn_chunk * kn.units;
        const long long kn_outer = kn_of / kn.blocks, kn_beside = (kn_of - kn_outer * kn.blocks) * kn.width;
        const long long kn_rows = kn_is_across ? (kn.run - kn_beside < kn.width ? kn.run - kn_beside : kn.width) : 1;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank + kn_is_across, kn.rank, kn_outer);
        if (kn_is_across)
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_here.at[kn_o] += kn_beside * kn.axis[kn_inner].stride[kn_o];
        ${type} *const kn_published = (${type} *)kn.partials + kn_of * kn.chunks * kn.width;
        for (long long kn_c = kn_chunk; kn_c < (kn_is_shared ? kn_chunk + 1 : kn.chunks); ++kn_c) {
            const long long kn_first = kn_c * kn.chunk, kn_count = kn.length - kn_first < kn.chunk ? kn.length - kn_first : kn.chunk;
            /* Threads that share a row know what a block comes to before they scan it. */
            if (kn_way && kn_is_shared)
                kn_each_line(kn_here, kn_first, kn_count, 1, [&](const kn_place &kn_from, const long long kn_at, const long long kn_n) {
                    const kn_scanned kn_own = kn_sum(kn_from, kn_n);
                    kn_next[0] = kn_at > 0 ? ${reduce}(kn_next[0], kn_own) : kn_own;
                });
            if (!kn_way) {
                kn_each_line(kn_here, kn_first, kn_count, kn_rows, [&](const kn_place &kn_from, const long long kn_at, const long long kn_n) { kn_fill(kn_from, kn_block + kn_at, kn_n); });
                kn_scan_block(kn_count, kn_rows);
                kn_sum_block(kn_next, kn_count, kn_rows);
            }
            if (kn_is_shared && kn_c > 0) {
                kn_await(&kn.counters[1 + kn_of], (unsigned)kn_c);
                for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                    kn_prefix[kn_k] = kn_published[(kn_c - 1) * kn.width + kn_k];
            }
            for (long long kn_k = 0; kn_c > 0 && kn_k < kn_rows && (!kn_way || kn_is_shared); ++kn_k)
                kn_next[kn_k] = ${reduce}(kn_prefix[kn_k], kn_next[kn_k]);
            if (kn_is_shared) {
                for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                    kn_published[kn_c * kn.width + kn_k] = kn_next[kn_k];
                __atomic_store_n(&kn.counters[1 + kn_of], (unsigned)kn_c + 1, __ATOMIC_RELEASE);
            }
            if (kn_way) {
                kn_each_line(kn_here, kn_first, kn_count, 1, [&](const kn_place &kn_from, const long long kn_at, const long long kn_n) { kn_run(kn_from, kn_first + kn_at > 0, kn_n); });
                continue;
            }
            kn_combine(kn_c > 0, kn_count, kn_rows);
            for (long long kn_k = 0; kn_is_exclusive && kn_k < kn_rows; ++kn_k)
                kn_line[kn_k] = kn_c > 0 ? kn_prefix[kn_k] : ${identity};
            kn_each_line(kn_here, kn_first, kn_count, kn_rows, [&](const kn_place &kn_from, const long long kn_at, const long long kn_n) {
                kn_put(kn_from, kn_block + kn_at - (kn_is_exclusive ? kn_width : 0), kn_n);
            });
            for (long long kn_k = 0; kn_k < kn_rows; ++kn_k)
                kn_prefix[kn_k] = kn_next[kn_k];
        }
        /* The last task leaves the counters zero. */
        if (kn_is_shared && (long long)__atomic_add_fetch(&kn.counters[1 + kn.units], 1u, __ATOMIC_ACQ_REL) == kn.units * kn.chunks)
            for (long long kn_k = 0; kn_k < kn.units + 2; ++kn_k)
                kn.counters[kn_k] = 0;
    }
    ${after_loop}
}
