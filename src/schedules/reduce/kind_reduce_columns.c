/* kind_reduce_columns.c - reductions whose inputs are contiguous along an output axis. A block reduces the
 * rows of a tile of columns, and each of its threads a vector of results. The values of its threads are
 * combined in shared memory, those of several blocks by the block that finishes last. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedules/reduce/kind_reduce_slices.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "space/numbers.h"
#include "types/dtype.h"
#include "schedules/reduce/reduce_kinds.h"

enum {
    THREADS = 256,
    THREADS_STRUCT = 128, /* for structs, whose size and shared memory are unknown here */
    THREADS_STRUCTS = 64, /* the same, if a thread reduces a vector of structs */
    FEW_STRUCTS = 128,    /* rows along several axes below which structs are loaded one by one, and */
    LONG_STRUCTS = 4096, /* rows from which on blocks that share a tile are larger, so that they are fewer: */
    THREADS_LONG_STRUCTS = 256,
    THREADS_NARROW_STRUCTS = 512, /* of elements of two bytes at most and structs of words */
    STRUCT_VECTOR = 4,            /* structs of a vector, at most */
    SHARED = 32 << 10,            /* bytes of shared memory of a block, at most */
    STEPS = 4,                    /* rows of a thread in flight: src/schedules/reduce/reduce_columns.cu */
    SINGLE_STEPS = 8,             /* the same, for threads with one column */
    QUARTERS = 4,                 /* values that a thread combines in shared memory: the template */
    GROUP = 16,                   /* blocks whose partial results are reduced first: the same template */
    WIDEST_VECTOR = 8,            /* results of a thread */
    VECTOR_BYTES = 16,            /* of an access */
    LEAST_SINGLE = 4,       /* bytes of elements that are loaded one by one as fast as by halves of vectors */
    ACROSS = 16,            /* vectors of a tile of wide rows */
    ACROSS_SINGLE = 64,     /* columns of a tile, if a thread has one column */
    WHOLE_ROWS = 32,        /* vectors of a row up to which a tile has whole rows; of structs, never more */
    THREADS_SHORT = 128,    /* of a block with few elements, of many blocks */
    SHORT = 1 << 16,        /* elements of such a block, at most */
    LONGEST_TOGETHER = 512, /* columns of rows that are joined, at most */
    THREADS_LONG = 512,     /* of a block with more elements, if joined rows have more columns than: */
    LONG_TOGETHER = 64,
    ROWS_EACH = 32,                /* rows of a thread, below which a tile has fewer threads along them */
    DEEPEST = 16,                  /* threads along rows */
    LINE_LANES = 8,                /* lanes whose vectors of 16 bytes fill a line */
    LONGEST_INNER = 128,           /* elements along an inner axis that is reduced last, at most */
    SHORTEST_UNALIGNED = 96,       /* columns of unaligned rows, at least */
    CONCURRENT_THREADS = 1024,     /* of a multiprocessor, with the registers of float32 sums or structs */
    CONCURRENT_STRUCTS = 2048,     /* the same, if a thread reduces one struct */
    CONCURRENT_LONG_STRUCTS = 768, /* the same of large blocks of vectors of structs: emit_reduce.c, */
    CONCURRENT_DEEP_STRUCTS = 512, /* with more rows in flight, */
    CONCURRENT_JOINED = 768,       /* and of joined rows */
    CONCURRENT_SOME = 768,         /* the same, if a thread has more words for inputs and results than */
    FEW_WORDS = 28,
    CONCURRENT_MANY = 512, /* and than */
    SOME_WORDS = 44,
    WORD = 4,              /* bytes */
    MOST_WAVES = 4,        /* waves of blocks into which few tiles are split */
    LEAST_INNER_ROWS = 32, /* rows below which an inner axis is not reduced last, */
    LEAST_STRUCT_ROWS = 8, /* and of structs, which other kinds load one by one */
    PARTIALS_EACH = 8,     /* partial results of a thread above which they are reduced in two levels */
    SECTOR = 32,           /* bytes of a row, below which columns of other output axes are beside it */
    LOADED_OF_DEEP = 64,   /* bytes of a thread's loads, where narrow elements are reduced to structs, */
    MOST_DEEP = 16,        /* of so many rows, at most, */
    ARRAYS_OF_DEEP = 3,    /* and of one input, beside results */
    DEEP = 8,              /* rows of structs of words */
    MOST_STEPS = 1 << 30
};

