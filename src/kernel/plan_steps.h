/* kernel/plan_steps.h - plans of several steps, and how they run. algorithm.h makes them. */
#ifndef KN_KERNEL_PLAN_STEPS_H
#define KN_KERNEL_PLAN_STEPS_H

#include "kernel/kernel.h"

/* The source of a step's parameter. */
typedef enum kn_source_kind {
    KN_FROM_INPUT,   /* input `index` of the call: an array moved on by `shift` bytes, or a scalar */
    KN_FROM_OUTPUT,  /* output `index` of the call, likewise */
    KN_FROM_BUFFER,  /* buffer `index` of the call */
    KN_FROM_NUMBER,  /* `number`, which follows from the shapes of the call */
    KN_FROM_COMPUTED /* number `index` of those that the call computes (kn_algorithm.compute) */
} kn_source_kind;
typedef struct kn_source {
    kn_source_kind kind;
    int index;
    int64_t shift;
    kiln_arg number;
    kn_bound bound; /* of a scalar */
} kn_source;

/* A temporary buffer between steps: a dense array, from the pool. */
typedef struct kn_buffer {
    size_t size;     /* bytes */
    int first, last; /* the first and the last step that uses it; set when the plan is made */
    bool is_zeroed;  /* the step that writes it may leave elements unassigned */
} kn_buffer;

/* A step without a program: it queues its work on the stream, and waits for nothing. value: of each
 * parameter its first address, or the place of a number's bytes. */
typedef kiln_status (*kn_step_function)(kn_device *device, const void *const *value, void *stream);

/* A result whose steps compute the extent of one axis. */
typedef struct kn_late {
    bool is_late;
    kn_source count; /* a 64-bit integer in a buffer, or in another result */
    int axis;
} kn_late;

/* One step, ready to run. */
typedef struct kn_plan_step {
    kn_plan_launch launch;
    kn_program *program;       /* the step's own, of which its report speaks; NULL: a kernel has it */
    kn_step_function function; /* instead of launches; NULL */
    const char *launch_name;
    int n_params;
    bool casts; /* numbers are converted as by NumPy (kn_program) */
    kn_source source[KN_MAX_PARAMS];
    kiln_dtype dtype[KN_MAX_PARAMS]; /* of scalars */
} kn_plan_step;

struct kn_plan_steps {
    const kiln_kernel *kernel;
    kn_device *device;
    int n_steps, n_buffers;
    kn_plan_step *step;
    kn_buffer *buffer;
    int *taken, *given;   /* all buffers, in the order in which they are taken, and in which they go back */
    kn_plan_steps *quick; /* run instead as long as a kernel of these is to come; NULL */
    uint64_t late;        /* results (bits) whose extent is known late */
    kn_late *result;      /* by result; NULL: none is late */
};

/* KILN_ERROR_CAPTURE if the call would wait for the extent of a result that it allocates (fresh: bits) while
 * the stream is captured. */
kiln_status kn_plan_steps_check(const kn_plan_steps *steps, uint64_t fresh, void *stream);
/* Queues all steps. Arrays of out exist. For a late extent of one that the call has allocated (fresh: bits)
 * it waits for the stream, and shortens the array. computed: the numbers of kn_algorithm.compute. */
kiln_status kn_plan_steps_run(const kn_plan_steps *steps, kiln_array *const *out, uint64_t fresh,
                              const kiln_arg *in, const kiln_arg *computed, void *stream);
/* kn_plan_launch_look at each step. */
void kn_plan_steps_look(const kn_plan_steps *steps, bool wants_optimised, kn_build_info *info);
void kn_plan_steps_free(kn_plan_steps *steps);

#endif
