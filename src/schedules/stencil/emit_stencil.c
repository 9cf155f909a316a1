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

/* The distance to a line further down; empty: it is 0. */
static void put_down(const kn_writer *w, kn_str *out, int lines, int array)
{
    if (lines != 0)
        kn_put_part_with(w, out, "line_down", KN_NO_VALUE, "lines=%d array=%d", lines, array);
}

static void put_bytes(const kn_writer *w, kn_str *out, int k)
{
    kn_str *down = kn_text(w);
    put_down(w, down, w->result, kn_array_of(w, k));
    kn_put_part_with(w, out, "bytes", k, "down=%s", kn_str_text(down));
}

static void put_pointer(const kn_writer *w, kn_str *out, int k)
{
    kn_put_part_with(w, out, "pointer", k, "bytes=%s", kn_text_by(w, put_bytes, k));
}

/* A part with the number of the row of results, and the operand's pointer and bytes. */
static void put_of_result(const kn_writer *w, kn_str *out, const char *part, int k)
{
    kn_put_part_with(w, out, part, k, "result=%d bytes=%s pointer=%s", w->result, kn_text_by(w, put_bytes, k),
                     kn_text_by(w, put_pointer, k));
}

/* Operands outside the stencil; the letter of those of unaligned rows is KN_GATHER. */
static void put_other(kn_writer *w, kn_str *loads, int k)
{
    bool is_unaligned = kn_access_of(w, k) == KN_GATHER, is_output = kn_is_output(w, k);
    put_of_result(w, loads,
                  is_unaligned ? (is_output ? "pack_result" : "load_some")
                  : is_output  ? "load_result"
                               : "load_row",
                  k);
    if (is_output)
        put_of_result(w, &w->slot[KN_SLOT_STORES], is_unaligned ? "store_joined" : "store_result", k);
}

static void put_call(kn_writer *w, kn_place_writer place)
{
    kn_str *out = &w->slot[KN_SLOT_LANE], *index = kn_text(w), *down = kn_text(w), *call = kn_text(w);
    put_down(w, down, w->result, w->spec->n_arrays);
    kn_put_part_with(w, index, "index", KN_NO_VALUE, "down=%s", kn_str_text(down));
    kn_put_call(w, call, place, kn_str_text(index));
    kn_put_part_with(w, out, "block", KN_NO_VALUE, "lines=%s", kn_str_text(call));
}

/* Writes, for each row of results: loads of the other operands into slot `loads`, the calls, and the stores.
 * `place` writes the places of the stencil's inputs for row w->result. */
static void put_results(kn_writer *w, enum kn_slot_id loads, kn_place_writer place)
{
    int row, column;
    for (w->result = 0; w->result < kn_stencil_config_of(&w->spec->schedule)->rows; ++w->result) {
        for (int k = 0; k < kn_param_count(w); ++k)
            if (kn_array_of(w, k) >= 0 && !find_input(w, k, &row, &column))
                put_other(w, &w->slot[loads], k);
        put_call(w, place);
    }
    w->result = 0;
}

/* ---- two axes ---- */

/* The first input of the row gives the row's address. */
static void put_window(kn_writer *w, const kn_stencil_window *x)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS], *down = kn_text(w);
    int k = 0, row, column, more = x->last - x->first;
    while (!find_input(w, k, &row, &column) || row != x->row)
        ++k;
    put_down(w, down, x->steps, kn_array_of(w, k));
    kn_put_part_with(w, out, kn_stencil_is_unaligned(&w->spec->schedule) ? "some_of_window" : "window", k,
                     "row=%d steps=%d columns=%d more=%d back=%d down=%s", x->row, x->steps,
                     w->spec->schedule.vector + more, more, (column - x->first) * kn_item_size(w, k),
                     kn_str_text(down));
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
        kn_put_part_with(w, out, "other", k, "result=%d", w->result);
        return;
    }
    kn_stencil_window x = kn_stencil_window_of(&w->spec->schedule, row, w->result);
    kn_put_part_with(w, out, "element_of_window", KN_NO_VALUE, "row=%d steps=%d column=%d", x.row, x.steps,
                     column - x.first);
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
                                     .preludes = "kn_gather kn_load_along kn_load_window",
                                     .parts = "schedules/stencil/stencil_parts.cu"};

/* ---- three axes ---- */

/* The first input of the stencil gives the addresses of all windows. */
static int first_input(const kn_writer *w)
{
    int k = 0, row, column;
    while (!find_input(w, k, &row, &column))
        ++k;
    return k;
}

