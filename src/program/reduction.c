/* program/reduction.c - a reduction as a program: a map expression, a reduce, and statements that store its
 * result. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "program/program.h"

/* "_wide float16": the reduce type, where the options say none: that of the first output. */
static kiln_status find_type(kn_str *out, const char *out_params, const kiln_kernel_options *o)
{
    kn_param param[KN_MAX_PARAMS];
    int count = 0;
    kiln_status status = KILN_OK;
    if (!o->reduce_type)
        status = kn_signature_parse(param, 0, KN_MAX_PARAMS, &count, out_params, "output", o->preamble);
    if (status != KILN_OK)
        return status;
    bool is_none = !o->reduce_type && count == 0; /* any type will do: checking the outputs refuses it */
    kn_str_append(out, o->reduce_type ? o->reduce_type : is_none ? "bool" : "_wide ");
    if (o->reduce_type || is_none)
        return KILN_OK;
    kn_str text = KN_STR_INIT;
    param[0].is_raw = param[0].is_non_const = false;
    kn_param_format(&text, &param[0]);
    kn_str_append_n(out, kn_str_text(&text), strcspn(kn_str_text(&text), " "));
    out->failed = out->failed || text.failed;
    kn_str_free(&text);
    return KILN_OK;
}

static kiln_status check_given(const char *map, const char *reduce, const char *post, const char *out_params)
{
    const struct {
        const char *text, *what;
    } given[] = {{out_params, "out_params"}, {map, "map"}, {reduce, "reduce"}, {post, "post"}};
    for (size_t t = 0; t < sizeof given / sizeof given[0]; ++t)
        if (!given[t].text)
            return kn_error(KILN_ERROR_INVALID, "%s is NULL; a string was expected", given[t].what);
    return KILN_OK;
}

kiln_status kn_program_reduction(kn_program **out, const char *in_params, const char *out_params,
                                 const char *map, const char *reduce, const char *post, const char *identity,
                                 const char *name, const kiln_kernel_options *options)
{
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "map", .gives = "_kn_mapped", .body = map},
        {.kind = KN_REDUCE,
         .label = "reduce",
         .reads = "_kn_mapped",
         .gives = "_a",
         .body = reduce,
         .identity = identity},
        {.kind = KN_MAP, .over = KN_OVER_RESULTS, .label = "post", .reads = "_a", .body = post}};
    kn_program_text text = {.name = name,
                            .in = in_params,
                            .out = out_params,
                            .stage = stages,
                            .n_stages = 3,
                            .reduced = KN_REDUCED_BY_CALL,
                            .options = options};
    kiln_kernel_options o;
    kn_str type = KN_STR_INIT, values = KN_STR_INIT;
    kiln_status status = check_given(map, reduce, post, out_params);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status == KILN_OK)
        status = find_type(&type, out_params, &o);
    if (status == KILN_OK) {
        kn_str_printf(&values, "%s _kn_mapped, %s _a", kn_str_text(&type), kn_str_text(&type));
        status = type.failed ? kn_str_status(&type, "a type") : kn_str_status(&values, "a program's values");
    }
    text.values = kn_str_text(&values);
    if (status == KILN_OK)
        status = kn_program_create(out, &text);
    else
        kn_error_context("%s", name ? name : "kernel");
    kn_str_free(&type);
    kn_str_free(&values);
    return status;
}
