/* The uses of outputs' names in texts: those that cannot assign are refused, those that might are taken;
 * outputs that elements may leave unassigned are known. */
#include "program/assigned.h"
#include "program/program.h"
#include "ops/variant.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static kiln_status define(const char *out, const char *body, const kiln_kernel_options *options)
{
    kn_program *p = NULL;
    kiln_status status = kn_program_elementwise(&p, "T x, T y, raw T r", out, body, "k", options);
    kn_program_free(p);
    return status;
}

static void assert_all(const char *const *bodies, size_t count, const char *out,
                       const kiln_kernel_options *options, bool taken)
{
    for (size_t k = 0; k < count; ++k) {
        kiln_status status = define(out, bodies[k], options);
        if (status != (taken ? KILN_OK : KILN_ERROR_INVALID))
            fail_msg("'%s' %s: %s", bodies[k], taken ? "was refused" : "was taken", kiln_error_message());
        if (!taken && (!strstr(kiln_error_message(), "output 'z' is never assigned") ||
                       !strstr(kiln_error_message(), "'z = ...' was expected")))
            fail_msg("'%s': %s", bodies[k], kiln_error_message());
    }
}
#define TAKEN(bodies, options) assert_all(bodies, sizeof(bodies) / sizeof(bodies)[0], "T z", options, true)
#define REFUSED(bodies, options) assert_all(bodies, sizeof(bodies) / sizeof(bodies)[0], "T z", options, false)

static void what_cannot_assign_is_refused(void **state)
{
    static const char *const bodies[] = {"",
                                         "   ",
                                         "// z = x",
                                         "/* z = x */ const char *t = \"z = x\";",
                                         "const char *t = R\"(z = x)\";",
                                         "const char *t = u8R\"q(z = x)q\";",
                                         "z == x * 2",
                                         "z == x * 2;",
                                         "x * 2 == z",
                                         "x + z;",
                                         "z + x",
                                         "z - 1; z * 2; z / 2; z % 3; z || x; z && x; z | 1; z ^ 1;",
                                         "z <= x; z >= x; z < x; z > x; z != x",
                                         "if (z == 1) return;",
                                         "while (x < z) continue;",
                                         "T t = z + 1; T &q = t; q = 2",
                                         "T t = 3; t += z; t *= z - 1",
                                         "T t = x ? z + 1 : z - 1;",
                                         "r.z = 3; x.z = 4",
                                         "other::z = 5",
                                         "Z = x; zz = y; z1 = x; _z = 2",
                                         "return z == x;",
                                         "f(z == 1); f(x, z + 1); g[z - 1]",
                                         "!z == x"};
    (void)state;
    REFUSED(bodies, NULL);
}

static void what_may_assign_is_taken(void **state)
{
    static const char *const bodies[] = {"z = x",
                                         "z=x",
                                         "if (x == z) z = y",
                                         "z\n=\nx",
                                         "z /* = */ = x",
                                         "z += x",
                                         "z <<= 1",
                                         "z >>= 1",
                                         "z ^= 1",
                                         "z++",
                                         "--z",
                                         "(z) = x",
                                         "((z)) = x",
                                         "(x > 0 ? z : y) = 3",
                                         "T &q = z; q = x",
                                         "auto &&q = z; q = x",
                                         "T *q = &z; *q = x",
                                         "*&z = x",
                                         "assign(z, x)",
                                         "assign(x, z)",
                                         "sincos(x, &y, &z)",
                                         "z.x = 3",
                                         "z.real(3)",
                                         "z[0] = 3",
                                         "z->x = 3",
                                         "[&] { z = x; }()",
                                         "[&z] { f(); }()",
                                         "T &q{z}; q = x",
                                         "asm(\"mov %0, 1;\" : \"=r\"(z))",
                                         "stream >> z",
                                         "z << x",
                                         "for (z = 0; z < x; ++y) ;",
                                         "return void(z = x)",
                                         "T q = (z = x)",
                                         "SET z",
                                         "z SET x",
                                         "#define PUT z = x\nPUT",
                                         "#include \"put.h\"\nPUT(x)",
                                         "PUT \\\nx"};
    (void)state;
    TAKEN(bodies, NULL);
}

