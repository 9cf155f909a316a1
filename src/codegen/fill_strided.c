/* fill_strided.c - templates/cuda/strided.cu. It is the form that is there first, whatever the layout: what it takes to
 * compile counts. So places are found in assembly, a loop that NVRTC's optimiser does not see. Measured on two Zen 4
 * cores, NVRTC 13.0, for a stencil of five inputs: 24 ms against 30 for the same loop in C++, 21 for a kernel without
 * one. */
#include "codegen/codegen.h"
#include "codegen/writer.h"

enum { STRIDES_AT = sizeof(kn_divider) /* in an axis of the argument block */ };

/* From the innermost axis outwards: index / extent is what is left for the next one, the remainder are the steps along
 * this one. %0 and so on: the places, the last operand the index. */
static void put_axis(kn_str *out, const kn_layout *l, int operands)
{
    static const char divide[] = "AXIS: ld.param.u32 extent, [axis]; ld.param.u32 magic, [axis+4];\\n"
                                 "ld.param.u32 shift, [axis+8];\\n"
                                 "mul.hi.u32 outer, index, magic; add.u32 outer, outer, index;\\n"
                                 "shr.u32 outer, outer, shift; mul.lo.u32 steps, outer, extent;\\n"
                                 "sub.u32 steps, index, steps; mov.u32 index, outer;\\n";
    kn_str_printf(out, "    \"%s\"\n", divide);
    for (int o = 0; o < operands; ++o)
        kn_str_printf(out,
                      "    \"ld.param.u32 stride, [axis+%d]; mad.lo.s32 %%%d, stride, steps, %%%d;\\n\"\n",
                      STRIDES_AT + o * l->stride_size, o, o);
    kn_str_printf(out,
                  "    \"add.u64 axis, axis, %d; sub.u32 rank, rank, 1;\\n"
                  "setp.ne.u32 more, rank, 0; @more bra AXIS;\\n}\"\n",
                  l->axis_size);
}

/* The block is read as the kernel's parameter, which PTX knows by the entry's name: a place in it that is not known
 * before is loaded from constant memory then. */
static void put_locate(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_LOCATE];
    char entry[KN_NAME_MAX + 8];
    kn_layout layout;
    int operands = kn_layout_space_operands(w->spec);
    kn_codegen_entry(entry, sizeof entry, w->program);
    if (kn_layout_make(&layout, w->spec) != KILN_OK) /* nobody can launch it */
        return;
    kn_str_printf(
        out,
        "asm(\"{ .reg .pred more; .reg .u32 index, rank, extent, magic, shift, outer, steps, stride;\\n"
        ".reg .u64 axis;\\n\"\n"
        "    \"mov.u64 axis, %s_param_0; ld.param.u32 rank, [axis+%d]; add.u64 axis, axis, %d;\\n\"\n"
        "    \"mov.u32 index, %%%d;",
        entry, layout.rank_at, layout.axes_at, operands);
    for (int o = 0; o < operands; ++o)
        kn_str_printf(out, " mov.u32 %%%d, 0;", o);
    kn_str_append(out, "\\n\"\n");
    put_axis(out, &layout, operands);
    for (int o = 0; o < operands; ++o)
        kn_str_printf(out, "%s\"=&r\"(kn_here.at[%d])", o > 0 ? ", " : "    : ", o);
    kn_str_append(out, " : \"r\"(kn_at));\n");
}

static void fill(kn_writer *w)
{
    put_locate(w);
    kn_put_single(w);
}

const kn_recipe kn_recipe_strided = {.kind = &kn_kind_strided,
                                     .template_name = "cuda/strided.cu",
                                     .fill = fill,
                                     .fast_axis = "kn.axis[0]",
                                     .has_own_axes = true};
