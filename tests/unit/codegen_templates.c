/* Templates and their slots, and which preludes stand in front of a kernel. */
#include "codegen/templates.h"
#include "codegen/prelude.h"
#include "base/alloc.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void assert_expands(const char *text, const char *expected)
{
    kn_slot slots[] = {{"name", "kernel", false},
                       {"empty", "", false},
                       {"lines", "first;\nsecond;\n", false},
                       {"user", "{\n#line 1 \"k\"\nz = x\n  + ${name}\n;\n#line 0\n}\n", false},
                       {"gap", "a\n\nb", false},
                       {"pragma", "#pragma unroll\nfor (;;) {\n", false}};
    kn_str out = KN_STR_INIT;
    assert_int_equal(kn_template_expand(&out, text, slots, sizeof slots / sizeof slots[0]), KILN_OK);
    assert_string_equal(kn_str_text(&out), expected);
    kn_str_free(&out);
    for (size_t k = 0; k < sizeof slots / sizeof slots[0]; ++k) {
        char written[32];
        snprintf(written, sizeof written, "${%s}", slots[k].name);
        assert_int_equal(slots[k].is_used, strstr(text, written) != NULL);
    }
}

static void slots_are_replaced(void **state)
{
    (void)state;
    assert_expands("void ${name}(${name} x)\n", "void kernel(kernel x)\n");
    assert_expands("no slot\n$ { } ${\n", "no slot\n$ { } ${\n");
    assert_expands("a\n    ${empty}\nb\n", "a\nb\n");
    assert_expands("a\n    ${lines}\nb\n", "a\n    first;\n    second;\nb\n");
    assert_expands("  ${pragma}\n", "#pragma unroll\n  for (;;) {\n");
    assert_expands("", "");
}

/* Lines that are one slot, and lines that only look so. */
static void lines_that_are_slots(void **state)
{
    (void)state;
    assert_expands("${lines}\n", "first;\nsecond;\n");
    assert_expands("${lines}", "first;\nsecond;\n");
    assert_expands("  ${name}", "  kernel\n");
    assert_expands("  ${empty}", "");
    assert_expands("  ${gap}\n", "  a\n\n  b\n");
    assert_expands("  ${name};\n", "  kernel;\n");
    assert_expands("x${name}\n", "xkernel\n");
    assert_expands("${name}${name}\n", "kernelkernel\n");
    assert_expands("  ${name} }\n", "  kernel }\n");
    assert_expands("\t${name}\n", "\tkernel\n");
    assert_expands("${empty}x\n", "x\n");
    assert_expands("a${name}", "akernel\n");
    assert_expands("$\n${\n  $}\n  {}\n", "$\n${\n  $}\n  {}\n");
    assert_expands("  $\n  ${\n", "  $\n  ${\n");
    assert_expands("  $(name}\n", "  $(name}\n");
    assert_expands("\n\n", "\n\n");
    assert_expands("${name} ${", "kernel ${\n");
}

/* Names are compared whole; the first of that name has it. */
static void names_of_slots(void **state)
{
    kn_slot slots[] = {
        {"ab", "long", false}, {"a", "short", false}, {"a", "again", false}, {"", "none", false}};
    kn_str out = KN_STR_INIT;
    (void)state;
    assert_int_equal(kn_template_expand(&out, "${a}, ${ab}, ${}\n  ${a}\n", slots, 4), KILN_OK);
    assert_string_equal(kn_str_text(&out), "short, long, none\n  short\n");
    assert_true(slots[0].is_used && slots[1].is_used && !slots[2].is_used && slots[3].is_used);
    kn_str_free(&out);
    assert_int_equal(kn_template_expand(&out, "${b}", slots, 4), KILN_ERROR_INTERNAL);
    assert_string_equal(kiln_error_message(), "template: the slot '${b}' is unknown");
    assert_int_equal(kn_template_expand(&out, "x ${abc} y", slots, 4), KILN_ERROR_INTERNAL);
    assert_string_equal(kiln_error_message(), "template: the slot '${abc}' is unknown");
    assert_int_equal(kn_template_expand(&out, "${ab}", slots, 0), KILN_ERROR_INTERNAL);
    kn_str_free(&out);
}

