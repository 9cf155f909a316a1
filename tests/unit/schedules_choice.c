/* Schedules: whatever is chosen, every wide access is aligned, inside its operand's run, and never crosses
 * what the strides hold apart. */
#include "schedules/choose.h"
#include "schedules/kinds.h"
#include "schedule/layout.h"
#include "program/program.h"
#include "schedules/contiguous/kind_output_bound.h"
#include "schedules/stencil/stencil_windows.h"
#include "schedules/contiguous/kind_rows.h"
#include "schedules/contiguous/kind_coarsened.h"
#include "schedules/interleave/kind_channels.h"
#include "schedules/transpose/tile_sides.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

enum { MAX_RANK = 5, MAX_VIEWS = 4, WIDTH = 16, SHARED = 64 << 10 };

static uint64_t state_of_dice;

static int roll(int low, int high)
{
    state_of_dice = state_of_dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int)((state_of_dice >> 33) % (uint64_t)(high - low + 1));
}

/* ---- a random call ---- */

typedef struct scene {
    int ndim, count;
    bool with_index, is_outer; /* is_outer: each input has one axis of its own */
    int64_t shape[MAX_RANK], strides[MAX_VIEWS][MAX_RANK];
    kn_view view[MAX_VIEWS];
    kn_access access[MAX_VIEWS];
    kn_space space;
} scene;

static void random_operand(scene *s, int v)
{
    int order[MAX_RANK], item = 1 << roll(0, 4);
    int64_t run = item;
    bool is_output = v == s->count - 1;
    for (int a = 0; a < s->ndim; ++a)
        order[a] = a;
    for (int a = s->ndim; a-- > 1 && roll(0, 1);) {
        int other = roll(0, a), swapped = order[a];
        order[a] = order[other];
        order[other] = swapped;
    }
    int own = s->is_outer && !is_output ? roll(0, s->ndim - 1) : -1;
    for (int k = s->ndim; k-- > 0;) {
        int64_t step = run * (roll(0, 9) ? 1 : 2);
        s->strides[v][order[k]] = roll(0, 9) ? step : -step;
        if (!is_output && (own >= 0 ? order[k] != own : !roll(0, 9))) {
            s->strides[v][order[k]] = 0;
            continue;
        }
        run = step * s->shape[order[k]];
    }
    s->view[v] = (kn_view){s->shape, s->strides[v], s->ndim, is_output};
    s->access[v] =
        (kn_access){item, (uintptr_t)(1 << 20) + (uintptr_t)(roll(0, 2) ? 0 : roll(0, 20) * item), is_output};
}

static void random_scene(scene *s)
{
    static const int extents[] = {2, 3, 4, 8, 16, 17, 32, 33, 64, 128};
    s->ndim = roll(1, MAX_RANK);
    s->count = roll(1, MAX_VIEWS);
    s->with_index = !roll(0, 3);
    s->is_outer = !roll(0, 9);
    for (int a = 0; a < s->ndim; ++a)
        s->shape[a] = extents[roll(0, 9)];
    for (int v = 0; v < s->count; ++v)
        random_operand(s, v);
    kn_space_make(&s->space, s->ndim, s->shape, 0, s->view, s->count, s->with_index);
    for (int v = 0; v < s->count; ++v)
        s->access[v].address += (uintptr_t)s->space.offset[v];
}

/* ---- what has to hold ---- */

/* The launch parameters of flat and rows kernels begin with the misalignment, those of the others with an
 * axis. */
static int first_param(const kn_launch_params *params)
{
    int first;
    memcpy(&first, params, sizeof first);
    return first;
}

static int misalignment_of(const kn_schedule *c, const kn_launch_params *params)
{
    return c->kind == &kn_kind_flat || c->kind == &kn_kind_rows ? first_param(params) : 0;
}

static kn_tile_params tile_of(const kn_launch_params *params)
{
    kn_tile_params tile;
    memcpy(&tile, params, sizeof tile);
    return tile;
}

static int64_t alignment(const scene *s, const kn_schedule *c, int o)
{
    int bytes = c->vector * s->access[o].item_size;
    return bytes < WIDTH ? bytes : WIDTH;
}

static void assert_dense(const scene *s, const kn_schedule *c, const kn_launch_params *params, int o)
{
    int64_t run = s->access[o].item_size;
    for (int a = s->space.ndim; a-- > 0; run *= s->space.extent[a])
        assert_int_equal(s->space.stride[o][a], run);
    assert_int_equal(
        (s->access[o].address - (uintptr_t)(misalignment_of(c, params) * s->access[o].item_size)) %
            (uintptr_t)alignment(s, c, o),
        0);
}

/* Vectors along `axis` begin at aligned places and do not run out of it. */
static void assert_vectors_along(const scene *s, const kn_schedule *c, int o, int axis)
{
    assert_int_equal(s->space.extent[axis] % c->vector, 0);
    if (s->space.stride[o][axis] == 0 && !s->access[o].is_output)
        return;
    assert_int_equal(s->space.stride[o][axis], s->access[o].item_size);
    assert_int_equal(s->access[o].address % (uintptr_t)alignment(s, c, o), 0);
    for (int a = 0; a < s->space.ndim; ++a)
        if (a != axis)
            assert_int_equal(s->space.stride[o][a] % alignment(s, c, o), 0);
}

/* The same along a narrow axis and the one on which the operand goes on. */
static void assert_vectors_along_both(const scene *s, const kn_schedule *c, int o, int narrow, int next)
{
    int64_t elements = s->space.extent[narrow] * s->space.extent[next], item = s->access[o].item_size;
    assert_true(s->space.extent[narrow] <= 16);
    assert_int_equal(elements % c->vector, 0);
    assert_int_equal(s->space.stride[o][narrow], item);
    assert_int_equal(s->space.stride[o][next], item * s->space.extent[narrow]);
    assert_int_equal(s->access[o].address % (uintptr_t)alignment(s, c, o), 0);
    for (int a = 0; a < s->space.ndim; ++a)
        if (a != narrow && a != next)
            assert_int_equal(s->space.stride[o][a] % alignment(s, c, o), 0);
}

/* A side of a tile. */
static void assert_side(const scene *s, const kn_schedule *c, int o, const kn_tile_params *f, bool is_p)
{
    if (is_p ? f->p_narrow : f->q_narrow)
        assert_vectors_along_both(s, c, o, is_p ? f->p.second_axis : f->q.second_axis,
                                  is_p ? f->p_axis : f->axis);
    else
        assert_vectors_along(s, c, o, is_p ? f->p_axis : f->axis);
}

/* Windows are aligned by themselves; elements must be. */
static void assert_run_along(const scene *s, int o, int axis)
{
    int item = s->access[o].item_size;
    assert_int_equal(s->space.stride[o][axis], item);
    assert_int_equal(s->access[o].address % (uintptr_t)item, 0);
    for (int a = 0; a < s->space.ndim; ++a)
        assert_int_equal(s->space.stride[o][a] % item, 0);
}

/* Windows of channels: the input is contiguous along the fastest axis, too. */
static bool shares_channels(const scene *s, int o)
{
    int inner = s->space.ndim - 1;
    return s->space.stride[o][inner] == s->access[o].item_size && s->space.extent[inner] <= 16;
}

