/* Where operands lie: orders, reversals, steps, broadcasts, offsets, ranks, sizes 0 and 1. */
#include "cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void sum_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re + in_number(e, 1).re);
}

/* One kernel of three operands and every layout of each: most share a handful of binaries. */
static void add(const char *shape_x, const char *layout_x, const char *shape_y, const char *layout_y,
                const char *shape_z, const char *layout_z)
{
    stage *s = STAGE("float32 x, int16 y", "float32 z", "z = x + y");
    stage_in(s, KILN_FLOAT32, shape_x, layout_x, FILL_SMALL);
    stage_in(s, KILN_INT16, shape_y, layout_y, FILL_SMALL);
    if (layout_z)
        stage_out(s, KILN_FLOAT32, shape_z, layout_z);
    else
        stage_out_fresh(s, KILN_FLOAT32);
    stage_check(s, sum_expected, NULL);
    stage_free(s);
}

static void add_same(const char *shape, const char *x, const char *y, const char *z)
{
    add(shape, x, shape, y, shape, z);
}

static void all_c(void)
{
    add_same("7,33,5", "C", "C", "C");
}

static void all_f(void)
{
    add_same("7,33,5", "F", "F", "F");
}

static void mixed_orders(void)
{
    add_same("7,33,5", "C", "F", "P1,2,0");
    add_same("7,33,5", "F", "C", "C");
    add_same("64,65", "F", "C", "C");
    add_same("64,65", "C", "C", "F");
}

static void reversed_inputs(void)
{
    add_same("9,31", "-0", "-1", "C");
    add_same("1000", "-0", "-0", "C");
    add_same("1000", "C", "-0", "C");
}

static void reversed_outputs(void)
{
    add_same("1000", "C", "C", "-0");
    add_same("1000", "-0", "-0", "-0");
    add_same("9,31", "C", "F", "-*");
    add_same("9,31", "-*", "-*", "-*");
}

static void stepped(void)
{
    add_same("9,31", "/0", "/1", "C");
    add_same("9,31", "C", "C", "/1x3");
    add_same("1000", "/0x5", "C", "C");
    add_same("12,8,10", "F /1 -0", "/0x3 -2", "P2,0,1 /2 -1");
}

static void at_offset(void)
{
    static const char *const shift[] = {"+0", "+1", "+2", "+3", "+5", "+8"};
    for (size_t a = 0; a < 6; ++a)
        for (size_t b = 0; b < 6; ++b)
            add_same("1003", shift[a], shift[b], shift[(a + b) % 6]);
}

static void odd_lengths(void)
{
    static const int lengths[] = {1,  2,  3,  4,   7,   8,   15,  16,  17,   31,   32,   33,
                                  63, 64, 65, 127, 129, 255, 256, 257, 1023, 1025, 4095, 8193};
    for (size_t k = 0; k < COUNT(lengths); ++k) {
        char shape[16];
        snprintf(shape, sizeof shape, "%d", lengths[k]);
        add_same(shape, "C", "C", "C");
        add_same(shape, "+1", "/0", "-0");
    }
}

static void broadcast_axes(void)
{
    add("5,1,7", "C", "3,1", "C", "5,3,7", "C");
    add("1,9", "C", "33,1", "F", "33,9", "F");
    add("64", "C", "100,1", "C", "100,64", "C");
    add("1,64", "C", "100,1", "C", "100,64", "-0");
}

static void broadcast_scalars(void)
{
    add("", "C", "12,7", "C", "12,7", "C");
    add("12,7", "F", "", "C", "12,7", "C");
    add("1,1,1", "C", "12,7", "C", "1,12,7", "C");
    add("1000", "C", "1", "C", "1000", "C");
}

static void stride_zero_inputs(void)
{
    add_same("12,7", "=0", "C", "C");
    add_same("12,7", "=1", "=0", "F");
    add_same("12,7", "=*", "=*", "C");
    add_same("4,5,6", "F =1", "=0 -2", "P1,0,2");
}

static void stride_zero_of_extent_one_output(void)
{
    add_same("1,7", "C", "C", "=0");
    add_same("7,1", "C", "C", "=1 -0");
}

static void no_axes(void)
{
    add("", "C", "", "C", "", "C");
    add("", "+3", "", "+1", "", "+2");
}

static void no_elements(void)
{
    add_same("0", "C", "C", "C");
    add_same("3,0,5", "F", "C", "-1");
    add("3,0,5", "C", "1,1", "C", "3,0,5", "C");
    add("0", "C", "1", "C", "0", NULL);
}

