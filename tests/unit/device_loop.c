/* kn_host_loop_run over random layouts of few and of very many operands, against single elements. Its
 * buffers are on the stack: the sanitizer sees where they are too small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "drawn.h"

#include "device/host_move.h"
#include "device/host_loop.h"

enum { MAX_AXES = 5, MAX_ARRAYS = 64, ROOM = 1 << 20, TURNS = 500, SOAK_TURNS = 20000 };

static uint32_t state_of_dice = 1;

static int dice(int sides)
{
    state_of_dice = state_of_dice * 1664525u + 1013904223u;
    return (int)((state_of_dice >> 8) % (uint32_t)sides);
}

/* The kernel that the library would generate: results are copies of inputs, the first one of an index. */
static struct {
    int n_in, n_out, item_size;
    bool has_index, counts;
    bool takes_rows; /* it is told of rows */
    int in_place;    /* inputs in front that it reads with strides of their own, not of an element */
    int64_t stride[MAX_ARRAYS];
    _Atomic int calls;
} kernel;

typedef struct block {
    int64_t size, index;
    kn_loop_nest_rows rows;
    char *array[MAX_ARRAYS];
} block;

static int64_t stride_of(int k)
{
    return k < kernel.in_place ? kernel.stride[k] : kernel.item_size;
}

static void run_row(const block *b, long long begin, long long end)
{
    const int64_t *indices = (const int64_t *)(intptr_t)b->index;
    size_t size = (size_t)kernel.item_size;
    for (long long at = begin; at < end; ++at)
        for (int k = 0; k < kernel.n_out; ++k) {
            int64_t index = !kernel.has_index ? 0 : kernel.counts ? b->index + at : indices[at];
            char *to = b->array[kernel.n_in + k] + (size_t)at * size;
            if (k == 0 && kernel.has_index)
                memcpy(to, &index, size < 8 ? size : 8);
            else
                memcpy(to, b->array[k % kernel.n_in] + at * stride_of(k % kernel.n_in), size);
        }
}

static void run_kernel(const void *args, long long begin, long long end)
{
    block b = *(const block *)args;
    int n = kernel.n_in + kernel.n_out;
    ++kernel.calls;
    run_row(&b, begin, end);
    for (int64_t row = 1; kernel.takes_rows && row < b.rows.count; ++row) {
        const int64_t *step = b.rows.step + (row % b.rows.group == 0 ? n + kernel.has_index : 0);
        for (int k = 0; k < n; ++k)
            b.array[k] += step[k];
        b.index += kernel.has_index ? step[n] : 0;
        run_row(&b, begin, end);
    }
}

/* Where the kernel is told of rows. */
static int rows_at(void)
{
    return kernel.takes_rows ? (int)offsetof(block, rows) : -1;
}

typedef struct layout {
    int ndim;
    int64_t extent[MAX_AXES], size;
    int64_t stride[MAX_ARRAYS + 1][MAX_AXES];
} layout;

static void random_extents(layout *l, int64_t most)
{
    l->ndim = 1 + dice(MAX_AXES);
    l->size = 1;
    for (int a = 0; a < l->ndim; ++a) {
        int64_t capacity = most / l->size;
        l->extent[a] = 1 + dice((int)(capacity < 1 ? 1 : capacity < 400 ? capacity : 400));
        l->size *= l->extent[a];
    }
}

/* Axes in some order, outermost first: with gaps, or, where that is allowed, standing still. */
static void random_strides(layout *l, int k, int64_t item, bool may_stand)
{
    int order[MAX_AXES];
    int64_t step = item;
    for (int a = 0; a < l->ndim; ++a)
        order[a] = l->ndim - 1 - a;
    if (dice(2) == 0) {
        int a = dice(l->ndim), first = order[0];
        order[0] = order[a];
        order[a] = first;
    }
    bool has_gaps = dice(3) == 0;
    for (int a = 0; a < l->ndim; ++a) {
        l->stride[k][order[a]] = may_stand && dice(4) == 0 ? 0 : step;
        step = step * l->extent[order[a]] + (has_gaps ? item * dice(4) : 0);
    }
}

