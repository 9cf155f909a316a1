/* array/array.h - the inside of kiln_array, for the kernel layer. Arrays launch nothing. */
#ifndef KN_ARRAY_ARRAY_H
#define KN_ARRAY_ARRAY_H

#include <kiln/array.h>
#include "array/traced.h"
#include "device/device.h"
#include "types/dtype.h"
#include <stdatomic.h>

/* Reference-counted memory that views share. */
typedef struct kn_storage {
    atomic_int references;
    kn_device *device;
    void *data;
    size_t size;  /* bytes that may be touched from data */
    void *stream; /* native; pooled memory belongs to it */
    bool is_pooled;
    void (*release)(void *); /* of wrapped memory */
    void *user;
} kn_storage;

struct kiln_array {
    atomic_int references;
    int32_t node;          /* its node in the trace */
    kn_storage *storage;   /* NULL: a placeholder without data */
    kn_recorder *recorder; /* the trace of a traced array, which has no elements; NULL: none */
    char *data;            /* first element */
    int64_t size;          /* elements */
    kiln_dtype dtype;
    int32_t item_size;
    int32_t ndim;
    bool is_c_contiguous, is_f_contiguous, is_read_only;
    bool is_joint;    /* it is in the allocation of its storage */
    int64_t *strides; /* behind shape in the same block */
    int64_t shape[];  /* ndim extents, then ndim strides */
};

/* The common properties of arrays that are made repeatedly, computed once. */
typedef struct kn_array_layout {
    kiln_dtype dtype;
    int32_t item_size, ndim;
    bool is_c_contiguous, is_f_contiguous;
    int64_t size, low, bytes; /* elements; bytes from low, seen from the first element */
    const int64_t *extents;   /* ndim extents, then ndim strides; not the layout's own */
} kn_array_layout;

/* extents as kn_array_layout has them; they must live as long as the layout and make an array. */
void kn_array_layout_make(kn_array_layout *out, kiln_dtype dtype, int ndim, const int64_t *extents);
/* An array of storage from the pool, for native stream `stream`, which is in that capture
 * (kn_memory_capture_of). */
kiln_status kn_array_from_layout(kiln_array **out, const kn_array_layout *layout, kn_device *device,
                                 void *stream, uint64_t capture);
/* The same from its parts. strides NULL: C order. */
kiln_status kn_array_allocate(kiln_array **out, kn_device *device, void *stream, kiln_dtype dtype, int ndim,
                              const int64_t *shape, const int64_t *strides);
/* The same where kn_array_check_shape has passed: memory that is warm is had in 0.1 us. */
kiln_status kn_array_allocate_checked(kiln_array **out, kn_device *device, void *stream, kiln_dtype dtype,
                                      int ndim, const int64_t *shape, const int64_t *strides);
/* Shortens a new C-ordered array along an axis. Nobody else may use the array yet. */
void kn_array_shorten(kiln_array *array, int axis, int64_t extent);
/* Zeros in the whole storage of an array. */
kiln_status kn_array_clear(const kiln_array *array, void *stream);
/* A view: takes one more reference to array's storage. data may lie anywhere in it. */
kiln_status kn_array_view(kiln_array **out, const kiln_array *array, char *data, int ndim,
                          const int64_t *shape, const int64_t *strides);

/* An array without data, C-ordered. */
kiln_status kn_array_placeholder(kiln_array **out, kiln_dtype dtype, int ndim, const int64_t *shape);
/* The recorder of the first array among these that has one, or NULL. out may be NULL. */
kn_recorder *kn_array_find_recorder(kiln_array *const *out, int n_out, const kiln_arg *in, int n_in);
/* Checks that dtype and shape make an array: KILN_ERROR_TYPE, _SHAPE or _INVALID with the reason. */
kiln_status kn_array_check_shape(kiln_dtype dtype, int ndim, const int64_t *shape);
/* KILN_ERROR_INVALID, naming the public function, where array is NULL or a placeholder. */
kiln_status kn_array_check_data(const kiln_array *array, const char *function);

/* start:stop:step over an axis as Python clips it (KILN_SLICE_NONE: left out; step is neither 0 nor none):
 * sets *start to the first index, 0 where there are no elements, and returns their number. */
int64_t kn_slice_clip(int64_t extent, int64_t *start, int64_t stop, int64_t step);
/* The stride of `count` elements, each `step` steps of `stride` apart: as NumPy has it where there is one
 * element or none, too. */
int64_t kn_slice_stride(int64_t stride, int64_t step, int64_t count);

/* Copies elements between host views of equal shapes; any strides. Nothing overlaps. */
void kn_array_copy_elements(int ndim, const int64_t *shape, void *to, const int64_t *to_strides,
                            const void *from, const int64_t *from_strides, int64_t item_size);

/* Makes later work of `after` wait for the work that is queued on `before` now. */
kiln_status kn_array_order_streams(kn_device *before_device, void *before, kn_device *after_device,
                                   void *after);

/* KILN_ERROR_CAPTURE where the stream is being captured: `function` would have to wait for it. */
kiln_status kn_array_check_capture(kn_device *device, void *stream, const char *function);
/* KILN_ERROR_INVALID where the array is read-only. */
kiln_status kn_array_check_writable(const kiln_array *array, const char *function);
/* Tells the pool where a stream other than the storage's own uses it. */
kiln_status kn_array_note_use(const kiln_array *array, void *stream);
/* The elements of one array into another of its shape and dtype, on one device; nothing overlaps. */
kiln_status kn_array_copy_same(kiln_array *to, const kiln_array *from);
/* C-ordered host data into array, which may be strided; waits. `function` names the caller in messages. */
kiln_status kn_array_upload(kiln_array *array, const void *data, const char *function);

/* The dtype of an array, or of a number; of a weak one that which it takes alone. */
kiln_dtype kn_argument_dtype(const kiln_arg *in);

/* The elements of a range: first + k * delta modulo 2^64 where the dtype has whole numbers, else start,
 * second, and start + k * step from there on, in float where is_narrow. */
typedef struct kn_range {
    bool is_whole, is_narrow;
    uint64_t first, delta;
    double start, second, step;
} kn_range;

/* Kernels that arrays of a CUDA device need; the kernel layer sets them. Without them, or if nothing can be
 * compiled, values and ranges are written by the host. */
typedef struct kn_array_kernels {
    /* A strided copy between two arrays of one device, of equal shape and dtype; and its code, loaded ahead.
     */
    kiln_status (*copy)(kiln_array *to, const kiln_array *from, kiln_stream *stream);
    kiln_status (*prepare_copy)(const kiln_array *from);
    /* One element everywhere; a range along the only axis. Any strides. */
    kiln_status (*fill)(kiln_array *to, const void *value, kiln_stream *stream);
    kiln_status (*range)(kiln_array *to, const kn_range *range, kiln_stream *stream);
    /* A new C-ordered array of another dtype. */
    kiln_status (*convert)(kiln_array **out, const kiln_array *from, kiln_dtype dtype);
} kn_array_kernels;
/* kernels lives for ever; each of its functions may be NULL. */
void kn_array_set_kernels(const kn_array_kernels *kernels);
const kn_array_kernels *kn_array_get_kernels(void);
/* True if the host may do a kernel's work: there is neither a compiler nor a binary. A capture cannot wait
 * for it. */
bool kn_array_host_may_help(kiln_status status);

#endif
