/* kind_reduce_threads.c - reductions with very many results, whose inputs are contiguous along an output
 * axis: a thread reduces all rows of a vector of results. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/kind_reduce_slices.h"
#include "schedules/reduce/kind_reduce_tile.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"
#include "space/numbers.h"

enum {
    LEAST_EACH = 1024,    /* vectors of results for a multiprocessor: half of its threads, at least */
    SHORTEST_RANGE = 256, /* contiguous bytes of an input below which neighbours share no sectors */
    NO_RANGE = 64,        /* the same below which a block that has a tile of columns has hardly any */
    SMALL_TILE = 1024,    /* structs of a range and its rows below which a block of columns does too little */
    WIDEST_VECTOR = 8,    /* results of a thread */
    LONGEST = 4096,       /* rows: the terms of a thread's sum, at most */
    LONGEST_SINGLE = 64,  /* the same, if a thread has one result */
    NARROW = 8,   /* elements of a narrow row, at most: more vectors of a thread would leave the L1 cache */
    CROSSED = 16, /* elements of a row that lies across other inputs, at most; neighbours read */
    CROSSED_BYTES = 96, /* its lines one after another, and the L1 cache holds those of all threads */
    DENSE_ROWS = 8,     /* of narrow elements that lie one behind another */
    FEW_ROWS = 2,       /* of a thread, where there are weights and the rows of others are no vectors */
    STEPS = 4,          /* rows of a thread in flight: src/schedules/reduce/reduce_threads.cu */
    SINGLE_STEPS = 8,   /* the same, of threads with one result, or whose vectors are a word */
    VECTOR_BYTES = 16,
    SECTOR = 32, /* bytes that memory moves at least */
    WORD = 4
};

/* True if a result is contiguous along the axis, and its vectors are aligned. */
static bool is_vector_result(const kn_choice *c, int o, int axis, int vector)
{
    return c->space->stride[o][axis] == c->access[o].item_size &&
           kn_choice_is_aligned(c, o, axis, kn_choice_alignment(c, o, vector));
}

/* A thread has as few structs as fill a word of the widest input: loads of bytes would bind otherwise. */
static int widest_vector(const kn_choice *c)
{
    int vector = kn_reduce_vector(c), widest = kn_choice_widest(c, false);
    vector = vector > WIDEST_VECTOR ? WIDEST_VECTOR : vector;
    if (kn_reduce_is_struct(c))
        vector = widest > 0 && widest < WORD ? WORD / widest : 1;
    return vector;
}

static bool are_whole(const kn_choice *c, int axis, int vector)
{
    return c->space->extent[axis] % vector == 0 && kn_reduce_fit_of(c, axis, vector, false) == KN_FIT_ALIGNED;
}

/* Rows that are no whole vectors may be whole ones of fewer elements, if these are smaller than words. */
static int vector_of(const kn_choice *c, int axis)
{
    int vector = widest_vector(c), least = kn_choice_widest(c, false) < WORD ? 2 : vector;
    int beside_weights = kn_reduce_vector_along(c, axis);
    beside_weights = beside_weights > WIDEST_VECTOR ? WIDEST_VECTOR : beside_weights;
    if (!kn_reduce_is_struct(c) && beside_weights > vector && are_whole(c, axis, beside_weights))
        return beside_weights;
    while (vector >= least && vector > 1 && !are_whole(c, axis, vector))
        vector = vector > least ? vector / 2 : 1;
    return vector;
}

/* True if the rows of the input are contiguous one after another along the innermost output axis, and each
 * vector of rows is aligned. */
static bool has_rows_behind(const kn_choice *c, int o, int vector)
{
    const kn_space *s = c->space;
    int64_t item = c->access[o].item_size, bytes = item * vector;
    int inner = s->ndim - 1;
    if (s->stride[o][inner] != item || s->stride[o][inner - 1] != item * s->extent[inner] ||
        c->access[o].address % (uintptr_t)bytes != 0)
        return false;
    for (int a = 0; a < inner - 1; ++a)
        if (s->stride[o][a] % bytes != 0)
            return false;
    return true;
}

