/* kind_sort_count.c - the digits of all keys counted on CUDA, in one read: a block counts its part of a row
 * in shared memory, and adds that to the row's counts. These are integers: the order of the additions does
 * not matter. */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/sort_tile.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/sort/sort_kinds.h"

enum { LEAST_ITEMS = 8, MOST_ITEMS = 64 /* of a thread */, BLOCKS = 512 /* if they can be as many */ };

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned tiles, rows, of_block;
typedef struct count_field {
    MEMBERS
} count_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    out->block = KN_SORT_BLOCK;
    out->vector = 1;
    kn_sort_count_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    count_field f = {.length = kn_reduce_size(part->space)};
    f.rows = (uint32_t)kn_space_output_size(part->space);
    const int64_t items =
        f.length * f.rows / ((int64_t)BLOCKS * s->block) / LEAST_ITEMS * LEAST_ITEMS; /* loaded at once */
    f.of_block = (uint32_t)s->block * (uint32_t)(items < LEAST_ITEMS  ? LEAST_ITEMS
                                                 : items < MOST_ITEMS ? items
                                                                      : MOST_ITEMS);
    f.tiles = (uint32_t)kn_divide_up(f.length, f.of_block);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles * f.rows;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_sort_count = {.name = "sort_count",
                                    .recipe = &kn_recipe_sort_count,
                                    .pattern = "mcm",
                                    .revision = 2,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .has_baseline = true,
                                    .config = &kn_sort_count_config_table,
                                    .field = KN_FIELD(count_field, MEMBERS)};
