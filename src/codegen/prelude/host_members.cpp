// Values side by side that are reduced, of structs each member by itself.
// needs: kn_line

template <bool kn_is> struct kn_bool {
    enum { is = kn_is };
};

/* ---- the members of a struct ----
 *
 * It has as many as it can be made of pairs of brackets; those of structs of more than 8 are not looked at. It is to be made of as many zeros, and
 * of no more: no array, base or struct is in it, which take several. Fields of bits take less bytes than their type. */
template <int kn_n> struct kn_count : kn_count<kn_n - 1> {
    enum { is = kn_n };
};
template <> struct kn_count<0> {
    enum { is = 0 };
};
template <class kn_t> kn_count<0> kn_brackets(kn_count<0>);
template <class kn_t> auto kn_brackets(kn_count<1>) -> decltype(kn_t{{}}, kn_count<1>());
template <class kn_t> auto kn_brackets(kn_count<2>) -> decltype(kn_t{{}, {}}, kn_count<2>());
template <class kn_t> auto kn_brackets(kn_count<3>) -> decltype(kn_t{{}, {}, {}}, kn_count<3>());
template <class kn_t> auto kn_brackets(kn_count<4>) -> decltype(kn_t{{}, {}, {}, {}}, kn_count<4>());
template <class kn_t> auto kn_brackets(kn_count<5>) -> decltype(kn_t{{}, {}, {}, {}, {}}, kn_count<5>());
template <class kn_t> auto kn_brackets(kn_count<6>) -> decltype(kn_t{{}, {}, {}, {}, {}, {}}, kn_count<6>());
template <class kn_t> auto kn_brackets(kn_count<7>) -> decltype(kn_t{{}, {}, {}, {}, {}, {}, {}}, kn_count<7>());
template <class kn_t> auto kn_brackets(kn_count<8>) -> decltype(kn_t{{}, {}, {}, {}, {}, {}, {}, {}}, kn_count<8>());
template <class kn_t> auto kn_brackets(kn_count<9>) -> decltype(kn_t{{}, {}, {}, {}, {}, {}, {}, {}, {}}, kn_count<9>());

template <class kn_t, int... kn_zero> auto kn_zeros(int) -> decltype(kn_t{kn_zero...}, kn_bool<true>());
template <class kn_t, int... kn_zero> kn_bool<false> kn_zeros(long);
template <class kn_t, int kn_n, int... kn_zero> constexpr bool kn_takes_zeros() {
    if constexpr (kn_n == 0)
        return decltype(kn_zeros<kn_t, kn_zero...>(0))::is;
    else
        return kn_takes_zeros<kn_t, kn_n - 1, kn_zero..., 0>();
}

template <class... kn_u> struct kn_types {
    template <class kn_v> static constexpr long long up(const long long kn_from) {
        return (kn_from + (long long)alignof(kn_v) - 1) / (long long)alignof(kn_v) * (long long)alignof(kn_v) + (long long)sizeof(kn_v);
    }
    static constexpr long long bytes() {
        long long kn_from = 0;
        ((kn_from = up<kn_u>(kn_from)), ...);
        return kn_from;
    }
};
template <int kn_n, class kn_t> auto kn_types_of(kn_t &kn_x) {
    if constexpr (kn_n == 1) {
        auto &[kn_a] = kn_x;
        return kn_types<decltype(kn_a)>();
    } else if constexpr (kn_n == 2) {
        auto &[kn_a, kn_b] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b)>();
    } else if constexpr (kn_n == 3) {
        auto &[kn_a, kn_b, kn_c] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c)>();
    } else if constexpr (kn_n == 4) {
        auto &[kn_a, kn_b, kn_c, kn_d] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c), decltype(kn_d)>();
    } else if constexpr (kn_n == 5) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c), decltype(kn_d), decltype(kn_e)>();
    } else if constexpr (kn_n == 6) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c), decltype(kn_d), decltype(kn_e), decltype(kn_f)>();
    } else if constexpr (kn_n == 7) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f, kn_g] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c), decltype(kn_d), decltype(kn_e), decltype(kn_f), decltype(kn_g)>();
    } else if constexpr (kn_n == 8) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f, kn_g, kn_h] = kn_x;
        return kn_types<decltype(kn_a), decltype(kn_b), decltype(kn_c), decltype(kn_d), decltype(kn_e), decltype(kn_f), decltype(kn_g), decltype(kn_h)>();
    }
}
/* Replaces each member by a function of it, one after the other. */
template <int kn_n, class kn_t, class kn_do_t> __forceinline__ void kn_each_member(kn_t &kn_x, const kn_do_t &kn_do) {
    if constexpr (kn_n == 1) {
        auto &[kn_a] = kn_x;
        kn_a = kn_do(kn_a);
    } else if constexpr (kn_n == 2) {
        auto &[kn_a, kn_b] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b);
    } else if constexpr (kn_n == 3) {
        auto &[kn_a, kn_b, kn_c] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c);
    } else if constexpr (kn_n == 4) {
        auto &[kn_a, kn_b, kn_c, kn_d] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c), kn_d = kn_do(kn_d);
    } else if constexpr (kn_n == 5) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c), kn_d = kn_do(kn_d), kn_e = kn_do(kn_e);
    } else if constexpr (kn_n == 6) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c), kn_d = kn_do(kn_d), kn_e = kn_do(kn_e), kn_f = kn_do(kn_f);
    } else if constexpr (kn_n == 7) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f, kn_g] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c), kn_d = kn_do(kn_d), kn_e = kn_do(kn_e), kn_f = kn_do(kn_f), kn_g = kn_do(kn_g);
    } else if constexpr (kn_n == 8) {
        auto &[kn_a, kn_b, kn_c, kn_d, kn_e, kn_f, kn_g, kn_h] = kn_x;
        kn_a = kn_do(kn_a), kn_b = kn_do(kn_b), kn_c = kn_do(kn_c), kn_d = kn_do(kn_d), kn_e = kn_do(kn_e), kn_f = kn_do(kn_f), kn_g = kn_do(kn_g), kn_h = kn_do(kn_h);
    }
}
/* Values that a program reduces together are one struct, each member of which is a number or such a struct: its members are those of all of them. */
template <class kn_u> struct kn_referent;
template <class kn_u> struct kn_referent<kn_u &> { typedef kn_u type; };
template <class kn_t> auto kn_joined(int) -> decltype((typename kn_t::joined *)0, kn_bool<true>());
template <class kn_t> kn_bool<false> kn_joined(long);
template <class kn_t> constexpr bool kn_is_joined = decltype(kn_joined<kn_t>(0))::is;
template <class kn_u> constexpr bool kn_is_array = false;
template <class kn_u, __SIZE_TYPE__ kn_n> constexpr bool kn_is_array<kn_u[kn_n]> = true;
template <class... kn_u> constexpr bool kn_are_values(kn_types<kn_u...>) {
    return !(kn_is_array<kn_u> || ...);
}

