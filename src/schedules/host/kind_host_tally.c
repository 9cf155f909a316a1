/* kind_host_tally.c - elements combined by bins on the host. A task has a part of the elements, and bins of
 * its own in the raw output; further parts are those of the first task, and so on, and further tasks have
 * nothing to do. */
#include "schedule/kind.h"

#include <string.h>

#include "program/cost.h"
#include "schedule/tally.h"
#include "schedules/host/host_kinds.h"
#include "schedules/reduce/reduce_space.h"

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length, tasks;                                                                                 \
    int reduction_rank, padding;
typedef struct tally_field {
    MEMBERS
} tally_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_host_tally_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    tally_field f = {.length = kn_reduce_size(part->space)};
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    f.tasks = out->size = kn_tally_tasks(f.length, 0);
    out->grain = 1;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_host_tally = {.name = "tally",
                                    .recipe = &kn_recipe_host_tally,
                                    .pattern = "mmt",
                                    .revision = 2,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .config = &kn_host_tally_config_table,
                                    .field = KN_FIELD(tally_field, MEMBERS)};
