/* Every program, dtype and layout below, generated and compiled. `compile_specs cuda` goes through NVRTC
 * for each architecture, without a device; `compile_specs host` through the C++ compiler; `compile_specs
 * sources` writes what the first compiles, and no more. A part of the
 * product is compiled, in which every program, dtype, layout and architecture meets many of the others;
 * windows of each kind for every architecture, as their code is made by it; without KILN_SOAK=1 a third.
 * KILN_TEST_ALL=1 compiles all of it. */
#include "codegen/codegen.h"
#include "compile/compile.h"
#include "schedules/choose.h"
#include "schedule/layout.h"
#include "program/program.h"
#include "space/shape.h"
#include "schedules/spec_text.h"
#include "schedules/kinds.h"
#include "types/dtype.h"

#include "base/error.h"
#include "base/map.h"
#include "base/os.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
    {"bits", "T x, T y", "T z", "z = (x & y) | ((x ^ T(1)) + (y << 1))", INTEGERS},
    {"math", "T x, T y", "T z", "z = exp(x) * sqrt(y) - floor(x)", FLOATS},
    {"placed", "raw T x, int64 k", "T z, int64 at", "z = x[n - 1 - i]; at = i + k;", ALL},
    {"named", "T size, T axis, T first", "T at, T rank, uint8 start",
     "at = size + axis; rank = first; start = size == axis;", ALL},
    {"indexed", "T x", "T z, int64 row", "z = x; row = _ind.get()[0];", ALL},
    {"points", "T a, T b, T c, T d", "T z", "z = a + b - c + d", ALL},
    {"looked_up", "uint8 x", "T z", "z = (T)x / (T)3", INTEGERS | FLOATS | COMPLEX},
    {"pair", "T x, T y, T c", "T u, T v", "u = x * c; v = y + c", ALL},
};

/* Layouts of the arrays of a call; the schedules are those that the library chooses for them. */
enum {
    CONTIGUOUS,
    MISALIGNED,  /* inputs begin one element later */
    ROW,         /* the last input is one row, broadcast */
    COLUMN,      /* the last input is one column, broadcast */
    STEPPED,     /* inputs by every second element */
    TRANSPOSED,  /* the first input runs along the first axis */
    ODD_TURNED,  /* the same, of odd extents */
    REVERSED,    /* the first input backwards along the last axis */
    OUT_STEPPED, /* results into every second element */
    MANY_AXES,   /* nine that do not merge */
    APART,       /* inputs have three channels innermost, results are planar */
    APART_ODD,   /* the same, channels of odd lengths */
    TOGETHER,    /* the other way round */
    WOVEN,       /* arrays of two elements each: inputs and results fill one with their neighbours */
    SHIFTED,     /* inputs that are one array at offsets of rows and elements */
    SHIFTED_ODD, /* the same, rows of no whole vectors */
    LAYOUTS
};
static const char *const layout_names[LAYOUTS] = {
    "contiguous",  "misaligned", "row",   "column",    "stepped",  "transposed", "odd turned", "reversed",
    "out stepped", "many axes",  "apart", "apart odd", "together", "woven",      "shifted",    "shifted odd"};
static const int64_t cube[] = {96, 64, 128}, odd[] = {97, 65, 129}, many[] = {2, 2, 2, 2, 2, 2, 2, 2, 4},
                     narrow[] = {3, 4096}, odd_narrow[] = {3, 4097}, interleaved[] = {4096, 3},
                     odd_rows[] = {8, 9, 1407};

static const int64_t *shape_of(int layout, int *ndim)
{
    *ndim = layout == MANY_AXES                     ? (int)COUNT(many)
            : layout >= APART && layout <= TOGETHER ? 2
                                                    : (int)COUNT(cube);
    return layout == MANY_AXES     ? many
           : layout == ODD_TURNED  ? odd
           : layout == APART       ? narrow
           : layout == APART_ODD   ? odd_narrow
           : layout == TOGETHER    ? interleaved
           : layout == SHIFTED_ODD ? odd_rows
                                   : cube;
}

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
    kn_operand operand = {.pass = KN_PASS_ARRAY,
                          .dtype = param->type == KN_TYPE_PLACEHOLDER ? dtype : param->dtype};
    if (param->is_raw) {
        operand.pass = KN_PASS_RAW;
        operand.raw_rank = 4;
        operand.raw_contiguous = dtype % 2 == 0;
    } else if (strcmp(param->name, "k") == 0 || strcmp(param->name, "s") == 0) {
        operand.pass = KN_PASS_SCALAR;
    }
    return operand;
}