static void assert_access(const scene *s, const kn_schedule *c, const kn_launch_params *params, int o)
{
    switch (c->access[o]) {
    case KN_DENSE:
        assert_true(c->kind != &kn_kind_tile);
        assert_dense(s, c, params, o);
        break;
    case KN_VECTOR:
        if (c->kind == &kn_kind_windows) {
            assert_run_along(s, o, s->space.ndim - 1);
            break;
        }
        if (c->kind == &kn_kind_tile) {
            const kn_tile_params f = tile_of(params);
            assert_side(s, c, o, &f, true);
            break;
        }
        assert_true(c->kind == &kn_kind_rows || c->kind == &kn_kind_tile || c->kind == &kn_kind_coarsened ||
                    c->kind == &kn_kind_output_bound);
        assert_int_equal(misalignment_of(c, params), 0);
        assert_vectors_along(s, c, o, s->space.ndim - 1);
        break;
    case KN_BROADCAST:
        if (c->kind == &kn_kind_rows) { /* one element of each row, beside inputs that rows do not align */
            assert_true(!s->access[o].is_output && s->space.stride[o][s->space.ndim - 1] == 0);
            break;
        }
        assert_true((c->kind == &kn_kind_coarsened || c->kind == &kn_kind_output_bound) &&
                    !s->access[o].is_output);
        assert_int_equal(
            s->space.stride[o][c->kind == &kn_kind_coarsened ? first_param(params) : s->space.ndim - 1], 0);
        assert_vectors_along(s, c, o, s->space.ndim - 1);
        break;
    case KN_STAGED:
        if (c->kind == &kn_kind_windows) {
            assert_true(!s->access[o].is_output);
            assert_run_along(s, o, shares_channels(s, o) ? s->space.ndim - 1 : first_param(params));
            break;
        }
        assert_true(c->kind == &kn_kind_tile && !s->access[o].is_output &&
                    s->space.stride[o][first_param(params)] != 0);
        const kn_tile_params f = tile_of(params);
        assert_side(s, c, o, &f, false);
        break;
    default:
        assert_int_equal(c->access[o], KN_GATHER);
        assert_true(c->vector == 1 || !s->access[o].is_output);
    }
}

/* Rows are whole vectors, and of a warp's where it is located once. */
static void assert_output_bound(const scene *s, const kn_schedule *c)
{
    int inner = s->space.ndim - 1;
    const kn_output_bound_config *config = kn_output_bound_config_of(c);
    assert_true(config->vectors >= 2 && config->vectors <= 4 && c->vector > 1);
    assert_int_equal(
        s->space.extent[inner] % (config->one_row ? 32 * config->vectors * c->vector : c->vector), 0);
    for (int o = 0; o < s->count; ++o)
        if (c->access[o] == KN_GATHER)
            assert_true(!s->access[o].is_output && s->space.stride[o][inner] == s->access[o].item_size);
        else if (s->access[o].is_output)
            assert_int_equal(c->access[o], KN_VECTOR);
}

/* All channels of a position are contiguous in some operands, forward or backward; others are contiguous
 * along the positions. */
static void assert_channels(const scene *s, const kn_schedule *c, const kn_launch_params *params)
{
    int axis[2], item, runs = 0;
    const kn_channels_config *config = kn_channels_config_of(c);
    memcpy(axis, params, sizeof axis);
    assert_true(config->channels >= 2 && config->channels <= 16 &&
                config->channels == s->space.extent[axis[1]]);
    assert_true(c->rank > s->space.ndim);
    for (int o = 0; o < s->count; ++o) {
        int64_t along = s->space.stride[o][axis[0]];
        item = s->access[o].item_size;
        runs += along == item;
        runs += c->access[o] == KN_DENSE;
        if (c->access[o] == KN_STAGED || c->access[o] == KN_DENSE)
            assert_true(s->space.stride[o][axis[1]] == (c->access[o] == KN_DENSE ? -item : item) &&
                        along == config->channels * item);
        else if (c->access[o] == KN_BROADCAST)
            assert_true(along == 0 && !s->access[o].is_output);
        else if (s->access[o].is_output)
            assert_true(along == item && c->access[o] == (config->through_shared ? KN_GATHER : KN_VECTOR));
        if (c->access[o] != KN_VECTOR)
            continue;
        assert_int_equal(s->access[o].address % (uintptr_t)alignment(s, c, o), 0);
        for (int a = 0; a < s->space.ndim; ++a)
            assert_true(a == axis[0] ? along == item : s->space.stride[o][a] % alignment(s, c, o) == 0);
    }
    assert_true(runs > 0 && (strchr(c->access, KN_STAGED) || strchr(c->access, KN_DENSE)));
}

/* True if the side has all of its axes. */
static bool covers(const scene *s, const kn_tile_params *f, bool is_p, int vector)
{
    const kn_tile_side *side = is_p ? &f->p : &f->q;
    return (int64_t)side->vectors * vector ==
           s->space.extent[is_p ? f->p_axis : f->axis] * s->space.extent[side->second_axis];
}

static void assert_tile(const scene *s, const kn_schedule *c, const kn_launch_params *params)
{
    kn_space tiles;
    const kn_tile_params f = tile_of(params), *shape = &f;
    int64_t staged = 0, inner = s->space.ndim - 1, covered = 1;
    for (int o = 0; o < s->count; ++o)
        staged += c->access[o] == KN_STAGED ? s->access[o].item_size : 0;
    assert_true(staged > 0);
    assert_true(shape->axis >= 0 && shape->axis < inner && shape->axis != shape->p_axis);
    assert_int_equal(kn_transpose_config_of(c)->narrow_axis, f.q_narrow || f.p_narrow);
    int p = shape->p.vectors * shape->p.steps, q = shape->q.vectors * shape->q.steps;
    assert_true(p >= 1 && q >= 1 && p * q <= c->block);
    assert_true(shape->p.second_axis != shape->axis && shape->p.second_axis != shape->p_axis);
    assert_int_equal(p * c->vector % (f.p_narrow ? f.p_narrow : 1) == 0 || covers(s, &f, true, c->vector),
                     true);
    assert_int_equal(q * c->vector % (f.q_narrow ? f.q_narrow : 1) == 0 || covers(s, &f, false, c->vector),
                     true);
    assert_true(shape->q.second_axis < 0 ||
                (shape->q.second_axis != shape->p.second_axis && shape->q.second_axis != shape->axis &&
                 shape->q.second_axis != shape->p_axis));
    assert_true(shape->shared_bytes <= SHARED);
    assert_true(shape->shared_bytes >= p * q * c->vector * c->vector * staged);
    kn_tile_space(&tiles, &s->space, c->vector, shape);
    assert_true(tiles.ndim <= c->rank);
    assert_int_equal(tiles.extent[1], s->space.extent[shape->axis]);
    assert_int_equal(tiles.extent[3], s->space.extent[shape->p_axis]);
    for (int a = KN_TILE_AXES; a < tiles.ndim; ++a)
        covered *= tiles.extent[a];
    assert_true(covered * p * q * c->vector * c->vector >= s->space.size);
    int64_t row = s->space.extent[shape->p_axis] * (f.p_narrow ? f.p_narrow : 1);
    assert_true(tiles.extent[tiles.ndim - 1] * shape->p.vectors * c->vector - row <
                shape->p.vectors * c->vector);
}

