#include "plan/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "plan/cost.h"
#include "plan/tile.h"

enum {
    DEFAULT_BLOCK = 256,
    DEAR_BLOCK = 128,
    STEPS_BLOCK = 1024, /* large, so that the rows of a block share what they read */
    WINDOWS_BLOCK = 512,
    WINDOWS_SIZE = 1 << 14, /* fewest elements for boxes of shared memory */
    TILE_RANK = 16,
    MAX_INPUT_BYTES = 64,  /* of one thread and operand */
    STEPS_BYTES = 1 << 24, /* results of at least so much, */
    STEPS_RATIO = 4,       /* and so many times the inputs: reading inputs again from L2 would bind */
    STEPS_SHARE = 8, /* the input that stands still has at least this part of what the largest such has */
    LINE = 128,      /* bytes that memory and caches move together */
    SHORT_ROW = 512, /* bytes of a row that is read for itself, */
    ROWS_TOGETHER = 1024, /* and the most that shorter ones have together */
    MAX_EXTENT = 0x7fffffff
};

/* What is being decided, handed down. */
typedef struct choice {
    const kn_space *space;
    const kn_access *access;
    int count, width; /* operands; bytes of the widest access */
} choice;

const char *kn_schedule_name(kn_schedule_kind kind)
{
    static const char *const names[KN_SCHEDULE_KINDS] = {"none",  "flat", "rows",   "strided",
                                                         "steps", "tile", "windows"};
    return kind > 0 && kind < KN_SCHEDULE_KINDS ? names[kind] : names[0];
}

static int inner_axis(const choice *c)
{
    return c->space->ndim - 1;
}

static bool is_run(const kn_space *space, int o, int64_t step)
{
    for (int a = space->ndim; a-- > 0; step *= space->extent[a])
        if (space->stride[o][a] != step)
            return false;
    return true;
}

static bool is_dense(const choice *c, int o)
{
    return is_run(c->space, o, c->access[o].item_size);
}

static bool are_outputs_dense(const choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !is_dense(c, o))
            return false;
    return true;
}

/* One run for all, the logical index too: results that are written backwards count it down. */
static bool is_flat(const choice *c)
{
    if (c->space->ndim != 1 || (c->space->has_index && !is_run(c->space, c->space->n_operands - 1, 1)))
        return false;
    for (int o = 0; o < c->count; ++o)
        if (!is_dense(c, o))
            return false;
    return true;
}

static int widest(const choice *c, bool outputs)
{
    int size = 0;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output == outputs && c->access[o].item_size > size)
            size = c->access[o].item_size;
    return size;
}

/* Elements a thread so that each result is stored in one access of the widest size and no input takes more
 * than four of them. Nothing to store in the space: the snippet stores by itself, one element a thread. */
static int wide_vector(const choice *c)
{
    int result = widest(c, true), input = widest(c, false);
    if (result == 0)
        return 1;
    int vector = c->width / result;
    while (vector > 1 && vector * input > MAX_INPUT_BYTES)
        vector /= 2;
    return vector > 0 ? vector : 1;
}

/* Bytes to whose multiple a vector's address must be. */
static int vector_alignment(const choice *c, int o, int vector)
{
    int bytes = vector * c->access[o].item_size;
    return bytes < c->width ? bytes : c->width;
}

/* Whether the operand can be accessed at the places that its strides give: one vector each, or, for an input that stands still along the fastest axis, one
 * element repeated. */
static bool is_vector(const choice *c, int o, int vector)
{
    const kn_space *s = c->space;
    int alignment = vector_alignment(c, o, vector), inner = inner_axis(c);
    if (s->stride[o][inner] == 0 && s->extent[inner] % vector == 0 && !c->access[o].is_output)
        return true;
    if (s->stride[o][inner] != c->access[o].item_size || s->extent[inner] % vector != 0 ||
        c->access[o].address % (uintptr_t)alignment != 0)
        return false;
    for (int a = 0; a < inner; ++a)
        if (s->stride[o][a] % alignment != 0)
            return false;
    return true;
}

/* Elements by which the results are off a vector's boundary, the same for all of them; -1 where they
 * disagree. */