static void preambles_may_assign(void **state)
{
    static const char *const with_z[] = {"PUT(x)", "PUT"},
                             *const arguments[] = {"PUT(z == x)", "PUT(z + 1)", "PUT(x) z == 1", "f(x + z)"},
                             *const others[] = {"x == y", "z == x", "PUT(x); z == y"};
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    o.preamble = "#define PUT(value) z = (value)";
    TAKEN(with_z, &o);
    o.preamble = "#define PUT(place) ++place, 1";
    TAKEN(arguments, &o);
    REFUSED(others, &o);
    o.preamble = "static int f(int z) { return z; }\nstruct z_like { int z; };";
    REFUSED(others, &o);
    o.preamble = "#include \"put.h\"";
    TAKEN(others, &o);
    o.preamble = "struct w { }; template <class T> void operator==(T &x, w) { x = 3; }";
    TAKEN(others, &o);
}

static void options_may_assign(void **state)
{
    static const char *const bodies[] = {"PUT(x)", "z == x"},
                             *const plain[] = {"-std=c++17", "-O3", "-Isome"},
                             *const defining[] = {"-std=c++17", "-DPUT(x)=z=x"};
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    o.compile_options = plain;
    o.n_compile_options = 3;
    REFUSED(bodies, &o);
    o.compile_options = defining;
    o.n_compile_options = 2;
    TAKEN(bodies, &o);
}

/* Every output is looked at; raw ones pass, since what they name is an array. */
static void every_output(void **state)
{
    static const char *const one[] = {"w = x", "w = x; z == x", "w = z + 1"},
                             *const both[] = {"w = x; z = y"}, *const none[] = {"", "x == y"};
    (void)state;
    assert_all(one, 3, "T z, T w", NULL, false);
    assert_all(one, 3, "T w, T z", NULL, false);
    assert_all(both, 1, "T z, T w", NULL, true);
    assert_all(none, 2, "raw T z", NULL, true);
}

static void the_place_is_shown(void **state)
{
    (void)state;
    assert_int_equal(define("T z", "T t = x;\n\tz == t * 2;", NULL), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(),
                        "k: body:2:2: output 'z' is never assigned: '==' compares; 'z = ...' was expected\n"
                        "  \tz == t * 2;\n  \t^");
    assert_int_equal(define("T z", "T t = x + z; z == t", NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "body:1:14"));
    assert_int_equal(define("T z", "y + z", NULL), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "its value is only read"));
    assert_int_equal(define("T z", "T t = x", NULL), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(),
                        "k: body:1:1: output 'z' is never assigned: the body does not name "
                        "it; 'z = ...' was expected\n  T t = x\n  ^");
    assert_int_equal(define("T long_name", "y + long_name", NULL), KILN_ERROR_INVALID);
    assert_string_equal(kiln_error_message(),
                        "k: body:1:5: output 'long_name' is never assigned: its value is only "
                        "read; 'long_name = ...' was expected\n  y + long_name\n      ^~~~~~~~~");
}

/* Raw parameters whose names are followed by an index or a member. */
static void indexed_parameters(void **state)
{
    static const struct {
        const char *body, *loop_prep;
        uint64_t indexed;
    } texts[] = {
        {"z = r", "", 0},        {"z = r[i]", "", 4},   {"z = r (1, 2)", "", 4},     {"z = r.size()", "", 4},
        {"z = x[i] + r", "", 0}, {"z = q.r[1]", "", 0}, {"z = x", "T a = r[0];", 4}, {"z = \"r[\"[0]", "", 0},
        {"z = r / y", "", 0},    {"z = x", "r[0];", 4}};
    (void)state;
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; ++k) {
        kn_program *p = NULL;
        kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
        o.loop_prep = texts[k].loop_prep;
        assert_int_equal(kn_program_elementwise(&p, "T x, T y, raw T r", "T z", texts[k].body, "k", &o),
                         KILN_OK);
        assert_int_equal(p->indexed, texts[k].indexed);
        kn_program_free(p);
    }
}

/* ---- outputs that elements may leave ---- */

static uint64_t left_by(const char *out, const char *body, const kiln_kernel_options *options)
{
    kn_program *p = NULL;
    if (kn_program_elementwise(&p, "T x, T y, raw T r", out, body, "k", options) != KILN_OK)
        fail_msg("'%s': %s", body, kiln_error_message());
    uint64_t left = p->left_outputs;
    kn_program_free(p);
    return left;
}

