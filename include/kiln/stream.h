/*
 * kiln/stream.h - streams (queues of work on a device) and events.
 *
 *     kiln_stream *s = NULL;
 *     kiln_stream_create(&s, KILN_DEVICE_DEFAULT, KILN_STREAM_NON_BLOCKING);
 *     kiln_stream *before = kiln_stream_set_current(s);
 *     // ... calls are queued on s ...
 *     kiln_stream_set_current(before);
 *     kiln_stream_synchronize(s);
 *     kiln_stream_free(s);
 *
 * NULL stands for the current device's default stream (CUDA's legacy default stream). On the host
 * every call has run when it returns: streams exist, are always idle, and events carry the time at
 * which they were recorded. Thread-safe.
 */
#ifndef KILN_STREAM_H
#define KILN_STREAM_H

#include <kiln/device.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A queue of work on a device, and a place in one. */
typedef struct kiln_stream kiln_stream;
typedef struct kiln_event kiln_event;

/* Flags of kiln_stream_create and kiln_event_create, whose comments say what they mean. */
enum { KILN_STREAM_DEFAULT_FLAGS = 0, KILN_STREAM_NON_BLOCKING = 1 };
enum { KILN_EVENT_DEFAULT_FLAGS = 0, KILN_EVENT_TIMING = 1, KILN_EVENT_BLOCKING = 2 };

/* A stream of kiln's own, for the caller to free. flags: KILN_STREAM_*; NON_BLOCKING: it does not
 * wait for the legacy default stream. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_create(kiln_stream **out, kiln_device device,
                                                       unsigned flags);
/* Wraps a CUstream of the device's primary context. kiln does not destroy the native stream. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_wrap(kiln_stream **out, kiln_device device,
                                                     void *cuda_stream);
/* Releases the handle; work that is queued still runs. Memory that the pool holds for the stream
 * stays usable. A capture that was begun on it ends without a graph; a stream that has joined one
 * goes when that is over. NULL is taken. */
KILN_API void kiln_stream_free(kiln_stream *stream);
/* The calling thread's current stream on its current device; NULL for the default stream. */
KILN_API kiln_stream *kiln_stream_current(void);
/* Makes stream (NULL: the default stream) current for the calling thread and returns the one
 * before. A stream of another device makes that device current too. The caller keeps ownership and
 * must not free it while it is current. */
KILN_API kiln_stream *kiln_stream_set_current(kiln_stream *stream);
/* Waits for all work queued so far. Errors of the device that surface late surface here, with the
 * kernel last launched. KILN_ERROR_CAPTURE while captured. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_synchronize(kiln_stream *stream);
/* *out: whether all work queued so far has finished. KILN_ERROR_CAPTURE while captured. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_query(bool *out, kiln_stream *stream);
/* Later work on stream waits for event. A stream that waits for an event of a captured one joins
 * the capture (<kiln/graph.h>); one that is captured cannot wait for an event recorded outside:
 * KILN_ERROR_CAPTURE. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_wait_event(kiln_stream *stream, kiln_event *event);
/* The device it belongs to; for NULL the current one. */
KILN_NODISCARD KILN_API kiln_status kiln_stream_device(kiln_device *out, kiln_stream *stream);
/* The CUstream; NULL for the default stream and on the host. */
KILN_API void *kiln_stream_cuda_handle(kiln_stream *stream);

/* An event, for the caller to free. flags: KILN_EVENT_*; BLOCKING: kiln_event_synchronize lets the
 * processor go meanwhile. */
KILN_NODISCARD KILN_API kiln_status kiln_event_create(kiln_event **out, kiln_device device,
                                                      unsigned flags);
/* Wraps a CUevent. kiln does not destroy the native event. */
KILN_NODISCARD KILN_API kiln_status kiln_event_wrap(kiln_event **out, kiln_device device,
                                                    void *cuda_event);
/* NULL is taken. */
KILN_API void kiln_event_free(kiln_event *event);
/* The event stands for the work queued on stream so far. */
KILN_NODISCARD KILN_API kiln_status kiln_event_record(kiln_event *event, kiln_stream *stream);
/* Waits for that work; query: *out, whether it is over. One that was never recorded is over.
 * KILN_ERROR_CAPTURE where it was recorded last on a stream that was being captured: then it stands
 * for a place in a graph. To wait is an error, too, while the thread captures. */
KILN_NODISCARD KILN_API kiln_status kiln_event_synchronize(kiln_event *event);
KILN_NODISCARD KILN_API kiln_status kiln_event_query(bool *out, kiln_event *event);
/* Milliseconds between two recorded events that were created with KILN_EVENT_TIMING.
 * KILN_ERROR_CAPTURE as above. */
KILN_NODISCARD KILN_API kiln_status kiln_event_elapsed(double *milliseconds, kiln_event *start,
                                                       kiln_event *end);
/* The CUevent; NULL on the host. */
KILN_API void *kiln_event_cuda_handle(kiln_event *event);

#ifdef __cplusplus
}
#endif
#endif
