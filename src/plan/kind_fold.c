/* kind_fold.c - reductions: some threads share a result, go along the innermost reduced axis together, and make
 * one value of theirs. Anything: no axis has to be a run. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"

enum { WARP = 32, LONG_ROW = 1024 /* elements, from which on a block shares a result */ };

/* The kind's field: reduced axes, elements along the innermost of them, and how many such rows there are. */
typedef struct fold {
    int32_t rank, unused;
    int64_t length, rows;
} fold;

static fold fold_of(const kn_space *s)
{
    fold f = {.rank = s->n_reduced, .length = 1, .rows = 1};
    for (int a = s->ndim - s->n_reduced; a < s->ndim; ++a)
        *(a == s->ndim - 1 ? &f.length : &f.rows) *= s->extent[a];
    return f;
}

/* The largest power of two that divides both. */
static int common_power(int a, int b)
{
    int power = 1;
    while (a % (2 * power) == 0 && b % (2 * power) == 0)
        power *= 2;
    return power;
}

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)kept;
    const fold f = fold_of(c->space);
    out->block = kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
    out->lanes = f.length < WARP ? 1 : f.length < LONG_ROW ? WARP : common_power(out->block, 1024);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) int fold_rank;\nint fold_unused;\nlong long length;\nlong long rows;\n",
                      sizeof(fold), 8};
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const fold f = fold_of(part->space);
    out->walked = part->space;
    out->rank = part->space->ndim;
    out->size = kn_space_kept_size(part->space);
    memcpy(out->field, &f, sizeof f);
    out->grid[0] = (unsigned)((out->size * s->lanes + s->block - 1) / s->block);
    return KILN_OK;
}

/* Along the outermost kept axis, so that the grid has room for the rest. */
static int cut(int64_t *align, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    *align = 1;
    return kn_space_kept_size(part->space) * s->lanes / s->block < KN_MAX_INDEX ? -1 : 0;
}

static void describe(kn_str *out, const unsigned char *at)
{
    fold f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " rows=\"%lld\" length=\"%lld\"", (long long)f.rows, (long long)f.length);
}

const kn_kind kn_kind_fold = {"fold", "mrm", choose, field, place, cut, true, describe, false};