/* Counts of compiled kinds. joined: interleaved and stencil; unaligned: stencils over rows of partial
 * vectors. */
static int failures, windows, narrow_ones, joined, unaligned;

static void report(const kn_spec *spec, kiln_dtype dtype, int layout, const char *message, const char *log,
                   const char *source)
{
    const kn_schedule *schedule = &spec->schedule;
    fprintf(stderr, "%s of %s, %s: %s, vector %d, rank %d, access \"%s\", for %s: %s\n", spec->program->name,
            kiln_dtype_name(dtype), layout_names[layout], schedule->kind->name, schedule->vector,
            schedule->rank, schedule->access, spec->target.architecture, message);
    if (failures++ == 0 ||
        kn_os_env("KILN_TEST_VERBOSE")) /* one is mostly enough to see what is wrong with all */
        fprintf(stderr, "%s\n%s\n", log, source);
}

/* ---- from a layout to a specialisation ---- */

typedef struct view_list {
    kn_view view[KN_MAX_PARAMS];
    kn_access access[KN_MAX_PARAMS];
    kiln_dtype dtype[KN_MAX_PARAMS];
    int64_t shape[KN_MAX_PARAMS][KILN_MAX_NDIM], strides[KN_MAX_PARAMS][KILN_MAX_NDIM];
    int count;
} view_list;

/* Changes one array as the layout says; `which` is its number among the inputs, -1 for a result. */
static void bend(view_list *v, int layout, int which, bool is_last_input, int64_t item)
{
    int o = v->count, last = v->view[o].ndim - 1;
    int64_t *shape = v->shape[o], *strides = v->strides[o];
    bool is_input = which >= 0;
    if (layout == MISALIGNED && is_input)
        v->access[o].address += (uintptr_t)item;
    else if ((layout == STEPPED && is_input) || (layout == OUT_STEPPED && !is_input) ||
             (layout == MANY_AXES && which == 0))
        for (int a = 0; a <= last; a++)
            strides[a] *= 2 + (layout == MANY_AXES ? a % 2 : 0);
    else if (((layout == TRANSPOSED || layout == ODD_TURNED) && which == 0) ||
             (layout >= APART && layout <= TOGETHER && is_input))
        kn_shape_f_strides(last + 1, shape, item, strides);
    else if (layout == WOVEN)
        for (int a = 0; a <= last; a++)
            strides[a] *= 2;
    else if (layout >= SHIFTED && is_input)
        for (int a = last - 1; a >= 0; a--)
            strides[a] = (shape[a + 1] + 2) * strides[a + 1];
    else if (layout == REVERSED && which == 0)
        strides[last] = -strides[last];
    else if ((layout == ROW || layout == COLUMN) && is_input && is_last_input)
        for (int a = 0; a <= last; a++)
            if ((a == last) == (layout == COLUMN))
                shape[a] = 1;
}

static void add_view(view_list *v, int layout, int which, bool is_last_input, kiln_dtype dtype)
{
    int o = v->count, ndim;
    int64_t item = (int64_t)kiln_dtype_size(dtype);
    const int64_t *shape = shape_of(layout, &ndim);
    memcpy(v->shape[o], shape, (size_t)ndim * sizeof *shape);
    kn_shape_c_strides(ndim, v->shape[o], item, v->strides[o]);
    v->view[o] = (kn_view){v->shape[o], v->strides[o], ndim, which < 0};
    v->access[o] = (kn_access){(int)item, 4096, which < 0};
    v->dtype[o] = dtype;
    bend(v, layout, which, is_last_input, item);
    v->count++;
}

static int last_array_input(const kn_spec *spec)
{
    int last = -1;
    for (int k = 0; k < spec->program->n_in; k++)
        last = spec->operand[k].pass == KN_PASS_ARRAY ? k : last;
    return last;
}

/* From the operand before it: of one dtype, as views of one array are. */
static int64_t distance(const view_list *v, int layout, int o)
{
    int64_t item = v->access[o].item_size, row = v->strides[o][v->view[o].ndim - 2];
    if (v->access[o].is_output != v->access[o - 1].is_output || v->dtype[o] != v->dtype[o - 1])
        return 0;
    return layout == WOVEN ? item : layout < SHIFTED ? 0 : o % 2 ? row : item - row * (o / 2);
}

