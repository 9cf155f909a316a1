/* kernel/compound.h - kernels that are no single program: what a call is lowered to, a list of programs with
 * bindings and the memory between them, and how that is planned and run. Who lowers stands above (fuse/). */
#ifndef KN_KERNEL_COMPOUND_H
#define KN_KERNEL_COMPOUND_H

#include "kernel/compound_run.h"

/* One program of a lowered call. Arrays of the binding are views that say where elements lie; those of
 * buffers and of outputs that the call allocates have no data. */
typedef struct kn_lowered_part {
    kn_program *program;
    const kiln_kernel *kernel; /* whose program it is, while the call is lowered; NULL: the part's own */
    kn_binding binding;
    kn_source source[KN_MAX_PARAMS];
    kiln_call_options options;
    int64_t shape[KILN_MAX_NDIM]; /* of the options, where no array says it */
    char *label;                  /* what it computes, for people */
} kn_lowered_part;

typedef struct kn_lowered {
    int n_parts, n_buffers;
    kn_lowered_part *part;
    kn_buffer *buffer;
    kn_array_layout *layout; /* by output: what the call allocates, with its extents in the same block */
    kn_str note;             /* why there are several parts; lines for people */
    /* By output: inputs (bits) that it may share memory with, element by element */
    uint64_t in_place[KN_MAX_PARAMS];
} kn_lowered;

/* A kernel that lowers its calls. `prototype` is a program without stages that has the names of its
 * parameters; both it and context are taken over, and freed on failure too. */
kiln_status kn_kernel_create_lowered(kiln_kernel **out, kn_program *prototype, const kn_lowering *lowering,
                                     void *context);

void kn_lowered_drop_parts(kn_lowered *lowered);
void kn_lowered_free(kn_lowered *lowered);

/* The plan of a call with this key. Builds all parts. */
kiln_status kn_compound_plan(kn_call_plan **out, const kiln_kernel *kernel, const kn_lowering_call *call,
                             const int64_t *key, size_t key_words, uint64_t hash, unsigned build_flags,
                             kn_build_info *info);

#endif
