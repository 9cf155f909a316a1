#include "device/host_walk.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/device.h"
#include "device/host_move.h"

enum {
    MAX_OPERANDS = 65,
    BUFFER_BYTES = 24 << 10, /* of all buffers together */
    LINE = 64,
    TURNED_BYTES = 4 * LINE, /* of an operand that runs along another axis, read at a time */
    LONG_RUN = 256,          /* elements: worth blocks of one run although something is broadcast along it */
    SHORT_RUN = 64,          /* fewer: runs are put together */
    MOST_BUFFERED = 1024,    /* elements of a block, where nothing is turned */
    MOST_DIRECT = 16384,
    SCATTERED_BYTES = 4 << 20, /* of results in rows, from which on they go past the caches */
    AHEAD = 8                  /* rows whose results are asked for early */
};

typedef struct operand {
    kn_walk_kind kind;
    int block_at, item_size;
    bool is_packed;
    int buffer_at;
    int64_t stride[KILN_MAX_NDIM]; /* fastest axis first */
} operand;

struct kn_host_walk {
    int ndim;
    int run_axes;  /* axes that one call of the kernel goes over ... */
    bool has_rows; /* ... or, one call for each of its steps, one more */
    int64_t
        shown_size; /* what kernels are told about the size, by which they choose how to store; -1: the truth */
    int block_axes;
    int64_t blocks, block_size; /* their number; elements of the largest */
    int64_t extent[KILN_MAX_NDIM], step[KILN_MAX_NDIM], pieces[KILN_MAX_NDIM];
    int n_operands;
    operand operand[];
};

/* ---- planning ---- */

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether steps of the first `axes` axes, as many of each as given, are one run in memory. */
static bool is_run(const operand *o, int axes, const int64_t *steps)
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
static bool needs_buffer(const operand *o, int axes, const int64_t *steps)
{
    return o->kind == KN_WALK_INDICES || !is_run(o, axes, steps);
}

/* Bytes an element of what is no run along so many steps of the first `axes` axes. */
static int packed_bytes(const kn_host_walk *w, int axes, const int64_t *steps)
{
    int bytes = 0;
    for (int o = 0; o < w->n_operands; ++o)
        if (needs_buffer(&w->operand[o], axes, steps))
            bytes += w->operand[o].item_size;
    return bytes;
}

/* The axis along which an input runs that jumps from line to line along the first; 0: there is none. */
static int find_turned(const kn_host_walk *w)
{
    int found = 0;
    int64_t best = LINE / 2 + 1;
    for (int o = 0; o < w->n_operands; ++o) {
        const operand *x = &w->operand[o];
        if (x->kind != KN_WALK_INPUT || magnitude(x->stride[0]) < LINE)
            continue;
        for (int a = 1; a < w->ndim; ++a)
            if (x->stride[a] != 0 && magnitude(x->stride[a]) < best && w->extent[a] >= 4) {
                best = magnitude(x->stride[a]);
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

/* Brings axis `from` to the place behind those that make up a run of some length. */
static int place_turned(kn_host_walk *w, int from)
{
    int to = 0;
    for (int64_t run = 1; to < from && (to == 0 || run < SHORT_RUN); ++to)
        run *= w->extent[to];
    rotate(w->extent, to, from);
    for (int o = 0; o < w->n_operands; ++o)
        rotate(w->operand[o].stride, to, from);
    return to;
}

/* Parts of nearly the same length, in whole lines where they are long. */
static int64_t even_step(int64_t extent, int64_t most)
{
    if (extent <= most)
        return extent;
    int64_t pieces = (extent + most - 1) / most, step = (extent + pieces - 1) / pieces;
    return most < LINE ? most : least(most, (step + 15) / 16 * 16);
}

/* Steps of the first `axes` axes that have together at most `elements`. */
static void set_steps(kn_host_walk *w, int axes, int64_t elements)
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
    int64_t most = bytes ? BUFFER_BYTES / bytes : MOST_DIRECT;
    return most > LINE ? most / LINE * LINE : most;
}

static void plan_turned(kn_host_walk *w, int axis)
{
    int item_size = LINE, bytes = packed_bytes(w, axis, w->extent);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].kind == KN_WALK_INPUT && magnitude(w->operand[o].stride[0]) >= LINE)
            item_size = (int)least(item_size, w->operand[o].item_size);
    int64_t across = least(TURNED_BYTES / item_size, w->extent[axis]);
    while (across > LINE / item_size && across * bytes * SHORT_RUN > BUFFER_BYTES)
        across /= 2;
    while (across > 1 && across * bytes > BUFFER_BYTES)
        across /= 2;
    w->step[axis] = across;
    w->run_axes = axis;
    w->block_axes = axis + 1;
    int64_t run = most_elements(bytes) / across;
    set_steps(w, axis, run > 16 ? run / 16 * 16 : run);
    w->has_rows = true;
}

