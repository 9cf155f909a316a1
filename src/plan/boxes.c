#include "plan/boxes.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACCESS = 16,           /* bytes of a chunk, which one thread copies at once */
    BOX_BYTES = 58 << 10,  /* of shared memory that a box takes, about */
    SMALL_BOX = 8 << 10,   /* bytes that it takes where larger boxes would be fewer than ENOUGH_BOXES */
    ENOUGH_BOXES = 512,    /* boxes, for all multiprocessors to have some */
    CROSSED_ROW = 96,      /* bytes of a row, from which on crossing is worth it */
    CROSSED_BYTES = 512,   /* of results along the fastest axis, at most, where boxes cross */
    LONGEST_ROW = 4096,    /* bytes of a row in a box, at most */
    ENOUGH_ROW = 160,      /* bytes of a row in a box, below which it is not cut */
    MORE_PARTS = 4,        /* ways to cut beyond the fewest parts that are looked at */
    SLOT_LANES = 5,        /* log2 of threads side by side along a run, at least: a warp has one run */
    BYTE_LANES = 3,        /* log2 of these threads for elements of a byte, whose boxes are shorter */
    CHUNK_LANES = 5,       /* log2 of threads along a row, at most */
    MOST_BYTES = 63 << 10, /* of a box: larger ones were not measured */
    BLOCKS = 4,            /* on a multiprocessor, as registers allow for elements of 4 bytes or more */
    SMALL_BLOCKS = 3,      /* on a multiprocessor, as registers allow for smaller elements */
    CACHE_BYTES = 32 << 10 /* of a multiprocessor that shared memory leaves to a cache of some size */
};

/* What a box takes, in turns of a block's threads that store a slot each: fitted by bench/models/fit.py to
 * boxes of transposes and orders of axes with odd extents, measured on an H200. */
static const double copy_turn = 0.8;     /* turns that one takes in which a chunk each is copied */
static const double run_ends = 0.0625;   /* turns for both ends of a run, which fill no slot: one of a warp */
static const double input_row = 0.01;    /* turns for each row of the input */
static const double starved_cache = 1.5; /* times as much, where adjacent rows are not read once for both */

/* The least distance of two rows in shared memory that has the low bits of their distance in memory, so that
 * both have the same chunks. */
static int64_t pitch_for(const kn_cut *c, int64_t columns)
{
    int64_t low = c->space->stride[c->staged][c->axes.fastest] & (ACCESS - 1);
    int64_t least_pitch = columns * c->item + 2 * (ACCESS - 1);
    return least_pitch + ((low - least_pitch) & (ACCESS - 1));
}

static void size_boxes(kn_cut *c)
{
    int64_t share = c->space->size * c->item / ENOUGH_BOXES;
    int64_t most = kn_least(share, BOX_BYTES);
    c->box_bytes = most > SMALL_BOX ? most : SMALL_BOX;
}

/* Elements of each row for which a crossed box, which takes all rows along the fastest axis, has room. */
static int64_t crossed_columns(const kn_cut *c, int axis)
{
    int64_t room = kn_least(LONGEST_ROW, c->box_bytes / kn_cut_extent(c, c->axes.fastest) - 3 * ACCESS);
    return kn_least(room / c->item, kn_cut_extent(c, axis));
}

bool kn_cut_is_crossed(kn_cut *c, int axis)
{
    size_boxes(c);
    return kn_cut_extent(c, c->axes.fastest) * c->item <= CROSSED_BYTES &&
           crossed_columns(c, axis) * c->item >= CROSSED_ROW;
}

static int64_t whole_vectors(const kn_cut *c, int64_t elements)
{
    return kn_divide_up(elements, c->schedule->vector) * c->schedule->vector;
}

/* Each time that rows go on along their second axis up to 15 bytes are left out. */
int kn_box_shared(const kn_box *b, const kn_cut *c)
{
    int64_t seconds = b->input_rows / kn_cut_extent(c, c->axes.fastest) + 2;
    return (int)(b->input_rows * b->pitch + seconds * ACCESS + b->columns * c->item + 2 * ACCESS);
}

/* Of a row, wherever it begins. */
static int64_t chunks_of(const kn_cut *c, const kn_box *b)
{
    return kn_divide_up(b->columns * c->item + ACCESS - c->item, ACCESS);
}

/* Turns over n things that so many threads take, a power of two, so that nothing is divided. */
static int64_t turns_of(int64_t n, uint32_t lanes)
{
    lanes &= 31; /* fewer than 32 in any case: known to analysis so */
    return (n + (INT64_C(1) << lanes) - 1) >> lanes;
}

/* Whether blocks side by side on a multiprocessor leave its cache too little, by which adjacent rows are read
 * once. */
static bool starves_cache(const kn_cut *c, int shared)
{
    int all = c->target->shared_memory_per_multiprocessor, each = shared + c->target->shared_memory_reserved,
        blocks = c->item < 4 ? SMALL_BLOCKS : BLOCKS;
    blocks = all / each < blocks ? all / each : blocks;
    return blocks * each > all - CACHE_BYTES;
}

/* Each time that threads begin with a box or with other slots of its runs is a turn, too. */
static int64_t slot_turns(const kn_cut *c, const kn_box *b, uint32_t lanes)
{
    int64_t slots = b->run / c->schedule->vector;
    return turns_of(slots, lanes) * (1 + turns_of(b->rows, kn_log2_above(c->schedule->block) - lanes));
}

