/* kind_tile.c - an input runs along another axis than the results: vectors of it are turned in shared memory,
 * a tile a block. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"
#include "plan/tile.h"

/* Vectors are shorter than a sector in many layouts, whose other half then is in the cache: left to itself the driver
 * gives all of it to blocks, as many as fit, and rows P1 take up to 30 % longer. Measured, with 20 to 80 %, by
 * sweeps P1 to P16: bench/results/nvidia-h200-tiles.md. */
enum { SHARED_PERCENT = 80 };

/* Whether whole vectors can be read along `axis` and turned. */
static bool can_stage(const kn_choice *c, int o, int axis, int vector)
{
    int alignment = kn_choice_alignment(c, o, vector);
    if (c->access[o].is_output || kn_choice_other_run(c, o) != axis ||
        c->access[o].address % (uintptr_t)alignment != 0)
        return false;
    for (int a = 0; a < c->space->ndim; ++a)
        if (a != axis && c->space->stride[o][a] % alignment != 0)
            return false;
    return true;
}

/* Elements of a vector: as many as one access of the widest result or staged input has. */
static int tile_vector(const kn_choice *c, int axis)
{
    int size = kn_choice_widest(c, true);
    if (size == 0)
        return 0;
    for (int o = 0; o < c->count; ++o) {
        int wider = c->access[o].item_size > size ? c->access[o].item_size : size;
        if (can_stage(c, o, axis, c->target->vector_bytes / wider))
            size = wider;
    }
    return c->target->vector_bytes / size;
}

/* How each operand is accessed by a tile with these vectors; the bytes that are staged an element, 0 where
 * the tile is not possible. Inputs that are not staged are gathered, whole vectors among them: a binary for
 * each mixture is saved. */
static int set_access(char *access, const kn_choice *c, int axis, int vector)
{
    int staged_bytes = 0;
    if (!kn_choice_fits_turned(c, axis, vector) || !kn_choice_is_near(c, vector) ||
        c->space->extent[axis] % vector != 0)
        return 0;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output && !kn_choice_is_vector(c, o, vector))
            return 0;
        bool staged = can_stage(c, o, axis, vector);
        access[o] = staged ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_GATHER;
        staged_bytes += staged ? c->access[o].item_size : 0;
    }
    return staged_bytes;
}

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    kn_tile_figures f = {.axis = kn_choice_turned_axis(c)};
    int vector = f.axis < 0 ? 0 : tile_vector(c, f.axis);
    int staged_bytes = vector > 1 ? set_access(out->access, c, f.axis, vector) : 0;
    if (staged_bytes == 0)
        return false;
    out->vector = vector;
    out->block = kn_tile_block(vector);
    out->rank = KN_STAGED_RANK;
    kn_tile_choose_sides(&f, c, out->access, vector, staged_bytes);
    _Static_assert(sizeof f <= sizeof *kept, "figures of a tile");
    memcpy(kept, &f, sizeof f);
    return true;
}

static uint32_t small_reciprocal(uint32_t by)
{
    return ((UINT32_C(1) << 20) + by - 1) / by;
}

kn_tile kn_tile_make(const kn_tile_figures *f)
{
    kn_tile t = {.p_vectors = (uint32_t)f->p.vectors, .q_vectors = (uint32_t)f->q.vectors};
    t.p = t.p_vectors * (uint32_t)f->p.steps;
    t.q = t.q_vectors * (uint32_t)f->q.steps;
    t.across = f->across ? (uint32_t)f->p.steps : 1;
    t.p_reciprocal = small_reciprocal(t.p_vectors);
    t.q_reciprocal = small_reciprocal(t.q_vectors);
    t.row_reciprocal = small_reciprocal(t.p);
    t.q_row_reciprocal = small_reciprocal(t.q);
    t.p_steps = (uint32_t)f->p.steps;
    t.q_steps = (uint32_t)f->q.steps;
    t.across_reciprocal = small_reciprocal(t.across);
    return t;
}

void kn_tile_space(kn_space *out, const kn_space *space, int vector, const kn_tile_figures *f)
{
    const int axis[KN_TILE_AXES] = {f->q.second_axis, f->axis, f->p.second_axis, space->ndim - 1};
    const int steps[KN_TILE_AXES] = {f->q.steps, f->q.vectors * vector, f->p.steps, f->p.vectors * vector};
    int to = KN_TILE_AXES;
    kn_space_start(out, space);
    for (int t = 0; t < KN_TILE_AXES; ++t)
        kn_space_put_axis(out, t, space, axis[t], 1);
    for (int a = 0; a < space->ndim; ++a)
        if (a != axis[0] && a != axis[1] && a != axis[2] && a != axis[3])
            kn_space_put_axis(out, to++, space, a, 1);
    for (int t = 0; t < KN_TILE_AXES; ++t)
        kn_space_put_axis(out, to++, space, axis[t], steps[t]);
    out->ndim = to;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) kn_tile tile;\n", sizeof(kn_tile), 8};
}

/* A block a tile. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_tile_figures f;
    memcpy(&f, part->figures, sizeof f);
    kn_tile tile = kn_tile_make(&f);
    kn_tile_space(&out->room, part->space, part->spec->schedule.vector, &f);
    kn_place_boxes(out, KN_TILE_AXES);
    out->block = tile.p * tile.q;
    out->shared_bytes = (unsigned)f.shared_bytes;
    out->shared_percent = SHARED_PERCENT;
    memcpy(out->field, &tile, sizeof tile);
    return KILN_OK;
}

/* Vectors lie along both axes of a tile. */
static int cut(int64_t *align, const kn_part *part)
{
    kn_tile_figures f;
    memcpy(&f, part->figures, sizeof f);
    int axis = kn_cut_reach(align, part);
    if (axis == f.axis)
        *align = kn_cut_alignment(part, axis);
    return axis;
}

static void describe(kn_str *out, const unsigned char *at)
{
    kn_tile t;
    memcpy(&t, at, sizeof t);
    kn_str_printf(out, " tile=\"%ux%u by %ux%u vectors\" across=\"%u\"", t.p_vectors, t.p / t.p_vectors,
                  t.q_vectors, t.q / t.q_vectors, t.across);
}

const kn_kind kn_kind_tile = {"tile", "m", choose, field, place, cut, false, describe, false};
