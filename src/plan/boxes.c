#include "plan/boxes.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACCESS = 16,          /* bytes of a piece of a row */
    BOX_BYTES = 58 << 10, /* of shared memory, about; */
    SMALL_BOX = 8 << 10,  /* fewer where there would be fewer boxes */
    BOXES = 512,          /* than so many */
    SHORTEST_ROW = 96,    /* bytes of a row for which crossing is worth it */
    CROSSED_BYTES = 512,  /* longest results of the fastest axis that cross */
    LONGEST_ROW = 4096,   /* bytes of a row in a box */
    SHORT_ROW = 160,      /* and the fewest, where there are more */
    MORE_PARTS = 4,       /* ways to cut beyond the fewest parts that are looked at */
    SLOT_LANES = 5,       /* log2 of threads side by side along a run, at least: a warp has one run; */
    BYTE_LANES = 3,       /* of bytes, whose boxes are shorter */
    FINALISTS = 4,        /* boxes whose conflicts are counted */
    WARPS = 3,            /* by so many warps */
    MOST_LONGER = 48,     /* bytes that a pitch may be longer than it has to */
    PIECE_LANES = 5,      /* log2 of threads along a row, at most */
    BANKS = 32,           /* of shared memory, 4 bytes wide */
    WARP = 32,
    BLOCKS = 4,             /* on a multiprocessor, as registers allow; */
    SMALL_BLOCKS = 3,       /* of elements below 4 bytes */
    CACHE_BYTES = 32 << 10, /* of a multiprocessor that shared memory leaves to a cache of some size */
    MOST_BYTES = 63 << 10,  /* of a box: larger ones were not measured */
    WRITTEN_ROW = 50,       /* instructions in the time that the ends of a run of results take, */
    READ_ROW = 8            /* and those of a row of the input */
};

/* The boxes that a first guess found best, the best one first. */
typedef struct finalists {
    kn_box at[FINALISTS];
    int count;
} finalists;

/* The least distance of two rows in shared memory that has the low bits of their distance in memory, so that
 * both have the same pieces of 16 bytes. */
static int64_t pitch_for(const kn_cut *c, int64_t columns)
{
    int64_t low = c->space->stride[c->staged][c->axes.fastest] & (ACCESS - 1);
    int64_t least_pitch = columns * c->item + 2 * (ACCESS - 1);
    return least_pitch + ((low - least_pitch) & (ACCESS - 1));
}

static void size_boxes(kn_cut *c)
{
    int64_t share = c->space->size * c->item / BOXES;
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
           crossed_columns(c, axis) * c->item >= SHORTEST_ROW;
}

static int64_t whole_vectors(const kn_cut *c, int64_t elements)
{
    return kn_divide_up(elements, c->schedule->vector) * c->schedule->vector;
}

/* What the slots of a box take of a warp, in instructions and in the time in which as many would be issued:
 * of words that lie in one bank one is loaded a cycle, in which four instructions are issued. */
static double slot_work(const kn_cut *c, const kn_box *b, uint32_t lanes, double conflicts)
{
    int64_t block = c->schedule->block, vector = c->schedule->vector, slots = b->run / vector;
    double passes = (double)kn_divide_up(slots, INT64_C(1) << lanes),
           turns = (double)kn_divide_up(b->rows, block >> lanes), words = c->item > 4 ? c->item / 4 : 1,
           one = c->item <= 2 ? 54 + 5 * (double)vector : 42 + 2 * (double)vector;
    double loading = passes * turns * (double)vector * 4 * conflicts * words,
           issued = passes * (50 + turns * one);
    return issued > loading ? issued : loading;
}

/* Bytes of shared memory; blocks side by side on a multiprocessor may leave its cache too little, by which
 * adjacent rows are read once. */
static bool starves_cache(const kn_cut *c, int shared)
{
    int all = c->target->shared_memory_per_multiprocessor, each = shared + c->target->shared_memory_reserved,
        blocks = c->item < 4 ? SMALL_BLOCKS : BLOCKS;
    blocks = all / each < blocks ? all / each : blocks;
    return blocks * each > all - CACHE_BYTES;
}

