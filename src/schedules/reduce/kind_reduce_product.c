/* kind_reduce_product.c - reductions whose inputs are broadcast along an output axis each, as in the product
 * of matrices: `sum(a[:, :, None] * b[None], axis=1)`, distances of all pairs. Results that lie along two
 * axes, rows and columns, are cut in tiles. A block copies what a tile needs of each input to shared memory,
 * a step of the reduction at a time, and a thread combines some rows with some columns in registers. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_kinds.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"

enum {
    BLOCK = 256, /* threads */
    THREAD_BITS = 8,
    NARROW_SIDE = 4, /* rows and columns of results of a thread; more only for values of a word */
    WIDE_SIDE = 8,
    WORD = 4,               /* bytes */
    PAD = 16,               /* bytes between rows in shared memory */
    SHARED_STEP = 20 << 10, /* bytes of it that a block has for a step, at most; for the only one twice, */
    SHARED = 96 << 10,      /* and for all steps that it holds, or the only one, */
    GROUPS_ALONE = 4,       /* if so many groups of threads share the tile */
    FEWEST_TILE_BITS = 4,   /* log2 of a group's threads: more groups have too few terms each */
    MOST_STAGES = 8,        /* steps that it holds */
    WIDEST_TILE = 256,      /* results along an axis */
    FEWEST_STEP_BITS = 2,   /* elements of a step along the reduction axis, log2 */
    MOST_STEP_BITS = 8,     /* the same, */
    ALONE_STEP_BITS = 10, /* and of one that has all elements, which are copied without waiting in between */
    MOST_SPLITS = 64,     /* blocks that share a tile */
    FEWEST_RESULTS = 3,   /* along each axis: fewer share too little of what is read */
    FEW_RESULTS = 4,      /* along an axis, with so many terms in all, that take no tile: */
    FEW_TERMS = 96,
    SHORTEST = 16,       /* elements of a result: of fewer the results are what takes the time, */
    SHORTEST_SHARED = 8, /* but where each is read for so many results */
    SHARED_RESULTS = 6,
    LEAST_SIZE = 1 << 16 /* elements of a space */
};

/* Costs of the model, in instructions of a warp: of a term, to copy an element, to store a result, of a
 * level of groups or a split for each result, of a launch that splits, and the warps of a block that its
 * multiprocessor runs at a time. A block alone waits for its loads; one of threads with many results has few
 * others beside it: a factor. bench/models/fit_products.py evaluates them. */
#define TERM 1.2
#define COPY 10.0
#define STORE 6.0
#define COMBINE 20.0
#define SPLIT 2000.0
#define STEP 220.0
#define ALONE 1.3
#define WIDE 1.3

/* The kind's field. part: elements of a step that a group of threads takes; chunk: steps of a block;
 * stages: steps that shared memory holds. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned char m_bits, n_bits, k_bits, stages;                                                            \
    unsigned part, chunk;                                                                                    \
    long long steps;                                                                                         \
    kn_divider by, per_row, across, down;
typedef struct product_field {
    MEMBERS
} product_field;

/* The output axes along which the tiles lie; kn_reduce_cut_beside reads the first of them. */
typedef struct product_params {
    kn_reduce_params columns;
    int rows_axis;
} product_params;

/* The extents, and the inputs that are copied: bytes of an element, and whether they lie along rows. */
typedef struct product {
    int64_t rows, columns, others, length, row; /* others: results elsewhere; row: along the innermost axis */
    int n_copied, size[KN_MAX_PARAMS], multiprocessors;
    bool is_row[KN_MAX_PARAMS];
} product;

/* log2 of the threads along the rows and columns of a tile, and of a step; blocks that share a tile. */
typedef struct tiling {
    int m_bits, n_bits, k_bits;
    int64_t splits;
    double cost;
} tiling;

/* ---- the space ---- */

static bool moves(const kn_space *s, int o, int axis)
{
    return s->stride[o][axis] != 0;
}

static bool is_reduced(const kn_space *s, int o)
{
    bool is = false;
    for (int a = s->ndim - s->n_reduction_axes; a < s->ndim; ++a)
        is = is || moves(s, o, a);
    return is;
}

/* True if each input that is reduced is broadcast along one of the axes, and some along each. */
static bool are_sides(const kn_choice *c, int m, int n)
{
    const kn_space *s = c->space;
    bool has_rows = false, has_columns = false;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output || !is_reduced(s, o))
            continue;
        if (moves(s, o, m) && moves(s, o, n))
            return false;
        has_rows = has_rows || moves(s, o, m);
        has_columns = has_columns || moves(s, o, n);
    }
    return has_rows && has_columns;
}

