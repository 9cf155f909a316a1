/* base/blob.c - copies and frees bytes that own themselves. */
#include "base/blob.h"
#include "base/alloc.h"

#include <string.h>

int kn_blob_copy(kn_blob *out, const void *data, size_t size)
{
    void *copy = kn_malloc(size);
    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    out->data = copy;
    out->size = size;
    return 1;
}

void kn_blob_free(kn_blob *blob)
{
    if (!blob)
        return;
    kn_free(blob->data);
    *blob = (kn_blob)KN_BLOB_INIT;
}
