/* The remembered plans of a kernel, by key. */
#include "kernel/kernel.h"

#include "base/alloc.h"
#include "base/lock.h"

enum { FIRST_SLOTS = 16, MAX_PLANS = 1 << 14 };

/* Open addressing; at most half full. Grown tables replace each other, and readers may still be in an old
 * one: it stays until the memo goes. One lock for all memos: a
 * key is written once. */
typedef struct table {
    struct table *older;
    size_t mask;
    _Atomic(kn_call_plan *) slot[];
} table;

struct kn_call_memo {
    _Atomic(table *) table;
    size_t count;
};

static table *make_table(size_t slots, table *older)
{
    table *t = kn_calloc(1, sizeof *t + slots * sizeof t->slot[0]);
    if (!t)
        return NULL;
    t->older = older;
    t->mask = slots - 1;
    return t;
}

kn_call_memo *kn_call_memo_create(void)
{
    kn_call_memo *memo = kn_calloc(1, sizeof *memo);
    table *t = make_table(FIRST_SLOTS, NULL);
    if (!memo || !t) {
        kn_free(memo);
        kn_free(t);
        return NULL;
    }
    atomic_init(&memo->table, t);
    return memo;
}

void kn_call_memo_free(kn_call_memo *memo)
{
    if (!memo)
        return;
    table *t = atomic_load_explicit(&memo->table, memory_order_acquire);
    for (size_t s = 0; s <= t->mask; ++s)
        kn_call_plan_free(atomic_load_explicit(&t->slot[s], memory_order_relaxed));
    while (t) {
        table *older = t->older;
        kn_free(t);
        t = older;
    }
    kn_free(memo);
}

/* Keys are short. */
static bool are_same(const int64_t *a, const int64_t *b, size_t words)
{
    size_t w = 0;
    while (w < words && a[w] == b[w])
        ++w;
    return w == words;
}

const kn_call_plan *kn_call_memo_find(const kn_call_memo *memo, const int64_t *key, size_t words,
                                      uint64_t hash)
{
    const table *t = atomic_load_explicit(&memo->table, memory_order_acquire);
    for (size_t s = hash & t->mask;; s = (s + 1) & t->mask) {
        const kn_call_plan *plan = atomic_load_explicit(&t->slot[s], memory_order_acquire);
        if (!plan)
            return NULL;
        if (plan->hash == hash && plan->key_words == words && are_same(plan->key, key, words))
            return plan;
    }
}

static void place(table *t, kn_call_plan *plan)
{
    size_t s = plan->hash & t->mask;
    while (atomic_load_explicit(&t->slot[s], memory_order_relaxed))
        s = (s + 1) & t->mask;
    atomic_store_explicit(&t->slot[s], plan, memory_order_release);
}

static bool make_space(kn_call_memo *memo)
{
    table *t = atomic_load_explicit(&memo->table, memory_order_relaxed);
    if (memo->count == MAX_PLANS)
        return false;
    if ((memo->count + 1) * 2 <= t->mask + 1)
        return true;
    table *grown = make_table(2 * (t->mask + 1), t);
    if (!grown)
        return false;
    for (size_t s = 0; s <= t->mask; ++s) {
        kn_call_plan *plan = atomic_load_explicit(&t->slot[s], memory_order_relaxed);
        if (plan)
            place(grown, plan);
    }
    atomic_store_explicit(&memo->table, grown, memory_order_release);
    return true;
}

const kn_call_plan *kn_call_memo_put(kn_call_memo *memo, kn_call_plan *plan)
{
    kn_lock_take(KN_LOCK_MEMOS);
    const kn_call_plan *stored = kn_call_memo_find(memo, plan->key, plan->key_words, plan->hash);
    if (stored) {
        kn_call_plan_free(plan);
    } else if (make_space(memo)) {
        place(atomic_load_explicit(&memo->table, memory_order_relaxed), plan);
        ++memo->count;
        stored = plan;
    }
    kn_lock_give(KN_LOCK_MEMOS);
    return stored;
}
