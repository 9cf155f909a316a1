/* Every documented error of definitions and calls, with the words that its message has to have. */
#include "cases.h"

#include <stdio.h>
#include <string.h>

/* ---- definitions ---- */

static void refuse_definition(const char *in, const char *out, const char *body, const char *name,
                              const char *preamble, kiln_status status, const char *words)
{
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = preamble;
    refused(kiln_elementwise_create(&kernel, in, out, body, name, &options), status, words);
    trouble_unless(!kernel, "a kernel was made of '%s', '%s', '%s'", in ? in : "NULL", out ? out : "NULL",
                   body ? body : "NULL");
    kiln_kernel_free(kernel);
}

static void signatures(void)
{
    static const struct {
        const char *in;
        kiln_status status;
        const char *words;
    } bad[] = {
        {"flaot32 x", KILN_ERROR_SYNTAX, "k: |input signature|unknown type 'flaot32'|\n  flaot32 x\n  ^"},
        {"float32", KILN_ERROR_SYNTAX, "expected the parameter's name|^"},
        {"float32 x y", KILN_ERROR_SYNTAX, "expected ','|'y'|^"},
        {"float32 x,", KILN_ERROR_SYNTAX, "expected a type|^"},
        {", float32 x", KILN_ERROR_SYNTAX, "expected a type|^"},
        {"float32 2x", KILN_ERROR_SYNTAX, "expected the parameter's name|^"},
        {"raw raw float32 x", KILN_ERROR_SYNTAX, "'raw' stands twice|^"},
        {"float32 *x", KILN_ERROR_SYNTAX, "expected the parameter's name|'*'|^"},
        {"float32 i", KILN_ERROR_INVALID, "'i' is reserved|index|^"},
        {"float32 __x", KILN_ERROR_INVALID, "'__x' is reserved|^"},
        {"float32 _X", KILN_ERROR_INVALID, "'_X' is reserved|^"},
        {"float32 _ind", KILN_ERROR_INVALID, "'_ind' is reserved|^"},
        {"float32 kn_x", KILN_ERROR_INVALID, "'kn_x' is reserved|^"},
        {"float32 kn", KILN_ERROR_INVALID, "'kn' is reserved|^"},
        {"float32 while", KILN_ERROR_INVALID, "'while' is reserved|C++|^"},
        {"float32 int8", KILN_ERROR_INVALID, "'int8' is reserved|dtype|^"},
        {"float32 x, float32 x", KILN_ERROR_INVALID, "'x' is the name of two parameters|^"},
        {"float32 z", KILN_ERROR_INVALID, "'z' is the name of two parameters|output signature"},
        {"T x, float32 T", KILN_ERROR_INVALID, "'T'|type|'x'|parameter's name"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k)
        refuse_definition(bad[k].in, "float32 z", "z = 1", "k", NULL, bad[k].status, bad[k].words);
}

static void too_many_parameters(void)
{
    char text[1200] = "";
    for (int k = 0; k < 64; ++k)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sfloat32 x%d", k ? ", " : "", k);
    refuse_definition(text, "float32 z", "z = x0", "k", NULL, KILN_ERROR_INVALID, "64");
}

static void bodies(void)
{
    static const struct {
        const char *body, *words;
    } bad[] = {{"z = (x", "body|^"},
               {"z = x)", "body|^"},
               {"if (x > 0) { z = x;", "body|^"},
               {"z = x;\nz = (x];", "body|line 2|^"},
               {"z = x[0", "body|^"},
               {"const char *s = \"x;", "body|^"},
               {"z = x; /* open", "body|^"}};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; ++k)
        refuse_definition("float32 x", "float32 z", bad[k].body, "k", NULL, KILN_ERROR_SYNTAX, bad[k].words);
    refuse_definition("float32 x", "float32 z", "z = x", "k", "struct open {", KILN_ERROR_SYNTAX,
                      "preamble|^");
}