static void fresh_outputs(void)
{
    add("5,1,7", "C", "3,1", "C", NULL, NULL);
    add("9,31", "F", "9,31", "F", NULL, NULL);
    add("", "C", "", "C", NULL, NULL);
    add("1000", "-0", "1000", "-0", NULL, NULL);
}

static void extents_of_one(void)
{
    add_same("1,7,1,5,1", "F", "-*", "C");
    add_same("1,1,1", "C", "F", "C");
    add("1,7,1", "=0 =2", "9,1,3", "F", "9,7,3", "F");
}

/* Nothing merges where orders differ, so that the space has as many axes as the arrays. */
static void ranks(void)
{
    for (int ndim = 5; ndim <= 12; ++ndim) {
        int64_t shape[KILN_MAX_NDIM];
        layout mixed, plain;
        layout_plain(&mixed, ndim);
        layout_plain(&plain, ndim);
        for (int a = 0; a < ndim; ++a) {
            shape[a] = a % 2 ? 2 : 3;
            mixed.order[a] = ndim - 1 - a;
            mixed.reversed[a] = a % 3 == 0;
        }
        stage *s = STAGE("float32 x, int16 y", "float32 z", "z = x + y");
        stage_place(s, false, KILN_FLOAT32, ndim, shape, &mixed, FILL_SMALL, -1);
        stage_place(s, false, KILN_INT16, ndim, shape, &plain, FILL_SMALL, -1);
        stage_place(s, true, KILN_FLOAT32, ndim, shape, ndim % 2 ? &plain : &mixed, FILL_SMALL, -1);
        stage_check(s, sum_expected, NULL);
        stage_free(s);
    }
}

static void sixty_four_axes(void)
{
    int64_t shape[KILN_MAX_NDIM];
    layout plain, other;
    layout_plain(&plain, KILN_MAX_NDIM);
    layout_plain(&other, KILN_MAX_NDIM);
    for (int a = 0; a < KILN_MAX_NDIM; ++a) {
        shape[a] = a % 5 == 0 ? 2 : 1;
        other.order[a] = KILN_MAX_NDIM - 1 - a;
        other.reversed[a] = a % 2 != 0;
    }
    for (int turn = 0; turn < 2; ++turn) {
        stage *s = STAGE("float32 x, int16 y", "float32 z", "z = x + y");
        stage_place(s, false, KILN_FLOAT32, KILN_MAX_NDIM, shape, turn ? &plain : &other, FILL_SMALL, -1);
        stage_place(s, false, KILN_INT16, KILN_MAX_NDIM, shape, &plain, FILL_SMALL, -1);
        if (turn)
            stage_place(s, true, KILN_FLOAT32, KILN_MAX_NDIM, shape, &other, FILL_SMALL, -1);
        else
            stage_out_fresh(s, KILN_FLOAT32);
        stage_check(s, sum_expected, NULL);
        stage_free(s);
    }
}

/* Permutations, the hard ones for schedules that move tiles: every order of three axes against each other. */
static void permutations(void)
{
    static const char *const orders[] = {"P0,1,2", "P0,2,1", "P1,0,2", "P1,2,0", "P2,0,1", "P2,1,0"};
    for (size_t x = 0; x < 6; ++x)
        for (size_t z = 0; z < 6; ++z)
            add_same("33,40,17", orders[x], orders[(x + z) % 6], orders[z]);
}

static void large(void)
{
    add_same("1000003", "C", "C", "C");
    add_same("1025,1023", "C", "F", "C");
    add("1025,1", "C", "1023", "C", "1025,1023", "C");
    add_same("70000,13", "F", "C", "F");
}

/* A copy moves as bits in every element size. */
static void identity_expected(const element *e)
{
    memcpy(e->out[0], e->in[0], kiln_dtype_size(e->in_dtype[0]));
}

static void transposed_copies(void)
{
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_INT32, KILN_FLOAT64, KILN_COMPLEX128};
    static const char *const layouts[] = {"F", "-0", "P0,2,1 +1", "P1,0,2 /0"};
    for (size_t d = 0; d < COUNT(dtypes); ++d)
        for (size_t l = 0; l < COUNT(layouts); ++l) {
            stage *s = STAGE("T x", "T z", "z = x");
            stage_in(s, dtypes[d], "19,35,66", layouts[l], FILL_SMALL);
            stage_out(s, dtypes[d], "19,35,66", "C");
            stage_check(s, identity_expected, NULL);
            stage_free(s);
        }
}

