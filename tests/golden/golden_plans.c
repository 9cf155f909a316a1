/* golden_plans - how layouts are launched: FOLDER/plans.txt has a call a line, plans.expected what plan makes
 * of it. A change of a choice or of a launch's parameters shows there, call by call.
 *
 * What the launches of each kind put into the argument block stands in FOLDER/blocks.expected.
 *
 * Behind the plans stand checksums of some thousand random calls, written as such lines; --random BATCH shows
 * what is behind one.
 *
 * usage: golden_plans [--update] FOLDER
 *        golden_plans --random BATCH
 *
 *     sm_90 64,100 <4:4,256@8 >4:400,4      target, extents, operands: inputs (<) and outputs (>) as item
 *                                           size, byte strides (0: broadcast) and the low bits of the
 *                                           address, with ^ in the array of the operand before it; then
 *                                           words: index (the body uses `i`), costly (it calls
 *                                           exp), quick (its baseline), block=512, reduce=2
 *                                           (a reduction of the last two axes, along which results have no
 *                                           strides), row=1 (each input, and its sum
 *                                           along the last axis, go into each result), columns (so do the
 *                                           columns' sums, by strips of rows), scan=2 (sums along
 *                                           the last two axes, in their order), select (the scan is a
 *                                           selection's)
 */
#include "golden.h"
#include "golden_blocks.h"
#include "schedules/choose.h"
#include "schedules/spec_text.h"
#include "schedule/layout.h"
#include "program/program.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 8, SHOWN_LAUNCHES = 3, BASE = 1 << 20 };

typedef struct operand {
    bool is_output, is_view; /* of the array of the operand before it */
    int item_size;
    int64_t stride[KILN_MAX_NDIM];
    uintptr_t array, address;
} operand;

typedef struct call {
    kn_target target;
    int ndim, count, block, reduced, row, scan;
    bool with_index, is_costly, is_quick, is_selection, is_count, is_place, is_rank, is_top, is_network,
        is_tally, is_in_halves, has_columns, is_wrong;
    int64_t shape[KILN_MAX_NDIM];
    operand operand[MOST_OPERANDS];
} call;

/* ---- reading ---- */

/* Numbers with commas between them; how many. */
static int read_list(int64_t *out, const char *text, char **end)
{
    int count = 0;
    *end = (char *)(uintptr_t)text;
    while ((isdigit((unsigned char)*text) || *text == '-') && count < KILN_MAX_NDIM) {
        out[count++] = strtoll(text, end, 10);
        text = **end == ',' ? *end + 1 : *end;
    }
    return count;
}

static void read_operand(call *c, const char *word)
{
    char *end;
    if (c->count == MOST_OPERANDS) {
        c->is_wrong = true;
        return;
    }
    operand *o = &c->operand[c->count++];
    o->is_output = *word == '>';
    o->item_size = (int)strtol(word + 1, &end, 10);
    c->is_wrong |= *end != ':' || read_list(o->stride, end + 1, &end) != c->ndim;
    o->address = BASE * (uintptr_t)c->count;
    o->is_view = *end == '^';
    c->is_wrong |= o->is_view && c->count == 1;
    if (o->is_view && !c->is_wrong) {
        o->array = o[-1].array;
        ++end;
    } else
        o->array = o->address;
    o->address = o->array + (*end == '@' ? strtoul(end + 1, &end, 10) : 0);
    c->is_wrong |= *end != '\0';
}

