/* Kernels of our own that arrays on CUDA devices are copied, filled and counted up by; installed in the array
 * layer when the library is loaded. */
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/lock.h"
#include "base/unload.h"
#include "types/dtype.h"

typedef enum own_kernel { COPY, FILL, RANGE_WHOLE, RANGE_NARROW, RANGE_DOUBLE, OWN_KERNELS } own_kernel;

static const struct {
    const char *in, *out, *body, *name;
} definitions[OWN_KERNELS] = {
    [COPY] = {"T x", "T y", "y = x", "copy"},
    [FILL] = {"T value", "T y", "y = value", "fill"},
    [RANGE_WHOLE] = {"uint64 first, uint64 delta", "T y", "y = (T)(first + (uint64)i * delta)", "range"},
    [RANGE_NARROW] = {"float32 first, float32 second, float32 delta", "T y",
                      "y = (T)(i < 2 ? (i ? second : first) : first + (float)i * delta)", "range_narrow"},
    [RANGE_DOUBLE] = {"float64 first, float64 second, float64 delta", "T y",
                      "y = (T)(i < 2 ? (i ? second : first) : first + (double)i * delta)", "range_double"},
};
static kiln_kernel *kernels[OWN_KERNELS];
/* By whether numbers are complex, and by the dtype that they are converted to. */
static kiln_kernel *converting[2][KN_DTYPE_END];

/* Made at first use. Ranges without contraction, so that they have the bits that the host gives them. */
static kiln_status get_kernel(kiln_kernel **out, own_kernel which)
{
    kiln_kernel_options options = KILN_KERNEL_OPTIONS_INIT;
    kiln_status status = KILN_OK;
    options.flags = which == COPY || which == FILL ? 0 : KILN_KERNEL_NO_FMA;
    kn_lock_take(KN_LOCK_OWN_KERNELS);
    if (!kernels[which])
        status = kiln_elementwise_create(&kernels[which], definitions[which].in, definitions[which].out,
                                         definitions[which].body, definitions[which].name, &options);
    *out = kernels[which];
    kn_lock_give(KN_LOCK_OWN_KERNELS);
    return status;
}

static kiln_status bits_view(kiln_array **out, const kiln_array *a)
{
    kiln_status status = kn_array_view(out, a, a->data, a->ndim, a->shape, a->strides);
    if (status == KILN_OK)
        (*out)->dtype = kn_dtype_of_bits(a->item_size);
    return status;
}

/* kiln_kernel_last_call speaks of the user's calls alone. */
static kiln_status call_unseen(kiln_kernel *kernel, kiln_array **to, const kiln_arg *in, int n_in,
                               kiln_stream *stream)
{
    kiln_call_info before = KILN_CALL_INFO_INIT;
    kiln_call_options options = KILN_CALL_OPTIONS_INIT;
    options.stream = stream;
    KILN_IGNORE(kiln_kernel_last_call(&before)); /* its struct is right */
    kiln_status status = kiln_kernel_call(kernel, to, 1, in, n_in, &options);
    kn_build_info info = {.origin = before.origin,
                          .generate_ms = before.generate_ms,
                          .compile_ms = before.compile_ms,
                          .cache_ms = before.cache_ms,
                          .load_ms = before.load_ms,
                          .code_bytes = before.code_bytes};
    kn_call_set_info(&info, before.device);
    if (status == KILN_ERROR_CAPTURE) /* the user does not know this kernel's name */
        return kn_error_context("the kernel %s, which this call needs for its arrays",
                                kiln_kernel_name(kernel));
    return status;
}

static kiln_status call_own(own_kernel which, kiln_array *to, const kiln_arg *in, int n_in,
                            kiln_stream *stream)
{
    kiln_kernel *kernel = NULL;
    kiln_status status = get_kernel(&kernel, which);
    return status == KILN_OK ? call_unseen(kernel, &to, in, n_in, stream) : status;
}

static kiln_status get_converting(kiln_kernel **out, bool is_complex, kiln_dtype to)
{
    const kn_dtype_info *info = kn_dtype_info_of(to);
    char result[32], body[64];
    kiln_status status = KILN_OK;
    snprintf(result, sizeof result, "%s y", kiln_dtype_name(to));
    snprintf(body, sizeof body,
             info->kind == KN_KIND_BOOL      ? is_complex ? "y = x.re != 0 || x.im != 0" : "y = x != (T)0"
             : info->kind == KN_KIND_COMPLEX ? "y = %s(x)"
             : is_complex                    ? "y = (%s)x.re"
                                             : "y = (%s)x",
             info->c_name);
    kn_lock_take(KN_LOCK_OWN_KERNELS);
    kiln_kernel **kernel = &converting[is_complex][to];
    if (!*kernel)
        status = kiln_elementwise_create(kernel, "T x", result, body, "astype", NULL);
    *out = *kernel;
    kn_lock_give(KN_LOCK_OWN_KERNELS);
    return status;
}

