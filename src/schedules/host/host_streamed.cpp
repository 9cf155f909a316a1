/* Loop distribution would split the loop that stores the parts of complex numbers, and neither half is vectorised; a call of memcpy would take as long as the buffer
 * saves. Threaded jumps, and redundancies that are made to be eliminated, convert both sides of a choice where one is a number, so that bytes are chosen instead of
 * floats: clip to 8 bits takes twice as long. (Before g++ 12 this pragma would drop the other options.) */
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
#pragma GCC optimize("no-tree-loop-distribution", "no-tree-loop-distribute-patterns", "no-thread-jumps", "no-tree-partial-pre")
#endif

${head}
/* Results on their way past the caches. The buffer begins as far behind a cache line as its destination does. */
template <int size> struct kn_lines {
    enum { piece = ${order}, line = 64 }; /* piece: elements of `size` bytes, which always fit behind the rest of a flush; line: bytes */
    alignas(line) char held[piece * size + line];
    char *to = nullptr;            /* destination of the first byte */
    unsigned first = 0, count = 0; /* range of bytes that are held */

    /* The next results are for `place`. */
    void go_on(void *place)
    {
        if (to + count == place)
            return;
        end();
        first = count = (unsigned)((size_t)place % line);
        to = (char *)place - first;
    }
    /* Space for `elements`, at most a piece, behind those before; `left` are still to come in the row. */
    void *take(long long elements, long long left)
    {
        if (left > piece || count + left * size > (long long)sizeof held)
            flush();
        char *place = held + count;
        count += (unsigned)elements * size;
        return place;
    }
    /* Stores partial lines as usual. */
    void put(unsigned from, unsigned until)
    {
        if (from < until)
            __builtin_memcpy(to + from, held + from, until - from);
    }
    /* Stores all whole lines; the rest moves to the front. */
    void flush()
    {
        if (count < line)
            return;
        unsigned at = first > 0 ? line : 0;
        put(first, at);
        for (; at + line <= count; at += line)
            kn_stream(to + at, held + at);
        if (at < count)
            __builtin_memcpy(held, held + at, line); /* some of its end may be unused */
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

/* Prefetches the memory `bytes` behind [from, to). Processors prefetch by themselves only within a page, and not across rows. (Without being inlined, g++ would drop a
 * function that does nothing else.) */
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
    const long long kn_count = kn_end - kn_begin;
    ${values}
    ${pointers}
    ${loop_prep}
    ${element}

    /* Large results are stored past the caches in whole lines, several lines at a time, since alternating reads and writes slow memory down. The caller waits for these
     * stores. */
    ${packs}
    const long long kn_group = kn.row_group < kn.rows ? kn.row_group : kn.rows;
    long long kn_left = kn.rows, kn_in_group = kn_group; /* rows in groups that are left, rows in this group that are left */
    const bool kn_in_pieces = ${until};
    /* Short rows take as long as what is done around them, so that their loop is apart. */
    while (!kn_in_pieces) {
        [[maybe_unused]] const long long kn_first = 0;
        ${stage}
        ${row}
${independent}
        for (long long kn_at = 0; kn_at < kn_count; ++kn_at) {
            ${single}
        }
        ${next}
    }
    while (kn_in_pieces) {
        if (kn_streams) {
            ${step_packs}
        }
        for (long long kn_first = 0; kn_first < kn_count;) {
            long long kn_stop = kn_count;
            ${stage}
            if (kn_count - kn_first > ${order})
                kn_stop = kn_first + ${order};
            if (kn_streams) {
                [[maybe_unused]] const unsigned long long kn_rows_early = kn.how_early < kn_left - kn_group + kn_in_group ? kn.rows_early : 0;
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
        ${next}
    }
    if (kn_streams) {
        ${stores}
    }
    ${after_loop}
}
