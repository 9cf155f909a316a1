/* kind_row_lanes.c - row programs over short rows: some lanes of a warp hold a row in registers. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    MANY_SINGLE = 4,  /* elements of a thread in rows of few single ones: finding its row costs as much; */
    LONG_NARROW = 16, /* narrow elements of a row from which on a thread has eight, */
    MANY_NARROW = 1 << 20,    /* of as many in all */
    FEW = 2,                  /* items of a row up to which a thread has one */
    MOST_ALONE = 32,          /* items of a thread that has a row of single elements by itself */
    SHORTEST = 4,             /* elements of a row up to which a thread has it by itself, however they lie */
    SHORTEST_ACROSS = 32,     /* rows side by side that are contiguous across */
    LONGEST_STAGED = 8,       /* elements of longer rows, which a warp copies to shared memory, */
    ENOUGH_BLOCKS = 8,        /* of a multiprocessor, below which a thread has one such row, */
    MOST_TURNS = 4,           /* such rows of a thread, */
    ENOUGH_STAGED = 24 << 10, /* bytes of a block's rows there up to which it has more of them, */
    STAGED = 32 << 10,        /* bytes of a block's rows there: six blocks or more of a multiprocessor, */
    NEAR = 64,                /* bytes from row to row of inputs that are read where they are, at most, */
    WORD = 4,                 /* bytes of their elements, at least, */
    CHUNK = 16                /* and bytes that a thread copies at once: src/schedules/rowprog/row_lanes.cu */
};

/* The kind's field. lanes of a row, and their logarithm. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length;                                                                                              \
    unsigned lanes, shift;
typedef struct lanes_field {
    MEMBERS
} lanes_field;

/* Items of a thread: two or more, which are loaded together, if the row is long enough. 0: rows are too long.
 * */
static int items_each(int64_t items, int vector, bool are_narrow)
{
    if (vector == 1 && are_narrow && items > LONG_NARROW && items <= 8 * WARP)
        return 8;
    if (vector == 1)
        return items <= MANY_SINGLE * WARP / 2 ? MANY_SINGLE : items <= 8 * WARP ? 8 : 0;
    return items <= FEW ? 1 : items <= 2 * WARP ? 2 : items <= 4 * WARP ? 4 : 0;
}

/* True if inputs have fewer bytes than words: instructions of a lane, not memory, take the time. */
static bool are_narrow(const kn_choice *c)
{
    return kn_choice_widest(c, false) < WORD && c->space->size >= MANY_NARROW;
}

/* True if no operand is contiguous along the rows, but all are across them: neighbouring threads should have
 * neighbouring rows. */
static bool lie_across(const kn_choice *c)
{
    const kn_space *s = c->space;
    const int inner = s->ndim - 1, across = inner - 1;
    bool do_lie = across >= 0 && s->extent[across] >= SHORTEST_ACROSS;
    for (int o = 0; o < c->count && do_lie; ++o)
        do_lie = s->stride[o][inner] == 0 || (s->stride[o][inner] != c->access[o].item_size &&
                                              s->stride[o][across] == c->access[o].item_size);
    return do_lie;
}

/* Items of a thread that has a row by itself; 0: the row is too long. */
static int items_alone(int64_t length, int most)
{
    int items = 2;
    while (items < length && items <= most)
        items *= 2;
    return items <= most ? items : 0;
}

/* True if the lanes of a row are a power of two, and all of them have all their items. */
static bool is_full(int64_t items, int each)
{
    int64_t lanes = each > 0 ? items / each : 0;
    return each > 0 && lanes > 0 && items % each == 0 && (lanes & (lanes - 1)) == 0;
}

/* True if lanes of a warp that have so many items each hold a row. */
static bool has_lanes(int64_t items, int each)
{
    return each > 0 && items <= (int64_t)each * WARP;
}

/* True if the operand's rows are one contiguous range, in order, from a chunk's boundary on, and no whole
 * chunks. Of narrow elements the cache holds many rows (bench/results/nvidia-h200-anyaxis.md). */
static bool is_staged(const kn_choice *c, int o, int64_t length)
{
    const kn_space *s = c->space;
    int64_t next = c->access[o].item_size;
    if (next < WORD || length * next % CHUNK == 0)
        return false;
    for (int a = s->ndim - 1; a >= 0; --a) {
        if (s->stride[o][a] != next)
            return false;
        next *= s->extent[a];
    }
    return c->access[o].address % CHUNK == 0;
}