/* The kind's field. Of a tile: splits and levels of its parts; threads across and down; width (columns),
 * pitch and slots; copies (rows that are joined), inner and inner_lanes; chunk (rows of a block); left
 * (elements behind the joined rows). per_row, per_second, per_third: extents of reduction axes, from the
 * innermost on. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned splits, tiles, across, down, width, chunk, pitch, copies, inner, inner_lanes, levels, left,     \
        is_unaligned, slots, reduction_unused;                                                               \
    long long columns, rows;                                                                                 \
    kn_divider per_row, per_second, per_third;
typedef struct columns_field {
    MEMBERS
} columns_field;

/* ---- the choice ---- */

static int64_t run_of(const kn_space *s, const kn_reduce_params *f)
{
    return s->extent[f->axis] * (f->inner < 0 ? 1 : s->extent[f->inner]);
}

/* Rows: elements along the reduced axes but the inner one. */
static int64_t rows_of(const kn_space *s, const kn_reduce_params *f)
{
    return kn_reduce_size(s) / (f->inner < 0 ? 1 : s->extent[f->inner]);
}

static int axes_of(const kn_space *s, const kn_reduce_params *f)
{
    return s->n_reduction_axes - (f->inner >= 0);
}

/* An output axis that every input continues contiguously after the innermost reduction axis; -1. */
static int axis_around(const kn_choice *c)
{
    const kn_space *s = c->space;
    for (int a = 0; a < s->ndim - s->n_reduction_axes; ++a) {
        bool all = true;
        for (int o = 0; o < c->count; ++o)
            all = all && (c->access[o].is_output ||
                          (s->stride[o][s->ndim - 1] == c->access[o].item_size &&
                           s->stride[o][a] == c->access[o].item_size * s->extent[s->ndim - 1]));
        if (all)
            return a;
    }
    return -1;
}

static bool find_axes(kn_reduce_params *f, const kn_choice *c)
{
    const kn_space *s = c->space;
    f->copies = 1;
    f->inner = -1;
    f->axis = kn_reduce_output_axis(c);
    if (f->axis >= 0)
        return true;
    int64_t least = kn_reduce_is_struct(c) ? LEAST_STRUCT_ROWS : LEAST_INNER_ROWS;
    if (s->n_reduction_axes < 2 || s->indices || s->extent[s->ndim - 1] > LONGEST_INNER ||
        kn_reduce_size(s) / s->extent[s->ndim - 1] < least)
        return false;
    f->inner = s->ndim - 1;
    f->axis = axis_around(c);
    return f->axis >= 0;
}

/* The number of rows that are joined to one row of whole vectors; 1 if rows are not contiguous one after
 * another. */
static int copies_of(const kn_choice *c, const kn_reduce_params *f, int vector, int block)
{
    const kn_space *s = c->space;
    int64_t run = run_of(s, f), rows = rows_of(s, f);
    int row_axis = f->inner < 0 ? s->ndim - 1 : s->ndim - 2;
    if (axes_of(s, f) != 1 || s->indices || kn_reduce_has_broadcast(c, f->axis) || run > LONGEST_TOGETHER)
        return 1;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && s->stride[o][row_axis] != run * c->access[o].item_size)
            return 1;
    int64_t least = vector / kn_common_divisor(run, vector), across = least * run / vector;
    int64_t times = across > 0 ? block / across : 0;
    if (times > LINE_LANES && times * across >= LINE_LANES)
        times -= times % (LINE_LANES / kn_common_divisor(across, LINE_LANES));
    while (times > 1 && times * least > rows / 2)
        --times;
    return times < 1 || times * least >= rows ? 1 : (int)(times * least);
}

/* True if all inputs that are not broadcast along the columns are contiguous there, and their vectors
 * aligned. Strides between rows may be unaligned if rows are joined. */
static bool is_aligned(const kn_choice *c, const kn_reduce_params *f, int vector, bool with_rows)
{
    const kn_space *s = c->space;
    int along = f->inner < 0 ? f->axis : f->inner, outputs = s->ndim - s->n_reduction_axes;
    for (int o = 0; o < c->count; ++o) {
        int64_t bytes = (int64_t)vector * c->access[o].item_size;
        if (c->access[o].is_output || (s->stride[o][along] == 0 && f->inner < 0))
            continue;
        if (s->stride[o][along] != c->access[o].item_size || c->access[o].address % (uintptr_t)bytes != 0)
            return false;
        for (int a = 0; a < s->ndim; ++a)
            if (a != f->axis && a != f->inner && (with_rows || a < outputs) && s->stride[o][a] % bytes != 0)
                return false;
    }
    return kn_reduce_bytes_along(c, along) > 0;
}

