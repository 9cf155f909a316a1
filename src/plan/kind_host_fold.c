/* kind_host_fold.c - reductions on the host: a thread makes a result after the other. Anything: no axis has to be
 * a run. */
#include "plan/kind.h"

#include <string.h>

#include "plan/choice.h"

enum { GRAIN = 1 << 15 /* elements that are worth another thread */ };

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

/* Inputs that are runs along the innermost reduced axis are read as vectors by the compiler. */
static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)kept;
    const kn_space *s = c->space;
    out->rank = kn_choice_rank(s->ndim);
    for (int o = 0; o < c->count; ++o) {
        bool is_run = s->n_reduced > 0 && s->stride[o][s->ndim - 1] == c->access[o].item_size;
        out->access[o] = !c->access[o].is_output && is_run ? KN_DENSE : KN_GATHER;
    }
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
    const fold f = fold_of(part->space);
    int64_t each = f.length * f.rows;
    out->walked = part->space;
    out->rank = part->space->ndim;
    out->size = kn_space_kept_size(part->space);
    out->grain = 1 + GRAIN / (each > 0 ? each : 1);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    fold f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " rows=\"%lld\" length=\"%lld\"", (long long)f.rows, (long long)f.length);
}

const kn_kind kn_kind_host_fold = {"fold", "mrm", choose, field, place, NULL, true, describe, false};
