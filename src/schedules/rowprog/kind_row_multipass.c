/* kind_row_multipass.c - row programs of any layout: a block reads a row once for each reduction, and once
 * more for the results. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"

enum {
    LARGE = 512,      /* threads of a block whose row has more items than */
    LARGE_ROW = 4096, /* or, of few rows, than */
    LARGE_OF_FEW = 2 * LARGE
};

/* The kind's field. width: warps of the block, rounded up to a power of two; length: of the innermost axis;
 * items: vectors of a row. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int width;                                                                                               \
    long long length, items;                                                                                 \
    kn_divider per_row;
typedef struct multipass_field {
    MEMBERS
} multipass_field;

static int vector_of(const kn_choice *c)
{
    const kn_space *s = c->space;
    int vector = kn_row_vector(c);
    bool is_short = s->n_reduction_axes == 0 || s->extent[s->ndim - 1] / vector >= KN_REDUCE_STEPS;
    return !is_short && kn_row_fit_of(c, vector) == KN_ROW_ALIGNED ? vector : 1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    int axes = c->space->n_reduction_axes;
    out->vector = vector_of(c);
    kn_reduce_axes_config_in(out)->reduction_axes = kn_reduce_known_axes(c->space, axes);
    int64_t items = kn_reduce_size(c->space) / out->vector;
    bool are_few = kn_space_output_size(c->space) < c->target->multiprocessors;
    bool is_large = items > LARGE_ROW || (are_few && items > LARGE_OF_FEW);
    out->block = c->block ? c->block : is_large ? LARGE : kn_choice_block(c);
    out->rank = kn_reduce_rank(c->space);
    kn_row_set_access(out, c);
    /* Single elements have one letter, and so have those that are repeated, since items go by places. */
    for (int o = 0; o < c->count; ++o)
        out->access[o] = out->access[o] == KN_DENSE    ? KN_GATHER
                         : out->access[o] == KN_STAGED ? KN_BROADCAST
                                                       : out->access[o];
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    int axes = kn_reduce_axes_config_of(s)->reduction_axes;
    multipass_field f = {.items = kn_reduce_size(space) / s->vector,
                         .width = kn_row_warps((unsigned)s->block)};
    f.reduction_rank = kn_reduce_place_axes(out, space, -1, kn_reduce_long_axis(space, axes));
    f.length = out->own_space.extent[out->rank - 1];
    if (axes > 1)
        f.per_row = kn_divider_make(f.items > 0 ? (uint32_t)(f.length / s->vector) : 1);
    out->grid[0] = (unsigned)out->size;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_row_multipass = {.name = "row_multipass",
                                       .recipe = &kn_recipe_row_multipass,
                                       KN_ROW_KIND,
                                       .config = &kn_reduce_axes_config_table,
                                       .reads_again = true,
                                       .revision = 1,
                                       .field = KN_FIELD(multipass_field, MEMBERS),
                                       .cut = kn_reduce_cut_outermost};
