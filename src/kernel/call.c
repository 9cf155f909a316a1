/* Calls of kernels: the key of a call, its remembered plan, and the launch. */
#include "kernel/algorithm.h"
#include "kernel/used.h"

#include <string.h>

#include "base/alloc.h"
#include "base/cancel.h"
#include "base/error.h"
#include "base/nvtx.h"
#include "base/sized.h"

/* Words on the stack for the key of a call's plan; a call that needs more is not cached. */
enum { KEY_WORDS = 512, SCALAR_BYTES = 16, KEY_ALIGNMENT = 64 };
enum { FEW_NUMBERS = 32 /* numbers that a call has on the stack */ };

typedef struct call_key {
    size_t words;
    uint64_t hash;
    bool is_full;
    int64_t word[KEY_WORDS]; /* as many as are used are set */
} call_key;

/* One call while it is running. */
typedef struct call {
    kiln_kernel *kernel;
    const kn_program *program;
    kiln_array **out;
    const kiln_arg *in;
    const kiln_call_options *options;
    kn_device *device;
    void *stream;
    kn_device *asked; /* whose driver said which capture the stream is in: once for a call */
    uint64_t capture;
    const kiln_arg *computed; /* numbers of those that are given (kn_algorithm.compute) */
    uint64_t fresh;           /* outputs (bits) that this call allocated */
    bool
        is_uncacheable; /* something the key does not tell: kn_bind judges such a call each time it is made */
} call;

static _Thread_local kiln_call_info last_call = KILN_CALL_INFO_INIT;

void kn_call_set_info(const kn_build_info *info, kiln_device device)
{
    last_call.origin = info->origin;
    last_call.generate_ms = info->generate_ms;
    last_call.compile_ms = info->compile_ms;
    last_call.cache_ms = info->cache_ms;
    last_call.load_ms = info->load_ms;
    last_call.code_bytes = info->code_bytes;
    last_call.device = device;
    last_call.form = info->baseline > 0 ? KILN_FORM_QUICK : KILN_FORM_BEST;
    last_call.pending = info->pending;
}

kiln_status kiln_kernel_last_call(kiln_call_info *out)
{
    kiln_status status =
        kn_sized_check(out, sizeof *out, "kiln_kernel_last_call: out", "KILN_CALL_INFO_INIT");
    if (status == KILN_OK)
        kn_sized_answer(out, &last_call);
    return status;
}

/* ---- the key: all that a plan depends on ---- */

static inline uint64_t stir(uint64_t hash, int64_t word)
{
    return ((hash << 5 | hash >> 59) ^ (uint64_t)word) * UINT64_C(0x9E3779B97F4A7C15);
}

static void put_words(call_key *key, int64_t first, const int64_t *others, size_t count)
{
    int64_t *to = key->word + key->words;
    uint64_t hash = stir(key->hash, first);
    if (key->words + 1 + count > KEY_WORDS) {
        key->is_full = true;
        return;
    }
    *to++ = first;
    for (size_t w = 0; w < count; ++w) {
        to[w] = others[w];
        hash = stir(hash, others[w]);
    }
    key->words += 1 + count;
    key->hash = hash;
}

static void put_word(call_key *key, int64_t word)
{
    put_words(key, word, NULL, 0);
}

/* `before`: the array before it, or NULL. */
static void put_array(call_key *key, call *c, const kiln_array *a, const kiln_array *before)
{
    kn_device *device = a->storage ? a->storage->device : NULL;
    int64_t alignment = (int64_t)((uintptr_t)a->data % KEY_ALIGNMENT), after = kn_bytes_after(a, before);
    if (!c->device)
        c->device = device;
    c->is_uncacheable |= !device || device != c->device;
    put_words(key,
              KILN_ARG_ARRAY | (int64_t)a->dtype << 8 | (int64_t)a->ndim << 16 | alignment << 32 |
                  (int64_t)a->is_read_only << 48 | (int64_t)(after != 0) << 49,
              a->shape, 2 * (size_t)a->ndim); /* the strides are behind the shape */
    if (after != 0)
        put_word(key, after);
}

/* The 32 bits of an argument by value that a plan depends on, besides its kind. An argument that no plan can
 * have is left to kn_bind, which refuses it each time. */