/* Every element's places in all operands, in any order. */
static uint64_t sum_of_places(const kn_space *space)
{
    int64_t at[KILN_MAX_NDIM] = {0}, count = 1;
    uint64_t sum = 0;
    for (int a = 0; a < space->ndim; ++a)
        count *= space->extent[a];
    for (int64_t n = 0; n < count; ++n) {
        uint64_t places = 1;
        for (int o = 0; o < space->n_operands; ++o) {
            int64_t place = space->offset[o];
            for (int a = 0; a < space->ndim; ++a)
                place += at[a] * space->stride[o][a];
            places = (places ^ (uint64_t)place) * UINT64_C(6364136223846793005) + 1;
            places ^= places >> 29;
        }
        sum += places * places;
        for (int a = space->ndim; a-- > 0 && ++at[a] == space->extent[a];)
            at[a] = 0;
    }
    return sum;
}

/* The same elements, whole rows; 1 where some rows are taken together. */
static int assert_rows(const scene *s, const kn_schedule *c)
{
    kn_space storage;
    const kn_space *rows = kn_rows_space(&storage, &s->space, c);
    int inner = rows->ndim - 1;
    assert_true(rows->ndim <= c->rank);
    assert_int_equal(rows->size, s->space.size);
    assert_int_equal(rows->extent[inner], s->space.extent[s->space.ndim - 1]);
    for (int o = 0; o < s->space.n_operands; ++o)
        assert_int_equal(rows->stride[o][inner], s->space.stride[o][s->space.ndim - 1]);
    if (s->space.size <= 1 << 12)
        assert_true(sum_of_places(rows) == sum_of_places(&s->space));
    return rows->ndim != s->space.ndim;
}

/* Each group of steps once, whole rows of vectors. */
static void assert_steps(const scene *s, const kn_schedule *c, const kn_launch_params *params)
{
    kn_space steps;
    int64_t axis = first_param(params), groups = 0;
    assert_true(axis >= 0 && axis < s->space.ndim - 1);
    assert_non_null(strchr(c->access, KN_BROADCAST));
    assert_null(strchr(c->access, KN_DENSE));
    const int each = kn_coarsened_config_of(c)->coarsening;
    kn_coarsened_space(&steps, &s->space, c, first_param(params));
    groups = (s->space.extent[axis] + each - 1) / each;
    assert_int_equal(steps.ndim, s->space.ndim + 1);
    assert_true(steps.ndim <= c->rank);
    assert_int_equal(steps.extent[0], s->space.extent[axis]);
    assert_int_equal(steps.extent[1], groups);
    if (kn_coarsened_is_unaligned(c)) {
        int64_t columns = s->space.extent[s->space.ndim - 1], words = steps.extent[steps.ndim - 1];
        assert_int_equal(words, (columns + c->vector - 1 + c->vector - 1) / c->vector);
        assert_int_equal(steps.size, s->space.size / s->space.extent[axis] / columns * groups * words);
    } else {
        assert_int_equal(steps.size, s->space.size / s->space.extent[axis] * groups);
        assert_int_equal(steps.size % c->vector, 0);
    }
}

static void assert_sound(const scene *s, const kn_schedule *c, const kn_launch_params *params)
{
    assert_int_equal(strlen(c->access), s->count);
    assert_true(c->vector >= 1 && (c->vector & (c->vector - 1)) == 0);
    assert_true(c->block % 32 == 0 && c->block >= 32 && c->block <= 1024);
    assert_true(misalignment_of(c, params) >= 0 && misalignment_of(c, params) < c->vector);
    assert_true(c->kind == &kn_kind_flat ? c->rank == 0 : c->rank >= s->space.ndim);
    if (c->kind == &kn_kind_flat) {
        assert_int_equal(s->space.ndim, 1);
        assert_true(!s->with_index || s->space.stride[s->count][0] == 1);
    }
    if (c->kind == &kn_kind_strided)
        assert_int_equal(c->vector, 1);
    for (int o = 0; o < s->count && c->kind != &kn_kind_channels; ++o)
        assert_access(s, c, params, o);
    if (c->kind == &kn_kind_channels)
        assert_channels(s, c, params);
    if (c->kind == &kn_kind_tile)
        assert_tile(s, c, params);
    if (c->kind == &kn_kind_output_bound)
        assert_output_bound(s, c);
    if (c->kind == &kn_kind_coarsened)
        assert_steps(s, c, params);
}

/* The place of a kind in its back end's table. */
static int number_of(const kn_kind *kind)
{
    const kn_kind *const *table = kn_kinds_of(KN_CUDA);
    int number = 0;
    while (table[number] != kind)
        ++number;
    return number;
}

static void every_wide_access_is_sound(void **state)
{
    int met[16] = {0}, together = 0;
    scene *s = malloc(sizeof *s);
    kn_target target;
    (void)state;
    assert_non_null(s);
    assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
    state_of_dice = 3;
    for (int turn = 0; turn < 30000; ++turn) {
        kn_schedule chosen;
        kn_launch_params params;
        random_scene(s);
        kn_schedule_choose(&chosen, &params, NULL, &s->space, s->access, s->count, &target,
                           roll(0, 3) ? 0 : 32 * roll(1, 32));
        assert_sound(s, &chosen, &params);
        ++met[number_of(chosen.kind)];
        if (chosen.kind == &kn_kind_rows)
            together += assert_rows(s, &chosen);
    }
    assert_true(together > 30);
    /* Interleaved operands, stencils and transposed pairs have to be known as such: below. */
    for (int k = 0; kn_kinds_of(KN_CUDA)[k]; ++k)
        if (kn_kinds_of(KN_CUDA)[k] != &kn_kind_interleaved && kn_kinds_of(KN_CUDA)[k] != &kn_kind_stencil &&
            kn_kinds_of(KN_CUDA)[k] != &kn_kind_transpose_pairs &&
            kn_kinds_of(KN_CUDA)[k] != &kn_kind_stencil_3d &&
            strcmp(kn_kinds_of(KN_CUDA)[k]->pattern, "m") == 0 && met[k] <= 30)
            fail_msg("%s was met %d times", kn_kinds_of(KN_CUDA)[k]->name, met[k]);
    free(s);
}

static void the_host_has_two(void **state)
{
    scene *s = malloc(sizeof *s);
    kn_target target;
    (void)state;
    assert_non_null(s);
    kn_target_host(&target);
    state_of_dice = 4;
    for (int turn = 0; turn < 3000; ++turn) {
        kn_schedule chosen;
        kn_launch_params params;
        random_scene(s);
        kn_schedule_choose(&chosen, &params, NULL, &s->space, s->access, s->count, &target, 0);
        assert_true(chosen.vector == 0 && chosen.block == 0);
        assert_int_equal(chosen.rank, 0);
        /* Any layout is made runs; the index alone decides. */
        int64_t run = 1;
        bool counts_up = true;
        for (int a = s->space.ndim; s->space.indices && a-- > 0; run *= s->space.extent[a])
            counts_up = counts_up && s->space.stride[s->space.n_operands - 1][a] == run;
        assert_ptr_equal(chosen.kind, counts_up ? &kn_kind_host_runs : &kn_kind_host_indices);
    }
    free(s);
}

/* ---- by hand ---- */

static kn_schedule choose_for(int ndim, const int64_t *shape, const kn_view *view, const kn_access *access,
                              int count, bool with_index)
{
    kn_space space;
    kn_target target;
    kn_schedule chosen;
    kn_launch_params params;
    kn_access moved[MAX_VIEWS];
    kn_target_parse(&target, "sm_90");
    kn_space_make(&space, ndim, shape, 0, view, count, with_index);
    for (int o = 0; o < count; ++o) {
        moved[o] = access[o];
        moved[o].address += (uintptr_t)space.offset[o];
    }
    kn_schedule_choose(&chosen, &params, NULL, &space, moved, count, &target, 0);
    return chosen;
}

