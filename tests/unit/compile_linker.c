/* Shared objects made of relocatable ones: that they run, what is left to a linker, damaged objects. */
#include "compile/compile.h"
#include "compile/host_linker.h"

#include "base/alloc.h"
#include "base/elf.h"
#include "base/os.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "each_allocation.h"

static char folder[256];

/* The object that the compiler makes of a text in C. */
static kn_blob object_of(const char *text)
{
    char cc[256], source[300], object[300];
    kn_str output = KN_STR_INIT;
    kn_blob blob = KN_BLOB_INIT;
    int code = -1;
    kn_target here;
    kn_target_host(&here);
    if (strncmp(here.architecture, "x86-64", 6) != 0 || kn_os_find_program(cc, sizeof cc, "cc") != KILN_OK)
        skip();
    snprintf(source, sizeof source, "%s/a.c", folder);
    snprintf(object, sizeof object, "%s/a.o", folder);
    const char *argv[] = {cc,
                          "-c",
                          "-Og",
                          "-fPIC",
                          "-fvisibility=hidden",
                          "-fno-asynchronous-unwind-tables",
                          "-fno-stack-protector",
                          "-o",
                          object,
                          source,
                          NULL};
    assert_int_equal(kn_os_write_file(source, text, strlen(text)), KILN_OK);
    assert_int_equal(kn_os_run(argv, NULL, &output, &code), KILN_OK);
    if (code != 0)
        fail_msg("%s", kn_str_text(&output));
    assert_int_equal(kn_os_read_file(&blob, object), KILN_OK);
    kn_str_free(&output);
    return blob;
}

#define EXPORT "__attribute__((visibility(\"default\"))) "
/* Constants of several sizes, calls, a table of jumps, two exported functions. */
static const char whole[] =
    "static const double table[4] = {0.5, 1.5, 2.5, 3.5};\n"
    "static __attribute__((noinline)) double twice(double x) { return x * 2 + 0.25f; }\n"
    "static __attribute__((noinline)) double by_case(int k, double x)\n"
    "{\n"
    "    switch (k) {\n"
    "    case 0: return x + 1;\n    case 1: return twice(x);\n    case 2: return x * x;\n    case 3: return "
    "-x;\n"
    "    case 4: return x / 3;\n    case 5: return x - 7;\n    default: return 0;\n"
    "    }\n"
    "}\n" EXPORT "double first(int k, double x) { return by_case(k, x) + table[k & 3]; }\n" EXPORT
    "double second(int k, double x) { return first(k, x) * 10; }\n";

static double expected(int k, double x)
{
    const double table[] = {0.5, 1.5, 2.5, 3.5}, cases[] = {x + 1, x * 2 + 0.25, x * x, -x, x / 3, x - 7, 0};
    return cases[k] + table[k & 3];
}

static void made_objects_run(void **state)
{
    (void)state;
    kn_blob object = object_of(whole), code = KN_BLOB_INIT;
    kn_library *library = NULL;
    double (*function[2])(int, double);
    assert_int_equal(kn_host_link(&code, &object, "whole"), KILN_OK);
    assert_non_null(code.data);
    assert_int_equal(kn_elf_check(code.data, code.size, KN_ELF_SHARED_OBJECT, "whole"), KILN_OK);
    assert_int_equal(kn_os_library_open_memory(&library, code.data, code.size, "whole"), KILN_OK);
    *(void **)&function[0] = kn_os_library_symbol(library, "first");
    *(void **)&function[1] = kn_os_library_symbol(library, "second");
    assert_true(function[0] && function[1]);
    assert_null(kn_os_library_symbol(library, "twice"));
    for (int k = 0; k < 7; k++) {
        assert_true(function[0](k, 2.75) == expected(k, 2.75));
        assert_true(function[1](k, -3.5) == expected(k, -3.5) * 10);
    }
    kn_os_library_close(library);
    kn_blob_free(&code);
    kn_blob_free(&object);
}