static void arguments_of_definitions(void)
{
    kiln_kernel *kernel = NULL;
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    refuse_definition(NULL, "float32 z", "z = 1", "k", NULL, KILN_ERROR_INVALID, "in_params is NULL");
    refuse_definition("", NULL, "z = 1", "k", NULL, KILN_ERROR_INVALID, "out_params is NULL");
    refuse_definition("", "float32 z", NULL, "k", NULL, KILN_ERROR_INVALID, "body is NULL");
    refuse_definition("float32 x", "", "", "k", NULL, KILN_ERROR_INVALID, "output|at least one");
    refuse_definition("", "float32 z", "z = 1", "two words", NULL, KILN_ERROR_INVALID,
                      "name|'two words'|identifier");
    refuse_definition("", "float32 z", "z = 1", "", NULL, KILN_ERROR_INVALID, "name|identifier");
    refuse_definition("", "float32 z", "z = 1", "9k", NULL, KILN_ERROR_INVALID, "name|'9k'|identifier");
    refuse_definition("", "pair z", "z = 1", "k", "struct pair { int a; };", KILN_ERROR_TYPE,
                      "output 'z' is a struct|pair");
    options.flags = 1u << 20;
    refused(kiln_elementwise_create(&kernel, "", "float32 z", "z = 1", "k", &options), KILN_ERROR_INVALID,
            "flags|0x100000");
    refused(kiln_elementwise_create(NULL, "", "float32 z", "z = 1", "k", NULL), KILN_ERROR_INVALID, "out");
}

/* ---- calls ---- */

/* A kernel of two inputs and one output, called with counts of one's choice. */
static void wrong_counts(void)
{
    stage *s = STAGE("float32 x, float32 y", "float32 z", "z = x + y");
    int n_in, n_out;
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "10", "C");
    kiln_arg *in = stage_args(s, &n_in);
    kiln_array **out = stage_outs(s, &n_out);
    kiln_kernel *k = stage_kernel(s);
    refused(kiln_kernel_call(k, out, 1, in, 1, NULL), KILN_ERROR_INVALID, "case_kernel|1 input|2 expected");
    refused(kiln_kernel_call(k, out, 1, in, 0, NULL), KILN_ERROR_INVALID, "case_kernel|0 input|2 expected");
    refused(kiln_kernel_call(k, out, 2, in, 2, NULL), KILN_ERROR_INVALID, "case_kernel|2 output|1 expected");
    refused(kiln_kernel_call(k, NULL, 1, in, 2, NULL), KILN_ERROR_INVALID, "out is NULL");
    refused(kiln_kernel_call(k, out, 1, NULL, 2, NULL), KILN_ERROR_INVALID, "in is NULL");
    refused(kiln_kernel_call(NULL, out, 1, in, 2, NULL), KILN_ERROR_INVALID, "kernel is NULL");
    refused(kiln_kernel_prepare(k, out, 1, in, 1, NULL, NULL), KILN_ERROR_INVALID, "1 input|2 expected");
    stage_free(s);
}

static void refuse_call(const char *in, const char *out, kiln_dtype x, const char *shape_x, kiln_dtype y,
                        const char *shape_y, kiln_dtype z, const char *shape_z, kiln_status status,
                        const char *words)
{
    stage *s = STAGE(in, out, "z = x + y");
    stage_in(s, x, shape_x, "C", FILL_SMALL);
    stage_in(s, y, shape_y, "C", FILL_SMALL);
    if (shape_z)
        stage_out(s, z, shape_z, "C");
    else
        stage_out_fresh(s, z);
    stage_refuse(s, status, words);
    stage_free(s);
}

static void types(void)
{
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "10", KILN_INT32, "10", KILN_FLOAT32, NULL, KILN_ERROR_TYPE,
                "case_kernel|type T|float32|'x'|int32|'y'");
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "10", KILN_FLOAT32, "10", KILN_FLOAT64, "10",
                KILN_ERROR_TYPE, "type T|float32|'x'|float64|'z'");
    refuse_call("float32 x, T y", "T z", KILN_FLOAT64, "10", KILN_INT32, "10", KILN_INT32, NULL,
                KILN_ERROR_TYPE, "'x' is declared float32|float64");
    refuse_call("T x, T y", "U z", KILN_FLOAT32, "10", KILN_FLOAT32, "10", KILN_FLOAT32, NULL,
                KILN_ERROR_TYPE, "output 'z'|type U");
    refuse_call("float32 x, float32 y", "int16 z", KILN_FLOAT32, "10", KILN_FLOAT32, "10", KILN_FLOAT32, "10",
                KILN_ERROR_TYPE, "'z' is declared int16|float32");
}

