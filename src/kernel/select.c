/* kernel/select.c - selections: a scan counts the selected elements, and stores each by its number.
 *
 * A call has quick steps, too (kn_lowering_call.is_quick): a map of the predicate, a scan that numbers what
 * it selects, which is the same for all selections, and a map of the body. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "program/program.h"
#include "space/shape.h"

/* The bytes of the buffers of quick steps at most, which the best one does without. */
enum { MOST_QUICK = 1 << 27 };

typedef struct selection {
    kiln_kernel *kernel;
    kiln_kernel *keep, *number, *put; /* quick steps; NULL */
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

/* ---- quick steps ---- */

static bool has_quick(const selection *s, const kn_lowering_call *call, int64_t elements)
{
    return s->put && call->target->backend == KN_CUDA && elements > 0 &&
           elements <= MOST_QUICK / (int64_t)(sizeof(bool) + sizeof(int64_t));
}

typedef struct quick {
    kn_lowered *out;
    const selection *s;
    const kn_lowering_call *call;
    const kn_described *in;
    int ndim;
    int64_t shape[KILN_MAX_NDIM], elements;
    kn_source chosen, numbers;
} quick;

/* Binds the user's inputs to the parameters from `at` on. */
static kiln_status bind_inputs(kn_lowered_part *part, int at, const quick *q)
{
    const kn_program *p = q->s->kernel->program;
    kiln_status status = KILN_OK;
    for (int k = 0; k < p->n_in && status == KILN_OK; ++k)
        status = kn_lowered_bind_input(part, at + k, q->call, k, kn_described_dtype(p, &p->param[k], q->in));
    return status;
}

static kiln_status add_keep(quick *q)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, q->out, q->s->keep);
    if (status == KILN_OK)
        status = bind_inputs(part, 0, q);
    return status == KILN_OK ? kn_lowered_bind(part, part->program->n_in, q->call, &q->chosen, KILN_BOOL,
                                               q->ndim, q->shape, NULL)
                             : status;
}

static kiln_status add_number(quick *q)
{
    const kn_source count = {.kind = KN_FROM_OUTPUT, .index = q->s->kernel->program->n_out - 1};
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, q->out, q->s->number);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, q->call, &q->chosen, KILN_BOOL, 1, &q->elements, NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, q->call, &q->numbers, KILN_INT64, 1, &q->elements, NULL);
    return status == KILN_OK ? kn_lowered_bind(part, 2, q->call, &count, KILN_INT64, 0, NULL, NULL) : status;
}

static kiln_status add_put(quick *q)
{
    const int n_out = q->s->kernel->program->n_out - 1;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, q->out, q->s->put);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, q->call, &q->chosen, KILN_BOOL, q->ndim, q->shape, NULL);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, q->call, &q->numbers, KILN_INT64, q->ndim, q->shape, NULL);
    if (status == KILN_OK)
        status = bind_inputs(part, 2, q);
    for (int j = 0; j < n_out && status == KILN_OK; ++j) {
        kn_described result = {.ndim = 0};
        status = describe(&result, q->s, j, q->in);
        if (status == KILN_OK)
            status = bind_output(part, j, q->call, &result);
    }
    return status;
}

static kiln_status add_quick(kn_lowered *out, const selection *s, const kn_lowering_call *call,
                             const kn_described *in, int64_t elements)
{
    quick q = {.out = out, .s = s, .call = call, .in = in, .elements = elements};
    kiln_status status = kn_describe_elements(&q.ndim, q.shape, s->kernel->program, in, "select from");
    if (status == KILN_OK)
        status = kn_lowered_add_source(&q.chosen, out, (size_t)elements * sizeof(bool));
    if (status == KILN_OK)
        status = kn_lowered_add_source(&q.numbers, out, (size_t)elements * sizeof(int64_t));
    if (status == KILN_OK)
        status = add_keep(&q);
    if (status == KILN_OK)
        status = add_number(&q);
    return status == KILN_OK ? add_put(&q) : status;
}

/* ---- lowering ---- */

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
    out->has_quick = status == KILN_OK && has_quick(s, call, elements);
    if (status == KILN_OK)
        status = elements == 0                      ? add_clear(out, call, &count)
                 : call->is_quick && out->has_quick ? add_quick(out, s, call, in, elements)
                                                    : add_scan(out, s, call, in);
    for (int j = 0; j < p->n_out - 1; ++j)
        out->late[j] = (kn_late){true, count, 0};
    kn_free(in);
    return status;
}

