/* The names that kiln gives stand in headers that users bring, too, and where a user defines one of them that
 * one is meant: computed on the host, compiled for CUDA. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ok.h"
#include <kiln/kiln.h>

enum { BOTH, HOST_ALONE, CUDA_ALONE };

/* z of x = 2, by a body that may include "mine.h". */
typedef struct row {
    const char *what, *header, *preamble, *body;
    double expected;
    int where;
    const char *option;
} row;

static const row rows[] = {
    {"integers", "__device__ inline int64_t twice(int32_t x) { return (int64_t)x * 2; }",
     "#include \"mine.h\"", "z = twice((int)x)", 4, BOTH, NULL},
    {"constants", "__device__ inline bool near(double x) { return x < M_PI && x < INFINITY && x < INT_MAX; }",
     "#include \"mine.h\"", "z = near(x)", 1, BOTH, NULL},
    {"complex numbers", "template <class T> __device__ T turned(T x) { return complex<T>(0, x).imag(); }",
     "#include \"mine.h\"", "z = turned(x)", 2, BOTH, NULL},
    {"numbers of 16 bits", "__device__ inline float narrow(float x) { return float16(x) + bfloat16(x); }",
     "#include \"mine.h\"", "z = narrow(x)", 4, BOTH, NULL},
    {"functions", "__device__ inline double root(double x) { return rsqrt(2 * x) + __popc(7u); }",
     "#include \"mine.h\"", "z = root(x)", 3.5, BOTH, NULL},
    {"atomics", "__device__ inline void count(unsigned *p) { atomicAdd(p, 1u); }", "#include \"mine.h\"",
     "z = x", 2, BOTH, NULL},
    {"what they call besides", "__device__ inline uint64_t one() { return 1; }", "#include \"mine.h\"",
     "z = one() + x", 3, BOTH, "-I."},
    {"macros of one's own", NULL,
     "#define M_PI_2 1.5\n#define INT_MAX 7\n#define CUDART_INF 9.0\n#define int8_t double",
     "int8_t y = M_PI_2 + INT_MAX + CUDART_INF; z = y + (M_PI > 3)", 18.5, BOTH, NULL},
    {"constants of one's own", NULL, "static __device__ const double M_PI_2 = 1.5, CUDART_INF = 9;",
     "z = M_PI_2 + CUDART_INF + (M_PI > 3)", 11.5, BOTH, NULL},
    {"types of one's own", NULL, "typedef long int64_t;\ntypedef unsigned long long uint64_t;",
     "z = sizeof(int64_t) + sizeof(uint64_t) + sizeof(int32_t)", 20, BOTH, NULL},
    {"constants of a header", "static __device__ const float INFINITY = 5;", "#include \"mine.h\"",
     "z = INFINITY + (INT_MAX > 0)", 6, BOTH, NULL},
    {"a header's beside constants", "__device__ inline double odd(double x) { return rsqrt(x * 2); }",
     "#include \"mine.h\"\n__device__ inline double known(double x) { return x < 0 ? odd(CUDART_NAN) : "
     "odd(x); }",
     "z = known(x)", 0.5, BOTH, NULL},
    {"constants that headers mention",
     "static __device__ const double M_PI_4 = 5;\n__device__ inline int16_t four() { return 4; }",
     "#include \"mine.h\"", "z = four() + M_PI_4", 9, BOTH, NULL},
    {"macros of options", NULL, "", "z = M_PI", 3, BOTH, "-DM_PI=3.0"},
    {"the C library's", NULL, "#include <cstdint>\n#include <climits>\n#include <cfloat>\n#include <cmath>",
     "int64_t y = INT_MAX; z = M_PI > 3 && DBL_MAX > y && LLONG_MAX > y && INFINITY > y && std::abs(x) == 2",
     1, HOST_ALONE, NULL},
    {"the toolkit's", NULL, "#if __has_include(<cuda/std/cstdint>)\n#include <cuda/std/cstdint>\n#endif",
     "int64_t y = x; z = y + (intptr_t)1", 3, CUDA_ALONE, NULL},
    {"textures", NULL, "", "z = tex2D<float>((cudaTextureObject_t)x, 0.5f, 0.5f)", 0, CUDA_ALONE, NULL},
};
enum { ROWS = sizeof rows / sizeof rows[0] };

static kiln_array *one(double value)
{
    kiln_array *x = NULL;
    OK(kiln_array_from_host(&x, &value, KILN_FLOAT64, 1, (const int64_t[]){1}, KILN_DEVICE_HOST));
    return x;
}

