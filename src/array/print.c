/* Text of arrays, as NumPy 2 prints them. */
#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "space/shape.h"
#include "types/decimal.h"
#include "types/number.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the elements that are shown, in host memory ---- */

typedef struct sample {
    int ndim, edge; /* edge: elements printed at each end of a long axis; 0: all */
    int64_t full[KILN_MAX_NDIM], shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    int64_t count;
    kiln_dtype dtype;
    size_t item_size;
    char *data;
} sample;

static bool is_cut(const sample *s, int axis)
{
    return s->edge && s->full[axis] > 2 * (int64_t)s->edge;
}

/* A corner of the array, which has no long axes, to its place in the sample. */
static kiln_status gather_corner(const sample *s, const kiln_array *corner, char *to)
{
    int64_t strides[KILN_MAX_NDIM];
    size_t size = kiln_array_nbytes(corner);
    char *buffer = kn_malloc(size ? size : 1);
    if (!buffer)
        return kn_error_memory("the text of an array");
    kiln_status status = kiln_array_to_host(corner, buffer, size);
    kn_shape_c_strides(s->ndim, corner->shape, (int64_t)s->item_size, strides);
    if (!status)
        kn_array_copy_elements(s->ndim, corner->shape, to, s->strides, buffer, strides,
                               (int64_t)s->item_size);
    kn_free(buffer);
    return status;
}

/* The two ends of each long axis, from `axis` on. */
static kiln_status gather(const sample *s, const kiln_array *view, int axis, char *to)
{
    while (axis < s->ndim && !is_cut(s, axis))
        axis++;
    if (axis == s->ndim)
        return gather_corner(s, view, to);
    kiln_status status = KILN_OK;
    for (int end = 0; end < 2 && !status; end++) {
        kiln_array *part = NULL;
        status = end == 0 ? kiln_array_slice(&part, view, axis, 0, s->edge, 1)
                          : kiln_array_slice(&part, view, axis, -(int64_t)s->edge, KILN_SLICE_NONE, 1);
        if (!status)
            status = gather(s, part, axis + 1, to + end * s->edge * s->strides[axis]);
        kiln_array_free(part);
    }
    return status;
}

static kiln_status sample_take(sample *s, const kiln_array *array, const kiln_print_options *options)
{
    *s = (sample){.ndim = array->ndim, .dtype = array->dtype, .item_size = (size_t)array->item_size};
    s->edge = array->size > options->threshold ? options->edge_items : 0;
    for (int k = 0; k < s->ndim; k++) {
        s->full[k] = array->shape[k];
        s->shape[k] = is_cut(s, k) ? 2 * (int64_t)s->edge : array->shape[k];
    }
    s->count = kn_shape_size(s->ndim, s->shape);
    kn_shape_c_strides(s->ndim, s->shape, (int64_t)s->item_size, s->strides);
    size_t size = (size_t)s->count * s->item_size;
    s->data = kn_malloc(size ? size : 1);
    if (!s->data)
        return kn_error_memory("the text of an array");
    return gather(s, array, 0, s->data);
}

static kn_number element(const sample *s, int64_t index)
{
    return kn_number_load(s->data + (size_t)index * s->item_size, s->dtype);
}

/* ---- floats ---- */

typedef struct float_format {
    kiln_dtype dtype; /* of the parts: float32 for complex64 */
    bool is_imaginary, has_plus, is_exponential;
    int precision, pad_left, pad_right, exponent_size;
} float_format;

static double part_of(const float_format *f, const kn_number *x)
{
    return f->is_imaginary ? x->im : x->re;
}

static int at_least(int a, int b)
{
    return a > b ? a : b;
}

/* Characters in front of the point, behind it, and of the exponent without its sign. */
typedef struct text_size {
    int left, right, exponent;
} text_size;

static kn_decimal digits_of(const float_format *f, double x)
{
    kn_decimal d;
    kn_decimal_shortest(&d, x, f->dtype);
    if (f->is_exponential)
        kn_decimal_limit_digits(&d, x, f->precision + 1);
    else
        kn_decimal_limit_places(&d, x, f->precision);
    return d;
}

