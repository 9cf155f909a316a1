/* Memory of the host: taken, copied and filled by several threads. */
#include "device/host_memory.h"

#include <string.h>
#include <sys/mman.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os.h"
#include "device/host_threads.h"

enum { HUGE_PAGE = 2 << 20, PAGE = 4096, COPY_GRAIN = 1 << 20 };

/* Large blocks start on a huge page and ask for them: a fresh array then costs a fault for 2 MiB, not for 4
 * KiB. The pointer from malloc is in front of the block. */
kiln_status kn_host_memory_alloc(kn_device *device, size_t size, void **out)
{
    size_t alignment = size >= 2 * (size_t)HUGE_PAGE ? HUGE_PAGE : PAGE;
    (void)device;
    char *raw = size < SIZE_MAX - 2 * alignment ? kn_malloc(size + alignment + sizeof(void *)) : NULL;
    if (!raw)
        return kn_error_memory_of(size, "the host's memory pool");
    uintptr_t start = ((uintptr_t)raw + sizeof(void *) + alignment - 1) & ~(uintptr_t)(alignment - 1);
    ((void **)start)[-1] = raw;
#ifdef MADV_HUGEPAGE
    if (alignment == HUGE_PAGE)
        madvise((void *)start, size & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
    *out = (void *)start;
    return KILN_OK;
}

void kn_host_memory_free(kn_device *device, void *pointer)
{
    (void)device;
    if (pointer)
        kn_free(((void **)pointer)[-1]);
}

kiln_status kn_host_memory_info(kn_device *device, size_t *free_bytes, size_t *total)
{
    (void)device;
    *total = kn_os_physical_memory(free_bytes);
    return KILN_OK;
}

/* ---- mapped pages ---- */

size_t kn_host_memory_page(kn_device *device)
{
    (void)device;
    return HUGE_PAGE;
}

/* Addresses that nobody may touch cost nothing; they begin on a huge page. */
kiln_status kn_host_memory_reserve(kn_device *device, size_t size, bool is_small, void **out)
{
    (void)device, (void)is_small;
    char *raw = kn_os_reserve(size + HUGE_PAGE);
    if (!raw)
        return kn_error_memory("the host's memory pool");
    char *start = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (start > raw)
        kn_os_unreserve(raw, (size_t)(start - raw));
    if (raw + HUGE_PAGE > start)
        kn_os_unreserve(start + size, (size_t)(raw + HUGE_PAGE - start));
#ifdef MADV_HUGEPAGE
    if (!is_small)
        madvise(start, size, MADV_HUGEPAGE);
#endif
    *out = start;
    return KILN_OK;
}

void kn_host_memory_unreserve(kn_device *device, void *range, size_t size)
{
    (void)device;
    kn_os_unreserve(range, size);
}

kiln_status kn_host_memory_map(kn_device *device, void *at, size_t size, uint64_t *handle)
{
    (void)device;
    *handle = 0;
    return kn_os_commit(at, size) ? KILN_OK : kn_error_memory("the host's memory pool");
}

/* The pages go back to the system; their addresses stay reserved. */
void kn_host_memory_unmap(kn_device *device, void *at, size_t size, uint64_t handle)
{
    (void)device, (void)handle;
    kn_os_decommit(at, size);
}

/* ---- copies and fills ---- */

typedef struct move_job {
    char *to;
    const char *from;
    size_t item_size; /* bytes of a pattern */
} move_job;

static void copy_range(void *user, int64_t begin, int64_t end)
{
    const move_job *job = user;
    memcpy(job->to + begin, job->from + begin, (size_t)(end - begin));
}

kiln_status kn_host_copy(kn_device *device, void *to, const void *from, size_t size, kn_copy_kind kind,
                         void *stream)
{
    (void)device, (void)kind, (void)stream;
    move_job job = {to, from, 0};
    if ((const char *)to + size <= (const char *)from || (const char *)from + size <= (const char *)to)
        kn_host_parallel((int64_t)size, COPY_GRAIN, copy_range, &job);
    else
        memmove(to, from, size);
    return KILN_OK;
}

kiln_status kn_host_copy_peer(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                              size_t size, void *stream)
{
    (void)from_device;
    return kn_host_copy(to_device, to, from, size, KN_COPY_DEVICE_TO_DEVICE, stream);
}

static void fill_range(void *user, int64_t begin, int64_t end)
{
    const move_job *job = user;
    char *to = job->to + (size_t)begin * job->item_size;
    size_t size = (size_t)(end - begin) * job->item_size, done = job->item_size;
    if (job->item_size == 1) {
        memset(to, *job->from, size);
        return;
    }
    memcpy(to, job->from, done);
    while (done < size) { /* copies the filled part behind itself */
        size_t step = done < size - done ? done : size - done;
        step = step < 4096 ? step : 4096 - 4096 % job->item_size;
        memcpy(to + done, to, step);
        done += step;
    }
}

kiln_status kn_host_fill(kn_device *device, void *to, const void *pattern, size_t pattern_size, size_t count,
                         void *stream)
{
    (void)device, (void)stream;
    if (pattern_size == 0 || pattern_size > 4096)
        return kn_error(KILN_ERROR_UNSUPPORTED, "a fill pattern has %zu bytes; expected 1 to 4096",
                        pattern_size);
    move_job job = {to, pattern, pattern_size};
    kn_host_parallel((int64_t)count, (int64_t)(COPY_GRAIN / pattern_size), fill_range, &job);
    return KILN_OK;
}