/* True if vectors may cross the ends of rows, whose elements are then loaded and ignored. The user's text
 * must not be able to see them by an index. */
static bool may_be_unaligned(const kn_choice *c, const kn_reduce_params *f, int vector)
{
    const kn_space *s = c->space;
    for (int k = 0; k < c->program->n_in + c->program->n_out; ++k)
        if (c->program->param[k].is_raw)
            return false;
    return f->inner < 0 && !s->indices && axes_of(s, f) == 1 && run_of(s, f) >= SHORTEST_UNALIGNED &&
           rows_of(s, f) >= (int64_t)4 * vector;
}

/* Elements of whole vectors of narrow inputs beside wider ones that are broadcast along the columns. */
static int vector_beside_weights(const kn_reduce_params *f, const kn_choice *c, int block)
{
    int vector = f->inner < 0 ? kn_reduce_vector_along(c, f->axis) : 1;
    while (vector > 1 && (vector > WIDEST_VECTOR || vector * block * kn_reduce_value_size(c) > SHARED))
        vector /= 2;
    return is_aligned(c, f, vector, true) && run_of(c->space, f) % vector == 0 ? vector : 1;
}

static void join_rows(kn_reduce_params *f, const kn_choice *c, int vector, int block, bool can)
{
    int64_t run = run_of(c->space, f);
    f->copies = can ? copies_of(c, f, vector, block) : 1;
    /* at least one joined row remains behind the elements in front of the first vector */
    if (!is_aligned(c, f, vector, false) && rows_of(c->space, f) * run - (vector - 1) < run * f->copies)
        f->copies = 1;
}

/* Results of a thread: as many as the inputs allow. */
static int aligned_vector(kn_reduce_params *f, const kn_choice *c, int block)
{
    const kn_space *s = c->space;
    int vector = kn_reduce_vector(c), size = kn_reduce_value_size(c);
    bool is_struct = kn_reduce_is_struct(c);
    while (vector > (is_struct ? STRUCT_VECTOR : WIDEST_VECTOR) ||
           (!is_struct && vector * block * size > SHARED))
        vector /= 2;
    if (vector <= 1)
        return 1;
    if (is_struct && axes_of(s, f) > 1)
        return 1; /* gathered_vector finds theirs */
    if (!is_struct && vector_beside_weights(f, c, block) > vector)
        return vector_beside_weights(f, c, block);
    if (is_aligned(c, f, vector, true) && run_of(s, f) % vector == 0)
        return vector;
    kn_reduce_fit fit = kn_reduce_fit_of(c, f->axis, vector, false);
    bool begins = is_aligned(c, f, vector, false);
    join_rows(f, c, vector, is_struct ? THREADS_STRUCTS : block,
              begins || (f->inner < 0 && fit != KN_FIT_NONE));
    if (f->copies > 1) {
        f->is_unaligned = !begins;
        return vector;
    }
    if (is_struct) /* half of it takes fewer loads and threads than single elements do */
        return is_aligned(c, f, vector / 2, true) && run_of(s, f) % (vector / 2) == 0 ? vector / 2 : 1;
    if (fit == KN_FIT_NONE || !may_be_unaligned(c, f, vector))
        return 1;
    f->is_unaligned = fit == KN_FIT_UNALIGNED;
    return vector;
}

/* The same of vectors that are gathered, if that is cheaper than single elements. Structs along one axis are
 * loaded one by one, those along several have the place of an element to find. */
static int gathered_vector(const kn_choice *c, const kn_reduce_params *f, int block)
{
    int vector = kn_reduce_unaligned_vector(c, f->axis), widest = kn_choice_widest(c, false);
    bool is_struct = kn_reduce_is_struct(c), has_axes = axes_of(c->space, f) > 1;
    while (vector > (is_struct ? STRUCT_VECTOR : WIDEST_VECTOR) ||
           (!is_struct && vector * block * kn_reduce_value_size(c) > SHARED))
        vector /= 2;
    if (is_struct && rows_of(c->space, f) < FEW_STRUCTS && is_aligned(c, f, vector, true))
        return 1;
    bool is_cheaper = has_axes || (!is_struct && (vector * widest >= VECTOR_BYTES || widest < LEAST_SINGLE));
    return f->inner < 0 && is_cheaper ? vector : 1;
}

static int vector_of(bool *is_gathered, kn_reduce_params *f, const kn_choice *c, int block)
{
    int vector = aligned_vector(f, c, block);
    *is_gathered = vector == 1 && gathered_vector(c, f, block) > 1;
    return *is_gathered ? gathered_vector(c, f, block) : vector;
}

