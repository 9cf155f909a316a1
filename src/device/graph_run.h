/* device/graph_run.h - the last run of a graph: the next one waits for it, and so does the graph's memory. */
#ifndef KN_DEVICE_GRAPH_RUN_H
#define KN_DEVICE_GRAPH_RUN_H

#include "device/capture_list.h"

/* The run before, where it was queued on another stream, has to be over: it uses the same memory. Under the
 * lock of its runs. */
kiln_status kn_graph_run_wait(kn_capture *capture, void *stream);
/* The native stream is about to be destroyed or captured: graphs that ran on it last wait for that. */
void kn_graph_run_stream_ends(kn_device *device, void *stream);
/* The stream of the last run is gone: the default stream waits for the run in its place. While a capture has
 * made the default stream unusable the run is waited for here. */
void kn_graph_run_settle(kn_capture *capture);

#endif
