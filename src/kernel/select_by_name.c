/* kernel/select_by_name.c - kiln_nonzero: a selection of indices along each axis. */
#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "kernel/kernel.h"

enum { MOST_AXES = 16 };

/* The texts for so many axes: extents are numbers of the call, so that one kernel serves all shapes. */
static void write_texts(kn_str *in, kn_str *outs, kn_str *body, int ndim)
{
    kn_str_append(in, "T x");
    kn_str_append(body, "int64 rest = i;\n");
    for (int a = 0; a < ndim; ++a)
        kn_str_printf(outs, "%sint64 at%d", a > 0 ? ", " : "", a);
    for (int a = ndim; a-- > 1;) {
        kn_str_printf(in, ", int64 n%d", a);
        kn_str_printf(body, "at%d = rest %% n%d; rest /= n%d;\n", a, a, a);
    }
    kn_str_append(body, "at0 = rest");
}

static kiln_status call(kiln_array **result, kiln_arg x)
{
    const int ndim = kiln_array_ndim(x.value.array);
    const int64_t *shape = kiln_array_shape(x.value.array);
    kn_str in = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    kiln_arg arg[MOST_AXES] = {x};
    write_texts(&in, &outs, &body, ndim);
    for (int a = ndim, k = 1; a-- > 1; ++k)
        arg[k] = kiln_arg_int64(shape[a]);
    kiln_status status = in.failed || outs.failed ? kn_error_memory("a selection's texts")
                                                  : kn_str_status(&body, "a selection's texts");
    if (status == KILN_OK)
        status = kiln_select(result, ndim + 1, kn_str_text(&in), kn_str_text(&outs), "x != (T)0",
                             kn_str_text(&body), arg, ndim);
    kn_str_free(&in);
    kn_str_free(&outs);
    kn_str_free(&body);
    return status;
}

kiln_status kiln_nonzero(kiln_array **out, kiln_arg x)
{
    kiln_array *result[MOST_AXES + 1] = {NULL};
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "nonzero: out is NULL; an array of results was expected");
    if (x.kind != KILN_ARG_ARRAY || !x.value.array)
        return kn_error(KILN_ERROR_TYPE, "nonzero: x is no array; one with at least one axis was expected");
    const int ndim = kiln_array_ndim(x.value.array);
    if (ndim < 1 || ndim > MOST_AXES)
        return kn_error(KILN_ERROR_SHAPE, "nonzero: x has %d axes; 1 to %d were expected", ndim, MOST_AXES);
    kiln_status status = call(result, x);
    if (status != KILN_OK)
        return status;
    memcpy(out, result, (size_t)ndim * sizeof *out);
    kiln_array_free(result[ndim]);
    return KILN_OK;
}
