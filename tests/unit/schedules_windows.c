/* A model in C of what the windows kernel (src/schedules/transpose/windows.cu) does with the numbers that it
 * is given: random layouts, each block's chunks of 16 bytes, slots and ends of runs, thread by thread with
 * the steps that threads take. Memory is modelled by addresses: shared memory knows of each byte where it
 * came from, and what a result is computed from has to be what the strides say. */
#include "schedules/transpose/window_tiles.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "program/program.h"
#include "schedules/transpose/window_space.h"
#include "schedules/kinds.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum {
    MAX_RANK = 5,
    MAX_VIEWS = 4,
    CHUNK = 16,
    SHARED = 63 << 10,
    APART = 1 << 28, /* of the operands' addresses */
    FEWEST = 16384,
    MOST = 400000,
    LONGEST = 300,
    MOST_OF_LARGE = 24 << 20, /* whose tiles fill shared memory */
    LONGEST_OF_LARGE = 3000,
    SAMPLED = 4 /* blocks of a large space */
};

static uint64_t seed = 14, state_of_dice;

static int roll(int low, int high)
{
    state_of_dice = state_of_dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int)((state_of_dice >> 33) % (uint64_t)(high - low + 1));
}

static bool one_in(int times)
{
    return roll(1, times) == 1;
}

/* ---- a random call ---- */

/* Inputs first. The first input and the first result have the orders of the axes that the scene is about. */
typedef struct scene {
    int ndim, n_in, count;
    bool with_index, is_large;
    int64_t shape[MAX_RANK], strides[MAX_VIEWS][MAX_RANK];
    kn_view view[MAX_VIEWS];
    kn_access access[MAX_VIEWS];
    kn_space space;
    int64_t low[MAX_VIEWS], high[MAX_VIEWS]; /* addresses of its first byte and behind its last */
} scene;

static void shuffle(int *order, int count)
{
    for (int a = count; a-- > 1;) {
        int other = roll(0, a), swapped = order[a];
        order[a] = order[other];
        order[other] = swapped;
    }
}

static int64_t random_size(bool is_large)
{
    return is_large ? roll(MOST_OF_LARGE / 16, MOST_OF_LARGE)
                    : FEWEST + (one_in(8) ? roll(0, MOST - FEWEST) : roll(0, MOST / 8));
}

/* Extents of which the last is what makes the size right. */
static void random_shape(scene *s)
{
    int longest = s->is_large ? LONGEST_OF_LARGE : s->ndim == 2 ? 2 * LONGEST : LONGEST;
    int64_t rest = 0;
    while (rest < 8 || rest > 4 * longest) {
        rest = random_size(s->is_large);
        for (int a = 0; a + 1 < s->ndim; ++a) {
            s->shape[a] = roll(2, one_in(2) ? 40 : longest);
            rest /= s->shape[a];
        }
        s->shape[s->ndim - 1] = rest + 1;
    }
}

static void put_operand(scene *s, int v, int64_t item, int64_t address)
{
    bool is_output = v >= s->n_in;
    s->view[v] = (kn_view){s->shape, s->strides[v], s->ndim, is_output};
    s->access[v] = (kn_access){(int)item, (uintptr_t)address, is_output};
    s->low[v] = s->high[v] = address;
    for (int a = 0; a < s->ndim; ++a)
        *(s->strides[v][a] < 0 ? &s->low[v] : &s->high[v]) += s->strides[v][a] * (s->shape[a] - 1);
    s->high[v] += item;
}

/* Strides of a loop nest in this order, outermost first, with gaps here and there. */
static void lay_out(scene *s, int v, const int *order, int64_t item)
{
    bool is_output = v >= s->n_in;
    int64_t run = item, address = APART * (int64_t)(v + 1) + roll(0, 20) * item;
    for (int k = s->ndim; k-- > 0;) {
        int a = order[k];
        bool inner = k == s->ndim - 1;
        s->strides[v][a] = run;
        if (!is_output && !inner && one_in(10))
            s->strides[v][a] = 0;
        else
            run = (run * s->shape[a]) + (one_in(12) ? roll(1, 5) * item : 0);
        if (!inner && one_in(8))
            s->strides[v][a] *= -1;
    }
    put_operand(s, v, item, address);
}

static void make_space(scene *s)
{
    kn_space_make(&s->space, s->ndim, s->shape, 0, s->view, s->count, s->with_index);
    for (int v = 0; v < s->count; ++v)
        s->access[v].address += (uintptr_t)s->space.offset[v];
}

