/* kind_stencil_3d.c - stencils over three axes: inputs that are one array at offsets of elements, lines and
 * planes. 2.5-D blocking: a block loops over planes, and holds in registers what the next planes need again.
 * Otherwise each plane would be loaded from L2 once more for each of its neighbours, and L2 would be the
 * bottleneck. */
#include "schedules/stencil/stencil_3d_windows.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/stencil/stencil_kinds.h"

enum {
    HIGH = 8,             /* threads of a block below each other */
    LINES = 2,            /* of results in a thread */
    LEAST_PLANES = 4,     /* of results, */
    LEAST_SIZE = 1 << 14, /* and elements: with fewer, a block has nothing to hold */
    MOST_WORDS = 96       /* of 32 bits, in all windows */
};

typedef struct launch_params {
    int line, plane; /* axes of the space */
} launch_params;

typedef struct shift {
    int64_t plane, line, column;
} shift;

typedef struct shifts {
    int first, count;
    shift at[KN_STENCIL_MOST];
    shift least;
    int n_rows, row[KN_STENCIL_MOST]; /* by input */
    int code[KN_STENCIL_ROWS];
} shifts;

/* ---- windows ---- */

static int words_of(const kn_schedule *s, int item)
{
    kn_stencil_3d_window w[KN_STENCIL_3D_WINDOWS];
    int count = kn_stencil_3d_windows(w, s), words = 0;
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
        x->plane = kn_stencil_steps(bytes, stride[f->plane]);
        int64_t rest = bytes - x->plane * stride[f->plane];
        x->line = kn_stencil_steps(rest, stride[f->line]);
        rest -= x->line * stride[f->line];
        x->column = rest / item;
        if (x->column * item != rest || llabs(x->column) >= KN_STENCIL_COLUMNS)
            return false;
        s->least = (shift){least_of(s->least.plane, x->plane), least_of(s->least.line, x->line),
                           least_of(s->least.column, x->column)};
    }
    return true;
}

/* Numbers the rows of the stencil. False: they are too many or too far apart, or are all in one plane. */
static bool number_rows(shifts *s)
{
    bool has_planes = false;
    for (int k = 0; k < s->count; ++k) {
        int64_t plane = s->at[k].plane - s->least.plane, line = s->at[k].line - s->least.line;
        if (plane >= KN_STENCIL_3D_SPAN || line >= KN_STENCIL_3D_SPAN ||
            s->at[k].column - s->least.column >= KN_STENCIL_COLUMNS)
            return false;
        int code = (int)(plane * KN_STENCIL_3D_SPAN + line), row = 0;
        has_planes = has_planes || plane > 0;
        while (row < s->n_rows && s->code[row] != code)
            ++row;
        if (row == KN_STENCIL_ROWS)
            return false;
        s->n_rows += row == s->n_rows;
        s->code[row] = code;
        s->row[k] = row;
    }
    return has_planes;
}

static bool set_access(kn_schedule *out, const kn_choice *c, const shifts *s)
{
    char letter[KN_STENCIL_MOST];
    for (int k = 0; k < s->count; ++k)
        letter[k] = kn_stencil_letter(s->row[k], s->at[k].column - s->least.column);
    if (!kn_stencil_set_access(out, c, s->first, s->count, letter, KN_VECTOR))
        return false;
    for (int row = 0; row < s->n_rows; ++row)
        out->variant |= s->code[row] << (row * KN_STENCIL_3D_ROW_BITS);
    return true;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    shifts s = {0};
    launch_params f;
    s.count = kn_stencil_find_inputs(&s.first, c);
    if (s.count == 0 || c->space->size < LEAST_SIZE || c->space->ndim < 3 || !find_axes(&f, c, s.first))
        return false;
    out->vector = kn_choice_vector(c);
    out->per_thread = LINES;
    if (out->vector == 1 || c->space->extent[kn_choice_inner(c)] % out->vector != 0 ||
        c->space->extent[f.plane] < LEAST_PLANES || !split_distances(&s, c, &f) || !number_rows(&s) ||
        !set_access(out, c, &s) || words_of(out, c->access[s.first].item_size) > MOST_WORDS ||
        !kn_choice_is_near(c, out->vector * KN_STENCIL_3D_WIDE) ||
        !kn_choice_fits_transposed(c, f.line, LINES * HIGH) ||
        !kn_choice_fits_transposed(c, f.plane, KN_STENCIL_3D_DEPTH + KN_STENCIL_3D_AHEAD + 1) ||
        c->space->ndim + 3 > KILN_MAX_NDIM)
        return false;
    out->block = KN_STENCIL_3D_WIDE * HIGH;
    out->rank = kn_choice_rank(c->space->ndim + 3);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* A thread block loops over its planes: their axis is the outermost of the grid. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    const kn_tile_axis axis[] = {{f.plane, KN_STENCIL_3D_DEPTH, true},
                                 {f.line, HIGH * s->per_thread, false},
                                 {space->ndim - 1, KN_STENCIL_3D_WIDE * s->vector, false}};
    kn_tile_axes(&out->own_space, space, axis, 3);
    out->size = kn_place_tiles(out, 3);
    return KILN_OK;
}

const kn_kind kn_kind_stencil_3d = {.name = "stencil_3d",
                                    .recipe = &kn_recipe_stencil_3d,
                                    .pattern = "m",
                                    .revision = 1,
                                    .choose = choose,
                                    .field = kn_field_none,
                                    .place = place,
                                    .cut = kn_cut_reach};
