/* kind_scan_rows.c - scans along rows on CUDA, by vectors. Lanes of a block share a row, or a tile of a long
 * one: they load vectors of its mapped elements into shared memory, where each has neighbours. A row may
 * begin anywhere: its elements lie in shared memory as they do in memory, relative to vectors. */
#include "schedule/kind.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/scan/scan_tiles.h"
#include "space/numbers.h"

enum {
    ITEMS = 33,         /* elements of a lane, at most; odd, so that lanes read different banks */
    WIDE_ITEMS = 17,    /* the same of 8 bytes or more */
    USUAL = 17,         /* elements of a lane, if fewer than MANY tiles have so many */
    MANY = 2 * 132 * 6, /* tiles: twice as many as run at a time on a large device */
    BLOCK = 256,        /* threads */
    WIDE_BLOCK = 128,   /* the same of 16 bytes, and of structs, whose size is unknown here */
    ACCESS = 16,        /* bytes of a vector */
    WORD = 4,           /* bytes: vectors that begin anywhere are moved by words */
    SHORTEST = 64       /* elements of a row; below, rows of a block are read together (scan.cu) */
};
/* The baseline tier. TURNS: launches of rows in several tiles, where the order shows. */
enum { WARP = 32, LEAST_ROUNDS = 16, MOST_TILES = 4096, GROUP = 256, TURNS = 3, MOST_ROWS = 65535 };

/* The kind's field. lane_bits: a row has 2 to that power lanes, and the block rows with the rest; chunk:
 * elements of a lane; pitch: those in shared memory from one row to the next; flags: words of them; turn: the
 * launch's number (baseline tier). */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    long long rows;                                                                                          \
    unsigned short lane_bits, turn;                                                                          \
    unsigned chunk, pitch, tiles, row_blocks, flags;
typedef struct rows_field {
    MEMBERS
} rows_field;

/* Launch parameters: no binary depends on them. */
typedef struct rows_params {
    int most_misaligned; /* elements by which a row is off a vector's boundary, at most */
} rows_params;

/* The tiles of a space. A lane's chunk is odd, and longer than what a vector lacks at a row's begin. */
static rows_field plan(const kn_schedule *s, const kn_space *space, int most_misaligned)
{
    rows_field f = {.length = kn_reduce_size(space), .rows = kn_space_output_size(space)};
    int64_t slots = f.length + most_misaligned, lanes = 1;
    int items = kn_scan_rows_config_of(s)->items;
    while (lanes < s->block && lanes * items < slots)
        lanes *= 2;
    int64_t tiles = kn_divide_up(slots, lanes * items);
    if (tiles > 1)
        tiles = kn_clamp(MANY / (f.rows > 0 ? f.rows : 1), tiles,
                         kn_divide_up(slots, lanes * kn_least(items, USUAL)));
    int64_t chunk = kn_divide_up(slots, lanes * tiles);
    f.chunk = (uint32_t)(chunk <= s->vector ? s->vector : chunk) | 1;
    tiles = kn_divide_up(slots, lanes * f.chunk);
    f.tiles = (uint32_t)tiles;
    f.lane_bits = (uint16_t)kn_scan_bits(lanes);
    f.pitch = (uint32_t)(kn_divide_up(lanes * f.chunk, s->vector) * s->vector);
    f.row_blocks = (uint32_t)kn_divide_up(f.rows, s->block / lanes);
    f.flags = (uint32_t)kn_scan_flags(f.row_blocks, tiles, 1);
    return f;
}

/* The baseline tier: a warp has a tile, of `chunk` times 32 elements. flags: tiles, each of which has a word,
 * and reads those of all before it in its row. */
static rows_field plan_warps(const kn_schedule *s, const kn_space *space)
{
    rows_field f = {.length = kn_reduce_size(space), .rows = kn_space_output_size(space)};
    const bool has_tiles = kn_scan_rows_config_of(s)->several_tiles;
    int64_t most = has_tiles ? kn_clamp(MOST_TILES / (f.rows > 0 ? f.rows : 1), 1, MOST_TILES) : 1;
    int64_t tiles = kn_clamp(kn_divide_up(f.length, WARP * LEAST_ROUNDS), 1, most);
    f.chunk = (uint32_t)kn_divide_up(f.length, WARP * tiles);
    f.tiles = (uint32_t)kn_divide_up(f.length, WARP * (int64_t)f.chunk);
    f.row_blocks = (uint32_t)f.rows;
    f.flags = has_tiles ? (uint32_t)kn_least(f.tiles * f.rows, KN_MAX_COUNTERS) : 0;
    return f;
}

/* The sums of a row: one for each tile, and for each whole group of these. */
static int64_t sums_of(int64_t tiles)
{
    return tiles + tiles / GROUP;
}

/* The baseline tier that keeps the order: a warp has a tile of the other's (scan_rows_ordered.cu). */
static rows_field plan_ordered(const kn_schedule *s, const kn_space *space, int most_misaligned)
{
    rows_field f = plan(s, space, most_misaligned);
    f.row_blocks = (uint32_t)f.rows;
    f.flags = 0;
    return f;
}

static rows_field plan_part(const kn_part *part)
{
    rows_params chosen;
    const kn_schedule *s = &part->spec->schedule;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    return !s->baseline                         ? plan(s, part->space, chosen.most_misaligned)
           : kn_spec_combines_whole(part->spec) ? plan_warps(s, part->space)
                                                : plan_ordered(s, part->space, chosen.most_misaligned);
}

/* Whole numbers do not show the order. Rows in the order of the other tier lie along one axis, and a warp has
 * at most 256 groups to look at; others wait for that tier. */
