/* Sorts by name: sort, argsort, topk, partition, argpartition and lexsort, of kernels that are remembered. */
#include <string.h>

#include "base/error.h"
#include "kernel/partition.h"
#include "kernel/sort.h"

/* Partitions are sorts too, and topk, of which elements behind the wanted ones are not stored: rows that are
 * long go another way (partition.h). */
static const struct {
    const char *name, *outs, *body;
} names[] = {[KN_SORT] = {"sort", "T y", "y = x"},
             [KN_ARGSORT] = {"argsort", "int64 at", "at = i"},
             [KN_TOPK] = {"topk", "T y, int64 at", "y = x; at = i"},
             [KN_PARTITION] = {"partition", "T y", "y = x"},
             [KN_ARGPARTITION] = {"argpartition", "int64 at", "at = i"}};

enum { MOST_KEYS = 16 };

static kiln_status make(kiln_kernel **out, const void *of)
{
    const kn_named_sort *s = of;
    const kiln_sort_key key = {.key = "x", .flags = s->flags};
    kiln_kernel *sort = NULL;
    kiln_status status = kn_sort_create(&sort, "T x", names[s->name].outs, &key, 1, names[s->name].body,
                                        names[s->name].name, &s->along, NULL);
    if (status != KILN_OK || s->name == KN_SORT || s->name == KN_ARGSORT) {
        *out = sort;
        return status;
    }
    return kn_partition_create(out, s, sort);
}

kiln_status kn_sort_find(kiln_kernel **out, const kn_named_sort *s)
{
    kn_str text = KN_STR_INIT;
    kn_str_printf(&text, "sort %d %u %d %lld %lld %d %lld", (int)s->name, s->flags, s->along.axis,
                  (long long)s->along.count, (long long)s->along.least, s->n_places, (long long)s->place);
    kiln_status status = kn_kernel_remembered(out, &text, make, s);
    kn_str_free(&text);
    return status;
}

/* ---- several keys: the last one is the most important ---- */

typedef struct lexsort {
    int n_keys, axis;
} lexsort;

static kiln_status make_lexsort(kiln_kernel **out, const void *of)
{
    const lexsort *l = of;
    const kn_sort_along along = {.has_axis = true, .axis = l->axis, .count = KN_SORT_ALL};
    kiln_sort_key keys[MOST_KEYS];
    char name[MOST_KEYS][4], type[MOST_KEYS][2];
    kn_str ins = KN_STR_INIT;
    for (int k = 0; k < l->n_keys; ++k) {
        type[k][0] = (char)('A' + k);
        type[k][1] = '\0';
        name[k][0] = (char)('a' + k);
        name[k][1] = '_';
        name[k][2] = '\0';
        kn_str_printf(&ins, "%s%s %s", k > 0 ? ", " : "", type[k], name[k]);
        keys[l->n_keys - 1 - k] = (kiln_sort_key){.key = name[k], .type = type[k]};
    }
    kiln_status status = kn_str_status(&ins, "the keys of lexsort");
    if (status == KILN_OK)
        status = kn_sort_create(out, kn_str_text(&ins), "int64 at", keys, l->n_keys, "at = i", "lexsort",
                                &along, NULL);
    kn_str_free(&ins);
    return status;
}

kiln_status kn_lexsort_find(kiln_kernel **out, int n_keys, int axis)
{
    const lexsort of = {n_keys, axis};
    kn_str text = KN_STR_INIT;
    if (n_keys < 1 || n_keys > MOST_KEYS)
        return kn_error(KILN_ERROR_INVALID, "lexsort: keys: %d were given; 1 to %d were expected", n_keys,
                        MOST_KEYS);
    kn_str_printf(&text, "lexsort %d %d", n_keys, axis);
    kiln_status status = kn_kernel_remembered(out, &text, make_lexsort, &of);
    kn_str_free(&text);
    return status;
}

/* ---- C ---- */

static kiln_status check_flags(const char *name, unsigned flags)
{
    return !(flags & ~(unsigned)KILN_SORT_DESCENDING)
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID,
                          "%s: flags: 0x%x was given; only KILN_SORT_DESCENDING (0x%x) is known", name, flags,
                          (unsigned)KILN_SORT_DESCENDING);
}

