/* emit_stencil.c - fills stencil.cu, stencil_unaligned.cu if rows begin anywhere, and stencil_3d.cu. */
#include "codegen/writer.h"
#include "schedules/stencil/stencil_windows.h"
#include "schedules/stencil/stencil_kinds.h"

#include <stdio.h>

/* Threads of a multiprocessor for which registers are left. */
enum { FULL_THREADS = 768, FULL_THREADS_3D = 512 };

/* ---- rows of results ---- */

/* The row and column of a stencil's input; false: parameter k is not one. */
static bool find_input(const kn_writer *w, int k, int *row, int *column)
{
    return kn_stencil_place(row, column, kn_access_of(w, k));
}

/* " + 2 * kn_axis_y.stride[1]" */
static void put_row(const kn_writer *w, kn_str *out, int array)
{
    if (w->result > 0)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", w->result, array);
}

/* "(const char *)kn.a_ + kn_here.at[0] + 2 * kn_axis_y.stride[0]" */
static void put_bytes(const kn_writer *w, kn_str *out, int k)
{
    int array = kn_array_of(w, k);
    kn_str_printf(out, "(%schar *)kn.%s_ + kn_here.at[%d]", kn_is_output(w, k) ? "" : "const ",
                  w->program->param[k].name, array);
    put_row(w, out, array);
}

static void put_address(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, "(%s%s *)(", kn_is_output(w, k) ? "" : "const ", kn_storage(w, k));
    put_bytes(w, out, k);
    kn_str_append(out, ")");
}

/* The same for unaligned rows. */
static void put_unaligned(kn_writer *w, kn_str *loads, int k)
{
    kn_str *stores = &w->slot[KN_SLOT_STORES];
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    int vector = w->spec->schedule.vector;
    if (kn_is_output(w, k)) {
        kn_str_printf(loads, "kn_pack<%s, %d> kn_%s_%d;\n", type, vector, name, w->result);
        kn_str_append(stores, "kn_store_joined(");
        put_address(w, stores, k);
        kn_str_printf(stores, ", kn_%s_%d, kn_column, kn_extent);\n", name, w->result);
        return;
    }
    kn_str_printf(loads, "const auto kn_%s_%d = kn_load_some_along<%s, %d>(", name, w->result, type, vector);
    put_bytes(w, loads, k);
    kn_str_printf(loads, ", kn_axis_x.stride[%d], kn_count);\n", kn_array_of(w, k));
}

static void put_vector(kn_writer *w, kn_str *loads, int k)
{
    kn_str *stores = &w->slot[KN_SLOT_STORES];
    const char *name = w->program->param[k].name;
    bool is_output = kn_is_output(w, k);
    kn_str_printf(loads, "%sauto kn_%s_%d = %s<%s, %d>(", is_output ? "" : "const ", name, w->result,
                  is_output ? "kn_load" : "kn_load_along", kn_storage(w, k), w->spec->schedule.vector);
    put_address(w, loads, k);
    if (!is_output)
        kn_str_printf(loads, ", kn_axis_x.stride[%d]", kn_array_of(w, k));
    kn_str_append(loads, ");\n");
    if (!is_output)
        return;
    kn_str_append(stores, "kn_store(");
    put_address(w, stores, k);
    kn_str_printf(stores, ", kn_%s_%d);\n", name, w->result);
}

/* "kn_a_1.at[kn_k]": one of the other operands, in row w->result. */
static void place_other(const kn_writer *w, kn_str *out, int k)
{
    kn_str_printf(out, "kn_%s_%d.at[kn_k]", w->program->param[k].name, w->result);
}

static void put_call(kn_writer *w, kn_place_writer place)
{
    kn_str *out = &w->slot[KN_SLOT_LANE], index = KN_STR_INIT;
    int array = w->spec->n_arrays;
    kn_str_printf(&index, "kn.start + kn_here.at[%d] + kn_k * kn_axis_x.stride[%d]", array, array);
    put_row(w, &index, array);
    kn_str_append(out, "{\n");
    kn_put_call(w, out, place, kn_str_text(&index));
    kn_str_append(out, "}\n");
    out->failed = out->failed || index.failed;
    kn_str_free(&index);
}

/* Writes, for each row of results: loads of the other operands into slot `loads`, the calls, and the stores.
 * `place` writes the places of the stencil's inputs for row w->result. */
static void put_results(kn_writer *w, enum kn_slot_id loads, kn_place_writer place)
{
    int row, column;
    for (w->result = 0; w->result < w->spec->schedule.per_thread; ++w->result) {
        for (int k = 0; k < kn_param_count(w); ++k)
            if (kn_array_of(w, k) >= 0 && !find_input(w, k, &row, &column))
                (kn_access_of(w, k) == KN_GATHER ? put_unaligned : put_vector)(w, &w->slot[loads], k);
        put_call(w, place);
    }
    w->result = 0;
}

