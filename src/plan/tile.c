#include "plan/tile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 63 << 10, /* of shared memory: larger tiles were not measured */
    PADDING = 1 << 10,     /* bytes: of KN_MAX_PARAMS tiles, each at a multiple of 16 */
    BLOCK = 512,           /* threads */
    BYTES_BLOCK = 256, /* the same where a vector has 16 elements: each thread then needs many registers */
    LONGEST = 64,      /* vectors along a side, at most */
    MOST_SIDES = 160,
    LINE = 128,    /* bytes that memory and caches move together; */
    ALIGNED = 256, /* pieces aligned to so many bytes are as good as any */
    SECTOR = 32,
    ENOUGH_THREADS = 96,
    ENOUGH_TILES = 256
};

/* What a tile costs beyond its bytes, as a part of them: fitted to some 10,000 sides of 60 transposes of 1-
 * to 8-byte elements, measured on an H200. Reads have to be long and aligned; writes wait in the cache for
 * their neighbours. */
static const double partial_reads = 1.0, partial_writes = 0.07; /* a line touched more than once, to a line */
static const double pieces_read = 0.065, pieces_written = 0.386; /* a line to a piece; a sector to a piece */
static const double reads_off = 0.055, writes_off = 0.034;       /* each power of two that alignment lacks */
static const double waste = 0.5;                                 /* what tiles go over the ends */
static const double many_threads = 0.024, few_threads = 0.1, few_tiles = 0.1; /* each power of two */

typedef struct sides {
    const kn_space *space;
    const kn_access *operands;
    int staged, result;           /* the operands that are looked at */
    int p, p2, q, q2;             /* axes; -1 for none */
    int vector, most;             /* most: threads */
    int64_t taken[KILN_MAX_NDIM]; /* by the tile being rated, of each axis; 0: it is not one of the tile's */
} sides;

int kn_tile_block(int vector)
{
    return vector == 16 ? BYTES_BLOCK : BLOCK;
}

/* After the fastest axis what is written runs on along the next one in. */
static int second_of_results(const kn_space *space, int axis)
{
    for (int a = space->ndim - 1; a-- > 0;)
        if (a != axis)
            return a;
    return -1;
}

/* Sides along an axis with so many vectors: equal parts of it, each with steps along the second axis. */
static int list_sides(kn_tile_side *out, const sides *s, int axis, int second, int most)
{
    static const int8_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32},
                        steps[] = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16};
    int64_t vectors = s->space->extent[axis] / s->vector,
            steps_there = second < 0 ? 1 : s->space->extent[second];
    int count = 0, last = 0;
    for (size_t l = 0; l < sizeof lengths && lengths[l] <= vectors; ++l) {
        int64_t parts = (vectors + lengths[l] - 1) / lengths[l];
        int length = (int)((vectors + parts - 1) / parts);
        for (size_t k = 0; length != last && k < sizeof steps && steps[k] <= steps_there; ++k)
            if (length * steps[k] <= most && length * steps[k] <= LONGEST)
                out[count++] = (kn_tile_side){length, steps[k], second};
        last = length;
    }
    return count;
}

typedef struct piece {
    int64_t bytes, aligned; /* aligned: to so many bytes, a power of two up to ALIGNED */
} piece;

/* What of the tile lies side by side in the operand's memory. */
static piece piece_of(const sides *s, int operand, int first)
{
    const kn_space *space = s->space;
    int64_t item = s->operands[operand].item_size, bytes = item * s->taken[first],
            whole = item * space->extent[first];
    for (int a = 0; bytes == whole && a < space->ndim; ++a)
        if (s->taken[a] > 0 && llabs(space->stride[operand][a]) == whole) {
            bytes = whole * s->taken[a];
            whole *= space->extent[a];
            a = -1;
        }
    int64_t bits = bytes | whole | ALIGNED;
    return (piece){bytes, bits & -bits};
}

/* Lines that are touched, to those that the bytes would fill, less one. */
static double partial(piece p)
{
    int64_t aligned = p.aligned < LINE ? p.aligned : LINE;
    return (1 + (double)(p.bytes - aligned) / LINE) * LINE / (double)p.bytes - 1;
}

