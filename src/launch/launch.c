#include "launch/launch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "plan/kind.h"
#include "types/dtype.h"

enum { PLAIN_SHARED = 48 << 10 /* bytes of shared memory that a block has without asking */ };

/* One launch of the kernel over a part of the space. */
typedef struct piece {
    kn_launch launch;
    unsigned char *block;          /* the argument block, addresses and scalars missing */
    kn_walk *walk;                 /* host: where the space is not one run */
    int64_t offset[KN_MAX_PARAMS]; /* by parameter: bytes from its first address */
} piece;

/* Where the value of one parameter goes. */
typedef struct slot {
    int at;   /* in the block */
    int size; /* bytes of a scalar; 0: an address */
} slot;

struct kn_launch_plan {
    kn_function *function;
    const kn_backend *backend;
    int n_params, block_size;
    slot slot[KN_MAX_PARAMS];
    int n_pieces;
    piece *piece;
};

static void put_i64(unsigned char *block, int at, int64_t value)
{
    if (at >= 0)
        memcpy(block + at, &value, sizeof value);
}

static void put_pair(unsigned char *block, int at, int first, int second)
{
    uint32_t words[2] = {(uint32_t)first, (uint32_t)second};
    if (at >= 0)
        memcpy(block + at, words, sizeof words);
}

static void put_stride(unsigned char *to, int size, int64_t stride)
{
    int32_t narrow = (int32_t)stride;
    memcpy(to, size == 4 ? (const void *)&narrow : (const void *)&stride, (size_t)size);
}

/* Axes stand innermost first in the block. */
static void put_axes(unsigned char *block, const kn_layout *l, const kn_space *space, int rank)
{
    if (!space)
        return;
    put_pair(block, l->rank_at, rank, 0);
    for (int a = 0; a < space->ndim; ++a) {
        int from = space->ndim - 1 - a;
        unsigned char *to = block + l->axes_at + a * l->axis_size;
        kn_divider divider = kn_divider_make((uint32_t)space->extent[from]);
        memcpy(to, &divider, sizeof divider);
        for (int o = 0; o < space->n_operands; ++o)
            put_stride(to + sizeof divider + (size_t)(l->stride_size * o), l->stride_size,
                       space->stride[o][from]);
    }
}

static void put_raw(unsigned char *block, int at, int room, const kn_raw_shape *raw)
{
    put_i64(block, at + 8, raw->size);
    put_pair(block, at + 16, raw->ndim, 0);
    for (int a = 0; a < raw->ndim; ++a) {
        put_i64(block, at + KN_RAW_HEAD + 8 * a, raw->shape[a]);
        put_i64(block, at + KN_RAW_HEAD + 8 * (room + a), raw->strides[a]);
    }
}

static void put_logical(unsigned char *block, const kn_layout *l, const kn_launch_input *in)
{
    if (l->logical_at < 0)
        return;
    put_pair(block, l->logical_rank_at, in->logical_ndim, 0);
    for (int a = 0; a < in->logical_ndim; ++a)
        put_i64(block, l->logical_at + 8 * a, in->logical_shape[a]);
}

/* What every kind of kernel is told of its part. */
static void put_fixed(piece *p, const kn_launch_input *in, const kn_part *part)
{
    const kn_layout *l = part->layout;
    const kn_program *program = in->spec->program;
    int array = 0;
    put_i64(p->block, l->n_at, in->space->size);
    for (int k = 0; k < program->n_in + program->n_out; ++k) {
        const kn_operand *o = &in->spec->operand[k];
        if (o->pass == KN_PASS_ARRAY)
            p->offset[k] = part->space->offset[array++];
        else if (o->pass == KN_PASS_RAW)
            put_raw(p->block, l->param_at[k], o->raw_rank, &in->raw[k]);
    }
    if (l->start_at >= 0)
        put_i64(p->block, l->start_at, part->space->offset[array]);
    put_logical(p->block, l, in);
}

/* What the kind says. */
static void put_placement(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_placement *placed)
{
    put_i64(p->block, l->size_at, placed->size);
    memcpy(p->block + l->own_at, placed->field, (size_t)l->own_size);
    put_axes(p->block, l, placed->walked, placed->rank);
    p->walk = placed->walk;
    p->launch = (kn_launch){.grid = {placed->grid[0], placed->grid[1], placed->grid[2]},
                            .block = {placed->block, 1, 1},
                            .shared_bytes = placed->shared_bytes,
                            .block_size = (size_t)l->size,
                            .elements = placed->size,
                            .grain = placed->grain,
                            .is_dependent = in->spec->target.waits_for_kernels};
}