static int64_t place(const layout *l, int k, const int64_t *at)
{
    int64_t result = 0;
    for (int a = 0; a < l->ndim; ++a)
        result += at[a] * l->stride[k][a];
    return result;
}

static bool next(const layout *l, int64_t *at)
{
    for (int a = l->ndim; a-- > 0; at[a] = 0)
        if (++at[a] < l->extent[a])
            return true;
    return false;
}

static void check(const layout *l, char *const *array, int64_t first_index)
{
    int64_t at[MAX_AXES] = {0};
    size_t size = (size_t)kernel.item_size;
    do {
        for (int k = 0; k < kernel.n_out; ++k) {
            int64_t index = first_index + place(l, MAX_ARRAYS, at);
            const char *result = array[kernel.n_in + k] + place(l, kernel.n_in + k, at);
            if (k == 0 && kernel.has_index)
                assert_memory_equal(result, &index, size < 8 ? size : 8);
            else
                assert_memory_equal(result, array[k % kernel.n_in] + place(l, k % kernel.n_in, at), size);
        }
    } while (next(l, at));
}

static void one_loop_nest(char *const *array, bool has_many)
{
    layout l;
    block b = {.index = 5};
    kn_loop_nest_operand operand[MAX_ARRAYS + 1];
    kn_loop_nest *nest = NULL;
    int n = 0, most_in = has_many ? 30 : 4;
    kernel.item_size = 1 << dice(5);
    kernel.n_in = 1 + dice(most_in);
    kernel.n_out = 1 + dice(has_many ? MAX_ARRAYS - most_in : 2);
    kernel.has_index = dice(3) == 0;
    kernel.takes_rows = dice(3) > 0;
    random_extents(&l, has_many ? 600 : 4500);
    for (; n < kernel.n_in + kernel.n_out; ++n) {
        bool is_input = n < kernel.n_in;
        random_strides(&l, n, kernel.item_size, is_input);
        b.array[n] = array[n];
        operand[n] = (kn_loop_nest_operand){is_input ? KN_LOOP_INPUT : KN_LOOP_OUTPUT,
                                            (int)(offsetof(block, array) + (size_t)n * sizeof(char *)),
                                            kernel.item_size, l.stride[n], dice(2) == 0};
    }
    random_strides(&l, MAX_ARRAYS, 1, false);
    int64_t run = 1;
    kernel.counts = true;
    for (int a = l.ndim; a-- > 0; run *= l.extent[a])
        kernel.counts = kernel.counts && l.stride[MAX_ARRAYS][a] == run;
    if (kernel.has_index)
        operand[n++] =
            (kn_loop_nest_operand){kernel.counts ? KN_LOOP_COUNT : KN_LOOP_INDICES, offsetof(block, index),
                                   kernel.counts ? 1 : 8, l.stride[MAX_ARRAYS], false};
    assert_int_equal(kn_loop_nest_create(&nest, l.ndim, l.extent, operand, n, rows_at()), KILN_OK);
    kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 + dice(3000));
    kn_loop_nest_free(nest);
    check(&l, array, 5);
}

/* Others at each run; a test whose turns are large takes one in `share`. */
static void run_many_times(void (*one)(char *const *array), int share)
{
    const int turns = (drawn_all() ? SOAK_TURNS : TURNS) / share;
    char *array[MAX_ARRAYS];
    for (int k = 0; k < MAX_ARRAYS; ++k) {
        array[k] = malloc(ROOM);
        assert_non_null(array[k]);
        for (int at = 0; at < ROOM; ++at)
            array[k][at] = (char)(at * 31 + k + at / 251);
    }
    for (int turn = 0; turn < turns; ++turn)
        one(array);
    for (int k = 0; k < MAX_ARRAYS; ++k)
        free(array[k]);
}

static void one_of_few(char *const *array)
{
    one_loop_nest(array, false);
}

static void one_of_many(char *const *array)
{
    one_loop_nest(array, true);
}

