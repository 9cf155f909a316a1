/* kind_reduce_points.c - reductions over pairs of points, the distances of k-means: the inputs are
 * coordinates. Some are broadcast along the reduction axis: a thread holds them in registers. The others are
 * broadcast along the results: each thread loads them for each element, and all load the same. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"
#include "schedules/reduce/reduce_kinds.h"

enum {
    FEWEST = 4,        /* mapped inputs: fewer are no points, and other kinds take them */
    LEAST_EACH = 256,  /* results of a multiprocessor */
    LONGEST = 1 << 18, /* elements of a result: sums of 64, of which a thread adds as many as that leaves */
    MOST_RESULTS = 4,  /* of a thread */
    HELD_WORDS = 32,   /* registers for what a thread keeps of all its results */
    VECTOR_BYTES = 16,
    MOST_PAIRS = 1 << 28,
    CHUNK = 64 /* elements that a thread reduces at a time: src/schedules/reduce/reduce_points.cu */
};

static int reduced_axis(const kn_choice *c)
{
    return c->space->ndim - 1;
}

/* Inputs of which a thread holds one element for each of its results; and those that results along `axis`
 * share. */
static bool is_held(const kn_choice *c, int o)
{
    return c->space->stride[o][reduced_axis(c)] == 0;
}

static bool is_shared(const kn_choice *c, int o, int axis)
{
    return c->space->stride[o][axis] == 0;
}

/* True if each input is held by the threads of some results, or shared by those along the axis; there are
 * some of each. */
static bool are_points(const kn_choice *c, int axis)
{
    int held = 0, shared = 0;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output)
            continue;
        if (!is_held(c, o) && !is_shared(c, o, axis))
            return false;
        held += is_held(c, o);
        shared += !is_held(c, o);
    }
    return held > 0 && shared > 0 && held + shared >= FEWEST;
}

/* The longest axis of results along which the inputs are points; -1. */
static int axis_of_points(const kn_choice *c)
{
    const kn_space *s = c->space;
    int axis = -1;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a)
        if ((axis < 0 || s->extent[a] > s->extent[axis]) && are_points(c, a))
            axis = a;
    return axis;
}

/* Operands from `first` on that are neighbours in memory and are used at the same places. */
static int neighbours_from(const kn_choice *c, int first)
{
    const kn_space *s = c->space;
    int count = 1;
    for (int o = first + 1; o < c->count && !c->access[o].is_output; ++o, ++count)
        if (c->access[o].item_size != c->access[first].item_size || s->after[o] != c->access[o].item_size ||
            memcmp(s->stride[o], s->stride[first], (size_t)s->ndim * sizeof *s->stride[o]) != 0)
            break;
    return count;
}

/* Elements of a vector of the coordinates from `first` on; 1: they are loaded one by one. */
static int vector_of(const kn_choice *c, int first, int count)
{
    int item = c->access[first].item_size, vector = 1;
    while (2 * vector * item <= VECTOR_BYTES && count % (2 * vector) == 0 &&
           kn_choice_is_aligned(c, first, -1, 2 * vector * item))
        vector *= 2;
    return vector;
}

/* The width of vectors: that of the first points that have some. Others of that width are vectors too. */
static void set_access(kn_schedule *out, const kn_choice *c)
{
    out->vector = 1;
    for (int o = 0, count; o < c->count; o += count) {
        count = c->access[o].is_output ? 1 : neighbours_from(c, o);
        int vector = c->access[o].is_output ? 1 : vector_of(c, o, count);
        out->vector = out->vector == 1 ? vector : out->vector;
        bool is_vector = vector > 1 && vector >= out->vector;
        for (int k = o; k < o + count; ++k)
            out->access[k] = c->access[k].is_output ? KN_GATHER
                             : is_held(c, k)        ? (is_vector ? KN_VECTOR : KN_BROADCAST)
                             : is_vector            ? KN_DENSE
                                                    : KN_GATHER;
    }
}

static int words_held(const kn_choice *c)
{
    int words = 0;
    for (int o = 0; o < c->count; ++o)
        words += c->access[o].is_output || !is_held(c, o) ? 0 : (c->access[o].item_size + 3) / 4;
    return words;
}

static int64_t results_of_block(const kn_schedule *schedule)
{
    return (int64_t)schedule->block * kn_reduce_points_config_of(schedule)->results_each;
}

/* True if the blocks have places for more than three halves of the results. */
static bool wastes(const kn_space *s, int axis, const kn_schedule *schedule)
{
    int64_t places = kn_multiple_up(s->extent[axis], results_of_block(schedule));
    return 2 * places > 3 * s->extent[axis];
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    const int64_t results = kn_space_output_size(s), least = (int64_t)LEAST_EACH * c->target->multiprocessors;
    kn_reduce_params f = {0};
    if (s->size == 0 || s->n_reduction_axes != 1 || s->extent[reduced_axis(c)] > LONGEST || results < least)
        return false;
    f.axis = axis_of_points(c);
    if (f.axis < 0)
        return false;
    out->block = kn_choice_block(c);
    int *each = &kn_reduce_points_config_in(out)->results_each;
    *each = MOST_RESULTS;
    while (*each > 1 &&
           (*each * words_held(c) > HELD_WORDS || results < least * *each || wastes(s, f.axis, out)))
        *each /= 2;
    if (wastes(s, f.axis, out))
        return false;
    set_access(out, c);
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index_type(out, c);
    out->order =
        c->program->uses & KN_USES_REDUCTION_INDEX && s->stride[s->n_operands - 1][reduced_axis(c)] > 0;
    memcpy(params, &f, sizeof f);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    out->grid[0] = (unsigned)kn_reduce_place_beside(out, part, results_of_block(s));
    return KILN_OK;
}

/* A thread has all elements of a result. Levels read coordinates again for each pair: of more pairs they take
 * longer than the kernel's compile. */
static bool list_levels(kn_levels *levels, const kn_part *part)
{
    if (part->space->size > MOST_PAIRS)
        return false;
    kn_levels_one_thread(levels, CHUNK);
    return true;
}

const kn_kind kn_kind_reduce_points = {.name = "reduce_points",
                                       .recipe = &kn_recipe_reduce_points,
                                       KN_REDUCE_KIND,
                                       .config = &kn_reduce_points_config_table,
                                       .revision = 1,
                                       .field = KN_FIELD(kn_reduce_beside, KN_REDUCE_BESIDE),
                                       .list_levels = list_levels,
                                       .cut = kn_reduce_cut_beside,
                                       .takes_unrolled = true,
                                       .contracts = true,
                                       .describe = kn_reduce_describe_beside};
