/* The list of operations: those of the table, and those that callers registered. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/sized.h"
#include "base/lock.h"
#include "eager/operation.h"
#include "program/program.h"

static kiln_operation **added;
static int n_added, capacity;

/* Methods of ufuncs, derived of other operations, stand behind all of these; nobody is shown them. */
typedef struct derivation {
    const kiln_operation *of;
    kiln_operation *made;
} derivation;
static derivation *derived;
static int n_derived, derived_capacity;

const kiln_operation *kn_operation_at(int index)
{
    int own = index - kn_operation_table_count;
    return index < 0                   ? NULL
           : own < 0                   ? &kn_operation_table[index].definition
           : own < n_added             ? added[own]
           : own - n_added < n_derived ? derived[own - n_added].made
                                       : NULL;
}

static const kiln_operation *find(kn_variant *variant, const char *name, const kiln_dtype *in, int n_in,
                                  uint64_t numbers)
{
    const kiln_operation *d;
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k)
        if (strcmp(d->name, name) == 0 && kn_variant_find(variant, d, in, n_in, numbers))
            return d;
    return NULL;
}

const kiln_operation *kn_operation_find(kn_variant *variant, const char *name, const kiln_dtype *in, int n_in)
{
    return find(variant, name, in, n_in, 0);
}

/* Bits of the inputs that are whole numbers outside their variant's dtypes. of: the dtype of the first
 * input. */
static uint64_t find_misfits(const kiln_operation *d, const kn_variant *v, const kiln_arg *in, kiln_dtype of)
{
    uint64_t misfits = 0;
    for (int k = 0; k < v->n_in; ++k)
        if (in[k].kind >= KILN_ARG_WEAK_BOOL && in[k].kind <= KILN_ARG_WEAK_COMPLEX &&
            !kn_weak_fits(&in[k], v->dtype[k]) && !kn_bound_is_open(kn_operation_bound(d, k, of), &in[k]))
            misfits |= UINT64_C(1) << k;
    return misfits;
}

static bool gives_the_same(const kn_variant *a, const kn_variant *b)
{
    return a->n_out == b->n_out &&
           memcmp(a->dtype + a->n_in, b->dtype + b->n_in, (size_t)a->n_out * sizeof *a->dtype) == 0;
}

static const kiln_operation *choose(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                    const kiln_arg *in, const kiln_dtype *array, int n_in)
{
    kiln_dtype own[KN_MAX_PARAMS];
    kn_variant other;
    uint64_t numbers = 0;
    for (int k = 0; k < n_in; ++k)
        if (in[k].kind >= KILN_ARG_WEAK_BOOL && in[k].kind <= KILN_ARG_WEAK_COMPLEX)
            numbers |= UINT64_C(1) << k;
    int conditions = n_in > 0 && kn_operation_traits(name) & KN_OP_CONDITION;
    kn_argument_dtypes(dtype, in, array, conditions);
    kn_argument_dtypes(dtype + conditions, in + conditions, array + conditions, n_in - conditions);
    const kiln_operation *d = find(variant, name, dtype, n_in, numbers);
    uint64_t misfits = d && d->map && numbers ? find_misfits(d, variant, in, dtype[0]) : 0;
    if (!misfits)
        return d;
    for (int k = 0; k < n_in; ++k)
        own[k] = misfits >> k & 1 ? kn_weak_dtype(&in[k]) : dtype[k];
    const kiln_operation *wider = find(&other, name, own, n_in, numbers);
    if (!wider || !wider->map || !gives_the_same(variant, &other) ||
        find_misfits(wider, &other, in, dtype[0]))
        return d;
    *variant = other;
    memcpy(dtype, own, (size_t)n_in * sizeof *dtype);
    return wider;
}

