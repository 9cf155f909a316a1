${head}
/* Two loops of one that stores the parts of complex numbers are no vectors, and a call of memcpy takes as long as a buffer is worth. (Before g++ 12
 * this would drop the other options.) */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC optimize("no-tree-loop-distribution", "no-tree-loop-distribute-patterns")
#endif

/* Results on their way past the caches, in a buffer that begins as far behind a line as the memory that they go to. */
template <int size> struct kn_lines {
    enum { piece = ${order}, line = 64 }; /* elements of `size` bytes, all of which fit behind what a flush leaves; bytes */
    alignas(line) char held[piece * size + line];
    char *to = nullptr;            /* where its first byte goes */
    unsigned first = 0, count = 0; /* what is held: from the one byte to before the other */

    /* What follows goes there. */
    void go_on(void *place)
    {
        if (to + count == place)
            return;
        end();
        first = count = (unsigned)((size_t)place % line);
        to = (char *)place - first;
    }
    /* Room for `elements`, a piece at most, after those before; so many are to come in the row. */
    void *take(long long elements, long long left)
    {
        if (left > piece || count + left * size > (long long)sizeof held)
            flush();
        char *place = held + count;
        count += (unsigned)elements * size;
        return place;
    }
    /* Stores as usual what begins or ends within a line. */
    void put(unsigned from, unsigned until)
    {
        if (from < until)
            __builtin_memcpy(to + from, held + from, until - from);
    }
    /* All lines that are whole; what is left stands in front then. */
    void flush()
    {
        if (count < line)
            return;
        unsigned at = first > 0 ? line : 0;
        put(first, at);
        for (; at + line <= count; at += line)
            kn_stream(to + at, held + at);
        if (at < count)
            __builtin_memcpy(held, held + at, line); /* of which the end may be nothing */
        to += at;
        count -= at;
        first = 0;
    }
    void end()
    {
        flush();
        put(first, count);
    }
};

/* Asks for what lies so many bytes behind [from, to): processors see what comes within a page alone, and rows that are apart not at all.
 * (A function that does nothing else g++ would drop, were it not inlined.) */
template <class T> static __forceinline__ void kn_ask(const T *from, const T *to, long long bytes)
{
    if (bytes != 0)
        for (size_t at = (size_t)from; at < (size_t)to; at += 64)
            __builtin_prefetch((const void *)(at + bytes));
}

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

    /* Large results go past the caches, whole lines at a time (who calls waits for these stores), and several of them, since memory does not
     * like to be read and stored by turns. */
    ${packs}
    long long kn_in_group = kn.row_group;
    for (long long kn_row = 1;; ++kn_row) {
        if (kn_streams) {
            ${step_packs}
        }
        for (long long kn_first = kn_begin; kn_first < kn_end;) {
            long long kn_stop = kn_end;
            ${stage}
            if (${until}kn_end - kn_first > ${order})
                kn_stop = kn_first + ${order};
            if (kn_streams) {
                const unsigned long long kn_rows_early = kn_row + kn.how_early <= kn.rows ? kn.rows_early : 0;
                ${loads}
            }
            ${widen}
${independent}
            for (long long kn_at = kn_first; kn_at < kn_stop; ++kn_at) {
                ${single}
            }
            ${narrow}
            kn_first = kn_stop;
        }
        if (kn_row >= kn.rows)
            break;
        ${next}
    }
    if (kn_streams) {
        ${stores}
    }
    ${after_loop}
}
