/* kernel/kernel.h - the inside of kiln_kernel: a program, and the cached plans of its calls. */
#ifndef KN_KERNEL_KERNEL_H
#define KN_KERNEL_KERNEL_H

#include <stdatomic.h>

#include <kiln/kernel.h>
#include "array/array.h"
#include "store/build.h"
#include "store/tiers.h"
#include "store/single_flight.h"
#include "launch/launch.h"

enum { KN_STRUCT_MAX = 4096 /* bytes of a struct argument */ };

typedef struct kn_call_plan kn_call_plan;
typedef struct kn_call_memo kn_call_memo;
typedef struct kn_lowered kn_lowered;       /* algorithm.h */
typedef struct kn_plan_steps kn_plan_steps; /* plan_steps.h */

/* The inputs of a call's lowering. */
typedef struct kn_lowering_call {
    kiln_array *const *out; /* NULL entries, or NULL itself: allocated by the call */
    const kiln_arg *in;
    const kiln_call_options *options;
    kn_device *device; /* of the arrays; NULL: none */
    const kn_target *target;
    bool keeps_maps; /* maps behind reductions stay with these, although algorithms alone read them */
    bool is_quick;   /* steps that compile soon are wanted, where an algorithm has other ones (has_quick) */
} kn_lowering_call;

/* An argument or a result before it exists. */
typedef struct kn_described {
    kiln_dtype dtype;
    int ndim;
    int64_t shape[KILN_MAX_NDIM];
    bool is_number; /* an argument by value */
    bool is_late;   /* a result: the steps compute the extent of one axis, of which shape has the maximum */
    int late_axis;
    bool takes_any; /* a late result: an array that is given may have any extent there; what fits is stored */
} kn_described;

/* A call of which shapes are known only when a part of it has run: the results of the first kernel, which
 * takes the inputs of the call, are inputs of the second one behind these. */
typedef struct kn_apart {
    kiln_kernel *first, *second;          /* NULL: all shapes are known */
    uint64_t numbers;                     /* bits: results that the second kernel takes by value */
    void (*release)(kiln_kernel *kernel); /* of both */
} kn_apart;

static inline void kn_apart_free(kn_apart *apart)
{
    if (apart->first)
        apart->release(apart->first);
    if (apart->second)
        apart->release(apart->second);
    apart->first = apart->second = NULL;
}

/* The functions that turn calls of a kernel into steps (algorithm.h). All but lower may be NULL. */
typedef struct kn_algorithm {
    /* Describes result j for such arguments: KILN_ERROR_TYPE, _SHAPE naming the parameter.
     * NULL: lower sets the layouts, and the kernel cannot be a node of a graph. */
    kiln_status (*describe)(kn_described *out, const void *context, int j, const kn_described *in);
    /* *out is empty before, except for the layouts if the algorithm describes its results; freed by the
     * caller on failure too. */
    kiln_status (*lower)(kn_lowered *out, const void *context, const kn_lowering_call *call);
    void (*free)(void *context);
    /* The numbers that a call computes of given ones, and the words of them that its plan depends on. All
     * three functions are there, or none. */
    void (*count)(int *n_numbers, int *n_words, const void *context);
    kiln_status (*compute)(kiln_arg *number, int64_t *word, const void *context, const kiln_arg *in);
    /* A parameter called KN_COMPUTED_NUMBER was refused this one: an error that says which it is. */
    kiln_status (*refuse)(const void *context, int number, const kiln_arg *in);
    bool takes_axes; /* kiln_call_options.axes is for lower */
} kn_algorithm;
#define KN_COMPUTED_NUMBER "number"

struct kiln_kernel {
    atomic_int references; /* the user's, and one for each preparation in the background */
    kn_program *program;   /* where calls are lowered, the prototype: names of parameters, and no stages */
    const kn_algorithm *algorithm; /* NULL: the program is all there is */
    void *context;                 /* the argument of the algorithm's functions */
    int n_computed, n_words;       /* kn_algorithm.count */
    uint64_t whole_inputs;         /* a bit for each that expressions give integers or truth values alone */
    kn_call_memo *memo;
    kn_flight_table *own_functions; /* NULL without compiler options, since then no header can change */
};

/* Adds KILN_KERNEL_ROUND_EACH to a kernel's flags where KILN_ROUND=each wishes it. KILN_ERROR_INVALID for
 * another value than each and stored. */
