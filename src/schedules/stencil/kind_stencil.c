/* kind_stencil.c - stencils over two axes: inputs that are one array at offsets of a few elements and rows. A
 * thread loads each row only one time, for all inputs that are in it and for all of the thread's rows of
 * results. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "program/pure.h"
#include "schedule/choice.h"
#include "schedules/stencil/stencil_space.h"
#include "schedules/stencil/stencil_kinds.h"

enum {
    MOST_WORDS = 96, /* of 32 bits, in the vectors that a thread loads first */
    WORDS_OF_VECTOR = 4,
    FEW_ROWS = 128, /* of results, below which rows that do not fill a thread count */
    WIDE = 32,      /* vectors of a block next to each other: a warp's */
    HIGH = 8,       /* threads of a block below each other, each with its rows */
    /* Percent of a warp's threads that have results if rows are unaligned: with fewer, the warp loses more
     * than shared loads save. */
    LEAST_USED = 67
};

typedef struct launch_params {
    int row; /* the axis from row to row */
} launch_params;

/* The offset of one input from the stencil's first input, in rows and elements. */
typedef struct shift {
    int64_t row, column;
} shift;

typedef struct shifts {
    int first, count; /* operands */
    shift at[KN_STENCIL_MOST];
    int64_t row[KN_STENCIL_ROWS]; /* ascending */
    int n_rows;
    int64_t left; /* the least column */
} shifts;

static bool find_inputs(shifts *s, const kn_choice *c)
{
    *s = (shifts){0};
    s->count = kn_stencil_find_inputs(&s->first, c);
    return s->count > 0;
}

/* The nearest axis besides the fastest one, along which the array has ascending addresses; -1: there is
 * none. */
static int find_row_axis(const kn_choice *c, int o)
{
    int axis = kn_space_nearest_axis(c->space, o, -1, -1);
    return axis >= 0 && c->space->stride[o][axis] > 0 ? axis : -1;
}

/* A distance in rows and the fewest columns. */
static bool split_distance(shift *out, int64_t bytes, int64_t pitch, int64_t item)
{
    out->row = kn_stencil_steps(bytes, pitch);
    out->column = (bytes - out->row * pitch) / item;
    return out->column * item == bytes - out->row * pitch && llabs(out->column) < KN_STENCIL_COLUMNS;
}

static bool add_row(shifts *s, int64_t row)
{
    int at = 0;
    while (at < s->n_rows && s->row[at] < row)
        ++at;
    if (at < s->n_rows && s->row[at] == row)
        return true;
    if (s->n_rows == KN_STENCIL_ROWS)
        return false;
    memmove(&s->row[at + 1], &s->row[at], (size_t)(s->n_rows - at) * sizeof *s->row);
    s->row[at] = row;
    ++s->n_rows;
    return true;
}

static bool set_places(shifts *s, const kn_choice *c, int axis)
{
    int64_t bytes = 0, right = 0, pitch = c->space->stride[s->first][axis];
    for (int k = 0; k < s->count; ++k) {
        bytes += k > 0 ? c->space->after[s->first + k] : 0;
        if (!split_distance(&s->at[k], bytes, pitch, c->access[s->first].item_size) ||
            !add_row(s, s->at[k].row))
            return false;
        s->left = s->at[k].column < s->left ? s->at[k].column : s->left;
        right = s->at[k].column > right ? s->at[k].column : right;
    }
    return right - s->left < KN_STENCIL_COLUMNS;
}

/* A bit for each row whose neighbour is in the stencil too; if there are any, a thread has several rows of
 * results. */
static int form_of(const shifts *s)
{
    int form = 0;
    for (int k = 0; k + 1 < s->n_rows; ++k)
        form |= (s->row[k + 1] == s->row[k] + 1) << k;
    return form;
}

/* Blocks along a row of so many elements. An unaligned row may have partial vectors at both ends, and a warp
 * has one vector less. */
static int64_t blocks_along(const kn_schedule *s, int64_t extent)
{
    int64_t misalignment = kn_stencil_is_unaligned(s) ? s->vector - 1 : 0,
            step = (WIDE - (misalignment > 0)) * s->vector;
    return (extent + misalignment + step - 1) / step;
}

