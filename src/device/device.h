/* device/device.h - devices, memory, streams and modules of both back ends behind one table of functions. */
#ifndef KN_DEVICE_DEVICE_H
#define KN_DEVICE_DEVICE_H

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
    int64_t elements;           /* host */
    int64_t grain;              /* host: fewest elements worth a thread */
    const struct kn_walk *walk; /* host: how the kernel goes over operands that are no run; NULL: all are */
    const void *block_data;     /* one struct parameter: packed argument block ... */
    size_t block_size;
    void **params; /* ... or one pointer a parameter (raw modules); NULL otherwise */
} kn_launch;

/* What the driver knows of a function; bytes, or counts. Only CUDA. */
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

/* The table: everything a back end has to do. Streams and events are the native handles (NULL: the default
 * stream); the CUDA functions make the device's primary context current for the call and put the caller's
 * back. Memory here is unpooled: callers use kn_memory_*. */
typedef struct kn_backend {
    kn_backend_kind kind;
    kiln_status (*memory_alloc)(kn_device *, size_t size, void **out);
    void (*memory_free)(kn_device *, void *pointer);
    kiln_status (*memory_info)(kn_device *, size_t *free_bytes, size_t *total);
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
    /* whether an event recorded there stands for work: not where a capture forbids it; CUDA alone */
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
    kiln_status (*module_global)(kn_module *, const char *name, void **address, size_t *size);
    void *(*module_handle)(kn_module *);     /* CUmodule; CUDA alone, and the next */
    void *(*function_handle)(kn_function *); /* CUfunction */
    kiln_status (*launch)(kn_function *, const kn_launch *, void *stream);
    kiln_status (*function_info)(kn_function *, kn_function_info *out);
    /* Blocks of block_threads threads that fit on a multiprocessor at once. */
    kiln_status (*occupancy)(kn_function *, int block_threads, size_t shared_bytes, int *blocks);
    /* struct_size is seen to by the caller */
    kiln_status (*properties)(kn_device *, kiln_device_properties *out);
    /* that a foreign stream is of the device's primary context */
    kiln_status (*stream_check)(kn_device *, void *stream);
    /* The sizes of a function's parameters into size[0 .. room), and how many there are; -1 where the driver
     * does not tell. CUDA alone. */
    int (*function_params)(kn_function *, size_t *size, int room);
    kiln_status (*function_allow_shared)(kn_function *, size_t bytes); /* dynamic shared memory; CUDA alone */
} kn_backend;

/* Common head of a device; each back end extends it. */
struct kn_device {
    kiln_device id;
    const kn_backend *backend;
    kn_target target;
    int multiprocessors;
    int max_grid_x;
    struct kn_pool *pool;
};

/* Calls back when a back end is about to be used for the first time, the driver's start and the context still
 * ahead: what can be done meanwhile on another thread is begun there. One callback a process, set before any
 * use (by a constructor); it must not use devices. */
void kn_device_on_first_use(void (*callback)(kn_backend_kind));

/* The device of an id (KILN_DEVICE_DEFAULT: the current one), made ready at first use. Lives for ever.
 * KILN_ERROR_NOT_FOUND, with the reason, where it is not there. */
kiln_status kn_device_get(kn_device **out, kiln_device id);

/* In a child of fork(), where CUDA was started before: whether nothing can be done with the device any more.
 * What belongs to it is left as it is. */
extern bool kn_cuda_lost; /* set before the child does anything */
static inline bool kn_device_is_lost(const kn_device *device)
{
    return kn_cuda_lost && device->backend->kind == KN_CUDA;
}
/* The error that says so. */
kiln_status kn_device_say_lost(void);

/* The native stream that a public handle (NULL: the thread's current stream where it belongs to this device,
 * else the default) means on this device; KILN_ERROR_INVALID where the handle is of another device. */
kiln_status kn_stream_native(void **out, kn_device *device, kiln_stream *stream);

/* ---- pooled memory: well under a microsecond when warm ---- */
/* size 0 gives a valid distinct block. Blocks are aligned to 512 bytes on CUDA, 64 on the host, and padded to
 * that granularity. */
kiln_status kn_memory_alloc(void **out, kn_device *device, size_t size, void *stream);
/* stream: the one it was allocated for. Work already queued there may still use it. */
void kn_memory_free(kn_device *device, void *pointer, size_t size, void *stream);
/* Marks that work on `stream`, not the one it was allocated for, uses the block: it is handed out again only
 * when that work is done. */
kiln_status kn_memory_used_on(kn_device *device, void *pointer, void *stream);

/* While `stream` is being captured: the graph takes the object over, calls release(object) when it and its
 * instances are gone, and *taken is true. Otherwise nothing happens and *taken is false. On failure the
 * object stays the caller's. release is called outside all locks and may free memory. */
kiln_status kn_capture_hold(kn_device *device, void *stream, void (*release)(void *object), void *object,
                            bool *taken);

/* Whether the capture of this number was begun so that nothing is compiled or loaded for its calls. */
bool kn_capture_is_prepared(uint64_t capture);

/* An object that a capture has taken over. */
typedef struct kn_held {
    struct kn_held *next;
    void (*release)(void *object);
    void *object;
    bool is_embedded; /* in the object: for ends, which must not need memory */
} kn_held;

/* While a stream of the device is being captured: release(object) is called when that is over, and the answer
 * is true. For what would spoil captures, such as to wait for a device. held is the object's own. */
bool kn_capture_defer(kn_device *device, kn_held *held, void (*release)(void *object), void *object);

/* The last kernel launched by the library on any device, for late errors; name must be a string that lives
 * for ever or as long as the kernel (it is copied). */
void kn_device_note_launch(const char *kernel_name);

/* The same for a name that is known already: kn_device_launch_name gives the lasting copy of one (NULL
 * without memory, which notes nothing). */
const char *kn_device_launch_name(const char *kernel_name);
void kn_device_note_launch_name(const char *name);

/* Its name, or NULL before the first. Valid for ever. */
const char *kn_device_last_launch(void);

/* Whether cuda devices a and b can read each other's memory; enables it at first use. */
kiln_status kn_device_enable_peer(kn_device *a, kn_device *b, bool *out);

/* Runs body(user, begin, end) over [0, count) on the host's threads, each piece at least grain; in the
 * calling thread alone for small counts or one core. Survives fork (a child starts its own threads). */
/* KILN_ERROR_INVALID where KILN_NUM_THREADS is no number from 1. */
kiln_status kn_host_threads_check(void);
void kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *user, int64_t begin, int64_t end),
                      void *user);

#endif