static void read_word(call *c, const char *word)
{
    if (*word == '<' || *word == '>')
        read_operand(c, word);
    else if (!strcmp(word, "index"))
        c->with_index = true;
    else if (!strcmp(word, "costly"))
        c->is_costly = true;
    else if (!strcmp(word, "quick"))
        c->is_quick = true;
    else if (!strncmp(word, "block=", 6))
        c->block = atoi(word + 6);
    else if (!strncmp(word, "reduce=", 7))
        c->reduced = atoi(word + 7);
    else if (!strncmp(word, "row=", 4))
        c->row = atoi(word + 4);
    else if (!strcmp(word, "columns"))
        c->has_columns = true;
    else if (!strcmp(word, "select"))
        c->is_selection = true;
    else if (!strcmp(word, "sort_count"))
        c->is_count = true;
    else if (!strcmp(word, "sort_place"))
        c->is_place = true;
    else if (!strcmp(word, "sort_rank"))
        c->is_rank = true;
    else if (!strcmp(word, "sort_top"))
        c->is_rank = c->is_top = true;
    else if (!strcmp(word, "sort_network"))
        c->is_network = true;
    else if (!strcmp(word, "tally"))
        c->is_tally = true;
    else if (!strcmp(word, "tally_halves"))
        c->is_tally = c->is_in_halves = true;
    else if (!strncmp(word, "scan=", 5))
        c->scan = atoi(word + 5);
    else
        c->is_wrong = true;
}

static bool read_call(call *c, const char *line)
{
    char text[512], *rest = NULL, *end = NULL;
    *c = (call){0};
    snprintf(text, sizeof text, "%s", line);
    const char *target = strtok_r(text, " ", &rest), *shape = strtok_r(NULL, " ", &rest);
    if (!target || !shape || kn_target_parse(&c->target, target) != KILN_OK)
        return false;
    c->ndim = read_list(c->shape, shape, &end);
    for (const char *word; (word = strtok_r(NULL, " ", &rest)) != NULL;)
        read_word(c, word);
    return !c->is_wrong && *end == '\0';
}

/* ---- the plan ---- */

static kiln_dtype dtype_of(int item_size)
{
    return item_size == 1   ? KILN_UINT8
           : item_size == 2 ? KILN_INT16
           : item_size == 4 ? KILN_FLOAT32
           : item_size == 8 ? KILN_FLOAT64
                            : KILN_COMPLEX128;
}

/* The sum of all inputs along a row is added to them; columns are another output, which is raw. */
static void make_row_program(kn_program **out, const char *in_params, const char *out_params,
                             const char *body, const call *c)
{
    kn_str sum = KN_STR_INIT, outputs = KN_STR_INIT, results = KN_STR_INIT;
    kn_str_printf(&outputs, c->has_columns ? "%s, raw float32 own" : "%s", out_params);
    for (int k = 0; k < c->count; ++k)
        if (c->operand[k].is_output)
            kn_str_printf(&results, "%sv%d", results.length > 0 ? ", " : "", k);
    kn_str_append(&sum, "0");
    for (int k = 0; k < c->count; ++k)
        if (!c->operand[k].is_output)
            kn_str_printf(&sum, " + v%d", k);
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "m0", .gives = "_v", .body = kn_str_text(&sum)},
        {.kind = KN_REDUCE, .label = "r0", .reads = "_v", .gives = "_r", .body = "a + b", .identity = "0"},
        {.kind = KN_MAP, .label = "m1", .reads = "_v, _r", .gives = kn_str_text(&results), .body = body},
        {.kind = KN_COLUMNS, .label = "l0", .reads = "_v", .gives = "own", .body = "a + b"}};
    const kn_program_text text = {.name = "k",
                                  .in = in_params,
                                  .out = kn_str_text(&outputs),
                                  .values = "float32 _v, float32 _r",
                                  .stage = stages,
                                  .n_stages = c->has_columns ? 4 : 3,
                                  .reduced = c->row};
    kn_program_create(out, &text);
    kn_str_free(&sum);
    kn_str_free(&outputs);
    kn_str_free(&results);
}