/* A copy that takes this schedule, as `explain` writes it, on a device with vectors of 16 bytes. The host has
 * one loop for all of them: there one of eight is run. */
static void copy(const char *schedule, kiln_dtype dtype, const char *shape, const char *x, const char *z)
{
    static size_t turn;
    bool is_run = is_run_here(turn++, 32);
    stage *s = STAGE("T x", "T z", "z = x");
    if (!is_run)
        stage_leave_unfilled(s);
    stage_in(s, dtype, shape, x, FILL_BITS);
    stage_out(s, dtype, shape, z);
    char *line = stage_explain(s, "sm_90");
    trouble_unless(strstr(line, schedule), "%s, %s to %s: no schedule=%s in %s", shape, x, z, schedule, line);
    free(line);
    if (is_run)
        stage_check(s, identity_expected, NULL);
    stage_free(s);
}

/* Odd extents: rows begin anywhere, up and down along either axis. */
static void windows_of_odd_extents(void)
{
    static const kiln_dtype dtypes[] = {KILN_FLOAT64, KILN_FLOAT32, KILN_FLOAT16, KILN_UINT8};
    static const char *const layouts[][2] = {{"F -1", "C"}, {"F -0", "-0"}, {"F -* +3", "-*"}, {"F", "-1"}};
    for (size_t d = 0; d < COUNT(dtypes); ++d)
        for (size_t l = 0; l < COUNT(layouts); ++l)
            copy("\"windows\"", dtypes[d], "1031,1021", layouts[l][0], layouts[l][1]);
    /* Against the results along the axis on which the input runs: read at its places. */
    copy("\"rows\"", KILN_FLOAT32, "1031,1021", "F -0", "C");
    copy("\"rows\"", KILN_FLOAT64, "1031,1021", "F", "-0 +1");
}

/* Results of one byte are stored 16 at a time: shorter rows of them have no such slot. */
static const char *windows_where_slots_fit(kiln_dtype dtype, const char *shape)
{
    return kiln_dtype_size(dtype) == 1 && atoi(strrchr(shape, ',') + 1) < 16 ? "" : "\"windows\"";
}

/* Rows of the input that do not run on along the results' second axis. */
static void windows_straight(void)
{
    static const struct {
        const char *shape, *x, *z;
    } places[] = {
        {"11,103,105,9", "F", "C"},
        {"11,103,105,9", "P3,1,2,0 -1 -3", "-2"},
        {"19,33,41", "P1,2,0", "C"},
        {"19,33,41", "P2,1,0 -1", "P1,0,2"},
        {"9,35,7,13", "P3,2,1,0", "C"},
        {"9,35,7,13", "P2,3,1,0 -2", "+1"},
        {"9,35,7,13", "P3,0,2,1 -3", "-0"},
        {"33,5,7,3,17", "P4,3,2,1,0", "C"},
        {"257,5,31", "F", "C"},
        {"129,1001", "F", "C"},
        {"2003,19", "F", "C"},
        {"19,3001", "F", "C"},
    };
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_INT32, KILN_COMPLEX64,
                                        KILN_COMPLEX128};
    for (size_t k = 0; k < COUNT(places); ++k)
        for (size_t d = 0; d < COUNT(dtypes); ++d)
            copy(windows_where_slots_fit(dtypes[d], places[k].shape), dtypes[d], places[k].shape, places[k].x,
                 places[k].z);
    copy("\"windows\"", KILN_UINT8, "3001,17", "F", "C");
}

/* Whole squares of few bytes that lie one after another are gathered, by the kind rows. */
static const char *windows_of_squares(kiln_dtype dtype, const char *shape)
{
    const char *last = strrchr(shape, ','), *before = last;
    while (before > shape && before[-1] != ',')
        --before;
    size_t bytes = (size_t)atoi(before) * (size_t)atoi(last + 1) * kiln_dtype_size(dtype);
    return bytes < 4096 ? "" : windows_where_slots_fit(dtype, shape);
}