kiln_status kn_kernel_settle_rounding(unsigned *flags);

/* A map that is remembered by all of these (kiln_map). */
typedef struct kn_map_texts {
    const char *in_params, *out_params, *body;
    const char *name;      /* NULL: map */
    unsigned flags;        /* KILN_KERNEL_* */
    uint64_t whole_inputs; /* of the kernel */
} kn_map_texts;

/* The map's kernel: one more reference. */
kiln_status kn_map_find(kiln_kernel **out, const kn_map_texts *texts);

/* The kernel of a selection that is remembered by its texts (kiln_select): one more reference. */
kiln_status kn_select_find(kiln_kernel **out, const char *in_params, const char *out_params, const char *keep,
                           const char *body);

/* A kernel of any program, which it takes over; freed on failure too. */
kiln_status kn_kernel_create(kiln_kernel **out, kn_program *program);
/* A kernel of a program's text whose results' other elements nobody reads (kn_program.left_outputs is 0). */
struct kn_program_text;
kiln_status kn_kernel_create_text(kiln_kernel **out, const struct kn_program_text *text);

/* ---- bind.c: arguments against parameters ---- */

/* A call with its parameters' types settled. */
typedef struct kn_binding {
    const kn_program *program;
    kn_operand operand[KN_MAX_PARAMS];
    int n_arrays;                     /* operands of the space */
    kiln_array *array[KN_MAX_PARAMS]; /* NULL: by value, or an output to be allocated */
    /* Bytes from the array before it, an input before an input and an output before an output, where
     * kn_bytes_after tells; else 0. */
    int64_t after[KN_MAX_PARAMS];
    kn_device *device;              /* where it runs; NULL where no array says so */
    kn_flight_table *own_functions; /* the kernel's, for kn_call_plan_create; kn_bind sets NULL */
} kn_binding;

/* Settles dtypes and passing. KILN_ERROR_TYPE, _INVALID naming the parameters. out may be NULL: all outputs
 * are allocated. */
kiln_status kn_bind(kn_binding *b, const kn_program *program, kiln_array *const *out, int n_out,
                    const kiln_arg *in, int n_in);

/* The distance in bytes between the first elements of two arrays of equal dtype, shape and strides that begin
 * within each other's memory: views of one array at an offset. KN_SAME_ARRAY if dtype and first element are
 * equal, but not shape and strides. Otherwise, and if `before` is NULL, 0. Together with alignment this is
 * all that a plan knows of addresses: it is part of a call's key. */
int64_t kn_bytes_after(const kiln_array *a, const kiln_array *before);

/* True if a KILN_ARG_STRUCT may be read at all. Remembered calls ask too: neither is told by their key. */
static inline bool kn_struct_is_sound(const kiln_arg *arg)
{
    return arg->value.pod.data && arg->value.pod.size > 0 && arg->value.pod.size <= KN_STRUCT_MAX;
}

/* The numbers of arguments, and that `in` is there if it has some. */
kiln_status kn_check_counts(const kn_program *program, int n_out, const kiln_arg *in, int n_in);
/* Looks at the arguments of a kernel that lowers its calls: counts, kinds, devices, outputs that cannot be
 * written. *device is left alone where no array says it. */
kiln_status kn_bind_prototype(kn_device **device, const kn_program *prototype, kiln_array *const *out,
                              int n_out, const kiln_arg *in, int n_in);

/* ---- plan_call.c: from a binding to something that can be launched ---- */

/* A binding with its space and schedule. Large: allocate it. */
typedef struct kn_resolved {
    kn_spec spec;
    kn_space space;
    kn_launch_params launch_params;
    int ndim; /* the broadcast shape */
    int64_t shape[KILN_MAX_NDIM];
    uint64_t reduced, dropped;            /* its axes (bits) that are, and those that results do not have */
    int64_t reduced_shape[KILN_MAX_NDIM]; /* with extent 1 along those */
    int64_t out_stride[KN_MAX_PARAMS][KILN_MAX_NDIM]; /* by output, if it is to be allocated or has only the
                                                         output axes */
} kn_resolved;

kiln_status kn_resolve(kn_resolved *r, const kn_binding *b, const kiln_call_options *options,
                       const kn_target *target);

