/* argwhere and nonzero: elements that are not zero are numbered by a selection, and their numbers become
 * indices along axes. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"
#include "kernel/algorithm.h"
#include "kernel/indexed.h"
#include "kernel/sort.h"
#include "program/program.h"
#include "space/shape.h"
#include "types/dtype.h"

typedef struct nonzero {
    int n_axes, axis; /* 0: argwhere; results; the one axis, or -1: all of them */
    kiln_kernel *find;
} nonzero;

static const char *name_of(const nonzero *z)
{
    return z->n_axes ? "nonzero" : "argwhere";
}

static kiln_status check(const nonzero *z, const kn_described *in)
{
    if (in->is_number)
        return kn_error(KILN_ERROR_TYPE, "%s: a number was given; an array was expected", name_of(z));
    if (z->axis >= in->ndim)
        return kn_error(KILN_ERROR_SHAPE,
                        "nonzero: the indices along axis %d were asked for; the array has %d axes", z->axis,
                        in->ndim);
    if (z->n_axes && z->axis < 0 && z->n_axes != in->ndim)
        return kn_error(KILN_ERROR_SHAPE, "nonzero: %d results were asked for; the array has %d axes",
                        z->n_axes, in->ndim);
    return KILN_OK;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const nonzero *z = context;
    (void)j;
    kiln_status status = check(z, in);
    *out = (kn_described){.dtype = KILN_INT64, .ndim = z->n_axes ? 1 : 2, .is_late = true, .takes_any = true};
    out->shape[0] = kn_shape_size(in->ndim, in->shape);
    out->shape[1] = in->ndim;
    return status;
}

/* ---- lowering ---- */

typedef struct lowering {
    kn_lowered *out;
    const nonzero *z;
    const kn_lowering_call *call;
    const kiln_array *x;
    int numbers, found; /* buffers */
} lowering;

static kiln_status bind_buffer(kn_lowered_part *part, int at, const lowering *l, int buffer, int ndim,
                               int64_t count)
{
    const kn_source source = {.kind = KN_FROM_BUFFER, .index = buffer};
    return kn_lowered_bind(part, at, l->call, &source, KILN_INT64, ndim, &count, NULL);
}

/* Along one axis numbers are indices: they are found where they are wanted. */
static bool are_numbers_results(const lowering *l)
{
    return l->z->n_axes > 0 && l->x->ndim == 1;
}

static kiln_status bind_numbers(kn_lowered_part *part, const lowering *l)
{
    const kiln_array *given = l->call->out ? l->call->out[0] : NULL;
    return are_numbers_results(l) ? kn_lowered_bind_output(part, 1, l->call, 0, KILN_INT64, 1,
                                                           given ? given->shape : &l->x->size)
                                  : bind_buffer(part, 1, l, l->numbers, 1, l->x->size);
}

static kiln_status add_find(lowering *l)
{
    const size_t size = (size_t)(l->x->size > 0 ? l->x->size : 1);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_buffer(&l->found, l->out, sizeof(int64_t));
    if (status == KILN_OK && !are_numbers_results(l))
        status = kn_lowered_add_buffer(&l->numbers, l->out, size * sizeof(int64_t));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, l->out, l->z->find);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, l->call, 0, l->x->dtype);
    if (status == KILN_OK)
        status = bind_numbers(part, l);
    return status == KILN_OK ? bind_buffer(part, 2, l, l->found, 0, 0) : status;
}

/* The texts that store the indices of element i among those that were found. */
static void write_texts(kn_str *outs, kn_str *body, const lowering *l)
{
    const int ndim = l->x->ndim, count = l->z->n_axes;
    kn_str_append(body, "if (i < found[0]) {\nint64 rest = number[i];\n");
    for (int a = ndim; a-- > 0;) {
        const bool is_wanted = l->z->axis < 0 || l->z->axis == a;
        kn_str_printf(body, "const int64 at%d = rest %% x.shape()[%d]; rest /= x.shape()[%d]; (void)at%d;\n",
                      a, a, a, a);
        if (count && is_wanted)
            kn_str_printf(body, "if (i < y%d.size()) y%d[i] = at%d;\n", l->z->axis < 0 ? a : 0,
                          l->z->axis < 0 ? a : 0, a);
        if (!count)
            kn_str_printf(body, "if (i < y0.shape()[0]) y0(i, %d) = at%d;\n", a, a);
    }
    kn_str_append(body, "}");
    for (int j = 0; j < (count ? count : 1); ++j)
        kn_str_printf(outs, "%sraw int64 y%d", j > 0 ? ", " : "", j);
}

