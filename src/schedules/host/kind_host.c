/* kind_host.c - elementwise programs on the host. Kernels compute contiguous ranges; a loop nest around
 * them makes such ranges of any layout. Two kinds differ in the logical index that a kernel gets: a number
 * that counts up along the range, or an array of indices. The second takes all layouts, and has a baseline
 * tier, which is compiled without vectors. A third kind is for operands that are interleaved in one array
 * (the two of each pair that a rotary embedding rotates): it reads and stores all operands at one place as
 * one word. */
#include "schedule/kind.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"
#include "program/cost.h"
#include "schedule/layout.h"
#include "program/pure.h"
#include "types/dtype.h"
#include "schedules/host/host_kinds.h"
#include "space/numbers.h"

enum {
    GRAIN = 1 << 16,  /* fewest elements for a further thread if a body is cheap; */
    RAW_COST = 4,     /* so many times fewer if it reads where it wants, */
    SEARCH_COST = 32, /* or searches */
    MOST_WORD = 8,    /* bytes of the interleaved elements at one place */
    MOST_IN_PLACE =
        3,         /* inputs that are broadcast, or read with a stride: each choice of them is one binary */
    MOST_STEP = 8, /* elements of that stride: compilers load vectors and take what they need of them */
    LEAST_BACKWARD = 4, /* bytes of an element that is read backward: halves are converted in buffers */
    MANY = 1 << 21,     /* elements of an outer product, whose results are stored past the caches */
    SHORT_RUN = 8,      /* elements of a range, below which buffers are faster than beginning each range; */
    SHORT_BYTES = 32,   /* of one, where all that lies otherwise is broadcast along it; and */
    FEWEST = 3,         /* elements, where several inputs lie apart; */
    SHORT_REPEATED =
        32,   /* where an element takes less than WIDE bytes, or what is read in place is read again: */
    WIDE = 4, /* its buffer is filled once; and */
    EXPENSIVE_RUN = 256 /* for bodies that call functions, since the vectors at a range's end are partial */
};

static bool counts_up(const kn_space *space)
{
    return !space->indices || kn_choice_is_contiguous(space, space->n_operands - 1, 1);
}

/* Some input has a different element for each of the space. */
static bool reads_as_much(const kn_choice *c)
{
    bool reads = false;
    for (int o = 0; o < c->count; ++o) {
        bool moves = !c->access[o].is_output;
        for (int a = 0; a < c->space->ndim; ++a)
            moves = moves && c->space->stride[o][a] != 0;
        reads = reads || moves;
    }
    return reads;
}

/* The operand is one element behind the one before it, with the same strides. */
static bool goes_on(const kn_choice *c, int o)
{
    const kn_access *x = &c->access[o];
    bool goes = x->is_output == c->access[o - 1].is_output && x->item_size == c->access[o - 1].item_size &&
                c->space->after[o] == x->item_size;
    for (int a = 0; a < c->space->ndim; ++a)
        goes = goes && c->space->stride[o][a] == c->space->stride[o - 1][a];
    return goes;
}

/* The operand's elements along another axis are nearer than along the fastest: blocks of both axes
 * read each line once. */
static bool is_nearer_elsewhere(const kn_choice *c, int o)
{
    const int64_t *stride = c->space->stride[o];
    bool is_nearer = false;
    for (int a = 0; a < c->space->ndim; ++a)
        is_nearer = is_nearer || (stride[a] != 0 && llabs(stride[a]) < stride[kn_choice_inner(c)]);
    return is_nearer;
}

/* The way in which the kernel reads operand o along the fastest axis without a buffer; 0: it does not.
 * Strides of more than an element have two values at most, those of config: a binary for each. */
static char access_in_place(kn_host_config *config, const kn_choice *c, int o)
{
    int64_t item = c->access[o].item_size, stride = c->space->stride[o][kn_choice_inner(c)];
    if (stride == item)
        return KN_DENSE;
    if (c->access[o].is_output || stride == 0)
        return c->access[o].is_output ? 0 : KN_BROADCAST;
    bool is_backward = stride == -item && item >= LEAST_BACKWARD;
    if ((stride < 0 && !is_backward) || stride > MOST_STEP * item || stride % item != 0 ||
        is_nearer_elsewhere(c, o))
        return 0;
    int own = is_backward ? KN_HOST_BACKWARD : (int)(stride / item);
    config->step = config->step ? config->step : own;
    if (config->step == own)
        return KN_GATHER;
    config->other_step = config->other_step ? config->other_step : own;
    return config->other_step == own ? KN_VECTOR : 0;
}

/* Marks inputs that follow each other until they fill a range: their elements are loaded together. Returns
 * the number of inputs that are not contiguous, of which such count as one. */
