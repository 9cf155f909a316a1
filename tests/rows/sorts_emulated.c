/* sorts_emulated - sorts of random rows by the kernels that a GPU would run, twice, against the host's, which
 * tests/unit/api_sorts.c and tests/numpy compare with references of their own: keys of all dtypes, both
 * orders, all axes and strides, several tiles of each size, several keys; and searches of long rows for some
 * places.
 *
 * usage: sorts_emulated [COUNT [SEED]] */
#include "drawn.h"
#include "emulated.h"

#include <kiln/kiln.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 3 };

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (state >> 33) % below;
}

/* Bits: numbers of all kinds, of which many are equal; or few of the bits are set. */
static void fill(unsigned char *to, size_t bytes, bool is_bool)
{
    unsigned char mask = (unsigned char)draw(256), upper = draw(4) ? 255 : 0;
    for (size_t k = 0; k < bytes; ++k)
        to[k] = is_bool   ? (unsigned char)draw(2)
                : draw(8) ? (unsigned char)((draw(256) & mask) | (k % 4 == 3 ? upper & 0x7f : 0))
                          : (unsigned char)(draw(2) ? 255 : 0);
}

typedef struct input {
    kiln_array *array;
    unsigned char *memory;
} input;

/* Axes in any order in memory, some backwards, with gaps. */
static bool make(input *in, kiln_dtype dtype, const int64_t *shape)
{
    int64_t item = (int64_t)kiln_dtype_size(dtype), run = item, strides[AXES], first = 0;
    int order[AXES] = {0, 1, 2};
    for (int k = AXES - 1; k > 0; --k) {
        int other = (int)draw((uint64_t)k + 1), was = order[k];
        order[k] = order[other];
        order[other] = was;
    }
    for (int k = AXES; k-- > 0;) {
        strides[order[k]] = run;
        run = (run * shape[order[k]]) + item * (int64_t)draw(2);
        if (draw(4) == 0) {
            first += strides[order[k]] * (shape[order[k]] - 1);
            strides[order[k]] = -strides[order[k]];
        }
    }
    in->memory = malloc((size_t)run + 16);
    fill(in->memory, (size_t)run + 16, dtype == KILN_BOOL);
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    spec.dtype = dtype;
    spec.ndim = AXES;
    spec.shape = shape;
    spec.strides = strides;
    spec.device = KILN_DEVICE_HOST;
    return kiln_array_wrap(&in->array, in->memory + first, &spec, NULL, NULL) == KILN_OK;
}

static bool same(kiln_array *const *a, kiln_array *const *b, int count)
{
    bool is = true;
    for (int j = 0; j < count; ++j)
        is = is && memcmp(kiln_array_data(a[j]), kiln_array_data(b[j]), kiln_array_nbytes(a[j])) == 0;
    return is;
}

static bool say(bool right, const char *what, const int64_t *shape, kiln_dtype dtype, int axis)
{
    if (!right)
        printf("FAILED: %s: shape %lld,%lld,%lld of %s, axis %d: %s\n", what, (long long)shape[0],
               (long long)shape[1], (long long)shape[2], kiln_dtype_name(dtype), axis, kiln_error_message());
    return right;
}

/* The call by the kernels of a GPU, perhaps those of the quick form. */
static bool emulate(kiln_kernel *kernel, kiln_array **out, int n_out, const kiln_arg *in, int n_in,
                    const kiln_call_options *options, bool is_quick)
{
    emulated_baseline = is_quick;
    kiln_status status = emulated_call("sm_90", kernel, out, n_out, in, n_in, options);
    emulated_baseline = false;
    return status == KILN_OK;
}

/* The call on the host, and twice by the kernels of a GPU; the second time perhaps by the quick ones. */
static bool compare(kiln_kernel *kernel, int n_out, const kiln_arg *in, int n_in,
                    const kiln_call_options *options, const int64_t *shape, int axis)
{
    kiln_array *host[2] = {NULL, NULL}, *cuda[2] = {NULL, NULL}, *again[2] = {NULL, NULL};
    const kiln_dtype dtype = kiln_array_dtype(in[0].value.array);
    bool right = say(kiln_kernel_call(kernel, host, n_out, in, n_in, options) == KILN_OK, "host", shape,
                     dtype, axis) &&
                 say(emulate(kernel, cuda, n_out, in, n_in, options, false) &&
                         emulate(kernel, again, n_out, in, n_in, options, draw(2)),
                     "call", shape, dtype, axis) &&
                 say(same(host, cuda, n_out), "not as on the host", shape, dtype, axis) &&
                 say(same(cuda, again, n_out), "other bits again", shape, dtype, axis);
    for (int j = 0; j < n_out; ++j) {
        kiln_array_free(host[j]);
        kiln_array_free(cuda[j]);
        kiln_array_free(again[j]);
    }
    return right;
}

/* True: tiles of more threads are taken as if there were many elements. */
static bool draw_kinds(void)
{
    const bool are_large = draw(2);
    if (are_large)
        setenv("KILN_KINDS", "-fewest", 1);
    else
        unsetenv("KILN_KINDS");
    return are_large;
}

