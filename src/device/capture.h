/* device/capture.h - captures: who began them, what their graphs hold. graph.c has the graphs themselves. */
#ifndef KN_DEVICE_CAPTURE_H
#define KN_DEVICE_CAPTURE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "device/cuda.h"

/* Shared by a capture, its graph and the instances of that. What the graph holds: its lanes in the pools, by
 * the capture's number, and a list of objects. */
typedef struct kn_capture {
    struct kn_capture *next;
    kn_device *device;
    uint64_t id;
    bool is_foreign;    /* kiln did not begin it */
    bool is_prepared;   /* nothing is to be compiled or loaded for its calls */
    bool is_open;       /* begun by kiln and not ended; under the lock of the list, as are the next four */
    void *origin;       /* the stream on which it was begun ... */
    pthread_t thread;   /* ... and the thread, the only one that may end it */
    kn_held *held;      /* released with the graph and its instances */
    kn_held *until_end; /* released when the capture ends */
    /* all but the driver's destructor take one away under the lock, and unlink the record where it was the
     * last */
    _Atomic int references;
    kn_lock run_lock; /* its device's; the fields below: runs are queued one by one */
    bool was_launched;
    void *last_stream; /* where a run was queued last ... */
    void *last_event;  /* ... or, once that stream is gone or captured, an event behind it */
} kn_capture;

void kn_capture_add_reference(kn_capture *capture);
void kn_capture_drop_reference(kn_capture *capture);

/* Begins a capture on a stream that is not the default one. flags: KILN_CAPTURE_*. */
kiln_status kn_capture_begin(kn_device *device, void *stream, unsigned flags);
/* Ends it, whatever its state: then *capture and *graph are the caller's on success, and everything is given
 * back on failure. Where the stream or the thread is the wrong one nothing happens to it. */
kiln_status kn_capture_end(kn_capture **capture, kn_cu_graph *graph, kn_device *device, void *stream);

#endif
