${head}
${axes}

/* The baseline tier of host_row.cpp: loops alone, for kn.in_order, a function of the library (host_row_order.c). */
${loops}

${begin}
    const long long kn_length = kn.length;
    ${item}

    for (long long kn_result = kn_begin; kn_result < kn_end; ++kn_result) {
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank, kn.rank, kn_result);
        const bool kn_is_empty = kn.rows * kn_length == 0;
        (void)kn_is_empty;
        ${row}
        ${levels}
        ${stores}
    }
    ${after_loop}
}
