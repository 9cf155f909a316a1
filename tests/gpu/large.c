/* large.c - arrays beyond 2^31 and 2^32 elements on a GPU: contiguous, broadcast, transposed, stepped,
 * reversed, with i.
 *
 * usage: large [--small]
 *
 * What kernels wrote is compared on the device, element by element, by a kernel written by hand, and on the
 * host at chosen and random places. Takes up to 36 GB of device memory. --small: the same on whatever device
 * there is, with small arrays and plain C in the place of the kernel written by hand. Exit code 77 where
 * there is no CUDA device, or too little memory. */
#include <kiln/kiln.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* One text, compiled for this program and for the device. */
#define BOTH(...)                                                                                            \
    __VA_ARGS__                                                                                              \
    static const char both_text[] = #__VA_ARGS__;
#define FUNCTION static

BOTH(
    enum kind{HASH, PLUS_ONE, SUM, ACROSS, REVERSED, EVERY_THIRD, POISON}; typedef unsigned long long ull;

    FUNCTION unsigned hashed(ull i) { return (unsigned)(i * 2654435761u >> 16) & 255; }

    /* The expected element of an array of rows by columns. */
    FUNCTION unsigned value(int kind, ull rows, ull columns, ull row, ull column) {
        ull i = row * columns + column;
        if (kind == HASH)
            return hashed(i);
        if (kind == PLUS_ONE)
            return (hashed(i) + 1) & 255;
        if (kind == SUM)
            return (unsigned)(row * 7 + column * 13) & 255;
        if (kind == ACROSS)
            return hashed(column * rows + row);
        if (kind == REVERSED)
            return hashed(rows * columns - 1 - i);
        if (kind == EVERY_THIRD)
            return hashed(3 * i + 1);
        return 238;
    })

static const char compare_text[] =
    "extern \"C\" __global__ void compare(const char *data, int is_float, ull rows, ull columns, long long "
    "row_stride, long long column_stride, int kind, ull *wrong)\n"
    "{\n"
    "    for (ull row = blockIdx.y; row < rows; row += gridDim.y)\n"
    "        for (ull column = blockIdx.x * (ull)blockDim.x + threadIdx.x; column < columns; column += "
    "gridDim.x * (ull)blockDim.x) {\n"
    "            const char *at = data + (long long)row * row_stride + (long long)column * column_stride;\n"
    "            unsigned expected = value(kind, rows, columns, row, column);\n"
    "            bool same = is_float ? *(const float *)at == (float)expected : *(const unsigned char *)at "
    "== "
    "expected;\n"
    "            if (!same)\n"
    "                atomicAdd(wrong, 1ull);\n"
    "        }\n"
    "}\n";

enum { SAMPLES = 48 };

static struct {
    bool is_small;
    kiln_module *module;
    kiln_function *compare;
    kiln_array *wrong;
    uint64_t random;
    int failures;
} test = {.random = 1};

static void must(kiln_status status, const char *what)
{
    if (status == KILN_OK)
        return;
    fprintf(stderr, "%s: %s: %s\n%s\n", what, kiln_status_name(status), kiln_error_message(),
            kiln_error_log());
    exit(1);
}

/* ---- comparing ---- */

static bool is_right(const void *at, kiln_dtype dtype, unsigned expected)
{
    float single;
    if (dtype == KILN_UINT8)
        return *(const unsigned char *)at == expected;
    memcpy(&single, at, sizeof single);
    return single == (float)expected;
}

static uint64_t count_on_host(kiln_array *a, int kind)
{
    const int64_t *shape = kiln_array_shape(a), *strides = kiln_array_strides(a);
    uint64_t wrong = 0;
    for (int64_t row = 0; row < shape[0]; row++)
        for (int64_t column = 0; column < shape[1]; column++)
            wrong += !is_right((char *)kiln_array_data(a) + row * strides[0] + column * strides[1],
                               kiln_array_dtype(a),
                               value(kind, (ull)shape[0], (ull)shape[1], (ull)row, (ull)column));
    return wrong;
}

