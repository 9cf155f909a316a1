/* kind_row_columns.c - row programs whose arrays are contiguous across rows: a block, or a cluster of blocks
 * that send each other what they have reduced, holds a tile of neighbouring rows in registers and shared
 * memory. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "program/cost.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    ACCESS = 16,          /* bytes of a vector of the widest operand */
    SECTOR = 32,          /* bytes that memory moves at least, */
    LINE = 128,           /* and at best */
    LEAST_VECTOR = 8,     /* bytes; shorter ones take too many instructions */
    THREADS = 1024,       /* of a block, at most, */
    RESIDENT = 1024,      /* of a multiprocessor: with 64 registers each, */
    FULL = 640,           /* and so many of which enough wait for loads, where others lie in shared memory */
    BESIDE = 12 << 10,    /* bytes of a block's shared memory for what is reduced (cuda_columns.cu) */
    NEAR = 8 << 10,       /* bytes apart up to which 64 bytes of a line are as good as all */
    MOST_STAGED = 12,     /* items in shared memory of a thread that has not whole rows, */
    NARROW_ITEM = 4,      /* but for items of so many bytes */
    ITEMS = 4,            /* of a thread in registers; more of them are stored to memory and back, */
    MORE = 8,             /* but for tiles that are in registers alone, whose blocks have */
    FEW_THREADS = 128,    /* at most, */
    HALVES = 8,           /* elements of a vector from which on clusters cost little */
    MOST_ACROSS = 256,    /* threads side by side; more than a warp's only where each has whole rows */
    SMALL = 1 << 17,      /* elements, above which few blocks leave memory idle */
    LANES_LENGTH = 32,    /* elements of rows that a thread holds by itself, */
    LANES_ROWS = 1 << 16, /* of so many rows at least, */
    LANES_ITEM = 4, /* and elements of so many bytes: two thirds of the time; of two bytes twice as much */
    LARGEST = 8 /* blocks of a cluster: longer rows are faster by two kernels, each at the memory's speed */
};

/* Chosen for each space, without a binary of its own. The first member is what kn_reduce_cut_beside reads. */
typedef struct tile_params {
    kn_reduce_params reduce;
    int across, blocks, threads; /* vectors of a tile side by side; blocks of a tile; threads of a block */
    int staged;                  /* items of a thread in shared memory, behind those in registers */
    int held;                    /* those in registers: the binary's */
} tile_params;

/* One that is tried. */
typedef struct layout_of_tile {
    int across, blocks, staged, held; /* held: items in registers */
    /* bytes of an element: of the widest and the narrowest operand across rows, of what is staged */
    int widest, narrowest, staged_bytes;
    bool writes, computes; /* elements along rows; functions of them */
    bool has_late;         /* inputs that are first read behind a reduction */
    int64_t pitch;         /* bytes from one element of a row to the next, of the widest operand */
} layout_of_tile;

#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length, share, staged;                                                                               \
    unsigned tiles, across, shift, width, blocks, columns_unused;                                            \
    long long columns;
typedef struct columns_field {
    MEMBERS
} columns_field;

/* ---- the choice ---- */

/* Structs take too many registers: a thread reduces a vector of them. */
static bool reduces_structs(const kn_program *p)
{
    bool is_struct = false;
    for (int s = 0; s < p->n_stages; ++s)
        is_struct = is_struct ||
                    (p->stage[s].kind == KN_REDUCE && p->param[p->stage[s].value[1]].type == KN_TYPE_STRUCT);
    return is_struct;
}

static bool moves_along_row(const kn_choice *c, int o)
{
    return c->space->stride[o][c->space->ndim - 1] != 0;
}

/* True if vectors of the operand lie across rows: it is contiguous there, or broadcast. Results of a row are
 * stored one by one. */
static bool lies_across(const kn_choice *c, int o, int axis)
{
    int64_t stride = c->space->stride[o][axis];
    if (c->access[o].is_output)
        return !moves_along_row(c, o) || stride == c->access[o].item_size;
    return stride == 0 || stride == c->access[o].item_size;
}

/* True if every vector of the operand is aligned to its size. */
static bool is_aligned(const kn_choice *c, int o, int axis, int vector)
{
    int64_t bytes = (int64_t)vector * c->access[o].item_size;
    return c->space->stride[o][axis] == 0 || (c->access[o].is_output && !moves_along_row(c, o)) ||
           kn_choice_is_aligned(c, o, axis, bytes);
}

/* Bytes of an element of the widest operand that lies across rows and is another one for each element. */
static int widest_across(const kn_choice *c, int axis)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (moves_along_row(c, o) && c->space->stride[o][axis] == c->access[o].item_size &&
            c->access[o].item_size > widest)
            widest = c->access[o].item_size;
    return widest;
}

