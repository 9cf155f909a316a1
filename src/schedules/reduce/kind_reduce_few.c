/* kind_reduce_few.c - reductions of rows of which each has a few results, as the distances of points from a
 * few centres: some inputs are the same for the results of a row, others for all rows. Some lanes of a warp
 * share a row, load it once, and have all of its results. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    FEWEST = 2,               /* results of a row */
    MOST_ITEMS = 4,           /* of a row that a thread has; of rows with fewer one, or two */
    FEW_ROWS = 4,             /* rows of a thread: src/schedules/reduce/reduce_few.cu */
    LONGEST = 1000,           /* vectors of a row */
    SHARED_BYTES = 16 << 10,  /* of what rows share: more would leave the L1 cache */
    FEWEST_ELEMENTS = 1 << 22 /* of the space */
};

/* The kind's field. rows: sets of results that share a row; lanes and items: of a row. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned lanes, items;                                                                                   \
    long long rows;
typedef struct few_field {
    MEMBERS
} few_field;

static int rows_each(int items)
{
    return items < MOST_ITEMS ? FEW_ROWS : FEW_ROWS / 2;
}

/* True if all rows share the operand: of the output axes it moves along this one alone. */
static bool is_shared(const kn_choice *c, int o, int axis)
{
    bool is = c->space->stride[o][axis] != 0;
    for (int a = 0; a < c->space->ndim - c->space->n_reduction_axes; ++a)
        is = is && (a == axis || c->space->stride[o][a] == 0);
    return is;
}

/* True if each input is the same for all results of a row, and lies along it, or for all rows; some of either
 * are reduced. */
static bool are_few_along(const kn_choice *c, int axis)
{
    const int inner = c->space->ndim - 1;
    int64_t shared = 0;
    bool has_rows = false, has_shared = false;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output)
            continue;
        if (c->space->stride[o][axis] != 0 && !is_shared(c, o, axis))
            return false;
        bool is_reduced = c->space->stride[o][inner] != 0;
        if (is_reduced && !is_shared(c, o, axis) && c->space->stride[o][inner] != c->access[o].item_size)
            return false;
        has_rows = has_rows || (is_reduced && kn_reduce_is_of_each_result(c, o) && !is_shared(c, o, axis));
        has_shared = has_shared || (is_reduced && is_shared(c, o, axis));
        shared += is_shared(c, o, axis) ? kn_choice_footprint(c, o) : 0;
    }
    return has_rows && has_shared && shared <= SHARED_BYTES;
}

static int axis_of_few(const kn_choice *c)
{
    const kn_space *s = c->space;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
        if (s->extent[a] >= FEWEST && s->extent[a] <= KN_MOST_FEW && are_few_along(c, a))
            return a;
    return -1;
}

/* Inputs that all rows share are dense, or staged, the others vectors, or broadcast: vectors, or elements. */
static void set_access(kn_schedule *out, const kn_choice *c, int axis)
{
    for (int o = 0; o < c->count; ++o) {
        bool is_vector = c->space->stride[o][c->space->ndim - 1] != 0;
        out->access[o] = c->access[o].is_output  ? KN_GATHER
                         : is_shared(c, o, axis) ? (is_vector ? KN_DENSE : KN_STAGED)
                                                 : (is_vector ? KN_VECTOR : KN_BROADCAST);
    }
}

static uint32_t lanes_of(int64_t items, int each)
{
    return (uint32_t)kn_clamp(kn_divide_up(items, each), 1, WARP);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const int inner = s->ndim - 1;
    kn_reduce_params f = {0};
    if (s->size == 0 || s->n_reduction_axes != 1 || kn_reduce_is_struct(c))
        return false;
    f.axis = axis_of_few(c);
    if (f.axis < 0)
        return false;
    const int vector = kn_reduce_vector(c);
    const int64_t items = s->extent[inner] / vector;
    out->vector = vector;
    if (items > LONGEST || items * vector != s->extent[inner] ||
        kn_reduce_fit_of(c, inner, vector, false) != KN_FIT_ALIGNED)
        return false;
    kn_reduce_few_config *config = kn_reduce_few_config_in(out);
    config->items = items >= MOST_ITEMS ? MOST_ITEMS : items > 1 ? 2 : 1;
    config->whole = items % ((int64_t)config->items * lanes_of(items, config->items)) == 0;
    config->few = (int)s->extent[f.axis];
    out->block = kn_choice_block(c);
    out->rank = kn_reduce_rank(s);
    set_access(out, c, f.axis);
    kn_reduce_set_index(out, c);
    memcpy(params, &f, sizeof f);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const int items = kn_reduce_few_config_of(s)->items;
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    few_field f = {.items = (uint32_t)(kn_reduce_size(part->space) / s->vector)};
    f.lanes = lanes_of(f.items, items);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, chosen.axis, -1);
    f.rows = out->size / part->space->extent[chosen.axis];
    out->grid[0] =
        (unsigned)kn_divide_up(f.rows, (int64_t)(s->block / WARP) * (WARP / f.lanes) * rows_each(items));
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static bool list_levels(kn_levels *levels, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    few_field f;
    memcpy(&f, kn_levels_field(levels), sizeof f);
    kn_levels_lanes(levels, (int64_t)f.items * s->vector, f.lanes, kn_reduce_few_config_of(s)->items, 0);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    few_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " items=\"%u\" lanes=\"%u\"", (unsigned)f.items, (unsigned)f.lanes);
}

const kn_kind kn_kind_reduce_few = {.name = "reduce_few",
                                    .recipe = &kn_recipe_reduce_few,
                                    KN_REDUCE_KIND,
                                    .config = &kn_reduce_few_config_table,
                                    .revision = 2,
                                    .fewest = FEWEST_ELEMENTS,
                                    .field = KN_FIELD(few_field, MEMBERS),
                                    .list_levels = list_levels,
                                    .cut = kn_reduce_cut_beside,
                                    .describe = describe};
