/* kernel/random.h - the distributions of random numbers: a table, and their kernels. */
#ifndef KN_KERNEL_RANDOM_H
#define KN_KERNEL_RANDOM_H

#include <kiln/random.h>
#include "kernel/kernel.h"

enum { KN_LAW_PARAMS = 3 };

/* The type of a distribution's numbers, and in what its parameters are computed. */
typedef enum kn_law_sort {
    KN_LAW_REAL,     /* float64, or the float that is asked for; parameters alike */
    KN_LAW_COUNT,    /* int64; parameters are float64 */
    KN_LAW_INTEGERS, /* int64; parameters are integers */
    KN_LAW_BITS      /* uint32 */
} kn_law_sort;

typedef struct kn_law_param {
    const char *name;
    double usual;           /* NaN: it has to be given */
    double least, greatest; /* of numbers: NaN is none of them */
    bool is_open;           /* least itself is no such number */
} kn_law_param;

typedef struct kn_law {
    const char *name; /* of the function that texts call */
    kn_law_sort sort;
    bool shares; /* an element's word, or two, of the block that it shares with neighbours, are used first */
    int n_params;
    kn_law_param param[KN_LAW_PARAMS];
} kn_law;

/* The table, by number (NULL: behind the last) and by name (NULL: there is none). */
const kn_law *kn_law_at(int k);
const kn_law *kn_law_find(const char *name, size_t length);

/* One use of a distribution. */
typedef struct kn_law_use {
    const kn_law *law;
    kiln_dtype dtype; /* of the results */
    bool is_closed;   /* KN_LAW_INTEGERS: high is one of them */
    /* Elements have the numbers from the second input on (int64 first), and the result is given; else the
     * second input, int64 at, has each element's number. */
    bool counts;
    /* counts: 2 or 4 results, neighbours, which share a block of Philox; the second input is the number of
     * the first block. 0: one result. */
    int n_shared;
} kn_law_use;

kiln_dtype kn_law_usual_dtype(const kn_law *law);
/* KILN_ERROR_TYPE for a dtype that such numbers cannot have. */
kiln_status kn_law_check_dtype(const kn_law *law, kiln_dtype dtype);
/* KILN_ERROR_INVALID for a number that parameter k cannot be; arrays are not looked at. */
kiln_status kn_law_check(const kn_law_use *use, int k, const kiln_arg *given);
/* The same for what parameters are together: the range of integers. */
kiln_status kn_law_check_range(const kn_law_use *use, const kiln_arg *given);
/* A remembered kernel (one more reference): uint64 key, int64 at or first, and the parameters. */
kiln_status kn_law_kernel(kiln_kernel **out, const kn_law_use *use);
/* The same: uint64 key, int64 at and int64 n give the element at that place of a permutation of n things. */
kiln_status kn_permuted_kernel(kiln_kernel **out);

#endif