static void shapes(void)
{
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "3,4", KILN_FLOAT32, "5", KILN_FLOAT32, NULL,
                KILN_ERROR_SHAPE, "'x'|(3, 4)|'y'|(5,)|broadcast");
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "3", KILN_FLOAT32, "0", KILN_FLOAT32, NULL, KILN_ERROR_SHAPE,
                "(3,)|(0,)|broadcast");
}

static void output_shapes(void)
{
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "3,4", KILN_FLOAT32, "4", KILN_FLOAT32, "3,1",
                KILN_ERROR_SHAPE, "output 'z'|(3, 1)|(3, 4)");
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "3,4", KILN_FLOAT32, "4", KILN_FLOAT32, "4",
                KILN_ERROR_SHAPE, "output 'z'|(4,)|(3, 4)");
    refuse_call("T x, T y", "T z", KILN_FLOAT32, "3,4", KILN_FLOAT32, "4", KILN_FLOAT32, "7,4",
                KILN_ERROR_SHAPE, "'z'|(7, 4)|(3, 4)");
}

static void read_only_output(void)
{
    float data[4] = {1, 2, 3, 4};
    const int64_t shape[1] = {4};
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    kiln_array *array = NULL;
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    stage_in(s, KILN_FLOAT32, "4", "C", FILL_SMALL);
    spec.dtype = KILN_FLOAT32;
    spec.ndim = 1;
    spec.shape = shape;
    spec.device = KILN_DEVICE_HOST;
    spec.read_only = true;
    if (succeeded(kiln_array_wrap(&array, data, &spec, NULL, NULL), "kiln_array_wrap")) {
        int n_in;
        kiln_arg *in = stage_args(s, &n_in);
        refused(kiln_kernel_call(stage_kernel(s), &array, 1, in, 1, NULL), KILN_ERROR_INVALID,
                "output 'z' is read-only");
        /* A second view of the same memory may be written: what was remembered of the call must not let the
         * first one through. */
        kiln_array *writable = NULL;
        spec.read_only = false;
        succeeded(kiln_array_wrap(&writable, data, &spec, NULL, NULL), "kiln_array_wrap");
        succeeded(kiln_kernel_call(stage_kernel(s), &writable, 1, in, 1, NULL), "kiln_kernel_call");
        refused(kiln_kernel_call(stage_kernel(s), &array, 1, in, 1, NULL), KILN_ERROR_INVALID,
                "output 'z' is read-only");
        kiln_array_free(writable);
    }
    kiln_array_free(array);
    stage_free(s);
}

static void strange_arguments(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    kiln_array *z = NULL;
    kiln_arg none, bad_dtype = kiln_arg_int(1), structure = kiln_arg_struct(&s, sizeof s);
    memset(&none, 0, sizeof none);
    bad_dtype.kind = KILN_ARG_TYPED;
    bad_dtype.dtype = 99;
    kiln_arg null_array = kiln_arg_array(NULL);
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &none, 1, NULL), KILN_ERROR_INVALID, "'x'|kind 0");
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &null_array, 1, NULL), KILN_ERROR_INVALID, "'x'|NULL");
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &bad_dtype, 1, NULL), KILN_ERROR_TYPE, "'x'|99");
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &structure, 1, NULL), KILN_ERROR_TYPE,
            "'x'|not a struct");
    trouble_unless(!z, "a refused call allocated its output");
    stage_free(s);
}

/* The host takes any block, an architecture of CUDA what it can have. */
static void refuse_blocks(kiln_kernel *kernel, const kiln_arg *in)
{
    static const struct {
        int block;
        const char *words;
    } bad[] = {
        {33, "block: 33|multiple of 32"}, {2048, "block: 2048|up to 1024"}, {1 << 16, "block: 65536|1024"}};
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    kiln_prepare_options elsewhere = KILN_PREPARE_OPTIONS_INIT;
    kiln_array *z = NULL;
    elsewhere.target = "sm_90";
    for (size_t k = 0; k < sizeof bad / sizeof *bad; ++k) {
        options.block = bad[k].block;
        refused(kiln_kernel_prepare(kernel, &z, 1, in, 1, &options, &elsewhere), KILN_ERROR_INVALID,
                bad[k].words);
        if (strcmp(case_target(), "host") != 0)
            refused(kiln_kernel_call(kernel, &z, 1, in, 1, &options), KILN_ERROR_INVALID, bad[k].words);
    }
}

