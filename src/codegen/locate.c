/* locate.c - the places of an element, computed in assembly. NVRTC's optimiser unrolls and analyses a loop
 * over axes at each of its uses, which is most of the compile time of kernels with axes: 25 ms with assembly,
 * 30 with a loop in C++, 21 without a loop, for a stencil of five inputs (NVRTC 13.0, two Zen 4 cores). */
#include "codegen/writer.h"

enum { STRIDES_AT = sizeof(kn_divider) /* in an axis of the argument block */ };

/* A part for each operand of the space. */
static void put_each(const kn_writer *w, kn_str *out, const char *part, const char *place)
{
    for (int o = 0; o < kn_layout_space_operands(w->spec); ++o)
        kn_put_part_with(w, out, part, KN_NO_VALUE, "operand=%d at=%d separator=%s place=%s", o,
                         STRIDES_AT + o * w->layout->stride_size, o > 0 ? ", " : ": ", place);
}

/* The operands of the assembly are the places, then `steps` numbers of steps, then the index. */
static void put_assembly(const kn_writer *w, kn_str *out, const char *part, const char *place, int steps)
{
    kn_str *zeros = kn_text(w), *moves = kn_text(w), *places = kn_text(w), *axis = kn_text(w),
           *first_axes = kn_text(w), *begin = kn_text(w);
    int count = kn_layout_space_operands(w->spec);
    put_each(w, zeros, "locate_zero", place);
    put_each(w, moves, "locate_move", place);
    put_each(w, places, "locate_place", place);
    kn_put_part_with(w, axis, "locate_axis", KN_NO_VALUE, "moves=%s axis_size=%d", kn_str_text(moves),
                     w->layout->axis_size);
    for (int s = 0; s < KN_CORNER_STEPS; ++s)
        kn_put_part_with(w, first_axes, "locate_first_axis", KN_NO_VALUE, "one_axis=%s operand=%d",
                         kn_str_text(axis), count + s);
    kn_put_part_with(w, begin, "locate_begin", KN_NO_VALUE,
                     "entry=%s rank_at=%d axes_at=%d index=%d zeros=%s", kn_str_text(&w->slot[KN_SLOT_ENTRY]),
                     w->layout->rank_at, w->layout->axes_at, count + steps, kn_str_text(zeros));
    kn_put_part_with(w, out, part, KN_NO_VALUE,
                     "begin=%s one_axis=%s moves=%s places=%s first_axes=%s inner=%d second=%d outer=%d",
                     kn_str_text(begin), kn_str_text(axis), kn_str_text(moves), kn_str_text(places),
                     kn_str_text(first_axes), count, count + 1, count + 2);
}

/* Kernels that need places alone have no steps. */
void kn_put_locate(kn_writer *w)
{
    bool is_single = w->recipe->has_places_alone;
    if (!is_single) {
        kn_put_part(w, &w->slot[KN_SLOT_STEPS], "steps", KN_NO_VALUE);
        kn_put_part(w, &w->slot[KN_SLOT_KEEP_STEPS], "keep_steps", KN_NO_VALUE);
    }
    if (!w->layout)
        return;
    /* One line for each operand: a loop that is unrolled at each call costs a tile's kernel 3 ms of 72. */
    put_each(w, &w->slot[KN_SLOT_MOVES], "move_place", "");
    put_assembly(w, &w->slot[KN_SLOT_LOCATE], is_single ? "locate_places" : "locate_places_and_steps",
                 "place", is_single ? 0 : 3);
}

void kn_put_corner(kn_writer *w)
{
    if (w->layout)
        put_assembly(w, &w->slot[KN_SLOT_CORNER], "locate_corner", "kn_corner", KN_CORNER_STEPS);
}
