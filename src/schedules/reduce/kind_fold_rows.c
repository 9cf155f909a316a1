/* kind_fold_rows.c - reductions: a block, or several that finish by the last of them, share a result and go
 * along the reduced axes. Anything: no axis has to be a run. */
#include "schedule/kind.h"

#include <string.h>

#include "base/error.h"
#include "schedule/choice.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"

enum {
    USUAL = 256,           /* threads of blocks */
    LARGE = 512,           /* for rows that have more turns, or several blocks */
    ALONE_AXES = 2,        /* kept ones, at most, of results that have a block each */
    USUAL_TURNS = 16,      /* whose items a thread folds one behind the other */
    STEPS = 4,             /* items of a thread in flight: src/schedules/reduce/fold_rows.cu */
    SINGLE_STEPS = 8,      /* the same, of one element each */
    THREADS_WANTED = 4096, /* of a multiprocessor, in blocks for which rows are split: a few waves of them */
    AT_ONCE = 1280 /* of a multiprocessor, with the registers that sums of float32 along several axes need */
};

/* The kind's field, as its struct in the kernel. */
typedef struct rows_field {
    int32_t fold_rank;
    uint32_t splits;
    int64_t length, items;
    uint32_t chunk, unused;
    kn_divider by; /* splits; alone: results along the first kept axis */
    kn_divider per_row;
} rows_field;

/* Whether all rows begin at a vector's boundary and end at one. */
static bool is_whole(const kn_choice *c, int vector)
{
    int inner = c->space->ndim - 1;
    return kn_fold_fit_of(c, inner, vector) == KN_FIT_ALIGNED && c->space->extent[inner] % vector == 0;
}

/* Rows that are not whole are read by vectors too where there is but one a result; where inputs disagree,
 * or rows lie along several axes, by vectors that are gathered. */
static int vector_of(bool *gathered, const kn_choice *c)
{
    const kn_space *s = c->space;
    int vector = kn_fold_vector(c), inner = s->ndim - 1;
    *gathered = false;
    if (s->n_reduction_axes == 0 || s->extent[inner] < 2 * vector ||
        s->extent[inner] / vector >= KN_FOLD_STEPS)
        return 1;
    if (is_whole(c, vector) || (s->n_reduction_axes == 1 && kn_fold_fit_of(c, inner, vector) != KN_FIT_NONE))
        return vector;
    *gathered = kn_fold_vector_anywhere(c, inner) > 1;
    return *gathered ? kn_fold_vector_anywhere(c, inner) : 1;
}

static int64_t turn_of(const kn_schedule *s)
{
    return (int64_t)s->block * (s->vector > 1 ? STEPS : SINGLE_STEPS);
}

/* Results are split into a few parts more, where these fill waves. */
static int64_t fill_wave(const kn_schedule *s, const kn_target *target, int64_t wanted, int64_t results)
{
    int64_t wave = (int64_t)target->multiprocessors * AT_ONCE / s->block;
    for (int64_t splits = wanted; splits < 2 * wanted; ++splits)
        if (kn_fold_wave_share(splits * results, wave) >= KN_FOLD_FULL_WAVE)
            return splits;
    return wanted;
}

/* How many blocks share a result: several where there are few results. Their turns are all full. */
static int64_t splits_of(const kn_schedule *s, const kn_target *target, int64_t items, int64_t results)
{
    int64_t at_once = (int64_t)target->multiprocessors * THREADS_WANTED / s->block;
    int64_t wanted = at_once / (results > 0 ? results : 1);
    if (wanted > 1 && s->variant == KN_FOLD_SEVERAL_AXES)
        wanted = fill_wave(s, target, wanted, results);
    int64_t splits = kn_fold_clamp(wanted, 1, kn_fold_ceil(items, turn_of(s)));
    int64_t least = items / (KN_FOLD_STEPS / 2) + 1;
    return splits < least ? least : splits < 1 ? 1 : splits;
}

/* Most rows have a kernel that knows that a block is alone with each, and where results lie along two axes
 * at most; the others take larger blocks, but for those of results along more axes, which go as rows along
 * several do. */
