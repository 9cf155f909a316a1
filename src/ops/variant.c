/* ops/variant.c - reads variants of operations and chooses one by the dtypes of arguments. */
#include "ops/variant.h"

#include <string.h>

#include "base/error.h"
#include "base/str.h"
#include "types/dtype.h"

static const char blanks[] = " \t\n";

bool kn_variant_next(kn_variant *out, const char **types)
{
    const char *text = *types + strspn(*types, blanks);
    size_t length = strcspn(text, blanks), at = 0;
    int count = 0;
    *out = (kn_variant){.text = text, .length = length};
    *types = text + length;
    for (int *n = &out->n_in; at < length; ++at) {
        if (n == &out->n_in && at + 1 < length && memcmp(text + at, "->", 2) == 0) {
            n = &out->n_out;
            ++at;
            continue;
        }
        ++*n;
        if (count < KN_MAX_PARAMS)
            out->dtype[count++] = kn_dtype_of_letter(text[at]);
    }
    return length > 0;
}

/* True if the text of a parameter names bool itself, rather than a placeholder. */
static bool is_declared_bool(const char *params, int index)
{
    while (index-- > 0) {
        params += strcspn(params, ",");
        params += *params == ',';
    }
    params += strspn(params, blanks);
    return strncmp(params, "bool", 4) == 0 && strcspn(params, blanks) == 4;
}

static bool takes(const kn_variant *v, const char *params, const kiln_dtype *in, int n_in, uint64_t numbers)
{
    bool does = v->n_in == n_in;
    for (int k = 0; k < n_in && does; ++k)
        does = kiln_dtype_can_cast(in[k], v->dtype[k]) ||
               (numbers >> k & 1 && v->dtype[k] == KILN_BOOL && is_declared_bool(params, k));
    return does;
}

bool kn_variant_find(kn_variant *out, const kiln_operation *definition, const kiln_dtype *in, int n_in,
                     uint64_t numbers)
{
    const char *types = definition->types;
    while (kn_variant_next(out, &types))
        if (takes(out, definition->in_params, in, n_in, numbers))
            return true;
    return false;
}

static kiln_status check_letters(const kn_variant *v, const kn_param *param, int n_in, int n_out)
{
    if (v->n_in != n_in || v->n_out != n_out)
        return kn_error(
            KILN_ERROR_SYNTAX,
            "types: '%.*s' has %d letters before \"->\" and %d behind it; %d and %d were expected",
            (int)v->length, v->text, v->n_in, v->n_out, n_in, n_out);
    for (int k = 0; k < n_in + n_out; ++k)
        if (!v->dtype[k])
            return kn_error(
                KILN_ERROR_SYNTAX,
                "types: '%.*s': the letter of '%s' is no dtype; those of \"?bhilBHILeEfdFD\" were "
                "expected",
                (int)v->length, v->text, param[k].name);
    return KILN_OK;
}

/* A placeholder is one type, and a dtype itself. */
static kiln_status check_types(const kn_variant *v, const kn_param *param)
{
    for (int k = 0; k < v->n_in + v->n_out; ++k) {
        const kn_param *p = &param[k];
        bool is_letter = p->type == KN_TYPE_PLACEHOLDER;
        int first = 0;
        while (is_letter &&
               (param[first].type != KN_TYPE_PLACEHOLDER || param[first].placeholder != p->placeholder))
            ++first;
        kiln_dtype expected = is_letter ? v->dtype[first] : p->dtype;
        if (v->dtype[k] != expected)
            return kn_error(KILN_ERROR_TYPE, "types: '%.*s' makes '%s' %s, which is declared %s",
                            (int)v->length, v->text, p->name, kiln_dtype_name(v->dtype[k]),
                            kiln_dtype_name(expected));
    }
    return KILN_OK;
}

kiln_status kn_variants_check(const kiln_operation *definition, const kn_param *param, int n_in, int n_out)
{
    kn_variant v, before;
    const char *types = definition->types;
    if (!kn_variant_next(&v, &types))
        return kn_error(KILN_ERROR_SYNTAX,
                        "types: \"%s\" has no variants; such as \"ff->f dd->d\" were expected",
                        definition->types);
    do {
        kiln_status status = check_letters(&v, param, n_in, n_out);
        if (status == KILN_OK)
            status = check_types(&v, param);
        if (status != KILN_OK)
            return status;
        if (kn_variant_find(&before, definition, v.dtype, n_in, 0) && before.text != v.text)
            return kn_error(KILN_ERROR_TYPE,
                            "types: '%.*s' would never be chosen: '%.*s' before it takes these dtypes",
                            (int)v.length, v.text, (int)before.length, before.text);
    } while (kn_variant_next(&v, &types));
    return KILN_OK;
}

