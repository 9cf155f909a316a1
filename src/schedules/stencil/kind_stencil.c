/* kind_stencil.c - stencils: inputs that are one array at offsets of a few elements, lines and planes.
 *
 * Over two axes a thread loads each row only one time, for all inputs that are in it and for all of the
 * thread's rows of results. Over three axes a block loops over planes (2.5-D blocking), and holds in
 * registers what the next planes need again. Otherwise each plane would be loaded from L2 once more for each
 * of its neighbours, and L2 would be the bottleneck. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "program/pure.h"
#include "schedule/choice.h"
#include "schedules/stencil/stencil_windows.h"
#include "schedules/stencil/stencil_kinds.h"
#include "space/numbers.h"

enum {
    MOST_WORDS = 96, /* of 32 bits, in the vectors that a thread loads first, or holds */
    VECTOR_BYTES = 16,
    WORD = 4,       /* bytes that the threads of a warp exchange at a time if rows are unaligned */
    FEW_ROWS = 128, /* of results, below which rows that do not fill a thread count */
    WIDE = 32,      /* vectors of a block next to each other: a warp's */
    HIGH = 8,       /* threads of a block below each other, each with its rows */
    /* Percent of a warp's threads that have results if rows are unaligned: with fewer, the warp loses more
     * than shared loads save. Of a block's if a warp has several rows. */
    LEAST_USED = 67,
    LEAST_USED_BLOCK = 45,
    LEAST_USED_3D = 33, /* of a block that loops over planes */
    SHORTEST = 12,      /* elements of an unaligned row, if they are narrow, */
    SHORTEST_SPREAD =
        24,     /* and if spread lanes may store words of them (schedules/contiguous/rows_spread.cu) */
    NARROW = 2, /* bytes of elements of which short rows gain even if a thread has one line; wider ones gain
                   by lines that share loads */
    LEAST_INPUTS = 3, /* fewer share no loads */
    LINES_3D = 2,     /* lines of results of a thread, over three axes */
    /* Planes of results, and elements: with fewer, a block has nothing to hold. */
    LEAST_PLANES = 4,
    LEAST_SIZE_3D = 1 << 14
};

typedef struct launch_params {
    int line, plane; /* the axes from line to line, from plane to plane; plane -1: there are none */
    int off;         /* elements by which an unaligned row of results is off a vector's boundary, at most */
} launch_params;

/* The field of kernels of unaligned rows: lanes of a warp that have one row or a part of it, those of them
 * that compute what the part before needs, and rows that are side by side in a warp. inverse: of lanes, times
 * 2^16. */
#define MEMBERS                                                                                              \
    int lanes;                                                                                               \
    int before, rows_of_warp;                                                                                \
    unsigned inverse;
typedef struct unaligned_field {
    MEMBERS
} unaligned_field;

/* An input's offset from the stencil's first input. */
typedef struct offset {
    int64_t plane, line, column;
} offset;

typedef struct offsets {
    int first, count; /* operands */
    offset at[KN_STENCIL_MOST], least;
    /* The rows in which inputs are, each by a number that it alone has. */
    int64_t row[KN_STENCIL_ROWS];
    int n_rows;
} offsets;

/* ---- offsets ---- */

/* Finds the longest list of inputs that are one array at known offsets from each other. */
static bool find_inputs(offsets *s, const kn_choice *c)
{
    *s = (offsets){0};
    for (int from = 0; from < c->count; ++from) {
        int count = 1;
        while (from + count < c->count && c->space->after[from + count] != 0 &&
               c->space->after[from + count] != KN_SAME_ARRAY && !c->access[from + count].is_output)
            ++count;
        if (!c->access[from].is_output && count > s->count) {
            s->count = count;
            s->first = from;
        }
    }
    return s->count >= LEAST_INPUTS && s->count <= KN_STENCIL_MOST;
}

/* The distance in steps of so many bytes, rounded; what is left of it stays in *bytes. */
static int64_t take_steps(int64_t *bytes, int64_t step)
{
    int64_t steps = (*bytes + (*bytes < 0 ? -step : step) / 2) / step;
    *bytes -= steps * step;
    return steps;
}

