/* kind_strided.c - any layout: one element for each thread, at the place that strides give. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/contiguous/contiguous_kinds.h"

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    out->vector = 1;
    out->block = kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
    memset(out->access, KN_GATHER, (size_t)c->count);
    return true;
}

const kn_kind kn_kind_strided = {.name = "strided",
                                 .recipe = &kn_recipe_strided,
                                 .pattern = "m",
                                 .revision = 1,
                                 .choose = choose,
                                 .place = kn_place_axes,
                                 .cut = kn_cut_reach};
