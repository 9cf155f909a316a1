/* copies.h - the shared library as a plugin brings it along: loaded from a copy of the file, by dlopen. */
#ifndef PROCESS_COPIES_H
#define PROCESS_COPIES_H

#include <kiln/kiln.h>

typedef struct copy {
    void *handle;
#define COPY_FUNCTIONS(X)                                                                                    \
    X(array_from_host)                                                                                       \
    X(array_to_host)                                                                                         \
    X(array_free) X(elementwise_create) X(kernel_call) X(kernel_free) X(kernel_prepare) X(cache_get_stats)   \
        X(error_message) X(error_clear) X(device_set_current) X(log_set_callback)
#define X(name) __typeof__(&kiln_##name) name;
    COPY_FUNCTIONS(X)
#undef X
} copy;

/* A copy of the library's file in a folder that goes when the program ends. Ends the program where it
 * cannot. */
void copy_library(char *path, size_t size, const char *name);
void copy_open(copy *c, const char *path, int flags);
void copy_close(copy *c);
/* True if a new kernel with that body gives z for x = 3 over n elements. */
bool copy_computes(const copy *c, const char *body, double z, int64_t n);

#endif
