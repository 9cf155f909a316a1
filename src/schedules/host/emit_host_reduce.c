/* emit_host_reduce.c - fills host_reduce.cpp. */
#include "codegen/writer.h"

#include <string.h>

#include "program/cost.h"
#include "schedules/reduce/reduce_space.h"
#include "schedules/host/kind_host_reduce.h"
#include "schedules/host/host_kinds.h"

enum { MAP, REDUCE, POST }; /* the stages */
enum { FEW_VECTORS = 4, VECTORS = 16, STRUCT_VECTORS = 64 };

static const kn_host_reduce_config *config_of(const kn_writer *w)
{
    return kn_host_reduce_config_of(&w->spec->schedule);
}

/* The element of lane kn_k in step kn_j, from kn_row on. */
static void put_place(const kn_writer *w, kn_str *out, int k)
{
    const char *name = w->program->param[k].name, *type = kn_storage(w, k);
    int array = kn_array_of(w, k), lanes = config_of(w)->lanes_of_row;
    bool is_dense = kn_access_of(w, k) == KN_DENSE;
    kn_str_printf(out, "%s((const %s *)((const char *)kn.%s_ + kn_row.at[%d]", is_dense ? "" : "(*", type,
                  name, array);
    if (!(is_dense && lanes > 1))
        kn_str_printf(out, " + kn_j * kn_down.at[%d]", array);
    if (!is_dense)
        kn_str_printf(out, " + kn_k * kn_along.at[%d])))", array);
    else if (lanes > 1)
        kn_str_append(out, "))[kn_j * kn_lanes + kn_k]");
    else
        kn_str_append(out, "))[kn_k]");
}

/* Result kn_k from kn_here on, or an input with one element for each result. */
static void put_result_place(const kn_writer *w, kn_str *out, int k)
{
    const char *qualifier = kn_is_output(w, k) ? "" : "const ", *name = w->program->param[k].name;
    int array = kn_array_of(w, k);
    bool is_dense = kn_access_of(w, k) == KN_DENSE && (config_of(w)->lanes_of_row == 1 || kn_is_output(w, k));
    kn_str_printf(out, "%s((%s%s *)((%schar *)kn.%s_ + kn_here.at[%d]", is_dense ? "" : "(*", qualifier,
                  kn_storage(w, k), qualifier, name, array);
    if (is_dense)
        kn_str_append(out, "))[kn_k]");
    else
        kn_str_printf(out, " + kn_k * kn_beside.at[%d])))", array);
}

/* "kn.start + kn_row.at[2] + kn_j * kn_down.at[2] + kn_k * kn_along.at[2]" */
static void put_index(kn_str *out, const char *start, int operand)
{
    kn_str_printf(out, "kn.%s + kn_row.at[%d] + kn_j * kn_down.at[%d] + kn_k * kn_along.at[%d]", start,
                  operand, operand, operand);
}

/* In order, the index counts up along a row, and lanes that are results have the same one. */
static void put_reduction_index(kn_str *out, const kn_writer *w, int operand)
{
    if (config_of(w)->lanes_of_row > 1)
        kn_str_append(out, "kn_order.is ? kn_first_index[kn_k] + (int)kn_j * kn_lanes : ");
    else
        kn_str_printf(out,
                      "kn_order.is ? kn.reduction_start + kn_row.at[%d] + kn_j * kn_down.at[%d] : ", operand,
                      operand);
    put_index(out, "reduction_start", operand);
}

static void put_reduced_type(const kn_writer *w, kn_str *out, int result)
{
    static const char *const types[] = {[2] = "short", [4] = "int", [8] = "long long"};
    int size = kn_reduce_truth_size(w->spec);
    if (size > 0)
        kn_str_append(out, types[size]);
    else
        kn_put_type(w, out, result);
}

