#include "fuse/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/lock.h"
#include "kernel/operation.h"
#include "types/dtype.h"

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

/* Other names of operations: NumPy's own, the array API's, Python's. */
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
               {"true_divide", "divide"},
               {"mod", "remainder"},
               {"bitwise_not", "invert"},
               {"bitwise_invert", "invert"},
               {"bitwise_left_shift", "left_shift"},
               {"bitwise_right_shift", "right_shift"}};
enum { ALIASES = sizeof aliases / sizeof aliases[0] };

static void note_definition(kn_known_operation *out, const kiln_operation *d)
{
    kn_variant v;
    const char *types = d->types;
    kn_variant_next(&v, &types);
    out->n_min = !out->longest || v.n_in < out->n_min ? v.n_in : out->n_min;
    if (!out->longest || v.n_in > out->n_max) {
        out->longest = d;
        out->n_max = v.n_in;
    }
    out->arities |= UINT64_C(1) << v.n_in;
    out->n_out = v.n_out;
    out->is_reduction = d->reduce != NULL;
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

const char *const kn_other_functions[] = {
    "arange", "astype",  "broadcast_to", "clip",      "expand_dims",  "flatten", "full",    "full_like",
    "len",    "ndim",    "ones",         "ones_like", "permute_dims", "ravel",   "reshape", "shape",
    "size",   "squeeze", "transpose",    "zeros",     "zeros_like",   NULL};

typedef struct nearest {
    const char *text, *name;
    size_t length, name_length;
    int distance;
} nearest;

enum { LONGEST = 32 };

/* Letters to be put in, left out or changed, and neighbours to be exchanged, so that one is the other. */
static int distance_of(const char *a, size_t a_length, const char *b, size_t b_length)
{
    int row[3][LONGEST + 1];
    for (size_t k = 0; k <= b_length; ++k)
        row[0][k] = (int)k;
    for (size_t i = 1; i <= a_length; ++i) {
        int *now = row[i % 3], *above = row[(i + 2) % 3], *before = row[(i + 1) % 3];
        now[0] = (int)i;
        for (size_t k = 1; k <= b_length; ++k) {
            int best = above[k - 1] + (a[i - 1] != b[k - 1]);
            best = above[k] + 1 < best ? above[k] + 1 : best;
            best = now[k - 1] + 1 < best ? now[k - 1] + 1 : best;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && before[k - 2] + 1 < best)
                best = before[k - 2] + 1;
            now[k] = best;
        }
    }
    return row[a_length % 3][b_length];
}

static void consider(nearest *n, const char *name, size_t length)
{
    if (n->length > LONGEST || length > LONGEST)
        return;
    int distance = distance_of(n->text, n->length, name, length);
    if (distance < n->distance) {
        n->distance = distance;
        n->name = name;
        n->name_length = length;
    }
}

const char *kn_suggest(char *out, size_t size, const kn_parser *p, const char *name, size_t length)
{
    nearest n = {name, NULL, length, 0, length < 3 ? 1 : length < 5 ? 2 : 3}; /* less than half of it */
    const kiln_operation *d;
    for (int v = 0; v < p->n_variables; ++v)
        consider(&n, p->variable[v].name, p->variable[v].length);
    for (int k = 0; k < p->n_kernels; ++k)
        consider(&n, kiln_kernel_name(p->kernel[k]), strlen(kiln_kernel_name(p->kernel[k])));
    for (int k = 0; kn_other_functions[k]; ++k)
        consider(&n, kn_other_functions[k], strlen(kn_other_functions[k]));
    for (int c = 0; c < CONSTANTS; ++c)
        consider(&n, constants[c].name, strlen(constants[c].name));
    for (int t = KILN_BOOL; t <= KILN_COMPLEX128; ++t)
        consider(&n, kiln_dtype_name((kiln_dtype)t), strlen(kiln_dtype_name((kiln_dtype)t)));
    kn_lock_take(KN_LOCK_OPERATIONS);
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k)
        consider(&n, d->name, strlen(d->name));
    kn_lock_give(KN_LOCK_OPERATIONS);
    for (int a = 0; a < ALIASES; ++a)
        consider(&n, aliases[a].name, strlen(aliases[a].name));
    out[0] = 0;
    if (n.name)
        snprintf(out, size, "; did you mean '%.*s'?", (int)n.name_length, n.name);
    return out;
}
