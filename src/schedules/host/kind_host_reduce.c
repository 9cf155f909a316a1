/* kind_host_reduce.c - reductions on the host, for any layout. Lanes of a vector are elements of a row, which
 * are reduced to one value in the end, or, if results are contiguous, results. A step has one element for
 * each lane. Steps along the innermost reduction axis form pieces, and pieces form chunks. Threads take
 * chunks. The space alone determines these, so the bits do not depend on the number of threads. If a result
 * has several chunks, each stores a partial. */
#include "schedule/kind.h"
#include "schedules/host/kind_host_reduce.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/extreme.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/host/host_kinds.h"
#include "space/numbers.h"
#include "types/dtype.h"

enum {
    LANE_BYTES =
        64, /* of the narrowest input: a line of the caches, which is several vectors of each wider type */
    WIDE_LANES = 8,    /* of a lane, at most: so that a line of 8-byte elements is read in order; and */
    STRUCT_LANES = 16, /* of a lane of structs, which take longer: more of them are in flight */
    SHORT_ROW = 15,    /* elements, up to which lanes are results even if elements are nearer; of */
    SHORT_TRUTHS = 7,  /* conditions, whose lanes are combined soonest, and of inputs of */
    MIXED_ITEM = 4,    /* bytes beside narrower ones, of which lanes of results are no vectors; of */
    SHORT_NARROW = 24, /* inputs that all have NARROW_ITEM bytes or less, which fill more lanes; and */
    NARROW_ITEM = 2,
    SHORT_BYTES = 31,   /* of bytes that are summed, of which 16 at a time are no vector; and */
    SHORT_STRUCTS = 48, /* of structs, whose lanes take longer to reduce */
    MOST_SHORT = 4096,  /* the same, up to which many rows are reduced at a time, */
    MOST_INDEXED = 384, /* with indices up to this, or of WIDE_ITEM bytes, whose indices are as wide, */
    MOST_WIDE_INDEXED = 100,
    WIDE_ITEM = 8,
    FLOAT_ITEM = 4,  /* of floats that processors compare */
    FEWEST_ROWS = 2, /* if there are as many as this; and */
    FEWEST_RUNS = 2, /* runs of results, of which there are so many; and elements */
    MOST_RUN = 64,   /* of rows of several axes, up to which steps go from row to row, and */
    SHORT_RUN = 7,   /* up to which lanes are results if these are neighbours; of structs */
    STRUCT_RUN = 15,
    MOST_BESIDE = 8, /* results of a run, up to which many runs are reduced at a time, of so many */
    MOST_COPIES = 8, /* elements of each, if they follow each other, and of rows of so many at most */
    MOST_FOLLOWING = 256,
    MOST_ALONE =
        160,      /* elements of rows that are searched as a whole, as all short rows of narrow ones are */
    NARROW = 256, /* lanes: with fewer results, a step has several elements of each; where these are */
    FAR_BYTES = 4 << 20, /* and more, which memory gives, so many bytes of them: steps side by side are */
    GROUP_BYTES = 256,   /* streams, which processors foresee if they are near */
    CHUNK = 1 << 15,     /* elements of a chunk, about; and */
    CHUNK_STEPS = 256,   /* steps at least, so that partials are few beside the elements */
    GRAIN = 1 << 14,     /* elements for a further thread: 1 us for threads that are awake */
    MOST_UNITS = 4096    /* of results that are neighbours, whose rows are cut */
};

/* ---- which way ---- */

static int64_t output_extent(const kn_space *s)
{
    return s->ndim > s->n_reduction_axes ? s->extent[s->ndim - s->n_reduction_axes - 1] : 1;
}

static int64_t row_length(const kn_space *s)
{
    return s->n_reduction_axes > 0 ? s->extent[s->ndim - 1] : 1;
}

/* Bytes from one element to the next along the axis, the sum of all inputs. */
static int64_t input_steps(const kn_choice *c, int axis)
{
    int64_t steps = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output)
            steps += llabs(c->space->stride[o][axis]);
    return steps;
}

static int narrowest_input(const kn_choice *c)
{
    int size = INT_MAX;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->access[o].item_size < size)
            size = c->access[o].item_size;
    return size;
}

/* Elements of rows up to which lanes are results. */
static int64_t short_row(const kn_choice *c)
{
    if (kn_reduce_is_struct(c))
        return SHORT_STRUCTS;
    if (kn_choice_widest(c, false) == 1 && kn_reduce_are_terms_narrow(c))
        return SHORT_BYTES;
    if (kn_choice_widest(c, false) <= NARROW_ITEM)
        return SHORT_NARROW;
    bool is_mixed = kn_choice_widest(c, false) == MIXED_ITEM && narrowest_input(c) < MIXED_ITEM;
    return kn_reduce_is_bool(c) || is_mixed ? SHORT_TRUTHS : SHORT_ROW;
}