static uint32_t detail_of(call *c, const kiln_arg *arg)
{
    switch (arg->kind) {
    case KILN_ARG_WEAK_BOOL:
    case KILN_ARG_WEAK_FLOAT:
    case KILN_ARG_WEAK_COMPLEX:
        return 0;
    case KILN_ARG_WEAK_INT:
    case KILN_ARG_WEAK_UINT: /* for operations it matters which dtypes hold it; beyond int64 it has its own */
        return c->kernel->algorithm ? kn_weak_class(arg)
                                    : arg->kind == KILN_ARG_WEAK_UINT && arg->value.u > INT64_MAX;
    case KILN_ARG_TYPED:
        return (uint32_t)arg->dtype;
    case KILN_ARG_STRUCT:
        c->is_uncacheable |= !kn_struct_is_sound(arg);
        return (uint32_t)arg->value.pod.size;
    default: /* no kind, or an array that is NULL */
        c->is_uncacheable = true;
        return 0;
    }
}

static void put_argument(call_key *key, call *c, const kiln_arg *arg, const kiln_array *before)
{
    if (arg->kind == KILN_ARG_ARRAY && arg->value.array)
        put_array(key, c, arg->value.array, before);
    else
        put_word(key, (int64_t)((uint64_t)detail_of(c, arg) << 32 | (uint32_t)arg->kind));
}

/* The device, which the arguments settle, comes in at last (see finish_key). Devices beyond the first need no
 * place in the key: calls with arrays of several are not remembered. */
static void make_key(call_key *key, call *c, int n_in, int n_out)
{
    const kiln_array *before = NULL;
    key->words = 0;
    key->hash = 0;
    key->is_full = false;
    for (int j = 0; j < n_out; ++j) {
        if (c->out[j])
            put_array(key, c, c->out[j], before);
        else
            put_word(key, 0);
        before = c->out[j] ? c->out[j] : before;
    }
    before = NULL;
    for (int k = 0; k < n_in; ++k) {
        put_argument(key, c, &c->in[k], before);
        if (c->in[k].kind == KILN_ARG_ARRAY && c->in[k].value.array)
            before = c->in[k].value.array;
    }
}

static void finish_key(call_key *key, const call *c)
{
    const kiln_call_options *o = c->options;
    const int64_t words[] = {o->size, o->order | (int64_t)(o->shape != NULL) << 8 |
                                          (int64_t)(o->axes != NULL) << 9 | (int64_t)o->n_axes << 10 |
                                          (int64_t)(o->flags & KILN_CALL_KEEPDIMS) << 20 |
                                          (int64_t)o->ndim << 32};
    put_words(key, (int64_t)c->device->id | (int64_t)o->block << 32, words, 2);
    if (o->shape)
        put_words(key, 0, o->shape, (size_t)o->ndim);
    for (int k = 0; o->axes && k < o->n_axes; ++k)
        put_word(key, o->axes[k]);
    key->hash ^= key->hash >> 32; /* the low bits choose the slot */
}

/* Adds the numbers that the kernel computes of given ones, and the words that a plan depends on. */
static kiln_status put_computed(call_key *key, call *c, kiln_arg *number)
{
    size_t count = (size_t)c->kernel->n_words;
    bool fits = key->words + count <= KEY_WORDS;
    int64_t *word = key->word + key->words;
    kiln_status status = c->kernel->algorithm->compute(number, fits ? word : NULL, c->kernel->context, c->in);
    c->computed = number;
    if (status != KILN_OK)
        return status;
    key->is_full |= !fits;
    for (size_t w = 0; w < count && fits; ++w)
        key->hash = stir(key->hash, word[w]);
    key->words += fits ? count : 0;
    return KILN_OK;
}

/* ---- overlap: an output that partly covers an input ---- */

static bool needs_copy(const call *c, const kn_call_plan *plan, int k)
{
    const kn_plan_param *from = &plan->param[k];
    const char *in = c->in[k].value.array->data;
    for (int j = 0; j < plan->n_out; ++j) {
        const kn_plan_param *to = &plan->param[plan->n_in + j];
        if (!c->out[j])
            continue;
        const char *out = c->out[j]->data;
        bool apart = in + from->high <= out + to->low || out + to->high <= in + from->low;
        bool identical = in == out && (to->same_layout >> k & 1);
        if (!apart && !identical)
            return true;
    }
    return false;
}