static bool find_offsets(offsets *s, const kn_choice *c, const launch_params *f)
{
    const int64_t *stride = c->space->stride[s->first], item = c->access[s->first].item_size;
    int64_t bytes = 0;
    for (int k = 0; k < s->count; ++k) {
        offset *x = &s->at[k];
        bytes += k > 0 ? c->space->after[s->first + k] : 0;
        int64_t rest = bytes;
        x->plane = f->plane < 0 ? 0 : take_steps(&rest, stride[f->plane]);
        x->line = take_steps(&rest, stride[f->line]);
        x->column = rest / item;
        if (x->column * item != rest || llabs(x->column) >= KN_STENCIL_COLUMNS)
            return false;
        s->least = (offset){kn_least(s->least.plane, x->plane), kn_least(s->least.line, x->line),
                            kn_least(s->least.column, x->column)};
    }
    for (int k = 0; k < s->count; ++k)
        if (s->at[k].column - s->least.column >= KN_STENCIL_COLUMNS)
            return false;
    return true;
}

/* Adds the row unless it is there: in its place if rows ascend, else behind the others. */
static bool add_row(offsets *s, int64_t row, bool ascend)
{
    int at = 0;
    while (at < s->n_rows && (ascend ? s->row[at] < row : s->row[at] != row))
        ++at;
    if (at < s->n_rows && s->row[at] == row)
        return true;
    if (s->n_rows == KN_STENCIL_ROWS)
        return false;
    memmove(&s->row[at + 1], &s->row[at], (size_t)(s->n_rows - at) * sizeof *s->row);
    s->row[at] = row;
    ++s->n_rows;
    return true;
}

/* The number of an input's row: its line, or, over three axes, its plane and line. */
static int64_t row_of(const offsets *s, int k, const launch_params *f)
{
    return f->plane < 0
               ? s->at[k].line
               : (s->at[k].plane - s->least.plane) * KN_STENCIL_3D_SPAN + s->at[k].line - s->least.line;
}

/* Lists the rows; false: they are too many. */
static bool list_rows(offsets *s, const launch_params *f)
{
    for (int k = 0; k < s->count; ++k)
        if (!add_row(s, row_of(s, k, f), f->plane < 0))
            return false;
    return true;
}

/* Contiguous, with any alignment, and a vector of a result is whole words; or, for an input, broadcast. */
static bool is_contiguous(const kn_choice *c, int o, int vector)
{
    int64_t stride = c->space->stride[o][kn_choice_inner(c)], item = c->access[o].item_size;
    return c->access[o].is_output ? stride == item && vector * item % WORD == 0
                                  : stride == item || stride == 0;
}

/* Sets the letters of the inputs in the stencil, and of the others: `others` is KN_VECTOR, or KN_GATHER for
 * unaligned and broadcast ones. False: some of them are neither. */
static bool set_access(kn_schedule *out, const kn_choice *c, const offsets *s, const launch_params *f,
                       char others)
{
    int inner = kn_choice_inner(c);
    for (int o = 0; o < c->count; ++o) {
        int k = o - s->first, row = 0;
        bool is_input = k >= 0 && k < s->count;
        if (is_input              ? c->space->stride[o][inner] != c->access[o].item_size
            : others == KN_VECTOR ? !kn_choice_is_vector(c, o, out->vector)
                                  : !is_contiguous(c, o, out->vector))
            return false;
        while (is_input && s->row[row] != row_of(s, k, f))
            ++row;
        out->access[o] = is_input ? kn_stencil_letter(row, s->at[k].column - s->least.column) : others;
    }
    return true;
}

static bool has_whole_vectors(const kn_schedule *s, const kn_choice *c)
{
    return c->space->extent[kn_choice_inner(c)] % s->vector == 0;
}

/* ---- two axes ---- */

/* The nearest axis besides the fastest one, along which the array has ascending addresses. */
static bool find_line_axis(launch_params *f, const kn_choice *c, int o)
{
    *f = (launch_params){kn_space_nearest_axis(c->space, o, -1, -1), -1, 0};
    return f->line >= 0 && c->space->stride[o][f->line] > 0;
}

/* A bit for each row whose neighbour is in the stencil too; if there are any, a thread has several rows of
 * results. */
static int neighbours_of(const offsets *s)
{
    int bits = 0;
    for (int k = 0; k + 1 < s->n_rows; ++k)
        bits |= (s->row[k + 1] == s->row[k] + 1) << k;
    return bits;
}

