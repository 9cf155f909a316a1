/* Kernels leave their counters zero, so those of a stream are zeroed once. Streams that others made and
 * wrapped keep theirs by their handle, as the pool keeps memory for them: a handle is used again only when
 * the work of its stream is over. */
#include "device/counters.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/lock.h"
#include "device/device_table.h"
#include "device/lost.h"
#include "device/memory.h"
#include "device/pool.h"
#include "schedule/kind.h"

enum { STREAM_SIZE = KN_MAX_COUNTERS * sizeof(unsigned) };

typedef struct stream_counters {
    struct stream_counters *next;
    kn_device *device;
    void *stream;
    void *counters;
} stream_counters;

static stream_counters *known; /* under KN_LOCK_COUNTERS */
/* Per device: the stream on which counters of captured launches are zeroed; under the same lock. */
static void *zeroing[KN_LOCK_SLOTS];

/* The counters that this thread got last: valid as long as no stream has ended since. */
static atomic_uint ended;
static _Thread_local struct {
    const kn_device *device;
    void *stream, *counters;
    unsigned ended;
} recent;

/* The parent's are lost, and its list may have been in the middle of a change. */
static void forget_in_child(void)
{
    known = NULL;
    memset(zeroing, 0, sizeof zeroing);
    atomic_fetch_add(&ended, 1);
}

__attribute__((constructor)) static void register_fork(void)
{
    kn_fork_on_child(forget_in_child);
}

static kiln_status queue_zeros(kn_device *device, void *counters, size_t size, void *stream)
{
    static const unsigned char zero;
    return device->backend->fill(device, counters, &zero, 1, size, stream);
}

/* ---- those of a stream ---- */

/* The lock is held: another thread that finds the counters launches behind their zeroing. */
static kiln_status make_known(stream_counters **out, kn_device *device, void *stream)
{
    size_t size = STREAM_SIZE;
    stream_counters *c = kn_calloc(1, sizeof *c);
    if (!c)
        return kn_error_memory("counters");
    kiln_status status = kn_pool_take(&c->counters, &size, device->pool, stream, 0);
    if (status == KILN_OK && (status = queue_zeros(device, c->counters, STREAM_SIZE, stream)) != KILN_OK)
        kn_pool_give(device->pool, c->counters, stream);
    if (status != KILN_OK) {
        kn_free(c);
        return status;
    }
    c->device = device;
    c->stream = stream;
    c->next = known;
    *out = known = c;
    return KILN_OK;
}

static kiln_status find_known(kn_device *device, void *stream)
{
    kiln_status status = KILN_OK;
    kn_lock_take(KN_LOCK_COUNTERS);
    stream_counters *c = known;
    while (c && (c->device != device || c->stream != stream))
        c = c->next;
    if (!c)
        status = make_known(&c, device, stream);
    if (status == KILN_OK) {
        recent.device = device;
        recent.stream = stream;
        recent.counters = c->counters;
        recent.ended = atomic_load_explicit(&ended, memory_order_relaxed);
    }
    kn_lock_give(KN_LOCK_COUNTERS);
    return status;
}

static kiln_status take_of_stream(unsigned **out, kn_device *device, void *stream)
{
    kiln_status status = KILN_OK;
    if (recent.device != device || recent.stream != stream ||
        recent.ended != atomic_load_explicit(&ended, memory_order_relaxed))
        status = find_known(device, stream);
    if (status == KILN_OK)
        *out = recent.counters;
    return status;
}

void kn_counters_stream_ends(kn_device *device, void *stream)
{
    if (!stream || kn_device_is_lost(device))
        return;
    kn_lock_take(KN_LOCK_COUNTERS);
    stream_counters **link = &known;
    while (*link && ((*link)->device != device || (*link)->stream != stream))
        link = &(*link)->next;
    stream_counters *c = *link;
    if (c) {
        *link = c->next;
        atomic_fetch_add_explicit(&ended, 1, memory_order_relaxed);
        kn_pool_give(device->pool, c->counters, stream);
    }
    kn_lock_give(KN_LOCK_COUNTERS);
    kn_free(c);
}

/* ---- those of a captured launch ---- */

static kiln_status find_zeroing_stream(void **out, kn_device *device)
{
    void **stream = &zeroing[kn_device_slot(device->id)];
    kiln_status status = KILN_OK;
    kn_lock_take(KN_LOCK_COUNTERS);
    if (!*stream)
        status = device->backend->stream_create(device, KILN_STREAM_NON_BLOCKING, stream);
    *out = *stream;
    kn_lock_give(KN_LOCK_COUNTERS);
    return status;
}

/* Memory that no other node of the graph uses, zeroed now, beside the capture. It goes back at once: the pool
 * keeps what a captured stream uses until the graph is gone. */
static kiln_status take_of_node(unsigned **out, kn_device *device, size_t size, void *stream)
{
    void *beside = NULL, *counters = NULL;
    kiln_status status = find_zeroing_stream(&beside, device);
    if (status == KILN_OK)
        status = kn_memory_alloc_in(&counters, device, size, beside, 0);
    if (status != KILN_OK)
        return status;
    status = queue_zeros(device, counters, size, beside);
    if (status == KILN_OK)
        status = device->backend->stream_synchronize(device, beside);
    if (status == KILN_OK)
        status = kn_memory_used_on(device, counters, stream);
    kn_memory_free(device, counters, size, beside);
    if (status == KILN_OK)
        *out = counters;
    return status;
}

/* ---- all ---- */

/* Every call of the host has run when it returns, but several threads may call at a time. */
static kiln_status take_on_host(unsigned **out, kn_device *device, size_t size)
{
    void *counters = NULL;
    kiln_status status = kn_memory_alloc(&counters, device, size, NULL);
    if (status == KILN_OK)
        *out = memset(counters, 0, size);
    return status;
}

kiln_status kn_counters_take(unsigned **out, kn_device *device, int count, void *stream, uint64_t capture)
{
    size_t size = (size_t)count * sizeof **out;
    if (device->backend->kind != KN_CUDA)
        return take_on_host(out, device, size);
    if (kn_device_is_lost(device))
        return kn_device_say_lost();
    return capture ? take_of_node(out, device, size, stream) : take_of_stream(out, device, stream);
}

void kn_counters_give(kn_device *device, unsigned *counters, int count)
{
    if (device->backend->kind != KN_CUDA)
        kn_memory_free(device, counters, (size_t)count * sizeof *counters, NULL);
}
