/* The options of a call, read once. */
#include "kernel/kernel.h"

#include <string.h>

#include "base/error.h"
#include "base/sized.h"

/* size and shape both give the number of elements where no array does. */
static kiln_status check_extent(const kiln_call_options *o)
{
    if (o->size < 0)
        return kn_error(KILN_ERROR_INVALID,
                        "options.size: %lld was given; 0 or more was expected (0: from the arrays)",
                        (long long)o->size);
    if (!o->shape && o->ndim != 0)
        return kn_error(KILN_ERROR_INVALID,
                        "options.ndim: %d was given, but options.shape is NULL; its extents were expected",
                        o->ndim);
    if (o->shape && o->size > 0)
        return kn_error(KILN_ERROR_INVALID,
                        "options.size: %lld was given beside options.shape; one of the two was expected",
                        (long long)o->size);
    if (!o->shape)
        return KILN_OK;
    kiln_status status = kn_array_check_shape(KILN_BOOL, o->ndim, o->shape);
    if (status != KILN_OK)
        kn_error_context("options.shape");
    return status;
}

kiln_status kn_call_options_read(kiln_call_options *out, const kiln_call_options *given)
{
    *out = (kiln_call_options)KILN_CALL_OPTIONS_INIT;
    if (!given)
        return KILN_OK;
    kiln_status status = kn_sized_read(out, sizeof *out, given, "options", "KILN_CALL_OPTIONS_INIT");
    if (status == KILN_OK)
        status = kn_sized_check_flags(out->flags, KILN_CALL_NO_COMPILE | KILN_CALL_KEEPDIMS | KILN_CALL_BEST,
                                      "KILN_CALL");
    if (status != KILN_OK)
        return status;
    if ((int)out->order < KILN_ORDER_C || (int)out->order > KILN_ORDER_ANY)
        return kn_error(KILN_ERROR_INVALID,
                        "options.order: %d was given; KILN_ORDER_C, KILN_ORDER_KEEP, KILN_ORDER_FORTRAN or "
                        "KILN_ORDER_ANY was expected",
                        (int)out->order);
    if (out->block < 0) /* how many are too many is the target's to say */
        return kn_error(KILN_ERROR_INVALID,
                        "options.block: %d was given; 0 (kiln's choice) or a number of threads was expected",
                        out->block);
    if (out->n_axes < 0 || out->n_axes > KILN_MAX_NDIM || (!out->axes && out->n_axes > 0))
        return kn_error(KILN_ERROR_INVALID,
                        "options.n_axes: %d was given, and axes %s; 0 to %d were expected", out->n_axes,
                        out->axes ? "an array" : "NULL", out->axes ? KILN_MAX_NDIM : 0);
    return check_extent(out);
}
