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

${independent}
    for (long long kn_at = kn_begin; kn_at < kn_end; ++kn_at) {
        ${single}
    }
    ${after_loop}
}