/* 1,000 elements of two operands. */
static int block_for(const kn_view *view, const kn_access *access, const kn_program *program,
                     const char *target_text, int block)
{
    kn_space *space = calloc(1, sizeof *space);
    kn_target target;
    kn_schedule chosen;
    kn_launch_params params;
    assert_non_null(space);
    assert_int_equal(kn_target_parse(&target, target_text), KILN_OK);
    kn_space_make(space, 1, S(1000), 0, view, 2, false);
    kn_schedule_choose(&chosen, &params, program, space, access, 2, &target, block);
    free(space);
    return chosen.block;
}

static void contiguous_is_flat(void **state)
{
    const kn_view f32[] = {{S(1000), S(4), 1, false}, {S(1000), S(4), 1, true}};
    const kn_access aligned[] = {{4, 4096, false}, {4, 8192, true}},
                    at_offset[] = {{4, 4100, false}, {4, 8196, true}};
    kn_schedule c = choose_for(1, S(1000), f32, aligned, 2, false);
    (void)state;
    assert_true(c.kind == &kn_kind_flat && c.vector == 4);
    assert_string_equal(c.access, "dd");
    /* Both off by the same: still wide, after a few elements alone. */
    c = choose_for(1, S(1000), f32, at_offset, 2, false);
    assert_true(c.kind == &kn_kind_flat && c.vector == 4);
    assert_string_equal(c.access, "dd");
}

/* Functions ask for small blocks, but where the user asks for another, in kernels of single elements, and
 * on the host, where there are none. */
static void functions_ask_for_small_blocks(void **state)
{
    const kn_view f32[] = {{S(1000), S(4), 1, false}, {S(1000), S(4), 1, true}};
    const kn_access aligned[] = {{4, 4096, false}, {4, 8192, true}};
    const kn_access wide[] = {{16, 4096, false}, {16, 8192, true}};
    const kn_view c128[] = {{S(1000), S(16), 1, false}, {S(1000), S(16), 1, true}};
    kn_program *cheap = NULL, *costly = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    assert_int_equal(kn_program_elementwise(&cheap, "T x", "T z", "z = x + 1", "k", &options), KILN_OK);
    assert_int_equal(kn_program_elementwise(&costly, "T x", "T z", "z = exp(x)", "k", &options), KILN_OK);
    assert_int_equal(block_for(f32, aligned, cheap, "sm_90", 0), 256);
    assert_int_equal(block_for(f32, aligned, costly, "sm_90", 0), 128);
    assert_int_equal(block_for(f32, aligned, costly, "sm_90", 512), 512);
    assert_int_equal(block_for(c128, wide, costly, "sm_90", 0), 256);
    assert_int_equal(block_for(f32, aligned, costly, "host", 0), 0);
    kn_program_free(cheap);
    kn_program_free(costly);
}

/* ---- operands that are one array ---- */

/* The schedule where operands are known to lie so many bytes behind the one before. */
static kn_schedule choose_after_on(const char *architecture, const kn_program *program, int ndim,
                                   const int64_t *shape, const kn_view *view, const kn_access *access,
                                   int count, const int64_t *after, unsigned indices)
{
    kn_space *space = calloc(1, sizeof *space);
    kn_target target;
    kn_schedule chosen;
    kn_launch_params params;
    assert_non_null(space);
    assert_int_equal(kn_target_parse(&target, architecture), KILN_OK);
    kn_space_make(space, ndim, shape, 0, view, count, indices);
    memcpy(space->after, after, (size_t)count * sizeof *after);
    kn_schedule_choose(&chosen, &params, program, space, access, count, &target, 0);
    free(space);
    return chosen;
}

static kn_schedule choose_after(int ndim, const int64_t *shape, const kn_view *view, const kn_access *access,
                                int count, const int64_t *after)
{
    return choose_after_on("sm_90", NULL, ndim, shape, view, access, count, after, 0);
}

static void results_that_interleave_are_one_array(void **state)
{
    const kn_view view[] = {
        {S(64, 32), S(128, 4), 2, false}, {S(64, 32), S(512, 8), 2, true}, {S(64, 32), S(512, 8), 2, true}};
    const kn_access aligned[] = {{4, 4096, false}, {4, 8192, true}, {4, 8196, true}},
                    at_offset[] = {{4, 4096, false}, {4, 8200, true}, {4, 8204, true}};
    (void)state;
    kn_schedule c = choose_after(2, S(64, 32), view, aligned, 3, S(0, 0, 4));
    assert_ptr_equal(c.kind, &kn_kind_interleaved);
    assert_true(c.vector == 2 && kn_interleaved_config_of(&c)->interleaved == 2 && c.block == 128);
    assert_string_equal(c.access, "vtt");
    /* Nothing known, the other way round, with a gap, off a vector's boundary: not interleaved. */
    assert_ptr_not_equal(choose_after(2, S(64, 32), view, aligned, 3, S(0, 0, 0)).kind, &kn_kind_interleaved);
    assert_ptr_not_equal(choose_after(2, S(64, 32), view, aligned, 3, S(0, 0, -4)).kind,
                         &kn_kind_interleaved);
    assert_ptr_not_equal(choose_after(2, S(64, 32), view, aligned, 3, S(0, 0, 8)).kind, &kn_kind_interleaved);
    assert_ptr_not_equal(choose_after(2, S(64, 32), view, at_offset, 3, S(0, 0, 4)).kind,
                         &kn_kind_interleaved);
}

/* On the host words are, wherever they begin, inputs alone too, two, four or eight elements in 8 bytes at
 * most. */
static void the_host_has_words(void **state)
{
    const kn_view pairs[] = {{S(64, 32), S(128, 4), 2, false},
                             {S(64, 32), S(512, 8), 2, true},
                             {S(64, 32), S(512, 8), 2, true}},
                  inputs[] = {{S(64, 32), S(200, 4), 2, false},
                              {S(64, 32), S(200, 4), 2, false},
                              {S(64, 32), S(200, 4), 2, false},
                              {S(64, 32), S(200, 4), 2, false},
                              {S(64, 32), S(32, 1), 2, true}},
                  backward[] = {{S(64, 32), S(128, 4), 2, false},
                                {S(64, 32), S(-512, -8), 2, true},
                                {S(64, 32), S(-512, -8), 2, true}};
    const kn_access words[] = {{4, 4096, false}, {4, 8193, true}, {4, 8197, true}},
                    wide[] = {{4, 4096, false}, {8, 8192, true}, {8, 8200, true}},
                    bytes[] = {{1, 5, false}, {1, 6, false}, {1, 7, false}, {1, 8, false}, {1, 8192, true}};
    const char *host = "x86-64-v3";
    (void)state;
    kn_schedule c = choose_after_on(host, NULL, 2, S(64, 32), pairs, words, 3, S(0, 0, 4), KN_WITH_INDEX);
    assert_ptr_equal(c.kind, &kn_kind_host_interleaved);
    assert_true(c.vector == 0 && kn_host_config_of(&c)->step == 2 && c.block == 0);
    assert_string_equal(c.access, "dtt");
    c = choose_after_on(host, NULL, 2, S(64, 32), inputs, bytes, 5, S(0, 1, 1, 1, 0), 0);
    assert_true(c.kind == &kn_kind_host_interleaved && kn_host_config_of(&c)->step == 4);
    assert_string_equal(c.access, "ttttd");
    /* Nothing known, the other way round, with a gap, three of four; words too wide; the index counts
     * down. */
    static const int64_t unknown[] = {0, -4, 8};
    for (int k = 0; k < 3; ++k)
        assert_ptr_equal(
            choose_after_on(host, NULL, 2, S(64, 32), pairs, words, 3, S(0, 0, unknown[k]), 0).kind,
            &kn_kind_host_runs);
    assert_ptr_equal(choose_after_on(host, NULL, 2, S(64, 32), inputs, bytes, 5, S(0, 1, 1, 0, 0), 0).kind,
                     &kn_kind_host_runs);
    assert_ptr_equal(choose_after_on(host, NULL, 2, S(64, 32), pairs, wide, 3, S(0, 0, 8), 0).kind,
                     &kn_kind_host_runs);
    assert_ptr_equal(
        choose_after_on(host, NULL, 2, S(64, 32), backward, words, 3, S(0, 0, 4), KN_WITH_INDEX).kind,
        &kn_kind_host_indices);
}

