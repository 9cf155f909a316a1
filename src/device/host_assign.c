/* Values stored at places in their order. Threads share the rows, not the values: each looks at all places,
 * and stores those that are its own, so that a later value comes after an earlier one. */
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

ALWAYS int64_t place_at(const kn_host_assignment *a, int64_t k, bool is_wide)
{
    return is_wide ? ((const int64_t *)a->places)[k] : ((const int32_t *)a->places)[k];
}

/* The sign of a difference says whether a place is outside: loops of sums and differences are vectors on any
 * processor. */
ALWAYS bool is_outside(const kn_host_assignment *a, int64_t first, int64_t end, bool is_wide)
{
    const uint64_t rows = (uint64_t)a->rows;
    uint64_t signs = 0;
    for (int64_t k = first; k < end; ++k) {
        const uint64_t place = (uint64_t)place_at(a, k, is_wide);
        signs |= (place + rows) | (rows - 1 - place);
    }
    return signs >> 63 != 0;
}

static bool has_outside(int64_t *outside, const kn_host_assignment *a)
{
    const bool is_wide = a->has_wide_places;
    int64_t k = 0;
    if (!(is_wide ? is_outside(a, 0, a->count, true) : is_outside(a, 0, a->count, false)))
        return false;
    while (!is_outside(a, k, k + 1, is_wide))
        ++k;
    *outside = place_at(a, k, is_wide);
    return true;
}

/* A row of another part goes to a place of its own: a branch would be mispredicted for as many. */
ALWAYS void store(const part *p, int64_t size, bool is_wide, bool is_one)
{
    const kn_host_assignment *a = p->of;
    char elsewhere[WIDEST], *const to = a->to;
    for (int64_t k = 0; k < a->count; ++k) {
        const int64_t given = place_at(a, k, is_wide);
        const uint64_t place = (uint64_t)(given < 0 ? given + a->rows : given);
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
        const int64_t given = place_at(a, k, a->has_wide_places);
        const uint64_t place = (uint64_t)(given < 0 ? given + a->rows : given);
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
    if (has_outside(outside, of))
        return false;
    kn_host_parallel(PARTS, of->count >= FEWEST ? 1 : PARTS, store_parts, (void *)(uintptr_t)of);
    return true;
}
