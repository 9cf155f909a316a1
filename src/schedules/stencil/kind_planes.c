/* kind_planes.c - stencils over three axes: inputs that are one array, shifted by elements, rows and
 * planes. A block walks along the planes, and keeps of each what the next ones need: from the nearest
 * cache rows of other planes would come again for each, and that binds before memory does. */
#include "schedules/stencil/planes_windows.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/stencil/stencil_kinds.h"

enum {
    HIGH = 8,             /* threads of a block one above the other */
    LINES = 2,            /* of results of a thread */
    LEAST_PLANES = 4,     /* of results, */
    LEAST_SIZE = 1 << 14, /* and elements, for blocks to have something to keep */
    MOST_WORDS = 96       /* of 32 bits, of all windows */
};

typedef struct launch_params {
    int line, plane; /* axes of the space */
} launch_params;

typedef struct shift {
    int64_t plane, line, column;
} shift;

typedef struct shifts {
    int first, count;
    shift at[KN_SHIFTED_MOST];
    shift least;
    int n_rows, row[KN_SHIFTED_MOST]; /* by input */
    int code[KN_SHIFTED_ROWS];
} shifts;

/* ---- windows ---- */

static int words_of(const kn_schedule *s, int item)
{
    kn_planes_window w[KN_PLANES_WINDOWS];
    int count = kn_planes_list(w, s), words = 0;
    for (int k = 0; k < count; ++k)
        words += ((s->vector + w[k].last - w[k].first) * item + 15) / 16 * 4;
    return words;
}

/* ---- the choice ---- */

static bool find_axes(launch_params *f, const kn_choice *c, int o)
{
    f->line = kn_space_nearest_axis(c->space, o, -1, -1);
    f->plane = f->line < 0 ? -1 : kn_space_nearest_axis(c->space, o, f->line, -1);
    return f->plane >= 0 && c->space->stride[o][f->line] > 0 &&
           c->space->stride[o][f->plane] > c->space->stride[o][f->line];
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static bool split_distances(shifts *s, const kn_choice *c, const launch_params *f)
{
    const int64_t *stride = c->space->stride[s->first], item = c->access[s->first].item_size;
    int64_t bytes = 0;
    for (int k = 0; k < s->count; ++k) {
        shift *x = &s->at[k];
        bytes += k > 0 ? c->space->after[s->first + k] : 0;
        x->plane = kn_shifted_steps(bytes, stride[f->plane]);
        int64_t rest = bytes - x->plane * stride[f->plane];
        x->line = kn_shifted_steps(rest, stride[f->line]);
        rest -= x->line * stride[f->line];
        x->column = rest / item;
        if (x->column * item != rest || llabs(x->column) >= KN_SHIFTED_COLUMNS)
            return false;
        s->least = (shift){least_of(s->least.plane, x->plane), least_of(s->least.line, x->line),
                           least_of(s->least.column, x->column)};
    }
    return true;
}

/* Numbers the rows; false where they are too many or too far apart, or one plane has them all. */
static bool number_rows(shifts *s)
{
    bool has_planes = false;
    for (int k = 0; k < s->count; ++k) {
        int64_t plane = s->at[k].plane - s->least.plane, line = s->at[k].line - s->least.line;
        if (plane >= KN_PLANES_SPAN || line >= KN_PLANES_SPAN ||
            s->at[k].column - s->least.column >= KN_SHIFTED_COLUMNS)
            return false;
        int code = (int)(plane * KN_PLANES_SPAN + line), row = 0;
        has_planes = has_planes || plane > 0;
        while (row < s->n_rows && s->code[row] != code)
            ++row;
        if (row == KN_SHIFTED_ROWS)
            return false;
        s->n_rows += row == s->n_rows;
        s->code[row] = code;
        s->row[k] = row;
    }
    return has_planes;
}

static bool set_access(kn_schedule *out, const kn_choice *c, const shifts *s)
{
    char letter[KN_SHIFTED_MOST];
    for (int k = 0; k < s->count; ++k)
        letter[k] = kn_shifted_letter(s->row[k], s->at[k].column - s->least.column);
    if (!kn_shifted_set_access(out, c, s->first, s->count, letter, KN_VECTOR))
        return false;
    for (int row = 0; row < s->n_rows; ++row)
        out->variant |= s->code[row] << (row * KN_PLANES_ROW_BITS);
    return true;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    shifts s = {0};
    launch_params f;
    s.count = kn_shifted_inputs(&s.first, c);
    if (s.count == 0 || c->space->size < LEAST_SIZE || c->space->ndim < 3 || !find_axes(&f, c, s.first))
        return false;
    out->vector = kn_choice_vector(c);
    out->per_thread = LINES;
    if (out->vector == 1 || c->space->extent[kn_choice_inner(c)] % out->vector != 0 ||
        c->space->extent[f.plane] < LEAST_PLANES || !split_distances(&s, c, &f) || !number_rows(&s) ||
        !set_access(out, c, &s) || words_of(out, c->access[s.first].item_size) > MOST_WORDS ||
        !kn_choice_is_near(c, out->vector * KN_PLANES_WIDE) ||
        !kn_choice_fits_transposed(c, f.line, LINES * HIGH) ||
        !kn_choice_fits_transposed(c, f.plane, KN_PLANES_WALKED + KN_PLANES_AHEAD + 1) ||
        c->space->ndim + 3 > KILN_MAX_NDIM)
        return false;
    out->block = KN_PLANES_WIDE * HIGH;
    out->rank = kn_choice_rank(c->space->ndim + 3);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* A thread block loops over its planes: their axis is the outermost of the grid's. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    const kn_tile_axis axis[] = {{f.plane, KN_PLANES_WALKED, true},
                                 {f.line, HIGH * s->per_thread, false},
                                 {space->ndim - 1, KN_PLANES_WIDE * s->vector, false}};
    kn_tile_axes(&out->own_space, space, axis, 3);
    out->size = kn_place_tiles(out, 3);
    return KILN_OK;
}

const kn_kind kn_kind_planes = {.name = "planes",
                                .recipe = &kn_recipe_planes,
                                .pattern = "m",
                                .revision = 1,
                                .choose = choose,
                                .field = kn_field_none,
                                .place = place,
                                .cut = kn_cut_reach};