static void plan_plain(kn_host_walk *w)
{
    int bytes = packed_bytes(w, 1, w->extent);
    int64_t inner = w->extent[0];
    if ((bytes == 0 && inner >= SHORT_RUN) || inner >= LONG_RUN) {
        w->run_axes = w->block_axes = 1;
        set_steps(w, 1, bytes ? least(most_elements(bytes), MOST_BUFFERED) : MOST_DIRECT);
        return;
    }
    int axes = 1;
    for (int64_t run = inner; axes < w->ndim && run < MOST_BUFFERED; ++axes)
        run *= w->extent[axes];
    w->run_axes = w->block_axes = axes;
    set_steps(w, axes, least(most_elements(packed_bytes(w, axes, w->extent)), MOST_BUFFERED));
}

/* Rows too short to be worth a call each become one run, in buffers where they are none. */
static void join_rows(kn_host_walk *w)
{
    int64_t row = 1;
    bool joined = true;
    for (int a = 0; a < w->run_axes; ++a)
        row *= w->step[a];
    for (int o = 0; o < w->n_operands; ++o) {
        const operand *x = &w->operand[o];
        bool fits = is_run(x, w->block_axes, w->step);
        joined = joined && (fits || (x->kind == KN_WALK_INPUT && !is_run(x, w->run_axes, w->step)) ||
                            (row < SHORT_RUN / 2 && x->kind != KN_WALK_COUNT));
    }
    int bytes = packed_bytes(w, w->block_axes, w->step);
    if (!joined || row * bytes > BUFFER_BYTES)
        return;
    while (w->step[w->run_axes] > 1 && row * w->step[w->run_axes] * bytes > BUFFER_BYTES)
        w->step[w->run_axes] /= 2;
    w->run_axes = w->block_axes;
    w->has_rows = false;
}

static void place_buffers(kn_host_walk *w)
{
    int at = 0;
    w->blocks = w->block_size = 1;
    for (int a = 0; a < w->ndim; ++a) {
        if (a >= w->block_axes)
            w->step[a] = 1;
        w->pieces[a] = (w->extent[a] + w->step[a] - 1) / w->step[a];
        w->blocks *= w->pieces[a];
        w->block_size *= w->step[a];
    }
    for (int o = 0; o < w->n_operands; ++o) {
        operand *x = &w->operand[o];
        x->is_packed = needs_buffer(x, w->run_axes, w->step);
        x->buffer_at = at;
        if (x->is_packed)
            at += (int)(w->block_size * x->item_size + LINE - 1) / LINE * LINE;
    }
}

/* What goes to a buffer stays in the cache. Rows of results far apart are better stored past it well before they are large. */
static int64_t size_to_show(const kn_host_walk *w)
{
    int64_t bytes = 0;
    for (int o = 0; o < w->n_operands; ++o) {
        const operand *x = &w->operand[o];
        if (x->kind == KN_WALK_OUTPUT && x->is_packed)
            return 0;
        if (x->kind == KN_WALK_OUTPUT && w->has_rows)
            bytes += w->blocks * w->block_size * x->item_size;
    }
    return bytes >= SCATTERED_BYTES ? INT64_MAX : -1;
}

