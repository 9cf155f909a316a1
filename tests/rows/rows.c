/* rows - programs of several stages over rows, on any target: lengths at which another kind of kernel or
 * another number of threads takes over, layouts of every sort, dtypes; each twice, for the same bits.
 * Expectations are computed on the host in double precision.
 *
 * On the host half of the programs are drawn (drawn.h).
 *
 * usage: rows [--target host|cuda:N] [--emulate ARCHITECTURE] [--filter WORD] [--large] [--verbose] */
#include "drawn.h"
#include "elements.h"
#include "emulated.h"
#include "row_programs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_AXES = 4 };

typedef enum layout {
    PLAIN,
    SHIFTED,
    PITCHED,
    STEPPED,
    BACKWARDS,
    TURNED,
    MIDDLE,
    APART,
    ACROSS,
    GROUPED,
    LAYOUTS
} layout;
static const char *const layout_names[LAYOUTS] = {"plain",  "shifted", "pitched", "stepped", "backwards",
                                                  "turned", "middle",  "apart",   "across",  "grouped"};

static int passed, failed;
static bool is_verbose;
static const char *filter;
static const char *emulated; /* the architecture whose kernels run on the processor */

/* The reduction axes. */
typedef struct geometry {
    int ndim;
    int64_t shape[MAX_AXES];
    bool is_reduced[MAX_AXES];
    int64_t rows, length;
} geometry;

static geometry make_geometry(layout l, int64_t rows, int64_t length)
{
    geometry g = {
        .ndim = 2, .shape = {rows, length}, .is_reduced = {false, true}, .rows = rows, .length = length};
    if (l == MIDDLE)
        g = (geometry){.ndim = 3,
                       .shape = {rows, length, 3},
                       .is_reduced = {false, true, false},
                       .rows = rows * 3,
                       .length = length};
    if (l == ACROSS) /* whole vectors lie across rows */
        g = (geometry){.ndim = 3,
                       .shape = {2, length, 8 * rows},
                       .is_reduced = {false, true, false},
                       .rows = 16 * rows,
                       .length = length};
    if (l == APART || l == GROUPED) /* grouped: of a row's weights there is one for each piece */
        g = (geometry){.ndim = 3,
                       .shape = {3, rows, length},
                       .is_reduced = {true, false, true},
                       .rows = rows,
                       .length = 3 * length};
    return g;
}

/* Where element `element` of row `row` stands in C order. */
static int64_t place_of(const geometry *g, int64_t row, int64_t element)
{
    int64_t place = 0, step = 1;
    for (int a = g->ndim; a-- > 0; step *= g->shape[a]) {
        int64_t *rest = g->is_reduced[a] ? &element : &row;
        place += *rest % g->shape[a] * step;
        *rest /= g->shape[a];
    }
    return place;
}

/* ---- arrays ---- */

/* Between -4 and 4, in 64ths; whole numbers for integers. */
static double number_at(uint64_t k, kiln_dtype dtype)
{
    k = (k + 1) * UINT64_C(0x9E3779B97F4A7C15);
    k ^= k >> 29;
    double x = (double)(int)((k * UINT64_C(0xBF58476D1CE4E5B9)) >> 55) / 64 - 4;
    return dtype == KILN_BOOL ? x > 0 : dtype_is_float(dtype) ? x : rint(x);
}

static kiln_array *new_array(int ndim, const int64_t *shape, kiln_dtype dtype, uint64_t seed,
                             kiln_device device)
{
    kiln_array *a = NULL;
    int64_t size = 1, item = (int64_t)kiln_dtype_size(dtype);
    for (int d = 0; d < ndim; ++d)
        size *= shape[d];
    char *data = malloc((size_t)(size * item) + 1);
    for (int64_t k = 0; k < size; ++k)
        number_store(data + k * item, dtype, number_real(number_at(seed + (uint64_t)k, dtype)));
    if (kiln_array_from_host(&a, data, dtype, ndim, shape, device) != KILN_OK)
        fprintf(stderr, "%s\n", kiln_error_message());
    free(data);
    return a;
}

