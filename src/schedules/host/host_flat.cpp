${head}
struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    const kn_clean_up kn_at_end;
    ${values}
    ${pointers}
    ${loop_prep}
    ${element}

    long long kn_in_group = kn.row_group;
    for (long long kn_row = 1;; ++kn_row) {
${independent}
        for (long long kn_at = kn_begin; kn_at < kn_end; ++kn_at) {
            ${single}
        }
        if (kn_row >= kn.rows)
            break;
        ${next}
    }
    ${after_loop}
}
