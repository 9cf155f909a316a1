/* kind_fold_rows.c - reductions: a block, or several that finish by the last of them, share a result and go
 * along the reduced axes. Anything: no axis has to be a run. */
#include "plan/kind.h"

#include <string.h>

#include "base/error.h"
#include "plan/choice.h"
#include "plan/fold.h"

enum {
    USUAL = 256, /* threads of blocks */
    LARGE = 512, /* for rows of more items than */
    USUAL_ROW = 16384,
    STEPS = 4,            /* items of a thread in flight: templates/cuda/fold_rows.cu */
    SINGLE_STEPS = 8,     /* the same, of one element each */
    THREADS_WANTED = 4096 /* of a multiprocessor, in blocks for which rows are split: a few waves of them */
};

/* The kind's field, as its struct in the kernel. */
typedef struct rows_field {
    int32_t fold_rank;
    uint32_t splits;
    int64_t length, items, chunk;
    kn_divider per_row;
} rows_field;

/* An innermost axis that divisions of 32 bits cannot take goes outside the others. */
static bool is_turned(const kn_space *space, int form)
{
    return form > 1 && space->extent[space->ndim - 1] >= KN_FOLD_STEPS;
}

/* Rows that neither begin at a vector's boundary nor end at one are left to single elements, unless there is
 * but one a result. */
static int vector_of(const kn_choice *c)
{
    const kn_space *s = c->space;
    int vector = kn_fold_vector(c), inner = s->ndim - 1;
    if (s->n_reduced == 0 || s->extent[inner] < 2 * vector || s->extent[inner] / vector >= KN_FOLD_STEPS)
        return 1;
    kn_fold_fit fit = kn_fold_fit_of(c, inner, vector);
    bool whole = fit == KN_FIT_ALIGNED && s->extent[inner] % vector == 0;
    return whole || (s->n_reduced == 1 && fit != KN_FIT_NONE) ? vector : 1;
}

static bool choose(kn_schedule *out, kn_figures *kept, const kn_choice *c)
{
    (void)kept;
    out->vector = vector_of(c);
    int64_t items = kn_fold_size(c->space) / out->vector;
    out->form = kn_fold_form(c->space->n_reduced);
    bool large = out->vector > 1 && out->form == 1 && items > USUAL_ROW;
    out->block = c->block ? c->block : large ? LARGE : USUAL;
    out->rank = kn_fold_rank(c->space);
    kn_fold_set_access(out, c, out->vector);
    kn_fold_set_index(out, c);
    if (is_turned(c->space, out->form))
        out->order = 0;
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) int fold_rank;\nunsigned splits;\nlong long length;\nlong long items;\n"
                      "long long chunk;\nkn_divider per_row;\n",
                      sizeof(rows_field), 8};
}

static void put_axes(kn_placement *out, rows_field *f, const kn_space *space, int form)
{
    kn_fold_put_kept(&out->room, space, -1);
    int inner = space->ndim - 1;
    bool turned = is_turned(space, form);
    if (turned)
        kn_space_put_axis(&out->room, out->room.ndim++, space, inner, 1);
    f->fold_rank = kn_fold_put_reduced(&out->room, space, turned ? inner : -1) + turned;
    out->walked = &out->room;
    out->rank = out->room.ndim;
}

/* Few results are shared by several blocks each, whose turns are all full. */
static void split(rows_field *f, const kn_part *part, int64_t results)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t turn = (int64_t)s->block * (s->vector > 1 ? STEPS : SINGLE_STEPS);
    int64_t at_once = (int64_t)part->spec->target.multiprocessors * THREADS_WANTED / s->block;
    int64_t wanted = at_once / (results > 0 ? results : 1);
    int64_t splits = kn_fold_clamp(wanted, 1, kn_fold_ceil(f->items, turn));
    int64_t least = f->items / (KN_FOLD_STEPS / 2) + 1;
    splits = splits < least ? least : splits < 1 ? 1 : splits;
    f->chunk = kn_fold_ceil(kn_fold_ceil(f->items, splits), turn) * turn;
    f->splits = (uint32_t)(f->items > 0 ? kn_fold_ceil(f->items, f->chunk) : 1);
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    rows_field f = {0};
    out->size = kn_space_kept_size(space);
    put_axes(out, &f, space, s->form);
    f.length = out->room.extent[out->room.ndim - 1];
    f.items = kn_fold_size(space) / s->vector;
    if (s->form > 1)
        f.per_row = kn_divider_make((uint32_t)(f.length / s->vector));
    split(&f, part, out->size);
    if (f.splits > 1) {
        if (out->size > KN_MAX_COUNTERS)
            return kn_error(KILN_ERROR_UNSUPPORTED, "%s: %lld results of %lld elements each are too many",
                            part->spec->program->name, (long long)out->size, (long long)kn_fold_size(space));
        out->counters = (int)out->size;
        out->partials = out->size * f.splits;
    }
    out->grid[0] = (unsigned)(out->size * f.splits);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    rows_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " items=\"%lld\" splits=\"%u\" chunk=\"%lld\"", (long long)f.items, (unsigned)f.splits,
                  (long long)f.chunk);
}

const kn_kind kn_kind_fold_rows = {"fold_rows",           "mrk", choose,   field, place,
                                   kn_fold_cut_outermost, true,  describe, true};
