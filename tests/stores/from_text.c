/* Specialisations that are compiled from their text alone, in a process that has neither kernels, arrays nor
 * a device (compile_text), are found by the calls that need them: on the host, and for sm_90 without one. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define REQUIRE_EXIT 0 /* a process says by its status how many specialisations it met */
#include "require.h"

enum { ROWS = 60, COLUMNS = 40, LINE = 1 << 16 };

static kiln_origin expected;
static int met; /* specialisations */

static void expect_origin(const char *what)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    REQUIRE_OK(kiln_kernel_last_call(&info));
    REQUIRE(info.origin == expected, "%s came from %d, not from %d", what, (int)info.origin, (int)expected);
    REQUIRE((info.compile_ms > 0) == (expected == KILN_ORIGIN_COMPILER), "%s", what);
    REQUIRE((info.generate_ms > 0) == (expected == KILN_ORIGIN_COMPILER), "%s", what);
    met++;
}

/* ---- calls: every one gives x * 3 + y, each of a specialisation of its own ---- */

static const char *const header_names[] = {"three.h"},
                         *const header_texts[] = {"#define THREE 3 // \"\\\"\n"},
                         *const defines[] = {"-DTHREE=3"};

static const struct {
    const char *name, *in, *body, *preamble, *loop_prep;
    unsigned flags;
    int n_options, n_headers;
} kernels[] = {
    {"plain", "T x, T y", "z = x * T(3) + y", NULL, NULL, 0, 0, 0},
    {"texts", "T x, T y", "/* \t\\ \"\xc3\xa9\" */\nz = three(x)\n  + y;",
     "template <class T> auto three(T x) { return T(x * T(3)); }", "int unused = 0; (void)unused",
     KILN_KERNEL_NO_FMA, 0, 0},
    {"optioned", "T x, T y", "z = x * T(THREE) + y", NULL, NULL, KILN_KERNEL_FAST_MATH, 1, 0},
    {"headed", "T x, T y", "z = x * T(THREE) + y", "#include \"three.h\"", NULL, 0, 0, 1},
    {"raw", "T x, raw T y", "z = x * T(3) + y[i]", NULL, NULL, 0, 0, 0},
};

static kiln_kernel *make_kernel(int k)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_kernel *kernel = NULL;
    options.flags = kernels[k].flags;
    options.preamble = kernels[k].preamble;
    options.loop_prep = kernels[k].loop_prep;
    options.compile_options = defines;
    options.n_compile_options = kernels[k].n_options;
    options.header_names = header_names;
    options.header_texts = header_texts;
    options.n_headers = kernels[k].n_headers;
    REQUIRE_OK(
        kiln_elementwise_create(&kernel, kernels[k].in, "T z", kernels[k].body, kernels[k].name, &options));
    return kernel;
}

static kiln_array *counted(kiln_dtype dtype)
{
    kiln_array *flat = NULL, *matrix = NULL;
    const int64_t shape[] = {ROWS, COLUMNS};
    REQUIRE_OK(kiln_array_arange(&flat, 0, ROWS * COLUMNS, 1, dtype, KILN_DEVICE_HOST));
    REQUIRE_OK(kiln_array_reshape(&matrix, flat, 2, shape));
    kiln_array_free(flat);
    return matrix;
}

static double element(kiln_array *array, int at)
{
    const void *data = kiln_array_data(array);
    return kiln_array_dtype(array) == KILN_INT32 ? ((const int32_t *)data)[at] : ((const double *)data)[at];
}

/* The rows of x run backwards. */
static void check_values(kiln_array *z)
{
    REQUIRE_OK(kiln_stream_synchronize(NULL));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++) {
            int y = r * COLUMNS + c, x = r * COLUMNS + COLUMNS - 1 - c;
            REQUIRE(element(z, y) == x * 3 + y, "element %d, %d is %g", r, c, element(z, y));
        }
}

static void call(int k, kiln_dtype dtype, bool has_nvrtc)
{
    kiln_prepare_options for_cuda = KILN_PREPARE_OPTIONS_INIT;
    kiln_kernel *kernel = make_kernel(k);
    kiln_array *y = counted(dtype), *x = NULL, *z = NULL;
    REQUIRE_OK(kiln_array_index(&x, y, ":, ::-1"));
    const kiln_arg in[] = {kiln_arg_array(x), kiln_arg_array(y)};
    REQUIRE_OK(kiln_kernel_call(kernel, &z, 1, in, 2, NULL));
    expect_origin(kernels[k].name);
    REQUIRE(kiln_array_dtype(z) == dtype, "%s", kernels[k].name);
    check_values(z);
    for_cuda.target = "sm_90";
    if (has_nvrtc) {
        REQUIRE_OK(kiln_kernel_prepare(kernel, NULL, 1, in, 2, NULL, &for_cuda));
        expect_origin("for sm_90");
    }
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_array_free(z);
    kiln_kernel_free(kernel);
}

static void make_modules(void)
{
    static const char *const instances[] = {"twice<float>"};
    static const char *const sources[] = {"template <class T> __global__ void twice(T *x) { *x *= 2; }",
                                          "#include \"three.h\"\n#include <kiln/types.h>\n__global__ void "
                                          "f(float16 *x) { *x = float16(THREE); }"};
    for (int m = 0; m < 2; m++) {
        kiln_module_options options = KILN_MODULE_OPTIONS_INIT;
        kiln_module *module = NULL;
        options.target = "sm_90";
        options.name = "texts";
        options.flags = m ? 0 : KILN_MODULE_FAST_MATH;
        options.name_expressions = instances;
        options.n_name_expressions = !m;
        options.header_names = header_names;
        options.header_texts = header_texts;
        options.n_headers = m;
        REQUIRE_OK(kiln_module_create(&module, sources[m], 0, &options));
        expect_origin("a module");
        kiln_module_free(module);
    }
}

