/* emit_planes.c - planes.cu. */
#include "schedules/stencil/shifted_windows.h"
#include "schedules/stencil/planes_windows.h"
#include "schedules/stencil/stencil_kinds.h"

#include <stdio.h>

enum {
    FULL_THREADS =
        512 /* of a multiprocessor that are left registers for all windows, and for those that come */
};

/* The first shifted input says where all windows are. */
static int first_shifted(const kn_writer *w)
{
    int k = 0, row, column;
    while (!kn_shifted_input(w, k, &row, &column))
        ++k;
    return k;
}

/* "(const char *)kn.a_ + kn_here.at[0] - kn_axis_z.stride[0] - 4" */
static void put_address(const kn_writer *w, kn_str *out, const kn_planes_window *x, const char *place)
{
    int k = first_shifted(w), array = kn_array_of(w, k), row, column, plane, line;
    kn_shifted_input(w, k, &row, &column);
    kn_planes_row(&plane, &line, &w->spec->schedule, row);
    kn_str_printf(out, "(const char *)kn.%s_ + %s.at[%d]", w->program->param[k].name, place, array);
    if (x->plane != plane)
        kn_str_printf(out, " + %d * kn_axis_z.stride[%d]", x->plane - plane, array);
    if (x->line != line)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", x->line - line, array);
    kn_str_printf(out, " + %d", (x->first - column) * kn_item_size(w, k));
}

/* "kn_load_vectors<float, 6>(...);" */
static void put_raw(const kn_writer *w, kn_str *out, const kn_planes_window *x, const char *place)
{
    kn_str_printf(out, "kn_raw_%d_%d = kn_load_vectors<%s, %d>(", x->plane, x->line,
                  kn_storage(w, first_shifted(w)), w->spec->schedule.vector + x->last - x->first);
    put_address(w, out, x, place);
    kn_str_append(out, ");\n");
}

static void put_window(kn_str *out, const char *before, const kn_planes_window *x)
{
    kn_str_printf(out, "%sauto kn_window_%d_%d = kn_window_of(kn_raw_%d_%d);\n", before, x->plane, x->line,
                  x->plane, x->line);
}

/* The cache is asked for windows of the last plane: the others come by it. */
static void put_ask(const kn_writer *w, kn_str *out, const kn_planes_window *x, const char *place,
                    const char *planes)
{
    int array = kn_array_of(w, first_shifted(w));
    kn_str_append(out, "    kn_ask(");
    put_address(w, out, x, place);
    kn_str_printf(out, " + %s * kn_axis_z.stride[%d]);\n", planes, array);
}

static void put_windows(kn_writer *w)
{
    kn_planes_window x[KN_PLANES_WINDOWS];
    kn_str *loads = &w->slot[KN_SLOT_LOADS], *from = &w->slot[KN_SLOT_FROM], *next = &w->slot[KN_SLOT_GATHER];
    int count = kn_planes_list(x, &w->spec->schedule), last = x[count - 1].plane;
    for (int k = 0; k < count; ++k) {
        kn_str_append(loads, "auto ");
        put_raw(w, loads, &x[k], "kn_here");
    }
    kn_str_printf(loads, "for (int kn_k = 2; kn_k <= %d && kn_k < kn_planes; ++kn_k) {\n", KN_PLANES_AHEAD);
    for (int k = 0; k < count; ++k)
        if (x[k].plane == last)
            put_ask(w, loads, &x[k], "kn_here", "kn_k");
    kn_str_append(loads, "}\n");
    for (int k = 0; k < count; ++k)
        put_window(x[k].is_fresh ? from : loads, x[k].is_fresh ? "const " : "", &x[k]);
    for (int k = 0; k < count; ++k)
        if (x[k].is_fresh)
            put_raw(w, next, &x[k], "kn_next");
    kn_str_printf(next, "if (kn_p + %d < kn_planes) {\n", KN_PLANES_AHEAD + 1);
    for (int k = 0; k < count; ++k)
        if (x[k].plane == last) {
            char planes[16];
            snprintf(planes, sizeof planes, "%d", KN_PLANES_AHEAD);
            put_ask(w, next, &x[k], "kn_next", planes);
        }
    kn_str_append(next, "}\n");
    for (int k = 0; k < count; ++k)
        if (!x[k].is_fresh)
            kn_str_printf(&w->slot[KN_SLOT_INVARIANT], "kn_window_%d_%d = kn_window_%d_%d;\n", x[k].plane,
                          x[k].line, x[k].plane + 1, x[k].line);
}

static void place(const kn_writer *w, kn_str *out, int k)
{
    kn_planes_window x[KN_PLANES_WINDOWS];
    int row, column, plane, line, count = kn_planes_list(x, &w->spec->schedule), at = 0;
    if (!kn_shifted_input(w, k, &row, &column)) {
        kn_place_shifted_other(w, out, k);
        return;
    }
    kn_planes_row(&plane, &line, &w->spec->schedule, row);
    line += w->result;
    while (at + 1 < count && (x[at].plane != plane || x[at].line != line))
        ++at;
    kn_str_printf(out, "kn_window_%d_%d.at[kn_k + %d]", plane, line, column - x[at].first);
}

static void fill_planes(kn_writer *w)
{
    kn_put_blocks(w, FULL_THREADS);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", KN_PLANES_WALKED);
    put_windows(w);
    kn_put_shifted_results(w, KN_SLOT_PACKS, place);
    kn_put_single(w);
}

const kn_recipe kn_recipe_planes = {.template_name = "schedules/stencil/planes.cu",
                                    .fill = fill_planes,
                                    .preludes = "kn_gather kn_load_along kn_load_vectors"};