/* The input's fastest axis is the results' second: batches of small matrices, odd and with gaps. */
static void windows_crossed(void)
{
    static const char *const shapes[] = {"37,97,21",   "5,131,33",   "3,1021,19", "65,99,17",
                                         "7,9,101,23", "101,201,18", "2,401,125", "5,97,47"};
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64,
                                        KILN_COMPLEX128};
    for (size_t k = 0; k < COUNT(shapes); ++k)
        for (size_t d = 0; d < COUNT(dtypes); ++d) {
            bool four = k == 4;
            const char *schedule = windows_where_slots_fit(dtypes[d], shapes[k]);
            const char *whole = windows_of_squares(dtypes[d], shapes[k]);
            copy(whole, dtypes[d], shapes[k], four ? "P0,1,3,2" : "P0,2,1", "C");
            copy(schedule, dtypes[d], shapes[k], four ? "P1,0,3,2 -0 +1" : "P0,2,1 -0 +1", "+3");
            copy(whole, dtypes[d], shapes[k], four ? "P0,1,3,2 /0" : "P0,2,1 /0", "/0 +1");
        }
    copy("\"windows\"", KILN_UINT8, "101,201,17", "P0,2,1 +1", "+3");
    copy("\"windows\"", KILN_FLOAT64, "1021,33", "F", "C");
}

/* Starts off 16 bytes by each number of elements. */
static void windows_at_offsets(void)
{
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64,
                                        KILN_COMPLEX128};
    for (size_t d = 0; d < COUNT(dtypes); ++d)
        for (int shift = 0; shift < 16; ++shift) {
            char x[16], z[16];
            snprintf(x, sizeof x, "F +%d", shift);
            snprintf(z, sizeof z, "+%d", (shift * 7 + 1) % 16);
            copy("\"windows\"", dtypes[d], "131,127", x, z);
        }
}

/* Around the fewest elements, the shortest axes and one vector; even extents are windows where starts are not
 * aligned. */
static void windows_at_limits(void)
{
    static const char *const extents[] = {"7", "8", "9", "15", "16", "17", "23", "31", "32", "33"};
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT16, KILN_FLOAT32, KILN_FLOAT64};
    for (size_t k = 0; k < COUNT(extents); ++k)
        for (size_t d = 0; d < COUNT(dtypes); ++d) {
            char tall[32], wide[32];
            snprintf(tall, sizeof tall, "2203,%s", extents[k]);
            snprintf(wide, sizeof wide, "%s,2203", extents[k]);
            copy("", dtypes[d], tall, "F +1", "C");
            copy("", dtypes[d], wide, "F", "+1");
        }
    copy("\"windows\"", KILN_FLOAT32, "128,128", "F +1", "C");
    copy("\"windows\"", KILN_FLOAT32, "128,128", "F", "+1");
    copy("\"windows\"", KILN_FLOAT32, "113,145", "F", "C");
    copy("\"rows\"", KILN_FLOAT32, "127,129", "F", "C"); /* 16383 elements */
    copy("\"windows\"", KILN_FLOAT32, "2203,18", "F +1", "C");
    copy("\"channels\"", KILN_FLOAT32, "2503,7", "F", "C");
    copy("\"windows\"", KILN_UINT8, "2203,17", "F +1", "C");
    copy("\"channels\"", KILN_UINT8, "2203,16", "F +1", "C");
}

/* Checks the call, and that its specialisation for sm_90 says so. Frees the stage. */
static void expect_line(stage *s, const char *wanted, expectation expect)
{
    char *line = stage_explain(s, "sm_90");
    trouble_unless(strstr(line, wanted) != NULL, "no %s in %s", wanted, line);
    free(line);
    stage_check(s, expect, NULL);
    stage_free(s);
}

static void expect_windows(stage *s, expectation expect)
{
    expect_line(s, "schedule=\"windows\"", expect);
}

static void cast_expected(const element *e)
{
    number_store(e->out[0], e->out_dtype[0], in_number(e, 0));
}

/* The staged and the stored elements have different widths. */
static void windows_of_two_widths(void)
{
    static const struct {
        kiln_dtype from, to;
    } casts[] = {{KILN_UINT8, KILN_FLOAT32}, {KILN_UINT8, KILN_FLOAT64},   {KILN_INT16, KILN_FLOAT32},
                 {KILN_INT32, KILN_INT8},    {KILN_FLOAT32, KILN_FLOAT64}, {KILN_FLOAT64, KILN_FLOAT32},
                 {KILN_INT64, KILN_UINT8},   {KILN_INT64, KILN_INT16}};
    static const char *const places[][3] = {{"131,137", "F", "C"},
                                            {"131,137", "F +1 -1", "+1"},
                                            {"23,101,19", "P0,2,1 -0", "C"},
                                            {"11,33,65", "F -0", "-0"}};
    for (size_t c = 0; c < COUNT(casts); ++c)
        for (size_t p = 0; p < COUNT(places); ++p) {
            stage *s = STAGE("A x", "B z", "z = (B)x");
            stage_in(s, casts[c].from, places[p][0], places[p][1], FILL_COUNT);
            stage_out(s, casts[c].to, places[p][0], places[p][2]);
            expect_windows(s, cast_expected);
        }
}

