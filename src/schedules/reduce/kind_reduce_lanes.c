/* kind_reduce_lanes.c - reductions of short rows: some lanes of a warp share a result. */
#include "schedules/reduce/kind_reduce_lanes.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/reduce/levels.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/reduce/reduce_kinds.h"
#include "space/numbers.h"

enum {
    WARP = 32,
    WORD = 4,              /* bytes; */
    SECTOR = 32,           /* those that memory moves at least */
    LONGEST = 1000,        /* vectors of a row; longer ones have a block each */
    LONGEST_SINGLE = 1500, /* single elements of a row */
    SHORTEST = 128,        /* vectors of a row from which on few rows have a block each */
    FEW_ROWS = 2048,
    SHORTEST_UNALIGNED = 65, /* vectors of unaligned rows: two for each lane, at least */
    FLIGHT = 4,              /* items that a thread loads at a time; from several rows if a row has fewer */
    MOST_TURNS = 4           /* of items of a lane, for rows that leave lanes idle */
};

/* The kind's field. lanes, items and length: of a row. step: results from one row of a group to its next. */
#define MEMBERS                                                                                              \
    int reduction_rank;                                                                                      \
    unsigned lanes, items, length;                                                                           \
    kn_divider per_row, step;
typedef struct lanes_field {
    MEMBERS
} lanes_field;

/* The vectors of rows are whole; or they begin at the first boundary in a row of the first input, and a
 * result has one row: those of the others are whole, too, or gathered; or all begin with the row, and are
 * gathered. */
typedef enum way { WHOLE, UNALIGNED, MIXED, GATHERED } way;

/* Rows of narrow elements that are whole vectors of fewer bytes, but of a word at least. */
static int shorter_vector(const kn_choice *c, int vector)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1, widest = kn_choice_widest(c, false);
    for (vector /= 2; vector > 1 && vector * widest >= WORD; vector /= 2)
        if (s->extent[inner] % vector == 0 && kn_reduce_fit_of(c, inner, vector, false) == KN_FIT_ALIGNED)
            return vector;
    return 1;
}

/* Narrow elements beside wider ones that are broadcast along rows: vectors as long as the narrow ones allow,
 * if enough of them are left that broadcast inputs are loaded one by one. */
static int longer_vector(const kn_choice *c, int vector)
{
    const kn_space *s = c->space;
    int inner = s->ndim - 1, longer = s->n_reduction_axes == 1 ? kn_reduce_vector_along(c, inner) : vector;
    bool is_better = longer > vector && s->extent[inner] % longer == 0 &&
                     s->extent[inner] > FLIGHT * longer &&
                     kn_reduce_fit_of(c, inner, longer, false) == KN_FIT_ALIGNED;
    return is_better ? longer : vector;
}

/* Elements of a vector. */
static int vector_of(way *how, const kn_choice *c)
{
    const kn_space *s = c->space;
    int vector = kn_reduce_vector(c), inner = s->ndim - 1, gathered = kn_reduce_lanes_vector(c);
    bool is_long = s->n_reduction_axes == 1 && s->extent[inner] >= (int64_t)SHORTEST_UNALIGNED * vector;
    kn_reduce_fit fit = s->n_reduction_axes > 0 ? kn_reduce_fit_of(c, inner, vector, false) : KN_FIT_NONE;
    *how = WHOLE;
    if (fit == KN_FIT_ALIGNED && s->extent[inner] % vector == 0)
        return longer_vector(c, vector);
    *how = UNALIGNED;
    if (is_long && fit != KN_FIT_NONE)
        return vector;
    *how = MIXED;
    if (is_long && kn_reduce_lanes_mixes(c))
        return vector;
    *how = gathered > 1 ? GATHERED : WHOLE;
    return gathered > 1 ? gathered : s->n_reduction_axes > 0 ? shorter_vector(c, vector) : 1;
}

/* Items of a row that a thread has: four if there are as many, so that few shuffles are left, and few threads
 * find the place of the same result; eight of long rows if four are too many for a warp. Of two inputs, or of
 * double words in unaligned rows, eight take the registers of other warps. There are few variants, since each
 * is a binary. Single elements of few bytes cost more than their memory: a lane has up to eight. */