/* Each time that rows go on along their second axis up to 15 bytes are left out. */
int kn_box_shared(const kn_box *b, const kn_cut *c)
{
    int64_t seconds = b->input_rows / kn_cut_extent(c, c->axes.fastest) + 2;
    return (int)(b->input_rows * b->pitch + seconds * ACCESS + b->columns * c->item + 2 * ACCESS);
}

/* Of a row, wherever it begins. */
static int64_t pieces_of(const kn_cut *c, const kn_box *b)
{
    return kn_divide_up(b->columns * c->item + ACCESS - c->item, ACCESS);
}

/* What all boxes take; the weights follow from 2,500 boxes of transposes with odd extents, measured on an
 * H200. */
static double cost_of(const kn_cut *c, const kn_box *b, double work)
{
    int64_t block = c->schedule->block, pieces = pieces_of(c, b);
    double staging = (double)(kn_divide_up(b->input_rows, block >> b->piece_lanes) *
                              kn_divide_up(pieces, INT64_C(1) << b->piece_lanes));
    double each = (double)block / WARP * (45 + 40 * staging + work) + WRITTEN_ROW * (double)b->rows +
                  READ_ROW * (double)b->input_rows;
    double starved = c->item < ACCESS ? 1.5 : 1.15; /* elements of 16 bytes share no sectors */
    return (double)b->count * each * (starves_cache(c, kn_box_shared(b, c)) ? starved : 1);
}

static uint32_t fewest_lanes(const kn_cut *c)
{
    return c->item < 2 ? BYTE_LANES : SLOT_LANES;
}

/* Of shared memory. */
static int64_t most_bytes(const kn_cut *c)
{
    return kn_least(MOST_BYTES, c->target->shared_memory_per_block);
}

/* A guess at the cost: vectors of a run begin in an eighth of the banks, so that conflicts are few where a
 * warp has several runs. */
static void guess(kn_box *b, const kn_cut *c)
{
    double least_work = DBL_MAX;
    b->pitch = pitch_for(c, b->columns);
    b->piece_lanes = (uint32_t)kn_least(kn_log2_above(pieces_of(c, b)), PIECE_LANES);
    for (uint32_t lanes = fewest_lanes(c); (c->schedule->block >> lanes) > 0; ++lanes) {
        double work = slot_work(c, b, lanes, 2);
        least_work = work < least_work ? work : least_work;
    }
    b->cost = cost_of(c, b, least_work);
}

static void keep_better(finalists *best, kn_box *b, const kn_cut *c)
{
    guess(b, c);
    if (kn_box_shared(b, c) > most_bytes(c))
        return;
    if (best->count == FINALISTS && best->at[FINALISTS - 1].cost <= b->cost)
        return;
    int at = best->count < FINALISTS ? best->count++ : FINALISTS - 1;
    for (; at > 0 && best->at[at - 1].cost > b->cost; --at)
        best->at[at] = best->at[at - 1];
    best->at[at] = *b;
}