/* Bytes from one element of a row to the next, of such an operand. */
static int64_t pitch_of(const kn_choice *c, int axis, int widest)
{
    int inner = c->space->ndim - 1;
    for (int o = 0; o < c->count; ++o)
        if (moves_along_row(c, o) && c->access[o].item_size == widest && c->space->stride[o][axis] == widest)
            return llabs(c->space->stride[o][inner]);
    return 0;
}

static int vector_of(const kn_choice *c, int axis, int widest)
{
    int vector = ACCESS / widest, most = kn_row_most_held(c);
    for (vector = vector < most ? vector : most; vector > 1; vector /= 2) {
        bool fits = c->space->extent[axis] % vector == 0;
        for (int o = 0; o < c->count && fits; ++o)
            fits = is_aligned(c, o, axis, vector);
        if (fits)
            break;
    }
    return vector;
}

/* More items where they are small. */
static int scale_of(const kn_schedule *s)
{
    return s->vector < 4 ? 4 / s->vector : 1;
}

/* Blocks that a multiprocessor has at a time; 0: one has too much shared memory. */
static int64_t concurrent_blocks(const kn_target *t, int64_t threads, int64_t shared)
{
    int64_t by_threads = RESIDENT / threads,
            by_shared = t->shared_memory_per_multiprocessor / (shared + BESIDE);
    return shared + BESIDE > t->shared_memory_per_block ? 0 : by_threads < by_shared ? by_threads : by_shared;
}

/* The factor of a block's threads: few of them leave while others load. Single elements wait longer. */
static double cost_of_threads(int64_t threads, int vector)
{
    if (vector >= HALVES)
        return threads > 512 ? 1.2 : threads > 256 ? 1.08 : threads >= 128 ? 1 : threads > 64 ? 1.03 : 1.1;
    if (vector == 1)
        return threads > 512 ? 1.2 : threads > 256 ? 1.05 : threads > 128 ? 1 : threads > 64 ? 1.04 : 1.1;
    return threads > 512    ? 1.2
           : threads > 256  ? 1.05
           : threads > 128  ? 1.02
           : threads == 128 ? 1
           : threads > 64   ? 1.03
                            : 1.1;
}

/* The factor of a tile's width. Half lines are as good where they begin with sectors and the next ones are
 * near; few elements take no time. Results that begin anywhere share sectors with those of other tiles. */
static double cost_of_width(const kn_choice *c, const kn_schedule *s, const layout_of_tile *l)
{
    int64_t width = (int64_t)l->across * s->vector, bytes = width * l->widest;
    bool are_near = l->pitch <= NEAR && (l->pitch % SECTOR == 0 || c->space->size <= SMALL);
    double cost = bytes >= LINE ? 1 : bytes >= LINE / 2 && are_near ? 1.02 : bytes >= LINE / 2 ? 1.12 : 1.5;
    cost *= s->vector == 1 && l->writes && bytes < 2L * LINE ? 1.6 : 1;
    return width * l->narrowest < SECTOR ? cost * 1.1 : cost;
}

/* The time that a tile takes, relative to one that moves whole lines by four blocks of a multiprocessor of
 * 128 threads each, from times of an H200: bench/results/nvidia-h200-anyaxis.md. 0: it is no tile. */