/* Results are of several axes, whose rows are short runs: to begin a row takes longer than its elements. */
static bool are_short_runs(const kn_choice *c)
{
    int64_t length = row_length(c->space);
    return c->space->n_reduction_axes > 1 && length > 1 && length <= MOST_RUN && kn_reduce_size(c->space) > 0;
}

/* Lanes are elements of a row rather than results. */
static bool goes_by_rows(const kn_choice *c)
{
    const kn_space *s = c->space;
    int64_t length = row_length(s), outputs = output_extent(s);
    if (s->n_reduction_axes == 0 || outputs == 1)
        return s->n_reduction_axes > 0;
    if (input_steps(c, s->ndim - 1) > input_steps(c, s->ndim - s->n_reduction_axes - 1))
        return false;
    return length > short_row(c) || outputs < length ||
           (are_short_runs(c) && length > (kn_reduce_is_struct(c) ? STRUCT_RUN : SHORT_RUN));
}

static bool has_index(const kn_program *program)
{
    return (program->uses & KN_USES_REDUCTION_INDEX) != 0;
}

/* Indices lie beside values as wide as the widest of them. */
static bool has_wide_index(const kn_choice *c)
{
    return has_index(c->program) && narrowest_input(c) == WIDE_ITEM;
}

/* The extreme whose place is to be found along rows, in the order of their elements; else 0. */
static kn_extreme searched_extreme(const kn_choice *c)
{
    const kn_space *s = c->space;
    kn_extreme extreme = kn_body_is_place(c->program);
    const kn_dtype_info *info = extreme ? kn_dtype_info_of(c->program->param[0].dtype) : NULL;
    bool is_number = info && (info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT ||
                              (info->kind == KN_KIND_FLOAT && info->size >= FLOAT_ITEM));
    return is_number && s->n_reduction_axes == 1 && row_length(s) >= LANE_BYTES &&
                   input_steps(c, s->ndim - 1) == narrowest_input(c) &&
                   s->stride[s->n_operands - 1][s->ndim - 1] == 1
               ? extreme
               : KN_NO_EXTREME;
}

static int searched_indices(const kn_choice *c, const kn_host_reduce_config *config)
{
    int extreme = (int)searched_extreme(c);
    bool is_whole =
        config->short_rows && (row_length(c->space) <= MOST_ALONE || narrowest_input(c) <= NARROW_ITEM);
    return !extreme ? 0 : extreme - KN_GREATEST + (is_whole ? KN_HOST_REDUCE_ALONE : KN_HOST_REDUCE_SEARCHED);
}

/* Rows are so short that the work per row would dominate. */
static bool are_short_rows(const kn_choice *c)
{
    int64_t length = row_length(c->space);
    int64_t most = has_wide_index(c) ? MOST_WIDE_INDEXED : has_index(c->program) ? MOST_INDEXED : MOST_SHORT;
    most = searched_extreme(c) ? MOST_SHORT : most;
    return c->space->n_reduction_axes == 1 && length > 1 && length <= most &&
           output_extent(c->space) >= FEWEST_ROWS;
}

/* Half as many lanes leave less of a short row, and less to be reduced: lanes of bytes, and of sums that are
 * wider than their terms. */
static int lanes_of(const kn_choice *c)
{
    int widest = LANE_BYTES / (kn_reduce_is_struct(c) ? STRUCT_LANES : WIDE_LANES);
    int64_t item = narrowest_input(c);
    bool is_halved = item == 1 || (item < MIXED_ITEM && kn_reduce_are_terms_narrow(c));
    item = is_halved && are_short_rows(c) ? 2 * item : item;
    return LANE_BYTES / (int)kn_least(widest, item);
}

/* An input of which lanes have every second or fourth element: compilers load vectors where they know the
 * step, and keep what they need of them. Structs are not such, and steps of several inputs would be a binary
 * for each pair. */
static char access_apart(const kn_choice *c, int o, int along)
{
    int64_t stride = c->space->stride[o][along], item = c->access[o].item_size;
    if (kn_reduce_is_struct(c) || kn_choice_inputs(c) > 1)
        return KN_GATHER;
    return stride == 2 * item ? KN_VECTOR : stride == 4 * item ? KN_STAGED : KN_GATHER;
}