/* Rows of the input lie along the runs. */
static void try_straight(finalists *best, const kn_cut *c, int64_t columns)
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
static void try_crossed(finalists *best, const kn_cut *c, int64_t columns)
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
static void find_boxes(finalists *best, const kn_cut *c)
{
    bool crossed = c->axes.crossed;
    int64_t whole = crossed ? kn_cut_extent(c, c->axes.run) : c->n_rows;
    int64_t most = crossed ? crossed_columns(c, c->axes.run)
                           : kn_least(LONGEST_ROW, c->box_bytes / (4 * kn_cut_halo(c) + 1)) / c->item;
    int64_t columns = 0;
    for (int64_t parts = kn_divide_up(whole, most); columns != 1; ++parts) {
        columns = kn_divide_up(whole, parts);
        if (best->count > 0 && columns * c->item < SHORT_ROW)
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

/* ---- which threads a warp has, and where rows begin ---- */

/* The word of shared memory, relative to the box, that a thread takes first of a slot; small elements begin
 * with the word of the result that is the thread's turn. */
static uint32_t word_of(const kn_cut *c, const kn_box *b, uint32_t step, uint32_t slot, uint32_t row,
                        uint32_t turn)
{
    uint32_t size = (uint32_t)c->access[c->result].item_size,
             first = (uint32_t)kn_cut_extent(c, c->axes.row[0]), vector = (uint32_t)c->schedule->vector,
             fastest = (uint32_t)kn_cut_extent(c, c->axes.fastest);
    int64_t place = row % first * (c->axes.row[0] < 0 ? 0 : c->space->stride[c->result][c->axes.row[0]]) +
                    row / first * (c->axes.row[1] < 0 ? 0 : c->space->stride[c->result][c->axes.row[1]]);
    uint32_t skew = (uint32_t)(place / size) % vector, t = (slot + 1) * vector - skew + turn * vector / 4,
             x = t / fastest, item = (uint32_t)c->item;
    return ((t - x * fastest) * (uint32_t)b->pitch + x * (c->axes.crossed ? item : step) +
            row * (c->axes.crossed ? step : item)) /
           4;
}

/* Turns that a warp's first load takes: the most words that lie in one bank. */
static uint32_t count_turns(const kn_cut *c, const kn_box *b, uint32_t warp)
{
    uint32_t held[BANKS][WARP],
        count[BANKS] = {0}, most = 0, all_lanes = kn_log2_above(c->schedule->block),
        row_lanes = all_lanes > b->slot_lanes ? all_lanes - b->slot_lanes : 0,
        step = kn_cut_step(c, (uint32_t)(kn_cut_extent(c, c->axes.fastest) * b->pitch));
    bool turns = c->item <= 2 && c->schedule->vector * c->item == ACCESS;
    for (uint32_t lane = 0; lane < WARP; ++lane) {
        uint32_t thread = warp * WARP + lane, slot = thread & ((1u << b->slot_lanes) - 1), k = 0;
        uint32_t word =
            word_of(c, b, step, slot, kn_box_row(thread >> b->slot_lanes, row_lanes, b->row_shift),
                    turns ? lane >> 3 : 0);
        uint32_t *bank = held[word % BANKS], *there = &count[word % BANKS];
        while (k < *there && bank[k] != word)
            ++k;
        if (k == *there)
            bank[(*there)++] = word;
        most = *there > most ? *there : most;
    }
    return most;
}

/* Neighbouring rows share words of shared memory, but their vectors begin at different elements: what is best
 * depends on all distances, and is counted. A longer pitch may help where there is room. */
static void settle(kn_box *b, const kn_cut *c)
{
    kn_box best = *b;
    int64_t room = kn_least(most_bytes(c) - kn_box_shared(b, c), c->box_bytes / 4) / b->input_rows;
    best.cost = DBL_MAX;
    for (int64_t longer = 0; longer <= MOST_LONGER && longer <= room; longer += ACCESS)
        for (uint32_t lanes = fewest_lanes(c); lanes <= SLOT_LANES; ++lanes)
            for (uint32_t shift = 0; shift < (lanes < SLOT_LANES ? 5 : 1); ++shift) {
                kn_box tried = *b;
                double turns = 0;
                tried.pitch += longer;
                tried.slot_lanes = lanes;
                tried.row_shift = shift;
                for (uint32_t warp = 0; warp < WARPS; ++warp)
                    turns += count_turns(c, &tried, warp) / (double)WARPS;
                /* A warp of one run meets the same conflicts however many such there are. */
                for (; tried.slot_lanes == lanes ||
                       (lanes == SLOT_LANES && c->schedule->block >> tried.slot_lanes > 0);
                     ++tried.slot_lanes) {
                    tried.cost = cost_of(c, &tried, slot_work(c, b, tried.slot_lanes, turns));
                    if (tried.cost < best.cost)
                        best = tried;
                }
            }
    *b = best;
}

static kn_box settled_best(finalists *f, const kn_cut *c)
{
    kn_box best = {.cost = DBL_MAX};
    if (f->count == 0) {
        f->at[f->count++] = least_box(c);
        guess(f->at, c);
    }
    for (int k = 0; k < f->count; ++k) {
        kn_box *b = &f->at[k];
        settle(b, c);
        if (b->cost < best.cost)
            best = *b;
    }
    return best;
}

kn_box kn_cut_best_box(kn_cut *c)
{
    finalists found = {.count = 0};
    size_boxes(c);
    find_boxes(&found, c);
    return settled_best(&found, c);
}