static double cost_of(tile_params *t, const kn_choice *c, const kn_schedule *s, const layout_of_tile *l)
{
    int64_t length = kn_row_length(c), run = c->space->extent[t->reduce.axis];
    int64_t rows = l->across < WARP ? WARP / l->across : 1, share = kn_divide_up(length, l->blocks);
    int held = l->held;
    int64_t down = kn_divide_up(kn_divide_up(share, held + l->staged), rows) * rows;
    int64_t threads = down * l->across, items = kn_divide_up(share, down),
            width = (int64_t)l->across * s->vector;
    int64_t tiles = kn_divide_up(run, width), staged = items > held ? items - held : 0;
    int64_t concurrent =
        concurrent_blocks(c->target, threads, staged * threads * s->vector * l->staged_bytes);
    int64_t grid = tiles * (kn_space_output_size(c->space) / run) * l->blocks;
    bool are_narrow = s->vector * l->staged_bytes <= NARROW_ITEM && l->blocks > 1;
    /* all in registers, enough for loads under way: functions are computed once */
    bool is_held = staged == 0 && held >= MORE && s->vector > 1 && l->computes && l->blocks == 1;
    if (threads > THREADS || (l->staged > MOST_STAGED * scale_of(s) && down > 1 && !are_narrow) ||
        (held > ITEMS * scale_of(s) && !(is_held && threads <= FEW_THREADS &&
                                         s->vector * l->staged_bytes == ACCESS && s->vector < HALVES)) ||
        width * l->widest < (l->blocks > 1 && c->space->size > SMALL ? LINE : SECTOR) ||
        (l->blocks > 1 && s->vector == 1 && l->widest > LANES_ITEM) || concurrent < (l->blocks > 1 ? 2 : 1) ||
        (l->across > WARP && down * l->blocks > 1) || share * (l->blocks - 1) >= length ||
        (c->space->size > SMALL && grid < c->target->multiprocessors))
        return 0;
    *t = (tile_params){t->reduce, l->across, l->blocks, (int)threads, (int)staged, held};
    double cost = (double)(down * items * l->blocks * tiles * width) / ((double)length * (double)run);
    cost = 1 + (cost - 1) / 2; /* a thread without an element leaves memory idle in part */
    cost *= cost_of_width(c, s, l) * cost_of_threads(threads, s->vector);
    bool is_pair = s->vector == 2; /* of double words: what is staged takes longer */
    bool are_enough = items > (is_pair ? ITEMS : 2 * ITEMS) * scale_of(s) || items == length;
    cost *= are_enough || (s->vector == 1 && staged > 0) ? 1 : 1.05;
    cost *= is_pair && staged > held ? 1.06 : 1;
    cost *= l->has_late && staged <= 2L * ITEMS && s->vector == ITEMS ? 0.96 : 1;
    cost *= is_held && items > MORE / 2 ? 0.87 : 1;
    for (int blocks = 1; blocks < l->blocks; blocks *= 2)
        cost *= s->vector < HALVES ? 1.06 : 1.04;
    /* where most of the device idles, the items of a thread take the time */
    double idle = (double)c->target->multiprocessors / (double)grid, steps = (double)items / held;
    cost *= idle > 1 && steps > 1 ? (idle < steps ? idle : steps) : 1;
    cost *= concurrent * threads < FULL && staged > 0 && down > 1 ? 1.2 : 1;
    return concurrent == 1 ? cost * 1.25 : cost;
}

/* Bytes of an element of all inputs that kernels stage, at most: which parameters are arrays is not known. */
static int staged_bytes(const kn_choice *c, const kn_schedule *s, int axis)
{
    int early = 0, count = 0, widest = 0;
    for (int k = 0; k < c->program->n_in; ++k)
        early += kn_row_is_early(c->program, k);
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output || (s->vector > 1 && c->space->stride[o][axis] == 0))
            continue;
        ++count;
        widest = c->access[o].item_size > widest ? c->access[o].item_size : widest;
    }
    return (early < count ? early : count) * widest;
}

/* Bytes of an element of the narrowest operand that lies across rows. */
static int narrowest_across(const kn_choice *c, int axis, int widest)
{
    int narrowest = widest;
    for (int o = 0; o < c->count; ++o)
        if (moves_along_row(c, o) && c->space->stride[o][axis] == c->access[o].item_size &&
            c->access[o].item_size < narrowest)
            narrowest = c->access[o].item_size;
    return narrowest;
}

/* True if stages compute functions of elements. */
static bool computes(const kn_choice *c)
{
    bool some = false;
    for (int t = 0; t < c->program->n_stages; ++t)
        some = some || (c->program->stage[t].kind != KN_REDUCE && c->program->stage[t].over == KN_OVER_ALL &&
                        kn_cost_stage_functions(c->program, t) > 0);
    return some;
}

static bool has_late_inputs(const kn_choice *c)
{
    bool some = false;
    for (int k = 0; k < c->program->n_in; ++k)
        some = some || (!kn_row_is_early(c->program, k) && kn_row_is_wide(c->program, k));
    return some;
}

/* The best one with so many items in registers. */
static bool choose_tile(tile_params *out, double *least, const kn_choice *c, const kn_schedule *s, int widest,
                        int held)
{
    static const int staged[] = {0, 4, 12, 8, 20};
    int most = kn_row_largest_cluster(c->target);
    bool is_better = false;
    layout_of_tile l = {.held = held,
                        .widest = widest,
                        .narrowest = narrowest_across(c, out->reduce.axis, widest),
                        .writes = kn_row_writes(c),
                        .computes = computes(c),
                        .has_late = has_late_inputs(c),
                        .staged_bytes = staged_bytes(c, s, out->reduce.axis),
                        .pitch = pitch_of(c, out->reduce.axis, widest)};
    for (l.blocks = 1; l.blocks <= most && l.blocks <= LARGEST; l.blocks *= 2)
        for (l.across = 2; l.across <= MOST_ACROSS; l.across *= 2)
            for (size_t k = 0; k < sizeof staged / sizeof *staged; ++k) {
                tile_params t = {.reduce = out->reduce};
                l.staged = staged[k] * scale_of(s);
                double cost = cost_of(&t, c, s, &l);
                if (cost == 0 || (*least > 0 && cost >= *least) || (s->vector == 1 && staged[k] == MORE))
                    continue;
                *least = cost;
                *out = t;
                is_better = true;
            }
    return is_better;
}

