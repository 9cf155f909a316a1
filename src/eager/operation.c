/* Operations by name. A call looks up its kernel by the name and the dtypes of its inputs, without a lock.
 * If there is none, a variant is chosen and its kernel is made, once per process. */
#include "eager/operation.h"

#include <stdatomic.h>
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "base/lock.h"
#include "base/alloc.h"
#include "base/str.h"
#include "base/unload.h"
#include "types/dtype.h"

/* The key of a call: the name, and a byte for each input. */
typedef struct call_name {
    size_t size;
    uint64_t hash;
    unsigned char byte[KN_NAME_MAX + KN_MAX_PARAMS];
} call_name;

/* An input's byte is its dtype, or, for a weak number, its kind and, from this bit on, its class. */
enum { IS_TYPED = 0x40, IS_WEAK = 0x80, CLASS_BIT = 3 };

/* An entry for calls of one key. */
typedef struct known {
    struct known *next;
    uint64_t hash;
    size_t size;
    kiln_kernel *kernel;
    int n_out;
    bool scans;             /* its results have the shape of its inputs */
    bool is_clip, is_truth; /* is_clip: it has bounds; is_truth: its result counts booleans */
    kiln_dtype in[KN_MAX_PARAMS], out[KN_MAX_PARAMS]; /* of the variant */
    unsigned char byte[];
} known;

/* The kernel of a variant. */
typedef struct made {
    struct made *next;
    const kiln_operation *definition;
    const char *variant; /* points into the definition's types */
    kiln_kernel *kernel;
} made;

/* Chains only grow, at their heads, so that readers need no lock. Everything else is under
 * KN_LOCK_OPERATIONS. */
enum { CHAINS = 256 };
static _Atomic(known *) chains[CHAINS];
static made *kernels;

/* ---- refusals ---- */

static kiln_status refuse_name(const char *name)
{
    return kn_error(KILN_ERROR_NOT_FOUND,
                    "there is no operation '%s'; one of the table or of kiln_operation_register was expected",
                    name);
}

static kiln_status refuse_dtypes(const char *name, const kiln_dtype *dtype, int n_in)
{
    kn_str text = KN_STR_INIT;
    const kiln_operation *d;
    int count = 0;
    kn_dtypes_format(&text, dtype, n_in);
    kn_str_append(&text, "; there are:");
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k) {
        if (strcmp(d->name, name) != 0)
            continue;
        ++count;
        if (d->map)
            kn_str_printf(&text, " %s", d->types);
    }
    kiln_status status = count == 0
                             ? refuse_name(name)
                             : kn_error(KILN_ERROR_TYPE, "%s: no variant takes %s", name, kn_str_text(&text));
    kn_str_free(&text);
    return status;
}

static kiln_status refuse_argument(const char *name, int k, const kiln_arg *arg)
{
    if (arg->kind == KILN_ARG_ARRAY)
        return kn_error(KILN_ERROR_INVALID, "%s: in[%d]: the array is NULL; a kiln_array was expected", name,
                        k);
    return kn_error(KILN_ERROR_INVALID, "%s: in[%d]: an array or a number of a dtype was expected%s", name, k,
                    arg->kind == KILN_ARG_STRUCT ? "; a struct was given"
                                                 : "; use the kiln_arg_* constructors");
}

/* ---- the name of a call ---- */

/* The byte of an argument; 0: no operation takes it. */
static unsigned char byte_of(const kiln_arg *arg)
{
    switch (arg->kind) {
    case KILN_ARG_ARRAY:
        return arg->value.array ? (unsigned char)arg->value.array->dtype : 0;
    case KILN_ARG_TYPED:
        return kn_dtype_info_of((kiln_dtype)arg->dtype) ? (unsigned char)(IS_TYPED | arg->dtype) : 0;
    case KILN_ARG_WEAK_INT:
    case KILN_ARG_WEAK_UINT:
        return (unsigned char)(IS_WEAK | (unsigned)arg->kind | kn_weak_class(arg) << CLASS_BIT);
    case KILN_ARG_WEAK_BOOL:
    case KILN_ARG_WEAK_FLOAT:
    case KILN_ARG_WEAK_COMPLEX:
        return (unsigned char)(IS_WEAK | arg->kind);
    default:
        return 0;
    }
}

