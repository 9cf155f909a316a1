/* emit_host_row_short.c - host_row_short.cpp: the levels of a program over elements of neighbouring rows. */
#include "schedules/rowprog/row_stages.h"

#include "schedules/host/host_kinds.h"

static const char *name_of(const kn_writer *w, int k)
{
    return w->program->param[k].name;
}

static bool is_in_level(const kn_writer *w, const kn_level *level, int k)
{
    return kn_is_wide_array(w, k) && (kn_level_reads(w, level, k) || kn_level_gives(w, level, k));
}

/* Operands whose neighbours are no neighbouring rows' go through tiles. */
static bool is_packed(const kn_writer *w, int k)
{
    return kn_is_wide_array(w, k) && kn_access_of(w, k) == KN_GATHER;
}

/* ---- an element kn_j of row kn_k ---- */

static void put_in_rows(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = name_of(w, k),
               *type = kn_storage(w, k);
    char access = kn_access_of(w, k);
    if (access == KN_DENSE)
        kn_str_printf(out, "((%s%s *)kn_%s_at)[kn_k]", qualifier, type, name);
    else if (access == KN_BROADCAST)
        kn_str_printf(out, "*(%s%s *)kn_%s_at", qualifier, type, name);
    else
        kn_str_printf(out, "kn_%s_tile[kn_j * kn_across + kn_k]", name);
}

static void place_in_rows(const kn_writer *w, kn_str *out, int k)
{
    if (!kn_is_wide_array(w, k))
        kn_place_of_row(w, out, k);
    else if (kn_is_output(w, k))
        kn_str_printf(out, "kn_%s_now", name_of(w, k));
    else
        put_in_rows(w, out, k);
}

/* Results that this level does not store are variables. */
static void put_results(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = w->program->n_in; k < kn_param_count(w); ++k) {
        if (!is_in_level(w, level, k))
            continue;
        bool is_variable = kn_level_gives(w, level, k) && !kn_level_stores(w, level, k);
        kn_str_printf(out, "%s %skn_%s_now = ", kn_storage(w, k), is_variable ? "" : "&", name_of(w, k));
        put_in_rows(w, out, k);
        kn_str_append(out, ";\n");
    }
}

/* Where the element of the first row lies. */
static void put_pointers(const kn_writer *w, kn_str *out, const kn_level *level)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = name_of(w, k);
        int o = kn_array_of(w, k);
        if (is_in_level(w, level, k) && !is_packed(w, k))
            kn_str_printf(out,
                          "    %schar *const kn_%s_at = (%schar *)kn.%s_ + kn_here.at[%d] + kn_j * "
                          "kn.axis[0].stride[%d];\n",
                          qualifier, name, qualifier, name, o, o);
    }
}

static const kn_element_places places = {place_in_rows, "", "_held[kn_j * kn_across + kn_k]",
                                         "kn_here.at[%d] + kn_j", "kn_j"};

/* ---- levels ---- */

/* The beginning of a loop over the rows, for element kn_j of each. */
static void put_rows_begin(const kn_writer *w, kn_str *out, const kn_level *level)
{
    put_pointers(w, out, level);
    kn_str_append(out, "KN_INDEPENDENT\n    for (int kn_k = 0; kn_k < kn_count; ++kn_k) {\n");
    put_results(w, out, level);
    kn_put_level_stages(w, out, level, &places);
}

static void put_reduction(const kn_writer *w, kn_str *out, const kn_level *level)
{
    int result = w->program->stage[level->end].value[1];
    kn_put_declaration(w, out, result);
    kn_str_printf(out,
                  "const auto kn_level_%d = [&](const long long kn_j, const auto kn_is_first) "
                  "__attribute__((always_inline)) {\n",
                  level->end);
    put_rows_begin(w, out, level);
    for (int is_first = 1; is_first >= 0; --is_first) {
        kn_str_append(out, is_first ? "if constexpr (kn_is_first.is)\n    " : "else\n    ");
        kn_put_row_value(w, out, result);
        kn_str_append(out, "[kn_k] = ");
        if (!is_first) {
            kn_put_function(w, out, level->end);
            kn_str_append(out, "(");
            kn_put_row_value(w, out, result);
            kn_str_append(out, "[kn_k], ");
        }
        kn_put_folded(w, out, level);
        kn_str_append(out, is_first ? ";\n" : ");\n");
    }
    kn_str_printf(out,
                  "    }\n};\nkn_level_%d(0, kn_bool<true>());\n"
                  "for (long long kn_j = 1; kn_j < kn_length; ++kn_j)\n"
                  "    kn_level_%d(kn_j, kn_bool<false>());\n",
                  level->end, level->end);
}

static void put_last(const kn_writer *w, kn_str *out, const kn_level *level)
{
    if (level->stages == 0)
        return;
    kn_str_append(out, "for (long long kn_j = 0; kn_j < kn_length; ++kn_j) {\n");
    put_rows_begin(w, out, level);
    kn_str_append(out, "    }\n}\n");
}

/* What stays of the program's own values, on the thread's stack. */
static void put_held_values(kn_writer *w)
{
    kn_str *out = &w->slot[KN_SLOT_ITEM];
    for (int k = kn_param_count(w); k < kn_param_count(w) + w->program->n_values; ++k) {
        if (!kn_is_held_value(w, k))
            continue;
        kn_put_type(w, out, k);
        kn_str_append(out, " *const ");
        kn_put_value(w, out, k);
        kn_str_append(out, "_held = (");
        kn_put_type(w, out, k);
        kn_str_append(out, " *)__builtin_alloca_with_align(kn_length * kn_across * sizeof(");
        kn_put_type(w, out, k);
        kn_str_append(out, "), 512);\n");
    }
}

/* The results' tiles hold what was there, where a body may leave or read it. */
static void put_tiles(kn_writer *w)
{
    for (int k = 0; k < kn_param_count(w); ++k) {
        const char *name = name_of(w, k), *type = kn_storage(w, k);
        int o = kn_array_of(w, k);
        if (!is_packed(w, k))
            continue;
        kn_str_printf(&w->slot[KN_SLOT_ITEM],
                      "%s *const kn_%s_tile = (%s *)__builtin_alloca_with_align(kn_length * kn_across * "
                      "sizeof(%s), 512);\n",
                      type, name, type, type);
        if (!kn_is_output(w, k) || w->program->left_outputs >> (k - w->program->n_in) & 1)
            kn_str_printf(&w->slot[KN_SLOT_ROW],
                          "kn_pack(kn_%s_tile, (const char *)kn.%s_ + kn_here.at[%d], kn.axis[0].stride[%d], "
                          "kn.axis[kn.fold_rank].stride[%d], kn_length, kn_count);\n",
                          name, name, o, o, o);
        if (kn_is_output(w, k))
            kn_str_printf(&w->slot[KN_SLOT_STORES],
                          "kn_unpack((char *)kn.%s_ + kn_here.at[%d], kn.axis[0].stride[%d], "
                          "kn.axis[kn.fold_rank].stride[%d], kn_%s_tile, kn_length, kn_count);\n",
                          name, o, o, o, name);
    }
}

static void fill(kn_writer *w)
{
    put_held_values(w);
    put_tiles(w);
    kn_put_row_results(w, NULL);
    kn_put_levels(w, false, put_reduction, put_last);
}

const kn_recipe kn_recipe_host_row_short = {.template_name = "schedules/host/host_row_short.cpp",
                                            .fill = fill,
                                            .preludes = "kn_line",
                                            .has_rows_beside = true,
                                            .repeats_stages = true};
