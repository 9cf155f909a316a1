${head}
struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${pointers}
    ${loop_prep}
    ${element}

    /* Every kn.toy_stride'th element, then those one further, and so on, or the other way round. */
    for (long long kn_turn = 0; kn_turn < kn.toy_stride; ++kn_turn)
        for (long long kn_at = kn_begin + (${toy_backwards} ? kn.toy_stride - 1 - kn_turn : kn_turn); kn_at < kn_end; kn_at += kn.toy_stride) {
            ${single}
        }
    ${after_loop}
}
