/* program/program.c - makes programs from texts, and checks them. */
#include "program/program.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "program/assigned.h"
#include "program/identifiers.h"
#include "base/caret.h"

enum { SCAN_FLAGS = KILN_KERNEL_EXCLUSIVE | KILN_KERNEL_REVERSED };

static bool is_identifier(const char *text)
{
    if (!text[0] || (text[0] >= '0' && text[0] <= '9') || strlen(text) >= KN_NAME_MAX)
        return false;
    for (; *text; ++text) {
        bool letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z') || *text == '_';
        if (!letter && !(*text >= '0' && *text <= '9'))
            return false;
    }
    return true;
}

/* ---- texts ---- */

/* The name `n` means a value of that name where there is one, as in CuPy. */
static bool is_value(const kn_program *p, const char *name)
{
    for (int k = 0; k < p->n_in + p->n_out + p->n_values; ++k)
        if (strcmp(kn_value_name(&p->param[k]), name) == 0)
            return true;
    return false;
}

/* The uses that the words of a text imply. */
static const struct {
    const char *word;
    unsigned uses;
} asking[] = {{"i", KN_USES_INDEX},
              {"n", KN_USES_COUNT},
              {"_J", KN_USES_REDUCTION_INDEX},
              {"_j", KN_USES_REDUCTION_INDEX},
              {"_follows", KN_USES_REDUCTION_INDEX},
              {"_index", KN_USES_INDEX_TYPE},
              {"_in_ind", KN_USES_SIZES | KN_USES_COUNT},
              {"_out_ind", KN_USES_SIZES | KN_USES_COUNT},
              {"continue", KN_USES_CONTINUE},
              {"break", KN_USES_CONTINUE},
              {"_ind", KN_USES_COUNT | KN_USES_INDEXER},
              {"get", KN_USES_PLACE},
              {"ndim", KN_USES_PLACE}};
enum { ASKING = sizeof asking / sizeof asking[0], LONGEST = 8 };

/* The uses of one text, in one scan. */
static unsigned uses_of_text(const kn_program *p, const char *text)
{
    unsigned uses = 0;
    size_t length;
    for (kn_token_kind kind; (kind = kn_token_scan(text, &length)) != KN_TOKEN_END; text += length)
        for (int w = 0; w < ASKING && kind == KN_TOKEN_NAME && length <= LONGEST; ++w)
            if (strlen(asking[w].word) == length && memcmp(asking[w].word, text, length) == 0 &&
                !is_value(p, asking[w].word))
                uses |= asking[w].uses;
    return uses;
}

static unsigned find_uses(const kn_program *p)
{
    unsigned uses = 0;
    bool asks_place = kn_text_has_word(p->preamble, "get");
    if (kn_text_has_word(p->preamble, "_index"))
        uses |= KN_USES_INDEX_TYPE;
    for (int t = KN_TEXT_LOOP_PREP; t < kn_program_texts(p); ++t) {
        unsigned own = uses_of_text(p, p->text[t]);
        asks_place = asks_place || own & KN_USES_PLACE;
        if (own & KN_USES_INDEXER)
            own |= t >= KN_TEXT_STAGE ? KN_USES_INDEX : KN_USES_INDEXER_OUTSIDE;
        uses |= own & ~(unsigned)KN_USES_PLACE;
    }
    return uses | (uses & KN_USES_INDEXER && asks_place ? KN_USES_PLACE : 0u);
}

static kiln_status copy_list(char ***out, const char *const *list, int count, const char *what)
{
    if (count < 0 || (count > 0 && !list))
        return kn_error(KILN_ERROR_INVALID, "%s: a list of %d texts was given as %s", what, count,
                        list ? "an array" : "NULL");
    if (count == 0)
        return KILN_OK;
    *out = kn_calloc((size_t)count, sizeof **out);
    if (!*out)
        return kn_error_memory(what);
    for (int k = 0; k < count; ++k) {
        if (!list[k])
            return kn_error(KILN_ERROR_INVALID, "%s: text %d is NULL", what, k);
        (*out)[k] = kn_strdup(list[k]);
        if (!(*out)[k])
            return kn_error_memory(what);
    }
    return KILN_OK;
}