/* Vectors of four, a result's rows of a thread, and which rows of the stencil are neighbours. */
static void assert_stencil_config(const kn_schedule *c, int rows, int neighbours)
{
    assert_true(c->kind == &kn_kind_stencil && c->vector == 4);
    assert_int_equal(kn_stencil_config_of(c)->rows, rows);
    assert_int_equal(kn_stencil_config_of(c)->neighbours, neighbours);
}

static void inputs_at_offsets_are_merged(void **state)
{
    const int64_t pitch = 66 * 4;
    const kn_view view[] = {{S(64, 64), S(66 * 4, 4), 2, false},
                            {S(64, 64), S(66 * 4, 4), 2, false},
                            {S(64, 64), S(66 * 4, 4), 2, false},
                            {S(64, 64), S(256, 4), 2, true}};
    const kn_access access[] = {{4, 4096, false}, {4, 4096, false}, {4, 4096, false}, {4, 8192, true}};
    (void)state;
    kn_schedule c = choose_after(2, S(64, 64), view, access, 4, S(0, -pitch, 2 * pitch, 0));
    assert_ptr_equal(c.kind, &kn_kind_stencil);
    assert_stencil_config(&c, 4, 3);
    assert_string_equal(c.access, "FAKv");
    c = choose_after(2, S(64, 64), view, access, 4, S(0, 4, -8, 0));
    assert_stencil_config(&c, 1, 0);
    assert_string_equal(c.access, "BCAv");
    c = choose_after(2, S(64, 64), view, access, 4, S(0, 3 * pitch - 4, -3 * pitch + 12, 0));
    assert_stencil_config(&c, 1, 0);
    assert_string_equal(c.access, "BFDv");
    /* Two of them alone, too far along the row, no whole elements, nothing known: by themselves. */
    assert_ptr_not_equal(choose_after(2, S(64, 64), view, access, 4, S(0, 4, 0, 0)).kind, &kn_kind_stencil);
    assert_ptr_not_equal(choose_after(2, S(64, 64), view, access, 4, S(0, 4, 16, 0)).kind, &kn_kind_stencil);
    assert_ptr_not_equal(choose_after(2, S(64, 64), view, access, 4, S(0, 4, 2, 0)).kind, &kn_kind_stencil);
    assert_ptr_not_equal(choose_after(2, S(64, 64), view, access, 4, S(0, 0, 0, 0)).kind, &kn_kind_stencil);
}

/* Rows of whole vectors that begin off one, of 365 elements one behind the other, short ones, and too short
 * ones. */
static void inputs_of_unaligned_rows_are_merged(void **state)
{
    const kn_access access[] = {{4, 4096, false}, {4, 4096, false}, {4, 4096, false}, {4, 8196, true}};
    const struct {
        int64_t extent, pitch, results;
        const char *body;
        bool is_unaligned;
    } cases[] = {
        {368, 1480, 1472, "z = a + b * 2 - c", true},  {365, 1468, 1460, "z = a + b * 2 - c", true},
        {365, 1468, 1460, "z = a + b; z -= c", false}, /* reads what it gives */
        {365, 1468, 1460, "if (a > b) z = c", false},  {30, 128, 120, "z = a + b * 2 - c", true},
        {11, 48, 44, "z = a + b * 2 - c", false},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; ++k) {
        const int64_t *shape = S(64, cases[k].extent), *pitch = S(cases[k].pitch, 4);
        const kn_view view[] = {{shape, pitch, 2, false},
                                {shape, pitch, 2, false},
                                {shape, pitch, 2, false},
                                {shape, S(cases[k].results, 4), 2, true}};
        kn_program *program = NULL;
        assert_int_equal(kn_program_elementwise(&program, "T a, T b, T c", "T z", cases[k].body, "k", NULL),
                         KILN_OK);
        kn_schedule c = choose_after_on("sm_90", program, 2, shape, view, access, 4,
                                        S(0, -cases[k].pitch, 2 * cases[k].pitch, 0), 0);
        if ((c.kind == &kn_kind_stencil) != cases[k].is_unaligned)
            fail_msg("%zu: %s", k, c.kind->name);
        if (cases[k].is_unaligned) {
            assert_stencil_config(&c, 4, 3);
            assert_string_equal(c.access, "FAKg");
        }
        kn_program_free(program);
    }
}

static void assert_output_bound_config(const kn_schedule *c, int vectors, int one_row, int streamed,
                                       int resident)
{
    assert_ptr_equal(c->kind, &kn_kind_output_bound);
    const kn_output_bound_config *config = kn_output_bound_config_of(c);
    assert_int_equal(config->vectors, vectors);
    assert_int_equal(config->one_row, one_row);
    assert_int_equal(config->streamed, streamed);
    assert_int_equal(config->resident, resident);
}

