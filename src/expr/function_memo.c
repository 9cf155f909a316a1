/* Rows of functions by name, and kernels of their calls by key. Entries are added and never taken away:
 * readers need no lock, and calls no reference. */
#include "expr/function_memo.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/lock.h"
#include "base/unload.h"

/* ---- rows ---- */

enum { SLOTS = 1024 /* more than twice the rows */ };

static kn_function_row *rows;
static int n_rows, slots[SLOTS]; /* slots: 1 + the row */
static atomic_bool rows_are_made;

static kn_function_role role_of(const kn_composed_params *of, int k)
{
    static const kn_function_role roles[] = {[KN_OF_VALUE] = KN_ROLE_VALUE,
                                             [KN_OF_WHOLE] = KN_ROLE_WHOLE,
                                             [KN_OF_WORD] = KN_ROLE_WORD,
                                             [KN_OF_ARRAYS] = KN_ROLE_ARRAYS,
                                             [KN_OF_WHOLES] = KN_ROLE_WHOLES};
    const bool is_axis = of->kind[k] != KN_OF_WHOLE && strcmp(of->name[k], "axis") == 0;
    return is_axis || strcmp(of->name[k], "keepdims") == 0                   ? KN_ROLE_OPTION
           : of->kind[k] == KN_OF_VALUE && strcmp(of->name[k], "dtype") == 0 ? KN_ROLE_DTYPE
                                                                             : roles[of->kind[k]];
}

static size_t slot_of(const char *name, int n_in)
{
    uint64_t hash = 14695981039346656037u;
    for (const char *c = name; *c; ++c)
        hash = (hash ^ (unsigned char)*c) * 1099511628211u;
    hash = (hash ^ (uint64_t)(unsigned)n_in) * 1099511628211u;
    return (size_t)(hash >> 20) % SLOTS;
}

static const kn_function_row *find_row(const char *name, int n_in)
{
    for (size_t s = slot_of(name, n_in); slots[s]; s = (s + 1) % SLOTS) {
        const kn_function_row *r = &rows[slots[s] - 1];
        if (r->n_in == n_in && strcmp(r->row->name, name) == 0)
            return r;
    }
    return NULL;
}

/* has_rest: with the parameters that functions of kiln/ops.h do without, unless another row has as many. */
static void add_row(const kn_composed *composed, bool has_rest)
{
    kn_function_row *r = &rows[n_rows];
    *r = (kn_function_row){.row = composed};
    kn_composed_read(&r->of, composed->params);
    if (has_rest && r->of.n_names == r->of.count)
        return;
    r->of.count = has_rest ? r->of.n_names : r->of.count;
    for (int p = 0; p < r->of.count; ++p) {
        r->role[p] = role_of(&r->of, p);
        r->n_in += r->role[p] != KN_ROLE_OPTION;
    }
    if (has_rest && find_row(composed->name, r->n_in))
        return;
    size_t s = slot_of(composed->name, r->n_in);
    while (slots[s])
        s = (s + 1) % SLOTS;
    slots[s] = ++n_rows;
}

static void make_rows(void)
{
    int count = 0;
    while (kn_composed_at(count))
        ++count;
    rows = kn_calloc(2 * (size_t)count, sizeof *rows);
    for (int k = 0; k < 2 * count && rows; ++k)
        add_row(kn_composed_at(k % count), k >= count);
}

const kn_function_row *kn_function_row_at(int k)
{
    return kn_lock_once(&rows_are_made, KN_LOCK_MAPPED, make_rows) && k < n_rows ? &rows[k] : NULL;
}

const kn_function_row *kn_function_row_find(const char *name, int n_in)
{
    return kn_function_row_at(0) ? find_row(name, n_in) : NULL;
}

/* ---- keys ---- */

static void add_word(kn_function_call *c, int64_t word)
{
    if (c->n_words == KN_FUNCTION_WORDS)
        c->is_odd = true;
    else
        c->word[c->n_words++] = word;
}

static void add_input(kn_function_call *c, const kiln_arg *in)
{
    if (c->n_in == KN_MAX_PARAMS - 1)
        c->is_odd = true;
    else
        c->in[c->n_in++] = *in;
}

enum { ABSENT = -1, ALONE = -2 };

static void read_whole(kn_function_call *c, const kiln_arg *in)
{
    c->is_odd |= in->kind != KILN_ARG_WEAK_INT && in->kind != KILN_ARG_WEAK_BOOL;
    add_word(c, in->value.i);
}

static void read_word(kn_function_call *c, const kiln_arg *in)
{
    int64_t letters[2] = {0, 0};
    const bool is_there = in->kind == KILN_ARG_STRUCT && in->value.pod.data;
    c->is_odd |= in->kind != KILN_ARG_NONE && in->kind != KILN_ARG_STRUCT;
    if (is_there && in->value.pod.size <= sizeof letters)
        memcpy(letters, in->value.pod.data, in->value.pod.size);
    else
        c->is_odd |= is_there;
    add_word(c, is_there ? (int64_t)in->value.pod.size : ABSENT);
    add_word(c, letters[0]);
    add_word(c, letters[1]);
}

