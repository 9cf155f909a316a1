/* fuzz_spaces - random layouts through a bounded set of kernels, against the same body written in plain C.
 *
 * usage: fuzz_spaces [--count N] [--seed S] [--first INDEX] [--target host|cuda:N] [--style NUMBER] [--form
 * best|quick] [--keep-going] [--verbose]
 *
 * --style: of random_layouts.h, for all cases. fuzz_emulated, the same program, runs the kernels that sm_90
 * would have on the processor.
 *
 * Each case runs in its best form and in the quick one (kiln_form), or in the one that is named. With
 * KILN_COMPILE=never the quick one stands in for the best one, over a cache that `--form quick` has filled.
 * A case is made from the seed and its index alone: --seed S --first INDEX --count 1 runs it again. The
 * report counts cases by schedule, those of the target and those that sm_90 would have had. Kernels are
 * compiled into a cache of this run's own, unless KILN_CACHE_DIR is set. */
#include "random_layouts.h"

#include "own_cache.h"
#ifdef EMULATED_CUDA
#include "emulated.h"
#endif

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kernels: a body, and the same in C ---- */

static double in_real(const element *e, int k)
{
    return number_load(e->in[k], e->in_dtype[k]).re;
}

static double out_real(const element *e, int j)
{
    return number_load(e->out[j], e->out_dtype[j]).re;
}

static void set_real(const element *e, int j, double value)
{
    number_store(e->out[j], e->out_dtype[j], number_real(value));
}

static void copied(const element *e)
{
    memcpy(e->out[0], e->in[0], kiln_dtype_size(e->in_dtype[0]));
}

static void converted(const element *e)
{
    set_real(e, 0, in_real(e, 0));
}

static void exchanged(const element *e)
{
    memcpy(e->out[0], e->in[1], kiln_dtype_size(e->in_dtype[1]));
    memcpy(e->out[1], e->in[0], kiln_dtype_size(e->in_dtype[0]));
}

static void scaled_down(const element *e)
{
    set_real(e, 0, (in_real(e, 0) - in_real(e, 1)) / 4);
}

/* Rounded as float32 each time, divisors that are zero or negative too. */
static void divided(const element *e)
{
    float x = (float)in_real(e, 0), m = (float)in_real(e, 1), s = (float)in_real(e, 2), q = x / s, d = q - m;
    set_real(e, 0, d / s);
}

static void transposed_pair(const element *e)
{
    set_real(e, 0, in_real(e, 0) * in_real(e, 2) - in_real(e, 1) * in_real(e, 3));
    set_real(e, 1, in_real(e, 0) * in_real(e, 3) + in_real(e, 1) * in_real(e, 2));
}

static void five_points(const element *e)
{
    set_real(e, 0, in_real(e, 0) + in_real(e, 1) * 2 - in_real(e, 2) + in_real(e, 3) - in_real(e, 4) * 2);
}

static void summed(const element *e)
{
    set_real(e, 0, in_real(e, 0) + in_real(e, 1) * 2 + in_real(e, 2));
}

static void stored_where_positive(const element *e)
{
    if (in_real(e, 0) > 0)
        memcpy(e->out[0], e->in[1], kiln_dtype_size(e->in_dtype[1]));
}

static void compared(const element *e)
{
    set_real(e, 1, in_real(e, 0) > in_real(e, 1));
    if (in_real(e, 0) < in_real(e, 1))
        return;
    set_real(e, 0, in_real(e, 0) - in_real(e, 1));
}

static void indexed(const element *e)
{
    set_real(e, 0, (double)(e->i * 2) + in_real(e, 0));
}

static void every_third_left(const element *e)
{
    if (e->i % 3 == 1)
        return;
    set_real(e, 0, in_real(e, 0) + in_real(e, 1));
    set_real(e, 1, (double)(e->n - e->i));
}

static void counted(const element *e)
{
    set_real(e, 0, (double)(e->i % 100));
}

static void accumulated(const element *e)
{
    set_real(e, 0, out_real(e, 0) + in_real(e, 0));
    if (e->i % 2)
        set_real(e, 1, in_real(e, 0));
}

static void scaled(const element *e)
{
    set_real(e, 0, in_real(e, 0) * in_real(e, 1));
}

