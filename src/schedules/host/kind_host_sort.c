/* kind_host_sort.c - the passes of a radix sort on the host. A chunk of a row is counted, or placed, at a
 * time. Of few rows the chunks are tasks: each counts its digits, and waits for the numbers of those in the
 * chunk before, which that one puts down before it stores its elements. */
#include "schedule/kind.h"

#include <string.h>

#include "program/cost.h"
#include "schedule/sort_tile.h"
#include "schedules/host/host_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"

enum {
    CHUNK = 1 << 14, /* elements; no fewer than a tile of kn_sort_tile */
    FEW_ROWS = 64,   /* below which their chunks are tasks of their own */
    GRAIN = 1 << 14  /* elements that are worth another thread */
};
_Static_assert(CHUNK >= KN_SORT_ITEMS * KN_SORT_BLOCK, "the algorithm has words for such chunks");

/* The kind's field. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int is_parallel;                                                                                         \
    long long length, chunk, chunks, rows;
typedef struct sort_field {
    MEMBERS
} sort_field;

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_host_sort_config_in(out)->one_axis = kn_reduce_set_elements(out, c);
    return true;
}

static sort_field plan(kn_placement *out, const kn_part *part)
{
    sort_field f = {
        .length = kn_reduce_size(part->space), .chunk = CHUNK, .rows = kn_space_output_size(part->space)};
    f.chunks = kn_divide_up(f.length, f.chunk);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->grain = 1 + GRAIN / (1 + 2 * kn_cost_functions(part->spec->program)) /
                         kn_least(f.chunk, f.length > 0 ? f.length : 1);
    return f;
}

static kiln_status place_counts(kn_placement *out, const kn_part *part)
{
    sort_field f = plan(out, part);
    out->size = f.rows * f.chunks;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    sort_field f = plan(out, part);
    f.is_parallel = f.chunks > 1 && f.rows < FEW_ROWS;
    out->size = f.rows * (f.is_parallel ? f.chunks : 1);
    out->counters = f.is_parallel ? (int)f.rows + 1 : 0;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    sort_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " chunks=\"%lld\"%s", (long long)f.chunks, f.is_parallel ? " parallel=\"1\"" : "");
}

#define SORT_KIND                                                                                            \
    .revision = 1, .choose = choose, .config = &kn_host_sort_config_table,                                   \
    .field = KN_FIELD(sort_field, MEMBERS), .has_wide_axes = true, .describe = describe

const kn_kind kn_kind_host_sort_count = {.name = "sort_count",
                                         .recipe = &kn_recipe_host_sort_count,
                                         .pattern = "mcm",
                                         .place = place_counts,
                                         SORT_KIND};
const kn_kind kn_kind_host_sort_place = {.name = "sort_place",
                                         .recipe = &kn_recipe_host_sort_place,
                                         .pattern = "mpm",
                                         .place = place,
                                         .has_workspace = true,
                                         SORT_KIND};