static kiln_status make_program(kn_program **out, const lowering *l)
{
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kn_str_printf(&in, "raw %s x, raw int64 number, raw int64 found", kiln_dtype_name(l->x->dtype));
    write_texts(&outs, &body, l);
    kiln_status status = kn_program_written(out, &in, &outs, &body, name_of(l->z), NULL);
    if (status == KILN_OK)
        (*out)->left_outputs = 0; /* elements behind the last one are no results */
    return status;
}

static kiln_status add_indices(lowering *l)
{
    const int count = l->z->n_axes ? l->z->n_axes : 1;
    kn_program *program = NULL;
    kn_lowered_part *part;
    kiln_status status = make_program(&program, l);
    if (status == KILN_OK)
        status = kn_lowered_add_program(&part, l->out, program);
    if (status == KILN_OK)
        status = kn_lowered_bind_input(part, 0, l->call, 0, l->x->dtype);
    if (status == KILN_OK)
        status = bind_buffer(part, 1, l, l->numbers, 1, l->x->size);
    if (status == KILN_OK)
        status = bind_buffer(part, 2, l, l->found, 0, 0);
    for (int j = 0; j < count && status == KILN_OK; ++j) {
        const kiln_array *given = l->call->out ? l->call->out[j] : NULL;
        const int64_t shape[2] = {given ? given->shape[0] : l->x->size, l->x->ndim};
        status = kn_lowered_bind_output(part, 3 + j, l->call, j, KILN_INT64, l->z->n_axes ? 1 : 2, shape);
    }
    if (status == KILN_OK)
        kn_lowered_set_shape(part, 1, &l->x->size);
    return status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const nonzero *z = context;
    lowering l = {.out = out, .z = z, .call = call, .x = call->in[0].value.array};
    kn_described in;
    memset(&in, 0, sizeof in);
    kn_describe_arguments(&in, call->in, 1);
    kiln_status status = check(z, &in);
    if (status == KILN_OK)
        status = add_find(&l);
    if (status == KILN_OK && l.x->size > 0 && l.x->ndim > 0 && !are_numbers_results(&l))
        status = add_indices(&l);
    for (int j = 0; j < (z->n_axes ? z->n_axes : 1); ++j)
        out->late[j] = (kn_late){true, {.kind = KN_FROM_BUFFER, .index = l.found}, 0};
    return status;
}

static void release(void *context)
{
    nonzero *z = context;
    kiln_kernel_free(z->find);
    kn_free(z);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const char *const x[] = {"x"};
    char own[KILN_MAX_NDIM][16];
    const char *results[KILN_MAX_NDIM];
    kn_program *prototype = NULL;
    nonzero *z = kn_malloc(sizeof *z);
    if (!z)
        return kn_error_memory(sizeof *z, "a kernel");
    *z = *(const nonzero *)of;
    const int count = z->n_axes ? z->n_axes : 1;
    for (int j = 0; j < count; ++j) {
        snprintf(own[j], sizeof own[j], "at%d", j);
        results[j] = own[j];
    }
    kiln_status status = kn_select_find(&z->find, "T x", "int64 number", "x != (T)0", "number = i");
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, name_of(z), x, 1, results, count);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, z);
    release(z);
    return status;
}

kiln_status kn_nonzero_find(kiln_kernel **out, int n_axes, int axis)
{
    const nonzero z = {.n_axes = n_axes, .axis = axis};
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "nonzero %d %d", n_axes, axis);
    kiln_status status = n_axes <= KN_MAX_PARAMS / 2
                             ? kn_kernel_remembered(out, &key, make, &z)
                             : kn_error(KILN_ERROR_INVALID, "nonzero: %d results; at most %d are possible",
                                        n_axes, KN_MAX_PARAMS / 2);
    kn_str_free(&key);
    return status;
}