const kiln_operation *kn_operation_choose(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                          const kiln_arg *in, const kiln_dtype *array, int n_in)
{
    kiln_arg strong[KN_MAX_PARAMS];
    kiln_dtype first =
        n_in > 1 && kn_operation_traits(name) & KN_OP_BOUNDS ? kn_weak_dtype(&in[0]) : KILN_DTYPE_NONE;
    if (!first)
        return choose(variant, dtype, name, in, array, n_in);
    memcpy(strong, in, (size_t)n_in * sizeof *in);
    strong[0].kind = KILN_ARG_TYPED; /* NumPy clips an array of the number's own dtype */
    strong[0].dtype = first;
    return choose(variant, dtype, name, strong, array, n_in);
}

static bool has_results(const kn_variant *v, kiln_dtype dtype)
{
    bool has = v->n_out > 0;
    for (int j = 0; j < v->n_out; ++j)
        has = has && v->dtype[v->n_in + j] == dtype;
    return has;
}

const kiln_operation *kn_operation_choose_result(kn_variant *variant, kiln_dtype *dtype, const char *name,
                                                 const kiln_arg *in, const kiln_dtype *array, int n_in,
                                                 kiln_dtype result, kn_casting casting)
{
    const kiln_operation *d = kn_operation_choose(variant, dtype, name, in, array, n_in);
    kiln_dtype own[KN_MAX_PARAMS];
    uint64_t weak = 0;
    if (d && has_results(variant, result))
        return d;
    for (int k = 0; k < n_in; ++k) {
        const kiln_dtype alone = kn_weak_dtype(&in[k]);
        own[k] = alone ? alone : dtype[k];
        weak |= (uint64_t)(alone != KILN_DTYPE_NONE) << k;
    }
    for (int k = 0; (d = kn_operation_at(k)) != NULL; ++k)
        if (strcmp(d->name, name) == 0 &&
            kn_variant_find_result(variant, d, own, n_in, weak, result, casting))
            return d;
    return NULL;
}

/* ---- copies ---- */

/* The texts of a definition, whose fields are adjacent. */
#define TEXTS(d)                                                                                             \
    {                                                                                                        \
        &(d)->name, &(d)->in_params, &(d)->out_params, &(d)->types, &(d)->map, &(d)->reduce, &(d)->post,     \
            &(d)->identity, &(d)->reduce_type, &(d)->preamble, &(d)->loop_prep, &(d)->after_loop             \
    }
/* Its lists, whose fields are adjacent. */
#define LISTS(d)                                                                                             \
    {                                                                                                        \
        {&(d)->compile_options, &(d)->n_compile_options, "compile_options"},                                 \
            {&(d)->header_names, &(d)->n_headers, "header_names"},                                           \
            {&(d)->header_texts, &(d)->n_headers, "header_texts"},                                           \
    }
enum { N_LISTS = 3 };

typedef struct text_list {
    const char *const **items;
    const int *count;
    const char *member;
} text_list;

static void free_list(const char *const *items, int count)
{
    for (int k = 0; items && k < count; ++k)
        kn_free((void *)items[k]);
    kn_free((void *)items);
}

static void free_definition(kiln_operation *d)
{
    if (!d)
        return;
    const char **const texts[] = TEXTS(d);
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; ++t)
        kn_free((void *)*texts[t]);
    const text_list lists[] = LISTS(d);
    for (int l = 0; l < N_LISTS; ++l)
        free_list(*lists[l].items, *lists[l].count);
    kn_free(d);
}

static bool copy_list(const char *const **out, const char *const *items, int count)
{
    const char **copy = count > 0 ? kn_calloc((size_t)count, sizeof *copy) : NULL;
    *out = copy;
    for (int k = 0; copy && k < count; ++k)
        if (!(copy[k] = kn_strdup(items[k])))
            return false;
    return copy || count == 0;
}

