/*
 * kiln/graph.h - CUDA graphs: capture a sequence of calls once, replay it for the price of one
 * launch.
 *
 *     static kiln_status step(void *user) { return kiln_kernel_call(user, &z, 1, in, 2, NULL); }
 *
 *     kiln_graph_exec *g = NULL;
 *     kiln_capture(&g, NULL, step, kernel);
 *     for (int i = 0; i < 1000; i++)
 *         kiln_graph_launch(g, NULL);
 *     kiln_graph_exec_free(g);
 *
 * While a stream is captured nothing runs: calls on it become nodes of a graph. Memory that the
 * calls take comes from a pool private to that graph, and the graph holds it, with the code it
 * runs, until the graph and all its instances are freed; arrays that were made before the capture
 * must outlive the graph's last launch. Kernels that are new are compiled and loaded meanwhile,
 * which needs no preparation and leaves the capture alone (KILN_CAPTURE_PREPARED forbids it).
 * Nothing can be waited for: a call that would wait for a captured stream, for an event that was
 * recorded in a capture, or for a device of which some thread captures a stream, fails with
 * KILN_ERROR_CAPTURE, and the capture goes on unharmed. While a stream is captured that was created
 * without KILN_STREAM_NON_BLOCKING, the default stream cannot be used: the same error. What other
 * libraries do with the native handles may spoil a capture: then the calls on it, and its end, fail
 * with KILN_ERROR_CAPTURE. The host has no graphs: KILN_ERROR_UNSUPPORTED. Thread-safe.
 */
#ifndef KILN_GRAPH_H
#define KILN_GRAPH_H

#include <kiln/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kiln_graph kiln_graph;           /* what was captured */
typedef struct kiln_graph_exec kiln_graph_exec; /* an instance of it that can be launched */

enum {
    /* Nothing is compiled or loaded: a call that would have to fails with KILN_ERROR_CAPTURE, and
     * the capture goes on. */
    KILN_CAPTURE_PREPARED = 1
};

/* Options of a capture. */
typedef struct kiln_capture_options {
    size_t struct_size;
    unsigned flags; /* KILN_CAPTURE_* */
} kiln_capture_options;
#define KILN_CAPTURE_OPTIONS_INIT                                                                  \
    {                                                                                              \
        sizeof(kiln_capture_options), 0                                                            \
    }

/* Starts capturing stream (NULL: the thread's current one), which must not be the default stream.
 * Other streams join where they wait for an event of a captured one, and leave when the capture
 * ends; the captured stream has to wait for their last work before. The same thread has to end it:
 * with the thread, or with the stream, the capture ends, and there is no graph. KILN_ERROR_CAPTURE
 * where the stream is captured already. */
KILN_NODISCARD KILN_API kiln_status kiln_capture_begin(kiln_stream *stream);
KILN_NODISCARD KILN_API kiln_status kiln_capture_begin_with(kiln_stream *stream,
                                                            const kiln_capture_options *options);
/* Ends the capture that was begun on stream. The graph is the caller's; out NULL discards it.
 * KILN_ERROR_CAPTURE where a call has spoilt the capture: it is over then, too, and the stream is
 * as it was before. KILN_ERROR_CAPTURE also where the capture was begun on another stream or by
 * another thread: then it goes on. */
KILN_NODISCARD KILN_API kiln_status kiln_capture_end(kiln_graph **out, kiln_stream *stream);
/* *out: whether calls on stream are being captured, by whomever. */
KILN_NODISCARD KILN_API kiln_status kiln_capture_is_active(bool *out, kiln_stream *stream);

/* All in one: captures what body(user) does on stream, made current meanwhile (NULL: a stream made
 * for the purpose on the current device), and instantiates it. A status other than KILN_OK from
 * body discards the capture and is returned. */
KILN_NODISCARD KILN_API kiln_status kiln_capture(kiln_graph_exec **out, kiln_stream *stream,
                                                 kiln_status (*body)(void *user), void *user);

/* Makes an instance; a graph may have several. It lives independently of graph. */
KILN_NODISCARD KILN_API kiln_status kiln_graph_instantiate(kiln_graph_exec **out,
                                                           kiln_graph *graph);
/* Queues one run on stream (NULL: the current one) of the device that was captured;
 * KILN_ERROR_CAPTURE where that is being captured itself. Runs of all instances of one graph share
 * its memory and so follow one another: a run on another stream than the one before waits for it.
 */
KILN_NODISCARD KILN_API kiln_status kiln_graph_launch(kiln_graph_exec *exec, kiln_stream *stream);
/* Release the handle; runs that are queued still finish. NULL is taken. */
KILN_API void kiln_graph_free(kiln_graph *graph);
KILN_API void kiln_graph_exec_free(kiln_graph_exec *exec);

/* The number of nodes. */
KILN_NODISCARD KILN_API kiln_status kiln_graph_node_count(size_t *out, kiln_graph *graph);
/* The CUgraph, and the CUgraphExec. They stay kiln's. Runs started through them are not waited for
 * when memory is given back. */
KILN_API void *kiln_graph_cuda_handle(kiln_graph *graph);
KILN_API void *kiln_graph_exec_cuda_handle(kiln_graph_exec *exec);

#ifdef __cplusplus
}
#endif
#endif
