${head}
${axes}
${begin}

    /* Outputs along three axes, of which the first or the last one numbers results, and along the grid's second one. */
    const unsigned kn_at = blockIdx.x * ${block} + threadIdx.x, kn_set = blockIdx.y;
    if (kn_at >= kn.size)
        return;
    const unsigned kn_rest = kn_at / kn.extent[0], kn_a = kn_at - kn_rest * kn.extent[0], kn_c = kn_rest / kn.extent[1], kn_b = kn_rest - kn_c * kn.extent[1];
    const unsigned kn_result = kn.are_near ? kn_a : kn_c;
    unsigned kn_item = kn.in[0] + kn_a * kn.in[1] + kn_b * kn.in[2] + kn_c * kn.in[3] + kn_set * kn.in[4];
    unsigned kn_place_at = kn.place[0] + kn_a * kn.place[1] + kn_b * kn.place[2] + kn_c * kn.place[3] + kn_set * kn.place[4];
    ${type} *const kn_values = reinterpret_cast<${type} *>(kn.partials);
    ${type} ${result};
    kn_place kn_here;
    unsigned kn_q = 0;
#pragma unroll 1
    for (; kn_q < kn.group && kn_place_at < kn.limit; ++kn_q) {
        /* The place of an element; and of a result, which the reduction axes do not move. */
        unsigned kn_index = kn_item;
        kn_here = {};
#pragma unroll 1
        for (unsigned kn_x = 0; kn_x < kn.rank; ++kn_x) {
            kn_index = kn_x == kn.item_rank ? kn_result : kn_index;
            const unsigned kn_outer = kn_index / (unsigned)kn.axis[kn_x].extent;
            const long long kn_steps = kn_index - kn_outer * (unsigned)kn.axis[kn_x].extent;
#pragma unroll
            for (int o = 0; o < ${operands}; ++o)
                kn_here.at[o] += kn_steps * kn.axis[kn_x].stride[o];
            kn_index = kn_outer;
        }
        ${type} kn_next;
        if (kn.is_first) {
            const kn_place &kn_from = kn_here;
            ${single}
            kn_next = ${mapped};
        } else {
            kn_next = kn_values[kn_item];
        }
        ${result} = kn_q == 0 ? kn_next : ${reduce}(${result}, kn_next);
        kn_item += kn.step;
        kn_place_at += kn.place_step;
    }
    if (kn_q == 0)
        return;
    if (kn.is_last) {
        ${stores}
    } else {
        kn_values[kn.out[0] + kn_a * kn.out[1] + kn_b * kn.out[2] + kn_c * kn.out[3] + kn_set * kn.out[4]] = ${result};
    }
    ${after_loop}
}
