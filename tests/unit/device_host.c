/* The host as a device: names, selection, threads, copies and fills, streams and events, modules. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(MADV_HUGEPAGE)
#include <sys/syscall.h>
#endif
#include <cmocka.h>

#include "base/alloc.h"
#include "base/os.h"
#include "device/device.h"
#include "host_function.h"

/* A forked child that starts threads is part of the test. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);
const char *__tsan_default_options(void)
{
    return "die_after_fork=0";
}

static void test_names(void **state)
{
    char text[24];
    kiln_device d = 0;
    static const char *const bad[] = {"",      "gpu",   "cuda:",   "cuda:x", "cuda:-1",
                                      "cuda0", "host ", "cuda:1x", "CUDA"};
    (void)state;
    assert_string_equal(kiln_device_name(KILN_DEVICE_HOST, text, sizeof text), "host");
    assert_string_equal(kiln_device_name(KILN_DEVICE_CUDA(3), text, sizeof text), "cuda:3");
    assert_int_equal(kiln_device_parse(&d, "host"), KILN_OK);
    assert_int_equal(d, KILN_DEVICE_HOST);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(kiln_device_parse(&d, bad[i]), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "\"CUDA\""));
    assert_int_equal(kiln_device_parse(NULL, "host"), KILN_ERROR_INVALID);
    assert_int_equal(kiln_device_parse(&d, NULL), KILN_ERROR_INVALID);
}

static void test_selection(void **state)
{
    kiln_device d = 0;
    (void)state;
    assert_int_equal(kiln_device_set_current(KILN_DEVICE_HOST), KILN_OK);
    assert_int_equal(kiln_device_current(&d), KILN_OK);
    assert_int_equal(d, KILN_DEVICE_HOST);
    assert_int_equal(kiln_device_set_current((kiln_device)5), KILN_ERROR_INVALID);
    assert_int_equal(kiln_device_set_current(KILN_DEVICE_CUDA(1000)), KILN_ERROR_NOT_FOUND);
    assert_int_equal(kiln_device_current(&d), KILN_OK);
    assert_int_equal(d, KILN_DEVICE_HOST);
}

static void test_properties(void **state)
{
    kiln_device_properties p = KILN_DEVICE_PROPERTIES_INIT;
    size_t available = 0, total = 0;
    bool can = false;
    void *context = NULL;
    (void)state;
    assert_int_equal(kiln_device_get_properties(KILN_DEVICE_HOST, &p), KILN_OK);
    assert_true(p.name[0] && p.architecture[0] && p.multiprocessors >= 1 && p.total_memory > 0);
    assert_int_equal(p.struct_size, sizeof p);
    assert_int_equal(kiln_device_memory_info(KILN_DEVICE_HOST, &available, &total), KILN_OK);
    assert_true(available <= total && total == p.total_memory);
    assert_int_equal(kiln_device_can_access_peer(&can, KILN_DEVICE_HOST, KILN_DEVICE_HOST), KILN_OK);
    assert_true(can);
    assert_int_equal(kiln_device_cuda_context(&context, KILN_DEVICE_HOST), KILN_ERROR_UNSUPPORTED);
    assert_int_equal(kiln_device_synchronize(KILN_DEVICE_HOST), KILN_OK);
}

/* A program built against an older, shorter struct is given no byte beyond it. */
static void test_short_properties(void **state)
{
    kiln_device_properties p = KILN_DEVICE_PROPERTIES_INIT;
    (void)state;
    p.struct_size = offsetof(kiln_device_properties, multiprocessors);
    p.multiprocessors = -5;
    assert_int_equal(kiln_device_get_properties(KILN_DEVICE_HOST, &p), KILN_OK);
    assert_true(p.architecture[0]);
    assert_int_equal(p.multiprocessors, -5);
}

/* ---- threads ---- */

typedef struct marks {
    unsigned char *seen;
    _Atomic int pieces;
} marks;

