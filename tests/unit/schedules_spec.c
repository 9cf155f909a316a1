/* The serialised specialisation: reading what was written gives the same line and the same values; damaged
 * lines are refused with the key at fault. */
#include "schedule/contraction.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "program/program.h"
#include "schedules/spec_text.h"
#include "schedules/kinds.h"
#include "base/os.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "each_allocation.h"

static kn_program *program(const char *in, const char *out, const char *body,
                           const kiln_kernel_options *options)
{
    kn_program *p = NULL;
    assert_int_equal(kn_program_elementwise(&p, in, out, body, "k", options), KILN_OK);
    return p;
}

/* A specialisation of three arrays for sm_90. */
static kn_spec spec_of(const kn_program *p)
{
    kn_spec s;
    memset(&s, 0, sizeof s);
    s.program = p;
    s.generator = "1-test";
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        s.operand[k] = (kn_operand){.pass = KN_PASS_ARRAY, .dtype = KILN_FLOAT32};
    s.n_arrays = kn_operands_settle(s.operand, p->n_in + p->n_out);
    s.schedule = (kn_schedule){.kind = &kn_kind_flat, .vector = 4, .block = 256};
    kn_target_parse(&s.target, "sm_90");
    return s;
}

static char *line_of(const kn_spec *s)
{
    kn_str text = KN_STR_INIT;
    kn_spec_format(&text, s);
    assert_int_equal(kn_str_status(&text, "a line"), KILN_OK);
    return kn_str_take(&text, "a line");
}

/* Line, parse, line: the same, and it is returned. */
static void assert_round_trip(const kn_spec *s)
{
    kn_parsed_spec parsed;
    char *line = line_of(s);
    assert_null(strchr(line, '\n'));
    assert_int_equal(kn_spec_parse(&parsed, line), KILN_OK);
    assert_string_equal(parsed.program->pattern, s->program->pattern);
    for (int t = 0; t < kn_program_texts(s->program); ++t)
        assert_string_equal(parsed.program->text[t], s->program->text[t]);
    assert_string_equal(parsed.program->preamble, s->program->preamble);
    assert_int_equal(parsed.program->uses, s->program->uses);
    assert_int_equal(parsed.program->flags, s->program->flags);
    assert_memory_equal(parsed.spec.operand, s->operand,
                        sizeof *s->operand * (size_t)(s->program->n_in + s->program->n_out));
    assert_memory_equal(&parsed.spec.schedule, &s->schedule, sizeof s->schedule);
    assert_true(kn_target_equal(&parsed.spec.target, &s->target));
    assert_string_equal(parsed.spec.generator, s->generator);
    char *again = line_of(&parsed.spec);
    assert_string_equal(line, again);
    kn_free(line);
    kn_free(again);
    kn_parsed_spec_free(&parsed);
}

static void plain_line(void **state)
{
    kn_program *p = program("T x, float32 y", "T z", "z = x - y", NULL);
    kn_spec s = spec_of(p);
    char *line = line_of(&s);
    (void)state;
    assert_string_equal(
        line, KN_SPEC_FORMAT
        " generator=\"1-test\" target=\"cuda:sm_90\" kind=\"program\" "
        "name=\"k\" in=\"T x, float32 y\" out=\"T z\" "
        "stage=\"map\" body=\"z = x - y\" operands=\"array:float32 array:float32 array:float32\" "
        "schedule=\"flat\" vector=\"4\" block=\"256\"");
    kn_free(line);
    assert_round_trip(&s);
    kn_program_free(p);
}

static void awkward_texts(void **state)
{
    static const char *const bodies[] = {"z = x; // \"quoted\" \\ back",
                                         "z =\n\tx;\r\n",
                                         "z = x; // key=\"value\" schedule=\"flat\"",
                                         "const char *s = \"a\\n\\x41\\\"\"; z = x",
                                         "z = x; // \x01\x1f\x7f",
                                         "z = x; // \xc3\xa9\xe2\x82\xac",
                                         "z=x",
                                         " \tz = x "};
    (void)state;
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; ++b) {
        kn_program *p = program("T x", "T z", bodies[b], NULL);
        kn_spec s = spec_of(p);
        assert_round_trip(&s);
        kn_program_free(p);
    }
}