static kiln_status check_inputs(const char *name, const void *in, int n_in)
{
    if (!name)
        return kn_error(KILN_ERROR_INVALID, "name is NULL; the name of an operation was expected");
    if (n_in < 0 || n_in > KN_MAX_PARAMS || (n_in > 0 && !in))
        return kn_error(KILN_ERROR_INVALID,
                        "%s: n_in: %d was given, and in is %s; 0 to %d inputs were expected", name, n_in,
                        in ? "an array" : "NULL", KN_MAX_PARAMS);
    return KILN_OK;
}

static kiln_status name_call(call_name *out, const char *name, const kiln_arg *in, int n_in)
{
    size_t length = strnlen(name, KN_NAME_MAX);
    if (length == KN_NAME_MAX)
        return refuse_name(name);
    memcpy(out->byte, name, length);
    out->byte[length++] = 0;
    for (int k = 0; k < n_in; ++k) {
        unsigned char byte = byte_of(&in[k]);
        if (!byte)
            return refuse_argument(name, k, &in[k]);
        out->byte[length++] = byte;
    }
    out->size = length;
    out->hash = kn_hash_64(out->byte, length);
    return KILN_OK;
}

static const known *find_known(const call_name *call)
{
    const known *k = atomic_load_explicit(&chains[call->hash % CHAINS], memory_order_acquire);
    while (k && (k->hash != call->hash || k->size != call->size || memcmp(k->byte, call->byte, k->size) != 0))
        k = k->next;
    return k;
}

/* ---- which variant ---- */

/* A parameter that only the post text uses has one value per result: it cannot be an array. */
static kiln_status check_scalars(const kiln_operation *d, const kiln_arg *in, int n_in)
{
    kn_param param[KN_MAX_PARAMS];
    int count, n_out;
    kiln_status status = kn_operation_params(param, &count, &n_out, d);
    for (int k = 0; k < n_in && status == KILN_OK && d->post; ++k)
        if (in[k].kind == KILN_ARG_ARRAY && !kn_text_has_word(d->map, param[k].name) &&
            kn_text_has_word(d->post, param[k].name))
            status =
                kn_error(KILN_ERROR_TYPE,
                         "%s: '%s' is one number for a whole result: a scalar was expected, an array was "
                         "given",
                         d->name, param[k].name);
    return status;
}

static kiln_status find_variant(kn_variant *out, const kiln_operation **definition, const char *name,
                                const kiln_arg *in, int n_in)
{
    kiln_dtype array[KN_MAX_PARAMS], dtype[KN_MAX_PARAMS];
    for (int k = 0; k < n_in; ++k)
        array[k] = in[k].kind == KILN_ARG_ARRAY ? in[k].value.array->dtype : KILN_DTYPE_NONE;
    const kiln_operation *d = kn_operation_choose(out, dtype, name, in, array, n_in);
    if (!d || !d->map)
        return refuse_dtypes(name, dtype, n_in);
    *definition = d;
    return check_scalars(d, in, n_in);
}

/* ---- its kernel ---- */

/* One kernel per variant, however many dtypes are cast to it. */
static kiln_status get_kernel(kiln_kernel **out, const kiln_operation *d, const kn_variant *v)
{
    kn_program *program = NULL;
    made *m = kernels;
    while (m && (m->definition != d || m->variant != v->text))
        m = m->next;
    if (m) {
        *out = m->kernel;
        return KILN_OK;
    }
    m = kn_calloc(1, sizeof *m);
    if (!m)
        return kn_error_memory("an operation");
    kiln_status status = kn_operation_program(&program, d, v);
    if (status == KILN_OK)
        status = kn_kernel_create(&m->kernel, program);
    if (status != KILN_OK) {
        kn_free(m);
        return status;
    }
    m->definition = d;
    m->variant = v->text;
    m->next = kernels;
    kernels = m;
    *out = m->kernel;
    return KILN_OK;
}