static int join_interleaved(char *access, int step, const kn_choice *c)
{
    int count = 0;
    for (int o = 0, joined = 1; o < c->count; o += joined, joined = 1) {
        while (access[o] == KN_GATHER && step <= MOST_STEP && joined < step && o + joined < c->count &&
               goes_on(c, o + joined))
            ++joined;
        if (access[o] == KN_GATHER && joined == step)
            memset(access + o, KN_STAGED, (size_t)step);
        else
            joined = 1;
        count += access[o] != KN_DENSE;
    }
    return count;
}

/* The operand is broadcast along another axis than the fastest. */
static bool is_repeated(const kn_choice *c, int o)
{
    bool is_broadcast = false;
    for (int a = 0; a < c->space->ndim; ++a)
        is_broadcast = is_broadcast || (c->space->stride[o][a] == 0 && a != kn_choice_inner(c));
    return is_broadcast;
}

/* Elements of a range, from which on it is read as it lies. */
static int shortest_run(const kn_choice *c, const char *access)
{
    int inner = kn_choice_inner(c), shortest = 0, stepped = 0;
    bool is_backward = false;
    if (c->program && kn_cost_functions(c->program) > 0)
        return EXPENSIVE_RUN;
    for (int o = 0; o < c->count; ++o) {
        int64_t item = c->access[o].item_size, stride = c->space->stride[o][inner];
        if (item < WIDE || (stride != item && is_repeated(c, o)))
            return SHORT_REPEATED;
        is_backward = is_backward || stride < 0;
        stepped += access[o] == KN_GATHER || access[o] == KN_VECTOR;
        shortest = (int)kn_most(shortest, (SHORT_BYTES + item - 1) / item);
    }
    bool is_alone = is_backward || stepped == 1;
    return is_alone ? SHORT_RUN : stepped > 1 ? FEWEST : (int)kn_most(shortest, FEWEST);
}

/* Inputs that are broadcast along the fastest axis, or of which every second to eighth element is read, while
 * all others are contiguous there: the kernel reads them as they lie, where a buffer would be a copy. */
static void find_in_place(kn_schedule *out, const kn_choice *c)
{
    char access[KN_MAX_OPERANDS];
    kn_host_config config = {0};
    int inner = kn_choice_inner(c);
    if (c->space->size >= MANY && !reads_as_much(c))
        return;
    if (inner < 0)
        return;
    for (int o = 0; o < c->count; ++o) {
        access[o] = access_in_place(&config, c, o);
        if (!access[o])
            return;
    }
    if (c->space->extent[inner] < shortest_run(c, access))
        return;
    int count = join_interleaved(access, config.step, c);
    if (count == 0 || count > MOST_IN_PLACE)
        return;
    memcpy(out->access, access, (size_t)c->count);
    *kn_host_config_in(out) = config;
}

static bool choose_runs(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    if (counts_up(c->space))
        find_in_place(out, c);
    return counts_up(c->space);
}

static bool choose_indices(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)out;
    (void)params;
    (void)c;
    return true;
}

/* The `count` operands from `first` on fill one array along the fastest axis. */
static bool are_interleaved(const kn_choice *c, int first, int count)
{
    int64_t item = c->access[first].item_size;
    if (first + count > c->count || c->space->stride[first][kn_choice_inner(c)] != count * item ||
        count * item > MOST_WORD)
        return false;
    for (int o = first + 1; o < first + count; ++o)
        if (!goes_on(c, o))
            return false;
    return true;
}

/* The first operands that are interleaved give the count for all others. Operands that are not interleaved
 * are contiguous. */
static bool choose_interleaved(kn_schedule *out, kn_launch_params *params, const kn_choice *c)
{
    (void)params;
    int *step = &kn_host_config_in(out)->step;
    if (c->space->size == 0 || !counts_up(c->space))
        return false;
    for (int o = 0; o < c->count;) {
        int count = *step;
        if (count == 0)
            for (count = MOST_WORD; count > 1 && !are_interleaved(c, o, count);)
                count /= 2;
        bool is_interleaved = count > 1 && are_interleaved(c, o, count);
        *step = is_interleaved ? count : *step;
        for (int end = o + (is_interleaved ? count : 1); o < end; ++o)
            out->access[o] = is_interleaved ? KN_STAGED : KN_DENSE;
    }
    return *step > 0;
}

/* Lists the operands of the loop nest, interleaved ones as one, which the kernel reads as words or element by
 * element. Returns true if each of them, the index aside, is one contiguous range. */