kiln_status kn_call_by_name(kiln_array **out, int n_out, kiln_kernel *kernel, const kiln_arg *in, int n_in,
                            bool is_flat)
{
    const int64_t all = -1;
    kiln_arg flat[MOST_KEYS];
    kiln_status status = KILN_OK;
    memcpy(flat, in, (size_t)n_in * sizeof *in);
    for (int k = 0; k < n_in; ++k)
        if (is_flat && in[k].kind == KILN_ARG_ARRAY)
            flat[k].value.array = NULL;
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        if (is_flat && in[k].kind == KILN_ARG_ARRAY)
            status = kiln_array_reshape(&flat[k].value.array, in[k].value.array, 1, &all);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, n_out, flat, n_in, NULL);
    for (int k = 0; k < n_in; ++k)
        if (is_flat && in[k].kind == KILN_ARG_ARRAY)
            kiln_array_free(flat[k].value.array);
    kiln_kernel_free(kernel);
    return status;
}

static kn_named_sort settle(kn_sort_name name, int axis, unsigned flags)
{
    const kn_sort_along along = {
        .has_axis = true, .axis = axis == KILN_ALL_AXES ? -1 : axis, .count = KN_SORT_ALL};
    return (kn_named_sort){.name = name, .flags = flags, .along = along};
}

static kiln_status call(kiln_array **out, int n_out, const kn_named_sort *s, kiln_arg x, int axis)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = check_flags(names[s->name].name, s->flags);
    if (status == KILN_OK)
        status = kn_sort_find(&kernel, s);
    return status == KILN_OK ? kn_call_by_name(out, n_out, kernel, &x, 1, axis == KILN_ALL_AXES) : status;
}

kiln_status kiln_sort(kiln_array **out, kiln_arg x, int axis, unsigned flags)
{
    const kn_named_sort s = settle(KN_SORT, axis, flags);
    return call(out, 1, &s, x, axis);
}

kiln_status kiln_argsort(kiln_array **out, kiln_arg x, int axis, unsigned flags)
{
    const kn_named_sort s = settle(KN_ARGSORT, axis, flags);
    return call(out, 1, &s, x, axis);
}

kiln_status kn_sort_set_count(kn_named_sort *s, int64_t k)
{
    if (k < 0)
        return kn_error(KILN_ERROR_INVALID, "%s: k: %lld was given; a number from 0 on was expected",
                        names[s->name].name, (long long)k);
    s->along.count = s->along.least = k;
    s->along.asked = "k";
    return KILN_OK;
}

kiln_status kiln_topk(kiln_array *out[2], kiln_arg x, int64_t k, int axis, unsigned flags)
{
    kn_named_sort s = settle(KN_TOPK, axis, flags);
    kiln_status status = kn_sort_set_count(&s, k);
    return status == KILN_OK ? call(out, 2, &s, x, axis) : status;
}

void kn_sort_set_place(kn_named_sort *s, int64_t kth)
{
    const int64_t least = kth < 0 ? -(kth + 1) + 1 : kth + (kth < INT64_MAX);
    s->along.least = least > s->along.least ? least : s->along.least;
    s->along.asked = "kth";
    s->place = kth;
    ++s->n_places;
}

kiln_status kiln_partition(kiln_array **out, kiln_arg x, int64_t kth, int axis)
{
    kn_named_sort s = settle(KN_PARTITION, axis, 0);
    kn_sort_set_place(&s, kth);
    return call(out, 1, &s, x, axis);
}

kiln_status kiln_argpartition(kiln_array **out, kiln_arg x, int64_t kth, int axis)
{
    kn_named_sort s = settle(KN_ARGPARTITION, axis, 0);
    kn_sort_set_place(&s, kth);
    return call(out, 1, &s, x, axis);
}

kiln_status kiln_lexsort(kiln_array **out, const kiln_arg *keys, int n_keys, int axis)
{
    kiln_kernel *kernel = NULL;
    if (!keys)
        return kn_error(KILN_ERROR_INVALID, "lexsort: keys is NULL; an array of arguments was expected");
    kiln_status status = kn_lexsort_find(&kernel, n_keys, axis == KILN_ALL_AXES ? -1 : axis);
    return status == KILN_OK ? kn_call_by_name(out, 1, kernel, keys, n_keys, axis == KILN_ALL_AXES) : status;
}
