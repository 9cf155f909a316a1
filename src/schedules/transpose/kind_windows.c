/* kind_windows.c - an input is contiguous along another axis than the results, and rows begin anywhere. A
 * block copies a shared-memory tile of the input in aligned chunks of 16 bytes, and stores results in aligned
 * vectors. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedules/transpose/window_space.h"
#include "schedules/transpose/transpose_kinds.h"

enum {
    WINDOWS_BLOCK = 512,    /* threads */
    WINDOWS_SIZE = 1 << 14, /* fewest elements for which shared-memory tiles gain */
    SHORT_RUN = 64,         /* elements of a range of results, or of a side of a square */
    SMALL_TILE = 8192,      /* bytes of a square whose input's side is short, */
    SMALL_ACROSS = 4096,    /* of one whose results' side is */
    FEW_INSIDE = 400,       /* elements: at 392 a gather takes half of the time (H200) */
    WORDS_OF_BYTES = 16,    /* bytes of a vector that are packed in words where they are gathered */
    MOST_STAGED = 2,        /* inputs, each with a tile in shared memory */
    SECTOR = 32             /* bytes */
};

typedef struct launch_params {
    int axis;          /* of the space, along which the staged input's rows are */
    bool are_channels; /* input and results share the channels of the fastest axis */
} launch_params;

static bool is_whole_elements(const kn_choice *c, int o)
{
    return kn_choice_is_aligned(c, o, -1, c->access[o].item_size);
}

/* The vectors of all results begin at the same elements. */
static bool do_results_agree(const kn_choice *c, int vector)
{
    int first = -1;
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size;
        if (!c->access[o].is_output)
            continue;
        if (!is_whole_elements(c, o) || c->space->stride[o][kn_choice_inner(c)] != item)
            return false;
        for (int a = 0; first >= 0 && a < c->space->ndim; ++a)
            if ((c->space->stride[o][a] / item - c->space->stride[first][a] / c->access[first].item_size) %
                vector)
                return false;
        first = first < 0 ? o : first;
    }
    return first >= 0 && kn_choice_misalignment(c, vector) >= 0;
}

/* The axis along which the input continues if its channels are those of the results; -1: they are not, or it
 * does not. */
static int axis_of_channels(const kn_choice *c, int o)
{
    int inner = kn_choice_inner(c);
    return c->space->stride[o][inner] == c->access[o].item_size ? kn_space_next_axis(c->space, o, inner) : -1;
}

/* Two inputs have elements of one size, and the same strides: their tiles are alike but for where chunks of
 * 16 bytes begin. */
static bool lie_alike(const kn_choice *c, int o, int first)
{
    bool are_alike = c->access[o].item_size == c->access[first].item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        are_alike = are_alike && c->space->stride[o][a] == c->space->stride[first][a];
    return are_alike;
}

/* Inputs that lie as this one does, which is one of them: two at most have tiles, or one. */
static int count_alike(const kn_choice *c, int first)
{
    int count = 0;
    for (int o = 0; o < c->count; ++o)
        count += !c->access[o].is_output && lie_alike(c, o, first);
    return count;
}

/* An input that lies as the results do, element by element: its vectors begin where theirs do. */
static bool lies_as_results(const kn_choice *c, int o, int vector)
{
    const kn_space *s = c->space;
    bool does = kn_choice_agrees(c, o, vector, kn_choice_misalignment(c, vector));
    for (int r = 0; r < c->count; ++r)
        for (int a = 0; c->access[r].is_output && a < s->ndim; ++a)
            does =
                does && s->stride[o][a] * c->access[r].item_size == s->stride[r][a] * c->access[o].item_size;
    return does;
}

/* Vectors save instructions beside staged elements of two bytes and more; where these are bytes, or vectors
 * have two elements, or sixteen bytes, gathers take as long or less (H200). */