static void assert_left(const char *const *bodies, size_t count, const char *out,
                        const kiln_kernel_options *options, uint64_t left)
{
    for (size_t k = 0; k < count; ++k)
        if (left_by(out, bodies[k], options) != left)
            fail_msg("'%s': %d, not %d", bodies[k], (int)left_by(out, bodies[k], options), (int)left);
}
#define LEFT(bodies, out, options, left)                                                                     \
    assert_left(bodies, sizeof(bodies) / sizeof(bodies)[0], out, options, left)

static void what_is_always_assigned(void **state)
{
    static const char *const bodies[] = {
        "z = x",
        "T t = x; z = t; z += y",
        "T t; t = z = x;",
        "z = x, z = y",
        "T a = 0, b; a = x, z = a",
        "if (x > y) z = x; else z = y",
        "if (x > y) { z = x; } else if (x < 0) z = y; else { z = 0; return; }",
        "z = 0; if (x > 0) continue; z = x",
        "if (x > 0) { z = 1; return; } z = x",
        "for (z = 0; z < x; ++z) ;",
        "for (int k = 0; k < 3; ++k) { if (k == 2) break; } z = x",
        "while (x > y) { continue; } z = x",
        "switch ((int)x) { case 1: break; default: y; } z = x",
        "z = x; switch ((int)x) { case 1: continue; default: z = y; }",
        "switch ((int)x) { case 1: z = y; return; case 2: z = 3; continue; } z = 0",
        "do { break; } while (0); z = x",
        "{ { z = x; } }",
        "auto f = [&](T q) { return q; }; z = f(x)",
        "T s; sincos(x, &s, &z)",
        "sincosf(x, &z, nullptr);",
        "T s[3] = {x, y, x}; z = s[1] + r[0]",
        "struct w { T q; T get() const { return q; } }; w v = {x}; z = v.get()",
        "#pragma unroll 4\nfor (int k = 0; k < 3; ++k) ;\nz = x",
        "if constexpr (sizeof(T) == 4) z = x; else z = y",
        "z = x ? y : x; T *q = &z; *q += 1",
        "// nothing\nz = /* x */ y;"};
    static const char *const raw[] = {"z[i] = x", "z[i] = x; z[i] += y",
                                      "if (x > i) z[i] = x; else z[i] = y"};
    (void)state;
    LEFT(bodies, "T z", NULL, 0);
    LEFT(raw, "raw T z", NULL, 0);
    assert_int_equal(left_by("T z, T w", "z = w = x", NULL), 0);
    assert_int_equal(left_by("T z, T w", "w = x, z = w", NULL), 0);
    assert_int_equal(left_by("T z, T w", "z = x; if (y > 0) w = x", NULL), 2);
    assert_int_equal(left_by("T z, T w", "z = w; w = x", NULL), 2);
}

static void what_may_be_left(void **state)
{
    static const char *const bodies[] = {"if (x > 0) z = x",
                                         "z += x",
                                         "z = z + x",
                                         "T t = z; z = x",
                                         "if (x > 0) continue; z = x",
                                         "if (x > 0) return; z = x",
                                         "break; z = x",
                                         "while (x > y) z = x",
                                         "for (int k = 0; k < 3; ++k) z = x",
                                         "for (;;) { if (x > 0) return; z = x; }",
                                         "if (x > 0) z = x; else if (x < 0) z = y",
                                         "switch ((int)x) { case 0: z = x; }",
                                         "switch ((int)x) { case 0: z = x; break; case 1: continue; } z = y",
                                         "x > 0 && (z = x)",
                                         "x > 0 ? z = x : (z = y)",
                                         "auto f = [&] { z = x; }; f()",
                                         "f(z)",
                                         "T &q = z; q = x",
                                         "T *q = &z; *q = x",
                                         "{ T z; z = x; }",
                                         "z.re = x",
                                         "z[0] = x",
                                         "goto end; z = x; end: ;",
                                         "asm(\"mov %0, 1;\" : \"=r\"(z))",
                                         "x > 0 ? sincos(x, &z, &y) : void()",
                                         "sincos(z, &z, &y)",
                                         "#if 1\nz = x\n#endif",
                                         "#pragma unroll\nfor (int k = 0; k < x; ++k) z = k",
                                         "({ z = x; });",
                                         "if (x > 0) ; else z = x",
                                         "do { if (x > 0) break; z = x; } while (0)",
                                         "other: z = x",
                                         "PUT(z = x)"};
    static const char *const raw[] = {
        "z[0] = x", "z[i + 1] = x", "if (x > 0) z[i] = x",       "{ int i = 3; z[i] = x; }",
        "z(i) = x", "r[i] = x",     "for (int i : r) ; z[i] = x"};
    char nested[200];
    (void)state;
    LEFT(bodies, "T z", NULL, 1);
    LEFT(raw, "raw T z", NULL, 1);
    memset(nested, '{', 90);
    snprintf(nested + 90, sizeof nested - 90, "z = x;%090d", 0);
    memset(nested + 96, '}', 90);
    assert_int_equal(left_by("T z", nested, NULL), 1); /* deeper than anybody looks */
}

