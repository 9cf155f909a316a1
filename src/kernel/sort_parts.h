/* kernel/sort_parts.h - the interface between sort.c, sort_lower.c and sort_make.c. */
#ifndef KN_KERNEL_SORT_PARTS_H
#define KN_KERNEL_SORT_PARTS_H

#include "kiln/sort.h"
#include "kernel/algorithm.h"
#include "kernel/sort_along.h"
#include "program/program.h"

enum {
    KN_MOST_SORT_KEYS = 16,
    KN_MOST_MOVED = 4, /* inputs that are moved */
    KN_KEY_PARTS = 2,  /* of a key: complex128 has 128 bits */
    KN_BY_NOTHING = 0,
    KN_BY_ORDER = 1 /* the first key that is sorted by, and those before it */
};

typedef struct kn_sorted_key {
    kn_param type; /* of the key: a dtype, or a placeholder */
    kiln_kernel *count[KN_KEY_PARTS][2];
    /* Quick steps: the keys alone, and where there are none before, orders. */
    kiln_kernel *map[KN_KEY_PARTS][2];
} kn_sorted_key;

typedef struct kn_sorting {
    kn_program *signature; /* the user's parameters */
    kn_sorted_key key[KN_MOST_SORT_KEYS];
    int n_keys;
    kn_sort_along along;
    /* Inputs that the key and the body name; none: there are too many, or `i` is wanted. */
    int moved[KN_MOST_MOVED], n_moved;
    kiln_kernel *rank; /* a short row at once (CUDA); NULL: there are several keys */
    /* Keys that are the elements alone (host): to keys, and back from sorted ones. NULL: they are not. */
    kiln_kernel *exact, *element;
    bool is_descending; /* of these */
    /* Bytes that are their own keys (CUDA): where those of each value begin, by their counts; eight sorted
     * bytes at once, and single ones. NULL as `exact`. */
    kiln_kernel *starts, *eight_bytes, *byte;
    kiln_kernel *count_moved;
    kiln_kernel *move[2];                  /* passes that move the inputs: to buffers; the last one */
    kiln_kernel *first, *middle, *last[2]; /* passes; last: KN_BY_NOTHING, if it is the only one */
    kiln_kernel *digits, *put;             /* quick steps: the counts of keys; the body of each element */
} kn_sorting;

/* Placeholders of kiln's own, beside those of the user. */
typedef struct kn_sort_letters {
    char key, order, word;
} kn_sort_letters;

typedef struct kn_sort_making {
    kn_sorting *s;
    const char *name, *body;
    const kiln_sort_key *keys;
    const kiln_kernel_options *options;
    kn_sort_letters letter;
} kn_sort_making;

/* ---- sort_lower.c ---- */

const kn_param *kn_sort_param_of(const kn_sorting *s, int k);
/* The shape that the inputs broadcast to. */
kiln_status kn_sort_find_shape(int *ndim, int64_t *shape, const kn_sorting *s, const kn_described *in);
/* *out: counted from the first axis. */
kiln_status kn_sort_find_axis(int *out, const kn_sorting *s, int ndim, int axis);
/* The number of an input among those that are moved; -1. */
int kn_sort_moved_number(const kn_sorting *s, int k);
/* A bound of the elements of a row that are wanted, one of a few: each is a binary. 0: all, or many. */
int kn_sort_most_wanted(const kn_sorting *s);
kiln_status kn_sort_lower(kn_lowered *out, const void *context, const kn_lowering_call *call);

/* ---- sort_make.c ---- */

kiln_status kn_sort_make_kernels(const kn_sort_making *m);
/* The user's parameters, and the body: a program that is never run, which checks them. */
kiln_status kn_sort_make_signature(kn_sort_making *m, const char *in_params, const char *out_params);

#endif
