/* kind_row_beside.c - row programs over short rows that lie side by side: a thread holds some neighbouring
 * rows in registers, and reads a vector of them at a time. */
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
    WORD = 4,             /* bytes that a thread loads at least, if elements are aligned, */
    DOUBLE_WORD = 8,      /* and of single ones, */
    ACCESS = 16,          /* at most, */
    HALF = 2,             /* bytes of a 16-bit float */
    FEW = 8,              /* elements of a row */
    TILED = 8,            /* and bytes of vectors from which on row_columns has longer rows */
    SECTOR = 32,          /* bytes: elements of neighbouring rows lie nearer to each other */
    LONGEST = 64,         /* elements of a row; */
    LONGEST_TILED = 48,   /* of one that row_columns could have, */
    LONGEST_LANES = 32,   /* and of single ones up to which row_lanes has it */
    MOST_HELD = 96,       /* elements of a thread: narrow ones are converted, and held as numbers, */
    HELD_BYTES = 288,     /* bytes of a thread's registers for elements and the values of a reduction; */
    HELD_OF_HALVES = 416, /* the same of 16-bit floats, in blocks of fewer threads: */
    FEWER_THREADS = 128,
    FEWEST = 1 << 21, /* elements: threads are enough for the device */
    STEP = 4,         /* items are a multiple of it, of long rows twice that: fewer binaries */
    LONG = 32
};

#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int length;                                                                                              \
    unsigned count, beside_unused;                                                                           \
    kn_divider per_run;
typedef struct beside_field {
    MEMBERS
} beside_field;

static bool moves_along_row(const kn_choice *c, int o)
{
    return c->space->stride[o][c->space->ndim - 1] != 0;
}

/* True if neighbouring threads find elements of the operand in the same sectors, or there are few of them. */
static bool is_beside(const kn_choice *c, int o, int axis)
{
    int64_t across = llabs(c->space->stride[o][axis]), along = llabs(c->space->stride[o][c->space->ndim - 1]);
    return along == 0 || across == 0 || (across < SECTOR && across <= along);
}

/* True if vectors of the operand lie across rows: it is contiguous there, or broadcast. Results of a row are
 * stored one by one. */
static bool lies_across(const kn_choice *c, int o, int axis)
{
    int64_t stride = c->space->stride[o][axis];
    return stride == c->access[o].item_size || (stride == 0 && !c->access[o].is_output) ||
           (c->access[o].is_output && !moves_along_row(c, o));
}

/* True if the operand has whole, aligned vectors across rows. */
static bool has_vectors(const kn_choice *c, int o, int axis, int vector)
{
    return lies_across(c, o, axis) &&
           (c->space->stride[o][axis] == 0 || (c->access[o].is_output && !moves_along_row(c, o)) ||
            kn_choice_is_aligned(c, o, axis, (int64_t)vector * c->access[o].item_size));
}

/* Bytes of an element of the operands that each row has others of: the narrowest, or the widest. */
static int size_across(const kn_choice *c, int axis, bool is_widest)
{
    int size = 0;
    for (int o = 0; o < c->count; ++o) {
        int own = c->access[o].item_size;
        if (moves_along_row(c, o) && c->space->stride[o][axis] != 0 &&
            (size == 0 || (is_widest ? own > size : own < size)))
            size = own;
    }
    return size;
}

/* True if narrow inputs, as masks are, lie beside wide ones: vectors of these would be long. */
static bool has_narrow_inputs(const kn_choice *c, int axis)
{
    bool are_narrow = false, are_wide = false;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && moves_along_row(c, o) && c->space->stride[o][axis] != 0)
            *(c->access[o].item_size < WORD ? &are_narrow : &are_wide) = true;
    return are_narrow && are_wide;
}

/* The longest vector of all operands; 1: single elements. */
static int vector_of(const kn_choice *c, int axis, int widest)
{
    int vector = ACCESS / widest;
    for (; vector > 1; vector /= 2) {
        bool fits = c->space->extent[axis] % vector == 0;
        for (int o = 0; o < c->count && fits; ++o)
            fits = has_vectors(c, o, axis, vector);
        if (fits)
            break;
    }
    return vector;
}