static void four_in_three_out(const element *e)
{
    set_real(e, 0, in_real(e, 0) + in_real(e, 1));
    set_real(e, 1, in_real(e, 2) - in_real(e, 3));
    set_real(e, 2, in_real(e, 0) * in_real(e, 3));
}

static void chosen(const element *e)
{
    bool x = in_real(e, 0) != 0;
    set_real(e, 0, !x);
    if (x)
        memcpy(e->out[1], e->in[1], kiln_dtype_size(e->in_dtype[1]));
    else
        memset(e->out[1], 0, kiln_dtype_size(e->in_dtype[1]));
}

static void looped(const element *e)
{
    double sum = 0;
    for (int k = 1; k <= 5 && k <= in_real(e, 0); ++k)
        if (k != 2)
            sum += k;
    if (sum != 0)
        set_real(e, 0, sum);
}

enum { MAX_IN = 5, MAX_OUT = 3, MAX_TUPLES = 5 };
#define F32 KILN_FLOAT32
#define F64 KILN_FLOAT64
#define F16 KILN_FLOAT16
#define B16 KILN_BFLOAT16
#define U8 KILN_UINT8
#define I8 KILN_INT8
#define I16 KILN_INT16
#define I32 KILN_INT32
#define I64 KILN_INT64
#define C64 KILN_COMPLEX64
#define C128 KILN_COMPLEX128

/* Dtypes of the inputs, then of the outputs; numbers are small, so that every result is exact. */
typedef struct kernel_text {
    const char *name, *in, *out, *body;
    expectation expect;
    int n_in, n_out;
    bool last_is_scalar;
    bool may_allocate; /* outputs: every element is assigned, and the inputs settle the dtype */
    kiln_dtype tuple[MAX_TUPLES][MAX_IN + MAX_OUT];
} kernel_text;

