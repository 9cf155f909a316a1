/* description.h - a call as a text: tests/golden/NAME.txt, and the examples of kinds,
 * src/schedules/FAMILY/examples/NAME.txt.
 *
 * A description has one "key: value" a line, and the body after "body:" to the end:
 *     target: sm_90
 *     schedule: tile                    the kind that takes it; examples have one
 *     tier: baseline                    without it the optimised one
 *     in: T x, float32 s
 *     out: T z
 *     operand: float32 64,100 F -0      dtype, shape ("-": no axes), layout as in cases/stage.h; in the order
 *     of the parameters
 *     shared: float32 64,96 @-4         the same in the buffer of the operand before it that has one
 *     raw: int32 64                     the same for raw parameters
 *     scalar: float32
 *     struct: 16                        by value, of so many bytes, at most 64
 *     preamble:, loop_prep:, after_loop: one line each
 * A reduction has, in place of a body, a line each of
 *     map: x * x
 *     reduce: a + b
 *     post: z = sqrt(a)
 *     identity: 0                       without it there is none
 *     reduce_type: float64              without it the first output's
 *     axes: 0,2                         without it all
 * A program of several stages has `axes`, `values`, and a line a stage, in their order, of its kind, what it
 * reads, what it gives, and its text. Kinds are map, expression, reduce IDENTITY, scan, exclusive IDENTITY,
 * count, place, rank, tally IDENTITY, columns;
 * those of each result rather than of each element have the word `results` behind them:
 *     values: float32 _v, float32 _r
 *     stage: expression | x | _v | x * x
 *     stage: reduce 0 | _v | _r | a + b
 *     stage: map results | _r | z | z = sqrt(r)
 * `reversed: 1` has its scans begin with the last element.
 * `selection: 1`: its scan counts selected elements, and its last stage stores those by their number.
 * `block: 32` asks for blocks of so many threads. */
#ifndef GOLDEN_DESCRIPTION_H
#define GOLDEN_DESCRIPTION_H

#include "program/program.h"
#include "stage.h"

enum { DESCRIBED_STAGES = 8 };

typedef struct description {
    char *text; /* cut up in place */
    const char *target, *schedule, *tier, *in, *out, *body, *map, *reduce, *post, *identity, *axes, *values,
        *reversed, *selection, *block;
    kiln_kernel_options options;
    const char *operand[STAGE_OPERANDS], *kind[STAGE_OPERANDS];
    int n_operands;
    kn_stage_text stage[DESCRIBED_STAGES];
    int n_stages;
} description;

/* Trouble where it cannot be read. */
void description_read(description *d, const char *path);
void description_free(description *d);
kiln_kernel *description_kernel(const description *d);
/* The operands; seed as in stage_over, 0: for a call that is only explained. NULL in trouble. */
stage *description_stage(const description *d, kiln_kernel *kernel, uint64_t seed);
/* axes has a capacity of KILN_MAX_NDIM. */
void description_options(kiln_call_options *call, int *axes, const description *d);

#endif
