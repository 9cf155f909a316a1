/* kind_pixels.c - a narrow axis lies innermost in some operands (pixels of a few channels), while others run
 * along another axis (planes): a thread takes all channels of some pixels, and turns them in its registers.
 */
#include "schedules/interleave/kind_pixels.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedule/kind.h"
#include "program/pure.h"
#include "schedules/interleave/interleave_kinds.h"
#include "schedules/transpose/kind_tile.h"

enum {
    SHORTEST_PLANE = 32, /* pixels along a plane */
    SHORTEST_LAID = 16,  /* threads that a plane's pixels are for where results are laid in shared memory */
    PLANE_BYTES = 8,     /* of each plane that a thread has, of the narrowest operand */
    WIDEST_BYTES = 16,   /* of the widest */
    HALVED_FROM =
        96, /* bytes of a thread's pixels, from which on it takes half of them: the narrowest operand */
    WIDEST_HALVED = 192, /* the same of the widest */
    HELD_BYTES = 640,    /* of all operands, in a thread's registers */
    DEAR_ELEMENTS = 32,  /* of a thread where the body takes functions */
    BLOCK = 256,         /* threads */
    LEAST_BLOCK = 64,
    SHARED_BYTES = 24 << 10, /* of a block, above which it has fewer threads */
    TABLE_BYTES = 24 << 10,  /* of shared memory, at most */
    STATIC_BYTES = 48 << 10, /* that a block has without asking for more */
    WARP = 32
};

typedef struct launch_params {
    int plane, channel; /* axes of the space */
} launch_params;

/* ---- the choice ---- */

static bool is_run(const kn_choice *c, int o, const launch_params *f)
{
    return c->space->stride[o][f->plane] == c->access[o].item_size;
}

static bool is_pixel(const kn_choice *c, int o, const launch_params *f)
{
    int64_t item = c->access[o].item_size;
    return c->space->stride[o][f->channel] == item &&
           c->space->stride[o][f->plane] == c->space->extent[f->channel] * item;
}

/* Axes of which the operand makes pixels. */
static bool find_pixels(launch_params *f, const kn_choice *c, int o)
{
    for (f->channel = 0; f->channel < c->space->ndim; ++f->channel) {
        if (c->space->extent[f->channel] > KN_MOST_CHANNELS)
            continue;
        for (f->plane = 0; f->plane < c->space->ndim; ++f->plane)
            if (f->plane != f->channel && c->space->extent[f->plane] >= SHORTEST_PLANE && is_pixel(c, o, f))
                return true;
    }
    return false;
}

/* Every result is pixels or runs along the planes, and there are operands of both kinds. Where none has
 * planes of its channels nothing is turned: rows of whole vectors do without this kind. */
static bool are_both(const kn_choice *c, const launch_params *f)
{
    bool runs = false, turned = c->space->extent[f->channel] % kn_choice_vector(c) != 0;
    for (int o = 0; o < c->count; ++o) {
        runs = runs || is_run(c, o, f);
        turned = turned || (is_run(c, o, f) && c->space->stride[o][f->channel] != 0);
        if (c->access[o].is_output && !is_run(c, o, f) && !is_pixel(c, o, f))
            return false;
    }
    return runs && turned;
}

static bool find_axes(launch_params *f, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (find_pixels(f, c, o))
            return are_both(c, f);
    return false;
}

/* Bytes an element of the widest operand that moves along the planes, or of the narrowest. */
static int moving_bytes(const kn_choice *c, const launch_params *f, bool widest)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o) {
        int own = c->access[o].item_size;
        if (c->space->stride[o][f->plane] != 0 && (bytes == 0 || (own > bytes) == widest))
            bytes = own;
    }
    return bytes;
}

static int held_bytes(const kn_choice *c)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        bytes += c->access[o].item_size;
    return bytes;
}

/* Pixels of a thread; 0 where its registers do not hold one. */
static int pixels_of_thread(const kn_choice *c, const launch_params *f)
{
    int channels = (int)c->space->extent[f->channel], narrow = moving_bytes(c, f, false),
        wide = moving_bytes(c, f, true),
        pixels = 0 < narrow && narrow < PLANE_BYTES ? PLANE_BYTES / narrow : 1;
    bool is_dear = c->program && kn_cost_functions(c->program) > 0;
    while (pixels > 1 &&
           (pixels * wide > WIDEST_BYTES || channels * pixels * narrow >= HALVED_FROM ||
            channels * pixels * wide >= WIDEST_HALVED || channels * pixels * held_bytes(c) > HELD_BYTES ||
            (is_dear && channels * pixels > DEAR_ELEMENTS)))
        pixels /= 2;
    return channels * pixels * held_bytes(c) > HELD_BYTES ? 0 : pixels;
}

