/* Bodies: conditions, continue, return and break, the index and the count, old values, types, preambles. */
#include "cases.h"

#include <string.h>

typedef struct snippet {
    const char *in, *out, *body;
    expectation expect;
} snippet;

/* One input of float32, one output, through contiguous, transposed, stepped and odd layouts. */
static void run_everywhere(const snippet *k, const kiln_kernel_options *options)
{
    static const struct {
        const char *shape, *x, *z;
    } places[] = {{"1003", "C", "C"},  {"9,31", "F", "C"},  {"9,31", "C", "F -0"},
                  {"40,64", "F", "C"}, {"257", "/0", "+1"}, {"5,4,3,2", "P1,3,0,2", "-2"}};
    for (size_t p = 0; p < sizeof places / sizeof places[0]; ++p) {
        stage *s = stage_create(k->in, k->out, k->body, options, case_seed() + p);
        stage_in(s, KILN_FLOAT32, places[p].shape, places[p].x, FILL_SMALL);
        stage_out(s, KILN_FLOAT32, places[p].shape, places[p].z);
        stage_check(s, k->expect, NULL);
        stage_free(s);
    }
}

static void run_body(const char *body, expectation expect)
{
    run_everywhere(&(snippet){"float32 x", "float32 z", body, expect}, NULL);
}

static void positive_only(const element *e)
{
    if (IN(float, 0) > 0)
        OUT(float, 0) = IN(float, 0);
}

static void conditional_store(void)
{
    run_body("if (x > 0) z = x;", positive_only);
}

static void continue_ends_element(void)
{
    run_body("if (!(x > 0)) continue; z = x;", positive_only);
}

static void return_ends_element(void)
{
    run_body("if (!(x > 0)) return; z = x;", positive_only);
}

static void break_ends_element(void)
{
    run_body("if (!(x > 0)) break; z = x;", positive_only);
}

static void inner_loop(const element *e)
{
    float sum = 0;
    for (int k = 0; k < 10 && k <= IN(float, 0); ++k)
        sum += k == 3 ? 0 : (float)k;
    OUT(float, 0) = sum;
}

static void loops_of_its_own(void)
{
    run_body("float sum = 0;\nfor (int k = 0; k < 10; ++k) {\n    if (k > x)\n        break;\n    if (k == "
             "3)\n        continue;\n    sum += k;\n}\nz = sum;",
             inner_loop);
}

static void accumulated(const element *e)
{
    OUT(float, 0) += 2 * IN(float, 0);
}

static void old_value_read(void)
{
    run_body("z += 2 * x", accumulated);
}

static void swapped(const element *e)
{
    if (OUT(float, 0) > IN(float, 0))
        OUT(float, 0) -= 1;
    else
        OUT(float, 0) = IN(float, 0);
}

static void old_value_compared(void)
{
    run_body("if (z > x) z -= 1; else z = x", swapped);
}

/* Nothing would ever be written: refused, with the text. */
static void nothing_assigned(void)
{
    static const struct {
        const char *body, *words;
    } wrong[] = {{"", "output 'z' is never assigned|'z = ...'"},
                 {"// z = x\n/* at all */", "output 'z' is never assigned|does not name it"},
                 {"z == x * 2", "body:1:1|output 'z' is never assigned|'==' compares|'z = ...'|z == x * 2|^"},
                 {"float y = x;\nif (z > y) y += z;", "body:2:5|its value is only read"}};
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; ++k) {
        kiln_kernel *kernel = NULL;
        refused(kiln_elementwise_create(&kernel, "float32 x", "float32 z", wrong[k].body, "k", NULL),
                KILN_ERROR_INVALID, wrong[k].words);
    }
}

static void indexed(const element *e)
{
    OUT(float, 0) = IN(float, 0) + (float)e->i;
}

static void index_of_element(void)
{
    run_body("z = x + i", indexed);
}

static void every_third(const element *e)
{
    if (e->i % 3 == 0)
        OUT(float, 0) = (float)(e->n - e->i);
}

static void index_and_count(void)
{
    run_body("if (i % 3) return; z = n - i", every_third);
}

static void index_alone(void)
{
    static const char *const layouts[] = {"C", "F", "-0", "P1,0 /1"};
    for (size_t l = 0; l < 4; ++l) {
        stage *s = STAGE("float32 x", "float32 z", "z = x + i");
        stage_in(s, KILN_FLOAT32, "1", "C", FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "37,70", layouts[l]);
        stage_check(s, indexed, NULL);
        stage_free(s);
    }
}

static void iota(const element *e)
{
    OUT(int64_t, 0) = e->i * 2 + 1;
}

static void no_inputs(void)
{
    static const char *const layouts[] = {"C", "F", "-*", "P1,0 /1"};
    for (size_t l = 0; l < 4; ++l) {
        stage *s = STAGE("", "int64 z", "z = i * 2 + 1");
        stage_out(s, KILN_INT64, "37,70", layouts[l]);
        stage_check(s, iota, NULL);
        stage_free(s);
    }
}

