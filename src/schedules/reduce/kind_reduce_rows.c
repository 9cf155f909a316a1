/* kind_reduce_rows.c - reductions of any layout: a block reduces a result, or several blocks do, and the last
 * of them combines their values. */
#include "schedule/kind.h"

#include <string.h>

#include "base/error.h"
#include "program/draws.h"
#include "schedule/choice.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"
#include "space/numbers.h"

enum {
    USUAL = 256,              /* threads of a block */
    SMALL = 128,              /* the same where these have all gathered vectors of a row in one iteration */
    LARGE = 512,              /* the same for long rows, and for rows of several blocks */
    ALONE_AXES = 2,           /* output axes, at most, if each result has a block */
    USUAL_ITERATIONS = 16,    /* of a thread's loop, of rows that are not long */
    LEAST_STRUCTS = 4,        /* elements of vectors, for that */
    STEPS = 4,                /* items that a thread loads at a time: src/schedules/reduce/reduce_rows.cu */
    SINGLE_STEPS = 8,         /* the same, of one element each, */
    BYTE_STEPS = 16,          /* and of one byte each */
    DRAWN = 4,                /* random numbers that share a block */
    THREADS_WANTED = 4096,    /* of a multiprocessor, in all blocks of split rows: a few waves; */
    STRUCTS_WANTED = 1536,    /* of structs, which a block takes long to combine: those that run at a time */
    CONCURRENT_THREADS = 1280 /* of a multiprocessor, with the registers of float32 sums along several axes */
};

/* The kind's field. splits: blocks of a result; chunk: items of a block; by: splits, or, if each result has a
 * block, results along the first output axis. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned splits;                                                                                         \
    long long length, items;                                                                                 \
    unsigned chunk, reduction_unused;                                                                        \
    kn_divider by, per_row;
typedef struct rows_field {
    MEMBERS
} rows_field;

/* True if all rows begin and end at a vector's boundary. */
static bool is_whole(const kn_choice *c, int vector)
{
    int inner = c->space->ndim - 1;
    return kn_reduce_fit_of(c, inner, vector, false) == KN_FIT_ALIGNED &&
           c->space->extent[inner] % vector == 0;
}

/* True for a map that reads nothing and draws random numbers, of which neighbours share a block. */
static bool draws_alone(const kn_choice *c)
{
    return kn_choice_widest(c, false) == 0 && kn_text_draws(c->program, c->program->stage[0].body);
}

/* Rows that are not whole vectors are read by vectors too if a result has one row. If inputs are misaligned
 * in different ways, or rows lie along several axes, vectors are gathered. */
static int vector_of(bool *is_gathered, const kn_choice *c)
{
    const kn_space *s = c->space;
    int vector = kn_reduce_vector(c), inner = s->ndim - 1;
    *is_gathered = false;
    if (draws_alone(c) && s->n_reduction_axes == 1 && s->extent[inner] >= 2 * DRAWN)
        return DRAWN;
    if (s->n_reduction_axes == 0 || s->extent[inner] < 2 * vector ||
        s->extent[inner] / vector >= KN_REDUCE_STEPS)
        return 1;
    if (is_whole(c, vector) ||
        (s->n_reduction_axes == 1 && kn_reduce_fit_of(c, inner, vector, false) != KN_FIT_NONE))
        return vector;
    vector = kn_reduce_unaligned_vector(c, inner);
    *is_gathered = vector > 1;
    return vector;
}

static int steps_of(const kn_schedule *s)
{
    return s->vector > 1 ? STEPS : kn_reduce_rows_config_of(s)->bytes ? BYTE_STEPS : SINGLE_STEPS;
}

static int64_t turn_of(const kn_schedule *s)
{
    return (int64_t)s->block * steps_of(s);
}

/* A few parts more, if these fill waves. */
static int64_t fill_wave(const kn_schedule *s, const kn_target *target, int64_t wanted, int64_t results)
{
    int64_t wave = (int64_t)target->multiprocessors * CONCURRENT_THREADS / s->block;
    for (int64_t splits = wanted; splits < 2 * wanted; ++splits)
        if (kn_reduce_wave_share(splits * results, wave) >= KN_REDUCE_FULL_WAVE)
            return splits;
    return wanted;
}

