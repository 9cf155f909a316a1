/* plan/schedule.h - how it is computed: which template and its few parameters. A pure function of program,
 * space and target. */
#ifndef KN_PLAN_SCHEDULE_H
#define KN_PLAN_SCHEDULE_H

#include "base/target.h"
#include "plan/program.h"
#include "plan/space.h"

typedef enum kn_schedule_kind {
    KN_FLAT = 1, /* every operand one run: wide accesses at the element's index */
    KN_ROWS, /* results stored in wide accesses along the fastest axis, operands located by their strides */
    KN_STRIDED, /* anything: one element a thread (CUDA), any strides (host) */
    KN_STEPS, /* results far larger than inputs: a thread takes several steps along an axis on which an input stands still */
    KN_TILE,  /* an input runs along another axis than the results: turned in shared memory */
    KN_WINDOWS, /* the same, where rows begin anywhere: read in aligned pieces, stored in aligned vectors */
    KN_SCHEDULE_KINDS
} kn_schedule_kind;

/* How an array operand is accessed (CUDA). */
enum {
    KN_DENSE = 'd',  /* one vector at the element's index */
    KN_VECTOR = 'v', /* at the place its strides give, one vector, or one element repeated */
    KN_GATHER = 'g', /* element by element at its places */
    KN_STAGED = 't', /* tile, windows: through shared memory */
    KN_STILL = 's'   /* steps: as 'v', once for all of them */
};

/* Small on purpose: each distinct value is one more binary. */
typedef struct kn_schedule {
    kn_schedule_kind kind;
    int vector;                     /* consecutive elements of one thread (CUDA); 0 on the host */
    int block;                      /* threads a block, at most (CUDA); 0 on the host */
    int rank;                       /* axes that the argument block has room for (8 or 64); 0: flat */
    char access[KN_MAX_PARAMS + 1]; /* KN_DENSE and so on, by array operand; "" on the host */
} kn_schedule;

/* What the choice depends on, of each array operand that takes part in the space, in the space's order. */
typedef struct kn_access {
    int item_size;
    uintptr_t address; /* of the origin of the space; its low bits matter */
    bool is_output;
} kn_access;

/* Byte offsets within one launch stay below this on CUDA: they are 32 bits wide there. */
#define KN_MAX_OFFSET (INT64_C(0x7fffffff) - 0xfffff)

/* Bytes of shared memory that a block has everywhere, when it asks for them; a tile takes another 1,024 between its operands. */
enum { KN_MAX_SHARED = 63 << 10 };

/* From this compute capability on kernels wait for the one before them by themselves (programmatic stream serialisation). */
enum { KN_DEPENDENT_CAPABILITY = 90 };

/* One side of a tile: vectors along an axis and, where that is short, steps along a second one. */
typedef struct kn_tile_side {
    int vectors;     /* along the first axis */
    int steps;       /* along the second; 1 where there is none */
    int second_axis; /* of the space; -1: none */
} kn_tile_side;

/* Figures that change from call to call without a binary of their own. */
typedef struct kn_shape_of_launch {
    int skew;      /* elements by which the first result is off a vector's boundary */
    int step_axis; /* steps: the axis of the space on which they are taken */
    int tile_axis; /* tile, windows: the axis of the space along which staged inputs run */
    kn_tile_side p,
        q; /* tile: along the fastest axis, and along tile_axis; p times q vectors are the threads of a block */
    bool
        across; /* tile: threads lie along p's second axis first when they read, since the staged inputs go on there */
    int shared_bytes;
} kn_shape_of_launch;

/* block: the user's wish, 0 for none. */
void kn_schedule_choose(kn_schedule *out, kn_shape_of_launch *shape, const kn_space *space,
                        const kn_access *access, int count, const kn_target *target, int block);

/* After kn_schedule_choose, where the user had no wish for a block: flat kernels whose body takes functions get smaller blocks, which end one by one, so that some are always
 * reading (H200, 2^28 float32: a gaussian 519 us instead of 531, softplus 524 instead of 530, a copy the same). */
void kn_schedule_suit_body(kn_schedule *schedule, const kn_program *program);

/* The space as a tile kernel walks it, outermost first: the axes of a tile (second of q, tile_axis, second of p, fastest), the others, and tiles along these
 * four in the same order. An axis that a side has not got is of extent 1. */
enum { KN_TILE_AXES = 4 };
void kn_schedule_tile_space(kn_space *out, const kn_space *space, const kn_schedule *schedule,
                            const kn_shape_of_launch *shape);

/* Elements of a thread that finds the places of gathered inputs; more only where each of them runs or stands still along rows of a vector at least. */
enum { KN_MAX_LOCATED = 8 };

/* The space as a rows kernel walks it: where short rows of an input lie along another axis there than those of the results, some that are neighbours in the input are taken
 * together, so that whole lines are read. `space` itself, or `out`, which is filled then. */
const kn_space *kn_schedule_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule);

/* Steps of a thread. */
enum { KN_THREAD_STEPS = 4 };

/* The space as a steps kernel goes over it, outermost first: the axis of the steps, then steps taken together along it, then the other axes. */
void kn_schedule_steps_space(kn_space *out, const kn_space *space, const kn_shape_of_launch *shape);

const char *kn_schedule_name(kn_schedule_kind kind);

#endif