static int first_output(const kn_choice *c)
{
    int o = 0;
    while (o < c->count && !c->access[o].is_output)
        ++o;
    return o;
}

/* True if rows of a few terms, or of a few results each, are as soon loaded again for each of them, from the
 * cache. */
static bool are_few_terms(const kn_choice *c, int m, int n)
{
    const kn_space *s = c->space;
    int64_t fewest = s->extent[m] < s->extent[n] ? s->extent[m] : s->extent[n];
    bool are_rows = s->n_reduction_axes == 1;
    if (kn_reduce_size(s) < SHORTEST && fewest < SHARED_RESULTS)
        return true;
    for (int o = 0; o < c->count; ++o)
        are_rows = are_rows && (c->access[o].is_output || !is_reduced(s, o) ||
                                s->stride[o][s->ndim - 1] == c->access[o].item_size);
    return are_rows && fewest * kn_reduce_size(s) <= FEW_TERMS && fewest <= FEW_RESULTS;
}

/* The axes of the most results; results are nearer in memory along the columns. */
static bool find_sides(product_params *out, const kn_choice *c)
{
    const kn_space *s = c->space;
    const int outputs = s->ndim - s->n_reduction_axes, result = first_output(c);
    int64_t most = 0;
    for (int m = 0; m < outputs; ++m)
        for (int n = 0; n < outputs; ++n)
            if (m != n && s->extent[m] >= FEWEST_RESULTS && s->extent[n] >= FEWEST_RESULTS &&
                s->extent[m] * s->extent[n] > most && result < c->count &&
                llabs(s->stride[result][n]) <= llabs(s->stride[result][m]) && are_sides(c, m, n) &&
                !are_few_terms(c, m, n)) {
                most = s->extent[m] * s->extent[n];
                out->columns.axis = n;
                out->rows_axis = m;
            }
    return most > 0;
}

/* The reduction axis along which steps lie: the longest. */
static int axis_of_steps(const kn_space *s)
{
    int axis = s->ndim - 1;
    for (int a = s->ndim - s->n_reduction_axes; a < s->ndim; ++a)
        axis = s->extent[a] > s->extent[axis] ? a : axis;
    return axis;
}

static product product_of(const kn_space *s, const product_params *f, const kn_target *target)
{
    product p = {.rows = s->extent[f->rows_axis],
                 .columns = s->extent[f->columns.axis],
                 .length = kn_reduce_size(s),
                 .row = s->extent[axis_of_steps(s)],
                 .multiprocessors = target->multiprocessors};
    p.others = kn_space_output_size(s) / p.rows / p.columns;
    return p;
}

static void add_input(product *p, int size, bool is_row)
{
    p->is_row[p->n_copied] = is_row;
    p->size[p->n_copied++] = size;
}

/* ---- the tiles ---- */

/* Shared memory of a step, which is no longer than a row. */
static int64_t bytes_of(const product *p, const tiling *t, int side)
{
    int64_t bytes = 0, step = INT64_C(1) << t->k_bits, elements = step < p->row ? step : p->row;
    for (int k = 0; k < p->n_copied; ++k) {
        int64_t tile = (int64_t)side << (p->is_row[k] ? t->m_bits : t->n_bits);
        bytes += (tile * p->size[k] + PAD) * elements;
    }
    return bytes;
}

/* One step has all elements of a result, and is not copied while another is reduced. */
static bool is_step_alone(const tiling *t, const product *p, int side)
{
    int64_t tile = (int64_t)side << (t->m_bits > t->n_bits ? t->m_bits : t->n_bits);
    int groups = BLOCK >> (t->m_bits + t->n_bits);
    return groups >= GROUPS_ALONE && tile <= WIDEST_TILE && p->length == p->row &&
           p->row <= INT64_C(1) << t->k_bits && bytes_of(p, t, side) <= SHARED;
}

static bool fits(const tiling *t, const product *p, int side)
{
    bool is_one = p->length <= INT64_C(1) << t->k_bits;
    return bytes_of(p, t, side) <= (is_one ? 2 : 1) * SHARED_STEP;
}

/* The longest steps that registers and shared memory hold. False: there are none. */
static bool set_steps(tiling *t, const product *p, int side)
{
    int64_t tile = (int64_t)side << (t->m_bits > t->n_bits ? t->m_bits : t->n_bits);
    t->k_bits = MOST_STEP_BITS;
    while (t->k_bits > FEWEST_STEP_BITS && (!fits(t, p, side) || (INT64_C(1) << (t->k_bits - 1)) >= p->row))
        --t->k_bits;
    return tile <= WIDEST_TILE && fits(t, p, side);
}

