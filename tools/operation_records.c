/* tools/operation_records.c - records of the table's operations, for the bundle that is installed with the
 * library (cmake/bake.cmake): each variant with its own dtypes, in the layouts that programs have most.
 * `kiln bake` compiles them.
 *
 *     operation_records FILE [LETTERS [NAME,NAME...]]
 *
 * LETTERS are the dtypes (NumPy's letters: "?lfd") that variants may have, for all inputs and outputs.
 *
 * Elementwise: contiguous arrays of one axis, small and large; numbers by value in the place of each input,
 * and of all but one; a row beside a matrix. Reductions and scans: of all elements, along the last axis,
 * along the first. The baseline, which takes any layout, comes with these: of elementwise operations, and on
 * CUDA of most reductions. What has none comes in the layouts of `record_layouts`.
 *
 * Sorts: the passes that have none of the user's texts, for keys of each width, so that a sort by a key that
 * nobody has compiled needs maps of that key and of its body alone; sort and argsort by name. Selections: the
 * scan that is the same for all.
 *
 * Besides, the kernels by which arrays of these dtypes are converted to each other and, on CUDA, copied,
 * filled and counted up: programs that call operations do so, too. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kiln/kiln.h>

#include "kernel/kernel.h"
#include "kernel/sort.h"
#include "schedules/choose.h"
#include "schedules/spec_text.h"
#include "types/dtype.h"

enum { MOST = 8, ROWS = 1000, COLUMNS = 1024, SMALL = 100, LARGE = 1 << 24, MOST_LINES = 512, MOST_AXES = 3 };

typedef struct job {
    FILE *out;
    const kiln_operation *operation;
    const char *letters; /* of dtypes; NULL: all */
    kiln_dtype in[MOST];
    int n_in, n_out;
    long calls, left_out;
    /* of the variant */
    char *line[MOST_LINES];
    int n_lines;
    bool has_baseline[KN_CUDA + 1]; /* of the call */
} job;

/* ---- lines ---- */

static kn_backend_kind backend_of(const kiln_record_line *line)
{
    return strncmp(line->targets, "host", strlen("host")) == 0 ? KN_HOST : KN_CUDA;
}

static bool is_baseline(const kiln_record_line *line)
{
    char name[64];
    size_t length = 0;
    const char *field = kn_spec_field(line->text, "schedule", &length);
    if (!field || (size_t)snprintf(name, sizeof name, "%.*s", (int)length, field) >= sizeof name)
        return false;
    const kn_schedule schedule = {.kind = kn_kind_find(backend_of(line), name)};
    return schedule.kind && kn_schedule_is_baseline(&schedule, backend_of(line));
}

/* Each line once for a variant. */
static void put_line(job *j, const kiln_record_line *line)
{
    for (int k = 0; k < j->n_lines; k++)
        if (strcmp(j->line[k], line->text) == 0)
            return;
    if (j->n_lines == MOST_LINES || !(j->line[j->n_lines] = strdup(line->text))) {
        fprintf(stderr, "operation_records: too many lines for %s\n", line->name);
        exit(1);
    }
    j->n_lines++;
    fprintf(j->out, "%s\n", line->text);
}

static bool look_for_baseline(const kiln_record_line *line, void *user)
{
    job *j = user;
    j->has_baseline[backend_of(line)] |= is_baseline(line);
    return true;
}

static bool take_all(const kiln_record_line *line, void *user)
{
    put_line(user, line);
    return true;
}

/* What a baseline computes too is left out. */
static bool take_needed(const kiln_record_line *line, void *user)
{
    job *j = user;
    if (!j->has_baseline[backend_of(line)] || is_baseline(line))
        put_line(j, line);
    return true;
}

/* ---- calls ---- */

/* The lines of a call go to take. */
static void record_kernel(job *j, kiln_kernel *kernel, kiln_array *const *out, int n_out, const kiln_arg *in,
                          int n_in, const kiln_call_options *options,
                          bool (*take)(const kiln_record_line *line, void *user))
{
    char *lines = NULL;
    memset(j->has_baseline, 0, sizeof j->has_baseline);
    bool done = kernel && kiln_kernel_record(&lines, kernel, out, n_out, in, n_in, options) == KILN_OK &&
                kiln_record_read(lines, NULL, look_for_baseline, j) == KILN_OK &&
                kiln_record_read(lines, NULL, take, j) == KILN_OK;
    kiln_free(lines);
    j->calls += done;
    j->left_out += !done;
}

