/* emit_stencil.c - fills stencil.cu, or stencil_unaligned.cu if rows begin anywhere. */
#include "schedules/stencil/stencil_results.h"
#include "schedules/stencil/stencil_space.h"
#include "schedules/stencil/stencil_kinds.h"

enum {
    FULL_THREADS = 768 /* threads of a multiprocessor for which registers are left */
};

static void put_window_name(kn_str *out, const kn_stencil_window *x)
{
    kn_str_printf(out, "kn_row_%d_%d", x->row, x->steps);
}

/* The first input of the row gives the row's address. */
static void put_window(kn_writer *w, const kn_stencil_window *x)
{
    kn_str *out = &w->slot[KN_SLOT_LOADS];
    int k = 0, row, column;
    while (!kn_stencil_input(w, k, &row, &column) || row != x->row)
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
    if (!kn_stencil_input(w, k, &row, &column)) {
        kn_place_stencil_other(w, out, k);
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
    kn_put_stencil_results(w, KN_SLOT_LOADS, place);
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