/* ---- two axes ---- */

static void put_window_name(kn_str *out, const kn_stencil_window *x)
{
    kn_str_printf(out, "kn_row_%d_%d", x->row, x->steps);
}

/* The first input of the row gives the row's address. */
static void put_window(kn_writer *w, const kn_stencil_window *x)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    int k = 0, row, column;
    while (!find_input(w, k, &row, &column) || row != x->row)
        ++k;
    int array = kn_array_of(w, k), more = x->last - x->first;
    int back = (column - x->first) * kn_item_size(w, k);
    bool is_unaligned = kn_stencil_is_unaligned(&w->spec->schedule);
    kn_str_append(out, "const auto ");
    put_window_name(out, x);
    kn_str_printf(out, " = %s<%s, %d", is_unaligned ? "kn_load_some" : "kn_load_window", kn_storage(w, k),
                  w->spec->schedule.vector + more);
    if (is_unaligned)
        kn_str_printf(out, ", %d", more);
    kn_str_printf(out, ">((const char *)kn.%s_ + kn_here.at[%d]", w->program->param[k].name, array);
    if (x->steps)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", x->steps, array);
    kn_str_printf(out, " - %d%s);\n", back, is_unaligned ? ", kn_count" : "");
}

/* All windows are loaded in front of the first use of one. */
static void put_windows(kn_writer *w)
{
    kn_stencil_window x[KN_STENCIL_WINDOWS];
    int count = kn_stencil_windows(x, &w->spec->schedule);
    for (int k = 0; k < count; ++k)
        put_window(w, &x[k]);
}

static void place(const kn_writer *w, kn_str *out, int k)
{
    int row, column;
    if (!find_input(w, k, &row, &column)) {
        place_other(w, out, k);
        return;
    }
    kn_stencil_window x = kn_stencil_window_of(&w->spec->schedule, row, w->result);
    put_window_name(out, &x);
    kn_str_printf(out, ".at[kn_k + %d]", column - x.first);
}

static void fill_stencil(kn_writer *w)
{
    kn_put_blocks(w, FULL_THREADS);
    put_windows(w);
    put_results(w, KN_SLOT_LOADS, place);
    kn_put_single(w);
}

static const char *choose_template(const kn_spec *spec)
{
    return kn_stencil_is_unaligned(&spec->schedule) ? "schedules/stencil/stencil_unaligned.cu"
                                                    : "schedules/stencil/stencil.cu";
}

const kn_recipe kn_recipe_stencil = {.choose_template = choose_template,
                                     .fill = fill_stencil,
                                     .preludes = "kn_gather kn_load_along kn_load_window"};

/* ---- three axes ---- */

/* The first input of the stencil gives the addresses of all windows. */
static int first_input(const kn_writer *w)
{
    int k = 0, row, column;
    while (!find_input(w, k, &row, &column))
        ++k;
    return k;
}

/* "(const char *)kn.a_ + kn_here.at[0] - kn_axis_z.stride[0] - 4" */
static void put_window_address(const kn_writer *w, kn_str *out, const kn_stencil_3d_window *x,
                               const char *place)
{
    int k = first_input(w), array = kn_array_of(w, k), row, column, plane, line;
    find_input(w, k, &row, &column);
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
    put_window_address(w, out, x, place);
    kn_str_append(out, ");\n");
}

static void put_window_3d(kn_str *out, const char *before, const kn_stencil_3d_window *x)
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
    put_window_address(w, out, x, place);
    kn_str_printf(out, " + %s * kn_axis_z.stride[%d]);\n", planes, array);
}

static void put_windows_3d(kn_writer *w)
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
        put_window_3d(x[k].is_fresh ? from : loads, x[k].is_fresh ? "const " : "", &x[k]);
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

static void place_3d(const kn_writer *w, kn_str *out, int k)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    int row, column, plane, line, count = kn_stencil_3d_windows(x, &w->spec->schedule), at = 0;
    if (!find_input(w, k, &row, &column)) {
        place_other(w, out, k);
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
    kn_put_blocks(w, FULL_THREADS_3D);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", KN_STENCIL_3D_DEPTH);
    put_windows_3d(w);
    put_results(w, KN_SLOT_PACKS, place_3d);
    kn_put_single(w);
}

const kn_recipe kn_recipe_stencil_3d = {.template_name = "schedules/stencil/stencil_3d.cu",
                                        .fill = fill_stencil_3d,
                                        .preludes = "kn_gather kn_load_along kn_load_vectors"};
