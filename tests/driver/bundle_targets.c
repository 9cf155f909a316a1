/* The code of a bundle that a device is given, for every device from 7.5 to 12.1: never one that does not
 * run there, and of the others the best. The driver is our own, and each code has a length of its own, by
 * which it is known. */
#include <kiln/kiln.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "store/lifetime.h"
#include "cache/bundle.h"
#include "fake_cuda.h"
#include "schedule/kind.h"
#include "schedule/layout.h"
#include "schedules/kinds.h"
#include "require.h"

/* All that can be baked for CUDA: the device's number and the letter behind it. */
static const struct candidate {
    int number;
    char suffix;
} candidates[] = {{75, 0},    {80, 0},    {86, 0},  {87, 0},    {88, 0},    {89, 0},
                  {90, 0},    {90, 'a'},  {100, 0}, {100, 'a'}, {100, 'f'}, {103, 0},
                  {103, 'a'}, {103, 'f'}, {110, 0}, {110, 'a'}, {110, 'f'}, {120, 0},
                  {120, 'a'}, {120, 'f'}, {121, 0}, {121, 'a'}, {121, 'f'}};
enum {
    CANDIDATES = sizeof candidates / sizeof *candidates,
    ALL = 2 * CANDIDATES /* each as a cubin and as PTX */
};