static int common_skew(const choice *c, int vector)
{
    int skew = -1;
    for (int o = 0; o < c->count; ++o) {
        if (!c->access[o].is_output)
            continue;
        int own =
            (int)(c->access[o].address % (uintptr_t)vector_alignment(c, o, vector)) / c->access[o].item_size;
        if (skew >= 0 && own != skew)
            return -1;
        skew = own;
    }
    return skew < 0 ? 0 : skew;
}

/* Whether a dense operand's vectors begin where the results' do. */
static bool agrees(const choice *c, int o, int vector, int skew)
{
    uintptr_t address = c->access[o].address - (uintptr_t)(skew * c->access[o].item_size);
    return address % (uintptr_t)vector_alignment(c, o, vector) == 0;
}

static int rank_class(int ndim)
{
    return ndim <= 8 ? 8 : KILN_MAX_NDIM;
}

/* Whether any input can be accessed in vectors at its places. */
static bool has_vector_input(const choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && is_vector(c, o, vector))
            return true;
    return false;
}

/* Cutting the outermost axis alone must bring every offset of a launch into range: dense results allow no other cut. */
static bool can_cut_outermost(const choice *c)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (kn_space_reach(c->space, o, 1) > KN_MAX_OFFSET)
            return false;
    return true;
}

/* A vector's lanes are within reach of each other. */
static bool are_lanes_near(const choice *c, int vector)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (llabs(c->space->stride[o][inner_axis(c)]) > KN_MAX_OFFSET / (2 * vector))
            return false;
    return true;
}

/* Whether every input runs along the fastest axis or stands still there, and rows are of some length. */
static bool are_inputs_runs(const choice *c, int vector)
{
    int inner = inner_axis(c);
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][inner] != 0 &&
            c->space->stride[o][inner] != c->access[o].item_size)
            return false;
    return c->space->extent[inner] >= vector;
}

/* Results are one run: stored in vectors at the element's index. Rows of whole vectors are choose_rows' business:
 * what both could do would be one more binary. */
static bool choose_dense(kn_schedule *out, kn_shape_of_launch *shape, const choice *c)
{
    bool flat = is_flat(c);
    int vector = wide_vector(c);
    bool apart = !flat && vector > KN_MAX_LOCATED && !are_inputs_runs(c, vector);
    vector = apart ? KN_MAX_LOCATED : vector;
    shape->skew = common_skew(c, vector);
    if (!are_outputs_dense(c) || vector == 1 || shape->skew < 0 || (!flat && c->space->size == 0) ||
        (!flat && shape->skew == 0 && has_vector_input(c, vector)) ||
        (!flat && (!can_cut_outermost(c) || !are_lanes_near(c, vector))))
        return false;
    out->kind = flat ? KN_FLAT : KN_ROWS;
    out->vector = vector;
    out->rank = flat ? 0 : rank_class(c->space->ndim);
    bool agree = true;
    for (int o = 0; o < c->count; ++o) {
        bool dense = is_dense(c, o) && (c->access[o].is_output || agrees(c, o, vector, shape->skew));
        agree = agree && dense;
        out->access[o] = dense ? KN_DENSE : KN_GATHER;
    }
    /* Off by different amounts, or bytes apart: all inputs alike. Those that are aligned lose little, and a binary for each mixture is saved. */
    for (int o = 0; (apart || (flat && !agree)) && o < c->count; ++o)
        if (!c->access[o].is_output)
            out->access[o] = KN_GATHER;
    return true;
}

static bool are_all_vectors(const choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        if (!is_vector(c, o, vector))
            return false;
    return true;
}

/* Results are runs along the fastest axis: stored in vectors at their places. Where all inputs are gathered that
 * gains little. */
static bool choose_rows(kn_schedule *out, kn_shape_of_launch *shape, const choice *c)
{
    int vector = wide_vector(c);
    bool apart = vector > KN_MAX_LOCATED && !are_all_vectors(c, vector);
    vector = apart ? KN_MAX_LOCATED : vector;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !is_vector(c, o, vector))
            return false;
    if (vector == 1 || !are_lanes_near(c, vector) || (widest(c, false) > 0 && !has_vector_input(c, vector)))
        return false;
    shape->skew = 0;
    out->kind = KN_ROWS;
    out->vector = vector;
    out->rank = rank_class(c->space->ndim);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = is_vector(c, o, vector) && (!apart || c->access[o].is_output)
                             ? KN_VECTOR
                             : KN_GATHER; /* bytes apart: all alike, a binary for each mixture is saved */
    return true;
}

