${head}
${axes}

${begin}
    typedef ${type} kn_word;
    const long long kn_parts = kn.${result}_.extents[0], kn_n_bins = kn.${result}_.extents[1], kn_chunk = (kn.length + kn_parts - 1) / kn_parts;
    for (long long kn_part = kn_begin; kn_part < kn_end && kn_part < kn_parts; ++kn_part) {
        const long long kn_first = kn_part * kn_chunk, kn_count = kn.length - kn_first < kn_chunk ? kn.length - kn_first : kn_chunk;
        kn_word *const kn_bins = kn.${result}_.first + kn_part * kn_n_bins;
        kn_place kn_here = {};
        ${locate}
        ${pointers}
        for (long long kn_b = 0; kn_b < kn_n_bins; ++kn_b)
            kn_bins[kn_b] = ${identity};
        for (long long kn_k = 0; kn_k < kn_count; ++kn_k) {
            ${from}
            ${loads}
            ${single}
            ${stores}
            if ((unsigned long long)${index} < (unsigned long long)kn_n_bins)
                kn_bins[${index}] = ${reduce}(kn_bins[${index}], ${mapped});
        }
    }
    ${after_loop}
}
