/* kernel/inspected.h - the programs and schedules of a call, without running it. */
#ifndef KN_KERNEL_INSPECTED_H
#define KN_KERNEL_INSPECTED_H

#include "kernel/algorithm.h"

typedef struct kn_inspected {
    kn_lowered lowered; /* of a kernel with an algorithm: it has the programs */
    /* The second kernel of a call in two parts, with as many elements as there may be; NULL: there is none */
    struct kn_inspected *next;
    kn_apart apart;                   /* the kernels of both */
    kiln_array *found[KN_MAX_PARAMS]; /* what the first one finds, without data */
    int count;                        /* of programs, in the order of the parts that have one */
    kn_resolved **resolved;
} kn_inspected;
#define KN_INSPECTED_INIT                                                                                    \
    {                                                                                                        \
        .next = NULL, .count = 0, .resolved = NULL                                                           \
    }

/* Devices are named "host", "cuda", "cuda:N"; anything else is an architecture. */
bool kn_names_device(const char *text);

/* *out is KN_INSPECTED_INIT before, and is to be freed after a failure too. The kernel has to outlive it.
 * is_text: the size of a call whose arrays are all raw may be supposed. */
kiln_status kn_inspect(kn_inspected *out, const kiln_kernel *kernel, kiln_array *const *outs, int n_out,
                       const kiln_arg *in, int n_in, const kiln_call_options *options, const char *target,
                       bool is_text);
void kn_inspected_free(kn_inspected *inspected);

#endif