static void choose_strided(kn_schedule *out, kn_shape_of_launch *shape, const choice *c)
{
    bool flat = is_flat(c);
    shape->skew = 0;
    out->kind = flat ? KN_FLAT : KN_STRIDED;
    out->vector = 1;
    out->rank = flat ? 0 : rank_class(c->space->ndim);
    memset(out->access, flat ? KN_DENSE : KN_GATHER, (size_t)c->count);
}

/* ---- steps ---- */

/* Bytes that the operand really has, what is broadcast counted once. */
static int64_t footprint(const choice *c, int o)
{
    int64_t bytes = c->access[o].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        bytes *= c->space->stride[o][a] != 0 ? c->space->extent[a] : 1;
    return bytes;
}

/* Of the inputs that stand still along the axis the one that has most bytes; -1. */
static int largest_still(const choice *c, int axis)
{
    int largest = -1;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][axis] == 0 &&
            c->space->extent[axis] >= KN_THREAD_STEPS &&
            (largest < 0 || footprint(c, o) > footprint(c, largest)))
            largest = o;
    return largest;
}

static bool are_inputs_small(const choice *c)
{
    int64_t results = 0, inputs = 0;
    for (int o = 0; o < c->count; ++o)
        *(c->access[o].is_output ? &results : &inputs) += footprint(c, o);
    return results >= STEPS_BYTES && inputs <= results / STEPS_RATIO;
}

/* The outermost axis along which an input of some size stands still: results of neighbouring threads then lie side by side; -1. */
static int find_step_axis(const choice *c)
{
    int64_t most = 0;
    for (int a = 0; a < inner_axis(c); ++a)
        if (largest_still(c, a) >= 0 && footprint(c, largest_still(c, a)) > most)
            most = footprint(c, largest_still(c, a));
    for (int a = 0; a < inner_axis(c); ++a)
        if (largest_still(c, a) >= 0 && footprint(c, largest_still(c, a)) >= most / STEPS_SHARE)
            return a;
    return -1;
}

/* A refinement of rows in which every operand is a vector. */
static void refine_to_steps(kn_schedule *out, kn_shape_of_launch *shape, const choice *c, int block)
{
    int axis = are_inputs_small(c) ? find_step_axis(c) : -1;
    if (axis < 0 || strchr(out->access, KN_GATHER) || c->space->ndim + 1 > KILN_MAX_NDIM)
        return;
    for (int o = 0; o < c->space->n_operands; ++o)
        if (kn_space_reach(c->space, o, 0) > KN_MAX_OFFSET)
            return;
    out->kind = KN_STEPS;
    out->block = block ? block : STEPS_BLOCK;
    out->rank = rank_class(c->space->ndim + 1);
    shape->step_axis = axis;
    out->access[largest_still(c, axis)] = KN_STILL; /* the others come from the nearest cache */
}

/* ---- tile ---- */

/* The axis along which the operand runs, where that is not the fastest and the operand moves along the
 * fastest too; -1. */
static int other_run(const choice *c, int o)
{
    int inner = inner_axis(c);
    int64_t item = c->access[o].item_size;
    if (c->space->stride[o][inner] == item || c->space->stride[o][inner] == 0)
        return -1;
    for (int a = inner; a-- > 0;)
        if (c->space->stride[o][a] == item && c->space->extent[a] > 1)
            return a;
    return -1;
}

static int find_tile_axis(const choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && other_run(c, o) >= 0)
            return other_run(c, o);
    return -1;
}

/* Whether whole vectors can be read along `axis` and turned. */
static bool can_stage(const choice *c, int o, int axis, int vector)
{
    int alignment = vector_alignment(c, o, vector);
    if (c->access[o].is_output || other_run(c, o) != axis || c->access[o].address % (uintptr_t)alignment != 0)
        return false;
    for (int a = 0; a < c->space->ndim; ++a)
        if (a != axis && c->space->stride[o][a] % alignment != 0)
            return false;
    return true;
}

/* Elements of a vector: as many as one access of the widest result or staged input has. */
static int tile_vector(const choice *c, int axis)
{
    int size = widest(c, true);
    if (size == 0)
        return 0;
    for (int o = 0; o < c->count; ++o) {
        int wider = c->access[o].item_size > size ? c->access[o].item_size : size;
        if (can_stage(c, o, axis, c->width / wider))
            size = wider;
    }
    return c->width / size;
}

