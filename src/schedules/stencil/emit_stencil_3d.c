/* emit_stencil_3d.c - fills stencil_3d.cu. */
#include "schedules/stencil/stencil_results.h"
#include "schedules/stencil/stencil_3d_windows.h"
#include "schedules/stencil/stencil_kinds.h"

#include <stdio.h>

enum {
    FULL_THREADS = 512 /* threads of a multiprocessor for which registers are left */
};

/* The first input of the stencil gives the addresses of all windows. */
static int first_input(const kn_writer *w)
{
    int k = 0, row, column;
    while (!kn_stencil_input(w, k, &row, &column))
        ++k;
    return k;
}

/* "(const char *)kn.a_ + kn_here.at[0] - kn_axis_z.stride[0] - 4" */
static void put_address(const kn_writer *w, kn_str *out, const kn_stencil_3d_window *x, const char *place)
{
    int k = first_input(w), array = kn_array_of(w, k), row, column, plane, line;
    kn_stencil_input(w, k, &row, &column);
    kn_stencil_3d_row(&plane, &line, &w->spec->schedule, row);
    kn_str_printf(out, "(const char *)kn.%s_ + %s.at[%d]", w->program->param[k].name, place, array);
    if (x->plane != plane)
        kn_str_printf(out, " + %d * kn_axis_z.stride[%d]", x->plane - plane, array);
    if (x->line != line)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", x->line - line, array);
    kn_str_printf(out, " + %d", (x->first - column) * kn_item_size(w, k));
}

/* "kn_load_vectors<float, 6>(...);" */
static void put_raw(const kn_writer *w, kn_str *out, const kn_stencil_3d_window *x, const char *place)
{
    kn_str_printf(out, "kn_raw_%d_%d = kn_load_vectors<%s, %d>(", x->plane, x->line,
                  kn_storage(w, first_input(w)), w->spec->schedule.vector + x->last - x->first);
    put_address(w, out, x, place);
    kn_str_append(out, ");\n");
}

static void put_window(kn_str *out, const char *before, const kn_stencil_3d_window *x)
{
    kn_str_printf(out, "%sauto kn_window_%d_%d = kn_window_of(kn_raw_%d_%d);\n", before, x->plane, x->line,
                  x->plane, x->line);
}

/* Only windows of the last plane are prefetched: the planes in front of it have been loaded before. */
static void put_ask(const kn_writer *w, kn_str *out, const kn_stencil_3d_window *x, const char *place,
                    const char *planes)
{
    int array = kn_array_of(w, first_input(w));
    kn_str_append(out, "    kn_ask(");
    put_address(w, out, x, place);
    kn_str_printf(out, " + %s * kn_axis_z.stride[%d]);\n", planes, array);
}

static void put_windows(kn_writer *w)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    kn_str *loads = &w->slot[KN_SLOT_LOADS], *from = &w->slot[KN_SLOT_FROM], *next = &w->slot[KN_SLOT_GATHER];
    int count = kn_stencil_3d_windows(x, &w->spec->schedule), last = x[count - 1].plane;
    for (int k = 0; k < count; ++k) {
        kn_str_append(loads, "auto ");
        put_raw(w, loads, &x[k], "kn_here");
    }
    kn_str_printf(loads, "for (int kn_k = 2; kn_k <= %d && kn_k < kn_planes; ++kn_k) {\n",
                  KN_STENCIL_3D_AHEAD);
    for (int k = 0; k < count; ++k)
        if (x[k].plane == last)
            put_ask(w, loads, &x[k], "kn_here", "kn_k");
    kn_str_append(loads, "}\n");
    for (int k = 0; k < count; ++k)
        put_window(x[k].is_fresh ? from : loads, x[k].is_fresh ? "const " : "", &x[k]);
    for (int k = 0; k < count; ++k)
        if (x[k].is_fresh)
            put_raw(w, next, &x[k], "kn_next");
    kn_str_printf(next, "if (kn_p + %d < kn_planes) {\n", KN_STENCIL_3D_AHEAD + 1);
    for (int k = 0; k < count; ++k)
        if (x[k].plane == last) {
            char planes[16];
            snprintf(planes, sizeof planes, "%d", KN_STENCIL_3D_AHEAD);
            put_ask(w, next, &x[k], "kn_next", planes);
        }
    kn_str_append(next, "}\n");
    for (int k = 0; k < count; ++k)
        if (!x[k].is_fresh)
            kn_str_printf(&w->slot[KN_SLOT_NEXT], "kn_window_%d_%d = kn_window_%d_%d;\n", x[k].plane,
                          x[k].line, x[k].plane + 1, x[k].line);
}

static void place(const kn_writer *w, kn_str *out, int k)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    int row, column, plane, line, count = kn_stencil_3d_windows(x, &w->spec->schedule), at = 0;
    if (!kn_stencil_input(w, k, &row, &column)) {
        kn_place_stencil_other(w, out, k);
        return;
    }
    kn_stencil_3d_row(&plane, &line, &w->spec->schedule, row);
    line += w->result;
    while (at + 1 < count && (x[at].plane != plane || x[at].line != line))
        ++at;
    kn_str_printf(out, "kn_window_%d_%d.at[kn_k + %d]", plane, line, column - x[at].first);
}

static void fill_stencil_3d(kn_writer *w)
{
    kn_put_blocks(w, FULL_THREADS);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", KN_STENCIL_3D_DEPTH);
    put_windows(w);
    kn_put_stencil_results(w, KN_SLOT_PACKS, place);
    kn_put_single(w);
}

const kn_recipe kn_recipe_stencil_3d = {.template_name = "schedules/stencil/stencil_3d.cu",
                                        .fill = fill_stencil_3d,
                                        .preludes = "kn_gather kn_load_along kn_load_vectors"};