static const kernel_text kernels[] = {
    {"copied",
     "T x",
     "T z",
     "z = x",
     copied,
     1,
     1,
     false,
     true,
     {{F32, F32}, {U8, U8}, {F16, F16}, {F64, F64}, {C128, C128}}},
    {"converted",
     "A x",
     "B z",
     "z = x",
     converted,
     1,
     1,
     false,
     false,
     {{U8, F32}, {U8, F16}, {F32, F64}, {F16, F32}, {B16, F16}}},
    {"exchanged",
     "A x, B y",
     "B z, A w",
     "z = y;\nw = x",
     exchanged,
     2,
     2,
     false,
     true,
     {{F32, F32, F32, F32}, {F32, U8, U8, F32}, {C64, F32, F32, C64}}},
    {"scaled_down",
     "A x, float32 m",
     "C z",
     "float32 d = x - m;\nz = d / 4",
     scaled_down,
     2,
     1,
     false,
     false,
     {{U8, F32, F32}, {I8, F32, F32}, {U8, F32, F16}, {F32, F32, F32}, {KILN_BOOL, F32, F64}}},
    {"divided",
     "A x, float32 m, float32 s",
     "C z",
     "z = (x / s - m) / s",
     divided,
     3,
     1,
     false,
     false,
     {{U8, F32, F32, F32}, {I8, F32, F32, F16}, {F16, F32, F32, F32}, {I16, F32, F32, F32}}},
    {"turned_pair",
     "T x, T y, T c, T s",
     "T u, T v",
     "u = x * c - y * s;\nv = x * s + y * c",
     transposed_pair,
     4,
     2,
     false,
     false,
     {{F32, F32, F32, F32, F32, F32}, {I16, I16, I16, I16, I16, I16}, {F64, F64, F64, F64, F64, F64}}},
    {"five_points",
     "A a, A b, A c, A d, B e",
     "A z",
     "z = a + b * 2 - c + d - e * 2",
     five_points,
     5,
     1,
     false,
     false,
     {{F32, F32, F32, F32, F32, F32},
      {I16, I16, I16, I16, I16, I16},
      {F64, F64, F64, F64, F64, F64},
      {F32, F32, F32, F32, I16, F32},
      {I8, I8, I8, I8, I8, I8}}},
    {"summed",
     "A x, B y, C w",
     "D z",
     "z = x + y * 2 + w",
     summed,
     3,
     1,
     false,
     false,
     {{F32, F32, F32, F32},
      {U8, F32, I16, F64},
      {F16, F32, B16, F16},
      {U8, U8, U8, I16},
      {KILN_UINT16, KILN_UINT16, KILN_UINT16, KILN_UINT16}}},
    {"stored_where_positive",
     "A x, T y",
     "T z",
     "if (x > 0) z = y",
     stored_where_positive,
     2,
     1,
     false,
     false,
     {{F32, F32, F32}, {I8, F64, F64}, {F64, U8, U8}}},
    {"compared",
     "A x, B y",
     "C z, bool hit",
     "hit = x > y;\nif (x < y)\n    continue;\nz = x - y",
     compared,
     2,
     2,
     false,
     false,
     {{F32, F32, F32, KILN_BOOL}, {I16, I64, F32, KILN_BOOL}}},
    {"indexed", "A x", "B z", "z = (B)(i * 2) + x", indexed, 1, 1, false, false, {{F32, F64}, {U8, I64}}},
    {"every_third_left",
     "A x, B y",
     "A z, int64 w",
     "if (i % 3 == 1)\n    return;\nz = x + y;\nw = n - i",
     every_third_left,
     2,
     2,
     false,
     false,
     {{F32, I16, F32, I64}, {F64, F64, F64, I64}}},
    {"counted", "", "A z", "z = i % 100", counted, 0, 1, false, false, {{F32}, {U8}, {I64}}},
    {"accumulated",
     "A x",
     "A z, B w",
     "z += x;\nif (i % 2)\n    w = x",
     accumulated,
     1,
     2,
     false,
     false,
     {{F32, F32, F64}, {I16, I16, I8}}},
    {"scaled",
     "A x, A s",
     "A z",
     "z = x * s",
     scaled,
     2,
     1,
     true,
     true,
     {{F32, F32, F32}, {I32, I32, I32}, {F64, F64, F64}}},
    {"four_in_three_out",
     "A a, B b, C c, D d",
     "float32 z, int16 w, float64 v",
     "z = a + b;\nw = c - d;\nv = a * d",
     four_in_three_out,
     4,
     3,
     false,
     true,
     {{F32, U8, I16, I8, F32, I16, F64}, {F16, B16, F64, I64, F32, I16, F64}}},
    {"chosen",
     "bool x, A y",
     "bool z, A w",
     "z = !x;\nw = x ? y : A(0)",
     chosen,
     2,
     2,
     false,
     true,
     {{KILN_BOOL, F32, KILN_BOOL, F32}, {KILN_BOOL, U8, KILN_BOOL, U8}, {KILN_BOOL, C64, KILN_BOOL, C64}}},
    {"looped",
     "A x",
     "A z",
     "A sum = 0;\nfor (int k = 1; k <= 5; ++k) {\n    if (k > x)\n        break;\n    if (k == 2)\n        "
     "continue;\n    sum += k;\n}\n"
     "if (sum == 0)\n    break;\nz = sum",
     looped,
     1,
     1,
     false,
     false,
     {{F32, F32}, {I32, I32}}},
};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

/* ---- the report ---- */

enum { MAX_NAMES = 16 };
typedef struct tally {
    char name[MAX_NAMES][24];
    int count[MAX_NAMES];
} tally;

/* The schedule's name out of a specialisation's line. */
static void count_schedule(tally *t, const char *line)
{
    const char *at = strstr(line, " schedule=\"");
    char name[24] = "nothing";
    if (at)
        snprintf(name, sizeof name, "%.*s", (int)strcspn(at + 11, "\""), at + 11);
    for (int k = 0; k < MAX_NAMES; ++k) {
        if (t->count[k] > 0 && strcmp(t->name[k], name) != 0)
            continue;
        memcpy(t->name[k], name, sizeof name);
        ++t->count[k];
        return;
    }
}

static int tally_of(const tally *t, const char *name)
{
    for (int k = 0; k < MAX_NAMES; ++k)
        if (t->count[k] > 0 && strcmp(t->name[k], name) == 0)
            return t->count[k];
    return 0;
}

static void print_tally(const tally *t, const char *of)
{
    printf("schedules of %s:", of);
    for (int k = 0; k < MAX_NAMES && t->count[k] > 0; ++k)
        printf("%s %s %d", k ? "," : "", t->name[k], t->count[k]);
    printf("\n");
}

/* ---- one case ---- */

#ifdef EMULATED_CUDA
enum { is_emulated = 1 };

