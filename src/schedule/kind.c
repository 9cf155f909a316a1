/* schedule/kind.c - cuts spaces into launches, and places what most kinds have in common. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"

enum { CUT_ALIGN = 4096 /* elements, where an axis has at least twice as many */ };

int *kn_config_in(kn_schedule *schedule, const kn_config_table *table)
{
    return schedule->kind->config == table ? schedule->config : NULL;
}

const int *kn_config_of(const kn_schedule *schedule, const kn_config_table *table)
{
    return schedule->kind->config == table ? schedule->config : NULL;
}

void kn_placement_begin(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    out->kernel_space = NULL;
    out->loop_nest = NULL;
    out->rank = 0;
    out->grain = 0;
    out->size = part->space->size;
    out->grid[0] = out->grid[1] = out->grid[2] = 1;
    out->block = s->block > 0 ? (unsigned)s->block : 1;
    out->shared_bytes = 0;
    out->shared_percent = 0;
    out->cluster = 0;
    out->partials = 0;
    out->counters = 0;
    memset(out->field, 0, sizeof out->field);
}

kiln_status kn_part_place(kn_placement *out, const kn_part *part)
{
    kn_placement_begin(out, part);
    return part->spec->schedule.kind->place(out, part);
}

/* The state of kn_part_each_launch. */
typedef struct launching {
    kn_take_launch take;
    void *user;
} launching;

static kiln_status place_part(void *user, const kn_part *part)
{
    const launching *l = user;
    const kn_kind *kind = part->spec->schedule.kind;
    if (kind->place_each)
        return kind->place_each(part, l->take, l->user);
    kn_placement *placed = kn_malloc(sizeof *placed);
    if (!placed)
        return kn_error_memory("a launch plan");
    kiln_status status = kn_part_place(placed, part);
    if (status == KILN_OK)
        status = l->take(l->user, part, placed);
    kn_free(placed);
    return status;
}

kiln_status kn_part_each_launch(const kn_part *part, kn_take_launch take, void *user)
{
    return kn_part_each(part, place_part, &(launching){take, user});
}

/* Cut as the kind would cut whose order it has. */
static int axis_to_cut(int64_t *align, const kn_part *part)
{
    kn_part asked = *part;
    if (part->order)
        asked.spec = part->order;
    const kn_kind *kind = asked.spec->schedule.kind;
    return kind->cut ? kind->cut(align, &asked) : -1;
}

/* The recursion is as deep as sizes have bits above the limits. */
kiln_status kn_part_each(const kn_part *part, kiln_status (*take)(void *user, const kn_part *part),
                         void *user)
{
    int64_t align = 1;
    if (kn_space_output_size(part->space) == 0)
        return KILN_OK;
    int axis = axis_to_cut(&align, part);
    if (axis < 0)
        return take(user, part);
    kn_space *halves = kn_malloc(2 * sizeof *halves);
    if (!halves)
        return kn_error_memory("a launch plan");
    kiln_status status =
        kn_space_split(part->space, axis, align, &halves[0], &halves[1])
            ? KILN_OK
            : kn_error(KILN_ERROR_INTERNAL, "a space of %lld elements cannot be cut along axis %d",
                       (long long)part->space->size, axis);
    for (int h = 0; h < 2 && status == KILN_OK; ++h) {
        kn_part half = *part;
        half.space = &halves[h];
        status = kn_part_each(&half, take, user);
    }
    kn_free(halves);
    return status;
}

int kn_cut_reach(int64_t *align, const kn_part *part)
{
    const kn_space *space = part->space;
    int axis = kn_space_axis_beyond(space, KN_MAX_OFFSET);
    if (axis < 0 && space->size <= KN_MAX_INDEX)
        return -1;
    if (axis < 0 || strchr(part->spec->schedule.access, KN_DENSE))
        axis = 0;
    *align = axis == space->ndim - 1 ? kn_cut_alignment(part, axis) : 1;
    return axis;
}