static void bring_in(int *order, int count, int axis)
{
    int at = 0;
    while (order[at] != axis)
        ++at;
    memmove(order + at, order + at + 1, (size_t)(count - 1 - at) * sizeof *order);
    order[count - 1] = axis;
}

/* A narrow axis lies innermost in the results, in the input, or in both. */
static void make_narrow(scene *s, const int *results, int *inputs)
{
    int axis = results[s->ndim - (one_in(3) && s->ndim > 2 ? 2 : 1)], other = axis;
    if (!one_in(3))
        bring_in(inputs, s->ndim, axis);
    s->shape[axis] = roll(2, 16);
    while (other == axis)
        other = results[roll(0, s->ndim - 1)];
    for (int64_t size = FEWEST; size > 0; size = size / 2) {
        int64_t all = 1;
        for (int a = 0; a < s->ndim; ++a)
            all *= s->shape[a];
        s->shape[other] = all < FEWEST ? 2 * s->shape[other] + roll(0, 1) : s->shape[other];
    }
}

static int64_t random_item(void)
{
    return INT64_C(1) << roll(0, 3);
}

/* Dice are thrown in an order that no compiler chooses: one statement for each, where two would be arguments
 * of one call. */
static void random_scene(scene *s, bool is_large)
{
    int results[MAX_RANK], inputs[MAX_RANK], others[MAX_RANK];
    int64_t item = INT64_C(1) << roll(0, 4);
    *s = (scene){.is_large = is_large};
    s->ndim = roll(2, MAX_RANK);
    s->n_in = one_in(4) ? 2 : 1;
    s->with_index = one_in(4);
    s->count = s->n_in + (one_in(6) ? 2 : 1);
    random_shape(s);
    for (int a = 0; a < s->ndim; ++a)
        results[a] = inputs[a] = others[a] = a;
    shuffle(results, s->ndim);
    shuffle(others, s->ndim);
    memcpy(inputs, results, sizeof inputs);
    if (one_in(2)) {
        shuffle(inputs, s->ndim);
    } else {
        inputs[s->ndim - 1] = results[s->ndim - 2];
        inputs[s->ndim - 2] = results[s->ndim - 1];
    }
    if (s->ndim > 2 && !one_in(4))
        make_narrow(s, results, inputs);
    lay_out(s, 0, inputs, one_in(5) ? 1 << roll(0, 4) : item);
    if (s->n_in == 2) {
        const int *order = one_in(2) ? results : others;
        lay_out(s, 1, order, random_item());
    }
    for (int v = s->n_in; v < s->count; ++v)
        lay_out(s, v, results, v == s->n_in ? item : random_item());
    make_space(s);
}

/* ---- what is modelled ---- */

typedef struct model {
    const scene *s;
    kn_schedule schedule;
    kn_target target;
    kn_windows w;
    kn_space tiles;
    kn_divider divider[KILN_MAX_NDIM]; /* of the boxes' axes, innermost first as the kernel has them */
    int shared_bytes, staged;
    uint32_t vector;
    int32_t shared[SHARED]; /* the address that each byte came from; 0: none */
    unsigned char
        *chunks; /* of the staged input: whether each 16 bytes hold any of its elements; NULL: all */
    unsigned char *stored; /* of the first result's memory: whether each element is stored */
    int64_t n_stored;
} model;

static void describe(const model *m)
{
    const kn_space *p = &m->s->space;
    print_message("access \"%s\", vector %u, index %d\n", m->schedule.access, m->vector, p->indices);
    for (int a = 0; a < p->ndim; ++a) {
        print_message("  extent %lld, strides", (long long)p->extent[a]);
        for (int o = 0; o < p->n_operands; ++o)
            print_message(" %lld", (long long)p->stride[o][a]);
        print_message("\n");
    }
    for (int v = 0; v < m->s->count; ++v)
        print_message("  operand %d: %d bytes, address %llu\n", v, m->s->access[v].item_size,
                      (unsigned long long)m->s->access[v].address);
    print_message("  %s, run %u rows %u of %u and %u, slots %u pitch %u step %u\n",
                  m->w.crossed ? "crossed" : "straight", m->w.run, m->w.rows, m->w.run_size, m->w.n_rows,
                  m->w.slots, m->w.pitch, m->w.step);
}

static void check(const model *m, bool ok, const char *what)
{
    if (ok)
        return;
    describe(m);
    fail_msg("%s", what);
}

