/* kind_channels.c - a narrow axis of channels is innermost in some operands (interleaved, NHWC), while others
 * are contiguous along an axis of positions (planar, NCHW). A thread has all channels of some positions, and
 * transposes them in registers. */
#include "schedules/interleave/kind_channels.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedule/kind.h"
#include "program/pure.h"
#include "schedules/interleave/interleave_kinds.h"
#include "schedules/transpose/kind_tile.h"

enum {
    FEWEST_POSITIONS = 32, /* along the axis */
    SHORTEST_STAGED =
        16,            /* threads for the positions of one channel if results are staged in shared memory */
    PLANAR_BYTES = 8,  /* of one channel of a thread, in the narrowest operand */
    WIDEST_BYTES = 16, /* of an element of the widest operand */
    SINGLE_BYTES =
        8, /* of an element of planar operands, from which on one position is enough for a thread */
    HALVED_FROM =
        96, /* bytes of a thread in the narrowest operand, from which on it has half as many positions */
    WIDEST_HALVED = 192,     /* the same of the widest */
    HELD_BYTES = 640,        /* of all operands, in a thread's registers */
    EXPENSIVE_ELEMENTS = 32, /* of a thread if the body calls functions */
    BLOCK = 256,             /* threads */
    LEAST_BLOCK = 64,
    SHARED_BYTES = 24 << 10, /* of a block: with more of them it has fewer threads */
    TABLE_BYTES = 24 << 10,  /* of shared memory, at most */
    STATIC_BYTES = 48 << 10, /* that a block has without asking for more */
    WORD = 4,                /* bytes */
    WARP = 32
};

typedef struct launch_params {
    int position, channel; /* axes of the space */
} launch_params;

/* ---- the choice ---- */

static bool is_planar(const kn_choice *c, int o, const launch_params *f)
{
    return c->space->stride[o][f->position] == c->access[o].item_size;
}

static bool is_interleaved(const kn_choice *c, int o, const launch_params *f)
{
    int64_t item = c->access[o].item_size;
    return c->space->stride[o][f->channel] == item &&
           c->space->stride[o][f->position] == c->space->extent[f->channel] * item;
}

/* Narrow elements of an input that are interleaved backward along the channels: wider ones, and beside
 * wider ones, are as soon read one by one. */
static bool is_backward(const kn_choice *c, int o, const launch_params *f)
{
    int64_t item = c->access[o].item_size;
    return !c->access[o].is_output && kn_choice_widest(c, true) < WORD && kn_choice_widest(c, false) < WORD &&
           c->space->stride[o][f->channel] == -item &&
           c->space->stride[o][f->position] == c->space->extent[f->channel] * item;
}

/* Finds the two axes along which the operand is interleaved. */
static bool find_interleaved(launch_params *f, const kn_choice *c, int o)
{
    for (f->channel = 0; f->channel < c->space->ndim; ++f->channel) {
        if (c->space->extent[f->channel] > KN_MOST_CHANNELS)
            continue;
        for (f->position = 0; f->position < c->space->ndim; ++f->position)
            if (f->position != f->channel && c->space->extent[f->position] >= FEWEST_POSITIONS &&
                is_interleaved(c, o, f))
                return true;
    }
    return false;
}

/* True for a large input that is contiguous along a third axis: a thread's positions would be far apart
 * in it, and its neighbours' too. Tiles read it by rows. */
static bool lies_across(const kn_choice *c, int o, const launch_params *f)
{
    int axis = kn_choice_contiguous_axis(c, o);
    return !c->access[o].is_output && !kn_choice_stays_near(c, o) && axis >= 0 && axis != f->position &&
           axis != f->channel && c->space->extent[axis] >= KN_SHORTEST_SIDE &&
           c->space->stride[o][f->position] != 0;
}

/* Every result is interleaved or planar, and operands of both kinds occur, or some that lie backward. If
 * no planar operand has several channels, nothing has to be transposed, and whole vectors of channels are
 * left to the kind rows. */
static bool are_both(const kn_choice *c, const launch_params *f)
{
    bool runs = false, transposed = c->space->extent[f->channel] % kn_choice_vector(c) != 0;
    for (int o = 0; o < c->count; ++o) {
        runs = runs || is_planar(c, o, f) || is_backward(c, o, f);
        transposed = transposed || is_backward(c, o, f) ||
                     (is_planar(c, o, f) && c->space->stride[o][f->channel] != 0);
        if (lies_across(c, o, f) ||
            (c->access[o].is_output && !is_planar(c, o, f) && !is_interleaved(c, o, f)))
            return false;
    }
    return runs && transposed;
}

static bool find_axes(launch_params *f, const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (find_interleaved(f, c, o))
            return are_both(c, f);
    return false;
}

