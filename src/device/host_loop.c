/* Runs a kernel for contiguous elements over any layout: blocks are packed into buffers, and unpacked. */
#include "device/host_loop.h"

#include <string.h>

#include "device/host_move.h"
#include "device/host_threads.h"

enum {
    AHEAD = 8,              /* rows whose results are asked for early */
    LARGE_BYTES = 16 << 20, /* of results, from which on they go past the caches */
    BEHIND_BYTES = 4 << 20, /* behind another input: its elements are still cached */
    EARLY_BYTES = 2 << 10   /* of short rows, prefetched */
};

/* One thread's. */
typedef struct loop_state {
    const kn_loop_nest *loop_nest;
    kn_host_entry entry;
    char *block, *buffer;
    int64_t position[KILN_MAX_NDIM]; /* of the block, in blocks */
    int64_t count[KILN_MAX_NDIM];    /* steps of each of its axes */
    int64_t reach[KILN_MAX_NDIM];    /* the same for operands in buffers */
    int64_t row, rows;               /* elements of a block's run; runs */
    int64_t packed_row;              /* elements of a run in buffers */
    int64_t ahead;                   /* the loop nest's; 0 if all blocks begin with lines of the result */
    bool is_first, is_last;          /* of the thread's blocks */
    int64_t first[KN_MAX_OPERANDS];  /* the operand's first address or number */
    int64_t at[KN_MAX_OPERANDS];     /* its place in the block, from there */
    int64_t packed[KN_MAX_OPERANDS]; /* the place from which its buffer was filled */
    /* operands that are the channels of one array, from this one on; 0: it is one of those before */
    int interleaved[KN_MAX_OPERANDS];
    bool copies;                           /* blocks are moved, past the caches */
    bool is_fresh;                         /* buffers hold nothing of this shape yet */
    int64_t row_step[2 * KN_MAX_OPERANDS]; /* as kn_loop_nest_rows; so are the next three */
    uint64_t early, rows_early;
    int64_t how_early;
} loop_state;

/* True if a block's result, or a row of it, begins within a line. */
static bool splits_lines(const loop_state *v, int result)
{
    const kn_loop_nest *w = v->loop_nest;
    const kn_planned_operand *x = &w->operand[result];
    bool splits = v->first[result] % KN_LOOP_LINE != 0;
    for (int a = 0; a < w->ndim; ++a)
        splits = splits || (w->count[a] > 1 && w->step[a] * x->stride[a] % KN_LOOP_LINE != 0);
    return splits || (w->has_rows && x->stride[w->contiguous_axes] % KN_LOOP_LINE != 0);
}

/* The number of operands, from this one on, that are one element apart in the gaps of their common range.
 * Results count only if they fill it, since no other element may be written. */
static int count_interleaved(const loop_state *v, int o)
{
    const kn_loop_nest *w = v->loop_nest;
    const kn_planned_operand *x = &w->operand[o];
    int64_t pitch = x->is_packed && x->kind != KN_LOOP_INDICES ? x->stride[0] / x->item_size : 0;
    int count = 1;
    while (count < pitch && o + count < w->n_operands && w->operand[o + count].is_like_before &&
           v->first[o + count] - v->first[o + count - 1] == x->item_size)
        ++count;
    return x->kind == KN_LOOP_OUTPUT && count < pitch ? 1 : count;
}

/* True if this input reads what another input has read shortly before: both are views of one array at an
 * offset, and the later one needs no prefetch. */
static bool is_read_before(const loop_state *v, int o)
{
    const kn_loop_nest *w = v->loop_nest;
    bool is_read = false;
    for (int p = 0; p < w->n_operands; ++p)
        is_read = is_read || (w->operand[p].kind == KN_LOOP_INPUT && !w->operand[p].is_packed &&
                              v->first[p] > v->first[o] && v->first[p] - v->first[o] < BEHIND_BYTES);
    return is_read;
}

/* Inputs that are read in place and move from row to row: by rows where these are short and apart. */
static void set_early(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    int64_t row = 1;
    for (int a = 0; a < w->contiguous_axes; ++a)
        row *= w->step[a];
    v->early = v->rows_early = 0;
    v->how_early = 0;
    for (int o = 0; o < w->n_operands && o < 64; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        int64_t bytes = row * x->item_size, step = w->has_rows ? x->stride[w->contiguous_axes] : bytes;
        if (x->kind != KN_LOOP_INPUT || x->is_packed || (step < bytes && step > -bytes) ||
            is_read_before(v, o))
            continue;
        if (step > 0 && step <= bytes + bytes / 4) {
            v->early |= UINT64_C(1) << o;
        } else if (bytes < 2 * EARLY_BYTES) {
            v->rows_early |= UINT64_C(1) << o;
            v->how_early = 1 + EARLY_BYTES / bytes;
        }
    }
}