static void plan(kn_host_walk *w)
{
    int turned = find_turned(w);
    if (turned > 0) {
        plan_turned(w, place_turned(w, turned));
        join_rows(w);
    } else {
        plan_plain(w);
    }
    place_buffers(w);
    w->shown_size = size_to_show(w);
}

kiln_status kn_host_walk_create(kn_host_walk **out, int ndim, const int64_t *extent,
                                const kn_walk_operand *given, int n_operands)
{
    size_t size = sizeof(kn_host_walk) + (size_t)n_operands * sizeof(operand);
    kn_host_walk *w = kn_calloc(1, size);
    if (!w)
        return kn_error_memory(size, "a launch plan");
    w->ndim = ndim;
    w->n_operands = n_operands;
    for (int a = 0; a < ndim; ++a)
        w->extent[a] = extent[ndim - 1 - a];
    for (int o = 0; o < n_operands; ++o) {
        w->operand[o] =
            (operand){.kind = given[o].kind, .block_at = given[o].block_at, .item_size = given[o].item_size};
        for (int a = 0; a < ndim; ++a)
            w->operand[o].stride[a] = given[o].stride[ndim - 1 - a];
    }
    plan(w);
    *out = w;
    return KILN_OK;
}

void kn_host_walk_free(kn_host_walk *walk)
{
    kn_free(walk);
}

/* ---- walking ---- */

/* One thread's. */
typedef struct walker {
    const kn_host_walk *walk;
    kn_host_entry entry;
    char *block, *buffer;
    int64_t piece[KILN_MAX_NDIM]; /* where the block is */
    int64_t count[KILN_MAX_NDIM]; /* steps of each of its axes */
    int64_t row, rows;            /* elements of a call; calls */
    int64_t first[MAX_OPERANDS];  /* the operand's first address or number */
    int64_t at[MAX_OPERANDS];     /* its place in the block, from there */
    int64_t packed[MAX_OPERANDS]; /* the place from which its buffer was filled */
    bool is_fresh;                /* buffers hold nothing of this shape yet */
} walker;

static void start_at(walker *v, int64_t block)
{
    const kn_host_walk *w = v->walk;
    for (int o = 0; o < w->n_operands; ++o) {
        memcpy(&v->first[o], v->block + w->operand[o].block_at, 8);
        v->at[o] = v->packed[o] = 0;
    }
    memset(v->piece, 0, sizeof v->piece);
    memset(v->count, 0, sizeof v->count); /* no block has this shape: the first one is fresh */
    for (int a = 0; a < w->ndim; ++a) {
        v->piece[a] = block % w->pieces[a];
        block /= w->pieces[a];
        for (int o = 0; o < w->n_operands; ++o)
            v->at[o] += v->piece[a] * w->step[a] * w->operand[o].stride[a];
    }
}

static void advance(walker *v)
{
    const kn_host_walk *w = v->walk;
    for (int a = 0; a < w->ndim; ++a) {
        bool wraps = ++v->piece[a] == w->pieces[a];
        int64_t steps = wraps ? -(w->pieces[a] - 1) * w->step[a] : w->step[a];
        for (int o = 0; o < w->n_operands; ++o)
            v->at[o] += steps * w->operand[o].stride[a];
        if (!wraps)
            return;
        v->piece[a] = 0;
    }
}

