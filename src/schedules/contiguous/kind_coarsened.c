/* kind_coarsened.c - thread coarsening, for results far larger than the inputs: a rows kernel in which a
 * thread has several vectors along an axis on which an input is broadcast. That axis is the outermost such,
 * so the results of neighbouring threads are contiguous. Narrow results in rows that are no whole vectors are
 * single elements: their lanes read wide inputs side by side, where vectors of results would gather them. */
#include "schedules/contiguous/kind_coarsened.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    BLOCK = 1024,          /* threads; many, so that the rows of a block share their inputs */
    LEAST_BYTES = 1 << 24, /* bytes of results: below this it earns nothing */
    RATIO = 4,          /* bytes of results for each byte of inputs: with fewer, reads from L2 would bind */
    BLOCK_SINGLE = 256, /* threads with single elements */
    NARROW = 1,         /* bytes of results that are single elements, at most */
    LEAST_SINGLE = 64,  /* elements of a row of such */
    SHARE = 8 /* the broadcast input has at least this part of the bytes of the largest broadcast input */
};

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

/* Every operand is contiguous or broadcast along rows of narrow results, which are no whole vectors. */
static bool choose_single(kn_schedule *out, const kn_choice *c)
{
    if (kn_choice_widest(c, true) > NARROW || kn_choice_widest(c, false) < kn_choice_widest(c, true) ||
        c->space->extent[kn_choice_inner(c)] < LEAST_SINGLE || !kn_choice_is_near(c, 1))
        return false;
    for (int o = 0; o < c->count; ++o) {
        if (!kn_choice_is_vector(c, o, 1))
            return false;
        out->access[o] = KN_VECTOR;
    }
    out->vector = 1;
    out->block = c->block ? c->block : BLOCK_SINGLE;
    return true;
}

static bool choose_vectors(kn_schedule *out, const kn_choice *c)
{
    if (!kn_rows_choose_located(out, c) || strchr(out->access, KN_GATHER))
        return false;
    out->block = c->block ? c->block : BLOCK;
    return true;
}

/* One launch has the whole space, since a cut would go through a thread's vectors. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_coarsened_params f = {are_inputs_small(c) ? find_step_axis(c) : -1};
    if (f.axis < 0 || c->space->ndim + 1 > KILN_MAX_NDIM ||
        kn_space_axis_beyond(c->space, KN_MAX_OFFSET) >= 0)
        return false;
    bool has_vectors = choose_vectors(out, c);
    if (!has_vectors && !choose_single(out, c))
        return false;
    kn_coarsened_config_in(out)->coarsening = has_vectors ? KN_COARSENING : KN_COARSENING_SINGLE;
    out->rank = kn_choice_rank(c->space->ndim + 1);
    out->access[largest_broadcast(c, f.axis)] =
        KN_BROADCAST; /* the other inputs come from the nearest cache */
    memcpy(params, &f, sizeof f);
    return true;
}

void kn_coarsened_space(kn_space *out, const kn_space *space, int axis, int steps)
{
    int to = 2;
    kn_space_start(out, space);
    kn_space_put_axis(out, 0, space, axis, 1);
    kn_space_put_axis(out, 1, space, axis, steps);
    for (int a = 0; a < space->ndim; ++a)
        if (a != axis)
            kn_space_put_axis(out, to++, space, a, 1);
    out->ndim = to;
    out->size = 1;
    for (int a = 1; a < to; ++a)
        out->size *= out->extent[a];
}

/* A thread for each group of vectors. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_coarsened_params f;
    memcpy(&f, part->launch_params, sizeof f);
    kn_coarsened_space(&out->own_space, part->space, f.axis,
                       kn_coarsened_config_of(&part->spec->schedule)->coarsening);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim - 1;
    out->size = out->own_space.size;
    kn_place_along(out, part, out->size);
    return KILN_OK;
}

const kn_kind kn_kind_coarsened = {.name = "coarsened",
                                   .recipe = &kn_recipe_coarsened,
                                   KN_MAP_KIND,
                                   .revision = 2,
                                   .config = &kn_coarsened_config_table,
                                   .cut = kn_cut_reach};