/* The launches of a plan: in one tier, or in the better of two. */
typedef struct kn_plan_launch {
    kn_launch_plan *only; /* NULL: nothing is launched, or there are tiers */
    kn_tiers *tiers;
    bool is_baseline; /* `only` is the baseline tier */
} kn_plan_launch;

static inline const kn_launch_plan *kn_plan_launch_now(const kn_plan_launch *l)
{
    return l->tiers ? atomic_load_explicit(&l->tiers->current, memory_order_acquire) : l->only;
}

/* plan_tiers.c: the baseline tier of r; block: the user's wish. False where r is baseline itself, or has no
 * such tier; a checked kernel has none (its plan asks the function for its report). */
bool kn_resolved_make_baseline(kn_spec *out, const kn_resolved *r, int block);

/* The launch plan of r, with the function of one tier. */
kiln_status kn_plan_launch_create(kn_plan_launch *out, const kn_resolved *r, const kn_launch_input *input,
                                  int block, kn_flight_table *own_functions, unsigned build_flags,
                                  kn_build_info *info);
void kn_plan_launch_free(kn_plan_launch *l);
/* Adds to info->baseline and ->pending. If the optimised tier is not there yet, it waits for it (wanted), or
 * queues its compilation for the background thread. */
void kn_plan_launch_look(const kn_plan_launch *l, bool wants_optimised, kn_build_info *info);

/* One parameter of a plan. */
typedef struct kn_plan_param {
    kn_pass pass;
    kiln_dtype dtype;
    int64_t low, high;    /* bytes an array touches, from its first address */
    uint64_t same_layout; /* of an output: inputs (bits) of the same element size and strides */
} kn_plan_param;

/* In the order in which a call reads it, close together: cache misses cost more than length. */
struct kn_call_plan {
    uint64_t hash;
    size_t key_words;
    kn_plan_param *param; /* behind the key */
    kn_plan_launch launch;
    kn_plan_steps *steps;    /* instead of launch, where the kernel has an algorithm */
    kn_apart apart;          /* instead of both */
    const char *launch_name; /* for kn_device_note_launch_name */
    kn_device *device;
    kn_array_layout *layout; /* by output: those that the call allocates */
    int n_in, n_out;
    uint64_t zeroed; /* outputs (bits) that the call allocates and elements may leave: filled with zeros */
    bool is_empty;   /* nothing to launch */
    bool has_tiers;  /* the optimised tier of one of its launches may not be there */
    int64_t key[];
};

kiln_status kn_call_plan_create(kn_call_plan **out, const kn_binding *b, const kiln_call_options *options,
                                const int64_t *key, size_t key_words, uint64_t hash, unsigned build_flags,
                                kn_build_info *info);
/* One with its key, and nothing else yet; NULL. */
kn_call_plan *kn_call_plan_new(int n_in, int n_out, const int64_t *key, size_t key_words, uint64_t hash);
void kn_call_plan_free(kn_call_plan *plan);

/* The inputs (bits) that a call would copy first, because an output partly covers them. */
uint64_t kn_binding_overlaps(const kn_binding *b);

/* ---- array_kernels.c: kernels of our own by which arrays of devices are copied and filled, all of them as
 * unsigned integers of the same size, counted up, and converted; for records ---- */
kiln_status kn_array_kernel_copying(kiln_kernel **out);
kiln_status kn_array_kernel_filling(kiln_kernel **out);
kiln_status kn_array_kernel_counting(kiln_kernel **out, bool is_whole, bool is_narrow);
kiln_status kn_array_kernel_converting(kiln_kernel **out, kiln_dtype from, kiln_dtype to);

/* ---- memo.c: plans by key, read without a lock ---- */
kn_call_memo *kn_call_memo_create(void);
void kn_call_memo_free(kn_call_memo *memo);
const kn_call_plan *kn_call_memo_find(const kn_call_memo *memo, const int64_t *key, size_t words,
                                      uint64_t hash);
/* Stores plan, or frees it if an equal one came first; returns the stored one. NULL: not stored (full, no
 * memory), and plan is still the caller's. */
const kn_call_plan *kn_call_memo_put(kn_call_memo *memo, kn_call_plan *plan);

/* ---- call.c ---- */
/* Settled options; struct_size is checked. */
kiln_status kn_call_options_read(kiln_call_options *out, const kiln_call_options *given);
void kn_call_set_info(const kn_build_info *info, kiln_device device);

#endif