/* The lanes of unaligned rows of so many elements. A short row has as many as it needs, also where it begins
 * in the middle of a vector; of a longer one a warp has a part, and its first lane the end of the part
 * before. */
static unaligned_field lanes_of(const kn_schedule *s, int64_t extent, int off)
{
    int64_t vectors = (extent + off + s->vector - 1) / s->vector;
    int lanes = vectors <= WIDE ? (int)vectors : WIDE;
    return (unaligned_field){lanes, vectors > WIDE, WIDE / lanes, (1u << 16) / (unsigned)lanes + 1};
}

/* Elements of a row that a warp, or a part of it, stores. */
static int64_t elements_along(const kn_schedule *s, const unaligned_field *f)
{
    return (int64_t)(f->lanes - f->before) * s->vector;
}

/* Blocks along an unaligned row of so many elements. */
static int64_t blocks_along(const kn_schedule *s, const unaligned_field *f, int64_t extent, int off)
{
    int64_t step = elements_along(s, f);
    return f->before ? (extent + off + step - 1) / step : 1;
}

/* Elements by which rows of results are off a vector's boundary, at most: addresses and strides may be
 * multiples of less than a vector. */
static int most_off(const kn_choice *c, int vector)
{
    int whole = vector;
    for (int o = 0; o < c->count; ++o)
        while (c->access[o].is_output && whole > 1 &&
               !kn_choice_is_aligned(c, o, kn_choice_inner(c), (int64_t)whole * c->access[o].item_size))
            whole /= 2;
    return vector - whole;
}

/* Lines of results of a block. */
static int64_t lines_of_block(const kn_schedule *s, const unaligned_field *f)
{
    return (int64_t)s->block / WIDE * f->rows_of_warp * kn_stencil_config_of(s)->rows;
}

/* Shorter rows are left to the kind rows: lanes of neighbours take 0.6 to 0.9 of the time in rows of 14. */
static int64_t shortest_row(const kn_choice *c)
{
    int64_t shortest = SHORTEST_SPREAD;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output &&
            (c->access[o].item_size < NARROW ||
             (c->access[o].item_size == NARROW && c->space->extent[kn_choice_inner(c)] % 2 != 0)))
            shortest = SHORTEST;
    return shortest;
}

/* Lanes past the end of an unaligned row compute too, so the body must be free of side effects. Enough of a
 * warp's lanes must have results. */
static bool may_be_unaligned(const kn_schedule *s, const kn_choice *c, launch_params *f)
{
    int64_t extent = c->space->extent[kn_choice_inner(c)];
    f->off = most_off(c, s->vector);
    unaligned_field lanes = lanes_of(s, extent, f->off);
    return c->program && kn_body_is_pure(c->program) && extent >= shortest_row(c) &&
           extent * lanes.rows_of_warp * 100 >=
               blocks_along(s, &lanes, extent, f->off) * WIDE * s->vector * LEAST_USED;
}

/* A block of several rows a warp has no more warps than lines need. False: too few of its lanes have any, or
 * offsets do not fit 32 bits. */
static bool fit_block(kn_schedule *s, const kn_choice *c, const launch_params *f)
{
    int64_t extent = c->space->extent[kn_choice_inner(c)], lines = c->space->extent[f->line];
    unaligned_field lanes = lanes_of(s, extent, f->off);
    if (!kn_stencil_is_unaligned(s) || lanes.rows_of_warp == 1)
        return kn_choice_fits_transposed(c, f->line, KN_STENCIL_RESULTS * HIGH);
    int64_t height = lines_of_block(s, &lanes), of_warp = height * WIDE / s->block;
    s->block = lines < height ? (int)((lines + of_warp - 1) / of_warp) * WIDE : s->block;
    height = lines_of_block(s, &lanes);
    int64_t elements = (lines + height - 1) / height * s->block * s->vector * kn_stencil_config_of(s)->rows;
    return extent * lines * 100 >= elements * LEAST_USED_BLOCK &&
           kn_choice_fits_transposed(c, f->line, (int)height);
}

/* Words of 32 bits in the vectors that hold a thread's windows. */
static int words_of(const kn_schedule *s, int item)
{
    kn_stencil_window w[KN_STENCIL_WINDOWS];
    int count = kn_stencil_windows(w, s), vectors = 0;
    for (int k = 0; k < count; ++k)
        vectors += (2 * VECTOR_BYTES - 1 - item + (s->vector + w[k].last - w[k].first) * item) / VECTOR_BYTES;
    return vectors * VECTOR_BYTES / 4;
}

