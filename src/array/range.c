/* Ranges: whole numbers to the last bit, floating ones as NumPy counts them. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "types/number.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { RANGE_GRAIN = 1 << 15 };

/* From here on several whole numbers become the same double. */
#define INEXACT 9007199254740992.0

/* The arguments of a range, for all functions that make one. */
typedef struct range_call {
    const char *function;
    kiln_array **out;
    kiln_dtype dtype;
    kiln_device device;
} range_call;

static bool is_whole_dtype(kiln_dtype dtype)
{
    return kn_dtype_info_of(dtype)->kind <= KN_KIND_UINT;
}

static kiln_status check_call(const range_call *c)
{
    if (!c->out)
        return kn_error(KILN_ERROR_INVALID, "%s: out is NULL", c->function);
    return kn_array_check_shape(c->dtype, 0, NULL);
}

static kiln_status refuse_bool(const range_call *c, double count)
{
    return kn_error(KILN_ERROR_TYPE, "%s: a range of bool has 2 elements at most; %.0f were asked for",
                    c->function, count);
}

/* ---- elements ---- */

static double floating_element(const kn_range *r, int64_t k)
{
    if (k < 2) /* as they are: a step may be no number */
        return k == 0 ? r->start : r->second;
    if (r->is_narrow)
        return (double)((float)r->start + (float)k * (float)r->step);
    return r->start + (double)k * r->step;
}

/* Elements begin .. end of a range; data: the whole one's first. */
typedef void (*range_writer)(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype);

#define WHOLE(type)                                                                                          \
    static void write_##type(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)    \
    {                                                                                                        \
        (void)dtype;                                                                                         \
        for (int64_t k = begin; k < end; k++)                                                                \
            ((type *)(void *)data)[k] = (type)(r->first + (uint64_t)k * r->delta);                           \
    }
WHOLE(uint8_t)
WHOLE(uint16_t)
WHOLE(uint32_t)
WHOLE(uint64_t)

static void write_float(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    const float start = (float)r->start, step = (float)r->step;
    (void)dtype;
    for (int64_t k = begin; k < end; k++)
        ((float *)(void *)data)[k] = start + (float)k * step;
}

static void write_double(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    (void)dtype;
    for (int64_t k = begin; k < end; k++)
        ((double *)(void *)data)[k] = r->start + (double)k * r->step;
}

static void write_any(char *data, int64_t begin, int64_t end, const kn_range *r, kiln_dtype dtype)
{
    size_t item = (size_t)kn_dtype_info_of(dtype)->size;
    for (int64_t k = begin; k < end; k++) {
        kn_number number = {.kind = KN_KIND_FLOAT, .re = floating_element(r, k)};
        kn_number_store(data + (size_t)k * item, dtype, &number);
    }
}

static range_writer writer_of(const kn_range *r, kiln_dtype dtype)
{
    int size = kn_dtype_info_of(dtype)->size;
    if (r->is_whole)
        return size == 1   ? write_uint8_t
               : size == 2 ? write_uint16_t
               : size == 4 ? write_uint32_t
                           : write_uint64_t;
    return dtype == KILN_FLOAT32 ? write_float : dtype == KILN_FLOAT64 ? write_double : write_any;
}

typedef struct range_work {
    char *data;
    const kn_range *range;
    kiln_dtype dtype;
} range_work;

static void write_part(void *user, int64_t begin, int64_t end)
{
    const range_work *w = user;
    writer_of(w->range, w->dtype)(w->data, begin, end, w->range, w->dtype);
}

static void write_range(char *data, int64_t count, const kn_range *r, kiln_dtype dtype)
{
    range_work work = {data, r, dtype};
    kn_host_parallel(count, RANGE_GRAIN, write_part, &work);
    if (!r->is_whole) /* the first two are as they are: their difference may be no number */
        write_any(data, 0, count < 2 ? count : 2, r, dtype);
}

static kiln_status range_from_stage(kiln_array *a, const kn_range *r, const char *function)
{
    char *stage = kn_malloc(kiln_array_nbytes(a) + 1);
    if (!stage)
        return kn_error_memory("the values of a range");
    write_range(stage, a->size, r, a->dtype);
    kiln_status status = kn_array_upload(a, stage, function);
    kn_free(stage);
    return status;
}

/* ---- one array ---- */

static kiln_status fill_range(kiln_array *a, const kn_range *r, const char *function)
{
    const kn_array_kernels *kernels = kn_array_get_kernels();
    kiln_status status = KILN_ERROR_NOT_FOUND;
    if (a->storage->device->backend->kind == KN_HOST) {
        write_range(a->data, a->size, r, a->dtype);
        return KILN_OK;
    }
    if (kernels->range)
        status = kernels->range(a, r, NULL);
    return kn_array_host_may_help(status) ? range_from_stage(a, r, function) : status;
}