/* The inputs (bits) that have to be copied before the kernel writes over them. */
static uint64_t find_overlaps(const call *c, const kn_call_plan *plan)
{
    uint64_t overlaps = 0;
    for (int k = 0; k < plan->n_in; ++k)
        if (plan->param[k].pass == KN_PASS_ARRAY && needs_copy(c, plan, k))
            overlaps |= UINT64_C(1) << k;
    return overlaps;
}

static kiln_status call_with_copies(call *c, uint64_t overlaps)
{
    kiln_arg in[KN_MAX_PARAMS];
    kiln_array *copy[KN_MAX_PARAMS] = {NULL};
    kiln_status status = KILN_OK;
    int n_in = c->program->n_in, n_out = c->program->n_out;
    kiln_stream *before = c->options->stream ? kiln_stream_set_current(c->options->stream) : NULL;
    memcpy(in, c->in, (size_t)n_in * sizeof *in);
    for (int k = 0; k < n_in && status == KILN_OK; ++k)
        if (overlaps >> k & 1) {
            status = kiln_array_copy(&copy[k], c->in[k].value.array);
            in[k] = kiln_arg_array(copy[k]);
        }
    if (c->options->stream)
        kiln_stream_set_current(before);
    if (status == KILN_OK)
        status = kiln_kernel_call(c->kernel, c->out, n_out, in, n_in, c->options);
    for (int k = 0; k < n_in; ++k)
        kiln_array_free(copy[k]);
    return status;
}

/* ---- a call in two parts ---- */

static void add_info(kiln_call_info *to, const kiln_call_info *more)
{
    to->origin = more->origin > to->origin ? more->origin : to->origin;
    to->generate_ms += more->generate_ms;
    to->compile_ms += more->compile_ms;
    to->cache_ms += more->cache_ms;
    to->load_ms += more->load_ms;
    to->code_bytes += more->code_bytes;
    to->form = more->form == KILN_FORM_QUICK ? more->form : to->form;
    to->pending += more->pending;
}

/* The element of an array without axes, by value: shapes depend on it. */
static kiln_status read_number(kiln_arg *out, const call *c, const kiln_array *array)
{
    kn_device *device = array->storage->device;
    *out = kiln_arg_none();
    out->kind = KILN_ARG_TYPED;
    out->dtype = (int32_t)array->dtype;
    kiln_status status =
        device->backend->copy(device, out->value.bytes, array->data, kiln_dtype_size(array->dtype),
                              KN_COPY_DEVICE_TO_HOST, c->stream);
    return status == KILN_OK ? device->backend->stream_synchronize(device, c->stream) : status;
}

static kiln_status check_capture(const call *c)
{
    bool is_capturing = false;
    uint64_t id;
    kiln_status status = c->device->backend->stream_is_capturing(c->device, c->stream, &is_capturing, &id);
    return status != KILN_OK || !is_capturing
               ? status
               : kn_error(KILN_ERROR_CAPTURE,
                          "%s: shapes depend on values, which a capture cannot wait for: numbers given by "
                          "value were expected",
                          c->program->name);
}

/* The first kernel's results exist until the second one has been queued. */
static kiln_status call_apart(call *c, const kn_apart *apart)
{
    kiln_arg in[KN_MAX_PARAMS];
    kiln_array *found[KN_MAX_PARAMS] = {NULL};
    const int n_in = c->program->n_in, n_found = apart->first->program->n_out;
    kiln_call_options usual = KILN_CALL_OPTIONS_INIT;
    usual.stream = c->options->stream;
    usual.flags = c->options->flags & (KILN_CALL_NO_COMPILE | KILN_CALL_BEST);
    memcpy(in, c->in, (size_t)n_in * sizeof *in);
    kiln_status status = apart->numbers ? check_capture(c) : KILN_OK;
    if (status == KILN_OK)
        status = kiln_kernel_call(apart->first, found, n_found, in, n_in, &usual);
    const kiln_call_info first = last_call;
    for (int k = 0; k < n_found && status == KILN_OK; ++k)
        if (apart->numbers >> k & 1)
            status = read_number(&in[n_in + k], c, found[k]);
        else
            in[n_in + k] = kiln_arg_array(found[k]);
    if (status == KILN_OK)
        status = kiln_kernel_call(apart->second, c->out, c->program->n_out, in, n_in + n_found, c->options);
    if (status == KILN_OK)
        add_info(&last_call, &first);
    for (int k = 0; k < n_found; ++k)
        kiln_array_free(found[k]);
    return status;
}

