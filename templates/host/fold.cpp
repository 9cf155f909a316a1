${head}
${axes}

enum {
    kn_lanes = 16,   /* elements that are folded side by side */
    kn_chunk = 2048, /* elements that are folded one behind the other; their results are folded in pairs */
    kn_deep = 64     /* pairs of pairs */
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${loop_prep}
    ${element}

    /* Elements kn_from up to kn_to of a row. */
    const auto kn_fold_some = [&](const kn_place &kn_row, const long long kn_from, const long long kn_to) -> ${type} {
        ${type} kn_side[kn_lanes];
        long long kn_start = kn_from;
        long long kn_count = kn_to - kn_from < kn_lanes ? kn_to - kn_from : kn_lanes;
        for (int kn_k = 0; kn_k < kn_count; ++kn_k) {
            const long long kn_j = kn_start + kn_k;
            ${loads}
            ${single}
            kn_side[kn_k] = ${mapped};
        }
        for (kn_start += kn_count; kn_start + kn_lanes <= kn_to; kn_start += kn_lanes) {
            for (int kn_k = 0; kn_k < kn_lanes; ++kn_k) {
                const long long kn_j = kn_start + kn_k;
                ${loads}
                ${single}
                kn_side[kn_k] = ${fold}(kn_side[kn_k], ${mapped});
            }
        }
        for (int kn_k = 0; kn_start + kn_k < kn_to; ++kn_k) {
            const long long kn_j = kn_start + kn_k;
            ${loads}
            ${single}
            kn_side[kn_k] = ${fold}(kn_side[kn_k], ${mapped});
        }
        for (int kn_half = kn_lanes / 2; kn_half > 0; kn_half /= 2)
            for (int kn_k = 0; kn_k < kn_half && kn_k + kn_half < kn_count; ++kn_k)
                kn_side[kn_k] = ${fold}(kn_side[kn_k], kn_side[kn_k + kn_half]);
        return kn_side[0];
    };

    for (long long kn_at = kn_begin; kn_at < kn_end; ++kn_at) {
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.fold_rank, kn.rank, kn_at);
        ${type} kn_pair[kn_deep];
        int kn_top = 0;
        for (long long kn_turn = 0, kn_r = 0; kn_r < kn.rows; ++kn_r) {
            kn_place kn_row = kn_here;
            kn_move(kn_row, kn, 1, kn.fold_rank, kn_r);
            for (long long kn_from = 0; kn_from < kn.length; kn_from += kn_chunk, ++kn_turn) {
                const long long kn_left = kn.length - kn_from;
                ${type} kn_part = kn_fold_some(kn_row, kn_from, kn_from + (kn_left < kn_chunk ? kn_left : kn_chunk));
                for (long long kn_bits = kn_turn; kn_bits & 1; kn_bits >>= 1)
                    kn_part = ${fold}(kn_pair[--kn_top], kn_part);
                kn_pair[kn_top++] = kn_part;
            }
        }
        const bool kn_some = kn_top > 0;
        ${type} ${result} = kn_pair[kn_some ? kn_top - 1 : 0];
        for (int kn_k = kn_top - 2; kn_k >= 0; --kn_k)
            ${result} = ${fold}(kn_pair[kn_k], ${result});
        ${empty}
        ${stores}
    }
    ${after_loop}
}