static int64_t chunk_number(const model *m, int64_t address)
{
    return address / CHUNK - m->s->low[m->staged] / CHUNK;
}

static int64_t extent_of(const model *m, int axis)
{
    return m->tiles.extent[m->tiles.ndim - 1 - axis];
}

static int64_t stride_of(const model *m, int axis, int operand)
{
    return m->tiles.stride[operand][m->tiles.ndim - 1 - axis];
}

static uint32_t divide(const model *m, uint32_t n, int axis)
{
    check(m, n < UINT32_C(0x80000000), "a dividend of more than 31 bits");
    return kn_divider_apply(&m->divider[axis], n);
}

/* Bytes from each operand's origin; 32 bits that wrap, as in the kernel. */
typedef struct place {
    uint32_t at[MAX_VIEWS + 1];
} place;

static void move(const model *m, place *p, int axis, uint32_t steps)
{
    for (int o = 0; o < m->tiles.n_operands; ++o)
        p->at[o] += (uint32_t)stride_of(m, axis, o) * steps;
}

/* The address; the value of the index. */
static int64_t origin(const model *m, int o)
{
    return o < m->s->count ? (int64_t)m->s->access[o].address : m->s->space.offset[o];
}

static int64_t address_at(const model *m, const place *p, int o)
{
    return origin(m, o) + (int32_t)p->at[o];
}

/* ---- memory ---- */

static void copy_chunk(model *m, uint32_t to, int64_t from)
{
    int64_t chunk = chunk_number(m, from);
    check(m, to % CHUNK == 0 && from % CHUNK == 0, "a chunk is not aligned");
    check(m, to + CHUNK <= (uint32_t)m->shared_bytes, "a chunk is outside of shared memory");
    check(m,
          from / CHUNK * CHUNK == from && chunk >= 0 && from < m->s->high[m->staged] &&
              (!m->chunks || m->chunks[chunk]),
          "a chunk is read that holds no element");
    for (uint32_t b = 0; b < CHUNK; ++b) {
        check(m, m->shared[to + b] == 0, "two chunks are in one place");
        m->shared[to + b] = (int32_t)(from + b);
    }
}

/* The address from which what is read here was staged. */
static int64_t take(const model *m, uint32_t from)
{
    uint32_t item = (uint32_t)m->s->access[m->staged].item_size;
    check(m, from % item == 0, "an element in shared memory is not aligned");
    check(m, from + item <= (uint32_t)m->shared_bytes, "an element is outside of shared memory");
    for (uint32_t b = 0; b < item; ++b)
        check(m, m->shared[from] != 0 && m->shared[from + b] == m->shared[from] + (int32_t)b,
              "an element was not staged whole");
    return m->shared[from];
}

/* The steps along each axis of the space that lead to a place of the first result. */
static void find_element(const model *m, int64_t address, int64_t *steps)
{
    const kn_space *s = &m->s->space;
    int result = m->s->n_in;
    int64_t rest = address - (int64_t)m->s->access[result].address;
    for (int a = 0; a < s->ndim; ++a) {
        steps[a] = rest / s->stride[result][a];
        rest -= steps[a] * s->stride[result][a];
        check(m, steps[a] >= 0 && steps[a] < s->extent[a], "a result is stored outside of its array");
    }
    check(m, rest == 0, "something is stored between the results");
}

static void put_result(model *m, const place *here, const int64_t *to, int64_t staged_from)
{
    const kn_space *s = &m->s->space;
    int result = m->s->n_in;
    int64_t steps[KILN_MAX_NDIM];
    find_element(m, to[result], steps);
    for (int o = 0; o < s->n_operands; ++o) {
        bool is_result = o >= result && o < m->s->count;
        int64_t expected = origin(m, o), at = is_result        ? to[o]
                                              : o == m->staged ? staged_from
                                                               : address_at(m, here, o);
        for (int a = 0; a < s->ndim; ++a)
            expected += steps[a] * s->stride[o][a];
        check(m, at == expected,
              o == m->staged ? "a result is computed from another element that is staged"
                             : "what is gathered or another result is elsewhere");
    }
    unsigned char *stored = &m->stored[(to[result] - m->s->low[result]) / m->s->access[result].item_size];
    check(m, !*stored, "a result is stored twice");
    *stored = 1;
    ++m->n_stored;
}

/* ---- one block ---- */