static void choose_schedule(kn_spec *spec, int layout)
{
    static view_list v; /* large */
    static kn_space space;
    kn_launch_params params;
    const kn_program *p = spec->program;
    int which = 0, last = last_array_input(spec), ndim;
    const int64_t *extents = shape_of(layout, &ndim);
    v.count = 0;
    for (int k = 0; k < p->n_in + p->n_out; k++)
        if (spec->operand[k].pass == KN_PASS_ARRAY)
            add_view(&v, layout, k < p->n_in ? which++ : -1, k == last, spec->operand[k].dtype);
    kn_space_make(&space, ndim, extents, 0, v.view, v.count, (p->uses & KN_USES_INDEX) != 0);
    for (int o = 0; o < v.count; o++)
        v.access[o].address += (uintptr_t)space.offset[o];
    for (int o = 1; o < v.count; o++)
        space.after[o] = distance(&v, layout, o);
    kn_schedule_choose(&spec->schedule, &params, layout == SHIFTED_ODD ? p : NULL, &space, v.access, v.count,
                       &spec->target, 0);
}

static void make_spec(kn_spec *spec, const kn_program *program, kiln_dtype dtype, int layout,
                      const kn_target *target)
{
    memset(spec, 0, sizeof *spec);
    spec->program = program;
    spec->target = *target;
    spec->generator = kn_codegen_generator();
    for (int k = 0; k < program->n_in + program->n_out; k++)
        spec->operand[k] = bind(&program->param[k], dtype);
    spec->n_arrays = kn_operands_settle(spec->operand, program->n_in + program->n_out);
    choose_schedule(spec, layout);
}

/* ---- from a specialisation to code ---- */

static void compile_source(const kn_spec *spec, kiln_dtype dtype, int layout, const char *source)
{
    char entry[KN_NAME_MAX + 8];
    kn_codegen_entry(entry, sizeof entry, spec->program);
    kn_compile_request request = {.target = spec->target,
                                  .source = source,
                                  .name = spec->program->name,
                                  .flags = spec->program->flags,
                                  .is_generated = true};
    kn_compile_result result = KN_COMPILE_RESULT_INIT;
    if (kn_compile(&result, &request) != KILN_OK)
        report(spec, dtype, layout, kiln_error_message(), kiln_error_log(), source);
    else if (result.log.length > 0)
        report(spec, dtype, layout, "compiles with warnings", result.log.data, source);
    else if (!memmem(result.code.data, result.code.size, entry, strlen(entry)))
        report(spec, dtype, layout, "the entry is not in the code", entry, source);
    kn_compile_result_free(&result);
}

static bool only_sources;

static void compile_one(const kn_spec *spec, kiln_dtype dtype, int layout)
{
    kn_str source = KN_STR_INIT;
    if (kn_codegen_source(&source, spec, NULL) != KILN_OK)
        report(spec, dtype, layout, kiln_error_message(), "no source", "");
    else if (!only_sources)
        compile_source(spec, dtype, layout, source.data);
    kn_str_free(&source);
}

/* Several layouts may lead to one specialisation. */
static bool is_new(kn_map *seen, const kn_spec *spec)
{
    static char present;
    kn_str line = KN_STR_INIT;
    kn_spec_format(&line, spec);
    bool is_first = !kn_map_get(seen, line.data, line.length);
    assert_true(kn_map_put(seen, line.data, line.length, &present));
    kn_str_free(&line);
    return is_first;
}

static bool is_soak(void)
{
    return kn_os_env("KILN_SOAK") != NULL;
}

/* Windows for every architecture: of each width, with inputs that are gathered, of two widths and with two
 * results, with the index. */
static bool is_for_all(const kn_spec *spec, kiln_dtype dtype, int turn)
{
    static const struct {
        const char *program;
        kiln_dtype dtype;
    } kinds[] = {{"sum", KILN_UINT8},       {"sum", KILN_FLOAT16},      {"sum", KILN_FLOAT32},
                 {"sum", KILN_FLOAT64},     {"indexed", KILN_UINT8},    {"indexed", KILN_FLOAT16},
                 {"indexed", KILN_FLOAT32}, {"indexed", KILN_FLOAT64},  {"widened", KILN_UINT8},
                 {"widened", KILN_FLOAT16}, {"narrowed", KILN_FLOAT32}, {"scaled", KILN_FLOAT32}};
    for (size_t k = 0; k < COUNT(kinds) && spec->schedule.kind == &kn_kind_windows; k++)
        if (dtype == kinds[k].dtype && strcmp(spec->program->name, kinds[k].program) == 0)
            return is_soak() || (k + (size_t)turn) % 3 == 0;
    return false;
}

