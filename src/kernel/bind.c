/* Binds the arguments of a call to the parameters of a program. */
#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* For each placeholder the parameter that determined it, for messages. */
typedef struct letters {
    kiln_dtype dtype[26];
    const char *by[26];
} letters;

kiln_status kn_check_counts(const kn_program *p, int n_out, const kiln_arg *in, int n_in)
{
    if (n_in != p->n_in)
        return kn_error(KILN_ERROR_INVALID, "%s: %d input argument%s given, %d expected", p->name, n_in,
                        n_in == 1 ? " was" : "s were", p->n_in);
    if (n_out != p->n_out)
        return kn_error(KILN_ERROR_INVALID, "%s: %d output argument%s given, %d expected", p->name, n_out,
                        n_out == 1 ? " was" : "s were", p->n_out);
    if (n_in > 0 && !in)
        return kn_error(KILN_ERROR_INVALID, "%s: in is NULL; %d arguments were expected", p->name, n_in);
    return KILN_OK;
}

/* Checks that the argument is of a kind that the parameter takes, whatever its dtype. */
static kiln_status check_kind(const kn_program *p, const kn_param *param, const kiln_arg *arg)
{
    if (arg->kind < KILN_ARG_ARRAY || arg->kind > KILN_ARG_STRUCT)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: '%s': the argument is of kind %d; use the kiln_arg_* constructors", p->name,
                        param->name, arg->kind);
    if (arg->kind == KILN_ARG_ARRAY && !arg->value.array)
        return kn_error(KILN_ERROR_INVALID, "%s: '%s': the array is NULL; a kiln_array was expected", p->name,
                        param->name);
    if ((param->type == KN_TYPE_STRUCT) != (arg->kind == KILN_ARG_STRUCT))
        return kn_error(KILN_ERROR_TYPE, "%s: '%s' %s", p->name, param->name,
                        param->type == KN_TYPE_STRUCT ? "is a struct: kiln_arg_struct was expected"
                                                      : "is not a struct, but kiln_arg_struct was given");
    if (arg->kind != KILN_ARG_ARRAY && p->indexed >> (param - p->param) & 1)
        return kn_error(KILN_ERROR_TYPE,
                        "%s: '%s' is raw, and the texts index it: an array was expected (one without axes "
                        "will do), a scalar was given",
                        p->name, param->name);
    if (arg->kind == KILN_ARG_TYPED && kiln_dtype_size((kiln_dtype)arg->dtype) == 0)
        return kn_error(
            KILN_ERROR_TYPE,
            "%s: '%s': a scalar of dtype number %d was given, which is no dtype; one of KILN_BOOL "
            "to KILN_COMPLEX128 was expected",
            p->name, param->name, arg->dtype);
    if (arg->kind == KILN_ARG_STRUCT && !kn_struct_is_sound(arg))
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: '%s': a struct of %zu bytes at %s was given; 1 to %d bytes at an address were expected",
            p->name, param->name, arg->value.pod.size, arg->value.pod.data ? "an address" : "NULL",
            KN_STRUCT_MAX);
    return KILN_OK;
}

static kiln_status refuse_dtype(const kn_program *p, const kn_param *param, kiln_dtype dtype)
{
    const char *declared = kiln_dtype_name(param->dtype), *given = kiln_dtype_name(dtype);
    if (param->c_name)
        return kn_error(
            KILN_ERROR_TYPE,
            "%s: '%s' is declared %s, which is NumPy's %s (C's is %s), but an array of %s was given", p->name,
            param->name, param->c_name->name, declared, param->c_name->dtype, given);
    return kn_error(KILN_ERROR_TYPE, "%s: '%s' is declared %s, but an array of %s was given", p->name,
                    param->name, declared, given);
}

/* *seen: the dtype in which the program sees an array of this one. */
static kiln_status bind_array_dtype(kiln_dtype *seen, const kn_program *p, const kn_param *param,
                                    kiln_dtype dtype, letters *l)
{
    *seen = dtype;
    if (param->type == KN_TYPE_DTYPE) {
        *seen = param->dtype;
        if (dtype == param->dtype || (p->casts && !param->is_raw))
            return KILN_OK;
        return refuse_dtype(p, param, dtype);
    }
    int letter = param->placeholder - 'A';
    if (l->by[letter] && l->dtype[letter] != dtype)
        return kn_error(KILN_ERROR_TYPE, "%s: type %c is %s by '%s' but %s by '%s'", p->name,
                        param->placeholder, kiln_dtype_name(l->dtype[letter]), l->by[letter],
                        kiln_dtype_name(dtype), param->name);
    l->dtype[letter] = dtype;
    l->by[letter] = param->name;
    return KILN_OK;
}

