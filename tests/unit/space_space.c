/* Spaces against plain nested loops over the broadcast shape: the same addresses with the same logical
 * index, whatever was dropped, reversed, reordered, merged or cut. */
#include "space/space.h"
#include "base/error.h"
#include "space/shape.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define S(...) ((const int64_t[]){__VA_ARGS__})

enum { MAX_RANK = 6, MAX_VIEWS = 4, MAX_SIZE = 4096 };

static uint64_t state_of_dice;

static int roll(int low, int high)
{
    state_of_dice = state_of_dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int)((state_of_dice >> 33) % (uint64_t)(high - low + 1));
}

/* ---- a random call ---- */

typedef struct scene {
    int ndim, count;
    int64_t shape[MAX_RANK];
    int64_t view_shape[MAX_VIEWS][MAX_RANK], strides[MAX_VIEWS][MAX_RANK];
    kn_view view[MAX_VIEWS];
} scene;

/* Elements of `item` bytes in a random order of the axes, each axis reversed or spread now and then. */
static void random_strides(scene *s, int v, int item)
{
    int order[MAX_RANK], ndim = s->view[v].ndim;
    int64_t run = item;
    for (int a = 0; a < ndim; ++a)
        order[a] = a;
    for (int a = ndim; a-- > 1 && roll(0, 2) > 0;) {
        int other = roll(0, a), swapped = order[a];
        order[a] = order[other];
        order[other] = swapped;
    }
    for (int k = ndim; k-- > 0;) {
        int a = order[k];
        int64_t step = run * (roll(0, 5) ? 1 : roll(2, 3));
        s->strides[v][a] = roll(0, 4) ? step : -step;
        if (!s->view[v].is_output && !roll(0, 6))
            s->strides[v][a] = 0;
        run = step * (s->view_shape[v][a] ? s->view_shape[v][a] : 1);
    }
}

static void random_view(scene *s, int v, bool is_output)
{
    int ndim = is_output ? s->ndim : roll(0, s->ndim);
    s->view[v] = (kn_view){s->view_shape[v], s->strides[v], ndim, is_output};
    for (int a = 0; a < ndim; ++a) {
        s->view_shape[v][a] = s->shape[s->ndim - ndim + a];
        if (!is_output && !roll(0, 4))
            s->view_shape[v][a] = 1;
    }
    random_strides(s, v, 1 << roll(0, 4));
}

static void random_scene(scene *s)
{
    int64_t size = 1;
    s->ndim = roll(0, MAX_RANK);
    for (int a = 0; a < s->ndim; ++a) {
        s->shape[a] = roll(0, 30) ? roll(1, 5) : 0;
        if (size * s->shape[a] > MAX_SIZE)
            s->shape[a] = 1;
        size *= s->shape[a] ? s->shape[a] : 1;
    }
    s->count = roll(1, MAX_VIEWS);
    for (int v = 0; v < s->count; ++v)
        random_view(s, v, v == s->count - 1 || !roll(0, 3));
}

/* ---- enumeration ---- */

/* Where each view's element is, by logical index. */
typedef struct visits {
    int64_t size;
    int count;
    int64_t at[MAX_SIZE][MAX_VIEWS];
    bool seen[MAX_SIZE];
} visits;

static void visit_naively(visits *out, const scene *s)
{
    int64_t index[MAX_RANK] = {0};
    out->size = kn_shape_size(s->ndim, s->shape);
    out->count = s->count;
    for (int64_t i = 0; i < out->size; ++i) {
        int64_t rest = i;
        for (int a = s->ndim; a-- > 0; rest /= s->shape[a])
            index[a] = rest % s->shape[a];
        out->seen[i] = false;
        for (int v = 0; v < s->count; ++v) {
            out->at[i][v] = 0;
            for (int a = 0; a < s->view[v].ndim; ++a)
                if (s->view_shape[v][a] != 1)
                    out->at[i][v] += index[s->ndim - s->view[v].ndim + a] * s->strides[v][a];
        }
    }
}