static void start_at(loop_state *v, int64_t block)
{
    const kn_loop_nest *w = v->loop_nest;
    for (int o = 0; o < w->n_operands; ++o) {
        memcpy(&v->first[o], v->block + w->operand[o].block_at, 8);
        v->at[o] = v->packed[o] = 0;
    }
    memset(v->interleaved, 0, (size_t)w->n_operands * sizeof *v->interleaved);
    for (int o = 0; o < w->n_operands; o += v->interleaved[o])
        v->interleaved[o] = count_interleaved(v, o);
    v->ahead = w->ahead > 0 && splits_lines(v, w->lined) ? w->ahead : 0;
    v->copies = w->is_copy && w->n_operands > 1 && kn_host_moves_past_caches(w->operand[1].item_size) &&
                !splits_lines(v, 1);
    set_early(v);
    memset(v->position, 0, sizeof v->position);
    memset(v->reach, 0, sizeof v->reach); /* no block has this shape: the first one is fresh */
    for (int a = 0; a < w->ndim; ++a) {
        v->position[a] = block % w->count[a];
        block /= w->count[a];
        for (int o = 0; o < w->n_operands; ++o)
            v->at[o] += v->position[a] * w->step[a] * w->operand[o].stride[a];
    }
}

static void advance(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    for (int a = 0; a < w->ndim; ++a) {
        bool wraps = ++v->position[a] == w->count[a];
        int64_t steps = wraps ? -(w->count[a] - 1) * w->step[a] : w->step[a];
        for (int o = 0; o < w->n_operands; ++o)
            v->at[o] += steps * w->operand[o].stride[a];
        if (!wraps)
            return;
        v->position[a] = 0;
    }
}

/* Blocks at the ends of the space are smaller. */
static void measure(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    v->is_fresh = false;
    v->row = v->rows = v->packed_row = 1;
    for (int a = 0; a < w->block_axes && a < w->ndim; ++a) {
        int64_t left = w->extent[a] - v->position[a] * w->step[a],
                count = left < w->step[a] ? left : w->step[a], reach = count;
        if (a == w->along && !v->is_last)
            reach = left < count + v->ahead ? left : count + v->ahead;
        if (w->broadcast_length > 0 && reach > w->broadcast_length)
            reach = w->broadcast_length;
        v->is_fresh = v->is_fresh || reach != v->reach[a];
        v->count[a] = count;
        v->reach[a] = reach;
        if (a < w->contiguous_axes) {
            v->row *= count;
            v->packed_row *= reach;
        } else {
            v->rows *= count;
        }
    }
}

static void put_indices(int64_t *to, int64_t first, const int64_t *stride, int axes, const int64_t *count)
{
    if (axes == 1) {
        for (int64_t k = 0, step = stride[0]; k < count[0]; ++k)
            to[k] = first + k * step;
        return;
    }
    int64_t inner = 1;
    for (int a = 0; a + 1 < axes; ++a)
        inner *= count[a];
    for (int64_t k = 0; k < count[axes - 1]; ++k, to += inner)
        put_indices(to, first + k * stride[axes - 1], stride, axes - 1, count);
}

/* Between memory and the buffers of an operand and those that are interleaved with it: they are one axis
 * more. */
static void move(const loop_state *v, int o, bool to_buffer)
{
    const kn_loop_nest *w = v->loop_nest;
    const kn_planned_operand *x = &w->operand[o];
    int axes = w->block_axes;
    int64_t count[KILN_MAX_NDIM + 1], dense[KILN_MAX_NDIM + 1], stride[KILN_MAX_NDIM + 1],
        step = x->item_size;
    char *buffer = v->buffer + x->buffer_at, *memory = (char *)(intptr_t)(v->first[o] + v->at[o]);
    for (int a = 0; a < axes; ++a) {
        count[a] = to_buffer ? v->reach[a] : v->count[a];
        stride[a] = x->stride[a];
        dense[a] = step;
        step *= v->reach[a];
    }
    if (v->interleaved[o] > 1) {
        count[axes] = v->interleaved[o];
        stride[axes] = x->item_size;
        dense[axes++] = w->operand[o + 1].buffer_at - x->buffer_at;
    }
    if (to_buffer)
        kn_host_move(buffer, dense, memory, stride, axes, count, x->item_size, false);
    else
        kn_host_move(memory, stride, buffer, dense, axes, count, x->item_size,
                     w->blocks * w->block_size * x->item_size * v->interleaved[o] >= LARGE_BYTES);
}

