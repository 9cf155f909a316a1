/* stage.h - one call of a kernel with everything around it: arrays laid out as wanted inside buffers of
 * random bytes, the expectation computed element by element in plain C, and every byte of every buffer
 * compared afterwards, so that stores beside the view and elements left out are seen.
 *
 *     stage *s = stage_create("float32 x", "float32 z", "z = x * 2", NULL, 1);
 *     stage_in(s, KILN_FLOAT32, "5,7", "F -0 +3", FILL_SMALL);
 *     stage_out(s, KILN_FLOAT32, "5,7", "C");
 *     stage_check(s, twice, NULL);
 *     stage_free(s);
 *
 * Shapes are extents with commas ("" has no axes). Layouts are words: "C" (default) or "F" or "P2,0,1" (axes,
 * outermost first) the order in memory, "-0" axis 0 reversed ("-*": every axis), "/1" every second element
 * along axis 1 ("/1x3": every third), "=2" axis 2 broadcast (stride 0), "+3" the buffer begins 3 elements
 * earlier, "@-4" (shared buffers) the first element lies 4 elements before the owner's.
 */
#ifndef CASES_STAGE_H
#define CASES_STAGE_H

#include "elements.h"

enum { STAGE_OPERANDS = 16 };

/* The layout of an array in memory, axis by axis. */
typedef struct layout {
    int order[KILN_MAX_NDIM]; /* axes, outermost in memory first */
    int step[KILN_MAX_NDIM];  /* at least 1 */
    bool reversed[KILN_MAX_NDIM], broadcast[KILN_MAX_NDIM];
    int64_t shift; /* elements in front of the lowest one */
    int64_t pad;   /* elements behind each run along the innermost axis */
    int64_t at;    /* shared buffers: elements from the owner's first one */
} layout;
/* C order, nothing else. */
void layout_plain(layout *l, int ndim);

/* The input of an element's expectation: the operands of the call and the reserved words. */
typedef struct element {
    const void *in[STAGE_OPERANDS];
    void *out[STAGE_OPERANDS];
    kiln_dtype in_dtype[STAGE_OPERANDS], out_dtype[STAGE_OPERANDS];
    int64_t i, n;
    const int64_t *index; /* along each axis of the broadcast shape */
    int ndim;
    const struct operand *in_operand[STAGE_OPERANDS], *out_operand[STAGE_OPERANDS];
} element;
typedef void (*expectation)(const element *e);

typedef struct stage stage;

/* The device that stages put their arrays on. */
extern kiln_device stage_device;

/* The function that calls kernels: kiln_kernel_call, unless a program sets another. */
extern kiln_status (*stage_call)(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in,
                                 int n_in, const kiln_call_options *options);

/* Reports whatever goes wrong through `trouble`; a stage that is in trouble does nothing more. */
stage *stage_create(const char *in, const char *out, const char *body, const kiln_kernel_options *options,
                    uint64_t seed);
/* Over a kernel that lives on. */
stage *stage_over(kiln_kernel *kernel, uint64_t seed);
/* For a stage that is only explained: the arrays of operands that are added hold anything. */
void stage_leave_unfilled(stage *s);
void stage_free(stage *s);

/* Operands in the order of the parameters; each returns its number. */
int stage_in(stage *s, kiln_dtype dtype, const char *shape, const char *layout_text, fill how);
int stage_out(stage *s, kiln_dtype dtype, const char *shape, const char *layout_text);
/* An output that the call allocates. */
int stage_out_fresh(stage *s, kiln_dtype dtype);
/* In the buffer of operand `owner` (inputs count from 0, outputs after them, in the order in which they were
 * added). */
int stage_in_shared(stage *s, int owner, kiln_dtype dtype, const char *shape, const char *layout_text);
int stage_out_shared(stage *s, int owner, kiln_dtype dtype, const char *shape, const char *layout_text);
/* The general form. layout NULL: allocated by the call; owner -1: a buffer of its own. */
int stage_place(stage *s, bool is_output, kiln_dtype dtype, int ndim, const int64_t *shape, const layout *l,
                fill how, int owner);
/* Fills the whole buffer of the operand, so that others may lie in it beside. */
void stage_fill_around(stage *s, int operand, fill how);
/* A raw operand: in and out of the expectation are its first element, and the functions below find the
 * others. */
int stage_raw(stage *s, bool is_output, kiln_dtype dtype, const char *shape, const char *layout_text,
              fill how);
void stage_make_raw(stage *s, int operand);
const void *raw_in(const element *e, int k, int64_t linear);
void *raw_out(const element *e, int j, int64_t linear);
/* A scalar; value is what the expectation sees, of `dtype`. */
int stage_scalar(stage *s, kiln_arg arg, kiln_dtype dtype, const void *value);
int stage_real(stage *s, kiln_arg arg, kiln_dtype dtype, double value);
int stage_struct(stage *s, const void *data, size_t size);

/* Results may differ by this much, relatively; 0: not at all. */
void stage_tolerate(stage *s, double tolerance);
/* Calls the kernel: what is expected, before it is filled, is what was there. */
bool stage_run(stage *s, const kiln_call_options *options);
/* Calls the kernel and compares. */
bool stage_check(stage *s, expectation expect, const kiln_call_options *options);
/* Calls the kernel and expects `status`, all words (separated by '|') in the message, and nothing written or
 * allocated. */
void stage_refuse(stage *s, kiln_status status, const char *words);

/* For what the two above do not do. */
kiln_kernel *stage_kernel(stage *s);
kiln_arg *stage_args(stage *s, int *n_in);
kiln_array **stage_outs(stage *s, int *n_out);
/* The schedule's name and the whole line for `target` (NULL: where the arrays are); "" in trouble. line:
 * malloc'd. */
char *stage_explain(stage *s, const char *target);
/* Shapes and strides of all operands, one a line; malloc'd. */
char *stage_describe(const stage *s);

/* ---- reporting ---- */

/* Remembers the first trouble of the case that is running; is whether it is right. What the message shows is
 * worked out for a trouble alone: most of a million comparisons need no text. */
#define trouble_unless(is_right, ...) ((is_right) ? no_trouble() : trouble(__VA_ARGS__))
bool no_trouble(void); /* returns true: a value that a statement may ignore */
/* Returns false. */
__attribute__((format(printf, 1, 2))) bool trouble(const char *format, ...);
bool in_trouble(void);
const char *trouble_text(void);
void trouble_clear(void);
/* kiln's status, with its message. */
bool succeeded(kiln_status status, const char *what);
/* The status and all words (separated by '|') of the message. */
bool refused(kiln_status status, kiln_status expected, const char *words);

#endif
