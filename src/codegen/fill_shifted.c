/* fill_shifted.c - templates/cuda/shifted.cu. */
#include "codegen/writer.h"
#include "plan/kind_shifted.h"

#include <stdio.h>

enum {
    FULL_THREADS = 768 /* of a multiprocessor that are left registers for all windows: with fewer the compiler
                          loads some after it has used others */
};

/* The row of an input, and its column; -1: it is none of the shifted. */
static int row_of(const kn_writer *w, int k, int *column)
{
    int row;
    return kn_shifted_place(&row, column, kn_access_of(w, k)) ? row : -1;
}

static void put_window_name(kn_str *out, const kn_shifted_window *x)
{
    kn_str_printf(out, "kn_row_%d_%d", x->row, x->steps);
}

/* The first input of the row says where it is. */
static void put_window(kn_writer *w, const kn_shifted_window *x)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    int k = 0, column = 0;
    while (row_of(w, k, &column) != x->row)
        ++k;
    int array = kn_array_of(w, k), back = (column - x->first) * kn_item_size(w, k);
    kn_str_append(out, "const auto ");
    put_window_name(out, x);
    kn_str_printf(out, " = kn_load_window<%s, %d>((const char *)kn.%s_ + kn_here.at[%d]", kn_storage(w, k),
                  w->spec->schedule.vector + x->last - x->first, w->program->param[k].name, array);
    if (x->steps)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", x->steps, array);
    kn_str_printf(out, " - %d);\n", back);
}

/* All of them in front of their first use. */
static void put_windows(kn_writer *w)
{
    kn_shifted_window x[KN_SHIFTED_WINDOWS];
    int count = kn_shifted_list(x, &w->spec->schedule);
    for (int k = 0; k < count; ++k)
        put_window(w, &x[k]);
}

/* ---- the others ---- */

static void put_address(const kn_writer *w, kn_str *out, int k, int result)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    int array = kn_array_of(w, k);
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, array);
    if (result)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", result, array);
    kn_str_append(out, ")");
}

static void put_vector(kn_writer *w, int k, int result)
{
    kn_str *loads = &w->slot[KN_SLOT_LOADS], *stores = &w->slot[KN_SLOT_STORES];
    const char *name = w->program->param[k].name;
    bool is_output = kn_is_output(w, k);
    kn_str_printf(loads, "%sauto kn_%s_%d = %s<%s, %d>(", is_output ? "" : "const ", name, result,
                  is_output ? "kn_load" : "kn_load_along", kn_storage(w, k), w->spec->schedule.vector);
    put_address(w, loads, k, result);
    if (!is_output)
        kn_str_printf(loads, ", kn_axis_x.stride[%d]", kn_array_of(w, k));
    kn_str_append(loads, ");\n");
    if (!is_output)
        return;
    kn_str_append(stores, "kn_store(");
    put_address(w, stores, k, result);
    kn_str_printf(stores, ", kn_%s_%d);\n", name, result);
}

static void place_in(const kn_writer *w, kn_str *out, int k, int result)
{
    int column = 0, row = row_of(w, k, &column);
    if (row < 0) {
        kn_str_printf(out, "kn_%s_%d.at[kn_k]", w->program->param[k].name, result);
        return;
    }
    kn_shifted_window x = kn_shifted_find(&w->spec->schedule, row, result);
    put_window_name(out, &x);
    kn_str_printf(out, ".at[kn_k + %d]", column - x.first);
}

static void place_first(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 0);
}

static void place_second(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 1);
}

static void place_third(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 2);
}

static void place_fourth(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 3);
}

static void fill_shifted(kn_writer *w)
{
    static const kn_place_writer places[KN_SHIFTED_RESULTS] = {place_first, place_second, place_third,
                                                               place_fourth};
    int rows = kn_shifted_rows(&w->spec->schedule), array = w->spec->n_arrays, column;
    kn_put_blocks(w, FULL_THREADS);
    put_windows(w);
    for (int result = 0; result < rows; ++result) {
        char index[160];
        for (int k = 0; k < kn_param_count(w); ++k)
            if (kn_array_of(w, k) >= 0 && row_of(w, k, &column) < 0)
                put_vector(w, k, result);
        snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn_axis_x.stride[%d]", array,
                 array);
        if (result)
            snprintf(index, sizeof index,
                     "kn.start + kn_here.at[%d] + kn_k * kn_axis_x.stride[%d] + %d * kn_axis_y.stride[%d]",
                     array, array, result, array);
        kn_str_append(&w->slot[KN_SLOT_LANE], "{\n");
        kn_put_call(w, &w->slot[KN_SLOT_LANE], places[result], index);
        kn_str_append(&w->slot[KN_SLOT_LANE], "}\n");
    }
    kn_put_single(w);
}

const kn_recipe kn_recipe_shifted = {.kind = &kn_kind_shifted,
                                     .template_name = "cuda/shifted.cu",
                                     .fill = fill_shifted,
                                     .preludes = "kn_gather kn_load_along kn_load_window"};