/* Bytes of the largest value of a reduction. */
static int reduced_bytes(const kn_choice *c)
{
    int most = 0;
    for (int s = 0; s < c->program->n_stages; ++s) {
        const kn_stage *stage = &c->program->stage[s];
        int size = stage->kind == KN_REDUCE ? kn_reduce_size_of_value(c, stage->value[stage->n_read]) : 0;
        most = size > most ? size : most;
    }
    return most;
}

static int items_of(int64_t length)
{
    if (length <= STEP)
        return (int)length;
    int step = length > LONG ? 2 * STEP : STEP;
    return (int)kn_divide_up(length, step) * step;
}

/* Bytes of registers for the elements of a thread's rows and the values of a reduction. */
static int64_t bytes_held(const kn_choice *c, int vector, int64_t length)
{
    return vector * ((int64_t)items_of(length) * kn_row_held_bytes(c, false) + 2 * reduced_bytes(c));
}

/* Vectors whose elements fit a thread's registers; 0: there are none. */
static int vector_held(const kn_choice *c, int vector, int64_t length, int most)
{
    while (vector > 0 && (vector * length > MOST_HELD || bytes_held(c, vector, length) > most))
        vector /= 2;
    return vector;
}

static void set_access(kn_schedule *out, const kn_choice *c, int axis)
{
    for (int o = 0; o < c->count; ++o) {
        bool is_single = out->vector == 1 || (c->access[o].is_output && !moves_along_row(c, o));
        out->access[o] = is_single ? KN_GATHER : c->space->stride[o][axis] == 0 ? KN_BROADCAST : KN_VECTOR;
    }
    out->order = c->program->uses & KN_USES_REDUCTION_INDEX &&
                 c->space->stride[c->space->n_operands - 1][c->space->ndim - 1] == 1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    int64_t length = kn_row_length(c);
    int axis = kn_reduce_output_axis(c);
    bool is_across = true;
    if (length < 2 || length > LONGEST || axis < 0 || c->space->extent[axis] < WARP)
        return false;
    for (int o = 0; o < c->count; ++o) {
        if (!is_beside(c, o, axis))
            return false;
        is_across = is_across && lies_across(c, o, axis);
    }
    int widest = size_across(c, axis, true), narrowest = size_across(c, axis, false);
    if (widest == 0 || widest > ACCESS)
        return false;
    int longest = is_across ? vector_of(c, axis, widest) : 1;
    out->vector = vector_held(c, longest, length, HELD_BYTES);
    if (longest > 1 && out->vector < 2 && widest == HALF)
        out->vector = vector_held(c, 2, length, HELD_OF_HALVES);
    bool has_words = out->vector * narrowest >= (out->vector > 1 ? WORD : DOUBLE_WORD),
         has_others = is_across && (longest * widest >= TILED || length <= LONGEST_LANES);
    if (out->vector == 0 || (has_others && !(has_words && length <= LONGEST_TILED)) ||
        (has_others && length > FEW && has_narrow_inputs(c, axis)))
        return false;
    kn_row_config *config = kn_row_config_in(out);
    config->items = items_of(length);
    config->fit = length == config->items ? KN_ROW_FULL : KN_ROW_SINGLE;
    out->block =
        c->block == 0 && bytes_held(c, out->vector, length) > HELD_BYTES ? FEWER_THREADS : kn_choice_block(c);
    out->rank = kn_reduce_rank(c->space);
    set_access(out, c, axis);
    memcpy(params, &(kn_reduce_params){.axis = axis, .inner = -1, .copies = 1}, sizeof(kn_reduce_params));
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    beside_field f = {.length = (int32_t)kn_reduce_size(part->space),
                      .per_run = kn_divider_make((uint32_t)(part->space->extent[chosen.axis] / s->vector))};
    f.reduction_rank = kn_reduce_place_axes(out, part->space, chosen.axis, -1);
    f.count = (uint32_t)(out->size / s->vector);
    out->grid[0] = (unsigned)kn_divide_up(f.count, s->block);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    beside_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " run=\"%u\"", (unsigned)f.per_run.extent);
}

const kn_kind kn_kind_row_beside = {.name = "row_beside",
                                    .recipe = &kn_recipe_row_beside,
                                    KN_ROW_KIND,
                                    .config = &kn_row_config_table,
                                    .fewest = FEWEST,
                                    .revision = 1,
                                    .field = KN_FIELD(beside_field, MEMBERS),
                                    .cut = kn_reduce_cut_beside,
                                    .describe = describe,
                                    .rows_loaded = kn_row_loads_sectors};
