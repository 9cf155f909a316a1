/* stencil_windows.c - the windows that a thread of a stencil loads, found by the letters of its schedule. */
#include "schedules/stencil/stencil_windows.h"

#include <string.h>

KN_CONFIG_TABLE(kn_stencil_config, KN_STENCIL_CONFIG);

bool kn_stencil_is_unaligned(const kn_schedule *schedule)
{
    return strchr(schedule->access, KN_GATHER) != NULL;
}

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
    return row >= 0 && kn_stencil_config_of(s)->neighbours >> row & 1;
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
    for (int result = steps; result < kn_stencil_config_of(s)->rows; ++result, --row) {
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
        for (int steps = 0; steps < (goes_on(s, row) ? 1 : kn_stencil_config_of(s)->rows); ++steps) {
            kn_stencil_window w = window_of(s, row, steps);
            if (w.last >= 0)
                out[count++] = w;
        }
    return count;
}

/* ---- three axes ---- */

void kn_stencil_3d_row(int *plane, int *line, const kn_schedule *s, int row)
{
    int code = kn_stencil_config_of(s)->places >> (row * KN_STENCIL_3D_ROW_BITS) &
               ((1 << KN_STENCIL_3D_ROW_BITS) - 1);
    *plane = code / KN_STENCIL_3D_SPAN;
    *line = code % KN_STENCIL_3D_SPAN;
}

static void widen_3d(kn_stencil_3d_window *w, const kn_schedule *s, bool of_any_plane)
{
    int row, column, plane, line;
    for (const char *letter = s->access; *letter; ++letter) {
        if (!kn_stencil_place(&row, &column, *letter))
            continue;
        kn_stencil_3d_row(&plane, &line, s, row);
        if ((plane != w->plane && !of_any_plane) || line > w->line ||
            line + kn_stencil_config_of(s)->rows <= w->line)
            continue;
        w->first = column < w->first ? column : w->first;
        w->last = column > w->last ? column : w->last;
    }
}

static kn_stencil_3d_window window_of_3d(const kn_schedule *s, int plane, int line)
{
    kn_stencil_3d_window w = {plane, line, KN_STENCIL_COLUMNS, -1, true};
    widen_3d(&w, s, false);
    return w;
}

int kn_stencil_3d_windows(kn_stencil_3d_window *out, const kn_schedule *s)
{
    int count = 0;
    for (int plane = 0; plane < KN_STENCIL_3D_SPAN; ++plane)
        for (int line = 0; line < KN_STENCIL_3D_SPAN + kn_stencil_config_of(s)->rows - 1; ++line) {
            kn_stencil_3d_window w = window_of_3d(s, plane, line);
            if (w.last < 0)
                continue;
            w.is_fresh = plane + 1 == KN_STENCIL_3D_SPAN || window_of_3d(s, plane + 1, line).last < 0;
            widen_3d(&w, s, true);
            out[count++] = w;
        }
    return count;
}
