/* window_space.c - the axes of a windows kernel, and the numbers that it gets of its tiles. */
#include "schedules/transpose/window_space.h"

#include <stdlib.h>
#include <string.h>

#include "schedules/transpose/transpose_kinds.h"
#include "schedules/transpose/window_tiles.h"
#include "schedule/choice.h"

static int next_of_results(const kn_cut *c)
{
    const kn_choice choice = {
        .space = c->space, .access = c->access, .count = c->space->n_operands - (int)c->space->indices};
    return kn_choice_next_of_results(&choice);
}

/* The axis along which the input continues, if the tile has it neither as its fastest axis nor as that of its
 * ranges. */
static int next_of_input(const kn_cut *c, int axis)
{
    int next = kn_space_next_axis(c->space, c->staged, axis);
    return next == c->axes.fastest || next == c->axes.run ? -1 : next;
}

/* The axis with the input's smallest stride, of those that the tile does not have yet. */
static int nearest_of_input(const kn_cut *c)
{
    int best = -1;
    for (int a = c->axes.fastest; a-- > 0;) {
        int64_t stride = llabs(c->space->stride[c->staged][a]);
        if (a != c->axes.run && (best < 0 || stride < llabs(c->space->stride[c->staged][best])))
            best = a;
    }
    return best;
}

/* The input's rows are short along the axis, and continue along the axis of the results' ranges. */
static bool is_row_first(const kn_cut *c, int axis, int next)
{
    return next == next_of_input(c, axis) && c->space->extent[axis] <= KN_MOST_CHANNELS;
}

static void find_axes(kn_cut *c, int axis)
{
    int fastest = c->space->ndim - 1;
    bool shared = c->space->stride[c->staged][fastest] == c->item;
    c->column = c->item * (shared ? c->space->extent[fastest] : 1);
    c->axes = (kn_shared_tile_axes){.fastest = fastest, .run = -1, .row = {axis, -1}, .shared = shared};
    int next = next_of_results(c);
    if (next != axis && (shared || !is_row_first(c, axis, next))) {
        c->axes.run = next;
    } else if (next == axis && kn_cut_is_crossed(c, axis)) {
        c->axes.run = axis;
        c->axes.crossed = true;
        c->axes.row[0] = nearest_of_input(c);
        return;
    }
    c->axes.row[1] = next_of_input(c, axis);
}

/* An axis that counts tiles; the kernel computes where they begin. */
static void put_tiles(kn_space *out, int to, int64_t count)
{
    kn_space_put_axis(out, to, out, -1, 1);
    out->extent[to] = count;
}

static void make_space(kn_space *out, const kn_cut *c, const kn_windows *w)
{
    const kn_shared_tile_axes *x = &c->axes;
    int to = 0;
    kn_space_start(out, c->space);
    for (int a = 0; a < x->fastest; ++a)
        if (a != x->row[1] && a != x->row[0] && a != x->run)
            kn_space_put_axis(out, to++, c->space, a, 1);
    int64_t runs = kn_divide_up(c->run_size + kn_cut_halo(c), w->run),
            rows = kn_divide_up(w->n_rows, w->rows);
    put_tiles(out, to++, w->rows_first ? runs : rows);
    put_tiles(out, to++, w->rows_first ? rows : runs);
    kn_space_put_axis(out, to++, c->space, x->row[1], 1);
    kn_space_put_axis(out, to++, c->space, x->row[0], 1);
    kn_space_put_axis(out, to++, c->space, x->run, 1);
    kn_space_put_axis(out, to++, c->space, x->fastest, 1);
    out->ndim = to;
}

static void set_steps(kn_windows *w, const kn_cut *c)
{
    uint32_t turn = (uint32_t)c->schedule->block >> w->chunk_lanes, row_turn = UINT32_C(1) << w->row_lanes,
             fastest = (uint32_t)kn_cut_extent(c, c->axes.fastest),
             rows = (uint32_t)kn_cut_extent(c, c->axes.row[0]);
    w->p_step = w->shared ? turn : turn % fastest;
    w->p2_step = w->shared ? 0 : turn / fastest;
    w->q_step = row_turn % rows;
    w->q2_step = row_turn / rows;
}

void kn_windows_make(kn_windows *out, kn_space *tiles, int *shared_bytes, const kn_space *space,
                     const kn_spec *spec, const kn_access *access, int axis)
{
    const kn_schedule *schedule = &spec->schedule;
    kn_cut c = {.space = space,
                .schedule = schedule,
                .target = &spec->target,
                .access = access,
                .narrow = kn_transpose_config_of(schedule)->narrow_axis};
    c.staged = (int)(strchr(schedule->access, KN_STAGED) - schedule->access);
    for (const char *at = schedule->access; *at; ++at)
        c.inputs += *at == KN_STAGED;
    c.item = access[c.staged].item_size;
    find_axes(&c, axis);
    c.run_size = kn_cut_extent(&c, c.axes.fastest) * kn_cut_extent(&c, c.axes.run);
    c.n_rows = kn_cut_extent(&c, c.axes.row[0]) * kn_cut_extent(&c, c.axes.row[1]);
    kn_shared_tile best = kn_cut_best_tile(&c);
    int64_t fastest = kn_cut_extent(&c, c.axes.fastest);
    uint32_t pitch = (uint32_t)(c.axes.shared ? c.item : best.pitch);
    *out = (kn_windows){.run = (uint32_t)best.run,
                        .rows = (uint32_t)best.rows,
                        .run_size = (uint32_t)c.run_size,
                        .n_rows = (uint32_t)c.n_rows,
                        .slots = (uint32_t)(best.run / schedule->vector),
                        .pitch = pitch,
                        .pitch2 = 2 * pitch,
                        .pitch3 = 3 * pitch,
                        .step = c.axes.shared ? (uint32_t)best.pitch
                                              : kn_cut_step(&c, (uint32_t)(fastest * best.pitch)),
                        .column = (uint32_t)c.column,
                        .tile = (uint32_t)kn_shared_tile_of_input(&best, &c),
                        .crossed = c.axes.crossed,
                        .shared = c.axes.shared,
                        .chunk_lanes = best.chunk_lanes,
                        .slot_lanes = best.slot_lanes,
                        .row_lanes = kn_log2_above(schedule->block) - best.slot_lanes};
    out->rows_first =
        kn_divide_up(out->n_rows, out->rows) < kn_divide_up(c.run_size + kn_cut_halo(&c), out->run);
    *shared_bytes = kn_shared_tile_bytes(&best, &c);
    set_steps(out, &c);
    make_space(tiles, &c, out);
}

int64_t kn_windows_count(const kn_space *tiles)
{
    int64_t count = 1;
    for (int a = 0; a < tiles->ndim - KN_WINDOWS_AXES; ++a)
        count *= tiles->extent[a];
    return count;
}
