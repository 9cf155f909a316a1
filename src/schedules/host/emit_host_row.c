/* emit_host_row.c - fills host_row.cpp: the levels of a program over the contiguous ranges of a row. */
#include "schedules/rowprog/row_stages.h"

#include "schedules/host/kind_host_row.h"
#include "schedules/host/host_kinds.h"

static const char *name_of(const kn_writer *w, int k)
{
    return w->program->param[k].name;
}

static bool is_multipass(const kn_writer *w)
{
    return w->spec->schedule.variant == KN_HOST_ROW_MULTIPASS;
}

static bool is_in_level(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && (kn_level_reads(w, level, k) || kn_level_gives(w, level, k));
}

/* ---- an element ---- */

static void put_in_run(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = name_of(w, k);
    if (kn_access_of(w, k) == KN_DENSE)
        kn_str_printf(out, "kn_%s_run[kn_j]", name);
    else
        kn_str_printf(out, "*(%s%s *)((%schar *)kn_%s_run + kn_j * kn_%s_step)", qualifier, kn_storage(w, k),
                      qualifier, name, name);
}

static void place_in_run(const kn_writer *w, kn_str *out, int k)
{
    if (!kn_is_wide_array(w, k))
        kn_place_of_row(w, out, k);
    else if (kn_is_output(w, k))
        kn_str_printf(out, "kn_%s_now", name_of(w, k));
    else if (kn_access_of(w, k) == KN_BROADCAST)
        kn_str_printf(out, "kn_%s_one", name_of(w, k));
    else
        put_in_run(w, out, k);
}

/* Results that this level does not store are variables. */
static void put_results(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        if (!is_in_level(w, level, k))
            continue;
        bool is_variable = kn_level_gives(w, level, k) && !kn_level_stores(w, level, k);
        kn_str_printf(out, "%s %skn_%s_now = ", kn_storage(w, k), is_variable ? "" : "&", name_of(w, k));
        put_in_run(w, out, k);
        kn_str_append(out, ";\n");
    }
}

/* The address and the step of each array's range. */
static void put_run_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = name_of(w, k),
                   *type = kn_storage(w, k);
        int o = kn_array_of(w, k);
        if (!is_in_level(w, level, k))
            continue;
        if (kn_access_of(w, k) == KN_BROADCAST && !kn_is_output(w, k)) {
            kn_str_printf(out,
                          "    const %s kn_%s_one = *(const %s *)((const char *)kn.%s_ + kn_from.at[%d]);\n",
                          type, name, type, name, o);
            continue;
        }
        kn_str_printf(out, "    %s%s *const kn_%s_run = (%s%s *)((%schar *)kn.%s_ + kn_from.at[%d]);\n",
                      qualifier, type, name, qualifier, type, qualifier, name, o);
        if (kn_access_of(w, k) != KN_DENSE)
            kn_str_printf(out, "    const long long kn_%s_step = kn.axis[0].stride[%d];\n", name, o);
    }
}

static const kn_element_places places = {place_in_run, "", "_held[kn_base + kn_j]", "kn_from.at[%d] + kn_j",
                                         "kn_j"};

/* ---- levels ---- */

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    int result = w->program->stage[level->end].value[1];
    kn_put_declaration(w, out, result);
    kn_str_append(out, "kn_reduce_runs(");
    kn_put_value(w, out, result);
    kn_str_append(out,
                  ", [&](const kn_place &kn_from, const long long kn_base, const auto &kn_reduce_elements) "
                  "__attribute__((always_inline)) {\n    (void)kn_from, (void)kn_base;\n");
    put_run_pointers(w, out, level);
    kn_str_append(out, "    kn_reduce_elements([&](const long long kn_j) __attribute__((always_inline)) -> ");
    kn_put_type(w, out, result);
    kn_str_append(out, " {\n");
    put_results(w, out, level);
    kn_put_level_stages(w, out, level, &places);
    kn_str_append(out, "return ");
    kn_put_reduced_value(w, out, level);
    kn_str_append(out, ";\n    });\n}, ");
    kn_put_function(w, out, level->end);
    kn_str_append(out, ");\n");
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    if (level->stages == 0)
        return;
    kn_str_append(
        out,
        "kn_each_run([&](const kn_place &kn_from, const long long kn_base) __attribute__((always_inline)) "
        "{\n    (void)kn_base;\n");
    put_run_pointers(w, out, level);
    kn_str_append(out, "KN_INDEPENDENT\n    for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {\n");
    put_results(w, out, level);
    kn_put_level_stages(w, out, level, &places);
    kn_str_append(out, "    }\n});\n");
}

/* The program's own values that a later level needs: on the thread's stack, as many as a row has elements. */
static void put_held_values(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ITEM];
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values && !is_multipass(w); ++k) {
        if (!kn_is_held_value(w, k))
            continue;
        kn_put_type(w, out, k);
        kn_str_append(out, " *const ");
        kn_put_value(w, out, k);
        kn_str_append(out, "_held = (");
        kn_put_type(w, out, k);
        kn_str_append(out, " *)__builtin_alloca_with_align(kn.capacity * sizeof(");
        kn_put_type(w, out, k);
        kn_str_append(out, "), 512);\n");
    }
}

static void fill(kn_writer *w)
{
    put_held_values(w);
    kn_put_row_results(w, NULL);
    kn_put_levels(w, is_multipass(w), put_reduction, put_last);
}

const kn_recipe kn_recipe_host_row = {.template_name = "schedules/host/host_row.cpp",
                                      .fill = fill,
                                      .preludes = "kn_line",
                                      .repeats_stages = true};
