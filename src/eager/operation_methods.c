/* NumPy's reduce, accumulate and at of elementwise operations of two inputs: operations and kernels whose
 * texts call the operation's map as a function. */
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/str.h"
#include "eager/operation.h"
#include "eager/operation_methods.h"
#include "program/program.h"
#include "types/dtype.h"

/* Those of the table whose order of operands does not matter: what NumPy's methods are called here, what
 * they are of no elements, and the same as an expression has it, for all dtypes. Others of the table depend
 * on the order, in which no reduction here is computed. */
static const struct {
    const char *name, *reduce, *accumulate, *identity, *nothing;
} rows[] = {{"add", "sum", "cumsum", NULL, NULL},
            {"multiply", "prod", "cumprod", NULL, NULL},
            {"maximum", "max", "cummax", NULL, NULL},
            {"minimum", "min", "cummin", NULL, NULL},
            {"fmax", "nanmax", NULL, NULL, NULL},
            {"fmin", "nanmin", NULL, NULL, NULL},
            {"logical_and", "all", NULL, "true", "True"},
            {"logical_or", "any", NULL, "false", "False"},
            {"logical_xor", NULL, NULL, "false", "False"},
            {"bitwise_and", NULL, NULL, "(T)-1", "-1"},
            {"bitwise_or", NULL, NULL, "(T)0", "False"},
            {"bitwise_xor", NULL, NULL, "(T)0", "False"},
            {"gcd", NULL, NULL, "(T)0", "False"},
            {"lcm", NULL, NULL, NULL, NULL},
            {"hypot", NULL, NULL, "(T)0", "False"},
            {"logaddexp", NULL, NULL, "(T)-INFINITY", "-inf"},
            {"logaddexp2", NULL, NULL, "(T)-INFINITY", "-inf"}};
enum { ROWS = sizeof rows / sizeof rows[0] };

static int find_row(const char *name)
{
    int row = 0;
    while (row < ROWS && strcmp(rows[row].name, name) != 0)
        ++row;
    return row;
}

/* ---- the map as a function ---- */

typedef struct shape {
    kn_param param[KN_MAX_PARAMS];
    char own;   /* the placeholder of the operation's dtype; 0: it is declared */
    char other; /* one that the operation has not */
} shape;

static bool has_placeholder(const kn_param *param, int count, char letter)
{
    for (int k = 0; k < count; ++k)
        if (param[k].type == KN_TYPE_PLACEHOLDER && param[k].placeholder == letter)
            return true;
    return false;
}

/* False: its map is no function of two values of one dtype. */
static bool read_shape(shape *s, const kiln_operation *d)
{
    static const char *const of_elements[] = {"i", "n", "_ind", "continue", "break"};
    int n_in, n_out;
    if (!d->map || d->reduce || kn_operation_params(s->param, &n_in, &n_out, d) != KILN_OK || n_in != 2 ||
        n_out != 1 || d->loop_prep || d->after_loop)
        return false;
    for (size_t k = 0; k < sizeof of_elements / sizeof of_elements[0]; ++k)
        if (kn_text_has_word(d->map, of_elements[k]))
            return false;
    s->own = s->param[0].type == KN_TYPE_PLACEHOLDER ? s->param[0].placeholder : 0;
    s->other = 'A';
    while (has_placeholder(s->param, 3, s->other))
        ++s->other;
    return true;
}

static bool is_of_one_dtype(const kn_variant *v)
{
    return v->n_in == 2 && v->n_out == 1 && v->dtype[0] == v->dtype[1] && v->dtype[0] == v->dtype[2];
}

/* "T", or the name of a declared dtype. */
static void put_type(kn_str *out, const shape *s, kiln_dtype dtype)
{
    if (s->own)
        kn_str_printf(out, "%c", s->own);
    else
        kn_str_append(out, kn_dtype_info_of(dtype)->c_name);
}