/* An array of that shape with the layout. */
static kiln_array *laid_out(layout l, const geometry *g, const bool *has, kiln_dtype dtype, uint64_t seed,
                            kiln_device device)
{
    int64_t shape[MAX_AXES];
    char index[64];
    kiln_array *plain, *view = NULL;
    int last = g->ndim - 1, transposed[] = {1, 0};
    for (int a = 0; a < g->ndim; ++a)
        shape[a] = has[a] ? g->shape[a] : 1;
    if (l == PLAIN || l == MIDDLE || l == APART || l == ACROSS || l == GROUPED || shape[last] == 1)
        return new_array(g->ndim, shape, dtype, seed, device);
    int64_t length = shape[last];
    const char *front = ":,";
    if (l == TURNED) {
        int64_t other[] = {shape[1], shape[0]};
        plain = new_array(2, other, dtype, seed, device);
        KILN_IGNORE(kiln_array_transpose(&view, plain, transposed));
    } else {
        shape[last] = l == SHIFTED   ? length + 1
                      : l == PITCHED ? (length + 31) / 16 * 16
                      : l == STEPPED ? 2 * length
                                     : length;
        plain = new_array(g->ndim, shape, dtype, seed, device);
        snprintf(index, sizeof index,
                 l == SHIFTED   ? "%s1:"
                 : l == PITCHED ? "%s:%lld"
                 : l == STEPPED ? "%s::2"
                                : "%s::-1",
                 front, (long long)length);
        if (kiln_array_index(&view, plain, index) != KILN_OK)
            fprintf(stderr, "%s\n", kiln_error_message());
    }
    kiln_array_free(plain);
    return view;
}

static double *values_of(kiln_array *a)
{
    kiln_dtype dtype = kiln_array_dtype(a);
    int64_t size = kiln_array_size(a), item = (int64_t)kiln_dtype_size(dtype);
    char *data = malloc((size_t)(size * item) + 1);
    double *value = malloc((size_t)size * sizeof *value + 1);
    if (kiln_array_to_host(a, data, (size_t)(size * item)) != KILN_OK)
        fprintf(stderr, "%s\n", kiln_error_message());
    for (int64_t k = 0; k < size; ++k)
        value[k] = number_load(data + k * item, dtype).re;
    free(data);
    return value;
}

/* ---- one call ---- */

typedef struct call {
    const row_program *program;
    kiln_kernel *last; /* reduces the last axis, whatever the call says */
    kiln_dtype dtype;
    layout l;
    geometry g;
    int n_in, n_out;
    kiln_array *in[ROW_MAX_OPERANDS], *out[ROW_MAX_OPERANDS];
    double *value[ROW_MAX_OPERANDS], *result[ROW_MAX_OPERANDS];
} call;

static bool complain(const call *c, const char *what)
{
    printf("FAILED %s, %s, %s, %lld rows of %lld: %s\n", c->program->name, kiln_dtype_name(c->dtype),
           layout_names[c->l], (long long)c->g.rows, (long long)c->g.length, what);
    return false;
}

static void make_inputs(call *c, kiln_device device)
{
    for (c->n_in = 0; c->program->inputs[c->n_in]; ++c->n_in) {
        char letter = c->program->inputs[c->n_in];
        bool has[MAX_AXES];
        for (int a = 0; a < c->g.ndim; ++a)
            has[a] = letter == 'x' || letter == 'm' ||
                     (letter == 'v' && c->g.is_reduced[a] && (c->l != GROUPED || a == 0)) ||
                     (letter == 'r' && !c->g.is_reduced[a]);
        if (letter == 's')
            continue;
        if (letter == 'n') {
            kiln_array *run = NULL;
            if (kiln_array_arange_int(&run, 0, c->g.rows * c->g.length, 1, KILN_INT64, device) == KILN_OK)
                KILN_IGNORE(kiln_array_reshape(&c->in[c->n_in], run, c->g.ndim, c->g.shape));
            kiln_array_free(run);
            continue;
        }
        c->in[c->n_in] = laid_out(c->l, &c->g, has, letter == 'm' ? KILN_BOOL : c->dtype,
                                  1000003u * (unsigned)c->n_in, device);
        c->value[c->n_in] = c->in[c->n_in] ? values_of(c->in[c->n_in]) : NULL;
    }
}