static kiln_status call_emulated(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in,
                                 int n_in, const kiln_call_options *options)
{
    return emulated_call("sm_90", kernel, out, n_out, in, n_in, options);
}

static void set_call(void)
{
    stage_call = call_emulated;
}

#else
enum { is_emulated = 0 };

static void set_call(void)
{
}
#endif

typedef struct fuzz {
    int64_t count, first;
    uint64_t seed;
    const char *target;
    bool keep_going, verbose;
    int style;        /* -1: any */
    const char *form; /* NULL: both */
    int64_t planned;  /* cases that were not run */
    kiln_kernel
        *kernel[2][KERNELS]; /* called in the quick form, in the best one: a kernel remembers its calls */
    tally here, there;
    int64_t elements;
    int failed;
} fuzz;

/* Mostly small; some outer products are so large that only their results count, and some transposes are
 * worth shared-memory tiles. */
static int64_t random_limit(style how, dice *d)
{
    if ((how == STYLE_OUTER || how == STYLE_BROAD) && dice_one_in(d, 15))
        return 5000000;
    if (how == STYLE_MIRRORED && dice_one_in(d, 2))
        return 1200000;
    if ((how == STYLE_TURNED || how == STYLE_BROAD) && dice_one_in(d, how == STYLE_TURNED ? 3 : 2))
        return 150000;
    if (dice_one_in(d, 300))
        return 4000000;
    return dice_one_in(d, 12) ? 100000 : dice_one_in(d, 3) ? 20000 : 3000;
}

static bool is_apart(const place *p)
{
    for (int a = 0; a < p->ndim; ++a)
        if (p->layout.broadcast[a])
            return false;
    return p->layout.pad >= 0;
}

/* Now and then the first output lies in the buffer of an input with elements of the same size: exactly
 * there, or a little beside. */
static int share_with(const kernel_text *k, const kiln_dtype *dtype, const place *in, const scenery *s,
                      place *out, dice *d)
{
    for (int i = 0; i < k->n_in; ++i) {
        bool same =
            in[i].ndim == s->ndim && !memcmp(in[i].shape, s->shape, (size_t)s->ndim * sizeof *s->shape);
        if ((k->last_is_scalar && i == k->n_in - 1) || !same || !is_apart(&in[i]) ||
            kiln_dtype_size(dtype[i]) != kiln_dtype_size(dtype[k->n_in]) ||
            (dtype[i] == KILN_BOOL) != (dtype[k->n_in] == KILN_BOOL) || !dice_one_in(d, 10))
            continue;
        *out = in[i];
        out->layout.at = dice_one_in(d, 2) ? 0 : dice_between(d, -3, 3);
        return i;
    }
    return -1;
}

/* Operand `k` as one of the array of the operand before it (or of `owner`), where dtypes allow and dice
 * say so. */
typedef struct beside {
    int owner;      /* operand; -1: none yet */
    int64_t pitch;  /* elements from row to row of the array */
    int64_t matrix; /* and from matrix to matrix */
    layout layout;  /* of the owner */
    kiln_dtype dtype;
} beside;

enum { ROOM_ROWS = 3, ROOM_COLUMNS = 8 }; /* in front of an array at an offset */

/* The first of those that are one array. */
static void begin_array(beside *b, const scenery *s, place *p, dice *d)
{
    int last = s->ndim - 1;
    p->ndim = s->ndim;
    memcpy(p->shape, s->shape, sizeof p->shape);
    layout_plain(&p->layout, p->ndim);
    p->layout.shift = dice_one_in(d, 4) ? dice_between(d, 1, 17) : 0;
    if (s->style == STYLE_WOVEN) {
        p->layout.step[last] = 2;
    } else if (s->style == STYLE_MIRRORED) {
        p->layout.pad = dice_one_in(d, 2) ? 0 : 4 * dice_between(d, 1, 4);
        p->layout.shift = dice_one_in(d, 4) ? 4 * dice_between(d, 1, 4) : 0;
    } else {
        p->layout.pad = dice_one_in(d, 4) ? 0 : dice_between(d, 1, 4);
        b->pitch = p->shape[last] + p->layout.pad;
        /* Every second matrix, so that matrices are an axis of their own. */
        p->layout.step[0] = s->ndim > 2 && !dice_one_in(d, 4) ? 2 : 1;
        b->matrix = b->pitch * (s->ndim > 2 ? s->shape[last - 1] : 1) * p->layout.step[0];
        p->layout.shift += ROOM_ROWS * b->pitch + b->matrix + ROOM_COLUMNS;
    }
    b->layout = p->layout;
}