/* A pass of a sort: digits counted, or places by them; or the ranks of all elements. */
static void make_sort_program(kn_program **out, const char *in_params, const char *out_params,
                              const char *body, const call *c)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT;
    kn_str_printf(&in, "%s%s", in_params, c->is_rank ? "" : ", raw uint32 counts");
    kn_str_printf(&outs, "%s%s", out_params,
                  c->is_rank    ? ""
                  : *out_params ? ", raw uint32 words"
                                : "raw uint32 words");
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "m0", .gives = "_d", .body = "1"},
        {.kind = c->is_count  ? KN_COUNT
                 : c->is_rank ? KN_RANK
                              : KN_PLACE,
         .label = "s0",
         .reads = c->is_place ? "_d, counts" : "_d",
         .gives = c->is_count  ? "words"
                  : c->is_rank ? "_p"
                               : "_p, words",
         .body = c->is_top ? "64" : ""},
        {.kind = KN_MAP, .label = "m1", .reads = c->is_count ? "_d" : "_p", .gives = "v1", .body = body}};
    const kn_program_text text = {.name = "k",
                                  .in = kn_str_text(&in),
                                  .out = kn_str_text(&outs),
                                  .values = "uint32 _d, int64 _p",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    kn_program_create(out, &text);
    kn_str_free(&in);
    kn_str_free(&outs);
}

/* Rows of floats, the one input, which are their own keys: sorted ones are a raw output. */
static void make_network_program(kn_program **out, const char *in_params)
{
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "m0",
         .reads = "v0",
         .gives = "_d",
         .body = "kn_sort_key<0, 0>(static_cast<float>(v0))"},
        {.kind = KN_RANK, .label = "s0", .reads = "_d", .gives = "_p", .body = ""},
        {.kind = KN_MAP,
         .label = "m1",
         .reads = "_p, v0",
         .gives = "",
         .body = "[&](auto &own, const long long i) { own = v0; }(own[p], _J)"}};
    const kn_program_text text = {.name = "k",
                                  .in = in_params,
                                  .out = "raw float32 own",
                                  .values = "uint32 _d, int64 _p",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    kn_program_create(out, &text);
}

/* Elements counted into bins, which are a raw output beside those of the call: it has none. */
static void make_tally_program(kn_program **out, const char *in_params, const char *reduce)
{
    const kn_stage_text stages[] = {{.kind = KN_MAP_EXPRESSION, .label = "m0", .gives = "_b", .body = "1"},
                                    {.kind = KN_MAP_EXPRESSION, .label = "m1", .gives = "_v", .body = "1"},
                                    {.kind = KN_TALLY,
                                     .label = "s0",
                                     .reads = "_b, _v",
                                     .gives = "bins",
                                     .body = reduce,
                                     .identity = "0"}};
    const kn_program_text text = {.name = "k",
                                  .in = in_params,
                                  .out = "raw uint32 bins",
                                  .values = "int64 _b, uint32 _v",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL};
    kn_program_create(out, &text);
}

/* Inputs first, as programs have them; the calls have them so too. */
static kn_program *make_program(const call *c)
{
    kn_str text[3] = {KN_STR_INIT, KN_STR_INIT, KN_STR_INIT}; /* in, out, body */
    kn_program *program = NULL;
    for (int k = 0; k < c->count; ++k) {
        const operand *o = &c->operand[k];
        kn_str *to = &text[o->is_output];
        kn_str_printf(to, "%s%s v%d", kn_str_text(to)[0] ? ", " : "", kiln_dtype_name(dtype_of(o->item_size)),
                      k);
        if (o->is_output)
            kn_str_printf(&text[2], "v%d = %s; ", k, c->with_index ? "i" : c->is_costly ? "exp(2.0)" : "1");
    }
    if (!*kn_str_text(&text[1])) /* a program has an output, if only one that takes no part in the space */
        kn_str_append(&text[1], "raw int8 own");
    if (c->row) {
        kn_str_clear(&text[2]);
        for (int k = 0; k < c->count; ++k)
            if (c->operand[k].is_output)
                kn_str_printf(&text[2], "v%d = v + r; ", k);
        make_row_program(&program, kn_str_text(&text[0]), kn_str_text(&text[1]), kn_str_text(&text[2]), c);
    } else if (c->is_count || c->is_place || c->is_rank) {
        make_sort_program(&program, kn_str_text(&text[0]), kn_str_text(&text[1]), kn_str_text(&text[2]), c);
    } else if (c->is_tally) {
        make_tally_program(&program, kn_str_text(&text[0]), c->is_in_halves ? "a + b + 0" : "a + b");
    } else if (c->is_network) {
        make_network_program(&program, kn_str_text(&text[0]));
    } else if (c->reduced || c->scan) {
        kn_str_clear(&text[2]);
        for (int k = 0; k < c->count; ++k)
            if (c->operand[k].is_output)
                kn_str_printf(&text[2], "v%d = a; ", k);
        (c->scan ? kn_program_scan : kn_program_reduction)(&program, kn_str_text(&text[0]),
                                                           kn_str_text(&text[1]), c->with_index ? "i" : "1",
                                                           "a + b", kn_str_text(&text[2]), "0", "k", NULL);
        if (program)
            program->is_selection = c->is_selection;
    } else
        kn_program_elementwise(&program, kn_str_text(&text[0]), kn_str_text(&text[1]), kn_str_text(&text[2]),
                               "k", NULL);
    for (int k = 0; k < 3; ++k)
        kn_str_free(&text[k]);
    return program;
}