static void choose_form(kn_schedule *out, const kn_choice *c)
{
    const kn_space *s = c->space;
    int kept = s->ndim - s->n_reduction_axes;
    int64_t items = kn_fold_size(s) / out->vector;
    out->variant = kn_fold_form(s->n_reduction_axes);
    out->block = c->block ? c->block : USUAL;
    if (out->vector == 1 || out->variant != KN_FOLD_ONE_AXIS)
        return;
    bool alone =
        items <= USUAL_TURNS * turn_of(out) && splits_of(out, c->target, items, kn_space_output_size(s)) == 1;
    if (alone && kept <= ALONE_AXES)
        out->variant = KN_FOLD_ALONE;
    else if (alone && is_whole(c, out->vector))
        out->variant = KN_FOLD_SEVERAL_AXES;
    else if (!c->block)
        out->block = LARGE;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    bool gathered;
    out->vector = vector_of(&gathered, c);
    choose_form(out, c);
    out->rank = kn_fold_rank(c->space);
    if (gathered)
        kn_fold_set_gathered(out, c, c->space->ndim - 1, out->variant != KN_FOLD_SEVERAL_AXES);
    else
        kn_fold_set_access(out, c, out->vector);
    kn_fold_set_index(out, c);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) int fold_rank;\nunsigned splits;\nlong long length;\nlong long items;\n"
                      "unsigned chunk;\nunsigned fold_unused;\n"
                      "kn_divider by;\nkn_divider per_row;\n",
                      sizeof(rows_field), 8};
}

/* An innermost axis that divisions of 32 bits cannot take goes outside the others. */
static void put_axes(kn_placement *out, rows_field *f, const kn_space *space, int form)
{
    kn_fold_put_kept(&out->own_space, space, -1);
    int inner = space->ndim - 1;
    bool turned = form == KN_FOLD_SEVERAL_AXES && space->extent[inner] >= KN_FOLD_STEPS;
    if (turned)
        kn_space_put_axis(&out->own_space, out->own_space.ndim++, space, inner, 1);
    f->fold_rank = kn_fold_put_reduced(&out->own_space, space, turned ? inner : -1) + turned;
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
}

static void split(rows_field *f, const kn_part *part, int64_t results)
{
    const kn_schedule *s = &part->spec->schedule;
    int64_t turn = turn_of(s), splits = splits_of(s, &part->spec->target, f->items, results);
    f->chunk = (uint32_t)(kn_fold_ceil(kn_fold_ceil(f->items, splits), turn) * turn);
    f->splits = (uint32_t)(f->items > 0 ? kn_fold_ceil(f->items, f->chunk) : 1);
    f->by = kn_divider_make(f->splits);
}

/* Parts of a call may have few results where the whole has many. */
static void leave_alone(rows_field *f, const kn_space *room, int64_t results)
{
    int64_t along = room->ndim > ALONE_AXES ? room->extent[room->ndim - 2] : results;
    f->splits = 1;
    f->by = kn_divider_make((uint32_t)(along > 0 ? along : 1));
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    rows_field f = {0};
    out->size = kn_space_output_size(space);
    put_axes(out, &f, space, s->variant);
    f.length = out->own_space.extent[out->own_space.ndim - 1];
    f.items = kn_fold_size(space) / s->vector;
    if (s->variant == KN_FOLD_SEVERAL_AXES)
        f.per_row = kn_divider_make((uint32_t)(f.length / s->vector));
    if (s->variant == KN_FOLD_ALONE)
        leave_alone(&f, &out->own_space, out->size);
    else
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

const kn_kind kn_kind_fold_rows = {.name = "fold_rows",
                                   .recipe = &kn_recipe_fold_rows,
                                   .pattern = "mrk",
                                   .revision = 1,
                                   .choose = choose,
                                   .field = field,
                                   .place = place,
                                   .cut = kn_fold_cut_outermost,
                                   .has_wide_axes = true,
                                   .describe = describe,
                                   .has_workspace = true};