static kiln_status run(call *c, kiln_kernel *kernel)
{
    kiln_arg arg[ROW_MAX_OPERANDS];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    int axes[MAX_AXES], n_axes = 0;
    for (int a = 0; a < c->g.ndim; ++a)
        if (c->g.is_reduced[a])
            axes[n_axes++] = a;
    if (kernel != c->last) {
        options.axes = axes;
        options.n_axes = n_axes;
    }
    for (int k = 0; k < c->n_in; ++k)
        arg[k] = c->in[k] ? kiln_arg_array(c->in[k]) : kiln_arg_float(-7.5);
    if (emulated)
        return emulated_call(emulated, kernel, c->out, c->n_out, arg, c->n_in, &options);
    return kiln_kernel_call(kernel, c->out, c->n_out, arg, c->n_in, &options);
}

/* An operand's element for row and element of a row, where it lies among its values. */
static double element_of(const call *c, char letter, const double *value, int64_t row, int64_t element)
{
    if (letter == 's')
        return -7.5;
    if (letter == 'n')
        return 0;
    return letter == 'v' && c->l == GROUPED ? value[element / c->g.shape[c->g.ndim - 1]]
           : letter == 'v'                  ? value[element]
           : letter == 'r' || letter == 'k' ? value[row]
                                            : value[place_of(&c->g, row, element)];
}

static double tolerance_of(kiln_dtype computed, kiln_dtype stored)
{
    kiln_dtype worst =
        !dtype_is_float(stored) || kiln_dtype_size(computed) < kiln_dtype_size(stored) ? computed : stored;
    return stored == KILN_BFLOAT16  ? 1.6e-2
           : stored == KILN_FLOAT16 ? 2e-3
           : worst == KILN_FLOAT64  ? 1e-11
                                    : 1e-4;
}

static bool check_row(const call *c, int64_t row, double *const *in, double *const *wanted)
{
    char what[200];
    for (int k = 0; k < c->n_in; ++k)
        for (int64_t j = 0; j < c->g.length; ++j)
            in[k][j] = element_of(c, c->program->inputs[k], c->value[k], row, j);
    c->program->reference((const double *const *)in, c->g.length, wanted);
    for (int o = 0; o < c->n_out; ++o) {
        char letter = c->program->outputs[o];
        kiln_dtype stored = kiln_array_dtype(c->out[o]);
        double tolerance = tolerance_of(c->dtype, stored),
               least = stored == KILN_FLOAT16 ? 6.2e-5 : 0; /* the least normal number */
        tolerance = tolerance < c->program->coarse ? c->program->coarse : tolerance;
        least = least < c->program->least ? c->program->least : least;
        for (int64_t j = 0; j < (letter == 'k' ? 1 : c->g.length); ++j) {
            double got = element_of(c, letter, c->result[o], row, j), want = wanted[o][j];
            if (fabs(got - want) <= tolerance * (fabs(want) > least ? fabs(want) : least) * 4)
                continue;
            snprintf(what, sizeof what, "output %d, row %lld, element %lld is %.9g, not %.9g", o,
                     (long long)row, (long long)j, got, want);
            return complain(c, what);
        }
    }
    return true;
}

/* Some of the rows where there are many. */
static bool check(const call *c)
{
    double *in[ROW_MAX_OPERANDS], *wanted[ROW_MAX_OPERANDS];
    int64_t step = c->g.rows * c->g.length > 4000000 ? 7 : 1;
    bool good = true;
    for (int k = 0; k < ROW_MAX_OPERANDS; ++k) {
        in[k] = malloc((size_t)(c->g.length + 1) * sizeof **in);
        wanted[k] = malloc((size_t)(c->g.length + 1) * sizeof **wanted);
    }
    for (int64_t row = 0; row < c->g.rows && good;
         row += row + step < c->g.rows || row == c->g.rows - 1 ? step : c->g.rows - 1 - row)
        good = check_row(c, row, in, wanted);
    for (int k = 0; k < ROW_MAX_OPERANDS; ++k) {
        free(in[k]);
        free(wanted[k]);
    }
    return good;
}

static bool has_same_bits(call *c, kiln_kernel *kernel)
{
    bool same = true;
    for (int o = 0; o < c->n_out && same; ++o) {
        size_t size = kiln_array_nbytes(c->out[o]);
        unsigned char *first = malloc(size + 1), *again = malloc(size + 1);
        same = kiln_array_to_host(c->out[o], first, size) == KILN_OK &&
               (o > 0 || run(c, kernel) == KILN_OK) &&
               kiln_array_to_host(c->out[o], again, size) == KILN_OK && memcmp(first, again, size) == 0;
        free(first);
        free(again);
    }
    return same || complain(c, "a second call gave other bits");
}

