/* kind_broad.c - results have more bytes than what is read: narrow inputs, or small ones of which elements
 * are read again and again (windows over a vector). A thread has several vectors of results, loaded before
 * the first is computed, so that it reads as much at once as others do. Those of a warp lie side by side,
 * and what stands still along a row is looked up once for all that lie in it. */
#include "schedules/contiguous/kind_broad.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    LEAST_SIZE = 1 << 15, /* elements: fewer are better spread over more threads */
    READ_BYTES = 16,      /* of the narrowest input that moves, a thread */
    MOST_VECTORS =
        4, /* of a thread: more are no better (u8 to f32 by plane: 4 in 99 % of the floor, 8 in 96) */
    SMALL_VECTORS = 2,     /* of a thread where inputs are small */
    SMALL_BLOCK = 512,     /* threads, likewise */
    SMALL_RATIO = 4,       /* bytes of results to one of inputs, from which on these are small */
    SMALL_BYTES = 1 << 24, /* of results, from which on it is worth it */
    WORD = 4,
    VECTOR_BYTES = 16,
    LINE = 128,
    /* Bytes of an input that is kept in the cache: more than is worth it for fewer, and up to a third of
     * what an H200's cache holds. Windows of 128 over 8 MB take 238 us with it and 255 without; copies of 4
     * to 32 MB that follow take what they take without it. */
    LEAST_KEPT = 1 << 20,
    MOST_KEPT = 20 << 20,
    /* Above this a launch asks for a part of it and has the results of that part: what is read then comes in
     * bursts, and nothing is read among the writes between them. bench/results/nvidia-h200-narrow.md. */
    MOST_ASKED = 9 << 20,
    PARTS_RATIO =
        16 /* bytes of results to one of an input above MOST_KEPT, from which on parts are worth it */
};

static bool is_still(const kn_choice *c, int o)
{
    return c->space->stride[o][kn_choice_inner(c)] == 0;
}

/* Bytes an element of the narrowest input that moves along rows; 0: none does. */
static int narrowest_moving(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && !is_still(c, o) && (bytes == 0 || c->access[o].item_size < bytes))
            bytes = c->access[o].item_size;
    return bytes;
}

/* Bytes of memory that the operand has, elements that are read several times counted once. */
static int64_t footprint(const kn_choice *c, int o)
{
    int64_t bytes = c->access[o].item_size, reach = kn_space_reach(c->space, o, 0) + bytes;
    for (int a = 0; a < c->space->ndim; ++a)
        bytes *= c->space->stride[o][a] != 0 ? c->space->extent[a] : 1;
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

/* Vectors of a thread; 1: its vectors read enough. */
static int vectors_of_thread(const kn_choice *c, int vector, bool is_small)
{
    int bytes = vector * narrowest_moving(c), vectors = bytes > 0 ? READ_BYTES / bytes : 1;
    vectors = is_small && bytes > 0 && vectors < SMALL_VECTORS ? SMALL_VECTORS : vectors;
    return vectors < 1 ? 1 : vectors < MOST_VECTORS ? vectors : MOST_VECTORS;
}

/* A run that begins anywhere. */
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
        out->access[o] = !is_vector                                  ? KN_GATHER
                         : !c->access[o].is_output && is_still(c, o) ? KN_BROADCAST
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

/* Bytes up to which an input is kept. One that is kept part by part is dense. */
static int64_t most_kept(const kn_choice *c, int o, int64_t results)
{
    bool is_dense = kn_space_reach(c->space, o, 0) < 2 * footprint(c, o);
    return is_dense && results / PARTS_RATIO > MOST_KEPT ? results / PARTS_RATIO : MOST_KEPT;
}

/* Of the inputs that are read again and again the one with most bytes, where it is worth to be kept, by its
 * number; 0. It is asked for from its first element on. */
static int find_kept(const kn_choice *c)
{
    int kept = 0;
    int64_t most = LEAST_KEPT - 1, results = bytes_of(c, true);
    for (int o = 0; o < c->count; ++o) {
        if (c->access[o].is_output || !goes_on(c, o) || footprint(c, o) <= most ||
            kn_space_reach(c->space, o, 0) >= most_kept(c, o, results))
            continue;
        most = footprint(c, o);
        kept = o + 1;
    }
    return kept;
}

static int of_warp(const kn_schedule *s)
{
    return KN_BROAD_WARP * s->vector * s->per_thread;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    bool is_small = are_inputs_small(c);
    out->vector = kn_choice_vector(c);
    if (c->space->size < LEAST_SIZE || out->vector == 1)
        return false;
    out->per_thread = vectors_of_thread(c, out->vector, is_small);
    if (out->per_thread == 1 || !kn_choice_is_near(c, of_warp(out)) || !set_access(out, c))
        return false;
    out->variant = (c->space->extent[kn_choice_inner(c)] % of_warp(out) == 0 ? KN_BROAD_TOGETHER : 0) |
                   (is_small ? KN_BROAD_PAST | find_kept(c) << KN_BROAD_KEPT : 0);
    out->block = is_small && !c->block ? SMALL_BLOCK : kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
    return true;
}

/* ---- the launch ---- */

static kn_field field(const kn_schedule *schedule)
{
    return kn_broad_kept(schedule) >= 0 ? (kn_field){"alignas(8) unsigned lines;\n", 4, 8} : KN_NO_FIELD;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t threads = (part->space->size + of_warp(s) - 1) / of_warp(s) * KN_BROAD_WARP;
    out->kernel_space = part->space;
    out->rank = part->space->ndim;
    out->grid[0] = (unsigned)((threads + s->block - 1) / s->block);
    if (kn_broad_kept(s) >= 0) {
        uint32_t lines = (uint32_t)((kn_space_reach(part->space, kn_broad_kept(s), 0) + LINE) / LINE);
        memcpy(out->field, &lines, sizeof lines);
    }
    return KILN_OK;
}

/* The axis along which the input that is kept reaches furthest, where it reaches too far to be asked for at
 * once; -1. */
static int axis_of_kept(int64_t *align, const kn_part *part)
{
    const kn_space *space = part->space;
    int kept = kn_broad_kept(&part->spec->schedule), axis = -1;
    int64_t most = 0;
    if (kept < 0 || kn_space_reach(space, kept, 0) <= MOST_ASKED)
        return -1;
    for (int a = 0; a < space->ndim; ++a) {
        int64_t reach = space->stride[kept][a] * (space->extent[a] - 1);
        axis = reach > most ? a : axis;
        most = reach > most ? reach : most;
    }
    *align = axis == space->ndim - 1 ? kn_cut_alignment(part, axis) : 1;
    return axis;
}

/* Rows that are cut have what whole warps do, too. */
static int cut(int64_t *align, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    int axis = kn_cut_reach(align, part);
    if (axis < 0)
        axis = axis_of_kept(align, part);
    if (axis == part->space->ndim - 1 && *align % of_warp(s) != 0)
        *align = of_warp(s);
    return axis;
}

static void describe(kn_str *out, const unsigned char *at)
{
    uint32_t lines;
    memcpy(&lines, at, sizeof lines);
    if (lines > 0)
        kn_str_printf(out, " kept=\"%u lines\"", (unsigned)lines);
}

const kn_kind kn_kind_broad = {.name = "broad",
                               .recipe = &kn_recipe_broad,
                               .pattern = "m",
                               .revision = 1,
                               .choose = choose,
                               .field = field,
                               .place = place,
                               .cut = cut,
                               .describe = describe};