static bool has_nvrtc(void)
{
    kiln_toolchain_info info = KILN_TOOLCHAIN_INFO_INIT;
    bool is_there = kiln_toolchain_get_info("cuda", &info) == KILN_OK;
    REQUIRE(is_there || !getenv("KILN_REQUIRE_NVRTC"), "%s", kiln_error_message());
    return is_there;
}

/* All calls; their number. */
static int call_all(kiln_origin origin)
{
    bool is_there = has_nvrtc();
    expected = origin;
    met = 0;
    call(0, KILN_INT32, is_there);
    for (int k = 0; k < (int)(sizeof kernels / sizeof *kernels); k++)
        call(k, k % 2 ? KILN_INT32 : KILN_FLOAT64, is_there);
    if (is_there)
        make_modules();
    return met;
}

/* ---- processes, each with a cache ---- */

static char folder[64];

static char *in_folder(const char *name)
{
    static char path[2][128];
    static int turn;
    char *at = path[turn++ % 2];
    snprintf(at, sizeof path[0], "%s/%s", folder, name);
    return at;
}

static int code_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

/* The program's exit status, with lines of the file `name` compiled into the cache of the folder. */
static int compile_texts(const char *name, const char *cache)
{
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_CACHE_DIR", in_folder(cache), 1);
        if (!freopen(in_folder("said"), "w", stdout) || !freopen(in_folder("complaints"), "w", stderr))
            _exit(98);
        execl(COMPILE_TEXT, "compile_text", in_folder(name), (char *)NULL);
        _exit(97);
    }
    return code_of(child);
}

static bool put_entry(const kiln_cache_entry *entry, void *file)
{
    fprintf(file, "%s\n", entry->what);
    return true;
}

/* A process of this program's own: its exit status is the number of specialisations, 0 after a failure. */
static int process(const char *cache, int (*body)(void))
{
    pid_t child;
    fflush(stdout);
    child = fork();
    if (child == 0) {
        setenv("KILN_CACHE_DIR", in_folder(cache), 1);
        _exit(body());
    }
    return code_of(child);
}

static int record(void)
{
    int n = call_all(KILN_ORIGIN_COMPILER);
    FILE *lines = fopen(in_folder("lines"), "w");
    REQUIRE(lines, "no file");
    REQUIRE_OK(kiln_cache_list(put_entry, lines));
    return fclose(lines) == 0 ? n : 0;
}

/* Nothing may be compiled, and nothing is missing. */
static int find_again(void)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    setenv("KILN_COMPILE", "never", 1);
    int n = call_all(KILN_ORIGIN_DISK);
    REQUIRE_OK(kiln_cache_get_stats(&stats));
    REQUIRE(stats.disk_hits == (uint64_t)n, "%d hits of %d", (int)stats.disk_hits, n);
    REQUIRE(stats.misses + stats.compiles == 0, "%d misses", (int)stats.misses);
    return n;
}

static char *line;

/* The file's text, with the generator's name changed by one letter in the first line. */
static void forge(void)
{
    FILE *from = fopen(in_folder("lines"), "r"), *to = fopen(in_folder("forged"), "w");
    assert_true(from && to);
    assert_non_null(fgets(line, LINE, from));
    char *name = strstr(line, " generator=\"");
    assert_non_null(name);
    name[strlen(" generator=\"")] ^= 1;
    fputs(line, to);
    fclose(from);
    fclose(to);
}

static void read_all(char *out, const char *name)
{
    FILE *file = fopen(in_folder(name), "r");
    assert_non_null(file);
    out[fread(out, 1, LINE - 1, file)] = '\0';
    fclose(file);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
        n++;
    return n;
}

static int list_none(void)
{
    kiln_cache_stats stats = KILN_CACHE_STATS_INIT;
    REQUIRE_OK(kiln_cache_get_stats(&stats));
    return stats.entries == 0;
}

static void texts_are_enough(void **state)
{
    int n = process("recorded", record);
    (void)state;
    assert_true(n >= 6);
    assert_int_equal(compile_texts("lines", "baked"), 0);
    read_all(line, "said");
    assert_int_equal(count(line, "compiler "), n);
    assert_int_equal(count(line, "disk "), 0);
    assert_int_equal(process("baked", find_again), n);
    assert_int_equal(compile_texts("lines", "baked"), 0);
    read_all(line, "said");
    assert_int_equal(count(line, "disk "), n);
}

/* Source of this library must not be found under the name of another's. */
static void foreign_generators_are_refused(void **state)
{
    (void)state;
    forge();
    assert_int_equal(compile_texts("forged", "foreign"), 1);
    read_all(line, "complaints");
    assert_non_null(strstr(line, "was specialised for the code generator"));
    assert_int_equal(process("foreign", list_none), 1);
}

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/kiln-texts-XXXXXX");
    line = malloc(LINE);
    unsetenv("KILN_CACHE");
    return !line || !mkdtemp(folder);
}

static int end(void **state)
{
    char command[128];
    (void)state;
    free(line);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_enough),
        cmocka_unit_test(foreign_generators_are_refused),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
