/* NVRTC: cubins and PTX without a device, messages, headers, name expressions, threads, a library that is not
 * there. Where there is no NVRTC the tests that need it are skipped, and the run says so. */
#include "compile/compile.h"

#include "base/error.h"
#include "base/os.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "each_allocation.h"

static bool is_present;

#define NEEDS_NVRTC()                                                                                        \
    do {                                                                                                     \
        if (!is_present)                                                                                     \
            skip();                                                                                          \
    } while (0)

static kn_compile_request request_for(const char *source, const char *architecture)
{
    kn_compile_request request;
    memset(&request, 0, sizeof request);
    assert_int_equal(kn_target_parse(&request.target, architecture), KILN_OK);
    request.source = source;
    request.name = "my_kernel";
    return request;
}

static void compile_or_fail(kn_compile_result *result, const kn_compile_request *request)
{
    if (kn_compile(result, request) != KILN_OK)
        fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
}

static bool holds(const kn_blob *blob, const char *text)
{
    return memmem(blob->data, blob->size, text, strlen(text)) != NULL;
}

static bool is_mapped(const char *name)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[4096];
    bool found = false;
    while (maps && fgets(line, sizeof line, maps))
        found |= strstr(line, name) != NULL;
    if (maps)
        fclose(maps);
    return found;
}

/* First of all tests: whatever is asked about NVRTC without compiling must not load it. */
static void identity_does_not_load(void **state)
{
    (void)state;
    const char *identity = kn_compile_identity(KN_CUDA);
    assert_false(is_mapped("libnvrtc"));
    is_present = identity[0] != 0;
    if (!is_present) {
        print_message("NVRTC is absent, its tests are skipped: %s\n", kn_compile_location(KN_CUDA));
        skip();
    }
    assert_ptr_equal(strstr(identity, "nvrtc "), identity);
    assert_true(strlen(identity) > 20);
    assert_true(kn_os_is_file(kn_compile_location(KN_CUDA)));
    assert_false(is_mapped("libnvrtc"));
}

static const char saxpy[] =
    "extern \"C\" __global__ void saxpy(float a, const float *x, float *y, int n)\n"
    "{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] += a * x[i]; }\n";

static void cubin_and_ptx(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for(saxpy, "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    compile_or_fail(&result, &request);
    assert_memory_equal(result.code.data, "\177ELF", 4);
    assert_true(holds(&result.code, "saxpy"));
    kn_compile_result_free(&result);

    request.flags = KN_COMPILE_TO_PTX;
    compile_or_fail(&result, &request);
    assert_true(holds(&result.code, ".target sm_90"));
    assert_true(holds(&result.code, "fma.rn.f32"));
    kn_compile_result_free(&result);
}

static void math_flags(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for(
        "extern \"C\" __global__ void f(float *x, float a) { x[0] = x[0] * a + x[1] / a; }", "sm_80");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    request.flags = KN_COMPILE_TO_PTX | KN_COMPILE_NO_FMA;
    compile_or_fail(&result, &request);
    assert_false(holds(&result.code, "fma.rn"));
    assert_true(holds(&result.code, "div.rn.f32"));
    kn_compile_result_free(&result);

    request.flags = KN_COMPILE_TO_PTX | KN_COMPILE_FAST_MATH;
    compile_or_fail(&result, &request);
    assert_true(holds(&result.code, "div.approx.ftz.f32"));
    kn_compile_result_free(&result);
}

static void error_names_the_users_line(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for(
        "__global__ void g() {\n#line 1 \"my_kernel\"\n int a = 1;\n int z = foo + a;\n}\n", "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_string_equal(
        kiln_error_message(),
        "my_kernel:2: error: identifier \"foo\" is undefined\n   int z = foo + a;\n           ^");
    assert_non_null(strstr(kiln_error_log(), "my_kernel(2): error:"));
    assert_null(result.code.data);

    static const char *const bad[] = {"-no-such-option"};
    request.source = saxpy;
    request.options = bad;
    request.n_options = 1;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_message(), "-no-such-option"));
}

