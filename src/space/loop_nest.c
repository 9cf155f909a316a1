#include "space/loop_nest.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "space/numbers.h"

enum {
    TURNED_BYTES = 4 * KN_LOOP_LINE, /* of an operand that runs along another axis, read at a time */
    MOST_CHANNELS = 16,
    LONG_RUN = 256,           /* elements: worth blocks of one run although something is broadcast along it */
    SHORT_RUN = 64,           /* elements of a run, below which runs are put together */
    MOST_BUFFERED = 1024,     /* elements of a block, where nothing is turned */
    MOST_DIRECT = 16384,      /* elements of a block without buffers */
    NARROW_BYTES = 4 << 10,   /* of buffers of a block of pixels: what is read and what is stored past the
                                 caches alternate */
    JOINED_BYTES = 16 << 10,  /* of a block of planes that become pixels without a buffer */
    SHORT_BYTES = 1 << 10,    /* of a row, below which it is short */
    NEAR_BYTES = 2 << 10,     /* of an input that lie together and are read together */
    FEWEST_PIXELS = 64,       /* of such a block, or ... */
    FEWEST_BYTES = 512,       /* ... of one channel of them */
    SCATTERED_BYTES = 4 << 20 /* of results in rows, from which on they go past the caches */
};

/* Whether steps of the first `axes` axes, as many of each as given, are one run in memory. */
static bool is_run(const kn_planned_operand *o, int axes, const int64_t *steps)
{
    int64_t expected = o->item_size;
    for (int a = 0; a < axes; ++a) {
        if (steps[a] > 1 && o->stride[a] != expected)
            return false;
        expected *= steps[a];
    }
    return true;
}

/* What goes through a buffer: indices always, their strides do not count bytes. */
static bool needs_buffer(const kn_planned_operand *o, int axes, const int64_t *steps)
{
    return o->kind == KN_LOOP_INDICES || !is_run(o, axes, steps);
}

/* Bytes an element of what is no run along so many steps of the first `axes` axes. */
static int packed_bytes(const kn_loop_nest *w, int axes, const int64_t *steps)
{
    int bytes = 0;
    for (int o = 0; o < w->n_operands; ++o)
        if (needs_buffer(&w->operand[o], axes, steps))
            bytes += w->operand[o].item_size;
    return bytes;
}

/* The axis along which an input runs that jumps from line to line along the first; 0: there is none. */
static int find_turned(const kn_loop_nest *w)
{
    int found = 0;
    int64_t best = KN_LOOP_LINE / 2 + 1;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind != KN_LOOP_INPUT || kn_magnitude(x->stride[0]) < KN_LOOP_LINE)
            continue;
        for (int a = 1; a < w->ndim; ++a)
            if (x->stride[a] != 0 && kn_magnitude(x->stride[a]) < best && w->extent[a] >= 4) {
                best = kn_magnitude(x->stride[a]);
                found = a;
            }
    }
    return found;
}

static void rotate(int64_t *values, int to, int from)
{
    int64_t moved = values[from];
    memmove(values + to + 1, values + to, (size_t)(from - to) * sizeof *values);
    values[to] = moved;
}

static void rotate_axes(kn_loop_nest *w, int to, int from)
{
    rotate(w->extent, to, from);
    for (int o = 0; o < w->n_operands; ++o)
        rotate(w->operand[o].stride, to, from);
}

/* Brings axis `from` to the place behind those that make up a run of some length. */
static int place_turned(kn_loop_nest *w, int from)
{
    int to = 0;
    for (int64_t run = 1; to < from && (to == 0 || run < SHORT_RUN); ++to)
        run *= w->extent[to];
    rotate_axes(w, to, from);
    return to;
}

/* Parts of nearly the same length, in whole lines where they are long. */
static int64_t even_step(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    int64_t parts = (extent + most - 1) / most, step = (extent + parts - 1) / parts;
    return most < KN_LOOP_LINE ? most : kn_least(most, (step + 15) / 16 * 16);
}

/* Steps of the first `axes` axes that have together at most `elements`. */
static void set_steps(kn_loop_nest *w, int axes, int64_t elements)
{
    for (int a = 0; a < axes; ++a) {
        w->step[a] = even_step(w->extent[a], elements > 0 ? elements : 1);
        elements /= w->step[a];
        if (w->step[a] < w->extent[a])
            elements = 1;
    }
}