/* A call that the operation refuses (a number where it wants an array) has no lines. */
static void record(job *j, const kiln_arg *in, const kiln_call_options *options,
                   bool (*take)(const kiln_record_line *line, void *user))
{
    kiln_array *none[MOST] = {NULL};
    kiln_kernel *kernel = NULL;
    if (kiln_operation_kernel(&kernel, j->operation->name, j->in, j->n_in) != KILN_OK)
        kernel = NULL;
    record_kernel(j, kernel, none, j->n_out, in, j->n_in, options, take);
}

/* The inputs of a call: bit i of `numbers` for a number as input i, of `rows` for a row. */
typedef struct layout {
    int ndim;
    unsigned numbers, rows;
    int axis; /* of reductions; -2: all */
    bool is_small;
} layout;

static kiln_arg number_for(const job *j, int i)
{
    return j->in[i] == KILN_BOOL ? kiln_arg_truth(true) : kiln_arg_int(1);
}

static bool make_input(kiln_arg *out, kiln_array **array, const job *j, const layout *l, int i)
{
    const int64_t whole[] = {ROWS, COLUMNS}, all = l->is_small ? SMALL : (int64_t)ROWS * COLUMNS;
    if (l->numbers >> i & 1) {
        *out = number_for(j, i);
        return true;
    }
    bool is_row = l->ndim == 1 || l->rows >> i & 1;
    const int64_t *shape = l->ndim == 1 ? &all : is_row ? whole + 1 : whole;
    if (kiln_array_empty(array, j->in[i], is_row ? 1 : 2, shape, KILN_DEVICE_HOST) != KILN_OK)
        return false;
    *out = kiln_arg_array(*array);
    return true;
}

static void record_call(job *j, const layout *l)
{
    kiln_array *arrays[MOST] = {NULL};
    kiln_arg in[MOST];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    bool done = true;
    for (int i = 0; done && i < j->n_in; i++)
        done = make_input(&in[i], &arrays[i], j, l, i);
    if (j->operation->reduce && l->axis != -2) {
        options.axes = &l->axis;
        options.n_axes = 1;
    }
    if (done)
        record(j, in, &options, take_all);
    for (int i = 0; i < j->n_in; i++)
        kiln_array_free(arrays[i]);
}

/* ---- layouts of reductions ---- */

/* One input of a reduction, the axes from the outermost in memory on, and the axes reduced. */
typedef struct reduced {
    int ndim, in_memory[MOST_AXES];
    int64_t shape[MOST_AXES];
    int64_t step;  /* between neighbours in memory, in elements */
    int repeated;  /* the axis of stride 0; -1: none */
    unsigned axes; /* bits */
} reduced;

