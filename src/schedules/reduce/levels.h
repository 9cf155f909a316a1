/* schedules/reduce/levels.h - the tree by which a kind of reductions combines elements, as a list of
 * levels. Each is a launch of the baseline tier (kind_reduce_levels.c), which so gives the same bits. The
 * first level reads the arrays and puts values into scratch memory, others combine those, and the last one
 * writes results.
 *
 * A kind lists what its threads do, then how their values are combined, until each result has one. */
#ifndef KN_SCHEDULES_REDUCE_LEVELS_H
#define KN_SCHEDULES_REDUCE_LEVELS_H

#include "schedule/kind.h"

enum { KN_LEVELS_CHAIN = 16 }; /* turns of a chain: kn_chain of src/codegen/prelude/cuda_reduce.cu */

/* Single elements, one of each of neighbouring threads of the last set: the thread of the first one, and that
 * element. */
typedef struct kn_level_ends {
    int64_t count, thread, at;
} kn_level_ends;

/* The threads of a kernel: of each result `sets` sets (blocks), each with `chunk` items. Thread t of a set
 * takes its items t, t + lanes, ... An item is `vector` neighbouring elements, combined two by two; a
 * thread combines `turn` items, then `chain` of those, then all (0: there is no such group). */
typedef struct kn_level_threads {
    int64_t items, chunk, sets, threads, lanes;
    int64_t last; /* threads of the last set that hold a value in the end */
    int vector, turn, chain;
    bool are_whole;        /* of structs: items behind the last whole turn are turns of one */
    bool are_results_near; /* neighbouring threads have neighbouring results */
    int64_t begin;         /* the first element of the first item */
    /* Unaligned rows: elements outside of all items, which are combined last, those of [0] before those of
     * [1]. */
    kn_level_ends ends[2];
} kn_level_threads;

/* Values in scratch memory: of each result `sets` sets of `each`, of the last set the first `last` alone. */
typedef struct kn_level_values {
    int64_t at;                          /* of the first */
    int64_t step, set_step, result_step; /* from one to the next */
    int64_t sets, each, last;
    bool are_results_near;
} kn_level_values;

/* The values left of each set: as many as there are threads. is_last: of each result one, which is
 * written. */
kn_level_values kn_levels_threads(kn_levels *l, const kn_level_threads *t, bool is_last);
/* A thread has all elements of a result. */
void kn_levels_one_thread(kn_levels *l, int turn);
/* The lanes of a warp that share a row of so many elements: `turn` items of each are combined first, then
 * its others, then lanes two by two. Single elements in front of the first item (`head`), and behind the last
 * one, come last. */
void kn_levels_lanes(kn_levels *l, int64_t length, int64_t lanes, int turn, int64_t head);
/* Neighbours two by two until one is left of each set: as warps and blocks combine the values of their
 * threads. */
kn_level_values kn_levels_pairs(kn_levels *l, kn_level_values in, bool is_last);
/* Thread t of `lanes` combines values t, t + lanes, ... of each set. */
kn_level_values kn_levels_strided(kn_levels *l, kn_level_values in, int64_t lanes, bool is_last);
/* The same; then values a quarter (parts 4) or half (2) of a set apart, until one is left; of a set with
 * several rows of `width` values, until one row is. */
kn_level_values kn_levels_apart(kn_levels *l, kn_level_values in, int64_t lanes, int parts, bool is_last);
kn_level_values kn_levels_rows_apart(kn_levels *l, kn_level_values in, int64_t width, int parts,
                                     bool is_last);
/* Sets of `sets_each` sets each, the last of which may have fewer: a thread combines its values of these,
 * `chain` at a time, then all. */
kn_level_values kn_levels_sets(kn_levels *l, kn_level_values in, int64_t sets_each, int chain, bool is_last);
/* The sets that are left of one value each become values of one set. */
kn_level_values kn_levels_join_sets(kn_level_values in);

/* The reduction axis along which elements are numbered first; before: the innermost. */
void kn_levels_number_along(kn_levels *l, int axis);

/* Launch parameters by which lists of unaligned rows know how their operands lie: to be noted when a kind
 * is chosen that reads rows from their first aligned vector on. */
void kn_levels_note_offsets(kn_launch_params *out, const kn_choice *c);
/* All such rows that begin with as many single elements have one list: calls `list` for each number of
 * these, with these results to be computed. along: an output axis along which rows continue; -1. False: one
 * of the lists is, or rows differ along several axes. */
typedef bool kn_levels_list(kn_levels *l, const void *field, int64_t head);
bool kn_levels_each_head(kn_levels *l, int along, kn_levels_list *list, const void *field);

const kn_spec *kn_levels_spec(const kn_levels *l);
/* The field of the kind whose levels are listed, for the whole part. */
const unsigned char *kn_levels_field(kn_levels *l);
/* Goes on with the results that the function's launches are to compute: those from `first` up to `end` along
 * an output axis. */
void kn_levels_take_results(kn_levels *l, int axis, int64_t first, int64_t end);

#endif