int kn_cut_beside(int64_t *align, const kn_part *part, int one, int other)
{
    const kn_space *space = part->space;
    int axis = kn_cut_reach(align, part), best = -1;
    int64_t most = -1;
    if (axis < 0 || (axis != one && axis != other))
        return axis;
    for (int o = 0; o < space->n_operands; ++o)
        for (int a = 0; a < space->ndim; ++a) {
            int64_t reach = llabs(space->stride[o][a]) * (space->extent[a] - 1);
            if (a == one || a == other || reach <= most)
                continue;
            most = reach;
            best = a;
        }
    *align = best == space->ndim - 1 ? kn_cut_alignment(part, best) : 1;
    return best;
}

int64_t kn_cut_alignment(const kn_part *part, int axis)
{
    return part->space->extent[axis] >= 2 * CUT_ALIGN ? CUT_ALIGN : part->spec->schedule.vector;
}

/* Elements of its first dense result by which the part begins later than the whole space. */
static int64_t elements_later(const kn_part *part)
{
    kn_access access[KN_MAX_PARAMS];
    kn_spec_access(access, part->spec);
    for (int o = 0; o < part->spec->n_arrays; ++o)
        if (access[o].is_output && part->spec->schedule.access[o] == KN_DENSE)
            return (part->space->offset[o] - part->whole->offset[o]) / access[o].item_size;
    return 0;
}

int kn_part_misalignment(const kn_part *part, int misalignment)
{
    return (int)((misalignment + elements_later(part)) % part->spec->schedule.vector);
}

void kn_place_along(kn_placement *out, const kn_part *part, int64_t elements)
{
    int64_t per_block = (int64_t)part->spec->schedule.block * part->spec->schedule.vector;
    out->grid[0] = (unsigned)((elements + per_block - 1) / per_block);
}

static bool is_of_tile(const kn_tile_axis *axis, int count, int a)
{
    int k = 0;
    while (k < count && axis[k].axis != a)
        ++k;
    return k < count;
}

static void put_tiles(kn_space *out, const kn_space *space, const kn_tile_axis *axis, int count,
                      bool outermost)
{
    for (int k = 0; k < count; ++k)
        if (axis[k].step > 0 && axis[k].is_outermost == outermost)
            kn_space_put_axis(out, out->ndim++, space, axis[k].axis, axis[k].step);
}

void kn_tile_axes(kn_space *out, const kn_space *space, const kn_tile_axis *axis, int count)
{
    kn_space_start(out, space);
    out->ndim = 0;
    for (int k = 0; k < count; ++k)
        kn_space_put_axis(out, out->ndim++, space, axis[k].axis, 1);
    put_tiles(out, space, axis, count, true);
    for (int a = 0; a < space->ndim; ++a)
        if (!is_of_tile(axis, count, a))
            kn_space_put_axis(out, out->ndim++, space, a, 1);
    put_tiles(out, space, axis, count, false);
}

int64_t kn_place_tiles(kn_placement *out, int tile_axes)
{
    int64_t blocks = 1;
    for (int a = tile_axes; a < out->own_space.ndim; ++a)
        blocks *= out->own_space.extent[a];
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim - tile_axes;
    out->grid[0] = (unsigned)blocks;
    return blocks;
}

kiln_status kn_place_axes(kn_placement *out, const kn_part *part)
{
    out->kernel_space = part->space;
    out->rank = part->space->ndim;
    kn_place_along(out, part, part->space->size);
    return KILN_OK;
}

int kn_interleaved_number(const kn_spec *spec, int param, int count, int *first)
{
    const kn_schedule *s = &spec->schedule;
    int number = -1;
    for (int k = param < spec->program->n_in ? 0 : spec->program->n_in; k <= param; ++k) {
        int array = spec->operand[k].array;
        if (array < 0 || s->access[array] != KN_STAGED) {
            if (k == param) {
                *first = param; /* no first one of others in front of it */
                return -1;
            }
            continue;
        }
        if (++number % count == 0)
            *first = k;
    }
    return number % count;
}