/* Whether each of a thread's planes is one aligned vector. */
static bool is_vector(const kn_choice *c, int o, const launch_params *f, int pixels)
{
    int alignment = kn_choice_alignment(c, o, pixels);
    if (!is_run(c, o, f) || c->access[o].address % (uintptr_t)alignment != 0)
        return false;
    for (int a = 0; a < c->space->ndim; ++a)
        if (a != f->plane && c->space->stride[o][a] % alignment != 0)
            return false;
    return true;
}

/* Results of which some begin anywhere are laid in shared memory, and inputs of which some do are gathered,
 * all that run along the planes: a binary for each mixture is saved. */
static void set_access(kn_schedule *out, const kn_choice *c, const launch_params *f)
{
    bool aligned[2] = {true, true}; /* inputs, results */
    for (int o = 0; o < c->count; ++o)
        if (!is_pixel(c, o, f) && c->space->stride[o][f->plane] != 0 && !is_vector(c, o, f, out->vector))
            aligned[c->access[o].is_output] = false;
    for (int o = 0; o < c->count; ++o)
        out->access[o] = is_pixel(c, o, f)                    ? KN_STAGED
                         : c->space->stride[o][f->plane] == 0 ? KN_BROADCAST
                         : aligned[c->access[o].is_output]    ? KN_VECTOR
                                                              : KN_GATHER;
    out->variant = aligned[1] ? 0 : KN_PIXELS_LAID;
}

/* Elements of 16 bytes are moved whole. */
static bool are_whole(const kn_choice *c)
{
    int whole = c->target->vector_bytes;
    for (int o = 0; o < c->count; ++o) {
        uint64_t bits = c->access[o].address;
        for (int a = 0; a < c->space->ndim; ++a)
            bits |= (uint64_t)c->space->stride[o][a];
        if (c->access[o].item_size == whole && bits % (uint64_t)whole != 0)
            return false;
    }
    return true;
}

/* Bytes of shared memory of a thread: what results take that are no vectors. */
static int shared_bytes(const kn_choice *c, const kn_schedule *s)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && s->access[o] != KN_VECTOR)
            bytes += s->per_thread * s->vector * c->access[o].item_size;
    return bytes;
}

/* Whether one input of a byte alone moves along the planes and from one to the next, and the body is worth a
 * table: what stands still may differ from channel to channel. */
static bool can_look_up(const kn_choice *c, const kn_schedule *s, const launch_params *f)
{
    int bytes = 0, moving = 0;
    for (int o = 0; o < c->count; ++o) {
        bytes += c->access[o].is_output ? c->access[o].item_size : 0;
        if (c->access[o].is_output)
            continue;
        moving += s->access[o] != KN_BROADCAST;
        if (s->access[o] != KN_BROADCAST && c->access[o].item_size != 1)
            return false;
        for (int a = 0; s->access[o] == KN_BROADCAST && a < c->space->ndim; ++a)
            if (a != f->channel && c->space->stride[o][a] != 0)
                return false;
    }
    bytes *= KN_TABLE_ENTRIES * s->per_thread;
    return moving == 1 && bytes <= TABLE_BYTES && bytes + s->block * shared_bytes(c, s) <= STATIC_BYTES &&
           c->program && kn_body_is_pure(c->program) && kn_body_is_expensive(c->program);
}

/* Sixteen channels in whole vectors are other kinds': tiles move them as fast, and elements of 16 bytes are
 * vectors by themselves (complex128: 364 us element by element, 400 as pixels, for 750 MB on an H200). */
