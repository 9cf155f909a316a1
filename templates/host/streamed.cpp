${head}
/* Two loops of one that stores the parts of complex numbers are no vectors, and a call of memcpy takes as long as a buffer is worth. (Before g++ 12
 * this would drop the other options.) */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC optimize("no-tree-loop-distribution", "no-tree-loop-distribute-patterns")
#endif

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

    /* Large results go past the caches, whole lines at a time (who calls waits for these stores); what is before the first one and behind the
     * last is done as usual. They are computed into a buffer of some lines, in a loop that compilers make the widest vectors of: one over
     * a single line they write out before they look for vectors. */
    long long kn_first = kn_begin;
    for (int kn_pass = 0; kn_pass <= kn_streams; ++kn_pass) {
        const long long kn_stop = kn_streams && kn_pass == 0 ? kn_whole : kn_end;
${independent}
        for (long long kn_at = kn_first; kn_at < kn_stop; ++kn_at) {
            ${single}
        }
        for (kn_first = kn_stop; kn_first + kn_width <= kn_end;) {
            ${loads}
            const long long kn_left = (kn_end - kn_first) / kn_width;
            const int kn_lines = kn_left < kn_most ? (int)kn_left : kn_most;
${independent}
            for (int kn_k = 0; kn_k < kn_lines * kn_width; ++kn_k) {
                const long long kn_at = kn_first + kn_k;
                ${gather}
                ${lane}
            }
            for (int kn_l = 0; kn_l < kn_lines; ++kn_l, kn_first += kn_width)
                ${stores}
        }
    }
    ${after_loop}
}
