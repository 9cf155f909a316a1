/* Random numbers by name: the kernels of distributions, and sources of numbers for arrays. */
#include "kernel/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/alloc.h"
#include "kernel/sort.h"
#include "types/dtype.h"

/* ---- kernels ---- */

kiln_dtype kn_law_usual_dtype(const kn_law *law)
{
    static const kiln_dtype usual[] = {[KN_LAW_REAL] = KILN_FLOAT64,
                                       [KN_LAW_COUNT] = KILN_INT64,
                                       [KN_LAW_INTEGERS] = KILN_INT64,
                                       [KN_LAW_BITS] = KILN_UINT32};
    return usual[law->sort];
}

kiln_status kn_law_check_dtype(const kn_law *law, kiln_dtype dtype)
{
    static const struct {
        unsigned kinds; /* bits: kn_dtype_kind */
        const char *text;
    } allowed[] = {[KN_LAW_REAL] = {1u << KN_KIND_FLOAT, "a float"},
                   [KN_LAW_COUNT] = {1u << KN_KIND_INT | 1u << KN_KIND_UINT | 1u << KN_KIND_FLOAT,
                                     "an integer or a float"},
                   [KN_LAW_INTEGERS] = {1u << KN_KIND_BOOL | 1u << KN_KIND_INT | 1u << KN_KIND_UINT,
                                        "an integer or bool"},
                   [KN_LAW_BITS] = {1u << KN_KIND_INT | 1u << KN_KIND_UINT, "an integer"}};
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    return info && allowed[law->sort].kinds >> info->kind & 1
               ? KILN_OK
               : kn_error(KILN_ERROR_TYPE, "%s: dtype %s was given; %s was expected", law->name,
                          info ? info->name : "none", allowed[law->sort].text);
}

/* The dtype in which parameters are computed. */
static kiln_dtype param_dtype(const kn_law_use *use)
{
    if (use->law->sort == KN_LAW_REAL)
        return use->dtype == KILN_FLOAT64 ? KILN_FLOAT64 : KILN_FLOAT32;
    if (use->law->sort == KN_LAW_INTEGERS)
        return use->dtype == KILN_UINT64 ? KILN_UINT64 : KILN_INT64;
    return KILN_FLOAT64;
}

kiln_status kn_law_check(const kn_law_use *use, int k, const kiln_arg *given)
{
    const kn_law_param *param = &use->law->param[k];
    double x = 0;
    if (given->kind == KILN_ARG_ARRAY || use->law->sort == KN_LAW_INTEGERS)
        return KILN_OK;
    kiln_status status = kn_scalar_store(&x, KILN_FLOAT64, given, param->name);
    const bool is_in_range = (param->is_open ? x > param->least : x >= param->least) && x <= param->greatest;
    if (status != KILN_OK || is_in_range)
        return status;
    if (isinf(param->greatest))
        return kn_error(KILN_ERROR_INVALID, "%s: %s: %.17g was given; a number %s %g%s was expected",
                        use->law->name, param->name, x, param->is_open ? "above" : "from", param->least,
                        param->is_open ? "" : " on");
    return kn_error(KILN_ERROR_INVALID, "%s: %s: %.17g was given; a number %s %g to %g was expected",
                    use->law->name, param->name, x, param->is_open ? "above" : "from", param->least,
                    param->greatest);
}

/* The numbers that an integer dtype holds. */
static void get_bounds(int64_t *least, uint64_t *greatest, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    const int bits = info->kind == KN_KIND_BOOL ? 1 : 8 * info->size - (info->kind == KN_KIND_INT);
    *greatest = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    *least = info->kind == KN_KIND_INT ? -(int64_t)*greatest - 1 : 0;
}

/* A whole number as its sign and its size. */
static bool is_within(const kiln_arg *x, int64_t least, uint64_t greatest, bool is_end)
{
    if (x->kind == KILN_ARG_WEAK_UINT)
        return x->value.u <= greatest || (is_end && x->value.u == greatest + 1);
    return x->value.i < 0
               ? x->value.i >= least
               : (uint64_t)x->value.i <= greatest || (is_end && (uint64_t)x->value.i == greatest + 1);
}