/* ---- calls ---- */

static kiln_status add_known(const known **out, const call_name *call, const char *name, const kn_variant *v,
                             kiln_kernel *kernel)
{
    size_t bytes = sizeof(known) + call->size;
    known *k = kn_malloc(bytes);
    if (!k)
        return kn_error_memory("a call of an operation");
    k->hash = call->hash;
    k->size = call->size;
    k->kernel = kernel;
    k->n_out = v->n_out;
    unsigned traits = kn_operation_traits(name);
    k->scans = traits & KN_OP_SCANS;
    k->is_clip = traits & KN_OP_BOUNDS;
    /* NumPy's sum and product of booleans, stored as booleans, are any and all */
    k->is_truth = traits & KN_OP_TRUTH && v->dtype[0] == KILN_BOOL;
    memcpy(k->in, v->dtype, (size_t)v->n_in * sizeof *k->in);
    memcpy(k->out, v->dtype + v->n_in, (size_t)v->n_out * sizeof *k->out);
    memcpy(k->byte, call->byte, call->size);
    _Atomic(known *) *chain = &chains[call->hash % CHAINS];
    k->next = atomic_load_explicit(chain, memory_order_relaxed);
    atomic_store_explicit(chain, k, memory_order_release);
    *out = k;
    return KILN_OK;
}

static kiln_status learn(const known **out, const call_name *call, const char *name, const kiln_arg *in,
                         int n_in)
{
    kn_variant v;
    const kiln_operation *d = NULL;
    kiln_kernel *kernel = NULL;
    *out = find_known(call); /* another thread may have been faster */
    if (*out)
        return KILN_OK;
    kiln_status status = find_variant(&v, &d, name, in, n_in);
    if (status == KILN_OK)
        status = get_kernel(&kernel, d, &v);
    return status == KILN_OK ? add_known(out, call, name, &v, kernel) : status;
}

static kiln_status find_call(const known **out, const char *name, const kiln_arg *in, int n_in)
{
    call_name call;
    kiln_status status = name_call(&call, name, in, n_in);
    if (status != KILN_OK)
        return status;
    *out = find_known(&call);
    if (*out)
        return KILN_OK;
    kn_lock_take(KN_LOCK_OPERATIONS);
    status = learn(out, &call, name, in, n_in);
    kn_lock_give(KN_LOCK_OPERATIONS);
    return status;
}

static kiln_status check_stores(const known *k, const char *name, kiln_array *const *out, int n_out)
{
    for (int j = 0; out && j < n_out && j < k->n_out; ++j)
        if (out[j] && !kn_dtype_may_store(k->out[j], out[j]->dtype) &&
            !(k->is_truth && out[j]->dtype == KILN_BOOL))
            return kn_error(
                KILN_ERROR_TYPE,
                "%s: out[%d]: the result is %s, which an array of %s does not hold; one of the same "
                "kind or one above it was expected",
                name, j, kiln_dtype_name(k->out[j]), kiln_dtype_name(out[j]->dtype));
    return KILN_OK;
}

/* ---- calls of code that is nowhere ---- */

/* Converts arrays to the dtypes of the variant, on the call's stream. *count: how many. */
static kiln_status convert_inputs(kiln_arg *to, kiln_array **made, int *count, const known *k,
                                  const kiln_arg *in, int n_in, kiln_stream *stream)
{
    kiln_stream *before = stream ? kiln_stream_set_current(stream) : NULL;
    kiln_status status = KILN_OK;
    *count = 0;
    for (int j = 0; j < n_in && status == KILN_OK; ++j) {
        to[j] = in[j];
        if (in[j].kind != KILN_ARG_ARRAY || in[j].value.array->dtype == k->in[j])
            continue;
        status = kiln_array_astype(&made[*count], in[j].value.array, k->in[j]);
        if (status == KILN_OK)
            to[j] = kiln_arg_array(made[(*count)++]);
    }
    if (stream)
        kiln_stream_set_current(before);
    return status;
}

