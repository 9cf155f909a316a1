/* kernel/algorithm.h - algorithms: kernels whose calls are several steps, with buffers between them.
 *
 * A step is the launches of a program, a call of a function that queues work, or a call of another algorithm,
 * whose steps replace it. A result may have an extent that only the steps can compute.
 *
 * An algorithm is a value (kn_algorithm), in a file of its own. A kernel is made of it, which is called,
 * captured, prepared, explained and recorded as any other, and can be a node of graphs if the algorithm
 * describes its results. `lower` is called once for each key of a call, and adds parts to a list.
 * tests/toy has two; expressions (fuse/lower.h) are the library's own. */
#ifndef KN_KERNEL_ALGORITHM_H
#define KN_KERNEL_ALGORITHM_H

#include "kernel/plan_steps.h"

/* One step of a lowered call. Arrays of the binding are views, for the addresses of elements; views of
 * buffers and of outputs that the call allocates have no data. */
typedef struct kn_lowered_part {
    kn_program *program; /* NULL: a function is called */
    /* The kernel of the program, while the call is lowered; NULL: the part owns the program. A kernel with an
     * algorithm is lowered in turn. */
    const kiln_kernel *kernel;
    bool is_inner; /* a step of an algorithm that the call's own calls */
    bool is_apart; /* a map that left its reductions, to be fused into algorithms */
    kn_step_function function;
    int n_params; /* of the function */
    kn_binding binding;
    kn_source source[KN_MAX_PARAMS];
    kiln_call_options options;
    int64_t shape[KILN_MAX_NDIM]; /* of the options, where no array says it */
    char *label;                  /* the computation, for people */
} kn_lowered_part;

/* An expression, for people: its kernels, the bytes that they move, and those that a kernel for each
 * operation would move. */
typedef struct kn_moved {
    int n_kernels; /* 0: it is no expression */
    double bytes, alone;
} kn_moved;

/* A value that is stored in a buffer, and the reason; NULL: nothing is said of the buffer. */
typedef struct kn_stored {
    char *what, *why;
} kn_stored;

struct kn_lowered {
    int n_parts, n_buffers;
    kn_lowered_part *part;
    kn_buffer *buffer;
    kn_array_layout *layout; /* by output: the layout of an array that the call allocates, with its extents in
                                the same allocation */
    bool has_quick;          /* there are other steps, for is_quick, with the same results */
    kn_moved moved;
    kn_stored *stored; /* by buffer; NULL: no expression has them */
    int n_stored;
    kn_str explanation; /* why there are several parts; lines for people */
    /* By output: inputs (bits) that it may share memory with, element by element */
    uint64_t in_place[KN_MAX_PARAMS];
    kn_late late[KN_MAX_PARAMS]; /* by output */
    kn_apart apart; /* instead of parts, where only a part of the call can be lowered before it runs */
};

/* The arguments of a call, for `describe`; out has a capacity of n_in. */
void kn_describe_arguments(kn_described *out, const kiln_arg *in, int n_in);

/* The dtype of a parameter: its own, or that of the first input of its type, arrays before numbers. */
kiln_dtype kn_described_dtype(const kn_program *program, const kn_param *param, const kn_described *in);

/* The shape that the inputs that are not raw broadcast to. KILN_ERROR_SHAPE; KILN_ERROR_INVALID if none of
 * them is an array: `purpose` says what there is to do, "select from". */
kiln_status kn_describe_elements(int *ndim, int64_t *shape, const kn_program *p, const kn_described *in,
                                 const char *purpose);
/* KILN_ERROR_TYPE unless the arrays have the dtypes of the program's inputs. */
kiln_status kn_describe_check_inputs(const kn_program *p, const kn_described *in);

/* A program without stages, for the names of the parameters. *out is NULL before. */
kiln_status kn_prototype_create(kn_program **out, const char *name, const char *const *in, int n_in,
                                const char *const *outs, int n_out);
/* A kernel of an algorithm. `prototype` and context are taken over, and freed on failure too. */
kiln_status kn_kernel_create_algorithm(kiln_kernel **out, kn_program *prototype,
                                       const kn_algorithm *algorithm, void *context);

/* Lowers a call of the kernel to all its steps. */
kiln_status kn_lower_call(kn_lowered *out, const kiln_kernel *kernel, const kn_lowering_call *call);
/* Appends to a part's label. */
kiln_status kn_lowered_add_label(kn_lowered_part *part, const char *before, const char *more);
void kn_lowered_drop_stored(kn_lowered *lowered, int buffer);
/* The bytes of an array's elements; elements that axes of stride 0 repeat count once. */
double kn_lowered_bytes(const kiln_array *array);
/* Fuses maps with the steps of algorithms that read their buffers, if less is moved then: x[x > 0] reads x
 * alone. Parts that are taken out leave the list (fuse_maps.c). */
