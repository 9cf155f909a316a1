/* Roots of covariances, a row of the result a step: each element of a row takes from that of the matrix the
 * products of the rows before, which are in the result already. */
#include "kernel/root.h"

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"
#include "kernel/sort.h"

typedef struct root {
    kiln_kernel *row;
} root;

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    (void)context, (void)j;
    if (in->is_number || in->ndim != 2 || in->shape[0] != in->shape[1])
        return kn_error(KILN_ERROR_SHAPE, "cov: a matrix with as many rows as columns was expected");
    if (in->dtype != KILN_FLOAT64)
        return kn_error(KILN_ERROR_TYPE, "cov: dtype %s was given; float64 was expected",
                        kiln_dtype_name(in->dtype));
    *out = (kn_described){.dtype = KILN_FLOAT64, .ndim = 2, .shape = {in->shape[0], in->shape[0]}};
    return KILN_OK;
}

/* Column k of the matrix, and its element on the diagonal for all. */
static kiln_status add_row(kn_lowered *out, const root *r, const kn_lowering_call *call, int64_t k)
{
    const kiln_array *cov = call->in[0].value.array;
    const int64_t n = cov->shape[0], shape[] = {n, n}, broadcast = 0;
    const kn_source column = {.kind = KN_FROM_INPUT, .shift = k * cov->strides[1]};
    const kn_source corner = {.kind = KN_FROM_INPUT, .shift = k * (cov->strides[0] + cov->strides[1])};
    const kiln_arg number = kiln_arg_int64(k);
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, r->row);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &column, KILN_FLOAT64, 1, &n, &cov->strides[0]);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, call, &corner, KILN_FLOAT64, 1, &n, &broadcast);
    if (status != KILN_OK)
        return status;
    kn_lowered_bind_number(part, 2, KILN_INT64, &number);
    return kn_lowered_bind_output(part, 3, call, 0, KILN_FLOAT64, 2, shape);
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    kiln_status status = KILN_OK;
    for (int64_t k = 0; k < call->in[0].value.array->shape[0] && status == KILN_OK; ++k)
        status = add_row(out, context, call, k);
    return status;
}

static void release(void *context)
{
    root *r = context;
    kiln_kernel_free(r->row);
    kn_free(r);
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};
    static const char *const cov = "cov", *const result = "root";
    kn_program *prototype = NULL;
    root *r = kn_calloc(1, sizeof *r);
    (void)of;
    if (!r)
        return kn_error_memory("the root of a matrix");
    /* `rest`: of the diagonal. Where rounding alone has left something of it, its row is zero, as that of a
     * semidefinite matrix is. */
    kiln_status status = kiln_elementwise_create(
        &r->row, "float64 a, float64 d, int64 k", "raw float64 root",
        "float64 element = a, rest = d;\n"
        "for (int64 j = 0; j < k; ++j) {\n"
        "    const float64 above = root[j * n + k];\n"
        "    element -= above * root[j * n + i];\n"
        "    rest -= above * above;\n"
        "}\n"
        "const float64 least = d * (float64)n * 0x1p-52;\n"
        "root[k * n + i] = i < k || (rest <= least && rest >= -least) ? 0.0 : element / sqrt(rest)",
        "root_row", NULL);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "root_of", &cov, 1, &result, 1);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, r);
    release(r);
    return status;
}

kiln_status kn_root_find(kiln_kernel **out)
{
    kn_str text = KN_STR_INIT;
    kn_str_append(&text, "root");
    kiln_status status = kn_kernel_remembered(out, &text, make, NULL);
    kn_str_free(&text);
    return status;
}