static void make_space(kn_space *space, kn_access *access, const call *c)
{
    kn_view view[MOST_OPERANDS];
    int64_t outputs[KILN_MAX_NDIM];
    uint64_t reduced = 0;
    for (int a = 0; a < c->ndim; ++a) {
        bool is_reduced = a >= c->ndim - c->reduced - c->row - c->scan;
        outputs[a] = is_reduced && c->reduced ? 1 : c->shape[a];
        reduced |= (uint64_t)is_reduced << a;
    }
    for (int k = 0; k < c->count; ++k)
        view[k] = (kn_view){c->operand[k].is_output ? outputs : c->shape, c->operand[k].stride, c->ndim,
                            c->operand[k].is_output};
    if (c->scan || c->has_columns)
        kn_space_make_in_order(space, c->ndim, c->shape, reduced, view, c->count,
                               c->with_index ? KN_WITH_INDEX : 0, KN_FORWARD);
    else
        kn_space_make(space, c->ndim, c->shape, reduced, view, c->count, c->with_index ? KN_WITH_INDEX : 0);
    for (int k = 1; k < c->count; ++k)
        if (c->operand[k].is_view) {
            int64_t bytes = (int64_t)(c->operand[k].address - c->operand[k - 1].address);
            space->after[k] = bytes ? bytes : KN_SAME_ARRAY;
        }
    for (int k = 0; k < c->count; ++k)
        access[k] = (kn_access){c->operand[k].item_size, c->operand[k].address + (uintptr_t)space->offset[k],
                                c->operand[k].is_output};
}

/* ---- writing ---- */

static void put_axes(kn_str *out, const kn_space *space)
{
    for (int a = 0; a < space->ndim; ++a) {
        kn_str_printf(out, "%s%" PRId64 "(", a ? " " : " axes=\"", space->extent[a]);
        for (int o = 0; o < space->n_operands; ++o)
            kn_str_printf(out, "%s%" PRId64, o ? "," : "", space->stride[o][a]);
        kn_str_append(out, ")");
    }
    kn_str_append(out, "\"");
}

static void put_loop_nest(kn_str *out, const kn_loop_nest *w)
{
    kn_str_printf(out,
                  " walk=\"%d run axes%s, shown %" PRId64 ", %" PRId64 " blocks of %" PRId64 " along %d:",
                  w->contiguous_axes,
                  w->has_groups ? " and rows in groups"
                  : w->has_rows ? " and rows"
                                : "",
                  w->shown_size, w->blocks, w->block_size, w->block_axes);
    for (int a = 0; a < w->ndim; ++a)
        kn_str_printf(out, " %" PRId64 "/%" PRId64 "/%" PRId64, w->extent[a], w->step[a], w->count[a]);
    if (w->broadcast_length > 0)
        kn_str_printf(out, ", parts of %" PRId64, w->broadcast_length);
    if (w->ahead > 0)
        kn_str_printf(out, ", %" PRId64 " ahead along %d", w->ahead, w->along);
    kn_str_append(out, w->is_copy ? ", copied\" operands=\"" : "\" operands=\"");
    for (int o = 0; o < w->n_operands; ++o) {
        kn_str_printf(out, "%s%d:%d", o ? " " : "", (int)w->operand[o].kind, w->operand[o].item_size);
        if (w->operand[o].is_packed)
            kn_str_printf(out, "@%d", w->operand[o].buffer_at);
    }
    kn_str_append(out, "\"");
}

