/* locate.c - the places of an element, computed in assembly. NVRTC's optimiser unrolls and analyses a loop
 * over axes at each of its uses, which is most of the compile time of kernels with axes: 25 ms with assembly,
 * 30 with a loop in C++, 21 without a loop, for a stencil of five inputs (NVRTC 13.0, two Zen 4 cores). */
#include "codegen/writer.h"

enum { STRIDES_AT = sizeof(kn_divider) /* in an axis of the argument block */ };

/* The operands of the assembly are the places, then the steps inner, second and outer, then the index. */
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

/* The remainder of index / extent is the steps along this axis; the quotient is the index of the other axes.
 * */
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

/* An axis whose steps are a result too: operand `steps`. */
static void put_separate_axis(const locator *l, int steps)
{
    kn_str_printf(l->out, "\"mov.u32 %%%d, index; @last bra LAST;\\n\"\n", steps);
    put_axis(l);
    kn_str_printf(l->out, "\"mov.u32 %%%d, steps;\\n\"\n", steps);
}

/* One loop over all axes, which compiles soonest. The last axis divides too, with quotient 0. */
static void put_all_alike(const locator *l)
{
    kn_str_append(l->out, "\"add.u32 rank, rank, 1;\\nMORE:\"\n");
    put_axis(l);
    kn_str_append(l->out, "\"@!last bra MORE; }\"\n");
}

/* The two innermost axes, whose steps are results too, come before the loop, and the last one needs no
 * division: rows, which are the most frequent, take no iteration. */
static void put_first_apart(const locator *l)
{
    kn_str_printf(l->out, "\"mov.u32 %%%d, 0; setp.eq.u32 last, rank, 1;\\n\"\n", l->count + 1);
    put_separate_axis(l, l->count);
    put_separate_axis(l, l->count + 1);
    kn_str_append(l->out, "\"MORE: @last bra LAST;\\n\"\n");
    put_axis(l);
    kn_str_append(l->out, "\"bra MORE;\\nLAST: mov.u32 steps, index;\\n\"\n");
    put_move(l);
    kn_str_printf(l->out, "\"mov.u32 %%%d, index; }\"\n", l->count + 2);
}

/* The beginning: rank, first axis, the index of operand `index`, and places of 0. The argument block is read
 * as the kernel's parameter, which PTX names after the entry; so it is loaded from constant memory even by an
 * address that is not a constant. */
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

/* Kernels that need places alone have no steps. */
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
    /* One line for each operand: a loop that is unrolled at each call costs a tile's kernel 3 ms of 72. */
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

/* The places of a tile's corner, with the steps along its first axes as results; the other axes, if there are
 * any, are a loop. */
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