static kiln_status place_part(piece *p, const kn_launch_input *in, const kn_part *part)
{
    kn_placement *placed = kn_malloc(sizeof *placed);
    if (!placed)
        return kn_error_memory(sizeof *placed, "a launch plan");
    kiln_status status = kn_part_place(placed, part);
    if (status == KILN_OK)
        put_placement(p, in, part->layout, placed);
    if (status == KILN_OK && placed->shared_bytes > PLAIN_SHARED)
        status = in->device->backend->function_allow_shared(in->function, placed->shared_bytes);
    kn_free(placed);
    return status;
}

/* What pieces are added to, and from what. */
typedef struct adding {
    kn_launch_plan *plan;
    const kn_launch_input *input;
} adding;

static kiln_status add_piece(void *user, const kn_part *part)
{
    const adding *a = user;
    kn_launch_plan *plan = a->plan;
    piece *grown = kn_realloc(plan->piece, (size_t)(plan->n_pieces + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory((size_t)(plan->n_pieces + 1) * sizeof *grown, "a launch plan");
    plan->piece = grown;
    piece *p = &grown[plan->n_pieces];
    memset(p, 0, sizeof *p);
    p->block = kn_calloc(1, (size_t)part->layout->size);
    if (!p->block)
        return kn_error_memory((size_t)part->layout->size, "an argument block");
    ++plan->n_pieces;
    put_fixed(p, a->input, part);
    return place_part(p, a->input, part);
}

static void set_slots(kn_launch_plan *plan, const kn_spec *spec, const kn_layout *l)
{
    plan->n_params = spec->program->n_in + spec->program->n_out;
    for (int k = 0; k < plan->n_params; ++k) {
        const kn_operand *o = &spec->operand[k];
        plan->slot[k] = (slot){l->param_at[k], 0};
        if (o->pass == KN_PASS_SCALAR)
            plan->slot[k].size = kn_dtype_info_of(o->dtype)->size;
        else if (o->pass == KN_PASS_STRUCT)
            plan->slot[k].size = o->struct_size;
    }
}

kiln_status kn_launch_plan_create(kn_launch_plan **out, const kn_launch_input *input)
{
    kn_layout layout;
    kiln_status status = kn_layout_make(&layout, input->spec);
    if (status != KILN_OK)
        return status;
    kn_launch_plan *plan = kn_calloc(1, sizeof *plan);
    if (!plan)
        return kn_error_memory(sizeof *plan, "a launch plan");
    plan->function = input->function;
    plan->backend = input->device->backend;
    plan->block_size = layout.size;
    set_slots(plan, input->spec, &layout);
    const kn_part whole = {input->spec, &layout, input->figures, input->space, input->space};
    status = kn_part_each(&whole, add_piece, &(adding){plan, input});
    if (status != KILN_OK) {
        kn_launch_plan_free(plan);
        return status;
    }
    *out = plan;
    return KILN_OK;
}

void kn_launch_plan_free(kn_launch_plan *plan)
{
    if (!plan)
        return;
    for (int p = 0; p < plan->n_pieces; ++p) {
        kn_free(plan->piece[p].block);
        kn_walk_free(plan->piece[p].walk);
    }
    kn_free(plan->piece);
    kn_free(plan);
}

static kiln_status run_piece(const kn_launch_plan *plan, const piece *p, const void *const *value,
                             void *stream, unsigned char *block)
{
    memcpy(block, p->block, (size_t)plan->block_size);
    for (int k = 0; k < plan->n_params; ++k) {
        const slot *s = &plan->slot[k];
        if (s->size > 0) {
            memcpy(block + s->at, value[k], (size_t)s->size);
        } else {
            const char *address = (const char *)value[k] + p->offset[k];
            memcpy(block + s->at, &address, sizeof address);
        }
    }
    kn_launch launch = p->launch;
    launch.block_data = block;
    launch.walk = p->walk;
    return plan->backend->launch(plan->function, &launch, stream);
}

kiln_status kn_launch_plan_run(const kn_launch_plan *plan, const void *const *value, void *stream)
{
    _Alignas(16) unsigned char block[plan->block_size];
    for (int p = 0; p < plan->n_pieces; ++p) {
        kiln_status status = run_piece(plan, &plan->piece[p], value, stream, block);
        if (status != KILN_OK)
            return status;
    }
    return KILN_OK;
}
