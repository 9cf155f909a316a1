/* device/capture_list.h - the captures that are known. Each has a record, listed from its beginning until its
 * graph and all instances of that are gone. */
#ifndef KN_DEVICE_CAPTURE_LIST_H
#define KN_DEVICE_CAPTURE_LIST_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/lock.h"
#include "device/backend.h"

/* An object that a capture has taken over. */
typedef struct kn_held {
    struct kn_held *next;
    void (*release)(void *object);
    void *object;
    bool is_embedded; /* in the object: for ends, which must not need memory */
} kn_held;

/* The state that a capture, its graph and the graph's instances share: the arenas in the pools, by the
 * capture's number, and a list of objects. */
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

extern kn_capture *kn_captures; /* the list: under KN_LOCK_CAPTURES, as are the functions below */
/* Records whose last reference went where the driver could not be called. */
extern _Atomic int kn_captures_dead;

/* The number of captures that kiln has begun and that are not over. */
extern _Atomic int kn_captures_open;
static inline bool kn_capture_is_any_open(void)
{
    return atomic_load_explicit(&kn_captures_open, memory_order_relaxed) > 0;
}

/* NULL where there is none: that of a number ... */
kn_capture *kn_capture_find(uint64_t id);
/* ... the open one that was begun on the stream (an invalidated capture has no number any more: so it is not
 * by that that it is found) ... */
kn_capture *kn_capture_find_origin(const kn_device *device, const void *stream);
/* ... and one that this thread has begun and that is not over; prepared: such a one alone. */
kn_capture *kn_capture_find_here(bool prepared);

/* A new record, listed, with one reference; NULL without memory. */
kn_capture *kn_capture_list(kn_device *device, uint64_t id, bool is_foreign);
void kn_capture_unlist(kn_capture *capture);

#endif