static kiln_status make_array(const range_call *c, int64_t count, const kn_range *r)
{
    kiln_array *a = NULL;
    kiln_status status = kiln_array_empty(&a, c->dtype, 1, &count, c->device);
    if (!status && count > 0)
        status = fill_range(a, r, c->function);
    if (status)
        kiln_array_free(a);
    else
        *c->out = a;
    return status;
}

/* ---- whole numbers ---- */

/* A range from start, upwards or downwards, up to but excluding the value span away. */
typedef struct whole_range {
    uint64_t start, span, step; /* start: bits of two's complement */
    bool is_unsigned, is_down;
} whole_range;

static kn_number number_of(uint64_t bits, bool is_unsigned)
{
    if (is_unsigned && bits > INT64_MAX)
        return (kn_number){.kind = KN_KIND_UINT, .u = bits};
    return (kn_number){.kind = KN_KIND_INT, .i = (int64_t)bits};
}

/* The bits of the element that lies `distance` from the first. */
static uint64_t bits_at(const whole_range *w, uint64_t distance)
{
    return w->is_down ? w->start - distance : w->start + distance;
}

/* Elements lie between the first and the last: where these fit the dtype, all do. */
static kiln_status check_fit(const range_call *c, const whole_range *w, uint64_t last)
{
    unsigned char element[16];
    char first_text[48], last_text[48];
    kn_number from = number_of(w->start, w->is_unsigned), to = number_of(bits_at(w, last), w->is_unsigned);
    if (kn_number_store(element, c->dtype, &from) && kn_number_store(element, c->dtype, &to))
        return KILN_OK;
    kn_number_format(&from, first_text, sizeof first_text);
    kn_number_format(&to, last_text, sizeof last_text);
    return kn_error(KILN_ERROR_TYPE, "%s: the range from %s to %s does not fit %s", c->function, first_text,
                    last_text, kiln_dtype_name(c->dtype));
}

static kiln_status make_whole(const range_call *c, const whole_range *w, int64_t count)
{
    kn_range r = {.is_whole = true, .first = w->start, .delta = w->is_down ? 0 - w->step : w->step};
    if (c->dtype == KILN_BOOL) {
        if (count > 2)
            return refuse_bool(c, (double)count);
        r.first = w->start != 0;
        r.delta = (uint64_t)(bits_at(w, w->step) != 0) - r.first;
        return make_array(c, count, &r);
    }
    kiln_status status = count > 0 ? check_fit(c, w, ((uint64_t)count - 1) * w->step) : KILN_OK;
    return status ? status : make_array(c, count, &r);
}

static kiln_status count_whole(const range_call *c, int64_t *count, const whole_range *w)
{
    uint64_t n = w->span / w->step + (w->span % w->step != 0);
    if (n > INT64_MAX)
        return kn_error(KILN_ERROR_SHAPE, "%s: %" PRIu64 " elements are too many; 2^63 - 1 are possible",
                        c->function, n);
    *count = (int64_t)n;
    return KILN_OK;
}

/* ---- floating numbers ---- */

static kiln_status count_range(const range_call *c, int64_t *count, double start, double stop, double step)
{
    double n = ceil((stop - start) / step);
    if (!isfinite(start) || !isfinite(stop) || !isfinite(step) || step == 0)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: start %g, stop %g and step %g make no range: numbers, and a step that is not 0, were "
            "expected",
            c->function, start, stop, step);
    if (n >= INEXACT)
        return kn_error(KILN_ERROR_SHAPE, "%s: %g elements are too many", c->function, n);
    *count = n > 0 ? (int64_t)n : 0;
    return KILN_OK;
}

/* Converts x to dtype: whole numbers are truncated, bool is x != 0. False: it does not fit. */
static bool as_element(kn_number *out, double x, kiln_dtype dtype)
{
    unsigned char element[16];
    double held = dtype == KILN_BOOL ? x != 0 : is_whole_dtype(dtype) ? trunc(x) : x;
    kn_number number = {.kind = KN_KIND_FLOAT, .re = held};
    if (!kn_number_store(element, dtype, &number))
        return false;
    *out = kn_number_load(element, dtype);
    return true;
}

static uint64_t bits_of(const kn_number *x)
{
    return x->kind == KN_KIND_UINT ? x->u : (uint64_t)x->i;
}

/* A range of truncated fractions: whole steps, as determined by the first two elements. */
static kiln_status make_cut(const range_call *c, int64_t count, double start, double step)
{
    kn_number first = {.kind = KN_KIND_INT}, second = first;
    if (c->dtype == KILN_BOOL && count > 2)
        return refuse_bool(c, (double)count);
    if ((count > 0 && !as_element(&first, start, c->dtype)) ||
        (count > 1 && !as_element(&second, start + step, c->dtype)))
        return kn_error(KILN_ERROR_TYPE, "%s: the range from %.17g by %.17g does not fit %s", c->function,
                        start, step, kiln_dtype_name(c->dtype));
    uint64_t from = bits_of(&first), delta = count > 1 ? bits_of(&second) - from : 0;
    if (c->dtype == KILN_BOOL)
        return make_array(c, count, &(kn_range){.is_whole = true, .first = from, .delta = delta});
    whole_range w = {.start = from, .is_unsigned = first.kind == KN_KIND_UINT, .is_down = step < 0};
    w.step = w.is_down ? 0 - delta : delta;
    return make_whole(c, &w, count);
}