static text_size measure(const float_format *f, double x)
{
    kn_decimal d = digits_of(f, x);
    int sign = signbit(x) || f->has_plus, exponent = abs(d.point - 1);
    if (f->is_exponential)
        return (text_size){1 + sign, d.count - 1, exponent > 99 ? 3 : 2};
    return (text_size){at_least(d.point, 1) + sign, at_least(d.count - d.point, 0), 0};
}

/* x as an element of dtype; NumPy compares and divides in it. */
static double in_dtype(double x, kiln_dtype dtype)
{
    return dtype == KILN_FLOAT16    ? kn_half_to_double(kn_half_from_double(x))
           : dtype == KILN_BFLOAT16 ? kn_bfloat16_to_double(kn_bfloat16_from_double(x))
           : dtype == KILN_FLOAT32  ? (double)(float)x
                                    : x;
}

/* From here on the exponent is written out: where the dtype's own digits end, 1e8 at most. */
static double exponent_limit(kiln_dtype dtype)
{
    return dtype == KILN_FLOAT16 ? 1e3 : dtype == KILN_BFLOAT16 ? 1e2 : dtype == KILN_FLOAT32 ? 1e6 : 1e8;
}

static void choose_notation(float_format *f, const sample *s)
{
    double largest = 0, smallest = INFINITY;
    for (int64_t k = 0; k < s->count; k++) {
        kn_number x = element(s, k);
        double magnitude = fabs(part_of(f, &x));
        if (!isfinite(magnitude) || magnitude == 0)
            continue;
        largest = fmax(largest, magnitude);
        smallest = fmin(smallest, magnitude);
    }
    f->is_exponential =
        largest > 0 && (largest >= exponent_limit(f->dtype) || smallest < in_dtype(0.0001, f->dtype) ||
                        in_dtype(largest / smallest, f->dtype) > 1000);
}

/* The widths of all finite elements, and at least the widths of the others. */
static void choose_widths(float_format *f, const sample *s)
{
    text_size widest = {0, 0, 0};
    int special = 0;
    for (int64_t k = 0; k < s->count; k++) {
        kn_number number = element(s, k);
        double x = part_of(f, &number);
        if (!isfinite(x)) {
            special = at_least(special, 3 + (f->has_plus || (isinf(x) && x < 0)));
            continue;
        }
        text_size size = measure(f, x);
        widest = (text_size){at_least(widest.left, size.left), at_least(widest.right, size.right),
                             at_least(widest.exponent, size.exponent)};
    }
    f->pad_left = widest.left;
    f->pad_right = widest.right;
    f->exponent_size = widest.exponent;
    if (f->is_exponential) {
        f->precision = widest.right;
        f->pad_right += widest.exponent + 2;
    }
    if (special)
        f->pad_left = at_least(f->pad_left, special - (f->pad_right + 1));
}

static void float_format_choose(float_format *f, const sample *s, int precision, bool is_imaginary)
{
    kiln_dtype dtype = s->dtype == KILN_COMPLEX64    ? KILN_FLOAT32
                       : s->dtype == KILN_COMPLEX128 ? KILN_FLOAT64
                                                     : s->dtype;
    *f = (float_format){
        .dtype = dtype, .is_imaginary = is_imaginary, .has_plus = is_imaginary, .precision = precision};
    choose_notation(f, s);
    choose_widths(f, s);
}

static const char *sign_of(const float_format *f, double x)
{
    return signbit(x) && !isnan(x) ? "-" : f->has_plus ? "+" : "";
}

/* Padding behind is counted into *trailing, for an imaginary part has its j in front of it. */
static void append_positional(kn_str *out, const float_format *f, double x, int *trailing)
{
    kn_decimal d = digits_of(f, x);
    text_size size = measure(f, x);
    kn_str_printf(out, "%*s%s", f->pad_left - size.left, "", sign_of(f, x));
    for (int k = 0; k < at_least(d.point, 1); k++)
        kn_str_append_n(out, d.point > 0 && k < d.count ? d.digits + k : "0", 1);
    kn_str_append(out, ".");
    for (int k = 0; k < size.right; k++)
        kn_str_append_n(out, d.point + k >= 0 ? d.digits + d.point + k : "0", 1);
    *trailing = f->pad_right - size.right;
}

