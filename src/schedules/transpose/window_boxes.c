#include "schedules/transpose/window_boxes.h"

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
    LEAST_LANES = 2,       /* log2 of these threads where banks bind: two sectors */
    CHUNK_LANES = 5,       /* log2 of threads along a row, at most */
    MOST_BYTES = 63 << 10, /* of a box: larger ones were not measured */
    WARP = 32,             /* threads */
    BANKS = 32,            /* of shared memory, each gives a word a clock */
    WORD = 4,              /* bytes */
    FREE_CLOCKS = 32, /* in which a warp may take its vectors: half of those in which memory gives them */
    MORE_PITCHES = 2, /* that are looked at where banks bind */
    BLOCKS = 4,       /* on a multiprocessor, as registers allow for elements of 4 bytes or more */
    SMALL_BLOCKS = 3, /* on a multiprocessor, as registers allow for smaller elements */
    CACHE_BYTES = 32 << 10 /* of a multiprocessor that shared memory leaves to a cache of some size */
};

/* What a box takes, in turns of a block's threads that store a slot each: fitted by bench/models/fit.py to
 * boxes of transposes and orders of axes with odd extents, measured on an H200. */
static const double copy_turn = 0.8;   /* turns that one takes in which a chunk each is copied */
static const double run_ends = 0.0625; /* turns for both ends of a run, which fill no slot: one of a warp */
static const double input_row = 0.01;  /* turns for each row of the input */
/* Turns where 4 threads store side by side: bench/results/nvidia-h200-narrow.md. */
static const double few_lanes = 2.1;
static const double starved_cache = 1.5; /* times as much, where adjacent rows are not read once for both */

/* The least distance of two rows in shared memory that has the low bits of their distance in memory, so that
 * both have the same chunks. */
static int64_t pitch_for(const kn_cut *c, int64_t columns)
{
    int across = c->axes.shared ? c->axes.run : c->axes.fastest;
    int64_t low = c->space->stride[c->staged][across] & (ACCESS - 1);
    int64_t least_pitch = columns * c->column + 2 * (ACCESS - 1);
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
    return (int)(b->input_rows * b->pitch + seconds * ACCESS + b->columns * c->column + 2 * ACCESS);
}