static void warnings_come_with_success(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for("extern \"C\" __global__ void f() { int unused_one; }", "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    compile_or_fail(&result, &request);
    assert_non_null(strstr(kn_str_text(&result.log), "unused_one"));
    kn_compile_result_free(&result);
}

static void headers_in_memory(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const names[] = {"a.h", "deep/er/b.h"};
    static const char *const texts[] = {"#include <deep/er/b.h>\n#define TWO (1 + ONE)\n", "#define ONE 1\n"};
    kn_compile_request request =
        request_for("#include \"a.h\"\nint helper() { return TWO; }\n"
                    "extern \"C\" __global__ void f(int *x) { *x = 1000 + helper(); }",
                    "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    request.header_names = names;
    request.header_texts = texts;
    request.n_headers = 2;
    request.flags = KN_COMPILE_TO_PTX;
    compile_or_fail(&result, &request);
    assert_true(holds(&result.code, "1002"));
    kn_compile_result_free(&result);

    request.n_headers = 1;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_ptr_equal(strstr(kiln_error_message(), "a.h:1: error: "), kiln_error_message());
}

static void name_expressions(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const names[] = {"twice<int>", "space::twice<float, 3>"}, *const missing[] = {
                                                                                     "twice<nothing>"};
    kn_compile_request request =
        request_for("template<class T> __global__ void twice(T *x) { *x *= 2; }\n"
                    "namespace space { template<class T, int N> __global__ void twice(T *x) { *x *= N; } }\n",
                    "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    request.name_expressions = names;
    request.n_name_expressions = 2;
    request.flags = KN_COMPILE_USER_MODULE;
    compile_or_fail(&result, &request);
    assert_int_equal(result.n_lowered_names, 2);
    assert_string_equal(result.lowered_names[0], "_Z5twiceIiEvPT_");
    assert_true(holds(&result.code, result.lowered_names[1]));
    kn_compile_result_free(&result);

    request.name_expressions = missing;
    request.n_name_expressions = 1;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_message(), "nothing"));
}

static void newer_and_older_architectures(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for(saxpy, "sm_90a");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    compile_or_fail(&result, &request);
    assert_memory_equal(result.code.data, "\177ELF", 4);
    kn_compile_result_free(&result);

    kn_target_cuda(&request.target, 99, 0); /* nobody knows it: PTX that its driver can translate */
    compile_or_fail(&result, &request);
    assert_true(holds(&result.code, ".target sm_"));
    kn_compile_result_free(&result);

    kn_target_cuda(&request.target, 3, 0);
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_UNSUPPORTED);
    assert_non_null(strstr(kiln_error_message(), "sm_30"));
}

static void toolkit_headers(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_compile_request request = request_for(
        "#include <cuda_fp16.h>\nextern \"C\" __global__ void f(__half *x) { *x = __hadd(*x, *x); }",
        "sm_90");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    if (kn_compile(&result, &request) != KILN_OK &&
        strstr(kiln_error_message(), "could not open source file")) {
        print_message("the toolkit's headers are absent: skipped\n");
        skip();
    }
    assert_true(result.code.size > 0);
    kn_compile_result_free(&result);
}

static void *compile_on_thread(void *user)
{
    const char *architecture = user;
    for (int i = 0; i < 3; i++) {
        kn_compile_request request = request_for(saxpy, architecture);
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        compile_or_fail(&result, &request);
        assert_true(holds(&result.code, "saxpy"));
        kn_compile_result_free(&result);
    }
    return NULL;
}

static void two_threads_at_once(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    pthread_t thread;
    char a[] = "sm_80", b[] = "sm_90";
    assert_int_equal(pthread_create(&thread, NULL, compile_on_thread, a), 0);
    compile_on_thread(b);
    pthread_join(thread, NULL);
}

/* A success has everything that was asked for. */
static kiln_status compile_whole(const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = kn_compile(&result, request);
    if (status == KILN_OK) {
        assert_true(result.code.size > 0 && result.n_lowered_names == request->n_name_expressions);
        for (int k = 0; k < result.n_lowered_names; k++)
            assert_non_null(result.lowered_names[k]);
    }
    kn_compile_result_free(&result);
    return status;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    static const char *const names[] = {"twice<int>"};
    kn_compile_request request =
        request_for("template<class T> __global__ void twice(T *x) { *x *= 2; }\n", "sm_90");
    request.name_expressions = names;
    request.n_name_expressions = 1;
    request.flags = KN_COMPILE_USER_MODULE;
    EACH_ALLOCATION(compile_whole(&request), KILN_ERROR_MEMORY, (void)0);
}