/* Many blocks with few elements are smaller, so that more of them overlap. */
static int threads_of(const kn_choice *c, const kn_reduce_params *f)
{
    int64_t each = run_of(c->space, f) * rows_of(c->space, f), outers = c->space->size / each;
    int64_t run = run_of(c->space, f);
    if (axes_of(c->space, f) > 1)
        return THREADS;
    if (run % kn_reduce_vector(c) != 0 && run > LONG_TOGETHER && run <= LONGEST_TOGETHER && each > SHORT)
        return THREADS_LONG;
    return each <= SHORT && outers >= (int64_t)8 * c->target->multiprocessors ? THREADS_SHORT : THREADS;
}

/* True if the structs of a vector leave registers for more: results are of words at most, so that their
 * members are, too. */
static bool are_small_structs(const kn_choice *c, const kn_reduce_params *f)
{
    return axes_of(c->space, f) == 1 && rows_of(c->space, f) >= LONG_STRUCTS &&
           kn_choice_widest(c, true) <= WORD && c->count <= ARRAYS_OF_DEEP;
}

/* The last block of a tile combines the values of the others one after another, so that few large blocks are
 * better where rows are many. Structs of bytes, of double numbers, leave no registers for these. */
static int threads_of_structs(const kn_choice *c, const kn_reduce_params *f)
{
    int widest = kn_choice_widest(c, false);
    if (f->copies > 1 || rows_of(c->space, f) < LONG_STRUCTS)
        return THREADS_STRUCTS;
    return widest < WORD && are_small_structs(c, f) ? THREADS_NARROW_STRUCTS
           : widest > 1                             ? THREADS_LONG_STRUCTS
                                                    : THREADS_STRUCTS;
}

static void set_block(kn_schedule *s, const kn_reduce_params *f, const kn_choice *c)
{
    if (s->vector > 1 && kn_reduce_is_struct(c))
        s->block = threads_of_structs(c, f);
    else if (s->vector == 1 && !kn_reduce_is_struct(c))
        s->block = THREADS; /* a binary less */
}

/* True if a tile has the inner elements of a result. */
static bool holds_inner(const kn_schedule *s, const kn_reduce_params *f, const kn_choice *c)
{
    int64_t inner = f->inner < 0 ? 1 : c->space->extent[f->inner];
    int64_t across = inner / kn_common_divisor(inner, s->vector);
    return f->inner < 0 ||
           (s->vector > 1 && (kn_reduce_is_struct(c) ? across <= WHOLE_ROWS : s->block >= LONGEST_INNER));
}

/* The smallest step, in bytes, between two elements of an input along any of the axes that an input moves
 * along, but one; 0: it moves along none. */
static int64_t nearest_step(const kn_choice *c, int o, int from, int to, int but)
{
    int64_t least = 0;
    for (int a = from; a < to; ++a) {
        int64_t step = llabs(c->space->stride[o][a]);
        if (a != but && step != 0 && (least == 0 || step < least))
            least = step;
    }
    return least;
}

/* True if rows of one axis are less than a sector, and other output axes are nearer than the next row: as
 * single elements the columns of all output axes share sectors, and lines. */
static bool has_all_outputs(const kn_choice *c, const kn_reduce_params *f)
{
    const kn_space *s = c->space;
    int outputs = s->ndim - s->n_reduction_axes;
    if (f->inner >= 0 || outputs < 2 || kn_space_output_size(s) >= KN_MAX_INDEX / 2)
        return false;
    for (int o = 0; o < c->count; ++o) {
        int64_t beside = nearest_step(c, o, 0, outputs, f->axis),
                next = nearest_step(c, o, outputs, s->ndim, -1);
        if (!c->access[o].is_output && (s->stride[o][f->axis] != c->access[o].item_size || beside == 0 ||
                                        beside >= next || run_of(s, f) * c->access[o].item_size >= SECTOR))
            return false;
    }
    return true;
}

/* Rows in flight of a thread that has a vector: of structs as many as fill its registers with loads of narrow
 * elements, of which few bytes would be under way. 0: as many as usual. */
static int deep_of(const kn_schedule *s, const kn_reduce_params *f, const kn_choice *c)
{
    int widest = kn_choice_widest(c, false), deep = 0;
    if (s->vector == 1 || !kn_reduce_is_struct(c) || c->count > ARRAYS_OF_DEEP || widest == 0)
        return 0;
    if (widest < WORD)
        deep = LOADED_OF_DEEP / (s->vector * widest);
    else if (widest == WORD && s->block == THREADS_LONG_STRUCTS && are_small_structs(c, f))
        deep = DEEP;
    return deep > MOST_DEEP ? MOST_DEEP : deep > STEPS ? deep : 0;
}