static bool list_operands(kn_loop_nest_operand *operand, int *count, const kn_part *part, bool are_words)
{
    const kn_program *p = part->spec->program;
    bool is_run = part->space->ndim == 1, is_pure = kn_body_is_pure(p);
    int step = kn_host_config_of(&part->spec->schedule)->step;
    *count = 0;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_operand *o = &part->spec->operand[k];
        int first, number = o->array < 0 ? -1 : kn_interleaved_number(part->spec, k, step, &first);
        if (o->array < 0 || number > 0)
            continue;
        int item_size = kn_dtype_info_of(o->dtype)->size * (number < 0 ? 1 : step);
        const int64_t *stride = part->space->stride[o->array];
        bool is_in_place = part->spec->schedule.access[0] && k < p->n_in && !are_words &&
                           part->spec->schedule.access[o->array] != KN_DENSE;
        is_run = is_run && (stride[0] == item_size || is_in_place);
        operand[(*count)++] =
            (kn_loop_nest_operand){is_in_place   ? KN_LOOP_IN_PLACE
                                   : k < p->n_in ? KN_LOOP_INPUT
                                                 : KN_LOOP_OUTPUT,
                                   part->layout->param_at[k], item_size, stride, k >= p->n_in && !is_pure};
    }
    return is_run;
}

static bool is_copy(const kn_spec *spec)
{
    const kn_operand *x = &spec->operand[0], *z = &spec->operand[1];
    return kn_body_assigns(spec->program) && x->dtype == z->dtype && x->seen == x->dtype &&
           z->seen == z->dtype;
}

/* The time of an element beside that of a cheap body's. */
static int64_t cost_of(const kn_program *p)
{
    int64_t cost = 1 + 2 * kn_cost_functions(p);
    bool is_raw = false;
    for (int k = 0; k < p->n_in; ++k)
        is_raw = is_raw || p->param[k].is_raw;
    for (int t = 0; t < p->n_stages; ++t)
        cost += kn_text_has_word(p->stage[t].body, "kn_search_among") ? SEARCH_COST : 0;
    return is_raw ? kn_most(cost, RAW_COST) : cost;
}

static kiln_status place_loop_nest(kn_placement *out, const kn_part *part, kn_loop_nest_kind index,
                                   bool are_words)
{
    kn_loop_nest_operand operand[KN_MAX_OPERANDS];
    const kn_space *space = part->space;
    int count = 0;
    bool is_run = list_operands(operand, &count, part, are_words) && index == KN_LOOP_COUNT;
    if (part->layout->start_at >= 0)
        operand[count++] = (kn_loop_nest_operand){index, part->layout->start_at,
                                                  index == KN_LOOP_INDICES ? (int)sizeof(int64_t) : 1,
                                                  space->stride[part->spec->n_arrays], false};
    const kn_loop_nest_rows rows = {1, 1, NULL, UINT64_MAX, 0, 0};
    memcpy(out->field, &rows, sizeof rows);
    out->grain = GRAIN / cost_of(part->spec->program) + 1;
    if (is_run)
        return KILN_OK;
    kiln_status status = kn_loop_nest_create(&out->loop_nest, space->ndim, space->extent, operand, count,
                                             part->layout->own_at);
    if (status == KILN_OK && is_copy(part->spec))
        kn_loop_nest_copies(out->loop_nest);
    else if (status == KILN_OK && kn_cost_functions(part->spec->program) == 0)
        kn_loop_nest_is_cheap(out->loop_nest);
    return status;
}

static kiln_status place_runs(kn_placement *out, const kn_part *part)
{
    return place_loop_nest(out, part, KN_LOOP_COUNT, false);
}

static kiln_status place_words(kn_placement *out, const kn_part *part)
{
    return place_loop_nest(out, part, KN_LOOP_COUNT, true);
}

static kiln_status place_indices(kn_placement *out, const kn_part *part)
{
    return place_loop_nest(out, part, KN_LOOP_INDICES, false);
}

/* Members that the values of all maps have; the field has those of kn_loop_nest_rows. */
#define MAP_KIND                                                                                             \
    .pattern = "m", .revision = 1, .config = &kn_host_config_table,                                          \
    .field = {"long long rows; long long row_group; const long long *row_step; unsigned long long early; "   \
              "unsigned long long rows_early; long long how_early;",                                         \
              sizeof(kn_loop_nest_rows), 8}

const kn_kind kn_kind_host_interleaved = {.name = "interleaved",
                                          .recipe = &kn_recipe_host_interleaved,
                                          MAP_KIND,
                                          .choose = choose_interleaved,
                                          .place = place_words};
const kn_kind kn_kind_host_runs = {
    .name = "flat", .recipe = &kn_recipe_host_runs, MAP_KIND, .choose = choose_runs, .place = place_runs};
const kn_kind kn_kind_host_indices = {.name = "strided",
                                      .recipe = &kn_recipe_host_indices,
                                      MAP_KIND,
                                      .choose = choose_indices,
                                      .place = place_indices};
const kn_kind kn_kind_host_quick = {.name = "quick",
                                    .recipe = &kn_recipe_host_quick,
                                    MAP_KIND,
                                    .choose = choose_indices,
                                    .place = place_indices};
