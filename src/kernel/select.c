/* kernel/select.c - selections: a scan counts the selected elements, and stores each by its number. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "program/program.h"
#include "space/shape.h"

typedef struct selection {
    kiln_kernel *kernel;
} selection;

/* ---- results ---- */

/* The elements that inputs broadcast to. */
static kiln_status count_elements(int64_t *out, const kn_program *p, const kn_described *in)
{
    int64_t shape[KILN_MAX_NDIM];
    int ndim;
    kiln_status status = kn_describe_elements(&ndim, shape, p, in, "select from");
    if (status == KILN_OK)
        *out = kn_shape_size(ndim, shape);
    return status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const kn_program *p = ((const selection *)context)->kernel->program;
    bool is_count = j == p->n_out - 1;
    kiln_status status = count_elements(&out->shape[0], p, in);
    if (status == KILN_OK)
        status = kn_describe_check_inputs(p, in);
    out->dtype = kn_described_dtype(p, &p->param[p->n_in + j], in);
    out->ndim = is_count ? 0 : 1;
    out->is_late = out->takes_any = !is_count;
    if (status == KILN_OK && !out->dtype)
        return kn_error(KILN_ERROR_TYPE, "%s: output '%s': no input settles type %c", p->name,
                        p->param[p->n_in + j].name, p->param[p->n_in + j].placeholder);
    return status;
}

/* ---- steps ---- */

/* value: the count. Of no elements nothing is launched that would write it. */
static kiln_status clear(kn_device *device, const void *const *value, void *stream)
{
    static const unsigned char zero = 0;
    return device->backend->fill(device, (void *)(uintptr_t)value[0], &zero, 1, sizeof(int64_t), stream);
}

static kiln_status add_clear(kn_lowered *out, const kn_lowering_call *call, const kn_source *count)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_function(&part, out, "no_elements", clear, 1);
    return status == KILN_OK ? kn_lowered_bind(part, 0, call, count, KILN_INT64, 0, NULL, NULL) : status;
}

static kiln_status bind_output(kn_lowered_part *part, int j, const kn_lowering_call *call,
                               const kn_described *result)
{
    const kiln_array *given = call->out ? call->out[j] : NULL;
    int64_t size = given && result->ndim > 0 ? given->shape[0] : result->shape[0];
    return kn_lowered_bind_output(part, part->program->n_in + j, call, j, result->dtype, result->ndim, &size);
}

static kiln_status add_scan(kn_lowered *out, const selection *s, const kn_lowering_call *call,
                            const kn_described *in)
{
    const kn_program *p = s->kernel->program;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->kernel);
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, k, call, k, kn_described_dtype(p, &p->param[k], in));
    for (int j = 0; j < p->n_out && status == KILN_OK; ++j) {
        kn_described result = {.ndim = 0};
        status = describe(&result, s, j, in);
        if (status == KILN_OK)
            status = bind_output(part, j, call, &result);
    }
    return status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const selection *s = context;
    const kn_program *p = s->kernel->program;
    const kn_source count = {.kind = KN_FROM_OUTPUT, .index = p->n_out - 1};
    size_t bytes = (size_t)(p->n_in + 1) * sizeof(kn_described);
    kn_described *in = kn_calloc(1, bytes);
    int64_t elements = 0;
    if (!in)
        return kn_error_memory("a selection");
    kn_describe_arguments(in, call->in, p->n_in);
    kiln_status status = count_elements(&elements, p, in);
    if (status == KILN_OK)
        status = elements == 0 ? add_clear(out, call, &count) : add_scan(out, s, call, in);
    for (int j = 0; j < p->n_out - 1; ++j)
        out->late[j] = (kn_late){true, count, 0};
    kn_free(in);
    return status;
}