static kiln_status make_reduced(kiln_array **out, kiln_dtype dtype, const reduced *r)
{
    kiln_array *whole = NULL;
    int64_t strides[MOST_AXES] = {0}, size = r->step, item = (int64_t)kiln_dtype_size(dtype);
    for (int k = r->ndim; k-- > 0;) {
        int axis = r->in_memory[k];
        strides[axis] = axis == r->repeated ? 0 : size * item;
        size *= axis == r->repeated ? 1 : r->shape[axis];
    }
    kiln_status status = kiln_array_empty(&whole, dtype, 1, &size, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = kiln_array_as_strided(out, whole, r->ndim, r->shape, strides);
    kiln_array_free(whole);
    return status;
}

static void record_reduced(job *j, const reduced *r)
{
    kiln_array *x = NULL;
    kiln_arg in[MOST];
    int axes[MOST_AXES];
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = axes;
    for (int a = 0; a < r->ndim; a++)
        if (r->axes >> a & 1)
            axes[options.n_axes++] = a;
    if (make_reduced(&x, j->in[0], r) == KILN_OK) {
        in[0] = kiln_arg_array(x);
        for (int i = 1; i < j->n_in; i++)
            in[i] = number_for(j, i);
        record(j, in, &options, take_needed);
    }
    kiln_array_free(x);
}

/* Each axis last in memory in turn, contiguous, in steps and repeated, over every set of axes. */
static void record_shape(job *j, reduced *r)
{
    bool is_small = true;
    for (int a = 0; a < r->ndim; a++)
        is_small = is_small && r->shape[a] <= ROWS;
    for (int first = 0; first == 0 || (first < r->ndim && r->ndim < MOST_AXES); first++) {
        for (int k = 0; k < r->ndim; k++)
            r->in_memory[k] = (first + k) % r->ndim;
        for (r->axes = r->ndim > 0; r->axes < 1u << r->ndim; r->axes++) {
            r->repeated = -1;
            for (r->step = 1; r->step <= (is_small && r->ndim < MOST_AXES ? 2 : 1); r->step++)
                record_reduced(j, r);
            r->step = 1;
            for (r->repeated = 0; is_small && r->ndim == 2 && r->repeated < r->ndim; r->repeated++)
                record_reduced(j, r);
        }
    }
}

/* Extents on either side of where kinds of schedule change. */
static void record_layouts(job *j)
{
    static const int64_t extents[] = {3, 40, 1, 8, ROWS, 40000, 2, 4, 16, 32, 1000000};
    static const int counts[] = {0, 11, 6, 2}; /* by the number of axes: so many of the extents */
    enum { MOST_ELEMENTS = 4000000 };
    for (int ndim = 0; ndim <= MOST_AXES; ndim++) {
        reduced r = {.ndim = ndim};
        int shapes = 1, count = counts[ndim];
        for (int a = 0; a < ndim; a++)
            shapes *= count;
        for (int number = 0; number < shapes; number++) {
            int64_t size = 1;
            for (int a = 0, rest = number; a < ndim; a++, rest /= count)
                size *= r.shape[a] = extents[rest % count];
            if (size <= MOST_ELEMENTS)
                record_shape(j, &r);
        }
    }
}

static void record_reduction(job *j)
{
    const unsigned numbers = ~1u; /* what else reductions take (ddof) is a number */
    for (int small = 0; small < 2; small++)
        record_call(j, &(layout){1, numbers, 0, -2, small});
    record_call(j, &(layout){2, numbers, 0, -1, false});
    record_call(j, &(layout){2, numbers, 0, 0, false});
    record_layouts(j);
}

static void record_elementwise(job *j)
{
    for (int small = 0; small < 2; small++)
        record_call(j, &(layout){1, 0, 0, -2, small});
    for (int i = 0; j->n_in > 1 && i < j->n_in; i++) {
        record_call(j, &(layout){1, 1u << i, 0, -2, false});
        record_call(j, &(layout){1, ~(1u << i), 0, -2, false});
        record_call(j, &(layout){2, 0, 1u << i, -2, false});
    }
}

/* ---- the table ---- */

/* "ff->f": the dtypes of the inputs; false for a word that is none, or has dtypes that are not wanted. */
static bool read_inputs(job *j, const char *word)
{
    for (const char *c = word; j->letters && *c; c++)
        if (!strchr("->", *c) && !strchr(j->letters, *c))
            return false;
    for (j->n_in = 0; word[j->n_in] && word[j->n_in] != '-'; j->n_in++)
        if (j->n_in == MOST || !(j->in[j->n_in] = kn_dtype_of_letter(word[j->n_in])))
            return false;
    j->n_out = (int)strlen(word) - j->n_in - 2;
    return true;
}

static bool is_wanted(const char *name, const char *names)
{
    size_t length = strlen(name);
    for (const char *at = names; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || !at[length]))
            return true;
    return !names;
}

static void record_operation(job *j)
{
    char types[4096];
    snprintf(types, sizeof types, "%s", j->operation->map ? j->operation->types : "");
    for (char *rest = types, *word; (word = strtok_r(rest, " ", &rest));)
        if (read_inputs(j, word)) {
            (j->operation->reduce ? record_reduction : record_elementwise)(j);
            while (j->n_lines > 0)
                free(j->line[--j->n_lines]);
        }
}

/* ---- arrays ---- */

/* The host copies, fills and counts by itself. */
static bool take_of_cuda(const kiln_record_line *line, void *user)
{
    if (backend_of(line) == KN_CUDA)
        put_line(user, line);
    return true;
}

/* One axis, by steps of one element or two, or the transpose of a matrix. */
enum { STEPS_OF_ONE, STEPS_OF_TWO, TRANSPOSED, PLACINGS };

static kiln_array *place(kiln_dtype dtype, int placing)
{
    const int64_t shape[] = {ROWS, COLUMNS}, count = ROWS * COLUMNS;
    kiln_array *whole = NULL, *out = NULL;
    kiln_status status = placing == TRANSPOSED ? kiln_array_empty(&whole, dtype, 2, shape, KILN_DEVICE_HOST)
                                               : kiln_array_empty(&whole, dtype, 1, &count, KILN_DEVICE_HOST);
    if (status == KILN_OK)
        status = placing == TRANSPOSED
                     ? kiln_array_transpose(&out, whole, NULL)
                     : kiln_array_slice(&out, whole, 0, 0, count, placing == STEPS_OF_TWO ? 2 : 1);
    kiln_array_free(whole);
    return status == KILN_OK ? out : NULL;
}

