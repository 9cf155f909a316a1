/* The cache's key, field by field: each changed alone is another specialisation, which reads back as it
 * stands, and a miss in the cache and in bundles. The fields are those that schedules/spec_text.c writes: one
 * that no row here changes is missed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "cache/bundle.h"
#include "cache/cache.h"
#include "schedules/spec_text.h"

static const char *const lines[] = {
    KN_SPEC_FORMAT
    " generator=\"1-test\" target=\"cuda:sm_90\" kind=\"program\" name=\"k\" in=\"T x, "
    "float32 y\" out=\"T z\""
    " stage=\"map\" body=\"z = (float16)x\" preamble=\"int f();\" loop_prep=\"int w = 0;\" "
    "after_loop=\"(void)w;\" fast_math=\"1\""
    " no_fma=\"1\" check=\"1\" round_each=\"1\" option=\"-DA\" header=\"a.h\" header_text=\"#define A 1\\n\""
    " operands=\"array:float32 array:float32 array:float32\" loop_rank=\"2\""
    " schedule=\"rows\" gathers=\"1\" vector=\"4\" block=\"256\" index=\"1\" "
    "order=\"1\" rank=\"3\" access=\"vvd\"",
    KN_SPEC_FORMAT
    " generator=\"1-test\" target=\"host:x86-64-v3\" kind=\"program\" name=\"k\" in=\"float32 x, float32 y\" "
    "out=\"T z\""
    " values=\"float32 v, float64 s\" reduced=\"2\" casts=\"1\" stage=\"map\" label=\"load\" reads=\"x\" "
    "gives=\"v\" body=\"v = x\""
    " stage=\"reduce\" label=\"sum\" reads=\"v\" gives=\"s\" body=\"a + b\" identity=\"0\""
    " stage=\"map\" label=\"store\" over=\"results\" reads=\"s, y\" body=\"z = s + y\""
    " operands=\"array:float16>float32 array:float32 array:float32\" schedule=\"row\" vector=\"1\" "
    "baseline=\"1\"",
    KN_SPEC_FORMAT
    " generator=\"1-test\" target=\"cuda:sm_90\" kind=\"module\" name=\"m\" fast_math=\"1\" no_fma=\"1\" "
    "option=\"-DA\""
    " header=\"a.h\" header_text=\"#define A 1\\n\" expression=\"f<int>\" folders=\"1\" source=\"void f();\"",
};
enum { LINES = sizeof lines / sizeof *lines };

/* The line, and the text of the field in it; "" leaves the field out. */
static const struct change {
    int line;
    const char *from, *to;
} changes[] = {
    {0, "generator=\"1-test\"", "generator=\"2-test\""},
    {0, "target=\"cuda:sm_90\"", "target=\"cuda:sm_90a\""},
    {0, "target=\"cuda:sm_90\"", "target=\"cuda:sm_89\""},
    {0, "name=\"k\"", "name=\"l\""},
    {0, "in=\"T x, float32 y\"", "in=\"U x, float32 y\""},
    {0, "out=\"T z\"", "out=\"float32 z\""},
    {0, "body=\"z = (float16)x\"", "body=\"z = (float16)x \""},
    {0, "preamble=\"int f();\"", "preamble=\"int g();\""},
    {0, "preamble=\"int f();\"", ""},
    {0, "loop_prep=\"int w = 0;\"", "loop_prep=\"int w = 1;\""},
    {0, "after_loop=\"(void)w;\"", "after_loop=\"(void)w\""},
    {0, "fast_math=\"1\"", ""},
    {0, "no_fma=\"1\"", ""},
    {0, "check=\"1\"", ""},
    {0, "round_each=\"1\"", ""},
    {0, "option=\"-DA\"", "option=\"-DB\""},
    {0, "option=\"-DA\"", "option=\"-DA\" option=\"-DA\""},
    {0, "option=\"-DA\"", ""},
    {0, "header=\"a.h\"", "header=\"b.h\""},
    {0, "header_text=\"#define A 1\\n\"", "header_text=\"#define A 2\\n\""},
    {0, "operands=\"array:float32 ", "operands=\"array:float16 "},
    {0, "operands=\"array:float32 ", "operands=\"scalar:float32 "},
    {0, "operands=\"array:float32 ", "operands=\"array:float16>float32 "},
    {0, "loop_rank=\"2\"", "loop_rank=\"3\""},
    {0, "schedule=\"rows\" gathers=\"1\"", "schedule=\"flat\""},
    {0, "vector=\"4\"", "vector=\"2\""},
    {0, "block=\"256\"", "block=\"128\""},
    {0, "gathers=\"1\"", "gathers=\"2\""},
    {0, "index=\"1\"", ""},
    {0, "order=\"1\"", ""},
    {0, "rank=\"3\"", "rank=\"4\""},
    {0, "access=\"vvd\"", "access=\"vdd\""},
    {1, "target=\"host:x86-64-v3\"", "target=\"host:x86-64-v4\""},
    {1, "values=\"float32 v, ", "values=\"float64 v, "},
    {1, "reduced=\"2\"", "reduced=\"1\""},
    {1, "reduced=\"2\"", "reduced=\"by call\""},
    {1, "casts=\"1\"", ""},
    {1, "label=\"load\"", "label=\"lead\""},
    {1, "reads=\"x\"", "reads=\"y\""},
    {1, "gives=\"v\" body=\"v = x\"", "gives=\"v\" body=\"v = +x\""},
    {1, "gives=\"s\" body=\"a + b\"", "gives=\"s\" body=\"b + a\""},
    {1, "identity=\"0\"", "identity=\"1\""},
    {1, "identity=\"0\"", ""},
    {1, "over=\"results\"", ""},
    {1, "reads=\"s, y\"", "reads=\"y, s\""},
    {1, "schedule=\"row\"", "schedule=\"reduce\""},
    {1, "baseline=\"1\"", ""},
    {2, "generator=\"1-test\"", ""},
    {2, "name=\"m\"", "name=\"n\""},
    {2, "fast_math=\"1\"", ""},
    {2, "no_fma=\"1\"", ""},
    {2, "option=\"-DA\"", "option=\"-DB\""},
    {2, "header=\"a.h\"", "header=\"b.h\""},
    {2, "header_text=\"#define A 1\\n\"", "header_text=\"\""},
    {2, "expression=\"f<int>\"", "expression=\"f<long>\""},
    {2, "folders=\"1\"", ""},
    {2, "source=\"void f();\"", "source=\"void g();\""},
};
enum { CHANGES = sizeof changes / sizeof *changes };

