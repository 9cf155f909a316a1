/* An exclusive scan by three launches, with two buffers between them. */
#include "toy_algorithms.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernel/algorithm.h"

enum { SUMS, OFFSETS, ELEMENTS, KERNELS };

typedef struct scan {
    kiln_kernel *kernel[KERNELS];
} scan;

static kiln_status describe(kn_described *out, const void *context, int j, const kn_described *in)
{
    (void)context, (void)j;
    if (in->is_number || in->ndim != 1)
        return kn_error(KILN_ERROR_SHAPE, "toy_scan: 'x' has %d axes; an array of one was expected",
                        in->ndim);
    if (in->dtype == KILN_BOOL)
        return kn_error(KILN_ERROR_TYPE, "toy_scan: 'x' is bool; numbers were expected");
    out->dtype = in->dtype;
    out->ndim = 1;
    out->shape[0] = in->shape[0];
    return KILN_OK;
}

/* The operands of all parts. */
typedef struct chunks {
    const kn_lowering_call *call;
    const kiln_array *x;
    int64_t count;
    kn_source sums, offsets;
} chunks;

static kiln_status bind_x(kn_lowered_part *part, const chunks *c)
{
    const kn_source x = {.kind = KN_FROM_INPUT};
    return kn_lowered_bind(part, 0, c->call, &x, c->x->dtype, 1, c->x->shape, c->x->strides);
}

static kiln_status bind_chunks(kn_lowered_part *part, int k, const chunks *c, const kn_source *source)
{
    return kn_lowered_bind(part, k, c->call, source, c->x->dtype, 1, &c->count, NULL);
}

static kiln_status add_sums(kn_lowered *out, const scan *s, const chunks *c)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->kernel[SUMS]);
    if (status == KILN_OK)
        status = bind_x(part, c);
    return status == KILN_OK ? bind_chunks(part, 1, c, &c->sums) : status;
}

static kiln_status add_offsets(kn_lowered *out, const scan *s, const chunks *c)
{
    static const int64_t once = 1;
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->kernel[OFFSETS]);
    if (status == KILN_OK)
        status = bind_chunks(part, 0, c, &c->sums);
    if (status == KILN_OK)
        status = bind_chunks(part, 1, c, &c->offsets);
    if (status == KILN_OK)
        kn_lowered_set_shape(part, 1, &once);
    return status;
}

static kiln_status add_elements(kn_lowered *out, const scan *s, const chunks *c)
{
    kn_lowered_part *part;
    const kn_source y = {.kind = KN_FROM_OUTPUT};
    const kiln_array *given = c->call->out ? c->call->out[0] : NULL;
    kiln_status status = kn_lowered_add_kernel(&part, out, s->kernel[ELEMENTS]);
    if (status == KILN_OK)
        status = bind_x(part, c);
    if (status == KILN_OK)
        status = bind_chunks(part, 1, c, &c->offsets);
    if (status == KILN_OK)
        status =
            kn_lowered_bind(part, 2, c->call, &y, c->x->dtype, 1, c->x->shape, given ? given->strides : NULL);
    if (status == KILN_OK)
        kn_lowered_set_shape(part, 1, &c->count);
    return status;
}

static kiln_status lower(kn_lowered *out, const void *context, const kn_lowering_call *call)
{
    const kiln_array *x = call->in[0].value.array;
    chunks c = {
        call, x, (x->size + TOY_CHUNK - 1) / TOY_CHUNK, {.kind = KN_FROM_BUFFER}, {.kind = KN_FROM_BUFFER}};
    size_t bytes = (size_t)c.count * (size_t)x->item_size;
    if (x->size == 0)
        return KILN_OK;
    kiln_status status = kn_lowered_add_buffer(&c.sums.index, out, bytes);
    if (status == KILN_OK)
        status = kn_lowered_add_buffer(&c.offsets.index, out, bytes);
    if (status == KILN_OK)
        status = add_sums(out, context, &c);
    if (status == KILN_OK)
        status = add_offsets(out, context, &c);
    return status == KILN_OK ? add_elements(out, context, &c) : status;
}

static void release(void *context)
{
    scan *s = context;
    for (int k = 0; k < KERNELS; ++k)
        kiln_kernel_free(s->kernel[k]);
    kn_free(s);
}

static const kn_algorithm algorithm = {.describe = describe, .lower = lower, .free = release};

kiln_status toy_scan_create(kiln_kernel **out)
{
    static const char *const x = "x", *const y = "y";
    scan *s = kn_calloc(1, sizeof *s);
    kn_program *prototype = NULL;
    if (!s)
        return kn_error_memory("toy_scan");
    kiln_status status = kiln_elementwise_create(
        &s->kernel[SUMS], "raw T x", "T sum",
        "T a = 0; for (long long k = i * 1000; k < (i + 1) * 1000 && k < x.size(); ++k) a += x[k]; sum = a",
        "toy_sums", NULL);
    if (status == KILN_OK)
        status = kiln_elementwise_create(
            &s->kernel[OFFSETS], "raw T sum", "raw T offset",
            "T a = 0; for (long long k = 0; k < sum.size(); ++k) { offset[k] = a; a += sum[k]; }",
            "toy_offsets", NULL);
    if (status == KILN_OK)
        status = kiln_elementwise_create(&s->kernel[ELEMENTS], "raw T x, raw T offset", "raw T y",
                                         "T a = offset[i]; for (long long k = i * 1000; k < (i + 1) * 1000 "
                                         "&& k < x.size(); ++k) { const T e = x[k]; y[k] = a; a += e; }",
                                         "toy_elements", NULL);
    if (status == KILN_OK)
        status = kn_prototype_create(&prototype, "toy_scan", &x, 1, &y, 1);
    if (status != KILN_OK) {
        release(s);
        return status;
    }
    return kn_kernel_create_algorithm(out, prototype, &algorithm, s);
}