/* Code without 16-bit floats is the same whether each operation on them is rounded or not. */
static void rounding_matters_to_halves_alone(void **state)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    options.flags = KILN_KERNEL_ROUND_EACH;
    kn_program *p = program("T x", "T z", "z = x", &options),
               *cast = program("T x", "T z", "z = (float16)x", &options);
    kn_spec s = spec_of(p), with_text = spec_of(cast);
    assert_false(kn_spec_rounds_each(&s));
    assert_true(kn_spec_rounds_each(&with_text));
    s.operand[0].seen = s.operand[0].dtype = KILN_BFLOAT16;
    assert_true(kn_spec_rounds_each(&s));
    assert_round_trip(&s);
    kn_program_free(p);
    kn_program_free(cast);
}

/* Two kernels of a reduction give the same bits where their texts hold nothing that could be contracted. */
static void only_some_texts_are_contracted(void **state)
{
    static const struct {
        const char *reduce;
        kiln_dtype dtype;
        unsigned flags;
        bool is_safe;
    } rows[] = {{"a * a + b", KILN_FLOAT32, 0, false},
                {"a * a + b", KILN_FLOAT64, 0, false},
                {"a * a + b", KILN_COMPLEX64, 0, false},
                {"a * a + b", KILN_INT32, 0, true},
                {"a * a + b", KILN_FLOAT32, KILN_KERNEL_NO_FMA, true},
                {"a * a + b", KILN_COMPLEX64, KILN_KERNEL_NO_FMA, true},
                {"a * a + b", KILN_INT32, KILN_KERNEL_FAST_MATH, false},
                {"a + b", KILN_FLOAT32, 0, true},
                {"a + b", KILN_FLOAT64, 0, true},
                {"a + b", KILN_COMPLEX64, 0, true},
                {"a + b", KILN_FLOAT32, KILN_KERNEL_FAST_MATH, false},
                {"a * b", KILN_COMPLEX128, 0, true},
                {"a * b", KILN_COMPLEX64, KILN_KERNEL_FAST_MATH, false},
                {"kn_add(a, kn_multiply(b, b))", KILN_FLOAT32, 0, true},
                {"kn_add(a, b * b)", KILN_FLOAT32, 0, false},
                {"kn_add(a, b) - a * a", KILN_COMPLEX64, 0, false},
                {"kn_no_product((a - b) * 2 + 1) > 0 ? a : b", KILN_FLOAT32, 0, true},
                {"kn_no_product((a - b)) * 2 + a", KILN_FLOAT32, 0, false},
                {"a > b ? a : b", KILN_FLOAT32, 0, true},
                {"a > b ? a : sqrt(b)", KILN_FLOAT32, 0, false}};
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; ++k) {
        kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
        kn_program *p = NULL;
        options.flags = rows[k].flags;
        assert_int_equal(
            kn_program_reduction(&p, "T x", "T z", "x", rows[k].reduce, "z = a", "0", "k", &options),
            KILN_OK);
        kn_spec s = spec_of(p);
        for (int o = 0; o < 2; ++o)
            s.operand[o].dtype = s.operand[o].seen = rows[k].dtype;
        if (kn_contraction_is_safe(&s) != rows[k].is_safe)
            fail_msg("%s of %s, flags %u", rows[k].reduce, kiln_dtype_name(rows[k].dtype), rows[k].flags);
        kn_program_free(p);
    }
}

