/* kind_scan_columns.c - scans along columns on CUDA: of elements that are neighbours in memory each belongs
 * to another row of the scan. A block copies a tile of mapped elements to shared memory, by vectors of
 * columns; there each thread scans some elements of one column. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/scan/scan_tiles.h"
#include "space/numbers.h"

enum {
    BLOCK = 256,     /* threads */
    ACCESS = 16,     /* bytes of a vector */
    ITEMS = 33,      /* elements that a thread scans, at most; odd, so that lanes read different banks */
    WIDE_ITEMS = 17, /* the same of 8 bytes or more */
    WIDEST = 8,      /* bytes of an element, at most, of which a block's tile fits shared memory */
    FEWEST = 4,      /* columns side by side */
    SHORTEST = 16    /* elements of a column; below, rows of a block are read together (scan.cu) */
};

/* The kind's field. beside_bits: that power of two of threads have vectors of one element; chunk: elements
 * that a thread scans; flags: words. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    long long columns;                                                                                       \
    unsigned beside_bits, chunk, tiles, column_blocks, flags, padding;
typedef struct columns_field {
    MEMBERS
} columns_field;

static columns_field plan(const kn_schedule *s, const kn_space *space, int across)
{
    columns_field f = {.length = kn_reduce_size(space), .columns = kn_space_output_size(space)};
    int64_t columns = kn_least(KN_SCAN_COLUMNS, space->extent[across]);
    int64_t beside = kn_power_below((int)kn_divide_up(columns, s->vector));
    int64_t threads = s->block / (beside * s->vector), items = kn_scan_rows_config_of(s)->items;
    int64_t tiles = kn_divide_up(f.length, threads * items);
    f.chunk = (uint32_t)kn_divide_up(f.length, threads * (tiles > 0 ? tiles : 1)) | 1;
    f.beside_bits = (uint32_t)kn_scan_bits(beside);
    f.tiles = (uint32_t)kn_divide_up(f.length, threads * f.chunk);
    f.column_blocks = (uint32_t)kn_divide_up(f.columns, beside * s->vector);
    f.flags = (uint32_t)kn_scan_flags(f.column_blocks, f.tiles, beside * s->vector);
    return f;
}

static int cut(int64_t *align, const kn_part *part)
{
    int across = kn_scan_across_of(part);
    return kn_scan_cut(align, part, plan(&part->spec->schedule, part->space, across).flags, across);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    int across = kn_scan_across_of(part);
    columns_field f = plan(s, part->space, across);
    kn_reduce_place_axes(out, part->space, across, -1);
    out->grid[0] = f.tiles * f.column_blocks;
    memcpy(out->field, &f, sizeof f);
    return kn_scan_place_flags(out, part, f.flags, (INT64_C(1) << f.beside_bits) * s->vector);
}

static bool is_contiguous(const kn_choice *c, int o, int across)
{
    return c->space->stride[o][across] == c->access[o].item_size;
}

/* The most elements of 16 bytes at most that are whole vectors of all operands that are contiguous. */
static int vector_of(const kn_choice *c, int across)
{
    int widest = 0;
    for (int o = 0; o < c->count; ++o)
        if (is_contiguous(c, o, across) && c->access[o].item_size > widest)
            widest = c->access[o].item_size;
    int vector = widest == 0 || widest > ACCESS ? 1 : ACCESS / widest;
    for (int o = 0; o < c->count; ++o)
        while (vector > 1 && is_contiguous(c, o, across) && !kn_reduce_is_off_as(c, o, -1, across, vector))
            vector /= 2;
    while (vector > 1 && c->space->extent[across] % vector != 0)
        vector /= 2;
    return vector;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const kn_scan_params chosen = {kn_scan_across_axis(c)};
    kn_scan_rows_config *config = kn_scan_rows_config_in(out);
    if (s->n_reduction_axes != 1 || chosen.across < 0 || s->extent[chosen.across] < FEWEST ||
        kn_reduce_size(s) < SHORTEST || kn_reduce_is_struct(c) || kn_reduce_value_size(c) > WIDEST)
        return false;
    out->vector = vector_of(c, chosen.across);
    config->items = kn_reduce_value_size(c) <= 4 ? ITEMS : WIDE_ITEMS;
    out->block = kn_scan_block(c, BLOCK);
    config->several_tiles = plan(out, s, chosen.across).tiles > 1;
    out->rank = kn_reduce_rank(s);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = is_contiguous(c, o, chosen.across) &&
                                 c->access[o].address % (uintptr_t)c->access[o].item_size == 0
                             ? KN_VECTOR
                             : KN_GATHER;
    kn_reduce_set_index_type(out, c);
    memcpy(params, &chosen, sizeof chosen);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    columns_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " beside=\"%u\" chunk=\"%u\" tiles=\"%u\"", 1u << f.beside_bits, (unsigned)f.chunk,
                  (unsigned)f.tiles);
}

const kn_kind kn_kind_scan_columns = {.name = "scan_columns",
                                      .recipe = &kn_recipe_scan_columns,
                                      KN_SCAN_KIND,
                                      .revision = 1,
                                      .config = &kn_scan_rows_config_table,
                                      .field = KN_FIELD(columns_field, MEMBERS),
                                      .cut = cut};