/* As NumPy: the first two elements are made in the dtype, the others from their difference, in float for
 * narrow dtypes. */
static kiln_status make_floating(const range_call *c, int64_t count, double start, double step)
{
    kn_number first = {.kind = KN_KIND_FLOAT}, second = first;
    as_element(&first, start, c->dtype);
    as_element(&second, start + step, c->dtype);
    kn_range r = {.is_narrow = c->dtype != KILN_FLOAT64 && c->dtype != KILN_COMPLEX128};
    r.start = first.re;
    r.second = second.re;
    r.step = r.is_narrow ? (double)((float)second.re - (float)first.re) : second.re - first.re;
    return make_array(c, count, &r);
}

/* ---- the functions ---- */

/* A whole number that a double holds without doubt. */
static bool is_whole(double x)
{
    return fabs(x) < INEXACT && x == trunc(x);
}

static whole_range between(int64_t start, int64_t stop, int64_t step)
{
    whole_range w = {.start = (uint64_t)start, .is_down = step < 0};
    w.step = w.is_down ? 0 - (uint64_t)step : (uint64_t)step;
    if (w.is_down ? start > stop : start < stop)
        w.span = w.is_down ? (uint64_t)start - (uint64_t)stop : (uint64_t)stop - (uint64_t)start;
    return w;
}

/* Floating dtypes hold the values of doubles: larger whole numbers are refused rather than rounded. */
static kiln_status range_of_integers(const range_call *c, const whole_range *w, uint64_t stop)
{
    kn_number start = number_of(w->start, w->is_unsigned), end = number_of(stop, w->is_unsigned);
    double from = start.kind == KN_KIND_UINT ? (double)start.u : (double)start.i,
           to = end.kind == KN_KIND_UINT ? (double)end.u : (double)end.i, step = (double)w->step;
    int64_t count = 0;
    kiln_status status = check_call(c);
    if (!status && w->step == 0)
        status = kn_error(KILN_ERROR_INVALID, "%s: step is 0; another number was expected", c->function);
    if (!status)
        status = count_whole(c, &count, w);
    if (status || is_whole_dtype(c->dtype))
        return status ? status : make_whole(c, w, count);
    if (fabs(from) >= INEXACT || fabs(to) >= INEXACT || step >= INEXACT)
        return kn_error(KILN_ERROR_TYPE,
                        "%s: %s does not hold every whole number from 2^53 on; a dtype of whole numbers was "
                        "expected for a range from %.0f to %.0f by %.0f",
                        c->function, kiln_dtype_name(c->dtype), from, to, w->is_down ? -step : step);
    return make_floating(c, count, from, w->is_down ? -step : step);
}

kiln_status kiln_array_arange_int(kiln_array **out, int64_t start, int64_t stop, int64_t step,
                                  kiln_dtype dtype, kiln_device device)
{
    const range_call c = {"kiln_array_arange_int", out, dtype, device};
    const whole_range w = between(start, stop, step);
    return range_of_integers(&c, &w, (uint64_t)stop);
}

kiln_status kiln_array_arange_uint(kiln_array **out, uint64_t start, uint64_t stop, int64_t step,
                                   kiln_dtype dtype, kiln_device device)
{
    const range_call c = {"kiln_array_arange_uint", out, dtype, device};
    whole_range w = between(0, 0, step);
    w.start = start;
    w.is_unsigned = true;
    w.span = w.is_down ? (start > stop ? start - stop : 0) : start < stop ? stop - start : 0;
    return range_of_integers(&c, &w, stop);
}

kiln_status kiln_array_arange(kiln_array **out, double start, double stop, double step, kiln_dtype dtype,
                              kiln_device device)
{
    const range_call c = {"kiln_array_arange", out, dtype, device};
    int64_t count = 0;
    kiln_status status = check_call(&c);
    if (!status)
        status = count_range(&c, &count, start, stop, step);
    if (status)
        return status;
    if (!is_whole_dtype(dtype))
        return make_floating(&c, count, start, step);
    if (fabs(start) >= INEXACT || fabs(stop) >= INEXACT || fabs(step) >= INEXACT)
        return kn_error(
            KILN_ERROR_TYPE,
            "kiln_array_arange: start %.17g, stop %.17g and step %.17g were given for %s: from 2^53 on a "
            "double may stand for several whole numbers; kiln_array_arange_int and _uint take them "
            "as they are",
            start, stop, step, kiln_dtype_name(dtype));
    if (!is_whole(start) || !is_whole(stop) || !is_whole(step))
        return make_cut(&c, count, start, step);
    const whole_range w = between((int64_t)start, (int64_t)stop, (int64_t)step);
    status = count_whole(&c, &count, &w);
    return status ? status : make_whole(&c, &w, count);
}