static void macros_may_leave(void **state)
{
    static const char *const bodies[] = {"z = x * W"};
    static const char *const plain[] = {"#define W 3", "#define W (x + \\\n 3)\n#pragma once",
                                        "#if 1\n#define W 2\n#endif",
                                        "static T f(T x) { if (x) return 3; return 4; }\nconst T W = 3;"};
    static const char *const hiding[] = {"#define W 3; if (0) continue", "#define W 1; return",
                                         "#define W \\\n(z = 1)", "#include \"w.h\""};
    kiln_kernel_options o = KILN_KERNEL_OPTIONS_INIT;
    const char *option = "-DW=3";
    (void)state;
    for (size_t k = 0; k < sizeof plain / sizeof *plain; ++k) {
        o.preamble = plain[k];
        LEFT(bodies, "T z", &o, 0);
    }
    for (size_t k = 0; k < sizeof hiding / sizeof *hiding; ++k) {
        o.preamble = hiding[k];
        LEFT(bodies, "T z", &o, 1);
    }
    o.preamble = NULL;
    o.compile_options = &option;
    o.n_compile_options = 1;
    LEFT(bodies, "T z", &o, 0);
    option = "-DW=3;return";
    LEFT(bodies, "T z", &o, 1);
    option = "-include=w.h";
    LEFT(bodies, "T z", &o, 1);
}

/* The last text of a reduction decides; operations cost no fill. */
static void what_operations_leave(void **state)
{
    kn_param param[KN_MAX_PARAMS];
    kn_program *p = NULL;
    int n_in, n_out;
    uint64_t left;
    (void)state;
    assert_int_equal(
        kn_program_reduction(&p, "T x", "T y, T z", "x", "a + b", "y = a; if (a > 0) z = a", "0", "k", NULL),
        KILN_OK);
    assert_int_equal(p->left_outputs, 2);
    kn_program_free(p);
    for (int k = 0; k < kn_operation_table_count; ++k) {
        const kiln_operation *d = &kn_operation_table[k].definition;
        n_in = n_out = 0;
        if (!d->map)
            continue;
        assert_int_equal(kn_signature_parse(param, 0, KN_MAX_PARAMS, &n_in, d->in_params, "input", NULL),
                         KILN_OK);
        assert_int_equal(
            kn_signature_parse(param, n_in, KN_MAX_PARAMS, &n_out, d->out_params, "output", NULL), KILN_OK);
        assert_int_equal(kn_text_find_left(&left, d->reduce ? d->post : d->map, param + n_in, n_out),
                         KILN_OK);
        if (left)
            fail_msg("%s may leave its result", d->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_cannot_assign_is_refused),
        cmocka_unit_test(what_may_assign_is_taken),
        cmocka_unit_test(preambles_may_assign),
        cmocka_unit_test(options_may_assign),
        cmocka_unit_test(every_output),
        cmocka_unit_test(the_place_is_shown),
        cmocka_unit_test(indexed_parameters),
        cmocka_unit_test(what_is_always_assigned),
        cmocka_unit_test(what_may_be_left),
        cmocka_unit_test(macros_may_leave),
        cmocka_unit_test(what_operations_leave),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