static void record_copies(job *j, kiln_dtype bits)
{
    const unsigned char zero[16] = {0};
    kiln_kernel *kernel = NULL;
    for (int placing = 0; placing < PLACINGS; placing++) {
        kiln_array *x = place(bits, placing), *none = NULL;
        const kiln_arg in = kiln_arg_array(x), number = kiln_arg_typed(bits, zero);
        if (x && kn_array_kernel_copying(&kernel) == KILN_OK)
            record_kernel(j, kernel, &none, 1, &in, 1, NULL, take_of_cuda);
        if (x && kn_array_kernel_filling(&kernel) == KILN_OK)
            record_kernel(j, kernel, &x, 1, &number, 1, NULL, take_of_cuda);
        kiln_array_free(x);
    }
}

static void record_range(job *j, kiln_dtype dtype)
{
    const kn_dtype_info *info = kn_dtype_info_of(dtype);
    const bool is_whole = info->kind == KN_KIND_INT || info->kind == KN_KIND_UINT;
    const kiln_arg whole[] = {kiln_arg_uint(0), kiln_arg_uint(1)},
                   real[] = {kiln_arg_float(0), kiln_arg_float(1), kiln_arg_float(1)};
    kiln_array *x = place(dtype, STEPS_OF_ONE);
    kiln_kernel *kernel = NULL;
    if (x && kn_array_kernel_counting(&kernel, is_whole, dtype != KILN_FLOAT64) == KILN_OK)
        record_kernel(j, kernel, &x, 1, is_whole ? whole : real, is_whole ? 2 : 3, NULL, take_of_cuda);
    kiln_array_free(x);
}

static void record_conversion(job *j, kiln_dtype from, kiln_dtype to)
{
    kiln_array *x = place(from, STEPS_OF_ONE), *none = NULL;
    const kiln_arg in = kiln_arg_array(x);
    kiln_kernel *kernel = NULL;
    if (x && from != to && kn_array_kernel_converting(&kernel, from, to) == KILN_OK)
        record_kernel(j, kernel, &none, 1, &in, 1, NULL, take_all);
    kiln_array_free(x);
}

/* ---- sorts ---- */

/* No user's kernel has these names' stages. */
static bool take_own_pass(const kiln_record_line *line, void *user)
{
    if (strcmp(line->name, "sort_pass") == 0 || strcmp(line->name, "sort_digits") == 0 ||
        strcmp(line->name, "select_numbers") == 0)
        put_line(user, line);
    return true;
}

/* Rows of one axis, of two, and a long one, which may have larger tiles. Sorts have other steps in their
 * quick forms. */
static void record_sort(job *j, kiln_kernel *kernel, kiln_dtype dtype, bool is_quick_too,
                        bool (*take)(const kiln_record_line *line, void *user))
{
    static const kiln_forms forms[] = {KILN_FORMS_BEST, KILN_FORMS_QUICK};
    static const int64_t shapes[][2] = {{ROWS * COLUMNS}, {SMALL, 8 * COLUMNS}, {LARGE}};
    for (int k = 0; k < 3; k++) {
        kiln_array *x = NULL, *none = NULL;
        bool done = kiln_array_empty(&x, dtype, k == 1 ? 2 : 1, shapes[k], KILN_DEVICE_HOST) == KILN_OK;
        const kiln_arg in = kiln_arg_array(x);
        for (int f = 0; f <= is_quick_too && done; f++) {
            done = kiln_set_forms(forms[f]) == KILN_OK;
            record_kernel(j, kernel, &none, 1, &in, 1, NULL, take);
        }
        kiln_array_free(x);
    }
}

/* Two keys, so that there is a first pass, and others. */
static void record_passes(job *j, kiln_dtype dtype)
{
    const kiln_sort_key keys[] = {{.key = "x"}, {.key = "x"}};
    kiln_kernel *kernel = NULL;
    if (kiln_sort_create(&kernel, "T x", "int64 at", keys, 2, "at = i", "passes", NULL) == KILN_OK)
        record_sort(j, kernel, dtype, true, take_own_pass);
    kiln_kernel_free(kernel);
}

