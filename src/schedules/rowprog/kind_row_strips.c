/* kind_row_strips.c - row programs that combine columns, too: a block has some rows, one after the other, in
 * registers, and beside them what it has combined of the columns. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/row_strips.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/rowprog/rowprog_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    USUAL = 8, /* elements of a thread: inputs of two rows and combined columns need registers for each */
    HELD_BYTES = 256, /* of a thread, for all that */
    THREADS = 1024,
    ACCESS = 16,       /* bytes of a vector */
    WORD = 4,          /* bytes of an element, at least, of rows that do not occupy all threads: kernels of
                        these need more registers, so that inputs and columns may have */
    PARTLY_HELD = 192, /* bytes of a thread, at most */
    FEWEST = 1 << 24   /* elements: of fewer two kernels read most again from the cache */
};

/* The kind's field. rows: of a strip. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length;                                                                                              \
    unsigned rows;
typedef struct strips_field {
    MEMBERS
} strips_field;

static int64_t threads_of(int64_t items, int lanes)
{
    return kn_divide_up(kn_divide_up(items, lanes), WARP) * WARP;
}

/* Bytes that a thread holds of each element: of inputs twice, since the next row is on its way. */
static int held_bytes(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][c->space->ndim - 1] != 0)
            bytes += (1 + kn_reduce_is_of_each_result(c, o)) * c->access[o].item_size;
    for (int s = 0; s < c->program->n_stages; ++s)
        if (c->program->stage[s].kind == KN_COLUMNS)
            bytes += kn_reduce_size_of_value(c, c->program->stage[s].value[0]);
    return bytes;
}

/* Single elements have an address, and a condition, each: such rows are several kernels instead. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_row_config *config = kn_row_config_in(out);
    int64_t length = kn_row_length(c);
    if (length == 0 || length > KN_STRIPS_MOST_LENGTH || kn_space_output_size(c->space) > KN_REDUCE_STEPS)
        return false;
    const int64_t most = kn_power_below(kn_most(HELD_BYTES / kn_most(held_bytes(c), 1), 1));
    out->vector = kn_row_vector(c);
    if (out->vector > most || kn_row_fit_of(c, out->vector) != KN_ROW_ALIGNED)
        return false;
    int64_t items = length / out->vector;
    config->items = (int)kn_most(kn_least(USUAL, most) / out->vector, 1);
    int64_t threads = threads_of(items, config->items);
    if (threads > (c->block ? c->block : THREADS))
        return false;
    config->fit = items == threads * config->items ? KN_ROW_FULL : KN_ROW_ALIGNED;
    if (config->fit != KN_ROW_FULL &&
        (ACCESS / out->vector < WORD || held_bytes(c) * config->items * out->vector > PARTLY_HELD))
        return false;
    out->block = (int)threads;
    out->rank = kn_reduce_rank(c->space);
    kn_row_set_access(out, c);
    for (int o = 0; o < c->count; ++o)
        if (kn_reduce_is_weight(c, o) && out->access[o] == KN_VECTOR)
            out->access[o] = KN_STAGED;
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    strips_field f = {.length = (int32_t)kn_reduce_size(part->space)};
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    f.rows = (unsigned)kn_strip_rows(out->size, f.length);
    out->block = (unsigned)part->spec->schedule.block;
    out->grid[0] = (unsigned)kn_strip_count(out->size, f.length);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    strips_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " rows=\"%u\"", f.rows);
}

const kn_kind kn_kind_row_strips = {.name = "row_strips",
                                    .recipe = &kn_recipe_row_strips,
                                    .pattern = "*l",
                                    .fewest = FEWEST,
                                    .choose = choose,
                                    .place = place,
                                    .has_wide_axes = true,
                                    .config = &kn_row_config_table,
                                    .revision = 1,
                                    .field = KN_FIELD(strips_field, MEMBERS),
                                    .describe = describe};