static uint64_t count_on_device(kiln_array *a, int kind)
{
    const int64_t *shape = kiln_array_shape(a), *strides = kiln_array_strides(a);
    const uint64_t none = 0;
    uint64_t wrong = 0;
    kiln_arg args[] = {kiln_arg_array(a),          kiln_arg_int32(kiln_array_dtype(a) == KILN_FLOAT32),
                       kiln_arg_int64(shape[0]),   kiln_arg_int64(shape[1]),
                       kiln_arg_int64(strides[0]), kiln_arg_int64(strides[1]),
                       kiln_arg_int32(kind),       kiln_arg_array(test.wrong)};
    kiln_dim3 grid =
        kiln_dims(shape[1] > 1 << 20 ? 4096 : 64, shape[0] < 1024 ? (unsigned)shape[0] : 1024, 1);
    must(kiln_array_fill(test.wrong, &none), "counter");
    must(kiln_function_launch(test.compare, grid, kiln_dims(256, 1, 1), args, 8, NULL), "compare");
    must(kiln_array_to_host(test.wrong, &wrong, sizeof wrong), "counter");
    return wrong;
}

static int64_t random_below(int64_t n)
{
    test.random = test.random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((test.random >> 11) % (uint64_t)n);
}

/* Places around the boundaries, then random ones. */
static int64_t sample_place(int k, int64_t size)
{
    const int64_t places[] = {0,
                              size - 1,
                              (INT64_C(1) << 31) - 1,
                              INT64_C(1) << 31,
                              (INT64_C(1) << 31) + 1,
                              (INT64_C(1) << 32) - 1,
                              INT64_C(1) << 32,
                              (INT64_C(1) << 32) + 1,
                              size / 2};
    if (k < (int)(sizeof places / sizeof places[0]) && places[k] < size)
        return places[k];
    return random_below(size);
}

static void sample(kiln_array *a, int kind, const char *name)
{
    const int64_t *shape = kiln_array_shape(a);
    for (int k = 0; k < SAMPLES; k++) {
        int64_t place = sample_place(k, shape[0] * shape[1]), row = place / shape[1],
                column = place % shape[1];
        kiln_array *line = NULL, *one = NULL;
        unsigned char element[4];
        must(kiln_array_select(&line, a, 0, row), "row");
        must(kiln_array_slice(&one, line, 0, column, column + 1, 1), "element");
        must(kiln_array_to_host(one, element, kiln_array_nbytes(one)), "to host");
        if (!is_right(element, kiln_array_dtype(a),
                      value(kind, (ull)shape[0], (ull)shape[1], (ull)row, (ull)column))) {
            printf("FAILED %s: element (%" PRId64 ", %" PRId64 ") is wrong\n", name, row, column);
            test.failures++;
        }
        kiln_array_free(line);
        kiln_array_free(one);
    }
}

/* All of a, which has one or two axes. */
static void expect(kiln_array *a, int kind, const char *name)
{
    kiln_array *rows = NULL;
    if (kiln_array_ndim(a) == 1)
        must(kiln_array_expand_dims(&rows, a, 0), name);
    else
        rows = kiln_array_retain(a);
    uint64_t wrong = test.compare ? count_on_device(rows, kind) : count_on_host(rows, kind);
    if (wrong) {
        printf("FAILED %s: %" PRIu64 " of %" PRId64 " elements are wrong\n", name, wrong, kiln_array_size(a));
        test.failures++;
    }
    sample(rows, kind, name);
    kiln_array_free(rows);
}

/* ---- making ---- */

static int64_t scaled(int64_t n)
{
    return test.is_small ? n >> 16 : n;
}

static kiln_array *new_array(kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *a = NULL;
    const unsigned char poison = 238;
    const float float_poison = 238;
    must(kiln_array_full(&a, dtype, ndim, shape, dtype == KILN_UINT8 ? (const void *)&poison : &float_poison,
                         KILN_DEVICE_DEFAULT),
         "array");
    return a;
}

static kiln_array *view(kiln_array *a, const char *index)
{
    kiln_array *v = NULL;
    must(kiln_array_index(&v, a, index), index);
    return v;
}

