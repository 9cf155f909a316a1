/* A libcuda.so.1 of our own, for tests without a GPU: as many devices as are wanted, their memory ordinary
 * memory, launches written down.
 *
 * Its modules are text: a line `kernel NAME SIZE...` for each function with the sizes of its parameters,
 * `global NAME SIZE` for each variable; `kernel NAME! SIZE...` is a kernel that breaks its device when it
 * runs; `emulated NAME PATH` is one in a library of the processor, which computes, as fake_libnvrtc.c makes
 * them. Cubins of the real NVRTC are modules too, whose kernels compute nothing. Environment:
 * FAKE_CUDA_DEVICES (2), FAKE_CUDA_MEMORY (bytes a device, 256 MiB), FAKE_CUDA_INIT (what cuInit returns),
 * FAKE_CUDA_NO_PEERS, FAKE_CUDA_NO_PAGES (none can be mapped), FAKE_CUDA_CAPABILITY (90). */
#ifndef FAKE_CUDA_H
#define FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fake_launch {
    char name[64];
    int device;
    void *stream;
    unsigned grid[3], block[3], shared_bytes, cluster[3];
    bool is_cooperative, is_dependent, is_replay, was_captured;
    unsigned attribute_count;
    size_t parameter_count, parameter_size; /* in all */
    unsigned char parameters[4096];         /* one behind the other */
} fake_launch;

/* Launches so far, and the nth of them; captured ones count when their graph runs. */
int fake_launch_count(void);
fake_launch fake_launch_at(int nth);
void fake_launches_clear(void);
/* Called for each kernel as it runs. */
void fake_on_launch(void (*call)(const fake_launch *launch, void *user), void *user);

/* Calls of any function (or of one, by its exported name) since the start. */
long fake_calls(void);
long fake_calls_of(const char *function);
/* The nth call from now (1: the next) of `function` (NULL: of any) returns code and does nothing. 0 switches
 * it off. */
void fake_fail(const char *function, long nth, int code);
/* The function that the last forced failure hit; "" for none. */
const char *fake_failed_function(void);

/* While a stream is held, nothing queued on it finishes. Synchronising it lets go. NULL: the default stream
 * of device 0. */
void fake_hold(void *stream, bool held);

/* From now on a new stream may get the handle of one that was destroyed. */
void fake_reuse_streams(bool reuse);

typedef enum fake_kind {
    FAKE_MEMORY, /* allocations, with an address or to be mapped */
    FAKE_RANGE,  /* of addresses */
    FAKE_PINNED,
    FAKE_STREAM,
    FAKE_EVENT,
    FAKE_MODULE,
    FAKE_GRAPH,
    FAKE_EXEC,
    FAKE_USER_OBJECT,
    FAKE_LINK,
    FAKE_KINDS
} fake_kind;
int fake_live(fake_kind kind);
size_t fake_memory_used(int device);
/* The devices that reach a mapped page, a bit for each; 0: nothing is mapped there. */
unsigned fake_access_of(const void *pointer);
/* Contexts on the calling thread's stack, and a context to put there that is not a primary one. */
int fake_context_depth(void);
/* The calling thread's mode of captures: 0 (global) unless somebody has exchanged it. */
int fake_capture_mode(void);
void *fake_foreign_context(void);
/* Makes the sticky error of a broken device go away. */
void fake_repair(void);

#ifdef __cplusplus
}
#endif
#endif
