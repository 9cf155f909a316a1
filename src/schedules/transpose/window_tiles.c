/* window_tiles.c - the cost model that chooses the shared-memory tile of a windows kernel. */
#include "schedules/transpose/window_tiles.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum {
    ACCESS = 16,           /* bytes of a chunk, which one thread copies at a time */
    TILE_BYTES = 58 << 10, /* of shared memory for a tile, about */
    SMALL_TILE = 8 << 10,  /* bytes of a tile if larger ones would be fewer than ENOUGH_TILES */
    ENOUGH_TILES = 512,    /* tiles: enough for all multiprocessors */
    CROSSED_ROW = 40,      /* bytes of a row, from which on crossed tiles gain */
    CROSSED_BYTES = 512,   /* of results along the fastest axis, at most, for crossed tiles */
    LONGEST_ROW = 4096,    /* bytes of a row in a tile, at most */
    ENOUGH_ROW = 160,      /* bytes of a row in a tile, below which it is not cut further */
    MORE_PARTS = 4,        /* numbers of parts to try, beginning with the fewest */
    SLOT_LANES = 5,        /* log2 of neighbouring threads along a run, at least: a warp has one run */
    BYTE_LANES = 3,        /* the same for elements of a byte, whose tiles are shorter */
    LEAST_LANES = 2,       /* the same if bank conflicts are the bottleneck: two sectors */
    CHUNK_LANES = 5,       /* log2 of threads along a row, at most */
    MOST_BYTES = 63 << 10, /* of a tile: larger ones were not measured */
    WARP = 32,             /* threads */
    BANKS = 32,            /* of shared memory; each gives one word per clock */
    WORD = 4,              /* bytes */
    FREE_CLOCKS = 32, /* in which a warp may read its vectors: half of the time that memory takes for them */
    MORE_PITCHES = 2, /* to try if bank conflicts are the bottleneck */
    BLOCKS = 4,       /* on a multiprocessor, by registers, for elements of 4 bytes or more */
    SMALL_BLOCKS = 3, /* on a multiprocessor, by registers, for smaller elements */
    CACHE_BYTES = 32 << 10 /* of a multiprocessor that stay as a cache, at least */
};

/* The cost of a tile, in iterations in which each thread of a block stores a slot: fitted by
 * bench/models/fit.py to tiles of transposes and orders of axes with odd extents, measured on an H200. */
static const double copy_turn = 0.8; /* iterations for one in which each thread copies a chunk */
static const double run_ends =
    0.0625; /* iterations for both ends of a run, which fill no slot: one of a warp */
static const double input_row = 0.01; /* iterations for each row of the input */
/* Iterations if only 4 threads are neighbours: bench/results/nvidia-h200-narrow.md. */
static const double few_lanes = 2.1;
static const double starved_cache = 1.5; /* factor if rows that two blocks need are read twice */

/* The least pitch with the low bits of the distance in memory, so that all rows have the same chunks. A part
 * that was cut to one element along the ranges of channels has no distance. */
static int64_t pitch_for(const kn_cut *c, int64_t columns)
{
    int across = c->axes.shared ? c->axes.run : c->axes.fastest;
    int64_t low = across < 0 ? 0 : c->space->stride[c->staged][across] & (ACCESS - 1);
    int64_t least_pitch = columns * c->column + 2 * (ACCESS - 1);
    return least_pitch + ((low - least_pitch) & (ACCESS - 1));
}

static void size_tiles(kn_cut *c)
{
    int64_t share = c->space->size * c->item / ENOUGH_TILES;
    int64_t most = kn_least(share, TILE_BYTES / c->inputs);
    c->tile_bytes = most > SMALL_TILE ? most : SMALL_TILE;
}

/* Elements of each row for which a crossed tile has capacity; it has all rows along the fastest axis. */
static int64_t crossed_columns(const kn_cut *c, int axis)
{
    int64_t capacity = kn_least(LONGEST_ROW, c->tile_bytes / kn_cut_extent(c, c->axes.fastest) - 3 * ACCESS);
    return kn_least(capacity / c->item, kn_cut_extent(c, axis));
}