static void few_operands(void **state)
{
    (void)state;
    run_many_times(one_of_few, 1);
}

static void very_many_operands(void **state)
{
    (void)state;
    run_many_times(one_of_many, 5);
}

/* ---- inputs that kernels read in place ---- */

/* Rows of `step` elements a place; the other axes in any order, with gaps. */
static void strides_of_rows(layout *l, int k, int64_t item, int64_t step)
{
    int inner = l->ndim - 1, first = l->ndim > 1 ? dice(inner) : 0;
    int64_t next = item * (step > 0 ? step : 1) * l->extent[inner] + item * dice(4);
    l->stride[k][inner] = step * item;
    for (int turn = 0; turn < inner; ++turn) {
        int a = (first + turn) % inner;
        l->stride[k][a] = next;
        next *= l->extent[a];
    }
}

static void one_in_place(char *const *array)
{
    layout l;
    block b = {.index = 0};
    kn_loop_nest_operand operand[2 * MAX_AXES];
    kn_loop_nest *nest = NULL;
    kernel.item_size = 1 << dice(5);
    kernel.n_in = 1 + dice(4);
    kernel.in_place = 1 + dice(kernel.n_in);
    kernel.n_out = kernel.n_in;
    kernel.has_index = false;
    kernel.takes_rows = dice(3) > 0;
    random_extents(&l, 4500);
    for (int k = 0; k < kernel.n_in + kernel.n_out; ++k) {
        bool is_in_place = k < kernel.in_place;
        int64_t step = is_in_place ? dice(5) : 1;
        strides_of_rows(&l, k, kernel.item_size, step);
        kernel.stride[k] = step * kernel.item_size;
        b.array[k] = array[k];
        operand[k] = (kn_loop_nest_operand){is_in_place       ? KN_LOOP_IN_PLACE
                                            : k < kernel.n_in ? KN_LOOP_INPUT
                                                              : KN_LOOP_OUTPUT,
                                            (int)(offsetof(block, array) + (size_t)k * sizeof(char *)),
                                            kernel.item_size, l.stride[k], false};
    }
    assert_int_equal(
        kn_loop_nest_create(&nest, l.ndim, l.extent, operand, kernel.n_in + kernel.n_out, rows_at()),
        KILN_OK);
    kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 + dice(3000));
    kn_loop_nest_free(nest);
    check(&l, array, 0);
    kernel.in_place = 0;
}

static void inputs_in_place(void **state)
{
    (void)state;
    run_many_times(one_in_place, 1);
}

/* ---- results that are the channels of one array ---- */

/* `count` inputs and as many results, each one element behind the one before, `pitch` elements from
 * position to position: the memory between results is nobody's, and stays as it was. */
static void go_over_channels(int count, int pitch, int item_size, int64_t interleaved)
{
    size_t size = (size_t)item_size, bytes = (size_t)interleaved * (size_t)pitch * size;
    char *from = malloc(bytes), *to = malloc(bytes);
    kn_loop_nest *nest = NULL;
    block b = {.size = 0};
    kn_loop_nest_operand operand[2 * MAX_AXES];
    const int64_t stride = (int64_t)pitch * item_size;
    assert_non_null(from);
    assert_non_null(to);
    for (size_t at = 0; at < bytes; ++at) {
        from[at] = (char)(at * 31 + at / 251);
        to[at] = (char)(at * 7);
    }
    for (int k = 0; k < 2 * count; ++k) {
        b.array[k] = (k < count ? from : to) + (size_t)(k % count) * size;
        operand[k] = (kn_loop_nest_operand){k < count ? KN_LOOP_INPUT : KN_LOOP_OUTPUT,
                                            (int)(offsetof(block, array) + (size_t)k * sizeof(char *)),
                                            item_size, &stride, false};
    }
    kernel.n_in = kernel.n_out = count;
    kernel.item_size = item_size;
    kernel.has_index = false;
    kernel.takes_rows = true;
    assert_int_equal(kn_loop_nest_create(&nest, 1, &interleaved, operand, 2 * count, rows_at()), KILN_OK);
    kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 << 16);
    kn_loop_nest_free(nest);
    for (size_t at = 0; at < bytes; ++at)
        assert_int_equal(to[at], at / size % (size_t)pitch < (size_t)count ? from[at] : (char)(at * 7));
    free(from);
    free(to);
}