/* Iterates over the space and ticks off its elements: each logical index once, with the addresses that
 * belong to it. */
static void tick_off(visits *expected, const kn_space *space)
{
    int index_operand = expected->count;
    assert_true(space->indices);
    assert_int_equal(space->n_operands, expected->count + 1);
    for (int64_t k = 0; k < space->size; ++k) {
        int64_t at[MAX_VIEWS + 1], rest = k;
        memcpy(at, space->offset, sizeof *at * (size_t)space->n_operands);
        for (int a = space->ndim; a-- > 0; rest /= space->extent[a])
            for (int o = 0; o < space->n_operands; ++o)
                at[o] += rest % space->extent[a] * space->stride[o][a];
        int64_t i = at[index_operand];
        assert_true(i >= 0 && i < expected->size);
        assert_false(expected->seen[i]);
        expected->seen[i] = true;
        assert_memory_equal(at, expected->at[i], sizeof *at * (size_t)expected->count);
    }
}

static void assert_all_seen(const visits *expected)
{
    for (int64_t i = 0; i < expected->size; ++i)
        assert_true(expected->seen[i]);
}

/* A space's purpose: no axis of extent 1, results forward, contiguous neighbours merged. */
static void assert_is_tidy(const kn_space *space, const scene *s)
{
    int first_output = 0;
    while (!s->view[first_output].is_output)
        ++first_output;
    if (space->size == 0)
        return;
    assert_true(space->ndim >= 1);
    for (int a = 0; a < space->ndim; ++a) {
        assert_true(space->extent[a] > 1 || space->ndim == 1);
        assert_true(space->stride[first_output][a] >= 0);
    }
    for (int a = 0; a + 1 < space->ndim; ++a) {
        bool is_one_run = true;
        for (int o = 0; o < space->n_operands; ++o)
            is_one_run = is_one_run && space->stride[o][a] == space->stride[o][a + 1] * space->extent[a + 1];
        assert_false(is_one_run);
        assert_true(space->stride[first_output][a] >= space->stride[first_output][a + 1]);
    }
}

/* The spaces of the random tests: large, and one at a time. */
static visits visited[1];
static kn_space iterated[1];

static void spaces_visit_every_element_once(void **state)
{
    scene s;
    (void)state;
    state_of_dice = 11;
    for (int turn = 0; turn < 4000; ++turn) {
        random_scene(&s);
        visit_naively(visited, &s);
        kn_space_make(iterated, s.ndim, s.shape, 0, s.view, s.count, true);
        assert_int_equal(iterated->size, visited->size);
        tick_off(visited, iterated);
        assert_all_seen(visited);
        assert_is_tidy(iterated, &s);
    }
}

/* Some of the axes (bits). */
static uint64_t random_axes(int ndim)
{
    uint64_t axes = 0;
    for (int a = 0; a < ndim; ++a)
        axes |= (uint64_t)(roll(0, 1)) << a;
    return axes;
}

/* With reduction axes too: every element once, as many results as the output axes have elements, and the
 * results at the same place along all reduction axes. The last view is an output of the output axes alone. */
static void reduced_axes_stand_behind(void **state)
{
    scene s;
    (void)state;
    state_of_dice = 13;
    for (int turn = 0; turn < 4000; ++turn) {
        int64_t results = 1;
        random_scene(&s);
        uint64_t reduced = random_axes(s.ndim);
        int last = s.count - 1;
        for (int a = s.ndim; a-- > 0;) {
            s.view_shape[last][a] = reduced >> a & 1 ? 1 : s.shape[a];
            s.strides[last][a] = 8 * results;
            results *= s.view_shape[last][a];
        }
        visit_naively(visited, &s);
        kn_space_make(iterated, s.ndim, s.shape, reduced, s.view, s.count, true);
        assert_int_equal(kn_space_output_size(iterated), results);
        tick_off(visited, iterated);
        assert_all_seen(visited);
        for (int a = iterated->ndim - iterated->n_reduction_axes; a < iterated->ndim; ++a)
            assert_int_equal(iterated->stride[last][a], 0);
    }
}

