/* base/alloc.c - memory from malloc, counted, with a switch by which tests make the nth allocation fail. */
#include "base/alloc.h"
#include "base/shortage.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static atomic_bool is_counting; /* since kn_alloc_fail_at was first called: usually never */
static atomic_ulong made;       /* allocations since it was last called */
static atomic_ullong bytes;     /* that these asked for */
static atomic_long held;        /* allocations that are not freed */
static atomic_ulong fail_nth;   /* 0: none fails */
static atomic_bool fail_forever;

static bool count_allocation(size_t size)
{
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
    unsigned long n = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) + 1;
    unsigned long nth = atomic_load_explicit(&fail_nth, memory_order_relaxed);
    return nth == 0 || (n != nth && !(n > nth && atomic_load(&fail_forever)));
}

static inline bool may_allocate(size_t size)
{
    return !atomic_load_explicit(&is_counting, memory_order_relaxed) || count_allocation(size);
}

bool kn_alloc_may(size_t size)
{
    return may_allocate(size);
}

unsigned long kn_alloc_fail_at(unsigned long nth, int forever)
{
    unsigned long before;
    atomic_store(&fail_nth, 0);
    before = atomic_exchange(&made, 0);
    atomic_store(&bytes, 0);
    atomic_store(&fail_forever, forever != 0);
    atomic_store(&fail_nth, nth);
    atomic_store(&is_counting, true);
    return before;
}

unsigned long long kn_alloc_bytes(void)
{
    return atomic_load(&bytes);
}

long kn_alloc_held(void)
{
    atomic_store(&is_counting, true);
    return atomic_load(&held);
}

static void count_held(long more)
{
    if (atomic_load_explicit(&is_counting, memory_order_relaxed))
        atomic_fetch_add_explicit(&held, more, memory_order_relaxed);
}

static void *noted(void *pointer, size_t size)
{
    if (!pointer)
        kn_shortage_of_memory(size);
    else
        count_held(1);
    return pointer;
}

/* malloc(0) may give NULL, which callers would take for a failure. */
void *kn_malloc(size_t size)
{
    return noted(may_allocate(size) ? malloc(size ? size : 1) : NULL, size);
}

void *kn_calloc(size_t count, size_t size)
{
    if (!may_allocate(count * size))
        return noted(NULL, count * size);
    return noted(count && size ? calloc(count, size) : calloc(1, 1), count * size);
}

void *kn_realloc(void *pointer, size_t size)
{
    void *moved = noted(may_allocate(size) ? realloc(pointer, size ? size : 1) : NULL, size);
    if (moved && pointer)
        count_held(-1);
    return moved;
}

bool kn_grow(void *list, int *capacity, int count, size_t item_size)
{
    enum { FIRST = 16 };
    int more = *capacity ? 2 * *capacity : FIRST;
    void *items;
    if (count < *capacity)
        return true;
    memcpy(&items, list, sizeof items);
    items = kn_realloc(items, (size_t)more * item_size);
    if (!items)
        return false;
    memcpy(list, &items, sizeof items);
    *capacity = more;
    return true;
}

char *kn_strndup(const char *text, size_t length)
{
    char *copy = kn_malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = 0;
    }
    return copy;
}

char *kn_strdup(const char *text)
{
    return kn_strndup(text, strlen(text));
}

void kn_free(void *pointer)
{
    if (pointer)
        count_held(-1);
    free(pointer);
}
