/* kind_tile.c - an input is contiguous along another axis than the results, and aligned. A block transposes a
 * tile of vectors in shared memory. */
#include "schedules/transpose/kind_tile.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "space/numbers.h"
#include "schedules/transpose/tile_sides.h"
#include "schedules/transpose/transpose_kinds.h"

/* Percent of a multiprocessor's cache that is shared memory. In many layouts vectors are shorter than a
 * sector, and the other half is read from the cache later. By itself the driver gives the whole cache to
 * shared memory, and rows P1 take up to 30 % longer. 20 to 80 % were measured with P1 to P16:
 * bench/results/nvidia-h200-tiles.md. */
enum { SHARED_PERCENT = 80, LARGEST_VECTOR = 64 /* bytes */ };

/* The operand can be read in whole vectors along `axis`. */
static bool can_stage(const kn_choice *c, int o, int axis, int vector)
{
    return !c->access[o].is_output && kn_choice_contiguous_axis(c, o) == axis &&
           kn_choice_is_aligned(c, o, axis, kn_choice_alignment(c, o, vector));
}

/* Elements of a vector: those of one access to the widest result or staged input. */
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

/* Sets the access of each operand, and returns the staged bytes of an element; 0: a tile with such vectors is
 * impossible. All inputs that are not staged are gathered, even if some are whole vectors: this saves a
 * binary for each mixture. */
static int set_access(char *access, const kn_choice *c, int axis, int vector)
{
    int staged_bytes = 0;
    if (!kn_choice_fits_transposed(c, axis, vector) || !kn_choice_is_near(c, vector) ||
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

/* Chooses the tile for a space in which narrow axes have been joined with the next ones. */
static bool choose_joined(kn_schedule *out, kn_tile_params *f, const kn_choice *c)
{
    int axis = kn_choice_transposed_axis(c), vector = axis < 0 ? 0 : tile_vector(c, axis);
    int staged_bytes = vector > 1 ? set_access(out->access, c, axis, vector) : 0;
    if (staged_bytes == 0 || (f->q_narrow && axis != f->axis))
        return false;
    f->axis = axis;
    kn_tile_choose_sides(f, c, out->access, vector, staged_bytes);
    out->vector = vector;
    out->block = kn_tile_block(vector);
    out->rank = KN_STAGED_RANK;
    return f->shared_bytes > 0;
}

/* ---- narrow axes ---- */

/* Gathered inputs would need a step along each of the joined axes. */
static bool are_staged(const kn_schedule *s, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (s->access[o] == KN_GATHER && c->space->stride[o][kn_choice_inner(c)] != 0)
            return false;
    return true;
}

/* The axis that follows the narrow axis along which an input is contiguous; -1: no input has such. */
static int find_narrow_q(int *narrow, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o) {
        *narrow = c->access[o].is_output ? -1 : kn_choice_contiguous_axis(c, o);
        int next = *narrow < 0 ? -1 : kn_space_next_axis(c->space, o, *narrow);
        if (next >= 0 && next != kn_choice_inner(c) && kn_choice_is_narrow(c, *narrow))
            return next;
    }
    return -1;
}

/* The axis that follows the fastest axis of the results. Inputs have to be staged, or broadcast along
 * both. */
static int find_narrow_p(const kn_choice *c)
{
    int inner = kn_choice_inner(c), next = kn_choice_next_of_results(c);
    bool fits = next >= 0 && !c->space->indices && kn_choice_is_narrow(c, inner);
    for (int o = 0; o < c->count && fits; ++o)
        fits = c->access[o].is_output || kn_choice_contiguous_axis(c, o) >= 0 ||
               (c->space->stride[o][inner] == 0 && c->space->stride[o][next] == 0);
    return fits ? next : -1;
}

/* Joins both axes into axis `into`; the other one gets extent 1. If an operand is not contiguous across them,
 * the steps of both decide its alignment, and the stride is made such that no element is next to another. */
static void join(kn_space *space, const kn_choice *c, int narrow, int next, int into)
{
    int gone = into == narrow ? next : narrow;
    for (int o = 0; o < space->n_operands; ++o) {
        int64_t step = space->stride[o][narrow], far = space->stride[o][next];
        bool is_run = far == step * space->extent[narrow];
        far |= step & (LARGEST_VECTOR - 1);
        bool seems_run = o < c->count && far == c->access[o].item_size;
        space->stride[o][into] = is_run ? step : seems_run ? far + LARGEST_VECTOR : far;
        space->stride[o][gone] = 0;
    }
    space->extent[into] = space->extent[narrow] * space->extent[next];
    space->extent[gone] = 1;
}

/* Sides of a narrow axis and the next one, for q, for p, or for both. */
static bool choose_narrow(kn_schedule *out, kn_tile_params *f, const kn_choice *c, bool narrow_q,
                          bool narrow_p)
{
    kn_space joined;
    kn_choice narrow = *c;
    int inner = kn_choice_inner(c), q_narrow = -1, q = narrow_q ? find_narrow_q(&q_narrow, c) : -1,
        p = narrow_p ? find_narrow_p(c) : -1;
    if ((narrow_q && q < 0) || (narrow_p && (p < 0 || p == q || p == q_narrow)))
        return false;
    *f = (kn_tile_params){.axis = q, .p_axis = p < 0 ? inner : p};
    kn_space_copy(&joined, c->space);
    narrow.space = &joined;
    if (q >= 0) {
        f->q_narrow = (int)c->space->extent[q_narrow];
        join(&joined, c, q_narrow, q, q);
    }
    if (p >= 0) {
        f->p_narrow = (int)c->space->extent[inner];
        join(&joined, c, inner, p, inner);
    }
    if (!choose_joined(out, f, &narrow) || (p >= 0 && !are_staged(out, &narrow)))
        return false;
    f->q.second_axis = q >= 0 ? q_narrow : f->q.second_axis;
    f->p.second_axis = p >= 0 ? inner : f->p.second_axis;
    return true;
}

static bool find(kn_schedule *out, kn_tile_params *f, const kn_choice *c)
{
    *f = (kn_tile_params){.p_axis = kn_choice_inner(c)};
    return c->space->size > 0 &&
           (choose_joined(out, f, c) || choose_narrow(out, f, c, true, false) ||
            choose_narrow(out, f, c, false, true) || choose_narrow(out, f, c, true, true));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_tile_params f;
    _Static_assert(sizeof f <= sizeof *params, "launch parameters of a tile");
    if (!find(out, &f, c))
        return false;
    kn_transpose_config_in(out)->narrow_axis = f.q_narrow || f.p_narrow;
    memcpy(params, &f, sizeof f);
    return true;
}

bool kn_tile_takes(const kn_choice *c)
{
    kn_schedule schedule = {.kind = NULL};
    kn_tile_params unused;
    return find(&schedule, &unused, c);
}

static uint32_t small_reciprocal(uint32_t by)
{
    return ((UINT32_C(1) << 20) + by - 1) / by;
}

kn_tile kn_tile_make(const kn_tile_params *f)
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
    t.p_narrow = f->p_narrow ? (uint32_t)f->p_narrow : 1;
    t.q_narrow = f->q_narrow ? (uint32_t)f->q_narrow : 1;
    t.p_narrow_reciprocal = small_reciprocal(t.p_narrow);
    t.q_narrow_reciprocal = small_reciprocal(t.q_narrow);
    return t;
}

