/* base/blob.h - bytes that own themselves. */
#ifndef KN_BASE_BLOB_H
#define KN_BASE_BLOB_H

#include <stddef.h>

typedef struct kn_blob {
    void *data; /* kn_malloc */
    size_t size;
} kn_blob;
#define KN_BLOB_INIT                                                                                         \
    {                                                                                                        \
        NULL, 0                                                                                              \
    }

/* False where there is no memory; *out unchanged then. */
int kn_blob_copy(kn_blob *out, const void *data, size_t size);
void kn_blob_free(kn_blob *blob);

#endif
