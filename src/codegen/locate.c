/* locate.c - where an element is, in assembly: NVRTC's optimiser, which unrolls and looks through such a loop at each
 * of its places, is most of what kernels with axes take to compile. Measured with NVRTC 13.0 on two Zen 4 cores, for
 * a stencil of five inputs, one element a thread: 24 ms, 30 with the same loop in C++, 21 without one. */
#include "codegen/codegen.h"
#include "codegen/writer.h"

enum { STRIDES_AT = sizeof(kn_divider) /* in an axis of the argument block */ };

/* What is written: operands of the assembly are the places, then inner, second, outer, then the index. */
typedef struct locator {
    kn_str *out;
    kn_layout layout;
    int count; /* operands of the space */
} locator;

/* Moves all places by `steps` along the axis at [axis]. */
static void put_move(const locator *l, const char *steps)
{
    for (int o = 0; o < l->count; ++o)
        kn_str_printf(l->out, "\"ld.param.s32 stride, [axis+%d]; mad.lo.s32 %%%d, stride, %s, %%%d;\\n\"\n",
                      STRIDES_AT + o * l->layout.stride_size, o, steps, o);
}

/* index / extent is what is left for the next axis, the remainder are the steps along this one. */
static void put_axis(const locator *l)
{
    kn_str_append(l->out, "\"ld.param.u32 extent, [axis]; ld.param.u32 magic, [axis+4];\\n\"\n"
                          "\"ld.param.u32 shift, [axis+8]; mul.hi.u32 rest, index, magic;\\n\"\n"
                          "\"add.u32 rest, rest, index; shr.u32 rest, rest, shift;\\n\"\n"
                          "\"mul.lo.u32 steps, rest, extent; sub.u32 steps, index, steps;\\n\"\n"
                          "\"mov.u32 index, rest;\\n\"\n");
    put_move(l, "steps");
    kn_str_printf(l->out,
                  "\"add.u64 axis, axis, %d; sub.u32 rank, rank, 1; setp.eq.u32 last, rank, 1;\\n\"\n",
                  l->layout.axis_size);
}

/* An axis whose steps are wanted by themselves: operand `kept`. */
static void put_kept_axis(const locator *l, int kept, const char *label)
{
    kn_str_printf(l->out, "\"mov.u32 %%%d, index; @last bra LAST;\\n\"\n", kept);
    put_axis(l);
    kn_str_printf(l->out, "\"mov.u32 %%%d, steps;\\n%s\"\n", kept, label);
}

/* The block is read as the kernel's parameter, which PTX knows by the entry's name: what stands at a place that is not
 * known before is loaded from constant memory all the same. */
void kn_put_locate(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_LOCATE];
    char entry[KN_NAME_MAX + 8];
    locator l = {.out = out, .count = kn_layout_space_operands(w->spec)};
    int n = l.count;
    kn_codegen_entry(entry, sizeof entry, w->program);
    if (kn_layout_make(&l.layout, w->spec) != KILN_OK) /* nobody can launch it */
        return;
    kn_str_printf(out,
                  "asm(\"{ .reg .pred last; .reg .u32 index, rank, extent, magic, shift, rest, steps;\\n\"\n"
                  "\".reg .s32 stride; .reg .u64 axis;\\n\"\n"
                  "\"mov.u64 axis, %s_param_0; ld.param.u32 rank, [axis+%d]; add.u64 axis, axis, %d;\\n\"\n"
                  "\"mov.u32 index, %%%d; mov.u32 %%%d, 0; setp.eq.u32 last, rank, 1;\\n\"\n",
                  entry, l.layout.rank_at, l.layout.axes_at, n + 3, n + 1);
    for (int o = 0; o < n; ++o)
        kn_str_printf(out, "\"mov.u32 %%%d, 0;\\n\"\n", o);
    put_kept_axis(&l, n, "");
    put_kept_axis(&l, n + 1, "");
    kn_str_append(out, "\"MORE: @last bra LAST;\\n\"\n");
    put_axis(&l);
    kn_str_append(out, "\"bra MORE;\\nLAST: mov.u32 steps, index;\\n\"\n");
    put_move(&l, "steps");
    kn_str_printf(out, "\"mov.u32 %%%d, index; }\"\n", n + 2);
    for (int o = 0; o < n; ++o)
        kn_str_printf(out, "%s\"=&r\"(place.at[%d])", o > 0 ? ", " : ": ", o);
    kn_str_append(out,
                  ", \"=&r\"(place.inner), \"=&r\"(place.second), \"=&r\"(place.outer) : \"r\"(index));\n");
}