static int64_t most_elements(int bytes)
{
    int64_t most = bytes ? KN_LOOP_BUFFER / bytes : MOST_DIRECT;
    return most > KN_LOOP_LINE ? most / KN_LOOP_LINE * KN_LOOP_LINE : most;
}

static void plan_turned(kn_loop_nest *w, int axis)
{
    int item_size = KN_LOOP_LINE, bytes = packed_bytes(w, axis, w->extent);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].kind == KN_LOOP_INPUT && kn_magnitude(w->operand[o].stride[0]) >= KN_LOOP_LINE)
            item_size = (int)kn_least(item_size, w->operand[o].item_size);
    int64_t across = kn_least(TURNED_BYTES / item_size, w->extent[axis]);
    while (across > KN_LOOP_LINE / item_size && across * bytes * SHORT_RUN > KN_LOOP_BUFFER)
        across /= 2;
    while (across > 1 && across * bytes > KN_LOOP_BUFFER)
        across /= 2;
    w->step[axis] = across;
    w->contiguous_axes = axis;
    w->block_axes = axis + 1;
    int64_t run = most_elements(bytes) / across;
    set_steps(w, axis, run > 16 ? run / 16 * 16 : run);
    w->has_rows = true;
}

/* A block has several runs: to begin a block takes as long as to copy a hundred elements. Where the results
 * go on, they may be along two axes. */
static void take_rows(kn_loop_nest *w, int64_t rows)
{
    w->block_axes = 2;
    w->has_rows = true;
    w->step[1] = kn_least(rows, w->extent[1]);
    rows /= w->step[1];
    bool joined = w->rows_at >= 0 && w->ndim > 2;
    for (int o = 0; o < w->n_operands; ++o)
        joined = joined && (w->operand[o].kind != KN_LOOP_OUTPUT || is_run(&w->operand[o], 3, w->extent));
    if (!joined || rows < 2)
        return;
    w->block_axes = 3;
    w->has_groups = true;
    w->step[2] = kn_least(rows, w->extent[2]);
}

/* The narrow axis along which some input lies closer than along the first: its channels are taken together,
 * so that what is read is used whole while it is in the cache. 0: there is none. */
static int find_channels(const kn_loop_nest *w)
{
    for (int a = 1; a < w->ndim; ++a)
        for (int o = 0; o < w->n_operands; ++o) {
            const kn_planned_operand *x = &w->operand[o];
            if (w->extent[a] <= MOST_CHANNELS && x->kind == KN_LOOP_INPUT && x->stride[a] != 0 &&
                kn_magnitude(x->stride[a]) < kn_magnitude(x->stride[0]))
                return a;
        }
    return 0;
}

/* Pixels of a block that has so many elements for each; without buffers as many as of bytes. */
static int64_t most_pixels(int bytes, int64_t channels)
{
    int64_t each = bytes > 0 ? bytes : 1,
            fewest = each < FEWEST_BYTES ? kn_least(FEWEST_PIXELS, FEWEST_BYTES / each) : 1,
            pixels = NARROW_BYTES / (each * channels) / fewest * fewest;
    return pixels > fewest ? pixels : kn_least(fewest, KN_LOOP_BUFFER / (each * channels));
}

/* Blocks of all channels: a call for each. */
static void plan_channels(kn_loop_nest *w, int from)
{
    rotate_axes(w, 1, from);
    w->contiguous_axes = 1;
    w->block_axes = 2;
    w->has_rows = true;
    w->pixels = 0;
    w->step[1] = w->extent[1];
    set_steps(w, 1, most_pixels(packed_bytes(w, 1, w->extent), w->extent[1]));
}

/* Pixels whose channels lie along the first axes, while an input runs along a later one: a call for all
 * pixels of a block. */