bool kn_cut_is_crossed(kn_cut *c, int axis)
{
    size_tiles(c);
    return kn_cut_extent(c, c->axes.fastest) * c->item <= CROSSED_BYTES &&
           crossed_columns(c, axis) * c->item >= CROSSED_ROW;
}

static int64_t whole_vectors(const kn_cut *c, int64_t elements)
{
    return kn_divide_up(elements, c->schedule->vector) * c->schedule->vector;
}

/* Up to 15 bytes are unused each time that rows continue along their second axis. */
int kn_shared_tile_of_input(const kn_shared_tile *b, const kn_cut *c)
{
    int64_t seconds = b->input_rows / kn_cut_extent(c, c->axes.fastest) + 2;
    int64_t bytes = b->input_rows * b->pitch + seconds * ACCESS + b->columns * c->column + 2 * ACCESS;
    return (int)(c->inputs == 1 ? bytes : kn_multiple_up(bytes, ACCESS));
}

int kn_shared_tile_bytes(const kn_shared_tile *b, const kn_cut *c)
{
    return c->inputs * kn_shared_tile_of_input(b, c);
}

/* Chunks of a row, wherever it begins. */
static int64_t chunks_of(const kn_cut *c, const kn_shared_tile *b)
{
    return kn_divide_up(b->columns * c->column + ACCESS - c->item, ACCESS);
}

/* Iterations of so many threads, a power of two, over n items. A shift replaces the division. */
static int64_t turns_of(int64_t n, uint32_t lanes)
{
    lanes &= 31; /* less than 32 in any case; the analyzer learns it here */
    return (n + (INT64_C(1) << lanes) - 1) >> lanes;
}

/* The blocks of a multiprocessor leave too little of its cache for rows that several of them need. */
static bool starves_cache(const kn_cut *c, int shared)
{
    int all = c->target->shared_memory_per_multiprocessor, each = shared + c->target->shared_memory_reserved,
        blocks = c->item < 4 ? SMALL_BLOCKS : BLOCKS;
    blocks = all / each < blocks ? all / each : blocks;
    return blocks * each > all - CACHE_BYTES;
}

/* The iterations over slots, and one more each time that threads begin a tile or other slots of its runs. */
static int64_t slot_turns(const kn_cut *c, const kn_shared_tile *b, uint32_t lanes)
{
    int64_t slots = b->run / c->schedule->vector;
    return turns_of(slots, lanes) * (1 + turns_of(b->rows, kn_log2_above(c->schedule->block) - lanes));
}

static double cost_of(const kn_cut *c, const kn_shared_tile *b)
{
    uint32_t row_lanes = kn_log2_above(c->schedule->block) - b->chunk_lanes;
    int64_t copies =
        c->inputs * turns_of(b->input_rows, row_lanes) * turns_of(chunks_of(c, b), b->chunk_lanes);
    double each = 1 + (double)slot_turns(c, b, b->slot_lanes) + copy_turn * (double)copies +
                  run_ends * (double)b->rows + input_row * (double)b->input_rows;
    return (double)b->count * each * (starves_cache(c, kn_shared_tile_bytes(b, c)) ? starved_cache : 1);
}

/* Chooses the threads along rows and runs for the fewest iterations, then computes the cost. */
static void set_cost(kn_shared_tile *b, const kn_cut *c)
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

static void keep_better(kn_shared_tile *best, kn_shared_tile *b, const kn_cut *c)
{
    set_cost(b, c);
    if (b->cost < best->cost &&
        kn_shared_tile_bytes(b, c) <= kn_least(MOST_BYTES, c->target->shared_memory_per_block))
        *best = *b;
}

/* Elements of a run in one row: the channels of a position, or one. */
static int64_t elements_of_row(const kn_cut *c)
{
    return c->axes.shared ? kn_cut_extent(c, c->axes.fastest) : 1;
}

