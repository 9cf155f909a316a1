/* space/loop_nest.c - plans the blocks, the rows and the buffers in which the host goes over a space. */
#include "space/loop_nest.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "space/numbers.h"

enum {
    TRANSPOSED_BYTES =
        4 * KN_LOOP_LINE, /* of an operand that is contiguous along another axis, read at a time */
    MOST_CHANNELS = 16,
    LONG_RANGE = 256,     /* elements: worth blocks of one range although something is broadcast along it */
    SHORT_RANGE = 64,     /* elements of a range, below which ranges are put together */
    MOST_BUFFERED = 1024, /* elements of a block, where nothing is transposed */
    BUFFERED_BYTES = 8 << 10, /* of such a block, where that is more */
    MOST_DIRECT = 16384,      /* elements of a block without buffers */
    NARROW_BYTES = 4 << 10,   /* of buffers of a block of interleaved channels: reads and stores past the
                                 caches alternate */
    CACHED_BYTES = 16 << 10,  /* the same of results that stay in the caches */
    JOINED_BYTES = 16 << 10,  /* of a block whose channels are interleaved without a buffer */
    SHORT_BYTES = 1 << 10,    /* of a row, below which it is short */
    FEWEST_IN_ROW = 4,        /* elements of rows that a kernel goes over as they lie, where of so many */
    FEWEST_APART = 2,         /* inputs rows do not follow each other */
    FEW_ROWS = 32,            /* take as long as what is done around a block */
    ROW_BYTES = 128,          /* of a row of several vectors */
    NEAR_BYTES = 2 << 10,     /* of an input that lie together and are read together */
    FEWEST_POSITIONS = 64,    /* of a block of interleaved channels, or ... */
    FEWEST_BYTES = 512,       /* ... of one channel of it */
    SMALL_BYTES = 1 << 20,    /* of results that stay in the second-level cache */
    SCATTERED_BYTES = 4 << 20 /* of results in rows, from which on they go past the caches */
};

/* True if the first `axes` axes, as many elements of each as `steps` says, are contiguous in memory. */
static bool is_contiguous(const kn_planned_operand *o, int axes, const int64_t *steps)
{
    int64_t expected = o->item_size;
    for (int a = 0; a < axes; ++a) {
        if (steps[a] > 1 && o->stride[a] != expected)
            return false;
        expected *= steps[a];
    }
    return true;
}

/* Indices always go through a buffer: their strides do not count bytes. */
static bool needs_buffer(const kn_planned_operand *o, int axes, const int64_t *steps)
{
    return o->kind == KN_LOOP_INDICES || (o->kind != KN_LOOP_IN_PLACE && !is_contiguous(o, axes, steps));
}

/* Bytes per element of the operands that are not contiguous along the first `axes` axes. */
static int packed_bytes(const kn_loop_nest *w, int axes, const int64_t *steps)
{
    int bytes = 0;
    for (int o = 0; o < w->n_operands; ++o)
        if (needs_buffer(&w->operand[o], axes, steps))
            bytes += w->operand[o].item_size;
    return bytes;
}

/* The axis along which an input is (nearly) contiguous whose elements along the first axis lie a line or more
 * apart; 0: there is none. */
static int find_transposed(const kn_loop_nest *w)
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

/* Moves axis `from` behind those that make up a range of some length. */
static int place_transposed(kn_loop_nest *w, int from)
{
    int to = 0;
    for (int64_t length = 1; to < from && (to == 0 || length < SHORT_RANGE); ++to)
        length *= w->extent[to];
    rotate_axes(w, to, from);
    return to;
}

/* The length of nearly equal parts; long parts are whole lines. */
static int64_t even_step(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    int64_t parts = (extent + most - 1) / most, step = (extent + parts - 1) / parts;
    return most < KN_LOOP_LINE ? step : kn_least(most, (step + 15) / 16 * 16);
}

/* Sets the block's extents along the first `axes` axes, together at most `elements`. */
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

static void plan_transposed(kn_loop_nest *w, int axis)
{
    int item_size = KN_LOOP_LINE, bytes = packed_bytes(w, axis, w->extent);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].kind == KN_LOOP_INPUT && kn_magnitude(w->operand[o].stride[0]) >= KN_LOOP_LINE)
            item_size = (int)kn_least(item_size, w->operand[o].item_size);
    int64_t across = kn_least(TRANSPOSED_BYTES / item_size, w->extent[axis]);
    while (across > KN_LOOP_LINE / item_size && across * bytes * SHORT_RANGE > KN_LOOP_BUFFER)
        across /= 2;
    while (across > 1 && across * bytes > KN_LOOP_BUFFER)
        across /= 2;
    w->step[axis] = across;
    w->contiguous_axes = axis;
    w->block_axes = axis + 1;
    int64_t length = most_elements(bytes) / across;
    set_steps(w, axis, length > 16 ? length / 16 * 16 : length);
    w->has_rows = true;
}