/* folder NULL: the header is in memory. */
static kiln_kernel *make_kernel(const row *r, const char *folder)
{
    static const char *const names[] = {"mine.h"};
    char include[64];
    const char *options[2];
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    o.preamble = r->preamble;
    o.compile_options = options;
    if (r->option)
        options[o.n_compile_options++] = r->option;
    if (folder) {
        snprintf(include, sizeof include, "-I%s", folder);
        options[o.n_compile_options++] = include;
    } else if (r->header) {
        o.header_names = names;
        o.header_texts = &r->header;
        o.n_headers = 1;
    }
    OK(kiln_elementwise_create(&kernel, "float64 x", "float64 z", r->body, "names", &o));
    return kernel;
}

static void check_on_host(const row *r, kiln_kernel *kernel)
{
    double value = 0;
    kiln_array *x = one(2), *z = NULL;
    kiln_arg in = kiln_arg_array(x);
    if (kiln_kernel_call(kernel, &z, 1, &in, 1, NULL) != KILN_OK)
        fail_msg("%s: %s\n%s", r->what, kiln_error_message(), kiln_error_log());
    OK(kiln_array_to_host(z, &value, sizeof value));
    if (value != r->expected)
        fail_msg("%s gave %g, not %g", r->what, value, r->expected);
    kiln_array_free(x);
    kiln_array_free(z);
}

/* False: there is no NVRTC. */
static bool check_on_cuda(const row *r, kiln_kernel *kernel)
{
    kiln_prepare_options o = KILN_PREPARE_OPTIONS_INIT;
    kiln_array *x = one(2), *z = one(0);
    kiln_arg in = kiln_arg_array(x);
    o.target = "sm_90";
    kiln_status status = kiln_kernel_prepare(kernel, &z, 1, &in, 1, NULL, &o);
    if (status != KILN_OK && status != KILN_ERROR_NOT_FOUND)
        fail_msg("%s: %s\n%s", r->what, kiln_error_message(), kiln_error_log());
    kiln_array_free(x);
    kiln_array_free(z);
    return status == KILN_OK;
}

static void check_row(const row *r, const char *folder)
{
    kiln_kernel *kernel = make_kernel(r, folder);
    if (r->where != CUDA_ALONE)
        check_on_host(r, kernel);
    if (r->where != HOST_ALONE && !check_on_cuda(r, kernel))
        printf("%s: there is no NVRTC\n", r->what);
    kiln_kernel_free(kernel);
}

static void names_are_there(void **state)
{
    (void)state;
    for (int k = 0; k < ROWS; k++)
        check_row(&rows[k], NULL);
}

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[96];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* The header that is asked for includes the one that uses a name, and what that is changes with the file. */
static void names_are_there_in_files(void **state)
{
    char folder[] = "/tmp/kiln-names-XXXXXX", path[96];
    row r = {"a file", NULL, "#include \"outer.h\"", "z = scaled(x)", 8, BOTH, NULL};
    (void)state;
    assert_non_null(mkdtemp(folder));
    write_file(folder, "outer.h", "#pragma once\n#include \"inner.h\"\n");
    write_file(folder, "inner.h", "__device__ inline int64_t scaled(double x) { return (uint8_t)x * 4; }\n");
    check_row(&r, folder);
    write_file(folder, "inner.h",
               "__device__ inline double scaled(double x) { return rsqrt(x * 2) + M_PI_2 * 0; }\n");
    r.expected = 0.5;
    check_row(&r, folder);
    snprintf(path, sizeof path, "%s/outer.h", folder);
    unlink(path);
    snprintf(path, sizeof path, "%s/inner.h", folder);
    unlink(path);
    rmdir(folder);
}

/* The error is the user's own, whatever the first try lacked. */
static void errors_are_the_users(void **state)
{
    const row r = {"an error", rows[0].header, "#include \"mine.h\"", "z = twice((int)x) + nowhere", 0, BOTH,
                   NULL};
    kiln_kernel *kernel = make_kernel(&r, NULL);
    kiln_array *x = one(2), *z = NULL;
    kiln_arg in = kiln_arg_array(x);
    (void)state;
    assert_int_equal(kiln_kernel_call(kernel, &z, 1, &in, 1, NULL), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_message(), "nowhere"));
    assert_null(strstr(kiln_error_log(), "int64_t"));
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

static int on_host(void **state)
{
    (void)state;
    setenv("KILN_TARGET", "host", 1);
    setenv("KILN_FORMS", "quick", 1);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_there),
                                       cmocka_unit_test(names_are_there_in_files),
                                       cmocka_unit_test(errors_are_the_users)};
    return cmocka_run_group_tests(tests, on_host, NULL);
}