/* Rows that a thread loads before it reduces any. */
static int steps_of(const kn_schedule *s)
{
    int deep = kn_reduce_columns_config_of(s)->deep;
    return deep > 0 ? deep : s->vector > 1 ? STEPS : SINGLE_STEPS;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_reduce_params f = {0};
    if (c->space->size == 0 || !find_axes(&f, c) || rows_of(c->space, &f) > MOST_STEPS ||
        kn_reduce_slices_crosses(c))
        return false;
    out->block = c->block ? c->block : kn_reduce_is_struct(c) ? THREADS_STRUCT : threads_of(c, &f);
    bool is_gathered = false, has_all = has_all_outputs(c, &f);
    out->vector = has_all ? 1 : vector_of(&is_gathered, &f, c, out->block);
    if (c->block == 0)
        set_block(out, &f, c);
    if (!holds_inner(out, &f, c))
        return false;
    *kn_reduce_columns_config_in(out) =
        (kn_reduce_columns_config){.reduction_axes = kn_reduce_known_axes(c->space, axes_of(c->space, &f)),
                                   .half_width = kn_reduce_are_terms_narrow(c),
                                   .all_outputs = has_all,
                                   .deep = deep_of(out, &f, c)};
    out->rank = kn_reduce_rank(c->space);
    if (is_gathered)
        kn_reduce_set_gathered(out, c, f.axis, false);
    else
        kn_reduce_set_access_along(out, c, f.axis);
    kn_reduce_set_index(out, c);
    out->order = out->order && out->vector > 1; /* single elements take longer so */
    memcpy(params, &f, sizeof f);
    kn_levels_note_offsets(params, c);
    return true;
}

/* ---- the launch ---- */

static bool reduces_structs(const kn_spec *spec)
{
    return kn_spec_value_dtype(spec, kn_spec_reduced_value(spec)) == KILN_DTYPE_NONE;
}

/* The arrangement of a block's threads: vectors across and rows down. Whole rows of a tile are contiguous
 * together, and should fill lines. */
static void lay_threads(columns_field *f, const kn_schedule *s, const kn_reduce_params *chosen,
                        int64_t vectors, bool is_struct)
{
    uint32_t block = (uint32_t)s->block, vector = (uint32_t)s->vector;
    bool slides = chosen->is_unaligned && chosen->copies == 1;
    uint32_t deep = kn_power_below(kn_clamp(f->rows / ROWS_EACH, 1, DEEPEST));
    deep = slides && deep < vector ? vector : deep;
    int64_t across = vector > 1 ? ACROSS : ACROSS_SINGLE,
            most = block / deep > across ? block / deep : across;
    int64_t widest = slides ? block / vector : block; /* rows of one thread have the same misalignment */
    most = most > widest ? widest : is_struct && vector > 1 && most > WHOLE_ROWS ? WHOLE_ROWS : most;
    if (chosen->copies > 1 || vectors <= (most > WHOLE_ROWS || slides ? most : WHOLE_ROWS))
        f->across = (uint32_t)vectors;
    else if (slides)
        f->across = 1 + (uint32_t)kn_divide_up(vectors - 1, kn_divide_up(vectors - 1, most - 1));
    else
        f->across = (uint32_t)kn_divide_up(kn_divide_up(vectors, kn_divide_up(vectors, most)), 2) * 2;
    f->down = chosen->copies > 1 ? 1 : block / f->across;
    uint32_t whole = slides                 ? vector
                     : f->across == vectors ? LINE_LANES / (uint32_t)kn_common_divisor(f->across, LINE_LANES)
                                            : 1;
    f->down = f->down > whole ? f->down / whole * whole : slides ? whole : f->down;
}

/* A tile ends where the inner elements of a result end. */
static void set_width(columns_field *f, const kn_schedule *s, const kn_reduce_params *chosen, int64_t run)
{
    uint32_t vector = (uint32_t)s->vector;
    f->width = (f->across - (chosen->is_unaligned && chosen->copies == 1)) * vector;
    if (f->inner > 1 && (int64_t)f->width < run) {
        uint32_t whole = f->inner / (uint32_t)kn_common_divisor(f->inner, vector) * vector;
        f->width = f->width > whole ? f->width / whole * whole : whole;
        f->across = f->width / vector;
        f->down = (uint32_t)s->block / f->across;
    }
    f->pitch = chosen->copies > 1 ? (uint32_t)run : f->across * vector;
}

