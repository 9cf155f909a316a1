/* kind_sort_top.c - the first elements of long rows on CUDA by one launch: a block reads a row once, and
 * holds those that come first so far in shared memory. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "program/program.h"
#include "schedule/sort_tile.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/sort/sort_kinds.h"

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned rows;
typedef struct top_field {
    MEMBERS
} top_field;

enum { ITEMS = KN_SORT_ROW / KN_SORT_BLOCK /* of a thread: a step, which no row is shorter than */ };

/* Keys of 8 bytes take twice the registers. */
static int items_of(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->access[o].item_size > bytes)
            bytes = c->access[o].item_size;
    return bytes > 4 ? ITEMS / 2 : ITEMS;
}

/* The rank stage's body is the number of elements that are wanted at most. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const long wanted = strtol(c->program->stage[KN_SORT_SORT].body, NULL, 10);
    const int64_t length = kn_reduce_size(c->space);
    (void)params;
    if (wanted < 1 || wanted > KN_SORT_TOP || length <= KN_SORT_ROW || length > INT32_MAX)
        return false;
    kn_sort_top_config *config = kn_sort_top_config_in(out);
    out->block = KN_SORT_BLOCK;
    out->vector = 1;
    config->one_axis = kn_reduce_set_elements(out, c);
    config->items = items_of(c);
    config->wanted = (int)wanted;
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    top_field f = {.length = kn_reduce_size(part->space)};
    f.rows = (uint32_t)kn_space_output_size(part->space);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = (uint32_t)kn_space_output_size(part->space);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_sort_top = {.name = "sort_top",
                                  .recipe = &kn_recipe_sort_top,
                                  .pattern = "mom",
                                  .revision = 1,
                                  .choose = choose,
                                  .place = place,
                                  .has_wide_axes = true,
                                  .config = &kn_sort_top_config_table,
                                  .field = KN_FIELD(top_field, MEMBERS)};