static double lack(double of, double to)
{
    return of < to ? log2(to / of) : 0;
}

static double rate(sides *s, const kn_tile_side *p, const kn_tile_side *q)
{
    const int axis[] = {s->p, s->p2, s->q, s->q2};
    const int64_t taken[] = {(int64_t)p->vectors * s->vector, p->steps, (int64_t)q->vectors * s->vector,
                             q->steps};
    double covered = 1, tiles = 1;
    for (int k = 0; k < 4; ++k)
        if (axis[k] >= 0) {
            int64_t extent = s->space->extent[axis[k]], there = (extent + taken[k] - 1) / taken[k];
            s->taken[axis[k]] = taken[k];
            covered *= (double)(there * taken[k]) / (double)extent;
            tiles *= (double)there;
        }
    for (int a = 0; a < s->space->ndim; ++a)
        if (s->taken[a] == 0)
            tiles *= (double)s->space->extent[a];
    piece read = piece_of(s, s->staged, s->q), written = piece_of(s, s->result, s->p);
    double threads = p->vectors * p->steps * q->vectors * q->steps, usual = s->vector == 16 ? 160 : 384;
    return partial_reads * partial(read) + partial_writes * partial(written) +
           pieces_read * LINE / (double)read.bytes + pieces_written * SECTOR / (double)written.bytes +
           reads_off * lack((double)read.aligned, ALIGNED) +
           writes_off * lack((double)written.aligned, ALIGNED) + waste * (covered - 1) +
           many_threads * lack(usual, threads) + few_threads * lack(threads, ENOUGH_THREADS) +
           few_tiles * lack(tiles, ENOUGH_TILES);
}

/* Whether the staged input goes on along p's second axis where a row of the tile ends. */
static bool reads_on(const sides *s, const kn_tile_figures *f)
{
    int64_t row = s->space->extent[s->q] * s->operands[s->staged].item_size;
    return s->p2 >= 0 && llabs(s->space->stride[s->staged][s->p2]) == row &&
           (int64_t)f->q.vectors * s->vector == s->space->extent[s->q];
}

/* Threads of a tile: as many as its cells have room for. */
static int most_threads(const kn_target *target, int vector, int cell)
{
    int bytes = target->shared_memory_per_block - PADDING;
    int fitting = (bytes < MOST_BYTES ? bytes : MOST_BYTES) / cell;
    return fitting < kn_tile_block(vector) ? fitting : kn_tile_block(vector);
}

void kn_tile_choose_sides(kn_tile_figures *f, const kn_choice *choice, const char *access, int vector,
                          int staged_bytes)
{
    const kn_space *space = choice->space;
    sides s = {
        .space = space, .operands = choice->access, .p = space->ndim - 1, .q = f->axis, .vector = vector};
    kn_tile_side p[MOST_SIDES], q[MOST_SIDES];
    int cell = vector * vector * staged_bytes;
    s.staged = (int)(strchr(access, KN_STAGED) - access);
    while (s.result < choice->count - 1 && !choice->access[s.result].is_output)
        ++s.result;
    s.most = most_threads(choice->target, vector, cell);
    s.p2 = second_of_results(space, s.q);
    s.q2 = kn_space_nearest_axis(space, s.staged, s.q, s.p2);
    int n_p = list_sides(p, &s, s.p, s.p2, s.most), n_q = list_sides(q, &s, s.q, s.q2, s.most);
    double least = DBL_MAX;
    for (int i = 0; i < n_p; ++i)
        for (int j = 0; j < n_q; ++j) {
            int threads = p[i].vectors * p[i].steps * q[j].vectors * q[j].steps;
            double cost = threads <= s.most ? rate(&s, &p[i], &q[j]) : DBL_MAX;
            if (cost < least) {
                least = cost;
                f->p = p[i];
                f->q = q[j];
            }
        }
    f->across = reads_on(&s, f);
    f->shared_bytes = f->p.vectors * f->p.steps * f->q.vectors * f->q.steps * cell + PADDING;
}
