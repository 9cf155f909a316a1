/* Functions that inspect a call without running it: prepare, source, explain. */
#include "kernel/used.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/log.h"
#include "base/thread.h"
#include "schedule/kind.h"
#include "schedule/layout.h"
#include "space/shape.h"
#include "schedules/spec_text.h"

/* A text that leaves the library: malloc'd, whatever the library allocates with. */
static kiln_status hand_out(char **out, kn_str *text)
{
    kiln_status status = kn_str_status(text, "a text");
    char *copy = status == KILN_OK ? kn_malloc(text->length + 1) : NULL;
    if (status == KILN_OK && !copy)
        status = kn_error_memory("a text");
    if (status == KILN_OK) {
        memcpy(copy, kn_str_text(text), text->length + 1);
        *out = copy;
    }
    return status;
}

/* The specialisation that calls take: KILN_FORMS=quick asks for the baseline tier, which may keep the order
 * of another kernel. */
typedef struct shown {
    kn_spec spec;
    const kn_spec *order; /* NULL: it has one of its own */
} shown;

static void find_shown(shown *out, const kn_resolved *r)
{
    bool is_baseline = kn_tiers_mode() == KILN_FORMS_QUICK && kn_resolved_make_baseline(&out->spec, r, 0) &&
                       (out->spec.schedule.baseline || out->spec.schedule.kind->keeps_order);
    out->order = is_baseline && out->spec.schedule.kind->keeps_order ? &r->spec : NULL;
    if (!is_baseline)
        out->spec = r->spec;
}

static kiln_status put_line(kn_str *text, const kn_resolved *r)
{
    shown s;
    find_shown(&s, r);
    kn_spec_format(text, &s.spec);
    return kn_str_status(text, "a specialisation");
}

static kiln_status put_source(kn_str *text, const kn_resolved *r)
{
    shown s;
    kn_compile_job job;
    find_shown(&s, r);
    kiln_status status = kn_compile_job_of_program(&job, &s.spec);
    if (status == KILN_OK)
        status = kn_build_source(text, &job);
    kn_compile_job_free(&job);
    return status;
}

/* One launch. */
static kiln_status put_launch(void *user, const kn_part *part, const kn_placement *placed)
{
    kn_str *text = user;
    const kn_kind *kind = part->spec->schedule.kind;
    kn_str_printf(text, "elements=\"%lld\"", (long long)part->space->size);
    if (part->spec->target.backend == KN_CUDA)
        kn_str_printf(text, " grid=\"%ux%u\" block=\"%u\" shared=\"%u\"", placed->grid[0], placed->grid[1],
                      placed->block, placed->shared_bytes);
    if (placed->partials || placed->counters)
        kn_str_printf(text, " partials=\"%lld\" counters=\"%d\"", (long long)placed->partials,
                      placed->counters);
    if (kind->describe && part->layout->own_size > 0)
        kind->describe(text, placed->field);
    kn_str_append(text, "\n");
    kn_loop_nest_free(placed->loop_nest);
    return KILN_OK;
}

static kiln_status put_launches(kn_str *text, const kn_resolved *r)
{
    shown s;
    kn_layout layout;
    find_shown(&s, r);
    const kn_part whole = {&s.spec, &layout, &r->launch_params, &r->space, &r->space, s.order};
    kiln_status status = kn_layout_make(&layout, &s.spec);
    return status == KILN_OK ? kn_part_each_launch(&whole, put_launch, text) : status;
}

/* Each of the programs that a call runs. */
static kiln_status put_all(kn_str *text, const kn_inspected *call,
                           kiln_status (*writer)(kn_str *, const kn_resolved *))
{
    kiln_status status = KILN_OK;
    for (int p = 0; p < call->count && status == KILN_OK; ++p)
        status = writer(text, call->resolved[p]);
    return status;
}

/* The bytes behind a parameter of a step: no more than its buffer, or the call's own result, has. */
static double bytes_behind(const kn_lowered *l, const kn_lowered_part *part, int k)
{
    const kn_source *s = &part->source[k];
    const kn_array_layout *result = s->kind == KN_FROM_OUTPUT && l->layout ? &l->layout[s->index] : NULL;
    const double bytes = kn_lowered_bytes(part->binding.array[k]);
    const double most = s->kind == KN_FROM_BUFFER ? (double)l->buffer[s->index].size
                        : result                  ? (double)result->bytes
                                                  : bytes;
    return bytes < most ? bytes : most;
}

