/* Notes beside the code: which headers went in, and whether they are unchanged. */
#include "compile/compile.h"

#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
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

static void notes_of(kn_str *notes, const char *source, int n_options)
{
    kn_compile_request request = {.source = source, .name = "k", .options = options, .n_options = n_options};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str_clear(notes);
    assert_int_equal(kn_compile_notes(notes, &request, &result), KILN_OK);
}

static void nothing_to_note(void **state)
{
    (void)state;
    kn_str notes = KN_STR_INIT;
    notes_of(&notes, "int x;", 2);
    assert_int_equal(notes.length, 0);
    notes_of(&notes, "#include <a.h>\nint x;", 0);
    assert_int_equal(notes.length, 0);
    assert_true(kn_compile_notes_hold(NULL, 0, options, 2));
    assert_true(kn_compile_notes_hold("", 0, options, 2));
    kn_str_free(&notes);
}

static void headers_are_followed_and_verified(void **state)
{
    (void)state;
    kn_str notes = KN_STR_INIT;
    write_header("a.h", "#pragma once\n  #  include \"sub/b.h\"\n");
    write_header("sub/b.h", "#include \"c.h\"\n#include <a.h>\n");
    write_header("sub/c.h", "int c;\n");
    write_header("unused.h", "int unused;\n");
    notes_of(&notes, "#include <math.h>\n#include\t\"a.h\"\nint x;", 2);
    assert_non_null(strstr(notes.data, "header a.h "));
    assert_non_null(strstr(notes.data, "header sub/b.h "));
    assert_non_null(strstr(notes.data, "header sub/c.h "));
    assert_null(strstr(notes.data, "unused"));
    assert_null(strstr(notes.data, "math"));
    assert_null(strstr(notes.data, folder));

    assert_true(kn_compile_notes_hold(notes.data, notes.length, options, 2));
    assert_true(kn_compile_notes_hold(notes.data, notes.length, options, 0)); /* nowhere to look */
    write_header("unused.h", "int changed;\n");
    assert_true(kn_compile_notes_hold(notes.data, notes.length, options, 2));
    write_header("sub/c.h", "int d;\n");
    assert_false(kn_compile_notes_hold(notes.data, notes.length, options, 2));
    write_header("sub/c.h", "int c;\n");
    assert_true(kn_compile_notes_hold(notes.data, notes.length, options, 2));
    assert_false(kn_compile_notes_hold("header a.h 12\n", 14, options, 2)); /* damaged */
    kn_str_free(&notes);
}

static void headers_in_memory_come_first(void **state)
{
    (void)state;
    static const char *const names[] = {"a.h"}, *const texts[] = {"#include \"sub/c.h\"\n"};
    write_header("a.h", "int a;\n");
    write_header("sub/c.h", "int c;\n");
    kn_compile_request request = {
        .source = "#include \"a.h\"\n", .name = "k", .options = options, .n_options = 2};
    request.header_names = names;
    request.header_texts = texts;
    request.n_headers = 1;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_str notes = KN_STR_INIT;
    assert_int_equal(kn_compile_notes(&notes, &request, &result), KILN_OK);
    assert_null(strstr(notes.data, "header a.h "));
    assert_non_null(strstr(notes.data, "header sub/c.h "));
    kn_str_free(&notes);
}

static void lowered_names(void **state)
{
    (void)state;
    char *lowered[] = {(char[]){"_Zfirst"}, (char[]){"_Zsecond"}};
    kn_compile_request request = {.source = "", .name = "k"};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    result.lowered_names = lowered;
    result.n_lowered_names = 2;
    kn_str notes = KN_STR_INIT;
    size_t length = 0;
    assert_int_equal(kn_compile_notes(&notes, &request, &result), KILN_OK);
    const char *name = kn_compile_notes_lowered(notes.data, notes.length, 1, &length);
    assert_int_equal(length, 8);
    assert_memory_equal(name, "_Zsecond", 8);
    name = kn_compile_notes_lowered(notes.data, notes.length, 0, &length);
    assert_memory_equal(name, "_Zfirst", length);
    assert_null(kn_compile_notes_lowered(notes.data, notes.length, 2, &length));
    assert_null(kn_compile_notes_lowered(NULL, 0, 0, &length));
    kn_str_free(&notes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_to_note),
        cmocka_unit_test(headers_are_followed_and_verified),
        cmocka_unit_test(headers_in_memory_come_first),
        cmocka_unit_test(lowered_names),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
