/* kind_row_long.c - row programs: a block, or a cluster of blocks that exchange their partial values, holds a
 * row in registers and shared memory. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "space/numbers.h"

/* From experiments on an H200: bench/results/rows.md. */
enum {
    ALONE = 1024,     /* threads of a block that has a row by itself, if there are no clusters */
    LONG = 4,         /* items of a thread in registers: more would leave none for late inputs */
    LONG_SINGLE = 8,  /* the same, of single elements */
    FULL = 128,       /* bytes of a thread's inputs and values, if the whole row is in registers */
    WIDEST = 4,       /* bytes of an element, at most, then */
    NARROW = 2,       /* bytes of an element's inputs up to which values may be computed again */
    BESIDE = 4 << 10, /* bytes of a block's shared memory for partial values */
    WORD = 4,         /* bytes */
    ACCESS = 16,      /* the same, of one load */
    LARGEST = 16      /* blocks of a cluster, at most */
};

/* Sizes of a cluster's blocks: threads, and bytes of shared memory. Small blocks overlap better, large ones
 * hold longer rows. Programs that write no elements along the row have smaller ones, which end sooner. */
static const struct size {
    int threads, shared;
} sizes[] = {{256, 80 << 10}, {512, 96 << 10}}, reading[] = {{128, 50 << 10}, {512, 96 << 10}};
enum { SIZES = sizeof sizes / sizeof sizes[0] };

/* Launch parameters, which need no binary. */
typedef struct launch_params {
    int blocks, threads, staged; /* of a row; of a block; items of a thread in shared memory */
} launch_params;

#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length, width, blocks, staged, share;                                                                \
    kn_divider per_piece;
typedef struct long_field {
    MEMBERS
} long_field;

/* True if a row of so many items fits so many blocks of such a size. Items of less than a word are not copied
 * asynchronously: a thread would wait for each that it stages. */
static bool fits(launch_params *f, int64_t items, int held, int bytes, int blocks, int threads, int shared)
{
    int64_t each = kn_divide_up(kn_divide_up(items, blocks), threads), staged = each > held ? each - held : 0;
    *f = (launch_params){blocks, threads, (int)staged};
    return staged * threads * bytes <= shared && (staged == 0 || bytes >= WORD);
}

static bool find_launch_params(launch_params *f, const kn_choice *c, int64_t items, int held, int bytes)
{
    int capacity = c->target->shared_memory_per_block - BESIDE, largest = kn_row_largest_cluster(c->target);
    if (largest == 1)
        return fits(f, items, held, bytes, 1, ALONE, capacity);
    const struct size *size = kn_row_writes(c) ? sizes : reading;
    for (int k = 0; k < SIZES; ++k)
        for (int blocks = 1; blocks <= largest; blocks *= 2)
            if (fits(f, items, held, bytes, blocks, size[k].threads,
                     size[k].shared < capacity ? size[k].shared : capacity))
                return true;
    return false;
}

/* Few rows leave most of the device idle: more blocks have one, until most of it is in registers. */
static void spread(launch_params *f, const kn_choice *c, int64_t items, int held)
{
    const int largest = kn_row_largest_cluster(c->target);
    const int64_t rows = kn_space_output_size(c->space);
    while (f->staged > held && 2 * f->blocks <= largest && 2 * f->blocks * rows <= c->target->multiprocessors)
        fits(f, items, held, 0, 2 * f->blocks, f->threads, 0);
}

/* True if all threads of a cluster's blocks hold as many items in registers as they can: so many. */
static bool is_full_of(launch_params *f, const kn_choice *c, int64_t items, int held)
{
    for (int size = 0; size < SIZES; ++size) {
        int64_t whole = (int64_t)held * sizes[size].threads, blocks = items / whole;
        *f = (launch_params){(int)blocks, sizes[size].threads, 0};
        if (items % whole == 0 && blocks > 0 && blocks <= kn_row_largest_cluster(c->target) &&
            (blocks & (blocks - 1)) == 0)
            return true;
    }
    return false;
}

