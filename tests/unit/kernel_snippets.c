/* Texts written for CuPy, through both compilers: each definition is prepared for the host and for an
 * architecture, without a device. tests/cases compares the results. */
#include <kiln/kiln.h>
#include <kiln/toolchain.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct definition {
    const char *in, *out, *body, *loop_prep, *preamble;
    const char *refusal; /* a word of the compiler's message; NULL: it compiles */
    unsigned flags;
} definition;

/* `raw` parameters get arrays of 3 x 4, those called r1 and r0 arrays of one axis and of none, those called s
 * a scalar; the others 3 x 4. */
static const definition definitions[] = {
    {"T x", "T z", "z = x * step + _ind.size()", "const double step = 1.0 / (_ind.size() - 1);", "", NULL, 0},
    {"T x", "T z", "z = x + last", "const ptrdiff_t *shape = _ind.shape(), last = shape[1] - _ind.size();",
     "", NULL, 0},
    {"T x, T n", "T z", "z = x + n * _ind.size() + i", "", "", NULL, 0},
    {"raw T r, T n", "T z", "z = r[i] + n", "", "", NULL, 0},
    {"raw T r", "T z", "const decltype(r)::index_t at[] = {i / 4, i % 4}; z = r[at]", "", "", NULL, 0},
    {"raw T r", "T z", "ptrdiff_t at[decltype(r)::ndim]; at[0] = i / 4; at[1] = i % 4; z = r[at]", "", "",
     NULL, 0},
    {"raw T r", "T z", "unsigned short at[] = {0, 1}; z = r[at]", "", "", NULL, 0},
    {"raw T r", "T z", "const ptrdiff_t *at = _ind.get(); z = at[0] + r[_ind.get()]", "", "", NULL, 0},
    {"raw T r", "T z", "auto at = _ind.get(); z = at[1] + r[at] + r(at[0], at[1]) + r[{at[0], at[1]}]", "",
     "", NULL, 0},
    {"raw T r0", "T z", "z = r0[0] + r0[i] + r0", "", "", NULL, 0},
    {"T x, raw T s", "T z", "z = x < s ? s : x", "", "", NULL, 0},
    {"T x, raw int64 s", "raw T r", "r[i] = x * s", "", "", NULL, 0},
    {"T x", "T z", "z = x > 0 ? x : nan(\"\"); z += nanf(\"1\")", "", "", NULL, 0},
    {"T x", "T z", "z = labs((long)x) + llabs((long long)x) + umax(1u, 2u) + llmin(1ll, 2ll)", "", "", NULL,
     0},
    {"complex128 c", "float64 z", "z = thrust::abs(thrust::complex<double>(c)) + thrust::arg(c)", "", "",
     NULL, 0},
    {"T x", "complex128 z", "z = thrust::polar(x, 2.0) * thrust::exp(thrust::complex<T>(0, x))", "", "", NULL,
     0},
    {"complex64 c", "complex128 z", "complex64 u = c; complex128 v(u); z = v + complex64(1, 2)", "", "", NULL,
     0},
    {"complex64 c, complex128 d", "bool z", "z = c < d || c <= d || c > d || c >= d || c < 1.5 || 2 >= d", "",
     "", NULL, 0},
    {"T x", "T z", "z = x + sizeof R\"(\")\" + sizeof u8R\"q(z = )q\" + 1'000'000", "", "", NULL, 0},
    {"T x", "T z", "thrust::complex<T> u(x, x); z = u.x", "",
     "namespace thrust { template <class T> struct complex { T x, y; complex(T a, T b) : x(a), y(b) {} }; }",
     NULL, 0},
    {"raw T r", "T z", "const int at[] = {0, 1, 2}; z = r[at]", "", "", "as many as it has axes", 0},
    {"raw T r", "T z", "const int at[] = {0}; z = r[at]", "", "", "as many as it has axes", 0},
    {"raw T r1", "T z", "z = r1[_ind.get()]", "", "", "as many axes as the loop", 0},
    {"T x, raw T r1, raw T r0", "raw T r",
     "const int at[] = {0, 1}; r[at] = r[i] + r1(i) + r0[7] + x; r[_ind.get()] += r0; atomicAdd(&r[i], r0)",
     "", "", NULL, KILN_KERNEL_CHECK},
    {"raw bool r", "T z", "z = r[i] ? r(0, 1) : r[{0, 1}]", "", "", NULL, KILN_KERNEL_CHECK},
    {"raw T r", "T z", "const int at[] = {0}; z = r[at]", "", "", "as many as it has axes",
     KILN_KERNEL_CHECK},
};