static void everything_at_once(void **state)
{
    static const char *const options_list[] = {"-DTEXT=\"a b\"", "-DTWO=2"},
                             *const names[] = {"a.h", "deep/b.h"}, *const texts[] = {"#define A \"1\"\n", ""};
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    (void)state;
    options.flags = KILN_KERNEL_FAST_MATH | KILN_KERNEL_NO_FMA | KILN_KERNEL_CHECK | KILN_KERNEL_ROUND_EACH;
    options.preamble = "struct pair { float a, b; };\n#include \"a.h\"";
    options.loop_prep = "int w = 0;";
    options.after_loop = "(void)w;";
    options.compile_options = options_list;
    options.n_compile_options = 2;
    options.header_names = names;
    options.header_texts = texts;
    options.n_headers = 2;
    kn_program *p = program("T x, raw int8 y, pair q, _non_const float64 s", "T z, raw bool w",
                            "z = (float16)x + i; continue", &options);
    kn_spec s = spec_of(p);
    s.loop_rank = 3;
    s.operand[1] =
        (kn_operand){.pass = KN_PASS_RAW, .dtype = KILN_INT8, .raw_rank = 0, .raw_contiguous = true};
    s.operand[2] = (kn_operand){.pass = KN_PASS_STRUCT, .struct_size = 8};
    s.operand[3] = (kn_operand){.pass = KN_PASS_SCALAR, .dtype = KILN_FLOAT64};
    s.operand[5] = (kn_operand){.pass = KN_PASS_RAW, .dtype = KILN_BOOL, .raw_rank = 64};
    s.n_arrays = kn_operands_settle(s.operand, 6);
    s.schedule = (kn_schedule){.kind = &kn_kind_rows, .vector = 8, .block = 128, .rank = 64, .access = "vd"};
    assert_round_trip(&s);
    assert_int_equal(s.n_arrays, 2);
    assert_int_equal(s.operand[4].array, 1);
    assert_int_equal(s.operand[1].array, -1);
    kn_target_host(&s.target);
    s.schedule = (kn_schedule){.kind = &kn_kind_host_indices, .rank = 8};
    assert_round_trip(&s);
    kn_program_free(p);
}

/* Empty fields are not written, others are. */
static void small_numbers(void **state)
{
    kn_program *p = program("T x", "T z", "z = x", NULL);
    kn_spec s = spec_of(p);
    (void)state;
    for (int rank = 0; rank < 3; ++rank) {
        char expected[32];
        s.loop_rank = s.schedule.rank = s.schedule.vector = rank;
        s.schedule.block = rank;
        char *line = line_of(&s);
        snprintf(expected, sizeof expected, "loop_rank=\"%d\"", rank);
        assert_int_equal(strstr(line, expected) != NULL, rank > 0);
        assert_int_equal(strstr(line, " rank=") != NULL, rank > 0);
        assert_int_equal(strstr(line, " vector=") != NULL, rank > 0);
        assert_int_equal(strstr(line, " block=") != NULL, rank > 0);
        kn_free(line);
        assert_round_trip(&s);
    }
    kn_program_free(p);
}

static void every_schedule(void **state)
{
    kn_program *p = program("T x", "T z", "z = x", NULL);
    kn_spec s = spec_of(p);
    (void)state;
    for (kn_backend_kind backend = KN_HOST; backend <= KN_CUDA; ++backend) {
        kn_target_parse(&s.target, backend == KN_HOST ? "host" : "sm_90");
        for (const kn_kind *const *kind = kn_kinds_of(backend); *kind; ++kind) {
            s.schedule.kind = *kind;
            assert_round_trip(&s);
        }
    }
    kn_program_free(p);
}

/* The largest value is written and read, one more is refused. */
static void check_number(kn_spec *s, int n)
{
    const char *name = s->schedule.kind->config->number[n].name;
    int most = s->schedule.kind->config->number[n].most;
    char value[80], beyond[80];
    assert_true(most > 0);
    s->schedule.config[n] = most;
    assert_round_trip(s);
    char *line = line_of(s), *at = NULL;
    snprintf(value, sizeof value, " %s=\"%d\"", name, most);
    snprintf(beyond, sizeof beyond, " %s=\"%lld\"", name, most + 1LL);
    at = strstr(line, value);
    assert_non_null(at);
    assert_null(strstr(at + 1, value));
    kn_str text = KN_STR_INIT;
    kn_parsed_spec parsed;
    kn_str_printf(&text, "%.*s%s%s", (int)(at - line), line, beyond, at + strlen(value));
    assert_int_equal(kn_spec_parse(&parsed, kn_str_text(&text)), KILN_ERROR_FORMAT);
    assert_non_null(strstr(kiln_error_message(), name));
    kn_str_free(&text);
    kn_free(line);
}