static void free_list(char **list, int count)
{
    for (int k = 0; list && k < count; ++k)
        kn_free(list[k]);
    kn_free(list);
}

void kn_program_free(kn_program *p)
{
    if (!p)
        return;
    for (int s = 0; s < p->n_stages; ++s) {
        kn_free(p->stage[s].label);
        kn_free(p->stage[s].body);
        kn_free(p->stage[s].identity);
        kn_free(p->stage[s].value);
    }
    kn_free(p->stage);
    kn_free(p->text);
    kn_free(p->name);
    kn_free(p->preamble);
    kn_free(p->loop_prep);
    kn_free(p->after_loop);
    kn_free(p->param);
    free_list(p->option, p->n_options);
    free_list(p->header_name, p->n_headers);
    free_list(p->header_text, p->n_headers);
    kn_free(p);
}

typedef struct text_copy {
    char **to;
    const char *from;
} text_copy;

static kiln_status copy_each(const text_copy *texts, size_t count)
{
    for (size_t t = 0; t < count; ++t) {
        const char *from = texts[t].from ? texts[t].from : "";
        *texts[t].to = kn_strdup(from);
        if (!*texts[t].to)
            return kn_error_memory("a kernel's text");
    }
    return KILN_OK;
}

static kiln_status copy_stages(kn_program *p, const kn_program_text *given)
{
    p->stage = kn_calloc((size_t)given->n_stages, sizeof *p->stage);
    if (!p->stage)
        return kn_error_memory("a kernel's stages");
    p->n_stages = given->n_stages;
    for (int s = 0; s < given->n_stages; ++s) {
        const kn_stage_text *from = &given->stage[s];
        kn_stage *to = &p->stage[s];
        to->kind = from->kind;
        to->over = from->over;
        p->pattern[s] = kn_stage_letter(from->kind, from->over);
        const text_copy texts[] = {
            {&to->label, from->label}, {&to->body, from->body}, {&to->identity, from->identity}};
        kiln_status status = copy_each(texts, sizeof texts / sizeof texts[0]);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

static kiln_status list_texts(kn_program *p)
{
    size_t count = (size_t)kn_program_texts(p);
    p->text = kn_calloc(count, sizeof *p->text);
    if (!p->text)
        return kn_error_memory("a kernel's texts");
    p->text[KN_TEXT_PREAMBLE] = p->preamble;
    p->text[KN_TEXT_LOOP_PREP] = p->loop_prep;
    p->text[KN_TEXT_AFTER_LOOP] = p->after_loop;
    for (int s = 0; s < p->n_stages; ++s) {
        p->text[KN_TEXT_STAGE + s] = p->stage[s].body;
        p->text[KN_TEXT_STAGE + p->n_stages + s] = p->stage[s].identity;
    }
    return KILN_OK;
}

/* Texts first, so that everything after can rely on them. */
static kiln_status copy_texts(kn_program *p, const kn_program_text *given, const kiln_kernel_options *o)
{
    const text_copy texts[] = {{&p->name, given->name},
                               {&p->preamble, o->preamble},
                               {&p->loop_prep, o->loop_prep},
                               {&p->after_loop, o->after_loop}};
    kiln_status status = copy_each(texts, sizeof texts / sizeof texts[0]);
    if (status == KILN_OK)
        status = copy_stages(p, given);
    if (status == KILN_OK)
        status = list_texts(p);
    if (status == KILN_OK)
        status = copy_list(&p->option, o->compile_options, o->n_compile_options, "compile_options");
    p->n_options = p->option ? o->n_compile_options : 0;
    if (status == KILN_OK)
        status = copy_list(&p->header_name, o->header_names, o->n_headers, "header_names");
    if (status == KILN_OK)
        status = copy_list(&p->header_text, o->header_texts, o->n_headers, "header_texts");
    p->n_headers = p->header_name || p->header_text ? o->n_headers : 0;
    return status;
}

/* The name of a text in messages. */
static const char *text_name(const kn_program *p, int t)
{
    static const char *const names[] = {"preamble", "loop_prep", "after_loop"};
    if (t < KN_TEXT_STAGE)
        return names[t];
    if (t >= KN_TEXT_STAGE + p->n_stages)
        return "identity";
    return p->stage[t - KN_TEXT_STAGE].label[0] ? p->stage[t - KN_TEXT_STAGE].label : "body";
}

static kiln_status check_texts(const kn_program *p)
{
    for (int t = 0; t < kn_program_texts(p); ++t) {
        kiln_status status = kn_snippet_check(p->text[t], text_name(p, t));
        if (status != KILN_OK) {
            kn_error_context("%s", p->name);
            return status;
        }
    }
    return KILN_OK;
}

/* Only parameters resolve placeholders. */
static kiln_status check_value_types(const kn_program *p)
{
    int n_params = p->n_in + p->n_out;
    for (int k = n_params; k < n_params + p->n_values; ++k) {
        bool is_settled = p->param[k].type != KN_TYPE_PLACEHOLDER;
        for (int j = 0; j < n_params && !is_settled; ++j)
            is_settled =
                p->param[j].type == KN_TYPE_PLACEHOLDER && p->param[j].placeholder == p->param[k].placeholder;
        if (!is_settled)
            return kn_error(KILN_ERROR_TYPE, "%s: no parameter is of type %c, in which '%s' is computed",
                            p->name, p->param[k].placeholder, kn_value_name(&p->param[k]));
    }
    return KILN_OK;
}

static kiln_status parse_params(kn_program *p, const kn_program_text *given)
{
    p->param = kn_calloc(2 * KN_MAX_PARAMS, sizeof *p->param);
    if (!p->param)
        return kn_error_memory("parameters");
    kiln_status status =
        kn_signature_parse(p->param, 0, KN_MAX_PARAMS, &p->n_in, given->in, "input", p->preamble);
    if (status == KILN_OK)
        status = kn_signature_parse(p->param, p->n_in, KN_MAX_PARAMS, &p->n_out, given->out, "output",
                                    p->preamble);
    if (status == KILN_OK && given->values)
        status = kn_signature_parse_values(p->param, p->n_in + p->n_out, 2 * KN_MAX_PARAMS, &p->n_values,
                                           given->values, p->preamble);
    if (status != KILN_OK) {
        kn_error_context("%s", p->name);
        return status;
    }
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k)
        if (p->param[k].type == KN_TYPE_STRUCT)
            return kn_error(KILN_ERROR_TYPE,
                            "%s: output '%s' is a struct (%s); outputs are arrays of a dtype", p->name,
                            p->param[k].name, p->param[k].struct_name);
    for (int k = p->n_in + p->n_out; k < p->n_in + p->n_out + p->n_values; ++k)
        if (p->param[k].is_raw || p->param[k].is_non_const)
            return kn_error(KILN_ERROR_INVALID, "%s: '%s' is a value of its own: no parameter, so not raw",
                            p->name, p->param[k].name);
    status = check_value_types(p);
    if (status != KILN_OK)
        return status;
    if (p->n_out == 0)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: the output signature is empty: a kernel needs at least one output", p->name);
    return KILN_OK;
}

/* ---- stages ---- */

/* The value of that name; -1. */
static int find_value(const kn_program *p, const char *name, size_t length)
{
    for (int k = 0; k < p->n_in + p->n_out + p->n_values; ++k)
        if (strlen(p->param[k].name) == length && memcmp(p->param[k].name, name, length) == 0)
            return k;
    return -1;
}

/* Appends the values that "x, t" names; NULL names `count` values from `first` on. */
static kiln_status add_values(kn_program *p, kn_stage *stage, int *added, const char *names, int first,
                              int count)
{
    int at = stage->n_read + stage->n_given, before = at;
    for (int k = 0; !names && k < count; ++k)
        stage->value[at++] = first + k;
    while (names && *names) {
        size_t length = strcspn(names, ", ");
        int k = find_value(p, names, length);
        if (at >= 2 * KN_MAX_PARAMS)
            return kn_error(KILN_ERROR_UNSUPPORTED, "%s: stage '%s' has more than %d values", p->name,
                            stage->label, 2 * KN_MAX_PARAMS);
        if (k < 0)
            return kn_error(KILN_ERROR_INVALID, "%s: stage '%s': there is no value '%.*s'", p->name,
                            stage->label, (int)length, names);
        stage->value[at++] = k;
        names += length;
        names += strspn(names, ", ");
    }
    *added = at - before;
    return KILN_OK;
}

/* The values that are given so far, and where: bits by value are more than 64. */
typedef struct given_values {
    bool is_given[2 * KN_MAX_PARAMS];
    kn_over over[2 * KN_MAX_PARAMS];
} given_values;

static kiln_status check_read(const kn_program *p, const kn_stage *s, int k, const given_values *given)
{
    if (k >= p->n_in && !given->is_given[k])
        return kn_error(KILN_ERROR_INVALID, "%s: stage '%s' reads '%s', which no stage before it gives",
                        p->name, s->label, p->param[k].name);
    if (k >= p->n_in && s->kind != KN_REDUCE && s->over == KN_OVER_RESULTS && given->over[k] == KN_OVER_ALL)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: stage '%s' runs once for all reduced elements, but reads '%s', which each of "
                        "them has of its own",
                        p->name, s->label, p->param[k].name);
    return KILN_OK;
}

