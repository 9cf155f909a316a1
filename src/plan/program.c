#include "plan/program.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "plan/mentions.h"

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

/* A parameter that is called `n` is meant by that name, as in CuPy. */
static bool is_param(const kn_program *p, const char *name)
{
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        if (strcmp(p->param[k].name, name) == 0)
            return true;
    return false;
}

static unsigned find_uses(const kn_program *p)
{
    static const struct {
        const char *word;
        unsigned uses;
    } words[] = {{"i", KN_USES_INDEX},
                 {"n", KN_USES_COUNT},
                 {"continue", KN_USES_CONTINUE},
                 {"break", KN_USES_CONTINUE}};
    const char *texts[] = {p->body, p->loop_prep, p->after_loop};
    unsigned uses = 0;
    bool asks_place = kn_text_has_word(p->preamble, "get");
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        for (size_t w = 0; w < sizeof words / sizeof words[0]; ++w)
            if (kn_text_has_word(texts[t], words[w].word) && !is_param(p, words[w].word))
                uses |= words[w].uses;
        if (kn_text_has_word(texts[t], "_ind"))
            uses |= KN_USES_COUNT | KN_USES_INDEXER | (t == 0 ? KN_USES_INDEX : KN_USES_INDEXER_OUTSIDE);
        asks_place = asks_place || kn_text_has_word(texts[t], "get") || kn_text_has_word(texts[t], "ndim");
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
        return kn_error_memory((size_t)count * sizeof **out, what);
    for (int k = 0; k < count; ++k) {
        if (!list[k])
            return kn_error(KILN_ERROR_INVALID, "%s: text %d is NULL", what, k);
        (*out)[k] = kn_strdup(list[k]);
        if (!(*out)[k])
            return kn_error_memory(strlen(list[k]), what);
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
    kn_free(p->name);
    kn_free(p->body);
    kn_free(p->preamble);
    kn_free(p->loop_prep);
    kn_free(p->after_loop);
    kn_free(p->param);
    free_list(p->option, p->n_options);
    free_list(p->header_name, p->n_headers);
    free_list(p->header_text, p->n_headers);
    kn_free(p);
}

/* Texts first, so that everything after can rely on them. */
static kiln_status copy_texts(kn_program *p, const char *body, const char *name, const kiln_kernel_options *o)
{
    const struct {
        char **to;
        const char *from;
    } texts[] = {{&p->name, name},
                 {&p->body, body},
                 {&p->preamble, o->preamble},
                 {&p->loop_prep, o->loop_prep},
                 {&p->after_loop, o->after_loop}};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        const char *from = texts[t].from ? texts[t].from : "";
        *texts[t].to = kn_strdup(from);
        if (!*texts[t].to)
            return kn_error_memory(strlen(from), "a kernel's text");
    }
    kiln_status status = copy_list(&p->option, o->compile_options, o->n_compile_options, "compile_options");
    p->n_options = p->option ? o->n_compile_options : 0;
    if (status == KILN_OK)
        status = copy_list(&p->header_name, o->header_names, o->n_headers, "header_names");
    if (status == KILN_OK)
        status = copy_list(&p->header_text, o->header_texts, o->n_headers, "header_texts");
    p->n_headers = p->header_name || p->header_text ? o->n_headers : 0;
    return status;
}

static kiln_status check_texts(const kn_program *p)
{
    const struct {
        const char *text, *what;
    } texts[] = {{p->body, "body"},
                 {p->preamble, "preamble"},
                 {p->loop_prep, "loop_prep"},
                 {p->after_loop, "after_loop"}};
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t) {
        kiln_status status = kn_snippet_check(texts[t].text, texts[t].what);
        if (status != KILN_OK) {
            kn_error_context("%s", p->name);
            return status;
        }
    }
    return KILN_OK;
}

static kiln_status parse_params(kn_program *p, const char *in_params, const char *out_params)
{
    p->param = kn_calloc(KN_MAX_PARAMS, sizeof *p->param);
    if (!p->param)
        return kn_error_memory(KN_MAX_PARAMS * sizeof *p->param, "parameters");
    kiln_status status =
        kn_signature_parse(p->param, 0, KN_MAX_PARAMS, &p->n_in, in_params, "input", p->preamble);
    if (status == KILN_OK)
        status = kn_signature_parse(p->param, p->n_in, KN_MAX_PARAMS, &p->n_out, out_params, "output",
                                    p->preamble);
    if (status != KILN_OK) {
        kn_error_context("%s", p->name);
        return status;
    }
    for (int k = p->n_in; k < p->n_in + p->n_out; ++k)
        if (p->param[k].type == KN_TYPE_STRUCT)
            return kn_error(KILN_ERROR_TYPE,
                            "%s: output '%s' is a struct (%s); outputs are arrays of a dtype", p->name,
                            p->param[k].name, p->param[k].struct_name);
    if (p->n_out == 0)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: the output signature is empty: a kernel needs at least one output", p->name);
    return KILN_OK;
}

static kiln_status check_arguments(const char *in, const char *out, const char *body, const char *name,
                                   const kiln_kernel_options *options)
{
    const unsigned known = KILN_KERNEL_FAST_MATH | KILN_KERNEL_NO_FMA;
    if (!in || !out || !body)
        return kn_error(KILN_ERROR_INVALID, "%s is NULL; a string was expected",
                        !in    ? "in_params"
                        : !out ? "out_params"
                               : "body");
    if (!is_identifier(name))
        return kn_error(KILN_ERROR_INVALID,
                        "name: '%s' was given; a C identifier of at most %d characters was expected", name,
                        KN_NAME_MAX - 1);
    if (options->flags & ~known)
        return kn_error(KILN_ERROR_INVALID,
                        "options.flags: 0x%x was given; only KILN_KERNEL_* (0x%x) are known", options->flags,
                        known);
    return KILN_OK;
}

kiln_status kn_program_elementwise(kn_program **out, const char *in_params, const char *out_params,
                                   const char *body, const char *name, const kiln_kernel_options *options)
{
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    if (options && options->struct_size > sizeof o)
        return kn_error(KILN_ERROR_INVALID,
                        "options.struct_size: %zu was given; at most %zu was expected (start from "
                        "KILN_KERNEL_OPTIONS_INIT)",
                        options->struct_size, sizeof o);
    if (options)
        memcpy(&o, options, options->struct_size);
    if (!name)
        name = "kernel";
    kiln_status status = check_arguments(in_params, out_params, body, name, &o);
    if (status != KILN_OK)
        return status;

    kn_program *p = kn_calloc(1, sizeof *p);
    if (!p)
        return kn_error_memory(sizeof *p, "a program");
    p->kind = KN_ELEMENTWISE;
    p->flags = o.flags;
    status = copy_texts(p, body, name, &o);
    if (status == KILN_OK)
        status = check_texts(p);
    if (status == KILN_OK)
        status = parse_params(p, in_params, out_params);
    if (status == KILN_OK)
        status = kn_mentions_check_outputs(p);
    if (status == KILN_OK)
        status = kn_mentions_find_indexed(&p->indexed, p);
    if (status != KILN_OK) {
        kn_program_free(p);
        return status;
    }
    p->uses = find_uses(p);
    *out = p;
    return KILN_OK;
}
