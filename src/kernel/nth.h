/* kernel/nth.h - the keys that are at some places of sorted rows, without a sort.
 *
 * Each pass reads all elements, counts those that have the digits found so far by their next one, and picks
 * the digit in which the place is. On the host the keys are stored, and a step finds the places
 * (device/host_select.h). */
#ifndef KN_KERNEL_NTH_H
#define KN_KERNEL_NTH_H

#include "kernel/sort_rows.h"

/* The kernels: elements to counts of a digit; counts to the digit that is picked; elements to their keys. */
typedef struct kn_nth {
    kiln_kernel *count, *pick, *keys;
} kn_nth;

kiln_status kn_nth_create(kn_nth *out, unsigned flags);
void kn_nth_free(kn_nth *nth);
/* "kn_sort_key<0, 0>(x)": an element's key, for the texts of others. */
const char *kn_nth_key(unsigned flags);

/* Rows of which the key at one place each is looked for. Some ranks: the same rows once for each. */
typedef struct kn_nth_search {
    const kn_nth *nth;
    kn_sort_rows rows; /* with the axis of ranks */
    int digits;
    int words, states, prefixes; /* buffers */
    bool has_vectors;            /* kn_host_sort_vectors has those of 64 bytes */
    bool has_keys;               /* on the host: keys, and memory beside them, of the rows without ranks */
    int keys, beside;
    bool has_ranks; /* an axis in front */
    int64_t ranks;  /* of each row, at least 1 */
} kn_nth_search;

/* True for rows that a search suits: longer than those that are sorted at once, keys of 8 bytes at most. */
bool kn_nth_suits(const kn_sort_rows *rows);
/* Begins a search. ranks 0: the rows themselves; else they have one more axis, which comes first. */
kiln_status kn_nth_begin(kn_nth_search *out, const kn_nth *nth, kn_lowered *lowered,
                         const kn_lowering_call *call, const kn_sort_rows *rows, int64_t ranks);
/* The same place in all rows; or another step writes it, bound by kn_nth_bind. */
kiln_status kn_nth_set_rank(const kn_nth_search *s, kn_lowered *lowered, const kn_lowering_call *call,
                            int64_t rank);
/* Adds all passes. */
kiln_status kn_nth_find(const kn_nth_search *s, kn_lowered *lowered, const kn_lowering_call *call);

/* The state of each row: before the first pass the place; behind the last one the key (uint64), the
 * place among the equal ones, and how many of those there are (uint32). */
typedef enum kn_nth_word { KN_NTH_RANK, KN_NTH_TOTAL, KN_NTH_KEY } kn_nth_word;
/* Binds a parameter to that, for all elements of a row where there is a last axis (has_length). */
kiln_status kn_nth_bind(kn_lowered_part *part, int at, const kn_nth_search *s, const kn_lowering_call *call,
                        kn_nth_word word, bool is_found, bool has_length);
/* The same for rank k of several: of all its rows. */
kiln_status kn_nth_bind_rank(kn_lowered_part *part, int at, const kn_nth_search *s,
                             const kn_lowering_call *call, kn_nth_word word, bool is_found, int64_t k);
/* Binds the parameters of a function from `at` on to the stored keys, the keys found, ranks and totals. */
kiln_status kn_nth_bind_keys(kn_lowered_part *part, int at, const kn_nth_search *s,
                             const kn_lowering_call *call);
/* Binds a parameter to the elements. */
kiln_status kn_nth_bind_elements(kn_lowered_part *part, int at, const kn_nth_search *s,
                                 const kn_lowering_call *call);

#endif