static bool has_compiler(const char *backend)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    return kiln_toolchain_get_info(backend, &info) == KILN_OK;
}

static kiln_array *array_of(kiln_dtype dtype, int ndim)
{
    static const int64_t shape[] = {3, 4};
    kiln_array *a = NULL;
    assert_int_equal(kiln_array_empty(&a, dtype, ndim, shape, KILN_DEVICE_HOST), KILN_OK);
    return a;
}

static kiln_dtype dtype_of(const char *parameter)
{
    static const kiln_dtype dtypes[] = {KILN_BOOL, KILN_INT64, KILN_COMPLEX64, KILN_COMPLEX128};
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; ++k)
        if (strstr(parameter, kiln_dtype_name(dtypes[k])))
            return dtypes[k];
    return KILN_FLOAT64;
}

/* An argument for each parameter of the signature. */
static int make_arguments(kiln_arg *args, kiln_array **arrays, const char *signature)
{
    char text[128], *rest = NULL;
    int count = 0;
    strcpy(text, signature);
    for (char *p = strtok_r(text, ",", &rest); p; p = strtok_r(NULL, ",", &rest), ++count) {
        const char *name = strrchr(p, ' ') + 1;
        const int64_t seven = 7;
        const double half = 0.5;
        kiln_dtype dtype = dtype_of(p);
        if (!strcmp(name, "s")) {
            arrays[count] = NULL;
            args[count] = kiln_arg_typed(dtype, dtype == KILN_INT64 ? (const void *)&seven : &half);
            continue;
        }
        arrays[count] = array_of(dtype, !strcmp(name, "r0") ? 0 : !strcmp(name, "r1") ? 1 : 2);
        args[count] = kiln_arg_array(arrays[count]);
    }
    return count;
}

static void prepare(const definition *d, const char *target)
{
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_prepare_options where = KILN_PREPARE_OPTIONS_INIT;
    kiln_arg args[8], outs[8];
    kiln_array *in[8] = {NULL}, *out[8] = {NULL};
    options.flags = d->flags;
    options.loop_prep = d->loop_prep;
    options.preamble = d->preamble;
    where.target = target;
    int n_in = make_arguments(args, in, d->in), n_out = make_arguments(outs, out, d->out);
    kiln_status status = kiln_elementwise_create(&kernel, d->in, d->out, d->body, "k", &options);
    if (status == KILN_OK)
        status = kiln_kernel_prepare(kernel, out, n_out, args, n_in, NULL, &where);
    if (status != (d->refusal ? KILN_ERROR_COMPILE : KILN_OK) ||
        (d->refusal && !strstr(kiln_error_message(), d->refusal) && !strstr(kiln_error_log(), d->refusal)))
        fail_msg("%s: '%s': %s", target, d->body, kiln_error_message());
    kiln_kernel_free(kernel);
    for (int k = 0; k < 8; ++k) {
        kiln_array_free(in[k]);
        kiln_array_free(out[k]);
    }
}

static void prepare_all(const char *backend, const char *target)
{
    if (!has_compiler(backend))
        skip();
    for (size_t k = 0; k < sizeof definitions / sizeof definitions[0]; ++k)
        prepare(&definitions[k], target);
}

static void on_the_host(void **state)
{
    (void)state;
    prepare_all("host", "host");
}

static void for_cuda(void **state)
{
    (void)state;
    prepare_all("cuda", "sm_90");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_the_host), cmocka_unit_test(for_cuda)};
    setenv("KILN_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
