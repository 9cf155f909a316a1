/* schedule/schedule.h - how a space is computed: which kind of kernel and its few parameters. A pure function
 * of program, space and target. */
#ifndef KN_SCHEDULE_SCHEDULE_H
#define KN_SCHEDULE_SCHEDULE_H

#include "base/target.h"
#include "program/stages.h"
#include "space/space.h"

/* One way to compute a space, from the choice to the launch: schedule/kind.h. */
typedef struct kn_kind kn_kind;

/* Accesses of an array operand (CUDA). */
enum {
    KN_DENSE = 'd',  /* one vector at the element's index; channels: all of them interleaved, backward */
    KN_VECTOR = 'v', /* at the place that its strides give, one vector, or one element repeated */
    KN_GATHER = 'g', /* element by element; channels, stencils: contiguous ranges that begin anywhere */
    KN_STAGED = 't', /* transposes: through shared memory; channels: all of them interleaved; row_strips: once
                          for all rows; reductions that gather vectors: backward */
    KN_BROADCAST = 's' /* once for all steps of a thread, as 'v'; rows, channels: one element repeated */
};
/* Inputs of a few results of each row (reduce_few): KN_VECTOR and KN_BROADCAST belong to the row, KN_DENSE
 * and KN_STAGED to all rows; the first of either pair are vectors.
 * Inputs of products (reduce_product): KN_VECTOR if they are broadcast along columns, KN_DENSE along rows.
 * Inputs of pairs of points (reduce_points): KN_VECTOR and KN_BROADCAST if a thread keeps them for all
 * elements of a result, KN_DENSE and KN_GATHER if it loads them for each element; the first of either pair
 * are elements of vectors. */
/* The first of 25 letters, of stencil inputs: schedules/stencil/stencil_windows.h. */
enum { KN_STENCIL_LETTER = 'A' };
#define KN_ACCESS_LETTERS "dvgtsABCDEFGHIJKLMNOPQRSTUVWXY"

enum { KN_MAX_CONFIG = 5 /* numbers of a kind's own */ };

/* Small on purpose: each distinct value is one more binary. */
typedef struct kn_schedule {
    const kn_kind *kind;
    int vector;   /* neighbouring elements, or rows, that a thread has together; 0: the kind has no vectors */
    int block;    /* threads a block, at most (CUDA); 0 on the host */
    int index;    /* bits of the texts' type `_index`; 0: 64 */
    int order;    /* 1 where a text asks for `_J`, and a thread reduces in its order, or it is a row's element
                   (CUDA) */
    int baseline; /* 1: the source compiles sooner, runs slower, and gives the same bits (host) */
    int rank;     /* capacity for axes of the argument block; 0: none */
    int config[KN_MAX_CONFIG];      /* the kind's own: schedule/config.h */
    char access[KN_MAX_PARAMS + 1]; /* KN_DENSE and so on, by array operand; "": the kind needs none */
} kn_schedule;

/* Parameters of a call's launches that need no binary of their own; the kind that chose them defines the
 * bytes. */
typedef struct kn_launch_params {
    _Alignas(8) unsigned char bytes[64];
} kn_launch_params;

/* One array operand of the space, in the space's order, as far as the choice depends on it. */
typedef struct kn_access {
    int item_size;
    uintptr_t address; /* of the origin of the space; its low bits matter */
    bool is_output;
} kn_access;

/* Byte offsets within one launch stay below this on CUDA, where they are 32 bits wide. */
#define KN_MAX_OFFSET (INT64_C(0x7fffffff) - 0xfffff)

/* The call, as a kind sees it when it chooses. */
typedef struct kn_choice {
    const kn_program *program; /* NULL: elementwise, and nothing else is known of it */
    const kn_space *space;
    const kn_access *access;
    int count; /* operands */
    const kn_target *target;
    int block;      /* threads a block that the user asks for; 0: none */
    bool takes_few; /* numbers of elements from which something pays are not looked at (KILN_KINDS) */
} kn_choice;

#endif