/* Without a compiler there is code for arrays of the variant's dtypes, in bundles, but not for each mixture
 * of dtypes that it takes: these are converted first. The error is that of the call as it was made. */
static kiln_status call_converted(const known *k, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                                  const kiln_call_options *options, kiln_status failure)
{
    kiln_arg converted[KN_MAX_PARAMS];
    kiln_array *made[KN_MAX_PARAMS] = {NULL};
    kiln_call_options o;
    kn_error_state before;
    int count = 0;
    kn_error_save(&before);
    kiln_status status = kn_call_options_read(&o, options);
    if (status == KILN_OK && o.flags & KILN_CALL_NO_COMPILE) /* converting might compile */
        status = failure;
    if (status == KILN_OK)
        status = convert_inputs(converted, made, &count, k, in, n_in, o.stream);
    if (status == KILN_OK)
        status = count > 0 ? kiln_kernel_call(k->kernel, out, n_out, converted, n_in, options) : failure;
    for (int j = 0; j < count; ++j)
        kiln_array_free(made[j]);
    if (status != KILN_OK)
        kn_error_restore(&before);
    return status == KILN_OK ? KILN_OK : failure;
}

static kiln_status call_kernel(const known *k, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                               const kiln_call_options *options)
{
    const kiln_status status = kiln_kernel_call(k->kernel, out, n_out, in, n_in, options);
    return status == KILN_ERROR_NOT_FOUND || status == KILN_ERROR_FORBIDDEN
               ? call_converted(k, out, n_out, in, n_in, options, status)
               : status;
}

/* A missing bound becomes the end of the result's dtype. */
static kiln_status call_clip(const known *k, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                             const kiln_call_options *options)
{
    kiln_arg within[KN_MAX_PARAMS];
    kiln_dtype of = kn_argument_dtype(&in[0]);
    for (int j = 0; j < n_in; ++j)
        within[j] = kn_bound_number(kn_clip_bound(j, of), &in[j], k->out[0]);
    return call_kernel(k, out, n_out, within, n_in, options);
}

/* ---- scans of all elements: as NumPy's without an axis they have a result of one axis ---- */

static const int first_axis = 0;

/* A traced input is made one axis, along which is scanned. */
static kiln_status record_flat(kn_recorder *recorder, kiln_array **out, int n_out, const char *name,
                               const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    static const int64_t all = -1;
    kiln_call_options along = *options;
    kiln_arg flat[KN_MAX_PARAMS];
    kiln_array *array = NULL;
    memcpy(flat, in, (size_t)n_in * sizeof *in);
    kiln_status status = kiln_array_reshape(&array, in[0].value.array, 1, &all);
    flat[0] = kiln_arg_array(array);
    along.axes = &first_axis;
    along.n_axes = 1;
    if (status == KILN_OK)
        status = recorder->functions->apply(out, n_out, name, flat, n_in, &along);
    kiln_array_free(array);
    return status;
}

/* A given output of one axis, seen with the input's axes. */
static kiln_status call_into_flat(const known *k, kiln_array *given, const char *name, const kiln_arg *in,
                                  int n_in, const kiln_call_options *options)
{
    const kiln_array *x = in[0].kind == KILN_ARG_ARRAY ? in[0].value.array : NULL;
    int64_t size = x ? x->size : 1;
    kiln_array *view = NULL;
    if (given->ndim != 1 || given->size != size)
        return kn_error(
            KILN_ERROR_SHAPE,
            "%s: out[0]: an array of %d axes and %lld elements was given; without axes the result "
            "has one axis of %lld",
            name, given->ndim, (long long)given->size, (long long)size);
    kiln_status status = kiln_array_reshape(&view, given, x ? x->ndim : 0, x ? x->shape : NULL);
    if (status == KILN_OK)
        status = call_kernel(k, &view, 1, in, n_in, options);
    kiln_array_free(view);
    return status;
}

