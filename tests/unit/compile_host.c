/* The host's C++ compiler: code that runs, messages, headers, threads, a compiler that is not there. */
#include "compile/compile.h"
#include "compile/host_compiler_ahead.h"

#include "base/error.h"
#include "base/os.h"

#include <dirent.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "each_allocation.h"

#define EXPORT "extern \"C\" __attribute__((visibility(\"default\"))) "

static kn_compile_request request_for(const char *source)
{
    kn_compile_request request;
    memset(&request, 0, sizeof request);
    kn_target_host(&request.target);
    request.source = source;
    request.name = "my_kernel";
    return request;
}

static double call_double(const kn_compile_result *result, const char *name, double x)
{
    kn_library *library = NULL;
    double (*function)(double);
    assert_int_equal(kn_os_library_open_memory(&library, result->code.data, result->code.size, "test"),
                     KILN_OK);
    void *symbol = kn_os_library_symbol(library, name);
    assert_non_null(symbol);
    memcpy(&function, &symbol, sizeof symbol);
    double y = function(x);
    kn_os_library_close(library);
    return y;
}

static double compile_and_call(const kn_compile_request *request, double x)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    if (kn_compile(&result, request) != KILN_OK)
        fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
    double y = call_double(&result, "f", x);
    kn_compile_result_free(&result);
    return y;
}

static void compiles_and_runs(void **state)
{
    (void)state;
    kn_compile_request request = request_for(EXPORT "double f(double x) { return x * x + 1; }");
    assert_true(compile_and_call(&request, 3) == 10);
    request.source = "extern \"C\" double cos(double);\n" EXPORT "double f(double x) { return cos(x); }";
    assert_true(compile_and_call(&request, 0) == 1);
}

static bool has_child(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

static double compile_in_child(const kn_compile_request *request, double x)
{
    int ends[2], status = 0;
    double y = 0;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        y = has_child() ? 0 : compile_and_call(request, x);
        _exit(write(ends[1], &y, sizeof y) != sizeof y);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &y, sizeof y), sizeof y);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return y;
}

/* One compiler waits for the next source; the child of a fork has none, and leaves its parent's alone.
 * Sources with faults are compiled in the usual way, which says so; other options are another compiler's. */
static void a_compiler_waits(void **state)
{
    (void)state;
    kn_compile_request request = request_for(EXPORT "double f(double x) { return x * x + 1; }");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    request.flags = KN_COMPILE_BASELINE;
    assert_true(compile_and_call(&request, 3) == 10);
    assert_false(has_child());
    setenv("KILN_COMPILER_WAITS", "1", 1);
    assert_true(compile_and_call(&request, 3) == 10);
    assert_true(has_child());
    request.source = "extern \"C\" double cos(double);\n" EXPORT "double f(double x) { return cos(x) + 1; }";
    assert_true(compile_in_child(&request, 0) == 2);
    assert_true(compile_and_call(&request, 0) == 2);
    request.source = EXPORT "double f(double x) { return wrong; }";
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_log(), "wrong"));
    kn_compile_result_free(&result);
    request.source = EXPORT "double f(double x) { return x - 1; }";
    request.flags |= KN_COMPILE_NO_FMA;
    assert_true(compile_and_call(&request, 3) == 2);
    assert_true(compile_and_call(&request, 5) == 4);
    assert_true(has_child());
    kn_host_ahead_end();
    assert_false(has_child());
    assert_true(compile_and_call(&request, 5) == 4);
    assert_false(has_child());
    unsetenv("KILN_COMPILER_WAITS");
}

static bool names(const kn_blob *code, const char *library)
{
    return memmem(code->data, code->size, library, strlen(library)) != NULL;
}