static void go_on_in_array(const beside *b, const scenery *s, place *p, dice *d)
{
    p->ndim = s->ndim;
    memcpy(p->shape, s->shape, sizeof p->shape);
    p->layout = b->layout;
    if (s->style == STYLE_MIRRORED) {
        p->layout.order[s->ndim - 2] = s->ndim - 1;
        p->layout.order[s->ndim - 1] = s->ndim - 2;
        p->layout.at = dice_one_in(d, 8) ? 1 : 0;
    } else if (s->style == STYLE_WOVEN)
        p->layout.at = dice_one_in(d, 8) ? -1 : 1;
    else
        p->layout.at = -(dice_between(d, 0, 2) * b->pitch + dice_between(d, -1, 2) +
                         (s->ndim > 2 && dice_one_in(d, 4) ? b->matrix : 0));
}

/* Places the operand in such an array, or says that it does not. */
static bool place_beside(stage *s, beside *b, bool is_output, kiln_dtype dtype, const scenery *around,
                         dice *d)
{
    bool may = (around->style == STYLE_WOVEN ||
                ((around->style == STYLE_SHIFTED || around->style == STYLE_MIRRORED) && !is_output)) &&
               around->ndim > 0;
    place p;
    memset(&p, 0, sizeof p);
    if (!may || dice_one_in(d, 10) || (b->owner >= 0 && b->dtype != dtype))
        return false;
    if (b->owner < 0) {
        begin_array(b, around, &p, d);
        b->dtype = dtype;
        b->owner = stage_place(s, is_output, dtype, p.ndim, p.shape, &p.layout, FILL_SMALL, -1);
        stage_fill_around(s, b->owner, FILL_SMALL);
        return true;
    }
    go_on_in_array(b, around, &p, d);
    stage_place(s, is_output, dtype, p.ndim, p.shape, &p.layout, FILL_SMALL, b->owner);
    if (around->style == STYLE_WOVEN)
        b->owner = -1;
    return true;
}

static void place_operands(stage *s, const kernel_text *k, const kiln_dtype *dtype, const scenery *around,
                           dice *d, kiln_call_options *options)
{
    place in[MAX_IN], out;
    beside inputs = {.owner = -1}, outputs = {.owner = -1};
    memset(in, 0, sizeof in);
    for (int i = 0; i < k->n_in; ++i) {
        bool is_scalar = k->last_is_scalar && i == k->n_in - 1;
        if (!is_scalar && dtype[i] != KILN_BOOL && place_beside(s, &inputs, false, dtype[i], around, d))
            continue;
        random_place(&in[i], around, false, d);
        if (k->last_is_scalar && i == k->n_in - 1) {
            int value = (int)dice_between(d, 1, 4);
            stage_real(s, kiln_arg_int(value), dtype[i], value);
        } else {
            stage_place(s, false, dtype[i], in[i].ndim, in[i].shape, &in[i].layout,
                        dtype[i] == KILN_BOOL ? FILL_BYTES : FILL_SMALL, -1);
        }
    }
    for (int j = 0; j < k->n_out; ++j) {
        if (k->n_out == 2 && dtype[k->n_in] == dtype[k->n_in + 1] &&
            place_beside(s, &outputs, true, dtype[k->n_in + j], around, d))
            continue;
        random_place(&out, around, true, d);
        if (k->may_allocate && dice_one_in(d, 6) && !is_emulated) {
            stage_place(s, true, dtype[k->n_in + j], 0, NULL, NULL, FILL_SMALL, -1);
            continue;
        }
        int owner = j == 0 && !is_emulated ? share_with(k, dtype, in, around, &out, d) : -1;
        stage_place(s, true, dtype[k->n_in + j], out.ndim, out.shape, &out.layout, FILL_SMALL, owner);
    }
    options->order = (kiln_order)dice_between(d, KILN_ORDER_C, KILN_ORDER_ANY);
}

static void report_failure(const fuzz *f, int64_t index, const kernel_text *k, stage *s, bool is_best)
{
    char *description = stage_describe(s);
    printf("FAILED --target %s --seed %" PRIu64 " --first %" PRId64
           " --count 1: kernel %s (%s form): '%s' -> '%s': %s\n%s\n%s\n",
           f->target, f->seed, index, k->name, is_best ? "best" : "quick", k->in, k->out, k->body,
           trouble_text(), description);
    free(description);
    fflush(stdout);
}