/* The bytes of a step of an algorithm. Raw inputs are left out: how much of them is read depends on elements;
 * of raw outputs all may be written. */
static void count_bytes(double *read, double *written, const kn_lowered *l, const kn_lowered_part *part)
{
    *read = *written = 0;
    for (int k = 0; k < kn_lowered_params(part); ++k) {
        const bool is_out = part->program ? k >= part->program->n_in : k == 0;
        if (part->binding.array[k] && (is_out || part->binding.operand[k].pass == KN_PASS_ARRAY))
            *(is_out ? written : read) += bytes_behind(l, part, k);
    }
}

static void put_label(kn_str *text, const kn_lowered *l, const kn_lowered_part *part)
{
    double read, written;
    if (!part->label)
        return;
    kn_str_printf(text, part->program ? "# %s" : "# %s: a function", part->label);
    count_bytes(&read, &written, l, part);
    if (part->is_inner && part->program)
        kn_str_printf(text, ": reads %.0f bytes; writes %.0f at most", read, written);
    kn_str_append(text, "\n");
}

/* The steps of algorithms, which the number of kernels counts as one each. */
static void put_steps(kn_str *text, const kn_lowered *l)
{
    double read, written, all[2] = {0, 0};
    int launches = 0, inner = 0;
    for (int p = 0; p < l->n_parts; ++p) {
        inner += l->part[p].is_inner;
        launches += l->part[p].program != NULL;
        count_bytes(&read, &written, l, &l->part[p]);
        all[0] += l->part[p].program ? read : 0;
        all[1] += l->part[p].program ? written : 0;
    }
    if (inner > 0)
        kn_str_printf(text,
                      "# %d step%s, %d of them of kernels: %.0f bytes are read, and %.0f at most written\n",
                      l->n_parts, l->n_parts == 1 ? "" : "s", launches, all[0], all[1]);
}

/* Appends lines that begin with '#': what a lowered call's steps read and write, and why there are
 * several. */
static kiln_status put_lines(kn_str *text, const kn_inspected *call)
{
    const kn_lowered *l = &call->lowered;
    kiln_status status = l->n_parts > 0 ? KILN_OK : put_all(text, call, put_line);
    kn_str_append(text, kn_str_text(&l->explanation));
    put_steps(text, l);
    for (int p = 0, r = 0; p < l->n_parts && status == KILN_OK; ++p) {
        put_label(text, l, &l->part[p]);
        if (!l->part[p].program)
            continue;
        status = put_line(text, call->resolved[r++]);
        kn_str_append(text, "\n");
    }
    return status;
}

static kiln_status put_sources(kn_str *text, const kn_inspected *call)
{
    return put_all(text, call, put_source);
}

static kiln_status put_all_launches(kn_str *text, const kn_inspected *call)
{
    return put_all(text, call, put_launches);
}

static kiln_status show(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                        const kiln_arg *in, int n_in, const kiln_call_options *call, const char *target,
                        kiln_status (*writer)(kn_str *, const kn_inspected *))
{
    kn_inspected inspected = KN_INSPECTED_INIT;
    kn_str text = KN_STR_INIT;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a char * was expected");
    kiln_status status = kn_inspect(&inspected, kernel, outs, n_out, in, n_in, call, target, true);
    for (const kn_inspected *one = &inspected; one && status == KILN_OK; one = one->next) {
        if (one != &inspected && writer == put_lines)
            kn_str_append(&text,
                          "# a second call, with what the first one has found; here as many elements as "
                          "there may be:\n");
        status = writer(&text, one);
    }
    if (status == KILN_OK)
        status = hand_out(out, &text);
    kn_str_free(&text);
    kn_inspected_free(&inspected);
    return status;
}

kiln_status kiln_kernel_source(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                               const kiln_arg *in, int n_in, const kiln_call_options *call,
                               const char *target)
{
    KN_UNCANCELLED;
    return show(out, kernel, outs, n_out, in, n_in, call, target, put_sources);
}

kiln_status kiln_kernel_explain(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                                const kiln_arg *in, int n_in, const kiln_call_options *call,
                                const char *target)
{
    KN_UNCANCELLED;
    return show(out, kernel, outs, n_out, in, n_in, call, target, put_lines);
}