static bool plan_pixels(kn_loop_nest *w, int turned)
{
    int64_t channels = 1;
    for (int a = 0; a < turned; ++a)
        channels *= w->extent[a];
    if (channels > MOST_CHANNELS)
        return false;
    w->pixels = turned;
    for (int a = 0; a < turned; ++a)
        w->step[a] = w->extent[a];
    w->contiguous_axes = w->block_axes = turned + 1;
    w->step[turned] = kn_least(w->extent[turned], KN_LOOP_LINE);
    int bytes = packed_bytes(w, turned + 1, w->step);
    w->step[turned] =
        even_step(w->extent[turned], bytes ? most_pixels(bytes, channels) : MOST_DIRECT / channels);
    return true;
}

/* Of rows that are short and, in the results, one behind the other: the later axis along which an input lies
 * closer than from row to row. 0: there is none. */
static int find_apart(const kn_loop_nest *w)
{
    int found = 0;
    const int64_t two[] = {w->extent[0], 2};
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind == KN_LOOP_OUTPUT && (!is_run(x, 2, two) || w->extent[0] * x->item_size >= SHORT_BYTES))
            return 0;
        for (int a = 2; a < w->ndim && x->kind == KN_LOOP_INPUT && x->stride[0] == x->item_size; ++a)
            if (x->stride[a] != 0 && kn_magnitude(x->stride[a]) < kn_magnitude(x->stride[1]))
                found = a;
    }
    return found;
}

/* Blocks along both, so that what is read is used whole while it is in the cache: calls for longer rows, of
 * which some lie in buffers. */
static bool plan_apart(kn_loop_nest *w, int axis)
{
    int bytes = packed_bytes(w, 2, w->extent);
    int64_t row = w->extent[0], most = bytes ? KN_LOOP_BUFFER / bytes / row : 0;
    if (most < 4)
        return false;
    rotate_axes(w, 2, axis);
    w->contiguous_axes = 2;
    w->block_axes = 3;
    w->has_rows = true;
    w->step[0] = row;
    w->step[2] = even_step(w->extent[2], kn_least(most / 2, (NEAR_BYTES / bytes + row - 1) / row));
    w->step[1] = even_step(w->extent[1], most / w->step[2]);
    return true;
}

/* A long run beside what stands still along it: a buffer has a part of it, which serves for many, as rows of
 * a call. */
static bool plan_still(kn_loop_nest *w, int bytes)
{
    int64_t still = kn_least(most_elements(bytes), MOST_BUFFERED);
    if (w->rows_at < 0 || w->extent[0] <= still)
        return false;
    for (int o = 0; o < w->n_operands; ++o)
        if (needs_buffer(&w->operand[o], 1, w->extent) &&
            (w->operand[o].kind != KN_LOOP_INPUT || w->operand[o].stride[0] != 0))
            return false;
    w->contiguous_axes = w->block_axes = 1;
    w->broadcast_length = still;
    w->step[0] = even_step(w->extent[0], MOST_DIRECT);
    return true;
}

static void plan_plain(kn_loop_nest *w)
{
    if (w->ndim > 2 && find_apart(w) > 0 && plan_apart(w, find_apart(w)))
        return;
    int bytes = packed_bytes(w, 1, w->extent);
    int64_t inner = w->extent[0];
    if ((bytes == 0 && inner >= SHORT_RUN) || inner >= LONG_RUN) {
        if (bytes > 0 && find_channels(w) > 0) {
            plan_channels(w, find_channels(w));
            return;
        }
        if (bytes > 0 && plan_still(w, bytes))
            return;
        w->contiguous_axes = w->block_axes = 1;
        set_steps(w, 1, bytes ? kn_least(most_elements(bytes), MOST_BUFFERED) : MOST_DIRECT);
        if (bytes == 0 && w->ndim > 1 && inner <= MOST_DIRECT / 4)
            take_rows(w, MOST_DIRECT / inner);
        return;
    }
    int axes = 1;
    for (int64_t run = inner; axes < w->ndim && run < MOST_BUFFERED; ++axes)
        run *= w->extent[axes];
    w->contiguous_axes = w->block_axes = axes;
    set_steps(w, axes, kn_least(most_elements(packed_bytes(w, axes, w->extent)), MOST_BUFFERED));
}