/* Changes the configuration if so. */
static bool is_full(launch_params *f, const kn_choice *c, kn_schedule *s, int64_t items)
{
    kn_row_config *config = kn_row_config_in(s);
    int inputs = kn_row_held_bytes(c, true);
    bool recomputes = inputs <= NARROW && kn_row_held_bytes(c, false) > inputs;
    int bytes = kn_row_held_bytes(c, recomputes) * s->vector, held = bytes > 0 ? FULL / bytes : 0;
    if (config->fit != KN_ROW_ALIGNED || s->vector * WIDEST < ACCESS || held < 1 ||
        held * s->vector > (recomputes ? kn_row_most_inputs_held : kn_row_most_held)(c) ||
        !is_full_of(f, c, items, held))
        return false;
    config->items = held;
    config->fit = recomputes ? KN_ROW_FULL_INPUTS : KN_ROW_FULL;
    s->block = f->threads;
    return true;
}

bool kn_row_long_is_full(const kn_choice *c, const kn_schedule *s, int64_t items)
{
    kn_schedule full = *s;
    kn_row_config *config = kn_row_config_in(&full);
    launch_params f;
    config->fit = config->fit == KN_ROW_FULL ? KN_ROW_ALIGNED : config->fit;
    return is_full(&f, c, &full, items);
}

/* True if all threads, also of the last block, hold all their items, even if a row has one item less than the
 * longest. */
static bool is_nearly_full(const launch_params *f, int64_t items, int lanes)
{
    int64_t share = kn_divide_up(items, f->blocks);
    return items - 1 - share * (f->blocks - 1) >= (int64_t)lanes * f->threads;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f;
    kn_row_config *config = kn_row_config_in(out);
    bool is_pieced;
    int64_t length = kn_row_length_in_pieces(&is_pieced, c);
    if (length == 0 || length > INT32_MAX / 2 || c->block > 0)
        return false;
    out->vector = kn_row_vector(c);
    config->pieces = is_pieced;
    config->fit = kn_row_fit_of(c, out->vector);
    out->vector = config->fit == KN_ROW_SINGLE ? 1 : out->vector;
    config->items = kn_row_most_held(c) / out->vector;
    out->rank = kn_reduce_rank(c->space);
    kn_row_set_access(out, c);
    int bytes = kn_row_early_bytes(c, out->vector) * out->vector;
    int64_t items = kn_row_items(length, out->vector, config->fit);
    if (!is_full(&f, c, out, items)) {
        int most = config->items, fewer = out->vector > 1 ? LONG : LONG_SINGLE;
        config->items = most < fewer ? most : fewer;
        out->block = ALONE;
        if (!find_launch_params(&f, c, items, config->items, bytes)) {
            config->items = most;
            if (!find_launch_params(&f, c, items, most, bytes))
                return false;
        }
        spread(&f, c, items, config->items);
        config->nearly_full = is_nearly_full(&f, items, config->items);
    }
    memcpy(params, &f, sizeof f);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    launch_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    long_field f = {.length = (int32_t)kn_reduce_size(part->space),
                    .width = kn_row_warps((unsigned)chosen.threads),
                    .blocks = chosen.blocks,
                    .staged = chosen.staged};
    f.share = (int32_t)kn_divide_up(kn_row_items(f.length, s->vector, kn_row_config_of(s)->fit), f.blocks);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    f.per_piece = kn_row_per_piece(&out->own_space);
    out->block = (unsigned)chosen.threads;
    out->cluster = f.blocks > 1 ? (unsigned)f.blocks : 0;
    out->grid[0] = (unsigned)(out->size * f.blocks);
    out->shared_bytes = (unsigned)(f.staged * chosen.threads * kn_row_staged_bytes(part->spec));
    kn_row_ask_shared(out, BESIDE);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static int cut(int64_t *align, const kn_part *part)
{
    *align = 1;
    return kn_space_output_size(part->space) < KN_MAX_INDEX / LARGEST ? -1 : 0;
}

static void describe(kn_str *out, const unsigned char *at)
{
    long_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " blocks=\"%d\" staged=\"%d\"", (int)f.blocks, (int)f.staged);
}

const kn_kind kn_kind_row_long = {.name = "row_long",
                                  .recipe = &kn_recipe_row_long,
                                  KN_ROW_KIND,
                                  .config = &kn_row_config_table,
                                  .takes_turns = true,
                                  .revision = 2,
                                  .field = KN_FIELD(long_field, MEMBERS),
                                  .cut = cut,
                                  .describe = describe};