/* A number whose kind is below that of the arrays takes the narrowest dtype of its kind, so that it can be
 * cast to whatever the kind can be cast to. */
static kiln_dtype weak_beside(kiln_dtype common, const kiln_arg *arg)
{
    kiln_dtype alone = kn_weak_dtype(arg);
    const kn_dtype_info *info = kn_dtype_info_of(common);
    if (!info || !alone)
        return alone;
    if (alone == KILN_BOOL)
        return KILN_BOOL;
    if (alone == KILN_FLOAT64 && info->kind == KN_KIND_COMPLEX)
        return KILN_FLOAT16;
    if ((alone == KILN_INT64 || alone == KILN_UINT64) && info->kind >= KN_KIND_FLOAT)
        return KILN_INT8;
    return kn_weak_promote(common, (kiln_arg_kind)arg->kind);
}

void kn_argument_dtypes(kiln_dtype *out, const kiln_arg *in, const kiln_dtype *array, int n_in)
{
    for (int k = 0; k < n_in; ++k)
        out[k] = in[k].kind == KILN_ARG_ARRAY   ? array[k]
                 : in[k].kind == KILN_ARG_TYPED ? (kiln_dtype)in[k].dtype
                                                : KILN_DTYPE_NONE;
    const kiln_dtype common = kn_promote_all(out, sizeof *out, n_in);
    for (int k = 0; k < n_in; ++k)
        if (!out[k])
            out[k] = weak_beside(common, &in[k]);
}

/* NumPy's order of kinds: unsigned integers are stored as signed ones, but not the other way. */
static int rank_of(kiln_dtype dtype)
{
    static const int ranks[] = {[KN_KIND_BOOL] = 0,
                                [KN_KIND_UINT] = 1,
                                [KN_KIND_INT] = 2,
                                [KN_KIND_FLOAT] = 3,
                                [KN_KIND_COMPLEX] = 4};
    return ranks[kn_dtype_info_of(dtype)->kind];
}

bool kn_dtype_may_store(kiln_dtype from, kiln_dtype to)
{
    return from == to || (kn_dtype_info_of(from) && kn_dtype_info_of(to) && rank_of(from) <= rank_of(to));
}

bool kn_dtype_casts(kiln_dtype from, kiln_dtype to, kn_casting casting, bool is_weak)
{
    const int kind = kn_dtype_info_of(to) ? rank_of(to) : -1;
    if (casting == KN_CASTING_UNSAFE || from == to || kind < 0 || !kn_dtype_info_of(from))
        return casting == KN_CASTING_UNSAFE || from == to;
    if (is_weak && from != KILN_BOOL) /* of integers it may be any; True is bool alone, as in NumPy */
        return rank_of(from) <= kind || (from == KILN_INT64 && kind == rank_of(KILN_UINT64));
    return casting == KN_CASTING_SAME_KIND ? kn_dtype_may_store(from, to)
                                           : casting == KN_CASTING_SAFE && kiln_dtype_can_cast(from, to);
}

const char *kn_casting_name(kn_casting casting)
{
    static const char *const names[] = {"unsafe", "same_kind", "safe", "equiv", "no"};
    return names[casting];
}

bool kn_variant_find_result(kn_variant *out, const kiln_operation *definition, const kiln_dtype *in, int n_in,
                            uint64_t weak, kiln_dtype result, kn_casting casting)
{
    const char *types = definition->types;
    while (kn_variant_next(out, &types)) {
        bool is = out->n_in == n_in;
        for (int j = 0; j < out->n_out && is; ++j)
            is = out->dtype[n_in + j] == result;
        for (int k = 0; k < n_in && is; ++k)
            is = kn_dtype_casts(in[k], out->dtype[k], casting, weak >> k & 1);
        if (is)
            return true;
    }
    return false;
}

void kn_dtypes_format(kn_str *out, const kiln_dtype *dtype, int count)
{
    kn_str_append(out, "(");
    for (int k = 0; k < count; ++k)
        kn_str_printf(out, "%s%s", k > 0 ? ", " : "", kiln_dtype_name(dtype[k]));
    kn_str_append(out, ")");
}