typedef struct block {
    place corner;
    uint32_t run, row, from, to, rows, x0, p0, x_step, q_step, phase;
} block;

/* The axes of a tile, innermost first. */
enum { P, X, Q, Q2, BOXES, MORE_BOXES, OUTER };

static void start_block(const model *m, block *b, uint32_t index)
{
    uint32_t rest = divide(m, index, BOXES), outer = divide(m, rest, MORE_BOXES), item;
    uint32_t near = index - rest * (uint32_t)extent_of(m, BOXES),
             far = rest - outer * (uint32_t)extent_of(m, MORE_BOXES);
    *b = (block){.run = (m->w.rows_first ? far : near) * m->w.run,
                 .row = (m->w.rows_first ? near : far) * m->w.rows};
    rest = outer;
    for (int a = OUTER; a < m->tiles.ndim; ++a, rest = outer) {
        outer = divide(m, rest, a);
        move(m, &b->corner, a, rest - outer * (uint32_t)extent_of(m, a));
    }
    check(m, rest == 0, "there are too many blocks");
    item = (uint32_t)m->s->access[m->staged].item_size;
    b->from = b->run < m->vector - 1 ? 0 : b->run - (m->vector - 1);
    b->to = b->run + m->w.run < m->w.run_size ? b->run + m->w.run : m->w.run_size;
    b->rows = m->w.rows < m->w.n_rows - b->row ? m->w.rows : m->w.n_rows - b->row;
    check(m, b->from < b->to && b->row < m->w.n_rows, "a block has nothing to do");
    b->x0 = divide(m, b->from, P);
    b->p0 = m->w.crossed || m->w.shared ? 0 : b->from - b->x0 * (uint32_t)extent_of(m, P);
    b->x_step = m->w.crossed ? item : m->w.step;
    b->q_step = m->w.crossed ? m->w.step : m->w.column;
}

/* ---- staging ---- */

/* Where a thread begins in the rows of the input and how it goes on. */
typedef struct rows_visited {
    int64_t at, at_step, at_carry;
    uint32_t here, here_step, here_carry, p, n, turn, count, bytes;
} rows_visited;

static void start_rows(const model *m, block *b, rows_visited *r, uint32_t thread)
{
    bool crossed = m->w.crossed, shared = m->w.shared;
    int p = shared ? X : P, s = crossed ? Q : X;
    uint32_t extent = (uint32_t)extent_of(m, p),
             begin = crossed  ? 0
                     : shared ? b->x0
                              : b->from,
             s0 = crossed || shared ? 0 : b->x0, p0 = shared ? b->x0 : b->p0,
             item = (uint32_t)m->s->access[m->staged].item_size, pitch = shared ? m->w.step : m->w.pitch;
    int64_t p_stride = stride_of(m, p, m->staged), s_stride = shared ? 0 : stride_of(m, s, m->staged);
    r->n = thread >> m->w.chunk_lanes;
    r->turn = (uint32_t)m->schedule.block >> m->w.chunk_lanes;
    r->count = crossed ? b->rows * extent : shared ? divide(m, b->to - 1, P) + 1 - b->x0 : b->to - b->from;
    uint32_t s1 = divide(m, begin + r->n, p);
    r->p = begin + r->n - s1 * extent;
    r->at = address_at(m, &b->corner, m->staged) + stride_of(m, Q, m->staged) * b->row +
            (crossed ? b->x0 * item : 0);
    b->phase = (uint32_t)(r->at + p0 * p_stride + s0 * s_stride) & (CHUNK - 1);
    r->at += r->p * p_stride + s1 * s_stride;
    r->here = (r->p - p0) * pitch + (s1 - s0) * m->w.step + b->phase;
    r->at_step = m->w.p_step * p_stride + m->w.p2_step * s_stride;
    r->at_carry = r->at_step + s_stride - extent * p_stride;
    r->here_step = m->w.p_step * pitch + m->w.p2_step * m->w.step;
    r->here_carry = r->here_step + m->w.step - extent * pitch;
    r->bytes = crossed ? (divide(m, b->to - 1, P) + 1 - b->x0) * item : b->rows * m->w.column;
}