/* Beside the staged input another is gathered: a run as the results are, broadcast, stepped, or in an order
 * of its own. */
static void windows_with_another_input(void)
{
    static const char *const others[] = {"C", "+1", "F", "F -0", "/1", "-1", "=0", "=1", "=*"};
    for (size_t k = 0; k < COUNT(others); ++k)
        for (int other_first = 0; other_first < 2; ++other_first) {
            stage *s = other_first ? STAGE("int16 y, float32 x", "float32 z", "z = y + x")
                                   : STAGE("float32 x, int16 y", "float32 z", "z = x + y");
            if (!other_first)
                stage_in(s, KILN_FLOAT32, "131,137", "F -1", FILL_SMALL);
            stage_in(s, KILN_INT16, "131,137", others[k], FILL_SMALL);
            if (other_first)
                stage_in(s, KILN_FLOAT32, "131,137", "F -1", FILL_SMALL);
            stage_out(s, KILN_FLOAT32, "131,137", "+2");
            expect_windows(s, sum_expected);
        }
    static const char *const orders[] = {"P0,1,2", "P0,2,1", "P1,0,2", "P1,2,0", "P2,0,1 -1", "P2,1,0"};
    for (size_t k = 0; k < COUNT(orders); ++k) {
        stage *s = STAGE("T x, T y", "T z", "z = x + y");
        stage_in(s, KILN_FLOAT32, "21,37,33", "P0,2,1 -0", FILL_SMALL);
        stage_in(s, KILN_FLOAT32, "21,37,33", orders[k], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "21,37,33", "C");
        expect_windows(s, sum_expected);
    }
}

/* Two inputs of long rows apart from each other, which blocks of CUDA read several rows at a time. */
static void raster_blocks(void)
{
    static const struct {
        kiln_dtype dtype;
        const char *shape;
    } rows[] = {{KILN_UINT8, "21,4099"},  {KILN_UINT16, "9,2047"},    {KILN_FLOAT32, "37,2101"},
                {KILN_FLOAT32, "8,512"},  {KILN_FLOAT32, "3,5,1023"}, {KILN_FLOAT64, "17,1001"},
                {KILN_FLOAT32, "70,510"}, {KILN_FLOAT32, "2,9001"}};
    static const char *const places[] = {"/0 +1", "/0 +2", "/0x3 +3", "-0 /0 +1"};
    for (size_t k = 0; k < COUNT(rows); ++k)
        for (size_t place = 0; place < COUNT(places); ++place) {
            stage *s = STAGE("T x, T y", "T z", "z = x + y");
            stage_in(s, rows[k].dtype, rows[k].shape, places[place], FILL_SMALL);
            stage_in(s, rows[k].dtype, rows[k].shape, "/0 +1", FILL_SMALL);
            stage_out(s, rows[k].dtype, rows[k].shape, place % 2 ? "+3" : "C");
            expect_line(s, "access=\"ggd\"", sum_expected); /* both gathered */
        }
}

static void both_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re * 2);
    set_out(e, 1, in_number(e, 0).re + 1);
}

static void windows_of_two_results(void)
{
    static const char *const places[][3] = {{"131,137", "F", "C"},
                                            {"131,137", "F -0 +3", "-0 +1"},
                                            {"23,101,19", "P0,2,1 -0", "C"},
                                            {"11,33,65", "F", "C"}};
    for (size_t p = 0; p < COUNT(places); ++p)
        for (int wide = 0; wide < 2; ++wide) {
            stage *s = STAGE("float32 x", "A z, B w", "z = x * 2; w = x + 1;");
            stage_in(s, KILN_FLOAT32, places[p][0], places[p][1], FILL_SMALL);
            stage_out(s, KILN_FLOAT32, places[p][0], places[p][2]);
            stage_out(s, wide ? KILN_FLOAT64 : KILN_INT16, places[p][0], places[p][2]);
            expect_windows(s, both_expected);
        }
}