static void call_options(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    kiln_array *z = NULL;
    kiln_arg in = kiln_arg_float(1);
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.block = -32;
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &in, 1, &options), KILN_ERROR_INVALID, "block|-32|0");
    refuse_blocks(stage_kernel(s), &in);
    options.block = 0;
    options.order = (kiln_order)7;
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &in, 1, &options), KILN_ERROR_INVALID, "order|7");
    options.order = KILN_ORDER_C;
    options.flags = 64;
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &in, 1, &options), KILN_ERROR_INVALID, "flags|0x40");
    options.flags = 0;
    options.size = -1;
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &in, 1, &options), KILN_ERROR_INVALID, "size|-1");
    options.size = 0;
    options.struct_size = 0;
    refused(kiln_kernel_call(stage_kernel(s), &z, 1, &in, 1, &options), KILN_ERROR_INVALID, "struct_size");
    trouble_unless(!z, "a refused call allocated its output");
    stage_free(s);
}

/* The user's own line, the compiler's text, and the kernel still unusable the second time. */
static void compile_error(void)
{
    stage *s = STAGE("float32 x", "float32 z", "float32 y = x;\nz = y + undeclared_name;");
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "10", "C");
    for (int turn = 0; turn < 2; ++turn) {
        stage_refuse(s, KILN_ERROR_COMPILE, "case_kernel:2: error|undeclared_name");
        trouble_unless(strstr(kiln_error_log(), "undeclared_name") != NULL,
                       "the log lacks the compiler's text: %s", kiln_error_log());
    }
    stage_free(s);
}

static void error_in_preamble(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "// one\n// two\nint broken = not_there;\n";
    stage *s = stage_create("float32 x", "float32 z", "z = x", &options, case_seed());
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_refuse(s, KILN_ERROR_COMPILE, "case_kernel.preamble:3|not_there");
    stage_free(s);
}

static void const_input(void)
{
    stage *s = STAGE("float32 x", "float32 z", "x = 1; z = x");
    stage_in(s, KILN_FLOAT32, "10", "C", FILL_SMALL);
    stage_out_fresh(s, KILN_FLOAT32);
    stage_refuse(s, KILN_ERROR_COMPILE, "case_kernel:1: error");
    stage_free(s);
}

static void targets(void)
{
    stage *s = STAGE("float32 x", "float32 z", "z = x");
    kiln_arg in = kiln_arg_float(1);
    kiln_array *z = NULL;
    char *text = NULL;
    refused(kiln_kernel_source(&text, stage_kernel(s), &z, 1, &in, 1, NULL, "sm_12"), KILN_ERROR_INVALID,
            "sm_12");
    refused(kiln_kernel_source(&text, stage_kernel(s), &z, 1, &in, 1, NULL, "cuda:99"), KILN_ERROR_NOT_FOUND,
            "");
    refused(kiln_kernel_source(NULL, stage_kernel(s), &z, 1, &in, 1, NULL, "host"), KILN_ERROR_INVALID,
            "out is NULL");
    trouble_unless(!text, "a text came from a refused call");
    stage_free(s);
}

const test_case refusal_cases[] = {
    {"signatures", signatures, 0},
    {"too_many_parameters", too_many_parameters, 0},
    {"bodies", bodies, 0},
    {"arguments_of_definitions", arguments_of_definitions, 0},
    {"wrong_counts", wrong_counts, 0},
    {"types", types, 0},
    {"shapes", shapes, 0},
    {"output_shapes", output_shapes, 0},
    {"read_only_output", read_only_output, CASE_HOST},
    {"strange_arguments", strange_arguments, 0},
    {"call_options", call_options, 0},
    {"compile_error", compile_error, 0},
    {"error_in_preamble", error_in_preamble, 0},
    {"const_input", const_input, 0},
    {"targets", targets, 0},
    {NULL, NULL, 0},
};