/* As many rows as registers hold windows for. */
static void set_rows_of_thread(kn_schedule *s, const kn_choice *c, int item, int axis)
{
    int64_t rows = c->space->extent[axis];
    kn_stencil_config *config = kn_stencil_config_in(s);
    config->rows = config->neighbours ? KN_STENCIL_RESULTS : 1;
    while (config->rows > 1 &&
           (words_of(s, item) > MOST_WORDS || (rows < FEW_ROWS && rows % config->rows != 0)))
        config->rows /= 2;
}

/* Rows of whole vectors. Half of a block's lanes have results, or, of shorter vectors than there could be,
 * enough of them. */
static bool may_be_aligned(const kn_schedule *s, const kn_choice *c)
{
    int64_t extent = c->space->extent[kn_choice_inner(c)], step = (int64_t)WIDE * s->vector;
    return has_whole_vectors(s, c) && extent >= step / 2 &&
           (s->vector == kn_choice_vector(c) ||
            extent * 100 >= (extent + step - 1) / step * step * LEAST_USED);
}

/* The lines of a thread and of a block; false: they do not fit. */
static bool set_lines(kn_schedule *out, const kn_choice *c, const offsets *s, const launch_params *f)
{
    int item = c->access[s->first].item_size;
    int64_t extent = c->space->extent[kn_choice_inner(c)];
    kn_stencil_config_in(out)->neighbours = neighbours_of(s);
    set_rows_of_thread(out, c, item, f->line);
    out->block = WIDE * HIGH;
    bool is_short = out->vector < kn_choice_vector(c) ||
                    (kn_stencil_is_unaligned(out) && lanes_of(out, extent, f->off).rows_of_warp > 1);
    return (!is_short || item <= NARROW || kn_stencil_config_of(out)->rows > 1) && fit_block(out, c, f);
}

/* The longest vectors by which rows can be computed: unaligned ones may leave too many lanes without
 * results. Blocks of one warp with shorter vectors have too little to do (14 by 14). */
static bool set_vector(kn_schedule *out, const kn_choice *c, const offsets *s, launch_params *f)
{
    for (out->vector = kn_choice_vector(c); out->vector > 1; out->vector /= 2)
        if (((may_be_aligned(out, c) && set_access(out, c, s, f, KN_VECTOR)) ||
             (set_access(out, c, s, f, KN_GATHER) && may_be_unaligned(out, c, f))) &&
            set_lines(out, c, s, f))
            return out->vector == kn_choice_vector(c) || out->block > WIDE;
    return false;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    offsets s;
    launch_params f;
    if (c->space->size == 0 || !find_inputs(&s, c) || !find_line_axis(&f, c, s.first) ||
        !find_offsets(&s, c, &f) || !list_rows(&s, &f) || !set_vector(out, c, &s, &f) ||
        !kn_choice_is_near(c, out->vector * WIDE) || c->space->ndim + 2 > KILN_MAX_NDIM)
        return false;
    out->rank = kn_choice_rank(c->space->ndim + 2);
    memcpy(params, &f, sizeof f);
    return true;
}

/* A tile is a thread block's rows; over three axes a block loops over its planes, whose axis is the outermost
 * of the grid. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int inner = space->ndim - 1, first = f.plane < 0, count = 3 - first;
    bool is_unaligned = kn_stencil_is_unaligned(s);
    int64_t extent = space->extent[inner];
    unaligned_field lanes = is_unaligned ? lanes_of(s, extent, f.off) : (unaligned_field){WIDE, 0, 1, 0};
    const kn_tile_axis axis[] = {{f.plane, KN_STENCIL_3D_DEPTH, true},
                                 {f.line, lines_of_block(s, &lanes), false},
                                 {inner, elements_along(s, &lanes), false}};
    kn_tile_axes(&out->own_space, space, axis + first, count);
    if (is_unaligned) {
        out->own_space.extent[out->own_space.ndim - 1] = blocks_along(s, &lanes, extent, f.off);
        memcpy(out->field, &lanes, sizeof lanes);
    }
    out->size = kn_place_tiles(out, count);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    unaligned_field own;
    memcpy(&own, at, sizeof own);
    kn_str_printf(out, " lanes=\"%d\" rows_of_warp=\"%d\"", (int)own.lanes, (int)own.rows_of_warp);
}

const kn_kind kn_kind_stencil = {.name = "stencil",
                                 .recipe = &kn_recipe_stencil,
                                 KN_MAP_KIND,
                                 .revision = 2,
                                 .fewest = 1 << 18,
                                 .config = &kn_stencil_config_table,
                                 .field = KN_FIELD(unaligned_field, MEMBERS),
                                 .has_field = kn_stencil_is_unaligned,
                                 .cut = kn_cut_reach,
                                 .describe = describe};

/* ---- three axes ---- */