/* Cuts down to pieces of a few elements, along any axis, and ticks off all of them. */
static void tick_off_pieces(visits *expected, const kn_space *space, int64_t most, int64_t align)
{
    kn_space *half = malloc(2 * sizeof *half);
    int axis = roll(0, space->ndim - 1);
    assert_non_null(half);
    if (space->size <= most || !kn_space_split(space, axis, align, &half[0], &half[1])) {
        tick_off(expected, space);
    } else {
        assert_int_equal(half[0].size + half[1].size, space->size);
        assert_true(half[0].size > 0 && half[1].size > 0);
        assert_int_equal(half[0].extent[axis] % align, 0);
        for (int h = 0; h < 2; ++h)
            tick_off_pieces(expected, &half[h], most, align);
    }
    free(half);
}

static void pieces_make_up_the_space(void **state)
{
    scene s;
    (void)state;
    state_of_dice = 12;
    for (int turn = 0; turn < 400; ++turn) {
        random_scene(&s);
        visit_naively(visited, &s);
        kn_space_make(iterated, s.ndim, s.shape, 0, s.view, s.count, true);
        if (iterated->size > 0)
            tick_off_pieces(visited, iterated, roll(1, 40), 1 << roll(0, 2));
        assert_all_seen(visited);
    }
}

/* ---- by hand ---- */

static void assert_axes(const kn_space *space, int ndim, const int64_t *extents)
{
    assert_int_equal(space->ndim, ndim);
    assert_memory_equal(space->extent, extents, sizeof *extents * (size_t)ndim);
}

static void contiguous_arrays_are_one_axis(void **state)
{
    kn_space space;
    const kn_view c[] = {{S(3, 4, 5), S(80, 20, 4), 3, false}, {S(3, 4, 5), S(160, 40, 8), 3, true}};
    const kn_view f[] = {{S(3, 4, 5), S(4, 12, 48), 3, false}, {S(3, 4, 5), S(8, 24, 96), 3, true}};
    (void)state;
    kn_space_make(&space, 3, S(3, 4, 5), 0, c, 2, true);
    assert_axes(&space, 1, S(60));
    kn_space_make(&space, 3, S(3, 4, 5), 0, f, 2, false);
    assert_axes(&space, 1, S(60));
    /* The index does not run with Fortran order: it holds the axes apart. */
    kn_space_make(&space, 3, S(3, 4, 5), 0, f, 2, true);
    assert_axes(&space, 3, S(5, 4, 3));
}

static void broadcast_rows_keep_two_axes(void **state)
{
    kn_space space;
    const kn_view views[] = {{S(7, 1), S(4, 4), 2, false}, {S(6, 7, 8), S(224, 32, 4), 3, true}};
    (void)state;
    kn_space_make(&space, 3, S(6, 7, 8), 0, views, 2, false);
    assert_axes(&space, 3, S(6, 7, 8));
    const kn_view row[] = {{S(8), S(4), 1, false}, {S(6, 7, 8), S(224, 32, 4), 3, true}};
    kn_space_make(&space, 3, S(6, 7, 8), 0, row, 2, false);
    assert_axes(&space, 2, S(42, 8));
    assert_int_equal(space.stride[0][0], 0);
}

static void reversed_results_are_reversed_back(void **state)
{
    kn_space space;
    const kn_view views[] = {{S(10), S(4), 1, false}, {S(10), S(-4), 1, true}};
    (void)state;
    kn_space_make(&space, 1, S(10), 0, views, 2, true);
    assert_axes(&space, 1, S(10));
    assert_int_equal(space.stride[1][0], 4);
    assert_int_equal(space.offset[1], -36);
    assert_int_equal(space.stride[0][0], -4);
    assert_int_equal(space.offset[0], 36);
    assert_int_equal(space.stride[2][0], -1);
    assert_int_equal(space.offset[2], 9);
}

