/* window_choices.c - the shared-memory tiles of windows kernels that schedules/transpose/window_tiles.c
 * chooses from. Includes that source, to use its internals; the library's own object is not linked then. */
#include "schedules/transpose/window_tiles.h"

#include "choices.h"

#define kn_cut_is_crossed model_is_crossed
#define kn_cut_best_tile model_best_tile
#include "schedules/transpose/window_tiles.c" /* NOLINT(bugprone-suspicious-include) */
#undef kn_cut_is_crossed
#undef kn_cut_best_tile

#include <stdio.h>

enum { SAMPLES = 18, MOST_LANES = 9 };

bool choice_is_straight, choice_is_crossed;

static kn_shared_tile listed[MAX_CHOICES];
static bool is_crossed[MAX_CHOICES];

/* Columns: crossed; of a tile, elements of a contiguous range, ranges, elements of a row of the input, rows;
 * tiles; bytes from row to row; log2 of threads along a row and along a range; bytes of shared memory; the
 * model's cost. Interleaved channels count as their elements. */
static void add(const kn_cut *c, const char *tag, const kn_shared_tile *b)
{
    char text[MAX_TEXT];
    snprintf(text, sizeof text, "%d,%lld,%lld,%lld,%lld,%lld,%lld,%u,%u,%d,%.5g", c->axes.crossed,
             (long long)b->run, (long long)b->rows, (long long)(b->columns * c->column / c->item),
             (long long)b->input_rows, (long long)b->count, (long long)b->pitch, b->chunk_lanes,
             b->slot_lanes, kn_shared_tile_bytes(b, c), cost_of(c, b));
    int at = choice_add(tag, text);
    if (at >= 0) {
        listed[at] = *b;
        is_crossed[at] = c->axes.crossed;
    }
}

/* ---- one size for all layouts, and samples ---- */

static void try_columns(kn_shared_tile *best, const kn_cut *c, int64_t columns)
{
    (c->axes.crossed ? try_crossed : try_straight)(best, c, columns);
}

static int64_t whole_columns(const kn_cut *c)
{
    return c->axes.crossed ? kn_cut_extent(c, c->axes.run) : c->n_rows;
}

/* Adds rows of so many bytes in tiles of so many, both cut off at the extents; a warp along a range. */
static void add_fixed(const kn_cut *of, int64_t row_bytes, int64_t tile_bytes)
{
    char tag[64];
    kn_cut c = *of;
    kn_shared_tile b = {.cost = DBL_MAX};
    c.tile_bytes = kn_least(tile_bytes, of->tile_bytes);
    int64_t columns = kn_least(row_bytes / c.item, whole_columns(&c));
    try_columns(&b, &c, columns > 0 ? columns : 1);
    if (b.cost == DBL_MAX)
        return;
    b.slot_lanes = SLOT_LANES;
    snprintf(tag, sizeof tag, "%sfixed_%dx%dk", choice_is_straight ? "straight_" : "", (int)row_bytes,
             (int)(tile_bytes >> 10));
    add(of, tag, &b);
}

static void add_sample(const kn_cut *of)
{
    kn_cut c = *of;
    kn_shared_tile b = {.cost = DBL_MAX};
    c.tile_bytes = kn_least(of->tile_bytes, (int64_t)(12 + 8 * choice_roll(7)) << 10);
    bool has_room = !c.axes.crossed || crossed_columns(&c, c.axes.run) > 0;
    if (choice_roll(2) && has_room)
        find_tiles(&b, &c);
    else
        try_columns(&b, &c, 1 + choice_roll((int)kn_least(whole_columns(&c), 1024 / c.item)));
    if (b.cost == DBL_MAX)
        return;
    uint32_t fewest = c.item < 2 ? BYTE_LANES : SLOT_LANES;
    b.slot_lanes = fewest + (uint32_t)choice_roll(MOST_LANES - (int)fewest);
    add(of, "", &b);
}

static void list(const kn_cut *c, const kn_shared_tile *chosen)
{
    if (!choice_is_straight)
        choices.count = 0;
    choice_kind = "windows";
    choice_is_crossed = c->axes.crossed;
    add(c, choice_is_straight ? "straight" : "model", chosen);
    for (int row = 160; row <= 640; row *= 2)
        for (int box = 28; box <= 56; box *= 2)
            add_fixed(c, row, (int64_t)box << 10);
    int wanted = choices.count + (choice_is_straight ? SAMPLES / 3 : SAMPLES);
    for (int tries = 0; tries < 4 * SAMPLES && choices.count < wanted; ++tries)
        add_sample(c);
}

/* ---- in the library's place ---- */

bool kn_cut_is_crossed(kn_cut *c, int axis)
{
    bool may_be = model_is_crossed(c, axis);
    return choice_wanted >= 0 ? is_crossed[choice_wanted] : may_be && !choice_is_straight;
}

kn_shared_tile kn_cut_best_tile(kn_cut *c)
{
    if (choice_wanted >= 0)
        return listed[choice_wanted];
    kn_shared_tile chosen = model_best_tile(c);
    if (choice_wanted == LIST)
        list(c, &chosen);
    return chosen;
}
