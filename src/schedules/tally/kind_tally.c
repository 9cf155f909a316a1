/* kind_tally.c - elements combined by bins on CUDA. A block has a part of the elements and copies of all bins
 * in shared memory; bins that do not fit there are combined by atomic functions in memory, all blocks in the
 * same ones. The kernel sees which by the number of bins: there is one binary for all. */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/tally.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/tally/tally_kinds.h"

/* The kind's field. shared: bytes for the bins of a block; ranges: of bins, at most. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned shared, ranges;
typedef struct tally_field {
    MEMBERS
} tally_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    out->block = KN_TALLY_BLOCK;
    out->vector = 1;
    kn_tally_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    return true;
}

static kiln_dtype bins_dtype(const kn_spec *spec)
{
    const kn_stage *s = &spec->program->stage[KN_TALLY_TALLY];
    return spec->operand[s->value[s->n_read]].dtype;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    tally_field f = {.length = kn_reduce_size(part->space)};
    f.shared = (unsigned)kn_tally_shared(&part->spec->target);
    f.ranges = (unsigned)kn_tally_ranges(kn_dtype_info_of(bins_dtype(part->spec)));
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = (unsigned)kn_tally_parts(f.length);
    out->shared_bytes = f.shared + KN_TALLY_BESIDE;
    out->shared_percent = 100;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_tally = {.name = "tally",
                               .recipe = &kn_recipe_tally,
                               .pattern = "mmt",
                               .revision = 2,
                               .choose = choose,
                               .place = place,
                               .has_wide_axes = true,
                               .config = &kn_tally_config_table,
                               .field = KN_FIELD(tally_field, MEMBERS)};
