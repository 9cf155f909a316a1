/* plan/schedule.h - how it is computed: which template and its few parameters. A pure function of program, space and target. */
#ifndef KN_PLAN_SCHEDULE_H
#define KN_PLAN_SCHEDULE_H

#include "base/target.h"
#include "plan/program.h"
#include "plan/space.h"

typedef enum kn_schedule_kind {
    KN_FLAT = 1,    /* every operand one contiguous run: wide accesses */
    KN_STRIDED = 2, /* anything: the location is found from the index */
    KN_SCHEDULE_KINDS
} kn_schedule_kind;

/* Small on purpose: each distinct value is one more binary. */
typedef struct kn_schedule {
    kn_schedule_kind kind;
    int vector; /* consecutive elements of one thread (CUDA); 0 on the host */
    int block;  /* threads a block (CUDA); 0 on the host */
    int rank;   /* strided: axes that the argument block has room for (4, 8 or 64) */
} kn_schedule;

/* What the choice depends on, of each array operand that takes part in the space, in the space's order. */
typedef struct kn_access {
    int item_size;
    int alignment; /* of its first address: a power of two, at most 64 */
    bool is_output;
} kn_access;

/* block: the user's wish, 0 for none. */
void kn_schedule_choose(kn_schedule *out, const kn_space *space, const kn_access *access, int count, const kn_target *target, int block);

const char *kn_schedule_name(kn_schedule_kind kind);

#endif
