/* kind_host_scan.c - scans on the host, of any layout. A block, which stays in the caches, is mapped, scanned
 * by itself, combined with what comes before it, and stored. It is a stretch of one row, or, where elements
 * of several rows are neighbours in memory or rows are short, of rows side by side.
 *
 * Few rows have a block a unit of the launch: each waits for the prefix of the one before. Otherwise a unit
 * goes along its rows. How rows are cut depends on the space alone, so that the bits do not depend on how
 * many threads there are. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "program/cost.h"
#include "schedule/choice.h"
#include "schedules/host/host_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/scan/scan_kinds.h"
#include "space/numbers.h"

enum {
    LINE_SIZE = 4000,      /* elements of a block along a row, whose streams lie in other sets of a cache */
    SIZE = 1 << 13,        /* of a block of rows side by side: 32 KB of float32 */
    STRUCT_SIZE = 1 << 10, /* the same of structs */
    WIDTH = 256,           /* rows side by side, at most */
    SHORT_ROW = 64,        /* elements, up to which rows are taken side by side wherever they are */
    FEWEST_COLUMNS = 16,   /* neighbours, of which vectors are made */
    FEWEST_ROWS = 8,       /* where there are so many */
    FEW_UNITS = 64,        /* of rows, below which their blocks are units too */
    GRAIN = 1 << 14        /* elements that are worth another thread */
};

/* The kind's field. length: of a row; run: rows side by side; width: those of a block; blocks: of a run;
 * chunk: elements of a row that a block has, and chunks of the row; units: of all rows. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int is_parallel;                                                                                         \
    long long length, run, width, blocks, chunk, chunks, units;
typedef struct scan_field {
    MEMBERS
} scan_field;

/* Launch parameters: no binary depends on them. */
typedef struct scan_params {
    int across; /* the output axis along which rows lie side by side; -1 */
} scan_params;

/* Bytes that operands move from one element to the next; a broadcast one moves none. */
static int64_t bytes_along(const kn_choice *c, int axis)
{
    int64_t bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += llabs(c->space->stride[o][axis]);
    return bytes;
}

/* The output axis along which operands move least. */
static int nearest_output_axis(const kn_choice *c)
{
    int best = -1;
    for (int a = 0; a < c->space->ndim - c->space->n_reduction_axes; ++a)
        if (best < 0 || bytes_along(c, a) <= bytes_along(c, best))
            best = a;
    return best;
}

static int across_axis(const kn_choice *c)
{
    const kn_space *s = c->space;
    int axis = nearest_output_axis(c);
    if (axis < 0 || s->n_reduction_axes == 0)
        return axis;
    bool is_nearer = bytes_along(c, axis) < bytes_along(c, s->ndim - 1) && s->extent[axis] >= FEWEST_COLUMNS;
    bool is_short = kn_reduce_size(s) <= SHORT_ROW && s->extent[axis] >= FEWEST_ROWS;
    return is_nearer || is_short ? axis : -1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const scan_params chosen = {across_axis(c)};
    int along = chosen.across >= 0 ? chosen.across : s->ndim - 1;
    memcpy(params, &chosen, sizeof chosen);
    kn_host_scan_config *config = kn_host_scan_config_in(out);
    config->across = chosen.across >= 0;
    config->block_elements = kn_reduce_is_struct(c) ? STRUCT_SIZE : config->across ? SIZE : LINE_SIZE;
    out->rank = kn_reduce_rank(s);
    for (int o = 0; o < c->count; ++o) {
        int64_t step = s->stride[o][along];
        out->access[o] = step == c->access[o].item_size         ? KN_DENSE
                         : step == 0 && !c->access[o].is_output ? KN_BROADCAST
                                                                : KN_GATHER;
    }
    kn_reduce_set_index_type(out, c);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *space = part->space;
    scan_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    const kn_host_scan_config *config = kn_host_scan_config_of(&part->spec->schedule);
    int64_t rows = kn_space_output_size(space), cost = 1 + 2 * kn_cost_functions(part->spec->program);
    scan_field f = {.length = kn_reduce_size(space),
                    .run = config->across ? space->extent[chosen.across] : 1};
    f.width = kn_least(f.run, WIDTH);
    int block = kn_host_scan_way_of(part->spec) ? SIZE : config->block_elements;
    f.chunk = kn_least(f.length > 0 ? f.length : 1, block / f.width);
    f.blocks = kn_divide_up(f.run, f.width);
    f.chunks = kn_divide_up(f.length, f.chunk);
    f.units = rows / f.run * f.blocks;
    f.is_parallel = f.chunks > 1 && f.units < FEW_UNITS;
    f.reduction_rank = kn_reduce_place_axes(out, space, chosen.across, -1);
    out->size = f.units * (f.is_parallel ? f.chunks : 1);
    int64_t of_task = f.width * (f.is_parallel ? f.chunk : f.length);
    out->grain = 1 + GRAIN / cost / (of_task > 0 ? of_task : 1);
    if (f.is_parallel) {
        out->counters = (int)f.units + 2;
        out->partials = f.units * f.chunks * f.width;
    }
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    scan_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " width=\"%lld\" chunk=\"%lld\" chunks=\"%lld\"%s", (long long)f.width,
                  (long long)f.chunk, (long long)f.chunks, f.is_parallel ? " parallel=\"1\"" : "");
}

const kn_kind kn_kind_host_scan = {.name = "scan",
                                   .recipe = &kn_recipe_host_scan,
                                   .pattern = "msm",
                                   .revision = 1,
                                   .choose = choose,
                                   .config = &kn_host_scan_config_table,
                                   .field = KN_FIELD(scan_field, MEMBERS),
                                   .place = place,
                                   .has_wide_axes = true,
                                   .describe = describe,
                                   .has_workspace = true};