/* Of a row, wherever it begins. */
static int64_t chunks_of(const kn_cut *c, const kn_box *b)
{
    return kn_divide_up(b->columns * c->column + ACCESS - c->item, ACCESS);
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

/* Elements of a run that lie in one row: a pixel's, or one. */
static int64_t elements_of_row(const kn_cut *c)
{
    return c->axes.shared ? kn_cut_extent(c, c->axes.fastest) : 1;
}

/* Of the rows that a run of so many elements is taken from, which may begin and end within pixels. */
static int64_t rows_of_run(const kn_cut *c, int64_t run)
{
    int64_t each = elements_of_row(c);
    return kn_least(kn_divide_up(run + kn_cut_halo(c), each) + (each > 1), c->run_size / each);
}

/* Rows of the input lie along the runs. */
static void try_straight(kn_box *best, const kn_cut *c, int64_t columns)
{
    int64_t whole = whole_vectors(c, c->run_size + kn_cut_halo(c));
    int64_t held = c->box_bytes / pitch_for(c, columns) * elements_of_row(c) - kn_cut_halo(c);
    int64_t room = held / c->schedule->vector * c->schedule->vector;
    int64_t fewest = room > 0 ? kn_divide_up(whole, room) : whole;
    for (int64_t parts = fewest; parts < fewest + MORE_PARTS && room > 0; ++parts) {
        kn_box b = {.rows = columns, .columns = columns, .run = whole_vectors(c, kn_divide_up(whole, parts))};
        b.input_rows = rows_of_run(c, b.run);
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
        .input_rows = c->axes.crossed ? fastest : rows_of_run(c, vector),
        .count = 1};
}

/* The columns are cut in equal parts: in the fewest for which there is room, or in some more. */
static void find_boxes(kn_box *best, const kn_cut *c)
{
    bool crossed = c->axes.crossed;
    int64_t whole = crossed ? kn_cut_extent(c, c->axes.run) : c->n_rows;
    int64_t least_rows = 4 * kn_cut_halo(c) / elements_of_row(c) + 1;
    int64_t most = crossed ? crossed_columns(c, c->axes.run)
                           : kn_least(LONGEST_ROW, c->box_bytes / least_rows) / c->column;
    int64_t columns = 0;
    for (int64_t parts = kn_divide_up(whole, most > 0 ? most : 1); columns != 1; ++parts) {
        columns = kn_divide_up(whole, parts);
        if (best->cost < DBL_MAX && columns * c->column < ENOUGH_ROW)
            return;
        (crossed ? try_crossed : try_straight)(best, c, columns);
        parts += parts / 16;
    }
}

/* Where in a box element `t` of run `row` lies, in bytes from its first one. */
static int64_t place_in_box(const kn_cut *c, const kn_box *b, int64_t t, int64_t row)
{
    int64_t fastest = kn_cut_extent(c, c->axes.fastest), p = t % fastest, p2 = t / fastest;
    int64_t step = c->axes.shared ? b->pitch : kn_cut_step(c, (uint32_t)(fastest * b->pitch));
    return p * (c->axes.shared ? c->item : b->pitch) + p2 * step + row * c->column;
}

/* The element with which a thread of a warp goes on after k others: small ones are taken by words, threads
 * beginning with different ones, where rows are long (src/schedules/transpose/windows.cu). */
static int64_t element_taken(const kn_cut *c, int thread, uint32_t lanes, int64_t k)
{
    int64_t vector = c->schedule->vector, slot = thread & ((INT64_C(1) << lanes) - 1);
    if (c->item <= 2 && !c->schedule->variant)
        k = (k + vector / 4 * (thread >> 3 & 3)) & (vector - 1);
    return slot * vector + k;
}

/* Clocks of shared memory in which the threads of a warp take an element each: one for each word of the bank
 * that is wanted most. */
static int clocks_of_element(const kn_cut *c, const kn_box *b, uint32_t lanes, int64_t k)
{
    int64_t word[BANKS][WARP];
    int wanted[BANKS] = {0}, most = 0;
    for (int t = 0; t < WARP; ++t) {
        int64_t own = place_in_box(c, b, element_taken(c, t, lanes, k), t >> lanes) / WORD;
        int bank = (int)(own % BANKS), at = 0;
        while (at < wanted[bank] && word[bank][at] != own)
            ++at;
        word[bank][at] = own;
        wanted[bank] += at == wanted[bank];
        most = wanted[bank] > most ? wanted[bank] : most;
    }
    return most;
}

static int64_t taking_clocks(const kn_cut *c, const kn_box *b, uint32_t lanes)
{
    int64_t clocks = 0;
    for (int64_t k = 0; k < c->schedule->vector; ++k)
        clocks += clocks_of_element(c, b, lanes & 31, k);
    return clocks;
}

/* Pitches that keep the low bits, and threads along runs, with which banks are no longer what a box waits
 * for. */
static void settle_banks(kn_box *best, const kn_cut *c)
{
    const kn_box first = *best;
    double least = DBL_MAX;
    if (c->axes.crossed || taking_clocks(c, &first, first.slot_lanes) <= FREE_CLOCKS)
        return;
    for (int more = 0; more < MORE_PITCHES; ++more)
        for (uint32_t lanes = LEAST_LANES; c->schedule->block >> lanes > 0; ++lanes) {
            kn_box b = first;
            b.pitch += (int64_t)more * ACCESS;
            b.slot_lanes = lanes;
            double each = (double)taking_clocks(c, &b, lanes) / FREE_CLOCKS,
                   least_each = lanes == LEAST_LANES ? few_lanes : 1;
            double cost = (double)slot_turns(c, &b, lanes) * (each > least_each ? each : least_each);
            if (cost < least &&
                kn_box_shared(&b, c) <= kn_least(MOST_BYTES, c->target->shared_memory_per_block)) {
                least = cost;
                *best = b;
            }
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
    settle_banks(&best, c);
    return best;
}