static bool is_less(const kiln_arg *x, const kiln_arg *y)
{
    const bool x_is_negative = x->kind == KILN_ARG_WEAK_INT && x->value.i < 0;
    const bool y_is_negative = y->kind == KILN_ARG_WEAK_INT && y->value.i < 0;
    return x_is_negative != y_is_negative ? x_is_negative : (x->value.u) < (y->value.u);
}

static bool is_whole(const kiln_arg *x)
{
    return x->kind == KILN_ARG_WEAK_INT || x->kind == KILN_ARG_WEAK_UINT;
}

static void put_whole(char out[24], const kiln_arg *x)
{
    if (x->kind == KILN_ARG_WEAK_UINT)
        snprintf(out, 24, "%" PRIu64, x->value.u);
    else
        snprintf(out, 24, "%" PRId64, x->value.i);
}

kiln_status kn_law_check_range(const kn_law_use *use, const kiln_arg *given)
{
    int64_t least;
    uint64_t greatest;
    char text[2][24];
    if (use->law->sort != KN_LAW_INTEGERS)
        return KILN_OK;
    get_bounds(&least, &greatest, use->dtype);
    for (int k = 0; k < 2; ++k)
        if (given[k].kind == KILN_ARG_WEAK_FLOAT || given[k].kind == KILN_ARG_WEAK_COMPLEX)
            return kn_error(KILN_ERROR_TYPE, "integers: %s: a whole number was expected",
                            use->law->param[k].name);
    for (int k = 0; k < 2; ++k)
        if (is_whole(&given[k]) && !is_within(&given[k], least, greatest, k == 1 && !use->is_closed)) {
            put_whole(text[0], &given[k]);
            return kn_error(KILN_ERROR_INVALID,
                            "integers: %s: %s was given; a number that %s holds was expected",
                            use->law->param[k].name, text[0], kn_dtype_info_of(use->dtype)->name);
        }
    if (!is_whole(&given[0]) || !is_whole(&given[1]) ||
        (use->is_closed ? !is_less(&given[1], &given[0]) : is_less(&given[0], &given[1])))
        return KILN_OK;
    for (int k = 0; k < 2; ++k)
        put_whole(text[k], &given[k]);
    return kn_error(KILN_ERROR_INVALID, "integers: low, high: %s, %s were given; a high %s was expected",
                    text[0], text[1], use->is_closed ? "from low on" : "above low");
}

/* The function with its template's argument: what is computed. Random numbers of 16 bits have as many bits as
 * their dtype below 1: rounded ones could be 1. */
static void put_function(kn_str *out, const kn_law_use *use)
{
    static const char random[] = "random";
    const kn_dtype_info *computed = kn_dtype_info_of(param_dtype(use));
    const bool is_short = kn_dtype_is_half(use->dtype) && strcmp(use->law->name, random) == 0;
    if (use->law->sort == KN_LAW_BITS)
        computed = kn_dtype_info_of(use->dtype);
    if (use->law->sort == KN_LAW_COUNT)
        computed = kn_dtype_info_of(KILN_INT64);
    if (is_short)
        kn_str_printf(out, "kn_random_short<%d>", use->dtype == KILN_FLOAT16 ? 11 : 8);
    else if (use->is_closed)
        kn_str_printf(out, "kn_random_integers_to<%s>", computed->name);
    else
        kn_str_printf(out, "%s<%s>", use->law->name, computed->name);
}

/* The number of the element, by what the second input is. */
static void put_at(kn_str *body, const kn_law_use *use, int k)
{
    if (use->n_shared > 0)
        kn_str_printf(body, "at | %d", k);
    else
        kn_str_append(body, use->counts ? "first + i" : "at");
}