/* The operation's placeholders but `known`, its preamble, and kn_both(x, y). type: of both and the result. */
static void put_function(kn_str *out, const shape *s, const kiln_operation *d, char known,
                         const char *const *type)
{
    for (int k = 0; k < 3; ++k)
        if (s->param[k].type == KN_TYPE_PLACEHOLDER && s->param[k].placeholder != known &&
            !has_placeholder(s->param, k, s->param[k].placeholder))
            kn_str_printf(out, "typedef %s %c;\n", type[k], s->param[k].placeholder);
    kn_str_printf(out,
                  "%s\n__device__ __forceinline__ void kn_put_both(%s &%s, %s %s, %s %s) {\n%s;\n}\n"
                  "__device__ __forceinline__ %s kn_both(const %s a, const %s b) {\n"
                  "    %s kn_result{};\n    kn_put_both(kn_result, a, b);\n    return kn_result;\n}\n",
                  d->preamble ? d->preamble : "", type[2], s->param[2].name, type[0], s->param[0].name,
                  type[1], s->param[1].name, d->map, type[2], type[0], type[1], type[2]);
}

/* ---- reduce and accumulate ---- */

const char *kn_operation_method(const char *name, bool accumulates)
{
    const int row = find_row(name);
    return row == ROWS ? NULL : accumulates ? rows[row].accumulate : rows[row].reduce;
}

static const char *identity_of(const char *name)
{
    const int row = find_row(name);
    return row == ROWS ? NULL : rows[row].identity;
}

const char *kn_operation_nothing(const char *name)
{
    const int row = find_row(name);
    return row == ROWS ? NULL : rows[row].nothing;
}

static char letter_of(const kn_variant *v, int k)
{
    return v->text[k < v->n_in ? k : k + (int)strlen("->")];
}

static void put_variant(kn_str *types, char from, char to)
{
    kn_str_printf(types, "%s%c->%c", types->length > 0 ? " " : "", from, to);
}

/* "f->f", and, behind these, other dtypes of which the operation makes this one: "b->?" of bool. */
static void list_types(kn_str *types, const kiln_operation *d)
{
    const kiln_operation *other;
    kn_variant v, of_other;
    for (const char *at = d->types; kn_variant_next(&v, &at);)
        if (is_of_one_dtype(&v))
            put_variant(types, letter_of(&v, 0), letter_of(&v, 2));
    for (const char *at = d->types; kn_variant_next(&v, &at);) {
        if (!is_of_one_dtype(&v))
            continue;
        for (int k = 0; (other = kn_operation_at(k)) != NULL; ++k)
            for (const char *in = strcmp(other->name, d->name) == 0 ? other->types : "";
                 kn_variant_next(&of_other, &in);)
                if (of_other.n_in == 2 && of_other.n_out == 1 && of_other.dtype[0] == of_other.dtype[1] &&
                    of_other.dtype[0] != v.dtype[0] && of_other.dtype[2] == v.dtype[0])
                    put_variant(types, letter_of(&of_other, 0), letter_of(&v, 0));
    }
}

typedef struct texts {
    kn_str name, in, out, types, map, preamble;
} texts;

static void free_texts(texts *t)
{
    kn_str *const all[] = {&t->name, &t->in, &t->out, &t->types, &t->map, &t->preamble};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        kn_str_free(all[k]);
}

static kiln_status write_texts(texts *t, const shape *s, const kiln_operation *d, bool accumulates)
{
    kn_str own = KN_STR_INIT;
    put_type(&own, s, s->param[0].dtype);
    list_types(&t->types, d);
    kn_str_printf(&t->name, "%s%s", accumulates ? KN_ACCUMULATE_OF : KN_REDUCE_OF, d->name);
    kn_str_printf(&t->in, "%c x", s->other);
    kn_str_printf(&t->out, "%s y", s->own ? kn_str_text(&own) : kiln_dtype_name(s->param[0].dtype));
    kn_str_printf(&t->map, "(%s)x", kn_str_text(&own));
    const char *const types[] = {kn_str_text(&own), kn_str_text(&own), kn_str_text(&own)};
    put_function(&t->preamble, s, d, s->own, types);
    t->preamble.failed |= own.failed;
    kn_str_free(&own);
    const kn_str *const all[] = {&t->name, &t->in, &t->out, &t->types, &t->map, &t->preamble};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; ++k)
        if (all[k]->failed)
            return kn_error_memory("an operation's texts");
    return KILN_OK;
}

static kiln_status derive(const kiln_operation *d, bool accumulates)
{
    shape s;
    texts t = {KN_STR_INIT, KN_STR_INIT, KN_STR_INIT, KN_STR_INIT, KN_STR_INIT, KN_STR_INIT};
    if (!read_shape(&s, d))
        return KILN_OK;
    kiln_status status = write_texts(&t, &s, d, accumulates);
    kiln_operation o = *d;
    o.name = kn_str_text(&t.name);
    o.in_params = kn_str_text(&t.in);
    o.out_params = kn_str_text(&t.out);
    o.types = kn_str_text(&t.types);
    o.map = kn_str_text(&t.map);
    o.preamble = kn_str_text(&t.preamble);
    o.reduce = "kn_both(a, b)";
    o.post = "y = a";
    o.identity = accumulates ? NULL : identity_of(d->name);
    if (status == KILN_OK && o.types[0])
        status = kn_operation_add_derived(d, &o);
    free_texts(&t);
    return status;
}

