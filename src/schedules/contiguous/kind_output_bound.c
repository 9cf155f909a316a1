/* kind_output_bound.c - results that have more bytes than the inputs: the inputs are narrow, or small and
 * read many times (windows over a vector). A thread has several vectors of results, and loads the inputs of
 * all of them first, so that it has as many bytes in flight as other kinds. The vectors of a warp are
 * contiguous. Inputs that are broadcast along a row are loaded only one time for all vectors in that row. */
#include "schedules/contiguous/kind_output_bound.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    LEAST_SIZE = 1 << 15,  /* elements: fewer are better spread over more threads */
    READ_BYTES = 16,       /* of the narrowest input that is not broadcast, for each thread */
    SMALL_VECTORS = 2,     /* of a thread if inputs are small */
    SMALL_BLOCK = 512,     /* threads, likewise */
    SMALL_RATIO = 4,       /* inputs are small if results have this many bytes for each of theirs, */
    SMALL_BYTES = 1 << 24, /* and this many bytes in all */
    WORD = 4,
    VECTOR_BYTES = 16,
    LINE = 128,
    /* Bytes of an input that is resident: prefetched, and held in L2 while results are stored past it.
     * Smaller inputs gain too little; the limit is a third of an H200's L2. Windows of 128 over 8 MB take 238
     * us instead of 255; copies of 4 to 32 MB that follow are not slower. */
    LEAST_RESIDENT = 1 << 20,
    MOST_RESIDENT = 20 << 20,
    /* A larger input is prefetched in parts, a launch for each, with the results of that part. Then memory
     * reads in bursts, and no reads come between the writes of a part
     * (bench/results/nvidia-h200-narrow.md). */
    MOST_PREFETCHED = 9 << 20,
    PARTS_RATIO =
        16 /* bytes of results for each byte of an input above MOST_RESIDENT, from which on parts gain */
};

static bool is_broadcast(const kn_choice *c, int o)
{
    return c->space->stride[o][kn_choice_inner(c)] == 0;
}

/* Bytes of an element of the narrowest input that is not broadcast along rows; 0: all are. */
static int narrowest_moving(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && !is_broadcast(c, o) && (bytes == 0 || c->access[o].item_size < bytes))
            bytes = c->access[o].item_size;
    return bytes;
}

/* Bytes of the operand in memory: elements that are read several times count only one time. */
static int64_t footprint(const kn_choice *c, int o)
{
    int64_t bytes = kn_choice_footprint(c, o),
            reach = kn_space_reach(c->space, o, 0) + c->access[o].item_size;
    return bytes < reach ? bytes : reach;
}

static int64_t bytes_of(const kn_choice *c, bool outputs)
{
    int64_t bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += c->access[o].is_output == outputs ? footprint(c, o) : 0;
    return bytes;
}

static bool are_inputs_small(const kn_choice *c)
{
    int64_t results = bytes_of(c, true);
    return results >= SMALL_BYTES && bytes_of(c, false) <= results / SMALL_RATIO;
}

/* Vectors of a thread; 1: one vector has enough bytes. */
static int vectors_of_thread(const kn_choice *c, int vector, bool is_small)
{
    int bytes = vector * narrowest_moving(c), vectors = bytes > 0 ? READ_BYTES / bytes : 1;
    vectors = is_small && bytes > 0 && vectors < SMALL_VECTORS ? SMALL_VECTORS : vectors;
    return vectors < 1 ? 1 : vectors < KN_OUTPUT_BOUND_VECTORS ? vectors : KN_OUTPUT_BOUND_VECTORS;
}

/* A contiguous range with any alignment. */
static bool is_run(const kn_choice *c, int o, int vector)
{
    int bytes = vector * c->access[o].item_size;
    return !c->access[o].is_output && c->space->stride[o][kn_choice_inner(c)] == c->access[o].item_size &&
           c->space->extent[kn_choice_inner(c)] % vector == 0 && bytes >= WORD && bytes <= VECTOR_BYTES;
}

static bool set_access(kn_schedule *out, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o) {
        bool is_vector = kn_choice_is_vector(c, o, out->vector);
        if (!is_vector && !is_run(c, o, out->vector))
            return false;
        out->access[o] = !is_vector                                      ? KN_GATHER
                         : !c->access[o].is_output && is_broadcast(c, o) ? KN_BROADCAST
                                                                         : KN_VECTOR;
    }
    return true;
}

