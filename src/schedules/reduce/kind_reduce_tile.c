/* kind_reduce_tile.c - reductions of short rows that are contiguous one after another: many of them are
 * staged in shared memory together. There a thread, or some, reduce the elements of a result, wherever they
 * begin. */
#include "schedules/reduce/kind_reduce_tile.h"
#include "schedules/reduce/kind_reduce_lanes.h"
#include "schedules/reduce/kind_reduce_slices.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    HALVES = 2, /* values that a thread combines in shared memory: src/schedules/reduce/reduce_tile.cu */
    VECTOR_BYTES = 16,
    LONGEST_ROW = 512, /* elements of a row; longer ones have a warp each */
    WIDEST = 1024,     /* columns; wider rows are left to reduce_columns */
    STAGED = 1024,     /* vectors of the widest input that are staged: src/schedules/reduce/reduce_tile.cu */
    SHARED = 40 << 10, /* bytes of shared memory: 48 KB without those of threads that share results, and
                        * without the ends of inputs that begin anywhere */
    LEAST_TILES = 4,   /* of a multiprocessor */
    LONG_VECTORS = 65, /* of rows that others read by vectors, too: not for a tile where tiles are few */
    LONG_WEIGHT = 256, /* elements of a row from which on its weight is one of a long row */
    SHARED_LONG = 64   /* elements of a result from which on several threads share it */
};

/* The kind's field. chunks: rows of `reduced` by `columns` elements of a block, out of `outers`; lanes:
 * threads of a result. */
#define MEMBERS                                                                                              \
    unsigned reduced;                                                                                        \
    unsigned chunks, lanes, are_lanes_together;                                                              \
    long long outers;                                                                                        \
    kn_divider columns;
typedef struct tile_field {
    MEMBERS
} tile_field;

/* Elements of 16 bytes of the widest input that is staged. */
static int vector_of(const kn_choice *c)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && !kn_reduce_is_weight(c, o) && c->access[o].item_size > widest)
            widest = c->access[o].item_size;
    return widest == 0 ? 1 : VECTOR_BYTES / widest;
}

/* Columns of the staged inputs: the elements from one element of a result to the next; 0 if they disagree. */
static int64_t columns_of(const kn_choice *c)
{
    const kn_space *s = c->space;
    int64_t columns = 0;
    for (int o = 0; o < c->count; ++o) {
        int64_t step = s->stride[o][s->ndim - 1] / c->access[o].item_size;
        if (c->access[o].is_output || kn_reduce_is_weight(c, o) || s->stride[o][s->ndim - 1] == 0)
            continue;
        if (s->stride[o][s->ndim - 1] % c->access[o].item_size != 0 || step < 1 ||
            (columns != 0 && step != columns))
            return 0;
        columns = step;
    }
    return columns;
}

/* True if the operand is contiguous in the order: outer output axes, reduction axis, columns. */
static bool is_linear(const kn_choice *c, int o, int64_t columns)
{
    const kn_space *s = c->space;
    int outputs = s->ndim - s->n_reduction_axes, outer = columns > 1 ? outputs - 1 : outputs;
    int64_t item = c->access[o].item_size, step = item * columns * s->extent[s->ndim - 1];
    if (s->stride[o][s->ndim - 1] != item * columns)
        return false;
    if (columns > 1 &&
        (outputs < 1 || s->extent[outputs - 1] != columns || s->stride[o][outputs - 1] != item))
        return false;
    for (int a = outer; a-- > 0; step *= s->extent[a])
        if (s->stride[o][a] != step)
            return false;
    return true;
}

/* False if an input other than a weight is not linear. Results are found by their strides. */
static bool set_access(kn_schedule *out, const kn_choice *c, int64_t columns)
{
    bool all = true;
    for (int o = 0; o < c->count; ++o) {
        out->access[o] = c->access[o].is_output || kn_reduce_is_weight(c, o) ? KN_GATHER : KN_STAGED;
        all = all && (out->access[o] == KN_GATHER || is_linear(c, o, columns));
    }
    return all;
}

/* Bytes of shared memory for the staged inputs. */
static int64_t staged_bytes(const kn_schedule *s, const kn_choice *c)
{
    int64_t bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += s->access[o] == KN_STAGED ? (int64_t)STAGED * s->vector * c->access[o].item_size / 8 * 9 : 0;
    return bytes;
}

/* True if threads with a result each, of few columns, would read the same banks. Then 16 bytes in 144 are
 * left unused. */
static bool meets_banks(int64_t reduced, int64_t columns, int vector)
{
    return columns > 1 && columns < WARP && reduced < WARP && reduced * columns % vector == 0;
}

/* A weight that lies apart or backward, or that of a long row, is loaded by slices for several elements at a
 * time, here one by one. */
static bool has_slow_weight(const kn_choice *c)
{
    int inner = c->space->ndim - 1;
    bool has = false;
    for (int o = 0; o < c->count; ++o)
        has = has || (kn_reduce_is_weight(c, o) && c->space->stride[o][inner] != 0 &&
                      (c->space->extent[inner] >= LONG_WEIGHT ||
                       c->space->stride[o][inner] != c->access[o].item_size));
    return has;
}

