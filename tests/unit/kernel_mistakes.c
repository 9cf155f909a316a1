/* Mistakes that no compiler takes, with the exact message, by whichever compiler: the host's, the other of
 * g++ and clang++, and NVRTC. No device is needed. */
#include <kiln/kiln.h>
#include <kiln/toolchain.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct mistake {
    const char *in, *body, *message;
} mistake;

/* Parameters called h are float16, raw ones have 6 elements. */
static const mistake mistakes[] = {
    {"T x", "z = x ** 2",
     "k:1: error: C++ has no operator '**': write x * x, or pow(x, 2.5)\n"
     "  z = x ** 2\n"
     "        ^~"},
    {"T x", "T t = x;\nz = np.sqrt(t);",
     "k:2: error: functions have no module in front of them: sqrt(x), not np.sqrt(x)\n"
     "  z = np.sqrt(t);\n"
     "      ^~~"},
    {"T x", "z = std::sqrt(x)",
     "k:1: error: functions have no namespace in front of them: sqrt(x), not std::sqrt(x)\n"
     "  z = std::sqrt(x)\n"
     "      ^~~~~"},
    {"T x", "T t = x * 2  // twice\n\nz = t;",
     "k:1: error: a ';' is missing here\n"
     "  T t = x * 2  // twice\n"
     "             ^"},
    {"T x", "z = x\nz += 1",
     "k:1: error: a ';' is missing here\n"
     "  z = x\n"
     "       ^"},
    {"T x", "z = x if x > 0 else 0",
     "k:1: error: a choice between two values is written condition ? this : that\n"
     "  z = x if x > 0 else 0\n"
     "        ^~"},
    {"T h", "z = h > 0 ? h : 1.0",
     "k:1: error: the two sides of '?:' have different types, and either could become the other: cast one, "
     "as in "
     "x > 0 ? x : float16(1.5)\n"
     "  z = h > 0 ? h : 1.0\n"
     "            ^"},
    {"T x", "\tz = sqrtt(x)",
     "k:1: error: there is no function 'sqrtt': did you mean 'sqrt'?\n"
     "  \tz = sqrtt(x)\n"
     "  \t    ^~~~~"},
    {"T x", "z = arctan2(x, x)",
     "k:1: error: there is no function 'arctan2': did you mean 'atan2'?\n"
     "  z = arctan2(x, x)\n"
     "      ^~~~~~~"},
    {"T value", "z = valeu + value",
     "k:1: error: 'valeu' is not declared: did you mean 'value'?\n"
     "  z = valeu + value\n"
     "      ^~~~~"},
    {"T x", "z = x / frobnicate(x)",
     "k:1: error: there is no function 'frobnicate'\n"
     "  z = x / frobnicate(x)\n"
     "          ^~~~~~~~~~"},
    {"T x", "z = x > 1 ? True : 0",
     "k:1: error: 'True' is not declared: did you mean 'true'?\n"
     "  z = x > 1 ? True : 0\n"
     "              ^~~~"},
    {"raw T r", "z = r * 2",
     "k:1: error: a raw operand has elements, as in x[i], and no value of its own\n"
     "  z = r * 2\n"
     "        ^"},
    {"T x", "x = 1; z = x",
     "k:1: error: an input, or another constant, cannot be assigned: assign a variable of your own, or an "
     "output\n"
     "  x = 1; z = x\n"
     "  ^"},
    {"raw T r", "r[i] = 1; z = 0",
     "k:1: error: an input, or another constant, cannot be assigned: assign a variable of your own, or an "
     "output\n"
     "  r[i] = 1; z = 0\n"
     "  ^"},
    {"raw T r", "z = 1;\n  z += r(i, 0);",
     "k:2: error: a raw operand is indexed by one number, as in x[k], or by as many as it has axes, as in "
     "x(r, c)\n"
     "    z += r(i, 0);\n"
     "    ^~~~~~~~~~~~~"},
    {"T x", "z = x +",
     "k:1: error: a value is missing here\n"
     "  z = x +\n"
     "         ^"},
    {"T x", "T t = ;\nz = t + x",
     "k:1: error: a value is missing here\n"
     "  T t = ;\n"
     "       ^"},
    {"T x", "z = x ^ 2",
     "k:1: error: C++'s ^ is of bits, and no power: write x * x, or pow(x, 2.5)\n"
     "  z = x ^ 2\n"
     "        ^"},
    {"T x", "T t = 1; z = t + x[0]",
     "k:1: error: it is one element: with `raw` in front of its type in the signature it is the whole array, "
     "as in "
     "raw T x and x[0]\n"
     "  T t = 1; z = t + x[0]\n"
     "                   ^"},
    {"T x", "if x > 0: z = 1",
     "k:1: error: C++ has brackets around a condition, and no colon behind it: if (x > 0) y = 1; a choice "
     "between "
     "two values is condition ? this : that\n"
     "  if x > 0: z = 1\n"
     "  ^~"},
    {"T x", "z = median(x)",
     "k:1: error: there is no function 'median': NumPy's is not there yet\n"
     "  z = median(x)\n"
     "      ^~~~~~"},
    {"T x", "z = sort(x)",
     "k:1: error: there is no function 'sort': NumPy's is not there yet\n"
     "  z = sort(x)\n"
     "      ^~~~"},
    {"T x", "z = x - mean(x)",
     "k:1: error: there is no function 'mean' in a body, which computes one element: it is a reduction of "
     "arrays, as "
     "expressions have it\n"
     "  z = x - mean(x)\n"
     "          ^~~~"},
    {"T x", "z = where(x > 0, x, 0)",
     "k:1: error: there is no function 'where' in a body: write condition ? x : y\n"
     "  z = where(x > 0, x, 0)\n"
     "      ^~~~~"},
    {"T x", "half h = 1; z = x",
     "k:1: error: 'half' is not declared: did you mean 'float16'?\n"
     "  half h = 1; z = x\n"
     "  ^~~~"},
};
enum { N_MISTAKES = sizeof mistakes / sizeof *mistakes };

