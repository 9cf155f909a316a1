/* kind_tally_halves.c - elements counted by many bins on CUDA. A block has all bins in shared memory, of 16
 * bits each, and looks before these may be exceeded whether some are half full: it brings those to memory. */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/tally.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/tally/tally_kinds.h"

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;
typedef struct halves_field {
    MEMBERS
} halves_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    if (strcmp(c->program->stage[KN_TALLY_TALLY].body, KN_TALLY_IN_HALVES) != 0)
        return false;
    out->block = KN_TALLY_HALVES_BLOCK;
    out->vector = 1;
    kn_tally_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    halves_field f = {.length = kn_reduce_size(part->space)};
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = KN_TALLY_HALVES_PARTS;
    out->shared_bytes = (unsigned)kn_tally_halves_shared(&part->spec->target);
    out->shared_percent = 100;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_tally_halves = {.name = "tally_halves",
                                      .recipe = &kn_recipe_tally_halves,
                                      .pattern = "mmt",
                                      .revision = 1,
                                      .choose = choose,
                                      .place = place,
                                      .has_wide_axes = true,
                                      .config = &kn_tally_config_table,
                                      .field = KN_FIELD(halves_field, MEMBERS)};