static void put_window_address(const kn_writer *w, kn_str *out, const kn_stencil_3d_window *x,
                               const char *place)
{
    int k = first_input(w), array = kn_array_of(w, k), row, column, plane, line;
    kn_str *down = kn_text(w);
    find_input(w, k, &row, &column);
    kn_stencil_3d_row(&plane, &line, &w->spec->schedule, row);
    if (x->plane != plane)
        kn_put_part_with(w, down, "plane_down", KN_NO_VALUE, "planes=%d array=%d", x->plane - plane, array);
    put_down(w, down, x->line - line, array);
    kn_put_part_with(w, out, "window_address", k, "place=%s down=%s forth=%d", place, kn_str_text(down),
                     (x->first - column) * kn_item_size(w, k));
}

/* A part that loads or prefetches the window from the place's plane, or `planes` further. */
static void put_of_window(const kn_writer *w, kn_str *out, const char *part, const kn_stencil_3d_window *x,
                          const char *before, const char *place, const char *planes)
{
    kn_str *address = kn_text(w);
    put_window_address(w, address, x, place);
    kn_put_part_with(w, out, part, first_input(w), "auto=%s plane=%d line=%d columns=%d address=%s planes=%s",
                     before, x->plane, x->line, w->spec->schedule.vector + x->last - x->first,
                     kn_str_text(address), planes);
}

/* Only windows of the last plane are prefetched: the planes in front of it have been loaded before. */
static void put_prefetches(const kn_writer *w, kn_str *out, const char *part, const char *place,
                           const char *planes)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    kn_str *lines = kn_text(w);
    int count = kn_stencil_3d_windows(x, &w->spec->schedule);
    for (int k = 0; k < count; ++k)
        if (x[k].plane == x[count - 1].plane)
            put_of_window(w, lines, "ask", &x[k], "", place, planes);
    kn_put_part_with(w, out, part, KN_NO_VALUE, "ahead=%d after=%d lines=%s", KN_STENCIL_3D_AHEAD,
                     KN_STENCIL_3D_AHEAD + 1, kn_str_text(lines));
}

static void put_windows_3d(kn_writer *w)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    kn_str *loads = &w->slot[KN_SLOT_LOADS], *from = &w->slot[KN_SLOT_FROM], *next = &w->slot[KN_SLOT_GATHER];
    char ahead[16];
    int count = kn_stencil_3d_windows(x, &w->spec->schedule);
    for (int k = 0; k < count; ++k)
        put_of_window(w, loads, "load_raw", &x[k], "auto ", "kn_here", "");
    put_prefetches(w, loads, "ask_first", "kn_here", "kn_k");
    for (int k = 0; k < count; ++k)
        kn_put_part_with(w, x[k].is_fresh ? from : loads, "window_of_plane", KN_NO_VALUE,
                         "auto=%s plane=%d line=%d", x[k].is_fresh ? "const auto " : "auto ", x[k].plane,
                         x[k].line);
    for (int k = 0; k < count; ++k)
        if (x[k].is_fresh)
            put_of_window(w, next, "load_raw", &x[k], "", "kn_next", "");
    snprintf(ahead, sizeof ahead, "%d", KN_STENCIL_3D_AHEAD);
    put_prefetches(w, next, "ask_next", "kn_next", ahead);
    for (int k = 0; k < count; ++k)
        if (!x[k].is_fresh)
            kn_put_part_with(w, &w->slot[KN_SLOT_NEXT], "next_window", KN_NO_VALUE,
                             "plane=%d next=%d line=%d", x[k].plane, x[k].plane + 1, x[k].line);
}

static void place_3d(const kn_writer *w, kn_str *out, int k)
{
    kn_stencil_3d_window x[KN_STENCIL_3D_WINDOWS];
    int row, column, plane, line, count = kn_stencil_3d_windows(x, &w->spec->schedule), at = 0;
    if (!find_input(w, k, &row, &column)) {
        kn_put_part_with(w, out, "other", k, "result=%d", w->result);
        return;
    }
    kn_stencil_3d_row(&plane, &line, &w->spec->schedule, row);
    line += w->result;
    while (at + 1 < count && (x[at].plane != plane || x[at].line != line))
        ++at;
    kn_put_part_with(w, out, "element_of_plane", KN_NO_VALUE, "plane=%d line=%d column=%d", plane, line,
                     column - x[at].first);
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
                                        .preludes = "kn_gather kn_load_along kn_load_vectors",
                                        .parts = "schedules/stencil/stencil_parts.cu"};
