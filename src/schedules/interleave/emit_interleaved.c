/* emit_interleaved.c - fills interleaved.cu. */
#include "codegen/writer.h"
#include "schedules/interleave/interleave_kinds.h"

#include <stdio.h>

static int lanes_of(const kn_writer *w)
{
    return w->spec->schedule.per_thread;
}

static void place_lane(const kn_writer *w, kn_str *out, int k)
{
    int first = k, number = kn_interleaved_number(w->spec, k, &first);
    if (number < 0)
        kn_place_lane(w, out, k);
    else
        kn_str_printf(out, "kn_%s_.at[kn_k * %d + %d]", w->program->param[first].name, lanes_of(w), number);
}

static void put_address(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ";
    kn_str_printf(out, "(%s%s *)((%schar *)kn.%s_ + kn_here.at[%d])", qualifier, kn_storage(w, k), qualifier,
                  w->program->param[k].name, kn_array_of(w, k));
}

/* Interleaved operands are loaded and stored as one array, by the first of them. Results are loaded too,
 * since not every body assigns all of them. */
static void put_operand(kn_writer *w, int k)
{
    kn_str *loads = &w->slot[KN_SLOT_LOADS], *stores = &w->slot[KN_SLOT_STORES];
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    int first = k, vector = w->spec->schedule.vector;
    if (kn_interleaved_number(w->spec, k, &first) > 0)
        return;
    kn_str_printf(loads, "%sauto kn_%s_ = ", kn_is_output(w, k) ? "" : "const ", name);
    if (kn_access_of(w, k) == KN_STAGED) {
        kn_str_printf(loads, "kn_load<%s, %d>(", type, vector * lanes_of(w));
        put_address(w, loads, k);
        kn_str_append(loads, ");\n");
    } else {
        kn_str_printf(loads, "%s<%s, %d>(",
                      kn_access_of(w, k) == KN_VECTOR ? "kn_load_along" : "kn_gather_apart", type, vector);
        if (kn_access_of(w, k) == KN_GATHER)
            kn_str_append(loads, "(const char *)");
        put_address(w, loads, k);
        kn_str_printf(loads, ", kn.axis[0].stride[%d]);\n", kn_array_of(w, k));
    }
    if (kn_is_output(w, k)) {
        kn_str_append(stores, "kn_store(");
        put_address(w, stores, k);
        kn_str_printf(stores, ", kn_%s_);\n", name);
    }
}

static void fill_interleaved(kn_writer *w)
{
    char index[128];
    int array = w->spec->n_arrays;
    snprintf(index, sizeof index, "kn.start + kn_here.at[%d] + kn_k * kn.axis[0].stride[%d]", array, array);
    for (int k = 0; k < kn_param_count(w); ++k)
        if (kn_array_of(w, k) >= 0)
            put_operand(w, k);
    kn_put_call(w, &w->slot[KN_SLOT_LANE], place_lane, index);
}

const kn_recipe kn_recipe_interleaved = {.template_name = "schedules/interleave/interleaved.cu",
                                         .fill = fill_interleaved,
                                         .preludes = "kn_gather"};