static void assert_lacks(const char *file, const char *format, const char *name)
{
    char path[256], word[80];
    kn_blob text = KN_BLOB_INIT;
    snprintf(path, sizeof path, KILN_SOURCE_DIR "/%s", file);
    snprintf(word, sizeof word, format, name);
    assert_int_equal(kn_os_read_file(&text, path), KILN_OK);
    if (memmem(text.data, text.size, word, strlen(word)))
        fail_msg("%s has a '%s' already: a kind's number needs another name", file, name);
    kn_blob_free(&text);
}

/* Each is written and read by its name, which is neither another key of the line nor another slot of
 * templates; a kind finds its own numbers alone. */
static void every_number_of_a_kind(void **state)
{
    kn_program *p = program("T x", "T z", "z = x", NULL);
    kn_spec s = spec_of(p);
    int count = 0;
    (void)state;
    for (kn_backend_kind backend = KN_HOST; backend <= KN_CUDA; ++backend) {
        kn_target_parse(&s.target, backend == KN_HOST ? "host" : "sm_90");
        for (const kn_kind *const *kind = kn_kinds_of(backend); *kind; ++kind) {
            static const kn_config_table other = {.count = 1};
            s.schedule = (kn_schedule){.kind = *kind};
            assert_null(kn_config_of(&s.schedule, &other));
            assert_null(kn_config_in(&s.schedule, &other));
            for (int n = 0; (*kind)->config && n < (*kind)->config->count; ++n, ++count) {
                assert_lacks("src/schedules/spec_text.c", "\"%s\"", (*kind)->config->number[n].name);
                assert_lacks("src/codegen/writer.h", ", %s, ", (*kind)->config->number[n].name);
                assert_ptr_equal(kn_config_of(&s.schedule, (*kind)->config), s.schedule.config);
                check_number(&s, n);
            }
        }
    }
    assert_true(count >= 5);
    kn_program_free(p);
}

/* Stages, values, and arrays that are seen as another dtype. */
static void several_stages(void **state)
{
    static const kn_stage_text stages[] = {
        {.kind = KN_MAP, .label = "load", .reads = "x", .gives = "v", .body = "v = x; // over=\"results\""},
        {.kind = KN_REDUCE, .label = "sum", .reads = "v", .gives = "s", .body = "a + b", .identity = "0"},
        {.kind = KN_MAP, .over = KN_OVER_RESULTS, .label = "store", .reads = "s, y", .body = "z = s + y"}};
    const kn_program_text text = {.name = "k",
                                  .in = "float32 x, float32 y",
                                  .out = "T z",
                                  .values = "float32 v, float64 s",
                                  .stage = stages,
                                  .n_stages = 3,
                                  .reduced = 2,
                                  .casts = true};
    kn_program *p = NULL;
    (void)state;
    assert_int_equal(kn_program_create(&p, &text), KILN_OK);
    kn_spec s = spec_of(p);
    s.operand[0].dtype = KILN_FLOAT16;
    char *line = line_of(&s);
    assert_string_equal(
        strstr(line, " in="),
        " in=\"float32 x, float32 y\" out=\"T z\" values=\"float32 v, float64 s\" reduced=\"2\" casts=\"1\""
        " stage=\"map\" label=\"load\" reads=\"x\" gives=\"v\" body=\"v = x; // over=\\\"results\\\"\""
        " stage=\"reduce\" label=\"sum\" reads=\"v\" gives=\"s\" body=\"a + b\" identity=\"0\""
        " stage=\"map\" label=\"store\" over=\"results\" reads=\"s, y\" body=\"z = s + y\""
        " operands=\"array:float16>float32 array:float32 array:float32\""
        " schedule=\"flat\" vector=\"4\" block=\"256\"");
    kn_free(line);
    assert_round_trip(&s);
    kn_program_free(p);
}

static void assert_same_texts(const char *const *a, const char *const *b, int n)
{
    for (int k = 0; k < n; ++k)
        assert_string_equal(a[k], b[k]);
}