/* For all inputs, the row's next element follows where one result more would be. The reduction's index is no
 * input: kernels add that of a group to it. */
static bool runs_on(const kn_space *s, int n_operands, const kn_access *access)
{
    int outputs = s->ndim - s->n_reduction_axes - 1;
    bool runs = s->n_reduction_axes > 0;
    for (int o = 0; o < n_operands && runs; ++o)
        runs = access[o].is_output || s->stride[o][s->ndim - 1] == s->stride[o][outputs] * s->extent[outputs];
    return runs;
}

/* Results lie in runs of a few, of which there are many: a task for each would take longer than its
 * elements. */
static void find_runs(kn_host_reduce_config *config, const kn_choice *c)
{
    const kn_space *s = c->space;
    int64_t run = output_extent(s), length = row_length(s);
    int outputs = s->ndim - s->n_reduction_axes - 1;
    if (s->n_reduction_axes != 1 || outputs < 1 || run < 2 || run > MOST_BESIDE || length < 2 ||
        s->extent[outputs - 1] < FEWEST_RUNS || has_index(c->program))
        return;
    bool follows = runs_on(s, c->count, c->access);
    if (follows && length > MOST_FOLLOWING)
        return;
    config->beside = (int)run;
    config->short_rows = follows && length >= KN_HOST_REDUCE_COPIES;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    bool by_rows = goes_by_rows(c);
    int along = by_rows ? s->ndim - 1 : s->ndim - s->n_reduction_axes - 1;
    out->rank = kn_choice_rank(s->ndim);
    kn_host_reduce_config *config = kn_host_reduce_config_in(out);
    config->lanes_of_row = by_rows ? lanes_of(c) : 1;
    config->short_rows = !by_rows ? 0 : are_short_runs(c) ? KN_HOST_REDUCE_RUNS : are_short_rows(c);
    if (!by_rows)
        find_runs(config, c);
    config->half_width = narrowest_input(c) < WIDE_ITEM && kn_reduce_are_terms_narrow(c);
    if (by_rows && !config->short_rows && narrowest_input(c) < WIDE_ITEM && kn_reduce_size(s) <= INT32_MAX &&
        kn_reduce_are_terms_truths(c))
        config->half_width = KN_HOST_REDUCE_TRUTHS;
    bool is_grouped = !by_rows && has_index(c->program) && output_extent(s) < NARROW;
    config->indices = by_rows ? searched_indices(c, config) : is_grouped ? KN_HOST_REDUCE_GROUPED : 0;
    while (config->short_rows && config->lanes_of_row > row_length(s))
        config->lanes_of_row /= 2;
    if (!has_wide_index(c)) /* compilers split the masks of wide values for narrow indices */
        kn_reduce_set_index_type(out, c);
    for (int o = 0; o < c->count; ++o) {
        bool is_result = c->access[o].is_output;
        bool is_beside = is_result && config->short_rows && s->ndim > s->n_reduction_axes;
        int axis = is_beside ? s->ndim - s->n_reduction_axes - 1 : along;
        bool is_run = s->stride[o][axis] == c->access[o].item_size && !(by_rows && is_result && !is_beside);
        bool is_broadcast = !is_result && s->stride[o][along] == 0; /* the same for all lanes */
        out->access[o] = is_run         ? KN_DENSE
                         : is_broadcast ? KN_BROADCAST
                         : is_result    ? KN_GATHER
                                        : access_apart(c, o, along);
    }
    return true;
}

/* ---- launch parameters ---- */

static bool part_runs_on(const kn_part *part)
{
    kn_access access[KN_MAX_PARAMS];
    kn_spec_access(access, part->spec);
    return runs_on(part->space, part->spec->n_arrays, access);
}

/* Lanes of a step that has several elements of each result. */
static int64_t grouped_lanes(const kn_part *part)
{
    const kn_host_reduce_config *config = kn_host_reduce_config_of(&part->spec->schedule);
    kn_access access[KN_MAX_PARAMS];
    int64_t narrowest = INT_MAX, elements = 1;
    kn_spec_access(access, part->spec);
    for (int o = 0; o < part->spec->n_arrays; ++o)
        if (!access[o].is_output)
            narrowest = kn_least(narrowest, access[o].item_size);
    for (int a = 0; a < part->space->ndim; ++a)
        elements *= part->space->extent[a];
    bool is_far = elements >= FAR_BYTES / narrowest && config->indices != KN_HOST_REDUCE_GROUPED;
    return is_far ? kn_least(NARROW, GROUP_BYTES / narrowest) : NARROW;
}