/* Fields that nothing but a change of others changes. */
static const char *const led[] = {
    "kind",  /* of a module all other fields differ too */
    "stage", /* a map that reduces has another body and identity */
};

static char folder[256];

static int set_up(void **state)
{
    (void)state;
    return kn_os_make_temporary_folder(folder, sizeof folder) != KILN_OK;
}

static int tear_down(void **state)
{
    (void)state;
    kn_os_remove_folder(folder);
    return access(folder, F_OK) == 0;
}

/* The line with its change; of a field that is left out the blank in front goes too. */
static char *changed_line(const struct change *c)
{
    const char *line = lines[c->line];
    char wanted[200];
    snprintf(wanted, sizeof wanted, " %s", c->from);
    const char *at = strstr(line, wanted);
    kn_str text = KN_STR_INIT;
    if (!at)
        fail_msg("line %d has no %s", c->line, c->from);
    kn_str_append_n(&text, line, (size_t)(at - line));
    kn_str_printf(&text, "%s%s%s", *c->to ? " " : "", c->to, at + strlen(wanted));
    return kn_str_take(&text, "a line");
}

/* The line after it was read and written again. */
static void expect_itself(const char *line)
{
    kn_parsed_spec parsed;
    kn_str again = KN_STR_INIT;
    if (kn_spec_parse(&parsed, line) != KILN_OK)
        fail_msg("%s\nis no line: %s", line, kiln_error_message());
    if (parsed.kind == KN_SPEC_PROGRAM)
        kn_spec_format(&again, &parsed.spec);
    else
        kn_module_spec_format(&again, &parsed.module);
    assert_string_equal(kn_str_text(&again), line);
    kn_str_free(&again);
    kn_parsed_spec_free(&parsed);
}

static bool is_cached(kn_cache *cache, const char *line, const char *producer)
{
    kn_blob code = KN_BLOB_INIT;
    bool is_found = kn_cache_get(cache, line, strlen(line), producer, &code, NULL);
    kn_blob_free(&code);
    return is_found;
}

static void a_change_is_a_miss(void **state)
{
    kn_cache *cache = kn_cache_create(folder, false);
    const kn_blob code = {(void *)"code", 4};
    (void)state;
    for (int l = 0; l < LINES; l++) {
        expect_itself(lines[l]);
        kn_cache_put(cache, lines[l], strlen(lines[l]), "producer", &code, NULL);
        assert_true(is_cached(cache, lines[l], "producer"));
        assert_false(is_cached(cache, lines[l], "producers"));
        assert_false(is_cached(cache, lines[l], "produce"));
    }
    for (int c = 0; c < CHANGES; c++) {
        char *line = changed_line(&changes[c]);
        expect_itself(line);
        if (is_cached(cache, line, "producer"))
            fail_msg("%s for %s is no miss", changes[c].to, changes[c].from);
        kn_free(line);
    }
    kn_cache_free(cache);
}