static void channels_of_one_array(void **state)
{
    (void)state;
    for (int item_size = 1; item_size <= 16; item_size *= 2)
        for (int pitch = 2; pitch <= MAX_AXES; ++pitch)
            for (int count = 1; count <= pitch; ++count)
                go_over_channels(count, pitch, item_size, 900 + dice(3000));
    go_over_channels(2, 2, 8, (2 << 20) + 5); /* goes past the caches */
}

/* ---- rows that are taken together ---- */

/* Rows of 64 words of an array, with one of a table for each 16 of them, or no table. */
static void go_over_rows(bool takes_rows, bool has_table, int64_t gap, int calls)
{
    enum { OUTER = 40, INNER = 16, RUN = 64, BYTES = 4 };
    static const int64_t extent[] = {OUTER, INNER, RUN};
    const int64_t array[] = {INNER * (RUN * BYTES + gap), RUN * BYTES + gap, BYTES},
                  table[] = {RUN * BYTES, 0, BYTES}, out[] = {INNER * RUN * BYTES, RUN * BYTES, BYTES};
    size_t bytes = (size_t)(OUTER * array[0]);
    char *from = malloc(bytes), *to = malloc(bytes), *entries = malloc((size_t)(OUTER * table[0]));
    kn_loop_nest *nest = NULL;
    assert_non_null(from);
    assert_non_null(to);
    assert_non_null(entries);
    block b = {.array = {has_table ? entries : from, to}};
    const kn_loop_nest_operand operand[] = {
        {KN_LOOP_INPUT, offsetof(block, array), BYTES, has_table ? table : array, false},
        {KN_LOOP_OUTPUT, offsetof(block, array) + sizeof(char *), BYTES, out, false}};
    for (size_t at = 0; at < bytes; ++at)
        from[at] = (char)(at * 31 + at / 251);
    memcpy(entries, from, (size_t)(OUTER * table[0]));
    kernel.n_in = kernel.n_out = 1;
    kernel.item_size = BYTES;
    kernel.has_index = false;
    kernel.takes_rows = takes_rows;
    kernel.calls = 0;
    assert_int_equal(kn_loop_nest_create(&nest, 3, extent, operand, 2, rows_at()), KILN_OK);
    kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 << 20);
    kn_loop_nest_free(nest);
    for (int64_t r = 0; r < OUTER * INNER; ++r)
        assert_memory_equal(to + r * RUN * BYTES,
                            has_table ? entries + r / INNER * RUN * BYTES : from + r * (RUN * BYTES + gap),
                            RUN * BYTES);
    assert_int_equal(kernel.calls, calls);
    free(from);
    free(to);
    free(entries);
}

/* A block has 16,384 elements: 16 times 16 rows, or as many rows of one axis. */
static void rows_are_taken_together(void **state)
{
    (void)state;
    go_over_rows(true, false, 4, 3);
    go_over_rows(true, true, 0, 3);
    go_over_rows(false, false, 4, 640);
    go_over_rows(false, true, 0, 640);
}

/* Ranges of an array and of a table that is broadcast along them: a call for as much as buffers hold,
 * again and again, and one for the rest. */
