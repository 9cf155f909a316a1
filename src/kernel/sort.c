/* kernel/sort.c - sorts by keys: a radix sort of 8 bits a pass, by an algorithm of
 * steps (sort_lower.c) whose kernels are made first (sort_make.c).
 *
 * Keys become unsigned integers (src/codegen/prelude/both_sort.cpp), while all their digits are counted. A
 * pass gives each element its place among those of its row, ordered stably by one digit. Passes go from the
 * last digit of the last key to the first one; elements are indices until then. The last pass computes the
 * body of an element at its place. Small elements that have one key, and whose body asks for no index, are
 * moved themselves, and their keys computed again in each pass.
 *
 * A call has quick steps, too (kn_lowering_call.is_quick): a map of the key, passes without the user's texts,
 * and a map of the body. These passes are the same for all sorts, so that the maps alone are compiled.
 * Where the host has vectors, a step that orders elements by all their keys stands between the maps, in any
 * form. */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/sort.h"
#include "kernel/sort_parts.h"
#include "space/shape.h"
#include "types/dtype.h"

/* ---- arguments ---- */

/* The extent of results along the axis of a sort by name. */
static kiln_status cut_shape(int ndim, int64_t *shape, const kn_sorting *s)
{
    int axis = 0;
    if (!s->along.has_axis)
        return KILN_OK;
    kiln_status status = kn_sort_find_axis(&axis, s, ndim, s->along.axis);
    if (status == KILN_OK && shape[axis] < s->along.least)
        return kn_error(KILN_ERROR_SHAPE, "%s: %s asks for %lld elements, but axis %d has %lld",
                        s->signature->name, s->along.asked, (long long)s->along.least, axis,
                        (long long)shape[axis]);
    if (status == KILN_OK && s->along.count != KN_SORT_ALL)
        shape[axis] = s->along.count;
    return status;
}

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    const kn_sorting *s = context;
    const kn_program *p = s->signature;
    kiln_status status = kn_sort_find_shape(&out->ndim, out->shape, s, in);
    if (status == KILN_OK)
        status = cut_shape(out->ndim, out->shape, s);
    out->dtype = kn_described_dtype(p, kn_sort_param_of(s, p->n_in + j), in);
    if (status == KILN_OK && !out->dtype)
        return kn_error(KILN_ERROR_TYPE, "%s: output '%s': no input settles type %c", p->name,
                        kn_sort_param_of(s, p->n_in + j)->name,
                        kn_sort_param_of(s, p->n_in + j)->placeholder);
    return status;
}

static void release(void *context)
{
    kn_sorting *s = context;
    if (!s)
        return;
    for (int k = 0; k < s->n_keys; ++k)
        for (int part = 0; part < KN_KEY_PARTS; ++part)
            for (int by = KN_BY_NOTHING; by <= KN_BY_ORDER; ++by) {
                kiln_kernel_free(s->key[k].count[part][by]);
                kiln_kernel_free(s->key[k].map[part][by]);
            }
    kiln_kernel_free(s->rank);
    kiln_kernel_free(s->exact);
    kiln_kernel_free(s->element);
    kiln_kernel_free(s->starts);
    kiln_kernel_free(s->eight_bytes);
    kiln_kernel_free(s->byte);
    kiln_kernel_free(s->count_moved);
    kiln_kernel_free(s->move[0]);
    kiln_kernel_free(s->move[1]);
    kiln_kernel_free(s->first);
    kiln_kernel_free(s->middle);
    kiln_kernel_free(s->last[KN_BY_NOTHING]);
    kiln_kernel_free(s->last[KN_BY_ORDER]);
    kiln_kernel_free(s->digits);
    kiln_kernel_free(s->put);
    kn_program_free(s->signature);
    kn_free(s);
}

static const kn_algorithm algorithm = {
    .describe = describe, .lower = kn_sort_lower, .free = release, .takes_axes = true};

static kiln_status check_params(const kn_sorting *s)
{
    const kn_program *p = s->signature;
    int elements = 0;
    for (int k = 0; k < p->n_in + p->n_out; ++k) {
        const kn_param *param = &p->param[k];
        bool is_bad = param->type == KN_TYPE_STRUCT || param->is_non_const || (k >= p->n_in && param->is_raw);
        elements += k < p->n_in && !param->is_raw;
        if (is_bad)
            return kn_error(KILN_ERROR_INVALID,
                            "%s: '%s' is %s; a sort has inputs of a dtype, and outputs that are not raw",
                            p->name, param->name,
                            param->type == KN_TYPE_STRUCT ? "a struct"
                            : param->is_non_const         ? "_non_const"
                                                          : "a raw output");
    }
    return elements > 0
               ? KILN_OK
               : kn_error(KILN_ERROR_INVALID, "%s: no input has elements to be sorted; all are raw", p->name);
}

