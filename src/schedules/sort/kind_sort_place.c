/* kind_sort_place.c - one pass of a radix sort on CUDA: each element learns its place among those of its row,
 * ordered stably by a digit. A block ranks the elements of a tile, and looks back to the tiles before it for
 * how many they have of each digit (sort_place.cu). */
#include "schedule/kind.h"

#include <string.h>

#include "program/program.h"
#include "schedule/choice.h"
#include "schedule/sort_tile.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/sort/sort_kinds.h"

/* The kind's field. */
#define MEMBERS                                                                                              \
    long long length;                                                                                        \
    int reduction_rank;                                                                                      \
    unsigned tiles;
typedef struct place_field {
    MEMBERS
} place_field;

enum {
    NUMBER = 2,       /* bytes of an element's number in the tile */
    WIDE_PAIR = 16,   /* bytes of a key with what is beside it */
    LARGE = 1 << 23,  /* elements that have enough tiles of more threads */
    STATIC = 48 << 10 /* bytes of shared memory that a kernel may declare */
};

/* Elements have their number in the tile if the last stage has it: their index, or results at their place. */
static bool has_index(const kn_choice *c)
{
    return c->program->uses & (KN_USES_INDEX | KN_USES_INDEXER | KN_USES_REDUCTION_INDEX);
}

static bool has_numbers(const kn_choice *c)
{
    bool has = has_index(c);
    for (int o = 0; o < c->count; ++o)
        has = has || c->access[o].is_output;
    return has;
}

/* Shared memory: elements, their digits, counts of each warp and of the tile. */
static int tile_bytes(int block, int items, int element)
{
    return block * items * (element + 1) + (block / 32 + 3) * KN_SORT_DIGITS * 4;
}

/* So many threads of a multiprocessor have shared memory, in tiles of so many threads. element: bytes. */
static bool fits(const kn_target *target, int block, int threads, int items, int element)
{
    const int tile = tile_bytes(block, items, element);
    return tile <= target->shared_memory_per_block &&
           tile <=
               target->shared_memory_per_multiprocessor / (threads / block) - target->shared_memory_reserved;
}

static int64_t count_elements(const kn_choice *c)
{
    return kn_space_output_size(c->space) * kn_reduce_size(c->space);
}

/* Threads of a tile. Larger tiles have longer runs of a digit, which pays where keys have 4 bytes, not 8.
 * Microseconds on an H200 by 256, 384 and 512 threads: float32, 2^27: 2,997, 2,898, 3,071; its argsort,
 * 2^26: 2,366, 2,129, 2,004; int64, 2^26: 4,188, 4,921, 4,563. Pairs of 16 bytes, 2^26 (H200): 9,029 by 256
 * threads of 7 elements, 6,604, 6,416 and 7,771 by 512 of 8, 10 and 12. */
static int choose_block(const kn_choice *c)
{
    const int inputs = kn_choice_inputs(c);
    const int bytes = kn_choice_input_bytes(c);
    const bool is_large = count_elements(c) >= LARGE || c->takes_few;
    if (is_large && inputs == 2 && bytes == WIDE_PAIR && !has_index(c) &&
        fits(c->target, KN_SORT_PAIRS_BLOCK, KN_SORT_PAIRS_THREADS, KN_SORT_WIDE_ITEMS,
             bytes + has_numbers(c) * NUMBER))
        return KN_SORT_PAIRS_BLOCK;
    for (int o = 0; o < c->count; ++o)
        if (!is_large || inputs > 2 || (!c->access[o].is_output && c->access[o].item_size != 4))
            return KN_SORT_BLOCK;
    if (inputs + has_index(c) == 1 &&
        fits(c->target, KN_SORT_KEYS_BLOCK, KN_SORT_KEYS_THREADS, KN_SORT_KEYS_ITEMS, bytes + NUMBER))
        return KN_SORT_KEYS_BLOCK;
    if (inputs + has_index(c) > 1 &&
        fits(c->target, KN_SORT_PAIRS_BLOCK, KN_SORT_PAIRS_THREADS, KN_SORT_ITEMS, bytes + NUMBER))
        return KN_SORT_PAIRS_BLOCK;
    return KN_SORT_BLOCK;
}

/* Elements of a thread. A pass of 2^27 uint32 by 384 threads of 16, 20, 22 and 24 elements: 623, 578, 555 and
 * 550 us (H200), by 256 threads of 20 and 24 582 and 561; of 2^26 uint64 by 12 and 14 478 and 453. */
static int choose_items(const kn_choice *c, int block, int bytes)
{
    const bool is_large = count_elements(c) >= LARGE || c->takes_few;
    if (block == KN_SORT_KEYS_BLOCK)
        return KN_SORT_KEYS_ITEMS;
    if (block == KN_SORT_PAIRS_BLOCK)
        return bytes == WIDE_PAIR ? KN_SORT_WIDE_ITEMS : KN_SORT_ITEMS;
    if (is_large && bytes == 8 && kn_choice_inputs(c) == 1 && !has_numbers(c) &&
        fits(c->target, KN_SORT_BLOCK, KN_SORT_LARGE_THREADS, KN_SORT_LARGE_ITEMS, bytes))
        return KN_SORT_LARGE_ITEMS;
    return kn_sort_items(bytes);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const int bytes = kn_choice_input_bytes(c); /* they are sorted in shared memory, and stored from there */
    out->block = choose_block(c);
    out->vector = 1;
    kn_sort_place_config *config = kn_sort_place_config_in(out);
    config->one_axis = kn_reduce_set_elements(out, c);
    config->items = choose_items(c, out->block, bytes);
    config->bytes = bytes;
    config->numbers = has_numbers(c);
    /* The addresses of what is declared are constants, which are fewer instructions to compile. */
    config->dynamic = tile_bytes(out->block, config->items, bytes + config->numbers * NUMBER) > STATIC;
    return true;
}

/* Blocks of that tier are warps. */
static void make_baseline(kn_schedule *s)
{
    kn_sort_place_config *config = kn_sort_place_config_in(s);
    s->block = KN_SORT_BLOCK;
    config->items = kn_sort_items(config->bytes);
    config->dynamic = 0;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    place_field f = {.length = kn_reduce_size(part->space)};
    f.tiles = (uint32_t)kn_divide_up(f.length, (int64_t)s->block * kn_sort_place_config_of(s)->items);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    out->size = part->space->size;
    out->grid[0] = f.tiles * (uint32_t)kn_space_output_size(part->space);
    out->counters = 1;
    if (s->baseline) { /* a warp has a tile */
        out->block = 32;
    } else {
        const kn_sort_place_config *config = kn_sort_place_config_of(s);
        const int element = config->bytes + config->numbers * NUMBER;
        out->shared_bytes = config->dynamic ? (unsigned)(s->block * config->items * element) : 0;
        out->shared_percent = 100;
    }
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    place_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " tiles=\"%u\"", (unsigned)f.tiles);
}

const kn_kind kn_kind_sort_place = {.name = "sort_place",
                                    .recipe = &kn_recipe_sort_place,
                                    .pattern = "mpm",
                                    .revision = 4,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .has_baseline = true,
                                    .make_baseline = make_baseline,
                                    .describe = describe,
                                    .has_workspace = true,
                                    .config = &kn_sort_place_config_table,
                                    .field = KN_FIELD(place_field, MEMBERS)};