static void version(void **state)
{
    (void)state;
    NEEDS_NVRTC();
    kn_str text = KN_STR_INIT;
    assert_int_equal(kn_compile_version(KN_CUDA, &text), KILN_OK);
    assert_true(atoi(text.data) >= 11);
    assert_non_null(strchr(text.data, '.'));
    assert_true(is_mapped("libnvrtc"));
    kn_str_free(&text);
}

static void missing_library(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_NVRTC", "/nonexistent/nvrtc", 1);
        kn_compile_request request = request_for(saxpy, "sm_90");
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        bool good = kn_compile(&result, &request) == KILN_ERROR_NOT_FOUND &&
                    strstr(kiln_error_message(), "KILN_NVRTC=/nonexistent/nvrtc");
        _exit(!(good && kn_compile_identity(KN_CUDA)[0] == 0 &&
                strstr(kn_compile_location(KN_CUDA), "/nonexistent/nvrtc")));
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* A file that is not the library: found by name, refused when it is loaded. */
static void broken_library(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        char folder[512], file[600];
        kn_compile_request request = request_for(saxpy, "sm_90");
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        kn_os_make_temporary_folder(folder, sizeof folder);
        snprintf(file, sizeof file, "%s/libnvrtc.so.13", folder);
        kn_os_write_file(file, "not a library", 13);
        setenv("KILN_NVRTC", folder, 1);
        bool good = kn_compile(&result, &request) == KILN_ERROR_NOT_FOUND &&
                    strstr(kiln_error_message(), "libnvrtc.so.13");
        kn_os_remove_folder(folder);
        _exit(!(good && strstr(kn_compile_identity(KN_CUDA), "nvrtc ")));
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* True if ptxas takes so many threads of a multiprocessor for the architecture. */
static bool takes_threads(const char *architecture, int threads)
{
    char source[160];
    snprintf(source, sizeof source,
             "extern \"C\" __global__ void __launch_bounds__(256, %d) f(int *x) { *x = 1; }", threads / 256);
    kn_compile_request request = request_for(source, architecture);
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    compile_or_fail(&result, &request);
    bool takes = !strstr(kn_str_text(&result.log), "minnctapersm");
    kn_compile_result_free(&result);
    return takes;
}

/* The table's limits of a multiprocessor, against the assembler. */
static void limits_are_those_of_ptxas(void **state)
{
    static const char *const architectures[] = {"sm_75", "sm_80",  "sm_86",  "sm_87",  "sm_88",  "sm_89",
                                                "sm_90", "sm_100", "sm_103", "sm_110", "sm_120", "sm_121"};
    (void)state;
    NEEDS_NVRTC();
    for (size_t i = 0; i < sizeof architectures / sizeof *architectures; i++) {
        kn_target target;
        assert_int_equal(kn_target_parse(&target, architectures[i]), KILN_OK);
        if (!takes_threads(architectures[i], target.threads_per_multiprocessor) ||
            takes_threads(architectures[i], target.threads_per_multiprocessor + 256))
            fail_msg("%s has not %d threads", architectures[i], target.threads_per_multiprocessor);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {

        cmocka_unit_test(missing_library), /* fork before anything is remembered */
        cmocka_unit_test(broken_library),
        cmocka_unit_test(identity_does_not_load),
        cmocka_unit_test(cubin_and_ptx),
        cmocka_unit_test(math_flags),
        cmocka_unit_test(error_names_the_users_line),
        cmocka_unit_test(warnings_come_with_success),
        cmocka_unit_test(headers_in_memory),
        cmocka_unit_test(name_expressions),
        cmocka_unit_test(newer_and_older_architectures),
        cmocka_unit_test(toolkit_headers),
        cmocka_unit_test(two_threads_at_once),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(version),
        cmocka_unit_test(limits_are_those_of_ptxas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
