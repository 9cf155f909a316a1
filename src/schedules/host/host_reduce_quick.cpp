${head}
${axes}

/* The baseline tier of host_reduce.cpp: loops alone, for kn.in_order, a function of the library (host_reduce_order.c). */
${loops}

enum { kn_lanes = ${lanes_of_row} };

${begin}
    kn_place kn_along, kn_beside, kn_down;
    for (int kn_o = 0; kn_o < ${operands}; ++kn_o) {
        kn_along.at[kn_o] = kn.axis[kn_lanes > 1 ? 0 : kn.reduction_rank].stride[kn_o];
        kn_beside.at[kn_o] = kn.axis[(kn_lanes == 1 || ${short_rows}) && kn.reduction_rank < (int)kn.rank ? kn.reduction_rank : 0].stride[kn_o];
        kn_down.at[kn_o] = ${short_rows} == 2 ? kn.axis[1].stride[kn_o] : kn.axis[0].stride[kn_o] * kn.groups;
    }

    const auto kn_loop = [&](const kn_call &kn_c) __attribute__((always_inline)) {
        ${type} *const kn_to = (${type} *)kn_c.to;
        const ${type} *const kn_a = (const ${type} *)kn_c.a, *const kn_b = (const ${type} *)kn_c.b;
        for (long long kn_k = 0; kn_k < kn_c.count; ++kn_k) {
            if (kn_c.loop == ${both}) {
                kn_to[kn_k] = ${reduce}(kn_a[kn_k * kn_c.step], kn_b[kn_k * kn_c.step]);
                continue;
            }
            if (kn_c.loop == ${finish}) {
                const kn_place &kn_here = *(const kn_place *)kn_c.place;
                (void)kn_here;
                ${type} ${result} = kn_a[kn_k];
                const bool kn_some = kn_c.steps > 0;
                (void)kn_some;
                ${empty}
                ${stores}
                continue;
            }
            /* Steps in four independent chains, as kn_some_steps has them. */
            const kn_place &kn_row = *(const kn_place *)kn_c.place;
            (void)kn_row;
            const int kn_chains = kn_c.steps < 4 ? kn_c.steps : 4, kn_length = kn_c.steps / kn_chains;
            const bool kn_is_apart = kn_c.steps <= 16;
            ${type} kn_chain[4];
            for (int kn_turn = 0; kn_turn < kn_c.steps; ++kn_turn) {
                ${type} &kn_x = kn_chain[kn_turn % kn_chains];
                const long long kn_j = kn_c.first + (kn_is_apart ? kn_turn % kn_chains * kn_length + kn_turn / kn_chains : kn_turn);
                ${loads}
                ${single}
                kn_x = kn_turn < kn_chains ? ${mapped} : ${reduce}(kn_x, ${mapped}, kn_c.is_ordered);
            }
            for (int kn_by = 1; kn_by < kn_chains; kn_by *= 2)
                for (int kn_c_ = 0; kn_c_ + kn_by < kn_chains; kn_c_ += 2 * kn_by)
                    kn_chain[kn_c_] = ${reduce}(kn_chain[kn_c_], kn_chain[kn_c_ + kn_by], kn_c.is_ordered && kn_is_apart);
            kn_to[kn_k] = kn_a ? ${reduce}(kn_a[kn_k], kn_chain[0], kn_c.is_ordered) : kn_chain[0];
        }
    };
    const kn_loops kn_all = {&kn_loop, [](const void *kn_of, const kn_call *kn_c) { (*(decltype(&kn_loop))kn_of)(*kn_c); },
                             (int)sizeof(${type}), ${operands}, (int)kn.rank, &kn.reduction_rank, kn.axis,
                             kn_lanes, ${short_rows}, ${beside}, ${depth}, ${order}, kn.counters, kn.partials, kn_begin, kn_end};
    kn.in_order(&kn_all);
    ${after_loop}
}