static kiln_operation *copy_definition(const kiln_operation *given)
{
    kiln_operation from = *given, *d = kn_calloc(1, sizeof *d);
    if (!d)
        return NULL;
    const char **const to_text[] = TEXTS(d), **const from_text[] = TEXTS(&from);
    d->struct_size = sizeof *d;
    for (size_t t = 0; t < sizeof to_text / sizeof to_text[0]; ++t)
        if (*from_text[t] && !(*to_text[t] = kn_strdup(*from_text[t]))) {
            free_definition(d);
            return NULL;
        }
    d->flags = given->flags;
    d->n_compile_options = given->n_compile_options;
    d->n_headers = given->n_headers;
    const text_list to[] = LISTS(d), list[] = LISTS(&from);
    for (int l = 0; l < N_LISTS; ++l)
        if (!copy_list(to[l].items, *list[l].items, *list[l].count)) {
            free_definition(d);
            return NULL;
        }
    return d;
}

void kn_operations_free(void)
{
    for (int k = 0; k < n_added; ++k)
        free_definition(added[k]);
    for (int k = 0; k < n_derived; ++k)
        free_definition(derived[k].made);
    kn_free(added);
    kn_free(derived);
    added = NULL;
    derived = NULL;
    n_added = capacity = n_derived = derived_capacity = 0;
}

/* ---- derived ones ---- */

bool kn_operation_is_of_table(const char *name)
{
    for (int k = 0; k < kn_operation_table_count; ++k)
        if (strcmp(kn_operation_table[k].definition.name, name) == 0)
            return true;
    return false;
}

bool kn_operation_is_derived(const kiln_operation *of, bool accumulates)
{
    for (int k = 0; k < n_derived; ++k)
        if (derived[k].of == of && kn_operation_scans(derived[k].made) == accumulates)
            return true;
    return false;
}

kiln_status kn_operation_add_derived(const kiln_operation *of, const kiln_operation *definition)
{
    kiln_operation *copy = copy_definition(definition);
    if (!copy || !kn_grow(&derived, &derived_capacity, n_derived, sizeof *derived)) {
        free_definition(copy);
        return kn_error_memory("an operation");
    }
    derived[n_derived++] = (derivation){of, copy};
    return KILN_OK;
}

/* ---- registering ---- */

static kiln_status check_members(const kiln_operation *d)
{
    const struct {
        const char *text, *member;
    } of_reductions[] = {{d->post, "post"}, {d->identity, "identity"}, {d->reduce_type, "reduce_type"}};
    kiln_status status =
        kn_require_texts("name", d->name, "in_params", d->in_params, "out_params", d->out_params, "types",
                         d->types, "post", d->map && d->reduce ? d->post : "", NULL);
    for (size_t m = 0; m < sizeof of_reductions / sizeof of_reductions[0] && status == KILN_OK; ++m)
        if (!d->reduce && of_reductions[m].text)
            status = kn_error(KILN_ERROR_INVALID,
                              "%s: \"%s\" was given, but reduce is NULL, and so nothing is reduced; NULL was "
                              "expected",
                              of_reductions[m].member, of_reductions[m].text);
    return status;
}

/* The lists are copied before a program is made, which would check them. */
static kiln_status check_lists(kiln_operation *d)
{
    const text_list lists[] = LISTS(d);
    for (int l = 0; l < N_LISTS; ++l) {
        const char *const *items = *lists[l].items;
        int count = *lists[l].count;
        if (count < 0 || (count > 0 && !items))
            return kn_error(KILN_ERROR_INVALID, "%s: %d of them were given%s", lists[l].member, count,
                            count < 0 ? "; 0 or more were expected" : ", but the list is NULL");
        for (int k = 0; k < count; ++k)
            if (!items[k])
                return kn_error(KILN_ERROR_INVALID, "%s[%d] is NULL; a string was expected", lists[l].member,
                                k);
    }
    return KILN_OK;
}