static void narrow_inputs_and_small_ones_are_output_bound(void **state)
{
    const kn_view narrow[] = {{S(512, 1024), S(1024, 1), 2, false},
                              {S(512, 1024), S(4, 0), 2, false},
                              {S(512, 1024), S(4096, 4), 2, true}};
    const kn_view short_rows[] = {{S(512, 1020), S(1020, 1), 2, false},
                                  {S(512, 1020), S(4, 0), 2, false},
                                  {S(512, 1020), S(4080, 4), 2, true}};
    const kn_view few[] = {{S(16, 1024), S(1024, 1), 2, false},
                           {S(16, 1024), S(4, 0), 2, false},
                           {S(16, 1024), S(4096, 4), 2, true}};
    const kn_view half_rows[] = {{S(512, 1020), S(2040, 2), 2, false},
                                 {S(512, 1020), S(4, 0), 2, false},
                                 {S(512, 1020), S(4080, 4), 2, true}};
    const kn_view windows[] = {{S(65536, 64), S(4, 4), 2, false},
                               {S(65536, 64), S(0, 4), 2, false},
                               {S(65536, 64), S(256, 4), 2, true}};
    const kn_view far[] = {{S(65536, 64), S(128, 4), 2, false},
                           {S(65536, 64), S(0, 4), 2, false},
                           {S(65536, 64), S(256, 4), 2, true}};
    const kn_access bytes[] = {{1, 4096, false}, {4, 4096, false}, {4, 8192, true}},
                    halves[] = {{2, 4096, false}, {4, 4096, false}, {4, 8192, true}},
                    floats[] = {{4, 4096, false}, {4, 4096, false}, {4, 8192, true}},
                    off[] = {{1, 4097, false}, {4, 4096, false}, {4, 8192, true}},
                    results_off[] = {{1, 4096, false}, {4, 4096, false}, {4, 8196, true}};
    (void)state;
    kn_schedule c = choose_for(2, S(512, 1024), narrow, bytes, 3, false);
    assert_output_bound_config(&c, 4, 1, 0, 0);
    assert_true(c.vector == 4 && c.block == 256);
    assert_string_equal(c.access, "vsv");
    c = choose_for(2, S(512, 1024), narrow, off, 3, false);
    assert_output_bound_config(&c, 4, 1, 0, 0);
    assert_string_equal(c.access, "gsv");
    c = choose_for(2, S(512, 1020), short_rows, bytes, 3, false);
    assert_output_bound_config(&c, 4, 0, 0, 0);
    c = choose_for(2, S(65536, 64), windows, floats, 3, false);
    assert_output_bound_config(&c, 2, 0, 1, 0);
    assert_int_equal(c.block, 512);
    assert_string_equal(c.access, "gvv");
    /* As wide as the results, fewer, results off their vectors, inputs that are not small. */
    assert_ptr_not_equal(choose_for(2, S(512, 1024), narrow, floats, 3, false).kind, &kn_kind_output_bound);
    assert_ptr_not_equal(choose_for(2, S(16, 1024), few, bytes, 3, false).kind, &kn_kind_output_bound);
    assert_ptr_not_equal(choose_for(2, S(512, 1024), narrow, results_off, 3, false).kind,
                         &kn_kind_output_bound);
    assert_ptr_not_equal(choose_for(2, S(65536, 64), far, floats, 3, false).kind, &kn_kind_output_bound);
    c = choose_for(2, S(512, 1020), half_rows, halves, 3, false);
    assert_output_bound_config(&c, 2, 0, 0, 0);
}

static void small_inputs_are_resident_in_the_cache(void **state)
{
    const kn_view windows[] = {{S(1 << 20, 64), S(4, 4), 2, false},
                               {S(1 << 20, 64), S(0, 4), 2, false},
                               {S(1 << 20, 64), S(256, 4), 2, true}};
    const kn_view transposed[] = {{S(1 << 20, 64), S(0, 4), 2, false},
                                  {S(1 << 20, 64), S(8, 4), 2, false},
                                  {S(1 << 20, 64), S(256, 4), 2, true}};
    const kn_view large[] = {{S(1 << 20, 64), S(32, 4), 2, false},
                             {S(1 << 20, 64), S(0, 4), 2, false},
                             {S(1 << 20, 64), S(256, 4), 2, true}};
    const kn_view tiny[] = {{S(1 << 16, 64), S(4, 4), 2, false},
                            {S(1 << 16, 64), S(0, 4), 2, false},
                            {S(1 << 16, 64), S(256, 4), 2, true}};
    const kn_access floats[] = {{4, 4096, false}, {4, 4096, false}, {4, 8192, true}};
    (void)state;
    kn_schedule c = choose_for(2, S(1 << 20, 64), windows, floats, 3, false);
    assert_output_bound_config(&c, 2, 0, 1, 1);
    c = choose_for(2, S(1 << 20, 64), transposed, floats, 3, false);
    assert_output_bound_config(&c, 2, 0, 1, 2);
    /* More than the cache holds beside results, and less than is worth it. */
    c = choose_for(2, S(1 << 20, 64), large, floats, 3, false);
    assert_output_bound_config(&c, 2, 0, 1, 0);
    c = choose_for(2, S(1 << 16, 64), tiny, floats, 3, false);
    assert_output_bound_config(&c, 2, 0, 1, 0);
}

static void an_array_and_its_transpose_are_pairs(void **state)
{
    const kn_view view[] = {{S(1024, 1024), S(4096, 4), 2, false},
                            {S(1024, 1024), S(4, 4096), 2, false},
                            {S(1024, 1024), S(4096, 4), 2, true}};
    const kn_view transposed_first[] = {view[1], view[0], view[2]};
    const kn_view padded[] = {view[0], {S(1024, 1024), S(4, 4112), 2, false}, view[2]};
    const kn_view small[] = {{S(512, 512), S(2048, 4), 2, false},
                             {S(512, 512), S(4, 2048), 2, false},
                             {S(512, 512), S(2048, 4), 2, true}};
    const kn_view odd[] = {{S(1023, 1023), S(4096, 4), 2, false},
                           {S(1023, 1023), S(4, 4096), 2, false},
                           {S(1023, 1023), S(4096, 4), 2, true}};
    const kn_access floats[] = {{4, 4096, false}, {4, 4096, false}, {4, 8192, true}},
                    off[] = {{4, 4100, false}, {4, 4100, false}, {4, 8192, true}},
                    wider[] = {{4, 4096, false}, {4, 4096, false}, {8, 8192, true}};
    const int64_t same[] = {0, KN_SAME_ARRAY, 0}, nothing[] = {0, 0, 0};
    (void)state;
    kn_schedule c = choose_after(2, S(1024, 1024), view, floats, 3, same);
    assert_true(c.kind == &kn_kind_transpose_pairs && c.vector == 4 && c.block == 256);
    assert_string_equal(c.access, "vtv");
    c = choose_after(2, S(1024, 1024), transposed_first, floats, 3, same);
    assert_ptr_equal(c.kind, &kn_kind_transpose_pairs);
    assert_string_equal(c.access, "tvv");
    /* Another array, other pitches, smaller than the cache, no whole vectors, off them, results of another
     * width. */
    assert_ptr_equal(choose_after(2, S(1024, 1024), view, floats, 3, nothing).kind, &kn_kind_tile);
    assert_ptr_not_equal(choose_after(2, S(1024, 1024), padded, floats, 3, same).kind,
                         &kn_kind_transpose_pairs);
    assert_ptr_not_equal(choose_after(2, S(512, 512), small, floats, 3, same).kind, &kn_kind_transpose_pairs);
    assert_ptr_not_equal(choose_after(2, S(1023, 1023), odd, floats, 3, same).kind, &kn_kind_transpose_pairs);
    assert_ptr_not_equal(choose_after(2, S(1024, 1024), view, off, 3, same).kind, &kn_kind_transpose_pairs);
    assert_ptr_not_equal(choose_after(2, S(1024, 1024), view, wider, 3, same).kind, &kn_kind_transpose_pairs);
}