static void put_texts(kn_str *ins, kn_str *outs, kn_str *body, const kn_law_use *use)
{
    const char *const param = kn_dtype_info_of(param_dtype(use))->name;
    kn_str_printf(ins, "uint64 key, int64 %s", use->counts ? "first" : "at");
    if (use->n_shared > 0)
        kn_str_printf(body, "const uint64 at = (uint64)(first + i) * %d; ", use->n_shared);
    for (int k = 0; k < use->law->n_params; ++k)
        kn_str_printf(ins, ", %s %s_", param, use->law->param[k].name);
    for (int k = 0; k < use->n_shared || k == 0; ++k) {
        kn_str_printf(outs, "%s%s y%d", k > 0 ? ", " : "", kn_dtype_info_of(use->dtype)->name, k);
        kn_str_printf(body, "%sy%d = ", k > 0 ? "; " : "", k);
        put_function(body, use);
        kn_str_append(body, use->n_shared > 0 ? "(kn_alone(key), " : "(key, ");
        put_at(body, use, k);
        for (int j = 0; j < use->law->n_params; ++j)
            kn_str_printf(body, ", %s_", use->law->param[j].name);
        kn_str_append(body, ")");
    }
}

static kiln_status make(kiln_kernel **out, const void *of)
{
    const kn_law_use *use = of;
    kn_str ins = KN_STR_INIT, outs = KN_STR_INIT, body = KN_STR_INIT;
    put_texts(&ins, &outs, &body, use);
    const kn_str *const text[] = {&ins, &outs, &body};
    kiln_status status = KILN_OK;
    for (int k = 0; k < 3 && status == KILN_OK; ++k)
        status = kn_str_status(text[k], "the texts of random numbers");
    if (status == KILN_OK)
        status = kiln_elementwise_create(out, kn_str_text(&ins), kn_str_text(&outs), kn_str_text(&body),
                                         use->law->name, NULL);
    kn_str_free(&ins);
    kn_str_free(&outs);
    kn_str_free(&body);
    return status;
}

kiln_status kn_law_kernel(kiln_kernel **out, const kn_law_use *use)
{
    kn_str key = KN_STR_INIT;
    kn_str_printf(&key, "random %s %d %d %d %d", use->law->name, (int)use->dtype, use->is_closed, use->counts,
                  use->n_shared);
    kiln_status status = kn_kernel_remembered(out, &key, make, use);
    kn_str_free(&key);
    return status;
}

static kiln_status make_permuted(kiln_kernel **out, const void *of)
{
    (void)of;
    return kiln_elementwise_create(out, "uint64 key, int64 at, int64 n", "int64 y",
                                   "y = permuted_index(key, at, n)", "permuted_index", NULL);
}

kiln_status kn_permuted_kernel(kiln_kernel **out)
{
    kn_str key = KN_STR_INIT;
    kn_str_append(&key, "permuted_index");
    kiln_status status = kn_kernel_remembered(out, &key, make_permuted, NULL);
    kn_str_free(&key);
    return status;
}

/* ---- sources ---- */

struct kiln_random {
    uint64_t key;
    atomic_uint_fast64_t position;
};

/* Different for all streams, and 0 for the first: a bijection whose bits depend on all others (the steps of
 * MurmurHash3's end). */
static uint64_t scatter(uint64_t stream)
{
    stream = (stream ^ stream >> 33) * 0xff51afd7ed558ccdu;
    stream = (stream ^ stream >> 33) * 0xc4ceb9fe1a85ec53u;
    return stream ^ stream >> 33;
}

kiln_status kiln_random_create(kiln_random **out, uint64_t seed, uint64_t stream)
{
    if (!out)
        return kn_error(KILN_ERROR_INVALID, "kiln_random_create: out is NULL; an address was expected");
    kiln_random *source = kn_malloc(sizeof *source);
    *out = source;
    if (!source)
        return kn_error_memory("a source of random numbers");
    source->key = seed ^ scatter(stream);
    atomic_init(&source->position, 0);
    return KILN_OK;
}

void kiln_random_free(kiln_random *source)
{
    kn_free(source);
}

uint64_t kiln_random_key(const kiln_random *source)
{
    return source ? source->key : 0;
}

uint64_t kiln_random_position(const kiln_random *source)
{
    return source ? atomic_load(&source->position) : 0;
}

