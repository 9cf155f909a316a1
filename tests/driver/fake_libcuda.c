#include "fake_cuda.h"

#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EXPORT __attribute__((visibility("default")))

enum {
    OK = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    PEER_ALREADY = 704,
    PEER_UNSUPPORTED = 217,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_ISOLATION = 905,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    CAPTURE_WRONG_THREAD = 908
};
enum { DEVICES_MAX = 8, STACK_MAX = 64, KERNELS_MAX = 32, LOG_MAX = 4096 };
/* Bytes of shared memory of a block, a kernel's own variables among them: without an attribute, with one. */
enum { SHARED_UNASKED = 48 << 10, SHARED_MOST = 232448 };

typedef struct fake_context {
    int device; /* -1: the foreign one */
    bool peers[DEVICES_MAX];
} fake_context;

typedef void (*launcher)(const void *parameters, const unsigned *grid, unsigned threads, unsigned cluster);

typedef struct graph_node {
    struct graph_node *next;
    launcher run; /* of an emulated kernel */
    fake_launch launch;
    int kind; /* 'k' kernel, 'c' copy, 's' set */
    bool breaks;
    void *to;
    void *from;
    size_t size; /* bytes, or elements of a set */
    unsigned value, unit;
} graph_node;

typedef struct user_object {
    void (*destroy)(void *);
    void *pointer;
    int references;
} user_object;

typedef struct fake_graph {
    graph_node *first, **last;
    user_object *objects[64];
    int object_count;
    bool is_exec;
} fake_graph;

typedef struct fake_capture {
    unsigned long long id;
    fake_graph *graph;
    int mode, streams;
    bool is_invalid;
    pthread_t thread;
} fake_capture;

typedef struct fake_stream {
    struct fake_stream *next;
    fake_context *context;
    unsigned long long queued, done;
    bool is_held, is_destroyed;
    bool is_origin, is_non_blocking;
    bool is_unjoined; /* what was captured on it last, no other stream of the capture waits for yet */
    fake_capture *capture;
} fake_stream;

typedef struct fake_event {
    fake_stream *stream; /* where it was recorded; streams are never freed, so that a test may ask about one
                            that is gone */
    unsigned long long serial;
    unsigned flags;
    unsigned long long capture; /* the number of the capture in which it was recorded last; 0 */
} fake_event;

typedef struct fake_kernel {
    char name[64];
    size_t sizes[16];
    int count;
    bool breaks, is_loaded;     /* lazily, at the first use */
    int max_shared, own_shared; /* dynamic bytes that a launch may ask for; those of the kernel's variables */
    launcher run;
    struct fake_module *module;
} fake_kernel;

typedef struct fake_global {
    char name[64];
    size_t size;
    void *memory;
} fake_global;

typedef struct fake_module {
    fake_context *context;
    fake_kernel kernels[KERNELS_MAX];
    fake_global globals[KERNELS_MAX];
    int kernel_count, global_count;
} fake_module;

typedef struct allocation {
    struct allocation *next;
    char *memory;
    size_t size;
    int device;  /* -1: pinned */
    bool is_own; /* else of a library */
} allocation;

static struct {
    pthread_mutex_t lock;
    bool is_started;
    int device_count;
    size_t memory;
    fake_context contexts[DEVICES_MAX], foreign;
    fake_stream defaults[DEVICES_MAX];
    fake_stream *streams;
    allocation *allocations;
    size_t used[DEVICES_MAX];
    int live[FAKE_KINDS];
    int broken; /* the sticky error of a device that a kernel broke */
    unsigned long long capture_ids;
    fake_capture *active[16];
    fake_launch *log;
    int log_count;
    void (*on_launch)(const fake_launch *, void *);
    void *on_launch_user;
    long calls, fail_at;
    char fail_name[64], failed[64];
    int fail_code;
    struct {
        char name[64];
        long count;
    } counts[128];
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .foreign = {.device = -1}};

static _Thread_local fake_context *stack[STACK_MAX];
static _Thread_local int depth;
static _Thread_local int capture_mode; /* 0: global */

/* ---- counting, failing ---- */

static long count_call(const char *name)
{
    int i = 0;
    while (fake.counts[i].name[0] && strcmp(fake.counts[i].name, name) != 0)
        i++;
    snprintf(fake.counts[i].name, sizeof fake.counts[i].name, "%s", name);
    fake.calls++;
    return ++fake.counts[i].count;
}

/* A real driver polls, reads and writes: a thread can be cancelled in each of its functions. */
static int enter(const char *name)
{
    pthread_testcancel();
    pthread_mutex_lock(&fake.lock);
    count_call(name);
    if (fake.fail_at > 0 && (!fake.fail_name[0] || strcmp(fake.fail_name, name) == 0) &&
        --fake.fail_at == 0) {
        snprintf(fake.failed, sizeof fake.failed, "%s", name);
        return fake.fail_code;
    }
    return OK;
}

static int leave(int result)
{
    pthread_mutex_unlock(&fake.lock);
    pthread_testcancel();
    return result;
}

#define ENTER()                                                                                              \
    int result = enter(__func__);                                                                            \
    if (result != OK)                                                                                        \
    return leave(result)

static fake_context *current(void)
{
    return depth > 0 ? stack[depth - 1] : NULL;
}

#define ENTER_CONTEXT()                                                                                      \
    ENTER();                                                                                                 \
    if (!current() || current()->device < 0)                                                                 \
        return leave(INVALID_CONTEXT);                                                                       \
    if (fake.broken)                                                                                         \
    return leave(fake.broken)

/* A release does its work even where it reports a failure, as the driver's do; it needs no context. */
#define ENTER_RELEASE() int result = enter(__func__)

/* ---- control ---- */

EXPORT int fake_launch_count(void)
{
    pthread_mutex_lock(&fake.lock);
    return leave(fake.log_count);
}

EXPORT fake_launch fake_launch_at(int nth)
{
    pthread_mutex_lock(&fake.lock);
    fake_launch launch = fake.log[nth];
    leave(OK);
    return launch;
}

EXPORT void fake_launches_clear(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.log_count = 0;
    leave(OK);
}

EXPORT void fake_on_launch(void (*call)(const fake_launch *, void *), void *user)
{
    pthread_mutex_lock(&fake.lock);
    fake.on_launch = call;
    fake.on_launch_user = user;
    leave(OK);
}

EXPORT long fake_calls(void)
{
    pthread_mutex_lock(&fake.lock);
    long calls = fake.calls;
    leave(OK);
    return calls;
}

EXPORT long fake_calls_of(const char *function)
{
    long count = 0;
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; fake.counts[i].name[0]; i++)
        if (strcmp(fake.counts[i].name, function) == 0)
            count = fake.counts[i].count;
    leave(OK);
    return count;
}

EXPORT void fake_fail(const char *function, long nth, int code)
{
    pthread_mutex_lock(&fake.lock);
    snprintf(fake.fail_name, sizeof fake.fail_name, "%s", function ? function : "");
    fake.fail_at = nth;
    fake.fail_code = code;
    if (nth)
        fake.failed[0] = 0;
    leave(OK);
}

EXPORT const char *fake_failed_function(void)
{
    return fake.failed;
}

EXPORT int fake_live(fake_kind kind)
{
    pthread_mutex_lock(&fake.lock);
    return leave(fake.live[kind]);
}

EXPORT size_t fake_memory_used(int device)
{
    pthread_mutex_lock(&fake.lock);
    size_t used = fake.used[device];
    leave(OK);
    return used;
}

EXPORT int fake_context_depth(void)
{
    return depth;
}

EXPORT int fake_capture_mode(void)
{
    return capture_mode;
}