/* Bytes of an element of the widest, or the narrowest, operand that is not broadcast along the positions. */
static int moving_bytes(const kn_choice *c, const launch_params *f, bool widest)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o) {
        int own = c->access[o].item_size;
        if (c->space->stride[o][f->position] != 0 && (bytes == 0 || (own > bytes) == widest))
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

/* Each channel of a thread is one aligned vector. */
static bool is_vector(const kn_choice *c, int o, const launch_params *f, int positions)
{
    return is_planar(c, o, f) &&
           kn_choice_is_aligned(c, o, f->position, kn_choice_alignment(c, o, positions));
}

/* True if some planar operand is not read and stored by aligned vectors. */
static bool is_off(const kn_choice *c, const launch_params *f, int positions)
{
    bool some = false;
    for (int o = 0; o < c->count; ++o)
        some = some || (c->access[o].item_size >= SINGLE_BYTES && c->space->stride[o][f->position] != 0 &&
                        !is_interleaved(c, o, f) && !is_vector(c, o, f, positions));
    return some;
}

/* Positions of a thread; 0: its registers hold not even one. The wide elements of one channel fill the
 * vectors of a warp, wherever they begin, if each thread has one: none has to be put together. */
static int positions_of_thread(const kn_choice *c, const launch_params *f)
{
    int channels = (int)c->space->extent[f->channel], narrow = moving_bytes(c, f, false),
        wide = moving_bytes(c, f, true),
        positions = 0 < narrow && narrow < PLANAR_BYTES ? PLANAR_BYTES / narrow : 1;
    bool is_expensive = c->program && kn_cost_functions(c->program) > 0;
    while (positions > 1 &&
           (positions * wide > WIDEST_BYTES || channels * positions * narrow >= HALVED_FROM ||
            channels * positions * wide >= WIDEST_HALVED ||
            channels * positions * held_bytes(c) > HELD_BYTES ||
            (is_expensive && channels * positions > EXPENSIVE_ELEMENTS)))
        positions /= 2;
    if (positions > 1 && is_off(c, f, positions))
        positions = 1;
    return channels * positions * held_bytes(c) > HELD_BYTES ? 0 : positions;
}

/* If one planar result is unaligned, all planar results are staged in shared memory; if one planar input is
 * unaligned, all planar inputs are gathered. This saves a binary for each mixture. */
static void set_access(kn_schedule *out, const kn_choice *c, const launch_params *f)
{
    bool aligned[2] = {true, true}; /* inputs, results */
    for (int o = 0; o < c->count; ++o)
        if (!is_interleaved(c, o, f) && !is_backward(c, o, f) && c->space->stride[o][f->position] != 0 &&
            !is_vector(c, o, f, out->vector))
            aligned[c->access[o].is_output] = false;
    for (int o = 0; o < c->count; ++o)
        out->access[o] = is_interleaved(c, o, f)                 ? KN_STAGED
                         : is_backward(c, o, f)                  ? KN_DENSE
                         : c->space->stride[o][f->position] == 0 ? KN_BROADCAST
                         : aligned[c->access[o].is_output]       ? KN_VECTOR
                                                                 : KN_GATHER;
    kn_channels_config_in(out)->through_shared = !aligned[1];
}

static bool are_results_aligned(const kn_choice *c, const launch_params *f, int positions)
{
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !is_interleaved(c, o, f) && !is_vector(c, o, f, positions))
            return false;
    return true;
}

/* Half as many positions where planar results are then aligned vectors of eight bytes, which need no
 * staging. */
static int aligned_positions(const kn_choice *c, const launch_params *f, int positions)
{
    bool may = positions % 2 == 0 && positions / 2 * moving_bytes(c, f, true) >= PLANAR_BYTES;
    return may && !are_results_aligned(c, f, positions) && are_results_aligned(c, f, positions / 2)
               ? positions / 2
               : positions;
}

/* Elements of 16 bytes are aligned: they are moved as one word. */
static bool are_whole(const kn_choice *c)
{
    int whole = c->target->vector_bytes;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].item_size == whole && !kn_choice_is_aligned(c, o, -1, whole))
            return false;
    return true;
}

/* Bytes of shared memory for each thread: all results that are not stored as planar vectors. */
static int shared_bytes(const kn_choice *c, const kn_schedule *s)
{
    int bytes = 0;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && s->access[o] != KN_VECTOR)
            bytes += kn_channels_config_of(s)->channels * s->vector * c->access[o].item_size;
    return bytes;
}

/* The body is worth a table: one input of single bytes alone changes with the position, and all others are
 * broadcast, or differ by channel only. */
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
    bytes *= KN_TABLE_ENTRIES * kn_channels_config_of(s)->channels;
    return moving == 1 && bytes <= TABLE_BYTES && bytes + s->block * shared_bytes(c, s) <= STATIC_BYTES &&
           c->program && kn_body_is_pure(c->program) && kn_body_is_expensive(c->program);
}

