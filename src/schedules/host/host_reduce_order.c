/* host_reduce_order.c - the order of the host's reductions in their baseline tier: what host_reduce.cpp does
 * around its loops. The loops are the kernel's, which compiles in half the time without all this. */
#include "schedules/host/kind_host_reduce.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "schedules/host/host_order.h"

enum {
    SERIES = 8,  /* of steps, that are reduced together */
    PAIRED = 64, /* steps of a row are reduced in pairs, then pairs of pairs: values of each lane, at most */
    MOST_LANES = 64, /* of a row */
    MOST_ITEM = KN_HOST_REDUCE_LARGEST,
    FEW = 8 /* lanes that are reduced one by one */
};

/* side: values, `most` beside each other; top: series that wait to be reduced in pairs, each `live` wide. */
typedef struct work {
    const kn_host_reduce_loops *l;
    const kn_host_reduce_field *f;
    kn_host_axes axes;
    bool by_rows, are_beside, is_ordered;
    int depth, top;
    long long most, turn, live;
    kn_host_place along, beside, down;
    _Alignas(64) unsigned char side[PAIRED * MOST_LANES * MOST_ITEM];
} work;

/* ---- one loop ---- */

static unsigned char *value(work *w, long long k)
{
    return w->side + k * w->l->item_size;
}

static void reduce_steps(const work *w, void *to, const void *before, const kn_host_place *row,
                         long long first, int steps, bool is_ordered, long long lanes)
{
    kn_call call = {.loop = KN_HOST_REDUCE_STEPS, .steps = steps, .is_ordered = is_ordered, .to = to};
    call.a = before;
    call.place = row->at;
    call.first = first;
    call.count = lanes;
    w->l->run(w->l->of, &call);
}

static void combine(const work *w, void *to, const void *a, const void *b, long long step, long long count)
{
    kn_call call = {.loop = KN_HOST_REDUCE_BOTH, .to = to, .a = a, .b = b, .step = step, .count = count};
    w->l->run(w->l->of, &call);
}

static void finish(const work *w, const void *from, const kn_host_place *here, long long count, bool is_some)
{
    kn_call call = {.loop = KN_HOST_REDUCE_FINISH, .steps = is_some, .a = from, .count = count};
    call.place = here->at;
    w->l->run(w->l->of, &call);
}

static void reduce_both(const work *w, unsigned char *to, const unsigned char *from, long long count)
{
    combine(w, to, to, from, 1, count);
}

/* Pairs of groups: the first one with the one behind the middle. */
static void reduce_groups(const work *w, unsigned char *at, long long groups, long long width)
{
    for (; groups > 1; groups = (groups + 1) / 2)
        reduce_both(w, at, at + (groups + 1) / 2 * width * w->l->item_size, groups / 2 * width);
}

/* Pairs of neighbouring groups, a power of two. */
static void reduce_neighbours(const work *w, unsigned char *at, int groups, long long width)
{
    long long bytes = width * w->l->item_size;
    for (int by = 1; by < groups; by *= 2)
        for (int g = 0; g < groups; g += 2 * by)
            reduce_both(w, at + g * bytes, at + (g + by) * bytes, width);
}

/* `count` series are behind the first `top`: their results join the pairs. */
static void pair_up(work *w, int count)
{
    if (count == SERIES)
        reduce_neighbours(w, value(w, w->top * w->most), SERIES, w->most);
    else
        reduce_groups(w, value(w, w->top * w->most), count, w->most);
    ++w->top;
    for (long long bits = w->turn++; bits & 1; bits >>= 1, --w->top)
        reduce_both(w, value(w, (w->top - 2) * w->most), value(w, (w->top - 1) * w->most), w->live);
}

/* ---- pieces ---- */

static int steps_of_call(const work *w, long long left)
{
    int order_depth = w->l->index_operand >= 0 && w->depth > 16 ? w->depth / 4 : w->depth;
    if (!w->is_ordered || left < 4)
        return 1;
    return left >= w->depth ? w->depth : left >= order_depth ? order_depth : 4;
}

