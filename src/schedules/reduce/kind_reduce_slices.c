/* kind_reduce_slices.c - reductions whose rows lie anywhere: rows of a view with gaps between them, or of an
 * input beside another one that is contiguous along an output axis. A block stages a slice of some rows in
 * shared memory, each as it lies; its threads reduce them, and read what is contiguous across the rows where
 * it is. */
#include "schedules/reduce/kind_reduce_slices.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/kind_reduce_lanes.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"

enum {
    BLOCK = 256,         /* threads */
    STEPS = 8,           /* elements that a thread reduces at a time: the same template */
    CHUNK = 16,          /* bytes that a thread copies at once: src/schedules/reduce/reduce_slices.cu */
    SHARED = 36 << 10,   /* bytes of shared memory: five blocks or more of a multiprocessor */
    LEAST_RESULTS = 32,  /* of a block: those of a warp lie side by side */
    LEAST_FEW = 1 << 12, /* elements of fewer results, which are a tile then: enough for a block's threads */
    BLOCKS = 3,     /* of a multiprocessor, for which slices are split: each part has to be reduced again */
    BLOCKS_FEW = 4, /* the same of few results, as many as run at once: there is little to reduce again */
    LEAST_SIZE = 1 << 14,     /* elements of a space */
    LEAST_CROSSING = 1 << 17, /* the same of inputs that cross: fewer are read from the cache, wherever */
    WORD = 4,                 /* bytes of elements that warps read as fast one by one, */
    LONGEST_WORDS = 512,      /* of so many of a row on: some for each lane; */
    LONGEST_GAPPED = 1500,    /* elements of rows with gaps; */
    SHORTEST_GAPPED = 9,      /* of shorter ones some lanes load each where it is: a warp reads neighbours */
    SHORTEST_UNALIGNED = 65,  /* vectors of rows that are unaligned alike, from which on a warp reads each */
    LEAST_WEIGHTED = 60,      /* of rows of words beside a weight, from which on slices are faster */
    LEAST_BYTES = 64,         /* of rows along one of several reduction axes, that fill a slice */
    ENOUGH_BYTES = 512,       /* of a row in a slice: longer ones need no fewer results in a block */
    MOST_ELEMENTS = 1 << 30   /* of a result */
};

/* The kind's field. by: splits; per_row: slices of a row. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned tile_results, lanes, are_lanes_together, splits, slice, chunk, reduction_unused;                \
    long long steps;                                                                                         \
    kn_divider by, per_row;
typedef struct slices_field {
    MEMBERS
} slices_field;

/* The reduction axis along which inputs are contiguous, the innermost one first; -1. */
static int axis_of_rows(const kn_choice *c)
{
    const kn_space *s = c->space;
    for (int a = s->ndim - 1; a >= s->ndim - s->n_reduction_axes; --a)
        for (int o = 0; o < c->count; ++o)
            if (!c->access[o].is_output && !kn_reduce_is_weight(c, o) && s->extent[a] > 1 &&
                s->stride[o][a] == c->access[o].item_size)
                return a;
    return -1;
}

static bool is_row(const kn_choice *c, int o, int rows)
{
    return !c->access[o].is_output && !kn_reduce_is_weight(c, o) &&
           c->space->stride[o][rows] == c->access[o].item_size;
}

/* The output axis along which every input is contiguous that moves along the rows' axis, but is not
 * contiguous there; -1: there is no such input; -2: they disagree. */
static int axis_across(const kn_choice *c, int rows)
{
    const kn_space *s = c->space;
    int axis = -1;
    for (int o = 0; o < c->count && axis > -2; ++o) {
        if (c->access[o].is_output || s->stride[o][rows] == 0 || kn_reduce_is_weight(c, o) ||
            is_row(c, o, rows))
            continue;
        int own = -2;
        for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
            own = s->stride[o][a] == c->access[o].item_size ? a : own;
        axis = axis == -1 || axis == own ? own : -2;
    }
    return axis;
}

