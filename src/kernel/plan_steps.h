/* kernel/compound_run.h - plans of several parts, and how they run. compound.h makes them. */
#ifndef KN_KERNEL_COMPOUND_RUN_H
#define KN_KERNEL_COMPOUND_RUN_H

#include "kernel/kernel.h"

/* Where a parameter of a part has its value from. */
typedef enum kn_source_kind {
    KN_FROM_INPUT,   /* input `index` of the call: an array moved on by `shift` bytes, or a scalar */
    KN_FROM_OUTPUT,  /* output `index` of the call, likewise */
    KN_FROM_BUFFER,  /* buffer `index`, which the call has in between */
    KN_FROM_NUMBER,  /* `number`, which the shapes of the call say */
    KN_FROM_COMPUTED /* number `index` of those that the call computes (kn_lowering.compute) */
} kn_source_kind;
typedef struct kn_source {
    kn_source_kind kind;
    int index;
    int64_t shift;
    kiln_arg number;
    kn_bound bound; /* of a scalar */
} kn_source;

/* A temporary buffer between parts: a dense array. */
typedef struct kn_buffer {
    size_t size;     /* bytes */
    int first, last; /* the parts that write it and read it last */
    bool is_zeroed;  /* the part that writes it may leave elements */
} kn_buffer;

/* One part, ready to run. */
typedef struct kn_compound_part {
    kn_plan_launch launch;
    const char *launch_name;
    int n_params;
    bool casts; /* numbers become what NumPy makes of them (kn_program) */
    kn_source source[KN_MAX_PARAMS];
    kiln_dtype dtype[KN_MAX_PARAMS]; /* of scalars */
} kn_compound_part;

struct kn_compound {
    const kiln_kernel *kernel;
    kn_device *device;
    int n_parts, n_buffers;
    kn_compound_part *part;
    kn_buffer *buffer;
    int *taken, *given; /* all buffers, in the order in which they are taken, and in which they go back */
};

/* Queues all parts. Arrays of out are there. computed: what kn_lowering.compute gave. */
kiln_status kn_compound_run(const kn_compound *compound, kiln_array *const *out, const kiln_arg *in,
                            const kiln_arg *computed, void *stream);
/* kn_plan_launch_look at each part. */
void kn_compound_look(const kn_compound *compound, bool wants_optimised, kn_build_info *info);
void kn_compound_free(kn_compound *compound);

#endif