/* Blocks at the ends of the space are smaller. */
static void measure(walker *v)
{
    const kn_host_walk *w = v->walk;
    v->is_fresh = false;
    v->row = v->rows = 1;
    for (int a = 0; a < w->block_axes && a < w->ndim; ++a) {
        int64_t count = least(w->step[a], w->extent[a] - v->piece[a] * w->step[a]);
        v->is_fresh = v->is_fresh || count != v->count[a];
        v->count[a] = count;
        if (a < w->run_axes)
            v->row *= count;
        else
            v->rows *= count;
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

static void dense_strides(int64_t *stride, const walker *v, int item_size)
{
    stride[0] = item_size;
    for (int a = 1; a < v->walk->block_axes; ++a)
        stride[a] = stride[a - 1] * v->count[a - 1];
}

/* An input's buffer stays as it is while the place it was filled from does. */
static void pack(walker *v, int o)
{
    const operand *x = &v->walk->operand[o];
    int64_t dense[KILN_MAX_NDIM];
    char *buffer = v->buffer + x->buffer_at;
    if (!v->is_fresh && x->kind != KN_WALK_OUTPUT && v->packed[o] == v->at[o])
        return;
    v->packed[o] = v->at[o];
    if (x->kind == KN_WALK_INDICES) {
        put_indices((int64_t *)(void *)buffer, v->first[o] + v->at[o], x->stride, v->walk->block_axes,
                    v->count);
        return;
    }
    dense_strides(dense, v, x->item_size);
    kn_host_move(buffer, dense, (const char *)(intptr_t)(v->first[o] + v->at[o]), x->stride,
                 v->walk->block_axes, v->count, x->item_size);
}

static void unpack(walker *v, int o)
{
    const operand *x = &v->walk->operand[o];
    int64_t dense[KILN_MAX_NDIM];
    dense_strides(dense, v, x->item_size);
    kn_host_move((char *)(intptr_t)(v->first[o] + v->at[o]), x->stride, v->buffer + x->buffer_at, dense,
                 v->walk->block_axes, v->count, x->item_size);
}

/* Asks for the lines of a later row's results. */
static void fetch_results(const walker *v, int64_t row)
{
    const kn_host_walk *w = v->walk;
    for (int o = 0; o < w->n_operands; ++o) {
        const operand *x = &w->operand[o];
        if (x->kind != KN_WALK_OUTPUT || x->is_packed)
            continue;
        const char *at = (const char *)(intptr_t)(v->first[o] + v->at[o] + row * x->stride[w->run_axes]);
        for (int64_t byte = 0; byte < v->row * x->item_size; byte += LINE)
            __builtin_prefetch(at + byte, 1);
    }
}

static void call_rows(walker *v)
{
    const kn_host_walk *w = v->walk;
    for (int64_t r = 0; r < v->rows; ++r) {
        if (w->shown_size < 0 && r + AHEAD < v->rows)
            fetch_results(v, r + AHEAD);
        for (int o = 0; o < w->n_operands; ++o) {
            const operand *x = &w->operand[o];
            int64_t place = x->is_packed
                                ? (int64_t)(intptr_t)v->buffer + x->buffer_at + r * v->row * x->item_size
                                : v->first[o] + v->at[o] + (w->has_rows ? r * x->stride[w->run_axes] : 0);
            memcpy(v->block + x->block_at, &place, 8);
        }
        v->entry(v->block, 0, v->row);
    }
}

static void run_block(walker *v)
{
    const kn_host_walk *w = v->walk;
    measure(v);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].is_packed)
            pack(v, o);
    call_rows(v);
    for (int o = 0; o < w->n_operands; ++o)
        if (w->operand[o].is_packed && w->operand[o].kind == KN_WALK_OUTPUT)
            unpack(v, o);
}

typedef struct job {
    const kn_host_walk *walk;
    kn_host_entry entry;
    const void *block;
    size_t block_size;
} job;

static void run_blocks(void *user, int64_t begin, int64_t end)
{
    const job *j = user;
    _Alignas(LINE) char buffer[BUFFER_BYTES + MAX_OPERANDS * LINE];
    _Alignas(16) char block[j->block_size];
    walker v;
    v.walk = j->walk;
    v.entry = j->entry;
    v.block = block;
    v.buffer = buffer;
    memcpy(block, j->block, j->block_size);
    if (j->walk->shown_size >= 0)
        memcpy(block, &j->walk->shown_size, sizeof(int64_t)); /* it stands in front */
    start_at(&v, begin);
    for (int64_t b = begin; b < end; ++b) {
        run_block(&v);
        advance(&v);
    }
    kn_host_settle();
}

void kn_host_walk_run(const kn_host_walk *walk, kn_host_entry entry, const void *block, size_t block_size,
                      int64_t grain)
{
    job j = {walk, entry, block, block_size};
    kn_host_parallel(walk->blocks, (grain + walk->block_size - 1) / walk->block_size, run_blocks, &j);
}