/* The user's text keeps its columns, and a slot inside it is the user's own. */
static void user_text_is_verbatim(void **state)
{
    (void)state;
    assert_expands("    ${user}\n", "    {\n#line 1 \"k\"\nz = x\n  + ${name}\n;\n#line 0\n    }\n");
}

static void unknown_slots_are_errors(void **state)
{
    kn_str out = KN_STR_INIT;
    (void)state;
    assert_int_equal(kn_template_expand(&out, "a ${nobody} b\n", NULL, 0), KILN_ERROR_INTERNAL);
    assert_non_null(strstr(kiln_error_message(), "${nobody}"));
    assert_int_equal(kn_template_expand(&out, "    ${nobody}\n", NULL, 0), KILN_ERROR_INTERNAL);
    kn_str_free(&out);
}

static void every_template_can_be_read(void **state)
{
    (void)state;
    assert_true(kn_template_count > 10);
    for (size_t k = 0; k < kn_template_count; ++k) {
        kn_str text = KN_STR_INIT;
        assert_int_equal(kn_template_read(&text, kn_templates[k].name), KILN_OK);
        assert_int_equal(text.length, kn_templates[k].length);
        assert_true(k == 0 || strcmp(kn_templates[k - 1].name, kn_templates[k].name) < 0);
        kn_str_free(&text);
    }
    kn_str none = KN_STR_INIT;
    assert_int_equal(kn_template_read(&none, "cuda/nothing.cu"), KILN_ERROR_INTERNAL);
    kn_str_free(&none);
}

/* A file of the same name in KILN_TEMPLATE_DIR goes before the embedded one. */
static void a_folder_overrides(void **state)
{
    char folder[] = "/tmp/kiln-templates-XXXXXX", path[128];
    kn_str text = KN_STR_INIT, other = KN_STR_INIT, none = KN_STR_INIT;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/schedules", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/schedules/contiguous", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/schedules/contiguous/flat.cu", folder);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("mine\n", file);
    fclose(file);
    setenv("KILN_TEMPLATE_DIR", folder, 1);
    assert_int_equal(kn_template_read(&text, "schedules/contiguous/flat.cu"), KILN_OK);
    assert_string_equal(kn_str_text(&text), "mine\n");
    /* A file that others may write decides no code. */
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(kn_template_read(&none, "schedules/contiguous/flat.cu"), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "KILN_TEMPLATE_DIR is not taken: other users may write to"));
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(kn_template_read(&none, "schedules/contiguous/flat.cu"), KILN_ERROR_INVALID);
    assert_int_equal(chmod(folder, 0700), 0);
    /* A folder, or a path that is longer than paths are, is no file. */
    assert_int_equal(kn_template_read(&none, "schedules"), KILN_ERROR_INTERNAL);
    assert_string_equal(kiln_error_message(), "there is no template 'schedules'");
    for (size_t length = 4095; length <= 4097; ++length) {
        char *deep = malloc(length + 1);
        assert_non_null(deep);
        memset(deep, '/', length);
        memcpy(deep, folder, strlen(folder));
        deep[length - strlen("/schedules/contiguous/flat.cu")] = '\0';
        setenv("KILN_TEMPLATE_DIR", deep, 1);
        kn_str_free(&text);
        assert_int_equal(kn_template_read(&text, "schedules/contiguous/flat.cu"), KILN_OK);
        assert_int_equal(text.length == 5, length < 4096);
        free(deep);
    }
    setenv("KILN_TEMPLATE_DIR", folder, 1);
    assert_int_equal(kn_template_read(&other, "schedules/host/host_flat.cpp"), KILN_OK);
    assert_true(other.length > 100);
    unsetenv("KILN_TEMPLATE_DIR");
    kn_str_free(&text);
    kn_str_free(&other);
    unlink(path);
    snprintf(path, sizeof path, "%s/schedules/contiguous", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/schedules", folder);
    rmdir(path);
    rmdir(folder);
}