static int rank_all_alike(const char *label, size_t size, void *user)
{
    (void)label;
    (void)size;
    (void)user;
    return 1;
}

/* Generator and target of bundles are no part of the key: rows are ranked by them. */
static void a_change_is_a_miss_in_bundles(void **state)
{
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kn_bundle *bundle = NULL;
    kn_blob bytes = KN_BLOB_INIT;
    int best;
    (void)state;
    for (int l = 0; l < LINES; l++) {
        kn_bundle_row row = KN_BUNDLE_ROW_INIT;
        kn_str what = KN_STR_INIT;
        assert_int_equal(kn_spec_make_portable(&what, lines[l]), KILN_OK);
        assert_true(kn_blob_copy(&row.what, what.data, what.length) && kn_blob_copy(&row.label, "label", 5) &&
                    kn_blob_copy(&row.code, "code", 4));
        assert_int_equal(kn_bundle_writer_add(writer, &row), KILN_OK);
        kn_str_free(&what);
    }
    assert_int_equal(kn_bundle_writer_finish(&bytes, writer), KILN_OK);
    assert_int_equal(kn_bundle_open_memory(&bundle, bytes.data, bytes.size, "a bundle"), KILN_OK);
    for (int c = 0; c < CHANGES; c++) {
        bool is_of_label =
            strncmp(changes[c].from, "generator", 9) == 0 || strncmp(changes[c].from, "target", 6) == 0;
        char *line = changed_line(&changes[c]);
        kn_str what = KN_STR_INIT;
        assert_int_equal(kn_spec_make_portable(&what, line), KILN_OK);
        bool is_found = kn_bundle_find(bundle, what.data, what.length, rank_all_alike, NULL, 0, &best) >= 0;
        if (is_found != is_of_label)
            fail_msg("%s for %s is %s", changes[c].to, changes[c].from, is_found ? "found" : "missing");
        kn_str_free(&what);
        kn_free(line);
    }
    kn_bundle_free(bundle);
    kn_blob_free(&bytes);
    kn_bundle_writer_free(writer);
}

/* ---- no field is forgotten ---- */

static bool is_changed(const char *key, size_t length)
{
    for (int c = 0; c < CHANGES; c++)
        if (strncmp(changes[c].from, key, length) == 0 && changes[c].from[length] == '=')
            return true;
    for (size_t k = 0; k < sizeof led / sizeof *led; k++)
        if (strlen(led[k]) == length && memcmp(led[k], key, length) == 0)
            return true;
    return false;
}

/* The name between quotes that follows, before `end`; how many there were. */
static int check_key(const char *at, const char *end)
{
    const char *key = memchr(at, '"', (size_t)(end - at)), *close = key ? strchr(key + 1, '"') : NULL;
    if (!key)
        return 0;
    if (!is_changed(key + 1, (size_t)(close - key - 1)))
        fail_msg("no row changes the field %.*s of schedules/spec_text.c", (int)(close - key - 1), key + 1);
    return 1;
}

/* True if the name in front of a bracket begins with "put_". */
static bool is_writer(const char *source, const char *bracket)
{
    const char *at = bracket;
    while (at > source && (at[-1] == '_' || (at[-1] >= 'a' && at[-1] <= 'z')))
        at--;
    return strncmp(at, "put_", 4) == 0;
}

static void every_field_is_changed(void **state)
{
    kn_blob text = KN_BLOB_INIT;
    int fields = 0;
    (void)state;
    assert_int_equal(kn_os_read_file(&text, KILN_SOURCE_DIR "/src/schedules/spec_text.c"), KILN_OK);
    const char *source = text.data;
    for (const char *at = source; (at = strstr(at, "(out, \"")); at++) /* put_text(out, "name", ...) */
        fields += is_writer(source, at) ? check_key(at, at + strcspn(at, ")\n")) : 0;
    for (const char *at = source; (at = strstr(at, ", offsetof(kn_schedule"));
         at++) { /* {"vector", offsetof(...)} */
        const char *key = at;
        while (key[-1] != '{')
            key--;
        fields += check_key(key, at);
    }
    assert_true(fields >= 30);
    for (int l = 0; l < LINES; l++) /* ... and whatever else these lines have */
        for (const char *at = lines[l]; (at = strstr(at, "=\"")); at++) {
            const char *key = at;
            while (key[-1] != ' ')
                key--;
            assert_true(is_changed(key, (size_t)(at - key)));
        }
    kn_blob_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_change_is_a_miss, set_up, tear_down),
        cmocka_unit_test(a_change_is_a_miss_in_bundles),
        cmocka_unit_test(every_field_is_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