static const int devices[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { DEVICES = sizeof devices / sizeof *devices };

/* ---- the rules, written once more, as NVIDIA's guide has them ---- */

enum { NO_BINARY_FOR_GPU = 209 }; /* of the driver */

static bool is_board(int number)
{
    return number == 87 || number == 88 || number == 110;
}

static bool runs(const struct candidate *code, bool is_ptx, int device)
{
    bool is_family = code->number / 10 == device / 10 && code->number <= device;
    if (code->suffix == 'a')
        return code->number == device;
    if (code->suffix == 'f')
        return is_family;
    if (is_ptx)
        return code->number <= device;
    return code->number == device || (is_family && !is_board(code->number) && !is_board(device));
}

/* Code for a chip alone stands above that for its family, and this above the others. */
static int rank_of(char suffix)
{
    return suffix == 'a' ? 2 : suffix == 'f';
}

/* True if code a is to be preferred to b, where both run. */
static bool is_better(int a, int b)
{
    const struct candidate *x = &candidates[a / 2], *y = &candidates[b / 2];
    if (a % 2 != b % 2)
        return b % 2;
    if (x->number != y->number)
        return x->number > y->number;
    return rank_of(x->suffix) > rank_of(y->suffix);
}

/* ---- bundles ---- */

static kn_bundle_row model = KN_BUNDLE_ROW_INIT; /* of the kernel, compiled by the NVRTC of our own */

static kiln_kernel *make_kernel(void)
{
    kiln_kernel *kernel = NULL;
    REQUIRE_OK(kiln_elementwise_create(&kernel, "float32 x", "float32 y", "y = x", "copied", NULL));
    return kernel;
}

static void read_model(const void *bytes, size_t size)
{
    kn_bundle *bundle = NULL;
    REQUIRE_OK(kn_bundle_open_memory(&bundle, bytes, size, "the model"));
    REQUIRE_OK(kn_bundle_read(&model, bundle, 0));
    kn_bundle_free(bundle);
}

typedef struct wanted {
    char target[16];
    char *line;
} wanted;

static bool take_line(const kiln_record_line *line, void *user)
{
    wanted *w = user;
    if (kiln_record_needs(line->targets, w->target))
        w->line = strdup(line->text);
    return !w->line;
}

static void make_model(int device)
{
    kiln_kernel *kernel = make_kernel();
    kiln_array *x = NULL;
    char *lines = NULL;
    wanted w = {.line = NULL};
    void *bytes = NULL;
    size_t size = 0;
    REQUIRE_OK(kiln_array_zeros(&x, KILN_FLOAT32, 1, (const int64_t[]){4096}, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x)};
    REQUIRE_OK(kiln_kernel_record(&lines, kernel, NULL, 1, in, 1, NULL));
    snprintf(w.target, sizeof w.target, "sm_%d", device);
    REQUIRE_OK(kiln_record_read(lines, NULL, take_line, &w));
    REQUIRE(w.line, "%s", lines);
    REQUIRE_OK(kiln_bake(&bytes, &size, w.line, "compute_75", NULL));
    read_model(bytes, size);
    free(bytes);
    free(w.line);
    free(lines);
    kiln_array_free(x);
    kiln_kernel_free(kernel);
}

/* The code of candidate n is the model's with n + 1 newlines behind it. */
static void add_candidate(kn_bundle_writer *writer, int n)
{
    const struct candidate *c = &candidates[n / 2];
    kn_bundle_row row = KN_BUNDLE_ROW_INIT;
    char label[128], code[4096];
    int length = snprintf(
        label, sizeof label, "cuda:sm_%d%.1s %s block=%d kind=flat revision=%d\ncompiler none\n", c->number,
        c->suffix ? &c->suffix : "", n % 2 ? "ptx" : "binary", KN_BLOCK_REVISION, kn_kind_flat.revision);
    size_t size = model.code.size;
    while (size > 0 && ((const char *)model.code.data)[size - 1] == '\0')
        size--;
    memcpy(code, model.code.data, size);
    memset(code + size, '\n', (size_t)n + 1);
    REQUIRE(kn_blob_copy(&row.label, label, (size_t)length) &&
                kn_blob_copy(&row.what, model.what.data, model.what.size) && kn_blob_copy(&row.aux, "", 0) &&
                kn_blob_copy(&row.code, code, size + (size_t)n + 1),
            "no memory");
    REQUIRE_OK(kn_bundle_writer_add(writer, &row));
}

static kn_blob make_bundle(const bool *is_in)
{
    kn_bundle_writer *writer = kn_bundle_writer_create();
    kn_blob bytes = KN_BLOB_INIT;
    for (int n = 0; n < ALL; n++)
        if (is_in[n])
            add_candidate(writer, n);
    REQUIRE_OK(kn_bundle_writer_finish(&bytes, writer));
    kn_bundle_writer_free(writer);
    return bytes;
}

/* The candidate that a call of a new process is given; -1 for none. unloadable: so many are refused by the
 * driver before. */
static int pick(const bool *is_in, long unloadable)
{
    kiln_call_info info = KILN_CALL_INFO_INIT;
    kn_blob bytes = make_bundle(is_in);
    kiln_array *x = NULL, *y = NULL;
    kn_build_shutdown();
    REQUIRE_OK(kiln_bundle_attach_memory(bytes.data, bytes.size));
    kiln_kernel *kernel = make_kernel();
    REQUIRE_OK(kiln_array_empty(&x, KILN_FLOAT32, 1, (const int64_t[]){4096}, KILN_DEVICE_CUDA(0)));
    const kiln_arg in[] = {kiln_arg_array(x)};
    fake_launches_clear();
    fake_fail("cuModuleLoadDataEx", unloadable, NO_BINARY_FOR_GPU);
    kiln_status status = kiln_kernel_call(kernel, &y, 1, in, 1, NULL);
    fake_fail(NULL, 0, 0);
    REQUIRE(status == KILN_OK || status == KILN_ERROR_FORBIDDEN, "%s", kiln_error_message());
    int picked = -1;
    if (status == KILN_OK) {
        REQUIRE_OK(kiln_kernel_last_call(&info));
        size_t size = model.code.size;
        while (size > 0 && ((const char *)model.code.data)[size - 1] == '\0')
            size--;
        picked = (int)(info.code_bytes - size) - 1;
        /* It begins before the kernel in front of it has ended where it waits for that by itself. */
        REQUIRE(fake_launch_at(0).is_dependent == (candidates[picked / 2].number >= 90), "candidate %d",
                picked);
    }
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
    kn_build_shutdown();
    kn_blob_free(&bytes);
    return picked;
}

/* A call on the device records the code that it needs there, although nothing could be compiled for it. */
static void record_on(int device)
{
    char file[] = "/tmp/kiln-record-XXXXXX", text[16384] = "";
    kiln_array *x = NULL, *y = NULL;
    wanted w = {.line = NULL};
    int fd = mkstemp(file);
    REQUIRE(fd >= 0, "no file");
    setenv("KILN_RECORD", file, 1);
    kiln_kernel *kernel = make_kernel();
    REQUIRE_OK(kiln_array_empty(&x, KILN_FLOAT32, 1, (const int64_t[]){4096}, KILN_DEVICE_CUDA(0)));
    const kiln_arg in[] = {kiln_arg_array(x)};
    kiln_status status = kiln_kernel_call(kernel, &y, 1, in, 1, NULL);
    REQUIRE(status == KILN_ERROR_FORBIDDEN, "%s", kiln_error_message());
    unsetenv("KILN_RECORD");
    ssize_t length = read(fd, text, sizeof text - 1);
    REQUIRE(length > 0, "nothing was recorded");
    snprintf(w.target, sizeof w.target, "sm_%d", device);
    REQUIRE_OK(kiln_record_read(text, NULL, take_line, &w));
    REQUIRE(w.line, "%s is not in the record: %s", w.target, text);
    free(w.line);
    close(fd);
    unlink(file);
    kiln_array_free(x);
    kiln_array_free(y);
    kiln_kernel_free(kernel);
    kn_build_shutdown();
}

/* PTX of an earlier device is no code of this one. */
static void export_on(int device)
{
    bool is_in[ALL] = {false};
    void *exported = NULL;
    size_t size = 0;
    kiln_array *x = NULL;
    int n = 1;
    while (n < ALL && candidates[n / 2].number >= 90)
        n += 2;
    REQUIRE(device >= 90 && n < ALL, "no PTX of an earlier device");
    is_in[n] = true;
    kn_blob bytes = make_bundle(is_in);
    kn_build_shutdown();
    REQUIRE_OK(kiln_bundle_attach_memory(bytes.data, bytes.size));
    kiln_kernel *kernel = make_kernel();
    REQUIRE_OK(kiln_array_empty(&x, KILN_FLOAT32, 1, (const int64_t[]){4096}, KILN_DEVICE_CUDA(0)));
    const kiln_arg in[] = {kiln_arg_array(x)};
    REQUIRE(kiln_kernel_export(&exported, &size, kernel, NULL, 1, in, 1, NULL, NULL) ==
                    KILN_ERROR_UNSUPPORTED &&
                strstr(kiln_error_message(), "PTX of an earlier device"),
            "%s", kiln_error_message());
    kiln_array_free(x);
    kiln_kernel_free(kernel);
    kn_build_shutdown();
    kn_blob_free(&bytes);
}

static int best_of(const bool *is_in, int device)
{
    int best = -1;
    for (int n = 0; n < ALL; n++)
        if (is_in[n] && runs(&candidates[n / 2], n % 2, device) && (best < 0 || is_better(n, best)))
            best = n;
    return best;
}

static int next_of(const bool *is_in, int device)
{
    bool others[ALL];
    int best = best_of(is_in, device);
    memcpy(others, is_in, sizeof others);
    if (best >= 0)
        others[best] = false;
    return best_of(others, device);
}

/* From all candidates the best is taken away until none is left that runs; what does not run is there all
 * the time. */
static int pick_on(int device)
{
    char number[8];
    bool is_in[ALL];
    int picked, picks = 0;
    snprintf(number, sizeof number, "%d", device);
    setenv("FAKE_CUDA_CAPABILITY", number, 1);
    make_model(device);
    memset(is_in, true, sizeof is_in);
    setenv("KILN_COMPILE", "never", 1);
    do {
        int next = next_of(is_in, device), given = pick(is_in, 1);
        REQUIRE(given == next, "on %d, where the best does not load, candidate %d was picked, %d is next",
                device, given, next);
        picked = pick(is_in, 0);
        REQUIRE(picked == best_of(is_in, device), "on %d candidate %d was picked, %d is best", device, picked,
                best_of(is_in, device));
        is_in[picked < 0 ? 0 : picked] = picked < 0;
        picks++;
    } while (picked >= 0);
    REQUIRE(picks > 1, "nothing runs on %d", device);
    record_on(device);
    if (device >= 90)
        export_on(device);
    return 0;
}

static void every_device_is_given_the_best_that_runs(void **state)
{
    (void)state;
    for (int d = 0; d < DEVICES; d++) {
        int status = 0;
        pid_t child = fork();
        if (child == 0)
            _exit(pick_on(devices[d]));
        assert_int_equal(waitpid(child, &status, 0), child);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("on a device of capability %d", devices[d]);
    }
}

static int bake_for_others(void)
{
    kiln_kernel *kernel = make_kernel();
    kiln_array *x = NULL;
    char *lines = NULL;
    wanted w = {"sm_75", NULL};
    void *bytes = NULL;
    size_t size = 0;
    setenv("FAKE_NVRTC_KNOWN", "90", 1);
    REQUIRE_OK(kiln_array_zeros(&x, KILN_FLOAT32, 1, (const int64_t[]){4096}, KILN_DEVICE_HOST));
    const kiln_arg in[] = {kiln_arg_array(x)};
    REQUIRE_OK(kiln_kernel_record(&lines, kernel, NULL, 1, in, 1, NULL));
    REQUIRE_OK(kiln_record_read(lines, NULL, take_line, &w));
    REQUIRE(kiln_bake(&bytes, &size, w.line, "sm_75", NULL) == KILN_ERROR_UNSUPPORTED, "%s",
            kiln_error_message());
    REQUIRE(kiln_bake(&bytes, &size, w.line, "sm_120", NULL) == KILN_ERROR_UNSUPPORTED, "%s",
            kiln_error_message());
    REQUIRE(bytes == NULL, "a bundle");
    return 0;
}

/* Older than the oldest, newer than the newest that the compiler knows. */
static void compilers_know_some_targets(void **state)
{
    int status = 0;
    (void)state;
    pid_t child = fork();
    if (child == 0)
        _exit(bake_for_others());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(compilers_know_some_targets),
                                       cmocka_unit_test(every_device_is_given_the_best_that_runs)};
    setenv("KILN_LIBCUDA", FAKE_LIBCUDA, 1);
    setenv("KILN_NVRTC", FAKE_LIBNVRTC, 1);
    setenv("KILN_CACHE", "off", 1);
    unsetenv("KILN_COMPILE");
    unsetenv("KILN_TARGET");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
