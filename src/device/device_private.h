/* device/device_private.h - what the files of this folder share. */
#ifndef KN_DEVICE_DEVICE_PRIVATE_H
#define KN_DEVICE_DEVICE_PRIVATE_H

#include <stdatomic.h>

#include "device/device.h"

#define KN_CUDA_DEVICES_MAX 64

struct kiln_stream {
    kn_device *device;
    void *native;
    bool is_owned;
    kn_held held; /* by a capture that outlives it */
};

/* The one host device; NULL, with the last error set, without memory for its pool. Call under the registry's
 * lock. */
kn_device *kn_host_device_create(void);
/* See kn_device_on_first_use. */
void kn_device_tell_first_use(kn_backend_kind kind);

/* Device `ordinal`, its primary context retained. */
kiln_status kn_cuda_device_create(kn_device **out, int ordinal);
kiln_status kn_cuda_can_access_peer(bool *out, kn_device *device, kn_device *peer);
void *kn_cuda_context_of(kn_device *device);

/* Pinned memory, portable to every context. */
kiln_status kn_cuda_pinned_alloc(kn_device *device, size_t size, void **out);
void kn_cuda_pinned_free(kn_device *device, void *pointer);

/* The device of a slot, or NULL where it was not used yet. */
kn_device *kn_device_ready(int slot);

/* capture.c: how many captures kiln has begun that are not over. */
extern _Atomic int kn_captures_open;
static inline bool kn_capture_is_any_open(void)
{
    return atomic_load_explicit(&kn_captures_open, memory_order_relaxed) > 0;
}
/* Whether the calling thread has begun a capture that is not over; if so sets KILN_ERROR_CAPTURE, naming what
 * cannot be done now. */
kiln_status kn_capture_forbids(const char *what);
/* The same for code, which only captures that were begun with KILN_CAPTURE_PREPARED keep from loading. */
kiln_status kn_capture_forbids_code(void);
/* The same for what concerns a whole device: there the captures of all threads count. */
kiln_status kn_capture_forbids_device(const kn_device *device, const char *what);
/* A capture that kiln did not begin is met: keeps account of it until its graph is gone. */
kiln_status kn_capture_meet(kn_device *device, void *stream, uint64_t capture);
/* Gives back what belonged to graphs that are gone; costs next to nothing where there are none. Call without
 * locks. */
void kn_capture_reap(void);
/* The native stream is about to be destroyed or captured: graphs that ran on it last wait for that. */
void kn_capture_stream_ends(kn_device *device, void *stream);
/* The native stream is about to be destroyed. A capture that was begun on it ends; where it is a member of
 * another, release(stream) is called when that is over, and the answer is true. */
bool kn_capture_stream_leaves(kiln_stream *stream, void (*release)(void *object));

/* The slot of a device in per-device tables: 0 for the host, ordinal + 1 for CUDA. */
static inline int kn_device_slot(kiln_device id)
{
    return KILN_DEVICE_IS_CUDA(id) ? id - KILN_DEVICE_CUDA(0) + 1 : 0;
}

#endif