static void index_expected(const element *e)
{
    set_out(e, 0, in_number(e, 0).re + (double)(e->i % 1000));
}

static void row_expected(const element *e)
{
    if (in_number(e, 0).re > 0)
        set_out(e, 0, in_number(e, 0).re + (double)e->index[0]);
}

/* The index, and results of which some keep what they were. */
static void windows_with_index(void)
{
    static const char *const places[][3] = {{"131,137", "F", "C"},
                                            {"131,137", "F +3 -*", "-*"},
                                            {"23,101,19", "P0,2,1 -0", "C"},
                                            {"11,33,65", "F -1", "C"},
                                            {"19,33,41", "P2,1,0", "P1,0,2"}};
    for (size_t p = 0; p < COUNT(places); ++p) {
        stage *s = STAGE("float32 x", "float32 z", "z = x + i % 1000");
        stage_in(s, KILN_FLOAT32, places[p][0], places[p][1], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, places[p][0], places[p][2]);
        expect_windows(s, index_expected);
        s = STAGE("float32 x", "float32 z", "if (x > 0) z = x + _ind.get()[0]");
        stage_in(s, KILN_FLOAT32, places[p][0], places[p][1], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, places[p][0], places[p][2]);
        expect_windows(s, row_expected);
    }
}

/* Short axes: either side of a tile, or both, go over two of them. */
static void tiles_over_two_axes(void)
{
    static const char *const orders[] = {"P3,2,1,0",    "P3,1,2,0 -1", "P1,3,2,0 -2 -3",
                                         "P2,3,1,0 -3", "P0,3,2,1 -0", "P3,0,2,1"};
    for (size_t k = 0; k < COUNT(orders); ++k) {
        copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "24,12,20,16", orders[k], "C");
        copy("\"tile\" vector=\"2\"", KILN_FLOAT64, "10,14,18,12", orders[k], "-2");
        copy("\"tile\" vector=\"16\"", KILN_UINT8, "32,16,16,48", orders[k], "-2");
    }
    copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "24,16,96", "P2,0,1", "C");
    copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "24,16,96", "P2,0,1", "P1,0,2");
    copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "96,24,20", "P2,0,1", "C");
    copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "16,96,24", "F", "C");
}

/* A part of the first axis and some steps along the second one, the last of each standing over. */
static void tiles_of_parts(void)
{
    copy("\"tile\" vector=\"16\"", KILN_UINT8, "96,21,1552", "F", "C");
    copy("\"tile\" vector=\"16\"", KILN_INT8, "48,13,976", "F", "-1");
    copy("\"tile\" vector=\"8\"", KILN_FLOAT16, "96,11,776", "F", "C");
    copy("\"tile\" vector=\"4\"", KILN_FLOAT32, "40,7,404", "F", "C");
    copy("\"tile\" vector=\"2\"", KILN_INT64, "26,5,202", "F", "C");
}

/* Short rows that lie along another axis in the input: some are read together. */
static void rows_together(void)
{
    static const char *const orders[] = {"P2,1,0,3", "P1,2,0,3", "P2,0,1,3 -0", "P1,0,2,3 -1 -2"};
    for (size_t k = 0; k < COUNT(orders); ++k) {
        copy("\"rows\" vector=\"16\"", KILN_UINT8, "12,20,10,96", orders[k], "C");
        copy("\"rows\" vector=\"8\"", KILN_FLOAT16, "6,15,14,48", orders[k], "-1");
        copy("\"rows\" vector=\"4\"", KILN_FLOAT32, "9,13,7,20", orders[k], "C");
        stage *s = STAGE("float32 x", "float32 z", "z = x + i % 1000");
        stage_in(s, KILN_FLOAT32, "8,6,10,16", orders[k], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "8,6,10,16", "C");
        stage_check(s, index_expected, NULL);
        stage_free(s);
    }
}