static void mark(void *user, int64_t begin, int64_t end)
{
    marks *m = user;
    for (int64_t i = begin; i < end; i++)
        m->seen[i]++;
    atomic_fetch_add(&m->pieces, 1);
}

static void check_cover(int64_t count, int64_t grain)
{
    marks m = {calloc((size_t)count + 1, 1), 0};
    kn_host_parallel(count, grain, mark, &m);
    for (int64_t i = 0; i < count; i++)
        assert_int_equal(m.seen[i], 1);
    assert_int_equal(m.seen[count], 0);
    if (count > 0)
        assert_true(m.pieces >= 1 && (m.pieces == 1 || m.pieces <= count / (grain < 1 ? 1 : grain)));
    else
        assert_int_equal(m.pieces, 0);
    free(m.seen);
}

static void test_every_element_once(void **state)
{
    static const int64_t counts[] = {0, 1, 2, 3, 7, 100, 1000, 4097, 100003}, grains[] = {0, 1, 3, 100, 5000};
    (void)state;
    for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
        for (size_t g = 0; g < sizeof grains / sizeof *grains; g++)
            check_cover(counts[c], grains[g]);
}

static _Atomic int lingered; /* shares that workers took */

static void test_many_jobs(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++)
        check_cover(64 + i % 50, 1);
}

static void linger(void *user, int64_t begin, int64_t end)
{
    (void)begin, (void)end;
    if (!pthread_equal(pthread_self(), *(pthread_t *)user))
        atomic_fetch_add(&lingered, 1);
    usleep(1000);
}

/* A worker that sleeps is woken for what takes long, and finds its processors again. */
static void test_sleepers_are_woken(void **state)
{
    pthread_t self = pthread_self();
    (void)state;
    for (int i = 0; i < 3; i++) {
        atomic_store(&lingered, 0);
        usleep(20000);
        kn_host_parallel(64, 1, linger, &self);
        assert_true(atomic_load(&lingered) > 0);
    }
}

static void nested(void *user, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        kn_host_parallel(100, 1, mark, (marks *)user + i);
}

static void test_nested_runs_inline(void **state)
{
    enum { ROWS = 16 };
    marks rows[ROWS];
    (void)state;
    for (int i = 0; i < ROWS; i++)
        rows[i] = (marks){calloc(100, 1), 0};
    kn_host_parallel(ROWS, 1, nested, rows);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(rows[i].pieces, 1);
        for (int j = 0; j < 100; j++)
            assert_int_equal(rows[i].seen[j], 1);
        free(rows[i].seen);
    }
}

static void *cover_thread(void *unused)
{
    (void)unused;
    for (int i = 0; i < 200; i++) {
        unsigned char seen[500] = {0};
        marks m = {seen, 0};
        kn_host_parallel(500, 10, mark, &m);
        for (int j = 0; j < 500; j++)
            if (seen[j] != 1)
                abort();
    }
    return NULL;
}

