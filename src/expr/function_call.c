/* Functions of expressions called by name: the call is written as an expression, whose kernel is remembered
 * by its text. Arrays and numbers by value are its inputs; whole numbers, dtypes and axes stand in it. */
#include <kiln/expression.h>

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "expr/composed_table.h"
#include "kernel/kernel.h"
#include "kernel/sort.h"
#include "types/dtype.h"

/* A call as an expression. */
typedef struct written {
    kn_str params, text, key;
    kiln_arg in[KN_COMPOSED_PARAMS];
    int n_in;
    bool is_first; /* no argument has been written yet */
} written;

static bool is_of_options(const kn_composed_params *of, int k)
{
    return !of->is_whole[k] && strcmp(of->name[k], "axis") == 0;
}

static bool is_keepdims(const kn_composed_params *of, int k)
{
    return strcmp(of->name[k], "keepdims") == 0;
}

static int count_arguments(const kn_composed_params *of)
{
    int count = 0;
    for (int k = 0; k < of->count; ++k)
        count += !is_of_options(of, k) && !is_keepdims(of, k);
    return count;
}

/* The row of this name with so many arguments. */
static kiln_status find_row(const kn_composed **out, kn_composed_params *of, const char *name, int n_in)
{
    kn_str expected = KN_STR_INIT;
    const kn_composed *row;
    for (int k = 0; (row = kn_composed_at(k)) != NULL; ++k) {
        if (strcmp(row->name, name) != 0)
            continue;
        kn_composed_read(of, row->params);
        if (count_arguments(of) == n_in) {
            kn_str_free(&expected);
            *out = row;
            return KILN_OK;
        }
        kn_str_printf(&expected, "%s%d", expected.length > 0 ? " or " : "", count_arguments(of));
    }
    kiln_status status = expected.length > 0
                             ? kn_error(KILN_ERROR_INVALID, "%s: n_in: %d was given; %s expected", name, n_in,
                                        kn_str_text(&expected))
                             : kn_error(KILN_ERROR_NOT_FOUND,
                                        "there is no function '%s'; one of kiln/ops.h was expected", name);
    kn_str_free(&expected);
    return status;
}

static void begin_argument(written *w, const char *name)
{
    kn_str_printf(&w->text, "%s%s=", w->is_first ? "" : ", ", name);
    w->is_first = false;
}

/* Where the usual value is a truth value the number is one, too: True keeps dtypes that 1 does not. */
static kiln_status write_whole(written *w, const char *function, const char *name, const char *usual,
                               const kiln_arg *in)
{
    const bool is_truth = strcmp(usual, "True") == 0 || strcmp(usual, "False") == 0;
    if (in->kind == KILN_ARG_WEAK_INT && in->value.i == KILN_USUAL)
        return KILN_OK;
    if (in->kind != KILN_ARG_WEAK_INT && in->kind != KILN_ARG_WEAK_BOOL)
        return kn_error(KILN_ERROR_INVALID, "%s: %s: a whole number by value was expected (kiln_arg_int)",
                        function, name);
    begin_argument(w, name);
    if (is_truth)
        kn_str_append(&w->text, in->value.i ? "True" : "False");
    else
        kn_str_printf(&w->text, "%lld", (long long)in->value.i);
    return KILN_OK;
}

static kiln_status write_dtype(written *w, const char *function, const kiln_arg *in)
{
    if (in->kind == KILN_ARG_WEAK_INT && in->value.i == KILN_DTYPE_NONE)
        return KILN_OK;
    const kn_dtype_info *info = in->kind == KILN_ARG_WEAK_INT && in->value.i == (kiln_dtype)in->value.i
                                    ? kn_dtype_info_of((kiln_dtype)in->value.i)
                                    : NULL;
    if (!info)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: dtype: a kiln_dtype as a whole number was expected (kiln_arg_int)", function);
    begin_argument(w, "dtype");
    kn_str_append(&w->text, info->name);
    return KILN_OK;
}

static void write_input(written *w, const char *name, const kiln_arg *in)
{
    if (in->kind == KILN_ARG_NONE)
        return;
    begin_argument(w, name);
    kn_str_append(&w->text, name);
    kn_str_printf(&w->params, "%s%s", w->n_in > 0 ? ", " : "", name);
    w->in[w->n_in++] = *in;
}

/* Axes that a row does not have are written, too, so that the function's own error refuses them. */
static void write_axes(written *w, const kiln_call_options *o)
{
    if (o->axes) {
        begin_argument(w, "axis");
        kn_str_append(&w->text, o->n_axes == 1 ? "" : "(");
        for (int a = 0; a < o->n_axes; ++a)
            kn_str_printf(&w->text, "%s%d", a > 0 ? ", " : "", o->axes[a]);
        kn_str_append(&w->text, o->n_axes == 1 ? "" : ")");
    }
    if (o->flags & KILN_CALL_KEEPDIMS) {
        begin_argument(w, "keepdims");
        kn_str_append(&w->text, "1");
    }
}

static kiln_status write_call(written *w, const kn_composed *row, const kn_composed_params *of,
                              const kiln_arg *in, const kiln_call_options *o)
{
    kiln_status status = KILN_OK;
    kn_str_printf(&w->text, "%s(", row->name);
    for (int k = 0, given = 0; k < of->count && status == KILN_OK; ++k) {
        if (is_of_options(of, k) || is_keepdims(of, k))
            continue;
        const kiln_arg *arg = &in[given++];
        if (of->is_whole[k])
            status = write_whole(w, row->name, of->name[k], of->value[k], arg);
        else if (strcmp(of->name[k], "dtype") == 0)
            status = write_dtype(w, row->name, arg);
        else
            write_input(w, of->name[k], arg);
    }
    write_axes(w, o);
    kn_str_append(&w->text, ")");
    kn_str_printf(&w->key, "function %s: %s", kn_str_text(&w->params), kn_str_text(&w->text));
    if (status == KILN_OK)
        status = kn_str_status(&w->params, "the inputs of a function");
    return status == KILN_OK ? kn_str_status(&w->text, "the call of a function") : status;
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    const written *w = of;
    return kiln_expression_create(out, kn_str_text(&w->params), kn_str_text(&w->text), NULL);
}

static kiln_status call_written(kiln_array **out, int n_out, written *w, const kiln_call_options *options)
{
    kiln_call_options o = *options;
    kiln_kernel *kernel = NULL;
    kiln_status status = kn_kernel_remembered(&kernel, &w->key, make, w);
    o.axes = NULL;
    o.n_axes = 0;
    o.flags &= ~(unsigned)KILN_CALL_KEEPDIMS;
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, out, n_out, w->in, w->n_in, &o);
    kiln_kernel_free(kernel);
    return status;
}

kiln_status kiln_function_call(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                               const kiln_call_options *options)
{
    written w = {.params = KN_STR_INIT, .text = KN_STR_INIT, .key = KN_STR_INIT, .is_first = true};
    kn_composed_params of;
    const kn_composed *row = NULL;
    kiln_call_options o;
    if (!name || (n_in > 0 && !in))
        return kn_error(KILN_ERROR_INVALID, "kiln_function_call: %s is NULL", name ? "in" : "name");
    kiln_status status = kn_call_options_read(&o, options);
    if (status == KILN_OK)
        status = find_row(&row, &of, name, n_in);
    if (status == KILN_OK)
        status = write_call(&w, row, &of, in, &o);
    if (status == KILN_OK)
        status = call_written(out, n_out, &w, &o);
    kn_str_free(&w.params);
    kn_str_free(&w.text);
    kn_str_free(&w.key);
    return status;
}
