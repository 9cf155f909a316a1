/* schedule/layout.h - the argument block: one C struct, the same on both targets, filled by launch and
 * declared by codegen. Its members, in their order:
 *
 *   long long size         elements of this launch
 *   long long n            elements of the whole call (where the program uses it)
 *   long long start        logical index of the first one (where the program uses it)
 *   long long reduction_start   the same among the reduction axes (where the program uses it)
 *   long long results      elements along the output axes of the whole call (where the program uses it)
 *   the kind's own field   (where the kind of the schedule has one)
 *   partials, counters     addresses (where the kind has workspace)
 *   in_order               address (of baseline tiers whose kind has an order)
 *   each parameter         pointer | scalar | struct (aligned to 16) | raw array
 *   rank, unused, axes     (of schedules that locate)
 *   logical_rank, unused, logical extents   (where the program uses _ind) */
#ifndef KN_SCHEDULE_LAYOUT_H
#define KN_SCHEDULE_LAYOUT_H

#include "base/str.h"
#include "schedule/spec.h"

/* Division by `extent` of numbers below 2^31: (high 32 bits of (n * magic) + n) >> shift. After Granlund and
 * Montgomery, "Division by invariant integers using multiplication", PLDI 1994. */
typedef struct kn_divider {
    uint32_t extent, magic, shift, unused;
} kn_divider;
kn_divider kn_divider_make(uint32_t extent);
static inline uint32_t kn_divider_apply(const kn_divider *d, uint32_t n)
{
    return (uint32_t)(((((uint64_t)n * d->magic) >> 32) + n) >> d->shift);
}

enum { KN_STRUCT_ALIGN = 16 };

/* The revision of the members that the argument blocks of all kinds share; a kind's own part has one of its
 * own (kn_kind.revision). Code of an earlier library that has both the same is launched by this one
 * (bundles). To be counted up where a shared member or its meaning changes. tests/golden/blocks.expected sees
 * it. */
enum { KN_BLOCK_REVISION = 4 };

/* Byte offsets in the block; -1 for a field that is not there. */
typedef struct kn_layout {
    int size, align; /* of the whole block; size is a multiple of align */
    int size_at, n_at, start_at, reduction_start_at, results_at;
    int own_at, own_size; /* the kind's field; own_size 0: there is none */
    int workspace_at;     /* two addresses */
    int in_order_at;
    int param_at[KN_MAX_PARAMS];
    int rank_at, axes_at, axis_size; /* axis_size: an extent and one stride an operand of the space */
    int extent_size;                 /* of a kn_divider; 8 where the kind's axes are wide */
    int stride_size;                 /* 4 on CUDA, where launches are cut so that every offset fits, else 8 */
    int logical_rank_at, logical_at;
} kn_layout;

/* In code of kinds with workspace: an object of the type that the program's reduce stage gives, where that
 * is a struct, for its size. */
#define KN_VALUE_SYMBOL "kn_value"

enum { KN_RAW_HEAD = 24 }; /* data pointer, size, rank and padding, before the extents of a raw array */

/* KILN_ERROR_INVALID where the block would be larger than a kernel's parameters may be (32,764 bytes). */
kiln_status kn_layout_make(kn_layout *out, const kn_spec *spec);

/* Appends the members of that struct, in the same order. */
void kn_layout_declare(kn_str *out, const kn_spec *spec);

/* Operands of the space as the axes have them: arrays, and the indices that are used. */
unsigned kn_layout_indices(const kn_program *program);
int kn_layout_space_operands(const kn_spec *spec);

#endif