kiln_status kn_fuse_maps(kn_lowered *lowered);
/* A program that is fused is compiled anew for each map, which results of fewer elements do not repay. */
enum { KN_FEWEST_FUSED = 1 << 20 };
void kn_lowered_free_part(kn_lowered_part *part);
void kn_lowered_drop_parts(kn_lowered *lowered);
void kn_lowered_free(kn_lowered *lowered);
static inline int kn_lowered_params(const kn_lowered_part *part)
{
    return part->program ? part->program->n_in + part->program->n_out : part->n_params;
}

/* The plan of a call with this key. Builds all steps. */
kiln_status kn_plan_steps_create(kn_call_plan **out, const kiln_kernel *kernel, const kn_lowering_call *call,
                                 const int64_t *key, size_t key_words, uint64_t hash, unsigned build_flags,
                                 kn_build_info *info);

/* ---- for `lower`: lists that grow. KILN_ERROR_MEMORY ---- */

/* Adds a buffer; *out: its number. */
kiln_status kn_lowered_add_buffer(int *out, kn_lowered *lowered, size_t size);
/* The same; *out: its beginning, for what is bound to it. */
kiln_status kn_lowered_add_source(kn_source *out, kn_lowered *lowered, size_t size);
/* Adds an empty part; *out is valid until the next one is added. A kernel, which must outlive the lowering,
 * gives its program or its algorithm. An expression takes numbers that follow from the call's shapes, but no
 * numbers that are given to the call. */
kiln_status kn_lowered_add_part(kn_lowered_part **out, kn_lowered *lowered);
kiln_status kn_lowered_add_kernel(kn_lowered_part **out, kn_lowered *lowered, const kiln_kernel *kernel);
/* The same of a kernel that goes along the last axis of this shape. */
kiln_status kn_lowered_add_along(kn_lowered_part **out, kn_lowered *lowered, const kiln_kernel *kernel,
                                 int ndim, const int64_t *shape);
/* Adds a part of a program, which it takes over; freed on failure too. */
kiln_status kn_lowered_add_program(kn_lowered_part **out, kn_lowered *lowered, kn_program *program);
kiln_status kn_lowered_add_function(kn_lowered_part **out, kn_lowered *lowered, const char *name,
                                    kn_step_function function, int n_params);
/* Adds a step that fills so many words of 32 bits with a value. */
kiln_status kn_lowered_add_fill(kn_lowered *lowered, const kn_lowering_call *call, const kn_source *to,
                                uint32_t value, int64_t words);
/* Binds parameter k of the part to an array of this dtype and shape. strides NULL: C order. The source names
 * one of the call's arrays, and the place of the first element in it. */
kiln_status kn_lowered_bind(kn_lowered_part *part, int k, const kn_lowering_call *call,
                            const kn_source *source, kiln_dtype dtype, int ndim, const int64_t *shape,
                            const int64_t *strides);
/* Binds parameter k of the part to input j of the call as it is; dtype: of a number. */
kiln_status kn_lowered_bind_input(kn_lowered_part *part, int k, const kn_lowering_call *call, int j,
                                  kiln_dtype dtype);
/* Binds parameter k of the part to output j of the call, with this shape. */
kiln_status kn_lowered_bind_output(kn_lowered_part *part, int k, const kn_lowering_call *call, int j,
                                   kiln_dtype dtype, int ndim, const int64_t *shape);
/* Binds parameter k of the part to a number that follows from the call's shapes. The caller checks that the
 * dtype holds it. */
void kn_lowered_bind_number(kn_lowered_part *part, int k, kiln_dtype dtype, const kiln_arg *number);
/* The same of an int64, and of several, for the parameters from k on; a function reads these back from their
 * places. */
void kn_lowered_bind_integer(kn_lowered_part *part, int k, int64_t number);
void kn_lowered_bind_integers(kn_lowered_part *part, int k, int count, const int64_t *number);
void kn_step_integers(int64_t *number, int count, const void *const *value);
/* Sets the shape of the launch if no array has it. */
void kn_lowered_set_shape(kn_lowered_part *part, int ndim, const int64_t *shape);

/* A view of an array; NULL: one without storage, whose data is an offset. */
kiln_status kn_lowered_view(kiln_array **out, kiln_array *array, char *data, kiln_dtype dtype, int ndim,
                            const int64_t *shape, const int64_t *strides);

#endif