static bool run_sort(void)
{
    const bool are_large = draw_kinds();
    int dtype = KILN_BOOL + (int)draw(14), axis = (int)draw(AXES), n_keys = 1 + (int)draw(2);
    bool moves = draw(2);
    int64_t shape[AXES];
    for (int a = 0; a < AXES; ++a)
        shape[a] = 1 + (int64_t)draw(a != axis ? 4 : are_large ? 20000 : draw(3) ? 300 : 9000);
    const kiln_sort_key keys[] = {{"x", NULL, (unsigned)draw(2)}, {"w", "int16", (unsigned)draw(2)}};
    const kiln_sort_key by[] = {keys[n_keys - 1], keys[0]};
    input x = {0}, w = {0};
    kiln_kernel *kernel = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.axes = &axis;
    options.n_axes = 1;
    if (!kiln_dtype_name((kiln_dtype)dtype))
        return true;
    bool right = make(&x, (kiln_dtype)dtype, shape) && make(&w, KILN_INT16, shape);
    if (right)
        right = kiln_sort_create(&kernel, "T x, int16 w", moves ? "T y, int16 v" : "T y, int64 at", by,
                                 n_keys, moves ? "y = x; v = w" : "y = x; at = i", "sorted", NULL) == KILN_OK;
    const kiln_arg in[] = {kiln_arg_array(x.array), kiln_arg_array(w.array)};
    right = right && compare(kernel, 2, in, 2, &options, shape, axis);
    kiln_kernel_free(kernel);
    kiln_array_free(x.array);
    kiln_array_free(w.array);
    free(x.memory);
    free(w.memory);
    return right;
}

/* Elements of 4 bytes, alone or with where they were, in several tiles of each size (kind_sort_place.c). */
static bool run_words(void)
{
    static const kiln_dtype words[] = {KILN_INT32, KILN_UINT32, KILN_FLOAT32};
    const kiln_dtype dtype = words[draw(3)];
    const bool are_large = draw_kinds();
    const char *text = draw(2) ? "sort(x, axis=1)" : "argsort(x, axis=1)";
    const int64_t shape[AXES] = {1 + (int64_t)draw(2), 8193 + (int64_t)draw(are_large ? 20000 : 9000),
                                 1 + (int64_t)draw(2)};
    input x = {0};
    kiln_kernel *kernel = NULL;
    bool right = make(&x, dtype, shape) && kiln_expression_create(&kernel, "x", text, NULL) == KILN_OK;
    const kiln_arg in = kiln_arg_array(x.array);
    right = say(right && compare(kernel, 1, &in, 1, NULL, shape, 1), text, shape, dtype, 1);
    kiln_kernel_free(kernel);
    kiln_array_free(x.array);
    free(x.memory);
    return right;
}

/* Rows that are too long to be sorted at once, of which elements at one place or some are wanted. */
static bool run_search(void)
{
    static const struct {
        const char *text;
        int n_out;
        bool is_real;
    } searches[] = {{"topk(x, 77, axis=%d)", 2, false},
                    {"topk(x, 5, axis=%d, largest=False)", 2, false},
                    {"partition(x, 1234, axis=%d)", 1, false},
                    {"argpartition(x, -7, axis=%d)", 1, false},
                    {"median(x, axis=%d)", 1, true},
                    {"quantile(x, (0.1, 0.77), axis=%d, method='lower')", 1, true}};
    const int s = (int)draw(sizeof searches / sizeof *searches), axis = (int)draw(AXES);
    const int dtype = KILN_BOOL + (int)draw(searches[s].is_real ? 13 : 15);
    int64_t shape[AXES];
    char text[80];
    input x = {0};
    kiln_kernel *kernel = NULL;
    /* Those of a row so long that each of its parts has the few elements that are looked for. */
    const bool has_parts = searches[s].n_out == 2 && draw(2);
    for (int a = 0; a < AXES; ++a)
        shape[a] = a == axis ? (has_parts ? 32768 + (int64_t)draw(9000) : 4097 + (int64_t)draw(6000))
                             : 1 + (int64_t)draw(has_parts ? 2 : 3);
    if (!kiln_dtype_name((kiln_dtype)dtype))
        return true;
    snprintf(text, sizeof text, searches[s].text, axis);
    bool right =
        make(&x, (kiln_dtype)dtype, shape) && say(kiln_expression_create(&kernel, "x", text, NULL) == KILN_OK,
                                                  text, shape, (kiln_dtype)dtype, axis);
    const kiln_arg in = kiln_arg_array(x.array);
    right = right && say(compare(kernel, searches[s].n_out, &in, 1, NULL, shape, axis), text, shape,
                         (kiln_dtype)dtype, axis);
    kiln_kernel_free(kernel);
    kiln_array_free(x.array);
    free(x.memory);
    return right;
}

int main(int argc, char **argv)
{
    long count = drawn_count(argc, argv, 24, 1), failed = 0;
    state = drawn_state(argc, argv);
    for (long k = 0; k < count; ++k)
        failed += !(draw(3) == 0 ? run_words() : draw(2) ? run_search() : run_sort());
    printf("%ld random sorts, %ld failed\n", count, failed);
    return failed > 0;
}
