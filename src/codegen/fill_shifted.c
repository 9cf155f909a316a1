/* fill_shifted.c - templates/cuda/shifted.cu. */
#include "codegen/writer.h"
#include "plan/kind_shifted.h"

#include <stdio.h>

enum { FULL_THREADS = 1024 /* of a multiprocessor that are left registers for all windows: with fewer the compiler loads some after it has used others */ };

/* Where an input lies; row -1: it is none of the shifted. */
typedef struct place {
    int row, column;
} place;

static place place_of(const kn_writer *w, int k)
{
    int letter = kn_access_of(w, k) - KN_SHIFTED_LETTER;
    if (letter < 0 || letter >= KN_SHIFTED_ROWS * KN_SHIFTED_COLUMNS)
        return (place){-1, 0};
    return (place){letter / KN_SHIFTED_COLUMNS, letter % KN_SHIFTED_COLUMNS};
}

/* Whether the row after `row` is its neighbour, so that the second row of results finds there what the first
 * finds here. */
static bool goes_on(const kn_writer *w, int row)
{
    return row >= 0 && w->spec->schedule.form >> row & 1;
}

/* The columns of a row that inputs have, from *first to *last. */
static void widen(const kn_writer *w, int row, int *first, int *last)
{
    for (int k = 0; k < w->program->n_in; ++k) {
        place p = place_of(w, k);
        if (p.row != row || row < 0)
            continue;
        *first = p.column < *first ? p.column : *first;
        *last = p.column > *last ? p.column : *last;
    }
}

/* A window that is loaded: of a row of the inputs, or of the one below it that the second row of results
 * needs. */
typedef struct window {
    int row;
    bool below;
    int first, last; /* columns */
} window;

static window window_of(const kn_writer *w, int row, bool below)
{
    window x = {row, below, KN_SHIFTED_COLUMNS, -1};
    widen(w, row, &x.first, &x.last);
    if (!below && goes_on(w, row - 1))
        widen(w, row - 1, &x.first, &x.last);
    return x;
}

/* The window in which row `result` of the results finds input k. */
static window window_for(const kn_writer *w, int k, int result)
{
    int row = place_of(w, k).row;
    return result == 0       ? window_of(w, row, false)
           : goes_on(w, row) ? window_of(w, row + 1, false)
                             : window_of(w, row, true);
}

static void put_window_name(kn_str *out, const window *x)
{
    kn_str_printf(out, "kn_%s_%d", x->below ? "below" : "row", x->row);
}

/* The first input of the row says where it is. */
static void put_window(kn_writer *w, int row, bool below)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    window x = window_of(w, row, below);
    int k = 0;
    while (k < w->program->n_in && place_of(w, k).row != row)
        ++k;
    if (k == w->program->n_in)
        return;
    int array = kn_array_of(w, k), back = (place_of(w, k).column - x.first) * kn_item_size(w, k);
    kn_str_append(out, "const auto ");
    put_window_name(out, &x);
    kn_str_printf(out, " = kn_load_window<%s, %d>((const char *)kn.%s_ + kn_here.at[%d]", kn_storage(w, k),
                  w->spec->schedule.vector + x.last - x.first, w->program->param[k].name, array);
    if (below)
        kn_str_printf(out, " + kn_axis_y.stride[%d]", array);
    kn_str_printf(out, " - %d);\n", back);
}

/* All of them in front of their first use. */
static void put_windows(kn_writer *w)
{
    for (int row = 0; row < KN_SHIFTED_ROWS; ++row)
        put_window(w, row, false);
    for (int row = 0; row < KN_SHIFTED_ROWS && w->spec->schedule.form; ++row)
        if (!goes_on(w, row))
            put_window(w, row, true);
}

/* ---- the others ---- */

static void put_address(const kn_writer *w, kn_str *out, int k, int result)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    int array = kn_array_of(w, k);
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, array);
    if (result)
        kn_str_printf(out, " + kn_axis_y.stride[%d]", array);
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
    if (place_of(w, k).row < 0) {
        kn_str_printf(out, "kn_%s_%d.at[kn_k]", w->program->param[k].name, result);
        return;
    }
    window x = window_for(w, k, result);
    put_window_name(out, &x);
    kn_str_printf(out, ".at[kn_k + %d]", place_of(w, k).column - x.first);
}

static void place_first(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 0);
}

static void place_second(const kn_writer *w, kn_str *out, int k)
{
    place_in(w, out, k, 1);
}

static void fill_shifted(kn_writer *w)
{
    kn_put_blocks(w, FULL_THREADS);
    static const kn_place_writer places[] = {place_first, place_second};
    int rows = kn_shifted_rows(&w->spec->schedule), array = w->spec->n_arrays;
    kn_str_clear(&w->slot[KN_SLOT_LANES]);
    kn_str_printf(&w->slot[KN_SLOT_LANES], "%d", rows);
    put_windows(w);
    for (int result = 0; result < rows; ++result) {
        char index[160];
        for (int k = 0; k < kn_param_count(w); ++k)
            if (kn_array_of(w, k) >= 0 && place_of(w, k).row < 0)
                put_vector(w, k, result);
        snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn_axis_x.stride[%d]", array,
                 array);
        if (result)
            snprintf(index, sizeof index,
                     "kn.start + kn_here.at[%d] + kn_k * kn_axis_x.stride[%d] + kn_axis_y.stride[%d]", array,
                     array, array);
        kn_str_append(&w->slot[KN_SLOT_LANE], "{\n");
        kn_put_call(w, &w->slot[KN_SLOT_LANE], places[result], index);
        kn_str_append(&w->slot[KN_SLOT_LANE], "}\n");
    }
    kn_put_single(w);
}

const kn_recipe kn_recipe_shifted = {.kind = &kn_kind_shifted,
                                     .template_name = "cuda/shifted.cu",
                                     .fill = fill_shifted,
                                     .preludes = "kn_gather kn_load_along"};
