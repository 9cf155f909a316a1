/* device/host_loop.h - runs a kernel for contiguous ranges over a space, by the loop nest that
 * space/loop_nest.h planned. */
#ifndef KN_DEVICE_HOST_LOOP_H
#define KN_DEVICE_HOST_LOOP_H

#include "space/loop_nest.h"

/* Kernels may store past the caches, which locks and atomics alone do not order: to be called after each run
 * of one, in its thread. */
static inline void kn_host_settle(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

typedef void (*kn_host_entry)(const void *args, long long begin, long long end);

/* Calls the kernel over the whole space, from several threads where there are enough elements. The block
 * holds the addresses of the operands' first elements. */
void kn_host_loop_run(const kn_loop_nest *loop_nest, kn_host_entry entry, const void *block,
                      size_t block_size, int64_t grain);

#endif