/* ---- running ---- */

static kiln_status find_capture(call *c, kn_device *device)
{
    kiln_status status = c->asked == device ? KILN_OK : kn_memory_capture_of(&c->capture, device, c->stream);
    if (status == KILN_OK)
        c->asked = device;
    return status;
}

static kiln_status allocate_outputs(call *c, const kn_call_plan *plan)
{
    for (int j = 0; j < plan->n_out; ++j) {
        if (c->out[j])
            continue;
        kiln_status status = find_capture(c, plan->device);
        if (status == KILN_OK)
            status = kn_array_from_layout(&c->out[j], &plan->layout[j], plan->device, c->stream, c->capture);
        if (status != KILN_OK)
            return status;
        c->fresh |= UINT64_C(1) << j;
        if (plan->zeroed >> j & 1)
            status = kn_array_clear(c->out[j], c->stream);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

static void release_fresh(call *c, int n_out)
{
    for (int j = 0; j < n_out; ++j)
        if (c->fresh >> j & 1) {
            kiln_array_free(c->out[j]);
            c->out[j] = NULL;
        }
}

static kiln_status note_stream(call *c, const kiln_array *a)
{
    const kn_storage *s = a->storage;
    if (!s->is_pooled || s->stream == c->stream)
        return KILN_OK;
    kiln_status status = find_capture(c, s->device);
    return status == KILN_OK ? kn_memory_used_in(s->device, s->data, c->stream, c->capture) : status;
}

/* value[k] of each parameter, scalars converted into scalar[k]. */
static kiln_status gather_values(call *c, const kn_call_plan *plan, const void **value,
                                 unsigned char (*scalar)[SCALAR_BYTES])
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < plan->n_in && status == KILN_OK; ++k) {
        const kiln_arg *arg = &c->in[k];
        if (arg->kind == KILN_ARG_ARRAY) {
            value[k] = arg->value.array->data;
            status = note_stream(c, arg->value.array);
        } else if (arg->kind == KILN_ARG_STRUCT) {
            value[k] = arg->value.pod.data;
        } else {
            value[k] = scalar[k];
            status = (c->program->casts ? kn_scalar_convert : kn_scalar_store)(
                scalar[k], plan->param[k].dtype, arg, c->program->param[k].name);
        }
    }
    for (int j = 0; j < plan->n_out && status == KILN_OK; ++j) {
        value[plan->n_in + j] = c->out[j]->data;
        status = note_stream(c, c->out[j]);
    }
    return status;
}

static kiln_status note_streams(call *c, const kn_call_plan *plan)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < plan->n_in && status == KILN_OK; ++k)
        if (c->in[k].kind == KILN_ARG_ARRAY)
            status = note_stream(c, c->in[k].value.array);
    for (int j = 0; j < plan->n_out && status == KILN_OK; ++j)
        status = note_stream(c, c->out[j]);
    return status;
}

static kiln_status run_steps(call *c, const kn_call_plan *plan)
{
    uint64_t overlaps = find_overlaps(c, plan);
    if (overlaps)
        return call_with_copies(c, overlaps);
    kiln_status status = allocate_outputs(c, plan);
    if (status == KILN_OK)
        status = note_streams(c, plan);
    if (status == KILN_OK)
        status = kn_plan_steps_check(plan->steps, c->fresh, c->stream);
    if (status == KILN_OK)
        status = kn_plan_steps_run(plan->steps, c->out, c->fresh, c->in, c->computed, c->stream);
    if (status != KILN_OK)
        release_fresh(c, plan->n_out);
    return status;
}

