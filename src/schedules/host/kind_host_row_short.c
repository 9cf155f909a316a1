/* kind_host_row_short.c - programs over short rows on the host: neighbouring rows lie side by side in
 * vectors, an element of each, so that what is reduced needs no lanes of one row. */
#include "schedule/kind.h"

#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/rowprog/row_space.h"
#include "schedules/host/host_kinds.h"

enum {
    BESIDE = 128,     /* rows side by side: what is stored in tiles is not read again at once, for which */
    LONGEST_ROW = 16, /* processors would wait; elements of a row, at most, and */
    SHORTEST_ROW = 2, /* at least */
    FEWEST_ROWS = 16, /* neighbours: of fewer most lanes of vectors would have none */
    MOST_ITEM = 4,    /* bytes of what goes through tiles: of wider elements few fit a vector */
    ROOM = 1 << 16,   /* bytes that a thread holds of such rows */
    GRAIN = 1 << 15   /* elements that are worth another thread */
};

/* The kind's field: of a row, elements; of the innermost output axis, rows, and groups of BESIDE. */
typedef struct row_short_field {
    int32_t fold_rank, unused;
    int64_t length, run, groups;
} row_short_field;

/* Whether a stage reduces structs, of which compilers make poor vectors. */
static bool reduces_structs(const kn_program *p)
{
    bool is_struct = false;
    for (int t = 0; t < p->n_stages; ++t)
        is_struct = is_struct || (p->stage[t].kind == KN_REDUCE &&
                                  p->param[p->stage[t].value[p->stage[t].n_read]].type == KN_TYPE_STRUCT);
    return is_struct;
}

static char access_of(const kn_choice *c, int o)
{
    int64_t step = c->space->stride[o][c->space->ndim - 2];
    return step == c->access[o].item_size ? KN_DENSE : step == 0 ? KN_BROADCAST : KN_GATHER;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    const kn_space *s = c->space;
    int64_t length = kn_row_length(c);
    int across = s->ndim - 2;
    if (s->n_reduction_axes != 1 || length < SHORTEST_ROW || length > LONGEST_ROW || across < 0 ||
        s->extent[across] < FEWEST_ROWS || length * BESIDE * kn_row_given_across(c) > ROOM ||
        reduces_structs(c->program))
        return false;
    for (int o = 0; o < c->count; ++o)
        if (access_of(c, o) == KN_GATHER && c->access[o].item_size > MOST_ITEM)
            return false;
    out->vector = BESIDE;
    out->rank = kn_fold_rank(s);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = access_of(c, o);
    return true;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) int fold_rank;\nint row_unused;\nlong long length;\nlong long run;\n"
                      "long long groups;\n",
                      sizeof(row_short_field), 8};
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_space *s = part->space;
    int64_t dear = 1 + 2 * kn_cost_functions(part->spec->program);
    row_short_field f = {.run = s->extent[s->ndim - 2]};
    kn_fold_put_kept(&out->own_space, s, -1);
    f.fold_rank = kn_fold_put_reduced(&out->own_space, s, -1);
    f.length = s->extent[s->ndim - 1];
    f.groups = (f.run + BESIDE - 1) / BESIDE;
    out->kernel_space = &out->own_space;
    out->rank = out->own_space.ndim;
    out->size = kn_space_output_size(s) / f.run * f.groups;
    out->grain = 1 + GRAIN / dear / (f.length * BESIDE);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

const kn_kind kn_kind_host_row_short = {.name = "row_short",
                                        .recipe = &kn_recipe_host_row_short,
                                        .pattern = "*",
                                        .revision = 1,
                                        .choose = choose,
                                        .field = field,
                                        .place = place,
                                        .has_wide_axes = true};