static bool fits_tile(const choice *c, int axis, int vector)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (llabs(c->space->stride[o][axis]) > KN_MAX_OFFSET / (2 * vector))
            return false;
    for (int a = 0; a < c->space->ndim; ++a)
        if (c->space->extent[a] > MAX_EXTENT)
            return false;
    return true;
}

/* How each operand is accessed by a tile with these vectors; the bytes that are staged an element, 0 where the tile is not possible. Inputs that are not staged are
 * gathered, whole vectors among them: a binary for each mixture is saved. */
static int tile_access(char *access, const choice *c, int axis, int vector)
{
    int staged_bytes = 0;
    if (!fits_tile(c, axis, vector) || !are_lanes_near(c, vector) || c->space->extent[axis] % vector != 0)
        return 0;
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output && !is_vector(c, o, vector))
            return 0;
        bool staged = can_stage(c, o, axis, vector);
        access[o] = staged ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_GATHER;
        staged_bytes += staged ? c->access[o].item_size : 0;
    }
    return staged_bytes;
}

/* The axis of a tile or of windows; -1 where a side would be too short. */
static int turned_axis(const choice *c)
{
    int axis = find_tile_axis(c);
    return axis < 0 || c->space->extent[axis] < 8 || c->space->extent[inner_axis(c)] < 8 ? -1 : axis;
}

static bool choose_tile(kn_schedule *out, kn_shape_of_launch *shape, const choice *c)
{
    int axis = turned_axis(c), vector = axis < 0 ? 0 : tile_vector(c, axis);
    int staged_bytes = vector > 1 ? tile_access(out->access, c, axis, vector) : 0;
    if (staged_bytes == 0)
        return false;
    out->kind = KN_TILE;
    out->vector = vector;
    out->block = kn_tile_block(vector);
    out->rank = TILE_RANK;
    shape->skew = 0;
    shape->tile_axis = axis;
    kn_tile_choose_sides(shape, c->space, c->access, c->count, out->access, vector, staged_bytes);
    return true;
}

/* ---- windows ---- */

static bool is_whole_elements(const choice *c, int o)
{
    int64_t item = c->access[o].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        if (c->space->stride[o][a] % item != 0)
            return false;
    return c->access[o].address % (uintptr_t)item == 0;
}

/* Whether the vectors of all results begin at the same elements of each run. */
static bool do_results_agree(const choice *c, int vector)
{
    int first = -1;
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size;
        if (!c->access[o].is_output)
            continue;
        if (!is_whole_elements(c, o) || c->space->stride[o][inner_axis(c)] != item)
            return false;
        for (int a = 0; first >= 0 && a < c->space->ndim; ++a)
            if ((c->space->stride[o][a] / item - c->space->stride[first][a] / c->access[first].item_size) %
                vector)
                return false;
        first = first < 0 ? o : first;
    }
    return first >= 0 && common_skew(c, vector) >= 0;
}

/* One operand is staged, the others are gathered. */
static bool choose_windows(kn_schedule *out, kn_shape_of_launch *shape, const choice *c)
{
    int axis = turned_axis(c), vector = wide_vector(c);
    if (axis < 0 || c->space->size < WINDOWS_SIZE || c->space->extent[inner_axis(c)] < vector ||
        !do_results_agree(c, vector) || !fits_tile(c, axis, vector) || !are_lanes_near(c, vector))
        return false;
    int staged = -1;
    for (int o = 0; o < c->count; ++o) {
        bool can =
            staged < 0 && !c->access[o].is_output && other_run(c, o) == axis && is_whole_elements(c, o);
        out->access[o] = can ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_GATHER;
        staged = can ? o : staged;
    }
    if (staged < 0)
        return false;
    out->kind = KN_WINDOWS;
    out->vector = vector;
    out->block = WINDOWS_BLOCK;
    out->rank = TILE_RANK;
    shape->skew = 0;
    shape->tile_axis = axis;
    return true;
}