/* The library of mathematics is linked where a text declares a function, or the compiler calls one. */
static void baselines_need_libraries_seldom(void **state)
{
    (void)state;
    static const struct {
        const char *source;
        bool needs;
    } cases[] = {
        {EXPORT "double f(double x) { return x * 2 + 1; }", false},
        {EXPORT "double f(double x) { return __builtin_sin(x - 3) + 7; }", true},
        {"extern \"C\" double cos(double);\n" EXPORT "double f(double x) { return cos(x - 3) + 6; }", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        kn_compile_request request = request_for(cases[i].source);
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        request.flags = KN_COMPILE_BASELINE;
        if (kn_compile(&result, &request) != KILN_OK)
            fail_msg("%s\n%s", kiln_error_message(), kiln_error_log());
        assert_int_equal(names(&result.code, "libm.so"), cases[i].needs);
        assert_true(call_double(&result, "f", 3) == 7);
        kn_compile_result_free(&result);
    }
}

static void same_source_same_bytes(void **state)
{
    (void)state;
    kn_compile_request request =
        request_for(EXPORT "double f(double x) { static double y; y += x; return y; }");
    kn_compile_result a = KN_COMPILE_RESULT_INIT, b = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&a, &request), KILN_OK);
    assert_int_equal(kn_compile(&b, &request), KILN_OK);
    assert_int_equal(a.code.size, b.code.size);
    assert_memory_equal(a.code.data, b.code.data, a.code.size);
    kn_compile_result_free(&a);
    kn_compile_result_free(&b);
}

static void error_names_the_users_line(void **state)
{
    (void)state;
    kn_compile_request request =
        request_for("void g() {\n#line 1 \"my_kernel\"\n int a = 1;\n int z = foo + a;\n}\n");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_ptr_equal(strstr(kiln_error_message(), "my_kernel:2: error: "), kiln_error_message());
    assert_non_null(strstr(kiln_error_message(), "foo"));
    assert_non_null(strstr(kiln_error_log(), "my_kernel:2:"));
    assert_null(result.code.data);

    request.source = "\n\nsyntax error here\n";
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_ptr_equal(strstr(kiln_error_message(), "my_kernel:3: error: "), kiln_error_message());
}

static void link_errors_are_reported(void **state)
{
    (void)state;
    static const char *const options[] = {"-Wl,-z,defs"};
    kn_compile_request request =
        request_for("extern \"C\" int missing(int);\n" EXPORT "int f(int x) { return missing(x); }");
    request.options = options;
    request.n_options = 1;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_COMPILE);
    assert_non_null(strstr(kiln_error_log(), "missing"));
}

static void warnings_come_with_success(void **state)
{
    (void)state;
    kn_compile_request request =
        request_for("#warning look here\n" EXPORT "double f(double x) { return x; }");
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&result, &request), KILN_OK);
    assert_non_null(strstr(kn_str_text(&result.log), "look here"));
    kn_compile_result_free(&result);
}

static void headers_in_memory(void **state)
{
    (void)state;
    static const char *const names[] = {"a.h", "deep/er/b.h"};
    static const char *const texts[] = {"#include <deep/er/b.h>\n#define TWO (1 + ONE)\n", "#define ONE 1\n"};
    kn_compile_request request =
        request_for("#include \"a.h\"\n" EXPORT "double f(double x) { return x * TWO; }");
    request.header_names = names;
    request.header_texts = texts;
    request.n_headers = 2;
    assert_true(compile_and_call(&request, 4) == 8);

    static const char *const outside[] = {"../a.h", "/tmp/a.h", "a//b.h", "kernel.cpp", ""};
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        const char *name[] = {outside[i]};
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        request.header_names = name;
        request.n_headers = 1;
        assert_int_equal(kn_compile(&result, &request), KILN_ERROR_INVALID);
    }
}

static void system_headers_and_options(void **state)
{
    (void)state;
    static const char *const options[] = {"-DSCALE=3", "-std=c++14"};
    kn_compile_request request = request_for("#include <cmath>\n#include <string>\n" EXPORT
                                             "double f(double x) { return std::sqrt(x) * SCALE + "
                                             "std::string(2, 'a').size() + (__cplusplus == 201402L); }");
    request.options = options;
    request.n_options = 2;
    assert_true(compile_and_call(&request, 4) == 9);
}

/* a*b+c with a product that rounds: the fused result differs by the rounding error. */
static void fma_only_where_allowed(void **state)
{
    (void)state;
    kn_compile_request request =
        request_for(EXPORT "double f(double x) { double y = x * x; return y - 1.0000000149011612; }");
    request.flags = KN_COMPILE_NO_FMA;
    volatile double x = 1.0000000074505806, product = x * x;
    assert_true(compile_and_call(&request, x) == product - 1.0000000149011612);
}

