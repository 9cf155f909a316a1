/* bench.h - what the files of `kiln bench` share: rows, arrays, floors, measuring. */
#ifndef KILN_BENCH_H
#define KILN_BENCH_H

#include "cli.h"

enum { BENCH_MAX_OPERANDS = 10, BENCH_MAX_NDIM = 8, BENCH_SAMPLES = 1024 };

/* ---- rows ---- */

typedef struct bench_value {
    double re, im;
} bench_value;

/* The result's element from the inputs' elements; index: its C-order index among n. */
typedef bench_value (*bench_reference)(const bench_value *in, int64_t index, int64_t n);

/* What comes of the elements that are reduced together, in C order: `length` of each input in in[k]. out[j],
 * size[j]: of output j, its elements (one, or `length`) and the size that rounding is relative to. */
typedef void (*bench_along)(double *const *out, double *size, const double *const *in, int64_t length);

/* The expected values of one reduced range: more than any one row needs. */
typedef struct bench_reduced {
    double n, sum, squares, greatest;
    int64_t at; /* where the greatest came first */
} bench_reduced;

/* The texts of a reduction, and the result that is expected: its size is what its rounding is relative to. */
typedef struct bench_reduction {
    const char *map, *reduce, *post, *identity; /* identity may be NULL */
    const char *type, *preamble;                /* the reduce type, NULL: kiln's choice */
    void (*expected)(const bench_reduced *all, double *value, double *size);
} bench_reduction;

/* An array of a row: `shape` is filled, then seen through `axes` and `index`. */
typedef struct bench_operand {
    kiln_dtype dtype;
    char shape[48];   /* extents: numbers, numbers that the scale multiplies ("64*"), letters (bench_rows.c);
                         "": none */
    char axes[20];    /* a permutation, "2,0,1", or "" */
    char index[24];   /* a Python index, or "" */
    int shares;       /* k: the memory of operand k - 1; 0: its own */
    int below;        /* integers of 0 to below - 1; 0: bytes over their whole range */
    int window, step; /* elements of windows over a vector, and from one to the next: `shape` says how many;
                         0: none */
} bench_operand;

typedef enum bench_kind {
    BENCH_ELEMENTS,    /* one kernel over large arrays */
    BENCH_CHAIN,       /* 100 kernels, each on the result of the one before */
    BENCH_CHAIN_GRAPH, /* the same in a CUDA graph */
    BENCH_GIVEN,       /* host time of a call, the output given */
    BENCH_ALLOCATED,   /* the same, the output allocated */
    BENCH_BY_NAME,     /* the same of each operation by its name: the worst */
    BENCH_WAITED,      /* from the call to the result, the output allocated */
    BENCH_RESULT,      /* the same of large arrays, beside the floor's kernel instead of a bare launch */
    BENCH_DEFINITION,  /* definition to result of a kernel never seen before */
    BENCH_PLANNED,     /* definition to what a call would run, of which nothing is compiled */
    BENCH_PROCESS      /* first kernel of a process, found on disk */
} bench_kind;

typedef struct bench_row {
    char name[40]; /* as ANCHORS.md has it, up to the first space */
    char title[64];
    bench_kind kind;
    bool is_extra;               /* of a sweep: taken only where its name is asked for */
    bool is_small;               /* measured in a graph, beside the driver's copy as well */
    const char *in, *out, *body; /* a '#' stands for a number that nobody has used before: BENCH_DEFINITION */
    /* Replaces out, body and the reduction's texts with an expression of the inputs `in`; a '@' stands for
     * the elements of the result. */
    const char *expression;
    const bench_reduction
        *function;       /* a reduction that the expression calls by the name of "fold", or NULL */
    const char *by_hand; /* BENCH_DEFINITION: the same as a source written by hand, or NULL */
    const bench_reduction *reduction; /* reductions: instead of the body; NULL: elementwise */
    char reduced[8];                  /* the axes; "": all, of an `along` the last one */
    bool scans;                       /* its reduction is a scan, along one axis */
    const char *bin;                  /* a histogram: the number of an element's bin; NULL: others */
    int (*bin_at)(int64_t index);     /* the same of the first operand's random elements */
    bool is_order;                    /* an expression that sorts, or says the order */
    bench_along along;                /* results that need whole rows: their reference; NULL: others */
    bench_along across;        /* ... of those that have fewer axes, along the first one; NULL: the same */
    double scalar[2];          /* weak floats behind the arrays */
    int n_scalars, n_operands; /* the operands: inputs, then the outputs */
    int n_more;                /* outputs in front of the last one */
    bench_operand operand[BENCH_MAX_OPERANDS];
    const char *floor;                          /* streams of the floor's kernel: see bench_floor.c */
    bench_reference reference, first_reference; /* of the last output, and of the one in front of it */
} bench_row;

