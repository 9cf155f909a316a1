/* kind_row_block.c - row programs: a block holds a row in registers. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    FEWEST = 2,         /* vectors of a thread, at least */
    SHORT = 256,        /* vectors of a row, above which */
    FEWEST_LONG = 4,    /* a thread has so many, at least */
    FEWEST_SINGLE = 8,  /* elements of a thread, at least, if they are loaded one by one */
    UNALIGNED_COST = 5, /* of an unaligned row, in items of a warp; a guess: bench/results/rows.md */
    USUAL = 512, /* threads of a block, at most, unless a thread has as many vectors as it can hold; then */
    MOST = 1024,
    NARROW = 2, /* bytes of a row's elements, at most, if row_long may be better: bench/results/rows.md */
    LEAST_LARGE = 896 /* threads of such a block, at least: a multiprocessor has registers for one */
};

/* The kind's field. width: warps of a block, rounded up to a power of two. per_piece: elements of a piece. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length, width, row_unused;                                                                           \
    kn_divider per_piece;
typedef struct row_field {
    MEMBERS
} row_field;

/* Powers of two only, since each is a binary of its own. */
static bool is_full(const kn_choice *c, const kn_schedule *s, int64_t items)
{
    const kn_row_config *config = kn_row_config_of(s);
    int64_t threads = items / config->items;
    return !c->block && config->fit == KN_ROW_ALIGNED && items % config->items == 0 && threads >= WARP &&
           threads <= s->block && (threads & (threads - 1)) == 0;
}

/* Threads of a block that has a row of so many items. */
static int64_t threads_of(int64_t items, int lanes)
{
    return kn_divide_up(kn_divide_up(items, lanes), WARP) * WARP;
}

/* True if all threads hold three quarters of their items, even if a row has one item less than the longest.
 * */
static bool is_nearly_full(int64_t items, int lanes)
{
    return lanes > 1 && kn_row_whole(lanes) * threads_of(items, lanes) < items;
}

/* Items of a thread for unaligned rows, which have a cost per warp: few warps with many items are better.
 * Unchanged if no number gives all threads an item. */
static int items_of_unaligned(int64_t items, int lanes, int most, int usual)
{
    static const int each[] = {2, 3, 4, 8};
    int64_t least = INT64_MAX;
    for (size_t k = 0; k < sizeof each / sizeof each[0] && each[k] <= most; ++k) {
        int64_t threads = threads_of(items, each[k]), cost = threads * (UNALIGNED_COST + each[k]);
        if (threads > (each[k] == most && usual == USUAL ? MOST : usual) || !is_nearly_full(items, each[k]) ||
            cost >= least)
            continue;
        least = cost;
        lanes = each[k];
    }
    return lanes;
}

/* Elements of two bytes: such a large block, alone on its multiprocessor, has too few of them under way while
 * it computes, and row_long has several small blocks. Of aligned rows with one reduction it has enough,
 * unless row_long has all of the row in registers. */
static bool is_better_long(const kn_choice *c, const kn_schedule *s, int64_t items)
{
    bool has_several = false;
    for (int stage = 0, reductions = 0; stage < c->program->n_stages; ++stage)
        has_several |= c->program->stage[stage].kind == KN_REDUCE && ++reductions > 1;
    return !c->block && kn_row_early_bytes(c, s->vector) <= NARROW && kn_row_largest_cluster(c->target) > 1 &&
           kn_row_writes(c) &&
           (has_several || kn_row_config_of(s)->fit < KN_ROW_ALIGNED || kn_row_long_is_full(c, s, items));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_row_config *config = kn_row_config_in(out);
    bool is_pieced;
    int64_t length = kn_row_length_in_pieces(&is_pieced, c);
    if (length == 0 || length > MOST * MOST)
        return false;
    out->vector = kn_row_vector(c);
    config->pieces = is_pieced;
    config->fit = kn_row_fit_of(c, out->vector);
    out->vector = config->fit == KN_ROW_SINGLE ? 1 : out->vector;
    int most = kn_row_most_held(c) / out->vector;
    int64_t items = kn_row_items(length, out->vector, config->fit);
    config->items = out->vector == 1 ? FEWEST_SINGLE : items > SHORT ? FEWEST_LONG : FEWEST;
    config->items = config->items < most ? config->items : most;
    int usual = c->block ? c->block : USUAL;
    while (config->items < most && items > (int64_t)config->items * usual)
        config->items *= 2;
    if (config->fit == KN_ROW_UNALIGNED)
        config->items = items_of_unaligned(items, config->items, most, usual);
    out->block = c->block ? c->block : config->items == most ? MOST : USUAL;
    if (is_full(c, out, items)) {
        config->fit = KN_ROW_FULL;
        out->block = (int)(items / config->items);
    } else if (is_nearly_full(items, config->items)) {
        config->nearly_full = true;
    }
    out->rank = kn_reduce_rank(c->space);
    kn_row_set_access(out, c);
    int64_t threads = threads_of(items, config->items);
    if (threads > USUAL && is_better_long(c, out, items))
        return false;
    return threads <= out->block && (threads <= USUAL || threads >= LEAST_LARGE || c->block);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_row_config *config = kn_row_config_of(s);
    row_field f = {.length = (int32_t)kn_reduce_size(part->space)};
    int64_t items = kn_row_items(f.length, s->vector, config->fit);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    f.per_piece = kn_row_per_piece(&out->own_space);
    out->block = (unsigned)threads_of(items, config->items);
    f.width = kn_row_warps(out->block);
    out->grid[0] = (unsigned)out->size;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_row_block = {.name = "row_block",
                                   .recipe = &kn_recipe_row_block,
                                   KN_ROW_KIND,
                                   .config = &kn_row_config_table,
                                   .revision = 2,
                                   .field = KN_FIELD(row_field, MEMBERS),
                                   .cut = kn_reduce_cut_outermost};
