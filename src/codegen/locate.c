/* locate.c - where an element is, in assembly: NVRTC's optimiser, which unrolls and looks through such a loop
 * at each of its places, is most of what kernels with axes take to compile. Measured with NVRTC 13.0 on two
 * Zen 4 cores, for a stencil of five inputs, one element a thread: 25 ms, 30 with such a loop in C++, 21
 * without one, by hand. */
#include "codegen/writer.h"

enum { STRIDES_AT = sizeof(kn_divider) /* in an axis of the argument block */ };

/* What is written: operands of the assembly are the places, then inner, second, outer, then the index. */
typedef struct locator {
    kn_str *out;
    const kn_layout *layout;
    int count; /* operands of the space */
} locator;

/* Moves all places by the register `steps` along the axis at [axis]. */
static void put_move(const locator *l)
{
    for (int o = 0; o < l->count; ++o)
        kn_str_printf(l->out,
                      "\"ld.param.s32 stride, [axis+%d]; mad.lo.s32 %%%d, stride, steps, %%%d;\\n\"\n",
                      STRIDES_AT + o * l->layout->stride_size, o, o);
}

/* index / extent is what is left for the next axis, the remainder are the steps along this one. */
static void put_axis(const locator *l)
{
    kn_str_append(l->out, "\"ld.param.u32 extent, [axis]; ld.param.u32 magic, [axis+4];\\n\"\n"
                          "\"ld.param.u32 shift, [axis+8]; mul.hi.u32 rest, index, magic;\\n\"\n"
                          "\"add.u32 rest, rest, index; shr.u32 rest, rest, shift;\\n\"\n"
                          "\"mul.lo.u32 steps, rest, extent; sub.u32 steps, index, steps;\\n\"\n"
                          "\"mov.u32 index, rest;\\n\"\n");
    put_move(l);
    kn_str_printf(l->out,
                  "\"add.u64 axis, axis, %d; sub.u32 rank, rank, 1; setp.eq.u32 last, rank, 1;\\n\"\n",
                  l->layout->axis_size);
}

/* An axis whose steps are wanted by themselves: operand `kept`. */
static void put_kept_axis(const locator *l, int kept)
{
    kn_str_printf(l->out, "\"mov.u32 %%%d, index; @last bra LAST;\\n\"\n", kept);
    put_axis(l);
    kn_str_printf(l->out, "\"mov.u32 %%%d, steps;\\n\"\n", kept);
}

/* One loop over all axes: what takes least to compile. The last axis divides, too, and has nothing left. */
static void put_all_alike(const locator *l)
{
    kn_str_append(l->out, "\"add.u32 rank, rank, 1;\\nMORE:\"\n");
    put_axis(l);
    kn_str_append(l->out, "\"@!last bra MORE; }\"\n");
}

/* The two innermost axes apart, whose steps are wanted by themselves, and the last one without a division:
 * rows, which are the most frequent, go through no loop. */
static void put_first_apart(const locator *l)
{
    kn_str_printf(l->out, "\"mov.u32 %%%d, 0; setp.eq.u32 last, rank, 1;\\n\"\n", l->count + 1);
    put_kept_axis(l, l->count);
    put_kept_axis(l, l->count + 1);
    kn_str_append(l->out, "\"MORE: @last bra LAST;\\n\"\n");
    put_axis(l);
    kn_str_append(l->out, "\"bra MORE;\\nLAST: mov.u32 steps, index;\\n\"\n");
    put_move(l);
    kn_str_printf(l->out, "\"mov.u32 %%%d, index; }\"\n", l->count + 2);
}

/* Up to the places, which begin at 0: the rank, the first axis, the index of operand `index`. The block is
 * read as the kernel's parameter, which PTX knows by the entry's name: what stands at a place that is not
 * known before is loaded from constant memory all the same. */
static void put_beginning(const locator *l, const kn_writer *w, int index)
{
    kn_str_printf(l->out,
                  "asm(\"{ .reg .pred last; .reg .u32 index, rank, extent, magic, shift, rest, steps;\\n\"\n"
                  "\".reg .s32 stride; .reg .u64 axis;\\n\"\n"
                  "\"mov.u64 axis, %s_param_0; ld.param.u32 rank, [axis+%d]; add.u64 axis, axis, %d;\\n\"\n"
                  "\"mov.u32 index, %%%d;\\n\"\n",
                  kn_str_text(&w->slot[KN_SLOT_ENTRY]), l->layout->rank_at, l->layout->axes_at, index);
    for (int o = 0; o < l->count; ++o)
        kn_str_printf(l->out, "\"mov.u32 %%%d, 0;\\n\"\n", o);
}

static void put_places(const locator *l, const char *place)
{
    for (int o = 0; o < l->count; ++o)
        kn_str_printf(l->out, "%s\"=&r\"(%s.at[%d])", o > 0 ? ", " : ": ", place, o);
}

/* Where nobody asks for steps by themselves there are none. */
void kn_put_locate(kn_writer *w)
{
    locator l = {
        .out = &w->slot[KN_SLOT_LOCATE], .layout = w->layout, .count = kn_layout_space_operands(w->spec)};
    bool is_single = w->recipe->has_places_alone;
    if (!is_single) {
        kn_str_append(&w->slot[KN_SLOT_STEPS], "unsigned inner, second, outer; /* steps along the innermost "
                                               "axis, the next one, the outermost */\n");
        kn_str_append(&w->slot[KN_SLOT_KEEP_STEPS],
                      "(a == 0 ? place.inner : a == 1 ? place.second : place.outer) = steps;\n"
                      "place.outer = steps;\n");
    }
    /* Line by line: a loop that is unrolled at each call costs a tile's kernel 3 ms of 72. */
    for (int o = 0; o < l.count; ++o)
        kn_str_printf(&w->slot[KN_SLOT_MOVES], "place.at[%d] += axis.stride[%d] * (int)steps;\n", o, o);
    if (!l.layout)
        return;
    put_beginning(&l, w, is_single ? l.count : l.count + 3);
    (is_single ? put_all_alike : put_first_apart)(&l);
    put_places(&l, "place");
    kn_str_printf(l.out, "%s : \"r\"(index));\n",
                  is_single ? "" : ", \"=&r\"(place.inner), \"=&r\"(place.second), \"=&r\"(place.outer)");
}

/* The same of a block, as a box whose steps along the first axes are wanted by themselves; the others, if
 * there are any, in a loop. */
void kn_put_corner(kn_writer *w)
{
    locator l = {
        .out = &w->slot[KN_SLOT_CORNER], .layout = w->layout, .count = kn_layout_space_operands(w->spec)};
    if (!l.layout)
        return;
    put_beginning(&l, w, l.count + KN_CORNER_STEPS);
    kn_str_append(l.out, "\"add.u32 rank, rank, 1;\\n\"\n");
    for (int s = 0; s < KN_CORNER_STEPS; ++s) {
        put_axis(&l);
        kn_str_printf(l.out, "\"mov.u32 %%%d, steps;\\n\"\n", l.count + s);
    }
    kn_str_append(l.out, "\"@last bra LAST;\\nMORE:\"\n");
    put_axis(&l);
    kn_str_append(l.out, "\"@!last bra MORE;\\nLAST: }\"\n");
    put_places(&l, "kn_corner");
    for (int s = 0; s < KN_CORNER_STEPS; ++s)
        kn_str_printf(l.out, ", \"=&r\"(kn_step[%d])", s);
    kn_str_append(l.out, " : \"r\"(kn_rest));\n");
}