/* The optimised tier's kinds are counted. */
static void count_schedules(fuzz *f, stage *s, bool is_best)
{
    if (!is_best)
        return;
    char *here = stage_explain(s, NULL), *there = stage_explain(s, "sm_90");
    count_schedule(&f->here, here);
    count_schedule(&f->there, there);
    free(here);
    free(there);
}

/* Some styles are of use to kernels of several operands alone. */
static const kernel_text *random_kernel(style how, dice *d)
{
    for (;;) {
        const kernel_text *k = &kernels[dice_between(d, 0, KERNELS - 1)];
        const kiln_dtype *dtype = k->tuple[0];
        bool fits = how == STYLE_SHIFTED    ? k->n_in >= 3 && dtype[0] == dtype[1] && dtype[1] == dtype[2]
                    : how == STYLE_MIRRORED ? k->n_in == 2 && !k->last_is_scalar
                                            : how != STYLE_WOVEN || (k->n_in >= 2 && k->n_out == 2);
        if (fits)
            return k;
    }
}

static int64_t count_elements(const scenery *around)
{
    int64_t size = 1;
    for (int a = 0; a < around->ndim; ++a)
        size *= around->shape[a];
    return size;
}

/* True if the case is planned alone. Large spaces are there for CUDA's schedules; of the host's, which are
 * the same for any size, checking each element of them would be four fifths of the time. */
static bool is_only_planned(int64_t index, int64_t size)
{
    enum { LARGE = 100000, RUN_ONE_IN = 8 };
    return !KILN_DEVICE_IS_CUDA(stage_device) && !is_emulated && !getenv("KILN_SOAK") && size > LARGE &&
           index % RUN_ONE_IN != 0;
}

/* The same case in each form. */
static void run_form(fuzz *f, int64_t index, bool is_best)
{
    dice d = {f->seed * UINT64_C(0x100000001b3) + (uint64_t)index};
    dice_bits(&d);
    style how = f->style >= 0 ? (style)f->style : (style)dice_between(&d, 0, STYLE_COUNT - 1);
    const kernel_text *k = random_kernel(how, &d);
    int tuples = 0;
    while (tuples < MAX_TUPLES && k->tuple[tuples][0])
        ++tuples;
    const kiln_dtype *dtype = k->tuple[dice_between(&d, 0, tuples - 1)];
    scenery around;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    random_scenery(&around, how, &d, random_limit(how, &d));
    int64_t size = count_elements(&around);
    bool planned = is_only_planned(index, size);
    if (planned && !is_best)
        return; /* what is counted is the best form's */
    KILN_IGNORE(kiln_set_forms(is_best ? KILN_FORMS_BEST : KILN_FORMS_QUICK));
    trouble_clear();
    stage *s = stage_over(f->kernel[is_best][k - kernels], dice_bits(&d));
    if (planned)
        stage_leave_unfilled(s);
    place_operands(s, k, dtype, &around, &d, &options);
    count_schedules(f, s, is_best);
    f->planned += planned;
    if (!planned)
        stage_check(s, k->expect, &options);
    if (in_trouble()) {
        report_failure(f, index, k, s, is_best);
        ++f->failed;
    }
    f->elements += planned ? 0 : size;
    if (f->verbose)
        printf("%" PRId64 ": %s, style %d, %" PRId64 " elements\n", index, k->name, (int)around.style, size);
    stage_free(s);
}

static void run_one(fuzz *f, int64_t index)
{
    int before = f->failed;
    if (!f->form || !strcmp(f->form, "best"))
        run_form(f, index, true);
    if (f->failed == before && !is_emulated && (!f->form || !strcmp(f->form, "quick")))
        run_form(f, index, false);
}

/* Every schedule must have been met: a fuzz that misses one says nothing about it. */
typedef struct expected_schedule {
    const char *name;
    int per_thousand;
} expected_schedule;
static const expected_schedule host_schedules[] = {{"flat", 5}, {"strided", 5}, {NULL, 0}};
static const expected_schedule cuda_schedules[] = {
    {"flat", 5},      {"rows", 5},         {"strided", 5},         {"tile", 5},
    {"coarsened", 1}, {"windows", 2},      {"channels", 50},       {"interleaved", 2},
    {"stencil", 2},   {"output_bound", 2}, {"transpose_pairs", 1}, {"stencil_3d", 1},
    {NULL, 0}};