static bool saves_to_load(const kn_choice *c, int o, int first, int vector)
{
    return c->access[first].item_size > 1 && vector > 2 &&
           (c->access[o].item_size > 1 || vector < WORDS_OF_BYTES) && lies_as_results(c, o, vector);
}

/* One operand is staged, or two that lie alike; the others are vectors where they lie as the results do, or
 * gathered. False: none can be staged. */
static bool set_access(char *access, const kn_choice *c, const launch_params *f, int vector, bool narrow)
{
    int first = -1, count = 0, most = 1;
    for (int o = 0; o < c->count; ++o) {
        int axis = f->are_channels ? axis_of_channels(c, o) : kn_choice_contiguous_axis(c, o);
        bool can = count < most && !c->access[o].is_output && axis == f->axis && is_whole_elements(c, o) &&
                   !kn_choice_stays_near(c, o) && (first < 0 || lie_alike(c, o, first));
        access[o] = can ? KN_STAGED : c->access[o].is_output ? KN_VECTOR : KN_GATHER;
        if (can && first < 0) {
            first = o;
            most = !narrow && count_alike(c, o) <= MOST_STAGED ? MOST_STAGED : 1;
        }
        count += can;
    }
    for (int o = 0; o < c->count && first >= 0 && !narrow; ++o)
        if (access[o] == KN_GATHER && saves_to_load(c, o, first, vector))
            access[o] = KN_VECTOR;
    return first >= 0;
}

/* The input's rows are long enough, and so are the results' ranges, which continue along other axes if the
 * fastest axis is narrow. */
static bool are_sides_long(const kn_choice *c, int o, int axis)
{
    int inner = kn_choice_inner(c), next = kn_choice_next_of_results(c);
    int64_t run = c->space->extent[inner] * (next < 0 ? 1 : c->space->extent[next]);
    return kn_choice_side(c, o, axis) >= KN_SHORTEST_SIDE && run >= KN_SHORTEST_SIDE;
}

/* Channels that fill whole sectors are read as vectors by the kind rows, as fast. */
static bool are_channels_worth_it(const kn_choice *c, int o, int axis)
{
    int inner = kn_choice_inner(c), next = kn_choice_next_of_results(c);
    return c->space->extent[inner] * c->access[o].item_size % SECTOR != 0 && next >= 0 && next != axis &&
           c->space->extent[axis] >= KN_SHORTEST_SIDE && c->space->extent[next] >= KN_SHORTEST_SIDE;
}

/* Input and results have squares of few bytes one after another, of which one side is short. */
static bool is_small_square(const kn_choice *c, int axis)
{
    const kn_space *s = c->space;
    int inner = kn_choice_inner(c), before = axis - 1, widest = kn_choice_widest(c, true);
    int64_t count = s->extent[axis] * s->extent[inner];
    bool is_across = widest > 1 && s->extent[inner] < SHORT_RUN && count * widest < SMALL_ACROSS;
    bool is = axis == inner - 1 && before >= 0 &&
              (is_across || (s->extent[axis] < SHORT_RUN && count * widest < SMALL_TILE));
    for (int o = 0; o < c->count && is; ++o)
        is = is && s->stride[o][before] == count * c->access[o].item_size;
    return is;
}

/* Contiguous ranges of results are short, and few elements lie inside the axis along which an input's rows
 * are: then neighbouring warps read the same sectors of the input, and a gather is faster. So it is where
 * an input's rows are one after another in small squares: a block waits longer for its tile than it copies
 * (of uint8 40 by 100 took 4 times as long as a copy, 100 by 40 1.2 times; H200). */
static bool has_few_inside(const kn_choice *c, int axis)
{
    int inner = kn_choice_inner(c), next = kn_choice_next_of_results(c);
    bool goes_on = next >= 0 && next != axis, is_square = next == axis && is_small_square(c, axis);
    int64_t inside = 1, run = c->space->extent[inner] * (goes_on ? c->space->extent[next] : 1);
    for (int a = axis + 1; a <= inner; ++a)
        inside *= c->space->extent[a];
    return inside < FEW_INSIDE && (is_square || (run < SHORT_RUN && next != axis));
}