static void nothing_and_one(void **state)
{
    kn_space space;
    const kn_view none[] = {{S(3, 0), S(0, 4), 2, true}}, one[] = {{NULL, NULL, 0, true}};
    (void)state;
    kn_space_make(&space, 2, S(3, 0), 0, none, 1, true);
    assert_int_equal(space.size, 0);
    kn_space_make(&space, 0, NULL, 0, one, 1, true);
    assert_int_equal(space.size, 1);
    assert_axes(&space, 1, S(1));
}

static void memory_order_is_numpys(void **state)
{
    int axes[3];
    const kn_view f[] = {{S(3, 4, 5), S(4, 12, 48), 3, false}},
                  transposed[] = {{S(3, 4, 5), S(20, -60, 4), 3, false}};
    const kn_view two[] = {{S(5), S(4), 1, false}, {S(3, 4, 5), S(4, 12, 48), 3, false}};
    const kn_view none[] = {{S(3, 4, 5), S(0, 0, 0), 3, false}};
    (void)state;
    kn_space_memory_order(axes, 3, f, 1);
    assert_memory_equal(axes, ((int[]){2, 1, 0}), sizeof axes);
    kn_space_memory_order(axes, 3, transposed, 1);
    assert_memory_equal(axes, ((int[]){1, 0, 2}), sizeof axes);
    kn_space_memory_order(axes, 3, two, 2);
    assert_memory_equal(axes, ((int[]){2, 1, 0}), sizeof axes);
    kn_space_memory_order(axes, 3, none, 1);
    assert_memory_equal(axes, ((int[]){0, 1, 2}), sizeof axes);
}

/* Repeated axes are the innermost, equal ones stay in C order. */
static void copy_order_is_numpys(void **state)
{
    int axes[4];
    const kn_view repeated = {S(3, 4, 5), S(0, 4, -16), 3, false}, none = {S(3, 4), S(0, 0), 2, false};
    const kn_view several = {S(2, 4, 5, 3), S(8, 0, 24, -8), 4, false};
    (void)state;
    kn_space_copy_order(axes, &repeated);
    assert_memory_equal(axes, ((int[]){2, 1, 0}), 3 * sizeof *axes);
    kn_space_copy_order(axes, &none);
    assert_memory_equal(axes, ((int[]){0, 1}), 2 * sizeof *axes);
    kn_space_copy_order(axes, &several);
    assert_memory_equal(axes, ((int[]){2, 0, 3, 1}), sizeof axes);
}

/* Axes merge with their like alone, and those that are reduced are ordered by what is read. */
static void output_and_reduction_axes_do_not_merge(void **state)
{
    kn_space space;
    const kn_view rows[] = {{S(3, 4, 5), S(80, 20, 4), 3, false}, {S(3, 4, 1), S(16, 4, 4), 3, true}};
    const kn_view outer[] = {{S(3, 4, 5), S(80, 20, 4), 3, false}, {S(1, 4, 5), S(20, 20, 4), 3, true}};
    const kn_view all[] = {{S(3, 4, 5), S(4, 60, 12), 3, false}, {S(1, 1, 1), S(4, 4, 4), 3, true}};
    const kn_view middle[] = {{S(3, 4, 5), S(80, 20, 4), 3, false}, {S(3, 1, 5), S(20, 20, 4), 3, true}};
    (void)state;
    kn_space_make(&space, 3, S(3, 4, 5), 4, rows, 2, false);
    assert_axes(&space, 2, S(12, 5));
    assert_int_equal(space.n_reduction_axes, 1);
    kn_space_make(&space, 3, S(3, 4, 5), 1, outer, 2, false);
    assert_axes(&space, 2, S(20, 3));
    kn_space_make(&space, 3, S(3, 4, 5), 7, all, 2, false);
    assert_axes(&space, 1, S(60));
    assert_int_equal(space.n_reduction_axes, 1);
    assert_int_equal(kn_space_output_size(&space), 1);
    assert_int_equal(space.stride[0][0], 4);
    kn_space_make(&space, 3, S(3, 4, 5), 2, middle, 2, false);
    assert_axes(&space, 3, S(3, 5, 4));
    assert_int_equal(space.stride[0][2], 20);
}

