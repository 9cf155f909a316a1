${head}
${axes}

enum { kn_across = ${vector} }; /* rows side by side, which the compiler makes vectors of */

${packs}

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args kn = *kn_given; /* by value: what is stored could be a part of it, for all that compilers know */
    const kn_clean_up kn_at_end;
    ${values}
    ${loop_prep}
    ${element}
    const long long kn_length = kn.length;
    ${item}

    for (long long kn_group = kn_begin; kn_group < kn_end; ++kn_group) {
        /* Rows from kn_first on, kn_count of them, along the innermost of the axes that results have. */
        const long long kn_outer = kn_group / kn.groups, kn_first = (kn_group - kn_outer * kn.groups) * kn_across;
        const int kn_count = kn.run - kn_first < kn_across ? (int)(kn.run - kn_first) : kn_across;
        kn_place kn_here = {};
        kn_move(kn_here, kn, kn.reduction_rank + 1, kn.rank, kn_outer);
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_here.at[kn_o] += kn_first * kn.axis[kn.reduction_rank].stride[kn_o];
        ${row}
        ${levels}
        ${stores}
    }
    ${after_loop}
}
