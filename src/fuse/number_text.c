/* Writes numbers and casts into texts. */
#include "fuse/number_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/op.h"
#include "types/number.h"

static void put_float(kn_str *out, double value, bool is_narrow)
{
    char text[40];
    if (is_narrow)
        value = (double)(float)value;
    if (isnan(value) ||
        isinf(value)) { /* as floats: functions have no overload for a float beside a double */
        kn_str_printf(out, "(%s%s%s)", is_narrow ? "" : "(double)", value < 0 ? "-" : "",
                      isnan(value) ? "NAN" : "INFINITY");
        return;
    }
    snprintf(text, sizeof text, is_narrow ? "%.9g" : "%.17g", value);
    bool is_whole = !strpbrk(text, ".e");
    kn_str_printf(out, "%s%s%s%s%s", text[0] == '-' ? "(" : "", text, is_whole ? ".0" : "",
                  is_narrow ? "f" : "", text[0] == '-' ? ")" : "");
}

static void put_integer(kn_str *out, const kiln_arg *number, kiln_dtype dtype)
{
    bool is_plain = dtype == KILN_INT32 || dtype == KILN_INT64;
    if (!is_plain)
        kn_str_printf(out, "((%s)", kn_computed_name(dtype));
    if (number->kind == KILN_ARG_WEAK_UINT)
        kn_str_printf(out, "%lluull", (unsigned long long)number->value.u);
    else if (number->value.i == INT64_MIN)
        kn_str_append(out, "(-9223372036854775807ll - 1)");
    else
        kn_str_printf(out, "%s%lld%s%s", number->value.i < 0 ? "(" : "", (long long)number->value.i,
                      dtype == KILN_INT32 ? "" : "ll", number->value.i < 0 ? ")" : "");
    kn_str_append(out, is_plain ? "" : ")");
}

double kn_real_part(const kiln_arg *number)
{
    switch (number->kind) {
    case KILN_ARG_WEAK_BOOL:
    case KILN_ARG_WEAK_INT:
        return (double)number->value.i;
    case KILN_ARG_WEAK_UINT:
        return (double)number->value.u;
    default:
        return number->value.d[0];
    }
}

bool kn_node_is_square(const kn_graph *graph, const kn_node *node)
{
    if (node->kind != KN_NODE_CALL || node->n_in != 2 || strcmp(node->name, "power") != 0)
        return false;
    const kn_node *by = &graph->node[node->in[1]];
    return by->kind == KN_NODE_NUMBER && kn_real_part(&by->number) == 2 &&
           by->number.kind != KILN_ARG_WEAK_COMPLEX;
}

void kn_put_number(kn_str *out, const kiln_arg *number, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(kn_computed_dtype(dtype));
    double im = number->kind == KILN_ARG_WEAK_COMPLEX ? number->value.d[1] : 0;
    bool is_integer = number->kind == KILN_ARG_WEAK_INT || number->kind == KILN_ARG_WEAK_UINT ||
                      number->kind == KILN_ARG_WEAK_BOOL;
    if (info->kind == KN_KIND_BOOL) {
        kn_str_append(out, kn_real_part(number) != 0 || im != 0 ? "true" : "false");
    } else if (info->kind == KN_KIND_COMPLEX) {
        kn_str_printf(out, "%s(", info->c_name);
        put_float(out, kn_real_part(number), info->size == 8);
        kn_str_append(out, ", ");
        put_float(out, im, info->size == 8);
        kn_str_append(out, ")");
    } else if (info->kind == KN_KIND_FLOAT || !is_integer) {
        put_float(out, kn_real_part(number), info->size == 4);
    } else {
        put_integer(out, number, dtype);
    }
}

/* Integers of 64 bits, of which host compilers make no vectors of float64 by themselves. */
static bool is_wide_to_float64(const kn_dtype_info *from, const kn_dtype_info *to)
{
    return (from->kind == KN_KIND_INT || from->kind == KN_KIND_UINT) && from->size == 8 &&
           to->kind == KN_KIND_FLOAT && to->size == 8;
}

void kn_put_cast(kn_str *out, const char *name, kiln_dtype from_dtype, kiln_dtype to_dtype, bool is_host)
{
    const kn_dtype_info *from = kn_dtype_info_of(kn_computed_dtype(from_dtype)),
                        *to = kn_dtype_info_of(kn_computed_dtype(to_dtype));
    if (from == to)
        kn_str_append(out, name);
    else if (to->kind == KN_KIND_BOOL && from->kind == KN_KIND_COMPLEX)
        kn_str_printf(out, "(%s.re != 0 || %s.im != 0)", name, name);
    else if (to->kind == KN_KIND_BOOL)
        kn_str_printf(out, "(%s != 0)", name);
    else if (from->kind == KN_KIND_BOOL && to->kind == KN_KIND_FLOAT && is_host)
        kn_str_printf(out, "kn_float%d_of_bool(%s)", 8 * (int)to->size, name);
    else if (from->kind == KN_KIND_BOOL && to->kind == KN_KIND_FLOAT)
        kn_str_printf(out, to->size == 4 ? "(%s ? 1.0f : 0.0f)" : "(%s ? 1.0 : 0.0)", name);
    else if (from->kind == KN_KIND_COMPLEX && to->kind != KN_KIND_COMPLEX)
        kn_str_printf(out, "((%s)%s.re)", to->c_name, name);
    else if (to->kind == KN_KIND_COMPLEX)
        kn_str_printf(out, "%s(%s)", to->c_name, name);
    else if (is_wide_to_float64(from, to))
        kn_str_printf(out, "kn_float64_of(%s)", name);
    else
        kn_str_printf(out, "((%s)%s)", to->c_name, name);
}

kiln_arg kn_weak_rounded(const kiln_arg *number, kiln_dtype half)
{
    unsigned char element[2];
    if (kn_scalar_convert(element, half, number, "number") != KILN_OK)
        return *number;
    return kiln_arg_float(kn_number_load(element, half).re);
}
