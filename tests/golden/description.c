#include "description.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden.h"
#include "kernel/kernel.h"

static const char **text_of(description *d, const char *key)
{
    const struct {
        const char *key, **to;
    } texts[] = {{"target", &d->target},
                 {"schedule", &d->schedule},
                 {"tier", &d->tier},
                 {"in", &d->in},
                 {"out", &d->out},
                 {"map", &d->map},
                 {"reduce", &d->reduce},
                 {"post", &d->post},
                 {"identity", &d->identity},
                 {"reduce_type", &d->options.reduce_type},
                 {"axes", &d->axes},
                 {"values", &d->values},
                 {"reversed", &d->reversed},
                 {"selection", &d->selection},
                 {"block", &d->block},
                 {"preamble", &d->options.preamble},
                 {"loop_prep", &d->options.loop_prep},
                 {"after_loop", &d->options.after_loop}};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k)
        if (!strcmp(key, texts[k].key))
            return texts[k].to;
    return NULL;
}

/* Cuts the text at the first " | "; what is behind it. */
static char *cut_at_bar(char *text)
{
    char *bar = strstr(text, " | ");
    if (!trouble_unless(bar != NULL, "a stage has four parts with ' | ' between them, not '%s'", text))
        return text + strlen(text);
    *bar = '\0';
    return bar + 3;
}

static void take_stage(description *d, char *kind)
{
    static const struct {
        const char *word;
        kn_stage_kind kind;
        kn_over over;
    } kinds[] = {{"map results", KN_MAP, KN_OVER_RESULTS},
                 {"map", KN_MAP, KN_OVER_ALL},
                 {"expression results", KN_MAP_EXPRESSION, KN_OVER_RESULTS},
                 {"expression", KN_MAP_EXPRESSION, KN_OVER_ALL},
                 {"reduce", KN_REDUCE, KN_OVER_ALL},
                 {"scan", KN_SCAN, KN_OVER_ALL},
                 {"exclusive", KN_SCAN_EXCLUSIVE, KN_OVER_ALL},
                 {"count", KN_COUNT, KN_OVER_ALL},
                 {"place", KN_PLACE, KN_OVER_ALL},
                 {"rank", KN_RANK, KN_OVER_ALL},
                 {"tally", KN_TALLY, KN_OVER_ALL},
                 {"columns", KN_COLUMNS, KN_OVER_ALL}};
    static const char *const labels[DESCRIBED_STAGES] = {"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"};
    size_t k = 0, count = sizeof kinds / sizeof kinds[0];
    char *reads = cut_at_bar(kind), *gives = cut_at_bar(reads), *body = cut_at_bar(gives);
    while (k < count && strncmp(kind, kinds[k].word, strlen(kinds[k].word)) != 0)
        ++k;
    if (!trouble_unless(k < count && d->n_stages < DESCRIBED_STAGES, "stage '%s'", kind))
        return;
    const char *identity = kind + strlen(kinds[k].word);
    d->stage[d->n_stages] = (kn_stage_text){.kind = kinds[k].kind,
                                            .over = kinds[k].over,
                                            .label = labels[d->n_stages],
                                            .reads = reads,
                                            .gives = gives,
                                            .body = body,
                                            .identity = *identity ? identity + 1 : NULL};
    ++d->n_stages;
}

static void take_line(description *d, char *key, char *value)
{
    const char **to = text_of(d, key);
    if (to)
        *to = value;
    else if (!strcmp(key, "stage"))
        take_stage(d, value);
    else if (trouble_unless(!strcmp(key, "operand") || !strcmp(key, "shared") || !strcmp(key, "raw") ||
                                !strcmp(key, "scalar") || !strcmp(key, "struct"),
                            "unknown key '%s'", key) &&
             trouble_unless(d->n_operands < STAGE_OPERANDS, "more than %d operands", STAGE_OPERANDS)) {
        d->kind[d->n_operands] = key;
        d->operand[d->n_operands++] = value;
    }
}

void description_read(description *d, const char *path)
{
    *d = (description){.text = golden_read(path), .in = "", .out = "", .body = ""};
    d->options = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    char *at = d->text;
    trouble_unless(at != NULL, "%s cannot be read", path);
    while (!in_trouble() && *at) {
        char *line = at, *colon = strchr(line, ':');
        if (!trouble_unless(colon != NULL, "no 'key:' at '%.20s'", line))
            return;
        *colon = '\0';
        if (!strcmp(line, "body")) {
            d->body = colon + 1 + (colon[1] == '\n');
            char *last = colon + strlen(colon + 1);
            if (*last == '\n')
                *last = '\0';
            return;
        }
        at = colon + 1 + strcspn(colon + 1, "\n");
        if (*at)
            *at++ = '\0';
        take_line(d, line, colon + 1 + (colon[1] == ' '));
    }
}