static void matrices_at_offsets_are_a_stencil(void **state)
{
    const int64_t pitch = 66 * 4, matrix = 66 * pitch;
    const kn_view in = {S(64, 64, 64), S(66 * 66 * 4, 66 * 4, 4), 3, false},
                  out = {S(64, 64, 64), S(16384, 256, 4), 3, true};
    const kn_view short_in = {S(3, 64, 64), S(66 * 66 * 4, 66 * 4, 4), 3, false},
                  short_out = {S(3, 64, 64), S(16384, 256, 4), 3, true};
    const kn_view view[] = {in, in, in, in, out}, few[] = {short_in, short_in, short_in, short_in, short_out};
    const kn_access access[] = {
        {4, 4096, false}, {4, 4096, false}, {4, 4096, false}, {4, 4096, false}, {4, 8192, true}};
    (void)state;
    /* The middle, the matrix before, the one after, the line before. */
    kn_schedule c =
        choose_after(3, S(64, 64, 64), view, access, 5, S(0, -matrix, 2 * matrix, -matrix - pitch, 0));
    assert_true(c.kind == &kn_kind_stencil_3d && c.vector == 4 && kn_stencil_config_of(&c)->rows == 2 &&
                c.block == 256);
    assert_string_equal(c.access, "AFKPv");
    kn_stencil_3d_window w[KN_STENCIL_3D_WINDOWS];
    int count = kn_stencil_3d_windows(w, &c), fresh = 0;
    for (int k = 0; k < count; ++k)
        fresh += w[k].is_fresh;
    assert_int_equal(count, 2 + 3 + 2);
    assert_int_equal(fresh, 3);
    /* Only one matrix, too few of them, too far apart. */
    assert_ptr_equal(choose_after(3, S(64, 64, 64), view, access, 5, S(0, -pitch, 2 * pitch, 4, 0)).kind,
                     &kn_kind_stencil);
    assert_ptr_not_equal(
        choose_after(3, S(3, 64, 64), few, access, 5, S(0, -matrix, 2 * matrix, -matrix - pitch, 0)).kind,
        &kn_kind_stencil_3d);
    assert_ptr_not_equal(
        choose_after(3, S(64, 64, 64), view, access, 5, S(0, -matrix, 6 * matrix, -matrix, 0)).kind,
        &kn_kind_stencil_3d);
}

static void reversed_index_is_not_flat(void **state)
{
    const kn_view backwards[] = {{S(1000), S(-4), 1, true}};
    const kn_access access[] = {{4, 4096 + 3996, true}};
    (void)state;
    assert_ptr_equal(choose_for(1, S(1000), backwards, access, 1, false).kind, &kn_kind_flat);
    assert_ptr_not_equal(choose_for(1, S(1000), backwards, access, 1, true).kind, &kn_kind_flat);
}

static void transpose_is_a_tile(void **state)
{
    const kn_view transposed[] = {{S(512, 256), S(4, 2048), 2, false}, {S(512, 256), S(1024, 4), 2, true}};
    const kn_access access[] = {{4, 4096, false}, {4, 1 << 20, true}};
    (void)state;
    assert_ptr_equal(choose_for(2, S(512, 256), transposed, access, 2, false).kind, &kn_kind_tile);
}

static void choose_order(kn_schedule *chosen, kn_launch_params *params, kn_space *space, int item,
                         const int64_t *extents, const int *order)
{
    int64_t shape[5], in_strides[5], out_strides[5], in_run = item, out_run = item, strides[5];
    kn_target target;
    const kn_access access[] = {{item, 0, false}, {item, 0, true}};
    for (int a = 5; a-- > 0; in_run *= extents[a])
        strides[a] = in_run;
    for (int a = 5; a-- > 0; out_run *= shape[a]) {
        shape[a] = extents[order[a]];
        in_strides[a] = strides[order[a]];
        out_strides[a] = out_run;
    }
    const kn_view view[] = {{shape, in_strides, 5, false}, {shape, out_strides, 5, true}};
    kn_target_cuda(&target, 9, 0);
    kn_space_make(space, 5, shape, 0, view, 2, false);
    kn_schedule_choose(chosen, params, NULL, space, access, 2, &target, 0);
}

/* Extents of 32, 48, 64, 80, 96 bytes: the input's rows have 96. The contiguous ranges of a tile are at
 * least a line for reads and a sector for writes, though a side along one axis would be shorter; if the
 * input continues along p's second axis, the threads do. */
static void tiles_read_and_write_long_runs(void **state)
{
    static const int orders[][5] = {{4, 3, 0, 1, 2}, {0, 2, 3, 4, 1}, {3, 0, 1, 4, 2}};
    kn_space *space = malloc(sizeof *space);
    kn_schedule chosen;
    kn_launch_params params;
    (void)state;
    assert_non_null(space);
    for (int k = 0; k < 3; ++k) {
        choose_order(&chosen, &params, space, 1, S(32, 48, 64, 80, 96), orders[k]);
        assert_ptr_equal(chosen.kind, &kn_kind_tile);
        const kn_tile_params tile = tile_of(&params);
        int inner = space->ndim - 1, along_q = tile.q.vectors * chosen.vector,
            along_p = tile.p.vectors * chosen.vector, read = along_q, written = along_p;
        bool is_row = along_q == space->extent[tile.axis],
             goes_on =
                 tile.p.second_axis >= 0 && space->stride[0][tile.p.second_axis] == space->extent[tile.axis];
        assert_int_equal(tile.across, is_row && goes_on);
        if (is_row)
            read *= goes_on ? tile.p.steps : tile.q.steps;
        if (along_p == space->extent[inner])
            written *= tile.p.steps;
        if (read < 128 || written < 32)
            fail_msg("order %d: runs of %d bytes are read, of %d written", k, read, written);
        assert_in_range(tile.p.vectors * tile.p.steps * tile.q.vectors * tile.q.steps, 64, chosen.block);
    }
    free(space);
}

/* Rows of 96 bytes that are 96 bytes apart in the input, and far apart in the results: eight are joined.
 * Rows of 1,536 bytes are read alone, and those of 16 are channels. */
static void short_rows_are_read_together(void **state)
{
    static const int order[] = {3, 2, 1, 0, 4};
    kn_space *space = malloc(sizeof *space), *storage = malloc(sizeof *storage);
    kn_schedule chosen;
    kn_launch_params params;
    (void)state;
    assert_true(space && storage);
    choose_order(&chosen, &params, space, 1, S(32, 48, 64, 80, 96), order);
    assert_ptr_equal(chosen.kind, &kn_kind_rows);
    const kn_space *rows = kn_rows_space(storage, space, &chosen);
    assert_int_equal(rows->ndim, 6);
    assert_int_equal(rows->extent[0], 10);
    assert_int_equal(rows->extent[4], 8);
    assert_int_equal(rows->stride[0][4], 96);
    choose_order(&chosen, &params, space, 1, S(32, 48, 64, 80, 16), order);
    assert_ptr_equal(chosen.kind, &kn_kind_windows);
    choose_order(&chosen, &params, space, 16, S(32, 48, 64, 80, 96), order);
    rows = kn_rows_space(storage, space, &chosen);
    assert_int_equal(rows->ndim, 5);
    free(space);
    free(storage);
}

static void broadcast_keeps_the_others_wide(void **state)
{
    const kn_view views[] = {
        {S(512, 256), S(1024, 4), 2, false}, {S(256), S(4), 1, false}, {S(512, 256), S(1024, 4), 2, true}};
    const kn_access access[] = {{4, 4096, false}, {4, 8192, false}, {4, 1 << 20, true}};
    kn_schedule c = choose_for(2, S(512, 256), views, access, 3, false);
    (void)state;
    assert_true(c.kind == &kn_kind_rows && c.vector == 4);
    assert_null(strchr(c.access, KN_GATHER));
}