static void run_case(kiln_kernel *kernel, kiln_kernel *last, const row_program *program, kiln_dtype dtype,
                     layout l, int64_t rows, int64_t length, kiln_device device)
{
    call c = {.program = program, .last = last, .dtype = dtype, .l = l, .g = make_geometry(l, rows, length)};
    char name[120];
    snprintf(name, sizeof name, "%s/%s/%s/%lld", program->name, kiln_dtype_name(dtype), layout_names[l],
             (long long)length);
    if ((filter && !strstr(name, filter)) || (program->is_float && !dtype_is_float(dtype)) ||
        (program->is_integer && dtype_is_float(dtype)))
        return;
    c.n_out = (int)strlen(program->outputs);
    make_inputs(&c, device);
    bool good = run(&c, kernel) == KILN_OK;
    if (!good) {
        complain(&c, kiln_error_message());
        printf("%s\n", kiln_error_log());
    }
    for (int o = 0; o < c.n_out && good; ++o)
        c.result[o] = values_of(c.out[o]);
    good = good && check(&c) && has_same_bits(&c, kernel);
    if (is_verbose) {
        kiln_arg arg[ROW_MAX_OPERANDS];
        (void)arg;
        printf("%s %s\n", good ? "passed" : "FAILED", name);
    }
    ++*(good ? &passed : &failed);
    fflush(stdout);
    for (int k = 0; k < ROW_MAX_OPERANDS; ++k) {
        kiln_array_free(c.in[k]);
        kiln_array_free(c.out[k]);
        free(c.value[k]);
        free(c.result[k]);
    }
}

/* ---- the list ---- */

static const kiln_dtype dtypes[] = {KILN_FLOAT32, KILN_BFLOAT16, KILN_FLOAT16,
                                    KILN_FLOAT64, KILN_INT32,    KILN_UINT8};

/* Compiling takes most of the time on the host: each program meets one dtype of six there (with KILN_SOAK=1
 * every second), beside the one that is tried in every layout. */
static bool meets(const row_program *p, int d, kiln_device device)
{
    return KILN_DEVICE_IS_CUDA(device) || (p - row_programs + d) % (getenv("KILN_SOAK") ? 2 : 6) == 0;
}

static void run_program(const row_program *p, kiln_device device, bool is_large)
{
    static const int64_t lengths[] = {128,  129,  256,  500,  512,  520,  1000,  1023,  1024,
                                      1025, 2048, 4096, 4097, 5000, 8192, 16384, 16390, 20000};
    static const int64_t large[] = {32768,  32769,  40000,  50257,  65536,  100001,
                                    131072, 262144, 300000, 524288, 600001, 1 << 20};
    enum { SHORT = 70, N_DTYPES = sizeof dtypes / sizeof dtypes[0] };
    const int first = p->is_integer ? 4 : 0; /* the dtype that is tried in every layout */
    /* Those that reduce the last axis whatever the call says have binaries of their own, which take as long
     * to compile again: on the host one program of twelve, with KILN_SOAK=1 every third. */
    const bool has_last =
        KILN_DEVICE_IS_CUDA(device) || (p - row_programs) % (getenv("KILN_SOAK") ? 3 : 12) == 0;
    const int other = meets(p, first + 1, device);
    kiln_kernel *last = has_last ? row_kernel(p, 1) : NULL, *named = row_kernel(p, KN_REDUCED_BY_CALL);
    if ((has_last && !last) || !named) {
        printf("FAILED %s: %s\n", p->name, kiln_error_message());
        ++failed;
    }
    for (int64_t n = 1; n <= SHORT && named; ++n)
        for (int l = 0; l < LAYOUTS; ++l)
            if (l == PLAIN || n % LAYOUTS == l)
                run_case(last && l == PLAIN && n % 2 ? last : named, last, p,
                         dtypes[first + (l == PLAIN && n % 3 == 0 ? other : 0)], (layout)l, 37, n, device);
    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0] && named; ++n)
        for (int d = 0; d < N_DTYPES; ++d)
            for (int l = 0; l < LAYOUTS && (d == first || meets(p, d, device)); ++l)
                if ((l == PLAIN && d == first) ||
                    (l < SHIFTED + (d == first) * LAYOUTS && (n + (size_t)d * 3 + (size_t)l) % 8 == 0))
                    run_case(last && l == PLAIN && n % 2 ? last : named, last, p, dtypes[d], (layout)l,
                             l == PLAIN ? 19 : 5, lengths[n], device);
    for (size_t n = 0; n < sizeof large / sizeof large[0] && named && is_large; ++n)
        for (int d = 0; d < N_DTYPES; ++d)
            for (int l = 0; l < LAYOUTS; ++l)
                if ((l < PITCHED && d < 2) || (n + (size_t)d * 3 + (size_t)l) % 8 == 0)
                    run_case(last && l == PLAIN && n % 2 ? last : named, last, p, dtypes[d], (layout)l, 3,
                             large[n], device);
    kiln_kernel_free(last);
    kiln_kernel_free(named);
}