static void release(void *context)
{
    selection *s = context;
    if (!s)
        return;
    kiln_kernel_free(s->kernel);
    kiln_kernel_free(s->keep);
    kiln_kernel_free(s->number);
    kiln_kernel_free(s->put);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

/* ---- making ---- */

/* The program's texts; quick: those of the maps of the predicate and of the body. */
typedef struct texts {
    kn_str outs, keep, put, reads;
    struct {
        kn_str in, outs, keep, put, reads_of_keep, reads_of_put;
    } quick;
} texts;
enum { TEXTS = sizeof(texts) / sizeof(kn_str) };

static void free_texts(texts *t)
{
    kn_str *each = (kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        kn_str_free(&each[k]);
}

static kiln_status check_texts(const texts *t)
{
    const kn_str *each = (const kn_str *)t;
    for (int k = 0; k < TEXTS; ++k)
        if (each[k].failed)
            return kn_error_memory("a selection's texts");
    return KILN_OK;
}

/* The names of the inputs that are read element by element and that the text has, behind others. */
static void put_reads(kn_str *to, const char *others, const kn_param *param, int n_in, const char *text)
{
    const char *separator = others[0] ? ", " : "";
    kn_str_append(to, others);
    for (int k = 0; k < n_in; ++k)
        if (!param[k].is_raw && kn_text_has_word(text, param[k].name)) {
            kn_str_printf(to, "%s%s", separator, param[k].name);
            separator = ", ";
        }
}

static void write_quick(texts *t, const char *in_params, const kn_param *param, int n_in, int n_out,
                        const char *keep, const char *body)
{
    const char *separator = "";
    kn_str names = KN_STR_INIT, places = KN_STR_INIT;
    kn_str_printf(&t->quick.in, "bool _chosen, int64 _number, %s", in_params);
    kn_str_printf(&t->quick.keep, "_chosen = (%s\n) ? 1 : 0", keep);
    put_reads(&t->quick.reads_of_keep, "", param, n_in, keep);
    put_reads(&t->quick.reads_of_put, "_chosen, _number", param, n_in, body);
    kn_str_append(&t->quick.put, "if (_chosen");
    for (int k = n_in; k < n_in + n_out; ++k) {
        kn_param raw = param[k];
        raw.is_raw = true;
        kn_str_append(&t->quick.outs, separator);
        kn_param_format(&t->quick.outs, &raw);
        kn_str_printf(&t->quick.put, " && _number <= %s.size()", raw.name);
        kn_str_printf(&names, "%sauto &%s", separator, raw.name);
        kn_str_printf(&places, "%s%s[_number - 1]", separator, raw.name);
        separator = ", ";
    }
    kn_str_printf(&t->quick.put, ")\n[&](%s) {\n%s;\n}(%s)", kn_str_text(&names), body, kn_str_text(&places));
    t->quick.put.failed |= names.failed || places.failed;
    kn_str_free(&names);
    kn_str_free(&places);
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
    kiln_status status = check_texts(t);
    return status == KILN_OK ? kn_kernel_create_text(out, &text) : status;
}

static kiln_status make_map(kiln_kernel **out, const char *in, const char *outs, const kn_stage_text *stage,
                            const char *name, const kiln_kernel_options *options)
{
    const kn_program_text text = {
        .name = name, .in = in, .out = outs, .values = "", .stage = stage, .n_stages = 1, .options = options};
    return kn_kernel_create_text(out, &text);
}

/* It has none of the user's texts: bundles have it. */
static kiln_status make_number(kiln_kernel **out)
{
    const kn_stage_text stages[] = {
        {.kind = KN_MAP_EXPRESSION,
         .label = "keep",
         .reads = "_chosen",
         .gives = "_kn_kept",
         .body = "_chosen ? 1 : 0"},
        {.kind = KN_SCAN, .label = "scan", .reads = "_kn_kept", .gives = "_kn_number", .body = "a + b"},
        {.kind = KN_MAP,
         .label = "body",
         .reads = "_kn_number, _chosen",
         .gives = "",
         .body = "if (_chosen) _numbers[_J] = kn_number;\nif (_J + 1 == _in_ind.size()) _count[0] = "
                 "kn_number;\n"}};
    const kn_program_text text = {.name = "select_numbers",
                                  .in = "bool _chosen",
                                  .out = "raw int64 _numbers, raw int64 _count",
                                  .values = "int64 _kn_kept, int64 _kn_number",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = KN_REDUCED_BY_CALL,
                                  .is_selection = true};
    return kn_kernel_create_text(out, &text);
}

/* Names of the maps' own parameters. */
static bool has_name_of_quick(const kn_program *p)
{
    bool has = false;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        has = has || strcmp(p->param[k].name, "_chosen") == 0 || strcmp(p->param[k].name, "_number") == 0;
    return has;
}

static kiln_status make_quick(selection *s, const char *in_params, const texts *t, const char *name,
                              const kiln_kernel_options *options)
{
    if (options->flags & KILN_KERNEL_CHECK || has_name_of_quick(s->kernel->program))
        return KILN_OK; /* reports are those of the best step */
    const kn_stage_text keep = {.kind = KN_MAP,
                                .label = "",
                                .reads = kn_str_text(&t->quick.reads_of_keep),
                                .gives = "_chosen",
                                .body = kn_str_text(&t->quick.keep)},
                        put = {.kind = KN_MAP,
                               .label = "",
                               .reads = kn_str_text(&t->quick.reads_of_put),
                               .gives = "",
                               .body = kn_str_text(&t->quick.put)};
    kiln_status status = make_map(&s->keep, in_params, "bool _chosen", &keep, name, options);
    if (status == KILN_OK)
        status = make_number(&s->number);
    return status == KILN_OK ? make_map(&s->put, kn_str_text(&t->quick.in), kn_str_text(&t->quick.outs), &put,
                                        name, options)
                             : status;
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

/* A kernel whose calls are the scan's; s is taken over. */
static kiln_status make_selection(kiln_kernel **out, selection *s)
{
    const kn_program *p = s->kernel->program;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    kiln_status status = KILN_OK;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        names[k] = p->param[k].name;
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, p->name, names, p->n_in, names + p->n_in, p->n_out);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
}

kiln_status kiln_select_create(kiln_kernel **out, const char *in_params, const char *out_params,
                               const char *keep, const char *body, const char *name,
                               const kiln_kernel_options *options)
{
    kn_param param[KN_MAX_PARAMS];
    kiln_kernel_options o;
    texts t = {.outs = KN_STR_INIT};
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
    selection *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("a selection");
    write_texts(&t, param, n_in, n_out, keep, body);
    write_quick(&t, in_params, param, n_in, n_out, keep, body);
    status = make_kernel(&s->kernel, in_params, &t, name, &o);
    if (status == KILN_OK)
        status = make_quick(s, in_params, &t, name, &o);
    free_texts(&t);
    if (status == KILN_OK)
        return make_selection(out, s);
    release(s);
    return status;
}