static void test_concurrent_callers(void **state)
{
    pthread_t threads[4];
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, cover_thread, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void test_fork(void **state)
{
    (void)state;
    check_cover(1000, 1);
    pid_t child = fork();
    if (child == 0) {
        cover_thread(NULL);
        _exit(7);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    check_cover(1000, 1);
}

/* ---- huge pages ---- */

#if defined(MADV_HUGEPAGE)
enum { HUGE_PAGE = 2 << 20 };

/* The last request for huge pages, and the number of them. */
static char *asked_at;
static size_t asked_size;
static int asked;

int madvise(void *start, size_t size, int advice)
{
    if (advice == MADV_HUGEPAGE) {
        asked_at = start;
        asked_size = size;
        ++asked;
    }
    return (int)syscall(SYS_madvise, start, size, advice);
}

/* Large blocks are asked for as huge pages, as far as they fill some. */
static void test_huge_pages(void **state)
{
    static const struct {
        size_t size;
        int pages;
    } blocks[] = {{1, 0},
                  {2 * HUGE_PAGE - 1, 0},
                  {2 * HUGE_PAGE, 2},
                  {3 * HUGE_PAGE - 1, 2},
                  {3 * HUGE_PAGE, 3},
                  {3 * HUGE_PAGE + 5000, 3}};
    const kn_backend *b = host()->backend;
    (void)state;
    for (size_t k = 0; k < sizeof blocks / sizeof *blocks; ++k) {
        void *at = NULL;
        asked = 0;
        assert_int_equal(b->memory_alloc(host(), blocks[k].size, &at), KILN_OK);
        assert_int_equal(asked, blocks[k].pages > 0);
        if (blocks[k].pages > 0) {
            assert_ptr_equal(asked_at, at);
            assert_int_equal((uintptr_t)at % HUGE_PAGE, 0);
            assert_int_equal(asked_size, (size_t)blocks[k].pages * HUGE_PAGE);
        }
        b->memory_free(host(), at);
    }
    for (int is_small = 0; is_small < 2; ++is_small) {
        void *range = NULL;
        asked = 0;
        assert_int_equal(b->memory_reserve(host(), 4 * HUGE_PAGE, is_small, &range), KILN_OK);
        assert_int_equal(asked, !is_small);
        assert_int_equal((uintptr_t)range % HUGE_PAGE, 0);
        if (!is_small) {
            assert_ptr_equal(asked_at, range);
            assert_int_equal(asked_size, 4 * HUGE_PAGE);
        }
        b->memory_unreserve(host(), range, 4 * HUGE_PAGE);
    }
}
#endif

/* ---- copies and fills ---- */

static void test_copy(void **state)
{
    enum { SIZE = 5 << 20 };
    (void)state;
    const kn_backend *b = host()->backend;
    unsigned char *from = malloc(SIZE), *to = malloc(SIZE);
    for (int i = 0; i < SIZE; i++)
        from[i] = (unsigned char)(i * 31 >> 3);
    assert_int_equal(b->copy(host(), to, from, SIZE, KN_COPY_HOST_TO_DEVICE, NULL), KILN_OK);
    assert_memory_equal(from, to, SIZE);
    assert_int_equal(b->copy(host(), to + 1, to, SIZE - 1, KN_COPY_DEVICE_TO_DEVICE, NULL),
                     KILN_OK); /* overlaps */
    assert_memory_equal(from, to + 1, SIZE - 1);
    assert_int_equal(b->copy_peer(host(), to, host(), from, SIZE, NULL), KILN_OK);
    assert_memory_equal(from, to, SIZE);
    free(from);
    free(to);
}

static void test_fill(void **state)
{
    static const size_t units[] = {1, 2, 3, 4, 8, 12, 16, 24};
    unsigned char pattern[24], bytes[24 * 1000 + 1];
    (void)state;
    for (int i = 0; i < 24; i++)
        pattern[i] = (unsigned char)(i * 7 + 1);
    for (size_t u = 0; u < sizeof units / sizeof *units; u++) {
        size_t unit = units[u];
        memset(bytes, 0, sizeof bytes);
        assert_int_equal(host()->backend->fill(host(), bytes, pattern, unit, 1000, NULL), KILN_OK);
        for (size_t i = 0; i < unit * 1000; i++)
            assert_int_equal(bytes[i], pattern[i % unit]);
        assert_int_equal(bytes[unit * 1000], 0);
    }
    assert_int_equal(host()->backend->fill(host(), bytes, pattern, 0, 1, NULL), KILN_ERROR_UNSUPPORTED);
}

/* ---- streams and events ---- */

static void test_streams(void **state)
{
    kiln_stream *s = NULL;
    kiln_device d = 0;
    bool done = false;
    (void)state;
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_HOST));
    assert_int_equal(kiln_stream_create(&s, KILN_DEVICE_HOST, KILN_STREAM_NON_BLOCKING), KILN_OK);
    assert_null(kiln_stream_set_current(s));
    assert_ptr_equal(kiln_stream_current(), s);
    assert_int_equal(kiln_stream_synchronize(NULL), KILN_OK);
    assert_int_equal(kiln_stream_query(&done, s), KILN_OK);
    assert_true(done);
    assert_int_equal(kiln_stream_device(&d, s), KILN_OK);
    assert_int_equal(d, KILN_DEVICE_HOST);
    assert_null(kiln_stream_cuda_handle(s));
    assert_ptr_equal(kiln_stream_set_current(NULL), s);
    assert_null(kiln_stream_current());
    kiln_stream_free(s);
    kiln_stream_free(NULL);
    assert_int_equal(kiln_stream_create(&s, KILN_DEVICE_HOST, 4), KILN_ERROR_INVALID);
    assert_int_equal(kiln_stream_create(NULL, KILN_DEVICE_HOST, 0), KILN_ERROR_INVALID);
    assert_int_equal(kiln_stream_wrap(&s, KILN_DEVICE_HOST, &d), KILN_ERROR_UNSUPPORTED);
    assert_int_equal(kiln_stream_query(NULL, NULL), KILN_ERROR_INVALID);
    assert_int_equal(kiln_stream_wait_event(NULL, NULL), KILN_ERROR_INVALID);
}