/* Definitions of one name must be of one kind. */
static kiln_status check_kind(const kiln_operation *d, int n_out)
{
    kn_param param[KN_MAX_PARAMS];
    const kiln_operation *other;
    int n_others = 0, n_in;
    for (int k = 0; (other = kn_operation_at(k)) != NULL; ++k) {
        if (strcmp(other->name, d->name) != 0)
            continue;
        kiln_status status = kn_operation_params(param, &n_in, &n_others, other);
        if (status != KILN_OK)
            return status;
        if (!other->reduce != !d->reduce)
            return kn_error(KILN_ERROR_INVALID, "reduce: the operation '%s' is %s", d->name,
                            other->reduce ? "a reduction; an expression was expected"
                                          : "elementwise; NULL was expected");
        if (n_others != n_out)
            return kn_error(KILN_ERROR_INVALID,
                            "out_params: \"%s\": the operation '%s' has another number of outputs, %d",
                            d->out_params, d->name, n_others);
    }
    return KILN_OK;
}

/* Checks that the variant can be chosen and makes a valid program. */
static kiln_status check_variant(const kiln_operation *d, const kn_variant *v)
{
    kn_variant before;
    kn_program *program = NULL;
    if (kn_operation_find(&before, d->name, v->dtype, v->n_in))
        return kn_error(KILN_ERROR_TYPE,
                        "types: '%.*s' would never be chosen: '%.*s', which is there, takes "
                        "these dtypes",
                        (int)v->length, v->text, (int)before.length, before.text);
    kiln_status status = d->map ? kn_operation_program(&program, d, v) : KILN_OK;
    kn_program_free(program);
    return status;
}

static kiln_status check(const kiln_operation *d)
{
    kn_param param[KN_MAX_PARAMS];
    kn_variant v;
    const char *types = d->types;
    int n_in, n_out;
    kiln_status status = kn_operation_params(param, &n_in, &n_out, d);
    if (status == KILN_OK)
        status = kn_variants_check(d, param, n_in, n_out);
    if (status == KILN_OK)
        status = check_kind(d, n_out);
    while (status == KILN_OK && kn_variant_next(&v, &types))
        status = check_variant(d, &v);
    return status;
}

static kiln_status append(kiln_operation *d)
{
    if (!kn_grow(&added, &capacity, n_added, sizeof *added))
        return kn_error_memory("the list of operations");
    added[n_added++] = d;
    return KILN_OK;
}

kiln_status kiln_operation_register(const kiln_operation *definition)
{
    kiln_operation given = KILN_OPERATION_INIT;
    if (!definition)
        return kn_error(KILN_ERROR_INVALID, "definition is NULL; a kiln_operation was expected");
    kiln_status status = kn_sized_read(&given, sizeof given, definition, "definition", "KILN_OPERATION_INIT");
    if (status == KILN_OK)
        status = check_members(&given);
    if (status == KILN_OK)
        status = check_lists(&given);
    if (status != KILN_OK)
        return status;
    kiln_operation *copy = copy_definition(&given);
    if (!copy)
        return kn_error_memory("an operation");
    kn_lock_take(KN_LOCK_OPERATIONS);
    status = check(copy);
    if (status == KILN_OK)
        status = append(copy);
    kn_lock_give(KN_LOCK_OPERATIONS);
    if (status != KILN_OK)
        free_definition(copy);
    return status;
}

/* ---- looking at them ---- */

int kiln_operation_count(void)
{
    kn_lock_take(KN_LOCK_OPERATIONS);
    int count = kn_operation_table_count + n_added;
    kn_lock_give(KN_LOCK_OPERATIONS);
    return count;
}

kiln_status kiln_operation_at(kiln_operation *out, int index)
{
    kiln_status status = kn_sized_check(out, sizeof *out, "kiln_operation_at: out", "KILN_OPERATION_INIT");
    if (status != KILN_OK)
        return status;
    kn_lock_take(KN_LOCK_OPERATIONS);
    const kiln_operation *d = index < kn_operation_table_count + n_added ? kn_operation_at(index) : NULL;
    kn_lock_give(KN_LOCK_OPERATIONS);
    if (!d)
        return kn_error(KILN_ERROR_INVALID,
                        "index: %d was given; 0 to kiln_operation_count() - 1 were expected", index);
    kn_sized_answer(out, d);
    return KILN_OK;
}