static int items_each(int64_t items, int vector, int reduction_axes, bool is_long, bool is_narrow)
{
    bool is_one = is_narrow && items > FLIGHT && items <= 2 * FLIGHT;
    if (vector == 1)
        return items < WARP && reduction_axes == 1 && !is_one ? 4 : 8;
    if (reduction_axes > 1)
        return 4;
    return items <= 2 ? 1 : items > 4 * WARP && is_long ? 8 : 4;
}

/* An input that is broadcast along rows is one element of each item: the kernel asks for no stride where it
 * loads vectors. The few of the shortest rows take more registers so. */
static void set_access(kn_schedule *out, const kn_choice *c, way how)
{
    int inner = c->space->ndim - 1;
    bool names_broadcast = kn_reduce_names_broadcast(out);
    if (how >= MIXED && out->vector > 1)
        kn_reduce_set_gathered(out, c, inner, how == MIXED);
    else
        kn_reduce_set_access(out, c, out->vector);
    for (int o = 0; o < c->count; ++o)
        if (out->access[o] == KN_VECTOR)
            out->access[o] = names_broadcast && c->space->stride[o][inner] == 0 ? KN_BROADCAST
                             : how == UNALIGNED || how == MIXED                 ? KN_DENSE
                                                                                : KN_VECTOR;
}

/* True if so many vectors of a row are few enough, or rows enough. */
static bool are_short(const kn_choice *c, int vector)
{
    int64_t items = kn_reduce_size(c->space) / vector;
    return items <= (vector > 1 ? LONGEST : LONGEST_SINGLE) &&
           (items < SHORTEST || kn_space_output_size(c->space) >= FEW_ROWS);
}

bool kn_reduce_lanes_gathers(const kn_choice *c)
{
    int vector = kn_reduce_lanes_vector(c);
    return vector > 1 && are_short(c, vector);
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    kn_levels_note_offsets(params, c);
    kn_reduce_lanes_config *config = kn_reduce_lanes_config_in(out);
    int64_t size = kn_reduce_size(c->space);
    way how = WHOLE;
    out->vector = size > 0 ? vector_of(&how, c) : 1;
    int64_t items = size / out->vector;
    if (!are_short(c, out->vector))
        return false;
    out->block = kn_choice_block(c);
    config->reduction_axes = kn_reduce_known_axes(c->space, c->space->n_reduction_axes);
    int widest = kn_choice_widest(c, false);
    bool is_long = kn_choice_inputs(c) == 1 && how < MIXED && !(how == UNALIGNED && widest > WORD);
    config->items = items_each(items, out->vector, config->reduction_axes, is_long, widest < WORD);
    out->rank = kn_reduce_rank(c->space);
    set_access(out, c, how);
    kn_reduce_set_index(out, c);
    return true;
}

/* Rows of a group of lanes. */
static int rows_of(const kn_schedule *s)
{
    int items = kn_reduce_lanes_config_of(s)->items;
    return items < FLIGHT ? FLIGHT / items : 1;
}

/* The results between the rows of a group: those of a warp's other groups. Rows of less than a sector that
 * are neighbours in memory along the last output axis but one, and lie apart along the last, are those of one
 * group, which reads all bytes of their sectors. */
static int64_t step_of(const kn_spec *spec, const kn_space *s, uint32_t groups)
{
    const int outputs = s->ndim - s->n_reduction_axes;
    const int64_t length = kn_reduce_size(s);
    kn_access access[KN_MAX_PARAMS];
    kn_spec_access(access, spec);
    bool are_near = outputs > 1 && s->extent[outputs - 1] >= WARP && s->n_reduction_axes == 1;
    for (int o = 0; o < spec->n_arrays && are_near; ++o) {
        const int64_t *stride = s->stride[o], row = length * access[o].item_size;
        are_near = access[o].is_output || stride[s->ndim - 1] != access[o].item_size ||
                   (row < SECTOR && stride[outputs - 2] == row && llabs(stride[outputs - 1]) >= SECTOR);
    }
    return are_near ? s->extent[outputs - 1] : groups;
}

