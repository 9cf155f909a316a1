/* Strided copies between arrays of one device, by kernels of our own; installed in the array layer when the
 * library is loaded. */
#include "kernel/kernel.h"

#include <pthread.h>
#include <string.h>

#include "base/error.h"

static kiln_kernel *copy_kernel;
static kiln_status copy_status;

static void make_copy_kernel(void)
{
    copy_status = kiln_elementwise_create(&copy_kernel, "T x", "T y", "y = x", "copy", NULL);
}

/* Elements move as bits: one binary a size rather than one a dtype. */
static kiln_dtype bits_dtype(int item_size)
{
    static const struct {
        int size;
        kiln_dtype dtype;
    } bits[] = {{1, KILN_UINT8}, {2, KILN_UINT16}, {4, KILN_UINT32}, {8, KILN_UINT64}};
    for (size_t b = 0; b < sizeof bits / sizeof bits[0]; ++b)
        if (bits[b].size == item_size)
            return bits[b].dtype;
    return KILN_COMPLEX128;
}

static kiln_status bits_view(kiln_array **out, kiln_array *a)
{
    kiln_status status = kn_array_view(out, a, a->data, a->ndim, a->shape, a->strides);
    if (status == KILN_OK)
        (*out)->dtype = bits_dtype(a->item_size);
    return status;
}

static kiln_status copy_strided(kiln_array *to, kiln_array *from, kiln_stream *stream)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    kiln_array *source = NULL, *target = NULL;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.stream = stream;
    pthread_once(&once, make_copy_kernel);
    if (copy_status != KILN_OK)
        return kn_error(copy_status, "the kernel that copies strided arrays could not be made");
    kiln_status status = bits_view(&source, from);
    if (status == KILN_OK)
        status = bits_view(&target, to);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_array(source);
        status = kiln_kernel_call(copy_kernel, &target, 1, &in, 1, &options);
    }
    kiln_array_free(source);
    kiln_array_free(target);
    return status;
}

__attribute__((constructor)) static void install_copy(void)
{
    kn_array_set_copy_function(copy_strided);
}