static int64_t tiles_of(const product *p, const tiling *t, int side)
{
    return kn_divide_up(p->rows, (int64_t)side << t->m_bits) *
           kn_divide_up(p->columns, (int64_t)side << t->n_bits) * p->others;
}

static int64_t steps_of(const product *p, const tiling *t)
{
    return p->length / p->row * kn_divide_up(p->row, INT64_C(1) << t->k_bits);
}

static double cost_of(const product *p, const tiling *t, int side)
{
    const int levels = THREAD_BITS - t->m_bits - t->n_bits, results = side * side;
    const double terms = (double)kn_divide_up(p->length, t->splits);
    double copied = 0;
    for (int k = 0; k < p->n_copied; ++k)
        copied += (double)((int64_t)side << (p->is_row[k] ? t->m_bits : t->n_bits));
    double each = terms / (1 << levels) * (results * TERM + 2.0 * side) + terms * copied / BLOCK * COPY +
                  (double)steps_of(p, t) / (double)t->splits * STEP + results * STORE +
                  results * COMBINE * levels;
    if (t->splits > 1)
        each += results * COMBINE * (double)t->splits + SPLIT;
    double blocks = (double)kn_divide_up(tiles_of(p, t, side) * t->splits, p->multiprocessors);
    return each * (blocks > ALONE ? blocks : ALONE) * (side == WIDE_SIDE ? WIDE : 1);
}

/* Splits that fill the device once or twice. */
static void try_splits(tiling *best, tiling t, const product *p, int side)
{
    const int64_t tiles = tiles_of(p, &t, side);
    for (t.splits = 1; t.splits <= MOST_SPLITS; t.splits *= 2) {
        if (t.splits > 1 && (tiles > KN_MAX_COUNTERS || t.splits > steps_of(p, &t) ||
                             tiles * t.splits > 4 * (int64_t)p->multiprocessors))
            return;
        t.cost = cost_of(p, &t, side);
        if (best->cost == 0 || t.cost < best->cost)
            *best = t;
    }
}

/* The cheapest tiles; cost 0: there are none. Threads with more results have no groups. */
static tiling choose_tiles(const product *p, int side)
{
    tiling best = {.cost = 0};
    for (int m = 0; m <= THREAD_BITS; ++m)
        for (int n = side != NARROW_SIDE    ? THREAD_BITS - m
                     : m < FEWEST_TILE_BITS ? FEWEST_TILE_BITS - m
                                            : 0;
             m + n <= THREAD_BITS; ++n) {
            tiling t = {.m_bits = m, .n_bits = n, .k_bits = ALONE_STEP_BITS};
            if (is_step_alone(&t, p, side))
                try_splits(&best, t, p, side);
            if (set_steps(&t, p, side))
                try_splits(&best, t, p, side);
        }
    return best;
}

/* ---- the choice ---- */