static kiln_status refuse_map(const char *name)
{
    return kn_error(KILN_ERROR_INVALID,
                    "%s: an operation of two values of one dtype was expected, whose result has it, too, and "
                    "whose text names no element's index",
                    name);
}

kiln_status kn_operation_derive(const char *name, bool accumulates)
{
    const kiln_operation *d;
    const bool is_of_table = kn_operation_is_of_table(name);
    kiln_status status = KILN_OK;
    bool is_there = false;
    if (is_of_table && find_row(name) == ROWS)
        return kn_error(
            KILN_ERROR_INVALID,
            "%s: its result depends on the order of the operands, in which nothing is reduced here", name);
    kn_lock_take(KN_LOCK_OPERATIONS);
    for (int k = 0; status == KILN_OK && (d = kn_operation_at(k)) != NULL; ++k)
        if (strcmp(d->name, name) == 0) {
            if (!kn_operation_is_derived(d, accumulates))
                status = derive(d, accumulates);
            is_there = is_there || kn_operation_is_derived(d, accumulates);
        }
    kn_lock_give(KN_LOCK_OPERATIONS);
    return status == KILN_OK && !is_there ? refuse_map(name) : status;
}

/* ---- at ---- */

/* kn_step<T>::both(x, y), as the operation combines two values of this dtype. */
static void put_step(kn_str *out, const shape *s, const kiln_operation *d, const kn_variant *v,
                     kiln_dtype dtype)
{
    const char *type[3], *own = kn_dtype_info_of(dtype)->c_name;
    for (int k = 0; k < 3; ++k)
        type[k] = kn_dtype_info_of(v->dtype[k])->c_name;
    kn_str_printf(out, "namespace kn_step_%d {\n", (int)dtype);
    put_function(out, s, d, 0, type);
    kn_str_printf(out,
                  "}\ntemplate <> struct kn_step<%s> {\n"
                  "    static __device__ __forceinline__ %s both(const %s a, const %s b) {\n"
                  "        return kn_step_%d::kn_both((%s)a, (%s)b);\n    }\n};\n",
                  own, type[2], own, own, (int)dtype, type[0], type[1]);
}

/* Those of all dtypes; NULL: there are none, else a definition. */
static const kiln_operation *put_steps(kn_str *out, const char *name)
{
    const kiln_operation *first = NULL;
    kn_variant v;
    shape s;
    kn_str_append(out, "template <class kn_value> struct kn_step {\n"
                       "    static_assert(sizeof(kn_value) == 0, \"no variant takes this dtype\");\n};\n");
    for (int k = KILN_BOOL; kn_dtype_info_of((kiln_dtype)k); ++k) {
        const kiln_dtype both[] = {(kiln_dtype)k, (kiln_dtype)k};
        const kiln_operation *d = kn_operation_find(&v, name, both, 2);
        if (!d || !read_shape(&s, d))
            continue;
        put_step(out, &s, d, &v, (kiln_dtype)k);
        first = first ? first : d;
    }
    return first;
}

kiln_status kn_operation_steps(kiln_kernel **out, const char *name)
{
    kn_str preamble = KN_STR_INIT;
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kn_lock_take(KN_LOCK_OPERATIONS);
    const kiln_operation *first = put_steps(&preamble, name);
    kn_lock_give(KN_LOCK_OPERATIONS);
    kiln_status status = kn_str_status(&preamble, "an operation's texts");
    if (status == KILN_OK && !first)
        status = refuse_map(name);
    if (status == KILN_OK) {
        o.preamble = kn_str_text(&preamble);
        kn_operation_put_options(&o, first);
        status = kiln_elementwise_create(out, "T a, int64 first, int64 last, raw W b", "T z",
                                         "z = a;\nfor (long long k = first; k < last; ++k)\n"
                                         "    z = (T)kn_step<W>::both((W)z, b[k])",
                                         name, &o);
    }
    kn_str_free(&preamble);
    return status;
}