/* FNV-1a. */
static uint32_t checksum(const void *bytes, size_t size)
{
    uint32_t sum = 2166136261u;
    for (size_t k = 0; k < size; ++k)
        sum = (sum ^ ((const unsigned char *)bytes)[k]) * 16777619u;
    return sum;
}

typedef struct launches {
    kn_str *out;
    int count;
} launches;

static kiln_status put_launch(void *user, const kn_part *part, const kn_placement *p)
{
    launches *l = user;
    const kn_schedule *s = &part->spec->schedule;
    golden_add_launch(part, p);
    if (l->count++ < SHOWN_LAUNCHES) {
        kn_str_printf(l->out, "    size=%" PRId64, p->size);
        if (s->block > 0)
            kn_str_printf(l->out, " grid=%ux%ux%u block=%u shared=%u rank=%d", p->grid[0], p->grid[1],
                          p->grid[2], p->block, p->shared_bytes, p->rank);
        else
            kn_str_printf(l->out, " grid=%ux%ux%u block=%u grain=%" PRId64, p->grid[0], p->grid[1],
                          p->grid[2], p->block, p->grain);
        if (p->cluster)
            kn_str_printf(l->out, " cluster=%u", p->cluster);
        if (s->kind->describe)
            s->kind->describe(l->out, p->field);
        if (part->layout->own_size > 0)
            kn_str_printf(
                l->out, " field=%08" PRIx32,
                checksum(p->field, (size_t)part->layout->own_size)); /* people are told a part of it */
        if (p->kernel_space)
            put_axes(l->out, p->kernel_space);
        if (p->loop_nest)
            put_loop_nest(l->out, p->loop_nest);
        kn_str_append(l->out, "\n");
    }
    kn_loop_nest_free(p->loop_nest);
    return KILN_OK;
}

/* The specialisation is read as it was written: the numbers of the kind are in their ranges. */
static bool is_read_again(const kn_spec *spec)
{
    kn_str line = KN_STR_INIT, again = KN_STR_INIT;
    kn_parsed_spec parsed;
    kn_spec_format(&line, spec);
    bool is_read = kn_spec_parse(&parsed, kn_str_text(&line)) == KILN_OK;
    if (is_read) {
        kn_spec_format(&again, &parsed.spec);
        is_read = strcmp(kn_str_text(&line), kn_str_text(&again)) == 0;
        kn_parsed_spec_free(&parsed);
    }
    if (!is_read)
        printf("FAILED: %s is not read again: %s\n", kn_str_text(&line), kiln_error_message());
    kn_str_free(&line);
    kn_str_free(&again);
    return is_read;
}

