/* device/host_walk.h - a kernel that knows dense runs alone, run over any layout of its operands.
 *
 * The space is walked in blocks that fit the first-level cache. Operands that are no run within a block are brought into buffers (a
 * broadcast one is filled once for as long as it stays the same, a transposed one is turned in squares), results that are none go back from
 * theirs. So the generated code has one vectorised loop, and one binary serves every layout.
 */
#ifndef KN_DEVICE_HOST_WALK_H
#define KN_DEVICE_HOST_WALK_H

#include <kiln/base.h>

typedef enum kn_walk_kind {
    KN_WALK_INPUT = 1,
    KN_WALK_OUTPUT,
    KN_WALK_COUNT, /* a number that grows by one with each element; its strides must be one run. item_size 1 */
    KN_WALK_INDICES /* a number for each element: the kernel gets the address of an int64 array. item_size 8 */
} kn_walk_kind;

typedef struct kn_walk_operand {
    kn_walk_kind kind;
    int block_at;          /* where its address (or the number) of 8 bytes stands in the argument block */
    int item_size;         /* bytes: 1, 2, 4, 8, 16 */
    const int64_t *stride; /* outermost first; bytes, or numbers */
} kn_walk_operand;

/* Kernels may store past the caches, which locks and atomics alone do not order: to be called after each run of one, in its thread. */
static inline void kn_host_settle(void)
{
#if defined(__x86_64__)
    __builtin_ia32_sfence();
#endif
}

typedef struct kn_host_walk kn_host_walk;
typedef void (*kn_host_entry)(const void *args, long long begin, long long end);

/* Extents outermost first, at least one axis, none 0. At most 65 operands. */
kiln_status kn_host_walk_create(kn_host_walk **out, int ndim, const int64_t *extent,
                                const kn_walk_operand *operand, int n_operands);
void kn_host_walk_free(kn_host_walk *walk);

/* Calls the kernel over the whole space, from several threads where there are enough elements. The block holds the addresses of the
 * operands' first elements. */
void kn_host_walk_run(const kn_host_walk *walk, kn_host_entry entry, const void *block, size_t block_size,
                      int64_t grain);

#endif
