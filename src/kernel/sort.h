/* kernel/sort.h - sorts as parts of others: those by name (sort_by_name.c), quantiles, unique elements. */
#ifndef KN_KERNEL_SORT_H
#define KN_KERNEL_SORT_H

#include <kiln/sort.h>
#include "base/str.h"
#include "kernel/kernel.h"
#include "kernel/sort_along.h"

/* kiln_sort_create; along NULL: any axis, all elements. */
kiln_status kn_sort_create(kiln_kernel **out, const char *in_params, const char *out_params,
                           const kiln_sort_key *keys, int n_keys, const char *body, const char *name,
                           const kn_sort_along *along, const kiln_kernel_options *options);

/* ---- by name ---- */

typedef enum kn_sort_name { KN_SORT, KN_ARGSORT, KN_TOPK, KN_PARTITION, KN_ARGPARTITION } kn_sort_name;
typedef struct kn_named_sort {
    kn_sort_name name;
    unsigned flags; /* KILN_SORT_* */
    kn_sort_along along;
    int n_places;  /* of partitions */
    int64_t place; /* the last of them; it counts from the end if it is negative */
} kn_named_sort;
/* topk: KILN_ERROR_INVALID below 0. */
kiln_status kn_sort_set_count(kn_named_sort *sort, int64_t k);
/* partition, for each place: there has to be an element at kth, which counts from the end if negative. */
void kn_sort_set_place(kn_named_sort *sort, int64_t kth);

/* Remembered kernels: one more reference. */
kiln_status kn_sort_find(kiln_kernel **out, const kn_named_sort *sort);
kiln_status kn_lexsort_find(kiln_kernel **out, int n_keys, int axis);

/* Calls a kernel, which is freed, with arrays as they are, or all their elements along one axis. */
kiln_status kn_call_by_name(kiln_array **out, int n_out, kiln_kernel *kernel, const kiln_arg *in, int n_in,
                            bool is_flat);

/* The kernel that is remembered by this text, or `make`'s: one more reference. */
kiln_status kn_kernel_remembered(kiln_kernel **out, const kn_str *text,
                                 kiln_status (*make)(kiln_kernel **out, const void *of), const void *of);

#endif
