/* device/backend.h - the functions that a back end provides, as one table, and a device as all files see it.
 */
#ifndef KN_DEVICE_BACKEND_H
#define KN_DEVICE_BACKEND_H

#include <kiln/memory.h>
#include <kiln/stream.h>

#include "base/target.h"

typedef struct kn_device kn_device;
typedef struct kn_module kn_module;     /* loaded code */
typedef struct kn_function kn_function; /* one entry of a module; lives as long as it */

/* Threads of a launch. On the host `elements` is the range that kernel(args, begin, end) is called over. */
typedef struct kn_launch {
    unsigned grid[3], block[3];
    unsigned cluster[3]; /* 0: none */
    unsigned shared_bytes;
    bool is_cooperative;
    /* programmatic stream serialisation: only for code that waits first thing */
    bool is_dependent;
    bool is_open;     /* host: the code may call functions that wait or print (those of a preamble) */
    int64_t elements; /* host */
    int64_t grain;    /* host: fewest elements worth a thread */
    const struct kn_loop_nest
        *loop_nest;         /* host: the loop nest over operands that are not contiguous; NULL: all are */
    const void *block_data; /* one struct parameter: packed argument block ... */
    size_t block_size;
    void **params; /* ... or one pointer a parameter (raw modules); NULL otherwise */
} kn_launch;

/* The driver's properties of a function: bytes, or counts. CUDA only. */
typedef struct kn_function_info {
    int max_threads_per_block, registers;
    int shared_bytes, constant_bytes, local_bytes; /* static ones */
    int max_dynamic_shared_bytes;
    int binary_version, ptx_version; /* 90 for sm_90 */
} kn_function_info;

typedef enum kn_copy_kind {
    KN_COPY_HOST_TO_DEVICE = 1,
    KN_COPY_DEVICE_TO_HOST = 2,
    KN_COPY_DEVICE_TO_DEVICE = 3
} kn_copy_kind;

/* The table: everything that a back end does. Streams and events are native handles (NULL: the default
 * stream). CUDA's functions make the device's primary context current during the call, and restore the
 * caller's. This memory is not pooled: callers use kn_memory_*. */
typedef struct kn_backend {
    kn_backend_kind kind;
    kiln_status (*memory_alloc)(kn_device *, size_t size, void **out);
    void (*memory_free)(kn_device *, void *pointer);
    /* reached by the processor, too; memory_free takes it. NULL: there is none */
    kiln_status (*memory_alloc_managed)(kn_device *, size_t size, void **out);
    kiln_status (*memory_info)(kn_device *, size_t *free_bytes, size_t *total);
    /* Ranges of addresses whose pages are mapped one by one. A page's bytes; 0: there are no such ranges. */
    size_t (*memory_page)(kn_device *);
    /* is_small: many small blocks will be in the range */
    kiln_status (*memory_reserve)(kn_device *, size_t size, bool is_small, void **out);
    void (*memory_unreserve)(kn_device *, void *range, size_t size);
    /* Whole pages. Unmapping takes what one call mapped, and waits for no work. */
    kiln_status (*memory_map)(kn_device *, void *at, size_t size, uint64_t *handle);
    void (*memory_unmap)(kn_device *, void *at, size_t size, uint64_t handle);
    /* queued */
    kiln_status (*copy)(kn_device *, void *to, const void *from, size_t size, kn_copy_kind kind,
                        void *stream);
    kiln_status (*copy_peer)(kn_device *to_device, void *to, kn_device *from_device, const void *from,
                             size_t size, void *stream);
    /* 1, 2, 4 bytes (others: false below) */
    kiln_status (*fill)(kn_device *, void *to, const void *pattern, size_t pattern_size, size_t count,
                        void *stream);
    kiln_status (*stream_create)(kn_device *, unsigned flags, void **out);
    void (*stream_destroy)(kn_device *, void *stream);
    kiln_status (*stream_synchronize)(kn_device *, void *stream);
    kiln_status (*stream_query)(kn_device *, void *stream, bool *done);
    /* id: 0 where the capture is spoilt */
    kiln_status (*stream_is_capturing)(kn_device *, void *stream, bool *capturing, uint64_t *id);
    /* true if an event recorded there marks work, false if a capture forbids that; CUDA only */
    bool (*stream_may_record)(kn_device *, void *stream);
    kiln_status (*event_create)(kn_device *, unsigned flags, void **out);
    void (*event_destroy)(kn_device *, void *event);
    kiln_status (*event_record)(kn_device *, void *event, void *stream);
    kiln_status (*event_synchronize)(kn_device *, void *event);
    kiln_status (*event_query)(kn_device *, void *event, bool *done);
    kiln_status (*event_elapsed)(kn_device *, void *start, void *end, double *milliseconds);
    kiln_status (*stream_wait_event)(kn_device *, void *stream, void *event);
    kiln_status (*synchronize)(kn_device *);
    kiln_status (*module_load)(kn_device *, const void *code, size_t size, const char *name, kn_module **out);
    void (*module_unload)(kn_module *);
    /* loaded for good: may be launched in a capture */
    kiln_status (*module_function)(kn_module *, const char *name, kn_function **out);
    /* size (bytes) may be NULL */
    kiln_status (*module_global)(kn_module *, const char *name, void **address, size_t *size);
    kn_module *(*function_module)(kn_function *);
    void *(*module_handle)(kn_module *);     /* CUmodule; CUDA alone, and the next */
    void *(*function_handle)(kn_function *); /* CUfunction */
    kiln_status (*launch)(kn_function *, const kn_launch *, void *stream);
    kiln_status (*function_info)(kn_function *, kn_function_info *out);
    /* Blocks of block_threads threads that fit on a multiprocessor at once. */
    kiln_status (*occupancy)(kn_function *, int block_threads, size_t shared_bytes, int *blocks);
    /* struct_size is seen to by the caller */
    kiln_status (*properties)(kn_device *, kiln_device_properties *out);
    /* checks that a foreign stream belongs to the device's primary context */
    kiln_status (*stream_check)(kn_device *, void *stream);
    /* The sizes of a function's parameters into size[0 .. capacity), and how many there are; -1 where the
     * driver does not tell. CUDA alone. */
    int (*function_params)(kn_function *, size_t *size, int capacity);
    /* Dynamic shared memory, and how much of a multiprocessor's cache is for that; 0: the driver chooses.
     * CUDA alone. */
    kiln_status (*function_allow_shared)(kn_function *, size_t bytes, int percent);
} kn_backend;

/* Common head of a device; each back end extends it. */
struct kn_device {
    kiln_device id;
    const kn_backend *backend;
    kn_target target;
    int multiprocessors;
    int max_grid_x;
    struct kn_pool *pool;
    struct kn_pool *pinned; /* host memory; CUDA alone */
    /* A pinned word that kernels set when they report (kn_device_flag) */
    _Atomic(volatile unsigned *) flag;
};

/* The number of the capture that a stream is in; 0 where it is in none, as the default stream always is. */
static inline kiln_status kn_device_capture_of(kn_device *device, void *stream, uint64_t *capture)
{
    bool is_capturing = false;
    *capture = 0;
    if (device->backend->kind != KN_CUDA || !stream)
        return KILN_OK;
    kiln_status status = device->backend->stream_is_capturing(device, stream, &is_capturing, capture);
    if (!is_capturing)
        *capture = 0;
    return status;
}

#endif
