/* The meanings of names in an expression, and suggestions for unknown names. */
#include "expr/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "base/nearest.h"
#include "expr/composed_table.h"
#include "eager/operation.h"
#include "types/dtype.h"
#include "ops/numpy_name.h"

static bool is_same(const char *name, const char *text, size_t length)
{
    return strlen(name) == length && memcmp(name, text, length) == 0;
}

/* ---- constants ---- */

#define PI 3.141592653589793
#define E 2.718281828459045

static const struct {
    const char *name;
    kiln_arg_kind kind;
    double value;
} constants[] = {{"pi", KILN_ARG_WEAK_FLOAT, PI},        {"e", KILN_ARG_WEAK_FLOAT, E},
                 {"inf", KILN_ARG_WEAK_FLOAT, INFINITY}, {"nan", KILN_ARG_WEAK_FLOAT, NAN},
                 {"True", KILN_ARG_WEAK_BOOL, 1},        {"False", KILN_ARG_WEAK_BOOL, 0}};
enum { CONSTANTS = sizeof constants / sizeof constants[0] };

bool kn_find_constant(kiln_arg *out, const char *name, size_t length)
{
    for (int c = 0; c < CONSTANTS; ++c)
        if (is_same(constants[c].name, name, length)) {
            bool is_bool = constants[c].kind == KILN_ARG_WEAK_BOOL;
            *out = is_bool ? kiln_arg_bool(constants[c].value != 0) : kiln_arg_float(constants[c].value);
            return true;
        }
    return false;
}

/* ---- dtypes ---- */

static const char *const python_types[] = {"int", "float", "complex", "bool"};

bool kn_find_dtype(kiln_dtype *out, bool *is_python, const char *name, size_t length)
{
    *out = is_same("bool_", name, length) ? KILN_BOOL : kn_dtype_find(name, length);
    *is_python = false;
    for (size_t k = 0; k < sizeof python_types / sizeof python_types[0]; ++k)
        *is_python = *is_python || is_same(python_types[k], name, length);
    return *out != KILN_DTYPE_NONE;
}

/* ---- operations ---- */

/* Other names of operations: NumPy's, the array API's, Python's. */
static const struct {
    const char *name, *operation;
} aliases[] = {{"absolute", "abs"},
               {"acos", "arccos"},
               {"acosh", "arccosh"},
               {"asin", "arcsin"},
               {"asinh", "arcsinh"},
               {"atan", "arctan"},
               {"atan2", "arctan2"},
               {"atanh", "arctanh"},
               {"pow", "power"},
               {"amax", "max"},
               {"amin", "min"},
               {"conj", "conjugate"},
               {"degrees", "rad2deg"},
               {"fix", "trunc"},
               {"radians", "deg2rad"},
               {"true_divide", "divide"},
               {"mod", "remainder"},
               {"around", "round"},
               {"bitwise_not", "invert"},
               {"bitwise_invert", "invert"},
               {"bitwise_left_shift", "left_shift"},
               {"bitwise_right_shift", "right_shift"}};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

/* True if all results are booleans: "ff->? dd->?". */
static bool gives_booleans(const char *types)
{
    bool gives = true;
    for (const char *at = strstr(types, "->"); at; at = strstr(at + 2, "->"))
        gives = gives && at[2] == '?' && (at[3] == ' ' || at[3] == 0);
    return gives;
}

static void note_definition(kn_known_operation *out, const kiln_operation *d)
{
    kn_variant v;
    const char *types = d->types;
    kn_variant_next(&v, &types);
    out->gives_booleans = (!out->longest || out->gives_booleans) && gives_booleans(d->types);
    out->n_min = !out->longest || v.n_in < out->n_min ? v.n_in : out->n_min;
    if (!out->longest || v.n_in > out->n_max) {
        out->longest = d;
        out->n_max = v.n_in;
    }
    out->arities |= UINT64_C(1) << v.n_in;
    out->n_out = v.n_out;
    out->is_reduction = d->reduce != NULL;
    out->scans = kn_operation_scans(d);
    out->name = d->name;
}

bool kn_find_operation(kn_known_operation *out, const char *name, size_t length)
{
    const kiln_operation *d;
    for (int a = 0; a < ALIASES; ++a)
        if (is_same(aliases[a].name, name, length)) {
            name = aliases[a].operation;
            length = strlen(name);
            break;
        }
    memset(out, 0, sizeof *out);
    kn_lock_take(KN_LOCK_OPERATIONS);
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k)
        if (is_same(d->name, name, length))
            note_definition(out, d);
    kn_lock_give(KN_LOCK_OPERATIONS);
    return out->longest != NULL;
}

/* ---- what may have been meant ---- */

/* Replacements for functions of NumPy, in terms of x and y, or of w and n if these are named. */
static const struct {
    const char *name, *text;
} instead[] = {
    {"matrix_norm", "norm_2(x, axis=(-2, -1))"}, {"norm", "norm_2(x)"}, {"vector_norm", "norm_2(x)"}};

static const char *text_instead(const char *name, size_t length)
{
    for (size_t k = 0; k < sizeof instead / sizeof instead[0]; ++k)
        if (is_same(instead[k].name, name, length))
            return instead[k].text;
    return NULL;
}

/* Considers all known names. */
static void consider_all(kn_nearest *n, const kn_parser *p)
{
    const kiln_operation *d;
    for (int v = 0; v < p->n_variables; ++v)
        kn_nearest_consider(n, p->variable[v].name, p->variable[v].length);
    for (int k = 0; k < p->n_kernels; ++k)
        kn_nearest_consider(n, kiln_kernel_name(p->kernel[k]), strlen(kiln_kernel_name(p->kernel[k])));
    for (int k = 0; p->function_name(k); ++k)
        kn_nearest_consider(n, p->function_name(k), strlen(p->function_name(k)));
    for (int k = 0; kn_composed_at(k); ++k)
        kn_nearest_consider(n, kn_composed_at(k)->name, strlen(kn_composed_at(k)->name));
    for (int c = 0; c < CONSTANTS; ++c)
        kn_nearest_consider(n, constants[c].name, strlen(constants[c].name));
    for (int t = KILN_BOOL; kn_dtype_info_of((kiln_dtype)t); ++t)
        kn_nearest_consider(n, kiln_dtype_name((kiln_dtype)t), strlen(kiln_dtype_name((kiln_dtype)t)));
    kn_lock_take(KN_LOCK_OPERATIONS);
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k)
        kn_nearest_consider(n, d->name, strlen(d->name));
    kn_lock_give(KN_LOCK_OPERATIONS);
    for (int a = 0; a < ALIASES; ++a)
        kn_nearest_consider(n, aliases[a].name, strlen(aliases[a].name));
}

const char *kn_suggest(char *out, size_t size, const kn_parser *p, const char *name, size_t length)
{
    const char *text = text_instead(name, length);
    kn_nearest n = kn_nearest_begin(name, length);
    out[0] = 0;
    if (text) {
        snprintf(out, size, "; write %s", text);
    } else if (kn_numpy_has(name, length)) {
        snprintf(out, size, "; NumPy's is not there yet");
    } else {
        consider_all(&n, p);
        if (n.best[0])
            snprintf(out, size, "; did you mean '%s'?", n.best);
    }
    return out;
}