/* gcc's -ffast-math object would switch the processor to flushing denormals when it is loaded. */
static void fast_math_leaves_the_processor_alone(void **state)
{
    (void)state;
    static const char *const sources[] = {EXPORT "double f(double x) { return x / 3; }",
                                          "#include <cmath>\n" EXPORT "double f(double x) { return x / 3; }"};
    for (int i = 0; i < 2; i++) {
        kn_compile_request request = request_for(sources[i]);
        request.flags = KN_COMPILE_FAST_MATH;
        compile_and_call(&request, 9);
        volatile double smallest = 2.2250738585072014e-308;
        assert_true(smallest / 2 > 0);
    }
}

static void name_expressions_are_for_cuda(void **state)
{
    (void)state;
    static const char *const names[] = {"f<int>"};
    kn_compile_request request = request_for("");
    request.name_expressions = names;
    request.n_name_expressions = 1;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    assert_int_equal(kn_compile(&result, &request), KILN_ERROR_UNSUPPORTED);
}

static void *compile_on_thread(void *user)
{
    double *y = user;
    kn_compile_request request = request_for(*y < 2 ? EXPORT "double f(double x) { return x + 1; }"
                                                    : EXPORT "double f(double x) { return x + 2; }");
    for (int i = 0; i < 3; i++)
        *y = compile_and_call(&request, *y);
    return NULL;
}

static void two_threads_at_once(void **state)
{
    (void)state;
    pthread_t thread;
    double a = 1, b = 10;
    assert_int_equal(pthread_create(&thread, NULL, compile_on_thread, &a), 0);
    compile_on_thread(&b);
    pthread_join(thread, NULL);
    assert_true(a == 4 && b == 16);
}

static void identity_and_version(void **state)
{
    (void)state;
    kn_str version = KN_STR_INIT;
    assert_true(strlen(kn_compile_identity(KN_HOST)) > 10);
    assert_ptr_equal(kn_compile_identity(KN_HOST), kn_compile_identity(KN_HOST));
    assert_int_equal(access(kn_compile_location(KN_HOST), X_OK), 0);
    assert_int_equal(kn_compile_version(KN_HOST, &version), KILN_OK);
    assert_true(version.length > 5);
    assert_null(strchr(version.data, '\n'));
    kn_str_free(&version);
}

static int count_entries(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;
    for (struct dirent *e = readdir(d); e; e = readdir(d))
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void leaves_no_files(void **state)
{
    (void)state;
    char folder[] = "/tmp/kiln_test_XXXXXX";
    assert_non_null(mkdtemp(folder));
    setenv("TMPDIR", folder, 1);
    headers_in_memory(NULL);
    error_names_the_users_line(NULL);
    unsetenv("TMPDIR");
    assert_int_equal(count_entries(folder), 0);
    assert_int_equal(rmdir(folder), 0);
}

/* Every allocation on the way fails once: an error, and nothing lost. */
static kiln_status compile_whole(const kn_compile_request *request)
{
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = kn_compile(&result, request);
    assert_int_equal(status == KILN_OK, result.code.size > 0);
    kn_compile_result_free(&result);
    return status;
}

static void fails_cleanly_without_memory(void **state)
{
    (void)state;
    static const char *const names[] = {"a.h"}, *const texts[] = {"#define ONE 1\n"},
                             *const options[] = {"-DTWO=2"};
    kn_compile_request request =
        request_for("#include \"a.h\"\n" EXPORT "double f(double x) { return x + ONE + TWO; }");
    request.header_names = names;
    request.header_texts = texts;
    request.options = options;
    request.n_headers = request.n_options = 1;
    EACH_ALLOCATION(compile_whole(&request), KILN_ERROR_MEMORY, (void)0);
}

/* In a child: the place of the compiler is remembered by the process. Exit code 0 where the message names all
 * of `parts`. */
static int fails_naming(const char *variable, const char *value, const char *path, const char *const parts[2])
{
    pid_t child = fork();
    if (child == 0) {
        setenv(variable, value, 1);
        if (path)
            setenv("PATH", path, 1);
        kn_compile_request request = request_for("int x;");
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        int bad = kn_compile(&result, &request) != KILN_ERROR_NOT_FOUND;
        for (int i = 0; i < 2; i++)
            bad |= !strstr(kiln_error_message(), parts[i]) || !strstr(kn_compile_location(KN_HOST), parts[i]);
        bad |= kn_compile_identity(KN_HOST)[0] != 0;
        _exit(bad);
    }
    int status = 1;
    waitpid(child, &status, 0);
    return status;
}

static void missing_compiler(void **state)
{
    (void)state;
    static const char *const nonexistent[] = {"KILN_CXX", "/nonexistent/c++"},
                             *const nowhere[] = {"on PATH", "no-such-c++"},
                             *const empty[] = {"clang++", "/nonexistent-folder"};
    assert_int_equal(fails_naming("KILN_CXX", "/nonexistent/c++", NULL, nonexistent), 0);
    assert_int_equal(fails_naming("KILN_CXX", "no-such-c++ -O1", NULL, nowhere), 0);
    unsetenv("KILN_CXX");
    unsetenv("CXX");
    assert_int_equal(fails_naming("KILN_UNUSED", "1", "/nonexistent-folder", empty), 0);
}

/* A wrapper in front, and options behind, in the variable. */
static void words_in_the_variable(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_CXX", "ccache c++ -DSCALE=7", 1);
        kn_compile_request request = request_for(EXPORT "double f(double x) { return SCALE * x; }");
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        bool good = kn_compile(&result, &request) == KILN_OK && call_double(&result, "f", 2) == 14;
        _exit(!(good && !strstr(kn_compile_identity(KN_HOST), "ccache")));
    }
    int status = 1;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
}