/* Nothing to do, in a layout that would be a tile's: an axis of extent 0 is no side. */
static void empty_spaces_are_no_tiles(void **state)
{
    (void)state;
    const int64_t shape[] = {0, 96, 64}, in_strides[] = {96 * 64 * 4, 4, 96 * 4},
                  out_strides[] = {96 * 64 * 4, 64 * 4, 4};
    const kn_view view[] = {{shape, in_strides, 3, false}, {shape, out_strides, 3, true}};
    const kn_access access[] = {{4, 0, false}, {4, 0, true}};
    kn_space *space = calloc(1, sizeof *space);
    kn_target target;
    kn_schedule schedule;
    kn_launch_params launch;
    assert_non_null(space);
    kn_target_cuda(&target, 9, 0);
    kn_space_make(space, 3, shape, 0, view, 2, false);
    kn_schedule_choose(&schedule, &launch, NULL, space, access, 2, &target, 0);
    assert_ptr_not_equal(schedule.kind, &kn_kind_tile);
    free(space);
}

/* By name, each in its own back end alone. */
static void names(void **state)
{
    (void)state;
    for (kn_backend_kind backend = KN_HOST; backend <= KN_CUDA; ++backend)
        for (const kn_kind *const *kind = kn_kinds_of(backend); *kind; ++kind)
            assert_ptr_equal(kn_kind_find(backend, (*kind)->name), *kind);
    assert_ptr_equal(kn_kind_find(KN_CUDA, "tile"), &kn_kind_tile);
    assert_null(kn_kind_find(KN_HOST, "tile"));
    assert_null(kn_kind_find(KN_CUDA, "none"));
}

/* No kind is chosen that KILN_KINDS switches off, by itself or in a list; the next that takes the space is
 * chosen. */
static void kinds_are_switched_off(void **state)
{
    kn_schedule chosen;
    kn_launch_params params;
    int counts[64] = {0};
    (void)state;
    for (kn_backend_kind backend = KN_HOST; backend <= KN_CUDA; ++backend) {
        kn_target target;
        kn_target_host(&target);
        if (backend == KN_CUDA)
            assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
        for (int time = 0; time < 300; ++time) {
            scene s;
            char value[64];
            random_scene(&s);
            setenv("KILN_KINDS", "-fewest", 1);
            assert_int_equal(
                kn_schedule_choose(&chosen, &params, NULL, &s.space, s.access, s.count, &target, 0), KILN_OK);
            const kn_kind *first = chosen.kind;
            if (kn_kind_is_quick(backend, first)) /* behind it are kinds of rows, which want a program */
                continue;
            snprintf(value, sizeof value, time % 2 ? "-fewest,-%s" : "-reduce_rows,-%s,-fewest,",
                     first->name);
            setenv("KILN_KINDS", value, 1);
            assert_int_equal(
                kn_schedule_choose(&chosen, &params, NULL, &s.space, s.access, s.count, &target, 0), KILN_OK);
            int k = 0;
            while (kn_kinds_of(backend)[k] != first)
                ++k;
            ++counts[k];
            assert_ptr_not_equal(chosen.kind, first);
        }
        int seen = 0;
        for (int k = 0; k < 64; ++k)
            seen += counts[k] > 0;
        assert_true(seen >= 2);
    }
    static const char *const wrong[] = {"tile", "-tiles", "-", "-tile windows", "-tile,,windows"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; ++k) {
        kn_target target;
        scene s;
        kn_target_host(&target);
        random_scene(&s);
        setenv("KILN_KINDS", wrong[k], 1);
        assert_int_equal(kn_schedule_choose(&chosen, &params, NULL, &s.space, s.access, s.count, &target, 0),
                         KILN_ERROR_INVALID);
        assert_non_null(strstr(kiln_error_message(), "KILN_KINDS"));
    }
    setenv("KILN_KINDS", "-fewest", 1);
}

/* Kinds are asked for as many elements as they are made for, unless KILN_KINDS says otherwise. */
static void few_elements_have_a_thread_each(void **state)
{
    kn_target target;
    int others = 0, passed_over = 0;
    (void)state;
    assert_int_equal(kn_target_parse(&target, "sm_90"), KILN_OK);
    for (int time = 0; time < 300; ++time) {
        kn_schedule any, chosen;
        kn_launch_params params;
        scene s;
        random_scene(&s);
        setenv("KILN_KINDS", "-fewest", 1);
        assert_int_equal(kn_schedule_choose(&any, &params, NULL, &s.space, s.access, s.count, &target, 0),
                         KILN_OK);
        unsetenv("KILN_KINDS");
        assert_int_equal(kn_schedule_choose(&chosen, &params, NULL, &s.space, s.access, s.count, &target, 0),
                         KILN_OK);
        assert_true(s.space.size >= chosen.kind->fewest);
        if (s.space.size >= any.kind->fewest)
            assert_ptr_equal(chosen.kind, any.kind);
        ++*(s.space.size >= any.kind->fewest ? &others : &passed_over);
    }
    assert_true(others > 0 && passed_over > 0);
    setenv("KILN_KINDS", "-fewest", 1);
}

/* Calls of functions take the compiler's time, and kinds that repeat the body for a vector take it often. */
static void few_functions_compile_soon(void **state)
{
    static const char *const bodies[] = {"z = x", "z = sin(x)", "z = cos(sin(x))", "z = exp(cos(sin(x)))",
                                         "z = exp(exp(cos(sin(x))))"};
    enum { MOST = 2 };
    int soon = 0, kinds = 0;
    (void)state;
    for (int functions = 0; functions < (int)(sizeof bodies / sizeof *bodies); ++functions) {
        kn_program *p = NULL;
        assert_int_equal(kn_program_elementwise(&p, "T x", "T z", bodies[functions], "k", NULL), KILN_OK);
        for (const kn_kind *const *kind = kn_kinds_of(KN_CUDA); *kind; ++kind) {
            const kn_schedule s = {.kind = *kind};
            if (kn_schedule_is_soon(&s, p) != ((*kind)->compiles_soon && functions <= MOST))
                fail_msg("%s with %d functions", (*kind)->name, functions);
            soon += (*kind)->compiles_soon;
            ++kinds;
        }
        kn_program_free(p);
    }
    assert_true(soon > 0 && soon < kinds);
}

int main(void)
{
    setenv("KILN_KINDS", "-fewest", 1); /* kinds take few elements, too */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_switched_off),
        cmocka_unit_test(few_functions_compile_soon),
        cmocka_unit_test(few_elements_have_a_thread_each),
        cmocka_unit_test(every_wide_access_is_sound),
        cmocka_unit_test(the_host_has_two),
        cmocka_unit_test(contiguous_is_flat),
        cmocka_unit_test(results_that_interleave_are_one_array),
        cmocka_unit_test(the_host_has_words),
        cmocka_unit_test(inputs_at_offsets_are_merged),
        cmocka_unit_test(inputs_of_unaligned_rows_are_merged),
        cmocka_unit_test(narrow_inputs_and_small_ones_are_output_bound),
        cmocka_unit_test(small_inputs_are_resident_in_the_cache),
        cmocka_unit_test(an_array_and_its_transpose_are_pairs),
        cmocka_unit_test(matrices_at_offsets_are_a_stencil),
        cmocka_unit_test(reversed_index_is_not_flat),
        cmocka_unit_test(transpose_is_a_tile),
        cmocka_unit_test(broadcast_keeps_the_others_wide),
        cmocka_unit_test(empty_spaces_are_no_tiles),
        cmocka_unit_test(names),
        cmocka_unit_test(functions_ask_for_small_blocks),
        cmocka_unit_test(tiles_read_and_write_long_runs),
        cmocka_unit_test(short_rows_are_read_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
