/* kind_host_row.c - row programs on the host, for any layout. A thread reads each row one time for each
 * reduction, and one more time for the results. Values of elements stay in the thread's memory meanwhile,
 * unless rows are long: then they are computed again. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/host/host_kinds.h"
#include "schedules/host/kind_host_row.h"

enum {
    HELD_BYTES = 1 << 17, /* that a thread holds of a row: half of a usual L2 */
    GRAIN = 1 << 15       /* elements for a further thread */
};

/* All values of elements that a later level needs fit. The size of a struct is not known here. */
static bool is_held(const kn_choice *c)
{
    return kn_reduce_size(c->space) * kn_row_given_across(c) <= HELD_BYTES;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    kn_host_row_config_in(out)->multipass = !is_held(c);
    out->rank = kn_reduce_rank(s);
    for (int o = 0; o < c->count; ++o) {
        int64_t step = s->n_reduction_axes > 0 ? s->stride[o][s->ndim - 1] : 0;
        out->access[o] = step == c->access[o].item_size ? KN_DENSE : step == 0 ? KN_BROADCAST : KN_GATHER;
    }
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    int64_t size = kn_reduce_size(s), cost = 1 + 2 * kn_cost_functions(part->spec->program);
    kn_host_row_field f = {.capacity = (size + 63) / 64 * 64};
    f.reduction_rank = kn_reduce_place_axes(out, s, -1, -1);
    f.length = out->own_space.extent[out->own_space.ndim - 1];
    f.rows = f.length > 0 ? size / f.length : 0;
    out->grain = 1 + GRAIN / cost / (size > 0 ? size : 1);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_host_row = {.name = "row",
                                  .recipe = &kn_recipe_host_row,
                                  .pattern = "*",
                                  .revision = 1,
                                  .choose = choose,
                                  .config = &kn_host_row_config_table,
                                  .field = KN_FIELD(kn_host_row_field, KN_HOST_ROW_FIELD),
                                  .place = place,
                                  .has_wide_axes = true,
                                  .has_baseline = true,
                                  .in_order = kn_host_row_in_order};
