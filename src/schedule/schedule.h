/* schedule/schedule.h - how a space is computed: which kind of kernel and its few parameters. A pure function
 * of program, space and target. */
#ifndef KN_SCHEDULE_SCHEDULE_H
#define KN_SCHEDULE_SCHEDULE_H

#include "base/target.h"
#include "program/stages.h"
#include "space/space.h"

/* What is done in one way, from the choice to the launch: schedule/kind.h. */
typedef struct kn_kind kn_kind;

/* How an array operand is accessed (CUDA). */
enum {
    KN_DENSE = 'd',  /* one vector at the element's index */
    KN_VECTOR = 'v', /* at the place its strides give, one vector, or one element repeated */
    KN_GATHER = 'g', /* element by element at its places; pixels, shifted: runs that begin anywhere */
    KN_STAGED = 't', /* tile, windows: through shared memory; pixels: all channels one behind the other */
    KN_BROADCAST = 's'   /* steps: as 'v', once for all of them; rows, pixels: one element repeated */
};
/* From it on 25 letters, of shifted inputs: schedules/stencil/shifted_space.h. */
enum { KN_STENCIL_LETTER = 'A' };
#define KN_ACCESS_LETTERS "dvgtsABCDEFGHIJKLMNOPQRSTUVWXY"

/* Small on purpose: each distinct value is one more binary. */
typedef struct kn_schedule {
    const kn_kind *kind;
    int vector; /* consecutive elements of one thread (CUDA); 0 on the host */
    int block;  /* threads a block, at most (CUDA); 0 on the host */
    int lanes;  /* fold_lanes: items of a row that a thread loads at once; host fold: neighbours in vectors;
                   pixels: channels; broad: vectors of a thread; shifted: its rows of results */
    int form;   /* reductions: which of the loops of their kernels; pixels: 1 where results are laid;
                  tile: 1 where a side may lie along a narrow axis and the
                  next; windows: 1 where runs go on every few elements; rows: KN_ROWS_* (CUDA); else 0 */
    int index;  /* bits of the texts' type `_index`; 0: 64 */
    int order;  /* 1 where a text asks for `_J`, and a thread folds in its order, or it is a row's element
                   (CUDA) */
    int rank;   /* axes that the argument block has room for; 0: none */
    char access[KN_MAX_PARAMS + 1]; /* KN_DENSE and so on, by array operand; "": as the kind does */
} kn_schedule;

/* Figures of a call's launches that need no binary of their own: what the kind that chose them keeps there.
 */
typedef struct kn_launch_params {
    _Alignas(8) unsigned char bytes[64];
} kn_launch_params;

/* What the choice depends on, of each array operand that takes part in the space, in the space's order. */
typedef struct kn_access {
    int item_size;
    uintptr_t address; /* of the origin of the space; its low bits matter */
    bool is_output;
} kn_access;

/* Byte offsets within one launch stay below this on CUDA: they are 32 bits wide there. */
#define KN_MAX_OFFSET (INT64_C(0x7fffffff) - 0xfffff)

/* What a kind chooses by. */
typedef struct kn_choice {
    const kn_program *program; /* NULL: elementwise, and nothing else is known of it */
    const kn_space *space;
    const kn_access *access;
    int count; /* operands */
    const kn_target *target;
    int block; /* threads a block that the user asks for; 0: none */
} kn_choice;

#endif