/* Lanes past the end of an unaligned row compute too, so the body must be free of side effects. Enough of a
 * warp's lanes must have results. */
static bool may_be_unaligned(const kn_schedule *s, const kn_choice *c)
{
    int64_t extent = c->space->extent[kn_choice_inner(c)];
    return c->program && kn_body_is_pure(c->program) &&
           extent * 100 >= blocks_along(s, extent) * WIDE * s->vector * LEAST_USED;
}

/* Aligned vectors if all rows begin with one, else the unaligned variant. */
static bool set_access(kn_schedule *out, const kn_choice *c, const shifts *s)
{
    char letter[KN_STENCIL_MOST];
    for (int k = 0; k < s->count; ++k) {
        int row = 0;
        while (s->row[row] != s->at[k].row)
            ++row;
        letter[k] = kn_stencil_letter(row, s->at[k].column - s->left);
    }
    return (c->space->extent[kn_choice_inner(c)] % out->vector == 0 &&
            kn_stencil_set_access(out, c, s->first, s->count, letter, KN_VECTOR)) ||
           (kn_stencil_set_access(out, c, s->first, s->count, letter, KN_GATHER) && may_be_unaligned(out, c));
}

/* Words of 32 bits in the vectors that hold a thread's windows. */
static int words_of(const kn_schedule *s, int item)
{
    kn_stencil_window w[KN_STENCIL_WINDOWS];
    int count = kn_stencil_windows(w, s), vector = WORDS_OF_VECTOR * 4, vectors = 0;
    for (int k = 0; k < count; ++k)
        vectors += (2 * vector - 1 - item + (s->vector + w[k].last - w[k].first) * item) / vector;
    return vectors * WORDS_OF_VECTOR;
}

/* As many rows as registers hold windows for. */
static int rows_of_thread(kn_schedule *s, const kn_choice *c, int item, int axis)
{
    int64_t rows = c->space->extent[axis];
    s->per_thread = s->variant ? KN_STENCIL_RESULTS : 1;
    while (s->per_thread > 1 &&
           (words_of(s, item) > MOST_WORDS || (rows < FEW_ROWS && rows % s->per_thread != 0)))
        s->per_thread /= 2;
    return s->per_thread;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    shifts s;
    if (c->space->size == 0 || !find_inputs(&s, c))
        return false;
    launch_params f = {find_row_axis(c, s.first)};
    out->vector = kn_choice_vector(c);
    if (f.row < 0 || out->vector == 1 || !set_places(&s, c, f.row) ||
        !kn_choice_is_near(c, out->vector * WIDE) || !set_access(out, c, &s) ||
        !kn_choice_fits_transposed(c, f.row, KN_STENCIL_RESULTS * HIGH) || c->space->ndim + 2 > KILN_MAX_NDIM)
        return false;
    out->variant = form_of(&s);
    out->per_thread = rows_of_thread(out, c, c->access[s.first].item_size, f.row);
    out->block = WIDE * HIGH;
    out->rank = kn_choice_rank(c->space->ndim + 2);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the launch ---- */

/* A tile is a thread block's rows. Unaligned rows may need one block more than their length says. */
static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    int inner = space->ndim - 1;
    const kn_tile_axis axis[] = {{f.row, HIGH * kn_stencil_rows(s), false},
                                 {inner, (WIDE - kn_stencil_is_unaligned(s)) * s->vector, false}};
    kn_tile_axes(&out->own_space, space, axis, 2);
    out->own_space.extent[out->own_space.ndim - 1] = blocks_along(s, space->extent[inner]);
    out->size = kn_place_tiles(out, 2);
    return KILN_OK;
}

const kn_kind kn_kind_stencil = {.name = "stencil",
                                 .recipe = &kn_recipe_stencil,
                                 .pattern = "m",
                                 .revision = 1,
                                 .choose = choose,
                                 .field = kn_field_none,
                                 .place = place,
                                 .cut = kn_cut_reach};
