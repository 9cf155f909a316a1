/* stencil_results.c - the rows of results of a stencil's thread. */
#include "schedules/stencil/stencil_results.h"

#include "schedules/stencil/stencil_space.h"

bool kn_stencil_input(const kn_writer *w, int k, int *row, int *column)
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

void kn_place_stencil_other(const kn_writer *w, kn_str *out, int k)
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

void kn_put_stencil_results(kn_writer *w, enum kn_slot_id loads, kn_place_writer place)
{
    int row, column;
    for (w->result = 0; w->result < kn_stencil_rows(&w->spec->schedule); ++w->result) {
        for (int k = 0; k < kn_param_count(w); ++k)
            if (kn_array_of(w, k) >= 0 && !kn_stencil_input(w, k, &row, &column))
                (kn_access_of(w, k) == KN_GATHER ? put_unaligned : put_vector)(w, &w->slot[loads], k);
        put_call(w, place);
    }
    w->result = 0;
}
