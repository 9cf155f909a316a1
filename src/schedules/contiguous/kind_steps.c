/* kind_steps.c - results far larger than inputs: rows kernels in which a thread takes several steps along an
 * axis on which an input stands still, so that the results of neighbouring threads lie side by side. */
#include "schedules/contiguous/kind_steps.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    STEPS_BLOCK = 1024,    /* threads; many, so that the rows of a block share what they read */
    STEPS_BYTES = 1 << 24, /* bytes of results, from which on it is worth it */
    STEPS_RATIO = 4, /* bytes of results to one of inputs, at least: to read these again from L2 would bind */
    STEPS_SHARE = 8  /* the input that stands still has at least this part of what the largest such has */
};

/* Bytes that the operand really has, what is broadcast counted once. */
static int64_t footprint(const kn_choice *c, int o)
{
    int64_t bytes = c->access[o].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        bytes *= c->space->stride[o][a] != 0 ? c->space->extent[a] : 1;
    return bytes;
}

/* Of the inputs that stand still along the axis the one that has most bytes; -1. */
static int largest_still(const kn_choice *c, int axis)
{
    int largest = -1;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][axis] == 0 &&
            c->space->extent[axis] >= KN_THREAD_STEPS &&
            (largest < 0 || footprint(c, o) > footprint(c, largest)))
            largest = o;
    return largest;
}

static bool are_inputs_small(const kn_choice *c)
{
    int64_t results = 0, inputs = 0;
    for (int o = 0; o < c->count; ++o)
        *(c->access[o].is_output ? &results : &inputs) += footprint(c, o);
    return results >= STEPS_BYTES && inputs <= results / STEPS_RATIO;
}

/* The outermost axis along which an input of some size stands still: results of neighbouring threads then lie
 * side by side; -1. */
static int find_step_axis(const kn_choice *c)
{
    int64_t most = 0;
    int inner = kn_choice_inner(c);
    for (int a = 0; a < inner; ++a)
        if (largest_still(c, a) >= 0 && footprint(c, largest_still(c, a)) > most)
            most = footprint(c, largest_still(c, a));
    for (int a = 0; a < inner; ++a)
        if (largest_still(c, a) >= 0 && footprint(c, largest_still(c, a)) >= most / STEPS_SHARE)
            return a;
    return -1;
}

/* Every operand is a vector, and a launch has all of the space: cuts would go through the steps. */
static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_steps_params f = {are_inputs_small(c) ? find_step_axis(c) : -1};
    if (f.axis < 0 || !kn_rows_choose_located(out, c) || strchr(out->access, KN_GATHER) ||
        c->space->ndim + 1 > KILN_MAX_NDIM)
        return false;
    for (int o = 0; o < c->space->n_operands; ++o)
        if (kn_space_reach(c->space, o, 0) > KN_MAX_OFFSET)
            return false;
    out->block = c->block ? c->block : STEPS_BLOCK;
    out->rank = kn_choice_rank(c->space->ndim + 1);
    out->access[largest_still(c, f.axis)] = KN_BROADCAST; /* the others come from the nearest cache */
    memcpy(params, &f, sizeof f);
    return true;
}

void kn_steps_space(kn_space *out, const kn_space *space, int axis)
{
    int to = 2;
    kn_space_start(out, space);
    kn_space_put_axis(out, 0, space, axis, 1);
    kn_space_put_axis(out, 1, space, axis, KN_THREAD_STEPS);
    for (int a = 0; a < space->ndim; ++a)
        if (a != axis)
            kn_space_put_axis(out, to++, space, a, 1);
    out->ndim = to;
    out->size = 1;
    for (int a = 1; a < to; ++a)
        out->size *= out->extent[a];
}

/* A thread a vector, for all its steps. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_steps_params f;
    memcpy(&f, part->launch_params, sizeof f);
    kn_steps_space(&out->own_space, part->space, f.axis);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim - 1;
    out->size = out->own_space.size;
    kn_place_along(out, part, out->size);
    return KILN_OK;
}

const kn_kind kn_kind_steps = {.name = "steps",
                               .recipe = &kn_recipe_steps,
                               .pattern = "m",
                               .revision = 1,
                               .choose = choose,
                               .field = kn_field_none,
                               .place = place,
                               .cut = kn_cut_reach};
