/* Arrays beyond 2^31 elements on the host and 2^32 on CUDA: contiguous, broadcast, transposed, reversed. Some
 * gigabytes: for KILN_SOAK=1 alone. */
#include "cases.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNK = 1 << 26 };

static int64_t least_size(void)
{
    return (INT64_C(1) << (KILN_DEVICE_IS_CUDA(stage_device) ? 32 : 31)) + 12345;
}

static unsigned char mixed(int64_t i)
{
    return (unsigned char)(i * 7 + (i >> 20) + (i >> 32));
}
#define MIXED "(i * 7 + (i >> 20) + (i >> 32))"

/* Compares what the array holds, as one run of bytes, piece by piece. */
static void check_bytes(kiln_array *array, int64_t size, unsigned char (*expected)(int64_t))
{
    unsigned char *chunk = malloc(CHUNK);
    kiln_array *flat = NULL;
    if (trouble_unless(chunk != NULL, "no memory for a chunk") &&
        succeeded(kiln_array_reshape(&flat, array, 1, &size), "kiln_array_reshape"))
        for (int64_t start = 0; start < size && !in_trouble(); start += CHUNK) {
            int64_t count = size - start < CHUNK ? size - start : CHUNK;
            kiln_array *part = NULL;
            if (succeeded(kiln_array_slice(&part, flat, 0, start, start + count, 1), "kiln_array_slice") &&
                succeeded(kiln_array_to_host(part, chunk, (size_t)count), "kiln_array_to_host"))
                for (int64_t k = 0; k < count; ++k)
                    if (!trouble_unless(chunk[k] == expected(start + k),
                                        "element %" PRId64 " is %d, %d was expected", start + k, chunk[k],
                                        expected(start + k)))
                        break;
            kiln_array_free(part);
        }
    kiln_array_free(flat);
    free(chunk);
}

/* Runs in -> out over z and, where it is not NULL, x. */
static void run(const char *in, const char *body, kiln_array *x, kiln_array *z)
{
    kiln_kernel *kernel = NULL;
    kiln_arg argument = kiln_arg_array(x);
    if (succeeded(kiln_elementwise_create(&kernel, in, "uint8 z", body, "large", NULL),
                  "kiln_elementwise_create"))
        succeeded(kiln_kernel_call(kernel, &z, 1, &argument, x ? 1 : 0, NULL), "kiln_kernel_call");
    kiln_kernel_free(kernel);
}

static kiln_array *empty(int ndim, const int64_t *shape)
{
    kiln_array *array = NULL;
    if (!in_trouble())
        succeeded(kiln_array_empty(&array, KILN_UINT8, ndim, shape, stage_device), "kiln_array_empty");
    return array;
}

static void contiguous(void)
{
    int64_t size = least_size();
    kiln_array *z = empty(1, &size);
    if (z)
        run("", "z = " MIXED, NULL, z);
    if (!in_trouble())
        check_bytes(z, size, mixed);
    kiln_array_free(z);
}

static int64_t columns;

static unsigned char by_row(int64_t i)
{
    return mixed(i / columns);
}

static void broadcast(void)
{
    int64_t shape[2] = {0, 65537}, rows;
    columns = shape[1];
    rows = shape[0] = least_size() / columns + 1;
    kiln_array *x = empty(1, &rows), *column = NULL, *z = empty(2, shape);
    if (x && z) {
        run("", "z = " MIXED, NULL, x);
        if (succeeded(kiln_array_expand_dims(&column, x, 1), "kiln_array_expand_dims"))
            run("uint8 x", "z = x", column, z);
    }
    if (!in_trouble())
        check_bytes(z, shape[0] * shape[1], by_row);
    kiln_array_free(column);
    kiln_array_free(x);
    kiln_array_free(z);
}

/* The input is contiguous along its other axis. */
static void transposed(void)
{
    int64_t shape[2] = {65552, 0}, transposed[2];
    transposed[1] = shape[0];
    transposed[0] = shape[1] = least_size() / shape[0] / 16 * 16 + 16;
    kiln_array *memory = empty(2, transposed), *x = NULL, *z = empty(2, shape);
    if (memory && z && succeeded(kiln_array_transpose(&x, memory, NULL), "kiln_array_transpose")) {
        run("", "z = " MIXED, NULL, x);
        run("uint8 x", "z = x", x, z);
    }
    if (!in_trouble())
        check_bytes(z, shape[0] * shape[1], mixed);
    kiln_array_free(x);
    kiln_array_free(memory);
    kiln_array_free(z);
}

static unsigned char from_the_end(int64_t i)
{
    return mixed(least_size() - 1 - i);
}

static void reversed(void)
{
    int64_t size = least_size();
    kiln_array *memory = empty(1, &size), *x = NULL, *z = empty(1, &size);
    if (memory && z && succeeded(kiln_array_index(&x, memory, "::-1"), "kiln_array_index")) {
        run("", "z = " MIXED, NULL, memory);
        run("uint8 x", "z = x", x, z);
    }
    if (!in_trouble())
        check_bytes(z, size, from_the_end);
    kiln_array_free(x);
    kiln_array_free(memory);
    kiln_array_free(z);
}

const test_case large_cases[] = {
    {"contiguous", contiguous, CASE_LONG},
    {"broadcast", broadcast, CASE_LONG},
    {"transposed", transposed, CASE_LONG},
    {"reversed", reversed, CASE_LONG},
    {NULL, NULL, 0},
};