static void release(void *context)
{
    selection *s = context;
    if (s)
        kiln_kernel_free(s->kernel);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

/* The program's texts. */
typedef struct texts {
    kn_str outs, keep, put, reads;
} texts;

static void free_texts(texts *t)
{
    kn_str_free(&t->outs);
    kn_str_free(&t->keep);
    kn_str_free(&t->put);
    kn_str_free(&t->reads);
}

/* A selected element is stored by a function of the references that the body assigns; outputs may have less
 * capacity than there are such elements. */
static void write_texts(texts *t, const kn_param *param, int n_in, int n_out, const char *keep,
                        const char *body)
{
    kn_str names = KN_STR_INIT, places = KN_STR_INIT;
    kn_str_append(&t->reads, "_kn_number");
    for (int k = 0; k < n_in; ++k)
        if (kn_text_has_word(keep, param[k].name) || kn_text_has_word(body, param[k].name))
            kn_str_printf(&t->reads, ", %s", param[k].name);
    kn_str_printf(&t->keep, "(%s\n) ? 1 : 0", keep);
    kn_str_printf(&t->put, "if ((%s\n)", keep);
    for (int k = n_in; k < n_in + n_out; ++k) {
        kn_param raw = param[k];
        raw.is_raw = true;
        kn_param_format(&t->outs, &raw);
        kn_str_append(&t->outs, ", ");
        kn_str_printf(&t->put, " && kn_number <= %s.size()", raw.name);
        kn_str_printf(&names, "%sauto &%s", k > n_in ? ", " : "", raw.name);
        kn_str_printf(&places, "%s%s[kn_number - 1]", k > n_in ? ", " : "", raw.name);
    }
    kn_str_append(&t->outs, "raw int64 count");
    kn_str_printf(&t->put, ")\n[&](%s) {\n%s;\n}(%s);\nif (_J + 1 == _in_ind.size()) count[0] = kn_number;\n",
                  kn_str_text(&names), body, kn_str_text(&places));
    t->put.failed |= names.failed || places.failed;
    kn_str_free(&names);
    kn_str_free(&places);
}

static kiln_status make_kernel(kiln_kernel **out, const char *in_params, const texts *t, const char *name,
                               const kiln_kernel_options *options)
{
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION, .label = "keep", .gives = "_kn_kept", .body = kn_str_text(&t->keep)},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_kept", .gives = "_kn_number", .body = "a + b"},
        {.kind = KN_MAP, .label = "body", .reads = kn_str_text(&t->reads), .body = kn_str_text(&t->put)}};
    const kn_program_text text = {.name = name,
                                  .in = in_params,
                                  .out = kn_str_text(&t->outs),
                                  .values = "int64 _kn_kept, int64 _kn_number",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .is_selection = true,
                                  .options = options};
    /* Elements behind the selected ones are no results. */
    return t->outs.failed || t->keep.failed || t->put.failed || t->reads.failed
               ? kn_error_memory("a selection's texts")
               : kn_kernel_create_text(out, &text);
}

static kiln_status check_params(const kn_param *param, int n_in, int n_out, const char *body)
{
    for (int k = n_in; k < n_in + n_out; ++k)
        if (!kn_text_has_word(body, param[k].name))
            return kn_error(KILN_ERROR_INVALID,
                            "body: output '%s' is not in \"%s\"; an assignment was expected", param[k].name,
                            body);
    for (int k = 0; k < n_in + n_out; ++k)
        if (param[k].type == KN_TYPE_STRUCT || param[k].is_non_const || (k >= n_in && param[k].is_raw))
            return kn_error(KILN_ERROR_INVALID,
                            "'%s' is %s; a selection has inputs of a dtype, and outputs that are not raw",
                            param[k].name,
                            param[k].type == KN_TYPE_STRUCT ? "a struct"
                            : param[k].is_non_const         ? "_non_const"
                                                            : "a raw output");
    return n_out > 0 ? KILN_OK
                     : kn_error(KILN_ERROR_INVALID, "the output signature is empty: a selection needs at "
                                                    "least one output beside its count");
}

/* A kernel whose calls are the scan's; context and scan are taken over. */
static kiln_status make_selection(kiln_kernel **out, kiln_kernel *scan)
{
    const kn_program *p = scan->program;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    selection *s = kn_calloc(1, sizeof *s);
    kiln_status status = s ? KILN_OK : kn_error_memory("a selection");
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        names[k] = p->param[k].name;
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, p->name, names, p->n_in, names + p->n_in, p->n_out);
    if (status != KILN_OK) {
        kn_free(s);
        kiln_kernel_free(scan);
        return status;
    }
    s->kernel = scan;
    return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
}

kiln_status kiln_select_create(kiln_kernel **out, const char *in_params, const char *out_params,
                               const char *keep, const char *body, const char *name,
                               const kiln_kernel_options *options)
{
    kn_param param[KN_MAX_PARAMS];
    kiln_kernel_options o;
    kiln_kernel *scan = NULL;
    texts t = {KN_STR_INIT, KN_STR_INIT, KN_STR_INIT, KN_STR_INIT};
    int n_in = 0, n_out = 0;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_require_texts("in_params", in_params, "out_params", out_params, "keep", keep, "body", body, NULL);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status == KILN_OK)
        status = kn_signature_parse(param, 0, KN_MAX_PARAMS, &n_in, in_params, "input", o.preamble);
    if (status == KILN_OK)
        status = kn_signature_parse(param, n_in, KN_MAX_PARAMS - 1, &n_out, out_params, "output", o.preamble);
    if (status == KILN_OK)
        status = check_params(param, n_in, n_out, body);
    if (status != KILN_OK) {
        kn_error_context("%s", name ? name : "kernel");
        return status;
    }
    write_texts(&t, param, n_in, n_out, keep, body);
    status = make_kernel(&scan, in_params, &t, name, &o);
    free_texts(&t);
    return status == KILN_OK ? make_selection(out, scan) : status;
}