static void reduce_piece_of_row(work *w, kn_host_place *row, long long left, long long rest)
{
    bool has_index = w->l->index_operand >= 0;
    int series = 0;
    while (left > 0) {
        int count = steps_of_call(w, left);
        reduce_steps(w, value(w, (w->top + series) * w->most), NULL, row, 0, count, has_index && count > 1,
                     w->most);
        kn_host_move_steps(row, &w->down, count, w->axes.operands);
        left -= count;
        if (++series == SERIES) {
            pair_up(w, series);
            series = 0;
        }
    }
    if (rest > 0) {
        long long to = (w->top + series) * w->most;
        reduce_steps(w, value(w, to), NULL, row, 0, 1, false, rest);
        if (w->f->steps > 0)
            reduce_both(w, value(w, to - w->most), value(w, to), rest);
        else
            ++series;
    }
    if (series > 0)
        pair_up(w, series);
}

static void reduce_piece_of_results(work *w, kn_host_place *row, long long left, long long rest,
                                    long long count)
{
    bool has_index = w->l->index_operand >= 0;
    while (left > 0) {
        bool is_deep = w->is_ordered && left >= w->depth;
        int steps = is_deep ? w->depth : !has_index && left % 4 > 1 ? (int)(left % 4) : 1;
        reduce_steps(w, w->side, w->top > 0 ? w->side : NULL, row, 0, steps, has_index && is_deep, w->live);
        kn_host_move_steps(row, &w->down, steps, w->axes.operands);
        left -= steps;
        w->top = 1;
    }
    if (rest > 0)
        reduce_steps(w, w->side, w->side, row, 0, 1, false, rest * count);
}

/* ---- short rows ---- */

/* Each lane of `count` rows. The rest of a row is loaded as its last lanes; those of them that were counted
 * before are left out. */
static void reduce_lanes_of_rows(work *w, kn_host_place row, long long count, int lanes, int rest)
{
    int item = w->l->item_size, spared = lanes - rest;
    unsigned char *beyond = value(w, (long long)KN_HOST_REDUCE_BATCH * lanes);
    for (long long r = 0; r < count; ++r) {
        unsigned char *to = value(w, r * lanes);
        int first = w->f->steps < 4 ? 1 : 4;
        reduce_steps(w, to, NULL, &row, 0, first, false, lanes);
        for (long long step = first; step < w->f->steps; step += step + 4 <= w->f->steps ? 4 : 1)
            reduce_steps(w, to, to, &row, step, step + 4 <= w->f->steps ? 4 : 1, false, lanes);
        kn_host_move_steps(&row, &w->along, -spared, w->axes.operands);
        if (rest > 0) {
            reduce_steps(w, beyond, to, &row, w->f->steps, 1, false, lanes);
            memcpy(to + spared * item, beyond + spared * item, (size_t)rest * (size_t)item);
        }
        kn_host_move_steps(&row, &w->along, spared, w->axes.operands);
        kn_host_move_steps(&row, &w->beside, 1, w->axes.operands);
    }
}

/* A vector of rows from `first` up to `last`, from its element of the first row on. */
static void reduce_runs(work *w, unsigned char *to, const kn_host_place *from, long long first,
                        long long last)
{
    long long runs = kn_host_extent(&w->axes, 1);
    for (long long r = first, next; r < last; r = next) {
        long long outer = r / runs, step = r % runs, stop;
        kn_host_place row = *from;
        next = (outer + 1) * runs < last ? (outer + 1) * runs : last;
        stop = step + next - r;
        kn_host_move(&row, &w->axes, 2, w->f->reduction_rank, outer);
        int count;
        for (bool is_first = r == first; step < stop; step += count, is_first = false) {
            count = stop - step >= 4 ? 4 : stop - step >= 2 && !is_first ? 2 : 1;
            reduce_steps(w, to, is_first ? NULL : to, &row, step, count, false, w->l->lanes);
        }
    }
}

/* The same for rows of several axes: each vector of lanes along all of them, then the next one. */
static void reduce_lanes_of_runs(work *w, kn_host_place row, long long count, long long first, long long last)
{
    int lanes = w->l->lanes, item = w->l->item_size, spared = lanes - (int)w->f->rest;
    unsigned char *beyond = value(w, (long long)KN_HOST_REDUCE_BATCH * lanes);
    for (long long r = 0; r < count; ++r) {
        unsigned char *to = value(w, r * lanes);
        reduce_runs(w, to, &row, first, last);
        for (long long v = 1; v < w->f->steps + (w->f->rest > 0); ++v) {
            int spare = v < w->f->steps ? 0 : spared;
            kn_host_place from = row;
            kn_host_move_steps(&from, &w->along, v * lanes - spare, w->axes.operands);
            reduce_runs(w, beyond, &from, first, last);
            combine(w, beyond, to, beyond, 1, lanes);
            memcpy(to + spare * item, beyond + spare * item, (size_t)(lanes - spare) * (size_t)item);
        }
        kn_host_move_steps(&row, &w->beside, 1, w->axes.operands);
    }
}