static bool find_axes(launch_params *f, const kn_choice *c, int o)
{
    if (!find_line_axis(f, c, o))
        return false;
    f->plane = kn_space_nearest_axis(c->space, o, f->line, -1);
    return f->plane >= 0 && c->space->stride[o][f->plane] > c->space->stride[o][f->line];
}

/* Inputs are in several planes, and lines and planes near each other. */
static bool are_planes_near(const offsets *s)
{
    bool several = false;
    for (int k = 0; k < s->count; ++k) {
        int64_t plane = s->at[k].plane - s->least.plane;
        several = several || plane > 0;
        if (plane >= KN_STENCIL_3D_SPAN || s->at[k].line - s->least.line >= KN_STENCIL_3D_SPAN)
            return false;
    }
    return several;
}

static int words_of_planes(const kn_schedule *s, int item)
{
    kn_stencil_3d_window w[KN_STENCIL_3D_WINDOWS];
    int count = kn_stencil_3d_windows(w, s), words = 0;
    for (int k = 0; k < count; ++k)
        words += ((s->vector + w[k].last - w[k].first) * item + VECTOR_BYTES - 1) / VECTOR_BYTES * 4;
    return words;
}

/* True if enough of the threads of blocks along lines and rows have results: a loop over planes keeps them.
 */
static bool are_blocks_used(const kn_schedule *s, const kn_choice *c, const launch_params *f)
{
    int64_t extent = c->space->extent[kn_choice_inner(c)], lines = c->space->extent[f->line],
            wide = (int64_t)WIDE * s->vector, high = (int64_t)HIGH * LINES_3D;
    return extent * lines * 100 >=
           kn_divide_up(extent, wide) * wide * kn_divide_up(lines, high) * high * LEAST_USED_3D;
}

static bool choose_3d(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    offsets s;
    launch_params f;
    if (c->space->size < LEAST_SIZE_3D || c->space->ndim < 3 || !find_inputs(&s, c) ||
        !find_axes(&f, c, s.first))
        return false;
    out->vector = kn_choice_vector(c);
    kn_stencil_config_in(out)->rows = LINES_3D;
    if (out->vector == 1 || !has_whole_vectors(out, c) || c->space->extent[f.plane] < LEAST_PLANES ||
        !are_blocks_used(out, c, &f) || !find_offsets(&s, c, &f) || !are_planes_near(&s) ||
        !list_rows(&s, &f) || !set_access(out, c, &s, &f, KN_VECTOR))
        return false;
    for (int row = 0; row < s.n_rows; ++row)
        kn_stencil_config_in(out)->places |= (int)s.row[row] << (row * KN_STENCIL_3D_ROW_BITS);
    if (words_of_planes(out, c->access[s.first].item_size) > MOST_WORDS ||
        !kn_choice_is_near(c, out->vector * WIDE) || !kn_choice_fits_transposed(c, f.line, LINES_3D * HIGH) ||
        !kn_choice_fits_transposed(c, f.plane, KN_STENCIL_3D_DEPTH + KN_STENCIL_3D_AHEAD + 1) ||
        c->space->ndim + 3 > KILN_MAX_NDIM)
        return false;
    out->block = WIDE * HIGH;
    out->rank = kn_choice_rank(c->space->ndim + 3);
    memcpy(params, &f, sizeof f);
    return true;
}

const kn_kind kn_kind_stencil_3d = {.name = "stencil_3d",
                                    .recipe = &kn_recipe_stencil_3d,
                                    .pattern = "m",
                                    .revision = 1,
                                    .fewest = 1 << 18,
                                    .choose = choose_3d,
                                    .config = &kn_stencil_config_table,
                                    .place = place,
                                    .cut = kn_cut_reach};