/* The first input whose rows are along another axis than the results; axis -1: there is none. */
static launch_params find_axis(const kn_choice *c)
{
    launch_params f = {kn_choice_transposed_axis(c), false};
    if (c->space->ndim < 2 || c->space->size < WINDOWS_SIZE ||
        c->space->ndim + KN_WINDOWS_AXES + 2 > KN_STAGED_RANK)
        return (launch_params){-1, false};
    for (int o = 0; o < c->count && f.axis < 0; ++o) {
        bool is_none = c->access[o].is_output || kn_choice_stays_near(c, o);
        int run = is_none ? -1 : kn_choice_contiguous_axis(c, o),
            channels = is_none ? -1 : axis_of_channels(c, o);
        if (run >= 0 && are_sides_long(c, o, run))
            f.axis = run;
        else if (channels >= 0 && are_channels_worth_it(c, o, channels))
            f = (launch_params){channels, true};
    }
    return f;
}

/* A vector's elements continue along the axis next to a narrow one several times. */
static bool can_be_narrow(const kn_choice *c, const launch_params *f)
{
    int next = kn_choice_next_of_results(c);
    return next >= 0 && next != f->axis && kn_choice_is_narrow(c, kn_choice_inner(c));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f = find_axis(c);
    int vector = kn_choice_vector(c);
    if (f.axis >= 0 && !f.are_channels && has_few_inside(c, f.axis))
        return false;
    bool narrow = f.axis >= 0 && (f.are_channels || c->space->extent[kn_choice_inner(c)] < vector);
    if (f.axis < 0 || !do_results_agree(c, vector) || !kn_choice_fits_transposed(c, f.axis, 1) ||
        !set_access(out->access, c, &f, vector, narrow) ||
        !(narrow ? can_be_narrow(c, &f) : kn_choice_is_near(c, vector)))
        return false;
    kn_transpose_config_in(out)->narrow_axis = narrow;
    out->vector = vector;
    out->block = WINDOWS_BLOCK;
    out->rank = KN_STAGED_RANK;
    memcpy(params, &f, sizeof f);
    return true;
}

/* A thread block for each shared-memory tile. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    kn_access access[KN_MAX_PARAMS];
    int shared_bytes;
    kn_windows windows;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    kn_spec_access(access, part->spec);
    kn_windows_make(&windows, &out->own_space, &shared_bytes, part->space, part->spec, access, f.axis);
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    out->grid[0] = (unsigned)kn_windows_count(&out->own_space);
    out->shared_bytes = (unsigned)shared_bytes;
    memcpy(out->field, &windows, sizeof windows);
    return KILN_OK;
}

/* The narrow axis of a result's range is never cut. */
static int cut(int64_t *align, const kn_part *part)
{
    bool narrow = kn_transpose_config_of(&part->spec->schedule)->narrow_axis;
    return kn_cut_beside(align, part, narrow ? part->space->ndim - 1 : -1, -1);
}

static void describe(kn_str *out, const unsigned char *at)
{
    kn_windows w;
    memcpy(&w, at, sizeof w);
    kn_str_printf(out, " tile=\"%u runs of %u%s\" pitch=\"%u\" lanes=\"%ux%u\"", w.rows, w.run,
                  w.crossed  ? ", crossed"
                  : w.shared ? ", of channels"
                             : "",
                  w.shared ? w.step : w.pitch, 1u << w.slot_lanes, 1u << w.row_lanes);
}

const kn_kind kn_kind_windows = {.name = "windows",
                                 .recipe = &kn_recipe_windows,
                                 KN_MAP_KIND,
                                 .takes_apart = true,
                                 .revision = 2,
                                 .fewest = 1 << 18,
                                 .config = &kn_transpose_config_table,
                                 .field = KN_FIELD(kn_windows, KN_WINDOWS_FIELD),
                                 .cut = cut,
                                 .describe = describe};
