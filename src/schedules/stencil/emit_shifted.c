/* emit_shifted.c - shifted.cu, and shifted_skewed.cu where rows begin anywhere. */
#include "schedules/stencil/shifted_windows.h"
#include "schedules/stencil/shifted_space.h"
#include "schedules/stencil/stencil_kinds.h"

enum {
    FULL_THREADS = 768 /* of a multiprocessor that are left registers for all windows: with fewer the compiler
                          loads some after it has used others */
};

static void put_window_name(kn_str *out, const kn_shifted_window *x)
{
    kn_str_printf(out, "kn_row_%d_%d", x->row, x->steps);
}

/* The first input of the row says where it is. */
static void put_window(kn_writer *w, const kn_shifted_window *x)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    int k = 0, row, column;
    while (!kn_shifted_input(w, k, &row, &column) || row != x->row)
        ++k;
    int array = kn_array_of(w, k), more = x->last - x->first;
    int back = (column - x->first) * kn_item_size(w, k);
    bool is_skewed = kn_shifted_is_skewed(&w->spec->schedule);
    kn_str_append(out, "const auto ");
    put_window_name(out, x);
    kn_str_printf(out, " = %s<%s, %d", is_skewed ? "kn_load_some" : "kn_load_window", kn_storage(w, k),
                  w->spec->schedule.vector + more);
    if (is_skewed)
        kn_str_printf(out, ", %d", more);
    kn_str_printf(out, ">((const char *)kn.%s_ + kn_here.at[%d]", w->program->param[k].name, array);
    if (x->steps)
        kn_str_printf(out, " + %d * kn_axis_y.stride[%d]", x->steps, array);
    kn_str_printf(out, " - %d%s);\n", back, is_skewed ? ", kn_count" : "");
}

/* All of them in front of their first use. */
static void put_windows(kn_writer *w)
{
    kn_shifted_window x[KN_SHIFTED_WINDOWS];
    int count = kn_shifted_list(x, &w->spec->schedule);
    for (int k = 0; k < count; ++k)
        put_window(w, &x[k]);
}

static void place(const kn_writer *w, kn_str *out, int k)
{
    int row, column;
    if (!kn_shifted_input(w, k, &row, &column)) {
        kn_place_shifted_other(w, out, k);
        return;
    }
    kn_shifted_window x = kn_shifted_find(&w->spec->schedule, row, w->result);
    put_window_name(out, &x);
    kn_str_printf(out, ".at[kn_k + %d]", column - x.first);
}

static void fill_shifted(kn_writer *w)
{
    kn_put_blocks(w, FULL_THREADS);
    put_windows(w);
    kn_put_shifted_results(w, KN_SLOT_LOADS, place);
    kn_put_single(w);
}

static const char *choose_template(const kn_spec *spec)
{
    return kn_shifted_is_skewed(&spec->schedule) ? "schedules/stencil/shifted_skewed.cu"
                                                 : "schedules/stencil/shifted.cu";
}

const kn_recipe kn_recipe_shifted = {.choose_template = choose_template,
                                     .fill = fill_shifted,
                                     .preludes = "kn_gather kn_load_along kn_load_window"};