static void test_events(void **state)
{
    kiln_event *a = NULL, *b = NULL, *plain = NULL;
    double ms = -1;
    bool done = false;
    (void)state;
    KILN_IGNORE(kiln_device_set_current(KILN_DEVICE_HOST));
    assert_int_equal(kiln_event_create(&a, KILN_DEVICE_HOST, KILN_EVENT_TIMING), KILN_OK);
    assert_int_equal(kiln_event_create(&b, KILN_DEVICE_HOST, KILN_EVENT_TIMING | KILN_EVENT_BLOCKING),
                     KILN_OK);
    assert_int_equal(kiln_event_create(&plain, KILN_DEVICE_HOST, 0), KILN_OK);
    assert_int_equal(kiln_event_record(a, NULL), KILN_OK);
    assert_int_equal(kiln_event_elapsed(&ms, a, b), KILN_ERROR_INVALID); /* b was not recorded */
    usleep(3000);
    assert_int_equal(kiln_event_record(b, NULL), KILN_OK);
    assert_int_equal(kiln_event_synchronize(b), KILN_OK);
    assert_int_equal(kiln_event_query(&done, b), KILN_OK);
    assert_true(done);
    assert_int_equal(kiln_stream_wait_event(NULL, b), KILN_OK);
    assert_int_equal(kiln_event_elapsed(&ms, a, b), KILN_OK);
    assert_true(ms >= 3 && ms < 10000);
    assert_int_equal(kiln_event_elapsed(&ms, a, plain), KILN_ERROR_INVALID);
    assert_non_null(strstr(kiln_error_message(), "end was created without KILN_EVENT_TIMING"));
    assert_int_equal(kiln_event_create(&plain, KILN_DEVICE_HOST, 8), KILN_ERROR_INVALID);
    assert_int_equal(kiln_event_record(NULL, NULL), KILN_ERROR_INVALID);
    kiln_event_free(a);
    kiln_event_free(b);
    kiln_event_free(plain);
    kiln_event_free(NULL);
}

/* ---- modules ---- */

static const char source[] =
    "typedef struct { const float *x; float *z; } args;\n"
    "int answer = 42;\n"
    "void twice(const void *a, long long begin, long long end)\n"
    "{ const args *p = a; for (long long i = begin; i < end; i++) p->z[i] = 2 * p->x[i]; }\n";