static void split(const element *e)
{
    float x = IN(float, 0);
    if (x > 0) {
        OUT(float, 0) = x;
        OUT(unsigned char, 2) = 1;
    } else if (x < -3) {
        return;
    } else {
        OUT(int16_t, 1) = (int16_t)x;
    }
    OUT(double, 3) = (double)x / 2;
}

static void several_outputs(void)
{
    static const char *const layouts[] = {"C", "F", "-0", "/1"};
    for (size_t l = 0; l < 4; ++l) {
        stage *s = STAGE("float32 x", "float32 z, int16 rest, bool hit, float64 halved",
                         "if (x > 0) {\n    z = x;\n    hit = true;\n} else if (x < -3) {\n    return;\n} "
                         "else {\n    rest = x;\n}\nhalved = x * 0.5");
        stage_in(s, KILN_FLOAT32, "9,31", layouts[l], FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "9,31", layouts[l]);
        stage_out(s, KILN_INT16, "9,31", "C");
        stage_out(s, KILN_BOOL, "9,31", layouts[(l + 1) % 4]);
        stage_out(s, KILN_FLOAT64, "9,31", "C");
        stage_check(s, split, NULL);
        stage_free(s);
    }
}

static void sums(const element *e)
{
    double sum = 0;
    for (int k = 0; k < 8; ++k)
        sum += in_number(e, k).re * (k + 1);
    for (int j = 0; j < 4; ++j)
        set_out(e, j, sum * (1 << j));
}

static void many_operands(void)
{
    stage *s = STAGE("float32 a, int16 b, float64 c, uint8 d, int64 f, float32 g, int8 h, uint16 j",
                     "float64 p, int32 q, float32 r, int64 t",
                     "float64 v = a + b * 2 + c * 3 + d * 4 + f * 5 + g * 6 + h * 7 + j * 8;\np = v; q = v * "
                     "2; r = v * 4; t = v * 8");
    static const kiln_dtype in[] = {KILN_FLOAT32, KILN_INT16,   KILN_FLOAT64, KILN_UINT8,
                                    KILN_INT64,   KILN_FLOAT32, KILN_INT8,    KILN_UINT16};
    static const kiln_dtype out[] = {KILN_FLOAT64, KILN_INT32, KILN_FLOAT32, KILN_INT64};
    static const char *const layouts[] = {"C", "F", "-0", "/1", "=0", "C", "P1,0 -1", "+3"};
    for (int k = 0; k < 8; ++k)
        stage_in(s, in[k], "19,37", layouts[k], FILL_SMALL);
    for (int j = 0; j < 4; ++j)
        stage_out(s, out[j], "19,37", layouts[j]);
    stage_check(s, sums, NULL);
    stage_free(s);
}

static void typed(const element *e)
{
    set_out(e, 0, (double)kiln_dtype_size(e->in_dtype[0]) * 16 + (double)kiln_dtype_size(e->in_dtype[1]));
}

static void placeholders_are_types(void)
{
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT64, KILN_INT32};
    for (int d = 0; d < 3; ++d) {
        stage *s = STAGE("A x, B y", "int32 z", "A u = x; B v = y; z = sizeof(A) * 16 + sizeof(v); (void)u");
        stage_in(s, dtypes[d], "100", "C", FILL_SMALL);
        stage_in(s, dtypes[(d + 1) % 3], "100", "C", FILL_SMALL);
        stage_out(s, KILN_INT32, "100", "C");
        stage_check(s, typed, NULL);
        stage_free(s);
    }
}

static void tripled(const element *e)
{
    OUT(float, 0) = 3 * IN(float, 0);
}

/* An input that the snippet may change is its own copy: the array stays as it is. */
static void non_const_input(void)
{
    run_everywhere(&(snippet){"_non_const float32 x", "float32 z",
                              "float32 before = x; x *= 2; z = x + before", tripled},
                   NULL);
}

static void squared_plus(const element *e)
{
    OUT(float, 0) = IN(float, 0) * IN(float, 0) + 5;
}

static void preamble(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.preamble = "#define FIVE 5\n// \"a comment\" with a quote\ntemplate <class T>\n__device__ T "
                       "squared(T x)\n{\n    return x * x;\n}";
    run_everywhere(&(snippet){"float32 x", "float32 z", "z = squared(x) + FIVE", squared_plus}, &options);
}

static void once_a_thread(const element *e)
{
    OUT(float, 0) = IN(float, 0) + 7;
}

/* Every element of the thread sees the variables of loop_prep; after_loop sees them too. */
static void around_the_loop(void)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    options.loop_prep = "float32 offset = 3; offset += 4;";
    options.after_loop = "offset = 0; (void)offset;";
    run_everywhere(&(snippet){"float32 x", "float32 z", "z = x + offset", once_a_thread}, &options);
}