static kiln_status call_flat(const known *k, kiln_array **out, int n_out, const char *name,
                             const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    static const int64_t all = -1;
    kiln_array *result = NULL;
    if (n_out != 1 || !out || n_in < 1)
        return call_kernel(k, out, n_out, in, n_in, options);
    if (out[0])
        return call_into_flat(k, out[0], name, in, n_in, options);
    kiln_call_options in_order = *options;
    in_order.order = KILN_ORDER_C;
    kiln_status status = call_kernel(k, &result, 1, in, n_in, &in_order);
    if (status == KILN_OK)
        status = kiln_array_reshape(out, result, 1, &all);
    kiln_array_free(result);
    return status;
}

/* A call in a trace is recorded with its axes; a scan of all elements along one axis. */
static kiln_status record_call(kn_recorder *recorder, kiln_array **out, int n_out, const char *name,
                               const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    kiln_call_options o;
    if (kn_operation_traits(name) & KN_OP_SCANS) {
        kiln_status status = kn_call_options_read(&o, options);
        if (status != KILN_OK)
            return status;
        if (!o.axes && n_in > 0 && in[0].kind == KILN_ARG_ARRAY)
            return record_flat(recorder, out, n_out, name, in, n_in, &o);
    }
    return recorder->functions->apply(out, n_out, name, in, n_in, options);
}

static kiln_status call_scan(const known *k, kiln_array **out, int n_out, const char *name,
                             const kiln_arg *in, int n_in, const kiln_call_options *options)
{
    kiln_call_options o;
    kiln_status status = kn_call_options_read(&o, options);
    if (status != KILN_OK)
        return status;
    return o.axes ? call_kernel(k, out, n_out, in, n_in, options)
                  : call_flat(k, out, n_out, name, in, n_in, &o);
}

kiln_status kiln_operation_call(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                                const kiln_call_options *options)
{
    const known *k = NULL;
    kiln_status status = check_inputs(name, in, n_in);
    kn_recorder *recorder = status == KILN_OK ? kn_array_find_recorder(NULL, 0, in, n_in) : NULL;
    if (recorder)
        return record_call(recorder, out, n_out, name, in, n_in, options);
    if (status == KILN_OK)
        status = find_call(&k, name, in, n_in);
    if (status == KILN_OK)
        status = check_stores(k, name, out, n_out);
    if (status != KILN_OK)
        return status;
    if (k->is_clip)
        return call_clip(k, out, n_out, in, n_in, options);
    return k->scans ? call_scan(k, out, n_out, name, in, n_in, options)
                    : call_kernel(k, out, n_out, in, n_in, options);
}

kiln_status kiln_apply(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                       const kiln_call_options *options)
{
    return kiln_operation_call(out, n_out, name, in, n_in, options);
}

/* Arrays of these dtypes stand for typed scalars of them, except for texts that need a scalar. */
kiln_status kiln_operation_kernel(kiln_kernel **out, const char *name, const kiln_dtype *in, int n_in)
{
    kiln_arg arg[KN_MAX_PARAMS];
    const known *k = NULL;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status = check_inputs(name, in, n_in);
    for (int j = 0; j < n_in && status == KILN_OK; ++j) {
        arg[j] = kiln_arg_none();
        arg[j].kind = KILN_ARG_TYPED;
        arg[j].dtype = in[j];
        if (!kn_dtype_info_of(in[j]))
            status = kn_error(KILN_ERROR_TYPE, "%s: in[%d]: %d is no dtype", name, j, (int)in[j]);
    }
    if (status == KILN_OK)
        status = find_call(&k, name, arg, n_in);
    if (status == KILN_OK)
        *out = k->kernel;
    return status;
}

void kn_operations_forget(void)
{
    for (int c = 0; c < CHAINS; ++c)
        for (known *k = atomic_exchange(&chains[c], NULL), *next; k; k = next) {
            next = k->next;
            kn_free(k);
        }
    for (made *m = kernels, *next; m; m = next) {
        next = m->next;
        kiln_kernel_free(m->kernel);
        kn_free(m);
    }
    kernels = NULL;
    kn_operations_free();
}

__attribute__((destructor(KN_UNLOAD_KERNEL))) static void unload(void)
{
    if (!kn_unload_is_exit())
        kn_operations_forget();
}