/* KILN_ORDER_KEEP: memory order of the inputs, as NumPy's order "K". */
static void check_order(const char *shape, const char *layout_x, const char *shape_y, const char *layout_y,
                        const char *expected)
{
    stage *s = STAGE("float32 x, int16 y", "float32 z", "z = x + y");
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int count;
    options.order = KILN_ORDER_KEEP;
    stage_in(s, KILN_FLOAT32, shape, layout_x, FILL_SMALL);
    stage_in(s, KILN_INT16, shape_y, layout_y, FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    if (stage_check(s, sum_expected, &options)) {
        kiln_array *z = stage_outs(s, &count)[0];
        char order[64] = "";
        int64_t run = 4;
        /* Axes from the innermost out, by what each step covers. */
        for (int found = 0; found < kiln_array_ndim(z); ++found)
            for (int a = kiln_array_ndim(z); a-- > 0;)
                if (kiln_array_strides(z)[a] == run && kiln_array_shape(z)[a] > 1) {
                    char word[16];
                    snprintf(word, sizeof word, "%d", a);
                    memmove(order + strlen(word), order, strlen(order) + 1);
                    memcpy(order, word, strlen(word));
                    run *= kiln_array_shape(z)[a];
                    break;
                }
        trouble_unless(!strcmp(order, expected),
                       "order %s of the axes in memory, %s was expected (%s and %s)", order, expected,
                       layout_x, layout_y);
    }
    stage_free(s);
}

static void order_keep(void)
{
    check_order("5,6,7", "C", "5,6,7", "C", "012");
    check_order("5,6,7", "F", "5,6,7", "F", "210");
    check_order("5,6,7", "P1,2,0", "5,6,7", "P1,2,0", "120");
    check_order("5,6,7", "P1,2,0", "7", "C", "120");
    check_order("5,6,7", "F", "", "C", "210");
    check_order("5,6,7", "F -0", "5,6,7", "F", "210");
    check_order("5,6,7", "P2,0,1 /1", "5,6,7", "=*", "201");
}

/* The order is part of what is remembered of a call. */
static void order_remembered(void)
{
    static const kiln_order orders[] = {KILN_ORDER_C, KILN_ORDER_KEEP, KILN_ORDER_KEEP, KILN_ORDER_C};
    stage *s = STAGE("float32 x, int16 y", "float32 z", "z = x + y");
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int count;
    stage_in(s, KILN_FLOAT32, "9,31", "F", FILL_SMALL);
    stage_in(s, KILN_INT16, "9,31", "F", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    for (int turn = 0; turn < 4; ++turn) {
        options.order = orders[turn];
        if (stage_check(s, sum_expected, &options))
            trouble_unless(kiln_array_is_f_contiguous(stage_outs(s, &count)[0]) ==
                               (orders[turn] == KILN_ORDER_KEEP),
                           "call %d: the other order came", turn);
    }
    stage_free(s);
}

const test_case layout_cases[] = {
    {"all_c", all_c, 0},
    {"all_f", all_f, 0},
    {"mixed_orders", mixed_orders, 0},
    {"reversed_inputs", reversed_inputs, 0},
    {"reversed_outputs", reversed_outputs, 0},
    {"stepped", stepped, 0},
    {"shifted", at_offset, 0},
    {"odd_lengths", odd_lengths, 0},
    {"broadcast_axes", broadcast_axes, 0},
    {"broadcast_scalars", broadcast_scalars, 0},
    {"stride_zero_inputs", stride_zero_inputs, 0},
    {"stride_zero_of_extent_one_output", stride_zero_of_extent_one_output, 0},
    {"no_axes", no_axes, 0},
    {"no_elements", no_elements, 0},
    {"fresh_outputs", fresh_outputs, 0},
    {"extents_of_one", extents_of_one, 0},
    {"ranks", ranks, 0},
    {"sixty_four_axes", sixty_four_axes, 0},
    {"permutations", permutations, 0},
    {"large", large, 0},
    {"transposed_copies", transposed_copies, 0},
    {"windows_of_odd_extents", windows_of_odd_extents, 0},
    {"windows_straight", windows_straight, 0},
    {"windows_crossed", windows_crossed, 0},
    {"windows_shifted", windows_at_offsets, 0},
    {"windows_at_limits", windows_at_limits, 0},
    {"windows_of_two_widths", windows_of_two_widths, 0},
    {"windows_with_another_input", windows_with_another_input, 0},
    {"windows_of_two_results", windows_of_two_results, 0},
    {"windows_with_index", windows_with_index, 0},
    {"stripes", raster_blocks, 0},
    {"tiles_over_two_axes", tiles_over_two_axes, 0},
    {"tiles_of_parts", tiles_of_parts, 0},
    {"rows_together", rows_together, 0},
    {"order_keep", order_keep, 0},
    {"order_remembered", order_remembered, 0},
    {NULL, NULL, 0},
};