static bool take(kn_schedule *out, const kn_choice *c, bool *padded)
{
    const kn_space *s = c->space;
    out->vector = vector_of(c);
    if (s->n_reduction_axes != 1 || s->size == 0 || out->vector == 1)
        return false;
    int64_t reduced = s->extent[s->ndim - 1], columns = columns_of(c);
    out->block = kn_choice_block(c);
    bool short_row = columns == 1 && reduced <= LONGEST_ROW &&
                     (reduced % out->vector != 0 ||
                      kn_reduce_fit_of(c, s->ndim - 1, out->vector, false) != KN_FIT_ALIGNED);
    bool are_few = s->size < (int64_t)c->target->multiprocessors * STAGED * out->vector;
    if (columns == 1 && reduced >= (int64_t)LONG_VECTORS * out->vector && are_few &&
        kn_reduce_fit_of(c, s->ndim - 1, out->vector, false) != KN_FIT_NONE)
        return false;
    if (columns == 1 && has_slow_weight(c) && (kn_reduce_slices_takes(c) || kn_reduce_lanes_gathers(c)))
        return false;
    bool small = columns > 1 && columns < WIDEST && s->size / (reduced * columns) > 1;
    if ((!short_row && !small) || reduced * columns > (int64_t)STAGED * out->vector ||
        !set_access(out, c, columns) || staged_bytes(out, c) > SHARED)
        return false;
    *padded = meets_banks(reduced, columns, out->vector);
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index(out, c);
    return true;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    bool padded = false, takes = take(out, c, &padded);
    kn_reduce_tile_config_in(out)->padded = padded;
    return takes;
}

bool kn_reduce_tile_takes(const kn_choice *c)
{
    kn_schedule schedule = {.kind = NULL};
    bool unused;
    return take(&schedule, c, &unused);
}

/* As many threads to a result as there are beyond one each, where it is long; of few columns as many as fill
 * the banks of shared memory with them. */
static uint32_t lanes_of(const kn_schedule *s, int64_t results, int64_t reduced, int64_t columns)
{
    uint32_t lanes = 1;
    while (lanes < WARP && 2 * lanes <= reduced &&
           (2 * lanes * results <= s->block || (reduced >= SHARED_LONG && lanes < 2) ||
            (columns > 1 && reduced >= WARP && 2 * lanes * columns <= WARP)))
        lanes *= 2;
    return lanes;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    kn_access access[KN_MAX_PARAMS];
    int64_t reduced = space->extent[space->ndim - 1], columns = 1;
    kn_spec_access(access, part->spec);
    int staged = (int)(strchr(s->access, KN_STAGED) - s->access);
    columns = space->stride[staged][space->ndim - 1] / access[staged].item_size;
    tile_field f = {.reduced = (uint32_t)reduced, .columns = kn_divider_make((uint32_t)columns)};
    f.outers = space->size / (reduced * columns);
    int64_t most = (int64_t)STAGED * s->vector / (reduced * columns);
    f.chunks =
        (uint32_t)kn_clamp(f.outers / ((int64_t)part->spec->target.multiprocessors * LEAST_TILES), 1, most);
    f.lanes = lanes_of(s, f.chunks * columns, reduced, columns);
    f.are_lanes_together = columns > 1 && columns < WARP / 2;
    kn_reduce_place_axes(out, space, -1, -1);
    out->grid[0] = (unsigned)kn_divide_up(f.outers, f.chunks);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* The threads of a result take its elements one by one, and are combined by halves. */
static bool list_levels(kn_levels *levels, const kn_part *part)
{
    tile_field f;
    (void)part;
    memcpy(&f, kn_levels_field(levels), sizeof f);
    const kn_level_threads threads = {.items = f.reduced,
                                      .chunk = f.reduced,
                                      .sets = 1,
                                      .threads = f.lanes,
                                      .last = f.lanes,
                                      .lanes = f.lanes};
    kn_level_values values = kn_levels_threads(levels, &threads, f.lanes == 1);
    if (f.lanes > 1)
        kn_levels_apart(levels, values, f.lanes, HALVES, true);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    tile_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " chunks=\"%u of %ux%u\" lanes=\"%u\"", (unsigned)f.chunks, (unsigned)f.reduced,
                  (unsigned)f.columns.extent, (unsigned)f.lanes);
}

const kn_kind kn_kind_reduce_tile = {.name = "reduce_tile",
                                     .recipe = &kn_recipe_reduce_tile,
                                     KN_REDUCE_KIND,
                                     .config = &kn_reduce_tile_config_table,
                                     .revision = 1,
                                     .field = KN_FIELD(tile_field, MEMBERS),
                                     .list_levels = list_levels,
                                     .cut = kn_reduce_cut_outermost,
                                     .describe = describe,
                                     .has_workspace = true};
