/* tile_sides.c - the cost model that chooses the sides of a tile. */
#include "schedules/transpose/tile_sides.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "space/numbers.h"

enum {
    MOST_BYTES = 63 << 10, /* of shared memory: larger tiles were not measured */
    PADDING = 1 << 10,     /* bytes: of KN_MAX_PARAMS tiles, each at a multiple of 16 */
    BLOCK = 512,           /* threads */
    BYTES_BLOCK = 256,     /* threads for vectors of 16 elements: each needs many registers */
    LONGEST = 64,          /* vectors of a side, at most */
    MOST_SIDES = 128,      /* candidates for a side */
    SECTOR = 32,           /* bytes */
    ALIGNED = 256,         /* bytes: ranges that begin at multiples of this are as good as any */
    FREE_SHARED = 8 << 10, /* bytes of shared memory of a block that cost nothing */
    ENOUGH_THREADS = 96,   /* of a block: more are not better */
    ENOUGH_TILES = 256     /* enough for all multiprocessors: more are not better */
};

/* The cost of a tile, as a multiple of the time of its bytes: fitted by bench/models/fit.py to tiles of
 * transposes and orders of axes with 1- to 8-byte elements, measured on an H200. */
static const double run_read = 11;    /* bytes that take as long as beginning one contiguous range */
static const double run_written = 10; /* bytes, likewise, of results */
static const double read_off =
    0.015; /* for each power of two by which the alignment of input ranges is below ALIGNED */
static const double split_written = 0.75; /* sectors for each sector that two tiles write in part */
static const double more_shared = 0.027;  /* for each power of two of shared memory above FREE_SHARED */
static const double fewer_threads = 0.05; /* for each power of two below ENOUGH_THREADS */
static const double fewer_tiles = 0.3;    /* for each power of two below ENOUGH_TILES */

typedef struct sides {
    const kn_space *space;
    const kn_access *operands;
    int staged, result;   /* the operands that the model considers */
    int p, p2, q, q2;     /* axes; -1: none */
    int p_parts, q_parts; /* vectors of which a side has a multiple: whole channels of a narrow axis */
    int vector, most;     /* threads, at most */
    int cell;             /* bytes of shared memory for each thread */
    int64_t taken[KILN_MAX_NDIM]; /* elements of the tile along each axis; 0: the tile has no such axis */
} sides;

int kn_tile_block(int vector)
{
    return vector == 16 ? BYTES_BLOCK : BLOCK;
}

/* The axis along which the results continue behind the fastest axis. */
static int second_of_results(const kn_space *space, int axis)
{
    for (int a = space->ndim - 1; a-- > 0;)
        if (a != axis)
            return a;
    return -1;
}

/* The staged input continues along this axis where it ends along q. */
static bool goes_on(const sides *s, int axis)
{
    int64_t row = s->space->extent[s->q] * s->operands[s->staged].item_size;
    return axis >= 0 && llabs(s->space->stride[s->staged][axis]) == row;
}

/* Adds a side of this length, and others with steps along the second axis if these are useful. */
static int list_steps(kn_tile_side *out, const sides *s, int64_t length, int second, bool is_of_use)
{
    static const int8_t steps[] = {2, 3, 4, 5, 6, 8, 10, 12, 16};
    int64_t there = second < 0 || !is_of_use ? 1 : s->space->extent[second],
            most = s->most < LONGEST ? s->most : LONGEST;
    int count = 0;
    if (length <= most)
        out[count++] = (kn_tile_side){(int)length, 1, second};
    for (size_t k = 0; k < sizeof steps && steps[k] <= there && length * steps[k] <= most; ++k)
        out[count++] = (kn_tile_side){(int)length, steps[k], second};
    return count;
}

/* Lists the sides along an axis: equal parts of it, with steps along the second axis if an operand continues
 * there. */
static int list_sides(kn_tile_side *out, const sides *s, int axis, int second)
{
    static const int8_t lengths[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64};
    int64_t vectors = s->space->extent[axis] / s->vector, last = 0;
    bool reads_on = axis == s->p && goes_on(s, second);
    int count = 0;
    for (size_t l = 0; l < sizeof lengths && lengths[l] < vectors; ++l) {
        int64_t parts = kn_divide_up(vectors, lengths[l]), whole = axis == s->p ? s->p_parts : s->q_parts,
                length = kn_divide_up(kn_divide_up(vectors, parts), whole) * whole;
        if (length != last && length < vectors)
            count += list_steps(out + count, s, length, second, reads_on);
        last = length;
    }
    return count + list_steps(out + count, s, vectors, second, true);
}

typedef struct run {
    int64_t bytes, aligned; /* alignment, a power of two up to ALIGNED */
} run;

/* The contiguous range of the tile in the operand's memory. */
static run run_of(const sides *s, int operand, int first)
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
    return (run){bytes, bits & -bits};
}