/* More rows of a thread where they are small, since many bytes have to be under way, and there are enough. */
static int turns_of(const kn_choice *c, int block, int64_t bytes)
{
    int turns = 1;
    while (turns < MOST_TURNS && 2 * turns * bytes <= ENOUGH_STAGED)
        turns *= 2;
    int64_t least = (int64_t)turns * block * ENOUGH_BLOCKS * c->target->multiprocessors;
    return kn_space_output_size(c->space) >= least ? turns : 1;
}

/* True for short rows that are no whole vectors: a thread has each, and a warp copies its rows to shared
 * memory and from there by whole chunks, since single elements of neighbours would lie in all sectors again
 * and again. Results are not loaded, so each has to be assigned. */
static bool choose_staged(kn_schedule *out, const kn_choice *c, int64_t length)
{
    const kn_space *s = c->space;
    int64_t bytes = 0;
    int inner = s->ndim - 1, items = items_alone(length, LONGEST_STAGED);
    if (length <= 2 || length == out->vector || items == 0 || out->vector >= kn_row_vector(c) ||
        items > kn_row_most_held(c) || c->program->left_outputs != 0 || out->block % WARP != 0)
        return false;
    for (int o = 0; o < c->count; ++o) {
        if (s->stride[o][inner] == 0)
            continue;
        if (is_staged(c, o, length))
            bytes += (int64_t)items * out->block * c->access[o].item_size;
        else if (c->access[o].is_output || inner == 0 || llabs(s->stride[o][inner - 1]) > NEAR)
            return false;
    }
    if (bytes == 0 || bytes > STAGED)
        return false;
    out->vector = 1;
    *kn_row_config_in(out) =
        (kn_row_config){.items = items, .fit = KN_ROW_ALONE, .turns = turns_of(c, out->block, bytes)};
    kn_row_set_access(out, c);
    for (int o = 0; o < c->count; ++o)
        if (is_staged(c, o, length))
            out->access[o] = KN_STAGED;
    return true;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_row_config *config = kn_row_config_in(out);
    int64_t length = kn_row_length(c);
    if (length == 0)
        return false;
    out->block = kn_choice_block(c);
    out->rank = kn_reduce_rank(c->space);
    out->vector = kn_row_vector(c);
    while (out->vector > 1 && kn_row_fit_of(c, out->vector) != KN_ROW_ALIGNED)
        out->vector /= 2;
    if (choose_staged(out, c, length))
        return true;
    if (out->vector == 1 && (lie_across(c) || length <= SHORTEST))
        config->items = items_alone(length, MOST_ALONE);
    if (config->items == 0 || config->items > kn_row_most_held(c))
        config->items = items_each(length / out->vector, out->vector, are_narrow(c));
    while (config->items * out->vector > kn_row_most_held(c) &&
           has_lanes(length / out->vector, config->items / 2))
        config->items /= 2;
    bool is_own = out->vector > 1 && length == (int64_t)config->items * out->vector;
    config->fit = is_own                                         ? KN_ROW_OWN
                  : is_full(length / out->vector, config->items) ? KN_ROW_FULL
                                                                 : KN_ROW_SINGLE;
    kn_row_set_access(out, c);
    return config->items > 0 && config->items * out->vector <= kn_row_most_held(c);
}

static int lanes_of(const kn_schedule *s, int64_t length)
{
    int lanes = 1;
    while (lanes < WARP && (int64_t)lanes * kn_row_config_of(s)->items * s->vector < length)
        lanes *= 2;
    return lanes;
}

static int rows_loaded(const kn_schedule *s, int64_t length)
{
    return WARP / lanes_of(s, length);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    lanes_field f = {.length = (int32_t)kn_reduce_size(part->space)};
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    f.lanes = (uint32_t)lanes_of(s, f.length);
    while (1u << f.shift < f.lanes)
        ++f.shift;
    int turns = kn_row_config_of(s)->turns;
    out->grid[0] = (unsigned)kn_divide_up(out->size * f.lanes, (int64_t)s->block * (turns > 1 ? turns : 1));
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* Parts of staged rows begin at chunks. */
static int cut(int64_t *align, const kn_part *part)
{
    int axis = kn_reduce_cut_outermost(align, part);
    if (strchr(part->spec->schedule.access, KN_STAGED))
        *align = CHUNK;
    return axis;
}

static void describe(kn_str *out, const unsigned char *at)
{
    lanes_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " lanes=\"%u\"", (unsigned)f.lanes);
}

const kn_kind kn_kind_row_lanes = {.name = "row_lanes",
                                   .recipe = &kn_recipe_row_lanes,
                                   KN_ROW_KIND,
                                   .config = &kn_row_config_table,
                                   .revision = 1,
                                   .field = KN_FIELD(lanes_field, MEMBERS),
                                   .cut = cut,
                                   .describe = describe,
                                   .rows_loaded = rows_loaded};