static bool has_compiler(const char *backend)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    return kiln_toolchain_get_info(backend, &info) == KILN_OK;
}

static void make(const mistake *m, const char *target, const char *preamble)
{
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *z = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_prepare_options where = KILN_PREPARE_OPTIONS_INIT;
    const int64_t shape[] = {6};
    kiln_dtype dtype = strcmp(m->in, "T h") == 0 ? KILN_FLOAT16 : KILN_FLOAT32;
    options.preamble = preamble;
    where.target = target;
    assert_int_equal(kiln_array_zeros(&x, dtype, 1, shape, KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_array_zeros(&z, dtype, 1, shape, KILN_DEVICE_HOST), KILN_OK);
    kiln_arg in = kiln_arg_array(x);
    assert_int_equal(kiln_elementwise_create(&kernel, m->in, "T z", m->body, "k", &options), KILN_OK);
    kiln_status status = kiln_kernel_prepare(kernel, &z, 1, &in, 1, NULL, &where);
    if (m->message) {
        assert_string_equal(kiln_error_message(), m->message);
        assert_int_equal(status, KILN_ERROR_COMPILE);
        assert_true(kiln_error_log()[0] != 0);
    } else if (status != KILN_OK) {
        fail_msg("%s: %s: %s", target, m->body, kiln_error_message());
    }
    kiln_kernel_free(kernel);
    kiln_array_free(x);
    kiln_array_free(z);
}

static void make_all(const char *backend, const char *target)
{
    if (!has_compiler(backend))
        skip();
    for (int k = 0; k < N_MISTAKES; k++)
        make(&mistakes[k], target, "");
}

static void on_the_host(void **state)
{
    (void)state;
    make_all("host", "host");
}

static void for_cuda(void **state)
{
    (void)state;
    make_all("cuda", "sm_90");
}

/* Words that C++ has of its own: no mistakes. */
static void words_for_operators(void **state)
{
    (void)state;
    const mistake words = {"T x", "z = x > 1 and x < 3 or not (x > 0)", NULL};
    make(&words, "host", "");
    if (has_compiler("cuda"))
        make(&words, "sm_90", "");
}

static void in_a_preamble(void **state)
{
    (void)state;
    const mistake one = {"T x", "z = f(x)",
                         "k.preamble:2: error: there is no function 'sqtr': did you mean 'sqrt'?\n"
                         "  __device__ float f(float x) { return sqtr(x); }\n"
                         "                                       ^~~~"};
    const char *preamble = "// of one number\n__device__ float f(float x) { return sqtr(x); }";
    make(&one, "host", preamble);
    if (has_compiler("cuda"))
        make(&one, "sm_90", preamble);
}

/* The user's line as the user wrote it, with a caret in its place, and no word that the library put in. */
static void words_of_ours_are_not_shown(void **state)
{
    (void)state;
    const char *const targets[] = {"host", "sm_90"};
    const mistake one = {"raw T r", "int a = 7, b = 2; z = (a / b) + (a % b) + r.nothing / (a << b)", NULL};
    for (int t = 0; t < 2; t++) {
        kiln_kernel *kernel = NULL;
        kiln_array *x = NULL, *z = NULL;
        kiln_prepare_options where = KILN_PREPARE_OPTIONS_INIT;
        const int64_t shape[] = {6};
        where.target = targets[t];
        if (!has_compiler(t ? "cuda" : "host"))
            continue;
        assert_int_equal(kiln_array_zeros(&x, KILN_INT32, 1, shape, KILN_DEVICE_HOST), KILN_OK);
        kiln_arg in = kiln_arg_array(x);
        assert_int_equal(kiln_elementwise_create(&kernel, one.in, "T z", one.body, "k", NULL), KILN_OK);
        assert_int_equal(kiln_array_zeros(&z, KILN_INT32, 1, shape, KILN_DEVICE_HOST), KILN_OK);
        assert_int_equal(kiln_kernel_prepare(kernel, &z, 1, &in, 1, NULL, &where), KILN_ERROR_COMPILE);
        const char *message = kiln_error_message();
        assert_null(strstr(message, "kn_"));
        assert_non_null(strstr(message, "k:1: error: "));
        const char *line =
            strstr(message, "\n  int a = 7, b = 2; z = (a / b) + (a % b) + r.nothing / (a << b)\n");
        assert_non_null(line);
        const char *caret = strchr(line, '^'), *below = strchr(line + 1, '\n') + 1;
        assert_int_equal(caret - below, 2 + (strstr(one.body, "nothing") - one.body));
        kiln_kernel_free(kernel);
        kiln_array_free(x);
        kiln_array_free(z);
    }
}

/* Texts that the library's source goes on behind: the error is at their end. */
static void reductions_that_end_too_early(void **state)
{
    (void)state;
    static const struct {
        const char *map, *reduce, *post, *identity, *message;
    } cases[] = {
        {"x *", "a + b", "z = a", "0", "k.map:1: error: a value is missing here\n  x *\n     ^"},
        {"x", "a\n +", "z = a", "0", "k.reduce:2: error: a value is missing here\n   +\n    ^"},
        {"x", "a + b", "z =", "0", "k.post:1: error: a value is missing here\n  z =\n     ^"},
        {"x", "a + b", "z = a", "0 +", "k.reduce.identity:1: error: a value is missing here\n  0 +\n     ^"},
    };
    for (int t = 0; t < 2; t++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases && has_compiler(t ? "cuda" : "host"); k++) {
            kiln_kernel *kernel = NULL;
            kiln_array *x = NULL, *z = NULL;
            kiln_prepare_options where = KILN_PREPARE_OPTIONS_INIT;
            const int64_t shape[] = {6};
            where.target = t ? "sm_90" : "host";
            assert_int_equal(kiln_array_zeros(&x, KILN_FLOAT32, 1, shape, KILN_DEVICE_HOST), KILN_OK);
            kiln_arg in = kiln_arg_array(x);
            assert_int_equal(kiln_reduction_create(&kernel, "T x", "T z", cases[k].map, cases[k].reduce,
                                                   cases[k].post, cases[k].identity, "k", NULL),
                             KILN_OK);
            assert_int_equal(kiln_array_zeros(&z, KILN_FLOAT32, 0, NULL, KILN_DEVICE_HOST), KILN_OK);
            assert_int_equal(kiln_kernel_prepare(kernel, &z, 1, &in, 1, NULL, &where), KILN_ERROR_COMPILE);
            assert_string_equal(kiln_error_message(), cases[k].message);
            kiln_kernel_free(kernel);
            kiln_array_free(x);
            kiln_array_free(z);
        }
}

#define DEFINE_IT                                                                                            \
    "' is declared, and defined nowhere: define it in the preamble, or for the host alone name its library " \
    "in compile_options, as \"-LFOLDER\", \"-lNAME\"\n"

/* No compiler has anything against it: ptxas has, and the loader. */
static void functions_that_nobody_defines(void **state)
{
    (void)state;
    static const struct {
        const char *preamble;
        mistake one;
    } cases[] = {
        {"extern \"C\" double foo(double);",
         {"T x", "z = 1 +\n  foo(x)", "k:2: error: 'foo" DEFINE_IT "    foo(x)\n    ^~~"}},
        {"namespace a { namespace bc { double far_away(double, int); } }",
         {"T x", "z = a::bc::far_away(x, 2)",
          "k:1: error: 'far_away" DEFINE_IT "  z = a::bc::far_away(x, 2)\n             ^~~~~~~~"}},
        {"template <class T> T foo(T);",
         {"T x", "z = foo(x)", "k:1: error: 'foo" DEFINE_IT "  z = foo(x)\n      ^~~"}},
        {"double foo(double);\n__device__ double f(double x) { return foo(x); }",
         {"T x", "z = f(x)",
          "k.preamble:2: error: 'foo" DEFINE_IT "  __device__ double f(double x) { return foo(x); }\n"
          "                                         ^~~"}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        if (has_compiler("host"))
            make(&cases[k].one, "host", cases[k].preamble);
        if (has_compiler("cuda"))
            make(&cases[k].one, "sm_90", cases[k].preamble);
    }
}

/* A library that compile_options name, wherever they stand; without them a path that means nothing is not
 * shown. */
static void a_library_that_defines_it(void **state)
{
    (void)state;
    char folder[] = "/tmp/kiln-library-XXXXXX", command[512], where[64], path[96];
    const char *options[] = {"-lkiln_test_answer", where, path};
    kiln_kernel_options library = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    kiln_array *x = NULL, *z = NULL;
    double value = 1;
    if (!has_compiler("host"))
        skip();
    assert_non_null(mkdtemp(folder));
    snprintf(command, sizeof command,
             "echo 'extern \"C\" double kiln_test_answer(double x) { return x + 41; }' | "
             "${KILN_CXX:-${CXX:-c++}} -shared -fPIC -x c++ - -o %s/libkiln_test_answer.so",
             folder);
    assert_int_equal(system(command), 0);
    snprintf(where, sizeof where, "-L%s", folder);
    snprintf(path, sizeof path, "-Wl,-rpath,%s", folder);
    library.preamble = "extern \"C\" double kiln_test_answer(double);";
    library.compile_options = options;
    library.n_compile_options = 3;
    assert_int_equal(kiln_elementwise_create(&kernel, "T x", "T z", "z = kiln_test_answer(x)", "k", &library),
                     KILN_OK);
    assert_int_equal(kiln_array_from_host(&x, &value, KILN_FLOAT64, 0, NULL, KILN_DEVICE_HOST), KILN_OK);
    kiln_arg in = kiln_arg_array(x);
    assert_int_equal(kiln_kernel_call(kernel, &z, 1, &in, 1, NULL), KILN_OK);
    assert_int_equal(kiln_array_to_host(z, &value, sizeof value), KILN_OK);
    assert_true(value == 42);
    kiln_array_free(x);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_host),
        cmocka_unit_test(for_cuda),
        cmocka_unit_test(words_for_operators),
        cmocka_unit_test(in_a_preamble),
        cmocka_unit_test(words_of_ours_are_not_shown),
        cmocka_unit_test(reductions_that_end_too_early),
        cmocka_unit_test(functions_that_nobody_defines),
        cmocka_unit_test(a_library_that_defines_it),
    };
    setenv("KILN_CACHE", "off", 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