/* True if the space is large enough, and rows along several axes fill slices. */
static bool is_worth_it(const kn_choice *c, int rows)
{
    const kn_space *s = c->space;
    return c->block == 0 && rows >= 0 && s->size >= LEAST_SIZE && kn_reduce_size(s) <= MOST_ELEMENTS &&
           (s->n_reduction_axes == 1 || s->extent[rows] * kn_choice_widest(c, false) >= LEAST_BYTES);
}

int kn_reduce_slices_crossed(const kn_choice *c)
{
    const kn_space *s = c->space;
    int rows = axis_of_rows(c), across = rows >= 0 ? axis_across(c, rows) : -1;
    if (across < 0 || s->size < LEAST_CROSSING || !is_worth_it(c, rows))
        return -1;
    bool are_enough = s->extent[across] >= LEAST_RESULTS ||
                      (s->extent[across] * s->extent[rows] >= LEAST_FEW && !kn_reduce_is_struct(c));
    return are_enough ? across : -1;
}

bool kn_reduce_slices_crosses(const kn_choice *c)
{
    return kn_reduce_slices_crossed(c) >= 0;
}

/* Elements of a row with gaps, at most. */
static int64_t longest_of(const kn_choice *c, int rows)
{
    bool are_words = c->space->n_reduction_axes == 1;
    for (int o = 0; o < c->count; ++o)
        are_words = are_words && (!is_row(c, o, rows) || c->access[o].item_size >= WORD);
    return are_words ? LONGEST_WORDS : LONGEST_GAPPED;
}

/* Rows of one input, of double words, or long ones of words beside a weight of their elements: gathered
 * vectors take up to a third longer than a slice (an H200). */
static bool is_better_staged(const kn_choice *c, int rows)
{
    int inputs = 0, item = 0;
    bool has_weight = false;
    for (int o = 0; o < c->count; ++o) {
        bool is_weight = kn_reduce_is_weight(c, o);
        has_weight = has_weight || (is_weight && c->space->stride[o][rows] != 0);
        if (c->access[o].is_output || is_weight)
            continue;
        ++inputs;
        item = c->access[o].item_size;
    }
    bool is_weighted_long = item == WORD && has_weight && c->space->extent[rows] >= LEAST_WEIGHTED;
    return c->space->n_reduction_axes == 1 && inputs == 1 &&
           ((item > WORD && !has_weight) || is_weighted_long);
}

/* Rows that begin anywhere, and are too short to be read by vectors from their first boundary on. Those of
 * whole vectors are gathered by reduce_lanes. */
static bool has_gaps(const kn_choice *c)
{
    const kn_space *s = c->space;
    int rows = axis_of_rows(c), vector = kn_reduce_vector(c);
    if (!is_worth_it(c, rows) || kn_space_output_size(s) < LEAST_RESULTS || axis_across(c, rows) != -1 ||
        s->extent[rows] > longest_of(c, rows) ||
        (s->n_reduction_axes == 1 && s->extent[rows] < SHORTEST_GAPPED))
        return false;
    int64_t bytes = s->extent[rows] * kn_choice_widest(c, false);
    if (bytes < CHUNK || (s->n_reduction_axes > 1 && bytes > ENOUGH_BYTES))
        return false;
    if (kn_reduce_lanes_gathers(c) && !is_better_staged(c, rows))
        return false;
    kn_reduce_fit fit = kn_reduce_fit_of(c, rows, vector, false);
    bool is_long = s->n_reduction_axes == 1 && s->extent[rows] >= (int64_t)SHORTEST_UNALIGNED * vector;
    return fit == KN_FIT_NONE || (!is_long && (s->extent[rows] % vector != 0 || fit != KN_FIT_ALIGNED));
}