/* Kernels take a second to compile here: a few lengths of each program, so that each kind has several. */
static void run_emulated(const row_program *p, kiln_device device, bool is_large)
{
    static const struct {
        layout l;
        int64_t rows, length;
    } calls[] = {
        {PLAIN, 7, 64},      {SHIFTED, 3, 1023}, {PLAIN, 2, 70000}, {TURNED, 5, 301},    {PLAIN, 3, 8192},
        {SHIFTED, 2, 50257}, {STEPPED, 9, 33},   {PLAIN, 5, 1024},  {MIDDLE, 2, 40},     {PITCHED, 3, 4099},
        {PLAIN, 37, 301},    {APART, 3, 100},    {PLAIN, 2, 16384}, {PLAIN, 33, 17},     {ACROSS, 8, 77},
        {ACROSS, 2, 2100},   {ACROSS, 4, 4100},  {ACROSS, 128, 6},  {ACROSS, 5, 301},    {APART, 3, 400},
        {GROUPED, 2, 333},   {APART, 2, 20000},  {GROUPED, 3, 400}, {GROUPED, 2, 30000}, {APART, 3, 5001}};
    enum { CALLS = sizeof calls / sizeof calls[0], EACH = 4 };
    int number = (int)(p - row_programs);
    kiln_kernel *named = row_kernel(p, KN_REDUCED_BY_CALL);
    for (int k = 0; k < (is_large ? (int)CALLS : EACH) && named; ++k) {
        int at = (number * EACH + k) % CALLS;
        run_case(named, NULL, p,
                 p->is_integer     ? KILN_INT32
                 : number % 3 == 2 ? KILN_FLOAT64
                                   : KILN_FLOAT32,
                 calls[at].l, calls[at].rows, calls[at].length, device);
    }
    kiln_kernel_free(named);
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    const char *target = "host";
    bool is_large = false;
    kiln_device device;
    for (int k = 1; k < argc; ++k) {
        if (!strcmp(argv[k], "--target") && k + 1 < argc)
            target = argv[++k];
        else if (!strcmp(argv[k], "--filter") && k + 1 < argc)
            filter = argv[++k];
        else if (!strcmp(argv[k], "--emulate") && k + 1 < argc)
            emulated = argv[++k];
        else if (!strcmp(argv[k], "--large"))
            is_large = true;
        else if (!strcmp(argv[k], "--verbose"))
            is_verbose = true;
        else {
            fprintf(stderr, "usage: rows [--target host|cuda:N] [--emulate ARCHITECTURE] [--filter WORD] "
                            "[--large] [--verbose]\n");
            return 2;
        }
    }
    if (kiln_device_parse(&device, target) != KILN_OK || kiln_device_set_current(device) != KILN_OK) {
        fprintf(stderr, "rows: %s\n", kiln_error_message());
        return 2;
    }
    size_t count = 0;
    while (row_programs[count].name)
        count++;
    for (const row_program *p = row_programs; p->name; ++p)
        if (emulated)
            run_emulated(p, device, is_large);
        else if (KILN_DEVICE_IS_CUDA(device) || filter || is_drawn_of((size_t)(p - row_programs), count, 5))
            run_program(p, device, is_large);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0;
}