/* Sixteen channels of whole vectors are left to other kinds: tiles are as fast, and elements of 16 bytes are
 * vectors themselves (complex128, 750 MB on an H200: 364 us element by element, 400 us here). */
static bool are_others(const kn_choice *c, const launch_params *f)
{
    return c->space->extent[f->channel] == KN_MOST_CHANNELS &&
           (kn_choice_widest(c, true) == WIDEST_BYTES || kn_tile_takes(c));
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f;
    kn_channels_config *config = kn_channels_config_in(out);
    if (c->space->size == 0 || kn_choice_widest(c, true) == 0 || c->space->ndim + 1 > KILN_MAX_NDIM ||
        !find_axes(&f, c) || !are_whole(c) || are_others(c, &f))
        return false;
    out->vector = aligned_positions(c, &f, positions_of_thread(c, &f));
    if (out->vector == 0 || !kn_choice_fits_transposed(c, f.channel, 1) ||
        !kn_choice_fits_transposed(c, f.position, out->vector * BLOCK))
        return false;
    config->channels = (int)c->space->extent[f.channel];
    out->rank = kn_choice_rank(c->space->ndim + 1);
    set_access(out, c, &f);
    if (config->through_shared && c->space->extent[f.position] < (int64_t)SHORTEST_STAGED * out->vector)
        return false;
    out->block = BLOCK;
    while (out->block > LEAST_BLOCK && out->block * shared_bytes(c, out) > SHARED_BYTES)
        out->block /= 2;
    config->table = can_look_up(c, out, &f);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* The roles of blocks. Most have whole parts of rows: a part is one thread's, or one block's if results are
 * staged. Some have the elements that are left at the ends of rows, one for each thread. The latter are
 * spread among the former, so that sectors which both write meet in the cache
 * (bench/results/nvidia-h200-narrow.md). */
#define MEMBERS                                                                                              \
    unsigned ends;                       /* elements that are left at the end of a row */                    \
    unsigned end_blocks;                 /* blocks that have these */                                        \
    unsigned each;                       /* every so many blocks one of those comes */                       \
    unsigned rows;                       /* of the space */                                                  \
    unsigned row_parts, channels_unused; /* of a row */
typedef struct channels_field {
    MEMBERS
} channels_field;

static void put_ends(kn_placement *out, const kn_part *part, const launch_params *f)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t parts = out->own_space.extent[out->own_space.ndim - 1], rows = parts > 0 ? out->size / parts : 0;
    int64_t ends = part->space->extent[f->position] % s->vector * kn_channels_config_of(s)->channels;
    unsigned blocks = (unsigned)((rows * ends + out->block - 1) / out->block);
    out->grid[0] += blocks;
    const channels_field own = {.ends = (uint32_t)ends,
                                .end_blocks = blocks,
                                .each = blocks > 0 ? out->grid[0] / blocks : 1,
                                .rows = (uint32_t)rows,
                                .row_parts = (uint32_t)parts};
    memcpy(out->field, &own, sizeof own);
}

/* Threads have parts in order. If results are staged, a block stays within one row. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int64_t each = s->vector;
    bool is_through_shared = kn_channels_config_of(s)->through_shared;
    if (is_through_shared) {
        int64_t threads = (part->space->extent[f.position] + s->vector - 1) / s->vector;
        threads = (threads + WARP - 1) / WARP * WARP;
        out->block = (unsigned)(threads < s->block ? threads : s->block);
        each *= out->block;
    }
    const kn_tile_axis axis[] = {{f.position, each, false}, {f.channel, 0, false}};
    kn_tile_axes(&out->own_space, part->space, axis, 2);
    out->size = kn_place_tiles(out, 2);
    if (!is_through_shared)
        out->grid[0] = (unsigned)((out->size + s->block - 1) / s->block);
    put_ends(out, part, &f);
    return KILN_OK;
}

/* The axis, other than the channels, along which the largest operand spans most. Channels may be as far apart
 * as offsets reach, each, and are never cut. */
static int cut(int64_t *align, const kn_part *part)
{
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int64_t most = 0;
    int furthest = 0, axis = f.position;
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
    *align = axis == f.position ? kn_cut_alignment(part, axis) : 1;
    return axis;
}

const kn_kind kn_kind_channels = {.name = "channels",
                                  .recipe = &kn_recipe_channels,
                                  KN_MAP_KIND,
                                  .revision = 1,
                                  .fewest = 1 << 18,
                                  .config = &kn_channels_config_table,
                                  .field = KN_FIELD(channels_field, MEMBERS),
                                  .cut = cut};