/* Lanes of `count` rows to their values; returns these. */
static unsigned char *reduce_short_rows(work *w, const kn_host_place *here, long long count,
                                        long long first_run, long long last_run)
{
    unsigned char *from = w->side, *to = value(w, (long long)KN_HOST_REDUCE_BATCH * w->l->lanes);
    if (w->l->is_short == KN_HOST_REDUCE_RUNS)
        reduce_lanes_of_runs(w, *here, count, first_run, last_run);
    else
        reduce_lanes_of_rows(w, *here, count, w->l->lanes, (int)w->f->rest);
    for (int half = w->l->lanes / 2; half > 0; half /= 2) {
        unsigned char *last = from;
        combine(w, to, from, from + w->l->item_size, 2, count * half);
        from = to;
        to = last;
    }
    return from;
}

/* ---- runs of results ---- */

/* Task `task` has `count` runs, which are along the second axis of results. */
static void compute_runs(work *w, long long task)
{
    const kn_host_reduce_field *f = w->f;
    int copies = w->l->is_short ? KN_HOST_REDUCE_COPIES : 1, run = w->l->beside, item = w->l->item_size,
        axis = f->reduction_rank + 1;
    long long runs = kn_host_extent(&w->axes, axis), blocks = (runs + f->width - 1) / f->width;
    long long from = task % blocks * f->width, count = runs - from < f->width ? runs - from : f->width;
    kn_host_place here = {{0}}, next = {{0}};
    kn_host_move(&here, &w->axes, axis + 1, w->l->rank, task / blocks);
    for (int o = 0; o < w->l->operands; ++o)
        next.at[o] = w->beside.at[o] = kn_host_stride(&w->axes, axis, o);
    kn_host_move_steps(&here, &next, from, w->axes.operands);
    reduce_lanes_of_rows(w, here, count, run * copies, run * (int)f->rest);
    for (int half = copies / 2; half > 0; half /= 2)
        for (long long r = 0; r < count; ++r) {
            const unsigned char *both = value(w, 2 * r * half * run);
            combine(w, value(w, r * half * run), both, both + half * run * item, 1, half * run);
        }
    for (long long r = 0; r < count; ++r) {
        finish(w, value(w, r * run), &here, run, true);
        kn_host_move_steps(&here, &next, 1, w->axes.operands);
    }
}

/* ---- a task ---- */

static long long end_of_chunk(const kn_host_reduce_field *f, long long chunk)
{
    return chunk + 1 < f->chunks ? (chunk + 1) * f->chunk : f->rows * f->pieces;
}

/* Chunk number `chunk` of `count` results: their values are the first ones of `side`. */
static void reduce_chunk(work *w, const kn_host_place *here, long long chunk, long long count)
{
    const kn_host_reduce_field *f = w->f;
    long long stop = end_of_chunk(f, chunk);
    w->top = 0;
    w->turn = 0;
    w->live = !w->by_rows ? count * f->groups : f->steps > 0 ? w->l->lanes : f->rest;
    for (long long p = chunk * f->chunk; p < stop; ++p) {
        long long part = p % f->pieces, left = f->steps - part * f->piece;
        long long rest = part + 1 < f->pieces ? 0 : f->rest;
        kn_host_place row = *here;
        kn_host_move(&row, &w->axes, 1, f->reduction_rank, p / f->pieces);
        kn_host_move_steps(&row, &w->down, part * f->piece, w->axes.operands);
        left = left < f->piece ? left : f->piece;
        if (w->by_rows)
            reduce_piece_of_row(w, &row, left, rest);
        else
            reduce_piece_of_results(w, &row, left, rest, count);
    }
    for (; w->top > 1; --w->top)
        reduce_both(w, value(w, (w->top - 2) * w->most), value(w, (w->top - 1) * w->most), w->live);
}

static void reduce_lanes(work *w, long long count)
{
    if (w->by_rows && w->live == w->l->lanes) {
        int few = w->l->lanes < FEW ? w->l->lanes : FEW;
        for (int half = w->l->lanes / 2; half >= few; half /= 2)
            reduce_both(w, w->side, value(w, half), half);
        reduce_neighbours(w, w->side, few, 1);
    } else if (w->top > 0) {
        reduce_groups(w, w->side, w->live / count, count);
    }
}