static void go_over_still(int64_t run, bool takes_rows, int calls)
{
    enum { ROWS = 3, BYTES = 2 };
    const int64_t extent[] = {ROWS, run}, dense[] = {run * BYTES, BYTES}, table[] = {BYTES, 0};
    size_t bytes = (size_t)(ROWS * run * BYTES);
    char *from = malloc(bytes), *to[2] = {malloc(bytes), malloc(bytes)}, entries[ROWS * BYTES];
    kn_loop_nest *nest = NULL;
    assert_non_null(from);
    block b = {.array = {from, entries, to[0], to[1]}};
    kn_loop_nest_operand operand[4];
    for (int k = 0; k < 4; ++k)
        operand[k] = (kn_loop_nest_operand){k < 2 ? KN_LOOP_INPUT : KN_LOOP_OUTPUT,
                                            (int)(offsetof(block, array) + (size_t)k * sizeof(char *)), BYTES,
                                            k == 1 ? table : dense, false};
    for (size_t at = 0; at < bytes; ++at)
        from[at] = (char)(at * 31 + at / 251);
    for (int at = 0; at < ROWS * BYTES; ++at)
        entries[at] = (char)(at + 100);
    kernel.n_in = kernel.n_out = 2;
    kernel.item_size = BYTES;
    kernel.has_index = false;
    kernel.takes_rows = takes_rows;
    kernel.calls = 0;
    assert_int_equal(kn_loop_nest_create(&nest, 2, extent, operand, 4, rows_at()), KILN_OK);
    kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 << 20);
    kn_loop_nest_free(nest);
    assert_memory_equal(to[0], from, bytes);
    for (int64_t at = 0; at < ROWS * run; ++at)
        assert_memory_equal(to[1] + at * BYTES, entries + at / run * BYTES, BYTES);
    assert_int_equal(kernel.calls, calls);
    free(from);
    free(to[0]);
    free(to[1]);
}

/* A buffer has 1,024 elements, a block 16,384 of them at most. */
static void buffers_serve_many_rows(void **state)
{
    (void)state;
    go_over_still(1000, true, 3);
    go_over_still(1024 * 5, true, 3);
    go_over_still(1024 * 5 + 7, true, 6);
    go_over_still(16384 * 2, true, 6);
    go_over_still(1024 * 5, false, 15);
}

/* ---- calls that go from line to line ---- */

enum { SPAN = 450007, CHANNELS = 3, WORD = 4, LINE = 64, SLACK = 64 };

static struct {
    _Atomic int64_t elements, split;
} called;

static void copy_words(const void *args, long long begin, long long end)
{
    const block *b = args;
    char *to = b->array[1] + begin * WORD;
    memcpy(to, b->array[0] + begin * WORD, (size_t)(end - begin) * WORD);
    called.elements += end - begin;
    called.split += (uintptr_t)to % LINE != 0;
}

/* From interleaved to planar channels, or back; each result begins `offset` bytes behind a line. */
static void go_over_lines(char *from, char *to, bool to_planar, int offset, bool copies)
{
    static const int64_t extents[2][2] = {{SPAN, CHANNELS}, {CHANNELS, SPAN}},
                         interleaved[2][2] = {{CHANNELS * WORD, WORD}, {WORD, CHANNELS * WORD}},
                         planar[2][2] = {{WORD, SPAN * WORD}, {SPAN * WORD, WORD}};
    kn_loop_nest *nest = NULL;
    block b = {.array = {from, to + offset}};
    const int64_t *in = to_planar ? interleaved[1] : planar[0], *out = to_planar ? planar[1] : interleaved[0];
    const kn_loop_nest_operand operand[] = {
        {KN_LOOP_INPUT, offsetof(block, array), WORD, in, false},
        {KN_LOOP_OUTPUT, offsetof(block, array) + sizeof(char *), WORD, out, false}};
    memset(to, 0, (size_t)SPAN * CHANNELS * WORD + SLACK);
    called.elements = called.split = 0;
    assert_int_equal(kn_loop_nest_create(&nest, 2, extents[to_planar], operand, 2, -1), KILN_OK);
    if (copies)
        kn_loop_nest_copies(nest);
    kn_host_loop_run(nest, copy_words, &b, sizeof b, 1 << 16);
    kn_loop_nest_free(nest);
    for (int64_t k = 0; k < SPAN; ++k)
        for (int c = 0; c < CHANNELS; ++c)
            assert_memory_equal(b.array[1] + (to_planar ? c * SPAN + k : k * CHANNELS + c) * WORD,
                                from + (to_planar ? k * CHANNELS + c : c * SPAN + k) * WORD, WORD);
    /* A loop nest that may copy by itself if all blocks are whole lines. */
    bool is_alone = copies && !to_planar && offset == 0 && kn_host_moves_past_caches(WORD);
    assert_int_equal(called.elements, is_alone ? 0 : SPAN * CHANNELS);
    assert_true(called.split <= 2 * CHANNELS * 32); /* where a channel, or a thread's share, begins */
}

