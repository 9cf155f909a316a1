/* kiln_unique_parts, kiln_unravel_index: calls of expressions, which are remembered by their texts. */
#include "expr/text_call.h"

#include <kiln/expression.h>
#include <kiln/index.h>
#include <kiln/sort.h>
#include "base/error.h"
#include "base/str.h"
#include "kernel/sort.h"

typedef struct text {
    const char *params, *expression;
} text;

static kiln_status make(kiln_kernel **out, const void *of)
{
    const text *t = of;
    return kiln_expression_create(out, t->params, t->expression, NULL);
}

kiln_status kn_call_text(kiln_array **out, int n_out, const char *params, const char *expression,
                         const kiln_arg *in, int n_in)
{
    const text t = {params, expression};
    kiln_kernel *kernel = NULL;
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "expression %s: %s", params, expression);
    kiln_status status = kn_kernel_remembered(&kernel, &key, make, &t);
    kn_str_free(&key);
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, n_out, in, n_in, NULL);
    kiln_kernel_free(kernel);
    return status;
}

static kiln_status call_written(kiln_array **out, int n_out, kn_str *expression, const kiln_arg *x)
{
    kiln_status status = kn_str_status(expression, "the text of a function");
    if (status == KILN_OK)
        status = kn_call_text(out, n_out, "x", kn_str_text(expression), x, 1);
    kn_str_free(expression);
    return status;
}

kiln_status kiln_unique_parts(kiln_array **out, kiln_arg x, int axis, unsigned flags)
{
    const unsigned all = KILN_UNIQUE_INDEX | KILN_UNIQUE_INVERSE | KILN_UNIQUE_COUNTS;
    kn_str expression = KN_STR_INIT;
    int n_out = 1;
    if (!out || (flags & ~all))
        return out ? kn_error(KILN_ERROR_INVALID,
                              "unique_parts: flags: 0x%x was given; only KILN_UNIQUE_* (0x%x) are known",
                              flags, all)
                   : kn_error(KILN_ERROR_INVALID,
                              "unique_parts: out is NULL; the address of an array was expected");
    kn_str_append(&expression, "unique(x");
    for (int k = 0; k < 3; ++k) {
        kn_str_append(&expression, flags >> k & 1 ? ", True" : ", False");
        n_out += (int)(flags >> k & 1);
    }
    kn_str_printf(&expression, ", axis=%d)", axis);
    return call_written(out, n_out, &expression, &x);
}

kiln_status kiln_unravel_index(kiln_array **out, kiln_arg indices, const int64_t *shape, int ndim)
{
    kn_str expression = KN_STR_INIT;
    if (!out || !shape)
        return kn_error(KILN_ERROR_INVALID, "unravel_index: %s is NULL", out ? "shape" : "out");
    if (ndim < 1 || ndim > KILN_MAX_NDIM)
        return kn_error(KILN_ERROR_INVALID, "unravel_index: ndim: %d was given; 1 to %d were expected", ndim,
                        KILN_MAX_NDIM);
    kn_str_append(&expression, "unravel_index(x, (");
    for (int k = 0; k < ndim; ++k)
        kn_str_printf(&expression, "%lld, ", (long long)shape[k]);
    kn_str_append(&expression, "))");
    return call_written(out, ndim, &expression, &indices);
}