/* An input's buffer is filled again only if the input's place has moved. */
static void pack(loop_state *v, int o)
{
    const kn_planned_operand *x = &v->loop_nest->operand[o];
    if (!v->is_fresh && x->kind != KN_LOOP_OUTPUT && v->packed[o] == v->at[o])
        return;
    v->packed[o] = v->at[o];
    if (x->kind == KN_LOOP_INDICES)
        put_indices((int64_t *)(void *)(v->buffer + x->buffer_at), v->first[o] + v->at[o], x->stride,
                    v->loop_nest->block_axes, v->reach);
    else
        move(v, o, true);
}

/* Asks for the lines of a later row's results. */
static void fetch_results(const loop_state *v, int64_t row)
{
    const kn_loop_nest *w = v->loop_nest;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        if (x->kind != KN_LOOP_OUTPUT || x->is_packed ||
            x->stride[w->contiguous_axes] == v->row * x->item_size)
            continue; /* the processor prefetches contiguous data by itself */
        const char *at =
            (const char *)(intptr_t)(v->first[o] + v->at[o] + row * x->stride[w->contiguous_axes]);
        for (int64_t byte = 0; byte < v->row * x->item_size; byte += KN_LOOP_LINE)
            __builtin_prefetch(at + byte, 1);
    }
}

/* Elements from there to the next line. */
static int64_t to_line(int64_t address, int item_size)
{
    return (int64_t)(-(uint64_t)address % KN_LOOP_LINE) / item_size;
}

/* The part of row r that a call goes over: from line to line of the result, where the blocks before and
 * behind are this thread's too. */
static void find_lines(const loop_state *v, int64_t r, int64_t *begin, int64_t *end)
{
    const kn_loop_nest *w = v->loop_nest;
    *begin = 0;
    *end = v->row;
    if (v->ahead == 0)
        return;
    const kn_planned_operand *x = &w->operand[w->lined];
    int64_t at = v->first[w->lined] + v->at[w->lined] + (w->has_rows ? r * x->stride[w->contiguous_axes] : 0),
            before = to_line(at, x->item_size), behind = to_line(at + v->row * x->item_size, x->item_size);
    if (!v->is_first && v->position[w->along] > 0)
        *begin = before < v->row ? before : v->row;
    *end += behind < v->packed_row - v->row ? behind : v->packed_row - v->row;
}

/* The address of the operand's row r. */
static int64_t place_of(const loop_state *v, int o, int64_t r)
{
    const kn_loop_nest *w = v->loop_nest;
    const kn_planned_operand *x = &w->operand[o];
    if (x->is_packed)
        return (int64_t)(intptr_t)v->buffer + x->buffer_at + r * v->packed_row * x->item_size;
    return v->first[o] + v->at[o] + (w->has_rows ? r * x->stride[w->contiguous_axes] : 0);
}

/* `count` rows from r on, by their elements from `begin` on. */
static void call(loop_state *v, int64_t r, int64_t count, int64_t begin, int64_t end)
{
    const kn_loop_nest *w = v->loop_nest;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        int64_t place =
            place_of(v, o, r) + begin * (x->kind == KN_LOOP_IN_PLACE ? x->stride[0] : x->item_size);
        memcpy(v->block + w->operand[o].block_at, &place, 8);
    }
    if (w->rows_at >= 0) {
        const kn_loop_nest_rows rows = {count,         w->has_groups ? v->count[w->contiguous_axes] : count,
                                        v->row_step,   v->early,
                                        v->rows_early, v->how_early};
        memcpy(v->block + w->rows_at, &rows, sizeof rows);
    }
    v->entry(v->block, 0, end - begin);
}

/* Grouped rows are not packed. */
static void call_together(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    int64_t *between = v->row_step + w->n_operands;
    for (int o = 0; o < w->n_operands; ++o) {
        const kn_planned_operand *x = &w->operand[o];
        v->row_step[o] = x->is_packed ? v->packed_row * x->item_size : x->stride[w->contiguous_axes];
        if (w->has_groups)
            between[o] = x->stride[w->contiguous_axes + 1] -
                         (v->count[w->contiguous_axes] - 1) * x->stride[w->contiguous_axes];
    }
    call(v, 0, v->rows, 0, v->row);
}