/* A block gets several rows: to begin a block takes as long as to copy a hundred elements. Where the results
 * are contiguous, the rows may lie along two axes. */
static void take_rows(kn_loop_nest *w, int64_t rows)
{
    w->block_axes = 2;
    w->has_rows = true;
    w->step[1] = kn_least(rows, w->extent[1]);
    rows /= w->step[1];
    bool joined = w->rows_at >= 0 && w->ndim > 2;
    for (int o = 0; o < w->n_operands; ++o)
        joined =
            joined && (w->operand[o].kind != KN_LOOP_OUTPUT || is_contiguous(&w->operand[o], 3, w->extent));
    if (!joined || rows < 2)
        return;
    w->block_axes = 3;
    w->has_groups = true;
    w->step[2] = kn_least(rows, w->extent[2]);
}

/* The narrow axis along which some input has a smaller stride than along the first: its channels are taken
 * together, so that each line that is read is used whole while it is in the cache. 0: there is none. */
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

/* Bytes of buffers of a block of interleaved channels. */
static int64_t narrow_bytes(const kn_loop_nest *w)
{
    int64_t results = 0, elements = 1;
    for (int a = 0; a < w->ndim; ++a)
        elements *= w->extent[a];
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].kind == KN_LOOP_OUTPUT)
            results += elements * w->operand[o].item_size;
    return results > SCATTERED_BYTES ? NARROW_BYTES : CACHED_BYTES;
}

/* Positions of a block of interleaved channels with `bytes` of buffers an element; without buffers as many as
 * with one byte. */
static int64_t most_positions(const kn_loop_nest *w, int bytes, int64_t channels)
{
    int64_t each = bytes > 0 ? bytes : 1,
            fewest = each < FEWEST_BYTES ? kn_least(FEWEST_POSITIONS, FEWEST_BYTES / each) : 1,
            positions = narrow_bytes(w) / (each * channels) / fewest * fewest;
    return positions > fewest ? positions : kn_least(fewest, KN_LOOP_BUFFER / (each * channels));
}

/* Blocks of all channels: a call for each. */
static void plan_channels(kn_loop_nest *w, int from)
{
    rotate_axes(w, 1, from);
    w->contiguous_axes = 1;
    w->block_axes = 2;
    w->has_rows = true;
    w->interleaved_axis = 0;
    w->step[1] = w->extent[1];
    set_steps(w, 1, most_positions(w, packed_bytes(w, 1, w->extent), w->extent[1]));
}

/* Interleaved channels along the first axes, where an input is contiguous along a later one: a call for all
 * positions of a block. */
static bool plan_interleaved(kn_loop_nest *w, int transposed)
{
    int64_t channels = 1;
    for (int a = 0; a < transposed; ++a)
        channels *= w->extent[a];
    if (channels > MOST_CHANNELS)
        return false;
    w->interleaved_axis = transposed;
    for (int a = 0; a < transposed; ++a)
        w->step[a] = w->extent[a];
    w->contiguous_axes = w->block_axes = transposed + 1;
    w->step[transposed] = kn_least(w->extent[transposed], KN_LOOP_LINE);
    int bytes = packed_bytes(w, transposed + 1, w->step);
    w->step[transposed] =
        even_step(w->extent[transposed], bytes ? most_positions(w, bytes, channels) : MOST_DIRECT / channels);
    return true;
}

/* The axis behind the first two along which an input has a smaller stride than from row to row, where rows
 * are short and the results' rows contiguous. 0: there is none. */
static int find_apart(const kn_loop_nest *w)
{
    int found = 0;
    const int64_t two[] = {w->extent[0], 2};
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind == KN_LOOP_OUTPUT &&
            (!is_contiguous(x, 2, two) || w->extent[0] * x->item_size >= SHORT_BYTES))
            return 0;
        for (int a = 2; a < w->ndim && x->kind == KN_LOOP_INPUT && x->stride[0] == x->item_size; ++a)
            if (x->stride[a] != 0 && kn_magnitude(x->stride[a]) < kn_magnitude(x->stride[1]))
                found = a;
    }
    return found;
}

/* Plans blocks along both axes, so that each line is read completely while it is cached: calls for longer
 * rows, with some operands in buffers. */
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