static bool has_weight(const kn_choice *c)
{
    bool has = false;
    for (int o = 0; o < c->count; ++o)
        has = has || kn_reduce_is_weight(c, o);
    return has;
}

/* Rows of a few elements that are no whole vectors, such as channels or coordinates. A thread has as many
 * rows as a vector has elements; together they are as many vectors as a row has elements. Where there are
 * weights, which a tile would load for each element, it has two rows if these are no vectors, and rows may be
 * whole ones. */
static bool choose_narrow(kn_schedule *out, kn_reduce_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1, widest = 0, widest_row = 0;
    for (int o = 0; o < c->count; ++o) {
        int item = kn_reduce_is_weight(c, o) ? 0 : c->access[o].item_size;
        widest = item > widest ? item : widest;
        widest_row = item > widest_row && !c->access[o].is_output ? item : widest_row;
    }
    f->axis = inner - 1;
    if (s->n_reduction_axes != 1 || s->ndim < 2 || s->extent[inner] < 2 || s->extent[inner] > NARROW ||
        widest == 0 || widest > VECTOR_BYTES / 2 ||
        (s->extent[inner] * widest_row % VECTOR_BYTES == 0 && !has_weight(c)) ||
        (kn_reduce_is_struct(c) && c->program->uses & KN_USES_REDUCTION_INDEX))
        return false;
    out->vector = VECTOR_BYTES / widest;
    out->vector = out->vector > WIDEST_VECTOR ? WIDEST_VECTOR : out->vector;
    if (has_weight(c) && s->extent[f->axis] % out->vector != 0)
        out->vector = FEW_ROWS;
    kn_reduce_threads_config_in(out)->narrow_row = (int)s->extent[inner];
    if (s->extent[f->axis] % out->vector != 0)
        return false;
    bool some = false;
    for (int o = 0; o < c->count; ++o) {
        bool is_row = !c->access[o].is_output && !kn_reduce_is_weight(c, o);
        if (is_row ? !has_rows_behind(c, o, out->vector)
                   : c->access[o].is_output && !is_vector_result(c, o, f->axis, out->vector))
            return false;
        out->access[o] = is_row ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_BROADCAST;
        some = some || is_row;
    }
    return some;
}

static bool are_vector_results(const kn_choice *c, int axis, int vector)
{
    bool are = true;
    for (int o = 0; o < c->count; ++o)
        are = are && (!c->access[o].is_output || is_vector_result(c, o, axis, vector));
    return are;
}

/* Where results are more bytes than narrow inputs, the stores of a warp fill sectors: a thread has 16 bytes
 * of results. */
static int vector_of_results(const kn_choice *c, int vector)
{
    int result = kn_choice_widest(c, true), input = kn_choice_widest(c, false);
    bool are_more = input < WORD && kn_reduce_size(c->space) * input < result && !kn_reduce_is_struct(c);
    while (are_more && vector > 2 && vector * result > VECTOR_BYTES)
        vector /= 2;
    return vector;
}

/* Few rows of narrow elements, one behind another: neighbours read the rest of a sector, and a tile would
 * take an instruction for each byte that it copies. */
static bool are_dense(const kn_choice *c, int axis, int vector)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1;
    bool are =
        vector > 1 && s->n_reduction_axes == 1 && s->extent[inner] <= DENSE_ROWS && !kn_reduce_is_struct(c);
    for (int o = 0; o < c->count; ++o)
        are = are && (c->access[o].is_output ||
                      (c->access[o].item_size < WORD && s->stride[o][axis] == c->access[o].item_size &&
                       s->stride[o][inner] == s->extent[axis] * c->access[o].item_size));
    return are;
}

/* Contiguous results: each thread has a vector of them. Where they are no vectors, and blocks of columns
 * would have hardly any, it has one. */