/* A compiler that breaks over vectors is asked again without; one that always breaks is told of. */
static bool works_with(const char *case_of)
{
    char path[] = "/tmp/kiln_test_XXXXXX";
    int file = mkstemp(path), status = 1;
    assert_true(file >= 0);
    dprintf(file,
            "#!/bin/sh\ncase \"$*\" in %s) exec c++ \"$@\";; esac\n"
            "echo 'internal compiler error: in extract_insn' >&2\nexit 1\n",
            case_of);
    fchmod(file, 0700);
    close(file);
    pid_t child = fork();
    if (child == 0) {
        setenv("KILN_CXX", path, 1);
        kn_compile_request request = request_for(EXPORT "double f(double x) { return 2 * x; }");
        kn_compile_result result = KN_COMPILE_RESULT_INIT;
        kiln_status got = kn_compile(&result, &request);
        bool is_told = got == KILN_ERROR_COMPILE && strstr(kiln_error_log(), "internal compiler error");
        _exit(got == KILN_OK ? call_double(&result, "f", 2) != 4 : is_told ? 2 : 3);
    }
    waitpid(child, &status, 0);
    unlink(path);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2));
    return WEXITSTATUS(status) == 0;
}

static void compilers_that_break(void **state)
{
    (void)state;
    assert_true(works_with("*--version*|*-fno-tree-vectorize*"));
    assert_false(works_with("*--version*"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_compiler), /* first: forks before anything is remembered */
        cmocka_unit_test(words_in_the_variable),
        cmocka_unit_test(compilers_that_break),
        cmocka_unit_test(compiles_and_runs),
        cmocka_unit_test(a_compiler_waits),
        cmocka_unit_test(baselines_need_libraries_seldom),
        cmocka_unit_test(same_source_same_bytes),
        cmocka_unit_test(error_names_the_users_line),
        cmocka_unit_test(link_errors_are_reported),
        cmocka_unit_test(warnings_come_with_success),
        cmocka_unit_test(headers_in_memory),
        cmocka_unit_test(system_headers_and_options),
        cmocka_unit_test(fma_only_where_allowed),
        cmocka_unit_test(fast_math_leaves_the_processor_alone),
        cmocka_unit_test(name_expressions_are_for_cuda),
        cmocka_unit_test(two_threads_at_once),
        cmocka_unit_test(identity_and_version),
        cmocka_unit_test(fails_cleanly_without_memory),
        cmocka_unit_test(leaves_no_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