static void stage_thread(model *m, block *b, uint32_t thread)
{
    rows_visited start;
    uint32_t extent = (uint32_t)extent_of(m, m->w.shared ? X : P);
    start_rows(m, b, &start, thread);
    for (uint32_t chunk = CHUNK * (thread & ((1u << m->w.chunk_lanes) - 1)); chunk < start.bytes + CHUNK - 1;
         chunk += CHUNK << m->w.chunk_lanes) {
        rows_visited r = start;
        for (; r.n < r.count; r.n += r.turn) {
            uint32_t off = r.here & (CHUNK - 1);
            if (chunk < r.bytes + off)
                copy_chunk(m, chunk + r.here - off, r.at + chunk - off);
            r.p += m->w.p_step;
            bool carry = r.p >= extent;
            r.p -= carry ? extent : 0;
            r.at += carry ? r.at_carry : r.at_step;
            r.here += carry ? r.here_carry : r.here_step;
        }
    }
}

/* ---- slots ---- */

/* By how many elements the vectors of the first result begin early. */
static uint32_t misalignment_at(const model *m, const place *p)
{
    int result = m->s->n_in;
    return (uint32_t)(address_at(m, p, result) / m->s->access[result].item_size) % m->vector;
}

static void check_vectors(const model *m, const int64_t *to)
{
    for (int o = m->s->n_in; o < m->s->count; ++o) {
        uint32_t bytes = m->vector * (uint32_t)m->s->access[o].item_size;
        check(m, to[o] % (bytes < CHUNK ? bytes : CHUNK) == 0, "a vector is not aligned");
    }
}

static void find_results(const model *m, const place *here, int64_t *to)
{
    for (int o = m->s->n_in; o < m->s->count; ++o)
        to[o] = address_at(m, here, o);
}

/* The same where runs go on along their second axis every few elements; t: the slot's first one, r: its run.
 */
static void store_short(model *m, const block *b, const place *slot_at, uint32_t t, uint32_t pt, uint32_t r)
{
    uint32_t extent = (uint32_t)extent_of(m, P), first = t - misalignment_at(m, slot_at),
             x = divide(m, first, P), p = first - x * extent, left = extent - p;
    uint32_t from = b->phase + (p - b->p0) * m->w.pitch + (x - b->x0) * b->x_step + r * b->q_step;
    place here = *slot_at;
    int64_t to[MAX_VIEWS];
    move(m, &here, P, p - pt);
    move(m, &here, X, x - divide(m, t, P));
    find_results(m, &here, to);
    check_vectors(m, to);
    for (uint32_t k = 0; k < m->vector; ++k) {
        put_result(m, &here, to, take(m, from));
        for (int o = m->s->n_in; o < m->s->count; ++o)
            to[o] += m->s->access[o].item_size;
        bool ends = --left == 0;
        from += m->w.pitch + (ends ? b->x_step - extent * m->w.pitch : 0);
        left = ends ? extent : left;
        move(m, &here, P, 1);
        if (ends) {
            move(m, &here, P, -extent);
            move(m, &here, X, 1);
        }
    }
}

/* slot_at, transposed: of the slot's first element if no run were early. */
static void store_slot(model *m, const block *b, const place *slot_at, uint32_t pt, uint32_t transposed)
{
    uint32_t extent = (uint32_t)extent_of(m, P), misalignment = misalignment_at(m, slot_at),
             on = b->x_step - extent * m->w.pitch, left = extent - pt + misalignment;
    place here = *slot_at;
    int64_t to[MAX_VIEWS];
    transposed -= misalignment * m->w.pitch;
    move(m, &here, P, -misalignment);
    find_results(m, &here, to);
    check_vectors(m, to);
    if (left > extent) {
        left -= extent;
        transposed -= on;
        move(m, &here, P, extent);
        move(m, &here, X, ~0u);
    }
    for (uint32_t k = 0; k < m->vector; ++k) {
        put_result(m, &here, to,
                   take(m, (k == 0 || k < left ? transposed : transposed + on) + k * m->w.pitch));
        for (int o = m->s->n_in; o < m->s->count; ++o)
            to[o] += m->s->access[o].item_size;
        move(m, &here, P, 1);
        if (k + 1 == left) {
            move(m, &here, P, -extent);
            move(m, &here, X, 1);
        }
    }
}

static bool is_narrow(const model *m)
{
    return kn_transpose_config_of(&m->schedule)->narrow_axis;
}

/* All runs of one slot that are this thread's; r0, q0: the first of them, and its place along the first axis
 * of the runs. */
