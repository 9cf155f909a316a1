${head}
struct kn_axis {
    unsigned extent, magic, shift, unused;
    long long stride[${operands}];
};

struct kn_args {
    ${fields}
};

extern "C" __attribute__((visibility("default"))) void ${entry}(const kn_args *kn_given, long long kn_begin, long long kn_end)
{
    const kn_args &kn = *kn_given;
    ${values}
    ${loop_prep}
    ${element}

    long long kn_index = kn_begin;
    while (kn_index < kn_end) {
        /* Where the run along the innermost axis begins; axes stand innermost first. */
        long long kn_rest = kn_index, kn_start[${operands}] = {};
        const long long kn_inner = kn_index % kn.axis[0].extent;
        for (unsigned kn_a = 0; kn_a + 1 < kn.rank; ++kn_a) {
            const long long kn_outer = kn_rest / kn.axis[kn_a].extent, kn_steps = kn_rest - kn_outer * kn.axis[kn_a].extent;
            for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
                kn_start[kn_o] += kn_steps * kn.axis[kn_a].stride[kn_o];
            kn_rest = kn_outer;
        }
        for (int kn_o = 0; kn_o < ${operands}; ++kn_o)
            kn_start[kn_o] += kn_rest * kn.axis[kn.rank - 1].stride[kn_o];
        const long long kn_left = kn.axis[0].extent - (kn.rank > 1 ? kn_inner : kn_index);
        const long long kn_run = kn_left < kn_end - kn_index ? kn_left : kn_end - kn_index;
        ${steps}
${independent}
        for (long long kn_at = 0; kn_at < kn_run; ++kn_at) {
            ${single}
        }
        kn_index += kn_run;
    }
    ${after_loop}
}