static kn_blob compiled(void)
{
    char folder[256], c[300], so[300], command[1024];
    kn_blob blob = KN_BLOB_INIT;
    assert_int_equal(kn_os_make_temporary_folder(folder, sizeof folder), KILN_OK);
    snprintf(c, sizeof c, "%s/m.c", folder);
    snprintf(so, sizeof so, "%s/m.so", folder);
    assert_int_equal(kn_os_write_file(c, source, sizeof source - 1), KILN_OK);
    snprintf(command, sizeof command, "cc -shared -fPIC -o %s %s", so, c);
    assert_int_equal(system(command), 0);
    assert_int_equal(kn_os_read_file(&blob, so), KILN_OK);
    kn_os_remove_folder(folder);
    return blob;
}

static void test_module(void **state)
{
    enum { COUNT = 10000 };
    static float x[COUNT], z[COUNT];
    struct {
        const float *x;
        float *z;
    } args = {x, z};
    (void)state;
    const kn_backend *b = host()->backend;
    kn_module *module = NULL;
    kn_function *f = NULL, *missing = NULL;
    void *answer = NULL;
    size_t size = 0;
    kn_blob code = compiled();
    for (int i = 0; i < COUNT; i++)
        x[i] = (float)i;
    assert_int_equal(b->module_load(host(), code.data, code.size, "doubling", &module), KILN_OK);
    assert_int_equal(b->module_function(module, "twice", &f), KILN_OK);
    assert_int_equal(b->module_function(module, "thrice", &missing), KILN_ERROR_NOT_FOUND);
    assert_non_null(strstr(kiln_error_message(), "thrice"));
    assert_int_equal(b->module_global(module, "answer", &answer, &size), KILN_OK);
    assert_int_equal(*(int *)answer, 42);
    assert_int_equal(size, sizeof(int));
    assert_int_equal(b->module_global(module, "question", &answer, &size), KILN_ERROR_NOT_FOUND);
    assert_ptr_equal(b->function_module(f), module);
    kn_launch launch = {.elements = COUNT, .grain = 100, .block_data = &args, .block_size = sizeof args};
    assert_int_equal(b->launch(f, &launch, NULL), KILN_OK);
    for (int i = 0; i < COUNT; i++)
        assert_true(z[i] == 2 * x[i]);
    void *params[] = {&args};
    launch.params = params;
    assert_int_equal(b->launch(f, &launch, NULL), KILN_ERROR_UNSUPPORTED);
    b->module_unload(module);
    b->module_unload(NULL);
    assert_int_equal(b->module_load(host(), "nonsense", 8, "broken", &module), KILN_ERROR_FORMAT);
    for (unsigned long nth = 1; nth < 6; nth++) {
        kn_alloc_fail_at(nth, 0);
        kn_module *partial = NULL;
        kiln_status status = b->module_load(host(), code.data, code.size, "doubling", &partial);
        if (status == KILN_OK)
            status = b->module_function(partial, "twice", &f);
        kn_alloc_fail_at(0, 0);
        assert_true(status == KILN_OK || status == KILN_ERROR_MEMORY);
        b->module_unload(partial);
    }
    kn_blob_free(&code);
}

static void test_last_launch(void **state)
{
    char name[32];
    (void)state;
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "kernel_%d", i % 40); /* one address, many names */
        kn_device_note_launch(name);
        assert_string_equal(kn_device_last_launch(), name);
    }
    kn_device_note_launch(NULL);
    assert_string_equal(kn_device_last_launch(), "kernel_19");
}

int main(void)
{
    setenv("KILN_NUM_THREADS", "3", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_selection),
        cmocka_unit_test(test_properties),
        cmocka_unit_test(test_short_properties),
        cmocka_unit_test(test_every_element_once),
        cmocka_unit_test(test_many_jobs),
        cmocka_unit_test(test_sleepers_are_woken),
        cmocka_unit_test(test_nested_runs_inline),
        cmocka_unit_test(test_concurrent_callers),
        cmocka_unit_test(test_fork),
#if defined(MADV_HUGEPAGE)
        cmocka_unit_test(test_huge_pages),
#endif
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_fill),
        cmocka_unit_test(test_streams),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_module),
        cmocka_unit_test(test_last_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
