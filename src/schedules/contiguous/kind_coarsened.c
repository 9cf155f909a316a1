/* kind_coarsened.c - thread coarsening, for results far larger than the inputs: a rows kernel in which a
 * thread has several vectors along an axis on which an input is broadcast. That axis is the outermost such,
 * so the results of neighbouring threads are contiguous.
 *
 * Narrow results beside wide inputs are stored by words: their lanes read the inputs nearly side by side,
 * which vectors of results would gather. A thread has a window of the broadcast input, and each row takes
 * from it the part that its aligned word has. So rows may begin anywhere. */
#include "schedules/contiguous/kind_coarsened.h"

#include <string.h>

#include "program/cost.h"
#include "program/pure.h"
#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/contiguous_kinds.h"
#include "space/numbers.h"

enum {
    BLOCK_DOUBLES = 256,   /* threads of blocks that compute functions of float64 */
    DOUBLE = 8,            /* bytes */
    BLOCK = 1024,          /* threads; many, so that the rows of a block share their inputs */
    LEAST_BYTES = 1 << 24, /* bytes of results: below this it earns nothing */
    RATIO = 4, /* bytes of results for each byte of inputs: with fewer, reads from L2 would bind */
    BLOCK_UNALIGNED = 256, /* threads with words */
    WORD = 4,              /* bytes */
    FEWEST_LANE_BITS = 3,  /* log2 of threads that share the words of a part of a row */
    MOST_LANE_BITS = 5,
    NARROW = 1, /* bytes of results that are stored by words, at most: of two bytes words take 1.4 times as
                   long as what rows does */
    LEAST_UNALIGNED = 64, /* elements of a row of such */
    MOST_INPUT = 32,      /* bytes of an input for a vector of results: with more, registers spill */
    SHARE = 8 /* the broadcast input has at least this part of the bytes of the largest broadcast input */
};

/* The field of kernels of unaligned rows. */
#define MEMBERS                                                                                              \
    int columns;                                                                                             \
    int lane_bits;
typedef struct unaligned_field {
    MEMBERS
} unaligned_field;

/* The largest of the inputs that are broadcast along the axis; -1: there is none. */
static int largest_broadcast(const kn_choice *c, int axis)
{
    int largest = -1;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][axis] == 0 &&
            c->space->extent[axis] >= KN_COARSENING &&
            (largest < 0 || kn_choice_footprint(c, o) > kn_choice_footprint(c, largest)))
            largest = o;
    return largest;
}

static bool are_inputs_small(const kn_choice *c)
{
    int64_t results = 0, inputs = 0;
    for (int o = 0; o < c->count; ++o)
        *(c->access[o].is_output ? &results : &inputs) += kn_choice_footprint(c, o);
    return results >= LEAST_BYTES && inputs <= results / RATIO;
}

/* The outermost axis along which a large enough input is broadcast; -1: there is none. */
static int find_step_axis(const kn_choice *c)
{
    int64_t most = 0;
    int inner = kn_choice_inner(c);
    for (int a = 0; a < inner; ++a)
        if (largest_broadcast(c, a) >= 0 && kn_choice_footprint(c, largest_broadcast(c, a)) > most)
            most = kn_choice_footprint(c, largest_broadcast(c, a));
    for (int a = 0; a < inner; ++a)
        if (largest_broadcast(c, a) >= 0 && kn_choice_footprint(c, largest_broadcast(c, a)) >= most / SHARE)
            return a;
    return -1;
}

/* One narrow result; every operand is contiguous or broadcast along rows. Columns beyond the ends of a row
 * are computed too, so the body must be free of side effects. */
static bool choose_unaligned(kn_schedule *out, const kn_choice *c, int axis)
{
    int results = 0;
    if (kn_choice_widest(c, true) > NARROW || kn_choice_widest(c, false) < kn_choice_widest(c, true) ||
        c->space->extent[kn_choice_inner(c)] < LEAST_UNALIGNED || !kn_choice_is_near(c, WORD) ||
        !c->program || !kn_body_is_pure(c->program))
        return false;
    for (int o = 0; o < c->count; ++o) {
        if (!kn_choice_is_vector(c, o, 1))
            return false;
        results += c->access[o].is_output;
        out->access[o] = c->access[o].is_output                         ? KN_GATHER
                         : c->space->stride[o][axis] == 0               ? KN_BROADCAST
                         : c->space->stride[o][kn_choice_inner(c)] == 0 ? KN_VECTOR
                                                                        : KN_GATHER;
    }
    out->vector = WORD / kn_choice_widest(c, true);
    out->block = c->block ? c->block : BLOCK_UNALIGNED;
    kn_coarsened_config_in(out)->coarsening = KN_COARSENING_UNALIGNED;
    return results == 1;
}