static bool choose_beside(kn_schedule *out, kn_reduce_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    f->axis = kn_reduce_output_axis(c);
    if (f->axis < 0 || kn_reduce_size(s) > LONGEST)
        return false;
    out->vector = vector_of(c, f->axis);
    int64_t range = s->extent[f->axis] * kn_choice_widest(c, false);
    if (range < NO_RANGE && out->vector > 1 && !are_vector_results(c, f->axis, out->vector))
        out->vector = 1;
    bool is_single = out->vector == 1 || out->vector < widest_vector(c);
    bool is_small = kn_reduce_is_struct(c) && kn_reduce_size(s) * s->extent[f->axis] < SMALL_TILE &&
                    !kn_reduce_tile_takes(c);
    bool is_short = range < SHORTEST_RANGE && !is_small && (range >= NO_RANGE || out->vector > 1);
    bool is_refused =
        is_short || (is_single && (kn_reduce_size(s) > LONGEST_SINGLE || s->n_reduction_axes > 1 ||
                                   kn_reduce_tile_takes(c) || kn_reduce_slices_crosses(c)));
    if (is_refused && !are_dense(c, f->axis, out->vector))
        return false;
    out->vector = vector_of_results(c, out->vector);
    kn_reduce_set_access_along(out, c, f->axis);
    kn_reduce_threads_config_in(out)->structs = out->vector > 1 && kn_reduce_is_struct(c);
    if (out->vector > 1 && !are_vector_results(c, f->axis, out->vector))
        return false;
    for (int o = 0; o < c->count && out->vector > 1; ++o)
        out->access[o] = c->access[o].is_output ? KN_VECTOR : out->access[o];
    return true;
}

/* Rows that follow each other along an axis, but for gaps as long as they are. */
static bool are_rows_near(const kn_choice *c, int axis)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1;
    bool are = true;
    for (int o = 0; o < c->count; ++o)
        are = are && (c->access[o].is_output || s->stride[o][inner] != c->access[o].item_size ||
                      llabs(s->stride[o][axis]) <= 2 * s->extent[inner] * c->access[o].item_size);
    return are;
}

/* Rows of few elements beside an input that is contiguous across them: a thread has a result, and loads its
 * row's elements where they are, since to stage them first would leave fewer loads under way. The letter says
 * that neighbours share the lines of rows, which is no reason to copy one of the inputs; rows of a word are
 * left to a map of their terms, where a thread has several results. */
static bool choose_crossed(kn_schedule *out, kn_reduce_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1;
    f->axis = kn_reduce_slices_crossed(c);
    if (f->axis < 0 || s->n_reduction_axes > 1 || s->extent[inner] > CROSSED ||
        s->extent[inner] * kn_choice_widest(c, false) > CROSSED_BYTES || !are_rows_near(c, f->axis))
        return false;
    bool is_word = s->extent[inner] * kn_choice_widest(c, false) <= WORD;
    out->vector = 1;
    kn_reduce_set_access(out, c, 1);
    for (int o = 0; o < c->count && !is_word; ++o)
        if (!c->access[o].is_output && s->stride[o][inner] == c->access[o].item_size)
            out->access[o] = KN_STAGED;
    return true;
}

/* The extents and strides of the elements that the results of a block are reduced from, by strides. */
typedef struct block_axis {
    int64_t extent, stride;
} block_axis;

static int compare_strides(const void *a, const void *b)
{
    const int64_t first = ((const block_axis *)a)->stride, second = ((const block_axis *)b)->stride;
    return (first > second) - (first < second);
}

/* True if neighbouring results of a block, with all elements of their rows, read most of each sector. */
static bool fills_sectors(const kn_choice *c, int o)
{
    const kn_space *s = c->space;
    block_axis axis[KILN_MAX_NDIM];
    int count = 0;
    int64_t left = kn_choice_block(c), elements = 1, runs = 1, span = c->access[o].item_size;
    for (int a = s->ndim; a-- > 0;) {
        int64_t extent = a >= s->ndim - s->n_reduction_axes || s->extent[a] < left ? s->extent[a] : left;
        if (a < s->ndim - s->n_reduction_axes)
            left = kn_divide_up(left, extent);
        if (extent > 1 && s->stride[o][a] != 0)
            axis[count++] = (block_axis){extent, llabs(s->stride[o][a])};
    }
    qsort(axis, (size_t)count, sizeof *axis, compare_strides);
    for (int a = 0; a < count; ++a) {
        elements *= axis[a].extent;
        if (runs == 1 && axis[a].stride < span + SECTOR)
            span += axis[a].stride * (axis[a].extent - 1);
        else
            runs *= axis[a].extent;
    }
    return 2 * runs * kn_divide_up(span, SECTOR) * SECTOR <= 3 * elements * c->access[o].item_size;
}

