/* kind_select.c - selections on CUDA: programs that count the selected elements, and store each by its
 * number (kernel/select.c). A block has a tile; lanes of a warp have neighbouring elements, of which ballots
 * tell the numbers, so that selected ones are stored side by side. */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/scan/scan_tiles.h"
#include "space/numbers.h"

enum {
    ITEMS = 16,             /* elements of a thread */
    WORDS = 32,             /* that it holds */
    BLOCK = 256,            /* threads */
    LARGE = 1 << 23,        /* elements that have enough tiles of twice as many */
    GROUP = 256,            /* tiles that have a word together (src/codegen/prelude/cuda_warps.cu) */
    PACKED_BYTES = 44 << 10 /* of shared memory, at most, beside what a look back takes */
};
/* The baseline tier has a warp for each tile, of which each reads the words of all before it. */
enum { WARP = 32, LEAST_ROUNDS = 16, MOST_TILES = 4096 };

/* The kind's field. flags: words of them. rounds: in which a warp takes the elements of a tile (baseline
 * tier). */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned tiles, flags, rounds;
typedef struct select_field {
    MEMBERS
} select_field;

static select_field plan(int block, int items, const kn_space *space)
{
    select_field f = {.length = kn_reduce_size(space)};
    f.tiles = (uint32_t)kn_divide_up(f.length, (int64_t)block * items);
    f.flags = (uint32_t)kn_scan_flags(1, f.tiles, 1);
    return f;
}

static select_field plan_warps(const kn_space *space)
{
    select_field f = {.length = kn_reduce_size(space)};
    const int64_t tiles = kn_least(kn_divide_up(f.length, WARP * LEAST_ROUNDS), MOST_TILES);
    f.rounds = (uint32_t)kn_divide_up(f.length, WARP * tiles);
    f.tiles = (uint32_t)kn_divide_up(f.length, WARP * (int64_t)f.rounds);
    return f;
}

/* A tile has a word, which is a counter. */
static kiln_status place_warps(kn_placement *out, const kn_part *part)
{
    select_field f = plan_warps(part->space);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles;
    out->block = WARP;
    out->counters = (int)f.tiles + KN_SCAN_OTHER_COUNTERS;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* A word for each tile, and for each whole group of them. */
static int64_t words_of(int64_t tiles)
{
    return tiles + tiles / GROUP;
}

/* words: each tile has one. */
static kiln_status place_tiles(kn_placement *out, const kn_part *part, int items, bool words)
{
    if (part->spec->schedule.baseline)
        return place_warps(out, part);
    select_field f = plan(part->spec->schedule.block, items, part->space);
    if (words)
        f.flags = (uint32_t)words_of(f.tiles);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles;
    memcpy(out->field, &f, sizeof f);
    if (!words)
        return kn_scan_place_flags(out, part, f.flags, 1);
    out->counters = (int)f.flags + KN_SCAN_OTHER_COUNTERS;
    return KILN_OK;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    return place_tiles(out, part, kn_select_config_of(&part->spec->schedule)->items, false);
}

static kiln_status place_row(kn_placement *out, const kn_part *part)
{
    const kn_select_row_config *config = kn_select_row_config_of(&part->spec->schedule);
    return place_tiles(out, part, config->items, config->words);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    (void)params;
    if (!c->program->is_selection || kn_space_output_size(s) != 1)
        return false;
    kn_select_config *config = kn_select_config_in(out);
    config->items = ITEMS;
    out->block = kn_scan_block(c, BLOCK);
    out->vector = 1;
    config->one_axis = kn_reduce_set_elements(out, c);
    config->several_tiles = plan(out->block, ITEMS, s).tiles > 1;
    return true;
}

/* The elements that a thread holds; 0: they are too wide. */
static int count_held(const kn_choice *c)
{
    int words = 0;
    for (int o = 0; o < c->count; ++o)
        words += c->access[o].is_output ? 0 : c->access[o].item_size > 4 ? c->access[o].item_size / 4 : 1;
    return words > WORDS / 4 ? 0 : words > WORDS / 8 ? 4 : words > WORDS / 16 ? 8 : ITEMS;
}

/* Numbers of elements have 8 bytes; a warp stores them by few instructions where they lie side by side (H200,
 * nonzero(x > 0.5) of 2^28 float32: 940 us from registers, 794 from shared memory; x[x > 0.5] is not faster
 * by it: 732, 741). */
static bool packs(const kn_choice *c, int items, int block)
{
    const int bytes = (int)sizeof(uint16_t) + kn_choice_input_bytes(c);
    return c->program->uses & (KN_USES_INDEX | KN_USES_INDEXER) && block * items * bytes <= PACKED_BYTES;
}

/* True if a thread holds twice as many: of one input of 4 bytes at most, whose text reads no other array.
 * By 16 and 32 elements (H200): x[x > 0.5] of 2^28 float32 625 us, 520; x[mask] of 2^24 51, 59; unique's
 * selection 167, 198. */
static bool is_long(const kn_choice *c, int held)
{
    const kn_program *p = c->program;
    bool reads = false;
    for (int k = 0; k < p->n_in; ++k)
        reads = reads || p->param[k].is_raw;
    return held == ITEMS && !reads && kn_choice_inputs(c) == 1 && kn_choice_input_bytes(c) <= 4 &&
           (kn_reduce_size(c->space) >= LARGE || c->takes_few);
}

static bool choose_row(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const int held = count_held(c);
    (void)params;
    if (!c->program->is_selection || kn_space_output_size(s) != 1 || s->n_reduction_axes != 1 || held == 0)
        return false;
    kn_select_row_config *config = kn_select_row_config_in(out);
    out->block = kn_scan_block(c, BLOCK);
    out->vector = 1;
    config->packed = packs(c, held, out->block);
    config->items = !config->packed && is_long(c, held) ? 2 * ITEMS : held;
    const int64_t tiles = kn_divide_up(kn_reduce_size(s), (int64_t)out->block * config->items);
    config->several_tiles = tiles > 1;
    config->words = tiles > 1 && words_of(tiles) + KN_SCAN_OTHER_COUNTERS <= KN_MAX_COUNTERS;
    return kn_reduce_set_elements(out, c);
}

static void describe(kn_str *out, const unsigned char *at)
{
    select_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " tiles=\"%u\"", (unsigned)f.tiles);
}

const kn_kind kn_kind_select = {.name = "select",
                                .recipe = &kn_recipe_select,
                                KN_SCAN_KIND,
                                .has_baseline = true,
                                .revision = 1,
                                .config = &kn_select_config_table,
                                .field = KN_FIELD(select_field, MEMBERS)};

const kn_kind kn_kind_select_row = {.name = "select_row",
                                    .recipe = &kn_recipe_select_row,
                                    .pattern = "msm",
                                    .choose = choose_row,
                                    .place = place_row,
                                    .has_wide_axes = true,
                                    .describe = describe,
                                    .has_workspace = true,
                                    .has_baseline = true,
                                    .revision = 3,
                                    .config = &kn_select_row_config_table,
                                    .field = KN_FIELD(select_field, MEMBERS)};
