/* array/array.h - the inside of kiln_array, for the kernel layer. Arrays launch nothing. */
#ifndef KN_ARRAY_ARRAY_H
#define KN_ARRAY_ARRAY_H

#include <kiln/array.h>
#include "device/device.h"
#include "types/dtype.h"
#include <stdatomic.h>

/* Reference-counted memory that views share. */
typedef struct kn_storage {
    atomic_int references;
    kn_device *device;
    void *data;
    size_t size;              /* bytes that may be touched from data */
    void *stream;             /* native; pooled memory belongs to it */
    bool is_pooled;
    void (*release)(void *);  /* of wrapped memory */
    void *user;
} kn_storage;

struct kiln_array {
    atomic_int references;
    kn_storage *storage;      /* NULL: a placeholder without data */
    char *data;               /* first element */
    int64_t size;             /* elements */
    kiln_dtype dtype;
    int32_t item_size;
    int32_t ndim;
    bool is_c_contiguous, is_f_contiguous, is_read_only;
    int64_t *strides;         /* behind shape in the same block */
    int64_t shape[];          /* ndim extents, then ndim strides */
};

/* An array of storage from the pool, for native stream `stream`. strides NULL: C order. */
kiln_status kn_array_allocate(kiln_array **out, kn_device *device, void *stream, kiln_dtype dtype, int ndim, const int64_t *shape, const int64_t *strides);
/* A view: takes one more reference to array's storage. data may lie anywhere in it. */
kiln_status kn_array_view(kiln_array **out, kiln_array *array, char *data, int ndim, const int64_t *shape, const int64_t *strides);

/* How a strided copy between two arrays of one device is done: registered by the kernel layer, which stands above; both shapes are equal, dtypes too. */
typedef kiln_status (*kn_array_copy_function)(kiln_array *to, kiln_array *from, kiln_stream *stream);
void kn_array_set_copy_function(kn_array_copy_function function);

#endif
