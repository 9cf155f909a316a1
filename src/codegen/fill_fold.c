/* fill_fold.c - templates/cuda/fold.cu. */
#include "codegen/writer.h"

#include <string.h>

enum { MAP, REDUCE, POST }; /* the stages */

/* In the row that is gone along, or, for what is stored, where the row begins. */
static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name;
    int array = kn_array_of(w, k);
    if (kn_is_output(w, k))
        kn_str_printf(out, "*(%s *)((char *)kn.%s_ + kn_here.at[%d])", kn_storage(w, k), name, array);
    else if (kn_access_of(w, k) == KN_DENSE)
        kn_str_printf(out, "((const %s *)((const char *)kn.%s_ + kn_row.at[%d]))[kn_j]", kn_storage(w, k),
                      name, array);
    else
        kn_str_printf(out, "*(%s%s *)((%schar *)kn.%s_ + kn_row.at[%d] + kn_j * kn.axis[0].stride[%d])",
                      qualifier, kn_storage(w, k), qualifier, name, array, array);
}

/* "kn.start + kn_row.at[2] + kn_j * kn.axis[0].stride[2]" */
static void put_index(kn_str *out, const char *start, int operand)
{
    kn_str_printf(out, "kn.%s + kn_row.at[%d] + kn_j * kn.axis[0].stride[%d]", start, operand, operand);
}

/* What is folded and what comes of it: types, names of variables, the function, and what nothing yields. */
static void put_names(kn_writer *w)
{
    const kn_stage *reduce = &w->program->stage[REDUCE];
    int mapped = reduce->value[0], result = reduce->value[1];
    kn_str *declared = &w->slot[KN_SLOT_LOADS];
    kn_put_type(w, &w->slot[KN_SLOT_TYPE], result);
    kn_put_type(w, declared, mapped);
    kn_str_append(declared, " ");
    kn_put_value(w, declared, mapped);
    kn_str_append(declared, ";\n");
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], mapped);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], result);
    kn_put_function(w, &w->slot[KN_SLOT_FOLD], REDUCE);
    if (reduce->identity[0])
        kn_str_printf(&w->slot[KN_SLOT_EMPTY], "if (!kn_some)\n    %s = kn_%s_identity;\n",
                      kn_str_text(&w->slot[KN_SLOT_RESULT]), reduce->label);
}

static void fill_fold(kn_writer *w)
{
    kn_str index = KN_STR_INIT, fold_index = KN_STR_INIT;
    put_index(&index, "start", w->spec->n_arrays);
    put_index(&fold_index, "fold_start", kn_layout_space_operands(w->spec) - 1);
    put_names(w);
    kn_put_map(w, &w->slot[KN_SLOT_SINGLE], MAP, put_place, kn_str_text(&index), kn_str_text(&fold_index));
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, put_place, "", "");
    w->slot[KN_SLOT_SINGLE].failed |= index.failed || fold_index.failed;
    kn_str_free(&index);
    kn_str_free(&fold_index);
}

const kn_recipe kn_recipe_fold = {.kind = &kn_kind_fold, .template_name = "cuda/fold.cu", .fill = fill_fold};