static bool has_whole_items(const tile_params *t, int64_t length, int items)
{
    int64_t share = kn_divide_up(length, t->blocks), last = length - share * (t->blocks - 1);
    return items > 1 && last >= (int64_t)kn_row_whole(items) * (t->threads / t->across);
}

static void set_access(kn_schedule *out, const kn_choice *c, int axis)
{
    for (int o = 0; o < c->count; ++o) {
        bool is_single = out->vector == 1 || (c->access[o].is_output && !moves_along_row(c, o));
        out->access[o] = is_single ? KN_GATHER : c->space->stride[o][axis] == 0 ? KN_BROADCAST : KN_VECTOR;
    }
    out->order = c->program->uses & KN_USES_REDUCTION_INDEX &&
                 c->space->stride[c->space->n_operands - 1][c->space->ndim - 1] == 1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    int64_t length = kn_row_length(c);
    int axis = kn_reduce_output_axis(c);
    tile_params t = {.reduce = {.axis = axis, .inner = -1, .copies = 1}, .blocks = 1, .across = 1};
    if (length < 2 || length > INT32_MAX / 2 || axis < 0 || c->block > 0 || reduces_structs(c->program))
        return false;
    for (int o = 0; o < c->count; ++o)
        if (!lies_across(c, o, axis))
            return false;
    int widest = widest_across(c, axis);
    if (widest >= LANES_ITEM && length <= LANES_LENGTH && length <= kn_row_most_held(c) &&
        kn_space_output_size(c->space) >= LANES_ROWS)
        return false; /* to row_lanes: a thread has a row */
    if (widest == 0 || widest > ACCESS)
        return false;
    out->vector = vector_of(c, axis, widest);
    if (out->vector * widest < LEAST_VECTOR)
        return false;
    int most = kn_row_most_held(c) / out->vector, items = ITEMS * scale_of(out);
    double least = 0;
    bool is_chosen = choose_tile(&t, &least, c, out, widest, most < items ? most : items);
    if (items < MORE && most >= MORE)
        is_chosen = choose_tile(&t, &least, c, out, widest, MORE) || is_chosen;
    if (!is_chosen)
        return false;
    kn_row_config *config = kn_row_config_in(out);
    config->items = t.held;
    config->nearly_full = has_whole_items(&t, length, config->items);
    out->block = THREADS;
    out->rank = kn_reduce_rank(c->space);
    set_access(out, c, axis);
    memcpy(params, &t, sizeof t);
    return true;
}

/* ---- the launch ---- */

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    tile_params t;
    memcpy(&t, part->launch_params, sizeof t);
    columns_field f = {.length = (int32_t)kn_reduce_size(space),
                       .across = (uint32_t)t.across,
                       .width = (uint32_t)kn_row_warps((unsigned)t.threads),
                       .blocks = (uint32_t)t.blocks,
                       .staged = t.staged,
                       .columns = space->extent[t.reduce.axis]};
    f.share = (int32_t)kn_divide_up(f.length, t.blocks);
    f.tiles = (uint32_t)kn_divide_up(f.columns, (int64_t)t.across * s->vector);
    while (1u << f.shift < f.across)
        ++f.shift;
    f.reduction_rank = kn_reduce_place_axes(out, space, t.reduce.axis, -1);
    out->block = (unsigned)t.threads;
    out->cluster = t.blocks > 1 ? (unsigned)t.blocks : 0;
    out->grid[0] = (unsigned)(out->size / f.columns * f.tiles * f.blocks);
    out->shared_bytes = (unsigned)(t.staged * t.threads * kn_row_staged_bytes(part->spec));
    kn_row_ask_shared(out, BESIDE);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    columns_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " blocks=\"%u\" across=\"%u\" share=\"%d\" staged=\"%d\"", (unsigned)f.blocks,
                  (unsigned)f.across, (int)f.share, (int)f.staged);
}

const kn_kind kn_kind_row_columns = {.name = "row_columns",
                                     .recipe = &kn_recipe_row_columns,
                                     KN_ROW_KIND,
                                     .config = &kn_row_config_table,
                                     .takes_turns = true,
                                     .revision = 1,
                                     .field = KN_FIELD(columns_field, MEMBERS),
                                     .cut = kn_reduce_cut_beside,
                                     .describe = describe,
                                     .rows_loaded = kn_row_loads_sectors};