/* Raw modules have the same form. */
static void modules_round_trip(void **state)
{
    static const char *const options[] = {"-DA=\"1\"", "-std=c++17"}, *const names[] = {"a.h"},
                             *const texts[] = {"#define B\n"}, *const expressions[] = {"f<int>", "&table"};
    kn_module_spec m = {.name = "mine", .source = "__global__ void f() {}\r\n\t\"", .flags = 3};
    (void)state;
    for (int full = 0; full < 2; ++full) {
        kn_parsed_spec parsed;
        kn_str line = KN_STR_INIT, again = KN_STR_INIT;
        assert_int_equal(kn_target_parse(&m.target, "sm_90"), KILN_OK);
        kn_module_spec_format(&line, &m);
        assert_null(strchr(kn_str_text(&line), '\n'));
        assert_int_equal(kn_spec_parse(&parsed, kn_str_text(&line)), KILN_OK);
        assert_int_equal(parsed.kind, KN_SPEC_MODULE);
        assert_string_equal(parsed.module.source, m.source);
        assert_string_equal(parsed.module.name, m.name);
        assert_true((parsed.module.generator != NULL) == (full == 1));
        assert_int_equal(parsed.module.flags, m.flags);
        assert_int_equal(parsed.module.has_folders, m.has_folders);
        assert_true(kn_target_equal(&parsed.module.target, &m.target));
        assert_int_equal(parsed.module.n_options, m.n_options);
        assert_int_equal(parsed.module.n_headers, m.n_headers);
        assert_int_equal(parsed.module.n_expressions, m.n_expressions);
        assert_same_texts(parsed.module.option, m.option, m.n_options);
        assert_same_texts(parsed.module.header_name, m.header_name, m.n_headers);
        assert_same_texts(parsed.module.header_text, m.header_text, m.n_headers);
        assert_same_texts(parsed.module.expression, m.expression, m.n_expressions);
        kn_module_spec_format(&again, &parsed.module);
        assert_string_equal(kn_str_text(&line), kn_str_text(&again));
        kn_parsed_spec_free(&parsed);
        kn_str_free(&line);
        kn_str_free(&again);
        m = (kn_module_spec){.name = "mine",
                             .source = "",
                             .generator = "1-test",
                             .option = options,
                             .n_options = 2,
                             .header_name = names,
                             .header_text = texts,
                             .n_headers = 1,
                             .expression = expressions,
                             .n_expressions = 2,
                             .has_folders = true};
    }
}

/* Whatever tells two binaries apart tells their lines apart. */
static void differences_show(void **state)
{
    kn_program *p = program("T x", "T z", "z = x", NULL), *other_body = program("T x", "T z", "z = x ", NULL),
               *other_in = program("U x", "U z", "z = x", NULL);
    kn_spec s[8];
    char *line[8];
    (void)state;
    for (int k = 0; k < 8; ++k)
        s[k] = spec_of(p);
    s[1].program = other_body;
    s[2].program = other_in;
    s[3].operand[0].dtype = KILN_INT32;
    s[4].schedule.vector = 2;
    s[5].generator = "2-test";
    kn_target_parse(&s[6].target, "sm_90a");
    s[7].operand[0].pass = KN_PASS_SCALAR;
    for (int k = 0; k < 8; ++k)
        line[k] = line_of(&s[k]);
    for (int a = 0; a < 8; ++a)
        for (int b = 0; b < a; ++b)
            assert_string_not_equal(line[a], line[b]);
    for (int k = 0; k < 8; ++k)
        kn_free(line[k]);
    kn_program_free(p);
    kn_program_free(other_body);
    kn_program_free(other_in);
}

/* ---- damaged lines ---- */

/* The plain line with `from` replaced. */
static char *damaged(const char *from, const char *to)
{
    kn_program *p = program("T x", "T z", "z = x", NULL);
    kn_spec s = spec_of(p);
    char *line = line_of(&s), *at = strstr(line, from);
    kn_str text = KN_STR_INIT;
    assert_non_null(at);
    kn_str_append_n(&text, line, (size_t)(at - line));
    kn_str_append(&text, to);
    kn_str_append(&text, at + strlen(from));
    kn_free(line);
    kn_program_free(p);
    return kn_str_take(&text, "a line");
}