/* The number of parts into which tiles are split: as few as fill waves of blocks, since a partial last wave
 * costs as much time as a full one. Tiles of many results have fewer parts, since all of them have to be
 * combined. */
static int64_t splits_of(const columns_field *f, const kn_target *target, int64_t concurrent, int64_t tiles,
                         int64_t most)
{
    int64_t wave = (int64_t)target->multiprocessors * concurrent, best = 1, best_share = 0;
    int64_t waves = f->copies > 1 || f->slots > ACROSS * STEPS ? 1 : MOST_WAVES;
    for (int64_t splits = 1; splits <= most && tiles * splits <= waves * wave; ++splits) {
        int64_t share = kn_reduce_wave_share(tiles * splits, wave);
        if (share > best_share) {
            best = splits;
            best_share = share;
        }
        if (share >= KN_REDUCE_FULL_WAVE)
            break;
    }
    return best;
}

static int64_t concurrent_structs(const kn_spec *spec)
{
    const kn_schedule *s = &spec->schedule;
    bool is_long = s->block >= THREADS_LONG_STRUCTS && !kn_reduce_has_half_vectors(spec);
    if (is_long && s->block == THREADS_LONG_STRUCTS && kn_reduce_columns_config_of(s)->deep > 0)
        return CONCURRENT_DEEP_STRUCTS;
    return s->vector == 1 ? CONCURRENT_STRUCTS : is_long ? CONCURRENT_LONG_STRUCTS : CONCURRENT_THREADS;
}

/* Threads of a multiprocessor at once: those that have registers for what each has loaded and for its
 * results. bench/results/reductions.md. */
static int64_t concurrent_of(const kn_spec *spec)
{
    const kn_schedule *s = &spec->schedule;
    int words = 2 * s->vector;
    if (reduces_structs(spec))
        return concurrent_structs(spec);
    for (int k = 0; k < spec->program->n_in; ++k) {
        const kn_operand *o = &spec->operand[k];
        if (o->array < 0)
            continue;
        int bytes = kn_dtype_info_of(o->dtype)->size * (s->access[o->array] == KN_VECTOR ? s->vector : 1);
        words += STEPS * (bytes > WORD ? bytes / WORD : 1);
    }
    return words <= FEW_WORDS ? CONCURRENT_THREADS : words <= SOME_WORDS ? CONCURRENT_SOME : CONCURRENT_MANY;
}

static void split(columns_field *f, const kn_spec *spec, int64_t tiles)
{
    const kn_schedule *s = &spec->schedule;
    int64_t turn = (int64_t)f->down * steps_of(s);
    bool are_joined = f->copies > 1 && reduces_structs(spec);
    int64_t concurrent = are_joined ? CONCURRENT_JOINED : concurrent_of(spec);
    int64_t splits =
        splits_of(f, &spec->target, kn_clamp(concurrent / s->block, 1, concurrent), tiles, f->rows / turn);
    f->chunk = (uint32_t)(kn_divide_up(kn_divide_up(f->rows, splits), turn) * turn);
    f->splits = (uint32_t)kn_divide_up(f->rows, f->chunk);
    int64_t each = (int64_t)f->splits * f->slots / s->block;
    f->levels = f->splits == 1 ? 0 : each > PARTIALS_EACH && f->splits > 2 * GROUP ? 2 : 1;
}

/* Joined rows are one row along the reduction axis. */
static void take_together(kn_space *axes, columns_field *f, int copies)
{
    int inner = axes->ndim - 1;
    for (int o = 0; o < axes->n_operands; ++o)
        axes->stride[o][inner] *= copies;
    axes->extent[inner] = f->rows;
}

/* Strides along the axis: of inputs from column to column, of outputs from result to result. */
static void step_by_columns(kn_space *axes, const kn_space *space, const kn_spec *spec, int at, int inner)
{
    kn_access access[KN_MAX_PARAMS];
    kn_spec_access(access, spec);
    for (int o = 0; inner >= 0 && o < spec->n_arrays; ++o)
        if (!access[o].is_output)
            axes->stride[o][at] = space->stride[o][inner];
}