/* A long contiguous range beside operands that are broadcast along it: the range is cut into rows of one
 * call, and a buffer has the broadcast values of one row, which serve for all. */
static bool plan_broadcast(kn_loop_nest *w, int bytes)
{
    int64_t broadcast_length = kn_least(most_elements(bytes), MOST_BUFFERED);
    if (w->rows_at < 0 || w->extent[0] <= broadcast_length)
        return false;
    for (int o = 0; o < w->n_operands; ++o)
        if (needs_buffer(&w->operand[o], 1, w->extent) &&
            (w->operand[o].kind != KN_LOOP_INPUT || w->operand[o].stride[0] != 0))
            return false;
    w->contiguous_axes = w->block_axes = 1;
    w->broadcast_length = broadcast_length;
    w->step[0] = even_step(w->extent[0], MOST_DIRECT);
    return true;
}

static bool has_in_place(const kn_loop_nest *w)
{
    bool has = false;
    for (int o = 0; o < w->n_operands; ++o)
        has = has || w->operand[o].kind == KN_LOOP_IN_PLACE;
    return has;
}

/* Blocks of whole axes, as many as make up a range of some length. The last one is cut, unless all of it
 * makes no more than twice as much. */
static void plan_joined(kn_loop_nest *w)
{
    int axes = 1, bytes = packed_bytes(w, w->ndim, w->extent);
    int64_t length = w->extent[0], most = kn_most(MOST_BUFFERED, bytes > 0 ? BUFFERED_BYTES / bytes : 0);
    for (; axes < w->ndim && length < most; ++axes)
        length *= w->extent[axes];
    w->contiguous_axes = w->block_axes = axes;
    most = length <= 2 * most ? length : most;
    set_steps(w, axes, kn_least(most_elements(packed_bytes(w, axes, w->extent)), most));
}

static void plan_plain(kn_loop_nest *w)
{
    bool is_one_axis = has_in_place(w);
    if (w->ndim > 2 && !is_one_axis && find_apart(w) > 0 && plan_apart(w, find_apart(w)))
        return;
    int bytes = packed_bytes(w, 1, w->extent);
    int64_t inner = w->extent[0];
    if ((bytes == 0 && (inner >= SHORT_RANGE || is_one_axis)) || inner >= LONG_RANGE) {
        if (bytes > 0 && find_channels(w) > 0) {
            plan_channels(w, find_channels(w));
            return;
        }
        if (bytes > 0 && plan_broadcast(w, bytes))
            return;
        w->contiguous_axes = w->block_axes = 1;
        set_steps(w, 1, bytes ? kn_least(most_elements(bytes), MOST_BUFFERED) : MOST_DIRECT);
        if (bytes == 0 && w->ndim > 1 && inner <= MOST_DIRECT / 4)
            take_rows(w, MOST_DIRECT / inner);
        return;
    }
    plan_joined(w);
}

/* Rows too short to be worth a call each become one range, in buffers where they are not contiguous. */
static void join_rows(kn_loop_nest *w)
{
    int64_t row = 1;
    bool joined = true;
    for (int a = 0; a < w->contiguous_axes; ++a)
        row *= w->step[a];
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        bool fits = is_contiguous(x, w->block_axes, w->step);
        joined =
            joined && (fits || (x->kind == KN_LOOP_INPUT && !is_contiguous(x, w->contiguous_axes, w->step)) ||
                       (row < SHORT_RANGE / 2 && x->kind != KN_LOOP_COUNT));
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

/* Lets calls end where lines of the result do, where that pays. Blocks of a few thousand bytes would
 * otherwise store as many partial lines, each of which waits until the rest of the line is read. Buffers then
 * reach over a block's end. */
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
    if (along == w->contiguous_axes || bytes == 0 || result < 0 || w->operand[result].is_packed ||
        w->broadcast_length > 0)
        return;
    for (int o = 0; o < w->n_operands; ++o) /* in place, a call goes on into the next block */
        if (!w->operand[o].is_packed && !is_contiguous(&w->operand[o], along + 1, w->extent))
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
    int64_t elements = w->broadcast_length
                           ? w->broadcast_length
                           : w->block_size / w->step[w->along] * (w->step[w->along] + w->ahead);
    for (int o = 0; o < w->n_operands; ++o) {
        kn_planned_operand *x = &w->operand[o];
        x->buffer_at = at;
        x->is_like_before = o > 0 && are_alike(w, &w->operand[o - 1], x);
        if (x->is_packed)
            at += (int)(elements * x->item_size + KN_LOOP_LINE - 1) / KN_LOOP_LINE * KN_LOOP_LINE;
    }
}