void description_free(description *d)
{
    free(d->text);
    d->text = NULL;
}

/* Tiles of a pass of a sort wait for each other's words, which are zeros before. */
static bool has_words(const description *d)
{
    bool has = false;
    for (int k = 0; k < d->n_stages; ++k)
        has = has || d->stage[k].kind == KN_PLACE;
    return has;
}

/* *owner: the operand whose buffer those that are shared lie in. */
static void place_operand(stage *s, const description *d, int k, bool is_output, int *owner)
{
    const char *kind = d->kind[k], *text = d->operand[k];
    char name[16] = "", shape[64] = "";
    int used = 0;
    static const char bytes[64];
    kiln_dtype dtype = KILN_DTYPE_NONE;
    sscanf(text, "%15s %63s %n", name, shape, &used);
    if (!strcmp(kind, "struct")) {
        size_t size = (size_t)atoi(text);
        if (trouble_unless(size > 0 && size <= sizeof bytes, "a struct of '%s' bytes", text))
            stage_struct(s, bytes, size);
        return;
    }
    if (!succeeded(kiln_dtype_from_name(&dtype, name), text))
        return;
    const char *layout_text = used ? text + used : "";
    if (!strcmp(shape, "-"))
        shape[0] = '\0';
    if (!strcmp(kind, "scalar"))
        stage_real(s, kiln_arg_int(1), dtype, 1);
    else if (!strcmp(kind, "raw"))
        stage_raw(s, is_output, dtype, shape, layout_text,
                  is_output && has_words(d) ? FILL_ZEROS : FILL_SMALL);
    else if (!strcmp(kind, "shared"))
        (is_output ? stage_out_shared : stage_in_shared)(s, *owner, dtype, shape, layout_text);
    else
        *owner = is_output ? stage_out(s, dtype, shape, layout_text)
                           : stage_in(s, dtype, shape, layout_text, FILL_SMALL);
}

static kiln_kernel *staged_kernel(const description *d)
{
    kn_program *program = NULL;
    kiln_kernel *kernel = NULL;
    const kn_program_text text = {.name = "case_kernel",
                                  .in = d->in,
                                  .out = d->out,
                                  .values = d->values,
                                  .stage = d->stage,
                                  .n_stages = d->n_stages,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .is_reversed = d->reversed != NULL,
                                  .is_selection = d->selection != NULL,
                                  .options = &d->options};
    if (succeeded(kn_program_create(&program, &text), "kn_program_create"))
        succeeded(kn_kernel_create(&kernel, program), "kn_kernel_create");
    return kernel;
}

kiln_kernel *description_kernel(const description *d)
{
    kiln_kernel *kernel = NULL;
    if (in_trouble())
        return NULL;
    if (d->n_stages > 0)
        kernel = staged_kernel(d);
    else if (d->reduce)
        succeeded(kiln_reduction_create(&kernel, d->in, d->out, d->map, d->reduce, d->post, d->identity,
                                        "case_kernel", &d->options),
                  "kiln_reduction_create");
    else
        succeeded(kiln_elementwise_create(&kernel, d->in, d->out, d->body, "case_kernel", &d->options),
                  "kiln_elementwise_create");
    return kernel;
}

stage *description_stage(const description *d, kiln_kernel *kernel, uint64_t seed)
{
    int n_in = 0, n_out = 0, owner = -1;
    if (in_trouble())
        return NULL;
    stage *s = stage_over(kernel, seed);
    if (seed == 0)
        stage_leave_unfilled(s);
    stage_args(s, &n_in);
    stage_outs(s, &n_out);
    trouble_unless(d->n_operands == n_in + n_out, "%d operands, but %d parameters", d->n_operands,
                   n_in + n_out);
    for (int k = 0; k < d->n_operands && !in_trouble(); ++k)
        place_operand(s, d, k, k >= n_in, &owner);
    return s;
}

void description_options(kiln_call_options *call, int *axes, const description *d)
{
    int used = 0;
    const char *text = d->axes;
    *call = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    call->block = d->block ? atoi(d->block) : 0;
    for (; text && sscanf(text, "%d%n", &axes[call->n_axes], &used) == 1;
         text += used + (text[used] == ',')) {
        call->axes = axes;
        call->n_axes++;
    }
}