/* Compiles what `turn` picks of the product; -1: all of it. Returns how many were compiled. */
static int compile_all(const kn_target *target, int turn, int turns)
{
    int seen = 0, compiled = 0, thinner = is_soak() ? 1 : 5;
    static kn_spec spec;
    for (size_t p = 0; p < COUNT(programs); p++) {
        kn_program *program = NULL;
        kn_map *specs = kn_map_create();
        if (kn_program_elementwise(&program, programs[p].in, programs[p].out, programs[p].body,
                                   programs[p].name, NULL) != KILN_OK)
            fail_msg("%s", kiln_error_message());
        for (kiln_dtype dtype = KILN_BOOL; kiln_dtype_size(dtype) > 0; dtype++)
            for (int layout = 0; layout < LAYOUTS; layout++) {
                if (!(kind_of(dtype) & programs[p].kinds))
                    continue;
                make_spec(&spec, program, dtype, layout, target);
                bool for_all = turn < 0 || is_for_all(&spec, dtype, turn);
                if (!for_all && (layout + dtype + (int)p) % ((p == 0 ? 4 : 8) * thinner) != 0)
                    continue; /* the first program meets a quarter of the dtypes and layouts, the others an
                                 eighth each; without KILN_SOAK=1 a fifth of that */
                if (is_new(specs, &spec) && (for_all || seen++ % turns == turn)) {
                    compile_one(&spec, dtype, layout);
                    compiled++;
                    windows += spec.schedule.kind == &kn_kind_windows;
                    narrow_ones += spec.schedule.kind == &kn_kind_channels;
                    joined +=
                        spec.schedule.kind == &kn_kind_interleaved || spec.schedule.kind == &kn_kind_stencil;
                    unaligned += spec.schedule.kind == &kn_kind_stencil && layout == SHIFTED_ODD;
                }
            }
        kn_map_free(specs, NULL);
        kn_program_free(program);
    }
    return compiled;
}

static void for_each_architecture(const char *what)
{
    double start = kn_os_now_ms();
    int n = 0, turns = COUNT(architectures);
    for (int a = 0; a < turns; a++) {
        kn_target target;
        assert_int_equal(kn_target_parse(&target, architectures[a]), KILN_OK);
        n += compile_all(&target, kn_os_env("KILN_TEST_ALL") ? -1 : a, turns);
    }
    print_message("%d %s, %d of narrow axes, %d woven or shifted, %d of skewed rows, in %.1f s\n", n, what,
                  narrow_ones, joined, unaligned, (kn_os_now_ms() - start) / 1e3);
    assert_int_equal(failures, 0);
    assert_true(n > (is_soak() ? 200 : 40));
    assert_true(windows >= (is_soak() ? 12 : 4) * turns);
    assert_true(narrow_ones >= (is_soak() ? 40 : 3) && joined >= (is_soak() ? 8 : 1) &&
                unaligned >= (is_soak() ? 4 : 1));
}

static void cuda_specialisations(void **state)
{
    (void)state;
    if (!kn_compile_identity(KN_CUDA)[0]) {
        print_message("NVRTC is absent, nothing was compiled: %s\n", kn_compile_location(KN_CUDA));
        skip();
    }
    for_each_architecture("cubins");
}

static void cuda_sources(void **state)
{
    (void)state;
    only_sources = true;
    for_each_architecture("sources");
}

static void host_specialisations(void **state)
{
    (void)state;
    double start = kn_os_now_ms();
    kn_target target;
    kn_target_host(&target);
    int n = compile_all(&target, kn_os_env("KILN_TEST_ALL") ? -1 : 0, 1);
    print_message("%d shared objects in %.1f s\n", n, (kn_os_now_ms() - start) / 1e3);
    assert_int_equal(failures, 0);
    assert_true(n > (is_soak() ? 50 : 10));
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    const struct CMUnitTest cuda[] = {cmocka_unit_test(cuda_specialisations)};
    const struct CMUnitTest sources[] = {cmocka_unit_test(cuda_sources)};
    const struct CMUnitTest host[] = {cmocka_unit_test(host_specialisations)};
    if (argc == 2 && strcmp(argv[1], "cuda") == 0)
        return cmocka_run_group_tests(cuda, NULL, NULL);
    if (argc == 2 && strcmp(argv[1], "sources") == 0)
        return cmocka_run_group_tests(sources, NULL, NULL);
    if (argc == 2 && strcmp(argv[1], "host") == 0)
        return cmocka_run_group_tests(host, NULL, NULL);
    fprintf(stderr, "usage: compile_specs cuda|host|sources\n");
    return 2;
}