static bool baseline_takes(const kn_spec *spec, const kn_space *space)
{
    const kn_schedule *s = &spec->schedule;
    rows_field f = plan(s, space, s->vector - 1);
    return kn_spec_combines_whole(spec) ||
           (space->ndim - space->n_reduction_axes <= 1 && f.length < KN_MAX_INDEX &&
            f.tiles <= GROUP * GROUP && (!kn_scan_rows_config_of(s)->several_tiles || f.rows <= MOST_ROWS));
}

static int cut(int64_t *align, const kn_part *part)
{
    return kn_scan_cut(align, part, plan_part(part).flags, -1);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    rows_field f = plan_part(part);
    kn_reduce_place_axes(out, part->space, -1, -1);
    out->grid[0] = f.tiles * f.row_blocks;
    memcpy(out->field, &f, sizeof f);
    kiln_status status = kn_scan_place_flags(out, part, f.flags, 1);
    if (part->spec->schedule.baseline) {
        out->block = WARP;
        out->partials = f.flags;
    }
    return status;
}

/* Tiles, groups of tiles, results: the launches of rows in several tiles where the order shows. */
static kiln_status place_turns(kn_placement *placed, const kn_part *part, kn_take_launch take, void *user)
{
    const bool has_tiles = kn_scan_rows_config_of(&part->spec->schedule)->several_tiles;
    kiln_status status = KILN_OK;
    for (unsigned turn = 0; turn < TURNS && status == KILN_OK; ++turn) {
        rows_field f;
        status = kn_part_place(placed, part);
        memcpy(&f, placed->field, sizeof f);
        const unsigned blocks = turn == 1 ? f.tiles / GROUP : f.tiles;
        f.turn = (uint16_t)turn;
        memcpy(placed->field, &f, sizeof f);
        if (status != KILN_OK || blocks == 0 || (f.tiles == 1 && turn < TURNS - 1))
            continue;
        placed->grid[0] = has_tiles ? blocks : (unsigned)f.rows;
        placed->grid[1] = has_tiles ? (unsigned)f.rows : 1;
        placed->partials = f.tiles == 1 ? 0 : sums_of(f.tiles) * f.rows;
        status = take(user, part, placed);
    }
    return status;
}

static kiln_status place_each(const kn_part *part, kn_take_launch take, void *user)
{
    kn_placement *placed = kn_malloc(sizeof *placed);
    if (!placed)
        return kn_error_memory("a launch plan");
    kiln_status status = KILN_OK;
    if (part->spec->schedule.baseline && !kn_spec_combines_whole(part->spec)) {
        status = place_turns(placed, part, take, user);
    } else {
        status = kn_part_place(placed, part);
        if (status == KILN_OK)
            status = take(user, part, placed);
    }
    kn_free(placed);
    return status;
}

static bool is_contiguous(const kn_choice *c, int o)
{
    return c->space->stride[o][c->space->ndim - 1] == c->access[o].item_size &&
           c->access[o].address % (uintptr_t)c->access[o].item_size == 0;
}

/* Elements of 16 bytes of the widest contiguous operand, fewer than a lane has; 1: none is contiguous. */
static int vector_of(const kn_choice *c, int per_thread)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (is_contiguous(c, o) && c->access[o].item_size > widest)
            widest = c->access[o].item_size;
    return widest == 0 || widest > ACCESS ? 1
                                          : (int)kn_least(ACCESS / widest, kn_power_below(per_thread - 1));
}

/* The first result that is contiguous decides where vectors begin, or the first such input. */
static int leading(const kn_choice *c)
{
    int input = -1;
    for (int o = 0; o < c->count; ++o)
        if (is_contiguous(c, o)) {
            if (c->access[o].is_output)
                return o;
            input = input < 0 ? o : input;
        }
    return input;
}

static void set_access(kn_schedule *out, rows_params *params, const kn_choice *c)
{
    int inner = c->space->ndim - 1, first = leading(c);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = !is_contiguous(c, o)                                   ? KN_GATHER
                         : kn_reduce_is_off_as(c, o, first, inner, out->vector) ? KN_VECTOR
                         : c->access[o].item_size * out->vector >= WORD         ? KN_DENSE
                                                                                : KN_GATHER;
    params->most_misaligned =
        first < 0 || kn_reduce_is_off_as(c, first, -1, inner, out->vector) ? 0 : out->vector - 1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    rows_params chosen = {0};
    kn_scan_rows_config *config = kn_scan_rows_config_in(out);
    int size = kn_reduce_value_size(c);
    if (s->n_reduction_axes != 1 || kn_reduce_size(s) < SHORTEST || kn_scan_across_axis(c) >= 0)
        return false;
    config->items = size <= 4 ? ITEMS : WIDE_ITEMS;
    out->block = kn_scan_block(c, size <= 8 ? BLOCK : WIDE_BLOCK);
    out->vector = vector_of(c, config->items);
    set_access(out, &chosen, c);
    config->several_tiles = plan(out, s, chosen.most_misaligned).tiles > 1;
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index_type(out, c);
    memcpy(params, &chosen, sizeof chosen);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    rows_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " lanes=\"%u\" chunk=\"%u\" tiles=\"%u\"", 1u << f.lane_bits, (unsigned)f.chunk,
                  (unsigned)f.tiles);
}

const kn_kind kn_kind_scan_rows = {.name = "scan_rows",
                                   .recipe = &kn_recipe_scan_rows,
                                   KN_SCAN_KIND,
                                   .place_each = place_each,
                                   .has_baseline = true,
                                   .baseline_takes = baseline_takes,
                                   .revision = 2,
                                   .config = &kn_scan_rows_config_table,
                                   .field = KN_FIELD(rows_field, MEMBERS),
                                   .cut = cut};
