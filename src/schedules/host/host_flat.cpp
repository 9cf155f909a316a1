${head}
struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args kn = *kn_given; /* which no store changes: its numbers stay in registers */
    const kn_clean_up kn_at_end;
    const long long kn_count = kn_end - kn_begin;
    ${values}
    ${pointers}
    ${loop_prep}
    ${element}

    const long long kn_group = kn.row_group < kn.rows ? kn.row_group : kn.rows;
    long long kn_left = kn.rows, kn_in_group = kn_group; /* rows in groups that are left, rows in this group that are left */
    for (;;) {
        ${stage}
        ${row}
${independent}
        for (long long kn_at = 0; kn_at < kn_count; ++kn_at) {
            ${single}
        }
        ${next}
    }
    ${after_loop}
}