/* Rows from which a run of so many elements comes; it may begin and end within a position's channels. */
static int64_t rows_of_run(const kn_cut *c, int64_t run)
{
    int64_t each = elements_of_row(c);
    return kn_least(kn_divide_up(run + kn_cut_halo(c), each) + (each > 1), c->run_size / each);
}

/* Rows of the input are along the runs' tiles: runs and rows do not cross. */
static void try_straight(kn_shared_tile *best, const kn_cut *c, int64_t columns)
{
    int64_t whole = whole_vectors(c, c->run_size + kn_cut_halo(c));
    int64_t held = c->tile_bytes / pitch_for(c, columns) * elements_of_row(c) - kn_cut_halo(c);
    int64_t capacity = held / c->schedule->vector * c->schedule->vector;
    int64_t fewest = capacity > 0 ? kn_divide_up(whole, capacity) : whole;
    int64_t turn = (int64_t)c->schedule->vector << SLOT_LANES,
            turns = kn_least(capacity, whole) / turn * turn;
    for (int64_t parts = turns > 0 ? fewest - 1 : fewest; parts < fewest + MORE_PARTS && capacity > 0;
         ++parts) {
        /* The longest run that leaves no lane of a warp idle, then equal parts. */
        int64_t run = parts < fewest ? turns : whole_vectors(c, kn_divide_up(whole, parts));
        kn_shared_tile b = {.rows = columns, .columns = columns, .run = run};
        b.input_rows = rows_of_run(c, b.run);
        b.count = kn_divide_up(whole, b.run) * kn_divide_up(c->n_rows, columns);
        keep_better(best, &b, c);
    }
}

/* A run has one element of each row along the fastest axis in turn. */
static void try_crossed(kn_shared_tile *best, const kn_cut *c, int64_t columns)
{
    int64_t fastest = kn_cut_extent(c, c->axes.fastest), vector = c->schedule->vector,
            whole = kn_cut_extent(c, c->axes.run);
    kn_shared_tile b = {.columns = columns};
    b.run = columns == whole ? whole_vectors(c, c->run_size + kn_cut_halo(c))
                             : columns * fastest / vector * vector;
    b.columns = kn_least((b.run + vector - 2) / fastest + 2, whole);
    int64_t capacity = c->tile_bytes / (fastest * pitch_for(c, b.columns));
    for (int more = 0; more < MORE_PARTS; ++more) {
        b.rows = kn_divide_up(c->n_rows, kn_divide_up(c->n_rows, capacity > 0 ? capacity : 1) + more);
        b.input_rows = b.rows * fastest;
        b.count = kn_divide_up(c->run_size + kn_cut_halo(c), b.run) * kn_divide_up(c->n_rows, b.rows);
        keep_better(best, &b, c);
    }
}

/* One slot of one run, if no other tile fits. */
static kn_shared_tile least_tile(const kn_cut *c)
{
    int64_t vector = c->schedule->vector, fastest = kn_cut_extent(c, c->axes.fastest);
    return (kn_shared_tile){
        .run = vector,
        .rows = 1,
        .columns = c->axes.crossed ? kn_least(2 * vector / fastest + 2, kn_cut_extent(c, c->axes.run)) : 1,
        .input_rows = c->axes.crossed ? fastest : rows_of_run(c, vector),
        .count = 1};
}

/* Cuts the columns in equal parts: from the fewest that fit to more of them. */
static void find_tiles(kn_shared_tile *best, const kn_cut *c)
{
    bool crossed = c->axes.crossed;
    int64_t whole = crossed ? kn_cut_extent(c, c->axes.run) : c->n_rows;
    int64_t least_rows = 4 * kn_cut_halo(c) / elements_of_row(c) + 1;
    int64_t most = crossed ? crossed_columns(c, c->axes.run)
                           : kn_least(LONGEST_ROW, c->tile_bytes / least_rows) / c->column;
    int64_t columns = 0;
    for (int64_t parts = kn_divide_up(whole, most > 0 ? most : 1); columns != 1; ++parts) {
        columns = kn_divide_up(whole, parts);
        if (best->cost < DBL_MAX && columns * c->column < ENOUGH_ROW)
            return;
        (crossed ? try_crossed : try_straight)(best, c, columns);
        parts += parts / 16;
    }
}