/* The same where the other input is contiguous along a short axis, so that no slices are staged, and short
 * rows with gaps: rows lie anywhere, but the results of a block read whole sectors of all inputs. */
static bool choose_dense(kn_schedule *out, kn_reduce_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1, rows = 0, others = 0, words = 0;
    f->axis = inner - 1;
    if (s->n_reduction_axes != 1 || s->ndim < 2 || c->block > 0 || s->extent[inner] > CROSSED ||
        s->extent[inner] * kn_choice_widest(c, false) > CROSSED_BYTES || kn_reduce_is_struct(c))
        return false;
    kn_reduce_set_access(out, c, 1);
    for (int o = 0; o < c->count; ++o) {
        int64_t step = llabs(s->stride[o][inner]);
        if (c->access[o].is_output || step == 0 || kn_reduce_is_weight(c, o))
            continue;
        if (!fills_sectors(c, o))
            return false;
        rows += step == c->access[o].item_size;
        words += c->access[o].item_size == WORD;
        others += step >= SECTOR;
        out->access[o] = step == c->access[o].item_size ? KN_STAGED : out->access[o];
    }
    out->vector = 1;
    bool are_gapped = rows == 1 && words == 1 && s->extent[inner] > STEPS && s->extent[inner] <= NARROW;
    return rows > 0 && (others > 0 || (are_gapped && !kn_reduce_tile_takes(c)));
}

/* The first way that does; the schedule has nothing of those before it. */
static bool choose_way(kn_schedule *out, kn_reduce_params *f, const kn_choice *c)
{
    static bool (*const way[])(kn_schedule *, kn_reduce_params *, const kn_choice *) = {
        choose_narrow, choose_crossed, choose_beside, choose_dense};
    bool is_chosen = false;
    for (size_t k = 0; k < sizeof way / sizeof way[0] && !is_chosen; ++k) {
        *out = (kn_schedule){.kind = out->kind};
        *f = (kn_reduce_params){0};
        is_chosen = way[k](out, f, c);
    }
    return is_chosen;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    const kn_space *s = c->space;
    kn_reduce_params f = {0};
    if (s->size == 0 || !choose_way(out, &f, c))
        return false;
    if (kn_space_output_size(s) / out->vector < (int64_t)LEAST_EACH * c->target->multiprocessors)
        return false;
    out->block = kn_choice_block(c);
    kn_reduce_threads_config_in(out)->reduction_axes = kn_reduce_known_axes(s, s->n_reduction_axes);
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index(out, c);
    out->order = out->order && out->vector > 1; /* single elements take longer so */
    memcpy(params, &f, sizeof f);
    return true;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    out->grid[0] = (unsigned)kn_divide_up(kn_reduce_place_beside(out, part, s->vector), s->block);
    return KILN_OK;
}

/* A thread has all elements of a result. */
static bool list_levels(kn_levels *levels, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_reduce_threads_config *config = kn_reduce_threads_config_of(s);
    const bool has_few_steps = s->vector > 1 && !config->structs;
    kn_levels_one_thread(levels, config->narrow_row > 0 ? 0 : has_few_steps ? STEPS : SINGLE_STEPS);
    return true;
}

const kn_kind kn_kind_reduce_threads = {.name = "reduce_threads",
                                        .recipe = &kn_recipe_reduce_threads,
                                        KN_REDUCE_KIND,
                                        .config = &kn_reduce_threads_config_table,
                                        .revision = 3,
                                        .field = KN_FIELD(kn_reduce_beside, KN_REDUCE_BESIDE),
                                        .list_levels = list_levels,
                                        .cut = kn_reduce_cut_beside,
                                        .describe = kn_reduce_describe_beside};