static void store_slots(model *m, const block *b, place slot_at, uint32_t slot, uint32_t r0, uint32_t q0)
{
    uint32_t t = b->run + slot * m->vector, xt = divide(m, t, P), pt = t - xt * (uint32_t)extent_of(m, P);
    uint32_t turn = UINT32_C(1) << m->w.row_lanes, rows = (uint32_t)extent_of(m, Q);
    uint32_t transposed = b->phase + (pt - b->p0) * m->w.pitch + (xt - b->x0) * b->x_step + r0 * b->q_step;
    move(m, &slot_at, P, pt);
    move(m, &slot_at, X, xt);
    for (uint32_t r = r0; r < b->rows; r += turn) {
        int32_t first = (int32_t)t - (int32_t)misalignment_at(m, &slot_at);
        if (first >= 0 && first + (int32_t)m->vector <= (int32_t)m->w.run_size) {
            if (is_narrow(m))
                store_short(m, b, &slot_at, t, pt, r);
            else
                store_slot(m, b, &slot_at, pt, transposed);
        }
        transposed += turn * b->q_step;
        move(m, &slot_at, Q, m->w.q_step);
        move(m, &slot_at, Q2, m->w.q2_step);
        q0 += m->w.q_step;
        if (q0 >= rows) {
            q0 -= rows;
            move(m, &slot_at, Q, -rows);
            move(m, &slot_at, Q2, 1);
        }
    }
}

static void slots_thread(model *m, const block *b, uint32_t thread)
{
    uint32_t r0 = thread >> m->w.slot_lanes;
    uint32_t q2 = divide(m, b->row + r0, Q), q = b->row + r0 - q2 * (uint32_t)extent_of(m, Q);
    place corner = b->corner;
    move(m, &corner, Q, q);
    move(m, &corner, Q2, q2);
    for (uint32_t slot = thread & ((1u << m->w.slot_lanes) - 1); slot < m->w.slots;
         slot += 1u << m->w.slot_lanes)
        store_slots(m, b, corner, slot, r0, q);
}

/* ---- beginnings and ends of runs ---- */

/* One element of one run's first or last slot, unless that is full or another box's. */
static void store_end(model *m, const block *b, bool is_end, uint32_t r, uint32_t k)
{
    uint32_t q2 = divide(m, b->row + r, Q), q = b->row + r - q2 * (uint32_t)extent_of(m, Q);
    int32_t vector = (int32_t)m->vector, size = (int32_t)m->w.run_size;
    int64_t to[MAX_VIEWS];
    place here = b->corner;
    move(m, &here, Q, q);
    move(m, &here, Q2, q2);
    int32_t misalignment = (int32_t)misalignment_at(m, &here),
            first = (is_end ? (size + misalignment) / vector * vector : 0) - misalignment,
            t = first + (int32_t)k;
    int32_t begin = (int32_t)b->run - (int32_t)((b->run + (uint32_t)misalignment) % m->vector);
    if (t < 0 || t >= size || first < begin || first >= begin + (int32_t)m->w.run ||
        (is_end ? first < 0 : misalignment == 0))
        return;
    uint32_t x = divide(m, (uint32_t)t, P), p = (uint32_t)t - x * (uint32_t)extent_of(m, P);
    move(m, &here, P, p);
    move(m, &here, X, x);
    find_results(m, &here, to);
    put_result(m, &here, to,
               take(m, b->phase + (p - b->p0) * m->w.pitch + (x - b->x0) * b->x_step + r * b->q_step));
}

static void store_ends(model *m, const block *b)
{
    for (int is_end = b->run > 0; is_end <= (b->run + m->w.run + m->vector > m->w.run_size); ++is_end)
        for (uint32_t n = 0; n < b->rows * m->vector; ++n)
            store_end(m, b, is_end, n / m->vector, n % m->vector);
}

/* ---- all blocks ---- */

static void run_block(model *m, uint32_t index)
{
    uint32_t threads = (uint32_t)m->schedule.block;
    block b;
    start_block(m, &b, index);
    memset(m->shared, 0, (size_t)m->shared_bytes * sizeof *m->shared);
    for (uint32_t t = 0; t < threads; ++t)
        stage_thread(m, &b, t);
    for (uint32_t t = 0; t < threads; ++t)
        slots_thread(m, &b, t);
    store_ends(m, &b);
}

/* All blocks, or of large spaces the first, the last and some between. */
static void run_kernel(model *m)
{
    int64_t blocks = kn_windows_count(&m->tiles), parts = blocks - 1;
    if (m->s->is_large && parts > SAMPLED)
        parts = SAMPLED;
    run_block(m, 0);
    for (int64_t k = 1; k <= parts; ++k)
        run_block(m, (uint32_t)((blocks - 1) * k / parts));
}