static void set_steps(kn_host_reduce_field *f, const kn_part *part)
{
    const kn_host_reduce_config *config = kn_host_reduce_config_of(&part->spec->schedule);
    int64_t length = row_length(part->space), lanes = grouped_lanes(part);
    bool may_group = config->indices == KN_HOST_REDUCE_GROUPED || !has_index(part->spec->program);
    f->groups = !config->beside ? config->lanes_of_row : config->short_rows ? KN_HOST_REDUCE_COPIES : 1;
    if (f->groups == 1 && !config->beside && f->width < lanes && may_group && part_runs_on(part))
        f->groups = (int32_t)kn_most(1, kn_least(lanes / f->width, length));
    f->steps = length / f->groups;
    f->rest = length % f->groups;
}

/* Chunks of about CHUNK elements, in pieces of nearly equal length. */
static void set_chunks(kn_host_reduce_field *f, int64_t units)
{
    int64_t most = kn_most(CHUNK / (f->groups * f->width), CHUNK_STEPS / f->groups);
    most = kn_most(kn_multiple_up(most, KN_HOST_REDUCE_DEPTH), KN_HOST_REDUCE_DEPTH);
    f->pieces = kn_most(1, (f->steps + most - 1) / most);
    f->piece = kn_most(1, f->steps);
    if (f->pieces > 1) {
        f->piece = kn_multiple_up((f->steps + f->pieces - 1) / f->pieces, KN_HOST_REDUCE_DEPTH);
        f->pieces = (f->steps + f->piece - 1) / f->piece;
    }
    f->chunk = kn_most(1, most / f->piece);
    f->chunks = kn_most(1, (f->rows * f->pieces + f->chunk - 1) / f->chunk);
    if (units > MOST_UNITS || f->chunks == 1) {
        f->chunks = 1;
        f->chunk = f->rows * f->pieces;
    }
}

/* Neighbouring results of a task, of so many elements each. */
static int64_t most_wide(const kn_host_reduce_config *config, int64_t elements)
{
    if (config->short_rows || config->beside)
        return kn_most(1, kn_least(KN_HOST_REDUCE_BATCH, CHUNK / kn_most(elements, 1)));
    return config->lanes_of_row > 1 ? 1 : KN_HOST_REDUCE_WIDE;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    int64_t length = row_length(s), outputs = kn_space_output_size(s), run = output_extent(s);
    kn_host_reduce_field f = {.reduction_rank = s->n_reduction_axes, .rows = 1};
    const kn_host_reduce_config *config = kn_host_reduce_config_of(&part->spec->schedule);
    for (int a = s->ndim - s->n_reduction_axes; a < s->ndim - 1; ++a)
        f.rows *= s->extent[a];
    if (config->beside) { /* what is counted are runs */
        outputs /= run;
        length *= run;
        run = s->extent[s->ndim - 3];
    }
    f.width = kn_least(run, most_wide(config, length * f.rows));
    set_steps(&f, part);
    int64_t units = outputs / (f.width > 1 ? run : 1) * (f.width > 1 ? (run + f.width - 1) / f.width : 1);
    set_chunks(&f, units);
    if (config->beside) {
        f.chunks = 1;
        f.chunk = f.rows * f.pieces;
    }
    out->kernel_space = s;
    out->rank = s->ndim;
    out->size = units * f.chunks;
    out->grain = 1 + GRAIN / kn_most(1, length * f.rows * f.width / f.chunks);
    out->partials = f.chunks > 1 ? outputs * f.chunks * kn_most(1, kn_reduce_truth_size(part->spec)) : 0;
    out->counters = f.chunks > 1 ? (int)units : 0;
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    kn_host_reduce_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " rows=\"%lld\" steps=\"%lldx%d+%lld\" chunks=\"%lld\" width=\"%lld\"",
                  (long long)f.rows, (long long)f.steps, (int)f.groups, (long long)f.rest,
                  (long long)f.chunks, (long long)f.width);
}

const kn_kind kn_kind_host_reduce = {.name = "reduce",
                                     .recipe = &kn_recipe_host_reduce,
                                     .pattern = "mrk",
                                     .revision = 1,
                                     .choose = choose,
                                     .config = &kn_host_reduce_config_table,
                                     .field = KN_FIELD(kn_host_reduce_field, KN_HOST_REDUCE_FIELD),
                                     .place = place,
                                     .has_wide_axes = true,
                                     .describe = describe,
                                     .has_workspace = true,
                                     .has_baseline = true,
                                     .gathers_singly = true,
                                     .largest_value = KN_HOST_REDUCE_LARGEST,
                                     .in_order = kn_host_reduce_in_order};