EXPORT void *fake_foreign_context(void)
{
    return &fake.foreign;
}

EXPORT void fake_repair(void)
{
    pthread_mutex_lock(&fake.lock);
    fake.broken = OK;
    leave(OK);
}

/* ---- streams' progress ---- */

static bool reuses_streams;

EXPORT void fake_reuse_streams(bool reuse)
{
    pthread_mutex_lock(&fake.lock);
    reuses_streams = reuse;
    leave(OK);
}

static fake_stream *destroyed_stream(void)
{
    fake_stream *s = reuses_streams ? fake.streams : NULL;
    while (s && !s->is_destroyed)
        s = s->next;
    return s;
}

static fake_stream *stream_of(void *handle)
{
    if ((uintptr_t)handle <= 1)
        return &fake.defaults[current() && current()->device >= 0 ? current()->device : 0];
    return handle;
}

static void queue(fake_stream *s)
{
    s->queued++;
    if (!s->is_held)
        s->done = s->queued;
}

static void finish(fake_stream *s)
{
    s->is_held = false;
    s->done = s->queued;
}

EXPORT void fake_hold(void *stream, bool held)
{
    pthread_mutex_lock(&fake.lock);
    fake_stream *s = stream_of(stream);
    if (held)
        s->is_held = true;
    else
        finish(s);
    leave(OK);
}

/* ---- captures ---- */

static void track_capture(fake_capture *old, fake_capture *fresh)
{
    int i = 0;
    while (fake.active[i] != old)
        i++;
    fake.active[i] = fresh;
}

/* The number is that of a capture that goes on, spoilt or not. */
static fake_capture *capture_of_id(unsigned long long id)
{
    for (int i = 0; id && i < 16; i++)
        if (fake.active[i] && fake.active[i]->id == id)
            return fake.active[i];
    return NULL;
}

static int spoil(fake_capture *c, int result)
{
    if (c)
        c->is_invalid = true;
    return result;
}

/* Potentially unsafe calls are refused during a capture, unless the thread has relaxed its mode, and spoil
 * the capture: captures of other threads count if they were begun in global mode, and the thread has that
 * mode, too. */
static int refuse_in_capture(void)
{
    int result = OK;
    for (int i = 0; i < 16 && capture_mode != 2; i++) {
        fake_capture *c = fake.active[i];
        bool same = c && pthread_equal(c->thread, pthread_self());
        if (c && c->mode != 2 && (same || (c->mode == 0 && capture_mode == 0)))
            result = spoil(c, CAPTURE_UNSUPPORTED);
    }
    return result;
}

/* To wait for a context conflicts with every capture of its streams, whatever thread began it in whatever
 * mode. */
static int refuse_whole_context(const fake_context *context)
{
    int result = OK;
    for (fake_stream *s = fake.streams; s; s = s->next)
        if (s->capture && s->context == context)
            result = spoil(s->capture, CAPTURE_UNSUPPORTED);
    return result;
}

/* The default stream encompasses the streams that wait for it: while one of them is captured it cannot be
 * used, and the attempt spoils that capture; to ask about its own capture does not. */
static int refuse_default(const fake_stream *s, bool is_question)
{
    int result = OK;
    if (s < fake.defaults || s >= fake.defaults + DEVICES_MAX)
        return OK;
    for (fake_stream *other = fake.streams; other; other = other->next)
        if (other->capture && other->context == s->context && !other->is_non_blocking) {
            result = CAPTURE_IMPLICIT;
            if (!is_question)
                spoil(other->capture, OK);
        }
    return result;
}

/* Waiting for a stream, or asking whether it is done. */
static int refuse_waiting(fake_stream *s)
{
    if (s->is_destroyed)
        return INVALID_HANDLE;
    if (s->capture)
        return spoil(s->capture, CAPTURE_UNSUPPORTED);
    return refuse_default(s, false);
}

/* The same for an event, which may stand for a place in a graph. */
static int refuse_captured_event(const fake_event *event)
{
    return event->capture ? spoil(capture_of_id(event->capture), CAPTURED_EVENT) : OK;
}

static graph_node *add_node(fake_stream *s, int kind)
{
    graph_node *node = calloc(1, sizeof *node);
    node->kind = kind;
    *s->capture->graph->last = node;
    s->capture->graph->last = &node->next;
    return node;
}

/* ---- kernels, copies and sets, now or in a graph ---- */

static void run_emulated(const graph_node *node)
{
    _Alignas(64) unsigned char parameters[sizeof node->launch.parameters];
    const unsigned *cluster = node->launch.cluster;
    memcpy(parameters, node->launch.parameters, node->launch.parameter_size);
    node->run(parameters, node->launch.grid, node->launch.block[0],
              cluster[0] ? cluster[0] * cluster[1] * cluster[2] : 1);
}

static void run_node(const graph_node *node, fake_stream *s, bool is_replay)
{
    if (node->kind == 'k') {
        if (node->run)
            run_emulated(node);
        fake_launch launch = node->launch;
        launch.stream = s;
        launch.is_replay = is_replay;
        if (fake.log_count < LOG_MAX)
            fake.log[fake.log_count++] = launch;
        if (fake.on_launch)
            fake.on_launch(&launch, fake.on_launch_user);
        if (node->breaks)
            fake.broken = ILLEGAL_ADDRESS;
    } else if (node->kind == 'c') {
        memmove(node->to, node->from, node->size);
    } else {
        for (size_t i = 0; i < node->size; i++)
            memcpy((char *)node->to + i * node->unit, &node->value, node->unit);
    }
}

static int do_or_capture(fake_stream *s, const graph_node *work)
{
    int refused = s->is_destroyed ? INVALID_HANDLE : refuse_default(s, false);
    if (refused != OK)
        return refused;
    if (s->capture) {
        if (s->capture->is_invalid)
            return CAPTURE_INVALIDATED;
        s->is_unjoined = !s->is_origin;
        graph_node *node = add_node(s, work->kind), *next = node->next;
        *node = *work;
        node->next = next;
        node->launch.was_captured = true;
        return OK;
    }
    run_node(work, s, false);
    queue(s);
    return OK;
}

/* ---- start, devices ---- */

