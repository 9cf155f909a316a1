/* stencil_3d_windows.c - the elements that a thread of a three-axis stencil holds of each plane. */
#include "schedules/stencil/stencil_3d_windows.h"

void kn_stencil_3d_row(int *plane, int *line, const kn_schedule *s, int row)
{
    int code = s->variant >> (row * KN_STENCIL_3D_ROW_BITS) & ((1 << KN_STENCIL_3D_ROW_BITS) - 1);
    *plane = code / KN_STENCIL_3D_SPAN;
    *line = code % KN_STENCIL_3D_SPAN;
}

static void widen(kn_stencil_3d_window *w, const kn_schedule *s, bool of_any_plane)
{
    int row, column, plane, line;
    for (const char *letter = s->access; *letter; ++letter) {
        if (!kn_stencil_place(&row, &column, *letter))
            continue;
        kn_stencil_3d_row(&plane, &line, s, row);
        if ((plane != w->plane && !of_any_plane) || line > w->line || line + s->per_thread <= w->line)
            continue;
        w->first = column < w->first ? column : w->first;
        w->last = column > w->last ? column : w->last;
    }
}

static kn_stencil_3d_window window_of(const kn_schedule *s, int plane, int line)
{
    kn_stencil_3d_window w = {plane, line, KN_STENCIL_COLUMNS, -1, true};
    widen(&w, s, false);
    return w;
}

int kn_stencil_3d_windows(kn_stencil_3d_window *out, const kn_schedule *s)
{
    int count = 0;
    for (int plane = 0; plane < KN_STENCIL_3D_SPAN; ++plane)
        for (int line = 0; line < KN_STENCIL_3D_SPAN + s->per_thread - 1; ++line) {
            kn_stencil_3d_window w = window_of(s, plane, line);
            if (w.last < 0)
                continue;
            w.is_fresh = plane + 1 == KN_STENCIL_3D_SPAN || window_of(s, plane + 1, line).last < 0;
            widen(&w, s, true);
            out[count++] = w;
        }
    return count;
}