/* 0: there are none that can be copied one by one. */
template <class kn_t> constexpr int kn_member_count() {
    if constexpr (__is_class(kn_t) && __is_aggregate(kn_t) && !__is_empty(kn_t) && __is_standard_layout(kn_t) && __is_trivially_assignable(kn_t &, const kn_t &)) {
        constexpr int kn_n = decltype(kn_brackets<kn_t>(kn_count<9>()))::is;
        if constexpr (kn_n <= 8 && (kn_is_joined<kn_t> || (kn_takes_zeros<kn_t, kn_n>() && !kn_takes_zeros<kn_t, kn_n + 1>()))) {
            typedef decltype(kn_types_of<kn_n>(*(kn_t *)0)) kn_list;
            return kn_are_values(kn_list()) && kn_list::bytes() <= (long long)sizeof(kn_t) ? kn_n : 0;
        }
    }
    return 0;
}

/* The same of the members of those that are such structs themselves. */
template <int kn_n, class kn_t, class kn_do_t> __forceinline__ void kn_each_number(kn_t &kn_x, const kn_do_t &kn_do) {
    if constexpr (kn_is_joined<kn_t>)
        kn_each_member<kn_n>(kn_x, [&](auto &kn_m) __attribute__((always_inline)) -> auto & {
            constexpr int kn_own = kn_member_count<typename kn_referent<decltype(kn_m)>::type>();
            if constexpr (kn_own > 0)
                kn_each_member<kn_own>(kn_m, kn_do);
            else
                kn_m = kn_do(kn_m);
            return kn_m;
        });
    else
        kn_each_member<kn_n>(kn_x, kn_do);
}

/* Values side by side, kn_all in all. Of a struct each member lies by itself: compilers make vectors of such. */
template <class kn_t, int kn_n = kn_member_count<kn_t>()> struct kn_line {
    unsigned char *kn_at;
    long long kn_all;
    kn_line(void *kn_memory, long long kn_buffer) : kn_at((unsigned char *)kn_memory), kn_all(kn_buffer) {}
    /* A member's; kn_from: the bytes of those before it, then of it too. */
    template <class kn_u> __forceinline__ kn_u &next(const kn_u &, const long long kn_k, long long &kn_from) const {
        kn_from = kn_types<>::up<kn_u>(kn_from);
        return ((kn_u *)(kn_at + kn_all * (kn_from - (long long)sizeof(kn_u))))[kn_k];
    }
    __forceinline__ kn_t get(const long long kn_k) const {
        kn_t kn_x;
        long long kn_from = 0;
        kn_each_number<kn_n>(kn_x, [&](const auto &kn_m) __attribute__((always_inline)) -> const auto & { return next(kn_m, kn_k, kn_from); });
        return kn_x;
    }
    __forceinline__ void put(const long long kn_k, kn_t kn_x) const {
        long long kn_from = 0;
        kn_each_number<kn_n>(kn_x, [&](const auto &kn_m) __attribute__((always_inline)) -> const auto & { return next(kn_m, kn_k, kn_from) = kn_m; });
    }
    /* The value at kn_from comes to kn_k, or what is there stays: selects, whatever comes of that. */
    __forceinline__ void choose(const long long kn_k, const long long kn_other, const bool kn_comes) const {
        kn_t kn_x;
        long long kn_from = 0;
        kn_each_number<kn_n>(kn_x, [&](const auto &kn_m) __attribute__((always_inline)) {
            const auto kn_own = &next(kn_m, 0, kn_from);
            const auto kn_stays = kn_own[kn_k], kn_new = kn_own[kn_other];
            kn_own[kn_k] = kn_comes ? kn_new : kn_stays;
            return kn_stays;
        });
    }
};
template <class kn_t> struct kn_line<kn_t, 0> {
    kn_t *kn_at;
    kn_line(void *kn_memory, long long) : kn_at((kn_t *)kn_memory) {}
    __forceinline__ kn_t get(const long long kn_k) const { return kn_at[kn_k]; }
    __forceinline__ void put(const long long kn_k, const kn_t &kn_x) const { kn_at[kn_k] = kn_x; }
    __forceinline__ void choose(const long long kn_k, const long long kn_other, const bool kn_comes) const {
        const kn_t kn_stays = kn_at[kn_k], kn_new = kn_at[kn_other];
        kn_at[kn_k] = kn_comes ? kn_new : kn_stays;
    }
};