static int number_from(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

static void start(void)
{
    if (fake.is_started)
        return;
    const char *memory = getenv("FAKE_CUDA_MEMORY");
    fake.is_started = true;
    fake.device_count = number_from("FAKE_CUDA_DEVICES", 2);
    fake.memory = memory ? strtoull(memory, NULL, 10) : (size_t)256 << 20;
    fake.log = calloc(LOG_MAX, sizeof *fake.log);
    for (int i = 0; i < DEVICES_MAX; i++) {
        fake.contexts[i].device = i;
        fake.defaults[i].context = &fake.contexts[i];
    }
}

EXPORT int cuInit(unsigned flags)
{
    ENTER();
    (void)flags;
    start();
    int code = number_from("FAKE_CUDA_INIT", OK);
    return leave(code != OK ? code : fake.device_count == 0 ? NO_DEVICE : OK);
}

EXPORT int cuDriverGetVersion(int *version)
{
    ENTER();
    *version = 13000;
    return leave(OK);
}

EXPORT int cuGetErrorName(int code, const char **text)
{
    static const struct {
        int code;
        const char *name;
    } names[] = {{INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"},
                 {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
                 {NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
                 {INVALID_IMAGE, "CUDA_ERROR_INVALID_IMAGE"},
                 {INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT"},
                 {INVALID_PTX, "CUDA_ERROR_INVALID_PTX"},
                 {INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE"},
                 {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"},
                 {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
                 {CAPTURE_UNSUPPORTED, "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
                 {CAPTURE_INVALIDATED, "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
                 {CAPTURE_MERGE, "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
                 {CAPTURE_UNMATCHED, "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
                 {CAPTURE_UNJOINED, "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
                 {CAPTURE_ISOLATION, "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
                 {CAPTURE_IMPLICIT, "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
                 {CAPTURE_WRONG_THREAD, "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
                 {CAPTURED_EVENT, "CUDA_ERROR_CAPTURED_EVENT"},
                 {999, "CUDA_ERROR_UNKNOWN"}};
    *text = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].code == code)
            *text = names[i].name;
    return *text ? OK : INVALID_VALUE;
}

EXPORT int cuGetErrorString(int code, const char **text)
{
    const char *name = NULL;
    *text = cuGetErrorName(code, &name) == OK ? "as the fake driver says" : NULL;
    return *text ? OK : INVALID_VALUE;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
    ENTER();
    if (ordinal < 0 || ordinal >= fake.device_count)
        return leave(INVALID_DEVICE);
    *device = ordinal + 100; /* a handle is not an ordinal */
    return leave(OK);
}

EXPORT int cuDeviceGetCount(int *count)
{
    ENTER();
    *count = fake.device_count;
    return leave(OK);
}

EXPORT int cuDeviceGetName(char *name, int size, int device)
{
    ENTER();
    snprintf(name, (size_t)size, "Fake GPU %d", device - 100);
    return leave(OK);
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    ENTER();
    (void)device;
    *bytes = fake.memory;
    return leave(OK);
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } values[] = {{1, 1024},  {5, 2147483647}, {8, 49152},   {10, 32},    {13, 1980000},
                  {16, 132},  {18, 0},         {33, 7},      {34, 0},     {36, 3201000},
                  {37, 6144}, {38, 52428800},  {39, 2048},   {41, 1},     {50, 0},
                  {75, 9},    {76, 0},         {81, 233472}, {82, 65536}, {83, 1},
                  {95, 1},    {97, 232448},    {102, 1},     {110, 1},    {111, 1024}};
    ENTER();
    if (device < 100 || device >= 100 + fake.device_count)
        return leave(INVALID_DEVICE);
    const char *capability = getenv("FAKE_CUDA_CAPABILITY");
    if (capability && (attribute == 75 || attribute == 76)) {
        *value = attribute == 75 ? atoi(capability) / 10 : atoi(capability) % 10;
        return leave(OK);
    }
    if (attribute == 102 && getenv("FAKE_CUDA_NO_PAGES")) {
        *value = 0;
        return leave(OK);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (values[i].attribute == attribute) {
            *value = values[i].value;
            return leave(OK);
        }
    return leave(INVALID_VALUE);
}

EXPORT int cuDeviceCanAccessPeer(int *can, int device, int peer)
{
    ENTER();
    *can = device != peer && !getenv("FAKE_CUDA_NO_PEERS");
    return leave(OK);
}

/* ---- contexts ---- */

EXPORT int cuDevicePrimaryCtxRetain(fake_context **context, int device)
{
    ENTER();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    *context = &fake.contexts[device - 100];
    return leave(OK);
}

EXPORT int cuCtxGetCurrent(fake_context **context)
{
    ENTER();
    *context = current();
    return leave(OK);
}

EXPORT int cuCtxPushCurrent_v2(fake_context *context)
{
    ENTER();
    stack[depth++] = context;
    return leave(OK);
}

EXPORT int cuCtxPopCurrent_v2(fake_context **context)
{
    ENTER_RELEASE();
    if (depth == 0)
        return leave(INVALID_CONTEXT);
    *context = stack[--depth];
    return leave(result);
}

EXPORT int cuCtxSynchronize(void)
{
    ENTER_CONTEXT();
    if ((result = refuse_whole_context(current())) != OK)
        return leave(result);
    for (fake_stream *s = fake.streams; s; s = s->next)
        if (s->context == current())
            finish(s);
    finish(&fake.defaults[current()->device]);
    return leave(OK);
}

EXPORT int cuCtxEnablePeerAccess(fake_context *peer, unsigned flags)
{
    ENTER_CONTEXT();
    (void)flags;
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    if (getenv("FAKE_CUDA_NO_PEERS"))
        return leave(PEER_UNSUPPORTED);
    if (current()->peers[peer->device])
        return leave(PEER_ALREADY);
    current()->peers[peer->device] = true;
    return leave(OK);
}

/* ---- memory ---- */

static void *new_allocation(size_t size, int device)
{
    allocation *a = malloc(sizeof *a);
    *a = (allocation){fake.allocations, aligned_alloc(512, (size + 511) / 512 * 512), size, device, true};
    fake.allocations = a;
    return a->memory;
}

static allocation *drop_allocation(void *memory, bool pinned)
{
    for (allocation **link = &fake.allocations; *link; link = &(*link)->next)
        if ((*link)->memory == memory && ((*link)->device < 0) == pinned) {
            allocation *a = *link;
            *link = a->next;
            if (a->is_own)
                free(a->memory);
            return a;
        }
    return NULL;
}

EXPORT int cuMemAlloc_v2(unsigned long long *address, size_t size)
{
    ENTER_CONTEXT();
    int device = current()->device;
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    if (size == 0 || size > fake.memory - fake.used[device])
        return leave(size ? OUT_OF_MEMORY : INVALID_VALUE);
    *address = (uintptr_t)new_allocation(size, device);
    fake.used[device] += size;
    fake.live[FAKE_MEMORY]++;
    return leave(OK);
}

EXPORT int cuMemAllocManaged(unsigned long long *address, size_t size, unsigned flags)
{
    ENTER_CONTEXT();
    int device = current()->device;
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    if (size == 0 || size > fake.memory - fake.used[device] || flags != 1)
        return leave(size && flags == 1 ? OUT_OF_MEMORY : INVALID_VALUE);
    *address = (uintptr_t)new_allocation(size, device);
    fake.used[device] += size;
    fake.live[FAKE_MEMORY]++;
    return leave(OK);
}

EXPORT int cuMemFree_v2(unsigned long long address)
{
    ENTER_RELEASE();
    int refused = refuse_in_capture();
    if (refused != OK)
        return leave(refused);
    allocation *a = drop_allocation((void *)(uintptr_t)address, false);
    if (!a)
        return leave(INVALID_VALUE);
    fake.used[a->device] -= a->size;
    fake.live[FAKE_MEMORY]--;
    free(a);
    return leave(result);
}

EXPORT int cuMemGetInfo_v2(size_t *available, size_t *total)
{
    ENTER_CONTEXT();
    *total = fake.memory;
    *available = fake.memory - fake.used[current()->device];
    return leave(OK);
}

EXPORT int cuMemHostAlloc(void **pointer, size_t size, unsigned flags)
{
    ENTER_CONTEXT();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    if (flags != 1)
        return leave(INVALID_VALUE);
    *pointer = new_allocation(size, -1);
    fake.live[FAKE_PINNED]++;
    return leave(OK);
}

EXPORT int cuMemFreeHost(void *pointer)
{
    ENTER_RELEASE();
    int refused = refuse_in_capture();
    if (refused != OK)
        return leave(refused);
    allocation *a = drop_allocation(pointer, true);
    if (!a)
        return leave(INVALID_VALUE);
    fake.live[FAKE_PINNED]--;
    free(a);
    return leave(result);
}

/* ---- mapped pages ---- */

enum { PAGE = 2 << 20 };

/* An allocation without an address; 0 where it has ended. */
typedef struct fake_handle {
    size_t size;
    int device;
    bool is_mapped, is_released;
} fake_handle;

typedef struct fake_range {
    struct fake_range *next;
    char *base;
    size_t size;
    fake_handle **pages; /* what is mapped there; NULL: nothing */
    unsigned *access;    /* a bit for each device */
} fake_range;

typedef struct fake_traits {
    int kind, handle_kinds, place, device;
    void *windows;
    unsigned char flags[8];
} fake_traits;

typedef struct fake_access {
    int place, device, flags;
} fake_access;

static fake_range *ranges;

static fake_range *range_of(unsigned long long address, size_t size)
{
    for (fake_range *r = ranges; r; r = r->next)
        if (address >= (uintptr_t)r->base && address - (uintptr_t)r->base + size <= r->size)
            return r;
    return NULL;
}

static size_t page_of(const fake_range *r, unsigned long long address)
{
    return (size_t)(address - (uintptr_t)r->base) / PAGE;
}

static void drop_handle(fake_handle *h)
{
    if (h->is_mapped || !h->is_released)
        return;
    fake.used[h->device] -= h->size;
    fake.live[FAKE_MEMORY]--;
    free(h);
}

EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const fake_traits *traits, int option)
{
    ENTER();
    if (traits->kind != 1 || traits->place != 1 || option != 0)
        return leave(INVALID_VALUE);
    *bytes = PAGE;
    return leave(OK);
}

EXPORT int cuMemAddressReserve(unsigned long long *address, size_t size, size_t alignment,
                               unsigned long long wish, unsigned long long flags)
{
    ENTER_CONTEXT();
    if (size == 0 || size % PAGE || alignment || wish || flags)
        return leave(INVALID_VALUE);
    char *raw = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED)
        return leave(OUT_OF_MEMORY);
    fake_range *r = malloc(sizeof *r);
    *r = (fake_range){ranges, raw + (PAGE - (uintptr_t)raw % PAGE) % PAGE, size,
                      calloc(size / PAGE, sizeof *r->pages), calloc(size / PAGE, sizeof *r->access)};
    munmap(raw, (size_t)(r->base - raw));
    munmap(r->base + size, PAGE - (size_t)(r->base - raw));
    ranges = r;
    *address = (uintptr_t)r->base;
    fake.live[FAKE_RANGE]++;
    return leave(OK);
}

EXPORT int cuMemAddressFree(unsigned long long address, size_t size)
{
    ENTER_RELEASE();
    for (fake_range **link = &ranges, *r; (r = *link); link = &r->next) {
        if ((uintptr_t)r->base != address || r->size != size)
            continue;
        for (size_t page = 0; page < size / PAGE; page++)
            if (r->pages[page])
                return leave(INVALID_VALUE);
        *link = r->next;
        munmap(r->base, r->size);
        free(r->pages);
        free(r->access);
        free(r);
        fake.live[FAKE_RANGE]--;
        return leave(result);
    }
    return leave(INVALID_VALUE);
}

EXPORT int cuMemCreate(fake_handle **out, size_t size, const fake_traits *traits, unsigned long long flags)
{
    ENTER_CONTEXT();
    int device = traits->device - 100;
    if (traits->kind != 1 || traits->place != 1 || device < 0 || device >= fake.device_count || flags ||
        size == 0 || size % PAGE)
        return leave(INVALID_VALUE);
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    if (size > fake.memory - fake.used[device])
        return leave(OUT_OF_MEMORY);
    *out = malloc(sizeof **out);
    **out = (fake_handle){size, device, false, false};
    fake.used[device] += size;
    fake.live[FAKE_MEMORY]++;
    return leave(OK);
}

EXPORT int cuMemRelease(fake_handle *h)
{
    ENTER_RELEASE();
    h->is_released = true;
    drop_handle(h);
    return leave(result);
}

EXPORT int cuMemMap(unsigned long long address, size_t size, size_t offset, fake_handle *h,
                    unsigned long long flags)
{
    ENTER_CONTEXT();
    fake_range *r = range_of(address, size);
    if (!r || h->size != size || h->is_mapped || offset || flags || address % PAGE)
        return leave(INVALID_VALUE);
    for (size_t page = 0; page < size / PAGE; page++)
        if (r->pages[page_of(r, address) + page])
            return leave(INVALID_VALUE);
    for (size_t page = 0; page < size / PAGE; page++) {
        r->pages[page_of(r, address) + page] = h;
        r->access[page_of(r, address) + page] = 0;
    }
    h->is_mapped = true;
    return leave(OK);
}

/* Only what one call mapped. Work of a stream that is held may still use it: that is a bug of the caller. */
EXPORT int cuMemUnmap(unsigned long long address, size_t size)
{
    ENTER_RELEASE();
    fake_range *r = range_of(address, size);
    fake_handle *h = r ? r->pages[page_of(r, address)] : NULL;
    if (!h || h->size != size)
        return leave(INVALID_VALUE);
    for (size_t page = 0; page < size / PAGE; page++)
        r->pages[page_of(r, address) + page] = NULL;
    mprotect((void *)(uintptr_t)address, size, PROT_NONE);
    h->is_mapped = false;
    drop_handle(h);
    return leave(result);
}

EXPORT int cuMemSetAccess(unsigned long long address, size_t size, const fake_access *access, size_t count)
{
    ENTER_CONTEXT();
    fake_range *r = range_of(address, size);
    if (!r || count == 0)
        return leave(INVALID_VALUE);
    for (size_t page = 0; page < size / PAGE; page++)
        if (!r->pages[page_of(r, address) + page])
            return leave(INVALID_VALUE);
    for (size_t i = 0; i < count; i++) {
        if (access[i].place != 1 || access[i].flags != 3)
            return leave(INVALID_VALUE);
        for (size_t page = 0; page < size / PAGE; page++)
            r->access[page_of(r, address) + page] |= 1u << (access[i].device - 100);
    }
    mprotect((void *)(uintptr_t)address, size, PROT_READ | PROT_WRITE);
    return leave(OK);
}

static unsigned page_access(unsigned long long address, size_t size)
{
    fake_range *r = range_of(address, size);
    unsigned all = ~0u;
    for (size_t page = 0; r && page <= page_of(r, address + (size ? size - 1 : 0)) - page_of(r, address);
         page++)
        all &= r->pages[page_of(r, address) + page] ? r->access[page_of(r, address) + page] : 0;
    return r ? all : 0;
}

EXPORT unsigned fake_access_of(const void *pointer)
{
    pthread_mutex_lock(&fake.lock);
    unsigned devices = page_access((uintptr_t)pointer, 1);
    leave(OK);
    return devices;
}

/* The allocation that holds a whole range of device memory; without one the address is not the device's. */
static bool is_device_range(unsigned long long address, size_t size)
{
    for (allocation *a = fake.allocations; a; a = a->next)
        if (a->device >= 0 && address >= (uintptr_t)a->memory &&
            address + size <= (uintptr_t)a->memory + a->size)
            return true;
    return page_access(address, size) != 0;
}

static int copy(void *to, const void *from, size_t size, void *stream, bool is_right)
{
    graph_node work = {.kind = 'c', .to = to, .from = (void *)(uintptr_t)from, .size = size};
    return is_right ? do_or_capture(stream_of(stream), &work) : INVALID_VALUE;
}

EXPORT int cuMemcpyHtoDAsync_v2(unsigned long long to, const void *from, size_t size, void *stream)
{
    ENTER_CONTEXT();
    return leave(copy((void *)(uintptr_t)to, from, size, stream, is_device_range(to, size)));
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, unsigned long long from, size_t size, void *stream)
{
    ENTER_CONTEXT();
    return leave(copy(to, (void *)(uintptr_t)from, size, stream, is_device_range(from, size)));
}

EXPORT int cuMemcpyDtoDAsync_v2(unsigned long long to, unsigned long long from, size_t size, void *stream)
{
    ENTER_CONTEXT();
    return leave(copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, stream,
                      is_device_range(from, size) && is_device_range(to, size)));
}

EXPORT int cuMemcpyPeerAsync(unsigned long long to, fake_context *to_context, unsigned long long from,
                             fake_context *from_context, size_t size, void *stream)
{
    ENTER_CONTEXT();
    return leave(
        copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, stream, to_context != from_context));
}

static int set(unsigned long long to, unsigned value, unsigned unit, size_t count, void *stream)
{
    graph_node work = {.kind = 's', .to = (void *)(uintptr_t)to, .size = count, .value = value, .unit = unit};
    return is_device_range(to, count * unit) ? do_or_capture(stream_of(stream), &work) : INVALID_VALUE;
}

EXPORT int cuMemsetD8Async(unsigned long long to, unsigned char value, size_t count, void *stream)
{
    ENTER_CONTEXT();
    return leave(set(to, value, 1, count, stream));
}

EXPORT int cuMemsetD16Async(unsigned long long to, unsigned short value, size_t count, void *stream)
{
    ENTER_CONTEXT();
    return leave(set(to, value, 2, count, stream));
}

EXPORT int cuMemsetD32Async(unsigned long long to, unsigned value, size_t count, void *stream)
{
    ENTER_CONTEXT();
    return leave(set(to, value, 4, count, stream));
}

/* ---- streams and events ---- */

EXPORT int cuStreamCreate(fake_stream **stream, unsigned flags)
{
    ENTER_CONTEXT();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    fake_stream *s = destroyed_stream();
    if (!s) {
        s = calloc(1, sizeof *s);
        s->next = fake.streams;
        fake.streams = s;
    }
    s->context = current();
    s->is_destroyed = false;
    s->is_non_blocking = flags & 1;
    fake.live[FAKE_STREAM]++;
    *stream = s;
    return leave(OK);
}

static int free_graph_and_leave(fake_graph *g, int result);

/* All streams leave the capture; its graph is the caller's. */
static fake_graph *finish_capture(fake_capture *c)
{
    fake_graph *graph = c->graph;
    for (fake_stream *s = fake.streams; s; s = s->next)
        if (s->capture == c) {
            s->capture = NULL;
            s->is_origin = s->is_unjoined = false;
        }
    track_capture(c, NULL);
    free(c);
    return graph;
}

/* A capture ends with the stream on which it was begun, and is spoilt when another of its streams goes. */
EXPORT int cuStreamDestroy_v2(fake_stream *s)
{
    ENTER_RELEASE();
    int refused = refuse_in_capture();
    if (refused != OK)
        return leave(refused);
    if (s->is_destroyed)
        return leave(INVALID_HANDLE);
    s->is_destroyed = true;
    fake.live[FAKE_STREAM]--;
    if (s->capture && s->is_origin)
        return free_graph_and_leave(finish_capture(s->capture), result);
    if (s->capture)
        spoil(s->capture, OK);
    s->capture = NULL;
    return leave(result);
}

EXPORT int cuStreamSynchronize(void *stream)
{
    ENTER_CONTEXT();
    fake_stream *s = stream_of(stream);
    if ((result = refuse_waiting(s)) != OK || (result = refuse_in_capture()) != OK)
        return leave(result);
    finish(s);
    return leave(OK);
}

EXPORT int cuStreamQuery(void *stream)
{
    ENTER_CONTEXT();
    fake_stream *s = stream_of(stream);
    if ((result = refuse_waiting(s)) != OK || (result = refuse_in_capture()) != OK)
        return leave(result);
    return leave(s->done < s->queued ? NOT_READY : OK);
}

/* A second stream joins the capture of the event, or one of its streams waits for another. */
static int wait_in_capture(fake_stream *s, fake_event *event, fake_capture *c)
{
    if (s->capture && s->capture->is_invalid)
        return CAPTURE_INVALIDATED;
    if (s->capture && !event->capture)
        return event->stream ? spoil(s->capture, CAPTURE_ISOLATION) : OK;
    if (!c || c->is_invalid)
        return INVALID_VALUE;
    if (s->capture && s->capture != c) {
        spoil(c, OK);
        return spoil(s->capture, CAPTURE_MERGE);
    }
    if (!s->capture) {
        s->capture = c;
        s->is_unjoined = true;
        c->streams++;
    }
    if (event->stream != s)
        event->stream->is_unjoined = false;
    return OK;
}

EXPORT int cuStreamWaitEvent(void *stream, fake_event *event, unsigned flags)
{
    ENTER_CONTEXT();
    (void)flags;
    fake_stream *s = stream_of(stream);
    if ((result = refuse_default(s, false)) != OK)
        return leave(result);
    return leave(s->capture || event->capture ? wait_in_capture(s, event, capture_of_id(event->capture))
                                              : OK);
}

EXPORT int cuStreamGetCtx(fake_stream *stream, fake_context **context)
{
    ENTER();
    *context = stream->context;
    return leave(OK);
}

EXPORT int cuEventCreate(fake_event **event, unsigned flags)
{
    ENTER_CONTEXT();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    *event = calloc(1, sizeof **event);
    (*event)->flags = flags;
    fake.live[FAKE_EVENT]++;
    return leave(OK);
}

EXPORT int cuEventDestroy_v2(fake_event *event)
{
    ENTER_RELEASE();
    int refused = refuse_in_capture();
    if (refused != OK)
        return leave(refused);
    fake.live[FAKE_EVENT]--;
    free(event);
    return leave(result);
}

EXPORT int cuEventRecord(fake_event *event, void *stream)
{
    ENTER_CONTEXT();
    fake_stream *s = stream_of(stream);
    if (s->is_destroyed)
        return leave(INVALID_HANDLE);
    if ((result = refuse_default(s, false)) != OK)
        return leave(result);
    if (s->capture && s->capture->is_invalid)
        return leave(CAPTURE_INVALIDATED);
    event->stream = s;
    event->capture = s->capture ? s->capture->id : 0;
    if (!s->capture) {
        queue(s);
        event->serial = s->queued;
    }
    return leave(OK);
}

EXPORT int cuEventQuery(fake_event *event)
{
    ENTER_CONTEXT();
    if ((result = refuse_captured_event(event)) != OK || (result = refuse_in_capture()) != OK)
        return leave(result);
    return leave(event->stream && event->stream->done < event->serial ? NOT_READY : OK);
}

EXPORT int cuEventSynchronize(fake_event *event)
{
    ENTER_CONTEXT();
    if ((result = refuse_captured_event(event)) != OK || (result = refuse_in_capture()) != OK)
        return leave(result);
    if (event->stream)
        finish(event->stream);
    return leave(OK);
}

EXPORT int cuEventElapsedTime(float *milliseconds, fake_event *start_event, fake_event *end_event)
{
    ENTER_CONTEXT();
    if ((result = refuse_captured_event(start_event)) != OK ||
        (result = refuse_captured_event(end_event)) != OK || (result = refuse_in_capture()) != OK)
        return leave(result);
    if ((start_event->flags | end_event->flags) & 2 || !start_event->stream || !end_event->stream)
        return leave(INVALID_HANDLE);
    *milliseconds = 1.5f * (float)(end_event->serial - start_event->serial);
    return leave(OK);
}

/* ---- modules ---- */

static void own_shared_memory(fake_kernel *k, size_t bytes)
{
    k->own_shared = (int)bytes;
    k->max_shared = SHARED_UNASKED - (int)bytes;
}

static void read_kernel(fake_module *module, char *rest)
{
    fake_kernel *k = &module->kernels[module->kernel_count++];
    char *save = NULL, *word = strtok_r(rest, " ", &save);
    snprintf(k->name, sizeof k->name, "%s", word);
    k->module = module;
    own_shared_memory(k, 0);
    size_t length = strlen(k->name);
    if (k->name[length - 1] == '!') {
        k->name[length - 1] = 0;
        k->breaks = true;
    }
    while ((word = strtok_r(NULL, " ", &save)) && k->count < 16)
        if (strncmp(word, "shared:", 7) == 0)
            own_shared_memory(k, strtoul(word + 7, NULL, 10));
        else
            k->sizes[k->count++] = strtoul(word, NULL, 10);
}

static void read_global(fake_module *module, const char *rest)
{
    fake_global *g = &module->globals[module->global_count++];
    sscanf(rest, "%63s %zu", g->name, &g->size);
    g->memory = new_allocation(g->size, module->context->device);
    memset(g->memory, 0, g->size);
}

typedef struct symbol_table {
    const Elf64_Sym *first, *end;
    const char *names;
} symbol_table;

static symbol_table symbols_of(const char *image)
{
    const Elf64_Ehdr *head = (const void *)image;
    const Elf64_Shdr *section = (const void *)(image + head->e_shoff);
    for (int i = 0; i < head->e_shnum; i++)
        if (section[i].sh_type == SHT_SYMTAB) {
            const Elf64_Sym *first = (const void *)(image + section[i].sh_offset);
            return (symbol_table){first, first + section[i].sh_size / sizeof *first,
                                  image + section[section[i].sh_link].sh_offset};
        }
    return (symbol_table){NULL, NULL, NULL};
}

/* The variables of a library, whose symbols are hidden ones: its file says where they lie. */
static void read_variables(fake_module *module, const char *path, const char *base)
{
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    char *image = malloc(size);
    rewind(file);
    size = fread(image, 1, size, file);
    fclose(file);
    const symbol_table symbols = symbols_of(image);
    for (const Elf64_Sym *symbol = symbols.first; symbol < symbols.end; symbol++) {
        const char *name = symbols.names + symbol->st_name;
        if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || strncmp(name, "kn_", 3) != 0 ||
            module->global_count == KERNELS_MAX)
            continue;
        fake_global *g = &module->globals[module->global_count++];
        snprintf(g->name, sizeof g->name, "%s", name);
        g->size = symbol->st_size;
        g->memory = (void *)(uintptr_t)(base + symbol->st_value);
        allocation *a = malloc(sizeof *a);
        *a = (allocation){fake.allocations, g->memory, g->size, module->context->device, false};
        fake.allocations = a;
    }
    free(image);
}

/* NAME PATH: a kernel that is compiled for the processor. Its library is never closed: a library of another
 * load would have the same variables. */
static bool read_emulated(fake_module *module, const char *rest)
{
    char name[64], path[300], line[128];
    Dl_info where;
    if (sscanf(rest, "%63s %299s", name, path) != 2)
        return false;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const unsigned long *size = library ? dlsym(library, "emulated_size") : NULL;
    if (!size || !dladdr(size, &where))
        return false;
    snprintf(line, sizeof line, "%s %lu", name, *size);
    read_kernel(module, line);
    *(void **)&module->kernels[module->kernel_count - 1].run = dlsym(library, "emulated_launch");
    read_variables(module, path, where.dli_fbase);
    return true;
}

/* A cubin of the real NVRTC: its kernels are its functions, whose parameters' sizes stand in the section
 * ".nv.info.NAME" as entries {format 4, attribute 0x17, 12} of 12 bytes: ordinal at 4, size from bit 18 of
 * the last word on. Its globals are the objects. Launches of its kernels compute nothing. */
static void read_parameters(fake_kernel *k, const char *info, size_t size)
{
    for (size_t at = 0; at + 4 <= size;) {
        bool has_bytes = info[at] == 4; /* else the value stands in the entry's head */
        uint16_t length, ordinal;
        uint32_t word;
        memcpy(&length, info + at + 2, sizeof length);
        if (has_bytes && info[at + 1] == 0x17) {
            memcpy(&ordinal, info + at + 8, sizeof ordinal);
            memcpy(&word, info + at + 12, sizeof word);
            if (ordinal < sizeof k->sizes / sizeof k->sizes[0]) {
                k->sizes[ordinal] = word >> 18;
                k->count = k->count > ordinal ? k->count : ordinal + 1;
            }
        }
        at += 4 + (has_bytes ? length : 0);
    }
}

static bool is_section_of(const char *section, const char *prefix, const char *kernel)
{
    size_t length = strlen(prefix);
    return strncmp(section, prefix, length) == 0 && strcmp(section + length, kernel) == 0;
}

static void read_cubin(fake_module *module, const char *image)
{
    const Elf64_Ehdr *head = (const void *)image;
    const Elf64_Shdr *section = (const void *)(image + head->e_shoff);
    const char *names = image + section[head->e_shstrndx].sh_offset;
    const symbol_table symbols = symbols_of(image);
    for (const Elf64_Sym *symbol = symbols.first; symbol < symbols.end; symbol++) {
        const char *name = symbols.names + symbol->st_name;
        int type = ELF64_ST_TYPE(symbol->st_info);
        if (symbol->st_shndx == SHN_UNDEF)
            continue;
        char line[128];
        if (type == STT_OBJECT && module->global_count < KERNELS_MAX) {
            snprintf(line, sizeof line, "%.60s %zu", name, (size_t)symbol->st_size);
            read_global(module, line);
        }
        if (type != STT_FUNC || module->kernel_count == KERNELS_MAX)
            continue;
        snprintf(line, sizeof line, "%.60s", name);
        read_kernel(module, line);
        fake_kernel *kernel = &module->kernels[module->kernel_count - 1];
        for (int k = 0; k < head->e_shnum; k++)
            if (is_section_of(names + section[k].sh_name, ".nv.info.", name))
                read_parameters(kernel, image + section[k].sh_offset, section[k].sh_size);
            else if (is_section_of(names + section[k].sh_name, ".nv.shared.", name))
                own_shared_memory(kernel, section[k].sh_size);
    }
}

/* Text behind "ELF" and four bytes; a whole header of 64 bytes, which says by its type whether the code is
 * relocatable, stands before other text. */
static const char *text_of_image(const char *image, bool *is_relocatable)
{
    *is_relocatable = false;
    if (strncmp(image, "\177ELF", 4) != 0)
        return image;
    if (image[4] != 2) /* a class of 64 bits: a whole header */
        return image + 4;
    *is_relocatable = image[16] == 1;
    return image + 64;
}

/* The lines of a module of these tests. */
static bool is_module_text(const char *text)
{
    return strncmp(text, "kernel ", 7) == 0 || strncmp(text, "global ", 7) == 0 ||
           strncmp(text, "emulated ", 9) == 0;
}

/* The compiler's own code, behind whose header no such lines are. */
static bool is_real_cubin(const char *image, const char *text)
{
    return text == image + 64 && ((const Elf64_Ehdr *)image)->e_machine == EM_CUDA && !is_module_text(text);
}

EXPORT int cuModuleLoadDataEx(fake_module **out, const void *image, unsigned count, int *options,
                              void **values)
{
    ENTER_CONTEXT();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    bool is_relocatable;
    const char *text = text_of_image(image, &is_relocatable);
    if (is_relocatable)
        return leave(INVALID_IMAGE);
    bool is_cubin = is_real_cubin(image, text);
    if (!is_cubin && !is_module_text(text)) {
        for (unsigned i = 0; i < count; i++)
            if (options[i] == 5)
                strcpy(values[i], "ptxas: the text makes no sense");
        return leave(INVALID_PTX);
    }
    fake_module *module = calloc(1, sizeof *module);
    module->context = current();
    char *lines = strdup(is_cubin ? "" : text), *save = NULL;
    bool failed = false;
    if (is_cubin)
        read_cubin(module, image);
    for (char *line = strtok_r(lines, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (strncmp(line, "kernel ", 7) == 0)
            read_kernel(module, line + 7);
        else if (strncmp(line, "global ", 7) == 0)
            read_global(module, line + 7);
        else if (strncmp(line, "emulated ", 9) == 0 && !read_emulated(module, line + 9))
            failed = true;
    }
    free(lines);
    if (failed) {
        free(module);
        return leave(INVALID_IMAGE);
    }
    fake.live[FAKE_MODULE]++;
    *out = module;
    return leave(OK);
}

/* ---- linking ---- */

typedef struct fake_link {
    char *log;
    size_t log_size;
    char text[1024];
    char *cubin; /* NULL: text */
    size_t cubin_size;
    bool has_devrt;
} fake_link;

EXPORT int cuLinkCreate_v2(unsigned count, int *options, void **values, fake_link **out)
{
    ENTER_CONTEXT();
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    *out = calloc(1, sizeof **out);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == 5)
            (*out)->log = values[i];
        if (options[i] == 6)
            (*out)->log_size = (size_t)values[i];
    }
    fake.live[FAKE_LINK]++;
    return leave(OK);
}

EXPORT int cuLinkAddData_v2(fake_link *link, int kind, void *data, size_t size, const char *name,
                            unsigned count, int *options, void **values)
{
    ENTER_CONTEXT();
    (void)name, (void)count, (void)options, (void)values;
    bool is_relocatable;
    const char *text = text_of_image(data, &is_relocatable);
    if (kind != (text == data))
        return leave(INVALID_IMAGE);
    if (is_real_cubin(data, text)) {
        link->cubin = memcpy(malloc(size), data, size);
        link->cubin_size = size;
        ((Elf64_Ehdr *)(void *)link->cubin)->e_type = ET_EXEC;
        return leave(OK);
    }
    size -= (size_t)(text - (const char *)data);
    snprintf(link->text, sizeof link->text, "%.*s", (int)size, text);
    return leave(OK);
}

EXPORT int cuLinkAddFile_v2(fake_link *link, int kind, const char *path, unsigned count, int *options,
                            void **values)
{
    ENTER_CONTEXT();
    (void)count, (void)options, (void)values;
    link->has_devrt = kind == 4 && strstr(path, "libcudadevrt.a");
    return leave(link->has_devrt ? OK : INVALID_VALUE);
}

/* Code that launches kernels says so: "# LaunchDevice". */
EXPORT int cuLinkComplete(fake_link *link, void **image, size_t *size)
{
    ENTER_CONTEXT();
    if (strstr(link->text, "LaunchDevice") && !link->has_devrt) {
        if (link->log)
            snprintf(link->log, link->log_size, "Undefined reference to '__cudaCDP2LaunchDeviceV2'");
        return leave(INVALID_IMAGE);
    }
    *image = link->cubin ? link->cubin : link->text;
    *size = link->cubin ? link->cubin_size : strlen(link->text) + 1;
    return leave(OK);
}

EXPORT int cuLinkDestroy(fake_link *link)
{
    ENTER_RELEASE();
    fake.live[FAKE_LINK]--;
    free(link->cubin);
    free(link);
    return leave(result);
}

EXPORT int cuModuleUnload(fake_module *module)
{
    ENTER_RELEASE();
    int refused = refuse_in_capture();
    if (refused != OK)
        return leave(refused);
    for (int i = 0; i < module->global_count; i++)
        free(drop_allocation(module->globals[i].memory, false));
    free(module);
    fake.live[FAKE_MODULE]--;
    return leave(result);
}

EXPORT int cuModuleGetFunction(fake_kernel **out, fake_module *module, const char *name)
{
    ENTER_CONTEXT();
    for (int i = 0; i < module->kernel_count; i++)
        if (strcmp(module->kernels[i].name, name) == 0) {
            *out = &module->kernels[i];
            return leave(OK);
        }
    return leave(NOT_FOUND);
}

EXPORT int cuModuleGetGlobal_v2(unsigned long long *address, size_t *size, fake_module *module,
                                const char *name)
{
    ENTER_CONTEXT();
    for (int i = 0; i < module->global_count; i++)
        if (strcmp(module->globals[i].name, name) == 0) {
            *address = (uintptr_t)module->globals[i].memory;
            *size = module->globals[i].size;
            return leave(OK);
        }
    return leave(NOT_FOUND);
}

static int load_function(fake_kernel *kernel)
{
    int refused = kernel->is_loaded ? OK : refuse_in_capture();
    kernel->is_loaded = kernel->is_loaded || refused == OK;
    return refused;
}

EXPORT int cuFuncLoad(fake_kernel *kernel)
{
    ENTER_CONTEXT();
    return leave(load_function(kernel));
}

EXPORT int cuFuncGetParamInfo(fake_kernel *kernel, size_t index, size_t *offset, size_t *size)
{
    ENTER_CONTEXT();
    if (index >= (size_t)kernel->count)
        return leave(INVALID_VALUE);
    *offset = 0;
    for (size_t i = 0; i < index; i++)
        *offset += kernel->sizes[i];
    *size = kernel->sizes[index];
    return leave(OK);
}

EXPORT int cuFuncGetAttribute(int *value, int attribute, fake_kernel *kernel)
{
    ENTER_CONTEXT();
    if ((result = load_function(kernel)) != OK)
        return leave(result);
    *value = attribute == 0   ? 1024
             : attribute == 1 ? kernel->own_shared
             : attribute == 8 ? kernel->max_shared
             : attribute == 6 ? 90
                              : attribute;
    return leave(OK);
}

EXPORT int cuFuncSetAttribute(fake_kernel *kernel, int attribute, int value)
{
    ENTER_CONTEXT();
    if ((result = load_function(kernel)) != OK)
        return leave(result);
    if (attribute == 8 && value > SHARED_MOST - kernel->own_shared)
        return leave(INVALID_VALUE);
    if (attribute == 8)
        kernel->max_shared = value;
    return leave(OK);
}

EXPORT int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, fake_kernel *kernel, int block_size,
                                                       size_t shared)
{
    ENTER_CONTEXT();
    (void)kernel, (void)shared;
    *blocks = 2048 / block_size;
    return leave(OK);
}

/* ---- launches ---- */

typedef struct fake_attribute {
    int id;
    int pad;
    union {
        char pad[64];
        int flag;
        unsigned cluster[3];
    } value;
} fake_attribute;

typedef struct fake_config {
    unsigned grid[3], block[3], shared_bytes;
    void *stream;
    fake_attribute *attributes;
    unsigned attribute_count;
} fake_config;

static int launch(const fake_config *config, fake_kernel *kernel, void **params)
{
    int refused = load_function(kernel);
    if (refused != OK)
        return refused;
    fake_stream *s = stream_of(config->stream);
    graph_node work = {.kind = 'k', .breaks = kernel->breaks, .run = kernel->run};
    fake_launch *l = &work.launch;
    if (s->context != current() || kernel->module->context != current())
        return INVALID_HANDLE;
    if ((int)config->shared_bytes > kernel->max_shared || !config->grid[0] || !config->block[0] ||
        config->grid[1] > 65535)
        return INVALID_VALUE;
    snprintf(l->name, sizeof l->name, "%s", kernel->name);
    l->device = current()->device;
    memcpy(l->grid, config->grid, sizeof l->grid);
    memcpy(l->block, config->block, sizeof l->block);
    l->shared_bytes = config->shared_bytes;
    l->attribute_count = config->attribute_count;
    for (unsigned i = 0; i < config->attribute_count; i++) {
        const fake_attribute *a = &config->attributes[i];
        l->is_cooperative |= a->id == 2 && a->value.flag;
        l->is_dependent |= a->id == 6 && a->value.flag;
        if (a->id == 4)
            memcpy(l->cluster, a->value.cluster, sizeof l->cluster);
    }
    for (int i = 0; i < kernel->count; i++) {
        memcpy(l->parameters + l->parameter_size, params[i], kernel->sizes[i]);
        l->parameter_size += kernel->sizes[i];
        l->parameter_count++;
    }
    return do_or_capture(s, &work);
}

EXPORT int cuLaunchKernel(fake_kernel *kernel, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared_bytes, void *stream, void **params,
                          void **extra)
{
    ENTER_CONTEXT();
    (void)extra;
    fake_config config = {{gx, gy, gz}, {bx, by, bz}, shared_bytes, stream, NULL, 0};
    return leave(launch(&config, kernel, params));
}

EXPORT int cuLaunchKernelEx(const fake_config *config, fake_kernel *kernel, void **params, void **extra)
{
    ENTER_CONTEXT();
    (void)extra;
    return leave(launch(config, kernel, params));
}

/* ---- graphs ---- */

EXPORT int cuThreadExchangeStreamCaptureMode(int *mode)
{
    ENTER();
    int before = capture_mode;
    capture_mode = *mode;
    *mode = before;
    return leave(OK);
}

EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
    ENTER_CONTEXT();
    fake_stream *s = stream_of(stream);
    *status = !s->capture ? 0 : s->capture->is_invalid ? 2 : 1;
    return leave(refuse_default(s, true));
}

EXPORT int cuStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, fake_graph **graph,
                                     const void **dependencies, size_t *dependency_count)
{
    ENTER_CONTEXT();
    (void)dependencies, (void)dependency_count;
    fake_stream *s = stream_of(stream);
    *status = !s->capture ? 0 : s->capture->is_invalid ? 2 : 1;
    if (id && *status == 1) /* of a spoilt capture there is nothing to be had */
        *id = s->capture->id;
    if (graph && *status == 1)
        *graph = s->capture->graph;
    return leave(refuse_default(s, true));
}

static fake_graph *new_graph(bool is_exec)
{
    fake_graph *g = calloc(1, sizeof *g);
    g->last = &g->first;
    g->is_exec = is_exec;
    fake.live[is_exec ? FAKE_EXEC : FAKE_GRAPH]++;
    return g;
}

/* Frees a graph; the destructors of objects that nobody holds any more are returned, to be called without the
 * lock. */
static int free_graph(fake_graph *g, user_object **dead)
{
    int count = 0;
    for (graph_node *node = g->first, *next; node; node = next) {
        next = node->next;
        free(node);
    }
    for (int i = 0; i < g->object_count; i++)
        if (--g->objects[i]->references == 0)
            dead[count++] = g->objects[i];
    fake.live[g->is_exec ? FAKE_EXEC : FAKE_GRAPH]--;
    fake.live[FAKE_USER_OBJECT] -= count;
    free(g);
    return count;
}

static int free_graph_and_leave(fake_graph *g, int result)
{
    user_object *dead[64];
    int count = free_graph(g, dead);
    leave(OK);
    for (int i = 0; i < count; i++) {
        dead[i]->destroy(dead[i]->pointer);
        free(dead[i]);
    }
    return result;
}

EXPORT int cuStreamBeginCapture_v2(fake_stream *s, int mode)
{
    ENTER_CONTEXT();
    if ((uintptr_t)s <= 1)
        return leave(CAPTURE_UNSUPPORTED);
    if (s->capture)
        return leave(INVALID_VALUE);
    fake_capture *c = calloc(1, sizeof *c);
    *c = (fake_capture){++fake.capture_ids, new_graph(false), mode, 1, false, pthread_self()};
    s->capture = c;
    s->is_origin = true;
    track_capture(NULL, c);
    return leave(OK);
}

EXPORT int cuStreamEndCapture(fake_stream *s, fake_graph **out)
{
    ENTER_CONTEXT();
    fake_capture *c = s->capture;
    int failure = OK;
    *out = NULL;
    if (!c)
        return leave(INVALID_VALUE);
    if (!s->is_origin)
        return leave(spoil(c, CAPTURE_UNMATCHED));
    if (c->mode != 2 && !pthread_equal(c->thread, pthread_self()))
        return leave(spoil(c, CAPTURE_WRONG_THREAD));
    for (fake_stream *other = fake.streams; other; other = other->next)
        if (other->capture == c && other->is_unjoined)
            failure = CAPTURE_UNJOINED;
    if (c->is_invalid)
        failure = CAPTURE_INVALIDATED;
    fake_graph *graph = finish_capture(c);
    *out = failure == OK ? graph : NULL;
    return failure != OK ? free_graph_and_leave(graph, failure) : leave(OK);
}

EXPORT int cuUserObjectCreate(user_object **out, void *pointer, void (*destroy)(void *), unsigned references,
                              unsigned flags)
{
    ENTER();
    if (flags != 1)
        return leave(INVALID_VALUE);
    *out = malloc(sizeof **out);
    **out = (user_object){destroy, pointer, (int)references};
    fake.live[FAKE_USER_OBJECT]++;
    return leave(OK);
}

EXPORT int cuUserObjectRelease(user_object *object, unsigned count)
{
    ENTER_RELEASE();
    object->references -= (int)count;
    if (object->references > 0)
        return leave(result);
    fake.live[FAKE_USER_OBJECT]--;
    leave(OK);
    object->destroy(object->pointer);
    free(object);
    return result;
}

EXPORT int cuGraphRetainUserObject(fake_graph *graph, user_object *object, unsigned count, unsigned flags)
{
    ENTER();
    for (unsigned i = 0; i < count; i++)
        graph->objects[graph->object_count++] = object;
    object->references += flags == 1 ? 0 : (int)count;
    return leave(OK);
}

EXPORT int cuGraphGetNodes(fake_graph *graph, void **nodes, size_t *count)
{
    ENTER();
    (void)nodes;
    *count = 0;
    for (graph_node *node = graph->first; node; node = node->next)
        ++*count;
    return leave(OK);
}

EXPORT int cuGraphInstantiateWithFlags(fake_graph **out, fake_graph *graph, unsigned long long flags)
{
    ENTER_CONTEXT();
    (void)flags;
    if ((result = refuse_in_capture()) != OK)
        return leave(result);
    fake_graph *exec = new_graph(true);
    for (graph_node *node = graph->first; node; node = node->next) {
        graph_node *twin = malloc(sizeof *twin);
        *twin = *node;
        twin->next = NULL;
        *exec->last = twin;
        exec->last = &twin->next;
    }
    for (int i = 0; i < graph->object_count; i++) {
        exec->objects[exec->object_count++] = graph->objects[i];
        graph->objects[i]->references++;
    }
    *out = exec;
    return leave(OK);
}

EXPORT int cuGraphLaunch(fake_graph *exec, void *stream)
{
    ENTER_CONTEXT();
    fake_stream *s = stream_of(stream);
    if ((result = refuse_default(s, false)) != OK)
        return leave(result);
    for (graph_node *node = exec->first; node; node = node->next)
        if (!s->capture)
            run_node(node, s, true);
        else if ((result = do_or_capture(s, node)) != OK)
            return leave(result);
    queue(s);
    return leave(OK);
}

EXPORT int cuGraphExecDestroy(fake_graph *exec)
{
    ENTER_RELEASE();
    return free_graph_and_leave(exec, result);
}

EXPORT int cuGraphDestroy(fake_graph *graph)
{
    ENTER_RELEASE();
    return free_graph_and_leave(graph, result);
}
