/* schedules/host/host_order.h - the orders of the host's baseline tiers: their calls of the kernel's loops,
 * and the axes and places of its argument block.
 *
 * Such a kernel has loops over elements alone. All that is around them is a function of the library, which
 * the kernel calls by a pointer in its argument block, and which calls the loops back: no compiler has to
 * read it. The loops are one function, since each one more costs compilers as much as a loop. */
#ifndef KN_SCHEDULES_HOST_HOST_ORDER_H
#define KN_SCHEDULES_HOST_HOST_ORDER_H

#include "schedule/field.h"
#include "space/space.h"

/* One call of a kernel's loops; which members count is said with each kind's orders. One list makes the
 * struct here and in kernels. */
#define KN_HOST_CALL                                                                                         \
    int loop, steps, is_ordered;                                                                             \
    void *to;                                                                                                \
    const void *a, *b;                                                                                       \
    const long long *place;                                                                                  \
    long long first, count, step;
typedef struct kn_call {
    KN_HOST_CALL
} kn_call;
/* The parts of a kernel that an order needs: its loops and their closure, numbers that its source has, and
 * places in its argument block. */
#define KN_HOST_LOOPS                                                                                        \
    const void *of;                                                                                          \
    void (*run)(const void *of, const kn_call *call);                                                        \
    int item_size, operands, rank;                                                                           \
    const void *field, *axis;

/* The axes of codegen/shared/axes_wide.cpp: an extent and the strides of all operands. */
typedef struct kn_host_axes {
    const long long *at;
    int operands;
} kn_host_axes;
/* kn_place: bytes from the start of each operand, and indices. */
typedef struct kn_host_place {
    long long at[KN_MAX_OPERANDS];
} kn_host_place;

static inline long long kn_host_extent(const kn_host_axes *a, int axis)
{
    return a->at[axis * (a->operands + 1)];
}

static inline long long kn_host_stride(const kn_host_axes *a, int axis, int operand)
{
    return a->at[axis * (a->operands + 1) + 1 + operand];
}

static inline void kn_host_move_steps(kn_host_place *place, const kn_host_place *step, long long steps,
                                      int operands)
{
    for (int o = 0; o < operands; ++o)
        place->at[o] += steps * step->at[o];
}

/* kn_move of the same file: on by so many elements of the axes from `first` up to `end`. */
static inline void kn_host_move(kn_host_place *place, const kn_host_axes *axes, int first, int end,
                                long long index)
{
    for (int a = first; a < end; ++a) {
        long long outer = a + 1 < end ? index / kn_host_extent(axes, a) : 0;
        long long steps = index - outer * kn_host_extent(axes, a);
        for (int o = 0; o < axes->operands; ++o)
            place->at[o] += steps * kn_host_stride(axes, a, o);
        index = outer;
    }
}

#endif