/* Elements of a row. */
static int64_t row_of(const kn_loop_nest *w)
{
    int64_t row = 1;
    for (int a = 0; a < w->contiguous_axes; ++a)
        row *= w->step[a];
    return row;
}

/* Results in a buffer stay in the cache: 0. Rows of results that are not contiguous are better stored past it
 * well before they are large. */
static int64_t size_to_show(const kn_loop_nest *w)
{
    int64_t bytes = 0;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind == KN_LOOP_OUTPUT && x->is_packed)
            return 0;
        if (x->kind == KN_LOOP_OUTPUT && w->has_rows &&
            x->stride[w->contiguous_axes] != row_of(w) * x->item_size)
            bytes += w->blocks * w->block_size * x->item_size;
    }
    return bytes >= SCATTERED_BYTES ? INT64_MAX : -1;
}

/* Results whose rows are not contiguous, that do not go past the caches and are not small, are prefetched row
 * by row. */
static bool may_go_together(const kn_loop_nest *w)
{
    bool may = w->rows_at >= 0 && w->has_rows;
    for (int o = 0; o < w->n_operands && w->shown_size < 0; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        may = may && (x->kind != KN_LOOP_OUTPUT || x->is_packed || w->step[w->contiguous_axes] == 1 ||
                      w->blocks * w->block_size * x->item_size <= SMALL_BYTES ||
                      x->stride[w->contiguous_axes] == row_of(w) * x->item_size);
    }
    return may;
}

/* One block, of which nothing goes through buffers, and which is too small for stores past the caches. */
static bool is_one_call(const kn_loop_nest *w)
{
    bool is = w->blocks == 1 && w->rows_at >= 0 && w->shown_size < 0 && w->broadcast_length == 0 &&
              w->ahead == 0 && !w->is_copy && (w->is_together || !w->has_rows);
    for (int o = 0; o < w->n_operands; ++o)
        is = is && !w->operand[o].is_packed;
    return is;
}

static void plan_one_call(kn_loop_nest *w)
{
    int rows = w->contiguous_axes;
    w->is_one_call = is_one_call(w);
    w->row = row_of(w);
    w->one_call = (kn_loop_nest_rows){1, 1, w->one_call_step, 0, 0, 0};
    if (!w->is_one_call || !w->has_rows)
        return;
    w->one_call.count = w->block_size / w->row;
    w->one_call.group = w->has_groups ? w->extent[rows] : w->one_call.count;
    for (int o = 0; o < w->n_operands; ++o) {
        const int64_t *stride = w->operand[o].stride;
        w->one_call_step[o] = stride[rows];
        if (w->has_groups)
            w->one_call_step[w->n_operands + o] = stride[rows + 1] - (w->extent[rows] - 1) * stride[rows];
    }
}

/* Sets the members that follow from the blocks' extents. */
static void settle(kn_loop_nest *w)
{
    w->ahead = 0;
    count_blocks(w);
    plan_lines(w);
    place_buffers(w);
    w->shown_size = size_to_show(w);
    w->is_together = may_go_together(w);
    plan_one_call(w);
}

/* The axes up to this one are so short that a block has all of them. Large copies go past the caches. */
static bool fits_in_block(const kn_loop_nest *w, int axis)
{
    int64_t length = 1, size = 1;
    for (int a = 0; a < w->ndim; ++a) {
        size *= w->extent[a];
        length *= a <= axis ? w->extent[a] : 1;
    }
    return length <= MOST_BUFFERED / 2 &&
           (w->n_operands != 2 || size * w->operand[1].item_size < SCATTERED_BYTES);
}

static void plan(kn_loop_nest *w)
{
    int transposed = find_transposed(w), channels = find_channels(w);
    if (transposed > 0 && fits_in_block(w, transposed)) {
        plan_joined(w);
    } else if (transposed > 0 && channels == transposed && w->extent[0] >= LONG_RANGE) {
        plan_channels(w, channels);
    } else if (transposed > 0) {
        int place = place_transposed(w, transposed);
        if (!plan_interleaved(w, place)) {
            plan_transposed(w, place);
            join_rows(w);
        }
    } else {
        plan_plain(w);
    }
    settle(w);
}

