/* kind_rows.c - results are stored in wide accesses along the fastest axis, operands are located by their
 * strides: each is a vector, one element repeated, or gathered. */
#include "schedules/contiguous/kind_rows.h"

#include <string.h>

#include "schedule/choice.h"
#include "schedule/kind.h"
#include "schedules/contiguous/contiguous_kinds.h"

enum {
    LINE = 128,           /* bytes that memory and caches of a GPU move together */
    LONG_ROW = 128,       /* vectors, from which on most warps lie in one row */
    SHORTEST_ROW = 32,    /* bytes of a row, below which results of rows taken together fill no sector */
    SHORT_ROW = 512,      /* bytes of a row, from which on it is read for itself */
    ROWS_TOGETHER = 1024, /* bytes that shorter rows have together, at most */
    STRIPE_VECTOR = 4,    /* elements of a vector, above which blocks of several rows earn nothing */
    STRIPE_LEAST = 128,   /* vectors of a row, from which on blocks take several rows */
    STRIPE_BLOCKS = 65535 /* blocks along the second axis of a grid, at most */
};

typedef struct launch_params {
    int skew; /* elements by which dense results are off a vector's boundary */
} launch_params;

/* As the kernel has it. */
typedef struct rows_field {
    int32_t skew;
    uint32_t stripe; /* vectors from one row to the next, where blocks take several; 0: they go along */
} rows_field;

/* ---- the choice ---- */

static bool are_outputs_dense(const kn_choice *c)
{
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !kn_choice_is_dense(c, o))
            return false;
    return true;
}

/* Cutting the outermost axis alone must bring every offset of a launch into range: dense results allow no
 * other cut. */
static bool can_cut_outermost(const kn_choice *c)
{
    for (int o = 0; o < c->space->n_operands; ++o)
        if (kn_space_reach(c->space, o, 1) > KN_MAX_OFFSET)
            return false;
    return true;
}

/* Whether every input runs along the fastest axis or stands still there, and rows are of some length. */
static bool are_inputs_runs(const kn_choice *c, int vector)
{
    int inner = kn_choice_inner(c);
    for (int o = 0; o < c->count; ++o)
        if (!c->access[o].is_output && c->space->stride[o][inner] != 0 &&
            c->space->stride[o][inner] != c->access[o].item_size)
            return false;
    return c->space->extent[inner] >= vector;
}

static void set_block(kn_schedule *out, const kn_choice *c, int vector)
{
    out->vector = vector;
    out->block = kn_choice_block(c);
    out->rank = kn_choice_rank(c->space->ndim);
}

/* Results are one run: stored in vectors at the element's index. Rows of whole vectors are choose_located's
 * business: what both could do would be one more binary. */
static bool choose_dense(kn_schedule *out, launch_params *f, const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    bool apart = vector > KN_MAX_LOCATED && !are_inputs_runs(c, vector);
    vector = apart ? KN_MAX_LOCATED : vector;
    f->skew = kn_choice_misalignment(c, vector);
    if (!are_outputs_dense(c) || vector == 1 || f->skew < 0 || c->space->size == 0 ||
        (f->skew == 0 && kn_choice_has_vector_input(c, vector)) || !can_cut_outermost(c) ||
        !kn_choice_is_near(c, vector))
        return false;
    set_block(out, c, vector);
    for (int o = 0; o < c->count; ++o) {
        bool dense = kn_choice_is_dense(c, o) && !apart && kn_choice_agrees(c, o, vector, f->skew);
        out->access[o] = c->access[o].is_output || dense ? KN_DENSE : KN_GATHER; /* apart: all inputs alike */
    }
    return true;
}

static bool are_all_vectors(const kn_choice *c, int vector)
{
    for (int o = 0; o < c->count; ++o)
        if (!kn_choice_is_vector(c, o, vector))
            return false;
    return true;
}

bool kn_rows_choose_located(kn_schedule *out, const kn_choice *c)
{
    int vector = kn_choice_vector(c);
    bool apart = vector > KN_MAX_LOCATED && !are_all_vectors(c, vector);
    vector = apart ? KN_MAX_LOCATED : vector;
    for (int o = 0; o < c->count; ++o)
        if (c->access[o].is_output && !kn_choice_is_vector(c, o, vector))
            return false;
    if (vector == 1 || !kn_choice_is_near(c, vector) ||
        (kn_choice_widest(c, false) > 0 && !kn_choice_has_vector_input(c, vector)))
        return false;
    set_block(out, c, vector);
    for (int o = 0; o < c->count; ++o)
        out->access[o] = kn_choice_is_vector(c, o, vector) && (!apart || c->access[o].is_output)
                             ? KN_VECTOR
                             : KN_GATHER; /* bytes apart: all alike, a binary for each mixture is saved */
    return true;
}

/* Whether every operand that is gathered runs along rows, in vectors that are loaded as two. */
static bool are_gathered_runs(const kn_schedule *s, const kn_choice *c, const kn_space *walked)
{
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size, bytes = item * s->vector;
        if (s->access[o] == KN_GATHER &&
            (walked->stride[o][walked->ndim - 1] != item || (bytes != 8 && bytes != 16)))
            return false;
    }
    return true;
}

/* The logical index is found as what is gathered. */
static int find_form(const kn_schedule *s, const kn_choice *c)
{
    kn_space room;
    const kn_space *walked = kn_rows_space(&room, c->space, s);
    int64_t row = walked->ndim > 0 ? walked->extent[walked->ndim - 1] : 1;
    if (!strchr(s->access, KN_GATHER) && !(c->space->indices & KN_WITH_INDEX))
        return KN_ROWS_VECTORS;
    if (row < s->vector)
        return KN_ROWS_SHORT;
    if (!are_gathered_runs(s, c, walked))
        return KN_ROWS_APART;
    return row < LONG_ROW * (int64_t)s->vector ? KN_ROWS_CROSSED : KN_ROWS_RUNS;
}

