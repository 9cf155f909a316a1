/*
 * kiln/memory.h - the memory pool of each device, and pinned host memory.
 *
 *     kiln_memory_stats s = KILN_MEMORY_STATS_INIT;
 *     kiln_memory_get_stats(KILN_DEVICE_DEFAULT, &s);
 *     printf("%zu of %zu bytes in use\n", s.used_bytes, s.held_bytes);
 *     kiln_memory_trim(KILN_DEVICE_DEFAULT, 0);
 *
 * Array storage comes from a caching pool per device. A block that is freed is handed out again at
 * once on the stream it belongs to, and on another stream only once the work that may still use it
 * has finished. Thread-safe.
 */
#ifndef KILN_MEMORY_H
#define KILN_MEMORY_H

#include <kiln/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory of a device's pool. */
typedef struct kiln_memory_stats {
    size_t struct_size;
    size_t used_bytes;           /* handed out now, rounded up to the pool's granularity */
    size_t held_bytes;           /* taken from the device: used and cached */
    size_t peak_used_bytes;      /* the most that was in use at once */
    size_t limit_bytes;          /* 0: none */
    uint64_t allocations;        /* requests served in all */
    uint64_t device_allocations; /* of which went to the driver (or the system) */
    size_t peak_held_bytes;      /* the most that was held at once */
} kiln_memory_stats;
#define KILN_MEMORY_STATS_INIT                                                                     \
    {                                                                                              \
        sizeof(kiln_memory_stats), 0, 0, 0, 0, 0, 0, 0                                             \
    }

/* Fills *out; out->struct_size must be set. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_get_stats(kiln_device device,
                                                          kiln_memory_stats *out);
/* At most limit bytes are held from now on; 0: no limit. What is held already is not taken away. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_set_limit(kiln_device device, size_t limit_bytes);
/* Gives cached blocks back to the device until at most keep_bytes stay cached. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_trim(kiln_device device, size_t keep_bytes);

/* Called, outside all locks, after each block that is handed out (freed = false) and before each
 * that comes back. */
typedef void (*kiln_memory_hook)(kiln_device device, void *pointer, size_t bytes, bool freed,
                                 void *user);
/* One hook for the process; NULL takes it away. It may call kiln, but not free the block it is told
 * of. */
KILN_API void kiln_memory_set_hook(kiln_memory_hook hook, void *user);

/* Host memory that a CUDA device can copy from and to asynchronously; plain memory where there is
 * no CUDA device. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_alloc_pinned(void **out, size_t bytes);
/* NULL is taken. Copies that are queued must be over. */
KILN_API void kiln_memory_free_pinned(void *pointer);

#ifdef __cplusplus
}
#endif
#endif
