/* The key at a place, by a selection that looks at few keys first (Floyd and Rivest), and partitions by it.
 * Long rows are shared by all threads, in pieces. */
#include "device/host_select.h"

#include <stdbool.h>
#include <string.h>

#include "device/host_threads.h"
#ifdef __x86_64__
#include "device/host_vectors.h"
#endif

enum {
    LONG_ROW = 1 << 17, /* keys that are worth several threads */
    PIECES = 64,        /* of a long row, at most */
    FEW = 256,          /* keys that tell where a place is, and that are sorted at once ... */
    FEW_APART = 24,     /* ... and how far from it two of them are: three times the deviation, at most */
    MANY = 1024,        /* the same of a long row */
    MANY_APART = 48
};

/* A filter of a long row, by pieces. */
typedef struct filtering {
    const void *from;
    void *to;
    int64_t n, piece;
    bool has_vectors;
    uint64_t least, most;
    int64_t found[PIECES], less[PIECES];
} filtering;

/* A partition of a row, by pieces: the elements in each, then in those in front of it. */
typedef struct parting {
    const kn_host_partition *of;
    int64_t row, piece;
    int64_t less[PIECES], equal[PIECES];
} parting;

#define KEY uint8_t
#define NAME(of) of##_8
#include "device/host_select_keys.h"

#define KEY uint16_t
#define NAME(of) of##_16
#include "device/host_select_keys.h"

#ifdef __x86_64__
#include "device/host_lanes_32.h"
#else
#define KEY uint32_t
#define NAME(of) of##_32
#endif
#include "device/host_select_keys.h"

#ifdef __x86_64__
#include "device/host_lanes_64.h"
#else
#define KEY uint64_t
#define NAME(of) of##_64
#endif
#include "device/host_select_keys.h"

static const struct {
    void (*find)(const kn_host_places *of, int64_t row, int64_t to, bool is_long);
    void (*count)(void *parting, int64_t begin, int64_t end);
    void (*put)(void *parting, int64_t begin, int64_t end);
} sizes[] = {[1] = {find_8, count_pieces_8, put_pieces_8},
             [2] = {find_16, count_pieces_16, put_pieces_16},
             [4] = {find_32, count_pieces_32, put_pieces_32},
             [8] = {find_64, count_pieces_64, put_pieces_64}};

/* Places of one row share the memory beside it. */
static void find_rows(void *user, int64_t begin, int64_t end)
{
    const kn_host_places *of = user;
    for (int64_t row = begin; row < end; ++row)
        for (int64_t k = 0; k < of->places; ++k)
            sizes[of->key_size].find(of, row, k * of->rows + row, of->length >= LONG_ROW);
}

void kn_host_find_places(const kn_host_places *of)
{
    kn_host_places o = *of;
    kn_host_parallel_rows(o.rows, o.length, LONG_ROW, find_rows, find_rows, &o);
}

static void part_rows(void *user, int64_t begin, int64_t end)
{
    const kn_host_partition *of = user;
    for (int64_t row = begin; row < end; ++row) {
        parting p = {.of = of, .row = row, .piece = of->length};
        sizes[of->key_size].put(&p, 0, 1);
    }
}

static void part_long_row(const kn_host_partition *of, int64_t row)
{
    parting p = {.of = of, .row = row, .piece = of->length / PIECES + 1};
    const int64_t pieces = (of->length + p.piece - 1) / p.piece;
    int64_t less = 0, equal = 0;
    kn_host_parallel(pieces, 1, sizes[of->key_size].count, &p);
    for (int64_t k = 0; k < pieces; ++k) {
        const int64_t own_less = p.less[k], own_equal = p.equal[k];
        p.less[k] = less;
        p.equal[k] = equal;
        less += own_less;
        equal += own_equal;
    }
    kn_host_parallel(pieces, 1, sizes[of->key_size].put, &p);
}

static void part_long_rows(void *user, int64_t begin, int64_t end)
{
    for (int64_t row = begin; row < end; ++row)
        part_long_row(user, row);
}

void kn_host_part_rows(const kn_host_partition *of)
{
    kn_host_partition o = *of;
    kn_host_parallel_rows(o.rows, o.length, LONG_ROW, part_rows, part_long_rows, &o);
}
