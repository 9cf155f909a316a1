/* Every program, dtype and schedule below, generated and compiled. `compile_specs cuda` goes through NVRTC
 * for each architecture, without a device; `compile_specs host` through the C++ compiler. Each specialisation
 * is compiled for one architecture, in turn, and each architecture meets each dtype; KILN_TEST_ALL=1 compiles
 * the whole product. */
#include "codegen/codegen.h"
#include "compile/compile.h"
#include "types/dtype.h"

#include "base/error.h"
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *const architectures[] = {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_120"};
#define COUNT(table) (sizeof(table) / sizeof *(table))

enum {
    INTEGERS = 1,
    FLOATS = 2,
    COMPLEX = 4,
    BOOLEANS = 8,
    ORDERED = INTEGERS | FLOATS | BOOLEANS,
    ALL = ORDERED | COMPLEX
};

/* Each exercises something of its own in the templates. */
static const struct {
    const char *name, *in, *out, *body;
    int kinds; /* that T may be */
} programs[] = {
    {"sum", "T x, T y", "T z", "z = x + y", ALL},
    {"scaled", "T x, T y, T s", "T z, bool hit", "if (x == y) continue;\nz = x * s; hit = x == y;", ALL},
    {"widened", "T x, uint8 y", "float64 z", "z = y ? (double)x : 0.0", ORDERED},
    {"narrowed", "float64 x, T y", "uint8 z", "z = x < (double)y", ORDERED},
    {"bits", "T x, T y", "T z", "z = (x & y) | (x ^ T(1)) + (y << 1)", INTEGERS},
    {"math", "T x, T y", "T z", "z = exp(x) * sqrt(y) + sin(x) / cos(y) - pow(x, y)", FLOATS},
    {"placed", "raw T x, int64 k", "T z, int64 at", "z = x[n - 1 - i]; at = i + k;", ALL},
    {"indexed", "T x", "T z, int64 row", "z = x; row = _ind.get()[0];", ALL},
};

typedef struct schedule_case {
    kn_schedule schedule;
    bool is_host;
} schedule_case;

static const schedule_case schedules[] = {
    {{KN_FLAT, 1, 256, 0}, false},     {{KN_FLAT, 2, 256, 0}, false},    {{KN_FLAT, 4, 128, 0}, false},
    {{KN_FLAT, 8, 256, 0}, false},     {{KN_FLAT, 16, 256, 0}, false},   {{KN_STRIDED, 1, 256, 4}, false},
    {{KN_STRIDED, 1, 256, 64}, false}, {{KN_STRIDED, 4, 256, 4}, false}, {{KN_STRIDED, 8, 256, 8}, false},
    {{KN_FLAT, 0, 0, 0}, true},        {{KN_STRIDED, 0, 0, 4}, true},    {{KN_STRIDED, 0, 0, 64}, true},
};

static int kind_of(kiln_dtype dtype)
{
    static const int kinds[] = {[KN_KIND_BOOL] = BOOLEANS,
                                [KN_KIND_INT] = INTEGERS,
                                [KN_KIND_UINT] = INTEGERS,
                                [KN_KIND_FLOAT] = FLOATS,
                                [KN_KIND_COMPLEX] = COMPLEX};
    return kinds[kn_dtype_info_of(dtype)->kind];
}

/* Arrays of T and of uint8, float64 take part in the broadcast; `k` and `s` go by value. */
static kn_operand bind(const kn_param *param, kiln_dtype dtype)
{
    kn_operand operand = {KN_PASS_ARRAY, param->type == KN_TYPE_PLACEHOLDER ? dtype : param->dtype, 0, 0,
                          false};
    if (param->is_raw) {
        operand.pass = KN_PASS_RAW;
        operand.raw_rank = 4;
        operand.raw_contiguous = dtype % 2 == 0;
    } else if (strcmp(param->name, "k") == 0 || strcmp(param->name, "s") == 0) {
        operand.pass = KN_PASS_SCALAR;
    }
    return operand;
}

static int failures;

static void report(const kn_spec *spec, kiln_dtype dtype, const char *message, const char *log,
                   const char *source)
{
    const kn_schedule *schedule = &spec->schedule;
    fprintf(stderr, "%s of %s, %s, vector %d, rank %d, for %s: %s\n", spec->program->name,
            kiln_dtype_name(dtype), kn_schedule_name(schedule->kind), schedule->vector, schedule->rank,
            spec->target.architecture, message);
    if (failures++ == 0 ||
        kn_os_env("KILN_TEST_VERBOSE")) /* one is mostly enough to see what is wrong with all */
        fprintf(stderr, "%s\n%s\n", log, source);
}

static void compile_source(const kn_spec *spec, kiln_dtype dtype, const char *source)
{
    char entry[KN_NAME_MAX + 8];
    kn_codegen_entry(entry, sizeof entry, spec->program);
    kn_compile_request request = {
        .target = spec->target, .source = source, .name = spec->program->name, .flags = spec->program->flags};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    if (kn_compile(&result, &request) != KILN_OK)
        report(spec, dtype, kiln_error_message(), kiln_error_log(), source);
    else if (result.log.length > 0)
        report(spec, dtype, "compiles with warnings", result.log.data, source);
    else if (!memmem(result.code.data, result.code.size, entry, strlen(entry)))
        report(spec, dtype, "the entry is not in the code", entry, source);
    kn_compile_result_free(&result);
}

static void compile_one(const kn_program *program, kiln_dtype dtype, const kn_schedule *schedule,
                        const kn_target *target)
{
    kn_spec spec;
    memset(&spec, 0, sizeof spec);
    spec.program = program;
    spec.schedule = *schedule;
    spec.target = *target;
    spec.generator = kn_codegen_generator();
    for (int k = 0; k < program->n_in + program->n_out; k++)
        spec.operand[k] = bind(&program->param[k], dtype);
    kn_str source = KN_STR_INIT;
    if (kn_codegen_source(&source, &spec) != KILN_OK)
        report(&spec, dtype, kiln_error_message(), "no source", "");
    else
        compile_source(&spec, dtype, source.data);
    kn_str_free(&source);
}

/* Whether this combination is a binary that the schedule could choose. */
static bool is_sensible(const schedule_case *c, kiln_dtype dtype, const kn_program *program, bool is_host)
{
    int widest = (int)kiln_dtype_size(dtype);
    for (int k = program->n_in; k < program->n_in + program->n_out; k++)
        if (program->param[k].type == KN_TYPE_DTYPE && (int)kiln_dtype_size(program->param[k].dtype) > widest)
            widest = (int)kiln_dtype_size(program->param[k].dtype);
    return c->is_host == is_host && (c->schedule.vector <= 1 || c->schedule.vector * widest <= 16);
}

/* Compiles what `turn` picks of the product; -1: all of it. Returns how many were compiled. */
static int compile_all(const kn_target *target, int turn, int turns)
{
    int seen = 0, compiled = 0;
    for (size_t p = 0; p < COUNT(programs); p++) {
        kn_program *program = NULL;
        if (kn_program_elementwise(&program, programs[p].in, programs[p].out, programs[p].body,
                                   programs[p].name, NULL) != KILN_OK)
            fail_msg("%s", kiln_error_message());
        for (kiln_dtype dtype = KILN_BOOL; dtype <= KILN_COMPLEX128; dtype++)
            for (size_t s = 0; s < COUNT(schedules); s++) {
                if (!(kind_of(dtype) & programs[p].kinds) ||
                    !is_sensible(&schedules[s], dtype, program, target->backend == KN_HOST))
                    continue;
                if (turn < 0 || seen++ % turns == turn) {
                    compile_one(program, dtype, &schedules[s].schedule, target);
                    compiled++;
                }
            }
        kn_program_free(program);
    }
    return compiled;
}

static void cuda_specialisations(void **state)
{
    (void)state;
    if (!kn_compile_identity(KN_CUDA)[0]) {
        print_message("NVRTC is absent, nothing was compiled: %s\n", kn_compile_location(KN_CUDA));
        skip();
    }
    double start = kn_os_now_ms();
    int n = 0, turns = COUNT(architectures);
    for (int a = 0; a < turns; a++) {
        kn_target target;
        assert_int_equal(kn_target_parse(&target, architectures[a]), KILN_OK);
        n += compile_all(&target, kn_os_env("KILN_TEST_ALL") ? -1 : a, turns);
    }
    print_message("%d cubins in %.1f s\n", n, (kn_os_now_ms() - start) / 1e3);
    assert_int_equal(failures, 0);
    assert_true(n > 400);
}

static void host_specialisations(void **state)
{
    (void)state;
    double start = kn_os_now_ms();
    kn_target target;
    kn_target_host(&target);
    int n = compile_all(&target, -1, 1);
    print_message("%d shared objects in %.1f s\n", n, (kn_os_now_ms() - start) / 1e3);
    assert_int_equal(failures, 0);
    assert_true(n > 200);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest cuda[] = {cmocka_unit_test(cuda_specialisations)};
    const struct CMUnitTest host[] = {cmocka_unit_test(host_specialisations)};
    if (argc == 2 && strcmp(argv[1], "cuda") == 0)
        return cmocka_run_group_tests(cuda, NULL, NULL);
    if (argc == 2 && strcmp(argv[1], "host") == 0)
        return cmocka_run_group_tests(host, NULL, NULL);
    fprintf(stderr, "usage: compile_specs cuda|host\n");
    return 2;
}