typedef struct bench_rows {
    bench_row *row;
    int count, capacity;
} bench_rows;

/* All rows there are for this scale. false: no memory. Free *out either way. */
bool bench_rows_make(bench_rows *out, bool is_cuda, double scale);
void bench_rows_free(bench_rows *rows);
const bench_row *bench_rows_find(const bench_rows *rows, const char *name);
/* Extents of `text` for a scale; the number of axes. */
int bench_shape_read(int64_t *extents, const char *text, double scale);
int bench_axes_read(int *axes, const char *text);

/* ---- the run ---- */

typedef struct bench_driver bench_driver;

typedef struct bench {
    const cli_options *options;
    kiln_device device;
    kiln_device_properties properties;
    bool is_cuda;
    double scale, seconds;
    kiln_stream *stream;
    kiln_event *begin, *end;
    kiln_kernel *random, *random_bytes, *random_below;
    bench_driver *driver; /* NULL on the host */
    char error[1024];     /* why the last step failed */
} bench;

/* Keeps the reason, and is false. */
bool bench_fail(bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* True if the library's call worked; keeps its message otherwise. */
bool bench_check(bench *b, kiln_status status);

/* ---- arrays ---- */

/* One copy of a row's arrays. Small rows rotate over several, so that no input waits in a cache. */
typedef struct bench_set {
    kiln_array *base[BENCH_MAX_OPERANDS];  /* the memory */
    kiln_array *array[BENCH_MAX_OPERANDS]; /* what the kernel sees */
    kiln_array *spare;                     /* two halves that the driver's copy moves between, or NULL */
} bench_set;

typedef struct bench_data {
    bench_set *set;
    int n_sets;
    int64_t elements; /* of the result */
    double bytes;     /* the fewest that move: each input's memory once, the result once */
    int checked;      /* results that were compared */
} bench_data;

bool bench_data_make(bench *b, bench_data *out, const bench_row *row, bool has_spare);
void bench_data_free(bench_data *data);
/* Compares up to BENCH_SAMPLES elements of the first set's result with the row's reference. */
bool bench_data_check(bench *b, bench_data *data, const bench_row *row);
/* The operand's view of its memory. */
bool bench_view_make(bench *b, kiln_array **out, kiln_array *base, const bench_operand *o);
/* Inputs of the row, arrays all of them. */
int bench_row_inputs(const bench_row *row);
bool bench_row_define(bench *b, kiln_kernel **out, const bench_row *row);
int bench_row_arguments(kiln_arg *in, const bench_row *row, const bench_set *set);
/* Element `index` of the first operand of the first set, which is float16 or float32. */
double bench_random_at(kiln_dtype dtype, int64_t index);
/* The element of an array that meets `index` of the result under broadcasting. */
bool bench_element_read(bench *b, bench_value *out, kiln_array *array, const int64_t *index, int ndim);
/* The elements of an array, in C order. */
bool bench_array_read(bench *b, bench_value *out, const kiln_array *array);
/* The C-order index `at` as an index of each axis. */
void bench_index_split(int64_t *index, int64_t at, const int64_t *shape, int ndim);
/* Relative to the larger of the reference and one. */
double bench_tolerance(kiln_dtype dtype);

/* ---- reductions ---- */

bool bench_reduction_define(bench *b, kiln_kernel **out, const bench_reduction *reduction, const char *in,
                            const char *made, const char *name);
/* Options of a call of the row; axes: BENCH_MAX_NDIM of them, which the options point into. */
kiln_call_options bench_reduction_call(int *axes, const bench_row *row);
bool bench_reduction_check(bench *b, bench_data *data, const bench_row *row);
/* The same of a row that scans. */
bool bench_scan_define(bench *b, kiln_kernel **out, const bench_row *row);
bool bench_scan_check(bench *b, bench_data *data, const bench_row *row);
/* The same of a histogram: all counts (bench_histogram.c). */
bool bench_histogram_define(bench *b, kiln_kernel **out, const bench_row *row);
bool bench_histogram_check(bench *b, bench_data *data, const bench_row *row);
/* A result that is in order, or the order of the input: all of it (bench_order.c). */
bool bench_order_check(bench *b, bench_data *data);
/* Random bits, of which the elements of the first operand of the first set are made. */
uint32_t bench_bits_at(int64_t index);

/* ---- whole rows ---- */

/* References. Inputs: x; x, scale; x, scale, shift (the shift may be NULL); logits, label. */
void bench_softmax(double *const *out, double *size, const double *const *in, int64_t length);
void bench_rmsnorm(double *const *out, double *size, const double *const *in, int64_t length);
void bench_layernorm(double *const *out, double *size, const double *const *in, int64_t length);
void bench_cross_entropy(double *const *out, double *size, const double *const *in, int64_t length);
void bench_softmax_gradient(double *const *out, double *size, const double *const *in, int64_t length);
void bench_rmsnorm_gradient(double *const *out, double *size, const double *const *in, int64_t length);
void bench_scale_gradient(double *const *out, double *size, const double *const *in, int64_t length);
void bench_rmsnorm_gradients(double *const *out, double *size, const double *const *in, int64_t length);
void bench_scale_beside(double *const *out, double *size, const double *const *in, int64_t length);
/* Of x: less its mean, over its deviation; over its norm; between its least and its greatest. */
void bench_standardised(double *const *out, double *size, const double *const *in, int64_t length);
void bench_unit(double *const *out, double *size, const double *const *in, int64_t length);
void bench_rescaled(double *const *out, double *size, const double *const *in, int64_t length);
/* x, scale, shift, running mean and variance: both of these, and x normalised. */
void bench_batch_norm(double *const *out, double *size, const double *const *in, int64_t length);
/* x, the gradient, scale, mean, 1 / deviation: gradients of the scale, of the shift, and of x. */
void bench_batch_gradient(double *const *out, double *size, const double *const *in, int64_t length);
void bench_dot(double *const *out, double *size, const double *const *in, int64_t length);
/* Points and centres of BENCH_COORDINATES each: the nearest centre. */
enum { BENCH_COORDINATES = 8 };
void bench_nearest(double *const *out, double *size, const double *const *in, int64_t length);
/* mask, x: x where the mask is, its mean elsewhere. */
void bench_filled(double *const *out, double *size, const double *const *in, int64_t length);
/* The greatest of x, and its index. */
void bench_best(double *const *out, double *size, const double *const *in, int64_t length);
bool bench_along_check(bench *b, bench_data *data, const bench_row *row);

/* ---- measuring ---- */

typedef enum bench_mode {
    BENCH_DEVICE_TIME,
    BENCH_GRAPH_TIME,  /* in a CUDA graph; on the host as BENCH_DEVICE_TIME */
    BENCH_ENQUEUE_TIME /* the host's time */
} bench_mode;

/* One of the things that are measured alternately. turn counts up: it chooses the set. */
typedef struct bench_runner {
    bool (*run)(bench *b, void *user, int64_t iteration);
    void *user;
} bench_runner;

typedef struct bench_time {
    double us, min_us, p10_us, p90_us; /* us: the median */
    int samples;
} bench_time;

bool bench_measure(bench *b, bench_mode mode, int batch_at_least, const bench_runner *runners, int n,
                   bench_time *out);
/* The times of `count` sorted samples. */
bench_time bench_summary(double *samples, int count);

/* ---- floors ---- */

typedef struct bench_floor bench_floor;

bool bench_floor_make(bench *b, bench_floor **out, const bench_row *row, const bench_data *data);
void bench_floor_free(bench_floor *floor);
bool bench_floor_run(bench *b, void *floor, int64_t iteration);

/* ---- the CUDA driver and NVRTC, without kiln between ---- */

bool bench_driver_open(bench *b);
void bench_driver_close(bench_driver *driver);
/* Milliseconds that NVRTC itself takes; *cubin, allocated with malloc, may be NULL. */
bool bench_driver_compile(bench *b, const char *source, void **cubin, double *ms);
/* extern "C" function `name` of a source, as a CUfunction. It lives until the driver is closed. */
bool bench_driver_function(bench *b, void **out, const char *source, const char *name);
/* Bytes of the kernel's first parameter in a source; 0 where the driver does not tell. */
size_t bench_driver_parameter_size(bench *b, const char *source);
bool bench_driver_launch(bench *b, void *function, unsigned grid, unsigned block, void **params,
                         bool is_dependent);
bool bench_driver_copy(bench *b, void *to, void *from, size_t bytes);

/* ---- running rows ---- */

/* The result of one row. A number that does not belong to the row is NaN. */
typedef struct bench_result {
    bench_time time, floor;
    double copy_us; /* the driver's copy of as many bytes */
    double bytes;
    double compile_ms, best_ms, first_ms, result_us; /* of the rows of first use */
    const char *mode;                                /* "stream", "graph", "enqueue", "wall" */
    int checked;                                     /* elements compared */
} bench_result;

bool bench_elements_run(bench *b, const bench_row *row, bench_result *out);
bool bench_chain_run(bench *b, const bench_row *row, bench_result *out);
bool bench_call_run(bench *b, const bench_row *row, bench_result *out);
bool bench_by_name_run(bench *b, const bench_row *row, bench_result *out);
bool bench_plan_run(bench *b, const bench_row *row, bench_result *out);
bool bench_first_use_run(bench *b, const bench_row *row, bench_result *out);
/* The other side of bench_first_use_run, in a process of its own: the name is BENCH_CHILD and the row's. */
#define BENCH_CHILD "child-"
int bench_child_run(bench *b, const char *name);

#endif