static void assert_refused(const char *from, const char *to, kiln_status status, const char *words)
{
    kn_parsed_spec parsed;
    char *line = damaged(from, to);
    assert_int_equal(kn_spec_parse(&parsed, line), status);
    if (!strstr(kiln_error_message(), words))
        fail_msg("'%s' is not in: %s", words, kiln_error_message());
    assert_null(parsed.program);
    kn_free(line);
}

static void damage_is_found(void **state)
{
    (void)state;
    assert_refused(KN_SPEC_FORMAT, "kiln/2", KILN_ERROR_FORMAT, KN_SPEC_FORMAT);
    assert_refused(KN_SPEC_FORMAT, "", KILN_ERROR_FORMAT, KN_SPEC_FORMAT);
    assert_refused(" body=\"z = x\"", "", KILN_ERROR_FORMAT, "'body' is missing");
    assert_refused(" generator=\"1-test\"", "", KILN_ERROR_FORMAT, "'generator' is missing");
    assert_refused("body=\"z = x\"", "body=\"z = x", KILN_ERROR_FORMAT, "");
    assert_refused("body=\"z = x\"", "body=\"z \\q x\"", KILN_ERROR_FORMAT, "'body'");
    assert_refused("body=\"z = x\"", "body=\"z \\x4\"", KILN_ERROR_FORMAT, "'body'");
    assert_refused("body=\"z = x\"", "body=\"(\"", KILN_ERROR_SYNTAX, "body");
    assert_refused("body=", "body", KILN_ERROR_FORMAT, "key=\"value\"");
    assert_refused("kind=\"program\"", "kind=\"dance\"", KILN_ERROR_FORMAT, "'dance'");
    assert_refused("kind=\"program\"", "kind=\"module\"", KILN_ERROR_FORMAT, "'source' is missing");
    assert_refused("stage=\"map\"", "stage=\"hop\"", KILN_ERROR_FORMAT, "stage 'hop'");
    assert_refused("body=", "reads=\"y\" body=", KILN_ERROR_INVALID, "'y'");
    assert_refused("body=", "over=\"kept\" body=", KILN_ERROR_FORMAT, "over 'kept'; 'results' was expected");
    assert_refused("out=\"T z\"", "out=\"T z\" reduced=\"65\"", KILN_ERROR_FORMAT, "reduced '65'");
    assert_refused("array:float32 array", "array:float32>floot array", KILN_ERROR_TYPE, "floot");
    assert_refused("schedule=\"flat\"", "schedule=\"round\"", KILN_ERROR_FORMAT, "'round'");
    assert_refused("vector=\"4\"", "vector=\"-4\"", KILN_ERROR_FORMAT, "vector");
    assert_refused("block=\"256\"", "block=\"999999\"", KILN_ERROR_FORMAT, "block");
    assert_refused("array:float32 array:float32", "array:float32", KILN_ERROR_FORMAT, "operands");
    assert_refused("array:float32 array:float32", "array:float32 array:float32 array:int8", KILN_ERROR_FORMAT,
                   "operands");
    assert_refused("array:float32 array", "heap:float32 array", KILN_ERROR_FORMAT, "'heap'");
    assert_refused("array:float32 array", "array:floot array", KILN_ERROR_TYPE, "floot");
    assert_refused("array:float32 array", "raw65:float32 array", KILN_ERROR_FORMAT, "'65'");
    assert_refused("array:float32 array", "raw4x:float32 array", KILN_ERROR_FORMAT, "'4x'");
    assert_refused("array:float32 array", "raw:float32 array", KILN_ERROR_FORMAT, "''");
    assert_refused("array:float32 array", "raw99999999999999999999c:float32 array", KILN_ERROR_FORMAT,
                   "'9999");
    assert_refused("array:float32 array", "struct:4294967297 array", KILN_ERROR_FORMAT, "'4294967297'");
    assert_refused("vector=\"4\"", "vector=\"4.5\"", KILN_ERROR_FORMAT, "'4.5'");
    assert_refused("vector=\"4\"", "vector=\"4\" loop_rank=\"65\"", KILN_ERROR_FORMAT, "loop_rank '65'");
    assert_refused("array:float32 array", "struct:0 array", KILN_ERROR_FORMAT, "struct");
    assert_refused("array:float32 array", "arrayfloat32 array", KILN_ERROR_FORMAT, "arrayfloat32");
    assert_refused("target=\"cuda:sm_90\"", "target=\"sm_90\"", KILN_ERROR_FORMAT, "target");
    assert_refused("target=\"cuda:sm_90\"", "target=\"cuda:sm_1\"", KILN_ERROR_INVALID, "sm_1");
}