/* The number of blocks that share a result: several if there are few results. Vectors of structs along one
 * axis leave registers for three large blocks. */
static int64_t splits_of(const kn_schedule *s, const kn_target *target, int64_t items, int64_t results,
                         bool is_struct)
{
    bool is_slow = is_struct && s->vector >= LEAST_STRUCTS && s->block == LARGE &&
                   kn_reduce_rows_config_of(s)->reduction_axes == KN_REDUCE_ONE_AXIS;
    int64_t concurrent =
        (int64_t)target->multiprocessors * (is_slow ? STRUCTS_WANTED : THREADS_WANTED) / s->block;
    int64_t wanted = concurrent / (results > 0 ? results : 1);
    if (wanted > 1 && kn_reduce_rows_config_of(s)->reduction_axes != KN_REDUCE_ONE_AXIS)
        wanted = fill_wave(s, target, wanted, results);
    int64_t splits = kn_clamp(wanted, 1, kn_divide_up(items, turn_of(s)));
    int64_t least = items / (KN_REDUCE_STEPS / 2) + 1;
    return splits < least ? least : splits < 1 ? 1 : splits;
}

/* Most rows have a kernel of their own, in which a block has one result, and results have two output axes at
 * most. Other rows take larger blocks; those with more output axes take the kernel of several reduction
 * axes. */
static void choose_config(kn_schedule *out, const kn_choice *c, bool is_gathered)
{
    const kn_space *s = c->space;
    int outputs = s->ndim - s->n_reduction_axes;
    int64_t items = kn_reduce_size(s) / out->vector;
    kn_reduce_rows_config *config = kn_reduce_rows_config_in(out);
    config->reduction_axes = kn_reduce_known_axes(s, s->n_reduction_axes);
    out->block = c->block ? c->block : USUAL;
    config->bytes =
        out->vector == 1 && config->reduction_axes == KN_REDUCE_ONE_AXIS && kn_choice_widest(c, false) == 1;
    if (out->vector == 1 || config->reduction_axes != KN_REDUCE_ONE_AXIS)
        return;
    bool alone = items <= USUAL_ITERATIONS * turn_of(out) &&
                 splits_of(out, c->target, items, kn_space_output_size(s), false) == 1;
    if (alone && outputs <= ALONE_AXES) {
        config->alone = true;
        if (is_gathered && items <= SMALL * STEPS && !c->block)
            out->block = SMALL; /* in place of items behind the end the last one is loaded again */
    } else if (alone && is_whole(c, out->vector))
        config->reduction_axes = KN_REDUCE_TWO_AXES;
    else if (!c->block)
        out->block = LARGE;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    bool is_gathered;
    kn_levels_note_offsets(params, c);
    out->vector = vector_of(&is_gathered, c);
    choose_config(out, c, is_gathered);
    out->rank = kn_reduce_rank(c->space);
    if (is_gathered)
        kn_reduce_set_gathered(out, c, c->space->ndim - 1,
                               kn_reduce_rows_config_of(out)->reduction_axes == KN_REDUCE_ONE_AXIS);
    else
        kn_reduce_set_access(out, c, out->vector);
    kn_reduce_set_index(out, c);
    return true;
}

static bool reduces_structs(const kn_spec *spec)
{
    return kn_spec_value_dtype(spec, kn_spec_reduced_value(spec)) == KILN_DTYPE_NONE;
}

static void split(rows_field *f, const kn_part *part, int64_t results)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t turn = turn_of(s),
            splits = splits_of(s, &part->spec->target, f->items, results, reduces_structs(part->spec));
    f->chunk = (uint32_t)(kn_divide_up(kn_divide_up(f->items, splits), turn) * turn);
    f->splits = (uint32_t)(f->items > 0 ? kn_divide_up(f->items, f->chunk) : 1);
    f->by = kn_divider_make(f->splits);
}