/* NULL: the type of the first input that is not raw. */
static kiln_status find_key_type(kn_param *out, const kn_sorting *s, const kiln_sort_key *key, int k)
{
    const kn_program *p = s->signature;
    int first = 0;
    while (p->param[first].is_raw)
        ++first;
    *out = p->param[first];
    if (!key->type)
        return KILN_OK;
    for (int j = 0; j < p->n_in && key->type[0] && !key->type[1]; ++j)
        if (p->param[j].type == KN_TYPE_PLACEHOLDER && p->param[j].placeholder == key->type[0]) {
            *out = p->param[j];
            return KILN_OK;
        }
    out->type = KN_TYPE_DTYPE;
    out->dtype = kn_dtype_find(key->type, strlen(key->type));
    return out->dtype
               ? KILN_OK
               : kn_error(KILN_ERROR_TYPE,
                          "%s: keys[%d].type: '%s' was given; a dtype, or the placeholder of an input, was "
                          "expected",
                          p->name, k, key->type);
}

static kiln_status read_keys(kn_sort_making *m, int n_keys)
{
    kiln_status status = KILN_OK;
    for (int k = 0; k < n_keys && status == KILN_OK; ++k) {
        const kiln_sort_key *key = &m->keys[k];
        if (!key->key || !key->key[0])
            return kn_error(KILN_ERROR_INVALID, "%s: keys[%d].key is %s; an expression was expected", m->name,
                            k, key->key ? "empty" : "NULL");
        if (key->flags & ~(unsigned)KILN_SORT_DESCENDING)
            return kn_error(KILN_ERROR_INVALID,
                            "%s: keys[%d].flags: 0x%x was given; only KILN_SORT_DESCENDING (0x%x) is known",
                            m->name, k, key->flags, (unsigned)KILN_SORT_DESCENDING);
        status = find_key_type(&m->s->key[k].type, m->s, key, k);
    }
    m->s->n_keys = n_keys;
    return status;
}

static void choose_letters(kn_sort_making *m, const kiln_kernel_options *o)
{
    const char *texts[KN_MOST_SORT_KEYS + 3] = {m->body, o->preamble ? o->preamble : ""};
    const kn_program *p = m->s->signature;
    for (int k = 0; k < m->s->n_keys; ++k)
        texts[2 + k] = m->keys[k].key;
    m->letter.key = kn_free_letter('A', p->param, p->n_in + p->n_out, texts);
    m->letter.order = kn_free_letter((char)(m->letter.key + 1), p->param, p->n_in + p->n_out, texts);
    m->letter.word = kn_free_letter((char)(m->letter.order + 1), p->param, p->n_in + p->n_out, texts);
}

static kiln_status make_sorting(kn_sort_making *m, const char *in_params, const char *out_params, int n_keys,
                                const kiln_kernel_options *o)
{
    kiln_status status = kn_sort_make_signature(m, in_params, out_params);
    if (status == KILN_OK)
        status = check_params(m->s);
    if (status == KILN_OK)
        status = read_keys(m, n_keys);
    if (status != KILN_OK)
        return status;
    choose_letters(m, o);
    return kn_sort_make_kernels(m);
}

static kiln_status make_prototype(kiln_kernel **out, kn_sorting *s)
{
    const kn_program *p = s->signature;
    const char *names[KN_MAX_PARAMS];
    kn_program *prototype = NULL;
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        names[k] = p->param[k].name;
    kiln_status status = kn_prototype_create(&prototype, p->name, names, p->n_in, names + p->n_in, p->n_out);
    if (status == KILN_OK)
        return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
    release(s);
    return status;
}

kiln_status kiln_sort_create(kiln_kernel **out, const char *in_params, const char *out_params,
                             const kiln_sort_key *keys, int n_keys, const char *body, const char *name,
                             const kiln_kernel_options *options)
{
    return kn_sort_create(out, in_params, out_params, keys, n_keys, body, name, NULL, options);
}

kiln_status kn_sort_create(kiln_kernel **out, const char *in_params, const char *out_params,
                           const kiln_sort_key *keys, int n_keys, const char *body, const char *name,
                           const kn_sort_along *along, const kiln_kernel_options *options)
{
    kiln_kernel_options o;
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "out is NULL; the address of a kiln_kernel * was expected");
    kiln_status status =
        kn_require_texts("in_params", in_params, "out_params", out_params, "body", body, NULL);
    if (status == KILN_OK)
        status = kn_program_read_own_options(&o, options);
    if (status != KILN_OK)
        return status;
    name = name ? name : "kernel";
    if (!keys || n_keys < 1 || n_keys > KN_MOST_SORT_KEYS)
        return kn_error(KILN_ERROR_INVALID, "%s: keys: %d were given as %s; 1 to %d were expected", name,
                        n_keys, keys ? "an array" : "NULL", KN_MOST_SORT_KEYS);
    kn_sorting *s = kn_calloc(1, sizeof *s);
    if (!s)
        return kn_error_memory("a sort");
    s->along = along ? *along : (kn_sort_along){.count = KN_SORT_ALL};
    kn_sort_making m = {.s = s, .name = name, .body = body, .keys = keys, .options = &o};
    status = make_sorting(&m, in_params, out_params, n_keys, &o);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return make_prototype(out, s);
}
