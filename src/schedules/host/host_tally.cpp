${head}
${axes}

enum {
    kn_at_a_time = 512, /* elements whose bins are found by vectors */
    kn_is_count = ${is_count},
    kn_copies = 4,         /* of the bins of a count: an element that has the bin of the one before it does not wait for its sum */
    kn_most_copied = 512  /* bins whose copies stay in the nearest cache */
};

${begin}
    typedef ${type} kn_word;
    long long kn_found[kn_at_a_time];
    const long long kn_parts = kn.${result}_.extents[0], kn_n_bins = kn.${result}_.extents[1], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
    const bool kn_is_copied = kn_is_count && kn_n_bins <= kn_most_copied;
    unsigned *const kn_copy = kn_is_copied ? (unsigned *)__builtin_alloca((size_t)(kn_copies * kn_n_bins) * sizeof(unsigned)) : nullptr;
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
        for (long long kn_b = 0; kn_is_copied && kn_b < kn_copies * kn_n_bins; ++kn_b)
            kn_copy[kn_b] = 0;
        for (long long kn_b = 0; kn_b < kn_count; kn_b += kn_at_a_time) {
            const long long kn_end_of = kn_count - kn_b < kn_at_a_time ? kn_count : kn_b + kn_at_a_time;
KN_INDEPENDENT
            for (long long kn_k = kn_b; kn_k < kn_end_of; ++kn_k) {
                ${from}
                ${loads}
                ${single}
                kn_found[kn_k - kn_b] = ${index};
            }
            long long kn_k = kn_b;
            for (; kn_is_copied && kn_k + kn_copies <= kn_end_of; kn_k += kn_copies)
                for (int kn_c = 0; kn_c < kn_copies; ++kn_c)
                    if (const unsigned long long kn_bin_of = (unsigned long long)kn_found[kn_k - kn_b + kn_c]; kn_bin_of < (unsigned long long)kn_n_bins)
                        ++(kn_copy + kn_c * kn_n_bins)[kn_bin_of];
            for (; kn_k < kn_end_of; ++kn_k) {
                ${from}
                ${loads}
                ${index} = kn_found[kn_k - kn_b];
                ${stores}
                if ((unsigned long long)${index} < (unsigned long long)kn_n_bins)
                    kn_bins[${index}] = ${reduce}(kn_bins[${index}], ${mapped});
            }
        }
        for (long long kn_b = 0; kn_is_copied && kn_b < kn_n_bins; ++kn_b)
            for (int kn_c = 0; kn_c < kn_copies; ++kn_c)
                kn_bins[kn_b] = ${reduce}(kn_bins[kn_b], static_cast<kn_word>(kn_copy[kn_c * kn_n_bins + kn_b]));
    }
    ${after_loop}
}