static void run(const char *in, const char *body, kiln_array *out, kiln_array *x, kiln_array *y)
{
    kiln_kernel *kernel = NULL;
    kiln_arg args[2] = {kiln_arg_array(x), kiln_arg_array(y)};
    must(kiln_elementwise_create(&kernel, in, "T z", body, "large", NULL), body);
    must(kiln_kernel_call(kernel, &out, 1, args, kiln_kernel_n_in(kernel), NULL), body);
    must(kiln_device_synchronize(KILN_DEVICE_DEFAULT), body);
    kiln_kernel_free(kernel);
}

static const char hash_body[] = "z = (T)((unsigned)((unsigned long long)i * 2654435761u >> 16) & 255)";
static const char plus_body[] = "z = (T)(((unsigned)x + 1) & 255)";

static kiln_array *hashed_array(kiln_dtype dtype, int ndim, const int64_t *shape)
{
    kiln_array *a = new_array(dtype, ndim, shape);
    run("", hash_body, a, NULL, NULL);
    return a;
}

static void free_all(kiln_array *a, kiln_array *b, kiln_array *c, kiln_array *d)
{
    kiln_array_free(a);
    kiln_array_free(b);
    kiln_array_free(c);
    kiln_array_free(d);
    must(kiln_memory_trim(KILN_DEVICE_DEFAULT, 0), "trim");
}

/* ---- the cases ---- */

static void contiguous(kiln_dtype dtype)
{
    const int64_t n = scaled(INT64_C(1) << 32) + 70001;
    kiln_array *x = hashed_array(dtype, 1, &n), *z = new_array(dtype, 1, &n);
    expect(x, HASH, "i");
    run("T x", plus_body, z, x, NULL);
    expect(z, PLUS_ONE, "contiguous");
    kiln_array *back = view(x, "::-1");
    run("T x", "z = x", z, back, NULL);
    expect(z, REVERSED, "reversed");
    free_all(x, z, back, NULL);
}

static void off_by_one(void)
{
    const int64_t n = scaled(INT64_C(1) << 32) + 70001;
    kiln_array *x = hashed_array(KILN_UINT8, 1, &n), *z = new_array(KILN_UINT8, 1, &n);
    kiln_array *x_head = view(x, ":-1"), *z_tail = view(z, "1:");
    run("T x", plus_body, z_tail, x_head, NULL);
    expect(z_tail, PLUS_ONE, "one element apart");
    free_all(x, z, x_head, z_tail);
}

static void stepped(void)
{
    const int64_t n = scaled(INT64_C(3) << 31) + 70002, half = n / 3 * 2;
    kiln_array *x = hashed_array(KILN_UINT8, 1, &n), *z = new_array(KILN_UINT8, 1, &half);
    kiln_array *x_third = view(x, "1::3"), *z_even = view(z, "::2"), *z_odd = view(z, "1::2");
    run("T x", "z = x", z_even, x_third, NULL);
    expect(z_even, EVERY_THIRD, "every third into every second");
    expect(z_odd, POISON, "what lies between");
    free_all(x, z, x_third, z_even);
    kiln_array_free(z_odd);
}

static void broadcast(kiln_dtype dtype)
{
    int64_t side = test.is_small ? 301 : dtype == KILN_UINT8 ? 65701 : 66001;
    const int64_t shape[] = {side, side}, column[] = {side, 1};
    kiln_array *x = new_array(dtype, 2, column), *y = new_array(dtype, 1, &side),
               *z = new_array(dtype, 2, shape);
    run("", "z = (T)((i * 7) & 255)", x, NULL, NULL);
    run("", "z = (T)((i * 13) & 255)", y, NULL, NULL);
    run("T x, T y", "z = (T)((unsigned)(x + y) & 255)", z, x, y);
    expect(z, SUM, "broadcast");
    free_all(x, y, z, NULL);
}