/* A part of a call may have few results though the whole has many. */
static void leave_alone(rows_field *f, const kn_space *axes, int64_t results)
{
    int64_t along = axes->ndim > ALONE_AXES ? axes->extent[axes->ndim - 2] : results;
    f->splits = 1;
    f->by = kn_divider_make((uint32_t)(along > 0 ? along : 1));
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    const kn_reduce_rows_config *config = kn_reduce_rows_config_of(s);
    rows_field f = {0};
    f.reduction_rank =
        kn_reduce_place_axes(out, space, -1, kn_reduce_long_axis(space, config->reduction_axes));
    f.length = out->own_space.extent[out->own_space.ndim - 1];
    f.items = kn_reduce_size(space) / s->vector;
    if (config->reduction_axes != KN_REDUCE_ONE_AXIS)
        f.per_row = kn_divider_make((uint32_t)(f.length / s->vector));
    if (config->alone)
        leave_alone(&f, &out->own_space, out->size);
    else
        split(&f, part, out->size);
    if (f.splits > 1) {
        if (out->size > KN_MAX_COUNTERS)
            return kn_error(KILN_ERROR_UNSUPPORTED, "%s: %lld results of %lld elements each are too many",
                            part->spec->program->name, (long long)out->size,
                            (long long)kn_reduce_size(space));
        out->counters = (int)out->size;
        out->partials = out->size * f.splits;
    }
    out->grid[0] = (unsigned)(out->size * f.splits);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* A thread's items are combined by turns, and those of shared rows by chains of turns; then the values of a
 * block, and those of the blocks of a row. */
static bool list_rows(kn_levels *levels, const void *field, int64_t head)
{
    const kn_schedule *s = &kn_levels_spec(levels)->schedule;
    const rows_field *f = field;
    const kn_reduce_rows_config *config = kn_reduce_rows_config_of(s);
    bool is_run = s->vector > 1 && config->reduction_axes == KN_REDUCE_ONE_AXIS;
    int64_t items = is_run ? (f->length - head) / s->vector : f->items,
            left = is_run ? f->length - items * s->vector : 0;
    int64_t behind = items - (int64_t)(f->splits - 1) * f->chunk;
    int64_t held = f->splits == 1 ? items : behind;
    held = held < s->block ? held : s->block;
    held = held > left ? held : left;
    kn_level_threads threads = {.items = items,
                                .chunk = f->chunk,
                                .sets = f->splits,
                                .threads = f->splits > 1 ? s->block : held,
                                .last = held,
                                .lanes = s->block,
                                .vector = s->vector,
                                .turn = steps_of(s),
                                .chain = config->alone ? 0 : KN_LEVELS_CHAIN,
                                .are_whole = s->vector > 1,
                                .begin = head,
                                .ends = {{head, 0, 0}, {left - head, head, items * s->vector + head}}};
    kn_level_values values = kn_levels_threads(levels, &threads, false);
    values = kn_levels_pairs(levels, values, f->splits == 1);
    if (f->splits == 1)
        return true;
    values = kn_levels_strided(levels, kn_levels_join_sets(values), s->block, false);
    kn_levels_pairs(levels, values, true);
    return true;
}

static bool list_levels(kn_levels *levels, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    rows_field f;
    memcpy(&f, kn_levels_field(levels), sizeof f);
    if (kn_reduce_size(part->space) >= KN_REDUCE_STEPS)
        return false;
    if (s->vector > 1 && kn_reduce_rows_config_of(s)->reduction_axes == KN_REDUCE_ONE_AXIS)
        return kn_levels_each_head(levels, -1, list_rows, &f);
    return list_rows(levels, &f, 0);
}

static void describe(kn_str *out, const unsigned char *at)
{
    rows_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " items=\"%lld\" splits=\"%u\" chunk=\"%lld\"", (long long)f.items, (unsigned)f.splits,
                  (long long)f.chunk);
}

const kn_kind kn_kind_reduce_rows = {.name = "reduce_rows",
                                     .recipe = &kn_recipe_reduce_rows,
                                     KN_REDUCE_KIND,
                                     .config = &kn_reduce_rows_config_table,
                                     .revision = 2,
                                     .field = KN_FIELD(rows_field, MEMBERS),
                                     .list_levels = list_levels,
                                     .cut = kn_reduce_cut_outermost,
                                     .describe = describe,
                                     .has_workspace = true};