kiln_status kn_array_kernel_converting(kiln_kernel **out, kiln_dtype from, kiln_dtype to)
{
    return get_converting(out, kn_dtype_info_of(from)->kind == KN_KIND_COMPLEX, to);
}

kiln_status kn_array_kernel_copying(kiln_kernel **out)
{
    return get_kernel(out, COPY);
}

kiln_status kn_array_kernel_filling(kiln_kernel **out)
{
    return get_kernel(out, FILL);
}

kiln_status kn_array_kernel_counting(kiln_kernel **out, bool is_whole, bool is_narrow)
{
    return get_kernel(out, is_whole ? RANGE_WHOLE : is_narrow ? RANGE_NARROW : RANGE_DOUBLE);
}

static kiln_status convert(kiln_array **out, const kiln_array *from, kiln_dtype dtype)
{
    kiln_kernel *kernel = NULL;
    kiln_array *made = NULL;
    const kiln_arg in = kiln_arg_array(from);
    kiln_status status = kn_array_kernel_converting(&kernel, from->dtype, dtype);
    if (status == KILN_OK)
        status = call_unseen(kernel, &made, &in, 1, NULL);
    if (status == KILN_OK)
        *out = made;
    return status;
}

static kiln_status copy_strided(kiln_array *to, const kiln_array *from, kiln_stream *stream)
{
    kiln_array *source = NULL, *target = NULL;
    kiln_status status = bits_view(&source, from);
    if (status == KILN_OK)
        status = bits_view(&target, to);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_array(source);
        status = call_own(COPY, target, &in, 1, stream);
    }
    kiln_array_free(source);
    kiln_array_free(target);
    return status;
}

static kiln_status prepare_copy(const kiln_array *from)
{
    kiln_array *source = NULL, *nothing = NULL;
    kiln_kernel *kernel = NULL;
    kiln_status status = get_kernel(&kernel, COPY);
    if (status == KILN_OK)
        status = bits_view(&source, from);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_array(source);
        status = kiln_kernel_prepare(kernel, &nothing, 1, &in, 1, NULL, NULL);
    }
    kiln_array_free(source);
    return status;
}

static kiln_status fill(kiln_array *to, const void *value, kiln_stream *stream)
{
    kiln_array *target = NULL;
    kiln_status status = bits_view(&target, to);
    if (status == KILN_OK) {
        kiln_arg in = kiln_arg_typed(target->dtype, value);
        status = call_own(FILL, target, &in, 1, stream);
    }
    kiln_array_free(target);
    return status;
}

static kiln_status range(kiln_array *to, const kn_range *r, kiln_stream *stream)
{
    if (r->is_whole) {
        kiln_arg in[] = {kiln_arg_uint(r->first), kiln_arg_uint(r->delta)};
        return call_own(RANGE_WHOLE, to, in, 2, stream);
    }
    kiln_arg in[] = {kiln_arg_float(r->start), kiln_arg_float(r->second), kiln_arg_float(r->step)};
    return call_own(r->is_narrow ? RANGE_NARROW : RANGE_DOUBLE, to, in, 3, stream);
}

/* Not static: programs that link the layers by themselves ask for this file by its name. */
extern const kn_array_kernels kn_own_array_kernels;
const kn_array_kernels kn_own_array_kernels = {
    .copy = copy_strided, .prepare_copy = prepare_copy, .fill = fill, .range = range, .convert = convert};

__attribute__((constructor)) static void install(void)
{
    kn_array_set_kernels(&kn_own_array_kernels);
}

__attribute__((destructor(KN_UNLOAD_KERNEL))) static void unload(void)
{
    for (int k = 0; k < OWN_KERNELS && !kn_unload_is_exit(); ++k) {
        kiln_kernel_free(kernels[k]);
        kernels[k] = NULL;
    }
    for (int k = 0; k < 2 * KN_DTYPE_END && !kn_unload_is_exit(); ++k) {
        kiln_kernel **kernel = &converting[k % 2][k / 2];
        kiln_kernel_free(*kernel);
        *kernel = NULL;
    }
}
