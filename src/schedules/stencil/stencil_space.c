/* stencil_space.c - the inputs that are one array at different offsets, and the windows that a thread loads
 * for them. */
#include "schedules/stencil/stencil_space.h"

#include <stdlib.h>
#include <string.h>

#include "schedule/choice.h"

enum {
    LEAST_SHIFTED = 3, /* inputs; fewer share no loads */
    WORD = 4           /* bytes that the threads of a warp exchange at a time if rows are unaligned */
};

int kn_stencil_find_inputs(int *first, const kn_choice *c)
{
    int most = 0;
    for (int from = 0; from < c->count; ++from) {
        int count = 1;
        while (from + count < c->count && c->space->after[from + count] != 0 &&
               c->space->after[from + count] != KN_SAME_ARRAY && !c->access[from + count].is_output)
            ++count;
        if (!c->access[from].is_output && count > most) {
            most = count;
            *first = from;
        }
    }
    return most >= LEAST_SHIFTED && most <= KN_STENCIL_MOST ? most : 0;
}

int64_t kn_stencil_steps(int64_t bytes, int64_t step)
{
    return (bytes + (bytes < 0 ? -step : step) / 2) / step;
}

/* Contiguous, with any alignment, and a vector of a result is whole words; or, for an input, broadcast. */
static bool is_run(const kn_choice *c, int o, int vector)
{
    int64_t stride = c->space->stride[o][kn_choice_inner(c)], item = c->access[o].item_size;
    return c->access[o].is_output ? stride == item && vector * item % WORD == 0
                                  : stride == item || stride == 0;
}

bool kn_stencil_set_access(kn_schedule *out, const kn_choice *c, int first, int count, const char *letter,
                           char others)
{
    int inner = kn_choice_inner(c);
    for (int o = 0; o < c->count; ++o) {
        bool is_input = o >= first && o < first + count;
        if (is_input              ? c->space->stride[o][inner] != c->access[o].item_size
            : others == KN_VECTOR ? !kn_choice_is_vector(c, o, out->vector)
                                  : !is_run(c, o, out->vector))
            return false;
        out->access[o] = is_input ? letter[o - first] : others;
    }
    return true;
}

bool kn_stencil_is_unaligned(const kn_schedule *schedule)
{
    return strchr(schedule->access, KN_GATHER) != NULL;
}

/* ---- a thread's windows ---- */

bool kn_stencil_place(int *row, int *column, char letter)
{
    int place = letter - KN_STENCIL_LETTER;
    *row = place / KN_STENCIL_COLUMNS;
    *column = place % KN_STENCIL_COLUMNS;
    return place >= 0 && place < KN_STENCIL_ROWS * KN_STENCIL_COLUMNS;
}

/* The row behind `row` is its neighbour in the array. */
static bool goes_on(const kn_schedule *s, int row)
{
    return row >= 0 && s->variant >> row & 1;
}

static void widen(kn_stencil_window *w, const kn_schedule *s, int row)
{
    int own, column;
    for (const char *letter = s->access; *letter; ++letter) {
        if (!kn_stencil_place(&own, &column, *letter) || own != row)
            continue;
        w->first = column < w->first ? column : w->first;
        w->last = column > w->last ? column : w->last;
    }
}

static kn_stencil_window window_of(const kn_schedule *s, int row, int steps)
{
    kn_stencil_window w = {row, steps, KN_STENCIL_COLUMNS, -1};
    for (int result = steps; result < s->per_thread; ++result, --row) {
        widen(&w, s, row);
        if (!goes_on(s, row - 1))
            break;
    }
    return w;
}

kn_stencil_window kn_stencil_window_of(const kn_schedule *s, int row, int result)
{
    for (; result > 0 && goes_on(s, row); ++row)
        --result;
    return window_of(s, row, result);
}

int kn_stencil_windows(kn_stencil_window *out, const kn_schedule *s)
{
    int count = 0;
    for (int row = 0; row < KN_STENCIL_ROWS; ++row)
        for (int steps = 0; steps < (goes_on(s, row) ? 1 : s->per_thread); ++steps) {
            kn_stencil_window w = window_of(s, row, steps);
            if (w.last >= 0)
                out[count++] = w;
        }
    return count;
}