static kiln_status check_given(kn_program *p, const kn_stage *s, int k, given_values *given)
{
    if (k < p->n_in || given->is_given[k])
        return kn_error(KILN_ERROR_INVALID, "%s: stage '%s' gives '%s', which is %s", p->name, s->label,
                        p->param[k].name, k < p->n_in ? "an input" : "given before");
    given->is_given[k] = true;
    given->over[k] = s->kind == KN_REDUCE ? KN_OVER_RESULTS : s->over;
    if (k < p->n_in + p->n_out && given->over[k] == KN_OVER_RESULTS)
        p->reduced_outputs |= UINT64_C(1) << (k - p->n_in);
    return KILN_OK;
}

/* A map expression gives one value of the program's own, and a reduction or a scan combines one: parameters
 * have no elements to be combined in. */
static kiln_status check_expression(const kn_program *p, const kn_stage *s)
{
    int first = p->n_in + p->n_out;
    bool gives_one = s->n_given == 1 && s->value[s->n_read] >= first;
    bool reads_one = s->n_read == 1 && s->value[0] >= first;
    if (s->kind == KN_COUNT || s->kind == KN_PLACE || s->kind == KN_RANK || s->kind == KN_TALLY ||
        s->kind == KN_COLUMNS) /* kiln's own */
        return KILN_OK;
    if (s->kind == KN_MAP || (gives_one && (s->kind == KN_MAP_EXPRESSION || reads_one)))
        return KILN_OK;
    return kn_error(KILN_ERROR_INVALID, "%s: stage '%s' %s was expected", p->name, s->label,
                    s->kind == KN_REDUCE ? "reduces: one value of the program's own to another"
                    : kn_stage_scans(s->kind)
                        ? "scans: one value of the program's own to another"
                        : "is an expression: one value of the program's own to be given");
}