static void mark_chunks(model *m)
{
    const kn_space *s = &m->s->space;
    int64_t steps[KILN_MAX_NDIM] = {0}, at = origin(m, m->staged);
    const int64_t *stride = s->stride[m->staged];
    for (int64_t n = 0; n < s->size; ++n) {
        m->chunks[chunk_number(m, at)] = 1;
        for (int a = s->ndim; a-- > 0;) {
            at += stride[a];
            if (++steps[a] < s->extent[a])
                break;
            at -= stride[a] * s->extent[a];
            steps[a] = 0;
        }
    }
}

static bool is_congruent(int64_t a, int64_t b)
{
    return (a - b) % CHUNK == 0;
}

static void check_numbers(const model *m)
{
    const kn_windows *w = &m->w;
    check(m, m->shared_bytes > 0 && m->shared_bytes <= SHARED, "too much shared memory");
    check(m,
          w->shared ? w->pitch == stride_of(m, P, m->staged)
                    : is_congruent(w->pitch, stride_of(m, P, m->staged)),
          "the pitch is not the stride's");
    check(m, is_congruent(w->step, stride_of(m, w->crossed ? Q : X, m->staged)),
          "the step is not the stride's");
    check(m, w->slots > 0 && w->run == w->slots * m->vector, "a box's run is not whole slots");
    check(m, w->slot_lanes + w->row_lanes < 32 && 1 << (w->slot_lanes + w->row_lanes) == m->schedule.block,
          "lanes are not the block's threads");
    check(m, 1 << w->chunk_lanes <= m->schedule.block, "too many lanes");
    check(m, w->run_size == extent_of(m, P) * extent_of(m, X), "the runs' size");
    check(m, w->n_rows == extent_of(m, Q) * extent_of(m, Q2), "the number of runs");
    check(m, m->tiles.ndim <= m->schedule.rank, "too many axes");
}

static void check_windows(model *m, int axis)
{
    const scene *s = m->s;
    m->vector = (uint32_t)m->schedule.vector;
    m->staged = (int)(strchr(m->schedule.access, KN_STAGED) - m->schedule.access);
    const kn_spec spec = {.schedule = m->schedule, .target = m->target};
    kn_windows_make(&m->w, &m->tiles, &m->shared_bytes, &s->space, &spec, s->access, axis);
    for (int a = 0; a < m->tiles.ndim; ++a)
        m->divider[a] = kn_divider_make((uint32_t)extent_of(m, a));
    check_numbers(m);
    m->n_stored = 0;
    m->stored = calloc((size_t)((s->high[s->n_in] - s->low[s->n_in]) / s->access[s->n_in].item_size), 1);
    m->chunks = s->is_large ? NULL : calloc((size_t)chunk_number(m, s->high[m->staged]) + 1, 1);
    assert_true(m->stored && (m->chunks || s->is_large));
    if (m->chunks)
        mark_chunks(m);
    run_kernel(m);
    check(m, s->is_large || m->n_stored == s->space.size, "some results are not stored");
    free(m->chunks);
    free(m->stored);
}

/* A launch that is cut: what was chosen for the whole holds for each half. False where the space cannot be
 * cut along the axis. */
static bool check_halves(model *m, int tile_axis, int cut_axis)
{
    const scene *whole = m->s;
    bool inner = cut_axis == whole->space.ndim - 1;
    kn_space *half = malloc(2 * sizeof *half);
    scene *s = malloc(sizeof *s);
    assert_true(half && s);
    bool can = kn_space_split(&whole->space, cut_axis, inner ? m->schedule.vector : 1, &half[0], &half[1]);
    for (int h = 0; can && h < 2; ++h) {
        *s = *whole;
        s->space = half[h];
        for (int v = 0; v < s->count; ++v)
            s->access[v].address += (uintptr_t)(half[h].offset[v] - whole->space.offset[v]);
        m->s = s;
        check_windows(m, tile_axis);
    }
    m->s = whole;
    free(half);
    free(s);
    return can;
}

/* Cases that random layouts have to have met. */
typedef struct census {
    int scenes, crossed, straight, runs_go_on, rows_go_on, cut_runs, cut_rows, full, gathered, two_results,
        indexed, mixed, early, halved, channels, short_runs, vector[17];
} census;