static void quoted(const element *e)
{
    OUT(float, 0) = IN(float, 0) + (float)';' + (float)strlen("} /* if (");
}

static void awkward_text(void)
{
    run_body("const char brace = ';'; // }\nconst char text[] = \"} /* if (\";\n/* { */ z = x + brace + "
             "(sizeof text - 1)",
             quoted);
}

static void switched(const element *e)
{
    switch (e->i % 3) {
    case 0:
        OUT(float, 0) = IN(float, 0);
        break;
    case 1:
        return;
    default:
        OUT(float, 0) = -IN(float, 0);
    }
}

static void switch_inside(void)
{
    run_body(
        "switch (i % 3) {\ncase 0:\n    z = x;\n    break;\ncase 1:\n    return;\ndefault:\n    z = -x;\n}",
        switched);
}

static void named(const element *e)
{
    OUT(float, 0) = IN(float, 0) + IN(float, 1) * 2 + IN(float, 2) * 4 + IN(float, 3) * 8;
}

/* Names that the generated code might want for itself. */
static void common_names(void)
{
    stage *s = STAGE("float32 index, float32 size, float32 start, float32 args", "float32 rank",
                     "float32 k = index, at = size; rank = k + at * 2 + start * 4 + args * 8");
    for (int k = 0; k < 4; ++k)
        stage_in(s, KILN_FLOAT32, "5,70", k % 2 ? "F" : "C", FILL_SMALL);
    stage_out(s, KILN_FLOAT32, "5,70", "C");
    stage_check(s, named, NULL);
    stage_free(s);
}

static void rotated(const element *e)
{
    double x = IN(float, 0);
    OUT(float, 0) = (float)(x * x + 5 + 3);
}

/* Names of other libraries that mean what they mean there. */
static void borrowed_names(void)
{
    run_body("complex64 u(x, 1); complex128 v = u * thrust::conj(u);\n"
             "thrust::complex<double> w = thrust::polar(2.0, 0.0) * thrust::complex<float>(2, 0);\n"
             "z = v.real() + w.real() + labs(-3l) + isnan(nan(\"\")) + umin(0u, 7u) - isnan(thrust::abs(w))\n"
             "    - llmax(1ll, -5ll)",
             rotated);
}

static void long_numbers(const element *e)
{
    OUT(float, 0) = IN(float, 0) + 1000000.0f + 8;
}

/* Literals that hold quotes, brackets and words of other grammars; u8 and its like in front. */
static void literals(void)
{
    static const char *const bodies[] = {
        "const char t[] = R\"(i \" n ( [)\"; z = x + 1'000'000 + (sizeof t - 2)",
        "const char t[] = u8R\"-(z = { )\" \")-\"; z = x + 1'000'000 + sizeof t - 3",
        "const auto &t = LR\"(')\"; z = x + 1'000'000 + 6 + sizeof t / sizeof t[0]",
        "const auto &t = u\"\\\"\"; z = x + 0xF'4240 + 6 + sizeof t / sizeof t[0]",
        "const auto t = U'\"'; z = x + 1'000'000 + (t == '\"') * 8"};
    for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; ++b) {
        stage *s = STAGE("float32 x", "float32 z", bodies[b]);
        stage_in(s, KILN_FLOAT32, "100", "C", FILL_SMALL);
        stage_out(s, KILN_FLOAT32, "100", "C");
        stage_check(s, long_numbers, NULL);
        stage_free(s);
    }
}

const test_case snippet_cases[] = {
    {"conditional_store", conditional_store, 0},
    {"continue_ends_element", continue_ends_element, 0},
    {"return_ends_element", return_ends_element, 0},
    {"break_ends_element", break_ends_element, 0},
    {"loops_of_its_own", loops_of_its_own, 0},
    {"old_value_read", old_value_read, 0},
    {"old_value_compared", old_value_compared, 0},
    {"nothing_assigned", nothing_assigned, 0},
    {"index_of_element", index_of_element, 0},
    {"index_and_count", index_and_count, 0},
    {"index_alone", index_alone, 0},
    {"no_inputs", no_inputs, 0},
    {"several_outputs", several_outputs, 0},
    {"many_operands", many_operands, 0},
    {"placeholders_are_types", placeholders_are_types, 0},
    {"non_const_input", non_const_input, 0},
    {"preamble", preamble, 0},
    {"around_the_loop", around_the_loop, 0},
    {"awkward_text", awkward_text, 0},
    {"switch_inside", switch_inside, 0},
    {"common_names", common_names, 0},
    {"borrowed_names", borrowed_names, CASE_DEVICE},
    {"literals", literals, 0},
    {NULL, NULL, 0},
};
