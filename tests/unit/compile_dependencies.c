/* Dependency files beside the code: which headers went in, and whether they are unchanged. */
#include "compile/compile.h"

#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[512], include_option[600];
static const char *options[] = {include_option, "-DX=1"};

static void write_header(const char *name, const char *text)
{
    char path[700];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(kn_os_write_file(path, text, strlen(text)), KILN_OK);
}

static int make_folder(void **state)
{
    (void)state;
    char path[600];
    if (kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK)
        return -1;
    snprintf(include_option, sizeof include_option, "-I%s", folder);
    snprintf(path, sizeof path, "%s/sub", folder);
    return kn_os_make_folders(path, 0700);
}

static int remove_folder(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/sub", folder);
    kn_os_remove_folder(path);
    kn_os_remove_folder(folder);
    return 0;
}

/* A compiler's report: files and folders as lines. % stands for the folder. */
static void dependencies_of(kn_str *dependencies, const char *files, const char *folders, int n_options)
{
    kn_compile_request request = {.source = "", .name = "k", .options = options, .n_options = n_options};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    result.reads.is_traced = true;
    for (; *files; files++)
        kn_str_append_n(&result.reads.files, *files == '%' ? folder : files,
                        *files == '%' ? strlen(folder) : 1);
    kn_str_append(&result.reads.system_folders, folders);
    kn_str_clear(dependencies);
    assert_int_equal(kn_compile_dependencies(dependencies, &request, &result), KILN_OK);
    kn_compile_result_free(&result);
}

static void nothing_to_record(void **state)
{
    (void)state;
    kn_compile_request request = {.source = "#include <a.h>", .name = "k"};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str dependencies = KN_STR_INIT;
    assert_int_equal(kn_compile_dependencies(&dependencies, &request, &result), KILN_OK);
    assert_int_equal(dependencies.length, 0);
    assert_true(kn_compile_dependencies_hold(NULL, 0, options, 2));
    assert_true(kn_compile_dependencies_hold("", 0, options, 2));
    kn_str_free(&dependencies);
}

static void headers_are_verified_by_name(void **state)
{
    (void)state;
    kn_str dependencies = KN_STR_INIT;
    write_header("a.h", "#include \"sub/c.h\"\n");
    write_header("sub/c.h", "int c;\n");
    dependencies_of(&dependencies, "%/a.h\n%/sub/c.h\n%/a.h\n", "", 2);
    assert_non_null(strstr(dependencies.data, " 0 a.h\n"));
    assert_ptr_equal(strstr(strstr(dependencies.data, " 0 a.h\n") + 1, " 0 a.h\n"), NULL);
    assert_non_null(strstr(dependencies.data, " 0 sub/c.h\n"));
    assert_null(strstr(dependencies.data, folder)); /* below an -I folder a name is enough */

    assert_true(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    write_header("unused.h", "int changed;\n");
    assert_true(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    write_header("sub/c.h", "int d;\n");
    assert_false(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    write_header("sub/c.h", "int c;\n");
    assert_true(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    write_header("sub/a.h", "int a;\n"); /* beside c.h, where one in quotes would be found first */
    assert_false(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    kn_str_free(&dependencies);
}

/* A folder has another name on another machine, and a machine that has none of the headers cannot verify. */
static void rows_from_elsewhere(void **state)
{
    (void)state;
    static const char *const elsewhere[] = {"-I/nonexistent/include", "-DX=1"};
    char command[1200], moved[700];
    const char *there[] = {moved, "-DX=1"};
    kn_str dependencies = KN_STR_INIT;
    write_header("a.h", "int a;\n");
    dependencies_of(&dependencies, "%/a.h\n", "", 2);
    assert_true(kn_compile_dependencies_hold(dependencies.data, dependencies.length, elsewhere, 2));
    snprintf(command, sizeof command, "cp -r '%s' '%s.moved'", folder, folder);
    assert_int_equal(system(command), 0);
    snprintf(moved, sizeof moved, "-I%s.moved", folder);
    assert_true(kn_compile_dependencies_hold(dependencies.data, dependencies.length, there, 2));
    snprintf(command, sizeof command, "echo changed >> '%s.moved/a.h'", folder);
    assert_int_equal(system(command), 0);
    assert_false(kn_compile_dependencies_hold(dependencies.data, dependencies.length, there, 2));
    snprintf(command, sizeof command, "rm -rf '%s.moved'", folder);
    assert_int_equal(system(command), 0);
    kn_str_free(&dependencies);
}

/* Notes that were not written by this code never hold: cut, or of an earlier version. */
static void damaged_dependencies(void **state)
{
    (void)state;
    static const char *const texts[] = {"header a.h 0f343b0931126a20f133d67c2b018a3b\n",
                                        "file 12 0 a.h\n",
                                        "file 0f343b0931126a20f133d67c2b018a3b 7 a.h\n",
                                        "unknown\n",
                                        "probe a.h\nlookups 12\n",
                                        "file \nlookups \n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(kn_compile_dependencies_hold(texts[i], strlen(texts[i]), options, 2));
}

/* The compiler's word for a file that is not there, or is none: the code is good for now alone. */
static void files_that_cannot_be_read(void **state)
{
    (void)state;
    static const char *const files[] = {"%/missing.h\n", "%\n", "/dev/zero\n"};
    kn_str dependencies = KN_STR_INIT;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        dependencies_of(&dependencies, files[i], "", 2);
        assert_false(kn_compile_dependencies_hold(dependencies.data, dependencies.length, options, 2));
    }
    kn_str_free(&dependencies);
}

static void lowered_names(void **state)
{
    (void)state;
    char *lowered[] = {(char[]){"_Zfirst"}, (char[]){"_Zsecond"}};
    kn_compile_request request = {.source = "", .name = "k"};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    result.lowered_names = lowered;
    result.n_lowered_names = 2;
    kn_str dependencies = KN_STR_INIT;
    size_t length = 0;
    assert_int_equal(kn_compile_dependencies(&dependencies, &request, &result), KILN_OK);
    const char *name = kn_compile_dependencies_lowered(dependencies.data, dependencies.length, 1, &length);
    assert_int_equal(length, 8);
    assert_memory_equal(name, "_Zsecond", 8);
    name = kn_compile_dependencies_lowered(dependencies.data, dependencies.length, 0, &length);
    assert_memory_equal(name, "_Zfirst", length);
    assert_null(kn_compile_dependencies_lowered(dependencies.data, dependencies.length, 2, &length));
    assert_null(kn_compile_dependencies_lowered(NULL, 0, 0, &length));
    kn_str_free(&dependencies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_record),         cmocka_unit_test(headers_are_verified_by_name),
        cmocka_unit_test(rows_from_elsewhere),       cmocka_unit_test(damaged_dependencies),
        cmocka_unit_test(files_that_cannot_be_read), cmocka_unit_test(lowered_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