/* Where there is no such axis, or it has too many elements, nothing is divided by it. */
static void set_dividers(columns_field *f, const kn_space *axes)
{
    kn_divider *divider[] = {&f->per_row, &f->per_second, &f->per_third};
    for (int k = 0; k < 3; ++k) {
        int64_t extent = k < f->reduction_rank ? axes->extent[axes->ndim - 1 - k] : INT32_MAX;
        *divider[k] = kn_divider_make((uint32_t)(k == f->reduction_rank - 1 && k > 0 ? INT32_MAX : extent));
    }
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    kn_reduce_params chosen;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    bool has_all = kn_reduce_columns_config_of(s)->all_outputs;
    int64_t run = has_all ? kn_space_output_size(space) : run_of(space, &chosen),
            rows = rows_of(space, &chosen);
    /* elements in front of the first vector, at most */
    int64_t wasted = chosen.is_unaligned && chosen.copies > 1 ? s->vector - 1 : 0;
    columns_field f = {.copies = (uint32_t)chosen.copies,
                       .inner = chosen.inner < 0 ? 1 : (uint32_t)space->extent[chosen.inner],
                       .is_unaligned = chosen.is_unaligned,
                       .rows = (rows * run - wasted) / (run * chosen.copies),
                       .columns = run * chosen.copies};
    f.left = (uint32_t)((rows - f.rows * chosen.copies) * (chosen.copies > 1 ? run : 0));
    f.inner_lanes = kn_power_below(f.inner < 32 ? f.inner : 32);
    int axis_at = kn_reduce_put_output_axes(&out->own_space, space, chosen.axis) - 1;
    step_by_columns(&out->own_space, space, part->spec, axis_at, chosen.inner);
    f.reduction_rank = kn_reduce_put_reduction_axes(&out->own_space, space, chosen.inner);
    set_dividers(&f, &out->own_space);
    if (chosen.copies > 1)
        take_together(&out->own_space, &f, chosen.copies);
    bool slides = chosen.is_unaligned && chosen.copies == 1;
    lay_threads(&f, s, &chosen, kn_divide_up(f.columns, s->vector) + slides, reduces_structs(part->spec));
    set_width(&f, s, &chosen, run);
    f.slots = (chosen.copies > 1 ? f.pitch : f.width) / f.inner;
    f.tiles = (uint32_t)kn_divide_up(f.columns, f.width);
    int64_t tiles = has_all ? f.tiles : f.tiles * (kn_space_output_size(space) / space->extent[chosen.axis]);
    split(&f, part->spec, tiles);
    if (f.splits > 1) {
        int64_t groups = f.levels > 1 ? kn_divide_up(f.splits, GROUP) : 0;
        out->counters = (int)(tiles * (groups + 1));
        out->partials = tiles * (f.splits + groups) * f.slots;
    }
    out->size = kn_space_output_size(space);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    out->grid[0] = (unsigned)(tiles * f.splits);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

/* The last block combines the blocks of a tile, or of a group and then the groups: as many threads of a
 * result as the block has, then by quarters. */
static void list_splits(kn_levels *levels, kn_level_values values, const columns_field *f, int64_t share)
{
    int64_t splits = f->splits;
    values.step = values.set_step;
    if (f->levels > 1) {
        values.sets = kn_divide_up(splits, GROUP);
        values.set_step = GROUP * values.step;
        values.each = GROUP;
        values.last = splits - (values.sets - 1) * GROUP;
        values = kn_levels_apart(levels, values, share, QUARTERS, false);
        values.step = values.set_step;
        splits = values.sets;
    }
    values.sets = 1;
    values.each = values.last = splits;
    kn_levels_apart(levels, values, share, QUARTERS, true);
}

/* Threads of a column take its rows, and are combined by quarters; then the columns of a result. slots:
 * results of a tile. */
static void list_columns(kn_levels *levels, const kn_schedule *s, const columns_field *f,
                         kn_level_threads threads, int64_t slots)
{
    const bool has_inner = f->inner > 1, is_alone = f->splits == 1;
    threads.sets = f->splits;
    threads.items *= f->inner;
    threads.chunk *= f->inner;
    threads.threads *= f->inner;
    threads.lanes = threads.threads;
    threads.turn = steps_of(s);
    threads.chain = KN_LEVELS_CHAIN;
    threads.are_whole = true;
    threads.are_results_near = true;
    int64_t behind = threads.items - (threads.sets - 1) * threads.chunk;
    threads.last = behind < threads.lanes ? behind : threads.lanes;
    if (threads.sets == 1)
        threads.threads = threads.last;
    kn_level_values values = kn_levels_threads(levels, &threads, false);
    values = kn_levels_rows_apart(levels, values, f->inner, QUARTERS, is_alone && !has_inner);
    if (has_inner)
        values = kn_levels_pairs(levels, kn_levels_strided(levels, values, f->inner_lanes, false), is_alone);
    if (!is_alone)
        list_splits(levels, values, f, s->block > slots ? s->block / slots : 1);
}

/* The last tile may have fewer columns, of which more threads then combine the blocks. */
static void list_tiles(kn_levels *levels, const kn_schedule *s, const columns_field *f, int axis)
{
    const kn_level_threads threads = {.items = f->rows, .chunk = f->chunk, .threads = f->down};
    if (kn_reduce_columns_config_of(s)->all_outputs) { /* the last tile combines as many columns as others */
        list_columns(levels, s, f, threads, f->slots);
        return;
    }
    int64_t columns = f->columns / f->inner,
            width = columns < f->width / f->inner ? columns : f->width / f->inner;
    int64_t whole = f->splits == 1 ? columns : columns - columns % width;
    kn_levels_take_results(levels, axis, 0, whole);
    list_columns(levels, s, f, threads, width);
    if (whole < columns) {
        kn_levels_take_results(levels, axis, whole, columns);
        list_columns(levels, s, f, threads, columns - whole);
    }
}

/* Joined rows as they are listed: the kind's field, and its schedule's choice. */
typedef struct joined {
    columns_field field;
    int axis;
    int64_t rows; /* of a result */
} joined;

/* The results from `first` on. The first row of those in front of the first vector, and the last row of
 * those behind the last one, are single elements; each of the joined rows is a thread. */
static void list_joined_results(kn_levels *levels, const joined *j, int64_t first, int64_t end, bool has_head,
                                bool has_tail)
{
    const columns_field *f = &j->field;
    const int64_t copies = f->copies, last = j->rows - 1;
    kn_level_threads threads = {
        .items = j->rows - has_head - has_tail,
        .chunk = f->chunk * copies,
        .threads = copies,
        .begin = has_head,
        .ends = {{has_tail, (last - has_head) % copies, last}, {has_head, copies - 1, 0}}};
    if (first >= end)
        return;
    kn_levels_take_results(levels, j->axis, first, end);
    list_columns(levels, &kn_levels_spec(levels)->schedule, f, threads, f->pitch / f->inner);
}

/* False: several rows have elements in front of the first vector, or behind the last one. */
static bool list_joined(kn_levels *levels, const void *field, int64_t head)
{
    const joined *j = field;
    const columns_field *f = &j->field;
    const int64_t run = f->pitch, vector = kn_levels_spec(levels)->schedule.vector;
    const int64_t behind = (j->rows - f->rows * f->copies) * run - head, tail = behind % vector;
    const int64_t from = run - tail;
    if (head > run || tail > run || (f->inner > 1 && head + tail > 0))
        return false;
    if (f->inner > 1) {
        list_joined_results(levels, j, 0, run / f->inner, false, false);
        return true;
    }
    list_joined_results(levels, j, 0, kn_least(head, from), true, false);
    list_joined_results(levels, j, head, from, false, false);
    list_joined_results(levels, j, from, head, true, true);
    list_joined_results(levels, j, kn_most(head, from), run, false, true);
    return true;
}

static bool list_levels(kn_levels *levels, const kn_part *part)
{
    kn_reduce_params chosen;
    joined j;
    memcpy(&chosen, part->launch_params, sizeof chosen);
    memcpy(&j.field, kn_levels_field(levels), sizeof j.field);
    j.axis = chosen.axis;
    j.rows = rows_of(part->space, &chosen);
    if (chosen.copies > 1)
        return chosen.is_unaligned ? kn_levels_each_head(levels, chosen.axis, list_joined, &j)
                                   : list_joined(levels, &j, 0);
    list_tiles(levels, &part->spec->schedule, &j.field, chosen.axis);
    return true;
}

static void describe(kn_str *out, const unsigned char *at)
{
    columns_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out,
                  " threads=\"%ux%u\" columns=\"%u of %lld\" rows=\"%u of %lld\" copies=\"%u\" inner=\"%u\" "
                  "levels=\"%u\" shifted=\"%u\"",
                  (unsigned)f.across, (unsigned)f.down, (unsigned)f.width, (long long)f.columns,
                  (unsigned)f.chunk, (long long)f.rows, (unsigned)f.copies, (unsigned)f.inner,
                  (unsigned)f.levels, (unsigned)f.is_unaligned);
}

const kn_kind kn_kind_reduce_columns = {.name = "reduce_columns",
                                        .recipe = &kn_recipe_reduce_columns,
                                        KN_REDUCE_KIND,
                                        .config = &kn_reduce_columns_config_table,
                                        .revision = 3,
                                        .fewest = 1 << 19,
                                        .field = KN_FIELD(columns_field, MEMBERS),
                                        .list_levels = list_levels,
                                        .cut = kn_reduce_cut_beside,
                                        .describe = describe,
                                        .has_workspace = true};