/* All with the same number of digits, which are the value's own and not zeros where fewer would do. */
static void append_exponential(kn_str *out, const float_format *f, double x)
{
    kn_decimal d = digits_of(f, x);
    if (d.count <= f->precision)
        kn_decimal_round(&d, x, f->precision + 1);
    int exponent = d.point - 1, sign = signbit(x) || f->has_plus;
    kn_str_printf(out, "%*s%s%c.%se%c%0*d", f->pad_left - 1 - sign, "", sign_of(f, x), d.digits[0],
                  d.digits + 1, exponent < 0 ? '-' : '+', f->exponent_size, abs(exponent));
}

static void append_float(kn_str *out, const float_format *f, double x, const char *suffix)
{
    int trailing = 0;
    char special[8];
    if (!isfinite(x)) {
        snprintf(special, sizeof special, "%s%s", isnan(x) ? (f->has_plus ? "+" : "") : sign_of(f, x),
                 isnan(x) ? "nan" : "inf");
        kn_str_printf(out, "%*s", f->pad_left + f->pad_right + 1, special);
    } else if (f->is_exponential) {
        append_exponential(out, f, x);
    } else {
        append_positional(out, f, x, &trailing);
    }
    kn_str_printf(out, "%s%*s", suffix, trailing, "");
}

/* ---- elements ---- */

typedef struct printer {
    const sample *s;
    kn_dtype_kind kind;
    int line_width, integer_width;
    float_format real, imaginary;
    kn_str text, line, word;
    bool failed; /* of line or word, which forget it when they are cleared */
} printer;

static void choose_format(printer *p, int precision)
{
    char text[80];
    p->kind = kn_dtype_info_of(p->s->dtype)->kind;
    if (p->kind == KN_KIND_FLOAT || p->kind == KN_KIND_COMPLEX) {
        float_format_choose(&p->real, p->s, precision, false);
        if (p->kind == KN_KIND_COMPLEX)
            float_format_choose(&p->imaginary, p->s, precision, true);
        return;
    }
    for (int64_t k = 0; k < p->s->count && p->kind != KN_KIND_BOOL; k++) {
        kn_number x = element(p->s, k);
        kn_number_format(&x, text, sizeof text);
        p->integer_width = at_least(p->integer_width, (int)strlen(text));
    }
}

/* The element's text, to p->word. */
static void make_word(printer *p, int64_t index)
{
    char text[80];
    kn_number x = element(p->s, index);
    kn_str_clear(&p->word);
    if (p->kind == KN_KIND_BOOL) {
        kn_str_printf(&p->word, p->s->ndim ? "%5s" : "%s", x.i ? "True" : "False");
    } else if (p->kind == KN_KIND_INT || p->kind == KN_KIND_UINT) {
        kn_number_format(&x, text, sizeof text);
        kn_str_printf(&p->word, "%*s", p->integer_width, text);
    } else {
        append_float(&p->word, &p->real, x.re, "");
        if (p->kind == KN_KIND_COMPLEX)
            append_float(&p->word, &p->imaginary, x.im, "j");
    }
    p->failed |= p->word.failed;
}

/* ---- rows and brackets ---- */

/* Appends a word to the line, or to a new one if it does not fit. The bracket replaces the first line's
 * indent. */
static void put_word(printer *p, const char *word, int axis)
{
    size_t indent = (size_t)axis + 1,
           width = p->line_width > axis + 1 ? (size_t)(p->line_width - axis - 1) : 0;
    if (p->line.length + strlen(word) > width && p->line.length > indent) {
        while (p->line.length && p->line.data[p->line.length - 1] == ' ')
            p->line.length--;
        kn_str_append_n(&p->text, kn_str_text(&p->line), p->line.length);
        kn_str_append(&p->text, "\n");
        kn_str_clear(&p->line);
        kn_str_printf(&p->line, "%*s", (int)indent, "");
    }
    kn_str_append(&p->line, word);
    p->failed |= p->line.failed;
}

