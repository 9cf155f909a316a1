/* array/dlpack_abi.h - the structs that DLPack 1.x lays down, in our own words. */
#ifndef KN_ARRAY_DLPACK_ABI_H
#define KN_ARRAY_DLPACK_ABI_H

#include <stddef.h>
#include <stdint.h>

enum { KN_DL_CPU = 1, KN_DL_CUDA = 2, KN_DL_CUDA_HOST = 3, KN_DL_CUDA_MANAGED = 13 };
enum { KN_DL_READ_ONLY = 1 };
enum { KN_DL_MAJOR = 1, KN_DL_MINOR = 0 };

typedef struct kn_dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides; /* in elements; NULL: C order */
    uint64_t byte_offset;
} kn_dl_tensor;

typedef struct kn_dl_managed {
    kn_dl_tensor tensor;
    void *context;
    void (*deleter)(struct kn_dl_managed *self);
} kn_dl_managed;

typedef struct kn_dl_versioned {
    uint32_t major, minor;
    void *context;
    void (*deleter)(struct kn_dl_versioned *self);
    uint64_t flags;
    kn_dl_tensor tensor;
} kn_dl_versioned;

_Static_assert(sizeof(kn_dl_tensor) == 48 && offsetof(kn_dl_tensor, device_type) == 8 &&
                   offsetof(kn_dl_tensor, ndim) == 16 && offsetof(kn_dl_tensor, code) == 20 &&
                   offsetof(kn_dl_tensor, lanes) == 22 && offsetof(kn_dl_tensor, shape) == 24 &&
                   offsetof(kn_dl_tensor, byte_offset) == 40,
               "DLTensor");
_Static_assert(sizeof(kn_dl_managed) == 64 && offsetof(kn_dl_managed, deleter) == 56, "DLManagedTensor");
_Static_assert(sizeof(kn_dl_versioned) == 80 && offsetof(kn_dl_versioned, deleter) == 16 &&
                   offsetof(kn_dl_versioned, tensor) == 32,
               "DLManagedTensorVersioned");

#endif