/* A text that runs once for all reduced elements is at no place among them. */
static kiln_status check_result_text(const kn_program *p, const kn_stage *s)
{
    static const char *const places[] = {"i", "_J", "_ind"};
    for (size_t w = 0; w < sizeof places / sizeof places[0] && s->over == KN_OVER_RESULTS; ++w)
        if (kn_text_has_word(s->body, places[w]) && !is_value(p, places[w]))
            return kn_error(
                KILN_ERROR_INVALID,
                "%s: %s: '%s' is the index of an element, and this runs once for all elements that "
                "are reduced to one",
                p->name, s->label, places[w]);
    return KILN_OK;
}

static kiln_status connect_stage(kn_program *p, kn_stage *s, const kn_stage_text *text, given_values *given)
{
    size_t bytes = 2 * KN_MAX_PARAMS * sizeof *s->value;
    s->value = kn_malloc(bytes);
    if (!s->value)
        return kn_error_memory("a kernel's stages");
    kiln_status status = add_values(p, s, &s->n_read, text->reads, 0, p->n_in);
    if (status == KILN_OK)
        status = add_values(p, s, &s->n_given, text->gives, p->n_in, p->n_out);
    for (int v = 0; v < s->n_read && status == KILN_OK; ++v)
        status = check_read(p, s, s->value[v], given);
    for (int v = s->n_read; v < s->n_read + s->n_given && status == KILN_OK; ++v)
        status = check_given(p, s, s->value[v], given);
    if (status == KILN_OK)
        status = check_result_text(p, s);
    return status == KILN_OK ? check_expression(p, s) : status;
}

