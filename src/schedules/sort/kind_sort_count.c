/* kind_sort_count.c - the digits of all keys counted on CUDA, in one read: a block counts its part of a row
 * in shared memory, and adds that to the row's counts. These are integers: the order of the additions does
 * not matter. */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/sort_tile.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/sort/sort_kinds.h"

enum {
    LEAST_ITEMS = 8, /* of a thread */
    MOST_ITEMS = 64,
    MOST_OF_WIDE = 256,
    BLOCKS = 512,   /* if they can be as many */
    WIDE = 1 << 16, /* elements of a row that are worth many copies of counts */
    WIDE_BLOCK = 1024,
    WIDE_SHARED = 128 << 10 /* bytes of shared memory that these take, at most */
};

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
    const bool is_wide = (kn_reduce_size(c->space) >= WIDE || c->takes_few) &&
                         c->target->shared_memory_per_block >= WIDE_SHARED;
    out->block = is_wide ? WIDE_BLOCK : KN_SORT_BLOCK;
    out->vector = 1;
    kn_sort_count_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    kn_sort_count_config_in(out)->many = is_wide;
    return true;
}

/* A block's counts are not many there. */
static void make_baseline(kn_schedule *s)
{
    s->block = KN_SORT_BLOCK;
    kn_sort_count_config_in(s)->many = 0;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    count_field f = {.length = kn_reduce_size(part->space)};
    f.rows = (uint32_t)kn_space_output_size(part->space);
    const int64_t items =
        f.length * f.rows / ((int64_t)BLOCKS * s->block) / LEAST_ITEMS * LEAST_ITEMS; /* loaded at once */
    const int64_t most = kn_sort_count_config_of(s)->many ? MOST_OF_WIDE : MOST_ITEMS;
    f.of_block = (uint32_t)(s->block * kn_clamp(items, LEAST_ITEMS, most));
    f.tiles = (uint32_t)kn_divide_up(f.length, f.of_block);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles * f.rows;
    if (!s->baseline)
        out->shared_bytes = (unsigned)(kn_sort_count_digits(part->spec) * KN_SORT_DIGITS *
                                       (int)sizeof(uint32_t) * kn_sort_count_copies(part->spec));
    out->shared_percent = 100;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_sort_count = {.name = "sort_count",
                                    .recipe = &kn_recipe_sort_count,
                                    .pattern = "mcm",
                                    .revision = 3,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .has_baseline = true,
                                    .make_baseline = make_baseline,
                                    .config = &kn_sort_count_config_table,
                                    .field = KN_FIELD(count_field, MEMBERS)};
