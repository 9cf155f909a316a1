/* schedule/tally.h - the parts into which a tally's elements are cut: the algorithm has bins for each of them
 * (kernel/histogram.c), and the kinds have a block, or a task, for each. */
#ifndef KN_SCHEDULE_TALLY_H
#define KN_SCHEDULE_TALLY_H

#include <stdbool.h>

#include "base/target.h"
#include "space/numbers.h"
#include "types/dtype.h"

enum {
    KN_TALLY_BLOCK = 512,     /* threads of a part (CUDA) */
    KN_TALLY_PARTS = 396,     /* three for each multiprocessor of an H100; the same on every device */
    KN_TALLY_LEAST = 1 << 13, /* elements of a part */
    KN_TALLY_WARPS = KN_TALLY_BLOCK / 32, /* have bins of their own, where there is no atomic function */
    KN_TALLY_RANGES = 4, /* ranges of bins that share shared memory, at most: elements are read for each */
    KN_TALLY_OWN_RANGES = 3,  /* the same where warps have bins of their own; sorts are faster for more */
    KN_TALLY_BESIDE = 256,    /* bytes of shared memory beside bins, for elements that have none */
    KN_TALLY_HOST_PARTS = 64, /* tasks */
    /* Counts by bins of 16 bits (CUDA): threads of a part, parts, and elements from which they pay. */
    KN_TALLY_HALVES_BLOCK = 1024,
    KN_TALLY_HALVES_PARTS = 132,
    KN_TALLY_HALVES_LEAST = 1 << 22
};

/* Elements, at most, whose sums are sums of integers: these count infinite ones in half a word. */
#define KN_TALLY_FIXED_MOST (INT64_C(1) << 31)

/* The operator of sums of floats in any order (src/codegen/prelude/cuda_fixed.cu). */
#define KN_TALLY_ARRIVED "kn_arrived(a, b)"

/* The operator of counts whose bins have 16 bits. */
#define KN_TALLY_IN_HALVES "a + b + 0"

/* CUDA's atomic function of an operator whose result does not depend on the order, for integers of 4 and 8
 * bytes, or need not, for floats; NULL: there is none. */
const char *kn_tally_atomic(const char *reduce, kiln_dtype dtype);

/* Bytes of shared memory for the bins of a block: three blocks share a multiprocessor. */
static inline int kn_tally_shared(const kn_target *target)
{
    int third = target->shared_memory_per_multiprocessor / 3 - target->shared_memory_reserved;
    return (third < target->shared_memory_per_block ? third : target->shared_memory_per_block) -
           KN_TALLY_BESIDE;
}

/* The same of counts by bins of 16 bits: a block has a multiprocessor. */
static inline int kn_tally_halves_shared(const kn_target *target)
{
    int all = target->shared_memory_per_multiprocessor - target->shared_memory_reserved;
    return (all < target->shared_memory_per_block ? all : target->shared_memory_per_block) / 16 * 16;
}

/* Ranges of bins, at most, that share shared memory, where there is an atomic function. Those of floats are
 * slow there. */
static inline int kn_tally_ranges(const kn_dtype_info *info)
{
    return info->kind == KN_KIND_FLOAT ? 1 : KN_TALLY_RANGES;
}

/* The bins of `size` bytes, at most, that blocks have in shared memory. */
static inline int64_t kn_tally_bins(const kn_target *target, int size, bool is_atomic)
{
    int64_t words = kn_tally_shared(target) / size;
    return is_atomic ? words * KN_TALLY_RANGES : words / KN_TALLY_WARPS * KN_TALLY_OWN_RANGES;
}

/* Parts on CUDA. */
static inline int64_t kn_tally_parts(int64_t elements)
{
    int64_t least = kn_divide_up(elements, INT64_C(1) << 31); /* a block counts its elements by 32 bits */
    return kn_clamp(kn_divide_up(elements, KN_TALLY_LEAST), 1, kn_most(least, KN_TALLY_PARTS));
}

/* Tasks on the host: bins are cleared, and combined, for each of them. */
static inline int64_t kn_tally_tasks(int64_t elements, int64_t bins)
{
    return kn_clamp(elements / kn_most(4 * bins, 2 * KN_TALLY_LEAST), 1, KN_TALLY_HOST_PARTS);
}

#endif