static bool met_each(const tally *t, const expected_schedule *expected, int64_t count)
{
    bool all = true;
    for (; expected->name; ++expected)
        if (tally_of(t, expected->name) < count * expected->per_thousand / 1000) {
            printf("FAILED: schedule %s was met %d times only\n", expected->name,
                   tally_of(t, expected->name));
            all = false;
        }
    return all;
}

static bool met_all(const fuzz *f)
{
    const expected_schedule *here = KILN_DEVICE_IS_CUDA(stage_device) ? cuda_schedules : host_schedules;
    if (f->count < 1000 || f->style >= 0 || (f->form && !strcmp(f->form, "quick")))
        return true;
    bool all = met_each(&f->here, here, f->count);
    return met_each(&f->there, cuda_schedules, f->count) && all;
}

static bool read_options(fuzz *f, int argc, char **argv)
{
    for (int k = 1; k < argc; ++k) {
        const char *value = k + 1 < argc ? argv[k + 1] : NULL;
        if (!strcmp(argv[k], "--keep-going"))
            f->keep_going = true;
        else if (!strcmp(argv[k], "--verbose"))
            f->verbose = true;
        else if (!value)
            return false;
        else if (!strcmp(argv[k], "--count"))
            f->count = atoll(argv[++k]);
        else if (!strcmp(argv[k], "--seed"))
            f->seed = strtoull(argv[++k], NULL, 10);
        else if (!strcmp(argv[k], "--first"))
            f->first = atoll(argv[++k]);
        else if (!strcmp(argv[k], "--target"))
            f->target = argv[++k];
        else if (!strcmp(argv[k], "--style"))
            f->style = atoi(argv[++k]);
        else if (!strcmp(argv[k], "--form") && (!strcmp(value, "best") || !strcmp(value, "quick")))
            f->form = argv[++k];
        else
            return false;
    }
    return true;
}

static bool prepare(fuzz *f)
{
    kiln_device device;
    if (kiln_device_parse(&device, f->target) != KILN_OK || kiln_device_set_current(device) != KILN_OK) {
        fprintf(stderr, "fuzz_spaces: %s\n", kiln_error_message());
        return false;
    }
    stage_device = device;
    set_call();
    for (int k = 0; k < 2 * KERNELS; ++k) {
        const kernel_text *t = &kernels[k % KERNELS];
        if (kiln_elementwise_create(&f->kernel[k / KERNELS][k % KERNELS], t->in, t->out, t->body, t->name,
                                    NULL) != KILN_OK) {
            fprintf(stderr, "fuzz_spaces: %s: %s\n", t->name, kiln_error_message());
            return false;
        }
    }
    return true;
}

int main(int argc, char **argv)
{
    setenv("KILN_KINDS", "-fewest", 0); /* kinds take few elements, too */
    fuzz f = {.count = getenv("KILN_SOAK") ? 20000 : 80, .seed = 1, .target = "host", .style = -1};
    if (!read_options(&f, argc, argv)) {
        fprintf(stderr, "usage: fuzz_spaces [--count N] [--seed S] [--first INDEX] [--target host|cuda:N] "
                        "[--style NUMBER] [--form best|quick] [--keep-going] [--verbose]\n");
        return 2;
    }
    use_own_cache();
    if (!prepare(&f))
        return 2;
    int64_t index = f.first;
    for (; index < f.first + f.count && (f.keep_going || f.failed == 0); ++index)
        run_one(&f, index);
    bool all = f.failed > 0 || met_all(&f);
    print_tally(&f.here, f.target);
    print_tally(&f.there, "sm_90");
    if (f.planned > 0)
        printf("%" PRId64 " large cases were only planned\n", f.planned);
    printf("%" PRId64 " cases, %" PRId64 " elements, seed %" PRIu64 ": %d failed\n", index - f.first,
           f.elements, f.seed, f.failed);
    for (int k = 0; k < 2 * KERNELS; ++k)
        kiln_kernel_free(f.kernel[k / KERNELS][k % KERNELS]);
    return f.failed > 0 || !all;
}
