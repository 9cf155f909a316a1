/* kind_sort_place.c - one pass of a radix sort on CUDA: each element learns its place among those of its row,
 * ordered stably by a digit. A block ranks the elements of a tile, and looks back to the tiles before it for
 * how many they have of each digit (sort_place.cu). */
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
    unsigned tiles;
typedef struct place_field {
    MEMBERS
} place_field;

/* Inputs are sorted in shared memory, and stored from there. */
static int input_bytes(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += c->access[o].is_output ? 0 : c->access[o].item_size;
    return bytes;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    out->block = KN_SORT_BLOCK;
    out->vector = 1;
    kn_sort_place_config *config = kn_sort_place_config_in(out);
    config->one_axis = kn_reduce_set_elements(out, c);
    config->items = kn_sort_items(input_bytes(c));
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    place_field f = {.length = kn_reduce_size(part->space)};
    f.tiles = (uint32_t)kn_divide_up(f.length, (int64_t)s->block * kn_sort_place_config_of(s)->items);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles * (uint32_t)kn_space_output_size(part->space);
    out->counters = 1;
    if (s->baseline) /* a warp has a tile */
        out->block = 32;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    place_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " tiles=\"%u\"", (unsigned)f.tiles);
}

const kn_kind kn_kind_sort_place = {.name = "sort_place",
                                    .recipe = &kn_recipe_sort_place,
                                    .pattern = "mpm",
                                    .revision = 1,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .has_baseline = true,
                                    .describe = describe,
                                    .has_workspace = true,
                                    .config = &kn_sort_place_config_table,
                                    .field = KN_FIELD(place_field, MEMBERS)};
