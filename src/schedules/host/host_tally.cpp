${head}
${axes}

enum { kn_at_a_time = 512 /* elements whose bins are found by vectors */ };

${begin}
    typedef ${type} kn_word;
    long long kn_found[kn_at_a_time];
    const long long kn_parts = kn.${result}_.extents[0], kn_n_bins = kn.${result}_.extents[1], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
    /* A task has one part in so many, of those that there are bins for. */
    for (long long kn_u = kn_begin; kn_u < kn_end; ++kn_u)
    for (long long kn_part = kn_u; kn_part < kn_parts; kn_part += kn.tasks) {
        const long long kn_first = kn_part * kn_chunk, kn_count = kn.length - kn_first < kn_chunk ? kn.length - kn_first : kn_chunk;
        kn_word *const kn_bins = kn.${result}_.first + kn_part * kn_n_bins;
        kn_place kn_here = {};
        ${locate}
        ${pointers}
        for (long long kn_b = 0; kn_b < kn_n_bins; ++kn_b)
            kn_bins[kn_b] = ${identity};
        for (long long kn_b = 0; kn_b < kn_count; kn_b += kn_at_a_time) {
            const long long kn_end_of = kn_count - kn_b < kn_at_a_time ? kn_count : kn_b + kn_at_a_time;
KN_INDEPENDENT
            for (long long kn_k = kn_b; kn_k < kn_end_of; ++kn_k) {
                ${from}
                ${loads}
                ${single}
                kn_found[kn_k - kn_b] = ${index};
            }
            for (long long kn_k = kn_b; kn_k < kn_end_of; ++kn_k) {
                ${from}
                ${loads}
                ${index} = kn_found[kn_k - kn_b];
                ${stores}
                if ((unsigned long long)${index} < (unsigned long long)kn_n_bins)
                    kn_bins[${index}] = ${reduce}(kn_bins[${index}], ${mapped});
            }
        }
    }
    ${after_loop}
}