/* Lanes of a row: one for each turn of items. Rows of two inputs are shared by fewer, with more turns, if
 * that leaves fewer lanes of a warp idle. */
static uint32_t lanes_of(const kn_spec *spec, uint32_t items)
{
    const kn_schedule *s = &spec->schedule;
    const int64_t each = kn_reduce_lanes_config_of(s)->items;
    const uint32_t most = (uint32_t)kn_clamp(kn_divide_up(items, each), 1, WARP);
    kn_access access[KN_MAX_PARAMS];
    int inputs = 0;
    kn_spec_access(access, spec);
    for (int o = 0; s->access[o]; ++o)
        inputs += !access[o].is_output && s->vector > 1;
    uint32_t best = most;
    for (int64_t turns = 2; inputs > 1 && each >= FLIGHT && most > WARP / 2 && turns <= MOST_TURNS; ++turns) {
        uint32_t lanes = (uint32_t)kn_clamp(kn_divide_up(items, each * turns), 1, WARP);
        /* turns for each row of a warp, beside those of the best so far */
        int64_t own = kn_divide_up(items, each * lanes) * (WARP / best),
                others = kn_divide_up(items, each * best) * (WARP / lanes);
        best = 4 * own <= 3 * others ? lanes : best;
    }
    return best;
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    bool unaligned = strchr(s->access, KN_DENSE) != NULL;
    lanes_field f = {.length = (uint32_t)kn_reduce_size(part->space),
                     .items = (uint32_t)(kn_reduce_size(part->space) / s->vector)};
    f.lanes = unaligned ? WARP : lanes_of(part->spec, f.items);
    f.reduction_rank = kn_reduce_place_axes(out, part->space, -1, -1);
    int64_t length = out->own_space.extent[out->own_space.ndim - 1] / s->vector;
    f.per_row = kn_divider_make(length > 0 ? (uint32_t)length : 1);
    const int64_t groups = WARP / f.lanes, step = step_of(part->spec, part->space, (uint32_t)groups);
    f.step = kn_divider_make((uint32_t)step);
    out->grid[0] =
        (unsigned)kn_divide_up(kn_divide_up(out->size, step * rows_of(s)) * step, s->block / WARP * groups);
    memcpy(out->field, &f, sizeof f);
    return KILN_OK;
}

static bool list_lanes(kn_levels *levels, const void *field, int64_t head)
{
    const lanes_field *f = field;
    kn_levels_lanes(levels, f->length, f->lanes,
                    kn_reduce_lanes_config_of(&kn_levels_spec(levels)->schedule)->items, head);
    return true;
}

static bool list_levels(kn_levels *levels, const kn_part *part)
{
    const kn_schedule *s = &part->spec->schedule;
    lanes_field f;
    memcpy(&f, kn_levels_field(levels), sizeof f);
    if (!strchr(s->access, KN_DENSE)) {
        return list_lanes(levels, &f, 0);
    }
    /* each lane has an item, whatever the row begins with */
    return (f.length - (uint32_t)s->vector) / (uint32_t)s->vector >= WARP &&
           kn_levels_each_head(levels, -1, list_lanes, &f);
}

static void describe(kn_str *out, const unsigned char *at)
{
    lanes_field f;
    memcpy(&f, at, sizeof f);
    kn_str_printf(out, " items=\"%u\" lanes=\"%u\"", (unsigned)f.items, (unsigned)f.lanes);
}

const kn_kind kn_kind_reduce_lanes = {.name = "reduce_lanes",
                                      .recipe = &kn_recipe_reduce_lanes,
                                      KN_REDUCE_KIND,
                                      .config = &kn_reduce_lanes_config_table,
                                      .revision = 2,
                                      .field = KN_FIELD(lanes_field, MEMBERS),
                                      .list_levels = list_levels,
                                      .cut = kn_reduce_cut_outermost,
                                      .describe = describe,
                                      .has_workspace = true};
