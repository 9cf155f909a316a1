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
/* The same as a share of the device's memory: 0.5 is half of it. From more than 0 to 1. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_set_limit_share(kiln_device device, double share);
/* Gives cached blocks back to the device until at most keep_bytes stay cached. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_trim(kiln_device device, size_t keep_bytes);

/* Called, outside all locks, after each block that is handed out (freed = false) and before each
 * that comes back. */
typedef void (*kiln_memory_hook)(kiln_device device, void *pointer, size_t bytes, bool freed,
                                 void *user);
/* One hook for the process; NULL takes it away. It may call kiln, but not free the block it is told
 * of. */
KILN_API void kiln_memory_set_hook(kiln_memory_hook hook, void *user);

/* ---- where a pool's memory comes from ---- */

/* Instead of the device's own: memory of the caller, for another library's allocator, or managed
 * memory (cuMemAllocManaged), which both the processor and the GPU reach. */
typedef struct kiln_memory_source {
    size_t struct_size;
    bool is_managed; /* else alloc and free */
    /* Memory of the device, aligned to 512 bytes (the host's: 64), which the pool cuts into blocks;
     * NULL: there is none. Called outside all locks, by any thread. */
    void *(*alloc)(kiln_device device, size_t bytes, void *user);
    /* Takes back memory that alloc gave, once no work uses it any more. */
    void (*free)(kiln_device device, void *pointer, size_t bytes, void *user);
    void *user;
} kiln_memory_source;
#define KILN_MEMORY_SOURCE_INIT                                                                    \
    {                                                                                              \
        sizeof(kiln_memory_source), false, NULL, NULL, NULL                                        \
    }

/* The pool takes its memory from the source from now on; NULL: from the device again. Memory that
 * it holds serves first (so trim before), and goes back to where it came from.
 * KILN_ERROR_UNSUPPORTED: managed memory of the host. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_set_source(kiln_device device,
                                                           const kiln_memory_source *source);

/* ---- who uses memory ---- */

/* The memory of one label in the profile. */
typedef struct kiln_memory_row {
    const char *label;                  /* lives during the call that passes it */
    size_t used_bytes, peak_used_bytes; /* now, and at most */
    uint64_t allocated_bytes;           /* in all */
    uint64_t allocations;               /* in all */
} kiln_memory_row;

/* "file.c:12": a label for the line that it stands on. */
#define KILN_MEMORY_HERE KILN_MEMORY_AT(__FILE__, __LINE__)
#define KILN_MEMORY_AT(file, line) KILN_MEMORY_AT_TEXT(file, line)
#define KILN_MEMORY_AT_TEXT(file, line) file ":" #line

/* The label of what the calling thread allocates from now on; NULL: "(no label)", as at first. It
 * must live as long. Returns the label before. */
KILN_API const char *kiln_memory_set_label(const char *label);
/* From now on (false: no longer) the blocks that pools hand out are counted by label. What was
 * counted earlier is gone when it begins. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_set_profile(bool on);
/* Calls visit for each row, those with the highest peak first, outside locks. */
KILN_NODISCARD KILN_API kiln_status
kiln_memory_visit_profile(void (*visit)(const kiln_memory_row *row, void *user), void *user);
/* The same as a table of text, to be freed by kiln_free. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_profile_to_string(char **out);

/* ---- pinned memory ---- */

/* Host memory that a CUDA device can copy from and to asynchronously; plain memory where there is
 * no CUDA device. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_alloc_pinned(void **out, size_t bytes);
/* NULL is taken. Copies that are queued must be over. The memory serves later calls. */
KILN_API void kiln_memory_free_pinned(void *pointer);
/* The pools of pinned memory, all devices' together: limit_bytes is 0. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_get_pinned_stats(kiln_memory_stats *out);
/* Gives cached pinned memory back until at most keep_bytes stay cached for each device. */
KILN_NODISCARD KILN_API kiln_status kiln_memory_trim_pinned(size_t keep_bytes);

#ifdef __cplusplus
}
#endif
#endif