/* ---- preludes ---- */

static char *preludes_for(kn_backend_kind backend, const char *text)
{
    const char *texts[] = {text, ""};
    kn_str out = KN_STR_INIT;
    assert_int_equal(kn_prelude_append(&out, backend, texts, 2, NULL), KILN_OK);
    return kn_str_take(&out, "preludes");
}

static void assert_prelude(kn_backend_kind backend, const char *text, const char *has, const char *lacks)
{
    char *preludes = preludes_for(backend, text);
    if (has && !strstr(preludes, has))
        fail_msg("the preludes for '%s' lack '%s'", text, has);
    if (lacks && strstr(preludes, lacks))
        fail_msg("the preludes for '%s' have '%s'", text, lacks);
    kn_free(preludes);
}

static void preludes_come_where_they_are_needed(void **state)
{
    static const kn_backend_kind backends[] = {KN_CUDA, KN_HOST};
    (void)state;
    for (int b = 0; b < 2; ++b) {
        assert_prelude(backends[b], "z = x", "typedef signed char int8;", "struct float16 {");
        assert_prelude(backends[b], "z = x; // float16", NULL, "struct float16 {");
        assert_prelude(backends[b], "const float16 y = x; z = y", "struct float16 {", "struct bfloat16 {");
        assert_prelude(backends[b], "bfloat16", "struct bfloat16 {", NULL);
        assert_prelude(backends[b], "complex<float>", "complex", "struct float16 {");
        assert_prelude(backends[b], "z = my_float16", NULL, "struct float16 {");
        assert_prelude(backends[b], "kn_raw", "struct kn_raw", NULL);
        assert_prelude(backends[b], "z = x", NULL, "struct kn_raw");
    }
}

/* The comments of a prelude: any of several words switches it on, on any of several lines; the preludes
 * that it needs come in front, once. */
static void tags_are_read(void **state)
{
    static const struct {
        const char *text;
        bool is_there;
    } preludes[] = {{"// needs: apple pear\n// needs: plum\n", true},
                    {"// needs: plum\n", false},
                    {"// needs: pear\n", true},
                    {"// needs: plum pear\n", true},
                    {"// needs:\n", false},
                    {"// needs: pears\n", false},
                    {"// a note\n// needs: apple\n", true},
                    {"// a note\n// needs: plum\n", false},
                    {"int a;\n// needs: plum\n", true},
                    {"", true},
                    {"// needs: plum\n// needs: pear apple\n", true}};
    char folder[] = "/tmp/kiln-preludes-XXXXXX", path[128];
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/codegen", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/codegen/prelude", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/codegen/prelude/host_bits.cpp", folder);
    setenv("KILN_TEMPLATE_DIR", folder, 1);
    for (size_t k = 0; k < sizeof preludes / sizeof *preludes; ++k) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%sint marked;\nint behind;\n", preludes[k].text);
        fclose(file);
        char *text = preludes_for(KN_HOST, "z = pear + apple");
        if ((strstr(text, "int marked;\nint behind;\n\n") != NULL) != preludes[k].is_there)
            fail_msg("'%s' %s", preludes[k].text, preludes[k].is_there ? "is left out" : "is taken");
        kn_free(text);
    }
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("// needs: pear\n// with: nothing\nint marked;\n", file);
    fclose(file);
    kn_str out = KN_STR_INIT;
    const char *pear = "pear";
    assert_int_equal(kn_prelude_append(&out, KN_HOST, &pear, 1, NULL), KILN_ERROR_INTERNAL);
    assert_string_equal(kiln_error_message(), "prelude: there is no codegen/prelude/host_nothing");
    kn_str_free(&out);
    unsetenv("KILN_TEMPLATE_DIR");
    unlink(path);
    snprintf(path, sizeof path, "%s/codegen/prelude", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/codegen", folder);
    rmdir(path);
    rmdir(folder);
}