kiln_status kiln_kernel_launches(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                                 const kiln_arg *in, int n_in, const kiln_call_options *call,
                                 const char *target)
{
    return show(out, kernel, outs, n_out, in, n_in, call, target, put_all_launches);
}

kiln_status kiln_kernel_record(char **out, kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                               const kiln_arg *in, int n_in, const kiln_call_options *call)
{
    KN_UNCANCELLED;
    kn_str lines = KN_STR_INIT;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a char * was expected");
    kiln_status status = kn_used_by_call(&lines, kernel, outs, n_out, in, n_in, call, NULL, true);
    if (status == KILN_OK)
        status = hand_out(out, &lines);
    kn_str_free(&lines);
    return status;
}

/* ---- prepare ---- */

typedef struct preparation {
    kiln_kernel *kernel;
    kn_inspected call;
    kn_device *device; /* NULL: for another machine, nothing is loaded */
} preparation;

static kiln_status prepare_one(const preparation *p, const kn_resolved *r, kn_build_info *info)
{
    kn_compile_job job;
    const kn_build_request request = {.job = &job, .own_functions = p->kernel->own_functions};
    kn_function *function = NULL;
    kn_blob code = KN_BLOB_INIT;
    if (kn_space_output_size(&r->space) == 0)
        return KILN_OK;
    kiln_status status = kn_compile_job_of_program(&job, &r->spec);
    if (status == KILN_OK)
        status = p->device ? kn_build_function(&function, &request, p->device, info)
                           : kn_build_code(&code, &request, info);
    if (status == KILN_OK && p->device) /* calls have it from now on */
        kn_tiers_finish_all(p->device, kn_str_text(&job.what));
    kn_blob_free(&code);
    kn_compile_job_free(&job);
    return status;
}

static kiln_status prepare_now(const preparation *p, kn_build_info *info)
{
    kiln_status status = KILN_OK;
    for (const kn_inspected *call = &p->call; call; call = call->next)
        for (int r = 0; r < call->count && status == KILN_OK; ++r) {
            kn_build_info one = {.origin = KILN_ORIGIN_MEMORY};
            status = prepare_one(p, call->resolved[r], &one);
            kn_build_info_add(info, &one);
        }
    return status;
}

static void release_preparation(preparation *p)
{
    if (!p)
        return;
    kn_inspected_free(&p->call);
    kiln_kernel_free(p->kernel);
    kn_free(p);
}

static void prepare_in_background(void *user)
{
    preparation *p = user;
    kn_build_info info;
    memset(&info, 0, sizeof info);
    if (prepare_now(p, &info) != KILN_OK)
        kn_log(KILN_LOG_WARNING, "preparing %s in the background failed: %s", p->kernel->program->name,
               kiln_error_message());
    release_preparation(p);
}

static kiln_status start_in_background(preparation *p)
{
    int failed = kn_thread_start(prepare_in_background, p);
    return failed ? kn_error(KILN_ERROR_MEMORY, "no thread could be started to prepare in the background: %s",
                             strerror(failed))
                  : KILN_OK;
}

static kiln_status read_options(kiln_prepare_options *out, const kiln_prepare_options *given)
{
    *out = (kiln_prepare_options)KILN_PREPARE_OPTIONS_INIT;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_PREPARE_OPTIONS_INIT");
    return status == KILN_OK ? kn_sized_check_flags(out->flags, KILN_PREPARE_BACKGROUND, "KILN_PREPARE")
                             : status;
}

/* The device the code is to be loaded on: none where an architecture was named. */
static kiln_status find_device(kn_device **out, const char *target, kiln_array *const *outs, int n_out,
                               const kiln_arg *in, int n_in)
{
    kiln_device id = KILN_DEVICE_DEFAULT;
    *out = NULL;
    if (target)
        return kn_names_device(target) && kiln_device_parse(&id, target) == KILN_OK ? kn_device_get(out, id)
                                                                                    : KILN_OK;
    for (int j = 0; outs && j < n_out && !*out; ++j)
        if (outs[j] && outs[j]->storage)
            *out = outs[j]->storage->device;
    for (int k = 0; k < n_in && !*out; ++k)
        if (in[k].kind == KILN_ARG_ARRAY && in[k].value.array->storage)
            *out = in[k].value.array->storage->device;
    return *out ? KILN_OK : kn_device_get(out, id);
}

