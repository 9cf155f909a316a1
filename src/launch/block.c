/* Writes the argument block of a launch. */
#include "launch/block.h"

#include <string.h>

static void put_i64(unsigned char *block, int at, int64_t value)
{
    if (at >= 0)
        memcpy(block + at, &value, sizeof value);
}

static void put_stride(unsigned char *to, int size, int64_t stride)
{
    int32_t narrow = (int32_t)stride;
    memcpy(to, size == 4 ? (const void *)&narrow : (const void *)&stride, (size_t)size);
}

/* An extent: with a divider if it is below 2^31, otherwise as 64 bits. */
static void put_extent(unsigned char *to, int size, int64_t extent)
{
    if (size == sizeof extent) {
        memcpy(to, &extent, sizeof extent);
        return;
    }
    kn_divider divider = kn_divider_make((uint32_t)extent);
    memcpy(to, &divider, sizeof divider);
}

/* The block has the innermost axis first. */
static void put_axes(unsigned char *block, const kn_layout *l, const kn_space *space, int rank)
{
    if (!space)
        return;
    put_i64(block, l->rank_at, rank);
    for (int a = 0; a < space->ndim; ++a) {
        int from = space->ndim - 1 - a;
        unsigned char *to = block + l->axes_at + a * l->axis_size;
        put_extent(to, l->extent_size, space->extent[from]);
        for (int o = 0; o < space->n_operands; ++o)
            put_stride(to + l->extent_size + l->stride_size * o, l->stride_size, space->stride[o][from]);
    }
}

static void put_raw(unsigned char *block, int at, int capacity, const kn_raw_shape *raw)
{
    put_i64(block, at + 8, raw->size);
    put_i64(block, at + 16, raw->ndim);
    for (int a = 0; a < raw->ndim; ++a) {
        put_i64(block, at + KN_RAW_HEAD + 8 * a, raw->shape[a]);
        put_i64(block, at + KN_RAW_HEAD + 8 * (capacity + a), raw->strides[a]);
    }
}

static void put_logical(unsigned char *block, const kn_layout *l, const kn_launch_input *in)
{
    if (l->logical_at < 0)
        return;
    put_i64(block, l->logical_rank_at, in->logical_ndim);
    for (int a = 0; a < in->logical_ndim; ++a)
        put_i64(block, l->logical_at + 8 * a, in->logical_shape[a]);
}

/* Writes the fields that every kind of kernel needs of a part. */
static void put_part(unsigned char *block, const kn_launch_input *in, const kn_part *part)
{
    const kn_layout *l = part->layout;
    const kn_program *program = in->spec->program;
    put_i64(block, l->n_at, in->space->size);
    for (int k = 0; k < program->n_in + program->n_out; ++k)
        if (in->spec->operand[k].pass == KN_PASS_RAW)
            put_raw(block, l->param_at[k], in->spec->operand[k].raw_rank, &in->raw[k]);
    if (l->start_at >= 0) /* the indices are behind the arrays */
        put_i64(block, l->start_at, part->space->offset[in->spec->n_arrays]);
    if (l->reduction_start_at >= 0)
        put_i64(block, l->reduction_start_at, part->space->offset[part->space->n_operands - 1]);
    put_i64(block, l->results_at, kn_space_output_size(in->space));
    put_logical(block, l, in);
}

void kn_block_fill(unsigned char *block, const kn_launch_input *in, const kn_part *part,
                   const kn_placement *placed)
{
    put_part(block, in, part);
    put_i64(block, part->layout->size_at, placed->size);
    memcpy(block + part->layout->own_at, placed->field, (size_t)part->layout->own_size);
    put_axes(block, part->layout, placed->kernel_space, placed->rank);
    if (part->layout->in_order_at >= 0)
        memcpy(block + part->layout->in_order_at, &part->spec->schedule.kind->in_order,
               sizeof part->spec->schedule.kind->in_order);
}
