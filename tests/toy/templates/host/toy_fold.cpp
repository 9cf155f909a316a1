${head}
struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${loop_prep}
    ${element}

    for (long long kn_at = kn_begin; kn_at < kn_end; ++kn_at) {
        long long kn_j = 0;
        ${loads}
        for (; kn_j < kn.toy_length; ++kn_j) {
            ${single}
        }
        kn_j = 0;
        ${stores}
    }
    ${after_loop}
}