/* ---- broadcasting ---- */

static void assert_refused(const kn_view *view, int count, const char *words)
{
    static const char *const names[] = {"x", "y", "z"};
    int ndim;
    int64_t shape[KILN_MAX_NDIM];
    assert_int_equal(kn_space_broadcast(&ndim, shape, view, names, count), KILN_ERROR_SHAPE);
    assert_non_null(strstr(kiln_error_message(), words));
}

static void shapes_that_do_not_fit(void **state)
{
    const kn_view two[] = {{S(3, 4), S(16, 4), 2, false}, {S(5), S(4), 1, false}};
    const kn_view three[] = {
        {S(3, 1), S(4, 4), 2, false}, {S(4), S(4), 1, false}, {S(2, 4), S(16, 4), 2, false}};
    const kn_view output[] = {{S(3, 4), S(16, 4), 2, false}, {S(3, 1), S(4, 4), 2, true}};
    const kn_view grown[] = {{S(3, 4), S(16, 4), 2, true}, {S(2, 3, 4), S(48, 16, 4), 3, false}};
    const kn_view huge[] = {{S(INT64_C(1) << 40, 1), S(4, 4), 2, false},
                            {S(INT64_C(1) << 40), S(4), 1, false}};
    (void)state;
    assert_refused(two, 2, "'y' of shape (5,) does not broadcast against 'x' of shape (3, 4)");
    assert_refused(
        three, 3,
        "'z' of shape (2, 4) does not broadcast against the arguments before it, together of shape (3, 4)");
    assert_refused(output, 2, "output 'y' has shape (3, 1), but the arguments broadcast to (3, 4)");
    assert_refused(grown, 2, "output 'x' has shape (3, 4), but the arguments broadcast to (2, 3, 4)");
    assert_refused(huge, 2, "2^63");
}

static void shapes_that_fit(void **state)
{
    static const char *const names[] = {"x", "y", "z"};
    const kn_view views[] = {
        {S(3, 1), S(4, 4), 2, false}, {NULL, NULL, 0, false}, {S(2, 3, 4), S(48, 16, 4), 3, true}};
    int ndim;
    int64_t shape[KILN_MAX_NDIM];
    (void)state;
    assert_int_equal(kn_space_broadcast(&ndim, shape, views, names, 3), KILN_OK);
    assert_int_equal(ndim, 3);
    assert_memory_equal(shape, S(2, 3, 4), 3 * sizeof *shape);
    assert_int_equal(kn_space_broadcast(&ndim, shape, views, names, 0), KILN_OK);
    assert_int_equal(ndim, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spaces_visit_every_element_once),
        cmocka_unit_test(reduced_axes_stand_behind),
        cmocka_unit_test(output_and_reduction_axes_do_not_merge),
        cmocka_unit_test(pieces_make_up_the_space),
        cmocka_unit_test(contiguous_arrays_are_one_axis),
        cmocka_unit_test(broadcast_rows_keep_two_axes),
        cmocka_unit_test(reversed_results_are_reversed_back),
        cmocka_unit_test(nothing_and_one),
        cmocka_unit_test(memory_order_is_numpys),
        cmocka_unit_test(copy_order_is_numpys),
        cmocka_unit_test(shapes_that_do_not_fit),
        cmocka_unit_test(shapes_that_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
