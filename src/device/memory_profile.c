/* The profile of pooled memory: a row for each label, and for each counted block its row. */
#include "device/memory_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "base/map.h"
#include "base/str.h"

typedef struct counted_row {
    kiln_memory_row row;
    char label[]; /* of the row */
} counted_row;

typedef struct counted_block {
    counted_row *row;
    size_t size;
} counted_block;

_Atomic bool kn_memory_profile_is_on;
static _Thread_local const char *thread_label;

static struct {
    kn_map *rows;   /* label -> counted_row; all under KN_LOCK_MEMORY_PROFILE */
    kn_map *blocks; /* address -> counted_block */
} profile;

const char *kiln_memory_set_label(const char *label)
{
    const char *before = thread_label;
    thread_label = label;
    return before;
}

/* ---- counting ---- */

static counted_row *row_of(const char *label)
{
    size_t size = strlen(label) + 1;
    counted_row *r = kn_map_get(profile.rows, label, size);
    if (r || !(r = kn_calloc(1, sizeof *r + size)))
        return r;
    memcpy(r->label, label, size);
    r->row.label = r->label;
    if (kn_map_put(profile.rows, label, size, r))
        return r;
    kn_free(r);
    return NULL;
}

static void count_block(kiln_memory_row *r, size_t size)
{
    r->used_bytes += size;
    r->allocated_bytes += size;
    r->allocations++;
    if (r->used_bytes > r->peak_used_bytes)
        r->peak_used_bytes = r->used_bytes;
}

void kn_memory_profile_add(const void *pointer, size_t size)
{
    kn_lock_take(KN_LOCK_MEMORY_PROFILE);
    counted_block *b = profile.blocks ? kn_malloc(sizeof *b) : NULL;
    counted_row *r = b ? row_of(thread_label ? thread_label : "(no label)") : NULL;
    if (r && kn_map_put(profile.blocks, &pointer, sizeof pointer, b)) {
        *b = (counted_block){r, size};
        count_block(&r->row, size);
    } else {
        kn_free(b);
    }
    kn_lock_give(KN_LOCK_MEMORY_PROFILE);
}

void kn_memory_profile_remove(const void *pointer)
{
    kn_lock_take(KN_LOCK_MEMORY_PROFILE);
    counted_block *b = profile.blocks ? kn_map_remove(profile.blocks, &pointer, sizeof pointer) : NULL;
    if (b)
        b->row->row.used_bytes -= b->size;
    kn_free(b);
    kn_lock_give(KN_LOCK_MEMORY_PROFILE);
}

/* ---- beginning ---- */

static void forget(void)
{
    kn_map_free(profile.rows, kn_free);
    kn_map_free(profile.blocks, kn_free);
    profile.rows = profile.blocks = NULL;
}

kiln_status kiln_memory_set_profile(bool on)
{
    bool done = true;
    kn_lock_take(KN_LOCK_MEMORY_PROFILE);
    if (on) {
        forget();
        profile.rows = kn_map_create();
        profile.blocks = kn_map_create();
        done = profile.rows && profile.blocks;
        if (!done)
            forget();
    }
    atomic_store(&kn_memory_profile_is_on, on && done);
    kn_lock_give(KN_LOCK_MEMORY_PROFILE);
    return done ? KILN_OK : kn_error_memory("the memory profile");
}

/* ---- reading ---- */

typedef struct row_list {
    kiln_memory_row *rows; /* with copies of their labels */
    size_t count;
} row_list;

static bool add_to_list(const void *key, size_t key_size, void *value, void *user)
{
    row_list *list = user;
    kiln_memory_row row = ((counted_row *)value)->row;
    (void)key, (void)key_size;
    if (!(row.label = kn_strdup(row.label)))
        return false;
    list->rows[list->count++] = row;
    return true;
}

static int compare_rows(const void *a, const void *b)
{
    const kiln_memory_row *x = a, *y = b;
    if (x->peak_used_bytes != y->peak_used_bytes)
        return x->peak_used_bytes < y->peak_used_bytes ? 1 : -1;
    return strcmp(x->label, y->label);
}

static void free_list(row_list *list)
{
    for (size_t i = 0; list->rows && i < list->count; i++)
        kn_free((char *)list->rows[i].label);
    kn_free(list->rows);
}

static kiln_status list_rows(row_list *list)
{
    kn_lock_take(KN_LOCK_MEMORY_PROFILE);
    size_t count = profile.rows ? kn_map_count(profile.rows) : 0;
    *list = (row_list){kn_calloc(count ? count : 1, sizeof *list->rows), 0};
    if (list->rows && count)
        kn_map_each(profile.rows, add_to_list, list);
    kn_lock_give(KN_LOCK_MEMORY_PROFILE);
    if (list->rows && list->count == count) {
        qsort(list->rows, count, sizeof *list->rows, compare_rows);
        return KILN_OK;
    }
    free_list(list);
    return kn_error_memory("the memory profile");
}

kiln_status kiln_memory_visit_profile(void (*visit)(const kiln_memory_row *row, void *user), void *user)
{
    row_list list;
    if (!visit)
        return kn_error(KILN_ERROR_INVALID, "kiln_memory_visit_profile: visit is NULL; expected a function");
    kiln_status status = list_rows(&list);
    if (status != KILN_OK)
        return status;
    for (size_t i = 0; i < list.count; i++)
        visit(&list.rows[i], user);
    free_list(&list);
    return KILN_OK;
}

static void write_row(const kiln_memory_row *row, void *user)
{
    kn_str_printf(user, "%14zu %14zu %16llu %12llu  %s\n", row->used_bytes, row->peak_used_bytes,
                  (unsigned long long)row->allocated_bytes, (unsigned long long)row->allocations, row->label);
}

kiln_status kiln_memory_profile_to_string(char **out)
{
    kn_str text = KN_STR_INIT;
    char *taken = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID,
                        "kiln_memory_profile_to_string: out is NULL; the address of a char * was expected");
    kn_str_printf(&text, "%14s %14s %16s %12s  %s\n", "used", "peak", "allocated", "allocations", "label");
    kiln_status status = kiln_memory_visit_profile(write_row, &text);
    if (status == KILN_OK && !(taken = kn_str_take(&text, "the memory profile")))
        status = kiln_error_status();
    kn_str_free(&text);
    if (status == KILN_OK)
        *out = taken;
    return status;
}

void kn_memory_profile_forget(void)
{
    atomic_store(&kn_memory_profile_is_on, false);
    forget();
}
