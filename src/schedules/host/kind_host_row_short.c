/* kind_host_row_short.c - programs over short rows on the host: neighbouring rows lie side by side in
 * vectors, an element of each, so that what is reduced needs no lanes of one row. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "program/extreme.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/host/host_kinds.h"

enum {
    BESIDE = 128,         /* rows side by side: so many that a tile's stores are done when it is loaded */
    FEWEST_BESIDE = 32,   /* the same of long rows */
    TILE_BYTES = 1 << 14, /* of the widest input, at most, if that leaves FEWEST_BESIDE rows */
    LONGEST_ROW = 16,     /* elements of a row, at most, and */
    SHORTEST_ROW = 2,     /* at least */
    LONGEST_PLACES = 63,  /* the same where a place is found: longer rows are searched; of MOST_ITEM bytes */
    SHORT_PLACES = 8,     /* rows up to this, or */
    LONG_PLACES = 49,     /* from this on, since others are lanes that are results */
    BITS = 8,             /* of a byte */
    FEWEST_ROWS = 16,     /* neighbours: with fewer, most lanes of a vector would be empty */
    STRUCT_ITEM = 4, /* bytes of an input whose structs are reduced side by side; wider ones are slower so */
    MOST_ITEM = 8,   /* bytes of an element in a tile: squares of wider ones are single elements */
    HELD_BYTES = 1 << 16, /* of such rows that a thread holds */
    GRAIN = 1 << 15       /* elements for a further thread */
};

/* The kind's field: elements of a row; rows along the innermost output axis, and their groups. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    int row_unused;                                                                                          \
    long long length, run, groups;
typedef struct row_short_field {
    MEMBERS
} row_short_field;

static bool is_struct(const kn_program *p, const kn_stage *s)
{
    return s->kind == KN_REDUCE && p->param[s->value[s->n_read]].type == KN_TYPE_STRUCT;
}

static bool reduces_structs(const kn_program *p)
{
    bool reduces = false;
    for (int t = 0; t < p->n_stages; ++t)
        reduces = reduces || is_struct(p, &p->stage[t]);
    return reduces;
}

/* Some stage reduces structs by functions of the preamble (a variance), of which compilers make poor vectors,
 * and not member by member (a minimum and a maximum). */
static bool calls_for_structs(const kn_program *p)
{
    bool calls = false;
    for (int t = 0; t < p->n_stages; ++t)
        calls = calls || (is_struct(p, &p->stage[t]) && strstr(p->stage[t].body, "::"));
    return calls;
}

static char access_of(const kn_choice *c, int o)
{
    int64_t step = c->space->stride[o][c->space->ndim - 2];
    return step == c->access[o].item_size ? KN_DENSE : step == 0 ? KN_BROADCAST : KN_GATHER;
}

/* A program that finds the place of an extreme along rows that lie one behind the other. */
static bool is_place_along(const kn_choice *c)
{
    const kn_space *s = c->space;
    int item = kn_choice_widest(c, false);
    int64_t length = kn_row_length(c);
    bool is_fit = item < MOST_ITEM || length <= SHORT_PLACES || length >= LONG_PLACES;
    return length <= LONGEST_PLACES && is_fit && item <= MOST_ITEM && kn_body_is_place(c->program) &&
           s->stride[0][s->ndim - 1] == item && s->stride[0][s->ndim - 2] != item;
}

/* Elements of a row at which the kind still takes the program. */
static int64_t longest_row(const kn_choice *c)
{
    if (strcmp(c->program->pattern, "mrk") == 0)
        return c->space->ndim > 1 && is_place_along(c) ? LONGEST_PLACES : 0;
    bool are_wide = reduces_structs(c->program) && kn_choice_widest(c, false) > STRUCT_ITEM;
    return are_wide || calls_for_structs(c->program) ? 0 : LONGEST_ROW;
}

/* Rows side by side: fewer where their tile would leave the nearest cache. */
static int rows_beside(const kn_choice *c, int64_t length)
{
    int rows = BESIDE;
    while (rows > FEWEST_BESIDE && rows * length * kn_choice_widest(c, false) > TILE_BYTES)
        rows /= 2;
    return rows;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    int64_t length = kn_row_length(c);
    int across = s->ndim - 2;
    if (s->n_reduction_axes != 1 || length < SHORTEST_ROW || across < 0 || length > longest_row(c) ||
        s->extent[across] < FEWEST_ROWS || length * BESIDE * kn_row_given_across(c) > HELD_BYTES)
        return false;
    for (int o = 0; o < c->count; ++o)
        if (access_of(c, o) == KN_GATHER && c->access[o].item_size > MOST_ITEM)
            return false;
    out->vector = rows_beside(c, length);
    out->rank = kn_reduce_rank(s);
    kn_reduce_set_index(out, c);
    int widest = kn_choice_widest(c, false);
    if (out->index &&
        (widest == 1 || widest == 2 || widest == 8)) /* as wide as the values: one kind of vectors */
        out->index = BITS * widest;
    for (int o = 0; o < c->count; ++o)
        out->access[o] = access_of(c, o);
    return true;
}

static int rows_loaded(const kn_schedule *s, int64_t length)
{
    (void)length;
    return s->vector;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    int64_t beside = part->spec->schedule.vector, cost = 1 + 2 * kn_cost_functions(part->spec->program);
    row_short_field f = {.length = s->extent[s->ndim - 1], .run = s->extent[s->ndim - 2]};
    f.reduction_rank = kn_reduce_place_axes(out, s, -1, -1);
    f.groups = (f.run + beside - 1) / beside;
    out->size = kn_space_output_size(s) / f.run * f.groups;
    out->grain = 1 + GRAIN / cost / (f.length * beside);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_host_row_short = {.name = "row_short",
                                        .recipe = &kn_recipe_host_row_short,
                                        .pattern = "*",
                                        .revision = 1,
                                        .choose = choose,
                                        .field = KN_FIELD(row_short_field, MEMBERS),
                                        .place = place,
                                        .has_wide_axes = true,
                                        .rows_loaded = rows_loaded,
                                        .has_baseline = true};