/* True if a list is there, with a whole number of items. */
static bool read_list(kn_function_call *c, const kiln_arg *in, size_t size)
{
    const bool is_list = in->kind == KILN_ARG_STRUCT && in->value.pod.data && in->value.pod.size % size == 0;
    c->is_odd |= in->kind == KILN_ARG_STRUCT && in->value.pod.data && !is_list;
    if (is_list)
        add_word(c, (int64_t)(in->value.pod.size / size));
    return is_list;
}

static void read_arrays(kn_function_call *c, const kiln_arg *in)
{
    const kiln_arg *item = in->value.pod.data;
    if (!read_list(c, in, sizeof *item)) {
        c->is_odd = true;
        return;
    }
    for (size_t k = 0; k < in->value.pod.size / sizeof *item && !c->is_odd; ++k)
        add_input(c, &item[k]);
}

static void read_wholes(kn_function_call *c, const kiln_arg *in)
{
    const int64_t *item = in->value.pod.data;
    if (in->kind == KILN_ARG_WEAK_INT) {
        add_word(c, ALONE);
        add_word(c, in->value.i);
    } else if (read_list(c, in, sizeof *item)) {
        for (size_t k = 0; k < in->value.pod.size / sizeof *item && !c->is_odd; ++k)
            add_word(c, item[k]);
    } else {
        add_word(c, ABSENT);
    }
}

void kn_function_call_read(kn_function_call *c, const kn_function_row *row, const kiln_arg *in,
                           const kiln_call_options *o)
{
    c->n_words = c->n_in = 0;
    c->is_odd = false;
    add_word(c, (int64_t)(row - rows));
    add_word(c, (o->axes ? o->n_axes : ABSENT) * 2 + ((o->flags & KILN_CALL_KEEPDIMS) != 0));
    for (int a = 0; o->axes && a < o->n_axes && !c->is_odd; ++a)
        add_word(c, o->axes[a]);
    for (int p = 0; p < row->of.count; ++p) {
        switch (row->role[p]) {
        case KN_ROLE_VALUE:
            add_word(c, in->kind != KILN_ARG_NONE);
            if (in->kind != KILN_ARG_NONE)
                add_input(c, in);
            break;
        case KN_ROLE_DTYPE:
        case KN_ROLE_WHOLE:
            read_whole(c, in);
            break;
        case KN_ROLE_WORD:
            read_word(c, in);
            break;
        case KN_ROLE_ARRAYS:
            read_arrays(c, in);
            break;
        case KN_ROLE_WHOLES:
            read_wholes(c, in);
            break;
        case KN_ROLE_OPTION:
            continue;
        }
        ++in;
    }
}

/* ---- kernels ---- */

enum { BUCKETS = 1024, MOST_ENTRIES = 8192 };

typedef struct entry {
    struct entry *next;
    kiln_kernel *kernel;
    const kn_graph *views;
    int n_words;
    int64_t word[];
} entry;

static _Atomic(entry *) bucket[BUCKETS];
static atomic_int n_entries;

static _Atomic(entry *) *bucket_of(const kn_function_call *c)
{
    uint64_t hash = 0;
    for (int k = 0; k < c->n_words; ++k)
        hash = (hash ^ (uint64_t)c->word[k]) * 0x9e3779b97f4a7c15u;
    return &bucket[hash >> 54];
}

static entry *find(entry *first, const kn_function_call *c)
{
    while (first && (first->n_words != c->n_words ||
                     memcmp(first->word, c->word, (size_t)c->n_words * sizeof *c->word) != 0))
        first = first->next;
    return first;
}

kiln_kernel *kn_function_find(const kn_graph **views, const kn_function_call *c)
{
    const entry *e = c->is_odd ? NULL : find(atomic_load_explicit(bucket_of(c), memory_order_acquire), c);
    *views = e ? e->views : NULL;
    return e ? e->kernel : NULL;
}

/* Two threads may remember equal calls: the later entry is found. */
void kn_function_remember(const kn_function_call *c, kiln_kernel *kernel, const kn_graph *views)
{
    const size_t bytes = (size_t)c->n_words * sizeof *c->word;
    if (c->is_odd || atomic_load(&n_entries) >= MOST_ENTRIES)
        return;
    entry *e = kn_malloc(sizeof *e + bytes);
    if (!e)
        return;
    _Atomic(entry *) *to = bucket_of(c);
    e->kernel = kiln_kernel_retain(kernel);
    e->views = views;
    e->n_words = c->n_words;
    memcpy(e->word, c->word, bytes);
    e->next = atomic_load(to);
    while (!atomic_compare_exchange_weak(to, &e->next, e))
        ;
    atomic_fetch_add(&n_entries, 1);
}

__attribute__((destructor(KN_UNLOAD_KERNEL))) static void unload(void)
{
    if (kn_unload_is_exit())
        return;
    for (int b = 0; b < BUCKETS; ++b) {
        entry *next = atomic_exchange(&bucket[b], NULL);
        for (entry *e = next; e; e = next) {
            next = e->next;
            kiln_kernel_free(e->kernel);
            kn_free(e);
        }
    }
    kn_free(rows);
    rows = NULL;
    n_rows = 0;
}