static double powers_above(double n, double limit)
{
    return n > limit ? log2(n / limit) : 0;
}

static void take(sides *s, const kn_tile_side *p, const kn_tile_side *q)
{
    s->taken[s->p] = (int64_t)p->vectors * s->vector;
    s->taken[s->q] = (int64_t)q->vectors * s->vector;
    if (s->p2 >= 0)
        s->taken[s->p2] = p->steps;
    if (s->q2 >= 0)
        s->taken[s->q2] = q->steps;
}

static int threads_of(const kn_tile_side *p, const kn_tile_side *q)
{
    return p->vectors * p->steps * q->vectors * q->steps;
}

static double tiles_of(const sides *s)
{
    double tiles = 1;
    for (int a = 0; a < s->space->ndim; ++a) {
        int64_t extent = s->space->extent[a], taken = s->taken[a];
        tiles *= (double)(taken > 1 ? (extent + taken - 1) / taken : extent);
    }
    return tiles;
}

static double rate(sides *s, const kn_tile_side *p, const kn_tile_side *q)
{
    take(s, p, q);
    run read = run_of(s, s->staged, s->q), written = run_of(s, s->result, s->p);
    int threads = threads_of(p, q);
    double split = written.aligned < SECTOR ? split_written * SECTOR / (double)written.bytes : 0;
    return split + run_read / (double)read.bytes + run_written / (double)written.bytes +
           read_off * powers_above(ALIGNED, (double)read.aligned) +
           more_shared * powers_above((double)threads * s->cell, FREE_SHARED) +
           fewer_threads * powers_above(ENOUGH_THREADS, threads) +
           fewer_tiles * powers_above(ENOUGH_TILES, tiles_of(s));
}

/* The most threads of a tile whose cells fit in shared memory. */
static int most_threads(const kn_target *target, int vector, int cell)
{
    int bytes = target->shared_memory_per_block - PADDING;
    int fitting = cell > 0 ? (bytes < MOST_BYTES ? bytes : MOST_BYTES) / cell : 0;
    return fitting < kn_tile_block(vector) ? fitting : kn_tile_block(vector);
}

/* The least number of vectors that is a multiple of so many elements. */
static int vectors_of_channels(int narrow, int vector)
{
    return narrow > 0 ? narrow / kn_common_divisor(narrow, vector) : 1;
}

static sides sides_of(const kn_choice *choice, const char *access, int vector, const kn_tile_params *f,
                      int staged_bytes)
{
    const kn_space *space = choice->space;
    sides s = {.space = space,
               .operands = choice->access,
               .p = space->ndim - 1,
               .q = f->axis,
               .p_parts = vectors_of_channels(f->p_narrow, vector),
               .q_parts = vectors_of_channels(f->q_narrow, vector),
               .vector = vector,
               .cell = vector * vector * staged_bytes};
    s.staged = (int)(strchr(access, KN_STAGED) - access);
    while (s.result < choice->count - 1 && !choice->access[s.result].is_output)
        ++s.result;
    s.most = most_threads(choice->target, vector, s.cell);
    s.p2 = f->p_narrow ? -1 : second_of_results(space, s.q);
    s.p2 = s.p2 >= 0 && space->extent[s.p2] == 1 ? -1 : s.p2;
    s.q2 = f->q_narrow ? -1 : kn_space_nearest_axis(space, s.staged, s.q, s.p2);
    return s;
}

static void set_sides(kn_tile_params *f, const sides *s, const kn_tile_side *p, const kn_tile_side *q)
{
    f->p = *p;
    f->q = *q;
    f->across = goes_on(s, s->p2) && (int64_t)q->vectors * s->vector == s->space->extent[s->q];
    f->shared_bytes = threads_of(p, q) * s->cell + PADDING;
}

void kn_tile_choose_sides(kn_tile_params *f, const kn_choice *choice, const char *access, int vector,
                          int staged_bytes)
{
    sides s = sides_of(choice, access, vector, f, staged_bytes);
    kn_tile_side p[MOST_SIDES], q[MOST_SIDES];
    int n_p = list_sides(p, &s, s.p, s.p2), n_q = list_sides(q, &s, s.q, s.q2);
    const kn_tile_side *best_p = NULL, *best_q = NULL;
    double least = DBL_MAX;
    for (int i = 0; i < n_p; ++i)
        for (int j = 0; j < n_q; ++j) {
            double cost = threads_of(&p[i], &q[j]) <= s.most ? rate(&s, &p[i], &q[j]) : DBL_MAX;
            if (cost < least) {
                least = cost;
                best_p = &p[i];
                best_q = &q[j];
            }
        }
    f->shared_bytes = 0;
    if (best_p)
        set_sides(f, &s, best_p, best_q);
}