static bool put_plan(kn_str *out, const call *c)
{
    static kn_space space;
    kn_spec spec = {.target = c->target, .generator = "1"};
    kn_access access[MOST_OPERANDS];
    kn_launch_params params = {{0}};
    kn_layout layout;
    launches l = {out, 0};
    kn_program *program = make_program(c);
    if (!program)
        return false;
    spec.program = program;
    for (int k = 0, at = 0; k < program->n_in + program->n_out; ++k)
        spec.operand[k] =
            program->param[k].is_raw
                ? (kn_operand){.pass = KN_PASS_RAW, .dtype = program->param[k].dtype, .raw_rank = 1}
                : (kn_operand){.pass = KN_PASS_ARRAY, .dtype = dtype_of(c->operand[at++].item_size)};
    spec.n_arrays = kn_operands_settle(spec.operand, program->n_in + program->n_out);
    make_space(&space, access, c);
    static kn_spec order; /* large */
    bool is_good = (c->is_quick &&
                    kn_schedule_quick(&spec.schedule, program, &spec.target, c->count, c->ndim, c->block)) ||
                   kn_schedule_choose(&spec.schedule, &params, program, &space, access, c->count,
                                      &spec.target, c->block) == KILN_OK;
    kn_schedule in_order;
    order = spec;
    bool has_order = is_good && c->is_quick && kn_schedule_keeps_order(&in_order, &order, &space, &params);
    if (has_order)
        spec.schedule = in_order;
    const kn_schedule *s = &spec.schedule;
    is_good = is_good && kn_layout_make(&layout, &spec) == KILN_OK && is_read_again(&spec);
    kn_str_printf(out, "    %s vector=%d block=%d rank=%d access=%s arguments=%d", s->kind->name, s->vector,
                  s->block, s->rank, s->access, layout.size);
    const kn_config_table *config = s->kind->config;
    for (int n = 0; config && n < config->count; ++n)
        if (s->config[n] > 0)
            kn_str_printf(out, " %s=%d", config->number[n].name, s->config[n]);
    if (layout.own_size > 0)
        kn_str_printf(out, " field=%d+%d", layout.own_at, layout.own_size);
    kn_str_append(out, "\n");
    const kn_part whole = {&spec, &layout, &params, &space, &space, has_order ? &order : NULL};
    is_good = is_good && kn_part_each_launch(&whole, put_launch, &l) == KILN_OK;
    if (l.count != 1)
        kn_str_printf(out, "    %d launches\n", l.count);
    kn_program_free(program);
    return is_good;
}

/* ---- random calls ---- */

enum { BATCHES = 8, CALLS = 600 /* of a batch */ };

static uint64_t state_of_dice;

static int roll(int low, int high)
{
    state_of_dice = state_of_dice * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return low + (int)((state_of_dice >> 33) % (uint64_t)(high - low + 1));
}

/* Tidy: what is aligned everywhere. */
static int random_shape(int64_t *shape, bool is_tidy)
{
    static const int even[] = {8, 16, 24, 32, 48, 64, 96, 128, 256, 512, 1024, 2048};
    static const int extents[] = {1,   2,   3,   4,   5,   7,   8,   9,    15,   16,  17,
                                  24,  31,  32,  33,  48,  63,  64,  65,   96,   100, 127,
                                  128, 129, 200, 256, 257, 512, 513, 1000, 1024, 2048};
    int ndim = roll(1, 5);
    int64_t size = 1, most = roll(0, 19) ? 1 << 26 : INT64_C(1) << 33;
    for (int a = 0; a < ndim; ++a) {
        shape[a] = is_tidy ? even[roll(0, 11)] : extents[roll(0, 31)];
        if (size * shape[a] > most)
            shape[a] = 2;
        size *= shape[a];
    }
    if (!roll(0, 49))
        shape[roll(0, ndim - 1)] = 0;
    return ndim;
}

/* In some order of the axes: dense, spread, with longer rows, reversed, broadcast. */
static void put_random_operand(kn_str *out, int ndim, const int64_t *shape, int item, bool is_output,
                               bool is_tidy)
{
    int order[8], spread = is_tidy ? 2 : roll(0, 3);
    int64_t stride[8], run = item;
    for (int a = 0; a < ndim; ++a)
        order[a] = a;
    for (int a = ndim; a-- > 1 && roll(0, is_output ? 9 : 2) == 0;) {
        int other = roll(0, a), outputs = order[a];
        order[a] = order[other];
        order[other] = outputs;
    }
    for (int k = ndim; k-- > 0;) {
        int a = order[k];
        int64_t step = run * (spread || roll(0, 4) ? 1 : roll(2, 3)) +
                       (spread != 1 || roll(0, 3) ? 0 : item * roll(1, 9));
        bool is_broadcast = !is_output && !roll(0, is_tidy ? 3 : 5);
        stride[a] = is_broadcast ? 0 : is_tidy || roll(0, 14) ? step : -step;
        run = is_broadcast ? run : step * shape[a];
    }
    kn_str_printf(out, " %c%d:", is_output ? '>' : '<', item);
    for (int a = 0; a < ndim; ++a)
        kn_str_printf(out, "%s%" PRId64, a ? "," : "", stride[a]);
    if (!roll(0, is_tidy ? 9 : 2))
        kn_str_printf(out, "@%d", roll(0, 19) * item);
}