static void transposed(kiln_dtype dtype)
{
    const int64_t rows = test.is_small ? 307 : 70001, columns = test.is_small ? 211 : 61361;
    const int64_t shape[] = {rows, columns}, shape_across[] = {columns, rows};
    kiln_array *x = hashed_array(dtype, 2, shape), *z = new_array(dtype, 2, shape_across), *across = NULL,
               *z_across = NULL;
    must(kiln_array_transpose(&across, x, NULL), "transpose");
    run("T x", "z = x", z, across, NULL);
    expect(z, ACROSS, "transposed");
    must(kiln_array_transpose(&z_across, z, NULL), "transpose");
    run("T x", hash_body, z_across, x, NULL); /* i counts along the rows of the view */
    expect(z_across, HASH, "i into a transposed array");
    run("T x", plus_body, z_across, x, NULL);
    expect(z_across, PLUS_ONE, "into a transposed array");
    free_all(x, z, across, z_across);
}

static void copies(void)
{
    const int64_t rows = test.is_small ? 307 : 70001, shape[] = {rows, test.is_small ? 422 : 122722};
    kiln_array *x = hashed_array(KILN_UINT8, 2, shape), *half = view(x, ":, 1::2"), *copy = NULL;
    const unsigned char poison = 238;
    must(kiln_array_copy(&copy, half), "copy");
    must(kiln_array_fill(half, &poison), "fill");
    expect(half, POISON, "filled view");
    run("T x", "if (x != (T)((unsigned)((unsigned long long)(2 * i + 1) * 2654435761u >> 16) & 255)) z = 0",
        half, copy, NULL);
    expect(half, POISON, "copied view");
    free_all(x, half, copy, NULL);
}

/* ---- */

static void use_device(void)
{
    const int64_t one = 1;
    char source[sizeof both_text + sizeof compare_text + 64];
    snprintf(source, sizeof source, "#define FUNCTION static __device__\n%s\n%s", both_text, compare_text);
    must(kiln_module_create(&test.module, source, 0, NULL), "the kernel that compares");
    must(kiln_module_function(&test.compare, test.module, "compare"), "the kernel that compares");
    must(kiln_array_zeros(&test.wrong, KILN_UINT64, 1, &one, KILN_DEVICE_DEFAULT), "counter");
}

static bool has_device(void)
{
    int devices = 0;
    size_t free_bytes = 0, total = 0;
    must(kiln_device_count(&devices), "devices");
    if (devices == 0) {
        printf("no CUDA device: %s\n", kiln_device_why_no_cuda());
        return false;
    }
    must(kiln_device_set_current(KILN_DEVICE_CUDA(0)), "cuda:0");
    must(kiln_device_memory_info(KILN_DEVICE_DEFAULT, &free_bytes, &total), "memory");
    if (free_bytes < (size_t)40 << 30)
        printf("%zu GiB of device memory are free; 40 are needed\n", free_bytes >> 30);
    return free_bytes >= (size_t)40 << 30;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void all_cases(void)
{
    static const kiln_dtype dtypes[] = {KILN_UINT8, KILN_FLOAT32};
    for (int d = 0; d < 2; d++) {
        double start = now();
        contiguous(dtypes[d]);
        broadcast(dtypes[d]);
        transposed(dtypes[d]);
        printf("%s: contiguous, reversed, broadcast, transposed: %.1f s\n", kiln_dtype_name(dtypes[d]),
               now() - start);
    }
    double start = now();
    off_by_one();
    stepped();
    copies();
    printf("off by one, stepped, copies: %.1f s\n", now() - start);
}

int main(int argc, char **argv)
{
    test.is_small = argc == 2 && !strcmp(argv[1], "--small");
    if (argc > 1 && !test.is_small) {
        fprintf(stderr, "usage: large [--small]\n");
        return 2;
    }
    if (!test.is_small && !has_device())
        return 77;
    kiln_device device;
    must(kiln_device_current(&device), "device");
    if (KILN_DEVICE_IS_CUDA(device))
        use_device();
    all_cases();
    kiln_array_free(test.wrong);
    kiln_module_free(test.module);
    printf("%s\n", test.failures ? "FAILED" : "all right");
    return test.failures != 0;
}