/* Elements of a side along its first axis; a narrow second axis divides them. */
static int steps_along(const kn_tile_side *side, int narrow, int vector)
{
    int elements = side->vectors * vector;
    return narrow > 0 ? (int)kn_divide_up(elements, narrow) : elements;
}

void kn_tile_space(kn_space *out, const kn_space *space, int vector, const kn_tile_params *f)
{
    const int axis[KN_TILE_AXES] = {f->q.second_axis, f->axis, f->p.second_axis, f->p_axis};
    const int steps[KN_TILE_AXES] = {
        f->q_narrow ? f->q_narrow : f->q.steps, steps_along(&f->q, f->q_narrow, vector),
        f->p_narrow ? f->p_narrow : f->p.steps, steps_along(&f->p, f->p_narrow, vector)};
    kn_tile_axis tile[KN_TILE_AXES];
    for (int t = 0; t < KN_TILE_AXES; ++t)
        tile[t] = (kn_tile_axis){axis[t], steps[t], false};
    kn_tile_axes(out, space, tile, KN_TILE_AXES);
}

/* A thread block for each tile. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_tile_params f;
    memcpy(&f, part->launch_params, sizeof f);
    kn_tile tile = kn_tile_make(&f);
    kn_tile_space(&out->own_space, part->space, part->spec->schedule.vector, &f);
    kn_place_tiles(out, KN_TILE_AXES);
    out->block = tile.p * tile.q;
    out->shared_bytes = (unsigned)f.shared_bytes;
    out->shared_percent = SHARED_PERCENT;
    memcpy(out->field, &tile, sizeof tile);
    return KILN_OK;
}

/* Vectors are along both axes of a tile. */
static int cut(int64_t *align, const kn_part *part)
{
    kn_tile_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int axis =
        kn_cut_beside(align, part, f.q_narrow ? f.q.second_axis : -1, f.p_narrow ? f.p.second_axis : -1);
    if (axis == f.axis || axis == f.p_axis)
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

const kn_kind kn_kind_tile = {.name = "tile",
                              .recipe = &kn_recipe_tile,
                              KN_MAP_KIND,
                              .revision = 1,
                              .fewest = 1 << 18,
                              .config = &kn_transpose_config_table,
                              .field = KN_FIELD(kn_tile, KN_TILE_FIELD),
                              .cut = cut,
                              .describe = describe};