void kn_schedule_choose(kn_schedule *out, kn_shape_of_launch *shape, const kn_space *space,
                        const kn_access *access, int count, const kn_target *target, int block)
{
    choice c = {space, access, count, target->vector_bytes};
    memset(out, 0, sizeof *out);
    memset(shape, 0, sizeof *shape);
    if (target->backend == KN_HOST) {
        bool counts_up = !space->has_index || is_run(space, space->n_operands - 1, 1);
        out->kind = counts_up ? KN_FLAT : KN_STRIDED; /* whatever the layout: device/host_walk.h */
        return;
    }
    if (space->size > 0 && space->ndim + 2 * KN_TILE_AXES - 2 <= TILE_RANK &&
        (choose_tile(out, shape, &c) || choose_windows(out, shape, &c)))
        return;
    out->block = block ? block : DEFAULT_BLOCK;
    memset(out->access, 0, sizeof out->access);
    if (choose_dense(out, shape, &c))
        return;
    if (choose_rows(out, shape, &c))
        refine_to_steps(out, shape, &c, block);
    else
        choose_strided(out, shape, &c);
}

void kn_schedule_suit_body(kn_schedule *schedule, const kn_program *program)
{
    if (schedule->kind == KN_FLAT && schedule->vector > 1 && kn_cost_functions(program) > 0)
        schedule->block = DEAR_BLOCK;
}

/* ---- the spaces of rows, steps and tile kernels ---- */

/* Of so many rows, each of `bytes`, those that are taken together, none left over: rather whole lines, rather more. 1: there are none. */
static int64_t rows_together(int64_t rows, int64_t bytes)
{
    int64_t best = 1;
    for (int64_t some = 2; some <= rows && some * bytes <= ROWS_TOGETHER; ++some)
        if (rows % some == 0 && (best * bytes % LINE != 0 || some * bytes % LINE == 0))
            best = some;
    return best;
}

/* Short rows of an input that lie along another axis there than those of the results: that axis, and the rows that are taken together; else -1. */
static int find_short_rows(int64_t *together, const kn_space *space, const kn_schedule *schedule)
{
    int inner = space->ndim - 1;
    if (inner < 2 || strchr(schedule->access, KN_DENSE) || space->ndim >= schedule->rank)
        return -1;
    for (int o = 0; schedule->access[o]; ++o) {
        int axis = kn_space_nearest_axis(space, o, -1, -1);
        int64_t bytes = space->stride[o][inner] * space->extent[inner];
        *together = axis >= 0 && bytes > 0 ? rows_together(space->extent[axis], bytes) : 1;
        if (schedule->access[o] == KN_VECTOR && bytes < SHORT_ROW && axis != inner - 1 && *together > 1)
            return axis;
    }
    return -1;
}

const kn_space *kn_schedule_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule)
{
    int64_t together;
    int inner = space->ndim - 1, axis = find_short_rows(&together, space, schedule);
    if (axis < 0)
        return space;
    kn_space_start(out, space);
    for (int a = 0; a < inner; ++a)
        kn_space_put_axis(out, a, space, a, a == axis ? together : 1);
    kn_space_put_axis(out, inner, space, axis, 1);
    out->extent[inner] = together;
    kn_space_put_axis(out, inner + 1, space, inner, 1);
    out->ndim = inner + 2;
    return out;
}

void kn_schedule_steps_space(kn_space *out, const kn_space *space, const kn_shape_of_launch *shape)
{
    int to = 2;
    kn_space_start(out, space);
    kn_space_put_axis(out, 0, space, shape->step_axis, 1);
    kn_space_put_axis(out, 1, space, shape->step_axis, KN_THREAD_STEPS);
    for (int a = 0; a < space->ndim; ++a)
        if (a != shape->step_axis)
            kn_space_put_axis(out, to++, space, a, 1);
    out->ndim = to;
    out->size = 1;
    for (int a = 1; a < to; ++a)
        out->size *= out->extent[a];
}

void kn_schedule_tile_space(kn_space *out, const kn_space *space, const kn_schedule *schedule,
                            const kn_shape_of_launch *shape)
{
    const int axis[KN_TILE_AXES] = {shape->q.second_axis, shape->tile_axis, shape->p.second_axis,
                                    space->ndim - 1};
    const int steps[KN_TILE_AXES] = {shape->q.steps, shape->q.vectors * schedule->vector, shape->p.steps,
                                     shape->p.vectors * schedule->vector};
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
