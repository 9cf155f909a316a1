/* Globals of raw modules, as arrays. */

#include "array/array.h"
#include "base/alloc.h"
#include "base/error.h"
#include "module/module.h"
#include "module/module_names.h"
#include "space/shape.h"

static kiln_status find_global(kiln_module *module, const char *name, void **address, size_t *size)
{
    char *lowered = kn_module_lower(module, name);
    if (!lowered)
        return kn_error_memory("a global's name");
    kiln_status status = module->device->backend->module_global(module->loaded, lowered, address, size);
    kn_free(lowered);
    return kn_module_explain_missing(status, module, name, "global");
}

static kiln_status wrap_global(kiln_array **out, kiln_module *module, void *address,
                               const kiln_array_spec *spec)
{
    atomic_fetch_add(&module->references, 1);
    kiln_status status = kiln_array_wrap(out, address, spec, kn_module_release, module);
    if (status != KILN_OK)
        kn_module_release(module);
    return status;
}

kiln_status kiln_module_global(kiln_array **out, kiln_module *module, const char *name, kiln_dtype dtype,
                               int ndim, const int64_t *shape)
{
    kiln_array_spec spec = KILN_ARRAY_SPEC_INIT;
    void *address = NULL;
    size_t size = 0, item = kiln_dtype_size(dtype);
    kiln_status status = kn_module_check_names(out, module, name, "kiln_module_global");
    if (status == KILN_OK && item == 0)
        status = kn_error(KILN_ERROR_TYPE, "kiln_module_global: dtype %d is no dtype", (int)dtype);
    if (status != KILN_OK || item == 0)
        return status;
    status = find_global(module, name, &address, &size);
    if (status != KILN_OK)
        return status;
    int64_t whole = (int64_t)(size / item);
    spec.dtype = dtype;
    spec.ndim = ndim;
    spec.shape = shape || ndim != 1 ? shape : &whole;
    spec.device = module->device->id;
    status = kn_array_check_shape(dtype, ndim, spec.shape);
    if (status != KILN_OK)
        return status;
    int64_t wanted = kn_shape_size(ndim, spec.shape);
    if (wanted < 0 || (size_t)wanted > size / item)
        return kn_error(KILN_ERROR_SHAPE,
                        "global \"%s\" of module \"%s\" holds %zu bytes, %lld elements of %s were asked for",
                        name, module->name, size, (long long)wanted, kiln_dtype_name(dtype));
    return wrap_global(out, module, address, &spec);
}