static kiln_status run_plan(call *c, const kn_call_plan *plan)
{
    if (plan->steps)
        return run_steps(c, plan);
    const void *value[plan->n_in + plan->n_out];
    unsigned char scalar[plan->n_in + 1][SCALAR_BYTES];
    uint64_t overlaps = find_overlaps(c, plan);
    if (overlaps)
        return call_with_copies(c, overlaps);
    kiln_status status = allocate_outputs(c, plan);
    if (status == KILN_OK)
        status = gather_values(c, plan, value, scalar);
    if (status == KILN_OK && !plan->is_empty) {
        kn_device_note_launch_name(plan->launch_name);
        const bool is_ranged = kn_range_begin("", plan->launch_name ? plan->launch_name : "");
        status = kn_launch_plan_run(kn_plan_launch_now(&plan->launch), value, c->stream);
        kn_range_end(is_ranged);
    }
    if (status != KILN_OK)
        release_fresh(c, plan->n_out);
    return status;
}

static kiln_status find_build_flags(unsigned *flags, const call *c, kn_device *device)
{
    bool is_capturing = false;
    uint64_t id = 0;
    kiln_status status = device->backend->stream_is_capturing(device, c->stream, &is_capturing, &id);
    *flags = (c->options->flags & KILN_CALL_NO_COMPILE ? KN_BUILD_NO_COMPILE : 0u) |
             (c->options->flags & KILN_CALL_BEST || is_capturing ? KN_BUILD_OPTIMISED : 0u) |
             (is_capturing && kn_capture_is_prepared(id) ? KN_BUILD_CAPTURING : 0u);
    return status;
}

/* Overlaps are found when it runs: which inputs may lie where outputs do is known once it is made. */
static kiln_status make_steps(kn_call_plan **out, call *c, const call_key *key, kn_build_info *info)
{
    unsigned flags;
    const kn_program *prototype = c->program;
    kn_device *device = NULL;
    kiln_status status =
        kn_bind_prototype(&device, prototype, c->out, prototype->n_out, c->in, prototype->n_in);
    if (status == KILN_OK)
        status = find_build_flags(&flags, c, c->device);
    if (status != KILN_OK)
        return status;
    const kn_lowering_call lowered = {c->out, c->in, c->options, c->device, &c->device->target, false, false};
    return kn_plan_steps_create(out, c->kernel, &lowered, key->word, key->words, key->hash, flags, info);
}

/* *overlaps: inputs that must be copied first; then there is no plan, since the kernel reads the copies. */
static kiln_status make_plan(kn_call_plan **out, uint64_t *overlaps, call *c, const call_key *key,
                             kn_build_info *info)
{
    kn_binding b;
    unsigned flags;
    if (c->kernel->algorithm)
        return make_steps(out, c, key, info);
    kiln_status status = kn_bind(&b, c->program, c->out, c->program->n_out, c->in, c->program->n_in);
    if (status != KILN_OK)
        return status;
    if (!b.device)
        b.device = c->device;
    b.own_functions = c->kernel->own_functions;
    *overlaps = kn_binding_overlaps(&b);
    if (*overlaps)
        return KILN_OK;
    status = find_build_flags(&flags, c, b.device);
    if (status != KILN_OK)
        return status;
    return kn_call_plan_create(out, &b, c->options, key->word, key->words, key->hash, flags, info);
}

/* For a plan with tiers: waits for the optimised one if the caller wants it, or if a graph would keep the
 * baseline one. In a capture that forbids compiling, the present one must do. */
static kiln_status look_at_tiers(kn_build_info *info, const call *c, const kn_call_plan *plan)
{
    KN_UNCANCELLED;
    unsigned flags;
    kiln_status status = find_build_flags(&flags, c, plan->device);
    bool wants_optimised =
        flags & KN_BUILD_OPTIMISED && !(flags & (KN_BUILD_CAPTURING | KN_BUILD_NO_COMPILE));
    if (status == KILN_OK && plan->steps)
        kn_plan_steps_look(plan->steps, wants_optimised, info);
    else if (status == KILN_OK)
        kn_plan_launch_look(&plan->launch, wants_optimised, info);
    return status;
}

static kiln_status call_with_tiers(call *c, const kn_call_plan *plan)
{
    kn_build_info info = {.origin = KILN_ORIGIN_MEMORY};
    kiln_status status = look_at_tiers(&info, c, plan);
    if (status == KILN_OK)
        status = run_plan(c, plan);
    if (status == KILN_OK)
        kn_call_set_info(&info, c->device->id);
    return status;
}

