${head}
${axes}

enum {
    kn_across = 32,  /* neighbours side by side, which the compiler makes vectors of */
    kn_series = 64 /* of which so many are folded one by one, before they are folded with those before: rounding errors do not add up */
};

template <class kn_t> struct kn_referred;
template <class kn_t> struct kn_referred<kn_t &> { typedef kn_t type; };

/* What neighbours are folded to: of the last series, and of those before. */
template <class kn_t> struct kn_sides {
    kn_t near[kn_across], far[kn_across];
    int in_near = 0, in_far = 0; /* how many of them hold a value, */
    int turns = 0;               /* and of how many turns the near ones are */
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
static __forceinline__ void kn_fold_run(kn_sides<kn_t> &kn_s, const long long kn_length, const kn_get_t &kn_get, const kn_both_t &kn_both)
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
    /* What is left at the end. */
    const int kn_rest = (int)(kn_length - kn_first);
    for (int kn_k = 0; kn_k < kn_rest; ++kn_k)
        kn_s.near[kn_k] = kn_k < kn_s.in_near ? kn_both(kn_s.near[kn_k], kn_get(kn_first + kn_k)) : kn_get(kn_first + kn_k);
    if (kn_rest > 0)
        ++kn_s.turns;
    kn_s.in_near = kn_rest > kn_s.in_near ? kn_rest : kn_s.in_near;
    if (kn_s.turns >= kn_series)
        kn_end_series(kn_s, kn_both);
}

template <class kn_t, class kn_both_t>
static __forceinline__ void kn_fold_sides(kn_sides<kn_t> &kn_s, kn_t &kn_to, const kn_both_t &kn_both)
{
    if (kn_s.in_near > 0)
        kn_end_series(kn_s, kn_both);
    for (int kn_half = kn_across / 2; kn_half > 0; kn_half /= 2)
        for (int kn_k = 0; kn_k < kn_half; ++kn_k)
            if (kn_k + kn_half < kn_s.in_far)
                kn_s.far[kn_k] = kn_both(kn_s.far[kn_k], kn_s.far[kn_k + kn_half]);
    kn_to = kn_s.far[0];
}

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    const kn_clean_up kn_at_end;
    ${values}
    ${loop_prep}
    ${element}
    const long long kn_length = kn.length;
    ${item}

    for (long long kn_result = kn_begin; kn_result < kn_end; ++kn_result) {
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.fold_rank, kn.rank, kn_result);
        const bool kn_is_empty = kn.rows * kn_length == 0;
        (void)kn_is_empty;
        /* All that is reduced to this result, by runs along the innermost axis. */
        const auto kn_each_run = [&](const auto &kn_one) __attribute__((always_inline)) {
            for (long long kn_r = 0; kn_r < kn.rows; ++kn_r) {
                kn_place kn_from = kn_here;
                kn_move(kn_from, kn, 1, kn.fold_rank, kn_r);
                kn_one(kn_from, kn_r * kn_length);
            }
        };
        const auto kn_fold_runs = [&](auto &kn_to, const auto &kn_run, const auto &kn_both) __attribute__((always_inline)) {
            kn_sides<typename kn_referred<decltype(kn_to)>::type> kn_s;
            kn_each_run([&](const kn_place &kn_from, const long long kn_base) __attribute__((always_inline)) {
                kn_run(kn_from, kn_base, [&](const auto &kn_get) __attribute__((always_inline)) { kn_fold_run(kn_s, kn_length, kn_get, kn_both); });
            });
            kn_fold_sides(kn_s, kn_to, kn_both);
        };
        ${row}
        ${levels}
        ${stores}
    }
    ${after_loop}
}
