${head}
${axes}

enum {
    kn_across = 32,  /* lanes: the compiler vectorises loops over them */
    kn_short = 8,    /* lanes for shorter rows; still shorter ones have one */
    kn_series = 64 /* turns of one series; series are reduced pairwise, so that rounding errors do not add up */
};

template <class kn_t> struct kn_referred;
template <class kn_t> struct kn_referred<kn_t &> { typedef kn_t type; };

/* Values of the lanes: of the last series, and of all series before it. */
template <class kn_t> struct kn_sides {
    kn_t near[kn_across], far[kn_across];
    int in_near = 0, in_far = 0; /* lanes that have a value, */
    int turns = 0;               /* and turns in the last series */
};

template <class kn_t, class kn_both_t>
static __forceinline__ void kn_end_series(kn_sides<kn_t> &kn_s, const kn_both_t &kn_both)
{
    for (int kn_k = 0; kn_k < kn_across; ++kn_k)
        if (kn_k < kn_s.in_near)
            kn_s.far[kn_k] = kn_k < kn_s.in_far ? kn_both(kn_s.far[kn_k], kn_s.near[kn_k]) : kn_s.near[kn_k];
    kn_s.in_far = kn_s.in_near > kn_s.in_far ? kn_s.in_near : kn_s.in_far;
    kn_s.in_near = kn_s.turns = 0;
}

template <class kn_t, class kn_get_t, class kn_both_t>
static __forceinline__ void kn_reduce_run(kn_sides<kn_t> &kn_s, const long long kn_length, const kn_get_t &kn_get, const kn_both_t &kn_both)
{
    long long kn_first = 0;
    while (kn_first + kn_across <= kn_length) {
        if (kn_s.turns == kn_series || (kn_s.in_near > 0 && kn_s.in_near < kn_across))
            kn_end_series(kn_s, kn_both);
        kn_t kn_side[kn_across];
        if (kn_s.in_near == 0)
            for (int kn_k = 0; kn_k < kn_across; ++kn_k)
                kn_side[kn_k] = kn_get(kn_first + kn_k);
        else
            for (int kn_k = 0; kn_k < kn_across; ++kn_k)
                kn_side[kn_k] = kn_both(kn_s.near[kn_k], kn_get(kn_first + kn_k));
        for (kn_first += kn_across, ++kn_s.turns; kn_s.turns < kn_series && kn_first + kn_across <= kn_length; kn_first += kn_across, ++kn_s.turns)
KN_INDEPENDENT
            for (int kn_k = 0; kn_k < kn_across; ++kn_k)
                kn_side[kn_k] = kn_both(kn_side[kn_k], kn_get(kn_first + kn_k));
        for (int kn_k = 0; kn_k < kn_across; ++kn_k)
            kn_s.near[kn_k] = kn_side[kn_k];
        kn_s.in_near = kn_across;
    }
    /* The rest at the end. */
    const int kn_rest = (int)(kn_length - kn_first);
    for (int kn_k = 0; kn_k < kn_rest; ++kn_k)
        kn_s.near[kn_k] = kn_k < kn_s.in_near ? kn_both(kn_s.near[kn_k], kn_get(kn_first + kn_k)) : kn_get(kn_first + kn_k);
    if (kn_rest > 0)
        ++kn_s.turns;
    kn_s.in_near = kn_rest > kn_s.in_near ? kn_rest : kn_s.in_near;
    if (kn_s.turns >= kn_series)
        kn_end_series(kn_s, kn_both);
}

/* Reduces the lanes to one value by halves. */
template <int kn_n, class kn_line_t, class kn_both_t> static __forceinline__ void kn_halve(const kn_line_t &kn_far, const kn_both_t &kn_both)
{
    if constexpr (kn_n > 1) {
KN_INDEPENDENT
KN_ROLLED
        for (int kn_k = 0; kn_k < kn_n / 2; ++kn_k)
            kn_far.put(kn_k, kn_both(kn_far.get(kn_k), kn_far.get(kn_k + kn_n / 2)));
        kn_halve<kn_n / 2>(kn_far, kn_both);
    }
}

template <class kn_t, class kn_both_t>
static __forceinline__ void kn_reduce_sides(kn_sides<kn_t> &kn_s, kn_t &kn_to, const kn_both_t &kn_both)
{
    if (kn_s.in_near > 0)
        kn_end_series(kn_s, kn_both);
    for (int kn_half = kn_across / 2; kn_half > 0; kn_half /= 2)
        for (int kn_k = 0; kn_k < kn_half; ++kn_k)
            if (kn_k + kn_half < kn_s.in_far)
                kn_s.far[kn_k] = kn_both(kn_s.far[kn_k], kn_s.far[kn_k + kn_half]);
    kn_to = kn_s.far[0];
}

