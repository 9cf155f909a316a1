/* kind_sort_rows.c - short rows sorted on CUDA by one launch: a block, or a warp, has a row, and orders its
 * elements by the digits of their keys in shared memory. */
#include "schedule/kind.h"

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
typedef struct rows_field {
    MEMBERS
} rows_field;

/* The lanes of a row, its elements at most, and the threads of a block. */
static const struct {
    int64_t most;
    uint16_t lanes, items, block;
} sizes[] = {{256, 32, 8, 128},
             {512, 64, 8, 64},
             {1024, 128, 8, 128},
             {2048, 256, 8, 256},
             {KN_SORT_ROW, 256, 16, 256}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const int64_t length = kn_reduce_size(c->space);
    int at = 0;
    (void)params;
    while (at < SIZES && length > sizes[at].most)
        ++at;
    if (at == SIZES)
        return false;
    kn_sort_rows_config *config = kn_sort_rows_config_in(out);
    out->block = sizes[at].block;
    out->vector = 1;
    config->one_axis = kn_reduce_set_elements(out, c);
    config->items = sizes[at].items;
    config->row_threads = sizes[at].lanes;
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    rows_field f = {.length = kn_reduce_size(part->space)};
    f.rows = (uint32_t)kn_space_output_size(part->space);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = (uint32_t)kn_divide_up(f.rows, s->block / kn_sort_rows_config_of(s)->row_threads);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_sort_rows = {.name = "sort_rows",
                                   .recipe = &kn_recipe_sort_rows,
                                   .pattern = "mom",
                                   .revision = 1,
                                   .choose = choose,
                                   .place = place,
                                   .has_wide_axes = true,
                                   .config = &kn_sort_rows_config_table,
                                   .field = KN_FIELD(rows_field, MEMBERS)};
