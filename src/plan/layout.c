#include "plan/layout.h"

#include "base/error.h"
#include "plan/windows.h"
#include "types/dtype.h"

enum { MAX_BLOCK_BYTES = 32764 };

kn_divider kn_divider_make(uint32_t extent)
{
    kn_divider d = {extent, 0, 0, 0};
    while (d.shift < 31 && (UINT32_C(1) << d.shift) < extent)
        ++d.shift;
    uint64_t power = UINT64_C(1) << d.shift;
    d.magic = (uint32_t)(((power - extent) << 32) / extent + 1);
    return d;
}

static uint32_t small_reciprocal(uint32_t by)
{
    return ((UINT32_C(1) << 20) + by - 1) / by;
}

kn_tile kn_tile_make(const kn_shape_of_launch *shape)
{
    kn_tile t = {.p_vectors = (uint32_t)shape->p.vectors, .q_vectors = (uint32_t)shape->q.vectors};
    t.p = t.p_vectors * (uint32_t)shape->p.steps;
    t.q = t.q_vectors * (uint32_t)shape->q.steps;
    t.across = shape->across ? (uint32_t)shape->p.steps : 1;
    t.p_reciprocal = small_reciprocal(t.p_vectors);
    t.q_reciprocal = small_reciprocal(t.q_vectors);
    t.row_reciprocal = small_reciprocal(t.p);
    t.across_reciprocal = small_reciprocal(t.across);
    return t;
}

int kn_layout_space_operands(const kn_spec *spec)
{
    return kn_spec_count_arrays(spec) + (spec->program->uses & KN_USES_INDEX ? 1 : 0);
}

bool kn_layout_has_skew(const kn_spec *spec)
{
    return spec->schedule.vector > 1 && (spec->schedule.kind == KN_FLAT || spec->schedule.kind == KN_ROWS);
}

static int place(kn_layout *l, int size, int align)
{
    int at = (l->size + align - 1) / align * align;
    l->size = at + size;
    if (align > l->align)
        l->align = align;
    return at;
}

static int place_param(kn_layout *l, const kn_operand *o)
{
    if (o->pass == KN_PASS_ARRAY)
        return place(l, 8, 8);
    if (o->pass == KN_PASS_STRUCT)
        return place(l, o->struct_size, KN_STRUCT_ALIGN);
    if (o->pass == KN_PASS_RAW)
        return place(l, KN_RAW_HEAD + 2 * 8 * o->raw_rank, 8);
    const kn_dtype_info *info = kn_dtype_info_of(o->dtype);
    return place(l, info->size, info->align);
}

kiln_status kn_layout_make(kn_layout *l, const kn_spec *spec)
{
    const kn_program *p = spec->program;
    *l = (kn_layout){.align = 8,
                     .n_at = -1,
                     .start_at = -1,
                     .skew_at = -1,
                     .tile_at = -1,
                     .windows_at = -1,
                     .rank_at = -1,
                     .axes_at = -1,
                     .logical_rank_at = -1,
                     .logical_at = -1};
    l->size_at = place(l, 8, 8);
    if (p->uses & KN_USES_COUNT)
        l->n_at = place(l, 8, 8);
    if (p->uses & KN_USES_INDEX)
        l->start_at = place(l, 8, 8);
    if (kn_layout_has_skew(spec))
        l->skew_at = place(l, 8, 8);
    if (spec->schedule.kind == KN_TILE)
        l->tile_at = place(l, sizeof(kn_tile), 8);
    if (spec->schedule.kind == KN_WINDOWS)
        l->windows_at = place(l, sizeof(kn_windows), 8);
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        l->param_at[k] = place_param(l, &spec->operand[k]);
    if (spec->schedule.rank > 0) {
        l->stride_size = spec->target.backend == KN_CUDA ? 4 : 8;
        l->axis_size = (int)sizeof(kn_divider) + l->stride_size * kn_layout_space_operands(spec);
        l->rank_at = place(l, 8, 8);
        l->axes_at = place(l, l->axis_size * spec->schedule.rank, l->stride_size);
    }
    if (p->uses & KN_USES_INDEXER) {
        l->logical_rank_at = place(l, 8, 8);
        l->logical_at = place(l, 8 * KILN_MAX_NDIM, 8);
    }
    l->size = (l->size + l->align - 1) / l->align * l->align;
    if (l->size > MAX_BLOCK_BYTES)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: its arguments take %d bytes; at most %d fit a kernel's parameters", p->name,
                        l->size, MAX_BLOCK_BYTES);
    return KILN_OK;
}
