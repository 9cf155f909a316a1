#include "launch/launch.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "device/host_walk.h"
#include "plan/cost.h"
#include "plan/windows.h"
#include "types/dtype.h"

/* A launch stays below this many elements where indices are 32 bits wide; larger spaces are cut. */
#define MAX_PIECE (INT64_C(0x7fffffff) - 0xffff)
enum { PLAIN_SHARED = 48 << 10 /* bytes of shared memory without asking */ };
enum { PIECE_ALIGN = 4096, HOST_GRAIN = 1 << 16 };
enum { STRIPE_WIDTH = 32, STRIPE_LEAST = 128, STRIPE_BLOCKS = 65535 /* along the second axis of a grid */ };

/* One launch of the kernel over a part of the space. */
typedef struct piece {
    kn_launch launch;
    unsigned char *block;          /* the argument block, addresses and scalars missing */
    kn_host_walk *walk;            /* host: where the space is not one run */
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

static void set_launch(kn_launch *launch, const kn_launch_input *in, int64_t elements, int skew)
{
    const kn_schedule *s = &in->spec->schedule;
    *launch = (kn_launch){.grid = {1, 1, 1}, .block = {1, 1, 1}, .elements = elements};
    if (in->spec->target.backend == KN_HOST) {
        launch->grain = HOST_GRAIN / (1 + 2 * kn_cost_functions(in->spec->program)) + 1;
        return;
    }
    int64_t per_block = (int64_t)s->block * s->vector;
    launch->is_dependent = in->spec->target.compute_capability >= KN_DEPENDENT_CAPABILITY;
    launch->block[0] = (unsigned)s->block;
    launch->grid[0] = (unsigned)((elements + skew + per_block - 1) / per_block);
}

/* A block a tile. */
static void set_tile_launch(kn_launch *launch, const kn_launch_input *in, const kn_space *tiles)
{
    int64_t blocks = 1;
    for (int a = KN_TILE_AXES; a < tiles->ndim; ++a)
        blocks *= tiles->extent[a];
    launch->block[0] =
        (unsigned)(in->shape->p.vectors * in->shape->p.steps * in->shape->q.vectors * in->shape->q.steps);
    launch->grid[0] = (unsigned)blocks;
    launch->shared_bytes = (unsigned)in->shape->shared_bytes;
}

/* More shared memory than a kernel has without asking. */
static kiln_status allow_shared(const kn_launch_input *in, unsigned bytes)
{
    return bytes > PLAIN_SHARED ? in->device->backend->function_allow_shared(in->function, bytes) : KILN_OK;
}

/* Results of this piece off a vector's boundary: by what the whole space's are, and what the piece begins
 * later. */
static int piece_skew(const kn_launch_input *in, const kn_space *space)
{
    int array = 0, vector = in->spec->schedule.vector;
    for (int k = 0; k < in->spec->program->n_in + in->spec->program->n_out; ++k) {
        if (in->spec->operand[k].pass != KN_PASS_ARRAY)
            continue;
        if (k >= in->spec->program->n_in && in->spec->schedule.access[array] == KN_DENSE) {
            int64_t later = (space->offset[array] - in->space->offset[array]) /
                            kn_dtype_info_of(in->spec->operand[k].dtype)->size;
            return (int)((in->shape->skew + later) % vector);
        }
        ++array;
    }
    return in->shape->skew;
}

/* Whether two inputs at least are gathered beside dense results. */
static bool may_share_rows(const kn_schedule *s)
{
    const char *first = strchr(s->access, KN_GATHER);
    return s->kind == KN_ROWS && s->vector > 1 && strchr(s->access, KN_DENSE) && first &&
           strchr(first + 1, KN_GATHER);
}

/* Neighbouring rows are often read twice: a block then takes 32 vectors of several rows that lie one under the other, so that they meet in its cache. Vectors from one row to
 * the next; 0 where rows are short or many, and blocks go along. */
static int64_t set_stripes(kn_launch *launch, const kn_launch_input *in, const kn_space *space, int skew)
{
    const kn_schedule *s = &in->spec->schedule;
    int64_t inner = space->extent[space->ndim - 1], stripe = (inner + s->vector / 2) / s->vector;
    int64_t rows = stripe > 0 ? (space->size + skew + stripe * s->vector - 1) / (stripe * s->vector) : 0;
    int64_t height = s->block / STRIPE_WIDTH, blocks = (rows + height - 1) / height;
    if (!may_share_rows(s) || space->ndim < 2 || stripe < STRIPE_LEAST || blocks > STRIPE_BLOCKS ||
        (blocks + 1) * height * stripe * s->vector > MAX_PIECE)
        return 0;
    launch->grid[0] = (unsigned)((stripe + STRIPE_WIDTH - 1) / STRIPE_WIDTH);
    launch->grid[1] = (unsigned)blocks;
    return stripe;
}

/* The host's kernels know runs: one call goes over all, or a walk makes runs of what is none. */
static kiln_status put_walk(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space)
{
    kn_walk_operand operand[KN_MAX_OPERANDS];
    int count = 0;
    bool is_run = in->spec->schedule.kind == KN_FLAT && space->ndim == 1;
    for (int k = 0; k < in->spec->program->n_in + in->spec->program->n_out; ++k) {
        const kn_operand *o = &in->spec->operand[k];
        if (o->pass != KN_PASS_ARRAY)
            continue;
        int item_size = kn_dtype_info_of(o->dtype)->size;
        is_run = is_run && space->stride[count][0] == item_size;
        operand[count] = (kn_walk_operand){k < in->spec->program->n_in ? KN_WALK_INPUT : KN_WALK_OUTPUT,
                                           l->param_at[k], item_size, space->stride[count]};
        ++count;
    }
    if (l->start_at >= 0) {
        bool counts_up = in->spec->schedule.kind == KN_FLAT;
        operand[count] = (kn_walk_operand){counts_up ? KN_WALK_COUNT : KN_WALK_INDICES, l->start_at,
                                           counts_up ? 1 : 8, space->stride[count]};
        ++count;
    }
    return is_run ? KILN_OK : kn_host_walk_create(&p->walk, space->ndim, space->extent, operand, count);
}

/* ---- how each kind of kernel walks the space: the axes that it is given. `walked` is room for another space ---- */

static kiln_status put_tiles(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space,
                             kn_space *tiles)
{
    kn_schedule_tile_space(tiles, space, &in->spec->schedule, in->shape);
    put_axes(p->block, l, tiles, tiles->ndim - KN_TILE_AXES);
    kn_tile tile = kn_tile_make(in->shape);
    memcpy(p->block + l->tile_at, &tile, sizeof tile);
    set_tile_launch(&p->launch, in, tiles);
    return allow_shared(in, p->launch.shared_bytes);
}

/* A block a box. */
static kiln_status put_windows(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space,
                               kn_space *boxes)
{
    kn_access access[KN_MAX_PARAMS];
    int count = 0, shared_bytes;
    kn_windows windows;
    for (int k = 0; k < in->spec->program->n_in + in->spec->program->n_out; ++k)
        if (in->spec->operand[k].pass == KN_PASS_ARRAY)
            access[count++] = (kn_access){.item_size = kn_dtype_info_of(in->spec->operand[k].dtype)->size,
                                          .is_output = k >= in->spec->program->n_in};
    kn_windows_make(&windows, boxes, &shared_bytes, space, &in->spec->schedule, access, in->shape->tile_axis);
    put_axes(p->block, l, boxes, boxes->ndim);
    memcpy(p->block + l->windows_at, &windows, sizeof windows);
    p->launch.grid[0] = (unsigned)kn_windows_count(boxes);
    p->launch.shared_bytes = (unsigned)shared_bytes;
    return allow_shared(in, p->launch.shared_bytes);
}

/* A thread a vector, for all its steps. */
static kiln_status put_steps(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space,
                             kn_space *steps)
{
    kn_schedule_steps_space(steps, space, in->shape);
    put_axes(p->block, l, steps, steps->ndim - 1);
    put_i64(p->block, l->size_at, steps->size);
    set_launch(&p->launch, in, steps->size, 0);
    p->launch.block_size = (size_t)l->size;
    return KILN_OK;
}

/* A thread a vector, or an element. */
static kiln_status put_rows(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space,
                            kn_space *walked)
{
    const kn_space *rows = kn_schedule_rows_space(walked, space, &in->spec->schedule);
    put_axes(p->block, l, rows, rows->ndim);
    return KILN_OK;
}

typedef kiln_status put_axes_function(piece *p, const kn_launch_input *in, const kn_layout *l,
                                      const kn_space *space, kn_space *walked);
static put_axes_function *const put_axes_of[KN_SCHEDULE_KINDS] = {[KN_ROWS] = put_rows,
                                                                  [KN_STRIDED] = put_rows,
                                                                  [KN_STEPS] = put_steps,
                                                                  [KN_TILE] = put_tiles,
                                                                  [KN_WINDOWS] = put_windows};

static kiln_status put_walked(piece *p, const kn_launch_input *in, const kn_layout *l, const kn_space *space)
{
    kn_space *walked = kn_malloc(sizeof *walked);
    if (!walked)
        return kn_error_memory(sizeof *walked, "a launch plan");
    kiln_status status = put_axes_of[in->spec->schedule.kind](p, in, l, space, walked);
    kn_free(walked);
    return status;
}

static kiln_status add_piece(kn_launch_plan *plan, const kn_launch_input *in, const kn_layout *l,
                             const kn_space *space)
{
    piece *grown = kn_realloc(plan->piece, (size_t)(plan->n_pieces + 1) * sizeof *grown);
    if (!grown)
        return kn_error_memory((size_t)(plan->n_pieces + 1) * sizeof *grown, "a launch plan");
    plan->piece = grown;
    piece *p = &grown[plan->n_pieces];
    memset(p, 0, sizeof *p);
    p->block = kn_calloc(1, (size_t)l->size);
    if (!p->block)
        return kn_error_memory((size_t)l->size, "an argument block");
    ++plan->n_pieces;

    const kn_program *program = in->spec->program;
    int array = 0;
    put_i64(p->block, l->size_at, space->size);
    put_i64(p->block, l->n_at, in->space->size);
    for (int k = 0; k < program->n_in + program->n_out; ++k) {
        const kn_operand *o = &in->spec->operand[k];
        if (o->pass == KN_PASS_ARRAY)
            p->offset[k] = space->offset[array++];
        else if (o->pass == KN_PASS_RAW)
            put_raw(p->block, l->param_at[k], o->raw_rank, &in->raw[k]);
    }
    if (l->start_at >= 0)
        put_i64(p->block, l->start_at, space->offset[array]);
    put_logical(p->block, l, in);
    int skew = l->skew_at >= 0 ? piece_skew(in, space) : 0;
    set_launch(&p->launch, in, space->size, skew);
    p->launch.block_size = (size_t)l->size;
    if (in->spec->target.backend == KN_HOST)
        return put_walk(p, in, l, space);
    put_pair(p->block, l->skew_at, skew, (int)set_stripes(&p->launch, in, space, skew));
    return l->axes_at < 0 ? KILN_OK : put_walked(p, in, l, space);
}

/* Where a space has to be cut so that a launch's indices, and on CUDA its byte offsets, fit 32 bits: the axis, or -1 where it fits already. */
static int axis_to_cut(const kn_launch_input *in, const kn_space *space)
{
    bool is_cuda = in->spec->target.backend == KN_CUDA;
    if (in->spec->schedule.rank == 0)
        return -1;
    int axis = is_cuda ? kn_space_axis_beyond(space, KN_MAX_OFFSET) : -1;
    if (axis < 0)
        return space->size <= MAX_PIECE ? -1 : 0;
    return strchr(in->spec->schedule.access, KN_DENSE) ? 0 : axis;
}

/* Vectors stay whole along the axes on which they lie. */
static int64_t cut_alignment(const kn_launch_input *in, const kn_space *space, int axis)
{
    bool whole =
        axis == space->ndim - 1 || (in->spec->schedule.kind == KN_TILE && axis == in->shape->tile_axis);
    int vector = in->spec->schedule.vector;
    return !whole || vector == 0 ? 1 : space->extent[axis] >= 2 * PIECE_ALIGN ? PIECE_ALIGN : vector;
}

/* Cuts the space until every piece is small enough. Recursion is as deep as sizes have bits above the limits. */
static kiln_status add_pieces(kn_launch_plan *plan, const kn_launch_input *in, const kn_layout *l,
                              const kn_space *space)
{
    int axis = space->size > 0 ? axis_to_cut(in, space) : -1;
    if (space->size == 0)
        return KILN_OK;
    if (axis < 0)
        return add_piece(plan, in, l, space);
    kn_space *halves = kn_malloc(2 * sizeof *halves);
    if (!halves)
        return kn_error_memory(2 * sizeof *halves, "a launch plan");
    kiln_status status =
        kn_space_split(space, axis, cut_alignment(in, space, axis), &halves[0], &halves[1])
            ? KILN_OK
            : kn_error(KILN_ERROR_INTERNAL, "a space of %lld elements cannot be cut along axis %d",
                       (long long)space->size, axis);
    for (int h = 0; h < 2 && status == KILN_OK; ++h)
        status = add_pieces(plan, in, l, &halves[h]);
    kn_free(halves);
    return status;
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
    status = add_pieces(plan, input, &layout, input->space);
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
        kn_host_walk_free(plan->piece[p].walk);
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