static double cost_of(const kn_cut *c, const kn_box *b)
{
    uint32_t row_lanes = kn_log2_above(c->schedule->block) - b->chunk_lanes;
    int64_t copies = turns_of(b->input_rows, row_lanes) * turns_of(chunks_of(c, b), b->chunk_lanes);
    double each = 1 + (double)slot_turns(c, b, b->slot_lanes) + copy_turn * (double)copies +
                  run_ends * (double)b->rows + input_row * (double)b->input_rows;
    return (double)b->count * each * (starves_cache(c, kn_box_shared(b, c)) ? starved_cache : 1);
}

/* Threads along rows and runs, so that these take the fewest turns; then the cost. */
static void set_cost(kn_box *b, const kn_cut *c)
{
    int64_t least = INT64_MAX;
    b->pitch = pitch_for(c, b->columns);
    b->chunk_lanes = (uint32_t)kn_least(kn_log2_above(chunks_of(c, b)), CHUNK_LANES);
    for (uint32_t lanes = c->item < 2 ? BYTE_LANES : SLOT_LANES; c->schedule->block >> lanes > 0; ++lanes) {
        int64_t turns = slot_turns(c, b, lanes);
        if (turns < least) {
            least = turns;
            b->slot_lanes = lanes;
        }
    }
    b->cost = cost_of(c, b);
}

static void keep_better(kn_box *best, kn_box *b, const kn_cut *c)
{
    set_cost(b, c);
    if (b->cost < best->cost &&
        kn_box_shared(b, c) <= kn_least(MOST_BYTES, c->target->shared_memory_per_block))
        *best = *b;
}

/* Rows of the input lie along the runs. */
static void try_straight(kn_box *best, const kn_cut *c, int64_t columns)
{
    int64_t whole = whole_vectors(c, c->run_size + kn_cut_halo(c));
    int64_t room =
        (c->box_bytes / pitch_for(c, columns) - kn_cut_halo(c)) / c->schedule->vector * c->schedule->vector;
    int64_t fewest = room > 0 ? kn_divide_up(whole, room) : whole;
    for (int64_t parts = fewest; parts < fewest + MORE_PARTS && room > 0; ++parts) {
        kn_box b = {.rows = columns, .columns = columns, .run = whole_vectors(c, kn_divide_up(whole, parts))};
        b.input_rows = kn_least(b.run + kn_cut_halo(c), c->run_size);
        b.count = kn_divide_up(whole, b.run) * kn_divide_up(c->n_rows, columns);
        keep_better(best, &b, c);
    }
}

/* A run takes all rows along the fastest axis, one element of each after the other. */
static void try_crossed(kn_box *best, const kn_cut *c, int64_t columns)
{
    int64_t fastest = kn_cut_extent(c, c->axes.fastest), vector = c->schedule->vector,
            whole = kn_cut_extent(c, c->axes.run);
    kn_box b = {.columns = columns};
    b.run = columns == whole ? whole_vectors(c, c->run_size + kn_cut_halo(c))
                             : columns * fastest / vector * vector;
    b.columns = kn_least((b.run + vector - 2) / fastest + 2, whole);
    int64_t room = c->box_bytes / (fastest * pitch_for(c, b.columns));
    for (int more = 0; more < MORE_PARTS; ++more) {
        b.rows = kn_divide_up(c->n_rows, kn_divide_up(c->n_rows, room > 0 ? room : 1) + more);
        b.input_rows = b.rows * fastest;
        b.count = kn_divide_up(c->run_size + kn_cut_halo(c), b.run) * kn_divide_up(c->n_rows, b.rows);
        keep_better(best, &b, c);
    }
}

/* One slot of one run: worse than any that is found. */
static kn_box least_box(const kn_cut *c)
{
    int64_t vector = c->schedule->vector, fastest = kn_cut_extent(c, c->axes.fastest);
    return (kn_box){
        .run = vector,
        .rows = 1,
        .columns = c->axes.crossed ? kn_least(2 * vector / fastest + 2, kn_cut_extent(c, c->axes.run)) : 1,
        .input_rows = c->axes.crossed ? fastest : vector + kn_cut_halo(c),
        .count = 1};
}

/* The columns are cut in equal parts: in the fewest for which there is room, or in some more. */
static void find_boxes(kn_box *best, const kn_cut *c)
{
    bool crossed = c->axes.crossed;
    int64_t whole = crossed ? kn_cut_extent(c, c->axes.run) : c->n_rows;
    int64_t most = crossed ? crossed_columns(c, c->axes.run)
                           : kn_least(LONGEST_ROW, c->box_bytes / (4 * kn_cut_halo(c) + 1)) / c->item;
    int64_t columns = 0;
    for (int64_t parts = kn_divide_up(whole, most); columns != 1; ++parts) {
        columns = kn_divide_up(whole, parts);
        if (best->cost < DBL_MAX && columns * c->item < ENOUGH_ROW)
            return;
        (crossed ? try_crossed : try_straight)(best, c, columns);
        parts += parts / 16;
    }
}

uint32_t kn_cut_step(const kn_cut *c, uint32_t step)
{
    int second = c->axes.crossed ? c->axes.row[0] : c->axes.run;
    int64_t low = second < 0 ? 0 : c->space->stride[c->staged][second];
    return step + ((uint32_t)((uint64_t)low - step) & (ACCESS - 1));
}

kn_box kn_cut_best_box(kn_cut *c)
{
    kn_box best = {.cost = DBL_MAX};
    size_boxes(c);
    find_boxes(&best, c);
    if (best.cost == DBL_MAX) {
        best = least_box(c);
        set_cost(&best, c);
    }
    return best;
}