/* Takes the preparation over. */
static kiln_status run_preparation(preparation *p, unsigned flags)
{
    kn_build_info info;
    memset(&info, 0, sizeof info);
    info.origin = KILN_ORIGIN_MEMORY;
    kiln_status status;
    if (flags & KILN_PREPARE_BACKGROUND) {
        status = start_in_background(p);
        if (status == KILN_OK)
            return KILN_OK;
    } else {
        status = prepare_now(p, &info);
        if (status == KILN_OK)
            kn_call_set_info(&info, p->device ? p->device->id : KILN_DEVICE_DEFAULT);
    }
    release_preparation(p);
    return status;
}

static kiln_status prepare(kiln_kernel *kernel, kiln_array *const *out, int n_out, const kiln_arg *in,
                           int n_in, const kiln_call_options *call, const kiln_prepare_options *o)
{
    preparation *p = kn_calloc(1, sizeof *p);
    if (!p)
        return kn_error_memory("a preparation");
    kiln_status status = kn_inspect(&p->call, kernel, out, n_out, in, n_in, call, o->target, false);
    if (status == KILN_OK)
        status = find_device(&p->device, o->target, out, n_out, in, n_in);
    if (status == KILN_OK)
        kn_used_write(kernel, out, n_out, in, n_in, call, p->device);
    if (status != KILN_OK) {
        release_preparation(p);
        return status;
    }
    p->kernel = kiln_kernel_retain(kernel);
    return run_preparation(p, o->flags);
}

/* A stand-in for the copy of an input that the call would make: C-ordered and well aligned, without data. */
static kiln_status stand_in(kiln_array **out, kiln_array *in, bool is_loaded)
{
    int64_t strides[KILN_MAX_NDIM];
    kn_shape_c_strides(in->ndim, in->shape, in->item_size, strides);
    kiln_status status = kn_array_view(out, in, NULL, in->ndim, in->shape, strides);
    if (status == KILN_OK && is_loaded && !in->is_c_contiguous &&
        in->storage->device->backend->kind == KN_CUDA)
        status = kn_array_get_kernels()->prepare_copy(in);
    return status;
}

/* An output covers some inputs (bits) partly: the kernel reads copies of them. */
static kiln_status prepare_with_copies(kiln_kernel *kernel, uint64_t overlaps, kiln_array *const *out,
                                       int n_out, const kiln_arg *given, int n_in,
                                       const kiln_call_options *call, const kiln_prepare_options *o)
{
    kiln_arg in[KN_MAX_PARAMS];
    kiln_array *copy[KN_MAX_PARAMS] = {NULL};
    kiln_status status = KILN_OK;
    memcpy(in, given, (size_t)n_in * sizeof *in);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        if (overlaps >> k & 1) {
            status = stand_in(&copy[k], given[k].value.array, !o->target || kn_names_device(o->target));
            in[k] = kiln_arg_array(copy[k]);
        }
    if (status == KILN_OK)
        status = prepare(kernel, out, n_out, in, n_in, call, o);
    for (int k = 0; k < n_in; ++k)
        kiln_array_free(copy[k]);
    return status;
}

kiln_status kiln_kernel_prepare(kiln_kernel *kernel, kiln_array *const *out, int n_out, const kiln_arg *in,
                                int n_in, const kiln_call_options *call, const kiln_prepare_options *options)
{
    KN_UNCANCELLED;
    kiln_prepare_options o;
    kn_binding b;
    kiln_status status = read_options(&o, options);
    if (status == KILN_OK && !kernel)
        status = kn_error(KILN_ERROR_INVALID, "kernel is NULL; a kiln_kernel was expected");
    if (status == KILN_OK &&
        kernel->algorithm) /* overlaps are copied at the call, and the readers of the copies are found then */
        return prepare(kernel, out, n_out, in, n_in, call, &o);
    if (status == KILN_OK)
        status = kn_bind(&b, kernel->program, out, n_out, in, n_in);
    if (status != KILN_OK)
        return status;
    uint64_t overlaps = kn_binding_overlaps(&b);
    return overlaps ? prepare_with_copies(kernel, overlaps, out, n_out, in, n_in, call, &o)
                    : prepare(kernel, out, n_out, in, n_in, call, &o);
}