/* The values of `count` results, when the last of their chunks is there; NULL before. */
static unsigned char *join_chunks(work *w, unsigned char *values, long long first, long long result,
                                  long long chunk, long long count)
{
    size_t bytes = (size_t)count * (size_t)w->l->item_size;
    unsigned char *partials = w->l->partials + first * w->f->chunks * w->l->item_size;
    if (w->f->chunks == 1)
        return values;
    memcpy(partials + (size_t)chunk * bytes, values, bytes);
    if (__atomic_add_fetch(&w->l->counters[result], 1U, __ATOMIC_ACQ_REL) < w->f->chunks)
        return NULL;
    w->l->counters[result] = 0;
    reduce_groups(w, partials, w->f->chunks, count);
    return partials;
}

static void compute_task(work *w, long long task)
{
    const kn_host_reduce_field *f = w->f;
    int behind = f->reduction_rank + w->are_beside;
    long long result = task / f->chunks, chunk = task % f->chunks;
    long long run = w->are_beside ? kn_host_extent(&w->axes, f->reduction_rank) : 1;
    long long blocks = (run + f->width - 1) / f->width, outer = w->are_beside ? result / blocks : result;
    long long from = (result - outer * blocks) * f->width;
    long long count = run - from < f->width ? run - from : f->width;
    kn_host_place here = {{0}};
    kn_host_move(&here, &w->axes, behind, w->l->rank, outer);
    kn_host_move_steps(&here, &w->beside, from, w->axes.operands);
    unsigned char *values = w->side;
    if (w->l->is_short) {
        values = reduce_short_rows(w, &here, count, chunk * f->chunk, end_of_chunk(f, chunk));
    } else {
        reduce_chunk(w, &here, chunk, count);
        reduce_lanes(w, count);
    }
    values = join_chunks(w, values, outer * run + from, result, chunk, count);
    if (values)
        finish(w, values, &here, count, w->l->is_short || w->top > 0);
}

/* Steps are in the order of the index: it counts up by ones along a row, and a result gets all of its
 * elements in order. */
static bool are_in_order(const work *w)
{
    int o = w->l->index_operand;
    if (o < 0)
        return true;
    if (w->by_rows)
        return kn_host_stride(&w->axes, 0, o) == 1;
    bool is_ordered = w->along.at[o] == 0;
    for (int a = 0; a < w->f->reduction_rank && is_ordered; ++a)
        is_ordered = kn_host_stride(&w->axes, a, o) >=
                     (a > 0 ? kn_host_stride(&w->axes, a - 1, o) * kn_host_extent(&w->axes, a - 1) : 1);
    return is_ordered;
}

/* Steps in so many vectors of 64 bytes. */
static int depth_of(const kn_host_reduce_loops *l)
{
    int each = (l->lanes * l->item_size + 63) / 64, depth = 4;
    while (depth * 2 * each <= l->depth && depth < KN_HOST_REDUCE_DEPTH)
        depth *= 2;
    return depth;
}

void kn_host_reduce_in_order(const void *loops)
{
    work w;
    w.l = loops;
    w.f = w.l->field;
    w.axes = (kn_host_axes){w.l->axis, w.l->operands};
    w.by_rows = w.l->lanes > 1;
    w.top = 0;
    w.are_beside = (!w.by_rows || w.l->is_short) && w.f->reduction_rank < w.l->rank;
    bool are_runs = w.l->is_short == KN_HOST_REDUCE_RUNS;
    w.depth = depth_of(w.l);
    w.most = w.by_rows ? w.l->lanes : KN_HOST_REDUCE_WIDE;
    for (int o = 0; o < w.l->operands; ++o) {
        w.along.at[o] = kn_host_stride(&w.axes, w.by_rows ? 0 : w.f->reduction_rank, o);
        w.beside.at[o] = kn_host_stride(&w.axes, w.are_beside ? w.f->reduction_rank : 0, o);
        w.down.at[o] = are_runs ? kn_host_stride(&w.axes, 1, o) : kn_host_stride(&w.axes, 0, o) * w.f->groups;
    }
    w.is_ordered = are_in_order(&w);
    for (long long task = w.l->begin; task < w.l->end; ++task)
        (w.l->beside ? compute_runs : compute_task)(&w, task);
}