/* The same for one contiguous range of kn_n lanes or more: without counts, and with the members of structs apart. */
template <int kn_n, class kn_t, class kn_get_t, class kn_both_t>
static __forceinline__ void kn_reduce_one_run(kn_t &kn_to, const long long kn_length, const kn_get_t &kn_get, const kn_both_t &kn_both)
{
    alignas(64) unsigned char kn_storage[3 * kn_n * sizeof(kn_t)];
    const kn_line<kn_t> kn_side(kn_storage, 3 * kn_n);
    for (long long kn_first = 0, kn_turn = 0, kn_far = 0; kn_far >= 0;) {
KN_INDEPENDENT
KN_ROLLED
        for (int kn_k = 0; kn_k < kn_n; ++kn_k)
            kn_side.put(kn_k, kn_get(kn_first + kn_k));
        for (kn_first += kn_n, kn_turn = 1; kn_first + kn_n <= kn_length && kn_turn < kn_series; kn_first += kn_n, ++kn_turn)
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_side.put(kn_k, kn_both(kn_side.get(kn_k), kn_get(kn_first + kn_k)));
        const bool kn_ends = kn_first + kn_n > kn_length;
        /* The rest is loaded as the last lanes of a vector that ends with the range; those of them that were counted before are left out. */
        if (kn_ends && kn_first < kn_length) {
            const int kn_spared = kn_n - (int)(kn_length - kn_first);
            const long long kn_last = kn_length - kn_n;
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_side.put(kn_n + kn_k, kn_both(kn_side.get(kn_k), kn_get(kn_last + kn_k)));
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_side.choose(kn_k, kn_n + kn_k, kn_k >= kn_spared);
        }
        if (kn_far > 0)
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_side.put(kn_k, kn_both(kn_side.get(2 * kn_n + kn_k), kn_side.get(kn_k)));
        if (!kn_ends)
KN_INDEPENDENT
KN_ROLLED
            for (int kn_k = 0; kn_k < kn_n; ++kn_k)
                kn_side.put(2 * kn_n + kn_k, kn_side.get(kn_k));
        kn_far = kn_ends ? -1 : 1;
    }
    kn_halve<kn_n>(kn_side, kn_both);
    kn_to = kn_side.get(0);
}

${begin}
    const long long kn_length = kn.length;
    ${item}

    for (long long kn_result = kn_begin; kn_result < kn_end; ++kn_result) {
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank, kn.rank, kn_result);
        const bool kn_is_empty = kn.rows * kn_length == 0;
        (void)kn_is_empty;
        /* Calls kn_one for all elements of this result, as contiguous ranges along the innermost axis. */
        const auto kn_each_run = [&](const auto &kn_one) __attribute__((always_inline)) {
            for (long long kn_r = 0; kn_r < kn.rows; ++kn_r) {
                kn_place kn_from = kn_here;
                kn_move(kn_from, kn, 1, kn.reduction_rank, kn_r);
                kn_one(kn_from, kn_r * kn_length);
            }
        };
        const auto kn_reduce_runs = [&](auto &kn_to, const auto &kn_run, const auto &kn_both) __attribute__((always_inline)) {
            if (kn.rows == 1 && kn_length > 0) {
                kn_each_run([&](const kn_place &kn_from, const long long kn_base) __attribute__((always_inline)) {
                    kn_run(kn_from, kn_base, [&](const auto &kn_get) __attribute__((always_inline)) {
                        if (kn_length >= kn_across)
                            kn_reduce_one_run<kn_across>(kn_to, kn_length, kn_get, kn_both);
                        else if (kn_length >= kn_short)
                            kn_reduce_one_run<kn_short>(kn_to, kn_length, kn_get, kn_both);
                        else
                            kn_reduce_one_run<1>(kn_to, kn_length, kn_get, kn_both);
                    });
                });
                return;
            }
            kn_sides<typename kn_referred<decltype(kn_to)>::type> kn_s;
            kn_each_run([&](const kn_place &kn_from, const long long kn_base) __attribute__((always_inline)) {
                kn_run(kn_from, kn_base, [&](const auto &kn_get) __attribute__((always_inline)) { kn_reduce_run(kn_s, kn_length, kn_get, kn_both); });
            });
            kn_reduce_sides(kn_s, kn_to, kn_both);
        };
        ${row}
        ${levels}
        ${stores}
    }
    ${after_loop}
}
