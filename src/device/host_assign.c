/* Rows read at places, and values stored at places in their order. Threads share the rows that values are
 * stored in, not the values: each looks at all places, and stores those that are its own, so that a later
 * value comes after an earlier one. */
#include "device/host_assign.h"

#include <string.h>

#include "device/host_threads.h"

enum {
    FEWEST = 1 << 15, /* places that are worth several threads */
    PARTS = 2,        /* of the rows: as often all places are looked at */
    WIDEST = 16       /* bytes of a row that is stored by an instruction or two */
};

typedef struct part {
    const kn_host_assignment *of;
    uint64_t first, count; /* rows */
    bool is_all;
} part;

#define ALWAYS static inline __attribute__((always_inline))

/* Numbers of rows, those below 0 from the end on. */
typedef struct places {
    const void *of;
    int64_t count, rows;
    bool is_wide;
} places;

ALWAYS int64_t place_at(const void *of, int64_t k, bool is_wide)
{
    return is_wide ? ((const int64_t *)of)[k] : ((const int32_t *)of)[k];
}

ALWAYS int64_t row_at(const void *of, int64_t k, bool is_wide, int64_t rows)
{
    const int64_t given = place_at(of, k, is_wide);
    return given < 0 ? given + rows : given;
}

/* The sign of a difference says whether a place is outside: loops of sums and differences are vectors on any
 * processor. */
ALWAYS bool is_outside(const places *p, int64_t first, int64_t end, bool is_wide)
{
    const uint64_t rows = (uint64_t)p->rows;
    uint64_t signs = 0;
    for (int64_t k = first; k < end; ++k) {
        const uint64_t place = (uint64_t)place_at(p->of, k, is_wide);
        signs |= (place + rows) | (rows - 1 - place);
    }
    return signs >> 63 != 0;
}

static bool has_outside(int64_t *outside, const places *p)
{
    int64_t k = 0;
    if (!(p->is_wide ? is_outside(p, 0, p->count, true) : is_outside(p, 0, p->count, false)))
        return false;
    while (!is_outside(p, k, k + 1, p->is_wide))
        ++k;
    *outside = place_at(p->of, k, p->is_wide);
    return true;
}

/* ---- values that are stored ---- */

/* A row of another part goes to a place of its own: a branch would be mispredicted for as many. */
ALWAYS void store(const part *p, int64_t size, bool is_wide, bool is_one)
{
    const kn_host_assignment *a = p->of;
    char elsewhere[WIDEST], *const to = a->to;
    for (int64_t k = 0; k < a->count; ++k) {
        const uint64_t place = (uint64_t)row_at(a->places, k, is_wide, a->rows);
        char *at = to + place * (uint64_t)size;
        if (!p->is_all)
            at = place - p->first < p->count ? at : elsewhere;
        memcpy(at, (const char *)a->values + (is_one ? 0 : k * size), (size_t)size);
    }
}

ALWAYS void store_of_size(const part *p, int64_t size)
{
    if (p->of->is_one_value)
        p->of->has_wide_places ? store(p, size, true, true) : store(p, size, false, true);
    else
        p->of->has_wide_places ? store(p, size, true, false) : store(p, size, false, false);
}

static void store_rows(const part *p)
{
    const kn_host_assignment *a = p->of;
    const size_t size = (size_t)a->row_bytes;
    for (int64_t k = 0; k < a->count; ++k) {
        const uint64_t place = (uint64_t)row_at(a->places, k, a->has_wide_places, a->rows);
        if (place - p->first < p->count)
            memcpy((char *)a->to + place * size,
                   (const char *)a->values + (a->is_one_value ? 0 : (size_t)k * size), size);
    }
}

static void store_part(const part *p)
{
    switch (p->of->row_bytes) {
    case 1:
        store_of_size(p, 1);
        break;
    case 2:
        store_of_size(p, 2);
        break;
    case 4:
        store_of_size(p, 4);
        break;
    case 8:
        store_of_size(p, 8);
        break;
    case WIDEST:
        store_of_size(p, WIDEST);
        break;
    default:
        store_rows(p);
    }
}

/* Parts begin .. end of the rows, as one. */
static void store_parts(void *user, int64_t begin, int64_t end)
{
    const kn_host_assignment *a = user;
    const int64_t first = a->rows / PARTS * begin, behind = end == PARTS ? a->rows : a->rows / PARTS * end;
    const part p = {a, (uint64_t)first, (uint64_t)(behind - first), behind - first == a->rows};
    store_part(&p);
}

bool kn_host_assign(int64_t *outside, const kn_host_assignment *of)
{
    const places p = {of->places, of->count, of->rows, of->has_wide_places};
    if (has_outside(outside, &p))
        return false;
    kn_host_parallel(PARTS, of->count >= FEWEST ? 1 : PARTS, store_parts, (void *)(uintptr_t)of);
    return true;
}

/* ---- rows that are read ---- */

enum { BYTES_OF_THREAD = 1 << 17 };

ALWAYS void gather(const kn_host_gathering *g, int64_t block, int64_t first, int64_t end, size_t size,
                   bool is_wide)
{
    const char *const from = (const char *)g->from + (size_t)(block * g->rows) * size;
    char *const to = (char *)g->to + (size_t)(block * g->count) * size;
    for (int64_t k = first; k < end; ++k)
        memcpy(to + (size_t)k * size, from + (size_t)row_at(g->places, k, is_wide, g->rows) * size, size);
}

ALWAYS void gather_of_size(const kn_host_gathering *g, int64_t block, int64_t first, int64_t end, size_t size)
{
    g->has_wide_places ? gather(g, block, first, end, size, true) : gather(g, block, first, end, size, false);
}

/* Rows begin .. end of the result. */
static void gather_rows(void *user, int64_t begin, int64_t end)
{
    const kn_host_gathering *g = user;
    while (begin < end) {
        const int64_t block = begin / g->count, first = begin % g->count;
        const int64_t last = end - begin < g->count - first ? first + end - begin : g->count;
        switch (g->row_bytes) {
        case 1:
            gather_of_size(g, block, first, last, 1);
            break;
        case 2:
            gather_of_size(g, block, first, last, 2);
            break;
        case 4:
            gather_of_size(g, block, first, last, 4);
            break;
        case 8:
            gather_of_size(g, block, first, last, 8);
            break;
        case WIDEST:
            gather_of_size(g, block, first, last, WIDEST);
            break;
        default:
            gather_of_size(g, block, first, last, (size_t)g->row_bytes);
        }
        begin += last - first;
    }
}

bool kn_host_gather(int64_t *outside, const kn_host_gathering *of)
{
    const places p = {of->places, of->count, of->rows, of->has_wide_places};
    if (has_outside(outside, &p))
        return false;
    kn_host_parallel(of->blocks * of->count, 1 + BYTES_OF_THREAD / of->row_bytes, gather_rows,
                     (void *)(uintptr_t)of);
    return true;
}