static bool goes_on(const kn_choice *c, int o)
{
    for (int a = 0; a < c->space->ndim; ++a)
        if (c->space->stride[o][a] < 0)
            return false;
    return true;
}

/* The most bytes of a resident input. One that is resident in parts is dense. */
static int64_t most_resident(const kn_choice *c, int o, int64_t results)
{
    bool is_dense = kn_space_reach(c->space, o, 0) < 2 * footprint(c, o);
    return is_dense && results / PARTS_RATIO > MOST_RESIDENT ? results / PARTS_RATIO : MOST_RESIDENT;
}

/* The largest input that is read many times and gains from being resident, as operand number + 1; 0: there is
 * none. It is prefetched from its first element on. */
static int find_resident(const kn_choice *c)
{
    int resident = 0;
    int64_t most = LEAST_RESIDENT - 1, results = bytes_of(c, true);
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output || !goes_on(c, o) || footprint(c, o) <= most ||
            kn_space_reach(c->space, o, 0) >= most_resident(c, o, results))
            continue;
        most = footprint(c, o);
        resident = o + 1;
    }
    return resident;
}

static int of_warp(const kn_schedule *s)
{
    return KN_OUTPUT_BOUND_WARP * s->vector * kn_output_bound_config_of(s)->vectors;
}

static int resident_of(const kn_schedule *s)
{
    return kn_output_bound_config_of(s)->resident - 1;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    kn_output_bound_config *config = kn_output_bound_config_in(out);
    bool is_small = are_inputs_small(c);
    out->vector = kn_choice_vector(c);
    if (c->space->size < LEAST_SIZE || out->vector == 1)
        return false;
    config->vectors = vectors_of_thread(c, out->vector, is_small);
    if (config->vectors == 1 || !kn_choice_is_near(c, of_warp(out)) || !set_access(out, c))
        return false;
    config->one_row = c->space->extent[kn_choice_inner(c)] % of_warp(out) == 0;
    config->streamed = is_small;
    config->resident = is_small ? find_resident(c) : 0;
    out->block = is_small && !c->block ? SMALL_BLOCK : kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
    return true;
}

/* ---- the launch ---- */

static bool has_field(const kn_schedule *schedule)
{
    return resident_of(schedule) >= 0;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t threads = (part->space->size + of_warp(s) - 1) / of_warp(s) * KN_OUTPUT_BOUND_WARP;
    out->kernel_space = part->space;
    out->rank = part->space->ndim;
    out->grid[0] = (unsigned)((threads + s->block - 1) / s->block);
    if (resident_of(s) >= 0) {
        uint32_t lines = (uint32_t)((kn_space_reach(part->space, resident_of(s), 0) + LINE) / LINE);
        memcpy(out->field, &lines, sizeof lines);
    }
    return KILN_OK;
}

/* The axis along which the resident input is cut, because it is too large to be prefetched by one launch; -1:
 * it is not. */
static int axis_of_resident(int64_t *align, const kn_part *part)
{
    const kn_space *space = part->space;
    int resident = resident_of(&part->spec->schedule), axis = -1;
    int64_t most = 0;
    if (resident < 0 || kn_space_reach(space, resident, 0) <= MOST_PREFETCHED)
        return -1;
    for (int a = 0; a < space->ndim; ++a) {
        int64_t reach = space->stride[resident][a] * (space->extent[a] - 1);
        axis = reach > most ? a : axis;
        most = reach > most ? reach : most;
    }
    *align = axis == space->ndim - 1 ? kn_cut_alignment(part, axis) : 1;
    return axis;
}

/* A row is cut at whole warps' vectors. */
static int cut(int64_t *align, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    int axis = kn_cut_reach(align, part);
    if (axis < 0)
        axis = axis_of_resident(align, part);
    if (axis == part->space->ndim - 1 && *align % of_warp(s) != 0)
        *align = of_warp(s);
    return axis;
}

static void describe(kn_str *out, const unsigned char *at)
{
    uint32_t lines;
    memcpy(&lines, at, sizeof lines);
    if (lines > 0)
        kn_str_printf(out, " resident=\"%u lines\"", (unsigned)lines);
}

const kn_kind kn_kind_output_bound = {.name = "output_bound",
                                      .recipe = &kn_recipe_output_bound,
                                      KN_MAP_KIND,
                                      .revision = 1,
                                      .fewest = 1 << 18,
                                      .config = &kn_output_bound_config_table,
                                      .field = {"unsigned lines;", 4, 8},
                                      .has_field = has_field,
                                      .cut = cut,
                                      .describe = describe};