/* Lines of the host's preludes that are there only if something uses their functions: the texts, another
 * prelude that is taken, or a line that is there itself. Headers may use anything. */
static void lines_are_chosen(void **state)
{
    static const struct {
        const char *text, *there, *missing;
    } cases[] = {
        {"z = exp(x)", "KN_VECTOR1(exp)\n", "KN_VECTOR1(log)"},
        {"z = logf(x)", "KN_VECTOR1(log)\n", "KN_VECTOR1(exp)"},
        {"z = sqrt(x)", "KN_MATH1(sqrt)\n", "KN_LATER1(tanh)"},
        {"z = __expf(x)", "KN_VECTOR1(exp)\n", "KN_LATER1(tanh)"},
        {"z = rsqrt(x)", "KN_BOTH(rsqrt)\n", "KN_LATER1(exp10)"},
        {"complex<float> z", "KN_LATER2(hypot)\n", "KN_LATER1(cbrt)"},
        {"// exp\nz = sin(x)", "KN_VECTOR1(sin)\n", "KN_VECTOR1(exp)"},
        {"#include <own.h>\nz = fabs(x)", "KN_LATER1(erfc)\n", NULL},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; ++k)
        assert_prelude(KN_HOST, cases[k].text, cases[k].there, cases[k].missing);
    char *text = preludes_for(KN_HOST, "z = exp(x)");
    assert_null(strstr(text, "// needs:"));
    kn_free(text);
}

/* Each prelude stands there once, behind those that it wants; every text is looked through. */
static void preludes_come_once(void **state)
{
    static const char *const texts[] = {"z = x", "complex<float> a;",
                                        "atomicAdd(p, float16(1)); bfloat16 b;"};
    (void)state;
    for (int backend = KN_HOST; backend <= KN_CUDA; ++backend) {
        kn_str out = KN_STR_INIT;
        assert_int_equal(kn_prelude_append(&out, (kn_backend_kind)backend, texts, 3, NULL), KILN_OK);
        static const char *const once[] = {"typedef signed char int8;", "struct float16 {",
                                           "struct bfloat16 {"};
        for (size_t k = 0; k < 3; ++k) {
            const char *first = strstr(kn_str_text(&out), once[k]);
            assert_non_null(first);
            assert_null(strstr(first + 1, once[k]));
        }
        assert_true(strstr(kn_str_text(&out), once[0]) < strstr(kn_str_text(&out), once[1]));
        assert_non_null(strstr(kn_str_text(&out), "struct kn_floating {}"));
        kn_str_free(&out);
    }
}

/* Tags are for the choice alone, and no header is included. */
static void preludes_are_clean(void **state)
{
    static const char everything[] = "float16 bfloat16 complex kn_raw _ind sin exp atomicAdd int32_t min "
                                     "popc __popc __ldg __float2half erf";
    (void)state;
    for (int backend = KN_HOST; backend <= KN_CUDA; ++backend) {
        char *preludes = preludes_for((kn_backend_kind)backend, everything);
        assert_null(strstr(preludes, "// needs:"));
        assert_null(strstr(preludes, "// with:"));
        assert_null(strstr(preludes, "#include"));
        char *again = preludes_for((kn_backend_kind)backend, everything);
        assert_string_equal(preludes, again);
        kn_free(preludes);
        kn_free(again);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_are_replaced),       cmocka_unit_test(user_text_is_verbatim),
        cmocka_unit_test(unknown_slots_are_errors), cmocka_unit_test(every_template_can_be_read),
        cmocka_unit_test(a_folder_overrides),       cmocka_unit_test(preludes_come_where_they_are_needed),
        cmocka_unit_test(preludes_are_clean),       cmocka_unit_test(lines_that_are_slots),
        cmocka_unit_test(names_of_slots),           cmocka_unit_test(tags_are_read),
        cmocka_unit_test(lines_are_chosen),         cmocka_unit_test(preludes_come_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