static kiln_status connect_stages(kn_program *p, const kn_program_text *text)
{
    given_values given;
    memset(&given, 0, sizeof given);
    for (int s = 0; s < p->n_stages; ++s) {
        kiln_status status = connect_stage(p, &p->stage[s], &text->stage[s], &given);
        if (status != KILN_OK)
            return status;
    }
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k)
        if (!given.is_given[k] && !p->param[k].is_raw)
            return kn_error(KILN_ERROR_INVALID, "%s: no stage gives output '%s'", p->name, p->param[k].name);
    return KILN_OK;
}

/* ---- making ---- */

/* Labels name functions in the source; the one stage of an elementwise program goes without. */
static kiln_status check_label(const kn_program_text *given, int s)
{
    const char *label = given->stage[s].label;
    bool is_good = label && label[0] ? is_identifier(label) : given->n_stages == 1;
    for (int t = 0; t < s && is_good; ++t)
        is_good = strcmp(given->stage[t].label, label) != 0;
    return is_good ? KILN_OK
                   : kn_error(KILN_ERROR_INVALID,
                              "stage %d: the label '%s' was given; an identifier that no other stage has was "
                              "expected",
                              s, label ? label : "");
}

static kiln_status check_arguments(const kn_program_text *given, const kiln_kernel_options *options)
{
    const unsigned known =
        KILN_KERNEL_FAST_MATH | KILN_KERNEL_NO_FMA | KILN_KERNEL_CHECK | KILN_KERNEL_ROUND_EACH;
    kiln_status status = kn_require_texts("in_params", given->in, "out_params", given->out, NULL);
    if (status != KILN_OK)
        return status;
    if (given->n_stages < 1 || given->n_stages > KN_MAX_STAGES)
        return kn_error(KILN_ERROR_INVALID, "stages: %d were given; 1 to %d were expected", given->n_stages,
                        KN_MAX_STAGES);
    for (int s = 0; s < given->n_stages && status == KILN_OK; ++s)
        status = kn_require_texts("body", given->stage[s].body, NULL);
    for (int s = 0; s < given->n_stages && status == KILN_OK; ++s)
        status = check_label(given, s);
    if (status != KILN_OK)
        return status;
    if (!is_identifier(given->name))
        return kn_error(KILN_ERROR_INVALID,
                        "name: '%s' was given; a C identifier of at most %d characters was expected",
                        given->name, KN_NAME_MAX - 1);
    if (options->flags & ~known)
        return kn_error(
            KILN_ERROR_INVALID, "options.flags: 0x%x was given; only KILN_KERNEL_* (0x%x) are known%s",
            options->flags, known, options->flags & ~(known | SCAN_FLAGS) ? "" : ", those of scans aside");
    return KILN_OK;
}