static void record_named_sort(job *j, kiln_dtype dtype, kn_sort_name name)
{
    const kn_named_sort sort = {.name = name, .along = {.has_axis = true, .axis = -1, .count = KN_SORT_ALL}};
    kiln_kernel *kernel = NULL;
    const int64_t rows[] = {ROWS, COLUMNS};
    kiln_array *x = NULL, *none = NULL;
    if (kn_sort_find(&kernel, &sort) == KILN_OK)
        record_sort(j, kernel, dtype, false, take_all);
    if (kiln_set_forms(KILN_FORMS_BEST) == KILN_OK && kernel &&
        kiln_array_empty(&x, dtype, 2, rows, KILN_DEVICE_HOST) == KILN_OK) { /* short rows */
        const kiln_arg in = kiln_arg_array(x);
        record_kernel(j, kernel, &none, 1, &in, 1, NULL, take_all);
    }
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

static bool is_wanted_dtype(const job *j, kiln_dtype dtype)
{
    return !j->letters || strchr(j->letters, kn_dtype_info_of(dtype)->letter);
}

static void record_arrays(job *j)
{
    unsigned sizes = 0;
    for (int from = KILN_BOOL; from < KN_DTYPE_END; from++) {
        if (!is_wanted_dtype(j, (kiln_dtype)from))
            continue;
        const kiln_dtype bits = kn_dtype_of_bits((int)kiln_dtype_size((kiln_dtype)from));
        if (!(sizes >> bits & 1))
            record_copies(j, bits);
        sizes |= 1u << bits;
        if (from != KILN_BOOL)
            record_range(j, (kiln_dtype)from);
        for (int to = KILN_BOOL; to < KN_DTYPE_END; to++)
            if (is_wanted_dtype(j, (kiln_dtype)to))
                record_conversion(j, (kiln_dtype)from, (kiln_dtype)to);
        while (j->n_lines > 0)
            free(j->line[--j->n_lines]);
    }
}

static void record_selection(job *j)
{
    const int64_t sizes[] = {1, SMALL, ROWS * COLUMNS};
    kiln_kernel *kernel = NULL;
    bool done = kiln_select_create(&kernel, "T x", "T y", "x != (T)0", "y = x", "chosen", NULL) == KILN_OK &&
                kiln_set_forms(KILN_FORMS_QUICK) == KILN_OK;
    for (int k = 0; k < 3 && done; k++) {
        kiln_array *x = NULL, *none[2] = {NULL};
        done = kiln_array_empty(&x, KILN_BOOL, 1, &sizes[k], KILN_DEVICE_HOST) == KILN_OK;
        const kiln_arg in = kiln_arg_array(x);
        record_kernel(j, kernel, none, 2, &in, 1, NULL, take_own_pass);
        kiln_array_free(x);
    }
    kiln_kernel_free(kernel);
}

static void record_sorts(job *j)
{
    record_selection(j);
    for (int k = KILN_BOOL; k < KN_DTYPE_END; k++) {
        if (!is_wanted_dtype(j, (kiln_dtype)k))
            continue;
        record_passes(j, (kiln_dtype)k);
        record_named_sort(j, (kiln_dtype)k, KN_SORT);
        record_named_sort(j, (kiln_dtype)k, KN_ARGSORT);
    }
    while (j->n_lines > 0)
        free(j->line[--j->n_lines]);
}

/* A name that no operation has is a mistake of who wrote the list. */
static bool are_known(const char *names)
{
    kiln_kernel *none = NULL;
    char list[4096];
    bool known = true;
    snprintf(list, sizeof list, "%s", names ? names : "");
    for (char *rest = list, *name; (name = strtok_r(rest, ",", &rest));)
        if (kiln_operation_kernel(&none, name, NULL, 0) == KILN_ERROR_NOT_FOUND) {
            fprintf(stderr, "operation_records: %s\n", kiln_error_message());
            known = false;
        }
    return known;
}

int main(int argc, char **argv)
{
    const char *names = argc > 3 && argv[3][0] ? argv[3] : NULL;
    job j = {.out = argc > 1 ? fopen(argv[1], "w") : NULL,
             .letters = argc > 2 && argv[2][0] ? argv[2] : NULL};
    if (!j.out) {
        fprintf(stderr, "usage: operation_records FILE [LETTERS [NAME,NAME...]]\n");
        return 2;
    }
    if (!are_known(names))
        return 1;
    for (int k = 0; k < kiln_operation_count(); k++) {
        kiln_operation o = KILN_OPERATION_INIT;
        if (kiln_operation_at(&o, k) != KILN_OK || !is_wanted(o.name, names))
            continue;
        j.operation = &o;
        record_operation(&j);
    }
    record_arrays(&j);
    record_sorts(&j);
    printf("%ld calls; %ld that operations refuse\n", j.calls, j.left_out);
    return fclose(j.out) == 0 && j.calls > 0 ? 0 : 1;
}