/* Types, names of variables and functions of the values that are reduced, and their identity. */
static void put_names(kn_writer *w)
{
    const kn_stage *reduce = &w->program->stage[REDUCE];
    int mapped = reduce->value[0], result = reduce->value[1];
    kn_str *declared = &w->slot[KN_SLOT_LOADS];
    put_reduced_type(w, &w->slot[KN_SLOT_TYPE], result);
    kn_put_type(w, declared, mapped);
    kn_str_append(declared, " ");
    kn_put_value(w, declared, mapped);
    kn_str_append(declared, ";\n");
    kn_put_value(w, &w->slot[KN_SLOT_MAPPED], mapped);
    kn_put_value(w, &w->slot[KN_SLOT_RESULT], result);
    kn_put_function(w, &w->slot[KN_SLOT_REDUCE], REDUCE);
    if (reduce->identity[0])
        kn_str_printf(&w->slot[KN_SLOT_EMPTY], "if (!kn_some)\n    %s = kn_%s_identity;\n",
                      kn_str_text(&w->slot[KN_SLOT_RESULT]), reduce->label);
}

/* Unroll factor, in vectors. Steps of a row are short and contiguous in memory; steps of results are as many
 * streams. A costly body is not unrolled too often. Structs of several lanes are split into members and
 * joined again at each store, so stores have to be rare: twice as many vectors are not faster (argmax), and
 * compile twice as long. */
static int depth_of(const kn_writer *w)
{
    bool are_few = config_of(w)->lanes_of_row == 1 || kn_cost_functions(w->program) > 0;
    bool is_struct = kn_spec_value_dtype(w->spec, kn_spec_reduced_value(w->spec)) == KILN_DTYPE_NONE;
    return are_few ? FEW_VECTORS : is_struct ? STRUCT_VECTORS : VECTORS;
}

/* The operand of `_J`, its type, and its value at the first of a series of steps. */
static void put_order(kn_writer *w)
{
    int operand = w->program->uses & KN_USES_REDUCTION_INDEX ? kn_layout_space_operands(w->spec) - 1 : -1;
    kn_str_printf(&w->slot[KN_SLOT_ORDER], "%d", operand);
    kn_str_append(&w->slot[KN_SLOT_INDEX], w->spec->schedule.index == 32 ? "int" : "long long");
    if (operand < 0)
        kn_str_append(&w->slot[KN_SLOT_FIRST], "0");
    else
        kn_str_printf(&w->slot[KN_SLOT_FIRST], "kn.reduction_start + kn_row.at[%d]", operand);
}

static void fill_host_reduce(kn_writer *w)
{
    kn_str index = KN_STR_INIT, reduction_index = KN_STR_INIT;
    put_index(&index, "start", w->spec->n_arrays);
    put_reduction_index(&reduction_index, w, kn_layout_space_operands(w->spec) - 1);
    put_names(w);
    put_order(w);
    kn_str_printf(&w->slot[KN_SLOT_DEPTH], "%d", depth_of(w));
    kn_str_printf(&w->slot[KN_SLOT_WIDE], "%d",
                  config_of(w)->short_rows ? KN_HOST_REDUCE_BATCH : KN_HOST_REDUCE_WIDE);
    kn_put_map(w, &w->slot[KN_SLOT_SINGLE], MAP, put_place, kn_str_text(&index),
               kn_str_text(&reduction_index));
    kn_put_map(w, &w->slot[KN_SLOT_STORES], POST, put_result_place, "", "");
    w->slot[KN_SLOT_SINGLE].failed |= index.failed || reduction_index.failed;
    kn_str_free(&index);
    kn_str_free(&reduction_index);
}

KN_CONFIG_TABLE(kn_host_reduce_config, KN_HOST_REDUCE_CONFIG);
const kn_recipe kn_recipe_host_reduce = {.template_name = "schedules/host/host_reduce.cpp",
                                         .fill = fill_host_reduce,
                                         .preludes = "kn_line",
                                         .repeats_stages = true};