static void assert_taken(const char *from, const char *to)
{
    kn_parsed_spec parsed;
    char *line = damaged(from, to);
    if (kn_spec_parse(&parsed, line) != KILN_OK)
        fail_msg("'%s' is refused: %s", to, kiln_error_message());
    kn_parsed_spec_free(&parsed);
    kn_free(line);
}

/* The least and the greatest of each number, and those beside them. */
static void numbers_have_bounds(void **state)
{
    (void)state;
    static const char *const fields[] = {"vector", "block", "rank"};
    for (size_t k = 0; k < sizeof fields / sizeof *fields; ++k) {
        static const struct {
            const char *value;
            bool is_good;
        } rows[] = {{"0", true},   {"1", true},   {"4096", true}, {"4097", false}, {"", false},
                    {"-1", false}, {"4 ", false}, {"0x4", false}, {"+4", false}};
        for (size_t r = 0; r < sizeof rows / sizeof *rows; ++r) {
            char to[80];
            snprintf(to, sizeof to, "schedule=\"flat\" %s=\"%s\"", fields[k], rows[r].value);
            if (rows[r].is_good)
                assert_taken("schedule=\"flat\" vector=\"4\" block=\"256\"", to);
            else
                assert_refused("schedule=\"flat\" vector=\"4\" block=\"256\"", to, KILN_ERROR_FORMAT,
                               fields[k]);
        }
    }
    assert_taken("array:float32 array", "raw0:float32 array");
    assert_taken("array:float32 array", "raw64c:float32 array");
    assert_taken("array:float32 array", "struct:1 array");
    assert_refused("vector=\"4\"", "vector=\"4\" index=\"65\"", KILN_ERROR_FORMAT, "index");
    assert_taken("vector=\"4\"", "vector=\"4\" loop_rank=\"64\"");
    assert_taken("vector=\"4\"", "vector=\"4\" loop_rank=\"0\"");
    assert_taken("out=\"T z\"", "out=\"T z\" reduced=\"64\"");
    assert_taken("vector=\"4\"", "vector=\"4\" access=\"dvgts\"");
    assert_refused("vector=\"4\"", "vector=\"4\" access=\"dx\"", KILN_ERROR_FORMAT, "access");
}

/* No prefix of a line is a line. */
static void cut_lines_are_refused(void **state)
{
    char *line = damaged("z = x", "z = x + \\\"a\\\"");
    kn_parsed_spec parsed;
    (void)state;
    char *schedule = strstr(line, " schedule=");
    assert_non_null(schedule);
    for (char *end = schedule + strlen(" schedule=\"flat"); end-- > line;) {
        *end = '\0';
        assert_int_not_equal(kn_spec_parse(&parsed, line), KILN_OK);
    }
    kn_free(line);
}

static void nth_allocation_fails(void **state)
{
    char *line = damaged("z = x", "z = x * 2");
    kn_parsed_spec parsed;
    (void)state;
    EACH_ALLOCATION_IS_NEEDED(kn_spec_parse(&parsed, line), kn_parsed_spec_free(&parsed));
    kn_free(line);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_line),
        cmocka_unit_test(awkward_texts),
        cmocka_unit_test(rounding_matters_to_halves_alone),
        cmocka_unit_test(only_some_texts_are_contracted),
        cmocka_unit_test(everything_at_once),
        cmocka_unit_test(every_schedule),
        cmocka_unit_test(every_number_of_a_kind),
        cmocka_unit_test(small_numbers),
        cmocka_unit_test(several_stages),
        cmocka_unit_test(modules_round_trip),
        cmocka_unit_test(differences_show),
        cmocka_unit_test(damage_is_found),
        cmocka_unit_test(cut_lines_are_refused),
        cmocka_unit_test(numbers_have_bounds),
        cmocka_unit_test(nth_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
