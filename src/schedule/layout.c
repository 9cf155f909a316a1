/* schedule/layout.c - the members of the argument block, with their offsets, and their declaration in C. */
#include "schedule/layout.h"

#include <stdarg.h>
#include <string.h>

#include "base/error.h"
#include "schedule/kind.h"
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

unsigned kn_layout_indices(const kn_program *program)
{
    return (program->uses & KN_USES_INDEX ? KN_WITH_INDEX : 0u) |
           (program->uses & KN_USES_REDUCTION_INDEX ? KN_WITH_REDUCTION_INDEX : 0u);
}

int kn_layout_space_operands(const kn_spec *spec)
{
    unsigned indices = kn_layout_indices(spec->program);
    return spec->n_arrays + ((indices & KN_WITH_INDEX) != 0) + ((indices & KN_WITH_REDUCTION_INDEX) != 0);
}

/* ---- the one list of fields, placed and declared ---- */

typedef struct builder {
    kn_layout *layout;
    kn_str *text; /* NULL: offsets alone are wanted */
} builder;

/* alignas in front of a declaration holds for each of its names: one name a line. */
static int put(builder *b, int size, int align, const char *format, ...)
{
    kn_layout *l = b->layout;
    int at = (l->size + align - 1) / align * align;
    l->size = at + size;
    l->align = align > l->align ? align : l->align;
    if (b->text) {
        va_list arguments;
        va_start(arguments, format);
        kn_str_vprintf(b->text, format, arguments);
        va_end(arguments);
    }
    return at;
}

static int put_raw(builder *b, const kn_spec *spec, int k)
{
    const kn_operand *o = &spec->operand[k];
    return put(b, KN_RAW_HEAD + 2 * 8 * o->raw_rank, 8, "kn_raw_data<%s%s, %d> %s_;\n",
               kn_spec_constness(spec, k), kn_spec_c_name(spec, k), o->raw_rank,
               spec->program->param[k].name);
}

/* Complex numbers are less aligned on the host by themselves. */
static int put_scalar(builder *b, const kn_spec *spec, int k)
{
    const kn_dtype_info *info = kn_dtype_info_of(spec->operand[k].dtype);
    const char *name = spec->program->param[k].name;
    if (info->kind == KN_KIND_COMPLEX)
        return put(b, info->size, info->align, "alignas(%d) %s %s_;\n", info->align, info->storage, name);
    return put(b, info->size, info->align, "%s %s_;\n", info->storage, name);
}

static int put_param(builder *b, const kn_spec *spec, int k)
{
    const kn_operand *o = &spec->operand[k];
    const char *name = spec->program->param[k].name;
    if (o->pass == KN_PASS_ARRAY)
        return put(b, 8, 8, "%s%s *%s_;\n", k < spec->program->n_in ? "const " : "",
                   kn_dtype_info_of(o->dtype)->storage, name);
    if (o->pass == KN_PASS_STRUCT)
        return put(b, o->struct_size, KN_STRUCT_ALIGN, "alignas(%d) %s %s_;\n", KN_STRUCT_ALIGN,
                   kn_spec_c_name(spec, k), name);
    return o->pass == KN_PASS_RAW ? put_raw(b, spec, k) : put_scalar(b, spec, k);
}

static void put_axes(builder *b, const kn_spec *spec)
{
    kn_layout *l = b->layout;
    bool is_wide = spec->schedule.kind->has_wide_axes;
    l->extent_size = is_wide ? 8 : (int)sizeof(kn_divider);
    l->stride_size = spec->target.backend == KN_CUDA && !is_wide ? 4 : 8;
    l->axis_size = l->extent_size + l->stride_size * kn_layout_space_operands(spec);
    l->rank_at = put(b, 8, 8, "alignas(8) unsigned rank;\nunsigned unused;\n");
    l->axes_at = put(b, l->axis_size * spec->schedule.rank, l->stride_size, "kn_axis axis[%d];\n",
                     spec->schedule.rank);
}

/* A member of the declaration a line. */
static void put_lines(const builder *b, const char *members)
{
    for (size_t length; b->text && *members; members += length + strspn(members + length, " ")) {
        length = strcspn(members, ";") + 1;
        kn_str_append_n(b->text, members, length);
        kn_str_append(b->text, "\n");
    }
}

static void put_all(builder *b, const kn_spec *spec)
{
    kn_layout *l = b->layout;
    const kn_program *p = spec->program;
    const kn_kind *kind = spec->schedule.kind;
    bool has_own = kind->field.size > 0 && (!kind->has_field || kind->has_field(&spec->schedule));
    kn_field own = has_own ? kind->field : (kn_field){"", 0, 1};
    *l = (kn_layout){.align = 8,
                     .n_at = -1,
                     .start_at = -1,
                     .reduction_start_at = -1,
                     .results_at = -1,
                     .own_size = own.size,
                     .workspace_at = -1,
                     .in_order_at = -1,
                     .rank_at = -1,
                     .axes_at = -1,
                     .logical_rank_at = -1,
                     .logical_at = -1};
    l->size_at = put(b, 8, 8, "long long size;\n");
    if (p->uses & KN_USES_COUNT)
        l->n_at = put(b, 8, 8, "long long n;\n");
    if (p->uses & KN_USES_INDEX)
        l->start_at = put(b, 8, 8, "long long start;\n");
    if (p->uses & KN_USES_REDUCTION_INDEX)
        l->reduction_start_at = put(b, 8, 8, "long long reduction_start;\n");
    if (p->uses & KN_USES_SIZES)
        l->results_at = put(b, 8, 8, "long long results;\n");
    l->own_at = put(b, own.size, own.align, "%s", has_own ? "alignas(8) " : "");
    put_lines(b, own.declaration);
    if (spec->schedule.kind->has_workspace)
        l->workspace_at = put(b, 16, 8, "unsigned char *partials;\nunsigned *counters;\n");
    if (spec->schedule.baseline && kind->in_order)
        l->in_order_at = put(b, 8, 8, "void (*in_order)(const void *);\n");
    for (int k = 0; k < p->n_in + p->n_out; ++k)
        l->param_at[k] = put_param(b, spec, k);
    if (spec->schedule.rank > 0)
        put_axes(b, spec);
    if (p->uses & KN_USES_INDEXER) {
        l->logical_rank_at = put(b, 8, 8, "alignas(8) unsigned logical_rank;\nunsigned logical_unused;\n");
        l->logical_at = put(b, 8 * KILN_MAX_NDIM, 8, "ptrdiff_t logical[%d];\n", KILN_MAX_NDIM);
    }
    l->size = (l->size + l->align - 1) / l->align * l->align;
}

kiln_status kn_layout_make(kn_layout *l, const kn_spec *spec)
{
    put_all(&(builder){l, NULL}, spec);
    if (l->size > MAX_BLOCK_BYTES)
        return kn_error(KILN_ERROR_INVALID,
                        "%s: its arguments take %d bytes; at most %d fit a kernel's parameters",
                        spec->program->name, l->size, MAX_BLOCK_BYTES);
    return KILN_OK;
}

void kn_layout_declare(kn_str *out, const kn_spec *spec)
{
    kn_layout unused;
    put_all(&(builder){&unused, out}, spec);
}
