/* kind_strided.c - anything: one element a thread, at the places that its strides give. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)kept;
    out->vector = 1;
    out->block = kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
    memset(out->access, KN_GATHER, (size_t)c->count);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return KN_NO_FIELD;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    out->walked = part->space;
    out->rank = part->space->ndim;
    kn_place_along(out, part, part->space->size);
    return KILN_OK;
}

const kn_kind kn_kind_strided = {"strided", "m", choose, field, place, kn_cut_reach, false, NULL, false};