/* Rows too short to be worth a call each become one run, in buffers where they are none. */
static void join_rows(kn_loop_nest *w)
{
    int64_t row = 1;
    bool joined = true;
    for (int a = 0; a < w->contiguous_axes; ++a)
        row *= w->step[a];
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        bool fits = is_run(x, w->block_axes, w->step);
        joined = joined && (fits || (x->kind == KN_LOOP_INPUT && !is_run(x, w->contiguous_axes, w->step)) ||
                            (row < SHORT_RUN / 2 && x->kind != KN_LOOP_COUNT));
    }
    int bytes = packed_bytes(w, w->block_axes, w->step);
    if (!joined || row * bytes > KN_LOOP_BUFFER)
        return;
    while (w->step[w->contiguous_axes] > 1 && row * w->step[w->contiguous_axes] * bytes > KN_LOOP_BUFFER)
        w->step[w->contiguous_axes] /= 2;
    w->contiguous_axes = w->block_axes;
    w->has_rows = false;
}

static void count_blocks(kn_loop_nest *w)
{
    w->blocks = w->block_size = 1;
    for (int a = 0; a < w->ndim; ++a) {
        if (a >= w->block_axes)
            w->step[a] = 1;
        w->count[a] = (w->extent[a] + w->step[a] - 1) / w->step[a];
        w->blocks *= w->count[a];
        w->block_size *= w->step[a];
    }
    for (int o = 0; o < w->n_operands; ++o)
        w->operand[o].is_packed = needs_buffer(&w->operand[o], w->contiguous_axes, w->step);
}

/* Whether calls end where lines of the result do. Blocks of a few thousand bytes would otherwise store as
 * many parts of lines, which wait for what stands there, one after the other. What lies in buffers reaches
 * over a block's end then. */
static void plan_lines(kn_loop_nest *w)
{
    int along = 0, result = -1, bytes = 0;
    while (along < w->contiguous_axes && w->count[along] == 1)
        ++along;
    for (int o = 0; o < w->n_operands; ++o) {
        bytes += w->operand[o].is_packed ? w->operand[o].item_size : 0;
        if (w->operand[o].kind == KN_LOOP_OUTPUT && result >= 0)
            return;
        if (w->operand[o].kind == KN_LOOP_OUTPUT)
            result = o;
    }
    if (along == w->contiguous_axes || bytes == 0 || result < 0 || w->operand[result].is_packed || w->broadcast_length > 0)
        return;
    for (int o = 0; o < w->n_operands; ++o) /* in place, a call goes on into the next block */
        if (!w->operand[o].is_packed && !is_run(&w->operand[o], along + 1, w->extent))
            return;
    const kn_planned_operand *x = &w->operand[result];
    int64_t inner = w->block_size / w->step[along], rows = 1;
    if (w->has_rows) {
        rows = w->step[w->contiguous_axes];
        inner /= rows;
    }
    if (w->blocks * w->block_size * x->item_size < SCATTERED_BYTES)
        return;
    int64_t ahead = (KN_LOOP_LINE / x->item_size + inner - 1) / inner;
    if (rows * inner * (w->step[along] + ahead) * bytes <= KN_LOOP_BUFFER) {
        w->along = along;
        w->ahead = ahead;
        w->lined = result;
    }
}

static bool are_alike(const kn_loop_nest *w, const kn_planned_operand *x, const kn_planned_operand *y)
{
    return x->is_packed && y->is_packed && x->kind == y->kind && x->item_size == y->item_size &&
           memcmp(x->stride, y->stride, (size_t)w->ndim * sizeof *x->stride) == 0;
}

static void place_buffers(kn_loop_nest *w)
{
    int at = 0;
    int64_t elements =
        w->broadcast_length ? w->broadcast_length : w->block_size / w->step[w->along] * (w->step[w->along] + w->ahead);
    for (int o = 0; o < w->n_operands; ++o) {
        kn_planned_operand *x = &w->operand[o];
        x->buffer_at = at;
        x->is_like_before = o > 0 && are_alike(w, &w->operand[o - 1], x);
        if (x->is_packed)
            at += (int)(elements * x->item_size + KN_LOOP_LINE - 1) / KN_LOOP_LINE * KN_LOOP_LINE;
    }
}

/* Elements of a call's run. */
static int64_t row_of(const kn_loop_nest *w)
{
    int64_t row = 1;
    for (int a = 0; a < w->contiguous_axes; ++a)
        row *= w->step[a];
    return row;
}

/* What goes to a buffer stays in the cache. Rows of results far apart are better stored past it well before
 * they are large. */
