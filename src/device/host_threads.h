/* device/host_threads.h - the host's threads, which share the iterations of loops. */
#ifndef KN_DEVICE_HOST_THREADS_H
#define KN_DEVICE_HOST_THREADS_H

#include <kiln/base.h>

/* KILN_ERROR_INVALID where KILN_NUM_THREADS is no number from 1; the error of a shortage that leaves the
 * number of threads unknown. */
kiln_status kn_host_threads_check(void);
/* Runs body(user, begin, end) over [0, count) on the host's threads, each share at least grain; in the
 * calling thread alone for small counts or one core. Survives fork (a child starts its own threads). */
void kn_host_parallel(int64_t count, int64_t grain, void (*body)(void *user, int64_t begin, int64_t end),
                      void *user);
/* Rows of fewer than `least` elements are shared by the threads; longer ones come one after the other, and
 * long_rows shares each. */
void kn_host_parallel_rows(int64_t rows, int64_t length, int64_t least,
                           void (*short_rows)(void *user, int64_t begin, int64_t end),
                           void (*long_rows)(void *user, int64_t begin, int64_t end), void *user);

#endif