/* Functions of float64 wait for each other's steps: more warps of a multiprocessor fit in smaller blocks. */
static bool is_bound_by_doubles(const kn_choice *c)
{
    return c->program && kn_choice_widest(c, true) >= DOUBLE && kn_cost_functions(c->program) > 0;
}

static bool choose_vectors(kn_schedule *out, const kn_choice *c, int axis)
{
    if (!kn_rows_choose_located(out, c) || strchr(out->access, KN_GATHER))
        return false;
    while (kn_choice_widest(c, true) <= NARROW && kn_choice_widest(c, false) * out->vector > MOST_INPUT)
        out->vector /= 2;
    if (kn_choice_widest(c, false) * out->vector > MOST_INPUT)
        return false;
    out->block = c->block ? c->block : is_bound_by_doubles(c) ? BLOCK_DOUBLES : BLOCK;
    /* The other inputs come from the nearest cache. */
    out->access[largest_broadcast(c, axis)] = KN_BROADCAST;
    kn_coarsened_config_in(out)->coarsening = KN_COARSENING;
    return true;
}

/* One launch has the whole space, since a cut would go through a thread's vectors. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_coarsened_params f = {are_inputs_small(c) ? find_step_axis(c) : -1};
    if (f.axis < 0 || c->space->ndim + 1 > KILN_MAX_NDIM ||
        kn_space_axis_beyond(c->space, KN_MAX_OFFSET) >= 0)
        return false;
    if (!choose_vectors(out, c, f.axis) && !choose_unaligned(out, c, f.axis))
        return false;
    out->rank = kn_choice_rank(c->space->ndim + 1);
    memcpy(params, &f, sizeof f);
    return true;
}

/* Lanes of a part of an unaligned row, log2: one of them has what lies in front of the words of the others.
 * The fewest lanes in all; longer parts where these are as many. */
static int lane_bits_of(int64_t columns, int vector)
{
    const int64_t words = kn_divide_up(columns + vector - 1, vector);
    int best = MOST_LANE_BITS;
    for (int bits = MOST_LANE_BITS - 1; bits >= FEWEST_LANE_BITS; --bits)
        if (kn_divide_up(words, (1 << bits) - 1) << bits < kn_divide_up(words, (1 << best) - 1) << best)
            best = bits;
    return best;
}

static int64_t lanes_of(int64_t columns, int vector)
{
    const int bits = lane_bits_of(columns, vector);
    return kn_divide_up(kn_divide_up(columns + vector - 1, vector), (1 << bits) - 1) << bits;
}

void kn_coarsened_space(kn_space *out, const kn_space *space, const kn_schedule *schedule, int axis)
{
    int to = 2, inner = space->ndim - 1;
    kn_space_start(out, space);
    kn_space_put_axis(out, 0, space, axis, 1);
    kn_space_put_axis(out, 1, space, axis, kn_coarsened_config_of(schedule)->coarsening);
    for (int a = 0; a < space->ndim; ++a)
        if (a != axis)
            kn_space_put_axis(out, to++, space, a,
                              a == inner && kn_coarsened_is_unaligned(schedule) ? schedule->vector : 1);
    if (kn_coarsened_is_unaligned(schedule))
        out->extent[to - 1] = lanes_of(space->extent[inner], schedule->vector);
    out->ndim = to;
    out->size = 1;
    for (int a = 1; a < to; ++a)
        out->size *= out->extent[a];
}

static bool has_field(const kn_schedule *schedule)
{
    return kn_coarsened_is_unaligned(schedule);
}

/* A thread for each group of vectors, or of words. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    kn_coarsened_params f;
    memcpy(&f, part->launch_params, sizeof f);
    kn_coarsened_space(&out->own_space, part->space, s, f.axis);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim - 1;
    out->size = out->own_space.size;
    kn_place_along(out, part, out->size * (kn_coarsened_is_unaligned(s) ? s->vector : 1));
    if (kn_coarsened_is_unaligned(s)) {
        int columns = (int)part->space->extent[part->space->ndim - 1];
        unaligned_field own = {columns, lane_bits_of(columns, s->vector)};
        memcpy(out->field, &own, sizeof own);
    }
    return KILN_OK;
}

const kn_kind kn_kind_coarsened = {.name = "coarsened",
                                   .recipe = &kn_recipe_coarsened,
                                   KN_MAP_KIND,
                                   .revision = 4,
                                   .config = &kn_coarsened_config_table,
                                   .field = KN_FIELD(unaligned_field, MEMBERS),
                                   .has_field = has_field,
                                   .cut = kn_cut_reach};