void kiln_random_set_position(kiln_random *source, uint64_t position)
{
    if (source)
        atomic_store(&source->position, position);
}

/* Takes the numbers of so many elements; the next call's begin a block. */
static uint64_t take_position(kiln_random *source, int64_t size)
{
    uint64_t from = atomic_load(&source->position), to;
    do
        to = (from + (uint64_t)size + 3) & ~(uint64_t)3;
    while (!atomic_compare_exchange_weak(&source->position, &from, to));
    return from;
}

/* ---- calls ---- */

static kiln_status read_usual(kiln_arg *in, const kn_law_use *use, const kiln_arg *given, int n_given)
{
    const kn_law *law = use->law;
    if (n_given < 0 || n_given > law->n_params || (n_given > 0 && !given))
        return kn_error(KILN_ERROR_INVALID, "%s: %d parameters were given; up to %d were expected", law->name,
                        n_given, law->n_params);
    for (int k = 0; k < law->n_params; ++k) {
        const bool is_given = k < n_given && given[k].kind != KILN_ARG_NONE;
        if (!is_given && isnan(law->param[k].usual))
            return kn_error(KILN_ERROR_INVALID, "%s: %s is missing", law->name, law->param[k].name);
        in[k] = is_given ? given[k] : kiln_arg_float(law->param[k].usual);
        kiln_status status = kn_law_check(use, k, &in[k]);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}

/* One launch over out, from a position (with n_shared a multiple of it) on. */
static kiln_status launch(uint64_t key, uint64_t position, kiln_array *out, const kn_law_use *use,
                          const kiln_arg *params)
{
    kiln_array *part[4] = {out};
    kiln_arg in[2 + KN_LAW_PARAMS] = {kiln_arg_uint(key)};
    const int64_t shape[] = {-1, use->n_shared};
    kiln_kernel *kernel = NULL;
    kiln_array *rows = NULL;
    const int n_out = use->n_shared > 0 ? use->n_shared : 1;
    in[1] = kiln_arg_int((int64_t)(position / (uint64_t)n_out));
    memcpy(&in[2], params, sizeof in - 2 * sizeof in[0]);
    kiln_status status = kn_law_kernel(&kernel, use);
    if (status == KILN_OK && use->n_shared > 0)
        status = kiln_array_reshape(&rows, out, 2, shape);
    for (int k = 0; k < use->n_shared && status == KILN_OK; ++k) {
        part[k] = NULL;
        status = kiln_array_select(&part[k], rows, 1, k);
    }
    if (status == KILN_OK)
        status = kiln_kernel_call(kernel, part, n_out, in, 2 + use->law->n_params, NULL);
    for (int k = 0; rows && k < use->n_shared; ++k)
        kiln_array_free(part[k] == out ? NULL : part[k]);
    kiln_array_free(rows);
    kiln_kernel_free(kernel);
    return status;
}

/* The number of neighbours that a thread computes at once, so that a block of Philox is computed one time. */
static int count_shared(const kiln_array *out, uint64_t position, const kn_law_use *use,
                        const kiln_arg *params)
{
    const bool is_wide =
        param_dtype(use) == KILN_FLOAT64 ? use->law->sort != KN_LAW_BITS : kiln_dtype_size(use->dtype) == 8;
    /* Integers of 64 bits in a range below 2^32 have one word each, the others two. */
    const int n = is_wide && use->law->sort != KN_LAW_INTEGERS ? 2 : 4;
    if (!use->law->shares || !kiln_array_is_c_contiguous(out) || position % (uint64_t)n != 0 ||
        kiln_array_size(out) < n)
        return 0;
    for (int k = 0; k < use->law->n_params; ++k)
        if (params[k].kind == KILN_ARG_ARRAY)
            return 0;
    return n;
}

/* The elements that share blocks, and the last ones. */
static kiln_status launch_shared(uint64_t key, uint64_t position, kiln_array *out, kn_law_use use, int n,
                                 const kiln_arg *params)
{
    const int64_t size = kiln_array_size(out), most = size / n * n, all = -1;
    kiln_array *flat = NULL, *first = NULL, *last = NULL;
    kiln_status status = kiln_array_reshape(&flat, out, 1, &all);
    if (status == KILN_OK)
        status = kiln_array_slice(&first, flat, 0, 0, most, 1);
    if (status == KILN_OK && most < size)
        status = kiln_array_slice(&last, flat, 0, most, size, 1);
    if (status == KILN_OK && last)
        status = launch(key, position + (uint64_t)most, last, &use, params);
    use.n_shared = n;
    if (status == KILN_OK)
        status = launch(key, position, first, &use, params);
    kiln_array_free(last);
    kiln_array_free(first);
    kiln_array_free(flat);
    return status;
}

static kiln_status call(kiln_random *source, kiln_array *out, const kn_law_use *use, const kiln_arg *given,
                        int n_given)
{
    kiln_arg params[KN_LAW_PARAMS] = {{0}};
    kiln_status status = kn_law_check_dtype(use->law, use->dtype);
    if (status == KILN_OK)
        status = read_usual(params, use, given, n_given);
    if (status == KILN_OK)
        status = kn_law_check_range(use, params);
    if (status != KILN_OK)
        return status;
    const uint64_t position = take_position(source, kiln_array_size(out));
    const int n = count_shared(out, position, use, params);
    return n > 0 ? launch_shared(source->key, position, out, *use, n, params)
                 : launch(source->key, position, out, use, params);
}

static kiln_status fill(kiln_random *source, kiln_array *out, const char *name, const kiln_arg *in, int n_in,
                        bool is_closed)
{
    const kn_law *law = name ? kn_law_find(name, strlen(name)) : NULL;
    if (!source || !out)
        return kn_error(KILN_ERROR_INVALID, "random numbers: %s is NULL; %s was expected",
                        source ? "out" : "source", source ? "an array" : "a source of numbers");
    if (!law)
        return kn_error(KILN_ERROR_INVALID,
                        "random numbers: '%s' was given; the name of a distribution was "
                        "expected",
                        name ? name : "NULL");
    const kn_law_use use = {
        .law = law, .dtype = kiln_array_dtype(out), .is_closed = is_closed, .counts = true};
    return call(source, out, &use, in, n_in);
}

kiln_status kiln_random_fill(kiln_random *source, kiln_array *out, const char *name, const kiln_arg *in,
                             int n_in)
{
    return fill(source, out, name, in, n_in, false);
}

kiln_status kiln_random_integers(kiln_random *source, kiln_array *out, kiln_arg low, kiln_arg high,
                                 bool closed)
{
    const kiln_arg in[] = {low, high};
    return fill(source, out, "integers", in, 2, closed);
}

/* A function for each of the header's other ones. */
#define NONE(function, name)                                                                                 \
    kiln_status function(kiln_random *source, kiln_array *out)                                               \
    {                                                                                                        \
        return fill(source, out, name, NULL, 0, false);                                                      \
    }
#define ONE(function, name, x)                                                                               \
    kiln_status function(kiln_random *source, kiln_array *out, kiln_arg x)                                   \
    {                                                                                                        \
        return fill(source, out, name, &x, 1, false);                                                        \
    }
#define TWO(function, name, x, y)                                                                            \
    kiln_status function(kiln_random *source, kiln_array *out, kiln_arg x, kiln_arg y)                       \
    {                                                                                                        \
        const kiln_arg in[] = {x, y};                                                                        \
        return fill(source, out, name, in, 2, false);                                                        \
    }
NONE(kiln_random_random, "random")
NONE(kiln_random_bits, "random_bits")
ONE(kiln_random_exponential, "exponential", scale)
ONE(kiln_random_poisson, "poisson", lam)
TWO(kiln_random_uniform, "uniform", low, high)
TWO(kiln_random_normal, "normal", loc, scale)
TWO(kiln_random_gamma, "random_gamma", shape, scale)
TWO(kiln_random_beta, "random_beta", a, b)
TWO(kiln_random_binomial, "binomial", n, p)
