/* program/reduction.c - reductions and scans as programs: a map expression, a reduce or a scan, and
 * statements that store its result. */
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

/* Makes the program of texts whose values, what is mapped and what is combined, are of that type. */
static kiln_status create(kn_program **out, kn_program_text *text, const char *out_params,
                          const kiln_kernel_options *o)
{
    kn_str type = KN_STR_INIT, values = KN_STR_INIT;
    kiln_status status = find_type(&type, out_params, o);
    if (status == KILN_OK) {
        kn_str_printf(&values, "%s _kn_mapped, %s _a", kn_str_text(&type), kn_str_text(&type));
        status = type.failed ? kn_str_status(&type, "a type") : kn_str_status(&values, "a program's values");
    }
    text->values = kn_str_text(&values);
    if (status == KILN_OK)
        status = kn_program_create(out, text);
    else
        kn_error_context("%s", text->name ? text->name : "kernel");
    kn_str_free(&type);
    kn_str_free(&values);
    return status;
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
    kiln_status status =
        kn_require_texts("out_params", out_params, "map", map, "reduce", reduce, "post", post, NULL);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status != KILN_OK)
        kn_error_context("%s", name ? name : "kernel");
    return status == KILN_OK ? create(out, &text, out_params, &o) : status;
}

/* "_a, x": what the last stage of a scan reads. */
static kiln_status find_reads(kn_str *out, const char *in_params, const char *post, const char *preamble)
{
    kn_param param[KN_MAX_PARAMS];
    int count = 0;
    kiln_status status = KILN_OK;
    if (in_params)
        status = kn_signature_parse(param, 0, KN_MAX_PARAMS, &count, in_params, "input", preamble);
    kn_str_append(out, "_a");
    for (int k = 0; k < count && status == KILN_OK; ++k)
        if (kn_text_has_word(post, param[k].name))
            kn_str_printf(out, ", %s", param[k].name);
    return status == KILN_OK ? kn_str_status(out, "a program's values") : status;
}

/* The flags of scans become stages of the program; it has the others. */
static kiln_status read_scan_options(kiln_kernel_options *o, bool *is_exclusive, bool *is_reversed,
                                     const kiln_kernel_options *given, const char *identity)
{
    kiln_status status = kn_program_read_own_options(o, given);
    if (status != KILN_OK)
        return status;
    *is_exclusive = o->flags & KILN_KERNEL_EXCLUSIVE;
    *is_reversed = o->flags & KILN_KERNEL_REVERSED;
    o->flags &= ~(unsigned)(KILN_KERNEL_EXCLUSIVE | KILN_KERNEL_REVERSED);
    if (*is_exclusive && (!identity || !identity[0]))
        return kn_error(KILN_ERROR_INVALID,
                        "identity: none was given; an exclusive scan's first result is the "
                        "identity, so an expression was expected");
    return KILN_OK;
}

kiln_status kn_program_scan(kn_program **out, const char *in_params, const char *out_params, const char *map,
                            const char *scan, const char *post, const char *identity, const char *name,
                            const kiln_kernel_options *options)
{
    kiln_kernel_options o;
    bool is_exclusive = false, is_reversed = false;
    kn_str reads = KN_STR_INIT;
    kiln_status status =
        kn_require_texts("out_params", out_params, "map", map, "scan", scan, "post", post, NULL);
    if (status == KILN_OK)
        status = read_scan_options(&o, &is_exclusive, &is_reversed, options, identity);
    if (status == KILN_OK)
        status = find_reads(&reads, in_params, post, o.preamble);
    if (status != KILN_OK) {
        kn_error_context("%s", name ? name : "kernel");
        goto out;
    }
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "map", .gives = "_kn_mapped", .body = map},
        {.kind = is_exclusive ? KN_SCAN_EXCLUSIVE : KN_SCAN,
         .label = "scan",
         .reads = "_kn_mapped",
         .gives = "_a",
         .body = scan,
         .identity = identity},
        {.kind = KN_MAP, .label = "post", .reads = kn_str_text(&reads), .body = post}};
    kn_program_text text = {.name = name,
                            .in = in_params,
                            .out = out_params,
                            .stage = stages,
                            .n_stages = 3,
                            .reduced = KN_REDUCED_BY_CALL,
                            .is_reversed = is_reversed,
                            .options = &o};
    status = create(out, &text, out_params, &o);
out:
    kn_str_free(&reads);
    return status;
}