static bool choose(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    launch_params f = {0};
    if (!choose_dense(out, &f, c)) {
        f.skew = 0;
        if (!kn_rows_choose_located(out, c))
            return false;
    }
    out->variant = find_form(out, c);
    memcpy(params, &f, sizeof f);
    return true;
}

/* ---- the axes that are walked ---- */

/* Of so many rows, each of `bytes`, those that are taken together, none left over: rather whole lines, rather
 * more. 1: there are none. */
static int64_t rows_together(int64_t rows, int64_t bytes)
{
    int64_t best = 1;
    for (int64_t some = 2; some <= rows && some * bytes <= ROWS_TOGETHER; ++some)
        if (rows % some == 0 && (best * bytes % LINE != 0 || some * bytes % LINE == 0))
            best = some;
    return best;
}

/* Short rows of an input that lie along another axis there than those of the results: that axis, and the rows
 * that are taken together; else -1. */
static int find_short_rows(int64_t *together, const kn_space *space, const kn_schedule *schedule)
{
    int inner = space->ndim - 1;
    if (inner < 2 || strchr(schedule->access, KN_DENSE) || space->ndim >= schedule->rank)
        return -1;
    for (int o = 0; schedule->access[o]; ++o) {
        int axis = kn_space_nearest_axis(space, o, -1, -1);
        int64_t bytes = space->stride[o][inner] * space->extent[inner];
        *together = axis >= 0 && bytes >= SHORTEST_ROW ? rows_together(space->extent[axis], bytes) : 1;
        if (schedule->access[o] == KN_VECTOR && bytes < SHORT_ROW && axis != inner - 1 && *together > 1)
            return axis;
    }
    return -1;
}

const kn_space *kn_rows_space(kn_space *out, const kn_space *space, const kn_schedule *schedule)
{
    int64_t together;
    int inner = space->ndim - 1, axis = find_short_rows(&together, space, schedule);
    if (axis < 0)
        return space;
    kn_space_start(out, space);
    for (int a = 0; a < inner; ++a)
        kn_space_put_axis(out, a, space, a, a == axis ? together : 1);
    kn_space_put_axis(out, inner, space, axis, 1);
    out->extent[inner] = together;
    kn_space_put_axis(out, inner + 1, space, inner, 1);
    out->ndim = inner + 2;
    return out;
}

/* ---- the launch ---- */

/* Whether two inputs at least are gathered beside dense results. */
static bool may_share_rows(const kn_schedule *s)
{
    const char *first = strchr(s->access, KN_GATHER);
    return s->vector > 1 && s->vector <= STRIPE_VECTOR && strchr(s->access, KN_DENSE) && first &&
           strchr(first + 1, KN_GATHER);
}

/* Neighbouring rows are often read twice: a block then takes KN_STRIPE_WIDTH vectors of several rows that lie
 * one under the other, so that they meet in its cache. Vectors from one row to the next; 0 where rows are
 * short or many, and blocks go along. */
static int64_t set_stripes(kn_placement *out, const kn_part *part, int skew)
{
    const kn_schedule *s = &part->spec->schedule;
    const kn_space *space = part->space;
    int64_t inner = space->extent[space->ndim - 1], stripe = (inner + s->vector / 2) / s->vector;
    int64_t rows = stripe > 0 ? (space->size + skew + stripe * s->vector - 1) / (stripe * s->vector) : 0;
    int64_t height = s->block / KN_STRIPE_WIDTH, blocks = (rows + height - 1) / height;
    if (!may_share_rows(s) || space->ndim < 2 || stripe < STRIPE_LEAST || blocks > STRIPE_BLOCKS ||
        (blocks + 1) * height * stripe * s->vector > KN_MAX_INDEX)
        return 0;
    out->grid[0] = (unsigned)((stripe + KN_STRIPE_WIDTH - 1) / KN_STRIPE_WIDTH);
    out->grid[1] = (unsigned)blocks;
    return stripe;
}

static kn_field field(const kn_schedule *schedule)
{
    (void)schedule;
    return (kn_field){"alignas(8) int skew;\nunsigned stripe;\n", sizeof(rows_field), 8};
}

static kiln_status place(kn_placement *out, const kn_part *part)
{
    launch_params f;
    memcpy(&f, part->launch_params, sizeof f);
    rows_field own = {.skew = kn_part_misalignment(part, f.skew)};
    kn_place_along(out, part, part->space->size + own.skew);
    own.stripe = (uint32_t)set_stripes(out, part, own.skew);
    memcpy(out->field, &own, sizeof own);
    out->kernel_space = kn_rows_space(&out->own_space, part->space, &part->spec->schedule);
    out->rank = out->kernel_space->ndim;
    return KILN_OK;
}

static void describe(kn_str *out, const unsigned char *at)
{
    rows_field own;
    memcpy(&own, at, sizeof own);
    kn_str_printf(out, " skew=\"%d\" stripe=\"%u\"", (int)own.skew, (unsigned)own.stripe);
}

const kn_kind kn_kind_rows = {.name = "rows",
                              .recipe = &kn_recipe_rows,
                              .pattern = "m",
                              .revision = 1,
                              .choose = choose,
                              .field = field,
                              .place = place,
                              .cut = kn_cut_reach,
                              .describe = describe};
