/* Programs that find the place of an extreme of their input, and those that only look like it. */
#include "program/extreme.h"
#include "program/program.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static const char greatest[] = "typedef float T;\n" KN_PLACE_TEXT("<="),
                  least[] = "typedef float T;\n" KN_PLACE_TEXT(">=");

static kn_extreme extreme_of(const char *in, const char *map, const char *reduce, const char *preamble)
{
    kn_program *p = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    options.reduce_type = "best";
    if (kn_program_reduction(&p, in, "int64 y", map, reduce, "y = a.at", NULL, "k", &options) != KILN_OK)
        fail_msg("%s: %s", map, kiln_error_message());
    kn_extreme extreme = kn_body_is_place(p);
    kn_program_free(p);
    return extreme;
}

static void texts_of_the_operation_are_told(void **state)
{
    static const char map[] = "best{x, (_index)_J}", reduce[] = "better(a, b, _follows)";
    (void)state;
    assert_int_equal(extreme_of("float x", map, reduce, greatest), KN_GREATEST);
    assert_int_equal(extreme_of("float x", map, reduce, least), KN_LEAST);
}

static void other_texts_are_not(void **state)
{
    static const char map[] = "best{x, (_index)_J}", reduce[] = "better(a, b, _follows)";
    static const char own[] =
        "struct best { float value; _index at; };\n"
        "__device__ best better(best a, best b, bool) { return b.value > a.value ? b : a; }\n";
    (void)state;
    assert_int_equal(extreme_of("float x", "best{x * 2, (_index)_J}", reduce, greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("float x", "best{-x, (_index)_J}", reduce, greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("float x", "best{x, (_index)_J + 1}", reduce, greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("float x", map, "better(b, a, _follows)", greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("float x, float z", map, reduce, greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("raw float x", "best{x[_J], (_index)_J}", reduce, greatest), KN_NO_EXTREME);
    assert_int_equal(extreme_of("float x", map, "better(a, b, _follows)", own), KN_NO_EXTREME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_of_the_operation_are_told),
        cmocka_unit_test(other_texts_are_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
