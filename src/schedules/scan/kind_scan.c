/* kind_scan.c - scans on CUDA: one pass over any layout. A block has a tile: some rows side by side, and of
 * each a stretch of its elements. Lanes of the block share a row: each has a chunk of neighbours. Long rows
 * have several tiles, whose blocks look back (src/codegen/prelude/cuda_look_back.cu). */
#include "schedule/kind.h"

#include <string.h>

#include "schedules/reduce/reduce_space.h"
#include "schedules/scan/scan_kinds.h"
#include "schedules/scan/scan_tiles.h"
#include "space/numbers.h"

enum {
    ITEMS = 17,      /* elements of a lane; odd, so that lanes read different banks */
    WIDE_ITEMS = 9,  /* the same of 8 bytes or more */
    BLOCK = 256,     /* threads */
    WIDE_BLOCK = 128 /* the same of 16 bytes, and of structs, whose size is unknown here */
};

/* The kind's field. lane_bits: a row has 2 to that power lanes, and the block rows with the rest; chunk:
 * elements of a lane; pitch: those in shared memory from one row to the next; across: neighbours in memory
 * are of different rows; flags: words of them. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned lane_bits, chunk, pitch, tiles, row_blocks, across, flags;                                      \
    long long length, rows;                                                                                  \
    kn_divider by_chunk, by_length;
typedef struct scan_field {
    MEMBERS
} scan_field;

/* Lanes of a row, a power of two: as many as its elements need. Across, rows lie side by side: at least so
 * many of them that a line of memory is read whole. */
static int64_t lanes_of(const kn_schedule *s, int64_t length, int64_t beside)
{
    int64_t needed = kn_divide_up(length, kn_scan_config_of(s)->items), lanes = 1;
    while (lanes < needed && lanes < s->block)
        lanes *= 2;
    int64_t most = s->block / beside;
    return most > 1 ? kn_least(lanes, most) : 1;
}

/* An odd chunk, with which the lanes have the whole row, if they can, or all of its tiles as much of it. */
static int64_t chunk_of(const kn_schedule *s, int64_t length, int64_t lanes)
{
    int64_t tiles = kn_divide_up(length, lanes * kn_scan_config_of(s)->items);
    int64_t chunk = kn_divide_up(length, lanes * (tiles > 0 ? tiles : 1));
    return chunk + 1 - chunk % 2;
}

static int64_t rows_of_block(const scan_field *f, const kn_schedule *s)
{
    return s->block >> f->lane_bits;
}

/* The tiles of a space. */
static scan_field plan(const kn_schedule *s, const kn_space *space, int across)
{
    scan_field f = {
        .length = kn_reduce_size(space), .rows = kn_space_output_size(space), .across = across >= 0};
    int64_t beside = across < 0 ? 1 : kn_power_below((int)kn_least(KN_SCAN_COLUMNS, space->extent[across]));
    int64_t lanes = lanes_of(s, f.length, beside), rows = s->block / lanes;
    f.chunk = (uint32_t)chunk_of(s, f.length, lanes);
    f.tiles = (uint32_t)kn_divide_up(f.length, lanes * f.chunk);
    f.lane_bits = (uint32_t)kn_scan_bits(lanes);
    f.row_blocks = (uint32_t)kn_divide_up(f.rows, rows);
    f.pitch = (uint32_t)(lanes * f.chunk + (f.across && rows > 1));
    f.by_chunk = kn_divider_make(f.chunk);
    f.by_length = kn_divider_make(f.length > 0 && f.length < INT32_MAX ? (uint32_t)f.length : 1);
    f.flags = (uint32_t)kn_scan_flags(f.row_blocks, f.tiles, rows);
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
    const kn_space *space = part->space;
    int across = kn_scan_across_of(part);
    scan_field f = plan(s, space, across);
    f.reduction_rank = kn_reduce_place_axes(out, space, across, -1);
    out->grid[0] = f.tiles * f.row_blocks;
    memcpy(out->field, &f, sizeof f);
    return kn_scan_place_flags(out, part, f.flags, rows_of_block(&f, s));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const kn_scan_params chosen = {kn_scan_across_axis(c)};
    int size = kn_reduce_value_size(c);
    kn_scan_config *config = kn_scan_config_in(out);
    memcpy(params, &chosen, sizeof chosen);
    config->items = size <= 4 ? ITEMS : WIDE_ITEMS;
    out->block = kn_scan_block(c, size <= 8 ? BLOCK : WIDE_BLOCK);
    out->vector = 1;
    config->several_tiles = plan(out, s, chosen.across).tiles > 1;
    out->rank = kn_reduce_rank(s);
    memset(out->access, KN_GATHER, (size_t)c->count);
    kn_reduce_set_index_type(out, c);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    scan_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " lanes=\"%u\" chunk=\"%u\" tiles=\"%u\"%s", 1u << f.lane_bits, (unsigned)f.chunk,
                  (unsigned)f.tiles, f.across ? " across=\"1\"" : "");
}

const kn_kind kn_kind_scan = {.name = "scan",
                              .recipe = &kn_recipe_scan,
                              KN_SCAN_KIND,
                              .revision = 2,
                              .config = &kn_scan_config_table,
                              .field = KN_FIELD(scan_field, MEMBERS),
                              .cut = cut};