static void calls_go_from_line_to_line(void **state)
{
    size_t size = (size_t)SPAN * CHANNELS * WORD + SLACK;
    char *from = malloc(size), *to = aligned_alloc(LINE, (size + LINE - 1) / LINE * LINE);
    (void)state;
    assert_non_null(from);
    assert_non_null(to);
    for (size_t at = 0; at < size; ++at)
        from[at] = (char)(at * 31 + at / 251);
    for (int offset = 0; offset < LINE; offset += 20)
        for (int way = 0; way < 4; ++way)
            go_over_lines(from, to, way % 2, offset, way / 2);
    free(from);
    free(to);
}

/* Results in one run, that begin within a line, of one input whose runs are apart, from block to block, and
 * one that is repeated within a block. */
static void blocks_that_are_apart(void **state)
{
    enum { OUTER = 2000, MIDDLE = 41, RUN = 15, GAP = 12, PITCH = (MIDDLE * RUN + GAP) * WORD };
    static const int64_t extent[] = {OUTER, MIDDLE, RUN}, apart[] = {PITCH, RUN * WORD, WORD},
                         repeated[] = {RUN * WORD, 0, WORD}, out[] = {MIDDLE * RUN * WORD, RUN * WORD, WORD};
    size_t size = (size_t)OUTER * MIDDLE * RUN * WORD;
    char *from = malloc((size_t)OUTER * PITCH), *table = malloc((size_t)OUTER * RUN * WORD), *to[2];
    kn_loop_nest *nest = NULL;
    block b;
    (void)state;
    assert_non_null(from);
    assert_non_null(table);
    for (int at = 0; at < OUTER * PITCH; ++at)
        from[at] = (char)(at * 31 + at / 251);
    memcpy(table, from, (size_t)OUTER * RUN * WORD);
    b.array[0] = from;
    b.array[1] = table;
    for (int k = 0; k < 2; ++k) {
        to[k] = malloc(size + WORD);
        assert_non_null(to[k]);
        b.array[2] = to[k] + WORD;
        const kn_loop_nest_operand operand[] = {
            {KN_LOOP_INPUT, offsetof(block, array), WORD, apart, false},
            {KN_LOOP_INPUT, offsetof(block, array) + sizeof(char *), WORD, repeated, false},
            {KN_LOOP_OUTPUT, offsetof(block, array) + 2 * sizeof(char *), WORD, out, false}};
        kernel.n_in = 2;
        kernel.n_out = 1;
        kernel.item_size = WORD;
        kernel.has_index = false;
        kernel.takes_rows = k == 1;
        assert_int_equal(kn_loop_nest_create(&nest, 3, extent, operand, 3, rows_at()), KILN_OK);
        kn_host_loop_run(nest, run_kernel, &b, sizeof b, 1 << 16);
        kn_loop_nest_free(nest);
        for (int64_t o = 0; o < OUTER; ++o)
            assert_memory_equal(b.array[2] + o * MIDDLE * RUN * WORD, from + o * PITCH, MIDDLE * RUN * WORD);
        free(to[k]);
    }
    free(table);
    free(from);
}

int main(void)
{
    state_of_dice = drawn_seed();
    const struct CMUnitTest tests[] = {cmocka_unit_test(few_operands),
                                       cmocka_unit_test(very_many_operands),
                                       cmocka_unit_test(inputs_in_place),
                                       cmocka_unit_test(channels_of_one_array),
                                       cmocka_unit_test(rows_are_taken_together),
                                       cmocka_unit_test(buffers_serve_many_rows),
                                       cmocka_unit_test(calls_go_from_line_to_line),
                                       cmocka_unit_test(blocks_that_are_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
