/* kind_flat.c - every operand is one contiguous range: wide accesses at the element's index, one vector for
 * each thread. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedules/contiguous/contiguous_kinds.h"

/* Threads of a block if the body calls functions. Small blocks end at different times, so that some are
 * always reading (bench/results/nvidia-h200-blocks.md). */
enum { EXPENSIVE_BLOCK = 128 };

typedef struct launch_params {
    int misalignment; /* elements by which the results are off a vector's boundary */
} launch_params;

/* If the misalignment of some input differs from that of the results, all inputs are gathered: the aligned
 * ones lose little, and there is no binary for each mixture. */
static void set_access(char *access, const kn_choice *c, int vector, int misalignment)
{
    bool agree = true;
    for (int o = 0; vector > 1 && o < c->count; ++o)
        agree = agree && (c->access[o].is_output || kn_choice_agrees(c, o, vector, misalignment));
    for (int o = 0; o < c->count; ++o)
        access[o] = c->access[o].is_output || agree ? KN_DENSE : KN_GATHER;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    launch_params f = {kn_choice_misalignment(c, vector)};
    if (!kn_choice_is_flat(c))
        return false;
    if (vector == 1 || f.misalignment < 0) {
        vector = 1;
        f.misalignment = 0;
    }
    bool is_expensive = vector > 1 && c->program && kn_cost_functions(c->program) > 0;
    out->vector = vector;
    out->block = is_expensive && !c->block ? EXPENSIVE_BLOCK : kn_choice_block(c);
    set_access(out->access, c, vector, f.misalignment);
    memcpy(params, &f, sizeof f);
    return true;
}

/* Elements in front of the first whole vector and behind the last one go to threads of their own, one each: a
 * loop over them would compile 2 ms longer, of 38. The kind's field. groups: threads that have vectors;
 * until: a vector begins at 0 or later, and before this; head: elements in front of the first vector; edges:
 * those, and the elements behind the last one. */
#define MEMBERS                                                                                              \
    long long groups;                                                                                        \
    unsigned long long until;                                                                                \
    int misalignment, head;                                                                                  \
    unsigned edges, unused;
typedef struct flat_field {
    MEMBERS
} flat_field;

static bool has_field(const kn_schedule *schedule)
{
    return schedule->vector > 1;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    int64_t size = part->space->size, vector = part->spec->schedule.vector;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    flat_field own = {.misalignment = vector > 1 ? kn_part_misalignment(part, f.misalignment) : 0};
    int64_t head = own.misalignment > 0 && size > vector - own.misalignment ? vector - own.misalignment
                   : own.misalignment > 0                                   ? size
                                                                            : 0;
    own.head = (int32_t)head;
    own.edges = (uint32_t)(head + (size - head) % vector);
    own.groups = (size + own.misalignment + vector - 1) / vector;
    own.until = size >= vector ? (uint64_t)(size - vector + 1) : 0;
    memcpy(out->field, &own, sizeof own);
    kn_place_along(out, part, vector > 1 ? (own.groups + own.edges) * vector : size);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    flat_field own;
    memcpy(&own, at, sizeof own);
    kn_str_printf(out, " misalignment=\"%d\"", (int)own.misalignment);
}

const kn_kind kn_kind_flat = {.name = "flat",
                              .recipe = &kn_recipe_flat,
                              KN_MAP_KIND,
                              .compiles_soon = true,
                              .revision = 1,
                              .field = KN_FIELD(flat_field, MEMBERS),
                              .has_field = has_field,
                              .describe = describe};