kiln_status kn_program_read_options(kiln_kernel_options *out, const kiln_kernel_options *given)
{
    *out = (kiln_kernel_options)KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_KERNEL_OPTIONS_INIT");
    out->struct_size = sizeof *out; /* so that a copy with other members set can be read again */
    return status;
}

kiln_status kn_program_read_own_options(kiln_kernel_options *out, const kiln_kernel_options *given)
{
    kiln_status status = kn_program_read_options(out, given);
    if (status == KILN_OK && (out->kernels || out->n_kernels != 0))
        return kn_error(
            KILN_ERROR_INVALID,
            "options.kernels: %d were given, but C++ texts call none; kiln_expression_create takes them",
            out->n_kernels);
    return status;
}

static kiln_status fill(kn_program *p, const kn_program_text *given, const kiln_kernel_options *o)
{
    p->flags = o->flags;
    p->reduced = given->reduced;
    p->casts = given->casts;
    p->is_reversed = given->is_reversed;
    p->is_selection = given->is_selection;
    kiln_status status = copy_texts(p, given, o);
    if (status == KILN_OK && !given->is_sound)
        status = check_texts(p);
    if (status == KILN_OK)
        status = parse_params(p, given);
    if (status == KILN_OK)
        status = connect_stages(p, given);
    if (status == KILN_OK && !given->is_sound)
        status = kn_identifiers_check_outputs(p);
    if (status == KILN_OK && !given->is_sound)
        status = kn_identifiers_find_indexed(&p->indexed, p);
    if (status == KILN_OK && !given->is_sound)
        status = kn_program_find_left(&p->left_outputs, p);
    if (status == KILN_OK)
        p->uses = find_uses(p);
    return status;
}

kiln_status kn_program_create(kn_program **out, const kn_program_text *text)
{
    kiln_kernel_options o;
    kn_program_text given = *text;
    kiln_status status = kn_program_read_options(&o, text->options);
    if (!given.name)
        given.name = "kernel";
    if (status == KILN_OK)
        status = check_arguments(&given, &o);
    if (status != KILN_OK)
        return status;
    kn_program *p = kn_calloc(1, sizeof *p);
    if (!p)
        return kn_error_memory("a program");
    status = fill(p, &given, &o);
    if (status != KILN_OK) {
        kn_program_free(p);
        return status;
    }
    *out = p;
    return KILN_OK;
}

kiln_status kn_program_elementwise(kn_program **out, const char *in_params, const char *out_params,
                                   const char *body, const char *name, const kiln_kernel_options *options)
{
    const kn_stage_text stage = {.kind = KN_MAP, .body = body};
    const kn_program_text text = {
        .name = name, .in = in_params, .out = out_params, .stage = &stage, .n_stages = 1, .options = options};
    kiln_kernel_options o;
    kiln_status status = kn_program_read_own_options(&o, options);
    if (status == KILN_OK && o.reduce_type)
        return kn_error(KILN_ERROR_INVALID,
                        "options.reduce_type: \"%s\" was given, but an elementwise kernel reduces nothing",
                        o.reduce_type);
    return status == KILN_OK ? kn_program_create(out, &text) : status;
}

kiln_status kn_program_written(kn_program **out, kn_str *in_params, kn_str *out_params, kn_str *body,
                               const char *name, const kiln_kernel_options *options)
{
    kn_str *const text[] = {in_params, out_params, body};
    kiln_status status = KILN_OK;
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = kn_str_status(text[k], "the texts of a kernel");
    if (status == KILN_OK)
        status = kn_program_elementwise(out, kn_str_text(in_params), kn_str_text(out_params),
                                        kn_str_text(body), name, options);
    for (int k = 0; k < 3; ++k)
        kn_str_free(text[k]);
    return status;
}