static kiln_status call_first_time(call *c, const call_key *key)
{
    KN_UNCANCELLED;
    kn_build_info info = {.origin = KILN_ORIGIN_MEMORY};
    kn_call_plan *plan = NULL;
    uint64_t overlaps = 0;
    kiln_status status = make_plan(&plan, &overlaps, c, key, &info);
    const bool is_apart = plan && plan->apart.first; /* its parts are calls of their own */
    if (!overlaps &&
        !is_apart) /* failed calls too: they may have missed it because nothing may be compiled */
        kn_used_write(c->kernel, c->out, c->program->n_out, c->in, c->program->n_in, c->options, c->device);
    if (status == KILN_OK && overlaps)
        return call_with_copies(c, overlaps);
    if (status != KILN_OK || !plan)
        return status;
    bool keep = !key->is_full && !c->is_uncacheable;
    const kn_call_plan *stored = keep ? kn_call_memo_put(c->kernel->memo, plan) : NULL;
    status = is_apart ? call_apart(c, &(stored ? stored : plan)->apart) : run_plan(c, stored ? stored : plan);
    if (!stored)
        kn_call_plan_free(plan);
    if (status == KILN_OK && !is_apart)
        kn_call_set_info(&info, c->device->id);
    return status;
}

static kiln_status check_call(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in, int n_in)
{
    if (!kernel)
        return kn_error(KILN_ERROR_INVALID, "kernel is NULL; a kiln_kernel was expected");
    kiln_status status = kn_check_counts(kernel->program, n_out, in, n_in);
    if (status == KILN_OK && !out)
        status = kn_error(KILN_ERROR_INVALID, "%s: out is NULL", kernel->program->name);
    return status;
}

/* For a key that lacks the numbers computed of the arguments. */
static kiln_status finish_call(call *c, call_key *key)
{
    static const kn_build_info from_memory = {.origin = KILN_ORIGIN_MEMORY};
    finish_key(key, c);
    const kn_call_plan *plan = key->is_full || c->is_uncacheable
                                   ? NULL
                                   : kn_call_memo_find(c->kernel->memo, key->word, key->words, key->hash);
    if (!plan)
        return call_first_time(c, key);
    if (plan->apart.first)
        return call_apart(c, &plan->apart);
    if (plan->has_tiers)
        return call_with_tiers(c, plan);
    kiln_status status = run_plan(c, plan);
    if (status == KILN_OK)
        kn_call_set_info(&from_memory, c->device->id);
    return status;
}

static bool has_numbers(const kiln_arg *in, int n_in)
{
    bool has = false;
    for (int k = 0; k < n_in; ++k)
        has |= in[k].kind != KILN_ARG_ARRAY;
    return has;
}

static kiln_status call_with_numbers(call *c, call_key *key)
{
    kiln_arg few[FEW_NUMBERS], *number = few;
    size_t bytes = (size_t)c->kernel->n_computed * sizeof *number;
    if (c->kernel->n_computed > FEW_NUMBERS)
        number = kn_malloc(bytes);
    if (!number)
        return kn_error_memory("the numbers of a call");
    kiln_status status = put_computed(key, c, number);
    if (status == KILN_OK)
        status = finish_call(c, key);
    c->computed = NULL;
    if (number != few)
        kn_free(number);
    return status;
}

kiln_status kiln_kernel_call(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                             const kiln_call_options *options)
{
    static const kiln_call_options usual = KILN_CALL_OPTIONS_INIT;
    kiln_call_options given;
    call_key key;
    kiln_status status = check_call(kernel, out, n_out, in, n_in);
    if (status == KILN_OK && options)
        status = kn_call_options_read(&given, options);
    if (status != KILN_OK)
        return status;
    call c = {.kernel = kernel,
              .program = kernel->program,
              .out = out,
              .in = in,
              .options = options ? &given : &usual};
    make_key(&key, &c, n_in, n_out);
    kn_recorder *recorder = c.is_uncacheable ? kn_array_find_recorder(out, n_out, in, n_in) : NULL;
    if (recorder)
        return recorder->functions->call(out, n_out, kernel, in, n_in, options);
    if (!c.device)
        status = kn_device_get(&c.device, KILN_DEVICE_DEFAULT);
    if (status == KILN_OK)
        status = kn_stream_native(&c.stream, c.device, c.options->stream);
    if (status != KILN_OK)
        return status;
    return kernel->n_words > 0 && has_numbers(in, n_in) ? call_with_numbers(&c, &key) : finish_call(&c, &key);
}