static bool are_others(const kn_choice *c, const launch_params *f)
{
    return c->space->extent[f->channel] == KN_MOST_CHANNELS &&
           (kn_choice_widest(c, true) == WIDEST_BYTES || kn_tile_takes(c));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f;
    if (c->space->size == 0 || kn_choice_widest(c, true) == 0 || c->space->ndim + 1 > KILN_MAX_NDIM ||
        !find_axes(&f, c) || !are_whole(c) || are_others(c, &f))
        return false;
    out->vector = pixels_of_thread(c, &f);
    if (out->vector == 0 || !kn_choice_fits_transposed(c, f.channel, 1) ||
        !kn_choice_fits_transposed(c, f.plane, out->vector * BLOCK))
        return false;
    out->per_thread = (int)c->space->extent[f.channel];
    out->rank = kn_choice_rank(c->space->ndim + 1);
    set_access(out, c, &f);
    if (out->variant == KN_PIXELS_LAID && c->space->extent[f.plane] < (int64_t)SHORTEST_LAID * out->vector)
        return false;
    out->block = BLOCK;
    while (out->block > LEAST_BLOCK && out->block * shared_bytes(c, out) > SHARED_BYTES)
        out->block /= 2;
    if (can_look_up(c, out, &f))
        out->variant |= KN_PIXELS_TABLE;
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* What the kernel has to know of its blocks: most take whole parts, of threads or, where planes are laid, of
 * blocks; some, one element a thread, what is left of each row. They stand among the others, so that sectors
 * which both write meet in the cache: bench/results/nvidia-h200-narrow.md. */
typedef struct pixels_field {
    uint32_t ends;       /* elements of a row that are left */
    uint32_t end_blocks; /* that take them */
    uint32_t each;       /* one in so many blocks is such a one, until there are no more */
    uint32_t rows;       /* of the space */
    uint32_t row_parts;  /* of a row */
    uint32_t unused;
} pixels_field;

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) kn_pixels pixels;\n", sizeof(pixels_field), 8};
}

static void put_ends(kn_placement *out, const kn_part *part, const launch_params *f)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t parts = out->own_space.extent[out->own_space.ndim - 1], rows = parts > 0 ? out->size / parts : 0;
    int64_t ends = part->space->extent[f->plane] % s->vector * s->per_thread;
    unsigned blocks = (unsigned)((rows * ends + out->block - 1) / out->block);
    out->grid[0] += blocks;
    const pixels_field own = {.ends = (uint32_t)ends,
                              .end_blocks = blocks,
                              .each = blocks > 0 ? out->grid[0] / blocks : 1,
                              .rows = (uint32_t)rows,
                              .row_parts = (uint32_t)parts};
    memcpy(out->field, &own, sizeof own);
}

/* Threads go along all pixels; where results are laid a block stays in one run of them. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int64_t each = s->vector;
    if (s->variant & KN_PIXELS_LAID) {
        int64_t threads = (part->space->extent[f.plane] + s->vector - 1) / s->vector;
        threads = (threads + WARP - 1) / WARP * WARP;
        out->block = (unsigned)(threads < s->block ? threads : s->block);
        each *= out->block;
    }
    const kn_tile_axis axis[] = {{f.plane, each, false}, {f.channel, 0, false}};
    kn_tile_axes(&out->own_space, part->space, axis, 2);
    out->size = kn_place_tiles(out, 2);
    if (!(s->variant & KN_PIXELS_LAID))
        out->grid[0] = (unsigned)((out->size + s->block - 1) / s->block);
    put_ends(out, part, &f);
    return KILN_OK;
}

/* The channels of an operand may lie as far apart as offsets reach, each: the axis that leads furthest
 * without them. They are never cut. */
static int cut(int64_t *align, const kn_part *part)
{
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int64_t most = 0;
    int furthest = 0, axis = f.plane;
    for (int o = 0; o < space->n_operands; ++o) {
        int64_t own =
            kn_space_reach(space, o, 0) - llabs(space->stride[o][f.channel]) * (space->extent[f.channel] - 1);
        furthest = own > most ? o : furthest;
        most = own > most ? own : most;
    }
    if (most <= KN_MAX_OFFSET && space->size / space->extent[f.channel] <= KN_MAX_INDEX)
        return -1;
    for (int a = 0; a < space->ndim; ++a)
        if (a != f.channel && llabs(space->stride[furthest][a]) * (space->extent[a] - 1) >
                                  llabs(space->stride[furthest][axis]) * (space->extent[axis] - 1))
            axis = a;
    *align = axis == f.plane ? kn_cut_alignment(part, axis) : 1;
    return axis;
}

const kn_kind kn_kind_pixels = {.name = "pixels",
                                .recipe = &kn_recipe_pixels,
                                .pattern = "m",
                                .revision = 1,
                                .choose = choose,
                                .field = field,
                                .place = place,
                                .cut = cut};