bool kn_reduce_slices_takes(const kn_choice *c)
{
    return kn_reduce_slices_crosses(c) || has_gaps(c);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_reduce_params f = {0};
    if (!kn_reduce_slices_takes(c))
        return false;
    f.inner = axis_of_rows(c);
    f.axis = axis_across(c, f.inner);
    out->vector = 1;
    out->block = BLOCK;
    kn_reduce_axes_config_in(out)->reduction_axes = kn_reduce_one_or_several(c->space->n_reduction_axes);
    out->rank = kn_reduce_rank(c->space);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = is_row(c, o, f.inner) ? KN_STAGED : KN_GATHER;
    kn_reduce_set_index(out, c);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* Bytes of shared memory between a slice and that of the next row: src/schedules/reduce/reduce_slices.cu. */
static int64_t pitch_of(int64_t slice, int size)
{
    return (((slice * size + 2 * (CHUNK - 1)) / CHUNK) | 1) * CHUNK;
}

/* The staged inputs of a result's row. */
typedef struct staged {
    int count, bytes, smallest; /* operands; bytes of an element of each, of the smallest one */
    int size[KN_MAX_PARAMS];
    bool is_all; /* nothing else is read at other places for each result and element */
} staged;

static staged staged_of(const kn_part *part, int rows)
{
    kn_access access[KN_MAX_PARAMS];
    const kn_space *s = part->space;
    const char *letter = part->spec->schedule.access;
    staged all = {.smallest = CHUNK, .is_all = true};
    kn_spec_access(access, part->spec);
    for (int o = 0; letter[o]; ++o) {
        int size = access[o].item_size;
        if (letter[o] == KN_STAGED) {
            all.size[all.count++] = size;
            all.bytes += size;
            all.smallest = size < all.smallest ? size : all.smallest;
        } else if (!access[o].is_output && s->stride[o][rows] != 0) {
            for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
                all.is_all = all.is_all && s->stride[o][a] == 0;
        }
    }
    return all;
}

static int64_t bytes_of(const staged *all, int64_t results, int64_t slice)
{
    int64_t bytes = 0;
    for (int k = 0; k < all->count; ++k)
        bytes += results * pitch_of(slice, all->size[k]);
    return bytes;
}

/* Few threads a result, so that many lie side by side, and a thread has many elements beside what finding its
 * row costs; more if shared memory does not hold their rows, or there are fewer results. side: results side
 * by side; if they are few, a tile has these alone, so that a warp reads neighbours across the rows. */
static void lay_threads(slices_field *f, const staged *all, int block, int64_t results, int64_t side,
                        int64_t row)
{
    int64_t enough = row < ENOUGH_BYTES / all->smallest ? row : ENOUGH_BYTES / all->smallest;
    f->lanes = 1;
    f->are_lanes_together = all->is_all;
    f->tile_results = (uint32_t)block / f->lanes;
    while (f->tile_results / 2 >= LEAST_RESULTS &&
           (f->tile_results / 2 >= results || bytes_of(all, f->tile_results, enough) > SHARED))
        f->tile_results /= 2;
    if (side < LEAST_RESULTS)
        f->tile_results = (uint32_t)side;
    f->lanes = (uint32_t)block / f->tile_results;
    int64_t most = (SHARED / f->tile_results - all->count * 3 * CHUNK) / (all->bytes > 0 ? all->bytes : 1) /
                   CHUNK * CHUNK;
    f->slice = (uint32_t)(bytes_of(all, f->tile_results, row) <= SHARED ? row : most < CHUNK ? CHUNK : most);
    if (side < LEAST_RESULTS && f->slice > STEPS * f->lanes) /* all iterations are whole then */
        f->slice -= f->slice % (STEPS * f->lanes);
}

static void split(slices_field *f, const kn_part *part, int64_t tiles)
{
    int64_t blocks = f->tile_results < LEAST_RESULTS ? BLOCKS_FEW : BLOCKS;
    int64_t wanted = kn_divide_up((int64_t)part->spec->target.multiprocessors * blocks, tiles);
    int64_t splits = kn_clamp(tiles > KN_MAX_COUNTERS ? 1 : wanted, 1, f->steps);
    f->chunk = (uint32_t)kn_divide_up(f->steps, splits);
    f->splits = (uint32_t)kn_divide_up(f->steps, f->chunk);
    f->by = kn_divider_make(f->splits);
}

/* The axis of the rows innermost. */
static int put_reduction_axes(kn_space *own_space, const kn_space *space, int rows)
{
    int others = space->n_reduction_axes > 1 ? kn_reduce_put_reduction_axes(own_space, space, rows) : 0;
    kn_space_put_axis(own_space, own_space->ndim++, space, rows, 1);
    return others + 1;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    staged all = staged_of(part, chosen.inner);
    slices_field f = {0};
    int64_t row = s->extent[chosen.inner], side = chosen.axis < 0 ? LEAST_RESULTS : s->extent[chosen.axis];
    out->size = kn_space_output_size(s);
    lay_threads(&f, &all, part->spec->schedule.block, out->size, side, row);
    int64_t slices = kn_divide_up(row, f.slice), tiles = kn_divide_up(out->size, f.tile_results);
    f.steps = kn_reduce_size(s) / row * slices;
    f.per_row = kn_divider_make((uint32_t)slices);
    split(&f, part, tiles);
    kn_reduce_put_output_axes(&out->own_space, s, chosen.axis);
    f.reduction_rank = put_reduction_axes(&out->own_space, s, chosen.inner);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    if (f.splits > 1) {
        out->counters = (int)tiles;
        out->partials = tiles * f.splits * f.tile_results;
    }
    out->shared_bytes = (unsigned)bytes_of(&all, f.tile_results, f.slice);
    out->grid[0] = (unsigned)(tiles * f.splits);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* The lanes of a result combine their elements of a slice, then their slices, then each other. The last slice
 * may be shorter. False: one of each row is. */
static bool list_levels(kn_levels *levels, const kn_part *part)
{
    const kn_space *s = part->space;
    kn_reduce_params chosen;
    slices_field f;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    memcpy(&f, kn_levels_field(levels), sizeof f);
    const int64_t row = s->extent[chosen.inner], rows = kn_reduce_size(s) / row;
    const int64_t each = f.slice < row ? f.slice : row, rest = row % each == 0 ? each : row % each;
    if (rows > 1 && rest != each)
        return false;
    const kn_level_threads threads = {.items = rows * row,
                                      .chunk = each,
                                      .sets = f.steps,
                                      .threads = f.lanes < each ? f.lanes : each,
                                      .last = f.lanes < rest ? f.lanes : rest,
                                      .lanes = f.lanes,
                                      .turn = STEPS};
    kn_levels_number_along(levels, chosen.inner);
    kn_level_values values = kn_levels_threads(levels, &threads, false);
    values = kn_levels_sets(levels, values, f.chunk, KN_LEVELS_CHAIN, false);
    values = kn_levels_pairs(levels, values, f.splits == 1);
    if (f.splits > 1) {
        values = kn_levels_strided(levels, kn_levels_join_sets(values), f.lanes, false);
        kn_levels_pairs(levels, values, true);
    }
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    slices_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " results=\"%u\" lanes=\"%u%s\" slice=\"%u\" steps=\"%u of %lld\" splits=\"%u\"",
                  (unsigned)f.tile_results, (unsigned)f.lanes, f.are_lanes_together ? " together" : "",
                  (unsigned)f.slice, (unsigned)f.chunk, (long long)f.steps, (unsigned)f.splits);
}

const kn_kind kn_kind_reduce_slices = {.name = "reduce_slices",
                                       .recipe = &kn_recipe_reduce_slices,
                                       KN_REDUCE_KIND,
                                       .config = &kn_reduce_axes_config_table,
                                       .revision = 2,
                                       .field = KN_FIELD(slices_field, MEMBERS),
                                       .list_levels = list_levels,
                                       .cut = kn_reduce_cut_beside,
                                       .describe = describe,
                                       .has_workspace = true};