static kiln_status check_output(const kn_program *p, const kn_param *param, const kiln_array *a)
{
    if (a->is_read_only)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: output '%s' is read-only; an array that may be written was expected", p->name,
                        param->name);
    for (int d = 0; d < a->ndim && a->size > 0; ++d)
        if (a->strides[d] == 0 && a->shape[d] > 1)
            return kn_error(
                KILN_ERROR_INVALID,
                "%s: output '%s' has stride 0 along axis %d of extent %lld: its elements share memory",
                p->name, param->name, d, (long long)a->shape[d]);
    return KILN_OK;
}

/* The arrays of a call are all on the host or all on CUDA devices that can see each other; the first decides
 * where the kernel runs. */
static kiln_status bind_device(kn_binding *b, const kn_param *param, const kiln_array *a)
{
    kn_device *device = a->storage ? a->storage->device : NULL;
    bool peers = false;
    if (a->recorder)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: '%s' is a value of the trace '%s'; an array with data was expected",
                        b->program->name, param->name, a->recorder->name);
    if (!device)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: '%s' is a placeholder without data; an array with data was expected",
                        b->program->name, param->name);
    if (!b->device)
        b->device = device;
    if (device == b->device)
        return KILN_OK;
    if (device->backend == b->device->backend) {
        kiln_status status = kn_device_enable_peer(b->device, device, &peers);
        if (status != KILN_OK || peers)
            return status;
    }
    char here[16], there[16];
    return kn_error(
        KILN_ERROR_INVALID,
        "%s: '%s' is on %s, other arguments are on %s, and the two cannot reach each other's memory",
        b->program->name, param->name, kiln_device_name(device->id, there, sizeof there),
        kiln_device_name(b->device->id, here, sizeof here));
}

/* Refuses a raw output parameter: _non_const is for that. */
static kiln_status check_raw_writes(const kn_program *p, const kn_param *param, const kiln_array *a)
{
    if (!param->is_raw || !param->is_non_const || !a->is_read_only)
        return KILN_OK;
    return kn_error(
        KILN_ERROR_INVALID,
        "%s: '%s' is raw and _non_const, so that the body may write to it, but the array that was given "
        "is read-only; one that may be written was expected",
        p->name, param->name);
}

static kiln_status bind_array(kn_binding *b, int k, kiln_array *a, letters *l)
{
    const kn_param *param = &b->program->param[k];
    kiln_dtype seen;
    kiln_status status = bind_array_dtype(&seen, b->program, param, a->dtype, l);
    if (status == KILN_OK)
        status = check_raw_writes(b->program, param, a);
    if (status == KILN_OK)
        status = bind_device(b, param, a);
    b->array[k] = a;
    b->operand[k] =
        (kn_operand){.pass = param->is_raw ? KN_PASS_RAW : KN_PASS_ARRAY, .dtype = a->dtype, .seen = seen};
    if (param->is_raw) {
        b->operand[k].raw_contiguous = a->is_c_contiguous;
        b->operand[k].raw_rank = a->ndim;
    }
    return status;
}