/* The byte at which element `t` of run `row` is in a tile. */
static int64_t place_in_tile(const kn_cut *c, const kn_shared_tile *b, int64_t t, int64_t row)
{
    int64_t fastest = kn_cut_extent(c, c->axes.fastest), p = t % fastest, p2 = t / fastest;
    int64_t step = c->axes.shared ? b->pitch : kn_cut_step(c, (uint32_t)(fastest * b->pitch));
    return p * (c->axes.shared ? c->item : b->pitch) + p2 * step + row * c->column;
}

/* The element that a thread of a warp reads after k others. Small ones are read by words; in long rows
 * threads begin with different words (src/schedules/transpose/windows.cu). */
static int64_t element_taken(const kn_cut *c, int thread, uint32_t lanes, int64_t k)
{
    int64_t vector = c->schedule->vector, slot = thread & ((INT64_C(1) << lanes) - 1);
    if (c->item <= 2 && !c->narrow)
        k = (k + vector / 4 * (thread >> 3 & 3)) & (vector - 1);
    return slot * vector + k;
}

/* Clocks in which a warp reads one element for each thread: the most different words of one bank. */
static int clocks_of_element(const kn_cut *c, const kn_shared_tile *b, uint32_t lanes, int64_t k)
{
    int64_t word[BANKS][WARP];
    int wanted[BANKS] = {0}, most = 0;
    for (int t = 0; t < WARP; ++t) {
        int64_t own = place_in_tile(c, b, element_taken(c, t, lanes, k), t >> lanes) / WORD;
        int bank = (int)(own % BANKS), at = 0;
        while (at < wanted[bank] && word[bank][at] != own)
            ++at;
        word[bank][at] = own;
        wanted[bank] += at == wanted[bank];
        most = wanted[bank] > most ? wanted[bank] : most;
    }
    return most;
}

static int64_t taking_clocks(const kn_cut *c, const kn_shared_tile *b, uint32_t lanes)
{
    int64_t clocks = 0;
    for (int64_t k = 0; k < c->schedule->vector; ++k)
        clocks += clocks_of_element(c, b, lanes & 31, k);
    return clocks;
}

/* Chooses the pitch, which keeps the low bits, and the threads along runs such that no bank conflicts
 * remain. */
static void settle_banks(kn_shared_tile *best, const kn_cut *c)
{
    const kn_shared_tile first = *best;
    double least = DBL_MAX;
    if (c->axes.crossed || taking_clocks(c, &first, first.slot_lanes) <= FREE_CLOCKS)
        return;
    for (int more = 0; more < MORE_PITCHES; ++more)
        for (uint32_t lanes = LEAST_LANES; c->schedule->block >> lanes > 0; ++lanes) {
            kn_shared_tile b = first;
            b.pitch += (int64_t)more * ACCESS;
            b.slot_lanes = lanes;
            double each = (double)taking_clocks(c, &b, lanes) / FREE_CLOCKS,
                   least_each = lanes == LEAST_LANES ? few_lanes : 1;
            double cost = (double)slot_turns(c, &b, lanes) * (each > least_each ? each : least_each);
            if (cost < least &&
                kn_shared_tile_bytes(&b, c) <= kn_least(MOST_BYTES, c->target->shared_memory_per_block)) {
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

kn_shared_tile kn_cut_best_tile(kn_cut *c)
{
    kn_shared_tile best = {.cost = DBL_MAX};
    size_tiles(c);
    find_tiles(&best, c);
    if (best.cost == DBL_MAX) {
        best = least_tile(c);
        set_cost(&best, c);
    }
    settle_banks(&best, c);
    return best;
}
