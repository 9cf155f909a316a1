/* The public functions of bundles. */
#include <kiln/bundle.h>

#include <stdio.h>

#include "base/cancel.h"
#include "base/error.h"
#include "store/store_bundles.h"

static kiln_status get_bundles(kn_bundles **out)
{
    kn_build_state *state;
    kiln_status status = kn_build_state_get(&state);
    if (status != KILN_OK)
        return status;
    *out = kn_bundles_of(state);
    return *out ? KILN_OK : kn_error(KILN_ERROR_UNSUPPORTED, "the list of stores has no bundles");
}

kiln_status kiln_bundle_attach(const char *path)
{
    KN_UNCANCELLED;
    kn_bundles *bundles;
    kn_bundle *bundle;
    if (!path)
        return kn_error(KILN_ERROR_INVALID, "path is NULL; a bundle's file was expected");
    kiln_status status = get_bundles(&bundles);
    if (status == KILN_OK)
        status = kn_bundle_open(&bundle, path);
    return status == KILN_OK ? kn_bundles_add(bundles, bundle) : status;
}

static kiln_status attach_bytes(const void *bytes, size_t size,
                                kiln_status (*make)(kn_bundle **, const void *, size_t, const char *))
{
    kn_bundles *bundles;
    kn_bundle *bundle;
    char name[64];
    if (!bytes)
        return kn_error(KILN_ERROR_INVALID, "bytes is NULL; a bundle was expected");
    snprintf(name, sizeof name, "the bundle of %zu bytes in memory", size);
    kiln_status status = get_bundles(&bundles);
    if (status == KILN_OK)
        status = make(&bundle, bytes, size, name);
    return status == KILN_OK ? kn_bundles_add(bundles, bundle) : status;
}

kiln_status kiln_bundle_read_file(void **bytes, size_t *size, const char *path)
{
    kn_blob file = KN_BLOB_INIT;
    if (!bytes || !size || !path)
        return kn_error(KILN_ERROR_INVALID, "kiln_bundle_read_file: %s is NULL",
                        !bytes  ? "bytes"
                        : !size ? "size"
                                : "path");
    kiln_status status = kn_bundle_read_file(&file, path);
    if (status == KILN_OK) {
        *bytes = file.data;
        *size = file.size;
    }
    return status;
}

kiln_status kiln_bundle_attach_memory(const void *bytes, size_t size)
{
    KN_UNCANCELLED;
    return attach_bytes(bytes, size, kn_bundle_open_memory);
}

kiln_status kiln_bundle_attach_copy(const void *bytes, size_t size)
{
    KN_UNCANCELLED;
    return attach_bytes(bytes, size, kn_bundle_open_copy);
}
