/* device/cuda_link.h - relocatable code, linked by the driver when it is loaded. */
#ifndef KN_DEVICE_CUDA_LINK_H
#define KN_DEVICE_CUDA_LINK_H

#include <stdbool.h>
#include <stddef.h>

#include "device/cuda_driver.h"

/* A link and its image, which the driver owns until the link ends. Starts as zeros. */
typedef struct kn_cuda_linked {
    kn_cu_link link;
    void *image;
    char *log; /* the driver writes it as long as the link lives */
} kn_cuda_linked;

/* True if the code is relocatable, or PTX that launches kernels: it cannot be loaded as it is. */
bool kn_cuda_needs_link(const void *code, size_t size, bool is_binary);
/* Links code (PTX: with its NUL behind) in the current context, with libcudadevrt.a where there is one. On
 * failure, too, linked is to be freed. */
kiln_status kn_cuda_link(kn_cuda_linked *linked, const void *code, size_t size, bool is_binary,
                         const char *name);
void kn_cuda_linked_free(kn_cuda_linked *linked);

#endif
