/* Calls of expressions of sequences on the fake driver: as many launches as explain says, and nothing stored
 * that need not be, by its bytes and by the memory that a call takes. */
#include <kiln/kiln.h>

#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../ok.h"

/* SLACK: partial sums, and counts of digits by tiles; less than a third of an input. */
enum { N = 1 << 20, SLACK = 5 << 18 };
#define ALL (INT64_C(4) * N) /* the bytes of an input */

static int use_fakes(void **state)
{
    (void)state;
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    setenv("KILN_FORMS", "best", 1);
    unsetenv("KILN_TARGET");
    return 0;
}

/* moved: the bytes of inputs and results, which none can do without. taken: those of arrays that a call has
 * at once, results among them. The most that was taken is known alone: rows that take
 * more come later. */
typedef struct row {
    const char *text;
    kiln_dtype dtype;
    int inputs, launches;
    int64_t moved, taken;
} row;

static const row rows[] = {
    {"x[x > 0].sum()", KILN_FLOAT32, 1, 1, ALL + 4, 0},
    /* Two reads of x, two sums, and 50 values and places. */
    {"topk(exp(x - max(x)) / sum(exp(x - max(x))), 50)", KILN_FLOAT32, 1, 4, 2 * ALL + 616, 0},
    {"cumsum(x * w)", KILN_FLOAT32, 2, 1, 3 * ALL, ALL},
    /* Passes store to two buffers in turn, the last one to the result. */
    {"sort(abs(x))", KILN_FLOAT32, 1, 5, 2 * ALL, 3 * ALL},
    /* The sorted elements, beside memory for them and the result. */
    {"unique(x // 10)", KILN_INT32, 1, 6, 2 * ALL, 4 * ALL},
};

static int lines_of(const char *text)
{
    int lines = 0;
    for (; *text; ++text)
        lines += *text == '\n';
    return lines;
}

static int64_t bytes_moved(const char *explained)
{
    long long bytes = -1;
    assert_int_equal(sscanf(explained, "# %*d kernel%*[s]: %lld bytes", &bytes) == 1 ||
                         sscanf(explained, "# %*d kernel: %lld bytes", &bytes) == 1,
                     1);
    return bytes;
}

static kiln_memory_stats memory(void)
{
    kiln_memory_stats stats = KILN_MEMORY_STATS_INIT;
    OK(kiln_memory_get_stats(KILN_DEVICE_CUDA(0), &stats));
    return stats;
}

static void check_row(const row *r)
{
    const char *names = r->inputs == 2 ? "x, w" : "x";
    kiln_kernel *kernel = NULL;
    kiln_array *x[2] = {NULL, NULL}, *out[2] = {NULL, NULL};
    kiln_arg in[2];
    char *explained = NULL, *launches = NULL;
    const int n_out = strncmp(r->text, "topk", 4) == 0 ? 2 : 1;
    OK(kiln_expression_create(&kernel, names, r->text, NULL));
    for (int k = 0; k < r->inputs; ++k) {
        OK(kiln_array_zeros(&x[k], r->dtype, 1, (const int64_t[]){N}, KILN_DEVICE_CUDA(0)));
        in[k] = kiln_arg_array(x[k]);
    }
    OK(kiln_kernel_explain(&explained, kernel, out, n_out, in, r->inputs, NULL, NULL));
    OK(kiln_kernel_launches(&launches, kernel, out, n_out, in, r->inputs, NULL, NULL));
    for (int turn = 0; turn < 2; ++turn) { /* the first one also clears counters */
        OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
        const uint64_t before = memory().used_bytes;
        fake_launches_clear();
        OK(kiln_kernel_call(kernel, out, n_out, in, r->inputs, NULL));
        OK(kiln_device_synchronize(KILN_DEVICE_CUDA(0)));
        const int launched = fake_launch_count();
        const int64_t taken = (int64_t)(memory().peak_used_bytes - before);
        for (int j = 0; j < n_out; ++j) {
            kiln_array_free(out[j]);
            out[j] = NULL;
        }
        if (launched != r->launches || lines_of(launches) != r->launches ||
            bytes_moved(explained) != r->moved || taken > r->taken + SLACK)
            fail_msg("%s: %d launches, of which it says %d, %lld bytes taken\n%s", r->text, launched,
                     lines_of(launches), (long long)taken, explained);
    }
    kiln_free(explained);
    kiln_free(launches);
    for (int k = 0; k < r->inputs; ++k)
        kiln_array_free(x[k]);
    kiln_kernel_free(kernel);
}

static void launches_are_those_explained(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; ++k)
        check_row(&rows[k]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launches_are_those_explained)};
    return cmocka_run_group_tests(tests, use_fakes, NULL);
}
