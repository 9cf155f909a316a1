/* array/traced.h - arrays that stand for values of a trace: operations on them are recorded by functions of
 * their recorder (expr/tracing.c). */
#ifndef KN_ARRAY_TRACED_H
#define KN_ARRAY_TRACED_H

#include <kiln/kernel.h>

/* One item of an index in square brackets. */
typedef enum kn_subscript_kind {
    KN_SUBSCRIPT_SLICE, /* start:stop:step, KILN_SLICE_NONE where left out */
    KN_SUBSCRIPT_INDEX, /* [start]: the axis is gone */
    KN_SUBSCRIPT_NEW,   /* None: an axis of extent 1 comes in */
    KN_SUBSCRIPT_REST,  /* ...: as many whole axes as are left; at most one */
    KN_SUBSCRIPT_ONE,   /* the only index of an axis that must have extent 1: the axis goes */
    KN_SUBSCRIPT_ONES,  /* for all axes that are left: those of extent 1 go; it is the only subscript */
    KN_SUBSCRIPT_FLIP,  /* for all axes that are left: reversed; it is the only subscript */
    KN_SUBSCRIPT_FILL,  /* new axes until there are `start`, but at most `stop` */
    /* part `start` of `stop` equal ones; step 1: the first ones may have one more; KN_PARTS_OF_ONE: each is
     * one element, and the axis goes */
    KN_SUBSCRIPT_PART,
    KN_SUBSCRIPT_ARRAY /* an array of indices, or a mask: for kernel/indexed.h alone */
} kn_subscript_kind;
enum { KN_PARTS_OF_ONE = 2 };
typedef struct kn_subscript {
    kn_subscript_kind kind;
    int64_t start, stop, step;
} kn_subscript;

struct kn_recorder;

/* Each has the effect of the public function of its name, for a call with at least one array of the recorder.
 * Views have been checked against the array's shape, and pass axes, indices and extents as the caller gave
 * them. */
typedef struct kn_recording {
    kiln_status (*index)(kiln_array **out, const kiln_array *array, const kn_subscript *subscript,
                         int n_subscripts);
    kiln_status (*transpose)(kiln_array **out, const kiln_array *array, const int *axes);
    kiln_status (*reshape)(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape);
    kiln_status (*broadcast_to)(kiln_array **out, const kiln_array *array, int ndim, const int64_t *shape);
    kiln_status (*copy)(kiln_array **out, const kiln_array *array);
    kiln_status (*astype)(kiln_array **out, const kiln_array *array, kiln_dtype dtype);
    kiln_status (*apply)(kiln_array **out, int n_out, const char *name, const kiln_arg *in, int n_in,
                         const kiln_call_options *options);
    kiln_status (*call)(kiln_array **out, int n_out, kiln_kernel *kernel, const kiln_arg *in, int n_in,
                        const kiln_call_options *options);
    void (*release)(struct kn_recorder *recorder); /* an array goes */
} kn_recording;

typedef struct kn_recorder {
    const kn_recording *functions;
    const char *name; /* of the trace */
} kn_recorder;

#endif
