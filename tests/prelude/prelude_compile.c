/* Every prelude with those it builds on, then all together in front of a text that uses them, through the
 * real compilers. Arguments: targets. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drawn.h"
#include "base/error.h"
#include "base/str.h"
#include "compile/compile.h"

#define PRELUDES KILN_SOURCE_DIR "/src/codegen/prelude/"

static const char *const *targets;
static int n_targets;

static void append_file(kn_str *out, const char *path)
{
    char text[1 << 16];
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open %s", path);
    size_t length = fread(text, 1, sizeof text, file);
    fclose(file);
    kn_str_append_n(out, text, length);
}

/* The file of prelude `name` (length characters) for the back end. */
static void find_prelude(char path[512], const char *backend, const char *name, int length)
{
    const char *const prefixes[] = {backend, "both"};
    for (int k = 0; k < 2; ++k) {
        char pattern[256];
        glob_t found;
        snprintf(pattern, sizeof pattern, PRELUDES "%s_%.*s.c*", prefixes[k], length, name);
        int missing = glob(pattern, 0, NULL, &found);
        if (!missing)
            snprintf(path, 512, "%s", found.gl_pathv[0]);
        globfree(&found);
        if (!missing)
            return;
    }
    fail_msg("no prelude %s_%.*s", backend, length, name);
}

/* Appends it after those it is "// with:", each once. */
static void append_prelude(kn_str *out, kn_str *taken, const char *backend, const char *path)
{
    if (taken->length && strstr(kn_str_text(taken), path))
        return;
    kn_str_printf(taken, "%s\n", path);
    kn_str text = KN_STR_INIT;
    append_file(&text, path);
    const char *with = strstr(kn_str_text(&text), "// with:");
    for (const char *at = with ? with + 8 : "\n"; *at != '\n';) {
        at += strspn(at, " ");
        int length = (int)strcspn(at, " \n");
        char other[512];
        find_prelude(other, backend, at, length);
        append_prelude(out, taken, backend, other);
        at += length;
    }
    kn_str_append(out, kn_str_text(&text));
    kn_str_append(out, "\n");
    kn_str_free(&text);
}

/* False where there is no compiler, which has been said. */
static bool compile(const kn_target *target, const kn_str *source, const char *what)
{
    kn_compile_request request = {
        .target = *target, .source = kn_str_text(source), .name = "prelude", .is_generated = true};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    kiln_status status = kn_compile(&result, &request);
    if (status == KILN_ERROR_NOT_FOUND) {
        print_message("not tested: %s\n", kiln_error_message());
        return false;
    }
    if (status != KILN_OK)
        fail_msg("%s for %s: %s\n%s", what, target->architecture, kiln_error_message(), kiln_error_log());
    assert_true(result.code.size > 0);
    kn_compile_result_free(&result);
    return true;
}

static const char *backend_of(const kn_target *target)
{
    return target->backend == KN_CUDA ? "cuda" : "host";
}

static void list_preludes(glob_t *found, const char *backend)
{
    char pattern[256];
    snprintf(pattern, sizeof pattern, PRELUDES "%s_*", backend);
    assert_int_equal(glob(pattern, 0, NULL, found), 0);
    assert_int_equal(glob(PRELUDES "both_*", GLOB_APPEND, NULL, found), 0);
}

static void begin(kn_str *source, kn_str *taken, const char *backend)
{
    char base[512];
    find_prelude(base, backend, "base", 4);
    append_prelude(source, taken, backend, base);
}

/* Each for one of the targets in turn, half of them at a run; in tools/soak all for all. */
static void test_each_alone(void **state)
{
    (void)state;
    for (int t = 0; t < n_targets; ++t) {
        kn_target target;
        assert_int_equal(kn_target_parse(&target, targets[t]), KILN_OK);
        glob_t found;
        list_preludes(&found, backend_of(&target));
        bool goes_on = true;
        for (size_t k = 0; k < found.gl_pathc && goes_on; ++k) {
            if (!drawn_all() && (k % (size_t)n_targets != (size_t)t || !is_drawn(k, 2)))
                continue;
            kn_str source = KN_STR_INIT, taken = KN_STR_INIT;
            begin(&source, &taken, backend_of(&target));
            append_prelude(&source, &taken, backend_of(&target), found.gl_pathv[k]);
            goes_on = compile(&target, &source, strrchr(found.gl_pathv[k], '/') + 1);
            kn_str_free(&source);
            kn_str_free(&taken);
        }
        globfree(&found);
        if (!goes_on)
            skip();
    }
}

/* For one of the targets; in tools/soak for all. */
static void test_all_together(void **state)
{
    (void)state;
    for (int t = 0; t < n_targets; ++t) {
        if (!drawn_all() && (unsigned)t != drawn_seed() / 2 % (unsigned)n_targets)
            continue;
        kn_target target;
        assert_int_equal(kn_target_parse(&target, targets[t]), KILN_OK);
        glob_t found;
        list_preludes(&found, backend_of(&target));
        kn_str source = KN_STR_INIT, taken = KN_STR_INIT;
        begin(&source, &taken, backend_of(&target));
        for (size_t k = 0; k < found.gl_pathc; ++k)
            append_prelude(&source, &taken, backend_of(&target), found.gl_pathv[k]);
        append_file(&source, KILN_SOURCE_DIR "/tests/prelude/usage.cu");
        bool goes_on = compile(&target, &source, "all together");
        kn_str_free(&source);
        kn_str_free(&taken);
        globfree(&found);
        if (!goes_on)
            skip();
    }
}

/* The C library's headers, which declare much of the same, may stand on either side of the preludes. */
static void test_users_includes(void **state)
{
    (void)state;
    static const char *const names[] = {"math", "half", "special", "constants", "complex_math"};
    static const char headers[] = "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#include "
                                  "<float.h>\n#include <algorithm>\n";
    static const char body[] = "extern \"C\" float f(float x, double d, int i, float16 h)\n{\n"
                               "    return sin(x) + cos(d) + pow(x, 2) + pow(h, h) + max(x, d) + fmax(x, x) "
                               "+ abs(i) + abs(x) + fabs(d) + isnan(x) + sqrt(i)\n"
                               "        + floor(h) + std::max(1, 2) + lrint(x) + ldexp(x, 2) + uint8_t(i) + "
                               "FLT_MAX + std::sin(x) + erfinv(x);\n}\n";
    kn_target target;
    assert_int_equal(kn_target_parse(&target, targets[0]), KILN_OK);
    bool goes_on = target.backend == KN_HOST;
    for (int is_before = 0; is_before < 2 && goes_on; ++is_before) {
        kn_str source = KN_STR_INIT, taken = KN_STR_INIT;
        kn_str_append(&source, is_before ? headers : "");
        begin(&source, &taken, "host");
        for (size_t k = 0; k < sizeof names / sizeof *names; ++k) {
            char path[512];
            find_prelude(path, "host", names[k], (int)strlen(names[k]));
            append_prelude(&source, &taken, "host", path);
        }
        kn_str_append(&source, is_before ? "" : headers);
        kn_str_append(&source, body);
        goes_on = compile(&target, &source, is_before ? "headers before" : "headers after");
        kn_str_free(&source);
        kn_str_free(&taken);
    }
    if (!goes_on)
        skip();
}

int main(int argc, char **argv)
{
    targets = (const char *const *)argv + 1;
    n_targets = argc - 1;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_alone), cmocka_unit_test(test_all_together),
                                       cmocka_unit_test(test_users_includes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