static void put_random_line(kn_str *out)
{
    static const char *const targets[] = {"sm_90",  "sm_90", "sm_90", "sm_80",
                                          "sm_120", "sm_75", "host",  "host"};
    int64_t shape[8];
    bool is_tidy = !roll(0, 1);
    int ndim = random_shape(shape, is_tidy), inputs = roll(0, 3), outputs = roll(0, 4) ? 1 : 2,
        item = 1 << roll(0, 4);
    kn_str_append(out, targets[roll(0, 7)]);
    for (int a = 0; a < ndim; ++a)
        kn_str_printf(out, "%c%" PRId64, a ? ',' : ' ', shape[a]);
    for (int k = 0; k < inputs + outputs; ++k)
        put_random_operand(out, ndim, shape, roll(0, 3) ? item : 1 << roll(0, 4), k >= inputs, is_tidy);
    kn_str_append(out, roll(0, 4) ? "" : " index");
    kn_str_append(out, roll(0, 9) ? "" : " costly");
}

/* The calls of a batch with their plans. */
static bool put_batch(kn_str *out, int batch)
{
    bool is_good = true;
    state_of_dice = (uint64_t)batch;
    for (int k = 0; k < CALLS && is_good; ++k) {
        kn_str line = KN_STR_INIT;
        call c;
        put_random_line(&line);
        kn_str_printf(out, "%s\n", kn_str_text(&line));
        is_good = read_call(&c, kn_str_text(&line)) && put_plan(out, &c);
        if (!is_good)
            printf("FAILED '%s': %s\n", kn_str_text(&line), kiln_error_message());
        kn_str_free(&line);
    }
    return is_good;
}

static bool put_checksums(kn_str *out)
{
    bool is_good = true;
    for (int batch = 0; batch < BATCHES && is_good; ++batch) {
        kn_str plans = KN_STR_INIT;
        is_good = put_batch(&plans, batch);
        kn_str_printf(out, "random %d: %08" PRIx32 "\n", batch, checksum(kn_str_text(&plans), plans.length));
        kn_str_free(&plans);
    }
    return is_good;
}

/* Comments and empty lines are left out; false where a line is none of a call's. */
static bool put_plans(kn_str *out, char *text)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        call c;
        if (*line == '#')
            continue;
        kn_str_printf(out, "%s\n", line);
        if (!read_call(&c, line) || !put_plan(out, &c)) {
            printf("FAILED '%s': %s\n", line, kiln_error_message());
            return false;
        }
    }
    return true;
}

static bool check_folder(const char *folder, bool update)
{
    char path[512];
    kn_str out = KN_STR_INIT;
    snprintf(path, sizeof path, "%s/plans.txt", folder);
    char *text = golden_read(path);
    snprintf(path, sizeof path, "%s/plans.expected", folder);
    bool same = text && put_plans(&out, text) && put_checksums(&out) &&
                golden_matches(path, kn_str_text(&out), update);
    kn_str_clear(&out);
    snprintf(path, sizeof path, "%s/blocks.expected", folder);
    same = same && golden_put_blocks(&out) && golden_matches(path, kn_str_text(&out), update);
    kn_str_free(&out);
    free(text);
    return same;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    bool update = argc == 3 && !strcmp(argv[1], "--update");
    if (argc == 3 && !strcmp(argv[1], "--random")) {
        kn_str out = KN_STR_INIT;
        bool is_good = put_batch(&out, atoi(argv[2]));
        fputs(kn_str_text(&out), stdout);
        kn_str_free(&out);
        return is_good ? 0 : 1;
    }
    if (argc != 2 + update) {
        fprintf(stderr, "usage: golden_plans [--update] FOLDER\n       golden_plans --random BATCH\n");
        return 2;
    }
    return check_folder(argv[1 + update], update) ? 0 : 1;
}