/* Each has one thing that distances between constants do not settle. */
static void others_are_left_to_a_linker(void **state)
{
    static const char *const texts[] = {
        "int count = 5;\n" EXPORT "int f(void) { return count++; }\n",
        "static int counts[100];\n" EXPORT "int f(int k) { return counts[k]++; }\n",
        "double outside(double);\n" EXPORT "double f(double x) { return outside(x); }\n",
        "static int a(void) { return 1; }\nstatic int b(void) { return 2; }\n"
        "int (*const calls[])(void) = {a, b};\n" EXPORT "int f(int k) { return calls[k](); }\n",
        "static _Thread_local int own;\n" EXPORT "int f(void) { return own++; }\n",
        "static __attribute__((constructor)) void begin(void) { __asm__ volatile(\"\"); }\n" EXPORT
        "int f(void) { return 1; }\n",
        "int f(void) { return 1; }\n",
    };
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        kn_blob object = object_of(texts[k]), code = KN_BLOB_INIT;
        assert_int_equal(kn_host_link(&code, &object, "other"), KILN_OK);
        if (code.data)
            fail_msg("it was made of\n%s", texts[k]);
        kn_blob_free(&object);
    }
}

/* Every byte is changed in turn: nothing is read or written outside, as sanitizers see. */
static void damaged_objects_do_no_harm(void **state)
{
    (void)state;
    kn_blob object = object_of(whole);
    unsigned char *bytes = object.data;
    for (size_t at = 0; at < object.size; at++) {
        static const unsigned char changes[] = {0x01, 0x80, 0xff};
        const unsigned char before = bytes[at];
        for (size_t c = 0; c < sizeof changes; c++) {
            kn_blob code = KN_BLOB_INIT;
            bytes[at] = before ^ changes[c];
            assert_int_equal(kn_host_link(&code, &object, "damaged"), KILN_OK);
            kn_blob_free(&code);
        }
        bytes[at] = before;
    }
    for (size_t size = 0; size < object.size; size++) {
        const kn_blob part = {object.data, size};
        kn_blob code = KN_BLOB_INIT;
        assert_int_equal(kn_host_link(&code, &part, "truncated"), KILN_OK);
        assert_null(code.data);
    }
    kn_blob_free(&object);
}

static kiln_status link_once(const kn_blob *object)
{
    kn_blob code = KN_BLOB_INIT;
    kiln_status status = kn_host_link(&code, object, "whole");
    assert_true((status == KILN_OK) == (code.data != NULL));
    kn_blob_free(&code);
    return status;
}

static void survives_failing_allocations(void **state)
{
    (void)state;
    kn_blob object = object_of(whole);
    EACH_ALLOCATION_IS_NEEDED(link_once(&object), (void)0);
    kn_blob_free(&object);
}

/* The quick forms of kernels that call no library go this way: their objects have the two sections that we
 * write, and no others. */
static void compiles_without_a_linker(void **state)
{
    (void)state;
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kn_compile_request request = {.name = "quick",
                                  .source = "extern \"C\" __attribute__((visibility(\"default\"))) double "
                                            "f(double x) { return x * 0.5 + 3; }\n",
                                  .flags = KN_COMPILE_BASELINE};
    kn_target_host(&request.target);
    assert_int_equal(kn_compile(&result, &request), KILN_OK);
    Elf64_Ehdr head;
    memcpy(&head, result.code.data, sizeof head);
    assert_int_equal(head.e_type, ET_DYN);
    assert_true((head.e_shnum == 2) == kn_host_can_link(&request));
    kn_compile_result_free(&result);
}

static int make_folder(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder) == KILN_OK ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_objects_run),           cmocka_unit_test(others_are_left_to_a_linker),
        cmocka_unit_test(damaged_objects_do_no_harm), cmocka_unit_test(survives_failing_allocations),
        cmocka_unit_test(compiles_without_a_linker),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