/* Calls the kernel for rows of the broadcast length, and for the remainder. */
static void call_broadcast(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    int64_t rows = v->row / w->broadcast_length, left = v->row - rows * w->broadcast_length;
    for (int o = 0; o < w->n_operands; ++o)
        v->row_step[o] = w->operand[o].is_packed ? 0 : w->broadcast_length * w->operand[o].item_size;
    if (rows > 0)
        call(v, 0, rows, 0, w->broadcast_length);
    for (int o = 0; o < w->n_operands; ++o)
        v->at[o] += rows * v->row_step[o];
    if (left > 0)
        call(v, 0, 1, 0, left);
    for (int o = 0; o < w->n_operands; ++o)
        v->at[o] -= rows * v->row_step[o];
}

static void call_rows(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    if (w->broadcast_length > 0) {
        call_broadcast(v);
        return;
    }
    if (w->is_together && v->ahead == 0) {
        call_together(v);
        return;
    }
    for (int64_t r = 0; r < v->rows; ++r) {
        if (w->shown_size < 0 && r + AHEAD < v->rows)
            fetch_results(v, r + AHEAD);
        int64_t begin, end;
        find_lines(v, r, &begin, &end);
        if (end > begin)
            call(v, r, 1, begin, end);
    }
}

/* The result of a block, from its input. */
static void copy_block(const loop_state *v)
{
    const kn_planned_operand *from = &v->loop_nest->operand[0], *to = &v->loop_nest->operand[1];
    kn_host_move((char *)(intptr_t)(v->first[1] + v->at[1]), to->stride,
                 (const char *)(intptr_t)(v->first[0] + v->at[0]), from->stride, v->loop_nest->block_axes,
                 v->count, to->item_size, true);
}

static void run_block(loop_state *v)
{
    const kn_loop_nest *w = v->loop_nest;
    measure(v);
    if (v->copies) {
        copy_block(v);
        return;
    }
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].is_packed && v->interleaved[o] > 0 &&
            (w->operand[o].kind != KN_LOOP_OUTPUT || w->operand[o].is_inout))
            pack(v, o);
    call_rows(v);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].is_packed && v->interleaved[o] > 0 && w->operand[o].kind == KN_LOOP_OUTPUT)
            move(v, o, false);
}

typedef struct job {
    const kn_loop_nest *loop_nest;
    kn_host_entry entry;
    const void *block;
    size_t block_size;
} job;

static void run_blocks(void *user, int64_t begin, int64_t end)
{
    const job *j = user;
    _Alignas(KN_LOOP_LINE) char buffer[KN_LOOP_BUFFER + KN_MAX_OPERANDS * KN_LOOP_LINE];
    _Alignas(16) char block[j->block_size];
    loop_state v;
    v.loop_nest = j->loop_nest;
    v.entry = j->entry;
    v.block = block;
    v.buffer = buffer;
    memcpy(block, j->block, j->block_size);
    if (j->loop_nest->shown_size >= 0)
        memcpy(block, &j->loop_nest->shown_size, sizeof(int64_t)); /* it is the first field */
    start_at(&v, begin);
    for (int64_t b = begin; b < end; ++b) {
        v.is_first = b == begin;
        v.is_last = b + 1 == end;
        run_block(&v);
        advance(&v);
    }
    kn_host_settle();
}

/* The block has the addresses. */
static void run_one_call(const kn_loop_nest *w, kn_host_entry entry, const void *given, size_t size)
{
    _Alignas(16) char block[size];
    memcpy(block, given, size);
    memcpy(block + w->rows_at, &w->one_call, sizeof w->one_call);
    entry(block, 0, w->row);
}

void kn_host_loop_run(const kn_loop_nest *loop_nest, kn_host_entry entry, const void *block,
                      size_t block_size, int64_t grain)
{
    if (loop_nest->is_one_call) {
        run_one_call(loop_nest, entry, block, block_size);
        return;
    }
    job j = {loop_nest, entry, block, block_size};
    kn_host_parallel(loop_nest->blocks, (grain + loop_nest->block_size - 1) / loop_nest->block_size,
                     run_blocks, &j);
}