static int64_t size_to_show(const kn_loop_nest *w)
{
    int64_t bytes = 0;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind == KN_LOOP_OUTPUT && x->is_packed)
            return 0;
        if (x->kind == KN_LOOP_OUTPUT && w->has_rows && x->stride[w->contiguous_axes] != row_of(w) * x->item_size)
            bytes += w->blocks * w->block_size * x->item_size;
    }
    return bytes >= SCATTERED_BYTES ? INT64_MAX : -1;
}

/* Results in rows that are apart, and do not go past the caches, are asked for row by row. */
static bool may_go_together(const kn_loop_nest *w)
{
    bool may = w->rows_at >= 0 && w->has_rows;
    for (int o = 0; o < w->n_operands && w->shown_size < 0; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        may = may && (x->kind != KN_LOOP_OUTPUT || x->is_packed ||
                      x->stride[w->contiguous_axes] == row_of(w) * x->item_size);
    }
    return may;
}

/* What follows from the steps. */
static void settle(kn_loop_nest *w)
{
    w->ahead = 0;
    count_blocks(w);
    plan_lines(w);
    place_buffers(w);
    w->shown_size = size_to_show(w);
    w->is_together = may_go_together(w);
}

static void plan(kn_loop_nest *w)
{
    int turned = find_turned(w), channels = find_channels(w);
    if (turned > 0 && channels == turned && w->extent[0] >= LONG_RUN) {
        plan_channels(w, channels);
    } else if (turned > 0) {
        int place = place_turned(w, turned);
        if (!plan_pixels(w, place)) {
            plan_turned(w, place);
            join_rows(w);
        }
    } else {
        plan_plain(w);
    }
    settle(w);
}

kiln_status kn_loop_nest_create(kn_loop_nest **out, int ndim, const int64_t *extent, const kn_loop_nest_operand *given,
                           int n_operands, int rows_at)
{
    size_t size = sizeof(kn_loop_nest) + (size_t)n_operands * sizeof(kn_planned_operand);
    kn_loop_nest *w = kn_calloc(1, size);
    if (!w)
        return kn_error_memory(size, "a launch plan");
    w->ndim = ndim;
    w->n_operands = n_operands;
    w->rows_at = rows_at;
    w->pixels = -1;
    for (int a = 0; a < ndim; ++a)
        w->extent[a] = extent[ndim - 1 - a];
    for (int o = 0; o < n_operands; ++o) {
        w->operand[o] = (kn_planned_operand){.kind = given[o].kind,
                                    .block_at = given[o].block_at,
                                    .item_size = given[o].item_size,
                                    .is_kept = given[o].is_kept};
        for (int a = 0; a < ndim; ++a)
            w->operand[o].stride[a] = given[o].stride[ndim - 1 - a];
    }
    plan(w);
    *out = w;
    return KILN_OK;
}

/* Whether pixels are turned in squares of 16 bytes a side, which touch a line several times: not for stores
 * past the caches. */
static bool are_squares(int64_t channels, int item_size)
{
    return item_size < 8 && channels > 8 && channels % (16 / item_size) == 0;
}

/* Of pixels: a buffer would be a copy more. What is read and what is stored stay in the cache for as long as
 * it takes, which matters less where planes are read. */
void kn_loop_nest_copies(kn_loop_nest *w)
{
    const kn_planned_operand *x = &w->operand[0], *z = &w->operand[1];
    if (w->pixels < 0 || w->n_operands != 2 || x->kind != KN_LOOP_INPUT || !x->is_packed || z->is_packed ||
        w->blocks * w->block_size * z->item_size < SCATTERED_BYTES)
        return;
    int64_t channels = w->block_size / w->step[w->pixels], line = KN_LOOP_LINE / z->item_size,
            bytes = w->pixels > 0 ? JOINED_BYTES : NARROW_BYTES,
            pixels = bytes / z->item_size / channels / line * line;
    if (are_squares(channels, z->item_size))
        return;
    w->is_copy = true;
    w->step[w->pixels] = kn_least(pixels > line ? pixels : line, w->extent[w->pixels]);
    settle(w);
}

void kn_loop_nest_free(kn_loop_nest *walk)
{
    kn_free(walk);
}