static void count_scene(census *met, const model *m)
{
    const kn_windows *w = &m->w;
    const scene *s = m->s;
    ++met->scenes;
    met->crossed += w->crossed != 0;
    met->straight += !w->crossed;
    met->runs_go_on += !w->crossed && extent_of(m, X) > 1;
    met->rows_go_on += extent_of(m, Q2) > 1;
    met->cut_runs += w->run < w->run_size;
    met->cut_rows += w->rows < w->n_rows;
    met->full += m->shared_bytes > SHARED * 3 / 4;
    met->gathered += s->n_in == 2;
    met->two_results += s->count - s->n_in == 2;
    met->indexed += s->with_index;
    met->mixed += s->access[m->staged].item_size != s->access[s->n_in].item_size;
    met->channels += w->shared != 0;
    met->short_runs += is_narrow(m) && !w->shared;
    met->early += s->access[s->n_in].address % CHUNK != 0;
    ++met->vector[m->vector];
}

static void check_census(const census *met)
{
    const int *count = (const int *)met, fewest = 8;
    print_message("%d scenes: %d crossed, %d of runs and %d of rows along two axes, %d gathered\n",
                  met->scenes, met->crossed, met->runs_go_on, met->rows_go_on, met->gathered);
    for (size_t k = 0; k < offsetof(census, vector) / sizeof *count; ++k)
        if (count[k] < fewest)
            fail_msg("the %zuth kind was met %d times", k, count[k]);
    for (int vector = 1; vector <= 16; vector *= 2)
        if (met->vector[vector] < fewest)
            fail_msg("vectors of %d were met %d times", vector, met->vector[vector]);
}

/* False: the scene is not done by windows. */
static bool check_scene(model *m, const scene *s, int *axis)
{
    kn_launch_params params;
    m->s = s;
    assert_int_equal(kn_target_parse(&m->target, "sm_90"), KILN_OK);
    kn_schedule_choose(&m->schedule, &params, NULL, &s->space, s->access, s->count, &m->target, 0);
    if (m->schedule.kind != &kn_kind_windows)
        return false;
    memcpy(axis, &params, sizeof *axis); /* the first launch parameter of a windows kernel */
    check_windows(m, *axis);
    return true;
}

/* Random layouts until this many of them are done by windows. */
static void check_scenes(int count, bool is_large, census *met)
{
    scene *s = malloc(sizeof *s);
    model *m = malloc(sizeof *m);
    assert_true(s && m);
    while (count > 0) {
        int axis;
        random_scene(s, is_large);
        if (!check_scene(m, s, &axis))
            continue;
        count_scene(met, m);
        int cut_axis = roll(0, s->space.ndim - 1);
        if (!is_large && one_in(4) && !(is_narrow(m) && cut_axis == s->space.ndim - 1))
            met->halved += check_halves(m, axis, cut_axis);
        --count;
    }
    free(s);
    free(m);
}

/* Runs of 7 bytes that go on nowhere: of some the one vector is both where they begin and where they end. */
static void runs_shorter_than_a_vector(void **state)
{
    static const int64_t shape[] = {32, 16, 2, 29, 7}, input[] = {-6496, 1, -464, 16, 928},
                         result[] = {6496, 406, 203, 7, 1};
    scene *s = calloc(1, sizeof *s);
    model *m = malloc(sizeof *m);
    int axis;
    (void)state;
    assert_true(s && m);
    s->ndim = MAX_RANK;
    s->n_in = 1;
    s->count = 2;
    memcpy(s->shape, shape, sizeof shape);
    memcpy(s->strides[0], input, sizeof input);
    memcpy(s->strides[1], result, sizeof result);
    put_operand(s, 0, 1, 268567405);
    put_operand(s, 1, 1, 536738993);
    make_space(s);
    if (!check_scene(m, s, &axis))
        fail_msg("%s", m->schedule.kind->name);
    assert_true(m->w.run_size < m->vector);
    free(s);
    free(m);
}

static void tiles_cover_and_transpose(void **state)
{
    census met = {0};
    int times = getenv("KILN_SOAK") ? 100 : 1;
    (void)state;
    state_of_dice = seed;
    check_scenes(320 * times, false, &met);
    check_scenes(40 * times, true, &met);
    check_census(&met);
}

/* usage: unit_schedules_windows [SEED] */
int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    seed = argc > 1 ? strtoull(argv[1], NULL, 10) : seed;
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_shorter_than_a_vector),
                                       cmocka_unit_test(tiles_cover_and_transpose)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