static void print_row(printer *p, int axis, int64_t offset)
{
    int64_t extent = p->s->shape[axis];
    kn_str_clear(&p->line);
    kn_str_printf(&p->line, "%*s", axis + 1, "");
    for (int64_t k = 0; k < extent; k++) {
        if (is_cut(p->s, axis) && k == p->s->edge) {
            put_word(p, "...", axis);
            kn_str_append(&p->line, " ");
        }
        make_word(p, offset + k);
        put_word(p, kn_str_text(&p->word), axis);
        kn_str_append(&p->line, k < extent - 1 ? " " : "");
    }
}

static void append_newlines(printer *p, int axis)
{
    for (int k = axis; k < p->s->ndim - 1; k++)
        kn_str_append(&p->text, "\n");
}

/* Lines are gathered behind `begin`: the indent of the first of them gives way to the bracket. */
static void print_axis(printer *p, int axis, int64_t offset)
{
    if (axis == p->s->ndim - 1) {
        size_t begin = p->text.length;
        print_row(p, axis, offset);
        kn_str_append(&p->text, kn_str_text(&p->line));
        if (p->text.failed || p->failed)
            return; /* the current line may lack the indent */
        memmove(p->text.data + begin, p->text.data + begin + axis, p->text.length - begin - (size_t)axis + 1);
        p->text.length -= (size_t)axis;
        p->text.data[begin] = '[';
    } else {
        int64_t rows = p->s->shape[axis], step = p->s->strides[axis] / (int64_t)p->s->item_size;
        kn_str_append(&p->text, "[");
        for (int64_t k = 0; k < rows && !p->text.failed; k++) {
            if (is_cut(p->s, axis) && k == p->s->edge) {
                kn_str_printf(&p->text, "%*s...", axis + 1, "");
                append_newlines(p, axis);
            }
            kn_str_printf(&p->text, "%*s", k ? axis + 1 : 0, "");
            print_axis(p, axis + 1, offset + k * step);
            if (k < rows - 1)
                append_newlines(p, axis);
        }
    }
    kn_str_append(&p->text, "]");
}

static void print_sample(printer *p, int precision)
{
    if (p->s->count == 0) {
        kn_str_append(&p->text, "[]");
        return;
    }
    choose_format(p, precision);
    if (p->s->ndim) {
        print_axis(p, 0, 0);
        return;
    }
    make_word(p, 0);
    kn_str_append(&p->text, kn_str_text(&p->word));
}

/* ---- the public function ---- */

static kiln_status read_options(kiln_print_options *known, const kiln_print_options *given)
{
    static const kiln_print_options defaults = {sizeof defaults, 8, 1000, 3, 75};
    *known = (kiln_print_options)KILN_PRINT_OPTIONS_INIT;
    kiln_status status = kn_sized_read(known, sizeof *known, given, "kiln_array_to_string: options",
                                       "KILN_PRINT_OPTIONS_INIT");
    if (status)
        return status;
    if (known->precision < 0 || known->threshold < 0 || known->edge_items < 0 || known->line_width < 0)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_string: an option is negative");
    known->precision = known->precision ? known->precision : defaults.precision;
    known->threshold = known->threshold ? known->threshold : defaults.threshold;
    known->edge_items = known->edge_items ? known->edge_items : defaults.edge_items;
    known->line_width = known->line_width ? known->line_width : defaults.line_width;
    return KILN_OK;
}

kiln_status kiln_array_to_string(char **out, const kiln_array *array, const kiln_print_options *options)
{
    kiln_print_options known;
    char *text = NULL;
    sample s = {.data = NULL};
    printer p = {.s = &s, .text = KN_STR_INIT, .line = KN_STR_INIT, .word = KN_STR_INIT};
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_array_to_string: out is NULL");
    kiln_status status = kn_array_check_data(array, "kiln_array_to_string");
    if (!status)
        status = read_options(&known, options);
    if (!status)
        status = sample_take(&s, array, &known);
    if (!status) {
        p.line_width = known.line_width;
        print_sample(&p, known.precision);
        p.text.failed |= p.failed;
        text = kn_str_take(&p.text, "the text of an array");
        status = text ? KILN_OK : KILN_ERROR_MEMORY;
    }
    if (!status)
        *out = text;
    kn_free(s.data);
    kn_str_free(&p.text);
    kn_str_free(&p.line);
    kn_str_free(&p.word);
    return status;
}