kiln_status kn_loop_nest_create(kn_loop_nest **out, int ndim, const int64_t *extent,
                                const kn_loop_nest_operand *given, int n_operands, int rows_at)
{
    size_t size = sizeof(kn_loop_nest) + (size_t)n_operands * sizeof(kn_planned_operand),
           steps = 2 * (size_t)n_operands * sizeof(int64_t);
    kn_loop_nest *w = kn_calloc(1, size + steps);
    if (!w)
        return kn_error_memory("a launch plan");
    w->ndim = ndim;
    w->n_operands = n_operands;
    w->one_call_step = (int64_t *)(void *)((char *)w + size);
    w->rows_at = rows_at;
    w->interleaved_axis = -1;
    for (int a = 0; a < ndim; ++a)
        w->extent[a] = extent[ndim - 1 - a];
    for (int o = 0; o < n_operands; ++o) {
        w->operand[o] = (kn_planned_operand){.kind = given[o].kind,
                                             .block_at = given[o].block_at,
                                             .item_size = given[o].item_size,
                                             .is_inout = given[o].is_inout};
        for (int a = 0; a < ndim; ++a)
            w->operand[o].stride[a] = given[o].stride[ndim - 1 - a];
    }
    plan(w);
    *out = w;
    return KILN_OK;
}

/* True if channels are interleaved in squares of 16 bytes a side, which touch a line several times: not for
 * stores past the caches. */
static bool are_squares(int64_t channels, int item_size)
{
    return item_size < 8 && channels > 8 && channels % (16 / item_size) == 0;
}

/* Interleaved channels need no buffer, which would be one more copy. Blocks are small enough that reads and
 * stores stay in the cache, which matters less where the input has separate channels. */
void kn_loop_nest_copies(kn_loop_nest *w)
{
    const kn_planned_operand *x = &w->operand[0], *z = &w->operand[1];
    if (w->interleaved_axis < 0 || w->n_operands != 2 || x->kind != KN_LOOP_INPUT || !x->is_packed ||
        z->is_packed || w->blocks * w->block_size * z->item_size < SCATTERED_BYTES)
        return;
    int64_t channels = w->block_size / w->step[w->interleaved_axis], line = KN_LOOP_LINE / z->item_size,
            bytes = w->interleaved_axis > 0 ? JOINED_BYTES : NARROW_BYTES,
            positions = bytes / z->item_size / channels / line * line;
    if (are_squares(channels, z->item_size))
        return;
    w->is_copy = true;
    w->step[w->interleaved_axis] =
        kn_least(positions > line ? positions : line, w->extent[w->interleaved_axis]);
    settle(w);
}

/* True if one row serves for all: its buffer is filled once. */
static bool is_one_row(const kn_loop_nest *w, const kn_planned_operand *o)
{
    bool is_one = true;
    for (int a = 1; a < w->ndim; ++a)
        is_one = is_one && o->stride[a] == 0;
    return is_one;
}

/* True if rows that serve for all are better read as they lie than from buffers of many of them: to fill
 * these takes as long as to begin so many rows, and rows of several vectors gain nothing from them. */
static bool are_read_again(const kn_loop_nest *w, int repeated)
{
    int64_t rows = w->blocks * w->block_size / w->extent[0], bytes = INT64_MAX;
    for (int o = 0; o < w->n_operands; ++o)
        bytes = kn_least(bytes, w->extent[0] * w->operand[o].item_size);
    return repeated > 0 && (bytes >= ROW_BYTES || rows <= repeated * (FEW_ROWS + bytes * bytes / 16));
}

/* A copy of a short row to a buffer takes longer than it takes a kernel to begin a row. */
void kn_loop_nest_is_cheap(kn_loop_nest *w)
{
    int apart = 0, repeated = 0;
    bool is_plain = w->contiguous_axes > 1 && w->block_axes == w->contiguous_axes &&
                    w->interleaved_axis < 0 && w->rows_at >= 0 && w->extent[0] >= FEWEST_IN_ROW &&
                    packed_bytes(w, 1, w->extent) == 0;
    for (int o = 0; o < w->n_operands; ++o) {
        bool goes_on = is_contiguous(&w->operand[o], 2, w->extent);
        is_plain = is_plain && (goes_on || w->operand[o].kind == KN_LOOP_INPUT);
        bool is_one = !goes_on && is_one_row(w, &w->operand[o]);
        apart += !goes_on && !is_one;
        repeated += is_one;
    }
    if (!is_plain || (apart < FEWEST_APART && !are_read_again(w, repeated)))
        return;
    w->contiguous_axes = w->block_axes = 1;
    set_steps(w, 1, MOST_DIRECT);
    take_rows(w, MOST_DIRECT / w->extent[0]);
    settle(w);
}

void kn_loop_nest_free(kn_loop_nest *nest)
{
    kn_free(nest);
}