static int side_of(const kn_choice *c, const product *p)
{
    tiling narrow = choose_tiles(p, NARROW_SIDE), wide = {.cost = 0};
    if (kn_reduce_value_size(c) <= WORD && !kn_reduce_is_struct(c))
        wide = choose_tiles(p, WIDE_SIDE);
    if (narrow.cost == 0)
        return 0;
    return wide.cost > 0 && wide.cost < narrow.cost ? WIDE_SIDE : NARROW_SIDE;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    product_params f = {0};
    if (c->block != 0 || s->n_reduction_axes == 0 || s->size < LEAST_SIZE ||
        kn_reduce_size(s) < SHORTEST_SHARED || kn_reduce_size(s) >= KN_REDUCE_STEPS || !find_sides(&f, c))
        return false;
    product p = product_of(s, &f, c->target);
    for (int o = 0; o < c->count; ++o) {
        bool is_row = moves(s, o, f.rows_axis);
        out->access[o] = c->access[o].is_output || !is_reduced(s, o) ? KN_GATHER
                         : is_row                                    ? KN_VECTOR
                                                                     : KN_DENSE;
        if (out->access[o] != KN_GATHER)
            add_input(&p, c->access[o].item_size, is_row);
    }
    kn_reduce_product_config *config = kn_reduce_product_config_in(out);
    config->results_side = side_of(c, &p);
    if (config->results_side == 0)
        return false;
    config->reduction_axes = kn_reduce_one_or_several(s->n_reduction_axes);
    out->vector = 1;
    out->block = BLOCK;
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index_type(out, c);
    out->order = c->program->uses & KN_USES_REDUCTION_INDEX && s->n_reduction_axes == 1 &&
                 s->stride[s->n_operands - 1][s->ndim - 1] > 0;
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

static product product_of_part(const kn_part *part, const product_params *f)
{
    kn_access access[KN_MAX_PARAMS];
    const char *letter = part->spec->schedule.access;
    product p = product_of(part->space, f, &part->spec->target);
    kn_spec_access(access, part->spec);
    for (int o = 0; letter[o]; ++o)
        if (letter[o] != KN_GATHER)
            add_input(&p, access[o].item_size, letter[o] == KN_VECTOR);
    return p;
}

/* Outermost first: the other output axes, rows, columns, the other reduction axes, that of the steps. Returns
 * the number of reduction axes. */
static int place_axes(kn_space *out, const kn_space *s, const product_params *f)
{
    const int outputs = s->ndim - s->n_reduction_axes, steps = axis_of_steps(s);
    int order[KILN_MAX_NDIM], count = 0;
    for (int a = 0; a < outputs; ++a)
        if (a != f->rows_axis && a != f->columns.axis)
            order[count++] = a;
    order[count++] = f->rows_axis;
    order[count++] = f->columns.axis;
    for (int a = outputs; a < s->ndim; ++a)
        if (a != steps)
            order[count++] = a;
    order[count++] = steps;
    kn_space_start(out, s);
    for (int a = 0; a < count; ++a)
        kn_space_put_axis(out, a, s, order[a], 1);
    out->ndim = count;
    return s->n_reduction_axes;
}

/* Steps that shared memory holds: all of a block, or some. */
static unsigned char stages_of(int64_t bytes, unsigned steps)
{
    const int64_t fit = SHARED / bytes < MOST_STAGES ? SHARED / bytes : MOST_STAGES;
    return (unsigned char)(steps < fit ? steps : fit);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    const int side = kn_reduce_product_config_of(&part->spec->schedule)->results_side;
    product_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    product p = product_of_part(part, &chosen);
    tiling t = choose_tiles(&p, side);
    const int64_t across = kn_divide_up(p.columns, (int64_t)side << t.n_bits),
                  down = kn_divide_up(p.rows, (int64_t)side << t.m_bits), tiles = tiles_of(&p, &t, side),
                  step = INT64_C(1) << t.k_bits, groups = BLOCK >> (t.m_bits + t.n_bits);
    product_field f = {.m_bits = (unsigned char)t.m_bits,
                       .n_bits = (unsigned char)t.n_bits,
                       .k_bits = (unsigned char)t.k_bits,
                       .steps = steps_of(&p, &t)};
    f.reduction_rank = place_axes(&out->own_space, s, &chosen);
    f.part = (uint32_t)kn_divide_up(p.row < step ? p.row : step, groups);
    f.chunk = (uint32_t)kn_divide_up(f.steps, t.splits);
    const int64_t splits = kn_divide_up(f.steps, f.chunk), bytes = bytes_of(&p, &t, side);
    f.stages = stages_of(bytes, f.chunk);
    f.by = kn_divider_make((uint32_t)splits);
    f.per_row = kn_divider_make((uint32_t)kn_divide_up(p.row, step));
    f.across = kn_divider_make((uint32_t)across);
    f.down = kn_divider_make((uint32_t)down);
    out->size = kn_space_output_size(s);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    if (splits > 1) {
        out->counters = (int)tiles;
        out->partials = tiles * splits * side * side << (t.m_bits + t.n_bits);
    }
    out->shared_bytes = (unsigned)(bytes * f.stages);
    out->grid[0] = (unsigned)(tiles * splits);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    product_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(
        out, " threads=\"%dx%d\" groups=\"%d\" step=\"%d\" steps=\"%u of %lld\" splits=\"%u\" stages=\"%u\"",
        1 << f.m_bits, 1 << f.n_bits, BLOCK >> (f.m_bits + f.n_bits), 1 << f.k_bits, (unsigned)f.chunk,
        (long long)f.steps, (unsigned)f.by.extent, (unsigned)f.stages);
}

const kn_kind kn_kind_reduce_product = {.name = "reduce_product",
                                        .recipe = &kn_recipe_reduce_product,
                                        KN_REDUCE_KIND,
                                        .config = &kn_reduce_product_config_table,
                                        .revision = 2,
                                        .field = KN_FIELD(product_field, MEMBERS),
                                        .cut = kn_reduce_cut_beside,
                                        .takes_any_layout = true,
                                        .contracts = true,
                                        .describe = describe,
                                        .has_workspace = true};