static kiln_status bind_arrays(kn_binding *b, kiln_array *const *out, const kiln_arg *in, letters *l)
{
    const kn_program *p = b->program;
    for (int j = 0; out && j < p->n_out; ++j) {
        if (!out[j])
            continue;
        kiln_status status = check_output(p, &p->param[p->n_in + j], out[j]);
        if (status == KILN_OK)
            status = bind_array(b, p->n_in + j, out[j], l);
        if (status != KILN_OK)
            return status;
    }
    for (int k = 0; k < p->n_in; ++k) {
        kiln_status status = check_kind(p, &p->param[k], &in[k]);
        if (status == KILN_OK && in[k].kind == KILN_ARG_ARRAY)
            status = bind_array(b, k, in[k].value.array, l);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

/* Placeholders that no array settled. */
static void bind_letters_from_scalars(const kn_binding *b, const kiln_arg *in, letters *l)
{
    const kn_program *p = b->program;
    uint64_t scalars[26] = {0};
    for (int k = 0; k < p->n_in; ++k)
        if (!b->array[k] && p->param[k].type == KN_TYPE_PLACEHOLDER)
            scalars[p->param[k].placeholder - 'A'] |= UINT64_C(1) << k;
    for (int k = 0; k < p->n_in; ++k) {
        const int c = p->param[k].type == KN_TYPE_PLACEHOLDER ? p->param[k].placeholder - 'A' : 0;
        if (l->by[c] || !(scalars[c] >> k & 1))
            continue;
        l->dtype[c] = kn_promote_scalars(in, scalars[c], p->n_in);
        l->by[c] = p->param[k].name;
    }
}

static kiln_status bind_rest(kn_binding *b, const kiln_arg *in, const letters *l)
{
    const kn_program *p = b->program;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_param *param = &p->param[k];
        if (b->array[k])
            continue;
        if (param->type == KN_TYPE_STRUCT) {
            b->operand[k] = (kn_operand){.pass = KN_PASS_STRUCT, .struct_size = (int)in[k].value.pod.size};
            continue;
        }
        bool placeholder = param->type == KN_TYPE_PLACEHOLDER;
        if (placeholder && !l->by[param->placeholder - 'A'])
            return kn_error(KILN_ERROR_TYPE,
                            "%s: output '%s': no argument settles type %c; pass an output array", p->name,
                            param->name, param->placeholder);
        b->operand[k] =
            (kn_operand){.pass = k < p->n_in     ? KN_PASS_SCALAR
                                 : param->is_raw ? KN_PASS_RAW
                                                 : KN_PASS_ARRAY,
                         .dtype = placeholder ? l->dtype[param->placeholder - 'A'] : param->dtype};
    }
    return KILN_OK;
}

int64_t kn_bytes_after(const kiln_array *a, const kiln_array *before)
{
    if (!before || a->ndim != before->ndim || a->dtype != before->dtype)
        return 0;
    bool is_same = memcmp(a->shape, before->shape, 2 * (size_t)a->ndim * sizeof *a->shape) ==
                   0; /* the strides are behind the shape */
    if (a->data == before->data)
        return is_same ? 0 : KN_SAME_ARRAY;
    if (!is_same)
        return 0;
    int64_t apart = (char *)a->data - (char *)before->data, reach = 0;
    for (int axis = 0; axis < a->ndim; ++axis)
        reach += llabs(a->strides[axis]) * (a->shape[axis] - 1);
    return llabs(apart) <= reach ? apart : 0;
}

/* Inputs among themselves, and outputs. */
static void bind_distances(kn_binding *b)
{
    const kiln_array *before = NULL;
    for (int k = 0; k < b->program->n_in + b->program->n_out; ++k) {
        before = k == b->program->n_in ? NULL : before;
        if (!b->array[k])
            continue;
        b->after[k] = kn_bytes_after(b->array[k], before);
        before = b->array[k];
    }
}

kiln_status kn_bind(kn_binding *b, const kn_program *program, kiln_array *const *out, int n_out,
                    const kiln_arg *in, int n_in)
{
    letters l;
    memset(&l, 0, sizeof l);
    memset(b, 0, sizeof *b);
    b->program = program;
    kiln_status status = kn_check_counts(program, n_out, in, n_in);
    if (status == KILN_OK)
        status = bind_arrays(b, out, in, &l);
    if (status != KILN_OK)
        return status;
    bind_letters_from_scalars(b, in, &l);
    status = bind_rest(b, in, &l);
    bind_distances(b);
    b->n_arrays = kn_operands_settle(b->operand, program->n_in + program->n_out);
    return status;
}

kiln_status kn_bind_prototype(kn_device **device, const kn_program *prototype, kiln_array *const *out,
                              int n_out, const kiln_arg *in, int n_in)
{
    kn_binding b;
    memset(&b, 0, sizeof b);
    b.program = prototype;
    kiln_status status = kn_check_counts(prototype, n_out, in, n_in);
    for (int j = 0; out && j < n_out && status == KILN_OK; ++j) {
        const kn_param *param = &prototype->param[prototype->n_in + j];
        status = out[j] ? check_output(prototype, param, out[j]) : KILN_OK;
        if (status == KILN_OK && out[j])
            status = bind_device(&b, param, out[j]);
    }
    for (int k = 0; k < n_in && status == KILN_OK; ++k) {
        status = check_kind(prototype, &prototype->param[k], &in[k]);
        if (status == KILN_OK && in[k].kind == KILN_ARG_ARRAY)
            status = bind_device(&b, &prototype->param[k], in[k].value.array);
    }
    if (status == KILN_OK && b.device)
        *device = b.device;
    return status;
}
