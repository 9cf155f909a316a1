/* The elements of an input along some axes as rows that can be sorted: a view, or a copy. */
#include <string.h>

#include "base/error.h"
#include "kernel/sort_rows.h"
#include "space/shape.h"

/* The axes that are left, then the others. */
static int order_axes(int *order, int ndim, uint64_t along)
{
    int count = 0;
    for (int pass = 0; pass < 2; ++pass)
        for (int a = 0; a < ndim; ++a)
            if ((along >> a & 1) == (uint64_t)pass)
                order[count++] = a;
    return count;
}

/* The stride of all elements along axes from `first` on; false: they have none in common. */
static bool merge(int64_t *out, int ndim, const int64_t *shape, const int64_t *strides, int first)
{
    int64_t next = 0; /* the stride that the next axis has to have; of a broadcast one it is 0 as well */
    bool is_one = true, is_first = true;
    *out = 0;
    for (int a = ndim; a-- > first;) {
        if (shape[a] == 1)
            continue;
        is_one = is_one && (is_first || strides[a] == next);
        *out = is_first ? strides[a] : *out;
        is_first = false;
        next = strides[a] * shape[a];
    }
    return is_one;
}

static kiln_status copy_rows(kn_sort_rows *r, kn_lowered *out, const kn_lowering_call *call, int ndim,
                             const int64_t *shape, const int64_t *strides, const kiln_kernel *copy)
{
    const kn_source from = r->source;
    kn_lowered_part *part;
    kiln_status status =
        kn_lowered_add_source(&r->source, out, (size_t)(r->rows * r->length) * kiln_dtype_size(r->dtype));
    if (status == KILN_OK)
        status = kn_lowered_add_kernel(&part, out, copy);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &from, r->dtype, ndim, shape, strides);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 1, call, &r->source, r->dtype, ndim, shape, NULL);
    kn_shape_c_strides(r->ndim, r->shape, (int64_t)kiln_dtype_size(r->dtype), r->strides);
    return status;
}

kiln_status kn_sort_rows_find(kn_sort_rows *r, kn_lowered *out, const kn_lowering_call *call, int k,
                              uint64_t along, const kiln_kernel *copy)
{
    const kiln_array *x = call->in[k].value.array;
    int64_t shape[KILN_MAX_NDIM], strides[KILN_MAX_NDIM];
    int order[KILN_MAX_NDIM], n_left = 0;
    order_axes(order, x->ndim, along);
    *r = (kn_sort_rows){
        .source = {.kind = KN_FROM_INPUT, .index = k}, .dtype = x->dtype, .rows = 1, .length = 1};
    for (int a = 0; a < x->ndim; ++a) {
        bool is_left = !(along >> order[a] & 1);
        shape[a] = x->shape[order[a]];
        strides[a] = x->strides[order[a]];
        n_left += is_left;
        *(is_left ? &r->rows : &r->length) *= shape[a];
    }
    r->ndim = n_left + 1;
    memcpy(r->shape, shape, (size_t)n_left * sizeof *shape);
    memcpy(r->strides, strides, (size_t)n_left * sizeof *strides);
    r->shape[n_left] = r->length;
    return merge(&r->strides[n_left], x->ndim, shape, strides, n_left) || r->rows * r->length == 0
               ? KILN_OK
               : copy_rows(r, out, call, x->ndim, shape, strides, copy);
}

kiln_status kn_sort_rows_copy_create(kiln_kernel **out)
{
    return kiln_elementwise_create(out, "T x", "T y", "y = x", "rows", NULL);
}

kiln_status kn_sort_rows_add(kn_lowered *out, const kn_sort_rows *r, const kn_lowering_call *call,
                             const kiln_kernel *sort, const kn_source *to, const kiln_dtype *dtype, int n_out)
{
    kn_lowered_part *part;
    kiln_status status = kn_lowered_add_kernel(&part, out, sort);
    if (status == KILN_OK)
        status = kn_lowered_bind(part, 0, call, &r->source, r->dtype, r->ndim, r->shape, r->strides);
    for (int j = 0; j < n_out && status == KILN_OK; ++j)
        status = kn_lowered_bind(part, 1 + j, call, &to[j], dtype[j], r->ndim, r->shape, NULL);
    return status;
}
